/* only.h - the processes to which a program's needs of the VM can be restricted.
 *
 * A need (enum probe_need) is restricted when every clause on every probe that has it is: its flags
 * are then needed on those processes only. */
#ifndef ET_TIER_ONLY_H
#define ET_TIER_ONLY_H

#include "tier/tier.h"

enum { ONLY_NEEDS = 32, ONLY_PIDS = 32 /* limit for one need; more are not worth restricting */ };

struct only {
    uint32_t some, any; /* sets of needs: some probe has it; ... for any process */
    struct {
        uint32_t n;
        const char *pid[ONLY_PIDS];
    } need[ONLY_NEEDS]; /* by the number of its bit; borrowed from the bindings */
};

/* Starts a collection. A program whose clauses may read vtimestamp needs to know when every process
 * runs; one that may name processes, which processes are born and registered. */
void only_init(struct only *o, const struct dif_image *img);
/* Adds one clause on a probe of this kind. */
void only_add(struct only *o, enum probe_kind kind, const struct probe_pids *pids);
/* Returns the needs that are restricted. */
uint32_t only_needs(const struct only *o);

#endif
