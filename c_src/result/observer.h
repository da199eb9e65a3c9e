/* observer.h - observers of what happens in a session: one function for each kind of event.
 *
 * A session passes each event to its observers in order, until one hides it from the rest. The
 * library is the first: it calls the program's handlers (session/watch.c). The last is a reporter
 * (text.c, json_lines.c), which writes what reaches it. Events are the structs of erltrace.h. An
 * event with parts that a function of erltrace.h looks up begins with that struct, followed by what
 * the function needs. Events are valid until the observer returns. */
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
    struct erltrace_data public; /* first, so that one can be cast to the other */
    struct session *session;
    const struct erltrace_record *record;
    uint32_t action;             /* of the image */
    const struct value *v;       /* its parts */
    struct erltrace_value value; /* the last result of erltrace_data_value */
};

/* The cost of the probes in one tier. */
struct event_cost {
    struct erltrace_stats public; /* first, so that one can be cast to the other */
    const struct tier_load *load;
    uint64_t drop[RECORD_NDROPS]; /* losses of the interval; public.drops is the sum */
    struct erltrace_cost cost;    /* the last result of a function of erltrace.h */
    struct buf name;              /* of that cost */
};

/* The answers of the program's handlers. */
enum verdict {
    VERDICT_SHOW = ERLTRACE_CONSUME_THIS,
    VERDICT_HIDE = ERLTRACE_CONSUME_NEXT,  /* the observers after this one do not see it */
    VERDICT_ABORT = ERLTRACE_CONSUME_ABORT /* ... and the trace ends: session_work is ET_EABORT */
};

/* Any function may be NULL. Hiding a record at its beginning hides all of it. A hidden record still
 * has its effects on the session. */
struct observer {
    void *arg;
    enum verdict (*begin)(void *arg, const struct erltrace_record *r);
    /* Called for each action that leaves work to the consumer, before it changes any aggregation.
     */
    enum verdict (*action)(void *arg, const struct erltrace_record *r, struct event_data *d);
    /* whole: false when an earlier observer hid the end of the record, or asked for the end of the
     * trace: the parts seen so far are complete. */
    enum verdict (*end)(void *arg, const struct erltrace_record *r, bool whole);
    enum verdict (*fault)(void *arg, const struct erltrace_fault *f);
    enum verdict (*drop)(void *arg, const struct erltrace_drop *d);
    enum verdict (*cost)(void *arg, struct event_cost *c);
    /* Something has become of a node of the cluster. */
    enum verdict (*member)(void *arg, const struct erltrace_member *m);
    /* setopt() has set an option. */
    enum verdict (*setopt)(void *arg, const struct erltrace_setopt_data *s);
    /* Called several times a second while a target takes long to set something up. ABORT gives up.
     */
    enum verdict (*progress)(void *arg, const struct erltrace_progress *p);
    enum verdict (*diagnostic)(void *arg, const struct erltrace_diag *d);
    /* At the end of the run: every aggregation that no printa() has shown. */
    enum verdict (*aggregations)(void *arg);
    /* Called from time to time, and at the end (all): output that is held back is due. */
    enum verdict (*due)(void *arg, bool all);
};

#endif
