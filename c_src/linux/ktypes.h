/* ktypes.h - what the kernel says of itself, for the compiler (probe/foreign.h): its types from
 * BTF, its variables by /proc/kallsyms, the arguments of its probes. */
#ifndef ET_LINUX_KTYPES_H
#define ET_LINUX_KTYPES_H

#include <stdio.h>

#include "base/diag.h"
#include "linux/kbtf.h"
#include "probe/foreign.h"

struct ktypes;

/* Opens the running kernel's. Fails with a diagnostic where kprobes_open does. */
int ktypes_open(struct ktypes **out, struct diags *d);
/* Opens that of a kernel with these types, which it owns and closes, also if this fails. */
int ktypes_make(struct ktypes **out, struct kbtf *types, struct diags *d);
void ktypes_close(struct ktypes *k);
/* Valid until it is closed. */
const struct foreign *ktypes_foreign(struct ktypes *k);

/* Returns why no variable of this kernel can be named; NULL: they can. Static. */
const char *ktypes_no_variables(void);

/* Reads the addresses of n variables of the kernel from a text such as /proc/kallsyms; those that
 * are not there stay 0. Returns what that text tells. */
enum ktypes_symbols { KTYPES_HIDDEN /* no addresses */, KTYPES_CODE, KTYPES_VARIABLES };
enum ktypes_symbols ktypes_addresses(FILE *f, const char *const *name, uint64_t *address, size_t n);

#endif
