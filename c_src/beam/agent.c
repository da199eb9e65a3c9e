/* agent.c - the NIF library: load and unload, and the functions that the server process calls.
 *
 * Every nif_* function answers badarg to any process but the server, so that nobody's shell can
 * pull memory away from under an event. What may take long (taking in a program, making a snapshot,
 * draining) runs on a dirty scheduler. */
#include "beam/agent.h"

#include <sched.h>
#include <string.h>

#include "base/buf.h"
#include "beam/alias.h"

struct agent agent;

enum { UNLOAD_SPINS = 1000 /* times that unload gives way to threads that are inside an event */ };

static bool is_server(ErlNifEnv *env)
{
    ErlNifPid self;
    return agent.started && enif_self(env, &self) && enif_compare(self.pid, agent.server.pid) == 0;
}

static struct program *program_arg(ErlNifEnv *env, ERL_NIF_TERM t)
{
    void *p;
    return is_server(env) && enif_get_resource(env, t, agent.program_type, &p) ? p : NULL;
}

/* -- snapshots
 * ---------------------------------------------------------------------------------------- */

/* Frees the retired snapshots that no event can see any more; true when none is left. */
static bool settle(void)
{
    for (struct snapshot **link = &agent.retired; *link;) {
        struct snapshot *s = *link;
        if (engine_quiet(&s->mark)) {
            *link = s->next;
            snapshot_free(s);
        } else {
            link = &s->next;
        }
    }
    return agent.retired == NULL;
}

static void publish(struct snapshot *s)
{
    if (s && s->exceptions) /* frames counted under another set of patterns mean nothing now */
        atomic_fetch_add(&agent.round, 1);
    atomic_store(&agent.counting, s && s->exceptions);
    struct snapshot *old = atomic_exchange(&agent.snapshot, s);
    if (old) {
        engine_mark(&old->mark);
        old->next = agent.retired;
        agent.retired = old;
    }
}

/* -- life
 * -----------------------------------------------------------------------------------------------
 */

/* nif_loaded() -> true: this copy of the module has the library */
static ERL_NIF_TERM nif_loaded(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    (void)argv;
    return agent.atom.true_;
}

/* nif_start(Otp) -> ok: the calling process is the server from now on */
static ERL_NIF_TERM nif_start(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifPid self;
    int otp;
    if (!enif_get_int(env, argv[0], &otp) || !enif_self(env, &self))
        return enif_make_badarg(env);
    if (agent.started) /* a library serves one server */
        return enif_make_badarg(env);
    agent.sizes = term_sizes_of(otp);
    agent.server = self;
    agent.started = true;
    return agent.atom.ok;
}

/* nif_guard() -> ok: the calling process may retire what the server leaves behind */
static ERL_NIF_TERM nif_guard(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    ErlNifPid self;
    if (agent.guarded || !enif_self(env, &self))
        return enif_make_badarg(env);
    agent.guard = self;
    agent.guarded = true;
    return agent.atom.ok;
}

/* nif_retire() -> boolean(): the guard ends everything; true when no event can see anything any
 * more. Without this the snapshot would hold programs, those would hold the library, and the
 * library the snapshot. */
static ERL_NIF_TERM nif_retire(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    ErlNifPid self;
    if (!agent.guarded || !enif_self(env, &self) || enif_compare(self.pid, agent.guard.pid) != 0)
        return enif_make_badarg(env);
    atomic_store(&agent.gate, false);
    atomic_store(&agent.dead, true);
    if (atomic_load(&agent.snapshot))
        publish(NULL);
    return settle() ? agent.atom.true_ : agent.atom.false_;
}

/* nif_alias(Alias, Pid, Reference) -> boolean(): learns whose alias a reference is; see alias.h */
static ERL_NIF_TERM nif_alias(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!is_server(env))
        return enif_make_badarg(env);
    return alias_learn(env, argv[0], argv[1], argv[2]) ? agent.atom.true_ : agent.atom.false_;
}

