/* subr.c - the table of subroutines (words/subrs.list), what they share, and those that copy and
 * join strings. Searching is in subr_find.c, paths in subr_path.c, numbers in subr_num.c, JSON in
 * subr_json.c, terms in subr_term.c. */
#include "engine/subr/subr.h"

#include <string.h>

#include "base/size.h"

typedef uint64_t subr_fn(struct exec *x, const uint64_t *arg, unsigned n);

bool subr_text(struct exec *x, uint64_t addr, struct text *t)
{
    t->s = exec_string(x, addr, &t->n);
    if (t->n > x->e->img.strsize)
        t->n = x->e->img.strsize;
    return t->s != NULL;
}

bool subr_looked(struct exec *x, size_t looked, size_t most, size_t n, unsigned units)
{
    if (looked >= most && most < n)
        return exec_overdrawn(x);
    return exec_work(x, (uint64_t)looked * units);
}

uint64_t subr_copy(struct exec *x, const char *s, size_t n)
{
    char *p = exec_work(x, n / WORK_COPY) ? exec_scratch(x, size_add(n, 1)) : NULL;
    if (p == NULL)
        return 0;
    memcpy(p, s, n);
    p[n] = '\0';
    return subr_address(p);
}

/* copyinstr(addr [, max]): at most min(max, strsize) bytes, including the NUL. Probe arguments do
 * not change during a firing, so a text that fits is used in place; where other threads may write,
 * exec_string returns a copy. */
uint64_t subr_copyinstr(struct exec *x, const uint64_t *arg, unsigned n)
{
    size_t len, most = x->e->img.strsize;
    const char *s = exec_string(x, arg[0], &len);
    if (s == NULL)
        return 0;
    if (n > 1 && arg[1] < most)
        most = arg[1];
    most = most > 0 ? most - 1 : 0;
    return len <= most ? subr_address(s) : subr_copy(x, s, most);
}

uint64_t subr_strlen(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s;
    (void)n;
    return subr_text(x, arg[0], &s) ? s.n : 0;
}

uint64_t subr_strjoin(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text a, b;
    size_t most = x->e->img.strsize;
    (void)n;
    if (!subr_text(x, arg[0], &a) || !subr_text(x, arg[1], &b))
        return 0;
    b.n = size_min(b.n, size_left(most, a.n));
    char *p = exec_work(x, (a.n + b.n) / WORK_COPY) ? exec_scratch(x, a.n + b.n + 1) : NULL;
    if (p == NULL)
        return 0;
    memcpy(p, a.s, a.n);
    memcpy(p + a.n, b.s, b.n);
    p[a.n + b.n] = '\0';
    return subr_address(p);
}

uint64_t subr_strdup(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s;
    (void)n;
    return subr_text(x, arg[0], &s) ? subr_copy(x, s.s, s.n) : 0;
}

/* Returns s with the letters from `from` to `from` + 25 shifted by `by`. */
static uint64_t change_case(struct exec *x, uint64_t addr, char from, int by)
{
    struct text s;
    char *p = subr_text(x, addr, &s) && exec_work(x, s.n) ? exec_scratch(x, s.n + 1) : NULL;
    if (p == NULL)
        return 0;
    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)(s.s[i] >= from && s.s[i] < from + 26 ? s.s[i] + by : s.s[i]);
    p[s.n] = '\0';
    return subr_address(p);
}

uint64_t subr_toupper(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return change_case(x, arg[0], 'a', 'A' - 'a');
}

uint64_t subr_tolower(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return change_case(x, arg[0], 'A', 'a' - 'A');
}

/* A subroutine of the kernel tier only. The verifier rejects programs that call it. */
static uint64_t elsewhere(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)arg;
    (void)n;
    return exec_fault(x, RECORD_FAULT_ILLOP, 0);
}

static subr_fn *const subr_table[DIF_NSUBRS] = {
#define SUBR_ALL(name)                                         subr_##name
#define SUBR_VM(name)                                          subr_##name
#define SUBR_VM_KERNEL(name)                                   subr_##name
#define SUBR_KERNEL(name)                                      elsewhere
#define WORD_SUBR(num, name, args, result, min, max, tiers, d) [num] = SUBR_##tiers(name),
#include "words/subrs.list"
#undef WORD_SUBR
};

uint64_t subr_call(struct exec *x, unsigned subr, const uint64_t *arg, unsigned n)
{
    return exec_work(x, WORK_CALL) ? subr_table[subr](x, arg, n) : 0;
}
