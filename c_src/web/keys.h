/* keys.h - the keys of an aggregation: a table from their texts to numbers and values.
 *
 * Keys are numbered as they come, and there are at most KEYS_MOST of them, KEYS_BYTES for all
 * aggregations of a trace, and KEYS_SHARED for all traces; whatever comes beyond that is the one
 * key `others`, which is not in the table. Keys that a trunc() has removed are `gone`: they stay
 * while there is room, so that they have their number again when they come back, in a list from the
 * oldest to the newest, and the oldest go first when room is needed.
 *
 * What always holds: a key is in the table from when it was made until it is forgotten; it is in
 * the list of those that are gone if and only if `gone`; what a room says is taken is the sum of
 * the sizes of all keys that share it. */
#ifndef ET_WEB_KEYS_H
#define ET_WEB_KEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "erltrace.h"
#include "web/web_value.h"

enum { KEYS_MOST = 20000, KEYS_BYTES = 32 << 20, KEYS_SHARED = 256 << 20 };

/* Bytes that are taken: by the aggregations of one trace, and by those of all. */
struct keys_room {
    size_t taken;
    atomic_size_t *shared;
};

struct key {
    struct key *next;          /* with the same hash, or nearly */
    struct key *older, *newer; /* of those that are gone, in the order in which they went */
    uint64_t hash;
    uint64_t *base; /* what it held at the last reading; nwords */
    uint64_t *lost; /* what was thrown away since; NULL: nothing */
    int64_t beyond; /* min, max: the value before it was cleared, if `seen` */
    uint32_t number;
    uint32_t mark; /* the last walk that has met it */
    bool fresh;    /* not announced yet */
    bool gone;     /* removed by trunc() */
    bool told;     /* ... and announced as such */
    bool seen;
    size_t len;  /* of text */
    char text[]; /* ,"lists:map/2",3: its parts as JSON, each with its comma */
};

struct keys {
    struct value_kind kind;
    struct key **slot; /* a power of two of them */
    size_t nslots, n;
    struct key *oldest, *newest; /* of those that are gone */
    uint32_t next;               /* number of the next key */
    struct key *others;          /* of all that there was no room for */
};

/* False: out of memory. To be freed in any case. */
bool keys_init(struct keys *t, struct value_kind kind);
void keys_free(struct keys *t, struct keys_room *room);

/* Writes the text of an entry's key over what the buffer holds. */
void keys_text(struct buf *b, const struct erltrace_aggr *a);
/* The key of a text: known, new, or `others` when there is no room for a new one. NULL: out
 * of memory. */
struct key *keys_get(struct keys *t, const struct buf *text, struct keys_room *room);
/* A key was removed; it is there again. */
void keys_bury(struct keys *t, struct key *k);
void keys_revive(struct keys *t, struct key *k);
/* All keys of the table, in any order: the first when k is NULL, the one after k; NULL at the end.
 */
struct key *keys_each(const struct keys *t, const struct key *k);

#endif
