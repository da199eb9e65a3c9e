/* port_queue.c - items that wait for the owner. See port_queue.h.
 *
 * One buffer: new items go to its end, and the oldest is at `at`. The space before `at` is
 * reclaimed when it is more than half of the whole. */
#include "port/port_queue.h"

#include <string.h>

void port_queue_init(struct port_queue *q, size_t limit)
{
    *q = (struct port_queue){.limit = limit > PORT_QUEUE_LEAST ? limit : PORT_QUEUE_LEAST};
}

void port_queue_free(struct port_queue *q)
{
    buf_free(&q->items);
}

bool port_queue_add(struct port_queue *q, const struct buf *item, bool event)
{
    uint32_t len = (uint32_t)item->len;
    size_t have = q->items.len - q->at, limit = q->limit + (event ? PORT_QUEUE_EVENTS : 0);
    if (item->oom || item->len > UINT32_MAX)
        return !item->oom;
    if (have + sizeof len + len > limit) {
        q->dropped++;
        return true;
    }
    if (q->at > q->items.len / 2) {
        memmove(q->items.data, q->items.data + q->at, have);
        q->items.len = have;
        q->at = 0;
    }
    if (!buf_reserve(&q->items, sizeof len + len))
        return false;
    buf_add(&q->items, &len, sizeof len);
    buf_add(&q->items, item->data, len);
    q->n++;
    return true;
}

const void *port_queue_take(struct port_queue *q, size_t *len)
{
    uint32_t n;
    if (q->n == 0)
        return NULL;
    memcpy(&n, q->items.data + q->at, sizeof n);
    const void *item = q->items.data + q->at + sizeof n;
    q->at += sizeof n + n;
    q->n--;
    if (q->n == 0) /* its bytes stay valid until something is added */
        q->at = q->items.len = 0;
    *len = n;
    return item;
}
