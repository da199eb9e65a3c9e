/* trace.c - connects viewers and traces: the sockets' thread starts traces, lets viewers join and
 * leave, and collects finished traces. See trace.h, and trace_impl.h for locking. */
#include "web/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "util/buftext.h"
#include "util/json.h"
#include "web/trace_impl.h"

int64_t trace_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Writes the description of a script for `started` and for the list of traces: "node" and so on. */
void trace_script(struct buf *b, const struct message *m)
{
    buf_adds(b, "\"node\":");
    json_text(b, m->node);
    json_text_field(b, "name", m->name);
    json_text_field(b, "script", m->script);
    json_key(b, "args");
    buf_addc(b, '[');
    for (size_t i = 0; i < m->nargs; i++) {
        buf_adds(b, i > 0 ? "," : "");
        json_text(b, m->arg[i]);
    }
    buf_adds(b, "],\"options\":{");
    for (size_t i = 0; i < m->noptions; i++) {
        buf_adds(b, i > 0 ? "," : "");
        json_text(b, m->option[i].name);
        buf_addc(b, ':');
        if (m->option[i].value != NULL)
            json_text(b, m->option[i].value);
        else
            buf_adds(b, "true");
    }
    buf_adds(b, "},\"view\":");
    buf_adds(b, m->view != NULL ? m->view : "null");
}

static void trace_free(struct trace *t)
{
    for (size_t i = 0; i < t->nfaults; i++) {
        buf_free(&t->fault[i].json);
        free(t->fault[i].name);
    }
    model_free(t->model);
    rows_free(&t->rows);
    history_free(&t->history);
    history_free(&t->keyed);
    history_free(&t->news);
    diag_list_free(&t->diags);
    message_free(&t->m);
    trace_drop_state(t);
    buf_free(&t->described);
    buf_free(&t->out);
    buf_free(&t->drops);
    buf_free(&t->costs);
    buf_free(&t->final);
    free(t->truncating);
    free(t);
}

static bool same_text(const char *x, const char *y)
{
    return strcmp(x != NULL ? x : "", y != NULL ? y : "") == 0;
}

static bool same(const struct message *x, const struct message *y)
{
    if (!same_text(x->node, y->node) || !same_text(x->script, y->script) || x->nargs != y->nargs ||
        x->noptions != y->noptions)
        return false;
    for (size_t i = 0; i < x->nargs; i++)
        if (!same_text(x->arg[i], y->arg[i]))
            return false;
    for (size_t i = 0; i < x->noptions; i++)
        if (strcmp(x->option[i].name, y->option[i].name) != 0 ||
            (x->option[i].value == NULL) != (y->option[i].value == NULL) ||
            !same_text(x->option[i].value, y->option[i].value))
            return false;
    return true;
}

/* The caller holds the lock. */
static void join(struct trace *t, struct viewer *v, const struct message *m, bool shared)
{
    v->trace = t;
    v->id = m->id;
    memcpy(v->page, m->page, sizeof v->page);
    v->joined = ++t->hub->joins;
    v->shared = shared;
    v->wants_start = true;
    v->warned = false;
    v->next = t->viewers;
    t->viewers = v;
    t->nviewers++;
}

/* The caller holds the lock. */
static void ask(struct trace *t, enum ending e)
{
    t->asked = e;
    if (t->interruptible != NULL)
        erltrace_interrupt(t->interruptible);
}

/* Returns whether the trace waits for a lost page; the caller holds the lock. */
static bool waits(const struct trace *t)
{
    return monotonic_ns() < t->lost_until_ns;
}

/* The caller holds the lock. Returns false if the viewer had no trace. Of several lost pages the
 * trace waits for the last. */
