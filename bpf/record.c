/* record.c - records, what is done with one that does not fit (engine/policy.c), and speculations.
 */
#include "rt.h"

enum { HEAD_BYTES = 24, SUB_BYTES = 4, FAULT_BYTES = 48 };
enum { FULL_DROP, FULL_END, FULL_WRAP };
enum { SPEC_IDLE, SPEC_ACTIVE, SPEC_COMMITTED, SPEC_DISCARDED };
enum { COMMIT_MOST = 128 << 10, OVERWRITES = 1 << 18 };

/* Counts n drops. */
RT rt_dropped(u64 p, u64 kind, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    (void)k;
    u32 cpu = bpf_get_smp_processor_id();
    if (kind > DROP_LOWER)
        return 0;
    volatile u64 *c = AT(p + K(T_DROP) + kind * 8, 8, 0);
    *c += n;
    if (cpu >= KMEM_CPUS)
        cpu = KMEM_CPUS - 1;
    if (kind == DROP_PRINCIPAL)
        __sync_fetch_and_add(&CTL->principal[cpu & (KMEM_CPUS - 1)], n);
    else if (kind == DROP_AGGREGATION)
        __sync_fetch_and_add(&CTL->aggs[cpu & (KMEM_CPUS - 1)], n);
    return 0;
}

/* Whether a record is one of a clause, rather than of a fault. */
INLINE u64 is_counted(u64 place)
{
    return GET(u32, place + 4, 0) != 0xffffffffu;
}

INLINE u64 size_of(u64 place)
{
    u64 n = GET(u32, place, 8);
    return n < 8 ? 8 : n;
}

struct walk {
    u64 data, from, to, n;
};

static long walk_record(u32 i, struct walk *w)
{
    (void)i;
    if (w->from >= w->to)
        return 1;
    w->n += is_counted(w->data + w->from);
    w->from += size_of(w->data + w->from);
    return 0;
}

/* Counts the records from one place of a buffer to another. */
RT rt_records_in(u64 data, u64 from, u64 to)
{
    struct walk w = {data, from, to, ZERO};
    bpf_loop(OVERWRITES, walk_record, &w, 0);
    return w.n;
}

/* Makes room for n bytes after the newest record of a ring, by whole records. Returns 1 if there is
 * room. */
RT rt_ring(u64 p, u64 half, u64 data, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    (void)k;
    u64 used = GET(u64, half + K(P_USED), 0), size = GET(u64, half + K(P_SIZE), 0);
    u64 oldest = GET(u64, half + K(P_OLDEST), 0), end = GET(u64, half + K(P_END), 0), lost = ZERO;
    oldest += ZERO;
    if (n > size)
        return 0;
    if (used > size || n > size - used) {
        lost = rt_records_in(data, oldest, end);
        oldest = ZERO;
        end = used;
        used = ZERO;
        PUT(u64, half + K(P_USED), 0, 0);
    }
    struct walk w = {data, oldest, end < used + n ? end : used + n, lost};
    bpf_loop(OVERWRITES, walk_record, &w, 0);
    oldest = w.from;
    lost = w.n;
    if (oldest >= end)
        oldest = end = 0;
    COUNT(p, T_OVERWRITTEN, lost, 0);
    PUT(u64, half + K(P_OLDEST), oldest, 0);
    PUT(u64, half + K(P_END), end, 0);
    PUT(u64, half + K(P_LIMIT), end > 0 ? oldest : size, 0);
    return 1;
}

/* Returns the place of n bytes in the buffer `half` with its data, 0: there is no room, which is
 * counted. */
RT rt_reserve(u64 p, u64 half, u64 data, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    (void)k;
    u64 used = GET(u64, half + K(P_USED), 0), limit = GET(u64, half + K(P_LIMIT), 0);
    if (used <= limit && n <= limit - used)
        return data + used;
    u32 full = GET(u32, half + K(P_FULL), 0);
    if (full == FULL_WRAP) {
        if (rt_ring(p, half, data, n))
            return data + GET(u64, half + K(P_USED), 0);
    }
    if (full == FULL_END) {
        COUNT(p, T_FILLED, 1, 0);
        CTL->exiting = 1;
        return 0;
    }
    return rt_dropped(p, GET(u32, half + K(P_DROP), 0), 1);
}

