/* marks.c - see marks.h. */
#include "web/marks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/buftext.h"
#include "util/json.h"

static const char *const severities[] = {
    [ERLTRACE_ERROR] = "error", [ERLTRACE_WARNING] = "warning", [ERLTRACE_NOTE] = "note"};

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
    buf_adds(b, "\"severity\":");
    json_text(b, severities[d->severity]);
    json_text_field(b, "tag", d->tag);
    json_text_field(b, "text", d->text);
    json_text_field(b, "hint", d->hint);
    json_text_field(b, "file", d->file);
    json_safe_int_field(b, "line", d->line);
    json_safe_int_field(b, "column", d->column);
    json_safe_int_field(b, "length", d->length);
    json_text_field(b, "source", d->source);
    json_text_field(b, "rendered", d->rendered);
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
