/* aggs.c - what aggregating functions are, as aggs.list has it. */
#include "words/words.h"

#include <stddef.h>
#include <string.h>

enum {
    ADD = WORD_ADD,
    LEAST = WORD_LEAST,
    MOST = WORD_MOST,
    ADD_SQUARES = WORD_ADD_SQUARES,
    COUNT = WORD_COUNT,
    NUMBER = WORD_NUMBER,
    AVERAGE = WORD_AVERAGE,
    DEVIATION = WORD_DEVIATION,
    BUCKETS = WORD_BUCKETS,
    BY_PARAMETERS = 0
};

static const struct word_agg_info aggs[WORD_AGGS] = {
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d)                     \
    [num] = {text, values, words, parameters, merge, result},
#include "words/aggs.list"
#undef WORD_AGG
};

const struct word_agg_info *word_agg(unsigned func)
{
    return func < WORD_AGGS && aggs[func].name ? &aggs[func] : NULL;
}

const struct word_agg_info *word_agg_named(const char *name)
{
    for (size_t i = 0; i < WORD_AGGS; i++)
        if (aggs[i].name && strcmp(aggs[i].name, name) == 0)
            return &aggs[i];
    return NULL;
}

void word_agg_start(const struct word_agg_info *f, uint64_t *words, unsigned n)
{
    memset(words, 0, n * sizeof *words);
    if (f->merge == WORD_LEAST)
        words[0] = (uint64_t)INT64_MAX;
    else if (f->merge == WORD_MOST)
        words[0] = (uint64_t)INT64_MIN;
}

void word_agg_merge(const struct word_agg_info *f, uint64_t *into, const uint64_t *add, unsigned n)
{
    __extension__ typedef unsigned __int128 u128;
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
