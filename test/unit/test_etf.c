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
#include "etf/write.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_floats_and_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
