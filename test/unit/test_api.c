/* test_api.c - include/erltrace.h in the local tier: the life of a handle, what handlers see and
 * decide, aggregations, and every way of using it wrongly. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "util/buftext.h"
#include "emulated.h"
#include "erltrace.h"
#include "session/handle.h"

/* What the handlers of a test have seen, in words. */
struct seen {
    erltrace_t *h;
    struct buf text;
    int answer;       /* what they return */
    unsigned calls;   /* how often they were called */
    const char *only; /* data handler: the action that is printed; NULL: all */
};

static erltrace_t *open_handle(int flags)
{
    int err = -1;
    erltrace_t *h = erltrace_open(ERLTRACE_VERSION, flags, &err);
    assert_non_null(h);
    assert_int_equal(erltrace_errno(h), ERLTRACE_E_OK);
    return h;
}

/* A handle with one quiet program in the local tier. */
static erltrace_t *with_program(const char *text)
{
    erltrace_t *h = open_handle(0);
    assert_int_equal(erltrace_setopt(h, "quiet", NULL), 0);
    assert_int_equal(erltrace_target_local(h), 0);
    assert_non_null(erltrace_program_strcompile(h, "test", ERLTRACE_SPEC_SCRIPT, text, 0, NULL));
    return h;
}

static int to_text(const struct erltrace_output *o, void *arg)
{
    struct seen *s = arg;
    if (o->kind == ERLTRACE_OUTPUT_DATA)
        buf_add(&s->text, o->text, o->length);
    return ERLTRACE_HANDLE_OK;
}

/* Works until it is done; the last result. */
static int finish(erltrace_t *h, erltrace_record_fn *record, erltrace_data_fn *data, void *arg)
{
    int state;
    do
        state = erltrace_work(h, NULL, 1000, record, data, arg);
    while (state == ERLTRACE_WORK_OKAY);
    return state;
}

static void run_program(erltrace_t *h)
{
    assert_int_equal(erltrace_go(h), 0);
    assert_int_equal(finish(h, NULL, NULL, NULL), ERLTRACE_WORK_DONE);
}

/* -- opening, closing, errors ------------------------------------------------------------------ */

static void a_version_that_is_not_spoken_is_refused(void **state)
{
    int err = 0;
    (void)state;
    assert_null(erltrace_open(ERLTRACE_VERSION + 1, 0, &err));
    assert_int_equal(err, ERLTRACE_E_VERSION);
    assert_null(erltrace_open(ERLTRACE_VERSION, 0x4000, &err));
    assert_int_equal(err, ERLTRACE_E_INVAL);
    assert_null(erltrace_open(0, 0, NULL));
    assert_string_equal(erltrace_errmsg(NULL, ERLTRACE_E_OPTNAME), "Invalid option name");
    assert_string_equal(erltrace_errmsg(NULL, 4711), "unknown error");
    assert_string_equal(erltrace_errmsg(NULL, -1), "unknown error");
}

static int no_placed(const struct erltrace_placed *p, void *arg)
{
    (void)p;
    (void)arg;
    return 0;
}

static int no_clock(const struct erltrace_clock *c, void *arg)
{
    (void)c;
    (void)arg;
    return 1;
}

static int no_probe(const struct erltrace_probe *p, void *arg)
{
    (void)p;
    (void)arg;
    return 0;
}

static int no_aggr(const struct erltrace_aggr *a, void *arg)
{
    (void)a;
    (void)arg;
    return 0;
}

static void null_is_no_handle(void **state)
{
    int64_t v;
    (void)state;
    erltrace_close(NULL);
    erltrace_interrupt(NULL);
    assert_int_equal(erltrace_errno(NULL), ERLTRACE_E_INVAL);
    assert_int_equal(erltrace_setopt(NULL, "quiet", NULL), -1);
    assert_null(erltrace_setopt_hint(NULL, "quite"));
    assert_int_equal(erltrace_getopt(NULL, "quiet", &v), -1);
    assert_int_equal(erltrace_setopt_environment(NULL, NULL), -1);
    assert_int_equal(erltrace_target_local(NULL), -1);
    assert_int_equal(erltrace_target_node(NULL, "a", NULL), -1);
    assert_int_equal(erltrace_target_pid(NULL, 1), -1);
    assert_int_equal(erltrace_target_relay(NULL, "a@b", -1), -1);
    assert_int_equal(erltrace_target_command(NULL, "true"), -1);
    assert_int_equal(erltrace_set_cookie(NULL, "a", NULL), -1);
    assert_int_equal(erltrace_set_name(NULL, "a@b"), -1);
    assert_int_equal(erltrace_set_tls(NULL, "verify", "ca"), -1);
    assert_int_equal(erltrace_set_agent_dir(NULL, "a"), -1);
    assert_int_equal(erltrace_set_root(NULL, "a"), -1);
    assert_string_equal(erltrace_targets(NULL), "");
    assert_null(erltrace_enabled(NULL));
    assert_int_equal(erltrace_capabilities(NULL), UINT64_MAX);
    assert_int_equal(erltrace_placed_iter(NULL, no_placed, NULL), -1);
    assert_int_equal(erltrace_clock_iter(NULL, no_clock, NULL), -1);
    assert_int_equal(erltrace_node_iter(NULL, NULL, NULL), -1);
    assert_int_equal(erltrace_agent_iter(NULL, NULL, NULL), -1);
    assert_null(erltrace_program_strcompile(NULL, "a", ERLTRACE_SPEC_NAME, "BEGIN", 0, NULL));
    assert_null(erltrace_program_fcompile(NULL, "a", 0, NULL));
    assert_null(erltrace_program_info(NULL, NULL));
    assert_int_equal(erltrace_is_destructive(NULL), -1);
    assert_int_equal(erltrace_program_dump(NULL, stdout), -1);
    assert_int_equal(erltrace_program_header(NULL, stdout, "x.h"), -1);
    assert_int_equal(erltrace_probe_iter(NULL, NULL, no_probe, NULL, NULL), -1);
    assert_int_equal(erltrace_enable(NULL), -1);
    assert_int_equal(erltrace_go(NULL), -1);
    assert_int_equal(erltrace_work(NULL, NULL, 0, NULL, NULL, NULL), ERLTRACE_WORK_ERROR);
    assert_int_equal(erltrace_fd(NULL), -1);
    assert_int_equal(erltrace_timeout(NULL), -1);
    assert_int_equal(erltrace_stop(NULL), -1);
    assert_null(erltrace_status(NULL));
    assert_int_equal(erltrace_handle_diag(NULL, NULL, NULL), -1);
    assert_int_equal(erltrace_handle_output(NULL, NULL, NULL), -1);
    assert_int_equal(erltrace_handle_fault(NULL, NULL, NULL), -1);
    assert_int_equal(erltrace_handle_drop(NULL, NULL, NULL), -1);
    assert_int_equal(erltrace_handle_setopt(NULL, NULL, NULL), -1);
    assert_int_equal(erltrace_handle_member(NULL, NULL, NULL), -1);
    assert_int_equal(erltrace_target_cluster(NULL, "a", NULL), -1);
    assert_int_equal(erltrace_handle_command(NULL, NULL, NULL), -1);
    assert_int_equal(erltrace_aggregate_snap(NULL), -1);
    assert_int_equal(erltrace_aggregate_walk(NULL, 0, no_aggr, NULL), -1);
    assert_int_equal(erltrace_aggregate_print(NULL, stdout), -1);
    assert_int_equal(erltrace_aggregate_walk_joined(NULL, NULL, 0, 0, NULL, NULL), -1);
    assert_int_equal(erltrace_aggregate_clear(NULL), -1);
    assert_null(erltrace_data_value(NULL, 0));
    assert_null(erltrace_data_aggregation(NULL, 0));
    assert_string_equal(erltrace_data_text(NULL, NULL), "");
    assert_null(erltrace_aggr_key(NULL, 0));
    assert_null(erltrace_aggr_bucket(NULL, 0));
}

/* A handle can be closed in every phase, and a second time does nothing. */
static void closing_is_possible_at_any_moment(void **state)
{
    (void)state;
    for (int steps = 0; steps < 6; steps++) {
        erltrace_t *h = open_handle(0);
        if (steps > 0) {
            erltrace_target_local(h);
            erltrace_program_strcompile(h, NULL, ERLTRACE_SPEC_NAME, "tick-1ms { @ = count(); }", 0,
                                        NULL);
        }
        if (steps > 1)
            assert_int_equal(erltrace_enable(h), 0);
        if (steps > 2)
            assert_int_equal(erltrace_go(h), 0);
        if (steps > 3)
            assert_int_equal(erltrace_work(h, NULL, 5, NULL, NULL, NULL), ERLTRACE_WORK_OKAY);
        if (steps > 4)
            assert_int_equal(erltrace_stop(h), 0);
        erltrace_close(h);
        erltrace_close(h);
    }
}

