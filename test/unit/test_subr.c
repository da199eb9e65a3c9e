/* test_subr.c - subroutines whose way of working is not the obvious one, against the obvious one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dif_build.h"
#include "engine/engine.h"
#include "engine/impl.h"
#include "engine_build.h"

enum { LENGTH = 40 };

/* The place of the first (step 1) or last (step -1) occurrence from `at` on, or -1. */
static int64_t find(const char *s, const char *t, int64_t at, int step)
{
    int64_t last = (int64_t)strlen(s) - (int64_t)strlen(t);
    if (step < 0 && at > last)
        at = last;
    for (; at >= 0 && at <= last; at += step)
        if (memcmp(s + at, t, strlen(t)) == 0)
            return at;
    return -1;
}

static uint32_t rnd(uint32_t n)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static void random_text(char *to, unsigned most)
{
    unsigned n = rnd(most + 1), letters = 1 + rnd(3);
    for (unsigned i = 0; i < n; i++)
        to[i] = (char)('a' + rnd(letters));
    to[n] = '\0';
}

/* Texts of few letters, in which nearly everything matches. */
static void index_and_rindex(void **state)
{
    static struct build b;
    (void)state;
    build_init(&b);
    build_clause(&b);
    build_op(&b, dif_ai(DIF_OP_SETS, 0, build_str(&b, "")));
    build_op(&b, dif_abc(DIF_OP_PUSHTR, 0, 0, 0));
    build_op(&b, dif_abc(DIF_OP_PUSHTR, 0, 0, 0));
    build_op(&b, dif_ai(DIF_OP_CALL, 0, DIF_SUBR_rindex)); /* so that there is scratch for it */
    build_end(&b);
    struct engine_options opt = {.threads = 64, .bufsize = 4096, .aggsize = 4096};
    struct engine *e = engine_build(&b.img, opt);
    struct engine_thread *t = engine_thread_self();
    struct tstate *ts = engine_tstate(e, t->index);
    engine_thread_init(e, ts);
    for (int i = 0; i < 20000; i++) {
        char s[LENGTH + 1], p[LENGTH + 1];
        struct engine_ctx ctx = {.nranges = 0};
        struct exec x = {.e = e, .t = t, .ts = ts, .ctx = &ctx, .left = UINT64_MAX};
        random_text(s, LENGTH);
        random_text(p, rnd(2) ? 3 : LENGTH);
        int32_t at = (int32_t)rnd(LENGTH + 4) - 2;
        const uint64_t arg[3] = {(uint64_t)(uintptr_t)s, (uint64_t)(uintptr_t)p,
                                 (uint64_t)(int64_t)at};
        engine_ctx_range(&ctx, s, strlen(s) + 1);
        engine_ctx_range(&ctx, p, strlen(p) + 1);
        assert_int_equal(subr_call(&x, DIF_SUBR_index, arg, 3), find(s, p, at > 0 ? at : 0, 1));
        assert_int_equal(subr_call(&x, DIF_SUBR_rindex, arg, 3), find(s, p, at, -1));
        assert_int_equal(subr_call(&x, DIF_SUBR_rindex, arg, 2), find(s, p, LENGTH, -1));
        assert_false(x.faulted);
        assert_int_equal(x.scratch_used, 0);
    }
    engine_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(index_and_rindex)};
    return cmocka_run_group_tests_name("subr", tests, NULL, NULL);
}
