/* buftext.h - what the tool does with buffers (base/buf.h) besides: text, JSON, and what a terminal
 * may show.
 *
 * The guest fills buffers with bytes alone, so none of this enters a node. */
#ifndef ET_UTIL_BUFTEXT_H
#define ET_UTIL_BUFTEXT_H

#include "base/buf.h"

/* A copy from et_malloc; NULL when memory is out. */
char *et_strdup(const char *s);

/* Empties the buffer and keeps its memory; clears `oom`. */
void buf_reset(struct buf *b);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_fill(struct buf *b, char c, size_t n);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Little-endian, as the integers of base/buf.h. */
void buf_u64(struct buf *b, uint64_t v);
uint16_t rdr_u16(struct rdr *r);
/* Bytes of the UTF-8 sequence at s, which has n > 0 bytes; 0 when it is not one. */
size_t buf_utf8_len(const unsigned char *s, size_t n);
/* The text as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD; what could
 * steer a terminal (buf_visible) is escaped. */
void buf_json(struct buf *b, const char *s, size_t n);
/* What of a text reaches a terminal, or a line that people read: bytes that could steer a terminal
 * are written out. Control characters (below 0x20, 0x7f) and bytes that are no UTF-8 become \n,
 * \t ... or \033; U+0080 to U+009F, and what turns the direction of a text or ends its line (U+2028
 * to U+202E, U+2066 to U+2069), \u009b. With `lines` newlines and tabs stay: the text is a whole
 * one of ours, whose parts were made visible before. */
void buf_visible(struct buf *b, const char *s, size_t n, bool lines);
/* One byte of it, as if it stood alone. */
void buf_visible_byte(struct buf *b, unsigned char c);
/* A part of a line, visible: in `room`, which is emptied first. */
const char *buf_shown(struct buf *room, const char *s);

#endif
