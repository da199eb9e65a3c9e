/* image.c - the binary form of a program image, and its decoder. The compiler has the encoder
 * (lang/encode.c).
 *
 * Little-endian throughout:
 *
 *   8 bytes  "erlt-dif"
 *   u32      DIF_VERSION
 *   u32      bytes of the whole image
 *   u32      strsize
 *   u32      scratchsize
 *   u64      bit set of built-in variables used
 *   tables   each a u32 count, then that many elements, in this order:
 *     strtab   bytes                    str     u32 offset into strtab
 *     ints     u64                      vars    u32 name, u8 scope, u8 assoc, TYPE, KEYS
 *     aggs     u32 name, u8 func, KEYS, 4 x u64 parameter
 *     parts    TYPE                     refs    u32
 *     actions  u8 kind, u32 x 9: pc npc part nparts ref nrefs format line col
 *     subs     u32 x 4: action nactions part nparts
 *     clauses  u32 x 18: prov mod func name id file line col code ncode npred action nactions part
 *                        nparts sub nsubs records
 *     code     u32
 *   TYPE is u8 kind, u32 size.  KEYS is u8 n, then n x TYPE.
 *
 * The decoder checks that every count fits the remaining bytes before it allocates memory for it,
 * that strtab ends in a NUL, and that every string starts inside it. The verifier checks the rest.
 */
#include "dif/dif.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/size.h"

/* Reads a table's count; when the remaining bytes cannot hold it, *n is 0 and the reader bad.
 * Returns the table's memory. */
static void *table(struct dif_image *img, struct rdr *r, uint32_t *n, size_t least, size_t size,
                   bool *oom)
{
    *n = rdr_u32(r);
    if (r->bad || *n > rdr_left(r) / least) {
        r->bad = true;
        *n = 0;
    }
    void *p = arena_array(&img->arena, *n, size);
    if (p == NULL) {
        *oom = true;
        *n = 0;
        r->bad = true;
    }
    return p;
}

static void get_type(struct rdr *r, struct dif_type *t)
{
    t->kind = rdr_u8(r);
    t->size = rdr_u32(r);
}

static void get_keys(struct rdr *r, struct dif_keys *k)
{
    k->n = rdr_u8(r);
    if (k->n > WORD_KEYS_MAX) {
        r->bad = true;
        k->n = 0;
    }
    for (unsigned i = 0; i < k->n; i++)
        get_type(r, &k->key[i]);
}

static uint32_t *get_words(struct dif_image *img, struct rdr *r, uint32_t *n, bool *oom)
{
    uint32_t *v = table(img, r, n, 4, sizeof *v, oom);
    for (uint32_t i = 0; i < *n; i++)
        v[i] = rdr_u32(r);
    return v;
}

