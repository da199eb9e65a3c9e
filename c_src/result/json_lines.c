/* json_lines.c - the reporter that writes --json: one object on one line for every record,
 * aggregation, drop and error. doc/json.md is the same for users. Numbers are exact 64-bit
 * integers; text that is not UTF-8 has U+FFFD in place of the bytes that are not. "node" is "" for
 * the local tier.
 *
 *   {"type":"record","epid":1,"probe":P,"node":"a@b","cpu":0,"timestamp":123,"data":[D,...]}
 *     P {"id":1,"provider":"dtrace","module":"","function":"","name":"BEGIN"}
 *     D {"action":"trace","value":V}
 *       {"action":"printf","text":"...","values":[V,...]}
 *       {"action":"printa","text":"...","aggregations":[{"name":"@a","function":"count"},...],
 *                          "rows":[{"keys":[V,...],"values":[A,...]},...]}
 *       {"action":"clear","aggregation":"@a"}            and trunc, normalize, denormalize,
 *       {"action":"trunc","aggregation":"@a","value":5}  with the number if there is one
 *       {"action":"exit","status":0}
 *       {"action":"system","text":"...","values":[V,...]} and freopen
 *       {"action":"setopt","values":["quiet","1"]}        and ftruncate, without values
 *     V an integer or a string; A an integer or, of a histogram, [B,...]
 *   {"type":"aggregation","name":"@a","function":"sum","keys":[V,...],"value":42}
 *   {"type":"aggregation","name":"@a","function":"quantize","keys":[V,...],"buckets":[B,...]}
 *     B {"from":4,"to":7,"count":2}  both ends included; null: not bounded. Only buckets
 *       that are not zero.
 *   {"type":"drop","kind":"principal","count":3,"node":"a@b","text":"3 drops on a@b"}
 *     kinds: principal aggregation dynamic dblerror thread spec specbusy specunavail; count is
 *     since the last one
 *   {"type":"member","what":"left","node":"a@b","reason":"...","text":"..."}
 *   {"type":"error","severity":"error","tag":"DTRACEFLT_DIVZERO","text":"divide-by-zero","epid":1,
 *    "probe":P,"node":"","cpu":0,"action":1,"offset":12,"value":0}
 *     a fault; action null: in the predicate; offset null: not known. Diagnostics have the shape
 *     of diag.h.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "event/event.h"
#include "result/field.h"
#include "result/hist.h"
#include "result/print.h"
#include "result/report.h"
#include "util/buftext.h"
#include "util/json.h"
#include "util/merge.h"

static void flush(struct report *r)
{
    buf_addc(&r->line, '\n');
    r->oom |= r->line.oom;
    if (!r->line.oom)
        r->out.data(r->out.arg, r->line.data, r->line.len);
    buf_reset(&r->line);
}

/* Appends a symbol's text; for a stack, the texts of its frames. */
static void json_place(const struct report *r, const struct value *v, struct buf *out)
{
    struct buf text = BUF_INIT;
    if (!symbol_is_stack(v)) {
        symbol_text(&r->symbols, v, &text);
        buf_json(out, buf_str(&text), text.len);
    } else {
        buf_addc(out, '[');
        for (size_t i = 0; symbol_frame(&r->symbols, v, i, &text); i++, buf_reset(&text)) {
            if (i > 0)
                buf_addc(out, ',');
            buf_json(out, buf_str(&text), text.len);
        }
        buf_addc(out, ']');
    }
    out->oom |= text.oom;
    buf_free(&text);
}

/* Appends the frames of a stack, where the tier knows functions:
 * [{"function":F,"file":F,"line":N}], or {"address":"0x..."}. null: not a stack. */
