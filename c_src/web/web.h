/* web.h - the server behind `erltrace serve`: the page, its lists, and traces that pages view.
 *
 *     web_open -> web_run (until web_end is called) -> web_close
 *
 * One thread serves all sockets (server.c, http.c, viewer.c). Each trace has its own thread,
 * because a handle of the library belongs to one thread (trace.c). Two more threads answer requests
 * that take long (worker.c). Shared data is in hub.h. doc/web-protocol.md describes the messages on
 * the wire. */
#ifndef ET_WEB_WEB_H
#define ET_WEB_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct web;

struct web_option {
    const char *name, *value; /* value NULL: the name alone */
};

/* Everything is borrowed until web_close. */
struct web_config {
    const char *address; /* numeric, or the name of an interface */
    int port;            /* 0: any */
    const char *const
        *host; /* names of the server besides localhost, in the form of access_is_name */
    size_t nhosts;
    const uid_t *user; /* users of this host that may connect, besides ours and root */
    size_t nusers;
    const char *cert, *key;  /* files in PEM; both or none */
    bool insecure;           /* no TLS even if the address is not a loopback address */
    bool destructive;        /* pages may run destructive actions */
    bool kernel;             /* ... and trace the kernel of this host */
    const char *const *node; /* the nodes that may be traced; none: those of this host */
    size_t nnodes;
    const char *cookie, *cookie_file, *agent_dir; /* in the form that the library takes */
    const struct web_option *tls;                 /* for erltrace_set_tls */
    size_t ntls;
    const struct web_option *option; /* for every trace */
    size_t noptions;
    /* Tells the server's user what no page is told. Called by any thread. */
    void (*tell)(const char *line);
    unsigned keep_ms; /* how long a trace waits for a page whose connection was lost */
    bool new_token;   /* the token is new, and not kept for the next server */
};

/* Starts to listen. Returns NULL with one line in why[size] and perhaps a hint in *hint. */
struct web *web_open(const struct web_config *config, char *why, size_t size, const char **hint);
/* Returns the address to open in a browser, with the token. */
const char *web_url(const struct web *w);
/* Returns why the token is not kept for the next server, although it should be; NULL: it is, or
 * should not be. */
const char *web_warning(const struct web *w);
/* Returns whether the page was built into this program. */
bool web_has_page(void);
/* Starts a trace on that node that goes on when no page views it. script: a file with D text, or
 * the name of a ready script. Returns NULL, or why it cannot; config.tell is told why it ends. */
const char *web_record(struct web *w, const char *node, const char *script, char *const *arg,
                       size_t nargs);
/* Serves until web_end is called, then ends all traces. */
void web_run(struct web *w);
/* Ends web_run. May be called from signal handlers. */
void web_end(struct web *w);
void web_close(struct web *w);

#endif
