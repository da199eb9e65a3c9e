/* test_consumer_pf.c - printf conversions (language.md 8.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/err.h"
#include "result/pf.h"
#include "util/buftext.h"
#include "values.h"

static void prints(const char *format, const struct value *v, size_t n, const char *want)
{
    struct arena a;
    struct buf b = BUF_INIT;
    struct pf f;
    arena_init(&a);
    assert_int_equal(pf_parse(&a, format, &f), 0);
    pf_format(&f, v, n, NULL, &b);
    assert_string_equal(buf_str(&b), want);
    buf_free(&b);
    arena_free(&a);
}

static void conversions(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        struct value v[3];
        const char *want;
    } row[] = {
        {"plain", {{0}}, "plain"},
        {"100%%", {{0}}, "100%"},
        {"%%%d%%", {I32(5)}, "%5%"},
        {"%d", {I32(-1)}, "-1"},
        {"%i", {I64(-9)}, "-9"},
        {"%d", {U32(0xffffffffu)}, "4294967295"}, /* the type decides, not the letter */
        {"%d", {U64(UINT64_MAX)}, "18446744073709551615"},
        {"%u", {I32(-1)}, "4294967295"}, /* in the argument's own width */
        {"%u", {I8(-1)}, "255"},
        {"%x", {I32(-1)}, "ffffffff"},
        {"%x", {I64(-1)}, "ffffffffffffffff"},
        {"%X", {I32(0xbeef)}, "BEEF"},
        {"%#x", {I32(255)}, "0xff"},
        {"%#o", {I32(8)}, "010"},
        {"%o", {I8(-1)}, "377"},
        {"%p", {U64(0xdeadbeef)}, "deadbeef"},
        {"%?p", {U64(0xbeef)}, "            beef"},
        {"%5d|", {I32(42)}, "   42|"},
        {"%-5d|", {I32(42)}, "42   |"},
        {"%05d|", {I32(42)}, "00042|"},
        {"%-05d|", {I32(42)}, "00042|"}, /* 0 came later than - */
        {"%0-5d|", {I32(42)}, "42   |"},
        {"%+d %+d", {I32(3), I32(-3)}, "+3 -3"},
        {"% d", {I32(3)}, " 3"},
        {"%.3d", {I32(7)}, "007"},
        {"%5.3d|", {I32(7)}, "  007|"},
        {"%.0d", {I32(0)}, "0"}, /* a precision of 0 is ignored */
        {"%*d|", {I32(6), I32(42)}, "    42|"},
        {"%*d|", {I32(-6), I32(42)}, "42    |"},
        {"%.*s", {I32(2), STR("abc")}, "ab"},
        {"%hd %ld", {I32(1), I64(2)}, "1 2"},
        {"%lld", {I64(-5)}, "-5"},
        {"%c%c", {I32('o'), I32('k')}, "ok"},
        {"%3c|%-3c|", {I32('a'), I32('b')}, "  a|b  |"},
        {"%C", {I32('\n')}, "\\n"},
        {"%C", {I32(27)}, "\\033"},
        {"%C", {I32('a')}, "a"},
        {"%s", {STR("text")}, "text"},
        {"%s", {STR("")}, ""},
        {"%10s|", {STR("text")}, "      text|"},
        {"%-10s|", {STR("text")}, "text      |"},
        {"%.2s", {STR("text")}, "te"},
        {"%.0s", {STR("text")}, "text"},
        {"%6.2s|", {STR("text")}, "    te|"},
        {"%S", {STR("a\tb\x01")}, "a\\tb\\001"},
        {"%s-%s-%d", {STR("a"), STR("b"), I32(1)}, "a-b-1"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        prints(row[i].format, row[i].v, 3, row[i].want);
}

static void text_ends_at_its_nul(void **state)
{
    (void)state;
    struct value v = {.kind = DIF_STRING, .size = 256, .s = "ab\0cd", .len = 5};
    prints("[%s]", &v, 1, "[ab]");
}

