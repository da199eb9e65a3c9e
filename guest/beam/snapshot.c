/* snapshot.c - makes the table that events look up. See agent.h. */
#include "beam/probe/hooks.h"

#include <string.h>

#include "base/hash.h"
#include "base/size.h"

uint32_t snapshot_hash(ERL_NIF_TERM m, ERL_NIF_TERM f, uint32_t arity)
{
    return (uint32_t)hash_mix(m ^ 0x9e3779b97f4a7c15u, f ^ (uint64_t)arity << 32);
}

bool snapshot_next(ErlNifEnv *env, ERL_NIF_TERM *list, ERL_NIF_TERM *m, ERL_NIF_TERM *f,
                   unsigned *arity)
{
    ERL_NIF_TERM head;
    const ERL_NIF_TERM *e;
    int n;
    while (enif_get_list_cell(env, *list, &head, list)) {
        if (!enif_get_tuple(env, head, &n, &e) || n != 3 || !enif_get_uint(env, e[2], arity))
            continue;
        *m = e[0];
        *f = e[1];
        return true;
    }
    return false;
}

struct function *snapshot_function(const struct snapshot *s, ERL_NIF_TERM m, ERL_NIF_TERM f,
                                   uint32_t arity)
{
    if (s->nfunctions == 0)
        return NULL;
    for (uint32_t i = snapshot_hash(m, f, arity) & s->mask; s->slot[i].m; i = (i + 1) & s->mask)
        if (s->slot[i].f == f && s->slot[i].m == m && s->slot[i].arity == arity)
            return &s->function[s->slot[i].index];
    return NULL;
}

/* Returns the function's place in the table, which it makes if needed. */
static struct function *make_function(struct snapshot *s, ERL_NIF_TERM m, ERL_NIF_TERM f,
                                      uint32_t arity)
{
    uint32_t i = snapshot_hash(m, f, arity) & s->mask;
    for (; s->slot[i].m; i = (i + 1) & s->mask)
        if (s->slot[i].f == f && s->slot[i].m == m && s->slot[i].arity == arity)
            return &s->function[s->slot[i].index];
    s->slot[i] = (struct function_slot){m, f, arity, s->nfunctions};
    struct function *fn = &s->function[s->nfunctions++];
    fn->m = m;
    fn->f = f;
    fn->arity = arity;
    return fn;
}

/* Adds the functions whose calls are wanted probes. Returns false when out of memory. */
static bool add_hooks(ErlNifEnv *env, struct snapshot *s, const bool *wanted)
{
    const struct hook *h;
    for (size_t i = 0; (h = hook_at(i)) != NULL; i++) {
        if (!wanted[h->kind])
            continue;
        struct hook_ref *r = arena_alloc(&s->arena, sizeof *r);
        if (!r)
            return false;
        struct function *fn = make_function(s, enif_make_atom(env, h->module),
                                            enif_make_atom(env, h->function), h->arity);
        *r = (struct hook_ref){h, fn->hook};
        fn->hook = r;
    }
    return true;
}

/* Notes what the program wants to know of a call at its end. */
static void keep(struct function *fn, const struct program *p, unsigned uses)
{
    const uint16_t words = (uint16_t)(p->argsize / sizeof(uint64_t));
    fn->keeps_args = fn->keeps_args || (uses & PROBE_USE_ARGS) != 0;
    fn->keeps_time = fn->keeps_time || (uses & PROBE_USE_TIME) != 0;
    if ((uses & PROBE_USE_ARGS) != 0 && words > fn->keeps_words)
        fn->keeps_words = words;
}

static struct bounds *bounds_of(struct snapshot *s, const struct program *owner,
                                const struct program_probe *p)
{
    if (p->kind == PROBE_USER_TRACE_N)
        return &s->label[p->label];
    if (p->kind == PROBE_USER) {
        s->user[s->nuser] = (struct user_probe){.name = p->user, .glob = p->id.name};
        return &s->user[s->nuser++].bounds;
    }
    if (p->kind < PROBE_FN_ENTRY)
        return &s->named[p->kind];
    struct function *fn = make_function(s, p->m, p->f, p->arity);
    switch (probe_fn_event(p->kind)) {
    case PROBE_FN_RETURN: keep(fn, owner, p->uses); return &fn->ret;
    case PROBE_FN_EXCEPTION: keep(fn, owner, p->uses); return &fn->exception;
    case PROBE_FN_LOCAL_ENTRY: return &fn->local_entry;
    case PROBE_FN_GLOBAL_ENTRY: return &fn->global_entry;
    default: return &fn->entry;
    }
}

static bool add(struct snapshot *s, struct bounds *to, struct program *p,
                const struct program_probe *probe, struct load_probe *cost)
{
    /* Few programs share a probe: a new array for each further one wastes less than a counting pass
     * would cost. */
    struct bound *v = arena_array(&s->arena, size_add(to->n, 1), sizeof *v);
    if (!v)
        return false;
    if (to->n)
        memcpy(v, to->v, size_mul(to->n, sizeof *v)); /* less than was just allocated */
    v[to->n] = (struct bound){p->engine,   &probe->id, probe->b, probe->n,
                              probe->uses, &p->load,   cost,     program_view(p)};
    to->v = v;
    to->n++;
    return true;
}

