/* How far a node's clocks are ahead: simulated nodes, whose clocks run at other rates and leap,
 * over networks that are slow in one direction. The truth is known, and has to lie in what is
 * stated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/clocks.h"
#include "util/buftext.h"

#define US INT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

enum { RUNS = 300, QUESTIONS = 120 };

static uint64_t seed;

/* Returns a number below n. */
static int64_t random_below(int64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed >> 2) % n;
}

/* Times are ours. The node's monotonic clock shows now + ahead + ppb / 10^9 of the time since
 * `from`. The wall clocks show those plus a number. */
struct world {
    int64_t now;
    int64_t from, ahead, ppb;
    int64_t wall_there, wall_here; /* what they show more than the monotonic clocks */
    int64_t slow_there, slow_back; /* the most that a way takes */
};

static int64_t ahead_at(const struct world *w, int64_t t)
{
    return w->ahead + (t - w->from) / 1000 * w->ppb / 1000000;
}

static struct cluster_reading read_clocks(struct world *w, bool there)
{
    struct cluster_reading r;
    const int64_t more = there ? w->wall_there : w->wall_here;
    r.before = w->now + (there ? ahead_at(w, w->now) : 0);
    w->now += random_below(2) * random_below(200); /* often within one tick */
    r.wall = w->now + (there ? ahead_at(w, w->now) : 0) + more;
    w->now += random_below(2) * random_below(200);
    r.after = w->now + (there ? ahead_at(w, w->now) : 0);
    return r;
}

/* The rate of the node's clock changes, and it does not leap. */
static void set_rate(struct world *w, int64_t ppb)
{
    w->ahead = ahead_at(w, w->now);
    w->from = w->now;
    w->ppb = ppb;
}

static struct cluster_answer ask(struct world *w)
{
    struct cluster_answer a = {.asked = w->now};
    w->now += random_below(w->slow_there) + 1;
    a.there = read_clocks(w, true);
    w->now += random_below(w->slow_back) + 1;
    a.here = read_clocks(w, false);
    return a;
}

static struct world random_world(void)
{
    static const int64_t slow[] = {20 * US, 300 * US, 8 * MS, 300 * MS};
    struct world w = {.now = 1 + random_below(1000 * S)};
    w.from = w.now;
    w.ahead = random_below(2) ? random_below(100000 * S) : -random_below(w.now);
    w.wall_there = 1000000000 * S + random_below(1000 * S);
    w.wall_here = 1000000000 * S + random_below(1000 * S);
    w.slow_there = slow[random_below(4)];
    w.slow_back = slow[random_below(4)];
    return w;
}

static void holds(const struct cluster_span *s, int64_t truth)
{
    assert_true(s->known);
    assert_true(s->low <= truth && truth <= s->high);
    assert_true(truth - cluster_offset(s) <= cluster_error(s));
    assert_true(cluster_offset(s) - truth <= cluster_error(s));
}

/* (The simulation rounds to whole ns how far the node is ahead: hence two more on each side.) */
static void holds_at(const struct cluster_clock *c, const struct world *w, int64_t t)
{
    struct cluster_ahead a = cluster_clock_at(c, t);
    a.timestamp.low -= 2;
    a.timestamp.high += 2;
    holds(&a.timestamp, ahead_at(w, t));
    if (!a.walltimestamp.known)
        return;
    a.walltimestamp.low -= 2;
    a.walltimestamp.high += 2;
    holds(&a.walltimestamp, ahead_at(w, t) + w->wall_there - w->wall_here);
}

/* Rates of up to 200 ppm that change all the time, ways that are slow in one direction. */
static void the_truth_is_within_the_error(void **state)
{
    (void)state;
    seed = 20261201;
    for (int run = 0; run < RUNS; run++) {
        struct cluster_clock c = {0};
        struct world w = random_world();
        for (int i = 0; i < QUESTIONS; i++) {
            set_rate(&w, random_below(400001) - 200000);
            const struct cluster_answer a = ask(&w);
            assert_true(cluster_clock_add(&c, &a));
            holds_at(&c, &w, w.now);
            w.now += random_below(400 * MS);
            holds_at(&c, &w, w.now); /* at a time after the last answer */
        }
        assert_false(c.leapt);
    }
}

