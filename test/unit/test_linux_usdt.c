/* test_linux_usdt.c - notes of probes that programs define, also of files that lie, and the places
 * of their arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "kvalue_run.h"
#include "linux/kregs.h"
#include "linux/kusdt.h"

/* -- notes --------------------------------------------------------------------------------- */

static void put_note(struct buf *b, const char *owner, uint32_t type, uint64_t at, uint64_t base,
                     uint64_t semaphore, const char *texts, size_t ntexts)
{
    const uint64_t words[] = {at, base, semaphore};
    const uint32_t name = (uint32_t)strlen(owner) + 1,
                   head[] = {name, (uint32_t)(sizeof words + ntexts), type};
    buf_add(b, head, sizeof head);
    buf_add(b, owner, name);
    while (b->len % 4 != 0)
        buf_u8(b, 0);
    buf_add(b, words, sizeof words);
    buf_add(b, texts, ntexts);
    while (b->len % 4 != 0)
        buf_u8(b, 0);
}

#define TEXTS(t) t, sizeof(t)

struct found {
    unsigned n;
    struct kusdt_note last;
};

static void count(void *arg, const struct kusdt_note *note)
{
    struct found *f = arg;
    f->n++;
    f->last = *note;
}

static struct found read_all(const void *bytes, size_t n, uint64_t base)
{
    /* At the end of memory of its own, so that a sanitizer sees what is read beyond. */
    unsigned char *copy = malloc(n + 1);
    struct found f = {0};
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    copy = realloc(copy, n > 0 ? n : 1);
    kusdt_read(copy, n, base, count, &f);
    f.last = f.n > 0 ? f.last : (struct kusdt_note){0};
    free(copy);
    return f;
}

static void test_notes(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    put_note(&b, "GNU", 3, 1, 2, 3, TEXTS("a\0b\0"));
    put_note(&b, "stapsdt", 3, 0x1000, 0x2000, 0x3000, TEXTS("shop\0sold__out\0-4@%edi"));
    struct found f = {0};
    kusdt_read((const unsigned char *)b.data, b.len, 0x2000, count, &f);
    assert_int_equal(f.n, 1);
    assert_string_equal(f.last.prov, "shop");
    assert_string_equal(f.last.name, "sold__out");
    assert_string_equal(f.last.args, "-4@%edi");
    assert_int_equal(f.last.at, 0x1000);
    assert_int_equal(f.last.semaphore, 0x3000);
    /* The file was moved after it was linked. */
    kusdt_read((const unsigned char *)b.data, b.len, 0x2500, count, &f);
    assert_int_equal(f.last.at, 0x1500);
    assert_int_equal(f.last.semaphore, 0x3500);
    buf_free(&b);
}

static void test_notes_of_other_kinds(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    put_note(&b, "stapsdt", 4, 1, 0, 0, TEXTS("a\0b\0")); /* another type */
    put_note(&b, "stapsdX", 3, 1, 0, 0, TEXTS("a\0b\0")); /* another owner */
    put_note(&b, "stapsdt", 3, 1, 0, 0, "a\0b\0c", 5);    /* the last text does not end */
    put_note(&b, "stapsdt", 3, 1, 0, 0, "a", 1);          /* nor do these begin */
    put_note(&b, "stapsdt", 3, 1, 0, 0, TEXTS("\0b\0"));  /* no provider */
    put_note(&b, "stapsdt", 3, 1, 0, 0, TEXTS("a\0\0"));  /* no name */
    assert_int_equal(read_all(b.data, b.len, 0).n, 0);
    put_note(&b, "stapsdt", 3, 1, 0, 0, TEXTS("a\0b\0"));
    assert_int_equal(read_all(b.data, b.len, 0).n, 1);
    buf_free(&b);
}

static void test_notes_that_are_cut(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    put_note(&b, "stapsdt", 3, 1, 0, 0, TEXTS("shop\0sale\08@%rax"));
    const size_t whole = b.len, padding = 3;
    put_note(&b, "stapsdt", 3, 1, 0, 0, TEXTS("shop\0sale\08@%rax"));
    for (size_t n = 0; n <= b.len; n++)
        assert_int_equal(read_all(b.data, n, 0).n,
                         (n >= whole - padding) + (n >= 2 * whole - padding));
    buf_free(&b);
}

static void test_notes_with_sizes_that_lie(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 7, 8, 9, 100, 0x7fffffff, 0xfffffff0, 0xffffffff};
    struct buf b = BUF_INIT;
    put_note(&b, "stapsdt", 3, 1, 0, 0, TEXTS("shop\0sale\0"));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t member = 0; member < 2; member++) {
            char *copy = malloc(b.len);
            assert_non_null(copy);
            memcpy(copy, b.data, b.len);
            memcpy(copy + member * 4, &sizes[i], 4);
            struct found f = read_all(copy, b.len, 0);
            assert_int_equal(f.n, member == 0 && sizes[i] == 8);
            free(copy);
        }
    buf_free(&b);
}

/* -- arguments ----------------------------------------------------------------------------- */

static int64_t words[] = {11, -22, 33, 0x1122334455667788};

