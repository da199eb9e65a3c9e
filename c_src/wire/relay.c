/* relay.c - a relay. See relay.h.
 *
 * To the relay: {call, Ref, Module, Function, Args}, {link, Pid}, {send, Pid, Message}. From it:
 * {reply, Ref, Result}, {message, Message}, {down, Pid}, {lost, Text}. A frame without a term ends
 * the conversation. The relay knows our identity: the atom `self` stands for it in messages. */
#include "wire/relay.h"

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
static void frame_make(struct buf *b, ei_x_buff *x, const ei_x_buff *more)
{
    if (more)
        ei_x_append_buf(x, more->buff + 1, more->index - 1);
    if (conn_whole(x, true)) {
        conn_length(b, (size_t)x->index);
        buf_add(b, x->buff, (size_t)x->index);
    } else {
        b->oom = true;
    }
    ei_x_free(x);
}

static void relay_send(struct conn *c, struct buf *b, const erlang_pid *to, const ei_x_buff *msg)
{
    ei_x_buff x;
    (void)c;
    if (!conn_whole(msg, true)) {
        b->oom = true;
        return;
    }
    ei_x_new_with_version(&x);
    ei_x_encode_tuple_header(&x, 3);
    ei_x_encode_atom(&x, "send");
    ei_x_encode_pid(&x, to);
    frame_make(b, &x, msg);
}

static void relay_link(struct conn *c, struct buf *b, const erlang_pid *pid)
{
    ei_x_buff x;
    (void)c;
    ei_x_new_with_version(&x);
    ei_x_encode_tuple_header(&x, 2);
    ei_x_encode_atom(&x, "link");
    ei_x_encode_pid(&x, pid);
    frame_make(b, &x, NULL);
}

static void relay_call(struct conn *c, struct buf *b, const char *mod, const char *fun,
                       const ei_x_buff *args)
{
    ei_x_buff x;
    ei_x_new_with_version(&x);
    ei_x_encode_tuple_header(&x, 5);
    ei_x_encode_atom(&x, "call");
    ei_x_encode_longlong(&x, ++relay_of(c)->ref);
    ei_x_encode_atom(&x, mod);
    ei_x_encode_atom(&x, fun);
    ei_x_append(&x, args);
    frame_make(b, &x, NULL);
}

static void relay_self(struct conn *c, ei_x_buff *x)
{
    (void)c;
    ei_x_encode_atom(x, "self");
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
