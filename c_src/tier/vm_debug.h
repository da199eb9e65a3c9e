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
/* Appends an element of a list: {Module, Md5, Record}; `of` is the code that has it. */
void debug_put_told(struct buf *x, const struct tier_told *told, const struct tier_module *of);
/* These modules were loaded again: names, each with a NUL. Finds out which of the records that are
 * known from them are the same in the new code, and tells the agent; warns of others. Returns 0 or
 * an error with a diagnostic. */
int debug_again(struct vm_agent *a, const struct tier_options *opt, const struct buf *names,
                struct diags *d);

#endif
