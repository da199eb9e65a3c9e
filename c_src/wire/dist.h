/* dist.h - a way to a node over Erlang distribution, as a hidden node.
 *
 * libei makes the connection (handshake, cookie) and encodes terms. What comes and goes then is in
 * dist.c, and what is common to all ways in conn.c. A node that speaks distribution over TLS
 * expects the TLS handshake first, on the same port, and then the same bytes. */
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
    const char *cookie;
    const struct tls_cred *tls; /* the connection is to be over TLS; NULL: as it is */
    const char *tls_host;       /* host of the node, whose certificate it is to be */
    struct node_addr addr;
    uint16_t port;
    int timeout_ms;
    bool look; /* go no further than to hear who it is: our proof of the cookie is not sent, so that
                  it cannot be wrong, which the node would write into its log. Ends with
                  DIST_LOOKED */
};

/* Which step of connecting failed. */
enum dist_step {
    DIST_TCP,      /* no connection to the port: err is the errno */
    DIST_SILENT,   /* connected, and then no answer in time */
    DIST_REFUSED,  /* the node said no: status is what it said */
    DIST_COOKIE,   /* it closed the connection when it saw our proof of the cookie, or its own proof
                      was wrong */
    DIST_PROTO,    /* what answered does not speak the protocol */
    DIST_NEEDSTLS, /* what answered speaks TLS, and we did not */
    DIST_TLS,      /* TLS could not be agreed on: `tls` says why; err is ETIMEDOUT when the node has
                      said nothing */
    DIST_LOOKED    /* it answered, and nothing was to be proved */
};
struct dist_fail {
    enum dist_step step;
    int err;
    char status[64];
    char peer[256]; /* what the node called itself, "" if it did not come so far */
    struct tls_why tls;
};

/* Connects. 0, ET_ENOMEM, or ET_ENODE with *why filled. A link (conn_link) it is and no monitor,
 * since nodes send a monitor's end only to those who announce more than libei does. */
int dist_open(struct conn **out, const struct dist_to *to, struct dist_fail *why);
/* The full name that a node said of itself when dist_open connected to it. */
const char *dist_peer(const struct conn *c);

#endif
