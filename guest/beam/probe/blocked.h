/* blocked.h - processes that the VM has suspended because a port, or a connection to another node,
 * is busy; and when they go on.
 *
 * The system monitor tells the server that a process gets suspended; nothing tells when it goes on.
 * So the server puts it here (nif_block) and sets the flag `running` on that one process. That it
 * is scheduled in is no proof: for a signal (somebody monitors it, asks for process_info, ...) the
 * VM schedules a suspended process in, and out again at the same place. Scheduled out at another
 * place, it has run: then the probes fire, on that thread. If it runs and stops at the same place
 * for another reason, the server's second look finds it (nif_unblock).
 *
 * A record belongs to the server until its state is WAITING, and then to whoever changes that. What
 * it holds are immediate terms, which need no heap. */
#ifndef ET_BEAM_PROBE_BLOCKED_H
#define ET_BEAM_PROBE_BLOCKED_H

#include "beam/tracer.h"

/* The events `in` and `out` of a process, whose argv is that of trace/5. */
void blocked_in(ErlNifEnv *env, const ERL_NIF_TERM argv[]);
void blocked_out(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[]);

static inline bool blocked_any(void)
{
    return atomic_load_explicit(&agent.nblocked, memory_order_relaxed) > 0;
}

/* nif_block(Pid, Port, {Here, There} | []) -> boolean(): a process waits, for a port or for the
 * connection of two nodes. If it is here already it has gone on since, and the probes fire first.
 * False: no room. */
ERL_NIF_TERM blocked_block_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_unblock(Pid) -> boolean(): it has gone on, and the probes fire; false: they have fired. */
ERL_NIF_TERM blocked_unblock_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_blocked(Pid) -> boolean(): nobody knows yet that it has gone on. */
ERL_NIF_TERM blocked_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_forget_blocked(Pid) -> ok: it is dead, or nobody wants to know any more. */
ERL_NIF_TERM blocked_forget_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* Gives the room of those back that do not wait any more; for the server's timer. */
void blocked_sweep(uint32_t part, uint32_t parts);

#endif
