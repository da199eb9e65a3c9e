/* nodes.c - `erltrace nodes`: the BEAMs of this host, and why some of them cannot be traced. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/screen.h"
#include "util/buftext.h"
#include "util/json.h"

/* One BEAM. Printing waits for all of them, because the widest entry determines a column's
 * width. */
struct row {
    struct row *next;
    pid_t pid;
    const char *name, *otp, *owner, *why, *help;
    int attachable; /* as in struct erltrace_node */
};

struct listing {
    struct arena *arena;
    struct row *first, **last;
    int width; /* of the column of names */
};

static int add_row(const struct erltrace_node *n, void *arg)
{
    struct listing *l = arg;
    struct row *r = arena_alloc(l->arena, sizeof *r);
    if (r == NULL)
        return 1;
    *r = (struct row){.pid = n->pid,
                      .name = arena_strdup(l->arena, n->name),
                      .otp = arena_strdup(l->arena, n->otp),
                      .owner = arena_strdup(l->arena, n->owner),
                      .why = arena_strdup(l->arena, n->why),
                      .help = arena_strdup(l->arena, n->help),
                      .attachable = n->attachable};
    if (!r->name || !r->otp || !r->owner || !r->why || !r->help)
        return 1;
    if ((int)strlen(r->name) > l->width)
        l->width = (int)strlen(r->name);
    *l->last = r;
    l->last = &r->next;
    return 0;
}

static void put(struct buf *b, const char *key, const char *s)
{
    json_text_field(b, key, s[0] != '\0' ? s : NULL);
}

static void json_row(const struct row *n, struct buf *b)
{
    buf_printf(b, "{\"type\":\"node\",\"pid\":%ld", (long)n->pid);
    put(b, "name", n->name);
    put(b, "otp", n->otp);
    put(b, "owner", n->owner);
    if (n->attachable != 0)
        json_text_field(b, "attachable", NULL);
    else
        json_bool_field(b, "attachable", false);
    put(b, "why", n->why);
    put(b, "help", n->help);
    buf_adds(b, "}\n");
}

static const char *or_dash(const char *s)
{
    return s[0] != '\0' ? s : "-";
}

static void text_row(const struct row *n, int width, struct buf *b)
{
    struct buf name = BUF_INIT, text = BUF_INIT;
    buf_printf(b, "%7ld  %-*s %-4s %-10s %s\n", (long)n->pid, width,
               buf_shown(&name, or_dash(n->name)), or_dash(n->otp),
               buf_shown(&text, or_dash(n->owner)), n->attachable != 0 ? "not tried" : "no");
    if (n->why[0] != '\0')
        buf_printf(b, "         why: %s\n", buf_shown(&text, n->why));
    if (n->help[0] != '\0')
        buf_printf(b, "         try: %s\n", buf_shown(&text, n->help));
    b->oom |= name.oom || text.oom;
    buf_free(&name);
    buf_free(&text);
}

static int list(erltrace_t *h, const struct args *a, struct screen *s, void *arena)
{
    struct listing l = {.arena = arena, .last = &l.first, .width = (int)strlen("NAME")};
    struct buf b = BUF_INIT;
    int rc = cli_set_access(h, a);
    if (rc == 0)
        rc = erltrace_node_iter(h, add_row, &l);
    if (rc < 0 && s->errors == 0)
        screen_error(s, "%s", erltrace_errmsg(h, erltrace_errno(h)));
    if (rc > 0)
        screen_error(s, "out of memory");
    if (rc == 0 && !a->json)
        buf_printf(&b, "%7s  %-*s %-4s %-10s %s\n", "PID", l.width, "NAME", "OTP", "OWNER",
                   "ATTACHABLE");
    for (const struct row *r = l.first; rc == 0 && r != NULL; r = r->next) {
        if (a->json)
            json_row(r, &b);
        else
            text_row(r, l.width, &b);
    }
    screen_data(s, buf_str(&b), b.len);
    buf_free(&b);
    return rc == 0 ? EXIT_OK : EXIT_ERROR;
}

int cli_nodes(const struct args *a, struct arena *arena)
{
    return cli_ask(a, list, arena);
}
