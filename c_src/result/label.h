/* label.h - the lower bounds ("labels") that buckets stand for; dif.h has the way there. */
#ifndef ET_RESULT_LABEL_H
#define ET_RESULT_LABEL_H

#include <stdint.h>

/* Bucket 0 is INT64_MIN's, shown as its power. */
int64_t label_quantize(unsigned bucket);
/* The bound of the bin nearest to zero: positive bins their lower bound, negative bins minus it;
 * the underflow bin 0; overflow bins X and -X. The parameters are legal ones. */
int64_t label_llquantize(unsigned bucket, int64_t factor, int64_t low, int64_t high, int64_t steps);

#endif
