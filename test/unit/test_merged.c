/* test_merged.c - what nodes send, merged by key: the bytes of blocks, through the reader and the
 * table, against a list that is searched from its beginning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "dif/record.h"
#include "result/aggr.h"
#include "tier/tier.h"

__extension__ typedef unsigned __int128 u128;

#define TEXT_KEY                                                                                   \
    {                                                                                              \
        1,                                                                                         \
        {                                                                                          \
            {                                                                                      \
                DIF_STRING, 256                                                                    \
            }                                                                                      \
        }                                                                                          \
    }

enum { SEEDS = 20, NODES = 4, ENTRIES = 400, KEYS = 37, WORDS = 200, ALIGNMENTS = 8 };

static struct dif_agg aggs[] = {
    {0, AGG_COUNT, TEXT_KEY, {0}},
    {0, AGG_SUM, TEXT_KEY, {0}},
    {0, AGG_AVG, TEXT_KEY, {0}},
    {0, AGG_MIN, TEXT_KEY, {0}},
    {0, AGG_MAX, TEXT_KEY, {0}},
    {0, AGG_STDDEV, TEXT_KEY, {0}},
    {0, AGG_QUANTIZE, TEXT_KEY, {0}},
    {0, AGG_LQUANTIZE, TEXT_KEY, {0, 10, 1}},
    {0, AGG_LLQUANTIZE, TEXT_KEY, {10, 0, 3, 20}},
};
enum { AGGS = sizeof aggs / sizeof *aggs };

/* Of each aggregation and key, what a reader of the definitions would expect. */
struct expected {
    bool there, lower;
    uint64_t words[WORDS];
};

struct merging {
    struct aggr_table table;
    unsigned entries;
};

static void on_entry(void *arg, struct tier *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                     size_t keylen, const uint64_t *words, size_t nwords, bool lower)
{
    struct merging *m = arg;
    (void)t;
    assert_true(cpu < NODES);
    assert_int_equal(aggr_merge(&m->table, agg, key, keylen, words, nwords), 0);
    if (lower)
        aggr_mark_lower(&m->table, agg, key, keylen);
    m->entries++;
}

static uint64_t draw(unsigned *seed)
{
    const uint64_t small = (uint64_t)rand_r(seed) % 1000;
    return rand_r(seed) % 8 == 0 ? UINT64_MAX - small : small; /* negative at times */
}

static uint32_t make_key(unsigned which, uint8_t *out)
{
    char text[64];
    const int n =
        snprintf(text, sizeof text, "%.*skey %u", (int)(which % 11), "longer and ", which);
    return (uint32_t)(record_put_text(out, text, (uint32_t)n) - out);
}

static void add(const struct dif_agg *a, struct expected *e, const uint64_t *words, unsigned n)
{
    const bool least = a->func == AGG_MIN, most = a->func == AGG_MAX;
    for (unsigned i = 0; i < n; i++)
        if (!e->there)
            e->words[i] = words[i];
        else if (least || most)
            e->words[i] =
                ((int64_t)words[i] < (int64_t)e->words[i]) == least ? words[i] : e->words[i];
        else if (a->func == AGG_STDDEV && i == 2) { /* words 2 and 3 are one number */
            const u128 sum =
                ((u128)e->words[3] << 64 | e->words[2]) + ((u128)words[3] << 64 | words[2]);
            e->words[2] = (uint64_t)sum;
            e->words[3] = (uint64_t)(sum >> 64);
            i++;
        } else
            e->words[i] += words[i];
    e->there = true;
}

/* Appends an entry to a block, and to what is expected. */
static void make_entry(unsigned *seed, uint32_t node, struct buf *block, struct expected *all)
{
    uint64_t room[(RECORD_ENTRY_HEAD + WORDS * 8 + 128) / 8], words[WORDS];
    struct record_entry *entry = (void *)room;
    uint8_t key[128];
    const uint32_t agg = (uint32_t)rand_r(seed) % AGGS, which = (uint32_t)rand_r(seed) % KEYS;
    const unsigned n = dif_agg_words(&aggs[agg]);
    const uint32_t len = make_key(which, key), size = record_entry_size(n, len);
    struct expected *e = &all[agg * KEYS + which];
    assert_in_range(n, 1, WORDS);
    record_put_entry(entry, size, agg, len, node);
    for (unsigned i = 0; i < n; i++)
        words[i] = draw(seed);
    memcpy(entry->words, words, n * sizeof *words);
    memcpy(entry->words + n, key, len);
    if (rand_r(seed) % 16 == 0) {
        entry->cpu |= RECORD_ENTRY_LOWER;
        e->lower = true;
    }
    add(&aggs[agg], e, words, n);
    buf_add(block, entry, size);
}

static void check(const struct aggr_table *t, const struct expected *all)
{
    uint8_t key[128];
    for (uint32_t agg = 0; agg < AGGS; agg++) {
        const struct aggr *a = &t->aggr[agg];
        size_t there = 0;
        for (unsigned which = 0; which < KEYS; which++) {
            const struct expected *e = &all[agg * KEYS + which];
            const uint32_t len = make_key(which, key);
            const struct aggr_entry *found = hash_get(&a->index, key, len);
            assert_int_equal(found != NULL, e->there);
            if (found == NULL)
                continue;
            there++;
            assert_memory_equal(found->words, e->words, a->nwords * sizeof(uint64_t));
            assert_int_equal(aggr_lower(a, found->words), e->lower);
        }
        assert_int_equal(a->n, there);
    }
}

static void as_a_list_would_have_it(void **state)
{
    (void)state;
    struct dif_image img;
    struct diags d;
    dif_image_init(&img);
    img.aggs = aggs;
    img.naggs = AGGS;
    img.strsize = 256;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct expected *all = calloc(AGGS * KEYS, sizeof *all);
        struct merging m = {.entries = 0};
        const struct tier_sink sink = {.arg = &m, .aggregation = on_entry};
        unsigned state_of = seed;
        assert_non_null(all);
        assert_int_equal(aggr_table_init(&m.table, &img), 0);
        diags_init(&d);
        print_message("seed %u\n", seed);
        for (uint32_t node = 0; node < NODES; node++) {
            struct buf block = BUF_INIT, sent = BUF_INIT;
            buf_add(&sent, "12345678", node * 3 % ALIGNMENTS); /* an answer begins anywhere */
            const size_t from = sent.len;
            for (unsigned i = 0; i < ENTRIES; i++) {
                make_entry(&state_of, node, &block, all);
                if (i % 100 == 99) {
                    record_put_block(&sent, RECORD_AGGS, node, block.data, (uint32_t)block.len);
                    block.len = 0;
                }
            }
            assert_int_equal(tier_report(NULL, &img, sent.data + from, sent.len - from, &sink, &d),
                             0);
            buf_free(&block);
            buf_free(&sent);
        }
        assert_int_equal(m.entries, NODES * ENTRIES);
        check(&m.table, all);
        aggr_table_free(&m.table);
        diags_free(&d);
        free(all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_a_list_would_have_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
