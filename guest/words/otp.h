/* otp.h - what an OTP release has, as otp.list says. */
#ifndef ET_WORDS_OTP_H
#define ET_WORDS_OTP_H

#include <stdbool.h>
#include <stdint.h>

enum otp_feature {
    OTP_ANY, /* what every release has */
#define WORD_OTP(name, first, last, text) OTP_##name,
#include "words/otp.list"
#undef WORD_OTP
    OTP_FEATURES
};

/* Whether the release (25, 26, ...) has it. Not for events: those look into otp_features. */
bool otp_has(int release, enum otp_feature feature);
/* All that the release has: bit 1 << feature for each. */
uint32_t otp_features(int release);

#endif
