/* vm_debug.h - the records of a node's modules, as their debug information has them. */
#ifndef ET_TIER_VM_DEBUG_H
#define ET_TIER_VM_DEBUG_H

#include "base/arena.h"
#include "tier/functions.h"
#include "tier/vm_agent.h"

/* Reads the start of a chunk of debug information, without the byte 131: sets why, or the records.
 * Everything is copied to mem. Returns false when memory is out. */
bool debug_read(const void *bytes, size_t len, struct arena *mem, struct tier_module *m);
/* Implements tier_ops.records. */
int debug_records(struct vm_agent *a, struct catalog *c, const char *pattern, size_t most,
                  struct tier_modules *out, struct arena *mem, struct diags *d);

#endif
