/* walk.c - aggregations as the program sees them.
 *
 * A walk first lists the entries, ordered by the one comparison of result/aggr.h. Removals that the
 * handler asks for are applied at its end. */
#include <stdlib.h>
#include <string.h>

#include "session/handle.h"
#include "base/err.h"
#include "result/hist.h"
#include "result/symbol.h"
#include "util/buftext.h"

struct entry {
    struct aggr *aggr;
    struct aggr_entry *entry;
};

struct order {
    int what; /* ERLTRACE_SORT_... without ERLTRACE_SORT_REVERSE */
    bool reverse;
    size_t key_pos;
};

static int by_variable(const struct entry *x, const struct entry *y)
{
    return (x->aggr > y->aggr) - (x->aggr < y->aggr);
}

static int compare(const void *px, const void *py, void *arg)
{
    const struct entry *x = px, *y = py;
    const struct order *o = arg;
    int v = by_variable(x, y);
    int k = aggr_compare_keys(x->aggr, x->entry, y->aggr, y->entry, o->key_pos);
    int w = o->what == ERLTRACE_SORT_VARVALUE || o->what == ERLTRACE_SORT_VALUEVAR
                ? aggr_compare_values(x->aggr, x->entry, y->aggr, y->entry)
                : 0;
    int c = 0;
    switch (o->what) {
    case ERLTRACE_SORT_VARKEY: c = v != 0 ? v : k; break;
    case ERLTRACE_SORT_VARVALUE: c = v != 0 ? v : w != 0 ? w : k; break;
    case ERLTRACE_SORT_KEYVAR: c = k != 0 ? k : v; break;
    case ERLTRACE_SORT_VALUEVAR: c = w != 0 ? w : v != 0 ? v : k; break;
    default: break;
    }
    return o->reverse ? -c : c;
}

/* Fills in the order asked for. Returns false when there is no such order. */
static bool order_of(const erltrace_t *h, int order, struct order *o)
{
    *o = (struct order){.what = order & ~ERLTRACE_SORT_REVERSE,
                        .reverse = (order & ERLTRACE_SORT_REVERSE) != 0};
    if (o->what == ERLTRACE_SORT_OPTIONS) {
        struct aggr_order asked = report_order(&h->session.opt);
        o->what = asked.by_key ? ERLTRACE_SORT_VARKEY : ERLTRACE_SORT_VARVALUE;
        o->reverse ^= asked.reverse;
        o->key_pos = asked.key_pos;
    }
    return o->what >= ERLTRACE_SORT_NONE && o->what <= ERLTRACE_SORT_VALUEVAR;
}

/* Returns all entries, in order; NULL when memory is out. */
static struct entry *entries(struct aggr_table *t, struct order *o, size_t *n)
{
    size_t total = 0;
    for (uint32_t i = 0; i < t->n; i++)
        total += t->aggr[i].n;
    struct entry *list = et_calloc(total + 1, sizeof *list);
    if (list == NULL)
        return NULL;
    *n = 0;
    for (uint32_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->aggr[i].n; k++)
            list[(*n)++] = (struct entry){&t->aggr[i], t->aggr[i].entry[k]};
    if (o->what != ERLTRACE_SORT_NONE) {
        qsort_r(list, *n, sizeof *list, compare, o);
    } else if (o->reverse) {
        for (size_t i = 0; i < *n / 2; i++) {
            struct entry e = list[i];
            list[i] = list[*n - 1 - i];
            list[*n - 1 - i] = e;
        }
    }
    return list;
}

/* -- what the handler sees --------------------------------------------------------------------- */

struct api_aggr {
    struct erltrace_aggr public; /* first, so that one can be cast to the other */
    erltrace_t *h;
    const struct aggr *aggr;
    const struct aggr_entry *e;    /* that has the key */
    struct hist hist;              /* made when a bucket is first asked for */
    struct erltrace_value key;     /* the last result of erltrace_aggr_key */
    struct erltrace_bucket bucket; /* likewise, of a bucket */
};

