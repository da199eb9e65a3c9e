/* session_impl.h - what the parts of a session share. */
#ifndef ET_SESSION_SESSION_IMPL_H
#define ET_SESSION_SESSION_IMPL_H

#include "base/arena.h"
#include "base/buf.h"
#include "session/session.h"
#include "tier/decide.h"

struct api_probe { /* a public probe with what it points at */
    struct erltrace_probe public;
    struct erltrace_attributes attributes, arguments;
    const struct probe_def *def; /* what its arguments are, or NULL */
};

struct session_program {
    const struct erltrace_prog *owner; /* what its records show as their program */
    const char *name;                  /* as in compile_source; text too */
    const char *text;
    size_t len;
    uint64_t matched; /* clauses times probes */
    struct compile_attr probes, statements;
};

/* One enabled probe: a clause on a probe of a tier. */
struct session_probe {
    uint32_t clause;
    uint32_t id;
    const char *prov, *mod, *func, *name; /* borrowed from the tier */
    enum probe_kind kind;
    size_t tier; /* index of it */
};

struct session_tier {
    struct tier *t;
    struct tier_binding *binding; /* by probe, then clause */
    size_t nbindings, capbindings;
    size_t left_out; /* clauses on probes that are not among them: they could never run there */
    struct record_counts counts;      /* latest */
    struct record_counts shown;       /* the drops that have been reported */
    uint64_t reported[RECORD_NDROPS]; /* drops, when its costs were last reported */
    bool begun;                       /* its first records have been reported */
    struct buf queue;                 /* struct session_event, read and not yet reported */
    struct buf held; /* struct session_event: bufpolicy fill and ring, until the end */
    bool lost, drained;
    bool overload;      /* the program was ended there because of what it took */
    bool overload_told; /* ... which has been said; when it ended anyhow, that is all there is */
};

/* The processes that one clause is restricted to on functions, by kind of probe. */
struct session_functions {
    uint32_t clause, known; /* set of kinds, from PROBE_FN_ENTRY on, that have been looked at */
    const struct probe_pids *pids[PROBE_NKINDS - PROBE_FN_ENTRY];
};

struct session {
    struct session_config config;
    struct arena arena;
    struct compile *compile;
    struct compile_options compile_options;
    struct session_program *program;
    size_t nprograms;
    struct dif_image img;
    struct buf encoded;  /* img for the tiers */
    struct pf *format;   /* of each action; in the arena */
    struct value *value; /* room for the parts of one record; in the arena */
    uint32_t nvalues;
    uint32_t *clause_program; /* number of the program of each clause; in the arena */
    struct session_tier *tier;
    size_t ntiers;
    struct tier *starting;       /* what it is about to enable */
    struct session_probe *probe; /* by EPID - 1 */
    size_t nprobes, capprobes;
    size_t nwatched; /* of these, the probes of nodes: neither BEGIN and its kind nor intervals */
    struct decider *decider;       /* NULL: before matching */
    const struct probe_pids *pids; /* the last set that was kept; in the arena */
    struct session_functions functions;
    struct tier_later *later;
    size_t nlater;
    struct aggr_table aggr;
    struct report report;
    struct observer observer[2]; /* in the order in which they are told */
    size_t nobservers;
    struct api_probe shown; /* the probe of the last event, as observers see it */
    uint32_t shown_epid;    /* 0: none yet */
    struct buf said;        /* text of the event that is being told */
    struct buf end_queue;   /* what END left, until everything else is reported */
    struct buf late;        /* struct late_fault, of the record that is being reported */
    struct buf text;        /* formatted for system() and freopen(); earlier a function's name */
    struct buf targets;
    char option_hint[OPTION_HINT];
    bool exiting, stopped, exited, aborted;
    bool has_libraries;   /* they have been read */
    int status;           /* of exit() */
    uint64_t reported_ns; /* when drops were last reported */
    uint64_t began_ns;    /* when BEGIN ran */
};

/* What an observer's answer means: whether those behind it are told, too. */
static inline bool session_goes_on(struct session *s, enum verdict v)
{
    s->aborted |= v == VERDICT_ABORT;
    return v == VERDICT_SHOW;
}
/* Tells the observers of an event, in order, until one keeps it to itself. */
#define session_tell(s, event, ...)                                                                \
    for (size_t i_ = 0; i_ < (s)->nobservers; i_++)                                                \
        if ((s)->observer[i_].event != NULL &&                                                     \
            !session_goes_on((s), (s)->observer[i_].event((s)->observer[i_].arg, __VA_ARGS__)))    \
    break

/* Reports that memory is out; the error. */
int session_no_memory(struct session *s);

/* -- probe.c ----------------------------------------------------------------------------------- */

void api_probe_fill(struct api_probe *out, enum probe_kind kind, uint32_t id, const char *prov,
                    const char *mod, const char *func, const char *name, const char *node);

/* -- costs.c ----------------------------------------------------------------------------------- */

/* What took so many ns on all threads, in permille of the time that one thread could run: the
 * busiest, or the one for whose sake the program was ended. */
uint32_t session_cost_part(const struct event_cost *c, uint64_t ns);

/* -- enabling.c -------------------------------------------------------------------------------- */

/* Whether a clause has to be placed on a probe: b says which, and gets its `pids`. */
bool session_wants(struct session *s, const struct tier_probe *p, struct tier_binding *b);
/* What a clause's description has matched. */
struct session_matched {
    size_t count, left_out, instructions; /* probes; see tier_binding and tier_probe */
    bool several;                         /* functions */
    struct tier_probe first;              /* as an example */
};
/* Warns when nothing, or next to nothing, can come of the clause on all that it has matched. */
void session_doubt(struct session *s, uint32_t clause, const struct diag_pos *pos,
                   const struct session_matched *m);
/* Notes what functions that are still to come can get of a clause whose description has this name.
 * False: out of memory. */
bool session_later(struct session *s, uint32_t clause, const char *name);

/* -- match.c ----------------------------------------------------------------------------------- */

/* Places clauses on the probes that have come to a tier since it was enabled, with EPIDs behind
 * those that there are. 0 or an error with a diagnostic. */
int session_extend(struct session *s, struct session_tier *t);

/* -- library.c --------------------------------------------------------------------------------- */

/* Compiles the D libraries, once. 0 or an error with a diagnostic. */
int session_libraries(struct session *s);

/* -- deliver.c --------------------------------------------------------------------------------- */

/* The argument of a tier's sink while it works. */
struct session_reader {
    struct session *s;
    struct session_tier *tier;
    int error; /* the first one */
};
void session_record(void *arg, struct tier *t, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                    const uint8_t *parts, size_t len);
void session_aggregation(void *arg, struct tier *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                         size_t keylen, const uint64_t *words, size_t nwords);
void session_fault(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                   uint32_t fault, uint64_t value, uint32_t cpu);
void session_counts(void *arg, struct tier *t, const struct record_counts *c);
void session_load(void *arg, struct tier *t, const struct tier_load *l); /* costs.c */

enum session_order {
    SESSION_FIRST,   /* a tier's first records: BEGIN's come first, END's are put off */
    SESSION_ORDERED, /* END's are put off */
    SESSION_AS_IS
};
/* Reports and empties a queue. 0 or an error with a diagnostic. */
int session_consume(struct session *s, struct buf *queue, enum session_order order);
/* Policies fill and ring: keeps what is in the queue until the end. Not more than a buffer holds:
 * with ring the oldest go, with fill the session ends. 0 or an error with a diagnostic. */
int session_hold(struct session *s, struct session_tier *t);
void session_report_drops(struct session *s);
void session_set_rates(struct session *s);

#endif
