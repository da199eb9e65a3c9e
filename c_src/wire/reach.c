/* reach.c - resolves a node and explains what prevents a connection. See reach.h.
 *
 * A node of this host is reached by its process: epmd (or the process's own sockets) tells its
 * port, the address is the loopback, and the handshake tells its name. Any other node is reached as
 * Erlang does it: host part, epmd there, port. */
#include "wire/reach.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "util/buftext.h"
#include "util/embedded.h"
#include "util/render.h"

enum {
    EPMD_MS = 3000,
    LIST_NAMES = 12,
    TLS_TIMES = 2 /* factor on the time for a connection over TLS: the node computes, and may first
                     have to load its modules */
};

static int problem(struct reach_problem *p, int err, const char *tag)
{
    p->err = err;
    p->tag = tag;
    return err;
}

static int report(const struct reach_problem *p, struct diags *d)
{
    return diag_error(d, p->err, NULL, p->tag, p->help[0] ? p->help : NULL, "%s", p->text);
}

void reach_explain(const struct dist_fail *f, const char *node, uint16_t port, const char *from,
                   struct reach_problem *p)
{
    *p = (struct reach_problem){0};
    problem(p, ET_ENODE, "NODE_DOWN");
    switch (f->step) {
    case DIST_TCP:
        snprintf(p->text, sizeof p->text, "cannot connect to %.200s at port %u: %s", node, port,
                 strerror(f->err));
        snprintf(p->help, sizeof p->help, "%s",
                 f->err == ETIMEDOUT
                     ? "is a firewall in the way? Both epmd's port and the node's must be open"
                     : "has it just ended? `erltrace nodes` lists the nodes of this host");
        break;
    case DIST_SILENT:
        snprintf(p->text, sizeof p->text, "%.200s accepted the connection and then did not answer",
                 node);
        snprintf(p->help, sizeof p->help, "is its process stopped, or its machine overloaded?");
        break;
    case DIST_REFUSED:
        snprintf(p->text, sizeof p->text, "%.200s refused the connection: %s", node, f->status);
        snprintf(p->help, sizeof p->help,
                 "does it admit only certain nodes (net_kernel:allow/1)? Come as one of them: "
                 "--as NAME@HOST");
        break;
    case DIST_COOKIE:
        problem(p, ET_EAUTH, "NODE_COOKIE");
        snprintf(p->text, sizeof p->text, "%.150s refused the cookie (ours is from %.120s)", node,
                 from);
        snprintf(p->help, sizeof p->help, "give the node's own with --cookie or --cookie-file");
        break;
    case DIST_NEEDSTLS:
        problem(p, ET_ENODE, "NODE_TLS");
        snprintf(p->text, sizeof p->text, "%.200s speaks distribution over TLS", node);
        snprintf(p->help, sizeof p->help, "%s",
                 embedded_static()
                     ? cred_static
                     : "give --tls-cacert FILE, with --tls-cert FILE and --tls-key FILE if it asks "
                       "for ours");
        break;
    case DIST_TLS: reach_no_cred(ET_ENODE, &f->tls, p); break;
    case DIST_LOOKED:
    case DIST_PROTO:
        snprintf(p->text, sizeof p->text,
                 "what listens at port %u for %.200s does not speak Erlang distribution", port,
                 node);
        snprintf(p->help, sizeof p->help,
                 "if the node speaks TLS there, give --tls-cacert FILE, with --tls-cert FILE and "
                 "--tls-key FILE if it asks for ours");
        break;
    }
}

int reach_no_cred(int err, const struct tls_why *why, struct reach_problem *p)
{
    *p = (struct reach_problem){0};
    snprintf(p->text, sizeof p->text, "%s", err == ET_ENODE ? why->text : et_strerror(err));
    snprintf(p->help, sizeof p->help, "%s", err == ET_ENODE ? why->help : "");
    return problem(p, err, "NODE_TLS");
}

