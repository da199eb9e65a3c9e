/* test_consumer_options.c - option values and the reasons of refusal (language.md 9, 12.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dif/dif.h"
#include "engine/engine.h"
#include "result/options.h"

#define BAD "Invalid value for specified option"

static void values(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        enum option_id which;
        int64_t want;
    } row[] = {
        {"quiet", NULL, OPTION_quiet, 0}, /* set, to 0 */
        {"quiet", "0", OPTION_quiet, 0},  /* the trap: still set */
        {"quiet", "1", OPTION_quiet, 1},
        {"quiet", "yes", OPTION_quiet, 1},
        {"quiet", "enabled", OPTION_quiet, 1},
        {"quiet", "no", OPTION_quiet, OPTION_UNSET},
        {"quiet", "off", OPTION_quiet, OPTION_UNSET},
        {"quiet", "", OPTION_quiet, OPTION_UNSET},
        {"aggsortpos", "3", OPTION_aggsortpos, 3},
        {"aggsortkeypos", "0x10", OPTION_aggsortkeypos, 16},
        {"bufsize", "4096", OPTION_bufsize, 4096},
        {"bufsize", "16k", OPTION_bufsize, 16384},
        {"bufsize", "2M", OPTION_bufsize, 2 << 20},
        {"aggsize", "1g", OPTION_aggsize, 1 << 30},
        {"dynvarsize", "1t", OPTION_dynvarsize, 1ll << 40},
        {"strsize", "2", OPTION_strsize, 2},
        {"eventbudget", "1k", OPTION_eventbudget, 1024},
        {"eventbudget", "64m", OPTION_eventbudget, 64 << 20},
        {"switchrate", "10", OPTION_switchrate, 10},
        {"switchrate", "10ns", OPTION_switchrate, 10},
        {"switchrate", "5usec", OPTION_switchrate, 5000},
        {"switchrate", "5ms", OPTION_switchrate, 5000000},
        {"switchrate", "2SEC", OPTION_switchrate, 2000000000},
        {"switchrate", "1m", OPTION_switchrate, 60000000000},
        {"switchrate", "1hour", OPTION_switchrate, 3600000000000},
        {"aggrate", "1day", OPTION_aggrate, 86400000000000},
        {"aggrate", "100hz", OPTION_aggrate, 10000000},
        {"defaultargs", NULL, OPTION_defaultargs, 0},
        {"cpu", "3", OPTION_cpu, 3},
        {"cpu", NULL, OPTION_cpu, 0},
        {"strsize", "1m", OPTION_strsize, 1 << 20},
        {"scratchsize", "1k", OPTION_scratchsize, 1024},
        {"pcapsize", "100", OPTION_pcapsize, 104},
        {"pcapsize", "65535", OPTION_pcapsize, 65536},
        {"printsize", NULL, OPTION_printsize, 8192},
        {"printsize", "64k", OPTION_printsize, 65536},
        {"lockmem", "unlimited", OPTION_lockmem, -1},
        {"lockmem", "4m", OPTION_lockmem, 4 << 20},
        {"evaltime", "exec", OPTION_evaltime, 0},
        {"evaltime", "main", OPTION_evaltime, 3},
        {"stackframes", "7", OPTION_stackframes, 7},
        {"maxframes", "0x20", OPTION_maxframes, 32},
        {"cleanrate", "10hz", OPTION_cleanrate, 100000000},
        {"iregs", "3", OPTION_iregs, 3},
        {"tregs", "0", OPTION_tregs, 0},
        {"tree", "2", OPTION_tree, 2},
        {"aggpercpu", NULL, OPTION_aggpercpu, 0},
        {"agghist", NULL, OPTION_agghist, 0},
        {"maxload", "1", OPTION_maxload, 1},
        {"terms", "off", OPTION_terms, 0},
        {"terms", "ON", OPTION_terms, 1},
        {"maxload", "100", OPTION_maxload, 100},
        {"maxload", "0", OPTION_maxload, 0},
        {"maxload", "off", OPTION_maxload, 0},
        {"lease", "300ms", OPTION_lease, 300000000},
        {"lease", "60s", OPTION_lease, INT64_C(60000000000)},
        {"stats", NULL, OPTION_stats, 1000000000},
        {"stats", "100ms", OPTION_stats, 100000000},
        {"stats", "2hz", OPTION_stats, 500000000},
        {"stats", "end", OPTION_stats, 0},
        {"stats", "off", OPTION_stats, OPTION_UNSET},
        {"bufpolicy", "switch", OPTION_bufpolicy, 0},
        {"bufpolicy", "fill", OPTION_bufpolicy, 1},
        {"bufpolicy", "ring", OPTION_bufpolicy, 2},
        {"bufresize", "auto", OPTION_bufresize, 0},
        {"bufresize", "manual", OPTION_bufresize, 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct options o;
        const char *why = "";
        options_init(&o);
        assert_int_equal(options_set(&o, row[i].name, row[i].value, OPTION_BY_COMMAND, &why), 0);
        assert_null(why);
        assert_int_equal(o.value[row[i].which], row[i].want);
        assert_int_equal(option_on(&o, row[i].which), row[i].want != OPTION_UNSET);
    }
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *why;
    } row[] = {
        {"nonsense", NULL, "Invalid option name"},
        {"Quiet", NULL, "Invalid option name"},
        {"quiet", "maybe", BAD},
        {"quiet", "-1", BAD},
        {"quiet", "1x", BAD},
        {"bufsize", NULL, BAD},
        {"bufsize", "", BAD},
        {"bufsize", "4q", BAD},
        {"bufsize", "4kb", BAD},
        {"bufsize", "-4k", BAD},
        {"bufsize", "99999999999t", BAD},
        {"strsize", "1", BAD},
        {"switchrate", NULL, BAD},
        {"switchrate", "1.5s", BAD},
        {"switchrate", "s", BAD},
        {"switchrate", "0hz", BAD},
        {"switchrate", "3 fortnights", BAD},
        {"zdefs", "1", BAD},
        {"maxload", NULL, BAD},
        {"maxload", "101", BAD},
        {"maxload", "-1", BAD},
        {"maxload", "40%", BAD},
        {"maxload", "none", BAD},
        {"stats", "1ms", BAD},
        {"stats", "often", BAD},
        {"bufpolicy", "circle", BAD},
        {"bufpolicy", NULL, BAD},
        {"bufresize", "sometimes", BAD},
        {"eventbudget", "1023", BAD},
        {"eventbudget", "65m", BAD},
        {"eventbudget", "off", BAD},
        {"nspec", "17", BAD},
        {"nspec", NULL, BAD},
        {"specsize", "many", BAD},
        {"cpu", "one", BAD},
        {"grabanon", NULL, "there is no anonymous tracing"},
        {"aggpercpu", "1", BAD},
        {"strsize", "1025k", BAD},
        {"scratchsize", "17m", BAD},
        {"pcapsize", "65536", BAD},
        {"printsize", "65537", BAD},
        {"printsize", "", BAD},
        {"lease", "10s", "Option cannot be used from within a D program"},
        {"lockmem", NULL, "Option cannot be used from within a D program"},
        {"evaltime", "never", BAD},
        {"evaltime", NULL, BAD},
        {"iregs", "0", BAD},
        {"iregs", "17", BAD},
        {"iregs", NULL, BAD},
        {"tregs", "many", BAD},
        {"tree", NULL, BAD},
        {"tree", "x", BAD},
        {"disasm", "", BAD},
        {"errform", "xml", BAD},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct options o, before;
        const char *why = NULL;
        options_init(&o);
        before = o;
        assert_int_equal(options_set(&o, row[i].name, row[i].value, OPTION_BY_PROGRAM, &why), -1);
        assert_string_equal(why, row[i].why);
        assert_memory_equal(&o, &before, sizeof o);
    }
}

