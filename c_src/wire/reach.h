/* reach.h - resolves what the user named to an open connection: which node, where, with which
 * cookie; and explains in words what prevents a connection. */
#ifndef ET_WIRE_REACH_H
#define ET_WIRE_REACH_H

#include "wire/cred.h"
#include "wire/dist.h"
#include "wire/find.h"
#include "wire/node.h"

struct reach {
    struct beam_list beams;  /* those of this host */
    const struct beam *beam; /* the one meant, when it runs on this host; points into `beams` */
    char node[256];          /* its name, or a title while its name is not known */
    char host[256];          /* host part */
    struct node_addr addr;
    uint16_t port;
    char self_host[256];
    const char *as; /* our name, of the options; NULL: one of our own. Borrowed */
    char cookie[COOKIE_MAX];
    struct cookie_source source;
    bool over_tls;
    struct tls_cred tls; /* when over_tls */
};

/* Determines everything that a connection needs. Errors are diagnostics with a NODE_ tag or
 * OTP_OLD. Call reach_free also after an error. */
int reach_find(struct reach *r, const struct node_options *opt, struct diags *d);
/* Connects. Returns 0 or an error, with a diagnostic. */
int reach_connect(struct reach *r, int timeout_ms, struct conn **out, struct diags *d);
/* Frees everything and wipes the cookie. */
void reach_free(struct reach *r);

/* What is in the way: an error, with its tag, its text and what would help. */
struct reach_problem {
    int err; /* 0: nothing, and the text says what is there */
    const char *tag;
    char text[384], help[384];
    const char
        *level; /* of what is there: "note", "limit" when some probes lack; NULL: all right */
};
/* What may be in the way to a BEAM of this host, in the order in which doctor tells it: found,
 * permitted, C library, processor, JIT, release, folders, distribution. */
enum { REACH_ROWS = 8 };
struct reach_row {
    const char *subject;
    struct reach_problem p; /* text "": cannot be seen before a connection */
};
/* Fills in the rows, before any connection is tried. `tls` may be NULL. */
void reach_table(const struct beam *b, const struct cred_options *tls, struct reach_row *out);
/* Returns the error of the first row that has one, in *p; 0 when nothing speaks against it. */
int reach_check(const struct beam *b, const struct cred_options *tls, struct reach_problem *p);
/* Fills in the rows for the node that the options mean, with its cookie, and its title. Returns
 * false when that is no BEAM of this host, or not clear. */
bool reach_look(const struct node_options *opt, struct reach_row *out, char *title, size_t cap);
/* Writes a BEAM's title for messages. */
void beam_title(const struct beam *b, char *out, size_t cap);
/* The same for a failed connection. `from`: where the cookie came from. */
void reach_explain(const struct dist_fail *f, const char *node, uint16_t port, const char *from,
                   struct reach_problem *p);
/* The same for certificates; `err` is the result of cred_read. */
int reach_no_cred(int err, const struct tls_why *why, struct reach_problem *p);
/* The same for a missing cookie. */
void reach_no_cookie(const struct beam *b, const char *node, const struct cookie_source *s,
                     struct reach_problem *p);
/* Fills in address, port and our own host part for a BEAM of this host. Returns 0 or an error of
 * getaddrinfo. */
int reach_local(const struct beam *b, struct dist_to *to, char *self_host, size_t cap);

#endif
