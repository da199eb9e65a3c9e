/* frozen.h - copies of terms that outlive the event they came with.
 *
 * A copy is made of words in memory of the agent, without asking the VM for anything, and without
 * holding anything of the VM: the heap may move and the process may end. term_read.h reads it.
 *
 * FORM. A word of a copy is a term of the emulator that is all in its word, or the address of an
 * object, which is aligned to 8 bytes. Bit 2 of the address is set for the cell of a list, which
 * is two words, head and tail. Any other object begins with a header, and what follows depends on
 * its kind (n is a number in the header):
 *
 *     TUPLE        n elements
 *     MAP          n pairs, in the order of the VM's iterator
 *     LARGE_MAP    the number of pairs, none of which is kept
 *     INT          an integer of 64 bits that is not small
 *     FLOAT        a float
 *     BINARY       the size of the binary in bytes, then its first n bytes
 *     PRINTED      flags and type, the emulator's hash, then n characters that the emulator prints:
 *                  pids and ports of other nodes, references, funs, integers of more than 64 bits
 *                  (n = 0: too long), bitstrings (n = 0)
 *     RECORD       a native record: the atoms of its module, of its name, and of whether it is
 *                  exported, then n names of fields, atoms, and n values, in the order of its
 *                  definition
 *     UNKNOWN      the header of a term of an unknown kind
 *     CUT          a part that was not kept
 *
 * BOUNDS. A copy takes at most the words it is given, and looks at no more parts of a term than it
 * has words, and at TERM_SIZE_NODES of what funs have captured, for their sizes; nesting ends at
 * FROZEN_DEPTH. What does not fit is CUT: the end of a list, the end of a binary, and other terms
 * as a whole. Every argument of a call gets an equal share of the words that those before it have
 * left, so that a large one does not displace the others. */
#ifndef ET_BEAM_PROBE_FROZEN_H
#define ET_BEAM_PROBE_FROZEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <erl_nif.h>

enum frozen_kind {
    FROZEN_CUT,
    FROZEN_TUPLE,
    FROZEN_MAP,
    FROZEN_LARGE_MAP,
    FROZEN_INT,
    FROZEN_FLOAT,
    FROZEN_BINARY,
    FROZEN_PRINTED,
    FROZEN_RECORD,
    FROZEN_UNKNOWN
};
enum {
    FROZEN_DEPTH = 20,   /* nesting that is kept; more than a text shows */
    FROZEN_TEXT = 256,   /* characters of the longest PRINTED */
    FROZEN_CELL = 4,     /* tag of a cell */
    FROZEN_KIND_BITS = 8 /* of a header; n is above them */
};
/* Above the type; from FROZEN_WORDS_SHIFT on, of an integer or a fun, its words in the VM, with
 * what it has captured; 0: not known. */
enum frozen_flag { FROZEN_NEGATIVE = 1 << 8, FROZEN_UINT64 = 1 << 9 };
enum { FROZEN_WORDS_SHIFT = 16 };

struct term_sizes;
/* Learns the sizes of terms of this release, for those of funs. */
void frozen_learn(const struct term_sizes *of);

/* Copies the arguments of a call, a list, into n words at `to`. Returns the copy, and in *used the
 * words that it takes, at most n; 0 when there is no room for the list itself. *whole: no part of
 * it was left out. */
ERL_NIF_TERM frozen_args(ErlNifEnv *env, ERL_NIF_TERM list, uint64_t *to, size_t n, size_t *used,
                         bool *whole);

#endif
