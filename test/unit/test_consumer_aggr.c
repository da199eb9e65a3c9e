/* test_consumer_aggr.c - merging, operations and order of aggregations
 * (language.md 7.1, 7.5, 7.6, 7.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "result/aggr.h"
#include "util/buftext.h"

#define TEXT_KEY                                                                                   \
    {                                                                                              \
        DIF_STRING, 256                                                                            \
    }
#define I_KEY                                                                                      \
    {                                                                                              \
        DIF_INT, 4                                                                                 \
    }

/* One image with an aggregation of each function that is not a histogram, keyed by a string; and
 * three keyed by two integers. */
enum { COUNT, SUM, AVG, LEAST, GREATEST, STDDEV, PAIR, PAIR2, BARE };
static struct dif_agg aggs[] = {
    [COUNT] = {0, AGG_COUNT, {1, {TEXT_KEY}}, {0}},
    [SUM] = {0, AGG_SUM, {1, {TEXT_KEY}}, {0}},
    [AVG] = {0, AGG_AVG, {1, {TEXT_KEY}}, {0}},
    [LEAST] = {0, AGG_MIN, {1, {TEXT_KEY}}, {0}},
    [GREATEST] = {0, AGG_MAX, {1, {TEXT_KEY}}, {0}},
    [STDDEV] = {0, AGG_STDDEV, {1, {TEXT_KEY}}, {0}},
    [PAIR] = {0, AGG_SUM, {2, {I_KEY, I_KEY}}, {0}},
    [PAIR2] = {0, AGG_SUM, {2, {I_KEY, I_KEY}}, {0}},
    [BARE] = {0, AGG_COUNT, {0, {{0, 0}}}, {0}},
};

struct fixture {
    struct dif_image img;
    struct aggr_table t;
};

static int setup(void **state)
{
    static struct fixture f;
    dif_image_init(&f.img);
    f.img.aggs = aggs;
    f.img.naggs = sizeof aggs / sizeof *aggs;
    f.img.strsize = 256;
    *state = &f;
    return aggr_table_init(&f.t, &f.img);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    aggr_table_free(&f->t);
    return 0;
}

static void add(struct fixture *f, uint32_t agg, const char *key, int64_t a, int64_t b)
{
    uint8_t raw[64] = {(uint8_t)strlen(key)};
    uint64_t words[4] = {(uint64_t)a, (uint64_t)b, 0, 0};
    memcpy(raw + 4, key, strlen(key));
    assert_int_equal(aggr_merge(&f->t, agg, raw, 4 + strlen(key), words, dif_agg_words(&aggs[agg])),
                     0);
}

static void add_pair(struct fixture *f, uint32_t agg, int32_t x, int32_t y, int64_t v)
{
    uint8_t raw[8];
    uint64_t word = (uint64_t)v;
    memcpy(raw, &x, 4);
    memcpy(raw + 4, &y, 4);
    assert_int_equal(aggr_merge(&f->t, agg, raw, sizeof raw, &word, 1), 0);
}

/* The keys in the order of the rows, and the first aggregation's values: "a=1 b=2". */
static void rows_are(struct fixture *f, const uint32_t *agg, size_t n, struct aggr_order order,
                     const char *want)
{
    struct aggr_view v;
    struct buf b = BUF_INIT;
    assert_int_equal(aggr_view_make(&v, &f->t, agg, n, &order), 0);
    for (size_t i = 0; i < v.nrows; i++) {
        const struct value *k = v.row[i].key->key;
        if (i > 0)
            buf_addc(&b, ' ');
        if (k->kind == DIF_STRING)
            buf_printf(&b, "%.*s", (int)k->len, k->s);
        else
            buf_printf(&b, "%lld,%lld", (long long)k[0].i, (long long)k[1].i);
        for (size_t a = 0; a < n; a++)
            buf_printf(&b, "=%lld", (long long)aggr_number(v.aggr[a], v.row[i].words[a]));
    }
    assert_string_equal(buf_str(&b), want);
    buf_free(&b);
    aggr_view_free(&v);
}

static void one(struct fixture *f, uint32_t agg, const char *want)
{
    rows_are(f, &agg, 1, (struct aggr_order){0}, want);
}

