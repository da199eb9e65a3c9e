/* test_consumer_report.c - records, rows, faults and drops as text (language.md 7.3, 8, 10) and as
 * JSON (doc/json.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "result/field.h"
#include "result/print.h"
#include "result/report.h"
#include "util/buftext.h"
#include "values.h"

static void traced_values(void **state)
{
    (void)state;
    static const struct {
        struct value v;
        const char *plain, *quiet;
    } row[] = {
        {I64(42), "                  42", "42"},
        {I64(-42), "                 -42", "-42"},
        {U64(UINT64_MAX), " 18446744073709551615", "18446744073709551615"},
        {I32(42), "         42", "42"},
        {U32(42), "         42", "42"},
        {I16(-7), "    -7", "-7"},
        {U16(65535), " 65535", "65535"},
        {I8(-128), " -128", "-128"},
        {U8(7), "   7", "7"},
        {STR("hello"), "  hello                            ", "hello"},
        {STR(""), "                                   ", ""},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf b = BUF_INIT;
        field_trace(&row[i].v, false, false, false, &b);
        assert_string_equal(buf_str(&b), row[i].plain);
        buf_reset(&b);
        field_trace(&row[i].v, true, false, false, &b);
        assert_string_equal(buf_str(&b), row[i].quiet);
        buf_free(&b);
    }
}

static void keys(void **state)
{
    (void)state;
    static const struct {
        struct value v;
        const char *want;
    } row[] = {
        {I64(-1), "               -1"},
        {U64(UINT64_MAX), "               -1"}, /* %lld */
        {I32(-5), "       -5"},
        {I16(-1), " 65535"}, /* narrow keys show unsigned */
        {I8(-1), " 255"},
        {STR("lists:map/2"), "  lists:map/2                                       "},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf b = BUF_INIT;
        field_key(&row[i].v, 256, false, false, NULL, &b);
        assert_string_equal(buf_str(&b), row[i].want);
        buf_free(&b);
    }
}

/* A string key stands in a buffer of strsize + 1 bytes; one that is not text shows all of them. */
static void keys_that_are_not_ascii(void **state)
{
    (void)state;
    struct value empty = STR(""), accent = STR("\xc3\xa9t\xc3\xa9"), latin = STR("\xe9t\xe9");
    struct buf b = BUF_INIT;
    field_key(&empty, 16, false, false, NULL, &b);
    assert_string_equal(buf_str(&b), "                                                    ");
    buf_reset(&b);
    field_key(&accent, 7, false, false, NULL, &b); /* padded by characters */
    assert_string_equal(buf_str(&b),
                        "  \xc3\xa9t\xc3\xa9                                               ");
    buf_reset(&b);
    field_key(&latin, 7, false, false, NULL, &b);
    assert_string_equal(
        buf_str(&b),
        "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
        "         0: e9 74 e9 00 00 00 00 00                          .t......\n");
    buf_free(&b);
}

static void hex_dump(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    field_hex("Linux v", 7, 7, &b);
    assert_string_equal(
        buf_str(&b),
        "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
        "         0: 4c 69 6e 75 78 20 76                             Linux v\n");
    buf_reset(&b);
    field_hex("", 0, 0, &b);
    assert_string_equal(buf_str(&b), "");
    struct value v = I32(0x41424344);
    field_trace(&v, false, true, false, &b);
    assert_string_equal(
        buf_str(&b),
        "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
        "         0: 44 43 42 41                                      DCBA\n");
    buf_free(&b);
}

/* -- a program by hand: trace, printf and printa in one clause, two keyed aggregations --------- */

