/* screen.h - where a session's output goes, and the status line.
 *
 * The one place that writes to stdout and stderr while a trace runs. The status line stands on a
 * terminal's stderr and is erased before anything else is written to that terminal; it never stands
 * on a line that output has begun. */
#ifndef ET_CLI_SCREEN_H
#define ET_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "consumer/report.h"

struct screen {
    FILE *out;       /* stdout, or the file of -o */
    bool json;       /* errors go to out as JSON too */
    bool status;     /* a status line may be shown */
    bool out_tty;    /* output shares the terminal with the status line */
    bool shown;      /* it stands there now */
    bool mid_line;   /* the last output did not end its line */
    bool broken;     /* the reader of the output is gone */
    int error;       /* errno of another write that failed, or 0 */
    int first_fd;    /* what out was before freopen(), or -1 */
    struct out sink; /* for the session */
};

/* path: the file of -o, opened for append, or NULL. False with errno set. */
bool screen_open(struct screen *s, const char *path, bool json);
/* Writes out what is buffered; notices when the reader is gone. */
void screen_flush(struct screen *s);
void screen_close(struct screen *s);
/* A line to stderr, "erltrace: " before it and a newline after it. */
void screen_message(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Renders the diagnostics collected so far, and forgets them. */
void screen_diags(struct screen *s, struct diags *d);
/* Draws the status line anew, or erases it (text NULL). */
void screen_status(struct screen *s, const char *text);

#endif
