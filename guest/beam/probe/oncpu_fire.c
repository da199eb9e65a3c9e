/* oncpu_fire.c - fires profile-N for the samples that the signal handler has captured. See
 * oncpu.h.
 *
 * The server runs this, some time after the sample. So everything here is about the sample: its
 * time, its process, which may be gone, its scheduler, and its stack. */
#include "beam/probe/oncpu.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "beam/probe/code.h"
#include "beam/probe/objects.h"
#include "beam/probe/terms.h"
#include "beam/tracer.h"
#include "beam/values.h"

enum {
    PROGRAMS = 64,    /* that one call fires for */
    AGAIN_MOST = 256, /* samples of wall-N for which one stands */
    LOOKS_FRAME = 16, /* units of work for one frame */
    TAKEN_MOST = 256, /* samples in one call */
    FOUND_MOST = 1 << 10
};

struct oncpu_event {
    struct event ev; /* first: see event_of */
    const struct oncpu_sample *s;
    uint64_t frame[ONCPU_FRAMES + 2]; /* as code.h has them */
    uint32_t n;
    const char *place; /* no process: what ran */
    bool known;        /* the innermost function is, and this is it: */
    struct code_function fn;
    uint64_t exact; /* where it was, or will go on */
};

static struct oncpu_event *oncpu_of(struct engine_ctx *ctx)
{
    return (struct oncpu_event *)(void *)ctx;
}

/* Where addresses lie, which are the same in most samples. What was found holds for one call of
 * oncpu_take_nif: no other table of functions comes meanwhile (code.h), and code that is purged
 * meanwhile was there when the call began. */
static struct found {
    uint64_t at;
    uint64_t call; /* the number of the call that has found it */
    enum code_place place;
    struct code_function fn;
} found[FOUND_MOST];
static uint64_t calls;

static const struct found *find(uint64_t at, uint64_t *looked)
{
    struct found *there = &found[hash_mix(at, UINT64_C(0x9e3779b97f4a7c15)) % FOUND_MOST];
    if (there->at != at || there->call != calls) {
        there->at = at;
        there->call = calls;
        there->place = code_place(at, &there->fn, looked);
    }
    return there;
}

/* Adds an address of the function that runs, if it is one; `counter`: it is the program counter,
 * not a return address. */
static bool innermost(struct oncpu_event *e, uint64_t at, bool counter, uint64_t *looked)
{
    const struct found *there = at != 0 ? find(at, looked) : NULL;
    if (there == NULL || there->place == CODE_ELSEWHERE)
        return false;
    e->exact = at;
    e->frame[0] = at + counter;
    e->known = there->place == CODE_FUNCTION;
    e->fn = there->fn;
    e->n = 1;
    return true;
}

/* Adds the current function of a process on a dirty scheduler. Its words are believed if they are
 * those of a function that is loaded. */
static bool current(struct oncpu_event *e)
{
    const struct oncpu_sample *s = e->s;
    const uint64_t at = s->m != 0 ? code_address(s->m, s->f, s->arity) : 0;
    if (at == 0)
        return false;
    e->known = true;
    e->fn = (struct code_function){s->m, s->f, (uint32_t)s->arity};
    e->exact = at;
    e->frame[e->n++] = at;
    return true;
}

/* Frames that stand for what has no address. */
enum { MADE_SENSITIVE = 1, MADE_KERNEL, MADE_UNKNOWN, MADE_COLLECTION };

/* Adds what ran outside of compiled code: a collection; the code of a NIF or a driver, and of
 * libraries that these need; any native code where there is no other frame, so that no stack is
 * empty. */
static void outside(struct oncpu_event *e)
{
    const struct oncpu_sample *s = e->s;
    const struct objects_place *p =
        s->hidden || s->native == 0 || s->collecting ? NULL : objects_find(s->native, s->at);
    uint64_t at = s->native;
    e->place = NULL;
    if (e->n > 0 && !s->collecting && (p == NULL || p->kind != OBJECTS_OTHER))
        return;
    if (s->collecting) {
        p = objects_made(MADE_COLLECTION, "[collection]");
        at = MADE_COLLECTION;
    } else if (p == NULL) {
        const unsigned made = s->hidden ? MADE_SENSITIVE : s->kernel ? MADE_KERNEL : MADE_UNKNOWN;
        p = objects_made(made, s->hidden   ? "[sensitive process]"
                               : s->kernel ? "[kernel]"
                                           : "[unknown]");
        at = made;
    } else if (e->n == 0) {
        e->exact = at;
    }
    if (p == NULL)
        return;
    memmove(e->frame + 1, e->frame, e->n * sizeof *e->frame);
    e->frame[0] = at;
    e->n++;
    e->place = s->pid == 0 ? p->name : NULL;
}

