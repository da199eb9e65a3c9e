/* mutate.h - changes program images as such, for the targets that take one. */
#ifndef ET_TEST_FUZZ_MUTATE_H
#define ET_TEST_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dif/dif.h"

/* How many of the bytes are the image at their beginning, as its header says; all of them when it
 * says more. */
size_t image_length(const uint8_t *data, size_t size);
/* Makes the header say that all of the bytes are the image. */
void image_set_length(uint8_t *data, size_t size);

/* libFuzzer's custom mutator for an image with bytes behind it. With `sound`, the verifier accepts
 * what comes out if it accepted what went in. */
size_t mutate(uint8_t *data, size_t size, size_t max, unsigned seed, bool sound);
/* The same with the verifier of another tier than the local one. */
size_t mutate_for(enum word_tier tier, uint8_t *data, size_t size, size_t max, unsigned seed,
                  bool sound);
/* libFuzzer's cross-over of such inputs: a's image, with what is behind b's. */
size_t cross_over(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *out,
                  size_t max, unsigned seed);

/* libFuzzer's names for what a target may bring along. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t max, unsigned seed);

#endif
