/* value.c - decodes record parts and keys. It never reads outside the given bytes. */
#include "result/value.h"

#include <string.h>

#include "base/err.h"
#include "tier/record_read.h"
#include "util/buftext.h"
#include "util/json.h"

int values_parse(const struct dif_type *type, size_t n, const uint8_t *p, size_t len,
                 struct value *out)
{
    struct rdr r = {p, p + len, false};
    for (size_t i = 0; i < n; i++) {
        struct value *v = &out[i];
        *v = (struct value){.kind = type[i].kind, .size = type[i].size};
        switch (v->kind) {
        case DIF_INT:
        case DIF_UINT: v->i = record_read_int(&r, v->size, v->kind == DIF_INT); break;
        case DIF_STRING: {
            uint32_t bytes;
            v->s = record_read_text(&r, &bytes);
            v->len = bytes;
            break;
        }
        default: /* unchanged */
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
    if (is_signed)
        json_int(out, v);
    else
        json_uint(out, (uint64_t)v);
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
