/* snapshot.c - makes the table that an event looks into. See agent.h. */
#include "beam/agent.h"

#include <string.h>

#include "base/hash.h"

static uint32_t hash_function(ERL_NIF_TERM m, ERL_NIF_TERM f, uint32_t arity)
{
    return (uint32_t)hash_mix(m ^ 0x9e3779b97f4a7c15u, f ^ (uint64_t)arity << 32);
}

struct function *snapshot_function(const struct snapshot *s, ERL_NIF_TERM m, ERL_NIF_TERM f,
                                   uint32_t arity)
{
    if (s->nfunctions == 0)
        return NULL;
    for (uint32_t i = hash_function(m, f, arity) & s->mask; s->slot[i].m; i = (i + 1) & s->mask)
        if (s->slot[i].f == f && s->slot[i].m == m && s->slot[i].arity == arity)
            return &s->function[s->slot[i].index];
    return NULL;
}

/* The function's place in the table, made when it has none. */
static struct function *make_function(struct snapshot *s, const struct program_probe *p)
{
    uint32_t i = hash_function(p->m, p->f, p->arity) & s->mask;
    for (; s->slot[i].m; i = (i + 1) & s->mask)
        if (s->slot[i].f == p->f && s->slot[i].m == p->m && s->slot[i].arity == p->arity)
            return &s->function[s->slot[i].index];
    s->slot[i] = (struct function_slot){p->m, p->f, p->arity, s->nfunctions};
    struct function *fn = &s->function[s->nfunctions++];
    fn->m = p->m;
    fn->f = p->f;
    fn->arity = p->arity;
    return fn;
}

static struct bounds *bounds_of(struct snapshot *s, const struct program_probe *p)
{
    if (p->kind < PROBE_FN_ENTRY)
        return &s->named[p->kind];
    struct function *fn = make_function(s, p);
    return p->kind == PROBE_FN_ENTRY    ? &fn->entry
           : p->kind == PROBE_FN_RETURN ? &fn->ret
                                        : &fn->exception;
}

static bool add(struct snapshot *s, struct bounds *to, struct program *p,
                const struct program_probe *probe)
{
    /* Few programs share a probe: a new array for each further one is no waste worth a pass of
     * counting. */
    struct bound *v = arena_alloc(&s->arena, (to->n + 1) * sizeof *v);
    if (!v)
        return false;
    if (to->n)
        memcpy(v, to->v, to->n * sizeof *v);
    v[to->n] = (struct bound){p->engine, &probe->id, probe->b, probe->n};
    to->v = v;
    to->n++;
    return true;
}

struct snapshot *snapshot_new(ErlNifEnv *env, struct program *const *p, uint32_t n)
{
    struct snapshot *s = et_calloc(1, sizeof *s);
    uint32_t functions = 0, cap = 16;
    if (!s)
        return NULL;
    arena_init(&s->arena);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < p[i]->nprobes; j++)
            functions += p[i]->probe[j].kind >= PROBE_FN_ENTRY;
    while (cap < 2 * functions)
        cap *= 2;
    s->mask = cap - 1;
    s->slot = arena_alloc(&s->arena, cap * sizeof *s->slot);
    s->function = arena_alloc(&s->arena, (functions + 1) * sizeof *s->function);
    s->program = arena_alloc(&s->arena, (n + 1) * sizeof *s->program);
    if (!s->slot || !s->function || !s->program)
        goto fail;
    for (uint32_t i = 0; i < n; i++) {
        enif_keep_resource(p[i]);
        s->program[s->nprograms++] = p[i];
        s->vtime = s->vtime || p[i]->vtime;
        for (uint32_t j = 0; j < p[i]->nprobes; j++)
            if (!add(s, bounds_of(s, &p[i]->probe[j]), p[i], &p[i]->probe[j]))
                goto fail;
    }
    for (uint32_t i = 0; i < s->nfunctions; i++) {
        struct function *fn = &s->function[i];
        char text[2 * 1024 + 16];
        size_t len = term_mfa(env, fn->m, fn->f, fn->arity, text, sizeof text);
        fn->text = arena_strndup(&s->arena, text, len);
        if (!fn->text)
            goto fail;
        fn->text_len = (uint16_t)len;
        fn->local = fn->ret.n > 0;
        s->exceptions = s->exceptions || fn->exception.n > 0;
    }
    return s;
fail:
    snapshot_free(s);
    return NULL;
}

void snapshot_free(struct snapshot *s)
{
    for (uint32_t i = 0; i < s->nprograms; i++)
        enif_release_resource(s->program[i]);
    arena_free(&s->arena);
    et_free(s);
}
