/* find.c - subroutines that search a string (engine/subr/subr_find.c). */
#include "rt.h"

#define ONES 0x0101010101010101ul
#define HIGH (0x80 * ONES)

/* Returns 0x80 in each byte of v that is zero. */
INLINE u64 zeros(u64 v)
{
    return ~(((v & ~HIGH) + ~HIGH) | v | ~HIGH);
}

struct scan {
    u64 s, at, step, end; /* the next word, and where the words end */
    u64 byte, other;      /* what is searched, eight times */
    u64 mask;             /* of what counts in the next word */
    u64 hits;
};

static long scan_word(u32 i, struct scan *w)
{
    (void)i;
    w->hits = (zeros(GET(u64, w->s + w->at, 1) ^ w->byte) ^ w->other) & w->mask;
    w->mask = ~0ul;
    w->at += w->step;
    return w->hits != 0 || w->at == w->end;
}

/* Searches n bytes at a place for the byte how & 255; see FIND_LAST. Returns its index, ~0: there
 * is none. */
RT rt_find(u64 s, u64 n, u64 how)
{
    u64 last = how >> 8 & 1, tail = (n - 1) & ~7ul;
    if (n - 1 >= KMEM_STRING_MOST + 8)
        return ~0ul;
    struct scan w = {s,
                     ANY(tail * last),
                     8 - 16 * last,
                     last ? ~7ul : tail + 8,
                     (how & 255) * ONES,
                     HIGH * (how >> 9 & 1),
                     ~0ul >> (8 * (tail + 8 - n) * last & 63),
                     ZERO};
    bpf_loop(KMEM_STRING_MOST / 8 + 1, scan_word, &w, 0);
    u64 bits = w.hits;
    if (bits == 0)
        return ~0ul;
    /* As many bytes of ONES as there are up to the hit. */
    if (last) {
        bits |= bits >> 8;
        bits |= bits >> 16;
        bits |= bits >> 32;
        bits >>= 7;
    } else {
        bits = (bits & (0 - bits)) - 1;
    }
    u64 at = w.at - w.step + ((bits & ONES) * ONES >> 56) - 1;
    return at < n ? at : ~0ul;
}

struct pair {
    u64 a, b, left, differ;
};

static long same_word(u32 i, struct pair *w)
{
    (void)i;
    u64 x = GET(u64, w->a, 1) ^ GET(u64, w->b, 1);
    w->differ = w->left < 8 ? x << (8 * (8 - w->left) & 63) : x;
    w->a += 8;
    w->b += 8;
    w->left -= 8;
    return w->differ != 0;
}

/* Returns whether n bytes at two places are the same. */
RT rt_same(u64 a, u64 b, u64 n)
{
    struct pair w = {ANY(a), ANY(b), ANY(n), ZERO};
    if (n <= KMEM_STRING_MOST)
        bpf_loop((u32)((n + 7) / 8), same_word, &w, 0);
    return w.differ == 0;
}

/* A text is searched by hashes of all its parts that have the length of what is searched. Each is
 * made from the one before it: the hash of a part is the sum of its bytes, each multiplied by a
 * power of BASE. The search may go backwards; then parts are hashed backwards. */
#define BASE 0x9e3779b97f4a7c15ul

struct hashes {
    u64 s, t, step, hs, ht, power;
};

static long hash_byte(u32 i, struct hashes *w)
{
    (void)i;
    w->hs = w->hs * BASE + GET(u8, w->s, 1);
    w->ht = w->ht * BASE + GET(u8, w->t, 1);
    w->power *= BASE;
    w->s += w->step;
    w->t += w->step;
    return 0;
}

struct roll {
    u64 part, out, in, step; /* places: of the part, of the byte that it loses, and gets */
    u64 hash, wanted, power;
    u64 t, m, found;
};

static long roll(u32 i, struct roll *r)
{
    (void)i;
    if (r->hash == r->wanted && rt_same(r->part, r->t, r->m)) {
        r->found = 1;
        return 1;
    }
    r->hash = r->hash * BASE + GET(u8, r->in, 1) - GET(u8, r->out, 1) * r->power;
    r->part += r->step;
    r->out += r->step;
    r->in += r->step;
    return 0;
}

/* Searches n bytes at s for m bytes at t: from an index on, or, if `back`, from there back. Returns
 * the index, ~0: not found. */
INLINE u64 search(u64 s, u64 n, u64 t, u64 m, u64 from, u64 back)
{
    if (from > n || m > n - from || n > KMEM_STRING_MOST)
        return ~0ul;
    u64 step = 1 - 2 * back, out = s + from + back * (m - 1);
    struct hashes h = {ANY(out), ANY(t + back * (m - 1)), step, ZERO, ZERO, ANY(1)};
    bpf_loop((u32)m, hash_byte, &h, 0);
    struct roll r = {
        ANY(s + from), ANY(out), ANY(out + step * m), step, ANY(h.hs), ANY(h.ht), h.power, t, m,
        ZERO};
    bpf_loop((u32)(back ? from + 1 : n - m - from + 1), roll, &r, 0);
    return r.found ? r.part - s : ~0ul;
}

INLINE u64 from_byte(u64 p, u64 addr, u64 how)
{
    struct kslot *k = SLOT(p, 0);
    u64 mark = k->scratch, to = text(p, k, addr, ~0ul), n = k->LENGTH;
    if (to == 0)
        return 0;
    u64 at = rt_find(to, n, how);
    if (at < n)
        return rt_cut(p, to, at, n - at);
    k->scratch = mark;
    return 0;
}

