/* vm_load.h - reads the agent's reports of a program's cost. */
#ifndef ET_TIER_VM_LOAD_H
#define ET_TIER_VM_LOAD_H

#include "base/arena.h"
#include "tier/functions.h"
#include "etf/etf.h"
#include "tier/tier_load.h"

/* Reads one report of a read reply, {Why, Load} of doc/agent-protocol.md. Names are the catalog's;
 * everything else is in the arena. Returns false when memory is exhausted; a malformed report makes
 * the reader bad. */
bool load_read(struct etf *r, struct catalog *c, struct arena *a, struct tier_load *out);

#endif
