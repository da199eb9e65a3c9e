/* report.c - what both reporters need: texts of faults and drops, and printa(). */
#include "consumer/report.h"

#include <inttypes.h>

#include "consumer/field.h"
#include "consumer/hist.h"

/* -- faults (reference 10.4) ------------------------------------------------------------------- */

enum show { SHOW_NOTHING, SHOW_HEX, SHOW_DECIMAL };
static const struct fault {
    uint32_t code;
    const char *name, *text;
    enum show show;
} faults[] = {
    {0, "UNKNOWN", "unknown fault", SHOW_NOTHING},
    {1, "BADADDR", "invalid address", SHOW_HEX},
    {2, "BADALIGN", "invalid alignment", SHOW_HEX},
    {3, "ILLOP", "illegal operation", SHOW_NOTHING},
    {4, "DIVZERO", "divide-by-zero", SHOW_NOTHING},
    {5, "NOSCRATCH", "out of scratch space", SHOW_NOTHING},
    {6, "KPRIV", "invalid kernel access", SHOW_NOTHING},
    {7, "UPRIV", "invalid user access", SHOW_NOTHING},
    {8, "TUPOFLOW", "tuple stack overflow", SHOW_NOTHING},
    {9, "BADSTACK", "bad stack", SHOW_HEX},
    {10, "BADSIZE", "invalid size", SHOW_HEX},
    {11, "BADINDEX", "index out of bounds", SHOW_DECIMAL},
    {1000, "LIBRARY", "library-level fault", SHOW_NOTHING},
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

void report_fault_value(const struct report_fault *f, struct buf *out)
{
    const struct fault *row = fault_of(f->fault);
    if (row->show == SHOW_DECIMAL)
        buf_printf(out, " (%" PRId64 ")", (int64_t)f->value);
    else if (row->show == SHOW_HEX && (f->value != UINT64_MAX || f->fault != ENGINE_FAULT_BADADDR))
        buf_printf(out, " (0x%" PRIx64 ")", f->value);
}

/* -- drops (reference 10.6) -------------------------------------------------------------------- */

static const struct {
    const char *name, *noun, *rest;
    bool where; /* say which node */
} drops[ENGINE_NDROPS] = {
    [ENGINE_DROP_PRINCIPAL] = {"PRINCIPAL", "drop", "", true},
    [ENGINE_DROP_AGG] = {"AGGREGATION", "aggregation drop", "", true},
    [ENGINE_DROP_DYNAMIC] = {"DYNAMIC", "dynamic variable drop", "", false},
    [ENGINE_DROP_DBLERROR] = {"DBLERROR", "error", " in ERROR probe enabling", false},
    [ENGINE_DROP_SPEC] = {"SPEC", "speculative drop", "", false},
    [ENGINE_DROP_SPECBUSY] = {"SPECBUSY", "failed speculation", " (available buffer(s) still busy)",
                              false},
    [ENGINE_DROP_SPECUNAVAIL] = {"SPECUNAVAIL", "failed speculation",
                                 " (no speculative buffer available)", false},
    [ENGINE_DROP_THREAD] = {"THREAD", "drop", " on threads without a buffer", false},
};

const char *report_drop_name(enum engine_drop kind)
{
    return kind < ENGINE_NDROPS ? drops[kind].name : "UNKNOWN";
}

void report_drop_text(const struct report_drop *d, struct buf *out)
{
    if (d->kind >= ENGINE_NDROPS)
        return;
    buf_printf(out, "%" PRIu64 " %s%s%s", d->count, drops[d->kind].noun, d->count > 1 ? "s" : "",
               drops[d->kind].rest);
    if (drops[d->kind].where && d->target[0] != '\0')
        buf_printf(out, " on %s", d->target);
}

/* -- printa (reference 7.6) -------------------------------------------------------------------- */

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

struct row {
    const struct aggr_view *view;
    const struct aggr_row *row;
};

/* The nth %@: the nth aggregation, or the last one when there are fewer. */
static void put_aggregation(void *arg, unsigned nth, const struct pf_conv *c, struct buf *out)
{
    const struct row *r = arg;
    size_t at = nth < r->view->naggrs ? nth : r->view->naggrs - 1;
    const struct aggr *a = r->view->aggr[at];
    if (hist_is(a->def->func)) {
        field_aggr(a, r->row->words[at], out);
        return;
    }
    struct value v = {.kind = a->def->func == DIF_AGG_COUNT ? DIF_UINT : DIF_INT,
                      .size = sizeof(int64_t),
                      .i = aggr_number_printa(a, r->row->words[at])};
    pf_integer(c, &v, out);
}

void report_rows(struct report *r, const uint32_t *aggs, size_t n, const struct pf *format,
                 struct buf *out)
{
    struct aggr_order order = report_order(r->opt);
    struct aggr_view view;
    if (aggr_view_make(&view, r->aggr, aggs, n, &order) != 0) {
        r->oom = true;
        return;
    }
    uint32_t strsize = r->img->strsize;
    bool raw = option_on(r->opt, OPTION_rawbytes);
    for (size_t i = 0; i < view.nrows; i++) {
        struct row row = {&view, &view.row[i]};
        const struct dif_keys *keys = &view.aggr[0]->def->keys;
        if (format->n > 0) {
            pf_format(format, row.row->key->key, keys->n, put_aggregation, &row, out);
            continue;
        }
        for (size_t k = 0; k < keys->n; k++)
            field_key(&row.row->key->key[k], strsize, raw, out);
        for (size_t a = 0; a < view.naggrs; a++)
            field_aggr(view.aggr[a], row.row->words[a], out);
        buf_addc(out, '\n');
    }
    aggr_view_free(&view);
}

void report_printa(struct report *r, const struct dif_action *act, const struct pf *format,
                   struct buf *out)
{
    if (format->n == 0)
        buf_addc(out, '\n');
    report_rows(r, r->img->refs + act->ref, act->nrefs, format, out);
}
