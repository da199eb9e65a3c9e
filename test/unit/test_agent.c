/* test_agent.c - the agent's library without a virtual machine (test/fuzz/nif.h): who may call its
 * functions, what they refuse, which function an event is of. */
#include "d_text.h"

#include "../fuzz/nif.h"

#include "engine/engine.h"
#include "lang/encode.h"
#include "probe/probe.h"
#include "tier/tier.h"

ErlNifEntry *nif_init(void); /* the library's one name */
static ErlNifEntry *library;
static ERL_NIF_TERM server, badarg;

enum { RECORDS = 16, SERVER = 0, SOMEBODY = 2 };

#define CALL(s, ...) nif_call(library, s, (const ERL_NIF_TERM[]){__VA_ARGS__})

static int start(void **state)
{
    (void)state;
    nif_otp = 25;
    library = nif_init();
    server = nif_self = nif_pid(SERVER, true);
    badarg = enif_make_badarg(nif_env);
    assert_int_equal(library->load(nif_env, NULL, nif_nil()), 0);
    assert_int_equal(CALL("nif_start", nif_int(nif_otp), nif_name("etw@host")), nif_name("ok"));
    return 0;
}

/* -- a program that is enabled
 * --------------------------------------------------------------------- */

struct traced {
    struct d_text d;
    ERL_NIF_TERM program;
    struct { /* of each record: its clause, its first part */
        uint32_t epid;
        int64_t value;
    } record[RECORDS];
    unsigned n;
};

/* Where the clauses of a program are bound. */
struct where {
    enum probe_kind kind;
    const char *m, *f; /* of a function; NULL: of a named probe */
    unsigned arity;
};

static ERL_NIF_TERM binding(const struct where *w, unsigned clause)
{
    ERL_NIF_TERM fn[3] = {0}, e[5];
    if (w->m) {
        fn[0] = nif_name(w->m);
        fn[1] = nif_name(w->f);
        fn[2] = nif_uint(w->arity);
    }
    e[0] = nif_uint(clause + 1);
    e[1] = nif_uint(clause);
    e[2] = nif_uint(clause + 1);
    e[3] = nif_uint(w->kind);
    e[4] = w->m ? nif_tuple(fn, 3) : nif_nil();
    return nif_tuple(e, 5);
}

/* Enables a text, whose clauses are bound as `where` says whatever they describe, and publishes it.
 */
static void trace(struct traced *t, const char *text, const struct where *where, unsigned n)
{
    struct buf image = BUF_INIT;
    ERL_NIF_TERM bindings = nif_nil();
    const ERL_NIF_TERM *e;
    int size;
    *t = (struct traced){.n = 0};
    d_must(&t->d, text);
    assert_int_equal(t->d.img.nclauses, n);
    assert_int_equal(dif_encode(&t->d.img, &image), 0);
    for (unsigned i = n; i > 0; i--)
        bindings = nif_cons(binding(&where[i - 1], i - 1), bindings);
    ERL_NIF_TERM answer = CALL("nif_enable", nif_binary(image.data, image.len, false), nif_nil(),
                               bindings, nif_binary("erlang4711", 10, false));
    assert_true(enif_get_tuple(nif_env, answer, &size, &e));
    assert_int_equal(e[0], nif_name("ok"));
    t->program = e[1];
    assert_int_equal(CALL("nif_publish", nif_cons(t->program, nif_nil()), nif_nil(), nif_nil()),
                     nif_name("ok"));
    CALL("nif_gate", nif_name("true"));
    CALL("nif_phase", t->program, nif_name("running"));
    buf_free(&image);
}

static void on_record(void *arg, struct tier *tier, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                      const uint8_t *parts, size_t len)
{
    struct traced *t = arg;
    (void)tier;
    (void)timestamp;
    (void)cpu;
    assert_true(t->n < RECORDS && len >= 8);
    t->record[t->n].epid = epid;
    memcpy(&t->record[t->n].value, parts, 8);
    t->n++;
}

