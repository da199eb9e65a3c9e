/* The table of ports: what is known, what wins, what is asked for, closing, and many threads at
 * once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>

#include "base/arena.h"
#include "beam/probe/porttab.c"

enum { CAP = 1 << 10 };

static void what_is_set_is_found(void **state)
{
    (void)state;
    struct porttab *t = porttab_new(CAP);
    assert_non_null(t);
    for (uint64_t p = 1; p <= 100; p++)
        porttab_set(t, p << 4 | 7, p * 3, p * 5);
    for (uint64_t p = 1; p <= 100; p++) {
        assert_int_equal(porttab_name(t, p << 4 | 7), p * 3);
        assert_int_equal(porttab_owner(t, p << 4 | 7), p * 5);
    }
    assert_int_equal(porttab_name(t, 1000), 0);
    assert_int_equal(porttab_owner(t, 1000), 0);
    porttab_free(t);
}

static void events_win_over_answers(void **state)
{
    (void)state;
    struct porttab *t = porttab_new(CAP);
    porttab_set(t, 7, 11, 12);
    porttab_set(t, 7, 0, 13); /* another owner */
    porttab_add(t, 7, 91, 92);
    assert_int_equal(porttab_name(t, 7), 11);
    assert_int_equal(porttab_owner(t, 7), 13);
    porttab_forget_owners(t);
    assert_int_equal(porttab_owner(t, 7), 0);
    porttab_add(t, 7, 91, 92);
    assert_int_equal(porttab_name(t, 7), 11);
    assert_int_equal(porttab_owner(t, 7), 92);
    porttab_free(t);
}

static void note(void *arg, uint64_t port)
{
    *(uint64_t *)arg += port;
}

static void unknown_ones_are_told(void **state)
{
    (void)state;
    struct porttab *t = porttab_new(CAP);
    uint64_t sum = 0;
    porttab_set(t, 1, 5, 5);
    porttab_add(t, 10, 0, 0);
    porttab_add(t, 100, 5, 0);
    porttab_set(t, 1000, 0, 5);
    porttab_unknown(t, 0, 1, note, &sum);
    assert_int_equal(sum, 1110);
    porttab_free(t);
}

static bool odd(void *arg, uint64_t port)
{
    (void)arg;
    return port & 1;
}

static void closed_ones_go_at_the_second_sweep(void **state)
{
    (void)state;
    struct porttab *t = porttab_new(CAP);
    porttab_set(t, 7, 1, 1);
    porttab_set(t, 8, 2, 2);
    porttab_sweep(t, 0, 1, odd, NULL);
    assert_int_equal(porttab_name(t, 8), 2);
    porttab_sweep(t, 0, 1, odd, NULL);
    assert_int_equal(porttab_name(t, 8), 0);
    assert_int_equal(porttab_owner(t, 8), 0);
    assert_int_equal(porttab_name(t, 7), 1);
    porttab_free(t);
}

/* A freed slot says nothing of the port that had it. */
static void slots_are_used_again(void **state)
{
    (void)state;
    struct porttab *t = porttab_new(PORTTAB_WINDOW);
    for (uint64_t p = 2; p <= 2 * PORTTAB_WINDOW; p += 2)
        porttab_set(t, p, p, p);
    porttab_set(t, 1000, 1, 1); /* no room */
    assert_int_equal(porttab_name(t, 1000), 0);
    porttab_sweep(t, 0, 1, odd, NULL);
    porttab_sweep(t, 0, 1, odd, NULL);
    porttab_add(t, 1000, 0, 0);
    assert_int_equal(porttab_name(t, 1000), 0);
    porttab_set(t, 1000, 1, 2);
    assert_int_equal(porttab_name(t, 1000), 1);
    assert_int_equal(porttab_owner(t, 1000), 2);
    porttab_free(t);
}

static void no_table_knows_nothing(void **state)
{
    (void)state;
    uint64_t sum = 0;
    porttab_set(NULL, 7, 1, 1);
    porttab_add(NULL, 7, 1, 1);
    porttab_forget_owners(NULL);
    porttab_sweep(NULL, 0, 1, odd, NULL);
    porttab_unknown(NULL, 0, 1, note, &sum);
    assert_int_equal(porttab_name(NULL, 7) + porttab_owner(NULL, 7) + sum, 0);
    porttab_free(NULL);
}

/* A port that two claim at once gets one slot: what one writes the other reads. */
static void *both(void *arg)
{
    for (uint64_t p = 1; p <= 400; p++)
        porttab_add(arg, p << 4 | 7, p, p + 1);
    return NULL;
}

static void one_slot_a_port(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct porttab *t = porttab_new(CAP);
        pthread_t a, b;
        uint64_t n = 0;
        assert_int_equal(pthread_create(&a, NULL, both, t), 0);
        assert_int_equal(pthread_create(&b, NULL, both, t), 0);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        for (uint32_t i = 0; i < t->cap; i++)
            n += t->slot[i].port != 0;
        assert_int_equal(n, 400);
        porttab_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_set_is_found),
        cmocka_unit_test(events_win_over_answers),
        cmocka_unit_test(unknown_ones_are_told),
        cmocka_unit_test(closed_ones_go_at_the_second_sweep),
        cmocka_unit_test(slots_are_used_again),
        cmocka_unit_test(no_table_knows_nothing),
        cmocka_unit_test(one_slot_a_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
