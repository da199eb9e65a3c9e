/* tracer.h - shared by the files of the tracer: the context of one event, and the functions that
 * make the arguments of probes.
 *
 * An event is on the stack of the thread on which the VM calls. Nothing is made until D reads an
 * argument: then the event's `arg` function is called, once for each argument, and makes its text
 * in `room` of the event. So a probe's file has an `arg` function for each shape of event, and
 * fires the probe with event_named:
 *
 *     static uint64_t arg_exit(struct engine_ctx *ctx, unsigned n)
 *     {
 *         struct event *ev = event_of(ctx);
 *         return n == 0 ? event_pid(ev, ev->pid) : n == 1 ? event_term(ev, ev->msg) : 0;
 *     }
 *     ...
 *     event_named(s, t, PROBE_PROCESS_EXIT, env, argv[2], argv[3], 0, arg_exit);
 *
 * All of this runs in a callback of the VM: it does not block, allocate, send or call Erlang, and
 * is bounded in work.
 *
 * TRUST. trace/5 is exported, so that any process of the node can call it with any terms. So the
 * code relies on nothing that the VM would always do: it checks each shape, makes text only with
 * functions that are bounded whatever the term, and keeps a word beyond the event only if it is an
 * immediate term (event_is_word), which its bits determine completely. A word that is used again
 * later is also checked for its kind: an atom, a local pid, a local port. */
#ifndef ET_BEAM_TRACER_H
#define ET_BEAM_TRACER_H

#include "beam/agent.h"
#include "beam/probe/inside.h"
#include "beam/probe/scheduler.h"

typedef uint64_t event_arg_fn(struct engine_ctx *ctx, unsigned n);

/* Returns whether a term is in its word and not on a heap, as atoms, small integers, and pids and
 * ports of this node are: its two lowest bits are 11, on every release. The word of a term on a
 * heap is an address that means nothing after the event. */
static inline bool event_is_word(ERL_NIF_TERM t)
{
    return (t & 3) == 3;
}

enum {
    EVENT_ROOM = 6144, /* bytes of text for the arguments of one event */
    EVENT_TERMS = 64   /* terms that the programs of one event can examine */
};

/* Terms that programs examine: terms.h. */
struct event_terms {
    uint64_t event; /* in the bits of a handle above the index; valid when n > 0 */
    uint32_t n;
    uint32_t fixed; /* the first of them, which are arguments of the probe */
    ERL_NIF_TERM t[EVENT_TERMS];
};

/* The position of a function in its process's stack of watched functions. */
struct event_place {
    int64_t depth; /* 1: the outermost; -1: not known */
    bool gone;     /* its call shows that functions there, and above, have gone */
    bool left;     /* the event ends the function, or its call of another */
};

enum { EVENT_PIDS = 3 };
struct event {
    struct engine_ctx ctx; /* first: the engine passes this back */
    ErlNifEnv *env;
    ERL_NIF_TERM pid;   /* the process that the probe is about */
    ERL_NIF_TERM msg;   /* what came with the event */
    ERL_NIF_TERM other; /* receiver, {M,F,Args} of a spawn, class of an exception */
    ERL_NIF_TERM args;  /* arguments of a function, a list, perhaps a copy; 0: none, or those of a
                           spawn */
    unsigned msg_is;    /* the built-in variable that `msg` is the value of; 0: none */
    const struct terms_view
        *view; /* of the program whose clauses run, NULL: it sees all of terms */
    const struct function *fn;
    struct event_place at;
    int64_t elapsed;         /* of a function that ends: ns since it was called; -1: not known */
    struct engine_thread *t; /* the thread of the event */
    struct event_terms terms;
    uint64_t said[3];     /* erlpid, erlname, erlfunc once they are read; 0: not so far */
    uint64_t said_caller; /* the same of caller */
    struct {
        const char *text; /* in room */
        ERL_NIF_TERM pid; /* of which it is the text */
    } pids[EVENT_PIDS];   /* the first that were written */
    uint32_t npids;
    uint32_t used; /* of room */
    char room[EVENT_ROOM];
};

static inline struct event *event_of(struct engine_ctx *ctx)
{
    return (struct event *)(void *)ctx;
}

/* -- what is kept of a thread: zeros to begin with */

