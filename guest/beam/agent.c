/* agent.c - the NIF library: load and unload, and the functions that the server process calls.
 *
 * Every nif_* function answers badarg to any process but the server, so that nobody can free memory
 * under an event from a shell. Functions that may take long (taking in a program, making a
 * snapshot, draining) run on a dirty scheduler. */
#include "beam/agent.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "beam/probe/alias.h"
#include "beam/probe/frames.h"
#include "beam/probe/frozen.h"
#include "beam/probe/missed.h"
#include "beam/probe/shapes.h"
#include "beam/probe/term_read.h"
#include "beam/probe/procname.h"
#include "beam/probe/ports.h"
#include "beam/probe/records.h"
#include "beam/probe/blocked.h"
#include "beam/probe/held.h"
#include "beam/probe/code.h"
#include "beam/probe/collecting.h"
#include "beam/probe/objects.h"
#include "beam/probe/oncpu.h"
#include "beam/probe/oncpu_dirty.h"
#include "beam/probe/inside.h"
#include "beam/values.h"

struct agent agent;

enum {
    UNLOAD_SPINS = 1000, /* times that unload yields to threads that are inside an event */
    CLOSE_MS = 200       /* that it waits, at most, for threads that are inside a signal handler */
};

bool agent_is_server(ErlNifEnv *env)
{
    ErlNifPid self;
    return atomic_load(&agent.started) && enif_self(env, &self) &&
           enif_compare(self.pid, agent.server.pid) == 0;
}

struct program *agent_program(ErlNifEnv *env, ERL_NIF_TERM t)
{
    void *p;
    return agent_is_server(env) && enif_get_resource(env, t, agent.program_type, &p) ? p : NULL;
}

/* -- snapshots
 * ---------------------------------------------------------------------------------------- */

/* Frees the retired snapshots and tables that no event can see any more. Returns true when none is
 * left. */
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
    return frames_settle() && agent.retired == NULL;
}

static void publish(struct snapshot *s)
{
    uint64_t serial = atomic_load(&agent.serial) + 1;
    if (s)
        s->serial = serial;
    struct snapshot *old = atomic_exchange(&agent.snapshot, s);
    atomic_store(&agent.serial, serial);
    if (old) {
        engine_mark(&old->mark);
        old->next = agent.retired;
        agent.retired = old;
    }
}

/* -- life
 * -----------------------------------------------------------------------------------------------
 */

bool agent_is_boolean(ERL_NIF_TERM t)
{
    return t == agent.atom.true_ || t == agent.atom.false_;
}

/* nif_loaded() -> true: this copy of the module has the library. */
static ERL_NIF_TERM nif_loaded(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    (void)argv;
    return agent.atom.true_;
}

/* nif_passes() -> integer(): the address of the function that events are passed to. */
static ERL_NIF_TERM nif_passes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return agent_is_server(env) ? enif_make_uint64(env, (uint64_t)(uintptr_t)erltrace_event)
                                : enif_make_badarg(env);
}

/* nif_clock() -> {Before, Wall, After}: what the clocks of the variables timestamp, walltimestamp
 * and again timestamp show, one after another. */
static ERL_NIF_TERM nif_clock(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    const uint64_t before = monotonic_ns(), wall = clock_ns(CLOCK_REALTIME), after = monotonic_ns();
    return enif_make_tuple3(env, enif_make_uint64(env, before), enif_make_uint64(env, wall),
                            enif_make_uint64(env, after));
}

/* nif_start(Otp, Node) -> ok: the calling process becomes the server of the node of this name. */
static ERL_NIF_TERM nif_start(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifPid self;
    int otp;
    if (!enif_get_int(env, argv[0], &otp) || !enif_is_atom(env, argv[1]) || !enif_self(env, &self))
        return enif_make_badarg(env);
    if (atomic_exchange(&agent.starting, true)) /* a library serves one server only */
        return enif_make_badarg(env);
    /* The name stays: consumers connect through distribution, and leave when it is restarted. */
    agent.node = argv[1];
    agent.features = otp_features(otp);
    agent.sizes = term_sizes_of(otp);
    frozen_learn(&agent.sizes);
    term_init(env, otp);
    term_text_init(otp);
    if (!term_atom(env, agent.node, agent.node_text, sizeof agent.node_text))
        agent.node_text[0] = '\0';
    shapes_init(otp);
    load_calibrate();
    agent.sessions = agent_has(OTP_TRACE_SESSIONS);
    agent.server = self;
    atomic_store(&agent.started, true);
    return agent.atom.ok;
}