static void get_tables(struct dif_image *img, struct rdr *r, bool *oom)
{
    char *strtab = table(img, r, &img->strtab_len, 1, 1, oom);
    const void *bytes = rdr_bytes(r, img->strtab_len);
    if (bytes != NULL && img->strtab_len > 0)
        memcpy(strtab, bytes, img->strtab_len);
    img->strtab = strtab;
    img->str = get_words(img, r, &img->nstr, oom);
    img->ints = table(img, r, &img->nints, 8, sizeof *img->ints, oom);
    for (uint32_t i = 0; i < img->nints; i++)
        img->ints[i] = rdr_u64(r);
    img->vars = table(img, r, &img->nvars, 12, sizeof *img->vars, oom);
    for (struct dif_var *v = img->vars; v < img->vars + img->nvars; v++) {
        v->name = rdr_u32(r);
        v->scope = rdr_u8(r);
        uint8_t assoc = rdr_u8(r);
        r->bad |= assoc > 1;
        v->assoc = assoc == 1;
        get_type(r, &v->type);
        get_keys(r, &v->keys);
    }
    img->aggs = table(img, r, &img->naggs, 38, sizeof *img->aggs, oom);
    for (struct dif_agg *a = img->aggs; a < img->aggs + img->naggs; a++) {
        a->name = rdr_u32(r);
        a->func = rdr_u8(r);
        get_keys(r, &a->keys);
        for (int i = 0; i < 4; i++)
            a->param[i] = (int64_t)rdr_u64(r);
    }
    img->parts = table(img, r, &img->nparts, 5, sizeof *img->parts, oom);
    for (uint32_t i = 0; i < img->nparts; i++)
        get_type(r, &img->parts[i]);
    img->refs = get_words(img, r, &img->nrefs, oom);
    img->actions = table(img, r, &img->nactions, 37, sizeof *img->actions, oom);
    for (struct dif_action *a = img->actions; a < img->actions + img->nactions; a++) {
        uint32_t *const w[] = {&a->pc,    &a->npc,    &a->part, &a->nparts, &a->ref,
                               &a->nrefs, &a->format, &a->line, &a->col};
        a->kind = rdr_u8(r);
        for (size_t i = 0; i < sizeof w / sizeof *w; i++)
            *w[i] = rdr_u32(r);
    }
    img->subs = table(img, r, &img->nsubs, 16, sizeof *img->subs, oom);
    for (struct dif_sub *s = img->subs; s < img->subs + img->nsubs; s++) {
        uint32_t *const w[] = {&s->action, &s->nactions, &s->part, &s->nparts};
        for (size_t i = 0; i < sizeof w / sizeof *w; i++)
            *w[i] = rdr_u32(r);
    }
    img->clauses = table(img, r, &img->nclauses, 72, sizeof *img->clauses, oom);
    for (struct dif_clause *c = img->clauses; c < img->clauses + img->nclauses; c++) {
        uint32_t records = 0;
        uint32_t *const w[] = {&c->prov,     &c->mod,  &c->func,   &c->name,  &c->id,    &c->file,
                               &c->line,     &c->col,  &c->code,   &c->ncode, &c->npred, &c->action,
                               &c->nactions, &c->part, &c->nparts, &c->sub,   &c->nsubs, &records};
        for (size_t i = 0; i < sizeof w / sizeof *w; i++)
            *w[i] = rdr_u32(r);
        r->bad |= records > 1;
        c->records = records == 1;
    }
    img->code = get_words(img, r, &img->ncode, oom);
}

static const char *decode(struct dif_image *img, const void *data, size_t len, bool *oom)
{
    struct rdr r = {.p = data, .end = (const uint8_t *)data + len};
    const void *m = rdr_bytes(&r, DIF_MAGIC_BYTES);
    if (m == NULL || memcmp(m, DIF_MAGIC, DIF_MAGIC_BYTES) != 0)
        return "it does not start like an image";
    if (rdr_u32(&r) != DIF_VERSION)
        return "it has a different version";
    if (rdr_u32(&r) != len)
        return "its length differs from the one it states";
    img->strsize = rdr_u32(&r);
    img->scratchsize = rdr_u32(&r);
    img->builtins = rdr_u64(&r);
    get_tables(img, &r, oom);
    if (r.bad)
        return "a table is truncated or too large";
    if (rdr_left(&r) != 0)
        return "bytes follow its end";
    if (img->strtab_len == 0 || img->strtab[img->strtab_len - 1] != '\0')
        return "its string table has no end";
    for (uint32_t i = 0; i < img->nstr; i++)
        if (img->str[i] >= img->strtab_len)
            return "a string lies outside the string table";
    return NULL;
}

int dif_decode(struct dif_image *img, const void *data, size_t len, struct diags *d)
{
    bool oom = false;
    const char *why = decode(img, data, len, &oom);
    if (why == NULL)
        return 0;
    dif_image_free(img);
    if (oom)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for the program image");
    return diag_error(d, ET_EIMAGE, NULL, "DIF_IMAGE", NULL, "malformed program image: %s", why);
}
