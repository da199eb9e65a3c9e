/* nif.h - terms without a virtual machine: the part of erl_nif that the agent uses, for tests that
 * run its code in a program of their own.
 *
 * Terms are made by the functions here and by those of erl_nif.h, and last until nif_reset; atoms,
 * and processes and ports of this node, for ever. Every binary, tuple and map has memory of its
 * own, so that a sanitizer sees who reads past its end.
 *
 * What the agent must not do ends the program: an encoding of atoms that the release does not have,
 * an iterator over a map of more than 32 keys (it allocates), a term made on a heap or memory asked
 * for while nif_callback says that a callback of a tracer runs, and any question about a term of a
 * kind that the NIF interface does not have but whether it is of another. */
#ifndef ET_TEST_FUZZ_NIF_H
#define ET_TEST_FUZZ_NIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <erl_nif.h>

extern ErlNifEnv *const nif_env;
extern int nif_otp;             /* the release that this is; 25. 30: one that nobody knows */
extern bool nif_callback;       /* a tracer's callback runs */
extern int nif_thread;          /* enif_thread_type */
extern unsigned long nif_calls; /* calls of functions that look at a term, so far */
extern ERL_NIF_TERM nif_self;   /* enif_self, and enif_is_process_alive says yes to */

/* Forgets all terms that are not for ever. Resources that only terms have held are destroyed. */
void nif_reset(void);
/* The same for those that were made after a mark. */
void *nif_mark(void);
void nif_forget(void *mark);
/* An atom of this name in UTF-8, at most 255 characters; what is no UTF-8 is taken as Latin-1. */
ERL_NIF_TERM nif_atom(const void *name, size_t n);
/* The same of a text that ends with '\0'. */
ERL_NIF_TERM nif_name(const char *text);
unsigned nif_natoms(void);
ERL_NIF_TERM nif_atom_at(unsigned i);
ERL_NIF_TERM nif_int(int64_t i);
ERL_NIF_TERM nif_uint(uint64_t u);
/* An integer of more than 64 bits. */
ERL_NIF_TERM nif_bignum(void);
ERL_NIF_TERM nif_float(double d);
/* Of this node (which has 256), or of another one. */
ERL_NIF_TERM nif_pid(uint32_t number, bool local);
ERL_NIF_TERM nif_port(uint32_t number, bool local);
ERL_NIF_TERM nif_ref(uint32_t number);
ERL_NIF_TERM nif_fun(void);
/* A copy of these bytes; NULL: zeros. `bits`: one with bits behind them. */
ERL_NIF_TERM nif_binary(const void *p, size_t n, bool bits);
/* Bytes that begin within a byte, all zero. */
ERL_NIF_TERM nif_shifted(size_t n);
ERL_NIF_TERM nif_nil(void);
ERL_NIF_TERM nif_cons(ERL_NIF_TERM head, ERL_NIF_TERM tail);
/* A list of n times `one`, or n lists in each other: all in one piece of memory. */
ERL_NIF_TERM nif_cells(ERL_NIF_TERM one, unsigned n, bool nested);
ERL_NIF_TERM nif_tuple(const ERL_NIF_TERM *e, unsigned n);
/* n keys and n values, in turn. */
ERL_NIF_TERM nif_map(const ERL_NIF_TERM *pairs, unsigned n);
/* A term of a kind that nobody has defined, in its word or with a header. */
ERL_NIF_TERM nif_unknown(uint32_t number, bool in_its_word);
/* A native record of at most 4 fields, in turn with their values. `odd`: 0, or in which of 9 ways
 * it has another form than records have. */
ERL_NIF_TERM nif_record(ERL_NIF_TERM module, ERL_NIF_TERM name, const ERL_NIF_TERM *pairs,
                        unsigned n, unsigned odd);

/* Calls the library's function of this name, with as many terms as it takes. Ends the program when
 * there is none. */
ERL_NIF_TERM nif_call(const ErlNifEntry *library, const char *name, const ERL_NIF_TERM *arg);

#endif
