/* dist.h - one connection to a node over Erlang distribution, as a hidden node.
 *
 * libei makes the connection (handshake, cookie) and encodes terms. Messages are read and written
 * here: they are decoded without trust (etf.h), waiting ends at a signal, and a thread of our own
 * can write at any time.
 *
 * All functions belong to one thread, except that the heartbeat writes beside it; every write is
 * whole and under one mutex. */
#ifndef ET_NODE_DIST_H
#define ET_NODE_DIST_H

#include <stdbool.h>
#include <stdint.h>

#include <ei.h>

#include "node/epmd.h"
#include "node/etf.h"

struct dist;

struct dist_to {
    const char *node;      /* full name, "shop@host" */
    const char *self_host; /* host part of our own name; it has a dot when the target's has one */
    const char *cookie;
    struct node_addr addr;
    uint16_t port;
    int timeout_ms;
};

/* Which step of connecting failed. */
enum dist_step {
    DIST_TCP,     /* no connection to the port: err is the errno */
    DIST_SILENT,  /* connected, and then no answer in time */
    DIST_REFUSED, /* the node said no: status is what it said */
    DIST_COOKIE,  /* it closed the connection when it saw our proof of the cookie, or its own proof
                     was wrong */
    DIST_PROTO    /* what answered does not speak the protocol (no node, or one behind TLS) */
};
struct dist_fail {
    enum dist_step step;
    int err;
    char status[64];
    char peer[256]; /* what the node called itself, "" if it did not come so far */
};

/* Connects. 0, ET_ENOMEM, or ET_ENODE with *why filled. */
int dist_open(struct dist **out, const struct dist_to *to, struct dist_fail *why);
/* Ends the heartbeat, closes, frees. NULL is fine. */
void dist_close(struct dist *d);
int dist_fd(const struct dist *d);
const erlang_pid *dist_self(const struct dist *d);
/* The node's full name as it said itself. */
const char *dist_peer(const struct dist *d);

/* Sends the term in `msg` (with its version byte) to a process. 0 or ET_ELOST. */
int dist_send(struct dist *d, const erlang_pid *to, const ei_x_buff *msg);
int dist_send_name(struct dist *d, const char *to, const ei_x_buff *msg);
/* Links us to a process there: DIST_DOWN comes when it is gone. (A monitor would be the thing, but
 * nodes send its end only to those who announce more than libei does.) 0 or ET_ELOST. */
int dist_link(struct dist *d, const erlang_pid *pid);

enum dist_got {
    DIST_NOTHING, /* nothing came in time */
    DIST_MESSAGE, /* a message to us: *msg is at its first byte after the version */
    DIST_DOWN,    /* a process that we are linked to is gone: *msg is at its pid */
    DIST_SIGNAL   /* a signal ended the wait */
};
/* Waits for one thing to happen. The bytes of *msg live until the next call. enum dist_got, or
 * ET_ELOST: then dist_lost says why. Messages that came before are given first. */
int dist_recv(struct dist *d, int timeout_ms, struct etf *msg);
/* Why the connection is gone, in words; "" while it is not. */
const char *dist_lost(const struct dist *d);

/* Calls a function there by way of `rex`; `args` is the list of arguments without a version byte.
 * *reply is at the result and lives until the next dist call. 0, ET_ELOST, or ET_ENODE when nothing
 * came in time. A result may be {badrpc, Reason}. */
int dist_rpc(struct dist *d, const char *mod, const char *fun, const ei_x_buff *args,
             int timeout_ms, struct etf *reply);

/* Starts a thread that sends `msg` to `to` each period, so that a caller blocked elsewhere stays
 * known there. 0 or ET_ENOMEM. */
int dist_heartbeat(struct dist *d, const erlang_pid *to, const ei_x_buff *msg, int period_ms);
/* The longest time, in ms, for which nothing was sent since the heartbeat began. Long after a stop
 * of this process. */
int64_t dist_silence(const struct dist *d);

#endif