enum { TRACE, PRINTF, PRINTA, PRINTA_FMT, CLEAR, EXIT, NACTIONS };
static struct dif_type parts[] = {{DIF_INT, 4}, {DIF_STRING, 256}, {DIF_INT, 4}, {DIF_INT, 4}};
static uint32_t refs[] = {0, 1};
static struct dif_action actions[NACTIONS] = {
    [TRACE] = {.kind = ACT_TRACE, .part = 0, .nparts = 1},
    [PRINTF] = {.kind = ACT_PRINTF, .part = 1, .nparts = 2},
    [PRINTA] = {.kind = ACT_PRINTA, .ref = 0, .nrefs = 1},
    [PRINTA_FMT] = {.kind = ACT_PRINTA, .ref = 0, .nrefs = 2},
    [CLEAR] = {.kind = ACT_CLEAR, .ref = 0, .nrefs = 1},
    [EXIT] = {.kind = ACT_EXIT, .part = 3, .nparts = 1},
};
static struct dif_agg aggs[] = {
    {1, AGG_COUNT, {1, {{DIF_STRING, 256}}}, {0}},
    {2, AGG_SUM, {1, {{DIF_STRING, 256}}}, {0}},
    {3, AGG_QUANTIZE, {0, {{0, 0}}}, {0}},
};
static uint32_t strings[] = {0, 1, 3, 5};
static struct dif_image img = {.strsize = 256,
                               .strtab = "\0_\0b\0q",
                               .strtab_len = 7,
                               .str = strings,
                               .nstr = 4,
                               .aggs = aggs,
                               .naggs = 3,
                               .parts = parts,
                               .nparts = 4,
                               .refs = refs,
                               .nrefs = 2,
                               .actions = actions,
                               .nactions = NACTIONS};
struct probe {
    uint32_t epid;
    struct erltrace_probe p;
};
static const struct probe begin_probe = {1, {1, "dtrace", "", "", "BEGIN", ""}};
static const struct probe entry_probe = {2, {77, "erlang9", "lists", "map/2", "entry", "a@b"}};
static const struct probe again_probe = {3, {77, "erlang9", "lists", "map/2", "entry", "a@b"}};
static const struct probe return_probe = {4, {78, "erlang9", "lists", "map/2", "return", "a@b"}};

struct fixture {
    struct arena arena;
    struct options opt;
    struct aggr_table t;
    struct pf format[NACTIONS];
    struct buf data;
    struct report r;
    const struct observer *reporter;
};

static void to_data(void *arg, const char *s, size_t n)
{
    buf_add(&((struct fixture *)arg)->data, s, n);
}

static int setup(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    arena_init(&f.arena);
    options_init(&f.opt);
    assert_int_equal(aggr_table_init(&f.t, &img), 0);
    assert_int_equal(pf_parse(&f.arena, "%s=%d\n", &f.format[PRINTF]), 0);
    assert_int_equal(pf_parse(&f.arena, "%s:%@d:%@d;", &f.format[PRINTA_FMT]), 0);
    f.reporter = &report_text;
    f.r = (struct report){
        .out = {to_data, &f}, .opt = &f.opt, .img = &img, .aggr = &f.t, .format = f.format};
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    aggr_table_free(&f->t);
    buf_free(&f->data);
    buf_free(&f->r.line);
    buf_free(&f->r.head);
    arena_free(&f->arena);
    return 0;
}

static void add(struct fixture *f, uint32_t agg, const char *key, uint64_t v)
{
    uint8_t raw[64] = {(uint8_t)strlen(key)};
    memcpy(raw + 4, key, strlen(key));
    assert_int_equal(aggr_merge(&f->t, agg, raw, 4 + strlen(key), &v, 1), 0);
}

