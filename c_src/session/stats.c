/* stats.c - what probes cost, as the program's handler sees it. */
#include "session/api.h"

/* What a handler is given, and what its questions are answered from. */
struct stats {
    struct erltrace_stats public; /* first, so that one is the other */
    const struct report_stats *report;
    struct erltrace_cost cost; /* what was given last */
    struct buf name;           /* of it */
};

static struct stats *stats_of(const struct erltrace_stats *s)
{
    return (struct stats *)(void *)s;
}

static const struct erltrace_cost *cost(struct stats *s, uint64_t events, uint64_t ns,
                                        unsigned share)
{
    s->cost = (struct erltrace_cost){
        .name = buf_str(&s->name), .events = events, .ns = ns, .share = share};
    return &s->cost;
}

const struct erltrace_cost *erltrace_stats_thread(const struct erltrace_stats *s, size_t i)
{
    if (s == NULL || i >= s->nthreads)
        return NULL;
    struct stats *me = stats_of(s);
    const struct tier_load_thread *t = &me->report->load->thread[i];
    buf_reset(&me->name);
    buf_adds(&me->name, t->kind);
    if (t->number > 0)
        buf_printf(&me->name, " %u", (unsigned)t->number);
    return cost(me, t->events, t->ns, report_stats_share(me->report, (uint32_t)i));
}

const struct erltrace_cost *erltrace_stats_kind(const struct erltrace_stats *s, size_t i)
{
    if (s == NULL || i >= s->nkinds)
        return NULL;
    struct stats *me = stats_of(s);
    const struct tier_load_probe *p = &me->report->load->kind[i];
    buf_reset(&me->name);
    buf_adds(&me->name, p->name);
    return cost(me, p->events, p->ns, report_stats_part(me->report, p->ns));
}

const struct erltrace_cost *erltrace_stats_probe(const struct erltrace_stats *s, size_t i)
{
    if (s == NULL || i >= s->nprobes)
        return NULL;
    struct stats *me = stats_of(s);
    const struct tier_load_probe *p = &me->report->load->probe[i];
    buf_reset(&me->name);
    buf_printf(&me->name, "%s:%s:%s:%s", p->prov, p->mod, p->func, p->name);
    return cost(me, p->events, p->ns, report_stats_part(me->report, p->ns));
}

const struct erltrace_cost *erltrace_stats_emulator(const struct erltrace_stats *s)
{
    if (s == NULL || stats_of(s)->report->load->vm == 0)
        return NULL;
    struct stats *me = stats_of(s);
    uint64_t ns = me->report->load->vm;
    buf_reset(&me->name);
    buf_adds(&me->name, "the emulator on its way to the probes");
    return cost(me, s->events, ns, report_stats_part(me->report, ns));
}

enum session_verdict api_stats(void *arg, const struct report_stats *st)
{
    static const enum erltrace_stats_kind kinds[] = {
        [TIER_LOAD_STATS] = ERLTRACE_STATS_PERIOD,
        [TIER_LOAD_OVERLOAD] = ERLTRACE_STATS_OVERLOAD,
        [TIER_LOAD_TOTAL] = ERLTRACE_STATS_TOTAL,
    };
    erltrace_t *h = arg;
    struct buf text = BUF_INIT;
    int answer = ERLTRACE_HANDLE_OK;
    h->reported++;
    if (h->stats_fn != NULL) {
        report_stats_text(st, &text);
        struct stats s = {.public = {.kind = kinds[st->load->why],
                                     .message = buf_str(&text),
                                     .node = st->target,
                                     .interval = st->load->ns,
                                     .fired = st->load->fired,
                                     .events = st->events,
                                     .ns = st->ns,
                                     .drops = st->drops,
                                     .nthreads = st->load->nthreads,
                                     .nkinds = st->load->nkinds,
                                     .nprobes = st->load->nprobes},
                          .report = st};
        answer = h->stats_fn(&s.public, h->stats_arg);
        buf_free(&s.name);
        buf_free(&text);
    }
    return api_verdict(h, answer);
}

int erltrace_handle_stats(erltrace_t *h, erltrace_stats_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->stats_fn = fn;
    h->stats_arg = arg;
    return 0;
}
