/* proctab.h - what the agent remembers about Erlang processes: a table of fixed size from pid to a
 * record.
 *
 * Keys are the VM's own words for local pids, so a look-up needs no text. A pid may live in one of
 * the PROCTAB_WINDOW slots that follow from its hash. Claiming a slot is one compare-and-swap; a
 * record is then used only by the thread on which its process runs. Nothing is ever moved, so no
 * lock is needed. That thread may free the slot (proctab_drop). The agent's timer frees the slots
 * of dead processes (proctab_sweep), but only in the second sweep that finds a process dead, long
 * after its last event.
 *
 * A key is 0, by an order that releases, before another process takes its slot, by one that
 * acquires; and a look-up that has found a key acquires. So nobody finds a process and reads what
 * its slot had before. What one thread writes to a record, and the next one on which the process
 * runs reads, is ordered by the VM, whose queues of processes have locks.
 *
 * When the window of a pid is full, the process is not remembered; the caller counts that. */
#ifndef ET_BEAM_PROBE_PROCTAB_H
#define ET_BEAM_PROBE_PROCTAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROCTAB_WINDOW = 16 };

struct proctab {
    _Atomic uint64_t *key; /* pid, 0: free */
    uint8_t *dead;         /* 1: the last sweep found it dead; only the sweeper uses this */
    char *data;            /* cap records of width bytes */
    size_t width;          /* bytes of a record */
    uint32_t cap;          /* slots, a power of two */
};

/* Reserves memory for cap slots (a power of two) without touching it. NULL: out of memory. */
struct proctab *proctab_new(uint32_t cap, size_t width);
void proctab_free(struct proctab *t); /* NULL is allowed */
/* Returns the record of a pid, NULL if it has none. In these two functions t may be NULL: then
 * there is no room. */
void *proctab_find(struct proctab *t, uint64_t pid);
/* The same, claiming a free slot when it has none; *fresh says that the record is new and
 * uninitialized. NULL: no room. */
void *proctab_claim(struct proctab *t, uint64_t pid, bool *fresh);
/* Frees the slot of this thread's process; does nothing when it has none. */
void proctab_drop(struct proctab *t, uint64_t pid);
/* Like proctab_claim for a record that threads share; it is new when it is not that of this
 * process. Where the window is full, takes the slot of a process for which over() holds, given its
 * record. */
void *proctab_share(struct proctab *t, uint64_t pid,
                    bool (*over)(const void *record, uint64_t pid));
/* Frees the slots of processes for which alive() returns false. One sweeper at a time. */
void proctab_sweep(struct proctab *t, uint32_t part, uint32_t parts,
                   bool (*alive)(void *arg, uint64_t pid), void *arg);

#endif
