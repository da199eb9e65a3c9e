/* access.h - decides who may talk to the server: the token, Host and Origin.
 *
 * The token is 128 random bits. It stands after the # of the printed address, where it reaches no
 * server and no log. The page keeps it, and sends it in a header of its own with each request, and
 * as a subprotocol with a WebSocket. It is not a cookie, because browsers also send cookies to
 * other ports of the same host, where anyone may listen. A page of another origin cannot send the
 * token, because it does not know it (Origin is checked all the same), nor reach the server under a
 * name of its own (Host): only numeric addresses, localhost and the names given to the server are
 * accepted. */
#ifndef ET_WEB_ACCESS_H
#define ET_WEB_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { ACCESS_SECRET = 33 }; /* 32 hexadecimal digits and NUL */

/* Creates the secret. Returns 0, or -1 if the system has no random numbers. */
int access_secret(char out[ACCESS_SECRET]);
/* Returns whether they are equal, in a time that does not depend on where they differ. */
bool access_same(const char *secret, const char *given);
/* Returns whether a comma-separated list has an element that is the prefix followed by `rest`,
 * which may be a secret. */
bool access_offers(const char *list, const char *prefix, const char *rest);
/* Returns whether this can be a name of the server: "shop.example", or the origin of its pages
 * behind a proxy, "https://shop.example:8443". */
bool access_is_name(const char *name);
/* Returns whether a Host header is accepted: a numeric address, localhost, or one of the names. */
bool access_host(const char *header, const char *const *names, size_t n);
/* Returns whether a name was given with a scheme, which means that a proxy is in front. */
bool access_is_proxy(const char *name);
/* Returns whether an Origin header is that of the page itself, requested from `host`, or one of the
 * names. */
bool access_origin(const char *header, const char *host, bool tls, const char *const *names,
                   size_t n);

#endif
