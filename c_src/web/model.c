/* model.c - see model.h. Keys and their numbers are in keys.c, the words of values and their rows
 * in web_value.c. */
#include "web/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/buftext.h"
#include "util/merge.h"
#include "util/json.h"
#include "words/words.h"
#include "web/keys.h"
#include "web/web_value.h"

struct aggregation {
    char *described; /* its object in `started` */
    size_t described_len;
    char *name;
    struct value_kind kind;
    uint64_t normal, normal_told;
    struct keys keys;
    uint64_t *sum; /* of everything there was no room for, since the start or the last clear() or
                      trunc() */
    uint64_t *all; /* of all keys, in this interval */
    bool all_used, others_used;
    bool others_lower; /* `sum` is a lower bound */
    bool thrown;       /* clear() or trunc() since the last reading */
    /* parts of the message under construction */
    struct buf new, add, gone, now, lower;
};

struct model {
    struct aggregation *aggr;
    size_t n;
    struct keys_room room;
    size_t buckets; /* of all aggregations */
    uint32_t mark;
    struct buf text; /* of the key being looked up */
    bool failed;     /* out of memory */
    /* of the current walk */
    enum walk { WALK_READ, WALK_BEFORE, WALK_AFTER } walk;
    const char *only; /* name of the aggregation it is limited to; NULL: all */
};

/* -- creating ---------------------------------------------------------------------------------- */

static void add_bounds(struct buf *out, const struct erltrace_aggregation *a, bool to)
{
    json_key(out, to ? "to" : "from");
    buf_addc(out, '[');
    for (size_t i = 0; i < a->nbuckets; i++) {
        const struct erltrace_bucket *b = erltrace_aggregation_bucket(a, i);
        if (i > 0)
            buf_addc(out, ',');
        bool none = (!b->open_from && !b->open_to && b->from > b->to);
        if (none || (to ? b->open_to : b->open_from))
            buf_adds(out, "null");
        else
            json_safe_int(out, to ? b->to : b->from);
    }
    buf_addc(out, ']');
}

typedef const char *text_of_key(const struct erltrace_aggregation *a, size_t i);

/* Adds a list with a text, or null, for each part of a key. */
static void add_texts(struct buf *out, const char *name, const struct erltrace_aggregation *a,
                      text_of_key *text)
{
    json_key(out, name);
    buf_addc(out, '[');
    for (size_t i = 0; i < a->nkeys; i++) {
        const char *s = text(a, i);
        if (i > 0)
            buf_addc(out, ',');
        if (s != NULL)
            json_text(out, s);
        else
            buf_adds(out, "null");
    }
    buf_addc(out, ']');
}

static void describe(struct buf *out, const struct erltrace_aggregation *a)
{
    const struct word_agg_info *f = word_agg_named(a->function);
    buf_printf(out, "{\"id\":%" PRIu32, a->id);
    json_key(out, "name");
    buf_adds(out, "\"@");
    buf_adds(out, strcmp(a->name, "_") == 0 ? "" : a->name); /* an identifier */
    buf_addc(out, '"');
    json_text_field(out, "function", a->function);
    json_key(out, "keys");
    buf_addc(out, '[');
    for (size_t i = 0; i < a->nkeys; i++) {
        if (i > 0)
            buf_addc(out, ',');
        json_text(out, erltrace_aggregation_key(a, i));
    }
    buf_addc(out, ']');
    add_texts(out, "means", a, erltrace_aggregation_key_means);
    add_texts(out, "texts", a, erltrace_aggregation_key_text);
    json_key(out, "normal");
    json_safe_uint(out, a->normal);
    json_key(out, "buckets");
    if (a->nbuckets == 0) {
        buf_adds(out, "null}");
        return;
    }
    buf_adds(out, "{\"parameters\":[");
    for (unsigned i = 0; f != NULL && i < f->parameters; i++) {
        if (i > 0)
            buf_addc(out, ',');
        json_safe_int(out, a->parameter[i]);
    }
    buf_addc(out, ']');
    add_bounds(out, a, false);
    add_bounds(out, a, true);
    buf_adds(out, "}}");
}

static int add_aggregation(const struct erltrace_aggregation *a, void *arg)
{
    struct model *m = arg;
    m->buckets += a->nbuckets;
    if (m->buckets > MODEL_BUCKETS)
        return -1;
    struct aggregation *list = realloc(m->aggr, (m->n + 1) * sizeof *list);
    if (list == NULL)
        return -1;
    m->aggr = list;
    struct aggregation *g = &m->aggr[m->n++];
    *g = (struct aggregation){.kind = value_kind(a->function, a->nbuckets),
                              .normal = a->normal,
                              .normal_told = a->normal};
    struct buf text = BUF_INIT;
    describe(&text, a);
    g->described = text.data;
    g->described_len = text.len;
    g->name = strdup(a->name);
    g->all = calloc(g->kind.nwords + 1, sizeof *g->all);
    g->sum = calloc(g->kind.nwords + 1, sizeof *g->sum);
    bool ok = keys_init(&g->keys, g->kind) && !text.oom && g->name != NULL && g->all != NULL &&
              g->sum != NULL;
    return ok ? 0 : -1;
}