/* nif_gate(boolean()) -> ok */
static ERL_NIF_TERM nif_gate(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!is_server(env))
        return enif_make_badarg(env);
    atomic_store(&agent.gate, argv[0] == agent.atom.true_);
    return agent.atom.ok;
}

/* -- programs
 * --------------------------------------------------------------------------------------------- */

static bool reserve_tables(const struct program *p)
{
    bool calls = false, returns = false;
    for (uint32_t i = 0; i < p->nprobes; i++) {
        calls = calls || p->probe[i].kind == PROBE_FN_EXCEPTION;
        returns = returns || p->probe[i].kind == PROBE_FN_RETURN;
    }
    if ((p->vtime || calls) && !atomic_load(&agent.processes))
        atomic_store(&agent.processes, proctab_new(PROCESSES, sizeof(struct process)));
    if (returns && !atomic_load(&agent.shadows))
        atomic_store(&agent.shadows, proctab_new(SHADOWS, sizeof(struct shadow)));
    return (!(p->vtime || calls) || atomic_load(&agent.processes)) &&
           (!returns || atomic_load(&agent.shadows));
}

/* nif_enable(Image, Options, Bindings, Provider); see program.c */
static ERL_NIF_TERM nif_enable(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return is_server(env) ? program_enable(env, argv[0], argv[1], argv[2], argv[3])
                          : enif_make_badarg(env);
}

/* Switches exception probes off for the functions in the list. */
static void take_off(ErlNifEnv *env, struct snapshot *s, ERL_NIF_TERM list)
{
    ERL_NIF_TERM head;
    const ERL_NIF_TERM *e;
    int n;
    unsigned arity;
    while (enif_get_list_cell(env, list, &head, &list)) {
        if (!enif_get_tuple(env, head, &n, &e) || n != 3 || !enif_get_uint(env, e[2], &arity))
            continue;
        struct function *fn = snapshot_function(s, e[0], e[1], arity);
        if (fn)
            fn->exception.n = 0;
    }
}

/* nif_publish([Program], [MFA]) -> ok | 'AGENT_MEMORY': these programs see events from now on,
 * others no more; the functions have no exception probes, whatever the programs say */
static ERL_NIF_TERM nif_publish(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned n = 0;
    ERL_NIF_TERM head, list = argv[0];
    if (!is_server(env) || !enif_get_list_length(env, list, &n))
        return enif_make_badarg(env);
    settle();
    if (n == 0) {
        publish(NULL);
        return agent.atom.ok;
    }
    struct program **p = et_calloc(n, sizeof *p);
    struct snapshot *s = NULL;
    bool good = p != NULL;
    for (unsigned i = 0; good && enif_get_list_cell(env, list, &head, &list); i++) {
        p[i] = program_arg(env, head);
        good = p[i] && reserve_tables(p[i]);
    }
    if (good)
        s = snapshot_new(env, p, n);
    et_free(p);
    if (!s)
        return agent.atom.agent_memory;
    take_off(env, s, argv[1]);
    publish(s);
    return agent.atom.ok;
}

/* nif_settled() -> boolean(): nobody can see what was taken away */
static ERL_NIF_TERM nif_settled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!is_server(env))
        return enif_make_badarg(env);
    return settle() ? agent.atom.true_ : agent.atom.false_;
}

/* nif_fire(Program, Index) -> ok: BEGIN, END or a tick */
static ERL_NIF_TERM nif_fire(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned i;
    struct program *p = program_arg(env, argv[0]);
    if (!p || !enif_get_uint(env, argv[1], &i) || i >= p->nprobes || p->probe[i].kind > PROBE_TICK)
        return enif_make_badarg(env);
    tracer_fire_plain(p, &p->probe[i], agent.server.pid);
    return agent.atom.ok;
}

/* nif_phase(Program, idle | begin | running | end | stopped) -> ok */
static ERL_NIF_TERM nif_phase(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = program_arg(env, argv[0]);
    const ERL_NIF_TERM phases[] = {
        [ENGINE_IDLE] = agent.atom.idle,       [ENGINE_BEGIN] = agent.atom.begin,
        [ENGINE_RUNNING] = agent.atom.running, [ENGINE_END] = agent.atom.end,
        [ENGINE_STOPPED] = agent.atom.stopped,
    };
    for (unsigned i = 0; p && i < sizeof phases / sizeof *phases; i++)
        if (phases[i] == argv[1]) {
            engine_set_phase(p->engine, (enum engine_phase)i);
            return agent.atom.ok;
        }
    return enif_make_badarg(env);
}

