/* history.h - the columns of the last ten minutes, all keys together, for viewers who join late. */
#ifndef ET_WEB_HISTORY_H
#define ET_WEB_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    HISTORY_COLUMNS = 6000,  /* at most */
    HISTORY_MS = 10 * 60000, /* how far back */
    HISTORY_BYTES = 2 << 20  /* of text, at most; at least one column is kept */
};

struct column {
    uint64_t n;
    int64_t t;
    size_t len;
    char *text; /* an object of `columns` */
};

struct history {
    struct column *column; /* a ring of HISTORY_COLUMNS; NULL if there is none */
    size_t first, n;
    size_t bytes;
};

void history_free(struct history *h);
/* Adds a column; omits it if there is no memory. */
void history_add(struct history *h, uint64_t n, int64_t t, const struct buf *text);
/* Writes {"type":"history",...} with the columns after number `after`; returns false if there are
 * none. */
bool history_text(const struct history *h, uint64_t after, struct buf *out);

#endif
