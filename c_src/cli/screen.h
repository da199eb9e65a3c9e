/* screen.h - where a trace's output goes, and the status line.
 *
 * This is the only place that writes to stdout and stderr while a trace runs. The status line is
 * shown on a terminal's stderr and erased before anything else is written to that terminal; it is
 * never drawn on a line that already holds output.
 *
 * Everything that comes from a node or a file passes through buf_visible here, except the program's
 * own output: it goes to a file unchanged, and to a terminal unchanged with the option rawoutput.
 * Parts that could contain a newline are made visible where they are assembled. */
#ifndef ET_CLI_SCREEN_H
#define ET_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/fold.h"
#include "erltrace.h"

struct screen {
    FILE *out;          /* stdout, or the file of -o */
    bool json;          /* errors go to out as JSON as well */
    bool status;        /* a status line may be shown */
    bool out_tty;       /* output shares the terminal with the status line */
    bool shown;         /* the status line is on the screen */
    bool mid_line;      /* the last output did not end its line */
    bool broken;        /* the reader of the output is gone */
    int error;          /* errno of another write that failed, or 0 */
    int first_fd;       /* what out was before freopen(), or -1 */
    bool raw;           /* a terminal gets the program's output unchanged */
    bool elixir;        /* messages name modules as Elixir does */
    bool whole;         /* the output is one object, which replaces what the file of -o holds */
    bool pieces;        /* -B: each piece of output on its own line, with its kind */
    bool total;         /* show the total cost of all probes at the end */
    bool spoke;         /* the program's output has begun, with more than a newline */
    struct fold faults; /* faults of probes already reported */
    unsigned errors;    /* error diagnostics shown */
    unsigned warnings;  /* ... and warnings */
};

/* Opens the screen. path: the file of -o, opened for append, or NULL. Returns false with errno
 * set. */
bool screen_open(struct screen *s, const char *path, bool json);
/* Writes out what is buffered; notices if the reader is gone. */
void screen_flush(struct screen *s);
void screen_close(struct screen *s);
/* Writes a line to stderr, preceded by "erltrace: " and ended by a newline. */
void screen_message(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes whole lines to stderr. */
void screen_text(struct screen *s, const char *text);
/* Reports an error without tag and position: a line on stderr, or a JSON object in the output. */
void screen_error(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with a hint; NULL: none. */
void screen_error_hint(struct screen *s, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports something noteworthy that is not an error, in the place of an error. */
void screen_note(struct screen *s, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes our own output that belongs to the trace's output. */
void screen_data(struct screen *s, const char *text, size_t n);
/* Handlers for a trace; arg is the screen. */
int screen_output(const struct erltrace_output *o, void *arg);
void screen_diag(const struct erltrace_diag *d, void *arg);
int screen_fault(const struct erltrace_fault *f, void *arg);
/* Reports how often faults already reported have recurred in the last second, or (all) since
 * then. */
void screen_faults(struct screen *s, bool all);
int screen_drop(const struct erltrace_drop *d, void *arg);
int screen_member(const struct erltrace_member *m, void *arg);
/* Writes each line of a report of costs; the final report only if s->total is set. */
int screen_stats(const struct erltrace_stats *st, void *arg);
/* Redraws the status line, or erases it (text NULL). */
void screen_status(struct screen *s, const char *text);

#endif
