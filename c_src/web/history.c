/* history.c - see history.h. */
#include "util/buftext.h"
#include "web/history.h"

#include <stdlib.h>
#include <string.h>

static void drop_first(struct history *h)
{
    struct column *c = &h->column[h->first];
    h->bytes -= c->len;
    free(c->text);
    h->first = (h->first + 1) % HISTORY_COLUMNS;
    h->n--;
}

void history_free(struct history *h)
{
    while (h->n > 0)
        drop_first(h);
    free(h->column);
    h->column = NULL;
}

void history_add(struct history *h, uint64_t n, int64_t t, const struct buf *text)
{
    if (h->column == NULL && (h->column = calloc(HISTORY_COLUMNS, sizeof *h->column)) == NULL)
        return;
    char *copy = malloc(text->len);
    if (copy == NULL)
        return;
    memcpy(copy, text->data, text->len);
    while (h->n > 0 && (h->n == HISTORY_COLUMNS || h->bytes + text->len > HISTORY_BYTES ||
                        h->column[h->first].t < t - HISTORY_MS))
        drop_first(h);
    h->column[(h->first + h->n) % HISTORY_COLUMNS] = (struct column){n, t, text->len, copy};
    h->n++;
    h->bytes += text->len;
}

bool history_text(const struct history *h, uint64_t after, struct buf *out)
{
    bool any = false;
    for (size_t i = 0; i < h->n; i++) {
        const struct column *c = &h->column[(h->first + i) % HISTORY_COLUMNS];
        if (c->n <= after)
            continue;
        buf_adds(out, any ? "," : "{\"type\":\"history\",\"columns\":[");
        buf_add(out, c->text, c->len);
        any = true;
    }
    if (any)
        buf_adds(out, "]}");
    return any;
}
