/* impl.h - what the files of the engine share: the shape of its memory.
 *
 * One mapping holds everything that events touch:
 *
 *     globals | dynamic store | thread 0 | thread 1 | ...
 *
 * and each thread's part (`stride` bytes, page-aligned, untouched until that thread fires) is
 *
 *     struct tstate | clause-locals | key buffer | scratch | strtok | heads of speculations |
 *     principal half 0, 1 (policies fill and ring: 0 only) | aggregation half 0, 1 | speculations
 *
 * with guards between all of these in a sanitizer build (guard.h).
 *
 * Only its own thread writes a thread's part; a reader reads and empties halves that are inactive
 * and quiet. */
#ifndef ET_ENGINE_IMPL_H
#define ET_ENGINE_IMPL_H

#include "engine/dyn.h"
#include "engine/engine.h"

/* What to do with a record that does not fit. */
enum full {
    FULL_DROP, /* count it as phalf.drop */
    FULL_END,  /* policy fill: end the firing of probes */
    FULL_WRAP  /* policy ring: go on at the start, over the oldest */
};

/* One half of a principal buffer, or a speculation: records one after another from the start. A
 * ring has two runs of them once it has wrapped: the older ones in [oldest, end), the newer ones in
 * [0, used), and used <= oldest. */
struct phalf {
    unsigned char *data;
    _Atomic uint64_t used; /* bytes of whole records from the start */
    uint64_t limit;        /* how far `used` may go without a look at `full` */
    uint64_t drained;      /* bytes that the reader has copied out of the run it is at */
    uint64_t size;         /* bytes of data */
    uint64_t oldest, end;  /* end 0: one run only */
    enum full full;
    enum record_drop drop;
};

/* The states of a speculation. Threads change IDLE to ACTIVE and ACTIVE to the others, by
 * compare-and-swap; the reader changes those to IDLE. */
enum spec_state { SPEC_IDLE, SPEC_ACTIVE, SPEC_COMMITTED, SPEC_DISCARDED };

/* One half of an aggregation table: entries one after another, and an index of them by open
 * addressing. An index cell is 0 when free, else the high half of the key's hash over (offset / 8 +
 * 1) of the entry. */
struct ahalf {
    uint64_t *index;
    unsigned char *data;
    _Atomic uint64_t used; /* bytes of entries */
    uint64_t drained;
    uint32_t count; /* entries */
};