static void record(struct fixture *f, const struct probe *p, const uint32_t *action, size_t n)
{
    static const struct value v[] = {I32(-7), STR("text"), I32(3), I32(5)};
    struct erltrace_record rec = {.epid = p->epid, .cpu = 2, .timestamp = 1234, .probe = &p->p};
    f->reporter->begin(&f->r, &rec);
    for (size_t i = 0; i < n; i++) {
        struct event_data d = {.action = action[i], .v = v + actions[action[i]].part};
        f->reporter->action(&f->r, &rec, &d);
    }
    f->reporter->end(&f->r, &rec, true);
}
#define RECORD(f, p, ...)                                                                          \
    record(f, p, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void framing(void **state)
{
    struct fixture *f = *state;
    record(f, &begin_probe, NULL, 0);
    RECORD(f, &entry_probe, TRACE);
    RECORD(f, &begin_probe, PRINTF);
    RECORD(f, &begin_probe, EXIT);
    assert_string_equal(buf_str(&f->data),
                        "CPU     ID                    FUNCTION:NAME\n"
                        "  2      1                           :BEGIN \n"
                        "  2     77                      map/2:entry          -7\n"
                        "  2      1                           :BEGIN text=3\n\n"
                        "  2      1                           :BEGIN \n");
}

static void quiet_framing(void **state)
{
    struct fixture *f = *state;
    f->opt.value[OPTION_quiet] = 0;
    record(f, &begin_probe, NULL, 0);
    RECORD(f, &begin_probe, TRACE, PRINTF);
    assert_string_equal(buf_str(&f->data), "-7text=3\n");
}

static void flow_indent(void **state)
{
    struct fixture *f = *state;
    f->opt.value[OPTION_flowindent] = 0;
    record(f, &entry_probe, NULL, 0);
    record(f, &again_probe, NULL, 0); /* another clause of the same entry */
    record(f, &entry_probe, NULL, 0); /* a call inside */
    record(f, &begin_probe, NULL, 0);
    record(f, &return_probe, NULL, 0);
    record(f, &return_probe, NULL, 0);
    record(f, &return_probe, NULL, 0); /* one whose entry was not seen */
    assert_string_equal(buf_str(&f->data), "CPU FUNCTION                                 \n"
                                           "  2  -> map/2                                 \n"
                                           "  2   | map/2:entry                           \n"
                                           "  2    -> map/2                               \n"
                                           "  2     | :BEGIN                              \n"
                                           "  2    <- map/2                               \n"
                                           "  2  <- map/2                                 \n"
                                           "  2  <- map/2                                 \n");
}

static void printed_aggregations(void **state)
{
    struct fixture *f = *state;
    f->opt.value[OPTION_quiet] = 0;
    add(f, 0, "k", 7);
    add(f, 1, "k", 9);
    add(f, 1, "only", 2);
    RECORD(f, &begin_probe, PRINTA, PRINTA_FMT);
    assert_string_equal(buf_str(&f->data),
                        "\n  k                                                                 7\n"
                        "only:0:2;k:7:9;");
}

static void final_printout(void **state)
{
    struct fixture *f = *state;
    uint64_t words[DIF_QUANTIZE_BUCKETS] = {0};
    words[dif_quantize_bucket(0)] = 1;
    add(f, 1, "x", 2);
    add(f, 1, "w", 1);
    assert_int_equal(aggr_merge(&f->t, 2, NULL, 0, words, DIF_QUANTIZE_BUCKETS), 0);
    f->t.aggr[0].printed = true;
    add(f, 0, "printed", 1);
    f->reporter->aggregations(&f->r);
    static const char sums[] =
        "  w                                                                 1\n"
        "  x                                                                 2\n";
    static const char histogram[] =
        "\n           value  ------------- Distribution ------------- count    \n"
        "              -1 |                                         0        \n"
        "               0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
        "               1 |                                         0        \n\n";
    char want[1024];
    snprintf(want, sizeof want, "\n%s%s", sums, histogram);
    assert_string_equal(buf_str(&f->data), want);
    /* reversed: rows and aggregations */
    buf_reset(&f->data);
    f->opt.value[OPTION_aggsortrev] = 0;
    f->reporter->aggregations(&f->r);
    snprintf(want, sizeof want, "\n%s%.*s%.*s", histogram, (int)(sizeof sums / 2),
             sums + sizeof sums / 2, (int)(sizeof sums / 2), sums);
    assert_string_equal(buf_str(&f->data), want);
}

static void nothing_aggregated(void **state)
{
    struct fixture *f = *state;
    f->opt.value[OPTION_quiet] = 0;
    f->reporter->aggregations(&f->r);
    assert_string_equal(buf_str(&f->data), "\n");
}

/* A record of which nothing was shown has no start; one that is cut off has no end. */
static void hidden_parts(void **state)
{
    struct fixture *f = *state;
    struct erltrace_record rec = {.epid = 1, .cpu = 2, .probe = &begin_probe.p};
    static const struct value v = I32(-7);
    struct event_data d = {.action = TRACE, .v = &v};
    f->opt.value[OPTION_quiet] = OPTION_UNSET;
    f->r.header = true;
    f->reporter->begin(&f->r, &rec);
    f->reporter->end(&f->r, &rec, false);
    assert_int_equal(f->data.len, 0);
    f->reporter->begin(&f->r, &rec);
    f->reporter->action(&f->r, &rec, &d);
    f->reporter->end(&f->r, &rec, false);
    assert_string_equal(buf_str(&f->data),
                        "  2      1                           :BEGIN          -7");
}

static void faults(void **state)
{
    (void)state;
#define FAULT(on, a, o, c, v)                                                                      \
    .epid = on.epid, .probe = &on.p, .action = a, .offset = o, .code = c, .value = v
    const struct {
        struct erltrace_fault fault;
        const char *want;
    } row[] = {
        {{FAULT(begin_probe, 2, 12, RECORD_FAULT_DIVZERO, 0)},
         "1 (ID 1: dtrace:::BEGIN): divide-by-zero in action #2 at DIF offset 12"},
        {{FAULT(begin_probe, 0, 4, RECORD_FAULT_BADADDR, 0)},
         "1 (ID 1: dtrace:::BEGIN): invalid address (0x0) in predicate at DIF offset 4"},
        {{FAULT(entry_probe, 1, 8, RECORD_FAULT_BADADDR, UINT64_MAX)},
         "2 (ID 77: erlang9:lists:map/2:entry): invalid address in action #1 at DIF offset 8"},
        {{FAULT(begin_probe, 1, -1, RECORD_FAULT_BADSIZE, 0x1f)},
         "1 (ID 1: dtrace:::BEGIN): invalid size (0x1f) in action #1"},
        {{FAULT(begin_probe, 1, 0, RECORD_FAULT_BADINDEX, (uint64_t)-3)},
         "1 (ID 1: dtrace:::BEGIN): index out of bounds (-3) in action #1 at DIF offset 0"},
        {{FAULT(begin_probe, 1, 0, RECORD_FAULT_EVENTBUDGET, 262144)},
         "1 (ID 1: dtrace:::BEGIN): event exceeds its eventbudget (262144) in action #1 at DIF "
         "offset 0"},
        {{FAULT(begin_probe, 1, 0, 12345, 9)},
         "1 (ID 1: dtrace:::BEGIN): unknown fault in action #1 at DIF offset 0"},
        {{FAULT(begin_probe, 1, -1, RECORD_FAULT_LIBRARY, 0), .reason = "couldn't freopen() \"x\""},
         "1 (ID 1: dtrace:::BEGIN): couldn't freopen() \"x\""},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char want[256];
        struct buf out = BUF_INIT;
        struct erltrace_fault e = row[i].fault;
        if (e.reason == NULL)
            e.reason = report_fault_text(e.code);
        snprintf(want, sizeof want, "error on enabled probe ID %s", row[i].want);
        report_fault_message(&e, &out);
        assert_string_equal(buf_str(&out), want);
        buf_free(&out);
    }
}

static void drops(void **state)
{
    (void)state;
    static const struct {
        enum record_drop kind;
        uint64_t count;
        const char *node;
        int cpu;
        const char *want;
    } row[] = {
        {RECORD_DROP_PRINCIPAL, 1, "a@b", 0, "1 drop on CPU 0 of a@b"},
        {RECORD_DROP_PRINCIPAL, 5, "", 13, "5 drops on CPU 13"},
        {RECORD_DROP_AGGREGATION, 2, "a@b", 1, "2 aggregation drops on CPU 1 of a@b"},
        {RECORD_DROP_DYNAMIC, 1, "a@b", -1, "1 dynamic variable drop"},
        {RECORD_DROP_DBLERROR, 3, "", -1, "3 errors in ERROR probe enabling"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf out = BUF_INIT;
        report_drop_text(row[i].kind, row[i].count, row[i].cpu, row[i].node, &out);
        assert_string_equal(buf_str(&out), row[i].want);
        buf_free(&out);
    }
}

/* -- JSON -------------------------------------------------------------------------------------- */

/* The only line that was written. (test/d checks that such lines are JSON.) */
static void is_json(struct fixture *f, const char *want)
{
    assert_int_equal(f->data.data[f->data.len - 1], '\n');
    f->data.data[f->data.len - 1] = '\0';
    assert_string_equal(f->data.data, want);
    buf_reset(&f->data);
}

#define BEGIN_JSON                                                                                 \
    "\"probe\":{\"id\":1,\"provider\":\"dtrace\",\"module\":\"\",\"function\":\"\","               \
    "\"name\":\"BEGIN\"},\"node\":\"\""

static void json_records(void **state)
{
    struct fixture *f = *state;
    f->reporter = &report_json;
    record(f, &begin_probe, NULL, 0);
    is_json(f, "{\"type\":\"record\",\"epid\":1," BEGIN_JSON
               ",\"cpu\":2,\"timestamp\":1234,\"data\":[]}");
    add(f, 0, "k", 7);
    RECORD(f, &entry_probe, TRACE, PRINTF, PRINTA_FMT, CLEAR, EXIT);
    is_json(f, "{\"type\":\"record\",\"epid\":2,\"probe\":{\"id\":77,\"provider\":\"erlang9\","
               "\"module\":\"lists\",\"function\":\"map/2\",\"name\":\"entry\"},\"node\":\"a@b\","
               "\"cpu\":2,\"timestamp\":1234,\"data\":["
               "{\"action\":\"trace\",\"value\":-7},"
               "{\"action\":\"printf\",\"text\":\"text=3\\n\",\"values\":[\"text\",3]},"
               "{\"action\":\"printa\",\"text\":\"k:7:0;\",\"aggregations\":["
               "{\"name\":\"@\",\"function\":\"count\"},{\"name\":\"@b\",\"function\":\"sum\"}],"
               "\"rows\":[{\"keys\":[\"k\"],\"values\":[7,0]}]},"
               "{\"action\":\"clear\",\"aggregation\":\"@\"},"
               "{\"action\":\"exit\",\"status\":5}]}");
}

static void json_aggregations(void **state)
{
    struct fixture *f = *state;
    uint64_t words[DIF_QUANTIZE_BUCKETS] = {0};
    f->reporter = &report_json;
    add(f, 1, "x", (uint64_t)-2);
    f->reporter->aggregations(&f->r);
    is_json(f, "{\"type\":\"aggregation\",\"name\":\"@b\",\"function\":\"sum\",\"keys\":[\"x\"],"
               "\"value\":-2}");
    aggr_empty(&f->t.aggr[1]);
    words[dif_quantize_bucket(5)] = 3;
    words[0] = 1;
    assert_int_equal(aggr_merge(&f->t, 2, NULL, 0, words, DIF_QUANTIZE_BUCKETS), 0);
    f->reporter->aggregations(&f->r);
    is_json(f, "{\"type\":\"aggregation\",\"name\":\"@q\",\"function\":\"quantize\",\"keys\":[],"
               "\"buckets\":[{\"from\":-9223372036854775808,\"to\":-4611686018427387904,"
               "\"count\":1},{\"from\":4,\"to\":7,\"count\":3}]}");
}

static void json_faults_and_drops(void **state)
{
    struct fixture *f = *state;
    f->reporter = &report_json;
    f->reporter->fault(&f->r, &(struct erltrace_fault){FAULT(begin_probe, 0, 12, 4, 0), .cpu = 3,
                                                       .name = report_fault_name(4),
                                                       .reason = report_fault_text(4)});
    is_json(f, "{\"type\":\"error\",\"severity\":\"error\",\"tag\":\"DTRACEFLT_DIVZERO\","
               "\"text\":\"divide-by-zero\",\"epid\":1," BEGIN_JSON
               ",\"cpu\":3,\"action\":null,\"offset\":12,\"value\":0}");
    f->reporter->fault(&f->r, &(struct erltrace_fault){FAULT(begin_probe, 1, -1, 1, 16), .cpu = 3,
                                                       .name = report_fault_name(1),
                                                       .reason = report_fault_text(1)});
    is_json(f, "{\"type\":\"error\",\"severity\":\"error\",\"tag\":\"DTRACEFLT_BADADDR\","
               "\"text\":\"invalid address\",\"epid\":1," BEGIN_JSON
               ",\"cpu\":3,\"action\":1,\"offset\":null,\"value\":16}");
    f->reporter->drop(&f->r,
                      &(struct erltrace_drop){.kind = "AGGREGATION",
                                              .count = 3,
                                              .node = "a@b",
                                              .cpu = 2,
                                              .text = "3 aggregation drops on CPU 2 of a@b"});
    is_json(f, "{\"type\":\"drop\",\"kind\":\"aggregation\",\"count\":3,\"cpu\":2,\"node\":\"a@b\","
               "\"text\":\"3 aggregation drops on CPU 2 of a@b\"}");
}

/* print() of a struct, and of descriptions that make no sense: those show what they can, and
 * nothing outside the bytes is read. */
static void test_print(void **state)
{
    (void)state;
    static const char bytes[] = "\xfe\xff\xff\xff"
                                "ab\0\0"
                                "\x05\0\0\0";
    char *copy = malloc(12);
    memcpy(copy, bytes, 12);
    struct value v = {.kind = DIF_BYTES, .size = 12, .s = copy, .len = 12};
    struct buf out = BUF_INIT;
    static const char type[] =
        "s12,struct s;m0,0,0,i;d4,int;m4,0,0,n;a4,char [4];c1,char;m8,1,2,b;u4,unsigned;"
        "m8,0,0,e;e4,enum e;n1,A;n5,B;}}";
    print_object(0x1000, &v, type, SIZE_MAX, &out);
    assert_string_equal(buf_str(&out),
                        "0x1000 = *\n"
                        "                                            (struct s) {\n"
                        "                                             .i = (int)-2,\n"
                        "                                             .n = (char [4]) [\n"
                        "                                              (char)'a',\n"
                        "                                              (char)'b',\n"
                        "                                             ],\n"
                        "                                             .b = (unsigned)2,\n"
                        "                                             .e = (enum e)B,\n"
                        "                                            }\n");
    /* Not all of it: the rest is three dots, once. */
    buf_reset(&out);
    print_object(0x1000, &v, type, 5, &out);
    assert_string_equal(buf_str(&out),
                        "0x1000 = *\n"
                        "                                            (struct s) {\n"
                        "                                             .i = (int)-2,\n"
                        "                                             .n = (char [4]) [\n"
                        "                                              (char)'a',\n"
                        "                                              ...\n"
                        "                                             ],\n"
                        "                                            }\n");
    buf_reset(&out);
    print_object(0x1000, &v, type, 0, &out);
    assert_string_equal(buf_str(&out), "0x1000 = *\n"
                                       "                                            ...\n");
    static const char *const senseless[] = {"",
                                            "x",
                                            "s",
                                            "s9999999999,s;m99999999,0,0,x;d4,int;",
                                            "s12,s;m-4,0,0,x;d4,int;}",
                                            "a99999999,t;d4,int;",
                                            "a4,t;a4,t;a4,t;",
                                            "d9,int;",
                                            "d-1,int;",
                                            "m0,99,99,x;d4,int;",
                                            "s12,s;m0,77,99,x;d4,int;}",
                                            "e4,e;n1",
                                            "e4,e;n1,A",
                                            "a9999999999999,t;s0,s;}"};
    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++)
        print_object(0, &v, senseless[i], i, &out);
    assert_false(out.oom);
    buf_free(&out);
    free(copy);
}

/* The third argument of tracemem() shortens, when it is below the second. */
static void test_tracemem(void **state)
{
    (void)state;
    struct value v[2] = {{.kind = DIF_BYTES, .size = 4, .s = "abcd", .len = 4},
                         {.kind = DIF_INT, .size = 8}};
    static const struct {
        int64_t limit;
        size_t n;
    } row[] = {{-1, 4}, {0, 0}, {1, 1}, {3, 3}, {4, 4}, {5, 4}, {INT64_MAX, 4}, {INT64_MIN, 4}};
    assert_int_equal(field_tracemem_size(v, 1), 4);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        v[1].i = row[i].limit;
        assert_int_equal(field_tracemem_size(v, 2), row[i].n);
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_tracemem),
        cmocka_unit_test(traced_values),
        cmocka_unit_test(keys),
        cmocka_unit_test(keys_that_are_not_ascii),
        cmocka_unit_test(hex_dump),
        T(framing),
        T(quiet_framing),
        T(flow_indent),
        T(printed_aggregations),
        T(final_printout),
        T(nothing_aggregated),
        T(hidden_parts),
        T(faults),
        T(drops),
        T(json_records),
        T(json_aggregations),
        T(json_faults_and_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
