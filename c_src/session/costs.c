/* costs.c - the cost of probes in words: the reports of the option stats, and the reason why a
 * program was ended.
 *
 * A share is a part of the time that one thread could run: 100 % of scheduler 2 is all that it can
 * do. A probe's share is the sum over all threads, in percent of the same base, the busiest
 * thread's time. When a program was ended, it is instead a part of the share that exceeded the
 * limit, so that the listed parts add up to the stated total. */
#include <inttypes.h>

#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "session/session.h"
#include "util/buftext.h"
#include "util/render.h"

enum {
    PROBES = 5, /* most probes that a report lists */
    THREADS = 4,
    RESIDUE = 5 /* permille below which what remains of estimates says nothing */
};

/* The parts of a cost that belong to none of the probes that a report lists, after those: with
 * them the list adds up to the whole. */
enum part { EMULATOR, UNLISTED, UNFIRED, PARTS };
static const char *const part_names[PARTS] = {
    [EMULATOR] = "the emulator on its way to the probes and back (an estimate)",
    [UNLISTED] = "other probes",
    [UNFIRED] = "events at which none of its probes fired",
};

/* Returns ns in permille `of` another time, at most `most`. */
static uint32_t permille(uint64_t ns, uint64_t of, uint32_t most)
{
    double share = of > 0 ? (double)ns * 1000 / (double)of : 0;
    return share < most ? (uint32_t)(share + 0.5) : most;
}

static uint64_t per_second(uint64_t n, uint64_t ns)
{
    return ns > 0 ? (uint64_t)((double)n * 1e9 / (double)ns + 0.5) : 0;
}

static bool is_over(const struct tier_load *l, const struct tier_load_thread *t)
{
    return l->why == TIER_LOAD_OVERLOAD && t->number == l->over.number &&
           strcmp(t->kind, l->over.kind) == 0;
}

uint32_t report_stats_share(const struct event_cost *c, uint32_t i)
{
    const struct tier_load *l = c->load;
    const struct tier_load_thread *t = &l->thread[i];
    return is_over(l, t) ? l->permille : permille(t->ns, t->time, 1000);
}

uint32_t session_cost_part(const struct event_cost *c, uint64_t ns)
{
    const struct tier_load *l = c->load;
    if (l->why == TIER_LOAD_OVERLOAD)
        return permille((uint64_t)((double)ns * l->permille / 1000), c->public.ns, 1000);
    return l->nthreads > 0 ? permille(ns, l->thread[0].time, UINT32_MAX) : 0;
}

static void percent(struct buf *out, uint32_t permille)
{
    buf_printf(out, "%" PRIu32 ".%" PRIu32 " %%", permille / 10, permille % 10);
}

static void thread_text(const struct tier_load_thread *t, struct buf *out)
{
    buf_adds(out, t->kind);
    if (t->number > 0)
        buf_printf(out, " %" PRIu32, t->number);
}

/* Appends the probe as a description names it, without its empty parts. */
static void probe_text(const struct tier_load_probe *p, struct buf *out)
{
    if (p->mod[0] != '\0')
        buf_printf(out, "%s:%s:", p->mod, p->func);
    buf_adds(out, p->name);
}

/* Returns how many probes a report lists. */
static uint32_t listed(const struct tier_load *l)
{
    return l->nprobes < PROBES ? l->nprobes : PROBES;
}

struct parts {
    uint32_t share[PARTS]; /* as of probes */
    bool told[PARTS];      /* it is in the list */
    bool any;              /* ... and so is one of them */
};
static void parts_of(const struct event_cost *c, struct parts *parts)
{
    const struct tier_load *l = c->load;
    uint64_t probes = 0, kinds = 0;
    for (uint32_t i = 0; i < listed(l); i++)
        probes += l->probe[i].ns;
    for (uint32_t i = 0; i < l->nkinds; i++)
        kinds += l->kind[i].ns;
    const uint64_t ns[PARTS] = {[EMULATOR] = l->vm,
                                [UNLISTED] = size_left(kinds, probes),
                                [UNFIRED] = size_left(c->public.ns, kinds + l->vm)};
    parts->any = false;
    for (int i = 0; i < PARTS; i++) {
        parts->share[i] = session_cost_part(c, ns[i]);
        parts->told[i] = i == EMULATOR  ? l->vm > 0
                         : i == UNFIRED ? parts->share[i] >= RESIDUE
                                        : parts->share[i] > 0;
        parts->any = parts->any || parts->told[i];
    }
}

