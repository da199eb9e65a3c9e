/* blocks.c - passes what engines left behind (dif/record.h) to a sink. The bytes may come from
 * another machine, so every size and number in them is checked. */
#include "base/err.h"
#include "tier/record_read.h"
#include "tier/tier.h"

static int report_record(struct tier *t, const struct rdr *one, const struct tier_sink *sink)
{
    struct record_seen r;
    if (!record_read(one, &r))
        return ET_EIMAGE;
    if (r.epid != RECORD_EPID_FAULT) {
        if (sink->record != NULL)
            sink->record(sink->arg, t, r.epid, r.timestamp, r.cpu, r.parts, r.bytes);
        return 0;
    }
    const struct record_failure f = record_read_fault(&r);
    if (sink->fault != NULL)
        sink->fault(sink->arg, t, f.epid, f.action, f.offset, f.fault, f.value, r.cpu);
    return 0;
}

/* The aggregation of the last entry, and its number of words. The next one mostly is of it too. */
struct last {
    uint32_t agg;
    size_t nwords; /* 0: there is none */
};

/* Passes on an entry whose words are too many for the stack. */
static int report_long(struct tier *t, const struct record_added *a, size_t nwords,
                       const struct tier_sink *sink)
{
    uint64_t *words = et_malloc(nwords * sizeof *words);
    if (words == NULL)
        return ET_ENOMEM;
    record_words(a->words, nwords, words);
    sink->aggregation(sink->arg, t, a->agg, a->cpu, a->key, a->keylen, words, nwords, a->lower);
    et_free(words);
    return 0;
}

static int report_entry(struct tier *t, const struct dif_image *img, const struct rdr *one,
                        const struct tier_sink *sink, struct last *last)
{
    uint32_t agg;
    struct record_added a;
    uint64_t words[DIF_QUANTIZE_BUCKETS];
    if (!record_read_agg(one, &agg) || agg >= img->naggs)
        return ET_EIMAGE;
    if (last->nwords == 0 || last->agg != agg)
        *last = (struct last){agg, dif_agg_words(&img->aggs[agg])};
    if (last->nwords == 0 || !record_read_entry(one, last->nwords, &a))
        return ET_EIMAGE;
    if (sink->aggregation == NULL)
        return 0;
    if (last->nwords > DIF_QUANTIZE_BUCKETS)
        return report_long(t, &a, last->nwords, sink);
    record_words(a.words, last->nwords, words);
    sink->aggregation(sink->arg, t, agg, a.cpu, a.key, a.keylen, words, last->nwords, a.lower);
    return 0;
}

int tier_report(struct tier *t, const struct dif_image *img, const void *blocks, size_t len,
                const struct tier_sink *sink, struct diags *d)
{
    struct rdr r = {.p = blocks, .end = len > 0 ? (const uint8_t *)blocks + len : blocks};
    struct record_block b;
    struct rdr one;
    struct last last = {0, 0};
    int err = 0;
    while (err == 0 && record_next_block(&r, &b)) {
        while (err == 0 && record_next(&b.items, &one))
            err = b.kind == RECORD_PRINCIPAL ? report_record(t, &one, sink)
                                             : report_entry(t, img, &one, sink, &last);
        r.bad |= b.items.bad;
    }
    if (err == 0 && r.bad)
        err = ET_EIMAGE;
    if (err == ET_ENOMEM)
        return diag_error(d, err, NULL, "", NULL, "%s", et_strerror(err));
    if (err != 0)
        diag_error(d, err, NULL, "TRACE_DATA", NULL, "malformed trace data");
    return err;
}