void reach_no_cookie(const struct beam *b, const char *node, const struct cookie_source *s,
                     struct reach_problem *p)
{
    *p = (struct reach_problem){0};
    problem(p, s->denied ? ET_ENODE : ET_EAUTH, s->denied ? "NODE_PERM" : "NODE_COOKIE");
    snprintf(p->text, sizeof p->text, "no cookie for %.120s: %.180s", node, s->why);
    if (s->denied && b)
        snprintf(p->help, sizeof p->help,
                 "run erltrace as user %s or with sudo, or give --cookie or --cookie-file",
                 b->owner);
    else
        snprintf(p->help, sizeof p->help, "give it with --cookie or --cookie-file");
}

int reach_local(const struct beam *b, struct dist_to *to, char *self_host, size_t cap)
{
    const char *at = strchr(b->name, '@');
    /* Our name has the host part of the node's, so that both are long or both short. */
    if (at)
        snprintf(self_host, cap, "%s", at + 1);
    else
        node_hostname(self_host, cap, b->longnames);
    to->self_host = self_host;
    to->tls_host = self_host;
    to->port = b->port;
    int e = node_resolve(strncmp(b->proto, "inet6_", 6) == 0 ? "::1" : "127.0.0.1", &to->addr);
    to->addr.of = b->other_net ? b->pid : 0;
    to->addr.start = b->start;
    return e;
}

/* -- which node -------------------------------------------------------------------------------- */

/* All BEAMs in one line, for the hint of NODE_MANY. */
static void list_beams(const struct beam_list *l, struct buf *out)
{
    char title[256];
    for (size_t i = 0; i < l->n && i < LIST_NAMES; i++) {
        beam_title(&l->beam[i], title, sizeof title);
        buf_printf(out, i ? ", %s" : "%s", title);
        if (l->beam[i].alive[0])
            buf_printf(out, " (pid %d)", (int)l->beam[i].pid);
    }
    if (l->n > LIST_NAMES)
        buf_printf(out, " and %zu more", l->n - LIST_NAMES);
}

static int pick_pid(struct reach *r, pid_t pid, struct diags *d)
{
    for (size_t i = 0; i < r->beams.n; i++)
        if (r->beams.beam[i].pid == pid) {
            r->beam = &r->beams.beam[i];
            return 0;
        }
    char path[64], title[256], hint[384] = "`erltrace nodes` lists the Erlang VMs of this host";
    const struct beam *b = beam_under(&r->beams, pid);
    if (access("/proc/self", F_OK) != 0)
        return diag_error(d, ET_ENODE, NULL, "NODE_NONE", "name the node with --node",
                          "process %d cannot be looked at: /proc is not mounted", (int)pid);
    if (b) {
        beam_title(b, title, sizeof title);
        snprintf(hint, sizeof hint, "the Erlang VM that runs under it is -p %d (%s)", (int)b->pid,
                 title);
    }
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return diag_error(d, ET_ENODE, NULL, "NODE_NONE", hint,
                      access(path, F_OK) == 0 ? "process %d is not an Erlang VM"
                                              : "there is no process %d",
                      (int)pid);
}

static int pick_name(struct reach *r, const char *name, struct diags *d);

/* No BEAM is visible: /proc may not be mounted, or may hide other users' processes. The names that
 * epmd has serve as well when there is only one. */
static int pick_registered(struct reach *r, struct diags *d)
{
    struct epmd_list names = {0};
    struct node_addr here;
    struct buf hint = BUF_INIT;
    const char *only = NULL;
    size_t n = 0;
    int e = 0;
    if (node_resolve("127.0.0.1", &here) == 0 &&
        epmd_names(&here, epmd_port(), EPMD_MS, &names) == 0)
        for (size_t i = 0; i < names.n; i++) {
            buf_printf(&hint, n ? ", %s" : "choose with --node: %s", names.name[i].alive);
            only = names.name[i].alive;
            n++;
        }
    if (n == 1)
        e = pick_name(r, only, d);
    else if (n == 0)
        e = diag_error(
            d, ET_ENODE, NULL, "NODE_NONE",
            "start one with a name (erl -sname shop), or name one elsewhere: --node NAME@HOST",
            "no Erlang node runs on this host");
    else
        e = diag_error(d, ET_ENODE, NULL, "NODE_MANY", buf_str(&hint),
                       "%zu Erlang nodes run on this host", n);
    buf_free(&hint);
    epmd_list_free(&names);
    return e;
}

