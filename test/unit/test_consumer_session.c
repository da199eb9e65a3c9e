/* test_consumer_session.c - sessions over tiers that do what a test tells them: what is merged, in
 * which order things are reported, how a session ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/glob.h"
#include "session/session.h"
#include "util/buftext.h"
#include "util/render.h"

/* -- a tier by hand ---------------------------------------------------------------------------- */

struct fake {
    struct tier tier;
    const char *node;
    const struct tier_probe *probe;
    size_t nprobes;
    /* What the next call of work does: reports, and returns a state. */
    int (*script)(struct fake *f, const struct tier_sink *sink, struct diags *d);
    struct tier_binding binding[8];
    size_t nbindings;
    struct tier_options opt; /* as asked for in enable */
    uint64_t grant;          /* not 0: the buffer size that is granted */
    int enable_error;
    unsigned gone, stopped, closed, calls; /* how often */
    uint64_t unfetched;
    int fd; /* 0: it has none */
};

static struct fake *self(struct tier *t)
{
    return (struct fake *)(void *)t;
}

static int fake_match(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                      struct diags *d)
{
    struct fake *f = self(t);
    (void)d;
    for (size_t i = 0; i < f->nprobes; i++) {
        int rc = glob_match(spec->name, f->probe[i].name) ? fn(arg, &f->probe[i]) : 0;
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int fake_enable(struct tier *t, const struct dif_image *img, const void *image, size_t len,
                       const struct tier_binding *b, size_t n, struct tier_options *opt,
                       struct diags *d)
{
    struct fake *f = self(t);
    struct dif_image copy;
    (void)img;
    dif_image_init(&copy);
    int rc = dif_decode(&copy, image, len, d);
    if (rc == 0)
        rc = dif_verify(&copy, d);
    dif_image_free(&copy);
    if (rc != 0)
        return rc;
    assert_true(n <= 8);
    memcpy(f->binding, b, n * sizeof *b);
    f->nbindings = n;
    f->opt = *opt;
    if (f->grant != 0)
        opt->bufsize = f->grant;
    if (f->enable_error != 0)
        return diag_error(d, f->enable_error, NULL, "NODE_X", NULL, "no");
    return 0;
}

static int fake_go(struct tier *t, struct diags *d)
{
    (void)d;
    self(t)->gone++;
    return 0;
}

static int fake_work(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
                     struct diags *d)
{
    struct fake *f = self(t);
    (void)timeout_ms;
    assert_int_equal(flush, f->stopped > 0);
    f->calls++;
    if (f->script != NULL) {
        int (*script)(struct fake *, const struct tier_sink *, struct diags *) = f->script;
        f->script = NULL;
        return script(f, sink, d);
    }
    return f->stopped ? TIER_DRAINED : TIER_RUNNING;
}

static int fake_stop(struct tier *t, struct diags *d)
{
    (void)d;
    self(t)->stopped++;
    return 0;
}

static void fake_close(struct tier *t)
{
    self(t)->closed++;
}

static const char *fake_target(struct tier *t)
{
    return self(t)->node;
}

static int fake_fd(struct tier *t)
{
    return self(t)->fd > 0 ? self(t)->fd : -1;
}

static uint64_t fake_unfetched(struct tier *t)
{
    return self(t)->unfetched;
}

static const struct tier_ops fake_ops = {.name = "fake",
                                         .place = WORD_LOCAL,
                                         .match = fake_match,
                                         .enable = fake_enable,
                                         .go = fake_go,
                                         .work = fake_work,
                                         .stop = fake_stop,
                                         .close = fake_close,
                                         .unfetched = fake_unfetched,
                                         .target = fake_target,
                                         .fd = fake_fd};

static const struct tier_probe probes[] = {
    {.id = 1, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN", .kind = PROBE_BEGIN},
    {.id = 2, .prov = "dtrace", .mod = "", .func = "", .name = "END", .kind = PROBE_END},
    {.id = 7,
     .prov = "erlang1",
     .mod = "",
     .func = "",
     .name = "spawn",
     .kind = PROBE_PROCESS_SPAWN},
    {.id = 9, .prov = "erlang1", .mod = "", .func = "", .name = "exit", .kind = PROBE_PROCESS_EXIT},
};

/* -- a session over two of them ---------------------------------------------------------------- */

struct fixture {
    struct session session;
    struct session *s; /* that one */
    struct fake a, b;
    struct buf data, messages;
};

static void to_data(void *arg, const char *s, size_t n)
{
    buf_add(&((struct fixture *)arg)->data, s, n);
}

/* Who looks on: the messages of faults, drops and costs are kept. */
static enum verdict on_fault(void *arg, const struct erltrace_fault *e)
{
    buf_printf(&((struct fixture *)arg)->messages, "%s\n", e->message);
    return VERDICT_SHOW;
}

static enum verdict on_drop(void *arg, const struct erltrace_drop *e)
{
    buf_printf(&((struct fixture *)arg)->messages, "%s\n", e->message);
    return VERDICT_SHOW;
}

static enum verdict on_cost(void *arg, struct event_cost *e)
{
    buf_adds(&((struct fixture *)arg)->messages, e->public.message);
    return VERDICT_SHOW;
}

static int setup_as(void **state, bool json)
{
    static struct fixture f;
    f = (struct fixture){.a = {.tier = {&fake_ops}, .node = "a@h", .probe = probes, .nprobes = 4},
                         .b = {.tier = {&fake_ops}, .node = "b@h", .probe = probes, .nprobes = 3}};
    f.s = &f.session;
    session_init(f.s);
    f.s->watch = (struct observer){.arg = &f, .fault = on_fault, .drop = on_drop, .cost = on_cost};
    f.s->out = (struct out){to_data, &f};
    f.s->flags = json ? ERLTRACE_O_JSON : 0;
    *state = &f;
    return 0;
}

static int setup(void **state)
{
    return setup_as(state, false);
}

static int setup_json(void **state)
{
    return setup_as(state, true);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    session_free(f->s);
    buf_free(&f->data);
    buf_free(&f->messages);
    return 0;
}

static void program(struct fixture *f, const char *name, const char *text)
{
    static char *argv[] = {"erltrace", NULL};
    struct compile_source src = {COMPILE_SCRIPT, name, text, strlen(text), 1, argv};
    if (session_add(f->s, &src, NULL) != 0)
        fail_msg("%s: %s", name, f->s->diags.count > 0 ? f->s->diags.list[0].text : "?");
}

/* Compiles, attaches, matches and starts. */
static void start(struct fixture *f, bool two)
{
    assert_int_equal(session_compile(f->s), 0);
    assert_int_equal(session_attach(f->s, &f->a.tier), 0);
    if (two)
        assert_int_equal(session_attach(f->s, &f->b.tier), 0);
    assert_int_equal(session_match(f->s), 0);
    assert_int_equal(session_start(f->s), 0);
}

/* The EPID of the nth binding of a tier. */
static uint32_t epid(const struct fake *f, size_t nth)
{
    assert_true(nth < f->nbindings);
    return f->binding[nth].epid;
}

static void send_int(struct fake *f, const struct tier_sink *sink, uint32_t id, int32_t v)
{
    uint8_t part[4];
    memcpy(part, &v, sizeof v);
    sink->record(sink->arg, &f->tier, id, 100, 0, part, sizeof part);
}

static void send_sum(struct fake *f, const struct tier_sink *sink, int64_t v)
{
    uint64_t word = (uint64_t)v;
    sink->aggregation(sink->arg, &f->tier, 0, 0, NULL, 0, &word, 1, false);
}

/* -- tests ------------------------------------------------------------------------------------- */

static void assert_bindings(const struct fake *f, const struct tier_binding *b, size_t n)
{
    assert_int_equal(f->nbindings, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(f->binding[i].epid, b[i].epid);
        assert_int_equal(f->binding[i].clause, b[i].clause);
        assert_int_equal(f->binding[i].probe, b[i].probe);
    }
}

/* EPIDs go by clause; bindings are sorted by probe, then clause. A description needs only one tier.
 */
static void bindings(void **state)
{
    struct fixture *f = *state;
    program(f, "one.d", "exit,BEGIN { trace(1); }");
    program(f, "two.d", "BEGIN { trace(2); }");
    start(f, true);
    static const struct tier_binding a[] = {{2, 1, 1}, {4, 2, 1}, {1, 0, 9}};
    static const struct tier_binding b[] = {{3, 1, 1}, {5, 2, 1}};
    assert_bindings(&f->a, a, 3);
    assert_bindings(&f->b, b, 2);
    assert_int_equal(f->s->program->info.matches, 3);
    assert_int_equal(f->s->program->next->info.matches, 2);
    assert_int_equal(f->s->nprobes, 5);
    assert_string_equal(session_targets(f->s), "a@h,b@h");
    assert_false(session_is_local(f->s));
    assert_int_equal(f->a.gone, 1);
    assert_int_equal(f->b.gone, 1);
    assert_false(f->a.opt.aggs_with_records);
}

/* A clause that can never run on a probe is not placed there; it has matched, and has its EPID. */
static void left_out(void **state)
{
    struct fixture *f = *state;
    program(f, "one.d",
            "exit,BEGIN /probename == \"exit\"/ { trace(1); } BEGIN /0/ { trace(2); }"
            "BEGIN /epid > 6/ { trace(3); }");
    start(f, true);
    static const struct tier_binding a[] = {{1, 0, 9}}, b[] = {{7, 3, 1}};
    assert_bindings(&f->a, a, 1);
    assert_bindings(&f->b, b, 1);
    assert_int_equal(f->s->program->info.matches, 7);
    assert_int_equal(f->s->nprobes, 7);
    assert_int_equal(f->b.gone, 1);
}

static void unmatched(void **state)
{
    struct fixture *f = *state;
    program(f, "one.d", "BEGIN,\n nosuch /1/ { trace(1); }");
    assert_int_equal(session_compile(f->s), 0);
    assert_int_equal(session_attach(f->s, &f->a.tier), 0);
    assert_int_equal(session_attach(f->s, &f->b.tier), 0);
    assert_int_equal(session_match(f->s), ET_ENOPROBE);
    assert_int_equal(f->s->diags.count, 1);
    assert_string_equal(f->s->diags.list[0].tag, "D_PDESC_ZERO");
    assert_string_equal(f->s->diags.list[0].text,
                        "probe description :::nosuch does not match any probes");
    assert_string_equal(f->s->diags.list[0].pos.file, "one.d");
    assert_int_equal(f->s->diags.list[0].pos.line, 2);
    assert_int_equal(f->s->diags.list[0].pos.col, 2);
    assert_int_equal(f->s->diags.list[0].pos.len, 6);
}

static int adds_two(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    send_sum(f, sink, 2);
    return TIER_RUNNING;
}

static int adds_five(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    send_sum(f, sink, 5);
    return TIER_RUNNING;
}

static void nodes_are_merged(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "spawn { @ = sum(1); }");
    start(f, true);
    f->a.script = adds_two;
    f->b.script = adds_five;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    f->a.script = adds_five;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    assert_int_equal(session_stop(f->s), 0);
    assert_int_equal(session_stop(f->s), 0);
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_DONE);
    assert_int_equal(f->a.stopped, 1);
    assert_int_equal(f->b.stopped, 1);
    session_finish(f->s);
    assert_string_equal(buf_str(&f->data), "\n               12\n");
}

static int is_lost(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    send_sum(f, sink, 1);
    return diag_error(d, ET_ELOST, NULL, "NODE_LOST", NULL, "%s is gone", f->node);
}

/* Of a hundred nodes, those work that have something to do: each that has, and no other. */
static void only_those_that_are_ready(void **state)
{
    enum { NODES = 100, LOST = 7, FIRST = 40 };
    static struct fake node[NODES];
    struct fixture *f = *state;
    const uint64_t one = 1;
    uint64_t taken;
    unsigned all = 0;
    program(f, "p.d", "spawn { @ = sum(1); }");
    assert_int_equal(session_compile(f->s), 0);
    for (int i = 0; i < NODES; i++) {
        node[i] = (struct fake){.tier = {&fake_ops}, .node = "n@h", .probe = probes, .nprobes = 3};
        node[i].fd = eventfd(0, EFD_NONBLOCK);
        assert_true(node[i].fd > 0);
        assert_int_equal(session_attach(f->s, &node[i].tier), 0);
    }
    assert_int_equal(session_match(f->s), 0);
    assert_int_equal(session_start(f->s), 0);
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    for (int i = 0; i < NODES; i++)
        assert_int_equal(node[i].calls, 0);
    for (int i = FIRST; i < FIRST + 3; i++) {
        assert_int_equal(write(node[i].fd, &one, sizeof one), sizeof one);
        node[i].script = adds_five;
    }
    assert_int_equal(session_work(f->s, 1000), ERLTRACE_STATE_RUNNING);
    for (int i = 0; i < NODES; i++)
        assert_int_equal(node[i].calls, i >= FIRST && i < FIRST + 3);
    for (int i = 0; i < NODES; i++) {
        assert_int_equal(write(node[i].fd, &one, sizeof one), sizeof one);
        node[i].script = i == LOST ? is_lost : adds_two;
    }
    for (int looks = 0; looks < 4 && all < NODES; looks++) {
        assert_int_equal(session_work(f->s, 1000), ERLTRACE_STATE_RUNNING);
        all = 0;
        for (int i = 0; i < NODES; i++) {
            all += node[i].script == NULL;
            if (node[i].script == NULL && i != LOST)
                assert_in_range(read(node[i].fd, &taken, sizeof taken) + 1, 0, sizeof taken + 1);
        }
    }
    assert_int_equal(all, NODES);
    const unsigned calls = node[LOST].calls; /* what is gone is readable still, and left alone */
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    assert_int_equal(node[LOST].calls, calls);
    for (int i = 0; i < NODES; i++) /* the end is known to each, and by its descriptor */
        assert_int_equal(write(node[i].fd, &one, sizeof one), sizeof one);
    assert_int_equal(session_stop(f->s), 0);
    assert_int_equal(session_work(f->s, 1000), ERLTRACE_STATE_STOPPING);
    assert_int_equal(session_work(f->s, 1000), ERLTRACE_STATE_DONE);
    session_finish(f->s);
    assert_string_equal(buf_str(&f->data), "\n              214\n"); /* 3 * 5 + 99 * 2 + 1 */
    session_detach(f->s);
    for (int i = 0; i < NODES; i++)
        close(node[i].fd);
}

/* Bindings of "BEGIN {} END {} spawn {}": BEGIN's, END's, spawn's. */
static int first_reading(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    send_int(f, sink, epid(f, 2), 3);
    send_int(f, sink, epid(f, 0), 1);
    return TIER_RUNNING;
}

static int last_reading(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    send_int(f, sink, epid(f, 1), 9);
    send_int(f, sink, epid(f, 2), 4);
    return TIER_DRAINED;
}

static int still_reading(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    send_int(f, sink, epid(f, 2), 5);
    return TIER_RUNNING;
}

static void begin_is_first_and_end_last(void **state)
{
    struct fixture *f = *state;
    f->s->opt.value[OPTION_quiet] = 0;
    program(f, "p.d",
            "BEGIN { printf(\"B%d \", 1); } END { printf(\"E%d \", 1); } spawn { printf(\"s%d \", "
            "1); }");
    start(f, true);
    f->a.script = first_reading;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    assert_string_equal(buf_str(&f->data), "B1 s3 ");
    f->b.script = first_reading; /* each node has its own beginning */
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    assert_string_equal(buf_str(&f->data), "B1 s3 B1 s3 ");
    session_stop(f->s);
    f->a.script = last_reading;
    f->b.script = still_reading;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_STOPPING);
    assert_string_equal(buf_str(&f->data), "B1 s3 B1 s3 s4 s5 ");
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_DONE);
    assert_string_equal(buf_str(&f->data), "B1 s3 B1 s3 s4 s5 E9 ");
}

