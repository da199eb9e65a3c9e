/* number.c - numbers to and from text (engine/subr/subr_num.c). */
#include "rt.h"

enum { DIGITS = 80 /* bytes of scratch for a number */ };

/* Returns a digit below 36 as a character. */
INLINE u64 letter(u64 d)
{
    return d + '0' + ((9 - d) >> 63) * ('a' - '0' - 10);
}

/* Returns what a character is as a digit, at least 36: it is none. */
INLINE u64 digit(u64 c)
{
    u64 low = (c | 32) - 'a';
    return c - '0' < 10 ? c - '0' : low < 26 ? low + 10 : 36;
}

struct digits {
    u64 at, v, base;
};

static long put_digit(u32 i, struct digits *w)
{
    (void)i;
    w->at--;
    PUT(u8, w->at, (u8)letter(w->v % w->base), 1);
    w->v /= w->base;
    return w->v == 0;
}

RT rt_lltostr(u64 p, u64 v, u64 base, u64 nargs)
{
    struct kslot *k = SLOT(p, 0);
    if (nargs < 2)
        base = 10;
    if (base - 2 > 36 - 2)
        return fault(k, FAULT_ILLOP, 0);
    u64 to = rt_take(p, DIGITS), negative = base == 10 && (s64)v < 0;
    if (to == 0)
        return 0;
    struct digits w = {ANY(to + DIGITS), ANY(negative ? 0 - v : v), base};
    bpf_loop(64, put_digit, &w, 0);
    u64 at = w.at, first = GET(u8, at, 0);
    if (base == 16)
        PUT(u8, --at, 'x', 0);
    if (base == 16 || (base == 8 && first != '0'))
        PUT(u8, --at, '0', 0);
    if (negative)
        PUT(u8, --at, '-', 0);
    u64 n = to + DIGITS - at;
    return rt_cut(p, to, at - to, n < K(STRSIZE) ? n : K(STRSIZE));
}

static long take_blank(u32 i, struct digits *w)
{
    (void)i;
    u64 c = GET(u8, w->at, 1), blank = c == ' ' || c - '\t' < 5;
    w->at += blank;
    return !blank;
}

static long take_digit(u32 i, struct digits *w)
{
    (void)i;
    u64 d = digit(GET(u8, w->at, 1));
    if (d >= w->base)
        return 1;
    w->v = w->v * w->base + d;
    w->at++;
    return 0;
}

/* A text ends with a NUL, which is no digit. */
RT rt_strtoll(u64 p, u64 addr, u64 base, u64 nargs)
{
    struct kslot *k = SLOT(p, 0);
    if (nargs < 2)
        base = 10;
    if (base - 2 > 36 - 2)
        return fault(k, FAULT_ILLOP, 0);
    u64 mark = k->scratch, s = text(p, k, addr, ~0ul);
    k->scratch = mark;
    if (s == 0)
        return 0;
    struct digits w = {ANY(s), ZERO, base};
    bpf_loop(KMEM_STRING_MOST, take_blank, &w, 0);
    u64 c = GET(u8, w.at, 0), negative = c == '-';
    w.at += c == '-' || c == '+';
    if (base == 16 && GET(u8, w.at, 0) == '0' && (GET(u8, w.at + 1, 0) | 32) == 'x' &&
        digit(GET(u8, w.at + 2, 0)) < 16)
        w.at += 2;
    w.at = ANY(w.at);
    bpf_loop(KMEM_STRING_MOST, take_digit, &w, 0);
    return negative ? 0 - w.v : w.v;
}
