/* conn.c - what all ways to a node share: frames on a socket, and waiting. See conn.h. */
#include "wire/conn.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "util/buftext.h"
#include "wire/beat.h"
#include "wire/deadline.h"
#include "wire/talk.h"
#include "wire/tls.h"

enum {
    CONN_WRITE_MS = 10000,      /* a node that takes nothing for this long is lost */
    CONN_FRAME_MAX = 512 << 20, /* no message of the agent comes close to this */
    CONN_TURN_MS = 50 /* how long TLS waits at once for what another thread may read instead */
};

/* -- open and close ---------------------------------------------------------------------------- */

void conn_init(struct conn *c, const struct conn_ops *ops)
{
    c->ops = ops;
    c->fd = -1;
    pthread_mutex_init(&c->lock, NULL);
}

void conn_begin(struct conn *c)
{
    atomic_store(&c->sent_ms, clock_ms());
}

void conn_end(struct conn *c)
{
    beat_end(c);
    pthread_mutex_destroy(&c->lock);
    buf_free(&c->rx);
    buf_free(&c->rest);
    buf_free(&c->beat_frame);
    buf_free(&c->beat_msg);
}

void conn_close(struct conn *c)
{
    if (!c)
        return;
    conn_end(c);
    talk_line(c->talk, "--", "closed", NULL);
    c->ops->close(c);
}

int conn_fd(const struct conn *c)
{
    return c->fd;
}

void conn_log(struct conn *c, struct talk *talk)
{
    c->talk = talk;
    talk_line(talk, "--", "connected", NULL);
}

const char *conn_lost(const struct conn *c)
{
    return c->lost;
}

int conn_lose(struct conn *c, const char *why)
{
    if (!c->lost[0]) {
        char word[sizeof c->lost + 8];
        snprintf(c->lost, sizeof c->lost, "%s", why);
        snprintf(word, sizeof word, "lost: %s", c->lost);
        talk_line(c->talk, "--", word, NULL);
    }
    return ET_ELOST;
}

/* -- bytes ------------------------------------------------------------------------------------- */

ssize_t conn_take(struct conn *c, void *p, size_t n)
{
    return c->tls ? tls_recv(c->tls, p, n) : recv(c->fd, p, n, MSG_DONTWAIT);
}

