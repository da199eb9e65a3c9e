/* tracer.c - the functions that the VM calls at every event: enabled/3 and trace/5 of the
 * erl_tracer behaviour.
 *
 * Both run on the thread where the event happens, often with locks of the VM held. So nothing here
 * blocks, allocates, sends, makes a system call, or keeps a term that is on a heap. The exceptions:
 * about one event in 128 reads the thread's clock, and eight a second on each thread read how long
 * the thread has waited (cost.c); a thread that reads sched or schedtype asks once for its name,
 * and one that reads its process's members asks a few times whether it may (inside.h). Arguments of
 * probes are made only when D reads them. Both functions are exported, so that any process may call
 * them: see tracer.h.
 *
 * There is no trace_call/5, and there must never be one: meta tracing would call it as if it were
 * enabled/3.
 *
 * Functions are in tracer_fn.c, messages in tracer_message.c, life and memory of processes in
 * tracer_process.c. */
#include "base/clock.h"
#include "beam/probe/blocked.h"
#include "beam/probe/frames.h"
#include "beam/probe/held.h"
#include "beam/probe/procname.h"
#include "beam/probe/shapes.h"
#include "beam/probe/terms.h"
#include "beam/tracer.h"

/* Returns whether events are taken. The gate is also shut while all programs are over their limits:
 * then the VM need not even make an event, however long the server takes to notice. (The serial
 * shows whether these programs are the current ones.) */
static bool gate_open(void)
{
    return atomic_load_explicit(&agent.gate, memory_order_relaxed) &&
           atomic_load_explicit(&agent.spent, memory_order_relaxed) !=
               atomic_load_explicit(&agent.serial, memory_order_relaxed);
}

/* Returns the answer when there is no server. The VM asks for a tracer's status before it reports
 * or hands on a tracer, and may remove it then. At an event it must not: an emulator with
 * assertions aborts there, and one without takes and releases locks that the event holds. So only
 * trace_status is answered with `remove`. Before OTP 27 not even that is safe: erlang:trace_info/2
 * makes the process itself ask, while it handles its signals, and if its tracer were removed there
 * the VM would crash at the next signal that is a message. So the tracer stays until a process
 * removes it. */
static ERL_NIF_TERM none(ERL_NIF_TERM tag)
{
    return agent.sessions && tag == agent.atom.trace_status ? agent.atom.remove
                                                            : agent.atom.discard;
}

/* Charges for a call that the VM asked about and then left out, for its pattern's match
 * specification: that takes nearly as long as an event. */
static void left_out(struct engine_thread *t, const ERL_NIF_TERM argv[])
{
    struct load_sampler *sampler = &tracer_thread(t)->sampler;
    struct load_sample sample;
    load_begin(sampler, &sample);
    if (__builtin_expect(load_sampling(sampler) == NULL, 1))
        return;
    engine_enter(t);
    tracer_account(&sample, atomic_load(&agent.snapshot), t, argv);
    engine_leave(t);
}

ERL_NIF_TERM tracer_enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    const struct atoms *a = &agent.atom;
    if (atomic_load_explicit(&agent.dead, memory_order_relaxed))
        return none(argv[0]);
    struct engine_thread *t = engine_thread_self();
    if (t)
        tracer_thread(t)->asked++;
    if (argv[0] == a->trace_status) {
        /* Asked about a tracer that an earlier agent left, while this one is starting. */
        if (!atomic_load_explicit(&agent.started, memory_order_acquire))
            return none(argv[0]);
        /* The dead-man. */
        if (!enif_is_process_alive(env, &agent.server)) {
            atomic_store_explicit(&agent.dead, true, memory_order_relaxed);
            return none(argv[0]);
        }
        return a->trace;
    }
    if (!gate_open())
        return a->discard;
    if (argv[0] == a->call && frames_counted() && (!t || frames_too_many(t, argv[2]))) {
        atomic_fetch_add_explicit(&agent.lost_calls, 1, memory_order_relaxed);
        return a->discard;
    }
    if (argv[0] == a->call && t) {
        struct tracer_thread *me = tracer_thread(t);
        if (me->call)
            left_out(t, argv);
        me->call = true;
    }
    return a->trace;
}

