/* porttab.h - what the agent knows about ports: a table of fixed size from port to name and owner.
 *
 * An event of a port names only the port; the VM's own probes also say how it was opened and who
 * owns it. Both are learned from other events (a port is opened, gets another owner) and, for ports
 * that existed before, from the server.
 *
 * Names are atoms and local pids are words of the VM, so a record is two words, each read and
 * written separately; nothing is ever moved, and no lock is taken. A port lives in one of the
 * PORTTAB_WINDOW slots from the one its word selects; claiming a slot is one compare-and-swap.
 * Events of a port are sequential, so at most one callback and the server write to a record at a
 * time. The agent's timer frees the slots of closed ports (porttab_sweep) in the second sweep that
 * finds them closed, long after their last event; a free slot holds zeros.
 *
 * 0 means "not known", for a name, an owner, and a port that found no slot. */
#ifndef ET_BEAM_PROBE_PORTTAB_H
#define ET_BEAM_PROBE_PORTTAB_H

#include <stdbool.h>
#include <stdint.h>

enum { PORTTAB_WINDOW = 16 };

struct porttab;

/* Reserves memory for cap slots (a power of two) without touching it. NULL: out of memory. */
struct porttab *porttab_new(uint32_t cap);
void porttab_free(struct porttab *t); /* NULL is allowed, here and below: a table without slots */

uint64_t porttab_name(struct porttab *t, uint64_t port);
uint64_t porttab_owner(struct porttab *t, uint64_t port);
/* Notes that the port exists, and its name and owner unless 0. */
void porttab_set(struct porttab *t, uint64_t port, uint64_t name, uint64_t owner);
/* The same, but keeps what is already known. */
void porttab_add(struct porttab *t, uint64_t port, uint64_t name, uint64_t owner);

/* For the server only, one call at a time: */
/* Forgets owners, because they may have changed unseen. */
void porttab_forget_owners(struct porttab *t);
/* Calls fn for each port whose name or owner is unknown. */
void porttab_unknown(struct porttab *t, uint32_t part, uint32_t parts,
                     void (*fn)(void *arg, uint64_t port), void *arg);
/* Frees the slots of ports for which alive() returns false. */
void porttab_sweep(struct porttab *t, uint32_t part, uint32_t parts,
                   bool (*alive)(void *arg, uint64_t port), void *arg);

#endif
