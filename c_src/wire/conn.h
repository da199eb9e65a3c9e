/* conn.h - a way to a node: what the conversation with the agent needs, and what all ways share.
 *
 * There are two ways: a connection over Erlang distribution (dist.h), and a relay, a process of
 * another node that passes messages on (relay.h). Either is a stream socket with frames: a u32
 * length (big-endian), then that many bytes, whose format each way defines. Messages are decoded
 * without trust (etf.h), a signal ends a wait, and the heartbeat thread can write at any time.
 *
 * All functions belong to one thread; only the heartbeat (beat.h) writes as well. Frames are whole,
 * and written under one mutex. */
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
    CONN_NOTHING, /* nothing arrived in time */
    CONN_MESSAGE, /* a message to us; *msg is at its first byte after the version */
    CONN_DOWN,    /* a process that we are linked to has ended; *msg is at its pid */
    CONN_SIGNAL,  /* a signal ended the wait */
    CONN_RESULT   /* the result of the pending call; conn_recv never returns it */
};

/* The operations of a way. Those that make frames append them to `b` complete, each after its
 * length; they may leave b->oom set. */
struct conn_ops {
    void (*send)(struct conn *c, struct buf *b, const erlang_pid *to, const struct buf *msg);
    void (*link)(struct conn *c, struct buf *b, const erlang_pid *pid);
    /* Calls a function; `args` is the list of its arguments without a version byte. */
    void (*call)(struct conn *c, struct buf *b, const char *mod, const char *fun,
                 const struct buf *args);
    /* Appends to a term the name by which the agent knows us. */
    void (*self)(struct conn *c, struct buf *x);
    /* Decodes a frame, the `n` bytes after its length. Returns CONN_MESSAGE, CONN_DOWN or
     * CONN_RESULT with *msg set; CONN_NOTHING to ignore the frame; or ET_ELOST. */
    int (*read)(struct conn *c, const unsigned char *p, size_t n, struct etf *msg);
    /* Closes fd and frees c, after conn_end. */
    void (*close)(struct conn *c);
};

/* Members belong to conn.c and, before the connection is open, to the way. */
struct conn {
    const struct conn_ops *ops;
    int fd;          /* -1: none */
    struct tls *tls; /* TLS that carries all bytes over fd; NULL: none */

    pthread_mutex_t lock; /* held for every write */
    struct buf rest;      /* of a frame that conn_offer could not write whole: it goes first */
    struct buf rx;        /* bytes received; the message last returned lies at its start */
    size_t used;          /* bytes of rx that the last message took */
    char lost[320];       /* why the connection was lost, "" while it was not */
    struct talk *talk;    /* log of all messages; NULL: none */

    _Atomic int64_t sent_ms;    /* when the last write began */
    _Atomic int64_t silence_ms; /* longest pause so far */
    /* Of beat.c, under its lock. */
    struct conn *beat_next; /* the next connection that has a heartbeat */
    int beat_ms;            /* its period; 0: none */
    int64_t beat_at;        /* ms: not before that */
    struct buf beat_frame;
    erlang_pid beat_to;
    struct buf beat_msg; /* content of that frame, for the log; empty without one */
};

/* -- for those who use one -- */

/* Ends the heartbeat, closes the connection and frees it. NULL is fine. */
void conn_close(struct conn *c);
int conn_fd(const struct conn *c);
/* Logs all messages from now on to `talk`, which stays the caller's and must outlive the
 * connection. */
void conn_log(struct conn *c, struct talk *talk);
/* Sends the term in `msg` (with its version byte) to a process. Returns 0 or ET_ELOST. */
int conn_send(struct conn *c, const erlang_pid *to, const struct buf *msg);
/* Links us to a process there: CONN_DOWN is received when it ends. Returns 0 or ET_ELOST. */
int conn_link(struct conn *c, const erlang_pid *pid);
/* Waits for one event. The bytes of *msg live until the next call. Returns an enum conn_got, or
 * ET_ELOST: then conn_lost says why. Messages that came before the loss are returned first. */
int conn_recv(struct conn *c, int timeout_ms, struct etf *msg);
/* Returns whether a message that has come waits here: the descriptor does not show it. */
bool conn_holds(const struct conn *c);
/* Returns why the connection was lost, in words; "" while it was not. */
const char *conn_lost(const struct conn *c);
/* Calls a function there, in a process of its own; `args` is the list of arguments without a
 * version byte. *reply is at the result and lives until the next call. Returns 0, ET_ELOST, or
 * ET_ENODE when no result came in time. A result may be {badrpc, Reason}. Messages that arrive
 * meanwhile are discarded. */
int conn_call(struct conn *c, const char *mod, const char *fun, const struct buf *args,
              int timeout_ms, struct etf *reply);
/* Appends to a term the name by which the agent knows us. */
void conn_put_self(struct conn *c, struct buf *x);
/* From now on another thread sends `msg` to `to` when nothing else was sent for a period (ms), so
 * that the agent keeps hearing from us while the caller blocks elsewhere. Returns 0 or ET_ENOMEM.
 */
int conn_heartbeat(struct conn *c, const erlang_pid *to, const struct buf *msg, int period_ms);
/* Returns the longest time, in ms, without a send since the heartbeat began, at least as long as
 * the node's side saw it by our clock. It is long after this process was stopped. */
int64_t conn_silence(const struct conn *c);

/* -- for those that implement a way -- */

void conn_init(struct conn *c, const struct conn_ops *ops);
/* Marks the connection as open: from now on it measures how long nothing was sent. */
void conn_begin(struct conn *c);
/* Frees everything but the descriptor and the struct itself. */
void conn_end(struct conn *c);
/* Marks the connection as lost; the first reason counts. Returns ET_ELOST. */
int conn_lose(struct conn *c, const char *why);
/* Receive and send bytes, over TLS or not, like recv and send without waiting. EPROTO: TLS has a
 * fault. After EAGAIN, conn_wait waits until bytes can be taken (POLLIN) or given (POLLOUT), and
 * returns as poll does. */
ssize_t conn_take(struct conn *c, void *p, size_t n);
ssize_t conn_give(struct conn *c, const void *p, size_t n);
int conn_wait(struct conn *c, short events, int timeout_ms);
/* Writes the frames. Returns 0 or ET_ELOST. */
int conn_put(struct conn *c, const struct buf *frames);
/* Writes a frame as far as that needs no wait; the rest goes before the next one. Returns whether
 * it is written. For any thread. */
bool conn_offer(struct conn *c, const struct buf *frame);
/* Logs a message to a process, after the word for it. */
void conn_log_sent(struct conn *c, const char *what, const erlang_pid *to, const void *msg,
                   size_t n);
/* Appends a frame's length. */
void conn_length(struct buf *b, size_t n);
/* Returns whether a term was composed: memory was not exhausted. */
static inline bool conn_whole(const struct buf *x)
{
    return !x->oom && x->len > 0;
}

#endif
