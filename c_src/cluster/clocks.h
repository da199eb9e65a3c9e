/* clocks.h - how far the clocks of a node are ahead of ours, by questions that the node answers
 * with what its clocks show.
 *
 * A question leaves at our time `asked`, its answer is here at our time `heard`, and in between the
 * node's monotonic clock showed first `before` and then `after`. Neither clock runs backwards, so
 *
 *     at `asked` the node's clock was ahead by at most   before - asked,
 *     at `heard` it was ahead by at least                after - heard,
 *
 * however long either way took: half of what lies between is Cristian's error (Distributed
 * Computing 3, 1989), and no assumption about the network is needed. How far the clock is ahead
 * changes by at most CLUSTER_DRIFT of the time that passes, so that each answer bounds it at every
 * other time as well. All bounds hold at once: what is stated is their intersection (Marzullo), to
 * which the quickest of the last answers contribute most.
 *
 * What always holds: while both clocks keep to CLUSTER_DRIFT, the truth lies in what is stated. A
 * clock that leaps (a machine that was suspended, a virtual one that was moved) makes bounds that
 * exclude each other. It shows with the first answer that took, together with the quickest one
 * before it, less time than the leap is wide. Then everything from before is forgotten, and
 * nothing is stated about times before the answer that shows it.
 *
 * The wall clock of a machine is its monotonic clock plus a number that changes when the wall clock
 * is set, and only then: Linux gives both one rate. A node reads them together, so that this
 * number is known with each answer, to the length of that reading.
 *
 * All times are nanoseconds. Nothing here reads a clock, allocates, or fails. */
#ifndef ET_CLUSTER_CLOCKS_H
#define ET_CLUSTER_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    CLUSTER_ANSWERS = 64,      /* kept, the last ones */
    CLUSTER_DRIFT_PPM = 200,   /* the most by which the rates of two clocks differ */
    CLUSTER_FIRST_ANSWERS = 3, /* questions to begin with: one answer may have been slow */
    CLUSTER_ASK_MS = 200       /* between two questions: a drift of 40 us */
};

/* The clocks of one machine, read one after another. */
struct cluster_reading {
    int64_t before; /* monotonic */
    int64_t wall;   /* since the epoch */
    int64_t after;  /* monotonic again */
};

/* A question, and what came of it. */
struct cluster_answer {
    int64_t asked;                /* our monotonic clock, before the question left */
    struct cluster_reading there; /* what the node says */
    struct cluster_reading here;  /* read when the answer had come: here.before is `heard` */
};

/* What is known of a node's clocks. Zero: nothing. */
struct cluster_clock {
    struct cluster_answer answer[CLUSTER_ANSWERS]; /* n, in order of time */
    size_t n;
    bool leapt;    /* a clock has leapt; nothing is known of the time before `since` */
    int64_t since; /* our monotonic clock */
};

/* By how much a clock is ahead of ours (negative: behind): between low and high, both included. */
struct cluster_span {
    bool known; /* false: nothing can be said; low and high are 0 */
    int64_t low, high;
};

struct cluster_ahead {
    struct cluster_span timestamp, walltimestamp; /* named as in D */
};

/* Takes in an answer. Returns false if it is not used: its numbers cannot be those of clocks, or it
 * was asked before an earlier one was heard. */
bool cluster_clock_add(struct cluster_clock *c, const struct cluster_answer *a);
/* Returns by how much the node's clocks are ahead of ours at a time of our monotonic clock. For a
 * time that is still to come, or after the last answer, this holds if no clock leaps until then. Of
 * walltimestamp nothing is known at times before the last answer: it may have been set since. */
struct cluster_ahead cluster_clock_at(const struct cluster_clock *c, int64_t at);

/* Return the middle of a span, and how far the truth may be from it. */
static inline int64_t cluster_offset(const struct cluster_span *s)
{
    return s->low + (s->high - s->low) / 2;
}
static inline int64_t cluster_error(const struct cluster_span *s)
{
    return s->high - cluster_offset(s);
}

/* Appends both in words: "timestamp is 3600.000012 s ahead of this host's, within 42 us,
 * walltimestamp is 3 us behind, within 43 us". No digit is finer than the error allows. */
void cluster_ahead_text(const struct cluster_ahead *a, struct buf *out);

#endif
