/* subr.c - arithmetic that BPF lacks, and subroutines (engine/subr). The others are in
 * find.c, path.c, number.c, inet.c, json.c and area.c. Where arguments may be missing (they are ~0
 * then), another one behind them is their number. */
#include "rt.h"

RT rt_udiv(u64 p, u64 a, u64 b, u64 rem)
{
    struct kslot *k = SLOT(p, 0);
    if (b == 0)
        return fault(k, FAULT_DIVZERO, 0);
    return rem ? a % b : a / b;
}

RT rt_sdiv(u64 p, u64 a, u64 b, u64 rem)
{
    struct kslot *k = SLOT(p, 0);
    if (b == 0)
        return fault(k, FAULT_DIVZERO, 0);
    u64 x = (s64)a < 0 ? 0 - a : a, y = (s64)b < 0 ? 0 - b : b;
    if (y == 0)
        return 0;
    u64 r = rem ? x % y : x / y;
    return (s64)(rem ? a : a ^ b) < 0 ? 0 - r : r;
}

RT rt_bound(u64 p, u64 a, u64 least)
{
    struct kslot *k = SLOT(p, 0);
    return a < least ? 0 : fault(k, FAULT_BADINDEX, a);
}

RT rt_copyinstr(u64 p, u64 addr, u64 most)
{
    struct kslot *k = SLOT(p, 0);
    if (most == 0)
        most = 1;
    if (most > K(STRSIZE))
        most = K(STRSIZE);
    u64 to = text(p, k, addr, most - 1);
    return to ? KMEM_TAG + to : 0;
}

RT rt_strdup(u64 p, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = text(p, k, addr, ~0ul);
    return to ? KMEM_TAG + to : 0;
}

RT rt_strlen(u64 p, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    u64 mark = k->scratch, to = text(p, k, addr, ~0ul);
    k->scratch = mark;
    return to ? k->LENGTH : 0;
}

RT rt_strjoin(u64 p, u64 a, u64 b)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = p + K(SCRATCH) + k->scratch, most = K(STRSIZE);
    if (k->scratch > K(SCRATCH_SIZE) || most + 1 > K(SCRATCH_SIZE) - k->scratch)
        return fault(k, FAULT_NOSCRATCH, 0);
    u64 n = rt_string(p, to, most, a);
    if (k->faulted)
        return 0;
    n += rt_string(p, to + n, most - n, b);
    if (k->faulted)
        return 0;
    k->scratch += (n + 8) & ~7ul;
    return KMEM_TAG + to;
}

INLINE u64 change_case(u64 p, u64 addr, u64 from)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = text(p, k, addr, ~0ul), n = k->LENGTH;
    if (to == 0)
        return 0;
    const u64 ones = 0x0101010101010101ul, high = 0x80 * ones;
    for (u64 i = 0; i < n && i < KMEM_STRING_MOST; i += 8) { /* eight letters at a time */
        u64 w = GET(u64, to + i, 0), low = w & ~high;
        u64 least = low + (128 - from) * ones, beyond = low + (128 - from - 26) * ones;
        u64 letters = (least & ~beyond & ~w & high) >> 7;
        PUT(u64, to + i, w ^ letters * 32, 0);
    }
    return KMEM_TAG + to;
}

RT rt_toupper(u64 p, u64 addr)
{
    return change_case(p, addr, 'a');
}

RT rt_tolower(u64 p, u64 addr)
{
    return change_case(p, addr, 'A');
}

RT rt_rand(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    (void)k;
    volatile u64 *state = AT(p + K(T_RAND), 8, 0);
    u64 x = *state;
    if (x == 0)
        x = bpf_ktime_get_ns() * 0x9e3779b97f4a7c15ul | 1;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return x * 0x2545f4914f6cdd1dul >> 33;
}

RT rt_getmajor(u64 p, u64 dev)
{
    (void)p;
    return (dev & 0xffffffff) >> 20;
}

RT rt_getminor(u64 p, u64 dev)
{
    (void)p;
    return dev & 0xfffff;
}

RT rt_swap16(u64 p, u64 v)
{
    (void)p;
    return __builtin_bswap16((uint16_t)v);
}

RT rt_swap32(u64 p, u64 v)
{
    (void)p;
    return __builtin_bswap32((u32)v);
}

RT rt_swap64(u64 p, u64 v)
{
    (void)p;
    return __builtin_bswap64(v);
}
