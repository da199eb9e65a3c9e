/* oncpu_clock.h - a clock of a thread, which signals it each time it has used so much processor
 * time.
 *
 * THE TASK CLOCK is an event of the system (perf_event_open), with a timer of its own that runs
 * while the thread has a processor. Its samples are spread over what the thread does as its time
 * is. A program that does the same in turn, again and again, may be in step with it: so the server
 * gives it another period now and then (oncpu.c). Where the system refuses it, THE SAMPLER
 * (oncpu_sampler.h) finds the threads that work, at random times: its samples are spread as well,
 * and a few are missing.
 *
 * THE CPU CLOCK (timer_create) expires only at the system's tick, which stands still while a
 * processor idles, and runs in step with the milliseconds at which the VM wakes processes: what
 * runs right after a wake-up is never seen, and what runs into a tick is seen instead. So it is
 * used only where the system lets the node have no further thread; the profile then says so.
 *
 * A filter of system calls may end the process that makes one which it does not know (that is how
 * systemd's SystemCallFilter= works unless told otherwise). So where there is a filter, whatever it
 * does, no event is asked for.
 *
 * Events take descriptors of the process: none is opened where the process has few left. They are
 * closed when a program is executed, and disabled before they are closed, since a child that was
 * forked meanwhile keeps them. */
#ifndef ET_BEAM_PROBE_ONCPU_CLOCK_H
#define ET_BEAM_PROBE_ONCPU_CLOCK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ONCPU_RATES = 8,         /* at once, of all programs of the node */
    ONCPU_THREADS = 3 * 1024 /* scheduler threads, as many as a VM can have: normal ones, and two
                                kinds of dirty ones */
};
#define ONCPU_ALONE UINT64_C(10000000000) /* ns without a reader after which clocks stop */

enum oncpu_clock_kind {
    ONCPU_CLOCK_NONE,
    ONCPU_CLOCK_TASK,
    ONCPU_CLOCK_USER, /* the task clock, which the system lets this user have outside of the kernel
                       */
    ONCPU_CLOCK_SAMPLER,
    ONCPU_CLOCK_CPU,
    ONCPU_CLOCK_WALL /* the sampler as well, but for wall-N: see onwall.h */
};

struct oncpu_clock {
    enum oncpu_clock_kind kind; /* ONCPU_CLOCK_NONE: it does not exist */
    int id; /* a descriptor, the clock's number in the sampler, or the system's of a timer */
};

/* Makes a clock that runs, and sends the thread this signal each ns of its time. number: of the
 * clock, ONCPU_RATES * thread + rate. room: descriptors that have to be free. Returns false when
 * the system refuses. */
bool oncpu_clock_start(struct oncpu_clock *c, int tid, int signal, uint32_t number, uint64_t ns,
                       uint32_t room);
/* Makes one for wall-N, which looks at the thread each ns, about, whether it runs or not. Returns
 * false when the system lets the node have no thread. */
bool oncpu_clock_wall(struct oncpu_clock *c, int tid, int signal, uint32_t number, uint64_t ns);
/* Returns the kind that a clock of the calling thread would have, if the system lets the node have
 * a thread. */
enum oncpu_clock_kind oncpu_clock_offered(uint32_t room);
/* Stops a clock (ns 0), or lets it go on. Async-signal-safe. */
void oncpu_clock_set(const struct oncpu_clock *c, uint64_t ns);
/* Gives an event another period. Only the server. */
void oncpu_clock_every(const struct oncpu_clock *c, uint64_t ns);
void oncpu_clock_end(struct oncpu_clock *c);
/* Returns the number of the clock that has sent a signal, -1: no clock has, or the sampler (see
 * oncpu_sampler_asked). late: expirations that it stands for beyond its own. Async-signal-safe. */
int64_t oncpu_clock_of(const siginfo_t *info, uint32_t *late);

/* Notes that somebody takes samples. Only the server. */
void oncpu_clock_served(uint64_t now);
/* Returns whether nobody has taken any for ONCPU_ALONE. Async-signal-safe. */
bool oncpu_clock_alone(uint64_t now);

/* Returns whether the calling thread may have a filter of system calls. */
bool oncpu_clock_is_filtered(void);
/* Returns the processor time that a thread has used, in ns; 0: it is not there. */
uint64_t oncpu_clock_time(int tid);

#endif
