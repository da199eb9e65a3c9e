/* blocks.c - walks the blocks that engine_drain makes and hands their records and entries to a
 * sink. The bytes may come from another machine, so nothing in them is believed. */
#include <string.h>

#include "base/err.h"
#include "tier/tier.h"

enum { REC_HEAD = 24, ENTRY_HEAD = 16, FAULT_PARTS = 24 };

static uint32_t u32_at(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t u64_at(const uint8_t *p)
{
    return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

static int report_record(struct tier *t, const uint8_t *p, uint32_t size,
                         const struct tier_sink *sink)
{
    if (size < REC_HEAD)
        return ET_EIMAGE;
    uint32_t epid = u32_at(p + 4), cpu = u32_at(p + 16), bytes = u32_at(p + 20);
    const uint8_t *parts = p + REC_HEAD;
    if (bytes > size - REC_HEAD)
        return ET_EIMAGE;
    if (epid != ENGINE_EPID_FAULT) {
        if (sink->record != NULL)
            sink->record(sink->arg, t, epid, u64_at(p + 8), cpu, parts, bytes);
        return 0;
    }
    if (bytes != FAULT_PARTS)
        return ET_EIMAGE;
    if (sink->fault != NULL)
        sink->fault(sink->arg, t, u32_at(parts), u32_at(parts + 4), u32_at(parts + 8),
                    u32_at(parts + 12), u64_at(parts + 16), cpu);
    return 0;
}

static int report_entry(struct tier *t, const struct dif_image *img, const uint8_t *p,
                        uint32_t size, const struct tier_sink *sink)
{
    if (size < ENTRY_HEAD)
        return ET_EIMAGE;
    uint32_t agg = u32_at(p + 4), keylen = u32_at(p + 8), cpu = u32_at(p + 12);
    size_t nwords = agg < img->naggs ? dif_agg_words(&img->aggs[agg]) : 0;
    if (nwords == 0 || nwords * 8 > size - ENTRY_HEAD || keylen > size - ENTRY_HEAD - nwords * 8)
        return ET_EIMAGE;
    uint64_t words[DIF_QUANTIZE_BUCKETS], *w = words;
    if (nwords > DIF_QUANTIZE_BUCKETS && (w = et_malloc(nwords * sizeof *w)) == NULL)
        return ET_ENOMEM;
    for (size_t i = 0; i < nwords; i++)
        w[i] = u64_at(p + ENTRY_HEAD + i * 8);
    if (sink->aggregation != NULL)
        sink->aggregation(sink->arg, t, agg, cpu, p + ENTRY_HEAD + nwords * 8, keylen, w, nwords);
    if (w != words)
        et_free(w);
    return 0;
}

/* The records or entries of one block. */
static int report_block(struct tier *t, const struct dif_image *img, uint8_t kind, const uint8_t *p,
                        const uint8_t *end, const struct tier_sink *sink)
{
    int err = 0;
    for (uint32_t size; err == 0 && p < end; p += size) {
        size = end - p >= 4 ? u32_at(p) : 0;
        if (size < 8 || size % 8 != 0 || size > (size_t)(end - p))
            return ET_EIMAGE;
        err = kind == ENGINE_PRINCIPAL ? report_record(t, p, size, sink)
                                       : report_entry(t, img, p, size, sink);
    }
    return err;
}

int tier_report(struct tier *t, const struct dif_image *img, const void *blocks, size_t len,
                const struct tier_sink *sink, struct diags *d)
{
    struct rdr r = {.p = blocks, .end = len > 0 ? (const uint8_t *)blocks + len : blocks};
    int err = 0;
    while (err == 0 && rdr_left(&r) > 0) {
        uint8_t kind = rdr_u8(&r);
        rdr_bytes(&r, 3);
        uint32_t n = rdr_u32(&r);
        const uint8_t *p = rdr_bytes(&r, n);
        err = p != NULL && (kind == ENGINE_PRINCIPAL || kind == ENGINE_AGGS)
                  ? report_block(t, img, kind, p, p + n, sink)
                  : ET_EIMAGE;
    }
    if (err == ET_ENOMEM)
        return diag_error(d, err, NULL, "", NULL, "%s", et_strerror(err));
    if (err != 0)
        diag_error(d, err, NULL, "TRACE_DATA", NULL, "malformed trace data");
    return err;
}
