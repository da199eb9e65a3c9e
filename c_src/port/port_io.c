/* port_io.c - frames between the owner, the session and the relays. See port_io.h.
 *
 * There are two locks: `lock` protects what both threads use (the queue, the end, the set of
 * relays), `writing` protects each outgoing frame. Relays are created by the session's thread and
 * then belong to the other one. When too much is waiting, input is not read; its end is noticed
 * even then. */
#include "port/port_io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "util/buftext.h"

enum {
    TAG_TERM = 131,
    TAG_RELAY = 'R',
    RELAY_HEAD = 3,          /* the tag, and the relay's number */
    CHUNK = 65536,           /* bytes read at a time */
    WAITING_MAX = 64,        /* requests that may wait; then reading stops */
    WAITING_BYTES = 8 << 20, /* the same in bytes, also for each relay */
    GRACE_MS = 3000,         /* time to undo everything after the owner is gone */
    FIXED = 3                /* descriptors to wait for besides relays' */
};

struct relay {
    int fd;         /* our end, -1: none */
    struct buf in;  /* frames from the library, with their lengths */
    struct buf out; /* frames for the library, likewise */
    size_t given;   /* bytes of `out` already given to it */
    bool ends;      /* no more frames will come for it */
};

struct port_io {
    int in, out;
    int wake; /* eventfd: something for the session's thread; readable as port_io_fd says */
    int stop; /* eventfd: something for the other thread: a new relay, or its end */
    int term; /* eventfd: SIGTERM has arrived */
    pthread_t thread;
    bool started;
    pthread_mutex_t lock, writing;

    /* under lock */
    struct port_frame *first, **last;
    size_t nwaiting, waiting_bytes;
    enum port_end end;
    char why[160];
    bool closing;
    bool used[PORT_RELAYS];
    bool gone[PORT_RELAYS];           /* its relay process ended before it was created */
    struct relay *relay[PORT_RELAYS]; /* NULL: not created, or over */

    struct buf rx;  /* input that is not a whole frame yet */
    size_t rx_used; /* bytes of it already processed */
};

