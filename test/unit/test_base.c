/* test_base.c - arena, buffer, numbers, JSON, reader, hash table, diagnostics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/number.h"
#include "arch/page.h"
#include "base/size.h"
#include "util/buftext.h"
#include "util/render.h"
#include "util/table.h"

/* Of each size of page that there is. */
static void whole_pages_inside_memory(void **state)
{
    (void)state;
    for (size_t page = 4 << 10; page <= 64 << 10; page *= 4) {
        const struct {
            uintptr_t at;
            size_t n, before, inside;
        } rows[] = {
            {page, 3 * page, 0, 3 * page},
            {page, 3 * page + 1, 0, 3 * page},
            {page, 3 * page - 1, 0, 2 * page},
            {page + 8, 3 * page, page - 8, 2 * page},
            {2 * page - 8, 3 * page, 8, 2 * page},
            {page + 8, page - 8, page - 8, 0},
            {page + 8, page - 16, page - 16, 0},
            {page + 8, 2 * page - 16, page - 8, 0},
            {page, page - 1, 0, 0},
            {page, 0, 0, 0},
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            size_t before;
            assert_int_equal(page_inside(rows[i].at, rows[i].n, page, &before), rows[i].inside);
            assert_int_equal(before, rows[i].before);
        }
    }
    assert_int_equal(page_size() % (4 << 10), 0);
}

static void arena_holds_what_it_gave(void **state)
{
    (void)state;
    struct arena a;
    char *p[500];
    arena_init(&a);
    for (int i = 0; i < 500; i++) {
        p[i] = arena_printf(&a, "number %d", i);
        assert_int_equal((uintptr_t)p[i] % 16, 0);
    }
    char *big = arena_alloc(&a, 3 << 20);
    for (size_t i = 0; i < 3 << 20; i++)
        assert_int_equal(big[i], 0);
    for (int i = 0; i < 500; i++) {
        char want[32];
        snprintf(want, sizeof want, "number %d", i);
        assert_string_equal(p[i], want);
    }
    arena_free(&a);
    assert_int_equal(a.total, 0);
}

static void allocation_failure_is_an_error(void **state)
{
    (void)state;
    struct arena a;
    struct buf b = BUF_INIT;
    struct hash h = HASH_INIT;
    arena_init(&a);
    et_alloc_fail_after(1);
    assert_null(arena_alloc(&a, 1));
    buf_adds(&b, "x");
    assert_true(b.oom);
    assert_string_equal(buf_str(&b), "");
    assert_int_equal(hash_puts(&h, "k", &a), ET_ENOMEM);
    et_alloc_fail_after(0);
    buf_reset(&b);
    buf_adds(&b, "x");
    assert_string_equal(buf_str(&b), "x");
    buf_free(&b);
    arena_free(&a);
}

/* Operands around every place where 64 or 32 bits end; what is right is computed in 128. */
static const uint64_t edges[] = {0,
                                 1,
                                 7,
                                 8,
                                 9,
                                 63,
                                 64,
                                 4096,
                                 (UINT64_C(1) << 31) - 1,
                                 UINT64_C(1) << 31,
                                 UINT32_MAX - UINT64_C(1),
                                 UINT32_MAX,
                                 UINT64_C(1) << 32,
                                 (UINT64_C(1) << 32) + 1,
                                 (UINT64_C(1) << 63) - 1,
                                 UINT64_C(1) << 63,
                                 UINT64_MAX - 8,
                                 UINT64_MAX - 7,
                                 UINT64_MAX - 6,
                                 UINT64_MAX - 1,
                                 UINT64_MAX};
enum { EDGES = sizeof edges / sizeof *edges };

