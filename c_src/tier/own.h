/* own.h - the probes that this process fires itself, in the tiers on this host: BEGIN, END, ERROR,
 * the default intervals, then one for each interval that was requested. */
#ifndef ET_TIER_OWN_H
#define ET_TIER_OWN_H

#include <sched.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "engine/engine.h"
#include "tier/tier.h"

enum { OWN_BEGIN, OWN_END, OWN_ERROR, OWN_FIXED };

struct own_probe {
    struct tier_probe probe;
    struct engine_probe identity;
    struct engine_binding *bindings; /* in program order */
    uint32_t nbindings;
    uint64_t due; /* next firing, CLOCK_MONOTONIC ns */
};

/* When the buffers are read next. */
struct own_pace {
    uint64_t switchrate, aggrate; /* ns, 0: immediately */
    uint64_t next_read, next_aggs;
};

struct own {
    struct arena arena;
    struct own_probe *probe; /* the first OWN_FIXED are BEGIN, END and ERROR */
    uint32_t n, cap;
    bool pinned; /* own_pin; `before` has the CPUs that this thread may otherwise use */
    cpu_set_t before;
    struct own_pace pace;
    struct buf drained;
    int wake;     /* a descriptor that ends the wait when it becomes readable, -1: none */
    bool stopped; /* END has fired, or never will */
};

/* Returns 0, or an error with a diagnostic; own_free in either case. */
int own_init(struct own *o, struct diags *d);
void own_free(struct own *o);
/* Returns whether a description can only mean such a probe. */
bool own_names(const struct probe_spec *spec);
/* As tier_ops.match and .suggest. */
int own_match(struct own *o, const struct probe_spec *spec, tier_match_fn fn, void *arg,
              struct diags *d);
const char *own_suggest(struct own *o, const struct probe_spec *spec, const char *where);
/* Distributes the bindings to their probes, keeping their order. Returns 0 or an error with a
 * diagnostic. */
int own_bind(struct own *o, const struct tier_binding *b, size_t n, struct diags *d);

/* Moves this thread, which fires, to the CPU of the option cpu, until own_free. Returns 0 or an
 * error with a diagnostic. */
int own_pin(struct own *o, int64_t cpu, struct diags *d);

/* Starts the ticks, and the pace of reading. Of several periods that were missed, one is fired. */
void own_start(struct own *o);
/* Sets how often the buffers are read, in ns, from now on. */
void own_pace(struct own *o, int64_t switchrate, int64_t aggrate);

/* How a tier runs what it fires, each called with that tier. */
struct own_runner {
    bool (*exiting)(struct tier *t);
    void (*fire)(struct tier *t, const struct own_probe *p,
                 uint64_t late); /* ns after it was due */
    /* Turns to the other half of the buffers, and waits until nobody writes the one that is read.
     */
    void (*flip)(struct tier *t, unsigned what);
    void (*drained)(struct tier *t); /* NULL: nothing to do */
    void (*counts)(struct tier *t, struct record_counts *c);
};

/* As tier_ops.work. `others`: something else than this thread fires, too. */
int own_work(struct own *o, struct tier *t, struct engine *e, const struct own_runner *runner,
             bool others, int timeout_ms, bool flush, const struct tier_sink *sink,
             struct diags *d);

#endif
