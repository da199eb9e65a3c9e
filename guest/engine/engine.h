/* engine.h - runs a verified program where the event is.
 *
 * An engine is one enabled program: its variables, and for each thread its buffers and aggregation
 * tables. `engine_fire` is the only entry at a probe. It takes no lock, asks the system for no
 * memory, makes no system call, and touches only memory that was reserved by engine_create.
 *
 * THREADS. Each operating system thread that fires has a `struct engine_thread`
 * (engine_thread_self), shared by all engines of this process. Whoever fires brackets it:
 *
 *     struct engine_thread *t = engine_thread_self();   // NULL: more than ENGINE_THREADS_MAX
 *     engine_enter(t);
 *     ... look up what is bound; engine_fire(e, t, &ctx, bindings, n) ...
 *     engine_leave(t);
 *
 * READING. Every thread has two halves of each kind of memory: it writes the active one. A reader
 * flips (engine_flip), waits until no thread is still inside an event that began before the flip
 * (engine_quiet), and then owns the inactive halves: engine_drain copies them out and empties them.
 * One reader at a time. The same waiting makes it safe to free what events could see: unlink it,
 * wait, free.
 *
 * SPECULATIONS. A record that follows speculate(id) goes to the thread's buffer for that id.
 * commit() copies what its own thread has there to the principal buffer, so that it stands in its
 * place among the thread's records; what other threads have is drained with the principal buffers,
 * as records like any others. The id can be used again once that is done: a speculation that has
 * ended is noticed at a flip, when the threads are quiet nobody writes it any more, and it is free
 * when it has been drained.
 *
 * BUFFER POLICIES. What is said above of principal buffers is the policy `switch`. With `fill` and
 * `ring` a thread has one of them, which is read when the engine has stopped, and not before. With
 * fill, a record that finds no room ends the firing of probes, as exit() does; what END's clauses
 * record has room kept for it in every thread. With ring, the newest records overwrite the oldest.
 * What other threads hold of a speculation that was committed is drained as with switch.
 *
 * THE BUDGET OF AN EVENT. Whatever a firing does is counted in units of work: an instruction is
 * one, and so are a few bytes that are copied or compared; what takes longer counts as more (enum
 * work in impl.h). A clause that would exceed engine_options.eventbudget, which is for all clauses
 * of the firing, faults with RECORD_FAULT_EVENTBUDGET. ERROR then has ENGINE_BUDGET_ERROR units for
 * itself, and the later clauses of the firing are given up: each counts as an error, too. A firing
 * exceeds its budget by no more than the instructions of one clause, and by one bounded step.
 *
 * COUNTS. For each clause execution whose predicate is true and that records: one record, or one
 * counted drop, or one counted error, or (policy fill) one counted as having found the buffer full;
 * each sub-clause of a clause with branches counts for itself. Of the records, those that were
 * overwritten (policy ring) are counted; all others are drained. The record of a fault is none of
 * these: no count adds up with it. For each aggregation: one update, or one counted drop.
 */
#ifndef ET_ENGINE_ENGINE_H
#define ET_ENGINE_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dif/dif.h"
#include "dif/record.h"

enum {
    ENGINE_THREADS_MAX = RECORD_THREADS,
    ENGINE_ARGS = 10,
    ENGINE_RANGES = 12,
    ENGINE_TEXTS = 4
};
enum { ENGINE_THREAD_ROOM = 240 };

struct engine;

struct engine_thread {
    _Atomic uint32_t seq; /* odd while inside an event */
    uint32_t index;       /* 0 .. ENGINE_THREADS_MAX - 1; of a thread that left, another's */
    int32_t tid;          /* gettid() */
    /* What the tier keeps of the thread: all zero when the thread gets the record, and its own from
     * then on. */
    _Alignas(16) unsigned char room[ENGINE_THREAD_ROOM];
};
_Static_assert(sizeof(struct engine_thread) % 64 == 0, "cache lines of its own");

/* The calling thread's record, NULL when there are too many threads, or when this process has no
 * key for it (engine_create says so). */
struct engine_thread *engine_thread_self(void);
/* The calling thread fires no more: another one may have its record. */
void engine_thread_leave(void);
/* How many records there are, those that were left included; the record of that index. */
uint32_t engine_thread_count(void);
const struct engine_thread *engine_thread_at(uint32_t index);

static inline void engine_enter(struct engine_thread *t)
{
    uint32_t s = atomic_load_explicit(&t->seq, memory_order_relaxed);
    atomic_store_explicit(&t->seq, s + 1,
                          memory_order_seq_cst); /* before any look at shared pointers */
}
static inline void engine_leave(struct engine_thread *t)
{
    uint32_t s = atomic_load_explicit(&t->seq, memory_order_relaxed);
    atomic_store_explicit(&t->seq, s + 1, memory_order_release);
}