/* Makes the stack of a sample. Where a piece that functions share is what runs, the function has
 * called it, and if that call's return address is no ordinary one it is looked for at the top. */
static void resolve(struct oncpu_event *e)
{
    const struct oncpu_sample *s = e->s;
    uint64_t looked = 0;
    e->n = 0;
    e->known = false;
    e->exact = 0;
    bool has =
        innermost(e, s->pc, true, &looked) || innermost(e, s->call, false, &looked) || current(e);
    for (uint32_t i = 0; !has && i < ONCPU_TOPS; i++)
        has = (s->top[i] & 3) != 0 && innermost(e, s->top[i], false, &looked);
    for (uint32_t i = 0; i < s->nframes; i++)
        if (e->n == 0)
            innermost(e, s->frame[i], false, &looked);
        else if (find(s->frame[i], &looked)->place != CODE_ELSEWHERE)
            e->frame[e->n++] = s->frame[i];
    outside(e);
}

static uint32_t stack_of(struct engine_ctx *ctx, uint64_t *frames, uint32_t most)
{
    const struct oncpu_event *e = oncpu_of(ctx);
    uint32_t n = e->n < most ? e->n : most;
    memcpy(frames, e->frame, n * sizeof *frames);
    ctx->looked += (uint64_t)n * LOOKS_FRAME;
    return n;
}

static uint64_t function_of(struct oncpu_event *e)
{
    if (e->place != NULL)
        return event_constant(&e->ev, e->place);
    char *p = e->known ? event_room(&e->ev, TERM_TEXT) : NULL;
    return p == NULL
               ? event_constant(&e->ev, "")
               : event_written(&e->ev, p,
                               term_mfa(e->ev.env, e->fn.m, e->fn.f, e->fn.arity, p, TERM_TEXT));
}

static uint64_t about(struct engine_ctx *ctx, unsigned builtin, uint64_t index)
{
    struct oncpu_event *e = oncpu_of(ctx);
    switch (builtin) {
    case DIF_BUILTIN_sched: return e->s->number;
    case DIF_BUILTIN_schedtype: return event_constant(&e->ev, scheduler_type_name(e->s->type));
    case DIF_BUILTIN_mqlen:
    case DIF_BUILTIN_reductions:
    case DIF_BUILTIN_heapsize:
    case DIF_BUILTIN_oldheapsize: return UINT64_MAX;
    case DIF_BUILTIN_erlfunc: return function_of(e);
    default:
        return e->s->pid != 0 ? terms_about(ctx, builtin, index)
                              : terms_about_nothing(ctx, builtin, index);
    }
}

/* arg0 is the program counter in the kernel, which is not known here; arg1 that in the program;
 * arg2, at wall-N, what the thread did. */
static uint64_t arg(struct engine_ctx *ctx, unsigned n)
{
    struct oncpu_event *e = oncpu_of(ctx);
    if (n == 2 && (oncpu_period(e->s->rate, e->s->at) & ONWALL_RATE) != 0)
        return event_constant(&e->ev, onwall_doing_name(e->s->doing));
    return n == 1 ? e->exact : 0;
}

/* Returns the period of a probe as oncpu_period has it; 0: it is no such probe. */
static uint64_t period_of(const struct program_probe *pp)
{
    const uint64_t ns = pp->period < ONWALL_RATE ? pp->period : ONWALL_RATE - 1;
    return pp->kind == PROBE_PROFILE ? ns : pp->kind == PROBE_WALL ? ns | ONWALL_RATE : 0;
}

