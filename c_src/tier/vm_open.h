/* vm_open.h - the vm tier: programs run inside an Erlang node. */
#ifndef ET_TIER_VM_OPEN_H
#define ET_TIER_VM_OPEN_H

#include <sys/types.h>

#include "base/diag.h"
#include "tier/tier.h"
#include "wire/node.h"

/* Connects, checks the release, and places the agent. Both name and pid unset: the only BEAM of
 * this host. Errors are diagnostics with these tags: NODE_NONE, NODE_MANY (its hint lists them),
 * NODE_NOTDIST when it is not clear which node is meant; NODE_HOST, NODE_DOWN, NODE_TIMEOUT,
 * NODE_COOKIE, NODE_TLS, NODE_PERM on the way there; OTP_OLD, OTP_ARCH for a node that cannot be
 * traced; AGENT_FILES, AGENT_LOAD, AGENT_NIF, AGENT_VERSION, AGENT_BUSY when the agent cannot be
 * placed; NODE_LOST, NODE_LEASE (with TIER_LOST) when the node was attached and no longer is; and
 * those of the agent itself. */
int tier_vm_open(const struct node_options *opt, struct tier **out, struct diags *d);
/* Returns the OS pid of the node's VM (for $target); 0 when unknown. */
pid_t tier_vm_pid(struct tier *t);
/* Returns the address in that VM of the function to which programs pass events on. */
uint64_t tier_vm_passes(struct tier *t);

#endif
