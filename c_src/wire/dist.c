/* dist.c - a connection to a node. See dist.h.
 *
 * On the wire after the handshake: u32 length, then that many bytes. Length 0 is a tick, to be
 * answered with one. Otherwise: the byte 'p', a control term {Op, ...} with version byte, and for
 * some Ops a message with version byte.
 *
 * libei reaches the socket through our callbacks (`io_*`). They enforce the deadline and note how
 * far the handshake got, because libei only reports that it failed. We send two packets in it: our
 * name, and the proof that we know the cookie. A node that closes after the second rejected the
 * cookie. */
#include "wire/dist.h"
#include "etf/write.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "wire/deadline.h"
#include "wire/name.h"

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
    DIST_NAMES = 16 /* attempts to find a name that is not taken */
};

struct dist {
    struct conn conn; /* first: a pointer to one is a pointer to the other */
    ei_cnode ec;
    const struct dist_to *to; /* while connecting */
    int64_t deadline;         /* while connecting */
    int name_fd;              /* holds our name, -1: none */
    int tcp_err;              /* errno of the TCP connection, 0: none */
    int writes;               /* packets written in the handshake */
    bool timed_out;
    bool looked;     /* stopped before the cookie, as requested */
    bool closed;     /* the other side closed during the handshake */
    bool tls_failed; /* tls_why says why */
    struct tls_why tls_why;
    unsigned char seen[1024]; /* first bytes of its answers: its status and its name */
    size_t nseen;
    erlang_pid self; /* our pid there */
    char peer[256];  /* the node's own name, "" until it has sent it */
};

/* -- what libei calls -------------------------------------------------------------------------- */

static int io_socket(void **ctx, void *setup)
{
    *ctx = setup;
    return 0;
}

static int io_close(void *ctx)
{
    struct dist *d = ctx;
    tls_close(d->conn.tls);
    d->conn.tls = NULL;
    if (d->conn.fd >= 0)
        close(d->conn.fd);
    d->conn.fd = -1;
    return 0;
}