/* What has been recorded goes to t->record. */
static void drain(struct traced *t)
{
    struct tier_sink sink = {.arg = t, .record = on_record};
    const ERL_NIF_TERM *e;
    ErlNifBinary bin;
    int n;
    CALL("nif_flip", t->program, nif_int(3));
    assert_int_equal(CALL("nif_quiet", t->program), nif_name("true"));
    ERL_NIF_TERM answer = CALL("nif_drain", t->program, nif_int(5000));
    assert_true(enif_get_tuple(nif_env, answer, &n, &e) && n == 2 &&
                enif_inspect_binary(nif_env, e[0], &bin));
    assert_int_equal(
        tier_report(NULL, &t->d.img, (const char *)bin.data, bin.size, &sink, &t->d.diags), 0);
}

static void leave(struct traced *t)
{
    CALL("nif_phase", t->program, nif_name("stopped"));
    CALL("nif_gate", nif_name("false"));
    assert_int_equal(CALL("nif_publish", nif_nil(), nif_nil(), nif_nil()), nif_name("ok"));
    assert_int_equal(nif_call(library, "nif_settled", NULL), nif_name("true"));
    d_close(&t->d);
    nif_reset();
}

/* -- events
 * ---------------------------------------------------------------------------------------- */

static ERL_NIF_TERM mfa(const char *m, const char *f, unsigned arity)
{
    return nif_tuple((const ERL_NIF_TERM[]){nif_name(m), nif_name(f), nif_uint(arity)}, 3);
}

/* A process calls a function without arguments, from a caller, through a local pattern. */
static void calls(unsigned pid, const char *m, const char *f, ERL_NIF_TERM caller)
{
    const ERL_NIF_TERM pair[] = {nif_name("match_spec_result"), caller};
    ERL_NIF_TERM called =
        nif_tuple((const ERL_NIF_TERM[]){nif_name(m), nif_name(f), nif_uint(0)}, 3);
    CALL("trace", nif_name("call"), nif_nil(), nif_pid(pid, true), called, nif_map(pair, 1));
}

static void returns_to(unsigned pid, ERL_NIF_TERM to)
{
    CALL("trace", nif_name("return_to"), nif_nil(), nif_pid(pid, true), to, nif_map(NULL, 0));
}

/* A process that is not the server gets badarg of everything that only the server may call; the
 * server does not. */
static void test_only_the_server_may(void **state)
{
    static const struct where begin = {PROBE_PORT_BUSY, NULL, NULL, 0};
    struct traced t;
    (void)state;
    trace(&t, "BEGIN { trace((int64_t)1); }", &begin, 1);
    struct buf image = BUF_INIT;
    assert_int_equal(dif_encode(&t.d.img, &image), 0);
    const ERL_NIF_TERM none = nif_nil(), yes = nif_name("true"), pid = nif_pid(SOMEBODY, true),
                       program = t.program;
    const ERL_NIF_TERM two = nif_tuple((const ERL_NIF_TERM[]){pid, pid}, 2);
    const struct {
        const char *name;
        ERL_NIF_TERM arg[4];
    } calls_of[] = {
        {"nif_enable",
         {nif_binary(image.data, image.len, false), none, nif_cons(binding(&begin, 0), none),
          nif_binary("erlang4711", 10, false)}},
        {"nif_event", {nif_uint(PROBE_PORT_BUSY), pid, two}},
        {"nif_event_of", {program, nif_uint(PROBE_PORT_BUSY), pid, two}},
        {"nif_clock", {none}},
        {"nif_ports", {nif_name("false")}},
        {"nif_unknown_ports", {nif_uint(0)}},
        {"nif_sweep", {nif_uint(0)}},
        {"nif_gate", {yes}},
        {"nif_loading", {yes}},
        {"nif_alive", {pid}},
        {"nif_counts", {program}},
        {"nif_quiet", {program}},
        {"nif_publish", {nif_cons(program, none), none, none}},
    };
    for (size_t i = 0; i < sizeof calls_of / sizeof *calls_of; i++) {
        nif_self = nif_pid(SOMEBODY, true);
        if (nif_call(library, calls_of[i].name, calls_of[i].arg) != badarg)
            fail_msg("%s is for everybody", calls_of[i].name);
        nif_self = server;
        if (nif_call(library, calls_of[i].name, calls_of[i].arg) == badarg)
            fail_msg("%s is not even for the server", calls_of[i].name);
    }
    buf_free(&image);
    leave(&t);
}

