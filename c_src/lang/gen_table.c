/* gen_table.c - the tables of an image: strings, integers, types, variables, aggregations.
 *
 * Equal strings and equal integers are stored once. */
#include "lang/gen.h"
#include "util/table.h"

#include <string.h>

enum { TABLE_MOST = 65536 }; /* the range of a 16-bit imm */

_Static_assert((int)DIF_UADDR - (int)DIF_STACK == (int)T_UADDR - (int)T_STACK,
               "lang and dif agree on stacks and symbols");

void gen_init(struct gen *g, struct diags *d, const struct compile_options *opt)
{
    memset(g, 0, sizeof *g);
    arena_init(&g->arena);
    g->diags = d;
    g->strsize = opt->strsize;
    g->scratchsize = opt->scratchsize;
    g->nregs = opt->iregs < DIF_NREGS ? opt->iregs : DIF_NREGS;
}

void gen_free(struct gen *g)
{
    struct buf *const bufs[] = {&g->strtab, &g->str,     &g->ints, &g->vars,    &g->aggs, &g->parts,
                                &g->refs,   &g->actions, &g->subs, &g->clauses, &g->code};
    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++)
        buf_free(bufs[i]);
    hash_free(&g->str_index);
    hash_free(&g->int_index);
    arena_free(&g->arena);
}

_Noreturn void gen_nomem(struct gen *g)
{
    longjmp(g->trap, -ET_ENOMEM);
}

_Noreturn void gen_fail(struct gen *g, const char *tag, const char *text, const char *hint)
{
    diag_error(g->diags, ET_ECOMPILE, g->pos, tag, hint, "%s", text);
    longjmp(g->trap, -ET_ECOMPILE);
}

/* Returns the number of a key in a table of unique elements; 0 if it is new. */
static uint32_t number_of(const struct hash *h, const void *key, size_t len)
{
    return (uint32_t)(uintptr_t)hash_get(h, key, len);
}

static void number_it(struct gen *g, struct hash *h, const void *key, size_t len, uint32_t number)
{
    const void *copy = arena_strndup(&g->arena, key, len);
    if (!copy || hash_put(h, copy, len, (void *)(uintptr_t)number) != 0)
        gen_nomem(g);
}

uint32_t gen_str(struct gen *g, const char *s)
{
    size_t len = strlen(s) + 1;
    uint32_t n = number_of(&g->str_index, s, len);
    if (n > 0)
        return n - 1;
    n = (uint32_t)(g->str.len / 4);
    if (n == TABLE_MOST)
        gen_fail(g, "D_UNKNOWN", "the program has too many strings", NULL);
    uint32_t offset = (uint32_t)g->strtab.len;
    buf_add(&g->strtab, s, len);
    buf_add(&g->str, &offset, sizeof offset);
    number_it(g, &g->str_index, s, len, n + 1);
    return n;
}

uint32_t gen_int(struct gen *g, uint64_t v)
{
    uint32_t n = number_of(&g->int_index, &v, sizeof v);
    if (n > 0)
        return n - 1;
    n = (uint32_t)(g->ints.len / sizeof v);
    if (n == TABLE_MOST)
        gen_fail(g, "D_UNKNOWN", "the program has too many integer constants", NULL);
    buf_add(&g->ints, &v, sizeof v);
    number_it(g, &g->int_index, &v, sizeof v, n + 1);
    return n;
}

struct dif_type gen_type(const struct gen *g, const struct type *t)
{
    struct dif_type d = {DIF_STRING, g->strsize};
    if (type_is_int(t)) {
        d.kind = t->is_signed ? DIF_INT : DIF_UINT;
        d.size = t->size;
    } else if (t->kind == TYPE_PTR) {
        d = (struct dif_type){DIF_UINT, 8};
    } else if (type_is_place(t)) {
        d = (struct dif_type){(uint8_t)(DIF_STACK + (t->place - T_STACK)), t->size};
    } else if (t->kind == TYPE_FLOAT) {
        d = (struct dif_type){DIF_FLOAT, t->size};
    } else if (type_is_bytes(t)) {
        d = (struct dif_type){DIF_BYTES, type_size(t)};
    }
    return d;
}