/* What each CPU has added; clear() and trunc() take it along. */
static void of_each_cpu(void **state)
{
    struct fixture *f = *state;
    static const uint8_t key[] = {1, 0, 0, 0, 'a'};
    const uint64_t two = 2, three = 3;
    add(f, 0, "a", 5, 0);
    const struct aggr *a = &f->t.aggr[0];
    assert_int_equal(aggr_merge_cpu(&f->t, 0, 3, key, sizeof key, &three, 1), 0);
    assert_int_equal(aggr_merge_cpu(&f->t, 0, 1, key, sizeof key, &two, 1), 0);
    assert_int_equal(aggr_merge_cpu(&f->t, 0, 3, key, sizeof key, &two, 1), 0);
    assert_int_equal(f->t.ncpus, 4);
    static const uint64_t want[] = {0, 2, 0, 5, 0};
    for (uint32_t cpu = 0; cpu < 5; cpu++)
        assert_int_equal(*aggr_cpu_words(a, a->entry[0], cpu), want[cpu]);
    assert_int_equal(aggr_merge_cpu(&f->t, 0, 4096, key, sizeof key, &two, 1), ET_EIMAGE);
    aggr_clear(&f->t.aggr[0]);
    assert_int_equal(*aggr_cpu_words(a, a->entry[0], 3), 0);
    assert_int_equal(aggr_merge_cpu(&f->t, 0, 2, key, sizeof key, &two, 1), 0);
    assert_int_equal(*aggr_cpu_words(a, a->entry[0], 1), 0);
    assert_int_equal(*aggr_cpu_words(a, a->entry[0], 2), 2);
    aggr_empty(&f->t.aggr[0]);
    assert_int_equal(aggr_merge_cpu(&f->t, 0, 2, key, sizeof key, &two, 1), 0); /* of nothing */
    assert_int_equal(a->n, 0);
}

static void merging(void **state)
{
    struct fixture *f = *state;
    add(f, COUNT, "k", 2, 0);
    add(f, COUNT, "k", 3, 0);
    one(f, COUNT, "k=5");
    add(f, SUM, "k", 2, 0);
    add(f, SUM, "k", -5, 0);
    one(f, SUM, "k=-3");
    add(f, LEAST, "k", 7, 0);
    add(f, LEAST, "k", -2, 0);
    add(f, LEAST, "k", 3, 0);
    one(f, LEAST, "k=-2");
    add(f, GREATEST, "k", -7, 0);
    add(f, GREATEST, "k", -9, 0);
    one(f, GREATEST, "k=-7");
    add(f, AVG, "k", 2, -7); /* 2 values, sum -7 */
    add(f, AVG, "k", 1, 0);
    one(f, AVG, "k=-2"); /* -7 / 3, toward zero */
}

static void deviation(void **state)
{
    struct fixture *f = *state;
    uint8_t key[5] = {1, 0, 0, 0, 'k'};
    /* 2 4 4 4 5 5 7 9: mean 5, mean of squares 29: sqrt(4). Merged from two halves. */
    uint64_t first[4] = {4, 14, 52, 0}, second[4] = {4, 26, 180, 0};
    assert_int_equal(aggr_merge(&f->t, STDDEV, key, 5, first, 4), 0);
    assert_int_equal(aggr_merge(&f->t, STDDEV, key, 5, second, 4), 0);
    one(f, STDDEV, "k=2");
    aggr_empty(&f->t.aggr[STDDEV]);
    /* -2^62 and 2^62: the squares need 128 bits (2^124 each); mean 0. */
    uint64_t big[4] = {2, 0, 0, 1ull << 61};
    assert_int_equal(aggr_merge(&f->t, STDDEV, key, 5, big, 4), 0);
    one(f, STDDEV, "k=4611686018427387904");
    /* carry from the low word */
    aggr_empty(&f->t.aggr[STDDEV]);
    uint64_t low[4] = {1, 0, UINT64_MAX, 0}, more[4] = {0, 0, 1, 0};
    assert_int_equal(aggr_merge(&f->t, STDDEV, key, 5, low, 4), 0);
    assert_int_equal(aggr_merge(&f->t, STDDEV, key, 5, more, 4), 0);
    one(f, STDDEV, "k=4294967296"); /* sqrt(2^64) */
}

static void normalizing(void **state)
{
    struct fixture *f = *state;
    add(f, SUM, "k", 1000, 0);
    add(f, AVG, "k", 3, 1000);
    f->t.aggr[SUM].normal = 7;
    f->t.aggr[AVG].normal = 7;
    one(f, SUM, "k=142");
    one(f, AVG, "k=47"); /* 1000 / 7 = 142, / 3 */
    aggr_empty(&f->t.aggr[SUM]);
    add(f, SUM, "k", -10, 0);
    f->t.aggr[SUM].normal = 2; /* signed */
    one(f, SUM, "k=-5");
    add(f, AVG, "n", 2, -28);
    one(f, AVG, "n=-2 k=47");
}

