/* relay.c - a relay. See relay.h.
 *
 * To the relay: {call, Ref, Module, Function, Args}, {link, Pid}, {send, Pid, Message}. From it:
 * {reply, Ref, Result}, {message, Message}, {down, Pid}, {lost, Text}. A frame without a term ends
 * the conversation. The relay knows our identity: the atom `self` stands for it in messages. */
#include "wire/relay.h"
#include "etf/write.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"

struct relay {
    struct conn conn; /* first: a pointer to one is a pointer to the other */
    int64_t ref;      /* of the last call */
};

static struct relay *relay_of(struct conn *c)
{
    return (struct relay *)(void *)c;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* Appends a frame of the term in x, which it frees, followed by `more` without its version byte. */
static void frame_make(struct buf *b, struct buf *x, const struct buf *more)
{
    if (more)
        buf_add(x, more->data + 1, more->len - 1);
    if (conn_whole(x)) {
        conn_length(b, x->len);
        buf_add(b, x->data, x->len);
    } else {
        b->oom = true;
    }
    buf_free(x);
}

static void relay_send(struct conn *c, struct buf *b, const erlang_pid *to, const struct buf *msg)
{
    struct buf x = BUF_INIT;
    (void)c;
    if (!conn_whole(msg)) {
        b->oom = true;
        return;
    }
    etf_put_version(&x);
    etf_put_tuple(&x, 3);
    etf_put_atom(&x, "send");
    etf_put_pid(&x, to);
    frame_make(b, &x, msg);
}

static void relay_link(struct conn *c, struct buf *b, const erlang_pid *pid)
{
    struct buf x = BUF_INIT;
    (void)c;
    etf_put_version(&x);
    etf_put_tuple(&x, 2);
    etf_put_atom(&x, "link");
    etf_put_pid(&x, pid);
    frame_make(b, &x, NULL);
}

static void relay_call(struct conn *c, struct buf *b, const char *mod, const char *fun,
                       const struct buf *args)
{
    struct buf x = BUF_INIT;
    etf_put_version(&x);
    etf_put_tuple(&x, 5);
    etf_put_atom(&x, "call");
    etf_put_int(&x, ++relay_of(c)->ref);
    etf_put_atom(&x, mod);
    etf_put_atom(&x, fun);
    buf_add(&x, args->data, args->len);
    frame_make(b, &x, NULL);
}

static void relay_self(struct conn *c, struct buf *x)
{
    (void)c;
    etf_put_atom(x, "self");
}

/* -- reading ----------------------------------------------------------------------------------- */

static int lost(struct conn *c, struct etf *r)
{
    struct buf b = BUF_INIT;
    etf_text(r, &b);
    int e = conn_lose(c, b.len && !r->bad ? buf_str(&b) : "the relay lost it");
    buf_free(&b);
    return e;
}

static int relay_read(struct conn *c, const unsigned char *p, size_t n, struct etf *msg)
{
    char what[ETF_ATOM_MAX];
    struct etf r = etf_over(p, n), all;
    if (n == 0)
        return conn_lose(c, "its relay process has ended");
    etf_version(&r);
    all = r;
    etf_skip(&all); /* a truncated message is discarded entirely */
    uint32_t arity = etf_tuple(&r);
    etf_atom(&r, what);
    if (all.bad || r.bad)
        return CONN_NOTHING;
    if (arity == 2 && strcmp(what, "lost") == 0)
        return lost(c, &r);
    int got = CONN_NOTHING;
    if (arity == 2 && strcmp(what, "message") == 0)
        got = CONN_MESSAGE;
    else if (arity == 2 && strcmp(what, "down") == 0)
        got = CONN_DOWN;
    else if (arity == 3 && strcmp(what, "reply") == 0 && etf_int(&r) == relay_of(c)->ref && !r.bad)
        got = CONN_RESULT;
    *msg = r;
    return got;
}

static void relay_close(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    et_free(relay_of(c));
}

static const struct conn_ops relay_ops = {
    .send = relay_send,
    .link = relay_link,
    .call = relay_call,
    .self = relay_self,
    .read = relay_read,
    .close = relay_close,
};

int relay_open(struct conn **out, int fd)
{
    struct relay *r = et_calloc(1, sizeof *r);
    *out = NULL;
    if (!r) {
        close(fd);
        return ET_ENOMEM;
    }
    conn_init(&r->conn, &relay_ops);
    r->conn.fd = fd;
    conn_begin(&r->conn);
    *out = &r->conn;
    return 0;
}