static struct dif_keys keys_of(const struct gen *g, const struct type *const *key, unsigned n)
{
    struct dif_keys k;
    memset(&k, 0, sizeof k);
    k.n = (uint8_t)n;
    for (unsigned i = 0; i < n; i++)
        k.key[i] = gen_type(g, key[i]);
    return k;
}

void gen_vars(struct gen *g, const struct lang *l)
{
    static const uint8_t scope[] = {
        [SCOPE_GLOBAL] = DIF_GLOBAL, [SCOPE_THREAD] = DIF_THREAD, [SCOPE_CLAUSE] = DIF_CLAUSE};
    uint32_t n;
    const struct lang_var *v = lang_vars(l, &n);
    if (n > TABLE_MOST)
        gen_fail(g, "D_ID_OFLOW", "the program has too many variables", NULL);
    for (; v; v = v->next) {
        struct dif_var d;
        memset(&d, 0, sizeof d);
        d.name = gen_str(g, v->name);
        d.scope = scope[v->scope];
        d.assoc = v->assoc;
        d.type = gen_type(g, v->type);
        if (d.type.kind == DIF_FLOAT)
            d.type.kind = DIF_BYTES; /* the form in which it is stored; recorded as a float */
        d.keys = keys_of(g, v->key, v->nkeys);
        buf_add(&g->vars, &d, sizeof d);
    }
}

void gen_aggs(struct gen *g, const struct lang *l)
{
    uint32_t n;
    const struct lang_agg *a = lang_aggs(l, &n);
    if (n > TABLE_MOST)
        gen_fail(g, "D_ID_OFLOW", "the program has too many aggregations", NULL);
    for (; a; a = a->next) {
        struct dif_agg d;
        memset(&d, 0, sizeof d);
        d.name = gen_str(g, a->name);
        d.func = (uint8_t)a->func;
        d.keys = keys_of(g, a->key, a->nkeys);
        memcpy(d.param, a->param, sizeof d.param);
        buf_add(&g->aggs, &d, sizeof d);
    }
}

/* Copies a table into the image's arena. */
static void *moved(struct dif_image *img, const struct buf *b, size_t size, uint32_t *n, bool *oom)
{
    void *p = arena_alloc(&img->arena, b->len > 0 ? b->len : 1);
    if (!p || b->oom) {
        *oom = true;
        return NULL;
    }
    if (b->len > 0)
        memcpy(p, b->data, b->len);
    *n = (uint32_t)(b->len / size);
    return p;
}

int gen_finish(struct gen *g, struct dif_image *img)
{
    bool oom = false;
    img->strsize = g->strsize;
    img->scratchsize = g->scratchsize;
    img->builtins = g->builtins;
    img->strtab = moved(img, &g->strtab, 1, &img->strtab_len, &oom);
    img->str = moved(img, &g->str, sizeof *img->str, &img->nstr, &oom);
    img->ints = moved(img, &g->ints, sizeof *img->ints, &img->nints, &oom);
    img->vars = moved(img, &g->vars, sizeof *img->vars, &img->nvars, &oom);
    img->aggs = moved(img, &g->aggs, sizeof *img->aggs, &img->naggs, &oom);
    img->parts = moved(img, &g->parts, sizeof *img->parts, &img->nparts, &oom);
    img->refs = moved(img, &g->refs, sizeof *img->refs, &img->nrefs, &oom);
    img->actions = moved(img, &g->actions, sizeof *img->actions, &img->nactions, &oom);
    img->subs = moved(img, &g->subs, sizeof *img->subs, &img->nsubs, &oom);
    img->clauses = moved(img, &g->clauses, sizeof *img->clauses, &img->nclauses, &oom);
    img->code = moved(img, &g->code, sizeof *img->code, &img->ncode, &oom);
    if (!oom)
        return 0;
    dif_image_free(img);
    dif_image_init(img);
    return ET_ENOMEM;
}
