/* test_onwall.c - what the sampler finds out of threads that run, sleep, wait for work or go on
 * while they are looked at, and whom it asks by a signal. The VM's part is made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "beam/probe/onwall.c"

enum { RATE = 3, INDEX = 5, ENOUGH = 200 };

/* What the VM's scheduler would say of its process, and what became a sample. */
static uint64_t process, sp, pc;
static bool has, nothing, lost;
static enum onwall_doing doing;
static unsigned noted, looked;
static void (*meanwhile)(void);
static int watcher;

uint64_t oncpu_process(uint32_t i)
{
    assert_int_equal(i, INDEX);
    return process;
}

bool collecting_is_watcher(int of)
{
    return watcher != 0 && of == watcher;
}

bool oncpu_look(uint32_t i, uint64_t at_pc, uint64_t at_sp)
{
    assert_int_equal(i, INDEX);
    looked++;
    nothing = lost = false;
    pc = at_pc;
    sp = at_sp;
    if (meanwhile != NULL)
        meanwhile();
    return has;
}

void oncpu_look_at_nothing(bool is_lost)
{
    nothing = true;
    lost = is_lost;
}

void oncpu_note(uint32_t i, uint32_t rate, enum onwall_doing what, uint64_t at, uint32_t took)
{
    (void)took;
    assert_int_equal(i, INDEX);
    assert_int_equal(rate, RATE);
    assert_int_equal(at, 7);
    doing = what;
    noted++;
}

/* A thread that does what it is told. */
enum { SLEEP, WAIT, WORK, END };
static _Atomic int todo;
static _Atomic int is, tid;
static sem_t go, woken;
static pthread_t thread;
static char mine;                 /* an address on the thread's stack is above this one */
static uint64_t stack;            /* ... namely here */
static volatile unsigned at_work; /* what the compiler must not leave out */

static void *run(void *unused)
{
    char here;
    (void)unused;
    stack = (uint64_t)(uintptr_t)&here;
    atomic_store(&tid, (int)syscall(SYS_gettid));
    for (;;) {
        while (sem_wait(&go) != 0) {
        }
        const int now = todo;
        atomic_store(&is, now);
        if (now == END)
            return NULL;
        while (now == WORK && todo == WORK)
            at_work = at_work * 31 + 7;
        while (now == SLEEP && todo == SLEEP)
            nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        if (now == WAIT)
            while (sem_wait(&woken) != 0) {
            }
    }
}

/* Lets the thread do something else, and waits until it does. */
static void let(int what)
{
    todo = what;
    sem_post(&go);
    while (atomic_load(&is) != what)
        sched_yield();
    char text[ONCPU_TASK_TEXT + 1];
    while (what != WORK &&
           (!oncpu_sampler_read(tid, "/syscall", text) ||
            strtol(text, NULL, 10) != (what == SLEEP ? SYS_clock_nanosleep : SYS_futex)))
        sched_yield();
}

static int begin(void **unused)
{
    (void)unused;
    memset(seen, 0, sizeof seen);
    memset(counts, 0, sizeof counts);
    process = 0;
    noted = looked = 0;
    has = nothing = lost = false;
    meanwhile = NULL;
    atomic_store(&tid, 0);
    atomic_store(&is, -1);
    sem_init(&go, 0, 0);
    sem_init(&woken, 0, 0);
    if (pthread_create(&thread, NULL, run, &mine) != 0)
        return 1;
    while (atomic_load(&tid) == 0)
        sched_yield();
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    todo = END;
    sem_post(&go);
    sem_post(&woken);
    return pthread_join(thread, NULL);
}

static enum onwall_found look(void)
{
    uint32_t looks = 1;
    return onwall_look(RATE, INDEX, tid, 7, &looks);
}

/* Returns whether the system was asked about the thread. */
static bool look_closely(void)
{
    uint32_t looks = 1;
    assert_int_equal(onwall_look(RATE, INDEX, tid, 7, &looks), ONWALL_DONE);
    return looks == 0;
}

static void test_lines(void **unused)
{
    struct state s;
    (void)unused;
    parse_state("running\n", &s);
    assert_int_equal(s.is, READY);
    parse_state("230 0x0 0x1 0x7f00 0x0 0x0 0x0 0x7ffc10 0x7f33\n", &s);
    assert_int_equal(s.is, SLEEPS);
    assert_int_equal(s.call, 230);
    assert_int_equal(s.sp, 0x7ffc10);
    assert_int_equal(s.pc, 0x7f33);
    parse_state("-1 0x7ffc10 0x7f33\n", &s);
    assert_int_equal(s.is, SLEEPS);
    assert_int_equal(s.call, -1);
    assert_int_equal(s.sp, 0x7ffc10);
    parse_state("", &s);
    assert_int_equal(s.is, GONE);
    parse_state("1 x", &s);
    assert_int_equal(s.sp, 0);
    assert_int_equal(s.pc, 0);
}

