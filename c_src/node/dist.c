/* dist.c - a connection to a node. See dist.h.
 *
 * On the wire after the handshake: u32 length, then that many bytes; length 0 is a tick, which
 * wants one back. Else the byte 'p', a control term {Op, ...} with version byte, and for some Ops a
 * message with version byte.
 *
 * libei reaches the socket through callbacks of ours (`io_*`): they keep the deadline, and they
 * note how far the handshake came, because libei itself only says that it failed. We send two
 * packets in it: our name, and the proof that we know the cookie. A node that closes after the
 * second did not like the cookie. */
#include "node/dist.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "node/clock.h"
#include "node/name.h"

enum {
    OP_SEND = 2,
    OP_REG_SEND = 6,
    OP_SEND_TT = 12,
    OP_REG_SEND_TT = 16,
    OP_LINK = 1,
    OP_EXIT = 3,
    OP_SEND_SENDER = 22,
    OP_SEND_SENDER_TT = 23,
    OP_EXIT_TT = 13,
    OP_PAYLOAD_EXIT = 24,
    OP_PAYLOAD_EXIT_TT = 25,
    DIST_WRITE_MS = 10000,      /* a node that takes nothing for so long is lost */
    DIST_FRAME_MAX = 512 << 20, /* no message of the agent comes near */
    DIST_NAMES = 16             /* tries to find a name that is not taken */
};

struct dist {
    ei_cnode ec;
    const struct dist_to *to; /* while connecting */
    int64_t deadline;         /* while connecting */
    int fd;                   /* -1: none */
    int name_fd;              /* holds our name, -1: none */
    int tcp_err;              /* errno of the TCP connection, 0: it was made */
    int writes;               /* packets written in the handshake */
    bool timed_out;
    bool closed;              /* the other side closed during the handshake */
    unsigned char seen[1024]; /* first bytes of its answers: its status and its name */
    size_t nseen;
    erlang_pid self; /* who we are there */
    char peer[256];  /* what the node calls itself, "" until it said so */

    pthread_mutex_t lock; /* around every write */
    struct buf rx;        /* bytes received; a message given out lies at its start */
    size_t used;          /* bytes of rx that the last message took */
    char lost[160];

    _Atomic int64_t sent_ms;    /* when something was last sent */
    _Atomic int64_t silence_ms; /* longest pause so far */
    pthread_t beat;
    bool beating;
    pthread_mutex_t beat_lock;
    pthread_cond_t beat_wake;
    bool beat_stop; /* under beat_lock */
    int beat_ms;
    struct buf beat_frame;
};

/* -- what libei calls -----------------------------------------------------------------------------
 */

static int io_socket(void **ctx, void *setup)
{
    *ctx = setup;
    return 0;
}

static int io_close(void *ctx)
{
    struct dist *d = ctx;
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
    return 0;
}

static int io_connect(void *ctx, void *addr, int len, unsigned tmo)
{
    struct dist *d = ctx;
    (void)addr, (void)len, (void)tmo; /* libei knows IPv4 only; we have the address */
    int fd = node_tcp(&d->to->addr, d->to->port, clock_left(d->deadline));
    if (fd < 0) {
        d->tcp_err = -fd;
        return -fd;
    }
    d->fd = fd;
    d->tcp_err = 0;
    return 0;
}

static int io_wait(struct dist *d, short events)
{
    for (;;) {
        struct pollfd p = {.fd = d->fd, .events = events};
        int n = poll(&p, 1, clock_left(d->deadline));
        if (n > 0)
            return 0;
        if (n == 0) {
            d->timed_out = true;
            return ETIMEDOUT;
        }
        if (errno != EINTR)
            return errno;
    }
}

static int io_write(void *ctx, const char *buf, ssize_t *len, unsigned tmo)
{
    struct dist *d = ctx;
    (void)tmo;
    for (;;) {
        ssize_t n = send(d->fd, buf, (size_t)*len, MSG_NOSIGNAL);
        if (n >= 0) {
            d->writes++;
            *len = n;
            return 0;
        }
        if (errno == EAGAIN) {
            int e = io_wait(d, POLLOUT);
            if (e)
                return e;
        } else if (errno != EINTR) {
            d->closed = errno == EPIPE || errno == ECONNRESET;
            return errno;
        }
    }
}

