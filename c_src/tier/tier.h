/* tier.h - the one contract between a tracing session and a place where programs run.
 *
 * Life of a tier:  open (by its own room) -> match... -> enable -> go -> work... -> stop -> work...
 * -> close. A session may hold several (one a node); each is used by one thread only.
 *
 * match asks what probes there are; the session makes EPIDs of the matches and hands them to enable
 * with the encoded image. Everything that a tier then reports goes to a sink, from inside work.
 */
#ifndef ET_TIER_TIER_H
#define ET_TIER_TIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "dif/dif.h"
#include "engine/engine.h"
#include "probe/probe.h"

struct tier;

/* A probe that a tier has. Strings are borrowed from the tier and live until it closes. */
struct tier_probe {
    uint32_t id; /* 1 BEGIN, 2 END, 3 ERROR, then the tier's own, stable while it is open */
    const char *prov, *mod, *func, *name;
    enum probe_kind kind;
    uint64_t period; /* ns, PROBE_TICK only */
    uint32_t arity;  /* function probes: func is "name/arity" */
};

/* One clause of the image on one probe. */
struct tier_binding {
    uint32_t epid;   /* 1.. */
    uint32_t clause; /* of the image */
    uint32_t probe;  /* tier_probe.id */
};

/* What a tier reports; see engine.h for the layouts. Any function may be NULL. */
struct tier_sink {
    void *arg;
    /* One record: its clause execution's parts. Records of one thread come in order. */
    void (*record)(void *arg, struct tier *t, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                   const uint8_t *parts, size_t len);
    /* What one thread added to one key of one aggregation since it was last reported. */
    void (*aggregation)(void *arg, struct tier *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                        size_t keylen, const uint64_t *words, size_t nwords);
    /* A fault in a clause: see engine_drain. */
    void (*fault)(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                  uint32_t fault, uint64_t value, uint32_t cpu);
    /* The tier's counters, cumulative. */
    void (*counts)(void *arg, struct tier *t, const struct engine_counts *c);
};

enum tier_state {
    TIER_RUNNING, /* nothing special */
    TIER_EXITING, /* exit() ran: call stop */
    TIER_DRAINED, /* after stop: END has run and everything has been reported */
    TIER_LOST     /* the node is gone or ended the trace; a diagnostic says why */
};

struct tier_options {
    /* bytes; updated to what was granted */
    uint64_t bufsize, aggsize, dynvarsize, specsize;
    uint32_t nspec;      /* speculations */
    uint64_t switchrate; /* ns between two readings of the principal buffers, 0: as data arrives */
    uint64_t aggrate; /* ns between two readings of the aggregations, 0: with each reading, at least
                         each second */
    bool aggs_with_records; /* the program acts on aggregations from records (printa, clear, ...) */
};

typedef int (*tier_match_fn)(void *arg,
                             const struct tier_probe *p); /* not 0 ends the walk and is returned */

struct tier_ops {
    const char *name; /* "local", "vm" */
    /* Calls fn for each probe that the description matches, in order of id. Function probes come by
     * module, then function. 0, or an error with a diagnostic (a description that matches nothing
     * is not an error). */
    int (*match)(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                 struct diags *d);
    /* Nearest existing names for a description that matched nothing, as a hint; NULL if there is
     * none. Borrowed. */
    const char *(*suggest)(struct tier *t, const struct probe_spec *spec);
    /* Loads the program, places the probes. Nothing fires yet. The image is encoded by the caller.
     */
    int (*enable)(struct tier *t, const struct dif_image *img, const void *image, size_t len,
                  const struct tier_binding *b, size_t n, struct tier_options *opt,
                  struct diags *d);
    /* Runs BEGIN, then lets the probes fire. */
    int (*go)(struct tier *t, struct diags *d);
    /* Waits up to timeout_ms for something to happen and reports it. Returns enum tier_state, or a
     * negative error with a diagnostic. With `flush`, records and aggregations are read now
     * whatever the rates say. */
    int (*work)(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
                struct diags *d);
    /* Ends the firing of probes and runs END. work then reports the rest, until TIER_DRAINED. */
    int (*stop)(struct tier *t, struct diags *d);
    /* Removes everything from the target; frees t. Never fails, waits at most about 2 s. */
    void (*close)(struct tier *t);
    /* The target in words for people and JSON: "rabbit@host"; "" for the local tier. Borrowed. */
    const char *(*target)(struct tier *t);
    /* A descriptor that becomes readable when work has something to do, or -1. */
    int (*fd)(struct tier *t);
    /* What was enabled, for the status line and -v: text for people, borrowed; may be NULL. */
    const char *(*enabled)(struct tier *t);
    /* Changes switchrate and aggrate, ns, while the program runs. May be NULL. */
    void (*rates)(struct tier *t, uint64_t switchrate, uint64_t aggrate);
};

struct tier {
    const struct tier_ops *ops;
};

/* The local tier: dtrace:::BEGIN, END, ERROR and profile:::tick-*, in this process. */
int tier_local_open(struct tier **out, struct diags *d);

/* Walks the blocks that engine_drain makes and calls the sink. 0, or ET_EIMAGE on malformed bytes
 * (with a diagnostic): they may come from another machine. */
int tier_report(struct tier *t, const struct dif_image *img, const void *blocks, size_t len,
                const struct tier_sink *sink, struct diags *d);

#endif