/* Each call that comes too early or too late says so, and changes nothing. */
static void order_is_checked(void **state)
{
    erltrace_t *h = open_handle(0);
    (void)state;
#define REFUSED(call, failure)                                                                     \
    do {                                                                                           \
        assert_true((call) == (failure));                                                          \
        assert_int_equal(erltrace_errno(h), ERLTRACE_E_STATE);                                     \
    } while (0)
    REFUSED(erltrace_work(h, NULL, 0, NULL, NULL, NULL), ERLTRACE_WORK_ERROR);
    REFUSED(erltrace_stop(h), -1);
    REFUSED(erltrace_fd(h), -1);
    REFUSED(erltrace_aggregate_snap(h), -1);
    REFUSED(erltrace_aggregate_walk(h, ERLTRACE_SORT_NONE, no_aggr, NULL), -1);
    REFUSED(erltrace_aggregate_print(h, stdout), -1);
    assert_int_equal(erltrace_target_local(h), 0);
    REFUSED(erltrace_target_node(h, "a@b", NULL), -1);
    REFUSED(erltrace_placed_iter(h, no_placed, NULL), -1);
    REFUSED(erltrace_clock_iter(h, no_clock, NULL), -1);
    REFUSED(erltrace_go(h), -1); /* no program */
    erltrace_close(h);
    h = with_program("BEGIN { exit(0); }");
    assert_int_equal(erltrace_go(h), 0);
    REFUSED(erltrace_go(h), -1);
    REFUSED(erltrace_enable(h), -1);
    REFUSED(erltrace_program_strcompile(h, NULL, ERLTRACE_SPEC_NAME, "BEGIN", 0, NULL), NULL);
    REFUSED(erltrace_program_fcompile(h, "x", 0, NULL), NULL);
    REFUSED(erltrace_probe_iter(h, NULL, no_probe, NULL, NULL), -1);
    REFUSED(erltrace_setopt(h, "bufsize", "1m"), -1);
    REFUSED(erltrace_setopt(h, "define", "A"), -1);
    REFUSED(erltrace_target_pid(h, 1), -1);
    assert_int_equal(erltrace_setopt(h, "aggsortrev", NULL), 0);
    assert_int_equal(finish(h, NULL, NULL, NULL), ERLTRACE_WORK_DONE);
    assert_int_equal(erltrace_work(h, NULL, 0, NULL, NULL, NULL), ERLTRACE_WORK_DONE);
    assert_int_equal(erltrace_stop(h), 0);
    REFUSED(erltrace_fd(h), -1);
    erltrace_close(h);
#undef REFUSED
}

/* The handle takes a relay's socket over, also when it does not want it, and closes it. */
static void a_relay_is_taken_over(void **state)
{
    int fd[2];
    char c;
    (void)state;
    for (int i = 0; i < 3; i++) {
        erltrace_t *h = open_handle(0);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
        if (i == 0) { /* refused */
            assert_int_equal(erltrace_target_local(h), 0);
            assert_int_equal(erltrace_target_relay(h, "a@b", fd[0]), -1);
            assert_int_equal(erltrace_errno(h), ERLTRACE_E_STATE);
        } else {
            assert_int_equal(erltrace_target_relay(h, "a@b", fd[0]), 0);
        }
        if (i == 2) { /* a node that is gone at once */
            assert_int_equal(shutdown(fd[1], SHUT_WR), 0);
            assert_non_null(
                erltrace_program_strcompile(h, NULL, ERLTRACE_SPEC_NAME, "BEGIN", 0, NULL));
            assert_int_equal(erltrace_enable(h), -1);
            assert_int_equal(erltrace_errno(h), ERLTRACE_E_LOST);
        }
        erltrace_close(h);
        while (read(fd[1], &c, 1) > 0)
            ;
        assert_int_equal(read(fd[1], &c, 1), 0);
        close(fd[1]);
    }
}

/* A cluster is the only target. */
static void a_cluster_is_alone(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        erltrace_t *h = open_handle(0);
        if (i == 0) {
            assert_int_equal(erltrace_target_cluster(h, "a@b", NULL), 0);
            assert_int_equal(erltrace_target_node(h, "c@d", NULL), -1);
            assert_int_equal(erltrace_errno(h), ERLTRACE_E_STATE);
            assert_int_equal(erltrace_target_cluster(h, "c@d", NULL), -1);
        } else if (i == 1) {
            assert_int_equal(erltrace_target_node(h, "c@d", NULL), 0);
            assert_int_equal(erltrace_target_cluster(h, "a@b", NULL), -1);
        } else if (i == 2) {
            assert_int_equal(erltrace_target_local(h), 0);
            assert_int_equal(erltrace_target_cluster(h, "a@b", NULL), -1);
        } else {
            assert_int_equal(erltrace_target_cluster(h, "a@b", NULL), 0);
            assert_int_equal(erltrace_target_pid(h, 1), -1);
        }
        assert_int_equal(erltrace_errno(h), ERLTRACE_E_STATE);
        erltrace_close(h);
    }
}

static void arguments_are_checked(void **state)
{
    erltrace_t *h = open_handle(0);
    char *words[] = {(char *)"a", NULL};
    (void)state;
#define REFUSED(call, failure, code)                                                               \
    do {                                                                                           \
        assert_true((call) == (failure));                                                          \
        assert_int_equal(erltrace_errno(h), code);                                                 \
    } while (0)
    REFUSED(erltrace_setopt(h, NULL, "1"), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_getopt(h, "quiet", NULL), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_target_node(h, "", NULL), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_target_pid(h, 0), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_target_relay(h, "a@b", -1), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_target_command(h, NULL), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_node_iter(h, NULL, NULL), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_agent_iter(h, NULL, NULL), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_program_strcompile(h, NULL, ERLTRACE_SPEC_NAME, NULL, 0, NULL), NULL,
            ERLTRACE_E_INVAL);
    REFUSED(erltrace_program_strcompile(h, NULL, (enum erltrace_spec)99, "BEGIN", 0, NULL), NULL,
            ERLTRACE_E_INVAL);
    REFUSED(erltrace_program_strcompile(h, NULL, ERLTRACE_SPEC_NAME, "BEGIN", 2, words), NULL,
            ERLTRACE_E_INVAL);
    REFUSED(erltrace_program_strcompile(h, NULL, ERLTRACE_SPEC_NAME, "BEGIN", -1, NULL), NULL,
            ERLTRACE_E_INVAL);
    REFUSED(erltrace_program_fcompile(h, NULL, 0, NULL), NULL, ERLTRACE_E_INVAL);
    REFUSED(erltrace_program_fcompile(h, "/no/such/file.d", 0, NULL), NULL, ERLTRACE_E_OPEN);
    assert_string_equal(erltrace_errmsg(h, ERLTRACE_E_OPEN),
                        "failed to open /no/such/file.d: No such file or directory");
    REFUSED(erltrace_program_info(h, NULL), NULL, ERLTRACE_E_INVAL);
    REFUSED(erltrace_program_dump(h, NULL), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_program_header(h, NULL, "x.h"), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_program_header(h, stdout, NULL), -1, ERLTRACE_E_INVAL);
    REFUSED(erltrace_program_header(h, stdout, "x.h"), -1, ERLTRACE_E_STATE);
    REFUSED(erltrace_probe_iter(h, NULL, NULL, NULL, NULL), -1, ERLTRACE_E_INVAL);
    erltrace_close(h);
#undef REFUSED
}

static void options_are_set_and_read(void **state)
{
    erltrace_t *h = open_handle(0);
    int64_t v;
    (void)state;
    assert_int_equal(erltrace_getopt(h, "quiet", &v), 0);
    assert_int_equal(v, ERLTRACE_OPT_UNSET);
    assert_int_equal(erltrace_setopt(h, "bufsize", "16k"), 0);
    assert_int_equal(erltrace_getopt(h, "bufsize", &v), 0);
    assert_int_equal(v, 16384);
    assert_int_equal(erltrace_setopt(h, "switchrate", "10hz"), 0);
    assert_int_equal(erltrace_getopt(h, "switchrate", &v), 0);
    assert_int_equal(v, 100000000);
    assert_int_equal(erltrace_setopt(h, "nosuch", NULL), -1);
    assert_int_equal(erltrace_errno(h), ERLTRACE_E_OPTNAME);
    assert_int_equal(erltrace_setopt(h, "bufsize", "4q"), -1);
    assert_int_equal(erltrace_errno(h), ERLTRACE_E_OPTVAL);
    assert_string_equal(erltrace_errmsg(h, erltrace_errno(h)),
                        "Invalid value for specified option");
    assert_int_equal(erltrace_setopt(h, "define", NULL), -1);
    assert_int_equal(erltrace_setopt(h, "define", "A=1"), 0);
    assert_int_equal(erltrace_setopt(h, "stdc", "x"), -1);
    assert_int_equal(erltrace_getopt(h, "nosuch", &v), -1);
    assert_int_equal(erltrace_errno(h), ERLTRACE_E_OPTNAME);
    setenv("DTRACE_OPT_AGGSIZE", "rubbish", 1);
    const char *name = NULL;
    assert_int_equal(erltrace_setopt_environment(h, &name), -1);
    assert_string_equal(name, "aggsize");
    unsetenv("DTRACE_OPT_AGGSIZE");
    assert_int_equal(erltrace_setopt_environment(h, &name), 0);
    erltrace_close(h);
}

/* -- diagnostics ------------------------------------------------------------------------------- */

static void note_diag(const struct erltrace_diag *d, void *arg)
{
    struct seen *s = arg;
    s->calls++;
    buf_printf(&s->text, "%s %s %d:%d+%d <%s> %s\n", d->tag, d->file, d->line, d->column, d->length,
               d->source, d->hint != NULL ? d->hint : "-");
    assert_int_equal(d->severity, ERLTRACE_ERROR);
    assert_non_null(strstr(d->rendered, d->tag));
    assert_non_null(strstr(d->rendered, d->text));
    /* No way back into the handle from here. */
    assert_int_equal(erltrace_enable(s->h), -1);
    assert_int_equal(erltrace_errno(s->h), ERLTRACE_E_STATE);
}

static void diagnostics_have_their_place(void **state)
{
    struct seen s = {.h = open_handle(0)};
    (void)state;
    erltrace_handle_diag(s.h, note_diag, &s);
    assert_null(erltrace_program_strcompile(s.h, "two", ERLTRACE_SPEC_SCRIPT,
                                            "BEGIN { trace(timestmp); }\nEND { x += 1; }\n", 0,
                                            NULL));
    assert_string_equal(buf_str(&s.text),
                        "D_IDENT_UNDEF two 1:15+8 <BEGIN { trace(timestmp); }> did you mean "
                        "'timestamp'?\n"
                        "D_VAR_UNDEF two 2:7+1 <END { x += 1; }> declare it, or assign "
                        "to it first: x = 0\n");
    assert_int_equal(s.calls, 2);
    assert_int_equal(erltrace_enable(s.h), -1);
    assert_int_equal(erltrace_errno(s.h), ERLTRACE_E_COMPILE);
    erltrace_close(s.h);
    buf_free(&s.text);
}

