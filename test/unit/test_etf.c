/* test_etf.c - what the writer of terms writes is what the reader reads, at the edges of every
 * form. (The reader by itself, and what is no term, is tested in test_node.c.) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "etf/etf.h"
#include "etf/etf_print.h"
#include "etf/write.h"
#include "util/buftext.h"

static struct etf reader(const struct buf *b)
{
    struct etf r = etf_over(b->data, b->len);
    etf_version(&r);
    return r;
}

static void test_integers(void **state)
{
    static const int64_t edges[] = {
        0,         1,         255,
        256,       INT32_MAX, (int64_t)INT32_MAX + 1,
        -1,        INT32_MIN, (int64_t)INT32_MIN - 1,
        INT64_MAX, INT64_MIN, INT64_MIN + 1,
    };
    struct buf b = BUF_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        buf_reset(&b);
        etf_put_version(&b);
        etf_put_int(&b, edges[i]);
        etf_put_uint(&b, (uint64_t)edges[i]);
        struct etf r = reader(&b);
        assert_true(etf_int(&r) == edges[i]);
        assert_true(etf_uint(&r) == (uint64_t)edges[i]);
        assert_true(!r.bad && r.p == r.end);
    }
    buf_free(&b);
}

static void test_forms(void **state)
{
    struct buf b = BUF_INIT;
    char atom[ETF_ATOM_MAX];
    size_t n;
    (void)state;
    etf_put_version(&b);
    etf_put_tuple(&b, 300);
    for (int i = 0; i < 299; i++)
        etf_put_atom(&b, "a");
    etf_put_tuple(&b, 4);
    etf_put_text(&b, "d\xc3\xa9j\xc3\xa0");
    etf_put_binary(&b, "\0x", 2);
    size_t at = etf_list_begin(&b);
    etf_list_finish(&b, at, 0);
    at = etf_list_begin(&b);
    etf_put_atom(&b, "b");
    size_t inner = etf_list_begin(&b);
    etf_put_int(&b, 7);
    etf_list_finish(&b, inner, 1);
    etf_list_finish(&b, at, 2);
    struct etf r = reader(&b), whole = r;
    etf_skip(&whole);
    assert_true(!whole.bad && whole.p == whole.end);
    assert_int_equal(etf_tuple(&r), 300);
    for (int i = 0; i < 299; i++)
        assert_true(etf_atom_is(&r, "a"));
    assert_int_equal(etf_tuple(&r), 4);
    assert_memory_equal(etf_binary(&r, &n), "d\xc3\xa9j\xc3\xa0", 6);
    assert_int_equal(n, 6);
    assert_memory_equal(etf_binary(&r, &n), "\0x", 2);
    assert_int_equal(etf_list(&r), 0);
    assert_int_equal(etf_list(&r), 2);
    assert_int_equal(etf_atom(&r, atom), 1);
    assert_int_equal(etf_list(&r), 1);
    assert_true(etf_int(&r) == 7);
    etf_list_end(&r);
    etf_list_end(&r);
    assert_true(!r.bad && r.p == r.end);
    buf_free(&b);
}

/* Floats and maps the reader only passes over; libei reads them. */
/* Pids, strings, lists and long atoms are the bytes that libei writes. */
static void test_forms_of_libei(void **state)
{
    static const erlang_pid pid = {
        .node = "shop@h\xc3\xb6st", .num = 5, .serial = UINT32_MAX, .creation = 0x01020304};
    struct buf b = BUF_INIT;
    ei_x_buff x;
    char atom[401] = "";
    (void)state;
    for (int i = 0; i < 200; i++)
        memcpy(atom + 2 * i, "\xc3\xa9", 2);
    ei_x_new_with_version(&x);
    ei_x_encode_list_header(&x, 5);
    ei_x_encode_pid(&x, &pid);
    ei_x_encode_string(&x, "");
    ei_x_encode_string(&x, "cd\xff");
    ei_x_encode_atom_as(&x, atom, ERLANG_UTF8, ERLANG_UTF8);
    ei_x_encode_atom_as(&x, "\xc3\xa9", ERLANG_UTF8, ERLANG_UTF8);
    ei_x_encode_empty_list(&x);
    etf_put_version(&b);
    etf_put_list(&b, 5);
    etf_put_pid(&b, &pid);
    etf_put_string(&b, "");
    etf_put_string(&b, "cd\xff");
    etf_put_atom(&b, atom);
    etf_put_atom(&b, "\xc3\xa9");
    etf_put_list(&b, 0);
    etf_put_nil(&b);
    assert_int_equal(b.len, x.index);
    assert_memory_equal(b.data, x.buff, b.len);
    buf_free(&b);
    ei_x_free(&x);
}

