/* otp.c - the features of OTP releases, as otp.list describes them. */
#include "words/otp.h"

static const struct {
    int first, last; /* last 0: no last one is known */
} releases[OTP_FEATURES] = {
#define WORD_OTP(name, first, last, text) [OTP_##name] = {first, last},
#include "words/otp.list"
#undef WORD_OTP
};

_Static_assert(8 * sizeof(uint32_t) >= OTP_FEATURES, "a bit for each");

bool otp_has(int release, enum otp_feature feature)
{
    return release >= releases[feature].first &&
           (releases[feature].last == 0 || release <= releases[feature].last);
}

uint32_t otp_features(int release)
{
    uint32_t all = 0;
    for (unsigned i = 0; i < OTP_FEATURES; i++)
        if (otp_has(release, (enum otp_feature)i))
            all |= UINT32_C(1) << i;
    return all;
}
