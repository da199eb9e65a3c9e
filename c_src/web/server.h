/* server.h - what the parts of the thread of the sockets share. */
#ifndef ET_WEB_SERVER_H
#define ET_WEB_SERVER_H

#include <libwebsockets.h>
#include <stdatomic.h>

#include "web/access.h"
#include "web/hub.h"
#include "web/worker.h"

/* A connection, of whatever kind. */
struct connection {
    struct lws *socket;
    bool good;    /* it has shown the token */
    bool foreign; /* its other end is another user's of this host */
    uint64_t since_ns;
};

enum {
    SERVER_CHUNK = 32 << 10, /* bytes that are written at once */
    SERVER_ROOM =
        128 << 10,    /* bytes that the system may keep for a slow reader: late when they arrive */
    SERVER_SPARE = 64 /* connections beyond HUB_CONNECTIONS, while others are being closed */
};

struct web {
    struct web_config config;
    struct hub hub;
    struct worker *worker;
    struct lws_context *context;
    struct lws_vhost *vhost;
    lws_sorted_usec_list_t timer;
    atomic_bool ending;
    char token[ACCESS_SECRET];
    char host[256];        /* of this machine */
    const char *names[66]; /* that may stand in a Host header */
    size_t nnames;
    bool proxied; /* a proxy stands between: connections are its user's */
    struct buf url;
    struct buf scripts, scripts_packed; /* what /api/scripts answers; packed: empty, if it is not */
    struct viewer *viewers;
    size_t nviewers;
    uint64_t last_viewer; /* number of the newest */
    struct connection connection[HUB_CONNECTIONS + SERVER_SPARE];
    size_t nconnections;
    unsigned char chunk[LWS_PRE + SERVER_CHUNK]; /* what is being written */
};

/* The server that a socket is of. */
static inline struct web *web_of(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

/* -- http.c -- */
struct http; /* of one connection */
enum { HTTP_SIZE = 256 /* bytes of it, at most */ };
int http_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                  size_t len);
/* A job of a connection is done. */
void http_answer(struct web *w, struct job *j);

/* -- viewer.c -- */
int viewer_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len);
/* Looks after all viewers: pings, signs of life. */
void viewer_tick(struct web *w);
/* Something may have come into their queues. */
void viewer_wake(struct web *w);
/* A check is done. */
void viewer_answer(struct web *w, struct job *j);
/* Closes all, for this reason. */
void viewer_close_all(struct web *w, int code, const char *why);

/* -- server.c -- */
/* Whether lws_write, which has returned rc, has got rid of n bytes; if not, the socket has to go.
 */
bool server_wrote(struct lws *wsi, int rc, size_t n);
/* Whether the other end of the socket is a user's of this host who has no business here. */
bool server_foreign(const struct web *w, const struct lws *wsi);
/* The socket has shown that it may be here. */
void server_good(struct web *w, struct lws *wsi);
/* "limits":{...}: what `hello` and /api/state say. */
void server_limits(struct buf *out);

#endif
