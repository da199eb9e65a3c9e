/* tracer_process.c - events of a process's life: birth, death, links, names; and of its memory.
 *
 * Start and end of a collection are reported on one thread with no other collection in between, so
 * the data of the start is kept per thread. A start without an end stays: the next start replaces
 * it. */
#include "beam/tracer.h"

static uint64_t arg_spawn(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    return n == 0 ? event_pid(ev, ev->pid) : n == 1 ? event_mfa(ev, ev->other, "<unknown>") : 0;
}

/* `msg` is the parent. */
static uint64_t arg_spawned(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return event_pid(ev, ev->msg);
    case 2: return event_mfa(ev, ev->other, "<unknown>");
    default: return 0;
    }
}

static uint64_t arg_exit(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    return n == 0 ? event_pid(ev, ev->pid) : n == 1 ? event_term(ev, ev->msg) : 0;
}

/* Arguments that are the other end of a link, or a name. */
static uint64_t arg_other(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    return n == 0 ? event_pid(ev, ev->pid) : n == 1 ? event_pid(ev, ev->msg) : 0;
}

static ERL_NIF_TERM start_function(ErlNifEnv *env, ERL_NIF_TERM opts)
{
    ERL_NIF_TERM mfa = agent.atom.undefined;
    enif_get_map_value(env, opts, agent.atom.extra, &mfa);
    return event_start(env, mfa);
}

void tracer_spawn(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                  const ERL_NIF_TERM argv[])
{
    event_named(s, t, PROBE_PROCESS_SPAWN, env, argv[3], argv[3], start_function(env, argv[4]),
                arg_spawn);
}

void tracer_spawned(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                    const ERL_NIF_TERM argv[])
{
    ErlNifPid pid;
    ERL_NIF_TERM mfa = start_function(env, argv[4]);
    /* A child of another node's process: nothing on this node reports its birth. */
    if (enif_is_pid(env, argv[3]) && !enif_get_local_pid(env, argv[3], &pid))
        event_named(s, t, PROBE_PROCESS_SPAWN, env, argv[2], argv[3], mfa, arg_spawn);
    event_named(s, t, PROBE_PROCESS_SPAWNED, env, argv[2], argv[3], mfa, arg_spawned);
}

void tracer_procs(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                  const ERL_NIF_TERM argv[])
{
    const struct atoms *a = &agent.atom;
    const struct {
        ERL_NIF_TERM tag;
        enum probe_kind kind;
        event_arg_fn *arg;
    } row[] = {{a->exit, PROBE_PROCESS_EXIT, arg_exit},
               {a->link, PROBE_PROCESS_LINK, arg_other},
               {a->unlink, PROBE_PROCESS_UNLINK, arg_other},
               {a->getting_linked, PROBE_PROCESS_GETTING_LINKED, arg_other},
               {a->getting_unlinked, PROBE_PROCESS_GETTING_UNLINKED, arg_other},
               {a->register_, PROBE_PROCESS_REGISTER, arg_other},
               {a->unregister, PROBE_PROCESS_UNREGISTER, arg_other}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (argv[0] == row[i].tag)
            event_named_with(s, t, row[i].kind, env, argv[2], argv[3], row[i].arg,
                             row[i].kind == PROBE_PROCESS_EXIT ? DIF_BUILTIN_reason : 0);
}

/* -- memory ------------------------------------------------------------------------------------ */

/* Returns the value of a key in an event of a collection, in words; 0 when it has none. */
static uint64_t gc_words(ErlNifEnv *env, ERL_NIF_TERM list, ERL_NIF_TERM key)
{
    ERL_NIF_TERM head;
    const ERL_NIF_TERM *e;
    int size;
    ErlNifUInt64 words;
    for (unsigned i = 0; i < 32 && enif_get_list_cell(env, list, &head, &list); i++)
        if (enif_get_tuple(env, head, &size, &e) && size == 2 && e[0] == key &&
            enif_get_uint64(env, e[1], &words))
            return words;
    return 0;
}

static uint64_t arg_gc(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    const struct atoms *a = &agent.atom;
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return gc_words(ev->env, ev->msg, a->wordsize);
    case 2: return gc_words(ev->env, ev->msg, a->heap_size);
    case 3: return gc_words(ev->env, ev->msg, a->old_heap_size);
    case 4: return gc_words(ev->env, ev->msg, a->stack_size);
    case 5:
        return gc_words(ev->env, ev->msg, a->bin_vheap_size) +
               gc_words(ev->env, ev->msg, a->bin_old_vheap_size);
    default: return 0;
    }
}

/* Returns the size of the blocks of both heaps: leaked data is in the old one. */
static uint64_t both_blocks(ErlNifEnv *env, ERL_NIF_TERM list)
{
    return gc_words(env, list, agent.atom.heap_block_size) +
           gc_words(env, list, agent.atom.old_heap_block_size);
}

/* The process has not run since the collection started, so the data of that event is still there.
 */
static uint64_t arg_heap(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return tracer_thread(ev->t)->collection.words;
    case 2: return both_blocks(ev->env, ev->msg);
    case 3: return gc_words(ev->env, ev->msg, agent.atom.old_heap_block_size);
    default: return 0;
    }
}

static uint64_t arg_max_heap(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return gc_words(ev->env, ev->msg, agent.atom.heap_block_size);
    case 2: return gc_words(ev->env, ev->msg, agent.atom.old_heap_block_size);
    default: return 0;
    }
}

void tracer_gc(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
               const ERL_NIF_TERM argv[], enum probe_kind kind)
{
    event_named(s, t, kind, env, argv[2], argv[3], 0,
                kind == PROBE_GC_MAX_HEAP ? arg_max_heap : arg_gc);
    if (kind == PROBE_GC_MAX_HEAP ||
        s->named[PROBE_PROCESS_HEAP_GROW].n + s->named[PROBE_PROCESS_HEAP_SHRINK].n == 0)
        return;
    struct tracer_thread *me = tracer_thread(t);
    uint64_t words = both_blocks(env, argv[3]);
    if (kind == PROBE_GC_MINOR_START || kind == PROBE_GC_MAJOR_START) {
        me->collection.pid = argv[2];
        me->collection.words = words;
        return;
    }
    if (me->collection.pid == argv[2] && words != me->collection.words)
        event_named(s, t,
                    words > me->collection.words ? PROBE_PROCESS_HEAP_GROW
                                                 : PROBE_PROCESS_HEAP_SHRINK,
                    env, argv[2], argv[3], 0, arg_heap);
    me->collection.pid = 0;
}
