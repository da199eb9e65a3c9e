/* model.h - the aggregations of a trace as pages see them: keys with numbers, and what was added in
 * each interval.
 *
 * The library's table says what an aggregation holds now, after whatever the script has cleared and
 * truncated. A heat map needs what came in each second. So for each key is kept what it held at the
 * last reading (`base`) and what was thrown away since then (`lost`, mod 2^64): the addition of an
 * interval is now + lost - base, exactly. What is thrown away is seen because the library lets a
 * handler of actions walk: model_before is to be called before a clear() or trunc() acts, and
 * model_after after a trunc(), which finds out by looking which keys are gone.
 *
 * Keys are numbered as they come (keys.h). What there is no room for goes to one key for all others
 * (number -1) and is taken out of the library's table, so that neither grows.
 *
 * Belongs to the thread of the trace. */
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

/* From the aggregations of a compiled handle; *keys: the bytes of the keys of all models. NULL, and
 * *why in one line. */
struct model *model_new(erltrace_t *h, atomic_size_t *keys, const char **why);
void model_free(struct model *m);
/* How many aggregations there are. */
size_t model_size(const struct model *m);
/* [{"id":0,"name":"@lat",...}]: what `started` says of them. */
void model_describe(const struct model *m, struct buf *out);

/* Inside an erltrace_data_fn, before the aggregation of that name is cleared (all its values go),
 * or truncated (some keys go); and after the truncation. */
void model_before(struct model *m, erltrace_t *h, const char *name);
void model_after(struct model *m, erltrace_t *h, const char *name);

/* A reading: writes {"type":"results",...} to `results`, and to `column` the same for all keys
 * together, for the history. t, dt: ms. 0, or -1: out of memory, or the walk failed. */
int model_read(struct model *m, erltrace_t *h, uint64_t n, int64_t t, int64_t dt,
               struct buf *results, struct buf *column);
/* {"type":"state",...} as of the last reading. */
void model_state(const struct model *m, uint64_t n, int64_t t, uint64_t skipped, struct buf *out);

#endif
