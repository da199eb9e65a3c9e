/* term_same.c - terms as numbers, compared, and hashed. See term.h.
 *
 * The emulator's own comparison and hash walk whole terms, so they see only terms whose size is
 * limited: floats, pids, ports, references, and few integers of more than 64 bits. The walks here
 * recurse to a fixed depth, and carry a budget from which every visited term takes one. */
#include "beam/probe/term.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/size.h"
#include "beam/probe/term_read.h"

/* Costs in elements examined: a term; bytes that are examined in the time of one; an integer of any
 * size. */
enum { LOOKS_NODE = 8, LOOKS_BYTES = 16, LOOKS_LARGE = 1000 };

/* -- numbers ----------------------------------------------------------------------------------- */

int64_t term_int(ErlNifEnv *env, ERL_NIF_TERM t)
{
    int64_t i;
    if (read_int64(env, t, &i))
        return i;
    if (read_type(env, t) != ERL_NIF_TERM_TYPE_INTEGER)
        return 0;
    return read_is_negative(env, t) ? INT64_MIN : INT64_MAX;
}

bool term_is_int(ErlNifEnv *env, ERL_NIF_TERM t, int64_t i)
{
    int64_t is;
    return read_int64(env, t, &is) && is == i;
}

int64_t term_scaled(ErlNifEnv *env, ERL_NIF_TERM t, int64_t scale)
{
    double d;
    int64_t product;
    if (!read_double(env, t, &d)) {
        int64_t i = term_int(env, t);
        if (!__builtin_mul_overflow(i, scale, &product))
            return product;
        return (i < 0) != (scale < 0) ? INT64_MIN : INT64_MAX;
    }
    d *= (double)scale;
    /* No float of Erlang is infinite or NaN, but a product may be infinite. */
    return d >= 0x1p63 ? INT64_MAX : d < -0x1p63 ? INT64_MIN : isnan(d) ? 0 : (int64_t)d;
}

int64_t term_length(ErlNifEnv *env, ERL_NIF_TERM t, uint64_t *looked)
{
    ERL_NIF_TERM head;
    int64_t n = 0;
    for (; n <= TERM_BYTES_NODES && read_cell(env, t, &head, &t); n++)
        ;
    *looked += (uint64_t)n;
    if (n > TERM_BYTES_NODES || read_is_cut(t))
        return -1;
    return read_is_word(t) && enif_is_empty_list(env, t) ? n : 0;
}

/* -- comparison -------------------------------------------------------------------------------- */

struct same_walk {
    ErlNifEnv *env;
    unsigned budget, large;
    size_t bytes; /* of binaries that may still be examined */
};

static void same_begin(struct same_walk *w, ErlNifEnv *env)
{
    *w = (struct same_walk){env, TERM_SAME_NODES, TERM_SAME_LARGE, TERM_SAME_BYTES};
}

static uint64_t same_looked(const struct same_walk *w)
{
    return (TERM_SAME_NODES - w->budget) * LOOKS_NODE + (TERM_SAME_LARGE - w->large) * LOOKS_LARGE +
           (TERM_SAME_BYTES - w->bytes) / LOOKS_BYTES;
}

/* Takes one from what is left of something. */
static bool take(unsigned *left)
{
    return *left > 0 && (*left)-- > 0;
}

static bool same_binary(struct same_walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    struct read_bytes p, q;
    if (!read_binary(w->env, a, &p) || !read_binary(w->env, b, &q) || p.size != q.size ||
        p.kept < p.size || q.kept < q.size)
        return false;
    if (p.data == q.data || p.size == 0)
        return true;
    if (p.size > w->bytes)
        return false;
    w->bytes -= p.size;
    return memcmp(p.data, q.data, p.size) == 0;
}

static bool same_integer(struct same_walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    int64_t i, j;
    const bool fits = read_int64(w->env, a, &i);
    if (fits != read_int64(w->env, b, &j))
        return false;
    if (fits)
        return i == j;
    if (read_is_frozen(a) || read_is_frozen(b))
        return read_is_short(a) && read_is_short(b) && read_same(w->env, a, b);
    return (term_is_short(a) || take(&w->large)) && enif_compare(a, b) == 0;
}

static bool same(struct same_walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned depth);

