/* aggregate.c - the aggregation tables of one slot (engine/update.c), and the keys of aggregations
 * and dynamic variables.
 *
 * A key is built in the slot's key buffer, encoded as parts of records (dif/record.h), and filled
 * up with zeros to a multiple of 8 bytes, so that it can be hashed and compared by words. */
#include "rt.h"

/* Appends the text at an address to the key, after `at` bytes of it. Returns the new end. */
RT rt_key_text(u64 p, u64 at, u64 most, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = p + K(KEY) + at;
    if (at > K(KEY_SIZE))
        return 0;
    if (addr == KMEM_TAG + p + K(KSLOT) + __builtin_offsetof(struct kslot, comm) &&
        most >= KMEM_COMM) {
        u64 *w = (u64 *)(void *)k->comm;
        PUT(u32, to, (u32)k->comm_length, 0);
        PUT(u64, to + 4, w[0], 0);
        PUT(u64, to + 12, w[1], 0);
        return at + 4 + k->comm_length;
    }
    u64 n = rt_string(p, to + 4, most, addr);
    PUT(u32, to, (u32)n, 0);
    return at + 4 + n;
}

RT rt_key_bytes(u64 p, u64 at, u64 n, u64 addr)
{
    if (at > K(KEY_SIZE))
        return 0;
    rt_bytes(p, p + K(KEY) + at, addr, n);
    return at + n;
}

INLINE u64 mix(u64 h, u64 w)
{
    h = (h ^ w) * 0x9e3779b97f4a7c15ul;
    return h ^ h >> 32;
}

enum { SHORT = 64 }; /* bytes of a key that are handled without a call */

struct long_key {
    u64 p, place, n, at, h;
};

static long hash_word(u32 i, struct long_key *l)
{
    (void)i;
    l->h = mix(l->h, GET(u64, l->p + K(KEY) + l->at, 1));
    l->at += 8;
    return l->at >= l->n;
}

/* Goes on with the hash of a key of more than SHORT bytes. */
RT rt_hash_rest(u64 p, u64 n, u64 h)
{
    struct long_key l = {p, 0, n, SHORT + ZERO, h};
    bpf_loop(KMEM_KEY_MOST / 8, hash_word, &l, 0);
    return l.h;
}

/* Pads the key and returns its hash. */
INLINE u64 hashed(u64 p, u64 n, u64 seed)
{
    u64 h = seed ^ n;
    PUT(u64, p + K(KEY) + n, 0, 0);
    for (u64 i = 0; i < SHORT && i < n; i += 8)
        h = mix(h, GET(u64, p + K(KEY) + i, 0));
    if (n > SHORT)
        h = rt_hash_rest(p, n, h);
    return h ^ h >> 29;
}

INLINE u64 key_hash(u64 p, u64 n)
{
    return hashed(p, n, 0);
}

static long compare_word(u32 i, struct long_key *l)
{
    (void)i;
    l->h = GET(u64, l->place + l->at, 1) == GET(u64, l->p + K(KEY) + l->at, 1);
    l->at += 8;
    return l->h == 0 || l->at >= l->n;
}

RT rt_same_rest(u64 p, u64 place, u64 n)
{
    struct long_key l = {p, place, n, SHORT + ZERO, 1 + ZERO};
    bpf_loop(KMEM_KEY_MOST / 8, compare_word, &l, 0);
    return l.h;
}

/* Whether the key in memory at a place is this slot's; both are padded. */
INLINE u64 same(u64 p, u64 place, u64 n)
{
    for (u64 i = 0; i < SHORT && i < n; i += 8)
        if (GET(u64, place + i, 0) != GET(u64, p + K(KEY) + i, 0))
            return 0;
    return n <= SHORT || rt_same_rest(p, place, n);
}

/* Copies n bytes of the slot's key, with its padding, to a place. */
RT rt_key_copy(u64 p, u64 place, u64 n)
{
    return rt_move(place, p + K(KEY), (n + 7) & ~7ul);
}

enum { HEAD = 16, Q_ZERO = 63 };

INLINE u64 log2_of(u64 m)
{
    u64 b = 0;
    if (m >> 32) {
        b += 32;
        m >>= 32;
    }
    if (m >> 16) {
        b += 16;
        m >>= 16;
    }
    if (m >> 8) {
        b += 8;
        m >>= 8;
    }
    if (m >> 4) {
        b += 4;
        m >>= 4;
    }
    if (m >> 2) {
        b += 2;
        m >>= 2;
    }
    return b + (m >> 1);
}

