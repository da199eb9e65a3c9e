/* knamespace.h - the namespace of processes that this program is in: what its programs in the
 * kernel need to tell processes by the numbers that this program sees, in /proc and in D's $target.
 * (The kernel itself has a number of each process for each level of namespaces; bpf/process.c.) */
#ifndef ET_LINUX_KNAMESPACE_H
#define ET_LINUX_KNAMESPACE_H

#include <stdint.h>

#include "linux/kbtf.h"
#include "linux/kcode.h"

/* Returns its number; 0: it is the first one, whose numbers are the kernel's own. */
uint32_t knamespace(void);

/* Fills in the constants NAMESPACE and PID_*. Fails with ET_EUNSUP where the kernel's structures
 * are others than those that are read. */
int knamespace_fill(uint64_t consts[KCONSTS], const struct kbtf *types, struct diags *d);

#endif
