/* test_oncpu_sampler.c - the thread that wakes at random times: when it wakes, whom it signals, and
 * that it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>

static int create(pthread_t *thread, const pthread_attr_t *a, void *(*run)(void *), void *arg);
#define pthread_create create
#include "beam/probe/oncpu_sampler.c"
#undef pthread_create

enum {
    NUMBER = 3 * ONCPU_RATES + 2,
    OTHER = 700 * ONCPU_RATES + 7,
    EVERY_NS = 300000,
    ENOUGH = 20,
    MANY = 20000
};

static bool refuse; /* the system makes no threads */
static volatile int samples[2], nothing;
static volatile unsigned at_work; /* what the compiler must not leave out */

static int create(pthread_t *thread, const pthread_attr_t *a, void *(*begin)(void *), void *arg)
{
    return refuse ? EAGAIN : pthread_create(thread, a, begin, arg);
}

/* What wall-N finds of the thread. */
static enum onwall_found found;
static uint64_t gone_by;

enum onwall_found onwall_look(uint32_t rate, uint32_t i, int of, uint64_t at, uint32_t *looks)
{
    assert_int_equal(rate, NUMBER % ONCPU_RATES);
    assert_int_equal(i, NUMBER / ONCPU_RATES);
    assert_true(of > 0 && at > 0 && *looks > 0);
    return found;
}

void onwall_late(uint32_t rate, uint64_t n)
{
    (void)rate;
    gone_by += n;
}

static int tid(void)
{
    return (int)syscall(SYS_gettid);
}

static void on_signal(int signal)
{
    uint32_t late, cost;
    (void)signal;
    bool any = false;
    for (int i = 0; i < 2; i++)
        if (oncpu_sampler_asked(i == 0 ? NUMBER : OTHER, monotonic_ns(), &late, &cost) ==
            ONCPU_ASKED_SAMPLE) {
            samples[i]++;
            any = true;
        }
    nothing += !any;
}

static int begin(void **unused)
{
    const struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)unused;
    samples[0] = samples[1] = nothing = 0;
    oncpu_clock_served(monotonic_ns());
    return sigaction(SIGURG, &act, NULL);
}

static int end(void **unused)
{
    (void)unused;
    while (!oncpu_sampler_close())
        sched_yield();
    return 0;
}

static void work(void)
{
    for (int i = 0; i < 1000; i++)
        at_work = at_work * 31 + 7;
}

static void test_stat(void **unused)
{
    const struct {
        char state;
        int fields; /* between it and what follows */
        const char *then;
        int processor; /* -1: it cannot be read */
    } cases[] = {
        {'R', 35, " 3 7 8", 3}, {'S', 35, " 1023 7", 1023}, {'R', 34, " 3", -1},
        {'R', 0, "", -1},       {'R', 35, " x", -1},        {'R', 35, "", -1},
    };
    char is;
    int processor;
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[ONCPU_TASK_TEXT] = "12 (a) b) ";
        text[strlen(text)] = cases[i].state;
        for (int k = 0; k < cases[i].fields; k++)
            strcat(text, " 0");
        strcat(text, cases[i].then);
        assert_int_equal(parse_stat(text, &is, &processor), cases[i].processor != -1);
        if (cases[i].processor != -1) {
            assert_int_equal(is, cases[i].state);
            assert_int_equal(processor, cases[i].processor);
        }
    }
    assert_false(parse_stat("", &is, &processor));
    assert_false(parse_stat("1 (x)", &is, &processor));
    assert_true(oncpu_sampler_state(tid(), &is, &processor));
    assert_int_equal(is, 'R');
    assert_false(oncpu_sampler_state(0, &is, &processor));
}

