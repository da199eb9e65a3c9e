/* subr.h - what the files of subroutines share.
 *
 * A subroutine gets its arguments as they were pushed, and the exec, through which it reads strings
 * and takes scratch. strsize bounds everything that it reads and makes: it examines at most strsize
 * bytes of a string. Work proportional to a length is counted (exec_work) before it is done; where
 * it may end early, it is done only as far as the budget lasts (subr_most). A NULL argument where a
 * string is expected faults with invalid address. */
#ifndef ET_ENGINE_SUBR_SUBR_H
#define ET_ENGINE_SUBR_SUBR_H

#include "engine/impl.h"

/* Declares one function for each line of the list that names a tier with an engine. */
#define SUBR_ALL(name)                                         uint64_t subr_##name(struct exec *x, const uint64_t *arg, unsigned n);
#define SUBR_VM(name)                                          SUBR_ALL(name)
#define SUBR_VM_KERNEL(name)                                   SUBR_ALL(name)
#define SUBR_KERNEL(name)                                      /* not here */
#define WORD_SUBR(num, name, args, result, min, max, tiers, d) SUBR_##tiers(name)
#include "words/subrs.list"
#undef WORD_SUBR
#undef SUBR_ALL
#undef SUBR_VM
#undef SUBR_VM_KERNEL
#undef SUBR_KERNEL

/* A string argument: n bytes without a NUL. */
struct text {
    const char *s;
    size_t n;
};
/* Reads a string argument; returns false after a fault. */
bool subr_text(struct exec *x, uint64_t addr, struct text *t);
/* Returns how many of n bytes the budget allows to examine, at `units` units of work each. */
static inline size_t subr_most(const struct exec *x, size_t n, unsigned units)
{
    return n < x->left / units ? n : x->left / units;
}
/* Counts `looked` examined bytes, where `most` of n were allowed; faults when the examination
 * stopped there for lack of budget. */
bool subr_looked(struct exec *x, size_t looked, size_t most, size_t n, unsigned units);
/* Returns a copy in scratch; 0 after a fault. */
uint64_t subr_copy(struct exec *x, const char *s, size_t n);
/* Returns the index of the first occurrence of t in s at or after `from`, or -1. */
int64_t subr_find(const struct text *s, const struct text *t, size_t from);

static inline uint64_t subr_address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

#endif
