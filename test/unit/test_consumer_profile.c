/* test_consumer_profile.c - aggregations by stack as profiles: stackform=folded, speedscope, and
 * which rows they have (doc/output.md). The bytes of pprof are read in test/e2e. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "result/profile.h"
#include "util/buftext.h"

/* Frames are functions f1, f2 ... of Erlang; 0x99 is one whose name has what separates frames. */
static bool find(void *arg, uint64_t pid, uint64_t address, struct tier_symbol *out)
{
    static char name[32];
    (void)arg;
    if (pid != 7 && pid != 0)
        return false;
    snprintf(name, sizeof name, "%s%d/1", pid == 0 ? "sys" : "m:f", (int)address);
    *out = (struct tier_symbol){
        .object = "m", .whole = true, .function = address == 0x99 ? "m:'a; 1'/0" : name};
    return true;
}

enum { COUNTS, US, SIZES, OTHER, NAGGS };
enum { WORDS = 4 }; /* of a stack: the process, frames */
static struct dif_agg aggs[NAGGS] = {
    [COUNTS] = {0, AGG_COUNT, {2, {{DIF_STRING, 32}, {DIF_USTACK, WORDS * 8}}}, {0}},
    [US] = {1, AGG_SUM, {2, {{DIF_STACK, WORDS * 8}, {DIF_USTACK, WORDS * 8}}}, {0}},
    [SIZES] = {2, AGG_QUANTIZE, {1, {{DIF_JSTACK, WORDS * 8}}}, {0}},
    [OTHER] = {3, AGG_COUNT, {1, {{DIF_STRING, 32}}}, {0}},
};
static uint32_t strings[] = {1, 3, 6, 12};
static struct dif_image img = {.strsize = 31,
                               .strtab = "\0_\0us\0sizes\0other",
                               .strtab_len = 18,
                               .str = strings,
                               .nstr = 4,
                               .aggs = aggs,
                               .naggs = NAGGS};

struct fixture {
    struct options opt;
    struct aggr_table t;
    struct buf data;
    struct report r;
};

static void to_data(void *arg, const char *s, size_t n)
{
    buf_add(&((struct fixture *)arg)->data, s, n);
}

static int setup(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    options_init(&f.opt);
    assert_int_equal(aggr_table_init(&f.t, &img), 0);
    f.r = (struct report){.out = {to_data, &f},
                          .opt = &f.opt,
                          .img = &img,
                          .aggr = &f.t,
                          .symbols = {.find = find, .opt = &f.opt}};
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    aggr_table_free(&f->t);
    buf_free(&f->data);
    buf_free(&f->r.line);
    return 0;
}

static void put_text(struct buf *key, const char *text)
{
    buf_u32(key, (uint32_t)strlen(text));
    buf_adds(key, text);
}

static void put_words(struct buf *key, const uint64_t words[WORDS])
{
    buf_add(key, words, WORDS * sizeof words[0]);
}

static void merge(struct fixture *f, uint32_t agg, struct buf *key, const uint64_t *words, size_t n)
{
    assert_int_equal(aggr_merge(&f->t, agg, (const uint8_t *)key->data, key->len, words, n), 0);
    buf_free(key);
}

static void add(struct fixture *f, const char *name, const uint64_t stack[WORDS], uint64_t n)
{
    struct buf key = BUF_INIT;
    put_text(&key, name);
    put_words(&key, stack);
    merge(f, COUNTS, &key, &n, 1);
}

/* Leaf first, as stacks are recorded. */
static const uint64_t deep[WORDS] = {7, 3, 2, 1}, odd[WORDS] = {7, 0x99, 1, 0}, none[WORDS] = {7};
static const uint64_t kernel[WORDS] = {5, 4, 0, 0};

static void fill(struct fixture *f)
{
    struct buf key = BUF_INIT;
    uint64_t us = 12, sizes[DIF_QUANTIZE_BUCKETS] = {0}, one = 1;
    add(f, "shop 1;x", odd, 3);
    add(f, "till", none, 2);
    add(f, "till", deep, 5);
    put_words(&key, kernel);
    put_words(&key, deep);
    merge(f, US, &key, &us, 1);
    key = (struct buf)BUF_INIT;
    sizes[DIF_QUANTIZE_ZERO + 1] = 4;
    sizes[DIF_QUANTIZE_ZERO + 9] = 5;
    put_words(&key, deep);
    merge(f, SIZES, &key, sizes, DIF_QUANTIZE_BUCKETS);
    key = (struct buf)BUF_INIT;
    put_text(&key, "no stack");
    merge(f, OTHER, &key, &one, 1);
}

