/* load.h - the cost of events, and the dead-man: a program that takes too much of a scheduler is
 * ended by the event that detects it.
 *
 * SAMPLING. A thread times about one event in LOAD_GAP. The number of events between two samples is
 * random, so that no rhythm of the workload hides from sampling or dominates it. A sample stands
 * for the events since the last one. After a slow event the next one is timed as well, as long as
 * events are slow: then timing costs little in comparison. The time that one sample stands for is
 * bounded (LOAD_SAMPLE_NS), so that a single event that the system made slow does not weigh like a
 * slow program.
 *
 * Only time in which the thread had a processor counts. An event that looks long may have been
 * interrupted, by other threads or by a hypervisor: then the thread's own clock says how much of it
 * the thread ran.
 *
 * CHARGING. The time of a probe's clauses is charged to the probe and its program. The rest of the
 * event, and what the VM itself spends on it before and after we see it (load_vm_ns, an estimate
 * that is also kept separately), is shared by the programs whose probes fired; when none did, by
 * those whose needs made the VM report it. What no program needs (any more) is charged to none,
 * since ending a program would not end it.
 *
 * THE LIMIT. A share is of the time that a thread could run. Time that it waited for a processor
 * that others had (on a busy machine, or in a container with a quota), and time that a hypervisor
 * took, does not count, or a node that gets little processor time would have nothing left. The
 * thread itself asks the system for this once a slice; no other thread has to run for that. It
 * could run for at least the time that it did run.
 *
 * A thread's time is cut into slices; each program has a ring of them for each thread. When a slice
 * begins, the thread looks at the last LOAD_SLICES: their sum is what the program has taken of
 * LOAD_WINDOW_NS. A program is over when this is more than its limit. It is also over when all
 * programs with a limit together take more than its limit and it takes the most of them: then
 * ending it is what helps, and the cheap ones continue.
 *
 * Everything that an event writes belongs to the thread, except the counters of a probe, which only
 * samples touch. Nothing waits, and nothing is allocated. */
#ifndef ET_BEAM_DEADMAN_LOAD_H
#define ET_BEAM_DEADMAN_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    LOAD_GAP = 128,              /* events for one sample, in the mean; a power of two */
    LOAD_SLOW_NS = 16000,        /* above this the next event is also timed */
    LOAD_DOUBT_NS = 4000,        /* no interruption is shorter than this */
    LOAD_SAMPLE_NS = 100000000,  /* the most that a sample stands for, apart from its own time */
    LOAD_SLICE_NS = 125000000,   /* of time, for which costs are added up */
    LOAD_SLICES = 16,            /* of a window */
    LOAD_RING = 2 * LOAD_SLICES, /* kept; a power of two */
    LOAD_PARTS = 16,             /* firings that one event charges separately */
    LOAD_MOST = 1000,            /* permille of a thread's time: all of it */
    LOAD_LEAST_NS = 100000000    /* of a window; judged as if the thread could run this long */
};
#define LOAD_WINDOW_NS ((uint64_t)LOAD_SLICE_NS * LOAD_SLICES)

/* Kinds of events by what the VM spends on them. */
enum load_class {
    LOAD_CALL,       /* through a meta pattern */
    LOAD_CALL_LOCAL, /* through a local pattern, with the caller */
    LOAD_RETURN,     /* return_to */
    LOAD_FRAME,      /* return_from and exception_from */
    LOAD_MESSAGE,    /* send and receive */
    LOAD_RUNNING,    /* in and out */
    LOAD_PROCESS,    /* the flag procs */
    LOAD_GC,
    LOAD_PORT,
    LOAD_OTHER,
    LOAD_NCLASSES
};
/* ns that the VM spends around a callback, each measured with a tracer that does nothing (bench/,
 * rows floor_*) on hardware of 2024; under contention it is more. */
extern const uint16_t load_vm_ns[LOAD_NCLASSES];

/* A counter at the last two marks, the older one first. */
struct load_marks {
    uint64_t events[2], ns[2];
};

/* A thread's part of a program; only that thread writes it, except the marks. */
struct load_thread {
    _Atomic uint64_t events, ns;
    _Atomic uint64_t vm;      /* of ns: the VM's own part */
    uint64_t vm_marks[2];     /* what it was at the last two marks, the older one first */
    uint64_t slice;           /* the number of the newest slice in the ring */
    uint32_t ring[LOAD_RING]; /* ns charged in slice n, at n % LOAD_RING */
    struct load_marks marks;
    uint64_t waited[3];     /* load_wait of the thread, by enum load_from */
    uint64_t waited_in_all; /* the same when the program ended */
};

/* events: of a function whose calls the VM counts, those calls, which cost nothing here. */
struct load_probe {
    _Atomic uint64_t events, ns;
    struct load_marks marks;
};

/* Why a program was ended. */
struct load_trip {
    uint32_t thread;   /* engine_thread.index */
    uint32_t permille; /* of the time that it could run, over the window */
    uint64_t time;     /* ns: the length of that time */
    uint64_t at;       /* when that was */
};

/* A program's account. */
struct load {
    uint32_t limit; /* permille of a thread's time, 0: none */
    uint32_t needs; /* enum probe_need */
    uint32_t nthreads, nprobes;
    struct load_thread *thread;
    struct load_probe *probe;
    _Atomic uint64_t first; /* the first whole slice that it ran in; UINT64_MAX: not running */
    uint64_t marked[3];     /* ns, by enum load_from */
    uint64_t ended;         /* ns: when it stopped running; 0: it runs, or never ran */
    uint64_t fired[3];      /* record_counts.fired then */
    _Atomic uint32_t over;  /* 0, 1: being written, 2: `trip` says why */
    struct load_trip trip;
};

