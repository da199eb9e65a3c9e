/* trace_news.c - turns what the library reports while a trace runs into messages: records, faults,
 * drops, costs, and readings of aggregations. See trace_impl.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "util/buftext.h"
#include "web/command.h"
#include "event/event.h"
#include "util/json.h"
#include "web/trace_impl.h"

#define MS UINT64_C(1000000)

enum {
    FINAL_BYTES = 256 << 10, /* of output at the end */
    THROWN_MOST = 500        /* clear() and trunc() calls in an interval that are followed */
};

/* -- handlers ---------------------------------------------------------------------------------- */

int trace_on_record(const struct erltrace_record *r, void *arg)
{
    struct trace *t = arg;
    rows_begin(&t->rows, r, monotonic_ns());
    return ERLTRACE_CONSUME_THIS;
}

/* Finds the keys that a trunc() has removed. */
static void look_at_truncated(struct trace *t)
{
    if (t->truncating == NULL)
        return;
    model_after(t->model, t->h, t->truncating);
    free(t->truncating);
    t->truncating = NULL;
}

static void look_before(struct trace *t, const struct erltrace_data *d)
{
    bool trunc = strcmp(d->action, "trunc") == 0;
    const char *name = erltrace_data_aggregation(d, 0);
    if ((!trunc && strcmp(d->action, "clear") != 0) || name == NULL)
        return;
    if (++t->thrown > THROWN_MOST) {
        if (!t->too_much)
            diag_list_error(
                &t->diags, "WEB_CLEARS",
                "clear() and trunc() belong in a clause that runs rarely, such as tick-1s",
                "aggregations are cleared too often to follow what is added in between: columns "
                "and rates are not exact");
        t->too_much = true;
        return;
    }
    model_before(t->model, t->h, name);
    t->truncating = trunc ? strdup(name) : NULL;
}

int trace_on_data(const struct erltrace_record *r, const struct erltrace_data *d, void *arg)
{
    struct trace *t = arg;
    (void)r;
    look_at_truncated(t);
    if (d == NULL)
        return t->rows.over ? ERLTRACE_CONSUME_NEXT : ERLTRACE_CONSUME_THIS;
    look_before(t, d);
    return rows_action(&t->rows, d) ? ERLTRACE_CONSUME_THIS : ERLTRACE_CONSUME_NEXT;
}

/* Writes output: to the file of a freopen(), to the console, or to the final output. */
static void print(struct trace *t, const char *text, size_t n)
{
    if (sink_write(&t->sink, text, n))
        return;
    if (!t->finishing)
        rows_text(&t->rows, text, n);
    else if (t->final.len < FINAL_BYTES)
        buf_add(&t->final, text, n < FINAL_BYTES - t->final.len ? n : FINAL_BYTES - t->final.len);
}

static int on_output(const struct erltrace_output *o, void *arg)
{
    struct trace *t = arg;
    switch (o->kind) {
    case ERLTRACE_OUTPUT_REDIRECT: return sink_redirect(&t->sink, o->text);
    case ERLTRACE_OUTPUT_FLUSH: sink_flush(&t->sink); return ERLTRACE_HANDLE_OK;
    case ERLTRACE_OUTPUT_TRUNCATE: sink_truncate(&t->sink); return ERLTRACE_HANDLE_OK;
    case ERLTRACE_OUTPUT_DATA: print(t, o->text, o->length); break;
    }
    return ERLTRACE_HANDLE_OK;
}

/* -- commands of system() ---------------------------------------------------------------------- */

/* Output that arrives together is one row. */
static void on_command_output(void *arg, const char *text, size_t n)
{
    struct trace *t = arg;
    if (t->rows.over || t->rows.text.len + n > ROWS_TEXT)
        rows_split(&t->rows, monotonic_ns());
    print(t, text, n);
}

/* While a command runs, nothing is read, but its output is shown, and viewers can join. */
static enum command_verdict look_on(void *arg)
{
    struct trace *t = arg;
    if (monotonic_ns() - t->rows_ns > TRACE_ROWS_MS * MS) {
        const struct buf *text = &t->rows.text;
        if (text->len > 0 &&
            (unsigned char)text->data[text->len - 1] < 0x80) /* not inside a character */
            rows_split(&t->rows, monotonic_ns());
        trace_send_rows(t);
    }
    trace_serve_viewers(t);
    enum ending e = trace_asked(t);
    return e == ENDING_NOT ? COMMAND_WANTED : e == ENDING_LEFT ? COMMAND_UNWANTED : COMMAND_HURRY;
}

static int on_command(const char *command, void *arg)
{
    const struct command_owner owner = {on_command_output, look_on, arg};
    command_run(command, &owner); /* its exit status does not matter */
    return ERLTRACE_HANDLE_OK;
}

/* -- faults, drops, costs ---------------------------------------------------------------------- */

static void free_fault(struct trace_fault *f)
{
    buf_free(&f->json);
    free(f->name);
}

static int on_fault(const struct erltrace_fault *f, void *arg)
{
    struct trace *t = arg;
    for (size_t i = 0; i < t->nfaults; i++) {
        struct trace_fault *known = &t->fault[i];
        if (known->epid == f->epid && known->action == f->action &&
            strcmp(known->name, f->name) == 0) {
            known->count++;
            return ERLTRACE_HANDLE_OK;
        }
    }
    struct trace_fault new = {.epid = f->epid, .action = f->action, .count = 1};
    if (t->nfaults < TRACE_FAULTS) {
        buf_addc(&new.json, '{');
        event_json(&new.json, EVENT_FAULT, EVENT_PAGE, f);
        new.name = strdup(f->name);
    }
    if (new.json.oom || new.name == NULL) {
        free_fault(&new);
        t->faults_skipped++;
    } else {
        t->fault[t->nfaults++] = new;
    }
    return ERLTRACE_HANDLE_OK;
}

