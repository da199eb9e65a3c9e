/* field.h - the fixed layouts of single values: trace() (language.md 8.2), rows of aggregations
 * (7.3), and the hex dump (8.3). */
#ifndef ET_RESULT_FIELD_H
#define ET_RESULT_FIELD_H

#include "base/buf.h"
#include "result/aggr.h"
#include "result/symbol.h"
#include "result/value.h"

/* Appends what trace() shows. raw: everything as a hex dump. show: enum value_show. */
void field_trace(const struct value *v, bool quiet, bool raw, unsigned show, struct buf *out);
/* Appends what tracemem() shows: all of the bytes, or as many as its third argument (nparts 2)
 * says. */
void field_tracemem(const struct value *v, size_t nparts, struct buf *out);
/* Returns how many bytes tracemem() shows. */
size_t field_tracemem_size(const struct value *v, size_t nparts);
/* Appends one key of a row. strsize is the option of that name: a string key has a buffer of
 * strsize + 1 bytes. */
void field_key(const struct value *v, uint32_t strsize, bool raw, unsigned show,
               const struct symbols *s, struct buf *out);
/* Appends one key as a word of other output, without columns: bytes that are not text in
 * hexadecimal. Not for stacks. */
void field_word(const struct value *v, unsigned show, const struct symbols *s, struct buf *out);
/* Appends what stack(), sym() and the like show in a record. */
void field_place(const struct value *v, bool raw, unsigned show, const struct symbols *s,
                 struct buf *out);
/* Appends the value of a row; a histogram with its leading newline. */
void field_aggr(const struct aggr *a, const uint64_t *words, bool zoom, struct buf *out);
/* Appends a hex dump of n bytes, of which only the first `have` are at p and the rest are zero.
 * Appends nothing when n is 0. */
void field_hex(const void *p, size_t have, size_t n, struct buf *out);
/* Returns whether a block of n bytes counts as text: printable bytes, then only NULs, and not
 * empty. */
bool field_printable(const char *s, size_t len, size_t n);

#endif