static int io_read(void *ctx, char *buf, ssize_t *len, unsigned tmo)
{
    struct dist *d = ctx;
    (void)tmo;
    for (;;) {
        ssize_t n = recv(d->fd, buf, (size_t)*len, 0);
        if (n >= 0) {
            size_t k = sizeof d->seen - d->nseen;
            if ((size_t)n < k)
                k = (size_t)n;
            memcpy(d->seen + d->nseen, buf, k);
            d->nseen += k;
            d->closed = n == 0;
            *len = n;
            return 0;
        }
        if (errno == EAGAIN) {
            int e = io_wait(d, POLLIN);
            if (e)
                return e;
        } else if (errno != EINTR) {
            d->closed = errno == ECONNRESET;
            return errno;
        }
    }
}

static int io_header(void *ctx, int *size)
{
    (void)ctx;
    *size = 2;
    return 0;
}

static int io_complete(void *ctx)
{
    (void)ctx;
    return 0;
}

static int io_fd(void *ctx, int *fd)
{
    *fd = ((struct dist *)ctx)->fd;
    return 0;
}

static int io_listen(void *ctx, void *addr, int *len, int backlog)
{
    (void)ctx, (void)addr, (void)len, (void)backlog;
    return ENOTSUP;
}

static int io_accept(void **ctx, void *addr, int *len, unsigned tmo)
{
    (void)ctx, (void)addr, (void)len, (void)tmo;
    return ENOTSUP;
}

static int io_writev(void *ctx, const void *iov, int n, ssize_t *len, unsigned tmo)
{
    (void)ctx, (void)iov, (void)n, (void)len, (void)tmo;
    return ENOTSUP;
}

static ei_socket_callbacks io = {
    .flags = EI_SCLBK_FLG_FULL_IMPL,
    .socket = io_socket,
    .close = io_close,
    .listen = io_listen,
    .accept = io_accept,
    .connect = io_connect,
    .writev = io_writev,
    .write = io_write,
    .read = io_read,
    .handshake_packet_header_size = io_header,
    .connect_handshake_complete = io_complete,
    .accept_handshake_complete = io_complete,
    .get_fd = io_fd,
};

/* -- open and close -------------------------------------------------------------------------------
 */

/* The n-th packet (u16 length before it) of what the node sent in the handshake; NULL when it did
 * not come. */
static const unsigned char *packet(const struct dist *d, unsigned n, size_t *len)
{
    for (size_t at = 0; at + 2 <= d->nseen; at += 2 + *len) {
        *len = (size_t)(d->seen[at] << 8 | d->seen[at + 1]);
        if (at + 2 + *len > d->nseen)
            break;
        if (n-- == 0)
            return d->seen + at + 2;
    }
    return NULL;
}

static void copy_text(char *out, size_t cap, const unsigned char *p, size_t n)
{
    out[0] = '\0';
    if (n >= cap)
        return;
    for (size_t i = 0; i < n; i++)
        if (p[i] < ' ' || p[i] == 0x7f)
            return;
    memcpy(out, p, n);
    out[n] = '\0';
}

/* Its second packet is the challenge, with its name: 'N' flags8 challenge4 creation4 u16 name, or
 * 'n' version2 flags4 challenge4 name. */
static void peer_name(struct dist *d)
{
    size_t n = 0;
    const unsigned char *p = packet(d, 1, &n);
    d->peer[0] = '\0';
    if (p && n > 19 && p[0] == 'N' && (size_t)(p[17] << 8 | p[18]) <= n - 19)
        copy_text(d->peer, sizeof d->peer, p + 19, (size_t)(p[17] << 8 | p[18]));
    else if (p && n > 11 && p[0] == 'n')
        copy_text(d->peer, sizeof d->peer, p + 11, n - 11);
}

/* What the node answered to our name: "ok", "not_allowed", "nok", "alive"; "" when it was not that.
 */
static void status_text(const struct dist *d, char *out, size_t cap)
{
    size_t n = 0;
    const unsigned char *p = packet(d, 0, &n);
    out[0] = '\0';
    if (p && n > 1 && p[0] == 's')
        copy_text(out, cap, p + 1, n - 1);
}