static void the_error_has_the_first_text(void **state)
{
    erltrace_t *h = open_handle(0);
    (void)state;
    assert_null(
        erltrace_program_strcompile(h, NULL, ERLTRACE_SPEC_NAME, "BEGIN { y += 1; }", 0, NULL));
    assert_int_equal(erltrace_errno(h), ERLTRACE_E_COMPILE);
    assert_string_equal(erltrace_errmsg(h, ERLTRACE_E_COMPILE),
                        "y has not yet been declared or assigned");
    assert_string_equal(erltrace_errmsg(h, ERLTRACE_E_NOMEM), "Memory allocation failure");
    erltrace_close(h);
}

static void rendered(const struct erltrace_diag *d, void *arg)
{
    buf_adds(&((struct seen *)arg)->text, d->rendered);
}

static void diagnostics_are_rendered_as_asked(void **state)
{
    static const struct {
        int flags;
        const char *option, *want;
    } row[] = {
        {0, NULL,
         "erltrace: -n:1:9: error: [D_VAR_UNDEF] y has not yet been declared or assigned\n"
         "    1 | BEGIN { y += 1; }\n      |         ^  declare "
         "it, or assign to it first: y = 0\n"},
        {0, "errform",
         "erltrace: invalid probe specifier BEGIN { y += 1; }: in action list: y has not yet been "
         "declared or assigned\n"},
        {ERLTRACE_O_JSON, "errform",
         "{\"type\":\"error\",\"severity\":\"error\",\"tag\":\"D_VAR_UNDEF\",\"file\":\"-n\","
         "\"line\":1,\"column\":9,\"text\":\"y has not yet been declared or assigned\","
         "\"hint\":\"declare it, or assign to it first: y = 0\"}\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct seen s = {.h = open_handle(row[i].flags)};
        if (row[i].option != NULL)
            assert_int_equal(erltrace_setopt(s.h, row[i].option, "dtrace"), 0);
        erltrace_handle_diag(s.h, rendered, &s);
        assert_null(erltrace_program_strcompile(s.h, NULL, ERLTRACE_SPEC_NAME, "BEGIN { y += 1; }",
                                                0, NULL));
        assert_string_equal(buf_str(&s.text), row[i].want);
        erltrace_close(s.h);
        buf_free(&s.text);
    }
}

/* -- records ----------------------------------------------------------------------------------- */

static int describe_record(const struct erltrace_record *r, void *arg)
{
    struct seen *s = arg;
    s->calls++;
    buf_printf(&s->text, "[%u %s:%s:%s:%s %u]", r->epid, r->probe->provider, r->probe->module,
               r->probe->function, r->probe->name, r->probe->id);
    assert_non_null(r->program);
    assert_true(r->timestamp > 0);
    assert_string_equal(r->probe->node, "");
    return s->answer;
}

static int describe_data(const struct erltrace_record *r, const struct erltrace_data *d, void *arg)
{
    struct seen *s = arg;
    size_t length;
    (void)r;
    if (d == NULL) {
        buf_adds(&s->text, ".");
        return s->only != NULL ? ERLTRACE_CONSUME_NEXT : s->answer;
    }
    buf_printf(&s->text, " %s(%s", d->action, d->format != NULL ? d->format : "-");
    for (size_t i = 0; i < d->nvalues; i++) {
        const struct erltrace_value *v = erltrace_data_value(d, i);
        if (v->kind == ERLTRACE_VALUE_INT || v->kind == ERLTRACE_VALUE_UINT)
            buf_printf(&s->text, " %c%u:%lld", v->kind == ERLTRACE_VALUE_INT ? 'i' : 'u', v->size,
                       (long long)v->number);
        else
            buf_printf(&s->text, " '%.*s'", (int)v->length, v->text);
    }
    assert_null(erltrace_data_value(d, d->nvalues));
    for (size_t i = 0; i < d->naggregations; i++)
        buf_printf(&s->text, " @%s", erltrace_data_aggregation(d, i));
    assert_null(erltrace_data_aggregation(d, d->naggregations));
    const char *text = erltrace_data_text(d, &length);
    assert_int_equal(strlen(text), length);
    buf_printf(&s->text, ")=<%s>", text);
    return s->only == NULL || strcmp(s->only, d->action) == 0 ? ERLTRACE_CONSUME_THIS
                                                              : ERLTRACE_CONSUME_NEXT;
}

static const char recording[] =
    "BEGIN { trace(\"abc\"); printf(\"%d %s|\", 42, \"x\"); @b = count(); printa(\"%@d\", @b); "
    "clear(@b); exit(3); }";

static void records_are_shown_part_by_part(void **state)
{
    struct seen s = {0}, out = {0};
    (void)state;
    s.h = with_program(recording);
    erltrace_handle_output(s.h, to_text, &out);
    assert_int_equal(erltrace_go(s.h), 0);
    assert_int_equal(finish(s.h, describe_record, describe_data, &s), ERLTRACE_WORK_DONE);
    assert_string_equal(buf_str(&s.text),
                        "[1 dtrace:::BEGIN 1] trace(- 'abc')=<abc> "
                        "printf(%d %s| i4:42 'x')=<42 x|> printa(%@d @b)=<1> clear(- @b)=<> "
                        "exit(- i4:3)=<>.");
    assert_string_equal(buf_str(&out.text), "abc42 x|1");
    const struct erltrace_status *st = erltrace_status(s.h);
    assert_int_equal(st->state, ERLTRACE_STATE_DONE);
    assert_true(st->exited);
    assert_int_equal(st->status, 3);
    assert_int_equal(st->recorded, 1);
    assert_int_equal(st->lost, 0);
    assert_int_equal(st->probes, 1);
    erltrace_close(s.h);
    buf_free(&s.text);
    buf_free(&out.text);
}

/* A record that is not shown acts all the same, and its actions are not seen. */
static void a_hidden_record_still_acts(void **state)
{
    struct seen s = {.answer = ERLTRACE_CONSUME_NEXT}, out = {0};
    (void)state;
    s.h = with_program(recording);
    erltrace_handle_output(s.h, to_text, &out);
    assert_int_equal(erltrace_go(s.h), 0);
    assert_int_equal(finish(s.h, describe_record, describe_data, &s), ERLTRACE_WORK_DONE);
    assert_string_equal(buf_str(&s.text), "[1 dtrace:::BEGIN 1]");
    assert_string_equal(buf_str(&out.text), "");
    assert_int_equal(erltrace_status(s.h)->status, 3);
    erltrace_close(s.h);
    buf_free(&s.text);
}

static void single_actions_can_be_hidden(void **state)
{
    struct seen s = {.only = "printf"}, out = {0};
    (void)state;
    s.h = with_program(recording);
    erltrace_handle_output(s.h, to_text, &out);
    assert_int_equal(erltrace_go(s.h), 0);
    assert_int_equal(finish(s.h, NULL, describe_data, &s), ERLTRACE_WORK_DONE);
    assert_string_equal(buf_str(&out.text), "42 x|");
    erltrace_close(s.h);
    buf_free(&s.text);
    buf_free(&out.text);
}

/* The same in the frame of records that are not quiet. */
static void the_prefix_comes_with_the_first_shown_action(void **state)
{
    struct seen s = {.only = "exit"}, out = {0};
    (void)state;
    s.h = with_program("BEGIN { trace(1); } BEGIN { trace(2); exit(0); }");
    erltrace_setopt(s.h, "quiet", "no");
    erltrace_handle_output(s.h, to_text, &out);
    assert_int_equal(erltrace_go(s.h), 0);
    assert_int_equal(finish(s.h, NULL, describe_data, &s), ERLTRACE_WORK_DONE);
    const char *line = strchr(buf_str(&out.text), '\n') + 1;
    assert_string_equal(line + 3, "      1                           :BEGIN ");
    erltrace_close(s.h);
    buf_free(&s.text);
    buf_free(&out.text);
}

static void a_handler_can_end_the_trace(void **state)
{
    struct seen s = {.answer = ERLTRACE_CONSUME_ABORT};
    (void)state;
    s.h = with_program("tick-1ms { trace(1); }");
    assert_int_equal(erltrace_go(s.h), 0);
    assert_int_equal(finish(s.h, describe_record, NULL, &s), ERLTRACE_WORK_ERROR);
    assert_int_equal(s.calls, 1);
    assert_int_equal(erltrace_errno(s.h), ERLTRACE_E_ABORT);
    assert_int_equal(erltrace_status(s.h)->state, ERLTRACE_STATE_FAILED);
    assert_int_equal(erltrace_work(s.h, NULL, 0, NULL, NULL, NULL), ERLTRACE_WORK_ERROR);
    assert_int_equal(erltrace_errno(s.h), ERLTRACE_E_STATE);
    erltrace_close(s.h);
    buf_free(&s.text);
}

static int close_it(const struct erltrace_record *r, void *arg)
{
    struct seen *s = arg;
    (void)r;
    s->calls++;
    assert_int_equal(erltrace_stop(s->h), -1);
    assert_int_equal(erltrace_errno(s->h), ERLTRACE_E_STATE);
    assert_int_equal(erltrace_work(s->h, NULL, 0, NULL, NULL, NULL), ERLTRACE_WORK_ERROR);
    assert_int_equal(erltrace_status(s->h)->state, ERLTRACE_STATE_RUNNING);
    erltrace_close(s->h); /* only asks for the end */
    return ERLTRACE_CONSUME_THIS;
}

static void closing_inside_a_handler_ends_the_trace(void **state)
{
    struct seen s = {0};
    (void)state;
    s.h = with_program("tick-1ms { trace(1); } END { exit(5); }");
    assert_int_equal(erltrace_go(s.h), 0);
    int work = erltrace_work(s.h, NULL, 1000, close_it, NULL, &s);
    assert_true(s.calls > 0);
    while (work == ERLTRACE_WORK_OKAY)
        work = erltrace_work(s.h, NULL, 1000, NULL, NULL, NULL);
    assert_int_equal(work, ERLTRACE_WORK_DONE);
    assert_int_equal(erltrace_status(s.h)->status, 5);
    erltrace_close(s.h);
}

/* -- output ------------------------------------------------------------------------------------ */

static void output_goes_to_a_file(void **state)
{
    char text[64] = "";
    FILE *fp = tmpfile();
    erltrace_t *h = with_program("BEGIN { printf(\"one\\n\"); @ = count(); exit(0); }");
    (void)state;
    assert_int_equal(erltrace_go(h), 0);
    assert_int_equal(erltrace_work(h, fp, 1000, NULL, NULL, NULL), ERLTRACE_WORK_OKAY);
    while (erltrace_work(h, fp, 1000, NULL, NULL, NULL) == ERLTRACE_WORK_OKAY)
        ;
    assert_int_equal(erltrace_aggregate_print(h, fp), 0);
    erltrace_close(h);
    rewind(fp);
    size_t n = fread(text, 1, sizeof text - 1, fp);
    text[n] = '\0';
    assert_string_equal(text, "one\n\n                1\n");
    fclose(fp);
}

static void a_file_that_cannot_be_written_is_an_error(void **state)
{
    FILE *fp = fopen("/dev/full", "w");
    erltrace_t *h = with_program("tick-1ms { printf(\"one\\n\"); }");
    (void)state;
    assert_int_equal(erltrace_go(h), 0);
    int work;
    while ((work = erltrace_work(h, fp, 1000, NULL, NULL, NULL)) == ERLTRACE_WORK_OKAY)
        ;
    assert_int_equal(work, ERLTRACE_WORK_ERROR);
    assert_int_equal(erltrace_errno(h), ERLTRACE_E_IO);
    erltrace_close(h);
    fclose(fp);
}

static void json_is_for_the_whole_output(void **state)
{
    struct seen out = {.h = open_handle(ERLTRACE_O_JSON)};
    (void)state;
    erltrace_handle_output(out.h, to_text, &out);
    assert_int_equal(erltrace_target_local(out.h), 0);
    assert_non_null(erltrace_program_strcompile(out.h, NULL, ERLTRACE_SPEC_NAME,
                                                "BEGIN { trace(*(int *)0); } END { trace(7); } "
                                                "BEGIN { exit(0); }",
                                                0, NULL));
    run_program(out.h);
    assert_non_null(strstr(buf_str(&out.text), "\"tag\":\"DTRACEFLT_BADADDR\""));
    assert_non_null(strstr(buf_str(&out.text), "{\"action\":\"trace\",\"value\":7}"));
    erltrace_close(out.h);
    buf_free(&out.text);
}

/* -- faults, drops, options -------------------------------------------------------------------- */

static int describe_fault(const struct erltrace_fault *f, void *arg)
{
    struct seen *s = arg;
    s->calls++;
    buf_printf(&s->text, "%s|%u %s action %u code %u value %llu\n", f->message, f->epid, f->name,
               f->action, f->code, (unsigned long long)f->value);
    assert_string_equal(f->probe->name, "BEGIN");
    return s->answer;
}

static const char failing[] = "BEGIN { trace(1); trace(*(int *)16); } BEGIN { exit(2); }";

static void faults_have_a_handler(void **state)
{
    struct seen s = {0};
    (void)state;
    s.h = with_program(failing);
    erltrace_handle_fault(s.h, describe_fault, &s);
    run_program(s.h);
    assert_int_equal(s.calls, 1);
    assert_non_null(strstr(buf_str(&s.text), "error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): "
                                             "invalid address (0x10) in action #2 at DIF offset "));
    assert_non_null(strstr(buf_str(&s.text), "|1 BADADDR action 2 code 1 value 16\n"));
    assert_int_equal(erltrace_status(s.h)->errors, 1);
    erltrace_close(s.h);
    buf_free(&s.text);
}

static void a_fault_can_end_the_trace(void **state)
{
    struct seen s = {.answer = ERLTRACE_HANDLE_ABORT};
    (void)state;
    s.h = with_program(failing);
    erltrace_handle_fault(s.h, describe_fault, &s);
    assert_int_equal(erltrace_go(s.h), 0);
    assert_int_equal(finish(s.h, NULL, NULL, NULL), ERLTRACE_WORK_ERROR);
    assert_int_equal(erltrace_errno(s.h), ERLTRACE_E_ABORT);
    erltrace_close(s.h);
    buf_free(&s.text);
}

static int describe_drop(const struct erltrace_drop *d, void *arg)
{
    struct seen *s = arg;
    s->calls++;
    buf_printf(&s->text, "%s %s %llu\n", d->kind, d->message, (unsigned long long)d->total);
    return s->answer;
}

static void drops_have_a_handler(void **state)
{
    static const char overflowing[] = "BEGIN { s = speculation(); s = speculation(); exit(0); }";
    for (int answer = ERLTRACE_HANDLE_ABORT; answer <= ERLTRACE_HANDLE_OK; answer++) {
        struct seen s = {.answer = answer};
        (void)state;
        s.h = with_program(overflowing);
        erltrace_handle_drop(s.h, describe_drop, &s);
        assert_int_equal(erltrace_go(s.h), 0);
        assert_int_equal(finish(s.h, NULL, NULL, NULL),
                         answer == ERLTRACE_HANDLE_OK ? ERLTRACE_WORK_DONE : ERLTRACE_WORK_ERROR);
        assert_string_equal(
            buf_str(&s.text),
            "SPECUNAVAIL 1 failed speculation (no speculative buffer available) 1\n");
        assert_int_equal(erltrace_status(s.h)->drops, 1);
        erltrace_close(s.h);
        buf_free(&s.text);
    }
}

static int describe_setopt(const struct erltrace_setopt_data *o, void *arg)
{
    struct seen *s = arg;
    buf_printf(&s->text, "%s=%s %lld %lld %u\n", o->option, o->value, (long long)o->old_number,
               (long long)o->new_number, o->record->epid);
    return s->answer;
}

static void setopt_has_a_handler(void **state)
{
    struct seen s = {0};
    (void)state;
    s.h = with_program("BEGIN { setopt(\"switchrate\", \"10hz\"); setopt(\"bufsize\", \"1\"); "
                       "setopt(\"aggsortrev\"); exit(0); }");
    erltrace_handle_setopt(s.h, describe_setopt, &s);
    run_program(s.h);
    assert_string_equal(buf_str(&s.text), "switchrate=10hz 0 100000000 1\naggsortrev=1 -2 1 1\n");
    erltrace_close(s.h);
    buf_free(&s.text);
}

static void destructive_actions_need_the_option(void **state)
{
    erltrace_t *h = with_program("BEGIN { system(\"true\"); exit(0); }");
    (void)state;
    assert_int_equal(erltrace_is_destructive(h), 1);
    assert_int_equal(erltrace_go(h), -1);
    assert_int_equal(erltrace_errno(h), ERLTRACE_E_DESTRUCTIVE);
    assert_int_equal(erltrace_setopt(h, "destructive", NULL), 0);
    run_program(h);
    erltrace_close(h);
}

static int note_command(const char *command, void *arg)
{
    struct seen *s = arg;
    s->calls++;
    buf_printf(&s->text, "[%s]", command);
    return s->answer;
}

static int note_output(const struct erltrace_output *o, void *arg)
{
    struct seen *s = arg;
    if (o->kind == ERLTRACE_OUTPUT_DATA)
        buf_add(&s->text, o->text, o->length);
    else
        buf_adds(&s->text, o->kind == ERLTRACE_OUTPUT_FLUSH ? " flush " : " ? ");
    return ERLTRACE_HANDLE_OK;
}

static void commands_go_to_their_handler(void **state)
{
    struct seen s = {0};
    (void)state;
    s.h = with_program("#pragma D option quiet\nBEGIN { printf(\"a\"); system(\"no such %d\", 7); "
                       "printf(\"b\"); exit(0); }");
    assert_int_equal(erltrace_setopt(s.h, "destructive", NULL), 0);
    erltrace_handle_command(s.h, note_command, &s);
    erltrace_handle_output(s.h, note_output, &s);
    run_program(s.h);
    assert_string_equal(buf_str(&s.text), "a flush [no such 7]b");
    erltrace_close(s.h);
    buf_free(&s.text);
}

/* -- aggregations ------------------------------------------------------------------------------ */

static int describe_aggr(const struct erltrace_aggr *a, void *arg)
{
    struct seen *s = arg;
    s->calls++;
    buf_printf(&s->text, "%s.%s", a->name, a->function);
    for (size_t i = 0; i < a->nkeys; i++) {
        const struct erltrace_value *v = erltrace_aggr_key(a, i);
        if (v->kind == ERLTRACE_VALUE_STRING)
            buf_printf(&s->text, " %.*s", (int)v->length, v->text);
        else
            buf_printf(&s->text, " %lld", (long long)v->number);
    }
    assert_null(erltrace_aggr_key(a, a->nkeys));
    buf_printf(&s->text, "=%lld;", (long long)a->value);
    return s->answer;
}

static const char aggregating[] =
    "BEGIN { @a[\"y\"] = sum(1); @a[\"x\"] = sum(2); @b[\"z\"] = sum(0); @b[\"x\"] = sum(3); "
    "exit(0); }";

static void walks_have_orders(void **state)
{
    static const struct {
        int order;
        const char *want;
    } row[] = {
        {ERLTRACE_SORT_OPTIONS, "a.sum y=1;a.sum x=2;b.sum z=0;b.sum x=3;"},
        {ERLTRACE_SORT_OPTIONS | ERLTRACE_SORT_REVERSE, "b.sum x=3;b.sum z=0;a.sum x=2;a.sum y=1;"},
        {ERLTRACE_SORT_VARKEY, "a.sum x=2;a.sum y=1;b.sum x=3;b.sum z=0;"},
        {ERLTRACE_SORT_VARKEY | ERLTRACE_SORT_REVERSE, "b.sum z=0;b.sum x=3;a.sum y=1;a.sum x=2;"},
        {ERLTRACE_SORT_VARVALUE, "a.sum y=1;a.sum x=2;b.sum z=0;b.sum x=3;"},
        {ERLTRACE_SORT_KEYVAR, "a.sum x=2;b.sum x=3;a.sum y=1;b.sum z=0;"},
        {ERLTRACE_SORT_VALUEVAR, "b.sum z=0;a.sum y=1;a.sum x=2;b.sum x=3;"},
        {ERLTRACE_SORT_VALUEVAR | ERLTRACE_SORT_REVERSE,
         "b.sum x=3;a.sum x=2;a.sum y=1;b.sum z=0;"},
    };
    erltrace_t *h = with_program(aggregating);
    (void)state;
    run_program(h);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct seen s = {0};
        assert_int_equal(erltrace_aggregate_walk(h, row[i].order, describe_aggr, &s), 0);
        assert_string_equal(buf_str(&s.text), row[i].want);
        buf_free(&s.text);
    }
    struct seen s = {0};
    assert_int_equal(erltrace_setopt(h, "aggsortkey", NULL), -1); /* it is over */
    assert_int_equal(erltrace_aggregate_walk(h, 77, describe_aggr, &s), -1);
    assert_int_equal(erltrace_errno(h), ERLTRACE_E_INVAL);
    assert_int_equal(erltrace_aggregate_walk(h, ERLTRACE_SORT_NONE, NULL, NULL), -1);
    assert_int_equal(erltrace_aggregate_walk(h, ERLTRACE_SORT_NONE, describe_aggr, &s), 0);
    assert_int_equal(s.calls, 4);
    buf_free(&s.text);
    erltrace_close(h);
}

