/* frozen.c - see frozen.h. The walk recurses to a fixed depth. */
#include "beam/probe/frozen.h"

#include <string.h>

#include "base/size.h"
#include "beam/probe/term.h"
#include "beam/probe/term_read.h"

_Static_assert(sizeof(ERL_NIF_TERM) == sizeof(uint64_t), "a term is a word of a copy");

static _Alignas(8) const uint64_t cut_object[1] = {FROZEN_CUT};

static struct term_sizes sizes; /* of this release; local_fun 0: not known */

struct room {
    ErlNifEnv *env;
    uint64_t *p, *end;
    bool whole;      /* nothing was left out so far */
    unsigned budget; /* terms that sizes of funs may still look at */
};

void frozen_learn(const struct term_sizes *of)
{
    sizes = *of;
}

static ERL_NIF_TERM nothing(void)
{
    return (ERL_NIF_TERM)(uintptr_t)cut_object;
}

static ERL_NIF_TERM cut(struct room *r)
{
    r->whole = false;
    return nothing();
}

static size_t left(const struct room *r)
{
    return (size_t)(r->end - r->p);
}

/* Returns an object of this many words, NULL: there is no room. */
static uint64_t *object(struct room *r, enum frozen_kind kind, size_t n, size_t words)
{
    if (words > left(r))
        return NULL;
    uint64_t *o = r->p;
    r->p += words;
    o[0] = (uint64_t)kind | (uint64_t)n << FROZEN_KIND_BITS;
    return o;
}

static ERL_NIF_TERM word_of(struct room *r, const uint64_t *object)
{
    return object ? (ERL_NIF_TERM)(uintptr_t)object : cut(r);
}

static ERL_NIF_TERM copy(struct room *r, ERL_NIF_TERM t, unsigned depth);

static ERL_NIF_TERM copy_list(struct room *r, ERL_NIF_TERM t, unsigned depth)
{
    ERL_NIF_TERM head, first = nothing();
    uint64_t *at = NULL; /* the tail that is to be written */
    while (enif_get_list_cell(r->env, t, &head, &t)) {
        uint64_t *cell = left(r) >= 2 ? r->p : NULL;
        const ERL_NIF_TERM word =
            cell ? (ERL_NIF_TERM)(uintptr_t)cell | (ERL_NIF_TERM)FROZEN_CELL : cut(r);
        if (at)
            *at = word;
        else
            first = word;
        if (!cell)
            return first;
        r->p += 2;
        cell[1] = nothing();
        cell[0] = copy(r, head, depth + 1);
        at = &cell[1];
    }
    if (at)
        *at = copy(r, t, depth + 1);
    return first;
}

static ERL_NIF_TERM copy_tuple(struct room *r, ERL_NIF_TERM t, unsigned depth)
{
    const ERL_NIF_TERM *e;
    int n;
    if (!enif_get_tuple(r->env, t, &n, &e) || n < 0)
        return cut(r);
    uint64_t *o = object(r, FROZEN_TUPLE, (size_t)n, (size_t)n + 1);
    for (int i = 0; o && i < n; i++)
        o[1 + i] = copy(r, e[i], depth + 1);
    return word_of(r, o);
}

static ERL_NIF_TERM copy_large_map(struct room *r, size_t pairs)
{
    uint64_t *o = object(r, FROZEN_LARGE_MAP, 0, 2);
    r->whole = r->whole && pairs > READ_PAIRS; /* of which no program sees any */
    if (o)
        o[1] = pairs;
    return word_of(r, o);
}

