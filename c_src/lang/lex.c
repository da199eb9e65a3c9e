/* lex.c - the scanner: tokens of expressions, keywords, constants, macros; words of descriptions.
 *
 * lx->p is the only state that moves. Blanks, comments and control lines are skipped before a
 * token, never after it, so that the context that the parser has set applies to them. */
#include "lang/lex.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const char *const lex_keywords[] = {
    "auto", "break", "case", "char", "const", "continue",
    "counter", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "import",
    "inline", "int", "long", "offsetof", "probe", "provider",
    "register", "restrict", "return", "self", "short", "signed",
    "sizeof", "static", "string", "stringof", "struct", "switch",
    "this", "translator", "typedef", "union", "unsigned", "void",
    "volatile", "while", "xlate",
};
/* Longer punctuators precede their prefixes. '/' and "/=" depend on what follows, see slash(). */
static const char *const lex_puncts[] = {
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=",
    "==", "!=", "&&", "||", "^^", "+=", "-=", "*=", "/=", "%=",
    "&=", "|=", "^=", "(", ")", "[", "]", "{",
    "}", ".", ",", ";", "?", ":", "=", "+", "-",
    "*", "/", "%", "&", "|", "^", "~", "!", "<",
    ">",
};
/* Keywords that start a declaration between clauses; every other word there is a description. */
static const enum tok outer_keywords[] = {
    TOK_KW_AUTO, TOK_KW_CHAR, TOK_KW_CONST, TOK_KW_COUNTER, TOK_KW_DOUBLE, TOK_KW_ENUM, TOK_KW_EXTERN,
    TOK_KW_FLOAT, TOK_KW_IMPORT, TOK_KW_INLINE, TOK_KW_INT, TOK_KW_LONG, TOK_KW_PROVIDER,
    TOK_KW_REGISTER, TOK_KW_RESTRICT, TOK_KW_SELF, TOK_KW_SHORT, TOK_KW_SIGNED, TOK_KW_STATIC,
    TOK_KW_STRING, TOK_KW_STRUCT, TOK_KW_THIS, TOK_KW_TRANSLATOR, TOK_KW_TYPEDEF, TOK_KW_UNION,
    TOK_KW_UNSIGNED, TOK_KW_VOID, TOK_KW_VOLATILE,
};
/* clang-format on */

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
_Static_assert(NELEM(lex_keywords) == TOK_KW_XLATE - TOK_KW_AUTO + 1, "one text a keyword");
_Static_assert(NELEM(lex_puncts) == TOK_GT - TOK_ELLIPSIS + 1, "one text a punctuator");

const char *lex_keyword(enum tok t)
{
    return t >= TOK_KW_AUTO && t <= TOK_KW_XLATE ? lex_keywords[t - TOK_KW_AUTO] : "";
}

