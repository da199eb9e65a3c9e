/* aggr.c - merges, changes and sorts aggregations.
 *
 * An entry is one allocation: the struct, its words, its decoded keys, its key bytes. The index of
 * an aggregation is rebuilt when entries are removed, since util/table.h has no removal. */
#include "result/aggr.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "result/hist.h"
#include "util/merge.h"
#include "util/table.h"

/* -- values: the words of a function, and whether they are lower bounds -------------------------
 */

static void start(const struct aggr *a, uint64_t *words)
{
    word_agg_start(a->fn, words, a->nwords);
    words[a->nwords] = 0;
}

static void merge(const struct aggr *a, uint64_t *into, const uint64_t *words)
{
    word_agg_merge(a->fn, into, words, a->nwords);
    into[a->nwords] |= words[a->nwords];
}

/* -- the table --------------------------------------------------------------------------------- */

static bool has_stacks(const struct dif_keys *keys)
{
    for (unsigned i = 0; i < keys->n; i++)
        if (keys->key[i].kind == DIF_USTACK || keys->key[i].kind == DIF_JSTACK)
            return true;
    return false;
}

int aggr_table_init(struct aggr_table *t, const struct dif_image *img)
{
    *t = (struct aggr_table){0};
    if (img->naggs == 0)
        return 0;
    t->aggr = et_calloc(img->naggs, sizeof *t->aggr);
    if (t->aggr == NULL)
        return ET_ENOMEM;
    t->n = img->naggs;
    for (uint32_t i = 0; i < t->n; i++) {
        t->aggr[i].def = &img->aggs[i];
        t->aggr[i].fn = word_agg(img->aggs[i].func);
        t->aggr[i].name = dif_str(img, img->aggs[i].name);
        t->aggr[i].nwords = dif_agg_words(&img->aggs[i]);
        t->aggr[i].stride = t->aggr[i].nwords + 1;
        t->aggr[i].normal = 1;
        t->aggr[i].stacks = has_stacks(&img->aggs[i].keys);
        t->aggr[i].none = et_malloc(t->aggr[i].stride * sizeof(uint64_t));
        if (t->aggr[i].none == NULL) {
            aggr_table_free(t);
            return ET_ENOMEM;
        }
        start(&t->aggr[i], t->aggr[i].none);
    }
    return 0;
}

static void entry_free(struct aggr_entry *e)
{
    et_free(e->cpu);
    et_free(e);
}

void aggr_empty(struct aggr *a)
{
    for (size_t i = 0; i < a->n; i++)
        entry_free(a->entry[i]);
    a->n = 0;
    hash_free(&a->index);
}

void aggr_table_free(struct aggr_table *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        aggr_empty(&t->aggr[i]);
        et_free(t->aggr[i].entry);
        et_free(t->aggr[i].none);
    }
    et_free(t->aggr);
    *t = (struct aggr_table){0};
}

static int entry_new(struct aggr *a, const uint8_t *key, size_t keylen, struct aggr_entry **out)
{
    const struct dif_keys *k = &a->def->keys;
    if (a->n == a->cap) {
        size_t cap = a->cap ? a->cap * 2 : 16;
        struct aggr_entry **p = et_realloc(a->entry, cap * sizeof *p);
        if (p == NULL)
            return ET_ENOMEM;
        a->entry = p;
        a->cap = cap;
    }
    size_t words = a->stride * sizeof(uint64_t), keys = k->n * sizeof(struct value);
    struct aggr_entry *e = et_malloc(sizeof *e + words + keys + keylen + 1);
    if (e == NULL)
        return ET_ENOMEM;
    e->words = (uint64_t *)(e + 1);
    e->key = (struct value *)(e->words + a->stride);
    e->raw = (uint8_t *)(e->key + k->n);
    e->rawlen = keylen;
    e->cpu = NULL;
    e->ncpus = 0;
    e->gone = false;
    memcpy(e->raw, key, keylen);
    start(a, e->words);
    int rc = values_parse(k->key, k->n, e->raw, keylen, e->key);
    if (rc == 0)
        rc = hash_put(&a->index, e->raw, keylen, e);
    if (rc != 0) {
        et_free(e);
        return rc;
    }
    a->entry[a->n++] = e;
    *out = e;
    return 0;
}