/* Whoever hides terms decides: nothing shows them again, and no program hides or shows them. */
static void terms_stay_hidden(void **state)
{
    (void)state;
    struct options o;
    const char *why;
    char room[OPTION_HINT];
    options_init(&o);
    assert_int_equal(o.value[OPTION_terms], 1);
    assert_int_equal(options_set(&o, "terms", "hidden", OPTION_BY_COMMAND, &why), -1);
    assert_string_equal(why, BAD);
    assert_int_equal(options_set(&o, "terms", "off", OPTION_BY_PROGRAM, &why), -1);
    assert_int_equal(options_set(&o, "terms", "on", OPTION_BY_COMMAND, &why), 0);
    assert_string_equal(options_hint(&o, "terms", room), "off or on");
    assert_int_equal(options_set(&o, "terms", "off", OPTION_BY_COMMAND, &why), 0);
    assert_int_equal(options_set(&o, "terms", "off", OPTION_BY_COMMAND, &why), 0);
    assert_int_equal(options_set(&o, "terms", "on", OPTION_BY_COMMAND, &why), -1);
    assert_string_equal(why, "Terms have been hidden, and stay hidden");
    assert_null(options_hint(&o, "terms", room));
    assert_int_equal(o.value[OPTION_terms], 0);
}

static void times_that_a_node_can_wait(void **state)
{
    (void)state;
    static const char *const bad[] = {NULL, "", "0", "299ms", "61s", "off"};
    struct options o;
    const char *why;
    options_init(&o);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(options_set(&o, "lease", bad[i], OPTION_BY_COMMAND, &why), -1);
        assert_string_equal(why, BAD);
    }
    assert_int_equal(o.value[OPTION_lease], 1500000000);
}

