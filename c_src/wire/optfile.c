/* optfile.c - reads Erlang terms in text, as far as TLS options need. See optfile.h. */
#include "wire/optfile.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"

enum { DEPTH_MAX = 32, NODES_MAX = 4096 };

/* -- terms ------------------------------------------------------------------------------------- */

enum kind { TERM_ATOM, TERM_TEXT, TERM_TUPLE, TERM_LIST, TERM_OTHER };

struct term {
    enum kind kind;
    const char *text;          /* of an atom or a text */
    struct term *first, *next; /* `first` of a tuple or a list; `next` in the container */
};

struct reader {
    const char *p, *end;
    unsigned line;
    struct arena *arena;
    int depth, nodes;
    const char *why; /* the first error, NULL: none */
    bool oom;
};

static struct term *fail(struct reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
    return NULL;
}

/* Skips blanks and comments; returns the character there, 0 at the end. */
static char look(struct reader *r)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == '%')
            while (r->p < r->end && *r->p != '\n')
                r->p++;
        if (r->p == r->end)
            break;
        if (*r->p == '\n')
            r->line++;
        else if (!isspace((unsigned char)*r->p))
            return *r->p;
    }
    return '\0';
}

static bool take(struct reader *r, const char *token)
{
    size_t n = strlen(token);
    look(r);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, token, n) != 0)
        return false;
    r->p += n;
    return true;
}

static struct term *make(struct reader *r, enum kind kind)
{
    if (++r->nodes > NODES_MAX)
        return fail(r, "it is too long");
    struct term *t = arena_alloc(r->arena, sizeof *t);
    if (!t) {
        r->oom = true;
        return fail(r, "out of memory");
    }
    *t = (struct term){.kind = kind, .text = ""};
    return t;
}

/* Reads the text between two quotes. A backslash makes only the next character part of the text:
 * file names use no other escapes of the VM. */
static const char *quoted(struct reader *r)
{
    const char quote = *r->p++, *close = r->p;
    size_t n = 0;
    while (close < r->end && *close != quote)
        close += *close == '\\' && close + 1 < r->end ? 2 : 1;
    if (close >= r->end) {
        fail(r, "a quote is not closed");
        return "";
    }
    char *out = arena_alloc(r->arena, (size_t)(close - r->p) + 1);
    if (!out) {
        r->oom = true;
        fail(r, "out of memory");
        return "";
    }
    for (; r->p < close; r->p++) {
        r->line += *r->p == '\n';
        r->p += *r->p == '\\';
        out[n++] = *r->p;
    }
    r->p++;
    out[n] = '\0';
    return out;
}

static struct term *term(struct reader *r);

/* Reads an element: a term, or an expression, of which it only finds the end. */
static struct term *element(struct reader *r)
{
    struct term *t = term(r);
    for (char c; t && !r->why && (c = look(r)) != '\0' && !strchr(",)]}", c);) {
        t->kind = TERM_OTHER;
        if (strchr("/+-*=<>;:|", c))
            r->p++;
        else
            term(r);
    }
    return t;
}

/* Reads elements up to a closing bracket. */
static void elements(struct reader *r, struct term *t, const char *close)
{
    struct term **last = &t->first;
    if (take(r, close))
        return;
    while (!r->why) {
        struct term *e = element(r);
        if (!e)
            return;
        *last = e;
        last = &e->next;
        if (take(r, close))
            return;
        if (!take(r, ","))
            fail(r, "a bracket is not closed");
    }
}

static struct term *bracketed(struct reader *r, enum kind kind, const char *close)
{
    struct term *t = make(r, kind);
    if (++r->depth > DEPTH_MAX)
        fail(r, "it is too deep");
    if (!r->why)
        elements(r, t, close);
    r->depth--;
    return r->why ? NULL : t;
}

static struct term *texts(struct reader *r)
{
    struct term *t = make(r, TERM_TEXT);
    if (t)
        t->text = quoted(r);
    return r->why ? NULL : t;
}

/* Reads <<"text">>, <<"text"/utf8>>, or bytes, which no option here uses. */
static struct term *binary(struct reader *r)
{
    struct term *t = NULL;
    if (look(r) == '"') {
        t = texts(r);
        take(r, "/utf8");
        if (t && take(r, ">>"))
            return t;
    }
    while (r->p < r->end && !take(r, ">>"))
        r->p += r->p < r->end;
    return make(r, TERM_OTHER);
}