static bool leave(struct viewer *v, unsigned keep_ms)
{
    struct trace *t = v->trace;
    if (t == NULL)
        return false;
    struct viewer **at = &t->viewers;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    if (keep_ms > 0 && v->page[0] != '\0') {
        memcpy(t->lost_page, v->page, sizeof t->lost_page);
        t->lost_until_ns = monotonic_ns() + keep_ms * UINT64_C(1000000);
    }
    viewer_forget(v);
    if (--t->nviewers == 0 && t->asked == ENDING_NOT && !waits(t) && !t->recorded)
        ask(t, ENDING_LEFT);
    return true;
}

void trace_leave(struct hub *h, struct viewer *v, unsigned keep_ms)
{
    pthread_mutex_lock(&h->lock);
    leave(v, keep_ms);
    pthread_mutex_unlock(&h->lock);
}

bool trace_stop(struct hub *h, struct viewer *v, bool everybody)
{
    pthread_mutex_lock(&h->lock);
    struct trace *t = v->trace;
    bool left = false;
    if (t != NULL && everybody) {
        if (t->asked == ENDING_NOT)
            ask(t, ENDING_USER);
    } else if (t != NULL && t->asked == ENDING_NOT && t->state == TRACE_RUNNING &&
               t->nviewers == 1 && !v->wants_start && !waits(t) && !t->recorded) {
        ask(t, ENDING_LAST);
    } else {
        left = leave(v, 0);
    }
    pthread_mutex_unlock(&h->lock);
    return left;
}

static bool can_be_joined(const struct trace *t)
{
    return t->state != TRACE_OVER && t->asked == ENDING_NOT;
}

/* Creates a trace with its thread; without a viewer (v NULL) it is recorded. The caller holds the
 * lock. Returns NULL, or why not. */
static const char *create(struct hub *h, struct viewer *v, struct message *m)
{
    struct trace *t;
    if (h->ntraces >= HUB_TRACES)
        return "too many traces run on this server";
    if ((t = calloc(1, sizeof *t)) == NULL)
        return "out of memory";
    t->hub = h;
    t->id = h->next_trace++;
    t->m = *m;
    t->began = trace_now();
    history_init(&t->history, HISTORY_BYTES, NULL);
    history_init(&t->keyed, HISTORY_KEYED, &h->keyed);
    history_init(&t->news, HISTORY_BYTES, NULL);
    t->recorded = v == NULL;
    if (v != NULL)
        join(t, v, m, false);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 8 << 20); /* what the compiler has in a main thread */
    int rc = pthread_create(&t->thread, &attr, trace_main, t);
    pthread_attr_destroy(&attr);
    if (rc != 0) {
        if (v != NULL)
            leave(v, 0);
        free(t);
        return "the server can start no more threads";
    }
    memset(m, 0, sizeof *m); /* it belongs to the trace now */
    t->next = h->traces;
    h->traces = t;
    h->ntraces++;
    return NULL;
}

static size_t count_recorded(const struct hub *h)
{
    size_t n = 0;
    for (const struct trace *t = h->traces; t != NULL; t = t->next)
        n += t->recorded && can_be_joined(t);
    return n;
}

const char *trace_record(struct hub *h, struct viewer *v, bool on)
{
    const char *why = NULL;
    pthread_mutex_lock(&h->lock);
    struct trace *t = v->trace;
    if (t == NULL || t->state != TRACE_RUNNING || t->asked != ENDING_NOT)
        why = "there is no running trace that could be recorded";
    else if (on && !t->recorded && count_recorded(h) >= HUB_RECORDED)
        why = "too many traces are recorded on this server";
    else
        t->recorded = on;
    pthread_mutex_unlock(&h->lock);
    return why;
}

const char *trace_start_recorded(struct hub *h, struct message *m)
{
    pthread_mutex_lock(&h->lock);
    const char *why = create(h, NULL, m);
    pthread_mutex_unlock(&h->lock);
    return why;
}

