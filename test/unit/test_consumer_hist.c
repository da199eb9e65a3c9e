/* test_consumer_hist.c - which rows histograms show, and their layout (language.md 7.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "result/hist.h"

#define HEADER  "\n           value  ------------- Distribution ------------- count    \n"
#define FULL    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define BLANK   "                                        "
#define HALF    "                    "
#define HALFBAR "@@@@@@@@@@@@@@@@@@@@"

static const struct dif_agg quantize = {.func = AGG_QUANTIZE};

/* A histogram of values, each counted so often. */
struct sample {
    int64_t value, count;
};

static unsigned bucket(const struct dif_agg *def, int64_t v)
{
    const int64_t *p = def->param;
    switch (def->func) {
    case AGG_LQUANTIZE: return dif_lquantize_bucket(v, p[0], p[1], p[2]);
    case AGG_LLQUANTIZE: return dif_llq_bucket(v, p[0], p[1], p[2], p[3]);
    default: return dif_quantize_bucket(v);
    }
}

static void shows(const struct dif_agg *def, const struct sample *s, size_t n, uint64_t normal,
                  const char *want)
{
    struct hist h;
    struct buf b = BUF_INIT;
    uint64_t *words = et_calloc(dif_agg_words(def), sizeof *words);
    for (size_t i = 0; i < n; i++)
        words[bucket(def, s[i].value)] += (uint64_t)s[i].count;
    assert_int_equal(hist_make(def, words, &h), 0);
    hist_text(&h, normal, false, &b);
    assert_string_equal(buf_str(&b), want);
    hist_free(&h);
    buf_free(&b);
    et_free(words);
}
#define SHOWS(def, normal, want, ...)                                                              \
    shows(def, (const struct sample[]){__VA_ARGS__},                                               \
          sizeof((const struct sample[]){__VA_ARGS__}) / sizeof(struct sample), normal, want)

static void quantize_one_value(void **state)
{
    (void)state;
    SHOWS(&quantize, 1,
          HEADER "              -1 |" BLANK " 0        \n"
                 "               0 |" FULL " 1        \n"
                 "               1 |" BLANK " 0        \n",
          {0, 1});
}

static void quantize_empty(void **state)
{
    (void)state;
    shows(&quantize, NULL, 0, 1,
          HEADER "              -1 |" BLANK " 0        \n"
                 "               0 |" BLANK " 0        \n"
                 "               1 |" BLANK " 0        \n");
}

/* 5 is in the bucket of 4, -5 in that of -4. Shares: 1/4 is 10 columns, 3/4 is 30. */
static void quantize_buckets_and_bars(void **state)
{
    (void)state;
    SHOWS(&quantize, 1,
          HEADER "              -8 |" BLANK " 0        \n"
                 "              -4 |@@@@@@@@@@                               1        \n"
                 "              -2 |" BLANK " 0        \n"
                 "              -1 |" BLANK " 0        \n"
                 "               0 |" BLANK " 0        \n"
                 "               1 |" BLANK " 0        \n"
                 "               2 |" BLANK " 0        \n"
                 "               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n"
                 "               8 |" BLANK " 0        \n",
          {-5, 1}, {5, 2}, {7, 1});
}

/* 1 of 80 is half a column, which is rounded up; 1 of 81 is less and has none. */
static void bars_are_rounded(void **state)
{
    (void)state;
    SHOWS(&quantize, 1,
          HEADER "               0 |" BLANK " 0        \n"
                 "               1 |@                                        1        \n"
                 "               2 |" FULL " 79       \n"
                 "               4 |" BLANK " 0        \n",
          {1, 1}, {2, 79});
    SHOWS(&quantize, 1,
          HEADER "               0 |" BLANK " 0        \n"
                 "               1 |" BLANK " 1        \n"
                 "               2 |" FULL " 80       \n"
                 "               4 |" BLANK " 0        \n",
          {1, 1}, {2, 80});
}

static void ends_of_the_scale(void **state)
{
    (void)state;
    SHOWS(&quantize, 1,
          HEADER "2305843009213693952 |" BLANK " 0        \n"
                 "4611686018427387904 |" FULL " 1        \n",
          {INT64_MAX, 1});
    SHOWS(&quantize, 1,
          HEADER "-4611686018427387904 |" FULL " 1        \n"
                 "-2305843009213693952 |" BLANK " 0        \n",
          {INT64_MIN, 1});
}

static void negative_counts(void **state)
{
    (void)state;
    SHOWS(&quantize, 1,
          HEADER "               0 " BLANK "| 0        \n"
                 "               1 " FULL "| -1       \n"
                 "               2 " BLANK "| 0        \n",
          {1, -1});
}

/* The rows of language.md 7.4, and a third so that the shares are 1/4, 1/2, 1/4 of 20 columns. */
static void mixed_counts(void **state)
{
    (void)state;
    SHOWS(&quantize, 1,
          HEADER "              -2 " HALF "|" HALF " 0        \n"
                 "              -1                @@@@@|                     -123     \n"
                 "               0                @@@@@|                     -123     \n"
                 "               1                     |@@@@@@@@@@           246      \n"
                 "               2 " HALF "|" HALF " 0        \n",
          {-1, -123}, {0, -123}, {1, 246});
}