static void sizes_do_not_wrap(void **state)
{
    __extension__ typedef unsigned __int128 u128;
    (void)state;
    for (size_t i = 0; i < EDGES; i++) {
        for (size_t j = 0; j < EDGES; j++) {
            const uint64_t a = edges[i], b = edges[j];
            const u128 sum = (u128)a + b, product = (u128)a * b;
            assert_true(size_add(a, b) == (sum > UINT64_MAX ? SIZE_HUGE : (uint64_t)sum));
            assert_true(size_mul(a, b) == (product > UINT64_MAX ? SIZE_HUGE : (uint64_t)product));
            assert_true(size_left(a, b) == (a < b ? 0 : a - b));
            assert_true(size_min(a, b) == (a < b ? a : b));
            for (size_t k = 0; k < EDGES; k++)
                assert_true(size_within(a, b, edges[k]) == (sum <= edges[k]));
        }
        for (unsigned to = 0; to < 13; to++) {
            const u128 step = (u128)1 << to, up = (edges[i] + step - 1) / step * step;
            assert_true(size_up(edges[i], (uint64_t)step) ==
                        (up > UINT64_MAX ? SIZE_HUGE : (uint64_t)up));
        }
        uint32_t narrow = 42;
        assert_true(size_fits(edges[i], &narrow) == (edges[i] <= UINT32_MAX));
        assert_true(narrow == (edges[i] <= UINT32_MAX ? edges[i] : 42));
    }
}

/* What does not fit is out of memory, and is not a small piece of it. */
static void huge_sizes_are_refused(void **state)
{
    (void)state;
    struct arena a;
    struct buf b = BUF_INIT;
    arena_init(&a);
    const size_t half = (SIZE_MAX >> 1) + 2;
    assert_null(et_malloc(SIZE_HUGE));
    assert_null(et_calloc(half, 2));
    assert_null(et_rearray(NULL, half, 2));
    for (size_t less = 0; less < 40; less++) {
        assert_null(arena_alloc(&a, SIZE_MAX - less));
        assert_null(arena_strndup(&a, "", SIZE_MAX - less));
    }
    assert_null(arena_array(&a, half, 2));
    assert_null(arena_array(&a, SIZE_MAX / 8 + 1, 8));
    assert_int_equal(a.total, 0);
    buf_adds(&b, "abc");
    for (size_t less = 0; less < 8; less++) {
        buf_fill(&b, 'x', SIZE_MAX - less);
        assert_true(b.oom);
        assert_int_equal(b.len, 3);
        b.oom = false;
    }
    buf_free(&b);
    arena_free(&a);
}

static void json_strings(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        size_t n;
        const char *out;
    } row[] = {
        {"plain", 5, "\"plain\""},
        {"a\"b\\c", 5, "\"a\\\"b\\\\c\""},
        {"\n\t\x01\x7f", 4, "\"\\n\\t\\u0001\\u007f\""},
        {"\xc3\xa9", 2, "\"\xc3\xa9\""},                  /* e acute */
        {"\xc3", 1, "\"\\ufffd\""},                       /* cut short */
        {"\xc0\x80", 2, "\"\\ufffd\\ufffd\""},            /* overlong */
        {"\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\""}, /* surrogate */
        {"a\0b", 3, "\"a\\u0000b\""},
        {"\xc2\x9b\xe2\x80\xae", 5, "\"\\u009b\\u202e\""}, /* what steers a terminal */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf b = BUF_INIT;
        buf_json(&b, row[i].in, row[i].n);
        assert_string_equal(buf_str(&b), row[i].out);
        buf_free(&b);
    }
}

