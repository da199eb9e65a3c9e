/* viewer.c - a page on a WebSocket: its messages, the packets sent to it, and whether it is still
 * alive.
 *
 * A packet is sent in pieces, each when the socket has room for it, so that libwebsockets never has
 * to buffer more than one; pings go between them. */
#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "util/buftext.h"
#include "util/json.h"
#include "web/server.h"
#include "web/trace.h"

#define MS UINT64_C(1000000)

enum {
    PING_MS = 500,      /* between two pings */
    SILENCE_MS = 1200,  /* without any sign of life after a ping */
    FAREWELL_MS = 5000, /* that a trace waits for a page that has closed its socket: a reload */
    PONG_MS = 30000,    /* acknowledged but unanswered: the page hangs, or reads very slowly */
    GOING_AWAY = 1001,  /* close code */
    OVERLOADED = 1013,  /* close code */
    CLOSE_SECONDS = 3,  /* to read why it is disconnected */
    CHECKS = 4,         /* pending checks of a page */
    RATE = 20,          /* messages per second */
    BURST = 40          /* ... and at once */
};

static void let_go(struct viewer *v, int code, const char *why)
{
    if (v->close_code == 0) {
        v->close_code = code;
        v->close_why = why;
        /* A page that does not read is not told why. */
        lws_set_timeout(v->socket, PENDING_TIMEOUT_CLOSE_SEND, CLOSE_SECONDS);
    }
    lws_callback_on_writable(v->socket);
}

/* -- incoming messages ------------------------------------------------------------------------- */

static void refuse(struct web *w, struct viewer *v, int64_t id, const char *why)
{
    struct buf b = BUF_INIT;
    buf_adds(&b, "{\"type\":\"failed\"");
    json_safe_int_field(&b, "id", id);
    json_text_field(&b, "tag", "WEB_LIMIT");
    json_text_field(&b, "text", why);
    buf_adds(&b, ",\"hint\":null}");
    hub_send(&w->hub, v, &b);
    buf_free(&b);
}

/* Queues a job for the page in place of those of its kind that have not begun. Takes the message.
 */
static bool work_for(struct web *w, struct viewer *v, enum job_kind kind, struct message *m)
{
    v->checks -= (unsigned)worker_cancel(w->worker, kind, v->number);
    struct job *j = v->checks < CHECKS ? job_new(kind, v) : NULL;
    if (j == NULL)
        return false;
    j->number = v->number;
    j->m = *m;
    memset(m, 0, sizeof *m);
    v->checks++;
    if (worker_add(w->worker, j))
        return true;
    v->checks--;
    job_free(j);
    return false;
}

static void check(struct web *w, struct viewer *v, struct message *m)
{
    struct message again;
    int64_t id = m->id;
    bool with_node = m->node != NULL && message_copy(m, &again);
    if (!work_for(w, v, JOB_CHECK, m))
        refuse(w, v, id, "the server is too busy");
    else if (with_node)
        work_for(w, v, JOB_MATCH, &again);
    if (with_node)
        message_free(&again);
}

static void pong(struct web *w, struct viewer *v, const struct message *m)
{
    struct buf b = BUF_INIT;
    buf_adds(&b, "{\"type\":\"pong\"");
    json_safe_int_field(&b, "t", m->t);
    buf_addc(&b, '}');
    hub_send(&w->hub, v, &b);
    buf_free(&b);
}

static void stop(struct web *w, struct viewer *v, const struct message *m)
{
    if (!trace_stop(&w->hub, v, m->all))
        return;
    struct buf b = BUF_INIT;
    buf_adds(&b, "{\"type\":\"stopped\"");
    json_safe_int_field(&b, "id", v->id);
    json_text_field(&b, "reason", "left");
    buf_addc(&b, '}');
    hub_send(&w->hub, v, &b);
    buf_free(&b);
}

static void obey(struct web *w, struct viewer *v, struct message *m)
{
    const char *why = NULL;
    switch (m->type) {
    case MESSAGE_START: why = trace_start(&w->hub, v, m); break;
    case MESSAGE_JOIN: why = trace_join(&w->hub, v, m); break;
    case MESSAGE_REJOIN: why = trace_rejoin(&w->hub, v, m); break;
    case MESSAGE_CHECK: check(w, v, m); break;
    case MESSAGE_STOP: stop(w, v, m); break;
    case MESSAGE_RECORD: why = trace_record(&w->hub, v, m->on); break;
    case MESSAGE_PING: pong(w, v, m); break;
    }
    if (why != NULL)
        refuse(w, v, m->id, why);
}

