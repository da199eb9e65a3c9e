/* http.c - requests: access control, the page's files, and the lists under /api.
 *
 * An answer is headers and a body sent in pieces. The body is part of the program (files) or made
 * for the request. An answer that a worker must prepare is sent when the worker is done; the
 * connection waits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buftext.h"
#include "web/asset.h"
#include "util/json.h"
#include "web/pack.h"
#include "web/server.h"
#include "web/trace.h"

struct http {
    struct lws *socket;
    struct job *job;           /* the job that it waits for */
    const unsigned char *body; /* the rest to be sent */
    size_t left;
    struct buf own; /* the body, if it was made for this request */
    bool sending;
    bool head;
    bool gzip; /* the client accepts compressed answers */
    bool last; /* close the connection afterwards */
};
_Static_assert(sizeof(struct http) <= HTTP_SIZE, "libwebsockets has room for it");

enum {
    WAIT_SECONDS = 120, /* for a worker */
    READ_SECONDS = 30   /* that a client may take to read a piece of its answer */
};

/* An answer that deviates from the defaults. */
struct reply {
    int status;
    const char *type;
    const char *cache;         /* Cache-Control */
    const char *etag;          /* or NULL */
    const char *encoding;      /* or NULL */
    bool varies;               /* compression depends on the client */
    const unsigned char *body; /* NULL: http.own */
    size_t len;
};

#define NO_STORE "no-store"