/* Letters, independent of the locale. */
static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}
static bool is_name_start(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '`';
}
static bool is_name(int c)
{
    return is_name_start(c) || is_digit(c);
}
static bool is_blank(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}
static int hex_value(int c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Returns the character n places ahead, -1 at the end of the text. */
static int at(const struct lex *lx, size_t n)
{
    return n < (size_t)(lx->end - lx->p) ? (unsigned char)lx->p[n] : -1;
}

static struct diag_pos here(const struct lex *lx, size_t len)
{
    struct diag_pos pos = {lx->file, lx->line, (int)(lx->p - lx->line_start) + 1, (int)len,
                           lx->line - lx->shift};
    return pos;
}

void lex_init(struct lex *lx, struct lang *l, const struct compile_source *src)
{
    memset(lx, 0, sizeof *lx);
    lx->l = l;
    lx->src = src;
    lx->p = lx->line_start = src->text;
    lx->end = src->text + src->len;
    lx->file = src->name;
    lx->line = 1;
    lx->fresh = true;
}

static void newline(struct lex *lx)
{
    lx->p++;
    lx->line += lx->line < INT_MAX;
    lx->line_start = lx->p;
    lx->fresh = true;
}

static void comment(struct lex *lx)
{
    struct diag_pos start = here(lx, 2);
    lx->p += 2;
    for (;;) {
        int c = at(lx, 0);
        if (c < 0)
            lang_fail(lx->l, &start, "D_SYNTAX", NULL,
                      "end-of-file encountered before matching */");
        if (c == '*' && at(lx, 1) == '/')
            break;
        if (c == '/' && at(lx, 1) == '*') {
            struct diag_pos pos = here(lx, 2);
            while (at(lx, 0) >= 0 && (at(lx, 0) != '*' || at(lx, 1) != '/')) {
                if (at(lx, 0) == '\n')
                    newline(lx);
                else
                    lx->p++;
            }
            lx->p += at(lx, 0) >= 0 ? 2 : 0; /* what follows is no comment */
            lang_fail(lx->l, &pos, "D_SYNTAX", "an earlier comment is not closed by */",
                      "/* encountered inside a comment");
        }
        if (c == '\n')
            newline(lx);
        else
            lx->p++;
    }
    lx->p += 2;
}

static void skip(struct lex *lx)
{
    for (;;) {
        int c = at(lx, 0);
        if (c == '\n') {
            newline(lx);
        } else if (is_blank(c)) {
            lx->p++;
        } else if (c == '\\' && at(lx, 1) == '\n' && lx->ctx == LEX_EXPR) {
            lx->p++;
            newline(lx);
            lx->fresh = false;
        } else if (c == '/' && at(lx, 1) == '*') {
            lx->fresh = false;
            comment(lx);
        } else if (c == '#' && lx->fresh && lx->ctx != LEX_MEMBER) {
            if (at(lx, 1) == '!') {
                while (at(lx, 0) >= 0 && at(lx, 0) != '\n')
                    lx->p++;
            } else {
                lx->p++;
                lex_control(lx);
            }
        } else {
            return;
        }
    }
}

_Noreturn void lex_syntax(struct lex *lx, const char *hint)
{
    const struct token *t = &lx->tok;
    if (t->kind == TOK_EOF)
        lang_fail(lx->l, &t->pos, "D_SYNTAX", hint, "syntax error near end of input");
    int n = t->pos.len > 0 && t->pos.len < 60 ? t->pos.len : 1;
    const char *meant = lex_meant(lx);
    lang_fail(lx->l, &t->pos, "D_SYNTAX", meant ? meant : hint, "syntax error near \"%.*s\"", n,
              t->raw);
}

static _Noreturn void stray(struct lex *lx);

/* -- constants --------------------------------------------------------------------------------- */

/* Copies n raw bytes and replaces escapes (language.md 1.4); a backslash that starts no escape is
 * kept with the character after it. */
static char *unescape(struct lang *l, const char *s, size_t n, size_t *len)
{
    static const char from[] = "abfnrtv\"\\", to[] = "\a\b\f\n\r\t\v\"\\";
    char *out = lang_alloc(l, n + 1);
    size_t o = 0;
    for (size_t i = 0; i < n; i++) {
        const char *e;
        if (s[i] != '\\' || i + 1 == n) {
            out[o++] = s[i];
            continue;
        }
        char c = s[++i];
        if (c != '\0' && (e = strchr(from, c)) != NULL) {
            out[o++] = to[e - from];
        } else if (c >= '0' && c <= '7') {
            unsigned v = 0, k = 0;
            for (; k < 3 && i < n && s[i] >= '0' && s[i] <= '7'; k++, i++)
                v = v * 8 + (unsigned)(s[i] - '0');
            i--;
            out[o++] = (char)v;
        } else if (c == 'x' && i + 1 < n && hex_value((unsigned char)s[i + 1]) >= 0) {
            unsigned v = 0;
            for (i++; i < n && hex_value((unsigned char)s[i]) >= 0; i++)
                v = (v << 4 | (unsigned)hex_value((unsigned char)s[i])) & 255;
            i--;
            out[o++] = (char)v;
        } else {
            out[o++] = '\\';
            out[o++] = c;
        }
    }
    *len = o;
    return out;
}

/* Sets the token to a string constant; an embedded NUL ends it. */
static void set_string(struct lex *lx, char *s, size_t len)
{
    s[len] = '\0';
    lx->tok.kind = TOK_STRING;
    lx->tok.str = s;
    lx->tok.len = strlen(s);
}

/* At a backslash before a newline, returns whether the next line closes the quote; if so, moves
 * past it. */
static bool continued(struct lex *lx, int quote)
{
    for (size_t i = 2; at(lx, i) >= 0 && at(lx, i) != '\n'; i++) {
        if (at(lx, i) == quote) {
            const char *behind = lx->p + i + 1;
            lx->p++;
            newline(lx);
            lx->p = behind;
            return true;
        }
        i += at(lx, i) == '\\';
    }
    return false;
}

/* Moves past the closing quote and returns the bytes between the quotes. */
static const char *quoted(struct lex *lx, int quote, const char *nl_tag, size_t *n)
{
    const char *start = ++lx->p;
    for (;;) {
        int c = at(lx, 0);
        if (c == quote)
            break;
        if (c < 0 || c == '\n' || (c == '\\' && at(lx, 1) == '\n')) {
            lx->tok.pos.len = (int)(lx->p - start) + 1;
            if (c == '\\' && continued(lx, quote))
                lang_fail(lx->l, &lx->tok.pos, nl_tag, "a string ends on its line",
                          "newline encountered in %s",
                          quote == '"' ? "string literal" : "character constant");
            lx->p = start; /* a brace in text wrongly taken for a string may end the clause */
            if (c < 0)
                lang_fail(lx->l, &lx->tok.pos, "D_SYNTAX", NULL,
                          "end-of-file encountered before matching %c", quote);
            lang_fail(lx->l, &lx->tok.pos, nl_tag, NULL, "newline encountered in %s",
                      quote == '"' ? "string literal" : "character constant");
        }
        lx->p += c == '\\' && at(lx, 1) >= 0 ? 2 : 1;
    }
    *n = (size_t)(lx->p - start);
    lx->p++;
    lx->tok.pos.len = (int)*n + 2;
    return start;
}

static void string_constant(struct lex *lx)
{
    size_t n, len;
    const char *raw = quoted(lx, '"', "D_STR_NL", &n);
    char *s = unescape(lx->l, raw, n, &len);
    set_string(lx, s, len);
}

static void char_constant(struct lex *lx)
{
    size_t n, len;
    const char *raw = quoted(lx, '\'', "D_CHR_NL", &n);
    char *s = unescape(lx->l, raw, n, &len);
    if (len == 0)
        lang_fail(lx->l, &lx->tok.pos, "D_CHR_NULL", "strings are written with double quotes",
                  "empty character constant");
    if (len > 8)
        lang_fail(lx->l, &lx->tok.pos, "D_CHR_OFLOW", "strings are written with double quotes",
                  "character constant is too long");
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++)
        v = v << 8 | (unsigned char)s[i];
    lx->tok.kind = TOK_INT;
    lx->tok.num = v;
    lx->tok.is_char = true;
    lx->tok.type = type_of_constant(v, true, false, 0);
    if (!lx->tok.type) /* eight bytes with the highest bit set */
        lx->tok.type = &type_c[T_LONG];
}

