/* test_tier.c - the local tier from opening to closing, and trace data that nobody vouches for. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "lang/compile.h"
#include "lang/encode.h"
#include "engine_build.h"
#include "tier/sampler.h"
#include "tier/tier.h"
#include "util/buftext.h"

enum { MOST = 64 };

/* What a sink saw. */
struct seen {
    uint32_t epid[MOST];
    int64_t value[MOST]; /* first part, an int64 */
    unsigned records, faults, entries;
    uint64_t sum;   /* of first words of entries */
    uint64_t least; /* of them */
    struct record_counts counts;
};

static void on_record(void *arg, struct tier *t, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                      const uint8_t *parts, size_t len)
{
    struct seen *s = arg;
    (void)t;
    (void)cpu;
    assert_true(timestamp > 0);
    assert_true(s->records < MOST);
    s->epid[s->records] = epid;
    if (len >= 8)
        memcpy(&s->value[s->records], parts, 8);
    s->records++;
}

static void on_entry(void *arg, struct tier *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                     size_t keylen, const uint64_t *words, size_t nwords, bool lower)
{
    struct seen *s = arg;
    (void)t;
    (void)agg;
    (void)cpu;
    (void)key;
    (void)keylen;
    (void)lower;
    assert_true(nwords > 0);
    s->entries++;
    s->sum += words[0];
    s->least = s->entries == 1 || words[0] < s->least ? words[0] : s->least;
}

static void on_fault(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                     uint32_t fault, uint64_t value, uint32_t cpu)
{
    struct seen *s = arg;
    (void)t;
    (void)epid;
    (void)action;
    (void)offset;
    (void)value;
    (void)cpu;
    assert_int_equal(fault, RECORD_FAULT_DIVZERO);
    s->faults++;
}

static void on_counts(void *arg, struct tier *t, const struct record_counts *c)
{
    (void)t;
    ((struct seen *)arg)->counts = *c;
}

struct binder {
    struct tier_binding b[MOST];
    size_t n;
    uint32_t clause;
};

static int bind(void *arg, const struct tier_probe *p)
{
    struct binder *b = arg;
    b->b[b->n] = (struct tier_binding){(uint32_t)b->n + 1, b->clause, p->id};
    b->n++;
    return 0;
}

/* Runs a program in the local tier until it exits. */
static void run(const char *text, struct seen *s)
{
    struct compile_options copt = {COMPILE_SIZES};
    struct tier_options topt = {
        .cpu = OPTION_UNSET, .bufsize = 1 << 16, .aggsize = 1 << 16, .dynvarsize = 1 << 16};
    struct compile_source src = {
        .kind = COMPILE_NAME, .name = "-n", .text = text, .len = strlen(text)};
    const struct tier_sink sink = {s, on_record, on_entry, on_fault, on_counts};
    struct dif_image img;
    struct binder b = {.n = 0};
    struct buf bytes = BUF_INIT;
    struct diags d;
    struct tier *t;
    diags_init(&d);
    dif_image_init(&img);
    struct compile *c = compile_new(&copt, &d);
    assert_int_equal(compile_add(c, &src), 0);
    assert_int_equal(compile_image(c, &img), 0);
    assert_int_equal(dif_encode(&img, &bytes), 0);
    assert_int_equal(tier_local_open(&t, &d), 0);
    for (uint32_t i = 0; i < img.nclauses; i++) {
        const struct dif_clause *cl = &img.clauses[i];
        struct probe_spec spec = {dif_str(&img, cl->prov), dif_str(&img, cl->mod),
                                  dif_str(&img, cl->func), dif_str(&img, cl->name), cl->id};
        b.clause = i;
        assert_int_equal(t->ops->match(t, &spec, bind, &b, &d), 0);
    }
    assert_int_equal(t->ops->enable(t, &img, bytes.data, bytes.len, b.b, b.n, &topt, &d), 0);
    assert_int_equal(t->ops->go(t, &d), 0);
    int state;
    while ((state = t->ops->work(t, 100, false, &sink, &d)) == TIER_RUNNING)
        ;
    assert_int_equal(state, TIER_EXITING);
    assert_int_equal((t->ops->stop)(t, &d), 0); /* stop() is a macro of cmocka 2 */
    while ((state = t->ops->work(t, 100, true, &sink, &d)) != TIER_DRAINED)
        assert_true(state >= 0);
    assert_int_equal(t->ops->work(t, 0, true, &sink, &d), TIER_DRAINED);
    t->ops->close(t);
    compile_free(c);
    dif_image_free(&img);
    buf_free(&bytes);
    diags_free(&d);
}

