/* test_consumer_hist.c - which rows histograms show, and their layout (reference 7.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "consumer/hist.h"

#define HEADER "\n           value  ------------- Distribution ------------- count    \n"
#define FULL   "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define BLANK  "                                        "
#define HALF   "                    "

static const struct dif_agg quantize = {.func = DIF_AGG_QUANTIZE};

/* A histogram of values, each counted so often. */
struct sample {
    int64_t value, count;
};

static unsigned bucket(const struct dif_agg *def, int64_t v)
{
    const int64_t *p = def->param;
    switch (def->func) {
    case DIF_AGG_LQUANTIZE: return dif_lquantize_bucket(v, p[0], p[1], p[2]);
    case DIF_AGG_LLQUANTIZE: return dif_llq_bucket(v, p[0], p[1], p[2], p[3]);
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
    hist_text(&h, normal, &b);
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

/* The reference's rows, and a third so that the shares are 1/4, 1/2, 1/4 of 20 columns. */
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

static const struct dif_agg tens = {.func = DIF_AGG_LQUANTIZE, .param = {0, 100, 10}};

static void lquantize_rows(void **state)
{
    (void)state;
    SHOWS(&tens, 1,
          HEADER "             < 0 |@@@@@@@@@@                               1        \n"
                 "               0 |@@@@@@@@@@                               1        \n"
                 "              10 |" BLANK " 0        \n",
          {-1, 1}, {9, 1}, {2000, 0}, {0, 0});
}
