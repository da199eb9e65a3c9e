/* shadow.h - determines which function a return belongs to.
 *
 * The VM can report returns in two ways. {return_trace} names the function but leaves a frame for
 * every call, so that a tail-recursive loop grows without bound. The flag return_to takes no space
 * and gives exactly one event for each chain of tail calls, but names only the function that
 * execution returns to. This module keeps, for one process, the functions that were entered and not
 * left yet, and finds for a return_to the function that was left: the last one of the chain. That
 * is what function-return of the VM's own provider means.
 *
 * DATA. A stack of entries {function, caller, n}. The caller is the function that contains the
 * frame's return address, so two calls of one tail chain have the same caller: a call whose caller
 * is the top entry's caller continues the top's chain and replaces its function; any other call
 * opens a chain and is pushed.
 *
 * One case is ambiguous: the top is in function f and its caller is f as well (body recursion). A
 * call with caller f can then be a tail call of the top, or a call from the top's own body. Both
 * possibilities are kept: the same function again is only counted in n (so that neither recursion
 * nor a tail loop takes space); another function is pushed, and the old top is marked as possibly
 * over. Leftovers are dropped when a return goes past them.
 *
 * A return_to X belongs to the topmost entry whose caller is X. Entries above it that are not
 * possibly over cannot have returned: an exception, which X caught, left them and the entry itself.
 * An exception that the direct caller of the function catches looks exactly like a return and
 * counts as one.
 *
 * With an exception probe, for which the VM reports each function that an exception leaves, entries
 * are removed one by one. When a function ended in a tail call, the VM reports it after the called
 * function, when the entry of both is already gone; both had the same depth.
 *
 * Without one, the VM reports an exception only if the function that catches it had directly called
 * a watched one. Other exceptions show only later, if at all, in that entries are gone: a call from
 * the function of an entry cannot have been made below the entries above it, and a call whose
 * caller is the bottom of the process's stack has no entry below. The latter is also how a process
 * wakes up from erlang:hibernate/3, which drops the stack without an event.
 *
 * DEPTH is the number of entries up to and including one, forgotten ones included. A chain of tail
 * calls keeps its depth, and so does a function that calls itself directly, from its second call
 * on.
 *
 * PLAIN CALLS. Determining callers costs the VM some time. While only one function is watched they
 * are not needed: every return_to is a return of that function. Then entries are only counted
 * (plain). Both kinds can exist together only while the set of functions changes; the more recent
 * kind is then removed first.
 *
 * Always: at most SHADOW_DEPTH entries. When a chain opens beyond that the oldest is forgotten, and
 * returns that then find no entry are counted. */
#ifndef ET_BEAM_PROBE_SHADOW_H
#define ET_BEAM_PROBE_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

enum { SHADOW_DEPTH = 64 };

/* A function, by its two atoms (as the VM numbers them) and arity. "undefined" is {undefined, 0,
 * 0}. */
struct shadow_fn {
    uint64_t m, f;
    uint32_t a;
    bool bottom; /* of a caller: no frame of the process is below its own */
};

struct shadow_entry {
    uint64_t m, f;     /* the function that the chain is in */
    uint64_t cm, cf;   /* its caller */
    uint16_t a, ca;    /* their arities */
    uint32_t n : 31;   /* chains that this entry represents, at least 1 */
    uint32_t over : 1; /* possibly left by a tail call that was taken for another chain */
};

struct shadow {
    uint32_t base;  /* index of the oldest entry in the ring */
    uint32_t depth; /* entries */
    uint32_t under; /* entries forgotten because there are too many above them */
    uint32_t lost;  /* returns that found no entry, because it was forgotten or never seen */
    bool unwinding; /* an exception left a traced function: the next return_to is to where it was
                       caught */
    struct shadow_fn left; /* the caller of the last entry that the exception removed */
    bool plain_last;       /* the last call was a plain one */
    uint32_t plain;        /* plain calls that have not returned; tail calls leave some over */
    struct shadow_fn plain_fn;
    struct shadow_entry e[SHADOW_DEPTH];
};

/* Empties it; the contents of the entries do not matter. */
static inline void shadow_reset(struct shadow *s)
{
    s->base = s->depth = s->under = s->lost = s->plain = 0;
    s->unwinding = s->plain_last = false;
    s->plain_fn = s->left = (struct shadow_fn){0};
}

/* Returns the depth of the last call, 1 for the outermost; after shadow_call. */
static inline uint32_t shadow_depth(const struct shadow *s)
{
    return s->under + s->depth;
}

/* Records that function fn was entered, with a frame that returns into caller. A function whose
 * return is not wanted (seen only because its code was just loaded) does not replace the function
 * that tail-called it: the return still belongs to the latter. Returns true when the call shows
 * that functions are gone without an event. */
bool shadow_call(struct shadow *s, const struct shadow_fn *fn, const struct shadow_fn *caller,
                 bool wanted);
/* Records that function fn was entered, from an unknown caller: it is the only one that is watched.
 */
void shadow_call_plain(struct shadow *s, const struct shadow_fn *fn);
enum shadow_gone {
    SHADOW_UNKNOWN,  /* nothing known */
    SHADOW_RETURNED, /* the function */
    SHADOW_UNWOUND   /* an exception left that depth and everything above it */
};
/* Records that execution returned into `to`. *fn is the function that returned, *depth its depth or
 * that of the outermost one that an exception left; 0: unknown, as for plain calls. */
enum shadow_gone shadow_return(struct shadow *s, const struct shadow_fn *to, struct shadow_fn *fn,
                               uint32_t *depth);
/* Returns the depth of the innermost call of a function, 0 when unknown. */
uint32_t shadow_find(struct shadow *s, const struct shadow_fn *fn);
/* Records that an exception left a function and returns its depth, 0 when unknown. Called before
 * the exception is caught, from the innermost function outward. */
uint32_t shadow_unwind(struct shadow *s, const struct shadow_fn *fn);

#endif
