/* impl.h - what the engine's files share: the layout of its memory.
 *
 * One mapping holds everything that events touch:
 *
 *     globals | dynamic store | thread 0 | thread 1 | ...
 *
 * Each thread's part (`stride` bytes, page-aligned, untouched until that thread fires) is
 *
 *     struct tstate | clause-locals | key buffer | scratch | strtok | heads of speculations |
 *     principal half 0, 1 (policies fill and ring: 0 only) | aggregation half 0, 1 | speculations
 *
 * A sanitizer build puts guards between all of these (guard.h).
 *
 * A thread's part is written only by that thread; a reader reads and empties halves that are
 * inactive and quiet. */
#ifndef ET_ENGINE_IMPL_H
#define ET_ENGINE_IMPL_H

#include "engine/dyn.h"
#include "engine/engine.h"

/* What to do with a record that does not fit. */
enum full {
    FULL_DROP, /* count it as phalf.drop */
    FULL_END,  /* policy fill: end the firing of probes */
    FULL_WRAP  /* policy ring: continue at the start, over the oldest */
};

/* One half of a principal buffer, or a speculation: consecutive records from the start. A ring that
 * has wrapped has two runs of them: the older ones in [oldest, end), the newer ones in [0, used),
 * with used <= oldest. */
struct phalf {
    unsigned char *data;
    _Atomic uint64_t used; /* bytes of whole records from the start */
    uint64_t limit;        /* how far `used` may go without consulting `full` */
    uint64_t drained;      /* bytes that the reader has copied out of its current run */
    uint64_t size;         /* bytes of data */
    uint64_t oldest, end;  /* end 0: one run only */
    enum full full;
    enum record_drop drop;
};

/* The states of a speculation. Threads change IDLE to ACTIVE, and ACTIVE to COMMITTED or DISCARDED,
 * by compare-and-swap; the reader changes these two to IDLE. */
enum spec_state { SPEC_IDLE, SPEC_ACTIVE, SPEC_COMMITTED, SPEC_DISCARDED };

/* One half of an aggregation table: consecutive entries, and an index of them by open addressing.
 * An index cell is 0 when free; otherwise it holds the high half of the key's hash above (offset /
 * 8 + 1) of the entry. */
struct ahalf {
    uint64_t *index;
    unsigned char *data;
    _Atomic uint64_t used; /* bytes of entries */
    uint64_t drained;
    uint64_t round; /* another one each time that it is emptied, and in the other half; never 0 */
    uint32_t count; /* entries */
};

/* Where a key was found last that its words tell: a key of numbers and of texts that stay. */
struct key_seen {
    struct record_entry *entry;
    uint64_t round, stays; /* of the half and the firing; both must be the same again */
    uint64_t word[2];      /* of the tuple */
    uint32_t agg;
};
enum { SEEN = 512, SEEN_WORDS = sizeof((struct key_seen){0}.word) / sizeof(uint64_t) };

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
    unsigned char *locals; /* clause-local variables, at engine.offsets */
    unsigned char
        *key; /* key_size bytes: the key being built. Not NULL: the whole part is initialized */
    unsigned char *scratch; /* scratch_size bytes, fresh for each clause */
    struct key_seen *seen;  /* SEEN of them, by a hash of agg and words */
    uint64_t *borders; /* a bit for each 8 bytes of scratch: an area from alloca() begins or has
                          ended there. NULL: the program has none */
    uint64_t nborders; /* words of `borders` in which a clause has set a bit */
    struct strtok *strtok[2]; /* of a firing, and of ERROR within it; NULL: not in the program */
    struct phalf *spec;       /* engine.nspec speculative buffers */
    uint64_t rand;            /* state of rand(); 0: not seeded */
    uint64_t touched;         /* bytes of scratch that have ever been written */
    uint64_t left;            /* units of work that the last firing left unused */
};

/* The state of strtok() between calls. */
struct strtok {
    uint64_t firing; /* the firing it belongs to, see subr_find.c; 0: none */
    uint32_t at, len;
    char text[]; /* strsize bytes */
};

/* The traced process as it was when the engine was created; a probe never queries any of it. */
struct identity {
    int32_t pid, ppid, pgid, sid;
    uint32_t uid, gid, euid, egid;
    char execname[16]; /* the name that the system has for it, at most 15 bytes */
    char unknown[16];  /* "<unknown>" */
    uint32_t nancestors;
    int32_t ancestor[64]; /* the process itself, its parent, and so on */
};
void identity_find(struct identity *id, int32_t pid);
/* Reads a small file as text, at most n - 1 bytes; "" when there is none. */
void file_text(const char *path, char *out, size_t n);

struct clause_rt {
    const uint32_t *code;
    uint32_t record_max; /* size of its largest record, including header and padding */
};

