/* format.c - checks printf and printa formats against their arguments (language.md 8.5, 7.6).
 *
 * This file only checks; the consumer formats. A conversion is %[flags][width][.prec][h l ll L
 * w]conv. */
#include "lang/check.h"

#include <string.h>

enum want {
    WANT_NOTHING, /* %% */
    WANT_INT,     /* any integer */
    WANT_INT4,    /* an integer of at most 4 bytes */
    WANT_INT8,    /* an integer of 8 bytes: a time */
    WANT_STRING,
    WANT_FLOAT,
    WANT_LDOUBLE,
    WANT_WCHAR,   /* int */
    WANT_WSTRING, /* an array of int */
    WANT_SYMBOL,  /* a kernel address, or a kernel symbol */
    WANT_USYMBOL, /* the same for a process; an address only if there is a target */
    WANT_STACK
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
    {'a', WANT_SYMBOL, "an address or a symbol"}, {'A', WANT_USYMBOL, "a symbol of a process"},
    {'k', WANT_STACK, "a stack"},
    {'%', WANT_NOTHING, ""},
};

/* Size prefixes, the letters they may precede, and what they change. */
static const struct { const char *size, *letters; enum want want; const char *text; } sizes[] = {
    {"h",  "dioxXu", WANT_INT, "an integer"}, {"l",  "dioxXu", WANT_INT, "an integer"},
    {"ll", "dioxXu", WANT_INT, "an integer"}, {"L",  "eEfgG", WANT_LDOUBLE, "a long double"},
    {"l",  "c", WANT_WCHAR, "an int"},        {"w",  "c", WANT_WCHAR, "an int"},
    {"l",  "s", WANT_WSTRING, "an array of int"}, {"w", "s", WANT_WSTRING, "an array of int"},
};
/* clang-format on */

enum { FIELD_MAX = 1048576 }; /* columns: one conversion must not fill a disk */

struct conv {
    char text[48]; /* as written, for messages */
    char letter;
    enum want want;
    const char *wanted; /* the same in words */
    char size[3];       /* "", "h", "l", "ll", "L", "w" */
    bool at, other;     /* %@, %# */
    unsigned stars;     /* number of arguments for width and precision */
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

/* Reads the conversion after the '%' at *p; returns false after reporting an error. */
static bool conversion(struct lang *l, const struct node *fmt, const char **p, unsigned num,
                       struct conv *c)
{
    const char *start = *p, *s = start + 1, *why = NULL;
    memset(c, 0, sizeof *c);
    for (; *s && strchr("#0-+ '@?", *s); s++)
        c->at = c->at || *s == '@', c->other = c->other || *s == '#';
    if (*s == '*')
        c->stars++, s++;
    else if (!number_ok(&s))
        why = "width is too large";
    if (*s == '*')
        why = "more than one * for the width";
    if (*s == '$')
        why = "positional arguments (n$) are not supported";
    if (*s == '@')
        c->at = true, s++; /* "%8@d" */
    if (*s == '.') {
        s++;
        if (*s == '*')
            c->stars++, s++;
        else if (!number_ok(&s))
            why = "precision is too large";
        if (*s == '*')
            why = "more than one * for the precision";
    }
    size_t n = strspn(s, "hlLw");
    if (n < sizeof c->size)
        memcpy(c->size, s, n);
    s += n;
    c->letter = *s;
    size_t len = (size_t)(s - start) + (*s != '\0');
    if (len >= sizeof c->text)
        len = sizeof c->text - 1;
    memcpy(c->text, start, len);
    bool known = false;
    for (size_t i = 0; n == 0 && i < sizeof convs / sizeof convs[0]; i++) {
        if (*s && convs[i].conv == *s) {
            c->want = convs[i].want;
            c->wanted = convs[i].text;
            known = true;
        }
    }
    for (size_t i = 0; n > 0 && n < sizeof c->size && i < sizeof sizes / sizeof sizes[0]; i++) {
        if (*s && strcmp(sizes[i].size, c->size) == 0 && strchr(sizes[i].letters, *s)) {
            c->want = sizes[i].want;
            c->wanted = sizes[i].text;
            known = true;
        }
    }
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
        lang_err(l, &fmt->pos, "D_SYNTAX",
                 c->text[1] == 'w' || c->text[1] == 'W' ? "%T prints a term"
                                                        : "a percent sign is written %%",
                 "format conversion #%u is undefined: %s", num, c->text);
        return false;
    }
    return true;
}

/* Returns whether an integer has exactly the size that the conversion states: short, long or long
 * long. Hexadecimal accepts either sign and, with ll, types that have 64 bits everywhere. */
static bool size_fits(const struct conv *c, const struct type *t)
{
    bool hex = c->letter == 'x' || c->letter == 'X';
    bool is_signed = c->letter == 'd' || c->letter == 'i';
    bool llong = strcmp(c->size, "ll") == 0;
    if (!type_is_int(t) || t->is_enum || t->size != (c->size[0] == 'h' ? 2u : 8u))
        return false;
    bool everywhere = strcmp(t->name, "int64_t") == 0 || strcmp(t->name, "uint64_t") == 0;
    if (t->is_llong != llong && !(hex && llong && everywhere))
        return false;
    return hex || c->letter == 'o' || t->is_signed == is_signed;
}

static bool is_wide(const struct type *t)
{
    return type_is_int(t) && !t->is_enum && t->size == 4 && t->is_signed;
}

