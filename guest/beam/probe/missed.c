/* missed.c - see missed.h.
 *
 * A slot is one word, the function's key in the upper bits and its calls in the lower ones, so that
 * both are read and written in one step: a call is either counted for its own function, or not in
 * this slot at all. */
#include "beam/probe/missed.h"

#include <stdatomic.h>

#include "base/hash.h"

enum {
    SLOTS = 1 << 13,
    WINDOW = 16,
    CALL_BITS = 24, /* a function with more calls takes another slot */
    TRIES = 64      /* attempts to count a call in a slot in which other threads count, too */
};
#define CALLS (((uint64_t)1 << CALL_BITS) - 1)

static _Atomic uint64_t slot[SLOTS]; /* 0: free */
static _Atomic uint64_t beyond;

/* Returns a key that has no bits where the calls are, and is never 0. (Atoms and arities are small
 * numbers: one round of mixing leaves many bits equal.) */
static uint64_t key_of(uint64_t m, uint64_t f, uint32_t arity)
{
    uint64_t k = hash_mix(m ^ 0x9e3779b97f4a7c15u, f ^ (uint64_t)arity << 48);
    k = hash_mix(k ^ 0xe7037ed1a0b428dbu, 0xa0761d6478bd642fu) & ~CALLS;
    return k ? k : CALLS + 1;
}

static uint32_t place(uint64_t key, uint32_t i)
{
    return ((uint32_t)(key >> CALL_BITS) + i) & (SLOTS - 1);
}

void missed_call(uint64_t m, uint64_t f, uint32_t arity)
{
    uint64_t key = key_of(m, f, arity);
    uint32_t tries = 0;
    for (uint32_t i = 0; i < WINDOW; i++) {
        _Atomic uint64_t *at = &slot[place(key, i)];
        uint64_t have = atomic_load_explicit(at, memory_order_relaxed);
        while ((have == 0 || ((have & ~CALLS) == key && (have & CALLS) < CALLS)) && tries++ < TRIES)
            if (atomic_compare_exchange_weak_explicit(at, &have, (have ? have : key) + 1,
                                                      memory_order_relaxed, memory_order_relaxed))
                return;
    }
    atomic_fetch_add_explicit(&beyond, 1, memory_order_relaxed);
}

/* A function can have several slots: when one before its own was freed, or is full. */
uint64_t missed_take(uint64_t m, uint64_t f, uint32_t arity)
{
    uint64_t key = key_of(m, f, arity), calls = 0;
    for (uint32_t i = 0; i < WINDOW; i++) {
        _Atomic uint64_t *at = &slot[place(key, i)];
        uint64_t have = atomic_load_explicit(at, memory_order_relaxed);
        while ((have & ~CALLS) == key)
            if (atomic_compare_exchange_weak_explicit(at, &have, 0, memory_order_relaxed,
                                                      memory_order_relaxed)) {
                calls += have & CALLS;
                break;
            }
    }
    return calls;
}

uint64_t missed_beyond(void)
{
    return atomic_exchange_explicit(&beyond, 0, memory_order_relaxed);
}