static void walks_can_end_clear_and_remove(void **state)
{
    erltrace_t *h = with_program(aggregating);
    struct seen s = {.answer = ERLTRACE_WALK_STOP};
    (void)state;
    run_program(h);
    assert_int_equal(erltrace_aggregate_walk(h, ERLTRACE_SORT_VARKEY, describe_aggr, &s), 0);
    assert_int_equal(s.calls, 1);
    s.answer = ERLTRACE_WALK_ABORT;
    assert_int_equal(erltrace_aggregate_walk(h, ERLTRACE_SORT_VARKEY, describe_aggr, &s), -1);
    assert_int_equal(erltrace_errno(h), ERLTRACE_E_ABORT);
    s.answer = ERLTRACE_WALK_CLEAR;
    assert_int_equal(erltrace_aggregate_walk(h, ERLTRACE_SORT_VARKEY, describe_aggr, &s), 0);
    buf_reset(&s.text);
    s.answer = ERLTRACE_WALK_REMOVE;
    assert_int_equal(erltrace_aggregate_walk(h, ERLTRACE_SORT_VARKEY, describe_aggr, &s), 0);
    assert_string_equal(buf_str(&s.text), "a.sum x=0;a.sum y=0;b.sum x=0;b.sum z=0;");
    s.calls = 0;
    assert_int_equal(erltrace_aggregate_walk(h, ERLTRACE_SORT_NONE, describe_aggr, &s), 0);
    assert_int_equal(s.calls, 0);
    assert_int_equal(erltrace_aggregate_clear(h), 0);
    buf_free(&s.text);
    erltrace_close(h);
}