ssize_t conn_give(struct conn *c, const void *p, size_t n)
{
    return c->tls ? tls_send(c->tls, p, n) : send(c->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int conn_wait(struct conn *c, short events, int timeout_ms)
{
    short needs = c->tls ? tls_events(c->tls, events) : events;
    struct pollfd p = {.fd = c->fd, .events = needs};
    /* During a renegotiation of keys a writer waits for the other side's answer, which the reader
     * may read, and vice versa. */
    if (needs == events || timeout_ms <= CONN_TURN_MS)
        return poll(&p, 1, timeout_ms);
    int n = poll(&p, 1, CONN_TURN_MS);
    return n == 0 ? 1 : n;
}

/* Loses the connection because bytes could not be received or sent, with that errno. */
static int lose_by(struct conn *c, int e)
{
    struct tls_why why;
    if (!c->tls || e != EPROTO)
        return conn_lose(c, strerror(e));
    tls_explain(c->tls, "the node", &why);
    return conn_lose(c, why.text);
}

/* -- writing ----------------------------------------------------------------------------------- */

/* Notes that a write that began then is complete. What the node has read it read after that: our
 * pause is never shorter than its. */
static void note_sent(struct conn *c, int64_t began)
{
    int64_t pause = clock_ms() - atomic_exchange(&c->sent_ms, began);
    if (pause > atomic_load(&c->silence_ms))
        atomic_store(&c->silence_ms, pause);
}

/* Writes all bytes. Returns 0 or an errno. */
static int put_bytes(struct conn *c, const char *p, size_t n, int64_t deadline)
{
    while (n > 0) {
        ssize_t k = conn_give(c, p, n);
        if (k > 0) {
            p += k;
            n -= (size_t)k;
            continue;
        }
        if (k < 0 && errno != EAGAIN && errno != EINTR)
            return errno;
        if (conn_wait(c, POLLOUT, clock_left(deadline)) == 0)
            return ETIMEDOUT;
    }
    return 0;
}

/* Writes everything, after what conn_offer has left. The caller holds the lock. Returns 0 or an
 * errno. */
static int put(struct conn *c, const void *data, size_t n)
{
    int64_t began = clock_ms(), deadline = began + CONN_WRITE_MS;
    int e = put_bytes(c, c->rest.data, c->rest.len, deadline);
    if (e == 0) {
        buf_reset(&c->rest);
        e = put_bytes(c, data, n, deadline);
    }
    if (e == 0)
        note_sent(c, began);
    return e;
}

bool conn_offer(struct conn *c, const struct buf *frame)
{
    int64_t began = clock_ms();
    ssize_t k = 1;
    if (pthread_mutex_trylock(&c->lock) != 0)
        return false;
    if (c->rest.len == 0) {
        buf_reset(&c->rest);
        buf_add(&c->rest, frame->data, frame->len);
    }
    while (c->rest.len > 0 && k > 0) {
        k = conn_give(c, c->rest.data, c->rest.len);
        if (k > 0) {
            c->rest.len -= (size_t)k;
            memmove(c->rest.data, c->rest.data + k, c->rest.len);
        }
    }
    const bool all = c->rest.len == 0 && !c->rest.oom;
    if (all)
        note_sent(c, began);
    pthread_mutex_unlock(&c->lock);
    return all;
}

int conn_put(struct conn *c, const struct buf *frames)
{
    if (frames->oom)
        return conn_lose(c, et_strerror(ET_ENOMEM));
    if (c->lost[0])
        return ET_ELOST;
    pthread_mutex_lock(&c->lock);
    int e = put(c, frames->data, frames->len);
    pthread_mutex_unlock(&c->lock);
    if (e == ETIMEDOUT)
        return conn_lose(c, "the node accepts no more messages");
    return e ? lose_by(c, e) : 0;
}

static int put_and_free(struct conn *c, struct buf *frame)
{
    int e = conn_put(c, frame);
    buf_free(frame);
    return e;
}

void conn_length(struct buf *b, size_t n)
{
    buf_u8(b, (uint8_t)(n >> 24));
    buf_u8(b, (uint8_t)(n >> 16));
    buf_u8(b, (uint8_t)(n >> 8));
    buf_u8(b, (uint8_t)n);
}

void conn_log_sent(struct conn *c, const char *what, const erlang_pid *to, const void *msg,
                   size_t n)
{
    char word[MAXATOMLEN_UTF8 + 64];
    struct etf r = etf_over(msg, n);
    snprintf(word, sizeof word, "%s<%s.%u.%u>", what, to->node, to->num, to->serial);
    if (n > 0)
        etf_version(&r);
    talk_line(c->talk, "->", word, n > 0 ? &r : NULL);
}

int conn_send(struct conn *c, const erlang_pid *to, const struct buf *msg)
{
    struct buf b = BUF_INIT;
    if (c->talk && conn_whole(msg))
        conn_log_sent(c, "", to, msg->data, msg->len);
    c->ops->send(c, &b, to, msg);
    return put_and_free(c, &b);
}

int conn_link(struct conn *c, const erlang_pid *pid)
{
    struct buf b = BUF_INIT;
    if (c->talk)
        conn_log_sent(c, "link ", pid, NULL, 0);
    c->ops->link(c, &b, pid);
    return put_and_free(c, &b);
}

void conn_put_self(struct conn *c, struct buf *x)
{
    c->ops->self(c, x);
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Returns the size of the frame in rx that begins behind `from` bytes, with its length; 0: not
 * known yet. */
static uint64_t frame_size(const struct conn *c, size_t from)
{
    if (c->rx.len - from < 4)
        return 0;
    const unsigned char *p = (const unsigned char *)c->rx.data + from;
    return 4 + ((uint64_t)p[0] << 24 | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 8 | p[3]);
}

bool conn_holds(const struct conn *c)
{
    const uint64_t n = frame_size(c, c->used);
    return n > 0 && c->rx.len - c->used >= n;
}

/* Returns the size of the first frame in rx with its header, 0 when it is not complete yet, or
 * ET_ELOST. */
static int64_t frame_ready(struct conn *c)
{
    uint64_t n = frame_size(c, 0);
    if (n > 4 + CONN_FRAME_MAX)
        return conn_lose(c, "the node sent a message that is too large");
    return n > 0 && c->rx.len >= n ? (int64_t)n : 0;
}

static void rx_drop(struct conn *c)
{
    if (c->used > 0) {
        memmove(c->rx.data, c->rx.data + c->used, c->rx.len - c->used);
        c->rx.len -= c->used;
        c->used = 0;
    }
}

/* Receives what the socket has. CONN_MESSAGE: something arrived; CONN_NOTHING; or ET_ELOST. */
static int rx_fill(struct conn *c)
{
    size_t want = 65536;
    uint64_t size = frame_size(c, 0); /* the rest of a large message in one go */
    if (size <= 4 + CONN_FRAME_MAX && size > c->rx.len + want)
        want = size - c->rx.len;
    if (!buf_reserve(&c->rx, want))
        return conn_lose(c, et_strerror(ET_ENOMEM));
    ssize_t n = conn_take(c, c->rx.data + c->rx.len, want);
    if (n > 0) {
        c->rx.len += (size_t)n;
        return CONN_MESSAGE;
    }
    if (n == 0)
        return conn_lose(c, "the node closed the connection");
    if (errno == EAGAIN || errno == EINTR)
        return CONN_NOTHING;
    return lose_by(c, errno);
}

static void log_got(struct conn *c, int got, const struct etf *msg)
{
    talk_line(c->talk, "<-", got == CONN_RESULT ? "result" : got == CONN_DOWN ? "down" : NULL, msg);
}

/* Waits for one event of any kind. */
static int next(struct conn *c, int64_t deadline, struct etf *msg)
{
    for (;;) {
        rx_drop(c);
        int64_t n = frame_ready(c);
        if (n < 0)
            return (int)n;
        if (n > 0) {
            c->used = (size_t)n;
            int got = c->ops->read(c, (unsigned char *)c->rx.data + 4, (size_t)n - 4, msg);
            if (got >= 0 && got != CONN_NOTHING)
                log_got(c, got, msg);
            if (got != CONN_NOTHING)
                return got;
            continue;
        }
        int got = rx_fill(c);
        if (got < 0)
            return got;
        if (got == CONN_MESSAGE)
            continue;
        const int left = clock_left(deadline);
        int k =
            left > 0 ? conn_wait(c, POLLIN, left) : 0; /* whether there is more was just asked */
        if (k == 0)
            return CONN_NOTHING;
        if (k < 0)
            return errno == EINTR ? CONN_SIGNAL : conn_lose(c, strerror(errno));
    }
}

int conn_recv(struct conn *c, int timeout_ms, struct etf *msg)
{
    int64_t deadline = clock_ms() + timeout_ms;
    int got;
    do
        got = next(c, deadline, msg);
    while (got == CONN_RESULT); /* of a call that was given up */
    return got;
}

static void log_call(struct conn *c, const char *mod, const char *fun, const struct buf *args)
{
    char word[128];
    struct etf r = etf_over(args->data, args->len);
    snprintf(word, sizeof word, "call %s:%s", mod, fun);
    talk_line(c->talk, "->", word, &r);
}

int conn_call(struct conn *c, const char *mod, const char *fun, const struct buf *args,
              int timeout_ms, struct etf *reply)
{
    int64_t deadline = clock_ms() + timeout_ms;
    struct buf b = BUF_INIT;
    if (conn_whole(args)) {
        if (c->talk)
            log_call(c, mod, fun, args);
        c->ops->call(c, &b, mod, fun, args);
    } else {
        b.oom = true;
    }
    int e = put_and_free(c, &b);
    while (e == 0) {
        int got = next(c, deadline, reply);
        if (got < 0)
            return got;
        if (got == CONN_NOTHING)
            return ET_ENODE;
        if (got == CONN_RESULT)
            return 0;
    }
    return e;
}

int64_t conn_silence(const struct conn *c)
{
    int64_t now = clock_ms() - atomic_load(&c->sent_ms), max = atomic_load(&c->silence_ms);
    return now > max ? now : max;
}
