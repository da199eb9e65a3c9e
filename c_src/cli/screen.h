/* screen.h - where a trace's output goes, and the status line.
 *
 * The one place that writes to stdout and stderr while a trace runs. The status line stands on a
 * terminal's stderr and is erased before anything else is written to that terminal; it never stands
 * on a line that output has begun.
 *
 * Whatever a node or a file has said goes through buf_visible here, but for what a program prints:
 * that goes to a file as it is, and to a terminal with the option rawoutput. Parts that could hold
 * a newline are made visible where they are put together. */
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
    bool json;          /* errors go to out as JSON too */
    bool status;        /* a status line may be shown */
    bool out_tty;       /* output shares the terminal with the status line */
    bool shown;         /* it stands there now */
    bool mid_line;      /* the last output did not end its line */
    bool broken;        /* the reader of the output is gone */
    int error;          /* errno of another write that failed, or 0 */
    int first_fd;       /* what out was before freopen(), or -1 */
    bool raw;           /* a terminal gets what a program prints as it is */
    bool elixir;        /* messages name modules as Elixir does */
    bool pieces;        /* -B: each piece of output on a line of its own, as what it is */
    bool total;         /* the end shows what all probes have cost */
    bool spoke;         /* what the program prints has begun, with more than a newline */
    struct fold faults; /* those of probes that were told */
    unsigned errors;    /* diagnostics of errors that were shown */
};

/* path: the file of -o, opened for append, or NULL. False with errno set. */
bool screen_open(struct screen *s, const char *path, bool json);
/* Writes out what is buffered; notices when the reader is gone. */
void screen_flush(struct screen *s);
void screen_close(struct screen *s);
/* A line to stderr, "erltrace: " before it and a newline after it. */
void screen_message(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whole lines to stderr. */
void screen_text(struct screen *s, const char *text);
/* An error without tag and place: a line to stderr, or an object of the output. */
void screen_error(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with what to do next; NULL: nothing is known. */
void screen_error_hint(struct screen *s, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* What is worth to know, and no error. Its place is that of an error. */
void screen_note(struct screen *s, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Output of our own, that belongs to what is traced. */
void screen_data(struct screen *s, const char *text, size_t n);
/* Handlers of a trace; arg is the screen. */
int screen_output(const struct erltrace_output *o, void *arg);
void screen_diag(const struct erltrace_diag *d, void *arg);
int screen_fault(const struct erltrace_fault *f, void *arg);
/* Tells how often faults that were told have come again in the last second, or (all) since. */
void screen_faults(struct screen *s, bool all);
int screen_drop(const struct erltrace_drop *d, void *arg);
/* Each line of a report of costs; of the last one only if s->total is set. */
int screen_stats(const struct erltrace_stats *st, void *arg);
/* Draws the status line anew, or erases it (text NULL). */
void screen_status(struct screen *s, const char *text);

#endif
