/* held.c - see held.h. */
#include "beam/probe/held.h"

#include "base/clock.h"

enum { HELD = 1 << 12 }; /* processes that can be amid such a message at the same time */

/* The message that a process is sending. */
struct in_parts {
    uint64_t since;                 /* ns, CLOCK_MONOTONIC: when it was first scheduled out */
    uint64_t in;                    /* ns: when it was last scheduled in, within the sending */
    const struct engine_thread *on; /* the thread on which it has gone on since; NULL: it has not */
    uint64_t times;                 /* that it was scheduled out */
    uint64_t round; /* agent.held_round then: the record of another round means nothing */
};

/* A message that is over. */
struct held_event {
    struct event ev; /* first */
    uint64_t times, ns;
};

static struct proctab *table(void)
{
    return atomic_load_explicit(&agent.held, memory_order_acquire);
}

/* Where a process is scheduled in or out. WAITING: perhaps it has sent all, and waits for the
 * connection. */
enum place { ELSEWHERE, SENDING, WAITING };

static enum place place_of(ErlNifEnv *env, ERL_NIF_TERM mfa)
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool args;
    if (!event_get_mfa(env, mfa, &m, &f, &arity, &args))
        return ELSEWHERE;
    if (f == agent.atom.dsend_continue_trap)
        return m == agent.atom.erts_internal && arity == 1 ? SENDING : ELSEWHERE;
    return f == agent.atom.bif_return_trap && m == agent.atom.erlang && arity == 2 ? WAITING
                                                                                   : ELSEWHERE;
}

/* Returns the record of a process, NULL if it has none of this round. */
static struct in_parts *record_of(ERL_NIF_TERM pid)
{
    struct in_parts *h = proctab_find(table(), pid);
    return h && h->round == atomic_load_explicit(&agent.held_round, memory_order_relaxed) ? h
                                                                                          : NULL;
}

/* Returns the message that the process which runs on this thread goes on with, NULL: none. */
static struct in_parts *going_on(struct engine_thread *t, ERL_NIF_TERM pid)
{
    struct in_parts *h = tracer_thread(t)->sending ? record_of(pid) : NULL;
    return h && h->on == t ? h : NULL;
}

void held_in(struct engine_thread *t, ErlNifEnv *env, const ERL_NIF_TERM argv[], bool exiting)
{
    struct tracer_thread *me = tracer_thread(t);
    me->sending = false;
    if (!exiting && place_of(env, argv[3]) == ELSEWHERE)
        return;
    struct in_parts *h = record_of(argv[2]);
    if (!h)
        return;
    h->in = monotonic_ns();
    h->on = t;
    me->sending = true;
}

/* Notes that a process begins to send such a message, and leaves its scheduler. */
static void begins(ERL_NIF_TERM pid)
{
    bool fresh;
    struct in_parts *h;
    if ((h = proctab_claim(table(), pid, &fresh)) != NULL) {
        *h = (struct in_parts){.since = monotonic_ns(),
                               .times = 1,
                               .round =
                                   atomic_load_explicit(&agent.held_round, memory_order_relaxed)};
    } else {
        atomic_fetch_add_explicit(&agent.lost_held, 1, memory_order_relaxed);
    }
}

static uint64_t arg_held(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    const struct held_event *h = (const struct held_event *)(const void *)ev;
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return h->times;
    case 2: return h->ns;
    default: return 0;
    }
}

/* Fires the probe if the process has been sending such a message. mfa: where it is scheduled out;
 * 0: not known. */
static void over(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 ERL_NIF_TERM pid, ERL_NIF_TERM mfa)
{
    const struct in_parts *h = going_on(t, pid);
    struct held_event e;
    if (!h)
        return;
    e.times = h->times;
    e.ns = h->in - h->since;
    proctab_drop(table(), pid);
    tracer_thread(t)->sending = false;
    event_init(&e.ev, t, env, pid, mfa, arg_held);
    e.ev.msg_is = mfa ? DIF_BUILTIN_erlfunc : 0;
    event_fire(&e.ev, t, &s->named[PROBE_SEND_IN_PARTS]);
}

void held_out(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
              const ERL_NIF_TERM argv[], bool exiting)
{
    struct tracer_thread *me = tracer_thread(t);
    const enum place place = exiting ? ELSEWHERE : place_of(env, argv[3]);
    struct in_parts *h = place == ELSEWHERE ? NULL : going_on(t, argv[2]);
    if (h) {
        h->times++;
        h->on = NULL;
    } else if (place == SENDING) {
        begins(argv[2]);
    } else {
        me->between = true;
        over(s, t, env, argv[2], exiting ? 0 : argv[3]);
        me->between = false;
    }
    me->sending = false;
}

void held_send(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env, ERL_NIF_TERM pid)
{
    over(s, t, env, pid, 0);
}

bool held_reserve(void)
{
    if (!atomic_load(&agent.held))
        atomic_store(&agent.held, proctab_new(HELD, sizeof(struct in_parts)));
    return atomic_load(&agent.held) != NULL;
}

void held_forget(void)
{
    atomic_fetch_add(&agent.held_round, 1);
}

void held_sweep(ErlNifEnv *env, uint32_t part, uint32_t parts,
                bool (*alive)(void *arg, uint64_t pid))
{
    if (atomic_load(&agent.held))
        proctab_sweep(atomic_load(&agent.held), part, parts, alive, env);
}
