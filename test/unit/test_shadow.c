/* Which function a return_to belongs to: see beam/probe/shadow.h. Events are written as text, one
 * letter a function: "f<m"  f is entered, its frame returns into m        ">m"  execution goes back
 * into m
 *   "!f"   an exception left f
 *   "f(m"  as f<m, but nobody wants f's return
 *   "f*"   f is entered and nobody says from where
 *   "f^b"  as f<b, and b is the bottom of the process's stack
 * and the expected result is the functions that returned, '.' for a return_to that fires nothing.
 * The depths are one digit an event: of what was called, of what returned, and behind a ! that of
 * the outermost function that an exception left; '.' where there is none. A ? stands before that of
 * a call which shows that functions have gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "beam/probe/shadow.c"

static struct shadow_fn fn(char c)
{
    return (struct shadow_fn){.m = 1, .f = (uint64_t)c, .a = 1};
}

/* depths is NULL when nobody asks. */
static void play(struct shadow *s, const char *events, const char *expected, const char *depths)
{
    char got[256], deep[256];
    size_t n = 0, d = 0;
    for (const char *p = events; *p;) {
        struct shadow_fn a, b;
        if (*p == ' ') {
            p++;
        } else if (*p == '!') {
            a = fn(p[1]);
            deep[d++] = (char)('0' + shadow_unwind(s, &a));
            p += 2;
        } else if (*p == '>') {
            b = fn(p[1]);
            uint32_t depth;
            enum shadow_gone gone = shadow_return(s, &b, &a, &depth);
            got[n++] = gone == SHADOW_RETURNED ? (char)a.f : '.';
            if (gone == SHADOW_UNWOUND)
                deep[d++] = '!';
            deep[d++] = (char)(depth ? '0' + depth : '.');
            p += 2;
        } else if (p[1] == '*') {
            a = fn(p[0]);
            shadow_call_plain(s, &a);
            p += 2;
        } else {
            a = fn(p[0]);
            b = fn(p[2]);
            b.bottom = p[1] == '^';
            if (shadow_call(s, &a, &b, p[1] != '('))
                deep[d++] = '?';
            deep[d++] = (char)('0' + shadow_depth(s));
            p += 3;
        }
    }
    got[n] = deep[d] = 0;
    assert_string_equal(got, expected);
    if (depths)
        assert_string_equal(deep, depths);
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
        {"the same with an exception event", "f<m g<f !g>f >m", ".f"},
        {"exception past everything, caught below", "f<m g<f h<g >m", "."},
        {"the next call after it starts anew", "f<m g<f h<g >m f<m >m", ".f"},
        {"an exception event that no return_to follows", "f<m k<f !k g<f >f >m", "gf"},
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
        play(&s, t[i].events, t[i].expected, NULL);
        assert_int_equal(s.depth, 0);
    }
}

