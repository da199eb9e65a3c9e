/* capabilities.h - the privileges of the calling thread, which Linux has in parts: a set has the
 * bit 1 << CAP_... for each. */
#ifndef ET_UTIL_CAPABILITIES_H
#define ET_UTIL_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Returns those that count now; none if the system does not tell. */
uint64_t capabilities_effective(void);
/* Gives up those of the calling thread that are not in a set, for good. Programs that it runs get
 * what the system gives them: those of root all. Returns false if some cannot be given up. */
bool capabilities_keep(uint64_t set);
/* Appends the names of those that erltrace has a use for, "CAP_BPF, CAP_PERFMON"; "none". */
void capabilities_names(uint64_t set, struct buf *out);

#endif