/* nif_funs([[Fun | Captured]]) -> boolean(): learns from these how funs are made; see
 * read_learn_funs. Only the server, before anything is traced. */
static ERL_NIF_TERM nif_funs(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!agent_is_server(env) || atomic_load(&agent.snapshot) != NULL)
        return enif_make_badarg(env);
    return read_learn_funs(env, argv[0], agent.sizes.local_fun) ? agent.atom.true_
                                                                : agent.atom.false_;
}

/* nif_guard() -> ok: the calling process becomes the guard, which may retire what the server leaves
 * behind. */
static ERL_NIF_TERM nif_guard(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    ErlNifPid self;
    if (!enif_self(env, &self) || atomic_exchange(&agent.guarding, true))
        return enif_make_badarg(env);
    agent.guard = self;
    atomic_store(&agent.guarded, true);
    return agent.atom.ok;
}

/* A process can be killed while its dirty NIF continues. The guard waits until that NIF has ended
 * before it changes what both change. */
static _Atomic bool publishing;

/* nif_retire() -> boolean(): the guard ends everything; true when no event can see anything any
 * more. Otherwise the snapshot would hold programs, the programs the library, and the library the
 * snapshot. */
static ERL_NIF_TERM nif_retire(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    ErlNifPid self;
    if (!atomic_load(&agent.guarded) || !enif_self(env, &self) ||
        enif_compare(self.pid, agent.guard.pid) != 0)
        return enif_make_badarg(env);
    atomic_store(&agent.gate, false);
    atomic_store(&agent.dead, true);
    if (atomic_load(&publishing)) /* the server was killed inside nif_publish, which continues */
        return agent.atom.false_;
    if (atomic_load(&agent.snapshot))
        publish(NULL);
    frames_end();
    bool closed = oncpu_close();
    return settle() && closed ? agent.atom.true_ : agent.atom.false_;
}

/* nif_alias(Alias, Pid, Reference) -> boolean(): learns whose alias a reference is; see alias.h. */
static ERL_NIF_TERM nif_alias(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    return alias_learn(env, argv[0], argv[1], argv[2]) ? agent.atom.true_ : agent.atom.false_;
}

/* nif_gate(boolean()) -> ok */
static ERL_NIF_TERM nif_gate(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!agent_is_server(env) || !agent_is_boolean(argv[0]))
        return enif_make_badarg(env);
    atomic_store(&agent.gate, argv[0] == agent.atom.true_);
    return agent.atom.ok;
}

/* -- programs
 * --------------------------------------------------------------------------------------------- */

/* Returns whether the probe tells at the end of a call how it began. */
static bool ends_with(const struct program_probe *p)
{
    const enum probe_kind event = probe_fn_event(p->kind);
    return (event == PROBE_FN_RETURN || event == PROBE_FN_EXCEPTION) &&
           (p->uses & (PROBE_USE_ARGS | PROBE_USE_TIME)) != 0;
}

bool agent_reserve_processes(void)
{
    if (!atomic_load(&agent.processes))
        atomic_store(&agent.processes, proctab_new(PROCESSES, sizeof(struct process)));
    return atomic_load(&agent.processes) != NULL;
}

