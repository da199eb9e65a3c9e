/* encode.c - a program image's binary form, as guest/dif/image.c describes and reads it. */
#include "lang/encode.h"

#include "base/err.h"
#include "base/size.h"
#include "util/buftext.h"

static void put_type(struct buf *out, const struct dif_type *t)
{
    buf_u8(out, t->kind);
    buf_u32(out, t->size);
}

static void put_keys(struct buf *out, const struct dif_keys *k)
{
    buf_u8(out, k->n);
    for (unsigned i = 0; i < k->n; i++)
        put_type(out, &k->key[i]);
}

static void put_words(struct buf *out, const uint32_t *v, uint32_t n)
{
    buf_u32(out, n);
    for (uint32_t i = 0; i < n; i++)
        buf_u32(out, v[i]);
}

int dif_encode(const struct dif_image *img, struct buf *out)
{
    size_t start = out->len;
    buf_add(out, DIF_MAGIC, DIF_MAGIC_BYTES);
    buf_u32(out, DIF_VERSION);
    size_t length_at = out->len;
    buf_u32(out, 0);
    buf_u32(out, img->strsize);
    buf_u32(out, img->scratchsize);
    buf_u64(out, img->builtins);

    buf_u32(out, img->strtab_len);
    buf_add(out, img->strtab, img->strtab_len);
    put_words(out, img->str, img->nstr);
    buf_u32(out, img->nints);
    for (uint32_t i = 0; i < img->nints; i++)
        buf_u64(out, img->ints[i]);
    buf_u32(out, img->nvars);
    for (const struct dif_var *v = img->vars; v < img->vars + img->nvars; v++) {
        buf_u32(out, v->name);
        buf_u8(out, v->scope);
        buf_u8(out, v->assoc);
        put_type(out, &v->type);
        put_keys(out, &v->keys);
    }
    buf_u32(out, img->naggs);
    for (const struct dif_agg *a = img->aggs; a < img->aggs + img->naggs; a++) {
        buf_u32(out, a->name);
        buf_u8(out, a->func);
        put_keys(out, &a->keys);
        for (int i = 0; i < 4; i++)
            buf_u64(out, (uint64_t)a->param[i]);
    }
    buf_u32(out, img->nparts);
    for (uint32_t i = 0; i < img->nparts; i++)
        put_type(out, &img->parts[i]);
    put_words(out, img->refs, img->nrefs);
    buf_u32(out, img->nactions);
    for (const struct dif_action *a = img->actions; a < img->actions + img->nactions; a++) {
        const uint32_t w[] = {a->pc,    a->npc,    a->part, a->nparts, a->ref,
                              a->nrefs, a->format, a->line, a->col};
        buf_u8(out, a->kind);
        for (size_t i = 0; i < sizeof w / sizeof *w; i++)
            buf_u32(out, w[i]);
    }
    buf_u32(out, img->nsubs);
    for (const struct dif_sub *s = img->subs; s < img->subs + img->nsubs; s++) {
        const uint32_t w[] = {s->action, s->nactions, s->part, s->nparts};
        for (size_t i = 0; i < sizeof w / sizeof *w; i++)
            buf_u32(out, w[i]);
    }
    buf_u32(out, img->nclauses);
    for (const struct dif_clause *c = img->clauses; c < img->clauses + img->nclauses; c++) {
        const uint32_t w[] = {c->prov,     c->mod,  c->func,   c->name,  c->id,    c->file,
                              c->line,     c->col,  c->code,   c->ncode, c->npred, c->action,
                              c->nactions, c->part, c->nparts, c->sub,   c->nsubs, c->records};
        for (size_t i = 0; i < sizeof w / sizeof *w; i++)
            buf_u32(out, w[i]);
    }
    put_words(out, img->code, img->ncode);

    if (out->oom)
        return ET_ENOMEM;
    uint32_t len;
    if (!size_fits(out->len - start, &len))
        return ET_ELIMIT;
    for (int i = 0; i < 4; i++)
        out->data[length_at + (size_t)i] = (char)(len >> (8 * i));
    return 0;
}