static int record_before_its_data(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    sink->record(sink->arg, &f->tier, epid(f, 0), 1, 0, NULL, 0);
    send_sum(f, sink, 5);
    return TIER_RUNNING;
}

static void printa_sees_the_whole_reading(void **state)
{
    struct fixture *f = *state;
    f->s->opt.value[OPTION_quiet] = 0;
    program(f, "p.d", "BEGIN { @ = sum(1); printa(\"%@d\\n\", @); clear(@); }");
    start(f, false);
    assert_true(f->a.opt.aggs_with_records);
    f->a.script = record_before_its_data;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    f->a.script = record_before_its_data;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    session_finish(f->s); /* printed: only the empty line */
    assert_string_equal(buf_str(&f->data), "5\n5\n\n");
}

static int sends_ten(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    for (int32_t i = 1; i <= 10; i++)
        send_int(f, sink, epid(f, 0), i);
    return f->stopped ? TIER_DRAINED : TIER_RUNNING;
}

/* With bufpolicy ring and fill nothing is shown before the end; what comes earlier (of a
 * speculation of other threads) waits, as much of it as a buffer holds: of a ring the newest, with
 * fill the trace ends. What comes at the end is shown whole. */
static void policies_show_at_the_end(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "BEGIN { printf(\"%d \", 1); }");
    f->s->opt.value[OPTION_quiet] = 0;
    f->s->opt.value[OPTION_bufpolicy] = RECORD_POLICY_RING;
    f->s->opt.value[OPTION_bufsize] = 256; /* four of 64 bytes */
    start(f, false);
    f->a.script = sends_ten;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    f->a.script = sends_ten;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    assert_int_equal(f->data.len, 0);
    session_stop(f->s);
    f->a.script = sends_ten;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_DONE);
    assert_string_equal(buf_str(&f->data), "7 8 9 10 1 2 3 4 5 6 7 8 9 10 ");
}