static void test_floats_and_maps(void **state)
{
    struct buf b = BUF_INIT;
    int at = 0, version, n;
    double v;
    char atom[MAXATOMLEN_UTF8];
    (void)state;
    etf_put_version(&b);
    size_t map = etf_map_begin(&b);
    etf_put_real(&b, -0.1);
    etf_put_real(&b, NAN);
    etf_put_real(&b, INFINITY);
    etf_put_real(&b, -INFINITY);
    etf_map_finish(&b, map, 2);
    etf_put_map(&b, 0);
    assert_int_equal(ei_decode_version(b.data, &at, &version), 0);
    assert_int_equal(ei_decode_map_header(b.data, &at, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(ei_decode_double(b.data, &at, &v), 0);
    assert_true(v == -0.1);
    static const char *const names[] = {"nan", "infinity", "neg_infinity"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ei_decode_atom(b.data, &at, atom), 0);
        assert_string_equal(atom, names[i]);
    }
    assert_int_equal(ei_decode_map_header(b.data, &at, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(at, (int)b.len);
    buf_free(&b);
}

/* -- printing ---------------------------------------------------------------------------------- */

#define PRINTS(bytes, text) prints(bytes, sizeof(bytes) - 1, 4096, text)

static void prints(const char *bytes, size_t n, size_t limit, const char *expected)
{
    struct buf out = BUF_INIT;
    /* In memory of its own, so that a byte too many is seen. */
    void *copy = test_malloc(n);
    memcpy(copy, bytes, n);
    etf_print(&out, etf_over(copy, n), limit);
    assert_string_equal(buf_str(&out), expected);
    test_free(copy);
    buf_free(&out);
}

static void test_printed(void **state)
{
    (void)state;
    PRINTS("a\7", "7");
    PRINTS("b\377\377\377\377", "-1");
    PRINTS("n\10\0\377\377\377\377\377\377\377\377", "18446744073709551615");
    PRINTS("n\11\1\0\0\0\0\0\0\0\0\1", "-16#010000000000000000");
    PRINTS("F\77\370\0\0\0\0\0\0", "1.5");
    PRINTS("F\100\0\0\0\0\0\0\0", "2.0");
    PRINTS("w\2ok", "ok");
    PRINTS("w\3end", "'end'");
    PRINTS("w\6it's A", "'it\\'s A'");
    PRINTS("w\0", "''");
    PRINTS("h\0", "{}");
    PRINTS("h\2w\1aa\1", "{a,1}");
    PRINTS("j", "[]");
    PRINTS("l\0\0\0\2a\1a\2j", "[1,2]");
    PRINTS("l\0\0\0\2a\1a\2w\1t", "[1,2|t]");
    PRINTS("l\0\0\0\1l\0\0\0\1a\1jj", "[[1]]");
    PRINTS("l\0\0\0\1a\1l\0\0\0\1a\2j", "[1|[2]]");
    PRINTS("k\0\2hi", "\"hi\"");
    PRINTS("k\0\2\1\2", "[1,2]");
    PRINTS("m\0\0\0\3a\"b", "<<\"a\\\"b\">>");
    PRINTS("m\0\0\0\2\0\377", "<<0,255>>");
    PRINTS("m\0\0\0\0", "<<>>");
    PRINTS("M\0\0\0\2\3\1\200", "<<1,128:3>>");
    PRINTS("t\0\0\0\2w\1aa\1w\1bt\0\0\0\0", "#{a => 1,b => #{}}");
    PRINTS("Xw\3n@h\0\0\0\133\0\0\0\2\0\0\0\1", "<n@h.91.2>");
    PRINTS("Z\0\2w\3n@h\0\0\0\1\0\0\0\5\0\0\0\6", "#Ref<n@h.6.5>");
    PRINTS("Yw\3n@h\0\0\0\7\0\0\0\1", "#Port<n@h.7>");
    PRINTS("qw\1mw\1fa\2", "#Fun<>");
    /* Nothing reaches a terminal that could steer it. */
    PRINTS("w\4\33[2J", "'\\033[2J'");
    PRINTS("m\0\0\0\2a\n", "<<\"a\\n\">>");
}

static void test_printed_within_bounds(void **state)
{
    enum { MANY = 5000, LIMIT = 200 };
    struct buf in = BUF_INIT, out = BUF_INIT;
    (void)state;
    etf_put_tuple(&in, MANY);
    for (int i = 0; i < MANY; i++)
        etf_put_int(&in, i);
    etf_print(&out, etf_over(in.data, in.len), LIMIT);
    assert_true(out.len > LIMIT && out.len < LIMIT + 16);
    assert_string_equal(out.data + out.len - 3, "...");
    buf_reset(&in), buf_reset(&out);
    buf_fill(&in, 'x', MANY);
    struct buf term = BUF_INIT;
    etf_put_binary(&term, in.data, in.len);
    etf_print(&out, etf_over(term.data, term.len), LIMIT);
    assert_non_null(strstr(buf_str(&out), "xxx\"... 5000 bytes>>"));
    assert_true(out.len < 300);
    /* Deeper than the stack is: {{{...}}}. */
    buf_reset(&term), buf_reset(&out);
    for (int i = 0; i < MANY; i++)
        etf_put_tuple(&term, 1);
    etf_put_int(&term, 1);
    etf_print(&out, etf_over(term.data, term.len), LIMIT);
    assert_true(out.len < 100);
    assert_non_null(strstr(buf_str(&out), "{{...}}"));
    assert_null(strstr(buf_str(&out), "malformed"));
    buf_free(&in), buf_free(&out), buf_free(&term);
}

/* Each form cut short at each byte, and each of its bytes changed to anything. */
static void test_printed_without_trust(void **state)
{
    static const char whole[] =
        "h\12l\0\0\0\2a\1a\2w\1tt\0\0\0\1w\1aF\77\370\0\0\0\0\0\0Xw\1n\0\0\0\1\0\0\0\2\0\0\0\3"
        "Z\0\2w\1n\0\0\0\1\0\0\0\5\0\0\0\6k\0\2hio\0\0\0\2\0\1\2M\0\0\0\1\3\200Yw\1n\0\0\0\7"
        "\0\0\0\1qw\1mw\1fa\2m\0\0\0\3abc";
    enum { SIZE = sizeof whole - 1 };
    struct buf out = BUF_INIT;
    (void)state;
    etf_print(&out, etf_over(whole, SIZE), 4096);
    assert_null(strstr(buf_str(&out), "malformed"));
    for (size_t n = 0; n < SIZE; n++) {
        char *copy = test_malloc(n ? n : 1);
        memcpy(copy, whole, n);
        buf_reset(&out);
        etf_print(&out, etf_over(copy, n), 4096);
        assert_non_null(strstr(buf_str(&out), "<malformed>"));
        test_free(copy);
    }
    char *copy = test_malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        for (int v = 0; v < 256; v++) {
            memcpy(copy, whole, SIZE);
            copy[i] = (char)v;
            buf_reset(&out);
            etf_print(&out, etf_over(copy, SIZE), 4096);
            assert_true(out.len > 0 && out.len < 4096 + 600);
        }
    test_free(copy);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_forms_of_libei),
        cmocka_unit_test(test_floats_and_maps),
        cmocka_unit_test(test_printed),
        cmocka_unit_test(test_printed_within_bounds),
        cmocka_unit_test(test_printed_without_trust),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
