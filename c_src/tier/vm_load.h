/* vm_load.h - reads what the agent says that a program costs. */
#ifndef ET_TIER_VM_LOAD_H
#define ET_TIER_VM_LOAD_H

#include "base/arena.h"
#include "tier/functions.h"
#include "etf/etf.h"
#include "tier/tier_load.h"

/* One report of a read reply, {Why, Load} of doc/agent-protocol.md. Names are the catalog's, what
 * else there is lies in the arena. False: memory is out; a malformed one makes the reader bad. */
bool load_read(struct etf *r, struct catalog *c, struct arena *a, struct tier_load *out);

#endif
