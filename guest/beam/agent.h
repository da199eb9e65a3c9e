/* agent.h - what the files of the agent's NIF share: programs, the dispatch snapshot, and the one
 * global state.
 *
 * A PROGRAM is one consumer's image with its engine and the probes it is bound to. It is a NIF
 * resource: the server holds a reference, and every snapshot that names it holds one, so it is
 * destroyed when neither needs it any more.
 *
 * A SNAPSHOT says what an event means: for each named probe, and for each function, the clauses
 * that run. It never changes. The server makes a new one whenever a program starts or stops and
 * swaps the pointer; the old one is freed when no thread can be inside an event that saw it
 * (engine_mark, engine_quiet).
 *
 * Only the server process calls the functions that change anything; callbacks only read, and write
 * to memory of their own thread or process.
 */
#ifndef ET_BEAM_AGENT_H
#define ET_BEAM_AGENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <erl_nif.h>

#include "base/arena.h"
#include "beam/deadman/load.h"
#include "beam/probe/kept.h"
#include "beam/probe/porttab.h"
#include "beam/probe/proctab.h"
#include "beam/probe/redact.h"
#include "beam/probe/shadow.h"
#include "beam/probe/term.h"
#include "engine/engine.h"
#include "words/otp.h"
#include "words/probekind.h"

struct atoms {
#define ATOM(name, text) ERL_NIF_TERM name;
#include "beam/atoms.list"
#undef ATOM
};

/* -- programs
 * -------------------------------------------------------------------------------------- */
struct program_probe {
    struct engine_probe id; /* what D sees */
    enum probe_kind kind;
    ERL_NIF_TERM m, f;        /* function probes: atoms */
    uint32_t arity;           /* function probes */
    uint32_t label;           /* user_trace-n: which */
    ERL_NIF_TERM user;        /* erltrace:probe: its name; 0: all names that match id.name */
    uint64_t period;          /* ticks, profile-n, wall-n: ns */
    unsigned uses;            /* enum probe_use, of all its clauses */
    struct engine_binding *b; /* clauses, in order */
    uint32_t n;
    bool counted;  /* the VM counts its calls, and no event of them is this program's */
    uint64_t last; /* ... their number at the last reading: counted.c */
};

/* Probes that were added together: when the program was enabled, or with newly loaded code. They do
 * not move, since snapshots point at them. */
struct program_probes {
    struct program_probe *v; /* in order of id */
    uint32_t n;
    struct load_probe
        *cost; /* by the same index; of the first probes it is load.probe of the program */
    struct program_probes *next; /* those added later */
};

struct program {
    struct engine *engine;
    struct arena arena; /* of probes, bindings and their strings */
    struct program_probes probes;
    const char *provider;
    struct load load;             /* its cost; load.probe has the indexes of the first probes */
    bool vtime;                   /* uses vtimestamp */
    uint32_t argsize;             /* bytes of a call's arguments to keep */
    struct terms_view view;       /* what it may not see of terms */
    bool inside;                  /* uses facts of inside.h */
    bool stacks;                  /* ... and of code.h */
    struct oncpu_counts *profile; /* NULL: it has neither profile-n nor wall-n */
    bool flipped;                 /* halves were flipped and are not drained so far: */
    unsigned what;                /* which kinds */
    struct engine_mark mark;      /* which threads may still write to them */
};

/* Returns what the program sees of terms; NULL: all, and it knows no record. */
static inline const struct terms_view *program_view(const struct program *p)
{
    return redact_any(&p->view) || p->view.records.n > 0 ? &p->view : NULL;
}

/* -- snapshots
 * ------------------------------------------------------------------------------------- */
struct bound {
    struct engine *engine;
    const struct engine_probe *probe;
    const struct engine_binding *b;
    uint32_t n;
    unsigned uses;     /* enum probe_use */
    struct load *load; /* which account pays */
    struct load_probe *cost;
    const struct terms_view *view; /* of the program, NULL: it sees all of terms */
};
struct bounds {
    struct bound *v;
    uint32_t n;
};

struct hook_ref;

struct function {
    ERL_NIF_TERM m, f;
    uint32_t arity;
    bool local;           /* seen through a local pattern, else through a meta pattern */
    bool global_only;     /* only global-function-entry is wanted: uses a global pattern */
    bool framed;          /* returns come with values, from frames that its calls leave */
    bool keeps_args;      /* ... and its arguments are kept */
    bool keeps_time;      /* ... and when it was called */
    uint16_t keeps_words; /* the most for the arguments of a call */
    uint64_t kept;        /* the number of its calls, see kept.h; 0: they are not kept */
    uint16_t text_len;
    const char *text; /* m:f/a */
    uint64_t stays; /* a number of its own, also among those of other snapshots: engine_ctx.stays */
    /* local_entry and global_entry: the entries by calls of that kind only */
    struct bounds entry, ret, exception, local_entry, global_entry;
    const struct hook_ref *hook; /* named probes that its calls fire */
};

