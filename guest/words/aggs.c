/* aggs.c - the aggregating functions, as aggs.list describes them. */
#include "words/words.h"

#include <stddef.h>

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
    static const struct {
        int64_t first, others;
    } starts[] = {
#define WORD_MERGE(name, first, others, text) [WORD_##name] = {first, others},
#include "words/aggs.list"
#undef WORD_AGG
    };
    for (unsigned i = 0; i < n; i++)
        words[i] = (uint64_t)(i == 0 ? starts[f->merge].first : starts[f->merge].others);
}
