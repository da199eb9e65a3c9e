/* screen.c - output, messages, status line. */
#include "cli/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "util/buftext.h"
#include "util/elixir.h"
#include "util/render.h"
#include "util/stream.h"

static void erase(struct screen *s)
{
    if (s->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        s->shown = false;
    }
}

static void failed(struct screen *s)
{
    if (errno == EPIPE)
        s->broken = true;
    else if (s->error == 0)
        s->error = errno;
}

/* Writes bytes to the output unchanged. */
static void put_data(struct screen *s, const char *text, size_t n)
{
    if (n == 0 || s->broken || s->error != 0)
        return;
    if (s->out_tty)
        erase(s);
    if (fwrite(text, 1, n, s->out) != n)
        failed(s);
    s->mid_line = text[n - 1] != '\n';
}

void screen_data(struct screen *s, const char *text, size_t n)
{
    struct buf b = BUF_INIT;
    buf_visible(&b, text, n, true);
    put_data(s, buf_str(&b), b.len);
    buf_free(&b);
}

static void put_message(struct screen *s, const char *text, size_t n)
{
    struct buf b = BUF_INIT;
    buf_visible(&b, text, n, true);
    screen_flush(s); /* keeps both streams in order on one terminal */
    erase(s);
    fwrite(buf_str(&b), 1, b.len, stderr);
    fflush(stderr);
    buf_free(&b);
}

static int redirect(struct screen *s, const char *path)
{
    screen_flush(s);
    int err = stream_redirect(s->out, path, &s->first_fd);
    s->out_tty = s->out == stdout && isatty(fileno(s->out));
    if (err == 0 && s->first_fd >= 0)
        s->mid_line = false;
    return err;
}

static void truncate_out(struct screen *s)
{
    screen_flush(s);
    stream_truncate(s->out);
}

/* Shows one call of the output handler as a piece of its own (-B). */
static void put_piece(struct screen *s, const struct erltrace_output *o)
{
    static const char *const names[] = {[ERLTRACE_OUTPUT_DATA] = "data",
                                        [ERLTRACE_OUTPUT_FLUSH] = "flush",
                                        [ERLTRACE_OUTPUT_REDIRECT] = "redirect",
                                        [ERLTRACE_OUTPUT_TRUNCATE] = "truncate"};
    struct buf b = BUF_INIT;
    const char *text = o->text != NULL ? o->text : "";
    buf_printf(&b, "output: %s ", names[o->kind]);
    buf_json(&b, text, o->kind == ERLTRACE_OUTPUT_DATA ? o->length : strlen(text));
    buf_addc(&b, '\n');
    screen_data(s, buf_str(&b), b.len);
    buf_free(&b);
}

int screen_output(const struct erltrace_output *o, void *arg)
{
    struct screen *s = arg;
    if (s->pieces) {
        put_piece(s, o);
        return ERLTRACE_HANDLE_OK;
    }
    switch (o->kind) {
    case ERLTRACE_OUTPUT_DATA:
        if (s->whole && s->out != stdout && !s->spoke)
            truncate_out(s);
        s->spoke = s->spoke || strspn(o->text, "\n") < o->length;
        if (s->out_tty && !s->raw)
            screen_data(s, o->text, o->length);
        else
            put_data(s, o->text, o->length);
        break;
    case ERLTRACE_OUTPUT_FLUSH:
        s->spoke = true; /* system() runs a command */
        screen_flush(s);
        break;
    case ERLTRACE_OUTPUT_REDIRECT: return redirect(s, o->text);
    case ERLTRACE_OUTPUT_TRUNCATE: truncate_out(s); break;
    }
    return ERLTRACE_HANDLE_OK;
}

bool screen_open(struct screen *s, const char *path, bool json)
{
    *s = (struct screen){.out = stdout, .json = json, .first_fd = -1};
    if (path != NULL) {
        s->out = fopen(path, "ae");
        if (s->out == NULL)
            return false;
    }
    s->status = isatty(STDERR_FILENO) && !json;
    s->out_tty = s->out == stdout && isatty(STDOUT_FILENO);
    return true;
}

void screen_flush(struct screen *s)
{
    struct pollfd p = {fileno(s->out), 0, 0};
    if (fflush(s->out) != 0)
        failed(s);
    /* A pipe without a reader is noticed even when there is nothing to write. */
    if (poll(&p, 1, 0) > 0 && (p.revents & POLLERR) && !isatty(p.fd))
        s->broken = true;
}

void screen_close(struct screen *s)
{
    erase(s);
    fold_free(&s->faults);
    if (s->out != NULL && s->out != stdout)
        fclose(s->out);
    s->out = NULL;
    if (s->first_fd >= 0)
        close(s->first_fd);
    s->first_fd = -1;
}

