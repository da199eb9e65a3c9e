/* arena.c - arenas, and the only interface to the system's allocator.
 *
 * A block is its header and the bytes after it. Only the newest block is filled. A request that
 * does not fit gets a new block, at least twice as large as the last one up to a bound, or exactly
 * as large as needed. */
#include "base/arena.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

enum { BLOCK_FIRST = 4096, BLOCK_MOST = 1 << 20, ALIGN = 16 };

struct arena_block {
    struct arena_block *next; /* older block */
    size_t used, size;        /* bytes of data[] used and available */
    _Alignas(ALIGN) unsigned char data[];
};

static _Atomic unsigned long alloc_count; /* allocations so far */
static _Atomic unsigned long alloc_live;  /* of those that succeeded, the ones not freed */
static _Atomic unsigned long alloc_fail;  /* the count from which allocations fail, 0: never */
static _Atomic unsigned long alloc_last;  /* the count up to which they do */

/* No object is larger than PTRDIFF_MAX. Such requests, SIZE_HUGE among them, never reach the
 * system. */
static int alloc_refused(size_t size)
{
    unsigned long n = ++alloc_count;
    return size > PTRDIFF_MAX || (alloc_fail != 0 && n >= alloc_fail && n <= alloc_last);
}

static void *alloc_made(void *p)
{
    alloc_live += p != NULL;
    return p;
}

void *et_malloc(size_t size)
{
    return alloc_refused(size) ? NULL : alloc_made(malloc(size ? size : 1));
}

void *et_calloc(size_t n, size_t size)
{
    return alloc_refused(size_mul(n, size)) ? NULL : alloc_made(calloc(n ? n : 1, size ? size : 1));
}

void *et_realloc(void *p, size_t size)
{
    if (alloc_refused(size))
        return NULL;
    void *moved = realloc(p, size ? size : 1);
    return p == NULL ? alloc_made(moved) : moved;
}

void *et_rearray(void *p, size_t n, size_t size)
{
    return et_realloc(p, size_mul(n, size));
}

void et_free(void *p)
{
    alloc_live -= p != NULL;
    free(p);
}

/* not in the guest: et_alloc_fail_after, et_alloc_fail_at, et_alloc_count, et_alloc_live - only
 * tests make allocations fail, and count them, where they happen. */
void et_alloc_fail_after(unsigned long n)
{
    alloc_last = ULONG_MAX;
    alloc_fail = n == 0 ? 0 : alloc_count + n;
}

void et_alloc_fail_at(unsigned long n)
{
    alloc_last = alloc_count + n;
    alloc_fail = n == 0 ? 0 : alloc_count + n;
}

unsigned long et_alloc_count(void)
{
    return alloc_count;
}

unsigned long et_alloc_live(void)
{
    return alloc_live;
}

void arena_init(struct arena *a)
{
    a->head = NULL;
    a->total = 0;
}

void arena_free(struct arena *a)
{
    struct arena_block *b = a->head, *next;
    for (; b != NULL; b = next) {
        next = b->next;
        et_free(b);
    }
    arena_init(a);
}

void *arena_alloc(struct arena *a, size_t size)
{
    struct arena_block *b = a->head;
    size = size_up(size, ALIGN);
    if (b == NULL || b->size - b->used < size) {
        size_t want = b == NULL ? BLOCK_FIRST : b->size * 2;
        if (want > BLOCK_MOST)
            want = BLOCK_MOST;
        if (want < size)
            want = size;
        const size_t whole = size_add(sizeof *b, want);
        b = et_malloc(whole);
        if (b == NULL)
            return NULL;
        b->next = a->head;
        b->used = 0;
        b->size = want;
        a->head = b;
        a->total += whole;
    }
    void *p = b->data + b->used;
    b->used += size;
    return memset(p, 0, size);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    return arena_alloc(a, size_mul(n, size));
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, size_add(n, 1));
    if (p != NULL && n > 0)
        memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (p != NULL)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return p;
}
