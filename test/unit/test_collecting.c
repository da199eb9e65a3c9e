/* test_collecting.c - the bit that is set while a process is collected, in made-up looks: which
 * words change amid a collection, and what is no proof. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "beam/probe/collecting.h"

enum {
    LOOKS = COLLECTING_LOOKS,
    WORDS = 90, /* of a process that are its own */
    STATE = 80, /* word of this VM whose upper half has the bit, and others that stay */
    BIT = 32 + 17,
    OTHER = 11,   /* of the lower half */
    CURRENT = 13, /* an address: another one amid whatever is called */
    HEAP = 30,    /* another one after each collection */
    FLAGS = 33    /* stays */
};
#define MARK (UINT64_C(1) << BIT)

static struct collecting_look looks[LOOKS];

static uint64_t *words_of(struct collecting_look *l, unsigned of)
{
    return of == 0 ? l->before : of == 1 ? l->amid : l->after;
}

/* Every second one is a control; every fourth collection has ended when it is looked at. */
static int begin(void **state)
{
    (void)state;
    memset(looks, 0, sizeof looks);
    for (unsigned i = 0; i < LOOKS; i++) {
        struct collecting_look *l = &looks[i];
        l->control = i % 2 != 0;
        for (unsigned k = 0; k < 3; k++) {
            uint64_t *w = words_of(l, k);
            w[0] = 0x1233;
            w[STATE] = UINT64_C(0x00000a0b00000001);
            w[CURRENT] = 0x7f0000001000 + (k == 1 ? 0x40 + 0x140 * l->control : 0);
            w[HEAP] = 0x7f0000100000 + (i + (k == 2 && !l->control)) * 0x10000;
            w[FLAGS] = 8;
        }
        if (!l->control && i % 8 != 0)
            l->amid[STATE] |= MARK;
    }
    return 0;
}

/* Returns the bits of STATE that are proven. */
static uint64_t proven_of(uint16_t words)
{
    const struct collecting_bits b = collecting_prove(looks, LOOKS, words);
    assert_true(b.mask == 0 || b.word == STATE);
    return b.mask;
}

static uint64_t proven(void)
{
    return proven_of(WORDS);
}

static void test_proven(void **state)
{
    (void)state;
    assert_int_equal(proven(), MARK);
}

/* What a control shows is no collection; nor is what was there before, or stays afterwards. */
static void test_not_proven(void **state)
{
    struct collecting_look *control = &looks[1], *collection = &looks[2];
    control->amid[STATE] |= MARK;
    assert_int_equal(proven(), 0);
    begin(state);
    control->before[STATE] |= MARK;
    control->amid[STATE] |= MARK;
    control->after[STATE] |= MARK;
    assert_int_equal(proven(), 0);
    begin(state);
    collection->after[STATE] |= MARK;
    assert_int_equal(proven(), 0);
}

/* Another bit of the same half changes in one look: the process was disturbed. */
static void test_disturbed(void **state)
{
    (void)state;
    looks[4].amid[STATE] ^= MARK << 1;
    assert_int_equal(proven(), 0);
}

/* Bits of two words could each be the one. */
static void test_two(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LOOKS; i++)
        looks[i].amid[FLAGS] |= (looks[i].amid[STATE] & MARK) != 0 ? 16 : 0;
    assert_int_equal(proven(), 0);
}

/* Two bits of one word do, if no look shows one of them alone. */
static void test_two_of_a_word(void **state)
{
    (void)state;
    const uint64_t both = MARK | UINT64_C(1) << OTHER;
    for (unsigned i = 0; i < LOOKS; i++)
        looks[i].amid[STATE] |= (looks[i].amid[STATE] & MARK) != 0 ? both : 0;
    assert_int_equal(proven(), both);
    looks[2].amid[STATE] &= ~MARK;
    assert_int_equal(proven(), 0);
}

static void test_few(void **state)
{
    for (unsigned i = 0, shown = 0; i < LOOKS; i++)
        if ((looks[i].amid[STATE] & MARK) != 0 && ++shown >= COLLECTING_LEAST)
            looks[i].amid[STATE] &= ~MARK;
    assert_int_equal(proven(), 0);
    begin(state);
    for (unsigned i = 0, controls = 0; i < LOOKS; i++)
        looks[i].control = looks[i].control && ++controls < COLLECTING_LEAST;
    assert_int_equal(proven(), 0);
}

/* The bit may lie behind what is the process's own. */
static void test_behind(void **state)
{
    (void)state;
    assert_int_equal(proven_of(STATE), 0);
    assert_int_equal(proven_of(STATE + 1), MARK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_proven, begin),
        cmocka_unit_test_setup(test_not_proven, begin),
        cmocka_unit_test_setup(test_disturbed, begin),
        cmocka_unit_test_setup(test_two, begin),
        cmocka_unit_test_setup(test_two_of_a_word, begin),
        cmocka_unit_test_setup(test_few, begin),
        cmocka_unit_test_setup(test_behind, begin),
    };
    return cmocka_run_group_tests_name("collecting", tests, NULL, NULL);
}
