/* ask.c - the frame of commands that only ask the library and print its answers, without
 * tracing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/screen.h"

int cli_set_access(erltrace_t *h, const struct args *a)
{
    int rc = erltrace_set_cookie(h, a->cookie, a->cookie_file);
    if (rc == 0)
        rc = erltrace_set_name(h, a->as);
    for (size_t i = 0; rc == 0 && i < a->ntls; i++)
        rc = erltrace_set_tls(h, a->tls[i].name, a->tls[i].value);
    return rc == 0 ? erltrace_set_agent_dir(h, a->agent_dir) : rc;
}

int cli_ask(const struct args *a, cli_ask_fn *fn, void *arg)
{
    struct screen screen;
    int err, code = EXIT_ERROR;
    if (!screen_open(&screen, a->output, a->json)) {
        fprintf(stderr, "erltrace: failed to open %s: %s\n", a->output, strerror(errno));
        return EXIT_ERROR;
    }
    erltrace_t *h = erltrace_open(ERLTRACE_VERSION, a->json ? ERLTRACE_O_JSON : 0, &err);
    if (h == NULL) {
        screen_error(&screen, "%s", erltrace_errmsg(NULL, err));
    } else {
        erltrace_handle_diag(h, screen_diag, &screen);
        code = fn(h, a, &screen, arg);
    }
    erltrace_close(h);
    screen_flush(&screen);
    screen_close(&screen);
    return code;
}