static void visible_texts(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        size_t n;
        bool lines;
        const char *out;
    } row[] = {
        {"plain \\ text", 12, false, "plain \\ text"},
        {"\x1b[2J\x7f", 5, true, "\\033[2J\\177"},
        {"a\nb\tc\r", 6, true, "a\nb\tc\\r"},
        {"a\nb\tc\r", 6, false, "a\\nb\\tc\\r"},
        {"\a\b\f\v\x01", 5, true, "\\a\\b\\f\\v\\001"},
        {"a\0b", 3, false, "a\\0b"},
        {"\xc2\x80\xc2\x9f\xc2\xa0", 6, false, "\\u0080\\u009f\xc2\xa0"}, /* C1 and the next */
        {"\x9b", 1, false, "\\233"},                                      /* C1 without UTF-8 */
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x98", 9, false,
         "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x98"}, /* letters of two, three, four bytes */
        {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf", 12, false,
         "\xe2\x80\xa7\\u2028\\u202e\xe2\x80\xaf"},
        {"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", 12, false,
         "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa"},
        {"\xe2\x80", 2, false, "\\342\\200"}, /* cut short */
        {"\xc0\x9b", 2, false, "\\300\\233"}, /* overlong */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf b = BUF_INIT;
        buf_visible(&b, row[i].in, row[i].n, row[i].lines);
        assert_string_equal(buf_str(&b), row[i].out);
        buf_free(&b);
    }
}

/* Words of a node in a diagnostic: they make no line of their own, and steer nothing. */
static void diagnostic_is_visible(void **state)
{
    (void)state;
    struct diags d;
    struct buf b = BUF_INIT;
    diags_init(&d);
    diag_error(&d, 1, NULL, "T\x1bG", "\x1b[0m\nhint", "%s", "bad\nerltrace: fine\xc2\x9b");
    diag_render(&d, &d.list[0], &b);
    assert_string_equal(buf_str(&b), "erltrace: error: [T\\033G] bad\\nerltrace: fine\\u009b\n"
                                     "      hint: \\033[0m\\nhint\n");
    buf_free(&b);
    diags_free(&d);
}

/* Text of every length, onto buffers of every fill: formatted in place, or after growing. */
static void formatting_grows(void **state)
{
    (void)state;
    for (int n = 0; n < 300; n += 7) {
        struct buf b = BUF_INIT;
        for (int i = 0; i < 5; i++)
            buf_printf(&b, "%*s|", n, "x");
        assert_int_equal(b.len, (size_t)(n > 1 ? n : 1) * 5 + 5);
        assert_int_equal(strlen(buf_str(&b)), b.len);
        for (int i = 1; i <= 5; i++)
            assert_int_equal(b.data[(size_t)i * b.len / 5 - 1], '|');
        buf_free(&b);
    }
    struct buf b = BUF_INIT;
    buf_adds(&b, "kept");
    et_alloc_fail_after(1);
    buf_printf(&b, "%200s", "x");
    et_alloc_fail_after(0);
    assert_true(b.oom);
    assert_string_equal(buf_str(&b), "kept");
    buf_free(&b);
}

static void integers_read_back(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    buf_u8(&b, 0xfe);
    buf_u16(&b, 0x1234);
    buf_u32(&b, 0xdeadbeef);
    buf_u64(&b, 0x0123456789abcdef);
    assert_int_equal(b.len, 15);
    struct rdr r = {(const uint8_t *)b.data, (const uint8_t *)b.data + b.len, false};
    assert_int_equal(rdr_u8(&r), 0xfe);
    assert_int_equal(rdr_u16(&r), 0x1234);
    assert_int_equal(rdr_u32(&r), 0xdeadbeef);
    assert_true(rdr_u64(&r) == 0x0123456789abcdef);
    assert_false(r.bad);
    assert_int_equal(rdr_u8(&r), 0);
    assert_true(r.bad);
    buf_free(&b);
}

static void hash_table_finds_all(void **state)
{
    (void)state;
    enum { N = 5000 };
    static char key[N][16];
    struct hash h = HASH_INIT;
    for (int i = 0; i < N; i++) {
        snprintf(key[i], sizeof key[i], "key%d", i);
        assert_int_equal(hash_puts(&h, key[i], key[i]), 0);
    }
    assert_int_equal(h.count, N);
    for (int i = 0; i < N; i++)
        assert_ptr_equal(hash_gets(&h, key[i]), key[i]);
    assert_null(hash_gets(&h, "key5000"));
    assert_int_equal(hash_puts(&h, "key7", key[8]), 0);
    assert_ptr_equal(hash_gets(&h, "key7"), key[8]);
    assert_int_equal(h.count, N);
    hash_free(&h);
}