static void normalized_counts(void **state)
{
    (void)state;
    SHOWS(&quantize, 10,
          HEADER "               0 |" BLANK " 0        \n"
                 "               1 |" FULL " 10       \n"
                 "               2 |" BLANK " 0        \n",
          {1, 100});
}

static const struct dif_agg tens = {.func = AGG_LQUANTIZE, .param = {0, 100, 10}};

static void lquantize_rows(void **state)
{
    (void)state;
    SHOWS(&tens, 1,
          HEADER "             < 0 |" HALFBAR HALF " 1        \n"
                 "               0 |" HALFBAR HALF " 1        \n"
                 "              10 |" BLANK " 0        \n",
          {-1, 1}, {9, 1});
    SHOWS(&tens, 1,
          HEADER "              80 |" BLANK " 0        \n"
                 "              90 |" HALFBAR HALF " 1        \n"
                 "          >= 100 |" HALFBAR HALF " 1        \n",
          {99, 1}, {100, 1});
    shows(&tens, NULL, 0, 1,
          HEADER "             < 0 |" BLANK " 0        \n"
                 "               0 |" BLANK " 0        \n"
                 "              10 |" BLANK " 0        \n");
}

/* (100 - 0) / 30 levels: 3. The last level ends at 90, whatever the limit says. */
static void lquantize_limit_not_reached(void **state)
{
    (void)state;
    static const struct dif_agg def = {.func = AGG_LQUANTIZE, .param = {0, 100, 30}};
    SHOWS(&def, 1,
          HEADER "              60 |" BLANK " 0        \n"
                 "           >= 90 |" FULL " 1        \n",
          {95, 1});
}

/* Powers of ten, 10 bins each: 1 2 .. 9 10 20 .. 90. */
static const struct dif_agg decades = {.func = AGG_LLQUANTIZE, .param = {10, 0, 1, 10}};

static void llquantize_rows(void **state)
{
    (void)state;
    SHOWS(&decades, 1,
          HEADER "               2 |" BLANK " 0        \n"
                 "               3 |" HALFBAR HALF " 1        \n"
                 "               4 |" HALFBAR HALF " 1        \n"
                 "               5 |" BLANK " 0        \n",
          {3, 1}, {4, 1});
    SHOWS(&decades, 1,
          HEADER "              80 |" BLANK " 0        \n"
                 "              90 |" HALFBAR HALF " 1        \n"
                 "          >= 100 |" HALFBAR HALF " 1        \n",
          {99, 1}, {1000, 1});
    SHOWS(&decades, 1,
          HEADER "         <= -100 |" HALFBAR HALF " 1        \n"
                 "             -90 |" HALFBAR HALF " 1        \n"
                 "             -80 |" BLANK " 0        \n",
          {-95, 1}, {-100, 1});
    shows(&decades, NULL, 0, 1,
          HEADER "               0 |" BLANK " 0        \n"
                 "               1 |" BLANK " 0        \n"
                 "               2 |" BLANK " 0        \n");
}

/* low = 1: the middle bin is what is below 10, on both sides if a negative bin is shown, be it as
 * the empty neighbour of the first. */
static void llquantize_middle(void **state)
{
    (void)state;
    static const struct dif_agg def = {.func = AGG_LLQUANTIZE, .param = {10, 1, 2, 10}};
    SHOWS(&def, 1,
          HEADER "            < 10 |" BLANK " 0        \n"
                 "              10 |" FULL " 1        \n"
                 "              20 |" BLANK " 0        \n",
          {10, 1});
    SHOWS(&def, 1,
          HEADER "             -10 |" BLANK " 0        \n"
                 "      abs() < 10 |" FULL " 1        \n"
                 "              10 |" BLANK " 0        \n",
          {3, 1});
    SHOWS(&def, 1,
          HEADER "             -20 |" BLANK " 0        \n"
                 "             -10 |" HALFBAR HALF " 1        \n"
                 "      abs() < 10 |" HALFBAR HALF " 1        \n"
                 "              10 |" BLANK " 0        \n",
          {-3, 1}, {-10, 1});
}

/* 20 steps a magnitude of 10: below 10 every second bin holds no integer and is not there. */
static void llquantize_bins_without_integers(void **state)
{
    (void)state;
    static const struct dif_agg def = {.func = AGG_LLQUANTIZE, .param = {10, 0, 1, 20}};
    SHOWS(&def, 1,
          HEADER "               2 |" BLANK " 0        \n"
                 "               3 |" FULL " 1        \n"
                 "               4 |" BLANK " 0        \n",
          {3, 1});
    SHOWS(&def, 1,
          HEADER "               9 |" BLANK " 0        \n"
                 "              10 |" HALFBAR HALF " 1        \n"
                 "              15 |" HALFBAR HALF " 1        \n"
                 "              20 |" BLANK " 0        \n",
          {14, 1}, {15, 1});
}

