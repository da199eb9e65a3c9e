/* merge.c - finds aggregating functions by name, merges values, and computes the numbers to show.
 */
#include "util/merge.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

const struct word_agg_info *word_agg_named(const char *name)
{
    for (unsigned i = 0; i < WORD_AGGS; i++) {
        const struct word_agg_info *f = word_agg(i);
        if (f != NULL && strcmp(f->name, name) == 0)
            return f;
    }
    return NULL;
}

void word_agg_merge(const struct word_agg_info *f, uint64_t *into, const uint64_t *add, unsigned n)
{
    switch ((enum word_merge)f->merge) {
    case WORD_LEAST: into[0] = (int64_t)add[0] < (int64_t)into[0] ? add[0] : into[0]; return;
    case WORD_MOST: into[0] = (int64_t)add[0] > (int64_t)into[0] ? add[0] : into[0]; return;
    case WORD_ADD_SQUARES: {
        uint64_t *low = &into[n - 2];
        u128 sum = ((u128)low[1] << 64 | low[0]) + ((u128)add[n - 1] << 64 | add[n - 2]);
        low[0] = (uint64_t)sum;
        low[1] = (uint64_t)(sum >> 64);
        n -= 2;
        break;
    }
    case WORD_ADD: break;
    }
    for (unsigned i = 0; i < n; i++)
        into[i] += add[i];
}

/* -- numbers to show --------------------------------------------------------------------------- */

int64_t word_agg_normalized(int64_t v, uint64_t by)
{
    return by > INT64_MAX ? 0 : v / (int64_t)by;
}

static uint64_t isqrt(u128 v)
{
    u128 root = 0, bit = (u128)1 << 126;
    while (bit > v)
        bit >>= 2;
    for (; bit != 0; bit >>= 2) {
        if (v >= root + bit) {
            v -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (uint64_t)root;
}

/* words: the count and the sum; for a deviation also the sum of squares, low word first. */
static int64_t average(const uint64_t *words, uint64_t normal)
{
    if (words[0] == 0)
        return 0;
    return word_agg_normalized(word_agg_normalized((int64_t)words[1], normal), words[0]);
}

static u128 squares_of(const uint64_t *words)
{
    return (u128)words[3] << 64 | words[2];
}

static uint64_t deviation(const uint64_t *words, uint64_t normal)
{
    if (words[0] == 0)
        return 0;
    u128 squares = squares_of(words) / normal / normal / words[0];
    int64_t avg = average(words, normal);
    uint64_t m = avg < 0 ? 0 - (uint64_t)avg : (uint64_t)avg;
    u128 square = (u128)m * m;
    return squares > square ? isqrt(squares - square) : 0;
}

int64_t word_agg_number(const struct word_agg_info *f, const uint64_t *words, uint64_t normal)
{
    switch ((enum word_result)f->result) {
    case WORD_AVERAGE: return average(words, normal);
    case WORD_DEVIATION: return (int64_t)deviation(words, normal);
    default: return word_agg_normalized((int64_t)words[0], normal);
    }
}

bool word_agg_is_real(const struct word_agg_info *f)
{
    return f->result == WORD_AVERAGE || f->result == WORD_DEVIATION;
}

/* Returns the root of the mean square less the square of the mean. Computes in more than double,
 * since the two can be large and close together. */
static double real_deviation(const uint64_t *words, uint64_t normal)
{
    long double n = (long double)(int64_t)words[0];
    if (n <= 0)
        return 0;
    long double mean = (long double)(int64_t)words[1] / n;
    long double square =
        ((long double)words[3] * 18446744073709551616.0L + (long double)words[2]) / n;
    long double variance = square - mean * mean;
    return variance > 0 ? (double)(sqrtl(variance) / (long double)normal) : 0;
}

double word_agg_real(const struct word_agg_info *f, const uint64_t *words, uint64_t normal)
{
    int64_t count = (int64_t)words[0], sum = (int64_t)words[1];
    switch ((enum word_result)f->result) {
    case WORD_AVERAGE: return count != 0 ? (double)sum / (double)count / (double)normal : 0;
    case WORD_DEVIATION: return real_deviation(words, normal);
    default: return (double)word_agg_number(f, words, normal);
    }
}

int word_agg_compare(const struct word_agg_info *f, const uint64_t *x, const uint64_t *y)
{
    int64_t u = word_agg_number(f, x, 1), v = word_agg_number(f, y, 1);
    if (f->result == WORD_DEVIATION)
        return ((uint64_t)u > (uint64_t)v) - ((uint64_t)u < (uint64_t)v);
    return (u > v) - (u < v);
}
