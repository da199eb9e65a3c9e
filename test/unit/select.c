/* select.c - lets a unit test program run some of its tests. Linked into each of them, between the
 * program and cmocka (-Wl,--wrap): test programs need not know.
 *
 * The name of a test is PROGRAM/FUNCTION, both without "test_". UNIT_LIST in the environment: the
 * names are printed, and nothing runs. UNIT_TESTS: only the tests whose names are lines of it run.
 * What they print is written line by line, so that the runner knows which test runs.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <cmocka.h>

enum { NAME_MAX_ = 512, TESTS_MAX = 512 };

int __real__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t n,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t n,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);

static const char *without_test(const char *name)
{
    return strncmp(name, "test_", 5) == 0 ? name + 5 : name;
}

static bool is_line(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p++)
        if ((p == text || p[-1] == '\n') && (p[n] == '\n' || p[n] == '\0'))
            return true;
    return false;
}

int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t n,
                                   CMFixtureFunction setup, CMFixtureFunction teardown)
{
    static struct CMUnitTest kept[TESTS_MAX];
    const char *wanted = getenv("UNIT_TESTS"), *list = getenv("UNIT_LIST");
    size_t count = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!wanted && !list)
        return __real__cmocka_run_group_tests(group, tests, n, setup, teardown);
    for (size_t i = 0; i < n && count < TESTS_MAX; i++) {
        char name[NAME_MAX_];
        snprintf(name, sizeof name, "%s/%s", without_test(program_invocation_short_name),
                 without_test(tests[i].name));
        if (list)
            puts(name);
        else if (is_line(wanted, name))
            kept[count++] = tests[i];
    }
    return list ? 0 : __real__cmocka_run_group_tests(group, kept, count, setup, teardown);
}
