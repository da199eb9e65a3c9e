/* label.c - the lower bounds of the buckets of quantize and llquantize (language.md 7.1). */
#include "result/label.h"

#include "dif/dif.h"

int64_t label_quantize(unsigned bucket)
{
    if (bucket == DIF_QUANTIZE_ZERO)
        return 0;
    if (bucket > DIF_QUANTIZE_ZERO)
        return (int64_t)(UINT64_C(1) << (bucket - DIF_QUANTIZE_ZERO - 1));
    return -(int64_t)(UINT64_C(1) << (DIF_QUANTIZE_ZERO - 1 - bucket));
}

/* Returns factor^n, which fits 64 bits: the aggregation has been verified. */
static uint64_t power(uint64_t factor, int64_t n)
{
    uint64_t v = 1;
    for (; n > 0; n--)
        v *= factor;
    return v;
}

int64_t label_llquantize(unsigned bucket, int64_t factor, int64_t low, int64_t high, int64_t steps)
{
    __extension__ typedef unsigned __int128 u128;
    uint64_t bins = dif_llq_bins(factor, steps);
    uint64_t side = bins * (uint64_t)(high - low + 1);
    uint64_t mid = side + 1, v;
    if (bucket == mid)
        return 0;
    uint64_t k = bucket > mid ? bucket - mid - 1 : mid - 1 - bucket;
    if (k >= side) {
        v = power((uint64_t)factor, high + 1);
    } else {
        uint64_t start = power((uint64_t)factor, low + (int64_t)(k / bins));
        v = start + (uint64_t)((u128)(k % bins) * (start * (uint64_t)factor) / (uint64_t)steps);
    }
    return (int64_t)(bucket > mid ? v : 0 - v);
}
