/* port_queue.h - what the owner has not asked for yet: records and events, as terms, oldest first.
 *
 * It has room for so many bytes. What finds none is counted, not kept; the queue's user tells the
 * owner of that with what it gives out next. */
#ifndef ET_PORT_PORT_QUEUE_H
#define ET_PORT_PORT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct port_queue {
    size_t limit;     /* bytes; of events, which are few and told once, a little more */
    struct buf items; /* each a length (native, 4 bytes) and its term */
    size_t at;        /* where the oldest one is */
    uint64_t n;       /* items that wait */
    uint64_t dropped; /* items that found no room, since the start */
    uint64_t told;    /* ... as of the last time that the owner was told */
};

enum { PORT_QUEUE_LEAST = 64 << 10, PORT_QUEUE_EVENTS = 64 << 10 };

void port_queue_init(struct port_queue *q, size_t limit);
void port_queue_free(struct port_queue *q);
/* Adds the term in `item`, or counts it. False when memory is out. */
bool port_queue_add(struct port_queue *q, const struct buf *item, bool event);
/* The oldest item, *len bytes that live until the next call; NULL: there is none. It is not there
 * any more then. */
const void *port_queue_take(struct port_queue *q, size_t *len);

#endif
