/* nodes.c - `erltrace nodes`: the BEAMs of this host, and what keeps us from those that cannot be
 * traced. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/screen.h"
#include "node/node.h"

/* The cookie of the command line: given, or the first line of the file given. */
static int cookie_of(const struct args *a, struct arena *arena, const char **cookie)
{
    size_t len;
    *cookie = a->cookie;
    if (a->cookie != NULL || a->cookie_file == NULL)
        return 0;
    char *text = cli_read_file(arena, a->cookie_file, &len);
    if (text == NULL)
        return -1;
    text[strcspn(text, "\r\n")] = '\0';
    *cookie = text;
    return 0;
}

static void put(struct buf *b, const char *key, const char *s)
{
    buf_printf(b, ",\"%s\":", key);
    if (s[0] == '\0')
        buf_adds(b, "null");
    else
        buf_json(b, s, strlen(s));
}

static void json_row(const struct node_info *n, struct buf *b)
{
    buf_printf(b, "{\"type\":\"node\",\"pid\":%ld", (long)n->pid);
    put(b, "name", n->name);
    put(b, "otp", n->otp);
    put(b, "owner", n->owner);
    buf_printf(b, ",\"attachable\":%s", n->attachable ? "true" : "false");
    put(b, "why", n->why);
    put(b, "help", n->help);
    buf_adds(b, "}\n");
}

static const char *or_dash(const char *s)
{
    return s[0] != '\0' ? s : "-";
}

static void text_row(const struct node_info *n, int width, struct buf *b)
{
    buf_printf(b, "%7ld  %-*s %-4s %-10s %s\n", (long)n->pid, width, or_dash(n->name),
               or_dash(n->otp), or_dash(n->owner), n->attachable ? "yes" : "no");
    if (n->why[0] != '\0')
        buf_printf(b, "         why: %s\n", n->why);
    if (n->help[0] != '\0')
        buf_printf(b, "         try: %s\n", n->help);
}

int cli_nodes(const struct args *a, struct arena *arena)
{
    struct screen screen;
    struct diags d;
    struct node_list list = {0};
    struct buf b = BUF_INIT;
    const char *cookie;
    int code = EXIT_OK;
    diags_init(&d);
    if (!screen_open(&screen, a->output, a->json)) {
        fprintf(stderr, "erltrace: failed to open %s: %s\n", a->output, strerror(errno));
        return EXIT_ERROR;
    }
    if (cookie_of(a, arena, &cookie) != 0) {
        screen_message(&screen, "failed to open %s: %s", a->cookie_file, strerror(errno));
        code = EXIT_ERROR;
    } else if (node_scan(&list, cookie, &d) != 0) {
        code = EXIT_ERROR;
    }
    screen_diags(&screen, &d);
    int width = (int)strlen("NAME");
    for (size_t i = 0; i < list.n; i++)
        if ((int)strlen(list.node[i].name) > width)
            width = (int)strlen(list.node[i].name);
    if (code == EXIT_OK && !a->json)
        buf_printf(&b, "%7s  %-*s %-4s %-10s %s\n", "PID", width, "NAME", "OTP", "OWNER",
                   "ATTACHABLE");
    for (size_t i = 0; i < list.n; i++) {
        if (a->json)
            json_row(&list.node[i], &b);
        else
            text_row(&list.node[i], width, &b);
    }
    if (b.len > 0)
        screen.sink.data(screen.sink.arg, b.data, b.len);
    screen_flush(&screen);
    screen_close(&screen);
    buf_free(&b);
    node_list_free(&list);
    diags_free(&d);
    return code;
}
