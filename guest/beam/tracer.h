/* tracer.h - what the files of the tracer share: the context of one event, and what the arguments
 * of probes are made of.
 *
 * An event is on the stack of the thread that the VM calls at. Nothing is made until D looks at an
 * argument: then the event's `arg` function is called, once for each argument, and makes its text
 * in `room` of the event. So a probe's file has an `arg` function for each shape of event, and says
 * when it fires with event_named:
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
 * TRUST. Any process of the node can call trace/5 by itself, with any terms, as it is exported. So
 * nothing is believed that the VM would always do: each shape is checked, text is made by functions
 * that are bounded whatever the term, and a word is kept beyond the event only if it is an
 * immediate term (event_is_word), whose bits are all there is to it. What is to be looked at again
 * later is also checked to be of its kind: an atom, a local pid, a local port. */
#ifndef ET_BEAM_TRACER_H
#define ET_BEAM_TRACER_H

#include "beam/agent.h"

typedef uint64_t event_arg_fn(struct engine_ctx *ctx, unsigned n);

/* Whether a term is in its word and not on a heap, as atoms, small integers, and pids and ports of
 * this node are: its two lowest bits are 11, on every release. Of a term on a heap the word is an
 * address that means nothing after the event. */
static inline bool event_is_word(ERL_NIF_TERM t)
{
    return (t & 3) == 3;
}

enum { EVENT_ROOM = 6144 }; /* bytes of text that the arguments of one event have */

/* Where in its process's stack of watched functions a function is. */
struct event_place {
    int64_t depth; /* 1: the outermost; -1: not known */
    bool gone;     /* its call shows that there, and above, were some that have gone */
};

struct event {
    struct engine_ctx ctx; /* first: the engine hands this back */
    ErlNifEnv *env;
    ERL_NIF_TERM pid;   /* the process that the probe speaks of */
    ERL_NIF_TERM msg;   /* what came with the event */
    ERL_NIF_TERM other; /* receiver, {M,F,Args} of a spawn, class of an exception */
    const struct function *fn;
    struct event_place at;
    struct engine_thread *t; /* that the event is on */
    uint32_t used;           /* of room */
    char room[EVENT_ROOM];
};

static inline struct event *event_of(struct engine_ctx *ctx)
{
    return (struct event *)(void *)ctx;
}

/* -- what is kept of a thread: zeros to begin with
 * ------------------------------------------------------------------------------------------ */

struct tracer_thread {
    uint32_t asked; /* how often enabled/3 was asked */
    /* The last call that was seen through a local pattern, and through a global one, until another
     * event comes (pid 0) */
    struct tracer_last {
        ERL_NIF_TERM pid, m, f;
        uint32_t arity, asked;
        bool counted;
    } last, global;
    struct load_sampler sampler;
    struct {              /* kept while a program uses vtimestamp */
        ERL_NIF_TERM pid; /* that was last scheduled in here */
        uint64_t began;   /* when the event of the moment did, CLOCK_MONOTONIC ns */
    } running;
    uint64_t user_events; /* with terms that have handles */
    struct tracer_turn {  /* of a process: tracer_signal.c */
        ERL_NIF_TERM pid; /* whose turn it is, 0: nothing is known */
        ERL_NIF_TERM m;   /* it has called hibernate since, to resume in m:f/arity; 0: not seen */
        ERL_NIF_TERM f;
        uint32_t arity;
        bool asleep; /* it came in where it hibernates */
    } turn;
    struct { /* the turn of a port for I/O, until it ends or another begins: tracer_ports.c */
        ERL_NIF_TERM port; /* 0: none */
        bool told;         /* driver-ready_input has fired in it */
    } io;
    struct {              /* tracer_process.c */
        ERL_NIF_TERM pid; /* 0: no collection has begun */
        uint64_t words;   /* of both heaps' blocks when it did */
    } collection;
};
_Static_assert(sizeof(struct tracer_thread) <= ENGINE_THREAD_ROOM,
               "it lies in the thread's record");

