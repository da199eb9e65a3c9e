/* engine.h - runs a verified program where the event happens.
 *
 * An engine is one enabled program: its variables, and for each thread its buffers and aggregation
 * tables. `engine_fire` is the only entry at a probe. It takes no lock, allocates no memory, makes
 * no system call, and touches only memory that engine_create reserved.
 *
 * THREADS. Each operating system thread that fires has a `struct engine_thread`
 * (engine_thread_self), shared by all engines of this process. The caller brackets each firing:
 *
 *     struct engine_thread *t = engine_thread_self();   // NULL: more than ENGINE_THREADS_MAX
 *     engine_enter(t);
 *     ... look up what is bound; engine_fire(e, t, &ctx, bindings, n) ...
 *     engine_leave(t);
 *
 * READING. Every thread has two halves of each kind of memory and writes the active one. A reader
 * flips (engine_flip), waits until no thread is still inside an event that began before the flip
 * (engine_quiet), and then owns the inactive halves: engine_drain copies them out and empties them.
 * There is one reader at a time. The same wait makes it safe to free what events could see: unlink
 * it, wait, free.
 *
 * SPECULATIONS. A record that follows speculate(id) goes to the thread's buffer for that id.
 * commit() copies what its own thread has there to the principal buffer, in order among the
 * thread's records; what other threads have is drained with the principal buffers, as ordinary
 * records. Once that is done the id is free for reuse: a flip notices a speculation that has ended,
 * no thread writes to it once the threads are quiet, and it becomes free when it has been drained.
 *
 * BUFFER POLICIES. Principal buffers as described above follow the policy `switch`. With `fill` and
 * `ring` a thread has only one, which is read only after the engine has stopped. With fill, a
 * record that does not fit ends the firing of probes, as exit() does; every thread reserves room
 * for what END's clauses record. With ring, the newest records overwrite the oldest. What other
 * threads hold of a committed speculation is drained as with switch.
 *
 * THE BUDGET OF AN EVENT. Everything that a firing does is counted in units of work. An instruction
 * is one unit, and so are a few bytes copied or compared; longer operations count as more (enum
 * work in impl.h). All clauses of a firing share engine_options.eventbudget. A clause that would
 * exceed it faults with RECORD_FAULT_EVENTBUDGET. ERROR then has ENGINE_BUDGET_ERROR units of its
 * own, and the later clauses of the firing are abandoned; each counts as an error as well. A firing
 * exceeds its budget by at most the instructions of one clause and one bounded step.
 *
 * COUNTS. Each execution of a clause that records and whose predicate is true yields one record, or
 * one counted drop, or one counted error, or (policy fill) one counted as having found the buffer
 * full; each sub-clause of a clause with branches counts separately. With the policy ring,
 * overwritten records are counted; all others are drained. The record of a fault is none of these:
 * no count includes it. Each update of an aggregation is either made or counted as one drop. */
#ifndef ET_ENGINE_ENGINE_H
#define ET_ENGINE_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
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
    uint32_t index;       /* 0 .. ENGINE_THREADS_MAX - 1; reused after a thread left */
    int32_t tid;          /* gettid() */
    /* The tier's data about the thread: all zero when the thread gets the record, and the thread's
     * own from then on. */
    _Alignas(16) unsigned char room[ENGINE_THREAD_ROOM];
};
_Static_assert(sizeof(struct engine_thread) % 64 == 0, "cache lines of its own");

/* Returns the calling thread's record, or NULL when there are too many threads or this process has
 * no key for it (engine_create says so). */
struct engine_thread *engine_thread_self(void);
/* Gives back the key: at the latest when the library is unloaded, which musl never does. */
void engine_threads_end(void);
/* Releases the calling thread's record for reuse; the thread must not fire again. */
void engine_thread_leave(void);
/* Return the number of records, released ones included, and the record of that index. */
uint32_t engine_thread_count(void);
const struct engine_thread *engine_thread_at(uint32_t index);

static inline void engine_enter(struct engine_thread *t)
{
    uint32_t s = atomic_load_explicit(&t->seq, memory_order_relaxed);
    arch_store_before_loads(&t->seq, s + 1); /* before any read of what is shared */
}
static inline void engine_leave(struct engine_thread *t)
{
    uint32_t s = atomic_load_explicit(&t->seq, memory_order_relaxed);
    atomic_store_explicit(&t->seq, s + 1, memory_order_release);
}

/* Waits for all threads to leave the events that they are in now. engine_mark notes which are
 * inside; engine_quiet returns whether all of those have left since (it does not block: ask again).
 */