enum number { NUMBER_OK, NUMBER_DIGIT, NUMBER_OVERFLOW };

/* Reads the digits of a C integer: n bytes without sign and suffix. */
static enum number number(const char *s, size_t n, uint64_t *v)
{
    unsigned base = 10;
    bool over = false;
    if (n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
        n -= 2;
    } else if (n > 1 && s[0] == '0') {
        base = 8;
    }
    *v = 0;
    for (size_t i = 0; i < n; i++) {
        int d = hex_value((unsigned char)s[i]);
        if (d < 0 || (unsigned)d >= base)
            return NUMBER_DIGIT;
        over |= __builtin_mul_overflow(*v, (uint64_t)base, v);
        over |= __builtin_add_overflow(*v, (uint64_t)d, v);
    }
    return over ? NUMBER_OVERFLOW : NUMBER_OK;
}

static bool is_float_tail(const struct lex *lx)
{
    int c = at(lx, 0);
    if (c == '.')
        return true;
    if (c == 'f' || c == 'F')
        return !is_name(at(lx, 1));
    if (c == 'e' || c == 'E') {
        int d = at(lx, 1);
        return is_digit(d) || ((d == '+' || d == '-') && is_digit(at(lx, 2)));
    }
    return false;
}

static _Noreturn void float_constant(struct lex *lx)
{
    const char *start = lx->tok.raw;
    while (is_name(at(lx, 0)) || at(lx, 0) == '.')
        lx->p++;
    lx->tok.pos.len = (int)(lx->p - start);
    lang_fail(lx->l, &lx->tok.pos, "D_SYNTAX",
              "D has only integers: write 1500000 ns for 1.5 ms, or scale all values: 15 for 1.5",
              "floating-point constants are not permitted");
}

static void integer_constant(struct lex *lx)
{
    const char *start = lx->p;
    bool hex =
        at(lx, 0) == '0' && (at(lx, 1) == 'x' || at(lx, 1) == 'X') && hex_value(at(lx, 2)) >= 0;
    if (hex)
        lx->p += 2;
    while (hex ? hex_value(at(lx, 0)) >= 0 : is_digit(at(lx, 0)))
        lx->p++;
    size_t n = (size_t)(lx->p - start);
    if (!hex && is_float_tail(lx))
        float_constant(lx);
    bool decimal = n == 1 || start[0] != '0';
    /* U does not exclude the signed types of octal and hexadecimal constants: language.md 1.3 */
    bool is_unsigned = at(lx, 0) == 'u' || (at(lx, 0) == 'U' && decimal);
    lx->p += at(lx, 0) == 'u' || at(lx, 0) == 'U';
    unsigned longs = 0;
    for (; longs < 2 && (at(lx, 0) == 'l' || at(lx, 0) == 'L'); longs++)
        lx->p++;
    lx->tok.pos.len = (int)(lx->p - start);
    enum number got = number(start, n, &lx->tok.num);
    if (got == NUMBER_DIGIT)
        lang_fail(lx->l, &lx->tok.pos, "D_INT_DIGIT", "a leading 0 makes a constant octal",
                  "constant '%.*s' contains an invalid digit", (int)n, start);
    lx->tok.kind = TOK_INT;
    lx->tok.type =
        got == NUMBER_OK ? type_of_constant(lx->tok.num, decimal, is_unsigned, longs) : NULL;
    if (!lx->tok.type)
        lang_fail(lx->l, &lx->tok.pos, "D_INT_OFLOW",
                  got == NUMBER_OK ? "the suffix u makes it unsigned" : NULL,
                  "integer constant '%.*s' cannot be represented in any built-in integral type",
                  (int)n, start);
}

/* -- names and macros -------------------------------------------------------------------------- */

static enum tok keyword(const char *s, size_t n)
{
    for (size_t i = 0; i < NELEM(lex_keywords); i++) {
        const char *k = lex_keywords[i]; /* most keywords differ in the first letter */
        if (n > 0 && k[0] == s[0] && strlen(k) == n && memcmp(k, s, n) == 0)
            return (enum tok)(TOK_KW_AUTO + (int)i);
    }
    return TOK_EOF;
}

/* Returns whether the text that follows makes a typedef name a plain identifier (language.md
 * 1.2). */
static bool used_as_ident(const struct lex *lx)
{
    size_t i = 0;
    while (is_blank(at(lx, i)))
        i++;
    int c = at(lx, i), d = at(lx, i + 1);
    return c == ';' || c == '[' || (c == '=' && d != '=') || (c == '+' && d == '+') ||
           (c == '-' && d == '-') || (c == ',' && lx->paren == 0);
}

/* Returns whether the word before this place is a type: before another word, and in (WORD) and
 * (WORD *) unless that is the argument of a function. A kernel has thousands of type names, which
 * must not take those of a program's variables. */
static bool can_only_be_type(const struct lex *lx)
{
    size_t i = 0;
    while (is_blank(at(lx, i)))
        i++;
    if (i > 0 && is_name_start(at(lx, i)) && at(lx, i) != '`')
        return true;
    while (is_blank(at(lx, i)) || at(lx, i) == '*')
        i++;
    return lx->before[0] == TOK_LPAR && lx->before[1] != TOK_IDENT && at(lx, i) == ')';
}

