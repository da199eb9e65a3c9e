/* diag.c - collecting diagnostics. */
#include "base/diag.h"

#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/size.h"

void diags_init(struct diags *d)
{
    memset(d, 0, sizeof *d);
    arena_init(&d->arena);
}

void diags_free(struct diags *d)
{
    arena_free(&d->arena);
    if (d->list != &d->reserve)
        et_free(d->list);
    et_free(d->sources);
    diags_init(d);
}

/* Makes room for one more diagnostic, if there is memory. */
static void list_grow(struct diags *d)
{
    if (d->count < d->cap)
        return;
    size_t n = d->cap ? size_mul(d->cap, 2) : 8;
    struct diag *p = et_rearray(d->list, n, sizeof *p);
    if (p != NULL) {
        d->list = p;
        d->cap = n;
    }
}

void diag_vadd(struct diags *d, enum diag_severity sev, const struct diag_pos *pos, const char *tag,
               const char *hint, const char *fmt, va_list ap)
{
    if (sev == DIAG_ERROR && d->errors++ >= DIAG_MAX_ERRORS)
        return;
    if (sev == DIAG_WARNING)
        d->warnings++;
    struct buf text = BUF_INIT;
    buf_vprintf(&text, fmt, ap);
    struct diag g = {
        .severity = sev, .tag = "", .text = et_strerror(ET_ENOMEM), .during = d->during};
    char *t = text.oom ? NULL : arena_strdup(&d->arena, buf_str(&text));
    if (t != NULL)
        g.text = t;
    buf_free(&text);
    if (tag != NULL && (t = arena_strdup(&d->arena, tag)) != NULL)
        g.tag = t;
    if (hint != NULL)
        g.hint = arena_strdup(&d->arena, hint);
    if (pos != NULL && pos->file != NULL) {
        g.pos = *pos;
        g.pos.file = arena_strdup(&d->arena, pos->file);
    }
    if (d->list != &d->reserve)
        list_grow(d);
    if (d->list == NULL) {
        d->list = &d->reserve;
        d->cap = 1;
    }
    if (d->count < d->cap)
        d->list[d->count++] = g;
}

int diag_error(struct diags *d, int err, const struct diag_pos *pos, const char *tag,
               const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_vadd(d, DIAG_ERROR, pos, tag, hint, fmt, ap);
    va_end(ap);
    return err;
}
