/* code.h - which function an address in compiled code belongs to, and the stack of the process that
 * runs.
 *
 * The VM tells no NIF where its code is. In front of each function's code lie three words: module,
 * function and arity. So the server hands over all functions that are loaded, and the library
 * searches the VM's code for these words, in the mapping that the VM has for it. Each place where
 * they are is an entry of a TABLE, in order of addresses; a function reaches to the next one's
 * words. (Words of code that is gone may still be there. No process returns to it.)
 * A table never changes. When code has been loaded since, frames are found that no entry explains;
 * then the server makes a new one, and the old one is freed when no thread can be reading it.
 *
 * Code can be purged, and other code can take its place, before the server makes a new table. An
 * entry is believed only if its three words are still there, and no others are nearer.
 *
 * STACKS. A process's stack lies at the end of its young heap's block (inside.h). Return addresses
 * are the words in it that lie in the code mapping.
 *
 * NAMES. A record has addresses. The first time that an entry occurs in a stack it is added to a
 * log, from which the server reads the names that a consumer has not got so far, always before it
 * hands over the records themselves. */
#ifndef ET_BEAM_PROBE_CODE_H
#define ET_BEAM_PROBE_CODE_H

#include "beam/tracer.h"

/* engine_ctx.stack: writes at most `most` addresses, the innermost first, and returns their number;
 * 0 where the stack is not known. */
uint32_t code_stack(struct engine_ctx *ctx, uint64_t *frames, uint32_t most);

/* Frees everything. No thread may be inside an event. */
void code_unload(void);

/* For the server only, in this order, to make a table:
 * nif_code_begin(Functions :: integer()) -> boolean(): false when it cannot be made now
 * nif_code_add(Module, [{Function, Arity}]) -> ok
 * nif_code_scan() -> boolean(): searches a part; false after the last one
 * nif_code_end() -> Functions :: integer(): those that were found; the table is in use */
ERL_NIF_TERM code_begin_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM code_add_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM code_scan_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM code_end_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_code_stale() -> boolean(): a frame was not explained since the last table.
 * nif_code_names(From) -> {Next, [{First, End, "m:f/a"}]}: what the log has from number From on. */
ERL_NIF_TERM code_stale_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM code_names_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#endif
