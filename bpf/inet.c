/* inet.c - network addresses as text (engine/subr/subr_inet.c). */
#include "rt.h"

enum { FAMILY_INET6 = 10, LINK_ETHERNET = 1, LINK_INFINIBAND = 32 };
enum { ADDRESS = 24 /* bytes of scratch for an address */, GROUPS = 8 };

/* Writes a byte in decimal; returns the place behind it. */
RT rt_put_byte(u64 to, u64 v)
{
    PUT(u8, to, (u8)('0' + v / 100), 0);
    to += v > 99;
    PUT(u8, to, (u8)('0' + v / 10 % 10), 0);
    to += v > 9;
    PUT(u8, to, (u8)('0' + v % 10), 0);
    return to + 1;
}

/* Writes the bytes of an address with dots; returns the place behind it. */
RT rt_put_inet(u64 to, u64 a)
{
    for (u64 i = 0; i < 4; i++) {
        if (i > 0)
            PUT(u8, to++, '.', 0);
        to = rt_put_byte(to, GET(u8, a + i, 0));
    }
    return to;
}

/* Writes 16 bits in hexadecimal; returns the place behind it. */
RT rt_put_group(u64 to, u64 v)
{
    for (int shift = 12; shift >= 0; shift -= 4) {
        PUT(u8, to, (u8)letter(v >> shift & 15), 0);
        to += shift == 0 || v >> shift != 0;
    }
    return to;
}

/* Copies the n bytes of an address behind room for its text; returns the place of the text, 0 after
 * a fault. */
INLINE u64 address(u64 p, struct kslot *k, u64 addr, u64 n)
{
    u64 mark = k->scratch, to = rt_take(p, ADDRESS + 64);
    k->scratch = mark; /* it is not yet the program's */
    if (to != 0)
        rt_bytes(p, to + 64, addr, n);
    return k->faulted ? 0 : to;
}

RT rt_inet_ntoa(u64 p, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = address(p, k, addr, 4);
    return to ? rt_cut(p, to, 0, rt_put_inet(to, to + 64) - to) : 0;
}

struct groups {
    u64 a, n;       /* place and number of the groups */
    u64 run, start; /* the longest run of zeros; GROUPS: there is none */
    u64 now;        /* zeros up to here */
    u64 at, to;     /* what is to be written, and where */
};

INLINE u64 group(u64 v)
{
    return (v & 255) << 8 | v >> 8;
}

static long find_run(u32 i, struct groups *w)
{
    w->now = GET(uint16_t, w->a + 2 * i, 1) == 0 ? w->now + 1 : 0;
    if (w->now > w->run) {
        w->run = w->now;
        w->start = i + 1 - w->now;
    }
    return 0;
}

static long put_group(u32 i, struct groups *w)
{
    (void)i;
    u64 at = w->at, to = w->to;
    if (at >= w->n)
        return 1;
    if (at == w->start) {
        PUT(uint16_t, to, ':' << 8 | ':', 1);
        w->to = to + 2;
        w->at = at + w->run;
        return 0;
    }
    if (at != 0 && at != w->start + w->run)
        PUT(u8, to++, ':', 1);
    w->to = rt_put_group(to, group(GET(uint16_t, w->a + 2 * at, 1)));
    w->at = at + 1;
    return 0;
}

/* Returns whether the last four bytes of an IPv6 address are an IPv4 address. */
INLINE u64 holds_inet(u64 a)
{
    u64 last = GET(u64, a + 8, 0);
    if (GET(u64, a, 0) != 0 || (last & 0xffff) != 0)
        return 0;
    u64 middle = last >> 16 & 0xffff, high = last >> 32 & 0xffff;
    return middle == 0xffff || (middle == 0 && (high != 0 || group(last >> 48) > 1));
}

RT rt_inet6(u64 p, u64 addr, u64 strict)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = address(p, k, addr, 16), a = to + 64;
    if (to == 0)
        return 0;
    u64 inet = strict != 0 && holds_inet(a);
    struct groups w = {a, GROUPS - 2 * inet, ZERO, ANY(GROUPS), ZERO, ZERO, ANY(to)};
    bpf_loop((u32)w.n, find_run, &w, 0);
    bpf_loop((u32)w.n, put_group, &w, 0);
    u64 end = w.to;
    if (inet) {
        if (w.start + w.run < w.n)
            PUT(u8, end++, ':', 0);
        end = rt_put_inet(end, a + 12);
    }
    return rt_cut(p, to, 0, end - to);
}

RT rt_inet_ntoa6(u64 p, u64 addr, u64 strict, u64 nargs)
{
    return rt_inet6(p, addr, nargs > 1 && strict != 0);
}

RT rt_inet_ntop(u64 p, u64 family, u64 addr)
{
    return (u32)family == FAMILY_INET6 ? rt_inet6(p, addr, 1) : rt_inet_ntoa(p, addr);
}

struct link {
    u64 to, a;
};

static long put_link(u32 i, struct link *w)
{
    u64 v = GET(u8, w->a + i, 1);
    PUT(u8, w->to, (u8)letter(v >> 4), 1);
    PUT(u8, w->to + 1, (u8)letter(v & 15), 1);
    PUT(u8, w->to + 2, ':', 1);
    w->to += 3;
    return 0;
}

RT rt_link_ntop(u64 p, u64 type, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    u64 n = (u32)type == LINK_ETHERNET ? 6 : (u32)type == LINK_INFINIBAND ? 20 : 0;
    if (n == 0)
        return fault(k, FAULT_ILLOP, 0);
    u64 to = address(p, k, addr, n);
    struct link w = {ANY(to), to + 64};
    if (to == 0)
        return 0;
    bpf_loop((u32)n, put_link, &w, 0);
    return rt_cut(p, to, 0, n * 3 - 1);
}
