/* pidtext.h - the text of local pids, cached per thread.
 *
 * The VM takes 45 ns to print a pid, and the same few pids recur on one scheduler. A local pid is
 * an immediate term: its word determines it completely, so that its text stays right for the life
 * of the VM. Terms of other kinds are pointers and are never cached. */
#ifndef ET_BEAM_PIDTEXT_H
#define ET_BEAM_PIDTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <erl_nif.h>

/* Writes t as term_simple does, NUL-terminated, and returns its length. `thread` is
 * engine_thread.index of the calling thread. */
size_t pidtext(ErlNifEnv *env, ERL_NIF_TERM t, uint32_t thread, char *out, size_t cap);

#endif