/* nif_flip(Program, What) -> ok: begins a reading */
static ERL_NIF_TERM nif_flip(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned what;
    struct program *p = program_arg(env, argv[0]);
    if (!p || !enif_get_uint(env, argv[1], &what) || what == 0 || what > 3 || p->flipped)
        return enif_make_badarg(env);
    engine_flip(p->engine, what);
    engine_mark(&p->mark);
    p->flipped = true;
    p->what = what;
    return agent.atom.ok;
}

/* nif_quiet(Program) -> boolean(): what was flipped can be drained */
static ERL_NIF_TERM nif_quiet(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = program_arg(env, argv[0]);
    if (!p)
        return enif_make_badarg(env);
    return !p->flipped || engine_quiet(&p->mark) ? agent.atom.true_ : agent.atom.false_;
}

/* nif_drain(Program, Limit) -> {binary(), More :: boolean()}; only after nif_quiet said true */
static ERL_NIF_TERM nif_drain(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned limit;
    struct program *p = program_arg(env, argv[0]);
    if (!p || !enif_get_uint(env, argv[1], &limit) || (p->flipped && !engine_quiet(&p->mark)))
        return enif_make_badarg(env);
    struct buf out = BUF_INIT;
    bool done = !p->flipped || engine_drain(p->engine, p->what, limit, &out);
    if (done)
        p->flipped = false;
    ERL_NIF_TERM t;
    unsigned char *data = enif_make_new_binary(env, out.len, &t);
    if (out.len)
        memcpy(data, out.data, out.len);
    buf_free(&out);
    return enif_make_tuple2(env, t, done ? agent.atom.false_ : agent.atom.true_);
}

/* nif_counts(Program) -> {Fired, Recorded, Updates, Errors, Drop...} */
static ERL_NIF_TERM nif_counts(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = program_arg(env, argv[0]);
    if (!p)
        return enif_make_badarg(env);
    struct engine_counts c;
    ERL_NIF_TERM v[4 + ENGINE_NDROPS];
    engine_counts(p->engine, &c);
    v[0] = enif_make_uint64(env, c.fired);
    v[1] = enif_make_uint64(env, c.recorded);
    v[2] = enif_make_uint64(env, c.updates);
    v[3] = enif_make_uint64(env, c.errors);
    for (unsigned i = 0; i < ENGINE_NDROPS; i++)
        v[4 + i] = enif_make_uint64(env, c.drop[i]);
    return enif_make_tuple_from_array(env, v, 4 + ENGINE_NDROPS);
}

/* nif_status(Program) -> {Exiting, Pending} */
static ERL_NIF_TERM nif_status(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = program_arg(env, argv[0]);
    if (!p)
        return enif_make_badarg(env);
    return enif_make_tuple2(env, engine_exiting(p->engine) ? agent.atom.true_ : agent.atom.false_,
                            p->flipped || engine_pending(p->engine, ENGINE_PRINCIPAL | ENGINE_AGGS)
                                ? agent.atom.true_
                                : agent.atom.false_);
}

/* -- upkeep
 * ------------------------------------------------------------------------------------------------
 */

/* nif_overruns() -> [{M, F, A}]: functions whose exception frames pile up */
static ERL_NIF_TERM nif_overruns(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!is_server(env))
        return enif_make_badarg(env);
    ERL_NIF_TERM list = enif_make_list(env, 0);
    struct snapshot *s = atomic_load(&agent.snapshot);
    for (uint32_t i = 0; s && s->exceptions && i < s->nfunctions; i++) {
        struct function *fn = &s->function[i];
        if (atomic_exchange_explicit(&fn->overrun, false, memory_order_relaxed))
            list = enif_make_list_cell(
                env, enif_make_tuple3(env, fn->m, fn->f, enif_make_uint(env, fn->arity)), list);
    }
    return list;
}

