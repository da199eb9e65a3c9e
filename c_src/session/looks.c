/* looks.c - what may be in the way to a node, from finding it to its distribution, for
 * erltrace_examine: what is seen before a connection is tried, and what the attempt has shown.
 *
 * Each node has a row for each thing, in the order of wire/reach.h, whichever of them fails. */
#include <stdio.h>
#include <string.h>

#include "session/handle.h"
#include "base/err.h"
#include "wire/reach.h"

struct api_look {
    struct api_look *next;
    size_t nth;      /* of the nodes that were opened */
    char title[256]; /* its name, before it has told its own */
    bool here;       /* there are rows: it is a process of this host */
    struct reach_row row[REACH_ROWS];
};

void api_look_before(erltrace_t *h, const struct node_options *opt)
{
    struct api_look *look = h->looking ? arena_alloc(&h->session.arena, sizeof *look) : NULL;
    if (look == NULL)
        return;
    memset(look, 0, sizeof *look);
    look->next = h->look;
    look->nth = h->look != NULL ? h->look->nth + 1 : 0;
    look->here = !opt->by_relay && reach_look(opt, look->row, look->title, sizeof look->title);
    h->look = look;
}

/* The row that an error is about, by its tag; that of another tag is "distribution". */
static const char *subject_of(const struct diag *g)
{
    static const char *const subjects[][2] = {
        {"NODE_PERM", "permitted"},    {"OTP_ARCH", "processor"},  {"OTP_OLD", "release"},
        {"AGENT_COPIES", "c_library"}, {"AGENT_FILES", "folders"}, {"AGENT_NIF", "c_library"},
    };
    /* Two things are AGENT_NIF: no folder serves, for which the user can name another one; or the
     * C library refuses the file, wherever it is. */
    if (g->hint != NULL && strstr(g->hint, "--agent-dir") != NULL)
        return "folders";
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(g->tag, subjects[i][0]) == 0)
            return subjects[i][1];
    return "distribution";
}

static struct reach_row *row_of(struct api_look *look, const char *subject)
{
    size_t i = 0;
    while (i + 1 < REACH_ROWS && strcmp(look->row[i].subject, subject) != 0)
        i++;
    return &look->row[i];
}

static bool is_in_the_way(const struct api_look *look)
{
    for (size_t i = 0; i < REACH_ROWS; i++)
        if (look->row[i].p.err != 0)
            return true;
    return false;
}

void api_look_after(erltrace_t *h, int rc)
{
    struct api_look *look = h->looking ? h->look : NULL;
    const struct diags *d = &h->session.diags;
    if (look == NULL || !look->here)
        return;
    struct reach_problem *folders = &row_of(look, "folders")->p;
    snprintf(folders->text, sizeof folders->text, "%s",
             rc == 0 ? "the agent's library was loaded in the node"
                     : "not known: the agent was not placed");
    folders->level = rc == 0 ? NULL : "note";
    if (rc == 0 || is_in_the_way(look) || d->count == 0)
        return;
    const struct diag *g = &d->list[d->count - 1];
    struct reach_problem *p = &row_of(look, subject_of(g))->p;
    p->err = rc;
    snprintf(p->text, sizeof p->text, "%s", g->text);
    snprintf(p->help, sizeof p->help, "%s", g->hint != NULL ? g->hint : "");
}

int api_look_report(const erltrace_t *h, size_t nth, const char *target, erltrace_finding_fn *fn,
                    void *arg)
{
    const struct api_look *look = h->look;
    int rc = 0;
    while (look != NULL && look->nth != nth)
        look = look->next;
    for (size_t i = 0; look != NULL && look->here && rc == 0 && i < REACH_ROWS; i++) {
        const struct reach_problem *p = &look->row[i].p;
        rc = fn(&(struct erltrace_finding){.node = target != NULL ? target : look->title,
                                           .subject = look->row[i].subject,
                                           .level = p->err != 0        ? "limit"
                                                    : p->level != NULL ? p->level
                                                                       : "ok",
                                           .text = p->text,
                                           .help = p->help},
                arg);
    }
    return rc;
}
