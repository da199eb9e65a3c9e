/* tracer_event.c - the context of one event, and the helpers that make its arguments. See tracer.h.
 */
#include "beam/tracer.h"

#include <string.h>

#include "base/clock.h"
#include "beam/pidtext.h"
#include "beam/probe/code.h"
#include "beam/probe/term_read.h"
#include "beam/probe/terms.h"

/* -- arguments --------------------------------------------------------------------------------- */

char *event_room(struct event *ev, size_t n)
{
    if (n > sizeof ev->room - ev->used)
        return NULL;
    char *p = ev->room + ev->used;
    ev->used += (uint32_t)n;
    return p;
}

uint64_t event_text(struct event *ev, const char *p, size_t len)
{
    engine_ctx_range(&ev->ctx, p, len + 1);
    return (uint64_t)(uintptr_t)p;
}

uint64_t event_constant(struct event *ev, const char *s)
{
    return event_text(ev, s, strlen(s));
}

uint64_t event_written(struct event *ev, const char *p, size_t len)
{
    ev->used = (uint32_t)(p + len + 1 - ev->room);
    return event_text(ev, p, len);
}

uint64_t event_pid(struct event *ev, ERL_NIF_TERM t)
{
    char *p = event_room(ev, TERM_TEXT);
    if (p == NULL)
        return event_constant(ev, "");
    if (ev->npids < EVENT_PIDS) {
        ev->pids[ev->npids].text = p;
        ev->pids[ev->npids++].pid = t;
    }
    return event_written(ev, p, pidtext(ev->env, t, ev->t->index, p, TERM_TEXT));
}

uint64_t event_atom(struct event *ev, ERL_NIF_TERM t)
{
    char *p = event_room(ev, TERM_ATOM);
    if (p && term_atom(ev->env, t, p, TERM_ATOM))
        return event_written(ev, p, strlen(p));
    if (p)
        ev->used = (uint32_t)(p - ev->room);
    return event_pid(ev, t);
}

static uint64_t shown(struct event *ev, ERL_NIF_TERM t, const struct terms_view *view)
{
    char *p = event_room(ev, TERM_TEXT);
    return p ? event_written(
                   ev, p, term_shown(ev->env, t, TERM_ERLANG, view, p, TERM_TEXT, &(uint64_t){0}))
             : event_constant(ev, "");
}

uint64_t event_name(struct event *ev, ERL_NIF_TERM t)
{
    return shown(ev, t, NULL);
}

uint64_t event_term(struct event *ev, ERL_NIF_TERM t)
{
    return ev->view && ev->view->hidden && !enif_is_atom(ev->env, t)
               ? event_constant(ev, "[hidden]")
               : shown(ev, t, ev->view);
}

uint64_t event_mfa(struct event *ev, ERL_NIF_TERM t, const char *otherwise)
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool args;
    if (!event_get_mfa(ev->env, t, &m, &f, &arity, &args))
        return event_constant(ev, otherwise);
    char *p = event_room(ev, TERM_TEXT);
    return p ? event_written(ev, p, term_mfa(ev->env, m, f, arity, p, TERM_TEXT))
             : event_constant(ev, "");
}

ERL_NIF_TERM event_start(ErlNifEnv *env, ERL_NIF_TERM mfa)
{
    const ERL_NIF_TERM *e;
    ERL_NIF_TERM head, tail, m, f;
    unsigned arity;
    int n;
    return enif_get_tuple(env, mfa, &n, &e) && n == 3 && e[0] == agent.atom.erts_internal &&
                   e[1] == agent.atom.dist_spawn_init &&
                   enif_get_list_cell(env, e[2], &head, &tail) && tail == agent.nil &&
                   read_mfa(head, &m, &f, &arity)
               ? head
               : mfa;
}

bool event_count_args(ErlNifEnv *env, ERL_NIF_TERM list, unsigned *n)
{
    ERL_NIF_TERM head;
    for (*n = 0; list != agent.nil; ++*n)
        if (*n == READ_ARITY_MOST || !enif_get_list_cell(env, list, &head, &list))
            return false;
    return true;
}

bool event_get_mfa(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *m, ERL_NIF_TERM *f,
                   unsigned *arity, bool *args)
{
    const ERL_NIF_TERM *e;
    int n;
    ERL_NIF_TERM list;
    *args = false;
    if (read_mfa(t, m, f, arity))
        return true;
    if (read_call(t, m, f, arity, &list)) {
        *args = true;
        return true;
    }
    if (!enif_get_tuple(env, t, &n, &e) || n != 3)
        return false;
    *m = e[0];
    *f = e[1];
    if (!event_is_word(*m) || !event_is_word(*f))
        return false;
    /* Each call into the VM is part of an event's cost: none is made in vain. */
    *args = !event_is_word(e[2]) || e[2] == agent.nil;
    if (!*args)
        return enif_get_uint(env, e[2], arity) && *arity <= READ_ARITY_MOST;
    return event_count_args(env, e[2], arity);
}

static bool is_readable(const struct engine_ctx *ctx, const char *s)
{
    for (unsigned i = 0; i < ctx->nranges; i++)
        if (ctx->range[i].base == (uint64_t)(uintptr_t)s)
            return true;
    return false;
}

uint64_t event_of_thread(struct engine_ctx *ctx, struct engine_thread *t, unsigned builtin)
{
    struct scheduler here = scheduler_self(&tracer_thread(t)->sched);
    if (builtin == DIF_BUILTIN_sched)
        return here.number;
    const char *type = scheduler_type_name((enum scheduler_type)here.type);
    if (!is_readable(ctx, type))
        engine_ctx_range(ctx, type, strlen(type) + 1);
    return (uint64_t)(uintptr_t)type;
}

