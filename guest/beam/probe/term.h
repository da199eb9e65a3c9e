/* term.h - terms of the VM as text and as sizes, bounded in work.
 *
 * The emulator's own printer walks a whole term however small the buffer is, so it is used for
 * pids, ports, references and atoms only; what a program sent or died of goes through these
 * functions, which stop after a fixed number of nodes. They allocate nothing and may run in a
 * tracer callback. What takes time in proportion to a term adds to *looked how much it looked at:
 * one for each element of a list or byte of a text, more for what takes longer.
 */
#ifndef ET_BEAM_PROBE_TERM_H
#define ET_BEAM_PROBE_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <erl_nif.h>

enum {
    TERM_TEXT = 256,        /* bytes of a text buffer, NUL included */
    TERM_ATOM = 1024,       /* the longest atom's text: 255 characters of 4 bytes, and the NUL */
    TERM_NODES = 400,       /* terms that one text may look at */
    TERM_DEPTH = 16,        /* nesting that a text shows; deeper is "..." */
    TERM_SIZE_NODES = 2000, /* terms that one size may look at */
};
#define TERM_SIZE_UNKNOWN UINT32_MAX /* what the provider shows as 4294967295 */

/* Sizes that differ between OTP releases, in words. */
struct term_sizes {
    uint8_t refc_binary; /* binary of more than 64 bytes */
    uint8_t bitstring;   /* not a whole number of bytes */
    uint8_t local_fun;
};
/* The sizes of an OTP release: 25 and 26, 27 and 28, or 29 and later. */
struct term_sizes term_sizes_of(int otp);

/* What follows writes at most cap bytes to `out`, the NUL included, however small cap is; with 0 it
 * writes none. */

/* Writes the term as Erlang text, cut with "..." when it does not fit or is too large to look at,
 * with fewer dots when there is no room for three. Always NUL-terminated; returns the length. */
size_t term_text(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap, uint64_t *looked);

/* Says which OTP release this is, once, before the functions below are used. */
void term_init(int otp);

/* The emulator's text of a pid, port, reference or atom; of any other term what term_text makes of
 * it, as the emulator would print all of it. Returns the length. */
size_t term_simple(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap);

/* Copies bytes as a text of D: a zero byte, where a string of D would end, is written as \0, so
 * that texts which differ behind one stay apart. Cut where it does not fit, but not within a \0;
 * NUL-terminated. Returns the length; *cut says that something was left out. */
size_t term_copy(const void *bytes, size_t n, char *out, size_t cap, bool *cut);

/* The text of an atom without quotes, in UTF-8, zero bytes as term_copy has them. False: not an
 * atom, or it does not fit. */
bool term_atom(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap);

/* "m:f/a" as the VM's provider prints it, atoms quoted where they need it. Returns the length. */
size_t term_mfa(ErlNifEnv *env, ERL_NIF_TERM m, ERL_NIF_TERM f, unsigned arity, char *out,
                size_t cap);

/* The words that a copy of the term takes on a heap, off-heap data not counted; TERM_SIZE_UNKNOWN
 * when it is too large to look at or holds something whose size cannot be known from outside (maps
 * of more than 32 keys, integers of more than 64 bits). */
uint32_t term_words(ErlNifEnv *env, ERL_NIF_TERM t, const struct term_sizes *sizes);

/* -- looking into a term (term_look.c)
 * ------------------------------------------------------------------- */

enum {
    TERM_BYTES_NODES = 8192, /* terms that term_bytes may look at */
    TERM_BYTES_DEPTH = 64,   /* lists within lists that it may be in */
    TERM_LOOK = 1000,        /* elements of a list that one look may pass */
};

/* The bytes of an iolist or binary, NUL-terminated. False: it is neither, or does not fit, or is
 * too deep or has too many parts. *len is without the NUL. */
bool term_bytes(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap, size_t *len);

/* The text that a term holds: the name of an atom, the bytes of a binary, the characters of a list
 * of those and of binaries and lists (as UTF-8), zero bytes as term_copy has them, cut where it
 * does not fit; "" for anything else. NUL-terminated; returns the length. */
size_t term_string(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap, uint64_t *looked);

/* "atom", "integer", "float", "binary", "bitstring", "list", "tuple", "map", "pid", "port",
 * "reference", "fun" */
const char *term_kind(ErlNifEnv *env, ERL_NIF_TERM t);

/* Elements of a tuple or list, pairs of a map, bytes of a binary; 0 for anything else,
 * -1 for a list that is longer than TERM_BYTES_NODES. */
int64_t term_count(ErlNifEnv *env, ERL_NIF_TERM t, uint64_t *looked);

/* The n-th element, from 1 on, of a tuple or list; of a map the value of the integer key n. False:
 * there is none, or it is behind more than TERM_LOOK others. */
bool term_element(ErlNifEnv *env, ERL_NIF_TERM t, int64_t n, ERL_NIF_TERM *out, uint64_t *looked);

/* The value of a key that is an atom of this name, or a binary of these bytes: in a map (binaries
 * only where it has at most 32 pairs), or in a list of pairs {Key, Value} among its first TERM_LOOK
 * elements. False: there is none. */
bool term_get(ErlNifEnv *env, ERL_NIF_TERM t, const char *key, size_t len, ERL_NIF_TERM *out,
              uint64_t *looked);

#endif
