/* filter.h - what must hold of a call's arguments before a clause's predicate can do anything.
 *
 * A predicate is followed over values of which some are terms: the call's arguments, and what the
 * functions on terms make of them. The result is a condition that the agent turns into a match
 * specification of the function's trace pattern, so that the VM drops the other calls itself.
 *
 * The condition holds whenever the predicate is true, faults, or leaves anything changed; so what
 * it excludes would have done nothing. It has no negation: only its tests have a sense, positive or
 * negative. Any part of it may therefore be taken for true, by whoever cannot express it.
 *
 * Everything else that a predicate looks at is unknown, and an unknown condition goes both ways, as
 * in decide.h: `A && unknown` leaves A, and `A || unknown` leaves nothing. */
#ifndef ET_TIER_FILTER_H
#define ET_TIER_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "dif/dif.h"

enum {
    FILTER_CODE = 512,  /* instructions of the longest predicate that is followed */
    FILTER_NODES = 64,  /* different values that one may have */
    FILTER_CONDS = 512, /* parts of conditions that are made on the way */
    FILTER_PARTS = 8, /* parts of a condition; the VM takes longer for more than the program does */
    FILTER_TERMS = 64 /* terms that the predicates of one event can examine: the agent's limit */
};

/* A value of an instruction. */
struct filter_node {
    uint8_t op;  /* enum filter_op, in filter.c */
    uint32_t of; /* the term that it is made of: a node */
    int64_t k;   /* a number, a string's index, or a subroutine */
};
/* A condition, or a part of one. */
struct filter_cond {
    uint8_t kind;  /* enum filter_kind, in filter.c */
    uint8_t when;  /* tests: 1 positive, 0 negative; comparisons: a set of enum filter_order */
    uint32_t a, b; /* parts; a node */
    int64_t k;     /* the number that is compared with */
};
struct filter {
    const struct dif_image *img; /* borrowed */
    uint32_t nnodes, nconds, root;
    uint32_t terms; /* terms that the predicate may examine, at most */
    struct filter_node node[FILTER_NODES];
    struct filter_cond cond[FILTER_CONDS];
};

/* Finds the condition of a clause of a verified image, for entry probes of functions. `budget` is
 * the option eventbudget. Returns false when there is none: every call has to be seen. */
bool filter_find(struct filter *f, const struct dif_image *img, uint32_t clause, uint64_t budget);
/* Appends the condition as doc/agent-protocol.md describes it (option `filters`). */
void filter_put(const struct filter *f, struct buf *x);
/* Appends it in the syntax of D. */
void filter_text(const struct filter *f, struct buf *out);

#endif