static bool in_container(const struct reach *r, pid_t pid)
{
    for (size_t i = 0; i < r->beams.n; i++)
        if (r->beams.beam[i].pid == pid)
            return r->beams.beam[i].other_net;
    return false;
}

/* Picks the only BEAM that can be traced among several, such as when the others belong to other
 * users. */
static bool pick_attachable(struct reach *r, const struct node_options *opt)
{
    struct node_list all = {0};
    struct diags none;
    const struct node_info *only = NULL;
    size_t n = 0;
    if (opt->cookie_file != NULL) /* each would be tried with a cookie that is not its own */
        return false;
    diags_init(&none);
    node_scan(&all, opt->cookie, opt->tls, &none);
    for (size_t i = 0; i < all.n; i++)
        if (all.node[i].attachable && !in_container(r, all.node[i].pid)) {
            only = &all.node[i];
            n++;
        }
    r->beam = NULL;
    for (size_t i = 0; n == 1 && i < r->beams.n; i++)
        if (r->beams.beam[i].pid == only->pid)
            r->beam = &r->beams.beam[i];
    node_list_free(&all);
    diags_free(&none);
    return r->beam != NULL;
}

static int pick_only(struct reach *r, const struct node_options *opt, struct diags *d)
{
    size_t n = 0;
    for (size_t i = 0; i < r->beams.n; i++)
        if ((r->beams.beam[i].alive[0] || r->beams.beam[i].port) && !r->beams.beam[i].other_net) {
            r->beam = &r->beams.beam[i];
            n++;
        }
    if (n == 1)
        return 0;
    if (r->beams.n == 0)
        return pick_registered(r, d);
    if (n == 0 && r->beams.n == 1) {
        r->beam = &r->beams.beam[0]; /* reach_check will say what it lacks */
        return 0;
    }
    if (n > 1 && pick_attachable(r, opt))
        return 0;
    struct buf names = BUF_INIT;
    buf_adds(&names, "choose with --node or -p: ");
    list_beams(&r->beams, &names);
    int e =
        n == 0 ? diag_error(
                     d, ET_ENODE, NULL, "NODE_NOTDIST", "start one with -sname NAME",
                     "%zu Erlang VMs run on this host, none of them can be reached by distribution",
                     r->beams.n)
               : diag_error(d, ET_ENODE, NULL, "NODE_MANY", buf_str(&names),
                            "%zu Erlang nodes run on this host", n);
    buf_free(&names);
    return e;
}

/* Looks for the name among this host's BEAMs, and splits it. A name without @ is one of this host.
 */
static int pick_name(struct reach *r, const char *name, struct diags *d)
{
    const char *at = strchr(name, '@');
    size_t n = at ? (size_t)(at - name) : strlen(name), hits = 0;
    char here[256];
    if (n == 0 || n > 200 || (at && !at[1]) || strlen(name) >= sizeof r->node ||
        strpbrk(name, " \t\n"))
        return diag_error(d, ET_EINVAL, NULL, "NODE_NONE", "a node's name is NAME or NAME@HOST",
                          "bad node name '%s'", name);
    node_hostname(here, sizeof here, false);
    const bool local = !at || node_names_host(at + 1);
    for (size_t i = 0; i < r->beams.n; i++) {
        const struct beam *b = &r->beams.beam[i];
        bool alive = strlen(b->alive) == n && strncmp(b->alive, name, n) == 0;
        bool host = !at || (b->name[0] ? strcmp(b->name, name) == 0 : local);
        if (alive && host && !b->other_net) {
            r->beam = b;
            hits++;
        }
    }
    if (hits >
        1) /* shop@here and shop@127.0.0.1 cannot both be at one epmd; take the registered one */
        for (size_t i = 0; i < r->beams.n; i++)
            if (r->beams.beam[i].registered && strncmp(r->beams.beam[i].alive, name, n) == 0 &&
                r->beams.beam[i].alive[n] == '\0')
                r->beam = &r->beams.beam[i];
    snprintf(r->node, sizeof r->node, "%s", name);
    if (!at && n + strlen(here) + 2 <= sizeof r->node) {
        strcat(r->node, "@");
        strcat(r->node, here);
    }
    snprintf(r->host, sizeof r->host, "%s", strchr(r->node, '@') ? strchr(r->node, '@') + 1 : here);
    return 0;
}