/* Returns whether the conversion can print a value of the type. */
static bool fits(const struct lang *l, const struct conv *c, const struct type *t)
{
    bool is_int = type_is_int(t);
    if (type_is_error(t))
        return true;
    if (c->want == WANT_INT && c->size[0])
        return size_fits(c, t);
    switch (c->want) {
    case WANT_INT: return is_int || (c->letter == 'p' && t->kind == TYPE_PTR);
    case WANT_FLOAT: return t->kind == TYPE_FLOAT;
    case WANT_LDOUBLE: return t->kind == TYPE_FLOAT && t->size == type_c[T_LDOUBLE].size;
    case WANT_WCHAR: return is_wide(t);
    case WANT_WSTRING: return t->kind == TYPE_ARRAY && is_wide(t->of);
    case WANT_SYMBOL: return type_is_scalar(t) || t->kind == TYPE_SYMADDR;
    case WANT_USYMBOL: return t->kind == TYPE_USYMADDR || (type_is_scalar(t) && l->opt->target > 0);
    case WANT_STACK: return t->kind == TYPE_STACK || t->kind == TYPE_USTACK;
    case WANT_INT4: return is_int && t->size <= 4;
    case WANT_INT8: return is_int && t->size == 8;
    case WANT_STRING: return type_is_string(t);
    default: return false;
    }
}

static const char *misfit_hint(struct lang *l, const struct conv *c, const struct node *n)
{
    const struct type *t = n->type;
    if (type_is_term(t))
        return "%T prints a term";
    if (c->size[0] && c->want == WANT_INT && type_is_int(t))
        return "leave the size out: the conversion adapts to its argument";
    if (t->kind == TYPE_FLOAT)
        return c->want == WANT_LDOUBLE ? "leave the L out" : "%f, %e and %g print a float";
    if (type_is_place(t))
        return t->kind == TYPE_SYMADDR    ? "%a prints a symbol of the kernel"
               : t->kind == TYPE_USYMADDR ? "%A prints a symbol of a process"
                                          : "%k prints a stack";
    if (c->want == WANT_USYMBOL)
        return "an address can be looked up only in the process of -c or -p";
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

/* Turns the conversion that ends at *p, a %T, into one of a string: the text of a term. */
static void of_text(struct lang *l, struct node *fmt, const char **p)
{
    const size_t end = (size_t)(*p - fmt->str);
    char *text = lang_strndup(l, fmt->str, fmt->len);
    text[end - 1] = 's';
    fmt->str = text;
    *p = text + end;
}

void format_check_printf(struct lang *l, struct node *fmt, struct node *args, const char *fn)
{
    unsigned num = 0, argno = 1;
    struct node *a = args;
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
        for (; c.stars > 0; c.stars--, a = a->next) {
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
        }
        if (!a) {
            lang_err(l, &fmt->pos, "D_PRINTF_ARG_PROTO", NULL,
                     "%s( ) prototype mismatch: conversion #%u (%s) is missing a corresponding "
                     "value argument",
                     fn, num, c.text);
            return;
        }
        argno++;
        if (c.letter == 'T' && type_is_term(a->type)) {
            of_text(l, fmt, &p);
            check_as_text(l, a, c.other);
        } else if (!fits(l, &c, a->type)) {
            lang_err(l, &a->pos, "D_PRINTF_ARG_TYPE", misfit_hint(l, &c, a),
                     "%s( ) argument #%u is incompatible with conversion #%u (%s): %s%s expected, "
                     "%s passed",
                     fn, argno, num, c.text,
                     c.size[0] && c.want == WANT_INT ? "exactly sized " : "", c.wanted,
                     a->type->name);
            return;
        }
        a = a->next;
    }
    if (a)
        lang_err(l, &a->pos, "D_PRINTF_ARG_EXTRA",
                 strchr(fmt->str, '~') ? "conversions are written %s and %d, newlines \\n" : NULL,
                 "%s( ) prototype mismatch: only %u argument%s required by this format string", fn,
                 argno, argno == 1 ? " is" : "s are");
}

void format_check_printa(struct lang *l, struct node *fmt, const struct lang_agg *agg)
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
        for (; c.stars > 0; c.stars--, key++) {
            if (key == agg->nkeys) {
                lang_err(l, &fmt->pos, "D_PRINTF_DYN_PROTO", NULL,
                         "printa( ) prototype mismatch: conversion #%u (%s) is missing a "
                         "corresponding key for its width or precision: @%s has %u",
                         num, c.text, agg->name, agg->nkeys);
                return;
            }
            if (!type_is_int(agg->key[key])) {
                lang_err(l, &fmt->pos, "D_PRINTF_DYN_TYPE", NULL,
                         "printa( ) key #%u of @%s is incompatible with conversion #%u (%s): a "
                         "width or precision is an integer, the key is of type %s",
                         key + 1, agg->name, num, c.text, agg->key[key]->name);
                return;
            }
        }
        if (c.at) {
            if (c.want == WANT_INT || c.letter == 'Y' || c.letter == 'T')
                continue;
            lang_err(l, &fmt->pos, "D_PRINTF_ARG_TYPE", "%@d prints the value, %@Y a time",
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
        if (c.letter == 'T' && type_is_string(agg->key[key])) { /* a term became its text */
            of_text(l, fmt, &p);
        } else if (!fits(l, &c, agg->key[key])) {
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
