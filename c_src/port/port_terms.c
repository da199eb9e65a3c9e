/* port_terms.c - results, diagnostics and events as terms. See port_terms.h.
 *
 * A map with fixed keys is written from a table of them if several are of one kind. */
#include "port/port_terms.h"

#include <math.h>
#include <string.h>

#include "etf/write.h"
#include "util/buftext.h"
#include "util/merge.h"
#include "words/words.h"

/* -- parts of maps ----------------------------------------------------------------------------- */

static void pair_text(struct buf *b, const char *key, const char *text)
{
    etf_put_atom(b, key);
    etf_put_text(b, text);
}

static void pair_int(struct buf *b, const char *key, int64_t v)
{
    etf_put_atom(b, key);
    etf_put_int(b, v);
}

static void pair_uint(struct buf *b, const char *key, uint64_t v)
{
    etf_put_atom(b, key);
    etf_put_uint(b, v);
}

/* Writes a text for people without the newline that the library ends it with. */
static void pair_lines(struct buf *b, const char *key, const char *text)
{
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    etf_put_atom(b, key);
    etf_put_binary(b, text, n);
}

/* -- errors and diagnostics -------------------------------------------------------------------- */

const char *port_code(int err)
{
    static const char *const names[] = {
        [ERLTRACE_E_OK] = "ok",           [ERLTRACE_E_NOMEM] = "nomem",
        [ERLTRACE_E_INVAL] = "inval",     [ERLTRACE_E_COMPILE] = "compile",
        [ERLTRACE_E_IMAGE] = "image",     [ERLTRACE_E_VERIFY] = "verify",
        [ERLTRACE_E_NOPROBE] = "noprobe", [ERLTRACE_E_NODE] = "node",
        [ERLTRACE_E_AUTH] = "auth",       [ERLTRACE_E_OTP] = "otp",
        [ERLTRACE_E_AGENT] = "agent",     [ERLTRACE_E_BUSY] = "busy",
        [ERLTRACE_E_LOST] = "lost",       [ERLTRACE_E_LIMIT] = "limit",
        [ERLTRACE_E_IO] = "io",           [ERLTRACE_E_UNSUP] = "unsup",
        [ERLTRACE_E_VERSION] = "version", [ERLTRACE_E_STATE] = "state",
        [ERLTRACE_E_OPTNAME] = "optname", [ERLTRACE_E_OPTVAL] = "optval",
        [ERLTRACE_E_OPEN] = "open",       [ERLTRACE_E_CPP] = "cpp",
        [ERLTRACE_E_ABORT] = "abort",     [ERLTRACE_E_DESTRUCTIVE] = "destructive",
    };
    return err >= 0 && (size_t)err < sizeof names / sizeof names[0] ? names[err] : "inval";
}

void port_put_error(struct buf *b, const char *code, const char *text)
{
    etf_put_map(b, 2);
    etf_put_atom(b, "code");
    etf_put_atom(b, code);
    pair_text(b, "text", text);
}

void port_put_state(struct buf *b, enum erltrace_state state)
{
    static const char *const names[] = {
        [ERLTRACE_STATE_NONE] = "none",         [ERLTRACE_STATE_RUNNING] = "running",
        [ERLTRACE_STATE_STOPPING] = "stopping", [ERLTRACE_STATE_DONE] = "done",
        [ERLTRACE_STATE_FAILED] = "failed",
    };
    etf_put_atom(b, names[state]);
}

void port_put_diag(struct buf *b, const struct erltrace_diag *d)
{
    static const char *const severities[] = {
        [ERLTRACE_ERROR] = "error", [ERLTRACE_WARNING] = "warning", [ERLTRACE_NOTE] = "note"};
    const struct {
        const char *key, *text; /* NULL or "": not known */
    } texts[] = {{"tag", d->tag}, {"hint", d->hint}, {"file", d->file}, {"source", d->source}};
    const struct {
        const char *key;
        int number; /* 0: not known */
    } numbers[] = {{"line", d->line}, {"column", d->column}, {"length", d->length}};
    uint32_t n = 3;
    size_t at = etf_map_begin(b);
    etf_put_atom(b, "severity");
    etf_put_atom(b, severities[d->severity]);
    pair_text(b, "text", d->text);
    pair_text(b, "rendered", d->rendered);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].text != NULL && texts[i].text[0] != '\0') {
            pair_text(b, texts[i].key, texts[i].text);
            n++;
        }
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].number > 0) {
            pair_int(b, numbers[i].key, numbers[i].number);
            n++;
        }
    }
    etf_map_finish(b, at, n);
}