static bool reserve_tables(const struct program *p)
{
    bool returns = false, kept = false, held = false;
    for (const struct program_probes *pp = &p->probes; pp; pp = pp->next)
        for (uint32_t i = 0; i < pp->n; i++) {
            returns = returns || probe_fn_event(pp->v[i].kind) == PROBE_FN_RETURN;
            kept = kept || ends_with(&pp->v[i]);
            held = held || pp->v[i].kind == PROBE_SEND_IN_PARTS;
        }
    if (returns && !atomic_load(&agent.shadows))
        atomic_store(&agent.shadows, proctab_new(SHADOWS, sizeof(struct shadow)));
    if (kept && !atomic_load(&agent.kept))
        atomic_store(&agent.kept, proctab_new(KEPT_PROCESSES, sizeof(struct kept_calls)));
    return (!p->vtime || agent_reserve_processes()) && (!returns || atomic_load(&agent.shadows)) &&
           (!kept || atomic_load(&agent.kept)) && (!held || held_reserve());
}

/* nif_enable(Image, Options, Bindings, Provider); see program.c */
static ERL_NIF_TERM nif_enable(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return agent_is_server(env) ? program_enable(env, argv[0], argv[1], argv[2], argv[3])
                                : enif_make_badarg(env);
}

/* nif_stacks(Program) -> boolean(): it takes stacks. */
static ERL_NIF_TERM nif_stacks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = agent_program(env, argv[0]);
    return !p ? enif_make_badarg(env) : p->stacks ? agent.atom.true_ : agent.atom.false_;
}

/* nif_inside(Program) -> boolean(): it uses facts of inside.h. */
static ERL_NIF_TERM nif_inside(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = agent_program(env, argv[0]);
    return !p ? enif_make_badarg(env) : p->inside ? agent.atom.true_ : agent.atom.false_;
}

/* Calls fn for each function of a list that the snapshot contains. */
static void each_function(ErlNifEnv *env, struct snapshot *s, ERL_NIF_TERM list,
                          void (*fn)(struct function *f))
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    while (snapshot_next(env, &list, &m, &f, &arity)) {
        struct function *found = snapshot_function(s, m, f, arity);
        if (found)
            fn(found);
    }
}

/* Leaves only the returns that come with values, or only the others. */
static void keep_returns(struct function *f, bool values)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->ret.n; i++)
        if (((f->ret.v[i].uses & PROBE_USE_VALUE) != 0) == values)
            f->ret.v[n++] = f->ret.v[i];
    f->ret.n = n;
}

/* Removes what needs a frame for each call. */
static void take_off(struct function *f)
{
    f->exception.n = 0;
    keep_returns(f, false);
    f->framed = f->keeps_args = f->keeps_time = false;
}

static void see_locally(struct function *f)
{
    f->local = true;
}

static void see_by_meta(struct snapshot *s)
{
    for (uint32_t i = 0; i < s->nfunctions; i++) {
        s->function[i].local = s->function[i].global_only = false;
        keep_returns(&s->function[i], true);
    }
    s->returns = false;
}

/* Does the work of nif_publish. */
static ERL_NIF_TERM publish_programs(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
    unsigned n = 0;
    ERL_NIF_TERM head, list = argv[0];
    if (!enif_get_list_length(env, list, &n))
        return enif_make_badarg(env);
    if (atomic_load(&agent.dead))
        return agent.atom.ok;
    settle();
    if (n == 0) {
        publish(NULL);
        return agent.atom.ok;
    }
    struct program **p = et_calloc(n, sizeof *p);
    struct snapshot *s = NULL;
    bool good = p != NULL;
    for (unsigned i = 0; good && enif_get_list_cell(env, list, &head, &list); i++) {
        p[i] = agent_program(env, head);
        good = p[i] && reserve_tables(p[i]);
    }
    if (good)
        s = snapshot_new(env, p, n);
    et_free(p);
    if (!s)
        return agent.atom.agent_memory;
    each_function(env, s, argv[1], take_off);
    if (argv[2] == agent.atom.meta)
        see_by_meta(s);
    else
        each_function(env, s, argv[2], see_locally);
    /* While no program may get events, calls go unseen. */
    const bool seen =
        atomic_load(&agent.gate) && atomic_load(&agent.spent) != atomic_load(&agent.serial);
    const struct snapshot *before = seen ? atomic_load(&agent.snapshot) : NULL;
    snapshot_number(s, before);
    if (!before || !held_wanted(before))
        held_forget();
    if (atomic_load(&agent.dead))
        snapshot_free(s);
    else
        publish(s);
    return agent.atom.ok;
}