struct engine {
    struct dif_image img;
    struct engine_options opt;
    struct identity self;
    struct arena arena; /* holds vars, clauses, aggs */
    /* Of each variable, its offset in `globals`, or in `locals`. An integer takes 8 bytes. A string
     * takes 8 + size + 1: a word that is 1 for NULL, then the text. Bytes are stored unchanged,
     * padded to a multiple of 8. */
    uint32_t *offsets;
    struct clause_rt *clauses;
    uint32_t *agg_words; /* of each aggregation */
    unsigned char *map;  /* the mapping */
    size_t map_size;
    _Atomic uint64_t unused; /* bytes of it in parts of threads that have not fired */
    unsigned char *globals;
    struct dyn dyn;         /* nbuckets 0: the program has no dynamic variables */
    unsigned char *threads; /* thread 0 */
    size_t stride;
    uint32_t key_size, scratch_size, locals_size, globals_size;
    uint32_t alloca_size;  /* bytes of a clause's scratch for alloca() and copyin() */
    uint32_t borders_size; /* bytes of tstate.borders */
    uint32_t strtok_size;  /* bytes of one struct strtok; 0: the program does not call strtok() */
    uint32_t far; /* extra units of an access to variables, if they are so large that it may reach a
                     new page */
    uint32_t dyn_far;     /* the same for the dynamic store */
    uint32_t agg_far;     /* the same for a new key of an aggregation */
    uint64_t end_size;    /* policy fill: bytes of a buffer reserved for END */
    uint32_t index_cells; /* of an aggregation half, a power of two */
    uint64_t agg_asked;   /* the option aggsize, as given */
    uint64_t agg_data;    /* bytes of entries in an aggregation half */
    const struct engine_binding *error_bindings;
    uint32_t nerror;
    const struct engine_probe *error_probe;
    const uint64_t *constants; /* engine_set_constants; NULL: none */
    uint32_t nspec;            /* speculations with memory; 0: the program has none */
    uint32_t spec_ended;       /* the reader's: bit set of those that had ended at the last flip */
    _Atomic uint32_t spec[DIF_SPECS_MAX]; /* enum spec_state */
    _Atomic uint32_t phase;               /* enum engine_phase */
    _Atomic uint32_t exiting;
    uint32_t open_threads;   /* threads below this index need no further checks; option cpu: none */
    _Atomic uint32_t active; /* bit RECORD_PRINCIPAL, RECORD_AGGS: which half is written */
    struct {
        unsigned char
            apart[64]; /* another line than what every event reads, and other CPUs write */
        _Atomic uint64_t principal, agg;
    } cpu_drops[RECORD_CPUS];
    tcount tier_drops[RECORD_NDROPS]; /* of firings on threads that have no part, and of
                                         engine_count_missed; fetch_add, by any thread */
};

/* Returns the number of threads that may have a part: those seen so far, if there is room. */
static inline uint32_t engine_nthreads(const struct engine *e)
{
    if (e->opt.place != NULL)
        return e->opt.threads;
    uint32_t n = engine_thread_count();
    return n < e->opt.threads ? n : e->opt.threads;
}

static inline struct tstate *engine_tstate(const struct engine *e, uint32_t thread)
{
    return (struct tstate *)(void *)(e->threads + (size_t)thread * e->stride);
}

/* Returns whether a thread has ever fired. For other threads. */
static inline bool tstate_live(const struct tstate *ts)
{
    return __atomic_load_n(&ts->key, __ATOMIC_ACQUIRE) != NULL;
}

/* Initializes the pointers of a thread's part; called by that thread at its first event. */
void engine_thread_init(struct engine *e, struct tstate *ts);

enum {
    ENGINE_SCRATCH_STRINGS = 16
}; /* strings of the largest size that a clause's scratch can hold */

/* Handles n bytes that do not fit below h->limit: returns their place when a ring has made room,
 * else NULL after counting the record. */
unsigned char *buffer_full(struct engine *e, struct tstate *ts, struct phalf *h, uint32_t n);
/* Counts n drops of records, or of aggregations, on the CPU that this thread runs on. */
void buffer_dropped(struct engine *e, struct tstate *ts, enum record_drop kind, uint64_t n);

/* One execution of a clause, for the files that share it: exec.c and subr/. */
struct exec {
    struct engine *e;
    struct engine_thread *t;
    struct tstate *ts;
    struct engine_ctx *ctx;
    struct clocks *clocks;
    bool in_error; /* this is a clause of ERROR, fired within another firing */
    uint32_t scratch_used;
    uint32_t alloca_used;    /* of engine.alloca_size */
    uint64_t left;           /* units of work left to this firing */
    enum record_fault fault; /* valid when `faulted` */
    bool faulted;            /* the clause is abandoned */
    bool lower;              /* the next update of an aggregation is of a lower bound */
    bool no_room; /* ... because a dynamic variable found no room, which is counted and is not an
                     error */
    uint64_t fault_value;
    uint64_t last_string; /* the text that exec_string examined last, 0: none. It lies in memory
                             that only this clause can change; such a change clears this */
    size_t last_length;   /* its length */
    uint32_t self_var;    /* the integer self-> variable that it has read last, plus 1; 0: none */
    uint64_t self_value;
};

