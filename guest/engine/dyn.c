/* dyn.c - the store of dynamic variables. See dyn.h for the data and the protocol. */
#include "engine/dyn.h"

#include <string.h>

#include "arch/arch.h"
#include "base/hash.h"
#include "engine/impl.h"
#include "base/size.h"

enum { FREE = 0, BUSY = 1, LIVE = 2, STATE = 3, WAYS = 8 };
enum { LOOKS = 2000, TRIES = 64 }; /* limits on waiting and on starting over */

struct slot {
    uint32_t keylen;
    uint32_t vallen;
    unsigned char val[]; /* val_size bytes rounded up to 8, then the key */
};

size_t dyn_size(struct dyn *d, uint64_t budget, uint32_t key_size, uint32_t val_size)
{
    const uint64_t slot =
        size_add(sizeof(struct slot) + size_up(val_size, 8), size_up(key_size, 8));
    const uint64_t per_slot = size_add(slot, sizeof *d->tag);
    const uint64_t per_bucket = size_add(size_mul(WAYS, per_slot), sizeof *d->guard);
    const uint64_t n = size_min(budget / per_bucket, UINT32_MAX / WAYS);
    d->key_size = key_size;
    d->val_size = val_size;
    d->nbuckets = (uint32_t)n;
    if (!size_fits(slot, &d->slot_size) || n == 0)
        return 0;
    const uint64_t guards = size_up(size_mul(n, sizeof *d->guard), 64);
    return size_add(size_mul(n, size_mul(WAYS, per_slot)), guards);
}

void dyn_place(struct dyn *d, void *memory)
{
    unsigned char *p = memory;
    d->tag = (_Atomic uint64_t *)p;
    p += (size_t)d->nbuckets * WAYS * sizeof *d->tag;
    d->guard = (_Atomic uint32_t *)p;
    p += size_up((size_t)d->nbuckets * sizeof *d->guard, 64);
    d->slot = p;
}

static struct slot *slot_at(const struct dyn *d, size_t i)
{
    return (struct slot *)(void *)(d->slot + i * d->slot_size);
}

static unsigned char *slot_key(const struct dyn *d, struct slot *s)
{
    return s->val + size_up(d->val_size, 8);
}

/* Counts work; returns false when none is left. */
static bool work(uint64_t *left, uint64_t units)
{
    bool enough = units < *left;
    *left = enough ? *left - units : 0;
    return enough;
}

/* The key's two buckets, and the hash as it appears in a tag. */
struct place {
    uint32_t bucket[2];
    uint64_t tag; /* hash in the high half, the rest 0 */
};

static struct place place_of(const struct dyn *d, uint64_t hash)
{
    uint64_t other = hash_mix(hash, 0x9fb21c651e98df25u);
    struct place p = {.tag = hash & 0xffffffff00000000u};
    p.bucket[0] = (uint32_t)((hash & 0xffffffffu) * d->nbuckets >> 32);
    p.bucket[1] = (uint32_t)((other & 0xffffffffu) * d->nbuckets >> 32);
    return p;
}

static uint64_t with_state(uint64_t tag, unsigned state)
{
    return (tag & ~(uint64_t)STATE) | state;
}

/* Returns the tag with the version advanced and this state. Versions wrap within their 30 bits. */
static uint64_t next_version(uint64_t hash_part, uint64_t tag, unsigned state)
{
    return hash_part | ((tag + (STATE + 1)) & 0xfffffffcu) | state;
}

/* Returns whether the slot holds the key, for a tag that was LIVE. The slot may change meanwhile;
 * the caller checks that. */
static bool key_is(const struct dyn *d, size_t i, const void *key, uint32_t keylen)
{
    struct slot *s = slot_at(d, i);
    return __atomic_load_n(&s->keylen, __ATOMIC_RELAXED) == keylen &&
           memcmp(slot_key(d, s), key, keylen) == 0;
}

/* Finds the key. DYN_OK: *at is its slot and *seen its LIVE tag. DYN_FULL: a slot that may be the
 * key's stayed BUSY. */
