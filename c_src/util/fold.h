/* fold.h - lines that repeat: the first is shown, of the others a count each second.
 *
 * A fold remembers a fixed number of different lines. Another line takes the place of the one that
 * has been quiet longest, whose count is shown first. */
#ifndef ET_UTIL_FOLD_H
#define ET_UTIL_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { FOLD_LINES = 16 };

struct fold_line {
    struct buf text;
    uint64_t more; /* how often it has come since it was shown, or counted */
    uint64_t last; /* when it came last, ns */
    uint64_t told; /* when it was shown, or counted, ns */
};
struct fold {
    struct fold_line line[FOLD_LINES];
    size_t n;
};

/* Shows that a line has come so often again. */
typedef void (*fold_fn)(void *arg, const char *text, size_t len, uint64_t more);

/* A line has come. True: it is to be shown; false: it is counted. */
bool fold_comes(struct fold *f, const char *text, size_t len, uint64_t now, fold_fn fn, void *arg);
/* Tells what has been counted for a second; all: whatever has been counted. */
void fold_tell(struct fold *f, uint64_t now, bool all, fold_fn fn, void *arg);
void fold_free(struct fold *f);

#endif