/* Pauses lie between nothing and two periods, each tenth of that as often as the others. */
static void test_pauses(void **unused)
{
    uint64_t seed = 1, tenth[10] = {0};
    (void)unused;
    for (int i = 0; i < MANY; i++) {
        const uint64_t ns = pause_of(&seed, EVERY_NS);
        assert_in_range(ns, 0, 2 * EVERY_NS);
        tenth[ns * 10 / (2 * EVERY_NS + 1)]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(tenth[i], MANY / 10 * 9 / 10, MANY / 10 * 11 / 10);
    assert_in_range(pause_of(&seed, 1), 0, 2);
    assert_in_range(pause_of(&seed, LONGEST_NS), 0, 2 * LONGEST_NS);
}

/* The rate stays when the sampler comes late; what it has missed by far is missed. */
static void test_wakes(void **unused)
{
    uint64_t seed = 1, at = 1000000, late = at;
    uint32_t n = 0;
    (void)unused;
    for (; at < UINT64_C(1000000) + (uint64_t)MANY * EVERY_NS; n++, late = at + 1000)
        at = wake_after(&seed, at, late, EVERY_NS);
    assert_in_range(n, MANY * 9 / 10, MANY * 11 / 10);
    const uint64_t far = at + UINT64_C(1000000000000);
    assert_in_range(wake_after(&seed, at, far, EVERY_NS), far + 1, far + 2 * EVERY_NS);
}

/* Where samples are missing, the sampler wakes more often, within bounds, and not at once. */
static void test_pace(void **unused)
{
    struct pace p = {.ns = EVERY_NS, .wakes = EVEN};
    uint32_t taken = 0;
    (void)unused;
    for (int i = 0; i < ENOUGH; i++) { /* all that is due */
        p.used = (uint64_t)WINDOW * EVERY_NS;
        set_pace(&p, taken += WINDOW);
        assert_int_equal(p.wakes, EVEN);
        assert_int_equal(p.used, 0);
    }
    for (int i = 0; i < ENOUGH; i++) { /* two thirds of the wakes find what is due */
        p.used = (uint64_t)WINDOW * EVERY_NS;
        const uint32_t before = p.wakes;
        set_pace(&p, taken += WINDOW * 2 / 3 * p.wakes / EVEN);
        assert_in_range(p.wakes, EVEN, before + EVEN / 4);
    }
    assert_in_range(p.wakes, EVEN * 14 / 10, EVEN * 16 / 10);
    for (int i = 0; i < ENOUGH; i++) { /* none at all */
        p.used = (uint64_t)WINDOW * EVERY_NS;
        set_pace(&p, taken);
        assert_in_range(p.wakes, EVEN, FASTEST);
    }
    for (int i = 0; i < ENOUGH; i++) { /* more than is due */
        p.used = (uint64_t)WINDOW * EVERY_NS;
        set_pace(&p, taken += 2 * WINDOW);
    }
    assert_int_equal(p.wakes, EVEN);
}

/* Who works is asked at both rates, who sleeps at none. */
static void test_work_and_rest(void **unused)
{
    (void)unused;
    assert_true(oncpu_sampler_add(NUMBER, tid(), SIGURG, EVERY_NS, false));
    assert_true(oncpu_sampler_add(OTHER, tid(), SIGURG, UINT64_C(2) * EVERY_NS, false));
    while (samples[0] < ENOUGH || samples[1] < ENOUGH)
        work();
    for (int i = 0; i < 2; i++) {
        struct timespec left = {0, 0};
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* one may be on its way */
        const int before = samples[0] + samples[1] + nothing;
        while (nanosleep(&(struct timespec){.tv_nsec = 100 * EVERY_NS}, &left) != 0) {
        }
        assert_in_range(samples[0] + samples[1] + nothing - before, 0, 3);
    }
    oncpu_sampler_set(NUMBER, false);
    for (int to = samples[1] + ENOUGH; samples[1] < to;)
        work();
    const int paused = samples[0];
    for (int to = samples[1] + ENOUGH; samples[1] < to;)
        work();
    assert_int_equal(samples[0], paused);
    oncpu_sampler_set(NUMBER, true);
    for (int to = samples[0] + ENOUGH; samples[0] < to;)
        work();
    oncpu_sampler_remove(NUMBER);
    oncpu_sampler_remove(OTHER);
}

/* A thread that waited for its processor is no sample; one that was at work is, however late. */
static void test_late(void **unused)
{
    const struct {
        uint64_t asked, now;
        enum oncpu_asked is;
    } cases[] = {
        {0, 5, ONCPU_ASKED_NOT},
        {1000, 2000, ONCPU_ASKED_SAMPLE},
        {1000, 1000 + 2 * LATE_NS, ONCPU_ASKED_SAMPLE},
        {1000 | WAS_DISPLACED, 1000 + LATE_NS / 2, ONCPU_ASKED_SAMPLE},
        {1000 | WAS_DISPLACED, 1000 + 2 * LATE_NS, ONCPU_ASKED_WAITED},
    };
    uint32_t late, cost;
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        period[NUMBER % ONCPU_RATES] = EVERY_NS;
        mark_of(NUMBER)->asked = cases[i].asked;
        mark_of(NUMBER)->again = 3;
        assert_int_equal(oncpu_sampler_asked(NUMBER, cases[i].now, &late, &cost), cases[i].is);
        assert_int_equal(oncpu_sampler_asked(NUMBER, cases[i].now, &late, &cost), ONCPU_ASKED_NOT);
        if (cases[i].is != ONCPU_ASKED_NOT)
            assert_int_equal(late, 3);
        period[NUMBER % ONCPU_RATES] = 0;
    }
}

