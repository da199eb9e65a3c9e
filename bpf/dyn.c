/* dyn.c - the store of dynamic variables (engine/dyn.h), by the same protocol; waits are shorter.
 *
 * The key is in the slot's key buffer, padded; the value of a slot of the store is one word, or
 * bytes. */
#include "rt.h"

enum { FREE = 0, BUSY = 1, LIVE = 2, STATE = 3, WAYS = 8 };
enum { OK, ABSENT, FULL };
enum { KEYLEN = 0, VALLEN = 4, VALUE = 8 };

INLINE u64 dyn_same(u64 p, u64 slot, u64 n)
{
    u64 s = K(DYNS) + slot * K(DYN_SIZE);
    if (GET(u32, s + KEYLEN, 0) != (u32)n)
        return 0;
    return same(p, s + VALUE + K(DYN_VALUE), n);
}

/* The two buckets of a hash. */
INLINE u64 bucket_of(u64 h, u32 which)
{
    if (which)
        h = (h ^ h >> 31) * 0x9fb21c651e98df25ul >> 16;
    return (h & 0xffffffff) * K(BUCKETS) >> 32;
}

/* Finds the key's slot: returns its number + 1, with its tag in k->kept[KMEM_ARGS + 1]; 0: absent,
 * with k->ways; ~0: a slot that may be the key's stays busy. */
RT rt_dyn_find(u64 p, u64 n, u64 h)
{
    struct kslot *k = SLOT(p, 0);
    u64 taken = 0;
    for (u32 b = 0; b < 2; b++) {
        u64 first = bucket_of(h, b) * WAYS;
        volatile u64 *tags = AT(K(TAGS) + first * 8, WAYS * 8, 0);
        for (u32 i = 0; i < WAYS; i++) {
            u64 tag = tags[i];
            taken += ((tag | tag >> 1) & 1) << 32 * b;
            if ((tag ^ h) >> 32 != 0)
                continue;
            for (u32 looks = 0; (tag & STATE) == BUSY && looks < KMEM_TRIES; looks++)
                tag = tags[i];
            if ((tag & STATE) == BUSY)
                return ~0ul;
            if ((tag & STATE) != LIVE || (tag ^ h) >> 32 != 0)
                continue;
            if (dyn_same(p, first + i, n)) {
                k->kept[KMEM_ARGS + 1] = tag;
                return first + i + 1;
            }
        }
    }
    k->ways = taken;
    return 0;
}

INLINE u64 publish(u64 slot, u64 seen, u64 state)
{
    PUT(u64, K(TAGS) + slot * 8,
        (seen & 0xffffffff00000000ul) | ((seen + STATE + 1) & 0xfffffffcu) | state, 0);
    return 0;
}

/* Takes the key's live slot: slot + 1, now busy. */
INLINE u64 dyn_take(u64 p, u64 n, u64 h)
{
    struct kslot *k = SLOT(p, 0);
    for (u32 i = 0; i < KMEM_TRIES; i++) {
        u64 at = rt_dyn_find(p, n, h);
        if (at == 0 || at == ~0ul)
            return at;
        u64 tag = k->kept[KMEM_ARGS + 1];
        u64 *t = AT(K(TAGS) + (at - 1) * 8, 8, 0);
        if (__sync_val_compare_and_swap(t, tag, (tag & ~(u64)STATE) | BUSY) == tag)
            return at;
    }
    return ~0ul;
}

/* Makes a free slot of the emptier bucket busy for the key, which has just been found absent. */
RT rt_dyn_claim(u64 p, u64 h)
{
    struct kslot *k = SLOT(p, 0);
    u32 other = (k->ways >> 32) < (u32)k->ways;
    for (u32 b = 0; b < 2; b++) {
        u64 first = bucket_of(h, b ^ other) * WAYS;
        u64 *tags = AT(K(TAGS) + first * 8, WAYS * 8, 0);
        for (u32 i = 0; i < WAYS; i++) {
            u64 *t = &tags[i], tag = *(volatile u64 *)t;
            if ((tag & STATE) != FREE)
                continue;
            u64 busy = (h & 0xffffffff00000000ul) | (tag & 0xfffffffcu) | BUSY;
            if (__sync_val_compare_and_swap(t, tag, busy) == tag) {
                k->kept[KMEM_ARGS + 1] = busy;
                return first + i + 1;
            }
        }
    }
    return 0;
}

/* Takes the key's slot, or makes one: its number; bit 63: it is new; ~0: there is no room. */
RT rt_dyn_slot(u64 p, u64 n, u64 h)
{
    struct kslot *k = SLOT(p, ~0ul);
    if (n > K(DYN_KEY))
        return ~0ul;
    for (u32 i = 0; i < KMEM_TRIES; i++) {
        u32 *guard = AT(K(GUARDS) + bucket_of(h, 0) * 4, 4, ~0ul);
        u32 was = *(volatile u32 *)guard;
        u64 at = dyn_take(p, n, h);
        if (at == ~0ul)
            return at;
        if (at != 0)
            return at - 1;
        at = rt_dyn_claim(p, h);
        if (at == 0)
            return ~0ul;
        if (__sync_val_compare_and_swap(guard, was, was + 1) == was) {
            u64 s = K(DYNS) + (at - 1) * K(DYN_SIZE), key = s + VALUE + K(DYN_VALUE);
            PUT(u32, s + KEYLEN, (u32)n, ~0ul);
            rt_key_copy(p, key, n);
            return (at - 1) | 1ul << 63;
        }
        publish(at - 1, k->kept[KMEM_ARGS + 1], FREE);
    }
    return ~0ul;
}

