/* ports.h - the names and owners of ports.
 *
 * Most of them come from events (tracer_ports.c), the rest from the server: ports that existed
 * before the trace, and those that are created without an event. A socket returned by accept is of
 * the second kind, and often closed before the server could ask. It gets the name of the port that
 * accepted it, where that event is seen. An unknown port that gets a control operation of the inet
 * drivers is called tcp_inet, unless there was ever a port named sctp_inet, the other driver whose
 * ports are created this way. */
#ifndef ET_BEAM_PROBE_PORTS_H
#define ET_BEAM_PROBE_PORTS_H

#include "beam/agent.h"

/* Returns the table, NULL if there is none: then nothing is known. */
struct porttab *ports_table(void);
/* Notes a port's name and owner, 0 where unknown; what is already known stays, unless this is known
 * `surely`. Any terms may be passed: only the word of a local port, a name that is an atom, and an
 * owner that is a local process are kept. */
void ports_note(ErlNifEnv *env, ERL_NIF_TERM port, ERL_NIF_TERM name, ERL_NIF_TERM owner,
                bool surely);
/* Notes that a process sent a port something that the inet module sends to sockets. An unknown port
 * then comes from an accept, and this process owns it. */
void ports_accepted(ErlNifEnv *env, ERL_NIF_TERM port, ERL_NIF_TERM who);

/* nif_ports([{Port, Name, Owner}] | false) -> ok: names and owners of ports where events did not
 * tell them; false: owners may have changed unseen, and there may be ports that no event reported
 */
ERL_NIF_TERM ports_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_unknown_ports(Part) -> [Port]: the open ports with an unknown name or owner, in one of
 * AGENT_PARTS parts of the table */
ERL_NIF_TERM ports_unknown_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_asker(Pid) -> ok: what this process asks ports is not an event. */
ERL_NIF_TERM ports_asker_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* Removes closed ports; for the server's timer. */
void ports_sweep(ErlNifEnv *env, uint32_t part, uint32_t parts);

#endif
