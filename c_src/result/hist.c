/* hist.c - rows and layout of histograms.
 *
 * Each of the three functions is described by a `struct kind`: how many buckets, the label of one,
 * and where the three rows of an all-zero histogram begin. A bucket may be hidden (llquantize with
 * low = 0 and more steps than the factor has bins that no integer falls into); hidden buckets are
 * not neighbours of anything. */
#include "result/hist.h"
#include "util/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "result/label.h"
#include "util/buftext.h"

enum { BAR = 40, HALF = 20 };

struct kind {
    unsigned (*zero_row)(const struct dif_agg *); /* first of the rows of an empty histogram */
    bool (*hidden)(const struct dif_agg *, unsigned bucket); /* NULL: none */
    void (*describe)(const struct dif_agg *, unsigned bucket, struct hist_row *);
    /* what the bucket counts as in a sum */
    int64_t (*weight)(const struct dif_agg *, unsigned bucket);
    /* whether its count is the count at zero */
    bool (*zero)(const struct dif_agg *, unsigned bucket);
};

static void label_number(struct hist_row *r, int64_t v)
{
    snprintf(r->label, sizeof r->label, "%" PRId64, v);
}

/* Labels a bound of llquantize, which may be a power beyond 2^63: "-" and its size, whatever its
 * sign bit is. */
static void label_bound(struct hist_row *r, const char *how, int64_t v, bool negative)
{
    uint64_t size = negative ? 0 - (uint64_t)v : (uint64_t)v;
    snprintf(r->label, sizeof r->label, "%s%s%" PRIu64, how, negative ? "-" : "", size);
}

/* -- quantize ---------------------------------------------------------------------------------- */

static unsigned q_zero_row(const struct dif_agg *def)
{
    (void)def;
    return DIF_QUANTIZE_ZERO - 1;
}

static void q_describe(const struct dif_agg *def, unsigned b, struct hist_row *r)
{
    (void)def;
    int64_t v = label_quantize(b);
    label_number(r, v);
    r->from = v;
    r->to = v;
    if (b > DIF_QUANTIZE_ZERO)
        r->to = b == DIF_QUANTIZE_BUCKETS - 1 ? INT64_MAX : v * 2 - 1;
    else if (b < DIF_QUANTIZE_ZERO)
        r->from = b == 0 ? INT64_MIN : v * 2 + 1;
}

static int64_t q_weight(const struct dif_agg *def, unsigned b)
{
    (void)def;
    return label_quantize(b);
}

static bool q_zero(const struct dif_agg *def, unsigned b)
{
    (void)def;
    return b == DIF_QUANTIZE_ZERO;
}

/* -- lquantize: params base, limit, step ------------------------------------------------------- */

static unsigned l_levels(const struct dif_agg *def)
{
    return dif_lquantize_levels(def->param[0], def->param[1], def->param[2]);
}

static unsigned l_zero_row(const struct dif_agg *def)
{
    (void)def;
    return 0;
}

static void l_describe(const struct dif_agg *def, unsigned b, struct hist_row *r)
{
    int64_t base = def->param[0], step = def->param[2];
    if (b == 0) {
        snprintf(r->label, sizeof r->label, "< %" PRId64, base);
        r->open_from = true;
        r->to = base - 1;
        return;
    }
    r->from = base + (int64_t)(b - 1) * step;
    r->to = r->from + step - 1;
    if (b == l_levels(def) + 1) {
        snprintf(r->label, sizeof r->label, ">= %" PRId64, r->from);
        r->open_to = true;
    } else {
        label_number(r, r->from);
    }
}

static int64_t l_weight(const struct dif_agg *def, unsigned b)
{
    int64_t base = def->param[0], step = def->param[2];
    if (b == 0)
        return base - 1;
    int64_t from = base + (int64_t)(b - 1) * step;
    return b == l_levels(def) + 1 ? from + 1 : from;
}

static bool l_zero(const struct dif_agg *def, unsigned b)
{
    return b > 0 && def->param[0] + (int64_t)(b - 1) * def->param[2] == 0;
}

/* -- llquantize: params factor, low, high, steps ----------------------------------------------- */

#define LLQ(def) (def)->param[0], (def)->param[1], (def)->param[2], (def)->param[3]

static unsigned ll_middle(const struct dif_agg *def)
{
    return dif_llq_nbuckets(LLQ(def)) / 2;
}

/* Returns factor^low, the bound of the bin about zero. */
static int64_t ll_low(const struct dif_agg *def)
{
    int64_t v = 1;
    for (int64_t i = 0; i < def->param[1]; i++)
        v = (int64_t)((uint64_t)v * (uint64_t)def->param[0]);
    return v;
}

