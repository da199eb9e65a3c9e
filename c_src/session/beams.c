/* beams.c - the BEAMs of this host. */
#include <errno.h>
#include <string.h>

#include "session/handle.h"
#include "cluster/clocks.h"
#include "base/err.h"
#include "util/buftext.h"
#include "wire/node.h"

/* The handle's cookie: given, or the first line of the file given. */
static int cookie_of(erltrace_t *h, const char **cookie)
{
    char line[512];
    *cookie = h->cookie;
    if (h->cookie != NULL || h->cookie_file == NULL)
        return 0;
    FILE *f = fopen(h->cookie_file, "re");
    if (f == NULL)
        return api_fail_text(h, ERLTRACE_E_OPEN, "failed to open %s: %s", h->cookie_file,
                             strerror(errno));
    if (fgets(line, sizeof line, f) == NULL)
        line[0] = '\0';
    fclose(f);
    line[strcspn(line, "\r\n")] = '\0';
    *cookie = api_strdup(h, line);
    explicit_bzero(line, sizeof line);
    return *cookie != NULL ? 0 : api_fail(h, ERLTRACE_E_NOMEM);
}

struct examination {
    erltrace_finding_fn *fn;
    void *arg;
    const char *target; /* that is examined, and its release */
    int otp;
    int result;
};

static void found(void *arg, const struct tier_finding *f)
{
    struct examination *x = arg;
    if (x->result == 0)
        x->result = x->fn(&(struct erltrace_finding){.node = x->target,
                                                     .otp = x->otp,
                                                     .subject = f->subject,
                                                     .level = f->level,
                                                     .text = f->text,
                                                     .help = f->help},
                          x->arg);
}

/* Reports how far the clocks of one of several nodes are ahead. */
static int find_clock(struct session *s, struct tier *t, struct examination *x)
{
    struct cluster_ahead a;
    struct buf text = BUF_INIT;
    if (!session_clocks(s) || t->ops->clock == NULL)
        return 0;
    int rc = t->ops->clock(t, &a, &s->diags);
    if (rc == 0) {
        cluster_ahead_text(&a, &text);
        found(x, &(struct tier_finding){"clock", a.timestamp.known ? "ok" : "note", buf_str(&text),
                                        ""});
    }
    buf_free(&text);
    return rc;
}

int erltrace_examine(erltrace_t *h, erltrace_finding_fn *fn, void *arg)
{
    struct examination x = {.fn = fn, .arg = arg};
    if (!api_enter(h, API_OPEN, API_COMPILED))
        return -1;
    if (fn == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    if (api_compile(h) != 0) /* the session, of no programs perhaps */
        return -1;
    h->looking = true;
    const int opened = api_open_targets(h);
    int rc = 0;
    h->looking = false;
    h->busy = true;
    for (size_t i = 0; rc == 0 && x.result == 0 && i < h->session.ntiers; i++) {
        struct tier *t = h->session.tier[i].t;
        x.target = t->ops->target(t);
        x.otp = 0;
        x.result = api_look_report(h, i, x.target, fn, arg);
        if (x.result == 0 && t->ops->examine != NULL)
            rc = t->ops->examine(t, &x.otp, found, &x, &h->session.diags);
        if (rc == 0 && x.result == 0)
            rc = find_clock(&h->session, t, &x);
    }
    if (opened != 0 && x.result == 0) /* of the last one that was tried */
        x.result = api_look_report(h, h->session.ntiers, NULL, fn, arg);
    rc = opened != 0 ? opened : rc;
    h->busy = false;
    return api_leave(h, rc) != 0 ? -1 : x.result;
}

int erltrace_node_iter(erltrace_t *h, erltrace_node_fn *fn, void *arg)
{
    struct node_list list = {0};
    const char *cookie;
    int result = 0;
    if (!api_enter(h, API_OPEN, ERLTRACE_STATE_FAILED))
        return -1;
    if (fn == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    if (cookie_of(h, &cookie) != 0)
        return -1;
    int rc = node_scan(&list, cookie, &h->tls, &h->session.diags);
    h->busy = true;
    for (size_t i = 0; rc == 0 && result == 0 && i < list.n; i++) {
        const struct node_info *n = &list.node[i];
        struct erltrace_node node = {.pid = n->pid,
                                     .name = n->name,
                                     .otp = n->otp,
                                     .owner = n->owner,
                                     .attachable = n->attachable ? -1 : 0,
                                     .why = n->why,
                                     .help = n->help,
                                     .meant = n->meant};
        result = fn(&node, arg);
    }
    h->busy = false;
    node_list_free(&list);
    return api_leave(h, rc) != 0 ? -1 : result;
}
