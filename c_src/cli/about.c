/* about.c - `erltrace --version`: which erltrace this is, and what it brings into nodes.
 *
 * The build gives ET_COMMIT, the commit that the sources are of, ET_FIRST_RELEASE, the first
 * release of OTP that can be traced (words/otp.list), and ET_RELEASES, those that the tests run on,
 * oldest first, with commas between them (Makefile). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/screen.h"
#include "util/buftext.h"
#include "util/json.h"

static int text_agent(const struct erltrace_agent *a, void *arg)
{
    buf_printf(arg, "agent: %s, %016" PRIx64 "\n", a->processor, a->hash);
    return 0;
}

static int json_agent(const struct erltrace_agent *a, void *arg)
{
    struct buf *b = arg;
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, a->hash);
    buf_adds(b, b->len > 0 && b->data[b->len - 1] == '}' ? ",{" : "{");
    json_first_key(b, "processor");
    json_text(b, a->processor);
    json_text_field(b, "hash", hash);
    json_text_field(b, "path", a->path);
    buf_addc(b, '}');
    return 0;
}

static const char *tried_last(void)
{
    const char *space = strrchr(ET_RELEASES, ' ');
    return space != NULL ? space + 1 : ET_RELEASES;
}

static void put_text(struct buf *b, const char *agents)
{
    buf_printf(b,
               "erltrace: erltrace %s\n"
               "build: %s\n"
               "interface of the library: version %d\n"
               "program images: version %d\n"
               "%s"
               "OTP: %s to %s, tried on %s\n",
               erltrace_version(), ET_COMMIT, ERLTRACE_VERSION, erltrace_image_version(),
               agents[0] != '\0' ? agents : "agent: none is here\n", ET_FIRST_RELEASE, tried_last(),
               ET_RELEASES);
}

static void put_json(struct buf *b, const char *agents)
{
    buf_adds(b, "{\"type\":\"version\"");
    json_text_field(b, "version", erltrace_version());
    json_text_field(b, "build", ET_COMMIT);
    json_int_field(b, "interface", ERLTRACE_VERSION);
    json_int_field(b, "image", erltrace_image_version());
    buf_printf(b, ",\"agents\":[%s],\"tried\":[%s]}\n", agents, ET_RELEASES);
}

static int about(erltrace_t *h, const struct args *a, struct screen *s, void *arg)
{
    struct buf agents = BUF_INIT, b = BUF_INIT;
    (void)arg;
    int rc = erltrace_agent_iter(h, a->json ? json_agent : text_agent, &agents);
    if (rc != 0)
        screen_error(s, "%s", erltrace_errmsg(h, erltrace_errno(h)));
    else
        (a->json ? put_json : put_text)(&b, buf_str(&agents));
    screen_data(s, buf_str(&b), b.len);
    buf_free(&agents);
    buf_free(&b);
    return rc == 0 ? EXIT_OK : EXIT_ERROR;
}

int cli_version(const struct args *a)
{
    if (!a->verbose && !a->json) { /* -V: what scripts for dtrace(1) read */
        printf("erltrace: erltrace %s\n", erltrace_version());
        return EXIT_OK;
    }
    return cli_ask(a, about, NULL);
}
