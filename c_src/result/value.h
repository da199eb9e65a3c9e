/* value.h - the one place that turns the bytes of records and keys into values.
 *
 * A part is encoded as record.h says: integers little-endian in their size, strings as u32 length
 * and bytes, byte blocks as they are. A value borrows the text it points at from the bytes it was
 * read from. */
#ifndef ET_RESULT_VALUE_H
#define ET_RESULT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dif/dif.h"

struct value {
    uint8_t kind;  /* enum dif_kind */
    uint32_t size; /* bytes of the type, not of the text */
    int64_t i;     /* integers: sign- or zero-extended by their kind */
    const char *s; /* strings and blocks: not NUL-terminated, borrowed */
    size_t len;    /* bytes of s */
};

/* How texts are shown: with characters that steer a terminal written out; with modules as Elixir
 * names them. */
enum value_show { SHOW_VISIBLE = 1 << 0, SHOW_ELIXIR = 1 << 1 };

/* Reads n values of these types from the bytes at p. Returns 0, or ET_EIMAGE when the bytes do not
 * match the types exactly. */
int values_parse(const struct dif_type *type, size_t n, const uint8_t *p, size_t len,
                 struct value *out);

static inline bool value_is_int(const struct value *v)
{
    return v->kind == DIF_INT || v->kind == DIF_UINT;
}
/* Returns a float of any size. */
long double value_float(const struct value *v);
/* Returns the integer in its own width without sign: (int)-1 is 0xffffffff. */
uint64_t value_unsigned(const struct value *v);

/* Appends an integer in decimal. Faster than printf; a busy trace is mostly integers. */
void value_decimal(int64_t v, bool is_signed, struct buf *out);

/* Compares two keys of one type: integers unsigned, text bytewise. Returns a negative number, 0 or
 * a positive one. */
int value_compare(const struct value *a, const struct value *b);

#endif
