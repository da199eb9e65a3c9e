/* tracer.c - what the VM calls at every event: enabled/3 and trace/5 of the erl_tracer behaviour.
 *
 * Both run on the thread where the event happens, often with locks of the VM held. So nothing here
 * blocks, allocates, sends, makes a system call other than reading a clock, or keeps a term.
 * Arguments of probes are made when D looks at them.
 *
 * There is no trace_call/5, and there must never be one: meta tracing would call it as if it were
 * enabled/3.
 *
 * A function is seen either through a meta pattern (its event carries the arguments) or through a
 * local one (it carries the arity, by the flag of that name). While the server switches a function
 * from one to the other both patterns are set; the snapshot says which of the two counts. */
#include "beam/agent.h"
#include "beam/alias.h"
#include "beam/pidtext.h"

#include <string.h>
#include <time.h>

static uint64_t now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Of this thread: how often enabled/3 was asked, and the last call that was seen through a local
 * pattern, until another event comes (pid 0). */
static __thread uint32_t asked;
static __thread struct {
    ERL_NIF_TERM pid, m, f;
    uint32_t arity, asked;
    bool counted;
} last;

static bool gate_open(void)
{
    return atomic_load_explicit(&agent.gate, memory_order_relaxed);
}

static struct proctab *processes(void)
{
    return atomic_load_explicit(&agent.processes, memory_order_acquire);
}

static struct proctab *shadows(void)
{
    return atomic_load_explicit(&agent.shadows, memory_order_acquire);
}

/* The process's record when it is in use and of this round of exception probes. */
static struct process *frames_of(ERL_NIF_TERM pid)
{
    struct process *p = proctab_find(processes(), pid);
    return p && p->round == atomic_load_explicit(&agent.round, memory_order_relaxed) ? p : NULL;
}

/* A process with so many exception frames that no call may leave another one. */
static bool overloaded(ERL_NIF_TERM pid)
{
    struct engine_thread *t = engine_thread_self();
    if (!t)
        return true;
    engine_enter(t); /* or the table could be taken away */
    const struct process *p = frames_of(pid);
    bool yes = p && p->frames > FRAMES_HARD;
    engine_leave(t);
    return yes;
}

ERL_NIF_TERM tracer_enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    const struct atoms *a = &agent.atom;
    asked++;
    if (atomic_load_explicit(&agent.dead, memory_order_relaxed))
        return a->remove;
    if (argv[0] == a->trace_status) {
        /* The dead-man: flags and meta patterns dissolve when there is no server. */
        if (!enif_is_process_alive(env, &agent.server)) {
            atomic_store_explicit(&agent.dead, true, memory_order_relaxed);
            return a->remove;
        }
        return a->trace;
    }
    if (!gate_open())
        return a->discard;
    if (argv[0] == a->call && atomic_load_explicit(&agent.counting, memory_order_relaxed) &&
        overloaded(argv[2])) {
        atomic_fetch_add_explicit(&agent.lost_calls, 1, memory_order_relaxed);
        return a->discard;
    }
    return a->trace;
}

/* -- the context of a firing
 * ------------------------------------------------------------------------ */

struct event {
    struct engine_ctx ctx; /* first: the engine hands this back */
    ErlNifEnv *env;
    ERL_NIF_TERM pid;   /* the process that the probe speaks of */
    ERL_NIF_TERM msg;   /* what came with the event */
    ERL_NIF_TERM other; /* receiver, {M,F,Args} of a spawn, class of an exception */
    const struct function *fn;
    uint32_t thread; /* engine_thread.index */
    char pid_text[64];
    char text[TERM_TEXT];
};

static struct event *event_of(struct engine_ctx *ctx)
{
    return (struct event *)(void *)ctx;
}

static uint64_t text_arg(struct event *ev, const char *p, size_t len)
{
    engine_ctx_range(&ev->ctx, p, len + 1);
    return (uint64_t)(uintptr_t)p;
}

static uint64_t pid_arg(struct event *ev)
{
    return text_arg(ev, ev->pid_text,
                    pidtext(ev->env, ev->pid, ev->thread, ev->pid_text, sizeof ev->pid_text));
}