static bool is_type_word(enum tok kw)
{
    return kw == TOK_KW_CHAR || kw == TOK_KW_DOUBLE || kw == TOK_KW_FLOAT || kw == TOK_KW_INT ||
           kw == TOK_KW_LONG || kw == TOK_KW_SHORT || kw == TOK_KW_SIGNED || kw == TOK_KW_STRING ||
           kw == TOK_KW_UNSIGNED || kw == TOK_KW_VOID;
}

/* Scans a word in expression context: keyword, type name or identifier. */
static void word(struct lex *lx, const char *s, size_t n)
{
    enum tok kw = keyword(s, n);
    if (kw != TOK_EOF) {
        lx->tok.kind = kw;
        return;
    }
    lx->tok.str = lang_strndup(lx->l, s, n);
    lx->tok.len = n;
    lx->tok.kind = TOK_IDENT;
    const bool own = n > 2 && (s[0] == 'D' || s[0] == 'C') && s[1] == '`';
    kw = own ? keyword(s + 2, n - 2) : TOK_EOF; /* D`int: a type from the program's own scope */
    if (kw != TOK_EOF && is_type_word(kw)) {
        lx->tok.kind = kw;
        return;
    }
    const struct type *type = own ? typedef_find(lx->l, s + 2, n - 2) : typedef_find(lx->l, s, n);
    if (!type && !own && can_only_be_type(lx))
        type = foreign_named(lx->l, FOREIGN_TYPEDEF, lx->tok.str);
    if (type && !names_find(&lx->l->globals, lx->tok.str) && !used_as_ident(lx)) {
        lx->tok.kind = TOK_TYPE;
        lx->tok.type = type;
    }
}

struct macro {
    const char *name;
    int64_t value;
};

static bool macro_value(const struct lex *lx, const char *name, size_t n, int64_t *v)
{
    const struct macro table[] = {
        {"pid", getpid()},  {"ppid", getppid()}, {"pgid", getpgid(0)},
        {"sid", getsid(0)}, {"uid", getuid()},   {"euid", geteuid()},
        {"gid", getgid()},  {"egid", getegid()}, {"target", lx->l->opt->target},
    };
    for (size_t i = 0; i < NELEM(table); i++) {
        if (strlen(table[i].name) == n && memcmp(table[i].name, name, n) == 0) {
            *v = table[i].value;
            return true;
        }
    }
    return false;
}

/* Returns the number of a "$N" macro, INT_MAX if it is absurdly large. */
static int arg_number(const char *s, size_t n)
{
    int v = 0;
    for (size_t i = 0; i < n; i++)
        v = v > 100000 ? INT_MAX : v * 10 + (s[i] - '0');
    return v;
}

/* Returns the program argument, NULL if there is none. */
static const char *program_arg(struct lex *lx, int i)
{
    if (i >= lx->src->argc || !lx->src->argv)
        return NULL;
    if (i > 0 && i == lx->src->argc - 1)
        lx->last_arg_used = true;
    return lx->src->argv[i];
}

const char *lex_macro_text(struct lex *lx, const char *name, size_t len)
{
    int64_t v;
    if (len > 0 && is_digit((unsigned char)name[0])) {
        const char *arg = program_arg(lx, arg_number(name, len));
        return arg || !lx->l->opt->defaultargs ? arg : "";
    }
    if (!macro_value(lx, name, len, &v))
        return NULL;
    return lang_printf(lx->l, "%lld", (long long)v);
}

const char *lex_macro_hint(bool number)
{
    return number ? "give it on the command line, or set the option defaultargs"
                  : "available: $pid $ppid $pgid $sid $uid $euid $gid $egid $target and $1 ...";
}

/* "$N": the form of the argument's text decides what it becomes (language.md 1.6). */
static void numeric_macro(struct lex *lx, const char *arg)
{
    size_t n = strlen(arg), sign = n > 1 && (arg[0] == '+' || arg[0] == '-'), i;
    uint64_t v = 0;
    bool is_word = n > 0, minus = sign && arg[0] == '-';
    for (i = 0; i < n; i++)
        is_word = is_word && is_name((unsigned char)arg[i]);
    enum number got = n > sign && is_digit((unsigned char)arg[sign])
                          ? number(arg + sign, n - sign, &v)
                          : NUMBER_DIGIT;
    if (got == NUMBER_OVERFLOW || (minus && got == NUMBER_OK && v > (uint64_t)INT64_MAX + 1))
        lang_fail(lx->l, &lx->tok.pos, "D_MACRO_OFLOW", NULL,
                  "macro argument '%s' exceeds the range of 64-bit integers", arg);
    if (got == NUMBER_OK) {
        lx->tok.kind = TOK_INT;
        if (minus)
            lx->tok.type = &type_c[v <= (uint64_t)INT32_MAX + 1 ? T_INT : T_LONG];
        else
            lx->tok.type = type_of_constant(v, arg[sign] != '0' && v <= INT64_MAX, false, 0);
        lx->tok.num = minus ? 0 - v : v;
    } else if (is_word) {
        word(lx, arg, n);
    } else {
        if (n >= 2 && arg[0] == '"' && arg[n - 1] == '"') {
            arg++;
            n -= 2;
        }
        size_t len;
        char *s = unescape(lx->l, arg, n, &len);
        set_string(lx, s, len);
    }
}

