/* records.h - the records that a program knows: tuples whose first element is their name.
 *
 * The consumer passes them with the program, which reads their fields by the number of the record
 * and of the element. A tuple is a record of that name if its first element and its size say so. */
#ifndef ET_BEAM_PROBE_RECORDS_H
#define ET_BEAM_PROBE_RECORDS_H

#include "beam/probe/redact.h"

enum {
    RECORDS_MOST = 200,
    RECORDS_FIELDS = 4000, /* of all records of a program */
};

/* Reads [[Name :: binary() | Fields :: [binary()]]] into v, whose patterns say which fields are not
 * to be seen. Makes the atoms: only for the server. Returns NULL, or what is wrong with it. */
const char *records_take(ErlNifEnv *env, struct arena *arena, ERL_NIF_TERM list,
                         struct terms_view *v);

/* Returns the record that a tuple of n elements is, NULL: none that is known. v may be NULL. */
const struct known_record *records_find(const struct terms_view *v, const ERL_NIF_TERM *e, int n);

/* Sets which records may have changed, by a list of their numbers in order; all others have not.
 * Only for the server. Returns false if it is no such list. */
bool records_old(ErlNifEnv *env, struct terms_view *v, ERL_NIF_TERM list);
static inline bool records_any_old(const struct terms_view *v)
{
    return v != NULL && atomic_load_explicit(&v->records.nold, memory_order_relaxed) > 0;
}
/* Returns whether a tuple whose first element this is may be such a record, of any size. */
bool records_is_old(const struct terms_view *v, ERL_NIF_TERM name);

/* Returns whether element i, from 0 on, of a record is not to be seen. r NULL: it is. */
static inline bool record_hides(const struct known_record *r, int64_t i)
{
    return r != NULL && i > 0 && i < r->size && r->field[i - 1].hidden;
}

#endif