static void json_frames(const struct report *r, const struct value *v, struct buf *out)
{
    struct symbol_place at = {.name = BUF_INIT};
    if (!symbol_is_stack(v)) {
        buf_adds(out, "null");
        return;
    }
    buf_addc(out, '[');
    for (size_t i = 0; symbol_place(&r->symbols, v, i, 0, &at); i++) {
        buf_adds(out, i > 0 ? ",{" : "{");
        json_first_key(out, at.known ? "function" : "address");
        buf_json(out, buf_str(&at.name), at.name.len);
        if (at.line > 0) {
            json_key(out, "file");
            buf_json(out, at.file, strlen(at.file));
            buf_printf(out, ",\"line\":%" PRIu32, at.line);
        }
        buf_addc(out, '}');
    }
    buf_addc(out, ']');
    out->oom |= at.name.oom;
    buf_free(&at.name);
}

/* Appends "frames", with an element for each of the keys, if one of them is a stack. */
static void json_key_frames(const struct report *r, const struct value *key, size_t n,
                            struct buf *out)
{
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any |= symbol_is_stack(&key[i]);
    if (!any)
        return;
    json_key(out, "frames");
    for (size_t i = 0; i < n; i++) {
        buf_addc(out, i > 0 ? ',' : '[');
        json_frames(r, &key[i], out);
    }
    buf_addc(out, ']');
}

static void json_value(const struct report *r, const struct value *v, struct buf *out)
{
    if (v->kind == DIF_STRING) {
        buf_json(out, v->s, strnlen(v->s, v->len));
    } else if (v->kind == DIF_FLOAT) {
        json_float(out, value_float(v), 17);
    } else if (symbol_is(v)) {
        json_place(r, v, out);
    } else if (v->kind == DIF_BYTES) {
        json_hex(out, v->s, v->len);
    } else if (v->kind == DIF_INT) {
        json_int(out, v->i);
    } else {
        json_uint(out, (uint64_t)v->i);
    }
}

static void values(const struct report *r, struct buf *out, const char *key, const struct value *v,
                   size_t n)
{
    json_first_key(out, key);
    buf_addc(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_addc(out, ',');
        json_value(r, &v[i], out);
    }
    buf_addc(out, ']');
}

static void bound(struct buf *out, const char *key, bool open, int64_t v)
{
    json_first_key(out, key);
    if (open)
        buf_adds(out, "null");
    else
        buf_printf(out, "%" PRId64, v);
    buf_addc(out, ',');
}

static void buckets(struct report *r, const struct aggr *a, const uint64_t *words)
{
    struct hist h;
    bool first = true;
    if (hist_make(a->def, words, &h) != 0)
        r->oom = true;
    buf_addc(&r->line, '[');
    for (size_t i = 0; i < h.n; i++) {
        const struct hist_row *row = &h.row[i];
        if (row->count == 0)
            continue;
        buf_adds(&r->line, first ? "{" : ",{");
        bound(&r->line, "from", row->open_from, row->from);
        bound(&r->line, "to", row->open_to, row->to);
        buf_printf(&r->line, "\"count\":%" PRId64 "}", word_agg_normalized(row->count, a->normal));
        first = false;
    }
    buf_addc(&r->line, ']');
    hist_free(&h);
}

static void aggr_value(struct report *r, const struct aggr *a, const uint64_t *words)
{
    if (a->fn->result == WORD_BUCKETS)
        buckets(r, a, words);
    else
        buf_printf(&r->line, "%" PRId64, aggr_number(a, words));
}

static void aggr_name(struct buf *out, const char *key, const struct aggr *a)
{
    struct buf s = BUF_INIT;
    buf_printf(&s, "@%s", strcmp(a->name, "_") == 0 ? "" : a->name);
    json_first_key(out, key);
    buf_json(out, buf_str(&s), s.len);
    out->oom |= s.oom;
    buf_free(&s);
}

/* -- records ----------------------------------------------------------------------------------- */

static enum verdict begin(void *arg, const struct erltrace_record *rec)
{
    struct report *r = arg;
    (void)rec;
    r->begun = false;
    return VERDICT_SHOW;
}

