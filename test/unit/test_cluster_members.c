/* test_cluster_members.c - the members of a cluster: a table of small cases, and clusters of up to
 * a thousand nodes that are played in virtual time.
 *
 * A run is a world of nodes that come, go, freeze and are cut off, and a consumer that follows
 * cluster/members.h and merges what it is handed by result/aggr.h. Answers come late, twice, and
 * after the consumer has given a node up. The world keeps its own books: of all that fired while a
 * node was traced, each unit is merged once, or lost with a node that the consumer was told of.
 *
 * RUNS=10000 plays more runs than the first hundred, SEED=N begins with another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/members.h"
#include "result/aggr.h"

enum { FIRST_RUNS = 100, MOST = 1000, STEPS_PER_SECOND = 10, FIRED_MOST = 1000 };
#define STEP       (MEMBER_SECOND / STEPS_PER_SECOND)
#define SECONDS(n) ((uint64_t)(n)*MEMBER_SECOND)

/* -- small cases ------------------------------------------------------------------------------- */

static size_t next(struct members *m, uint64_t now, uint32_t *attempt)
{
    size_t which = SIZE_MAX;
    return members_next(m, now, &which, attempt) ? which : SIZE_MAX;
}

static void hear(struct members *m, size_t n, uint64_t now)
{
    char name[32];
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "n%zu@host", i);
        assert_int_equal(members_heard(m, name, now), 0);
    }
}

static void names(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "a", "@b", "a@", "a b@c", "a@b\n", "a@\x7f"};
    char longest[MEMBER_NAME + 2];
    struct members m;
    members_init(&m);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        members_heard(&m, wrong[i], 1);
    memset(longest, 'x', sizeof longest);
    longest[1] = '@';
    longest[MEMBER_NAME + 1] = '\0';
    members_heard(&m, longest, 1);
    assert_int_equal(m.left_out, sizeof wrong / sizeof *wrong + 1);
    assert_int_equal(m.n, 0);
    longest[MEMBER_NAME] = '\0';
    members_heard(&m, longest, 1);
    members_heard(&m, longest, 2); /* the same one */
    assert_int_equal(m.n, 1);
    hear(&m, MEMBERS_MOST + 5, 3);
    assert_int_equal(m.n, MEMBERS_MOST);
    assert_int_equal(m.left_out, sizeof wrong / sizeof *wrong + 1 + 6);
    members_free(&m);
}

/* How many are placed at once, by the size of the cluster. */
static void widths(void **state)
{
    (void)state;
    static const struct {
        size_t n, width;
    } rows[] = {{1, 1}, {2, 1}, {15, 1}, {16, 2}, {23, 2}, {24, 3}, {50, 6}, {1000, 125}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct members m;
        uint32_t attempt;
        size_t at_once = 0;
        members_init(&m);
        hear(&m, rows[i].n, 1);
        while (next(&m, 1, &attempt) != SIZE_MAX)
            at_once++;
        assert_int_equal(at_once, rows[i].width);
        assert_int_equal(members_width(&m, 1), rows[i].width);
        members_free(&m);
    }
}

static void pauses(void **state)
{
    (void)state;
    static const unsigned least[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
    struct members m;
    uint32_t attempt;
    uint64_t now = SECONDS(1);
    members_init(&m);
    hear(&m, 1, now);
    assert_int_equal(next(&m, now, &attempt), 0);
    for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
        if (i % 2 == 0) { /* failures and losses count alike */
            assert_true(members_failed(&m, 0, attempt, false, now));
        } else {
            assert_true(members_placed(&m, 0, attempt, now));
            assert_true(members_lost(&m, 0, attempt, now));
        }
        assert_false(members_lost(&m, 0, attempt, now));
        now += SECONDS(least[i]);
        assert_int_equal(next(&m, now, &attempt), SIZE_MAX); /* nobody has named it since */
        hear(&m, 1, now - 1);
        assert_int_equal(next(&m, now - 1, &attempt), SIZE_MAX);
        assert_int_equal(next(&m, now, &attempt), 0);
    }
    assert_true(members_placed(&m, 0, attempt, now));
    now += MEMBER_STEADY;
    assert_true(members_lost(&m, 0, attempt, now));
    hear(&m, 1, now + MEMBER_FIRST);
    assert_int_equal(next(&m, now + MEMBER_FIRST, &attempt), 0); /* all is forgotten */
    assert_true(members_failed(&m, 0, attempt, true, now));
    hear(&m, 1, now + MEMBER_LAST - 1);
    assert_int_equal(next(&m, now + MEMBER_LAST - 1, &attempt), SIZE_MAX);
    assert_int_equal(next(&m, now + MEMBER_LAST, &attempt), 0);
    assert_false(members_placed(&m, 0, attempt - 1, now));
    assert_false(members_failed(&m, 0, attempt + 1, false, now));
    assert_false(members_placed(&m, 1, attempt, now));
    members_free(&m);
}

