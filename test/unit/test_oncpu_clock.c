/* test_oncpu_clock.c - clocks of threads: they signal the thread that works, and say whose they
 * are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>

#include "base/clock.h"
#include "beam/probe/oncpu_clock.c"
#include "beam/probe/onwall.h"

enum {
    NUMBER = 4711,
    NOT_FOR_THE_SAMPLER = ONCPU_RATES * ONCPU_THREADS,
    EVERY_NS = 500000,
    ENOUGH = 20,
    OTHERS = 3,
    NO_DESCRIPTORS = 1 << 20
};

/* No clock here is for wall-N. */
enum onwall_found onwall_look(uint32_t rate, uint32_t i, int tid, uint64_t at, uint32_t *looks)
{
    (void)rate, (void)i, (void)tid, (void)at, (void)looks;
    return ONWALL_DONE;
}

void onwall_late(uint32_t rate, uint64_t n)
{
    (void)rate, (void)n;
}

static uint32_t number; /* of the clock */
static volatile int ours, others;
static volatile unsigned at_work; /* what the compiler must not leave out */

static void on_signal(int signal, siginfo_t *info, void *context)
{
    uint32_t late, cost;
    (void)signal;
    (void)context;
    const int64_t by = oncpu_clock_of(info, &late);
    const bool asked =
        by < 0 && number == NUMBER &&
        oncpu_sampler_asked(number, monotonic_ns(), &late, &cost) == ONCPU_ASKED_SAMPLE;
    if (by == number || asked)
        ours++;
    else
        others++;
}

static int tid(void)
{
    return (int)syscall(SYS_gettid);
}

static void handle(void)
{
    struct sigaction act = {.sa_flags = SA_SIGINFO | SA_RESTART};
    act.sa_sigaction = on_signal;
    assert_int_equal(sigaction(SIGURG, &act, NULL), 0);
    ours = others = 0;
}

static void work(void)
{
    for (int i = 0; i < 1000; i++)
        at_work = at_work * 31 + 7;
}

static uint64_t work_for(uint64_t ns)
{
    const uint64_t from = oncpu_clock_time(tid());
    while (oncpu_clock_time(tid()) - from < ns)
        work();
    return oncpu_clock_time(tid()) - from;
}

/* kind: that the clock must have, NONE: any. */
static void signals_while_it_works(uint32_t which, uint32_t room, enum oncpu_clock_kind kind)
{
    struct oncpu_clock c = {ONCPU_CLOCK_NONE, 0};
    number = which;
    handle();
    oncpu_clock_served(monotonic_ns());
    assert_true(oncpu_clock_start(&c, tid(), SIGURG, number, EVERY_NS, room));
    if (kind != ONCPU_CLOCK_NONE)
        assert_int_equal(c.kind, kind);
    while (ours < ENOUGH)
        work();
    oncpu_clock_set(&c, 0);
    const int stopped = ours;
    work_for(UINT64_C(20) * EVERY_NS);
    assert_in_range(ours - stopped, 0, 1); /* one may have been on its way */
    oncpu_clock_set(&c, EVERY_NS);
    while (ours < stopped + ENOUGH)
        work();
    const bool sampler = c.kind == ONCPU_CLOCK_SAMPLER;
    oncpu_clock_end(&c);
    assert_int_equal(c.kind, ONCPU_CLOCK_NONE);
    if (sampler) /* it may have asked a thread that waited for a processor */
        others = 0;
    assert_int_equal(others, 0);
    for (int i = 0; i < OTHERS; i++)
        assert_int_equal(raise(SIGURG), 0);
    assert_int_equal(others, OTHERS);
    while (!oncpu_sampler_close())
        sched_yield();
}

/* The clock that the system gives us: an event where it may be had. */
static void test_a_clock(void **state)
{
    (void)state;
    signals_while_it_works(NUMBER, 0, ONCPU_CLOCK_NONE);
}

/* An event that would wait for an hour has another period. */
static void test_another_period(void **state)
{
    struct oncpu_clock c = {ONCPU_CLOCK_NONE, 0};
    (void)state;
    number = NUMBER;
    handle();
    oncpu_clock_served(monotonic_ns());
    assert_true(oncpu_clock_start(&c, tid(), SIGURG, number, 3600 * UINT64_C(1000000000), 0));
    if (c.kind == ONCPU_CLOCK_TASK || c.kind == ONCPU_CLOCK_USER) {
        work_for(UINT64_C(20) * EVERY_NS);
        assert_int_equal(ours, 0);
        oncpu_clock_every(&c, EVERY_NS);
        for (int i = 0; ours < ENOUGH && i < 100; i++)
            work_for(UINT64_C(20) * EVERY_NS);
        assert_true(ours >= ENOUGH);
    }
    oncpu_clock_end(&c);
    while (!oncpu_sampler_close())
        sched_yield();
}

/* What is offered is what a clock becomes, and takes nothing. */
static void test_offered(void **state)
{
    struct oncpu_clock c = {ONCPU_CLOCK_NONE, 0};
    (void)state;
    const enum oncpu_clock_kind kind = oncpu_clock_offered(0);
    const int next = dup(1);
    close(next);
    handle();
    oncpu_clock_served(monotonic_ns());
    assert_int_equal(oncpu_clock_offered(0), kind);
    assert_int_equal(oncpu_clock_offered(NO_DESCRIPTORS), ONCPU_CLOCK_SAMPLER);
    assert_int_equal(dup(1), next);
    close(next);
    assert_true(oncpu_clock_start(&c, tid(), SIGURG, NUMBER, EVERY_NS, 0));
    assert_int_equal(c.kind, kind);
    oncpu_clock_end(&c);
    while (!oncpu_sampler_close())
        sched_yield();
}

static void without_descriptors(uint32_t which, enum oncpu_clock_kind kind)
{
    struct rlimit was, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    few = was;
    few.rlim_cur = few.rlim_cur < NO_DESCRIPTORS ? few.rlim_cur : NO_DESCRIPTORS;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    signals_while_it_works(which, NO_DESCRIPTORS, kind);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

/* Without descriptors it is the sampler. */
static void test_no_descriptors(void **state)
{
    (void)state;
    without_descriptors(NUMBER, ONCPU_CLOCK_SAMPLER);
}

/* Without that, too, it is a timer of the CPU clock. */
static void test_last_resort(void **state)
{
    (void)state;
    without_descriptors(NOT_FOR_THE_SAMPLER, ONCPU_CLOCK_CPU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clock),     cmocka_unit_test(test_another_period),
        cmocka_unit_test(test_offered),     cmocka_unit_test(test_no_descriptors),
        cmocka_unit_test(test_last_resort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
