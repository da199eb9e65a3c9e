/* value.c - decoding of record parts and keys. Nothing outside the given bytes is ever read. */
#include "result/value.h"

#include <string.h>

#include "base/err.h"
#include "util/buftext.h"

static int64_t extend(uint64_t raw, unsigned bits, bool is_signed)
{
    if (bits >= 64)
        return (int64_t)raw;
    uint64_t sign = 1ull << (bits - 1);
    return is_signed ? (int64_t)((raw ^ sign) - sign) : (int64_t)raw;
}

static void int_parse(struct rdr *r, struct value *v)
{
    uint64_t raw = 0;
    switch (v->size) {
    case 1: raw = rdr_u8(r); break;
    case 2: raw = rdr_u16(r); break;
    case 4: raw = rdr_u32(r); break;
    case 8: raw = rdr_u64(r); break;
    default: r->bad = true; return;
    }
    v->i = extend(raw, v->size * 8, v->kind == DIF_INT);
}

int values_parse(const struct dif_type *type, size_t n, const uint8_t *p, size_t len,
                 struct value *out)
{
    struct rdr r = {p, p + len, false};
    for (size_t i = 0; i < n; i++) {
        struct value *v = &out[i];
        *v = (struct value){.kind = type[i].kind, .size = type[i].size};
        switch (v->kind) {
        case DIF_INT:
        case DIF_UINT: int_parse(&r, v); break;
        case DIF_STRING:
            v->len = rdr_u32(&r);
            v->s = rdr_bytes(&r, v->len);
            break;
        default: /* as they are */
            v->len = v->size;
            v->s = rdr_bytes(&r, v->len);
            r.bad |= dif_kind_info(v->kind) == NULL;
        }
        if (r.bad)
            return ET_EIMAGE;
        if (v->s == NULL) {
            v->s = "";
            v->len = 0;
        }
    }
    return rdr_left(&r) == 0 ? 0 : ET_EIMAGE;
}

long double value_float(const struct value *v)
{
    float f = 0;
    double d = 0;
    long double l = 0;
    switch (v->kind == DIF_FLOAT ? v->len : 0) {
    case sizeof f: memcpy(&f, v->s, sizeof f); return (long double)f;
    case sizeof d: memcpy(&d, v->s, sizeof d); return (long double)d;
    case sizeof l: memcpy(&l, v->s, sizeof l); return l;
    default: return 0;
    }
}

uint64_t value_unsigned(const struct value *v)
{
    return v->size >= 8 ? (uint64_t)v->i : (uint64_t)v->i & ((1ull << (v->size * 8)) - 1);
}

void value_decimal(int64_t v, bool is_signed, struct buf *out)
{
    char text[24], *p = text + sizeof text;
    bool negative = is_signed && v < 0;
    uint64_t left = negative ? 0 - (uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + left % 10);
    while ((left /= 10) != 0);
    if (negative)
        *--p = '-';
    buf_add(out, p, (size_t)(text + sizeof text - p));
}

int value_compare(const struct value *a, const struct value *b)
{
    if (value_is_int(a)) {
        uint64_t x = value_unsigned(a), y = value_unsigned(b);
        return (x > y) - (x < y);
    }
    size_t n = a->len < b->len ? a->len : b->len;
    int c = n > 0 ? memcmp(a->s, b->s, n) : 0;
    return c != 0 ? c : (a->len > b->len) - (a->len < b->len);
}