static void folded(void **state)
{
    struct fixture *f = *state;
    const char *why;
    assert_int_equal(options_set(&f->opt, "stackform", "folded", OPTION_BY_RUNNING, &why), 0);
    fill(f);
    struct buf key = BUF_INIT;
    uint64_t in_process = 13, nowhere = 1;
    const uint64_t outside[WORDS] = {0}; /* of the kernel */
    put_words(&key, outside);
    put_words(&key, deep);
    merge(f, US, &key, &in_process, 1);
    key = (struct buf)BUF_INIT;
    put_words(&key, outside);
    put_words(&key, none);
    merge(f, US, &key, &nowhere, 1);
    report_text.aggregations(&f->r);
    assert_string_equal(buf_str(&f->data),
                        "till;[no_stack] 2\n"
                        "shop_1:x;m:f1/1;m:'a:_1'/0 3\n"
                        "till;m:f1/1;m:f2/1;m:f3/1 5\n"
                        "[no_stack] 1\n"
                        "m:f1/1;m:f2/1;m:f3/1;sys4/1;sys5/1 12\n"
                        "m:f1/1;m:f2/1;m:f3/1 13\n"
                        "m:f1/1;m:f2/1;m:f3/1 9\n"
                        "  no stack                                                          1\n");
}

/* A value below 0 cannot be drawn. */
static void speedscope(void **state)
{
    struct fixture *f = *state;
    fill(f);
    struct buf key = BUF_INIT;
    uint64_t less = (uint64_t)INT64_C(-3);
    put_words(&key, none);
    put_words(&key, deep);
    merge(f, US, &key, &less, 1);
    report_speedscope.aggregations(&f->r);
    assert_string_equal(
        buf_str(&f->data),
        "{\"$schema\":\"https://www.speedscope.app/"
        "file-format-schema.json\",\"shared\":{\"frames\":["
        "{\"name\":\"[no stack]\"},{\"name\":\"till\"},{\"name\":\"m:'a; 1'/0\"},"
        "{\"name\":\"m:f1/1\"},{\"name\":\"shop 1;x\"},{\"name\":\"m:f3/1\"},"
        "{\"name\":\"m:f2/1\"},{\"name\":\"sys5/1\"},{\"name\":\"sys4/1\"}]},\"profiles\":["
        "{\"type\":\"sampled\",\"name\":\"samples\",\"unit\":\"none\",\"startValue\":0,"
        "\"endValue\":10,\"samples\":[[1,0],[4,3,2],[1,3,6,5]],\"weights\":[2,3,5]},"
        "{\"type\":\"sampled\",\"name\":\"@us (1 row below 0 is left out)\","
        "\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":12,"
        "\"samples\":[[3,6,5,8,7]],\"weights\":[12]},"
        "{\"type\":\"sampled\",\"name\":\"@sizes\",\"unit\":\"none\",\"startValue\":0,"
        "\"endValue\":9,\"samples\":[[3,6,5]],\"weights\":[9]}],"
        "\"name\":\"erltrace\",\"activeProfileIndex\":0,\"exporter\":\"erltrace " ET_VERSION
        "\"}\n");
}

/* Without memory there is no output, rather than half of one. */
static void out_of_memory(void **state)
{
    struct fixture *f = *state;
    const struct observer *const formats[] = {&report_pprof, &report_speedscope};
    fill(f);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        unsigned long before = et_alloc_count();
        formats[i]->aggregations(&f->r);
        unsigned long all = et_alloc_count() - before;
        size_t whole = f->data.len;
        assert_true(whole > 100 && all > 10);
        for (unsigned long n = 1; n <= all; n++) {
            buf_free(&f->data);
            buf_free(&f->r.line);
            f->r.oom = false;
            et_alloc_fail_at(n);
            formats[i]->aggregations(&f->r);
            et_alloc_fail_at(0);
            /* The last ones are those of f->data itself. */
            assert_true(f->r.oom ? f->data.len == 0 : f->data.oom || f->data.len > 100);
        }
        buf_free(&f->data);
    }
}

static void which_programs(void **state)
{
    (void)state;
    struct dif_image without = img;
    without.aggs = &aggs[OTHER];
    without.naggs = 1;
    assert_true(profile_of(&img));
    assert_false(profile_of(&without));
    assert_true(report_is_profile(&report_pprof) && report_is_profile(&report_speedscope));
    assert_false(report_is_profile(&report_text) || report_is_profile(&report_json));
    assert_string_equal(report_format_name(&report_speedscope), "speedscope");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folded, setup, teardown),
        cmocka_unit_test_setup_teardown(speedscope, setup, teardown),
        cmocka_unit_test_setup_teardown(out_of_memory, setup, teardown),
        cmocka_unit_test(which_programs),
    };
    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