/* Appends the start of a record, once. */
static void put_prefix(struct report *r, const struct erltrace_record *rec)
{
    if (r->begun)
        return;
    r->begun = true;
    /* The part that is the same for every record of a probe is kept from the previous record. */
    if (r->head_epid != rec->epid) {
        buf_reset(&r->head);
        buf_adds(&r->head, "{\"type\":\"record\"");
        event_json(&r->head, EVENT_RECORD, EVENT_LINES, rec);
        buf_adds(&r->head, ",\"cpu\":");
        r->head_epid = rec->epid;
    }
    buf_add(&r->line, r->head.data, r->head.len);
    r->line.oom |= r->head.oom;
    json_uint(&r->line, rec->cpu);
    buf_adds(&r->line, ",\"timestamp\":");
    json_uint(&r->line, rec->timestamp);
    buf_adds(&r->line, ",\"data\":[");
    r->first = true;
}

/* Appends which values of a row are lower bounds, if any is. */
static void at_least(struct buf *out, const struct aggr_view *v, const struct aggr_row *row)
{
    bool any = false;
    for (size_t a = 0; a < v->naggrs; a++)
        any = any || aggr_lower(v->aggr[a], row->words[a]);
    for (size_t a = 0; any && a < v->naggrs; a++)
        buf_printf(out, "%s%s", a == 0 ? ",\"at_least\":[" : ",",
                   aggr_lower(v->aggr[a], row->words[a]) ? "true" : "false");
    buf_adds(out, any ? "]" : "");
}

static void printa(struct report *r, const struct dif_action *act, const struct pf *format)
{
    struct aggr_order order = report_printed(r->opt);
    struct buf shown = BUF_INIT;
    struct aggr_view view;
    struct buf *out = &r->line;
    report_printa(r, act, format, &shown);
    buf_adds(out, ",\"text\":");
    buf_json(out, buf_str(&shown), shown.len);
    out->oom |= shown.oom;
    buf_free(&shown);
    if (aggr_view_make(&view, r->aggr, r->img->refs + act->ref, act->nrefs, &order) != 0) {
        r->oom = true;
        return;
    }
    buf_adds(out, ",\"aggregations\":[");
    for (size_t i = 0; i < view.naggrs; i++) {
        buf_adds(out, i > 0 ? ",{" : "{");
        aggr_name(out, "name", view.aggr[i]);
        json_text_field(out, "function", view.aggr[i]->fn->name);
        buf_addc(out, '}');
    }
    buf_adds(out, "],\"rows\":[");
    for (size_t i = 0; i < view.nrows; i++) {
        buf_adds(out, i > 0 ? ",{" : "{");
        values(r, out, "keys", view.row[i].key->key, view.aggr[0]->def->keys.n);
        json_key_frames(r, view.row[i].key->key, view.aggr[0]->def->keys.n, out);
        buf_adds(out, ",\"values\":[");
        for (size_t a = 0; a < view.naggrs; a++) {
            if (a > 0)
                buf_addc(out, ',');
            aggr_value(r, view.aggr[a], view.row[i].words[a]);
        }
        buf_addc(out, ']');
        at_least(out, &view, &view.row[i]);
        buf_addc(out, '}');
    }
    buf_addc(out, ']');
    aggr_view_free(&view);
}

