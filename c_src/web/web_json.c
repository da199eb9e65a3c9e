/* web_json.c - see web_json.h. Most of what is sent is numbers, so they are written without
 * printf. */
#include "util/buftext.h"
#include "web/web_json.h"

#include <string.h>

#define SAFE ((UINT64_C(1) << 53) - 1)

__extension__ typedef unsigned __int128 wide;

static void digits(struct buf *b, wide v, bool negative)
{
    char text[42], *p = text + sizeof text;
    bool quoted = v > SAFE;
    if (quoted)
        *--p = '"';
    do
        *--p = (char)('0' + (int)(v % 10));
    while ((v /= 10) > 0);
    if (negative)
        *--p = '-';
    if (quoted)
        *--p = '"';
    buf_add(b, p, (size_t)(text + sizeof text - p));
}

/* Writes small numbers, as nearly all are, without a division of 128 bits. */
static void small_digits(struct buf *b, uint64_t v, bool negative)
{
    char text[20], *p = text + sizeof text;
    do
        *--p = (char)('0' + (int)(v % 10));
    while ((v /= 10) > 0);
    if (negative)
        *--p = '-';
    buf_add(b, p, (size_t)(text + sizeof text - p));
}

static void number(struct buf *b, uint64_t magnitude, bool negative)
{
    if (magnitude <= SAFE)
        small_digits(b, magnitude, negative);
    else
        digits(b, magnitude, negative);
}

void json_int(struct buf *b, int64_t v)
{
    number(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0);
}

void json_uint(struct buf *b, uint64_t v)
{
    number(b, v, false);
}

void json_wide(struct buf *b, uint64_t low, uint64_t high)
{
    wide v = (wide)high << 64 | low;
    bool negative = (int64_t)high < 0;
    digits(b, negative ? 0 - v : v, negative);
}

void json_text(struct buf *b, const char *s)
{
    if (s == NULL)
        buf_adds(b, "null");
    else
        buf_json(b, s, strlen(s));
}

void json_key(struct buf *b, const char *key)
{
    buf_adds(b, ",\"");
    buf_adds(b, key);
    buf_adds(b, "\":");
}

void json_int_field(struct buf *b, const char *key, int64_t v)
{
    json_key(b, key);
    json_int(b, v);
}

void json_text_field(struct buf *b, const char *key, const char *s)
{
    json_key(b, key);
    json_text(b, s);
}

void json_bool_field(struct buf *b, const char *key, bool v)
{
    json_key(b, key);
    buf_adds(b, v ? "true" : "false");
}
