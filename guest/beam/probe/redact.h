/* redact.h - what a program may not see of terms: nothing of them, or nothing behind certain keys.
 *
 * A key is an atom, a binary or a list of characters. Its value is that of a map or of a native
 * record; what stands directly behind it in a tuple, in a list or among arguments; and all of a
 * tuple that begins with it. If the key matches one of a program's patterns, "[redacted]" stands
 * for the value in texts, and the atom of that name where the program takes the value out.
 *
 * Patterns match in either case, unless they begin with "case:". */
#ifndef ET_BEAM_PROBE_REDACT_H
#define ET_BEAM_PROBE_REDACT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <erl_nif.h>

#include "base/arena.h"

#define REDACTED "[redacted]" /* the text, and the name of the atom */

enum {
    REDACT_PATTERNS = 32,
    REDACT_BYTES = 256, /* of all patterns of a program */
    /* A longer key of a map, or at the front of a tuple, is taken for one that matches; elsewhere
     * it is taken for none. */
    REDACT_KEY = 128,
};

struct redact {
    uint32_t n;
    const char *glob[REDACT_PATTERNS];
    bool exact[REDACT_PATTERNS]; /* case makes a difference */
};

/* A record that the program knows: records.h. */
struct known_record {
    _Atomic bool old;  /* its definition may no longer be that of the code that runs */
    ERL_NIF_TERM name; /* an atom */
    int size;          /* of the tuple */
    struct known_field {
        ERL_NIF_TERM name; /* an atom */
        bool hidden;
    } * field; /* size - 1 of them */
};

struct known_records {
    uint32_t n, nsorted;
    _Atomic uint32_t nold;        /* of v */
    struct known_record *v;       /* n of them, by number */
    struct known_record **sorted; /* by name and size, each pair once */
};

/* What a program sees of terms. One that sees all, and knows no record, has none. */
struct terms_view {
    bool hidden; /* nothing: it does not look into any, and its arguments do not show them */
    struct redact redact;
    struct known_records records;
};

/* Returns whether there is something that the program may not see. v may be NULL. */
static inline bool redact_any(const struct terms_view *v)
{
    return v != NULL && (v->hidden || v->redact.n > 0);
}

/* Reads a list of binaries, patterns. Returns NULL, or what is wrong with it. */
const char *redact_take(ErlNifEnv *env, struct arena *arena, ERL_NIF_TERM list, struct redact *r);
/* Return whether the value of a key is not to be seen: of one of that name (UTF-8), or of a term.
 * v NULL: all is seen. */
bool redact_name(const struct terms_view *v, const char *name, size_t len, uint64_t *looked);
bool redact_key(ErlNifEnv *env, const struct terms_view *v, ERL_NIF_TERM key, uint64_t *looked);
/* Returns whether what stands directly behind `before`, in a list or a tuple, is not to be seen. */
bool redact_behind(ErlNifEnv *env, const struct terms_view *v, ERL_NIF_TERM before,
                   uint64_t *looked);
/* Returns whether element i, from 0, of a tuple is not to be seen. */
bool redact_element(ErlNifEnv *env, const struct terms_view *v, const ERL_NIF_TERM *e, size_t i,
                    uint64_t *looked);

#endif
