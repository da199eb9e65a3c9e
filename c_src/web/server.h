/* server.h - what the parts of the sockets' thread share. */
#ifndef ET_WEB_SERVER_H
#define ET_WEB_SERVER_H

#include <libwebsockets.h>
#include <stdatomic.h>

#include "web/access.h"
#include "web/hub.h"
#include "web/worker.h"

/* A connection of any kind. */
struct connection {
    struct lws *socket;
    bool good;    /* it has shown the token */
    bool foreign; /* its other end belongs to another user of this host */
    uint64_t since_ns;
};

enum {
    SERVER_CHUNK = 32 << 10, /* bytes written at once */
    SERVER_ROOM =
        128 << 10,    /* bytes that the system may buffer for a slow reader: they arrive late */
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
    char id[ACCESS_SECRET]; /* of this run of the server */
    char warning[256];      /* for web_warning */
    char host[256];         /* of this machine */
    const char *names[66];  /* allowed in a Host header */
    size_t nnames;
    bool proxied; /* a proxy is in front: connections belong to its user */
    struct buf url;
    struct buf scripts, scripts_packed; /* /api/scripts; packed: empty if gzip does not help */
    struct viewer *viewers;
    size_t nviewers;
    uint64_t last_viewer; /* number of the newest */
    struct connection connection[HUB_CONNECTIONS + SERVER_SPARE];
    size_t nconnections;
    unsigned char chunk[LWS_PRE + SERVER_CHUNK]; /* the piece being written */
};

/* Returns the server of a socket. */
static inline struct web *web_of(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

/* -- http.c -- */
struct http; /* of one connection */
enum { HTTP_SIZE = 256 /* bytes of it, at most */ };
int http_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                  size_t len);
/* Answers the connection that waits for a finished job. */
void http_answer(struct web *w, struct job *j);

/* -- viewer.c -- */
int viewer_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len);
/* Checks all viewers: pings, signs of life. */
void viewer_tick(struct web *w);
/* Called when their queues may have new packets. */
void viewer_wake(struct web *w);
/* Answers a finished check. */
void viewer_answer(struct web *w, struct job *j);
/* Closes all viewers with this code and reason. */
void viewer_close_all(struct web *w, int code, const char *why);

/* -- server.c -- */
/* Returns whether lws_write, which returned rc, has sent all n bytes; if not, the socket must be
 * closed. */
bool server_wrote(struct lws *wsi, int rc, size_t n);
/* Returns whether the other end of the socket belongs to a user of this host who is not
 * admitted. */
bool server_foreign(const struct web *w, const struct lws *wsi);
/* Marks the socket as one that has shown the token. */
void server_good(struct web *w, struct lws *wsi);
/* Writes "limits":{...}, part of `hello` and of /api/state. */
void server_limits(const struct web *w, struct buf *out);

#endif
