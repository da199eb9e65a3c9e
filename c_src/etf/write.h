/* write.h - writes Erlang's external term format into a buffer.
 *
 * libei does that too, but says only call by call that memory was out, and grows what it writes to
 * a hundred bytes at a time; an answer with some thousand aggregations is megabytes. Errors stick
 * in the buffer (buf.h). What is written is not looked at: counts have to be right.
 *
 *   etf_put_version(&b);
 *   etf_put_tuple(&b, 2);
 *   etf_put_atom(&b, "ok");
 *   size_t at = etf_list_begin(&b);
 *   for (...) etf_put_int(&b, ...);
 *   etf_list_finish(&b, at, n);
 */
#ifndef ET_ETF_WRITE_H
#define ET_ETF_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The byte 131 that opens every term sent alone. */
void etf_put_version(struct buf *b);
/* A tuple, of which n parts follow. */
void etf_put_tuple(struct buf *b, uint32_t n);
/* A map, of which n keys follow, each with its value. */
void etf_put_map(struct buf *b, uint32_t n);
/* At most 255 bytes of UTF-8. */
void etf_put_atom(struct buf *b, const char *name);
void etf_put_int(struct buf *b, int64_t v);
void etf_put_uint(struct buf *b, uint64_t v);
/* A float; what no float of Erlang can be becomes nan, infinity or neg_infinity. */
void etf_put_real(struct buf *b, double v);
void etf_put_binary(struct buf *b, const void *p, size_t n);
/* The text as a binary. */
void etf_put_text(struct buf *b, const char *s);
/* A list whose length is known at its end: n elements were written in between. */
size_t etf_list_begin(struct buf *b);
void etf_list_finish(struct buf *b, size_t at, uint32_t n);
/* The same for a map, n keys with their values. */
size_t etf_map_begin(struct buf *b);
void etf_map_finish(struct buf *b, size_t at, uint32_t n);

#endif
