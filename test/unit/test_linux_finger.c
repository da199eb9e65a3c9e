/* test_linux_finger.c - functions known by their code: of a file of this program's own making. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "linux/kfinger.h"
#include "linux/kinsn.h"

#ifdef __x86_64__

enum { TEXT = 0x5000, BYTES = 0x1000, FIRST = TEXT + 0x100, SECOND = TEXT + 0x830 };
enum { NAMED = TEXT + 0x400, OTHER = TEXT + 0x500, NAMELESS = TEXT + 0x642 };
/* Where what may be changed lies in the function. */
enum { DATA = 7, CALL = 12, SECOND_CALL = 17, NUMBER = 26, BACK = 32, SIZE = 42 };

static unsigned char text[BYTES];
static struct kfuncs names;

static void distance(uint64_t at, unsigned place, uint64_t to)
{
    const int32_t n = (int32_t)(to - (at + place + 4));
    memcpy(text + (at - TEXT) + place, &n, 4);
}

/* Puts the function at an address: it refers to data, and calls two functions. */
static void put(uint64_t at, uint64_t data, uint64_t calls, uint64_t second)
{
    static const unsigned char f[] = {0x55,                         /* push %rbp */
                                      0x48, 0x89, 0xfb,             /* mov %rdi,%rbx */
                                      0x48, 0x8d, 0x05, 0, 0, 0, 0, /* lea data(%rip),%rax */
                                      0xe8, 0,    0,    0, 0,       /* call */
                                      0xe8, 0,    0,    0, 0,       /* call */
                                      0x85, 0xc0,                   /* test %eax,%eax */
                                      0x74, 0x05,                   /* je over the next one */
                                      0xb8, 0x2a, 0,    0, 0,       /* mov $42,%eax */
                                      0x0f, 0x84, 0,    0, 0, 0,    /* je to the begin */
                                      0x48, 0x83, 0xc4, 8,          /* add $8,%rsp */
                                      0x5d, 0xc3};
    assert_int_equal(sizeof f, SIZE);
    memcpy(text + (at - TEXT), f, sizeof f);
    distance(at, DATA, data);
    distance(at, CALL, calls);
    distance(at, SECOND_CALL, second);
    distance(at, BACK, at);
}

static uint64_t hash(uint64_t at, uint64_t size)
{
    return kfinger_of(&(struct kfinger_code){text, sizeof text, TEXT, &names}, at, size);
}

