/* profile.h - aggregations with stacks as keys, seen as profiles: what the formats `pprof` and
 * `speedscope` share with each other, and with text under stackform=folded.
 *
 * A profile's rows are an aggregation's. The stack is the row's stack; where there are two, the
 * kernel's is called by the user's. Other keys are words: frames above the root, or labels. */
#ifndef ET_RESULT_PROFILE_H
#define ET_RESULT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "result/report.h"
#include "util/table.h"

/* Returns whether rows with these keys have a stack. */
bool profile_keys(const struct dif_keys *keys);
/* Returns whether a program has an aggregation with a stack among its keys. */
bool profile_of(const struct dif_image *img);
/* Returns the value of a row: the number that text shows; of a histogram how many values are in
 * it. */
int64_t profile_value(const struct aggr *a, const uint64_t *words);
/* Returns the unit of these values, in the words that pprof and speedscope share: "count" for what
 * counts; otherwise that which the aggregation's name says (ns us ms s bytes), or "". */
const char *profile_unit(const struct aggr *a);
/* Returns the title of the values: the aggregation's name, "samples" for @ = count(), and the
 * function for other aggregations without a name. */
const char *profile_title(const struct aggr *a);
/* Appends a row as folded stacks have it: other keys, the stack, all separated by ';'. */
void profile_fold(const struct report *r, const struct aggr *a, const struct aggr_row *row,
                  struct buf *out);
/* Appends the text of a key that is no stack. Control characters are written out. */
void profile_word(const struct report *r, const struct value *v, struct buf *out);

/* A numbered set of byte strings. Numbers are given from 0, in order of arrival. */
struct profile_set {
    struct arena *arena;
    struct hash index;
    const struct profile_item {
        const void *bytes; /* in the arena; texts have a NUL after them */
        size_t len;
        size_t number;
    } * *item;
    size_t n, cap;
};
/* Returns the number of a string, which is added if it is new. Memory exhaustion sets *oom and
 * gives 0. */
size_t profile_number(struct profile_set *s, const void *bytes, size_t len, bool *oom);
void profile_set_free(struct profile_set *s);

/* A frame by the numbers of its texts in a set. */
struct profile_frame {
    uint32_t name, file; /* file: number of "" when it is not known */
    uint32_t line;       /* 0: unknown */
};
/* Calls fn for each frame of a row, the leaf first. */
typedef void (*profile_frame_fn)(void *arg, const struct profile_frame *f);
void profile_frames(const struct report *r, const struct aggr *a, const struct aggr_row *row,
                    struct profile_set *texts, bool *oom, profile_frame_fn fn, void *arg);

#endif
