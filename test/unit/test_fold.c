/* Lines that repeat: which are shown, which are counted, and when the counts are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "util/buftext.h"
#include "util/fold.h"

#define MS UINT64_C(1000000)

static struct buf said;

static void more(void *arg, const char *text, size_t len, uint64_t n)
{
    (void)arg;
    buf_printf(&said, "%.*s+%llu ", (int)len, text, (unsigned long long)n);
}

static void come(struct fold *f, const char *text, uint64_t at)
{
    if (fold_comes(f, text, strlen(text), at * MS, more, NULL))
        buf_printf(&said, "%s ", text);
}

static void expect(const char *text)
{
    assert_string_equal(buf_str(&said), text);
    buf_reset(&said);
}

static void test_repeats(void **state)
{
    (void)state;
    struct fold f = {0};
    for (uint64_t i = 0; i < 1000; i++)
        come(&f, "a", i);
    come(&f, "b", 500);
    expect("a b ");
    fold_tell(&f, 999 * MS, false, more, NULL);
    expect("");
    fold_tell(&f, 1000 * MS, false, more, NULL);
    expect("a+999 ");
    come(&f, "a", 1500);
    fold_tell(&f, 1600 * MS, false, more, NULL);
    expect("");
    come(&f, "a", 2100); /* a second after the last count, whoever asks */
    expect("a+2 ");
    come(&f, "a", 2200);
    come(&f, "b", 2200);
    expect("b+1 ");
    fold_tell(&f, 2300 * MS, true, more, NULL);
    expect("a+1 ");
    fold_tell(&f, 2300 * MS, true, more, NULL);
    expect("");
    fold_free(&f);
    buf_free(&said);
}

/* More lines than are known: none is lost, whatever is forgotten. */
static void test_many(void **state)
{
    (void)state;
    struct fold f = {0};
    char text[8];
    come(&f, "x", 0);
    come(&f, "x", 1);
    for (unsigned i = 0; i < FOLD_LINES; i++) {
        snprintf(text, sizeof text, "%u", i);
        come(&f, text, 2 + i);
    }
    expect("x 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 x+1 15 ");
    come(&f, "x", 100);
    expect("x ");
    fold_free(&f);
    buf_free(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