static uint64_t constant_arg(struct event *ev, const char *s)
{
    return text_arg(ev, s, strlen(s));
}

/* {M, F, Arity} or {M, F, Args}; false for anything else. */
static bool get_mfa(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *m, ERL_NIF_TERM *f,
                    unsigned *arity, bool *args)
{
    const ERL_NIF_TERM *e;
    int n;
    if (!enif_get_tuple(env, t, &n, &e) || n != 3)
        return false;
    *m = e[0];
    *f = e[1];
    if (enif_get_uint(env, e[2], arity)) {
        *args = false;
        return true;
    }
    *args = true;
    return enif_get_list_length(env, e[2], arity);
}

static uint64_t mfa_arg(struct event *ev, ERL_NIF_TERM t, const char *otherwise)
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool args;
    if (!get_mfa(ev->env, t, &m, &f, &arity, &args))
        return constant_arg(ev, otherwise);
    return text_arg(ev, ev->text, term_mfa(ev->env, m, f, arity, ev->text, sizeof ev->text));
}

/* -- arguments, in the order of OTP's own provider
 * ---------------------------------------------------- */

static uint64_t arg_spawn(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    return n == 0 ? pid_arg(ev) : n == 1 ? mfa_arg(ev, ev->other, "<unknown>") : 0;
}

static uint64_t arg_exit(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return pid_arg(ev);
    case 1: return text_arg(ev, ev->text, term_text(ev->env, ev->msg, ev->text, sizeof ev->text));
    default: return 0;
    }
}

/* Scheduled and unscheduled: `other` says that the process is exiting. */
static uint64_t arg_scheduled(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return pid_arg(ev);
    case 1: return ev->other ? constant_arg(ev, "<exiting>") : mfa_arg(ev, ev->msg, "<unknown>");
    default: return 0;
    }
}

static uint64_t arg_send(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return pid_arg(ev);
    case 1: /* a pid, an alias of another node, or {Name, Node} */
        if (enif_is_tuple(ev->env, ev->other))
            return text_arg(ev, ev->text, term_text(ev->env, ev->other, ev->text, sizeof ev->text));
        return text_arg(ev, ev->text,
                        pidtext(ev->env, ev->other, ev->thread, ev->text, sizeof ev->text));
    case 2: return term_words(ev->env, ev->msg, &agent.sizes);
    default: return 0; /* no sequential trace token */
    }
}

static uint64_t arg_queued(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return pid_arg(ev);
    case 1: return term_words(ev->env, ev->msg, &agent.sizes);
    case 2: return UINT32_MAX; /* the length of the queue cannot be known */
    default: return 0;
    }
}

static uint64_t arg_gc(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    if (n == 0)
        return pid_arg(ev);
    if (n != 1)
        return 0;
    ERL_NIF_TERM head, list = ev->msg;
    const ERL_NIF_TERM *e;
    int size;
    ErlNifUInt64 words;
    for (unsigned i = 0; i < 32 && enif_get_list_cell(ev->env, list, &head, &list); i++)
        if (enif_get_tuple(ev->env, head, &size, &e) && size == 2 && e[0] == agent.atom.wordsize &&
            enif_get_uint64(ev->env, e[1], &words))
            return words;
    return 0;
}

static uint64_t arg_function(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return pid_arg(ev);
    case 1: return text_arg(ev, ev->fn->text, ev->fn->text_len);
    case 2: return (uint64_t)-1; /* the depth of the stack cannot be known */
    case 3:                      /* the class of an exception */
        return ev->other ? text_arg(ev, ev->text,
                                    term_simple(ev->env, ev->other, ev->text, sizeof ev->text))
                         : 0;
    default: return 0;
    }
}

/* Time that the process has been scheduled in; 0 for one that there was no room to remember. */
static uint64_t event_vtimestamp(struct engine_ctx *ctx)
{
    const struct process *p = proctab_find(processes(), event_of(ctx)->pid);
    return !p ? 0 : p->total + (p->in ? now() - p->in : 0);
}

/* -- firing
 * ------------------------------------------------------------------------------------------ */

static void fire(struct event *ev, struct engine_thread *t, const struct bounds *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        ev->ctx.probe = b->v[i].probe;
        engine_fire(b->v[i].engine, t, &ev->ctx, b->v[i].b, b->v[i].n);
    }
}

