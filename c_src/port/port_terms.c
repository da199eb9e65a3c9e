/* port_terms.c - results, diagnostics and events as terms. See port_terms.h. */
#include "port/port_terms.h"

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

static void put_value_of_event(struct buf *b, const struct event_value *v)
{
    switch (v->class) {
    case EVENT_TEXT: etf_put_binary(b, v->text, v->length); break;
    case EVENT_WORD: etf_put_atom(b, v->text); break;
    case EVENT_INT:
    case EVENT_NULL: etf_put_int(b, v->number); break;
    case EVENT_UINT: etf_put_uint(b, (uint64_t)v->number); break;
    case EVENT_BOOL: etf_put_atom(b, v->number ? "true" : "false"); break;
    case EVENT_PROBE: port_put_probe(b, v->probe); break;
    }
}

/* An event's fields as a map. */
static void put_fields(struct buf *b, enum event_kind kind, const void *event)
{
    struct event_value v;
    uint32_t n = 0;
    size_t at = etf_map_begin(b);
    for (size_t i = 0; event_next(kind, EVENT_TERMS, event, &i, &v); n++) {
        etf_put_atom(b, v.key);
        put_value_of_event(b, &v);
    }
    etf_map_finish(b, at, n);
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
    put_fields(b, EVENT_DIAGNOSTIC, d);
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

/* A stack is a list of its frames' texts, the innermost first; a symbol is its text. */
static void put_key(struct buf *b, const struct erltrace_aggr *a, size_t i)
{
    const char *type = erltrace_aggr_key_type(a, i), *text;
    if (type != NULL && strcmp(type, "stack") == 0) {
        uint32_t n = 0;
        size_t at = etf_list_begin(b);
        for (; (text = erltrace_aggr_key_text(a, i, n)) != NULL; n++)
            etf_put_text(b, text);
        etf_list_finish(b, at, n);
    } else if (type != NULL && strcmp(type, "symbol") == 0 &&
               (text = erltrace_aggr_key_text(a, i, 0)) != NULL) {
        etf_put_text(b, text);
    } else {
        put_value(b, erltrace_aggr_key(a, i));
    }
}

void port_put_aggr(struct buf *b, const struct erltrace_aggr *a)
{
    etf_put_tuple(b, 3);
    etf_put_atom(b, a->function);
    size_t at = etf_list_begin(b);
    for (size_t i = 0; i < a->nkeys; i++)
        put_key(b, a, i);
    etf_list_finish(b, at, (uint32_t)a->nkeys);
    const struct word_agg_info *f = word_agg_named(a->function);
    if (f != NULL && f->result == WORD_BUCKETS)
        put_buckets(b, a);
    else if (f != NULL && word_agg_is_real(f))
        etf_put_real(b, word_agg_real(f, a->words, a->normal > 0 ? a->normal : 1));
    else
        etf_put_int(b, a->value);
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

void port_put_event(struct buf *b, enum event_kind kind, const void *event)
{
    static const char *const tags[] = {[EVENT_FAULT] = "error",
                                       [EVENT_DROP] = "drop",
                                       [EVENT_COST] = "stats",
                                       [EVENT_MEMBER] = "member",
                                       [EVENT_DIAGNOSTIC] = "diag"};
    etf_put_tuple(b, 2);
    etf_put_atom(b, tags[kind]);
    put_fields(b, kind, event);
}

void port_put_progress(struct buf *b, int64_t ref, const struct erltrace_progress *p)
{
    etf_put_version(b);
    etf_put_tuple(b, 3);
    etf_put_atom(b, "progress");
    etf_put_int(b, ref);
    put_fields(b, EVENT_PROGRESS, p);
}
