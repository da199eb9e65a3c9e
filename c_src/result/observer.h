/* observer.h - who is told what happens in a session: one function for each kind of event.
 *
 * A session tells its observers of an event in order, until one keeps it to itself. The library is
 * the first: it asks the program's handlers (session/watch.c). The last is a reporter (text.c,
 * json_lines.c), which writes what reaches it. Events are the structs of erltrace.h; those that
 * have parts which a function of erltrace.h looks up begin with that struct, and hold behind it
 * what the function needs. They are valid until the observer returns. */
#ifndef ET_RESULT_OBSERVER_H
#define ET_RESULT_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "erltrace.h"
#include "dif/record.h"
#include "result/value.h"
#include "tier/tier.h"

/* One action of a record. */
struct event_data {
    struct erltrace_data public; /* first, so that one is the other */
    struct session *session;
    const struct erltrace_record *record;
    uint32_t action;             /* of the image */
    const struct value *v;       /* its parts */
    struct erltrace_value value; /* what erltrace_data_value has given last */
};

/* What the probes have cost in one tier. */
struct event_cost {
    struct erltrace_stats public; /* first, so that one is the other */
    const struct tier_load *load;
    uint64_t drop[RECORD_NDROPS]; /* what was lost in that time; public.drops is the sum */
    struct erltrace_cost cost;    /* what a function of erltrace.h has given last */
    struct buf name;              /* of it */
};

/* The answers of the program's handlers. */
enum verdict {
    VERDICT_SHOW = ERLTRACE_CONSUME_THIS,
    VERDICT_HIDE = ERLTRACE_CONSUME_NEXT,  /* the observers behind this one are not told */
    VERDICT_ABORT = ERLTRACE_CONSUME_ABORT /* ... and the trace ends: session_work is ET_EABORT */
};

/* Any function may be NULL. A record that is hidden at its beginning is hidden as a whole. What a
 * hidden record does to the session, it does all the same. */
struct observer {
    void *arg;
    enum verdict (*begin)(void *arg, const struct erltrace_record *r);
    /* Called for each action that leaves something to do, before it changes any aggregation. */
    enum verdict (*action)(void *arg, const struct erltrace_record *r, struct event_data *d);
    /* whole: false when an observer before this one has kept the end of the record, or wants the
     * trace to end: what there is of the record is complete as it is. */
    enum verdict (*end)(void *arg, const struct erltrace_record *r, bool whole);
    enum verdict (*fault)(void *arg, const struct erltrace_fault *f);
    enum verdict (*drop)(void *arg, const struct erltrace_drop *d);
    enum verdict (*cost)(void *arg, struct event_cost *c);
    /* setopt() has set an option. */
    enum verdict (*setopt)(void *arg, const struct erltrace_setopt_data *s);
    /* Several times a second while a target is long about what is set in it. ABORT gives it up. */
    enum verdict (*progress)(void *arg, const struct erltrace_progress *p);
    enum verdict (*diagnostic)(void *arg, const struct erltrace_diag *d);
    /* The end of the run: every aggregation that no printa() has shown. */
    enum verdict (*aggregations)(void *arg);
    /* From time to time, and at the end (all): what is held back is due. */
    enum verdict (*due)(void *arg, bool all);
};

#endif
