/* sampler.h - profile-N of the local tier: a thread on every CPU that fires at its times.
 *
 * A thread a CPU, bound to it, sleeps until one of the probes is due there and fires it. They run
 * from sampler_start to sampler_stop, and take no signals. Of several missed periods one firing is
 * made up for. */
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

/* CPUs that the calling thread may run on. */
uint32_t sampler_cpus(void);
/* Starts the threads, one for each of those CPUs. The engine, and what the probes point to, must
 * outlive them; the probes themselves are copied. 0 or an error with a diagnostic. */
int sampler_start(struct sampler **out, struct engine *e, const struct sampler_probe *p, uint32_t n,
                  struct diags *d);
/* Ends them and waits for that; frees s. NULL is fine. */
void sampler_stop(struct sampler *s);

/* Fires a probe on this thread. late: ns that it comes after its time, arg2. */
void sampler_fire(struct engine *e, const struct sampler_probe *p, uint64_t self, uint64_t late);

#endif
