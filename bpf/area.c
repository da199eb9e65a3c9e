/* area.c - subroutines on memory (engine/subr/subr_memory.c). */
#include "rt.h"

/* Takes memory that lives as long as the clause; returns its place, 0 after a fault. */
INLINE u64 area(u64 p, struct kslot *k, u64 n)
{
    u64 used = k->alloca;
    if (used > K(ALLOCA_SIZE) || n > K(ALLOCA_SIZE) - used)
        return fault(k, FAULT_NOSCRATCH, 0);
    if (used == 0) {
        rt_move(p + K(BORDERS), K(CONTENT), k->nborders * 8);
        k->nborders = 0;
    }
    u64 place = rt_take(p, n), from = (place - p - K(SCRATCH)) / 8, to = k->scratch / 8;
    if (place == 0)
        return 0;
    *(volatile u64 *)AT(p + K(BORDERS) + from / 64 * 8, 8, 0) |= 1ul << (from & 63);
    *(volatile u64 *)AT(p + K(BORDERS) + to / 64 * 8, 8, 0) |= 1ul << (to & 63);
    k->nborders = to / 64 + 1;
    k->alloca = used + ((n + 7) & ~7ul);
    return place;
}

RT rt_alloca(u64 p, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    u64 place = area(p, k, n);
    return place ? KMEM_TAG + place : 0;
}

RT rt_bcopy(u64 p, u64 from, u64 to, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    return n > K(ALLOCA_SIZE) ? fault(k, FAULT_BADSIZE, n) : rt_copy(p, to, from, n);
}

RT rt_copyinto(u64 p, u64 from, u64 n, u64 to)
{
    struct kslot *k = SLOT(p, 0);
    return n > K(ALLOCA_SIZE) ? fault(k, FAULT_BADSIZE, n) : rt_copy(p, to, from, n);
}

RT rt_copyin(u64 p, u64 from, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    if (n > K(ALLOCA_SIZE))
        return fault(k, FAULT_NOSCRATCH, 0);
    if (from >> 48 == KMEM_TAG >> 48 && n > 0 &&
        (rt_room(p, from - KMEM_TAG) < n || rt_crosses(p, from - KMEM_TAG, n)))
        return fault(k, FAULT_BADADDR, from);
    u64 place = area(p, k, n);
    if (place == 0)
        return 0;
    rt_bytes(p, place, from, n);
    return k->faulted ? 0 : KMEM_TAG + place;
}

/* Writes a string into n bytes of memory, padded with zeros; NULL counts as an empty string. */
RT rt_strncpy(u64 p, u64 to, u64 addr, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    u64 mark = k->scratch, place = to - KMEM_TAG, length = 0, from = 0;
    if (addr != 0) {
        from = text(p, k, addr, ~0ul);
        k->scratch = mark;
        if (from == 0)
            return 0;
        length = k->LENGTH;
    }
    if (n > K(STRSIZE))
        n = K(STRSIZE);
    if (n == 0)
        return 0;
    if (to >> 48 != KMEM_TAG >> 48 || rt_writable(p, place) < n || rt_crosses(p, place, n))
        return fault(k, FAULT_BADADDR, to);
    if (length > n)
        length = n;
    rt_move(place, from, length);
    rt_move(place + length, K(CONTENT), n - length);
    return 0;
}

/* Returns the string in an array of n chars, which may lack its NUL. */
RT rt_strndup(u64 p, u64 addr, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = p + K(SCRATCH) + k->scratch, ours = addr >> 48 == KMEM_TAG >> 48;
    u64 room = ours ? rt_room(p, addr - KMEM_TAG) : ~0ul;
    if (room == 0)
        return fault(k, FAULT_BADADDR, addr);
    if (n > K(STRSIZE))
        n = K(STRSIZE);
    if (n > room)
        n = room;
    u64 taken = rt_take(p, n + 1);
    if (taken == 0)
        return 0;
    HIDE(n);
    if (to > K(CONTENT) || n > K(SIZE) - K(CONTENT) - 1)
        return 0;
    HIDE(to);
    HIDE(n);
    s64 got;
    if (ours)
        got = bpf_probe_read_kernel_str(MEM + to, n + 1, AT(addr - KMEM_TAG, 1, 0));
    else if ((s64)addr < 0)
        got = bpf_probe_read_kernel_str(MEM + to, n + 1, (const void *)addr);
    else
        got = bpf_probe_read_user_str(MEM + to, n + 1, (const void *)addr);
    return got > 0 ? rt_cut(p, to, 0, (u64)got - 1) : fault(k, FAULT_BADADDR, addr);
}
