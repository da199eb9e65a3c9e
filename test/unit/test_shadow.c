/* Which function a return_to belongs to: see beam/shadow.h. Events are written as text, one letter
 * a function: "f<m"  f is entered, its frame returns into m        ">m"  execution goes back into m
 *   "!"    an exception left a traced function
 *   "f(m"  as f<m, but nobody wants f's return
 *   "f*"   f is entered and nobody says from where
 * and the expected result is the functions that returned, '.' for a return_to that fires nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "beam/shadow.c"

static struct shadow_fn fn(char c)
{
    return (struct shadow_fn){.m = 1, .f = (uint64_t)c, .a = 1};
}

static void play(struct shadow *s, const char *events, const char *expected)
{
    char got[256];
    size_t n = 0;
    for (const char *p = events; *p;) {
        struct shadow_fn a, b;
        if (*p == ' ') {
            p++;
        } else if (*p == '!') {
            shadow_unwind(s);
            p++;
        } else if (*p == '>') {
            b = fn(p[1]);
            got[n++] = shadow_return(s, &b, &a) ? (char)a.f : '.';
            p += 2;
        } else if (p[1] == '*') {
            a = fn(p[0]);
            shadow_call_plain(s, &a);
            p += 2;
        } else {
            a = fn(p[0]);
            b = fn(p[2]);
            shadow_call(s, &a, &b, p[1] == '<');
            p += 3;
        }
    }
    got[n] = 0;
    assert_string_equal(got, expected);
}

static void tables(void **state)
{
    (void)state;
    static const struct {
        const char *what, *events, *expected;
    } t[] = {
        {"one call", "f<m >m", "f"},
        {"one after another", "f<m >m g<m >m f<m >m", "fgf"},
        {"nested", "f<m g<f h<g >g >f >m", "hgf"},
        {"a tail call: the last function of the chain", "f<m g<m >m", "g"},
        {"a chain of tail calls returns once", "f<m g<m h<m f<m >m", "f"},
        {"a tail call inside a nested call", "f<m g<f h<f >f >m", "hf"},
        {"body recursion", "f<m f<f f<f f<f >f >f >f >m", "ffff"},
        {"body recursion of two", "e<m o<e e<o o<e >e >o >e >m", "oeoe"},
        {"body recursion that calls others", "f<m f<f g<f >f >f g<f >f >m", "gfgf"},
        {"a tail loop in a body call of itself", "f<m f<f f<f f<f >f >m", "ff"},
        {"a mutual tail loop with a caller of the same name", "f<m f<f g<f f<f g<f >f >m", "gf"},
        {"tail call to a function that was not traced and calls a traced one", "f<m g<u >u >m",
         "gf"},
        {"exception caught two levels up", "f<m g<f h<g >f >m", ".f"},
        {"exception caught by the direct caller counts as a return", "f<m g<f >f >m", "gf"},
        {"the same with an exception event", "f<m g<f !>f >m", ".f"},
        {"exception past everything, caught below", "f<m g<f h<g >m", "."},
        {"the next call after it starts anew", "f<m g<f h<g >m f<m >m", ".f"},
        {"an exception event that no return_to follows", "f<m ! g<f >f >m", "gf"},
        {"the first event is a return_to", ">m f<m >m", ".f"},
        {"plain calls", "f* >m f* >m f* f* >f >m >m", "ffff."},
        {"plain, then others too", "f* g<f h<g >g >f >m", "hgf"},
        {"others, then plain", "g<m f* >g >m", "fg"},
        {"another plain function", "f* f* g* >f >m", "g."},
        {"a tail call to one whose return nobody wants", "f<m g(m >m", "f"},
        {"a body call of such a one", "f<m g(f >f >m", "gf"},
        {"a tail call of such a one to another", "g(m f<m >m", "f"},
        {"back into an unknown function leaves the rest alone", "f<m >x >m", ".f"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct shadow s;
        shadow_reset(&s);
        print_message("  %s\n", t[i].what);
        play(&s, t[i].events, t[i].expected);
        assert_int_equal(s.depth, 0);
    }
}

static void tail_loops_take_no_space(void **state)
{
    (void)state;
    struct shadow s;
    shadow_reset(&s);
    struct shadow_fn m = fn('m'), f = fn('f'), g = fn('g'), out;
    for (int i = 0; i < 1000000; i++)
        shadow_call(&s, i & 1 ? &f : &g, &m, true);
    assert_int_equal(s.depth, 1);
    /* Inside a body call: f calls itself, then f and g call each other in tail position for ever.
     */
    shadow_call(&s, &f, &f, true);
    for (int i = 0; i < 1000000; i++) {
        shadow_call(&s, i & 1 ? &f : &g, &f, true);
        assert_in_range(s.depth, 1, 4);
    }
    assert_true(shadow_return(&s, &f, &out));
    assert_true(out.f == 'f');
    assert_true(shadow_return(&s, &m, &out));
}

static void deep_body_recursion_is_exact(void **state)
{
    (void)state;
    struct shadow s;
    shadow_reset(&s);
    struct shadow_fn m = fn('m'), f = fn('f'), out;
    shadow_call(&s, &f, &m, true);
    for (int i = 0; i < 100000; i++)
        shadow_call(&s, &f, &f, true);
    for (int i = 0; i < 100000; i++)
        assert_true(shadow_return(&s, &f, &out) && out.f == 'f');
    assert_true(shadow_return(&s, &m, &out));
    assert_int_equal(s.depth, 0);
    assert_int_equal(s.lost, 0);
}

static void overflow_forgets_the_oldest_and_counts(void **state)
{
    (void)state;
    struct shadow s;
    shadow_reset(&s);
    struct shadow_fn a, b, out;
    enum { DEEP = SHADOW_DEPTH + 10 };
    for (uint32_t i = 0; i < DEEP; i++) {
        a = (struct shadow_fn){1, i + 1, 0};
        b = (struct shadow_fn){1, i, 0};
        shadow_call(&s, &a, &b, true);
    }
    for (uint32_t i = DEEP; i > DEEP - SHADOW_DEPTH; i--) {
        b = (struct shadow_fn){1, i - 1, 0};
        assert_true(shadow_return(&s, &b, &out));
        assert_int_equal(out.f, i);
    }
    for (uint32_t i = DEEP - SHADOW_DEPTH; i > 0; i--) {
        b = (struct shadow_fn){1, i - 1, 0};
        assert_false(shadow_return(&s, &b, &out));
    }
    assert_int_equal(s.lost, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(tail_loops_take_no_space),
        cmocka_unit_test(deep_body_recursion_is_exact),
        cmocka_unit_test(overflow_forgets_the_oldest_and_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
