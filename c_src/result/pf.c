/* pf.c - parses and applies printf formats.
 *
 * Each conversion letter is a row of `letters`, which says how a value becomes text. The value's
 * own type and width decide what is shown, so that only the length modifiers for wide characters
 * matter. */
#include "result/pf.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/elixir.h"
#include "base/err.h"
#include "util/buftext.h"

enum { WIDTH_MAX = 1048576, PRINTF_LP64_WIDTH = 16, FIELD_MAX = 128 };

/* -- fields ------------------------------------------------------------------------------------ */

/* Appends a text in its field: precision truncates, width pads. */
static void field(const struct pf_conv *c, const char *s, size_t len, struct buf *out)
{
    if (c->flags & PRINTF_VISIBLE) {
        struct buf text = BUF_INIT;
        struct pf_conv plain = *c;
        plain.flags &= ~(unsigned)PRINTF_VISIBLE;
        buf_visible(&text, s, len, false);
        field(&plain, buf_str(&text), text.len, out);
        out->oom |= text.oom;
        buf_free(&text);
        return;
    }
    size_t width = (size_t)c->width;
    size_t pad = width > len ? width - len : 0;
    if (!(c->flags & PRINTF_LEFT))
        buf_fill(out, ' ', pad);
    buf_add(out, s, len);
    if (c->flags & PRINTF_LEFT)
        buf_fill(out, ' ', pad);
}

/* Appends a character in UTF-8; a question mark for one that Unicode does not have. */
static void utf8(uint32_t u, struct buf *out)
{
    if (u > 0x10ffff || (u >= 0xd800 && u <= 0xdfff))
        u = '?';
    if (u < 0x80) {
        buf_addc(out, (char)u);
        return;
    }
    unsigned more = u < 0x800 ? 1 : u < 0x10000 ? 2 : 3;
    static const unsigned char head[] = {0, 0xc0, 0xe0, 0xf0};
    buf_addc(out, (char)(head[more] | u >> 6 * more));
    while (more-- > 0)
        buf_addc(out, (char)(0x80 | (u >> 6 * more & 0x3f)));
}

/* Converts an array of wide characters to text. */
static void narrow(const struct value *v, struct buf *out)
{
    uint32_t u;
    for (size_t i = 0; i + sizeof u <= v->len; i += sizeof u) {
        memcpy(&u, v->s + i, sizeof u);
        if (u == 0)
            break;
        utf8(u, out);
    }
}

static void put_string(const struct pf_conv *c, const struct value *v, struct buf *out)
{
    if (c->flags & PRINTF_WIDE) {
        struct buf text = BUF_INIT;
        struct pf_conv plain = *c;
        plain.flags &= ~(unsigned)PRINTF_WIDE;
        narrow(v, &text);
        struct value s = {.kind = DIF_STRING, .s = buf_str(&text), .len = text.len};
        put_string(&plain, &s, out);
        out->oom |= text.oom;
        buf_free(&text);
        return;
    }
    size_t len = v->s ? strnlen(v->s, v->len) : 0;
    if ((c->flags & PRINTF_ELIXIR) && len > 0 && elixir_has(v->s, len)) {
        struct buf text = BUF_INIT;
        struct pf_conv plain = *c;
        plain.flags &= ~(unsigned)PRINTF_ELIXIR;
        elixir_put(&text, v->s, len);
        put_string(&plain,
                   &(struct value){.kind = DIF_STRING, .s = buf_str(&text), .len = text.len}, out);
        out->oom |= text.oom;
        buf_free(&text);
        return;
    }
    field(c, v->s ? v->s : "", c->prec > 0 && (size_t)c->prec < len ? (size_t)c->prec : len, out);
}

static void put_escaped(const struct pf_conv *c, const struct value *v, struct buf *out)
{
    struct buf text = BUF_INIT;
    size_t len = v->s ? strnlen(v->s, v->len) : 0;
    for (size_t i = 0; i < len; i++)
        buf_visible_byte(&text, (unsigned char)v->s[i]);
    struct value escaped = {.kind = DIF_STRING, .s = buf_str(&text), .len = text.len};
    put_string(c, &escaped, out);
    out->oom |= text.oom;
    buf_free(&text);
}