static void explain(const struct dist *d, struct dist_fail *why)
{
    *why = (struct dist_fail){0};
    status_text(d, why->status, sizeof why->status);
    memcpy(why->peer, d->peer, sizeof why->peer);
    if (d->tcp_err) {
        why->step = DIST_TCP;
        why->err = d->tcp_err;
    } else if (why->status[0] && strncmp(why->status, "ok", 2) != 0) {
        why->step = DIST_REFUSED;
    } else if (d->timed_out) {
        why->step = DIST_SILENT;
    } else if (d->writes >= 2) {
        why->step = DIST_COOKIE;
    } else {
        why->step = DIST_PROTO;
    }
}

/* Our part of the name: one of a few that nobody else on this host has, from number *next on; when
 * those are all in use, one that is ours alone. */
static void take_name(struct dist *d, unsigned *next, char *alive, size_t cap)
{
    static _Atomic unsigned serial;
    unsigned slot;
    int fd = name_take(*next, &slot);
    if (d->name_fd >= 0)
        close(d->name_fd);
    d->name_fd = fd;
    if (fd >= 0)
        snprintf(alive, cap, "erltrace_%u", slot);
    else
        snprintf(alive, cap, "erltrace_%d_%u", (int)getpid(), atomic_fetch_add(&serial, 1));
    *next = fd >= 0 ? slot + 1 : NAME_SLOTS;
}

static int connect_as(struct dist *d, const struct dist_to *to, const char *alive)
{
    /* Tells our pids from those of an earlier holder of the name. */
    static _Atomic unsigned creation;
    char name[MAXNODELEN + 1];
    struct in_addr ip = {0};
    d->fd = -1;
    d->writes = 0;
    d->nseen = 0;
    d->timed_out = d->closed = false;
    d->tcp_err = 0;
    if ((size_t)snprintf(name, sizeof name, "%s@%s", alive, to->self_host) >= sizeof name)
        return -1;
    unsigned c = ((unsigned)getpid() << 10) + atomic_fetch_add(&creation, 1) + 1;
    if (ei_connect_xinit_ussi(&d->ec, to->self_host, alive, name, &ip, to->cookie, c, &io,
                              sizeof io, d) < 0)
        return -1;
    int fd = ei_xconnect_host_port_tmo(&d->ec, &ip, to->port, (unsigned)to->timeout_ms);
    explicit_bzero(d->ec.ei_connect_cookie, sizeof d->ec.ei_connect_cookie);
    peer_name(d);
    if (fd >= 0 && ei_make_pid(&d->ec, &d->self) < 0)
        fd = -1;
    if (fd < 0)
        io_close(d);
    return fd;
}

int dist_open(struct dist **out, const struct dist_to *to, struct dist_fail *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    *out = NULL;
    *why = (struct dist_fail){.step = DIST_PROTO};
    pthread_once(&once, (void (*)(void))ei_init);
    struct dist *d = et_calloc(1, sizeof *d);
    if (!d)
        return ET_ENOMEM;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->beat_lock, NULL);
    d->to = to;
    d->deadline = clock_ms() + to->timeout_ms;
    d->name_fd = -1;
    unsigned next = 0;
    int fd = -1;
    for (int i = 0; i < DIST_NAMES && fd < 0; i++) {
        char alive[64];
        take_name(d, &next, alive, sizeof alive);
        fd = connect_as(d, to, alive);
        if (fd >= 0)
            break;
        explain(d, why);
        if (why->step != DIST_REFUSED || strcmp(why->status, "not_allowed") == 0)
            break; /* only a name that is taken is worth another one */
    }
    d->to = NULL;
    if (fd < 0) {
        dist_close(d);
        return ET_ENODE;
    }
    atomic_store(&d->sent_ms, clock_ms());
    *out = d;
    return 0;
}

static void beat_end(struct dist *d)
{
    if (!d->beating)
        return;
    pthread_mutex_lock(&d->beat_lock);
    d->beat_stop = true;
    pthread_cond_signal(&d->beat_wake);
    pthread_mutex_unlock(&d->beat_lock);
    pthread_join(d->beat, NULL);
    pthread_cond_destroy(&d->beat_wake);
    d->beating = false;
}

void dist_close(struct dist *d)
{
    if (!d)
        return;
    beat_end(d);
    if (d->fd >= 0)
        ei_close_connection(d->fd);
    if (d->fd >= 0) /* libei did not know it */
        io_close(d);
    if (d->name_fd >= 0)
        close(d->name_fd);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->beat_lock);
    buf_free(&d->rx);
    buf_free(&d->beat_frame);
    et_free(d);
}