static int begin(void **state)
{
    (void)state;
    memset(text, 0x90, sizeof text);
    kfuncs_add(&names, NAMED, 16, "named", 5, 0);
    kfuncs_add(&names, OTHER, 16, "other", 5, 0);
    kfuncs_sort(&names);
    put(FIRST, 0x9000, NAMED, NAMELESS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    kfuncs_free(&names);
    return 0;
}

static void test_same_elsewhere(void **state)
{
    (void)state;
    put(SECOND, 0x9990, NAMED, NAMELESS + 0x20);
    assert_int_not_equal(hash(FIRST, SIZE), 0);
    assert_int_equal(hash(FIRST, SIZE), hash(SECOND, SIZE));
}

static void test_others(void **state)
{
    (void)state;
    const uint64_t first = hash(FIRST, SIZE);
    put(SECOND, 0x9000, OTHER, NAMELESS); /* another function is called */
    assert_int_not_equal(hash(SECOND, SIZE), first);
    put(SECOND, 0x9000, NAMED + 1, NAMELESS); /* none begins there */
    assert_int_not_equal(hash(SECOND, SIZE), first);
    put(SECOND, 0x9000, NAMED, NAMED);
    assert_int_not_equal(hash(SECOND, SIZE), first);
    put(SECOND, 0x9000, NAMED, NAMELESS);
    assert_int_equal(hash(SECOND, SIZE), first);
    distance(SECOND, BACK, SECOND + 1); /* a jump within it goes elsewhere */
    assert_int_not_equal(hash(SECOND, SIZE), first);
    distance(SECOND, BACK, SECOND);
    text[SECOND - TEXT + NUMBER]++; /* a number */
    assert_int_not_equal(hash(SECOND, SIZE), first);
    put(SECOND, 0x9000, NAMED, NAMELESS);
    assert_int_not_equal(hash(SECOND, SIZE + 1), first); /* one instruction more, nop */
    for (unsigned i = 0; i < SIZE; i++) { /* each byte counts but those of the three distances */
        const bool counts =
            !(i >= DATA && i < DATA + 4) && !(i >= SECOND_CALL && i < SECOND_CALL + 4);
        text[SECOND - TEXT + i] ^= 1;
        if ((hash(SECOND, SIZE) == first) == counts)
            fail_msg("byte %u", i);
        text[SECOND - TEXT + i] ^= 1;
    }
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(hash(FIRST, SIZE - 3), 0); /* it ends within an instruction */
    assert_int_equal(hash(FIRST + 32, 10), 0);  /* too short to be told from others */
    assert_int_equal(hash(TEXT - 1, SIZE), 0);
    assert_int_equal(hash(TEXT + BYTES - SIZE + 1, SIZE), 0);
    assert_int_equal(hash(TEXT + BYTES, SIZE), 0);
    assert_int_equal(hash(UINT64_MAX, SIZE), 0);
    assert_int_equal(hash(FIRST, UINT64_MAX), 0);
    assert_int_not_equal(hash(TEXT + BYTES - 64, 64), 0);
    text[BYTES - 1] = 0x06; /* no instruction */
    assert_int_equal(hash(TEXT + BYTES - 64, 64), 0);
    text[BYTES - 1] = 0x90;
}

/* However many functions a file is said to have, each byte is looked at once. */
static void test_overlapping(void **state)
{
    (void)state;
    static struct kfinger_function f[BYTES];
    for (uint32_t i = 0; i < BYTES; i++)
        f[i] = (struct kfinger_function){TEXT + i, 1024, 0};
    const size_t looked =
        kfinger_find(&(struct kfinger_code){text, sizeof text, TEXT, &names}, f, BYTES);
    assert_true(looked >= 1024 && looked <= BYTES);
    for (uint32_t i = 0; i < BYTES; i++)
        assert_int_equal(f[i].row, KFINGER_NONE);
    f[0].size = UINT32_MAX; /* not in the file: it hides no other */
    assert_int_equal(kfinger_find(&(struct kfinger_code){text, sizeof text, TEXT, &names}, f, 2),
                     1024);
}

static void test_distance(void **state)
{
    (void)state;
    static const struct {
        unsigned char insn[12];
        size_t length, at;
        bool jumps;
    } row[] = {
        {{0xe8, 1, 2, 3, 4}, 5, 1, true},                     /* call */
        {{0xe9, 1, 2, 3, 4}, 5, 1, true},                     /* jmp */
        {{0x0f, 0x84, 1, 2, 3, 4}, 6, 2, true},               /* je */
        {{0x74, 1}, 2, 0, false},                             /* a short one */
        {{0x48, 0x8d, 0x05, 1, 2, 3, 4}, 7, 3, false},        /* lea 0(%rip) */
        {{0x48, 0x8d, 0x85, 1, 2, 3, 4}, 7, 0, false},        /* lea 0(%rbp) */
        {{0x48, 0x8b, 0x04, 0x25, 1, 2, 3, 4}, 8, 0, false},  /* mov 0x4030201 */
        {{0xc7, 0x05, 1, 2, 3, 4, 9, 9, 9, 9}, 10, 2, false}, /* movl $n,0(%rip) */
        {{0xff, 0x15, 1, 2, 3, 4}, 6, 2, false},              /* call *0(%rip) */
        {{0xc5, 0xfa, 0x10, 0x05, 1, 2, 3, 4}, 8, 4, false},  /* vmovss 0(%rip) */
        {{0x66, 0x0f, 0x6f, 0x05, 1, 2, 3, 4}, 8, 4, false},  /* movdqa 0(%rip) */
        {{0x48, 0x81, 0xfa, 1, 2, 3, 4}, 7, 0, false},        /* cmp $n,%rdx */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        size_t at;
        bool jumps;
        assert_int_equal(kinsn_distance(row[i].insn, sizeof row[i].insn, &at, &jumps),
                         row[i].length);
        if (at != row[i].at || jumps != row[i].jumps)
            fail_msg("instruction %zu: a distance at %zu", i, at);
        assert_int_equal(kinsn_distance(row[i].insn, row[i].length - 1, &at, &jumps), 0);
        assert_int_equal(at, 0);
    }
}

#endif

static void test_rows(void **state)
{
    (void)state;
    static const uint64_t hashes[] = {
#define ROW(hash, name) hash,
#include "linux/k_erts.list"
#undef ROW
    };
    assert_int_equal(kfinger_rows(), sizeof hashes / sizeof *hashes);
    for (int i = 0; i < kfinger_rows(); i++) {
        assert_true(i == 0 || hashes[i - 1] < hashes[i]);
        assert_true(kfinger_name(i)[0] != '\0');
        assert_int_equal(kfinger_row(hashes[i]), i);
        assert_int_not_equal(kfinger_row(hashes[i] + 1), i);
    }
    assert_int_equal(kfinger_row(0), KFINGER_NONE);
}

/* Names are for a file whose functions are mostly known, once each. */
static void test_settled(void **state)
{
    (void)state;
    static const struct {
        size_t known, alike, others;
        bool used;
    } row[] = {{10, 0, 0, true},  {10, 0, 10, true}, {10, 0, 11, false}, {10, 2, 8, true},
               {10, 4, 7, false}, {0, 4, 0, false},  {0, 0, 10, false},  {1, 0, 0, true}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct kfinger_function f[64];
        const size_t n = row[i].known + row[i].alike + row[i].others;
        for (size_t k = 0; k < n; k++)
            f[k].row = k < row[i].known                  ? (int)k
                       : k < row[i].known + row[i].alike ? kfinger_rows() - 1
                                                         : KFINGER_NONE;
        kfinger_settle(f, n, n);
        for (size_t k = 0; k < n; k++)
            if (f[k].row != (row[i].used && k < row[i].known ? (int)k : KFINGER_NONE))
                fail_msg("case %zu: function %zu has row %d", i, k, f[k].row);
    }
    kfinger_settle(NULL, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef __x86_64__
        cmocka_unit_test_setup_teardown(test_same_elsewhere, begin, end),
        cmocka_unit_test_setup_teardown(test_others, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_overlapping, begin, end),
        cmocka_unit_test(test_distance),
#endif
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_settled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