static void clearing_and_truncating(void **state)
{
    struct fixture *f = *state;
    for (char c[2] = "a"; c[0] <= 'f'; c[0]++) {
        add(f, COUNT, c, c[0] - 'a' + 1, 0);
        add(f, LEAST, c, 5, 0);
    }
    assert_int_equal(aggr_trunc(&f->t.aggr[COUNT], 10), 0);
    one(f, COUNT, "a=1 b=2 c=3 d=4 e=5 f=6");
    assert_int_equal(aggr_trunc(&f->t.aggr[COUNT], 4), 0);
    one(f, COUNT, "c=3 d=4 e=5 f=6");
    assert_int_equal(aggr_trunc(&f->t.aggr[COUNT], -2), 0);
    one(f, COUNT, "c=3 d=4");
    /* the index knows what is left and what is gone */
    add(f, COUNT, "d", 10, 0);
    add(f, COUNT, "a", 1, 0);
    one(f, COUNT, "a=1 c=3 d=14");
    /* equal values: by key, the largest kept */
    assert_int_equal(aggr_trunc(&f->t.aggr[LEAST], 2), 0);
    one(f, LEAST, "e=5 f=5");
    aggr_clear(&f->t.aggr[COUNT]);
    one(f, COUNT, "a=0 c=0 d=0");
    aggr_clear(&f->t.aggr[LEAST]);
    one(f, LEAST, "e=9223372036854775807 f=9223372036854775807");
    add(f, GREATEST, "m", 1, 0);
    aggr_clear(&f->t.aggr[GREATEST]);
    one(f, GREATEST, "m=-9223372036854775808");
    const struct aggr *greatest = &f->t.aggr[GREATEST];
    const uint8_t m[] = {1, 0, 0, 0, 'm'};
    aggr_mark_lower(&f->t, GREATEST, m, sizeof m);
    assert_true(aggr_lower(greatest, greatest->entry[0]->words));
    add(f, GREATEST, "m", 7, 0); /* it stays so */
    assert_true(aggr_lower(greatest, greatest->entry[0]->words));
    one(f, GREATEST, "m=7");
    aggr_clear(&f->t.aggr[GREATEST]);
    assert_false(aggr_lower(greatest, greatest->entry[0]->words));
    assert_int_equal(aggr_trunc(&f->t.aggr[COUNT], INT64_MIN), 0);
    one(f, COUNT, "a=0 c=0 d=0");
    assert_int_equal(aggr_trunc(&f->t.aggr[COUNT], 0), 0);
    one(f, COUNT, "");
    add(f, COUNT, "z", 1, 0);
    one(f, COUNT, "z=1");
}

static void value_order(void **state)
{
    struct fixture *f = *state;
    add(f, SUM, "b", 3, 0);
    add(f, SUM, "a", 3, 0);
    add(f, SUM, "z", -1, 0);
    add(f, SUM, "y", 10, 0);
    one(f, SUM, "z=-1 a=3 b=3 y=10");
    uint32_t agg = SUM;
    rows_are(f, &agg, 1, (struct aggr_order){.reverse = true}, "y=10 b=3 a=3 z=-1");
    rows_are(f, &agg, 1, (struct aggr_order){.by_key = true}, "a=3 b=3 y=10 z=-1");
    rows_are(f, &agg, 1, (struct aggr_order){.by_key = true, .reverse = true}, "z=-1 y=10 b=3 a=3");
}

/* Averages sort by average, not by sum: 10/5 before 6/2. */
static void order_of_averages(void **state)
{
    struct fixture *f = *state;
    add(f, AVG, "few", 2, 6);
    add(f, AVG, "many", 5, 10);
    one(f, AVG, "many=2 few=3");
}

static void key_order(void **state)
{
    struct fixture *f = *state;
    uint32_t agg = PAIR;
    add_pair(f, PAIR, -1, 1, 5); /* as a key, 4294967295 */
    add_pair(f, PAIR, 2, 9, 5);
    add_pair(f, PAIR, 2, 3, 5);
    add_pair(f, PAIR, 10, 2, 1);
    rows_are(f, &agg, 1, (struct aggr_order){.by_key = true}, "2,3=5 2,9=5 10,2=1 -1,1=5");
    rows_are(f, &agg, 1, (struct aggr_order){.by_key = true, .key_pos = 1},
             "-1,1=5 10,2=1 2,3=5 2,9=5");
    rows_are(f, &agg, 1, (struct aggr_order){.by_key = true, .key_pos = 2},
             "2,3=5 2,9=5 10,2=1 -1,1=5"); /* out of range acts as 0 */
    rows_are(f, &agg, 1, (struct aggr_order){.key_pos = 1}, "10,2=1 -1,1=5 2,3=5 2,9=5");
    /* strings bytewise, a prefix first */
    add(f, COUNT, "ab", 1, 0);
    add(f, COUNT, "B", 1, 0);
    add(f, COUNT, "a", 1, 0);
    one(f, COUNT, "B=1 a=1 ab=1");
}

