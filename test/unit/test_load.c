/* What events cost: samples and their weights, who is charged, when a program is over its limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "beam/deadman/load.c"
#include "probe/probe.h"

enum { THREADS = 4, PROBES = 3, NEED = PROBE_NEED_SEND };
static const uint64_t SECOND = 1000000000;

struct account {
    struct load load;
    struct load_thread thread[THREADS];
    struct load_probe probe[PROBES];
};

static struct load_sampler me; /* of the thread that the tests are */
static uint64_t waited;        /* what the thread has waited in all */

static void account_init(struct account *a, uint32_t limit, uint32_t needs)
{
    memset(a, 0, sizeof *a);
    load_init(&a->load, a->thread, THREADS, a->probe, PROBES);
    a->load.limit = limit;
    a->load.needs = needs;
    load_start(&a->load, 0);
}

static int fresh(void **state)
{
    (void)state;
    me = (struct load_sampler){0};
    memset(clocks, 0, sizeof clocks);
    reading_ns = 0;
    waited = 0;
    stolen = 0;
    return 0;
}

/* The sample ends, in which the thread ran all the time. */
static struct load *ends(struct load_sample *s, struct load *const *all, uint32_t n,
                         uint32_t thread, uint64_t now)
{
    const struct load_clocks k = {now, now - s->start, 0, waited};
    return load_end(&me, s, all, n, thread, LOAD_MESSAGE, NEED, &k);
}

/* An event of a thread at `now` that took so many ns in the clauses of a probe, or (NULL) of none,
 * if it is a sample. */
static struct load *event(struct load *const *all, uint32_t n, struct account *a, uint32_t probe,
                          uint32_t thread, uint64_t now, uint64_t ns, bool *sampled)
{
    struct load_sample s;
    load_begin(&me, &s);
    *sampled = load_sampling(&me) != NULL;
    if (!*sampled)
        return NULL;
    assert_ptr_equal(load_sampling(&me), &s);
    s.start = now;
    if (a)
        load_part(&s, &a->load, &a->probe[probe], ns);
    return ends(&s, all, n, thread, now + ns);
}

/* Every event counts once, one in LOAD_GAP is timed, and the time is that of all of them. */
static void samples_stand_for_all(void **state)
{
    (void)state;
    enum { EVENTS = 1000000 };
    struct account a;
    struct load *all[] = {&a.load};
    uint32_t samples = 0;
    bool sampled;
    account_init(&a, 0, 0);
    for (uint32_t i = 0; i < EVENTS; i++) {
        event(all, 1, &a, 0, 0, i * UINT64_C(1000), 300, &sampled);
        samples += sampled;
    }
    assert_in_range(samples, EVENTS / LOAD_GAP * 9 / 10, EVENTS / LOAD_GAP * 11 / 10);
    assert_in_range(a.probe[0].events, EVENTS - 2 * LOAD_GAP, EVENTS);
    assert_int_equal(a.probe[0].ns, a.probe[0].events * 300);
    assert_int_equal(a.thread[0].events, a.probe[0].events);
    /* what the VM spends is the program's, and not the probe's */
    assert_int_equal(a.thread[0].vm, a.probe[0].events * load_vm_ns[LOAD_MESSAGE]);
    assert_int_equal(a.thread[0].ns, a.probe[0].ns + a.thread[0].vm);
    assert_null(load_sampling(&me));
}

/* A workload with the sampler's own rhythm: each probe gets its part all the same. */
static void rhythm_does_not_hide(void **state)
{
    (void)state;
    enum { EVENTS = 2000000 };
    struct account a;
    struct load *all[] = {&a.load};
    bool sampled;
    account_init(&a, 0, 0);
    for (uint32_t i = 0; i < EVENTS; i++)
        event(all, 1, &a, i % LOAD_GAP == 0 ? 1 : 0, 0, i * UINT64_C(1000), 100, &sampled);
    assert_in_range(a.probe[1].events, EVENTS / LOAD_GAP / 2, EVENTS / LOAD_GAP * 2);
}

