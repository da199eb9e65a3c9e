/* test_probe.c - globs, provider names, function names, intervals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/probe.h"
#include "base/glob.h"

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
        if (glob_match(row[i].pattern, row[i].text) != row[i].match)
            fail_msg("glob_match(\"%s\", \"%s\")", row[i].pattern, row[i].text);
}

static void a_hostile_glob_is_quick(void **state)
{
    (void)state;
    static char pattern[20001], text[20001];
    for (int i = 0; i < 20000; i += 2)
        memcpy(pattern + i, "a*", 2);
    memset(text, 'a', 20000);
    memcpy(pattern + 19998, "*b", 2);
    assert_false(glob_match(pattern, text)); /* would never end if it tried every split */
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
    enum {
        ENTRY = 1,
        RETURN = 2,
        EXCEPTION = 4,
        BIF = 8 | 16,
        NIF_ENTRY = 32,
        NIF_RETURN = 64,
        LOCAL = 128,
        GLOBAL = 256
    };
    assert_int_equal(probe_fn_match("entry"), ENTRY);
    assert_int_equal(probe_fn_match("function-entry"), ENTRY);
    assert_int_equal(probe_fn_match("local-function-entry"), LOCAL);
    assert_int_equal(probe_fn_match("[lg]*-function-*"), LOCAL | GLOBAL);
    assert_int_equal(probe_fn_match("bif-*"), BIF);
    assert_int_equal(probe_fn_match("nif-entry"), NIF_ENTRY);
    assert_int_equal(probe_fn_match("*if-return"), 16 | NIF_RETURN);
    assert_int_equal(probe_fn_match("*-entry"), ENTRY);
    assert_int_equal(probe_fn_match("function-*"), ENTRY | RETURN);
    assert_int_equal(probe_fn_match("exception"), EXCEPTION);
    assert_int_equal(probe_fn_match(""), ENTRY | RETURN | EXCEPTION);
    assert_int_equal(probe_fn_match("process-exit"), 0);
}

/* What a function of each class has, in the order of ids. */
static void function_probe_classes(void **state)
{
    (void)state;
    static const struct {
        enum probe_fn_class class;
        const char *names;
    } t[] = {
        {PROBE_FN_ERLANG, "entry return exception local-function-entry global-function-entry "},
        {PROBE_FN_BIF, "entry return exception bif-entry bif-return "},
        {PROBE_FN_NIF, "entry return exception nif-entry nif-return "},
        {PROBE_FN_INLINED, "entry return exception   "},
        {PROBE_FN_PRIVATE, "entry return exception local-function-entry  "},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char names[256] = "";
        for (unsigned k = 0; k < PROBE_FN_EACH; k++) {
            strcat(names, probe_fn_name(probe_fn_kind(t[i].class, k)));
            strcat(names, " ");
        }
        assert_string_equal(names, t[i].names);
    }
    for (int k = PROBE_FN_ENTRY; k < PROBE_FN_END; k++) {
        const struct probe_def *def = probe_fn_def((enum probe_kind)k);
        assert_int_equal(def->kind, k);
        const char *events = probe_fn_name(probe_fn_event((enum probe_kind)k));
        assert_non_null(strstr(def->name, events)); /* bif-entry is an entry */
    }
}

static void every_named_probe_is_found(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct probe_def *p = NULL, *last = NULL; (p = probe_erlang_next(p)) != NULL;
         last = p, n++) {
        assert_true(last == NULL || p->kind > last->kind);
        char name[PROBE_NAME_MAX + 2];
        snprintf(name, sizeof name, p->numbered ? "%s0" : "%s", p->name);
        assert_ptr_equal(probe_erlang_name(name), p->mod ? NULL : p);
        assert_ptr_equal(probe_erlang_kind(p->kind), p);
        /* This one lives on what return probes need. */
        assert_true(p->needs != 0 || p->kind == PROBE_EXCEPTION_CAUGHT);
    }
    assert_true(n >= 10);
    assert_null(probe_erlang_name("message-sent"));
    assert_null(probe_erlang_name("user_trace-n"));
    assert_null(probe_erlang_name("user_trace-n951"));
    assert_null(probe_erlang_name("user_trace-n01"));
    assert_null(probe_erlang_name("user_trace-n18446744073709551617"));
    unsigned number;
    assert_true(probe_has_name(probe_erlang_name("user_trace-n950"), "user_trace-n950", &number));
    assert_int_equal(number, 950);
    assert_null(probe_erlang_kind(0));
}

