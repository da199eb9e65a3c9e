/* history.h - what a trace has sent, for viewers who join late and pages that come back: readings,
 * or other messages, by their numbers. */
#ifndef ET_WEB_HISTORY_H
#define ET_WEB_HISTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    HISTORY_COLUMNS = 6000,     /* at most */
    HISTORY_MS = 10 * 60000,    /* how far back */
    HISTORY_BYTES = 2 << 20,    /* of text, at most; at least one column is kept */
    HISTORY_KEYED = 8 << 20,    /* the same for readings with keys, */
    HISTORY_RECORDED = 32 << 20 /* ... of a trace that is recorded */
};

struct column {
    uint64_t n;
    int64_t t;
    size_t len;
    char *text; /* an object */
};

struct history {
    struct column *column; /* a ring of HISTORY_COLUMNS; NULL if there is none */
    size_t first, n;
    size_t bytes, most;
    atomic_size_t *shared; /* bytes of several histories, at most HUB_KEYED; NULL: not counted */
    uint64_t dropped;      /* the number of the last object that is not kept any more */
};

void history_init(struct history *h, size_t most, atomic_size_t *shared);
void history_free(struct history *h);
/* Adds an object; omits it if there is no memory. */
void history_add(struct history *h, uint64_t n, int64_t t, const struct buf *text);
/* Writes {"type":"history",...} with the columns after number `after`, from `keyed` if it has them;
 * returns false if there are none. */
bool history_columns(const struct history *h, const struct history *keyed, uint64_t after,
                     struct buf *out);
/* Writes {"type":"missed",...} with the messages after number `after`; returns false if there are
 * none. */
bool history_missed(const struct history *h, uint64_t after, struct buf *out);

#endif
