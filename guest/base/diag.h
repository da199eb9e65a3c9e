/* diag.h - diagnostics: what went wrong, where, and what the user can do next.
 *
 * A `struct diags` collects diagnostics for one compile or one session, in the order of discovery,
 * with the source texts that they point into. util/render.h renders them. All texts are copied into
 * the collection's arena. */
#ifndef ET_BASE_DIAG_H
#define ET_BASE_DIAG_H

#include <stdarg.h>
#include <stddef.h>

#include "base/arena.h"

/* A place in a source text. Lines and columns count from 1; line 0: no position. */
struct diag_pos {
    const char *file; /* name shown; for -n text it is "-n" or the like */
    int line;         /* 1-based */
    int col;          /* 1-based byte column */
    int len;          /* bytes to underline, 0 counts as 1 */
    int at;           /* this line's number in the source, where #line says otherwise; 0: `line` */
};

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag {
    enum diag_severity severity;
    struct diag_pos pos;
    const char *tag;    /* "D_SYNTAX", "NODE_COOKIE"; never NULL, "" when it has none */
    const char *text;   /* one line, no final stop */
    const char *hint;   /* what to do next, or NULL */
    const char *during; /* see struct diags */
};

struct diag_source {
    const char *file; /* as in diag_pos, compared by text */
    const char *text; /* borrowed: must live as long as the collection */
    size_t len;
};

#define DIAG_MAX_ERRORS 20 /* further errors are counted, not kept */

struct diags {
    struct arena arena;
    struct diag *list;
    size_t count, cap;
    struct diag reserve; /* room for one when memory is out, so that the first is never lost */
    struct diag_source *sources;
    size_t nsources, capsources;
    const char *during; /* what is being checked, "in predicate", for dtrace's own form; or NULL.
                           Static text, set by the checker */
    unsigned errors;    /* errors reported, also those not kept */
    unsigned warnings;  /* likewise */
};

void diags_init(struct diags *d);
void diags_free(struct diags *d);
/* Adds a diagnostic. pos, tag and hint may be NULL. */
void diag_vadd(struct diags *d, enum diag_severity sev, const struct diag_pos *pos, const char *tag,
               const char *hint, const char *fmt, va_list ap) __attribute__((format(printf, 6, 0)));
/* Adds an error and returns `err`, so that a caller can write `return diag_error(d, ET_ENODE,
 * ...)`.
 */
int diag_error(struct diags *d, int err, const struct diag_pos *pos, const char *tag,
               const char *hint, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