static void hash_of_every_length_differs(void **state)
{
    (void)state;
    unsigned char zeros[64] = {0};
    uint64_t seen[64];
    for (size_t n = 0; n < 64; n++) {
        seen[n] = hash_bytes(zeros, n);
        for (size_t i = 0; i < n; i++)
            assert_true(seen[i] != seen[n]);
    }
}

static void diagnostic_shows_line_and_caret(void **state)
{
    (void)state;
    const char *text = "BEGIN\n{\n\tsent[timestmp] = 1;\n}\n";
    struct diags d;
    struct buf b = BUF_INIT;
    diags_init(&d);
    diags_source(&d, "latency.d", text, strlen(text));
    struct diag_pos pos = {"latency.d", 3, 7, 8};
    assert_int_equal(diag_error(&d, ET_ECOMPILE, &pos, "D_IDENT_UNDEF", "did you mean 'timestamp'?",
                                "unknown identifier '%s'", "timestmp"),
                     ET_ECOMPILE);
    diag_render(&d, &d.list[0], &b);
    assert_string_equal(
        buf_str(&b),
        "erltrace: latency.d:3:7: error: [D_IDENT_UNDEF] unknown identifier 'timestmp'\n"
        "    3 | \tsent[timestmp] = 1;\n"
        "      | \t     ^~~~~~~~  did you mean 'timestamp'?\n");
    buf_reset(&b);
    diag_render_json(&d.list[0], &b);
    assert_string_equal(
        buf_str(&b),
        "{\"type\":\"error\",\"severity\":\"error\",\"tag\":\"D_IDENT_UNDEF\",\"file\":"
        "\"latency.d\",\"line\":3,\"column\":7,\"text\":\"unknown identifier 'timestmp'\","
        "\"hint\":\"did you mean 'timestamp'?\"}\n");
    buf_free(&b);
    diags_free(&d);
}

static void long_lines_show_a_window(void **state)
{
    (void)state;
    char text[1001];
    struct diags d;
    struct buf b = BUF_INIT;
    memset(text, 'a', 1000);
    text[1000] = '\n';
    text[500] = 'X';
    diags_init(&d);
    diags_source(&d, "f", text, sizeof text);
    struct diag_pos pos = {"f", 1, 501, 1};
    diag_add(&d, DIAG_ERROR, &pos, NULL, "here", "text");
    diag_render(&d, &d.list[0], &b);
    const char *line = strchr(buf_str(&b), '\n') + 1, *under = strchr(line, '\n') + 1;
    assert_memory_equal(line, "    1 | ...aaa", 14);
    assert_int_equal(under - line, 8 + 3 + 160 + 3 + 1);
    assert_int_equal(strchr(line, 'X') - line, strchr(under, '^') - under);
    buf_free(&b);
    diags_free(&d);
}

static void diagnostics_survive_odd_places(void **state)
{
    (void)state;
    static const struct diag_pos odd[] = {{"f", 1, 100, 5}, {"f", 9, 1, 1}, {"f", 2, 1, 3},
                                          {"f", 1, 0, 0},   {"g", 1, 1, 1}, {NULL, 1, 1, 1}};
    struct diags d;
    diags_init(&d);
    diags_source(&d, "f", "ab\n", 3);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct buf b = BUF_INIT;
        diag_add(&d, DIAG_WARNING, &odd[i], NULL, "a hint", "text");
        diag_render(&d, &d.list[i], &b);
        assert_non_null(strstr(buf_str(&b), "warning: text\n"));
        assert_non_null(strstr(buf_str(&b), "a hint"));
        buf_free(&b);
    }
    diags_free(&d);
}