static void put_char(const struct pf_conv *c, const struct value *v, struct buf *out)
{
    char b = (char)v->i;
    if (c->flags & PRINTF_WIDE) {
        struct buf text = BUF_INIT;
        utf8((uint32_t)v->i, &text);
        field(c, buf_str(&text), text.len, out);
        out->oom |= text.oom;
        buf_free(&text);
    } else {
        field(c, &b, 1, out);
    }
}

static void put_char_escaped(const struct pf_conv *c, const struct value *v, struct buf *out)
{
    struct buf text = BUF_INIT;
    buf_visible_byte(&text, (unsigned char)v->i);
    field(c, buf_str(&text), text.len, out);
    out->oom |= text.oom;
    buf_free(&text);
}

static void put_time(const struct pf_conv *c, const struct value *v, const char *layout,
                     struct buf *out)
{
    char text[FIELD_MAX];
    struct tm tm;
    time_t t = (time_t)(v->i / 1000000000 - (v->i % 1000000000 < 0));
    size_t len = 0;
    if (localtime_r(&t, &tm) != NULL)
        len = strftime(text, sizeof text, layout, &tm);
    field(c, text, len, out);
}

static void put_time_y(const struct pf_conv *c, const struct value *v, struct buf *out)
{
    put_time(c, v, "%Y %b %e %H:%M:%S", out);
}

static void put_time_t(const struct pf_conv *c, const struct value *v, struct buf *out)
{
    put_time(c, v, "%a, %d %b %G %H:%M:%S %Z", out);
}

/* -- integers ---------------------------------------------------------------------------------- */

/* Appends an integer in decimal, with a comma before every three digits. */
static void grouped(const struct pf_conv *c, int64_t v, bool is_signed, struct buf *out)
{
    struct buf digits = BUF_INIT, text = BUF_INIT;
    bool negative = is_signed && v < 0;
    const char *sign = negative                  ? "-"
                       : !is_signed              ? ""
                       : c->flags & PRINTF_PLUS  ? "+"
                       : c->flags & PRINTF_SPACE ? " "
                                                 : "";
    size_t n = strlen(sign), most = (size_t)c->width, least = c->prec > 0 ? (size_t)c->prec : 0;
    value_decimal(negative ? (int64_t)(0 - (uint64_t)v) : v, false, &digits);
    size_t len = digits.len > least ? digits.len : least, shown = n + len + (len - 1) / 3;
    buf_adds(&text, sign);
    if ((c->flags & PRINTF_ZERO) && least == 0 && most > shown)
        buf_fill(&text, '0', most - shown);
    for (size_t left = len; left > 0; left--) {
        if (left < len && left % 3 == 0)
            buf_addc(&text, ',');
        buf_addc(&text, left > digits.len ? '0' : buf_str(&digits)[digits.len - left]);
    }
    field(c, buf_str(&text), text.len, out);
    out->oom |= text.oom || digits.oom;
    buf_free(&text);
    buf_free(&digits);
}

/* Writes the flags, width and precision of a conversion, for printf. Returns the end. */
static char *printf_head(const struct pf_conv *c, char *p)
{
    static const struct {
        unsigned flag;
        char c;
    } flags[] = {{PRINTF_ALT, '#'},
                 {PRINTF_ZERO, '0'},
                 {PRINTF_LEFT, '-'},
                 {PRINTF_PLUS, '+'},
                 {PRINTF_SPACE, ' '}};
    *p++ = '%';
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (c->flags & flags[i].flag)
            *p++ = flags[i].c;
    *p++ = '*';
    if (c->prec > 0) {
        *p++ = '.';
        *p++ = '*';
    }
    return p;
}

void pf_integer(const struct pf_conv *c, const struct value *v, struct buf *out)
{
    char format[24], *p;
    char letter = c->conv;
    if ((letter == 'd' || letter == 'i') && (c->flags & ~(unsigned)PRINTF_AGG) == 0 &&
        c->width == 0 && c->prec <= 0) {
        value_decimal(v->i, v->kind == DIF_INT, out);
        return;
    }
    if (letter == 'p')
        letter = 'x';
    else if (letter == 'd' || letter == 'i')
        letter = v->kind == DIF_UINT ? 'u' : 'd';
    if ((c->flags & PRINTF_GROUP) && (letter == 'd' || letter == 'u')) {
        grouped(c, letter == 'd' ? v->i : (int64_t)value_unsigned(v), letter == 'd', out);
        return;
    }
    p = printf_head(c, format);
    *p++ = 'l';
    *p++ = 'l';
    *p++ = letter;
    *p = '\0';
    long long signed_value = (long long)v->i;
    unsigned long long unsigned_value = (unsigned long long)value_unsigned(v);
    if (letter == 'd' && c->prec > 0)
        buf_printf(out, format, c->width, c->prec, signed_value);
    else if (letter == 'd')
        buf_printf(out, format, c->width, signed_value);
    else if (c->prec > 0)
        buf_printf(out, format, c->width, c->prec, unsigned_value);
    else
        buf_printf(out, format, c->width, unsigned_value);
}