static void fill_ends_when_much_waits(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "BEGIN { printf(\"%d \", 1); }");
    f->s->opt.value[OPTION_quiet] = 0;
    f->s->opt.value[OPTION_bufpolicy] = RECORD_POLICY_FILL;
    f->s->opt.value[OPTION_bufsize] = 1024;
    start(f, false);
    f->a.script = sends_ten;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    f->a.script = sends_ten;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_STOPPING);
    assert_int_equal(f->data.len, 0);
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_DONE);
    assert_string_equal(buf_str(&f->data), "1 2 3 4 5 6 7 8 9 10 1 2 3 4 5 6 7 8 9 10 ");
}

static struct record_counts counts;

static int sends_counts(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    sink->counts(sink->arg, &f->tier, &counts);
    return TIER_RUNNING;
}

static void drops_are_differences(void **state)
{
    struct fixture *f = *state;
    struct erltrace_status st = {.state = ERLTRACE_STATE_NONE};
    program(f, "p.d", "BEGIN { trace(1); }");
    f->s->opt.value[OPTION_statusrate] = 0; /* report at once */
    start(f, true);
    counts = (struct record_counts){
        .fired = 10, .recorded = 5, .drop = {[RECORD_DROP_PRINCIPAL] = 5}, .cpu = {[1] = {5, 0}}};
    f->a.script = sends_counts;
    session_work(f->s, 0);
    session_work(f->s, 0);
    counts.drop[RECORD_DROP_PRINCIPAL] = 6;
    counts.drop[RECORD_DROP_AGGREGATION] = 1;
    counts.cpu[0].principal = 1;
    counts.cpu[3].agg = 1;
    counts.fired = 20;
    f->a.script = sends_counts;
    f->b.script = sends_counts;
    session_work(f->s, 0);
    assert_string_equal(buf_str(&f->messages), "5 drops on CPU 1 of a@h\n"
                                               "1 drop on CPU 0 of a@h\n"
                                               "1 aggregation drop on CPU 3 of a@h\n"
                                               "1 drop on CPU 0 of b@h\n"
                                               "5 drops on CPU 1 of b@h\n"
                                               "1 aggregation drop on CPU 3 of b@h\n");
    session_status(f->s, &st);
    assert_int_equal(st.fired, 40);
    assert_int_equal(st.recorded, 10);
    assert_int_equal(st.drops, 14);
}

