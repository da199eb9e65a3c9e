/* trace_thread.c - the thread of a trace: from the script to its last result. See trace_impl.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "util/buftext.h"
#include "util/json.h"
#include "web/running.h"
#include "web/trace_impl.h"

#define MS UINT64_C(1000000)

enum {
    WORK_MS = 50,         /* the longest that a viewer who joins or leaves may go unnoticed */
    INTERVAL_LEAST = 100, /* ms between readings */
    INTERVAL_MOST = 60000,
    ENDING_MS = 5000 /* time for END and the last data */
};

/* -- running ----------------------------------------------------------------------------------- */

static int on_placed(const struct erltrace_placed *p, void *arg)
{
    struct buf *b = arg;
    buf_adds(b, b->len == 0 || b->data[b->len - 1] == '[' ? "{\"node\":" : ",{\"node\":");
    json_text(b, p->node);
    json_safe_int_field(b, "clauses", (int64_t)p->clauses);
    json_safe_int_field(b, "left_out", (int64_t)p->left_out);
    json_safe_int_field(b, "functions", (int64_t)(p->meta + p->local + p->global + p->counted));
    json_safe_int_field(b, "filtered", (int64_t)p->filtered);
    json_safe_int_field(b, "processes", (int64_t)(p->processes + p->only_processes));
    json_text_field(b, "flags", p->flags[0] != '\0' ? p->flags : p->only_flags);
    json_safe_int_field(b, "ports", (int64_t)p->ports);
    json_text_field(b, "monitors", p->monitors);
    buf_addc(b, '}');
    return 0;
}

static void describe(struct trace *t)
{
    struct buf *b = &t->described;
    const char *enabled = erltrace_enabled(t->h);
    unsigned probes = erltrace_status(t->h)->probes;
    buf_printf(b, "\"trace\":%" PRIu64 ",", t->id);
    trace_script(b, &t->m);
    json_safe_int_field(b, "t", t->began);
    json_safe_int_field(b, "interval", t->interval);
    bool commands = erltrace_is_destructive(t->h) == 1; /* it may run commands, which print */
    json_bool_field(b, "prints", commands || erltrace_prints(t->h) == 1);
    json_bool_field(b, "destructive", erltrace_is_destructive(t->h) == 1);
    buf_printf(b, ",\"enabled\":{\"probes\":%u", probes);
    json_key(b, "text");
    if (enabled != NULL)
        json_text(b, enabled);
    else
        buf_printf(b, "\"%u probe%s\"", probes, probes == 1 ? "" : "s");
    buf_adds(b, ",\"nodes\":[");
    erltrace_placed_iter(t->h, on_placed, b);
    buf_adds(b, "]},\"aggregations\":");
    model_describe(t->model, b);
    buf_addc(b, '}');
}

/* Sets how often pages get readings: as aggrate says, or each second. (What the library reads in
 * between, so that printa() and clear() see all earlier data, is its own decision.) */
static void set_interval(struct trace *t)
{
    int64_t ns = 0;
    erltrace_getopt(t->h, "aggrate", &ns);
    int64_t ms = ns > 0 ? ns / 1000000 : 1000;
    t->interval = ms < INTERVAL_LEAST ? INTERVAL_LEAST : ms > INTERVAL_MOST ? INTERVAL_MOST : ms;
}

static int on_setopt(const struct erltrace_setopt_data *s, void *arg)
{
    struct trace *t = arg;
    if (strcmp(s->option, "aggrate") == 0) {
        set_interval(t);
        t->due_ns = t->read_ns + (uint64_t)t->interval * MS;
    }
    return ERLTRACE_HANDLE_OK;
}

/* Called while probes are placed, which can take long. Tells the viewers; ends the placing if none
 * is left, or the trace is to end. */
static int on_progress(const struct erltrace_progress *p, void *arg)
{
    struct trace *t = arg;
    trace_tell_progress(t, p);
    return trace_asked(t) == ENDING_NOT ? ERLTRACE_HANDLE_OK : ERLTRACE_HANDLE_ABORT;
}

