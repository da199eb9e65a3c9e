/* test_records.c - the records that the bytes of a module define. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "etf/write.h"
#include "tier/vm_debug.h"

/* {record_field, 1, {atom, 1, Name}}, and {typed_record_field, That with a default, Type} */
static void put_field(struct buf *x, const char *name, bool typed)
{
    if (typed) {
        etf_put_tuple(x, 3);
        etf_put_atom(x, "typed_record_field");
    }
    etf_put_tuple(x, typed ? 4 : 3);
    etf_put_atom(x, "record_field");
    etf_put_int(x, 1);
    etf_put_tuple(x, 3);
    etf_put_atom(x, "atom");
    etf_put_int(x, 1);
    etf_put_atom(x, name);
    if (typed) {
        etf_put_tuple(x, 2);
        etf_put_atom(x, "default");
        etf_put_nil(x);
        etf_put_atom(x, "type");
    }
}

static void put_attribute(struct buf *x, const char *what, const char *name, size_t nfields)
{
    static const char *const fields[] = {"id", "price", "items"};
    etf_put_tuple(x, 4);
    etf_put_atom(x, "attribute");
    etf_put_int(x, 1);
    etf_put_atom(x, what);
    etf_put_tuple(x, 2);
    etf_put_atom(x, name);
    if (nfields > 0)
        etf_put_list(x, nfields);
    for (size_t i = 0; i < nfields; i++)
        put_field(x, fields[i], i == 1);
    etf_put_nil(x);
}

static void put_module(struct buf *x, const char *backend)
{
    etf_put_tuple(x, 3);
    etf_put_atom(x, "debug_info_v1");
    etf_put_atom(x, backend);
    etf_put_tuple(x, 2);
    etf_put_list(x, 5);
    put_attribute(x, "export", "other", 0);
    put_attribute(x, "record", "order", 3);
    etf_put_atom(x, "nonsense");
    put_attribute(x, "record", "empty", 0);
    put_attribute(x, "record", "money", 2);
    etf_put_nil(x);
    etf_put_nil(x);
}

static void of_a_module(void **state)
{
    (void)state;
    struct buf x = BUF_INIT;
    struct arena mem;
    struct tier_module m = {.module = "shop"};
    put_module(&x, "erl_abstract_code");
    arena_init(&mem);
    assert_true(debug_read(x.data, x.len, &mem, &m));
    assert_null(m.why);
    assert_false(m.cut);
    assert_int_equal(m.nrecords, 3);
    assert_string_equal(m.record[0].name, "order");
    assert_int_equal(m.record[0].nfields, 3);
    assert_string_equal(m.record[0].field[1], "price");
    assert_string_equal(m.record[0].field[2], "items");
    assert_string_equal(m.record[1].name, "empty");
    assert_int_equal(m.record[1].nfields, 0);
    assert_int_equal(m.record[2].nfields, 2);
    arena_free(&mem);
    buf_free(&x);
}

/* (The last two bytes end the lists of forms and of options.) Bytes that end anywhere, or of which
 * one is another, never give a record with fewer fields. */
static void of_damaged_bytes(void **state)
{
    static const size_t whole[] = {3, 0, 2};
    (void)state;
    struct buf x = BUF_INIT;
    put_module(&x, "erl_abstract_code");
    for (size_t n = 0; n < x.len; n++) {
        struct arena mem;
        struct tier_module m = {.module = "shop"};
        char *copy = malloc(n + 1); /* so that a reader beyond the end is noticed */
        memcpy(copy, x.data, n);
        arena_init(&mem);
        assert_true(debug_read(copy, n, &mem, &m));
        assert_true(m.why != NULL || m.cut || n + 2 >= x.len);
        for (size_t i = 0; i < m.nrecords; i++)
            assert_int_equal(m.record[i].nfields, whole[i]);
        arena_free(&mem);
        free(copy);
    }
    for (size_t n = 0; n < x.len; n++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct arena mem;
            struct tier_module m = {.module = "shop"};
            x.data[n] = (char)(x.data[n] ^ (1 << bit));
            arena_init(&mem);
            assert_true(debug_read(x.data, x.len, &mem, &m));
            assert_true(m.nrecords <= 5);
            arena_free(&mem);
            x.data[n] = (char)(x.data[n] ^ (1 << bit));
        }
    buf_free(&x);
}

static void of_others(void **state)
{
    (void)state;
    static const char *const backends[] = {"elixir_erl", "lists", "erl_abstract_cod"};
    for (size_t i = 0; i < 3; i++) {
        struct buf x = BUF_INIT;
        struct arena mem;
        struct tier_module m = {.module = "shop"};
        put_module(&x, backends[i]);
        arena_init(&mem);
        assert_true(debug_read(x.data, x.len, &mem, &m));
        assert_non_null(m.why);
        assert_int_equal(m.nrecords, 0);
        arena_free(&mem);
        buf_free(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_module),
        cmocka_unit_test(of_damaged_bytes),
        cmocka_unit_test(of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