/* No room: the clause ends without an error. */
INLINE u64 full(struct kslot *k, u64 p)
{
    volatile u64 *c = AT(p + K(T_DROP) + DROP_DYNAMIC * 8, 8, 0);
    *c += 1;
    if (k->faulted == 0)
        k->faulted = 2;
    return 0;
}

/* The integer of the key, 0 if absent. */
RT rt_dyn_get(u64 p, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    u64 h = key_hash(p, n);
    for (u32 i = 0; i < KMEM_TRIES; i++) {
        u64 at = rt_dyn_find(p, n, h);
        if (at == 0 || at == ~0ul)
            return 0;
        at--;
        u64 tag = k->kept[KMEM_ARGS + 1];
        u64 v = GET(u64, K(DYNS) + at * K(DYN_SIZE) + VALUE, 0);
        if (GET(u64, K(TAGS) + at * 8, 0) == tag)
            return v;
    }
    return 0;
}

/* Copies the bytes of the key to scratch and returns their address. `text`: 1 for a string, NULL if
 * absent; 0 for `size` bytes, zeros if absent. */
RT rt_dyn_get_bytes(u64 p, u64 n, u64 size, u64 text)
{
    struct kslot *k = SLOT(p, 0);
    u64 h = key_hash(p, n), to = rt_take(p, K(DYN_VALUE) + 8), most = K(DYN_VALUE);
    if (to == 0)
        return 0;
    for (u32 i = 0; i < KMEM_TRIES; i++) {
        u64 at = rt_dyn_find(p, n, h);
        if (at == 0 || at == ~0ul)
            break;
        at--;
        u64 tag = k->kept[KMEM_ARGS + 1], s = K(DYNS) + at * K(DYN_SIZE);
        u64 len = GET(u32, s + VALLEN, 0);
        if (len > most)
            len = most;
        rt_move(to, s + VALUE, len);
        if (GET(u64, K(TAGS) + at * 8, 0) != tag)
            continue;
        PUT(u8, to + len, 0, 0);
        return KMEM_TAG + to;
    }
    if (text)
        return 0;
    rt_move(to, K(CONTENT) + 64, size);
    return KMEM_TAG + to;
}

RT rt_dyn_del(u64 p, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    u64 h = key_hash(p, n), at = dyn_take(p, n, h);
    if (at == ~0ul)
        return full(k, p);
    if (at != 0)
        publish(at - 1, k->kept[KMEM_ARGS + 1], FREE);
    return 0;
}

/* Sets the integer of the key; 0 frees it. */
RT rt_dyn_set(u64 p, u64 n, u64 value)
{
    struct kslot *k = SLOT(p, 0);
    if (value == 0)
        return rt_dyn_del(p, n);
    u64 at = rt_dyn_slot(p, n, key_hash(p, n));
    if (at == ~0ul)
        return full(k, p);
    at &= ~(1ul << 63);
    u64 s = K(DYNS) + at * K(DYN_SIZE);
    PUT(u64, s + VALUE, value, 0);
    PUT(u32, s + VALLEN, 8, 0);
    return publish(at, k->kept[KMEM_ARGS + 1], LIVE);
}

/* Adds to the integer of the key; a sum of 0 frees it. */
RT rt_dyn_add(u64 p, u64 n, u64 delta)
{
    struct kslot *k = SLOT(p, 0);
    u64 at = rt_dyn_slot(p, n, key_hash(p, n)), v = delta;
    if (at == ~0ul)
        return full(k, p);
    u64 fresh = at >> 63;
    at &= ~(1ul << 63);
    u64 s = K(DYNS) + at * K(DYN_SIZE);
    if (!fresh)
        v += GET(u64, s + VALUE, 0);
    PUT(u64, s + VALUE, v, 0);
    PUT(u32, s + VALLEN, 8, 0);
    publish(at, k->kept[KMEM_ARGS + 1], v == 0 ? FREE : LIVE);
    return v;
}

/* Stores a string (`size` 0) or `size` bytes at an address under the key. */
RT rt_dyn_set_bytes(u64 p, u64 n, u64 addr, u64 size)
{
    struct kslot *k = SLOT(p, 0);
    u64 mark = k->scratch, len = size;
    if (addr == 0)
        return rt_dyn_del(p, n);
    u64 from = rt_take(p, K(DYN_VALUE) + 8);
    if (from == 0)
        return 0;
    if (size == 0)
        len = rt_string(p, from, K(STRSIZE), addr);
    else
        rt_bytes(p, from, addr, size);
    k->scratch = mark;
    if (k->faulted)
        return 0;
    if (len > K(DYN_VALUE))
        len = K(DYN_VALUE);
    u64 at = rt_dyn_slot(p, n, key_hash(p, n));
    if (at == ~0ul)
        return full(k, p);
    at &= ~(1ul << 63);
    u64 s = K(DYNS) + at * K(DYN_SIZE), to = s + VALUE, tag = k->kept[KMEM_ARGS + 1];
    rt_move(to, from, len);
    PUT(u32, s + VALLEN, (u32)len, 0);
    return publish(at, tag, LIVE);
}
