/* print.c - typed dumps. Makes one pass over the description of the type; omits what lies outside
 * the bytes or makes no sense. */
#include "result/print.h"
#include "util/buftext.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 44, DEPTH_MOST = 10 };

struct printer {
    const char *p; /* the rest of the description */
    const char *bytes;
    size_t len;
    bool limited; /* len is less than the size of the object */
    bool cut;     /* "..." was written for what lies beyond */
    struct buf *out;
};

/* The place of a value. */
struct place {
    size_t at;
    unsigned bit, bits;
    const char *member; /* NULL: nothing precedes the value */
    size_t member_len;
    unsigned depth;
    bool shown; /* false: only skips over the description */
};

static int64_t number(struct printer *x)
{
    char *end;
    int64_t v = strtoll(x->p, &end, 10);
    x->p = *end == ',' ? end + 1 : end;
    return v;
}

static const char *name(struct printer *x, size_t *len)
{
    const char *s = x->p;
    *len = strcspn(s, ";");
    x->p += *len + (s[*len] == ';');
    return s;
}

static bool is_zero(const struct printer *x, size_t at, size_t n)
{
    for (size_t i = at; i < at + n && i < x->len; i++)
        if (x->bytes[i] != 0)
            return false;
    return true;
}

static uint64_t word(const struct printer *x, const struct place *w, size_t size, bool is_signed)
{
    uint64_t v = 0;
    if (size < 1 || size > 8 || w->at > x->len || size > x->len - w->at)
        return 0;
    memcpy(&v, x->bytes + w->at, size);
    unsigned bits = w->bits > 0 && w->bits <= 64 && w->bit < 64 ? w->bits : (unsigned)size * 8;
    v = v >> (w->bits > 0 ? w->bit & 63 : 0) << (64 - bits);
    return is_signed ? (uint64_t)((int64_t)v >> (64 - bits)) : v >> (64 - bits);
}

/* Writes ".member = (type)" at the start of a line. */
static void head(struct printer *x, const struct place *w, const char *type, size_t len)
{
    buf_fill(x->out, ' ', INDENT + w->depth);
    if (w->member != NULL)
        buf_printf(x->out, ".%.*s = ", (int)w->member_len, w->member);
    buf_printf(x->out, "(%.*s)", (int)len, type);
}

static void tail(struct printer *x, const struct place *w)
{
    buf_adds(x->out, w->depth > 0 ? ",\n" : "\n");
}

/* Returns whether any of n bytes lies beyond the limit; writes "..." for that once. */
static bool beyond(struct printer *x, const struct place *w, size_t n)
{
    if (!x->limited || (w->at <= x->len && n <= x->len - w->at))
        return false;
    if (!x->cut && w->shown) {
        buf_fill(x->out, ' ', INDENT + w->depth);
        buf_adds(x->out, "...\n");
        x->cut = true;
    }
    return true;
}

static void one(struct printer *x, const struct place *place);

static void members(struct printer *x, const struct place *w, bool shown)
{
    while (*x->p == 'm') {
        struct place m = {.depth = w->depth + 1, .shown = shown};
        x->p++;
        m.at = w->at + (size_t)number(x);
        m.bit = (unsigned)number(x);
        m.bits = (unsigned)number(x);
        m.member = name(x, &m.member_len);
        one(x, &m);
    }
    x->p += *x->p == '}';
}

static void cut(struct printer *x, const struct place *w)
{
    buf_fill(x->out, ' ', INDENT + w->depth + 1);
    buf_adds(x->out, "...\n");
}

/* Returns the size in bytes of a value of the type described at p. */
static size_t size_of(const char *p)
{
    size_t n = 1;
    while (*p == 'a') {
        n *= (size_t)strtoull(p + 1, NULL, 10);
        p += strcspn(p, ";");
        p += *p == ';';
    }
    return *p != '\0' ? n * (size_t)strtoull(p + 1, NULL, 10) : 0;
}

