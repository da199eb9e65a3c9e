/* shadow.h - which function a return belongs to.
 *
 * The VM can report returns in two ways. {return_trace} names the function but leaves a frame for
 * every call, so that a tail-recursive loop grows for ever. The flag return_to costs no space and
 * gives exactly one event for each chain of tail calls, but names only the function that goes on.
 * This module keeps, for one process, the functions that were entered and not left yet, and finds
 * for a return_to the function that was left: the last one of the chain. That is what
 * function-return of the VM's own provider means.
 *
 * DATA. A stack of entries {function, caller, n}. The caller is the function that the frame's
 * return address lies in, so two calls of one tail chain have the same caller: a call whose caller
 * is the top entry's caller continues the top's chain and replaces its function; any other call
 * opens a chain and is pushed.
 *
 * One case is ambiguous: the top is in function f and its caller is f as well (body recursion). A
 * call with caller f can then be a tail call of the top, or a call from the top's own body. Both
 * are kept: the same function again is only counted in n (so that neither recursion nor a tail loop
 * takes space), another function is pushed, and the old top is marked as possibly over. Leftovers
 * are dropped when a return goes past them.
 *
 * A return_to X belongs to the topmost entry whose caller is X. Entries above it that are not
 * possibly over cannot have returned: they, and the entry itself, were left by an exception, which
 * X caught. An exception that the direct caller of the function catches looks exactly like a return
 * and counts as one.
 *
 * With an exception probe, which has the VM tell of each function that an exception leaves, entries
 * go one by one. The VM reports a function that ended in a call of another one after that one, when
 * the entry of both is gone; both had the same depth.
 *
 * Without, the VM tells of an exception only if the function that catches it had called a watched
 * one directly. Of others it shows later that entries are gone, if it does: a call from the
 * function of an entry is no call from below those above it, and a call whose caller is the bottom
 * of the process's stack has no entry below. The latter is how a process wakes up from
 * erlang:hibernate/3, too, which drops the stack without an event.
 *
 * DEPTH is the number of entries up to one, those counted that were forgotten. A chain of tail
 * calls keeps its depth, and so does a function that calls itself directly, from its second call
 * on.
 *
 * PLAIN CALLS. To know callers costs the VM some time. As long as only one function is watched they
 * are not needed: every return_to is a return of that function. Then entries are just counted
 * (plain). Only while the set of functions changes can there be both; the younger kind goes first.
 *
 * Always: at most SHADOW_DEPTH entries; the oldest is forgotten when a chain opens beyond that, and
 * returns that then find no entry are counted.
 */
#ifndef ET_BEAM_PROBE_SHADOW_H
#define ET_BEAM_PROBE_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

enum { SHADOW_DEPTH = 64 };

/* A function by its two atoms (as the VM numbers them) and arity. "undefined" is {undefined, 0, 0}.
 */
struct shadow_fn {
    uint64_t m, f;
    uint32_t a;
    bool bottom; /* of a caller: no frame of the process lies below its own */
};

struct shadow_entry {
    uint64_t m, f;     /* the function that the chain is in */
    uint64_t cm, cf;   /* its caller */
    uint16_t a, ca;    /* their arities */
    uint32_t n : 31;   /* chains that this entry stands for, at least 1 */
    uint32_t over : 1; /* possibly left by a tail call that was taken for another chain */
};

struct shadow {
    uint32_t base;  /* index of the oldest entry in the ring */
    uint32_t depth; /* entries */
    uint32_t under; /* entries that were forgotten, as there are too many above them */
    uint32_t lost;  /* returns that found no entry because it had to go, or was never seen */
    bool unwinding; /* an exception left a traced function: the next return_to is where it was
                       caught */
    struct shadow_fn left; /* the caller of the last entry that it took away */
    bool plain_last;       /* the last call was a plain one */
    uint32_t plain;        /* plain calls that have not returned; tail calls leave some over */
    struct shadow_fn plain_fn;
    struct shadow_entry e[SHADOW_DEPTH];
};

/* Empties it; what the entries hold does not matter. */
static inline void shadow_reset(struct shadow *s)
{
    s->base = s->depth = s->under = s->lost = s->plain = 0;
    s->unwinding = s->plain_last = false;
    s->plain_fn = s->left = (struct shadow_fn){0};
}

/* The depth of what was called last, 1 for the outermost; after shadow_call. */
static inline uint32_t shadow_depth(const struct shadow *s)
{
    return s->under + s->depth;
}

/* Function fn was entered; the frame it was entered with returns into caller. One whose return
 * nobody wants (seen because code was just loaded) does not take the place of the function that it
 * was tail-called by: the return is still that one's. True: it shows that functions have gone which
 * nothing told of. */
bool shadow_call(struct shadow *s, const struct shadow_fn *fn, const struct shadow_fn *caller,
                 bool wanted);
/* Function fn was entered, and nobody said from where: it is the only one that is watched. */
void shadow_call_plain(struct shadow *s, const struct shadow_fn *fn);
enum shadow_gone {
    SHADOW_UNKNOWN,  /* nothing that is known of */
    SHADOW_RETURNED, /* the function */
    SHADOW_UNWOUND   /* by an exception: that depth and all above it */
};
/* Execution went back into `to`. *fn is the function that returned, *depth its depth or that of the
 * outermost one that an exception left; 0: not known, as of plain calls. */
enum shadow_gone shadow_return(struct shadow *s, const struct shadow_fn *to, struct shadow_fn *fn,
                               uint32_t *depth);
/* An exception left a function: its depth, 0 when that is not known. Before it was caught, and from
 * the innermost function on. */
uint32_t shadow_unwind(struct shadow *s, const struct shadow_fn *fn);

#endif
