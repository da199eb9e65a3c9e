/* scheduler.h - which scheduler a thread is. The VM tells by the thread's name, which depends on
 * the release, and by enif_thread_type. */
#ifndef ET_BEAM_PROBE_SCHEDULER_H
#define ET_BEAM_PROBE_SCHEDULER_H

#include <stdint.h>

enum scheduler_type {
    SCHEDULER_UNKNOWN,
    SCHEDULER_NONE,
    SCHEDULER_NORMAL,
    SCHEDULER_DIRTY_CPU,
    SCHEDULER_DIRTY_IO
};

struct scheduler {
    uint32_t number; /* as the VM counts those of this type, from 1; 0: not a scheduler */
    uint8_t type;    /* enum scheduler_type; SCHEDULER_UNKNOWN: not asked so far */
};

/* Reads a thread's name. */
struct scheduler scheduler_of_name(const char *name);
/* Returns the calling thread. Asks the system for its name if *kept is SCHEDULER_UNKNOWN, and keeps
 * the answer there. */
struct scheduler scheduler_self(struct scheduler *kept);
/* "normal", "dirty-cpu", "dirty-io" or "" */
const char *scheduler_type_name(enum scheduler_type type);

#endif