static void array(struct printer *x, const struct place *w, int64_t count, const char *type,
                  size_t len)
{
    const char *of = x->p;
    size_t size = size_of(of);
    bool shown = w->shown && (w->depth == 0 || !is_zero(x, w->at, size * (size_t)count));
    struct place e = {.at = w->at, .depth = w->depth + 1, .shown = shown};
    if (shown) {
        head(x, w, type, len);
        buf_adds(x->out, " [\n");
    }
    if (shown && w->depth + 1 >= DEPTH_MOST) {
        cut(x, w);
        e.shown = false;
    }
    for (int64_t i = 0; e.shown && size > 0 && i < count && e.at < x->len; i++, e.at += size) {
        if (*of == 'c' && x->bytes[e.at] == '\0')
            break;
        /* An element has its own bytes and no others, whatever the description says is inside, so
         * that the output stays in proportion to the bytes. */
        const size_t end = x->len;
        x->len = size < end - e.at ? e.at + size : end;
        x->p = of;
        one(x, &e);
        x->len = end;
    }
    if (e.shown && e.at < w->at + size * (size_t)count && e.at >= x->len)
        beyond(x, &e, 1);
    x->p = of;
    e.shown = false;
    one(x, &e);
    if (shown) {
        buf_fill(x->out, ' ', INDENT + w->depth);
        buf_addc(x->out, ']');
        tail(x, w);
    }
}

static void enumerator(struct printer *x, int64_t v, bool shown)
{
    bool found = !shown;
    while (*x->p == 'n') {
        size_t len;
        x->p++;
        int64_t value = number(x);
        const char *s = name(x, &len);
        if (!found && value == v) {
            buf_add(x->out, s, len);
            found = true;
        }
    }
    x->p += *x->p == '}';
    if (!found)
        buf_printf(x->out, "%" PRId64, v);
}

static void scalar(struct printer *x, const struct place *w, char kind, size_t size)
{
    uint64_t v = word(x, w, size, kind == 'd' || kind == 'c');
    if (kind == 'c' && v < 128 && isprint((int)v))
        buf_printf(x->out, "'%c'", (int)v);
    else if (kind == 'p')
        buf_printf(x->out, "0x%" PRIx64, v);
    else if (kind == 'd' || kind == 'c')
        buf_printf(x->out, "%" PRId64, (int64_t)v);
    else if (kind == 'f' && size <= x->len && w->at <= x->len - size) {
        const struct value f = {.kind = DIF_FLOAT, .s = x->bytes + w->at, .len = size};
        buf_printf(x->out, "%Lg", value_float(&f));
    } else if (kind == 't' && w->at < x->len) {
        size_t most = size < x->len - w->at ? size : x->len - w->at;
        buf_json(x->out, x->bytes + w->at, strnlen(x->bytes + w->at, most));
    } else
        buf_printf(x->out, "%" PRIu64, v);
}

static void one(struct printer *x, const struct place *place)
{
    struct place here = *place, *w = &here;
    char kind = *x->p;
    size_t len;
    if (kind == '\0')
        return;
    x->p++;
    int64_t n = number(x);
    if ((kind == 'a' || kind == 's') ? w->at >= x->len && beyond(x, w, 1) : beyond(x, w, (size_t)n))
        w->shown = false;
    const char *type = name(x, &len);
    if (kind == 'a') {
        array(x, w, n, type, len);
    } else if (kind == 's') {
        bool shown = w->shown && (w->depth == 0 || !is_zero(x, w->at, (size_t)n));
        bool deep = w->depth + 1 >= DEPTH_MOST;
        if (shown) {
            head(x, w, type, len);
            buf_adds(x->out, " {\n");
        }
        if (shown && deep)
            cut(x, w);
        members(x, w, shown && !deep);
        if (shown) {
            buf_fill(x->out, ' ', INDENT + w->depth);
            buf_addc(x->out, '}');
            tail(x, w);
        }
    } else {
        bool zero = w->bits > 0 ? word(x, w, (size_t)n, false) == 0 : is_zero(x, w->at, (size_t)n);
        bool shown = w->shown && (w->depth == 0 || !zero);
        if (shown)
            head(x, w, type, len);
        if (kind == 'e')
            enumerator(x, (int64_t)word(x, w, (size_t)n, true), shown);
        else if (shown)
            scalar(x, w, kind, (size_t)n);
        if (shown)
            tail(x, w);
    }
}

void print_object(uint64_t address, const struct value *bytes, const char *type, size_t most,
                  struct buf *out)
{
    bool limited = bytes->len > most;
    struct printer x = {type, bytes->s, limited ? most : bytes->len, limited, false, out};
    struct place top = {.shown = true};
    buf_printf(out, "0x%" PRIx64 " = *\n", address);
    one(&x, &top);
}
