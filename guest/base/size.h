/* size.h - arithmetic on sizes that cannot wrap.
 *
 * Every size that comes from outside, and every size computed from one, goes through these
 * functions. A sum, product or rounding that does not fit in 64 bits is SIZE_HUGE, and so is
 * everything that they compute from SIZE_HUGE. A chain of them is therefore checked once, at its
 * end: no memory or room is that large, so arena_alloc, et_malloc, buf_reserve and each comparison
 * with a bound refuse it. Differences end at 0.
 *
 *     n = size_up(size_add(size_mul(count, sizeof *v), head), 8);
 *     if (n > size_left(room, used))
 *         return NULL;
 *
 * Sizes are 64 bits wide here. Only size_fits narrows them, and it says whether they fit. Each
 * function is a few instructions without a branch that is hard to predict, so it may be used at an
 * event. */
#ifndef ET_BASE_SIZE_H
#define ET_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "a size is a word of 64 bits");

#define SIZE_HUGE UINT64_MAX /* larger than any size */

/* a + b */
static inline uint64_t size_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_HUGE : sum;
}

/* a * b. Zero times SIZE_HUGE is zero. */
static inline uint64_t size_mul(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_HUGE : product;
}

/* Returns n rounded up to a multiple of `to`, a power of two. */
static inline uint64_t size_up(uint64_t n, uint64_t to)
{
    return n > SIZE_HUGE - (to - 1) ? SIZE_HUGE : (n + (to - 1)) & ~(to - 1);
}

/* Returns the part of `room` that `used` leaves: 0 when that is all of it, or more. */
static inline uint64_t size_left(uint64_t room, uint64_t used)
{
    return room > used ? room - used : 0;
}

/* Returns the smaller of the two: n limited by a bound. */
static inline uint64_t size_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns whether n bytes from `start` on lie within `of` bytes. */
static inline bool size_within(uint64_t start, uint64_t n, uint64_t of)
{
    return start <= of && n <= of - start;
}

/* Stores n in 32 bits. Returns false, and leaves *to unchanged, when n needs more. */
static inline bool size_fits(uint64_t n, uint32_t *to)
{
    if (n > UINT32_MAX)
        return false;
    *to = (uint32_t)n;
    return true;
}

#endif