/* Everything but the argument caches, which say themselves how much of them is in use. */
static void event_init(struct event *ev, const struct engine_thread *t, ErlNifEnv *env,
                       ERL_NIF_TERM pid, ERL_NIF_TERM msg,
                       uint64_t (*arg)(struct engine_ctx *, unsigned))
{
    ev->ctx.arg = arg;
    ev->ctx.vtimestamp = event_vtimestamp;
    ev->ctx.self = pid;
    ev->ctx.have = 0;
    ev->ctx.nranges = 0;
    ev->thread = t->index;
    ev->env = env;
    ev->pid = pid;
    ev->msg = msg;
    ev->other = 0;
    ev->fn = NULL;
}

static void named(const struct snapshot *s, struct engine_thread *t, enum probe_kind kind,
                  ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM msg, ERL_NIF_TERM other,
                  uint64_t (*arg)(struct engine_ctx *, unsigned))
{
    const struct bounds *b = &s->named[kind];
    if (b->n == 0)
        return;
    struct event ev;
    event_init(&ev, t, env, pid, msg, arg);
    ev.other = other;
    fire(&ev, t, b);
}

static void function_event(struct engine_thread *t, const struct bounds *b, ErlNifEnv *env,
                           ERL_NIF_TERM pid, const struct function *fn, ERL_NIF_TERM class)
{
    if (b->n == 0)
        return;
    struct event ev;
    event_init(&ev, t, env, pid, 0, arg_function);
    ev.fn = fn;
    ev.other = class;
    fire(&ev, t, b);
}

/* -- functions
 * ---------------------------------------------------------------------------------------- */

static struct shadow_fn undefined_fn(void)
{
    return (struct shadow_fn){.m = agent.atom.undefined};
}

/* The function that a call returns into: what the match specification {message, {caller}} gave.
 * False: there is none. */
static bool caller_of(ErlNifEnv *env, ERL_NIF_TERM opts, struct shadow_fn *caller)
{
    ERL_NIF_TERM v, m, f;
    unsigned arity;
    bool args;
    if (!enif_get_map_value(env, opts, agent.atom.match_spec_result, &v))
        return false;
    *caller = undefined_fn();
    if (get_mfa(env, v, &m, &f, &arity, &args))
        *caller = (struct shadow_fn){.m = m, .f = f, .a = arity};
    return true;
}

static struct shadow *shadow_of(ERL_NIF_TERM pid)
{
    bool fresh;
    struct shadow *sh = proctab_claim(shadows(), pid, &fresh);
    if (fresh)
        shadow_reset(sh);
    if (!sh)
        atomic_fetch_add_explicit(&agent.lost_returns, 1, memory_order_relaxed);
    return sh;
}

/* One more exception frame on the stack of a process. */
static void frame_pushed(ERL_NIF_TERM pid, struct function *fn)
{
    bool fresh;
    struct process *p = proctab_claim(processes(), pid, &fresh);
    uint32_t round = atomic_load_explicit(&agent.round, memory_order_relaxed);
    if (!p) { /* what cannot be counted cannot be bounded */
        atomic_store_explicit(&fn->overrun, true, memory_order_relaxed);
        return;
    }
    if (fresh)
        *p = (struct process){0};
    if (p->round != round) {
        p->round = round;
        p->frames = 0;
    }
    if (++p->frames > FRAMES_SOFT)
        atomic_store_explicit(&fn->overrun, true, memory_order_relaxed);
}

static void frame_popped(ERL_NIF_TERM pid)
{
    struct process *p = frames_of(pid);
    if (p && p->frames > 0)
        p->frames--;
}

/* Whether this event stands for the call: one of two may, while both patterns are set and the
 * snapshot changes over. The VM reports a call through the local pattern first and then, on the
 * same thread and after asking enabled/3 at most twice, through the meta pattern; such a second
 * event counts if the first one did not. */
