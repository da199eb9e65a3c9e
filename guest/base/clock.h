/* clock.h - the monotonic clock, which measures everything except connections (wire/deadline.h): it
 * is never set, and it is the same in all processes of a machine. Also the clock of a thread, which
 * runs while the thread has a processor. */
#ifndef ET_BASE_CLOCK_H
#define ET_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns what a clock of the system shows, in nanoseconds. */
static inline uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Returns nanoseconds. */
static inline uint64_t monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Returns the nanoseconds for which the calling thread has had a processor. A system call. */
static inline uint64_t thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
