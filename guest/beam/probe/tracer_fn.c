/* tracer_fn.c - events of functions: calls, returns, exceptions.
 *
 * A function is seen either through a meta pattern (its event carries the arguments) or through a
 * local one (it carries the arity, because of the flag of that name). While the server switches a
 * function from one to the other, both patterns are set; the snapshot says which of the two counts.
 * A local pattern is for returns, and for calls of only a few processes: others have no flags, and
 * cause no events. A function that has hooks (hooks.h) keeps both: the local event is its entry;
 * the meta event, which has no frames, is for its hooks.
 *
 * From OTP 27 on, local and global calls are told apart by a second trace session with the State
 * `global`, which has a global pattern where that matters: the VM reports a global call to it first
 * and then, on the same thread, to the session that sees every call. Before OTP 27 a function has
 * only one pattern, which is a global one when nothing else is needed. */
#include "base/clock.h"
#include "beam/probe/hooks.h"
#include "beam/probe/frames.h"
#include "beam/probe/missed.h"
#include "beam/probe/shapes.h"
#include "beam/probe/term_read.h"

static struct proctab *shadows(void)
{
    return atomic_load_explicit(&agent.shadows, memory_order_acquire);
}

static uint64_t arg_function(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return event_text(ev, ev->fn->text, ev->fn->text_len);
    case 2: return (uint64_t)ev->at.depth;
    case 3: /* the class of an exception */
        return ev->other ? event_pid(ev, ev->other) : ev->at.gone;
    default: return 0;
    }
}

static const struct event_place nowhere = {.depth = -1};

static struct proctab *kept_table(void)
{
    return atomic_load_explicit(&agent.kept, memory_order_acquire);
}

/* -- functions --------------------------------------------------------------------------------- */

/* What an event of a function came with; 0: not with that. */
struct came {
    struct event_place at;
    ERL_NIF_TERM args;  /* of a call, a list */
    ERL_NIF_TERM class; /* of an exception */
    ERL_NIF_TERM value; /* result, or reason of an exception */
    uint64_t began;     /* CLOCK_MONOTONIC ns: when a call that ends was called */
};

/* Counts, for each program that wants to know how a call began, one of which that is not known. */
__attribute__((noinline)) static void count_unknown(const struct bounds *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        if ((b->v[i].uses & (PROBE_USE_ARGS | PROBE_USE_TIME)) != 0)
            engine_count_missed(b->v[i].engine, RECORD_DROP_KEPT, 1);
}

static void function_event(struct engine_thread *t, const struct bounds *b, ErlNifEnv *env,
                           ERL_NIF_TERM pid, const struct function *fn, const struct came *came)
{
    if (b->n == 0)
        return;
    struct event ev;
    event_init(&ev, t, env, pid, came->value, arg_function);
    ev.msg_is = came->class ? DIF_BUILTIN_reason : DIF_BUILTIN_retval;
    ev.fn = fn;
    ev.ctx.stays = fn->stays;
    ev.ctx.fixed = (struct engine_range){(uint64_t)(uintptr_t)fn->text, fn->text_len};
    ev.other = came->class;
    ev.args = came->args;
    ev.at = came->at;
    if (came->began)
        ev.elapsed = (int64_t)(monotonic_ns() - came->began);
    event_fire(&ev, t, b);
}

/* The same at the end of a call, of which `kept` is known; NULL: nothing. */
static void end_event(struct engine_thread *t, const struct bounds *b, ErlNifEnv *env,
                      ERL_NIF_TERM pid, const struct function *fn, struct came *came,
                      const struct kept_call *kept)
{
    if (kept) {
        came->args = kept->args;
        came->began = kept->began;
    }
    if (fn->kept && ((fn->keeps_args && !came->args) || (fn->keeps_time && !came->began)))
        count_unknown(b);
    function_event(t, b, env, pid, fn, came);
}

/* Keeps how a call began. */
__attribute__((noinline)) static void keep_call(ErlNifEnv *env, ERL_NIF_TERM pid,
                                                const struct function *fn, ERL_NIF_TERM args)
{
    struct kept_calls *k = kept_open(kept_table(), pid, true);
    if (k)
        kept_push(k, env, fn->kept, fn->keeps_args ? args : 0, fn->keeps_words, fn->keeps_time);
    kept_close(k);
}