/* -- floats, stacks and symbols ---------------------------------------------------------------- */

static void put_float(const struct pf_conv *c, const struct value *v, struct buf *out)
{
    char format[24], *p = printf_head(c, format);
    *p++ = 'L';
    *p++ = c->conv;
    *p = '\0';
    long double f = value_float(v);
    if (c->prec > 0)
        buf_printf(out, format, c->width, c->prec, f);
    else
        buf_printf(out, format, c->width, f);
}

/* Applies %a and %A: a symbol, or an integer that is an address; and %k: a stack, whose width is
 * its indentation if the flag - is set. */
static void put_place(const struct pf_conv *c, const struct value *v, const struct pf_env *env,
                      struct buf *out)
{
    const struct symbols *s = env != NULL ? env->symbols : NULL;
    const unsigned show = env != NULL ? env->show : 0;
    struct buf text = BUF_INIT;
    size_t width = (size_t)c->width;
    if (c->conv == 'k' && symbol_folded(s)) {
        symbol_fold(s, v, show, &text);
        field(c, buf_str(&text), text.len, out);
        out->oom |= text.oom;
        buf_free(&text);
        return;
    }
    if (c->conv == 'k') {
        bool left = (c->flags & PRINTF_LEFT) != 0;
        buf_addc(out, '\n');
        symbol_stack(s, v, left ? c->width : 0, left ? 0 : width, show, out);
        return;
    }
    if (symbol_is(v))
        symbol_text(s, v, &text);
    else
        symbol_address(s, c->conv == 'A' && env != NULL ? env->target : 0, value_unsigned(v),
                       &text);
    field(c, buf_str(&text), text.len, out);
    out->oom |= text.oom;
    buf_free(&text);
}

static const struct letter {
    char c;
    void (*put)(const struct pf_conv *c, const struct value *v, struct buf *out);
} letters[] = {
    {'d', pf_integer}, {'i', pf_integer},  {'u', pf_integer},
    {'o', pf_integer}, {'x', pf_integer},  {'X', pf_integer},
    {'p', pf_integer}, {'c', put_char},    {'C', put_char_escaped},
    {'s', put_string}, {'S', put_escaped}, {'Y', put_time_y},
    {'T', put_time_t}, {'e', put_float},   {'E', put_float},
    {'f', put_float},  {'g', put_float},   {'G', put_float},
    {'a', NULL},       {'A', NULL},        {'k', NULL}, /* put_place */
};

static const struct letter *letter_of(char c)
{
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (letters[i].c == c)
            return &letters[i];
    return NULL;
}

void pf_value(const struct pf_conv *c, const struct value *v, struct buf *out)
{
    letter_of(c->conv)->put(c, v, out);
}

/* -- parsing ----------------------------------------------------------------------------------- */

static const char *parse_flags(const char *p, struct pf_conv *c)
{
    for (;; p++) {
        switch (*p) {
        case '#': c->flags |= PRINTF_ALT; break;
        case '+': c->flags |= PRINTF_PLUS; break;
        case ' ': c->flags |= PRINTF_SPACE; break;
        case '\'': c->flags |= PRINTF_GROUP; break;
        case '@': c->flags |= PRINTF_AGG; break;
        case '?': c->width = PRINTF_LP64_WIDTH; break;
        /* The later of these two wins. */
        case '0': c->flags = (c->flags | PRINTF_ZERO) & ~(unsigned)PRINTF_LEFT; break;
        case '-': c->flags = (c->flags | PRINTF_LEFT) & ~(unsigned)PRINTF_ZERO; break;
        default: return p;
        }
    }
}