/* Waiting for all threads to have left the events that they are in now. engine_mark notes who is
 * inside; engine_quiet says whether all of those have left since (it does not block: ask again). */
struct engine_mark {
    uint32_t n;
    uint32_t seq[ENGINE_THREADS_MAX];
};
void engine_mark(struct engine_mark *m);
bool engine_quiet(const struct engine_mark *m);

/* The identity of a probe. Strings are stable while the engine lives; never NULL. */
struct engine_probe {
    uint32_t id;
    const char *prov, *mod, *func, *name;
};

/* One clause enabled on one probe. */
struct engine_binding {
    uint32_t epid;   /* as in records; 1.. */
    uint32_t clause; /* of the image */
};

/* What a tier tells of the traced program's own values. A program holds such a value by a handle, a
 * number that means something during one firing only, and 0 for none; the tier that gave the handle
 * knows what it stands for, and knows its handles from all other numbers. Handles are arguments of
 * these functions only after `known` has said that they are one. */
struct engine_ctx;
struct engine_terms {
    bool (*known)(struct engine_ctx *ctx, uint64_t term);
    /* "integer", "tuple", ...: constant */
    const char *(*kind)(struct engine_ctx *ctx, uint64_t term);
    /* 0: not an integer, or too large */
    int64_t (*integer)(struct engine_ctx *ctx, uint64_t term);
    /* Elements, or bytes; 0 for what has none, -1: too many to count */
    int64_t (*size)(struct engine_ctx *ctx, uint64_t term);
    /* The value as its language writes it, and the text that it holds, if it does; cut at cap - 1
     * bytes, with a NUL. They return the length. */
    size_t (*text)(struct engine_ctx *ctx, uint64_t term, char *out, size_t cap);
    size_t (*string)(struct engine_ctx *ctx, uint64_t term, char *out, size_t cap);
    /* A part of it: the n-th, from 1 on, or the one with this name. 0: there is none;
     * ENGINE_TERMS_FULL: the firing has looked at too many. */
    uint64_t (*element)(struct engine_ctx *ctx, uint64_t term, int64_t n);
    uint64_t (*get)(struct engine_ctx *ctx, uint64_t term, const char *name, size_t len);
};
#define ENGINE_TERMS_FULL UINT64_MAX

/* One firing. The tier fills `probe`, `arg`, `self`, `vtimestamp`, perhaps `terms`, and zeroes the
 * rest. */
struct engine_ctx {
    const struct engine_probe *probe;
    /* Makes argument n (0..9) on first use; the engine caches it. An argument that is a string is
     * the address of a NUL-terminated text in a range announced with engine_ctx_range. NULL: all
     * arguments are 0. */
    uint64_t (*arg)(struct engine_ctx *ctx, unsigned n);
    /* vtimestamp, or NULL: it is then CPU time of the thread. */
    uint64_t (*vtimestamp)(struct engine_ctx *ctx);
    const struct engine_terms *terms; /* NULL: no argument is a term */
    uint64_t looked; /* what the functions of `terms` looked at: they add to it, an element of a
                        list or a byte of a text is one */
    uint64_t self;   /* whose thread-local variables: any number that identifies the process */
    uint16_t have;   /* bit set of cached arguments */
    uint16_t nranges;
    bool anywhere; /* belongs to no CPU: engine_options.cpu does not keep it out */
    bool own;      /* BEGIN, END or an interval: nothing of the target has happened */
    uint64_t argv[ENGINE_ARGS];
    struct engine_range {
        uint64_t base;
        uint64_t len; /* bytes readable from base, the NUL included */
    } range[ENGINE_RANGES];
    /* The engine's own: of the texts of `probe`, those that have been read. Another program's are
     * other ones, so each engine_fire begins with none. */
    struct engine_range text[ENGINE_TEXTS];
    uint16_t ntexts;
};

/* Makes [p, p + len) readable by the program during this firing. Used by `arg` functions. */
static inline void engine_ctx_range(struct engine_ctx *ctx, const void *p, size_t len)
{
    if (ctx->nranges < ENGINE_RANGES) {
        ctx->range[ctx->nranges].base = (uint64_t)(uintptr_t)p;
        ctx->range[ctx->nranges].len = len;
        ctx->nranges++;
    }
}

enum { ENGINE_BUDGET_ERROR = 16 << 10 }; /* what ERROR has when a firing has nothing left */