static void times(void **state)
{
    (void)state;
    setenv("TZ", "PST8PDT", 1);
    tzset();
    struct value v = I64(1062609803000000000); /* 2003-09-03 17:23:23 UTC */
    prints("%Y", &v, 1, "2003 Sep  3 10:23:23");
    prints("%T", &v, 1, "Wed, 03 Sep 2003 10:23:23 PDT");
    struct value new_year = I64(1104566400000000000); /* 2005-01-01: ISO year 2004 */
    prints("%T", &new_year, 1, "Sat, 01 Jan 2004 00:00:00 PST");
    struct value before = I64(-1); /* one nanosecond before the epoch */
    setenv("TZ", "UTC", 1);
    tzset();
    prints("%Y", &before, 1, "1969 Dec 31 23:59:59");
}

static void put_sum(void *arg, unsigned nth, const struct pf_conv *c, struct buf *out)
{
    struct value v = I64(((const int64_t *)arg)[nth]);
    pf_integer(c, &v, out);
}

static void aggregation_conversions(void **state)
{
    (void)state;
    struct arena a;
    struct buf b = BUF_INIT;
    struct pf f;
    struct value key[] = {STR("k")};
    int64_t sums[] = {7, -8};
    arena_init(&a);
    assert_int_equal(pf_parse(&a, "%@5d %s %8@d|%-@4d|", &f), 0);
    sums[1] = -8;
    int64_t three[] = {7, -8, 9};
    pf_format(&f, key, 1, &(struct pf_env){.agg = put_sum, .arg = three}, &b);
    assert_string_equal(buf_str(&b), "    7 k       -8|9   |");
    buf_reset(&b);
    assert_int_equal(pf_parse(&a, "%@x %@d", &f), 0);
    pf_format(&f, key, 1, &(struct pf_env){.agg = put_sum, .arg = sums}, &b);
    assert_string_equal(buf_str(&b), "7 -8");
    buf_free(&b);
    arena_free(&a);
}

static void malformed_formats(void **state)
{
    (void)state;
    static const char *const bad[] = {"%",  "%z",   "%5", "%-",  "%5%", "%l",
                                      "%.", "%1$d", "a%", "%@s", "%@k"};
    struct arena a;
    struct pf f;
    arena_init(&a);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pf_parse(&a, bad[i], &f), ET_EINVAL);
    arena_free(&a);
}

/* More conversions than values, and widths beyond reason, are harmless. */
static void robustness(void **state)
{
    (void)state;
    struct arena a;
    struct buf b = BUF_INIT;
    struct pf f;
    prints("%d %s|", NULL, 0, "0 |");
    arena_init(&a);
    assert_int_equal(pf_parse(&a, "%99999999999d", &f), 0);
    struct value v = I64(1);
    pf_format(&f, &v, 1, NULL, &b);
    assert_int_equal(b.len, 1048576);
    buf_free(&b);
    arena_free(&a);
}

/* Whatever a format holds, it is parsed or refused, and what was parsed can be applied. */
static void random_formats(void **state)
{
    (void)state;
    static const char letters[] = "%%%%0-+ #'@*.?59dsxYTcCSpouihlLwa";
    static const struct value v[] = {STR("text"), I64(-3), STR(""), U32(7), I8(-1), STR("\xff\n")};
    uint64_t seed = 12345;
    unsigned parsed = 0;
    for (int i = 0; i < 20000; i++) {
        char format[9];
        struct arena a;
        struct pf f;
        size_t n = 0;
        for (; n < sizeof format - 1; n++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            format[n] = letters[(seed >> 33) % (sizeof letters - 1)];
        }
        format[n] = '\0';
        arena_init(&a);
        int rc = pf_parse(&a, format, &f);
        assert_true(rc == 0 || rc == ET_EINVAL);
        if (rc == 0) {
            struct buf b = BUF_INIT;
            int64_t sums[9] = {0};
            pf_format(&f, v, 6, &(struct pf_env){.agg = put_sum, .arg = sums}, &b);
            assert_false(b.oom);
            buf_free(&b);
            parsed++;
        }
        arena_free(&a);
    }
    assert_true(parsed > 1000); /* the test would be worth nothing otherwise */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions),
        cmocka_unit_test(text_ends_at_its_nul),
        cmocka_unit_test(times),
        cmocka_unit_test(aggregation_conversions),
        cmocka_unit_test(malformed_formats),
        cmocka_unit_test(robustness),
        cmocka_unit_test(random_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