static enum verdict action(void *arg, const struct erltrace_record *rec, struct event_data *d)
{
    static const char *const names[WORD_ACTIONS] = {
        [ACT_TRACE] = "trace",       [ACT_PRINTF] = "printf",
        [ACT_PRINTA] = "printa",     [ACT_CLEAR] = "clear",
        [ACT_TRUNC] = "trunc",       [ACT_NORMALIZE] = "normalize",
        [ACT_EXIT] = "exit",         [ACT_DENORMALIZE] = "denormalize",
        [ACT_SETOPT] = "setopt",     [ACT_SYSTEM] = "system",
        [ACT_FREOPEN] = "freopen",   [ACT_FTRUNCATE] = "ftruncate",
        [ACT_TRACEMEM] = "tracemem", [ACT_PRINT] = "print",
        [ACT_RAISE] = "raise",       [ACT_STACK] = "stack",
        [ACT_FOLLOW] = "follow",
    };
    struct report *r = arg;
    const struct dif_action *act = &r->img->actions[d->action];
    const struct value *v = d->v;
    struct buf *out = &r->line, shown = BUF_INIT;
    put_prefix(r, rec);
    if (act->kind >= WORD_ACTIONS || names[act->kind] == NULL)
        return VERDICT_SHOW;
    buf_adds(out, r->first ? "{" : ",{");
    r->first = false;
    json_first_key(out, "action");
    buf_json(out, names[act->kind], strlen(names[act->kind]));
    switch ((enum word_action)act->kind) {
    case ACT_TRACE:
    case ACT_STACK:
        json_key(out, "value");
        json_value(r, v, out);
        if (symbol_is_stack(v)) {
            json_key(out, "frames");
            json_frames(r, v, out);
        }
        break;
    case ACT_TRACEMEM: {
        struct value shown_bytes = *v;
        shown_bytes.len = field_tracemem_size(v, act->nparts);
        json_key(out, "value");
        json_value(r, &shown_bytes, out);
        break;
    }
    case ACT_PRINT:
        print_object((uint64_t)v->i, v + 1, dif_str(r->img, act->format), report_print_most(r->opt),
                     &shown);
        buf_adds(out, ",\"text\":");
        buf_json(out, buf_str(&shown), shown.len);
        json_key(out, "value");
        json_value(r, v + 1, out);
        out->oom |= shown.oom;
        buf_free(&shown);
        break;
    case ACT_SETOPT:
    case ACT_RAISE:
    case ACT_FTRUNCATE:
    case ACT_FOLLOW:
        buf_addc(out, ',');
        values(r, out, "values", v, act->nparts);
        break;
    case ACT_SYSTEM:
    case ACT_FREOPEN:
    case ACT_PRINTF:
        pf_format(&r->format[d->action], v, act->nparts,
                  &(struct pf_env){.symbols = &r->symbols, .target = r->target}, &shown);
        buf_adds(out, ",\"text\":");
        buf_json(out, buf_str(&shown), shown.len);
        buf_addc(out, ',');
        values(r, out, "values", v, act->nparts);
        out->oom |= shown.oom;
        buf_free(&shown);
        break;
    case ACT_PRINTA: printa(r, act, &r->format[d->action]); break;
    case ACT_EXIT: json_int_field(out, "status", v->i); break;
    default:
        buf_addc(out, ',');
        aggr_name(out, "aggregation", &r->aggr->aggr[r->img->refs[act->ref]]);
        if (act->nparts > 0)
            json_int_field(out, "value", v->i);
    }
    buf_addc(out, '}');
    return VERDICT_SHOW;
}

static enum verdict end(void *arg, const struct erltrace_record *rec, bool whole)
{
    struct report *r = arg;
    if (whole)
        put_prefix(r, rec);
    if (r->begun) {
        buf_adds(&r->line, "]}");
        flush(r);
    }
    return VERDICT_SHOW;
}

/* -- the rest ---------------------------------------------------------------------------------- */

/* Ends a fault's object, which is kept without its end, with the count. */
static void put_repeated(void *arg, const char *s, size_t n, uint64_t more)
{
    struct report *r = arg;
    struct buf line = BUF_INIT;
    buf_add(&line, s, n);
    buf_printf(&line, ",\"count\":%" PRIu64 "}\n", more);
    r->oom |= line.oom;
    r->out.data(r->out.arg, buf_str(&line), line.len);
    buf_free(&line);
}

