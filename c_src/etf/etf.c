/* etf.c - the bounded reader of external terms. See etf.h.
 *
 * Data: one tag byte, then what the tag says, big-endian. libei's own decoder takes no length and
 * would read past the end of a message that lies about its sizes; this one checks every step
 * against `end`. */
#include "etf/etf.h"

#include <string.h>

#include "etf/step.h"

void etf_version(struct etf *r)
{
    if (tag(r) != 131)
        r->bad = true;
}

enum etf_kind etf_peek(const struct etf *r)
{
    if (r->bad || r->p == r->end)
        return ETF_END;
    switch (*r->p) {
    case ERL_SMALL_INTEGER_EXT:
    case ERL_INTEGER_EXT:
    case ERL_SMALL_BIG_EXT: return ETF_INT;
    case ERL_ATOM_EXT:
    case ERL_SMALL_ATOM_EXT:
    case ERL_ATOM_UTF8_EXT:
    case ERL_SMALL_ATOM_UTF8_EXT: return ETF_ATOM;
    case ERL_SMALL_TUPLE_EXT:
    case ERL_LARGE_TUPLE_EXT: return ETF_TUPLE;
    case ERL_NIL_EXT:
    case ERL_LIST_EXT: return ETF_LIST;
    case ERL_STRING_EXT: return ETF_STRING;
    case ERL_BINARY_EXT: return ETF_BINARY;
    case ERL_PID_EXT:
    case ERL_NEW_PID_EXT: return ETF_PID;
    default: return ETF_OTHER;
    }
}

uint32_t etf_tuple(struct etf *r)
{
    switch (tag(r)) {
    case ERL_SMALL_TUPLE_EXT: return (uint32_t)be(r, 1);
    case ERL_LARGE_TUPLE_EXT: return (uint32_t)be(r, 4);
    default: r->bad = true; return 0;
    }
}

uint32_t etf_list(struct etf *r)
{
    uint32_t n = 0;
    switch (tag(r)) {
    case ERL_NIL_EXT: return 0;
    case ERL_LIST_EXT:
        n = (uint32_t)be(r, 4);
        if (n > (size_t)(r->end - r->p)) /* an element takes at least one byte */
            r->bad = true;
        return r->bad ? 0 : n;
    default: r->bad = true; return 0;
    }
}

void etf_list_end(struct etf *r)
{
    if (tag(r) != ERL_NIL_EXT)
        r->bad = true;
}

/* Appends a code point; returns false when its UTF-8 and a NUL do not fit. */
static bool put_utf8(char *out, size_t cap, size_t *n, uint32_t c)
{
    char b[4];
    size_t len;
    if (c < 0x80) {
        b[0] = (char)c;
        len = 1;
    } else if (c < 0x800) {
        b[0] = (char)(0xc0 | c >> 6);
        b[1] = (char)(0x80 | (c & 0x3f));
        len = 2;
    } else if (c < 0x10000) {
        b[0] = (char)(0xe0 | c >> 12);
        b[1] = (char)(0x80 | (c >> 6 & 0x3f));
        b[2] = (char)(0x80 | (c & 0x3f));
        len = 3;
    } else {
        b[0] = (char)(0xf0 | (c >> 18 & 7));
        b[1] = (char)(0x80 | (c >> 12 & 0x3f));
        b[2] = (char)(0x80 | (c >> 6 & 0x3f));
        b[3] = (char)(0x80 | (c & 0x3f));
        len = 4;
    }
    if (*n + len + 1 > cap)
        return false;
    memcpy(out + *n, b, len);
    *n += len;
    return true;
}

size_t etf_atom(struct etf *r, char *out)
{
    uint8_t t = tag(r);
    size_t len = 0, n = 0;
    out[0] = '\0';
    switch (t) {
    case ERL_SMALL_ATOM_UTF8_EXT:
    case ERL_SMALL_ATOM_EXT: len = be(r, 1); break;
    case ERL_ATOM_UTF8_EXT:
    case ERL_ATOM_EXT: len = be(r, 2); break;
    default: r->bad = true;
    }
    const uint8_t *p = take(r, len);
    if (!p || len >= ETF_ATOM_MAX) {
        r->bad = true;
        return 0;
    }
    if (t == ERL_SMALL_ATOM_UTF8_EXT || t == ERL_ATOM_UTF8_EXT) {
        memcpy(out, p, len);
        n = len;
    } else {
        for (size_t i = 0; i < len; i++)
            if (!put_utf8(out, ETF_ATOM_MAX, &n, p[i]))
                r->bad = true;
    }
    out[n] = '\0';
    return n;
}

bool etf_atom_is(struct etf *r, const char *name)
{
    char a[ETF_ATOM_MAX];
    etf_atom(r, a);
    return !r->bad && strcmp(a, name) == 0;
}

/* Reads any integer as a sign and a magnitude of at most 64 bits. */
static uint64_t magnitude(struct etf *r, bool *negative)
{
    *negative = false;
    switch (tag(r)) {
    case ERL_SMALL_INTEGER_EXT: return be(r, 1);
    case ERL_INTEGER_EXT: {
        int32_t v = (int32_t)(uint32_t)be(r, 4);
        *negative = v < 0;
        return *negative ? (uint64_t) - (int64_t)v : (uint64_t)v;
    }
    case ERL_SMALL_BIG_EXT: {
        size_t n = be(r, 1);
        *negative = be(r, 1) != 0;
        const uint8_t *p = take(r, n);
        uint64_t v = 0;
        for (size_t i = n; p && i-- > 0;) { /* least significant byte first */
            if (v >> 56)
                r->bad = true;
            v = v << 8 | p[i];
        }
        return r->bad ? 0 : v;
    }
    default: r->bad = true; return 0;
    }
}

