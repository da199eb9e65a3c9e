/* format.c - printf and printa formats against what they are to print (reference 8.5, 7.6).
 *
 * Only checking happens here; formatting is the consumer's. A conversion is
 * %[flags][width][.prec][h l ll L w]conv. */
#include "lang/check.h"

#include <string.h>

enum want {
    WANT_NOTHING, /* %% */
    WANT_INT,     /* any integer */
    WANT_INT4,    /* an integer of at most 4 bytes */
    WANT_INT8,    /* an integer of 8 bytes: a time */
    WANT_STRING,
    WANT_FLOAT,
    WANT_LATER /* known, not built yet */
};

/* clang-format off */
static const struct { char conv; enum want want; const char *text; } convs[] = {
    {'d', WANT_INT, "an integer"},  {'i', WANT_INT, "an integer"},   {'u', WANT_INT, "an integer"},
    {'o', WANT_INT, "an integer"},  {'x', WANT_INT, "an integer"},   {'X', WANT_INT, "an integer"},
    {'p', WANT_INT, "an address"},
    {'c', WANT_INT4, "an integer of at most 4 bytes"}, {'C', WANT_INT4, "an integer of at most 4 bytes"},
    {'s', WANT_STRING, "a string"}, {'S', WANT_STRING, "a string"},
    {'Y', WANT_INT8, "a time (8 bytes)"}, {'T', WANT_INT8, "a time (8 bytes)"},
    {'e', WANT_FLOAT, "a float"}, {'E', WANT_FLOAT, "a float"}, {'f', WANT_FLOAT, "a float"},
    {'g', WANT_FLOAT, "a float"}, {'G', WANT_FLOAT, "a float"},
    {'a', WANT_LATER, ""}, {'A', WANT_LATER, ""}, {'k', WANT_LATER, ""},
    {'%', WANT_NOTHING, ""},
};
/* clang-format on */

enum { FIELD_MAX = 9999 }; /* columns: one conversion shall not fill a disk */

struct conv {
    char text[48]; /* as written, for messages */
    char letter;
    enum want want;
    const char *wanted; /* in words */
    char size[3];       /* "", "h", "l", "ll", "L", "w" */
    bool at;            /* %@ */
    unsigned stars;
};

static bool number_ok(const char **p)
{
    unsigned v = 0;
    for (; **p >= '0' && **p <= '9'; (*p)++) {
        if (v <= FIELD_MAX)
            v = v * 10 + (unsigned)(**p - '0');
    }
    return v <= FIELD_MAX;
}

/* Reads the conversion behind the '%' at *p; false after a complaint. */
static bool conversion(struct lang *l, const struct node *fmt, const char **p, unsigned num,
                       struct conv *c)
{
    const char *start = *p, *s = start + 1, *why = NULL;
    memset(c, 0, sizeof *c);
    for (; *s && strchr("#0-+ '@?", *s); s++)
        c->at = c->at || *s == '@';
    if (*s == '*')
        c->stars++, s++;
    else if (!number_ok(&s))
        why = "width is too large";
    if (*s == '$')
        why = "positional arguments (n$) are not supported";
    if (*s == '.') {
        s++;
        if (*s == '*')
            c->stars++, s++;
        else if (!number_ok(&s))
            why = "precision is too large";
    }
    size_t n = strspn(s, "hlLw");
    bool size_ok = n == 0 || (n == 1) || (n == 2 && memcmp(s, "ll", 2) == 0);
    memcpy(c->size, s, n < 2 ? n : 2);
    s += n;
    c->letter = *s;
    size_t len = (size_t)(s - start) + (*s != '\0');
    if (len >= sizeof c->text)
        len = sizeof c->text - 1;
    memcpy(c->text, start, len);
    bool known = false;
    for (size_t i = 0; size_ok && i < sizeof convs / sizeof convs[0]; i++) {
        if (*s && convs[i].conv == *s) {
            c->want = convs[i].want;
            c->wanted = convs[i].text;
            known = true;
        }
    }
    if (c->size[0] == 'w' || (c->size[0] == 'l' && c->letter && strchr("cs", c->letter)))
        c->want = WANT_LATER;
    else if (c->size[0] && c->letter && !strchr("dioxXueEfgG", c->letter))
        known = false;
    if (c->want == WANT_NOTHING && known && len > 2)
        why = "%% takes no flags";
    if (!*s && !why)
        why = "format ends inside a conversion";
    *p = s + (*s != '\0');
    if (why) {
        lang_err(l, &fmt->pos, "D_SYNTAX", NULL, "format conversion #%u (%s): %s", num, c->text,
                 why);
        return false;
    }
    if (!known) {
        lang_err(l, &fmt->pos, "D_SYNTAX", "a percent sign is written %%",
                 "format conversion #%u is undefined: %s", num, c->text);
        return false;
    }
    if (c->stars > 1) {
        lang_err(l, &fmt->pos, "D_SYNTAX", NULL,
                 "format conversion #%u (%s): only one * is possible", num, c->text);
        return false;
    }
    if (c->want == WANT_LATER) {
        lang_err(l, &fmt->pos, "D_UNKNOWN", NULL, "format conversion %s is not built yet", c->text);
        return false;
    }
    return true;
}