static void begin_ticks_end_in_order(void **state)
{
    (void)state;
    struct seen s = {.records = 0};
    run("BEGIN { trace((int64_t)1); } tick-1ms { n++; trace((int64_t)(10 + n)); } tick-1ms / n == "
        "3 / { exit(0); } "
        "END { trace((int64_t)99); }",
        &s);
    /* BEGIN, three ticks, the exit record, END */
    assert_int_equal(s.records, 6);
    assert_int_equal(s.value[0], 1);
    assert_int_equal(s.value[1], 11);
    assert_int_equal(s.value[2], 12);
    assert_int_equal(s.value[3], 13);
    assert_int_equal(s.value[5], 99);
    assert_int_equal(s.counts.recorded, 6);
}

static void aggregations_and_faults_are_reported(void **state)
{
    (void)state;
    struct seen s = {.records = 0};
    run("BEGIN { @a[1] = count(); @a[2] = count(); @a[1] = count(); } BEGIN { z = 0; trace(1 / z); "
        "} "
        "ERROR { trace(arg4); } BEGIN { exit(0); }",
        &s);
    assert_int_equal(s.sum, 3);
    assert_int_equal(s.entries, 2);
    assert_int_equal(s.faults, 1);
    assert_int_equal(s.records, 2); /* ERROR's, and exit's */
    assert_int_equal(s.value[0], RECORD_FAULT_DIVZERO);
}

static void probes_of_the_local_tier(void **state)
{
    (void)state;
    static const struct {
        const char *prov, *name;
        size_t n;
    } row[] = {
        {"", "BEGIN", 1},
        {"dtrace", "", 3},
        {"", "E*", 2},
        {"profile", "tick-1sec", 1},
        {"", "tick-1sec", 1},
        {"dtrace", "tick-1sec", 0},
        {"", "tick-0", 0},
        {"", "entry", 0},
        {"profile", "tick-*", 7},
        {"profile", "profile-*", 7},
        {"", "profile-3ms", 1},
        {"profile", "", 15},
        {"", "profile-97", 1},
        {"", "profile-3x", 0},
    };
    struct diags d;
    struct tier *t;
    diags_init(&d);
    assert_int_equal(tier_local_open(&t, &d), 0);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct binder b = {.n = 0};
        struct probe_spec spec = {row[i].prov, "", "", row[i].name, 0};
        assert_int_equal(t->ops->match(t, &spec, bind, &b, &d), 0);
        assert_int_equal(b.n, row[i].n);
    }
    struct binder b = {.n = 0};
    struct probe_spec by_id = {"", "", "", "", 2};
    assert_int_equal(t->ops->match(t, &by_id, bind, &b, &d), 0);
    assert_int_equal(b.n, 1);
    assert_int_equal(b.b[0].probe, 2);
    assert_string_equal(t->ops->suggest(t, &(struct probe_spec){"", "", "", "BEGN", 0}),
                        "no probe 'BEGN'; did you mean 'BEGIN'?");
    assert_string_equal(t->ops->suggest(t, &(struct probe_spec){"dtrcae", "", "", "BEGIN", 0}),
                        "no provider 'dtrcae'; did you mean 'dtrace'?");
    assert_string_equal(t->ops->suggest(t, &(struct probe_spec){"", "", "", "end", 0}),
                        "no probe 'end'; did you mean 'END'?");
    t->ops->close(t);
    diags_free(&d);
}

