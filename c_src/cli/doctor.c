/* doctor.c - `erltrace doctor`: what can be traced in a node, what cannot, why, and what would
 * help.
 *
 * First comes the verdict, then what the node reports about itself, then the probes that its
 * release cannot deliver, by reason; with --kernel, the same of the kernel of this host. A node
 * that cannot be reached, or in which the agent cannot be placed, is an error with its own hint.
 * Exit codes: 0 no limits, 3 there are limits, 1 it cannot be traced. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/screen.h"
#include "util/buftext.h"
#include "util/json.h"

enum { EXIT_LIMITS = 3, REASONS_MAX = 64 };

struct doctor {
    struct screen *screen;
    bool json;
    char node[512];           /* the current node, "" before the first */
    int otp;                  /* its release */
    bool closed;              /* nothing can be traced there */
    unsigned limits, of_node; /* of all nodes, and of this one */
    struct buf text;          /* the findings for this node; its verdict precedes them */
    size_t delivered;         /* probes that this release can deliver */
    struct {
        const char *why;
        struct buf names;
    } reason[REASONS_MAX];
    size_t nreasons;
};

static void tell(struct doctor *o, const char *subject, const char *level, const char *text,
                 const char *help)
{
    struct buf *b = &o->text;
    if (o->json) {
        buf_adds(b, "{\"type\":\"finding\"");
        json_text_field(b, "node", o->node);
        json_text_field(b, "subject", subject);
        json_text_field(b, "level", level);
        json_text_field(b, "text", text);
        json_text_field(b, "help", help);
        buf_adds(b, "}\n");
    } else {
        struct buf part[3] = {BUF_INIT, BUF_INIT, BUF_INIT};
        buf_printf(b, "  %-6s %-18s %s\n", buf_shown(&part[0], level), buf_shown(&part[1], subject),
                   buf_shown(&part[2], text));
        if (help[0] != '\0')
            buf_printf(b, "  %-6s %-18s   try: %s\n", "", "", buf_shown(&part[2], help));
        for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
            buf_free(&part[i]);
    }
}

/* Prints the verdict and all findings for this node. */
static void end_node(struct doctor *o)
{
    struct buf b = BUF_INIT, name = BUF_INIT;
    const char *target = o->node[0] != '\0' ? o->node : "The kernel of this host";
    if (o->json) {
        buf_adds(&b, "{\"type\":\"verdict\"");
        json_text_field(&b, "node", o->node);
        buf_printf(&b, ",\"traceable\":%s,\"limits\":%u}\n", o->closed ? "false" : "true",
                   o->of_node);
    } else if (o->closed) {
        buf_printf(&b, "%s cannot be traced (below).\n", buf_shown(&name, target));
    } else if (o->of_node == 0) {
        buf_printf(&b, "%s can be traced without limits.\n", buf_shown(&name, target));
    } else {
        buf_printf(&b, "%s can be traced, with %u limit%s (below).\n", buf_shown(&name, target),
                   o->of_node, o->of_node == 1 ? "" : "s");
    }
    buf_add(&b, buf_str(&o->text), o->text.len);
    screen_data(o->screen, buf_str(&b), b.len);
    buf_free(&b);
    buf_free(&name);
    buf_reset(&o->text);
    o->of_node = 0;
}

/* -- undelivered probes by reason -------------------------------------------------------------- */

static int sort_probe(const struct erltrace_about *p, void *arg)
{
    struct doctor *o = arg;
    size_t which = 0;
    while (which + 1 < p->notps && p->otp[which + 1] <= o->otp)
        which++;
    if (strcmp(p->by[which], "vm tier") == 0) {
        o->delivered += p->numbered ? p->numbered : 1;
        return 0;
    }
    const char *why = p->lacking != NULL ? p->lacking : "not delivered on this release";
    size_t i = 0;
    while (i < o->nreasons && strcmp(o->reason[i].why, why) != 0)
        i++;
    if (i == REASONS_MAX)
        return 0;
    if (i == o->nreasons) {
        o->reason[i].why = why;
        o->reason[i].names = (struct buf)BUF_INIT;
        o->nreasons++;
    }
    buf_printf(&o->reason[i].names, "%s%s%s", o->reason[i].names.len ? ", " : "", p->name,
               p->numbered ? "*" : "");
    return 0;
}

static void tell_probes(struct doctor *o)
{
    struct buf b = BUF_INIT;
    o->delivered = o->nreasons = 0;
    erltrace_about_iter(sort_probe, o);
    buf_printf(&b, "%zu named probes, and those of every function", o->delivered);
    tell(o, "probes", "ok", buf_str(&b), "");
    for (size_t i = 0; i < o->nreasons; i++) {
        buf_reset(&b);
        buf_printf(&b, "not %s: %s", buf_str(&o->reason[i].names), o->reason[i].why);
        tell(o, "probes", "note", buf_str(&b), "");
        buf_free(&o->reason[i].names);
    }
    buf_free(&b);
}

/* -- findings ---------------------------------------------------------------------------------- */

static int tell_finding(const struct erltrace_finding *f, void *arg)
{
    struct doctor *o = arg;
    if (strcmp(o->node, f->node) != 0) {
        if (o->node[0] != '\0') {
            tell_probes(o);
            end_node(o);
        }
        snprintf(o->node, sizeof o->node, "%s", f->node);
        o->otp = 0;
    }
    if (f->otp != 0) /* what was seen before the connection has none */
        o->otp = f->otp;
    o->closed = o->closed || (f->node[0] == '\0' && strcmp(f->subject, "programs") == 0 &&
                              strcmp(f->level, "limit") == 0);
    o->limits += strcmp(f->level, "limit") == 0;
    o->of_node += strcmp(f->level, "limit") == 0;
    tell(o, f->subject, f->level, f->text, f->help);
    return 0;
}

static int examine(erltrace_t *h, const struct args *a, struct screen *screen, void *arg)
{
    struct doctor doctor = {.screen = screen, .json = a->json, .text = BUF_INIT}, *o = &doctor;
    (void)arg;
    int rc = cli_set_access(h, a);
    if (rc == 0 && a->kernel)
        rc = erltrace_target_kernel(h);
    for (size_t i = 0; rc == 0 && i < a->nnodes; i++)
        rc = erltrace_target_node(h, a->node[i], NULL);
    for (size_t i = 0; rc == 0 && i < a->nprocesses; i++)
        rc = erltrace_target_pid(h, a->process[i].pid);
    if (rc == 0)
        rc = erltrace_examine(h, tell_finding, o);
    if (rc == 0 ? o->node[0] != '\0' || a->kernel : o->text.len > 0) {
        /* one that told its release is not the one that failed, which has no rows */
        o->closed = o->closed || (rc != 0 && o->otp == 0);
        if (!a->kernel && (rc == 0 || o->otp != 0))
            tell_probes(o);
        end_node(o);
    }
    buf_free(&o->text);
    if (rc < 0 && screen->errors == 0)
        screen_error(screen, "%s", erltrace_errmsg(h, erltrace_errno(h)));
    return rc != 0 || o->closed ? EXIT_ERROR : o->limits > 0 ? EXIT_LIMITS : EXIT_OK;
}

int cli_doctor(const struct args *a, struct arena *arena)
{
    (void)arena;
    return cli_ask(a, examine, NULL);
}
