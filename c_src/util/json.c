/* json.c - see json.h. */
#include "util/json.h"

#include <string.h>

#include "util/buftext.h"

#define SAFE ((UINT64_C(1) << 53) - 1)

__extension__ typedef unsigned __int128 wide;

/* -- numbers ----------------------------------------------------------------------------------- */

/* For 64 bits, which nearly all numbers fit: avoids a division of 128 bits. */
static void digits(struct buf *b, uint64_t v, bool negative)
{
    char text[24], *p = text + sizeof text;
    do
        *--p = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    if (negative)
        *--p = '-';
    buf_add(b, p, (size_t)(text + sizeof text - p));
}

static void quoted_digits(struct buf *b, wide v, bool negative)
{
    char text[42], *p = text + sizeof text;
    *--p = '"';
    do
        *--p = (char)('0' + (int)(v % 10));
    while ((v /= 10) > 0);
    if (negative)
        *--p = '-';
    *--p = '"';
    buf_add(b, p, (size_t)(text + sizeof text - p));
}

static void safe_digits(struct buf *b, wide v, bool negative)
{
    if (v <= SAFE)
        digits(b, (uint64_t)v, negative);
    else
        quoted_digits(b, v, negative);
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

void json_int(struct buf *b, int64_t v)
{
    digits(b, magnitude(v), v < 0);
}

void json_uint(struct buf *b, uint64_t v)
{
    digits(b, v, false);
}

void json_safe_int(struct buf *b, int64_t v)
{
    safe_digits(b, magnitude(v), v < 0);
}

void json_safe_uint(struct buf *b, uint64_t v)
{
    safe_digits(b, v, false);
}

void json_wide(struct buf *b, uint64_t low, uint64_t high)
{
    wide v = (wide)high << 64 | low;
    bool negative = (int64_t)high < 0;
    safe_digits(b, negative ? 0 - v : v, negative);
}

void json_float(struct buf *b, long double v, int precision)
{
    if (v - v == 0)
        buf_printf(b, "%.*Lg", precision, v);
    else
        buf_printf(b, "\"%Lg\"", v);
}

/* -- text -------------------------------------------------------------------------------------- */

void json_text(struct buf *b, const char *s)
{
    if (s == NULL)
        buf_adds(b, "null");
    else
        buf_json(b, s, strlen(s));
}

void json_hex(struct buf *b, const char *p, size_t n)
{
    buf_addc(b, '"');
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "%02x", (unsigned char)p[i]);
    buf_addc(b, '"');
}

/* -- members of objects ------------------------------------------------------------------------ */

void json_first_key(struct buf *b, const char *key)
{
    buf_addc(b, '"');
    buf_adds(b, key);
    buf_adds(b, "\":");
}

void json_key(struct buf *b, const char *key)
{
    buf_addc(b, ',');
    json_first_key(b, key);
}

void json_int_field(struct buf *b, const char *key, int64_t v)
{
    json_key(b, key);
    json_int(b, v);
}

void json_uint_field(struct buf *b, const char *key, uint64_t v)
{
    json_key(b, key);
    json_uint(b, v);
}

void json_safe_int_field(struct buf *b, const char *key, int64_t v)
{
    json_key(b, key);
    json_safe_int(b, v);
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
