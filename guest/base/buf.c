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

void buf_reset(struct buf *b)
{
    b->len = 0;
    b->oom = false;
    if (b->data != NULL)
        b->data[0] = '\0';
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

void buf_adds(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_fill(struct buf *b, char c, size_t n)
{
    if (!buf_reserve(b, n))
        return;
    memset(b->data + b->len, c, n);
    b->len += n;
    b->data[b->len] = '\0';
}

/* Formats into the room that there is; only text that does not fit is formatted a second time. */
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

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
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
void buf_u64(struct buf *b, uint64_t v)
{
    buf_le(b, v, 8);
}

size_t buf_utf8_len(const unsigned char *s, size_t n)
{
    static const struct {
        unsigned char mask, lead;
        unsigned least;
    } form[] = {
        {0, 0, 0}, {0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t len = 1; len <= 4; len++) {
        if ((s[0] & form[len].mask) != form[len].lead)
            continue;
        if (len > n)
            return 0;
        unsigned c = len == 1 ? s[0] : s[0] & (unsigned char)~form[len].mask;
        for (size_t i = 1; i < len; i++) {
            if ((s[i] & 0xc0) != 0x80)
                return 0;
            c = c << 6 | (s[i] & 0x3f);
        }
        return c < form[len].least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : len;
    }
    return 0;
}

/* Whether a character of two or three bytes is one that steers. */
static bool steers(const unsigned char *s, size_t len)
{
    return (len == 2 && s[0] == 0xc2 && s[1] < 0xa0) ||
           (len == 3 && s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
           (len == 3 && s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

/* Such a character, as JSON and C write it. */
static void put_steering(struct buf *b, const unsigned char *s, size_t len)
{
    unsigned c = len == 2 ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu)
                          : (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    buf_printf(b, "\\u%04x", c);
}

/* Bytes from s on that stand in a JSON string as they are. */
static size_t json_plain(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\')
        i++;
    return i;
}

void buf_json(struct buf *b, const char *s, size_t n)
{
    buf_addc(b, '"');
    for (size_t i = 0; i < n;) {
        size_t plain = json_plain(s + i, n - i);
        buf_add(b, s + i, plain);
        i += plain;
        if (i == n)
            break;
        unsigned char c = (unsigned char)s[i];
        size_t len = buf_utf8_len((const unsigned char *)s + i, n - i);
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c == '\n')
            buf_adds(b, "\\n");
        else if (c == '\t')
            buf_adds(b, "\\t");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(b, "\\u%04x", c);
        else if (len == 0)
            buf_adds(b, "\\ufffd");
        else if (steers((const unsigned char *)s + i, len))
            put_steering(b, (const unsigned char *)s + i, len);
        else
            buf_add(b, s + i, len);
        i += len ? len : 1;
    }
    buf_addc(b, '"');
}

void buf_visible_byte(struct buf *b, unsigned char c)
{
    static const char from[] = "\a\b\f\n\r\t\v", to[] = "abfnrtv";
    const char *at = c != 0 ? strchr(from, c) : NULL;
    if (c == 0)
        buf_adds(b, "\\0");
    else if (at != NULL)
        buf_printf(b, "\\%c", to[at - from]);
    else if (c >= ' ' && c <= '~')
        buf_addc(b, (char)c);
    else
        buf_printf(b, "\\%03o", c);
}

/* Bytes from s on that stay as they are. */
static size_t visible_plain(const unsigned char *s, size_t n, bool lines)
{
    size_t i = 0;
    while (i < n) {
        size_t len = 1;
        if (s[i] >= 0x80)
            len = buf_utf8_len(s + i, n - i);
        else if ((s[i] < ' ' || s[i] == 0x7f) && !(lines && (s[i] == '\n' || s[i] == '\t')))
            return i;
        if (len == 0 || steers(s + i, len))
            return i;
        i += len;
    }
    return i;
}

void buf_visible(struct buf *b, const char *s, size_t n, bool lines)
{
    const unsigned char *p = (const unsigned char *)s;
    for (size_t i = 0; i < n;) {
        size_t plain = visible_plain(p + i, n - i, lines);
        buf_add(b, s + i, plain);
        i += plain;
        if (i == n)
            break;
        size_t len = p[i] >= 0x80 ? buf_utf8_len(p + i, n - i) : 1;
        if (len > 1)
            put_steering(b, p + i, len);
        else
            buf_visible_byte(b, p[i]);
        i += len ? len : 1;
    }
}

const char *buf_shown(struct buf *room, const char *s)
{
    buf_reset(room);
    buf_visible(room, s, strlen(s), false);
    return buf_str(room);
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
uint16_t rdr_u16(struct rdr *r)
{
    return (uint16_t)rdr_le(r, 2);
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