struct engine_mark {
    uint32_t n;
    uint32_t seq[ENGINE_THREADS_MAX];
};
void engine_mark(struct engine_mark *m);
bool engine_quiet(const struct engine_mark *m);

/* The identity of a probe. The strings live as long as the engine and are never NULL. */
struct engine_probe {
    uint32_t id;
    const char *prov, *mod, *func, *name;
    uint32_t kind; /* the tier's own */
};

/* One clause enabled on one probe. */
struct engine_binding {
    uint32_t epid;   /* as in records; 1.. */
    uint32_t clause; /* of the image */
};

/* How a tier describes values of the traced program. A program holds such a value by a handle, a
 * number that is valid during one firing only; 0 means none. The tier that issued a handle knows
 * its value, and can tell its handles from all other numbers. A handle is passed to these functions
 * only after `known` has accepted it. */
struct engine_ctx;
/* Questions whose answer is a number: 0 where the value is of another kind. */
enum engine_ask {
    ENGINE_ASK_INT,    /* the integer, or the limit of 64 bits that it exceeds */
    ENGINE_ASK_EQUALS, /* 1: it is the integer `with` */
    ENGINE_ASK_FLOAT,  /* a number times `with`, truncated, limited as above */
    ENGINE_ASK_SIZE,   /* of elements, or of bytes; -1: too many to count */
    ENGINE_ASK_LENGTH, /* the same of a list whose end is [] */
    ENGINE_ASK_WORDS,  /* -1: not known; sets engine_ctx.least */
    ENGINE_ASK_HASH    /* the same for equal values */
};
enum engine_part { ENGINE_PART_ANY, ENGINE_PART_ELEMENT, ENGINE_PART_HEAD, ENGINE_PART_TAIL };
struct engine_terms {
    bool (*known)(struct engine_ctx *ctx, uint64_t term);
    /* "integer", "tuple", ...: a constant string */
    const char *(*kind)(struct engine_ctx *ctx, uint64_t term);
    int64_t (*ask)(struct engine_ctx *ctx, uint64_t term, enum engine_ask what, int64_t with);
    bool (*equal)(struct engine_ctx *ctx, uint64_t a, uint64_t b);
    /* The value as its language writes it (`other`: as another language does), and the text that it
     * contains, if any; cut at cap - 1 bytes, with a NUL. Return the length. */
    size_t (*text)(struct engine_ctx *ctx, uint64_t term, bool other, char *out, size_t cap);
    size_t (*string)(struct engine_ctx *ctx, uint64_t term, char *out, size_t cap);
    /* A part of the value: the n-th, from 1 on, a field of a record, the one with this name, the
     * value of a key; or the constant that is this word for the tier. 0: there is none; ..._FULL:
     * the firing has examined too many; ..._OTHER: the value is not that record. */
    uint64_t (*part)(struct engine_ctx *ctx, uint64_t term, enum engine_part which, int64_t n);
    uint64_t (*field)(struct engine_ctx *ctx, uint64_t term, uint64_t which);
    /* Whether the value is a record of the name that another value, an atom, is. */
    bool (*is_record)(struct engine_ctx *ctx, uint64_t term, uint64_t name);
    uint64_t (*get)(struct engine_ctx *ctx, uint64_t term, const char *name, size_t len);
    /* Writes the name of the process that the program shows as this text, at most ENGINE_NAME bytes
     * with a NUL. Returns the length; 0: it is no process, or has no known name. */
    size_t (*name)(struct engine_ctx *ctx, const char *text, size_t len, char *out);
    uint64_t (*value)(struct engine_ctx *ctx, uint64_t term, uint64_t key);
    uint64_t (*constant)(struct engine_ctx *ctx, uint64_t word);
    /* Passes the event on to whoever watches: `arg` has the arguments that the program has read,
     * `kept` the values that it has kept; others are undefined, but for the first of `kept`. */
    void (*pass)(uint64_t number, const uint64_t *arg, const uint64_t *kept);
    /* Whether another tool watches the events of a kind (engine_probe.kind), and what tells it of
     * one, with values that the program chooses: ENGINE_ARGS of them, texts by their address. */
    bool (*watched)(uint32_t kind);
    void (*tell)(uint32_t kind, const uint64_t *value);
};
enum { ENGINE_NAME = 80 };
#define ENGINE_TERMS_FULL  UINT64_MAX
#define ENGINE_TERMS_OTHER (UINT64_MAX - 1)
#define ENGINE_TERMS_OLD   (UINT64_MAX - 2) /* a record whose definition may have changed */

