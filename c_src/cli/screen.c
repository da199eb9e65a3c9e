/* screen.c - output, messages, status line. */
#include "cli/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

static void put_data(void *arg, const char *text, size_t n)
{
    struct screen *s = arg;
    if (n == 0 || s->broken || s->error != 0)
        return;
    if (s->out_tty)
        erase(s);
    if (fwrite(text, 1, n, s->out) != n)
        failed(s);
    s->mid_line = text[n - 1] != '\n';
}

static void put_message(void *arg, const char *text, size_t n)
{
    struct screen *s = arg;
    screen_flush(s); /* so that both streams keep their order on one terminal */
    erase(s);
    fwrite(text, 1, n, stderr);
    fflush(stderr);
}

static void flush_out(void *arg)
{
    screen_flush(arg);
}

/* The descriptor stays the same, and only what it stands for changes: so the output of commands
 * that the program runs goes where its own goes. */
static int redirect(void *arg, const char *path)
{
    struct screen *s = arg;
    int fd = fileno(s->out), to = s->first_fd;
    if (path != NULL) {
        to = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (to < 0)
            return errno;
        if (s->first_fd < 0)
            s->first_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    } else if (to < 0) {
        return 0; /* that is where it goes */
    }
    screen_flush(s);
    int err = dup2(to, fd) < 0 ? errno : 0;
    if (path != NULL)
        close(to);
    s->out_tty = s->out == stdout && isatty(fd);
    s->mid_line = false;
    return err;
}

static void truncate_out(void *arg)
{
    struct screen *s = arg;
    screen_flush(s);
    if (ftruncate(fileno(s->out), 0) == 0) /* not on a terminal or pipe */
        lseek(fileno(s->out), 0, SEEK_SET);
}

bool screen_open(struct screen *s, const char *path, bool json)
{
    *s = (struct screen){.out = stdout,
                         .json = json,
                         .first_fd = -1,
                         .sink = {put_data, put_message, s, flush_out, redirect, truncate_out}};
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
    /* A pipe nobody reads any more is noticed even when there is nothing to write. */
    if (poll(&p, 1, 0) > 0 && (p.revents & POLLERR) && !isatty(p.fd))
        s->broken = true;
}

void screen_close(struct screen *s)
{
    erase(s);
    if (s->out != NULL && s->out != stdout)
        fclose(s->out);
    s->out = NULL;
    if (s->first_fd >= 0)
        close(s->first_fd);
    s->first_fd = -1;
}

void screen_message(struct screen *s, const char *fmt, ...)
{
    struct buf b = BUF_INIT;
    va_list ap;
    buf_adds(&b, "erltrace: ");
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    buf_addc(&b, '\n');
    if (b.data != NULL)
        put_message(s, b.data, b.len);
    buf_free(&b);
}

void screen_diags(struct screen *s, struct diags *d)
{
    for (size_t i = 0; i < d->count; i++) {
        struct buf b = BUF_INIT;
        const struct diag *g = &d->list[i];
        if (s->json) {
            diag_render_json(g, &b);
            put_data(s, buf_str(&b), b.len);
        } else if (g->severity == DIAG_NOTE && g->pos.file == NULL) {
            screen_message(s, "%s", g->text); /* a notice, in dtrace's form */
        } else {
            diag_render(d, g, &b);
            put_message(s, buf_str(&b), b.len);
        }
        buf_free(&b);
    }
    if (d->errors > DIAG_MAX_ERRORS && !s->json)
        screen_message(s, "%u more errors", d->errors - DIAG_MAX_ERRORS);
    diags_clear(d);
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
    fprintf(stderr, "\r\033[K%.*s", columns - 1, text);
    fflush(stderr);
    s->shown = true;
}
