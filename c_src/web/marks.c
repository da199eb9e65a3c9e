/* marks.c - see marks.h. */
#include "web/marks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/buftext.h"
#include "event/event.h"

void diag_list_free(struct diag_list *l)
{
    buf_free(&l->text);
}

void diag_list_reset(struct diag_list *l)
{
    buf_reset(&l->text);
    l->n = 0;
    l->tag[0] = l->first[0] = l->hint[0] = '\0';
}

void diag_list_add(const struct erltrace_diag *d, void *arg)
{
    struct diag_list *l = arg;
    struct buf *b = &l->text;
    if (d->severity == ERLTRACE_ERROR && l->first[0] == '\0') {
        snprintf(l->tag, sizeof l->tag, "%s", d->tag);
        snprintf(l->first, sizeof l->first, "%s", d->text);
        snprintf(l->hint, sizeof l->hint, "%s", d->hint != NULL ? d->hint : "");
    }
    if (l->n++ >= DIAG_MOST)
        return;
    buf_adds(b, b->len > 0 ? ",{" : "{");
    event_json(b, EVENT_DIAGNOSTIC, EVENT_PAGE, d);
    buf_addc(b, '}');
}

void diag_list_error(struct diag_list *l, const char *tag, const char *hint, const char *fmt, ...)
{
    char text[512], rendered[900];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(rendered, sizeof rendered, "erltrace: error: %s%s%s\n", text,
             hint != NULL ? "\n  " : "", hint != NULL ? hint : "");
    const struct erltrace_diag d = {
        .severity = ERLTRACE_ERROR, .tag = tag, .text = text, .hint = hint, .rendered = rendered};
    diag_list_add(&d, l);
}

void diag_list_failed(struct diag_list *l, erltrace_t *h)
{
    if (l->first[0] == '\0')
        diag_list_error(l, "", NULL, "%s", erltrace_errmsg(h, erltrace_errno(h)));
}
