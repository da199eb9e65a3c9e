/* access.h - who may talk to the server: the token, Host and Origin.
 *
 * The token is 128 random bits. It stands behind the # of the address that is printed, where it
 * reaches no server and no log; the page keeps it, and says it with each request in a header of its
 * own, and with a WebSocket as a subprotocol. It is no cookie: those a browser also sends to other
 * ports of the same host, where anybody may listen. A page of another origin cannot say it, as it
 * does not know it (Origin is looked at all the same), nor reach us under a name of its own (Host):
 * an address in digits, localhost and the names that the server was given are the only ones. */
#ifndef ET_WEB_ACCESS_H
#define ET_WEB_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { ACCESS_SECRET = 33 }; /* 32 hexadecimal digits and NUL */

/* 0 or -1 when the system has no random numbers. */
int access_secret(char out[ACCESS_SECRET]);
/* Whether they are the same, in a time that does not tell how far. */
bool access_same(const char *secret, const char *given);
/* Whether a list with commas has an element that is the prefix and then the rest, which may be a
 * secret. */
bool access_offers(const char *list, const char *prefix, const char *rest);
/* Whether it can be a name of the server: "shop.example", or where pages come from when a proxy
 * stands between, "https://shop.example:8443". */
bool access_is_name(const char *name);
/* Whether a Host header may be served: an address in digits, localhost, or one of the names. */
bool access_host(const char *header, const char *const *names, size_t n);
/* Whether a name was given with a scheme: a proxy stands between. */
bool access_is_proxy(const char *name);
/* Whether an Origin header is that of the page itself, which was asked for at `host`, or one of the
 * names. */
bool access_origin(const char *header, const char *host, bool tls, const char *const *names,
                   size_t n);

#endif