static uint64_t inside(struct event *ev, enum inside_what what)
{
    struct tracer_thread *me = tracer_thread(ev->t);
    return (uint64_t)inside_value(ev->env, &me->inside, ev->pid, what, me->between);
}

uint64_t event_here(struct event *ev, unsigned builtin)
{
    switch (builtin) {
    case DIF_BUILTIN_sched:
    case DIF_BUILTIN_schedtype: return event_of_thread(&ev->ctx, ev->t, builtin);
    case DIF_BUILTIN_mqlen: return inside(ev, INSIDE_MQLEN);
    case DIF_BUILTIN_reductions: return inside(ev, INSIDE_REDUCTIONS);
    case DIF_BUILTIN_heapsize: return inside(ev, INSIDE_HEAP);
    case DIF_BUILTIN_oldheapsize: return inside(ev, INSIDE_OLD_HEAP);
    default: return 0;
    }
}

/* -- firing ------------------------------------------------------------------------------------ */

/* Returns the time for which the process has been scheduled in until the event began, without the
 * time that events took; 0 for a process that there was no room to remember. */
static uint64_t event_vtimestamp(struct engine_ctx *ctx)
{
    struct event *ev = event_of(ctx);
    const struct process *p =
        proctab_find(atomic_load_explicit(&agent.processes, memory_order_acquire), ev->pid);
    uint64_t began = tracer_thread(ev->t)->running.began;
    if (!p)
        return 0;
    /* For a process that runs on another thread, both may be changing. */
    uint64_t in = p->in, ours = p->ours;
    return p->total + (in && began > in + ours ? began - in - ours : 0);
}

/* `self->` is found by the process's word. That of a process of another node identifies nothing. */
uint64_t event_words(struct event *ev, ERL_NIF_TERM t)
{
    return term_words(ev->env, t, &agent.sizes, &ev->ctx.least);
}

void event_init(struct event *ev, struct engine_thread *t, ErlNifEnv *env, ERL_NIF_TERM pid,
                ERL_NIF_TERM msg, event_arg_fn *arg)
{
    ev->ctx.arg = arg;
    ev->ctx.vtimestamp = event_vtimestamp;
    ev->ctx.about = terms_about;
    ev->ctx.terms = &terms_ops;
    ev->ctx.stack = code_stack;
    ev->terms.n = ev->terms.fixed = 0;
    ev->ctx.self = event_is_word(pid) ? pid : agent.server.pid;
    ev->ctx.have = 0;
    ev->ctx.nranges = 0;
    ev->ctx.anywhere = ev->ctx.own = false;
    ev->ctx.at = ev->ctx.wall = ev->ctx.more = 0;
    ev->ctx.stays = STAYS_OF_PROGRAM;
    ev->ctx.fixed.base = 0;
    memset(ev->said, 0, sizeof ev->said);
    ev->said_caller = 0;
    ev->t = t;
    ev->used = ev->npids = 0;
    ev->env = env;
    ev->pid = pid;
    ev->msg = msg;
    ev->other = 0;
    ev->args = 0;
    ev->elapsed = -1;
    ev->msg_is = 0;
    ev->view = NULL;
    ev->fn = NULL;
}

/* Programs share the arguments that were made, except those that may not see all of terms. */
static void look_as(struct event *ev, const struct terms_view *view)
{
    ev->view = view;
    ev->ctx.have = 0;
    ev->ctx.nranges = 0;
    memset(ev->said, 0, sizeof ev->said);
    ev->used = ev->npids = 0;
}

/* Runs one program's clauses, in an event that samples the cost of events. */
__attribute__((noinline)) static void fire_timed(struct event *ev, struct engine_thread *t,
                                                 const struct bound *b, struct load_sample *sample)
{
    uint64_t from = monotonic_ns();
    engine_fire(b->engine, t, &ev->ctx, b->b, b->n);
    load_part(sample, b->load, b->cost, monotonic_ns() - from);
}

static inline void fire_bound(struct event *ev, struct engine_thread *t, const struct bound *b)
{
    struct load_sample *sample = load_sampling(&tracer_thread(t)->sampler);
    ev->terms.n = ev->terms.fixed; /* without what another program has examined */
    if (ev->view != b->view)
        look_as(ev, b->view);
    if (__builtin_expect(sample != NULL, 0))
        fire_timed(ev, t, b, sample);
    else
        engine_fire(b->engine, t, &ev->ctx, b->b, b->n);
}

void event_fire(struct event *ev, struct engine_thread *t, const struct bounds *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        ev->ctx.probe = b->v[i].probe;
        fire_bound(ev, t, &b->v[i]);
    }
}

void event_fire_as(struct event *ev, struct engine_thread *t, const struct bounds *b,
                   const char *name)
{
    ev->ctx.stays = 0; /* the name is in this event only */
    for (uint32_t i = 0; i < b->n; i++) {
        struct engine_probe probe = *b->v[i].probe;
        probe.name = name;
        ev->ctx.probe = &probe;
        fire_bound(ev, t, &b->v[i]);
    }
    ev->ctx.stays = STAYS_OF_PROGRAM;
}

void event_fire_named(const struct bounds *b, struct engine_thread *t, ErlNifEnv *env,
                      ERL_NIF_TERM pid, ERL_NIF_TERM msg, ERL_NIF_TERM other, event_arg_fn *arg,
                      unsigned msg_is)
{
    struct event ev;
    event_init(&ev, t, env, pid, msg, arg);
    ev.other = other;
    ev.msg_is = msg_is;
    event_fire(&ev, t, b);
}