static int describe_row(const struct erltrace_aggr *const a[], size_t n, void *arg)
{
    struct seen *s = arg;
    const struct erltrace_value *key = erltrace_aggr_key(a[0], 0);
    buf_printf(&s->text, "%.*s", (int)key->length, key->text);
    for (size_t i = 0; i < n; i++)
        buf_printf(&s->text, " %s=%lld", a[i]->name, (long long)a[i]->value);
    buf_addc(&s->text, ';');
    return s->answer;
}

static void walks_can_be_joined(void **state)
{
    static const struct {
        const char *names[3];
        size_t n;
        int order, answer;
        const char *want;
    } row[] = {
        {{"a", "b"}, 2, ERLTRACE_SORT_KEYVAR, 0, "x a=2 b=3;y a=1 b=0;z a=0 b=0;"},
        {{"b", "a"}, 2, ERLTRACE_SORT_KEYVAR, 0, "x b=3 a=2;y b=0 a=1;z b=0 a=0;"},
        {{"a", "b"}, 2, ERLTRACE_SORT_OPTIONS, 0, "z a=0 b=0;y a=1 b=0;x a=2 b=3;"},
        {{"a"}, 1, ERLTRACE_SORT_VALUEVAR | ERLTRACE_SORT_REVERSE, 0, "x a=2;y a=1;"},
        {{"a"}, 1, ERLTRACE_SORT_VALUEVAR, ERLTRACE_WALK_STOP, "y a=1;"},
    };
    erltrace_t *h = with_program("BEGIN { @a[\"y\"] = sum(1); @a[\"x\"] = sum(2); "
                                 "@b[\"z\"] = sum(0); @b[\"x\"] = sum(3); @c[1] = sum(9); "
                                 "exit(0); }");
    static const char *const other[] = {"a", "c"}, *const none[] = {"nosuch"};
    struct seen s = {0};
    (void)state;
    run_program(h);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        s.answer = row[i].answer;
        assert_int_equal(erltrace_aggregate_walk_joined(h, row[i].names, row[i].n, row[i].order,
                                                        describe_row, &s),
                         0);
        assert_string_equal(buf_str(&s.text), row[i].want);
        buf_reset(&s.text);
    }
    static const struct {
        const char *const *names;
        size_t n;
        int order;
    } wrong[] = {{other, 2, ERLTRACE_SORT_KEYVAR},
                 {none, 1, ERLTRACE_SORT_KEYVAR},
                 {other, 0, ERLTRACE_SORT_KEYVAR},
                 {other, 1, ERLTRACE_SORT_VARKEY},
                 {NULL, 1, ERLTRACE_SORT_KEYVAR}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(erltrace_aggregate_walk_joined(h, wrong[i].names, wrong[i].n,
                                                        wrong[i].order, describe_row, &s),
                         -1);
        assert_int_equal(erltrace_errno(h), ERLTRACE_E_INVAL);
    }
    assert_int_equal(erltrace_aggregate_walk_joined(h, row[0].names, 1, 0, NULL, NULL), -1);
    s.answer = ERLTRACE_WALK_ABORT;
    assert_int_equal(erltrace_aggregate_walk_joined(h, row[0].names, 1, 0, describe_row, &s), -1);
    assert_int_equal(erltrace_errno(h), ERLTRACE_E_ABORT);
    buf_free(&s.text);
    erltrace_close(h);
}

static int describe_buckets(const struct erltrace_aggr *a, void *arg)
{
    struct seen *s = arg;
    for (size_t i = 0; i < a->nbuckets; i++) {
        const struct erltrace_bucket *b = erltrace_aggr_bucket(a, i);
        buf_printf(&s->text, "%s%s:%lld-%lld=%lld ", b->open_from ? "<" : "", b->label,
                   (long long)b->from, (long long)b->to, (long long)b->count);
    }
    assert_null(erltrace_aggr_bucket(a, a->nbuckets));
    return ERLTRACE_WALK_NEXT;
}

static void histograms_have_buckets(void **state)
{
    erltrace_t *h = with_program("BEGIN { @ = quantize(5); @ = quantize(6); exit(0); }");
    struct seen s = {0};
    (void)state;
    run_program(h);
    assert_int_equal(erltrace_aggregate_walk(h, ERLTRACE_SORT_NONE, describe_buckets, &s), 0);
    assert_string_equal(buf_str(&s.text), "2:2-3=0 4:4-7=2 8:8-15=0 ");
    buf_free(&s.text);
    erltrace_close(h);
}

static int sum_values(const struct erltrace_aggr *a, void *arg)
{
    *(int64_t *)arg += a->value;
    return ERLTRACE_WALK_NEXT;
}

/* A snapshot sees what has been aggregated before any erltrace_work has read it; the records that
 * come with it are not lost. */
static void a_snapshot_reads_now(void **state)
{
    struct seen s = {0};
    int64_t sum = 0;
    (void)state;
    s.h = with_program("BEGIN { @ = sum(42); trace(1); }");
    erltrace_setopt(s.h, "aggrate", "1h");
    assert_int_equal(erltrace_go(s.h), 0);
    assert_int_equal(erltrace_aggregate_snap(s.h), 0);
    assert_int_equal(erltrace_aggregate_walk(s.h, ERLTRACE_SORT_NONE, sum_values, &sum), 0);
    assert_int_equal(sum, 42);
    assert_int_equal(erltrace_timeout(s.h), 0);
    assert_int_equal(erltrace_work(s.h, NULL, 0, describe_record, NULL, &s), ERLTRACE_WORK_OKAY);
    assert_int_equal(s.calls, 1);
    erltrace_close(s.h);
    buf_free(&s.text);
}

/* -- programs and probes ----------------------------------------------------------------------- */

static int describe_probe(const struct erltrace_probe *p, void *arg)
{
    struct seen *s = arg;
    s->calls++;
    buf_printf(&s->text, "%u %s:%s:%s:%s %s/%s/%s\n", p->id, p->provider, p->module, p->function,
               p->name, p->attributes->name, p->attributes->data, p->attributes->dependency);
    return s->answer;
}

static int describe_missed(const char *text, const char *why, void *arg)
{
    buf_printf(&((struct seen *)arg)->text, "%s: %s\n", text, why);
    return 0;
}

static int describe_placed(const struct erltrace_placed *p, void *arg)
{
    struct seen *s = arg;
    buf_printf(&s->text, "%s: %d of %d, flags %s, %d functions\n", p->node, (int)p->clauses,
               (int)(p->clauses + p->left_out), p->flags, (int)(p->meta + p->local + p->global));
    return s->answer;
}

static void what_is_set_can_be_walked(void **state)
{
    struct seen s = {.h = open_handle(0)};
    (void)state;
    erltrace_target_local(s.h);
    assert_non_null(erltrace_program_strcompile(
        s.h, NULL, ERLTRACE_SPEC_NAME, "BEGIN,END /probename != \"END\"/ { exit(0); }", 0, NULL));
    assert_int_equal(erltrace_go(s.h), 0);
    assert_int_equal(erltrace_placed_iter(s.h, NULL, NULL), -1);
    assert_int_equal(erltrace_placed_iter(s.h, describe_placed, &s), 0);
    assert_string_equal(buf_str(&s.text), ": 1 of 2, flags , 0 functions\n");
    s.answer = 17;
    assert_int_equal(erltrace_placed_iter(s.h, describe_placed, &s), 17);
    assert_int_equal(erltrace_clock_iter(s.h, NULL, NULL), -1);
    assert_int_equal(erltrace_clock_iter(s.h, no_clock, NULL), 0); /* its clocks are ours */
    erltrace_close(s.h);
    buf_free(&s.text);
}

