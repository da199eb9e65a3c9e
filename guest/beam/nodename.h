/* nodename.h - which node a pid or reference of another node belongs to.
 *
 * A tracer callback has no function for that: it can only have the term encoded, which names the
 * node, and takes memory of the VM to do so. But the VM's text of such a term begins with a number
 * that stands for its node (<8745.89.0>), the same as long as the VM lives. So each node is found
 * out once, and its name, an atom, kept by that number. Nodes beyond NODENAME_MAX are encoded each
 * time. */
#ifndef ET_BEAM_NODENAME_H
#define ET_BEAM_NODENAME_H

#include <stdbool.h>

#include <erl_nif.h>

enum { NODENAME_MAX = 256 };

/* The name of the node of a pid or reference, as an atom; for the library's start, of local ones,
 * too. False: it cannot be found out. Locks nothing, may run in a callback. */
bool nodename_encoded(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *node);
/* The same for one of another node, remembered. False also for local ones. */
bool nodename_of(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *node);

#endif
