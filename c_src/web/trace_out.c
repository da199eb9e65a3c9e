/* trace_out.c - what the viewers of a trace are told, in this order: first `started`, the history
 * and a state, then everything that is published. See trace_impl.h. */
#include <inttypes.h>

#include "util/buftext.h"
#include "event/event.h"
#include "util/json.h"
#include "web/trace_impl.h"

static void empty_out(struct trace *t)
{
    if (t->out.cap > MODEL_KEPT)
        buf_free(&t->out);
    else
        buf_reset(&t->out);
}

/* Makes a packet of the message in `out`, and empties that. */
static struct packet *take_out(struct trace *t, enum packet_kind kind)
{
    struct packet *p = packet_make(t->hub, kind, &t->out);
    empty_out(t);
    return p;
}

void trace_publish(struct trace *t, enum packet_kind kind, uint64_t n)
{
    struct packet *p = take_out(t, kind);
    if (p == NULL && kind != PACKET_RESULT)
        return;
    if (p != NULL)
        p->n = n;
    pthread_mutex_lock(&t->hub->lock);
    for (struct viewer *v = t->viewers; v != NULL; v = v->next)
        if (!v->wants_start)
            viewer_push(v, p);
    pthread_mutex_unlock(&t->hub->lock);
    packet_drop(p);
    t->hub->wake(t->hub->wake_arg);
}

void trace_publish_news(struct trace *t, enum packet_kind kind, uint64_t n)
{
    struct buf *b = &t->out;
    b->len -= b->len > 0; /* the message goes on */
    json_safe_int_field(b, "news", (int64_t)++t->nnews);
    buf_addc(b, '}');
    if (!b->oom)
        history_add(&t->news, t->nnews, t->t, b);
    trace_publish(t, kind, n);
}

void trace_give(struct trace *t, struct viewer *v)
{
    struct packet *p = take_out(t, PACKET_KEPT);
    viewer_push(v, p);
    packet_drop(p);
}

/* -- viewers that join, or need a fresh state -------------------------------------------------- */

/* A snapshot of a waiting viewer. It may leave while its messages are made, which takes long for
 * many keys and therefore happens without the lock. */
struct guest {
    uint64_t joined;
    bool starts, shared, rejoins;
    int64_t id;
    uint64_t last, news, skipped, skipped_rows;
};

static bool next_guest(struct trace *t, struct guest *g)
{
    bool found = false;
    pthread_mutex_lock(&t->hub->lock);
    for (struct viewer *v = t->viewers; v != NULL && !found; v = v->next) {
        if (!v->wants_start && !v->wants_state)
            continue;
        *g = (struct guest){v->joined, v->wants_start, v->shared,  v->rejoins,     v->id,
                            v->last,   v->news,        v->skipped, v->skipped_rows};
        found = true;
    }
    pthread_mutex_unlock(&t->hub->lock);
    return found;
}

static struct packet *make_start(struct trace *t, const struct guest *g)
{
    buf_printf(&t->out, "{\"type\":\"started\",\"id\":%" PRId64 ",\"shared\":%s,", g->id,
               g->shared ? "true" : "false");
    buf_add(&t->out, t->described.data, t->described.len);
    return take_out(t, PACKET_FIRST);
}

/* Returns the state after the last reading: one packet shared by all viewers that have skipped
 * nothing, which includes those that join. */
static struct packet *make_state(struct trace *t, const struct guest *g)
{
    if (g->skipped == 0 && t->state_packet != NULL && t->state_n == t->n) {
        atomic_fetch_add(&t->state_packet->refs, 1);
        return t->state_packet;
    }
    model_state(t->model, t->n, t->t, g->skipped, &t->out);
    struct packet *p = take_out(t, PACKET_FIRST);
    if (p != NULL && g->skipped == 0) {
        trace_drop_state(t);
        atomic_fetch_add(&p->refs, 1);
        t->state_packet = p;
        t->state_n = t->n;
    }
    return p;
}

void trace_drop_state(struct trace *t)
{
    packet_drop(t->state_packet);
    t->state_packet = NULL;
}

