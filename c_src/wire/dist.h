/* dist.h - a way to a node over Erlang distribution, as a hidden node.
 *
 * libei makes the connection (handshake, cookie) and encodes terms. dist.c handles the messages
 * after that, and conn.c what all ways share. A node that speaks distribution over TLS expects the
 * TLS handshake first, on the same port, and then the same bytes. */
#ifndef ET_WIRE_DIST_H
#define ET_WIRE_DIST_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/conn.h"
#include "wire/epmd.h"
#include "wire/tls.h"

struct dist_to {
    const char *node;      /* full name, "shop@host" */
    const char *self_host; /* host part of our own name; it has a dot when the target's has one */
    const char *as;        /* the name to come under, whole; NULL: one of our own */
    const char *cookie;
    const struct tls_cred *tls; /* connect over TLS; NULL: without */
    const char *tls_host;       /* host of the node, which its certificate must name */
    struct node_addr addr;
    uint16_t port;
    int timeout_ms;
    bool look; /* stop once the node has said who it is, with DIST_LOOKED: our proof of the cookie
                  is not sent, because the node would log a wrong one */
};

/* Which step of connecting failed. */
enum dist_step {
    DIST_TCP,      /* no connection to the port: err is the errno */
    DIST_SILENT,   /* connected, but no answer in time */
    DIST_REFUSED,  /* the node refused: status is its answer */
    DIST_COOKIE,   /* it closed the connection when it saw our proof of the cookie, or its own proof
                      was wrong */
    DIST_PROTO,    /* the peer does not speak the protocol */
    DIST_NEEDSTLS, /* the peer speaks TLS, and we did not */
    DIST_TLS, /* the TLS handshake failed: `tls` says why; err is ETIMEDOUT when the node was silent
               */
    DIST_LOOKED /* it answered, and no proof was asked for */
};
struct dist_fail {
    enum dist_step step;
    int err;
    char status[64];
    char peer[256]; /* the name the node gave itself, "" if it did not get that far */
    struct tls_why tls;
};

/* Connects. Returns 0, ET_ENOMEM, or ET_ENODE with *why filled. conn_link makes a link rather than
 * a monitor, because nodes report a monitored process's end only to peers that announce more
 * capabilities than libei does. */
int dist_open(struct conn **out, const struct dist_to *to, struct dist_fail *why);
/* Returns the full name that the node gave itself when dist_open connected to it. */
const char *dist_peer(const struct conn *c);

#endif