/* A thread that sleeps with a process is a sample, with where its stack is, and is not asked. */
static void test_asleep(void **unused)
{
    (void)unused;
    let(SLEEP);
    process = 8;
    has = true;
    for (unsigned i = 1; i <= ENOUGH; i++) {
        assert_int_equal(look(), ONWALL_DONE);
        assert_int_equal(noted, i);
        assert_int_equal(doing, ONWALL_ASLEEP);
        assert_false(nothing);
        assert_true(sp < stack && sp > stack - 100000 && pc != 0);
    }
    assert_int_equal(onwall_news(RATE).called, ENOUGH);
    assert_int_equal(onwall_news(RATE).called, 0);
}

/* Without a process, it is idle where it waits as the VM waits for work, and is not looked at again
 * until it has run; elsewhere it works for a port. */
static void test_idle(void **unused)
{
    (void)unused;
    let(WAIT);
    for (unsigned i = 0; i < ENOUGH; i++)
        assert_int_equal(look_closely(), i == 0);
    assert_int_equal(noted, 0);
    assert_int_equal(looked, 0);
    process = 8; /* one that the scheduler does not run any more */
    for (unsigned i = 0; i < ENOUGH; i++)
        assert_int_equal(look_closely(), i == 0);
    assert_int_equal(noted, 0);
    assert_int_equal(looked, 1);
    has = true; /* it waits for a lock */
    process = 16;
    look();
    assert_int_equal(noted, 1);
    assert_int_equal(doing, ONWALL_ASLEEP);
    has = false;
    process = 0;
    sem_post(&woken);
    let(SLEEP);
    look();
    assert_int_equal(noted, 2);
    assert_int_equal(doing, ONWALL_ASLEEP);
}

/* One that runs is asked if it has a process. (It may be found while it waits for a processor.) */
static void test_running(void **unused)
{
    (void)unused;
    unsigned runs = 0;
    let(WORK);
    process = 8;
    has = true;
    for (unsigned n = 0; runs < ENOUGH; n++) {
        const enum onwall_found found = look();
        assert_true(found == ONWALL_ASK_RUNNING || found == ONWALL_ASK_READY);
        runs += found == ONWALL_ASK_RUNNING;
        if (n % 16 == 0)
            usleep(1000);
    }
    assert_int_equal(noted, 0);
    process = 0;
    for (runs = 0; runs < ENOUGH; runs += doing == ONWALL_RUNNING) {
        const unsigned had = noted;
        assert_int_equal(look(), ONWALL_DONE);
        assert_int_equal(noted, had + 1);
        assert_true(nothing && !lost);
        assert_int_not_equal(doing, ONWALL_ASLEEP);
        usleep(100);
    }
    todo = END;
}

static void other_process(void)
{
    process += 8;
}

static void it_runs(void)
{
    const uint64_t was = oncpu_clock_time(tid);
    sem_post(&woken); /* it goes on to wait for what to do */
    while (oncpu_clock_time(tid) == was)
        sched_yield();
}

/* What was read while the thread, or its process, went on is nothing, and counted. */
static void test_meanwhile(void **unused)
{
    (void)unused;
    let(SLEEP);
    process = 8;
    has = true;
    meanwhile = other_process;
    look();
    assert_int_equal(noted, 1);
    assert_true(nothing && lost);
    todo = WAIT;
    sem_post(&go);
    while (atomic_load(&is) != WAIT)
        sched_yield();
    let(WAIT);
    meanwhile = it_runs;
    has = false; /* that is not known then */
    look();
    assert_int_equal(noted, 2);
    assert_true(nothing && lost);
    assert_false(seen[INDEX].idle);
}

/* Where too many have been looked at, it is counted; a thread that is not there is nothing. */
static void test_bounds(void **unused)
{
    uint32_t looks = 0;
    (void)unused;
    let(SLEEP);
    assert_int_equal(onwall_look(RATE, INDEX, tid, 7, &looks), ONWALL_DONE);
    assert_int_equal(noted, 0);
    assert_int_equal(onwall_news(RATE).unlooked, 1);
    looks = 1;
    assert_int_equal(onwall_look(RATE, INDEX, 1 << 26, 7, &looks), ONWALL_DONE);
    assert_int_equal(noted, 0);
    assert_int_equal(looks, 1);
    onwall_late(RATE, 3);
    assert_int_equal(onwall_news(RATE).late, 3);
}

/* The library's own work is no sample, and is not looked at. */
static void test_own(void **unused)
{
    (void)unused;
    let(SLEEP);
    watcher = tid;
    assert_false(look_closely());
    watcher = 0;
    assert_int_equal(noted, 0);
    assert_true(look_closely());
    assert_int_equal(noted, 1);
}

static void test_names(void **unused)
{
    (void)unused;
    assert_string_equal(onwall_doing_name(ONWALL_RUNNING), "running");
    assert_string_equal(onwall_doing_name(ONWALL_RUNNABLE), "runnable");
    assert_string_equal(onwall_doing_name(ONWALL_ASLEEP), "asleep");
    assert_string_equal(onwall_doing_name(ONWALL_DOINGS), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_names),
        cmocka_unit_test_setup_teardown(test_asleep, begin, end),
        cmocka_unit_test_setup_teardown(test_idle, begin, end),
        cmocka_unit_test_setup_teardown(test_running, begin, end),
        cmocka_unit_test_setup_teardown(test_meanwhile, begin, end),
        cmocka_unit_test_setup_teardown(test_bounds, begin, end),
        cmocka_unit_test_setup_teardown(test_own, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