/* An event that is being timed; it is on the stack of the function that handles the event. */
struct load_sample {
    uint64_t start, cpu; /* by the monotonic clock, by the thread's own */
    uint32_t clocks;     /* how often the clock was read since the start */
    uint32_t vm_more;    /* ns that the VM spends on this event beyond those of its kind */
    uint32_t nparts;
    struct load_part {
        struct load *load;
        struct load_probe *probe;
        uint64_t ns;
    } part[LOAD_PARTS];
};

/* The state of one thread, initially zeros: the first event is a sample. */
struct load_sampler {
    uint32_t left;          /* events before the next sample */
    uint32_t gap;           /* the initial value of `left` */
    struct load_sample *on; /* the current event, if it is a sample; NULL: it is not */
    uint64_t looked;        /* the slice in which the programs were last checked */
    uint32_t random;        /* state; 0: not seeded */
};

/* Returns the time that a thread has waited for a processor since its first event, as of its last
 * slice with events. */
uint64_t load_wait(uint32_t thread);
/* Sets the permille of the time of the machine's processors that a hypervisor has taken lately. */
void load_stolen(uint32_t permille);
/* Returns the part of ns that remains for a thread that waited `waited` of its time. At least 1. */
uint64_t load_could_run(uint64_t ns, uint64_t waited);

/* Measures how long reading the clock takes. Must be called once, before anything is sampled. */
void load_calibrate(void);

/* Initializes an account. Its memory is the caller's: arrays of zeros. */
void load_init(struct load *l, struct load_thread *thread, uint32_t nthreads,
               struct load_probe *probe, uint32_t nprobes);
/* Starts or stops an account: the program's probes fire from now on (ns), or no longer: then it
 * cannot be over. */
void load_start(struct load *l, uint64_t now);
void load_stop(struct load *l, uint64_t now);
/* Returns the end of the time that an account covers: now, or when the program ended, however long
 * undoing its settings took since then. */
uint64_t load_until(const struct load *l, uint64_t now);
static inline bool load_is_over(const struct load *l)
{
    return atomic_load_explicit(&l->over, memory_order_acquire) == 2;
}

/* -- at an event ------------------------------------------------------------------------------- */

void load_sample_begin(struct load_sampler *me, struct load_sample *s);
/* Begins an event; s is used if the event is a sample. */
static inline void load_begin(struct load_sampler *me, struct load_sample *s)
{
    if (__builtin_expect(me->left-- == 0, 0))
        load_sample_begin(me, s);
}
/* Returns the sample in progress on this thread, usually NULL. */
static inline struct load_sample *load_sampling(const struct load_sampler *me)
{
    return me->on;
}
/* Records that the clauses of a probe took ns. */
void load_part(struct load_sample *s, struct load *l, struct load_probe *p, uint64_t ns);
/* The clocks at the end of a sample. */
struct load_clocks {
    uint64_t now;
    uint64_t took; /* ns of the sample in which the thread had a processor */
    /* Of the thread, since it began; 0 where the system does not tell. Only set where load_turns
     * returns true. */
    uint64_t ran, waited;
};
/* Returns whether the event may have been interrupted: then `took` must be measured. */
static inline bool load_doubtful(const struct load_sample *s, uint64_t now)
{
    return now - s->start >= LOAD_DOUBT_NS;
}
/* Returns whether a slice begins, in which the thread checks whether a program is over its limit.
 */
static inline bool load_turns(const struct load_sampler *me, uint64_t now)
{
    return now / LOAD_SLICE_NS != me->looked;
}
/* Ends the sample, on the thread with that index. all: the programs that see events; need: what
 * made the VM report this one. Returns the program that is now over, or NULL. */
struct load *load_end(struct load_sampler *me, struct load_sample *s, struct load *const *all,
                      uint32_t n, uint32_t thread, enum load_class class, uint32_t need,
                      const struct load_clocks *clocks);

/* -- reading ----------------------------------------------------------------------------------- */

/* The start of a report's interval: the mark before the last one, the last one, the program's
 * start. */
enum load_from { LOAD_BEFORE, LOAD_MARK, LOAD_START };
/* Returns the ns from then until load_until that thread i waited for a processor. */
uint64_t load_waited(const struct load *l, uint32_t i, enum load_from from);
/* Subtracts what was counted before the interval. */
static inline void load_since(const struct load_marks *m, enum load_from from, uint64_t *events,
                              uint64_t *ns)
{
    if (from != LOAD_START) {
        *events -= m->events[from];
        *ns -= m->ns[from];
    }
}
/* Marks probes that were added to a program later, whose costs lie apart. */
void load_mark_probes(struct load_probe *p, uint32_t n);
/* Makes a mark; fired: the count to remember with it. */
void load_mark(struct load *l, uint64_t now, uint64_t fired);
/* A probe's place in a list: those with the highest number come first, those with 0 are left out.
 */
typedef uint64_t load_rank(const void *of, uint32_t probe, enum load_from from);
/* Ranks the probes of a struct load by what they cost. */
uint64_t load_by_cost(const void *load, uint32_t probe, enum load_from from);
/* Finds the probes with the highest ranks among `nprobes`: at most n indexes, the highest first.
 * Returns how many. */
uint32_t load_top(load_rank *rank, const void *of, uint32_t nprobes, enum load_from from,
                  uint32_t *index, uint32_t n);

#endif