/* Slow events are timed one by one, and a single one does not weigh like a program that is slow. */
static void slow_events(void **state)
{
    (void)state;
    struct account a;
    struct load *all[] = {&a.load};
    bool sampled;
    uint64_t now = 0;
    account_init(&a, 0, 0);
    for (int i = 0; i < 100; i++) {
        event(all, 1, &a, 0, 0, now += 100000, 2 * LOAD_SLOW_NS, &sampled);
        assert_true(sampled);
    }
    assert_int_equal(a.probe[0].events, 100);
    static const struct {
        uint64_t took, least, most; /* ns */
    } cases[] = {
        {500000, LOAD_GAP * UINT64_C(500000), LOAD_GAP * UINT64_C(500000)}, /* stands for all */
        {10000000, LOAD_SAMPLE_NS, LOAD_SAMPLE_NS},
        {10 * SECOND, 10 * SECOND, 10 * SECOND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh(NULL);
        account_init(&a, 0, 0);
        me.left = me.gap = LOAD_GAP - 1;
        for (int j = 0; j < LOAD_GAP; j++)
            event(all, 1, &a, 1, 0, now += 100000, cases[i].took, &sampled);
        assert_true(sampled);
        assert_in_range(a.probe[1].ns, cases[i].least, cases[i].most);
    }
}

/* An event in which the thread stood still: what it did not run is nobody's, and its probes are
 * charged for what they ran, the one that was interrupted first. */
static void interrupted_events(void **state)
{
    (void)state;
    struct account a;
    struct load *all[] = {&a.load};
    struct load_sample s;
    account_init(&a, 0, 0);
    for (int i = 0; i < 2; i++) { /* of one event, then of all since the last sample */
        uint64_t weight = i == 0 ? 1 : LOAD_GAP, was[] = {a.probe[0].ns, a.probe[1].ns};
        me.left = 0;
        me.random = 1; /* the next gap is none of those that are 0 */
        me.gap = (uint32_t)weight - 1;
        load_begin(&me, &s);
        s.start = 1000;
        load_part(&s, &a.load, &a.probe[0], 900000); /* 899,700 of which it waited */
        load_part(&s, &a.load, &a.probe[1], 200);
        const struct load_clocks k = {1000 + 900300, 600, 0, 0};
        assert_true(load_doubtful(&s, k.now));
        assert_false(load_doubtful(&s, s.start + LOAD_DOUBT_NS - 1));
        load_end(&me, &s, all, 1, 0, LOAD_MESSAGE, NEED, &k);
        assert_int_equal(a.probe[0].ns - was[0], (300 + 50) * weight);
        assert_int_equal(a.probe[1].ns - was[1], (200 + 50) * weight);
    }
    /* and it is no slow one */
    assert_true(me.left > 0);
    /* a clock that goes astray adds nothing */
    me.left = me.gap = 0;
    load_begin(&me, &s);
    s.start = 1000;
    const struct load_clocks k = {1500, UINT64_MAX, 0, 0};
    uint64_t was = a.thread[0].ns;
    load_part(&s, &a.load, &a.probe[0], 400);
    load_end(&me, &s, all, 1, 0, LOAD_MESSAGE, NEED, &k);
    assert_int_equal(a.thread[0].ns - was, 500 + load_vm_ns[LOAD_MESSAGE]);
}

/* What no probe is charged for goes to those whose needs made the VM report it, else to nobody. */
static void needs_pay(void **state)
{
    (void)state;
    struct account a, b, c;
    struct load *all[] = {&a.load, &b.load, &c.load};
    bool sampled;
    account_init(&a, 0, NEED);
    account_init(&b, 0, PROBE_NEED_GC);
    account_init(&c, 0, NEED | PROBE_NEED_GC);
    event(all, 3, NULL, 0, 0, 5, 0, &sampled);
    assert_true(sampled);
    assert_int_equal(a.thread[0].ns, load_vm_ns[LOAD_MESSAGE] / 2);
    assert_int_equal(b.thread[0].ns, 0);
    assert_int_equal(c.thread[0].ns, load_vm_ns[LOAD_MESSAGE] / 2);
    fresh(NULL);
    event(all + 1, 1, NULL, 0, 0, 5, 0, &sampled);
    assert_true(sampled);
    assert_int_equal(b.thread[0].ns, 0);
}

/* An event with the probes of two programs: each pays its own clauses, and half of the rest. */
static void two_programs_share(void **state)
{
    (void)state;
    struct account a, b;
    struct load *all[] = {&a.load, &b.load};
    struct load_sample s;
    account_init(&a, 0, 0);
    account_init(&b, 0, 0);
    load_begin(&me, &s);
    assert_ptr_equal(load_sampling(&me), &s);
    s.start = 1000;
    load_part(&s, &a.load, &a.probe[0], 70);
    load_part(&s, &b.load, &b.probe[0], 30);
    s.vm_more = 300; /* of the VM, which each pays half of */
    ends(&s, all, 2, 0, 1120);
    assert_int_equal(a.thread[0].ns, 70 + (20 + load_vm_ns[LOAD_MESSAGE] + 300) / 2);
    assert_int_equal(b.thread[0].ns, 30 + (20 + load_vm_ns[LOAD_MESSAGE] + 300) / 2);
    assert_int_equal(a.thread[0].vm, (load_vm_ns[LOAD_MESSAGE] + 300) / 2);
    me.left = me.gap = 0; /* and it is that event's alone */
    load_begin(&me, &s);
    assert_int_equal(s.vm_more, 0);
}

/* More firings in one event than are told apart: nothing is lost, and nothing overflows. */
static void many_parts(void **state)
{
    (void)state;
    struct account a;
    struct load *all[] = {&a.load};
    struct load_sample s;
    account_init(&a, 0, 0);
    load_begin(&me, &s);
    s.start = 0;
    for (int i = 0; i < 100; i++)
        load_part(&s, &a.load, &a.probe[0], 10);
    ends(&s, all, 1, 0, 1000);
    assert_in_range(a.thread[0].ns, 1000, 1000 + load_vm_ns[LOAD_MESSAGE]);
}

/* Runs events of `share` permille of a thread's time from *now for `ns`; the program that is over,
 * and when. */
static struct load *busy(struct load *const *all, uint32_t n, struct account *const *who,
                         const uint32_t *permille, uint64_t *now, uint64_t ns)
{
    enum { STEP = 1000000 };
    for (uint64_t end = *now + ns; *now < end; *now += STEP)
        for (uint32_t i = 0; i < n; i++) {
            struct load_sample s;
            if (!permille[i])
                continue;
            me.left = me.gap = 0;
            load_begin(&me, &s);
            s.start = *now;
            /* as if the VM took no time at all */
            uint64_t part = STEP / LOAD_MOST * (uint64_t)permille[i] - load_vm_ns[LOAD_MESSAGE];
            load_part(&s, &who[i]->load, who[i]->probe, part);
            struct load *over = ends(&s, all, n, 1, *now + (part < STEP ? part : STEP - 1));
            if (over)
                return over;
        }
    return NULL;
}

static void limit(void **state)
{
    (void)state;
    struct account a;
    struct account *who[] = {&a};
    struct load *all[] = {&a.load};
    /* under the limit for long */
    uint64_t now = 0;
    account_init(&a, 400, 0);
    assert_null(busy(all, 1, who, (uint32_t[]){390}, &now, 20 * SECOND));
    assert_false(load_is_over(&a.load));
    /* then over it, but not yet for a whole window; then for one */
    uint64_t from = now;
    assert_ptr_equal(busy(all, 1, who, (uint32_t[]){900}, &now, 20 * SECOND), &a.load);
    assert_true(now - from <= LOAD_WINDOW_NS + LOAD_SLICE_NS);
    assert_true(load_is_over(&a.load));
    assert_int_equal(a.load.trip.thread, 1);
    assert_in_range(a.load.trip.permille, 400, 450);
    /* once is enough */
    assert_null(busy(all, 1, who, (uint32_t[]){900}, &now, 5 * SECOND));

    /* from the start: not before a whole window has passed */
    fresh(NULL);
    account_init(&a, 400, 0);
    now = 0;
    assert_ptr_equal(busy(all, 1, who, (uint32_t[]){990}, &now, 20 * SECOND), &a.load);
    assert_in_range(now, LOAD_WINDOW_NS, LOAD_WINDOW_NS + 2 * (uint64_t)LOAD_SLICE_NS);
    assert_in_range(a.load.trip.permille, 980, 1000);

    /* no limit; not running */
    fresh(NULL);
    account_init(&a, 0, 0);
    now = 0;
    assert_null(busy(all, 1, who, (uint32_t[]){990}, &now, 10 * SECOND));
    account_init(&a, 400, 0);
    load_stop(&a.load, 1000);
    assert_null(busy(all, 1, who, (uint32_t[]){990}, &now, 10 * SECOND));
}

/* Eighths of seconds of a thread that waits for `wait` permille of its time, until a program is
 * over.
 */
static struct load *starved(struct account *a, uint32_t permille, uint32_t wait, uint64_t *now,
                            int eighths)
{
    struct load *over = NULL, *all[] = {&a->load};
    for (int i = 0; i < eighths && !over; i++) {
        over = busy(all, 1, &a, &permille, now, SECOND / 8);
        waited += SECOND / 8 / LOAD_MOST * wait;
    }
    return over;
}

/* A thread that hardly gets a processor: shares are of what it gets. */
static void waits_do_not_count(void **state)
{
    (void)state;
    struct account a;
    uint64_t now = 0;
    account_init(&a, 400, 0);
    assert_null(starved(&a, 100, 500, &now, 80)); /* half of the time: 200 permille */
    assert_in_range(load_wait(1), 5 * SECOND - SECOND / 4, 5 * SECOND);
    assert_ptr_equal(starved(&a, 100, 800, &now, 24), &a.load); /* a fifth: 500 permille */
    assert_in_range(a.load.trip.permille, 400, 510);
    assert_in_range(a.load.trip.at, now, now + SECOND / 1000);
    assert_in_range(a.load.trip.time, LOAD_WINDOW_NS / 5, LOAD_WINDOW_NS / 4 + LOAD_SLICE_NS);
    assert_int_equal(a.load.trip.permille,
                     window(&a.load, 1, now / LOAD_SLICE_NS) * LOAD_MOST / a.load.trip.time);
    /* never more than all of it, nor a division by nothing */
    fresh(NULL);
    now = 0;
    account_init(&a, 400, 0);
    starved(&a, 100, 100 * LOAD_MOST, &now, 24);
    assert_true(load_is_over(&a.load));
    assert_int_equal(a.load.trip.permille, LOAD_MOST);
    assert_int_equal(a.load.trip.time, LOAD_LEAST_NS);
}

/* A wait of seconds that is only known when it is over belongs to the time that it was in. */
static void long_waits(void **state)
{
    (void)state;
    struct account a;
    uint64_t now = 0;
    account_init(&a, 400, 0);
    assert_null(starved(&a, 50, 0, &now, 40));
    now += 10 * SECOND;
    waited += 9 * SECOND;
    assert_null(starved(&a, 50, 0, &now, 40));
    /* what the thread ran, it could run, whatever is said of its waits */
    for (int i = 0; i < 30; i++) {
        struct load_sample s;
        struct load *all[] = {&a.load};
        now += SECOND / 8;
        waited += SECOND / 8;
        me.left = me.gap = 0;
        load_begin(&me, &s);
        s.start = now;
        load_part(&s, &a.load, a.probe, SECOND / 100);
        const struct load_clocks k = {now + SECOND / 100, SECOND / 100, (uint64_t)i * SECOND / 16,
                                      waited};
        assert_null(load_end(&me, &s, all, 1, 1, LOAD_MESSAGE, NEED, &k));
    }
}

/* What a hypervisor takes could not be run either. */
static void stolen_time(void **state)
{
    (void)state;
    struct account a;
    uint64_t now = 0;
    account_init(&a, 400, 0);
    assert_null(starved(&a, 150, 0, &now, 40));
    load_stolen(500);
    assert_null(starved(&a, 150, 0, &now, 40)); /* 300 permille of half */
    load_stolen(700);
    assert_ptr_equal(starved(&a, 150, 0, &now, 40), &a.load);
    load_stolen(5000);
    assert_int_equal(load_could_run(SECOND, 0), 1);
    assert_int_equal(load_could_run(SECOND, 2 * SECOND), 1);
    load_stolen(0);
    assert_int_equal(load_could_run(SECOND, SECOND / 4), SECOND / 4 * 3);
}

/* A program that was ended is charged for nothing more, however long it takes to be noticed. */
static void the_ended_pay_nothing(void **state)
{
    (void)state;
    struct account a;
    uint64_t now = 0;
    account_init(&a, 400, 0);
    assert_ptr_equal(starved(&a, 900, 0, &now, 80), &a.load);
    uint64_t ns = a.probe[0].ns, of_thread = a.thread[1].ns;
    starved(&a, 900, 0, &now, 8);
    assert_int_equal(a.probe[0].ns, ns);
    assert_int_equal(a.thread[1].ns, of_thread);
}

/* A burst fades: what lies more than a window back does not count, also when nothing came since. */
static void bursts_fade(void **state)
{
    (void)state;
    struct account a;
    struct account *who[] = {&a};
    struct load *all[] = {&a.load};
    uint64_t now = 0;
    account_init(&a, 400, 0);
    assert_null(busy(all, 1, who, (uint32_t[]){10}, &now, 5 * SECOND));
    for (int i = 0; i < 10; i++) {
        assert_null(busy(all, 1, who, (uint32_t[]){950}, &now, SECOND / 2));
        now += 3 * SECOND;
    }
    now += 1000 * SECOND;
    assert_null(busy(all, 1, who, (uint32_t[]){10}, &now, SECOND));
}

/* Who is ended when there are several. */
static void the_guilty_one(void **state)
{
    (void)state;
    struct account a, b;
    struct account *who[] = {&a, &b};
    struct load *all[] = {&a.load, &b.load};
    static const struct {
        uint32_t limit[2], permille[2];
        int over; /* -1: nobody */
    } cases[] = {
        {{400, 400}, {20, 800}, 1},  /* the dear one, */
        {{400, 400}, {800, 20}, 0},  /* wherever it stands */
        {{400, 400}, {250, 350}, 1}, /* neither alone: the dearest */
        {{400, 400}, {100, 200}, -1},
        {{400, 0}, {20, 800}, -1}, /* one may take what it likes: the other is not to blame */
        {{10, 400}, {5, 300}, -1}, /* a strict one is not ended for what another takes, */
        {{10, 400}, {15, 300}, 0}, /* only for its own */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t now = 0;
        fresh(NULL);
        account_init(&a, cases[i].limit[0], 0);
        account_init(&b, cases[i].limit[1], 0);
        struct load *over = busy(all, 2, who, cases[i].permille, &now, 5 * SECOND);
        if (cases[i].over < 0)
            assert_null(over);
        else
            assert_ptr_equal(over, all[cases[i].over]);
    }
    /* the one is gone: the other goes on */
    fresh(NULL);
    uint64_t now = 0;
    account_init(&a, 400, 0);
    account_init(&b, 400, 0);
    assert_ptr_equal(busy(all, 2, who, (uint32_t[]){250, 350}, &now, 5 * SECOND), &b.load);
    load_stop(&b.load, 1000);
    assert_null(busy(all, 2, who, (uint32_t[]){250, 0}, &now, 5 * SECOND));
}

/* What it takes to undo a trace is no time that was watched, nor is what was before it began. */
static void an_account_ends_with_its_program(void **state)
{
    (void)state;
    struct account a;
    account_init(&a, 0, 0);
    assert_int_equal(load_until(&a.load, 500), 500);
    load_stop(&a.load, 700);
    a.thread[0].waited_in_all = a.thread[0].waited[LOAD_START] + 30;
    load_stop(&a.load, 900); /* END has run */
    assert_int_equal(load_until(&a.load, 2000), 700);
    assert_int_equal(load_waited(&a.load, 0, LOAD_START), 30);
    load_start(&a.load, 3000);
    assert_int_equal(load_until(&a.load, 3500), 3500);
    load_init(&a.load, a.thread, THREADS, a.probe, PROBES);
    a.load.ended = 0;
    load_stop(&a.load, 100); /* it never ran */
    assert_int_equal(load_until(&a.load, 200), 200);
}

#define TOP(from, n) load_top(load_by_cost, &a.load, a.load.nprobes, from, top, n)

static void marks_and_the_dearest(void **state)
{
    (void)state;
    struct account a;
    uint32_t top[PROBES];
    account_init(&a, 0, 0);
    assert_int_equal(TOP(LOAD_MARK, PROBES), 0);
    a.probe[0].ns = 10;
    a.probe[1].ns = 30;
    a.probe[2].ns = 20;
    assert_int_equal(TOP(LOAD_MARK, 2), 2);
    assert_int_equal(top[0], 1);
    assert_int_equal(top[1], 2);
    assert_int_equal(TOP(LOAD_MARK, 0), 0);
    load_mark(&a.load, 100, 7);
    a.probe[0].ns += 5;
    assert_int_equal(TOP(LOAD_MARK, PROBES), 1);
    assert_int_equal(top[0], 0);
    assert_int_equal(TOP(LOAD_BEFORE, PROBES), 3); /* from the start */
    load_mark(&a.load, 200, 9);
    assert_int_equal(TOP(LOAD_MARK, PROBES), 0);
    assert_int_equal(TOP(LOAD_BEFORE, PROBES), 1);
    assert_int_equal(TOP(LOAD_START, PROBES), 3);
    assert_int_equal(a.load.marked[0], 100);
    assert_int_equal(a.load.fired[1], 9);
    uint64_t events = 3, ns = a.probe[0].ns;
    a.probe[0].marks.events[0] = 1;
    load_since(&a.probe[0].marks, LOAD_BEFORE, &events, &ns);
    assert_int_equal(events, 2);
    assert_int_equal(ns, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(samples_stand_for_all, fresh),
        cmocka_unit_test_setup(rhythm_does_not_hide, fresh),
        cmocka_unit_test_setup(slow_events, fresh),
        cmocka_unit_test_setup(interrupted_events, fresh),
        cmocka_unit_test_setup(needs_pay, fresh),
        cmocka_unit_test_setup(two_programs_share, fresh),
        cmocka_unit_test_setup(many_parts, fresh),
        cmocka_unit_test_setup(limit, fresh),
        cmocka_unit_test_setup(waits_do_not_count, fresh),
        cmocka_unit_test_setup(long_waits, fresh),
        cmocka_unit_test_setup(stolen_time, fresh),
        cmocka_unit_test_setup(the_ended_pay_nothing, fresh),
        cmocka_unit_test_setup(bursts_fade, fresh),
        cmocka_unit_test_setup(the_guilty_one, fresh),
        cmocka_unit_test_setup(an_account_ends_with_its_program, fresh),
        cmocka_unit_test_setup(marks_and_the_dearest, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
