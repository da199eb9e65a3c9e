/* buf.c - the growable byte buffer and its reader. */
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/size.h"

void buf_free(struct buf *b)
{
    et_free(b->data);
    *b = (struct buf)BUF_INIT;
}

bool buf_reserve(struct buf *b, size_t n)
{
    if (b->oom)
        return false;
    const size_t need = size_add(size_add(b->len, n), 1);
    if (need <= b->cap)
        return true;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need)
        cap = size_mul(cap, 2);
    char *p = et_realloc(b->data, cap);
    if (p == NULL) {
        b->oom = true;
        return false;
    }
    b->data = p;
    b->cap = cap;
    return true;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    if (!buf_reserve(b, n))
        return;
    if (n > 0)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = '\0';
}

/* Formats into the available room; only text that does not fit is formatted a second time. */
void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    if (!buf_reserve(b, 0))
        return;
    va_copy(again, ap);
    size_t room = b->cap - b->len;
    int n = vsnprintf(b->data + b->len, room, fmt, ap);
    if (n >= 0 && (size_t)n >= room) {
        b->data[b->len] = '\0';
        if (buf_reserve(b, (size_t)n))
            vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        else
            n = 0;
    }
    va_end(again);
    b->len += n > 0 ? (size_t)n : 0;
}

static void buf_le(struct buf *b, uint64_t v, unsigned n)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < n; i++)
        bytes[i] = (unsigned char)(v >> (8 * i));
    buf_add(b, bytes, n);
}

void buf_u8(struct buf *b, uint8_t v)
{
    buf_le(b, v, 1);
}
void buf_u16(struct buf *b, uint16_t v)
{
    buf_le(b, v, 2);
}
void buf_u32(struct buf *b, uint32_t v)
{
    buf_le(b, v, 4);
}

const char *buf_str(const struct buf *b)
{
    return b->data ? b->data : "";
}

static uint64_t rdr_le(struct rdr *r, unsigned n)
{
    const uint8_t *p = rdr_bytes(r, n);
    uint64_t v = 0;
    for (unsigned i = 0; p != NULL && i < n; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

uint8_t rdr_u8(struct rdr *r)
{
    return (uint8_t)rdr_le(r, 1);
}
uint32_t rdr_u32(struct rdr *r)
{
    return (uint32_t)rdr_le(r, 4);
}
uint64_t rdr_u64(struct rdr *r)
{
    return rdr_le(r, 8);
}

const void *rdr_bytes(struct rdr *r, size_t n)
{
    if (r->bad || rdr_left(r) < n) {
        r->bad = true;
        return NULL;
    }
    const void *p = r->p;
    r->p += n;
    return p;
}