/* Begins a record of at most n bytes, of sub-clause `sub` - 1; 0: of the clause. Returns 0 when
 * there is no room. */
RT rt_record(u64 p, u64 n, u64 sub)
{
    struct kslot *k = SLOT(p, 0);
    u64 at = rt_reserve(p, k->half, k->data, n);
    if (at == 0)
        return 0;
    k->record = at;
    k->part = at + HEAD_BYTES;
    if (sub > 0) {
        PUT(u32, k->part, (u32)(sub - 1), 0);
        k->part += SUB_BYTES;
    }
    return 1;
}

INLINE u64 timestamp(struct kslot *k)
{
    if ((k->have & 1) == 0) {
        k->timestamp = bpf_ktime_get_ns();
        k->have |= 1;
    }
    return k->timestamp;
}

/* Completes the record and goes back to the principal buffer. */
RT rt_record_end(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    u64 r = k->record, bytes = k->part - r - HEAD_BYTES, size = (HEAD_BYTES + bytes + 7) & ~7ul;
    if (r == 0)
        return 0;
    u64 *used = AT(k->half + K(P_USED), 8, 0);
    /* zeros up to the end */
    for (u64 i = 0; i < 8 && HEAD_BYTES + bytes + i < size; i++)
        PUT(u8, r + HEAD_BYTES + bytes + i, 0, 0);
    PUT(u32, r, (u32)size, 0);
    PUT(u32, r + 4, k->epid, 0);
    PUT(u64, r + 8, timestamp(k), 0);
    PUT(u32, r + 16, bpf_get_smp_processor_id(), 0);
    PUT(u32, r + 20, (u32)bytes, 0);
    *used += size;
    COUNT(p, T_RECORDED, 1, 0);
    k->record = 0;
    k->half = k->half0;
    k->data = k->data0;
    return 0;
}

RT rt_part_text(u64 p, u64 most, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    u64 at = k->part, n = rt_string(p, at + 4, most, addr);
    PUT(u32, at, (u32)n, 0);
    k->part = at + 4 + n;
    return 0;
}

RT rt_part_bytes(u64 p, u64 n, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    rt_bytes(p, k->part, addr, n);
    k->part += n;
    return 0;
}

/* Reports the fault of a clause. Returns whether ERROR may fire. */
RT rt_fault(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    if (k->faulted != 1)
        return 0;
    COUNT(p, T_ERRORS, 1, 0);
    if (k->in_error) {
        volatile u64 *c = AT(p + K(T_DROP) + DROP_DBLERROR * 8, 8, 0);
        *c += 1;
        return 0;
    }
    u64 r = rt_reserve(p, k->half0, k->data0, FAULT_BYTES);
    if (r != 0) {
        PUT(u32, r, FAULT_BYTES, 1);
        PUT(u32, r + 4, 0xffffffffu, 1);
        PUT(u64, r + 8, bpf_ktime_get_ns(), 1);
        PUT(u32, r + 16, bpf_get_smp_processor_id(), 1);
        PUT(u32, r + 20, HEAD_BYTES, 1);
        PUT(u32, r + 24, k->epid, 1);
        PUT(u32, r + 28, k->action, 1);
        PUT(u32, r + 32, k->offset, 1);
        PUT(u32, r + 36, k->fault, 1);
        PUT(u64, r + 40, k->value, 1);
        u64 *used = AT(k->half0 + K(P_USED), 8, 1);
        *used += FAULT_BYTES;
    }
    return 1;
}

/* Goes over to the arguments of ERROR, whose probe is at `entry`, and back (entry 0). */
RT rt_error(u64 p, u64 entry)
{
    struct kslot *k = SLOT(p, 0);
    for (int i = 0; i < KMEM_ARGS; i++) {
        if (entry != 0)
            k->kept[i] = k->arg[i];
        else
            k->arg[i] = k->kept[i];
    }
    k->in_error = entry != 0;
    if (entry == 0) {
        k->entry = k->kept[KMEM_ARGS];
        return 0;
    }
    k->kept[KMEM_ARGS] = k->entry;
    k->entry = entry;
    k->arg[0] = 0;
    k->arg[1] = k->epid;
    k->arg[2] = k->action;
    k->arg[3] = k->offset;
    k->arg[4] = k->fault;
    k->arg[5] = k->value;
    k->arg[6] = k->arg[7] = k->arg[8] = k->arg[9] = 0;
    return 0;
}