static void drops_wait_for_the_statusrate(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "BEGIN { trace(1); }");
    f->s->opt.value[OPTION_statusrate] = INT64_MAX;
    start(f, false);
    counts = (struct record_counts){.drop = {[RECORD_DROP_DYNAMIC] = 2}};
    f->a.script = sends_counts;
    session_work(f->s, 0);
    assert_int_equal(f->messages.len, 0);
    session_stop(f->s);
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_DONE);
    assert_string_equal(buf_str(&f->messages), "2 dynamic variable drops\n");
}

static struct tier_load load;
static int load_state;

static int sends_load(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    sink->counts(sink->arg, &f->tier, &counts);
    sink->load(sink->arg, &f->tier, &load);
    return load_state;
}

/* Two threads, two probes, two seconds. */
static void make_load(enum tier_load_why why)
{
    static struct tier_load_thread threads[] = {
        {"scheduler", 2, 3000, 1800000000, 2000000000},
        {"dirty I/O scheduler", 1, 1000, 2000000, 1000000000}};
    static struct tier_load_probe kinds[] = {
        {"", "", "", "entry", PROBE_FN_ENTRY, 3000, 1200000000},
        {"", "", "", "process-spawn", PROBE_PROCESS_SPAWN, 1000, 2000000},
    };
    static struct tier_load_probe of[] = {
        {"erlang1", "lists", "map/2", "entry", PROBE_FN_ENTRY, 3000, 1200000000},
        {"erlang1", "", "", "process-spawn", PROBE_PROCESS_SPAWN, 1000, 2000000},
    };
    load = (struct tier_load){.why = why,
                              .ns = 2000000000,
                              .fired = 4100,
                              .thread = threads,
                              .nthreads = 2,
                              .kind = kinds,
                              .nkinds = 2,
                              .probe = of,
                              .nprobes = 2,
                              .vm = 600000000,
                              .over = {"scheduler", 2, 0, 0, 310000000},
                              .permille = 901,
                              .limit = 400};
    load_state = why == TIER_LOAD_OVERLOAD ? TIER_OVERLOAD : TIER_RUNNING;
}