int aggr_merge(struct aggr_table *t, uint32_t agg, const uint8_t *key, size_t keylen,
               const uint64_t *words, size_t nwords)
{
    if (agg >= t->n || nwords != t->aggr[agg].nwords)
        return ET_EIMAGE;
    struct aggr *a = &t->aggr[agg];
    /* Without keys there are no bytes, but the table needs a key that is not NULL. */
    const uint8_t *bytes = keylen > 0 ? key : (const uint8_t *)"";
    struct aggr_entry *e = hash_get(&a->index, bytes, keylen);
    if (e == NULL) {
        int rc = entry_new(a, bytes, keylen, &e);
        if (rc != 0)
            return rc;
    }
    word_agg_merge(a->fn, e->words, words, a->nwords);
    return 0;
}

int aggr_merge_cpu(struct aggr_table *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                   size_t keylen, const uint64_t *words, size_t nwords)
{
    enum { CPUS_MOST = 4096 }; /* more than any machine has; a larger number is invalid */
    if (agg >= t->n || nwords != t->aggr[agg].nwords || cpu >= CPUS_MOST)
        return ET_EIMAGE;
    struct aggr *a = &t->aggr[agg];
    struct aggr_entry *e = hash_get(&a->index, keylen > 0 ? key : (const uint8_t *)"", keylen);
    if (e == NULL)
        return 0;
    if (cpu >= e->ncpus) {
        uint64_t *p = et_realloc(e->cpu, (cpu + 1) * a->stride * sizeof *p);
        if (p == NULL)
            return ET_ENOMEM;
        e->cpu = p;
        for (; e->ncpus <= cpu; e->ncpus++)
            start(a, e->cpu + e->ncpus * a->stride);
    }
    word_agg_merge(a->fn, e->cpu + cpu * a->stride, words, a->nwords);
    t->ncpus = cpu + 1 > t->ncpus ? cpu + 1 : t->ncpus;
    return 0;
}

void aggr_mark_lower(struct aggr_table *t, uint32_t agg, const uint8_t *key, size_t keylen)
{
    struct aggr *a = &t->aggr[agg];
    struct aggr_entry *e = hash_get(&a->index, keylen > 0 ? key : (const uint8_t *)"", keylen);
    if (e != NULL)
        e->words[a->nwords] = 1;
}

const uint64_t *aggr_cpu_words(const struct aggr *a, const struct aggr_entry *of, uint32_t cpu)
{
    const struct aggr_entry *e = hash_get(&a->index, of->raw, of->rawlen);
    return e != NULL && cpu < e->ncpus ? e->cpu + cpu * a->stride : a->none;
}

void aggr_clear_entry(const struct aggr *a, struct aggr_entry *e)
{
    start(a, e->words);
    e->ncpus = 0;
}

void aggr_clear(struct aggr *a)
{
    for (size_t i = 0; i < a->n; i++)
        aggr_clear_entry(a, a->entry[i]);
}

/* -- values ------------------------------------------------------------------------------------ */

int64_t aggr_number(const struct aggr *a, const uint64_t *words)
{
    return word_agg_number(a->fn, words, a->normal);
}

/* -- order ------------------------------------------------------------------------------------- */

static int compare_words(const struct aggr *a, const uint64_t *x, const uint64_t *y)
{
    if (a->fn->result == WORD_BUCKETS) {
        int64_t zx, zy;
        hist_weight_t wx = hist_weight(a->def, x, &zx), wy = hist_weight(a->def, y, &zy);
        return wx != wy ? (wx > wy) - (wx < wy) : (zx > zy) - (zx < zy);
    }
    return word_agg_compare(a->fn, x, y);
}

static int compare_keys(const struct dif_keys *k, const struct aggr_entry *x,
                        const struct aggr_entry *y, size_t start)
{
    if (start >= k->n)
        start = 0;
    for (size_t i = 0; i < k->n; i++) {
        size_t at = (start + i) % k->n;
        int c = value_compare(&x->key[at], &y->key[at]);
        if (c != 0)
            return c;
    }
    return 0;
}

