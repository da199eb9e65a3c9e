/* report.c - shared by both reporters: texts of faults and drops, and printa(). */
#include "result/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "result/bars.h"
#include "result/field.h"
#include "result/hist.h"
#include "result/profile.h"
#include "util/buftext.h"

static const struct {
    const char *name;
    int flag;
    enum { HOW_LINES, HOW_WHOLE } how;
    const struct observer *reporter;
} formats[] = {
#define FORMAT(name, flag, how, reporter) {#name, flag, HOW_##how, &reporter},
#include "util/formats.list"
#undef FORMAT
};
enum { NFORMATS = sizeof formats / sizeof formats[0] };

const struct observer *report_format(int flags, int64_t format)
{
    for (size_t i = 0; i < NFORMATS; i++)
        if ((flags & formats[i].flag) != 0)
            return formats[i].reporter;
    return formats[format >= 0 && format < NFORMATS ? format : 0].reporter;
}

static size_t format_of(const struct observer *reporter)
{
    size_t i = 0;
    while (i < NFORMATS - 1 && formats[i].reporter != reporter)
        i++;
    return i;
}

const char *report_format_name(const struct observer *reporter)
{
    return formats[format_of(reporter)].name;
}

bool report_is_profile(const struct observer *reporter)
{
    return formats[format_of(reporter)].how == HOW_WHOLE;
}

int report_flags(void)
{
    int flags = 0;
    for (size_t i = 0; i < NFORMATS; i++)
        flags |= formats[i].flag;
    return flags;
}

/* -- faults (language.md 10.4) ----------------------------------------------------------------- */

enum show { SHOW_NOTHING, SHOW_HEX, SHOW_DECIMAL };
static const struct fault {
    uint32_t code;
    const char *name, *text;
    enum show show;
} faults[] = {
#define WORD_FAULT(num, name, value, text) {num, #name, text, SHOW_##value},
#include "words/faults.list"
#undef WORD_FAULT
};

static const struct fault *fault_of(uint32_t code)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (faults[i].code == code)
            return &faults[i];
    return &faults[0];
}

const char *report_fault_name(uint32_t fault)
{
    return fault_of(fault)->name;
}

const char *report_fault_text(uint32_t fault)
{
    return fault_of(fault)->text;
}

static void put_value_of(const struct erltrace_fault *f, struct buf *out)
{
    const struct fault *row = fault_of(f->code);
    if (row->show == SHOW_DECIMAL)
        buf_printf(out, " (%" PRId64 ")", (int64_t)f->value);
    else if (row->show == SHOW_HEX && (f->value != UINT64_MAX || f->code != RECORD_FAULT_BADADDR))
        buf_printf(out, " (0x%" PRIx64 ")", f->value);
}

void report_fault_message(const struct erltrace_fault *f, struct buf *out)
{
    const struct erltrace_probe *p = f->probe;
    buf_printf(out, "error on enabled probe ID %" PRIu32 " (ID %" PRIu32 ": %s:%s:%s:%s): %s",
               f->epid, p->id, p->provider, p->module, p->function, p->name, f->reason);
    if (strcmp(f->reason, report_fault_text(f->code)) != 0)
        return;
    put_value_of(f, out);
    if (f->action == 0)
        buf_adds(out, " in predicate");
    else
        buf_printf(out, " in action #%" PRIu32, f->action);
    if (f->offset >= 0)
        buf_printf(out, " at DIF offset %" PRId64, f->offset);
}

/* -- drops (language.md 10.6) ------------------------------------------------------------------ */

static const struct {
    const char *name, *noun, *rest;
} drops[RECORD_NDROPS] = {
#define WORD_DROP(num, name, noun, rest) [num] = {#name, noun, rest},
#include "words/drops.list"
#undef WORD_DROP
};

const char *report_drop_name(enum record_drop kind)
{
    return kind < RECORD_NDROPS ? drops[kind].name : "UNKNOWN";
}

void report_drop_text(enum record_drop kind, uint64_t count, int cpu, const char *node,
                      struct buf *out)
{
    if (kind >= RECORD_NDROPS)
        return;
    buf_printf(out, "%" PRIu64 " %s%s%s", count, drops[kind].noun, count > 1 ? "s" : "",
               drops[kind].rest);
    if (cpu >= 0)
        buf_printf(out, " on CPU %d", cpu);
    if (cpu >= 0 && node[0] != '\0')
        buf_printf(out, " of %s", node);
}

void report_ended_text(const char *node, uint64_t ns, struct buf *out)
{
    const uint64_t ns_per_ms = 1000000, ns_per_s = 1000000000;
    buf_printf(out, "the trace in %s ended there: what fired in its last ", node);
    if (ns < ns_per_s)
        buf_printf(out, "%" PRIu64 " ms is lost", (ns + ns_per_ms - 1) / ns_per_ms);
    else
        buf_printf(out, "%.1f s is lost", (double)ns / (double)ns_per_s);
}

void report_member_text(const struct erltrace_member *m, struct buf *out)
{
    static const struct {
        const char *what, *text, *rest; /* the reason stands between the two */
    } texts[] = {
        {"joined", "is traced from now on", ""},
        {"left", "is no longer traced: ", "; what it had counted is kept"},
        {"refused", "is not traced: ", ""},
        {"silent", "does not answer; the other nodes go on", ""},
        {"answers", "answers again", ""},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].what, m->what) == 0)
            buf_printf(out, "%s %s%s%s", m->node, texts[i].text, m->reason, texts[i].rest);
}

/* -- printa (language.md 7.6) ------------------------------------------------------------------ */

size_t report_print_most(const struct options *o)
{
    int64_t v = o->value[OPTION_printsize];
    return v < 0 ? SIZE_MAX : (size_t)v;
}