/* nif_publish([Program], [MFA], [MFA] | meta) -> ok | 'AGENT_MEMORY': from now on exactly these
 * programs see events. The first functions have no exception probes, whatever the programs ask for.
 * The second ones are seen through local patterns even if no program wants their returns; `meta`:
 * none is, even if a program wants its returns. */
static ERL_NIF_TERM nif_publish(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    atomic_store(&publishing, true);
    ERL_NIF_TERM result = publish_programs(env, argv);
    atomic_store(&publishing, false);
    return result;
}

/* See frames.h. */
static ERL_NIF_TERM nif_framed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    atomic_store(&publishing, true);
    ERL_NIF_TERM result = frames_nif(env, argc, argv);
    atomic_store(&publishing, false);
    return result;
}

/* nif_extend(Program, Bindings) -> ok | {error, Tag, Text, Hint}; see program.c */
static ERL_NIF_TERM nif_extend(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = agent_program(env, argv[0]);
    return p ? program_extend(env, p, argv[1]) : enif_make_badarg(env);
}

/* nif_records_old(Program, [Index]) -> ok: exactly these records of the program may have changed.
 */
static ERL_NIF_TERM nif_records_old(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = agent_program(env, argv[0]);
    return agent_is_server(env) && p && records_old(env, &p->view, argv[1]) ? agent.atom.ok
                                                                            : enif_make_badarg(env);
}

/* nif_loading(boolean()) -> ok: starts or stops counting the calls of newly loaded code that fire
 * nothing. */
static ERL_NIF_TERM nif_loading(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!agent_is_server(env) || !agent_is_boolean(argv[0]))
        return enif_make_badarg(env);
    atomic_store(&agent.loading, argv[0] == agent.atom.true_);
    frames_forget(); /* calls of new code have left none for a moment */
    return agent.atom.ok;
}

/* nif_missed([MFA]) -> {Beyond, [{MFA, Calls}]}: returns and resets the counts of calls of these
 * functions that were seen before their probes were set; Beyond: calls of functions for which the
 * table had no room. */
static ERL_NIF_TERM nif_missed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ERL_NIF_TERM head, list = argv[0], out = enif_make_list(env, 0);
    const ERL_NIF_TERM *e;
    int n;
    unsigned arity;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    while (enif_get_list_cell(env, list, &head, &list)) {
        uint64_t calls =
            enif_get_tuple(env, head, &n, &e) && n == 3 && enif_get_uint(env, e[2], &arity)
                ? missed_take(e[0], e[1], arity)
                : 0;
        if (calls)
            out = enif_make_list_cell(
                env, enif_make_tuple2(env, head, enif_make_uint64(env, calls)), out);
    }
    return enif_make_tuple2(env, enif_make_uint64(env, missed_beyond()), out);
}

/* nif_count_missed(Program, Calls) -> ok */
static ERL_NIF_TERM nif_count_missed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifUInt64 calls;
    struct program *p = agent_program(env, argv[0]);
    if (!p || !enif_get_uint64(env, argv[1], &calls))
        return enif_make_badarg(env);
    engine_count_missed(p->engine, RECORD_DROP_LOAD, calls);
    return agent.atom.ok;
}

/* nif_count_unknown(Program, Messages) -> ok: the server got messages of an unknown shape. */
static ERL_NIF_TERM nif_count_unknown(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifUInt64 n;
    struct program *p = agent_program(env, argv[0]);
    if (!p || !enif_get_uint64(env, argv[1], &n))
        return enif_make_badarg(env);
    engine_count_missed(p->engine, RECORD_DROP_SHAPE, n);
    return agent.atom.ok;
}

/* nif_settled() -> boolean(): no event can see what was removed. */
static ERL_NIF_TERM nif_settled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    return settle() ? agent.atom.true_ : agent.atom.false_;
}

