/* merge.c - aggregating functions by name, and values that become one. */
#include "util/merge.h"

#include <stddef.h>
#include <string.h>

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
