/* vm_clock.c - the vm tier: asks the node what its clocks show. cluster/clocks.h makes of the
 * answers how far they are ahead of ours.
 *
 * At most one question is pending at any time. */
#include "base/clock.h"
#include "etf/write.h"
#include "tier/vm.h"

enum { ANSWER_MS = 30000 }; /* for an agent that is busy with another consumer */

static struct cluster_reading read_ours(void)
{
    struct cluster_reading r;
    r.before = (int64_t)monotonic_ns();
    r.wall = (int64_t)clock_ns(CLOCK_REALTIME);
    r.after = (int64_t)monotonic_ns();
    return r;
}

int vm_clock_ask(struct vm *v, struct diags *d)
{
    struct buf x = BUF_INIT;
    agent_begin(&v->agent, &x, &v->clock_id);
    etf_put_atom(&x, "clock");
    v->clock_asked = (int64_t)monotonic_ns();
    return agent_send(&v->agent, &x, d);
}

/* An answer that no clocks could give is left out, as far as the numbers are concerned. */
int vm_clock_heard(struct vm *v, struct etf *reply, uint32_t arity, struct diags *d)
{
    struct cluster_answer a = {.asked = v->clock_asked, .here = read_ours()};
    v->clock_id = 0;
    if (arity != 1 || etf_tuple(reply) != 3)
        reply->bad = true;
    a.there.before = etf_int(reply);
    a.there.wall = etf_int(reply);
    a.there.after = etf_int(reply);
    if (reply->bad)
        return agent_malformed(&v->agent, "clock", d);
    cluster_clock_add(&v->clock, &a);
    return 0;
}

int vm_clock_begin(struct vm *v, struct diags *d)
{
    struct etf r;
    uint32_t arity;
    int e = 0;
    for (int i = 0; i < CLUSTER_FIRST_ANSWERS && e == 0; i++) {
        e = vm_clock_ask(v, d);
        if (e == 0)
            e = agent_answer(&v->agent, v->clock_id, ANSWER_MS, &r, &arity, d);
        if (e == 0)
            e = vm_clock_heard(v, &r, arity, d);
    }
    return e;
}

int vm_clock(struct tier *t, struct cluster_ahead *out, struct diags *d)
{
    struct vm *v = vm_of(t);
    int e = 0;
    if (v->clock.n == 0 && !v->lost && v->records_at == 0 && v->clock_id == 0)
        e = vm_clock_begin(v, d);
    *out = cluster_clock_at(&v->clock, (int64_t)monotonic_ns());
    return e;
}
