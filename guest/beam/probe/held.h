/* held.h - messages to other nodes that their senders do not send in one go, and for which the VM
 * has no event `send`.
 *
 * The VM sends a large message (from about 1 MB on) in parts, between which it schedules the sender
 * out. It suspends a sender whose connection is busy; before OTP 27 whatever the size, from OTP 27
 * on in this way only if the message has parts. Either time the sender is scheduled `out` in
 * erts_internal:dsend_continue_trap/1, and `in` there when it goes on (or to handle a signal). Once
 * all is sent it may still be suspended, in erlang:bif_return_trap/2. (Other functions also leave
 * there, so that place does not begin a message.) The message is over when the sender, having been
 * scheduled in, leaves at another place, exits, or sends a message that the VM reports: then the
 * probe fires, on that thread. Nothing marks the beginning of the next such message if it follows
 * at once: both count as one.
 *
 * A record is used by the thread on which its process is, and is freed when the message is over. */
#ifndef ET_BEAM_PROBE_HELD_H
#define ET_BEAM_PROBE_HELD_H

#include "beam/tracer.h"

/* Handle events of a process, while the probe is wanted; argv is that of trace/5. `exiting`: it is
 * scheduled in or out as it exits. */
void held_in(struct engine_thread *t, ErlNifEnv *env, const ERL_NIF_TERM argv[], bool exiting);
void held_out(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
              const ERL_NIF_TERM argv[], bool exiting);
void held_send(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env, ERL_NIF_TERM pid);

static inline bool held_wanted(const struct snapshot *s)
{
    return s->named[PROBE_SEND_IN_PARTS].n > 0;
}

/* Makes the table. Returns false when out of memory. */
bool held_reserve(void);
/* Forgets all messages, since events have not been seen. Before the snapshot of those who want the
 * probe is published. */
void held_forget(void);
/* Frees the slots of dead processes; for the server's timer. */
void held_sweep(ErlNifEnv *env, uint32_t part, uint32_t parts,
                bool (*alive)(void *arg, uint64_t pid));

#endif