static void macro(struct lex *lx)
{
    lx->p++;
    bool as_string = at(lx, 0) == '$';
    lx->p += as_string;
    const char *name = lx->p;
    if (is_digit(at(lx, 0))) {
        while (is_digit(at(lx, 0)))
            lx->p++;
    } else {
        while (is_name(at(lx, 0)))
            lx->p++;
    }
    size_t n = (size_t)(lx->p - name), len;
    lx->tok.pos.len = (int)(lx->p - lx->tok.raw);
    if (n > 0 && is_digit((unsigned char)name[0])) {
        const char *arg = program_arg(lx, arg_number(name, n));
        if (!arg && !lx->l->opt->defaultargs)
            lang_fail(lx->l, &lx->tok.pos, "D_MACRO_UNDEF", lex_macro_hint(true),
                      "macro argument %.*s is not defined", lx->tok.pos.len, lx->tok.raw);
        if (as_string) {
            const char *text = arg ? arg : "";
            char *s = unescape(lx->l, text, strlen(text), &len);
            set_string(lx, s, len);
        } else {
            numeric_macro(lx, arg ? arg : "0");
        }
        return;
    }
    int64_t v;
    if (n == 0 || !macro_value(lx, name, n, &v))
        lang_fail(lx->l, &lx->tok.pos, "D_MACRO_UNDEF", lex_macro_hint(false),
                  "macro variable %.*s is not defined", lx->tok.pos.len, lx->tok.raw);
    if (as_string) {
        char *s = lang_printf(lx->l, "%lld", (long long)v);
        set_string(lx, s, strlen(s));
    } else {
        lx->tok.kind = TOK_INT;
        lx->tok.num = type_truncate(&type_c[T_INT], (uint64_t)v);
        lx->tok.type = &type_c[T_INT];
    }
}

/* -- tokens ------------------------------------------------------------------------------------ */

/* '/' in an expression: it ends a predicate if the next nonblank character shows that. */
static void slash(struct lex *lx)
{
    size_t i = 1;
    while (is_blank(at(lx, i)))
        i++;
    int c = at(lx, i);
    if (c < 0 || c == ';' || c == '{' || c == '/')
        lx->tok.kind = TOK_PREDEND;
    else if (at(lx, 1) == '=')
        lx->tok.kind = TOK_DIVEQ;
    else
        lx->tok.kind = TOK_SLASH;
    lx->p += lx->tok.kind == TOK_DIVEQ ? 2 : 1;
}

static void punctuator(struct lex *lx)
{
    for (size_t i = 0; i < NELEM(lex_puncts); i++) {
        if (lex_puncts[i][0] != *lx->p)
            continue;
        size_t n = strlen(lex_puncts[i]);
        if (n > (size_t)(lx->end - lx->p) || memcmp(lx->p, lex_puncts[i], n) != 0)
            continue;
        lx->tok.kind = (enum tok)(TOK_ELLIPSIS + (int)i);
        lx->p += n;
        switch (lx->tok.kind) {
        case TOK_LBRACE: lx->depth++; break;
        case TOK_RBRACE: lx->depth -= lx->depth > 0; break;
        case TOK_LPAR:
        case TOK_LBRACK: lx->paren++; break;
        case TOK_RPAR:
        case TOK_RBRACK: lx->paren -= lx->paren > 0; break;
        default: break;
        }
        return;
    }
    stray(lx);
}

static void expr_token(struct lex *lx)
{
    int c = at(lx, 0);
    size_t n = 0;
    bool scoped = false;
    while (is_name(at(lx, n)))
        scoped |= at(lx, n++) == '`';
    if (is_name_start(c) || (n > 0 && scoped)) {
        const char *s = lx->p;
        lx->p += n;
        word(lx, s, n);
    } else if (is_digit(c)) {
        integer_constant(lx);
    } else if (c == '.' && is_digit(at(lx, 1))) {
        float_constant(lx);
    } else if (c == '"') {
        string_constant(lx);
    } else if (c == '\'') {
        char_constant(lx);
    } else if (c == '$') {
        macro(lx);
    } else if (c == '/') {
        slash(lx);
    } else if (c == '#') {
        lx->p++;
        lx->tok.kind = TOK_HASH;
    } else if (c == '@') {
        lx->p++;
        size_t k = 0;
        if (!is_digit(at(lx, 0))) {
            while (is_name(at(lx, k)) && at(lx, k) != '`')
                k++;
        }
        lx->tok.kind = TOK_AGG;
        lx->tok.str = k > 0 ? lang_strndup(lx->l, lx->p, k) : "_";
        lx->tok.len = k;
        lx->p += k;
    } else {
        punctuator(lx);
    }
}

/* An atom in single quotes, with the escapes that strings have. */
static void quoted_atom(struct lex *lx)
{
    size_t n, len;
    const char *raw = quoted(lx, '\'', "D_CHR_NL", &n);
    char *s = unescape(lx->l, raw, n, &len);
    set_string(lx, s, len);
    lx->tok.kind = TOK_IDENT;
    lx->tok.quoted = true;
}

static void member_token(struct lex *lx)
{
    if (at(lx, 0) == '\'') {
        quoted_atom(lx);
    } else if (is_name_start(at(lx, 0))) {
        const char *s = lx->p;
        while (is_name(at(lx, 0)))
            lx->p++;
        lx->tok.kind = TOK_IDENT;
        lx->tok.len = (size_t)(lx->p - s);
        lx->tok.str = lang_strndup(lx->l, s, lx->tok.len);
    } else {
        expr_token(lx);
    }
}