/* On every CPU: the program ends when it has fired on each. The threads of one session leave their
 * places to those of the next. */
static void profile_fires_on_every_cpu(void **state)
{
    (void)state;
    char text[256];
    cpu_set_t cpus;
    assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    uint32_t n = (uint32_t)CPU_COUNT(&cpus), before = engine_thread_count();
    snprintf(text, sizeof text,
             "profile-1ms / !seen[cpu] / { seen[cpu] = 1; n++; @ = count(); } "
             "profile-1ms / n == %u / { exit(0); }",
             n);
    for (int i = 0; i < 20; i++) {
        struct seen s = {.records = 0};
        run(text, &s);
        assert_int_equal(s.sum, n);
        assert_true(s.records >= 1); /* of exit(), on one CPU or on several at the same time */
        assert_int_equal(s.counts.drop[RECORD_DROP_THREAD], 0);
    }
    assert_true(engine_thread_count() <= before + n + 1);
}

/* A probe whose period is shorter than its own work misses periods and makes up for one: however
 * long it has been at it, some firing comes in time. */
static void missed_periods_are_left_out(void **state)
{
    (void)state;
    enum { PERIOD = 1, WARM = 20000, LATE = 1000000 };
    const struct engine_options opt = {
        .threads = 64, .bufsize = 1 << 16, .aggsize = 1 << 16, .dynvarsize = 1 << 16};
    static const char text[] = "int n; BEGIN /n++ > 20000/ { @ = min(arg2); }";
    struct compile_options copt = {COMPILE_SIZES};
    const struct compile_source src = {
        .kind = COMPILE_NAME, .name = "-n", .text = text, .len = sizeof text - 1};
    static const struct engine_probe identity = {1, "profile", "", "", "profile-1ns"};
    const struct engine_binding binding = {1, 0};
    const struct sampler_probe probe = {&identity, &binding, 1, PERIOD};
    struct seen s = {.records = 0};
    const struct tier_sink sink = {&s, on_record, on_entry, NULL, on_counts};
    struct record_counts counts;
    struct dif_image img;
    struct sampler *sampler;
    struct engine_mark m;
    struct buf out = BUF_INIT;
    struct diags d;
    diags_init(&d);
    dif_image_init(&img);
    struct compile *c = compile_new(&copt, &d);
    assert_int_equal(compile_add(c, &src), 0);
    assert_int_equal(compile_image(c, &img), 0);
    struct engine *e = engine_build(&img, opt);
    assert_int_equal(sampler_start(&sampler, e, &probe, 1, &d), 0);
    do {
        sched_yield();
        engine_counts(e, &counts);
    } while (counts.updates < WARM);
    sampler_stop(sampler);
    engine_flip(e, RECORD_AGGS);
    engine_mark(&m);
    while (!engine_quiet(&m))
        ;
    while (!engine_drain(e, RECORD_AGGS, out.len + 5000, &out))
        ;
    assert_int_equal(tier_report(NULL, &img, out.data, out.len, &sink, &d), 0);
    /* One for each CPU, which has its own times; a CPU may have been busy with something else. */
    assert_true(s.entries >= 1);
    assert_true(s.least < LATE);
    engine_destroy(e);
    buf_free(&out);
    compile_free(c);
    dif_image_free(&img);
    diags_free(&d);
}

/* Ticks and profile probes in one program, and BEGIN before both. */
static void profile_beside_ticks(void **state)
{
    (void)state;
    struct seen s = {.records = 0};
    run("BEGIN { x = 1; } profile-1ms { p = x; } tick-1ms { t = x; } tick-1ms / p && t / { "
        "exit(0); } "
        "END { trace((int64_t)(p + t)); }",
        &s);
    assert_int_equal(s.records, 2);
    assert_int_equal(s.value[1], 2);
    struct seen begin = {.records = 0};
    run("BEGIN { exit(0); } profile-5000hz { trace(1); }", &begin);
    assert_int_equal(begin.records, 1);
}

