/* merge.h - what the tool does with aggregating functions (words/words.h) besides: it finds them by
 * name, makes one value of two threads' or two intervals', and the number that people see of a
 * value's words. */
#ifndef ET_UTIL_MERGE_H
#define ET_UTIL_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "words/words.h"

/* By name; NULL: there is none. */
const struct word_agg_info *word_agg_named(const char *name);
/* Adds the n words of one value to those of another. */
void word_agg_merge(const struct word_agg_info *f, uint64_t *into, const uint64_t *add, unsigned n);

/* What normalize() makes of a number: truncated toward zero; a divisor that is negative as a number
 * is beyond any of them. */
int64_t word_agg_normalized(int64_t v, uint64_t by);
/* The number that is shown of a value of any function but the histograms, divided by normal: as D's
 * integers have it, in 128 bits where sums of squares need them. Of a deviation it is a uint64_t.
 */
int64_t word_agg_number(const struct word_agg_info *f, const uint64_t *words, uint64_t normal);
/* Whether that is a fraction cut off, which those who have real numbers get whole. */
bool word_agg_is_real(const struct word_agg_info *f);
double word_agg_real(const struct word_agg_info *f, const uint64_t *words, uint64_t normal);
/* Order of two values by that number. */
int word_agg_compare(const struct word_agg_info *f, const uint64_t *x, const uint64_t *y);

#endif