static void joining(void **state)
{
    struct fixture *f = *state;
    const uint32_t both[] = {PAIR, PAIR2}, twice[] = {PAIR, PAIR};
    add_pair(f, PAIR, 1, 1, 7);
    add_pair(f, PAIR, 1, 2, 3);
    add_pair(f, PAIR2, 1, 2, 50);
    add_pair(f, PAIR2, 9, 9, 2);
    rows_are(f, both, 2, (struct aggr_order){0}, "9,9=0=2 1,2=3=50 1,1=7=0");
    rows_are(f, both, 2, (struct aggr_order){.pos = 1}, "1,1=7=0 9,9=0=2 1,2=3=50");
    rows_are(f, both, 2, (struct aggr_order){.pos = 2}, "9,9=0=2 1,2=3=50 1,1=7=0");
    rows_are(f, twice, 2, (struct aggr_order){0}, "1,2=3=3 1,1=7=7");
    /* ties of the first are broken by the second */
    add_pair(f, PAIR, 9, 9, 3);
    rows_are(f, both, 2, (struct aggr_order){0}, "9,9=3=2 1,2=3=50 1,1=7=0");
    /* the same rows of both */
    rows_are(f, both, 2, (struct aggr_order){.rows = 2}, "1,2=3=50 1,1=7=0");
    rows_are(f, both, 2, (struct aggr_order){.rows = 2, .reverse = true}, "1,1=7=0 1,2=3=50");
    rows_are(f, both, 2, (struct aggr_order){.rows = 1, .pos = 1}, "1,2=3=50");
    rows_are(f, both, 2, (struct aggr_order){.rows = 3}, "9,9=3=2 1,2=3=50 1,1=7=0");
}

static void without_keys(void **state)
{
    struct fixture *f = *state;
    uint64_t word = 2;
    assert_int_equal(aggr_merge(&f->t, BARE, NULL, 0, &word, 1), 0);
    assert_int_equal(aggr_merge(&f->t, BARE, NULL, 0, &word, 1), 0);
    assert_int_equal(f->t.aggr[BARE].n, 1);
    assert_int_equal(f->t.aggr[BARE].entry[0]->words[0], 4);
}

/* What comes from a node is not believed. */
static void malformed_updates(void **state)
{
    struct fixture *f = *state;
    uint64_t words[4] = {1, 0, 0, 0};
    uint8_t key[8] = {200, 0, 0, 0, 'x'};
    assert_int_equal(aggr_merge(&f->t, 99, key, 5, words, 1), ET_EIMAGE);
    assert_int_equal(aggr_merge(&f->t, COUNT, key, 5, words, 2), ET_EIMAGE);
    assert_int_equal(aggr_merge(&f->t, COUNT, key, 5, words, 1),
                     ET_EIMAGE); /* length beyond the end */
    assert_int_equal(aggr_merge(&f->t, COUNT, key, 2, words, 1), ET_EIMAGE);
    key[0] = 1;
    assert_int_equal(aggr_merge(&f->t, COUNT, key, 6, words, 1), ET_EIMAGE); /* a byte too many */
    assert_int_equal(f->t.aggr[COUNT].n, 0);
}

static void many_keys(void **state)
{
    struct fixture *f = *state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 20000; i++)
            add_pair(f, PAIR, i, -i, 1);
    assert_int_equal(f->t.aggr[PAIR].n, 20000);
    assert_int_equal(aggr_trunc(&f->t.aggr[PAIR], 3), 0);
    /* all are 2: the three largest keys */
    uint32_t agg = PAIR;
    rows_are(f, &agg, 1, (struct aggr_order){0}, "19997,-19997=2 19998,-19998=2 19999,-19999=2");
}

static void memory_runs_out(void **state)
{
    struct fixture *f = *state;
    uint8_t key[5] = {1, 0, 0, 0, 'k'};
    uint64_t word = 1;
    struct aggr_view v;
    const uint32_t both[] = {PAIR, PAIR2};
    struct aggr_order order = {0};
    for (unsigned long n = 1; n <= 3; n++) {
        et_alloc_fail_after(n);
        assert_int_equal(aggr_merge(&f->t, COUNT, key, 5, &word, 1), ET_ENOMEM);
        et_alloc_fail_after(0);
        aggr_empty(&f->t.aggr[COUNT]);
        et_free(f->t.aggr[COUNT].entry);
        f->t.aggr[COUNT].entry = NULL;
        f->t.aggr[COUNT].cap = 0;
    }
    add_pair(f, PAIR, 1, 1, 1);
    for (unsigned long n = 1; n <= 4; n++) {
        et_alloc_fail_after(n);
        assert_int_equal(aggr_view_make(&v, &f->t, both, 2, &order), ET_ENOMEM);
        et_alloc_fail_after(0);
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(merging),
        T(of_each_cpu),
        T(deviation),
        T(normalizing),
        T(clearing_and_truncating),
        T(value_order),
        T(order_of_averages),
        T(key_order),
        T(joining),
        T(without_keys),
        T(malformed_updates),
        T(many_keys),
        T(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
