/* size.h - arithmetic on sizes that cannot wrap.
 *
 * A size that somebody else states, and every size that is computed from one, goes through these.
 * Sums, products and roundings that have no room in 64 bits are SIZE_HUGE, and so is whatever is
 * computed from SIZE_HUGE by them. A chain of them is therefore checked once, at its end: nobody
 * has that much memory or room, so arena_alloc, et_malloc, buf_reserve and each comparison with a
 * bound refuse it. Differences end at 0.
 *
 *     n = size_up(size_add(size_mul(count, sizeof *v), head), 8);
 *     if (n > size_left(room, used))
 *         return NULL;
 *
 * Sizes are 64 bits wide here: they become narrower by size_fits only, which says whether they
 * could. All of this is a few instructions without a branch that is hard to predict, and may stand
 * on the way of an event. */
#ifndef ET_BASE_SIZE_H
#define ET_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "a size is a word of 64 bits");

#define SIZE_HUGE UINT64_MAX /* more than there can be */

/* a + b */
static inline uint64_t size_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_HUGE : sum;
}

/* a * b. Nothing times SIZE_HUGE is nothing. */
static inline uint64_t size_mul(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_HUGE : product;
}

/* n, or the next multiple of `to`, a power of two. */
static inline uint64_t size_up(uint64_t n, uint64_t to)
{
    return n > SIZE_HUGE - (to - 1) ? SIZE_HUGE : (n + (to - 1)) & ~(to - 1);
}

/* What is left of `room` when `used` is taken of it: 0 when that is all of it, or more. */
static inline uint64_t size_left(uint64_t room, uint64_t used)
{
    return room > used ? room - used : 0;
}

/* The smaller of the two: n cut at a bound. */
static inline uint64_t size_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether `n` from `start` on lie within `of`. */
static inline bool size_within(uint64_t start, uint64_t n, uint64_t of)
{
    return start <= of && n <= of - start;
}

/* Puts n into 32 bits; false, and *to is as it was, when it needs more. */
static inline bool size_fits(uint64_t n, uint32_t *to)
{
    if (n > UINT32_MAX)
        return false;
    *to = (uint32_t)n;
    return true;
}

#endif