/* Tables are looked through in 32 parts, 0 to 31. */
static void test_parts_of_the_tables(void **state)
{
    static const char *const of[] = {"nif_unknown_ports", "nif_sweep"};
    (void)state;
    assert_int_equal(CALL("nif_ports", nif_name("false")), nif_name("ok"));
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        assert_int_not_equal(CALL(of[i], nif_uint(0)), badarg);
        assert_int_not_equal(CALL(of[i], nif_uint(31)), badarg);
        assert_int_equal(CALL(of[i], nif_uint(32)), badarg);
        assert_int_equal(CALL(of[i], nif_uint(33)), badarg);
        assert_int_equal(CALL(of[i], nif_int(-1)), badarg);
        assert_int_equal(CALL(of[i], nif_name("true")), badarg);
    }
    nif_reset();
}

/* nif_event fires in every program, nif_event_of in the one that it names; nothing else is one. */
static void test_event_of_one_program(void **state)
{
    static const struct where busy = {PROBE_PORT_BUSY, NULL, NULL, 0};
    struct traced a, b;
    (void)state;
    trace(&a, "BEGIN { trace((int64_t)11); }", &busy, 1);
    trace(&b, "BEGIN { trace((int64_t)12); }", &busy, 1);
    const ERL_NIF_TERM both = nif_cons(a.program, nif_cons(b.program, nif_nil())),
                       kind = nif_uint(PROBE_PORT_BUSY), pid = nif_pid(SOMEBODY, true);
    const ERL_NIF_TERM values = nif_tuple((const ERL_NIF_TERM[]){pid, pid}, 2);
    assert_int_equal(CALL("nif_publish", both, nif_nil(), nif_nil()), nif_name("ok"));
    assert_int_equal(CALL("nif_event", kind, pid, values), nif_name("ok"));
    assert_int_equal(CALL("nif_event_of", b.program, kind, pid, values), nif_name("ok"));
    assert_int_equal(CALL("nif_event_of", pid, kind, pid, values), badarg);
    assert_int_equal(CALL("nif_event_of", nif_nil(), kind, pid, values), badarg);
    drain(&a);
    drain(&b);
    assert_int_equal(a.n, 1);
    assert_int_equal(a.record[0].value, 11);
    assert_int_equal(b.n, 2);
    assert_int_equal(b.record[1].value, 12);
    CALL("nif_phase", a.program, nif_name("stopped"));
    d_close(&a.d);
    leave(&b);
}

/* With one function in the program its calls are found, those of others are not; nor is any without
 * functions. */
static void test_functions_of_a_snapshot(void **state)
{
    static const struct where one[] = {{PROBE_FN_ENTRY, "m", "f", 0}},
                              none[] = {{PROBE_PORT_BUSY, NULL, NULL, 0}};
    struct traced t;
    (void)state;
    trace(&t, "BEGIN { trace((int64_t)21); }", one, 1);
    CALL("nif_publish", nif_cons(t.program, nif_nil()), nif_nil(),
         nif_cons(mfa("m", "f", 0), nif_nil()));
    calls(SOMEBODY, "m", "f", nif_name("undefined"));
    calls(SOMEBODY, "m", "g", nif_name("undefined"));
    calls(SOMEBODY, "n", "f", nif_name("undefined"));
    drain(&t);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.record[0].value, 21);
    leave(&t);
    trace(&t, "BEGIN { trace((int64_t)22); }", none, 1);
    calls(SOMEBODY, "m", "f", nif_name("undefined"));
    drain(&t);
    assert_int_equal(t.n, 0);
    leave(&t);
}

static bool let_through(unsigned pid)
{
    return CALL("enabled", nif_name("call"), nif_nil(), nif_pid(pid, true)) == nif_name("trace");
}

static bool is_told(const char *m, const char *f)
{
    const ERL_NIF_TERM *e;
    int n;
    ERL_NIF_TERM head, list = nif_call(library, "nif_overruns", NULL);
    while (enif_get_list_cell(nif_env, list, &head, &list))
        if (enif_get_tuple(nif_env, head, &n, &e) && e[0] == nif_name(m) && e[1] == nif_name(f))
            return true;
    return false;
}

/* Frames are counted whether or not a program sees the calls: of the functions that are named, in
 * the way that is named, for each process. Beyond 500 the function is told, beyond 600 the
 * process's calls are let through no more, until some frames have gone or all are forgotten. */
