/* term.c - names in terms, and sizes of terms. See term.h.
 *
 * The walk is recursive to a small fixed depth, and carries a budget from which every visited term
 * takes one. Maps of more than 32 keys are not walked, because their iterator
 * allocates. */
#include "beam/probe/term.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "beam/probe/term_read.h"
#include "words/otp.h"

enum { LOOKS_NODE = 4 /* cost of a term in elements examined */ };
struct term_sizes term_sizes_of(int otp)
{
    if (otp_has(otp, OTP_SHORT_FUNS))
        return (struct term_sizes){.refc_binary = 8, .bitstring = 3, .local_fun = 2};
    if (otp_has(otp, OTP_BINARY_REFS))
        return (struct term_sizes){.refc_binary = 8, .bitstring = 3, .local_fun = 6};
    return (struct term_sizes){.refc_binary = 6, .bitstring = 8, .local_fun = 5};
}

/* -- names ------------------------------------------------------------------------------------- */

/* Returns the length of what a function like snprintf wrote into cap bytes. */
static size_t clamp(int n, size_t cap)
{
    return n < 0 ? 0 : size_min((size_t)n, size_left(cap, 1));
}

/* Returns whether it is a lower-case Latin letter followed by letters, digits and _: such an atom
 * never needs quotes. (Other atoms that need none are rarer, and left to the emulator.) */
static bool plain(const char *s, size_t n)
{
    if (n == 0 || s[0] < 'a' || s[0] > 'z')
        return false;
    for (size_t i = 1; i < n; i++) {
        char c = s[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_'))
            return false;
    }
    return true;
}

/* enif_get_atom supports UTF-8. In older releases the emulator may abort when asked for it. */
static bool atoms_as_utf8;

bool term_init(ErlNifEnv *env, int otp)
{
    atoms_as_utf8 = otp_has(otp, OTP_ATOMS_UTF8);
    return read_init(env, otp);
}

size_t term_simple(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    if (read_is_word(t) && enif_is_atom(env, t)) {
        char name[256];
        int n = enif_get_atom(env, t, name, sizeof name, ERL_NIF_LATIN1);
        if (n > 0 && (size_t)n <= cap && plain(name, (size_t)n - 1)) {
            memcpy(out, name, (size_t)n);
            return (size_t)n - 1;
        }
    } else if (read_is_frozen(t) ||
               (!enif_is_pid(env, t) && !enif_is_port(env, t) && !enif_is_ref(env, t))) {
        return term_text(env, t, out, cap, &(uint64_t){0});
    }
    if (cap == 0)
        return 0;
    int n = enif_snprintf(out, cap, "%T", t);
    out[cap - 1] = 0;
    return clamp(n, cap);
}

size_t term_copy(const void *bytes, size_t n, char *out, size_t cap, bool *cut)
{
    const unsigned char *from = bytes;
    size_t len = 0, i = 0;
    *cut = n > 0;
    if (cap == 0)
        return 0;
    while (i < n) {
        const size_t room = size_left(cap - 1, len);
        const unsigned char *zero = memchr(from + i, 0, size_min(n - i, room));
        const size_t part = zero != NULL ? (size_t)(zero - (from + i)) : size_min(n - i, room);
        memcpy(out + len, from + i, part);
        len += part;
        i += part;
        if (i == n || from[i] != 0 || size_left(cap - 1, len) < 2)
            break;
        out[len++] = '\\';
        out[len++] = '0';
        i++;
    }
    *cut = i < n;
    out[len] = '\0';
    return len;
}

int term_atom_utf8(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    char name[256];
    if (!read_is_word(t))
        return -1;
    int n = enif_get_atom(env, t, name, sizeof name, ERL_NIF_LATIN1);
    size_t o = 0;
    if (n <= 0) /* the headers of OTP 25 have no name for the encoding */
        return atoms_as_utf8 ? enif_get_atom(env, t, out, (unsigned)cap, (ErlNifCharEncoding)2) - 1
                             : -1;
    for (int i = 0; i < n - 1; i++) {
        unsigned char c = (unsigned char)name[i];
        if (o + 2 >= cap)
            return -1;
        if (c >= 0x80)
            out[o++] = (char)(0xc0 | c >> 6);
        out[o++] = c < 0x80 ? (char)c : (char)(0x80 | (c & 0x3f));
    }
    return (int)o;
}

/* Rewrites n bytes of an atom's name that the emulator wrote to `out` and that may contain zeros.
 */
static bool without_zeros(char *out, size_t n, size_t cap)
{
    char name[TERM_ATOM];
    bool cut;
    if (strlen(out) == n)
        return true;
    if (n > sizeof name)
        return false;
    memcpy(name, out, n);
    term_copy(name, n, out, cap, &cut);
    return !cut;
}

bool term_atom(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap)
{
    char name[256];
    if (!read_is_word(t))
        return false;
    int n = enif_get_atom(env, t, name, sizeof name, ERL_NIF_LATIN1);
    if (n > 0) {
        size_t o = 0;
        for (int i = 0; i < n - 1; i++) {
            unsigned char c = (unsigned char)name[i];
            if (o + (c == 0 || c >= 0x80 ? 2 : 1) >= cap)
                return false;
            if (c == 0) {
                out[o++] = '\\';
                out[o++] = '0';
            } else if (c < 0x80) {
                out[o++] = (char)c;
            } else {
                out[o++] = (char)(0xc0 | c >> 6);
                out[o++] = (char)(0x80 | (c & 0x3f));
            }
        }
        if (o >= cap)
            return false;
        out[o] = 0;
        return true;
    }
    if (!enif_is_atom(env, t))
        return false;
    /* The headers of OTP 25 have no name for the encoding. */
    if (atoms_as_utf8) {
        n = enif_get_atom(env, t, out, (unsigned)cap, (ErlNifCharEncoding)2);
        return n > 0 && without_zeros(out, (size_t)n - 1, cap);
    }
    /* The emulator's text, without its quotes. */
    char quoted[4 * 255 + 3];
    int len = enif_snprintf(quoted, sizeof quoted, "%T", t);
    if (len < 2 || (size_t)len >= sizeof quoted)
        return false;
    const char *s = quoted;
    size_t n2 = (size_t)len;
    if (quoted[0] == '\'') {
        s++;
        n2 -= 2;
    }
    if (n2 >= cap)
        return false;
    memcpy(out, s, n2);
    out[n2] = 0;
    return true;
}

size_t term_mfa(ErlNifEnv *env, ERL_NIF_TERM m, ERL_NIF_TERM f, unsigned arity, char *out,
                size_t cap)
{
    size_t n = term_simple(env, m, out, cap), room = size_left(cap, n); /* including the NUL */
    if (room > 1) {
        out[n++] = ':';
        room--;
    }
    size_t len = term_simple(env, f, out + n, room);
    n += len;
    room = size_left(room, len);
    return n + clamp(snprintf(out + n, room, "/%u", arity), room);
}

size_t term_utf8(unsigned c, unsigned char out[4])
{
    enum { BITS = 6, CONTINUED = 0x80, MASK = 0x3f };
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= BITS)
        out[i] = (unsigned char)(CONTINUED | (c & MASK));
    out[0] = (unsigned char)(lead[n] | c);
    return n;
}

