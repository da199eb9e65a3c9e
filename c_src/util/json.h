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

/* The digits of a number, all of them. Numbers are most of what is written, so that they are made
 * without printf. */
void json_int(struct buf *b, int64_t v);
void json_uint(struct buf *b, uint64_t v);
/* For readers whose numbers are doubles, as a browser's: an integer beyond +-(2^53 - 1) is written
 * as a string of its digits (doc/web-protocol.md). json_wide takes 128 bits, two's complement. */
void json_safe_int(struct buf *b, int64_t v);
void json_safe_uint(struct buf *b, uint64_t v);
void json_wide(struct buf *b, uint64_t low, uint64_t high);
/* With `digits` significant digits. JSON has no words for infinity and not-a-number: these are
 * strings. */
void json_real(struct buf *b, long double v, int digits);
/* The text as a string; NULL is null. */
void json_text(struct buf *b, const char *s);
/* Bytes as a string of hexadecimal digits, two for each. */
void json_hex(struct buf *b, const char *p, size_t n);

/* "key": */
void json_first_key(struct buf *b, const char *key);
/* ,"key": and the value. */
void json_key(struct buf *b, const char *key);
void json_int_field(struct buf *b, const char *key, int64_t v);
void json_uint_field(struct buf *b, const char *key, uint64_t v);
void json_safe_int_field(struct buf *b, const char *key, int64_t v);
void json_text_field(struct buf *b, const char *key, const char *s);
void json_bool_field(struct buf *b, const char *key, bool v);

#endif