static void probes_can_be_walked(void **state)
{
    struct seen s = {.h = open_handle(0)};
    (void)state;
    erltrace_setopt(s.h, "zdefs", NULL);
    erltrace_target_local(s.h);
    erltrace_prog_t *one =
        erltrace_program_strcompile(s.h, NULL, ERLTRACE_SPEC_NAME, "BEGIN,nosuch", 0, NULL);
    erltrace_prog_t *two =
        erltrace_program_strcompile(s.h, NULL, ERLTRACE_SPEC_NAME, "END", 0, NULL);
    assert_non_null(one);
    assert_non_null(two);
    assert_int_equal(erltrace_probe_iter(s.h, one, describe_probe, describe_missed, &s), 0);
    assert_string_equal(
        buf_str(&s.text),
        "1 dtrace:::BEGIN Stable/Stable/Common\n:::nosuch: No probe matches description\n");
    buf_reset(&s.text);
    assert_int_equal(erltrace_probe_iter(s.h, two, describe_probe, NULL, &s), 0);
    assert_string_equal(buf_str(&s.text), "2 dtrace:::END Stable/Stable/Common\n");
    s.answer = 17;
    assert_int_equal(erltrace_probe_iter(s.h, NULL, describe_probe, NULL, &s), 17);
    assert_int_equal(erltrace_program_info(s.h, one)->matches, 0);
    assert_int_equal(erltrace_enable(s.h), 0);
    assert_int_equal(erltrace_program_info(s.h, one)->matches, 1);
    assert_int_equal(erltrace_program_info(s.h, two)->matches, 1);
    assert_string_equal(erltrace_program_info(s.h, two)->statements->name, "Stable");
    erltrace_close(s.h);
    buf_free(&s.text);
}

static void a_description_without_probes_is_an_error(void **state)
{
    struct seen s = {0};
    (void)state;
    s.h = with_program("BEGIN { exit(0); } tick-1banana { }");
    erltrace_handle_diag(s.h, rendered, &s);
    assert_int_equal(erltrace_enable(s.h), -1);
    assert_int_equal(erltrace_errno(s.h), ERLTRACE_E_NOPROBE);
    assert_non_null(strstr(buf_str(&s.text), "[D_PDESC_ZERO]"));
    assert_int_equal(erltrace_go(s.h), -1);
    assert_int_equal(erltrace_errno(s.h), ERLTRACE_E_STATE);
    erltrace_close(s.h);
    buf_free(&s.text);
}

static int never(const struct erltrace_match *m, void *arg)
{
    (void)m;
    (void)arg;
    fail();
    return 0;
}

/* Enabling has failed before it came to match anything. */
static void what_was_not_matched_is_not_walked(void **state)
{
    (void)state;
    erltrace_t *h = open_handle(0);
    assert_int_equal(erltrace_setopt(h, "terms", "off"), 0);
    assert_int_equal(erltrace_target_local(h), 0);
    assert_non_null(erltrace_program_strcompile(h, "test", ERLTRACE_SPEC_SCRIPT,
                                                "BEGIN { trace(argv[0]); }", 0, NULL));
    assert_int_equal(erltrace_enable(h), -1);
    assert_int_equal(erltrace_match_iter(h, never, NULL), 0);
    erltrace_close(h);
}

static void programs_share_variables_and_have_arguments(void **state)
{
    struct seen out = {.h = open_handle(0)};
    char *words[] = {(char *)"zero", (char *)"41", (char *)"word"};
    (void)state;
    erltrace_setopt(out.h, "quiet", NULL);
    erltrace_target_local(out.h);
    erltrace_handle_output(out.h, to_text, &out);
    assert_non_null(erltrace_program_strcompile(out.h, NULL, ERLTRACE_SPEC_NAME,
                                                "BEGIN { x = $1; y = $$2; }", 3, words));
    assert_non_null(erltrace_program_strcompile(out.h, NULL, ERLTRACE_SPEC_NAME,
                                                "BEGIN { printf(\"%d %s\", x + 1, y); exit(0); }",
                                                0, NULL));
    run_program(out.h);
    assert_string_equal(buf_str(&out.text), "42 word");
    erltrace_close(out.h);
    buf_free(&out.text);
}

static void code_can_be_dumped(void **state)
{
    char text[4096];
    FILE *fp = tmpfile();
    erltrace_t *h = with_program("BEGIN { trace(1); }");
    (void)state;
    assert_int_equal(erltrace_program_dump(h, fp), 0);
    rewind(fp);
    size_t n = fread(text, 1, sizeof text - 1, fp);
    text[n] = '\0';
    assert_non_null(strstr(text, "BEGIN"));
    erltrace_close(h);
    fclose(fp);
}

/* -- memory ------------------------------------------------------------------------------------ */

static int walk_it(const struct erltrace_aggr *a, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < a->nkeys; i++)
        assert_non_null(erltrace_aggr_key(a, i));
    return ERLTRACE_WALK_REMOVE;
}

static int walk_row(const struct erltrace_aggr *const a[], size_t n, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < n; i++)
        assert_non_null(a[i]->words);
    return ERLTRACE_WALK_NEXT;
}

static int read_it(const struct erltrace_record *r, const struct erltrace_data *d, void *arg)
{
    (void)r;
    (void)arg;
    erltrace_data_text(d, NULL);
    return ERLTRACE_CONSUME_THIS;
}

/* A whole life; whether every step of it succeeded. */
static bool one_life(int flags, FILE *sink)
{
    struct seen out = {0};
    int err = 0, state = ERLTRACE_WORK_ERROR;
    char *words[] = {(char *)"zero", (char *)"1"};
    const char *joined = "a";
    erltrace_t *h = erltrace_open(ERLTRACE_VERSION, flags, &err);
    if (h == NULL) {
        assert_int_equal(err, ERLTRACE_E_NOMEM);
        return false;
    }
    erltrace_handle_diag(h, rendered, &out);
    erltrace_handle_fault(h, describe_fault, &out);
    erltrace_handle_setopt(h, describe_setopt, &out);
    bool ok = erltrace_setopt(h, "nolibs", NULL) == 0 &&
              erltrace_setopt(h, "aggsize", "64k") == 0 && erltrace_setopt(h, "define", "A") == 0 &&
              erltrace_target_local(h) == 0;
    ok = ok && erltrace_program_strcompile(h, "one", ERLTRACE_SPEC_SCRIPT,
                                           "provider shop { probe sold(int); };\n"
                                           "BEGIN { @a[\"x\", $1] = quantize(5); @b = count(); "
                                           "printf(\"%d\", $1); setopt(\"quiet\"); }\n"
                                           "BEGIN { trace(*(int *)0); }\nBEGIN { exit(0); }\n",
                                           2, words) != NULL;
    ok = ok && erltrace_program_dump(h, sink) == 0 &&
         erltrace_program_header(h, sink, "shop.h") == 0 &&
         erltrace_probe_iter(h, NULL, no_probe, NULL, NULL) == 0 && erltrace_go(h) == 0 &&
         erltrace_aggregate_snap(h) == 0;
    while (ok && (state = erltrace_work(h, sink, 10, NULL, read_it, NULL)) == ERLTRACE_WORK_OKAY)
        ;
    ok =
        ok && state == ERLTRACE_WORK_DONE && erltrace_aggregate_print(h, sink) == 0 &&
        erltrace_aggregate_walk_joined(h, &joined, 1, ERLTRACE_SORT_OPTIONS, walk_row, NULL) == 0 &&
        erltrace_aggregate_walk(h, ERLTRACE_SORT_VALUEVAR, walk_it, NULL) == 0;
    if (!ok)
        assert_int_not_equal(erltrace_errno(h), ERLTRACE_E_OK);
    erltrace_close(h);
    buf_free(&out.text);
    return ok;
}

/* Whichever allocation fails, the call that needed it says so, nothing crashes, nothing is lost. */
static void every_allocation_may_fail(void **state)
{
    static const int flags[] = {0, ERLTRACE_O_JSON};
    FILE *sink = fopen("/dev/null", "w");
    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        unsigned long first = et_alloc_count(), live = et_alloc_live(), all, failed = 0;
        assert_true(one_life(flags[i], sink));
        all = et_alloc_count() - first;
        assert_int_equal(et_alloc_live(), live);
        for (unsigned long n = 1; n <= all; n++) {
            et_alloc_fail_at(n);
            failed += !one_life(flags[i], sink);
            et_alloc_fail_at(0);
            assert_int_equal(et_alloc_live(), live);
        }
        assert_true(failed > all / 2); /* the rest can do without */
    }
    fclose(sink);
}

/* -- threads ----------------------------------------------------------------------------------- */

