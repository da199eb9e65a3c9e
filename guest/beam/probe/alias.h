/* alias.h - whose alias a reference is.
 *
 * gen_server:call and its like are answered through an alias: the send event then names a
 * reference, where OTP's own provider has the receiver's pid. The VM keeps that pid in the
 * reference, but no function tells it, and where it lies differs from release to release. So it is
 * learned: given an alias of a known process, alias_learn looks for that process's pid in the words
 * of the reference, and notes the reference's header and the place. A reference with the same
 * header has the same shape. */
#ifndef ET_BEAM_PROBE_ALIAS_H
#define ET_BEAM_PROBE_ALIAS_H

#include <stdbool.h>

#include <erl_nif.h>

/* Learns from an alias, the pid of the process it stands for, and a reference that is no alias.
 * False: this VM does it in another way; aliases then stay references. For the server, before
 * events come. */
bool alias_learn(ErlNifEnv *env, ERL_NIF_TERM alias, ERL_NIF_TERM pid, ERL_NIF_TERM plain);

/* The local pid that a reference is an alias of, 0 if it is none or that cannot be known. Takes no
 * lock, calls nothing that could wait. */
ERL_NIF_TERM alias_pid(ErlNifEnv *env, ERL_NIF_TERM ref);

#endif