/* -- probe descriptions ------------------------------------------------------------------------ */

static bool is_desc_start(int c)
{
    return c >= 0 && (is_name_start(c) ? c != '`' : strchr("-$:.?*\\[]!'", c) != NULL && c != '\0');
}

static bool is_desc(int c)
{
    return is_desc_start(c) || is_digit(c) || c == '`' || c == '@';
}

/* Returns whether "$^" follows, which names have that the compiler makes ("-f/1-lc$^0/1-0-"), and
 * no macro. */
static bool is_generated(const struct lex *lx, size_t n)
{
    return at(lx, n) == '$' && at(lx, n + 1) == '^';
}

/* Reports a character that starts no token. */
static _Noreturn void stray(struct lex *lx)
{
    int c = at(lx, 0);
    lx->tok.pos = here(lx, 1);
    lx->p++;
    if (c < ' ' || c > '~')
        lang_fail(lx->l, &lx->tok.pos, "D_SYNTAX", "only ASCII is allowed outside strings",
                  "syntax error near \"\\%03o\"", (unsigned)c);
    const char *meant = lex_meant(lx);
    const char *p = lx->tok.raw;
    const ptrdiff_t before = p - lx->src->text;
    const bool within = before >= 1 && is_desc((unsigned char)p[-1]);
    /* "m:->list": not what "lists:map->return" means */
    const bool begins = before >= 2 && p[-1] == '-' && p[-2] == ':';
    if (lx->ctx == LEX_OUTER && (begins || (within && !meant)))
        meant = LEX_QUOTES;
    lang_fail(lx->l, &lx->tok.pos, "D_SYNTAX", meant, "syntax error near \"%c\"", c);
}

/* Returns the place of the next token from n on, past blanks and comments. */
static size_t behind_blanks(const struct lex *lx, size_t n)
{
    for (;;) {
        if (is_blank(at(lx, n))) {
            n++;
        } else if (at(lx, n) == '/' && at(lx, n + 1) == '*') {
            for (n += 2; at(lx, n) >= 0 && !(at(lx, n) == '*' && at(lx, n + 1) == '/');)
                n++;
            n += at(lx, n) >= 0 ? 2 : 0;
        } else {
            return n;
        }
    }
}

/* Returns whether a word that began at `start` ends in a function's arity, whose digits end at
 * place n, rather than before a predicate. */
static bool ends_in_arity(const struct lex *lx, const char *start, size_t n)
{
    size_t len = (size_t)(lx->p - start), next = behind_blanks(lx, n);
    bool parts = memchr(start, ':', len) || memchr(start, '.', len);
    switch (at(lx, next)) {
    case -1:
    case '{':
    case ';':
    case ',': return true;
    case '/': /* "f/1/ {": a predicate after all */
        next = behind_blanks(lx, next + 1);
        return (parts || lx->src->kind == COMPILE_FUNCTION) && at(lx, next) >= 0 &&
               at(lx, next) != '{' && at(lx, next) != ';';
    default: return false;
    }
}

/* Returns the bytes of a character that the compiler's names may have, 0 for another. */
static size_t generated_len(const struct lex *lx, size_t n)
{
    int c = at(lx, n);
    return is_generated(lx, n) ? 2 : is_name(c) || c == '-' || c == '.' || c == '@';
}

/* From the end of an arity on, "-fun-0-/1" or "-lc$^0/1-0-/1": returns the place behind the last
 * arity, or n if no such name goes on there. */
static size_t behind_generated(const struct lex *lx, size_t n)
{
    size_t end = n;
    while (at(lx, end) == '-') {
        size_t len;
        while ((len = generated_len(lx, end)) > 0)
            end += len;
        if (at(lx, end) != '/' || !is_digit(at(lx, end + 1)))
            return n;
        for (end++; is_digit(at(lx, end));)
            end++;
    }
    return end;
}

/* Returns whether the '/' at lx->p, inside a word, belongs to a function's arity ("map/2") and not
 * to a predicate. It does if digits follow and the word then continues with a ':' or ends; in the
 * name of a fun ("-map/2-fun-0-/1") the word ends in another arity. */
static bool is_arity(const struct lex *lx, const char *start)
{
    size_t n = 1;
    if (!is_digit(at(lx, n)))
        return false;
    while (is_digit(at(lx, n)))
        n++;
    const size_t digits = n;
    for (size_t len = 1; len > 0; n += len)
        len = at(lx, n) == '/' || at(lx, n) == '*' ? 1 : generated_len(lx, n);
    if (at(lx, n) == ':')
        return true;
    n = behind_generated(lx, digits);
    if (n > digits)
        return ends_in_arity(lx, start, n);
    return !is_desc(at(lx, digits)) && ends_in_arity(lx, start, digits);
}

/* Returns the bytes of an operator that names a function, at the start of a part and with its
 * arity: "<>/2", "..///3". Returns 0 if there is none, or if wildcards could be meant. */
static size_t operator_len(const struct lex *lx, const char *start)
{
    size_t n = 0;
    bool special = false;
    if (lx->p == start || !strchr(".:", lx->p[-1]))
        return 0;
    for (int c; (c = at(lx, n)) > 0 && strchr("+-*/<>=!&|^~@.%", c); n++)
        special = special || (n > 0 && !is_desc(at(lx, n - 1)));
    return special && at(lx, n - 1) == '/' && is_digit(at(lx, n)) ? n : 0;
}