static enum dyn_result find(const struct dyn *d, uint64_t *left, const struct place *p,
                            const void *key, uint32_t keylen, size_t *at, uint64_t *seen)
{
    for (unsigned b = 0; b < 2; b++) {
        size_t first = (size_t)p->bucket[b] * WAYS;
        for (size_t i = first; i < first + WAYS; i++) {
            uint64_t tag = atomic_load_explicit(&d->tag[i], memory_order_acquire);
            for (unsigned looks = 0; (tag & STATE) == BUSY && (tag ^ p->tag) >> 32 == 0; looks++) {
                if (looks == LOOKS || !work(left, WORK_WAIT))
                    return DYN_FULL;
                arch_relax();
                tag = atomic_load_explicit(&d->tag[i], memory_order_acquire);
            }
            if ((tag & STATE) != LIVE || (tag ^ p->tag) >> 32 != 0)
                continue;
            if (!work(left, keylen / WORK_COPY + 1))
                return DYN_FULL;
            if (key_is(d, i, key, keylen)) {
                *at = i;
                *seen = tag;
                return DYN_OK;
            }
        }
        if (p->bucket[1] == p->bucket[0])
            break;
    }
    return DYN_ABSENT;
}

enum dyn_result dyn_get(struct dyn *d, uint64_t *left, const void *key, uint32_t keylen,
                        uint64_t hash, void *val, uint32_t *len)
{
    struct place p = place_of(d, hash);
    for (unsigned tries = 0; tries < TRIES; tries++) {
        size_t at;
        uint64_t seen;
        enum dyn_result r = find(d, left, &p, key, keylen, &at, &seen);
        if (r != DYN_OK)
            return r;
        struct slot *s = slot_at(d, at);
        uint32_t n = __atomic_load_n(&s->vallen, __ATOMIC_RELAXED);
        if (n > d->val_size)
            n = d->val_size;
        if (!work(left, n / WORK_COPY + keylen / WORK_COPY))
            return DYN_FULL;
        memcpy(val, s->val, n);
        bool key_held = key_is(d, at, key, keylen);
        atomic_thread_fence(memory_order_acquire);
        if (key_held && atomic_load_explicit(&d->tag[at], memory_order_relaxed) == seen) {
            *len = n;
            return DYN_OK;
        }
    }
    return DYN_FULL;
}

/* Takes the key's LIVE slot for writing: its tag becomes BUSY, and *seen is the previous tag. */
static enum dyn_result take(struct dyn *d, uint64_t *left, const struct place *p, const void *key,
                            uint32_t keylen, size_t *at, uint64_t *seen)
{
    for (unsigned tries = 0; tries < TRIES; tries++) {
        enum dyn_result r = find(d, left, p, key, keylen, at, seen);
        if (r != DYN_OK)
            return r;
        uint64_t expect = *seen;
        atomic_thread_fence(memory_order_acquire); /* the key was read before the tag is again */
        if (!atomic_compare_exchange_strong_explicit(&d->tag[*at], &expect, with_state(*seen, BUSY),
                                                     memory_order_acq_rel, memory_order_relaxed))
            continue;
        atomic_thread_fence(memory_order_release);
        return DYN_OK; /* the tag had not changed since the key was compared, so the key is still
                          there */
    }
    return DYN_FULL;
}

static void publish(struct dyn *d, size_t at, uint64_t seen, unsigned state)
{
    atomic_store_explicit(&d->tag[at], next_version(seen & 0xffffffff00000000u, seen, state),
                          memory_order_release);
}

/* Makes a FREE slot of the emptier bucket BUSY for the key. */
static bool claim(struct dyn *d, const struct place *p, size_t *at, uint64_t *seen)
{
    unsigned used[2] = {0, 0};
    for (unsigned b = 0; b < 2; b++)
        for (size_t i = 0; i < WAYS; i++)
            used[b] += (atomic_load_explicit(&d->tag[(size_t)p->bucket[b] * WAYS + i],
                                             memory_order_relaxed) &
                        STATE) != FREE;
    for (unsigned k = 0; k < 2; k++) {
        size_t first = (size_t)p->bucket[k ^ (used[1] < used[0])] * WAYS;
        for (size_t i = first; i < first + WAYS; i++) {
            uint64_t tag = atomic_load_explicit(&d->tag[i], memory_order_relaxed);
            if ((tag & STATE) != FREE)
                continue;
            uint64_t busy = p->tag | (tag & 0xfffffffcu) | BUSY;
            if (atomic_compare_exchange_strong_explicit(
                    &d->tag[i], &tag, busy, memory_order_acq_rel, memory_order_relaxed)) {
                *at = i;
                *seen = busy;
                return true;
            }
        }
    }
    return false;
}

