/* test_shapes.c - the table of doc/safety.md has the rows of shapes.list. What the rows do is
 * tested inside a node: test/agent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *tracee, *tag, *msg, *extra;
    int first, last;
} row[] = {
#define WORD_SHAPE(tracee, tag, msg, extra, needs, first, last)                                    \
    {#tracee, #tag, #msg, #extra, first, last},
#include "words/shapes.list"
#undef WORD_SHAPE
};

static bool is_said(const char *text)
{
    static char line[8192];
    bool said = false;
    FILE *f = fopen("doc/safety.md", "r");
    assert_non_null(f);
    while (!said && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        said = strcmp(line, text) == 0;
    }
    fclose(f);
    return said;
}

static void document_has_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *of = strcmp(row[i].tracee, "PROCESS") == 0 ? "process"
                         : strcmp(row[i].tracee, "PORT") == 0  ? "port"
                                                               : "term";
        char text[256], otp[32];
        /* A keyword of C has an underscore behind it. */
        const int tag = (int)(strlen(row[i].tag) - (row[i].tag[strlen(row[i].tag) - 1] == '_'));
        snprintf(otp, sizeof otp, row[i].last ? "%d to %d" : "from %d", row[i].first, row[i].last);
        snprintf(text, sizeof text, "| %s | `%.*s` | %s | %s | %s |", of, tag, row[i].tag,
                 row[i].msg, row[i].extra, otp);
        if (!is_said(text))
            fail_msg("doc/safety.md has no row %s", text);
    }
    assert_false(is_said("| process | `sent` | ANY | TO | from 25 |"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(document_has_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
