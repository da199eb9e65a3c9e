/* buf.h - a growable byte buffer, always NUL-terminated when it holds anything.
 *
 * Errors stick: after an allocation failed, further calls do nothing and `oom` is set, so that a
 * writer checks once at its end. */
#ifndef ET_BASE_BUF_H
#define ET_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *data; /* NUL after data[len - 1]; NULL while nothing was ever written */
    size_t len; /* bytes written, the NUL not counted */
    size_t cap; /* bytes allocated */
    bool oom;   /* an allocation failed; the content is what came before */
};

#define BUF_INIT                                                                                   \
    {                                                                                              \
        0                                                                                          \
    }

void buf_free(struct buf *b);
/* Empties the buffer and keeps its memory; clears `oom`. */
void buf_reset(struct buf *b);
/* Makes room for n more bytes; false when memory is out. */
bool buf_reserve(struct buf *b, size_t n);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_fill(struct buf *b, char c, size_t n);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Little-endian integers, for binary formats. */
void buf_u8(struct buf *b, uint8_t v);
void buf_u16(struct buf *b, uint16_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);
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
/* The text, or "" while nothing was written. */
const char *buf_str(const struct buf *b);

/* The matching reader. Reading past the end sets `bad` and gives zeros. */
struct rdr {
    const uint8_t *p;   /* next byte */
    const uint8_t *end; /* one past the last */
    bool bad;           /* something was missing */
};

static inline size_t rdr_left(const struct rdr *r)
{
    return (size_t)(r->end - r->p);
}
uint8_t rdr_u8(struct rdr *r);
uint16_t rdr_u16(struct rdr *r);
uint32_t rdr_u32(struct rdr *r);
uint64_t rdr_u64(struct rdr *r);
/* n bytes in place, NULL (and `bad`) when fewer are left. */
const void *rdr_bytes(struct rdr *r, size_t n);

#endif
