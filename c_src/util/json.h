/* json.h - writes the pieces that lines and messages of JSON are made of. Texts are written by
 * buf_json (buftext.h); errors stick in the buffer. Keys are ours: nothing in them is escaped.
 *
 *   buf_adds(&b, "{\"type\":\"probe\"");
 *   json_uint_field(&b, "id", p->id);
 *   json_text_field(&b, "name", p->name);
 *   buf_addc(&b, '}');
 */
#ifndef ET_UTIL_JSON_H
#define ET_UTIL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends all digits of a number. Most of the output is numbers, so that this avoids printf. */
void json_int(struct buf *b, int64_t v);
void json_uint(struct buf *b, uint64_t v);
/* For readers whose numbers are doubles, such as browsers: appends an integer beyond +-(2^53 - 1)
 * as a string of its digits (doc/web-protocol.md). json_wide takes 128 bits, two's complement. */
void json_safe_int(struct buf *b, int64_t v);
void json_safe_uint(struct buf *b, uint64_t v);
void json_wide(struct buf *b, uint64_t low, uint64_t high);
/* Appends a number with `digits` significant digits. JSON cannot express infinity and not-a-number:
 * these become strings. */
void json_float(struct buf *b, long double v, int digits);
/* Appends the text as a string; NULL becomes null. */
void json_text(struct buf *b, const char *s);
/* Appends bytes as a string of hexadecimal digits, two for each byte. */
void json_hex(struct buf *b, const char *p, size_t n);

/* Appends "key": for the first member. */
void json_first_key(struct buf *b, const char *key);
/* Appends ,"key": of a further member. The functions below append its value as well. */
void json_key(struct buf *b, const char *key);
void json_int_field(struct buf *b, const char *key, int64_t v);
void json_uint_field(struct buf *b, const char *key, uint64_t v);
void json_safe_int_field(struct buf *b, const char *key, int64_t v);
void json_text_field(struct buf *b, const char *key, const char *s);
void json_bool_field(struct buf *b, const char *key, bool v);

#endif
