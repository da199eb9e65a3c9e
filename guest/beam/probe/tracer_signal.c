/* tracer_signal.c - exit signals and hibernation: probes for which the VM has no event, derived
 * from calls (hooks.h) and from what a process does on its scheduler.
 *
 * EXIT SIGNALS are calls of exit/2 and exit/3. Signals over links are not seen: links that were
 * made before the trace would have to be known.
 *
 * HIBERNATION. From OTP 28 on, a call of erlang:hibernate/3 is seen however it is written, and
 * erlang:hibernate/0 is seen in the servers of OTP, which call it in a function of its own. Before,
 * a call written out is an instruction, and not seen; but a process that hibernates is scheduled
 * `out` in erlang:hibernate/3. That happens again each time that a signal, rather than a message,
 * has woken it: then it was also scheduled `in` there, and has not run. It may also have been
 * scheduled in there, run, and hibernated again; that is recognized when it did so by a call that
 * is seen, like those of proc_lib:hibernate/3. What is noted about a process is kept per thread,
 * for the process's turn on it; it contains atoms only, no other terms. */
#include "beam/probe/hooks.h"
#include "beam/nodename.h"

/* -- exit signals: (Receiver, Reason) or (Receiver, Reason, Options) --------------------------- */

bool is_signal_here(const struct hook_event *h)
{
    ErlNifPid pid;
    return enif_get_local_pid(h->ev.env, h->argv[0], &pid) &&
           enif_is_process_alive(h->ev.env, &pid);
}

bool is_signal_elsewhere(const struct hook_event *h)
{
    ErlNifPid pid;
    return enif_is_pid(h->ev.env, h->argv[0]) && !enif_get_local_pid(h->ev.env, h->argv[0], &pid);
}

/* Returns the reason as the receiver will see it. */
static uint64_t signal_reason(struct hook_event *h)
{
    return h->argv[1] == agent.atom.kill ? event_constant(&h->ev, "killed")
                                         : event_term(&h->ev, h->argv[1]);
}

uint64_t arg_signal(struct engine_ctx *ctx, unsigned n)
{
    struct hook_event *h = hook_event_of(ctx);
    switch (n) {
    case 0: return event_pid(&h->ev, h->ev.pid);
    case 1: return event_pid(&h->ev, h->argv[0]);
    case 2: return signal_reason(h);
    default: return 0;
    }
}

uint64_t arg_signal_remote(struct engine_ctx *ctx, unsigned n)
{
    struct hook_event *h = hook_event_of(ctx);
    ERL_NIF_TERM node;
    switch (n) {
    case 0: return event_pid(&h->ev, h->ev.pid);
    case 1:
        return nodename_of(h->ev.env, h->argv[0], &node) ? event_pid(&h->ev, node)
                                                         : event_constant(&h->ev, "<unknown>");
    case 2: return event_pid(&h->ev, h->argv[0]);
    case 3: return signal_reason(h);
    default: return 0; /* a signal's token is unknown */
    }
}

void fire_signal(const struct snapshot *s, struct engine_thread *t, struct hook_event *h)
{
    h->ev.msg = h->argv[1];
    h->ev.msg_is = DIF_BUILTIN_reason;
    event_fire(&h->ev, t, &s->named[h->hook->kind]);
}

/* -- hibernation ------------------------------------------------------------------------------- */

/* An event that is not a call: msg is 0 when the function is unknown. */
struct hibernation {
    struct event ev; /* first */
    ERL_NIF_TERM f;
    unsigned arity;
};

static uint64_t resumes_in(struct event *ev, ERL_NIF_TERM m, ERL_NIF_TERM f, unsigned arity)
{
    char *p = event_room(ev, TERM_TEXT);
    return p ? event_text(ev, p, term_mfa(ev->env, m, f, arity, p, TERM_TEXT))
             : event_constant(ev, "");
}

static bool is_hibernate(ErlNifEnv *env, ERL_NIF_TERM mfa)
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool args;
    return event_get_mfa(env, mfa, &m, &f, &arity, &args) && m == agent.atom.erlang &&
           f == agent.atom.hibernate;
}

void hibernation_in(struct engine_thread *t, ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
    struct tracer_turn *turn = &tracer_thread(t)->turn;
    turn->pid = argv[2];
    turn->asleep = is_hibernate(env, argv[3]);
    turn->m = 0;
}

static uint64_t arg_out(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    const struct hibernation *h = (const struct hibernation *)(const void *)ev;
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1:
        return ev->msg ? resumes_in(ev, ev->msg, h->f, h->arity)
                       : event_constant(ev, "erlang:hibernate/3");
    default: return 0;
    }
}

void hibernation_out(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                     const ERL_NIF_TERM argv[])
{
    struct tracer_turn *turn = &tracer_thread(t)->turn;
    bool mine = turn->pid == argv[2];
    if (is_hibernate(env, argv[3]) && !(mine && turn->asleep && !turn->m)) {
        struct hibernation h = {.f = turn->f, .arity = turn->arity};
        event_init(&h.ev, t, env, argv[2], mine ? turn->m : 0, arg_out);
        event_fire(&h.ev, t, &s->named[PROBE_PROCESS_HIBERNATE]);
    }
    turn->pid = 0;
}

/* hibernate(M, F, Args), hibernate(), loop_hibernate(...) */
uint64_t arg_hibernate(struct engine_ctx *ctx, unsigned n)
{
    struct hook_event *h = hook_event_of(ctx);
    unsigned arity;
    switch (n) {
    case 0: return event_pid(&h->ev, h->ev.pid);
    case 1:
        if (h->argc == 3 && h->hook->module[0] == 'e' &&
            event_count_args(h->ev.env, h->argv[2], &arity))
            return resumes_in(&h->ev, h->argv[0], h->argv[1], arity);
        return event_text(&h->ev, h->ev.fn->text, h->ev.fn->text_len);
    default: return 0;
    }
}

static void note(const struct hook_event *h, ERL_NIF_TERM m, ERL_NIF_TERM f, unsigned arity)
{
    struct tracer_turn *turn = &tracer_thread(h->ev.t)->turn;
    if (turn->pid != h->ev.pid)
        turn->asleep = false; /* its turn began before the trace */
    turn->pid = h->ev.pid;
    turn->m = m;
    turn->f = f;
    turn->arity = arity;
}

bool is_hibernation(const struct hook_event *h)
{
    unsigned arity;
    if (agent_has(OTP_HIBERNATE_CALLS))
        return true;
    if (h->argc == 3 && enif_is_atom(h->ev.env, h->argv[0]) &&
        enif_is_atom(h->ev.env, h->argv[1]) && event_count_args(h->ev.env, h->argv[2], &arity))
        note(h, h->argv[0], h->argv[1], arity);
    return false;
}

bool is_hibernation_of_proc_lib(const struct hook_event *h)
{
    if (!agent_has(OTP_HIBERNATE_CALLS)) /* later releases report its call */
        note(h, agent.atom.proc_lib, agent.atom.wake_up, 3);
    return false;
}

bool is_hibernation_of_server(const struct hook_event *h)
{
    (void)h;
    return agent_has(OTP_HIBERNATE_CALLS);
}