/* Returns whether the page may send one more message now. */
static bool in_time(struct viewer *v)
{
    const double most = (double)BURST;
    uint64_t now = monotonic_ns();
    v->tokens += (double)(now - v->tokens_ns) / 1e9 * (double)RATE;
    v->tokens = v->tokens < most ? v->tokens : most;
    v->tokens_ns = now;
    if (v->tokens < 1)
        return false;
    v->tokens -= 1;
    return true;
}

static void receive(struct lws *wsi, struct viewer *v, const char *in, size_t len)
{
    struct web *w = web_of(wsi);
    struct message m;
    v->heard_ns = monotonic_ns();
    if (v->close_code != 0)
        return;
    if (v->in.len + len > MESSAGE_SIZE) {
        let_go(v, 1009, "the message is too long");
        return;
    }
    buf_add(&v->in, in, len);
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi) > 0)
        return;
    if (!in_time(v)) {
        let_go(v, 1008, "too many messages");
    } else if (lws_frame_is_binary(wsi)) {
        let_go(v, 1008, "a message is text");
    } else {
        const char *why = message_decode(buf_str(&v->in), v->in.len, &m);
        if (why != NULL) {
            let_go(v, 1008, why);
        } else {
            obey(w, v, &m);
            message_free(&m);
        }
    }
    buf_reset(&v->in);
    if (v->in.cap > MESSAGE_SIZE / 8)
        buf_free(&v->in);
}

/* -- outgoing packets -------------------------------------------------------------------------- */