INLINE u64 quantize_bucket(s64 v)
{
    if (v == 0)
        return Q_ZERO;
    if (v > 0)
        return Q_ZERO + 1 + log2_of((u64)v);
    u64 b = log2_of(0 - (u64)v);
    return b < Q_ZERO ? Q_ZERO - 1 - b : 0;
}

enum {
#define WORD_AGG(num, name, ...) AGG_##name = num,
#include "../guest/words/aggs.list"
#undef WORD_AGG
};

INLINE u64 lquantize_bucket(s64 v, volatile struct kagg *a)
{
    s64 base = a->param[0];
    u64 step = (u64)a->param[2] ?: 1, levels = (u64)(a->param[1] - base) / step;
    if (v < base)
        return 0;
    u64 i = ((u64)v - (u64)base) / step;
    return i >= levels ? levels + 1 : i + 1;
}

/* A function of its own for its loop; `agg` is the number of the aggregation. */
RT rt_llq_bucket(u64 agg, u64 value)
{
    s64 v = (s64)value;
    if (agg >= K(NAGGS))
        return 0;
    volatile struct kagg *a = AT(K(AGGS) + agg * sizeof(struct kagg), sizeof(struct kagg), 0);
    u64 factor = (u64)a->param[0], steps = (u64)a->param[3] ?: 1;
    s64 low = a->param[1], high = a->param[2];
    u64 bins = steps - steps / (factor ?: 1), side = bins * (u64)(high - low + 1), mid = side + 1;
    u64 mag = v < 0 ? 0 - (u64)v : (u64)v, start = 1, at = side;
    for (s64 i = 0; i < low && i < 64; i++)
        start *= factor;
    if (mag < start)
        return mid;
    for (s64 m = 0; m <= high - low && m < 64; m++) {
        u64 next = start * factor;
        if (mag < next) {
            /* Bins have a whole width, or the product is small. */
            u64 width = next / steps;
            at = (u64)m * bins + (width * steps == next ? (mag - start) / (width ?: 1)
                                                        : (mag - start) * steps / next);
            break;
        }
        start = next;
    }
    return v < 0 ? mid - 1 - at : mid + 1 + at;
}

/* Adds the square of a value to a number of 128 bits. */
INLINE u64 add_square(u64 place, s64 v)
{
    u64 m = v < 0 ? 0 - (u64)v : (u64)v, lo = m & 0xffffffff, hi = m >> 32;
    u64 cross = lo * hi, low = lo * lo, high = hi * hi + (cross >> 31);
    u64 shifted = cross << 33;
    low += shifted;
    high += low < shifted;
    u64 was = GET(u64, place, 0), now = was + low;
    PUT(u64, place, now, 0);
    PUT(u64, place + 8, GET(u64, place + 8, 0) + high + (now < was), 0);
    return 0;
}

INLINE u64 add(u64 place, u64 n)
{
    u64 *w = AT(place, 8, 0);
    *w += n;
    return 0;
}

/* Updates the words of an entry. */
INLINE u64 words_update(u64 agg, volatile struct kagg *a, u64 words, s64 v, u64 incr)
{
    u64 bucket;
    switch (a->func) {
    case AGG_COUNT: return add(words, 1);
    case AGG_SUM: return add(words, (u64)v);
    case AGG_MIN:
        if (v < GET(s64, words, 0))
            PUT(s64, words, v, 0);
        return 0;
    case AGG_MAX:
        if (v > GET(s64, words, 0))
            PUT(s64, words, v, 0);
        return 0;
    case AGG_AVG:
    case AGG_STDDEV:
        add(words, 1);
        add(words + 8, (u64)v);
        return a->func == AGG_STDDEV ? add_square(words + 16, v) : 0;
    case AGG_QUANTIZE: bucket = quantize_bucket(v); break;
    case AGG_LQUANTIZE: bucket = lquantize_bucket(v, a); break;
    case AGG_LLQUANTIZE: bucket = rt_llq_bucket(agg, (u64)v); break;
    default: return 0;
    }
    return bucket < a->nwords ? add(words + bucket * 8, incr) : 0;
}