/* The bounds of options.list are those of what they bound. */
static void bounds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum option_id which;
        int64_t standard, least, most; /* least 0: none */
    } row[] = {
        {"strsize", OPTION_strsize, 256, DIF_STRSIZE_LEAST, DIF_STRSIZE_MOST},
        {"scratchsize", OPTION_scratchsize, 256, 0, DIF_SCRATCH_MOST},
        {"nspec", OPTION_nspec, 1, 0, DIF_SPECS_MAX},
        {"eventbudget", OPTION_eventbudget, DIF_BUDGET, DIF_BUDGET_LEAST, DIF_BUDGET_MOST},
        {"iregs", OPTION_iregs, OPTION_UNSET, 1, DIF_NREGS},
        {"tregs", OPTION_tregs, 8, 0, WORD_KEYS_MAX},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct options o;
        const char *why;
        options_init(&o);
        assert_int_equal(o.value[row[i].which], row[i].standard);
        for (int64_t v = row[i].least - 1; v <= row[i].least; v++) {
            char text[32];
            snprintf(text, sizeof text, "%lld", (long long)v);
            assert_int_equal(options_set(&o, row[i].name, text, OPTION_BY_COMMAND, &why) == 0,
                             v == row[i].least);
        }
        for (int64_t v = row[i].most; v <= row[i].most + 1; v++) {
            char text[32];
            snprintf(text, sizeof text, "%lld", (long long)v);
            assert_int_equal(options_set(&o, row[i].name, text, OPTION_BY_COMMAND, &why) == 0,
                             v == row[i].most);
        }
    }
}

/* Every default is a value that its option can be set to; bufpolicy's words are the policies. */
static void defaults(void **state)
{
    (void)state;
    static const char *const policies[RECORD_NPOLICIES] = {[RECORD_POLICY_SWITCH] = "switch",
                                                           [RECORD_POLICY_FILL] = "fill",
                                                           [RECORD_POLICY_RING] = "ring"};
    struct options o, set;
    const char *why;
    options_init(&o);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *r = &option_rows[i];
        options_init(&set);
        if (r->standard == NULL)
            continue;
        assert_int_equal(options_set(&set, r->name, r->standard, OPTION_BY_COMMAND, &why), 0);
        assert_int_equal(set.value[i], o.value[i]);
    }
    for (size_t i = 0; i < RECORD_NPOLICIES; i++) {
        assert_int_equal(options_set(&o, "bufpolicy", policies[i], OPTION_BY_COMMAND, &why), 0);
        assert_int_equal(o.value[OPTION_bufpolicy], i);
    }
}

/* What is said of the values of each kind of option. */
static void hints(void **state)
{
    (void)state;
    static const struct {
        const char *name, *want;
    } row[] = {
        {"bufsize", "a size is a number with k, m, g or t if you like, as in 16k"},
        {"strsize", "a size from 2 to 1m"},
        {"scratchsize", "a size of at most 16m"},
        {"pcapsize", "a size of at most 65535"},
        {"printsize", "a size of at most 64k"},
        {"eventbudget", "units of work, from 1k to 64m; an event cannot be without bounds"},
        {"nspec", "a number up to 16"},
        {"iregs", "a number from 1 to 16"},
        {"tregs", "a number up to 12"},
        {"tree", "a number"},
        {"aggrate", "a time or a frequency, as in 500ms, 10s or 97hz"},
        {"lease", "a time from 300ms to 60s"},
        {"maxload", "a number of percent, 1 to 100, or off"},
        {"redact", "globs separated by commas, as in *password*,token"},
        {"stats", "the name alone for each second, a time of at least 100ms, or end"},
        {"bufpolicy", "switch, fill or ring"},
        {"bufresize", "auto or manual"},
        {"evaltime", "exec, preinit, postinit or main"},
        {"errform", "erltrace or dtrace"},
        {"lockmem", "a size, or unlimited"},
        {"zdefs", "it takes no value"},
        {"quiet", "the name alone sets it; =no unsets it"},
        {"bufsiz", "did you mean 'bufsize'?"},
        {"nothing_like_it", "doc/command.md lists the options; -x maxload=80 sets one"},
        {"cpppath", NULL},
        {"linkmode", NULL},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct options o;
        char room[OPTION_HINT];
        options_init(&o);
        const char *hint = options_hint(&o, row[i].name, room);
        if (row[i].want == NULL)
            assert_null(hint);
        else
            assert_string_equal(hint, row[i].want);
    }
}

