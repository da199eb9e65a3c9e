/* values.c - see values.h. */
#include "beam/values.h"

#include <string.h>

#include "beam/pidtext.h"
#include "beam/probe/term_read.h"

struct value_event {
    struct event ev; /* first: see event_of */
    const struct beam_value *value;
    unsigned n;
};

static uint64_t bytes_arg(struct event *ev, const struct read_bytes *bytes)
{
    char *p = event_room(ev, TERM_TEXT);
    bool cut;
    return p ? event_written(ev, p, term_copy(bytes->data, bytes->kept, p, TERM_TEXT, &cut))
             : event_constant(ev, "");
}

static uint64_t text_arg(struct event *ev, ERL_NIF_TERM t)
{
    struct read_bytes bytes;
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool args;
    if (read_binary(ev->env, t, &bytes))
        return bytes_arg(ev, &bytes);
    if (enif_is_atom(ev->env, t)) {
        char *p = event_room(ev, TERM_TEXT);
        if (p && term_atom(ev->env, t, p, TERM_TEXT))
            return event_text(ev, p, strlen(p));
    }
    if (enif_is_pid(ev->env, t) || enif_is_port(ev->env, t))
        return event_pid(ev, t);
    if (event_get_mfa(ev->env, t, &m, &f, &arity, &args) && !args)
        return event_mfa(ev, t, "");
    return event_term(ev, t);
}

static uint64_t arg_value(struct engine_ctx *ctx, unsigned n)
{
    struct value_event *e = (struct value_event *)(void *)ctx;
    ErlNifSInt64 i;
    ErlNifUInt64 u;
    if (n >= e->n)
        return 0;
    if (e->value[n].kind == VALUE_NUMBER)
        return e->value[n].v;
    if (enif_get_int64(e->ev.env, e->value[n].v, &i))
        return (uint64_t)i;
    return enif_get_uint64(e->ev.env, e->value[n].v, &u) ? u : text_arg(&e->ev, e->value[n].v);
}

uint64_t values_vtimestamp(struct engine_ctx *ctx)
{
    const struct process *p = proctab_find(agent_processes(), event_of(ctx)->pid);
    return p ? __atomic_load_n(&p->total, __ATOMIC_RELAXED) : 0;
}

/* `only`: the one engine that fires; NULL: all. */
static void fire(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 enum probe_kind kind, ERL_NIF_TERM pid, const struct beam_value *value, unsigned n,
                 const struct engine *only)
{
    const struct bounds *b = &s->named[kind];
    if (b->n == 0)
        return;
    struct value_event e;
    event_init(&e.ev, t, env, pid, 0, arg_value);
    e.ev.ctx.vtimestamp = values_vtimestamp;
    e.ev.ctx.anywhere = true;
    e.value = value;
    e.n = n;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct bounds one = {.v = &b->v[i], .n = 1};
        if (!only || b->v[i].engine == only)
            event_fire(&e.ev, t, &one);
    }
}

void values_fire(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 enum probe_kind kind, ERL_NIF_TERM pid, const struct beam_value *value, unsigned n)
{
    fire(s, t, env, kind, pid, value, n, NULL);
}

/* argv: Kind, Pid, Arguments */
static ERL_NIF_TERM from_server(ErlNifEnv *env, const ERL_NIF_TERM argv[],
                                const struct engine *only)
{
    unsigned kind;
    int n;
    const ERL_NIF_TERM *e;
    ErlNifPid pid;
    struct beam_value value[ENGINE_ARGS];
    if (!enif_get_uint(env, argv[0], &kind) || kind >= SNAPSHOT_NAMED ||
        !enif_get_tuple(env, argv[2], &n, &e) || n > ENGINE_ARGS)
        return enif_make_badarg(env);
    ERL_NIF_TERM self = enif_get_local_pid(env, argv[1], &pid) ? argv[1] : agent.server.pid;
    for (int i = 0; i < n; i++)
        value[i] = (struct beam_value){VALUE_TERM, e[i]};
    struct engine_thread *t = engine_thread_self();
    if (!t) {
        atomic_fetch_add_explicit(&agent.lost_threads, 1, memory_order_relaxed);
        return agent.atom.ok;
    }
    if (!atomic_load_explicit(&agent.gate, memory_order_relaxed))
        return agent.atom.ok;
    engine_enter(t);
    const struct snapshot *s = atomic_load(&agent.snapshot);
    if (s)
        fire(s, t, env, (enum probe_kind)kind, self, value, (unsigned)n, only);
    engine_leave(t);
    return agent.atom.ok;
}

ERL_NIF_TERM values_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return agent_is_server(env) ? from_server(env, argv, NULL) : enif_make_badarg(env);
}

ERL_NIF_TERM values_of_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    const struct program *p = agent_program(env, argv[0]);
    return p ? from_server(env, argv + 1, p->engine) : enif_make_badarg(env);
}