void screen_text(struct screen *s, const char *text)
{
    put_message(s, text, strlen(text));
}

static void put_line(struct screen *s, const char *text)
{
    struct buf b = BUF_INIT;
    buf_adds(&b, "erltrace: ");
    buf_visible(&b, text, strlen(text), false);
    buf_addc(&b, '\n');
    put_message(s, buf_str(&b), b.len);
    buf_free(&b);
}

void screen_message(struct screen *s, const char *fmt, ...)
{
    struct buf b = BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    put_line(s, buf_str(&b));
    buf_free(&b);
}

static void put_diag(struct screen *s, enum diag_severity severity, const char *hint,
                     const char *fmt, va_list ap)
{
    struct buf text = BUF_INIT, more = BUF_INIT;
    buf_vprintf(&text, fmt, ap);
    if (s->json) {
        struct diag g = {.severity = severity, .tag = "", .text = buf_str(&text), .hint = hint};
        diag_render_json(&g, &more);
        screen_data(s, buf_str(&more), more.len);
    } else {
        put_line(s, buf_str(&text));
        if (hint != NULL) {
            buf_adds(&more, "      hint: "); /* the form that diag_render uses */
            buf_visible(&more, hint, strlen(hint), false);
            buf_addc(&more, '\n');
            screen_text(s, buf_str(&more));
        }
    }
    buf_free(&text);
    buf_free(&more);
}

void screen_error(struct screen *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_diag(s, DIAG_ERROR, NULL, fmt, ap);
    va_end(ap);
}

void screen_error_hint(struct screen *s, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_diag(s, DIAG_ERROR, hint, fmt, ap);
    va_end(ap);
}

void screen_note(struct screen *s, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_diag(s, DIAG_NOTE, hint, fmt, ap);
    va_end(ap);
}

void screen_diag(const struct erltrace_diag *d, void *arg)
{
    struct screen *s = arg;
    s->errors += d->severity == ERLTRACE_ERROR;
    s->warnings += d->severity == ERLTRACE_WARNING;
    if (s->json)
        screen_data(s, d->rendered, strlen(d->rendered));
    else
        put_message(s, d->rendered, strlen(d->rendered));
}

static void put_repeated(void *arg, const char *text, size_t len, uint64_t more)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "%.*s (%" PRIu64 " more like this)", (int)len, text, more);
    put_line(arg, buf_str(&b));
    buf_free(&b);
}

int screen_fault(const struct erltrace_fault *f, void *arg)
{
    struct screen *s = arg;
    struct buf named = BUF_INIT;
    const char *text = f->message;
    if (s->elixir && elixir_has(text, strlen(text))) {
        elixir_put(&named, text, strlen(text));
        text = buf_str(&named);
    }
    if (fold_comes(&s->faults, text, strlen(text), monotonic_ns(), put_repeated, s))
        put_line(s, text);
    buf_free(&named);
    return ERLTRACE_HANDLE_OK;
}

void screen_faults(struct screen *s, bool all)
{
    fold_tell(&s->faults, monotonic_ns(), all, put_repeated, s);
}

int screen_drop(const struct erltrace_drop *d, void *arg)
{
    put_line(arg, d->message);
    return ERLTRACE_HANDLE_OK;
}

int screen_member(const struct erltrace_member *m, void *arg)
{
    put_line(arg, m->message);
    return ERLTRACE_HANDLE_OK;
}

int screen_stats(const struct erltrace_stats *st, void *arg)
{
    struct screen *s = arg;
    struct buf b = BUF_INIT;
    if (st->kind == ERLTRACE_STATS_OVERLOAD || (st->kind == ERLTRACE_STATS_TOTAL && !s->total))
        return ERLTRACE_HANDLE_OK; /* a diagnostic has reported it, or it was not requested */
    for (const char *p = st->message, *end; (end = strchr(p, '\n')) != NULL; p = end + 1)
        buf_printf(&b, "erltrace: %.*s\n", (int)(end - p), p);
    screen_text(s, buf_str(&b));
    buf_free(&b);
    return ERLTRACE_HANDLE_OK;
}

void screen_status(struct screen *s, const char *text)
{
    struct winsize w;
    int columns = 80;
    if (!s->status)
        return;
    if (text == NULL || (s->out_tty && s->mid_line)) {
        erase(s);
        return;
    }
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        columns = w.ws_col;
    struct buf b = BUF_INIT;
    buf_visible(&b, text, strlen(text), false);
    fprintf(stderr, "\r\033[K%.*s", columns - 1, buf_str(&b));
    fflush(stderr);
    buf_free(&b);
    s->shown = true;
}
