/* test_web_keys.c - the table of an aggregation's keys (c_src/web/keys.h): numbers, limits, and
 * keys that go and come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/buftext.h"
#include "web/keys.h"

struct fixture {
    struct keys keys;
    struct keys_room room;
    atomic_size_t shared;
    struct buf text;
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){.room = {0, &f.shared}};
    *state = &f;
    return keys_init(&f.keys, value_kind("quantize", 100)) ? 0 : -1;
}

/* Whatever has happened, what was taken is given back. */
static int tear_down(void **state)
{
    struct fixture *f = *state;
    keys_free(&f->keys, &f->room);
    buf_free(&f->text);
    return f->room.taken != 0 || atomic_load(&f->shared) != 0;
}

static struct key *get(struct fixture *f, unsigned n)
{
    buf_reset(&f->text);
    buf_printf(&f->text, ",\"key %u\"", n);
    return keys_get(&f->keys, &f->text, &f->room);
}

/* Takes a key away, as a trunc() of which pages have been told. */
static void remove_key(struct fixture *f, struct key *k)
{
    keys_bury(&f->keys, k);
    k->told = true;
    k->fresh = false;
}

static void keys_have_numbers(void **state)
{
    struct fixture *f = *state;
    bool seen[1000] = {false};
    unsigned n = 0;
    for (unsigned i = 0; i < 1000; i++) {
        struct key *k = get(f, i);
        assert_int_equal(k->number, i);
        assert_true(k->fresh);
    }
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(get(f, 999 - i)->number, 999 - i);
    for (struct key *k = keys_each(&f->keys, NULL); k != NULL; k = keys_each(&f->keys, k), n++) {
        assert_false(seen[k->number]);
        seen[k->number] = true;
    }
    assert_int_equal(n, 1000);
}

static void there_are_so_many_and_no_more(void **state)
{
    struct fixture *f = *state;
    struct key *first = get(f, 0);
    for (unsigned i = 1; i < KEYS_MOST; i++)
        assert_ptr_not_equal(get(f, i), f->keys.others);
    assert_ptr_equal(get(f, KEYS_MOST), f->keys.others);
    assert_ptr_equal(get(f, 0), first);
    remove_key(f, first);
    assert_int_equal(get(f, KEYS_MOST)->number, KEYS_MOST);
    assert_ptr_equal(get(f, 0), f->keys.others);
}

static void who_goes_first_is_forgotten_first(void **state)
{
    struct fixture *f = *state;
    struct key *k[4];
    for (unsigned i = 0; i < 4; i++)
        k[i] = get(f, i);
    remove_key(f, k[2]);
    remove_key(f, k[0]);
    remove_key(f, k[3]);
    keys_revive(&f->keys, get(f, 2));
    assert_int_equal(k[2]->number, 2);
    assert_true(k[2]->fresh);
    f->room.taken += KEYS_BYTES; /* there is room for nothing any more: the oldest two go */
    assert_ptr_equal(get(f, 7), f->keys.others);
    f->room.taken -= KEYS_BYTES;
    assert_null(f->keys.oldest);
    assert_null(f->keys.newest);
    assert_ptr_equal(get(f, 1), k[1]);
    assert_ptr_equal(get(f, 2), k[2]);
    assert_int_equal(get(f, 0)->number, 4);
    assert_int_equal(get(f, 3)->number, 5);
}

static void what_was_not_sent_yet_is_kept(void **state)
{
    struct fixture *f = *state;
    struct key *untold = get(f, 0);
    keys_bury(&f->keys, untold);
    f->room.taken += KEYS_BYTES;
    assert_ptr_equal(get(f, 1), f->keys.others);
    f->room.taken -= KEYS_BYTES;
    assert_ptr_equal(get(f, 0), untold);
}

static void traces_share_what_there_is(void **state)
{
    struct fixture *f = *state;
    struct key *known = get(f, 0);
    size_t taken = atomic_load(&f->shared);
    assert_int_equal(taken, f->room.taken);
    atomic_fetch_add(&f->shared, KEYS_SHARED);
    assert_ptr_equal(get(f, 1), f->keys.others);
    assert_ptr_equal(get(f, 0), known);
    assert_int_equal(atomic_load(&f->shared), KEYS_SHARED + taken);
    atomic_fetch_sub(&f->shared, KEYS_SHARED);
    assert_int_equal(get(f, 1)->number, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_have_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_are_so_many_and_no_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_goes_first_is_forgotten_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_not_sent_yet_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(traces_share_what_there_is, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