struct engine_options {
    uint32_t threads; /* threads that can have buffers, by engine_thread.index; others drop */
    enum record_policy policy;
    bool fixed;           /* sizes are as asked for, or not at all */
    uint64_t memory;      /* most bytes that all engines of this process may have, 0: any */
    uint64_t left;        /* bytes that the machine has left, 0: any number */
    uint64_t bufsize;     /* bytes of principal buffer a thread (switch: each half) */
    uint64_t aggsize;     /* bytes of aggregation table a thread (each half) */
    uint64_t dynvarsize;  /* bytes for dynamic variables */
    uint64_t specsize;    /* bytes of each speculation a thread */
    uint32_t nspec;       /* speculations, at most DIF_SPECS_MAX */
    uint64_t eventbudget; /* units of work for one firing, see above; 0: DIF_BUDGET; otherwise
                             brought between DIF_BUDGET_LEAST and DIF_BUDGET_MOST */
    bool one_cpu;         /* while running, only what happens on this CPU fires */
    uint32_t cpu;
    int32_t pid; /* what `pid` shows */
};

/* Bytes of memory that this process can have: the machine's, or what its control groups allow.
 * `root` goes before the paths that are read: "", or a folder that looks like /. */
uint64_t engine_machine_memory(const char *root);
/* How many of those nothing uses now; never 0. Of what the engines of this process have been
 * granted they use only what their threads have touched. */
uint64_t engine_machine_left(const char *root);

/* Makes an engine for a verified image, which the engine takes over (also on error). Memory is
 * reserved, not touched. When the system refuses it, or it is more than the engines that there are
 * have left of `memory`, or more than `left` without what those may still touch, sizes are halved
 * down to 64 KiB, unless they are fixed (the options are updated to what was granted). 0,
 * ET_ENOMEM, or ET_ELIMIT when one record, key or variable is larger than its store, or when this
 * process can tell no thread from another (see engine.c). */
int engine_create(struct dif_image *img, struct engine_options *opt, struct engine **out,
                  struct diags *d);
/* No thread may be inside the engine. */
void engine_destroy(struct engine *e);
const struct dif_image *engine_image(const struct engine *e);

/* The clauses bound to dtrace:::ERROR. The array is borrowed and must outlive the engine. */
void engine_set_error_bindings(struct engine *e, const struct engine_binding *b, uint32_t n,
                               const struct engine_probe *error_probe);

/* The clauses bound to dtrace:::END, so that policy fill keeps room for what they record. Before
 * anything fires. 0, or ET_ELIMIT when that is more than a buffer. */
int engine_set_end_bindings(struct engine *e, const struct engine_binding *b, uint32_t n,
                            struct diags *d);

/* Phases: nothing fires before engine_start; after engine_halt only END may. engine_fire itself
 * honours them. */
enum engine_phase { ENGINE_IDLE, ENGINE_BEGIN, ENGINE_RUNNING, ENGINE_END, ENGINE_STOPPED };
void engine_set_phase(struct engine *e, enum engine_phase p);
enum engine_phase engine_phase(const struct engine *e);
/* True once exit() ran, or a buffer of policy fill is full: ordinary probes fire no more. */
bool engine_exiting(const struct engine *e);
/* Makes it so, at once and from any thread. */
void engine_end(struct engine *e);

/* Runs the clauses in `b` for one firing. Between engine_enter and engine_leave. */
void engine_fire(struct engine *e, struct engine_thread *t, struct engine_ctx *ctx,
                 const struct engine_binding *b, uint32_t n);

/* What was counted so far: calls of engine_fire that ran, and what came of them. */
void engine_counts(const struct engine *e, struct record_counts *c);
/* Counts n drops of RECORD_DROP_LOAD: events that the tier knows to have missed. */
void engine_count_missed(struct engine *e, uint64_t n);

/* -- reading --------------------------------------------------------------------- */
/* Makes the other half active, of the kinds in `what`, for all threads. Then mark, wait for quiet,
 * drain. */
void engine_flip(struct engine *e, unsigned what);
/* True when some inactive or active half of these kinds holds anything. Cheap; may be a moment
 * late. */
bool engine_pending(const struct engine *e, unsigned what);
/* True when some active half of these kinds is more than half full. */
bool engine_pressed(const struct engine *e, unsigned what);

/* Copies out and empties inactive halves, thread after thread, stopping when out holds `limit`
 * bytes or more; true when nothing is left. Each call appends whole blocks, whose layout is that of
 * record.h. Entries of aggregations are what was added since the last drain: the reader merges. */
bool engine_drain(struct engine *e, unsigned what, size_t limit, struct buf *out);

#endif
