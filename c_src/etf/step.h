/* step.h - the primitive reads from which this room decodes terms. Private to this room. Each
 * checks the end first. */
#ifndef ET_ETF_STEP_H
#define ET_ETF_STEP_H

#include "etf/etf.h"

static inline const uint8_t *take(struct etf *r, size_t n)
{
    if (r->bad || (size_t)(r->end - r->p) < n) {
        r->bad = true;
        return NULL;
    }
    const uint8_t *p = r->p;
    r->p += n;
    return p;
}

/* Reads an unsigned big-endian number of n bytes, n <= 8. */
static inline uint64_t be(struct etf *r, size_t n)
{
    const uint8_t *p = take(r, n);
    uint64_t v = 0;
    if (p)
        for (size_t i = 0; i < n; i++)
            v = v << 8 | p[i];
    return v;
}

static inline uint8_t tag(struct etf *r)
{
    return (uint8_t)be(r, 1);
}

#endif