static struct shadow_fn undefined_fn(void)
{
    return (struct shadow_fn){.m = agent.atom.undefined, .bottom = true};
}

/* Returns whether this is the function into which a process hibernates through proc_lib: it has no
 * caller. */
static bool wakes_up(ERL_NIF_TERM m, ERL_NIF_TERM f)
{
    return f == agent.atom.wake_up && m == agent.atom.proc_lib;
}

/* What comes with a call through a local or global pattern. */
enum result {
    RESULT_NONE,   /* nothing */
    RESULT_CALLER, /* Caller or {Caller, Args}: Caller is {M, F, Arity} or undefined */
    RESULT_OTHER,  /* something else: another tool's, before OTP 27; never ours */
};

/* Reads what the match specification of a pattern has put together: the function that the call
 * returns into, or that and the arguments; Args becomes 0 where there are none. */
static enum result caller_of(ErlNifEnv *env, ERL_NIF_TERM opts, struct shadow_fn *caller,
                             ERL_NIF_TERM *call_args)
{
    ERL_NIF_TERM v, m, f;
    const ERL_NIF_TERM *e;
    int n;
    unsigned arity;
    bool args;
    *call_args = 0;
    if (!enif_get_map_value(env, opts, agent.atom.match_spec_result, &v))
        return RESULT_NONE;
    if (enif_get_tuple(env, v, &n, &e) && n == 2 && enif_is_list(env, e[1])) {
        v = e[0];
        *call_args = e[1];
    }
    *caller = undefined_fn();
    if (v == agent.atom.undefined)
        return RESULT_CALLER;
    if (!event_get_mfa(env, v, &m, &f, &arity, &args) || args) {
        *call_args = 0;
        return RESULT_OTHER;
    }
    *caller = (struct shadow_fn){.m = m, .f = f, .a = arity, .bottom = wakes_up(m, f)};
    return RESULT_CALLER;
}

static struct shadow *shadow_of(ERL_NIF_TERM pid)
{
    bool fresh;
    struct shadow *sh = proctab_claim(shadows(), pid, &fresh);
    if (fresh)
        shadow_reset(sh);
    if (!sh)
        atomic_fetch_add_explicit(&agent.lost_returns, 1, memory_order_relaxed);
    return sh;
}

/* Returns whether the call was seen on this thread a moment ago, and forgets it. */
static bool just_seen(const struct tracer_thread *me, struct tracer_last *last, ERL_NIF_TERM pid,
                      const struct function *fn, uint32_t asked)
{
    bool same = last->pid == pid && last->f == fn->f && last->m == fn->m &&
                last->arity == fn->arity && me->asked - last->asked <= asked;
    last->pid = 0;
    return same;
}

static void now_seen(const struct tracer_thread *me, struct tracer_last *last, ERL_NIF_TERM pid,
                     const struct function *fn, bool counted)
{
    *last = (struct tracer_last){pid, fn->m, fn->f, fn->arity, me->asked, counted};
}

/* Returns whether this event counts for the call: while both patterns are set and the snapshot
 * changes, one of two may. The VM reports a call through the local pattern first and then, on the
 * same thread and after asking enabled/3 at most twice, through the meta pattern. Such a second
 * event counts if the first one did not. */
static bool this_call_counts(struct tracer_thread *me, const struct function *fn, ERL_NIF_TERM pid,
                             bool meta)
{
    struct tracer_last *last = &me->last;
    bool counts = fn->local != meta;
    if (fn->global_only && !agent.sessions)
        return !meta;
    if (!meta) {
        now_seen(me, last, pid, fn, counts);
    } else if (just_seen(me, last, pid, fn, 2)) {
        counts = !last->counted;
    } else if (!counts && atomic_load_explicit(&agent.loading, memory_order_relaxed)) {
        /* The code was just loaded, and its local pattern is not set yet. */
        missed_call(fn->m, fn->f, fn->arity);
    }
    return counts;
}