/* One firing. The tier fills in `probe`, `arg`, `self`, `vtimestamp` and optionally `about` and
 * `terms`, and zeroes the rest. */
struct engine_ctx {
    const struct engine_probe *probe;
    /* Computes argument n (0..9) on first use; the engine caches it. A string argument is the
     * address of a NUL-terminated text in a range announced with engine_ctx_range. NULL: all
     * arguments are 0. */
    uint64_t (*arg)(struct engine_ctx *ctx, unsigned n);
    /* Returns the value of a built-in variable that only the VM tier has (enum dif_builtin), or
     * element `index` of one that is an array. A string is like a string argument. NULL: all are 0.
     */
    uint64_t (*about)(struct engine_ctx *ctx, unsigned builtin, uint64_t index);
    /* Writes the stack of the process, addresses from the innermost frame outwards, at most `most`,
     * and returns their number; NULL: there is none. Adds its work to `looked`. */
    uint32_t (*stack)(struct engine_ctx *ctx, uint64_t *frames, uint32_t most);
    /* Returns vtimestamp; NULL: the thread's CPU time is used. */
    uint64_t (*vtimestamp)(struct engine_ctx *ctx);
    const struct engine_terms *terms; /* NULL: no argument is a term */
    uint64_t looked; /* work of the functions of `terms`, which add to it: one for each element of a
                        list and each byte of a text */
    uint64_t self; /* owner of the thread-local variables: any number that identifies the process */
    uint16_t have; /* bit set of cached arguments */
    bool least;    /* set by `arg` for a size, and by `ask`: it is a lower bound */
    uint16_t nranges;
    uint64_t at, wall; /* when the event was, by CLOCK_MONOTONIC and CLOCK_REALTIME; 0: now */
    bool anywhere;     /* belongs to no CPU: engine_options.cpu does not exclude it */
    bool own;          /* BEGIN, END or an interval, not an event of the target */
    uint64_t more;     /* events like this one that the firing stands for in addition */
    uint64_t argv[ENGINE_ARGS];
    uint64_t kept[DIF_KEPT_MOST]; /* for subr_pass.c; need not be zeroed */
    struct engine_range {
        uint64_t base;
        uint64_t len; /* bytes readable from base, including the NUL */
    } range[ENGINE_RANGES];
    /* For the engine: the texts of `probe` that have been read. Another program reads others, so
     * each engine_fire starts with none. */
    struct engine_range text[ENGINE_TEXTS];
    uint16_t ntexts;
    /* What stays: while `stays` is the same number, the texts of `probe` and `fixed`, a text that
     * arguments may be, are where they are and do not change. 0: only during this firing. */
    uint64_t stays;
    struct engine_range fixed; /* its length is without the NUL; base 0: none */
    uint16_t lower;  /* for the engine: bit set of cached arguments that are lower bounds */
    bool read_lower; /* ... and whether this program has read a lower bound in this firing */
};

/* Makes [p, p + len) readable by the program during this firing. For `arg` functions. */
static inline void engine_ctx_range(struct engine_ctx *ctx, const void *p, size_t len)
{
    if (ctx->nranges < ENGINE_RANGES) {
        ctx->range[ctx->nranges].base = (uint64_t)(uintptr_t)p;
        ctx->range[ctx->nranges].len = len;
        ctx->nranges++;
    }
}

enum {
    ENGINE_BUDGET_ERROR = 16 << 10
}; /* units that ERROR has when its firing has used up its budget */

struct engine_options {
    uint32_t threads; /* threads that can have buffers, by engine_thread.index; firings on others
                         are dropped */
    enum record_policy policy;
    bool fixed;           /* grant the sizes as requested or fail */
    uint64_t memory;      /* limit on the bytes of all engines of this process, 0: none */
    uint64_t left;        /* bytes that the machine has left, 0: unlimited */
    uint64_t bufsize;     /* bytes of principal buffer per thread (switch: of each half) */
    uint64_t aggsize;     /* bytes of aggregation table per thread (of each half) */
    uint64_t dynvarsize;  /* bytes for dynamic variables */
    uint64_t specsize;    /* bytes of each speculation per thread */
    uint32_t nspec;       /* speculations, at most DIF_SPECS_MAX */
    uint64_t eventbudget; /* units of work for one firing, see above; 0: DIF_BUDGET; otherwise
                             clamped to DIF_BUDGET_LEAST .. DIF_BUDGET_MOST */
    bool one_cpu;         /* while running, only events on this CPU fire */
    uint32_t cpu;
    int32_t pid; /* value of `pid` */
    /* Memory that others write as well, in place of a mapping of this process: `place` gives that
     * many bytes, zeroed and aligned to a page, or NULL, and the caller frees them after
     * engine_destroy. Each of `threads` then has a part with `room` bytes more at its end, which
     * somebody else fires with. NULL: the usual. */
    void *(*place)(void *arg, uint64_t n);
    void *place_arg;
    uint32_t room;
};