/* What a later answer says of an earlier time holds as well, and is at least as exact. */
static void later_answers_tell_of_earlier_times(void **state)
{
    (void)state;
    seed = 4711;
    for (int run = 0; run < RUNS; run++) {
        struct cluster_clock c = {0};
        struct world w = random_world();
        set_rate(&w, random_below(400001) - 200000);
        struct cluster_answer a = ask(&w);
        cluster_clock_add(&c, &a);
        w.now += random_below(10 * S);
        const int64_t between = w.now;
        const struct cluster_ahead before = cluster_clock_at(&c, between);
        w.now += random_below(10 * S);
        a = ask(&w);
        cluster_clock_add(&c, &a);
        holds_at(&c, &w, between);
        const struct cluster_ahead after = cluster_clock_at(&c, between);
        assert_true(after.timestamp.low >= before.timestamp.low &&
                    after.timestamp.high <= before.timestamp.high);
        assert_true(before.walltimestamp.known && !after.walltimestamp.known);
    }
}

/* Leaps that are wider than a round trip show with the next answer, whoever was suspended. */
static void leaps_are_seen(void **state)
{
    (void)state;
    seed = 1234567;
    for (int run = 0; run < RUNS; run++) {
        struct cluster_clock c = {0};
        struct world w = random_world();
        w.ahead += 200000 * S; /* it has room to leap back */
        for (int i = 0; i < QUESTIONS; i++) {
            set_rate(&w, random_below(400001) - 200000);
            const bool leaps = i > 0 && random_below(10) == 0;
            if (leaps)
                w.ahead += (random_below(2) ? 1 : -1) * (2 * S + random_below(100 * S));
            if (random_below(10) == 0)
                w.wall_there += random_below(10 * S) - 5 * S;
            if (random_below(10) == 0)
                w.wall_here += random_below(10 * S) - 5 * S;
            const int64_t asked = w.now;
            const struct cluster_answer a = ask(&w);
            assert_true(cluster_clock_add(&c, &a));
            if (leaps) {
                assert_int_equal(c.n, 1);
                assert_false(cluster_clock_at(&c, asked).timestamp.known);
            }
            holds_at(&c, &w, w.now);
            w.now += random_below(400 * MS);
            holds_at(&c, &w, w.now);
        }
    }
}

/* Half a round trip, and the drift since, rounded up. */
static void the_error_is_half_the_round_trip(void **state)
{
    const int64_t took = 80 * US + 1;
    struct cluster_clock c = {0};
    (void)state;
    assert_false(cluster_clock_at(&c, 5).timestamp.known);
    struct cluster_answer a = {.asked = 10 * S,
                               .there = {13 * S, 7 * S, 13 * S},
                               .here = {10 * S + took, 5 * S, 10 * S + took}};
    assert_true(cluster_clock_add(&c, &a));
    struct cluster_ahead at = cluster_clock_at(&c, 10 * S + took);
    assert_int_equal(at.timestamp.low, 3 * S - took);
    assert_int_equal(at.timestamp.high, 3 * S + 17); /* 200 ppm of 80.001 us */
    assert_int_equal(cluster_offset(&at.timestamp), 3 * S - took + 40009);
    assert_int_equal(cluster_error(&at.timestamp), 40009);
    /* The wall clock there is 6 s behind the monotonic one, ours 5.000080001 s. */
    assert_int_equal(at.walltimestamp.low, 2 * S);
    at = cluster_clock_at(&c, 11 * S + took);
    assert_int_equal(at.timestamp.low, 3 * S - took - 200 * US);
    assert_int_equal(at.timestamp.high, 3 * S + 200 * US + 17);
}