static void drops_text(const struct event_cost *c, struct buf *out)
{
    const struct erltrace_stats *st = &c->public;
    bool first = true;
    if (st->drops == 0) {
        buf_adds(out, ", no drops");
        return;
    }
    buf_printf(out, ", %" PRIu64 " drop%s (", st->drops, st->drops > 1 ? "s" : "");
    for (int k = 0; k < RECORD_NDROPS; k++) {
        if (c->drop[k] == 0)
            continue;
        buf_adds(out, first ? "" : ", ");
        report_drop_text((enum record_drop)k, c->drop[k], -1, "", out);
        first = false;
    }
    buf_addc(out, ')');
}

/* Appends the functions whose calls the VM counts: the most called ones, as far as the line goes.
 */
static void counted_text(const struct tier_load *l, struct buf *out)
{
    const uint32_t n = l->ncounted < PROBES ? l->ncounted : PROBES;
    if (l->functions == 0)
        return;
    buf_printf(out, "%s   %" PRIu64 " function%s counted by the VM",
               l->why == TIER_LOAD_TOTAL ? "total:" : "stats:", l->functions,
               l->functions == 1 ? "" : "s");
    for (uint32_t i = 0; i < n; i++) {
        struct buf name = BUF_INIT;
        buf_printf(&name, "%s:%s", l->counted[i].mod, l->counted[i].func);
        buf_adds(out, i > 0 ? ", " : ": ");
        buf_visible(out, buf_str(&name), name.len, false);
        buf_printf(out, " %" PRIu64 "/s", per_second(l->counted[i].calls, l->ns));
        buf_free(&name);
    }
    buf_adds(out, l->functions > n ? " ...\n" : "\n");
}

/* Appends the lines of a report, each with its newline. */
static void cost_text(const struct event_cost *c, struct buf *out)
{
    const struct erltrace_stats *st = &c->public;
    const struct tier_load *l = c->load;
    bool total = l->why == TIER_LOAD_TOTAL;
    if (total)
        buf_printf(out, "total: %" PRIu64 " event%s in %.1f s", l->fired, l->fired == 1 ? "" : "s",
                   (double)l->ns / 1e9);
    else
        buf_printf(out, "stats: %" PRIu64 " events/s", per_second(l->fired, l->ns));
    if (st->node[0] != '\0')
        buf_printf(out, " on %s", st->node);
    if (st->events > 0)
        buf_printf(out, ", %" PRIu64 " ns each", st->ns / st->events);
    for (uint32_t i = 0; i < l->nthreads && i < THREADS; i++) {
        buf_adds(out, ", ");
        percent(out, report_stats_share(c, i));
        buf_adds(out, " of ");
        thread_text(&l->thread[i], out);
        if (i == 0 && l->nthreads > 1)
            buf_adds(out, " (most)");
    }
    drops_text(c, out);
    buf_addc(out, '\n');
    struct parts parts;
    parts_of(c, &parts);
    for (uint32_t i = 0; i < listed(l) && (l->nprobes > 1 || parts.any); i++) {
        const struct tier_load_probe *p = &l->probe[i];
        buf_adds(out, total ? "total:   " : "stats:   ");
        percent(out, session_cost_part(c, p->ns));
        buf_printf(out, ", %" PRIu64 "/s, %" PRIu64 " ns each: ", per_second(p->events, l->ns),
                   p->events > 0 ? p->ns / p->events : 0);
        struct buf name = BUF_INIT;
        probe_text(p, &name);
        buf_visible(out, buf_str(&name), name.len, false);
        buf_addc(out, '\n');
        buf_free(&name);
    }
    for (int i = 0; i < PARTS; i++) {
        if (!parts.told[i])
            continue;
        buf_adds(out, total ? "total:   " : "stats:   ");
        percent(out, parts.share[i]);
        if (i == EMULATOR)
            buf_printf(out, ", %" PRIu64 " ns each", st->events > 0 ? l->vm / st->events : 0);
        buf_printf(out, ": %s\n", part_names[i]);
    }
    counted_text(l, out);
}

/* -- programs over their limit ----------------------------------------------------------------- */

static bool is_function(enum probe_kind kind)
{
    return kind >= PROBE_FN_ENTRY && kind < PROBE_FN_END;
}

static bool is_return(enum probe_kind kind)
{
    return kind == PROBE_FN_RETURN || kind == PROBE_FN_BIF_RETURN || kind == PROBE_FN_NIF_RETURN ||
           kind == PROBE_FN_EXCEPTION;
}