RT rt_strchr(u64 p, u64 addr, u64 byte)
{
    return from_byte(p, addr, byte & 255);
}

RT rt_strrchr(u64 p, u64 addr, u64 byte)
{
    return from_byte(p, addr, FIND_LAST | (byte & 255));
}

RT rt_strstr(u64 p, u64 a, u64 b)
{
    struct kslot *k = SLOT(p, 0);
    u64 mark = k->scratch, s = text(p, k, a, ~0ul), n = k->LENGTH;
    u64 t = s ? text(p, k, b, ~0ul) : 0, m = k->LENGTH;
    k->scratch = mark;
    u64 at = t ? search(s, n, t, m, 0, 0) : ~0ul;
    return at <= n ? rt_cut(p, s, at, n - at) : 0;
}

/* Returns a position, 32-bit signed. */
INLINE s64 position(u64 v)
{
    return (s64)(v << 32) >> 32;
}

RT rt_index(u64 p, u64 a, u64 b, u64 from, u64 nargs)
{
    struct kslot *k = SLOT(p, 0);
    u64 mark = k->scratch, s = text(p, k, a, ~0ul), n = k->LENGTH;
    u64 t = s ? text(p, k, b, ~0ul) : 0, m = k->LENGTH;
    k->scratch = mark;
    s64 start = nargs > 2 ? position(from) : 0;
    return t ? search(s, n, t, m, start > 0 ? (u64)start : 0, 0) : 0;
}

RT rt_rindex(u64 p, u64 a, u64 b, u64 from, u64 nargs)
{
    struct kslot *k = SLOT(p, 0);
    u64 mark = k->scratch, s = text(p, k, a, ~0ul), n = k->LENGTH;
    u64 t = s ? text(p, k, b, ~0ul) : 0, m = k->LENGTH;
    k->scratch = mark;
    if (t == 0)
        return 0;
    s64 last = (s64)(n - m), start = nargs > 2 ? position(from) : last;
    if (start > last)
        start = last;
    return start < 0 ? ~0ul : search(s, n, t, m, (u64)start, 1);
}

RT rt_substr(u64 p, u64 addr, u64 from, u64 most, u64 nargs)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = text(p, k, addr, ~0ul);
    s64 n = (s64)k->LENGTH, at = position(from);
    s64 count = nargs > 2 ? position(most) : KMEM_STRING_MOST;
    if (to == 0)
        return 0;
    if (at < 0) {
        at += n;
        if (at < 0) {
            count = count > 0 - at ? count + at : 0;
            n = count == 0 ? 0 : n;
            at = 0;
        }
    }
    if (at > n)
        at = n;
    if (count < 0)
        count += n - at;
    if (count < 0)
        count = 0;
    if (count > n - at)
        count = n - at;
    return rt_cut(p, to, (u64)at, (u64)count);
}

struct tokens {
    u64 text, table, wanted;
    u64 at;
};

static long set_byte(u32 i, struct tokens *w)
{
    PUT(u8, w->table + GET(u8, w->text + i, 1), 1, 1);
    return 0;
}

static long token_byte(u32 i, struct tokens *w)
{
    (void)i;
    if (GET(u8, w->table + GET(u8, w->text + w->at, 1), 1) != w->wanted)
        return 1;
    w->at++;
    return 0;
}

/* The state between calls, engine's struct strtok: which firing, at, length, and then the text. */
enum { TOK_AT = 8, TOK_LENGTH = 12, TOK_TEXT = 16, TABLE = 256 };

RT rt_strtok(u64 p, u64 a, u64 b, u64 nargs)
{
    struct kslot *k = SLOT(p, 0);
    u64 mark = k->scratch, own = p + K(STRTOK) + (k->in_error ? K(STRTOK_STRIDE) : 0);
    u64 now = GET(u64, p + (k->in_error ? K(T_ERRORS) : K(T_FIRED)), 0);
    if (nargs > 1) {
        u64 from = text(p, k, a, ~0ul);
        k->scratch = mark;
        if (from == 0)
            return 0;
        rt_move(own + TOK_TEXT, from, k->LENGTH);
        PUT(u32, own + TOK_AT, 0, 0);
        PUT(u32, own + TOK_LENGTH, (u32)k->LENGTH, 0);
        PUT(u64, own, now, 0);
    } else if (GET(u64, own, 0) != now) {
        return fault(k, FAULT_BADADDR, 0);
    }
    u64 table = rt_take(p, TABLE), set = table ? text(p, k, nargs > 1 ? b : a, ~0ul) : 0;
    k->scratch = mark;
    if (set == 0)
        return 0;
    rt_move(table, K(CONTENT), TABLE);
    u64 at = GET(u32, own + TOK_AT, 0), n = GET(u32, own + TOK_LENGTH, 0);
    if (at > n || n > KMEM_STRING_MOST)
        return 0;
    struct tokens w = {set, table, 1, ANY(at)};
    bpf_loop((u32)k->LENGTH, set_byte, &w, 0);
    w.text = own + TOK_TEXT;
    bpf_loop((u32)(n - at), token_byte, &w, 0);
    u64 start = w.at;
    w.wanted = 0;
    bpf_loop((u32)(n - start), token_byte, &w, 0);
    PUT(u32, own + TOK_AT, (u32)w.at, 0);
    if (start == n)
        return 0;
    rt_move(table, own + TOK_TEXT + start, w.at - start);
    return rt_cut(p, table, 0, w.at - start);
}
