/* porttab.h - what the agent knows of ports: a table of fixed size from port to name and owner.
 *
 * An event of a port names the port and nothing else; the VM's own probes also tell what it was
 * opened with and whose it is. Both come from other events (a port is opened, gets another owner),
 * and for ports that were there before from the server.
 *
 * Names are atoms and local pids are words of the VM, so that a record is two words which are read
 * and written one by one; nothing is ever moved, and nobody locks. A port lives in one of
 * PORTTAB_WINDOW slots that follow from its word; claiming one is one compare-and-swap. Events of a
 * port come one after another, so at most one callback and the server write to a record at a time.
 * The agent's timer frees the slots of closed ports (porttab_sweep), in the second sweep that finds
 * them closed, long after their last event; a free slot holds zeros.
 *
 * 0 is "not known", for a name, an owner and a port that found no slot. */
#ifndef ET_BEAM_PROBE_PORTTAB_H
#define ET_BEAM_PROBE_PORTTAB_H

#include <stdbool.h>
#include <stdint.h>

enum { PORTTAB_WINDOW = 16 };

struct porttab;

/* Reserves memory for cap slots (a power of two); nothing is touched yet. NULL: out of memory. */
struct porttab *porttab_new(uint32_t cap);
void porttab_free(struct porttab *t); /* NULL is allowed, here and below: a table without slots */

uint64_t porttab_name(struct porttab *t, uint64_t port);
uint64_t porttab_owner(struct porttab *t, uint64_t port);
/* Notes that there is such a port, and its name and owner where these are not 0. */
void porttab_set(struct porttab *t, uint64_t port, uint64_t name, uint64_t owner);
/* The same, but leaves what is known as it is. */
void porttab_add(struct porttab *t, uint64_t port, uint64_t name, uint64_t owner);

/* For the server only, one call at a time: */
/* Owners may have changed unseen. */
void porttab_forget_owners(struct porttab *t);
/* Calls fn for each port whose name or owner is not known. */
void porttab_unknown(struct porttab *t, uint32_t part, uint32_t parts,
                     void (*fn)(void *arg, uint64_t port), void *arg);
/* Frees slots of ports that alive() says no for. */
void porttab_sweep(struct porttab *t, uint32_t part, uint32_t parts,
                   bool (*alive)(void *arg, uint64_t port), void *arg);

#endif
