/* keys.h - the keys of an aggregation: a table from their texts to numbers and values.
 *
 * Keys are numbered in order of arrival. There are at most KEYS_MOST of them, KEYS_BYTES for all
 * aggregations of a trace, and KEYS_SHARED for all traces. Everything beyond that goes to the
 * single key `others`, which is not in the table. Keys that a trunc() has removed are `gone`: they
 * stay while there is room, in a list from the oldest to the newest, so that they get the same
 * number if they return. The oldest are forgotten first when room is needed.
 *
 * Invariants: a key is in the table from its creation until it is forgotten; it is in the list of
 * removed keys if and only if `gone`; a room's `taken` is the sum of the sizes of all keys that
 * share it. */
#ifndef ET_WEB_KEYS_H
#define ET_WEB_KEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "erltrace.h"
#include "web/web_value.h"

enum { KEYS_MOST = 20000, KEYS_BYTES = 32 << 20, KEYS_SHARED = 256 << 20 };

/* Bytes in use: by the aggregations of one trace, and by those of all traces. */
struct keys_room {
    size_t taken;
    atomic_size_t *shared;
};

struct key {
    struct key *next;          /* in the same slot of the table */
    struct key *older, *newer; /* of the removed keys, in order of removal */
    uint64_t hash;
    uint64_t *base; /* its value at the last reading; nwords */
    uint64_t *lost; /* sum of the values removed since; NULL: none */
    int64_t beyond; /* min, max: the value before it was cleared, if `seen` */
    uint32_t number;
    uint32_t mark; /* the last walk that met the key */
    bool fresh;    /* not yet announced */
    bool gone;     /* removed by trunc() */
    bool told;     /* ... and announced as removed */
    bool seen;
    bool lower;  /* its value is a lower bound, which was announced; of `others`: was, at this
                    reading */
    size_t len;  /* of text */
    char text[]; /* ,"lists:map/2",3: its parts as JSON, each with its comma */
};

struct keys {
    struct value_kind kind;
    struct key **slot; /* a power of two of them */
    size_t nslots, n;
    struct key *oldest, *newest; /* of the removed keys */
    uint32_t next;               /* the number of the next new key */
    struct key *others;          /* for everything that there was no room for */
};

/* Returns false if out of memory. Call keys_free in any case. */
bool keys_init(struct keys *t, struct value_kind kind);
void keys_free(struct keys *t, struct keys_room *room);

/* Replaces the buffer's contents with the text of an entry's key. */
void keys_text(struct buf *b, const struct erltrace_aggr *a);
/* Returns the key of a text: known, new, or `others` if there is no room for a new one. NULL: out
 * of memory. */
struct key *keys_get(struct keys *t, const struct buf *text, struct keys_room *room);
/* keys_bury marks a key as removed, keys_revive marks it as present again. */
void keys_bury(struct keys *t, struct key *k);
void keys_revive(struct keys *t, struct key *k);
/* Iterates over all keys of the table, in any order: returns the first if k is NULL, else the one
 * after k; NULL at the end. */
struct key *keys_each(const struct keys *t, const struct key *k);

#endif
