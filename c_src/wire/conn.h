/* conn.h - a way to a node: what the agent's conversation needs of it, and what all ways share.
 *
 * There are two: a connection over Erlang distribution (dist.h), and a relay, a process of another
 * node that passes things on (relay.h). Either is a stream socket with frames, u32 length
 * (big-endian) and so many bytes; what is in them is the way's own. Messages are decoded without
 * trust (etf.h), waiting ends at a signal, and a thread of our own can write at any time.
 *
 * All functions belong to one thread, except that the heartbeat writes beside it; every write is
 * whole and under one mutex. */
#ifndef ET_WIRE_CONN_H
#define ET_WIRE_CONN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ei.h>

#include "base/buf.h"
#include "etf/etf.h"

struct conn;
struct talk;
struct tls;

enum conn_got {
    CONN_NOTHING, /* nothing came in time */
    CONN_MESSAGE, /* a message to us: *msg is at its first byte after the version */
    CONN_DOWN,    /* a process that we are linked to is gone: *msg is at its pid */
    CONN_SIGNAL,  /* a signal ended the wait */
    CONN_RESULT   /* the result of the call that is under way; conn_recv never gives it */
};

/* A way. What makes frames appends them to `b`, whole, with the length before them; it may leave
 * b->oom set. */
struct conn_ops {
    void (*send)(struct conn *c, struct buf *b, const erlang_pid *to, const ei_x_buff *msg);
    void (*link)(struct conn *c, struct buf *b, const erlang_pid *pid);
    /* The call of a function; `args` is the list of its arguments without a version byte. */
    void (*call)(struct conn *c, struct buf *b, const char *mod, const char *fun,
                 const ei_x_buff *args);
    /* Appends to a term how the agent knows us. */
    void (*self)(struct conn *c, ei_x_buff *x);
    /* What a frame means, `n` bytes behind its length: CONN_MESSAGE, CONN_DOWN or CONN_RESULT with
     * *msg set; CONN_NOTHING: it can be passed over; or ET_ELOST. */
    int (*read)(struct conn *c, const unsigned char *p, size_t n, struct etf *msg);
    /* Closes fd and frees c, of which conn_end has been called. */
    void (*close)(struct conn *c);
};

/* Its members belong to conn.c and, before it is open, to the way. */
struct conn {
    const struct conn_ops *ops;
    int fd;          /* -1: none */
    struct tls *tls; /* what goes over fd goes through it; NULL: as it is */

    pthread_mutex_t lock; /* around every write */
    struct buf rx;        /* bytes received; a message given out lies at its start */
    size_t used;          /* bytes of rx that the last message took */
    char lost[320];       /* why it is gone, "" while it is not */
    struct talk *talk;    /* all that is said is written there; NULL: nowhere */

    _Atomic int64_t sent_ms;    /* when something was last sent */
    _Atomic int64_t silence_ms; /* longest pause so far */
    pthread_t beat;
    bool beating;
    pthread_mutex_t beat_lock;
    pthread_cond_t beat_wake;
    bool beat_stop; /* under beat_lock */
    int beat_ms;
    struct buf beat_frame;
    erlang_pid beat_to;
    struct buf beat_msg; /* what is in that frame, for the log; empty without one */
};

/* -- for those who use one -- */

/* Ends the heartbeat, closes, frees. NULL is fine. */
void conn_close(struct conn *c);
int conn_fd(const struct conn *c);
/* From now on what is said is written to a log, which stays the caller's and must live as long. */
void conn_log(struct conn *c, struct talk *talk);
/* Sends the term in `msg` (with its version byte) to a process. 0 or ET_ELOST. */
int conn_send(struct conn *c, const erlang_pid *to, const ei_x_buff *msg);
/* Links us to a process there: CONN_DOWN comes when it is gone. 0 or ET_ELOST. */
int conn_link(struct conn *c, const erlang_pid *pid);
/* Waits for one thing to happen. The bytes of *msg live until the next call. enum conn_got, or
 * ET_ELOST: then conn_lost says why. Messages that came before are given first. */
int conn_recv(struct conn *c, int timeout_ms, struct etf *msg);
/* Why the connection is gone, in words; "" while it is not. */
const char *conn_lost(const struct conn *c);
/* Calls a function there, in a process of its own; `args` is the list of arguments without a
 * version byte. *reply is at the result and lives until the next call. 0, ET_ELOST, or ET_ENODE
 * when nothing came in time. A result may be {badrpc, Reason}. Messages that come meanwhile are
 * passed over. */
int conn_call(struct conn *c, const char *mod, const char *fun, const ei_x_buff *args,
              int timeout_ms, struct etf *reply);
/* Appends to a term how the agent knows us. */
void conn_put_self(struct conn *c, ei_x_buff *x);
/* Starts a thread that sends `msg` to `to` each period, so that a caller blocked elsewhere stays
 * known there. 0 or ET_ENOMEM. */
int conn_heartbeat(struct conn *c, const erlang_pid *to, const ei_x_buff *msg, int period_ms);
/* The longest time, in ms, for which nothing was sent since the heartbeat began. Long after a stop
 * of this process. */
int64_t conn_silence(const struct conn *c);

/* -- for those who make one -- */

void conn_init(struct conn *c, const struct conn_ops *ops);
/* It is open: from now on it counts how long nothing was sent. */
void conn_begin(struct conn *c);
/* Frees all but the descriptor and the struct itself. */
void conn_end(struct conn *c);
/* The connection is gone; the first reason counts. Returns ET_ELOST. */
int conn_lose(struct conn *c, const char *why);
/* Bytes as they come and go, over TLS or not: as recv and send that do not wait. EPROTO: TLS has a
 * fault. After EAGAIN, conn_wait waits for what is missing to take (POLLIN) or to give (POLLOUT),
 * and returns as poll does. */
ssize_t conn_take(struct conn *c, void *p, size_t n);
ssize_t conn_give(struct conn *c, const void *p, size_t n);
int conn_wait(struct conn *c, short events, int timeout_ms);
/* Writes what frames were made. 0 or ET_ELOST. */
int conn_put(struct conn *c, const struct buf *frames);
/* Appends a frame's length. */
void conn_length(struct buf *b, size_t n);
/* Whether the buffer holds one whole term, with its version byte or without. libei only says call
 * by call that memory was out; a piece that is missing shows here. */
bool conn_whole(const ei_x_buff *x, bool version);

#endif
