/* collecting.h - whether the VM collects a process: bits of a word of the process's structure
 * (inside.h), which are set as long as its collector works for the process.
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
 * PROOF. In a half of a word all looks have the same before and after; amid controls too; and amid
 * collections, often enough, one bit more, always the same, which is never set before or after. A
 * collection may be seen before it has begun, or after its end, so that not each shows the bit. It
 * is so in one half, or in both of one word, whose bits the very same looks show (OTP 29): then
 * both together tell it. What else changes meanwhile (addresses, counters) differs afterwards, or
 * in more bits; what tells in which function a process is, differs amid controls. Anything that
 * disturbs the process makes a proof fail, never another bit pass: a failed one is tried again.
 *
 * What is proven holds for all processes of this VM. It does not change, and is kept. */
#ifndef ET_BEAM_PROBE_COLLECTING_H
#define ET_BEAM_PROBE_COLLECTING_H

#include <stdbool.h>
#include <stdint.h>

#include <erl_nif.h>

#include "beam/probe/inside.h"

enum {
    COLLECTING_LOOKS = 16, /* 32 at most */
    COLLECTING_LEAST = 4   /* of them at least that show the bit, and controls */
};

struct collecting_look {
    uint64_t before[INSIDE_WORDS], amid[INSIDE_WORDS], after[INSIDE_WORDS];
    bool control;
};

/* All that are in `mask` are set in the word of that index while the process is collected. */
struct collecting_bits {
    uint64_t mask; /* 0: not known */
    uint16_t word;
};

/* Finds the bits that n looks prove, in the words before `words`. */
struct collecting_bits collecting_prove(const struct collecting_look *look, uint32_t n,
                                        uint16_t words);

/* Returns what is proven. Async-signal-safe. */
struct collecting_bits collecting_bits(void);

/* Returns whether a thread watches: what it does is the library's own work. */
bool collecting_is_watcher(int tid);

/* nif_collecting_ask(Pid) -> ok: this process may look, and no other. The one before it has ended;
 *     its looks are kept. Only the server.
 * nif_collecting_begin(Control :: boolean()) -> boolean(): the caller is about to be collected, or
 *     to do something else. False: it may not look, or its scheduler is not known.
 * nif_collecting_end() -> boolean(): it has done so. True: there are enough looks.
 *
 * nif_collecting_prove() -> boolean(): after that; whether the bits are known. Looks that were
 *     enough and prove nothing are forgotten.
 *
 * nif_collecting_watch() -> ok: watches until there are enough looks, or for some milliseconds.
 *     Once for each process that may look.
 *
 *     Only on a dirty scheduler for input and output: it mostly sleeps, and a node may have a
 *     single one for computing, which collects large heaps.
 *
 * nif_collecting_proven() -> boolean() */
ERL_NIF_TERM collecting_ask_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM collecting_begin_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM collecting_end_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM collecting_prove_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM collecting_watch_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM collecting_proven_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#endif
