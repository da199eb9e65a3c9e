/* clock.h - the monotonic clock, which measures everything except connections (wire/deadline.h): it
 * is never set, and it is the same in all processes of a machine. Also the clock of a thread, which
 * runs while the thread has a processor. */
#ifndef ET_BASE_CLOCK_H
#define ET_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns nanoseconds. */
static inline uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Returns the nanoseconds for which the calling thread has had a processor. A system call. */
static inline uint64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

#endif