/* -- size -------------------------------------------------------------------------------------- */

/* Small integers have 60 bits, signed, in all supported releases (64-bit words). */
static bool is_small(ErlNifSInt64 i)
{
    return i >= -(1ll << 59) && i < (1ll << 59);
}

struct size_walk {
    const struct term_sizes *k;
    unsigned budget;
    uint64_t words;
    bool ended; /* the budget, or the depth */
    bool lacks; /* the size of a part is not known */
};

/* The words of a record and of its definition, without those of its values. */
static uint64_t record_words(size_t fields)
{
    const uint64_t order = fields > 0 ? fields + 1 : 0; /* the empty tuple has no words */
    return READ_RECORD_HEADS + 2 * fields + order;
}

static void size_term(ErlNifEnv *env, ERL_NIF_TERM t, struct size_walk *w, unsigned depth);

/* Adds the sizes of a record's values. */
static void size_values(ErlNifEnv *env, const struct read_record *r, struct size_walk *w,
                        unsigned depth)
{
    ERL_NIF_TERM key, value;
    for (size_t i = 0; i < r->n && !w->ended; i++)
        if (read_field(r, i, &key, &value))
            size_term(env, value, w, depth);
        else
            w->lacks = true;
}

/* Adds the size of a node of a large map, and of all that is below it. */
static void size_node(ErlNifEnv *env, ERL_NIF_TERM t, struct size_walk *w, unsigned depth)
{
    struct read_node node;
    ERL_NIF_TERM key, value;
    if (w->budget == 0 || depth > 4 * TERM_DEPTH) {
        w->ended = true;
        return;
    }
    w->budget--;
    if (!read_node(t, &node)) {
        w->lacks = true;
        return;
    }
    w->words += node.words;
    for (size_t i = 0; i < node.n && !w->ended; i++) {
        if (!read_cell(env, node.child[i], &key, &value)) {
            size_node(env, node.child[i], w, depth + 1);
            continue;
        }
        w->words += 2;
        size_term(env, key, w, depth + 1);
        if (!w->ended)
            size_term(env, value, w, depth + 1);
    }
}