static void signal_fd(int fd)
{
    uint64_t one = 1;
    while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static volatile sig_atomic_t term_fd = -1;

static void on_term(int signo)
{
    int e = errno;
    (void)signo;
    if (term_fd >= 0)
        signal_fd(term_fd);
    errno = e;
}

static void quiet_fd(int fd)
{
    uint64_t n;
    while (read(fd, &n, sizeof n) < 0 && errno == EINTR)
        ;
}

/* Records the end; only the first one counts. */
static void end(struct port_io *io, enum port_end how, const char *why)
{
    pthread_mutex_lock(&io->lock);
    if (io->end == PORT_OPEN) {
        io->end = how;
        snprintf(io->why, sizeof io->why, "%s", why);
    }
    pthread_mutex_unlock(&io->lock);
    signal_fd(io->wake);
}

static bool is_closing(struct port_io *io)
{
    pthread_mutex_lock(&io->lock);
    bool yes = io->closing;
    pthread_mutex_unlock(&io->lock);
    return yes;
}

static bool has_ended(struct port_io *io)
{
    pthread_mutex_lock(&io->lock);
    bool yes = io->end != PORT_OPEN;
    pthread_mutex_unlock(&io->lock);
    return yes;
}

/* -- output ------------------------------------------------------------------------------------ */

/* Writes all bytes; the caller holds `writing`. */
static bool put_bytes(struct port_io *io, const void *p, size_t n)
{
    for (const char *at = p; n > 0;) {
        ssize_t k = write(io->out, at, n);
        if (k >= 0) {
            at += k;
            n -= (size_t)k;
        } else if (errno == EAGAIN) {
            struct pollfd pf = {.fd = io->out, .events = POLLOUT};
            poll(&pf, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Writes one frame of two pieces. */
static void put_frame(struct port_io *io, const void *a, size_t na, const void *b, size_t nb)
{
    char why[128];
    uint64_t n = (uint64_t)na + nb;
    unsigned char head[4] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16),
                             (unsigned char)(n >> 8), (unsigned char)n};
    if (n > PORT_FRAME_MAX) {
        end(io, PORT_FAILED, "an answer is too large to be sent");
        return;
    }
    pthread_mutex_lock(&io->writing);
    bool ok = put_bytes(io, head, sizeof head) && put_bytes(io, a, na) && put_bytes(io, b, nb);
    int e = errno;
    pthread_mutex_unlock(&io->writing);
    snprintf(why, sizeof why, "cannot write to standard output: %s", strerror(e));
    if (!ok)
        end(io, e == EPIPE ? PORT_ENDED : PORT_FAILED, why);
}

bool port_io_ready(const struct port_io *io)
{
    struct pollfd pf = {.fd = io->out, .events = POLLOUT};
    return poll(&pf, 1, 0) == 1 && (pf.revents & POLLOUT) != 0;
}

void port_io_put(struct port_io *io, const struct buf *head, const struct buf *body)
{
    put_frame(io, head->data, head->len, body != NULL ? body->data : NULL,
              body != NULL ? body->len : 0);
}

/* -- relays ------------------------------------------------------------------------------------ */

static void put_relay(struct port_io *io, unsigned n, const void *p, size_t len)
{
    unsigned char head[RELAY_HEAD] = {TAG_RELAY, (unsigned char)(n >> 8), (unsigned char)n};
    put_frame(io, head, sizeof head, p, len);
}

static size_t be32(const void *at)
{
    const unsigned char *p = at;
    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

static void relay_free(struct relay *r)
{
    if (r->fd >= 0)
        close(r->fd);
    buf_free(&r->in);
    buf_free(&r->out);
    et_free(r);
}

static void relay_over(struct port_io *io, unsigned n)
{
    pthread_mutex_lock(&io->lock);
    struct relay *r = io->relay[n];
    io->relay[n] = NULL;
    pthread_mutex_unlock(&io->lock);
    relay_free(r);
}

/* Forwards what the library sends to the owner. */
static void relay_read(struct port_io *io, unsigned n)
{
    struct relay *r = io->relay[n];
    if (!buf_reserve(&r->in, CHUNK)) {
        end(io, PORT_FAILED, "out of memory");
        return;
    }
    ssize_t k = recv(r->fd, r->in.data + r->in.len, CHUNK, MSG_DONTWAIT);
    if (k < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (k <= 0) { /* the library has closed its end */
        put_relay(io, n, NULL, 0);
        relay_over(io, n);
        return;
    }
    r->in.len += (size_t)k;
    size_t at = 0;
    while (r->in.len - at >= 4 && r->in.len - at - 4 >= be32(r->in.data + at)) {
        size_t len = be32(r->in.data + at);
        put_relay(io, n, r->in.data + at + 4, len);
        at += 4 + len;
    }
    memmove(r->in.data, r->in.data + at, r->in.len - at);
    r->in.len -= at;
}

/* Gives the library as much as it accepts. */
static void relay_write(struct port_io *io, unsigned n)
{
    struct relay *r = io->relay[n];
    while (r->given < r->out.len) {
        ssize_t k =
            send(r->fd, r->out.data + r->given, r->out.len - r->given, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (k < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (k < 0)
            break; /* reading will notice the end */
        r->given += (size_t)k;
    }
    buf_free(&r->out);
    r->out = (struct buf)BUF_INIT;
    r->given = 0;
}

/* Takes a frame of the owner for a relay. For a relay that is over, or never existed, the frame is
 * ignored. */
static void relay_take(struct port_io *io, const unsigned char *p, size_t n)
{
    unsigned which = (unsigned)(p[1] << 8 | p[2]);
    size_t len = n - RELAY_HEAD;
    if (which >= PORT_RELAYS)
        return;
    pthread_mutex_lock(&io->lock);
    struct relay *r = io->relay[which];
    io->gone[which] = io->gone[which] || len == 0;
    pthread_mutex_unlock(&io->lock);
    if (r == NULL || r->ends)
        return;
    r->ends = len == 0;
    unsigned char head[4] = {(unsigned char)(len >> 24), (unsigned char)(len >> 16),
                             (unsigned char)(len >> 8), (unsigned char)len};
    buf_add(&r->out, head, sizeof head);
    buf_add(&r->out, p + RELAY_HEAD, len);
    if (r->out.oom)
        end(io, PORT_FAILED, "out of memory");
    else
        relay_write(io, which);
}

int port_io_relay(struct port_io *io, unsigned n)
{
    int fd[2];
    if (n >= PORT_RELAYS || io->used[n]) {
        errno = EEXIST;
        return -1;
    }
    struct relay *r = et_calloc(1, sizeof *r);
    if (r == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) != 0) {
        et_free(r);
        return -1;
    }
    r->fd = fd[0];
    pthread_mutex_lock(&io->lock);
    io->used[n] = true;
    io->relay[n] = r;
    r->ends = io->gone[n];
    if (r->ends)
        buf_fill(&r->out, '\0', 4);
    pthread_mutex_unlock(&io->lock);
    signal_fd(io->stop);
    return fd[1];
}

/* -- input ------------------------------------------------------------------------------------- */

static void request(struct port_io *io, const unsigned char *p, size_t n)
{
    struct port_frame *f = et_malloc(sizeof *f + n);
    if (f == NULL) {
        end(io, PORT_FAILED, "out of memory");
        return;
    }
    f->next = NULL;
    f->n = n;
    memcpy(f->byte, p, n);
    pthread_mutex_lock(&io->lock);
    *io->last = f;
    io->last = &f->next;
    io->nwaiting++;
    io->waiting_bytes += n;
    pthread_mutex_unlock(&io->lock);
    signal_fd(io->wake);
}

/* Processes the whole frames in rx. */
static void frames(struct port_io *io)
{
    const unsigned char *p = (const unsigned char *)io->rx.data;
    while (!has_ended(io) && io->rx.len - io->rx_used >= 4) {
        size_t len = be32(p + io->rx_used), left = io->rx.len - io->rx_used - 4;
        const unsigned char *at = p + io->rx_used + 4;
        if (len > PORT_FRAME_MAX) {
            end(io, PORT_BROKEN, "a frame of more than 512 MB");
            return;
        }
        if (len == 0 || (left > 0 && *at != TAG_TERM && *at != TAG_RELAY) ||
            (len < RELAY_HEAD && left > 0 && *at == TAG_RELAY)) {
            end(io, PORT_BROKEN, "a frame that is neither a term nor for a relay");
            return;
        }
        if (left < len)
            break;
        if (*at == TAG_TERM)
            request(io, at, len);
        else
            relay_take(io, at, len);
        io->rx_used += 4 + len;
    }
    if (io->rx_used > 0) {
        memmove(io->rx.data, io->rx.data + io->rx_used, io->rx.len - io->rx_used);
        io->rx.len -= io->rx_used;
        io->rx_used = 0;
    }
    if (io->rx.len == 0 && io->rx.cap > 16 * CHUNK) { /* after a large frame */
        buf_free(&io->rx);
        io->rx = (struct buf)BUF_INIT;
    }
}

static void input(struct port_io *io)
{
    size_t want = CHUNK;
    if (io->rx.len >= 4 &&
        be32(io->rx.data) > io->rx.len) /* grows by what has arrived, not by what was announced */
        want = io->rx.len > CHUNK ? io->rx.len : CHUNK;
    if (!buf_reserve(&io->rx, want)) {
        end(io, PORT_FAILED, "out of memory");
        return;
    }
    ssize_t n = read(io->in, io->rx.data + io->rx.len, want);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        end(io, PORT_ENDED, "");
        return;
    }
    io->rx.len += (size_t)n;
    frames(io);
}

/* Returns whether so much waits that no more should be read. */
static bool is_full(struct port_io *io)
{
    pthread_mutex_lock(&io->lock);
    bool full = io->nwaiting >= WAITING_MAX || io->waiting_bytes >= WAITING_BYTES;
    for (unsigned i = 0; i < PORT_RELAYS; i++)
        full = full || (io->relay[i] != NULL && io->relay[i]->out.len >= WAITING_BYTES);
    pthread_mutex_unlock(&io->lock);
    return full;
}

/* -- the thread -------------------------------------------------------------------------------- */

/* Collects the existing relays and the events they wait for. */
static nfds_t gather(struct port_io *io, struct pollfd *pf, unsigned *number)
{
    nfds_t n = 0;
    pthread_mutex_lock(&io->lock);
    for (unsigned i = 0; i < PORT_RELAYS; i++) {
        if (io->relay[i] == NULL)
            continue;
        short events = POLLIN | (io->relay[i]->out.len > 0 ? POLLOUT : 0);
        pf[n] = (struct pollfd){.fd = io->relay[i]->fd, .events = events};
        number[n++] = i;
    }
    pthread_mutex_unlock(&io->lock);
    return n;
}

/* The owner is gone. Nothing more comes through the relays, so the library must not wait for them;
 * and whatever else it waits for, the process ends soon. */
static void last_moments(struct port_io *io)
{
    struct pollfd pf = {.fd = io->stop, .events = POLLIN};
    for (unsigned i = 0; i < PORT_RELAYS; i++)
        if (io->relay[i] != NULL)
            relay_over(io, i);
    while (!is_closing(io)) {
        int n = poll(&pf, 1, GRACE_MS);
        if (n == 0)
            _exit(io->end == PORT_ENDED ? 0 : io->end == PORT_BROKEN ? 2 : 1);
        if (n > 0)
            quiet_fd(io->stop);
    }
}

static void *run(void *arg)
{
    struct port_io *io = arg;
    struct pollfd pf[FIXED + PORT_RELAYS];
    unsigned number[PORT_RELAYS];
    while (!is_closing(io)) {
        bool full = is_full(io);
        pf[0] = (struct pollfd){.fd = io->in, .events = full ? 0 : POLLIN};
        pf[1] = (struct pollfd){.fd = io->stop, .events = POLLIN};
        pf[2] = (struct pollfd){.fd = io->term, .events = POLLIN};
        nfds_t n = gather(io, pf + FIXED, number);
        if (poll(pf, FIXED + n, -1) < 0)
            continue;
        if (pf[1].revents != 0)
            quiet_fd(io->stop);
        if (pf[2].revents != 0 || (full && (pf[0].revents & (POLLHUP | POLLERR)) != 0))
            end(io, PORT_ENDED, "");
        for (nfds_t i = 0; i < n; i++) {
            if ((pf[FIXED + i].revents & POLLOUT) != 0)
                relay_write(io, number[i]);
            if ((pf[FIXED + i].revents & ~POLLOUT) != 0)
                relay_read(io, number[i]);
        }
        if (!full && pf[0].revents != 0)
            input(io);
        if (has_ended(io)) {
            last_moments(io);
            break;
        }
    }
    return NULL;
}

/* -- for the session's thread ------------------------------------------------------------------ */

/* Makes standard input and output ours alone, so that nothing printed gets between the frames. */
static bool take_over(struct port_io *io)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    io->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    io->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    bool ok = null >= 0 && io->in >= 0 && io->out >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
              dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    if (null > STDERR_FILENO)
        close(null);
    return ok;
}

struct port_io *port_io_open(void)
{
    sigset_t all, old;
    struct port_io *io = et_calloc(1, sizeof *io);
    if (io == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    io->in = io->out = -1;
    io->last = &io->first;
    pthread_mutex_init(&io->lock, NULL);
    pthread_mutex_init(&io->writing, NULL);
    io->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    io->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    io->term = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool ok = io->wake >= 0 && io->stop >= 0 && io->term >= 0 && take_over(io);
    if (ok) {
        term_fd = io->term;
        signal(SIGTERM, on_term);
        sigfillset(&all); /* signals are for the session's thread */
        pthread_sigmask(SIG_SETMASK, &all, &old);
        errno = pthread_create(&io->thread, NULL, run, io);
        io->started = errno == 0;
        int e = errno;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        errno = e;
    }
    if (!io->started) {
        int e = errno;
        port_io_close(io);
        errno = e;
        return NULL;
    }
    return io;
}

void port_io_close(struct port_io *io)
{
    if (io == NULL)
        return;
    if (io->started) {
        pthread_mutex_lock(&io->lock);
        io->closing = true;
        pthread_mutex_unlock(&io->lock);
        signal_fd(io->stop);
        pthread_join(io->thread, NULL);
    }
    for (unsigned i = 0; i < PORT_RELAYS; i++)
        if (io->relay[i] != NULL)
            relay_free(io->relay[i]);
    io->end = PORT_OPEN; /* so that port_io_take returns what waits */
    for (struct port_frame *f; (f = port_io_take(io)) != NULL;)
        et_free(f);
    term_fd = -1;
    int fds[] = {io->in, io->out, io->wake, io->stop, io->term};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    pthread_mutex_destroy(&io->lock);
    pthread_mutex_destroy(&io->writing);
    buf_free(&io->rx);
    et_free(io);
}

int port_io_fd(const struct port_io *io)
{
    return io->wake;
}

struct port_frame *port_io_take(struct port_io *io)
{
    pthread_mutex_lock(&io->lock);
    bool was_full = io->nwaiting >= WAITING_MAX || io->waiting_bytes >= WAITING_BYTES;
    struct port_frame *f = io->end == PORT_OPEN ? io->first : NULL;
    if (f != NULL) {
        io->first = f->next;
        if (io->first == NULL)
            io->last = &io->first;
        io->nwaiting--;
        io->waiting_bytes -= f->n;
    }
    if (f != NULL && io->first == NULL)
        quiet_fd(io->wake);
    pthread_mutex_unlock(&io->lock);
    if (was_full && f != NULL)
        signal_fd(io->stop);
    return f;
}

bool port_io_waits(struct port_io *io, bool (*wanted)(const void *term, size_t n))
{
    bool found = false;
    pthread_mutex_lock(&io->lock);
    for (const struct port_frame *f = io->first; f != NULL && !found; f = f->next)
        found = wanted(f->byte, f->n);
    pthread_mutex_unlock(&io->lock);
    return found;
}

enum port_end port_io_end(struct port_io *io, const char **why)
{
    pthread_mutex_lock(&io->lock);
    enum port_end how = io->end;
    *why = io->why;
    pthread_mutex_unlock(&io->lock);
    return how;
}
