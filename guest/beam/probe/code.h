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
 * The VM unmaps code memory that it no longer needs. So only code to which the process that runs
 * here will return is read where it is. Anything else is read in a VIEW, a mapping of our own of
 * the same memory, which a table has from its beginning to its end. A view can be of memory that
 * the VM has given up, but it cannot be missing.
 *
 * STACKS. A process's stack lies at the end of its young heap's block (inside.h). Return addresses
 * are the words in it that lie in the code mapping.
 *
 * Each frame is a return address: it points behind the call, so that the frame's line is that of
 * the byte before it. A probe that knows a program counter instead passes the address after it. The
 * function that comes first where a probe knows it is the address of its code at its entry, which
 * has the line of its head; elsewhere, where no line is known, that of its third word.
 *
 * NAMES. A record has addresses. The first time that an entry occurs in a stack it is added to a
 * log, from which the server reads the names and lines (lines.h) that a consumer has not got so
 * far, always before it hands over the records themselves. */
#ifndef ET_BEAM_PROBE_CODE_H
#define ET_BEAM_PROBE_CODE_H

#include "beam/tracer.h"
#include "jit/lines.h"

/* engine_ctx.stack: writes at most `most` addresses, the innermost first, and returns their number;
 * 0 where the stack is not known. */
uint32_t code_stack(struct engine_ctx *ctx, uint64_t *frames, uint32_t most);

/* Finds where the VM keeps compiled code. Returns the number of mappings; 0: that is not known, as
 * before the first table. */
uint32_t code_ranges(struct code_extent out[CODE_RANGES]);

/* UNKNOWN: in code that no entry of the table explains. ELSEWHERE: outside of compiled code, or in
 * the pieces that all functions share. */
enum code_place { CODE_ELSEWHERE, CODE_UNKNOWN, CODE_FUNCTION };
struct code_function {
    ERL_NIF_TERM m, f;
    uint32_t arity;
};
/* Returns where an address lies, which may be that of any instruction, and of code that is gone;
 * fn: the function, if that is CODE_FUNCTION. Adds its work to *looked. Here and below: between
 * engine_enter and engine_leave. */
enum code_place code_place(uint64_t at, struct code_function *fn, uint64_t *looked);
/* Returns a place, without a line, in the function that has these three words, whatever they are;
 * 0: none that is known has. */
uint64_t code_address(uint64_t m, uint64_t f, uint64_t arity);
/* Finds the function that called the one that the process is in. Returns false when it is not
 * known. */
bool code_caller(struct engine_ctx *ctx, ERL_NIF_TERM *m, ERL_NIF_TERM *f, unsigned *arity);

/* Adds a name to the log that is not that of a function in compiled code, for addresses from `from`
 * to before `to`. Returns false when the log has no room. Only the server. */
bool code_tell(uint64_t from, uint64_t to, const char *name);

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
/* nif_code_stale() -> boolean() | undefined: a frame was not explained since the last table, or the
 * VM has other mappings of code by now, or no table is in use; undefined: only a function was not
 * found.
 *
 * nif_code_rest() -> ok: no program takes stacks. The table gives up its memory of the VM, as far
 * as no event can be reading it: so this is called again and again.
 *
 * nif_code_names(From) -> {Next, [{First, End, "m:f/a", [File], Sites}]}: what the log has from
 * number From on. Sites: a binary of struct lines_site; files are counted from 0, "": not known. */
ERL_NIF_TERM code_stale_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM code_rest_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM code_names_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#endif
