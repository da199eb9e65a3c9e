/* words.h - the names of D, each written once.
 *
 * The lists beside this file have one row for each built-in variable, subroutine, action,
 * aggregating function and kind of value: its number, its name, its prototype, its type, the
 * language version that introduced it, its tiers, and a line of help. A room expands the columns
 * that it needs by defining the list's macro before it includes the list; the rooms implement the
 * names. `make words` derives from the same rows what other languages need (scripts/dev/words.c).
 */
#ifndef ET_WORDS_WORDS_H
#define ET_WORDS_WORDS_H

#include <stdint.h>

/* A version of the language: 8 bits major, 12 bits minor, 12 bits micro. */
#define SINCE(major, minor, micro) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 12 | (micro))

enum word_tier {
    WORD_LOCAL = 1,
    WORD_VM = 2,
    WORD_KERNEL = 4,
    WORD_ALL = WORD_LOCAL | WORD_VM | WORD_KERNEL
};

enum {
    WORD_KEYS_MAX = 12,      /* keys of an associative array or aggregation */
    WORD_HIST_MAX = 1 << 20, /* buckets of a histogram */
    WORD_BYTES_MAX = 65536   /* bytes of an object that D keeps or copies, and of an array */
};

/* The kinds of statements; the consumer does its part when it reads the record. */
enum word_action {
#define WORD_ACTION(num, name, text, tiers, destr, pleast, pmost, rleast, rmost, d)                \
    ACT_##name = num,
#include "words/actions.list"
#undef WORD_ACTION
    WORD_ACTIONS
};

/* Aggregating functions; 0 is none. */
enum word_agg {
    AGG_NONE,
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d) AGG_##name = num,
#include "words/aggs.list"
#undef WORD_AGG
    WORD_AGGS
};

/* How the words of two threads, or of two intervals, are merged into one value. */
enum word_merge {
#define WORD_MERGE(name, first, others, text) WORD_##name,
#include "words/aggs.list"
#undef WORD_AGG
};
/* What to show of a value. */
enum word_result {
#define WORD_RESULT(name, text) WORD_##name,
#include "words/aggs.list"
#undef WORD_AGG
};
/* A row of aggs.list, which explains the columns. */
struct word_agg_info {
    const char *name;   /* "lquantize" */
    uint8_t values;     /* taken by an update */
    uint8_t words;      /* of a value; 0: the parameters decide */
    uint8_t parameters; /* constants of the aggregation */
    uint8_t merge;      /* enum word_merge */
    uint8_t result;     /* enum word_result */
};
/* Returns the function with that number; NULL: none. */
const struct word_agg_info *word_agg(unsigned func);
/* Fills in the n words of a value to which nothing was added so far. */
void word_agg_start(const struct word_agg_info *f, uint64_t *words, unsigned n);

#endif