/* -- arguments, in the order of OTP's own provider
 * ---------------------------------------------------- */

/* For scheduled and unscheduled: `other` says that the process is exiting. */
static uint64_t arg_scheduled(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1:
        return ev->other ? event_constant(ev, "<exiting>") : event_mfa(ev, ev->msg, "<unknown>");
    default: return 0;
    }
}

/* -- processes
 * ---------------------------------------------------------------------------------------- */

static bool hibernation_wanted(const struct snapshot *s)
{
    return s->named[PROBE_PROCESS_HIBERNATE].n > 0 && !agent_has(OTP_HIBERNATE_CALLS);
}

static void scheduled(const struct snapshot *s, struct engine_thread *t, enum probe_kind kind,
                      ErlNifEnv *env, const ERL_NIF_TERM argv[], bool exiting)
{
    tracer_thread(t)->between = true;
    if (s->named[kind].n > 0)
        event_fire_named(&s->named[kind], t, env, argv[2], argv[3], exiting ? agent.atom.true_ : 0,
                         arg_scheduled, exiting ? 0 : DIF_BUILTIN_erlfunc);
    tracer_thread(t)->between = false;
}

static void on_in(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                  const ERL_NIF_TERM argv[], bool exiting)
{
    if (!exiting && blocked_any())
        blocked_in(env, argv);
    if (!exiting && hibernation_wanted(s))
        hibernation_in(t, env, argv);
    if (held_wanted(s))
        held_in(t, env, argv, exiting);
    if (s->vtime) {
        bool fresh;
        struct process *p = proctab_claim(agent_processes(), argv[2], &fresh);
        if (fresh)
            *p = (struct process){0};
        if (p) {
            p->ours = 0;
            p->on = t;
            p->in = tracer_thread(t)->running.began;
        }
        tracer_thread(t)->running.pid = argv[2];
    }
    scheduled(s, t, PROBE_PROCESS_SCHEDULED, env, argv, exiting);
}

static void on_out(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                   const ERL_NIF_TERM argv[], bool exiting)
{
    if (!exiting && blocked_any())
        blocked_out(s, t, env, argv);
    if (!exiting && hibernation_wanted(s))
        hibernation_out(s, t, env, argv);
    if (held_wanted(s))
        held_out(s, t, env, argv, exiting);
    scheduled(s, t, PROBE_PROCESS_UNSCHEDULED, env, argv, exiting);
    struct process *p = s->vtime ? proctab_find(agent_processes(), argv[2]) : NULL;
    if (p && p->in) {
        p->total += tracer_thread(t)->running.began - p->in - p->ours;
        p->in = 0;
    }
}

/* Excludes the time of the event from that of the process that it interrupted, which need not be
 * the process that the event is about. */
static void not_its_time(struct engine_thread *t)
{
    struct tracer_thread *me = tracer_thread(t);
    struct process *p = me->running.pid ? proctab_find(agent_processes(), me->running.pid) : NULL;
    if (p && p->in && p->on == t)
        p->ours += monotonic_ns() - me->running.began;
}