/* What each row must say: whoever cannot have a probe hears why, and of no probe that it can. */
static void rows_are_whole(void **state)
{
    (void)state;
    const struct probe_section *s;
    for (size_t i = 0; (s = probe_section(i)) != NULL; i++) {
        for (size_t j = 0; j < s->n; j++) {
            const struct probe_def *p = &s->def[j];
            size_t vm = 0;
            for (size_t k = 0; k < PROBE_OTPS; k++)
                vm += probe_on(p, probe_otps[k]) == PROBE_BY_VM;
            if (p->name == NULL || p->text == NULL || strlen(p->name) > PROBE_NAME_MAX)
                fail_msg("row %zu of %s has no name or no text", j, s->title);
            if ((p->kind != 0) != (vm > 0))
                fail_msg("%s: a kind and a release that delivers it go together", p->name);
            if ((vm < PROBE_OTPS) != (p->lacking != NULL))
                fail_msg("%s: says why it is lacking where it is, or the other way round", p->name);
            for (size_t k = 0; k < 10 && p->arg[k].type != NULL; k++)
                if (p->arg[k].name == NULL || p->arg[k].text == NULL)
                    fail_msg("%s: argument %zu is not described", p->name, k);
        }
    }
    assert_int_equal(probe_on(probe_erlang_kind(PROBE_PROCESS_SPAWN), 26), PROBE_BY_VM);
    assert_int_equal(probe_on(probe_erlang_lacking("copy-struct"), 30), PROBE_BY_KERNEL);
    assert_int_equal(probe_on(probe_erlang_lacking("aio_pool-add"), 28), PROBE_BY_NONE);
}

/* Those of OTP's provider that nobody has are known by name, number and glob, and say why. */
static void lacking_probes_are_known(void **state)
{
    (void)state;
    static const char *const known[] = {"message-receive", "copy-*", "aio_pool-add", "driver-init"};
    static const char *const not [] = {"message-send",    "driver-", "user_trace-n",
                                       "user_trace-n951", "entry",   "user_trace-n01"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct probe_def *p = probe_erlang_lacking(known[i]);
        assert_non_null(p);
        assert_non_null(p->lacking);
        assert_non_null(p->arg[0].type);
    }
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        assert_null(probe_erlang_lacking(not [i]));
    assert_string_equal(probe_erlang_name("port-control")->arg[3].name, "command_no");
    assert_string_equal(probe_erlang_name("user_trace-n7")->arg[9].name, "s4");
}

