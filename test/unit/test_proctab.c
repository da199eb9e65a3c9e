/* The table of processes: finding, claiming, sweeping, and claiming from many threads at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>

#include "base/arena.h"
#include "beam/probe/proctab.c"

static void claims_and_finds(void **state)
{
    (void)state;
    struct proctab *t = proctab_new(1 << 10, sizeof(uint64_t));
    assert_non_null(t);
    bool fresh;
    assert_null(proctab_find(t, 17));
    for (uint64_t pid = 1; pid <= 100; pid++) {
        uint64_t *p = proctab_claim(t, pid * 16 + 3, &fresh);
        assert_non_null(p);
        assert_true(fresh);
        *p = pid;
    }
    for (uint64_t pid = 1; pid <= 100; pid++) {
        uint64_t *p = proctab_claim(t, pid * 16 + 3, &fresh);
        assert_false(fresh);
        assert_int_equal(*p, pid);
        assert_ptr_equal(p, proctab_find(t, pid * 16 + 3));
    }
    proctab_free(t);
}

static void no_table_is_a_full_one(void **state)
{
    (void)state;
    bool fresh = true;
    assert_null(proctab_find(NULL, 3));
    assert_null(proctab_claim(NULL, 3, &fresh));
    assert_false(fresh);
    proctab_free(NULL);
}

static void full_window(void **state)
{
    (void)state;
    struct proctab *t = proctab_new(PROCTAB_WINDOW, 8);
    bool fresh;
    for (uint64_t pid = 1; pid <= PROCTAB_WINDOW; pid++)
        assert_non_null(proctab_claim(t, pid, &fresh));
    assert_null(proctab_claim(t, 99, &fresh));
    assert_non_null(proctab_find(t, 5));
    proctab_free(t);
}

static bool odd_live(void *arg, uint64_t pid)
{
    (void)arg;
    return pid & 1;
}

static void a_dead_one_goes_in_the_second_sweep(void **state)
{
    (void)state;
    struct proctab *t = proctab_new(1 << 8, 8);
    bool fresh;
    for (uint64_t pid = 1; pid <= 20; pid++)
        assert_non_null(proctab_claim(t, pid, &fresh));
    proctab_sweep(t, 0, 1, odd_live, NULL);
    for (uint64_t pid = 1; pid <= 20; pid++)
        assert_non_null(proctab_find(t, pid));
    proctab_sweep(t, 0, 1, odd_live, NULL);
    for (uint64_t pid = 1; pid <= 20; pid++)
        assert_true((proctab_find(t, pid) != NULL) == (pid & 1));
    assert_non_null(proctab_claim(t, 2, &fresh));
    assert_true(fresh);
    proctab_free(t);
}

/* The slot of a process that is dropped is free, also while a sweep has found it dead. */
static void what_is_dropped_is_free(void **state)
{
    (void)state;
    struct proctab *t = proctab_new(PROCTAB_WINDOW, 8);
    bool fresh;
    proctab_drop(NULL, 3);
    for (uint64_t pid = 1; pid <= PROCTAB_WINDOW; pid++)
        assert_non_null(proctab_claim(t, pid, &fresh));
    proctab_drop(t, 99);
    assert_null(proctab_claim(t, 99, &fresh));
    proctab_sweep(t, 0, 1, odd_live, NULL);
    proctab_drop(t, 6);
    assert_null(proctab_find(t, 6));
    assert_non_null(proctab_claim(t, 99, &fresh));
    assert_true(fresh);
    proctab_sweep(t, 0, 1, odd_live, NULL);
    for (uint64_t pid = 1; pid <= PROCTAB_WINDOW; pid++)
        assert_true((proctab_find(t, pid) != NULL) == (pid & 1));
    assert_non_null(proctab_find(t, 99));
    proctab_free(t);
}

static bool over_at_5(const void *record, uint64_t pid)
{
    (void)record;
    return pid == 5;
}

/* When its window is full, a process takes the slot of one that is over, and of no other. */
static void shared_slots_change_hands(void **state)
{
    (void)state;
    struct proctab *t = proctab_new(PROCTAB_WINDOW, 8);
    void *slot[PROCTAB_WINDOW + 1];
    assert_null(proctab_share(NULL, 3, over_at_5));
    for (uint64_t pid = 1; pid <= PROCTAB_WINDOW; pid++) {
        slot[pid] = proctab_share(t, pid, over_at_5);
        assert_non_null(slot[pid]);
        assert_ptr_equal(slot[pid], proctab_share(t, pid, over_at_5));
    }
    assert_ptr_equal(proctab_share(t, 99, over_at_5), slot[5]);
    assert_null(proctab_find(t, 5));
    assert_ptr_equal(proctab_find(t, 99), slot[5]);
    assert_null(proctab_share(t, 98, over_at_5));
    /* A slot that was swept is free. */
    proctab_sweep(t, 0, 1, odd_live, NULL);
    proctab_sweep(t, 0, 1, odd_live, NULL);
    assert_null(proctab_find(t, 4));
    assert_non_null(proctab_share(t, 98, over_at_5));
    proctab_free(t);
}

static void no_memory(void **state)
{
    (void)state;
    for (unsigned long n = 1; n <= 4; n++) {
        et_alloc_fail_after(n);
        assert_null(proctab_new(64, 8));
    }
    et_alloc_fail_after(0);
}

struct claimer {
    struct proctab *t;
    uint64_t first;
    unsigned got;
};

static void *claim_many(void *arg)
{
    struct claimer *c = arg;
    for (uint64_t i = 0; i < 5000; i++) {
        bool fresh;
        uint64_t *p = proctab_claim(c->t, c->first + i, &fresh);
        if (p) {
            *p = c->first + i;
            c->got += fresh;
        }
    }
    return NULL;
}

/* Every slot belongs to the one process that claimed it. */
static void claimed_by_threads(void **state)
{
    (void)state;
    struct proctab *t = proctab_new(1 << 15, sizeof(uint64_t));
    struct claimer c[4];
    pthread_t id[4];
    for (unsigned i = 0; i < 4; i++) {
        c[i] = (struct claimer){t, 1 + i * 100000u, 0};
        assert_int_equal(pthread_create(&id[i], NULL, claim_many, &c[i]), 0);
    }
    unsigned found = 0, got = 0;
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(id[i], NULL);
        got += c[i].got;
    }
    for (unsigned i = 0; i < 4; i++)
        for (uint64_t j = 0; j < 5000; j++) {
            const uint64_t *p = proctab_find(t, c[i].first + j);
            if (p) {
                assert_int_equal(*p, c[i].first + j);
                found++;
            }
        }
    assert_int_equal(found, got);
    assert_true(found > 19000);
    proctab_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_and_finds),
        cmocka_unit_test(no_table_is_a_full_one),
        cmocka_unit_test(full_window),
        cmocka_unit_test(a_dead_one_goes_in_the_second_sweep),
        cmocka_unit_test(what_is_dropped_is_free),
        cmocka_unit_test(shared_slots_change_hands),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(claimed_by_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
