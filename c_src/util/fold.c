/* fold.c - see fold.h. */
#include "util/buftext.h"
#include "util/fold.h"

#include <string.h>

#define SECOND UINT64_C(1000000000)

static void tell(struct fold_line *l, uint64_t now, fold_fn fn, void *arg)
{
    uint64_t more = l->more;
    if (more == 0)
        return;
    l->more = 0;
    l->told = now;
    fn(arg, buf_str(&l->text), l->text.len, more);
}

/* Returns room for another line. */
static struct fold_line *room(struct fold *f, uint64_t now, fold_fn fn, void *arg)
{
    struct fold_line *oldest = &f->line[0];
    if (f->n < FOLD_LINES)
        return &f->line[f->n++];
    for (size_t i = 1; i < f->n; i++)
        if (f->line[i].last < oldest->last)
            oldest = &f->line[i];
    tell(oldest, now, fn, arg);
    return oldest;
}

bool fold_comes(struct fold *f, const char *text, size_t len, uint64_t now, fold_fn fn, void *arg)
{
    struct fold_line *l;
    for (size_t i = 0; i < f->n; i++) {
        l = &f->line[i];
        if (l->text.len != len || memcmp(buf_str(&l->text), text, len) != 0)
            continue;
        l->last = now;
        l->more++;
        if (now - l->told >= SECOND)
            tell(l, now, fn, arg);
        return false;
    }
    l = room(f, now, fn, arg);
    buf_reset(&l->text);
    buf_add(&l->text, text, len);
    if (l->text.oom) /* then the line is shown, and not recognized when it repeats */
        buf_reset(&l->text);
    l->last = l->told = now;
    l->more = 0;
    return true;
}

void fold_tell(struct fold *f, uint64_t now, bool all, fold_fn fn, void *arg)
{
    for (size_t i = 0; i < f->n; i++)
        if (all || now - f->line[i].told >= SECOND)
            tell(&f->line[i], now, fn, arg);
}

void fold_free(struct fold *f)
{
    for (size_t i = 0; i < f->n; i++)
        buf_free(&f->line[i].text);
    f->n = 0;
}
