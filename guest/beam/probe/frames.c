/* frames.c - see frames.h. */
#include "beam/probe/frames.h"

#include "base/size.h"

struct framed_function {
    ERL_NIF_TERM m, f; /* m 0: free */
    uint32_t arity;
    bool local, meta;     /* which of its patterns leaves frames */
    _Atomic bool overrun; /* its frames pile up */
};

/* Functions; changes only in `overrun`. Open addressing, linear probing, at most half full. */
struct framed {
    struct framed *next;     /* list of retired ones */
    struct engine_mark mark; /* retired: which threads may still read it */
    uint32_t mask;           /* slots - 1 */
    struct framed_function slot[];
};

static struct framed *retired;  /* the server's */
static _Atomic uint32_t rounds; /* incremented each time that all counts are forgotten */

/* -- events -------------------------------------------------------------------------------------
 */

/* Returns the slot of a function, or the free one where it would be. */
static struct framed_function *slot_of(struct framed *t, ERL_NIF_TERM m, ERL_NIF_TERM f,
                                       uint32_t arity)
{
    uint32_t i = snapshot_hash(m, f, arity) & t->mask;
    while (t->slot[i].m && (t->slot[i].f != f || t->slot[i].m != m || t->slot[i].arity != arity))
        i = (i + 1) & t->mask;
    return &t->slot[i];
}

/* Returns the process's record when it is in use and belongs to this round. */
static struct process *counted(ERL_NIF_TERM pid)
{
    struct process *p = proctab_find(agent_processes(), pid);
    return p && p->round == atomic_load_explicit(&rounds, memory_order_relaxed) ? p : NULL;
}

bool frames_too_many(struct engine_thread *t, ERL_NIF_TERM pid)
{
    engine_enter(t); /* otherwise the table could be freed */
    const struct process *p = counted(pid);
    bool yes = p && p->frames > FRAMES_HARD;
    engine_leave(t);
    return yes;
}

/* Counts one more frame on the stack of a process. */
static void left_one(struct engine_thread *t, ERL_NIF_TERM pid, struct framed_function *fn)
{
    bool fresh;
    struct process *p = proctab_claim(agent_processes(), pid, &fresh);
    uint32_t round = atomic_load_explicit(&rounds, memory_order_relaxed);
    if (!p) { /* what cannot be counted cannot be bounded */
        atomic_store_explicit(&fn->overrun, true, memory_order_relaxed);
        return;
    }
    if (fresh)
        *p = (struct process){0};
    if (p->round != round) {
        p->round = round;
        p->frames = 0;
    }
    struct load_sample *sample = load_sampling(&tracer_thread(t)->sampler);
    if (sample)
        sample->vm_more = p->frames / FRAMES_A_NS;
    if (++p->frames > FRAMES_SOFT)
        atomic_store_explicit(&fn->overrun, true, memory_order_relaxed);
}

void frames_call(struct engine_thread *t, ERL_NIF_TERM pid, ERL_NIF_TERM m, ERL_NIF_TERM f,
                 unsigned arity, bool meta)
{
    struct framed *framed = atomic_load_explicit(&agent.framed, memory_order_acquire);
    struct framed_function *fn = framed ? slot_of(framed, m, f, arity) : NULL;
    if (fn && fn->m && (meta ? fn->meta : fn->local))
        left_one(t, pid, fn);
}

void frames_gone(ERL_NIF_TERM pid)
{
    struct process *p = frames_counted() ? counted(pid) : NULL;
    if (p && p->frames > 0)
        p->frames--;
}

void frames_event(struct engine_thread *t, ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool meta;
    if (!frames_counted())
        return;
    if (argv[0] == agent.atom.return_from || argv[0] == agent.atom.exception_from)
        frames_gone(argv[2]);
    else if (argv[0] == agent.atom.call && argv[1] != agent.atom.global &&
             event_get_mfa(env, argv[3], &m, &f, &arity, &meta))
        frames_call(t, argv[2], m, f, arity, meta);
}

/* -- the server ---------------------------------------------------------------------------------
 */

void frames_forget(void)
{
    atomic_fetch_add(&rounds, 1);
}

bool frames_settle(void)
{
    for (struct framed **link = &retired; *link;) {
        struct framed *t = *link;
        if (engine_quiet(&t->mark)) {
            *link = t->next;
            et_free(t);
        } else {
            link = &t->next;
        }
    }
    return retired == NULL;
}

static void replace(struct framed *by)
{
    struct framed *old = atomic_exchange(&agent.framed, by);
    if (old) {
        engine_mark(&old->mark);
        old->next = retired;
        retired = old;
    }
}

void frames_end(void)
{
    replace(NULL);
}

/* Adds the functions of a list. */
static void add(ErlNifEnv *env, struct framed *t, ERL_NIF_TERM list, bool meta)
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    while (snapshot_next(env, &list, &m, &f, &arity)) {
        struct framed_function *fn = slot_of(t, m, f, arity);
        fn->m = m;
        fn->f = f;
        fn->arity = arity;
        fn->local = fn->local || !meta;
        fn->meta = fn->meta || meta;
    }
}

ERL_NIF_TERM frames_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned local, meta;
    if (!agent_is_server(env) || !enif_get_list_length(env, argv[0], &local) ||
        !enif_get_list_length(env, argv[1], &meta) || !agent_is_boolean(argv[2]))
        return enif_make_badarg(env);
    frames_settle();
    struct framed *t = NULL;
    uint64_t slots = 16;
    if (local + (uint64_t)meta > 0) {
        while (slots < 2 * (local + (uint64_t)meta))
            slots = size_mul(slots, 2);
        uint32_t mask;
        t = size_fits(slots - 1, &mask)
                ? et_calloc(1, size_add(sizeof *t, size_mul(slots, sizeof *t->slot)))
                : NULL;
        if (!t || !agent_reserve_processes()) {
            et_free(t);
            return agent.atom.agent_memory;
        }
        t->mask = mask;
        add(env, t, argv[0], false);
        add(env, t, argv[1], true);
    }
    if (argv[2] == agent.atom.true_)
        frames_forget();
    if (atomic_load(&agent.dead))
        et_free(t);
    else
        replace(t);
    return agent.atom.ok;
}

ERL_NIF_TERM frames_overruns_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    ERL_NIF_TERM list = enif_make_list(env, 0);
    struct framed *t = atomic_load(&agent.framed);
    for (uint32_t i = 0; t && i <= t->mask; i++) {
        struct framed_function *fn = &t->slot[i];
        if (atomic_exchange_explicit(&fn->overrun, false, memory_order_relaxed))
            list = enif_make_list_cell(
                env, enif_make_tuple3(env, fn->m, fn->f, enif_make_uint(env, fn->arity)), list);
    }
    return list;
}
