/* hub.c - see hub.h. */
#include "web/hub.h"

#include <stdlib.h>
#include <string.h>

int hub_init(struct hub *h, const struct web_config *config, void (*wake)(void *), void *arg)
{
    *h = (struct hub){.config = config, .wake = wake, .wake_arg = arg, .next_trace = 1};
    return pthread_mutex_init(&h->lock, NULL);
}

void hub_free(struct hub *h)
{
    pthread_mutex_destroy(&h->lock);
}

struct packet *packet_make(struct hub *h, enum packet_kind kind, const struct buf *text)
{
    struct packet *p = text->oom ? NULL : malloc(sizeof *p + text->len);
    if (p == NULL)
        return NULL;
    *p = (struct packet){.hub = h, .kind = kind, .len = text->len};
    atomic_fetch_add(&h->held, p->len);
    atomic_init(&p->refs, 1);
    if (text->len > 0)
        memcpy(p->text, text->data, text->len);
    return p;
}

void packet_drop(struct packet *p)
{
    if (p == NULL || atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    atomic_fetch_sub(&p->hub->held, p->len);
    free(p);
}

void viewer_init(struct viewer *v)
{
    memset(v, 0, sizeof *v);
    v->tail = &v->head;
}

static void unlink_first(struct viewer *v, struct queued **at)
{
    struct queued *q = *at;
    *at = q->next;
    if (v->tail == &q->next)
        v->tail = at;
    v->queued--;
    v->queued_bytes -= q->packet->len;
    v->queued_results -= q->packet->kind == PACKET_RESULT;
    free(q);
}

void viewer_clear(struct viewer *v)
{
    while (v->head != NULL) {
        struct packet *p = v->head->packet;
        unlink_first(v, &v->head);
        packet_drop(p);
    }
    packet_drop(v->sending);
    v->sending = NULL;
    buf_free(&v->in);
}

/* Returns whether the packet may be dropped when there is too much. */
static bool is_spare(const struct packet *p)
{
    return p->kind != PACKET_KEPT && p->kind != PACKET_FIRST;
}

static void skip(struct viewer *v, const struct packet *p)
{
    v->skipped += p->kind == PACKET_RESULT;
    v->skipped_rows += p->kind == PACKET_ROWS ? p->n : 0;
}

/* Drops everything that need not arrive. */
static void fall_behind(struct viewer *v)
{
    v->behind = true;
    for (struct queued **at = &v->head; *at != NULL;) {
        struct packet *p = (*at)->packet;
        if (!is_spare(p)) {
            at = &(*at)->next;
            continue;
        }
        skip(v, p);
        if (p->kind == PACKET_RESULT && p->n <= v->last)
            v->last = p->n - 1;
        unlink_first(v, at);
        packet_drop(p);
    }
}

void viewer_forget(struct viewer *v)
{
    for (struct queued **at = &v->head; *at != NULL;) {
        struct packet *p = (*at)->packet;
        if (p->kind == PACKET_KEPT) {
            at = &(*at)->next;
            continue;
        }
        unlink_first(v, at);
        packet_drop(p);
    }
    v->trace = NULL;
    v->next = NULL;
    v->wants_start = v->warned = v->wants_state = v->behind = false;
    v->skipped = v->skipped_rows = v->last = v->news = 0;
    v->rejoins = false;
    v->page[0] = '\0';
}

/* Returns whether the packet is too long to wait for a slow viewer when much is already waiting. */
static bool is_too_much(const struct packet *p)
{
    return p->kind == PACKET_FIRST && p->len > HUB_LARGE && atomic_load(&p->hub->held) > HUB_HELD;
}

void viewer_push(struct viewer *v, struct packet *p)
{
    if (p == NULL || is_too_much(p))
        v->hopeless = true;
    if (v->hopeless)
        return;
    bool kept = !is_spare(p);
    if (!kept && !v->behind && v->queued > 0 &&
        (v->queued_results >= HUB_QUEUE_RESULTS || v->queued_bytes + p->len > HUB_QUEUE_BYTES ||
         v->queued >= HUB_QUEUE_MESSAGES / 2))
        fall_behind(v);
    if (!kept && (v->behind || v->wants_state)) {
        skip(v, p);
        return;
    }
    struct queued *q = v->queued < HUB_QUEUE_MESSAGES ? malloc(sizeof *q) : NULL;
    if (q == NULL) {
        v->hopeless = true;
        return;
    }
    atomic_fetch_add(&p->refs, 1);
    *q = (struct queued){NULL, p};
    *v->tail = q;
    v->tail = &q->next;
    v->queued++;
    v->queued_bytes += p->len;
    v->queued_results += p->kind == PACKET_RESULT;
    if (p->kind == PACKET_RESULT)
        v->last = p->n;
}

void hub_send(struct hub *h, struct viewer *v, const struct buf *text)
{
    struct packet *p = packet_make(h, PACKET_KEPT, text);
    pthread_mutex_lock(&h->lock);
    viewer_push(v, p);
    pthread_mutex_unlock(&h->lock);
    packet_drop(p);
    h->wake(h->wake_arg);
}

struct packet *hub_next(struct hub *h, struct viewer *v)
{
    struct packet *p = NULL;
    pthread_mutex_lock(&h->lock);
    if (v->head != NULL) {
        p = v->head->packet;
        unlink_first(v, &v->head);
    } else if (v->behind) {
        v->behind = false;
        v->wants_state = v->trace != NULL && !v->wants_start;
    }
    pthread_mutex_unlock(&h->lock);
    return p;
}
