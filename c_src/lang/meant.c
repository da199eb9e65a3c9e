/* meant.c - constructs from other languages, and what D has instead.
 *
 * A row says where its text is in relation to the unexpected token. The first matching row applies,
 * so longer texts precede their parts. */
#include "lang/lex.h"

#include <string.h>

#include "util/units.h"

#define COMMENT "comments are written /* like this */"
#define GLOB    "the parts of a description are globs, such as pr*, not regular expressions"
#define SEVERAL "several probes are separated by commas: shop:price:entry, shop:order:entry"
#define NO_CALL                                                                                    \
    "D cannot call functions of the node; printf(\"%s\\n\", x) prints, and doc/user-probes.md "    \
    "says how an application passes terms"
#define PROCESS "processes are compared as text: copyinstr(arg0) == \"<0.87.0>\""

enum { OUTSIDE = 1, INSIDE = 2 }; /* between clauses, in descriptions; in expressions */

static const struct {
    const char *text;
    unsigned where;
    const char *hint;
} rows[] = {
    {"//", OUTSIDE | INSIDE, COMMENT},
    {"%%", OUTSIDE | INSIDE, COMMENT},
    {"%{", INSIDE, "D has no maps; an associative array is written a[key] = value"},
    {"%", OUTSIDE | INSIDE, COMMENT},
    {"#{", INSIDE, "D has no maps; an associative array is written a[key] = value"},
    {"=:=", INSIDE, "equality is written =="},
    {"===", INSIDE, "equality is written =="},
    {"=/=", INSIDE, "inequality is written !="},
    {"!==", INSIDE, "inequality is written !="},
    {"=<", INSIDE, "less or equal is written <="},
    {"=>", INSIDE, "greater or equal is written >="},
    {":=", INSIDE, "assignment is written ="},
    {"<>", INSIDE, "strings are joined by strjoin(a, b); inequality is written !="},
    {"<0.", INSIDE, PROCESS},
    {"andalso", INSIDE, "and is written &&"},
    {"and", INSIDE, "and is written &&"},
    {"orelse", INSIDE, "or is written ||"},
    {"or", INSIDE, "or is written ||"},
    {"xor", INSIDE, "exclusive or is written ^^"},
    {"rem", INSIDE, "the remainder is written %"},
    {"div", INSIDE, "the quotient of integers is written /"},
    {"case", INSIDE, "D has if and else, and a ? b : c"},
    {"switch", INSIDE, "D has if and else, and a ? b : c"},
    {"not ", INSIDE, "not is written !"},
    {"then ", INSIDE, "an if is written: if (x) { } else { }"},
    {"when", OUTSIDE | INSIDE, "a condition is written before the {: a:b:entry /x > 1/ { }"},
    {"if", OUTSIDE, "a condition is written before the {: a:b:entry /x > 1/ { }"},
    {"do", OUTSIDE | INSIDE, "a clause has its actions in braces: a:b:entry { }"},
    {"return", INSIDE, "a clause ends at its }; if and else choose what runs"},
    {"self(", INSIDE,
     "the process is copyinstr(arg0); thread-local variables are written self->name"},
    {"|>", INSIDE, "D has no pipes: write f(x)"},
    {"#", OUTSIDE, COMMENT},
    {"-record(", OUTSIDE, "a record is defined by: record order { id, price, items };"},
    {"->", OUTSIDE, "the parts of a description are separated by colons: lists:map:return"},
    {"~r", OUTSIDE, GLOB},
    {":(", OUTSIDE, SEVERAL},
    {"(", OUTSIDE, "a function is named with its arity: lists:map/2"},
    {"|", OUTSIDE, SEVERAL},
    {"&", OUTSIDE, "a function is named without it: MyApp.Foo.bar/1"},
    {"sec", OUTSIDE, "an interval is one word: tick-1s"},
    {"ms", OUTSIDE, "an interval is one word: tick-1ms"},
};

static bool is_name(const struct lex *lx, const char *p)
{
    return p >= lx->src->text && p < lx->end &&
           (*p == '_' || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
            (*p >= 'A' && *p <= 'Z'));
}