/* Blocks that were cut, or had a bit flipped, are refused or reported: nothing is read past their
 * end. */
static void damaged_blocks(void **state)
{
    (void)state;
    struct dif_image img;
    struct dif_agg agg = {.func = AGG_COUNT};
    struct buf b = BUF_INIT;
    struct seen s = {.records = 0};
    const struct tier_sink sink = {&s, on_record, on_entry, NULL, on_counts};
    struct diags d;
    diags_init(&d);
    dif_image_init(&img);
    img.aggs = &agg;
    img.naggs = 1;
    buf_u8(&b, RECORD_AGGS); /* one entry without key, then one record with one part */
    buf_u8(&b, 0);
    buf_u16(&b, 0);
    buf_u32(&b, 24);
    buf_u32(&b, 24);
    buf_u32(&b, 0);
    buf_u32(&b, 0);
    buf_u32(&b, 0);
    buf_u64(&b, 7);
    buf_u8(&b, RECORD_PRINCIPAL);
    buf_u8(&b, 0);
    buf_u16(&b, 0);
    buf_u32(&b, 32);
    buf_u32(&b, 32);
    buf_u32(&b, 1);
    buf_u64(&b, 1);
    buf_u32(&b, 0);
    buf_u32(&b, 8);
    buf_u64(&b, 5);
    assert_int_equal(tier_report(NULL, &img, b.data, b.len, &sink, &d), 0);
    assert_int_equal(s.sum, 7);
    assert_int_equal(s.value[0], 5);
    const struct tier_sink quiet = {NULL, NULL, NULL, NULL, NULL};
    for (size_t n = 0; n < b.len; n++) {
        char *copy = malloc(n + 1);
        memcpy(copy, b.data, n);
        bool whole = n == 0 || n == 32; /* nothing, or exactly the first block */
        assert_int_equal(tier_report(NULL, &img, copy, n, &quiet, &d), whole ? 0 : ET_EIMAGE);
        free(copy);
    }
    for (size_t bit = 0; bit < b.len * 8; bit++) {
        char *copy = malloc(b.len);
        memcpy(copy, b.data, b.len);
        copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
        int err = tier_report(NULL, &img, copy, b.len, &quiet, &d);
        assert_true(err == 0 || err == ET_EIMAGE);
        free(copy);
    }
    buf_free(&b);
    diags_free(&d);
}

/* A block with one record or entry, which says what `row` says of its lengths: `size` bytes of it,
 * of which `n` are there, words 1 to 5 as given. */
struct said {
    uint8_t kind;
    uint32_t size, n, word[5];
};

static int report_said(const struct said *w, const struct dif_image *img,
                       const struct tier_sink *sink)
{
    struct buf b = BUF_INIT;
    struct diags d;
    diags_init(&d);
    buf_u8(&b, w->kind);
    buf_u8(&b, 0);
    buf_u16(&b, 0);
    buf_u32(&b, w->n);
    buf_u32(&b, w->size);
    for (unsigned i = 0; i < 5; i++)
        buf_u32(&b, w->word[i]);
    while (b.len < 8 + w->n)
        buf_u8(&b, 1);
    char *exact = malloc(8 + w->n); /* so that a sanitizer sees what is read behind it */
    memcpy(exact, b.data, 8 + w->n);
    int err = tier_report(NULL, img, exact, 8 + w->n, sink, &d);
    free(exact);
    buf_free(&b);
    diags_free(&d);
    return err;
}

