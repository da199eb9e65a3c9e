/* term_look.c - examines a term: its bytes, its parts. See term.h.
 *
 * Nothing here recurses, creates a term on a heap, or examines more than a fixed number of terms.
 */
#include "beam/probe/term.h"

#include <string.h>

#include "base/size.h"
#include "beam/probe/redact.h"
#include "beam/probe/term_read.h"

/* Costs in elements examined: reading the name of an atom; and how many bytes are copied in the
 * time of one. */
enum { LOOKS_ATOM = 16, LOOKS_COPY = 16 };

/* -- bytes and characters ---------------------------------------------------------------------- */

/* A walk over the leaves of an iolist. */
struct walk {
    ErlNifEnv *env;
    const struct terms_view *view;
    uint64_t looked; /* at keys */
    char *p;
    size_t len, cap; /* without room for the NUL */
    bool chars;      /* integers are characters, written as UTF-8; else bytes */
    bool full;       /* something did not fit */
    unsigned budget, depth;
    ERL_NIF_TERM rest[TERM_BYTES_DEPTH]; /* the rest of each list that it is in */
    bool hides[TERM_BYTES_DEPTH];        /* ... which begins behind a key */
};

static void put(struct walk *w, const void *s, size_t n)
{
    const size_t room = size_left(w->cap, w->len);
    bool cut;
    if (w->chars) {
        w->len += term_copy(s, n, w->p + w->len, room + 1, &cut);
        w->full = w->full || cut;
        return;
    }
    if (n > room) {
        n = room;
        w->full = true;
    }
    memcpy(w->p + w->len, s, n);
    w->len += n;
}

static bool put_integer(struct walk *w, ERL_NIF_TERM t)
{
    unsigned c;
    if (!read_is_word(t) || !enif_get_uint(w->env, t, &c) || c > (w->chars ? 0x10ffffu : 255u))
        return false;
    unsigned char u[4] = {(unsigned char)c};
    const size_t n = w->chars ? term_utf8(c, u) : 1;
    if (n > size_left(w->cap, w->len))
        w->full = true; /* never a part of a character */
    else
        put(w, u, n);
    return true;
}

static bool put_binary(struct walk *w, ERL_NIF_TERM t)
{
    struct read_bytes b;
    if (read_is_cut(t)) {
        w->full = true;
        return true;
    }
    if (!read_binary(w->env, t, &b))
        return false;
    put(w, b.data, b.kept);
    w->full = w->full || b.kept < b.size;
    return true;
}

/* Leaves the list that has ended. Returns false: it was the outermost one. */
static bool leave(struct walk *w, ERL_NIF_TERM *t, bool *hidden)
{
    if (w->depth == 0)
        return false;
    *t = w->rest[--w->depth];
    *hidden = w->hides[w->depth];
    return true;
}

/* Returns false when it is not an iolist, or too large to examine. Ends early when full. */
static bool walk(struct walk *w, ERL_NIF_TERM t)
{
    ERL_NIF_TERM head, tail;
    bool hidden = false; /* what comes next stands behind a key */
    if (!read_is_list(w->env, t))
        return put_binary(w, t);
    while (!w->full) {
        if (w->budget == 0)
            return false;
        w->budget--;
        const bool end = read_is_word(t) && enif_is_empty_list(w->env, t);
        const bool cell = !end && read_cell(w->env, t, &head, &tail);
        if (!cell) {
            if (!end && hidden)
                put(w, REDACTED, sizeof REDACTED - 1);
            else if (!end && !put_binary(w, t)) /* the end of an improper list */
                return false;
            if (!leave(w, &t, &hidden))
                return true;
            continue;
        }
        const bool hides = redact_behind(w->env, w->view, head, &w->looked);
        if (hidden) {
            put(w, REDACTED, sizeof REDACTED - 1);
        } else if (read_is_list(w->env, head)) {
            if (w->depth == TERM_BYTES_DEPTH)
                return false;
            w->hides[w->depth] = hides;
            w->rest[w->depth++] = tail;
            t = head;
            continue;
        } else if (!put_integer(w, head) && !put_binary(w, head)) {
            return false;
        }
        hidden = hides;
        t = tail;
    }
    return true;
}

bool term_bytes(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap, size_t *len)
{
    struct walk w = {.env = env, .p = out, .cap = size_left(cap, 1), .budget = TERM_BYTES_NODES};
    if (cap == 0 || !walk(&w, t) || w.full)
        return false;
    out[w.len] = '\0';
    *len = w.len;
    return true;
}

size_t term_string(ErlNifEnv *env, ERL_NIF_TERM t, const struct terms_view *view, char *out,
                   size_t cap, uint64_t *looked)
{
    struct walk w = {.env = env,
                     .view = view,
                     .p = out,
                     .cap = size_left(cap, 1),
                     .chars = true,
                     .budget = TERM_BYTES_NODES};
    char name[TERM_ATOM];
    if (cap == 0)
        return 0;
    if (term_atom(env, t, name, sizeof name))
        put(&w, name, strlen(name));
    else if (!walk(&w, t))
        w.len = 0;
    /* Bytes of binaries are copied, which is cheaper. */
    *looked += LOOKS_ATOM + TERM_BYTES_NODES - w.budget + w.len / LOOKS_COPY + w.looked;
    out[w.len] = '\0';
    return w.len;
}

/* -- parts ------------------------------------------------------------------------------------- */

