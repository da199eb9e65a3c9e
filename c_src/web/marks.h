/* marks.h - diagnostics of the library as JSON. */
#ifndef ET_WEB_MARKS_H
#define ET_WEB_MARKS_H

#include "base/buf.h"
#include "erltrace.h"

/* What a handle has said: objects with commas between them, and the first error. */
struct diag_list {
    struct buf text;
    size_t n;
    char tag[48];
    char first[512]; /* the first error's text; "" */
    char hint[256];
};

enum { DIAG_MOST = 50 };

void diag_list_free(struct diag_list *l);
void diag_list_reset(struct diag_list *l);
/* An erltrace_diag_fn; arg is the list. */
void diag_list_add(const struct erltrace_diag *d, void *arg);
/* An error that is not of the library. */
void diag_list_error(struct diag_list *l, const char *tag, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The handle's error, if no diagnostic has said one. */
void diag_list_failed(struct diag_list *l, erltrace_t *h);

#endif
