/* aggr.h - the consumer's merged aggregations.
 *
 * A table holds one `struct aggr` for each aggregation of the image. What a thread or a node added
 * to a key is merged here by (aggregation, key bytes). clear, trunc and normalize act on this table
 * only; a key that was removed comes back with the next update. Entries stay where they are until
 * they are truncated away; the words and keys of an entry are owned by it. */
#ifndef ET_RESULT_AGGR_H
#define ET_RESULT_AGGR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result/value.h"
#include "dif/dif.h"
#include "util/table.h"

struct aggr_entry {
    uint64_t *words;   /* the merged value, as dif_agg_words says */
    struct value *key; /* decoded keys; their text points into raw */
    uint8_t *raw;      /* the key as received */
    size_t rawlen;
    uint64_t *cpu; /* aggpercpu: the words of CPU 0, of CPU 1, ...; or NULL */
    uint32_t ncpus;
    bool gone; /* aggr_sweep will remove it */
};

struct aggr {
    const struct dif_agg *def;
    const struct word_agg_info *fn; /* of def->func */
    const char *name;               /* without the @; "_" for the anonymous one */
    unsigned nwords;
    unsigned stride; /* of values in memory: the words, and 1 if they are lower bounds, else 0 */
    uint64_t normal; /* shown values are divided by it; 1 by default */
    uint64_t *none;  /* the start value */
    bool printed;    /* printa() has shown it: the final printout omits it */
    bool stacks;     /* there are stacks of processes among its keys */
    struct aggr_entry **entry; /* in order of arrival */
    size_t n, cap;
    struct hash index; /* key bytes -> entry */
};

struct aggr_table {
    struct aggr *aggr; /* as many as the image has, with the same numbers */
    uint32_t n;
    uint32_t ncpus; /* number of CPUs, as far as known */
};

/* The image must outlive the table. 0 or ET_ENOMEM. */
int aggr_table_init(struct aggr_table *t, const struct dif_image *img);
void aggr_table_free(struct aggr_table *t);

#define AGGR_LOWER ">=" /* before a lower bound */
/* Returns whether the value is a lower bound: one of the sizes in it was too large to count. */
static inline bool aggr_lower(const struct aggr *a, const uint64_t *words)
{
    return words[a->nwords] != 0;
}

/* Merges what was added to one key. Returns 0,
 * ET_ENOMEM, or ET_EIMAGE when it does not fit the aggregation. */
int aggr_merge(struct aggr_table *t, uint32_t agg, const uint8_t *key, size_t keylen,
               const uint64_t *words, size_t nwords);
/* With aggpercpu, also merges what one CPU has added. */
int aggr_merge_cpu(struct aggr_table *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                   size_t keylen, const uint64_t *words, size_t nwords);
/* Notes that a value under this key, which is there, was a lower bound. */
void aggr_mark_lower(struct aggr_table *t, uint32_t agg, const uint8_t *key, size_t keylen);
/* Returns the words that a CPU has of this aggregation under the key of `of`, or the start value.
 */
const uint64_t *aggr_cpu_words(const struct aggr *a, const struct aggr_entry *of, uint32_t cpu);
/* Compares two entries, of one aggregation or of two: by value, and by keys from key_pos on. Of
 * keys with different types a number comes before text; of lists with the same beginning the
 * shorter one. */
int aggr_compare_values(const struct aggr *a, const struct aggr_entry *x, const struct aggr *b,
                        const struct aggr_entry *y);
int aggr_compare_keys(const struct aggr *a, const struct aggr_entry *x, const struct aggr *b,
                      const struct aggr_entry *y, size_t key_pos);
/* Resets one value to its start. */
void aggr_clear_entry(const struct aggr *a, struct aggr_entry *e);
/* Removes the entries that are marked as gone. Returns 0 or ET_ENOMEM. */
int aggr_sweep(struct aggr *a);
/* Resets values to their start (min and max included); keys stay. */
void aggr_clear(struct aggr *a);
/* Changes keys: `change` is called for each part of each key, with its bytes, and returns whether
 * it has changed them, not their number. Entries whose keys have become the same are merged.
 * Returns 0 or ET_ENOMEM. */
int aggr_rekey(struct aggr_table *t,
               bool (*change)(void *arg, const struct value *v, uint8_t *bytes), void *arg);
/* Removes every entry. */
void aggr_empty(struct aggr *a);
/* Keeps the n largest entries, or the -n smallest; by value, then key. Returns 0 or ET_ENOMEM. */
int aggr_trunc(struct aggr *a, int64_t n);

/* Returns the value to show, of any function but the histograms: normalized, averaged. */
int64_t aggr_number(const struct aggr *a, const uint64_t *words);

/* How to sort rows, and how many of them are kept; from the options of the same names. */
struct aggr_order {
    bool by_key;    /* aggsortkey */
    bool reverse;   /* aggsortrev */
    size_t key_pos; /* aggsortkeypos */
    size_t pos;     /* aggsortpos */
    size_t rows;    /* aggrows: the last ones, or the first ones of those in reverse; 0: all */
};

/* One or several aggregations joined by key and sorted. */
struct aggr_row {
    const struct aggr_entry *key; /* one with this key */
    const uint64_t **words;       /* of each aggregation; zeros where it lacks the key */
};
struct aggr_view {
    const struct aggr **aggr;
    size_t naggrs;
    struct aggr_row *row;
    size_t nrows;
    uint64_t *zeros; /* the value of a missing entry */
};
/* Makes a view. aggs: numbers of aggregations with one key signature; a number may occur twice. The
 * view is valid until the next change of the table. Returns 0 or ET_ENOMEM. */
int aggr_view_make(struct aggr_view *v, const struct aggr_table *t, const uint32_t *aggs, size_t n,
                   const struct aggr_order *order);
void aggr_view_free(struct aggr_view *v);

#endif