static bool this_call_counts(const struct function *fn, ERL_NIF_TERM pid, bool meta)
{
    bool counts = fn->local != meta;
    if (meta) {
        if (last.pid == pid && last.f == fn->f && last.m == fn->m && last.arity == fn->arity &&
            asked - last.asked <= 2)
            counts = !last.counted;
        last.pid = 0;
    } else {
        last.pid = pid;
        last.m = fn->m;
        last.f = fn->f;
        last.arity = fn->arity;
        last.asked = asked;
        last.counted = counts;
    }
    return counts;
}

static void on_call(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                    const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM m, f, pid = argv[2];
    unsigned arity;
    bool meta;
    if (s->nfunctions == 0 || !get_mfa(env, argv[3], &m, &f, &arity, &meta))
        return;
    struct function *fn = snapshot_function(s, m, f, arity);
    if (!fn) {
        /* Before OTP 27 another tool's local pattern reaches us, too, and so will its return. */
        struct shadow *other = meta ? NULL : proctab_find(shadows(), pid);
        if (other)
            shadow_call_plain(other, &(struct shadow_fn){.m = m, .f = f, .a = arity});
        return;
    }
    bool counts = this_call_counts(fn, pid, meta);
    if (fn->exception.n)
        frame_pushed(pid, fn);
    if (!counts)
        return;
    if (!meta) {
        struct shadow *sh = shadow_of(pid);
        if (sh) {
            struct shadow_fn me = {.m = m, .f = f, .a = arity}, caller;
            if (caller_of(env, argv[4], &caller))
                shadow_call(sh, &me, &caller);
            else
                shadow_call_plain(sh, &me);
        }
    }
    function_event(t, &fn->entry, env, pid, fn, 0);
}

static void on_return_to(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                         const ERL_NIF_TERM argv[])
{
    struct shadow *sh = proctab_find(shadows(), argv[2]);
    if (!sh)
        return;
    struct shadow_fn to = undefined_fn(), from;
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool args;
    if (get_mfa(env, argv[3], &m, &f, &arity, &args))
        to = (struct shadow_fn){.m = m, .f = f, .a = arity};
    if (!shadow_return(sh, &to, &from))
        return;
    const struct function *fn = snapshot_function(s, from.m, from.f, from.a);
    if (fn)
        function_event(t, &fn->ret, env, argv[2], fn, 0);
}

static void on_frame_gone(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                          const ERL_NIF_TERM argv[], bool exception)
{
    ERL_NIF_TERM m, f, extra;
    unsigned arity;
    bool args;
    if (s->exceptions)
        frame_popped(argv[2]);
    if (!exception || !get_mfa(env, argv[3], &m, &f, &arity, &args))
        return;
    const struct function *fn = snapshot_function(s, m, f, arity);
    if (!fn)
        return;
    if (fn->local) {
        struct shadow *sh = proctab_find(shadows(), argv[2]);
        if (sh)
            shadow_unwind(sh);
    }
    const ERL_NIF_TERM *e;
    int n;
    ERL_NIF_TERM class = 0;
    if (enif_get_map_value(env, argv[4], agent.atom.extra, &extra) &&
        enif_get_tuple(env, extra, &n, &e) && n == 2 && enif_is_atom(env, e[0]))
        class = e[0];
    function_event(t, &fn->exception, env, argv[2], fn, class);
}

/* -- processes
 * ---------------------------------------------------------------------------------------- */

static void on_in(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                  const ERL_NIF_TERM argv[], bool exiting)
{
    if (s->vtime) {
        bool fresh;
        struct process *p = proctab_claim(processes(), argv[2], &fresh);
        if (fresh)
            *p = (struct process){0};
        if (p)
            p->in = now();
    }
    named(s, t, PROBE_PROCESS_SCHEDULED, env, argv[2], argv[3], exiting ? agent.atom.true_ : 0,
          arg_scheduled);
}

static void on_out(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                   const ERL_NIF_TERM argv[], bool exiting)
{
    named(s, t, PROBE_PROCESS_UNSCHEDULED, env, argv[2], argv[3], exiting ? agent.atom.true_ : 0,
          arg_scheduled);
    struct process *p = s->vtime ? proctab_find(processes(), argv[2]) : NULL;
    if (p && p->in) {
        p->total += now() - p->in;
        p->in = 0;
    }
}

