/* hash.h - a hash of bytes. */
#ifndef ET_BASE_HASH_H
#define ET_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Mixes by a 64 x 64 -> 128 bit multiplication, folded. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 u128;
    u128 m = (u128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Returns a 64-bit hash of n bytes: eight bytes a step, fast for the short keys of aggregations.
 * Not safe against adversaries; the tables that use it are bounded. */
static inline uint64_t hash_bytes(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t h = 0x9e3779b97f4a7c15u ^ (n * 0xd6e8feb86659fd93u), w;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&w, p, 8);
        h = hash_mix(h ^ w, 0xa0761d6478bd642fu);
    }
    if (n >= 4) {
        uint32_t lo, hi;
        memcpy(&lo, p, 4);
        memcpy(&hi, p + n - 4, 4);
        h = hash_mix(h ^ (lo | (uint64_t)hi << 32), 0xe7037ed1a0b428dbu);
    } else if (n > 0) {
        w = p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16;
        h = hash_mix(h ^ w, 0xe7037ed1a0b428dbu);
    }
    return hash_mix(h, 0x8ebc6af09c88c6e3u);
}

#endif
