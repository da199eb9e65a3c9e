/* dyn.h - the store of dynamic variables: a bounded map from byte strings to values, shared by all
 * threads without a lock.
 *
 * Memory is a fixed array of slots, eight to a bucket. A key may live in either of two buckets (two
 * hashes), and goes to the emptier one, so that the store fills to about nine tenths before an
 * insert finds no room. Each slot has a tag word, stored apart from the slots so that a bucket's
 * eight tags share a cache line:
 *
 *     63..32 hash of the key   31..2 version   1..0 state: FREE, BUSY, LIVE
 *
 * A thread that changes a slot first makes its tag BUSY by compare-and-swap, and publishes the slot
 * with a new version. Readers copy, then check that the tag is still the one they saw. No thread
 * waits for one that may have been preempted: after a bounded number of looks at a BUSY slot the
 * operation gives up, and the caller counts a dynamic drop.
 *
 * A key is in at most one slot: an insert first searches, then claims a slot, then advances the
 * guard of the key's first bucket from the value it had before the search. If another thread
 * inserted meanwhile, the guard has moved; the insert then releases its claim and starts over. */
#ifndef ET_ENGINE_DYN_H
#define ET_ENGINE_DYN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dyn {
    uint32_t nbuckets;
    uint32_t slot_size;      /* bytes: header, value, key, rounded up to 8 */
    uint32_t val_size;       /* bytes of the largest value */
    uint32_t key_size;       /* bytes of the largest key */
    _Atomic uint64_t *tag;   /* nbuckets * 8 */
    _Atomic uint32_t *guard; /* nbuckets */
    unsigned char *slot;     /* nbuckets * 8 * slot_size */
};

/* Returns the bytes for as many slots as `budget` holds; 0 when not even one bucket fits. Fills in
 * all members but the pointers. */
size_t dyn_size(struct dyn *d, uint64_t budget, uint32_t key_size, uint32_t val_size);
/* Places the store in zeroed memory of that size, aligned to 64. */
void dyn_place(struct dyn *d, void *memory);

/* Each of these functions counts its work, in the units of impl.h, and subtracts it from *left.
 * When that is 0 afterwards, the operation may have been abandoned for lack of it. */
enum dyn_result { DYN_OK, DYN_ABSENT, DYN_FULL /* no room, or another thread was busy too long */ };

/* Copies the value of the key to val: 8 bytes for an integer store (len 8), or as much as was
 * stored (*len says how much; val has room for val_size). DYN_ABSENT leaves val unchanged. */
enum dyn_result dyn_get(struct dyn *d, uint64_t *left, const void *key, uint32_t keylen,
                        uint64_t hash, void *val, uint32_t *len);
/* Sets the value of the key, creating it if absent. */
enum dyn_result dyn_set(struct dyn *d, uint64_t *left, const void *key, uint32_t keylen,
                        uint64_t hash, const void *val, uint32_t len);
/* Adds to the integer value of the key atomically; *sum is the new value. A sum of 0 is kept. */
enum dyn_result dyn_add(struct dyn *d, uint64_t *left, const void *key, uint32_t keylen,
                        uint64_t hash, uint64_t delta, uint64_t *sum);
/* Frees the key's slot. */
enum dyn_result dyn_del(struct dyn *d, uint64_t *left, const void *key, uint32_t keylen,
                        uint64_t hash);

#endif