/* Each length that a node sends has a bound; beyond it, the record or entry is refused. */
static void lengths_of_a_node(void **state)
{
    (void)state;
    enum { REC = RECORD_PRINCIPAL, AGG = RECORD_AGGS };
    const uint32_t fault = RECORD_EPID_FAULT;
    static const struct dif_agg aggs[] = {
        {.func = AGG_COUNT}, {.func = AGG_AVG}, {.func = AGG_COUNT}};
    const struct {
        struct said said;
        int err;
        unsigned given; /* to the sink */
    } row[] = {
        /* a record: epid, time (2), CPU, bytes of its parts */
        {{REC, 24, 24, {1, 1, 0, 0, 0}}, 0, 1},
        {{REC, 32, 32, {1, 1, 0, 0, 8}}, 0, 1},
        {{REC, 32, 32, {1, 1, 0, 0, 9}}, ET_EIMAGE, 0},
        {{REC, 32, 32, {1, 1, 0, 0, UINT32_MAX}}, ET_EIMAGE, 0},
        {{REC, 16, 16, {1, 1, 0, 0, 0}}, ET_EIMAGE, 0},
        {{REC, 28, 28, {1, 1, 0, 0, 0}}, ET_EIMAGE, 0},
        {{REC, 32, 24, {1, 1, 0, 0, 0}}, ET_EIMAGE, 0},
        {{REC, 24, 26, {1, 1, 0, 0, 0}}, ET_EIMAGE, 1}, /* and half a length */
        {{REC, 0, 24, {1, 1, 0, 0, 0}}, ET_EIMAGE, 0},
        /* a fault has 24 bytes of parts */
        {{REC, 48, 48, {fault, 1, 0, 0, 16}}, ET_EIMAGE, 0},
        {{REC, 56, 56, {fault, 1, 0, 0, 32}}, ET_EIMAGE, 0},
        /* an entry: aggregation, bytes of its key, CPU; then its words */
        {{AGG, 24, 24, {0, 0, 0, 1, 0}}, 0, 1},
        {{AGG, 32, 32, {0, 8, 0, 1, 0}}, 0, 1},
        {{AGG, 32, 32, {0, 9, 0, 1, 0}}, ET_EIMAGE, 0},
        {{AGG, 32, 32, {0, UINT32_MAX, 0, 1, 0}}, ET_EIMAGE, 0},
        {{AGG, 32, 32, {1, 0, 0, 1, 0}}, 0, 1},
        {{AGG, 24, 24, {1, 0, 0, 1, 0}}, ET_EIMAGE, 0},
        {{AGG, 16, 16, {0, 0, 0, 0, 0}}, ET_EIMAGE, 0},
        {{AGG, 8, 8, {0, 0, 0, 0, 0}}, ET_EIMAGE, 0},
        {{AGG, 24, 24, {2, 0, 0, 1, 0}}, ET_EIMAGE, 0},
        {{AGG, 24, 24, {UINT32_MAX, 0, 0, 1, 0}}, ET_EIMAGE, 0},
        {{REC | AGG, 24, 24, {0, 0, 0, 1, 0}}, ET_EIMAGE, 0},
    };
    struct dif_image img;
    dif_image_init(&img);
    img.aggs = (struct dif_agg *)(uintptr_t)aggs;
    img.naggs = 2; /* the third is beyond them */
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct seen s = {.records = 0};
        const struct tier_sink sink = {&s, on_record, on_entry, on_fault, on_counts};
        int err = report_said(&row[i].said, &img, &sink);
        if (err != row[i].err || s.records + s.entries + s.faults != row[i].given)
            fail_msg("row %zu: %d, %u records, %u entries", i, err, s.records, s.entries);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begin_ticks_end_in_order),
        cmocka_unit_test(aggregations_and_faults_are_reported),
        cmocka_unit_test(probes_of_the_local_tier),
        cmocka_unit_test(profile_fires_on_every_cpu),
        cmocka_unit_test(missed_periods_are_left_out),
        cmocka_unit_test(profile_beside_ticks),
        cmocka_unit_test(damaged_blocks),
        cmocka_unit_test(lengths_of_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