/* Returns advice on how to narrow the script, by what it spent most on. */
static const char *advice(const struct tier_load *l)
{
    uint64_t fn = 0, other = 0, returns = 0;
    for (uint32_t i = 0; i < l->nkinds; i++) {
        uint64_t *sum = is_function(l->kind[i].kind) ? &fn : &other;
        *sum += l->kind[i].ns;
        returns += is_return(l->kind[i].kind) ? l->kind[i].ns : 0;
    }
#define LIMIT "; -x maxload= (percent, or off) sets the limit"
    if (fn > other && l->nprobes > 2)
        return "name fewer functions: a module, or those that matter, instead of a pattern that "
               "also matches what is called all the time" LIMIT;
    if (fn > other && returns > fn / 2)
        return "leave out the return probes, or choose a function that is called less often, such "
               "as a caller of this one" LIMIT;
    if (fn > other)
        return "choose a function that is called less often, such as a caller of this one" LIMIT;
    return "these probes fire for every process: watch one, with a predicate as "
           "/copyinstr(arg0) == \"<0.91.0>\"/, or choose an event that is rarer" LIMIT;
#undef LIMIT
}

static void tell_overload(struct session *s, const struct event_cost *c)
{
    const struct tier_load *l = c->load;
    struct buf who = BUF_INIT, most = BUF_INIT;
    percent(&who, l->permille);
    buf_printf(&who, " of the %.2f s that ", (double)l->over.time / 1e9);
    thread_text(&l->over, &who);
    for (uint32_t i = 0; i < listed(l); i++) {
        const struct tier_load_probe *p = &l->probe[i];
        buf_adds(&most, i > 0 ? "; " : "");
        probe_text(p, &most);
        buf_addc(&most, ' ');
        percent(&most, session_cost_part(c, p->ns));
        buf_printf(&most, " at %" PRIu64 "/s", per_second(p->events, l->ns));
    }
    struct parts parts;
    parts_of(c, &parts);
    for (int i = 0; i < PARTS; i++) {
        if (!parts.told[i])
            continue;
        buf_adds(&most, most.len > 0 ? "; " : "");
        percent(&most, parts.share[i]);
        buf_printf(&most, " %s", part_names[i]);
    }
    diag_error(&s->diags, ET_ELIMIT, NULL, "TRACE_OVERLOAD", advice(l),
               "the trace of %s was stopped: its probes took %s could run in %d s, with "
               "%" PRIu64 " events/s in all; %s %" PRIu32 " %%",
               c->public.node, buf_str(&who), (int)(TIER_LOAD_WINDOW_NS / 1000000000),
               per_second(l->fired, l->ns),
               l->permille < l->limit
                   ? "with what other traces of the node took it was above the limit,"
                   : "the limit is",
               l->limit / 10);
    if (most.len > 0)
        diag_add(&s->diags, DIAG_NOTE, NULL, "", NULL,
                 "what cost most, in percent of the same %.2f s: %s", (double)l->over.time / 1e9,
                 buf_str(&most));
    buf_free(&who);
    buf_free(&most);
}

/* -- the sink ---------------------------------------------------------------------------------- */

void session_load(void *arg, struct tier *t, const struct tier_load *l)
{
    static const enum erltrace_stats_kind kinds[] = {
        [TIER_LOAD_STATS] = ERLTRACE_STATS_PERIOD,
        [TIER_LOAD_OVERLOAD] = ERLTRACE_STATS_OVERLOAD,
        [TIER_LOAD_TOTAL] = ERLTRACE_STATS_TOTAL,
    };
    struct session_reader *r = arg;
    struct session *s = r->s;
    const uint64_t *drop = r->tier->counts.drop;
    struct event_cost c = {.public = {.kind = kinds[l->why],
                                      .node = t->ops->target(t),
                                      .interval = l->ns,
                                      .fired = l->fired,
                                      .nthreads = l->nthreads,
                                      .nkinds = l->nkinds,
                                      .nprobes = l->nprobes,
                                      .ncounted = l->ncounted,
                                      .counted = l->functions},
                           .load = l};
    for (uint32_t i = 0; i < l->nthreads; i++) {
        c.public.events += l->thread[i].events;
        c.public.ns += l->thread[i].ns;
    }
    for (int k = 0; k < RECORD_NDROPS; k++) {
        c.drop[k] = drop[k] - (l->why == TIER_LOAD_TOTAL ? 0 : r->tier->reported[k]);
        c.public.drops += c.drop[k];
        r->tier->reported[k] = drop[k];
    }
    c.public.share = l->nthreads > 0 ? report_stats_share(&c, 0) : 0;
    if (l->why == TIER_LOAD_OVERLOAD) {
        r->tier->overload_told = true;
        tell_overload(s, &c);
    }
    buf_reset(&s->said);
    cost_text(&c, &s->said);
    c.public.message = buf_str(&s->said);
    session_tell(s, cost, &c);
    buf_free(&c.name);
}
