/* frames.h - the frames that calls leave on the stacks of processes, and a bound on them.
 *
 * A pattern with {exception_trace} makes the VM leave a frame for each call, and at each further
 * traced call the VM walks all that lie on top of the stack. Where calls do not return (a loop of
 * tail calls) they pile up. So they are counted, for each process: beyond FRAMES_SOFT a function
 * that leaves another one loses its pattern, and beyond FRAMES_HARD the calls of the process are
 * not reported, and then leave none.
 *
 * What counts is which patterns the VM has, not which programs run: the server tells of a function
 * before its pattern is set, and until after it is cleared. */
#ifndef ET_BEAM_FRAMES_H
#define ET_BEAM_FRAMES_H

#include "beam/tracer.h"

enum {
    FRAMES_SOFT = 500,
    FRAMES_HARD = 600,
    FRAMES_A_NS = 2 /* that the VM walks in a nanosecond, about (OTP 25 and 29, x86-64) */
};

struct framed;

/* Returns whether the calls of some function leave frames. */
static inline bool frames_counted(void)
{
    return atomic_load_explicit(&agent.framed, memory_order_relaxed) != NULL;
}
/* Returns whether a process has so many frames that no call may leave another one. */
bool frames_too_many(struct engine_thread *t, ERL_NIF_TERM pid);
/* Count a call, and the end of a frame. Between engine_enter and engine_leave. */
void frames_call(struct engine_thread *t, ERL_NIF_TERM pid, ERL_NIF_TERM m, ERL_NIF_TERM f,
                 unsigned arity, bool meta);
void frames_gone(ERL_NIF_TERM pid);
/* Does either for an event of which nothing else is looked at; takes the arguments of trace/5. */
void frames_event(struct engine_thread *t, ErlNifEnv *env, const ERL_NIF_TERM argv[]);

/* -- for the server -----------------------------------------------------------------------------
 */

/* Forgets all counts: calls have been counted that left no frames. */
void frames_forget(void);
/* Frees the tables that no event can see any more. Returns true when none is left. */
bool frames_settle(void);
/* Makes nothing count any more. */
void frames_end(void);

/* nif_framed([MFA], [MFA], Forget) -> ok | 'AGENT_MEMORY': from now on just the calls of the first
 * functions that are seen through local patterns, and those of the second ones that are seen
 * through meta patterns, leave frames. Forget: true, what was counted is forgotten. */
ERL_NIF_TERM frames_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_overruns() -> [MFA]: the functions that left frames beyond FRAMES_SOFT since the last call.
 */
ERL_NIF_TERM frames_overruns_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#endif
