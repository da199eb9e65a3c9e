/* policy.c - handles a record that does not fit in its buffer: the policies switch, fill and ring.
 * No record that fits passes through here. See struct phalf in impl.h. */
#include <sched.h>
#include <string.h>

#include "engine/impl.h"

/* Limit on the bytes of a speculation that are copied on commit. */
enum { COMMIT_MOST = 128 << 10 };

/* Returns whether record_counts.recorded includes it: a fault's record is not included. */
static bool is_counted(const unsigned char *rec)
{
    return record_epid(rec) != RECORD_EPID_FAULT;
}

static uint64_t records_in(const unsigned char *p, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (; from < to; from += record_size(p + from))
        n += is_counted(p + from);
    return n;
}

void buffer_dropped(struct engine *e, struct tstate *ts, enum record_drop kind, uint64_t n)
{
    const uint32_t cpu = (uint32_t)sched_getcpu(), at = cpu < RECORD_CPUS ? cpu : RECORD_CPUS - 1;
    tcount_add(&ts->drop[kind], n);
    if (kind == RECORD_DROP_PRINCIPAL)
        atomic_fetch_add_explicit(&e->cpu_drops[at].principal, n, memory_order_relaxed);
    else if (kind == RECORD_DROP_AGGREGATION)
        atomic_fetch_add_explicit(&e->cpu_drops[at].agg, n, memory_order_relaxed);
}

/* Counts n records that found no room. */
static void lost(struct engine *e, struct tstate *ts, const struct phalf *h, uint64_t n)
{
    if (h->full == FULL_END) {
        tcount_add(&ts->filled, n);
        atomic_store_explicit(&e->exiting, 1, memory_order_relaxed);
    } else {
        buffer_dropped(e, ts, h->drop, n);
    }
}

/* Makes room for n bytes after the newest record of a ring, by whole records. */
static unsigned char *ring_room(struct tstate *ts, struct phalf *h, uint32_t n)
{
    uint64_t used = atomic_load_explicit(&h->used, memory_order_relaxed);
    if (n > h->size - used) { /* the rest of the older run comes after: drop it first */
        tcount_add(&ts->overwritten, records_in(h->data, h->oldest, h->end));
        h->oldest = 0;
        h->end = used;
        used = 0;
        atomic_store_explicit(&h->used, 0, memory_order_relaxed);
    }
    while (h->oldest < h->end && h->oldest < used + n) {
        tcount_add(&ts->overwritten, is_counted(h->data + h->oldest));
        h->oldest += record_size(h->data + h->oldest);
    }
    if (h->oldest >= h->end)
        h->oldest = h->end = 0;
    h->limit = h->end > 0 ? h->oldest : h->size;
    return h->data + used;
}

unsigned char *buffer_full(struct engine *e, struct tstate *ts, struct phalf *h, uint32_t n)
{
    if (h->full == FULL_WRAP && n <= h->size)
        return ring_room(ts, h, n);
    lost(e, ts, h, 1);
    return NULL;
}

void buffer_commit(struct exec *x, struct phalf *from, struct phalf *to)
{
    struct engine *e = x->e;
    struct tstate *ts = x->ts;
    uint64_t n = atomic_load_explicit(&from->used, memory_order_relaxed);
    uint64_t used = atomic_load_explicit(&to->used, memory_order_relaxed);
    const uint64_t units = n / (to->full == FULL_WRAP ? WORK_KEY : WORK_COPY);
    if (n > COMMIT_MOST || units > x->left)
        return; /* no thread writes it any more */
    exec_work(x, units);
    atomic_store_explicit(&from->used, 0, memory_order_relaxed);
    if (n <= to->limit - used) {
        memcpy(to->data + used, from->data, n);
        atomic_store_explicit(&to->used, used + n, memory_order_relaxed);
    } else if (to->full != FULL_WRAP) { /* all or nothing */
        lost(e, ts, to, records_in(from->data, 0, n));
    } else {
        for (uint64_t at = 0; at < n;) {
            uint32_t size = record_size(from->data + at);
            unsigned char *p = buffer_full(e, ts, to, size);
            if (p != NULL) {
                memcpy(p, from->data + at, size);
                atomic_store_explicit(&to->used, (uint64_t)(p - to->data) + size,
                                      memory_order_relaxed);
            }
            at += size;
        }
    }
}