/* Descriptions that mean probes of programs, and those that do not. */
static void any_names(void **state)
{
    (void)state;
    const struct probe_def *def = probe_erlang_kind(PROBE_USER);
    static const struct {
        const char *mod, *func, *name;
        bool means;
    } cases[] = {
        {"erltrace", "probe", "order", true},
        {"erltrace", "probe", "entry", true},
        {"erltrace", "", "order", true},
        {"erltrace", "probe", "", true},
        {"", "", "", true},
        {"", "", "*", true},
        {"erl*", "", "order", true},
        {"erl*", "", "entry", false},
        {"", "", "message-send", false},
        {"", "", "*-send", false},
        {"", "probe", "order", false},
        {"lists", "", "order", false},
        {"erltrace", "probes", "x", false},
        {"*", "*", "order", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (probe_any_name(def, cases[i].mod, cases[i].func, cases[i].name) != cases[i].means)
            fail_msg("%s:%s:%s", cases[i].mod, cases[i].func, cases[i].name);
    assert_false(probe_any_name(probe_erlang_kind(PROBE_PROCESS_EXIT), "", "", ""));
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
        {"profile-97", 10309278},
        {"profile-5000hz", 200000},
        {"profile-5001", 0},
        {"profile-10ms", 10000000},
        {"profile-0", 0},
        {"profile-", 0},
        {"profile-x", 0},
        {"wall-97", 10309278},
        {"wall-97hz", 10309278},
        {"wall-5ms", 5000000},
        {"wall-100us", 0},
        {"wall-0", 0},
        {"wall-", 0},
        {"wall", 0},
        {"walls-9", 0},
        {"Tick-1", 0},
        {"tick-99999999999999999999s", 0},
        {"tick-1 sec", 0},
        {"tick-1d", 86400000000000},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint64_t ns = 1;
        enum probe_kind kind = PROBE_BEGIN;
        bool is = probe_interval(row[i].name, &ns, &kind);
        if (is != (row[i].ns != 0) || (is && ns != row[i].ns) ||
            (is && kind != (row[i].name[0] == 't'   ? PROBE_TICK
                            : row[i].name[0] == 'p' ? PROBE_PROFILE
                                                    : PROBE_WALL)))
            fail_msg("%s: %d %lu", row[i].name, is, (unsigned long)ns);
    }
}

/* The default intervals have the periods of their names. */
static void default_intervals(void **state)
{
    (void)state;
    size_t n;
    const struct probe_interval_def *def = probe_intervals(false, &n);
    assert_int_equal(n, 13);
    for (size_t i = 0; i < n; i++)
        assert_int_not_equal(def[i].kind, PROBE_WALL); /* only a node has it */
    def = probe_intervals(true, &n);
    assert_int_equal(n, 14);
    assert_int_equal(def[n - 1].kind, PROBE_WALL);
    for (size_t i = 0; i < n; i++) {
        uint64_t ns;
        enum probe_kind kind;
        assert_true(probe_interval(def[i].name, &ns, &kind));
        assert_int_equal(ns, def[i].period);
        assert_int_equal(kind, def[i].kind);
    }
}

/* Names of providers that a kernel has; pid with a number is one of them, nothing like it is. */
static void kernel_providers(void **state)
{
    (void)state;
    static const char *const kernel[] = {"syscall", "fbt", "sched", "pid1", "pid12345"};
    static const char *const others[] = {"",        "pid",    "pidx",    "pid1x", "erlang",
                                         "erlang*", "dtrace", "profile", "sys"};
    for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
        assert_true(probe_kernel_provider(kernel[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(probe_kernel_provider(others[i]));
}

static void releases(void **state)
{
    (void)state;
    static const struct {
        enum otp_feature feature;
        const char *has; /* of OTP 24 to 31 */
    } row[] = {{OTP_ANY, "yyyyyyyy"},
               {OTP_SUPPORTED, "nyyyyyyy"},
               {OTP_TRACE_SESSIONS, "nnnyyyyy"},
               {OTP_BIFS_LOST, "nnnyynnn"},
               {OTP_HIBERNATE_CALLS, "nnnnyyyy"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int release = 24; release <= 31; release++) {
            bool has = row[i].has[release - 24] == 'y';
            assert_int_equal(otp_has(release, row[i].feature), has);
            assert_int_equal(otp_features(release) >> row[i].feature & 1, has);
        }
    assert_int_equal(probe_on(probe_erlang_kind(PROBE_QUEUE_LONG), 26), PROBE_BY_NONE);
    assert_int_equal(probe_on(probe_erlang_kind(PROBE_QUEUE_LONG), 28), PROBE_BY_VM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases),
        cmocka_unit_test(kernel_providers),
        cmocka_unit_test(globs),
        cmocka_unit_test(a_hostile_glob_is_quick),
        cmocka_unit_test(providers),
        cmocka_unit_test(functions),
        cmocka_unit_test(function_probe_names),
        cmocka_unit_test(function_probe_classes),
        cmocka_unit_test(every_named_probe_is_found),
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(lacking_probes_are_known),
        cmocka_unit_test(any_names),
        cmocka_unit_test(intervals),
        cmocka_unit_test(default_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