static enum verdict due(void *arg, bool all)
{
    struct report *r = arg;
    fold_tell(&r->faults, monotonic_ns(), all, put_repeated, r);
    if (all)
        fold_free(&r->faults);
    return VERDICT_SHOW;
}

static enum verdict fault(void *arg, const struct erltrace_fault *f)
{
    struct report *r = arg;
    struct buf *out = &r->line;
    buf_adds(out, "{\"type\":\"error\",\"severity\":\"error\"");
    event_json(out, EVENT_FAULT, EVENT_LINES, f);
    if (!fold_comes(&r->faults, buf_str(out), out->len, monotonic_ns(), put_repeated, r)) {
        buf_reset(out);
        return VERDICT_SHOW;
    }
    buf_addc(out, '}');
    flush(r);
    return VERDICT_SHOW;
}

static void drop_name(struct buf *out, const char *kind)
{
    for (const char *p = kind; *p != '\0'; p++)
        buf_addc(out, (char)tolower((unsigned char)*p));
}

static enum verdict drop(void *arg, const struct erltrace_drop *d)
{
    struct report *r = arg;
    struct buf *out = &r->line;
    buf_adds(out, "{\"type\":\"drop\"");
    event_json(out, EVENT_DROP, EVENT_LINES, d);
    buf_addc(out, '}');
    flush(r);
    return VERDICT_SHOW;
}

static enum verdict member(void *arg, const struct erltrace_member *m)
{
    struct report *r = arg;
    buf_adds(&r->line, "{\"type\":\"member\"");
    event_json(&r->line, EVENT_MEMBER, EVENT_LINES, m);
    buf_addc(&r->line, '}');
    flush(r);
    return VERDICT_SHOW;
}

static void costs(struct buf *out, const char *key, const struct tier_load_probe *p, uint32_t n,
                  bool full)
{
    json_key(out, key);
    buf_addc(out, '[');
    for (uint32_t i = 0; i < n; i++) {
        buf_adds(out, i > 0 ? ",{" : "{");
        json_first_key(out, "name");
        buf_json(out, p[i].name, strlen(p[i].name));
        if (full) {
            json_text_field(out, "provider", p[i].prov);
            json_text_field(out, "module", p[i].mod);
            json_text_field(out, "function", p[i].func);
        }
        buf_printf(out, ",\"events\":%" PRIu64 ",\"ns\":%" PRIu64 "}", p[i].events, p[i].ns);
    }
    buf_addc(out, ']');
}

/* Appends the functions whose calls the VM counts, if there are any. */
static void counted(struct buf *out, const struct tier_load *l)
{
    if (l->functions == 0)
        return;
    buf_printf(out, ",\"counted\":{\"functions\":%" PRIu64 ",\"most\":[", l->functions);
    for (uint32_t i = 0; i < l->ncounted; i++) {
        buf_adds(out, i > 0 ? ",{" : "{");
        json_first_key(out, "module");
        buf_json(out, l->counted[i].mod, strlen(l->counted[i].mod));
        json_text_field(out, "function", l->counted[i].func);
        buf_printf(out, ",\"calls\":%" PRIu64 "}", l->counted[i].calls);
    }
    buf_adds(out, "]}");
}

