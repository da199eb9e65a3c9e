/* test_only.c - which needs of a program a few processes are enough for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tier/only.h"

static const struct probe_pids one = {1, {"<0.91.0>"}}, two = {2, {"<0.92.0>", "<0.91.0>"}};

static uint32_t needs_of(const struct only *o, enum probe_kind kind)
{
    const struct probe_def *def =
        kind >= PROBE_FN_ENTRY ? probe_fn_def(kind) : probe_erlang_kind(kind);
    return only_needs(o) & def->needs;
}

static void test_needs(void **state)
{
    (void)state;
    struct only o;
    struct dif_image img;
    dif_image_init(&img);
    only_init(&o, &img);
    assert_int_equal(only_needs(&o), 0);
    only_add(&o, PROBE_MESSAGE_SEND, &one);
    only_add(&o, PROBE_FN_ENTRY, &two);
    only_add(&o, PROBE_TICK, NULL); /* needs nothing */
    assert_int_equal(only_needs(&o), PROBE_NEED_SEND | PROBE_NEED_CALL);
    assert_int_equal(o.need[0].n, 1);
    assert_string_equal(o.need[0].pid[0], "<0.91.0>");
    /* The union of all clauses of a need, each process once. */
    only_add(&o, PROBE_MESSAGE_SEND, &two);
    assert_int_equal(o.need[0].n, 2);
    assert_string_equal(o.need[0].pid[1], "<0.92.0>");
    assert_int_equal(needs_of(&o, PROBE_MESSAGE_SEND), PROBE_NEED_SEND);
    /* One that any process may run: no more restriction, whatever comes. */
    only_add(&o, PROBE_MESSAGE_SEND, NULL);
    only_add(&o, PROBE_MESSAGE_SEND, &one);
    assert_int_equal(only_needs(&o), PROBE_NEED_CALL);
    /* Another need is not concerned. */
    only_add(&o, PROBE_FN_RETURN, NULL);
    assert_int_equal(only_needs(&o), PROBE_NEED_CALL);
    dif_image_free(&img);
}

/* Programs that name processes learn from the births of all of them. */
static void test_names(void **state)
{
    (void)state;
    struct only o;
    struct dif_image img;
    dif_image_init(&img);
    img.builtins = dif_builtin_bit(DIF_BUILTIN_erlname);
    only_init(&o, &img);
    only_add(&o, PROBE_MESSAGE_SEND, &one);
    only_add(&o, PROBE_PROCESS_EXIT, &one);
    assert_int_equal(only_needs(&o), PROBE_NEED_SEND);
    dif_image_free(&img);
}

static void test_shared_flag(void **state)
{
    (void)state;
    struct only o;
    struct dif_image img;
    dif_image_init(&img);
    only_init(&o, &img);
    only_add(&o, PROBE_GC_MINOR_START, &one);
    assert_int_equal(only_needs(&o), PROBE_NEED_GC);
    only_add(&o, PROBE_GC_MAJOR_END, NULL); /* the same flag */
    assert_int_equal(only_needs(&o), 0);
    /* vtimestamp needs to see every process run. */
    img.builtins = dif_builtin_bit(DIF_BUILTIN_vtimestamp);
    only_init(&o, &img);
    only_add(&o, PROBE_PROCESS_SCHEDULED, &one);
    assert_int_equal(only_needs(&o), 0);
    dif_image_free(&img);
}

static void test_many(void **state)
{
    (void)state;
    static char text[ONLY_PIDS + 1][16];
    struct only o;
    struct dif_image img;
    dif_image_init(&img);
    only_init(&o, &img);
    for (int i = 0; i <= ONLY_PIDS; i++) {
        assert_int_equal(only_needs(&o), i > 0 ? PROBE_NEED_SEND : 0);
        snprintf(text[i], sizeof text[i], "<0.%d.0>", i);
        struct probe_pids p = {1, {text[i]}};
        only_add(&o, PROBE_MESSAGE_SEND, &p);
    }
    assert_int_equal(only_needs(&o), 0);
    dif_image_free(&img);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needs),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_shared_flag),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
