/* hooks.h - named probes that are calls of certain functions: a hook is one such function.
 *
 *     {PROBE_CODE_PURGE, "erts_internal", "purge_module", 2, arg_code, is_complete},
 *
 * A row of the table in hooks.c names the function and says how the probe's arguments are derived
 * from those of the call, which are in `argv` of the event (hook_event_of). A kind of probe may
 * have several rows.
 *
 * program_enable tells the server which functions the probes of a program need. The server sets a
 * meta pattern on each, even when the function has a local pattern for its returns: events of meta
 * patterns carry the arguments, and every process fires them. So a hook fires at the one meta event
 * of a call, and never at the local one. */
#ifndef ET_BEAM_PROBE_HOOKS_H
#define ET_BEAM_PROBE_HOOKS_H

#include "beam/tracer.h"

enum { HOOK_ARGS_MAX = 10 };

struct hook_event {
    struct event ev; /* first; msg is the list of arguments */
    const struct hook *hook;
    uint32_t argc;
    ERL_NIF_TERM argv[HOOK_ARGS_MAX];
};

static inline struct hook_event *hook_event_of(struct engine_ctx *ctx)
{
    return (struct hook_event *)(void *)ctx;
}

struct hook {
    enum probe_kind kind;
    const char *module, *function;
    unsigned arity; /* at most HOOK_ARGS_MAX */
    event_arg_fn *arg;
    /* Returns whether this call is one, by its arguments; NULL: every call is. */
    bool (*is)(const struct hook_event *h);
    /* Fires the probes that match this call; NULL: the kind has only one, which needs nothing
     * else. */
    void (*fire)(const struct snapshot *s, struct engine_thread *t, struct hook_event *h);
    /* Returns whether the arguments have the shapes that the function has in the releases that we
     * know; NULL: what they are is the caller's affair. */
    bool (*known)(const struct hook_event *h);
};

/* Returns the i-th row, NULL after the last. */
const struct hook *hook_at(size_t i);
/* Returns whether probes of this kind are (also) calls of functions. */
bool hook_kind(enum probe_kind kind);

/* A hook of a function in a snapshot: a probe that its calls are. */
struct hook_ref {
    const struct hook *hook;
    const struct hook_ref *next;
};
/* Fires the probes that match this call. args: the list of its arguments. */
void hooks_fire(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env, ERL_NIF_TERM pid,
                const struct function *fn, ERL_NIF_TERM args);

/* -- defined in other files: hooks with arguments of their own */

/* tracer_signal.c: exit signals, hibernation */
bool is_signal_here(const struct hook_event *h);
bool is_signal_elsewhere(const struct hook_event *h);
uint64_t arg_signal(struct engine_ctx *ctx, unsigned n);
uint64_t arg_signal_remote(struct engine_ctx *ctx, unsigned n);
void fire_signal(const struct snapshot *s, struct engine_thread *t, struct hook_event *h);
bool is_hibernation(const struct hook_event *h);
bool is_hibernation_of_proc_lib(const struct hook_event *h);
bool is_hibernation_of_server(const struct hook_event *h);
uint64_t arg_hibernate(struct engine_ctx *ctx, unsigned n);
/* tracer_user.c: dyntrace and erltrace:probe */
uint64_t arg_user_trace(struct engine_ctx *ctx, unsigned n);
uint64_t arg_user_trace_s1(struct engine_ctx *ctx, unsigned n);
bool is_user_trace_s1(const struct hook_event *h);
void fire_label(const struct snapshot *s, struct engine_thread *t, struct hook_event *h);
uint64_t arg_user(struct engine_ctx *ctx, unsigned n);
void fire_user(const struct snapshot *s, struct engine_thread *t, struct hook_event *h);

#endif
