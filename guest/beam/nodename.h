/* nodename.h - finds the node of a pid or reference of another node.
 *
 * No function tells a tracer callback that: the callback can only encode the term, which contains
 * the node's name but takes memory of the VM. But the VM's text of such a term begins with a number
 * that stands for its node (<8745.89.0>) and stays the same for the life of the VM. So each node is
 * looked up once, and its name, an atom, is kept by that number. Nodes beyond NODENAME_MAX are
 * encoded each time. */
#ifndef ET_BEAM_NODENAME_H
#define ET_BEAM_NODENAME_H

#include <stdbool.h>

#include <erl_nif.h>

enum { NODENAME_MAX = 256 };

/* Finds the name of the node of a pid or reference, as an atom; when the library starts, also of
 * local ones. Returns false when it cannot be found. Takes no locks; may run in a callback. */
bool nodename_encoded(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *node);
/* Same for a term of another node, from the table if it is there. Returns false also for local
 * terms. */
bool nodename_of(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *node);

#endif
