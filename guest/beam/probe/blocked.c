/* blocked.c - see blocked.h. */
#include "beam/probe/blocked.h"

#include "base/clock.h"
#include "beam/values.h"

enum { BLOCKED = 1 << 12 }; /* processes that can wait at the same time */

/* Bits of a record's state: the process waits. The other bits count the waits, so that a thread
 * that has seen one does not end another. */
enum { WAITING = 1, WAIT = 2 };

struct blocked {
    _Atomic uint32_t state;
    uint32_t arity;      /* m, f, arity: where it was last scheduled in */
    ERL_NIF_TERM m, f;   /* ... 0: not since it began to wait, or the VM does not say */
    ERL_NIF_TERM port;   /* the port that it waits for */
    ERL_NIF_TERM here;   /* a connection: the nodes at its ends, atoms; 0: a port of this node */
    ERL_NIF_TERM there;  /* ... the other one */
    uint64_t since;      /* ns, CLOCK_MONOTONIC: when the server was told */
    _Atomic uint64_t in; /* ns: when it was last scheduled in; 0: not since it began to wait */
};

/* Finds the record of a waiting process, and its state. */
static struct blocked *find(ERL_NIF_TERM pid, uint32_t *state)
{
    struct blocked *b =
        proctab_find(atomic_load_explicit(&agent.blocked, memory_order_acquire), pid);
    if (!b)
        return NULL;
    *state = atomic_load_explicit(&b->state, memory_order_acquire);
    return *state & WAITING ? b : NULL;
}

/* Ends that wait; returns true to the one thread that does, with the record in *copy. (The process
 * may begin its next wait while this one's end is being reported: the server then reuses the
 * record.) */
static bool take(struct blocked *b, uint32_t state, struct blocked *copy)
{
    copy->port = b->port;
    copy->here = b->here;
    copy->there = b->there;
    copy->since = b->since;
    atomic_store_explicit(&copy->in, atomic_load_explicit(&b->in, memory_order_relaxed),
                          memory_order_relaxed);
    if (!(state & WAITING) ||
        !atomic_compare_exchange_strong(&b->state, &state, state & ~(uint32_t)WAITING))
        return false;
    atomic_fetch_sub(&agent.nblocked, 1);
    return true;
}

static void fire(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 ERL_NIF_TERM pid, const struct blocked *b)
{
    uint64_t in = atomic_load_explicit(&b->in, memory_order_relaxed);
    if (in == 0)
        in = monotonic_ns();
    const struct beam_value waited = {VALUE_NUMBER, in > b->since ? in - b->since : 0};
    const struct beam_value p = {VALUE_TERM, pid}, port = {VALUE_TERM, b->port};
    if (b->here && b->there) {
        const struct beam_value here = {VALUE_TERM, b->here}, there = {VALUE_TERM, b->there};
        values_fire(s, t, env, PROBE_DIST_PORT_NOT_BUSY, pid,
                    (const struct beam_value[]){here, port, there, p, waited}, 5);
    } else {
        values_fire(s, t, env, PROBE_PORT_NOT_BUSY, pid,
                    (const struct beam_value[]){port, p, waited}, 3);
        values_fire(s, t, env, PROBE_PROCESS_PORT_UNBLOCKED, pid,
                    (const struct beam_value[]){p, port, waited}, 3);
    }
}

/* -- events of the process --------------------------------------------------------------------- */

void blocked_in(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
    uint32_t state;
    struct blocked *b = find(argv[2], &state);
    unsigned arity = 0;
    bool args;
    if (!b)
        return;
    b->m = b->f = 0;
    event_get_mfa(env, argv[3], &b->m, &b->f, &arity, &args);
    b->arity = arity;
    atomic_store_explicit(&b->in, monotonic_ns(), memory_order_relaxed);
}

void blocked_out(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[])
{
    uint32_t state;
    struct blocked *b = find(argv[2], &state), over;
    ERL_NIF_TERM m = 0, f = 0;
    unsigned arity = 0;
    bool args;
    if (!b || atomic_load_explicit(&b->in, memory_order_relaxed) == 0)
        return; /* it is about to wait */
    event_get_mfa(env, argv[3], &m, &f, &arity, &args);
    if ((m != b->m || f != b->f || arity != b->arity) && take(b, state, &over))
        fire(s, t, env, argv[2], &over);
}

/* -- the server -------------------------------------------------------------------------------- */

/* Fires the probes of a wait that the server found to be over. */
static void fire_from_server(ErlNifEnv *env, ERL_NIF_TERM pid, const struct blocked *b)
{
    struct engine_thread *t = engine_thread_self();
    if (!t) {
        atomic_fetch_add_explicit(&agent.lost_threads, 1, memory_order_relaxed);
        return;
    }
    if (!atomic_load_explicit(&agent.gate, memory_order_relaxed))
        return;
    engine_enter(t);
    const struct snapshot *s = atomic_load(&agent.snapshot);
    if (s)
        fire(s, t, env, pid, b);
    engine_leave(t);
}

static ERL_NIF_TERM boolean(bool b)
{
    return b ? agent.atom.true_ : agent.atom.false_;
}

ERL_NIF_TERM blocked_block_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifPid pid;
    ErlNifPort port;
    const ERL_NIF_TERM *e = NULL;
    int n = 0;
    bool fresh;
    if (!agent_is_server(env) || !enif_get_local_pid(env, argv[0], &pid) ||
        !(enif_get_local_port(env, argv[1], &port) || enif_get_local_pid(env, argv[1], &pid)) ||
        (enif_get_tuple(env, argv[2], &n, &e) &&
         (n != 2 || !enif_is_atom(env, e[0]) || !enif_is_atom(env, e[1]))))
        return enif_make_badarg(env);
    if (!atomic_load(&agent.blocked))
        atomic_store(&agent.blocked, proctab_new(BLOCKED, sizeof(struct blocked)));
    struct blocked *b = proctab_claim(atomic_load(&agent.blocked), argv[0], &fresh);
    if (!b)
        return agent.atom.false_;
    struct blocked over;
    if (take(b, atomic_load(&b->state), &over) && !fresh)
        fire_from_server(env, argv[0], &over);
    b->port = argv[1];
    b->here = n ? e[0] : 0;
    b->there = n ? e[1] : 0;
    b->m = b->f = 0;
    b->since = monotonic_ns();
    atomic_store_explicit(&b->in, 0, memory_order_relaxed);
    atomic_fetch_add(&agent.nblocked, 1);
    atomic_store_explicit(&b->state, (atomic_load(&b->state) + WAIT) | WAITING,
                          memory_order_release);
    return agent.atom.true_;
}

ERL_NIF_TERM blocked_unblock_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    uint32_t state;
    struct blocked *b = find(argv[0], &state), over;
    bool ours = b && take(b, state, &over);
    if (ours)
        fire_from_server(env, argv[0], &over);
    return boolean(ours);
}

ERL_NIF_TERM blocked_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    uint32_t state;
    return agent_is_server(env) ? boolean(find(argv[0], &state) != NULL) : enif_make_badarg(env);
}

ERL_NIF_TERM blocked_forget_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    uint32_t state;
    struct blocked *b = find(argv[0], &state), over;
    if (b)
        take(b, state, &over);
    return agent.atom.ok;
}

static bool waits(void *arg, uint64_t pid)
{
    (void)arg;
    uint32_t state;
    return find((ERL_NIF_TERM)pid, &state) != NULL;
}

void blocked_sweep(uint32_t part, uint32_t parts)
{
    if (atomic_load(&agent.blocked))
        proctab_sweep(atomic_load(&agent.blocked), part, parts, waits, NULL);
}
