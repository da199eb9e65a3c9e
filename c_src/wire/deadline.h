/* deadline.h - time for deadlines, in milliseconds of CLOCK_BOOTTIME, which counts the time that
 * the machine is suspended: it does not keep in touch then either. */
#ifndef ET_WIRE_DEADLINE_H
#define ET_WIRE_DEADLINE_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t clock_ms(void)
{
    return clock_ns() / 1000000;
}

/* Returns the time until a deadline as poll wants it: never negative. */
static inline int clock_left(int64_t deadline)
{
    int64_t n = deadline - clock_ms();
    return n < 0 ? 0 : n > 3600000 ? 3600000 : (int)n;
}

#endif
