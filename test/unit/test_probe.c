/* test_probe.c - globs, provider names, function names, intervals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/probe.h"

static void globs(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool match;
    } row[] = {
        {"", "anything", true},
        {"abc", "abc", true},
        {"abc", "abd", false},
        {"abc", "ab", false},
        {"ab", "abc", false},
        {"*", "", true},
        {"*", "abc", true},
        {"a*", "a", true},
        {"a*c", "abbbc", true},
        {"a*c", "abbb", false},
        {"*b*", "abc", true},
        {"*ab*ab", "abxabab", true},
        {"?", "", false},
        {"?", "x", true},
        {"a?c", "abc", true},
        {"[abc]", "b", true},
        {"[abc]", "d", false},
        {"[!abc]", "d", true},
        {"[!abc]", "a", false},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[]a]", "]", true},
        {"[a-]", "-", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"a\\?", "a?", true},
        {"[", "[", true},
        {"[ab", "[ab", true},
        {"Erl", "erl", false},
        {"gc_*-start", "gc_minor-start", true},
        {"gc_*-start", "gc_minor-end", false},
        {"*_*-*", "gc_minor-end", true},
        {"a**b", "ab", true},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (probe_glob(row[i].pattern, row[i].text) != row[i].match)
            fail_msg("probe_glob(\"%s\", \"%s\")", row[i].pattern, row[i].text);
}

static void a_hostile_glob_is_quick(void **state)
{
    (void)state;
    static char pattern[20001], text[20001];
    for (int i = 0; i < 20000; i += 2)
        memcpy(pattern + i, "a*", 2);
    memset(text, 'a', 20000);
    memcpy(pattern + 19998, "*b", 2);
    assert_false(probe_glob(pattern, text)); /* would never end if it tried every split */
}

static void providers(void **state)
{
    (void)state;
    assert_true(probe_glob_provider("erlang", "erlang1234"));
    assert_true(probe_glob_provider("erlang*", "erlang1234"));
    assert_true(probe_glob_provider("erlang1234", "erlang1234"));
    assert_false(probe_glob_provider("erlang1", "erlang1234"));
    assert_false(probe_glob_provider("erlang", "erlangx"));
    assert_false(probe_glob_provider("erlang", "profile"));
    assert_true(probe_glob_provider("", "erlang1"));
}

static void functions(void **state)
{
    (void)state;
    assert_true(probe_glob_function("map", "map", 2));
    assert_true(probe_glob_function("map/2", "map", 2));
    assert_false(probe_glob_function("map/3", "map", 2));
    assert_true(probe_glob_function("ma*/?", "map", 2));
    assert_false(probe_glob_function("ma", "map", 2));
    assert_true(probe_glob_function("", "map", 2));
}

static void function_probe_names(void **state)
{
    (void)state;
    enum { ENTRY = 1, RETURN = 2, EXCEPTION = 4 };
    assert_int_equal(probe_fn_match("entry"), ENTRY);
    assert_int_equal(probe_fn_match("function-entry"), ENTRY);
    assert_int_equal(probe_fn_match("local-function-entry"), ENTRY);
    assert_int_equal(probe_fn_match("*-entry"), ENTRY);
    assert_int_equal(probe_fn_match("function-*"), ENTRY | RETURN);
    assert_int_equal(probe_fn_match("exception"), EXCEPTION);
    assert_int_equal(probe_fn_match(""), ENTRY | RETURN | EXCEPTION);
    assert_int_equal(probe_fn_match("process-exit"), 0);
}

static void every_named_probe_is_found(void **state)
{
    (void)state;
    size_t n;
    const struct probe_def *p = probe_erlang(&n);
    assert_int_equal(n, PROBE_GC_MAJOR_END - PROBE_PROCESS_SPAWN + 1);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(probe_erlang_name(p[i].name), &p[i]);
        assert_ptr_equal(probe_erlang_kind(p[i].kind), &p[i]);
        assert_int_not_equal(p[i].needs, 0);
    }
    assert_null(probe_erlang_name("message-sent"));
}

static void intervals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t ns; /* 0: no such probe */
    } row[] = {
        {"tick-1sec", 1000000000},
        {"tick-1s", 1000000000},
        {"tick-10ms", 10000000},
        {"tick-1", 1000000000},
        {"tick-100", 10000000},
        {"tick-5000hz", 200000},
        {"tick-5001hz", 0},
        {"tick-200us", 200000},
        {"tick-199us", 0},
        {"tick-1MIN", 60000000000},
        {"tick-2h", 7200000000000},
        {"tick-0", 0},
        {"tick-", 0},
        {"tick-1x", 0},
        {"tick--1", 0},
        {"profile-97", 0},
        {"tick-99999999999999999999s", 0},
        {"tick-1 sec", 0},
        {"tick-1d", 86400000000000},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint64_t ns = 1;
        bool is = probe_tick_period(row[i].name, &ns);
        if (is != (row[i].ns != 0) || (is && ns != row[i].ns))
            fail_msg("%s: %d %lu", row[i].name, is, (unsigned long)ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs),
        cmocka_unit_test(a_hostile_glob_is_quick),
        cmocka_unit_test(providers),
        cmocka_unit_test(functions),
        cmocka_unit_test(function_probe_names),
        cmocka_unit_test(every_named_probe_is_found),
        cmocka_unit_test(intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