static void from_a_program(void **state)
{
    (void)state;
    struct options o;
    const char *why;
    options_init(&o);
    assert_int_equal(options_set(&o, "cpppath", "/x", OPTION_BY_PROGRAM, &why), -1);
    assert_string_equal(why, "Option cannot be used from within a D program");
    assert_int_equal(options_set(&o, "bufpolicy", "switch", OPTION_BY_PROGRAM, &why), 0);
    assert_int_equal(options_set(&o, "cleanrate", "50hz", OPTION_BY_PROGRAM, &why), 0);
}

static void preprocessor(void **state)
{
    (void)state;
    struct options o;
    const char *why;
    options_init(&o);
    assert_null(o.cpppath);
    assert_int_equal(options_set(&o, "cpppath", "", OPTION_BY_COMMAND, &why), -1);
    assert_int_equal(options_set(&o, "cpppath", "/x/cpp", OPTION_BY_COMMAND, &why), 0);
    assert_string_equal(o.cpppath, "/x/cpp");
    assert_int_equal(options_set(&o, "cpp", "yes", OPTION_BY_COMMAND, &why), -1);
    assert_int_equal(options_set(&o, "cpp", NULL, OPTION_BY_PROGRAM, &why), 0);
    assert_true(option_on(&o, OPTION_cpp));
}

/* setopt() sets the dynamic ones only. */
static void while_running(void **state)
{
    (void)state;
    struct options o;
    const char *why;
    options_init(&o);
    assert_int_equal(options_set(&o, "quiet", "1", OPTION_BY_RUNNING, &why), 0);
    assert_true(option_on(&o, OPTION_quiet));
    assert_int_equal(options_set(&o, "bufsize", "1m", OPTION_BY_RUNNING, &why), -1);
    assert_string_equal(why, "Operation illegal when tracing is active");
    assert_int_equal(options_set(&o, "destructive", NULL, OPTION_BY_RUNNING, &why), -1);
    assert_false(option_on(&o, OPTION_destructive));
    assert_int_equal(options_set(&o, "aggrate", "x", OPTION_BY_RUNNING, &why), -1);
    assert_string_equal(why, BAD);
}

struct setting {
    struct options o;
    const char *why;
    unsigned cpp; /* options of the preprocessor seen */
};

static int set(void *arg, const char *name, const char *value)
{
    struct setting *s = arg;
    if (strcmp(name, "define") == 0 || strcmp(name, "cpphdrs") == 0) {
        s->cpp++;
        if (strcmp(name, "define") == 0)
            assert_string_equal(value, "X=1");
        else
            assert_null(value);
        return 0;
    }
    return options_set(&s->o, name, value, OPTION_BY_COMMAND, &s->why);
}

static void environment(void **state)
{
    (void)state;
    struct setting s = {.why = NULL};
    const char *name;
    setenv("DTRACE_OPT_BUFSIZE", "64k", 1);
    setenv("DTRACE_OPT_QUIET", "yes", 1);
    setenv("DTRACE_OPT_ZDEFS", "", 1);
    setenv("DTRACE_OPT_NOSUCH", "1", 1); /* nobody's */
    setenv("DTRACE_OPT_DEFINE", "X=1", 1);
    setenv("DTRACE_OPT_CPPHDRS", "", 1);
    options_init(&s.o);
    assert_int_equal(options_environment(set, &s, &name), 0);
    assert_int_equal(s.o.value[OPTION_bufsize], 65536);
    assert_true(option_on(&s.o, OPTION_quiet));
    assert_true(option_on(&s.o, OPTION_zdefs));
    assert_int_equal(s.cpp, 2);
    setenv("DTRACE_OPT_STRSIZE", "big", 1);
    assert_int_equal(options_environment(set, &s, &name), -1);
    assert_string_equal(name, "strsize");
    assert_string_equal(s.why, BAD);
    unsetenv("DTRACE_OPT_STRSIZE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(refusals),
        cmocka_unit_test(while_running),
        cmocka_unit_test(preprocessor),
        cmocka_unit_test(terms_stay_hidden),
        cmocka_unit_test(times_that_a_node_can_wait),
        cmocka_unit_test(bounds),
        cmocka_unit_test(defaults),
        cmocka_unit_test(hints),
        cmocka_unit_test(from_a_program),
        cmocka_unit_test(environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