/* The best of many answers counts, and it is forgotten when it is old. */
static void the_quickest_answer_counts(void **state)
{
    struct cluster_clock c = {0};
    (void)state;
    for (int64_t i = 0; i < 200; i++) {
        const int64_t asked = (i + 1) * 10 * MS, took = i == 20 ? 10 * US : 5 * MS;
        const struct cluster_answer a = {
            .asked = asked,
            .there = {asked + took / 2, 0, asked + took / 2},
            .here = {asked + took, 0, asked + took},
        };
        assert_true(cluster_clock_add(&c, &a));
        const struct cluster_ahead at = cluster_clock_at(&c, asked + took);
        const int64_t error = cluster_error(&at.timestamp);
        if (i < 20)
            assert_in_range(error, 2 * MS, 3 * MS);
        else if (i < 20 + CLUSTER_ANSWERS)
            assert_in_range(error, 5 * US, 5 * US + (i - 20) * 2 * US + 2 * US);
        else
            assert_in_range(error, 2 * MS, 3 * MS);
    }
}

/* What no clock can show is not taken in; nor is what would come out of order. */
static void nonsense_is_refused(void **state)
{
    struct cluster_clock c = {0};
    const struct cluster_answer good = {
        .asked = 5 * S, .there = {8 * S, S, 8 * S}, .here = {6 * S, S, 6 * S}};
    struct cluster_answer bad[9];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bad[i] = good;
    bad[0].there.before = -1;
    bad[1].there.before = 9 * S; /* later than `after` */
    bad[2].there.after = INT64_MAX;
    bad[3].there.wall = -5;
    bad[4].there.wall = INT64_MAX;
    bad[5].there.after = 10 * S; /* 2 s there in 1 s here */
    bad[6].asked = 7 * S;
    bad[7].there = (struct cluster_reading){INT64_MIN, INT64_MIN, INT64_MIN};
    bad[8].asked = -1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(cluster_clock_add(&c, &bad[i]));
    assert_int_equal(c.n, 0);
    assert_true(cluster_clock_add(&c, &good));
    assert_false(cluster_clock_add(&c, &good));
    assert_int_equal(c.n, 1);
}

static struct cluster_span span(int64_t low, int64_t high)
{
    return (struct cluster_span){true, low, high};
}

/* No digit is finer than the error, and what is shown covers all that is possible. */
static void the_text_is_no_finer_than_the_error(void **state)
{
    static const struct {
        int64_t low, high;
        const char *text;
    } rows[] = {
        {-20, 60, "20 ns ahead of this host's, within 40 ns"},
        {-60 * US, -20 * US, "40 us behind this host's, within 20 us"},
        {3600 * S - 30 * US, 3600 * S + 54 * US,
         "3600.000012 s ahead of this host's, within 42 us"},
        {-3600 * S - 54 * US, -3600 * S + 30 * US,
         "3600.000012 s behind this host's, within 42 us"},
        {1204 * US + 400, 1204 * US + 2800, "0.001206 s ahead of this host's, within 2 us"},
        {100 * S, 110 * S, "105 s ahead of this host's, within 5 s"},
        {S, S + 5 * MS, "1.003 s ahead of this host's, within 3 ms"},
    };
    struct buf b = BUF_INIT, want = BUF_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct cluster_ahead a = {span(rows[i].low, rows[i].high), {0}};
        buf_reset(&b);
        buf_reset(&want);
        cluster_ahead_text(&a, &b);
        buf_printf(&want, "timestamp is %s, walltimestamp is not known", rows[i].text);
        assert_string_equal(buf_str(&b), buf_str(&want));
    }
    buf_reset(&b);
    cluster_ahead_text(&(struct cluster_ahead){{0}, span(-5 * MS, 5 * MS)}, &b);
    assert_string_equal(
        buf_str(&b),
        "timestamp is not known, walltimestamp is 0 ms ahead of this host's, within 5 ms");
    buf_free(&b);
    buf_free(&want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_is_within_the_error),
        cmocka_unit_test(later_answers_tell_of_earlier_times),
        cmocka_unit_test(leaps_are_seen),
        cmocka_unit_test(the_error_is_half_the_round_trip),
        cmocka_unit_test(the_quickest_answer_counts),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(the_text_is_no_finer_than_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
