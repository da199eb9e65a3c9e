/* event.c - the begin and end of an event. */
#include "rt.h"

INLINE u64 half(struct kslot *k, u64 p)
{
    u32 active = *(volatile u32 *)&CTL->active;
    k->half0 = p + (active & 1 ? K(HALF2) : K(HALF));
    k->data0 = p + (active & 1 ? K(DATA2) : K(DATA));
    k->half = k->half0;
    k->data = k->data0;
    k->agg = p + (active & 2 ? K(AGG2) : K(AGG));
    k->index = p + (active & 2 ? K(INDEX2) : K(INDEX));
    k->adata = k->index + K(CELLS) * 8;
    k->record = 0;
    k->in_error = 0;
    k->thread = 0;
    k->about = 0;
    k->lower = 0;
    k->left = K(BUDGET);
    k->have = 0;
    return p;
}

/* Takes a slot of this CPU, for the probe at `entry`. Returns its place; ~0: there is none, which
 * is counted, or the trace has ended since the event began. Whoever ends it waits until the slots
 * that are taken then are left, so that END comes after all events. */
RT rt_enter(u64 entry)
{
    u64 cpu = bpf_get_smp_processor_id(), only = K(ONLY);
    if (only != ~0ul && cpu != only)
        return ~0ul;
    if (cpu < K(NCPU)) {
        u64 p = K(FIRST) + cpu * (KMEM_NESTED * K(STRIDE));
        for (int i = 0; i < KMEM_NESTED; i++) {
            struct kslot *k = SLOT(p, ~0ul);
            u64 seq = *(volatile u64 *)&k->seq;
            if ((seq & 1) == 0 && __sync_val_compare_and_swap(&k->seq, seq, seq + 1) == seq) {
                if (*(volatile u32 *)&CTL->open == 0) {
                    *(volatile u64 *)&k->seq = seq + 2;
                    return ~0ul;
                }
                COUNT(p, T_FIRED, 1, ~0ul);
                k->entry = entry;
                return half(k, p);
            }
            p += K(STRIDE);
        }
    }
    __sync_fetch_and_add(&CTL->missed, 1);
    return ~0ul;
}

/* The same for what this process fires. */
RT rt_enter_own(u64 entry)
{
    u64 p = K(LAST);
    struct kslot *k = SLOT(p, ~0ul);
    u64 seq = *(volatile u64 *)&k->seq;
    if ((seq & 1) != 0)
        return ~0ul;
    __sync_val_compare_and_swap(&k->seq, seq, seq + 1);
    COUNT(p, T_FIRED, 1, ~0ul);
    COUNT(p, T_OWN, 1, ~0ul);
    k->entry = entry;
    return half(k, p);
}

RT rt_leave(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    asm volatile("" ::: "memory");
    *(volatile u64 *)&k->seq = k->seq + 1;
    return 0;
}

/* pid and tid, uid and gid of the thread that the event is about, as the kernel's functions give
 * those of the running one: pid and tid are the kernel's own. */
RT rt_ids(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    return rt_field(k->thread, KFIELD_PID) << 32 | rt_field(k->thread, KFIELD_TID);
}

RT rt_users(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    return rt_field(k->thread, KFIELD_GID) << 32 | (u32)rt_field(k->thread, KFIELD_UID);
}

/* execname: the address of its text. */
RT rt_comm(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    u64 *w = (u64 *)(void *)k->comm;
    if (k->thread == 0)
        bpf_get_current_comm(k->comm, KMEM_COMM);
    else if (bpf_probe_read_kernel(k->comm, KMEM_COMM, (void *)rt_field(k->thread, KFIELD_COMM)) !=
             0)
        w[0] = w[1] = 0;
    /* The first zero byte, by words; what follows it is cleared. */
    for (u64 i = 0; i < 2; i++) {
        u64 v = w[i], zero = (v - 0x0101010101010101ul) & ~v & 0x8080808080808080ul;
        if (zero != 0) {
            u64 first = zero & (0 - zero); /* its highest bit, 0x80 << 8 * n */
            u64 mask = (first >> 7) - 1, n = 0;
            n += (first >> 32) != 0 ? 4 : 0;
            u64 rest = n ? first >> 32 : first;
            n += (rest >> 16) != 0 ? 2 : 0;
            rest = rest >> 16 ? rest >> 16 : rest;
            n += (rest >> 8) != 0 ? 1 : 0;
            w[i] = v & mask;
            if (i == 0)
                w[1] = 0;
            k->comm_length = i * 8 + n;
            return KMEM_TAG + p + K(KSLOT) + __builtin_offsetof(struct kslot, comm);
        }
    }
    k->comm_length = KMEM_COMM - 1;
    k->comm[KMEM_COMM - 1] = 0;
    return KMEM_TAG + p + K(KSLOT) + __builtin_offsetof(struct kslot, comm);
}

/* timestamp, walltimestamp: the same throughout a clause. */
RT rt_timestamp(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    if ((k->have & 1) == 0) {
        k->timestamp = bpf_ktime_get_ns();
        k->have |= 1;
    }
    return k->timestamp;
}

RT rt_wall(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    if ((k->have & 4) == 0) {
        k->wall = bpf_ktime_get_ns() + *(volatile u64 *)&CTL->wall;
        k->have |= 4;
    }
    return k->wall;
}

/* The place of what this CPU runs; beyond the map, if it is not counted separately. */
INLINE u64 running(void)
{
    u64 cpu = bpf_get_smp_processor_id();
    return cpu < KMEM_CPUS
               ? __builtin_offsetof(struct kctl, running) + cpu * sizeof(struct krunning)
               : ~0ul;
}

/* Notes that this CPU runs another thread from now on. */
RT rt_switched(u64 next)
{
    struct krunning *r = AT(running(), sizeof *r, 0);
    r->ran = rt_field(next, KFIELD_RAN);
    r->since = bpf_ktime_get_ns();
    return 0;
}

/* vtimestamp: for how long the thread has run; the same throughout a clause. A thread that was
 * running already has what the kernel has booked, up to its last tick. */
RT rt_vtimestamp(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    if ((k->have & 2) != 0)
        return k->vtimestamp;
    k->have |= 2;
    u64 booked = rt_task(p, KFIELD_RAN);
    struct krunning *r = AT(running(), sizeof *r, booked);
    u64 ran = r->since != 0 && k->thread == 0 ? r->ran + bpf_ktime_get_ns() - r->since : booked;
    k->vtimestamp = ran;
    return ran;
}

/* The number of the CPU's chip. */
RT rt_chip(void)
{
    u64 cpu = bpf_get_smp_processor_id();
    u64 at = __builtin_offsetof(struct kctl, chip) + cpu * 4;
    return cpu < KMEM_CPUS ? (u64)(s64)GET(int32_t, at, 0) : 0;
}
