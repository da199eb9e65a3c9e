/* etf_print.c - see etf_print.h.
 *
 * Terms are walked without recursion: open containers are on a stack of fixed depth, and deeper
 * ones are skipped. Each term produces at least one byte of output, so that the limit of the output
 * also bounds the work. */
#include "etf/etf_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "etf/step.h"
#include "util/buftext.h"

enum {
    DEPTH_MOST = 24,
    TEXT_MOST = 256, /* bytes shown of a text */
    BYTES_MOST = 24, /* ... of a binary that is not text */
    BIG_MOST = 32    /* ... of an integer beyond 64 bits */
};

struct level {
    enum { TUPLE, LIST, TAIL, MAP } kind; /* TAIL: the tail of an improper list */
    uint64_t left;                        /* terms; keys and values of a map one by one */
};

struct printer {
    struct buf *out;
    struct etf r;
    size_t end; /* limit of the length of `out` */
    struct level level[DEPTH_MOST];
    unsigned depth;
};

/* -- texts ------------------------------------------------------------------------------------- */

static bool is_plain(const char *atom)
{
    static const char reserved[] =
        " after and andalso band begin bnot bor bsl bsr bxor case catch cond div else end fun if "
        "let maybe not of or orelse receive rem try when xor ";
    char word[16];
    if (atom[0] < 'a' || atom[0] > 'z')
        return false;
    for (const char *p = atom; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              *p == '_' || *p == '@'))
            return false;
    snprintf(word, sizeof word, " %.13s ", atom);
    return !strstr(reserved, word);
}

/* Appends the text in quotes: made visible, with the quote and the backslash escaped. */
static void put_quoted(struct buf *out, const char *s, size_t n, char quote)
{
    size_t from = 0;
    buf_addc(out, quote);
    for (size_t i = 0; i < n; i++) {
        if (s[i] != quote && s[i] != '\\')
            continue;
        buf_visible(out, s + from, i - from, false);
        buf_addc(out, '\\');
        buf_addc(out, s[i]);
        from = i + 1;
    }
    buf_visible(out, s + from, n - from, false);
    buf_addc(out, quote);
}

static void put_atom(struct printer *p)
{
    char atom[ETF_ATOM_MAX];
    size_t n = etf_atom(&p->r, atom);
    if (!p->r.bad && is_plain(atom))
        buf_adds(p->out, atom);
    else if (!p->r.bad)
        put_quoted(p->out, atom, n, '\'');
}

/* Returns whether it is UTF-8 without control characters other than newline and tab. */
static bool is_text(const unsigned char *s, size_t n)
{
    for (size_t i = 0, k; i < n; i += k) {
        k = buf_utf8_len(s + i, n - i);
        if (k == 0 || s[i] == 0x7f || (s[i] < 0x20 && s[i] != '\n' && s[i] != '\t'))
            return false;
    }
    return true;
}

/* Returns how many first bytes of a text are shown; never ends within a character. */
static size_t cut(const unsigned char *s, size_t n)
{
    size_t k = n < TEXT_MOST ? n : TEXT_MOST;
    while (k < n && k > 0 && (s[k] & 0xc0) == 0x80)
        k--;
    return k;
}

static void put_bytes(struct buf *out, const unsigned char *s, size_t n)
{
    for (size_t i = 0; i < n && i < BYTES_MOST; i++)
        buf_printf(out, "%s%u", i ? "," : "", s[i]);
}

/* `bits`: how many bits of the last byte count. */
static void put_binary(struct buf *out, const unsigned char *s, size_t n, unsigned bits)
{
    size_t k = cut(s, n);
    bool text = bits == 8 && n > 0 && is_text(s, k);
    buf_adds(out, "<<");
    if (text)
        put_quoted(out, (const char *)s, k, '"');
    else
        put_bytes(out, s, n);
    if (n > (text ? k : BYTES_MOST))
        buf_printf(out, "... %zu bytes", n);
    else if (bits < 8)
        buf_printf(out, ":%u", bits);
    buf_adds(out, ">>");
}

