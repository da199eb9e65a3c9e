/* tls.h - TLS under a connection to a node, by OpenSSL's libssl, which is loaded on demand.
 *
 * The command and the library are installed on machines, and in Erlang releases, that have no
 * libssl, and most nodes need none; so nothing is linked with it. A connection is a client's: the
 * handshake, and then the bytes that would otherwise go over the socket itself. No function waits:
 * what cannot be done at once fails with EAGAIN, and tls_events says what to wait for.
 *
 * One thread may read while another writes; each function holds a lock while OpenSSL works, but
 * never while waiting for the network. */
#ifndef ET_WIRE_TLS_H
#define ET_WIRE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What is verified of the node's certificate. */
enum tls_verify {
    TLS_VERIFY_UNSAID, /* everything, when there is a CA to verify it with */
    TLS_VERIFY_HOST,   /* its issuer, its validity period, and that it names the node's host */
    TLS_VERIFY_CA,     /* the same without the host */
    TLS_VERIFY_NONE
};

/* A file in PEM, in memory. */
struct tls_file {
    char *text; /* NULL: none */
    size_t len;
    char name[512]; /* its name in messages */
};

/* The credentials of a connection (made by cred.h). */
struct tls_cred {
    struct tls_file cert;   /* our certificate and its chain */
    struct tls_file key;    /* its key. A secret */
    struct tls_file cacert; /* the CAs that may have issued the node's certificate */
    char password[256];     /* of the key, "" if it needs none. A secret */
    enum tls_verify verify; /* not TLS_VERIFY_UNSAID */
    char host[256];         /* host that the node's certificate must name; "": the node's host */
};

/* Why there is no connection, and what would help ("" if unknown). */
struct tls_why {
    char text[320], help[320];
};

struct tls;

/* Prepares TLS on a connected nonblocking socket, which stays the caller's. `host`: the host of the
 * node. Returns 0, ET_ENOMEM, or ET_ENODE with *why: there is no libssl, or the certificates are
 * not usable. Sends nothing. */
int tls_open(struct tls **out, int fd, const struct tls_cred *cred, const char *host,
             struct tls_why *why);
/* Continues the handshake. Returns 0 when it is complete; EAGAIN; or ET_ENODE with *why, where
 * `node` is the peer's name in messages. */
int tls_handshake(struct tls *t, const char *node, struct tls_why *why);
/* Like recv and send on the socket, without waiting: return the number of bytes, 0 when the peer
 * has closed, -1 with errno. If the buffer has room for a record (16 KB), tls_recv leaves nothing
 * behind that OpenSSL has read from the socket, so poll tells whether more has come. EPROTO:
 * OpenSSL found a fault, or the peer reported one: tls_explain describes it. What was not written
 * must be offered again, at the same place in the stream. */
ssize_t tls_recv(struct tls *t, void *p, size_t n);
ssize_t tls_send(struct tls *t, const void *p, size_t n);
/* Returns what to poll the socket for after EAGAIN from tls_recv (POLLIN), tls_send (POLLOUT) or
 * tls_handshake (either). */
short tls_events(struct tls *t, short events);
/* Describes the fault that a function has met last. */
void tls_explain(struct tls *t, const char *node, struct tls_why *why);
/* Sends close_notify if that does not block, and frees. NULL is fine. */
void tls_close(struct tls *t);

#endif