/* Creates a slot for an absent key, with its key written, and leaves it BUSY. DYN_ABSENT: another
 * thread was faster; search again. */
static enum dyn_result insert(struct dyn *d, const struct place *p, uint32_t guard, const void *key,
                              uint32_t keylen, size_t *at, uint64_t *seen)
{
    if (!claim(d, p, at, seen))
        return DYN_FULL;
    if (!atomic_compare_exchange_strong_explicit(&d->guard[p->bucket[0]], &guard, guard + 1,
                                                 memory_order_acq_rel, memory_order_relaxed)) {
        publish(d, *at, *seen, FREE);
        return DYN_ABSENT;
    }
    atomic_thread_fence(memory_order_release);
    struct slot *s = slot_at(d, *at);
    __atomic_store_n(&s->keylen, keylen, __ATOMIC_RELAXED);
    memcpy(slot_key(d, s), key, keylen);
    return DYN_OK;
}

/* Takes the key's slot, or creates one and sets *fresh. On DYN_OK the slot is BUSY and ours. */
static enum dyn_result take_or_insert(struct dyn *d, uint64_t *left, const void *key,
                                      uint32_t keylen, uint64_t hash, size_t *at, uint64_t *seen,
                                      bool *fresh)
{
    struct place p = place_of(d, hash);
    if (keylen > d->key_size)
        return DYN_FULL;
    for (unsigned tries = 0; tries < TRIES; tries++) {
        uint32_t guard = atomic_load_explicit(&d->guard[p.bucket[0]], memory_order_acquire);
        enum dyn_result r = take(d, left, &p, key, keylen, at, seen);
        *fresh = r == DYN_ABSENT;
        if (r == DYN_ABSENT)
            r = insert(d, &p, guard, key, keylen, at, seen);
        if (r != DYN_ABSENT)
            return r;
    }
    return DYN_FULL;
}

enum dyn_result dyn_set(struct dyn *d, uint64_t *left, const void *key, uint32_t keylen,
                        uint64_t hash, const void *val, uint32_t len)
{
    size_t at;
    uint64_t seen;
    bool fresh;
    if (len > d->val_size || !work(left, len / WORK_COPY + keylen / WORK_COPY))
        return DYN_FULL;
    enum dyn_result r = take_or_insert(d, left, key, keylen, hash, &at, &seen, &fresh);
    if (r != DYN_OK)
        return r;
    struct slot *s = slot_at(d, at);
    memcpy(s->val, val, len);
    __atomic_store_n(&s->vallen, len, __ATOMIC_RELAXED);
    publish(d, at, seen, LIVE);
    return DYN_OK;
}

enum dyn_result dyn_add(struct dyn *d, uint64_t *left, const void *key, uint32_t keylen,
                        uint64_t hash, uint64_t delta, uint64_t *sum)
{
    size_t at;
    uint64_t seen, v = 0;
    bool fresh;
    enum dyn_result r = take_or_insert(d, left, key, keylen, hash, &at, &seen, &fresh);
    if (r != DYN_OK)
        return r;
    struct slot *s = slot_at(d, at);
    if (!fresh)
        memcpy(&v, s->val, sizeof v);
    v += delta;
    memcpy(s->val, &v, sizeof v);
    __atomic_store_n(&s->vallen, (uint32_t)sizeof v, __ATOMIC_RELAXED);
    publish(d, at, seen, LIVE);
    *sum = v;
    return DYN_OK;
}

enum dyn_result dyn_del(struct dyn *d, uint64_t *left, const void *key, uint32_t keylen,
                        uint64_t hash)
{
    struct place p = place_of(d, hash);
    size_t at;
    uint64_t seen;
    enum dyn_result r = take(d, left, &p, key, keylen, &at, &seen);
    if (r == DYN_OK)
        publish(d, at, seen, FREE);
    return r;
}