/* The caller must call hist_free(&out->hist) after it. */
static void fill(erltrace_t *h, const struct aggr *a, const struct aggr_entry *e,
                 const uint64_t *words, struct api_aggr *out)
{
    const struct aggr_table *t = &h->session.aggr;
    bool histogram = a->fn->result == WORD_BUCKETS;
    *out = (struct api_aggr){.h = h, .aggr = a, .e = e};
    out->public = (struct erltrace_aggr){
        .name = a->name,
        .function = a->fn->name,
        .id = (uint32_t)(a - t->aggr),
        .nkeys = a->def->keys.n,
        .value = histogram ? 0 : aggr_number(a, words),
        .normal = a->normal,
        .nbuckets = histogram ? hist_nrows(a->def, words) : 0,
        .words = words,
        .nwords = a->nwords,
        .at_least = aggr_lower(a, words),
    };
}

const struct erltrace_value *erltrace_aggr_key(const struct erltrace_aggr *a, size_t i)
{
    struct api_aggr *own = (struct api_aggr *)(void *)a;
    if (a == NULL || i >= a->nkeys)
        return NULL;
    own->key = api_value(&own->e->key[i]);
    return &own->key;
}

const struct erltrace_bucket *erltrace_aggr_bucket(const struct erltrace_aggr *a, size_t i)
{
    struct api_aggr *own = (struct api_aggr *)(void *)a;
    if (a == NULL || i >= a->nbuckets)
        return NULL;
    if (own->hist.row == NULL && hist_make(own->aggr->def, a->words, &own->hist) != 0)
        return NULL;
    const struct hist_row *row = &own->hist.row[i];
    own->bucket = (struct erltrace_bucket){.from = row->from,
                                           .to = row->to,
                                           .open_from = row->open_from,
                                           .open_to = row->open_to,
                                           .count = row->count,
                                           .label = row->label};
    return &own->bucket;
}

/* Returns the type of a key as its kind has it. */
static const char *type_of(uint8_t kind)
{
    switch (kind) {
    case DIF_INT: return "int";
    case DIF_UINT: return "uint";
    case DIF_STRING: return "string";
    case DIF_STACK:
    case DIF_USTACK:
    case DIF_JSTACK: return "stack";
    case DIF_BYTES:
    case DIF_FLOAT: return "bytes";
    default: return "symbol";
    }
}

const char *erltrace_aggr_key_type(const struct erltrace_aggr *a, size_t i)
{
    const struct api_aggr *own = (const struct api_aggr *)(const void *)a;
    return a != NULL && i < a->nkeys ? type_of(own->e->key[i].kind) : NULL;
}

const char *erltrace_aggr_key_text(const struct erltrace_aggr *a, size_t i, size_t nth)
{
    struct api_aggr *own = (struct api_aggr *)(void *)a;
    if (a == NULL || i >= a->nkeys || !symbol_is(&own->e->key[i]))
        return NULL;
    buf_reset(&own->h->text);
    return session_frame(&own->h->session, &own->e->key[i], nth, &own->h->text)
               ? buf_str(&own->h->text)
               : NULL;
}

/* -- aggregations ------------------------------------------------------------------------------ */

struct api_aggregation {
    struct erltrace_aggregation public; /* first, so that one can be cast to the other */
    const struct dif_agg *def;
    struct session *session;
    struct hist_row row;
    struct erltrace_bucket bucket; /* the last result of erltrace_aggregation_bucket */
};

