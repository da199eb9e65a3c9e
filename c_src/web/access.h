/* access.h - who may talk to the server: the token, the cookie, Host and Origin.
 *
 * The token is 128 random bits, printed once and exchanged for a cookie of 128 others, so that it
 * does not stay in a browser's address bar. A page of somebody else's cannot use the cookie
 * (SameSite, and its Origin is not ours), nor reach us under a name of its own (Host): an address
 * in digits, localhost and the names that the server was given are the only ones. */
#ifndef ET_WEB_ACCESS_H
#define ET_WEB_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { ACCESS_SECRET = 33 }; /* 32 hexadecimal digits and NUL */

/* 0 or -1 when the system has no random numbers. */
int access_secret(char out[ACCESS_SECRET]);
/* Whether they are the same, in a time that does not tell how far. */
bool access_same(const char *secret, const char *given);
/* Whether a Cookie header has the cookie of that name with the secret as its value. */
bool access_cookie(const char *header, const char *name, const char *secret);
/* Whether it can be a name of the server: "shop.example", or where pages come from when a proxy
 * stands between, "https://shop.example:8443". */
bool access_is_name(const char *name);
/* Whether a Host header may be served: an address in digits, localhost, or one of the names. */
bool access_host(const char *header, const char *const *names, size_t n);
/* Whether a Host header is a name that was given with https: a proxy that speaks TLS with the
 * browser stands between and hands on what it was asked for. */
bool access_by_proxy_tls(const char *header, const char *const *names, size_t n);
/* Whether an Origin header is that of the page itself, which was asked for at `host`, or one of the
 * names. */
bool access_origin(const char *header, const char *host, bool tls, const char *const *names,
                   size_t n);

#endif