/* nif_fire(Program, Index) -> ok: BEGIN, END or a tick */
static ERL_NIF_TERM nif_fire(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned i;
    struct program *p = agent_program(env, argv[0]);
    if (!p || !enif_get_uint(env, argv[1], &i) || i >= p->probes.n ||
        p->probes.v[i].kind > PROBE_TICK)
        return enif_make_badarg(env);
    tracer_fire_plain(env, p, &p->probes.v[i]);
    return agent.atom.ok;
}

/* nif_phase(Program, idle | begin | running | end | stopped) -> ok */
static ERL_NIF_TERM nif_phase(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = agent_program(env, argv[0]);
    const ERL_NIF_TERM phases[] = {
        [ENGINE_IDLE] = agent.atom.idle,       [ENGINE_BEGIN] = agent.atom.begin,
        [ENGINE_RUNNING] = agent.atom.running, [ENGINE_END] = agent.atom.end,
        [ENGINE_STOPPED] = agent.atom.stopped,
    };
    for (unsigned i = 0; p && i < sizeof phases / sizeof *phases; i++)
        if (phases[i] == argv[1]) {
            if (i == ENGINE_RUNNING && p->profile != NULL) {
                p->profile->began = monotonic_ns();
                p->profile->used = p->profile->until = oncpu_used();
            }
            if (i == ENGINE_RUNNING)
                load_start(&p->load, monotonic_ns());
            else
                load_stop(&p->load, monotonic_ns());
            engine_set_phase(p->engine, (enum engine_phase)i);
            return agent.atom.ok;
        }
    return enif_make_badarg(env);
}

/* nif_flip(Program, What) -> ok: begins a reading. */
static ERL_NIF_TERM nif_flip(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned what;
    struct program *p = agent_program(env, argv[0]);
    if (!p || !enif_get_uint(env, argv[1], &what) || what == 0 || what > 3 || p->flipped)
        return enif_make_badarg(env);
    engine_flip(p->engine, what);
    engine_mark(&p->mark);
    p->flipped = true;
    p->what = what;
    return agent.atom.ok;
}

/* nif_quiet(Program) -> boolean(): the flipped halves can be drained. */
static ERL_NIF_TERM nif_quiet(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = agent_program(env, argv[0]);
    if (!p)
        return enif_make_badarg(env);
    return !p->flipped || engine_quiet(&p->mark) ? agent.atom.true_ : agent.atom.false_;
}

/* nif_drain(Program, Limit) -> {binary(), More :: boolean()}; only after nif_quiet returned true.
 */