/* All times count from BEGIN, which may be long after the trace was requested. */
static void set_clocks(struct trace *t)
{
    t->began_ns = t->read_ns = erltrace_status(t->h)->began;
    t->due_ns = t->began_ns + (uint64_t)t->interval * MS;
    t->t = trace_now() - (int64_t)((monotonic_ns() - t->began_ns) / MS);
    rows_init(&t->rows, t->began_ns);
    pthread_mutex_lock(&t->hub->lock);
    t->began = t->t;
    pthread_mutex_unlock(&t->hub->lock);
}

/* Runs until the probes are set and BEGIN has run. Returns false if that failed or was given up. */
static bool begin(struct trace *t)
{
    const struct web_config *config = t->hub->config;
    const char *why;
    t->h = run_open(config, &t->m, 0, &t->diags);
    if (t->h == NULL || !run_target(config, t->h, t->m.node, &t->diags) ||
        !run_compile(t->h, &t->m, &t->diags) || !run_enable(config, t->h, &t->diags))
        return false;
    trace_listen(t);
    erltrace_handle_setopt(t->h, on_setopt, t);
    erltrace_handle_progress(t->h, on_progress, t);
    set_interval(t);
    t->model = model_new(t->h, &t->hub->keys, &why);
    if (t->model == NULL) {
        diag_list_error(&t->diags, "WEB_LIMIT", NULL, "%s", why);
        return false;
    }
    t->given_up = trace_asked(t) != ENDING_NOT;
    if (!t->given_up && erltrace_go(t->h) != 0) {
        diag_list_failed(&t->diags, t->h);
        return false;
    }
    t->given_up = t->given_up || erltrace_status(t->h)->state == ERLTRACE_STATE_DONE;
    if (t->given_up)
        return false;
    set_clocks(t);
    describe(t);
    if (t->described.oom) {
        diag_list_error(&t->diags, "", NULL, "out of memory");
        return false;
    }
    return true;
}

enum ending trace_asked(struct trace *t)
{
    pthread_mutex_lock(&t->hub->lock);
    if (t->nviewers == 0 && !t->recorded && t->asked == ENDING_NOT &&
        monotonic_ns() >= t->lost_until_ns)
        t->asked = ENDING_LEFT;
    enum ending e = t->asked;
    pthread_mutex_unlock(&t->hub->lock);
    return e;
}

/* Returns the time until the next reading, but at most WORK_MS, so that viewers are served. */
static int patience(const struct trace *t)
{
    uint64_t now = monotonic_ns();
    uint64_t left = t->due_ns > now ? (t->due_ns - now + 999999) / 1000000 : 0;
    return left < WORK_MS ? (int)left : WORK_MS;
}

/* A row is closed only when the next one begins, because it may still get text. */
static void send_rows(struct trace *t)
{
    rows_close(&t->rows);
    trace_send_rows(t);
}

/* Runs until the trace is over, or has no viewers. Returns the last result of erltrace_work. */
static int work(struct trace *t)
{
    uint64_t ending_ns = 0;
    int state = ERLTRACE_WORK_OKAY;
    while (state == ERLTRACE_WORK_OKAY) {
        enum ending e = trace_asked(t);
        if (e == ENDING_LEFT)
            break;
        if (e != ENDING_NOT && ending_ns == 0) {
            ending_ns = monotonic_ns();
            erltrace_stop(t->h);
        }
        if (ending_ns > 0 && monotonic_ns() - ending_ns > ENDING_MS * MS)
            break;
        trace_serve_viewers(t);
        state = erltrace_work(t->h, NULL, patience(t), trace_on_record, trace_on_data, t);
        if (monotonic_ns() - t->rows_ns > TRACE_ROWS_MS * MS)
            send_rows(t);
        if (state != ERLTRACE_WORK_OKAY || patience(t) > 0)
            continue;
        if (erltrace_aggregate_snap(t->h) != 0)
            state = ERLTRACE_WORK_ERROR;
        else if (!trace_read(t))
            state = ERLTRACE_WORK_ERROR;
        trace_send_news(t);
    }
    return state;
}

