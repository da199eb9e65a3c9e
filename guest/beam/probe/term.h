/* term.h - terms of the VM as text and as sizes, with bounded work.
 *
 * The emulator's own printer walks a whole term however small the buffer is, so it is used only for
 * pids, ports, references and atoms. Anything else, such as a message or an exit reason, goes
 * through these functions, which stop after a fixed number of nodes. They allocate nothing and may
 * run in a tracer callback. A function whose time is proportional to a term adds what it examined
 * to *looked: one for each element of a list or byte of a text, more for what takes longer. */
#ifndef ET_BEAM_PROBE_TERM_H
#define ET_BEAM_PROBE_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <erl_nif.h>

enum {
    TERM_TEXT = 256,        /* bytes of a text buffer, including the NUL */
    TERM_ATOM = 1024,       /* the longest atom's text: 255 characters of 4 bytes, and the NUL */
    TERM_NODES = 400,       /* terms that one text may examine */
    TERM_DEPTH = 16,        /* nesting shown in a text; deeper is "..." */
    TERM_SIZE_NODES = 2000, /* terms that one size may examine */
};
#define TERM_SIZE_UNKNOWN UINT32_MAX /* shown by the provider as 4294967295 */

/* Sizes that differ between OTP releases, in words. */
struct term_sizes {
    uint8_t refc_binary; /* binary of more than 64 bytes */
    uint8_t bitstring;   /* not a whole number of bytes */
    uint8_t local_fun;
};
/* Returns the sizes of an OTP release. */
struct term_sizes term_sizes_of(int otp);

/* The functions below write at most cap bytes to `out`, including the NUL, for any cap; with 0 they
 * write nothing. */

/* Writes the term as Erlang text, cut with "..." when it does not fit or is too large to examine,
 * with fewer dots when there is no room for three. Always NUL-terminated. Returns the length. */
size_t term_text(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap, uint64_t *looked);
/* How a term is written. TERM_ARGUMENTS: it is the arguments of a call, a list and never a text,
 * whatever its elements are. */
enum term_form { TERM_ERLANG = 0, TERM_ELIXIR = 1, TERM_ARGUMENTS = 2 };
/* The same in the syntax of Erlang or Elixir, without what a program may not see (redact.h);
 * `form`: of enum term_form, combined. */
struct terms_view;
size_t term_shown(ErlNifEnv *env, ERL_NIF_TERM t, unsigned form, const struct terms_view *view,
                  char *out, size_t cap, uint64_t *looked);

/* Makes an atom of this name in UTF-8. Only for the agent's server: the VM keeps it for ever. */
bool term_make_atom(ErlNifEnv *env, const char *name, ERL_NIF_TERM *atom);

/* Sets the OTP release, once, before the functions below are used. Returns whether its kinds of
 * terms are known (read_init). */
bool term_init(ErlNifEnv *env, int otp);
/* Prepares texts for the OTP release, and frees what that takes; without it large integers are
 * "<bignum>". */
void term_text_init(int otp);
void term_text_done(void);
/* Returns whether an integer has at most some 60 digits. False without the above. */
bool term_is_short(ERL_NIF_TERM t);

/* Writes the emulator's text of a pid, port, reference or atom; for any other term the text of
 * term_text, since the emulator would print all of it. Returns the length. */
size_t term_simple(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap);

/* Copies bytes as a text for D: a zero byte, which would end a string of D, is written as \0, so
 * that texts that differ after one remain distinct. Cut where it does not fit, but not within a \0;
 * NUL-terminated. Returns the length; *cut says that something was left out. */
size_t term_copy(const void *bytes, size_t n, char *out, size_t cap, bool *cut);

/* Writes the text of an atom without quotes, in UTF-8, zero bytes as in term_copy. Returns false
 * when it is not an atom or does not fit. */
bool term_atom(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap);

/* Writes the name of an atom as it is, with its zero bytes. Returns its length; -1: it does not
 * fit, or only the emulator's printer can tell it. */
int term_atom_utf8(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap);

/* Writes "m:f/a" as the VM's provider prints it, atoms quoted where necessary. Returns the length.
 */
size_t term_mfa(ErlNifEnv *env, ERL_NIF_TERM m, ERL_NIF_TERM f, unsigned arity, char *out,
                size_t cap);

/* Writes a character of Unicode as UTF-8. Returns its bytes, at most 4. */
size_t term_utf8(unsigned c, unsigned char out[4]);

/* Returns the words that a copy of the term takes on a heap, excluding off-heap data;
 * *least is set to whether it takes at least that many: it is too large to examine, or contains
 * something whose size cannot be determined from outside (terms of an unknown kind; where the kinds
 * of the release are not known, maps of more than 32 keys, integers of more than 64 bits and funs).
 * TERM_SIZE_UNKNOWN when nothing is known. A native record counts with its definition, and a fun
 * with what it has captured, as in erts_debug:flat_size/1. */