static void size_term(ErlNifEnv *env, ERL_NIF_TERM t, struct size_walk *w, unsigned depth)
{
    ERL_NIF_TERM head;
    const ERL_NIF_TERM *e;
    size_t bytes, big;
    int64_t i;
    struct read_pairs it;
    struct read_record r;
    struct read_fun fun;
    ERL_NIF_TERM key, value;
    size_t keys;
    int n;
    for (;;) { /* along the tail of a list or the last element of a tuple */
        if (w->budget == 0 || depth > 4 * TERM_DEPTH) {
            w->ended = true;
            return;
        }
        w->budget--;
        switch (read_type(env, t)) {
        case ERL_NIF_TERM_TYPE_ATOM: return;
        case ERL_NIF_TERM_TYPE_INTEGER:
            if (read_int64(env, t, &i))
                w->words += is_small(i) ? 0 : 2;
            else if (read_is_uint64(env, t))
                w->words += 2;
            else if ((big = read_integer_words(t)) > 0)
                w->words += big;
            else
                w->lacks = true;
            return;
        case ERL_NIF_TERM_TYPE_FLOAT: w->words += 2; return;
        case ERL_NIF_TERM_TYPE_PID: w->words += read_is_word(t) ? 0 : 4; return;
        case ERL_NIF_TERM_TYPE_PORT: w->words += read_is_word(t) ? 0 : 4; return;
        case ERL_NIF_TERM_TYPE_REFERENCE: w->words += 3; return;
        case ERL_NIF_TERM_TYPE_FUN:
            if ((big = read_frozen_words(t)) > 0) {
                w->words += big;
                return;
            }
            if (!read_fun(t, &fun)) {
                w->lacks = true;
                return;
            }
            w->words += fun.words;
            for (size_t j = 0; j < fun.n && !w->ended; j++)
                size_term(env, fun.captured[j], w, depth + 1);
            return;
        case ERL_NIF_TERM_TYPE_BITSTRING:
            if (!read_size(env, t, &bytes))
                w->words += w->k->bitstring;
            else if (bytes <= 64)
                w->words += 2 + (bytes + 7) / 8;
            else
                w->words += w->k->refc_binary;
            return;
        case ERL_NIF_TERM_TYPE_LIST:
            if (!read_cell(env, t, &head, &t))
                return; /* the empty list */
            w->words += 2;
            size_term(env, head, w, depth + 1);
            if (w->ended)
                return;
            continue;
        case ERL_NIF_TERM_TYPE_TUPLE:
            if (!read_tuple(env, t, &n, &e) || n == 0)
                return;
            w->words += 1 + (unsigned)n;
            for (int j = 0; j < n - 1; j++) {
                size_term(env, e[j], w, depth + 1);
                if (w->ended)
                    return;
            }
            t = e[n - 1];
            continue;
        case ERL_NIF_TERM_TYPE_MAP:
            if (!read_map_size(env, t, &keys) || !read_pairs_begin(env, t, &it)) {
                size_node(env, t, w, depth + 1);
                return;
            }
            /* The object with its values, and the tuple of its keys (shared by the empty map). */
            w->words += 3 + keys + (keys ? keys + 1 : 0);
            while (!w->ended && read_pairs_next(&it, &key, &value)) {
                size_term(env, key, w, depth + 1);
                if (!w->ended)
                    size_term(env, value, w, depth + 1);
            }
            read_pairs_end(&it);
            return;
        case READ_RECORD:
            if (!read_record(t, &r)) {
                w->lacks = true;
                return;
            }
            w->words += record_words(r.n);
            size_values(env, &r, w, depth + 1);
            return;
        default: w->lacks = true; return;
        }
    }
}

uint32_t term_words_within(ErlNifEnv *env, ERL_NIF_TERM t, const struct term_sizes *sizes,
                           unsigned *budget, bool *least)
{
    struct size_walk w = {.k = sizes, .budget = *budget};
    size_term(env, t, &w, 0);
    *budget = w.budget;
    *least = (w.ended || w.lacks) && w.words > 0 && w.words < TERM_SIZE_UNKNOWN;
    return ((w.ended || w.lacks) && w.words == 0) || w.words >= TERM_SIZE_UNKNOWN
               ? TERM_SIZE_UNKNOWN
               : (uint32_t)w.words;
}

uint32_t term_words_looked(ErlNifEnv *env, ERL_NIF_TERM t, const struct term_sizes *sizes,
                           uint64_t *looked, bool *least)
{
    unsigned budget = TERM_SIZE_NODES;
    const uint32_t words = term_words_within(env, t, sizes, &budget, least);
    *looked += (TERM_SIZE_NODES - budget) * LOOKS_NODE;
    return words;
}

uint32_t term_words(ErlNifEnv *env, ERL_NIF_TERM t, const struct term_sizes *sizes, bool *least)
{
    return term_words_looked(env, t, sizes, &(uint64_t){0}, least);
}

bool term_make_atom(ErlNifEnv *env, const char *name, ERL_NIF_TERM *atom)
{
    enum { VERSION = 131, ATOM_UTF8_EXT = 118, HEADER = 4 };
    unsigned char ext[HEADER + TERM_ATOM] = {VERSION, ATOM_UTF8_EXT};
    const size_t n = strlen(name);
    if (n >= TERM_ATOM)
        return false;
    ext[2] = (unsigned char)(n >> 8);
    ext[3] = (unsigned char)n;
    memcpy(ext + HEADER, name, n);
    return enif_binary_to_term(env, ext, HEADER + n, atom, 0) != 0 && enif_is_atom(env, *atom);
}