static ERL_NIF_TERM copy_map(struct room *r, ERL_NIF_TERM t, unsigned depth)
{
    struct read_pairs it;
    ERL_NIF_TERM key, value;
    size_t pairs = 0, i = 1;
    if (!read_map_size(r->env, t, &pairs))
        return cut(r);
    uint64_t *o = pairs <= READ_PAIRS ? object(r, FROZEN_MAP, pairs, 2 * pairs + 1) : NULL;
    if (!o)
        return copy_large_map(r, pairs);
    for (size_t j = 1; j <= 2 * pairs; j++)
        o[j] = nothing();
    if (!read_pairs_begin(r->env, t, &it))
        return cut(r);
    for (; i < 2 * pairs && read_pairs_next(&it, &key, &value); i += 2) {
        o[i] = copy(r, key, depth + 1);
        o[i + 1] = copy(r, value, depth + 1);
    }
    read_pairs_end(&it);
    return word_of(r, o);
}

static ERL_NIF_TERM copy_record(struct room *r, ERL_NIF_TERM t, unsigned depth)
{
    enum { NAMES = 4 /* and the header */ };
    struct read_record is;
    ERL_NIF_TERM key, value;
    if (!read_record(t, &is) || is.n > left(r))
        return cut(r);
    uint64_t *o = object(r, FROZEN_RECORD, is.n, 2 * is.n + NAMES);
    if (!o)
        return cut(r);
    o[1] = is.module;
    o[2] = is.name;
    o[3] = is.exported;
    for (size_t i = 0; i < 2 * is.n; i++)
        o[NAMES + i] = nothing();
    for (size_t i = 0; i < is.n; i++) {
        if (!read_field(&is, i, &key, &value))
            return cut(r);
        o[NAMES + i] = key;
        o[NAMES + is.n + i] = copy(r, value, depth + 1);
    }
    return word_of(r, o);
}

static ERL_NIF_TERM copy_unknown(struct room *r, ERL_NIF_TERM t)
{
    uint64_t *o = object(r, FROZEN_UNKNOWN, 0, 2);
    if (o)
        o[1] = read_header(t);
    return word_of(r, o);
}

static size_t words_of(size_t bytes)
{
    return bytes / sizeof(uint64_t) + (bytes % sizeof(uint64_t) != 0);
}

/* Copies a term that only the emulator can print; `flags` above its type. `print`: it has a text
 * that tells it from others. */
static ERL_NIF_TERM copy_printed(struct room *r, ERL_NIF_TERM t, uint64_t type, bool print)
{
    char text[FROZEN_TEXT + 1];
    /* A fun's name may be that long. A text that fills the room may have been cut. */
    const size_t n = print ? read_printed(t, text, sizeof text) : 0;
    uint64_t *o = n < FROZEN_TEXT ? object(r, FROZEN_PRINTED, n, 3 + words_of(n)) : NULL;
    if (!o)
        return cut(r);
    const uint64_t kind = type & (FROZEN_NEGATIVE - 1);
    o[1] = type;
    o[2] = print && kind != ERL_NIF_TERM_TYPE_FUN ? enif_hash(ERL_NIF_PHASH2, t, 0) : 0;
    if (n > 0)
        memcpy(o + 3, text, n);
    return word_of(r, o);
}

static ERL_NIF_TERM copy_integer(struct room *r, ERL_NIF_TERM t)
{
    int64_t i;
    if (!read_int64(r->env, t, &i)) {
        const uint64_t flags = (read_is_negative(r->env, t) ? FROZEN_NEGATIVE : 0u) |
                               (read_is_uint64(r->env, t) ? FROZEN_UINT64 : 0u) |
                               (uint64_t)read_integer_words(t) << FROZEN_WORDS_SHIFT;
        return copy_printed(r, t, ERL_NIF_TERM_TYPE_INTEGER | flags, read_is_short(t));
    }
    uint64_t *o = object(r, FROZEN_INT, 0, 2);
    if (o)
        o[1] = (uint64_t)i;
    return word_of(r, o);
}

static ERL_NIF_TERM copy_fun(struct room *r, ERL_NIF_TERM t)
{
    bool least;
    const uint32_t words = sizes.local_fun != 0
                               ? term_words_within(r->env, t, &sizes, &r->budget, &least)
                               : TERM_SIZE_UNKNOWN;
    const bool exact = words != TERM_SIZE_UNKNOWN && !least;
    const uint64_t flags = exact ? (uint64_t)words << FROZEN_WORDS_SHIFT : 0;
    return copy_printed(r, t, ERL_NIF_TERM_TYPE_FUN | flags, true);
}

