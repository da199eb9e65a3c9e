/* hooks.c - the table of hooks, and their firing. See hooks.h. */
#include "beam/probe/hooks.h"
#include "beam/probe/shapes.h"

#include <string.h>

#include "beam/probe/term_read.h"

/* -- code -------------------------------------------------------------------------------------- */

/* erts_internal:prepare_loading(Module, Code), purge_module(Module, Phase) */
static uint64_t arg_code(struct engine_ctx *ctx, unsigned n)
{
    struct hook_event *h = hook_event_of(ctx);
    size_t bytes;
    switch (n) {
    case 0: return event_pid(&h->ev, h->ev.pid);
    case 1: return event_atom(&h->ev, h->argv[0]);
    case 2: return read_size(h->ev.env, h->argv[1], &bytes) ? bytes : 0;
    default: return 0;
    }
}

/* A purge has phases; the last one removes the code. */
static bool is_complete(const struct hook_event *h)
{
    return h->argv[1] == agent.atom.complete;
}

/* The phases are the VM's own affair, which a release may change. (What else a caller passes is his
 * own, as elsewhere.) */
static bool purges_known(const struct hook_event *h)
{
    const struct atoms *a = &agent.atom;
    return h->argv[1] == a->complete || h->argv[1] == a->prepare ||
           h->argv[1] == a->prepare_on_load || h->argv[1] == a->abort;
}

/* -- ETS --------------------------------------------------------------------------------------- */

/* "insert/2" */
static uint64_t operation(struct hook_event *h)
{
    size_t n = strlen(h->hook->function);
    char *p = event_room(&h->ev, n + 3);
    if (!p)
        return event_constant(&h->ev, "");
    memcpy(p, h->hook->function, n);
    p[n] = '/';
    p[n + 1] = (char)('0' + h->hook->arity);
    p[n + 2] = '\0';
    return event_text(&h->ev, p, n + 2);
}

/* Arguments of functions whose first argument is the table, or {Table, ...}, which continues an
 * earlier scan. */
static uint64_t arg_ets(struct engine_ctx *ctx, unsigned n)
{
    struct hook_event *h = hook_event_of(ctx);
    const ERL_NIF_TERM *e;
    ERL_NIF_TERM table = h->argv[0];
    int size;
    switch (n) {
    case 0: return event_pid(&h->ev, h->ev.pid);
    case 1:
        if (enif_get_tuple(h->ev.env, table, &size, &e) && size > 0)
            table = e[0];
        return enif_is_atom(h->ev.env, table) || enif_is_ref(h->ev.env, table)
                   ? event_atom(&h->ev, table)
                   : event_constant(&h->ev, "<unknown>");
    case 2: return operation(h);
    case 3: /* what the call inserts */
        return h->hook->kind == PROBE_ETS_WRITE && strncmp(h->hook->function, "insert", 6) == 0
                   ? event_words(&h->ev, h->argv[1])
                   : TERM_SIZE_UNKNOWN;
    default: return 0;
    }
}

/* -- the table --------------------------------------------------------------------------------- */

