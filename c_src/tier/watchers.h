/* watchers.h - other tools that watch a node through the USDT probes of its agent. */
#ifndef ET_TIER_WATCHERS_H
#define ET_TIER_WATCHERS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "dif/dif.h"

/* Notes where such a tool finds the probes that the program fires, if it fires any: pid is the
 * process, as it sees itself, and `at` an address of the agent in it. The agent's file has no name
 * any more, so that the tool needs the kernel's name for what is mapped. */
void watchers_tell(const struct dif_image *img, pid_t pid, uint64_t at, struct diags *d);

#endif
