/* server.c - the sockets' thread: listens, counts connections, and hands the results of other
 * threads to whoever waits for them. */
#include "web/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "util/buftext.h"
#include "web/asset.h"
#include "web/keys.h"
#include "web/pack.h"
#include "web/peer.h"
#include "web/ready.h"
#include "web/token.h"
#include "web/trace.h"

enum {
    TICK_MS = 200,
    HEADERS_SECONDS = 5, /* time for a request to arrive */
    IDLE_SECONDS = 30,   /* time that a connection may wait for the next request */
    FAREWELL_MS = 6000,  /* time for traces to end and to report that */
    CLOSING_MS = 2000    /* time for pages to learn that the server ends */
};

/* -- connections ------------------------------------------------------------------------------- */

/* If there are too many connections, closes the oldest that has not shown the token, so that
 * strangers cannot keep out those who have it. Returns false if all have shown it. */
static bool make_room(struct web *w)
{
    struct connection *oldest = NULL;
    for (size_t i = 0; i < w->nconnections; i++) {
        struct connection *c = &w->connection[i];
        if (!c->good && (oldest == NULL || c->since_ns < oldest->since_ns))
            oldest = c;
    }
    if (oldest == NULL)
        return false;
    oldest->good = true; /* so that it is not chosen again */
    lws_set_timeout(oldest->socket, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
    return true;
}

static int admit(struct web *w)
{
    if (w->nconnections < HUB_CONNECTIONS)
        return 0;
    return !make_room(w) || w->nconnections >= HUB_CONNECTIONS + SERVER_SPARE;
}

/* libwebsockets 4.1 buffers what the system does not accept at once, and then never recovers from a
 * peer that closes meanwhile: it serves nobody else any more. So nothing may ever be buffered. A
 * socket is writable when a third of its room is free, which is more than we write at once. */
static void opened(struct web *w, struct lws *wsi)
{
    int room = SERVER_ROOM;
    setsockopt(lws_get_socket_fd(wsi), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    fcntl(lws_get_socket_fd(wsi), F_SETFD, FD_CLOEXEC); /* not inherited by what system() runs */
    if (w->nconnections < HUB_CONNECTIONS + SERVER_SPARE)
        w->connection[w->nconnections++] = (struct connection){
            .socket = wsi,
            .foreign = !w->proxied &&
                       !peer_admits(lws_get_socket_fd(wsi), w->config.user, w->config.nusers),
            .since_ns = monotonic_ns()};
}

bool server_wrote(struct lws *wsi, int rc, size_t n)
{
    return rc >= (int)n && !lws_partial_buffered(wsi);
}

static void closed(struct web *w, const struct lws *wsi)
{
    for (size_t i = 0; i < w->nconnections; i++) {
        if (w->connection[i].socket == wsi) {
            w->connection[i] = w->connection[--w->nconnections];
            return;
        }
    }
}

bool server_foreign(const struct web *w, const struct lws *wsi)
{
    for (size_t i = 0; i < w->nconnections; i++)
        if (w->connection[i].socket == wsi)
            return w->connection[i].foreign;
    return true;
}

void server_good(struct web *w, struct lws *wsi)
{
    for (size_t i = 0; i < w->nconnections; i++)
        if (w->connection[i].socket == wsi)
            w->connection[i].good = true;
}

/* -- the loop ---------------------------------------------------------------------------------- */

static void wake(void *arg)
{
    struct web *w = arg;
    lws_cancel_service(w->context);
}

/* Handles what other threads have done. */
static void look_around(struct web *w)
{
    struct job *j;
    while (w->worker != NULL && (j = worker_done(w->worker)) != NULL) {
        if (j->kind == JOB_CHECK || j->kind == JOB_MATCH)
            viewer_answer(w, j);
        else
            http_answer(w, j);
        job_free(j);
    }
    trace_reap(&w->hub);
    viewer_wake(w);
}

static void tick(lws_sorted_usec_list_t *timer)
{
    struct web *w = lws_container_of(timer, struct web, timer);
    viewer_tick(w);
    lws_sul_schedule(w->context, 0, timer, tick, TICK_MS * LWS_US_PER_MS);
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len)
{
    switch (reason) {
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION: return admit(web_of(wsi));
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED: opened(web_of(wsi), wsi); return 0;
    case LWS_CALLBACK_WSI_DESTROY: closed(web_of(wsi), wsi); return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED: look_around(web_of(wsi)); return 0;
    default: return http_callback(wsi, reason, user, in, len);
    }
}

/* -- opening ----------------------------------------------------------------------------------- */

static bool is_loopback(const char *address)
{
    struct in6_addr six;
    return strncmp(address, "127.", 4) == 0 ||
           (inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six));
}

static bool is_any(const char *address)
{
    return strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
}

/* Returns a hint for a failure to listen. */
static const char *hint_of(int error)
{
    switch (error) {
    case EADDRINUSE:
        return "is there another `erltrace serve`? `--listen ADDRESS:0` takes any port that is "
               "free";
    case EACCES: return "ports below 1024 are root's";
    case EADDRNOTAVAIL: return "--listen takes an address of this host; 0.0.0.0 is all of them";
    default: return NULL;
    }
}

/* Tests whether the address can be listened on; libwebsockets does not say why not. */
static bool can_listen(const struct web_config *c, char *why, size_t size, const char **hint)
{
    struct sockaddr_storage address = {0};
    struct sockaddr_in *four = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address;
    socklen_t len = sizeof *four;
    int yes = 1;
    if (inet_pton(AF_INET, c->address, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)c->port);
    } else if (inet_pton(AF_INET6, c->address, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)c->port);
        len = sizeof *six;
    } else {
        snprintf(why, size, "--listen %s: not an address in digits", c->address);
        return false;
    }
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    int rc = fd < 0 ? -1 : bind(fd, (struct sockaddr *)&address, len);
    if (rc == 0)
        rc = listen(fd, 1);
    if (rc != 0) {
        *hint = hint_of(errno);
        snprintf(why, size, "cannot listen on %s, port %d: %s", c->address, c->port,
                 strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return rc == 0;
}

/* Returns whether a file, if one was given, can be read and contains something of that kind in
 * PEM. */
static bool good_file(const char *file, const char *line, const char *what, char *why, size_t size)
{
    char text[512];
    if (file == NULL)
        return true;
    FILE *f = fopen(file, "re");
    /* A folder can be opened, but not read. */
    bool read = f != NULL && (fgetc(f) != EOF || ferror(f) == 0), found = line == NULL;
    int error = errno;
    if (read)
        rewind(f);
    while (read && !found && fgets(text, sizeof text, f) != NULL)
        found = strncmp(text, "-----BEGIN ", 11) == 0 && strstr(text, line) != NULL;
    if (f != NULL)
        fclose(f);
    if (!read)
        snprintf(why, size, "cannot read %s: %s", file, strerror(error));
    else if (!found)
        snprintf(why, size, "%s is not a %s in PEM form: it has no line -----BEGIN ...%s", file,
                 what, line);
    return read && found;
}

static bool check_config(const struct web_config *c, char *why, size_t size, const char **hint)
{
    *hint = NULL;
    if ((c->cert == NULL) != (c->key == NULL)) {
        snprintf(why, size, "--cert and --key go together");
        return false;
    }
    if (!good_file(c->cert, "CERTIFICATE-----", "certificate", why, size) ||
        !good_file(c->key, "PRIVATE KEY-----", "key", why, size) ||
        !good_file(c->cookie_file, NULL, NULL, why, size) || !can_listen(c, why, size, hint))
        return false;
    if (!is_loopback(c->address) && c->cert == NULL && !c->insecure) {
        snprintf(why, size, "%s is not a loopback address, and there is no TLS", c->address);
        *hint = "give --cert FILE and --key FILE, or --insecure: then everyone on the network path "
                "can read the token and the traced data";
        return false;
    }
    return true;
}

static const struct lws_protocols protocols[] = {
    {.name = "http",
     .callback = callback,
     .per_session_data_size = HTTP_SIZE,
     .tx_packet_size = SERVER_CHUNK + 64},
    {.name = "erltrace.1",
     .callback = viewer_callback,
     .per_session_data_size = sizeof(struct viewer),
     .rx_buffer_size = 16 << 10,
     .tx_packet_size = SERVER_CHUNK + 64},
    {.name = NULL},
};

/* viewer.c handles silent pages. */
static const lws_retry_bo_t patience = {.secs_since_valid_ping = UINT16_MAX - 1,
                                        .secs_since_valid_hangup = UINT16_MAX};

static struct lws_context *make_context(struct web *w)
{
    const struct web_config *c = &w->config;
    struct lws_context_creation_info info = {0};
    lws_set_log_level(0, NULL);
    info.port = c->port;
    info.iface = is_any(c->address) ? NULL : c->address;
    info.protocols = protocols;
    info.user = w;
    info.vhost_name = "erltrace";
    info.options = LWS_SERVER_OPTION_VALIDATE_UTF8 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME | LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    if (strchr(c->address, ':') == NULL)
        info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
    if (c->cert != NULL) {
        info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
        info.ssl_cert_filepath = c->cert;
        info.ssl_private_key_filepath = c->key;
        info.alpn = "http/1.1";
    }
    info.server_string = "erltrace";
    info.timeout_secs = HEADERS_SECONDS;
    info.keepalive_timeout = IDLE_SECONDS;
    info.timeout_secs_ah_idle = HEADERS_SECONDS;
    info.max_http_header_data = 8192;
    info.max_http_header_pool = HUB_CONNECTIONS + SERVER_SPARE;
    info.retry_and_idle_policy = &patience;
    info.pt_serv_buf_size = 16 << 10;
    w->context = lws_create_context(&info);
    if (w->context != NULL)
        w->vhost = lws_create_vhost(w->context, &info);
    return w->vhost != NULL ? w->context : NULL;
}

static void make_url(struct web *w)
{
    const char *address = is_any(w->config.address) ? w->host : w->config.address;
    bool six = strchr(address, ':') != NULL;
    int port = lws_get_vhost_listen_port(w->vhost);
    buf_printf(&w->url, "http%s://%s%s%s:%d/#token=%s", w->config.cert != NULL ? "s" : "",
               six ? "[" : "", address, six ? "]" : "", port, w->token);
}

static void collect_names(struct web *w)
{
    if (gethostname(w->host, sizeof w->host - 1) == 0 && w->host[0] != '\0')
        w->names[w->nnames++] = w->host;
    for (size_t i = 0; i < w->config.nhosts && w->nnames < 65; i++)
        w->names[w->nnames++] = w->config.host[i];
    for (size_t i = 0; i < w->nnames; i++)
        w->proxied |= access_is_proxy(w->names[i]);
}

void server_limits(const struct web *w, struct buf *out)
{
    buf_printf(out,
               "\"limits\":{\"script\":%d,\"message\":%d,\"keys\":%d,\"traces\":%d,\"viewers\":%d,"
               "\"rows\":%d,\"keep\":%u}",
               MESSAGE_SCRIPT, MESSAGE_SIZE, KEYS_MOST, HUB_TRACES, HUB_VIEWERS, HUB_ROWS,
               w->config.keep_ms);
}

static void list_scripts(struct web *w)
{
    scripts_list(w->config.kernel, &w->scripts);
    buf_add(&w->scripts_packed, buf_str(&w->scripts), w->scripts.len);
    if (!pack_gzip(&w->scripts_packed))
        buf_free(&w->scripts_packed);
}

struct web *web_open(const struct web_config *config, char *why, size_t size, const char **hint)
{
    if (!check_config(config, why, size, hint))
        return NULL;
    struct web *w = calloc(1, sizeof *w);
    snprintf(why, size, "out of memory");
    if (w == NULL)
        return NULL;
    w->config = *config;
    collect_names(w);
    list_scripts(w);
    if (hub_init(&w->hub, &w->config, wake, w) != 0) {
        free(w);
        return NULL;
    }
    if (access_secret(w->token) != 0 || access_secret(w->id) != 0) {
        snprintf(why, size, "the system has no random numbers");
    } else if (make_context(w) == NULL) {
        if (config->cert != NULL)
            snprintf(why, size, "cannot serve with the certificate %s and the key %s", config->cert,
                     config->key);
        else
            snprintf(why, size, "cannot serve on %s, port %d", config->address, config->port);
        *hint = config->cert != NULL ? "does the key belong to the certificate? It must have no "
                                       "password"
                                     : NULL;
    } else if ((w->worker = worker_new(&w->config, wake, w)) == NULL) {
        snprintf(why, size, "the server can start no threads");
    } else {
        if (config->port != 0)
            token_keep(config->address, config->port, config->new_token, w->token, w->warning,
                       sizeof w->warning);
        make_url(w);
        lws_sul_schedule(w->context, 0, &w->timer, tick, TICK_MS * LWS_US_PER_MS);
        return w;
    }
    web_close(w);
    return NULL;
}

/* Reads a script: a file, or a ready script of that name. */
static bool read_script(bool kernel, const char *name, struct buf *out)
{
    char path[256], piece[4096];
    FILE *f = fopen(name, "rb");
    if (f == NULL) {
        snprintf(path, sizeof path, "scripts/%s", name);
        const struct asset *a = asset_find(path);
        if (a == NULL && kernel) {
            snprintf(path, sizeof path, "scripts/kernel/%s", name);
            a = asset_find(path);
        }
        if (a != NULL)
            buf_add(out, a->data, (size_t)(a->end - a->data));
        return a != NULL && !out->oom;
    }
    for (size_t n; out->len <= MESSAGE_SCRIPT && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        buf_add(out, piece, n);
    bool ok = ferror(f) == 0 && !out->oom;
    fclose(f);
    return ok;
}

const char *web_record(struct web *w, const char *node, const char *script, char *const *arg,
                       size_t nargs)
{
    struct buf text = BUF_INIT;
    const char *slash = strrchr(script, '/');
    if (nargs > MESSAGE_ARGS)
        return "the script has too many arguments";
    if (!read_script(w->config.kernel, script, &text)) {
        buf_free(&text);
        return "there is no such file, and no ready script of that name";
    }
    struct message m = {.type = MESSAGE_START,
                        .node = strdup(node),
                        .name = strdup(slash != NULL ? slash + 1 : script),
                        .script = strdup(buf_str(&text))};
    bool ok = m.node != NULL && m.name != NULL && m.script != NULL;
    buf_free(&text);
    for (; ok && m.nargs < nargs; m.nargs++)
        ok = (m.arg[m.nargs] = strdup(arg[m.nargs])) != NULL;
    const char *why = ok ? trace_start_recorded(&w->hub, &m) : "out of memory";
    message_free(&m);
    return why;
}

const char *web_url(const struct web *w)
{
    return buf_str(&w->url);
}

const char *web_warning(const struct web *w)
{
    return w->warning[0] != '\0' ? w->warning : NULL;
}

bool web_has_page(void)
{
    return asset_find("/index.html") != NULL;
}

/* -- running ----------------------------------------------------------------------------------- */

void web_run(struct web *w)
{
    while (!atomic_load(&w->ending) && lws_service(w->context, 0) >= 0)
        ;
    trace_end_all(&w->hub);
    uint64_t end = monotonic_ns() + FAREWELL_MS * UINT64_C(1000000);
    while (!trace_reap(&w->hub) && monotonic_ns() < end)
        lws_service(w->context, 0);
    viewer_close_all(w, 1001, "the server is ending");
    end = monotonic_ns() + CLOSING_MS * UINT64_C(1000000);
    while (w->nviewers > 0 && monotonic_ns() < end)
        lws_service(w->context, 0);
}

void web_end(struct web *w)
{
    atomic_store(&w->ending, true);
    lws_cancel_service(w->context);
}

void web_close(struct web *w)
{
    if (w == NULL)
        return;
    /* Threads end first: they wake the sockets' thread. */
    trace_end_all(&w->hub);
    while (!trace_reap(&w->hub))
        usleep(10000);
    worker_free(w->worker);
    w->worker = NULL;
    if (w->context != NULL)
        lws_context_destroy(w->context);
    hub_free(&w->hub);
    buf_free(&w->url);
    buf_free(&w->scripts);
    buf_free(&w->scripts_packed);
    free(w);
}