/* trace(Tag, State, Tracee, Msg, Opts) */
ERL_NIF_TERM tracer_trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM tag = argv[0];
    if (!gate_open())
        return a->ok;
    struct engine_thread *t = engine_thread_self();
    if (!t) {
        atomic_fetch_add_explicit(&agent.lost_threads, 1, memory_order_relaxed);
        return a->ok;
    }
    struct tracer_thread *me = tracer_thread(t);
    if (tag != a->call)
        me->last.pid = me->global.pid = 0;
    else
        me->call = false;
    struct load_sample sample;
    engine_enter(t);
    load_begin(&me->sampler, &sample);
    const struct snapshot *s = atomic_load(&agent.snapshot);
    bool port;
    const bool known = shapes_known(env, argv, &port);
    if (known && procname_wanted()) {
        procname_event(env, argv); /* also before the programs that want names run */
        if (__builtin_expect(procname_counts(), 0) &&
            (tag == a->call || tag == a->send || tag == a->in || tag == a->out))
            procname_count(env, &me->inside, argv[2]);
    }
    if (s && __builtin_expect(s->vtime, 0))
        me->running.began = monotonic_ns();
    if (!s)
        frames_event(t, env, argv); /* the programs that want these calls do not run yet */
    else if (!known)
        shapes_lost(s, t, env, argv);
    else if (tag == a->call)
        tracer_call(s, t, env, argv);
    else if (tag == a->return_to)
        tracer_return_to(s, t, env, argv);
    else if (port)
        tracer_port(s, t, env, argv);
    else if (tag == a->send)
        tracer_send(s, t, env, argv, false);
    else if (tag == a->receive)
        tracer_receive(s, t, env, argv);
    else if (tag == a->in)
        on_in(s, t, env, argv, false);
    else if (tag == a->out || tag == a->out_exiting || tag == a->out_exited)
        on_out(s, t, env, argv, tag != a->out);
    else if (tag == a->in_exiting)
        on_in(s, t, env, argv, true);
    else if (tag == a->return_from)
        tracer_frame_gone(s, t, env, argv, false);
    else if (tag == a->exception_from)
        tracer_frame_gone(s, t, env, argv, true);
    else if (tag == a->spawn)
        tracer_spawn(s, t, env, argv);
    else if (tag == a->spawned)
        tracer_spawned(s, t, env, argv);
    else if (tag == a->gc_minor_start)
        tracer_gc(s, t, env, argv, PROBE_GC_MINOR_START);
    else if (tag == a->gc_minor_end)
        tracer_gc(s, t, env, argv, PROBE_GC_MINOR_END);
    else if (tag == a->gc_major_start)
        tracer_gc(s, t, env, argv, PROBE_GC_MAJOR_START);
    else if (tag == a->gc_major_end)
        tracer_gc(s, t, env, argv, PROBE_GC_MAJOR_END);
    else if (tag == a->gc_max_heap_size)
        tracer_gc(s, t, env, argv, PROBE_GC_MAX_HEAP);
    else if (tag == a->send_to_non_existing_process)
        tracer_send(s, t, env, argv, true);
    else if (tag == a->seq_trace)
        tracer_seq(s, t, env, argv);
    else
        tracer_procs(s, t, env, argv);
    if (__builtin_expect(load_sampling(&me->sampler) != NULL, 0))
        tracer_account(&sample, s, t, argv);
    if (s && __builtin_expect(s->vtime, 0))
        not_its_time(t);
    engine_leave(t);
    return a->ok;
}

/* Built-in variables where there is no process. */
static uint64_t about_plain(struct engine_ctx *ctx, unsigned builtin, uint64_t index)
{
    switch (builtin) {
    case DIF_BUILTIN_sched:
    case DIF_BUILTIN_schedtype: return event_of_thread(ctx, engine_thread_self(), builtin);
    case DIF_BUILTIN_elapsed:
    case DIF_BUILTIN_mqlen:
    case DIF_BUILTIN_reductions:
    case DIF_BUILTIN_heapsize:
    case DIF_BUILTIN_oldheapsize: return UINT64_MAX;
    default: return terms_about_nothing(ctx, builtin, index);
    }
}

void tracer_fire_plain(ErlNifEnv *env, struct program *p, const struct program_probe *probe)
{
    struct event ev;
    struct engine_thread *t = engine_thread_self();
    if (!t) {
        atomic_fetch_add_explicit(&agent.lost_threads, 1, memory_order_relaxed);
        return;
    }
    event_init(&ev, t, env, agent.server.pid, 0, NULL);
    ev.ctx.about = about_plain;
    ev.ctx.vtimestamp = NULL;
    ev.ctx.probe = &probe->id;
    ev.view = program_view(p);
    ev.ctx.anywhere = ev.ctx.own = true;
    engine_enter(t);
    engine_fire(p->engine, t, &ev.ctx, probe->b, probe->n);
    engine_leave(t);
}