static void costs_are_told(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "BEGIN { trace(1); }");
    f->s->opt.value[OPTION_statusrate] = INT64_MAX;
    f->s->opt.value[OPTION_stats] = 1000000000;
    f->s->opt.value[OPTION_maxload] = 30;
    start(f, false);
    assert_int_equal(f->a.opt.stats, 1000000000);
    assert_int_equal(f->a.opt.maxload, 30);
    counts =
        (struct record_counts){.drop = {[RECORD_DROP_PRINCIPAL] = 2, [RECORD_DROP_AGGREGATION] = 1},
                               .cpu = {[0] = {2, 1}}};
    make_load(TIER_LOAD_STATS);
    f->a.script = sends_load;
    session_work(f->s, 0);
    assert_string_equal(
        buf_str(&f->messages),
        "stats: 2050 events/s on a@h, 450500 ns each, 90.0 % of scheduler 2 (most), "
        "0.2 % of dirty I/O scheduler 1, 3 drops (2 drops, 1 aggregation drop)\n"
        "stats:   60.0 %, 1500/s, 400000 ns each: lists:map/2:entry\n"
        "stats:   0.1 %, 500/s, 2000 ns each: process-spawn\n"
        "stats:   30.0 %, 150000 ns each: the emulator on its way to the probes and back "
        "(an estimate)\n");
    /* drops are those since the last time; without threads there is no cost */
    buf_reset(&f->messages);
    load.nthreads = load.nprobes = 0;
    load.vm = 0;
    f->a.script = sends_load;
    session_work(f->s, 0);
    assert_string_equal(buf_str(&f->messages), "stats: 2050 events/s on a@h, no drops\n");
    /* at the end all of them */
    buf_reset(&f->messages);
    make_load(TIER_LOAD_TOTAL);
    load.nprobes = 1;
    load.vm = 0;
    f->a.script = sends_load;
    session_work(f->s, 0);
    assert_string_equal(
        buf_str(&f->messages),
        "total: 4100 events in 2.0 s on a@h, 450500 ns each, 90.0 % of scheduler 2 "
        "(most), 0.2 % of dirty I/O scheduler 1, 3 drops (2 drops, 1 aggregation drop)\n"
        "total:   60.0 %, 1500/s, 400000 ns each: lists:map/2:entry\n"
        "total:   0.1 %: other probes\n"
        "total:   30.0 %: events at which none of its probes fired\n");
    /* What remains beside estimates is told from half a percent on. */
    for (int more = 0; more < 2; more++) {
        buf_reset(&f->messages);
        make_load(TIER_LOAD_TOTAL);
        load.nthreads = 1;
        load.vm = 1800000000 - 1202000000 - (more ? 10000000 : 8800000);
        f->a.script = sends_load;
        session_work(f->s, 0);
        assert_true((strstr(buf_str(&f->messages), " 0.5 %: events at which") != NULL) == more);
        assert_true((strstr(buf_str(&f->messages), "events at which") != NULL) == more);
    }
    /* Functions whose calls the VM counts, as far as a line goes. */
    static struct tier_load_counted calls[] = {
        {"erlang1", "shop", "leaf/1", 2018}, {"erlang1", "shop", "a\nb/0", 62},
        {"erlang1", "shop", "c/0", 2},       {"erlang1", "shop", "d/0", 0},
        {"erlang1", "shop", "e/0", 0},       {"erlang1", "shop", "f/0", 0}};
    for (uint32_t n = 1; n <= 6; n += 5) {
        buf_reset(&f->messages);
        make_load(TIER_LOAD_STATS);
        load.nthreads = load.nprobes = 0;
        load.vm = 0;
        load.counted = calls;
        load.functions = load.ncounted = n;
        f->a.script = sends_load;
        session_work(f->s, 0);
        assert_non_null(strstr(
            buf_str(&f->messages),
            n == 1 ? "\nstats:   1 function counted by the VM: shop:leaf/1 1009/s\n"
                   : "\nstats:   6 functions counted by the VM: shop:leaf/1 1009/s, shop:a\\nb/0 "
                     "31/s, shop:c/0 1/s, shop:d/0 0/s, shop:e/0 0/s ...\n"));
    }
    /* One probe that is all of the cost says nothing new. */
    buf_reset(&f->messages);
    make_load(TIER_LOAD_TOTAL);
    load.nprobes = load.nkinds = load.nthreads = 1;
    load.vm = 0;
    load.thread[0].ns = load.kind[0].ns;
    f->a.script = sends_load;
    session_work(f->s, 0);
    load.thread[0].ns = 1800000000;
    assert_string_equal(
        buf_str(&f->messages),
        "total: 4100 events in 2.0 s on a@h, 400000 ns each, 60.0 % of scheduler 2, "
        "3 drops (2 drops, 1 aggregation drop)\n");
}

/* Nobody asked: nothing is written at the end. */
static void costs_are_not_told(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "BEGIN { trace(1); }");
    start(f, false);
    assert_int_equal(f->a.opt.stats, OPTION_UNSET);
    assert_int_equal(f->a.opt.maxload, 40);
    make_load(TIER_LOAD_TOTAL);
    f->a.script = sends_load;
    session_work(f->s, 0);
    assert_int_equal(f->data.len, 0);
    f->s->opt.value[OPTION_stats] = 1000000000;
    f->a.script = sends_load;
    session_work(f->s, 0);
    assert_non_null(strstr(buf_str(&f->data), "{\"type\":\"stats\",\"why\":\"total\","));
    assert_null(strstr(buf_str(&f->data), "\"counted\""));
    static struct tier_load_counted calls = {"erlang1", "shop", "leaf/1", 2018};
    make_load(TIER_LOAD_TOTAL);
    load.counted = &calls;
    load.functions = 3;
    load.ncounted = 1;
    f->a.script = sends_load;
    session_work(f->s, 0);
    assert_non_null(strstr(buf_str(&f->data),
                           ",\"counted\":{\"functions\":3,\"most\":[{\"module\":\"shop\","
                           "\"function\":\"leaf/1\",\"calls\":2018}]},"));
}

/* The program is ended in one node because of what it took: the others go on, and what had been
 * collected is reported. */
static void overload_ends_one_node(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "BEGIN { trace(1); }");
    start(f, true);
    make_load(TIER_LOAD_OVERLOAD);
    f->a.script = sends_load;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    assert_int_equal(f->a.stopped, 1);
    assert_int_equal(f->b.stopped, 0);
    assert_int_equal(session_overloaded(f->s), 1);
    assert_int_equal(f->s->diags.errors, 1);
    assert_string_equal(f->s->diags.list[0].tag, "TRACE_OVERLOAD");
    assert_string_equal(f->s->diags.list[0].text,
                        "the trace of a@h was stopped: its probes took 90.1 % of the 0.31 s that "
                        "scheduler 2 could run in 2 s, with 2050 events/s in all; the limit is "
                        "40 %");
    assert_non_null(strstr(f->s->diags.list[0].hint, "called less often"));
    assert_string_equal(
        f->s->diags.list[1].text,
        "what cost most, in percent of the same 0.31 s: lists:map/2:entry 60.0 % at "
        "1500/s; process-spawn 0.1 % at 500/s; 30.0 % the emulator on its way to "
        "the probes and back (an estimate)");
    f->a.script = sends_ten;
    session_work(f->s, 0);
    assert_non_null(strstr(buf_str(&f->data), ":BEGIN          10"));
    session_stop(f->s);
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_DONE);
    assert_int_equal(session_lost(f->s), 0);
}

