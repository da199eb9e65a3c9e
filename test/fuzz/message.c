/* message.c - fuzz target: what a page says on its WebSocket, and the headers of its requests.
 *
 * Up to the first NUL the input is a message; what follows is a header, given to each of the
 * readers of headers. A message that is taken has what its type must have, within the limits, and
 * can be given back. */
#include "fuzz.h"

#include <strings.h>

#include "web/access.h"
#include "web/message.h"
#include "web/pack.h"

static void within_limits(const struct message *m)
{
    must(m->nargs <= MESSAGE_ARGS && m->noptions <= MESSAGE_OPTIONS, "so many and no more", NULL);
    must(m->view == NULL || strlen(m->view) <= MESSAGE_VIEW, "a view is short", NULL);
    must(m->node == NULL || strlen(m->node) <= MESSAGE_SHORT, "a node is short", NULL);
    must(m->name == NULL || strlen(m->name) <= MESSAGE_SHORT, "a name is short", NULL);
    for (size_t i = 0; i < m->nargs; i++)
        must(strlen(m->arg[i]) <= MESSAGE_SHORT, "an argument is short", NULL);
    for (size_t i = 0; i < m->noptions; i++) {
        must(strlen(m->option[i].name) <= MESSAGE_SHORT, "an option is short", NULL);
        must(i == 0 || strcmp(m->option[i - 1].name, m->option[i].name) < 0,
             "options are in order, each once", NULL);
    }
}

static void message(const char *text, size_t n)
{
    struct message m;
    const char *why = message_decode(text, n, &m);
    if (why != NULL) {
        must(m.script == NULL && m.nargs == 0 && m.noptions == 0, "it holds nothing", NULL);
        return;
    }
    bool script = m.type == MESSAGE_START || m.type == MESSAGE_CHECK;
    must((m.script != NULL) == script, "a script where there has to be one", NULL);
    within_limits(&m);
    message_free(&m);
}

static void header(const char *text)
{
    static const char *const names[] = {"trace.example", "https://shop.example"};
    char secret[ACCESS_SECRET] = "00112233445566778899aabbccddeeff";
    bool own = access_host(text, names, 2);
    must(!own || strpbrk(text, "/@ ") == NULL, "a host is a name and a port", NULL);
    must(!access_origin(text, text, false, names, 2) || strcasecmp(text, names[1]) == 0,
         "a host is no origin", NULL);
    must(!access_is_name(text) || strpbrk(text, "?#@ ") == NULL, "a name is no address of a page",
         NULL);
    if (access_offers(text, "token.", secret))
        must(strstr(text, secret) != NULL, "who offers the token has the secret", NULL);
    must(!pack_accepted(text) || strpbrk(text, "*gG") != NULL, "gzip is asked for", NULL);
    must(access_same(secret, text) == (strcmp(secret, text) == 0), "the same is the same", NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = memchr(data, 0, size);
    size_t n = nul != NULL ? (size_t)(nul - data) : size;
    message((const char *)data, n);
    struct buf rest = BUF_INIT;
    if (n < size)
        buf_add(&rest, data + n + 1, size - n - 1);
    header(buf_str(&rest));
    buf_free(&rest);
    return 0;
}
