/* scan.c - node_scan: what `erltrace nodes` shows. Each BEAM that looks reachable is contacted, for
 * the duration of a handshake. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "wire/deadline.h"
#include "wire/cred.h"
#include "wire/dist.h"
#include "wire/find.h"
#include "wire/node.h"
#include "wire/reach.h"

enum {
    PROBE_MS = 2000,
    OTHERS_MS = 6000, /* time that the nodes of one other user may take together */
    USERS = 64        /* other users whose time is counted */
};

/* Time that other users' nodes have taken. A user can start any number of processes that accept a
 * connection and stay silent; the list must still appear. */
struct spent {
    size_t n;
    struct {
        uid_t uid;
        int64_t ms;
    } user[USERS];
};

/* Returns where a user's time is counted; NULL: there are too many users. */
static int64_t *spent_of(struct spent *s, uid_t uid)
{
    size_t i = 0;
    while (i < s->n && s->user[i].uid != uid)
        i++;
    if (i == USERS)
        return NULL;
    if (i == s->n) {
        s->user[s->n].uid = uid;
        s->user[s->n++].ms = 0;
    }
    return &s->user[i].ms;
}

/* What the user gave for all nodes. */
struct given {
    const char *cookie;
    const struct cred_options *tls;
};

/* Sets *p unless there are certificates for a node that speaks TLS. */
static void probe_cred(const struct beam *b, const struct given *given, struct reach_problem *p)
{
    struct tls_cred cred;
    struct tls_why why;
    int e = cred_read(&cred, given->tls, b, &why);
    if (e)
        reach_no_cred(e, &why, p);
    cred_free(&cred);
}

/* Asks a node who it is. The user has not named this node, and the cookie may have changed since it
 * started. The node would log a wrong cookie, so none is tried. */
static void probe(const struct beam *b, const struct given *given, struct node_info *n)
{
    struct reach_problem p = {0};
    struct cookie_source s;
    struct conn *dist = NULL;
    struct dist_fail why;
    char secret[COOKIE_MAX], host[256];
    struct dist_to to = {.node = n->name, .cookie = secret, .timeout_ms = PROBE_MS, .look = true};
    if (reach_check(b, given->tls, &p) == 0) {
        if (!cookie_find(b, given->cookie, NULL, secret, &s)) {
            reach_no_cookie(b, n->name[0] ? n->name : b->alive, &s, &p);
        } else if (beam_tls(b)) {
            probe_cred(b, given, &p);
        } else if (reach_local(b, &to, host, sizeof host) == 0) {
            int e = dist_open(&dist, &to, &why);
            const char *at = strchr(b->name, '@');
            if (e && why.step == DIST_TCP && why.err == ECONNREFUSED && at &&
                node_resolve(at + 1, &to.addr) == 0)
                e = dist_open(&dist, &to, &why);
            const char *peer = e ? why.peer : dist_peer(dist);
            if (peer[0])
                snprintf(n->name, sizeof n->name, "%s", peer);
            if (e && why.step != DIST_LOOKED)
                reach_explain(&why, n->name[0] ? n->name : b->alive, b->port, s.from, &p);
            conn_close(dist);
        }
        explicit_bzero(secret, sizeof secret);
    }
    n->attachable = p.err == 0;
    snprintf(n->why, sizeof n->why, "%.255s", p.text);
    snprintf(n->help, sizeof n->help, "%.255s", p.help);
}

/* The same, as long as the time of the process's user lasts. */
static void probe_in_time(struct beam *b, const struct given *given, struct spent *spent,
                          struct node_info *n)
{
    int64_t *ms = b->uid == geteuid() ? NULL : spent_of(spent, b->uid), before = clock_ms();
    if (b->uid != geteuid() && (ms == NULL || *ms >= OTHERS_MS)) {
        snprintf(n->why, sizeof n->why,
                 "not asked: other processes of user %s did not answer and used up the time for "
                 "one user's processes",
                 b->owner);
        snprintf(n->help, sizeof n->help, "name it: erltrace -p %d ...", (int)b->pid);
        return;
    }
    beam_release(b);
    memcpy(n->otp, b->otp, sizeof n->otp);
    probe(b, given, n);
    if (ms != NULL)
        *ms += clock_ms() - before;
}

int node_scan(struct node_list *out, const char *cookie, const struct cred_options *tls,
              struct diags *d)
{
    const struct given given = {cookie, tls};
    struct beam_list l;
    struct spent spent = {0};
    *out = (struct node_list){0};
    int e = beam_scan(&l);
    if (e == 0 && l.n > 0) {
        out->node = et_calloc(l.n, sizeof *out->node);
        e = out->node ? 0 : ET_ENOMEM;
    }
    if (e)
        diag_error(d, e, NULL, NULL, NULL, "%s", et_strerror(e));
    for (size_t i = 0; e == 0 && i < l.n; i++) {
        struct beam *b = &l.beam[i];
        struct node_info *n = &out->node[out->n++];
        n->pid = b->pid;
        memcpy(n->name, b->name, sizeof n->name);
        memcpy(n->otp, b->otp, sizeof n->otp);
        memcpy(n->owner, b->owner, sizeof n->owner);
        probe_in_time(b, &given, &spent, n);
    }
    beam_list_free(&l);
    return e;
}

void node_list_free(struct node_list *l)
{
    et_free(l->node);
    *l = (struct node_list){0};
}
