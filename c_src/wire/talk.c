/* talk.c - logs a conversation. See talk.h. */
#include "wire/talk.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "etf/etf_print.h"
#include "util/buftext.h"

enum { TERM_MOST = 2000 }; /* bytes shown of a term */

struct talk {
    int fd;
    bool own; /* talk_close closes fd */
    char node[256];
};

int talk_open(struct talk **out, struct diags *d)
{
    const char *path = getenv("ERLTRACE_LOG");
    *out = NULL;
    if (!path || !path[0])
        return 0;
    struct talk *t = et_calloc(1, sizeof *t);
    if (!t)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    t->fd = STDERR_FILENO;
    t->own = strcmp(path, "-") != 0 && strcmp(path, "stderr") != 0;
    if (t->own)
        t->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    if (t->fd < 0) {
        int e = diag_error(
            d, ET_EIO, NULL, "NODE_LOG",
            "ERLTRACE_LOG names a file to add to; - stands for the standard error stream",
            "cannot open the log %s: %m", path);
        et_free(t);
        return e;
    }
    *out = t;
    return 0;
}

void talk_with(struct talk *t, const char *node)
{
    if (t)
        snprintf(t->node, sizeof t->node, "%s", node);
}

/* Appends the time in UTC, in ISO 8601 format. */
static void put_time(struct buf *b)
{
    struct timespec now;
    struct tm tm;
    char s[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(s, sizeof s, "%Y-%m-%dT%H:%M:%S", &tm);
    buf_printf(b, "%s.%06ldZ", s, now.tv_nsec / 1000);
}

void talk_line(struct talk *t, const char *way, const char *word, const struct etf *term)
{
    struct buf b = BUF_INIT;
    if (!t)
        return;
    put_time(&b);
    buf_printf(&b, " %s ", way);
    buf_visible(&b, t->node, strlen(t->node), false);
    if (word) {
        buf_addc(&b, ' ');
        buf_visible(&b, word, strlen(word), false);
    }
    if (term) {
        buf_addc(&b, ' ');
        etf_print(&b, *term, TERM_MOST);
    }
    buf_addc(&b, '\n');
    /* A log that cannot be written, for instance on a full disk, must not end a trace. */
    ssize_t written = b.oom ? 0 : write(t->fd, b.data, b.len);
    (void)written;
    buf_free(&b);
}

void talk_close(struct talk *t)
{
    if (t && t->own)
        close(t->fd);
    et_free(t);
}
