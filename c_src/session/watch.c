/* watch.c - the observer that calls the program's handlers, and what handlers may ask about an
 * event. */
#include <string.h>

#include "session/handle.h"
#include "util/buftext.h"

/* -- values ------------------------------------------------------------------------------------ */

static double real_of(const struct value *v)
{
    float f;
    double d;
    long double l;
    switch (v->len) {
    case sizeof f: memcpy(&f, v->s, sizeof f); return (double)f;
    case sizeof d: memcpy(&d, v->s, sizeof d); return d;
    case sizeof l: memcpy(&l, v->s, sizeof l); return (double)l;
    default: return 0;
    }
}

struct erltrace_value api_value(const struct value *v)
{
    struct erltrace_value out = {.kind = ERLTRACE_VALUE_BYTES, .size = v->size};
    if (value_is_int(v)) {
        out.kind = v->kind == DIF_INT ? ERLTRACE_VALUE_INT : ERLTRACE_VALUE_UINT;
        out.number = v->i;
        return out;
    }
    out.text = v->s;
    out.length = v->len;
    if (v->kind == DIF_STRING)
        out.kind = ERLTRACE_VALUE_STRING;
    if (v->kind == DIF_FLOAT) {
        out.kind = ERLTRACE_VALUE_FLOAT;
        out.real = real_of(v);
    }
    return out;
}

/* -- records ----------------------------------------------------------------------------------- */

/* Translates an answer of the program's handler. */
static enum verdict verdict(erltrace_t *h, int answer)
{
    if (answer == ERLTRACE_CONSUME_ABORT)
        h->session.aborted = true;
    if (h->session.aborted)
        return VERDICT_ABORT;
    return answer == ERLTRACE_CONSUME_NEXT ? VERDICT_HIDE : VERDICT_SHOW;
}

static enum verdict on_begin(void *arg, const struct erltrace_record *r)
{
    erltrace_t *h = arg;
    h->reported++;
    return verdict(h, h->record_fn != NULL ? h->record_fn(r, h->work_arg) : ERLTRACE_CONSUME_THIS);
}

/* d NULL: at the end of the record. */
static enum verdict show_data(erltrace_t *h, const struct erltrace_record *r,
                              const struct erltrace_data *d)
{
    if (h->data_fn == NULL)
        return verdict(h, ERLTRACE_CONSUME_THIS);
    h->acting = true;
    int answer = h->data_fn(r, d, h->work_arg);
    h->acting = false;
    return verdict(h, answer);
}

static enum verdict on_action(void *arg, const struct erltrace_record *r, struct event_data *d)
{
    return show_data(arg, r, &d->public);
}

static enum verdict on_end(void *arg, const struct erltrace_record *r, bool whole)
{
    return whole ? show_data(arg, r, NULL) : VERDICT_SHOW;
}

static struct event_data *event_of(const struct erltrace_data *d)
{
    return (struct event_data *)(void *)d;
}

const struct erltrace_value *erltrace_data_value(const struct erltrace_data *d, size_t i)
{
    if (d == NULL || i >= d->nvalues)
        return NULL;
    struct event_data *e = event_of(d);
    e->value = api_value(e->v + i);
    return &e->value;
}

const char *erltrace_data_aggregation(const struct erltrace_data *d, size_t i)
{
    if (d == NULL || i >= d->naggregations)
        return NULL;
    const struct event_data *e = event_of(d);
    const struct dif_image *img = &e->session->img;
    return dif_str(img, img->aggs[img->refs[img->actions[e->action].ref + i]].name);
}

const char *erltrace_data_text(const struct erltrace_data *d, size_t *length)
{
    if (length != NULL)
        *length = 0;
    if (d == NULL)
        return "";
    struct session *s = event_of(d)->session;
    buf_reset(&s->said);
    report_action_text(&s->report, event_of(d), &s->said);
    if (length != NULL)
        *length = s->said.len;
    return buf_str(&s->said);
}

/* -- the other events -------------------------------------------------------------------------- */

static enum verdict on_fault(void *arg, const struct erltrace_fault *f)
{
    erltrace_t *h = arg;
    h->reported++;
    return verdict(h, h->fault_fn != NULL ? h->fault_fn(f, h->fault_arg) : ERLTRACE_HANDLE_OK);
}

static enum verdict on_drop(void *arg, const struct erltrace_drop *d)
{
    erltrace_t *h = arg;
    h->reported++;
    return verdict(h, h->drop_fn != NULL ? h->drop_fn(d, h->drop_arg) : ERLTRACE_HANDLE_OK);
}

static enum verdict on_cost(void *arg, struct event_cost *c)
{
    erltrace_t *h = arg;
    h->reported++;
    return verdict(h, h->stats_fn != NULL ? h->stats_fn(&c->public, h->stats_arg)
                                          : ERLTRACE_HANDLE_OK);
}

static enum verdict on_member(void *arg, const struct erltrace_member *m)
{
    erltrace_t *h = arg;
    h->reported++;
    return verdict(h, h->member_fn != NULL ? h->member_fn(m, h->member_arg) : ERLTRACE_HANDLE_OK);
}

static enum verdict on_setopt(void *arg, const struct erltrace_setopt_data *s)
{
    erltrace_t *h = arg;
    return verdict(h, h->setopt_fn != NULL ? h->setopt_fn(s, h->setopt_arg) : ERLTRACE_HANDLE_OK);
}

static enum verdict on_progress(void *arg, const struct erltrace_progress *p)
{
    erltrace_t *h = arg;
    if (!atomic_load(&h->interrupted) && h->progress_fn != NULL &&
        h->progress_fn(p, h->progress_arg) == ERLTRACE_HANDLE_ABORT)
        atomic_store(&h->interrupted, 1);
    return atomic_load(&h->interrupted) ? VERDICT_ABORT : VERDICT_SHOW;
}

static enum verdict on_diagnostic(void *arg, const struct erltrace_diag *d)
{
    erltrace_t *h = arg;
    if (h->diag_fn != NULL)
        h->diag_fn(d, h->diag_arg);
    return VERDICT_SHOW;
}

const struct observer api_watch = {.begin = on_begin,
                                   .action = on_action,
                                   .end = on_end,
                                   .fault = on_fault,
                                   .drop = on_drop,
                                   .cost = on_cost,
                                   .member = on_member,
                                   .setopt = on_setopt,
                                   .progress = on_progress,
                                   .diagnostic = on_diagnostic};

int erltrace_handle_fault(erltrace_t *h, erltrace_fault_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->fault_fn = fn;
    h->fault_arg = arg;
    return 0;
}

int erltrace_handle_drop(erltrace_t *h, erltrace_drop_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->drop_fn = fn;
    h->drop_arg = arg;
    return 0;
}

int erltrace_handle_member(erltrace_t *h, erltrace_member_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->member_fn = fn;
    h->member_arg = arg;
    return 0;
}

int erltrace_handle_setopt(erltrace_t *h, erltrace_setopt_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->setopt_fn = fn;
    h->setopt_arg = arg;
    return 0;
}