/* Fires the probes of a program that have this rate. Returns whether there is one. */
static bool fire(struct oncpu_event *e, struct engine_thread *t, struct program *p, uint64_t period,
                 uint64_t handler_ns)
{
    bool has = false;
    struct load_sample *sample = load_sampling(&tracer_thread(t)->sampler);
    for (uint32_t i = 0; i < p->probes.n; i++) {
        const struct program_probe *pp = &p->probes.v[i];
        if (period_of(pp) != period)
            continue;
        struct bound one = {.engine = p->engine,
                            .probe = &pp->id,
                            .b = pp->b,
                            .n = pp->n,
                            .load = &p->load,
                            .cost = &p->probes.cost[i],
                            .view = program_view(p)};
        event_fire(&e->ev, t, &(struct bounds){.v = &one, .n = 1});
        if (sample != NULL)
            load_part(sample, one.load, one.cost, handler_ns);
        has = true;
    }
    return has;
}

static void count(struct oncpu_counts *c, const struct oncpu_event *e)
{
    c->samples++;
    c->idle += e->s->pid == 0 && !e->s->hidden && !e->s->kernel;
    c->kernel += e->s->kernel;
    c->hidden += e->s->hidden;
    c->unknown += e->s->pid != 0 && !e->known;
    c->late += e->s->overrun;
    c->collecting += e->s->collecting;
    const enum oncpu_clock_kind clock = oncpu_worst(e->s->rate);
    c->worst = clock > c->worst ? clock : c->worst;
}

static void count_wall(struct onwall_counts *c, const struct oncpu_event *e)
{
    c->doing[e->s->doing < ONWALL_DOINGS ? e->s->doing : ONWALL_RUNNING]++;
    c->idle += e->s->pid == 0 && !e->s->hidden && !e->s->lost;
    c->hidden += e->s->hidden;
    c->lost += e->s->lost;
    c->unknown += e->s->pid != 0 && !e->known;
}

struct programs {
    struct program *v[PROGRAMS];
    struct load *load[PROGRAMS];
    uint32_t n;
};

static void fire_sample(ErlNifEnv *env, struct engine_thread *t, const struct programs *ps,
                        const struct oncpu_sample *s, uint64_t ahead)
{
    struct tracer_thread *me = tracer_thread(t);
    struct load_sample sample;
    struct oncpu_event e;
    uint64_t period = oncpu_period(s->rate, s->at);
    engine_enter(t);
    load_begin(&me->sampler, &sample);
    event_init(&e.ev, t, env, s->pid, 0, arg);
    e.s = s;
    e.ev.ctx.stack = stack_of;
    e.ev.ctx.about = about;
    e.ev.ctx.vtimestamp = values_vtimestamp;
    e.ev.ctx.anywhere = true;
    e.ev.ctx.at = s->at;
    e.ev.ctx.wall = s->at + ahead;
    resolve(&e);
    if (s->pid == 0)
        e.ev.pid = e.ev.ctx.self = agent.server.pid;
    for (uint32_t i = 0; period != 0 && i < ps->n; i++) {
        struct oncpu_counts *c = ps->v[i]->profile;
        if (c->began > s->at || !fire(&e, t, ps->v[i], period, s->took / (oncpu_threads() + 1)))
            continue;
        if ((period & ONWALL_RATE) != 0)
            count_wall(&c->wall, &e);
        else
            count(c, &e);
    }
    if (load_sampling(&me->sampler) != NULL)
        tracer_account_own(&sample, ps->load, ps->n, t);
    engine_leave(t);
}

static bool has_rate(const struct program *p, uint64_t period)
{
    for (uint32_t k = 0; k < p->probes.n; k++)
        if (period_of(&p->probes.v[k]) == period)
            return true;
    return false;
}

/* Tells the programs that have a rate what has become no sample. */
static void take_drops(const struct programs *ps)
{
    for (uint32_t r = 0; r < ONCPU_RATES; r++) {
        const uint64_t dropped = oncpu_dropped(r), waited = oncpu_waited(r);
        const uint64_t period = oncpu_period(r, UINT64_MAX);
        const struct onwall_called wall = onwall_news(r);
        for (uint32_t i = 0; period != 0 && i < ps->n; i++) {
            struct oncpu_counts *c = ps->v[i]->profile;
            if (!has_rate(ps->v[i], period))
                continue;
            *((period & ONWALL_RATE) != 0 ? &c->wall.dropped : &c->dropped) += dropped;
            c->waited += waited;
            c->wall.of.called += wall.called;
            c->wall.of.unlooked += wall.unlooked;
            c->wall.of.late += wall.late;
        }
    }
}

/* Returns how many samples one stands for. One of wall-N whose thread was found again before it had
 * answered is that many. (Of profile-N, what was late is counted only.) */
