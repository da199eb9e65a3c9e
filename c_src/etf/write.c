/* write.c - writes terms into a buffer. See write.h.
 *
 * Data: one tag byte, then what the tag says, big-endian; only the bytes of a large integer are
 * least significant first. */
#include "etf/write.h"

#include <math.h>
#include <string.h>

enum {
    VERSION = 131,
    NEW_FLOAT = 70,
    SMALL_INTEGER = 97,
    INTEGER = 98,
    SMALL_TUPLE = 104,
    LARGE_TUPLE = 105,
    NIL = 106,
    STRING = 107,
    LIST = 108,
    BINARY = 109,
    SMALL_BIG = 110,
    MAP = 116,
    ATOM_UTF8 = 118,
    SMALL_ATOM_UTF8 = 119,
    NEW_PID = 88
};

static void be(uint8_t *out, uint64_t v, size_t n)
{
    for (size_t i = n; i-- > 0; v >>= 8)
        out[i] = (uint8_t)v;
}

/* Writes a tag and a number of n bytes. */
static void put_tag(struct buf *b, uint8_t tag, uint64_t v, size_t n)
{
    uint8_t bytes[9] = {tag};
    be(bytes + 1, v, n);
    buf_add(b, bytes, 1 + n);
}

void etf_put_version(struct buf *b)
{
    buf_u8(b, VERSION);
}

void etf_put_tuple(struct buf *b, uint32_t n)
{
    put_tag(b, n < 256 ? SMALL_TUPLE : LARGE_TUPLE, n, n < 256 ? 1 : 4);
}

void etf_put_map(struct buf *b, uint32_t n)
{
    put_tag(b, MAP, n, 4);
}

void etf_put_atom(struct buf *b, const char *name)
{
    size_t n = strnlen(name, UINT16_MAX);
    if (n < 256)
        put_tag(b, SMALL_ATOM_UTF8, n, 1);
    else
        put_tag(b, ATOM_UTF8, n, 2);
    buf_add(b, name, n);
}

void etf_put_pid(struct buf *b, const erlang_pid *pid)
{
    uint8_t bytes[12];
    be(bytes, pid->num, 4);
    be(bytes + 4, pid->serial, 4);
    be(bytes + 8, pid->creation, 4);
    buf_u8(b, NEW_PID);
    etf_put_atom(b, pid->node);
    buf_add(b, bytes, sizeof bytes);
}

static void put_big(struct buf *b, uint64_t magnitude, uint8_t sign)
{
    uint8_t n = 0, bytes[8];
    for (; magnitude > 0; magnitude >>= 8)
        bytes[n++] = (uint8_t)magnitude;
    buf_u8(b, SMALL_BIG);
    buf_u8(b, n);
    buf_u8(b, sign);
    buf_add(b, bytes, n);
}

void etf_put_int(struct buf *b, int64_t v)
{
    if (v >= 0)
        etf_put_uint(b, (uint64_t)v);
    else if (v >= INT32_MIN)
        put_tag(b, INTEGER, (uint32_t)v, 4);
    else
        put_big(b, ~(uint64_t)v + 1, 1);
}

void etf_put_uint(struct buf *b, uint64_t v)
{
    if (v < 256)
        put_tag(b, SMALL_INTEGER, v, 1);
    else if (v <= INT32_MAX)
        put_tag(b, INTEGER, v, 4);
    else
        put_big(b, v, 0);
}

void etf_put_real(struct buf *b, double v)
{
    uint64_t bits;
    if (!isfinite(v)) {
        etf_put_atom(b, isnan(v) ? "nan" : v > 0 ? "infinity" : "neg_infinity");
        return;
    }
    memcpy(&bits, &v, sizeof bits);
    put_tag(b, NEW_FLOAT, bits, 8);
}

void etf_put_binary(struct buf *b, const void *p, size_t n)
{
    if (n > UINT32_MAX) {
        b->oom = true;
        return;
    }
    put_tag(b, BINARY, n, 4);
    buf_add(b, p, n);
}

void etf_put_text(struct buf *b, const char *s)
{
    etf_put_binary(b, s, strlen(s));
}

void etf_put_string(struct buf *b, const char *s)
{
    size_t n = strlen(s);
    if (n > UINT16_MAX) {
        b->oom = true;
    } else if (n == 0) {
        etf_put_nil(b);
    } else {
        put_tag(b, STRING, n, 2);
        buf_add(b, s, n);
    }
}

/* -- lists ------------------------------------------------------------------------------------- */

void etf_put_list(struct buf *b, size_t n)
{
    if (n > UINT32_MAX)
        b->oom = true;
    else if (n > 0)
        put_tag(b, LIST, n, 4);
}

void etf_put_nil(struct buf *b)
{
    buf_u8(b, NIL);
}

/* -- counts that are known at the end ---------------------------------------------------------- */

static size_t begin(struct buf *b, uint8_t tag)
{
    size_t at = b->len;
    put_tag(b, tag, 0, 4);
    return at;
}

static void finish(struct buf *b, size_t at, uint32_t n)
{
    if (!b->oom)
        be((uint8_t *)b->data + at + 1, n, 4);
}

size_t etf_list_begin(struct buf *b)
{
    return begin(b, LIST);
}

void etf_list_finish(struct buf *b, size_t at, uint32_t n)
{
    if (n == 0 && !b->oom)
        b->len = at; /* the empty list has a form of its own */
    else
        finish(b, at, n);
    buf_u8(b, NIL);
}

size_t etf_map_begin(struct buf *b)
{
    return begin(b, MAP);
}

void etf_map_finish(struct buf *b, size_t at, uint32_t n)
{
    finish(b, at, n);
}