static void only_ten_errors_are_kept(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    for (int i = 0; i < 25; i++)
        diag_error(&d, ET_ECOMPILE, NULL, "D_SYNTAX", NULL, "error %d", i);
    assert_int_equal(d.count, DIAG_MAX_ERRORS);
    assert_int_equal(d.errors, 25);
    diags_free(&d);
}

static void nearest_name(void **state)
{
    (void)state;
    static const char *const names[] = {"timestamp", "vtimestamp", "probefunc", "pid"};
    assert_string_equal(diag_nearest("timestmp", names, 4), "timestamp");
    assert_string_equal(diag_nearest("probefucn", names, 4), "probefunc");
    assert_string_equal(diag_nearest("pdi", names, 4), "pid");
    assert_null(diag_nearest("completely", names, 4));
    assert_null(diag_nearest("x", names, 0));
    /* names that are too long to compare: of the same length, and among others */
    static const char *const longer[] = {
        "a_very_long_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_8", "pid"};
    assert_null(diag_nearest(
        "a_very_long_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_9", longer, 2));
    assert_string_equal(diag_nearest("pdi", longer, 2), "pid");
}

/* What the system's files have, and what no number may be. */
static void numbers_of_the_system(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned base;
        uint64_t is;
        const char *rest;
    } good[] = {
        {"0", 10, 0, ""},
        {"42 7", 10, 42, " 7"},
        {" \t 42\n", 10, 42, "\n"},
        {"00c1f2", 16, 0xc1f2, ""},
        {"0x7ffe 0x1", 16, 0x7ffe, " 0x1"},
        {"0x10", 10, 0, "x10"},
        {"12abc", 10, 12, "abc"},
        {"18446744073709551615", 10, UINT64_MAX, ""},
        {"18446744073709551616!", 10, UINT64_MAX, "!"},
        {"99999999999999999999999", 10, UINT64_MAX, ""},
        {"ffffffffffffffff-", 16, UINT64_MAX, "-"},
        {"10000000000000000", 16, UINT64_MAX, ""},
    };
    static const char *const bad[] = {"", " ", "max", "-1", "+1", "\n1", "/", ":"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *at = good[i].text;
        uint64_t n = 0;
        assert_true(number_read(&at, good[i].base, &n));
        assert_true(n == good[i].is);
        assert_string_equal(at, good[i].rest);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        uint64_t n = 7;
        assert_false(number_read(&at, 10, &n));
        assert_true(n == 7 && at == bad[i]);
    }
}

static void words_of_a_line(void **state)
{
    (void)state;
    assert_string_equal(number_skip("  a b", 0), "a b");
    assert_string_equal(number_skip("cpu  1 2\t3", 2), "2\t3");
    assert_string_equal(number_skip("cpu  1 2\t3", 3), "3");
    assert_string_equal(number_skip("a b\nc", 3), "\nc");
    assert_string_equal(number_skip("a b", 9), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_holds_what_it_gave),
        cmocka_unit_test(allocation_failure_is_an_error),
        cmocka_unit_test(sizes_do_not_wrap),
        cmocka_unit_test(huge_sizes_are_refused),
        cmocka_unit_test(json_strings),
        cmocka_unit_test(visible_texts),
        cmocka_unit_test(diagnostic_is_visible),
        cmocka_unit_test(integers_read_back),
        cmocka_unit_test(formatting_grows),
        cmocka_unit_test(numbers_of_the_system),
        cmocka_unit_test(words_of_a_line),
        cmocka_unit_test(hash_table_finds_all),
        cmocka_unit_test(hash_of_every_length_differs),
        cmocka_unit_test(diagnostic_shows_line_and_caret),
        cmocka_unit_test(long_lines_show_a_window),
        cmocka_unit_test(whole_pages_inside_memory),
        cmocka_unit_test(diagnostics_survive_odd_places),
        cmocka_unit_test(only_ten_errors_are_kept),
        cmocka_unit_test(nearest_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