struct aggr_order report_order(const struct options *o)
{
    int64_t key = o->value[OPTION_aggsortkeypos], pos = o->value[OPTION_aggsortpos];
    return (struct aggr_order){
        .by_key = option_on(o, OPTION_aggsortkey),
        .reverse = option_on(o, OPTION_aggsortrev),
        .key_pos = key > 0 ? (size_t)key : 0,
        .pos = pos > 0 ? (size_t)pos : 0,
    };
}

struct aggr_order report_printed(const struct options *o)
{
    struct aggr_order order = report_order(o);
    int64_t rows = o->value[OPTION_aggrows];
    order.rows = rows > 0 ? (size_t)rows : 0;
    return order;
}

struct row {
    bool zoom;
    const struct aggr_view *view;
    const struct aggr_row *row;
};

/* Appends a lower bound: >= before the number, both in its width. */
static void put_lower(const struct pf_conv *c, const struct value *v, struct buf *out)
{
    struct pf_conv bare = *c;
    struct buf number = BUF_INIT;
    bare.width = 0;
    buf_adds(&number, AGGR_LOWER);
    pf_value(&bare, v, &number);
    const size_t pad = size_left((size_t)c->width, number.len);
    if ((c->flags & PRINTF_LEFT) == 0)
        buf_fill(out, ' ', pad);
    buf_add(out, buf_str(&number), number.len);
    if ((c->flags & PRINTF_LEFT) != 0)
        buf_fill(out, ' ', pad);
    out->oom = out->oom || number.oom;
    buf_free(&number);
}

/* Appends the nth %@: the nth aggregation, or the last one when there are fewer. */
static void put_aggregation(void *arg, unsigned nth, const struct pf_conv *c, struct buf *out)
{
    const struct row *r = arg;
    size_t at = nth < r->view->naggrs ? nth : r->view->naggrs - 1;
    const struct aggr *a = r->view->aggr[at];
    if (a->fn->result == WORD_BUCKETS) {
        field_aggr(a, r->row->words[at], r->zoom, out);
        return;
    }
    struct value v = {.kind = a->fn->result == WORD_COUNT ? DIF_UINT : DIF_INT,
                      .size = sizeof(int64_t),
                      .i = aggr_number(a, r->row->words[at])};
    if (aggr_lower(a, r->row->words[at]))
        put_lower(c, &v, out);
    else
        pf_value(c, &v, out);
}

/* Appends a value, and with aggpercpu the share of each CPU. */
static void put_value(const struct report *r, const struct aggr *a, const struct aggr_row *row,
                      const uint64_t *words, struct buf *out)
{
    bool zoom = option_on(r->opt, OPTION_aggzoom);
    int64_t only = r->opt->value[OPTION_cpu];
    field_aggr(a, words, zoom, out);
    for (uint32_t cpu = 0; cpu < r->aggr->ncpus && option_on(r->opt, OPTION_aggpercpu); cpu++) {
        if (only >= 0 && cpu != only)
            continue;
        buf_printf(out, "\n    [CPU %" PRIu32 "]", cpu);
        field_aggr(a, aggr_cpu_words(a, row->key, cpu), zoom, out);
    }
}

/* One line for each row: the stack from its root, blank, values. */
static void folded_rows(const struct report *r, const struct aggr_view *view, struct buf *out)
{
    for (size_t i = 0; i < view->nrows; i++) {
        profile_fold(r, view->aggr[0], &view->row[i], out);
        for (size_t a = 0; a < view->naggrs; a++)
            buf_printf(out, " %" PRId64, profile_value(view->aggr[a], view->row[i].words[a]));
        buf_addc(out, '\n');
    }
}

void report_rows(struct report *r, const uint32_t *aggs, size_t n, const struct pf *format,
                 struct buf *out)
{
    struct aggr_order order = report_printed(r->opt);
    struct aggr_view view;
    if (aggr_view_make(&view, r->aggr, aggs, n, &order) != 0) {
        r->oom = true;
        return;
    }
    if (format->n == 0 && symbol_folded(&r->symbols) && profile_keys(&view.aggr[0]->def->keys)) {
        folded_rows(r, &view, out);
        aggr_view_free(&view);
        return;
    }
    if (format->n == 0 && bars_want(r, &view)) {
        bars_rows(r, &view, out);
        aggr_view_free(&view);
        return;
    }
    uint32_t strsize = r->img->strsize;
    bool zoom = option_on(r->opt, OPTION_aggzoom);
    bool raw = option_on(r->opt, OPTION_rawbytes);
    for (size_t i = 0; i < view.nrows; i++) {
        struct row row = {zoom, &view, &view.row[i]};
        const struct dif_keys *keys = &view.aggr[0]->def->keys;
        const struct pf_env env = {put_aggregation, &row, &r->symbols, r->target, report_shown(r)};
        if (format->n > 0) {
            pf_format(format, row.row->key->key, keys->n, &env, out);
            continue;
        }
        for (size_t k = 0; k < keys->n; k++)
            field_key(&row.row->key->key[k], strsize, raw, report_shown(r), &r->symbols, out);
        for (size_t a = 0; a < view.naggrs; a++)
            put_value(r, view.aggr[a], row.row, row.row->words[a], out);
        buf_addc(out, '\n');
    }
    aggr_view_free(&view);
}

void report_printa(struct report *r, const struct dif_action *act, const struct pf *format,
                   struct buf *out)
{
    bool folded =
        symbol_folded(&r->symbols) && profile_keys(&r->img->aggs[r->img->refs[act->ref]].keys);
    if (format->n == 0 && !folded)
        buf_addc(out, '\n');
    report_rows(r, r->img->refs + act->ref, act->nrefs, format, out);
}