static void bounds_of_buckets(void **state)
{
    (void)state;
    struct hist h;
    uint64_t words[DIF_QUANTIZE_BUCKETS] = {0};
    words[dif_quantize_bucket(5)] = 1;
    words[dif_quantize_bucket(-5)] = 1;
    assert_int_equal(hist_make(&quantize, words, &h), 0);
    /* rows: -8, -4, -2, -1, 0, 1, 2, 4, 8 */
    assert_int_equal(h.n, 9);
    assert_int_equal(h.row[1].from, -7);
    assert_int_equal(h.row[1].to, -4);
    assert_int_equal(h.row[4].from, 0);
    assert_int_equal(h.row[4].to, 0);
    assert_int_equal(h.row[7].from, 4);
    assert_int_equal(h.row[7].to, 7);
    hist_free(&h);

    uint64_t few[12] = {1};
    assert_int_equal(hist_make(&tens, few, &h), 0);
    assert_true(h.row[0].open_from);
    assert_int_equal(h.row[0].to, -1);
    assert_int_equal(h.row[1].from, 0);
    assert_int_equal(h.row[1].to, 9);
    hist_free(&h);

    uint64_t ll[64] = {0};
    assert_true(dif_agg_words(&decades) <= 64);
    ll[dif_llq_bucket(35, 10, 0, 1, 10)] = 1;
    ll[dif_llq_bucket(-7, 10, 0, 1, 10)] = 1;
    assert_int_equal(hist_make(&decades, ll, &h), 0);
    for (size_t i = 0; i < h.n; i++) {
        if (h.row[i].count == 0)
            continue;
        assert_int_equal(h.row[i].from, h.row[i].to < 0 ? -7 : 30);
        assert_int_equal(h.row[i].to, h.row[i].from < 0 ? -7 : 39);
    }
    hist_free(&h);
}

/* Powers beyond 2^63: the bins end at the last values there are. */
static void bounds_beyond_all_values(void **state)
{
    (void)state;
    static const struct {
        int64_t param[4], v, from, to;
    } row[] = {
        {{2, 61, 62, 2}, INT64_MAX, INT64_C(1) << 62, INT64_MAX},
        {{2, 61, 62, 2}, INT64_MIN + 1, INT64_MIN + 1, -(INT64_C(1) << 62)},
        /* 2 * 3^39 to 3^40, which is more than 2^63 */
        {{3, 39, 39, 3}, INT64_MAX, INT64_C(8105110306037952534), INT64_MAX},
        {{3, 39, 39, 3}, INT64_MIN, INT64_MIN, -INT64_C(8105110306037952534)},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct dif_agg def = {.func = AGG_LLQUANTIZE};
        uint64_t words[16] = {0};
        struct hist h;
        const int64_t *p = row[i].param;
        memcpy(def.param, p, sizeof def.param);
        assert_in_range(dif_agg_words(&def), 1, 16);
        words[dif_llq_bucket(row[i].v, p[0], p[1], p[2], p[3])] = 1;
        assert_int_equal(hist_make(&def, words, &h), 0);
        for (size_t k = 0; k < h.n; k++) {
            if (h.row[k].count == 0)
                continue;
            assert_true(h.row[k].from == row[i].from);
            assert_true(h.row[k].to == row[i].to);
        }
        hist_free(&h);
    }
}

static void order_of_histograms(void **state)
{
    (void)state;
    uint64_t words[DIF_QUANTIZE_BUCKETS] = {0};
    int64_t zero;
    words[dif_quantize_bucket(9)] = 3;  /* 8 * 3 */
    words[dif_quantize_bucket(-2)] = 2; /* -2 * 2 */
    words[dif_quantize_bucket(0)] = 7;
    assert_true(hist_weight(&quantize, words, &zero) == 20);
    assert_int_equal(zero, 7);
    uint64_t few[12] = {[0] = 2, [11] = 3}; /* -1 * 2 + 101 * 3 */
    assert_true(hist_weight(&tens, few, &zero) == 301);
}

static void memory_runs_out(void **state)
{
    (void)state;
    struct hist h;
    uint64_t words[DIF_QUANTIZE_BUCKETS] = {0};
    et_alloc_fail_after(1);
    assert_int_not_equal(hist_make(&quantize, words, &h), 0);
    et_alloc_fail_after(0);
    assert_int_equal(h.n, 0);
    hist_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantize_one_value),
        cmocka_unit_test(quantize_empty),
        cmocka_unit_test(quantize_buckets_and_bars),
        cmocka_unit_test(bars_are_rounded),
        cmocka_unit_test(ends_of_the_scale),
        cmocka_unit_test(negative_counts),
        cmocka_unit_test(mixed_counts),
        cmocka_unit_test(normalized_counts),
        cmocka_unit_test(lquantize_rows),
        cmocka_unit_test(lquantize_limit_not_reached),
        cmocka_unit_test(llquantize_rows),
        cmocka_unit_test(llquantize_middle),
        cmocka_unit_test(llquantize_bins_without_integers),
        cmocka_unit_test(bounds_beyond_all_values),
        cmocka_unit_test(bounds_of_buckets),
        cmocka_unit_test(order_of_histograms),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