int erltrace_aggregation_iter(erltrace_t *h, erltrace_aggregation_fn *fn, void *arg)
{
    if (!api_enter(h, API_OPEN, ERLTRACE_STATE_DONE))
        return -1;
    if (fn == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    if (api_compile(h) != 0)
        return -1;
    const struct aggr_table *t = &h->session.aggr;
    int answer = 0;
    h->busy = true;
    for (uint32_t i = 0; answer == 0 && i < t->n; i++) {
        const struct aggr *a = &t->aggr[i];
        struct api_aggregation seen = {.def = a->def, .session = &h->session};
        seen.public = (struct erltrace_aggregation){
            .name = a->name,
            .function = a->fn->name,
            .id = i,
            .nkeys = a->def->keys.n,
            .nbuckets = a->fn->result == WORD_BUCKETS ? a->nwords : 0,
            .normal = a->normal,
        };
        memcpy(seen.public.parameter, a->def->param, sizeof seen.public.parameter);
        answer = fn(&seen.public, arg);
    }
    h->busy = false;
    return answer;
}

const char *erltrace_aggregation_key(const struct erltrace_aggregation *a, size_t i)
{
    const struct api_aggregation *own = (const struct api_aggregation *)(const void *)a;
    return a != NULL && i < a->nkeys ? type_of(own->def->keys.key[i].kind) : NULL;
}

const char *erltrace_aggregation_key_text(const struct erltrace_aggregation *a, size_t i)
{
    const struct api_aggregation *own = (const struct api_aggregation *)(const void *)a;
    return a != NULL && i < a->nkeys ? session_key_name(own->session, a->id, (unsigned)i) : NULL;
}

const char *erltrace_aggregation_key_means(const struct erltrace_aggregation *a, size_t i)
{
    const struct api_aggregation *own = (const struct api_aggregation *)(const void *)a;
    return a != NULL ? compile_key_means(own->session->compile, a->id, (unsigned)i) : NULL;
}

const struct erltrace_bucket *erltrace_aggregation_bucket(const struct erltrace_aggregation *a,
                                                          size_t i)
{
    struct api_aggregation *own = (struct api_aggregation *)(void *)a;
    if (a == NULL || i >= a->nbuckets)
        return NULL;
    struct hist_row *row = &own->row;
    if (!hist_bucket(own->def, (unsigned)i, row))
        *row = (struct hist_row){.from = 1, .to = 0};
    own->bucket = (struct erltrace_bucket){.from = row->from,
                                           .to = row->to,
                                           .open_from = row->open_from,
                                           .open_to = row->open_to,
                                           .label = row->label};
    return &own->bucket;
}

/* -- walking ----------------------------------------------------------------------------------- */

/* Returns 0 or a code of base/err.h. look: a read-only walk. */
static int walk(erltrace_t *h, struct entry *list, size_t n, bool look, erltrace_aggr_fn *fn,
                void *arg)
{
    struct aggr_table *t = &h->session.aggr;
    int rc = 0, answer = ERLTRACE_WALK_NEXT;
    for (size_t i = 0; rc == 0 && i < n && answer != ERLTRACE_WALK_STOP; i++) {
        struct api_aggr seen;
        fill(h, list[i].aggr, list[i].entry, list[i].entry->words, &seen);
        answer = fn(&seen.public, arg);
        hist_free(&seen.hist);
        if (answer == ERLTRACE_WALK_ABORT)
            rc = ET_EABORT;
        if (look && (answer == ERLTRACE_WALK_CLEAR || answer == ERLTRACE_WALK_REMOVE)) {
            rc = ET_EINVAL;
            break;
        }
        if (answer == ERLTRACE_WALK_CLEAR)
            aggr_clear_entry(list[i].aggr, list[i].entry);
        list[i].entry->gone = answer == ERLTRACE_WALK_REMOVE;
    }
    for (uint32_t i = 0; !look && i < t->n; i++)
        if (aggr_sweep(&t->aggr[i]) != 0)
            rc = ET_ENOMEM;
    return rc;
}

int erltrace_aggregate_walk(erltrace_t *h, int order, erltrace_aggr_fn *fn, void *arg)
{
    struct order o;
    size_t n;
    bool look = h != NULL && h->acting; /* from inside the handler of an action */
    if (!look && !api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_FAILED))
        return -1;
    if (h->session.compile == NULL)
        return api_fail(h, ERLTRACE_E_STATE);
    if (fn == NULL || !order_of(h, order, &o))
        return api_fail(h, ERLTRACE_E_INVAL);
    struct aggr_table *t = &h->session.aggr;
    struct entry *list = entries(t, &o, &n);
    if (list == NULL)
        return api_fail(h, ERLTRACE_E_NOMEM);
    h->busy = true;
    int rc = walk(h, list, n, look, fn, arg);
    h->busy = look;
    et_free(list);
    if (look) /* the erltrace_work in progress hands out diagnostics */
        return rc == 0           ? 0
               : rc == ET_EINVAL ? api_fail(h, ERLTRACE_E_INVAL)
                                 : api_fail(h, ERLTRACE_E_ABORT);
    return api_leave(h, rc);
}

/* -- joined ------------------------------------------------------------------------------------ */

static bool same_keys(const struct dif_keys *x, const struct dif_keys *y)
{
    for (size_t i = 0; i < x->n && i < y->n; i++)
        if (x->key[i].kind != y->key[i].kind || x->key[i].size != y->key[i].size)
            return false;
    return x->n == y->n;
}

/* Finds the numbers of the aggregations with these names. Returns false when they cannot be joined.
 */
static bool numbers_of(const struct aggr_table *t, const char *const names[], size_t n,
                       uint32_t *numbers)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < t->n && (names[i] == NULL || strcmp(t->aggr[k].name, names[i]) != 0))
            k++;
        if (k == t->n)
            return false;
        numbers[i] = k;
        if (!same_keys(&t->aggr[numbers[0]].def->keys, &t->aggr[k].def->keys))
            return false;
    }
    return n > 0;
}

