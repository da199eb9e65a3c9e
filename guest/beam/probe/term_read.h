/* term_read.h - reads terms, whether they are on a heap of the VM or kept by the agent (frozen.h).
 *
 * The two lowest bits of the emulator's words are never 00, which is the tag of a frozen term: the
 * word is then the address of the agent's own copy. No function of the emulator ever gets such a
 * word. Atoms, [], small integers, and pids and ports of this node are the same words in a copy.
 *
 * UNKNOWN KINDS. The emulator's functions are made for the kinds of terms that it had when the NIF
 * interface was written, and some of them end it when they meet another one. So the kind of a term
 * is read from its own words first (words/terms.list), and the emulator is asked about nothing but
 * what the answer is about: no function here hands it a term whose parts it would compare, hash,
 * print or encode. On a release that the list does not have, headers mean nothing; the kind is then
 * what the emulator's own tests (enif_is_tuple and the like) say, which look at the header alone. A
 * term that is of no known kind has the type READ_UNKNOWN: no word behind its header is read.
 *
 * NATIVE RECORDS, for which the NIF interface has no functions, are read from their words: a record
 * refers to its definition, whose form is examined before anything in it is taken for what it
 * should be. What does not have that form is of an unknown kind.
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

/* Types that the NIF interface does not have. */
enum { READ_RECORD = 64 /* a native record */, READ_UNKNOWN };

/* Says which release this is, once, before anything is read. Compares what the list says of it with
 * terms that it makes in env; where they differ, headers are not relied on. Returns whether they
 * are. */
bool read_init(ErlNifEnv *env, int otp);

/* Returns the type, an ErlNifTermType or one of the above; 0: of a part that was not kept. */
int read_type(ErlNifEnv *env, ERL_NIF_TERM t);
/* Returns the word that says what a term of an unknown kind is: its header, or itself. */
uint64_t read_header(ERL_NIF_TERM t);
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

/* The bytes of a binary. Of one that begins within a byte, and is large, none are kept: the
 * emulator would copy it whole. */
struct read_bytes {
    const unsigned char *data;
    size_t kept; /* bytes at data; less than size where the rest was not kept */
    size_t size; /* of the binary */
};
bool read_binary(ErlNifEnv *env, ERL_NIF_TERM t, struct read_bytes *b);
/* Returns the size of a binary in bytes. Whoever needs no more does not ask for the bytes: the
 * emulator takes from a binary that grows the room that it has left, so that its next growth copies
 * it. */
bool read_size(ErlNifEnv *env, ERL_NIF_TERM t, size_t *bytes);

/* Returns the number of pairs of a map. */
bool read_map_size(ErlNifEnv *env, ERL_NIF_TERM t, size_t *pairs);
/* Returns whether the word is a pid of this node. False also where kinds are not known: then the
 * emulator is to be asked. */
bool read_is_local_pid(ERL_NIF_TERM t);
/* Reads the words of {Module, Function, Arity}. False: the term is something else, or on a release
 * whose kinds are not known, where the emulator is to be asked. */
enum { READ_ARITY_MOST = 255 /* arguments of a function */ };
bool read_mfa(ERL_NIF_TERM t, ERL_NIF_TERM *m, ERL_NIF_TERM *f, unsigned *arity);
/* The same of {Module, Function, Args}. */
bool read_call(ERL_NIF_TERM t, ERL_NIF_TERM *m, ERL_NIF_TERM *f, unsigned *arity,
               ERL_NIF_TERM *args);

/* Finds the value of a key that is in its word. On a release whose kinds are not known, a map of
 * more than READ_PAIRS pairs has none: some key of it could be of any kind. */
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

/* A node of the tree that a map of more than READ_PAIRS pairs is. What it leads to is another node,
 * or a list cell with a key and its value. */
struct read_node {
    const ERL_NIF_TERM *child;
    size_t n;     /* children */
    size_t words; /* of the node itself, with its header */
};
/* Reads a map, or a child of a node that is not a list cell. Returns false for anything else, for a
 * copy of the agent, and where the release's maps are not known (read_init). */
bool read_node(ERL_NIF_TERM t, struct read_node *n);

/* Returns the words of an integer that does not fit into one, with its header; 0: not known. */
size_t read_integer_words(ERL_NIF_TERM t);

/* Returns the words of a copied integer or fun, with what it had captured; 0: not known. */
size_t read_frozen_words(ERL_NIF_TERM t);

/* A fun: what it has captured, and the words that it takes with these. */
struct read_fun {
    const ERL_NIF_TERM *captured;
    size_t n, words;
};
/* Reads a fun. Returns false for anything else, for a copy of the agent, and where this VM's funs
 * are not known. */
bool read_fun(ERL_NIF_TERM t, struct read_fun *f);
/* Learns where a fun has the number of captured terms, from funs that the caller has made. `of` is
 * a list of lists [Fun | Captured]; what is captured are words, all different. `least`: the words
 * that a fun has beside these. Returns whether all funs agree on one place. No thread may be
 * reading terms. */
bool read_learn_funs(ErlNifEnv *env, ERL_NIF_TERM of, size_t least);

/* A native record: the atoms of its module and name, and whether other modules may see its fields,
 * an atom too. */
struct read_record {
    ERL_NIF_TERM module, name, exported;
    size_t n;                            /* fields */
    const uint64_t *key, *value, *order; /* order: where fields are, as defined; NULL: frozen */
};
enum { READ_RECORD_HEADS = 8 /* words of a record and its definition before values and keys */ };
bool read_record(ERL_NIF_TERM t, struct read_record *r);
/* Returns field i, from 0 on, in the order of the definition. False: it has another form than the
 * fields of records. */
bool read_field(const struct read_record *r, size_t i, ERL_NIF_TERM *key, ERL_NIF_TERM *value);
/* Finds the value of a field whose name is this atom. `most`: fields that may be examined. */
bool read_field_value(const struct read_record *r, ERL_NIF_TERM key, size_t most,
                      ERL_NIF_TERM *value);

/* Writes what the emulator prints for a pid, port, reference, fun or short integer. Returns the
 * length, less than cap. */
size_t read_printed(ERL_NIF_TERM t, char *out, size_t cap);
/* Returns whether two pids, ports, references, floats or integers of more than 64 bits are equal.
 */
bool read_same(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b);
/* Returns the emulator's hash of such a term. */
uint64_t read_hash(ERL_NIF_TERM t);

#endif
