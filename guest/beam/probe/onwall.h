/* onwall.h - wall-N: where the schedulers are that have something to do, so many times a second,
 * whether they run, wait for a processor, or sleep in the system.
 *
 * THE SAMPLER'S THREAD (oncpu_sampler.h) looks at each scheduler's thread at random times. It knows
 * three things of it: the process that the scheduler's record names, the thread's CPU clock, and
 * what the system says of it (/proc/self/task/TID/syscall: that it runs or is ready to, or in which
 * system call it sleeps, with its stack pointer and program counter).
 *
 * RUNNING, a thread whose CPU clock moves between two readings, or which the sampler itself has
 * displaced from its processor; RUNNABLE, another one whose clock stands and of which the system
 * says that it is ready to run. If it has a process, it is signalled, as by profile-N, and its
 * handler captures the sample: nothing but the thread itself knows where it is, and since when it
 * has waited. One that has been woken and has not run since is still where it slept, so it is read
 * as if it slept.
 *
 * ASLEEP, any other. It is not signalled: that would end its system call. Its process and the
 * process's stack are read by the sampler, as the handler would while C code runs: from where C
 * code returns to compiled code, which is on the thread's own stack, and through the system
 * (/proc/self/mem), which fails where a load would fault. While that is read the thread must not
 * have run: its CPU clock must stand where it stood before, and its record must have the same
 * process. Otherwise there is a sample without a process and a place, which is counted as lost.
 *
 * A DIRTY scheduler whose record is not known (oncpu_dirty.h) is not looked at: the sampler could
 * not tell whether it is idle. The server looks for the record in the thread's data when wall-N
 * begins.
 *
 * IDLE, and no sample: a scheduler without a process whose thread sleeps in a call by which the
 * VM waits for work (futex, poll and the like). A thread that has not run since it was found idle
 * is idle, which costs one look at its clock. Without a process, in another system call, or
 * without one (it waits for a page of memory), it is not idle: a port's driver may do that.
 *
 * The thread that watches collections for the library (collecting.h) is no sample either.
 *
 * What always holds: all of this is the sampler's thread's own, but for the counts, which the
 * server reads. */
#ifndef ET_BEAM_PROBE_ONWALL_H
#define ET_BEAM_PROBE_ONWALL_H

#include <stdint.h>

/* Added to the period of a rate of wall-N. */
#define ONWALL_RATE (UINT64_C(1) << 63)

enum onwall_doing { ONWALL_RUNNING, ONWALL_RUNNABLE, ONWALL_ASLEEP, ONWALL_DOINGS };

/* Of a rate, or of a program. */
struct onwall_called {
    uint64_t called;   /* threads that were found with something to do */
    uint64_t unlooked; /* ... that may have had: too many others were looked at just then */
    uint64_t late;     /* times at which to look that had gone by */
};

/* What a program has had. */
struct onwall_counts {
    struct onwall_called of;
    uint64_t doing[ONWALL_DOINGS];           /* samples */
    uint64_t idle, hidden, unknown, dropped; /* as in struct oncpu_counts */
    uint64_t lost;                           /* it went on while it was read */
};

/* -- for the sampler's thread -------------------------------------------------------------------
 */

enum onwall_found {
    ONWALL_DONE, /* it is idle, or is a sample already */
    ONWALL_ASK_RUNNING,
    ONWALL_ASK_READY /* it waits for a processor, or the sampler has displaced it */
};
/* Looks at the thread of a scheduler (i: from 0). at: when the sampler woke. looks: how many
 * threads may still be looked at closely. */
enum onwall_found onwall_look(uint32_t rate, uint32_t i, int tid, uint64_t at, uint32_t *looks);
/* Counts n times at which to look that have gone by. */
void onwall_late(uint32_t rate, uint64_t n);

/* -- for the server -----------------------------------------------------------------------------
 */

/* Returns what is new of a rate since the last call. */
struct onwall_called onwall_news(uint32_t rate);
const char *onwall_doing_name(enum onwall_doing doing);

#endif
