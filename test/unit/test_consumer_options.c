/* test_consumer_options.c - option values and the reasons of refusal (reference 9, 12.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "consumer/options.h"

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
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct options o;
        const char *why = "";
        options_init(&o);
        assert_int_equal(options_set(&o, row[i].name, row[i].value, OPTION_FROM_COMMAND, &why), 0);
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
        {"bufpolicy", "circle", BAD},
        {"bufpolicy", "ring", "not built yet"},
        {"nspec", "17", BAD},
        {"nspec", NULL, BAD},
        {"specsize", "many", BAD},
        {"cpu", "1", "not built yet"},
        {"aggpercpu", NULL, "not built yet"},
        {"errform", "xml", BAD},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct options o, before;
        const char *why = NULL;
        options_init(&o);
        before = o;
        assert_int_equal(options_set(&o, row[i].name, row[i].value, OPTION_FROM_PROGRAM, &why), -1);
        assert_string_equal(why, row[i].why);
        assert_memory_equal(&o, &before, sizeof o);
    }
}

static void from_a_program(void **state)
{
    (void)state;
    struct options o;
    const char *why;
    options_init(&o);
    assert_int_equal(options_set(&o, "cpppath", "/x", OPTION_FROM_PROGRAM, &why), -1);
    assert_string_equal(why, "Option cannot be used from within a D program");
    assert_int_equal(options_set(&o, "bufpolicy", "switch", OPTION_FROM_PROGRAM, &why), 0);
    assert_int_equal(options_set(&o, "cleanrate", "50hz", OPTION_FROM_PROGRAM, &why), 0);
}

static void preprocessor(void **state)
{
    (void)state;
    struct options o;
    const char *why;
    options_init(&o);
    assert_null(o.cpppath);
    assert_int_equal(options_set(&o, "cpppath", "", OPTION_FROM_COMMAND, &why), -1);
    assert_int_equal(options_set(&o, "cpppath", "/x/cpp", OPTION_FROM_COMMAND, &why), 0);
    assert_string_equal(o.cpppath, "/x/cpp");
    assert_int_equal(options_set(&o, "cpp", "yes", OPTION_FROM_COMMAND, &why), -1);
    assert_int_equal(options_set(&o, "cpp", NULL, OPTION_FROM_PROGRAM, &why), 0);
    assert_true(option_on(&o, OPTION_cpp));
}

/* setopt() sets the dynamic ones only. */
static void while_running(void **state)
{
    (void)state;
    struct options o;
    const char *why;
    options_init(&o);
    assert_int_equal(options_set(&o, "quiet", "1", OPTION_FROM_RUNNING, &why), 0);
    assert_true(option_on(&o, OPTION_quiet));
    assert_int_equal(options_set(&o, "bufsize", "1m", OPTION_FROM_RUNNING, &why), -1);
    assert_string_equal(why, "Operation illegal when tracing is active");
    assert_int_equal(options_set(&o, "destructive", NULL, OPTION_FROM_RUNNING, &why), -1);
    assert_false(option_on(&o, OPTION_destructive));
    assert_int_equal(options_set(&o, "aggrate", "x", OPTION_FROM_RUNNING, &why), -1);
    assert_string_equal(why, BAD);
}

static void environment(void **state)
{
    (void)state;
    struct options o;
    const char *name, *why;
    setenv("DTRACE_OPT_BUFSIZE", "64k", 1);
    setenv("DTRACE_OPT_QUIET", "yes", 1);
    setenv("DTRACE_OPT_ZDEFS", "", 1);
    setenv("DTRACE_OPT_NOSUCH", "1", 1); /* nobody's */
    options_init(&o);
    assert_int_equal(options_environment(&o, &name, &why), 0);
    assert_int_equal(o.value[OPTION_bufsize], 65536);
    assert_true(option_on(&o, OPTION_quiet));
    assert_true(option_on(&o, OPTION_zdefs));
    setenv("DTRACE_OPT_STRSIZE", "big", 1);
    assert_int_equal(options_environment(&o, &name, &why), -1);
    assert_string_equal(name, "strsize");
    assert_string_equal(why, BAD);
    unsetenv("DTRACE_OPT_STRSIZE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),         cmocka_unit_test(refusals),
        cmocka_unit_test(while_running),  cmocka_unit_test(preprocessor),
        cmocka_unit_test(from_a_program), cmocka_unit_test(environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