/* Lists the names that epmd has, the one most similar to ours first. */
static void list_names(const struct epmd_list *l, const char *alive, struct buf *out)
{
    const char *cand[256], *near;
    size_t n = 0;
    for (size_t i = 0; i < l->n && n < 256; i++)
        cand[n++] = l->name[i].alive;
    near = diag_nearest(alive, cand, n);
    if (n == 0) {
        buf_adds(out, "nothing is registered there: is the node running, and was it started with "
                      "-name or -sname?");
        return;
    }
    if (near)
        buf_printf(out, "did you mean '%s'? ", near);
    buf_adds(out, "registered there: ");
    if (near)
        buf_adds(out, near);
    for (size_t i = 0, k = near != NULL; i < n && k < LIST_NAMES; i++)
        if (cand[i] != near) {
            buf_printf(out, "%s%s", k ? ", " : "", cand[i]);
            k++;
        }
    if (n > LIST_NAMES)
        buf_adds(out, ", ...");
}

/* Finds host and port of a node that is not a known process of this host. */
static int find_remote(struct reach *r, struct diags *d)
{
    struct epmd_list names = {0};
    struct buf hint = BUF_INIT;
    char alive[256];
    /* A host need not be able to resolve its own name. */
    int e = node_resolve(node_names_host(r->host) ? "127.0.0.1" : r->host, &r->addr);
    snprintf(alive, sizeof alive, "%.*s", (int)strcspn(r->node, "@"), r->node);
    if (e)
        return diag_error(d, ET_ENODE, NULL, "NODE_HOST",
                          "is it spelt right, and known here (getent hosts HOST)?",
                          "the host '%s' of node %s: %s", r->host, r->node, gai_strerror(e));
    e = epmd_names(&r->addr, epmd_port(), EPMD_MS, &names);
    if (e) {
        e = diag_error(
            d, ET_ENODE, NULL, "NODE_DOWN",
            e == -ECONNREFUSED
                ? "is the node running? `erltrace nodes` lists the nodes of this host"
                : "is the host up, and its epmd reachable through the firewall?",
            e == -ECONNREFUSED
                ? "no distributed Erlang node runs on %s: no epmd answers at port %u (%s)"
                : "no answer from epmd of %s at port %u: %s",
            r->host, epmd_port(), strerror(-e));
        return e;
    }
    const struct epmd_name *n = epmd_find(&names, alive);
    if (n) {
        r->port = n->port;
    } else {
        list_names(&names, alive, &hint);
        e = diag_error(d, ET_ENODE, NULL, "NODE_DOWN", buf_str(&hint),
                       "no node '%s' is registered on %s", alive, r->host);
    }
    buf_free(&hint);
    epmd_list_free(&names);
    return e;
}

/* Determines our own host part for a node elsewhere: our host name, with a dot exactly when the
 * node's has one. */
static void own_host(struct reach *r)
{
    bool longnames = strchr(r->host, '.') != NULL;
    node_hostname(r->self_host, sizeof r->self_host, longnames);
    if (longnames && !strchr(r->self_host, '.') && strlen(r->self_host) < 200)
        strcat(r->self_host, ".localdomain");
}

/* Reads the certificates, when TLS is to be used. */
static int find_cred(struct reach *r, const struct node_options *opt, struct diags *d)
{
    struct reach_problem p;
    struct tls_why why;
    r->over_tls = opt->tls && opt->tls->on;
    int e = r->over_tls ? cred_read(&r->tls, opt->tls, r->beam, &why) : 0;
    if (e == 0)
        return 0;
    reach_no_cred(e, &why, &p);
    return report(&p, d);
}

/* Finds the BEAM that is meant, if it is one of this host, and looks at it. */
static int pick(struct reach *r, const struct node_options *opt, struct diags *d)
{
    memset(r, 0, sizeof *r);
    r->as = opt->as;
    if (beam_scan(&r->beams) != 0)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    int e = opt->name  ? pick_name(r, opt->name, d)
            : opt->pid ? pick_pid(r, opt->pid, d)
                       : pick_only(r, opt, d);
    if (e == 0 && r->beam) {
        struct beam *b = &r->beams.beam[r->beam - r->beams.beam];
        beam_release(b);
        beam_processor(b);
        if (opt->pid != 0)
            beam_enter(b);
    }
    return e;
}

