/* merge.h - what the tool does with aggregating functions (words/words.h) besides: it finds them by
 * name, and makes one value of two threads' or two intervals'. */
#ifndef ET_UTIL_MERGE_H
#define ET_UTIL_MERGE_H

#include "words/words.h"

/* By name; NULL: there is none. */
const struct word_agg_info *word_agg_named(const char *name);
/* Adds the n words of one value to those of another. */
void word_agg_merge(const struct word_agg_info *f, uint64_t *into, const uint64_t *add, unsigned n);

#endif
