/* nameskept.h - what a node can be traced by, kept without the node: its catalog, and a tier that
 * matches descriptions against it and does nothing else. */
#ifndef ET_TIER_NAMESKEPT_H
#define ET_TIER_NAMESKEPT_H

#include "tier/tier.h"

struct names_kept;

/* Fetches all that a vm tier's catalog does not have so far, and takes the catalog out of the tier,
 * which can then only be closed. Returns 0 or an error with a diagnostic; ET_EUNSUP: it is not a vm
 * tier. */
int names_take(struct tier *t, struct names_kept **out, struct diags *d);
void names_free(struct names_kept *n);
/* Opens the tier, which borrows the names; NULL: out of memory. It has match, suggest, lacking,
 * target and close alone, and its matches end with ET_ELIMIT after NAMES_MOST probes. */
struct tier *names_open(struct names_kept *n);

enum { NAMES_MOST = 200000 };

#endif
