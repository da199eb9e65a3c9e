/* test_procname.c - the names of processes, without a virtual machine (test/fuzz/nif.h): what a
 * name is made of, a table that is full, and names that change while they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>

#include <cmocka.h>

#include "../fuzz/nif.h"

#include "beam/probe/procname.c"

ErlNifEntry *nif_init(void);
static ErlNifEntry *library;
static ERL_NIF_TERM server;

enum { SERVER = 0, FIRST = 10 };

static ERL_NIF_TERM name(const char *text)
{
    return nif_name(text);
}

#define TUPLE(...)                                                                                 \
    nif_tuple((const ERL_NIF_TERM[]){__VA_ARGS__},                                                 \
              sizeof((const ERL_NIF_TERM[]){__VA_ARGS__}) / sizeof(ERL_NIF_TERM))

static ERL_NIF_TERM list(const ERL_NIF_TERM *e, unsigned n)
{
    ERL_NIF_TERM l = nif_nil();
    while (n > 0)
        l = nif_cons(e[--n], l);
    return l;
}

#define LIST(...)                                                                                  \
    list((const ERL_NIF_TERM[]){__VA_ARGS__},                                                      \
         sizeof((const ERL_NIF_TERM[]){__VA_ARGS__}) / sizeof(ERL_NIF_TERM))

/* Passes the library a tracer's event. */
static void event(const char *tag, ERL_NIF_TERM tracee, ERL_NIF_TERM msg, ERL_NIF_TERM extra)
{
    ERL_NIF_TERM pair[] = {name("extra"), extra};
    ERL_NIF_TERM argv[] = {name(tag), nif_nil(), tracee, msg, nif_map(pair, 1)};
    nif_callback = true;
    procname_event(nif_env, argv);
    nif_callback = false;
}

static void born(ERL_NIF_TERM pid, ERL_NIF_TERM mfa)
{
    event("spawned", pid, server, mfa);
}

static void tell(const char *what, ERL_NIF_TERM pid, ERL_NIF_TERM term)
{
    ERL_NIF_TERM facts = LIST(TUPLE(pid, name(what), term));
    assert_int_equal(nif_call(library, "nif_names", &facts), name("ok"));
}

static void called(ERL_NIF_TERM pid, const char *text)
{
    char out[PROCNAME_TEXT], of[TERM_TEXT];
    nif_callback = true;
    size_t n = procname_text(nif_env, pid, false, out);
    assert_int_equal(n, strlen(text));
    if (n > 0)
        assert_string_equal(out, text);
    n = term_simple(nif_env, pid, of, sizeof of);
    assert_int_equal(procname_of_text(nif_env, of, n, false, out), strlen(text));
    nif_callback = false;
}

static int start(void **state)
{
    (void)state;
    nif_otp = 27;
    library = nif_init();
    server = nif_self = nif_pid(SERVER, true);
    assert_int_equal(library->load(nif_env, NULL, nif_nil()), 0);
    const ERL_NIF_TERM otp_and_node[] = {nif_int(nif_otp), name("etw@host")};
    assert_int_equal(nif_call(library, "nif_start", otp_and_node), name("ok"));
    return 0;
}

static int learn(void **state)
{
    (void)state;
    ERL_NIF_TERM on = name("true");
    assert_int_equal(nif_call(library, "nif_names", &on), name("ok"));
    return 0;
}

static ERL_NIF_TERM proc_lib(const char *m, const char *f, ERL_NIF_TERM args)
{
    return TUPLE(name("proc_lib"), name("init_p"), LIST(server, nif_nil(), name(m), name(f), args));
}

#define APPLY(fun)  TUPLE(name("erlang"), name("apply"), LIST(fun, nif_nil()))
#define INIT_P(fun) TUPLE(name("proc_lib"), name("init_p"), LIST(server, nif_nil(), fun))

static ERL_NIF_TERM gen(const char *behaviour, ERL_NIF_TERM as, const char *m, ERL_NIF_TERM args)
{
    return proc_lib("gen", "init_it",
                    as ? LIST(name(behaviour), server, server, as, name(m), args, nif_nil())
                       : LIST(name(behaviour), server, server, name(m), args, nif_nil()));
}

