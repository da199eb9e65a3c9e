/* marks.h - diagnostics of the library as JSON. */
#ifndef ET_WEB_MARKS_H
#define ET_WEB_MARKS_H

#include "base/buf.h"
#include "erltrace.h"

/* Diagnostics of a handle: objects separated by commas, and the first error. */
struct diag_list {
    struct buf text;
    size_t n;
    char tag[48];
    char first[512]; /* text of the first error; "" if none */
    char hint[256];
};

enum { DIAG_MOST = 50 };

void diag_list_free(struct diag_list *l);
void diag_list_reset(struct diag_list *l);
/* An erltrace_diag_fn; arg is the list. */
void diag_list_add(const struct erltrace_diag *d, void *arg);
/* Adds an error that does not come from the library. */
void diag_list_error(struct diag_list *l, const char *tag, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds the handle's error, if no diagnostic has reported one. */
void diag_list_failed(struct diag_list *l, erltrace_t *h);

#endif
