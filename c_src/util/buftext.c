/* buftext.c - text in buffers: pieces, JSON, and text that is safe for a terminal. */
#include "util/buftext.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"

char *et_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = et_malloc(n);
    return p ? memcpy(p, s, n) : NULL;
}

void buf_reset(struct buf *b)
{
    b->len = 0;
    b->oom = false;
    if (b->data != NULL)
        b->data[0] = '\0';
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

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_u64(struct buf *b, uint64_t v)
{
    buf_u32(b, (uint32_t)v);
    buf_u32(b, (uint32_t)(v >> 32));
}

uint16_t rdr_u16(struct rdr *r)
{
    unsigned low = rdr_u8(r), high = rdr_u8(r);
    return (uint16_t)(low | high << 8);
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

/* Returns whether a character of two or three bytes can steer a terminal. */
static bool steers(const unsigned char *s, size_t len)
{
    return (len == 2 && s[0] == 0xc2 && s[1] < 0xa0) ||
           (len == 3 && s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
           (len == 3 && s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

/* Appends such a character as JSON and C write it. */
static void put_steering(struct buf *b, const unsigned char *s, size_t len)
{
    unsigned c = len == 2 ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu)
                          : (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    buf_printf(b, "\\u%04x", c);
}

/* Returns the number of bytes from s on that a JSON string takes unchanged. */
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

/* Returns the number of bytes from s on that stay unchanged. */
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
