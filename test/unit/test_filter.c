/* test_filter.c - what the VM can decide of a predicate: a table of predicates and the conditions
 * that calls must satisfy. That these change no answer is tested on nodes:
 * test/e2e/test_filters.py.
 */
#include "d_text.h"
#include "tier/filter.h"
#include "util/buftext.h"

static const struct {
    const char *predicate;
    const char *condition; /* NULL: none, each call has to be seen */
} table[] = {
    /* tests, and their opposites */
    {"argv[0] == atom(\"get\")", "argv[0] == atom(\"get\")"},
    {"atom(\"get\") != argv[1]", "argv[1] != atom(\"get\")"},
    {"!(argv[0] == atom(\"get\"))", "argv[0] != atom(\"get\")"},
    {"argv[0]", "argv[0] != NULL"},
    {"!argv[0]", "argv[0] == NULL"},
    {"argv[0] == NULL", "argv[0] == NULL"},
    {"argv[0] == 5000000000", "argv[0] == 5000000000"},
    {"argv[0] != -1", "argv[0] != -1"},
    {"argv[0] == 1 && atom(\"x\") != NULL", "argv[0] == 1"},
    {"argv[0] == 1 || atom(\"x\") == NULL", NULL},
    {"is_atom(argv[0])", "is_atom(argv[0])"},
    {"!is_list(argv[0])", "!is_list(argv[0])"},
    {"is_atom(argv[0]) == 0", "!is_atom(argv[0])"},
    {"is_atom(argv[0]) >= 0", NULL},
    {"term_int(argv[0]) > 100", "term_int(argv[0]) > 100"},
    {"100 < term_int(argv[0])", "term_int(argv[0]) > 100"},
    {"!(term_int(argv[0]) > 100)", "term_int(argv[0]) <= 100"},
    {"tuple_size(argv[0]) == 2", "tuple_size(argv[0]) == 2"},
    {"byte_size(argv[0]) != 0", "byte_size(argv[0]) != 0"},
    /* a term of many integers is one at the ends */
    {"term_int(argv[0]) < 9223372036854775807", NULL},
    {"map_size(argv[0]) < 9223372036854775807", "map_size(argv[0]) < 9223372036854775807"},
    /* the text of a list takes time, and is left to the program */
    {"argv[0] == \"get\"", "is_list(argv[0]) || argv[0] == \"get\""},
    {"argv[0] == \"\"", NULL},
    {"argv[0] == \"a\\\\0\"", NULL},
    /* parts of terms */
    {"element(2, argv[0]) == 1", "element(2, argv[0]) == 1"},
    {"hd(tl(argv[0])) == atom(\"x\")", "hd(tl(argv[0])) == atom(\"x\")"},
    {"map_get(atom(\"k\"), argv[0]) == 1", "map_get(atom(\"k\"), argv[0]) == 1"},
    {"map_get(7, argv[0]) == NULL", "map_get(7, argv[0]) == NULL"},
    {"element(0, argv[0]) == 1", NULL},
    {"map_get(\"k\", argv[0]) == 1", NULL},
    {"argv[15] == 1", "argv[15] == 1"},
    {"argv[16] == 1", NULL},
    {"tl(tl(tl(tl(tl(tl(tl(argv[0]))))))) == 1", "tl(tl(tl(tl(tl(tl(tl(argv[0]))))))) == 1"},
    {"tl(tl(tl(tl(tl(tl(tl(tl(tl(argv[0]))))))))) == 1", NULL},
    /* together */
    {"is_atom(argv[0]) && argv[1] == 1", "is_atom(argv[0]) && argv[1] == 1"},
    {"is_atom(argv[0]) || argv[1] == 1", "is_atom(argv[0]) || argv[1] == 1"},
    {"!(is_atom(argv[0]) || argv[1] == 1)", "!is_atom(argv[0]) && argv[1] != 1"},
    {"(is_atom(argv[0]) || argv[1] == 1) && argv[2] == 2",
     "(is_atom(argv[0]) || argv[1] == 1) && argv[2] == 2"},
    {"(is_atom(argv[0]) || argv[1] == 1) && (argv[2] == 2 || argv[2] == 3)",
     "(is_atom(argv[0]) || argv[1] == 1) && (argv[2] == 2 || argv[2] == 3)"},
    {"is_atom(argv[0]) && argv[1] == 1 || argv[2] == 2 && argv[3] == 3",
     "(is_atom(argv[0]) && argv[1] == 1) || (argv[2] == 2 && argv[3] == 3)"},
    /* unknown parts, before and after */
    {"is_atom(argv[0]) && x", "is_atom(argv[0])"},
    {"x && is_atom(argv[0])", "is_atom(argv[0])"},
    {"is_atom(argv[0]) && timestamp > 5 && argv[1] == 1", "is_atom(argv[0]) && argv[1] == 1"},
    {"is_atom(argv[0]) || x", NULL},
    {"x || is_atom(argv[0])", NULL},
    {"(is_atom(argv[0]) || x) && argv[1] == 1", "argv[1] == 1"},
    {"probefunc == \"f/1\" && is_atom(argv[0])", "is_atom(argv[0])"},
    {"args[0] == \"<0.1.0>\" && is_atom(argv[0])", "is_atom(argv[0])"},
    {"is_atom(argv[0]) && argv[0] == argv[1]", "is_atom(argv[0])"},
    {"is_list(argv[0]) && length(argv[0]) > 3", "is_list(argv[0])"},
    /* what may fault or change something has to be seen */
    {"10 / term_int(argv[0]) > 1", NULL},
    {"10 / x > 1 && is_atom(argv[0])", NULL},
    {"is_atom(argv[0]) && 10 / x > 1", "is_atom(argv[0])"},
    {"x++ && is_atom(argv[0])", NULL},
    {"is_atom(argv[0]) && x++", "is_atom(argv[0])"},
    {"length(argv[0]) > 3 && is_atom(argv[1])", NULL},
    /* nothing of the arguments */
    {"x", NULL},
    {"1", NULL},
    {"term_int(retval) == 1", NULL},
};

