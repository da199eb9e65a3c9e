/* ports.h - what ports are called and whose they are.
 *
 * Most of it comes from events (tracer_ports.c), the rest from the server: ports that were there
 * before anybody looked, and those that come into being without an event. A socket that comes from
 * an accept is of the second kind, and often gone before the server could ask. It has the name of
 * the port that accepted it, where that event is seen; and a port that nobody knows and that gets a
 * control operation of the inet drivers is called tcp_inet, as long as there was no port with the
 * other name whose ports come into being like this, sctp_inet. */
#ifndef ET_BEAM_PROBE_PORTS_H
#define ET_BEAM_PROBE_PORTS_H

#include "beam/agent.h"

/* The table, NULL if there is none: then nothing is known. */
struct porttab *ports_table(void);
/* Notes what a port is called and whose it is, 0 for what is not known; what is known already
 * stays, unless this is known `surely`. The terms may be any: nothing is kept but the word of a
 * local port, of a name that is an atom, and of an owner that is a local process. */
void ports_note(ErlNifEnv *env, ERL_NIF_TERM port, ERL_NIF_TERM name, ERL_NIF_TERM owner,
                bool surely);
/* A process told a port something that the inet module tells sockets. If nobody knows the port, it
 * comes from an accept, and this is its owner. */
void ports_accepted(ErlNifEnv *env, ERL_NIF_TERM port, ERL_NIF_TERM who);

/* nif_ports([{Port, Name, Owner}] | false) -> ok: names and owners of ports, as far as they are not
 * known from events; false: owners may have changed unseen, and there may be ports that no event
 * has told of */
ERL_NIF_TERM ports_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_unknown_ports(Part) -> [Port]: open ports whose name or owner is not known, of one part of
 * AGENT_PARTS of the table */
ERL_NIF_TERM ports_unknown_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* Forgets closed ports; for the server's timer. */
void ports_sweep(ErlNifEnv *env, uint32_t part, uint32_t parts);

#endif
