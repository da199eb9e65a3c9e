/* term_read.h - reads terms, whether they are on a heap of the VM or kept by the agent (frozen.h).
 *
 * The two lowest bits of the emulator's words are never 00, which is the tag of a frozen term: the
 * word is then the address of the agent's own copy. No function of the emulator ever gets such a
 * word. Atoms, [], small integers, and pids and ports of this node are the same words in a copy.
 *
 * The functions that stand for one of the emulator are named after it. They run in callbacks: see
 * term.h. */
#ifndef ET_BEAM_PROBE_TERM_READ_H
#define ET_BEAM_PROBE_TERM_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <erl_nif.h>

static inline bool read_is_frozen(ERL_NIF_TERM t)
{
    return (t & 3) == 0;
}

/* Returns whether it is in its word: the emulator's functions for immediate terms may get it. */
static inline bool read_is_word(ERL_NIF_TERM t)
{
    return (t & 3) == 3;
}

/* Returns whether it stands for a part that was too large to keep. It has no type. */
bool read_is_cut(ERL_NIF_TERM t);

/* Returns the type; 0: of a part that was not kept. */
ErlNifTermType read_type(ErlNifEnv *env, ERL_NIF_TERM t);
bool read_is_list(ErlNifEnv *env, ERL_NIF_TERM t);
bool read_is_map(ErlNifEnv *env, ERL_NIF_TERM t);
bool read_tuple(ErlNifEnv *env, ERL_NIF_TERM t, int *n, const ERL_NIF_TERM **e);
bool read_cell(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *head, ERL_NIF_TERM *tail);
bool read_int64(ErlNifEnv *env, ERL_NIF_TERM t, int64_t *i);
/* Returns whether an integer is at most UINT64_MAX and not negative. */
bool read_is_uint64(ErlNifEnv *env, ERL_NIF_TERM t);
bool read_double(ErlNifEnv *env, ERL_NIF_TERM t, double *d);
/* Of an integer. */
bool read_is_negative(ErlNifEnv *env, ERL_NIF_TERM t);
/* Returns whether an integer is one of those that term_is_short is about. */
bool read_is_short(ERL_NIF_TERM t);

/* The bytes of a binary. */
struct read_bytes {
    const unsigned char *data;
    size_t kept; /* bytes at data; less than size where the rest was not kept */
    size_t size; /* of the binary */
};
bool read_binary(ErlNifEnv *env, ERL_NIF_TERM t, struct read_bytes *b);

/* Returns the number of pairs of a map. */
bool read_map_size(ErlNifEnv *env, ERL_NIF_TERM t, size_t *pairs);
/* Finds the value of a key that is in its word. */
bool read_map_value(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM key, ERL_NIF_TERM *value);

enum { READ_PAIRS = 32 /* of the largest map whose iterator does not allocate */ };
struct read_pairs {
    ErlNifEnv *env;
    const ERL_NIF_TERM *frozen; /* the next pair; NULL: `it` is in use */
    size_t left;                /* frozen pairs from there on */
    ErlNifMapIterator it;
};
/* Begins a walk over the pairs of a map. Returns false for anything else, and for a map of more
 * than READ_PAIRS pairs; otherwise read_pairs_end has to follow. */
bool read_pairs_begin(ErlNifEnv *env, ERL_NIF_TERM t, struct read_pairs *p);
/* Returns the next pair, false after the last. */
bool read_pairs_next(struct read_pairs *p, ERL_NIF_TERM *key, ERL_NIF_TERM *value);
void read_pairs_end(struct read_pairs *p);

/* Writes what the emulator prints for a pid, port, reference, fun or short integer. Returns the
 * length, less than cap. */
size_t read_printed(ERL_NIF_TERM t, char *out, size_t cap);
/* Returns whether two pids, ports, references, floats or integers of more than 64 bits are equal.
 */
bool read_same(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b);
/* Returns the emulator's hash of such a term. */
uint64_t read_hash(ERL_NIF_TERM t);

#endif