/* Returns the condition of a predicate in `out`; false: there is none. */
static bool condition(const char *predicate, uint64_t budget, struct filter *f, struct buf *out)
{
    struct d_text d;
    struct buf text = BUF_INIT;
    buf_reset(out);
    buf_printf(&text, "int64_t x; erlang*:m:f/4:entry /%s/ { }", predicate);
    d_open(&d);
    if (d_add(&d, COMPILE_SCRIPT, buf_str(&text), NULL) != 0 || d_image(&d) != 0)
        fail_msg("/%s/ does not compile", predicate);
    const bool found = filter_find(f, &d.img, 0, budget);
    if (found)
        filter_text(f, out);
    d_close(&d);
    buf_free(&text);
    return found;
}

static void test_table(void **state)
{
    struct buf out = BUF_INIT;
    struct filter *f = malloc(sizeof *f);
    unsigned wrong = 0;
    (void)state;
    assert_non_null(f);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *want = table[i].condition;
        const bool found = condition(table[i].predicate, DIF_BUDGET, f, &out);
        if (found == (want != NULL) && (!found || strcmp(buf_str(&out), want) == 0))
            continue;
        print_error("/%s/: %s, expected %s\n", table[i].predicate, found ? buf_str(&out) : "none",
                    want != NULL ? want : "none");
        wrong++;
    }
    assert_int_equal(wrong, 0);
    buf_free(&out);
    free(f);
}

/* Predicates that could exhaust an event's budget together have to be seen, as that is a fault. */
static void test_budget(void **state)
{
    struct buf out = BUF_INIT;
    struct filter *f = malloc(sizeof *f);
    (void)state;
    assert_non_null(f);
    assert_true(condition("is_atom(argv[0])", DIF_BUDGET, f, &out));
    assert_int_equal(f->terms, 1);
    assert_false(condition("is_atom(argv[0])", DIF_BUDGET_LEAST, f, &out));
    buf_free(&out);
    free(f);
}

/* What is too large for the agent has no condition. */
static void test_size(void **state)
{
    struct buf out = BUF_INIT, text = BUF_INIT;
    struct filter *f = malloc(sizeof *f);
    (void)state;
    assert_non_null(f);
    for (unsigned n = 1; n < 200; n++) {
        buf_printf(&text, "%sargv[%u] == %u", n > 1 ? " || " : "", n % 16, n);
        if (condition(buf_str(&text), DIF_BUDGET_MOST, f, &out))
            assert_in_range(n, 1, FILTER_PARTS / 2);
        else
            assert_in_range(n, FILTER_PARTS / 2, 200);
    }
    buf_free(&text);
    buf_free(&out);
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
