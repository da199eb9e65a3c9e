/* tls.h - TLS under a connection to a node, by OpenSSL's libssl, which is loaded when it is needed.
 *
 * The command and the library go to machines, and into Erlang releases, that have no libssl, and
 * most nodes need none; so nothing is linked with it. A connection is a client's: the handshake,
 * and then bytes as they would go over the socket itself. Nothing here waits: what cannot be done
 * now fails with EAGAIN, and tls_events says what to wait for.
 *
 * One thread may read while another one writes; each function takes a lock for as long as OpenSSL
 * works, which is never for the network. */
#ifndef ET_WIRE_TLS_H
#define ET_WIRE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What of the node's certificate is verified. */
enum tls_verify {
    TLS_VERIFY_UNSAID, /* all of it, when there is a CA to do it with */
    TLS_VERIFY_HOST,   /* who signed it, when it is valid, and that it is for the node's host */
    TLS_VERIFY_CA,     /* the same without the host */
    TLS_VERIFY_NONE
};

/* A file in PEM, in memory. */
struct tls_file {
    char *text; /* NULL: none */
    size_t len;
    char name[512]; /* what it is called in messages */
};

/* What a connection is made with (cred.h makes it). */
struct tls_cred {
    struct tls_file cert;   /* ours, and what it was signed with */
    struct tls_file key;    /* its key. A secret */
    struct tls_file cacert; /* who may have signed the node's */
    char password[256];     /* of the key, "" if it needs none. A secret */
    enum tls_verify verify; /* not TLS_VERIFY_UNSAID */
    char host[256];         /* whom the node's certificate is to be for; "": the node's host */
};

/* Why there is no connection, and what would help ("" if nothing is known to). */
struct tls_why {
    char text[320], help[320];
};

struct tls;

/* Prepares TLS on a connected socket, which is not blocking and stays the caller's. `host`: the
 * host of the node. 0, ET_ENOMEM, or ET_ENODE with *why: there is no libssl, or the certificates do
 * not serve. Neither has sent anything. */
int tls_open(struct tls **out, int fd, const struct tls_cred *cred, const char *host,
             struct tls_why *why);
/* Goes on with the handshake. 0: it is complete; EAGAIN; or ET_ENODE with *why, `node` being what
 * the other side is called there. */
int tls_handshake(struct tls *t, const char *node, struct tls_why *why);
/* As recv and send on the socket, without waiting: bytes, 0 when the other side has closed, -1 with
 * errno. With room for a record (16 KB) tls_recv leaves nothing behind of what OpenSSL has taken
 * from the socket, so that poll tells whether more has come. EPROTO: OpenSSL found a fault, or was
 * told of one: tls_explain has it. What was not written must be offered again, at the same place in
 * the stream. */
ssize_t tls_recv(struct tls *t, void *p, size_t n);
ssize_t tls_send(struct tls *t, const void *p, size_t n);
/* What to poll the socket for after EAGAIN of tls_recv (POLLIN), tls_send (POLLOUT) or
 * tls_handshake (either). */
short tls_events(struct tls *t, short events);
/* What the fault was that a function has met last. */
void tls_explain(struct tls *t, const char *node, struct tls_why *why);
/* Tells the other side, if that can be done without waiting, and frees. NULL is fine. */
void tls_close(struct tls *t);

#endif
