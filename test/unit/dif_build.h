/* dif_build.h - small images by hand, for tests of DIF and engine. Not the compiler: just enough to
 * say what a test means. */
#ifndef ET_TEST_DIF_BUILD_H
#define ET_TEST_DIF_BUILD_H

#include <string.h>

#include "dif/dif.h"

struct build {
    struct dif_image img;
    char strtab[4096];
    uint32_t str[64];
    uint64_t ints[64];
    struct dif_var vars[16];
    struct dif_agg aggs[16];
    struct dif_type parts[64];
    uint32_t refs[16];
    struct dif_action actions[64];
    struct dif_sub subs[16];
    struct dif_clause clauses[16];
    uint32_t code[1024];
};

static inline void build_init(struct build *b)
{
    memset(b, 0, sizeof *b);
    arena_init(&b->img.arena);
    b->img.strsize = 256;
    b->img.scratchsize = 256;
    b->img.strtab = b->strtab;
    b->img.strtab_len = 1; /* "" at offset 0 */
    b->img.nstr = 1;
    b->img.str = b->str;
    b->img.ints = b->ints;
    b->img.vars = b->vars;
    b->img.aggs = b->aggs;
    b->img.parts = b->parts;
    b->img.refs = b->refs;
    b->img.actions = b->actions;
    b->img.subs = b->subs;
    b->img.clauses = b->clauses;
    b->img.code = b->code;
    b->img.builtins = (UINT64_C(1) << DIF_NBUILTINS) - 1;
}

static inline uint32_t build_str(struct build *b, const char *s)
{
    b->str[b->img.nstr] = b->img.strtab_len;
    memcpy(b->strtab + b->img.strtab_len, s, strlen(s) + 1);
    b->img.strtab_len += (uint32_t)strlen(s) + 1;
    return b->img.nstr++;
}

static inline uint32_t build_int(struct build *b, uint64_t v)
{
    b->ints[b->img.nints] = v;
    return b->img.nints++;
}

static inline uint32_t build_var(struct build *b, enum dif_scope scope, struct dif_type type,
                                 unsigned nkeys, const struct dif_type *key)
{
    struct dif_var *v = &b->vars[b->img.nvars];
    *v = (struct dif_var){
        .name = build_str(b, "v"), .scope = (uint8_t)scope, .assoc = nkeys > 0, .type = type};
    v->keys.n = (uint8_t)nkeys;
    for (unsigned i = 0; i < nkeys; i++)
        v->keys.key[i] = key[i];
    return b->img.nvars++;
}

static inline uint32_t build_agg(struct build *b, enum word_agg func, unsigned nkeys,
                                 const struct dif_type *key)
{
    struct dif_agg *a = &b->aggs[b->img.naggs];
    *a = (struct dif_agg){.name = build_str(b, "a"), .func = (uint8_t)func};
    a->keys.n = (uint8_t)nkeys;
    for (unsigned i = 0; i < nkeys; i++)
        a->keys.key[i] = key[i];
    return b->img.naggs++;
}

/* Starts a clause; instructions follow by build_op, its end by build_end. */
static inline void build_clause(struct build *b)
{
    struct dif_clause *c = &b->clauses[b->img.nclauses++];
    c->code = b->img.ncode;
    c->action = b->img.nactions;
    c->part = b->img.nparts;
}

static inline void build_op(struct build *b, uint32_t in)
{
    struct dif_clause *c = &b->clauses[b->img.nclauses - 1];
    b->code[b->img.ncode++] = in;
    c->ncode++;
    c->records |= in >> 24 == DIF_OP_RECB || in >> 24 == DIF_OP_RECN;
}

/* An action that began at clause instruction `pc`, with this one part (kind 0: none). */
static inline void build_action(struct build *b, enum word_action kind, uint32_t pc,
                                struct dif_type part)
{
    struct dif_clause *c = &b->clauses[b->img.nclauses - 1];
    struct dif_action *a = &b->actions[b->img.nactions++];
    *a = (struct dif_action){.kind = (uint8_t)kind,
                             .pc = pc,
                             .npc = c->ncode - pc,
                             .part = b->img.nparts,
                             .format = DIF_NO_STRING};
    c->nactions++;
    if (part.kind != 0) {
        b->parts[b->img.nparts++] = part;
        a->nparts = 1;
        c->nparts++;
    }
}

/* The last n actions are a sub-clause that records. */
static inline void build_sub(struct build *b, uint32_t n)
{
    struct dif_clause *c = &b->clauses[b->img.nclauses - 1];
    struct dif_sub *s = &b->subs[b->img.nsubs];
    if (c->nsubs++ == 0)
        c->sub = b->img.nsubs;
    b->img.nsubs++;
    *s = (struct dif_sub){b->img.nactions - n, n, b->actions[b->img.nactions - n].part, 0};
    s->nparts = b->img.nparts - s->part;
}

static inline void build_end(struct build *b)
{
    build_op(b, dif_abc(DIF_OP_RET, 0, 0, 0));
}

#endif