struct tracer_thread {
    uint32_t asked; /* how often enabled/3 was called */
    /* The last call seen through a local pattern, and through a global one, until another event
     * comes (pid 0) */
    struct tracer_last {
        ERL_NIF_TERM pid, m, f;
        uint32_t arity, asked;
        bool counted;
    } last, global;
    struct load_sampler sampler;
    struct {              /* kept while a program uses vtimestamp */
        ERL_NIF_TERM pid; /* last scheduled in here */
        uint64_t began;   /* when the current event began, CLOCK_MONOTONIC ns */
    } running;
    uint64_t term_events; /* with terms that have handles */
    struct tracer_turn {  /* of a process: tracer_signal.c */
        ERL_NIF_TERM pid; /* whose turn it is, 0: unknown */
        ERL_NIF_TERM m;   /* it has called hibernate since, to resume in m:f/arity; 0: not seen */
        ERL_NIF_TERM f;
        uint32_t arity;
        bool asleep; /* it was scheduled in where it hibernates */
    } turn;
    struct { /* the turn of a port for I/O, until it ends or another begins: tracer_ports.c */
        ERL_NIF_TERM port; /* 0: none */
        bool told;         /* driver-ready_input has fired in this turn */
    } io;
    struct {              /* tracer_process.c */
        ERL_NIF_TERM pid; /* 0: no collection has begun */
        uint64_t words;   /* of both heaps' blocks when it began */
    } collection;
    struct inside_thread inside;
    struct scheduler sched;
    bool between; /* the event is a process being scheduled in or out */
    bool sending; /* the process that runs here has gone on with a message: held.c */
    bool call;    /* enabled/3 has let through a call that trace/5 has not got */
};
_Static_assert(sizeof(struct tracer_thread) <= ENGINE_THREAD_ROOM,
               "it lies in the thread's record");

/* The agent must not use thread-local variables of C: see engine.c. */
static inline struct tracer_thread *tracer_thread(struct engine_thread *t)
{
    return (struct tracer_thread *)(void *)t->room;
}

/* -- arguments: each returns what an `arg` function returns
 * -------------------------------------------------------------------------------- */

/* Returns n bytes for a text, NULL when there is no more room. */
char *event_room(struct event *ev, size_t n);
/* Passes a text of len bytes, with a NUL after it, without copying: it must stay in place for the
 * life of the event. */
uint64_t event_text(struct event *ev, const char *p, size_t len);
/* Same for a text already written at the start of some room, whose unused end is returned. */
uint64_t event_written(struct event *ev, const char *p, size_t len);
uint64_t event_constant(struct event *ev, const char *s);
/* Returns a built-in variable about the thread, or about the process if it runs here. */
uint64_t event_here(struct event *ev, unsigned builtin);
/* Returns sched or schedtype. */
uint64_t event_of_thread(struct engine_ctx *ctx, struct engine_thread *t, unsigned builtin);
/* Prints a pid, port, reference or atom as the VM does. */
uint64_t event_pid(struct event *ev, ERL_NIF_TERM t);
/* Prints an atom without quotes, as names are shown; other terms as event_pid does. */
uint64_t event_atom(struct event *ev, ERL_NIF_TERM t);
/* Prints any term, cut at TERM_TEXT bytes. A program from which terms are hidden gets atoms, and
 * "[hidden]" for all others; one that may not see values of some keys gets none of these. */
uint64_t event_term(struct event *ev, ERL_NIF_TERM t);
/* Prints a term that is a name, which every program gets. */
uint64_t event_name(struct event *ev, ERL_NIF_TERM t);
/* Returns "m:f/a" of {M, F, Arity} or {M, F, Args}, `otherwise` for anything else. */
uint64_t event_mfa(struct event *ev, ERL_NIF_TERM t, const char *otherwise);
/* Reads {M, F, Arity} or {M, F, Args}, of at most 255 arguments. Returns false for anything else. M
 * and F are words (event_is_word). */
bool event_get_mfa(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *m, ERL_NIF_TERM *f,
                   unsigned *arity, bool *args);
/* Returns the words that a term takes on a heap, or says that these are the least (term_words). */
uint64_t event_words(struct event *ev, ERL_NIF_TERM t);
/* Returns the function that a new process begins with, {M, F, Args} or {M, F, Arity}, of what an
 * event says: for one that another node has spawned, it says erts_internal:dist_spawn_init/1 of
 * {M, F, Arity}. */