struct function_slot {
    ERL_NIF_TERM m, f; /* m 0: free */
    uint32_t arity;
    uint32_t index; /* of the function */
};

/* A probe of erltrace:probe, in order of program and id. */
struct user_probe {
    ERL_NIF_TERM name; /* an atom, 0: glob */
    const char *glob;
    struct bounds bounds; /* one */
};

enum { SNAPSHOT_NAMED = PROBE_FN_ENTRY };
struct snapshot {
    struct arena arena;                  /* holds all of it except this structure */
    struct bounds named[SNAPSHOT_NAMED]; /* by enum probe_kind */
    struct bounds *label;                /* user_trace-n, by number; NULL: none is bound */
    struct user_probe *user;
    uint32_t nuser;
    struct function *function;
    uint32_t nfunctions;
    struct function_slot *slot; /* open addressing, linear probing, at most half full */
    uint32_t mask;              /* slots - 1 */
    bool vtime;                 /* measure how long processes are scheduled in */
    bool returns;               /* ... return probes */
    struct program **program;   /* kept alive */
    struct load **load;         /* of each program */
    uint32_t nprograms;
    uint64_t serial;         /* of published snapshots */
    struct snapshot *next;   /* list of retired ones */
    struct engine_mark mark; /* retired: which threads may still read it */
};

/* Returns NULL when out of memory. */
struct snapshot *snapshot_new(ErlNifEnv *env, struct program *const *p, uint32_t n);
/* Numbers the functions whose calls are kept. Those that `before`, the snapshot that has been in
 * use until now, keeps as well have the number that they have there; NULL: some events were not
 * seen. */
void snapshot_number(struct snapshot *s, const struct snapshot *before);
/* Releases its programs. No thread may be reading it. */
void snapshot_free(struct snapshot *s);
/* Returns the function, NULL if nothing is bound to it. */
struct function *snapshot_function(const struct snapshot *s, ERL_NIF_TERM m, ERL_NIF_TERM f,
                                   uint32_t arity);
/* Returns the hash of a function, for tables of them. */
uint32_t snapshot_hash(ERL_NIF_TERM m, ERL_NIF_TERM f, uint32_t arity);
/* Takes the next {M, F, Arity} from a list. Returns false at its end. */
bool snapshot_next(ErlNifEnv *env, ERL_NIF_TERM *list, ERL_NIF_TERM *m, ERL_NIF_TERM *f,
                   unsigned *arity);

/* -- processes
 * ------------------------------------------------------------------------------------- */
enum { PROCESSES = 1 << 17, SHADOWS = 1 << 14 };
struct process {
    uint64_t
        in; /* when it was last scheduled in, CLOCK_MONOTONIC ns; 0: not running or not known */
    uint64_t total;                 /* ns of earlier slices, without our share of them */
    uint64_t ours;                  /* ns of the current slice that we took */
    const struct engine_thread *on; /* the thread that it was last scheduled in on */
    uint32_t frames;                /* frames.h: on its stack */
    uint32_t round;                 /* ... in the round to which this belongs */
};

/* -- the state of the library
 * ---------------------------------------------------------------------- */
struct framed;

struct agent {
    _Atomic bool gate;     /* events are taken */
    _Atomic bool dead;     /* the server has ended */
    _Atomic bool starting; /* a process is becoming the server, or is it */
    _Atomic bool started;  /* `server` and what follows it are valid */
    ErlNifPid server;
    bool sessions;                  /* OTP 27 and later: local and global calls are distinguished */
    ErlNifPid guard;                /* may end everything when the server cannot */
    _Atomic bool guarding, guarded; /* the same two states for the guard */
    _Atomic(struct snapshot *) snapshot;
    _Atomic uint64_t serial; /* of the snapshot, or of the previous one when there is none */
    _Atomic uint64_t spent;  /* serial of a snapshot whose programs are all over their limits */
    struct snapshot *retired;
    /* Made when a program first needs them, and kept: NULL until then. */
    _Atomic(struct proctab *) processes; /* struct process, for vtimestamp and exception frames */
    _Atomic(struct proctab *) shadows;   /* struct shadow, for returns */
    _Atomic(struct proctab *) kept;      /* struct kept_calls, for what calls were called with */
    _Atomic(struct porttab *) ports;     /* names and owners of ports */
    _Atomic(struct proctab *) names;     /* procname.c: names of processes */
    _Atomic(struct proctab *) numbers;   /* ... and their pids, by number */
    _Atomic bool naming;                 /* names are learned from events */
    _Atomic uint32_t nlarge;             /* processes whose dictionaries wait to be counted */
    _Atomic bool ports_known;            /* ... of all ports except those that appear unreported */
    _Atomic bool sctp;                   /* there has been a port named sctp_inet */
    _Atomic uint64_t asker;              /* the helper of the server that asks ports; 0: none */
    _Atomic(struct proctab *) blocked;   /* blocked.c: processes that wait for a port */
    _Atomic uint32_t nblocked;           /* the number of them */
    _Atomic(struct proctab *) held;      /* held.c: messages to other nodes that are being sent */
    _Atomic uint64_t held_round;         /* ... the round of those that mean anything */
    _Atomic bool loading;                /* calls of functions without bindings are counted */
    _Atomic(struct framed *) framed; /* frames.h: functions whose calls leave frames, NULL: none */
    uint32_t features;               /* otp_features of this VM */
    ERL_NIF_TERM node;               /* this node's name, an atom; it stays: see nif_start */
    char node_text[TERM_ATOM];       /* ... as a text */
    struct term_sizes sizes;
    struct atoms atom;
    ERL_NIF_TERM nil; /* [], of which there is only one */
    ErlNifResourceType *program_type;
    /* Events that no program could be given. */
    _Atomic uint64_t lost_threads; /* more threads than the engine has records for */
    _Atomic uint64_t lost_returns; /* no room for the process */
    _Atomic uint64_t lost_calls;   /* FRAMES_HARD */
    _Atomic uint64_t lost_names;   /* names of processes for which the table had no room */
    _Atomic uint64_t lost_held;    /* held.c: no room for the process, each time that it left */
};
extern struct agent agent;

