/* web_value.h - the value of an aggregation for one key: its words, their meaning, how they are
 * added, and the row of a message made from them.
 *
 * The words of sums are computed mod 2^64, those of stddev's square mod 2^128, so that differences
 * of values that have wrapped around are correct all the same. */
#ifndef ET_WEB_WEB_VALUE_H
#define ET_WEB_WEB_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum shape {
    SHAPE_WORDS,  /* numbers that are added: count, sum, avg; a row has all of them */
    SHAPE_STDDEV, /* count, sum, and a square of two words */
    SHAPE_MIN,    /* one number, the smallest */
    SHAPE_MAX,    /* the largest */
    SHAPE_BUCKETS /* counts; a row has the nonzero ones with their numbers */
};

/* The kind of an aggregation: all its values have it. */
struct value_kind {
    enum shape shape;
    unsigned nwords;
};

/* Numbers of keys that stand for several. */
enum { VALUE_OTHERS = -1, VALUE_ALL = -2 };

/* Returns the kind, from the name of the aggregating function. */
struct value_kind value_kind(const char *function, size_t nbuckets);
/* Sets a value to its start: zero, or the "nothing" of min and max. */
void value_start(struct value_kind kind, uint64_t *words);
/* Computes to += from. Only for kinds that are added, as are all functions up to is_extreme. */
void value_add(struct value_kind kind, uint64_t *to, const uint64_t *from);
/* Computes to -= from. */
void value_subtract(struct value_kind kind, uint64_t *to, const uint64_t *from);
/* Computes to = from - to. */
void value_difference(struct value_kind kind, uint64_t *to, const uint64_t *from);

/* Returns whether the kind is min or max. */
bool value_is_extreme(struct value_kind kind);
/* Returns whether a word of min or max means that there was no value. */
bool value_is_nothing(struct value_kind kind, uint64_t word);
/* Returns the smaller value for min, the larger for max. */
int64_t value_more_extreme(struct value_kind kind, int64_t x, int64_t y);

/* Appends a row, preceded by a comma if it is not the first: [number, values...]. Returns false and
 * appends nothing if there is nothing to report, because all values are zero or nothing. */
bool value_row(struct buf *out, struct value_kind kind, int64_t number, const uint64_t *words);

#endif
