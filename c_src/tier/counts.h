/* counts.h - which clauses of a program the VM may serve with its call counters.
 *
 * Of a counted function it is known how often it was called since the last reading, and nothing of
 * when. So a clause is counted only if nobody can see the difference: the clause itself only adds
 * (decide.h), every clause of the program on that function is like that, and what it adds to is
 * looked at after readings only. Aggregations always are: they come with a reading. A global
 * variable is, as long as only the clauses of BEGIN, END and slow intervals use it, which the agent
 * fires after a reading; and exit() ends the program at a known place only in those.
 *
 * Where records make the consumer read aggregations many times a second, very many functions are
 * not counted: to read their counters so often would cost a node more than it may. */
#ifndef ET_TIER_COUNTS_H
#define ET_TIER_COUNTS_H

#include "tier/tier.h"

enum { COUNTS_TICK_MS = 500 /* the shortest interval before which the agent reads counters */ };

/* The probe of a binding. */
struct counts_probe {
    enum probe_kind kind;
    uint64_t period;      /* of an interval */
    const void *function; /* of a probe of a function: the same for each of them; NULL: none */
};

/* Takes `counts` off the bindings that must not be counted. b: n of them, sorted by probe; p: their
 * probes. Returns how many functions are counted. */
size_t counts_settle(const struct dif_image *img, const struct tier_options *opt,
                     struct tier_binding *b, const struct counts_probe *p, size_t n);

#endif