int dist_fd(const struct dist *d)
{
    return d->fd;
}

const erlang_pid *dist_self(const struct dist *d)
{
    return &d->self;
}

const char *dist_peer(const struct dist *d)
{
    return d->peer;
}

const char *dist_lost(const struct dist *d)
{
    return d->lost;
}

static int lose(struct dist *d, const char *why)
{
    if (!d->lost[0])
        snprintf(d->lost, sizeof d->lost, "%s", why);
    return ET_ELOST;
}

/* -- writing --------------------------------------------------------------------------------------
 */

/* Writes all of it. Holds the lock. 0 or an errno. */
static int put(struct dist *d, const void *data, size_t n)
{
    const char *p = data;
    int64_t deadline = clock_ms() + DIST_WRITE_MS;
    while (n > 0) {
        ssize_t k = send(d->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (k > 0) {
            p += k;
            n -= (size_t)k;
            continue;
        }
        if (k < 0 && errno != EAGAIN && errno != EINTR)
            return errno;
        struct pollfd pf = {.fd = d->fd, .events = POLLOUT};
        if (poll(&pf, 1, clock_left(deadline)) == 0)
            return ETIMEDOUT;
    }
    int64_t now = clock_ms(), pause = now - atomic_exchange(&d->sent_ms, now);
    if (pause > atomic_load(&d->silence_ms))
        atomic_store(&d->silence_ms, pause);
    return 0;
}

static int put_locked(struct dist *d, const struct buf *frame)
{
    if (frame->oom)
        return lose(d, et_strerror(ET_ENOMEM));
    if (d->lost[0])
        return ET_ELOST;
    pthread_mutex_lock(&d->lock);
    int e = put(d, frame->data, frame->len);
    pthread_mutex_unlock(&d->lock);
    return e ? lose(d, e == ETIMEDOUT ? "the node takes no more messages" : strerror(e)) : 0;
}

/* Whether the buffer holds one whole term. libei says only call by call that memory was out; a
 * piece that is missing shows here. */
static bool whole(const ei_x_buff *x)
{
    if (!x->buff || x->index <= 0)
        return false;
    struct etf r = etf_over(x->buff, (size_t)x->index);
    etf_version(&r);
    etf_skip(&r);
    return !r.bad && r.p == r.end;
}

/* A frame of a control term and, when there is one, a message. */
static void frame_make(struct buf *b, const ei_x_buff *ctl, const ei_x_buff *msg)
{
    size_t n = 1 + (size_t)ctl->index + (msg ? (size_t)msg->index : 0);
    if (!whole(ctl) || (msg && !whole(msg))) {
        b->oom = true;
        return;
    }
    buf_u8(b, (uint8_t)(n >> 24));
    buf_u8(b, (uint8_t)(n >> 16));
    buf_u8(b, (uint8_t)(n >> 8));
    buf_u8(b, (uint8_t)n);
    buf_u8(b, 'p');
    buf_add(b, ctl->buff, (size_t)ctl->index);
    if (msg)
        buf_add(b, msg->buff, (size_t)msg->index);
}

static int frame_put(struct dist *d, ei_x_buff *ctl, const ei_x_buff *msg)
{
    struct buf b = BUF_INIT;
    frame_make(&b, ctl, msg);
    int e = put_locked(d, &b);
    buf_free(&b);
    ei_x_free(ctl);
    return e;
}

static int ctl_send(ei_x_buff *x, const erlang_pid *to)
{
    return ei_x_new_with_version(x) | ei_x_encode_tuple_header(x, 3) |
           ei_x_encode_long(x, OP_SEND) | ei_x_encode_atom(x, "") | ei_x_encode_pid(x, to);
}

int dist_send(struct dist *d, const erlang_pid *to, const ei_x_buff *msg)
{
    ei_x_buff x;
    if (ctl_send(&x, to))
        return lose(d, et_strerror(ET_ENOMEM));
    return frame_put(d, &x, msg);
}

int dist_send_name(struct dist *d, const char *to, const ei_x_buff *msg)
{
    ei_x_buff x;
    if (ei_x_new_with_version(&x) | ei_x_encode_tuple_header(&x, 4) |
        ei_x_encode_long(&x, OP_REG_SEND) | ei_x_encode_pid(&x, &d->self) |
        ei_x_encode_atom(&x, "") | ei_x_encode_atom(&x, to))
        return lose(d, et_strerror(ET_ENOMEM));
    return frame_put(d, &x, msg);
}

int dist_link(struct dist *d, const erlang_pid *pid)
{
    ei_x_buff x;
    if (ei_x_new_with_version(&x) | ei_x_encode_tuple_header(&x, 3) |
        ei_x_encode_long(&x, OP_LINK) | ei_x_encode_pid(&x, &d->self) | ei_x_encode_pid(&x, pid))
        return lose(d, et_strerror(ET_ENOMEM));
    return frame_put(d, &x, NULL);
}

/* -- reading --------------------------------------------------------------------------------------
 */

/* The first frame in rx: its length with header, 0 when it is not complete yet, or ET_ELOST. */
static int64_t frame_ready(struct dist *d)
{
    const unsigned char *p = (const unsigned char *)d->rx.data;
    if (d->rx.len < 4)
        return 0;
    size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    if (n > DIST_FRAME_MAX)
        return lose(d, "the node sent a message that is too large");
    return d->rx.len >= n + 4 ? (int64_t)n + 4 : 0;
}

static void rx_drop(struct dist *d)
{
    if (d->used > 0) {
        memmove(d->rx.data, d->rx.data + d->used, d->rx.len - d->used);
        d->rx.len -= d->used;
        d->used = 0;
    }
}

/* Takes what the socket has. DIST_MESSAGE: something came; DIST_NOTHING; or ET_ELOST. */
static int rx_fill(struct dist *d)
{
    size_t want = 65536;
    int64_t have = (int64_t)d->rx.len;
    if (have >= 4) { /* the rest of a large message in one go */
        const unsigned char *p = (const unsigned char *)d->rx.data;
        size_t n = 4 + ((size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3]);
        if (n - 4 <= DIST_FRAME_MAX && n > d->rx.len && n - d->rx.len > want)
            want = n - d->rx.len;
    }
    if (!buf_reserve(&d->rx, want))
        return lose(d, et_strerror(ET_ENOMEM));
    ssize_t n = recv(d->fd, d->rx.data + d->rx.len, want, MSG_DONTWAIT);
    if (n > 0) {
        d->rx.len += (size_t)n;
        return DIST_MESSAGE;
    }
    if (n == 0)
        return lose(d, "the node closed the connection");
    if (errno == EAGAIN || errno == EINTR)
        return DIST_NOTHING;
    return lose(d, strerror(errno));
}

/* What a whole frame means to us; DIST_NOTHING: it can be passed over. */
static enum dist_got frame_read(struct dist *d, size_t len, struct etf *msg)
{
    struct etf r = etf_over(d->rx.data + 4, len - 4), body;
    if (*r.p++ != 'p')
        return DIST_NOTHING;
    etf_version(&r);
    body = r;
    etf_skip(&body);
    uint32_t arity = etf_tuple(&r);
    int64_t op = arity ? etf_int(&r) : 0;
    if (r.bad || body.bad)
        return DIST_NOTHING;
    switch (op) {
    case OP_SEND:
    case OP_REG_SEND:
    case OP_SEND_TT:
    case OP_REG_SEND_TT:
    case OP_SEND_SENDER:
    case OP_SEND_SENDER_TT:
        etf_version(&body);
        *msg = body;
        return body.bad ? DIST_NOTHING : DIST_MESSAGE;
    case OP_EXIT:
    case OP_EXIT_TT:
    case OP_PAYLOAD_EXIT:
    case OP_PAYLOAD_EXIT_TT: *msg = r; return DIST_DOWN;
    default: return DIST_NOTHING;
    }
}

int dist_recv(struct dist *d, int timeout_ms, struct etf *msg)
{
    int64_t deadline = clock_ms() + timeout_ms;
    for (;;) {
        rx_drop(d);
        int64_t n = frame_ready(d);
        if (n < 0)
            return (int)n;
        if (n > 0) {
            d->used = (size_t)n;
            if (n == 4) {
                struct buf tick = BUF_INIT;
                buf_u32(&tick, 0);
                int e = put_locked(d, &tick);
                buf_free(&tick);
                if (e)
                    return e;
                continue;
            }
            enum dist_got got = frame_read(d, (size_t)n, msg);
            if (got != DIST_NOTHING)
                return (int)got;
            continue;
        }
        int got = rx_fill(d);
        if (got < 0)
            return got;
        if (got == DIST_MESSAGE)
            continue;
        struct pollfd p = {.fd = d->fd, .events = POLLIN};
        int k = poll(&p, 1, clock_left(deadline));
        if (k == 0)
            return DIST_NOTHING;
        if (k < 0)
            return errno == EINTR ? DIST_SIGNAL : lose(d, strerror(errno));
    }
}

int dist_rpc(struct dist *d, const char *mod, const char *fun, const ei_x_buff *args,
             int timeout_ms, struct etf *reply)
{
    ei_x_buff x;
    int64_t deadline = clock_ms() + timeout_ms;
    if (ei_x_new_with_version(&x) | ei_x_encode_tuple_header(&x, 2) |
        ei_x_encode_pid(&x, &d->self) | ei_x_encode_tuple_header(&x, 5) |
        ei_x_encode_atom(&x, "call") | ei_x_encode_atom(&x, mod) | ei_x_encode_atom(&x, fun) |
        ei_x_append(&x, args) | ei_x_encode_atom(&x, "user"))
        return lose(d, et_strerror(ET_ENOMEM));
    int e = dist_send_name(d, "rex", &x);
    ei_x_free(&x);
    while (e == 0) {
        int got = dist_recv(d, clock_left(deadline), reply);
        if (got < 0)
            return got;
        if (got == DIST_NOTHING)
            return ET_ENODE;
        if (got == DIST_MESSAGE && etf_tuple(reply) == 2 && etf_atom_is(reply, "rex"))
            return 0;
    }
    return e;
}

/* -- heartbeat ------------------------------------------------------------------------------------
 */

static void *beat_run(void *arg)
{
    struct dist *d = arg;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    pthread_mutex_lock(&d->beat_lock);
    while (!d->beat_stop) {
        int64_t ns = (int64_t)at.tv_nsec + (int64_t)d->beat_ms * 1000000;
        at.tv_sec += ns / 1000000000;
        at.tv_nsec = ns % 1000000000;
        while (!d->beat_stop &&
               pthread_cond_timedwait(&d->beat_wake, &d->beat_lock, &at) != ETIMEDOUT)
            ;
        if (d->beat_stop)
            break;
        pthread_mutex_unlock(&d->beat_lock);
        if (pthread_mutex_trylock(&d->lock) ==
            0) { /* else something is being sent, which is as good */
            put(d, d->beat_frame.data, d->beat_frame.len);
            pthread_mutex_unlock(&d->lock);
        }
        clock_gettime(CLOCK_MONOTONIC, &at); /* after a stop: no burst */
        pthread_mutex_lock(&d->beat_lock);
    }
    pthread_mutex_unlock(&d->beat_lock);
    return NULL;
}

int dist_heartbeat(struct dist *d, const erlang_pid *to, const ei_x_buff *msg, int period_ms)
{
    ei_x_buff x;
    pthread_condattr_t ca;
    sigset_t all, old;
    if (ctl_send(&x, to))
        return ET_ENOMEM;
    frame_make(&d->beat_frame, &x, msg);
    ei_x_free(&x);
    if (d->beat_frame.oom)
        return ET_ENOMEM;
    d->beat_ms = period_ms;
    atomic_store(&d->silence_ms, 0);
    atomic_store(&d->sent_ms, clock_ms());
    pthread_condattr_init(&ca);
    pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
    pthread_cond_init(&d->beat_wake, &ca);
    pthread_condattr_destroy(&ca);
    sigfillset(&all); /* signals are for the thread that waits in dist_recv */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    d->beating = pthread_create(&d->beat, NULL, beat_run, d) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!d->beating)
        pthread_cond_destroy(&d->beat_wake);
    return d->beating ? 0 : ET_ENOMEM;
}

int64_t dist_silence(const struct dist *d)
{
    int64_t now = clock_ms() - atomic_load(&d->sent_ms), max = atomic_load(&d->silence_ms);
    return now > max ? now : max;
}
