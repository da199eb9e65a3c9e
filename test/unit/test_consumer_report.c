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
#include "result/field.h"
#include "result/json.h"
#include "result/report.h"
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
static const struct report_probe begin_probe = {1,  0,       1,           "dtrace", "",
                                                "", "BEGIN", PROBE_BEGIN, ""};
static const struct report_probe entry_probe = {
    2, 0, 77, "erlang9", "lists", "map/2", "entry", PROBE_FN_ENTRY, "a@b"};
static const struct report_probe again_probe = {
    3, 0, 77, "erlang9", "lists", "map/2", "entry", PROBE_FN_ENTRY, "a@b"};
static const struct report_probe return_probe = {
    4, 0, 78, "erlang9", "lists", "map/2", "return", PROBE_FN_RETURN, "a@b"};

struct fixture {
    struct arena arena;
    struct options opt;
    struct aggr_table t;
    struct pf format[NACTIONS];
    struct buf data, messages;
    struct report r;
};

static void to_data(void *arg, const char *s, size_t n)
{
    buf_add(&((struct fixture *)arg)->data, s, n);
}

static void to_messages(void *arg, const char *s, size_t n)
{
    buf_add(&((struct fixture *)arg)->messages, s, n);
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
    f.r = (struct report){.ops = &report_text,
                          .out = {to_data, to_messages, &f},
                          .opt = &f.opt,
                          .img = &img,
                          .aggr = &f.t,
                          .format = f.format};
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    aggr_table_free(&f->t);
    buf_free(&f->data);
    buf_free(&f->messages);
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

static void record(struct fixture *f, const struct report_probe *p, const uint32_t *action,
                   size_t n)
{
    static const struct value v[] = {I32(-7), STR("text"), I32(3), I32(5)};
    struct report_record rec = {p, 1234, 2};
    f->r.ops->begin(&f->r, &rec);
    for (size_t i = 0; i < n; i++)
        f->r.ops->action(&f->r, &rec, action[i], v + actions[action[i]].part);
    f->r.ops->end(&f->r, &rec);
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
    f->r.ops->aggregations(&f->r);
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
    f->r.ops->aggregations(&f->r);
    snprintf(want, sizeof want, "\n%s%.*s%.*s", histogram, (int)(sizeof sums / 2),
             sums + sizeof sums / 2, (int)(sizeof sums / 2), sums);
    assert_string_equal(buf_str(&f->data), want);
}

static void nothing_aggregated(void **state)
{
    struct fixture *f = *state;
    f->opt.value[OPTION_quiet] = 0;
    f->r.ops->aggregations(&f->r);
    assert_string_equal(buf_str(&f->data), "\n");
}

static void faults(void **state)
{
    struct fixture *f = *state;
    static const struct {
        struct report_fault fault;
        const char *want;
    } row[] = {
        {{&begin_probe, 2, 12, ENGINE_FAULT_DIVZERO, 0, 0},
         "1 (ID 1: dtrace:::BEGIN): divide-by-zero in action #2 at DIF offset 12\n"},
        {{&begin_probe, 0, 4, ENGINE_FAULT_BADADDR, 0, 0},
         "1 (ID 1: dtrace:::BEGIN): invalid address (0x0) in predicate at DIF offset 4\n"},
        {{&entry_probe, 1, 8, ENGINE_FAULT_BADADDR, UINT64_MAX, 0},
         "2 (ID 77: erlang9:lists:map/2:entry): invalid address in action #1 at DIF offset 8\n"},
        {{&begin_probe, 1, UINT32_MAX, ENGINE_FAULT_BADSIZE, 0x1f, 0},
         "1 (ID 1: dtrace:::BEGIN): invalid size (0x1f) in action #1\n"},
        {{&begin_probe, 1, 0, ENGINE_FAULT_BADINDEX, (uint64_t)-3, 0},
         "1 (ID 1: dtrace:::BEGIN): index out of bounds (-3) in action #1 at DIF offset 0\n"},
        {{&begin_probe, 1, 0, ENGINE_FAULT_EVENTBUDGET, 262144, 0},
         "1 (ID 1: dtrace:::BEGIN): event exceeds its eventbudget (262144) in action #1 at DIF "
         "offset 0\n"},
        {{&begin_probe, 1, 0, 12345, 9, 0},
         "1 (ID 1: dtrace:::BEGIN): unknown fault in action #1 at DIF offset 0\n"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char want[256];
        snprintf(want, sizeof want, "erltrace: error on enabled probe ID %s", row[i].want);
        buf_reset(&f->messages);
        f->r.ops->fault(&f->r, &row[i].fault);
        assert_string_equal(buf_str(&f->messages), want);
    }
}

static void drops(void **state)
{
    struct fixture *f = *state;
    static const struct report_drop row[] = {
        {ENGINE_DROP_PRINCIPAL, 1, "a@b", 1, 0}, {ENGINE_DROP_PRINCIPAL, 5, "", 6, 13},
        {ENGINE_DROP_AGG, 2, "a@b", 2, 1},       {ENGINE_DROP_DYNAMIC, 1, "a@b", 1, -1},
        {ENGINE_DROP_DBLERROR, 3, "", 3, -1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        f->r.ops->drop(&f->r, &row[i]);
    f->opt.value[OPTION_droptags] = 0;
    f->r.ops->drop(&f->r, &row[2]);
    assert_string_equal(buf_str(&f->messages),
                        "erltrace: 1 drop on CPU 0 of a@b\n"
                        "erltrace: 5 drops on CPU 13\n"
                        "erltrace: 2 aggregation drops on CPU 1 of a@b\n"
                        "erltrace: 1 dynamic variable drop\n"
                        "erltrace: 3 errors in ERROR probe enabling\n"
                        "erltrace: [DTRACEDROP_AGGREGATION] 2 aggregation drops on CPU 1 of a@b\n");
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
    f->r.ops = &report_json;
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
    assert_int_equal(f->messages.len, 0);
}

static void json_aggregations(void **state)
{
    struct fixture *f = *state;
    uint64_t words[DIF_QUANTIZE_BUCKETS] = {0};
    f->r.ops = &report_json;
    add(f, 1, "x", (uint64_t)-2);
    f->r.ops->aggregations(&f->r);
    is_json(f, "{\"type\":\"aggregation\",\"name\":\"@b\",\"function\":\"sum\",\"keys\":[\"x\"],"
               "\"value\":-2}");
    aggr_empty(&f->t.aggr[1]);
    words[dif_quantize_bucket(5)] = 3;
    words[0] = 1;
    assert_int_equal(aggr_merge(&f->t, 2, NULL, 0, words, DIF_QUANTIZE_BUCKETS), 0);
    f->r.ops->aggregations(&f->r);
    is_json(f, "{\"type\":\"aggregation\",\"name\":\"@q\",\"function\":\"quantize\",\"keys\":[],"
               "\"buckets\":[{\"from\":-9223372036854775808,\"to\":-4611686018427387904,"
               "\"count\":1},{\"from\":4,\"to\":7,\"count\":3}]}");
}

static void json_faults_and_drops(void **state)
{
    struct fixture *f = *state;
    f->r.ops = &report_json;
    f->r.ops->fault(&f->r, &(struct report_fault){&begin_probe, 0, 12, 4, 0, 3});
    is_json(f, "{\"type\":\"error\",\"severity\":\"error\",\"tag\":\"DTRACEFLT_DIVZERO\","
               "\"text\":\"divide-by-zero\",\"epid\":1," BEGIN_JSON
               ",\"cpu\":3,\"action\":null,\"offset\":12,\"value\":0}");
    f->r.ops->fault(&f->r, &(struct report_fault){&begin_probe, 1, UINT32_MAX, 1, 16, 3});
    is_json(f, "{\"type\":\"error\",\"severity\":\"error\",\"tag\":\"DTRACEFLT_BADADDR\","
               "\"text\":\"invalid address\",\"epid\":1," BEGIN_JSON
               ",\"cpu\":3,\"action\":1,\"offset\":null,\"value\":16}");
    f->r.ops->drop(&f->r, &(struct report_drop){ENGINE_DROP_AGG, 3, "a@b", 3, 2});
    is_json(f, "{\"type\":\"drop\",\"kind\":\"aggregation\",\"count\":3,\"cpu\":2,\"node\":\"a@b\","
               "\"text\":\"3 aggregation drops on CPU 2 of a@b\"}");
    assert_int_equal(f->messages.len, 0);
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
        T(faults),
        T(drops),
        T(json_records),
        T(json_aggregations),
        T(json_faults_and_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