static int io_wait(struct dist *d, short events)
{
    for (;;) {
        int n = conn_wait(&d->conn, events, clock_left(d->deadline));
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

/* Returns the node's name for messages. */
static const char *called(const struct dist *d)
{
    return d->to ? d->to->node : "the node";
}

/* Does the TLS handshake, if there is to be one. */
static int io_tls(struct dist *d)
{
    if (!d->to->tls)
        return 0;
    int e = tls_open(&d->conn.tls, d->conn.fd, d->to->tls, d->to->tls_host, &d->tls_why);
    while (e == 0 && (e = tls_handshake(d->conn.tls, called(d), &d->tls_why)) == EAGAIN)
        e = io_wait(d, POLLIN);
    d->tls_failed = e != 0;
    if (e == ET_ENOMEM)
        snprintf(d->tls_why.text, sizeof d->tls_why.text, "%s", et_strerror(e));
    if (e > 0) {
        snprintf(d->tls_why.text, sizeof d->tls_why.text,
                 "%.200s accepted the connection, and did not answer the TLS handshake", called(d));
        snprintf(d->tls_why.help, sizeof d->tls_why.help,
                 "is its distribution without TLS? Then leave out the --tls options. Or is its "
                 "process stopped?");
    }
    return e == 0 ? 0 : EPROTO;
}

/* The connection has ended with errno e, or 0 for an orderly close. A node may reject our
 * certificate only after the handshake, which TLS 1.3 completes before the node has checked it. */
static int io_ended(struct dist *d, int e)
{
    d->closed = e == 0 || e == EPIPE || e == ECONNRESET;
    if (d->conn.tls && (e == EPROTO || (d->closed && d->nseen == 0))) {
        tls_explain(d->conn.tls, called(d), &d->tls_why);
        d->tls_failed = true;
    }
    return e;
}

static int io_connect(void *ctx, void *addr, int len, unsigned tmo)
{
    struct dist *d = ctx;
    (void)addr, (void)len, (void)tmo; /* libei supports IPv4 only; we have the address */
    int fd = node_tcp(&d->to->addr, d->to->port, clock_left(d->deadline));
    if (fd < 0) {
        d->tcp_err = -fd;
        return -fd;
    }
    d->conn.fd = fd;
    d->tcp_err = 0;
    return io_tls(d);
}

static int io_write(void *ctx, const char *buf, ssize_t *len, unsigned tmo)
{
    struct dist *d = ctx;
    (void)tmo;
    if (d->to && d->to->look && d->writes > 0) {
        d->looked = true;
        return ECANCELED;
    }
    for (;;) {
        ssize_t n = conn_give(&d->conn, buf, (size_t)*len);
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
            return io_ended(d, errno);
        }
    }
}

static int io_read(void *ctx, char *buf, ssize_t *len, unsigned tmo)
{
    struct dist *d = ctx;
    (void)tmo;
    for (;;) {
        ssize_t n = conn_take(&d->conn, buf, (size_t)*len);
        if (n >= 0) {
            size_t k = sizeof d->seen - d->nseen;
            if ((size_t)n < k)
                k = (size_t)n;
            memcpy(d->seen + d->nseen, buf, k);
            d->nseen += k;
            *len = n;
            return n == 0 ? io_ended(d, 0) : 0;
        }
        if (errno == EAGAIN) {
            int e = io_wait(d, POLLIN);
            if (e)
                return e;
        } else if (errno != EINTR) {
            return io_ended(d, errno);
        }
    }
}

/* Returns the size of the length field before each packet of the handshake, which differs inside
 * TLS. */
static size_t header_of(const struct dist *d)
{
    return d->to && d->to->tls ? 4 : 2;
}

static int io_header(void *ctx, int *size)
{
    *size = (int)header_of(ctx);
    return 0;
}

static int io_complete(void *ctx)
{
    (void)ctx;
    return 0;
}

static int io_fd(void *ctx, int *fd)
{
    *fd = ((struct dist *)ctx)->conn.fd;
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

/* -- open and close ---------------------------------------------------------------------------- */

/* Returns the n-th packet that the node sent in the handshake, and its length in *len; NULL when it
 * did not arrive. */
static const unsigned char *packet(const struct dist *d, unsigned n, size_t *len)
{
    const size_t header = header_of(d);
    for (size_t at = 0; at + header <= d->nseen; at += *len) {
        const unsigned char *p = d->seen + at;
        at += header;
        *len = (size_t)(p[header - 2] << 8 | p[header - 1]);
        if (header == 4)
            *len |= (size_t)p[0] << 24 | (size_t)p[1] << 16;
        if (*len > d->nseen - at)
            break;
        if (n-- == 0)
            return d->seen + at;
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

/* Reads the node's name from its second packet, the challenge: 'N' flags8 challenge4 creation4 u16
 * name, or 'n' version2 flags4 challenge4 name. */
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

/* Writes the node's answer to our name: "ok", "not_allowed", "nok", "alive"; "" when there was
 * none. */
static void status_text(const struct dist *d, char *out, size_t cap)
{
    size_t n = 0;
    const unsigned char *p = packet(d, 0, &n);
    out[0] = '\0';
    if (p && n > 1 && p[0] == 's')
        copy_text(out, cap, p + 1, n - 1);
}

/* Returns whether the node answered with a TLS record of type 21, an alert, of version 3.x: how a
 * TLS server responds to a peer that does not speak TLS. */
static bool is_alert(const struct dist *d)
{
    return !d->to->tls && d->nseen >= 2 && d->seen[0] == 21 && d->seen[1] == 3;
}

static void explain(const struct dist *d, struct dist_fail *why)
{
    *why = (struct dist_fail){0};
    status_text(d, why->status, sizeof why->status);
    memcpy(why->peer, d->peer, sizeof why->peer);
    if (d->tcp_err) {
        why->step = DIST_TCP;
        why->err = d->tcp_err;
    } else if (d->tls_failed) {
        why->step = DIST_TLS;
        why->err = d->timed_out ? ETIMEDOUT : 0;
        why->tls = d->tls_why;
    } else if (is_alert(d)) {
        why->step = DIST_NEEDSTLS;
    } else if (why->status[0] && strncmp(why->status, "ok", 2) != 0) {
        why->step = DIST_REFUSED;
    } else if (d->looked && d->peer[0]) {
        why->step = DIST_LOOKED;
    } else if (d->timed_out) {
        why->step = DIST_SILENT;
    } else if (d->writes >= 2) {
        why->step = DIST_COOKIE;
    } else {
        why->step = DIST_PROTO;
    }
}

/* Takes the part of our name before the @: one of a few that no process on this host holds, from
 * number *next on; when all are in use, one that is unique to us. */
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
    /* Tells our pids from those of an earlier holder of the name, whose process may have had our
     * pid, as happens in containers. */
    static _Atomic unsigned creation;
    char name[MAXNODELEN + 1];
    struct in_addr ip = {0};
    const char *at = to->as != NULL ? strchr(to->as, '@') : NULL;
    const char *host = at != NULL ? at + 1 : to->self_host;
    d->conn.fd = -1;
    d->writes = 0;
    d->nseen = 0;
    d->timed_out = d->closed = d->looked = d->tls_failed = false;
    d->tcp_err = 0;
    if ((size_t)snprintf(name, sizeof name, "%s@%s", alive, host) >= sizeof name)
        return -1;
    unsigned c = ((unsigned)getpid() << 10) + atomic_fetch_add(&creation, 1) + (unsigned)clock_ms();
    c = c > 3 ? c : 4; /* lower ones are of old releases */
    if (ei_connect_xinit_ussi(&d->ec, host, alive, name, &ip, to->cookie, c, &io, sizeof io, d) < 0)
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

static const struct conn_ops dist_ops;

int dist_open(struct conn **out, const struct dist_to *to, struct dist_fail *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    *out = NULL;
    *why = (struct dist_fail){.step = DIST_PROTO};
    pthread_once(&once, (void (*)(void))ei_init);
    struct dist *d = et_calloc(1, sizeof *d);
    if (!d)
        return ET_ENOMEM;
    conn_init(&d->conn, &dist_ops);
    d->to = to;
    d->deadline = clock_ms() + to->timeout_ms;
    d->name_fd = -1;
    unsigned next = 0;
    int fd = -1;
    for (int i = 0; i < DIST_NAMES && fd < 0; i++) {
        char alive[MAXNODELEN + 1];
        if (to->as == NULL)
            take_name(d, &next, alive, sizeof alive);
        else
            snprintf(alive, sizeof alive, "%.*s", (int)strcspn(to->as, "@"), to->as);
        fd = connect_as(d, to, alive);
        if (fd >= 0)
            break;
        explain(d, why);
        if (to->as != NULL || why->step != DIST_REFUSED || strcmp(why->status, "not_allowed") == 0)
            break; /* only a name that is taken is worth another try */
    }
    d->to = NULL;
    if (fd < 0) {
        conn_close(&d->conn);
        return ET_ENODE;
    }
    conn_begin(&d->conn);
    *out = &d->conn;
    return 0;
}

static struct dist *dist_of(struct conn *c)
{
    return (struct dist *)(void *)c;
}

static void dist_close(struct conn *c)
{
    struct dist *d = dist_of(c);
    if (c->fd >= 0)
        ei_close_connection(c->fd);
    if (c->fd >= 0) /* libei does not know this descriptor */
        io_close(d);
    if (d->name_fd >= 0)
        close(d->name_fd);
    et_free(d);
}

const char *dist_peer(const struct conn *c)
{
    return ((const struct dist *)(const void *)c)->peer;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* Appends a frame of a control term, which it frees, and of a message unless that is NULL. */
static void frame_make(struct buf *b, struct buf *ctl, const struct buf *msg)
{
    if (conn_whole(ctl) && (!msg || conn_whole(msg))) {
        conn_length(b, 1 + ctl->len + (msg ? msg->len : 0));
        buf_u8(b, 'p');
        buf_add(b, ctl->data, ctl->len);
        if (msg)
            buf_add(b, msg->data, msg->len);
    } else {
        b->oom = true;
    }
    buf_free(ctl);
}

static void dist_send(struct conn *c, struct buf *b, const erlang_pid *to, const struct buf *msg)
{
    struct buf x = BUF_INIT;
    (void)c;
    etf_put_version(&x);
    etf_put_tuple(&x, 3);
    etf_put_int(&x, OP_SEND);
    etf_put_atom(&x, "");
    etf_put_pid(&x, to);
    frame_make(b, &x, msg);
}

static void dist_link(struct conn *c, struct buf *b, const erlang_pid *pid)
{
    struct buf x = BUF_INIT;
    etf_put_version(&x);
    etf_put_tuple(&x, 3);
    etf_put_int(&x, OP_LINK);
    etf_put_pid(&x, &dist_of(c)->self);
    etf_put_pid(&x, pid);
    frame_make(b, &x, NULL);
}

/* Calls through `rex`. */
static void dist_call(struct conn *c, struct buf *b, const char *mod, const char *fun,
                      const struct buf *args)
{
    struct buf ctl = BUF_INIT, x = BUF_INIT;
    const erlang_pid *self = &dist_of(c)->self;
    etf_put_version(&ctl);
    etf_put_tuple(&ctl, 4);
    etf_put_int(&ctl, OP_REG_SEND);
    etf_put_pid(&ctl, self);
    etf_put_atom(&ctl, "");
    etf_put_atom(&ctl, "rex");
    etf_put_version(&x);
    etf_put_tuple(&x, 2);
    etf_put_pid(&x, self);
    etf_put_tuple(&x, 5);
    etf_put_atom(&x, "call");
    etf_put_atom(&x, mod);
    etf_put_atom(&x, fun);
    buf_add(&x, args->data, args->len);
    etf_put_atom(&x, "user");
    frame_make(b, &ctl, &x);
    buf_free(&x);
}

static void dist_self(struct conn *c, struct buf *x)
{
    etf_put_pid(x, &dist_of(c)->self);
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Returns whether the control message's third element, in all that we handle its destination, is
 * our pid. Our name may have belonged to a process killed a moment ago, whose messages are still
 * arriving. */
static bool is_for_us(const struct dist *d, struct etf r)
{
    erlang_pid to;
    etf_skip(&r);
    etf_pid(&r, &to);
    return !r.bad && ei_cmp_pids(&to, (erlang_pid *)&d->self) == 0;
}

/* Returns whether the message is an answer of `rex`, {rex, Result}; then moves *msg to the result.
 */
static bool is_result(struct etf *msg)
{
    struct etf r = *msg;
    bool yes = etf_tuple(&r) == 2 && etf_atom_is(&r, "rex");
    if (yes)
        *msg = r;
    return yes;
}

static int tick(struct conn *c)
{
    struct buf b = BUF_INIT;
    conn_length(&b, 0);
    int e = conn_put(c, &b);
    buf_free(&b);
    return e ? e : CONN_NOTHING;
}

static int dist_read(struct conn *c, const unsigned char *p, size_t n, struct etf *msg)
{
    struct etf r = etf_over(p, n), body;
    if (n == 0)
        return tick(c);
    if (*r.p++ != 'p')
        return CONN_NOTHING;
    etf_version(&r);
    body = r;
    etf_skip(&body);
    uint32_t arity = etf_tuple(&r);
    int64_t op = arity ? etf_int(&r) : 0;
    if (r.bad || body.bad)
        return CONN_NOTHING;
    if (op != OP_REG_SEND && op != OP_REG_SEND_TT && !is_for_us(dist_of(c), r))
        return CONN_NOTHING;
    switch (op) {
    case OP_SEND:
    case OP_REG_SEND:
    case OP_SEND_TT:
    case OP_REG_SEND_TT:
    case OP_SEND_SENDER:
    case OP_SEND_SENDER_TT:
        etf_version(&body);
        *msg = body;
        return body.bad ? CONN_NOTHING : is_result(msg) ? CONN_RESULT : CONN_MESSAGE;
    case OP_EXIT:
    case OP_EXIT_TT:
    case OP_PAYLOAD_EXIT:
    case OP_PAYLOAD_EXIT_TT: *msg = r; return CONN_DOWN;
    default: return CONN_NOTHING;
    }
}

static const struct conn_ops dist_ops = {
    .send = dist_send,
    .link = dist_link,
    .call = dist_call,
    .self = dist_self,
    .read = dist_read,
    .close = dist_close,
};
