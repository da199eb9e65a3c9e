/* web_value.h - what an aggregation holds for one key: some words, what they mean, how they are
 * added up, and the row of a message that they become.
 *
 * Words of sums are taken mod 2^64, those of stddev's square mod 2^128, so that differences of what
 * has wrapped around are right all the same. */
#ifndef ET_WEB_WEB_VALUE_H
#define ET_WEB_WEB_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum shape {
    SHAPE_WORDS,  /* numbers that are added: count, sum, avg; a row has them all */
    SHAPE_STDDEV, /* count, sum, and a square of two words */
    SHAPE_MIN,    /* one number, the smallest */
    SHAPE_MAX,    /* the largest */
    SHAPE_BUCKETS /* counts; a row has those that are not zero, with their numbers */
};

/* Of an aggregation: all its values are alike. */
struct value_kind {
    enum shape shape;
    unsigned nwords;
};

/* Keys that stand for several. */
enum { VALUE_OTHERS = -1, VALUE_ALL = -2 };

/* By the name of the aggregating function. */
struct value_kind value_kind(const char *function, size_t nbuckets);
/* What a value is at first: zero, or the "nothing" of min and max. */
void value_start(struct value_kind kind, uint64_t *words);
/* to += from; of kinds that are added, as all below until is_extreme. */
void value_add(struct value_kind kind, uint64_t *to, const uint64_t *from);
/* to -= from */
void value_subtract(struct value_kind kind, uint64_t *to, const uint64_t *from);
/* to = from - to */
void value_difference(struct value_kind kind, uint64_t *to, const uint64_t *from);

/* Whether it is min or max. */
bool value_is_extreme(struct value_kind kind);
/* Whether a word of min or max says that there was no value. */
bool value_is_nothing(struct value_kind kind, uint64_t word);
/* The smaller one for min, the larger for max. */
int64_t value_more_extreme(struct value_kind kind, int64_t x, int64_t y);

/* Appends a row, with a comma if it is not the first: [number, values...]. False: there is nothing
 * to say, since all is zero or nothing; then nothing is appended. */
bool value_row(struct buf *out, struct value_kind kind, int64_t number, const uint64_t *words);

#endif