/* nif_lost() -> {Threads, Returns, Calls}: events that reached no program, since load */
static ERL_NIF_TERM nif_lost(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return enif_make_tuple3(env, enif_make_uint64(env, atomic_load(&agent.lost_threads)),
                            enif_make_uint64(env, atomic_load(&agent.lost_returns)),
                            enif_make_uint64(env, atomic_load(&agent.lost_calls)));
}

static bool alive(void *arg, uint64_t pid)
{
    ErlNifPid p;
    return enif_get_local_pid(arg, (ERL_NIF_TERM)pid, &p) && enif_is_process_alive(arg, &p);
}

/* nif_sweep() -> ok: forgets processes that are dead */
static ERL_NIF_TERM nif_sweep(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!is_server(env))
        return enif_make_badarg(env);
    if (atomic_load(&agent.processes))
        proctab_sweep(atomic_load(&agent.processes), alive, env);
    if (atomic_load(&agent.shadows))
        proctab_sweep(atomic_load(&agent.shadows), alive, env);
    return agent.atom.ok;
}

/* -- the library
 * --------------------------------------------------------------------------------------------- */

static int load(ErlNifEnv *env, void **priv, ERL_NIF_TERM info)
{
    (void)priv;
    (void)info;
    struct atoms *a = &agent.atom;
#define ATOM(name, text) a->name = enif_make_atom(env, text);
#include "beam/atoms.list"
#undef ATOM
    ErlNifResourceTypeInit program = {.dtor = program_destroy};
    agent.program_type =
        enif_open_resource_type_x(env, "erltrace_program", &program, ERL_NIF_RT_CREATE, NULL);
    return agent.program_type ? 0 : 1;
}

/* The module is being purged. The VM keeps the library mapped while resources of it exist. An event
 * that will not end keeps what it can see: that memory is given up rather than taken away. */
static void unload(ErlNifEnv *env, void *priv)
{
    (void)env;
    (void)priv;
    atomic_store(&agent.gate, false);
    atomic_store(&agent.dead, true);
    publish(NULL);
    static struct engine_mark mark;
    engine_mark(&mark);
    bool quiet = settle() && engine_quiet(&mark);
    for (int i = 0; !quiet && i < UNLOAD_SPINS; i++) {
        sched_yield();
        quiet = settle() && engine_quiet(&mark);
    }
    if (quiet) {
        proctab_free(atomic_exchange(&agent.processes, NULL));
        proctab_free(atomic_exchange(&agent.shadows, NULL));
    }
}

#define DIRTY ERL_NIF_DIRTY_JOB_CPU_BOUND
static ErlNifFunc functions[] = {
    {"enabled", 3, tracer_enabled, 0}, /* never add trace_call: see tracer.c */
    {"trace", 5, tracer_trace, 0},          {"nif_loaded", 0, nif_loaded, 0},
    {"nif_start", 1, nif_start, 0},         {"nif_alias", 3, nif_alias, 0},
    {"nif_guard", 0, nif_guard, 0},         {"nif_retire", 0, nif_retire, 0},
    {"nif_gate", 1, nif_gate, 0},           {"nif_enable", 4, nif_enable, DIRTY},
    {"nif_publish", 2, nif_publish, DIRTY}, {"nif_settled", 0, nif_settled, 0},
    {"nif_fire", 2, nif_fire, 0},           {"nif_phase", 2, nif_phase, 0},
    {"nif_flip", 2, nif_flip, 0},           {"nif_quiet", 1, nif_quiet, 0},
    {"nif_drain", 2, nif_drain, DIRTY},     {"nif_counts", 1, nif_counts, 0},
    {"nif_status", 1, nif_status, 0},       {"nif_overruns", 0, nif_overruns, 0},
    {"nif_lost", 0, nif_lost, 0},           {"nif_sweep", 0, nif_sweep, 0},
};

ERL_NIF_INIT(erltrace_agent, functions, load, NULL, NULL, unload)
