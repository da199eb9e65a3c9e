/* test_signal.c - hibernation as calls of erlang:hibernate/3, without a virtual machine
 * (test/fuzz/nif.h). The stub ends the program when a callback asks for the length of a list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../fuzz/nif.h"

#include "beam/probe/tracer_signal.c"

ErlNifEntry *nif_init(void);

enum { ARGUMENTS = 255 /* that a function can have */ };

static const struct hook hibernate = {PROBE_PROCESS_HIBERNATE, "erlang", "hibernate", 3,
                                      arg_hibernate,           NULL,     NULL};

static void begin(struct hook_event *h, struct engine_thread *t, ERL_NIF_TERM args)
{
    static const struct function fn = {.text = "erlang:hibernate/3", .text_len = 18};
    event_init(&h->ev, t, nif_env, nif_pid(1, true), 0, arg_hibernate);
    h->ev.fn = &fn;
    h->hook = &hibernate;
    h->argc = 3;
    h->argv[0] = nif_name("m");
    h->argv[1] = nif_name("f");
    h->argv[2] = args;
}

static void test_arguments_of_hibernate(void **state)
{
    (void)state;
    struct engine_thread *t = engine_thread_self();
    struct hook_event h;
    assert_non_null(t);
    const ERL_NIF_TERM none = nif_nil();
    const struct {
        ERL_NIF_TERM args;
        const char *text;
        bool noted;
        unsigned arity;
    } row[] = {
        {none, "m:f/0", true, 0},
        {nif_cells(none, 2, false), "m:f/2", true, 2},
        {nif_cells(none, ARGUMENTS, false), "m:f/255", true, ARGUMENTS},
        /* Such a call fails. */
        {nif_cells(none, ARGUMENTS + 1, false), "erlang:hibernate/3", false, 0},
        {nif_cells(none, 1000000, false), "erlang:hibernate/3", false, 0},
        {nif_cons(none, nif_int(1)), "erlang:hibernate/3", false, 0},
        {nif_int(1), "erlang:hibernate/3", false, 0},
        {nif_unknown(0, false), "erlang:hibernate/3", false, 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct tracer_turn *turn = &tracer_thread(t)->turn;
        begin(&h, t, row[i].args);
        *turn = (struct tracer_turn){0};
        nif_callback = true;
        assert_false(is_hibernation(&h)); /* before OTP 28, it is only noted */
        const char *text = (const char *)(uintptr_t)arg_hibernate(&h.ev.ctx, 1);
        nif_callback = false;
        assert_string_equal(text, row[i].text);
        assert_int_equal(turn->m != 0, row[i].noted);
        assert_int_equal(turn->arity, row[i].arity);
    }
}

static int start(void **state)
{
    (void)state;
    nif_otp = 27;
    const ErlNifEntry *library = nif_init();
    nif_self = nif_pid(0, true);
    assert_int_equal(library->load(nif_env, NULL, nif_nil()), 0);
    const ERL_NIF_TERM otp_and_node[] = {nif_int(nif_otp), nif_name("etw@host")};
    assert_int_equal(nif_call(library, "nif_start", otp_and_node), nif_name("ok"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments_of_hibernate),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
