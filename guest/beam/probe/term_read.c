/* term_read.c - see term_read.h. */
#include "beam/probe/term_read.h"

#include <string.h>

#include "base/size.h"
#include "beam/probe/frozen.h"
#include "beam/probe/term.h"

static const uint64_t *words(ERL_NIF_TERM t)
{
    return (const uint64_t *)(uintptr_t)(t & ~(ERL_NIF_TERM)FROZEN_CELL);
}

static bool is_cell(ERL_NIF_TERM t)
{
    return read_is_frozen(t) && (t & FROZEN_CELL) != 0;
}

/* Returns the object if it is of that kind, NULL if not. */
static const uint64_t *object(ERL_NIF_TERM t, enum frozen_kind kind)
{
    if (!read_is_frozen(t) || is_cell(t))
        return NULL;
    const uint64_t *o = words(t);
    return (o[0] & ((1u << FROZEN_KIND_BITS) - 1)) == kind ? o : NULL;
}

static size_t number(const uint64_t *o)
{
    return (size_t)(o[0] >> FROZEN_KIND_BITS);
}

bool read_is_cut(ERL_NIF_TERM t)
{
    return object(t, FROZEN_CUT) != NULL;
}

ErlNifTermType read_type(ErlNifEnv *env, ERL_NIF_TERM t)
{
    if (!read_is_frozen(t))
        return enif_term_type(env, t);
    if (is_cell(t))
        return ERL_NIF_TERM_TYPE_LIST;
    const uint64_t *o = words(t);
    switch ((enum frozen_kind)(o[0] & ((1u << FROZEN_KIND_BITS) - 1))) {
    case FROZEN_TUPLE: return ERL_NIF_TERM_TYPE_TUPLE;
    case FROZEN_MAP:
    case FROZEN_LARGE_MAP: return ERL_NIF_TERM_TYPE_MAP;
    case FROZEN_INT: return ERL_NIF_TERM_TYPE_INTEGER;
    case FROZEN_FLOAT: return ERL_NIF_TERM_TYPE_FLOAT;
    case FROZEN_BINARY: return ERL_NIF_TERM_TYPE_BITSTRING;
    case FROZEN_PRINTED: return (ErlNifTermType)(o[1] & (FROZEN_NEGATIVE - 1));
    case FROZEN_CUT: break;
    }
    return (ErlNifTermType)0;
}

bool read_is_list(ErlNifEnv *env, ERL_NIF_TERM t)
{
    return read_is_frozen(t) ? is_cell(t) : enif_is_list(env, t);
}

bool read_is_map(ErlNifEnv *env, ERL_NIF_TERM t)
{
    return read_is_frozen(t) ? read_type(env, t) == ERL_NIF_TERM_TYPE_MAP : enif_is_map(env, t);
}

bool read_tuple(ErlNifEnv *env, ERL_NIF_TERM t, int *n, const ERL_NIF_TERM **e)
{
    if (!read_is_frozen(t))
        return enif_get_tuple(env, t, n, e);
    const uint64_t *o = object(t, FROZEN_TUPLE);
    if (!o)
        return false;
    *n = (int)number(o);
    *e = (const ERL_NIF_TERM *)(o + 1);
    return true;
}

bool read_cell(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *head, ERL_NIF_TERM *tail)
{
    if (!read_is_frozen(t))
        return enif_get_list_cell(env, t, head, tail);
    if (!is_cell(t))
        return false;
    *head = words(t)[0];
    *tail = words(t)[1];
    return true;
}

bool read_int64(ErlNifEnv *env, ERL_NIF_TERM t, int64_t *i)
{
    ErlNifSInt64 value;
    if (read_is_frozen(t)) {
        const uint64_t *o = object(t, FROZEN_INT);
        if (o)
            *i = (int64_t)o[1];
        return o != NULL;
    }
    if (!enif_get_int64(env, t, &value))
        return false;
    *i = value;
    return true;
}

/* Returns the object of an integer of more than 64 bits, NULL: it is none. */
static const uint64_t *large_integer(ERL_NIF_TERM t)
{
    const uint64_t *o = object(t, FROZEN_PRINTED);
    return o && (o[1] & (FROZEN_NEGATIVE - 1)) == ERL_NIF_TERM_TYPE_INTEGER ? o : NULL;
}

bool read_is_uint64(ErlNifEnv *env, ERL_NIF_TERM t)
{
    ErlNifUInt64 u;
    int64_t i;
    if (!read_is_frozen(t))
        return enif_get_uint64(env, t, &u);
    const uint64_t *o = large_integer(t);
    return o ? (o[1] & FROZEN_UINT64) != 0 : read_int64(env, t, &i) && i >= 0;
}

bool read_double(ErlNifEnv *env, ERL_NIF_TERM t, double *d)
{
    if (!read_is_frozen(t))
        return enif_get_double(env, t, d);
    const uint64_t *o = object(t, FROZEN_FLOAT);
    if (o)
        memcpy(d, &o[1], sizeof *d);
    return o != NULL;
}

