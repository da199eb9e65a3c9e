/* label.h - the lower bounds ("labels") that buckets stand for; dif.h maps values to buckets. */
#ifndef ET_RESULT_LABEL_H
#define ET_RESULT_LABEL_H

#include <stdint.h>

/* Returns the label of a bucket. Bucket 0 is INT64_MIN's, shown as its power. */
int64_t label_quantize(unsigned bucket);
/* Returns the bound of the bin nearest to zero: for positive bins their lower bound, for negative
 * bins minus it; for the underflow bin 0; for the overflow bins X and -X. The parameters must be
 * legal. */
int64_t label_llquantize(unsigned bucket, int64_t factor, int64_t low, int64_t high, int64_t steps);

#endif