static inline struct proctab *agent_processes(void)
{
    return atomic_load_explicit(&agent.processes, memory_order_acquire);
}

/* Returns whether this VM has the feature. */
static inline bool agent_has(enum otp_feature feature)
{
    return (agent.features >> feature & 1) != 0;
}

/* Scans of the server's tables are split into parts, each far below a millisecond, between which
 * the scheduler does other work. (They are not dirty NIFs: on a node whose dirty schedulers are
 * busy the server would wait for those.) */
enum { AGENT_PARTS = 32, AGENT_PART_PERCENT = 25 /* of a time slice */ };

/* Returns whether the calling process is the server. */
bool agent_is_server(ErlNifEnv *env);
bool agent_is_boolean(ERL_NIF_TERM t);
/* Makes agent.processes. Returns false when out of memory. */
bool agent_reserve_processes(void);
/* Returns the program that a term stands for, if the calling process is the server; else NULL. */
struct program *agent_program(ErlNifEnv *env, ERL_NIF_TERM t);

/* -- passing events on (passing.c)
 * -------------------------------------------------------------------------------- */
/* See engine_terms.pass. */
__attribute__((noinline, used, visibility("default"))) void
erltrace_event(uint64_t number, const uint64_t *arg, const uint64_t *kept);

/* -- the tracer (tracer.c)
 * ------------------------------------------------------------------------- */
ERL_NIF_TERM tracer_enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM tracer_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* Ends a sample: charges the event, and determines whether a program must be ended (cost.c). */
void tracer_account(struct load_sample *sample, const struct snapshot *s, struct engine_thread *t,
                    const ERL_NIF_TERM argv[]);
/* The same for an event that the agent itself makes, for these programs. */
void tracer_account_own(struct load_sample *sample, struct load *const *all, uint32_t n,
                        struct engine_thread *t);
/* Charges a program for work of the server, in which the thread was from the time that the sample
 * begins; it stands for itself alone. */
void tracer_account_work(const struct load_sample *work, struct program *p,
                         struct engine_thread *t);
/* Fires a probe of a program that belongs to no process: BEGIN, END, a tick. */
void tracer_fire_plain(ErlNifEnv *env, struct program *p, const struct program_probe *probe);

/* -- calls that the VM counts (counted.c)
 * ------------------------------------------------------------- */
ERL_NIF_TERM counted_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM reading_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* -- USDT probes (usdt.c)
 * --------------------------------------------------------------------------- */
/* Returns whether a tool is attached to the probe of a kind of event. */
bool usdt_watched(uint32_t kind);
/* Fires it, if it is watched, or was. arg: ENGINE_ARGS numbers, of texts their addresses. */
void usdt_fire(uint32_t kind, const uint64_t *arg);

/* -- programs (program.c)
 * -------------------------------------------------------------------------- */
/* Returns {ok, Program, Granted, Needs, Special, Hooks} or {error, Tag, Text, Hint}; see nif_enable
 * in erltrace_agent.erl. */
ERL_NIF_TERM program_enable(ErlNifEnv *env, ERL_NIF_TERM image, ERL_NIF_TERM options,
                            ERL_NIF_TERM bindings, ERL_NIF_TERM provider);
/* Adds function probes to a program. Returns `ok` or {error, Tag, Text, Hint}. They fire from the
 * next snapshot on. */
ERL_NIF_TERM program_extend(ErlNifEnv *env, struct program *p, ERL_NIF_TERM bindings);
void program_destroy(ErlNifEnv *env, void *obj);

/* -- what programs cost (cost.c)
 * ------------------------------------------------------------------------------ */
/* Asks the system, at most once a second, how much of the processors a hypervisor takes. Only the
 * server calls it. */
void cost_stolen(void);
/* Returns the cost of a program, with at most `top` of its most expensive probes, and makes a mark.
 * See nif_load in agent.c. */
ERL_NIF_TERM program_load(ErlNifEnv *env, struct program *p, uint32_t top, enum load_from from);

#endif
