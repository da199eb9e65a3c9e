/* sched.h - which scheduler a thread is. The VM tells by the thread's name, which depends on the
 * release, and by enif_thread_type. */
#ifndef ET_BEAM_PROBE_SCHED_H
#define ET_BEAM_PROBE_SCHED_H

#include <stdint.h>

enum sched_type { SCHED_UNKNOWN, SCHED_NONE, SCHED_NORMAL, SCHED_DIRTY_CPU, SCHED_DIRTY_IO };

struct sched {
    uint32_t number; /* as the VM counts those of this type, from 1; 0: not a scheduler */
    uint8_t type;    /* enum sched_type; SCHED_UNKNOWN: not asked so far */
};

/* Reads a thread's name. */
struct sched sched_of_name(const char *name);
/* Returns the calling thread. Asks the system for its name if *kept is SCHED_UNKNOWN, and keeps
 * the answer there. */
struct sched sched_self(struct sched *kept);
/* "normal", "dirty-cpu", "dirty-io" or "" */
const char *sched_type_name(enum sched_type type);

#endif