uint32_t term_words(ErlNifEnv *env, ERL_NIF_TERM t, const struct term_sizes *sizes, bool *least);
/* The same, of at most *budget terms, which are subtracted. */
uint32_t term_words_within(ErlNifEnv *env, ERL_NIF_TERM t, const struct term_sizes *sizes,
                           unsigned *budget, bool *least);
uint32_t term_words_looked(ErlNifEnv *env, ERL_NIF_TERM t, const struct term_sizes *sizes,
                           uint64_t *looked, bool *least);

/* -- looking into a term (term_look.c) --------------------------------------------------------- */

enum {
    TERM_BYTES_NODES = 8192, /* terms that term_bytes may examine */
    TERM_BYTES_DEPTH = 64,   /* nesting of lists that it follows */
    TERM_LOOK = 1000,        /* elements of a list that one access may pass */
};

/* Writes the bytes of an iolist or binary, NUL-terminated. Returns false when it is neither, does
 * not fit, is too deep or has too many parts. *len excludes the NUL. */
bool term_bytes(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap, size_t *len);

/* Writes the text that a term holds: the name of an atom, the bytes of a binary, or the characters
 * of a list of characters, binaries and such lists (as UTF-8); "" for anything else. Zero bytes are
 * as in term_copy; cut where it does not fit; NUL-terminated. Without what a program may not see.
 * Returns the length. */
size_t term_string(ErlNifEnv *env, ERL_NIF_TERM t, const struct terms_view *view, char *out,
                   size_t cap, uint64_t *looked);

/* Returns "atom", "integer", "float", "binary", "bitstring", "list", "tuple", "map", "record" (a
 * native one), "pid", "port", "reference", "fun", or "unknown"; "" for a part that was not kept. */
const char *term_kind(ErlNifEnv *env, ERL_NIF_TERM t);

/* Returns the number of elements of a tuple or list, pairs of a map, fields of a native record, or
 * bytes of a binary; 0 for anything else, -1 for a list longer than TERM_BYTES_NODES. */
int64_t term_count(ErlNifEnv *env, ERL_NIF_TERM t, uint64_t *looked);

/* Finds the n-th element, from 1 on, of a tuple or list; in a map the value of the integer key n.
 * Returns false when there is none, or more than TERM_LOOK others precede it. */
bool term_element(ErlNifEnv *env, ERL_NIF_TERM t, int64_t n, ERL_NIF_TERM *out, uint64_t *looked);

/* Finds the value of a key that is an atom of this name, or a binary of these bytes: in a map
 * (binaries only where it has at most 32 pairs), in a list of pairs {Key, Value} among its first
 * TERM_LOOK elements, or that of a field among the first TERM_LOOK of a native record. Returns
 * false when there is none. */
bool term_get(ErlNifEnv *env, ERL_NIF_TERM t, const char *key, size_t len, ERL_NIF_TERM *out,
              uint64_t *looked);

/* Finds the value of a key in a map: any key in a map of at most 32 pairs, and one that is in its
 * word (event_is_word) in any map. In a native record: the value of the field whose name is that
 * atom, among the first TERM_LOOK. */
bool term_value(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM key, ERL_NIF_TERM *out,
                uint64_t *looked);

/* -- terms as numbers, and compared (term_same.c) ---------------------------------------------- */

enum {
    TERM_SAME_NODES = 2000,    /* terms that one comparison or hash may examine */
    TERM_SAME_DEPTH = 64,      /* nesting that it follows */
    TERM_SAME_BYTES = 1 << 16, /* bytes of binaries that it may examine */
    TERM_SAME_LARGE = 4,       /* integers that are not short that it may examine */
};

/* Returns an integer; one that does not fit is the least or greatest that does; 0: not one. */
int64_t term_int(ErlNifEnv *env, ERL_NIF_TERM t);
bool term_is_int(ErlNifEnv *env, ERL_NIF_TERM t, int64_t i);
/* Returns an integer or float times scale, truncated and limited in the same way. */
int64_t term_scaled(ErlNifEnv *env, ERL_NIF_TERM t, int64_t scale);
/* Returns the length of a proper list, -1: more than TERM_BYTES_NODES; 0 for anything else. */
int64_t term_length(ErlNifEnv *env, ERL_NIF_TERM t, uint64_t *looked);
/* Returns whether it is a record of the name that this atom is: a native one, or a tuple that
 * begins with it. */
bool term_is_record(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM name);
/* Returns whether they are equal (=:=). Terms that are not the same in memory, and too large to
 * examine, are not; so are different funs, bitstrings, maps of more than 32 keys, and terms of an
 * unknown kind. */
bool term_equal(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, uint64_t *looked);
/* Returns a hash that equal terms share, in all nodes of a release. What is too large to examine
 * does not count; of what is of an unknown kind only the header does. */
uint64_t term_hash(ErlNifEnv *env, ERL_NIF_TERM t, uint64_t *looked);

#endif
