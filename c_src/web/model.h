/* model.h - the aggregations of a trace as pages see them: numbered keys, and the amount added in
 * each interval.
 *
 * The library's table says what an aggregation holds now, after everything that the script has
 * cleared and truncated. A heat map needs what was added in each second. So the model stores for
 * each key its value at the last reading (`base`) and the amount removed since then (`lost`, mod
 * 2^64); the amount added in an interval is exactly now + lost - base. The model notices removals
 * because the library lets a handler of actions walk: call model_before before a clear() or trunc()
 * acts, and model_after after a trunc(), to find out which keys are gone.
 *
 * Keys are numbered in order of arrival (keys.h). Keys that there is no room for are combined into
 * one key (number -1) and taken out of the library's table, so that neither grows.
 *
 * A model belongs to the thread of its trace. */
#ifndef ET_WEB_MODEL_H
#define ET_WEB_MODEL_H

#include <stdatomic.h>

#include "base/buf.h"
#include "erltrace.h"

enum {
    MODEL_BUCKETS = 200000, /* of all aggregations */
    MODEL_KEPT = 64 << 10   /* bytes of a buffer that is kept for the next message */
};

struct model;

/* Creates a model from the aggregations of a compiled handle. *keys: the bytes of the keys of all
 * models. NULL: *why is one line. */
struct model *model_new(erltrace_t *h, atomic_size_t *keys, const char **why);
void model_free(struct model *m);
/* Returns the number of aggregations. */
size_t model_size(const struct model *m);
/* Writes [{"id":0,"name":"@lat",...}], the description of the aggregations in `started`. */
void model_describe(const struct model *m, struct buf *out);

/* Call from inside an erltrace_data_fn: model_before before the aggregation of that name is cleared
 * (all its values are removed) or truncated (some keys are removed), model_after after a
 * truncation. */
void model_before(struct model *m, erltrace_t *h, const char *name);
void model_after(struct model *m, erltrace_t *h, const char *name);

/* Makes a reading: writes {"type":"results",...} to `results`, and to `column` the same for all
 * keys together, for the history. t, dt: ms. Returns 0, or -1: out of memory, or the walk
 * failed. */
int model_read(struct model *m, erltrace_t *h, uint64_t n, int64_t t, int64_t dt,
               struct buf *results, struct buf *column);
/* Writes {"type":"state",...} as of the last reading. */
void model_state(const struct model *m, uint64_t n, int64_t t, uint64_t skipped, struct buf *out);

#endif
