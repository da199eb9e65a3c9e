/* otp.h - the features of OTP releases, as otp.list describes them. */
#ifndef ET_WORDS_OTP_H
#define ET_WORDS_OTP_H

#include <stdbool.h>
#include <stdint.h>

enum otp_feature {
    OTP_ANY, /* every release has this */
#define WORD_OTP(name, first, last, text) OTP_##name,
#include "words/otp.list"
#undef WORD_OTP
    OTP_FEATURES
};

/* Returns whether the release (25, 26, ...) has the feature. Not for events, which use
 * otp_features. */
bool otp_has(int release, enum otp_feature feature);
/* Returns all features of the release: bit 1 << feature for each. */
uint32_t otp_features(int release);

#endif