/* Thread-local variables of C are not for the agent: see engine.c. */
static inline struct tracer_thread *tracer_thread(struct engine_thread *t)
{
    return (struct tracer_thread *)(void *)t->room;
}

/* -- arguments: each returns what an `arg` function returns
 * -------------------------------------------------------------------------------- */

/* n bytes for a text, NULL when there is no more room. */
char *event_room(struct event *ev, size_t n);
/* A text of len bytes with a NUL behind it, which stays where it is for as long as the event. */
uint64_t event_text(struct event *ev, const char *p, size_t len);
/* The same of what was written at the start of some room, whose end is given back. */
uint64_t event_written(struct event *ev, const char *p, size_t len);
uint64_t event_constant(struct event *ev, const char *s);
/* A pid, port, reference or atom as the VM prints it. */
uint64_t event_pid(struct event *ev, ERL_NIF_TERM t);
/* An atom without quotes, as names are shown; other terms as event_pid does. */
uint64_t event_atom(struct event *ev, ERL_NIF_TERM t);
/* Any term, cut at TERM_TEXT bytes. */
uint64_t event_term(struct event *ev, ERL_NIF_TERM t);
/* "m:f/a" of {M, F, Arity} or {M, F, Args}, `otherwise` for anything else. */
uint64_t event_mfa(struct event *ev, ERL_NIF_TERM t, const char *otherwise);
/* {M, F, Arity} or {M, F, Args}, of at most 255 arguments; false for anything else. M and F are
 * words (event_is_word). */
bool event_get_mfa(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *m, ERL_NIF_TERM *f,
                   unsigned *arity, bool *args);

/* -- firing: between engine_enter and engine_leave
 * ---------------------------------------------------------------------------------- */

/* Everything but the argument caches and the room, which say themselves how much of them is in use.
 */
void event_init(struct event *ev, struct engine_thread *t, ErlNifEnv *env, ERL_NIF_TERM pid,
                ERL_NIF_TERM msg, event_arg_fn *arg);
void event_fire(struct event *ev, struct engine_thread *t, const struct bounds *b);
/* The same when the probe's name is found out now: it stands in place of what the script has. */
void event_fire_as(struct event *ev, struct engine_thread *t, const struct bounds *b,
                   const char *name);
/* The same for a probe without module and function, when anybody wants it. */
void event_fire_named(const struct bounds *b, struct engine_thread *t, ErlNifEnv *env,
                      ERL_NIF_TERM pid, ERL_NIF_TERM msg, ERL_NIF_TERM other, event_arg_fn *arg);
static inline void event_named(const struct snapshot *s, struct engine_thread *t,
                               enum probe_kind kind, ErlNifEnv *env, ERL_NIF_TERM pid,
                               ERL_NIF_TERM msg, ERL_NIF_TERM other, event_arg_fn *arg)
{
    if (s->named[kind].n > 0)
        event_fire_named(&s->named[kind], t, env, pid, msg, other, arg);
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

/* A process with so many exception frames that no call may leave another one. */
bool tracer_overloaded(struct engine_thread *t, ERL_NIF_TERM pid);
/* What trace/5 was called with; between engine_enter and engine_leave. */
void tracer_call(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[]);
void tracer_return_to(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                      const ERL_NIF_TERM argv[]);
/* A frame that an exception probe left was returned through, or unwound by an exception. */
void tracer_frame_gone(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                       const ERL_NIF_TERM argv[], bool exception);

/* -- events of ports (tracer_ports.c)
 * ------------------------------------------------------------------------------------------ */

/* trace/5 when the tracee is a port. */
void tracer_port(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[]);

/* in and out of a process, while somebody wants hibernation before OTP 28 (tracer_signal.c) */
void hibernation_in(struct engine_thread *t, ErlNifEnv *env, const ERL_NIF_TERM argv[]);
void hibernation_out(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                     const ERL_NIF_TERM argv[]);

#endif
