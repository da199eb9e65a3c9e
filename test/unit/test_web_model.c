/* test_web_model.c - what pages are told of aggregations (c_src/web/model.h), from programs in the
 * local tier that run to their end: each addition once, whatever was cleared or truncated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/handle.h"
#include "util/buftext.h"
#include "web/keys.h"
#include "web/model.h"

struct fixture {
    erltrace_t *h;
    struct model *m;
    struct buf results, column, state;
    char truncated[32]; /* the aggregation that a trunc() acts on */
    atomic_size_t keys; /* bytes of the keys */
};

static int on_record(const struct erltrace_record *r, void *arg)
{
    (void)r;
    (void)arg;
    return ERLTRACE_CONSUME_THIS;
}

/* As the server does it: looks before a clear() or trunc(), and after a trunc(). */
static int on_data(const struct erltrace_record *r, const struct erltrace_data *d, void *arg)
{
    struct fixture *f = arg;
    (void)r;
    if (f->truncated[0] != '\0')
        model_after(f->m, f->h, f->truncated);
    f->truncated[0] = '\0';
    if (d == NULL)
        return ERLTRACE_CONSUME_THIS;
    bool trunc = strcmp(d->action, "trunc") == 0;
    const char *name = erltrace_data_aggregation(d, 0);
    if (name == NULL || (!trunc && strcmp(d->action, "clear") != 0))
        return ERLTRACE_CONSUME_THIS;
    model_before(f->m, f->h, name);
    if (trunc)
        strcpy(f->truncated, name);
    return ERLTRACE_CONSUME_THIS;
}

static void run(struct fixture *f, const char *text)
{
    const char *why;
    int err, state;
    f->h = erltrace_open(ERLTRACE_VERSION, 0, &err);
    assert_non_null(f->h);
    assert_int_equal(erltrace_setopt(f->h, "quiet", NULL), 0);
    assert_int_equal(erltrace_target_local(f->h), 0);
    assert_non_null(erltrace_program_strcompile(f->h, "test", ERLTRACE_SPEC_SCRIPT, text, 0, NULL));
    assert_int_equal(erltrace_enable(f->h), 0);
    f->m = model_new(f->h, &f->keys, &why);
    assert_non_null(f->m);
    assert_int_equal(erltrace_go(f->h), 0);
    do
        state = erltrace_work(f->h, NULL, 1000, on_record, on_data, f);
    while (state == ERLTRACE_WORK_OKAY);
    assert_int_equal(state, ERLTRACE_WORK_DONE);
}

static void read_once(struct fixture *f, uint64_t n)
{
    buf_reset(&f->results);
    buf_reset(&f->column);
    assert_int_equal(model_read(f->m, f->h, n, 5000, 1000, &f->results, &f->column), 0);
}

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){.h = NULL};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    model_free(f->m);
    assert_int_equal(atomic_load(&f->keys), 0);
    erltrace_close(f->h);
    buf_free(&f->results);
    buf_free(&f->column);
    buf_free(&f->state);
    return 0;
}

#define HEAD(n) "{\"type\":\"results\",\"n\":" #n ",\"t\":5000,\"dt\":1000,\"aggregations\":["

static void additions_are_told_once(void **state)
{
    struct fixture *f = *state;
    run(f, "BEGIN { @c[\"a\\\"b\", 7] = count(); @c[\"a\\\"b\", 7] = count(); @s = sum(-3); "
           "@m = min(4); @m = min(-7); @a = avg(5); @d = stddev(3); @q = lquantize(2, 0, 4, 1); "
           "exit(0); }");
    assert_int_equal(model_size(f->m), 6);
    read_once(f, 1);
    assert_string_equal(buf_str(&f->results),
                        HEAD(1) "{\"id\":0,\"keys\":[[0,\"a\\\"b\",7]],\"add\":[[0,2]]},"
                                "{\"id\":1,\"keys\":[[0]],\"add\":[[0,-3]]},"
                                "{\"id\":2,\"keys\":[[0]],\"add\":[[0,-7]]},"
                                "{\"id\":3,\"keys\":[[0]],\"add\":[[0,1,5]]},"
                                "{\"id\":4,\"keys\":[[0]],\"add\":[[0,1,3,9]]},"
                                "{\"id\":5,\"keys\":[[0]],\"add\":[[0,3,1]]}]}");
    /* All keys together, and no extremes. */
    assert_string_equal(buf_str(&f->column),
                        "{\"n\":1,\"t\":5000,\"dt\":1000,\"aggregations\":["
                        "{\"id\":0,\"add\":[[-2,2]]},{\"id\":1,\"add\":[[-2,-3]]},"
                        "{\"id\":3,\"add\":[[-2,1,5]]},{\"id\":4,\"add\":[[-2,1,3,9]]},"
                        "{\"id\":5,\"add\":[[-2,3,1]]}]}");
    read_once(f, 2);
    assert_string_equal(buf_str(&f->results), HEAD(2) "]}");
    model_state(f->m, 2, 5000, 4, &f->state);
    assert_non_null(strstr(buf_str(&f->state),
                           "\"skipped\":4,\"aggregations\":[{\"id\":0,\"normal\":1,"
                           "\"keys\":[[0,\"a\\\"b\",7]],\"now\":[[0,2]]},"));
}