const char *term_kind(ErlNifEnv *env, ERL_NIF_TERM t)
{
    switch (read_type(env, t)) {
    case ERL_NIF_TERM_TYPE_ATOM: return "atom";
    case ERL_NIF_TERM_TYPE_BITSTRING:
        return read_size(env, t, &(size_t){0}) ? "binary" : "bitstring";
    case ERL_NIF_TERM_TYPE_FLOAT: return "float";
    case ERL_NIF_TERM_TYPE_FUN: return "fun";
    case ERL_NIF_TERM_TYPE_INTEGER: return "integer";
    case ERL_NIF_TERM_TYPE_LIST: return "list";
    case ERL_NIF_TERM_TYPE_MAP: return "map";
    case ERL_NIF_TERM_TYPE_PID: return "pid";
    case ERL_NIF_TERM_TYPE_PORT: return "port";
    case ERL_NIF_TERM_TYPE_REFERENCE: return "reference";
    case ERL_NIF_TERM_TYPE_TUPLE: return "tuple";
    case READ_RECORD: return "record";
    case READ_UNKNOWN: return "unknown";
    default: return "";
    }
}

int64_t term_count(ErlNifEnv *env, ERL_NIF_TERM t, uint64_t *looked)
{
    const ERL_NIF_TERM *e;
    ERL_NIF_TERM head;
    struct read_record r;
    size_t bytes, pairs;
    int n;
    if (read_tuple(env, t, &n, &e))
        return n;
    if (read_record(t, &r))
        return (int64_t)r.n;
    if (read_map_size(env, t, &pairs))
        return (int64_t)pairs;
    if (read_size(env, t, &bytes))
        return (int64_t)bytes;
    for (n = 0; read_cell(env, t, &head, &t); n++)
        if (n == TERM_BYTES_NODES) {
            *looked += TERM_BYTES_NODES;
            return -1;
        }
    *looked += (uint64_t)n;
    return read_is_cut(t) ? -1 : n;
}

bool term_element(ErlNifEnv *env, ERL_NIF_TERM t, int64_t n, ERL_NIF_TERM *out, uint64_t *looked)
{
    /* Integers of this size are words, not terms on a heap. */
    const int64_t small = (int64_t)1 << 58;
    const ERL_NIF_TERM *e;
    int size;
    if (read_tuple(env, t, &size, &e)) {
        if (n < 1 || n > size)
            return false;
        *out = e[n - 1];
        return true;
    }
    if (read_is_map(env, t))
        return n > -small && n < small && read_map_value(env, t, enif_make_int64(env, n), out);
    if (n < 1 || n > TERM_LOOK)
        return false;
    for (; read_cell(env, t, out, &t); ++*looked)
        if (--n == 0)
            return true;
    return false;
}

static bool is_key(ErlNifEnv *env, ERL_NIF_TERM t, const char *key, size_t len)
{
    char name[TERM_ATOM];
    struct read_bytes b;
    if (read_binary(env, t, &b))
        return b.size == len && b.kept == len && memcmp(b.data, key, len) == 0;
    return term_atom(env, t, name, sizeof name) && strlen(name) == len &&
           memcmp(name, key, len) == 0;
}

static bool get_of_map(ErlNifEnv *env, ERL_NIF_TERM t, const char *key, size_t len,
                       ERL_NIF_TERM *out, uint64_t *looked)
{
    struct read_pairs it;
    ERL_NIF_TERM k, v, atom;
    bool found = false;
    *looked += LOOKS_ATOM;
    if (len < 256 && enif_make_existing_atom_len(env, key, len, &atom, ERL_NIF_LATIN1) &&
        read_map_value(env, t, atom, out))
        return true;
    if (!read_pairs_begin(env, t, &it))
        return false;
    while (!found && read_pairs_next(&it, &k, &v)) {
        *looked += LOOKS_ATOM;
        found = is_key(env, k, key, len);
        if (found)
            *out = v;
    }
    read_pairs_end(&it);
    return found;
}

static bool get_of_record(ErlNifEnv *env, const struct read_record *r, const char *key, size_t len,
                          ERL_NIF_TERM *out, uint64_t *looked)
{
    ERL_NIF_TERM name;
    const size_t n = size_min(r->n, TERM_LOOK);
    for (size_t i = 0; i < n && read_field(r, i, &name, out); i++, *looked += LOOKS_ATOM)
        if (is_key(env, name, key, len))
            return true;
    return false;
}

bool term_get(ErlNifEnv *env, ERL_NIF_TERM t, const char *key, size_t len, ERL_NIF_TERM *out,
              uint64_t *looked)
{
    const ERL_NIF_TERM *e;
    ERL_NIF_TERM head;
    struct read_record r;
    int n;
    if (read_is_map(env, t))
        return get_of_map(env, t, key, len, out, looked);
    if (read_record(t, &r))
        return get_of_record(env, &r, key, len, out, looked);
    for (unsigned i = 0; i < TERM_LOOK && read_cell(env, t, &head, &t); i++, *looked += LOOKS_ATOM)
        if (read_tuple(env, head, &n, &e) && n == 2 && is_key(env, e[0], key, len)) {
            *out = e[1];
            return true;
        }
    return false;
}

bool term_value(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM key, ERL_NIF_TERM *out,
                uint64_t *looked)
{
    struct read_pairs it;
    ERL_NIF_TERM k, v;
    struct read_record r;
    size_t pairs;
    bool found = false;
    if (read_record(t, &r)) {
        *looked += size_min(r.n, TERM_LOOK);
        return read_field_value(&r, key, TERM_LOOK, out);
    }
    if (!read_map_size(env, t, &pairs))
        return false;
    *looked += LOOKS_ATOM;
    /* The emulator compares or hashes all of a key, which may be of any size. */
    if (read_is_word(key))
        return read_map_value(env, t, key, out);
    if (!read_pairs_begin(env, t, &it))
        return false;
    while (!found && read_pairs_next(&it, &k, &v)) {
        found = term_equal(env, k, key, looked);
        if (found)
            *out = v;
    }
    read_pairs_end(&it);
    return found;
}