static void on_send(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                    const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM to;
    ErlNifPid pid;
    if (s->named[PROBE_MESSAGE_SEND].n == 0 ||
        !enif_get_map_value(env, argv[4], agent.atom.extra, &to))
        return;
    if (enif_is_atom(env, to)) {
        /* Also said for a name that nobody has, or that a port has: the provider's probe fires for
         * processes. */
        if (!enif_whereis_pid(env, to, &pid))
            return;
        to = enif_make_pid(env, &pid);
    } else if (enif_is_port(env, to)) {
        return;
    } else if (enif_is_ref(env, to)) {
        ERL_NIF_TERM owner = alias_pid(env, to);
        if (owner)
            to = owner;
    }
    named(s, t, PROBE_MESSAGE_SEND, env, argv[2], argv[3], to, arg_send);
}

static void on_spawn(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                     const ERL_NIF_TERM argv[], ERL_NIF_TERM child)
{
    ERL_NIF_TERM mfa = agent.atom.undefined;
    enif_get_map_value(env, argv[4], agent.atom.extra, &mfa);
    named(s, t, PROBE_PROCESS_SPAWN, env, child, argv[3], mfa, arg_spawn);
}

/* trace(Tag, State, Tracee, Msg, Opts) */
ERL_NIF_TERM tracer_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM tag = argv[0];
    ErlNifPid pid;
    if (!gate_open())
        return a->ok;
    struct engine_thread *t = engine_thread_self();
    if (!t) {
        atomic_fetch_add_explicit(&agent.lost_threads, 1, memory_order_relaxed);
        return a->ok;
    }
    if (tag != a->call)
        last.pid = 0;
    engine_enter(t);
    const struct snapshot *s = atomic_load(&agent.snapshot);
    if (!s)
        ;
    else if (tag == a->call)
        on_call(s, t, env, argv);
    else if (tag == a->return_to)
        on_return_to(s, t, env, argv);
    else if (tag == a->send)
        on_send(s, t, env, argv);
    else if (tag == a->receive)
        named(s, t, PROBE_MESSAGE_QUEUED, env, argv[2], argv[3], 0, arg_queued);
    else if (tag == a->in)
        on_in(s, t, env, argv, false);
    else if (tag == a->out || tag == a->out_exiting || tag == a->out_exited)
        on_out(s, t, env, argv, tag != a->out);
    else if (tag == a->in_exiting)
        on_in(s, t, env, argv, true);
    else if (tag == a->return_from)
        on_frame_gone(s, t, env, argv, false);
    else if (tag == a->exception_from)
        on_frame_gone(s, t, env, argv, true);
    else if (tag == a->spawn)
        on_spawn(s, t, env, argv, argv[3]);
    else if (tag == a->spawned) {
        /* A child of a process of another node: nobody here reports its birth. */
        if (enif_is_pid(env, argv[3]) && !enif_get_local_pid(env, argv[3], &pid))
            on_spawn(s, t, env, argv, argv[2]);
    } else if (tag == a->exit)
        named(s, t, PROBE_PROCESS_EXIT, env, argv[2], argv[3], 0, arg_exit);
    else if (tag == a->gc_minor_start)
        named(s, t, PROBE_GC_MINOR_START, env, argv[2], argv[3], 0, arg_gc);
    else if (tag == a->gc_minor_end)
        named(s, t, PROBE_GC_MINOR_END, env, argv[2], argv[3], 0, arg_gc);
    else if (tag == a->gc_major_start)
        named(s, t, PROBE_GC_MAJOR_START, env, argv[2], argv[3], 0, arg_gc);
    else if (tag == a->gc_major_end)
        named(s, t, PROBE_GC_MAJOR_END, env, argv[2], argv[3], 0, arg_gc);
    engine_leave(t);
    return a->ok;
}

void tracer_fire_plain(struct program *p, const struct program_probe *probe, uint64_t self)
{
    struct engine_thread *t = engine_thread_self();
    if (!t) {
        atomic_fetch_add_explicit(&agent.lost_threads, 1, memory_order_relaxed);
        return;
    }
    struct engine_ctx ctx = {.probe = &probe->id, .self = self};
    engine_enter(t);
    engine_fire(p->engine, t, &ctx, probe->b, probe->n);
    engine_leave(t);
}