/* Some of the messages may not be needed; a packet that there was no memory for is NULL. */
static void give_all(struct trace *t, const struct guest *g, struct packet *const *p, size_t n)
{
    pthread_mutex_lock(&t->hub->lock);
    struct viewer *v = t->viewers;
    while (v != NULL && v->joined != g->joined)
        v = v->next;
    for (size_t i = 0; v != NULL && i < n; i++)
        viewer_push(v, p[i]);
    if (v != NULL) {
        v->wants_start = v->wants_state = v->rejoins = false;
        v->skipped = v->skipped_rows = 0;
        v->last = t->n;
    }
    pthread_mutex_unlock(&t->hub->lock);
}

static void serve(struct trace *t, const struct guest *g)
{
    struct packet *p[5];
    size_t n = 0;
    if (g->starts)
        p[n++] = make_start(t, g);
    if (history_columns(&t->history, &t->keyed, g->last, &t->out))
        p[n++] = take_out(t, PACKET_FIRST);
    p[n++] = make_state(t, g);
    if (rows_known(&t->rows, g->skipped_rows, &t->out))
        p[n++] = take_out(t, PACKET_FIRST);
    if (g->rejoins && history_missed(&t->news, g->news, &t->out))
        p[n++] = take_out(t, PACKET_FIRST);
    give_all(t, g, p, n);
    while (n > 0)
        packet_drop(p[--n]);
    t->told_viewers = 0; /* this one must be told as well */
}

/* Announces the number of viewers, and whether the trace is recorded, if these have changed. */
static bool tell_viewers(struct trace *t)
{
    pthread_mutex_lock(&t->hub->lock);
    size_t n = t->nviewers;
    bool recorded = t->recorded;
    pthread_mutex_unlock(&t->hub->lock);
    if (n == t->told_viewers && recorded == t->told_recorded)
        return false;
    t->told_viewers = n;
    t->told_recorded = recorded;
    t->keyed.most = recorded ? HISTORY_RECORDED : HISTORY_KEYED;
    buf_printf(&t->out, "{\"type\":\"viewers\",\"viewers\":%zu,\"recorded\":%s}", n,
               recorded ? "true" : "false");
    trace_publish(t, PACKET_INFO, 0);
    return true;
}

void trace_serve_viewers(struct trace *t)
{
    struct guest g;
    bool any = false;
    while (next_guest(t, &g)) {
        serve(t, &g);
        any = true;
    }
    if (!tell_viewers(t) && any)
        t->hub->wake(t->hub->wake_arg);
}

void trace_tell_progress(struct trace *t, const struct erltrace_progress *p)
{
    struct buf *b = &t->out;
    pthread_mutex_lock(&t->hub->lock);
    for (struct viewer *v = t->viewers; v != NULL; v = v->next) {
        if (!p->fresh && v->joined <= t->told_joins)
            continue;
        buf_adds(b, "{\"type\":\"progress\"");
        json_safe_int_field(b, "id", v->id);
        event_json(b, EVENT_PROGRESS, EVENT_PAGE, p);
        buf_addc(b, '}');
        struct packet *packet = take_out(t, PACKET_INFO);
        if (packet != NULL) /* the next one repeats it */
            viewer_push(v, packet);
        packet_drop(packet);
    }
    t->told_joins = t->hub->joins;
    pthread_mutex_unlock(&t->hub->lock);
    t->hub->wake(t->hub->wake_arg);
}

void trace_warn(struct trace *t, struct viewer *v)
{
    if (t->diags.n == 0)
        return;
    buf_adds(&t->out, "{\"type\":\"diagnostics\"");
    if (v->wants_start)
        json_safe_int_field(&t->out, "id", v->id);
    buf_adds(&t->out, ",\"diagnostics\":[");
    buf_add(&t->out, buf_str(&t->diags.text), t->diags.text.len);
    buf_adds(&t->out, "]}");
    trace_give(t, v);
    v->warned = true;
}

void trace_tell_diagnostics(struct trace *t)
{
    if (t->diags.n == 0)
        return;
    pthread_mutex_lock(&t->hub->lock);
    for (struct viewer *v = t->viewers; v != NULL; v = v->next)
        trace_warn(t, v);
    pthread_mutex_unlock(&t->hub->lock);
    t->hub->wake(t->hub->wake_arg);
    if (t->state == TRACE_RUNNING) { /* the first error stays: it may be why the trace ends */
        buf_reset(&t->diags.text);
        t->diags.n = 0;
    }
}
