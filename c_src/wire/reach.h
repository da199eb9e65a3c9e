/* reach.h - from what the user named to an open connection: which node, where, with which cookie;
 * and in words, what is in the way. */
#ifndef ET_WIRE_REACH_H
#define ET_WIRE_REACH_H

#include "wire/cred.h"
#include "wire/dist.h"
#include "wire/find.h"
#include "wire/node.h"

struct reach {
    struct beam_list beams;  /* of this host */
    const struct beam *beam; /* the one meant, when it runs on this host; in `beams` */
    char node[256];          /* its name, or how we call it while its name is not known */
    char host[256];          /* host part */
    struct node_addr addr;
    uint16_t port;
    char self_host[256];
    char cookie[COOKIE_MAX];
    struct cookie_source source;
    bool over_tls;
    struct tls_cred tls; /* when over_tls */
};

/* Finds out all that a connection needs. Errors are diagnostics with the tags of node.h. reach_free
 * also after an error. */
int reach_find(struct reach *r, const struct node_options *opt, struct diags *d);
/* Connects. */
int reach_connect(struct reach *r, int timeout_ms, struct conn **out, struct diags *d);
/* Forgets the cookie, too. */
void reach_free(struct reach *r);

/* Why a BEAM of this host cannot be reached, before any connection is tried: an error, its tag, and
 * what would help; 0 when nothing speaks against it. `tls` may be NULL. */
struct reach_problem {
    int err;
    const char *tag;
    char text[384], help[384];
};
int reach_check(const struct beam *b, const struct cred_options *tls, struct reach_problem *p);
/* The same for a connection that failed. `from`: where the cookie came from. */
void reach_explain(const struct dist_fail *f, const char *node, uint16_t port, const char *from,
                   struct reach_problem *p);
/* The same for certificates; `err` is what cred_read has returned. */
int reach_no_cred(int err, const struct tls_why *why, struct reach_problem *p);
/* The same for a cookie that was not found. */
void reach_no_cookie(const struct beam *b, const char *node, const struct cookie_source *s,
                     struct reach_problem *p);
/* Fills address, port and our own host part for a BEAM of this host. */
int reach_local(const struct beam *b, struct dist_to *to, char *self_host, size_t cap);

#endif