/* Closed before it could begin, a command never does. */
static void a_command_that_never_begins_is_ended(void **state)
{
    needs_ptrace();
    erltrace_t *h = open_handle(0);
    (void)state;
    assert_int_equal(erltrace_target_local(h), 0);
    pid_t pid = erltrace_target_command(h, "sleep 1000");
    assert_true(pid > 0);
    assert_int_equal(kill(pid, 0), 0);
    erltrace_close(h);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

static pid_t target_of(const pid_t *process, bool then_a_process)
{
    erltrace_t *h = open_handle(0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(erltrace_target_node(h, i == 0 ? "a@b" : "b@b", NULL), 0);
        if (process[i] != 0)
            assert_int_equal(erltrace_set_process(h, process[i]), 0);
    }
    if (then_a_process)
        assert_int_equal(erltrace_target_pid(h, 7), 0);
    assert_non_null(erltrace_program_strcompile(h, NULL, ERLTRACE_SPEC_NAME, "BEGIN", 0, NULL));
    const pid_t target = (pid_t)h->session.target;
    erltrace_close(h);
    return target;
}

/* $target is not that of a node that is not the first one. */
static void the_target_is_the_first(void **state)
{
    (void)state;
    assert_int_equal(target_of((pid_t[]){5, 0}, false), 5);
    assert_int_equal(target_of((pid_t[]){5, 6}, true), 5);
    assert_int_equal(target_of((pid_t[]){0, 6}, false), 0);
    assert_int_equal(target_of((pid_t[]){0, 6}, true), 7);
}

static void a_trace_ends_with_its_process(void **state)
{
    needs_ptrace();
    erltrace_t *h = open_handle(0);
    (void)state;
    assert_int_equal(erltrace_target_local(h), 0);
    assert_true(erltrace_target_command(h, "true") > 0);
    assert_int_equal(erltrace_target_pid(h, getpid()), 0); /* which does not end */
    assert_non_null(erltrace_program_strcompile(h, NULL, ERLTRACE_SPEC_NAME, "tick-1ms", 0, NULL));
    assert_int_equal(erltrace_go(h), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(erltrace_work(h, NULL, 10, NULL, NULL, NULL), ERLTRACE_WORK_OKAY);
    erltrace_close(h);
    h = open_handle(0);
    assert_int_equal(erltrace_target_local(h), 0);
    assert_true(erltrace_target_command(h, "true") > 0);
    assert_non_null(
        erltrace_program_strcompile(h, NULL, ERLTRACE_SPEC_NAME, "END { exit(8); }", 0, NULL));
    run_program(h);
    assert_int_equal(erltrace_status(h)->status, 8);
    erltrace_close(h);
}

static void *interrupt(void *arg)
{
    erltrace_interrupt(arg);
    return NULL;
}

static void another_thread_can_end_the_trace(void **state)
{
    erltrace_t *h = with_program("tick-1s { } END { exit(9); }");
    pthread_t thread;
    (void)state;
    assert_int_equal(erltrace_go(h), 0);
    assert_int_equal(pthread_create(&thread, NULL, interrupt, h), 0);
    assert_int_equal(finish(h, NULL, NULL, NULL), ERLTRACE_WORK_DONE);
    pthread_join(thread, NULL);
    assert_int_equal(erltrace_status(h)->status, 9);
    erltrace_close(h);
}

static void *one_trace(void *arg)
{
    erltrace_t *h = with_program("tick-1ms { @ = count(); n++; } tick-1ms /n == 5/ { exit(0); }");
    int64_t sum = 0;
    (void)arg;
    run_program(h);
    erltrace_aggregate_walk(h, ERLTRACE_SORT_NONE, sum_values, &sum);
    erltrace_close(h);
    return (void *)(intptr_t)sum;
}

static void handles_are_independent(void **state)
{
    pthread_t thread[3];
    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, one_trace, NULL), 0);
    for (size_t i = 0; i < 3; i++) {
        void *sum;
        pthread_join(thread[i], &sum);
        assert_int_equal((intptr_t)sum, 5);
    }
}

/* -- aggregations before and while things happen to them --------------------------------------- */

static int describe_aggregation(const struct erltrace_aggregation *a, void *arg)
{
    struct seen *s = arg;
    s->calls++;
    buf_printf(&s->text, "%u %s.%s(", a->id, a->name, a->function);
    for (size_t i = 0; erltrace_aggregation_key(a, i) != NULL; i++)
        buf_printf(&s->text, "%s%s", i > 0 ? "," : "", erltrace_aggregation_key(a, i));
    buf_printf(&s->text, ") %lld,%lld,%lld,%lld %zu", (long long)a->parameter[0],
               (long long)a->parameter[1], (long long)a->parameter[2], (long long)a->parameter[3],
               a->nbuckets);
    assert_null(erltrace_aggregation_bucket(a, a->nbuckets));
    for (size_t i = 0; i < a->nbuckets && a->nbuckets < 10; i++) {
        const struct erltrace_bucket *b = erltrace_aggregation_bucket(a, i);
        buf_printf(&s->text, " [%s", b->label);
        if (b->open_from)
            buf_printf(&s->text, " ..%lld]", (long long)b->to);
        else if (b->open_to)
            buf_printf(&s->text, " %lld..]", (long long)b->from);
        else
            buf_printf(&s->text, " %lld..%lld]", (long long)b->from, (long long)b->to);
    }
    buf_addc(&s->text, ';');
    return s->answer;
}

static void aggregations_are_known_before_they_run(void **state)
{
    struct seen s = {0};
    (void)state;
    erltrace_t *h =
        with_program("tick-1s { @c[\"k\", (char)1, 2ull] = count(); @ = lquantize(1, 0, 20, 10); "
                     "@q = quantize(1); @ll = llquantize(1, 10, 0, 2, 10); }");
    assert_int_equal(erltrace_aggregation_iter(h, NULL, NULL), -1);
    assert_int_equal(erltrace_aggregation_iter(h, describe_aggregation, &s), 0);
    assert_string_equal(buf_str(&s.text),
                        "0 c.count(string,int,uint) 0,0,0,0 0;"
                        "1 _.lquantize() 0,20,10,0 4 [< 0 ..-1] [0 0..9] [10 10..19] [>= 20 20..];"
                        "2 q.quantize() 0,0,0,0 127;3 ll.llquantize() 10,0,2,10 57;");
    s.answer = 7;
    s.calls = 0;
    assert_int_equal(erltrace_aggregation_iter(h, describe_aggregation, &s), 7);
    assert_int_equal(s.calls, 1);
    assert_int_equal(erltrace_prints(h), 0);
    assert_null(erltrace_aggregation_key(NULL, 0));
    assert_null(erltrace_aggregation_bucket(NULL, 0));
    assert_null(erltrace_aggr_key_text(NULL, 0, 0));
    assert_null(erltrace_aggr_key_type(NULL, 0));
    buf_free(&s.text);
    erltrace_close(h);
    h = with_program("BEGIN {}");
    assert_int_equal(erltrace_prints(h), 1);
    erltrace_close(h);
    h = with_program("tick-1s { printf(\"x\"); }");
    assert_int_equal(erltrace_prints(h), 1);
    erltrace_close(h);
}

static int describe_keys(const struct erltrace_aggregation *a, void *arg)
{
    for (size_t i = 0; i < a->nkeys; i++) {
        const char *means = erltrace_aggregation_key_means(a, i);
        const char *text = erltrace_aggregation_key_text(a, i);
        buf_printf(arg, "%s=%s;", text != NULL ? text : "?", means != NULL ? means : "?");
    }
    assert_null(erltrace_aggregation_key_means(a, a->nkeys));
    assert_null(erltrace_aggregation_key_text(a, a->nkeys));
    return 0;
}