int aggr_compare_values(const struct aggr *a, const struct aggr_entry *x, const struct aggr *b,
                        const struct aggr_entry *y)
{
    if (a == b)
        return compare_words(a, x->words, y->words);
    int64_t zero;
    hist_weight_t u = a->fn->result == WORD_BUCKETS ? hist_weight(a->def, x->words, &zero)
                                                    : aggr_number(a, x->words);
    hist_weight_t v = b->fn->result == WORD_BUCKETS ? hist_weight(b->def, y->words, &zero)
                                                    : aggr_number(b, y->words);
    return (u > v) - (u < v);
}

int aggr_compare_keys(const struct aggr *a, const struct aggr_entry *x, const struct aggr *b,
                      const struct aggr_entry *y, size_t key_pos)
{
    size_t n = a->def->keys.n < b->def->keys.n ? a->def->keys.n : b->def->keys.n;
    if (a == b)
        return compare_keys(&a->def->keys, x, y, key_pos);
    for (size_t i = 0; i < n; i++) {
        const struct value *u = &x->key[i], *v = &y->key[i];
        int c =
            value_is_int(u) != value_is_int(v) ? (value_is_int(u) ? -1 : 1) : value_compare(u, v);
        if (c != 0)
            return c;
    }
    return (a->def->keys.n > b->def->keys.n) - (a->def->keys.n < b->def->keys.n);
}

struct sorting {
    const struct aggr_view *view;
    const struct aggr_order *order;
};

static int compare_rows(const void *px, const void *py, void *arg)
{
    const struct sorting *s = arg;
    const struct aggr_row *x = px, *y = py;
    const struct aggr_view *v = s->view;
    size_t lead = s->order->pos < v->naggrs ? s->order->pos : 0;
    int c = 0;
    for (size_t i = 0; !s->order->by_key && c == 0 && i < v->naggrs; i++) {
        size_t at = (lead + i) % v->naggrs;
        c = compare_words(v->aggr[at], x->words[at], y->words[at]);
    }
    if (c == 0)
        c = compare_keys(&v->aggr[0]->def->keys, x->key, y->key, s->order->key_pos);
    return s->order->reverse ? -c : c;
}

/* Makes one row for each key of any of the aggregations. */
static int join(struct aggr_view *v)
{
    struct hash seen = HASH_INIT;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < v->naggrs; i++) {
        const struct aggr *a = v->aggr[i];
        for (size_t j = 0; rc == 0 && j < a->n; j++) {
            const struct aggr_entry *e = a->entry[j];
            struct aggr_row *r = v->naggrs > 1 ? hash_get(&seen, e->raw, e->rawlen) : NULL;
            if (r == NULL) {
                r = &v->row[v->nrows++];
                r->key = e;
                for (size_t w = 0; w < v->naggrs; w++)
                    r->words[w] = v->zeros;
                if (v->naggrs > 1)
                    rc = hash_put(&seen, e->raw, e->rawlen, r);
            }
            r->words[i] = e->words;
        }
    }
    hash_free(&seen);
    return rc;
}

int aggr_view_make(struct aggr_view *v, const struct aggr_table *t, const uint32_t *aggs, size_t n,
                   const struct aggr_order *order)
{
    size_t rows = 0, words = 1;
    *v = (struct aggr_view){.naggrs = n};
    v->aggr = et_calloc(n ? n : 1, sizeof(struct aggr *));
    if (v->aggr == NULL)
        return ET_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        v->aggr[i] = &t->aggr[aggs[i]];
        rows += v->aggr[i]->n;
        words = v->aggr[i]->stride > words ? v->aggr[i]->stride : words;
    }
    /* The rows, then the pointers to their words, in one allocation. */
    v->row = et_calloc(rows ? rows : 1, sizeof *v->row + n * sizeof(uint64_t *));
    v->zeros = et_calloc(words, sizeof *v->zeros);
    if (v->row == NULL || v->zeros == NULL) {
        aggr_view_free(v);
        return ET_ENOMEM;
    }
    const uint64_t **pointers = (const uint64_t **)(v->row + rows);
    for (size_t i = 0; i < rows; i++)
        v->row[i].words = pointers + i * n;
    if (join(v) != 0) {
        aggr_view_free(v);
        return ET_ENOMEM;
    }
    struct sorting s = {v, order};
    qsort_r(v->row, v->nrows, sizeof *v->row, compare_rows, &s);
    if (order->rows > 0 && v->nrows > order->rows) {
        if (!order->reverse)
            memmove(v->row, v->row + v->nrows - order->rows, order->rows * sizeof *v->row);
        v->nrows = order->rows;
    }
    return 0;
}