static ERL_NIF_TERM nif_drain(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned limit;
    struct program *p = agent_program(env, argv[0]);
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

/* nif_counts(Program) -> {Fired, Recorded, Updates, Errors, Filled, Overwritten, Drop...,
 * [{Cpu, DropPrincipal, DropAgg}], Own} */
static ERL_NIF_TERM nif_counts(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = agent_program(env, argv[0]);
    if (!p)
        return enif_make_badarg(env);
    struct record_counts c;
    engine_counts(p->engine, &c);
    const uint64_t first[] = {
#define X(name) c.name,
        RECORD_COUNTERS(X)
#undef X
    };
    enum { FIRST = sizeof first / sizeof *first };
    ERL_NIF_TERM v[FIRST + RECORD_NDROPS + 2], list = enif_make_list(env, 0);
    for (unsigned i = 0; i < FIRST; i++)
        v[i] = enif_make_uint64(env, first[i]);
    for (unsigned i = 0; i < RECORD_NDROPS; i++)
        v[FIRST + i] = enif_make_uint64(env, c.drop[i]);
    for (unsigned i = RECORD_CPUS; i-- > 0;)
        if (c.cpu[i].principal + c.cpu[i].agg > 0)
            list = enif_make_list_cell(env,
                                       enif_make_tuple3(env, enif_make_uint(env, i),
                                                        enif_make_uint64(env, c.cpu[i].principal),
                                                        enif_make_uint64(env, c.cpu[i].agg)),
                                       list);
    v[FIRST + RECORD_NDROPS] = list;
    v[FIRST + RECORD_NDROPS + 1] = enif_make_uint64(env, c.own);
    return enif_make_tuple_from_array(env, v, FIRST + RECORD_NDROPS + 2);
}

/* nif_stolen() -> ok: measures, at most once a second, how much of the processors a hypervisor
 * takes; see load.h. */
static ERL_NIF_TERM nif_stolen(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    cost_stolen();
    return agent.atom.ok;
}

/* nif_load(Program, N, From) -> the cost since the mark before the last one (0), the last one (1)
 * or the start (2), with the N most expensive probes; also makes a mark. Result: {Ns, Fired,
 * [{ThreadKind, Number, Events, Ns, Time}], [{Kind, Events, Ns}], [{ProbeId, Events, Ns}], VmNs,
 * Over}; Over: [], or {ThreadKind, Number, Time, Permille, Limit}. */
static ERL_NIF_TERM nif_load(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned top, from;
    struct program *p = agent_program(env, argv[0]);
    if (!p || !enif_get_uint(env, argv[1], &top) || !enif_get_uint(env, argv[2], &from) ||
        from > LOAD_START)
        return enif_make_badarg(env);
    return program_load(env, p, top, (enum load_from)from);
}

/* nif_status(Program) -> {Exiting, Pending}; Exiting: true, overload, false */
static ERL_NIF_TERM nif_status(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = agent_program(env, argv[0]);
    if (!p)
        return enif_make_badarg(env);
    return enif_make_tuple2(env,
                            load_is_over(&p->load)      ? agent.atom.overload
                            : engine_exiting(p->engine) ? agent.atom.true_
                                                        : agent.atom.false_,
                            p->flipped || engine_pending(p->engine, RECORD_PRINCIPAL | RECORD_AGGS)
                                ? agent.atom.true_
                                : agent.atom.false_);
}

/* -- upkeep
 * ------------------------------------------------------------------------------------------------
 */

/* nif_lost() -> {Threads, Returns, Calls, Names, Held}: events that reached no program, and names
 * of processes that could not be kept, since load. */
static ERL_NIF_TERM nif_lost(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return enif_make_tuple5(env, enif_make_uint64(env, atomic_load(&agent.lost_threads)),
                            enif_make_uint64(env, atomic_load(&agent.lost_returns)),
                            enif_make_uint64(env, atomic_load(&agent.lost_calls)),
                            enif_make_uint64(env, atomic_load(&agent.lost_names)),
                            enif_make_uint64(env, atomic_load(&agent.lost_held)));
}

static bool alive(void *arg, uint64_t pid)
{
    ErlNifPid p;
    return enif_get_local_pid(arg, (ERL_NIF_TERM)pid, &p) && enif_is_process_alive(arg, &p);
}

/* nif_sweep(Part) -> ok: forgets dead processes and closed ports in one of the AGENT_PARTS parts of
 * the tables. */
static ERL_NIF_TERM nif_sweep(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned part;
    if (!agent_is_server(env) || !enif_get_uint(env, argv[0], &part) || part >= AGENT_PARTS)
        return enif_make_badarg(env);
    if (atomic_load(&agent.processes))
        proctab_sweep(atomic_load(&agent.processes), part, AGENT_PARTS, alive, env);
    if (atomic_load(&agent.shadows))
        proctab_sweep(atomic_load(&agent.shadows), part, AGENT_PARTS, alive, env);
    if (atomic_load(&agent.kept))
        proctab_sweep(atomic_load(&agent.kept), part, AGENT_PARTS, alive, env);
    ports_sweep(env, part, AGENT_PARTS);
    blocked_sweep(part, AGENT_PARTS);
    held_sweep(env, part, AGENT_PARTS, alive);
    procname_sweep(env, part, AGENT_PARTS);
    enif_consume_timeslice(env, AGENT_PART_PERCENT);
    return agent.atom.ok;
}

/* nif_alive(Pid) -> boolean(), for a process of this node. Unlike is_process_alive/1 it does not
 * wait until the process has handled the signals on their way to it. */
static ERL_NIF_TERM nif_alive(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!agent_is_server(env) || !enif_is_pid(env, argv[0]))
        return enif_make_badarg(env);
    return alive(env, argv[0]) ? agent.atom.true_ : agent.atom.false_;
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
    agent.nil = enif_make_list(env, 0);
    ErlNifResourceTypeInit program = {.dtor = program_destroy};
    agent.program_type =
        enif_open_resource_type_x(env, "erltrace_program", &program, ERL_NIF_RT_CREATE, NULL);
    return agent.program_type && oncpu_load(env) ? 0 : 1;
}

