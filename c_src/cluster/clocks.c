/* clocks.c - bounds on how far a node's clocks are ahead of ours. See clocks.h. */
#include "cluster/clocks.h"

#include <inttypes.h>
#include <string.h>

#include "util/buftext.h"

/* The largest numbers that are taken for those of clocks: 36 years since a machine began, and the
 * year 2116. No sum or difference below exceeds 64 bits with them. */
#define MONOTONIC_MAX (INT64_C(1) << 60)
#define WALL_MAX      (INT64_C(1) << 62)

static int64_t heard(const struct cluster_answer *a)
{
    return a->here.before;
}

/* The most that the node's clock was ahead when the question left. */
static int64_t most(const struct cluster_answer *a)
{
    return a->there.before - a->asked;
}

/* The least that it was ahead when the answer had come. */
static int64_t least(const struct cluster_answer *a)
{
    return a->there.after - heard(a);
}

/* Returns by how much the clocks may move apart between two times, rounded up. */
static int64_t drift(int64_t from, int64_t to)
{
    enum { PART = 1000000 / CLUSTER_DRIFT_PPM };
    const int64_t time = from < to ? to - from : from - to;
    return time / PART + (time % PART != 0);
}

/* Returns whether no clocks without a leap could have given both answers. */
static bool exclude(const struct cluster_answer *a, const struct cluster_answer *b)
{
    return least(a) - drift(heard(a), b->asked) > most(b) ||
           least(b) - drift(heard(b), a->asked) > most(a);
}

static bool is_reading(const struct cluster_reading *r)
{
    return r->before >= 0 && r->before <= r->after && r->after <= MONOTONIC_MAX && r->wall >= 0 &&
           r->wall <= WALL_MAX;
}

bool cluster_clock_add(struct cluster_clock *c, const struct cluster_answer *a)
{
    if (!is_reading(&a->there) || !is_reading(&a->here) || a->asked < 0 || a->asked > heard(a) ||
        exclude(a, a))
        return false;
    if (c->n > 0 && a->asked < heard(&c->answer[c->n - 1]))
        return false;
    for (size_t i = c->n; i > 0; i--) {
        if (!exclude(&c->answer[i - 1], a))
            continue;
        /* Answers between these two may be from either side of the leap. */
        c->n = 0;
        c->leapt = true;
        c->since = heard(a);
        break;
    }
    if (c->n == CLUSTER_ANSWERS) {
        memmove(c->answer, c->answer + 1, (CLUSTER_ANSWERS - 1) * sizeof *c->answer);
        c->n--;
    }
    c->answer[c->n++] = *a;
    return true;
}

/* Returns by how much more a node's wall clock is ahead than its monotonic clock is, as this answer
 * has it. */
static struct cluster_span wall_more(const struct cluster_answer *a)
{
    const struct cluster_reading *there = &a->there, *here = &a->here;
    return (struct cluster_span){true, (there->wall - there->after) - (here->wall - here->before),
                                 (there->wall - there->before) - (here->wall - here->after)};
}

struct cluster_ahead cluster_clock_at(const struct cluster_clock *c, int64_t at)
{
    struct cluster_ahead out = {0};
    struct cluster_span *s = &out.timestamp, *w = &out.walltimestamp;
    if (c->n == 0 || (c->leapt && at < c->since))
        return out;
    for (size_t i = 0; i < c->n; i++) {
        const struct cluster_answer *a = &c->answer[i];
        const int64_t low = least(a) - drift(heard(a), at), high = most(a) + drift(a->asked, at);
        if (i == 0 || low > s->low)
            s->low = low;
        if (i == 0 || high < s->high)
            s->high = high;
    }
    s->known = true;
    const struct cluster_answer *last = &c->answer[c->n - 1];
    if (at < heard(last))
        return out;
    *w = wall_more(last);
    w->low += s->low;
    w->high += s->high;
    return out;
}

/* -- in words ---------------------------------------------------------------------------------- */

/* The unit in which an error is a number of at most three digits. */
static const struct unit {
    const char *name;
    int64_t ns;
    int decimals; /* of seconds */
} units[] = {{"ns", 1, 9}, {"us", 1000, 6}, {"ms", 1000000, 3}, {"s", 1000000000, 0}};

/* Appends how far one clock is ahead: rounded to the unit of its error, which then covers the
 * rounding as well. The first one says of what. */
static void span_text(const char *name, bool first, const struct cluster_span *s, struct buf *out)
{
    size_t u = 0;
    if (!s->known) {
        buf_printf(out, "%s is not known", name);
        return;
    }
    while (u + 1 < sizeof units / sizeof *units && cluster_error(s) >= 1000 * units[u].ns)
        u++;
    const int64_t unit = units[u].ns, middle = cluster_offset(s);
    const int64_t half = middle < 0 ? -(unit / 2) : unit / 2, shown = (middle + half) / unit;
    const int64_t over = s->high - shown * unit, under = shown * unit - s->low;
    const int64_t error = ((over > under ? over : under) + unit - 1) / unit;
    const uint64_t size = shown < 0 ? -(uint64_t)shown : (uint64_t)shown;
    buf_printf(out, "%s is ", name);
    if (size < 1000 || units[u].decimals == 0)
        buf_printf(out, "%" PRIu64 " %s", size, units[u].name);
    else
        buf_printf(out, "%" PRIu64 ".%0*" PRIu64 " s", size / (uint64_t)(1000000000 / unit),
                   units[u].decimals, size % (uint64_t)(1000000000 / unit));
    const char *way = shown < 0 ? "behind" : first ? "ahead of" : "ahead";
    buf_printf(out, " %s%s, within %" PRId64 " %s", way, first ? " this host's" : "", error,
               units[u].name);
}

void cluster_ahead_text(const struct cluster_ahead *a, struct buf *out)
{
    span_text("timestamp", true, &a->timestamp, out);
    buf_adds(out, ", ");
    span_text("walltimestamp", !a->timestamp.known, &a->walltimestamp, out);
}