/* Returns whether the text is at p, as a word if it begins with a letter. */
static bool stands_at(const struct lex *lx, const char *p, const char *text, size_t n)
{
    bool word = text[0] >= 'a' && text[0] <= 'z';
    return p >= lx->src->text && (size_t)(lx->end - p) >= n && memcmp(p, text, n) == 0 &&
           !(word && is_name(lx, p - 1)) && !(is_name(lx, p + n - 1) && is_name(lx, p + n));
}

/* Converts "1ms" to ns in a hint. NULL: the token is not a unit after a number. */
static const char *with_unit(struct lex *lx)
{
    const char *p = lx->tok.raw, *digits;
    char unit[8];
    uint64_t n = 0, ns;
    size_t len = (size_t)lx->tok.pos.len;
    if (p > lx->src->text && p[-1] == 'u') { /* "15us": the u was scanned as the suffix unsigned */
        p--;
        len++;
    }
    digits = p;
    while (digits > lx->src->text && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    if (lx->tok.kind != TOK_IDENT || digits == p || p - digits > 15 || is_name(lx, digits - 1) ||
        len >= sizeof unit)
        return NULL;
    memcpy(unit, p, len);
    unit[len] = '\0';
    for (const char *d = digits; d < p; d++)
        n = n * 10 + (uint64_t)(*d - '0');
    if (!units_time(n, unit, &ns))
        return NULL;
    return lang_printf(lx->l, "times are in nanoseconds: %.*s%s is %llu", (int)(p - digits), digits,
                       unit, (unsigned long long)ns);
}

/* Returns whether this is "io:format(", a call in Erlang's form. */
static bool is_remote_call(const struct lex *lx)
{
    const char *p = lx->tok.raw;
    if (lx->tok.kind != TOK_COLON || !is_name(lx, p - 1) || !is_name(lx, p + 1))
        return false;
    for (p++; is_name(lx, p); p++)
        ;
    return p < lx->end && *p == '(';
}

/* Returns whether this is ":get" where a value is expected, an atom in Elixir's form. */
static bool is_atom(const struct lex *lx)
{
    const char *p = lx->tok.raw;
    if (lx->tok.kind != TOK_COLON || !is_name(lx, p + 1))
        return false;
    do
        p--;
    while (p >= lx->src->text && *p == ' ');
    return p >= lx->src->text && strchr("=!<>(,&|/", *p) != NULL;
}

const char *lex_meant(struct lex *lx)
{
    const char *at = lx->tok.raw;
    unsigned where = lx->ctx == LEX_OUTER ? OUTSIDE : INSIDE;
    if (where == INSIDE && is_atom(lx))
        return "an atom is text, == \"get\", or atom(\"get\")";
    if (where == INSIDE && is_remote_call(lx))
        return NO_CALL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n = strlen(rows[i].text);
        size_t most = rows[i].text[n - 1] == ' ' ? n : n - 1; /* "not ": the word after it */
        for (size_t back = 0; (rows[i].where & where) && back <= most; back++)
            if (at && (size_t)(at - lx->src->text) >= back &&
                stands_at(lx, at - back, rows[i].text, n))
                return rows[i].hint;
    }
    return where == INSIDE && at ? with_unit(lx) : NULL;
}

const char *lang_no_call(void)
{
    return NO_CALL;
}

const char *lex_meant_part(const struct lex *lx)
{
    const char *p = lx->tok.raw, *end = p + 1;
    bool regular = *p == '/', glob = false;
    if (p == lx->src->text || p[-1] != ':' || (!regular && *p != '{'))
        return NULL;
    while (end < lx->end && *end != '\n' && *end != (regular ? '/' : '}')) {
        if (*end == '"' || *end == '{' || *end == ';')
            return NULL;
        glob = glob || (end[0] == '.' && end + 1 < lx->end && end[1] == '*');
        end++;
    }
    if (end >= lx->end || *end == '\n' ||
        !((end + 1 < lx->end && end[1] == ':') || (regular && glob)))
        return NULL;
    return regular ? GLOB : SEVERAL;
}