/* Makes a new entry with the key; returns the place of its words, 0: there is no room. */
RT rt_entry(u64 p, u64 n, u64 agg, u64 cell, u64 high)
{
    struct kslot *k = SLOT(p, 0);
    if (agg >= K(NAGGS))
        return 0;
    volatile struct kagg *a = AT(K(AGGS) + agg * sizeof(struct kagg), sizeof(struct kagg), 0);
    u64 words = a->nwords, used = GET(u64, k->agg + K(A_USED), 0);
    u32 count = GET(u32, k->agg + K(A_COUNT), 0);
    u64 size = (HEAD + words * 8 + n + 7) & ~7ul;
    if (count >= K(CELLS) / 4 * 3 || size > K(AGG_DATA) || used > K(AGG_DATA) - size)
        return 0;
    u64 e = k->adata + used, first = a->start;
    PUT(u32, e, (u32)size, 0);
    PUT(u32, e + 4, (u32)agg, 0);
    PUT(u32, e + 8, (u32)n, 0);
    PUT(u32, e + 12, bpf_get_smp_processor_id(), 0);
    PUT(u64, e + HEAD, first, 0);
    if (words > 1)
        rt_move(e + HEAD + 8, K(CONTENT) + 64, words * 8 - 8);
    rt_key_copy(p, e + HEAD + words * 8, n);
    PUT(u64, k->index + cell * 8, high | (used / 8 + 1), 0);
    PUT(u32, k->agg + K(A_COUNT), count + 1, 0);
    PUT(u64, k->agg + K(A_USED), used + size, 0);
    return e + HEAD;
}

/* What a cell of the index says of a key: 1: the cell is free; the words of the key's entry; 0: it
 * is another key's. */
INLINE u64 cell_holds(u64 p, u64 n, u64 agg, u64 nwords, u64 data, u64 c, u64 high)
{
    if (c == 0)
        return 1;
    if ((c & 0xffffffff00000000ul) != high)
        return 0;
    u64 e = data + ((c & 0xffffffff) - 1) * 8;
    if (GET(u32, e + 4, 0) != (u32)agg || GET(u32, e + 8, 0) != (u32)n)
        return 0;
    return same(p, e + HEAD + nwords * 8, n) ? e + HEAD : 0;
}

struct cells {
    u64 p, n, agg, nwords, index, data, high, mask, cell, found;
};

static long look(u32 i, struct cells *s)
{
    (void)i;
    s->cell = (s->cell + 1) & s->mask;
    u64 c = GET(u64, s->index + s->cell * 8, 1);
    s->found = cell_holds(s->p, s->n, s->agg, s->nwords, s->data, c, s->high);
    return s->found != 0;
}

/* Goes on with the cells after `cell`: returns the cell for a new entry + 1, or, with bit 63, the
 * words of the key's entry; 0: none within KMEM_LOOKS. */
RT rt_look(u64 p, u64 n, u64 agg, u64 cell, u64 high)
{
    struct kslot *k = SLOT(p, 0);
    if (agg >= K(NAGGS))
        return 0;
    volatile struct kagg *a = AT(K(AGGS) + agg * sizeof(struct kagg), sizeof(struct kagg), 0);
    struct cells s = {p, n, agg, a->nwords, k->index, k->adata, high, K(CELLS) - 1, cell, ZERO};
    bpf_loop(KMEM_LOOKS, look, &s, 0);
    return s.found == 0 ? 0 : s.found == 1 ? s.cell + 1 : s.found | 1ul << 63;
}

/* Updates aggregation `agg` at the key of n bytes. */
RT rt_agg(u64 p, u64 n, u64 agg, u64 value, u64 incr)
{
    struct kslot *k = SLOT(p, 0);
    if (n > K(KEY_SIZE) || agg >= K(NAGGS))
        return 0;
    volatile struct kagg *a = AT(K(AGGS) + agg * sizeof(struct kagg), sizeof(struct kagg), 0);
    if (k->lower != 0 && a->func == AGG_STDDEV) { /* it may be less, and it may be more */
        k->lower = 0;
        return rt_dropped(p, DROP_UNCOUNTED, 1);
    }
    u64 h = hashed(p, n, agg + 1), high = h & 0xffffffff00000000ul, cell = h & (K(CELLS) - 1);
    u64 c = GET(u64, k->index + cell * 8, 0);
    u64 words = cell_holds(p, n, agg, a->nwords, k->adata, c, high);
    if (words <= 1) { /* not in its first cell */
        u64 to = words == 1 ? cell + 1 : rt_look(p, n, agg, cell, high);
        if ((s64)to < 0)
            words = to & ~(1ul << 63);
        else
            words = to != 0 ? rt_entry(p, n, agg, to - 1, high) : 0;
        if (words == 0)
            return rt_dropped(p, DROP_AGGREGATION, 1);
    }
    if (k->lower != 0) {
        k->lower = 0;
        PUT(u32, words - 4, GET(u32, words - 4, 0) | KMEM_LOWER, 0); /* of the entry's head */
    }
    COUNT(p, T_UPDATES, 1, 0);
    return words_update(agg, a, words, (s64)value, incr);
}