/* A member that was named long ago may have gone. */
static void forgotten(void **state)
{
    (void)state;
    struct members m;
    uint32_t attempt;
    members_init(&m);
    hear(&m, 2, 1);
    assert_int_equal(next(&m, 1 + MEMBER_RECENT, &attempt), 0);
    members_placed(&m, 0, attempt, 1 + MEMBER_RECENT);
    assert_int_equal(next(&m, 2 + MEMBER_RECENT, &attempt), SIZE_MAX);
    members_free(&m);
}

/* -- a world ----------------------------------------------------------------------------------- */

struct node {
    bool up, cut;
    uint64_t thaws;                              /* frozen until then */
    enum { CLOSED, PLACING, OPEN } conversation; /* as the consumer has it */
    bool broken; /* the way there is gone, which the consumer learns at: */
    uint64_t ends;
    uint64_t ready; /* PLACING: when that has ended */
    uint32_t attempt;
    uint64_t waiting;             /* fired, not handed out so far */
    uint64_t reads;               /* the time of the next reading */
    uint64_t sent, got;           /* answers of this conversation: sent, taken */
    uint64_t out;                 /* units in answers that are on their way in it */
    uint64_t fired, lost, merged; /* the books, over all conversations */
};

struct answer {
    uint64_t at;
    size_t node;
    uint32_t attempt;
    uint64_t number, units;
};

struct world {
    uint64_t random, now;
    size_t n;
    struct node node[MOST];
    size_t number[MOST], which[MOST]; /* nodes of members; members of nodes, plus 1: 0, none yet */
    struct answer *answer;
    size_t nanswers, cap;
    struct {
        uint64_t at; /* when the answer who is there comes; 0: none is awaited */
        bool there[MOST];
    } told;
    struct members m;
    struct dif_image img;
    struct aggr_table aggr;
};

static struct dif_agg counts[] = {{0, AGG_COUNT, {1, {{DIF_UINT, 8}}}, {0}}};

static uint64_t draw(struct world *w, uint64_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random % below;
}

static bool reachable(const struct world *w, size_t i)
{
    const struct node *n = &w->node[i];
    return n->up && !n->cut && n->thaws <= w->now;
}

static size_t number_of(const struct world *w, size_t which)
{
    return w->number[which];
}

static void put_answer(struct world *w, struct answer a)
{
    if (w->nanswers == w->cap) {
        w->cap = w->cap > 0 ? 2 * w->cap : 1024;
        w->answer = realloc(w->answer, w->cap * sizeof *w->answer);
        assert_non_null(w->answer);
    }
    w->answer[w->nanswers++] = a;
}

/* Things happen to nodes. */
static void change(struct world *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct node *n = &w->node[i];
        const uint64_t what = draw(w, 4000);
        const bool was = n->up && !n->cut;
        if (what < 4)
            n->up = false;
        else if (what < 40)
            n->up = true;
        else if (what < 44)
            n->cut = true;
        else if (what < 100)
            n->cut = false;
        else if (what < 104)
            n->thaws = w->now + SECONDS(draw(w, 40));
        if (was && !(n->up && !n->cut) && n->conversation != CLOSED && !n->broken) {
            n->broken = true;
            n->ends = w->now + draw(w, SECONDS(30));
        }
    }
}