/* Returns the bytes of memory that this process can have: the machine's, or what its control groups
 * allow. `root` is prepended to the paths that are read: "", or a folder that looks like /. */
uint64_t engine_machine_memory(const char *root);
/* Returns how many of those are unused now; never 0. Of the memory granted to the engines of this
 * process, only what their threads have touched counts as used. */
uint64_t engine_machine_left(const char *root);

/* Creates an engine for a verified image, which the engine takes over (also on error).
 *
 * Memory is reserved, not touched. When the system refuses it, or it exceeds what the existing
 * engines leave of `memory`, or what they may still touch leaves of `left`, sizes are halved down
 * to 64 KiB, unless they are fixed; the options are updated to what was granted.
 *
 * Returns 0; ET_ENOMEM; or ET_ELIMIT when one record, key or variable is larger than its store, or
 * when this process cannot tell its threads apart (see engine.c). */
int engine_create(struct dif_image *img, struct engine_options *opt, struct engine **out,
                  struct diags *d);
/* Frees the engine. No thread may be inside it. */
void engine_destroy(struct engine *e);
const struct dif_image *engine_image(const struct engine *e);
/* Sets the words of the constant terms: of each string of the image the one that it names, 0: none.
 * The array is borrowed and must outlive the engine. Call it before anything fires. */
void engine_set_constants(struct engine *e, const uint64_t *word);

/* Sets the clauses bound to dtrace:::ERROR. The array is borrowed and must outlive the engine. */
void engine_set_error_bindings(struct engine *e, const struct engine_binding *b, uint32_t n,
                               const struct engine_probe *error_probe);

/* Sets the clauses bound to dtrace:::END, so that policy fill reserves room for what they record.
 * Call it before anything fires. Returns 0, or ET_ELIMIT when they need more than a buffer. */
int engine_set_end_bindings(struct engine *e, const struct engine_binding *b, uint32_t n,
                            struct diags *d);

/* Phases. engine_fire does nothing in ENGINE_IDLE and ENGINE_STOPPED. In ENGINE_END, when the
 * caller fires END only, it also runs after exit(). */
enum engine_phase { ENGINE_IDLE, ENGINE_BEGIN, ENGINE_RUNNING, ENGINE_END, ENGINE_STOPPED };
void engine_set_phase(struct engine *e, enum engine_phase p);
enum engine_phase engine_phase(const struct engine *e);
/* Returns true once exit() ran or a buffer of policy fill is full: ordinary probes then no longer
 * fire. */
bool engine_exiting(const struct engine *e);
/* Sets that state, at once and from any thread. */
void engine_end(struct engine *e);

/* Runs the clauses in `b` for one firing. Call it between engine_enter and engine_leave. */
void engine_fire(struct engine *e, struct engine_thread *t, struct engine_ctx *ctx,
                 const struct engine_binding *b, uint32_t n);

/* Fills in the counts so far: calls of engine_fire that ran, and their outcomes. */
void engine_counts(const struct engine *e, struct record_counts *c);
/* Counts n drops that the tier knows of, from any thread. */
void engine_count_missed(struct engine *e, enum record_drop kind, uint64_t n);
/* Counts a drop on the calling thread, while the program runs. Between engine_enter and
 * engine_leave. */
void engine_drop(struct engine *e, const struct engine_thread *t, enum record_drop kind);

/* -- reading --------------------------------------------------------------------- */
/* Makes the other half active, for the kinds in `what` and all threads. Then mark, wait for quiet,
 * drain. */
void engine_flip(struct engine *e, unsigned what);
/* Returns true when some inactive or active half of these kinds holds anything. Cheap; the answer
 * may be slightly out of date. */
bool engine_pending(const struct engine *e, unsigned what);

/* Copies out and empties inactive halves, thread by thread, until `out` holds `limit` bytes or
 * more; returns true when nothing is left. Each call appends whole blocks, laid out as in record.h.
 * Entries of aggregations are what was added since the last drain: the reader merges them. */
bool engine_drain(struct engine *e, unsigned what, size_t limit, struct buf *out);

#endif