struct model *model_new(erltrace_t *h, atomic_size_t *keys, const char **why)
{
    struct model *m = calloc(1, sizeof *m);
    *why = "out of memory";
    if (m != NULL)
        m->room.shared = keys;
    if (m != NULL && erltrace_aggregation_iter(h, add_aggregation, m) != 0) {
        if (m->buckets > MODEL_BUCKETS)
            *why = "the aggregations have more buckets than a page can be told of";
        model_free(m);
        return NULL;
    }
    return m;
}

void model_free(struct model *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->n; i++) {
        struct aggregation *g = &m->aggr[i];
        keys_free(&g->keys, &m->room);
        free(g->described);
        free(g->name);
        free(g->all);
        free(g->sum);
        buf_free(&g->new);
        buf_free(&g->add);
        buf_free(&g->gone);
        buf_free(&g->now);
        buf_free(&g->lower);
    }
    buf_free(&m->text);
    free(m->aggr);
    free(m);
}

size_t model_size(const struct model *m)
{
    return m->n;
}

void model_describe(const struct model *m, struct buf *out)
{
    buf_addc(out, '[');
    for (size_t i = 0; i < m->n; i++) {
        if (i > 0)
            buf_addc(out, ',');
        buf_add(out, m->aggr[i].described, m->aggr[i].described_len);
    }
    buf_addc(out, ']');
}

/* -- removed values ---------------------------------------------------------------------------- */

/* Records that a key's `words` are about to be removed, or (`left`) are what a trunc() has left of
 * them. */
static void lose(struct model *m, struct aggregation *g, struct key *k, const uint64_t *words,
                 bool left)
{
    if (value_is_extreme(g->kind)) {
        if (left || value_is_nothing(g->kind, words[0]) || words[0] == k->base[0])
            return;
        int64_t v = (int64_t)words[0];
        k->beyond = k->seen ? value_more_extreme(g->kind, k->beyond, v) : v;
        k->seen = true;
        return;
    }
    if (k->lost == NULL && (k->lost = calloc(g->kind.nwords, sizeof *k->lost)) == NULL) {
        m->failed = true;
        return;
    }
    if (left)
        value_subtract(g->kind, k->lost, words);
    else
        value_add(g->kind, k->lost, words);
}

/* -- a reading --------------------------------------------------------------------------------- */

static void add_number(struct buf *list, int64_t number)
{
    buf_adds(list, list->len > 0 ? "," : "");
    json_safe_int(list, number);
}

/* Appends [17,"lists:map/2",3]. */
static void add_key(struct buf *list, const struct key *k)
{
    buf_adds(list, list->len > 0 ? ",[" : "[");
    json_safe_uint(list, k->number);
    buf_add(list, k->text, k->len);
    buf_addc(list, ']');
}

static void read_extreme(struct aggregation *g, struct key *k, int64_t number, uint64_t word)
{
    bool changed = word != k->base[0] && !value_is_nothing(g->kind, word);
    int64_t v = (int64_t)word;
    if (k->seen)
        v = changed ? value_more_extreme(g->kind, v, k->beyond) : k->beyond;
    if (changed || k->seen)
        value_row(&g->add, g->kind, number, (const uint64_t *)&v);
    k->base[0] = word;
    k->seen = false;
}

/* Reports what was added to a key that now holds `words`, which become its new base. */
static void read_key(struct aggregation *g, struct key *k, int64_t number, const uint64_t *words)
{
    if (k->fresh)
        add_key(&g->new, k);
    k->fresh = false;
    if (value_is_extreme(g->kind)) {
        read_extreme(g, k, number, words[0]);
        return;
    }
    /* The base temporarily becomes the difference: words + lost - base. */
    uint64_t *difference = k->base;
    if (k->lost != NULL) {
        value_difference(g->kind, difference, k->lost);
        value_add(g->kind, difference, words);
        free(k->lost);
        k->lost = NULL;
    } else {
        value_difference(g->kind, difference, words);
    }
    if (value_row(&g->add, g->kind, number, difference)) {
        value_add(g->kind, g->all, difference);
        g->all_used = true;
    }
    memcpy(k->base, words, g->kind.nwords * sizeof *words);
}

/* Reports a value that is a lower bound: when it has become one, and with all others after a
 * clear() or trunc(). */