/* Returns Args of {M, F, Args}. */
static ERL_NIF_TERM args_of(ErlNifEnv *env, ERL_NIF_TERM mfa)
{
    const ERL_NIF_TERM *e;
    int n;
    enif_get_tuple(env, mfa, &n, &e);
    return e[2];
}

/* Fires an entry that counts, for a process that may have entered through the export entry. */
static void entry_event(struct engine_thread *t, ErlNifEnv *env, ERL_NIF_TERM pid,
                        const struct function *fn, const struct came *came)
{
    struct tracer_thread *me = tracer_thread(t);
    function_event(t, &fn->entry, env, pid, fn, came);
    if (!agent.sessions)
        function_event(t, fn->global_only ? &fn->global_entry : &fn->local_entry, env, pid, fn,
                       came);
    else if (fn->local_entry.n && !just_seen(me, &me->global, pid, fn, 4))
        function_event(t, &fn->local_entry, env, pid, fn, came);
}

/* Handles a call of a function that has no bindings. Newly loaded code has patterns on all its
 * functions, of which the meta one is counted; and before OTP 27 another tool's local pattern also
 * reaches us. For a local call a return will follow. */
static void unbound_call(ErlNifEnv *env, const ERL_NIF_TERM argv[], bool meta, ERL_NIF_TERM m,
                         ERL_NIF_TERM f, unsigned arity)
{
    if (meta) {
        if (atomic_load_explicit(&agent.loading, memory_order_relaxed))
            missed_call(m, f, arity);
        return;
    }
    struct shadow *sh = proctab_find(shadows(), argv[2]);
    struct shadow_fn me = {.m = m, .f = f, .a = arity}, caller;
    ERL_NIF_TERM call_args;
    if (sh && caller_of(env, argv[4], &caller, &call_args) == RESULT_CALLER)
        shadow_call(sh, &me, &caller, false);
    else if (sh)
        shadow_call_plain(sh, &me);
}

/* Handles a call whose match specification has given what it cannot give. That it has begun is
 * still known; what was known of the process's stack is forgotten. */
static void lost_call(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                      const ERL_NIF_TERM argv[], const struct function *fn, bool counts)
{
    struct shadow *sh = proctab_find(shadows(), argv[2]);
    if (sh)
        shadow_reset(sh);
    if (counts && fn->kept)
        keep_call(env, argv[2], fn, 0);
    if (counts)
        shapes_lost(s, t, env, argv);
}

void tracer_call(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[])
{
    struct tracer_thread *mine = tracer_thread(t);
    ERL_NIF_TERM m, f, args = 0, pid = argv[2];
    unsigned arity;
    bool meta = read_call(argv[3], &m, &f, &arity, &args);
    if (!meta && !event_get_mfa(env, argv[3], &m, &f, &arity, &meta)) {
        shapes_lost(s, t, env, argv);
        return;
    }
    if (argv[1] != agent.atom.global)
        frames_call(t, pid, m, f, arity, meta); /* also of a function that no program names now */
    struct function *fn = snapshot_function(s, m, f, arity);
    if (!fn) {
        if (argv[1] != agent.atom.global)
            unbound_call(env, argv, meta, m, f, arity);
        return;
    }
    if (argv[1] == agent.atom.global) {
        struct shadow_fn caller;
        struct came came = {.at = nowhere};
        now_seen(mine, &mine->global, pid, fn, true);
        if (caller_of(env, argv[4], &caller, &came.args) == RESULT_OTHER) {
            shapes_lost(s, t, env, argv);
            return;
        }
        function_event(t, &fn->global_entry, env, pid, fn, &came);
        return;
    }
    bool counts = this_call_counts(mine, fn, pid, meta);
    if (meta && args == 0)
        args = args_of(env, argv[3]);
    if (meta && fn->hook)
        hooks_fire(s, t, env, pid, fn, args);
    struct shadow_fn caller;
    struct came came = {.at = nowhere, .args = args};
    enum result result = meta ? RESULT_NONE : caller_of(env, argv[4], &caller, &came.args);
    if (result == RESULT_OTHER && agent.sessions) {
        lost_call(s, t, env, argv, fn, counts);
        return;
    }
    if (!meta && !fn->global_only &&
        s->returns) { /* its return will come whether or not the call counts */
        struct shadow *sh = counts ? shadow_of(pid) : proctab_find(shadows(), pid);
        if (sh) {
            struct shadow_fn me = {.m = m, .f = f, .a = arity};
            if (result == RESULT_CALLER) {
                came.at.gone = shadow_call(sh, &me, &caller, fn->ret.n > 0);
                came.at.depth = shadow_depth(sh);
            } else {
                shadow_call_plain(sh, &me);
            }
        }
    }
    if (counts && fn->kept)
        keep_call(env, pid, fn, came.args);
    if (counts)
        entry_event(t, env, pid, fn, &came);
}