/* -- ending ------------------------------------------------------------------------------------ */

struct end {
    const char *reason;
    char text[600];
};

static int is_of_node(const struct erltrace_placed *p, void *arg)
{
    (void)arg;
    return p->node[0] != '\0';
}

/* Returns whether the trace, which a node was named for, is in the kernel alone: it ends with the
 * node's process. */
static bool is_beside_node(struct trace *t)
{
    return t->m.node != NULL && t->m.node[0] != '\0' &&
           erltrace_placed_iter(t->h, is_of_node, NULL) == 0;
}

static void reason_of(struct trace *t, int state, struct end *end)
{
    const struct erltrace_status *st = erltrace_status(t->h);
    enum ending e = trace_asked(t);
    int code = erltrace_errno(t->h);
    const char *said = t->diags.first;
    if (state == ERLTRACE_WORK_ERROR) {
        end->reason = code == ERLTRACE_E_LOST || code == ERLTRACE_E_NODE ? "lost" : "error";
        snprintf(end->text, sizeof end->text, "%s",
                 said[0] != '\0' ? said : erltrace_errmsg(t->h, code));
    } else if (st->overloaded > 0) {
        end->reason = "overload";
        snprintf(end->text, sizeof end->text, "%s",
                 said[0] != '\0' ? said
                                 : "the probes took more of a scheduler than maxload allows");
    } else if (st->exited) {
        end->reason = "exit";
        snprintf(end->text, sizeof end->text, "exit(%d)", st->status);
    } else if (e == ENDING_USER) {
        end->reason = "user";
        snprintf(end->text, sizeof end->text, "a viewer has stopped it");
    } else if (e == ENDING_LAST) {
        end->reason = "left";
        end->text[0] = '\0';
    } else if (e == ENDING_SERVER) {
        end->reason = "server";
        snprintf(end->text, sizeof end->text, "the server is ending");
    } else if (st->lost > 0) {
        end->reason = "lost";
        snprintf(end->text, sizeof end->text, "%s",
                 said[0] != '\0' ? said : "the connection to the node was lost");
    } else if (said[0] == '\0' && is_beside_node(t)) {
        end->reason = "lost";
        snprintf(end->text, sizeof end->text, "the node's process has ended");
    } else {
        end->reason = "error";
        snprintf(end->text, sizeof end->text, "%s", said[0] != '\0' ? said : "the trace has ended");
    }
}

static void conclude(struct trace *t, int state)
{
    struct end end;
    reason_of(t, state, &end);
    const struct erltrace_status st = *erltrace_status(t->h);
    send_rows(t);
    if (t->model != NULL && st.state == ERLTRACE_STATE_DONE)
        trace_read(t);
    trace_send_news(t);
    trace_serve_viewers(t);
    t->finishing = true;
    if (st.state == ERLTRACE_STATE_DONE)
        erltrace_aggregate_print(t->h, NULL);
    struct buf *b = &t->out;
    buf_printf(b, "{\"type\":\"stopped\",\"trace\":%" PRIu64, t->id);
    json_text_field(b, "reason", end.reason);
    json_safe_int_field(b, "status", st.status);
    json_text_field(b, "text", end.text);
    json_text_field(b, "hint", t->diags.hint[0] != '\0' ? t->diags.hint : NULL);
    json_safe_int_field(b, "ms", (int64_t)((monotonic_ns() - t->began_ns) / 1000000));
    json_key(b, "fired");
    json_safe_uint(b, st.fired);
    json_key(b, "drops");
    json_safe_uint(b, st.drops);
    json_key(b, "errors");
    json_safe_uint(b, st.errors);
    json_key(b, "output");
    buf_json(b, buf_str(&t->final), t->final.len);
    buf_addc(b, '}');
}

/* Writes the message for a viewer whose trace was ended while its probes were being placed. */
static void add_given_up(struct trace *t, const struct viewer *v, const struct end *end)
{
    struct buf *b = &t->out;
    buf_adds(b, "{\"type\":\"stopped\"");
    json_safe_int_field(b, "id", v->id);
    json_text_field(b, "reason", end->reason);
    json_text_field(b, "text", end->text);
    buf_addc(b, '}');
}

