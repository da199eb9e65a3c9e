/* oncpu_sampler.h - a thread that wakes at random times and signals the threads that it finds at
 * work: the clock of profile-N where the system refuses the task clock (oncpu_clock.h), and that of
 * wall-N (onwall.h), for which it looks at those that sleep as well.
 *
 * ONE THREAD for all rates and all schedulers, which exists while there are clocks of this kind.
 * For each rate it sleeps between nothing and two periods, each time equally likely, so that what
 * it finds does not depend on the system's tick, nor on the milliseconds at which the VM wakes
 * processes. It knows the schedulers' threads by their numbers in the system alone, calls nothing
 * of the VM, allocates nothing, takes no lock, and blocks all signals.
 *
 * WHO WORKS. When it wakes, it reads each thread's CPU clock. One that stands where it stood at the
 * last wake belongs to a thread that rests. One that moves between two readings belongs to a thread
 * that runs: it is signalled. One that has moved since the last wake, and now stands, may belong to
 * a thread that the sampler itself has displaced: that one is ready to run, and its last processor
 * is the sampler's. It is signalled as well; but it could also have waited for that processor
 * behind another thread. How long a thread has waited, the system says when that is over: so its
 * handler looks whether the wait began when the sampler woke. If it began before, there is no
 * sample, and that is counted. No thread that sleeps is signalled; one that is on its way there, in
 * the system, is at work.
 *
 * ASKED. A signal says nothing but that there is something to look for: a mark for each thread and
 * rate says whether, when and how it was asked. So no signal needs room in the system's queue, and
 * those of two rates may become one.
 *
 * WHAT IT CANNOT SEE. Beside other load it gets a processor late, if the system does not let it
 * have a short slice (Linux 6.12 does; not asked for where there is a filter of system calls): its
 * wakes are then those times at which a processor becomes free, and fewer threads are at work. It
 * wakes more often, up to twice, where there are fewer samples than its threads' processor time
 * calls for.
 *
 * ENDING. oncpu_sampler_close tells the thread to end, and returns true once the system says that
 * it has ended: none of its instructions is in the library then. It ends by itself where nobody
 * takes samples (oncpu_clock_alone). */
#ifndef ET_BEAM_PROBE_ONCPU_SAMPLER_H
#define ET_BEAM_PROBE_ONCPU_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Lets the sampler ask a thread each ns of its time, about. number: of the clock (oncpu_clock.h),
 * which has none yet. wall: ... of the time, whatever the thread does (onwall.h). Returns false
 * when there is no sampler and none can be made. */
bool oncpu_sampler_add(uint32_t number, int tid, int signal, uint64_t ns, bool wall);
/* Pauses a clock, or lets it go on. Async-signal-safe. */
void oncpu_sampler_set(uint32_t number, bool on);
void oncpu_sampler_remove(uint32_t number);
/* Makes the sampler again if it has ended because nobody took samples. */
void oncpu_sampler_resume(void);
/* Returns true when no sampler is left. Its clocks are removed before. */
bool oncpu_sampler_close(void);

enum oncpu_asked { ONCPU_ASKED_NOT, ONCPU_ASKED_SAMPLE, ONCPU_ASKED_RUNNABLE, ONCPU_ASKED_WAITED };
/* Takes what the sampler has asked this thread for. WAITED: the thread had no processor then, and
 * this is no sample therefore. RUNNABLE: the same, for wall-N, where it is one. late:
 * for how many times it stands beyond its own. cost: ns that the sampler uses for each such
 * question. Async-signal-safe. */
enum oncpu_asked oncpu_sampler_asked(uint32_t number, uint64_t now, uint32_t *late, uint32_t *cost);

/* Reads what the system says of a thread: its state ('R': runs, or is ready to), and the processor
 * that it has or had last. Returns false when it is not there. */
bool oncpu_sampler_state(int tid, char *state, int *processor);
enum { ONCPU_TASK_TEXT = 512 }; /* bytes of what is read of a file of /proc */
/* Reads the beginning of /proc/self/task/TID/NAME; name: "/stat". Async-signal-safe. */
bool oncpu_sampler_read(int tid, const char *name, char text[static ONCPU_TASK_TEXT + 1]);

#endif
