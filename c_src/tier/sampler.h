/* sampler.h - profile-N of the local tier: a thread on every CPU fires it on time.
 *
 * Each CPU has one thread, bound to it, that sleeps until a probe is due there and fires it. The
 * threads run from sampler_start to sampler_stop, and take no signals. For several missed periods,
 * one firing is made. */
#ifndef ET_TIER_SAMPLER_H
#define ET_TIER_SAMPLER_H

#include <stdint.h>

#include "base/diag.h"
#include "engine/engine.h"

struct sampler_probe {
    const struct engine_probe *identity;
    const struct engine_binding *b;
    uint32_t n;
    uint64_t period; /* ns */
};

struct sampler;

/* Returns the number of CPUs that the calling thread may run on. */
uint32_t sampler_cpus(void);
/* Starts the threads, one for each of those CPUs. The engine, and what the probes point to, must
 * outlive them; the probes themselves are copied. Returns 0 or an error with a diagnostic. */
int sampler_start(struct sampler **out, struct engine *e, const struct sampler_probe *p, uint32_t n,
                  struct diags *d);
/* Ends the threads, waits for that, and frees s. NULL is fine. */
void sampler_stop(struct sampler *s);

/* Fires a probe on this thread. late: delay after its due time in ns, arg2. */
void sampler_fire(struct engine *e, const struct sampler_probe *p, uint64_t self, uint64_t late);

#endif