static void keys_say_what_they_name(void **state)
{
    static const struct {
        const char *program, *keys;
    } cases[] = {
        {"erlang*:::message-send { @[erlname, erlname(arg1), copyinstr(arg1)] = count(); }",
         "erlname=process;erlname(arg1)=process;copyinstr(arg1)=pid;"},
        {"erlang*:lists::entry { @[probemod, probefunc, copyinstr(arg1), arg2] = count(); }",
         "probemod=module;probefunc=function;copyinstr(arg1)=mfa;arg2=?;"},
        {"erlang*:lists::return { @[strjoin(probemod, strjoin(\":\", probefunc))] = count(); }",
         "strjoin(probemod, strjoin(\":\", probefunc))=mfa;"},
        {"erlang*:::ets-read, erlang*:::ets-scan { @[copyinstr(arg1), args[1]] = count(); }",
         "copyinstr(arg1)=table;args[1]=table;"},
        /* variables, and what is a constant now and then */
        {"erlang*:::message-send { this->to = erlname(arg1); self->m = probemod; @[this->to, "
         "self->m] = count(); } erlang*:::process-exit { this->to = 0; }",
         "this->to=process;self->m=module;"},
        {"profile-97 { @[erlpid == \"\" ? \"none\" : erlname, erlfunc] = count(); }",
         "erlpid == \"\" ? \"none\" : erlname=process;erlfunc=mfa;"},
        /* several that do not agree */
        {"profile-97 { @[erlname] = count(); @[erlfunc] = count(); }", "erlname=?;"},
        {"string w[int]; BEGIN { w[1] = erlname; w[2] = erlpid; @[w[1], \"x\"] = count(); }",
         "w[1]=?;\"x\"=?;"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out = BUF_INIT;
        erltrace_t *h = with_program(cases[i].program);
        assert_int_equal(erltrace_aggregation_iter(h, describe_keys, &out), 0);
        assert_string_equal(buf_str(&out), cases[i].keys);
        buf_free(&out);
        erltrace_close(h);
    }
    assert_null(erltrace_aggregation_key_means(NULL, 0));
    assert_null(erltrace_aggregation_key_text(NULL, 0));
}

/* Buckets of a walk are those of the definition. */
static int same_buckets(const struct erltrace_aggregation *def, void *arg)
{
    const struct erltrace_aggr *a = arg;
    size_t shown = 0;
    if (def->id != a->id)
        return 0;
    assert_int_equal(a->nwords, def->nbuckets);
    for (size_t i = 0; i < def->nbuckets; i++) {
        if (a->words[i] == 0)
            continue;
        const struct erltrace_bucket want = *erltrace_aggregation_bucket(def, i);
        const struct erltrace_bucket *b;
        do
            b = erltrace_aggr_bucket(a, shown++);
        while (b->count == 0);
        assert_int_equal(b->from, want.from);
        assert_int_equal(b->to, want.to);
        assert_int_equal(b->open_from, want.open_from);
        assert_int_equal(b->open_to, want.open_to);
        assert_int_equal(b->count, a->words[i]);
    }
    assert_null(erltrace_aggr_bucket(a, a->nbuckets));
    return 0;
}

static int compare_with_definition(const struct erltrace_aggr *a, void *arg)
{
    /* Inside a walk nothing but questions: the definitions are asked for in another handle. */
    return erltrace_aggregation_iter(arg, same_buckets, (void *)(uintptr_t)a) == 0
               ? ERLTRACE_WALK_NEXT
               : ERLTRACE_WALK_ABORT;
}

static void buckets_are_those_of_the_definition(void **state)
{
    static const char text[] =
        "BEGIN { @q = quantize(0); @q = quantize(-5); @q = quantize(1024); "
        "@l = lquantize(-1, 0, 100, 7); @l = lquantize(13, 0, 100, 7); @l = lquantize(100, 0, 100, "
        "7); @e = llquantize(0, 10, 1, 3, 20); @e = llquantize(-70, 10, 1, 3, 20); "
        "@e = llquantize(99999, 10, 1, 3, 20); exit(0); }";
    erltrace_t *h = with_program(text), *other = with_program(text);
    (void)state;
    run_program(h);
    assert_int_equal(erltrace_aggregate_walk(h, ERLTRACE_SORT_NONE, compare_with_definition, other),
                     0);
    erltrace_close(other);
    erltrace_close(h);
}

static int watch_clear(const struct erltrace_record *r, const struct erltrace_data *d, void *arg)
{
    struct seen *s = arg;
    (void)r;
    buf_printf(&s->text, "%s:", d != NULL ? d->action : "end");
    assert_int_equal(erltrace_aggregate_walk(s->h, ERLTRACE_SORT_VARKEY, describe_aggr, s), 0);
    buf_addc(&s->text, '|');
    return ERLTRACE_CONSUME_THIS;
}

static int clears(const struct erltrace_aggr *a, void *arg)
{
    (void)a;
    return *(int *)arg;
}

static int change_inside(const struct erltrace_record *r, const struct erltrace_data *d, void *arg)
{
    struct seen *s = arg;
    (void)r;
    (void)d;
    for (int answer = ERLTRACE_WALK_CLEAR; answer <= ERLTRACE_WALK_REMOVE; answer++) {
        assert_int_equal(erltrace_aggregate_walk(s->h, ERLTRACE_SORT_NONE, clears, &answer), -1);
        assert_int_equal(erltrace_errno(s->h), ERLTRACE_E_INVAL);
    }
    s->calls++;
    assert_int_equal(erltrace_aggregate_clear(s->h), -1);
    return ERLTRACE_CONSUME_THIS;
}

static void a_walk_sees_what_an_action_throws_away(void **state)
{
    static const char good[] = "BEGIN { @a[\"x\"] = sum(1); @a[\"y\"] = sum(4); }"
                               "tick-1ms { trunc(@a, 1); clear(@a); exit(0); }";
    erltrace_t *h = with_program(good);
    struct seen s = {.h = h};
    (void)state;
    assert_int_equal(erltrace_go(h), 0);
    assert_int_equal(finish(h, NULL, watch_clear, &s), ERLTRACE_WORK_DONE);
    const char *end = strstr(buf_str(&s.text), "end:");
    assert_non_null(end);
    assert_true(strncmp(buf_str(&s.text),
                        "trunc:a.sum x=1;a.sum y=4;|clear:a.sum y=4;|exit:a.sum y=0;|end:a.sum "
                        "y=0;|",
                        70) == 0);
    buf_free(&s.text);
    erltrace_close(h);
    s.h = h = with_program(good);
    assert_int_equal(erltrace_go(h), 0);
    assert_int_equal(finish(h, NULL, change_inside, &s), ERLTRACE_WORK_DONE);
    assert_true(s.calls > 0);
    erltrace_close(h);
}

/* -- restricted programs ----------------------------------------------------------------------- */

static void note_place(const struct erltrace_diag *d, void *arg)
{
    struct seen *s = arg;
    buf_printf(&s->text, "%s %d:%d %s;", d->tag, d->line, d->column, d->text);
}

static void what_concerns_the_host_can_be_refused(void **state)
{
    static const char *const options[] = {"cpp",     "cpppath", "libdir",     "syslibdir",
                                          "define",  "undef",   "incdir",     "cpphdrs",
                                          "cppargs", "stdc",    "destructive"};
    static const struct {
        const char *text, *want;
    } programs[] = {
        {"BEGIN { system(\"true\"); exit(0); }",
         "ACTION_RESTRICTED 1:9 system() is not allowed for this program;"},
        {"BEGIN { exit(0); }\nEND { freopen(\"/tmp/x\"); }",
         "ACTION_RESTRICTED 2:7 freopen() is not allowed for this program;"},
        {"BEGIN { ftruncate(); raise(9); }",
         "ACTION_RESTRICTED 1:9 ftruncate() is not allowed for this program;"
         "ACTION_RESTRICTED 1:22 raise() is not allowed for this program;"},
        {"#pragma D option destructive\nBEGIN { exit(0); }",
         "D_PRAGMA_OPTSET 1:18 failed to set option 'destructive': Option not allowed for this "
         "program;"},
        {"#pragma D option cpppath=/bin/sh\nBEGIN { exit(0); }",
         "D_PRAGMA_OPTSET 1:18 failed to set option 'cpppath' to '/bin/sh': Option not allowed for "
         "this "
         "program;"},
    };
    erltrace_t *h = open_handle(0);
    (void)state;
    assert_int_equal(erltrace_restrict(NULL, NULL), -1);
    assert_int_equal(erltrace_restrict(h, "ask the operator"), 0);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        assert_int_equal(erltrace_setopt(h, options[i], "a"), -1);
        assert_int_equal(erltrace_errno(h), ERLTRACE_E_RESTRICTED);
    }
    assert_string_equal(erltrace_setopt_hint(h, "destructive"), "ask the operator");
    assert_null(erltrace_setopt_hint(h, "cpppath"));
    assert_int_equal(erltrace_setopt(h, "quiet", NULL), 0);
    erltrace_close(h);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        struct seen s = {0};
        h = open_handle(0);
        erltrace_handle_diag(h, note_place, &s);
        assert_int_equal(erltrace_restrict(h, NULL), 0);
        assert_int_equal(erltrace_target_local(h), 0);
        erltrace_program_strcompile(h, "test", ERLTRACE_SPEC_SCRIPT, programs[i].text, 0, NULL);
        assert_int_equal(erltrace_enable(h), -1);
        assert_string_equal(buf_str(&s.text), programs[i].want);
        buf_free(&s.text);
        erltrace_close(h);
    }
}

/* Whoever sets destructive before lets programs act on the host; files stay out of their reach. */
static void what_concerns_the_host_can_be_permitted(void **state)
{
    static const struct {
        const char *text, *want;
    } programs[] = {
        {"#pragma D option destructive\nBEGIN { system(\"true\"); ftruncate(); exit(0); }", ""},
        {"#pragma D option destructive=no\nBEGIN { ftruncate(); exit(0); }",
         "ACTION_RESTRICTED 2:9 ftruncate() is not allowed for this program;"},
        {"#pragma D option libdir=/tmp\nBEGIN { exit(0); }",
         "D_PRAGMA_OPTSET 1:18 failed to set option 'libdir' to '/tmp': Option not allowed for "
         "this program;"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        struct seen s = {0};
        erltrace_t *h = open_handle(0);
        erltrace_handle_diag(h, note_place, &s);
        assert_int_equal(erltrace_setopt(h, "destructive", NULL), 0);
        assert_int_equal(erltrace_restrict(h, NULL), 0);
        assert_int_equal(erltrace_target_local(h), 0);
        erltrace_program_strcompile(h, "test", ERLTRACE_SPEC_SCRIPT, programs[i].text, 0, NULL);
        assert_int_equal(erltrace_enable(h), programs[i].want[0] != '\0' ? -1 : 0);
        assert_string_equal(buf_str(&s.text), programs[i].want);
        buf_free(&s.text);
        erltrace_close(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_that_is_not_spoken_is_refused),
        cmocka_unit_test(null_is_no_handle),
        cmocka_unit_test(closing_is_possible_at_any_moment),
        cmocka_unit_test(order_is_checked),
        cmocka_unit_test(a_cluster_is_alone),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(a_relay_is_taken_over),
        cmocka_unit_test(options_are_set_and_read),
        cmocka_unit_test(diagnostics_have_their_place),
        cmocka_unit_test(the_error_has_the_first_text),
        cmocka_unit_test(diagnostics_are_rendered_as_asked),
        cmocka_unit_test(records_are_shown_part_by_part),
        cmocka_unit_test(a_hidden_record_still_acts),
        cmocka_unit_test(single_actions_can_be_hidden),
        cmocka_unit_test(the_prefix_comes_with_the_first_shown_action),
        cmocka_unit_test(a_handler_can_end_the_trace),
        cmocka_unit_test(closing_inside_a_handler_ends_the_trace),
        cmocka_unit_test(output_goes_to_a_file),
        cmocka_unit_test(a_file_that_cannot_be_written_is_an_error),
        cmocka_unit_test(json_is_for_the_whole_output),
        cmocka_unit_test(faults_have_a_handler),
        cmocka_unit_test(a_fault_can_end_the_trace),
        cmocka_unit_test(drops_have_a_handler),
        cmocka_unit_test(setopt_has_a_handler),
        cmocka_unit_test(destructive_actions_need_the_option),
        cmocka_unit_test(commands_go_to_their_handler),
        cmocka_unit_test(walks_have_orders),
        cmocka_unit_test(walks_can_end_clear_and_remove),
        cmocka_unit_test(walks_can_be_joined),
        cmocka_unit_test(histograms_have_buckets),
        cmocka_unit_test(a_snapshot_reads_now),
        cmocka_unit_test(what_is_set_can_be_walked),
        cmocka_unit_test(probes_can_be_walked),
        cmocka_unit_test(a_description_without_probes_is_an_error),
        cmocka_unit_test(what_was_not_matched_is_not_walked),
        cmocka_unit_test(programs_share_variables_and_have_arguments),
        cmocka_unit_test(code_can_be_dumped),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_command_that_never_begins_is_ended),
        cmocka_unit_test(a_trace_ends_with_its_process),
        cmocka_unit_test(the_target_is_the_first),
        cmocka_unit_test(another_thread_can_end_the_trace),
        cmocka_unit_test(handles_are_independent),
        cmocka_unit_test(aggregations_are_known_before_they_run),
        cmocka_unit_test(keys_say_what_they_name),
        cmocka_unit_test(buckets_are_those_of_the_definition),
        cmocka_unit_test(a_walk_sees_what_an_action_throws_away),
        cmocka_unit_test(what_concerns_the_host_can_be_refused),
        cmocka_unit_test(what_concerns_the_host_can_be_permitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
