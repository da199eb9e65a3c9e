/* alias.h - finds the process that a reference is an alias of.
 *
 * gen_server:call and similar functions receive their reply through an alias: the send event then
 * names a reference, where OTP's own provider has the receiver's pid. The VM keeps that pid in the
 * reference, but no function returns it, and its position differs between releases. It is therefore
 * learned: given an alias of a known process, alias_learn searches the words of the reference for
 * that process's pid, and notes the reference's header and the position. A reference with the same
 * header has the same shape. */
#ifndef ET_BEAM_PROBE_ALIAS_H
#define ET_BEAM_PROBE_ALIAS_H

#include <stdbool.h>

#include <erl_nif.h>

/* Learns from an alias, the pid of the process that it stands for, and a reference that is not an
 * alias. Returns false when this VM works in another way; aliases then stay references. For the
 * server, before events arrive. */
bool alias_learn(ErlNifEnv *env, ERL_NIF_TERM alias, ERL_NIF_TERM pid, ERL_NIF_TERM plain);

/* Returns the local pid that a reference is an alias of, 0 if it is none or that cannot be
 * determined. Takes no lock and calls nothing that could wait. */
ERL_NIF_TERM alias_pid(ErlNifEnv *env, ERL_NIF_TERM ref);

#endif
