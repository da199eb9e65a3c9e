/* merge.h - the tool's additions to aggregating functions (words/words.h): finds them by name,
 * merges the values of two threads or of two intervals, and computes the number to show for a
 * value's words. */
#ifndef ET_UTIL_MERGE_H
#define ET_UTIL_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "words/words.h"

/* Returns the function of that name; NULL: none. */
const struct word_agg_info *word_agg_named(const char *name);
/* Adds the n words of one value to those of another. */
void word_agg_merge(const struct word_agg_info *f, uint64_t *into, const uint64_t *add, unsigned n);

/* Returns a number as normalize() changes it: divided and truncated toward zero. A divisor beyond
 * INT64_MAX gives 0. */
int64_t word_agg_normalized(int64_t v, uint64_t by);
/* Returns the number shown for a value of any function but the histograms, divided by normal: in
 * D's integers, with 128 bits where sums of squares need them. For a deviation it is a uint64_t. */
int64_t word_agg_number(const struct word_agg_info *f, const uint64_t *words, uint64_t normal);
/* Returns whether that number is a truncated fraction, which readers with real numbers get in full.
 */
bool word_agg_is_real(const struct word_agg_info *f);
double word_agg_real(const struct word_agg_info *f, const uint64_t *words, uint64_t normal);
/* Compares two values by that number. */
int word_agg_compare(const struct word_agg_info *f, const uint64_t *x, const uint64_t *y);

#endif