/* Nodes fire, and hand out what has fired when they are asked. */
static void fire(struct world *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct node *n = &w->node[i];
        if (n->conversation != OPEN || !n->up || n->thaws > w->now)
            continue;
        const uint64_t more = draw(w, FIRED_MOST);
        n->waiting += more;
        n->fired += more;
        if (n->broken || n->reads > w->now)
            continue;
        struct answer a = {w->now + draw(w, SECONDS(2)), i, n->attempt, n->sent++, n->waiting};
        n->out += n->waiting;
        n->waiting = 0;
        n->reads = w->now + SECONDS(1);
        put_answer(w, a);
        if (draw(w, 8) == 0) {
            a.at += draw(w, SECONDS(40)); /* when another conversation may be going on */
            put_answer(w, a);
        }
    }
}

/* The consumer takes an answer if it belongs to the conversation that it has with the node. */
static void take(struct world *w, const struct answer *a, size_t which)
{
    struct node *n = &w->node[a->node];
    const struct member *one = &w->m.list[which];
    if (one->state != MEMBER_TRACED || one->attempt != a->attempt || a->number != n->got)
        return;
    n->got++;
    const uint64_t key = a->node, units = a->units;
    assert_int_equal(aggr_merge(&w->aggr, 0, (const uint8_t *)&key, sizeof key, &units, 1), 0);
}

/* Those of one conversation arrive in order, as on a connection: a later one waits for another
 * round. Returns whether any has arrived. */
static bool some_answers(struct world *w)
{
    bool any = false;
    for (size_t i = 0; i < w->nanswers;) {
        const struct answer a = w->answer[i];
        struct node *n = &w->node[a.node];
        const bool of_this =
            n->conversation == OPEN && n->attempt == a.attempt && a.number >= n->got;
        if (a.at > w->now || (of_this && a.number != n->got)) {
            i++;
            continue;
        }
        w->answer[i] = w->answer[--w->nanswers];
        if (of_this) {
            n->merged += a.units;
            n->out -= a.units;
        }
        take(w, &a, w->which[a.node] - 1);
        any = any || of_this;
    }
    return any;
}

static void answers(struct world *w)
{
    while (some_answers(w))
        ;
}

/* The consumer learns what became of its conversations. */
static void outcomes(struct world *w)
{
    for (size_t which = 0; which < w->m.n; which++) {
        const size_t i = number_of(w, which);
        struct node *n = &w->node[i];
        if (n->conversation == PLACING && n->ready <= w->now) {
            const bool well = reachable(w, i) && !n->broken && draw(w, 20) > 0;
            n->conversation = well ? OPEN : CLOSED;
            n->waiting = n->sent = n->got = n->out = 0;
            n->broken = false;
            assert_true(well ? members_placed(&w->m, which, n->attempt, w->now)
                             : members_failed(&w->m, which, n->attempt, draw(w, 50) == 0, w->now));
            assert_false(members_placed(&w->m, which, n->attempt, w->now)); /* said twice */
        } else if (n->conversation == OPEN && n->broken && n->ends <= w->now) {
            n->conversation = CLOSED;
            n->broken = false;
            n->lost += n->waiting + n->out;
            assert_true(members_lost(&w->m, which, n->attempt, w->now));
            assert_false(members_lost(&w->m, which, n->attempt, w->now));
            assert_false(members_placed(&w->m, which, n->attempt, w->now));
        }
    }
}

/* A node says who is there; the answer is as old as it is late. */
static void ask(struct world *w)
{
    char name[32];
    if (w->told.at == 0) {
        w->told.at = w->now + SECONDS(1) + draw(w, SECONDS(2));
        for (size_t i = 0; i < w->n; i++)
            w->told.there[i] = w->node[i].up && !w->node[i].cut;
    }
    if (w->told.at > w->now)
        return;
    w->told.at = 0;
    for (size_t i = 0; i < w->n; i++) {
        snprintf(name, sizeof name, "n%zu@host", i);
        for (uint64_t times = w->told.there[i] * (1 + draw(w, 2)); times > 0; times--)
            assert_int_equal(members_heard(&w->m, name, w->now), 0);
        if (w->told.there[i] && w->which[i] == 0) {
            w->number[w->m.n - 1] = i;
            w->which[i] = w->m.n;
        }
    }
}

