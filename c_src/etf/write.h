/* write.h - writes Erlang's external term format into a buffer.
 *
 * libei does that too, but it reports exhausted memory only call by call, and grows its buffer a
 * hundred bytes at a time; an answer with some thousand aggregations is megabytes. Here errors
 * stick in the buffer (buf.h). The writer does not check what it writes: counts must be right.
 *
 *   etf_put_version(&b);
 *   etf_put_tuple(&b, 2);
 *   etf_put_atom(&b, "ok");
 *   size_t at = etf_list_begin(&b);
 *   for (...) etf_put_int(&b, ...);
 *   etf_list_finish(&b, at, n); */
#ifndef ET_ETF_WRITE_H
#define ET_ETF_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include <ei.h>

#include "base/buf.h"

/* Writes the byte 131 that opens every term sent alone. */
void etf_put_version(struct buf *b);
/* Begins a tuple; its n elements follow. */
void etf_put_tuple(struct buf *b, uint32_t n);
/* Begins a map; its n keys follow, each with its value. */
void etf_put_map(struct buf *b, uint32_t n);
/* Writes an atom; its name is UTF-8. */
void etf_put_atom(struct buf *b, const char *name);
void etf_put_int(struct buf *b, int64_t v);
void etf_put_uint(struct buf *b, uint64_t v);
/* Writes a float. NaN and infinities, which Erlang's floats lack, become the atoms nan, infinity
 * and neg_infinity. */
void etf_put_real(struct buf *b, double v);
void etf_put_binary(struct buf *b, const void *p, size_t n);
/* Writes the text as a binary. */
void etf_put_text(struct buf *b, const char *s);
/* Writes the name of a process. */
void etf_put_pid(struct buf *b, const erlang_pid *pid);
/* Writes the bytes of a text as a list of integers, at most 65535 of them. */
void etf_put_string(struct buf *b, const char *s);
/* Begins a list; its n elements follow, then its tail, etf_put_nil. The empty list is the tail
 * alone. */
void etf_put_list(struct buf *b, size_t n);
void etf_put_nil(struct buf *b);
/* Begins a list whose length is known only at its end, and ends it after n elements. `at` is what
 * etf_list_begin returned. */
size_t etf_list_begin(struct buf *b);
void etf_list_finish(struct buf *b, size_t at, uint32_t n);
/* The same for a map of n keys with their values. */
size_t etf_map_begin(struct buf *b);
void etf_map_finish(struct buf *b, size_t at, uint32_t n);

#endif