/* The trace was ending anyhow when that was found: it counts, since it has been said. */
static void overload_at_the_end(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "BEGIN { trace(1); }");
    start(f, false);
    assert_int_equal(session_stop(f->s), 0);
    make_load(TIER_LOAD_OVERLOAD);
    load_state = TIER_RUNNING;
    f->a.script = sends_load;
    session_work(f->s, 0);
    assert_string_equal(f->s->diags.list[0].tag, "TRACE_OVERLOAD");
    assert_int_equal(session_overloaded(f->s), 1);
}

/* The limit is for all traces of a node together, and the dearest is ended. */
static void overload_of_several(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "BEGIN { trace(1); }");
    start(f, false);
    make_load(TIER_LOAD_OVERLOAD);
    load.permille = 262;
    f->a.script = sends_load;
    session_work(f->s, 0);
    assert_non_null(strstr(f->s->diags.list[0].text,
                           "took 26.2 % of the 0.31 s that scheduler 2 could run in 2 s, with 2050 "
                           "events/s in all; with what other traces of the node took it was above "
                           "the limit, 40 %"));
    /* what is listed is part of that */
    assert_non_null(strstr(f->s->diags.list[1].text, "0.31 s: lists:map/2:entry 17.4 % at"));
}

/* How to narrow a script depends on what it spent most on. */
static void overload_says_what_helps(void **state)
{
    struct fixture *f = *state;
    static const struct {
        enum probe_kind kind;
        uint32_t nprobes;
        const char *says;
    } row[] = {
        {PROBE_FN_ENTRY, 1, "choose a function"},
        {PROBE_FN_ENTRY, 3, "name fewer functions"},
        {PROBE_FN_RETURN, 1, "leave out the return probes"},
        {PROBE_MESSAGE_SEND, 1, "watch one, with a predicate"},
    };
    program(f, "p.d", "BEGIN { trace(1); }");
    start(f, false);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct tier_load_probe kind = {"", "", "", "x", row[i].kind, 1, 1};
        struct tier_load_probe of[] = {kind, kind, kind};
        make_load(TIER_LOAD_OVERLOAD);
        load.kind = &kind;
        load.nkinds = 1;
        load.probe = of;
        load.nprobes = row[i].nprobes;
        f->a.script = sends_load;
        session_work(f->s, 0);
        assert_int_equal(f->s->diags.errors, i + 1);
        assert_non_null(strstr(f->s->diags.list[2 * i].hint, row[i].says));
    }
}

static int exits_with_3(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    send_int(f, sink, epid(f, 0), 3);
    return TIER_EXITING;
}

static int exits_with_4_at_the_end(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    send_int(f, sink, epid(f, 1), 4);
    return TIER_DRAINED;
}

static void exit_stops_all_nodes(void **state)
{
    struct fixture *f = *state;
    struct erltrace_status st = {.state = ERLTRACE_STATE_NONE};
    program(f, "p.d", "BEGIN { exit(1); } END { exit(2); }");
    start(f, true);
    session_status(f->s, &st);
    assert_int_equal(st.status, 0);
    assert_false(st.exited);
    f->a.script = exits_with_3;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_STOPPING);
    assert_int_equal(f->a.stopped + f->b.stopped, 2);
    session_status(f->s, &st);
    assert_int_equal(st.status, 3);
    assert_true(st.exited);
    f->b.script = exits_with_4_at_the_end;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_DONE);
    session_status(f->s, &st);
    assert_int_equal(st.status, 4); /* END's wins */
}

static void a_node_is_lost(void **state)
{
    struct fixture *f = *state;
    struct erltrace_status st = {.state = ERLTRACE_STATE_NONE};
    f->a.unfetched = UINT64_C(119000001);
    f->b.unfetched = UINT64_C(1500000000);
    f->s->opt.value[OPTION_droptags] = 1;
    program(f, "p.d", "spawn { @ = sum(1); } END { x = 1; }");
    start(f, true);
    assert_false(session_end_missed(f->s));
    f->a.script = is_lost;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    assert_int_equal(session_lost(f->s), 1);
    assert_true(session_end_missed(f->s));
    assert_int_equal(f->s->diags.errors, 1);
    unsigned calls = f->a.calls;
    f->b.script = adds_two;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    assert_int_equal(f->a.calls, calls); /* left alone */
    f->b.script = is_lost;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_DONE);
    assert_int_equal(session_lost(f->s), 2);
    assert_int_equal(f->a.stopped, 0);
    session_finish(f->s);
    assert_string_equal(buf_str(&f->data), "\n                4\n");
    assert_string_equal(
        buf_str(&f->messages),
        "[DTRACEDROP_ENDED] the trace in a@h ended there: what fired in its last 120 "
        "ms is lost\n"
        "[DTRACEDROP_ENDED] the trace in b@h ended there: what fired in its last 1.5 "
        "s is lost\n");
    session_status(f->s, &st);
    assert_int_equal(st.drops, 2);
}

static int sends_too_much(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    static const uint8_t parts[8];
    (void)d;
    sink->record(sink->arg, &f->tier, epid(f, 0), 1, 0, parts, sizeof parts);
    return TIER_RUNNING;
}

static int sends_foreign_epid(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    send_int(f, sink, 99, 1);
    return TIER_RUNNING;
}

static int sends_others_epid(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    send_int(f, sink, 2, 1); /* b's, from a */
    return TIER_RUNNING;
}

static int sends_bad_aggregation(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    uint64_t word = 1;
    (void)d;
    sink->aggregation(sink->arg, &f->tier, 5, 0, NULL, 0, &word, 1, false);
    return TIER_RUNNING;
}

