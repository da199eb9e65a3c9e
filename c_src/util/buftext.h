/* buftext.h - the tool's additions to buffers (base/buf.h): text, JSON, and text that is safe for a
 * terminal.
 *
 * The guest fills buffers with bytes only, so that none of this enters a node. */
#ifndef ET_UTIL_BUFTEXT_H
#define ET_UTIL_BUFTEXT_H

#include "base/buf.h"

/* Returns a copy from et_malloc; NULL when memory is out. */
char *et_strdup(const char *s);

/* Empties the buffer but keeps its memory; clears `oom`. */
void buf_reset(struct buf *b);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_fill(struct buf *b, char c, size_t n);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Little-endian, as the integers of base/buf.h. */
void buf_u64(struct buf *b, uint64_t v);
uint16_t rdr_u16(struct rdr *r);
/* Returns the length of the UTF-8 sequence at s, which has n > 0 bytes; 0 when it is not one. */
size_t buf_utf8_len(const unsigned char *s, size_t n);
/* Appends the text as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD;
 * characters that could steer a terminal (buf_visible) are escaped. */
void buf_json(struct buf *b, const char *s, size_t n);
/* Appends a text for a terminal, or for a line that people read, with the bytes that could steer a
 * terminal written out. Control characters (below 0x20, 0x7f) and bytes that are not UTF-8 become
 * \n, \t ... or \033; U+0080 to U+009F, and the characters that change the direction of a text or
 * end its line (U+2028 to U+202E, U+2066 to U+2069), become \u009b and the like. With `lines`
 * newlines and tabs stay: the text is a whole message of erltrace, whose parts were made visible
 * before. */
void buf_visible(struct buf *b, const char *s, size_t n, bool lines);
/* Appends one byte as if it stood alone. */
void buf_visible_byte(struct buf *b, unsigned char c);
/* Makes a part of a line visible, in `room`, which is emptied first. */
const char *buf_shown(struct buf *room, const char *s);

#endif