/* Maps that are equal have their keys in the same order. */
static bool same_map(struct same_walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned depth)
{
    struct read_pairs i, j;
    ERL_NIF_TERM key[2], value[2];
    size_t n, m;
    bool equal = true;
    if (!read_map_size(w->env, a, &n) || !read_map_size(w->env, b, &m) || n != m ||
        !read_pairs_begin(w->env, a, &i))
        return false;
    if (!read_pairs_begin(w->env, b, &j)) {
        read_pairs_end(&i);
        return false;
    }
    while (equal && read_pairs_next(&i, &key[0], &value[0]) &&
           read_pairs_next(&j, &key[1], &value[1]))
        equal = same(w, key[0], key[1], depth + 1) && same(w, value[0], value[1], depth + 1);
    read_pairs_end(&i);
    read_pairs_end(&j);
    return equal;
}

/* Records that are equal have the same definition, of which there may be several copies. */
static bool same_record(struct same_walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned depth)
{
    struct read_record r, s;
    ERL_NIF_TERM key[2], value[2];
    if (!read_record(a, &r) || !read_record(b, &s) || r.n != s.n || r.module != s.module ||
        r.name != s.name || r.exported != s.exported)
        return false;
    for (size_t i = 0; i < r.n; i++)
        if (!read_field(&r, i, &key[0], &value[0]) || !read_field(&s, i, &key[1], &value[1]) ||
            key[0] != key[1] || !same(w, value[0], value[1], depth + 1))
            return false;
    return true;
}

static bool same(struct same_walk *w, ERL_NIF_TERM a, ERL_NIF_TERM b, unsigned depth)
{
    ERL_NIF_TERM p, q;
    const ERL_NIF_TERM *e, *f;
    int n, m;
    for (;;) { /* along the tail of a list or the last element of a tuple */
        if (depth > TERM_SAME_DEPTH || !take(&w->budget))
            return false;
        if (a == b)
            return !read_is_cut(a);
        const int type = read_type(w->env, a);
        if (type != read_type(w->env, b))
            return false;
        switch (type) {
        case ERL_NIF_TERM_TYPE_INTEGER: return same_integer(w, a, b);
        case ERL_NIF_TERM_TYPE_BITSTRING: return same_binary(w, a, b);
        case ERL_NIF_TERM_TYPE_MAP: return same_map(w, a, b, depth);
        case READ_RECORD: return same_record(w, a, b, depth);
        case ERL_NIF_TERM_TYPE_FLOAT:
        case ERL_NIF_TERM_TYPE_PID:
        case ERL_NIF_TERM_TYPE_PORT:
        case ERL_NIF_TERM_TYPE_REFERENCE: return read_same(w->env, a, b);
        case ERL_NIF_TERM_TYPE_LIST:
            if (!read_cell(w->env, a, &p, &a) || !read_cell(w->env, b, &q, &b) ||
                !same(w, p, q, depth + 1))
                return false;
            continue;
        case ERL_NIF_TERM_TYPE_TUPLE:
            if (!read_tuple(w->env, a, &n, &e) || !read_tuple(w->env, b, &m, &f) || n != m)
                return false;
            if (n == 0)
                return true;
            for (int i = 0; i < n - 1; i++)
                if (!same(w, e[i], f[i], depth + 1))
                    return false;
            a = e[n - 1];
            b = f[n - 1];
            continue;
        default: return false;
        }
    }
}

bool term_is_record(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM name)
{
    const ERL_NIF_TERM *e;
    struct read_record r;
    int n;
    if (read_tuple(env, t, &n, &e))
        return n > 0 && e[0] == name;
    return read_record(t, &r) && r.name == name;
}

bool term_equal(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, uint64_t *looked)
{
    struct same_walk w;
    same_begin(&w, env);
    bool equal = same(&w, a, b, 0);
    *looked += same_looked(&w);
    return equal;
}

/* -- hash -------------------------------------------------------------------------------------- */

enum { MIX_BASE = 1024 /* above all types */ };

static uint64_t mix(uint64_t h, uint64_t more)
{
    return hash_mix(h ^ more, 0xa0761d6478bd642fu) + MIX_BASE;
}

static uint64_t hash(struct same_walk *w, ERL_NIF_TERM t, unsigned depth);

