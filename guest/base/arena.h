/* arena.h - memory for what one compile or one session makes.
 *
 * An arena is a list of blocks that grow and are freed together. Nothing in it is freed separately,
 * and nothing in it moves. Not thread-safe; not for the hot path. */
#ifndef ET_BASE_ARENA_H
#define ET_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head; /* newest block, the one being filled */
    size_t total;             /* bytes taken from the system, for limits and tests */
};

void arena_init(struct arena *a);
/* Frees every block and resets the arena as arena_init does. */
void arena_free(struct arena *a);
/* Returns zero-filled memory, aligned for any type; NULL when memory is out. */
void *arena_alloc(struct arena *a, size_t size);
/* Returns the same for n elements of `size` bytes; NULL also when that exceeds what can exist. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* Returns a copy of n bytes with a NUL after them; NULL when memory is out. */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);
/* Returns formatted text in the arena; NULL when memory is out. */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The only interface to the system's allocator, so that tests can make allocations fail.
 * et_alloc_fail_after(n): the n-th allocation from now (1 = the next) and all after it return NULL;
 * et_alloc_fail_at(n): only the n-th does; n = 0 switches that off. et_alloc_count(): allocations
 * so far; et_alloc_live(): those not freed. Not thread-safe: tests only. */
void *et_malloc(size_t size);
void *et_calloc(size_t n, size_t size);
void *et_realloc(void *p, size_t size);
/* Same as et_realloc, for n elements of `size` bytes; NULL also when that exceeds what can exist.
 */
void *et_rearray(void *p, size_t n, size_t size);
void et_free(void *p);
void et_alloc_fail_after(unsigned long n);
void et_alloc_fail_at(unsigned long n);
unsigned long et_alloc_count(void);
unsigned long et_alloc_live(void);

#endif