/* Called when the module is purged. The VM keeps the library mapped while resources of it exist. If
 * an event does not end, the memory that it can see is leaked rather than freed. */
static void unload(ErlNifEnv *env, void *priv)
{
    (void)env;
    (void)priv;
    atomic_store(&agent.gate, false);
    atomic_store(&agent.dead, true);
    publish(NULL);
    frames_end();
    static struct engine_mark mark;
    engine_mark(&mark);
    oncpu_others_unload();
    for (int i = 0; !oncpu_close() && i < CLOSE_MS; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    bool quiet = settle() && engine_quiet(&mark);
    for (int i = 0; !quiet && i < UNLOAD_SPINS; i++) {
        sched_yield();
        quiet = settle() && engine_quiet(&mark);
    }
    if (quiet) {
        proctab_free(atomic_exchange(&agent.processes, NULL));
        proctab_free(atomic_exchange(&agent.shadows, NULL));
        proctab_free(atomic_exchange(&agent.kept, NULL));
        porttab_free(atomic_exchange(&agent.ports, NULL));
        proctab_free(atomic_exchange(&agent.blocked, NULL));
        proctab_free(atomic_exchange(&agent.held, NULL));
        procname_free();
        term_text_done();
        code_unload();
        objects_forget();
        engine_threads_end();
    }
}

#define DIRTY ERL_NIF_DIRTY_JOB_CPU_BOUND
static ErlNifFunc functions[] = {
    {"enabled", 3, tracer_enabled, 0}, /* never add trace_call: see tracer.c */
    {"trace", 5, tracer_trace, 0},
    {"nif_loaded", 0, nif_loaded, 0},
    {"nif_passes", 0, nif_passes, 0},
    {"nif_clock", 0, nif_clock, 0},
    {"nif_start", 2, nif_start, 0},
    {"nif_funs", 1, nif_funs, 0},
    {"nif_alias", 3, nif_alias, 0},
    {"nif_guard", 0, nif_guard, 0},
    {"nif_retire", 0, nif_retire, 0},
    {"nif_gate", 1, nif_gate, 0},
    {"nif_enable", 4, nif_enable, DIRTY},
    {"nif_publish", 3, nif_publish, DIRTY},
    {"nif_settled", 0, nif_settled, 0},
    {"nif_fire", 2, nif_fire, 0},
    {"nif_phase", 2, nif_phase, 0},
    {"nif_flip", 2, nif_flip, 0},
    {"nif_quiet", 1, nif_quiet, 0},
    {"nif_drain", 2, nif_drain, DIRTY},
    {"nif_counts", 1, nif_counts, 0},
    {"nif_load", 3, nif_load, DIRTY},
    {"nif_stolen", 0, nif_stolen, 0},
    {"nif_status", 1, nif_status, 0},
    {"nif_framed", 3, nif_framed, DIRTY},
    {"nif_overruns", 0, frames_overruns_nif, 0},
    {"nif_lost", 0, nif_lost, 0},
    {"nif_sweep", 1, nif_sweep, 0},
    {"nif_ports", 1, ports_nif, 0},
    {"nif_unknown_ports", 1, ports_unknown_nif, 0},
    {"nif_event", 3, values_nif, 0},
    {"nif_event_of", 4, values_of_nif, 0},
    {"nif_block", 3, blocked_block_nif, 0},
    {"nif_unblock", 1, blocked_unblock_nif, 0},
    {"nif_blocked", 1, blocked_nif, 0},
    {"nif_forget_blocked", 1, blocked_forget_nif, 0},
    {"nif_extend", 2, nif_extend, DIRTY},
    {"nif_loading", 1, nif_loading, 0},
    {"nif_records_old", 2, nif_records_old, 0},
    {"nif_counted", 3, counted_nif, 0},
    {"nif_reading", 2, reading_nif, 0},
    {"nif_missed", 1, nif_missed, DIRTY},
    {"nif_count_missed", 2, nif_count_missed, 0},
    {"nif_count_unknown", 2, nif_count_unknown, 0},
    {"nif_unknown", 0, shapes_nif, 0},
    {"nif_alive", 1, nif_alive, 0},
    {"nif_inside_known", 0, inside_known_nif, 0},
    {"nif_inside", 1, nif_inside, 0},
    {"nif_stacks", 1, nif_stacks, 0},
    {"nif_code_begin", 1, code_begin_nif, 0},
    {"nif_code_add", 2, code_add_nif, 0},
    {"nif_code_scan", 0, code_scan_nif, 0},
    {"nif_code_end", 0, code_end_nif, 0},
    {"nif_code_stale", 0, code_stale_nif, 0},
    {"nif_code_rest", 0, code_rest_nif, 0},
    {"nif_code_names", 1, code_names_nif, 0},
    {"nif_inside_begin", 2, inside_begin_nif, 0},
    {"nif_inside_look", 0, inside_look_nif, 0},
    {"nif_inside_keep", 1, inside_keep_nif, 0},
    {"nif_inside_rest", 0, inside_rest_nif, 0},
    {"nif_inside_prove", 0, inside_prove_nif, DIRTY},
    {"nif_collecting_ask", 1, collecting_ask_nif, 0},
    {"nif_collecting_begin", 1, collecting_begin_nif, 0},
    {"nif_collecting_end", 0, collecting_end_nif, 0},
    {"nif_collecting_prove", 0, collecting_prove_nif, 0},
    {"nif_collecting_watch", 0, collecting_watch_nif, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"nif_collecting_proven", 0, collecting_proven_nif, 0},
    {"nif_profile_able", 0, oncpu_able_nif, 0},
    {"nif_profile_offered", 1, oncpu_offered_nif, 0},
    {"nif_profile_enter", 0, oncpu_enter_nif, 0},
    {"nif_profile_entered", 0, oncpu_entered_nif, 0},
    {"nif_profile_add", 2, oncpu_add_nif, 0},
    {"nif_profile_dirty", 1, oncpu_dirty_nif, DIRTY},
    {"nif_profile_dirty_io", 1, oncpu_dirty_nif, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"nif_profile_proven", 0, oncpu_proven_nif, 0},
    {"nif_profile_unlearned", 0, oncpu_unlearned_nif, 0},
    {"nif_profile_rates", 1, oncpu_rates_nif, 0},
    {"nif_profile_close", 0, oncpu_close_nif, 0},
    {"nif_profile_take", 2, oncpu_take_nif, 0},
    {"nif_profile_counts", 1, oncpu_counts_nif, 0},
    {"nif_wall_counts", 1, oncpu_wall_counts_nif, 0},
    {"nif_profile_others", 1, oncpu_others_nif, 0},
    {"nif_profile_process", 0, oncpu_process_nif, 0},
    {"nif_names", 1, procname_nif, 0},
    {"nif_asked", 0, procname_asked_nif, 0},
    {"nif_small", 0, procname_small_nif, 0},
    {"nif_asker", 1, ports_asker_nif, 0},
};

/* A VM refuses a library whose interface is newer than its own. The library uses nothing newer than
 * OTP 25, so it declares that interface, whichever release's header it was built with. */
#undef ERL_NIF_MINOR_VERSION
#define ERL_NIF_MINOR_VERSION 16
_Static_assert(ERL_NIF_MAJOR_VERSION == 2, "the interface of OTP 25 is 2.16");

ERL_NIF_INIT(erltrace_agent, functions, load, NULL, NULL, unload)
