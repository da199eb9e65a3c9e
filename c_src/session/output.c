/* output.c - where a session's output goes: to the program's handler, or to the FILE of the
 * erltrace_work in progress. Also runs the commands of system(). */
#include <stdlib.h>

#include "session/handle.h"
#include "util/stream.h"

/* Returns the handler's answer; 0 without one. */
static int hand_out(erltrace_t *h, enum erltrace_output_kind kind, const char *text, size_t n)
{
    struct erltrace_output o = {kind, text, n};
    int rc = h->output_fn(&o, h->output_arg);
    h->session.aborted |= rc == ERLTRACE_HANDLE_ABORT;
    return rc;
}

static void put_data(void *arg, const char *text, size_t n)
{
    erltrace_t *h = arg;
    h->reported++;
    if (h->output_fn != NULL)
        hand_out(h, ERLTRACE_OUTPUT_DATA, text, n);
    else if (h->fp != NULL && !h->io_failed && fwrite(text, 1, n, h->fp) != n)
        h->io_failed = true;
}

static void flush(void *arg)
{
    erltrace_t *h = arg;
    if (h->output_fn != NULL)
        hand_out(h, ERLTRACE_OUTPUT_FLUSH, NULL, 0);
    else if (h->fp != NULL && fflush(h->fp) != 0)
        h->io_failed = true;
}

static int redirect(void *arg, const char *path)
{
    erltrace_t *h = arg;
    if (h->output_fn != NULL) {
        int rc = hand_out(h, ERLTRACE_OUTPUT_REDIRECT, path, 0);
        return rc > 0 ? rc : 0;
    }
    flush(h);
    return h->fp != NULL ? stream_redirect(h->fp, path, &h->first_fd) : 0;
}

static void truncate_out(void *arg)
{
    erltrace_t *h = arg;
    if (h->output_fn != NULL) {
        hand_out(h, ERLTRACE_OUTPUT_TRUNCATE, NULL, 0);
    } else if (h->fp != NULL) {
        flush(h);
        stream_truncate(h->fp);
    }
}

static void run_command(void *arg, const char *command)
{
    erltrace_t *h = arg;
    if (h->command_fn != NULL)
        h->session.aborted |= h->command_fn(command, h->command_arg) == ERLTRACE_HANDLE_ABORT;
    else if (system(command) == -1) /* its exit status is ignored */
        return;
}

struct out api_out(erltrace_t *h)
{
    return (struct out){put_data, h, flush, redirect, truncate_out, run_command};
}

int erltrace_handle_command(erltrace_t *h, erltrace_command_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->command_fn = fn;
    h->command_arg = arg;
    return 0;
}

int erltrace_handle_output(erltrace_t *h, erltrace_output_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->output_fn = fn;
    h->output_arg = arg;
    return 0;
}