/* What a node sends is not believed. */
static void malformed_data(void **state)
{
    struct fixture *f = *state;
    static int (*const scripts[])(struct fake *, const struct tier_sink *, struct diags *) = {
        sends_too_much, sends_foreign_epid, sends_others_epid, sends_bad_aggregation};
    program(f, "p.d", "BEGIN { trace(1); }");
    start(f, true);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        diags_clear(&f->s->diags);
        f->a.script = scripts[i];
        assert_int_equal(session_work(f->s, 0), ET_EIMAGE);
        assert_string_equal(f->s->diags.list[0].tag, "DATA_MALFORMED");
    }
}

/* Parts of a record of a clause with sub-clauses: cut short, and of a sub-clause that there is not.
 */
static int sends_no_sub_clause(struct fake *k, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    sink->record(sink->arg, &k->tier, 1, 1, 0, (const uint8_t *)"\0\0", 2);
    return TIER_RUNNING;
}

static int sends_foreign_sub_clause(struct fake *k, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    sink->record(sink->arg, &k->tier, 1, 1, 0, (const uint8_t *)"\2\0\0\0\7\0\0\0", 8);
    return TIER_RUNNING;
}

static int sends_sub_clauses(struct fake *k, const struct tier_sink *sink, struct diags *d)
{
    (void)d;
    sink->record(sink->arg, &k->tier, 1, 1, 0, (const uint8_t *)"\1\0\0\0\7\0\0\0", 8);
    sink->record(sink->arg, &k->tier, 1, 1, 0, (const uint8_t *)"\0\0\0\0\1\0\0\0x", 9);
    return TIER_RUNNING;
}

static void sub_clauses(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "#pragma D option quiet\nBEGIN { if (1) trace(probename); else trace(1); }");
    start(f, false);
    f->a.script = sends_no_sub_clause;
    assert_int_equal(session_work(f->s, 0), ET_EIMAGE);
    f->a.script = sends_foreign_sub_clause;
    assert_int_equal(session_work(f->s, 0), ET_EIMAGE);
    buf_reset(&f->data);
    f->a.script = sends_sub_clauses;
    assert_int_equal(session_work(f->s, 0), ERLTRACE_STATE_RUNNING);
    assert_string_equal(buf_str(&f->data), "7x");
}

static void destructive_needs_its_option(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "BEGIN { freopen(\"x\"); }");
    assert_int_equal(session_compile(f->s), 0);
    assert_true(session_is_destructive(f->s));
    assert_int_equal(session_attach(f->s, &f->a.tier), 0);
    assert_int_equal(session_match(f->s), 0);
    assert_int_equal(session_start(f->s), ET_EINVAL);
    f->s->opt.value[OPTION_destructive] = 1;
    assert_int_equal(session_start(f->s), 0);
}

static void sizes_are_negotiated(void **state)
{
    struct fixture *f = *state;
    f->a.grant = 1 << 20;
    program(f, "p.d", "#pragma D option switchrate=10ms\nBEGIN { trace(1); }");
    start(f, false);
    assert_int_equal(f->a.opt.bufsize, 4 << 20);
    assert_int_equal(f->a.opt.switchrate, 10000000);
    assert_int_equal(f->s->diags.count, 1);
    assert_int_equal(f->s->diags.list[0].severity, DIAG_NOTE);
    assert_string_equal(f->s->diags.list[0].text, "buffer size lowered to 1m");
}

static void enabling_fails(void **state)
{
    struct fixture *f = *state;
    f->b.enable_error = ET_EBUSY;
    program(f, "p.d", "BEGIN { trace(1); }");
    assert_int_equal(session_compile(f->s), 0);
    assert_int_equal(session_attach(f->s, &f->a.tier), 0);
    assert_int_equal(session_attach(f->s, &f->b.tier), 0);
    assert_int_equal(session_match(f->s), 0);
    assert_int_equal(session_start(f->s), ET_EBUSY);
    assert_int_equal(f->a.gone + f->b.gone, 0); /* nothing runs anywhere */
}

static void nothing_stays_open(void **state)
{
    struct fixture *f = *state;
    program(f, "p.d", "BEGIN { trace(1); }");
    start(f, true);
    session_detach(f->s);
    assert_int_equal(f->a.closed, 1);
    assert_int_equal(f->b.closed, 1);
}

static void local_programs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool local;
    } row[] = {
        {"BEGIN,END,ERROR { trace(1); }", true},
        {"dtrace:::BEG* { trace(1); }", true},
        {"tick-5s,profile:::tick-1 { trace(1); }", true},
        {"dtrace::: { trace(1); }", true},
        {"2 { trace(1); }", true},
        {"BEGIN { trace(1); } process-spawn { trace(1); }", false},
        {"erlang*:::BEGIN { trace(1); }", false},
        {"::lists:tick-1 { trace(1); }", false},
        {"*:::BEGIN { trace(1); }", false},
        {"1000 { trace(1); }", false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        void *st;
        setup(&st);
        struct fixture *f = st;
        program(f, "p.d", row[i].text);
        assert_int_equal(session_compile(f->s), 0);
        if (session_is_local(f->s) != row[i].local)
            fail_msg("%s", row[i].text);
        teardown(&st);
    }
}