/* What a process began with, as proc_lib has it. */
static void test_beginnings(void **state)
{
    (void)state;
    const ERL_NIF_TERM none = nif_nil(), sup = TUPLE(name("self"), name("my_sup"), none);
    const ERL_NIF_TERM record = nif_record(name("m"), name("r"), NULL, 0, 0),
                       unknown = nif_unknown(0, false);
    const struct {
        ERL_NIF_TERM mfa;
        const char *text;
    } row[] = {
        {TUPLE(name("m"), name("f"), LIST(none, none)), "m:f/2"},
        {proc_lib("m", "f", LIST(none)), "m:f/1"},
        {APPLY(nif_fun()), "m:fun-0"},
        {INIT_P(nif_fun()), "m:fun-0"},
        {gen("gen_server", 0, "my", none), "my:init/1"},
        {gen("gen_statem", TUPLE(name("local"), name("x")), "my", none), "my:init/1"},
        {gen("gen_server", TUPLE(name("global"), nif_int(7)), "my", none), "global(7)"},
        {gen("gen_server", TUPLE(name("via"), name("reg"), name("x")), "my", none), "reg(x)"},
        {gen("gen_server", TUPLE(name("via"), name("reg"), TUPLE(name("r"), nif_int(1))), "my",
             none),
         "r(1)"},
        {gen("gen_server",
             TUPLE(name("via"), name("Elixir.Registry"), TUPLE(name("r"), name("k"), nif_int(1))),
             "my", none),
         "r(k)"},
        {gen("gen_server", TUPLE(name("via"), name("reg"), TUPLE(name("r"), name("k"), nif_int(1))),
             "my", none),
         "reg({r,k,1})"},
        {gen("gen_server", TUPLE(name("via"), nif_int(1), nif_int(1)), "my", none), "my:init/1"},
        {gen("gen_server", nif_int(1), "my", none), "my:init/1"},
        {gen("gen_server", 0, "supervisor", sup), "supervisor:my_sup/1"},
        {gen("gen_server", 0, "supervisor", none), "supervisor:init/1"},
        {gen("gen_server", 0, "supervisor_bridge", LIST(name("b"))), "supervisor_bridge:b/1"},
        {gen("gen_event", 0, "no callback", none), "gen_event:init_it/6"},
        /* What the VM never says: any process can call the tracer. */
        {none, ""},
        {TUPLE(name("m"), nif_int(1), none), ""},
        {TUPLE(name("m"), name("f"), nif_cons(none, nif_int(1))), ""},
        {TUPLE(name("m"), name("f"), nif_cells(none, 300, false)), ""},
        {proc_lib("m", "f", nif_int(1)), ""},
        {proc_lib("gen", "init_it", nif_int(1)), ""},
        {proc_lib("gen", "init_it", LIST(none)), "gen:init_it/1"},
        /* What is called need not be a fun. */
        {APPLY(record), "erlang:apply/2"},
        {APPLY(unknown), "erlang:apply/2"},
        {INIT_P(record), ""},
        {INIT_P(unknown), ""},
    };
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        ERL_NIF_TERM pid = nif_pid(FIRST + i, true);
        born(pid, row[i].mfa);
        called(pid, row[i].text);
        born(pid, TUPLE(name("another"), name("start"), none)); /* forged, or of its parent */
        called(pid, row[i].text[0] ? row[i].text : "another:start/0");
    }
}

/* The best name counts, whichever comes first. */
static void test_order(void **state)
{
    (void)state;
    ERL_NIF_TERM p = nif_pid(FIRST, true);
    tell("label", p, name("the_label"));
    called(p, "the_label");
    tell("start", p, TUPLE(name("m"), name("f"), nif_uint(2)));
    called(p, "the_label");
    tell("label", p, nif_int(42));
    called(p, "42");
    tell("name", p, TUPLE(name("global"), name("g")));
    called(p, "global(g)");
    event("register", p, name("reg"), nif_nil());
    called(p, "reg");
    tell("label", p, name("other"));
    called(p, "reg");
    event("exit", p, name("normal"), nif_nil());
    called(p, "reg");
    event("register", nif_port(1, true), name("reg"), nif_nil());
    event("register", nif_int(1), name("reg"), nif_nil());
    event("register", p, nif_int(1), nif_nil());
    called(p, "reg");
}

static ERL_NIF_TERM text(const char *s)
{
    return nif_binary(s, strlen(s), false);
}

/* A port is called what the server says, or by its registered name; no number of a pid is its. */
static void test_ports(void **state)
{
    (void)state;
    ERL_NIF_TERM p = nif_port(4, true), pid = nif_pid(4, true);
    char out[PROCNAME_TEXT];
    tell("opened", p, text("tcp 127.0.0.1:1"));
    tell("opened", pid, text("no port"));
    called(p, "tcp 127.0.0.1:1");
    called(pid, "");
    tell("port", p, text("tcp 127.0.0.1:1 -> 127.0.0.1:2"));
    tell("opened", p, text("tcp 127.0.0.1:3"));
    tell("port", p, nif_int(1));
    called(p, "tcp 127.0.0.1:1 -> 127.0.0.1:2");
    event("register", p, name("reg"), nif_nil());
    called(p, "reg");
    event("unregister", p, name("reg"), nif_nil());
    called(p, "tcp 127.0.0.1:1 -> 127.0.0.1:2");
    event("register", pid, name("four"), nif_nil());
    called(pid, "four");
    called(p, "tcp 127.0.0.1:1 -> 127.0.0.1:2");
    static const char *const none[] = {"#Port<0.>",           "#Port<0.4",   "#Port<0.4>>",
                                       "#Port<1.4>",          "#Port<0.-4>", "#Port<0.4.0>",
                                       "#Port<0.12345678901>"};
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(procname_of_text(nif_env, none[i], strlen(none[i]), false, out), 0);
    event("closed", p, name("normal"), nif_nil());
    called(p, "tcp 127.0.0.1:1 -> 127.0.0.1:2");
    assert_true(has_exited(proctab_find(table(), p), p));
}