/* -- speculations ------------------------------------------------------------------------------ */

RT rt_speculation(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    (void)k;
    u32 busy = 0;
    for (u32 i = 0; i < KMEM_SPECS && i < K(NSPEC); i++) {
        u32 s =
            __sync_val_compare_and_swap(&CTL->spec[i & (KMEM_SPECS - 1)], SPEC_IDLE, SPEC_ACTIVE);
        if (s == SPEC_IDLE)
            return i + 1;
        busy |= s == SPEC_COMMITTED || s == SPEC_DISCARDED;
    }
    volatile u64 *c = AT(p + K(T_DROP) + (busy ? DROP_SPECBUSY : DROP_SPECUNAVAIL) * 8, 8, 0);
    *c += 1;
    return 0;
}

/* The next record goes to speculation `id`. Returns 0 if that is not active. */
RT rt_speculate(u64 p, u64 id)
{
    struct kslot *k = SLOT(p, 0);
    u64 i = id - 1;
    if (i >= K(NSPEC) || i >= KMEM_SPECS)
        return 0;
    if (*(volatile u32 *)&CTL->spec[i & (KMEM_SPECS - 1)] != SPEC_ACTIVE)
        return 0;
    k->half = p + K(SPEC) + i * K(P_BYTES);
    k->data = p + K(SPEC_DATA) + i * K(SPEC_STRIDE);
    return 1;
}

/* Copies what this slot has of a speculation to the principal buffer. */
RT rt_commit(u64 p, u64 i)
{
    struct kslot *k = SLOT(p, 0);
    if (i >= KMEM_SPECS)
        return 0;
    u64 half = p + K(SPEC) + i * K(P_BYTES), data = p + K(SPEC_DATA) + i * K(SPEC_STRIDE);
    u64 n = GET(u64, half + K(P_USED), 0), used = GET(u64, k->half0 + K(P_USED), 0);
    u64 limit = GET(u64, k->half0 + K(P_LIMIT), 0), to = k->data0 + used;
    u32 full = GET(u32, k->half0 + K(P_FULL), 0);
    if (n > COMMIT_MOST || n == 0)
        return 0; /* the reader drains it */
    if (full == FULL_WRAP && (used > limit || n > limit - used))
        return 0; /* likewise */
    PUT(u64, half + K(P_USED), 0, 0);
    if (used > limit || n > limit - used) {
        u64 lost = rt_records_in(data, 0, n);
        if (full == FULL_END) {
            COUNT(p, T_FILLED, lost, 0);
            CTL->exiting = 1;
            return 0;
        }
        return rt_dropped(p, GET(u32, k->half0 + K(P_DROP), 0), lost);
    }
    for (u64 at = 0; at < COMMIT_MOST && at < n; at += 4096) {
        u64 piece = n - at > 4096 ? 4096 : n - at, d = to + at;
        HIDE(piece);
        if (piece == 0 || piece > 4096)
            break;
        bpf_probe_read_kernel(AT(d, 4096, 0), piece, AT(data + at, 1, 0));
    }
    PUT(u64, k->half0 + K(P_USED), used + n, 0);
    return 0;
}

RT rt_spec_end(u64 p, u64 id, u64 how)
{
    struct kslot *k = SLOT(p, 0);
    u64 i = id - 1;
    if (id > K(SPEC_MOST))
        return fault(k, FAULT_ILLOP, 0);
    if (i >= K(NSPEC) || i >= KMEM_SPECS)
        return 0;
    u32 s = __sync_val_compare_and_swap(&CTL->spec[i & (KMEM_SPECS - 1)], SPEC_ACTIVE, (u32)how);
    if (s == SPEC_ACTIVE && how == SPEC_COMMITTED)
        return rt_commit(p, i);
    return 0;
}
