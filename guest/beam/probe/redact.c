/* redact.c - see redact.h. */
#include "beam/probe/redact.h"

#include <string.h>

#include "base/glob.h"
#include "beam/probe/term.h"
#include "beam/probe/term_read.h"

enum { LOOKS_KEY = 16 /* cost of a key and of the patterns, in elements examined */ };

const char *redact_take(ErlNifEnv *env, struct arena *arena, ERL_NIF_TERM list, struct redact *r)
{
    ERL_NIF_TERM head;
    ErlNifBinary b;
    size_t bytes = 0;
    while (enif_get_list_cell(env, list, &head, &list)) {
        if (!enif_inspect_binary(env, head, &b) || b.size == 0)
            return "a pattern of the option redact is not a text";
        if (r->n == REDACT_PATTERNS || b.size > REDACT_BYTES - bytes)
            return "the option redact has too many patterns";
        r->glob[r->n] = arena_strndup(arena, (const char *)b.data, b.size);
        if (!r->glob[r->n])
            return "out of memory";
        r->n++;
        bytes += b.size;
    }
    return enif_is_empty_list(env, list) ? NULL
                                         : "the patterns of the option redact are not a list";
}

/* Writes a key's text. Returns its length, REDACT_KEY when it is longer or was not kept whole; 0:
 * it has no text. */
static size_t key_text(ErlNifEnv *env, ERL_NIF_TERM key, char *out, uint64_t *looked)
{
    char name[TERM_ATOM];
    struct read_bytes b;
    ERL_NIF_TERM head;
    unsigned c;
    size_t n = 0;
    *looked += LOOKS_KEY;
    if (read_is_word(key) && enif_is_atom(env, key)) {
        n = term_atom(env, key, name, sizeof name) ? strlen(name) : REDACT_KEY;
        if (n < REDACT_KEY)
            memcpy(out, name, n);
    } else if (read_binary(env, key, &b)) {
        n = b.size < REDACT_KEY && b.kept == b.size ? b.size : REDACT_KEY;
        memcpy(out, b.data, b.kept < n ? b.kept : n);
    } else {
        for (; n < REDACT_KEY && read_cell(env, key, &head, &key); ++*looked) {
            if (!read_is_word(head) || !enif_get_uint(env, head, &c) || c > 255)
                return 0;
            out[n++] = (char)c;
        }
        if (read_is_cut(key))
            return REDACT_KEY;
        if (n < REDACT_KEY && !(read_is_word(key) && enif_is_empty_list(env, key)))
            return 0;
    }
    return n;
}

bool redact_name(const struct terms_view *v, const char *name, size_t len, uint64_t *looked)
{
    char text[REDACT_KEY];
    if (v == NULL || v->redact.n == 0 || len == 0)
        return false;
    *looked += LOOKS_KEY + len;
    if (len >= sizeof text)
        return true;
    memcpy(text, name, len);
    text[len] = '\0';
    for (uint32_t i = 0; i < v->redact.n; i++)
        if (glob_match(v->redact.glob[i], text))
            return true;
    return false;
}

bool redact_key(ErlNifEnv *env, const struct terms_view *v, ERL_NIF_TERM key, uint64_t *looked)
{
    char text[REDACT_KEY];
    return v != NULL && v->redact.n > 0 &&
           redact_name(v, text, key_text(env, key, text, looked), looked);
}