/* Who begins to learn knows nothing of what an earlier trace knew. */
static void test_forgets(void **state)
{
    ERL_NIF_TERM p = nif_pid(FIRST, true);
    event("register", p, name("reg"), nif_nil());
    called(p, "reg");
    learn(state);
    called(p, "");
    born(p, TUPLE(name("m"), name("f"), nif_nil()));
    called(p, "m:f/0");
}

static void test_length(void **state)
{
    (void)state;
    ERL_NIF_TERM p = nif_pid(FIRST, true);
    char text[201], cut[PROCNAME_TEXT];
    for (unsigned i = 0; i < 200; i += 2)
        memcpy(text + i, "\xc3\xa4", 2);
    text[200] = '\0';
    event("register", p, name(text), nif_nil());
    memcpy(cut, text, 76); /* no half of a character */
    memcpy(cut + 76, "..", 3);
    called(p, cut);
}

/* When there is no room, processes that have exited lose their names, others keep them. */
static void test_full(void **state)
{
    (void)state;
    struct proctab *names = agent.names, *by_number = agent.numbers;
    agent.names = proctab_new(PROCTAB_WINDOW, sizeof(struct record));
    agent.numbers = proctab_new(PROCTAB_WINDOW, sizeof(uint64_t));
    const ERL_NIF_TERM begin = TUPLE(name("m"), name("f"), nif_nil());
    const uint64_t lost = agent.lost_names;
    for (unsigned i = 0; i < PROCTAB_WINDOW; i++)
        born(nif_pid(FIRST + i, true), begin);
    ERL_NIF_TERM more = nif_pid(FIRST + PROCTAB_WINDOW, true), gone = nif_pid(FIRST + 3, true);
    born(more, begin);
    called(more, "");
    assert_int_equal(agent.lost_names - lost, 1);
    event("exit", gone, name("normal"), nif_nil());
    called(gone, "m:f/0");
    born(more, TUPLE(name("m"), name("g"), nif_nil()));
    called(more, "m:g/0");
    called(gone, "");
    for (unsigned i = 0; i < PROCTAB_WINDOW; i++)
        if (i != 3)
            called(nif_pid(FIRST + i, true), "m:f/0");
    proctab_free(agent.names);
    proctab_free(agent.numbers);
    agent.names = names;
    agent.numbers = by_number;
}

/* -- threads ----------------------------------------------------------------------------------- */

enum { CHANGES = 200000 };

static _Atomic bool done;

/* A text of one letter, as often as the letter says. */
static void *writer(void *arg)
{
    ERL_NIF_TERM p = *(ERL_NIF_TERM *)arg;
    char text[PROCNAME_TEXT];
    for (unsigned i = 0; i < CHANGES; i++) {
        unsigned n = 1 + i % 26;
        memset(text, 'a' + (int)n - 1, n);
        set_text(nif_env, p, LABEL, false, text, n);
    }
    atomic_store(&done, true);
    return NULL;
}

static void test_changes_while_read(void **state)
{
    (void)state;
    ERL_NIF_TERM p = nif_pid(FIRST, true);
    pthread_t thread[2];
    struct known k;
    unsigned seen = 0;
    set_text(nif_env, p, LABEL, false, "a", 1);
    atomic_store(&done, false);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, writer, &p), 0);
    while (!atomic_load(&done)) {
        if (!known_read(p, &k))
            continue; /* it changed each time */
        seen++;
        if (k.len < 1 || k.len > 26 ||
            strspn(k.text, (char[]){(char)('a' + k.len - 1), 0}) != k.len)
            fail_msg("torn: %u of %s", k.len, k.text);
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    assert_true(seen > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_beginnings, learn),
        cmocka_unit_test_setup(test_order, learn),
        cmocka_unit_test_setup(test_ports, learn),
        cmocka_unit_test_setup(test_forgets, learn),
        cmocka_unit_test_setup(test_length, learn),
        cmocka_unit_test_setup(test_full, learn),
        cmocka_unit_test_setup(test_changes_while_read, learn),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