/* Whether a value of the type can be printed so. */
static bool fits(const struct conv *c, const struct type *t)
{
    bool is_int = type_is_int(t);
    unsigned bytes = 0;
    if (type_is_error(t))
        return true;
    switch (c->size[0]) {
    case 'h': bytes = 2; break;
    case 'l': bytes = 8; break;
    default: break;
    }
    if (bytes && c->want == WANT_INT) {
        /* exactly short, long, long long; hexadecimal takes either sign */
        bool any_sign = c->letter == 'x' || c->letter == 'X';
        bool is_signed = c->letter == 'd' || c->letter == 'i';
        return is_int && t->size == bytes &&
               (any_sign || c->letter == 'o' || t->is_signed == is_signed);
    }
    switch (c->want) {
    case WANT_INT: return is_int || (c->letter == 'p' && t->kind == TYPE_PTR);
    case WANT_INT4: return is_int && t->size <= 4;
    case WANT_INT8: return is_int && t->size == 8;
    case WANT_STRING: return type_is_string(t);
    default: return false;
    }
}

static const char *misfit_hint(struct lang *l, const struct conv *c, const struct node *n)
{
    const struct type *t = n->type;
    if (c->size[0] && type_is_int(t))
        return "leave the size out: the conversion adapts to its argument";
    if (type_is_string(t))
        return "%s prints a string";
    if (c->want == WANT_STRING) {
        const char *hint = check_string_hint(l, n);
        return n->kind == N_ARG || n->is_char ? hint : "%d prints an integer";
    }
    if (c->want == WANT_INT4)
        return "cast it: (char)x";
    if (c->want == WANT_INT8)
        return "walltimestamp is such a time";
    return NULL;
}

void format_check_printf(struct lang *l, const struct node *fmt, struct node *args, const char *fn)
{
    unsigned num = 0, argno = 1;
    const struct node *a = args;
    struct conv c;
    if (fmt->len == 0) {
        lang_err(l, &fmt->pos, "D_PRINTF_FMT_EMPTY", NULL, "%s( ) format string is empty", fn);
        return;
    }
    for (const char *p = fmt->str; (p = strchr(p, '%')) != NULL;) {
        num++;
        if (!conversion(l, fmt, &p, num, &c))
            return;
        if (c.want == WANT_NOTHING) {
            num--;
            continue;
        }
        if (c.at) {
            lang_err(l, &fmt->pos, "D_PRINTF_AGG_CONV", "printa() prints aggregations",
                     "%s( ) format conversion #%u (%s) is only for printa( )", fn, num, c.text);
            return;
        }
        if (c.stars > 0) {
            if (!a) {
                lang_err(l, &fmt->pos, "D_PRINTF_DYN_PROTO", NULL,
                         "%s( ) prototype mismatch: conversion #%u (%s) is missing a corresponding "
                         "width or precision argument",
                         fn, num, c.text);
                return;
            }
            argno++;
            if (!type_is_int(a->type)) {
                lang_err(l, &a->pos, "D_PRINTF_DYN_TYPE", NULL,
                         "%s( ) argument #%u is incompatible with conversion #%u (%s): a width or "
                         "precision is an integer, not %s",
                         fn, argno, num, c.text, a->type->name);
                return;
            }
            a = a->next;
        }
        if (!a) {
            lang_err(l, &fmt->pos, "D_PRINTF_ARG_PROTO", NULL,
                     "%s( ) prototype mismatch: conversion #%u (%s) is missing a corresponding "
                     "value argument",
                     fn, num, c.text);
            return;
        }
        argno++;
        if (!fits(&c, a->type)) {
            lang_err(l, &a->pos, "D_PRINTF_ARG_TYPE", misfit_hint(l, &c, a),
                     "%s( ) argument #%u is incompatible with conversion #%u (%s): %s%s expected, "
                     "%s passed",
                     fn, argno, num, c.text, c.size[0] ? "exactly sized " : "", c.wanted,
                     a->type->name);
            return;
        }
        a = a->next;
    }
    if (a)
        lang_err(l, &a->pos, "D_PRINTF_ARG_EXTRA", NULL,
                 "%s( ) prototype mismatch: only %u argument%s required by this format string", fn,
                 argno, argno == 1 ? " is" : "s are");
}

void format_check_printa(struct lang *l, const struct node *fmt, const struct lang_agg *agg)
{
    unsigned num = 0, key = 0;
    struct conv c;
    if (fmt->len == 0) {
        lang_err(l, &fmt->pos, "D_PRINTF_FMT_EMPTY", NULL, "printa( ) format string is empty");
        return;
    }
    for (const char *p = fmt->str; (p = strchr(p, '%')) != NULL;) {
        num++;
        if (!conversion(l, fmt, &p, num, &c))
            return;
        if (c.want == WANT_NOTHING) {
            num--;
            continue;
        }
        if (c.stars > 0) {
            lang_err(l, &fmt->pos, "D_UNKNOWN", "write the width as a number",
                     "format conversion #%u (%s): * in printa( ) is not built yet", num, c.text);
            return;
        }
        if (c.at) {
            if (c.want == WANT_INT)
                continue;
            lang_err(l, &fmt->pos, "D_PRINTF_ARG_TYPE", "%@d prints the value",
                     "printa( ) conversion #%u (%s): the value of an aggregation is an integer",
                     num, c.text);
            return;
        }
        if (key == agg->nkeys) {
            lang_err(l, &fmt->pos, "D_PRINTF_ARG_PROTO",
                     c.want == WANT_INT ? "%@d takes the value" : NULL,
                     "printa( ) prototype mismatch: conversion #%u (%s) is missing a "
                     "corresponding key: @%s has %u",
                     num, c.text, agg->name, agg->nkeys);
            return;
        }
        if (!fits(&c, agg->key[key])) {
            lang_err(l, &fmt->pos, "D_PRINTF_ARG_TYPE",
                     c.want == WANT_INT ? "%@d takes the value; the others take the keys in order"
                                        : NULL,
                     "printa( ) key #%u of @%s is incompatible with conversion #%u (%s): %s "
                     "expected, the key is of type %s",
                     key + 1, agg->name, num, c.text, c.wanted, agg->key[key]->name);
            return;
        }
        key++;
    }
}
