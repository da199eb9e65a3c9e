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
    char *data; /* NUL after data[len - 1]; NULL until something is written */
    size_t len; /* bytes written, the NUL not counted */
    size_t cap; /* bytes allocated */
    bool oom;   /* an allocation failed; the content is what was written before */
};

#define BUF_INIT                                                                                   \
    {                                                                                              \
        0                                                                                          \
    }

void buf_free(struct buf *b);
/* Makes room for n more bytes. Returns false when memory is out. */
bool buf_reserve(struct buf *b, size_t n);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Little-endian integers, for binary formats. */
void buf_u8(struct buf *b, uint8_t v);
void buf_u16(struct buf *b, uint16_t v);
void buf_u32(struct buf *b, uint32_t v);
/* Returns the text, or "" when nothing was written. */
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
uint32_t rdr_u32(struct rdr *r);
uint64_t rdr_u64(struct rdr *r);
/* Returns n bytes in place; NULL (and sets `bad`) when fewer are left. */
const void *rdr_bytes(struct rdr *r, size_t n);

#endif
