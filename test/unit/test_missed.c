/* Counts of calls by function: see beam/probe/missed.h. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "beam/probe/missed.c"

static void counts_are_by_function(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        missed_call(11, 22, 3);
    missed_call(11, 22, 2);
    missed_call(22, 11, 3);
    assert_int_equal(missed_take(11, 22, 3), 5);
    assert_int_equal(missed_take(11, 22, 3), 0);
    assert_int_equal(missed_take(11, 22, 2), 1);
    assert_int_equal(missed_take(22, 11, 3), 1);
    assert_int_equal(missed_take(1, 1, 1), 0);
}

/* More functions than there is room for: what found no place is counted all the same. */
static void nothing_is_lost(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= MANY; i++)
        missed_call(i * 64, i, (uint32_t)(i % 5));
    for (uint64_t i = 1; i <= MANY; i++)
        sum += missed_take(i * 64, i, (uint32_t)(i % 5));
    uint64_t rest = missed_beyond();
    assert_true(rest > 0);
    assert_int_equal(sum + rest, MANY);
    assert_int_equal(missed_beyond(), 0);
    /* and there is room again */
    for (uint64_t i = 1; i <= 1000; i++)
        missed_call(i, 7, 1);
    for (uint64_t i = 1; i <= 1000; i++)
        assert_int_equal(missed_take(i, 7, 1), 1);
}

/* Counts that are taken while calls come stay those of their own function, also where functions
 * give their places to each other. */
enum { ROUNDS = 300000, FUNCTIONS = 4 };
static uint64_t function[FUNCTIONS]; /* modules, all with the same first place */
static _Atomic int busy;

static void *calls(void *arg)
{
    const uint64_t *m = arg;
    for (int i = 0; i < ROUNDS; i++)
        missed_call(*m, 1, 1);
    atomic_fetch_sub(&busy, 1);
    return NULL;
}

static void taken_while_they_come(void **state)
{
    (void)state;
    pthread_t thread[FUNCTIONS];
    uint64_t taken[FUNCTIONS] = {0};
    uint32_t n = 0;
    for (uint64_t m = 1; n < FUNCTIONS; m++)
        if (place(key_of(m, 1, 1), 0) == place(key_of(1, 1, 1), 0))
            function[n++] = m;
    atomic_store(&busy, FUNCTIONS);
    missed_beyond();
    for (n = 0; n < FUNCTIONS; n++)
        assert_int_equal(pthread_create(&thread[n], NULL, calls, &function[n]), 0);
    while (atomic_load(&busy) > 0)
        for (n = 0; n < FUNCTIONS; n++)
            taken[n] += missed_take(function[n], 1, 1);
    uint64_t sum = 0;
    for (n = 0; n < FUNCTIONS; n++) {
        pthread_join(thread[n], NULL);
        taken[n] += missed_take(function[n], 1, 1);
        assert_true(taken[n] <= ROUNDS);
        sum += taken[n];
    }
    assert_int_equal(sum + missed_beyond(), (uint64_t)FUNCTIONS * ROUNDS);
}

static void a_full_place_is_followed_by_another(void **state)
{
    (void)state;
    missed_call(5, 5, 5);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (atomic_load(&slot[i]) != 0)
            atomic_fetch_or(&slot[i], CALLS);
    missed_call(5, 5, 5);
    assert_int_equal(missed_take(5, 5, 5), CALLS + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_by_function),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(taken_while_they_come),
        cmocka_unit_test(a_full_place_is_followed_by_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