/* Returns whether a program reads the value of some returns of a function: then it gets all of them
 * in that way. */
static bool with_values(const struct bounds *ret, const struct engine *program)
{
    for (uint32_t i = 0; i < ret->n; i++)
        if (ret->v[i].engine == program && (ret->v[i].uses & PROBE_USE_VALUE) != 0)
            return true;
    return false;
}

struct snapshot *snapshot_new(ErlNifEnv *env, struct program *const *p, uint32_t n)
{
    static uint64_t texts = STAYS_OF_FUNCTIONS; /* only the server gets here */
    struct snapshot *s = et_calloc(1, sizeof *s);
    uint64_t functions = 0, users = 0, cap = 16;
    bool wanted[PROBE_FN_ENTRY] = {false};
    if (!s)
        return NULL;
    arena_init(&s->arena);
    for (uint32_t i = 0; i < n; i++)
        for (const struct program_probes *pp = &p[i]->probes; pp; pp = pp->next)
            for (uint32_t j = 0; j < pp->n; j++)
                if (pp->v[j].kind >= PROBE_FN_ENTRY) {
                    functions++;
                } else {
                    wanted[pp->v[j].kind] = true;
                    users += pp->v[j].kind == PROBE_USER;
                }
    for (size_t i = 0; hook_at(i); i++)
        functions += wanted[hook_at(i)->kind];
    while (cap < size_mul(2, functions))
        cap = size_mul(cap, 2);
    if (!size_fits(cap - 1, &s->mask)) /* more functions than slots have numbers */
        goto fail;
    s->slot = arena_array(&s->arena, cap, sizeof *s->slot);
    s->function = arena_array(&s->arena, size_add(functions, 1), sizeof *s->function);
    s->user = arena_array(&s->arena, size_add(users, 1), sizeof *s->user);
    if (wanted[PROBE_USER_TRACE_N])
        s->label = arena_array(&s->arena, PROBE_LABELS, sizeof *s->label);
    s->program = arena_array(&s->arena, size_add(n, 1), sizeof *s->program);
    s->load = arena_array(&s->arena, size_add(n, 1), sizeof *s->load);
    if (!s->slot || !s->function || !s->program || !s->load || !s->user ||
        (wanted[PROBE_USER_TRACE_N] && !s->label))
        goto fail;
    for (uint32_t i = 0; i < n; i++) {
        enif_keep_resource(p[i]);
        s->load[s->nprograms] = &p[i]->load;
        s->program[s->nprograms++] = p[i];
        s->vtime = s->vtime || p[i]->vtime;
        for (const struct program_probes *pp = &p[i]->probes; pp; pp = pp->next)
            for (uint32_t j = 0; j < pp->n; j++)
                if (!pp->v[j].counted &&
                    !add(s, bounds_of(s, p[i], &pp->v[j]), p[i], &pp->v[j], &pp->cost[j]))
                    goto fail;
    }
    if (!add_hooks(env, s, wanted))
        goto fail;
    for (uint32_t i = 0; i < s->nfunctions; i++) {
        struct function *fn = &s->function[i];
        char text[2 * 1024 + 16];
        size_t len = term_mfa(env, fn->m, fn->f, fn->arity, text, sizeof text);
        fn->text = arena_strndup(&s->arena, text, len);
        if (!fn->text)
            goto fail;
        fn->text_len = (uint16_t)len;
        fn->stays = texts++;
        for (uint32_t j = 0; j < fn->ret.n; j++)
            if (with_values(&fn->ret, fn->ret.v[j].engine)) {
                fn->ret.v[j].uses |= PROBE_USE_VALUE;
                fn->framed = true;
            } else {
                fn->local = true;
            }
        fn->global_only = fn->entry.n + fn->ret.n + fn->exception.n + fn->local_entry.n == 0;
        s->returns = s->returns || fn->ret.n > 0;
    }
    return s;
fail:
    snapshot_free(s);
    return NULL;
}

void snapshot_number(struct snapshot *s, const struct snapshot *before)
{
    static uint64_t last; /* only the server gets here */
    for (uint32_t i = 0; i < s->nfunctions; i++) {
        struct function *fn = &s->function[i];
        const struct function *was =
            before ? snapshot_function(before, fn->m, fn->f, fn->arity) : NULL;
        if (fn->keeps_args || fn->keeps_time)
            fn->kept = was && was->kept && was->keeps_args == fn->keeps_args &&
                               was->keeps_time == fn->keeps_time
                           ? was->kept
                           : ++last;
    }
}

void snapshot_free(struct snapshot *s)
{
    for (uint32_t i = 0; i < s->nprograms; i++)
        enif_release_resource(s->program[i]);
    arena_free(&s->arena);
    et_free(s);
}