bool read_is_negative(ErlNifEnv *env, ERL_NIF_TERM t)
{
    int64_t i;
    if (read_int64(env, t, &i))
        return i < 0;
    if (!read_is_frozen(t))
        return enif_compare(t, enif_make_int64(env, 0)) < 0;
    const uint64_t *o = large_integer(t);
    return o && (o[1] & FROZEN_NEGATIVE) != 0;
}

bool read_is_short(ERL_NIF_TERM t)
{
    if (!read_is_frozen(t))
        return term_is_short(t);
    const uint64_t *o = large_integer(t);
    return o && number(o) > 0;
}

bool read_binary(ErlNifEnv *env, ERL_NIF_TERM t, struct read_bytes *b)
{
    ErlNifBinary bin;
    if (read_is_frozen(t)) {
        const uint64_t *o = object(t, FROZEN_BINARY);
        if (o)
            *b = (struct read_bytes){(const unsigned char *)(o + 2), number(o), o[1]};
        return o != NULL;
    }
    if (!enif_is_binary(env, t) || !enif_inspect_binary(env, t, &bin))
        return false;
    *b = (struct read_bytes){bin.data, bin.size, bin.size};
    return true;
}

/* -- maps -------------------------------------------------------------------------------------- */

bool read_map_size(ErlNifEnv *env, ERL_NIF_TERM t, size_t *pairs)
{
    if (!read_is_frozen(t))
        return enif_get_map_size(env, t, pairs);
    const uint64_t *o = object(t, FROZEN_MAP);
    if (o)
        *pairs = number(o);
    else if ((o = object(t, FROZEN_LARGE_MAP)) != NULL)
        *pairs = o[1];
    return o != NULL;
}

bool read_map_value(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM key, ERL_NIF_TERM *value)
{
    if (!read_is_frozen(t))
        return enif_get_map_value(env, t, key, value);
    const uint64_t *o = object(t, FROZEN_MAP);
    for (size_t i = 0; o && i < number(o); i++)
        if (o[1 + 2 * i] == key) {
            *value = o[2 + 2 * i];
            return true;
        }
    return false;
}

bool read_pairs_begin(ErlNifEnv *env, ERL_NIF_TERM t, struct read_pairs *p)
{
    size_t pairs;
    *p = (struct read_pairs){.env = env};
    if (!read_is_frozen(t))
        return enif_get_map_size(env, t, &pairs) && pairs <= READ_PAIRS &&
               enif_map_iterator_create(env, t, &p->it, ERL_NIF_MAP_ITERATOR_FIRST);
    const uint64_t *o = object(t, FROZEN_MAP);
    if (!o)
        return false;
    p->frozen = (const ERL_NIF_TERM *)(o + 1);
    p->left = number(o);
    return true;
}

bool read_pairs_next(struct read_pairs *p, ERL_NIF_TERM *key, ERL_NIF_TERM *value)
{
    if (!p->frozen) {
        if (!enif_map_iterator_get_pair(p->env, &p->it, key, value))
            return false;
        enif_map_iterator_next(p->env, &p->it);
        return true;
    }
    if (p->left == 0)
        return false;
    *key = p->frozen[0];
    *value = p->frozen[1];
    p->frozen += 2;
    p->left--;
    return true;
}

void read_pairs_end(struct read_pairs *p)
{
    if (!p->frozen)
        enif_map_iterator_destroy(p->env, &p->it);
}

/* -- what only the emulator can print ---------------------------------------------------------- */

size_t read_printed(ERL_NIF_TERM t, char *out, size_t cap)
{
    if (cap == 0)
        return 0;
    if (!read_is_frozen(t)) {
        const int n = enif_snprintf(out, cap, "%T", t);
        return n < 0 ? 0 : size_min((size_t)n, cap - 1);
    }
    const uint64_t *o = object(t, FROZEN_PRINTED);
    const size_t n = o ? size_min(number(o), cap - 1) : 0;
    if (n > 0)
        memcpy(out, o + 3, n);
    out[n] = '\0';
    return n;
}

bool read_same(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    char p[FROZEN_TEXT + 1], q[FROZEN_TEXT + 1];
    if (!read_is_frozen(a) && !read_is_frozen(b))
        return enif_is_identical(a, b);
    double d, e;
    if (read_double(env, a, &d) && read_double(env, b, &e))
        return memcmp(&d, &e, sizeof d) == 0;
    const size_t n = read_printed(a, p, sizeof p);
    return n > 0 && n == read_printed(b, q, sizeof q) && memcmp(p, q, n) == 0;
}

uint64_t read_hash(ERL_NIF_TERM t)
{
    if (!read_is_frozen(t))
        return enif_hash(ERL_NIF_PHASH2, t, 0);
    const uint64_t *o = object(t, FROZEN_PRINTED);
    return o ? o[2] : 0;
}