static int on_drop(const struct erltrace_drop *d, void *arg)
{
    struct trace *t = arg;
    struct buf *b = &t->drops;
    buf_adds(b, b->len > 0 ? ",{" : "{");
    event_json(b, EVENT_DROP, EVENT_PAGE, d);
    buf_addc(b, '}');
    return ERLTRACE_HANDLE_OK;
}

static void add_costs(struct buf *b, const char *name, const struct erltrace_stats *s,
                      const struct erltrace_cost *(*get)(const struct erltrace_stats *, size_t))
{
    const struct erltrace_cost *c;
    json_key(b, name);
    buf_addc(b, '[');
    for (size_t i = 0; i < 20 && (c = get(s, i)) != NULL; i++) {
        buf_adds(b, i > 0 ? ",[" : "[");
        json_text(b, c->name);
        buf_addc(b, ',');
        json_safe_uint(b, c->events);
        buf_addc(b, ',');
        json_safe_uint(b, c->ns);
        buf_printf(b, ",%u]", c->share);
    }
    buf_addc(b, ']');
}

/* Returns the row before those of the probes, which belongs to no probe, then theirs. */
static const struct erltrace_cost *emulator_or_probe(const struct erltrace_stats *s, size_t i)
{
    const struct erltrace_cost *c = erltrace_stats_emulator(s);
    if (c == NULL)
        return erltrace_stats_probe(s, i);
    return i == 0 ? c : erltrace_stats_probe(s, i - 1);
}

static int on_stats(const struct erltrace_stats *s, void *arg)
{
    struct trace *t = arg;
    struct buf *b = &t->costs;
    if (s->kind == ERLTRACE_STATS_TOTAL)
        return ERLTRACE_HANDLE_OK;
    pthread_mutex_lock(&t->hub->lock);
    t->share = s->share;
    pthread_mutex_unlock(&t->hub->lock);
    buf_reset(b); /* an unsent one is out of date */
    buf_adds(b, "{\"type\":\"cost\"");
    event_json(b, EVENT_COST, EVENT_PAGE, s);
    add_costs(b, "threads", s, erltrace_stats_thread);
    add_costs(b, "kinds", s, erltrace_stats_kind);
    add_costs(b, "probes", s, emulator_or_probe);
    buf_addc(b, '}');
    return ERLTRACE_HANDLE_OK;
}

void trace_listen(struct trace *t)
{
    erltrace_handle_output(t->h, on_output, t);
    erltrace_handle_command(t->h, on_command, t);
    erltrace_handle_fault(t->h, on_fault, t);
    erltrace_handle_drop(t->h, on_drop, t);
    erltrace_handle_stats(t->h, on_stats, t);
}

/* -- readings ---------------------------------------------------------------------------------- */

void trace_send_rows(struct trace *t)
{
    uint64_t n;
    t->rows_ns = monotonic_ns();
    sink_flush(&t->sink);
    if (rows_take(&t->rows, &t->out, &n))
        trace_publish_news(t, PACKET_ROWS, n);
}

static void send_faults(struct trace *t)
{
    if (t->nfaults == 0 && t->faults_skipped == 0)
        return;
    struct buf *b = &t->out;
    buf_adds(b, "{\"type\":\"errors\",\"errors\":[");
    for (size_t i = 0; i < t->nfaults; i++) {
        struct trace_fault *f = &t->fault[i];
        buf_adds(b, i > 0 ? "," : "");
        buf_add(b, f->json.data, f->json.len);
        buf_printf(b, ",\"count\":%" PRIu64 "}", f->count);
        free_fault(f);
    }
    buf_printf(b, "],\"skipped\":%" PRIu64 "}", t->faults_skipped);
    t->nfaults = 0;
    t->faults_skipped = 0;
    trace_publish_news(t, PACKET_INFO, 0);
}

void trace_send_news(struct trace *t)
{
    send_faults(t);
    if (t->drops.len > 0) {
        buf_adds(&t->out, "{\"type\":\"drops\",\"drops\":[");
        buf_add(&t->out, t->drops.data, t->drops.len);
        buf_adds(&t->out, "]}");
        buf_reset(&t->drops);
        trace_publish_news(t, PACKET_INFO, 0);
    }
    if (t->costs.len > 0) {
        buf_add(&t->out, t->costs.data, t->costs.len);
        buf_reset(&t->costs);
        trace_publish(t, PACKET_INFO, 0);
    }
    trace_tell_diagnostics(t);
}

/* Makes one reading of the library's data. Returns false if it failed, and the trace is over. */
bool trace_read(struct trace *t)
{
    struct buf column = BUF_INIT;
    uint64_t now = monotonic_ns();
    int64_t dt = (int64_t)((now - t->read_ns) / 1000000);
    dt = dt > 0 ? dt : 1;
    t->read_ns = now;
    t->due_ns += (uint64_t)t->interval * MS;
    if (t->due_ns <= now) /* late readings are not made up for */
        t->due_ns = now + (uint64_t)t->interval * MS;
    t->thrown = 0;
    t->t = trace_now();
    trace_drop_state(t);
    bool ok = model_read(t->model, t->h, ++t->n, t->t, dt, &t->out, &column) == 0;
    if (ok) {
        history_add(&t->keyed, t->n, t->t, &t->out);
        trace_publish(t, PACKET_RESULT, t->n);
        history_add(&t->history, t->n, t->t, &column);
    } else {
        diag_list_error(&t->diags, "", NULL, "out of memory");
    }
    buf_reset(&t->out);
    buf_free(&column);
    return ok;
}
