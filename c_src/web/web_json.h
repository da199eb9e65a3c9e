/* web_json.h - the few parts of JSON that messages consist of; strings are base's buf_json.
 *
 * A reader in a browser has doubles, so an integer beyond +-(2^53 - 1) is written as a string of
 * its digits (doc/web-protocol.md). */
#ifndef ET_WEB_WEB_JSON_H
#define ET_WEB_WEB_JSON_H

#include <stdint.h>

#include "base/buf.h"

void json_int(struct buf *b, int64_t v);
void json_uint(struct buf *b, uint64_t v);
/* Writes a 128-bit integer in two's complement. */
void json_wide(struct buf *b, uint64_t low, uint64_t high);
/* Writes the text as a string, or null. */
void json_text(struct buf *b, const char *s);
/* Writes ,"key": and so on; key is ours and needs no escaping. */
void json_key(struct buf *b, const char *key);
void json_int_field(struct buf *b, const char *key, int64_t v);
void json_text_field(struct buf *b, const char *key, const char *s);
void json_bool_field(struct buf *b, const char *key, bool v);

#endif