static void begin_placing(struct world *w)
{
    size_t which;
    uint32_t attempt;
    while (members_next(&w->m, w->now, &which, &attempt)) {
        struct node *n = &w->node[number_of(w, which)];
        assert_int_equal(n->conversation, CLOSED); /* never two conversations with one node */
        assert_true(attempt > n->attempt);
        n->conversation = PLACING;
        n->attempt = attempt;
        n->broken = false;
        n->ready = w->now + STEP + draw(w, SECONDS(8));
    }
    size_t placing = 0;
    for (size_t i = 0; i < w->n; i++)
        placing += w->node[i].conversation == PLACING;
    assert_int_equal(placing, w->m.placing);
    assert_true(placing <= (w->n < 16 ? 1 : w->n / 8));
}

static void step(struct world *w)
{
    w->now += STEP;
    fire(w);
    answers(w);
    outcomes(w);
    ask(w);
    begin_placing(w);
}

static void check(struct world *w, uint64_t seed)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct node *n = &w->node[i];
        const uint64_t key = i;
        const struct aggr_entry *e = hash_get(&w->aggr.aggr[0].index, &key, sizeof key);
        const uint64_t merged = e != NULL ? e->words[0] : 0;
        if (n->conversation != OPEN || merged != n->merged || merged + n->lost != n->fired)
            fail_msg("seed %llu: n%zu of %zu: %s, merged %llu, handed over %llu, lost %llu, fired "
                     "%llu",
                     (unsigned long long)seed, i, w->n,
                     n->conversation == OPEN ? "traced" : "not traced", (unsigned long long)merged,
                     (unsigned long long)n->merged, (unsigned long long)n->lost,
                     (unsigned long long)n->fired);
    }
}

static void play(uint64_t seed)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    w->now = SECONDS(1);
    w->n = seed % 50 == 0 ? MOST : 1 + draw(w, 60);
    const unsigned steps = (w->n == MOST ? 60 : 600) * STEPS_PER_SECOND;
    members_init(&w->m);
    dif_image_init(&w->img);
    w->img.aggs = counts;
    w->img.naggs = 1;
    assert_int_equal(aggr_table_init(&w->aggr, &w->img), 0);
    for (size_t i = 0; i < w->n; i++)
        w->node[i].up = draw(w, 4) > 0;
    for (unsigned i = 0; i < steps; i++) {
        change(w);
        step(w);
    }
    for (size_t i = 0; i < w->n;
         i++) { /* all heals: then all are traced, after the longest pause */
        w->node[i].up = true;
        w->node[i].cut = false;
        w->node[i].thaws = 0;
    }
    for (unsigned i = 0; w->m.traced < w->n && i < 4000 * STEPS_PER_SECOND; i++)
        step(w);
    for (size_t i = 0; i < w->n; i++) { /* those of which the consumer has yet to learn the loss */
        struct node *n = &w->node[i];
        n->ends = n->broken ? w->now : n->ends;
    }
    for (unsigned i = 0; i < 4000 * STEPS_PER_SECOND; i++) {
        bool settled = w->m.traced == w->n;
        for (size_t k = 0; k < w->n; k++)
            settled = settled && !w->node[k].broken;
        if (settled)
            break;
        step(w);
    }
    for (size_t i = 0; i < w->n; i++) { /* the last reading */
        struct node *n = &w->node[i];
        if (n->conversation == OPEN)
            put_answer(w, (struct answer){w->now, i, n->attempt, n->sent++, n->waiting});
        n->out += n->waiting;
        n->waiting = 0;
    }
    w->now += SECONDS(60);
    answers(w);
    check(w, seed);
    aggr_table_free(&w->aggr);
    members_free(&w->m);
    free(w->answer);
    free(w);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

static void played(void **state)
{
    (void)state;
    const uint64_t first = from_environment("SEED", 0), runs = from_environment("RUNS", FIRST_RUNS);
    printf("clusters of the seeds %llu to %llu\n", (unsigned long long)first,
           (unsigned long long)(first + runs - 1));
    for (uint64_t seed = first; seed < first + runs; seed++)
        play(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(widths),
                                       cmocka_unit_test(pauses), cmocka_unit_test(forgotten),
                                       cmocka_unit_test(played)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