ERL_NIF_TERM event_start(ErlNifEnv *env, ERL_NIF_TERM mfa);
/* Counts the arguments in a list. Returns false for anything else, and for a list longer than a
 * function can have, which is not walked to its end. */
bool event_count_args(ErlNifEnv *env, ERL_NIF_TERM list, unsigned *n);

/* -- firing: between engine_enter and engine_leave
 * ---------------------------------------------------------------------------------- */

/* engine_ctx.stays: that of a program's own probes, and the first of a function's text. */
enum { STAYS_OF_PROGRAM = 1, STAYS_OF_FUNCTIONS };

/* Initializes everything but the argument caches and the room, which record how much of them is in
 * use. */
void event_init(struct event *ev, struct engine_thread *t, ErlNifEnv *env, ERL_NIF_TERM pid,
                ERL_NIF_TERM msg, event_arg_fn *arg);
void event_fire(struct event *ev, struct engine_thread *t, const struct bounds *b);
/* Fires a probe whose name is known only now: it replaces the one in the script. */
void event_fire_as(struct event *ev, struct engine_thread *t, const struct bounds *b,
                   const char *name);
/* Fires a probe without module and function; does nothing when it is not bound. */
void event_fire_named(const struct bounds *b, struct engine_thread *t, ErlNifEnv *env,
                      ERL_NIF_TERM pid, ERL_NIF_TERM msg, ERL_NIF_TERM other, event_arg_fn *arg,
                      unsigned msg_is);
static inline void event_named(const struct snapshot *s, struct engine_thread *t,
                               enum probe_kind kind, ErlNifEnv *env, ERL_NIF_TERM pid,
                               ERL_NIF_TERM msg, ERL_NIF_TERM other, event_arg_fn *arg)
{
    if (s->named[kind].n > 0)
        event_fire_named(&s->named[kind], t, env, pid, msg, other, arg, 0);
}
/* The same, where D reads `msg` as the built-in variable msg_is. */
static inline void event_named_with(const struct snapshot *s, struct engine_thread *t,
                                    enum probe_kind kind, ErlNifEnv *env, ERL_NIF_TERM pid,
                                    ERL_NIF_TERM msg, event_arg_fn *arg, unsigned msg_is)
{
    if (s->named[kind].n > 0)
        event_fire_named(&s->named[kind], t, env, pid, msg, 0, arg, msg_is);
}
/* -- events of messages (tracer_message.c) and processes (tracer_process.c): trace/5, by tag
 * ------------------------------------------------------------------------------------------ */

/* send; gone: send_to_non_existing_process */
void tracer_send(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[], bool gone);
void tracer_receive(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                    const ERL_NIF_TERM argv[]);
void tracer_seq(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                const ERL_NIF_TERM argv[]);
void tracer_spawn(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                  const ERL_NIF_TERM argv[]);
void tracer_spawned(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                    const ERL_NIF_TERM argv[]);
/* exit, links and names */
void tracer_procs(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                  const ERL_NIF_TERM argv[]);
/* Starts and ends of collections, and PROBE_GC_MAX_HEAP */
void tracer_gc(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
               const ERL_NIF_TERM argv[], enum probe_kind kind);

/* -- functions (tracer_fn.c)
 * ---------------------------------------------------------------------------------- */

/* Handles a call; takes the arguments of trace/5. Between engine_enter and engine_leave. */
void tracer_call(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[]);
void tracer_return_to(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                      const ERL_NIF_TERM argv[]);
/* Handles the end of a frame that an exception probe left: a return through it, or an exception
 * that unwinds it. */
void tracer_frame_gone(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                       const ERL_NIF_TERM argv[], bool exception);

/* -- events of ports (tracer_ports.c)
 * ------------------------------------------------------------------------------------------ */

/* Handles trace/5 when the tracee is a port. */
void tracer_port(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[]);

/* in and out of a process, while hibernation is wanted before OTP 28 (tracer_signal.c) */
void hibernation_in(struct engine_thread *t, ErlNifEnv *env, const ERL_NIF_TERM argv[]);
void hibernation_out(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                     const ERL_NIF_TERM argv[]);

#endif