/* Prints a list of small integers, as a text when it looks like one. */
static void put_string(struct printer *p)
{
    tag(&p->r);
    size_t n = be(&p->r, 2);
    const unsigned char *s = take(&p->r, n);
    if (!s)
        return;
    bool ascii = n > 0;
    for (size_t i = 0; i < n && ascii; i++)
        ascii = s[i] < 0x7f && (s[i] >= 0x20 || s[i] == '\n' || s[i] == '\t');
    size_t k = ascii ? (n < TEXT_MOST ? n : TEXT_MOST) : (n < BYTES_MOST ? n : BYTES_MOST);
    if (ascii) {
        put_quoted(p->out, (const char *)s, k, '"');
    } else {
        buf_addc(p->out, '[');
        put_bytes(p->out, s, n);
    }
    if (n > k)
        buf_printf(p->out, "... %zu bytes", n);
    if (!ascii)
        buf_addc(p->out, ']');
}

/* -- numbers and names of processes ------------------------------------------------------------ */

static void put_real(struct buf *out, double v)
{
    char s[40];
    snprintf(s, sizeof s, "%.17g", v);
    buf_adds(out, s);
    if (isfinite(v) && !strpbrk(s, ".e"))
        buf_adds(out, ".0");
}

/* Prints an integer beyond 64 bits in base 16, or only its length. `n` bytes, the least significant
 * first. */
static void put_big(struct printer *p, size_t n)
{
    bool negative = be(&p->r, 1) != 0;
    const uint8_t *s = take(&p->r, n);
    if (!s)
        return;
    buf_adds(p->out, negative ? "-16#" : "16#");
    while (n > 0 && s[n - 1] == 0)
        n--;
    if (n > BIG_MOST)
        buf_printf(p->out, "... %zu bytes", n);
    for (size_t i = n; i-- > 0 && n <= BIG_MOST;)
        buf_printf(p->out, "%02x", s[i]);
    if (n == 0)
        buf_addc(p->out, '0');
}

static void put_int(struct printer *p)
{
    struct etf at = p->r, copy = at;
    int64_t i = etf_int(&copy);
    if (!copy.bad) {
        buf_printf(p->out, "%lld", (long long)i);
        p->r = copy;
        return;
    }
    copy = at;
    uint64_t u = etf_uint(&copy);
    if (!copy.bad) {
        buf_printf(p->out, "%llu", (unsigned long long)u);
        p->r = copy;
        return;
    }
    if (tag(&p->r) == ERL_SMALL_BIG_EXT)
        put_big(p, be(&p->r, 1));
    else
        p->r.bad = true;
}

static void put_name(struct buf *out, const char *node)
{
    buf_visible(out, node, strlen(node), false);
}

static void put_pid(struct printer *p)
{
    erlang_pid pid;
    etf_pid(&p->r, &pid);
    if (p->r.bad)
        return;
    buf_addc(p->out, '<');
    put_name(p->out, pid.node);
    buf_printf(p->out, ".%u.%u>", pid.num, pid.serial);
}

/* Prints a reference, whose words Erlang writes with the last one first; `creation` bytes precede
 * them. */
static void put_ref(struct printer *p, size_t creation)
{
    char node[ETF_ATOM_MAX];
    size_t n = be(&p->r, 2);
    etf_atom(&p->r, node);
    take(&p->r, creation);
    const uint8_t *s = take(&p->r, 4 * n);
    if (!s || n > 5) {
        p->r.bad = true;
        return;
    }
    buf_adds(p->out, "#Ref<");
    put_name(p->out, node);
    for (size_t i = n; i-- > 0;) {
        struct etf word = etf_over(s + 4 * i, 4);
        buf_printf(p->out, ".%u", (unsigned)be(&word, 4));
    }
    buf_addc(p->out, '>');
}

static void put_port(struct printer *p, size_t number, size_t creation)
{
    char node[ETF_ATOM_MAX];
    etf_atom(&p->r, node);
    uint64_t n = be(&p->r, number);
    take(&p->r, creation);
    if (p->r.bad)
        return;
    buf_adds(p->out, "#Port<");
    put_name(p->out, node);
    buf_printf(p->out, ".%llu>", (unsigned long long)n);
}

/* -- containers -------------------------------------------------------------------------------- */

/* Opens a container whose elements come next; at the greatest depth they are skipped instead. `at`
 * is where the container begins. */