/* m is an unwatched caller, u and its neighbours are unwatched, too. */
static void depths(void **state)
{
    (void)state;
    static const struct {
        const char *what, *events, *expected, *depths;
    } t[] = {
        {"nested", "f<m g<f >f h<f >f >m", "ghf", "122221"},
        {"a tail call has the depth of its caller", "f<m g<m >m h<m >m", "gh", "11111"},
        {"... also through another function", "f<m g<f h<f >f >m", "hf", "12221"},
        {"a circle of tail calls", "f<m g<m h<m f<m g<m >m", "g", "111111"},
        {"a call by an unwatched function", "f<m g<u >u >m", "gf", "1221"},
        {"direct recursion counts once more", "f<m f<f f<f g<f >f >f >f >m", "gfff", "12233221"},
        {"caught by a watched caller of the caller", "f<m g<f h<g >f g<f >f >m", ".gf", "123!2221"},
        {"caught by an unwatched caller", "f<m g<f >m f<m >m", ".f", "12!111"},
        {"caught by a watched function for an unwatched one", "f<m g<u h<f >f >m", "hf", "12?221"},
        {"... and for one that a watched one called", "f<m g<f h<u k<f >f >m", "kf", "123?221"},
        {"an exception that the VM tells of", "f<m g<f h<g !h !g >f k<f >f >m", ".kf", "12332.221"},
        {"... caught by an unwatched one", "f<u g<f !g !f g<v >v f<u >u", "gf", "12211111"},
        {"... below a watched one", "f<m g<u !g h<f >f >m", "hf", "122221"},
        {"... that leaves a tail call", "f<m g<f h<f !h !g k<f >f >m", "kf", "12222221"},
        {"... of a function that calls itself", "f<m f<f f<f !f !f g<f >f >m", "gf", "12222221"},
        {"... and one that it does not tell of", "f<m g<f h<g !g >f >m", ".f", "1232.1"},
        {"the stack was dropped", "f<m g<f h^b >b", "h", "12?11"},
        {"... and what wakes up goes on", "f^b g<f h^b k<h >h >b", "kh", "12?1221"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct shadow s;
        shadow_reset(&s);
        print_message("  %s\n", t[i].what);
        play(&s, t[i].events, t[i].expected, t[i].depths);
        assert_int_equal(shadow_depth(&s), 0);
    }
}

static void tail_loops_take_no_space(void **state)
{
    (void)state;
    struct shadow s;
    shadow_reset(&s);
    uint32_t depth;
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
    assert_int_equal(shadow_return(&s, &f, &out, &depth), SHADOW_RETURNED);
    assert_true(out.f == 'f');
    assert_int_equal(shadow_return(&s, &m, &out, &depth), SHADOW_RETURNED);
    assert_int_equal(depth, 1);
}

static void deep_body_recursion_is_exact(void **state)
{
    (void)state;
    struct shadow s;
    shadow_reset(&s);
    uint32_t depth;
    struct shadow_fn m = fn('m'), f = fn('f'), out;
    shadow_call(&s, &f, &m, true);
    for (int i = 0; i < 100000; i++)
        shadow_call(&s, &f, &f, true);
    for (int i = 0; i < 100000; i++)
        assert_true(shadow_return(&s, &f, &out, &depth) == SHADOW_RETURNED && out.f == 'f');
    assert_int_equal(shadow_return(&s, &m, &out, &depth), SHADOW_RETURNED);
    assert_int_equal(s.depth, 0);
    assert_int_equal(s.lost, 0);
}

static void overflow_forgets_the_oldest_and_counts(void **state)
{
    (void)state;
    struct shadow s;
    shadow_reset(&s);
    uint32_t depth;
    struct shadow_fn a, b, out;
    enum { DEEP = SHADOW_DEPTH + 10 };
    for (uint32_t i = 0; i < DEEP; i++) {
        a = (struct shadow_fn){1, i + 1, 0};
        b = (struct shadow_fn){1, i, 0};
        shadow_call(&s, &a, &b, true);
        assert_int_equal(shadow_depth(&s), i + 1);
    }
    for (uint32_t i = DEEP; i > DEEP - SHADOW_DEPTH; i--) {
        b = (struct shadow_fn){1, i - 1, 0};
        assert_int_equal(shadow_return(&s, &b, &out, &depth), SHADOW_RETURNED);
        assert_int_equal(out.f, i);
        assert_int_equal(depth, i);
    }
    for (uint32_t i = DEEP - SHADOW_DEPTH; i > 0; i--) {
        b = (struct shadow_fn){1, i - 1, 0};
        assert_int_equal(shadow_return(&s, &b, &out, &depth), SHADOW_UNKNOWN);
    }
    assert_int_equal(s.lost, 10);
    assert_int_equal(shadow_depth(&s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(depths),
        cmocka_unit_test(tail_loops_take_no_space),
        cmocka_unit_test(deep_body_recursion_is_exact),
        cmocka_unit_test(overflow_forgets_the_oldest_and_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