static void add_failed(struct trace *t, const struct viewer *v)
{
    struct buf *b = &t->out;
    buf_adds(b, "{\"type\":\"failed\"");
    json_safe_int_field(b, "id", v->id);
    json_text_field(b, "tag", t->diags.tag);
    json_text_field(b, "text", t->diags.first[0] != '\0' ? t->diags.first : "the trace has ended");
    json_text_field(b, "hint", t->diags.hint[0] != '\0' ? t->diags.hint : NULL);
    buf_addc(b, '}');
}

/* A page that was lost may come back after the trace has ended: its last data and its end, in
 * `out`, wait for it. Nothing is left in the node meanwhile. */
static void wait_for_lost(struct trace *t)
{
    struct buf last = t->out;
    t->out = (struct buf)BUF_INIT;
    for (;;) {
        pthread_mutex_lock(&t->hub->lock);
        bool alone = t->nviewers == 0 && t->asked == ENDING_NOT;
        pthread_mutex_unlock(&t->hub->lock);
        if (!alone || trace_asked(t) != ENDING_NOT)
            break;
        usleep(WORK_MS * 1000);
    }
    trace_serve_viewers(t);
    buf_free(&t->out);
    t->out = last;
}

/* Sends the last message, in `out`, which is empty if the trace never ran, and detaches all
 * viewers. `end`: why the trace was given up, if it was. */
static void dismiss(struct trace *t, const struct end *end)
{
    struct packet *last = t->out.len > 0 ? packet_make(t->hub, PACKET_KEPT, &t->out) : NULL;
    buf_reset(&t->out);
    pthread_mutex_lock(&t->hub->lock);
    bool unseen = t->recorded && t->nviewers == 0 && t->asked == ENDING_NOT;
    for (struct viewer *v = t->viewers, *next; v != NULL; v = next) {
        next = v->next;
        if (v->wants_start || last == NULL) {
            if (!v->warned) /* it joined after the others had been told */
                trace_warn(t, v);
            if (t->given_up)
                add_given_up(t, v, end);
            else
                add_failed(t, v);
            trace_give(t, v);
        } else {
            viewer_push(v, last);
        }
        v->trace = NULL;
        v->next = NULL;
        v->wants_start = v->warned = v->wants_state = false;
    }
    t->viewers = NULL;
    t->nviewers = 0;
    t->state = TRACE_OVER;
    pthread_mutex_unlock(&t->hub->lock);
    packet_drop(last);
    if (unseen) {
        char line[1024];
        snprintf(line, sizeof line, "the recording of %s on %s has ended: %s",
                 t->m.name != NULL ? t->m.name : "a script",
                 t->m.node != NULL ? t->m.node : "this server",
                 t->diags.first[0] != '\0' ? t->diags.first : "the script has ended it");
        t->hub->config->tell(line);
    }
    t->hub->wake(t->hub->wake_arg);
}

static void set_state(struct trace *t, enum trace_state state, erltrace_t *interruptible)
{
    pthread_mutex_lock(&t->hub->lock);
    t->state = state;
    t->interruptible = interruptible;
    pthread_mutex_unlock(&t->hub->lock);
}

void *trace_main(void *arg)
{
    struct trace *t = arg;
    bool ran = begin(t);
    int state = ERLTRACE_WORK_OKAY;
    struct end end = {"", ""};
    trace_tell_diagnostics(t);
    if (ran) {
        diag_list_reset(&t->diags);
        set_state(t, TRACE_RUNNING, t->h);
        state = work(t);
        set_state(t, TRACE_RUNNING, NULL);
        if (trace_asked(t) != ENDING_LEFT)
            conclude(t, state);
    }
    if (t->given_up)
        reason_of(t, state, &end);
    sink_redirect(&t->sink, NULL);
    erltrace_close(t->h); /* before any viewer is told that the trace is over */
    t->h = NULL;
    if (ran && trace_asked(t) != ENDING_LEFT)
        wait_for_lost(t);
    dismiss(t, &end);
    return NULL;
}