/* Returns whether a name is always a probe's, whatever types exist. */
static bool is_dtrace_probe(const char *s, size_t n)
{
    static const char *const names[] = {"BEGIN", "END", "ERROR"};
    for (size_t i = 0; i < NELEM(names); i++) {
        if (strlen(names[i]) == n && memcmp(names[i], s, n) == 0)
            return true;
    }
    return false;
}

/* Returns whether a keyword just read is a description after all: on the command line, where the
 * text that follows cannot belong to a declaration (-m string, -f 'float { ... }'). */
static bool stands_alone(const struct lex *lx, enum tok kw)
{
    if (lx->src->kind == COMPILE_SCRIPT)
        return false;
    size_t i = 0;
    while (at(lx, i) > 0 && strchr(" \t\r\n\v\f", at(lx, i)))
        i++;
    bool tagged = kw == TOK_KW_STRUCT || kw == TOK_KW_UNION || kw == TOK_KW_ENUM;
    return at(lx, i) < 0 || (at(lx, i) > 0 && strchr(tagged ? "/," : "/,{", at(lx, i)));
}

/* Returns whether a word just read begins the definition of a record: it is "record", and a name
 * follows, which no description can have after it. */
static bool begins_record(const struct lex *lx, const char *s, size_t n)
{
    if (n != strlen("record") || memcmp(s, "record", n) != 0)
        return false;
    int c = at(lx, behind_blanks(lx, 0));
    return c == '\'' || (is_name_start(c) && c != '`');
}

/* Scans a word between clauses: a description, a keyword, or the type name that starts a
 * declaration. */
static void desc_token(struct lex *lx)
{
    const char *start = lx->p;
    bool plain = true;
    for (;;) {
        int c = at(lx, 0);
        size_t n = operator_len(lx, start);
        if (n > 0) {
            lx->p += n;
            plain = false;
        } else if (c == '\'') {
            quoted(lx, '\'', "D_PDESC_INVAL", &n);
            plain = false;
        } else if ((c == '\\' && at(lx, 1) > ' ') || is_generated(lx, 0)) {
            lx->p += 2;
            plain = plain && c == '\\';
        } else if (is_desc(c) || (c == '/' && is_arity(lx, start))) {
            plain = plain && c != '/' && !strchr(":-.?!`", c);
            lx->p++;
        } else {
            break;
        }
    }
    size_t n = (size_t)(lx->p - start);
    enum tok kw = keyword(start, n);
    if (begins_record(lx, start, n)) {
        lx->tok.kind = TOK_RECORD;
        return;
    }
    for (size_t i = 0; kw != TOK_EOF && i < NELEM(outer_keywords); i++) {
        if (outer_keywords[i] == kw && !stands_alone(lx, kw)) {
            lx->tok.kind = kw;
            return;
        }
    }
    const char *star = memchr(start, '*', n);
    size_t base = star ? (size_t)(star - start) : n;
    bool is_file = lx->src->kind == COMPILE_SCRIPT || lx->src->kind == COMPILE_LIBRARY;
    if (is_file && !lx->l->opt->pspec && plain && base > 0 && !is_dtrace_probe(start, n)) {
        bool is_type = typedef_find(lx->l, start, base) != NULL;
        kw = star ? keyword(start, base) : TOK_EOF;
        for (size_t i = 0; kw != TOK_EOF && i < NELEM(outer_keywords); i++)
            is_type = is_type || outer_keywords[i] == kw;
        if (is_type) {
            lx->p = start;
            lx->ctx = LEX_EXPR;
            lx->p += base;
            word(lx, start, base);
            return;
        }
    }
    lx->tok.kind = TOK_DESC;
    lx->tok.str = start;
    lx->tok.len = n;
}

static void outer_token(struct lex *lx)
{
    int c = at(lx, 0);
    lx->paren = 0;
    if (is_desc_start(c))
        desc_token(lx);
    else if (is_digit(c))
        integer_constant(lx);
    else if (strchr("{},/;", c))
        punctuator(lx);
    else
        stray(lx);
}

void lex_next(struct lex *lx)
{
    lx->before[1] = lx->before[0];
    lx->before[0] = lx->tok.kind;
    memset(&lx->tok, 0, sizeof lx->tok);
    skip(lx);
    lx->fresh = false;
    lx->tok.pos = here(lx, 1);
    lx->tok.raw = lx->p;
    if (at(lx, 0) < 0) {
        lx->tok.kind = TOK_EOF;
        lx->tok.pos.len = 0;
        return;
    }
    if (at(lx, 0) == 0)
        stray(lx);
    if (lx->ctx == LEX_OUTER)
        outer_token(lx);
    else if (lx->ctx == LEX_EXPR)
        expr_token(lx);
    else
        member_token(lx);
    lx->tok.pos.len = (int)(lx->p - lx->tok.raw);
}

/* Skips quoted text. Skips only the quote if its line does not close it, because a brace after it
 * may end the clause. */
static void recover_quoted(struct lex *lx, int quote)
{
    size_t i = 1;
    while (at(lx, i) >= 0 && at(lx, i) != '\n' && at(lx, i) != quote)
        i += at(lx, i) == '\\' && at(lx, i + 1) >= 0 && at(lx, i + 1) != '\n' ? 2 : 1;
    lx->p += at(lx, i) == quote ? i + 1 : 1;
}

/* After the } of a declaration, skips what it may declare, up to the ; on the same line or
 * immediately after it. */