static void what_is_cleared_was_added(void **state)
{
    struct fixture *f = *state;
    run(f, "BEGIN { @c[\"k\"] = sum(5); clear(@c); } BEGIN { @c[\"k\"] = sum(2); exit(0); }");
    read_once(f, 1);
    assert_non_null(strstr(buf_str(&f->results), "\"keys\":[[0,\"k\"]],\"add\":[[0,7]]"));
    assert_non_null(strstr(buf_str(&f->results), "\"now\":["));
    assert_non_null(strstr(buf_str(&f->column), "\"add\":[[-2,7]]"));
}

static void what_is_truncated_was_added_and_is_gone(void **state)
{
    struct fixture *f = *state;
    run(f, "BEGIN { @c[\"k\"] = sum(5); exit(0); } END { trunc(@c); }");
    read_once(f, 1);
    assert_string_equal(buf_str(&f->results), HEAD(1) "{\"id\":0,\"keys\":[[0,\"k\"]],"
                                                      "\"add\":[[0,5]],\"gone\":[0],\"now\":[]}]}");
    model_state(f->m, 1, 5000, 0, &f->state);
    assert_non_null(strstr(buf_str(&f->state), "\"keys\":[],\"now\":[]"));
}

static void divisors_are_told_and_not_applied(void **state)
{
    struct fixture *f = *state;
    run(f, "BEGIN { @c = sum(500); normalize(@c, 100); exit(0); }");
    read_once(f, 1);
    assert_string_equal(buf_str(&f->results), HEAD(1) "{\"id\":0,\"keys\":[[0]],"
                                                      "\"add\":[[0,500]],\"normal\":100}]}");
}

/* Marks a value as a lower bound, as a node marks it; nothing in the local tier is one. */
static void mark_lower(struct fixture *f, uint32_t agg, size_t entry)
{
    struct aggr_table *t = &f->h->session.aggr;
    const struct aggr_entry *e = t->aggr[agg].entry[entry];
    aggr_mark_lower(t, agg, e->raw, e->rawlen);
}

static void lower_bounds_are_told(void **state)
{
    struct fixture *f = *state;
    run(f, "BEGIN { @s[1] = sum(5); @s[2] = sum(6); @c = count(); exit(0); }");
    mark_lower(f, 0, 1);
    read_once(f, 1);
    assert_string_equal(buf_str(&f->results),
                        HEAD(1) "{\"id\":0,\"keys\":[[0,1],[1,2]],\"add\":[[0,5],[1,6]],"
                                "\"at_least\":[1]},"
                                "{\"id\":1,\"keys\":[[0]],\"add\":[[0,1]]}]}");
    read_once(f, 2); /* once is enough */
    assert_string_equal(buf_str(&f->results), HEAD(2) "]}");
    model_state(f->m, 2, 5000, 0, &f->state);
    assert_non_null(strstr(buf_str(&f->state), "\"now\":[[0,5],[1,6]],\"at_least\":[1]}"));
    /* A value that is cleared is none any more; those that still are come with `now`. */
    mark_lower(f, 0, 0);
    read_once(f, 3);
    assert_string_equal(buf_str(&f->results), HEAD(3) "{\"id\":0,\"at_least\":[0]}]}");
    model_before(f->m, f->h, "s");
    aggr_clear(&f->h->session.aggr.aggr[0]);
    mark_lower(f, 0, 0);
    read_once(f, 4);
    assert_string_equal(buf_str(&f->results), HEAD(4) "{\"id\":0,\"now\":[],\"at_least\":[0]}]}");
}

static void lower_bounds_of_keys_without_room_are_told(void **state)
{
    struct fixture *f = *state;
    run(f, "BEGIN { @s[1] = sum(5); exit(0); }");
    atomic_store(&f->keys, KEYS_SHARED); /* no room for a key */
    mark_lower(f, 0, 0);
    read_once(f, 1);
    atomic_store(&f->keys, 0);
    assert_string_equal(buf_str(&f->results),
                        HEAD(1) "{\"id\":0,\"add\":[[-1,5]],\"at_least\":[-1]}]}");
    read_once(f, 2);
    assert_string_equal(buf_str(&f->results), HEAD(2) "]}");
    model_state(f->m, 2, 5000, 0, &f->state);
    assert_non_null(strstr(buf_str(&f->state), "\"now\":[[-1,5]],\"at_least\":[-1]}"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(additions_are_told_once),
        T(what_is_cleared_was_added),
        T(what_is_truncated_was_added_and_is_gone),
        T(divisors_are_told_and_not_applied),
        T(lower_bounds_are_told),
        T(lower_bounds_of_keys_without_room_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
