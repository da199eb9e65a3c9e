/* stats.c - the cost of probes as the program's handler sees it. */
#include "session/handle.h"
#include "util/buftext.h"

static struct event_cost *event_of(const struct erltrace_stats *s)
{
    return (struct event_cost *)(void *)s;
}

static const struct erltrace_cost *cost(struct event_cost *s, uint64_t events, uint64_t ns,
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
    struct event_cost *me = event_of(s);
    const struct tier_load_thread *t = &me->load->thread[i];
    buf_reset(&me->name);
    buf_adds(&me->name, t->kind);
    if (t->number > 0)
        buf_printf(&me->name, " %u", (unsigned)t->number);
    return cost(me, t->events, t->ns, report_stats_share(me, (uint32_t)i));
}

const struct erltrace_cost *erltrace_stats_kind(const struct erltrace_stats *s, size_t i)
{
    if (s == NULL || i >= s->nkinds)
        return NULL;
    struct event_cost *me = event_of(s);
    const struct tier_load_probe *p = &me->load->kind[i];
    buf_reset(&me->name);
    buf_adds(&me->name, p->name);
    return cost(me, p->events, p->ns, session_cost_part(me, p->ns));
}

const struct erltrace_cost *erltrace_stats_probe(const struct erltrace_stats *s, size_t i)
{
    if (s == NULL || i >= s->nprobes)
        return NULL;
    struct event_cost *me = event_of(s);
    const struct tier_load_probe *p = &me->load->probe[i];
    buf_reset(&me->name);
    buf_printf(&me->name, "%s:%s:%s:%s", p->prov, p->mod, p->func, p->name);
    return cost(me, p->events, p->ns, session_cost_part(me, p->ns));
}

const struct erltrace_cost *erltrace_stats_counted(const struct erltrace_stats *s, size_t i)
{
    if (s == NULL || i >= s->ncounted)
        return NULL;
    struct event_cost *me = event_of(s);
    const struct tier_load_counted *f = &me->load->counted[i];
    buf_reset(&me->name);
    buf_printf(&me->name, "%s:%s:%s:entry", f->prov, f->mod, f->func);
    return cost(me, f->calls, 0, 0);
}

const struct erltrace_cost *erltrace_stats_emulator(const struct erltrace_stats *s)
{
    if (s == NULL || event_of(s)->load->vm == 0)
        return NULL;
    struct event_cost *me = event_of(s);
    uint64_t ns = me->load->vm;
    buf_reset(&me->name);
    buf_adds(&me->name, "the emulator on its way to the probes");
    return cost(me, s->events, ns, session_cost_part(me, ns));
}

int erltrace_handle_stats(erltrace_t *h, erltrace_stats_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->stats_fn = fn;
    h->stats_arg = arg;
    return 0;
}
