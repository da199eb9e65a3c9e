/* tier_load.h - the cost of a program's probes where they fire, as a tier reports it.
 *
 * Times are estimates from samples (one event in about 128), and so are counts of events; only
 * `fired` is exact. All values are for one period of `ns` nanoseconds. Only time in which a thread
 * had a processor is counted. What the VM itself spends on an event, before and after a program
 * sees it, is part of the time of threads but not of probes; it is also given separately. */
#ifndef ET_TIER_TIER_LOAD_H
#define ET_TIER_TIER_LOAD_H

#include <stdint.h>

#include "probe/probe.h"

enum tier_load_why {
    TIER_LOAD_STATS,    /* requested by the option stats */
    TIER_LOAD_OVERLOAD, /* the program exceeded maxload and was ended */
    TIER_LOAD_TOTAL     /* the program has ended: its whole run */
};

/* A thread of the VM. */
struct tier_load_thread {
    const char *kind; /* "scheduler", "dirty CPU scheduler", "dirty I/O scheduler", "thread" */
    uint32_t number;  /* the VM's number; none for kind "thread" */
    uint64_t events, ns;
    uint64_t time; /* ns that it could run: not waiting for a processor that others had, nor
                      preempted by a hypervisor */
};
/* A probe, or (only `name`) all probes of that name. */
struct tier_load_probe {
    const char *prov, *mod, *func, *name;
    enum probe_kind kind;
    uint64_t events, ns;
};

/* A function whose calls the VM counts, in place of events. */
struct tier_load_counted {
    const char *prov, *mod, *func;
    uint64_t calls;
};

struct tier_load {
    enum tier_load_why why;
    uint64_t ns;                     /* length of the period */
    uint64_t fired;                  /* probe firings in the period */
    struct tier_load_thread *thread; /* busiest first */
    uint32_t nthreads;
    struct tier_load_probe *kind; /* costliest first */
    uint32_t nkinds;
    struct tier_load_probe *probe; /* the costliest ones, costliest first */
    uint32_t nprobes;
    struct tier_load_counted *counted; /* the most called ones, most called first */
    uint32_t ncounted;
    uint64_t functions; /* of which the VM counts calls, in all */
    uint64_t vm;        /* ns that the VM spent before and after the probes, an estimate */
    /* TIER_LOAD_OVERLOAD: the thread that exceeded the limit (kind, number, and the time that it
     * could run in the last TIER_LOAD_WINDOW_NS), the permille of that time that the program took,
     * and the permille that it may take. */
    struct tier_load_thread over;
    uint32_t permille, limit;
};
enum { TIER_LOAD_WINDOW_NS = 2000000000 };

#endif
