/* kexamine.h - what can be traced in the running kernel, what cannot, and what would help. */
#ifndef ET_LINUX_KEXAMINE_H
#define ET_LINUX_KEXAMINE_H

#include "base/diag.h"

/* Receives a finding: one word for its subject, "ok", "note" or "limit", and texts that are
 * borrowed until it returns; help "" if nothing would. */
typedef void kexamine_fn(void *arg, const char *subject, const char *level, const char *text,
                         const char *help);
/* Changes nothing in the kernel. Returns 0 or ET_ENOMEM with a diagnostic. */
int kexamine(kexamine_fn *fn, void *arg, struct diags *d);

#endif
