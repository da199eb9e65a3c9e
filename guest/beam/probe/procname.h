/* procname.h - the names of Erlang processes, and of ports: a table of fixed size from pid to name.
 *
 * While a program uses names, events say which processes are born, registered and gone
 * (procname_event). The server reports what happened before (nif_names). A name is, in this order:
 * the registered one; the one under which a via module or global knows the process; its
 * label; the function that it began with, as proc_lib understands it. A port that is not registered
 * is called what the server says, which asks it: no event tells where a socket leads. In what
 * follows, and in procname.c, a port is a process, and its word a pid.
 *
 * A record has two copies of what is known of a process, and a version that says which is valid.
 * A writer fills in the other copy and then advances the version. A reader copies, and looks at the
 * version again: it never waits, whatever a writer does. Writers of one record exclude each other;
 * one that would have to wait long gives up, and counts that. Each copy names its process, so that
 * a record that changes hands cannot lend anyone the name of another process.
 *
 * Before OTP_LABELS the server asks a process for its whole dictionary, to find its label. If its
 * heap is large, the size of the dictionary must be known first: the server marks the process, and
 * the next event at which it can be seen that the process runs counts (procname_count).
 *
 * A name outlives its process by a second or two, so that those who write to it still show it; but
 * when the slots for a new process are full, it takes that of one that has exited. Where even that
 * fails the process has no name, and is counted. */
#ifndef ET_BEAM_PROBE_PROCNAME_H
#define ET_BEAM_PROBE_PROCNAME_H

#include "beam/agent.h"
#include "beam/probe/inside.h"

enum { PROCNAME_TEXT = ENGINE_NAME /* bytes of a name, including the NUL */ };

/* Writes the name of a process into PROCNAME_TEXT bytes, cut with ".." where it does not fit.
 * Returns the length; 0: not known, or it is that of a term and terms are hidden. For callbacks of
 * the VM.
 */
size_t procname_text(ErlNifEnv *env, ERL_NIF_TERM pid, bool hidden, char *out);
/* The same for a process of this node as the VM writes it: <0.N.S>, #Port<0.N>. */
size_t procname_of_text(ErlNifEnv *env, const char *text, size_t len, bool hidden, char *out);

/* Returns whether events are to be passed to procname_event. */
static inline bool procname_wanted(void)
{
    return atomic_load_explicit(&agent.naming, memory_order_relaxed);
}
/* Learns from an event; takes the arguments of trace/5. Between engine_enter and engine_leave. */
void procname_event(ErlNifEnv *env, const ERL_NIF_TERM argv[]);

/* Returns whether procname_count is to be called. */
static inline bool procname_counts(void)
{
    return atomic_load_explicit(&agent.nlarge, memory_order_relaxed) != 0;
}
/* Counts the dictionary of the process of an event if the server has asked for that: once for each
 * time that it has. For events at which the process is in the middle of nothing: calls, sending,
 * being scheduled in or out. */
void procname_count(ErlNifEnv *env, struct inside_thread *mine, ERL_NIF_TERM pid);

/* nif_names(true | false | [{Pid, What, Term}]) -> ok | 'AGENT_MEMORY'
 *
 * true: forgets all names, and learns from now on. false: no longer learns. A list: what the server
 * knows. The term is an atom of `registered`; {global, Name} or {via, Module, Name} of `name`; any
 * of `label`; {M, F, Arity} of `start` and of `frame`, the oldest function on the stack; of ports a
 * binary, `port`, or `opened` while it may still change; true of `large`, whose dictionary is to be
 * counted. */
ERL_NIF_TERM procname_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_asked() -> [Pid]: processes that programs named and of which more may be known by now. */
ERL_NIF_TERM procname_asked_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_small() -> [Pid]: processes that were `large`, and whose dictionaries were found to be small.
 */
ERL_NIF_TERM procname_small_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* Forgets dead processes, and names that are no longer registered; for the server's timer. */
void procname_sweep(ErlNifEnv *env, uint32_t part, uint32_t parts);
void procname_free(void);

#endif