static void test_frames_are_counted(void **state)
{
    const unsigned pid = 40, other = 42;
    (void)state;
    const ERL_NIF_TERM framed = nif_cons(mfa("m", "loop", 0), nif_nil()), none = nif_nil(),
                       yes = nif_name("true"), no = nif_name("false");
    assert_int_equal(CALL("nif_framed", none, none, pid), badarg);
    assert_int_equal(CALL("nif_framed", framed, none, yes), nif_name("ok"));
    CALL("nif_gate", yes);
    for (unsigned i = 0; i < 1000; i++)
        calls(pid, "m", "other", nif_name("undefined"));
    assert_true(let_through(pid));
    for (unsigned i = 0; i < 500; i++)
        calls(pid, "m", "loop", nif_name("undefined"));
    assert_false(is_told("m", "loop"));
    for (unsigned i = 500; i < 601; i++) {
        assert_true(let_through(pid));
        calls(pid, "m", "loop", nif_name("undefined"));
    }
    assert_true(is_told("m", "loop"));
    assert_false(is_told("m", "loop"));
    assert_false(let_through(pid));
    assert_true(let_through(other));
    CALL("trace", nif_name("return_from"), nif_nil(), nif_pid(pid, true), mfa("m", "gone", 0),
         nif_map((const ERL_NIF_TERM[]){nif_name("extra"), nif_int(7)}, 1));
    assert_true(let_through(pid));
    calls(pid, "m", "loop", nif_name("undefined"));
    assert_false(let_through(pid));
    /* others as well: what was counted still holds */
    assert_int_equal(CALL("nif_framed", nif_cons(mfa("m", "more", 0), framed), none, no),
                     nif_name("ok"));
    assert_false(let_through(pid));
    assert_int_equal(CALL("nif_framed", none, framed, yes), nif_name("ok"));
    assert_true(let_through(pid));
    for (unsigned i = 0; i < 1000; i++) /* not through a meta pattern */
        calls(pid, "m", "loop", nif_name("undefined"));
    assert_true(let_through(pid));
    assert_int_equal(CALL("nif_framed", none, none, yes), nif_name("ok"));
    CALL("nif_gate", no);
    assert_int_equal(nif_call(library, "nif_settled", NULL), yes);
    nif_reset();
}

/* A process that wakes up from hibernation has lost the frames below proc_lib:wake_up/3, so what
 * they were of never returns. Another function of that name, or of that module, has its callers
 * below it. */
static void test_only_wake_up_has_no_caller(void **state)
{
    static const struct where where[] = {{PROBE_FN_RETURN, "m", "outer", 0},
                                         {PROBE_FN_RETURN, "m", "inner", 0}};
    static const struct {
        const char *m, *f;
        unsigned returned; /* of the two calls */
    } callers[] = {{"proc_lib", "wake_up", 1},
                   {"proc_lib", "init_p", 2},
                   {"other", "wake_up", 2},
                   {"other", "function", 2}};
    (void)state;
    for (unsigned i = 0; i < sizeof callers / sizeof *callers; i++) {
        struct traced t;
        trace(&t, "BEGIN { trace((int64_t)31); } BEGIN { trace((int64_t)32); }", where, 2);
        ERL_NIF_TERM functions =
            nif_cons(mfa("m", "outer", 0), nif_cons(mfa("m", "inner", 0), nif_nil()));
        CALL("nif_publish", nif_cons(t.program, nif_nil()), nif_nil(), functions);
        const ERL_NIF_TERM caller = mfa(callers[i].m, callers[i].f, 3);
        const unsigned pid = 10 + 2 * i;
        calls(pid, "m", "outer", nif_name("undefined"));
        calls(pid, "m", "inner", caller);
        returns_to(pid, caller);
        returns_to(pid, nif_name("undefined"));
        drain(&t);
        assert_int_equal(t.n, callers[i].returned);
        assert_int_equal(t.record[0].value, 32);
        if (t.n == 2)
            assert_int_equal(t.record[1].value, 31);
        leave(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_server_may),
        cmocka_unit_test(test_parts_of_the_tables),
        cmocka_unit_test(test_event_of_one_program),
        cmocka_unit_test(test_functions_of_a_snapshot),
        cmocka_unit_test(test_frames_are_counted),
        cmocka_unit_test(test_only_wake_up_has_no_caller),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
