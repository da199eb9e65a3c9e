/* fold.h - folds repeated lines: shows the first, and counts the others each second.
 *
 * A fold remembers a fixed number of different lines. A new line replaces the one that has been
 * quiet longest, whose count is shown first. */
#ifndef ET_UTIL_FOLD_H
#define ET_UTIL_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { FOLD_LINES = 16 };

struct fold_line {
    struct buf text;
    uint64_t more; /* repetitions since it was last shown or counted */
    uint64_t last; /* when it last came, ns */
    uint64_t told; /* when it was last shown or counted, ns */
};
struct fold {
    struct fold_line line[FOLD_LINES];
    size_t n;
};

/* Shows that a line came `more` times again. */
typedef void (*fold_fn)(void *arg, const char *text, size_t len, uint64_t more);

/* Takes in a line. Returns true if it is to be shown, false if it was counted. */
bool fold_comes(struct fold *f, const char *text, size_t len, uint64_t now, fold_fn fn, void *arg);
/* Shows the counts of lines that were last shown or counted at least a second ago; all: every
 * count. */
void fold_tell(struct fold *f, uint64_t now, bool all, fold_fn fn, void *arg);
void fold_free(struct fold *f);

#endif
