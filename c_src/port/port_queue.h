/* port_queue.h - what the owner has not requested yet: records and events, as terms, oldest first.
 *
 * The queue has a limit in bytes. Items beyond it are counted, not kept; the queue's user reports
 * them to the owner with its next answer. */
#ifndef ET_PORT_PORT_QUEUE_H
#define ET_PORT_PORT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct port_queue {
    size_t limit;     /* bytes; events, which are few and reported once, may exceed it a little */
    struct buf items; /* each a length (native, 4 bytes) and its term */
    size_t at;        /* position of the oldest item */
    uint64_t n;       /* waiting items */
    uint64_t dropped; /* items that found no room, since the start */
    uint64_t told;    /* the same at the time of the last report to the owner */
};

enum { PORT_QUEUE_LEAST = 64 << 10, PORT_QUEUE_EVENTS = 64 << 10 };

void port_queue_init(struct port_queue *q, size_t limit);
void port_queue_free(struct port_queue *q);
/* Adds the term in `item`, or counts it as dropped. Returns false if out of memory. */
bool port_queue_add(struct port_queue *q, const struct buf *item, bool event);
/* Removes and returns the oldest item, *len bytes that live until the next call; NULL: there is
 * none. */
const void *port_queue_take(struct port_queue *q, size_t *len);

#endif
