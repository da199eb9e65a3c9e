/* redact.c - see redact.h. */
#include "beam/probe/redact.h"

#include <string.h>

#include "base/glob.h"
#include "beam/probe/records.h"
#include "beam/probe/term.h"
#include "beam/probe/term_read.h"

enum { LOOKS_RECORDS = 8 /* records that cost as much as an element */ };
enum { LOOKS_KEY = 16 /* cost of a key and of the patterns, in elements examined */ };

/* Makes capitals of Latin-1 small, in n bytes of UTF-8. (Those of ASCII match in either case.) */
static void small_letters(char *text, size_t n)
{
    enum { LEAD = 0xc3, A_GRAVE = 0x80, THORN = 0x9e, TIMES = 0x97, SMALL = 0x20 };
    for (size_t i = 1; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((unsigned char)text[i - 1] == LEAD && c >= A_GRAVE && c <= THORN && c != TIMES)
            text[i] = (char)(c + SMALL);
    }
}

const char *redact_take(ErlNifEnv *env, struct arena *arena, ERL_NIF_TERM list, struct redact *r)
{
    static const char mark[] = "case:";
    enum { MARK = sizeof mark - 1 };
    ERL_NIF_TERM head;
    ErlNifBinary b;
    size_t bytes = 0;
    while (enif_get_list_cell(env, list, &head, &list)) {
        if (!enif_inspect_binary(env, head, &b) || b.size == 0)
            return "a pattern of the option redact is not a text";
        if (r->n == REDACT_PATTERNS || b.size > REDACT_BYTES - bytes)
            return "the option redact has too many patterns";
        bytes += b.size;
        const bool exact = b.size > MARK && memcmp(b.data, mark, MARK) == 0;
        const size_t from = exact ? MARK : 0;
        char *glob = arena_strndup(arena, (const char *)b.data + from, b.size - from);
        if (!glob)
            return "out of memory";
        if (!exact)
            small_letters(glob, b.size);
        r->exact[r->n] = exact;
        r->glob[r->n++] = glob;
    }
    return enif_is_empty_list(env, list) ? NULL
                                         : "the patterns of the option redact are not a list";
}

/* Writes a character of a key. Returns false when there is no room for it. */
static bool put(char *out, size_t *n, unsigned c)
{
    unsigned char u[4];
    const size_t len = term_utf8(c, u);
    if (len > REDACT_KEY - *n)
        return false;
    memcpy(out + *n, u, len);
    *n += len;
    return true;
}

/* Writes the text of a list of characters, as key_text does. */
static size_t list_text(ErlNifEnv *env, ERL_NIF_TERM key, char *out, uint64_t *looked)
{
    enum { CHARACTER_MOST = 0x10ffff };
    ERL_NIF_TERM head;
    unsigned c;
    size_t n = 0;
    for (; n < REDACT_KEY && read_cell(env, key, &head, &key); ++*looked) {
        if (!read_is_word(head) || !enif_get_uint(env, head, &c) || c > CHARACTER_MOST)
            return 0;
        if (!put(out, &n, c))
            return REDACT_KEY;
    }
    if (read_is_cut(key))
        return REDACT_KEY;
    return n == REDACT_KEY || (read_is_word(key) && enif_is_empty_list(env, key)) ? n : 0;
}

/* Writes a key's text. Returns its length, REDACT_KEY when it is longer or was not kept whole; 0:
 * it has no text. */
static size_t key_text(ErlNifEnv *env, ERL_NIF_TERM key, char *out, uint64_t *looked)
{
    char name[TERM_ATOM];
    struct read_bytes b;
    *looked += LOOKS_KEY;
    if (read_is_word(key) && enif_is_atom(env, key)) {
        const int len = term_atom_utf8(env, key, name, sizeof name);
        const size_t n = len < 0 || len > REDACT_KEY ? REDACT_KEY : (size_t)len;
        memcpy(out, name, n < REDACT_KEY ? n : 0);
        return n;
    }
    if (read_binary(env, key, &b)) {
        const size_t n = b.size < REDACT_KEY && b.kept == b.size ? b.size : REDACT_KEY;
        memcpy(out, b.data, n < REDACT_KEY ? n : 0);
        return n;
    }
    return list_text(env, key, out, looked);
}

bool redact_name(const struct terms_view *v, const char *name, size_t len, uint64_t *looked)
{
    char text[REDACT_KEY], small[REDACT_KEY];
    if (v == NULL || v->redact.n == 0 || len == 0)
        return false;
    *looked += LOOKS_KEY + len;
    if (len >= sizeof text)
        return true;
    memcpy(text, name, len);
    text[len] = '\0';
    memcpy(small, text, len + 1);
    small_letters(small, len);
    for (uint32_t i = 0; i < v->redact.n; i++)
        if (v->redact.exact[i] ? glob_match(v->redact.glob[i], text)
                               : glob_match_either(v->redact.glob[i], small))
            return true;
    return false;
}

bool redact_key(ErlNifEnv *env, const struct terms_view *v, ERL_NIF_TERM key, uint64_t *looked)
{
    char text[REDACT_KEY];
    return v != NULL && v->redact.n > 0 &&
           redact_name(v, text, key_text(env, key, text, looked), looked);
}

bool redact_behind(ErlNifEnv *env, const struct terms_view *v, ERL_NIF_TERM before,
                   uint64_t *looked)
{
    char text[REDACT_KEY];
    if (v == NULL || v->redact.n == 0)
        return false;
    const size_t n = key_text(env, before, text, looked);
    return n < REDACT_KEY && redact_name(v, text, n, looked);
}

bool redact_element(ErlNifEnv *env, const struct terms_view *v, const ERL_NIF_TERM *e, size_t i,
                    uint64_t *looked)
{
    if (i > 0 && redact_any(v) && records_any_old(v)) {
        *looked += v->records.n / LOOKS_RECORDS + 1;
        if (records_is_old(v, e[0]))
            return true;
    }
    return i > 0 &&
           (redact_key(env, v, e[0], looked) || (i > 1 && redact_behind(env, v, e[i - 1], looked)));
}