static uint64_t arg_caught(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return event_mfa(ev, ev->msg, "undefined");
    case 2: return (uint64_t)ev->at.depth;
    default: return 0;
    }
}

/* Fires for an exception that left the watched functions at that depth and above, and was caught.
 */
static void caught_event(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                         const ERL_NIF_TERM argv[], uint32_t depth)
{
    const struct bounds *b = &s->named[PROBE_EXCEPTION_CAUGHT];
    if (b->n == 0)
        return;
    struct event ev;
    event_init(&ev, t, env, argv[2], argv[3], arg_caught);
    ev.at = (struct event_place){.depth = depth};
    event_fire(&ev, t, b);
}

void tracer_return_to(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                      const ERL_NIF_TERM argv[])
{
    struct shadow *sh = proctab_find(shadows(), argv[2]);
    if (!sh)
        return;
    struct shadow_fn to = undefined_fn(), from;
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool args;
    if (event_get_mfa(env, argv[3], &m, &f, &arity, &args))
        to = (struct shadow_fn){.m = m, .f = f, .a = arity};
    uint32_t depth;
    const struct function *fn;
    switch (shadow_return(sh, &to, &from, &depth)) {
    case SHADOW_RETURNED:
        if ((fn = snapshot_function(s, from.m, from.f, from.a)) && !fn->framed)
            function_event(
                t, &fn->ret, env, argv[2], fn,
                &(struct came){.at = {.depth = depth ? (int64_t)depth : -1, .left = true}});
        break;
    case SHADOW_UNWOUND: caught_event(s, t, env, argv, depth); break;
    case SHADOW_UNKNOWN: break;
    }
}

/* Fires for the end of a frame: `kept` is what is known of the call. */
static void end_of(struct engine_thread *t, ErlNifEnv *env, const ERL_NIF_TERM argv[],
                   const struct function *fn, bool exception, const struct kept_call *kept)
{
    struct came came = {.at = {.depth = -1, .left = true}};
    ERL_NIF_TERM extra;
    struct shadow *sh = fn->local ? proctab_find(shadows(), argv[2]) : NULL;
    if (sh) {
        struct shadow_fn left = {.m = fn->m, .f = fn->f, .a = fn->arity};
        uint32_t depth = exception ? shadow_unwind(sh, &left) : shadow_find(sh, &left);
        came.at.depth = depth ? (int64_t)depth : -1;
    }
    const ERL_NIF_TERM *e;
    int n;
    bool more = enif_get_map_value(env, argv[4], agent.atom.extra, &extra);
    if (!exception) {
        came.value = more ? extra : 0;
        if (fn->framed)
            end_event(t, &fn->ret, env, argv[2], fn, &came, kept);
        return;
    }
    if (more && enif_get_tuple(env, extra, &n, &e) && n == 2 && enif_is_atom(env, e[0]))
        came = (struct came){.at = came.at, .class = e[0], .value = e[1]};
    end_event(t, &fn->exception, env, argv[2], fn, &came, kept);
}

void tracer_frame_gone(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                       const ERL_NIF_TERM argv[], bool exception)
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool args;
    frames_gone(argv[2]);
    if (!event_get_mfa(env, argv[3], &m, &f, &arity, &args))
        return;
    const struct function *fn = snapshot_function(s, m, f, arity);
    if (!fn || !(exception || fn->framed || fn->kept))
        return;
    struct kept_calls *k = fn->kept ? kept_open(kept_table(), argv[2], false) : NULL;
    end_of(t, env, argv, fn, exception, k ? kept_pop(k, fn->kept) : NULL);
    kept_close(k);
}