/* Costs in units of work: see "the budget of an event" in engine.h. A unit is at most about 3 ns on
 * a current machine, and mostly less than one. Work proportional to something is counted before it
 * is done. */
enum work {
    WORK_CLAUSE = 32,   /* to begin and end a clause */
    WORK_CALL = 16,     /* a subroutine, besides what it examines */
    WORK_LOOK = 8,      /* to check whether an address is the program's */
    WORK_DIVIDE = 8,    /* a division */
    WORK_CLOCK = 16,    /* to read a clock, or which CPU this is */
    WORK_CPUTIME = 256, /* a system call */
    WORK_ARGUMENT = 64, /* an argument of a probe, computed once per firing */
    WORK_RECORD = 48,   /* to begin and end a record */
    WORK_SPEC = 48,     /* to find a speculation, or to end one */
    WORK_AGG = 80,      /* an update of an aggregation, without its key */
    WORK_ENTRY = 128,   /* to create an entry */
    WORK_DYN = 128,     /* to find a dynamic variable, without key and value */
    WORK_WAIT = 8,      /* a look at a slot that another thread is changing */
    WORK_TERM = 2,      /* an element or a byte of a term */
    WORK_FAULT = 128,   /* to report a fault */
    /* Bytes per unit. */
    WORK_SCAN = 32,   /* examined by the C library, or skipped */
    WORK_COPY = 16,   /* copied or zeroed */
    WORK_KEY = 8,     /* copied and hashed and compared, or recorded */
    WORK_SHORT = 128, /* this many bytes of a key are included in the cost of finding it, which is
                         cheaper than counting them separately */
    WORK_NEW = 4      /* of an aggregation's entry, in pages that may not exist yet */
};

/* Faults because the budget is exceeded. Returns false. */
bool exec_overdrawn(struct exec *x);
/* Counts work before it is done. Returns false when it exceeds the budget; the clause has then
 * faulted. */
static inline bool exec_work(struct exec *x, uint64_t units)
{
    if (__builtin_expect(units > x->left, 0))
        return exec_overdrawn(x);
    x->left -= units;
    return true;
}

/* Notes that the program reads a number that is a lower bound; counts that once a firing. */
void exec_lower(struct exec *x);

/* Adds to the entry of this key, creating it if need be, and returns it; NULL: there is no room,
 * for which the caller counts a drop, or after a fault. x->lower marks the entry. */
struct record_entry *aggr_update(struct exec *x, struct ahalf *h, uint32_t agg, const void *key,
                                 uint32_t keylen, int64_t value, int64_t incr);
/* The same for an entry that is known. */
void aggr_add(const struct exec *x, struct record_entry *n, int64_t value, int64_t incr);
/* Moves what this thread has recorded speculatively to its principal buffer. What exceeds the
 * amount that one event may copy stays where it is; the reader drains it with what other threads
 * have. */
void buffer_commit(struct exec *x, struct phalf *from, struct phalf *to);

/* Returns the text at addr if the program may read it, and its length without NUL. Where other
 * threads may write (globals), the result is a copy in scratch of at most strsize bytes, so the
 * text does not change while it is read. The caller may reset scratch to its previous position when
 * it is done. NULL after a fault. */
const char *exec_string(struct exec *x, uint64_t addr, size_t *len);
/* Returns n bytes that the program may read; NULL after a fault. Other threads may write them: read
 * them once, or copy them. */
const void *exec_bytes(struct exec *x, uint64_t addr, size_t n);
/* Returns how many bytes the program may read at addr, 0: none. */
size_t exec_room(const struct exec *x, uint64_t addr);
/* Returns n bytes that the program may write; NULL after a fault. Clears what exec_string
 * remembers. */
void *exec_writable(struct exec *x, uint64_t addr, size_t n);
/* Compares as SCMP does: 0, 1, 2 for less, equal, greater. */
uint64_t exec_compare(struct exec *x, uint64_t a, uint64_t b);
/* Returns n bytes of scratch, 8-byte aligned; NULL after a fault. */
char *exec_scratch(struct exec *x, size_t n);
/* The same as an area of its own: an access that begins in it must not reach beyond its end,
 * rounded up to a multiple of 8 bytes, and none from outside may reach into it. */
char *exec_area(struct exec *x, size_t n);
/* Marks a fault. Returns 0. */
uint64_t exec_fault(struct exec *x, enum record_fault f, uint64_t value);

/* Implements speculation(): returns an id, or 0 after counting a drop. */
uint64_t exec_speculation(struct exec *x);

/* Runs subroutine `subr` on n arguments. */
uint64_t subr_call(struct exec *x, unsigned subr, const uint64_t *arg, unsigned n);

#endif