/* Closes a socket that accepts no more, or whose page is gone, without another word. */
static int gone(struct lws *wsi)
{
    lws_set_timeout(wsi, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
    return 0;
}

static int write_piece(struct lws *wsi, struct viewer *v)
{
    struct web *w = web_of(wsi);
    if (v->sending == NULL) {
        v->sending = hub_next(&w->hub, v);
        v->sent = 0;
    }
    struct packet *p = v->sending;
    if (p == NULL)
        return 0;
    size_t n = p->len - v->sent < SERVER_CHUNK ? p->len - v->sent : SERVER_CHUNK;
    int how = v->sent == 0 ? LWS_WRITE_TEXT : LWS_WRITE_CONTINUATION;
    if (v->sent + n < p->len)
        how |= LWS_WRITE_NO_FIN;
    memcpy(w->chunk + LWS_PRE, p->text + v->sent, n);
    if (!server_wrote(wsi, lws_write(wsi, w->chunk + LWS_PRE, n, (enum lws_write_protocol)how), n))
        return gone(wsi);
    v->sent += n;
    if (v->sent == p->len) {
        packet_drop(p);
        v->sending = NULL;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

static bool something_waits(struct web *w, struct viewer *v)
{
    pthread_mutex_lock(&w->hub.lock);
    bool waits = v->sending != NULL || v->head != NULL;
    pthread_mutex_unlock(&w->hub.lock);
    return waits;
}

static int write_something(struct lws *wsi, struct viewer *v)
{
    struct web *w = web_of(wsi);
    /* A server that ends lets a page read the rest first. */
    if (v->close_code != 0 && (v->close_code != GOING_AWAY || !something_waits(w, v))) {
        lws_close_reason(wsi, (enum lws_close_status)v->close_code,
                         (unsigned char *)(uintptr_t)v->close_why, strlen(v->close_why));
        return -1;
    }
    if (v->hopeless)
        return -1;
    if (!v->ping_due)
        return write_piece(wsi, v);
    v->ping_due = false;
    /* Counted from here and not from when the ping was due: our own delay is not the page's
     * fault. */
    uint64_t now = monotonic_ns();
    v->silent_ns = v->silent_ns != 0 ? v->silent_ns : now;
    v->waiting_ns = v->waiting_ns != 0 ? v->waiting_ns : now;
    lws_callback_on_writable(wsi);
    memcpy(w->chunk + LWS_PRE, "ping", 4); /* libwebsockets does not report empty answers */
    return server_wrote(wsi, lws_write(wsi, w->chunk + LWS_PRE, 4, LWS_WRITE_PING), 4) ? 0
                                                                                       : gone(wsi);
}

void viewer_wake(struct web *w)
{
    pthread_mutex_lock(&w->hub.lock);
    for (struct viewer *v = w->viewers; v != NULL; v = v->other) {
        if (v->hopeless)
            lws_set_timeout(v->socket, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
        else if (v->head != NULL || v->behind)
            lws_callback_on_writable(v->socket);
    }
    pthread_mutex_unlock(&w->hub.lock);
}

void viewer_close_all(struct web *w, int code, const char *why)
{
    for (struct viewer *v = w->viewers; v != NULL; v = v->other)
        let_go(v, code, why);
}

void viewer_answer(struct web *w, struct job *j)
{
    struct viewer *v = w->viewers;
    while (v != NULL && v->number != j->number)
        v = v->other;
    if (v == NULL)
        return;
    v->checks--;
    hub_send(&w->hub, v, &j->body);
}

/* -- signs of life ----------------------------------------------------------------------------- */

/* The page's system acknowledges data on arrival, even when the page itself is busy or slow. It is
 * silent while it owes an acknowledgement, of data or of a probe of its closed window; a page that
 * reads slowly owes none between two probes. */
static void look_for_acknowledgements(struct viewer *v, uint64_t now)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    if (getsockopt(lws_get_socket_fd(v->socket), IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return;
    uint64_t heard = now - info.tcpi_last_ack_recv * MS;
    if (info.tcpi_bytes_acked > v->acked || heard > v->heard_ns)
        v->heard_ns = info.tcpi_bytes_acked > v->acked ? now : heard;
    v->acked = info.tcpi_bytes_acked;
    if (v->heard_ns >= v->silent_ns || (info.tcpi_unacked == 0 && info.tcpi_probes == 0))
        v->silent_ns = 0;
    else if (info.tcpi_probes > 0 && v->silent_ns == 0)
        v->silent_ns = now;
}

static bool longer_than(uint64_t since_ns, uint64_t now, uint64_t ms)
{
    return since_ns != 0 && now > since_ns && now - since_ns > ms * MS;
}

void viewer_tick(struct web *w)
{
    uint64_t now = monotonic_ns();
    for (struct viewer *v = w->viewers; v != NULL; v = v->other) {
        look_for_acknowledgements(v, now);
        if (longer_than(v->silent_ns, now, SILENCE_MS) ||
            longer_than(v->waiting_ns, now, PONG_MS)) {
            lws_set_timeout(v->socket, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
        } else if (now - v->pinged_ns >= PING_MS * MS) {
            v->pinged_ns = now;
            v->ping_due = true;
            lws_callback_on_writable(v->socket);
        }
    }
}

/* -- connecting and disconnecting -------------------------------------------------------------- */

static void say_hello(struct web *w, struct viewer *v)
{
    struct buf b = BUF_INIT;
    buf_adds(&b, "{\"type\":\"hello\"");
    json_text_field(&b, "version", erltrace_version());
    json_safe_int_field(&b, "protocol", 1);
    json_bool_field(&b, "destructive", w->config.destructive);
    json_bool_field(&b, "kernel", w->config.kernel);
    json_text_field(&b, "server", w->id);
    buf_addc(&b, ',');
    server_limits(w, &b);
    buf_addc(&b, '}');
    hub_send(&w->hub, v, &b);
    buf_free(&b);
}

static void come(struct lws *wsi, struct viewer *v)
{
    struct web *w = web_of(wsi);
    viewer_init(v);
    v->socket = wsi;
    v->number = ++w->last_viewer;
    v->tokens = BURST;
    v->tokens_ns = v->heard_ns = monotonic_ns();
    v->other = w->viewers;
    w->viewers = v;
    w->nviewers++;
    lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
    if (w->nviewers > HUB_VIEWERS)
        let_go(v, OVERLOADED, "too many pages are connected");
    else
        say_hello(w, v);
}

/* Returns how long the viewer's trace waits for it to come back. */
static unsigned keep_ms(const struct web *w, const struct viewer *v)
{
    unsigned ms = w->config.keep_ms;
    if (v->close_code != 0)
        return 0;
    return v->farewell && ms > FAREWELL_MS ? FAREWELL_MS : ms;
}

static void go(struct lws *wsi, struct viewer *v)
{
    struct web *w = web_of(wsi);
    struct viewer **at = &w->viewers;
    while (*at != NULL && *at != v)
        at = &(*at)->other;
    if (*at == NULL)
        return;
    *at = v->other;
    w->nviewers--;
    trace_leave(&w->hub, v, keep_ms(w, v));
    viewer_clear(v);
}

int viewer_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len)
{
    struct viewer *v = user;
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED: come(wsi, v); break;
    case LWS_CALLBACK_CLOSED: go(wsi, v); break;
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: v->farewell = true; break;
    case LWS_CALLBACK_RECEIVE: receive(wsi, v, in, len); break;
    case LWS_CALLBACK_RECEIVE_PONG:
        v->heard_ns = monotonic_ns();
        v->silent_ns = v->waiting_ns = 0;
        break;
    case LWS_CALLBACK_SERVER_WRITEABLE: return write_something(wsi, v);
    default: break;
    }
    return 0;
}