static void recover_declared(struct lex *lx)
{
    size_t i = 0;
    while (at(lx, i) >= 0 && !strchr("\n;{}/#\"", at(lx, i)))
        i++;
    if (at(lx, i) == ';') {
        lx->p += i + 1;
        return;
    }
    for (i = 0; is_blank(at(lx, i));)
        i++;
    if (at(lx, i) != ';')
        return;
    while (at(lx, 0) != ';') {
        if (at(lx, 0) == '\n')
            newline(lx);
        else
            lx->p++;
    }
    lx->p++;
}

/* Returns whether the token is the first on its line. */
static bool is_first(const struct lex *lx)
{
    const char *p = lx->line_start;
    while (p < lx->tok.raw && is_blank((unsigned char)*p))
        p++;
    return p == lx->tok.raw;
}

/* Skips a quoted text, a comment or the end of a line. Returns false if none is next. */
static bool skip_insignificant(struct lex *lx)
{
    int c = at(lx, 0);
    if (c == '"' || (c == '\'' && lx->depth > 0)) {
        recover_quoted(lx, c);
    } else if (c == '/' && at(lx, 1) == '*') {
        lx->ctx = LEX_EXPR;
        comment(lx);
    } else if (c == '\n') {
        newline(lx);
    } else {
        return false;
    }
    return true;
}

/* Skips to the end of a statement, and reads the token after it. Returns false if it cannot be
 * told. loops: it is a for, whose parentheses hold semicolons; `paren` of them are open. */
static bool skip_statement(struct lex *lx, int depth, bool branches, bool loops, int paren)
{
    while (at(lx, 0) >= 0) {
        if (skip_insignificant(lx))
            continue;
        int c = at(lx, 0);
        paren += c == '(' && loops;
        paren -= c == ')' && paren > 0;
        if ((c == '{' && !branches) || (c == '}' && lx->depth < depth))
            return false;
        bool done = lx->depth == depth && ((c == ';' && paren == 0) || c == '}');
        if (c != '}' || lx->depth > depth)
            lx->p++;
        lx->depth += c == '{';
        if (c == '}' && lx->depth > depth)
            done = --lx->depth == depth;
        if (done) {
            lex_next(lx);
            return true;
        }
    }
    return false;
}

bool lex_recover_statement(struct lex *lx, int depth, bool branches, bool loops)
{
    enum tok last = lx->tok.kind;
    const int paren = loops ? lx->paren : 0;
    lx->paren = 0;
    lx->ctx = LEX_EXPR;
    if (last == TOK_RBRACE && lx->depth == depth - 1)
        return true;
    if (last == TOK_LBRACE && !branches)
        return false;
    if (last == TOK_SEMI && lx->depth == depth && paren == 0)
        lex_next(lx);
    else if (!skip_statement(lx, depth, branches, loops, paren))
        return false;
    while (branches && lx->tok.kind == TOK_KW_ELSE)
        if (!skip_statement(lx, depth, true, false, 0))
            return false;
    return true;
}

bool lex_recover_unclosed(struct lex *lx, const struct lex *first)
{
    const char *p = first->tok.raw;
    if (p == NULL || p >= lx->end || !is_first(first))
        return false;
    if (*p == '{' || *p == '/') /* which no clause begins with */
        return false;
    while (p < lx->p && *p != '{' && *p != '/') {
        if (!is_name(*p) && !is_blank((unsigned char)*p) && *p != '\n' && !strchr(":-*?,.$@", *p))
            return false;
        p++;
    }
    if (p == lx->end || (*p != '{' && *p != '/'))
        return false;
    *lx = *first;
    lx->p = lx->tok.raw;
    lx->depth = 0;
    lx->paren = 0;
    lx->ctx = LEX_OUTER;
    lex_next(lx);
    return true;
}

bool lex_recover_predicate(struct lex *lx)
{
    lx->paren = 0;
    lx->ctx = LEX_EXPR;
    while (lx->tok.kind != TOK_LBRACE) {
        if (lx->tok.kind == TOK_SEMI || lx->tok.kind == TOK_RBRACE || lx->depth > 0)
            return false;
        while (skip_insignificant(lx))
            ;
        if (at(lx, 0) < 0 || at(lx, 0) == ';' || at(lx, 0) == '}')
            return false;
        if (at(lx, 0) == '{')
            lex_next(lx);
        else
            lx->p++;
    }
    return true;
}

void lex_recover(struct lex *lx)
{
    enum tok last = lx->tok.kind;
    bool done = lx->depth == 0 && (last == TOK_RBRACE || last == TOK_SEMI);
    bool at_semi = done && last == TOK_SEMI;
    if (at_semi && !lx->declares) { /* "BEGIN; { ... }" */
        size_t i = 0;
        while (is_blank(at(lx, i)))
            i++;
        done = at(lx, i) != '{';
    }
    if (lx->depth == 0 && last == TOK_DESC && lx->tok.raw != lx->unit && is_first(lx)) {
        lx->p = lx->tok.raw; /* a description on its own line starts another clause */
        lx->declares = false;
        done = true;
    }
    while (!done && at(lx, 0) >= 0) {
        if (skip_insignificant(lx))
            continue;
        int c = at(lx, 0);
        lx->p++;
        if (c == '{')
            lx->depth++;
        else if (c == '}' && lx->depth > 0)
            done = --lx->depth == 0;
        else if ((c == ';' || c == '}') && lx->depth == 0)
            done = true;
    }
    if (lx->declares && !at_semi)
        recover_declared(lx);
    lx->depth = 0;
    lx->ctx = LEX_OUTER;
    lex_next(lx);
}