/* Magnitude 0 has bins narrower than 1 when there are more steps than the factor: only every
 * steps/factor-th of them begins at an integer. */
static bool ll_hidden(const struct dif_agg *def, unsigned b)
{
    int64_t factor = def->param[0], low = def->param[1], steps = def->param[3];
    unsigned mid = ll_middle(def);
    if (low != 0 || steps <= factor || b == mid)
        return false;
    int64_t k = (b > mid ? b - mid : mid - b) - 1; /* 0: the bin next to zero */
    int64_t per_magnitude = steps - steps / factor;
    return k < per_magnitude && k % (steps / factor) != 0;
}

/* Returns the next shown bin further from zero than b: b ends just before it. */
static unsigned ll_outer(const struct dif_agg *def, unsigned b, int direction)
{
    do
        b = (unsigned)((int)b + direction);
    while (ll_hidden(def, b));
    return b;
}

/* Returns a bound away from zero as a value; a bound that no value reaches becomes the most extreme
 * value. */
static int64_t ll_value(uint64_t magnitude, int sign)
{
    if (magnitude > INT64_MAX)
        return sign > 0 ? INT64_MAX : INT64_MIN;
    return sign * (int64_t)magnitude;
}

/* Returns the value just before bin b, seen from zero. */
static int64_t ll_before(const struct dif_agg *def, unsigned b, int sign)
{
    uint64_t v = (uint64_t)label_llquantize(b, LLQ(def));
    return ll_value((sign > 0 ? v : 0 - v) - 1, sign);
}

static void ll_describe(const struct dif_agg *def, unsigned b, struct hist_row *r)
{
    unsigned mid = ll_middle(def), last = mid * 2;
    int64_t v = label_llquantize(b, LLQ(def));
    if (b == mid) {
        int64_t low = ll_low(def);
        /* hist_make writes "abs() < N" when it also shows a negative bin. */
        if (def->param[1] == 0)
            label_number(r, 0);
        else
            snprintf(r->label, sizeof r->label, "< %" PRId64, low);
        r->from = -(low - 1);
        r->to = low - 1;
    } else if (b == 0) {
        label_bound(r, "<= ", v, true);
        r->open_from = true;
        r->to = ll_value(0 - (uint64_t)v, -1);
    } else if (b == last) {
        label_bound(r, ">= ", v, false);
        r->from = ll_value((uint64_t)v, 1);
        r->open_to = true;
    } else if (b > mid) {
        label_bound(r, "", v, false);
        r->from = ll_value((uint64_t)v, 1);
        r->to = ll_before(def, ll_outer(def, b, 1), 1);
    } else {
        label_bound(r, "", v, true);
        r->to = ll_value(0 - (uint64_t)v, -1);
        r->from = ll_before(def, ll_outer(def, b, -1), -1);
    }
}

static int64_t ll_weight(const struct dif_agg *def, unsigned b)
{
    return label_llquantize(b, LLQ(def));
}

static bool ll_zero(const struct dif_agg *def, unsigned b)
{
    return b == ll_middle(def);
}

/* -- the three functions ----------------------------------------------------------------------- */

static const struct kind *kind_of(uint8_t func)
{
    static const struct kind quantize = {q_zero_row, NULL, q_describe, q_weight, q_zero};
    static const struct kind lquantize = {l_zero_row, NULL, l_describe, l_weight, l_zero};
    static const struct kind llquantize = {ll_middle, ll_hidden, ll_describe, ll_weight, ll_zero};
    switch (func) {
    case AGG_QUANTIZE: return &quantize;
    case AGG_LQUANTIZE: return &lquantize;
    case AGG_LLQUANTIZE: return &llquantize;
    default: return NULL;
    }
}

bool hist_bucket(const struct dif_agg *def, unsigned b, struct hist_row *out)
{
    const struct kind *k = kind_of(def->func);
    *out = (struct hist_row){.bucket = b};
    if (k->hidden != NULL && k->hidden(def, b))
        return false;
    k->describe(def, b, out);
    return true;
}

/* The rows to show, as positions among those that can be shown. */
struct window {
    size_t first, n;
};

/* Returns whether a bucket can be shown. One that no value falls into is shown only when it holds
 * something nevertheless. */
static bool can_be_shown(const struct kind *k, const struct dif_agg *def, unsigned b, uint64_t word)
{
    return word != 0 || k->hidden == NULL || !k->hidden(def, b);
}

