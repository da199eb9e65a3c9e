/* subr_memory.c - subroutines on memory (language.md 6.2): alloca, bcopy, copyin, copyinto, and
 * strings in arrays of char. What alloca and copyin return lives as long as the clause. */
#include "engine/subr/subr.h"

#include <string.h>

#include "base/size.h"

/* Returns memory that lives as long as this clause; NULL after a fault. */
static void *take(struct exec *x, uint64_t n)
{
    if (n > x->e->alloca_size - x->alloca_used) {
        exec_fault(x, RECORD_FAULT_NOSCRATCH, 0);
        return NULL;
    }
    return exec_area(x, n);
}

uint64_t subr_alloca(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return subr_address(take(x, arg[0]));
}

/* Copies between areas that may overlap. */
static uint64_t copy(struct exec *x, uint64_t from, uint64_t to, uint64_t size)
{
    if (size > x->e->alloca_size)
        return exec_fault(x, RECORD_FAULT_BADSIZE, size);
    const void *s = exec_bytes(x, from, size);
    void *d = s != NULL ? exec_writable(x, to, size) : NULL;
    if (d != NULL)
        memmove(d, s, size);
    return 0;
}

uint64_t subr_bcopy(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return copy(x, arg[0], arg[1], arg[2]);
}

uint64_t subr_copyinto(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return copy(x, arg[0], arg[2], arg[1]);
}

uint64_t subr_copyin(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    if (arg[1] > x->e->alloca_size)
        return exec_fault(x, RECORD_FAULT_NOSCRATCH, 0);
    const void *s = exec_bytes(x, arg[0], arg[1]);
    void *d = s != NULL && exec_work(x, arg[1] / WORK_COPY) ? take(x, arg[1]) : NULL;
    if (d == NULL)
        return 0;
    memcpy(d, s, arg[1]);
    return subr_address(d);
}

/* Writes a string into arg[2] bytes of memory, padded with zeros; NULL counts as an empty string.
 */
uint64_t subr_strncpy(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s = {"", 0};
    (void)n;
    if (arg[1] != 0 && !subr_text(x, arg[1], &s))
        return 0;
    size_t size = arg[2] < x->e->img.strsize ? (size_t)arg[2] : x->e->img.strsize;
    char *to = exec_writable(x, arg[0], size);
    if (to == NULL)
        return 0;
    size_t len = s.n < size ? s.n : size;
    memmove(to, s.s, len);
    memset(to + len, 0, size - len);
    return 0;
}

/* Returns the string in an array of arg[1] chars, which may lack its NUL. The copy may be shorter
 * if other threads write the array meanwhile. */
uint64_t subr_strndup(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    const char *s = exec_bytes(x, arg[0], 1);
    if (s == NULL)
        return 0;
    size_t most = size_min(size_min(arg[1], x->e->img.strsize), exec_room(x, arg[0]));
    return exec_work(x, most / WORK_SCAN) ? subr_copy(x, s, strnlen(s, most)) : 0;
}
