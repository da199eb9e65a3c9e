/* blocked.h - processes that the VM has suspended because a port, or a connection to another node,
 * is busy; and when they resume.
 *
 * The system monitor tells the server that a process is suspended; no event says when it resumes.
 * So the server enters it here (nif_block) and sets the flag `running` on that one process. Being
 * scheduled in proves nothing: to handle a signal (a monitor, a call of process_info, ...) the VM
 * schedules a suspended process in, and out again at the same place. If it is scheduled out at
 * another place, it has run: then the probes fire, on that thread. If it runs and stops at the same
 * place for another reason, the server's second check finds it (nif_unblock).
 *
 * A record belongs to the server until its state is WAITING, and then to the thread that changes
 * that. Its terms are immediate and need no heap. */
#ifndef ET_BEAM_PROBE_BLOCKED_H
#define ET_BEAM_PROBE_BLOCKED_H

#include "beam/tracer.h"

/* Handle the events `in` and `out` of a process; argv is that of trace/5. */
void blocked_in(ErlNifEnv *env, const ERL_NIF_TERM argv[]);
void blocked_out(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[]);

static inline bool blocked_any(void)
{
    return atomic_load_explicit(&agent.nblocked, memory_order_relaxed) > 0;
}

/* nif_block(Pid, Port, {Here, There} | []) -> boolean(): a process waits, for a port or for the
 * connection of two nodes. If it is already here, it has resumed since, and the probes fire first.
 * False: no room. */
ERL_NIF_TERM blocked_block_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_unblock(Pid) -> boolean(): the process has resumed, and the probes fire; false: they have
 * already fired. */
ERL_NIF_TERM blocked_unblock_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_blocked(Pid) -> boolean(): the process is not yet known to have resumed. */
ERL_NIF_TERM blocked_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_forget_blocked(Pid) -> ok: the process is dead, or no longer of interest. */
ERL_NIF_TERM blocked_forget_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* Frees the slots of processes that no longer wait; for the server's timer. */
void blocked_sweep(uint32_t part, uint32_t parts);

#endif