/* clang-format off */
static const struct hook hooks[] = {
    {PROBE_USER_TRACE_S1, "dyntrace", "user_trace_s1", 1, arg_user_trace_s1, is_user_trace_s1, NULL},
    {PROBE_USER_TRACE_I4S4, "dyntrace", "user_trace_i4s4", 9, arg_user_trace, NULL, NULL},
    {PROBE_USER_TRACE_N, "dyntrace", "user_trace_n", 10, arg_user_trace, NULL, fire_label},
#define USER(arity) {PROBE_USER, "erltrace", "probe", arity, arg_user, NULL, fire_user}
    USER(1), USER(2), USER(3), USER(4), USER(5), USER(6), USER(7), USER(8), USER(9),
#undef USER
#define ETS(kind, function, arity) {PROBE_ETS_##kind, "ets", function, arity, arg_ets, NULL, NULL}
    ETS(NEW, "new", 2),
    ETS(READ, "lookup", 2), ETS(READ, "lookup_element", 3), ETS(READ, "lookup_element", 4), ETS(READ, "member", 2),
    ETS(READ, "first", 1), ETS(READ, "last", 1), ETS(READ, "next", 2), ETS(READ, "prev", 2),
    ETS(READ, "first_lookup", 1), ETS(READ, "last_lookup", 1), ETS(READ, "next_lookup", 2), ETS(READ, "prev_lookup", 2),
    ETS(READ, "slot", 2),
    ETS(WRITE, "insert", 2), ETS(WRITE, "insert_new", 2), ETS(WRITE, "update_counter", 3), ETS(WRITE, "update_counter", 4),
    ETS(WRITE, "update_element", 3), ETS(WRITE, "update_element", 4),
    ETS(DELETE, "delete", 1), ETS(DELETE, "delete", 2), ETS(DELETE, "delete_object", 2), ETS(DELETE, "delete_all_objects", 1),
    ETS(DELETE, "take", 2),
    ETS(SCAN, "match", 1), ETS(SCAN, "match", 2), ETS(SCAN, "match", 3),
    ETS(SCAN, "match_object", 1), ETS(SCAN, "match_object", 2), ETS(SCAN, "match_object", 3),
    ETS(SCAN, "select", 1), ETS(SCAN, "select", 2), ETS(SCAN, "select", 3),
    ETS(SCAN, "select_reverse", 1), ETS(SCAN, "select_reverse", 2), ETS(SCAN, "select_reverse", 3),
    ETS(SCAN, "select_count", 2), ETS(SCAN, "select_delete", 2), ETS(SCAN, "select_replace", 2),
#undef ETS
#define SIGNAL(arity) \
    {PROBE_PROCESS_EXIT_SIGNAL, "erlang", "exit", arity, arg_signal, is_signal_here, fire_signal}, \
    {PROBE_PROCESS_EXIT_SIGNAL_REMOTE, "erlang", "exit", arity, arg_signal_remote, is_signal_elsewhere, fire_signal}
    SIGNAL(2), SIGNAL(3),
#undef SIGNAL
#define HIBERNATE(module, function, arity, is) {PROBE_PROCESS_HIBERNATE, module, function, arity, arg_hibernate, is, NULL}
    HIBERNATE("erlang", "hibernate", 3, is_hibernation), HIBERNATE("erlang", "hibernate", 0, is_hibernation),
    HIBERNATE("proc_lib", "hibernate", 3, is_hibernation_of_proc_lib),
    HIBERNATE("gen_server", "loop_hibernate", 4, is_hibernation_of_server),
    HIBERNATE("gen_statem", "loop_hibernate", 3, is_hibernation_of_server),
#undef HIBERNATE
    {PROBE_CODE_LOAD, "erts_internal", "prepare_loading", 2, arg_code, NULL, NULL, NULL},
    {PROBE_CODE_PURGE, "erts_internal", "purge_module", 2, arg_code, is_complete, NULL, purges_known},
};
/* clang-format on */

enum { HOOKS = sizeof hooks / sizeof *hooks };

const struct hook *hook_at(size_t i)
{
    return i < HOOKS ? &hooks[i] : NULL;
}

bool hook_kind(enum probe_kind kind)
{
    for (size_t i = 0; i < HOOKS; i++)
        if (hooks[i].kind == kind)
            return true;
    return false;
}

void hooks_fire(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env, ERL_NIF_TERM pid,
                const struct function *fn, ERL_NIF_TERM args)
{
    struct hook_event h;
    ERL_NIF_TERM list = args;
    h.argc = 0;
    while (h.argc < HOOK_ARGS_MAX && enif_get_list_cell(env, list, &h.argv[h.argc], &list))
        h.argc++;
    for (const struct hook_ref *r = fn->hook; r; r = r->next) {
        h.hook = r->hook;
        if (h.argc != r->hook->arity)
            continue;
        event_init(&h.ev, t, env, pid, args, r->hook->arg);
        h.ev.fn = fn;
        h.ev.args = args;
        if (r->hook->known && !r->hook->known(&h)) {
            shapes_lost_call(&s->named[r->hook->kind], t);
            continue;
        }
        if (r->hook->is && !r->hook->is(&h))
            continue;
        if (r->hook->fire)
            r->hook->fire(s, t, &h);
        else
            event_fire(&h.ev, t, &s->named[r->hook->kind]);
    }
}