/* Fills in how to sort rows. Returns false when that is not an order for them. */
static bool rows_order(const erltrace_t *h, int order, struct aggr_order *o)
{
    int what = order & ~ERLTRACE_SORT_REVERSE;
    *o = report_order(&h->session.opt);
    if (what == ERLTRACE_SORT_KEYVAR || what == ERLTRACE_SORT_VALUEVAR)
        *o = (struct aggr_order){.by_key = what == ERLTRACE_SORT_KEYVAR, .pos = o->pos};
    else if (what != ERLTRACE_SORT_OPTIONS)
        return false;
    o->reverse ^= (order & ERLTRACE_SORT_REVERSE) != 0;
    return true;
}

/* Returns 0 or a code of base/err.h. seen and shown have room for each aggregation. */
static int walk_rows(erltrace_t *h, const struct aggr_view *v, struct api_aggr *seen,
                     const struct erltrace_aggr **shown, erltrace_aggr_joined_fn *fn, void *arg)
{
    int answer = ERLTRACE_WALK_NEXT;
    for (size_t i = 0; i < v->nrows && answer == ERLTRACE_WALK_NEXT; i++) {
        size_t k = 0;
        for (; k < v->naggrs; k++) {
            fill(h, v->aggr[k], v->row[i].key, v->row[i].words[k], &seen[k]);
            shown[k] = &seen[k].public;
        }
        answer = fn(shown, v->naggrs, arg);
        while (k > 0)
            hist_free(&seen[--k].hist);
    }
    return answer == ERLTRACE_WALK_ABORT ? ET_EABORT : 0;
}

int erltrace_aggregate_walk_joined(erltrace_t *h, const char *const names[], size_t n, int order,
                                   erltrace_aggr_joined_fn *fn, void *arg)
{
    struct aggr_order o;
    struct aggr_view view;
    if (!api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_FAILED))
        return -1;
    if (h->session.compile == NULL)
        return api_fail(h, ERLTRACE_E_STATE);
    if (fn == NULL || names == NULL || !rows_order(h, order, &o))
        return api_fail(h, ERLTRACE_E_INVAL);
    struct aggr_table *t = &h->session.aggr;
    uint32_t *numbers = et_calloc(n + 1, sizeof *numbers);
    struct api_aggr *seen = et_calloc(n + 1, sizeof *seen);
    const struct erltrace_aggr **shown = et_calloc(n + 1, sizeof(struct erltrace_aggr *));
    int rc = numbers == NULL || seen == NULL || shown == NULL ? ET_ENOMEM
             : !numbers_of(t, names, n, numbers)              ? ET_EINVAL
                                                              : 0;
    if (rc == 0 && (rc = aggr_view_make(&view, t, numbers, n, &o)) == 0) {
        h->busy = true;
        rc = walk_rows(h, &view, seen, shown, fn, arg);
        h->busy = false;
        aggr_view_free(&view);
    }
    et_free(numbers);
    et_free(seen);
    et_free(shown);
    return api_leave(h, rc);
}

int erltrace_aggregate_snap(erltrace_t *h)
{
    if (h != NULL && h->phase == ERLTRACE_STATE_DONE && !h->busy)
        return 0;
    if (!api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_STOPPING))
        return -1;
    int rc = session_snapshot(&h->session);
    if (rc != 0)
        h->phase = ERLTRACE_STATE_FAILED;
    return api_leave(h, rc);
}

int erltrace_aggregate_print(erltrace_t *h, FILE *fp)
{
    if (!api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_DONE))
        return -1;
    h->fp = fp;
    h->busy = true;
    session_finish(&h->session);
    h->busy = false;
    if (fp != NULL && h->output_fn == NULL && fflush(fp) != 0)
        h->io_failed = true;
    h->fp = NULL;
    return h->session.aborted ? api_fail(h, ERLTRACE_E_ABORT)
           : h->io_failed     ? api_fail(h, ERLTRACE_E_IO)
                              : 0;
}

int erltrace_aggregate_clear(erltrace_t *h)
{
    if (!api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_DONE))
        return -1;
    struct aggr_table *t = &h->session.aggr;
    for (uint32_t i = 0; i < t->n; i++)
        aggr_clear(&t->aggr[i]);
    return 0;
}