static void read_lower(struct aggregation *g, bool *told, int64_t number, bool lower)
{
    if (lower && (!*told || g->thrown))
        add_number(&g->lower, number);
    *told = lower;
}

static int on_entry(const struct erltrace_aggr *a, void *arg)
{
    struct model *m = arg;
    if (a->id >= m->n || (m->only != NULL && strcmp(m->only, a->name) != 0))
        return ERLTRACE_WALK_NEXT;
    struct aggregation *g = &m->aggr[a->id];
    keys_text(&m->text, a);
    struct key *k = keys_get(&g->keys, &m->text, &m->room);
    if (k == NULL || a->nwords != g->kind.nwords) {
        m->failed = true;
        return ERLTRACE_WALK_STOP;
    }
    g->normal = a->normal;
    k->mark = m->mark;
    if (k->gone)
        keys_revive(&g->keys, k);
    switch (m->walk) {
    case WALK_BEFORE: lose(m, g, k, a->words, false); break;
    case WALK_AFTER: lose(m, g, k, a->words, true); break;
    case WALK_READ:
        if (k == g->keys.others) { /* its value is added to the sum, and removed */
            lose(m, g, k, a->words, false);
            k->lower = k->lower || a->at_least != 0;
            return ERLTRACE_WALK_REMOVE;
        }
        read_key(g, k, k->number, a->words);
        read_lower(g, &k->lower, k->number, a->at_least != 0);
        if (g->thrown)
            value_row(&g->now, g->kind, k->number, a->words);
        break;
    }
    return ERLTRACE_WALK_NEXT;
}

static int walk(struct model *m, erltrace_t *h, enum walk which, const char *only)
{
    m->walk = which;
    m->only = only;
    m->mark++;
    return erltrace_aggregate_walk(h, ERLTRACE_SORT_NONE, on_entry, m);
}

static struct aggregation *named(struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->aggr[i].name, name) == 0)
            return &m->aggr[i];
    return NULL;
}

void model_before(struct model *m, erltrace_t *h, const char *name)
{
    struct aggregation *g = named(m, name);
    if (g == NULL)
        return;
    g->thrown = true;
    walk(m, h, WALK_BEFORE, name);
}

void model_after(struct model *m, erltrace_t *h, const char *name)
{
    struct aggregation *g = named(m, name);
    if (g == NULL)
        return;
    walk(m, h, WALK_AFTER, name);
    for (struct key *k = keys_each(&g->keys, NULL); k != NULL; k = keys_each(&g->keys, k))
        if (k->mark != m->mark && !k->gone)
            keys_bury(&g->keys, k);
}

/* Handles removed keys: something may have been added to them before their removal. */
static void read_gone(struct aggregation *g, uint64_t *start)
{
    value_start(g->kind, start);
    for (struct key *k = g->keys.newest; k != NULL && !k->told; k = k->older) {
        read_key(g, k, k->number, start);
        add_number(&g->gone, k->number);
        k->lower = false;
        k->told = true;
    }
}

/* Reports everything that there was no room for: what was removed from the library's table since
 * the last reading. The base stays 0, because nothing of it remains in that table. */
static void read_others(struct aggregation *g, uint64_t *none)
{
    struct key *k = g->keys.others;
    if (g->thrown || !g->others_used) {
        value_start(g->kind, g->sum);
        g->others_lower = false;
    }
    if (k->lost != NULL)
        value_add(g->kind, g->sum, k->lost);
    if (k->seen)
        g->sum[0] = (uint64_t)value_more_extreme(g->kind, (int64_t)g->sum[0], k->beyond);
    g->others_used |= k->lost != NULL || k->seen;
    value_start(g->kind, k->base);
    value_start(g->kind, none);
    read_key(g, k, VALUE_OTHERS, none);
    read_lower(g, &g->others_lower, VALUE_OTHERS, g->others_lower || k->lower);
    k->lower = false;
    if (g->thrown && g->others_used)
        value_row(&g->now, g->kind, VALUE_OTHERS, g->sum);
}

static void add_list(struct buf *out, const char *name, const struct buf *list)
{
    json_key(out, name);
    buf_addc(out, '[');
    buf_add(out, buf_str(list), list->len);
    buf_addc(out, ']');
}

static void add_if_any(struct buf *out, const char *name, const struct buf *list)
{
    if (list->len > 0)
        add_list(out, name, list);
}

static void add_all(struct buf *out, struct aggregation *g, size_t i, bool *first)
{
    if (!g->all_used || value_is_extreme(g->kind))
        return;
    struct buf row = BUF_INIT;
    if (value_row(&row, g->kind, VALUE_ALL, g->all)) {
        buf_printf(out, "%s{\"id\":%zu,\"add\":[", *first ? "" : ",", i);
        buf_add(out, row.data, row.len);
        buf_adds(out, "]}");
        *first = false;
    }
    out->oom |= row.oom;
    buf_free(&row);
}