/* A counter that one thread writes and others read. */
typedef _Atomic uint64_t tcount;
static inline void tcount_add(tcount *c, uint64_t n)
{
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

struct tstate {
    struct phalf principal[2];
    struct ahalf aggs[2];
    tcount fired, own, recorded, updates, errors, filled, overwritten;
    tcount drop[RECORD_NDROPS];
    unsigned char *locals; /* clause-local variables, at var_rt.offset */
    unsigned char
        *key; /* key_size bytes: the key being built. Not NULL says that all of this is set */
    unsigned char *scratch; /* scratch_size bytes, fresh for each clause */
    uint64_t *borders;      /* a bit for each 8 bytes of it: an area from alloca() begins there, or
                               has ended. NULL: the program has none */
    uint64_t nborders;      /* words of it in which a clause has set one */
    struct strtok *strtok[2]; /* of a firing, and of ERROR within it; NULL: not in the program */
    struct phalf *spec;       /* engine.nspec speculative buffers */
    uint64_t rand;            /* state of rand(); 0: not seeded */
    uint64_t touched;         /* bytes of scratch that have been written at some time */
    uint64_t left;            /* units of work that the last firing had left */
};

/* What strtok() keeps between calls. */
struct strtok {
    uint64_t firing; /* that it belongs to, see exec_firing; 0: none */
    uint32_t at, len;
    char text[]; /* strsize bytes */
};

/* The traced process, as it was when the engine was made: nothing of it is asked for at a probe. */
struct identity {
    int32_t pid, ppid, pgid, sid;
    uint32_t uid, gid, euid, egid;
    char execname[16]; /* what the system calls it, at most 15 bytes */
    char unknown[16];  /* "<unknown>" */
    uint32_t nancestors;
    int32_t ancestor[64]; /* the process itself, its parent, and so on */
};
void identity_find(struct identity *id, int32_t pid);
/* Reads a small file as text, at most n - 1 bytes; "" when there is none. */
void file_text(const char *path, char *out, size_t n);

/* A variable at run time. Integers take 8 bytes; a string takes 8 + size + 1: a word that is 1 for
 * NULL, then the text. Bytes are as they are, rounded up to 8. */
struct var_rt {
    uint32_t offset; /* of a global in `globals`, of a clause-local in `locals` */
};

struct clause_rt {
    const uint32_t *code;
    uint32_t record_max; /* most bytes of one of its records, header and padding included */
};

struct engine {
    struct dif_image img;
    struct engine_options opt;
    struct identity self;
    struct arena arena; /* holds vars, clauses, aggs */
    struct var_rt *vars;
    struct clause_rt *clauses;
    uint32_t *agg_words; /* of each aggregation */
    unsigned char *map;  /* the mapping */
    size_t map_size;
    _Atomic uint64_t unused; /* bytes of it, in parts of threads that have not fired */
    unsigned char *globals;
    struct dyn dyn;         /* nbuckets 0: the program has no dynamic variables */
    unsigned char *threads; /* thread 0 */
    size_t stride;
    uint32_t key_size, scratch_size, locals_size, globals_size;
    uint32_t alloca_size;  /* bytes of a clause's scratch for alloca() and copyin() */
    uint32_t borders_size; /* bytes of tstate.borders */
    uint32_t strtok_size;  /* bytes of one struct strtok; 0: the program does not call strtok() */
    uint32_t far;      /* units that a look at memory of variables takes beside the others, and */
    uint32_t dyn_far;  /* one at the dynamic store, */
    uint32_t agg_far;  /* or a new key: where these are so large that each finds a new page */
    uint64_t end_size; /* policy fill: bytes of a buffer that are kept for END */
    uint32_t index_cells; /* of an aggregation half, a power of two */
    uint64_t agg_asked;   /* the option aggsize, as it was given */
    uint64_t agg_data;    /* bytes of entries in an aggregation half */
    const struct engine_binding *error_bindings;
    uint32_t nerror;
    const struct engine_probe *error_probe;
    uint32_t nspec;      /* speculations that there is memory for; 0: the program has none */
    uint32_t spec_ended; /* the reader's: bit set of those that had ended at the last flip */
    _Atomic uint32_t spec[DIF_SPECS_MAX]; /* enum spec_state */
    _Atomic uint32_t phase;               /* enum engine_phase */
    _Atomic uint32_t exiting;
    uint32_t open_threads;   /* so many fire without a further look; option cpu: none */
    _Atomic uint32_t active; /* bit RECORD_PRINCIPAL, RECORD_AGGS: which half is written */
    struct {
        _Atomic uint64_t principal, agg;
    } cpu_drops[RECORD_CPUS];
    tcount load_drops;   /* engine_count_missed */
    tcount thread_drops; /* firings on threads that have no part; fetch_add, by any thread */
};

/* Threads that may have a part: those that were seen, as far as there is room for them. */
static inline uint32_t engine_nthreads(const struct engine *e)
{
    uint32_t n = engine_thread_count();
    return n < e->opt.threads ? n : e->opt.threads;
}

static inline struct tstate *engine_tstate(const struct engine *e, uint32_t thread)
{
    return (struct tstate *)(void *)(e->threads + (size_t)thread * e->stride);
}

/* Whether a thread has ever fired, asked by another thread. */
static inline bool tstate_live(const struct tstate *ts)
{
    return __atomic_load_n(&ts->key, __ATOMIC_ACQUIRE) != NULL;
}

/* Gives a thread's part its pointers; called by that thread at its first event. */
void engine_thread_init(struct engine *e, struct tstate *ts);

enum { ENGINE_SCRATCH_STRINGS = 16 }; /* of the largest size, that a clause's scratch can hold */

/* What to do about n bytes that do not fit below h->limit: their place when a ring has made room,
 * else NULL, and the record is counted. */
unsigned char *buffer_full(struct engine *e, struct tstate *ts, struct phalf *h, uint32_t n);
/* Counts n drops of records, or of aggregations, on the CPU that this thread is on. */
void buffer_dropped(struct engine *e, struct tstate *ts, enum record_drop kind, uint64_t n);

/* One execution of a clause, for the files that share it: exec.c and subr.c. */
struct exec {
    struct engine *e;
    struct engine_thread *t;
    struct tstate *ts;
    struct engine_ctx *ctx;
    bool in_error; /* this is a clause of ERROR, which fired within another firing */
    uint32_t scratch_used;
    uint32_t alloca_used;    /* of engine.alloca_size */
    uint64_t left;           /* units of work that this firing may still do */
    enum record_fault fault; /* valid when `faulted` */
    bool faulted;            /* the clause is given up */
    bool no_room; /* ... as a dynamic variable found none, which is counted and no error */
    uint64_t fault_value;
    uint64_t last_string; /* the text exec_string looked at last, 0: none. It lies in memory that
                             only this clause can change, and it is forgotten when that does */
    size_t last_length;   /* its length */
};

/* What is counted as work, in units: see "the budget of an event" in engine.h. A unit is at most
 * some 3 ns of a machine of today, and mostly less than one. What takes time in proportion to
 * something is counted before it is done. */
enum work {
    WORK_CLAUSE = 32,   /* to begin and end a clause */
    WORK_CALL = 16,     /* a subroutine, beside what it looks at */
    WORK_LOOK = 8,      /* to find out whether an address is the program's */
    WORK_DIVIDE = 8,    /* a division */
    WORK_CLOCK = 16,    /* a look at a clock, or which CPU this is */
    WORK_CPUTIME = 256, /* a system call */
    WORK_ARGUMENT = 64, /* an argument of a probe, which is made once in a firing */
    WORK_RECORD = 48,   /* to begin and end a record */
    WORK_SPEC = 48,     /* to look for a speculation, or to end one */
    WORK_AGG = 80,      /* an update of an aggregation; its key is counted apart */
    WORK_ENTRY = 128,   /* to make an entry */
    WORK_DYN = 128,     /* a look for a dynamic variable; key and value are counted apart */
    WORK_WAIT = 8,      /* a look at a slot that another thread is at */
    WORK_TERM = 2,      /* a look at an element or a byte of a term */
    WORK_FAULT = 128,   /* to report a fault */
    /* Bytes that are a unit. */
    WORK_SCAN = 32,   /* looked at by the C library, or skipped */
    WORK_COPY = 16,   /* copied from here to there, or zeroed */
    WORK_KEY = 8,     /* copied and hashed and compared, or recorded */
    WORK_SHORT = 128, /* so many of a key are counted with what looks for it, which is less to do
                         than to count them by themselves */
    WORK_NEW = 4      /* of an entry of an aggregation, in memory that may not have been made yet */
};

/* Faults as the budget is exceeded; false. */
bool exec_overdrawn(struct exec *x);
/* Counts work before it is done. False: it is too much, and the clause has faulted. */
static inline bool exec_work(struct exec *x, uint64_t units)
{
    if (__builtin_expect(units > x->left, 0))
        return exec_overdrawn(x);
    x->left -= units;
    return true;
}

/* Adds to the entry of this key, making it. False: no room, count a drop; or a fault. */
bool aggr_update(struct exec *x, struct ahalf *h, uint32_t agg, const void *key, uint32_t keylen,
                 uint64_t hash, int64_t value, int64_t incr);
/* Moves what this thread has recorded speculatively to its principal buffer. What is more than may
 * be copied in an event is left where it is, for the reader, who takes it from there as he does
 * with what other threads have. */
void buffer_commit(struct exec *x, struct phalf *from, struct phalf *to);

/* The text at addr if the program may read it: its length without NUL, and its address, which is
 * that of a copy in scratch, of at most strsize bytes, where other threads may write (globals). So
 * a text may be looked at as often as need be. Whoever is done with it may take scratch back to
 * where it was before. NULL after a fault. */
const char *exec_string(struct exec *x, uint64_t addr, size_t *len);
/* n bytes that the program may read; NULL after a fault. Other threads may write them: they are to
 * be read once, or copied. */
const void *exec_bytes(struct exec *x, uint64_t addr, size_t n);
/* How many bytes the program may read at addr, 0: none. */
size_t exec_room(const struct exec *x, uint64_t addr);
/* n bytes that the program may write; NULL after a fault. What exec_string knows is forgotten. */
void *exec_writable(struct exec *x, uint64_t addr, size_t n);
/* Compares as SCMP does: 0, 1, 2 for less, equal, greater. */
uint64_t exec_compare(struct exec *x, uint64_t a, uint64_t b);
/* Scratch for n bytes, 8-byte aligned; NULL after a fault. */
char *exec_scratch(struct exec *x, size_t n);
/* The same as an area of its own: what begins in it may not reach beyond it, to the next multiple
 * of 8 bytes, and nothing may reach into it. */
char *exec_area(struct exec *x, size_t n);
/* The string "<unknown>". */
static inline uint64_t exec_unknown(const struct exec *x)
{
    return (uint64_t)(uintptr_t)x->e->self.unknown;
}
/* Marks a fault; returns 0. */
uint64_t exec_fault(struct exec *x, enum record_fault f, uint64_t value);

/* The state of strtok(), and the number of the firing that may use what is in it. */
static inline struct strtok *exec_strtok(const struct exec *x)
{
    return x->ts->strtok[x->in_error];
}
static inline uint64_t exec_firing(const struct exec *x)
{
    return atomic_load_explicit(x->in_error ? &x->ts->errors : &x->ts->fired, memory_order_relaxed);
}

/* speculation(): an id, or 0 and a counted drop. */
uint64_t exec_speculation(struct exec *x);

/* Runs subroutine `subr` on n arguments. */
uint64_t subr_call(struct exec *x, unsigned subr, const uint64_t *arg, unsigned n);

#endif
