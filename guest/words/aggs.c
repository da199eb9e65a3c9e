/* aggs.c - what aggregating functions are, as aggs.list has it. */
#include "words/words.h"

#include <stddef.h>
#include <string.h>

enum { BY_PARAMETERS = 0 };

static const struct word_agg_info aggs[WORD_AGGS] = {
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d)                     \
    [num] = {text, values, words, parameters, WORD_##merge, WORD_##result},
#include "words/aggs.list"
#undef WORD_AGG
};

const struct word_agg_info *word_agg(unsigned func)
{
    return func < WORD_AGGS && aggs[func].name ? &aggs[func] : NULL;
}

void word_agg_start(const struct word_agg_info *f, uint64_t *words, unsigned n)
{
    memset(words, 0, n * sizeof *words);
    if (f->merge == WORD_LEAST)
        words[0] = (uint64_t)INT64_MAX;
    else if (f->merge == WORD_MOST)
        words[0] = (uint64_t)INT64_MIN;
}
