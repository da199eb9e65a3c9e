/* collecting.h - whether the VM collects a process: a bit of the process's structure (inside.h),
 * which is set as long as its collector works for the process.
 *
 * No NIF is told that: where one runs, no collection does. So the library watches collections.
 *
 * LOOKS. A process of the agent collects itself (with a few words to keep, on the scheduler that
 * runs it), and says to the library just before and just after that it does; both times its
 * structure is copied. Between the two a thread of a dirty scheduler, which WATCHES, copies it from
 * outside, through the system (/proc/self/mem). What it has copied counts if the process has said
 * nothing meanwhile. Some looks are CONTROLS: the process calls a function of the VM that does not
 * collect.
 *
 * PROOF. In one half of a word, and only one, all looks have the same before and after; amid
 * controls too; and amid collections, often enough, one bit more, always the same, which is never
 * set before or after. A collection may be seen before it has begun, or after its end, so that not
 * each shows the bit. What else changes meanwhile (addresses, counters) differs afterwards, or in
 * more bits; what tells in which function a process is, differs amid controls. Anything that
 * disturbs the process makes a proof fail, never another bit pass: a failed one is tried again.
 *
 * What is proven is a bit of the processes of this VM. It does not change, and is kept. */
#ifndef ET_BEAM_PROBE_COLLECTING_H
#define ET_BEAM_PROBE_COLLECTING_H

#include <stdbool.h>
#include <stdint.h>

#include <erl_nif.h>

#include "beam/probe/inside.h"

enum {
    COLLECTING_LOOKS = 16,
    COLLECTING_LEAST = 4 /* of them at least that show the bit, and controls */
};

struct collecting_look {
    uint64_t before[INSIDE_WORDS], amid[INSIDE_WORDS], after[INSIDE_WORDS];
    bool control;
};

/* Finds the bit that n looks prove, counted from that of the first word on, in the words before
 * `words`. Returns INSIDE_NONE when they prove none. */
uint16_t collecting_prove(const struct collecting_look *look, uint32_t n, uint16_t words);

/* Returns the bit; INSIDE_NONE: not known. Async-signal-safe. */
uint16_t collecting_bit(void);

/* nif_collecting_ask(Pid) -> ok: this process may look, and no other. The one before it has ended;
 *     its looks are kept. Only the server.
 * nif_collecting_begin(Control :: boolean()) -> boolean(): the caller is about to be collected, or
 *     to do something else. False: it may not look, or its scheduler is not known.
 * nif_collecting_end() -> boolean(): it has done so. True: there are enough looks.
 * nif_collecting_prove() -> boolean(): after that; whether the bit is known. Looks that were enough
 *     and prove nothing are forgotten.
 * nif_collecting_watch() -> ok: watches until there are enough looks, or for some milliseconds.
 *     Only on a dirty scheduler for input and output: it mostly sleeps, and a node may have a
 * single one for computing, which collects large heaps. nif_collecting_proven() -> boolean() */
ERL_NIF_TERM collecting_ask_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM collecting_begin_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM collecting_end_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM collecting_prove_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM collecting_watch_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM collecting_proven_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#endif