static uint32_t times_of(const struct oncpu_sample *s)
{
    if ((oncpu_period(s->rate, s->at) & ONWALL_RATE) == 0)
        return 1;
    return s->overrun < AGAIN_MOST ? s->overrun + 1 : AGAIN_MOST;
}

/* Returns by how many ns CLOCK_REALTIME is ahead of CLOCK_MONOTONIC. */
static uint64_t wall_ahead(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec - monotonic_ns();
}

ERL_NIF_TERM oncpu_take_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct programs ps = {.n = 0};
    struct oncpu_sample s;
    ERL_NIF_TERM head, list = argv[0];
    unsigned most;
    if (!agent_is_server(env) || !enif_get_uint(env, argv[1], &most))
        return enif_make_badarg(env);
    while (ps.n < PROGRAMS && enif_get_list_cell(env, list, &head, &list)) {
        struct program *p = agent_program(env, head);
        if (p == NULL || p->profile == NULL)
            return enif_make_badarg(env);
        ps.load[ps.n] = &p->load;
        ps.v[ps.n++] = p;
    }
    struct engine_thread *t = engine_thread_self();
    const uint64_t ahead = wall_ahead();
    uint32_t n = 0;
    most = most < TAKEN_MOST ? most : TAKEN_MOST;
    oncpu_served(monotonic_ns());
    oncpu_kernel_count();
    oncpu_gather();
    calls++;
    while (n < most && (oncpu_next(&s) || oncpu_kernel(&s))) {
        ErlNifPid pid;
        if (s.pid != 0 && !enif_get_local_pid(env, s.pid, &pid))
            s.pid = 0;
        for (uint32_t times = times_of(&s); times > 0; times--, n++) {
            if (t != NULL)
                fire_sample(env, t, &ps, &s, ahead);
            else
                atomic_fetch_add_explicit(&agent.lost_threads, 1, memory_order_relaxed);
            s.took = 0; /* all of them took that */
        }
    }
    take_drops(&ps);
    if (n >= most)
        return agent.atom.true_;
    const uint64_t used = oncpu_used();
    for (uint32_t i = 0; i < ps.n; i++)
        ps.v[i]->profile->until = used;
    return agent.atom.false_;
}

ERL_NIF_TERM oncpu_counts_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = agent_program(env, argv[0]);
    if (p == NULL || p->profile == NULL)
        return enif_make_badarg(env);
    const struct oncpu_counts *c = p->profile;
    const ERL_NIF_TERM clock[] = {[ONCPU_CLOCK_NONE] = agent.atom.undefined,
                                  [ONCPU_CLOCK_TASK] = agent.atom.task,
                                  [ONCPU_CLOCK_USER] = agent.atom.user,
                                  [ONCPU_CLOCK_SAMPLER] = agent.atom.sampler,
                                  [ONCPU_CLOCK_CPU] = agent.atom.cpu};
    return enif_make_tuple(env, 11, enif_make_uint64(env, c->samples),
                           enif_make_uint64(env, c->idle), enif_make_uint64(env, c->hidden),
                           enif_make_uint64(env, c->unknown), enif_make_uint64(env, c->late),
                           enif_make_uint64(env, c->dropped),
                           enif_make_uint64(env, c->until - c->used), clock[c->worst],
                           enif_make_uint64(env, c->waited), enif_make_uint64(env, c->kernel),
                           enif_make_uint64(env, c->collecting));
}

ERL_NIF_TERM oncpu_wall_counts_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct program *p = agent_program(env, argv[0]);
    if (p == NULL || p->profile == NULL)
        return enif_make_badarg(env);
    const struct onwall_counts *c = &p->profile->wall;
    const ERL_NIF_TERM doing = enif_make_list3(env, enif_make_uint64(env, c->doing[ONWALL_RUNNING]),
                                               enif_make_uint64(env, c->doing[ONWALL_RUNNABLE]),
                                               enif_make_uint64(env, c->doing[ONWALL_ASLEEP]));
    return enif_make_tuple9(
        env, enif_make_uint64(env, c->of.called), doing, enif_make_uint64(env, c->idle),
        enif_make_uint64(env, c->hidden), enif_make_uint64(env, c->unknown),
        enif_make_uint64(env, c->lost), enif_make_uint64(env, c->dropped),
        enif_make_uint64(env, c->of.unlooked), enif_make_uint64(env, c->of.late));
}