void port_put_hint(struct buf *b, const char *subject, const char *text, const char *hint)
{
    struct buf all = BUF_INIT;
    buf_printf(&all, "erltrace: error: %s: %s\n      hint: %s\n", subject, text, hint);
    etf_put_map(b, 4);
    etf_put_atom(b, "severity");
    etf_put_atom(b, "error");
    pair_text(b, "text", text);
    pair_text(b, "hint", hint);
    pair_text(b, "rendered", buf_str(&all));
    b->oom = b->oom || all.oom;
    buf_free(&all);
}

void port_put_notice(struct buf *b, const struct erltrace_diag *d)
{
    etf_put_tuple(b, 2);
    etf_put_atom(b, "diag");
    port_put_diag(b, d);
}

/* -- values ------------------------------------------------------------------------------------ */

void port_put_probe(struct buf *b, const struct erltrace_probe *p)
{
    etf_put_tuple(b, 4);
    etf_put_text(b, p->provider);
    etf_put_text(b, p->module);
    etf_put_text(b, p->function);
    etf_put_text(b, p->name);
}

/* Writes memory of `size` bytes; the bytes after the recorded ones are zero. */
static void put_bytes(struct buf *b, const struct erltrace_value *v, size_t size)
{
    size_t have = v->length < size ? v->length : size;
    struct buf all = BUF_INIT;
    buf_add(&all, v->text, have);
    buf_fill(&all, '\0', size - have);
    b->oom = b->oom || all.oom;
    etf_put_binary(b, all.data, all.oom ? 0 : size);
    buf_free(&all);
}

static void put_value(struct buf *b, const struct erltrace_value *v)
{
    switch (v->kind) {
    case ERLTRACE_VALUE_INT: etf_put_int(b, v->number); break;
    case ERLTRACE_VALUE_UINT: etf_put_uint(b, (uint64_t)v->number); break;
    case ERLTRACE_VALUE_FLOAT: etf_put_real(b, v->real); break;
    case ERLTRACE_VALUE_STRING: etf_put_binary(b, v->text, strnlen(v->text, v->length)); break;
    case ERLTRACE_VALUE_BYTES: put_bytes(b, v, v->size > v->length ? v->size : v->length); break;
    }
}

/* -- aggregations ------------------------------------------------------------------------------ */

static void put_average(struct buf *b, const struct erltrace_aggr *a)
{
    int64_t count = (int64_t)a->words[0], sum = (int64_t)a->words[1];
    double normal = a->normal > 0 ? (double)a->normal : 1;
    etf_put_real(b, count != 0 ? (double)sum / (double)count / normal : 0);
}

/* Computes the root of the mean square minus the square of the mean, in more than double precision:
 * the two can be large and close to each other. */
static void put_deviation(struct buf *b, const struct erltrace_aggr *a)
{
    long double n = (long double)(int64_t)a->words[0], mean, square;
    long double normal = a->normal > 0 ? (long double)a->normal : 1;
    if (n <= 0) {
        etf_put_real(b, 0);
        return;
    }
    mean = (long double)(int64_t)a->words[1] / n;
    square = ((long double)a->words[3] * 18446744073709551616.0L + (long double)a->words[2]) / n;
    long double variance = square - mean * mean;
    etf_put_real(b, variance > 0 ? (double)(sqrtl(variance) / normal) : 0);
}

static void put_buckets(struct buf *b, const struct erltrace_aggr *a)
{
    uint32_t n = 0;
    size_t at = etf_list_begin(b);
    for (size_t i = 0; i < a->nbuckets; i++) {
        const struct erltrace_bucket *k = erltrace_aggr_bucket(a, i);
        if (k == NULL) {
            b->oom = true;
            return;
        }
        if (k->count == 0)
            continue;
        etf_put_tuple(b, 2);
        etf_put_tuple(b, 2);
        etf_put_int(b, k->open_from ? INT64_MIN : k->from);
        etf_put_int(b, k->open_to ? INT64_MAX : k->to);
        etf_put_int(b, a->normal > 1 ? k->count / (int64_t)a->normal : k->count);
        n++;
    }
    etf_list_finish(b, at, n);
}

void port_put_aggr(struct buf *b, const struct erltrace_aggr *a)
{
    etf_put_tuple(b, 3);
    etf_put_atom(b, a->function);
    size_t at = etf_list_begin(b);
    for (size_t i = 0; i < a->nkeys; i++)
        put_value(b, erltrace_aggr_key(a, i));
    etf_list_finish(b, at, (uint32_t)a->nkeys);
    const struct word_agg_info *f = word_agg_named(a->function);
    switch (f != NULL ? (enum word_result)f->result : WORD_NUMBER) {
    case WORD_AVERAGE: put_average(b, a); break;
    case WORD_DEVIATION: put_deviation(b, a); break;
    case WORD_BUCKETS: put_buckets(b, a); break;
    case WORD_COUNT:
    case WORD_NUMBER: etf_put_int(b, a->value); break;
    }
}

