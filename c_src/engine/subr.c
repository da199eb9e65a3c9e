/* subr.c - the subroutines of D, one function each, in a table by number (dif/subrs.list).
 *
 * A subroutine gets its arguments as they were pushed and has the exec to read strings and take
 * scratch. It is bounded by strsize in all it reads and makes. */
#include <string.h>

#include "engine/impl.h"

typedef uint64_t subr_fn(struct exec *x, const uint64_t *arg, unsigned n);

static uint64_t address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* A copy in scratch of the first n bytes of s. */
static uint64_t scratch_copy(struct exec *x, const char *s, size_t n)
{
    char *p = exec_scratch(x, n + 1);
    if (p == NULL)
        return 0;
    memcpy(p, s, n);
    p[n] = '\0';
    return address(p);
}

/* copyinstr(addr [, max]): at most min(max, strsize) bytes, the NUL included. Probe arguments do
 * not change during a firing, so that a text which fits is used where it stands. */
static uint64_t subr_copyinstr(struct exec *x, const uint64_t *arg, unsigned n)
{
    size_t len, most = x->e->img.strsize;
    const char *s = exec_string(x, arg[0], &len);
    if (s == NULL)
        return 0;
    if (n > 1 && arg[1] < most)
        most = arg[1];
    most = most > 0 ? most - 1 : 0;
    return len <= most ? address(s) : scratch_copy(x, s, most);
}

static uint64_t subr_strlen(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    size_t len;
    if (exec_string(x, arg[0], &len) == NULL)
        return 0;
    return len < x->e->img.strsize ? len : x->e->img.strsize;
}

static uint64_t subr_strjoin(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    size_t na, nb, most = x->e->img.strsize;
    const char *a = exec_string(x, arg[0], &na);
    const char *b = a != NULL ? exec_string(x, arg[1], &nb) : NULL;
    if (b == NULL)
        return 0;
    na = na < most ? na : most;
    nb = nb < most - na ? nb : most - na;
    char *p = exec_scratch(x, na + nb + 1);
    if (p == NULL)
        return 0;
    memcpy(p, a, na);
    memcpy(p + na, b, nb);
    p[na + nb] = '\0';
    return address(p);
}

static uint64_t subr_strdup(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    size_t len, most = x->e->img.strsize;
    const char *s = exec_string(x, arg[0], &len);
    return s != NULL ? scratch_copy(x, s, len < most ? len : most) : 0;
}

static subr_fn *const subr_table[DIF_NSUBRS] = {
#define DIF_SUBR(num, name, args, result, min, max) [num] = subr_##name,
#include "dif/subrs.list"
#undef DIF_SUBR
};

uint64_t subr_call(struct exec *x, unsigned subr, const uint64_t *arg, unsigned n)
{
    return subr_table[subr](x, arg, n);
}