static ERL_NIF_TERM copy_float(struct room *r, ERL_NIF_TERM t)
{
    double d = 0;
    uint64_t *o = read_double(r->env, t, &d) ? object(r, FROZEN_FLOAT, 0, 2) : NULL;
    if (o)
        memcpy(&o[1], &d, sizeof d);
    return word_of(r, o);
}

static ERL_NIF_TERM copy_binary(struct room *r, ERL_NIF_TERM t)
{
    struct read_bytes b;
    if (!read_binary(r->env, t, &b))
        return copy_printed(r, t, ERL_NIF_TERM_TYPE_BITSTRING, false);
    const size_t most = size_mul(size_left(left(r), 2), sizeof(uint64_t));
    const size_t n = size_min(b.kept, most);
    uint64_t *o = object(r, FROZEN_BINARY, n, 2 + words_of(n));
    if (!o)
        return cut(r);
    r->whole = r->whole && n == b.size;
    o[1] = b.size;
    if (n > 0)
        memcpy(o + 2, b.data, n);
    return word_of(r, o);
}

static ERL_NIF_TERM copy(struct room *r, ERL_NIF_TERM t, unsigned depth)
{
    if (read_is_word(t))
        return t;
    if (depth > FROZEN_DEPTH || left(r) == 0)
        return cut(r);
    const int type = read_type(r->env, t);
    switch (type) {
    case ERL_NIF_TERM_TYPE_LIST: return copy_list(r, t, depth);
    case ERL_NIF_TERM_TYPE_TUPLE: return copy_tuple(r, t, depth);
    case ERL_NIF_TERM_TYPE_MAP: return copy_map(r, t, depth);
    case ERL_NIF_TERM_TYPE_INTEGER: return copy_integer(r, t);
    case ERL_NIF_TERM_TYPE_FLOAT: return copy_float(r, t);
    case ERL_NIF_TERM_TYPE_BITSTRING: return copy_binary(r, t);
    case ERL_NIF_TERM_TYPE_PID:
    case ERL_NIF_TERM_TYPE_PORT:
    case ERL_NIF_TERM_TYPE_REFERENCE: return copy_printed(r, t, (uint64_t)type, true);
    case ERL_NIF_TERM_TYPE_FUN: return copy_fun(r, t);
    case READ_RECORD: return copy_record(r, t, depth);
    default: return copy_unknown(r, t);
    }
}

ERL_NIF_TERM frozen_args(ErlNifEnv *env, ERL_NIF_TERM list, uint64_t *to, size_t n, size_t *used,
                         bool *whole)
{
    struct room r = {env, to, to + n, true, TERM_SIZE_NODES};
    ERL_NIF_TERM head, tail = list;
    size_t args = 0, large = 0;
    *used = 0;
    *whole = false;
    for (; args < READ_ARITY_MOST && enif_get_list_cell(env, tail, &head, &tail); args++)
        large += !read_is_word(head);
    if (args == 0) {
        *whole = true;
        return read_is_word(list) ? list : 0;
    }
    if (2 * args > n || !read_is_word(tail))
        return 0;
    r.p += 2 * args;
    for (size_t i = 0; i < args && enif_get_list_cell(env, list, &head, &list); i++) {
        if (!read_is_word(head)) {
            r.end = r.p + (size_t)(to + n - r.p) / large--;
            head = copy(&r, head, 1);
        }
        to[2 * i] = head;
        to[2 * i + 1] = i + 1 < args
                            ? (ERL_NIF_TERM)(uintptr_t)(to + 2 * i + 2) | (ERL_NIF_TERM)FROZEN_CELL
                            : tail;
    }
    *used = (size_t)(r.p - to);
    *whole = r.whole;
    return (ERL_NIF_TERM)(uintptr_t)to | (ERL_NIF_TERM)FROZEN_CELL;
}
