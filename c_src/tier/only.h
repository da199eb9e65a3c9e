/* only.h - the processes that are enough for what a program needs of the VM.
 *
 * A need (enum probe_need) is restricted when every clause on every probe that has it is: its flags
 * then have to be on those processes only. */
#ifndef ET_TIER_ONLY_H
#define ET_TIER_ONLY_H

#include "tier/tier.h"

enum { ONLY_NEEDS = 32, ONLY_PIDS = 32 /* most processes of one need; more are not worth it */ };

struct only {
    uint32_t some, any; /* sets of needs: somebody has it; ... for any process */
    struct {
        uint32_t n;
        const char *pid[ONLY_PIDS];
    } need[ONLY_NEEDS]; /* by the number of its bit; borrowed from the bindings */
};

/* A program whose clauses may look at vtimestamp needs to know when every process runs. */
void only_init(struct only *o, const struct dif_image *img);
/* One clause on a probe of this kind. */
void only_add(struct only *o, enum probe_kind kind, const struct probe_pids *pids);
/* The needs that are restricted. */
uint32_t only_needs(const struct only *o);

#endif