/* The page may load nothing from other servers, and be framed by nobody. */
static const struct {
    const char *name, *value;
} security[] = {
    {"content-security-policy:",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
     "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"x-content-type-options:", "nosniff"},
    {"x-frame-options:", "DENY"},
    {"referrer-policy:", "no-referrer"},
    {"cross-origin-opener-policy:", "same-origin"},
    {"cross-origin-resource-policy:", "same-origin"},
    {"permissions-policy:", "camera=(), microphone=(), geolocation=()"},
};

/* -- sending ----------------------------------------------------------------------------------- */

struct headers {
    struct lws *socket;
    unsigned char *p, *end;
    bool failed;
};

static void header(struct headers *h, const char *name, const char *value)
{
    if (value != NULL && lws_add_http_header_by_name(h->socket, (const unsigned char *)name,
                                                     (const unsigned char *)value,
                                                     (int)strlen(value), &h->p, h->end) != 0)
        h->failed = true;
}

static int begin_reply(struct web *w, struct http *c, const struct reply *r)
{
    unsigned char *start = w->chunk + LWS_PRE;
    struct headers h = {c->socket, start, w->chunk + sizeof w->chunk - 1, false};
    c->body = r->body != NULL ? r->body : (const unsigned char *)buf_str(&c->own);
    c->left = r->body != NULL ? r->len : c->own.len;
    if (lws_add_http_header_status(c->socket, (unsigned)r->status, &h.p, h.end) != 0)
        return -1;
    header(&h, "content-type:", r->type);
    header(&h, "cache-control:", r->cache);
    header(&h, "etag:", r->etag);
    header(&h, "content-encoding:", r->encoding);
    header(&h, "vary:", r->varies ? "accept-encoding" : NULL);
    header(&h, "allow:", r->status == 405 ? "GET, HEAD" : NULL);
    header(&h, "connection:", c->last ? "close" : NULL);
    for (size_t i = 0; i < sizeof security / sizeof security[0]; i++)
        header(&h, security[i].name, security[i].value);
    if (h.failed ||
        (r->status != 304 &&
         lws_add_http_header_content_length(c->socket, c->left, &h.p, h.end) != 0) ||
        lws_finalize_write_http_header(c->socket, start, &h.p, h.end) != 0)
        return -1;
    if (c->head || r->status == 304)
        c->left = 0;
    c->sending = true;
    lws_set_timeout(c->socket, PENDING_TIMEOUT_HTTP_CONTENT, READ_SECONDS);
    lws_callback_on_writable(c->socket);
    return 0;
}

static int end_reply(struct http *c)
{
    buf_free(&c->own);
    c->sending = false;
    c->body = NULL;
    return c->last || lws_http_transaction_completed(c->socket) != 0 ? -1 : 0;
}

static int send_piece(struct web *w, struct http *c)
{
    if (!c->sending)
        return 0;
    if (c->left == 0)
        return end_reply(c);
    size_t n = c->left < SERVER_CHUNK ? c->left : SERVER_CHUNK;
    bool last = n == c->left;
    memcpy(w->chunk + LWS_PRE, c->body, n);
    c->body += n;
    c->left -= n;
    if (!server_wrote(c->socket,
                      lws_write(c->socket, w->chunk + LWS_PRE, n,
                                last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP),
                      n)) {
        lws_set_timeout(c->socket, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
        return 0;
    }
    if (last)
        return end_reply(c);
    lws_set_timeout(c->socket, PENDING_TIMEOUT_HTTP_CONTENT, READ_SECONDS);
    lws_callback_on_writable(c->socket);
    return 0;
}

/* -- refusals ---------------------------------------------------------------------------------- */

/* An error page for a person, in place of the requested page. */
static void page_of(struct buf *b, const char *title, const char *text)
{
    buf_printf(b,
               "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width\">"
               "<title>erltrace</title>\n<h1>%s</h1>\n<p>%s</p>\n</html>\n",
               title, text);
}

static void error_of(struct buf *b, const char *tag, const char *text, const char *hint)
{
    buf_adds(b, "{\"error\":{\"tag\":");
    json_text(b, tag);
    json_text_field(b, "text", text);
    if (hint != NULL)
        json_text_field(b, "hint", hint);
    buf_adds(b, "}}");
}

static int refuse(struct web *w, struct http *c, const char *path, int status, const char *tag,
                  const char *text, const char *hint)
{
    bool api = strncmp(path, "/api/", 5) == 0 || strcmp(path, "/ws") == 0;
    buf_reset(&c->own);
    if (api)
        error_of(&c->own, tag, text, hint);
    else
        page_of(&c->own, text, hint != NULL ? hint : "");
    const struct reply r = {.status = status,
                            .type = api ? "application/json" : "text/html; charset=utf-8",
                            .cache = NO_STORE};
    return begin_reply(w, c, &r);
}

/* -- access ------------------------------------------------------------------------------------ */

static bool header_text(struct lws *wsi, enum lws_token_indexes token, char *out, int size)
{
    int n = lws_hdr_copy(wsi, out, size, token);
    if (n <= 0)
        out[0] = '\0';
    return n > 0 ||
           lws_hdr_total_length(wsi, token) == 0; /* or it is longer than any valid value */
}

/* Reads an argument of the address, name "token=" and so on; "" if it is missing. Returns false if
 * it is too long. */
static bool argument(struct lws *wsi, const char *name, char *out, size_t size)
{
    char part[1200];
    const char *value = lws_get_urlarg_by_name(wsi, name, part, sizeof part);
    snprintf(out, size, "%s", value != NULL ? value : "");
    return value == NULL || strlen(value) < size;
}

/* Why a request is refused: the status, and the tag, text and hint of the answer. */
struct refusal {
    int status;
    const char *tag, *text, *hint;
};

/* Returns whether the client may be here at all: under a name of ours, from a page of ours, as an
 * admitted user. */
static bool is_welcome(struct web *w, struct lws *wsi, struct refusal *r)
{
    char host[300], origin[320];
    *r = (struct refusal){403, "WEB_HOST", "This is not the server's name", NULL};
    if (!header_text(wsi, WSI_TOKEN_HOST, host, sizeof host) ||
        !access_host(host, w->names, w->nnames))
        return false;
    *r = (struct refusal){403, "WEB_ORIGIN", "Pages of other servers may not send requests", NULL};
    if (!header_text(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin) ||
        (origin[0] != '\0' &&
         !access_origin(origin, host, w->config.cert != NULL, w->names, w->nnames)))
        return false;
    *r =
        (struct refusal){403, "WEB_USER", "Another user of the server's host may not send requests",
                         "erltrace serve --user NAME lets that user in"};
    return !server_foreign(w, wsi);
}

/* Returns whether the client has sent the token. */
static bool has_token(struct web *w, struct lws *wsi, struct refusal *r)
{
    static const char name[] = "x-erltrace-token:";
    char token[64];
    int n = lws_hdr_custom_copy(wsi, token, sizeof token, name, sizeof name - 1);
    *r = (struct refusal){403, "WEB_TOKEN",
                          n > 0 ? "This is not the token of this server" : "The token is missing",
                          "open the address that erltrace serve has printed"};
    return n > 0 && access_same(w->token, token);
}

static bool is_page(const char *path)
{
    return strcmp(path, "/") == 0 || strcmp(path, "/heatmap") == 0 || strcmp(path, "/list") == 0;
}

/* -- files ------------------------------------------------------------------------------------- */

static int serve_file(struct web *w, struct http *c, const char *path)
{
    char asked[256], etag[48];
    const struct asset *a = asset_find(is_page(path) ? "/index.html" : path);
    if (a == NULL && is_page(path))
        return refuse(w, c, path, 503, "WEB_PAGE", "The page was not built into this erltrace",
                      "Build it with <code>make</code> where npm is installed. The server itself "
                      "works.");
    if (a == NULL || a->path[0] != '/')
        return refuse(w, c, path, 404, "WEB_PATH", "There is nothing here", NULL);
    header_text(c->socket, WSI_TOKEN_HTTP_IF_NONE_MATCH, asked, sizeof asked);
    bool packed = a->gzip != NULL && c->gzip;
    snprintf(etag, sizeof etag, "\"%s%s\"", a->hash, packed ? "-gz" : "");
    bool same = strstr(asked, etag) != NULL;
    const unsigned char *from = packed ? a->gzip : a->data;
    const unsigned char *end = packed ? a->gzip_end : a->end;
    const struct reply r = {.status = same ? 304 : 200,
                            .type = asset_type(a->path),
                            .cache = strncmp(path, "/assets/", 8) == 0
                                         ? "private, max-age=31536000, immutable"
                                         : "private, no-cache",
                            .etag = etag,
                            .encoding = packed && !same ? "gzip" : NULL,
                            .varies = true,
                            .body = from,
                            .len = (size_t)(end - from)};
    return begin_reply(w, c, &r);
}

/* -- lists ------------------------------------------------------------------------------------- */

/* Serves the contents of c->own, which may be compressed. */
static int serve_json(struct web *w, struct http *c, int status, bool packed)
{
    const struct reply r = {.status = status,
                            .type = "application/json",
                            .cache = NO_STORE,
                            .encoding = packed ? "gzip" : NULL,
                            .varies = true};
    return c->own.oom ? -1 : begin_reply(w, c, &r);
}

static int api_state(struct web *w, struct http *c)
{
    struct buf *b = &c->own;
    buf_adds(b, "{\"version\":");
    json_text(b, erltrace_version());
    json_safe_int_field(b, "protocol", 1);
    json_bool_field(b, "destructive", w->config.destructive);
    json_bool_field(b, "kernel", w->config.kernel);
    json_text_field(b, "node", w->config.nnodes > 0 ? w->config.node[0] : NULL);
    buf_addc(b, ',');
    server_limits(w, b);
    buf_adds(b, ",\"traces\":");
    trace_list(&w->hub, b);
    buf_addc(b, '}');
    return serve_json(w, c, 200, c->gzip && pack_gzip(b));
}

static int api_scripts(struct web *w, struct http *c)
{
    bool packed = c->gzip && w->scripts_packed.len > 0;
    const struct buf *b = packed ? &w->scripts_packed : &w->scripts;
    buf_add(&c->own, buf_str(b), b->len);
    return serve_json(w, c, 200, packed);
}

static int ask(struct web *w, struct http *c, struct job *j)
{
    if (j != NULL)
        j->gzip = c->gzip;
    if (j == NULL || !worker_add(w->worker, j)) {
        job_free(j);
        return refuse(w, c, "/api/", 503, "WEB_BUSY", "the server is too busy", NULL);
    }
    c->job = j;
    lws_set_timeout(c->socket, PENDING_TIMEOUT_HTTP_CONTENT, WAIT_SECONDS);
    return 0;
}

static int api_nodes(struct web *w, struct http *c)
{
    return ask(w, c, job_new(JOB_NODES, c));
}

static int api_about(struct web *w, struct http *c)
{
    struct job *j = job_new(JOB_ABOUT, c);
    if (j == NULL)
        return -1;
    if (!argument(c->socket, "node=", j->node, sizeof j->node)) {
        job_free(j);
        return refuse(w, c, "/api/", 400, "WEB_ARGUMENT", "an argument is too long", NULL);
    }
    return ask(w, c, j);
}

static int catalog(struct web *w, struct http *c, enum lists_what what)
{
    char limit[16] = ""; /* also if an earlier argument is too long */
    struct job *j = job_new(JOB_CATALOG, c);
    if (j == NULL)
        return -1;
    bool ok = argument(c->socket, "node=", j->node, sizeof j->node) &&
              argument(c->socket, "provider=", j->provider, sizeof j->provider) &&
              argument(c->socket, "module=", j->module, sizeof j->module) &&
              argument(c->socket, "prefix=", j->prefix, sizeof j->prefix) &&
              argument(c->socket, "limit=", limit, sizeof limit);
    char *end = limit;
    long n = limit[0] != '\0' ? strtol(limit, &end, 10) : 100;
    if (!ok || *end != '\0' || n < 1 || n > 1000) {
        job_free(j);
        return refuse(w, c, "/api/", 400, "WEB_ARGUMENT",
                      "an argument is too long, or limit is not from 1 to 1000", NULL);
    }
    j->what = what;
    j->limit = (size_t)n;
    return ask(w, c, j);
}

static int api_probes(struct web *w, struct http *c)
{
    return catalog(w, c, LISTS_PROBES);
}

static int api_providers(struct web *w, struct http *c)
{
    return catalog(w, c, LISTS_PROVIDERS);
}

static int api_modules(struct web *w, struct http *c)
{
    return catalog(w, c, LISTS_MODULES);
}

static int api_functions(struct web *w, struct http *c)
{
    return catalog(w, c, LISTS_FUNCTIONS);
}

static const struct {
    const char *path;
    int (*serve)(struct web *w, struct http *c);
} api[] = {
    {"/api/state", api_state},     {"/api/scripts", api_scripts},
    {"/api/nodes", api_nodes},     {"/api/probes", api_probes},
    {"/api/modules", api_modules}, {"/api/functions", api_functions},
    {"/api/about", api_about},     {"/api/providers", api_providers},
};

/* Answers the connection that waits for a finished job, if it still exists. */
void http_answer(struct web *w, struct job *j)
{
    struct http *c = j->owner;
    if (c == NULL)
        return;
    c->job = NULL;
    lws_set_timeout(c->socket, NO_PENDING_TIMEOUT, 0);
    buf_free(&c->own);
    c->own = j->body;
    j->body = (struct buf)BUF_INIT;
    if (serve_json(w, c, j->status, j->packed) != 0)
        lws_set_timeout(c->socket, PENDING_TIMEOUT_HTTP_CONTENT, LWS_TO_KILL_ASYNC);
}

/* -- requests ---------------------------------------------------------------------------------- */

/* The page's files are not secret: they contain nothing, and use the token to request
 * everything. */
static int request(struct web *w, struct http *c, const char *path)
{
    struct refusal r;
    bool is_api = strncmp(path, "/api/", 5) == 0;
    if (!is_welcome(w, c->socket, &r) || (is_api && !has_token(w, c->socket, &r)))
        return refuse(w, c, path, r.status, r.tag, r.text, r.hint);
    if (is_api)
        server_good(w, c->socket);
    for (size_t i = 0; i < sizeof api / sizeof api[0]; i++)
        if (strcmp(api[i].path, path) == 0)
            return api[i].serve(w, c);
    return serve_file(w, c, path);
}

static int on_request(struct lws *wsi, struct http *c, const char *in, size_t len)
{
    struct web *w = web_of(wsi);
    char path[512], coding[256], *uri = NULL;
    int uri_len = 0;
    buf_free(&c->own);
    *c = (struct http){.socket = wsi};
    header_text(wsi, WSI_TOKEN_HTTP_ACCEPT_ENCODING, coding, sizeof coding);
    c->gzip = pack_accepted(coding);
    int method = lws_http_get_uri_and_method(wsi, &uri, &uri_len);
    c->head = method == LWSHUMETH_HEAD;
    snprintf(path, sizeof path, "%.*s", (int)(len < sizeof path ? len : sizeof path - 1), in);
    if (method != LWSHUMETH_GET && method != LWSHUMETH_HEAD) {
        c->last = true;
        return refuse(w, c, path, 405, "WEB_METHOD", "Only GET and HEAD are served", NULL);
    }
    if (len >= sizeof path)
        return refuse(w, c, path, 404, "WEB_PATH", "There is nothing here", NULL);
    return request(w, c, path);
}

/* Decides before a connection becomes a WebSocket. Returns 0: accept; 1: answered; -1: close. */
static int on_upgrade(struct lws *wsi)
{
    struct web *w = web_of(wsi);
    struct http c = {.socket = wsi, .last = true};
    char path[64], protocols[256];
    struct refusal why;
    header_text(wsi, WSI_TOKEN_GET_URI, path, sizeof path);
    bool offered = header_text(wsi, WSI_TOKEN_PROTOCOL, protocols, sizeof protocols);
    if (is_welcome(w, wsi, &why)) {
        if (strcmp(path, "/ws") != 0)
            why = (struct refusal){404, "WEB_PATH", "There is no WebSocket here", NULL};
        else if (!offered || !access_offers(protocols, "erltrace.1", ""))
            why = (struct refusal){400, "WEB_PROTOCOL", "The WebSocket's subprotocol is erltrace.1",
                                   NULL};
        else if (!access_offers(protocols, "token.", w->token))
            why = (struct refusal){403, "WEB_TOKEN", "The token is missing",
                                   "the token is offered as a subprotocol, token.TOKEN"};
        else {
            server_good(w, wsi);
            return 0;
        }
    }
    error_of(&c.own, why.tag, why.text, why.hint);
    const struct reply r = {.status = why.status, .type = "application/json", .cache = NO_STORE};
    int rc = begin_reply(w, &c, &r);
    if (rc == 0 && c.left < SERVER_CHUNK) {
        memcpy(w->chunk + LWS_PRE, c.body, c.left);
        lws_write(wsi, w->chunk + LWS_PRE, c.left, LWS_WRITE_HTTP_FINAL);
    }
    buf_free(&c.own);
    return -1;
}

static void close_request(struct lws *wsi, struct http *c)
{
    if (c == NULL || c->socket == NULL)
        return;
    if (c->job != NULL && web_of(wsi)->worker != NULL)
        worker_abandon(web_of(wsi)->worker, c->job);
    c->job = NULL;
    buf_free(&c->own);
    c->socket = NULL;
}

int http_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                  size_t len)
{
    struct http *c = user;
    switch (reason) {
    case LWS_CALLBACK_HTTP: return on_request(wsi, c, in, len);
    case LWS_CALLBACK_HTTP_WRITEABLE: return send_piece(web_of(wsi), c);
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return on_upgrade(wsi);
    case LWS_CALLBACK_CLOSED_HTTP:
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL: close_request(wsi, c); break;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return 1; /* none of our subprotocols */
    default: break;
    }
    return 0;
}