static struct window window_of(const struct dif_agg *def, const uint64_t *words)
{
    const struct kind *k = kind_of(def->func);
    unsigned nwords = dif_agg_words(def), zero = k->zero_row(def);
    size_t shown = 0, first = 0, last = 0, start = 0;
    bool any = false;
    for (unsigned b = 0; b < nwords; b++) {
        if (!can_be_shown(k, def, b, words[b]))
            continue;
        if (b <= zero)
            start = shown;
        if (words[b] != 0) {
            first = any ? first : shown;
            last = shown;
            any = true;
        }
        shown++;
    }
    if (shown == 0)
        return (struct window){0, 0};
    if (any) {
        first -= first > 0;
        last += last + 1 < shown;
    } else {
        first = start;
        last = start + 2 < shown ? start + 2 : shown - 1;
    }
    return (struct window){first, last - first + 1};
}

size_t hist_nrows(const struct dif_agg *def, const uint64_t *words)
{
    return window_of(def, words).n;
}

int hist_make(const struct dif_agg *def, const uint64_t *words, struct hist *out)
{
    const struct kind *k = kind_of(def->func);
    struct window w = window_of(def, words);
    size_t shown = 0;
    *out = (struct hist){0};
    if (w.n == 0)
        return 0;
    out->row = et_calloc(w.n, sizeof *out->row);
    if (out->row == NULL)
        return ET_ENOMEM;
    for (unsigned b = 0; out->n < w.n; b++) {
        if (!can_be_shown(k, def, b, words[b]) || shown++ < w.first)
            continue;
        struct hist_row *r = &out->row[out->n];
        r->count = (int64_t)words[b];
        r->bucket = b;
        k->describe(def, b, r);
        if (def->func == AGG_LLQUANTIZE && def->param[1] > 0 && b == ll_middle(def) && out->n > 0)
            snprintf(r->label, sizeof r->label, "abs() < %" PRId64, ll_low(def));
        out->n++;
    }
    return 0;
}

void hist_free(struct hist *h)
{
    et_free(h->row);
    *h = (struct hist){0};
}

typedef hist_total_t u128;

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

void hist_scale_add(struct hist_scale *s, int64_t count)
{
    u128 n = magnitude(count);
    s->total += n;
    s->largest = n > s->largest ? n : s->largest;
    s->positive |= count > 0;
    s->negative |= count < 0;
}

/* Returns floor(width * part of the scale + 1/2), exactly. */
static size_t bar_length(const struct hist_scale *s, int64_t count, unsigned width)
{
    enum { ZOOMED = 95 }; /* percent of the width */
    u128 whole = s->zoom ? s->largest * 100 : s->total;
    u128 part = (u128)magnitude(count) * width * (s->zoom ? ZOOMED : 1);
    return whole == 0 ? 0 : (size_t)((2 * part + whole) / (2 * whole));
}

void hist_bar(const struct hist_scale *s, int64_t count, struct buf *out)
{
    size_t n = bar_length(s, count, s->positive && s->negative ? HALF : BAR);
    if (!s->negative) {
        buf_addc(out, '|');
        buf_fill(out, '@', n);
        buf_fill(out, ' ', BAR - n);
    } else if (!s->positive) {
        buf_fill(out, ' ', BAR - n);
        buf_fill(out, '@', n);
        buf_addc(out, '|');
    } else if (count <= 0) {
        buf_fill(out, ' ', HALF - n);
        buf_fill(out, '@', n);
        buf_addc(out, '|');
        buf_fill(out, ' ', HALF);
    } else {
        buf_fill(out, ' ', HALF);
        buf_addc(out, '|');
        buf_fill(out, '@', n);
        buf_fill(out, ' ', HALF - n);
    }
}

void hist_text(const struct hist *h, uint64_t normal, bool zoom, struct buf *out)
{
    struct hist_scale scale = {.zoom = zoom};
    for (size_t i = 0; i < h->n; i++)
        hist_scale_add(&scale, h->row[i].count);
    buf_printf(out, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------",
               "count");
    for (size_t i = 0; i < h->n; i++) {
        const struct hist_row *r = &h->row[i];
        buf_printf(out, "%16s ", r->label);
        hist_bar(&scale, r->count, out);
        buf_printf(out, " %-9" PRId64 "\n", word_agg_normalized(r->count, normal));
    }
}

hist_weight_t hist_weight(const struct dif_agg *def, const uint64_t *words, int64_t *at_zero)
{
    const struct kind *k = kind_of(def->func);
    unsigned n = dif_agg_words(def);
    u128 sum = 0; /* unsigned: increments are arbitrary, and a sum may wrap */
    *at_zero = 0;
    for (unsigned b = 0; b < n; b++) {
        if (words[b] == 0)
            continue;
        sum += (u128)(hist_weight_t)k->weight(def, b) * (u128)(hist_weight_t)(int64_t)words[b];
        if (k->zero(def, b))
            *at_zero = (int64_t)words[b];
    }
    return (hist_weight_t)sum;
}
