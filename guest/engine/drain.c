/* drain.c - reads what the threads of an engine gathered: flips halves, copies them out in whole
 * records, and empties them. No thread that fires calls any of this. */
#include "engine/engine.h"

#include <string.h>
#include <sys/mman.h>

#include "base/size.h"
#include "engine/impl.h"

enum { ZERO_LARGE = 4 << 20 };

/* Returns the kinds in `what` that may be read now. */
static unsigned open_kinds(const struct engine *e, unsigned what)
{
    bool at_end = e->opt.policy != RECORD_POLICY_SWITCH && engine_phase(e) != ENGINE_STOPPED;
    return at_end ? what & ~(unsigned)RECORD_PRINCIPAL : what;
}

/* What one thread holds of one kind in one half, as seen by the reader. */
struct half {
    unsigned char *data;
    uint64_t used;
    uint64_t *drained;
};

static struct half half_of(struct tstate *ts, unsigned kind, unsigned which)
{
    if (!tstate_live(ts))
        return (struct half){NULL, 0, NULL};
    if (kind == RECORD_PRINCIPAL) {
        struct phalf *h = &ts->principal[which];
        if (h->end > 0) /* the older run of a ring */
            return (struct half){h->data + h->oldest, h->end - h->oldest, &h->drained};
        return (struct half){h->data, atomic_load_explicit(&h->used, memory_order_relaxed),
                             &h->drained};
    }
    struct ahalf *h = &ts->aggs[which];
    return (struct half){h->data, atomic_load_explicit(&h->used, memory_order_relaxed),
                         &h->drained};
}

/* Zeroes memory of the mapping. Pages of a large piece, which may never have been touched, are
 * returned to the system instead, unless they are somebody else's. */
static void make_zero(const struct engine *e, unsigned char *p, size_t n)
{
    size_t before = n, inner = 0;
    if (n >= ZERO_LARGE && e->opt.place == NULL)
        inner = page_inside((uintptr_t)p, n, page_size(), &before);
    if (inner > 0 && madvise(p + before, inner, MADV_DONTNEED) != 0)
        memset(p + before, 0, inner);
    memset(p, 0, before);
    memset(p + before + inner, 0, n - before - inner);
}

/* Empties the half that half_of described. */
static void half_reset(const struct engine *e, struct tstate *ts, unsigned kind, unsigned which)
{
    if (kind == RECORD_PRINCIPAL) {
        struct phalf *h = &ts->principal[which];
        h->drained = 0;
        if (h->end > 0) /* continue with the newer run */
            h->oldest = h->end = 0;
        else
            atomic_store_explicit(&h->used, 0, memory_order_relaxed);
        return;
    }
    struct ahalf *h = &ts->aggs[which];
    make_zero(e, (unsigned char *)h->index, e->index_cells * sizeof *h->index);
    h->round += 2;
    h->count = 0;
    h->drained = 0;
    atomic_store_explicit(&h->used, 0, memory_order_relaxed);
}

/* Returns the bit set of the speculations that were committed or discarded and are not free yet. */
static uint32_t specs_ended(const struct engine *e)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < e->nspec; i++)
        bits |= (uint32_t)(atomic_load(&e->spec[i]) >= SPEC_COMMITTED) << i;
    return bits;
}

bool engine_pending(const struct engine *e, unsigned what)
{
    const unsigned open = open_kinds(e, what);
    for (uint32_t i = 0; i < engine_nthreads(e); i++)
        for (unsigned kind = RECORD_PRINCIPAL; kind <= RECORD_AGGS; kind++)
            for (unsigned h = 0; (open & kind) != 0 && h < 2; h++)
                if (half_of(engine_tstate(e, i), kind, h).used > 0)
                    return true;
    return (what & RECORD_PRINCIPAL) != 0 && specs_ended(e) != 0;
}

void engine_flip(struct engine *e, unsigned what)
{
    uint32_t active = atomic_load(&e->active), bits = 0;
    for (unsigned kind = RECORD_PRINCIPAL; kind <= RECORD_AGGS; kind++) {
        bool empty = true; /* a half that still holds something must not be written again */
        for (uint32_t i = 0; i < engine_nthreads(e); i++)
            empty &= half_of(engine_tstate(e, i), kind, (active & kind) == 0).used == 0;
        if ((open_kinds(e, what) & kind) != 0 && empty)
            bits |= kind;
    }
    atomic_fetch_xor(&e->active, bits);
    if ((what & RECORD_PRINCIPAL) != 0)
        e->spec_ended |= specs_ended(e);
}

/* Copies whole records or entries from one half, until it is empty or `out` holds limit bytes. */
static void half_drain(struct half *h, unsigned kind, uint32_t thread, size_t limit,
                       struct buf *out)
{
    uint64_t from = *h->drained, to = from;
    while (to < h->used && (to == from || size_add(out->len, to - from) < limit)) {
        const uint32_t size = record_size(h->data + to);
        if (to > from && to - from + size > UINT32_MAX) /* a block has a 32-bit length */
            break;
        to += size;
    }
    if (!buf_reserve(out, size_add(RECORD_BLOCK_HEAD, to - from)))
        return;
    record_put_block(out, kind, thread, h->data + from, (uint32_t)(to - from));
    *h->drained = to;
}

/* Copies out what threads have in speculations that were committed before the last flip, and frees
 * all that had ended; returns true when that is done. */
static bool specs_drain(struct engine *e, size_t limit, struct buf *out)
{
    for (uint32_t s = 0; s < e->nspec; s++) {
        if ((e->spec_ended >> s & 1) == 0)
            continue;
        bool wanted = atomic_load(&e->spec[s]) == SPEC_COMMITTED;
        for (uint32_t i = 0; i < engine_nthreads(e); i++) {
            struct tstate *ts = engine_tstate(e, i);
            if (!tstate_live(ts))
                continue;
            struct phalf *p = &ts->spec[s];
            struct half h = {p->data, atomic_load_explicit(&p->used, memory_order_relaxed),
                             &p->drained};
            if (wanted && h.used > 0) {
                if (out->len >= limit || out->oom)
                    return false;
                half_drain(&h, RECORD_PRINCIPAL, i, limit, out);
                if (p->drained < h.used)
                    return false;
            }
            p->drained = 0;
            atomic_store_explicit(&p->used, 0, memory_order_relaxed);
        }
        e->spec_ended &= ~(1u << s);
        atomic_store(&e->spec[s], SPEC_IDLE);
    }
    return true;
}

bool engine_drain(struct engine *e, unsigned what, size_t limit, struct buf *out)
{
    uint32_t active = atomic_load(&e->active);
    for (unsigned kind = RECORD_AGGS; kind >= RECORD_PRINCIPAL; kind--) {
        for (uint32_t i = 0; (what & kind) != 0 && i < engine_nthreads(e); i++) {
            struct tstate *ts = engine_tstate(e, i);
            unsigned idle = (active & kind) == 0;
            for (struct half h; (h = half_of(ts, kind, idle)).used > 0;) {
                if (out->len >= limit || out->oom)
                    return false;
                half_drain(&h, kind, i, limit, out);
                if (*h.drained < h.used)
                    return false;
                half_reset(e, ts, kind, idle);
            }
        }
    }
    return (what & RECORD_PRINCIPAL) == 0 || specs_drain(e, limit, out);
}
