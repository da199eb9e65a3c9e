/* counted.c - calls of functions that the VM counts, in place of reporting each.
 *
 * A clause whose effect follows from the function alone does the same at each call. The server
 * reads the VM's counters, and a probe's clauses then run once for all calls since the last
 * reading: what they add, they add that many times (engine_ctx.more). So what a program has counted
 * lies where it would lie otherwise, and all that reads it is the same.
 *
 * Always: while a probe is `counted`, no snapshot that is made has it, so that no call is both
 * counted and reported. Counters are only read, and never go back; one that does, or is gone, was
 * taken by somebody else or went with the code that it counted. Its probe then is LOST, and stays
 * that until the server ends its counting. */
#include "beam/tracer.h"

#include "base/clock.h"
#include "beam/probe/term.h"

#define LOST UINT64_MAX

static uint64_t arg_counted(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return event_text(ev, ev->fn->text, ev->fn->text_len);
    case 2: return (uint64_t)-1;
    default: return 0;
    }
}

/* Runs the probe's clauses for n calls, n > 0. */
static void count(ErlNifEnv *env, struct program *p, const struct program_probe *probe, uint64_t n)
{
    char text[2 * 1024 + 16];
    struct event ev;
    struct engine_thread *t = engine_thread_self();
    if (!t) {
        atomic_fetch_add_explicit(&agent.lost_threads, n, memory_order_relaxed);
        return;
    }
    const struct function fn = {
        .text = text,
        .text_len = (uint16_t)term_mfa(env, probe->m, probe->f, probe->arity, text, sizeof text)};
    event_init(&ev, t, env, agent.server.pid, 0, arg_counted);
    ev.fn = &fn;
    ev.at.depth = -1;
    ev.view = program_view(p);
    ev.ctx.probe = &probe->id;
    ev.ctx.anywhere = true;
    ev.ctx.more = n - 1;
    engine_enter(t);
    engine_fire(p->engine, t, &ev.ctx, probe->b, probe->n);
    engine_leave(t);
}

/* Finds the probe of a function, of those that were there when the program was enabled. */
static struct program_probe *probe_of(const struct program *p, uint32_t id)
{
    uint32_t low = 0, high = p->probes.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (p->probes.v[mid].id.id < id)
            low = mid + 1;
        else
            high = mid;
    }
    struct program_probe *found = low < p->probes.n ? &p->probes.v[low] : NULL;
    return found && found->id.id == id && found->kind == PROBE_FN_ENTRY ? found : NULL;
}

/* The probe's account: while it is counted, the calls that were read are its events. */
static struct load_probe *cost_of(struct program *p, const struct program_probe *probe)
{
    return &p->probes.cost[probe - p->probes.v];
}

/* From the next snapshot on the probe's events are reported: its account begins with them. */
static void end_counting(struct program *p, struct program_probe *probe)
{
    struct load_probe *cost = cost_of(p, probe);
    probe->counted = false;
    atomic_store_explicit(&cost->events, 0, memory_order_relaxed);
    cost->marks.events[0] = cost->marks.events[1] = 0;
}

/* Takes a probe's counter as it now is, or that it is gone. Returns false when the probe is lost.
 */
static bool reading(ErlNifEnv *env, struct program *p, struct program_probe *probe, bool first,
                    ERL_NIF_TERM value)
{
    ErlNifUInt64 now;
    if (first) {
        probe->counted = true;
        probe->last = 0;
    }
    if (!probe->counted)
        return true; /* its counting has ended: it is reported */
    if (!enif_get_uint64(env, value, &now) || now < probe->last || now == LOST) {
        if (probe->last != LOST)
            engine_count_missed(p->engine, RECORD_DROP_COUNTER, 1);
        now = LOST;
    } else if (!first && now > probe->last) {
        atomic_fetch_add_explicit(&cost_of(p, probe)->events, now - probe->last,
                                  memory_order_relaxed);
        count(env, p, probe, now - probe->last);
    }
    probe->last = now;
    return now != LOST;
}

/* nif_counted(Program, begin | call | end | add, [{ProbeId, Number :: integer() | term()}]) ->
 * [ProbeId]: begin: from now on the VM counts the calls of these functions, whose counters are now
 * at these numbers; call: the counters are now there; end: their calls are reported again, from the
 * next snapshot on; add: there were so many more calls. The result are those whose counters are
 * gone, or went back. */
ERL_NIF_TERM counted_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ERL_NIF_TERM head, list = argv[2], lost = enif_make_list(env, 0);
    const ERL_NIF_TERM *e;
    int n;
    unsigned id;
    struct program *p = agent_program(env, argv[0]);
    ErlNifUInt64 calls;
    const bool begin = argv[1] == agent.atom.begin, end = argv[1] == agent.atom.end,
               add = argv[1] == agent.atom.add;
    if (!p || !(begin || end || add || argv[1] == agent.atom.call))
        return enif_make_badarg(env);
    while (enif_get_list_cell(env, list, &head, &list)) {
        struct program_probe *probe =
            enif_get_tuple(env, head, &n, &e) && n == 2 && enif_get_uint(env, e[0], &id)
                ? probe_of(p, id)
                : NULL;
        if (!probe)
            continue; /* of a consumer that has made it up */
        if (end && probe->counted)
            end_counting(p, probe);
        else if (end)
            continue;
        else if (add && enif_get_uint64(env, e[1], &calls) && calls > 0)
            count(env, p, probe, calls);
        else if (add)
            continue;
        else if (!reading(env, p, probe, begin, e[1]))
            lost = enif_make_list_cell(env, e[0], lost);
    }
    return lost;
}

/* nif_reading(Program, Begins) -> ns: a piece of reading counters begins, or ends: the program is
 * charged for it. Returns the time in which the thread ran since the piece began; another thread
 * than that on which it began has no other time than the clock's. */
ERL_NIF_TERM reading_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    static struct load_sample piece; /* the server's */
    static const struct engine_thread *began;
    struct program *p = agent_program(env, argv[0]);
    struct engine_thread *t = engine_thread_self();
    if (!p)
        return enif_make_badarg(env);
    const uint64_t now = monotonic_ns(), cpu = thread_ns();
    if (argv[1] == agent.atom.true_) {
        piece = (struct load_sample){.start = now, .cpu = cpu};
        began = t;
        return enif_make_uint(env, 0);
    }
    const uint64_t wall = now - piece.start;
    uint64_t ns = t && t == began ? cpu - piece.cpu : wall;
    ns = ns < wall ? ns : wall;
    if (t) {
        const struct load_sample work = {.start = now - ns, .cpu = cpu - ns};
        engine_enter(t);
        tracer_account_work(&work, p, t);
        engine_leave(t);
    }
    return enif_make_uint64(env, ns);
}
