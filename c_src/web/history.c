/* history.c - see history.h. */
#include "util/buftext.h"
#include "web/history.h"
#include "web/hub.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void drop_first(struct history *h)
{
    struct column *c = &h->column[h->first];
    h->bytes -= c->len;
    if (h->shared != NULL)
        atomic_fetch_sub(h->shared, c->len);
    h->dropped = c->n;
    free(c->text);
    h->first = (h->first + 1) % HISTORY_COLUMNS;
    h->n--;
}

void history_init(struct history *h, size_t most, atomic_size_t *shared)
{
    *h = (struct history){.most = most, .shared = shared};
}

void history_free(struct history *h)
{
    while (h->n > 0)
        drop_first(h);
    free(h->column);
    h->column = NULL;
}

static bool is_crowded(const struct history *h, size_t more)
{
    return h->shared != NULL && atomic_load(h->shared) + more > HUB_KEYED;
}

void history_add(struct history *h, uint64_t n, int64_t t, const struct buf *text)
{
    if (h->column == NULL && (h->column = calloc(HISTORY_COLUMNS, sizeof *h->column)) == NULL)
        return;
    char *copy = malloc(text->len);
    if (copy == NULL)
        return;
    memcpy(copy, text->data, text->len);
    while (h->n > 0 && (h->n == HISTORY_COLUMNS || h->bytes + text->len > h->most ||
                        h->column[h->first].t < t - HISTORY_MS || is_crowded(h, text->len)))
        drop_first(h);
    h->column[(h->first + h->n) % HISTORY_COLUMNS] = (struct column){n, t, text->len, copy};
    h->n++;
    h->bytes += text->len;
    if (h->shared != NULL)
        atomic_fetch_add(h->shared, text->len);
}

static const struct column *at(const struct history *h, size_t i)
{
    return &h->column[(h->first + i) % HISTORY_COLUMNS];
}

bool history_columns(const struct history *h, const struct history *keyed, uint64_t after,
                     struct buf *out)
{
    bool any = false;
    for (size_t i = 0, k = 0; i < h->n; i++) {
        const struct column *c = at(h, i);
        if (c->n <= after)
            continue;
        while (k < keyed->n && at(keyed, k)->n < c->n)
            k++;
        if (k < keyed->n && at(keyed, k)->n == c->n)
            c = at(keyed, k);
        buf_adds(out, any ? "," : "{\"type\":\"history\",\"columns\":[");
        buf_add(out, c->text, c->len);
        any = true;
    }
    if (any)
        buf_adds(out, "]}");
    return any;
}

bool history_missed(const struct history *h, uint64_t after, struct buf *out)
{
    bool any = false;
    buf_printf(out, "{\"type\":\"missed\",\"lost\":%" PRIu64 ",\"messages\":[",
               h->dropped > after ? h->dropped - after : 0);
    for (size_t i = 0; i < h->n; i++) {
        const struct column *c = at(h, i);
        if (c->n <= after)
            continue;
        buf_adds(out, any ? "," : "");
        buf_add(out, c->text, c->len);
        any = true;
    }
    buf_adds(out, "]}");
    if (!any)
        buf_reset(out);
    return any;
}
