/* scan.c - node_scan: what `erltrace nodes` shows. Nothing is contacted: a node writes into its log
 * who came with a wrong cookie, and who came though it admits others only. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "wire/cred.h"
#include "wire/find.h"
#include "wire/node.h"
#include "wire/reach.h"

/* What the user gave for all nodes. */
struct given {
    const char *cookie;
    const struct cred_options *tls;
};

/* Sets *p unless there are certificates for a node that speaks TLS. */
static void check_cred(const struct beam *b, const struct given *given, struct reach_problem *p)
{
    struct tls_cred cred;
    struct tls_why why;
    int e = cred_read(&cred, given->tls, b, &why);
    if (e)
        reach_no_cred(e, &why, p);
    cred_free(&cred);
}

/* Says what is known to prevent a trace. */
static void examine(struct beam *b, const struct given *given, struct node_info *n)
{
    struct reach_problem p = {0};
    struct cookie_source s;
    char secret[COOKIE_MAX];
    beam_release(b);
    beam_processor(b);
    n->pid = b->pid;
    memcpy(n->name, b->name[0] ? b->name : b->alive, sizeof n->name);
    memcpy(n->otp, b->otp, sizeof n->otp);
    memcpy(n->owner, b->owner, sizeof n->owner);
    if (reach_check(b, given->tls, &p) == 0) {
        if (!cookie_find(b, given->cookie, NULL, secret, &s))
            reach_no_cookie(b, n->name, &s, &p);
        else if (beam_tls(b))
            check_cred(b, given, &p);
        explicit_bzero(secret, sizeof secret);
    }
    n->attachable = p.err == 0;
    n->meant = beam_is_meant(b);
    snprintf(n->why, sizeof n->why, "%.255s", p.text);
    snprintf(n->help, sizeof n->help, "%.255s", p.help);
}

int node_scan(struct node_list *out, const char *cookie, const struct cred_options *tls,
              struct diags *d)
{
    const struct given given = {cookie, tls};
    struct beam_list l;
    *out = (struct node_list){0};
    int e = beam_scan(&l);
    if (e == 0 && l.n > 0) {
        out->node = et_calloc(l.n, sizeof *out->node);
        e = out->node ? 0 : ET_ENOMEM;
    }
    if (e)
        diag_error(d, e, NULL, NULL, NULL, "%s", et_strerror(e));
    for (size_t i = 0; e == 0 && i < l.n; i++)
        examine(&l.beam[i], &given, &out->node[out->n++]);
    beam_list_free(&l);
    return e;
}

void node_list_free(struct node_list *l)
{
    et_free(l->node);
    *l = (struct node_list){0};
}
