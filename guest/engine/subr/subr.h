/* subr.h - what the files of subroutines share.
 *
 * A subroutine gets its arguments as they were pushed and has the exec to read strings and take
 * scratch. It is bounded by strsize in all that it reads and makes; a string is looked at up to
 * strsize bytes. What takes time in proportion to a length is counted (exec_work) before it is
 * done, or, where it may end early, is done no further than there is work left for it (subr_most).
 * A NULL argument where a string belongs faults with invalid address. */
#ifndef ET_ENGINE_SUBR_SUBR_H
#define ET_ENGINE_SUBR_SUBR_H

#include "engine/impl.h"

/* One function for each line of the list that names a tier with an engine. */
#define SUBR_ALL(name)                                         uint64_t subr_##name(struct exec *x, const uint64_t *arg, unsigned n);
#define SUBR_VM(name)                                          SUBR_ALL(name)
#define SUBR_KERNEL(name)                                      /* not here */
#define WORD_SUBR(num, name, args, result, min, max, tiers, d) SUBR_##tiers(name)
#include "words/subrs.list"
#undef WORD_SUBR
#undef SUBR_ALL
#undef SUBR_VM
#undef SUBR_KERNEL

/* A string argument: n bytes, no NUL among them. */
struct text {
    const char *s;
    size_t n;
};
/* False after a fault. */
bool subr_text(struct exec *x, uint64_t addr, struct text *t);
/* How many of n bytes may be looked at, each of which takes so many units of work. */
static inline size_t subr_most(const struct exec *x, size_t n, unsigned units)
{
    return n < x->left / units ? n : x->left / units;
}
/* Counts `looked` bytes, of `most`, of n: a fault when it ended there for want of work. */
bool subr_looked(struct exec *x, size_t looked, size_t most, size_t n, unsigned units);
/* A copy in scratch; 0 after a fault. */
uint64_t subr_copy(struct exec *x, const char *s, size_t n);
/* The place of the first occurrence of t in s at or after `from`, or -1. */
int64_t subr_find(const struct text *s, const struct text *t, size_t from);

static inline uint64_t subr_address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

#endif
