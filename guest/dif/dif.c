/* dif.c - the tables about instructions, creating and freeing an image, and the bucket arithmetic
 * of the quantizing aggregations (language.md 7.1), which engine and consumer share. */
#include "dif/dif.h"

#include <string.h>

#include "words/tiers.h"

/* Whether each shape of builtins.list is an array. */
enum { U64 = 0, S64 = 0, U32 = 0, S32 = 0, STR = 0, U64S = 1 };

static const struct dif_builtin_info builtin_info[DIF_NBUILTINS] = {
#define WORD_BUILTIN(num, name, shape, type, tiers, since, text)                                   \
    [num] = {#name, tiers, shape, __builtin_strcmp(type, "term_t") == 0},
#include "words/builtins.list"
#undef WORD_BUILTIN
};

/* A subroutine is about terms if D's prototype has one. What only the compiler calls is taken for
 * that if only nodes have it. So the column is the set of tiers that it may have at most. */
#define NOT_D VM
#define D(args, least, most, flag, type, since, form, text)                                        \
    (__builtin_strchr(args, 't') != NULL || __builtin_strcmp(#type, "TERM") == 0 ? ALL : 0)
static const struct dif_subr_info subr_info[DIF_NSUBRS] = {
#define WORD_SUBR(num, name, args, result, min, max, tiers, d)                                     \
    [num] = {#name, args, result, min, max, tiers, ((d) & (tiers)) == (tiers)},
#include "words/subrs.list"
#undef WORD_SUBR
};
#undef D
#undef NOT_D

static const struct dif_kind_info kind_info[DIF_NKINDS] = {
#define WORD_KIND(num, name, text, tiers, d) [num] = {text, tiers},
#include "words/kinds.list"
#undef WORD_KIND
};

static const struct dif_action_info action_info[WORD_ACTIONS] = {
#define WORD_ACTION(num, name, text, tiers, destr, pleast, pmost, rleast, rmost, d)                \
    [num] = {text, tiers, destr, pleast, pmost, rleast, rmost},
#include "words/actions.list"
#undef WORD_ACTION
};

const struct dif_builtin_info *dif_builtin_info(unsigned builtin)
{
    return builtin < DIF_NBUILTINS && builtin_info[builtin].name != NULL ? &builtin_info[builtin]
                                                                         : NULL;
}

const struct dif_subr_info *dif_subr_info(unsigned subr)
{
    return subr < DIF_NSUBRS && subr_info[subr].name != NULL ? &subr_info[subr] : NULL;
}

const struct dif_kind_info *dif_kind_info(unsigned kind)
{
    return kind < DIF_NKINDS && kind_info[kind].name != NULL ? &kind_info[kind] : NULL;
}

const struct dif_action_info *dif_action_info(unsigned kind)
{
    return kind < WORD_ACTIONS && action_info[kind].name != NULL ? &action_info[kind] : NULL;
}

void dif_image_init(struct dif_image *img)
{
    memset(img, 0, sizeof *img);
    arena_init(&img->arena);
}

void dif_image_free(struct dif_image *img)
{
    arena_free(&img->arena);
    dif_image_init(img);
}

const char *dif_str(const struct dif_image *img, uint32_t index)
{
    return index < img->nstr ? img->strtab + img->str[index] : "";
}

unsigned dif_agg_nargs(uint8_t func)
{
    const struct word_agg_info *f = word_agg(func);
    return f != NULL ? f->values : 0;
}

unsigned dif_agg_words(const struct dif_agg *a)
{
    const struct word_agg_info *f = word_agg(a->func);
    switch (a->func) {
    case AGG_LQUANTIZE: {
        unsigned levels = dif_lquantize_levels(a->param[0], a->param[1], a->param[2]);
        return levels ? levels + 2 : 0;
    }
    case AGG_LLQUANTIZE:
        return dif_llq_nbuckets(a->param[0], a->param[1], a->param[2], a->param[3]);
    default: return f != NULL ? f->words : 0;
    }
}

/* Returns the number of the highest bit set; v is not 0. */
static unsigned log2_floor(uint64_t v)
{
    return 63u - (unsigned)__builtin_clzll(v);
}

unsigned dif_quantize_bucket(int64_t v)
{
    if (v == 0)
        return DIF_QUANTIZE_ZERO;
    if (v > 0)
        return DIF_QUANTIZE_ZERO + 1 + log2_floor((uint64_t)v);
    unsigned n = log2_floor(-(uint64_t)v);
    return n > 62 ? 0 : DIF_QUANTIZE_ZERO - 1 - n; /* INT64_MIN joins the first bucket */
}

unsigned dif_lquantize_levels(int64_t base, int64_t limit, int64_t step)
{
    if (base < INT32_MIN || base > INT32_MAX || limit < INT32_MIN || limit > INT32_MAX ||
        limit <= base || step < 1 || step > UINT16_MAX)
        return 0;
    int64_t levels = (limit - base) / step;
    return levels >= 1 && levels <= UINT16_MAX ? (unsigned)levels : 0;
}

unsigned dif_lquantize_bucket(int64_t v, int64_t base, int64_t limit, int64_t step)
{
    unsigned levels = dif_lquantize_levels(base, limit, step);
    if (v < base)
        return 0;
    uint64_t i = ((uint64_t)v - (uint64_t)base) / (uint64_t)step;
    return i >= levels ? levels + 1 : (unsigned)i + 1;
}

/* Returns factor^n, 0 when it does not fit 64 bits. */
static uint64_t power(uint64_t factor, int64_t n)
{
    uint64_t v = 1;
    for (; n > 0; n--)
        if (__builtin_mul_overflow(v, factor, &v))
            return 0;
    return v;
}

unsigned dif_llq_nbuckets(int64_t factor, int64_t low, int64_t high, int64_t steps)
{
    if (factor < 2 || factor > UINT16_MAX || low < 0 || high < low || high >= 64 || steps < 1 ||
        steps > UINT16_MAX || power((uint64_t)factor, high + 1) == 0)
        return 0;
    bool even = steps < factor ? factor % steps == 0
                : steps % factor != 0
                    ? false
                    : power((uint64_t)factor, low == 0 ? 2 : low + 1) % (uint64_t)steps == 0;
    uint64_t n = dif_llq_bins(factor, steps) * (uint64_t)(high - low + 1) * 2 + 3;
    return even && n <= WORD_HIST_MAX ? (unsigned)n : 0;
}

unsigned dif_llq_bucket(int64_t v, int64_t factor, int64_t low, int64_t high, int64_t steps)
{
    __extension__ typedef unsigned __int128 u128;
    uint64_t bins = dif_llq_bins(factor, steps);
    uint64_t side = bins * (uint64_t)(high - low + 1);
    uint64_t mid = side + 1;
    uint64_t mag = v < 0 ? -(uint64_t)v : (uint64_t)v;
    uint64_t start = power((uint64_t)factor, low), next;
    if (mag < start)
        return (unsigned)mid;
    uint64_t k = side; /* overflow, unless a magnitude contains it */
    for (int64_t m = low; m <= high; m++, start = next) {
        next = start * (uint64_t)factor;
        if (mag < next) {
            k = (uint64_t)(m - low) * bins +
                (uint64_t)((u128)(mag - start) * (uint64_t)steps / next);
            break;
        }
    }
    return (unsigned)(v < 0 ? mid - 1 - k : mid + 1 + k);
}