const char *trace_start(struct hub *h, struct viewer *v, struct message *m)
{
    const char *why = NULL;
    pthread_mutex_lock(&h->lock);
    leave(v, 0);
    struct trace *t = h->traces;
    while (t != NULL && !(can_be_joined(t) && same(&t->m, m)))
        t = t->next;
    if (t != NULL)
        join(t, v, m, true);
    else
        why = create(h, v, m);
    pthread_mutex_unlock(&h->lock);
    return why;
}

const char *trace_join(struct hub *h, struct viewer *v, const struct message *m)
{
    pthread_mutex_lock(&h->lock);
    leave(v, 0);
    struct trace *t = h->traces;
    while (t != NULL && !(can_be_joined(t) && t->id == m->trace))
        t = t->next;
    if (t != NULL)
        join(t, v, m, true);
    pthread_mutex_unlock(&h->lock);
    return t != NULL ? NULL : "there is no such trace, or it has ended";
}

/* Returns whether the trace is one that the page watches or has lost; the caller holds the lock. */
static bool is_of(const struct trace *t, const char *page)
{
    const struct viewer *v = t->viewers;
    while (v != NULL && strcmp(v->page, page) != 0)
        v = v->next;
    return v != NULL || (waits(t) && strcmp(t->lost_page, page) == 0);
}

const char *trace_rejoin(struct hub *h, struct viewer *v, const struct message *m)
{
    pthread_mutex_lock(&h->lock);
    leave(v, 0);
    struct trace *t = h->traces;
    while (t != NULL &&
           !(can_be_joined(t) && (m->trace != 0 ? t->id == m->trace : is_of(t, m->page))))
        t = t->next;
    if (t != NULL) {
        /* It is back: nobody waits for its earlier connection, even if that is still to be lost. */
        for (struct viewer *old = t->viewers; old != NULL; old = old->next)
            if (strcmp(old->page, m->page) == 0)
                old->page[0] = '\0';
        if (strcmp(t->lost_page, m->page) == 0)
            t->lost_until_ns = 0;
        join(t, v, m, true);
        v->last = m->n;
        v->news = m->news;
        v->rejoins = true;
    }
    pthread_mutex_unlock(&h->lock);
    return t != NULL ? NULL : "the trace has ended: it does not wait longer for a lost page";
}

void trace_end_all(struct hub *h)
{
    pthread_mutex_lock(&h->lock);
    for (struct trace *t = h->traces; t != NULL; t = t->next) {
        ask(t, t->asked == ENDING_NOT ? ENDING_SERVER : t->asked);
    }
    pthread_mutex_unlock(&h->lock);
}

bool trace_reap(struct hub *h)
{
    struct trace *over = NULL;
    pthread_mutex_lock(&h->lock);
    for (struct trace **at = &h->traces; *at != NULL;) {
        struct trace *t = *at;
        if (t->state != TRACE_OVER) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        t->next = over;
        over = t;
        h->ntraces--;
    }
    bool none = h->traces == NULL;
    pthread_mutex_unlock(&h->lock);
    while (over != NULL) {
        struct trace *t = over;
        over = t->next;
        pthread_join(t->thread, NULL);
        trace_free(t);
    }
    return none;
}

void trace_list(struct hub *h, struct buf *out)
{
    bool first = true;
    buf_addc(out, '[');
    pthread_mutex_lock(&h->lock);
    for (struct trace *t = h->traces; t != NULL; t = t->next) {
        if (!can_be_joined(t))
            continue;
        buf_printf(out, "%s{\"trace\":%" PRIu64 ",", first ? "" : ",", t->id);
        trace_script(out, &t->m);
        json_safe_int_field(out, "viewers", (int64_t)t->nviewers);
        json_safe_int_field(out, "since", t->began);
        json_bool_field(out, "recorded", t->recorded);
        json_safe_int_field(out, "share", t->share);
        buf_addc(out, '}');
        first = false;
    }
    pthread_mutex_unlock(&h->lock);
    buf_addc(out, ']');
}