int64_t etf_int(struct etf *r)
{
    bool neg;
    uint64_t m = magnitude(r, &neg);
    if (m > (uint64_t)INT64_MAX + neg) {
        r->bad = true;
        return 0;
    }
    return neg ? (int64_t)(~m + 1) : (int64_t)m;
}

uint64_t etf_uint(struct etf *r)
{
    bool neg;
    uint64_t m = magnitude(r, &neg);
    if (neg && m) {
        r->bad = true;
        return 0;
    }
    return m;
}

const void *etf_binary(struct etf *r, size_t *n)
{
    *n = 0;
    if (tag(r) != ERL_BINARY_EXT) {
        r->bad = true;
        return NULL;
    }
    size_t len = be(r, 4);
    const uint8_t *p = take(r, len);
    if (p)
        *n = len;
    return p;
}

static void add_char(struct etf *r, struct buf *out, uint64_t c)
{
    char b[8];
    size_t n = 0;
    if (c > 0x10ffff)
        r->bad = true;
    else if (put_utf8(b, sizeof b, &n, (uint32_t)c))
        buf_add(out, b, n);
}

void etf_text(struct etf *r, struct buf *out)
{
    size_t n;
    char a[ETF_ATOM_MAX];
    switch (etf_peek(r)) {
    case ETF_BINARY: {
        const void *p = etf_binary(r, &n);
        if (p)
            buf_add(out, p, n);
        break;
    }
    case ETF_ATOM:
        n = etf_atom(r, a);
        buf_add(out, a, n);
        break;
    case ETF_STRING: {
        tag(r);
        n = be(r, 2);
        const uint8_t *p = take(r, n);
        for (size_t i = 0; p && i < n; i++)
            add_char(r, out, p[i]);
        break;
    }
    case ETF_LIST: {
        uint32_t len = etf_list(r);
        for (uint32_t i = 0; i < len && !r->bad; i++)
            add_char(r, out, etf_uint(r));
        if (len)
            etf_list_end(r);
        break;
    }
    default: r->bad = true;
    }
}

void etf_pid(struct etf *r, erlang_pid *out)
{
    uint8_t t = tag(r);
    memset(out, 0, sizeof *out);
    if (t != ERL_NEW_PID_EXT && t != ERL_PID_EXT)
        r->bad = true;
    etf_atom(r, out->node);
    out->num = (unsigned)be(r, 4);
    out->serial = (unsigned)be(r, 4);
    out->creation = (unsigned)be(r, t == ERL_NEW_PID_EXT ? 4 : 1);
}

/* Returns the number of bytes that follow the node's name in a pid, port or reference; -1 for any
 * other tag. */
static int64_t after_node(struct etf *r, uint8_t t)
{
    switch (t) {
    case ERL_PID_EXT: return 9;
    case ERL_NEW_PID_EXT: return 12;
    case ERL_PORT_EXT: return 5;
    case ERL_NEW_PORT_EXT: return 8;
    case ERL_V4_PORT_EXT: return 12;
    case ERL_NEW_REFERENCE_EXT: return 4 * (int64_t)be(r, 2) + 1;
    case ERL_NEWER_REFERENCE_EXT: return 4 * (int64_t)be(r, 2) + 4;
    default: return -1;
    }
}

/* Counts the terms inside a term in `left` and skips each term's own bytes. Each round takes at
 * least one byte. */
void etf_skip(struct etf *r)
{
    uint64_t left = 1;
    while (left > 0 && !r->bad) {
        char node[ETF_ATOM_MAX];
        uint8_t t = tag(r);
        int64_t n = after_node(r, t);
        left--;
        if (n >= 0) {
            etf_atom(r, node);
            take(r, (size_t)n);
            continue;
        }
        switch (t) {
        case ERL_SMALL_INTEGER_EXT: take(r, 1); break;
        case ERL_INTEGER_EXT: take(r, 4); break;
        case NEW_FLOAT_EXT: take(r, 8); break;
        case ERL_FLOAT_EXT: take(r, 31); break;
        case ERL_SMALL_ATOM_EXT:
        case ERL_SMALL_ATOM_UTF8_EXT: take(r, be(r, 1)); break;
        case ERL_ATOM_EXT:
        case ERL_ATOM_UTF8_EXT:
        case ERL_STRING_EXT: take(r, be(r, 2)); break;
        case ERL_BINARY_EXT: take(r, be(r, 4)); break;
        case ERL_BIT_BINARY_EXT: take(r, be(r, 4) + 1); break;
        case ERL_SMALL_BIG_EXT: take(r, be(r, 1) + 1); break;
        case ERL_LARGE_BIG_EXT: take(r, be(r, 4) + 1); break;
        case ERL_NIL_EXT: break;
        case ERL_SMALL_TUPLE_EXT: left += be(r, 1); break;
        case ERL_LARGE_TUPLE_EXT: left += be(r, 4); break;
        case ERL_LIST_EXT: left += be(r, 4) + 1; break;
        case ERL_MAP_EXT: left += 2 * be(r, 4); break;
        case ERL_EXPORT_EXT: left += 3; break;
        case ERL_NEW_FUN_EXT: /* its size counts itself */
            n = (int64_t)be(r, 4);
            take(r, n >= 4 ? (size_t)n - 4 : 0);
            break;
        default: r->bad = true;
        }
    }
}