/* Empties a buffer that is not needed until the next reading; frees it if it is large. */
static void empty(struct buf *b)
{
    if (b->cap > MODEL_KEPT)
        buf_free(b);
    else
        buf_reset(b);
}

static void finish(struct aggregation *g, size_t i, bool *first, struct buf *out)
{
    bool normal = g->normal != g->normal_told;
    size_t n = g->new.len + g->add.len + g->gone.len + g->lower.len;
    if (n > 0 || normal || g->thrown) {
        buf_printf(out, "%s{\"id\":%zu", *first ? "" : ",", i);
        *first = false;
        add_if_any(out, "keys", &g->new);
        add_if_any(out, "add", &g->add);
        if (normal) {
            json_key(out, "normal");
            json_safe_uint(out, g->normal);
        }
        add_if_any(out, "gone", &g->gone);
        if (g->thrown)
            add_list(out, "now", &g->now);
        add_if_any(out, "at_least", &g->lower);
        buf_addc(out, '}');
    }
    out->oom |= g->new.oom | g->add.oom | g->gone.oom | g->now.oom | g->lower.oom;
    g->normal_told = g->normal;
    g->thrown = false;
    empty(&g->new);
    empty(&g->add);
    empty(&g->gone);
    empty(&g->now);
    empty(&g->lower);
}

/* Allocates room for a value of any aggregation. */
static uint64_t *scratch(const struct model *m)
{
    size_t most = 4;
    for (size_t i = 0; i < m->n; i++)
        most = m->aggr[i].kind.nwords > most ? m->aggr[i].kind.nwords : most;
    return calloc(most, sizeof(uint64_t));
}

int model_read(struct model *m, erltrace_t *h, uint64_t n, int64_t t, int64_t dt,
               struct buf *results, struct buf *column)
{
    bool first = true, first_column = true;
    uint64_t *words = scratch(m);
    if (words == NULL || walk(m, h, WALK_READ, NULL) != 0 || m->failed) {
        free(words);
        return -1;
    }
    buf_printf(results, "{\"type\":\"results\",\"n\":%" PRIu64 ",\"t\":%" PRId64 ",\"dt\":%" PRId64,
               n, t, dt);
    buf_printf(column, "{\"n\":%" PRIu64 ",\"t\":%" PRId64 ",\"dt\":%" PRId64, n, t, dt);
    buf_adds(results, ",\"aggregations\":[");
    buf_adds(column, ",\"aggregations\":[");
    for (size_t i = 0; i < m->n; i++) {
        struct aggregation *g = &m->aggr[i];
        read_gone(g, words);
        read_others(g, words);
        finish(g, i, &first, results);
        add_all(column, g, i, &first_column);
        memset(g->all, 0, g->kind.nwords * sizeof *g->all);
        g->all_used = false;
    }
    buf_adds(results, "]}");
    buf_adds(column, "]}");
    free(words);
    return results->oom || column->oom || m->failed ? -1 : 0;
}

static void state_of(const struct aggregation *g, size_t i, struct buf *out)
{
    struct buf keys = BUF_INIT, now = BUF_INIT, lower = BUF_INIT;
    for (const struct key *k = keys_each(&g->keys, NULL); k != NULL; k = keys_each(&g->keys, k)) {
        if (k->fresh || k->gone) /* the next `results` will announce it */
            continue;
        add_key(&keys, k);
        value_row(&now, g->kind, k->number, k->base);
        if (k->lower)
            add_number(&lower, k->number);
    }
    if (g->others_used)
        value_row(&now, g->kind, VALUE_OTHERS, g->sum);
    if (g->others_lower)
        add_number(&lower, VALUE_OTHERS);
    buf_printf(out, "%s{\"id\":%zu,\"normal\":", i > 0 ? "," : "", i);
    json_safe_uint(out, g->normal_told);
    add_list(out, "keys", &keys);
    add_list(out, "now", &now);
    add_if_any(out, "at_least", &lower);
    buf_addc(out, '}');
    out->oom |= keys.oom | now.oom | lower.oom;
    buf_free(&keys);
    buf_free(&now);
    buf_free(&lower);
}

void model_state(const struct model *m, uint64_t n, int64_t t, uint64_t skipped, struct buf *out)
{
    buf_printf(out, "{\"type\":\"state\",\"n\":%" PRIu64 ",\"t\":%" PRId64 ",\"skipped\":%" PRIu64,
               n, t, skipped);
    buf_adds(out, ",\"aggregations\":[");
    for (size_t i = 0; i < m->n; i++)
        state_of(&m->aggr[i], i, out);
    buf_adds(out, "]}");
}
