/* tier_load.h - what the probes of a program cost where they fire, as a tier reports it.
 *
 * Times are estimates from samples (one event in about 128); counts of events, too, but for
 * `fired`, which is exact. Everything is of one stretch of time, `ns` long. Only time in which a
 * thread had a processor is counted. What the VM itself spends on an event, before and after a
 * program sees it, is part of what threads spend, not of what probes do; it is also given by
 * itself. */
#ifndef ET_TIER_TIER_LOAD_H
#define ET_TIER_TIER_LOAD_H

#include <stdint.h>

#include "probe/probe.h"

enum tier_load_why {
    TIER_LOAD_STATS,    /* asked for by the option stats */
    TIER_LOAD_OVERLOAD, /* the program took more than maxload: it was ended */
    TIER_LOAD_TOTAL     /* it has ended: all of it */
};

/* A thread of the VM. */
struct tier_load_thread {
    const char *kind; /* "scheduler", "dirty CPU scheduler", "dirty I/O scheduler", "thread" */
    uint32_t number;  /* as the VM counts them; of a thread: none */
    uint64_t events, ns;
    uint64_t time; /* ns that it could run: not waiting for a processor that others had, nor taken
                      by a hypervisor */
};
/* A probe, or (only `name`) all probes of that name. */
struct tier_load_probe {
    const char *prov, *mod, *func, *name;
    enum probe_kind kind;
    uint64_t events, ns;
};

struct tier_load {
    enum tier_load_why why;
    uint64_t ns;                     /* of time that it is about */
    uint64_t fired;                  /* probe firings in it */
    struct tier_load_thread *thread; /* busiest first */
    uint32_t nthreads;
    struct tier_load_probe *kind; /* dearest first */
    uint32_t nkinds;
    struct tier_load_probe *probe; /* the dearest ones, dearest first */
    uint32_t nprobes;
    uint64_t vm; /* ns of the VM on its way to the probes and back, an estimate */
    /* TIER_LOAD_OVERLOAD: the thread that had enough (kind, number, and the time that it could run
     * in the last TIER_LOAD_WINDOW_NS), the permille of that time that the program took, and that
     * it may. */
    struct tier_load_thread over;
    uint32_t permille, limit;
};
enum { TIER_LOAD_WINDOW_NS = 2000000000 };

#endif