static void open_level(struct printer *p, int kind, uint64_t n, struct etf at)
{
    if (p->r.bad)
        return;
    buf_adds(p->out, kind == LIST ? "[" : kind == MAP ? "#{" : "{");
    if (n > 0 && p->depth < DEPTH_MOST) {
        p->level[p->depth++] = (struct level){.kind = kind, .left = n};
        return;
    }
    if (n > 0) {
        etf_skip(&at);
        p->r = at;
        buf_adds(p->out, "...");
    }
    buf_addc(p->out, kind == LIST ? ']' : '}');
}

static void put_other(struct printer *p)
{
    struct etf at = p->r;
    switch (tag(&p->r)) {
    case NEW_FLOAT_EXT: {
        uint64_t bits = be(&p->r, 8);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (!p->r.bad)
            put_real(p->out, v);
        break;
    }
    case ERL_FLOAT_EXT: {
        const void *s = take(&p->r, 31);
        if (s)
            buf_visible(p->out, s, strnlen(s, 31), false);
        break;
    }
    case ERL_LARGE_BIG_EXT: put_big(p, be(&p->r, 4)); break;
    case ERL_BIT_BINARY_EXT: {
        size_t n = be(&p->r, 4);
        unsigned bits = (unsigned)be(&p->r, 1);
        const unsigned char *s = take(&p->r, n);
        if (s)
            put_binary(p->out, s, n, bits);
        break;
    }
    case ERL_MAP_EXT: {
        uint64_t n = be(&p->r, 4);
        open_level(p, MAP, 2 * n, at);
        break;
    }
    case ERL_NEW_REFERENCE_EXT: put_ref(p, 1); break;
    case ERL_NEWER_REFERENCE_EXT: put_ref(p, 4); break;
    case ERL_PORT_EXT: put_port(p, 4, 1); break;
    case ERL_NEW_PORT_EXT: put_port(p, 4, 4); break;
    case ERL_V4_PORT_EXT: put_port(p, 8, 4); break;
    default: /* a fun */
        p->r = at;
        etf_skip(&p->r);
        if (!p->r.bad)
            buf_adds(p->out, "#Fun<>");
    }
}

/* Prints the next term: a container only up to its first element. */
static void put_term(struct printer *p)
{
    struct etf at = p->r;
    size_t n;
    switch (etf_peek(&p->r)) {
    case ETF_END: p->r.bad = true; break;
    case ETF_INT: put_int(p); break;
    case ETF_ATOM: put_atom(p); break;
    case ETF_TUPLE:
        n = etf_tuple(&p->r);
        open_level(p, TUPLE, n, at);
        break;
    case ETF_LIST:
        n = etf_list(&p->r);
        open_level(p, LIST, n, at);
        break;
    case ETF_STRING: put_string(p); break;
    case ETF_BINARY: {
        const unsigned char *s = etf_binary(&p->r, &n);
        if (s)
            put_binary(p->out, s, n, 8);
        break;
    }
    case ETF_PID: put_pid(p); break;
    case ETF_OTHER: put_other(p); break;
    }
}

/* Prints what follows the term that has just ended: a separator, or the end of each container that
 * ends with it. */
static void end_term(struct printer *p)
{
    while (p->depth > 0 && !p->r.bad) {
        struct level *l = &p->level[p->depth - 1];
        if (--l->left > 0) {
            buf_adds(p->out, l->kind == MAP && l->left % 2 == 1 ? " => " : ",");
            return;
        }
        if (l->kind == LIST && p->r.p < p->r.end && *p->r.p != ERL_NIL_EXT) {
            buf_addc(p->out, '|');
            *l = (struct level){.kind = TAIL, .left = 1};
            return;
        }
        if (l->kind == LIST)
            etf_list_end(&p->r);
        if (!p->r.bad)
            buf_addc(p->out, l->kind == LIST || l->kind == TAIL ? ']' : '}');
        p->depth--;
    }
}

void etf_print(struct buf *out, struct etf r, size_t limit)
{
    struct printer p = {.out = out, .r = r, .end = out->len + limit};
    do {
        unsigned depth = p.depth;
        put_term(&p);
        if (p.depth == depth) /* nothing was opened */
            end_term(&p);
        if (out->len > p.end && p.depth > 0) {
            buf_adds(out, "...");
            return;
        }
    } while (p.depth > 0 && !p.r.bad && !out->oom);
    if (p.r.bad)
        buf_adds(out, "<malformed>");
}