/* Whom wall-N asks is asked, and is a sample however late. */
static void test_wall(void **unused)
{
    uint32_t late, cost;
    const uint32_t rate = NUMBER % ONCPU_RATES, i = NUMBER / ONCPU_RATES;
    struct pace p = {.ns = EVERY_NS, .wakes = EVEN};
    struct mark *m = mark_of(NUMBER);
    uint64_t seed = 1;
    (void)unused;
    process = (int)getpid();
    atomic_store(&signal_number, 0);
    atomic_store(&reach, i + 1);
    *m = (struct mark){.tid = tid(), .on = true};
    period[rate] = EVERY_NS;
    is_wall[rate] = true;
    found = ONWALL_DONE;
    look(rate, &p, 5, &seed);
    assert_int_equal(oncpu_sampler_asked(NUMBER, 6, &late, &cost), ONCPU_ASKED_NOT);
    for (int again = 0; again < 3; again++) {
        found = ONWALL_ASK_RUNNING;
        for (int k = 0; k <= again; k++)
            look(rate, &p, 4, &seed);
        assert_int_equal(oncpu_sampler_asked(NUMBER, 6, &late, &cost), ONCPU_ASKED_SAMPLE);
        assert_int_equal(late, again);
        for (int displaced = 0; displaced < 2; displaced++) {
            found = ONWALL_ASK_READY;
            for (int k = 0; k <= again; k++)
                look(rate, &p, 4, &seed);
            m->waited = 0; /* the system does not say */
            assert_int_equal(oncpu_sampler_asked(
                                 NUMBER, 4 + (displaced ? LATE_NS / 2 : 2 * LATE_NS), &late, &cost),
                             displaced ? ONCPU_ASKED_SAMPLE : ONCPU_ASKED_RUNNABLE);
            assert_int_equal(late, again);
        }
    }
    assert_int_equal(p.used, 0); /* it has no pace */
    p.next = 10;
    turn(rate, &p, 10 + UINT64_C(7) * EVERY_NS, &seed);
    assert_int_equal(gone_by, 7);
    *m = (struct mark){.tid = 0};
    is_wall[rate] = false;
    period[rate] = 0;
}

/* It ends when it is told to, and is made again; a new clock that comes before it has ended keeps
 * it. It ends by itself where nobody takes samples. */
static void test_end(void **unused)
{
    (void)unused;
    assert_true(oncpu_sampler_close());
    for (int i = 0; i < ENOUGH; i++) {
        assert_true(oncpu_sampler_add(NUMBER, tid(), SIGURG, EVERY_NS, false));
        assert_int_equal(state, RUNS);
        oncpu_sampler_remove(NUMBER);
        if (i % 2 != 0)
            end(NULL);
        else
            oncpu_sampler_close();
    }
    end(NULL);
    assert_true(oncpu_sampler_add(NUMBER, tid(), SIGURG, EVERY_NS, false));
    oncpu_clock_served(monotonic_ns() - 2 * ONCPU_ALONE);
    wake();
    while (state != ENDED)
        sched_yield();
    oncpu_clock_served(monotonic_ns());
    assert_int_equal(state, RUNS);
    oncpu_sampler_remove(NUMBER);
}

static void test_no_thread(void **unused)
{
    (void)unused;
    refuse = true;
    assert_false(oncpu_sampler_add(NUMBER, tid(), SIGURG, EVERY_NS, false));
    assert_true(oncpu_sampler_close());
    refuse = false;
    assert_true(oncpu_sampler_add(NUMBER, tid(), SIGURG, EVERY_NS, false));
    oncpu_sampler_remove(NUMBER);
    assert_false(oncpu_sampler_add(ONCPU_RATES * ONCPU_THREADS, tid(), SIGURG, EVERY_NS, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stat),
        cmocka_unit_test(test_pauses),
        cmocka_unit_test(test_wakes),
        cmocka_unit_test(test_pace),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_wall),
        cmocka_unit_test_setup_teardown(test_work_and_rest, begin, end),
        cmocka_unit_test_setup_teardown(test_end, begin, end),
        cmocka_unit_test_setup_teardown(test_no_thread, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