/* Reads an atom, a number or a variable. A full stop ends it when a blank follows. */
static struct term *word(struct reader *r)
{
    const char *start = r->p;
    if (*r->p == '\'') {
        struct term *t = make(r, TERM_ATOM);
        if (t)
            t->text = quoted(r);
        return r->why ? NULL : t;
    }
    while (r->p < r->end && (isalnum((unsigned char)*r->p) || strchr("_@.#?$", *r->p)) &&
           !(*r->p == '.' && (r->p + 1 == r->end || isspace((unsigned char)r->p[1]))))
        r->p++;
    if (r->p == start)
        return fail(r, "it is no term");
    struct term *t = make(r, islower((unsigned char)*start) ? TERM_ATOM : TERM_OTHER);
    if (t && !(t->text = arena_strndup(r->arena, start, (size_t)(r->p - start)))) {
        r->oom = true;
        return fail(r, "out of memory");
    }
    return t;
}

static struct term *term(struct reader *r)
{
    while (look(r) == '-' || look(r) == '+') /* the sign of a number */
        r->p++;
    switch (look(r)) {
    case '\0': return fail(r, "it ends too early");
    case '"': return texts(r);
    case '{': r->p++; return bracketed(r, TERM_TUPLE, "}");
    case '[': r->p++; return bracketed(r, TERM_LIST, "]");
    case '(': r->p++; return bracketed(r, TERM_OTHER, ")");
    case '<':
        if (take(r, "<<"))
            return binary(r);
        break;
    case '#':
        if (take(r, "#{"))
            return bracketed(r, TERM_OTHER, "}");
        break;
    default: break;
    }
    return word(r);
}

/* -- options ----------------------------------------------------------------------------------- */

static void set_text(char *out, size_t cap, const struct term *v)
{
    if (!out[0] && (v->kind == TERM_TEXT || v->kind == TERM_ATOM) && strlen(v->text) < cap)
        strcpy(out, v->text);
}

static void set_verify(struct optfile *o, const char *word)
{
    if (o->verify == TLS_VERIFY_UNSAID && strcmp(word, "verify_none") == 0)
        o->verify = TLS_VERIFY_NONE;
    else if (o->verify == TLS_VERIFY_UNSAID && strcmp(word, "verify_peer") == 0)
        o->verify = TLS_VERIFY_HOST;
}

static void set_option(struct optfile *o, const char *name, const struct term *v)
{
    static const char *const elsewhere[] = {"cert", "key", "cacerts", "certs_keys"};
    if (strcmp(name, "certfile") == 0)
        set_text(o->cert, sizeof o->cert, v);
    else if (strcmp(name, "keyfile") == 0)
        set_text(o->key, sizeof o->key, v);
    else if (strcmp(name, "cacertfile") == 0)
        set_text(o->cacert, sizeof o->cacert, v);
    else if (strcmp(name, "password") == 0)
        set_text(o->password, sizeof o->password, v);
    else if (strcmp(name, "verify") == 0)
        set_verify(o, v->text);
    else if (strcmp(name, "server_name_indication") == 0 && v->kind == TERM_ATOM)
        o->any_host |= !o->host[0] && strcmp(v->text, "disable") == 0;
    else if (strcmp(name, "server_name_indication") == 0 && !o->any_host)
        set_text(o->host, sizeof o->host, v);
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (strcmp(name, elsewhere[i]) == 0 && !o->not_read[0])
            snprintf(o->not_read, sizeof o->not_read, "%s", name);
}

/* Returns the value of a pair {Name, Value}, NULL when t is none. */
static const struct term *pair(const struct term *t, const char **name)
{
    const struct term *k = t->kind == TERM_TUPLE ? t->first : NULL;
    if (!k || k->kind != TERM_ATOM || !k->next || k->next->next)
        return NULL;
    *name = k->text;
    return k->next;
}

int optfile_read(struct optfile *o, const char *text, size_t len, char *why, size_t size)
{
    struct arena arena;
    arena_init(&arena);
    struct reader r = {.p = text, .end = text + len, .line = 1, .arena = &arena};
    const struct term *all = term(&r);
    int e = r.oom ? ET_ENOMEM : 0;
    if (e == 0 && (!all || all->kind != TERM_LIST || !take(&r, "."))) {
        snprintf(why, size, "line %u: %s", r.line,
                 r.why ? r.why : "it is not one list of options followed by a full stop");
        e = ET_EINVAL;
    }
    for (const struct term *side = e ? NULL : all->first; side; side = side->next) {
        const char *name = "";
        const struct term *options = pair(side, &name);
        if (!options || strcmp(name, "client") != 0 || options->kind != TERM_LIST)
            continue;
        for (const struct term *t = options->first; t; t = t->next) {
            const struct term *value = pair(t, &name);
            if (value)
                set_option(o, name, value);
        }
    }
    arena_free(&arena);
    return e;
}

void optfile_argument(struct optfile *o, const char *name, const char *value)
{
    static const char client[] = "client_";
    const struct term v = {.kind = TERM_TEXT, .text = value};
    if (strncmp(name, client, sizeof client - 1) == 0)
        set_option(o, name + sizeof client - 1, &v);
}
