/* vm_code.h - the modules and functions of a node, as the agent lists them: a catalog's source. */
#ifndef ET_TIER_VM_CODE_H
#define ET_TIER_VM_CODE_H

#include "tier/vm_agent.h"
#include "tier/functions.h"

/* Implement struct catalog_source; arg is an open struct vm_agent. */
int code_modules(void *arg, struct catalog *c, struct diags *d);
int code_functions(void *arg, struct catalog *c, const uint32_t *mods, size_t n, struct diags *d);

#endif