static struct event here(void)
{
    struct event e = {.cookie = 0};
    for (unsigned i = 0; i < 32; i++)
        e.arg[i] = 0xf0f1f2f3f4f5f600 + i;
    return e;
}

static void set(struct event *e, const char *name, uint64_t v)
{
    struct kreg r;
    assert_true(kregs_find(name, strlen(name), &r));
    e->arg[r.place] = v;
}

/* What the arguments of a text are, with their types. */
static void expect(const char *text, const struct event *e, size_t n, const char *const *type,
                   const int64_t *value)
{
    struct arena mem;
    struct kusdt_arg arg[4];
    bool oom = false;
    arena_init(&mem);
    assert_int_equal(kusdt_args(text, arg, 4, &mem, &oom), n);
    assert_false(oom);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(arg[i].type, type[i]);
        assert_int_equal(compute(&arg[i].value, e), value[i]);
    }
    arena_free(&mem);
}

#define EXPECT(text, e, type, ...)                                                                 \
    do {                                                                                           \
        const int64_t v_[] = {__VA_ARGS__};                                                        \
        const char *t_[] = {type, type, type, type};                                               \
        expect(text, e, sizeof v_ / sizeof *v_, t_, v_);                                           \
    } while (0)

static void test_arguments(void **state)
{
    (void)state;
    struct event e = here();
#ifdef __x86_64__
    set(&e, "rax", (uint64_t)(uintptr_t)&words[1]);
    set(&e, "rcx", 2);
    set(&e, "rdx", 0x11223344f5667788);
    EXPECT("8@%rdx", &e, "uint64_t", 0x11223344f5667788);
    EXPECT("-8@%rdx", &e, "int64_t", 0x11223344f5667788);
    EXPECT("4@%edx", &e, "uint32_t", 0xf5667788);
    EXPECT("-4@%edx", &e, "int32_t", (int32_t)0xf5667788);
    EXPECT("2@%dx", &e, "uint16_t", 0x7788);
    EXPECT("-1@%dl", &e, "int8_t", (int8_t)0x88);
    EXPECT("1@%dh", &e, "uint8_t", 0x77);
    EXPECT("8@$17 8@$-17 8@$0x1f", &e, "uint64_t", 17, -17, 31);
    EXPECT("-4@$-17", &e, "int32_t", -17);
    EXPECT("-8@(%rax)", &e, "int64_t", -22);
    EXPECT("-8@-8(%rax) -8@8(%rax)", &e, "int64_t", 11, 33);
    EXPECT("-8@-8(%rax,%rcx,8)", &e, "int64_t", 33);
    EXPECT("8@(%rax,%rcx,8)", &e, "uint64_t", 0x1122334455667788);
    EXPECT("-2@16(%rax)", &e, "int16_t", 0x7788);
    EXPECT("%rcx", &e, "uint64_t", 2);
    set(&e, "rcx", (uint64_t)(uintptr_t)&words[0] / 8);
    EXPECT("-8@8(,%rcx,8)", &e, "int64_t", -22);
#elif defined(__aarch64__)
    set(&e, "x0", (uint64_t)(uintptr_t)&words[1]);
    set(&e, "x1", 2);
    set(&e, "sp", (uint64_t)(uintptr_t)&words[0]);
    EXPECT("8@x1", &e, "uint64_t", 2);
    EXPECT("-4@w1", &e, "int32_t", 2);
    EXPECT("-8@17 -8@-17", &e, "int64_t", 17, -17);
    EXPECT("-8@[x0]", &e, "int64_t", -22);
    EXPECT("-8@[sp, 16] -8@[x0, -8]", &e, "int64_t", 33, 11);
    EXPECT("8@[x0, x1, lsl 3]", &e, "uint64_t", 0x1122334455667788);
#endif
}

/* What is not understood is 0, and what comes after it is found. */
static void test_arguments_that_are_not_known(void **state)
{
    (void)state;
    struct event e = here();
    EXPECT("", &e, "", );
#ifdef __x86_64__
    set(&e, "rcx", 2);
    static const char *const odd[] = {"8f@%xmm0",  "8@%xmm0",     "8@%",
                                      "8@",        "8@(",         "8@8(%rax",
                                      "8@x",       "8@$",         "8@12+x(%rip)",
                                      "8@(%rax,",  "8@(%rax,%y)", "8@(%rax,%rcx,3)",
                                      "8@()",      "@",           "(",
                                      "8@(%rax)x", "16@%rcx",     "8@(%rax,%rcx,"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char text[64];
        const bool open = strchr(odd[i], '(') != NULL && strchr(odd[i], ')') == NULL;
        snprintf(text, sizeof text, "%s 8@%%rcx", odd[i]);
        if (!open)
            EXPECT(text, &e, "uint64_t", 0, 2);
        EXPECT(odd[i], &e, "uint64_t", 0);
    }
    EXPECT("3@%rcx 8@%rcx 8@%rcx 8@%rcx 8@%rcx", &e, "uint64_t", 0, 2, 2, 2);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_notes_of_other_kinds),
        cmocka_unit_test(test_notes_that_are_cut),
        cmocka_unit_test(test_notes_with_sizes_that_lie),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_arguments_that_are_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