void aggr_view_free(struct aggr_view *v)
{
    et_free(v->aggr);
    et_free(v->row);
    et_free(v->zeros);
    *v = (struct aggr_view){0};
}

static int compare_entries(const void *px, const void *py, void *arg)
{
    const struct aggr *a = arg;
    const struct aggr_entry *x = *(struct aggr_entry *const *)px,
                            *y = *(struct aggr_entry *const *)py;
    int c = compare_words(a, x->words, y->words);
    return c != 0 ? c : compare_keys(&a->def->keys, x, y, 0);
}

/* Rebuilds the index from the remaining entries. */
static int index_again(struct aggr *a)
{
    hash_free(&a->index);
    for (size_t i = 0; i < a->n; i++) {
        int rc = hash_put(&a->index, a->entry[i]->raw, a->entry[i]->rawlen, a->entry[i]);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int aggr_trunc(struct aggr *a, int64_t n)
{
    uint64_t keep = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    if (keep >= a->n)
        return 0;
    if (keep == 0) {
        aggr_empty(a);
        return 0;
    }
    qsort_r(a->entry, a->n, sizeof *a->entry, compare_entries, a);
    size_t from = n < 0 ? 0 : a->n - (size_t)keep;
    for (size_t i = 0; i < a->n; i++)
        if (i < from || i >= from + keep)
            entry_free(a->entry[i]);
    memmove(a->entry, a->entry + from, (size_t)keep * sizeof *a->entry);
    a->n = (size_t)keep;
    return index_again(a);
}

int aggr_sweep(struct aggr *a)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->n; i++) {
        if (a->entry[i]->gone)
            entry_free(a->entry[i]);
        else
            a->entry[kept++] = a->entry[i];
    }
    if (kept == a->n)
        return 0;
    a->n = kept;
    return index_again(a);
}

/* Merges what an entry has into another one, which gets its key. */
static int absorb(const struct aggr *a, struct aggr_entry *into, const struct aggr_entry *e)
{
    merge(a, into->words, e->words);
    if (e->ncpus > into->ncpus) {
        uint64_t *p = et_realloc(into->cpu, e->ncpus * a->stride * sizeof *p);
        if (p == NULL)
            return ET_ENOMEM;
        into->cpu = p;
        for (; into->ncpus < e->ncpus; into->ncpus++)
            start(a, p + into->ncpus * a->stride);
    }
    for (uint32_t i = 0; i < e->ncpus; i++)
        merge(a, into->cpu + i * a->stride, e->cpu + i * a->stride);
    return 0;
}

int aggr_rekey(struct aggr_table *t,
               bool (*change)(void *arg, const struct value *v, uint8_t *bytes), void *arg)
{
    for (uint32_t i = 0; i < t->n; i++) {
        struct aggr *a = &t->aggr[i];
        bool changed = false;
        for (size_t j = 0; j < a->n; j++)
            for (unsigned k = 0; k < a->def->keys.n; k++) {
                struct aggr_entry *e = a->entry[j];
                const struct value *v = &e->key[k];
                if (v->s >= (const char *)e->raw && v->s < (const char *)e->raw + e->rawlen)
                    changed |= change(arg, v, e->raw + (v->s - (const char *)e->raw));
            }
        if (!changed)
            continue;
        size_t kept = 0, n = a->n;
        int rc = 0;
        hash_free(&a->index);
        for (size_t j = 0; j < n; j++) {
            struct aggr_entry *e = a->entry[j];
            struct aggr_entry *same = rc == 0 ? hash_get(&a->index, e->raw, e->rawlen) : NULL;
            if (same != NULL) {
                rc = absorb(a, same, e);
                entry_free(e);
                continue;
            }
            a->entry[kept++] = e;
            rc = rc != 0 ? rc : hash_put(&a->index, e->raw, e->rawlen, e);
        }
        a->n = kept;
        if (rc != 0)
            return rc;
    }
    return 0;
}
