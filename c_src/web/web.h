/* web.h - the server behind `erltrace serve`: the page, its lists, and traces that pages look on
 * at.
 *
 *     web_open -> web_run (until web_end is called) -> web_close
 *
 * One thread serves all sockets (server.c, http.c, viewer.c); each trace has a thread of its own,
 * since a handle of the library belongs to one (trace.c); two more answer what takes long
 * (worker.c). What they share is in hub.h. doc/web-protocol.md is what is said on the wire. */
#ifndef ET_WEB_WEB_H
#define ET_WEB_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct web;

struct web_option {
    const char *name, *value; /* value NULL: the name alone */
};

/* All of it is borrowed until web_close. */
struct web_config {
    const char *address;     /* in digits, or the name of an interface */
    int port;                /* 0: any */
    const char *const *host; /* names under which the server is reached, besides localhost: as
                              * access_is_name has them */
    size_t nhosts;
    const uid_t *user; /* users of this host that may connect, besides ours and root */
    size_t nusers;
    const char *cert, *key;  /* files in PEM; both or none */
    bool insecure;           /* no TLS although the address is not a loopback one */
    bool destructive;        /* pages may run destructive actions */
    const char *const *node; /* the nodes that may be traced; none: those of this host */
    size_t nnodes;
    const char *cookie, *cookie_file, *agent_dir; /* as the library takes them */
    const struct web_option *tls;                 /* as erltrace_set_tls takes them */
    size_t ntls;
    const struct web_option *option; /* of every trace */
    size_t noptions;
};

/* Starts to listen. NULL, with one line in why[size] and perhaps what helps in *hint. */
struct web *web_open(const struct web_config *config, char *why, size_t size, const char **hint);
/* The address to open in a browser, with the token. */
const char *web_url(const struct web *w);
/* Whether the page was built into this program. */
bool web_has_page(void);
/* Serves until web_end is called, then ends all traces. */
void web_run(struct web *w);
/* May be called from signal handlers. */
void web_end(struct web *w);
void web_close(struct web *w);

#endif