static uint64_t hash_map(struct same_walk *w, ERL_NIF_TERM t, unsigned depth)
{
    struct read_pairs it;
    ERL_NIF_TERM k, v;
    size_t n;
    if (!read_map_size(w->env, t, &n))
        return 0;
    uint64_t h = n;
    if (!read_pairs_begin(w->env, t, &it))
        return h;
    while (read_pairs_next(&it, &k, &v)) {
        const uint64_t key = hash(w, k, depth + 1);
        h += mix(key, hash(w, v, depth + 1)); /* nodes order keys differently */
    }
    read_pairs_end(&it);
    return h;
}

static uint64_t hash_number(struct same_walk *w, ERL_NIF_TERM t)
{
    int64_t i;
    double d;
    uint64_t bits = 0;
    if (read_int64(w->env, t, &i))
        return (uint64_t)i;
    if (read_double(w->env, t, &d)) {
        d = d == 0 ? 0 : d; /* -0.0 equals 0.0 in some releases */
        memcpy(&bits, &d, sizeof bits);
        return bits;
    }
    return read_is_short(t) || take(&w->large) ? read_hash(t) : 0;
}

static uint64_t hash_binary(struct same_walk *w, ERL_NIF_TERM t)
{
    struct read_bytes b;
    if (!read_binary(w->env, t, &b))
        return 0;
    const size_t n = size_min(b.kept, w->bytes);
    w->bytes -= n;
    return mix(b.size, n > 0 ? hash_bytes(b.data, n) : 0);
}

/* Not inlined: its room is needed once, not at each depth. */
__attribute__((noinline)) static uint64_t hash_atom(struct same_walk *w, ERL_NIF_TERM t)
{
    char name[TERM_ATOM];
    return term_atom(w->env, t, name, sizeof name) ? hash_bytes(name, strlen(name)) : 0;
}

static uint64_t hash_record(struct same_walk *w, ERL_NIF_TERM t, unsigned depth)
{
    struct read_record r;
    ERL_NIF_TERM key, value;
    if (!read_record(t, &r))
        return 0;
    uint64_t h = mix(mix(r.n, hash_atom(w, r.module)), hash_atom(w, r.name));
    for (size_t i = 0; i < r.n && w->budget > 0 && read_field(&r, i, &key, &value); i++)
        h = mix(mix(h, hash_atom(w, key)), hash(w, value, depth + 1));
    return h;
}

static uint64_t hash(struct same_walk *w, ERL_NIF_TERM t, unsigned depth)
{
    ERL_NIF_TERM head;
    const ERL_NIF_TERM *e;
    int n;
    uint64_t h = 0;
    for (;;) { /* along the tail of a list or the last element of a tuple */
        if (depth > TERM_SAME_DEPTH || !take(&w->budget))
            return h;
        const int type = read_type(w->env, t);
        h = mix(h, (uint64_t)type);
        switch (type) {
        case ERL_NIF_TERM_TYPE_ATOM: return mix(h, hash_atom(w, t));
        case ERL_NIF_TERM_TYPE_INTEGER:
        case ERL_NIF_TERM_TYPE_FLOAT: return mix(h, hash_number(w, t));
        case ERL_NIF_TERM_TYPE_BITSTRING: return mix(h, hash_binary(w, t));
        case ERL_NIF_TERM_TYPE_MAP: return mix(h, hash_map(w, t, depth));
        case READ_RECORD: return mix(h, hash_record(w, t, depth));
        case READ_UNKNOWN: return mix(h, read_header(t));
        case ERL_NIF_TERM_TYPE_PID:
        case ERL_NIF_TERM_TYPE_PORT:
        case ERL_NIF_TERM_TYPE_REFERENCE: return mix(h, read_hash(t));
        case ERL_NIF_TERM_TYPE_LIST:
            if (!read_cell(w->env, t, &head, &t))
                return h;
            h = mix(h, hash(w, head, depth + 1));
            continue;
        case ERL_NIF_TERM_TYPE_TUPLE:
            if (!read_tuple(w->env, t, &n, &e) || n == 0)
                return h;
            h = mix(h, (uint64_t)n);
            for (int i = 0; i < n - 1 && w->budget > 0; i++)
                h = mix(h, hash(w, e[i], depth + 1));
            t = e[n - 1];
            continue;
        default: return h;
        }
    }
}

uint64_t term_hash(ErlNifEnv *env, ERL_NIF_TERM t, uint64_t *looked)
{
    struct same_walk w;
    same_begin(&w, env);
    uint64_t h = hash(&w, t, 0);
    *looked += same_looked(&w);
    return h;
}