static int sends_all(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    static const uint8_t parts[] = {2, 0, 0, 0, 'h', 'i', 5, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t key[] = {1, 0, 0, 0, 'k'};
    uint64_t words[DIF_QUANTIZE_BUCKETS] = {[70] = 1};
    (void)d;
    sink->record(sink->arg, &f->tier, epid(f, 0), 1, 0, parts, sizeof parts);
    sink->aggregation(sink->arg, &f->tier, 0, 0, key, sizeof key, words, DIF_QUANTIZE_BUCKETS,
                      false);
    sink->fault(sink->arg, &f->tier, epid(f, 0), 1, 4, 4, 0, 0);
    return TIER_EXITING;
}

/* Whichever allocation fails, and all after it: an error, or a run to the end, and nothing is left.
 */
static void memory_runs_out(void **state)
{
    (void)state;
    bool through = false;
    for (unsigned long n = 1; !through; n++) {
        static char *argv[] = {"erltrace", NULL};
        static const char text[] =
            "BEGIN { printf(\"%s %d\\n\", \"x\", 5); @[\"k\"] = quantize(1); "
            "printa(\"%s %@d\", @); trunc(@, 5); }";
        struct compile_source src = {COMPILE_SCRIPT, "p.d", text, sizeof text - 1, 1, argv};
        void *st = NULL;
        et_alloc_fail_after(n);
        int rc = setup(&st) == 0 ? 0 : ET_ENOMEM;
        struct fixture *f = st;
        if (rc == 0)
            rc = session_add(f->s, &src, NULL);
        if (rc == 0)
            rc = session_compile(f->s);
        if (rc == 0)
            rc = session_attach(f->s, &f->a.tier);
        if (rc == 0)
            rc = session_match(f->s);
        if (rc == 0)
            rc = session_start(f->s);
        f->a.script = sends_all;
        if (rc == 0)
            rc = session_work(f->s, 0);
        if (rc == ERLTRACE_STATE_STOPPING)
            rc = session_work(f->s, 0);
        if (rc == ERLTRACE_STATE_DONE) {
            session_finish(f->s);
            through = !f->data.oom && !f->messages.oom && strchr(buf_str(&f->data), '@') != NULL;
        }
        et_alloc_fail_after(0);
        teardown(&st);
        assert_true(n < 10000);
    }
}

/* A tier that has the kernel's names: what its programs record is shown with what it knows of the
 * addresses. */
static bool fake_symbol(struct tier *t, uint64_t pid, uint64_t address, struct tier_symbol *out)
{
    (void)t;
    if (address < 0x1000 || address >= 0x2000)
        return false;
    *out = (struct tier_symbol){.object = pid == 0 ? "vmlinux" : "/lib/libc.so",
                                .function = pid == 0 ? "schedule" : "malloc",
                                .offset = address - 0x1000};
    return true;
}

static int send_places(struct fake *f, const struct tier_sink *sink, struct diags *d)
{
    /* stack(3), usym(); then the keys of an aggregation: ustack(2), mod() */
    static const uint64_t parts[] = {0x1010, 0x9999, 0, 77, 0x1004};
    static const uint64_t keys[] = {77, 0x1000, 0x1008, 0x1020};
    const uint64_t five = 5;
    (void)d;
    sink->aggregation(sink->arg, &f->tier, 0, 0, (const uint8_t *)keys, sizeof keys, &five, 1,
                      false);
    sink->record(sink->arg, &f->tier, epid(f, 0), 1, 0, (const uint8_t *)parts, sizeof parts);
    return TIER_EXITING;
}

static void kernel_tier(void **state)
{
    struct fixture *f = *state;
    static struct tier_ops ops; /* the session closes it after this */
    ops = fake_ops;
    ops.place = WORD_KERNEL;
    ops.symbol = fake_symbol;
    f->a.tier.ops = &ops;
    f->a.script = send_places;
    program(f, "k.d",
            "#pragma D option quiet\n#pragma D option stackindent=3\n"
            "BEGIN { stack(3); usym(arg0); @[ustack(2), mod(caller)] = count(); }");
    start(f, false);
    while (session_work(f->s, 0) != ERLTRACE_STATE_DONE)
        ;
    session_finish(f->s);
    char want[512];
    snprintf(want, sizeof want,
             "\n   vmlinux`schedule+0x10\n   0x9999\n  %-50s"
             "\n\n   libc.so`malloc\n   libc.so`malloc+0x8\n  %-50s %16d\n",
             "libc.so`malloc", "vmlinux", 5);
    assert_string_equal(buf_str(&f->data), want);
}

/* One tier of two lacks a name: nothing is enabled anywhere. */
static void kernel_names_elsewhere(void **state)
{
    struct fixture *f = *state;
    static struct tier_ops ops; /* the session closes it after this */
    ops = fake_ops;
    ops.place = WORD_KERNEL;
    f->a.tier.ops = &ops;
    program(f, "k.d", "BEGIN {\n  trace(1);\n  stack(); }");
    assert_int_equal(session_compile(f->s), 0);
    assert_int_equal(session_attach(f->s, &f->a.tier), 0);
    assert_int_equal(session_attach(f->s, &f->b.tier), 0);
    assert_int_equal(session_match(f->s), 0);
    assert_int_equal(session_start(f->s), ET_EUNSUP);
    assert_int_equal(f->s->diags.count, 1);
    assert_string_equal(f->s->diags.list[0].text,
                        "could not enable tracing: stack() needs the kernel tier (--kernel)");
    assert_string_equal(f->s->diags.list[0].pos.file, "k.d");
    assert_int_equal(f->s->diags.list[0].pos.line, 3);
    assert_int_equal(f->s->diags.list[0].pos.col, 3);
    assert_int_equal(f->a.nbindings, 0);
    assert_int_equal(f->b.nbindings, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(bindings),
        T(left_out),
        T(unmatched),
        T(nodes_are_merged),
        T(only_those_that_are_ready),
        T(begin_is_first_and_end_last),
        T(printa_sees_the_whole_reading),
        T(policies_show_at_the_end),
        T(fill_ends_when_much_waits),
        T(drops_are_differences),
        T(drops_wait_for_the_statusrate),
        T(costs_are_told),
        cmocka_unit_test_setup_teardown(costs_are_not_told, setup_json, teardown),
        T(overload_ends_one_node),
        T(overload_at_the_end),
        T(overload_of_several),
        T(overload_says_what_helps),
        T(exit_stops_all_nodes),
        T(a_node_is_lost),
        T(malformed_data),
        T(sub_clauses),
        T(destructive_needs_its_option),
        T(sizes_are_negotiated),
        T(enabling_fails),
        T(kernel_tier),
        T(kernel_names_elsewhere),
        T(nothing_stays_open),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(local_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