static const char *parse_number(const char *p, int *out)
{
    int v = 0;
    for (; isdigit((unsigned char)*p); p++)
        v = v < WIDTH_MAX ? v * 10 + (*p - '0') : WIDTH_MAX;
    *out = v;
    return p;
}

/* Parses a conversion; p is after the '%'. Returns NULL when it is not a conversion. */
static const char *parse_conversion(const char *p, struct pf_conv *c)
{
    p = parse_flags(p, c);
    if (*p == '*') {
        c->flags |= PRINTF_WIDTH_ARG;
        p++;
    } else if (isdigit((unsigned char)*p)) {
        p = parse_number(p, &c->width);
    }
    if (*p == '@') { /* "%8@d": the sign may follow the width */
        c->flags |= PRINTF_AGG;
        p++;
    }
    if (*p == '.') {
        p++;
        if (*p == '*') {
            c->flags |= PRINTF_PREC_ARG;
            p++;
        } else {
            p = parse_number(p, &c->prec);
        }
    }
    bool wide = false;
    for (; *p != '\0' && strchr("hlLw", *p) != NULL; p++)
        wide |= *p == 'l' || *p == 'w';
    if (wide && (*p == 'c' || *p == 's'))
        c->flags |= PRINTF_WIDE;
    const struct letter *l = letter_of(*p);
    if (l == NULL || ((c->flags & PRINTF_AGG) && l->put != pf_integer && l->put != put_time_y &&
                      l->put != put_time_t))
        return NULL;
    c->conv = *p;
    return p + 1;
}

int pf_parse(struct arena *a, const char *format, struct pf *out)
{
    size_t most = 1;
    for (const char *p = format; *p != '\0'; p++)
        most += *p == '%';
    *out = (struct pf){arena_alloc(a, most * sizeof(struct pf_conv)), 0};
    if (out->conv == NULL)
        return ET_ENOMEM;
    const char *text = format, *p = format;
    for (;;) {
        struct pf_conv *c = &out->conv[out->n];
        p += strcspn(p, "%");
        c->text = text;
        c->len = (size_t)(p - text);
        out->n++;
        if (*p == '\0')
            return 0;
        if (p[1] == '%') {
            /* The first % is part of the text, as a separate piece; the second is skipped. */
            c->len++;
            text = p += 2;
            continue;
        }
        p = parse_conversion(p + 1, c);
        if (p == NULL)
            return ET_EINVAL;
        text = p;
    }
}

/* -- applying ---------------------------------------------------------------------------------- */

struct pf_args {
    const struct value *v;
    size_t n, at;
};

static const struct value *next(struct pf_args *a)
{
    static const struct value none = {.kind = DIF_INT, .size = 8, .s = ""};
    return a->at < a->n ? &a->v[a->at++] : &none;
}

static int limit(int64_t v)
{
    return v > WIDTH_MAX ? WIDTH_MAX : v < -WIDTH_MAX ? -WIDTH_MAX : (int)v;
}

void pf_format(const struct pf *f, const struct value *v, size_t n, const struct pf_env *env,
               struct buf *out)
{
    struct pf_args args = {v, n, 0};
    unsigned nth = 0;
    for (size_t i = 0; i < f->n; i++) {
        struct pf_conv c = f->conv[i];
        if (env != NULL)
            c.flags |= (env->show & SHOW_VISIBLE ? PRINTF_VISIBLE : 0u) |
                       (env->show & SHOW_ELIXIR ? PRINTF_ELIXIR : 0u);
        buf_add(out, c.text, c.len);
        if (c.conv == '\0')
            continue;
        if (c.flags & PRINTF_WIDTH_ARG) {
            c.width = limit(next(&args)->i);
            if (c.width < 0) {
                c.width = -c.width;
                c.flags = (c.flags | PRINTF_LEFT) & ~(unsigned)PRINTF_ZERO;
            }
        }
        if (c.flags & PRINTF_PREC_ARG)
            c.prec = limit(next(&args)->i);
        if (c.flags & PRINTF_AGG) {
            if (env != NULL && env->agg != NULL)
                env->agg(env->arg, nth++, &c, out);
        } else if (letter_of(c.conv)->put == NULL) {
            put_place(&c, next(&args), env, out);
        } else {
            letter_of(c.conv)->put(&c, next(&args), out);
        }
    }
}