static enum verdict cost(void *arg, struct event_cost *c)
{
    struct report *r = arg;
    const struct tier_load *l = c->load;
    struct buf *out = &r->line;
    bool first = true;
    if (l->why == TIER_LOAD_TOTAL && !option_on(r->opt, OPTION_stats))
        return VERDICT_SHOW; /* only for users who asked for reports */
    buf_adds(out, "{\"type\":\"stats\"");
    event_json(out, EVENT_COST, EVENT_LINES, &c->public);
    buf_adds(out, ",\"threads\":[");
    for (uint32_t i = 0; i < l->nthreads; i++) {
        uint32_t share = report_stats_share(c, i);
        buf_printf(out,
                   "%s{\"kind\":\"%s\",\"number\":%" PRIu32 ",\"events\":%" PRIu64
                   ",\"ns\":%" PRIu64 ",\"share\":%" PRIu32 ".%03" PRIu32 "}",
                   i > 0 ? "," : "", l->thread[i].kind, l->thread[i].number, l->thread[i].events,
                   l->thread[i].ns, share / 1000, share % 1000);
    }
    buf_addc(out, ']');
    costs(out, "kinds", l->kind, l->nkinds, false);
    costs(out, "probes", l->probe, l->nprobes, true);
    buf_printf(out, ",\"emulator\":%" PRIu64, l->vm);
    counted(out, l);
    if (l->why == TIER_LOAD_OVERLOAD)
        buf_printf(out,
                   ",\"over\":{\"kind\":\"%s\",\"number\":%" PRIu32 ",\"time\":%" PRIu64
                   ",\"share\":%" PRIu32 ".%03" PRIu32 ",\"limit\":%" PRIu32 ".%03" PRIu32 "}",
                   l->over.kind, l->over.number, l->over.time, l->permille / 1000,
                   l->permille % 1000, l->limit / 1000, l->limit % 1000);
    buf_adds(out, ",\"drops\":{");
    for (int k = 0; k < RECORD_NDROPS; k++) {
        if (c->drop[k] == 0)
            continue;
        buf_adds(out, first ? "\"" : ",\"");
        drop_name(out, report_drop_name((enum record_drop)k));
        buf_printf(out, "\":%" PRIu64, c->drop[k]);
        first = false;
    }
    buf_adds(out, "}}");
    flush(r);
    return VERDICT_SHOW;
}

/* Appends the values of each CPU, in the order of their numbers. */
static void percpu(struct report *r, const struct aggr *a, const struct aggr_entry *e)
{
    struct buf *out = &r->line;
    buf_adds(out, ",\"percpu\":[");
    for (uint32_t cpu = 0; cpu < r->aggr->ncpus; cpu++) {
        if (cpu > 0)
            buf_addc(out, ',');
        aggr_value(r, a, aggr_cpu_words(a, e, cpu));
    }
    buf_addc(out, ']');
}

static enum verdict aggregations(void *arg)
{
    struct report *r = arg;
    struct aggr_order order = report_printed(r->opt);
    for (uint32_t i = 0; i < r->aggr->n; i++) {
        uint32_t at = order.reverse ? r->aggr->n - 1 - i : i;
        const struct aggr *a = &r->aggr->aggr[at];
        struct aggr_view view;
        if (a->printed)
            continue;
        if (aggr_view_make(&view, r->aggr, &at, 1, &order) != 0) {
            r->oom = true;
            return VERDICT_SHOW;
        }
        for (size_t row = 0; row < view.nrows; row++) {
            struct buf *out = &r->line;
            buf_adds(out, "{\"type\":\"aggregation\",");
            aggr_name(out, "name", a);
            json_text_field(out, "function", a->fn->name);
            buf_addc(out, ',');
            values(r, out, "keys", view.row[row].key->key, a->def->keys.n);
            json_key_frames(r, view.row[row].key->key, a->def->keys.n, out);
            json_key(out, a->fn->result == WORD_BUCKETS ? "buckets" : "value");
            aggr_value(r, a, view.row[row].words[0]);
            if (aggr_lower(a, view.row[row].words[0]))
                buf_adds(out, ",\"at_least\":true");
            if (option_on(r->opt, OPTION_aggpercpu))
                percpu(r, a, view.row[row].key);
            buf_addc(out, '}');
            flush(r);
        }
        aggr_view_free(&view);
    }
    return VERDICT_SHOW;
}

const struct observer report_json = {.begin = begin,
                                     .action = action,
                                     .end = end,
                                     .fault = fault,
                                     .drop = drop,
                                     .cost = cost,
                                     .member = member,
                                     .aggregations = aggregations,
                                     .due = due};