/* -- records ----------------------------------------------------------------------------------- */

static void put_value_of(struct buf *b, const struct erltrace_data *d)
{
    const struct erltrace_value *v = erltrace_data_value(d, 0);
    if (v == NULL)
        etf_put_binary(b, "", 0);
    else
        put_value(b, v);
}

/* tracemem(address, size, used): may use fewer bytes than were recorded. */
static void put_memory(struct buf *b, const struct erltrace_data *d)
{
    const struct erltrace_value *used = d->nvalues > 1 ? erltrace_data_value(d, 1) : NULL;
    int64_t most = used != NULL ? used->number : -1;
    const struct erltrace_value *v = erltrace_data_value(d, 0);
    size_t size = v != NULL ? v->size : 0;
    if (v == NULL || v->kind != ERLTRACE_VALUE_BYTES)
        put_value_of(b, d);
    else
        put_bytes(b, v, most >= 0 && (uint64_t)most < size ? (size_t)most : size);
}

static void put_printed(struct buf *b, const struct erltrace_data *d)
{
    size_t n;
    const char *text = erltrace_data_text(d, &n);
    etf_put_binary(b, text, n);
}

bool port_put_data(struct buf *b, const struct erltrace_record *r, const struct erltrace_data *d)
{
    static const struct {
        const char *action, *item;
        void (*put)(struct buf *b, const struct erltrace_data *d);
    } items[] = {
        {"trace", "probe", put_value_of},  {"tracemem", "probe", put_memory},
        {"printf", "printf", put_printed}, {"printa", "printa", put_printed},
        {"print", "print", put_printed},   {"stack", "stack", put_printed},
    };
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        if (strcmp(items[i].action, d->action) != 0)
            continue;
        etf_put_tuple(b, 3);
        etf_put_atom(b, items[i].item);
        port_put_probe(b, r->probe);
        items[i].put(b, d);
        return true;
    }
    return false;
}

/* -- events ------------------------------------------------------------------------------------ */

void port_put_drop(struct buf *b, const char *kind, uint64_t count, uint64_t total,
                   const char *node, int cpu, const char *text)
{
    etf_put_tuple(b, 2);
    etf_put_atom(b, "drop");
    etf_put_map(b, 6);
    pair_text(b, "kind", kind);
    pair_uint(b, "count", count);
    pair_uint(b, "total", total);
    pair_text(b, "node", node);
    pair_int(b, "cpu", cpu);
    pair_lines(b, "text", text);
}

void port_put_fault(struct buf *b, const struct erltrace_fault *f)
{
    etf_put_tuple(b, 2);
    etf_put_atom(b, "error");
    etf_put_map(b, 9);
    pair_text(b, "name", f->name);
    pair_uint(b, "code", f->code);
    pair_uint(b, "epid", f->epid);
    etf_put_atom(b, "probe");
    port_put_probe(b, f->probe);
    pair_uint(b, "action", f->action);
    pair_int(b, "offset", f->offset);
    pair_uint(b, "value", f->value);
    pair_uint(b, "cpu", f->cpu);
    pair_lines(b, "text", f->message);
}

void port_put_stats(struct buf *b, const struct erltrace_stats *s)
{
    static const char *const kinds[] = {[ERLTRACE_STATS_PERIOD] = "period",
                                        [ERLTRACE_STATS_OVERLOAD] = "overload",
                                        [ERLTRACE_STATS_TOTAL] = "total"};
    etf_put_tuple(b, 2);
    etf_put_atom(b, "stats");
    etf_put_map(b, 8);
    etf_put_atom(b, "kind");
    etf_put_atom(b, kinds[s->kind]);
    pair_text(b, "node", s->node);
    pair_uint(b, "interval", s->interval);
    pair_uint(b, "fired", s->fired);
    pair_uint(b, "events", s->events);
    pair_uint(b, "ns", s->ns);
    pair_uint(b, "drops", s->drops);
    pair_lines(b, "text", s->message);
}

void port_put_progress(struct buf *b, int64_t ref, const struct erltrace_progress *p)
{
    etf_put_version(b);
    etf_put_tuple(b, 3);
    etf_put_atom(b, "progress");
    etf_put_int(b, ref);
    etf_put_map(b, 5);
    pair_text(b, "node", p->node);
    etf_put_atom(b, "waiting");
    etf_put_atom(b, p->waiting ? "true" : "false");
    etf_put_atom(b, "unit");
    etf_put_atom(b, p->unit);
    pair_uint(b, "done", p->done);
    pair_uint(b, "total", p->total);
}
