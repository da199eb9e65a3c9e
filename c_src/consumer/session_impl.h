/* session_impl.h - what session.c and record.c share. */
#ifndef ET_CONSUMER_SESSION_IMPL_H
#define ET_CONSUMER_SESSION_IMPL_H

#include "base/arena.h"
#include "base/buf.h"
#include "consumer/session.h"

struct session_program {
    const char *name; /* as in compile_source; text too */
    const char *text;
    size_t len;
    uint64_t matched; /* clauses times probes */
    struct compile_attr probes, statements;
};

struct session_probe {
    struct report_probe p; /* strings borrowed from the tier */
    size_t tier;           /* index of it */
};

struct session_tier {
    struct tier *t;
    struct tier_binding *binding; /* by probe, then clause */
    size_t nbindings, capbindings;
    struct engine_counts counts;   /* latest */
    uint64_t shown[ENGINE_NDROPS]; /* drops already reported */
    bool begun;                    /* its first records have been reported */
    bool lost, drained;
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
    struct session_tier *tier;
    size_t ntiers;
    struct session_probe *probe; /* by EPID - 1 */
    size_t nprobes, capprobes;
    struct aggr_table aggr;
    struct report report;
    struct buf queue;     /* struct event, of the reading that is going on */
    struct buf end_queue; /* what END left, until everything else is reported */
    struct buf late;      /* struct late_fault, of the record that is being reported */
    struct buf text;      /* formatted for system() and freopen() */
    struct buf targets;
    bool exiting, stopped, exited;
    int status;           /* of exit() */
    uint64_t reported_ns; /* when drops were last reported */
};

/* -- record.c ---------------------------------------------------------------------------------- */

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
void session_counts(void *arg, struct tier *t, const struct engine_counts *c);

enum session_order {
    SESSION_FIRST,   /* a tier's first records: BEGIN's come first, END's are put off */
    SESSION_ORDERED, /* END's are put off */
    SESSION_AS_IS
};
/* Reports and empties a queue. 0 or an error with a diagnostic. */
int session_consume(struct session *s, struct buf *queue, enum session_order order);
void session_report_drops(struct session *s);

#endif