/* Adds to the rows what they lack without a cookie. */
static void look_for_cookie(const struct reach *r, const struct node_options *opt,
                            const char *title, struct reach_row *out)
{
    char secret[COOKIE_MAX];
    struct cookie_source s;
    for (size_t i = 0; i < REACH_ROWS; i++)
        if (out[i].p.err != 0)
            return;
    if (cookie_find(r->beam, opt->cookie, opt->cookie_file, secret, &s)) {
        explicit_bzero(secret, sizeof secret);
        return;
    }
    const char *subject = s.denied ? "permitted" : "distribution";
    for (size_t i = 0; i < REACH_ROWS; i++)
        if (strcmp(out[i].subject, subject) == 0)
            reach_no_cookie(r->beam, title, &s, &out[i].p);
}

bool reach_look(const struct node_options *opt, struct reach_row *out, char *title, size_t cap)
{
    struct reach r;
    struct diags none;
    diags_init(&none);
    const bool here = pick(&r, opt, &none) == 0 && r.beam;
    if (here) {
        beam_title(r.beam, title, cap);
        reach_table(r.beam, opt->tls, out);
        look_for_cookie(&r, opt, title, out);
    }
    reach_free(&r);
    diags_free(&none);
    return here;
}

int reach_find(struct reach *r, const struct node_options *opt, struct diags *d)
{
    struct reach_problem p;
    struct dist_to to = {0};
    int e = pick(r, opt, d);
    if (e)
        return e;
    if (r->beam) {
        beam_title(r->beam, r->node, sizeof r->node);
        if (r->beam->other_net && opt->pid == 0)
            return diag_error(d, ET_ENODE, NULL, "NODE_NONE", "choose it with -p",
                              "no Erlang node runs on this host; %s (pid %d) runs in another "
                              "network namespace (a container)",
                              r->node, (int)r->beam->pid);
        if (reach_check(r->beam, opt->tls, &p))
            return report(&p, d);
        if (reach_local(r->beam, &to, r->self_host, sizeof r->self_host))
            return diag_error(d, ET_ENODE, NULL, "NODE_HOST", NULL,
                              "the loopback address cannot be resolved");
        r->addr = to.addr;
        r->port = to.port;
    } else {
        if ((e = find_remote(r, d)) != 0)
            return e;
        own_host(r);
    }
    if (!cookie_find(r->beam, opt->cookie, opt->cookie_file, r->cookie, &r->source)) {
        reach_no_cookie(r->beam, r->node, &r->source, &p);
        return report(&p, d);
    }
    return find_cred(r, opt, d);
}

int reach_connect(struct reach *r, int timeout_ms, struct conn **out, struct diags *d)
{
    struct dist_to to = {.node = r->node,
                         .self_host = r->self_host,
                         .as = r->as,
                         .cookie = r->cookie,
                         .tls = r->over_tls ? &r->tls : NULL,
                         .tls_host = r->beam ? r->self_host : r->host,
                         .addr = r->addr,
                         .port = r->port,
                         .timeout_ms = r->over_tls ? TLS_TIMES * timeout_ms : timeout_ms};
    struct dist_fail why;
    struct reach_problem p;
    int e = dist_open(out, &to, &why);
    const char *at = r->beam ? strchr(r->beam->name, '@') : NULL, *host = at ? at + 1 : r->host;
    if (e == ET_ENODE && why.step == DIST_TCP && why.err == ECONNREFUSED && host[0] &&
        !to.addr.of && node_resolve(host, &to.addr) == 0)
        e = dist_open(out, &to, &why); /* it listens on one address only */
    if (e == ET_ENODE) {
        reach_explain(&why, why.peer[0] ? why.peer : r->node, r->port, r->source.from, &p);
        return report(&p, d);
    }
    if (e)
        return diag_error(d, e, NULL, NULL, NULL, "%s", et_strerror(e));
    if (dist_peer(*out)[0])
        snprintf(r->node, sizeof r->node, "%s", dist_peer(*out));
    return 0;
}

void reach_free(struct reach *r)
{
    beam_list_free(&r->beams);
    cred_free(&r->tls);
    explicit_bzero(r, sizeof *r);
}
