/* watch.c - what the session shows its watch, as the program's handlers see it. */
#include <string.h>

#include "session/api.h"
#include "engine/engine.h"

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

enum session_verdict api_verdict(erltrace_t *h, int answer)
{
    if (answer == ERLTRACE_CONSUME_ABORT)
        h->aborted = true;
    if (h->aborted)
        return SESSION_ABORT;
    return answer == ERLTRACE_CONSUME_NEXT ? SESSION_HIDE : SESSION_SHOW;
}

/* A probe as the program sees it: kept from the last time, since most come again at once. */
static const struct erltrace_probe *probe_of(erltrace_t *h, const struct report_probe *p)
{
    if (h->probe_epid != p->epid)
        api_probe_fill(&h->probe, p->kind, p->id, p->prov, p->mod, p->func, p->name, p->target);
    h->probe_epid = p->epid;
    return &h->probe.public;
}

static const erltrace_prog_t *program_of(erltrace_t *h, uint32_t clause)
{
    size_t n = session_program_of(h->session, clause);
    const erltrace_prog_t *p = h->program;
    while (p != NULL && p->number != n)
        p = p->next;
    return p;
}

static struct erltrace_record record_of(erltrace_t *h, const struct report_record *rec)
{
    return (struct erltrace_record){.epid = rec->probe->epid,
                                    .cpu = rec->cpu,
                                    .timestamp = rec->timestamp,
                                    .probe = probe_of(h, rec->probe),
                                    .program = program_of(h, rec->probe->clause)};
}

static enum session_verdict on_record(void *arg, const struct report_record *rec)
{
    erltrace_t *h = arg;
    h->reported++;
    if (h->record_fn == NULL)
        return api_verdict(h, ERLTRACE_CONSUME_THIS);
    struct erltrace_record r = record_of(h, rec);
    return api_verdict(h, h->record_fn(&r, h->work_arg));
}

static enum session_verdict on_action(void *arg, const struct report_record *rec, uint32_t action,
                                      const struct value *v)
{
    erltrace_t *h = arg;
    struct erltrace_data *d = NULL;
    if (h->data_fn == NULL)
        return api_verdict(h, ERLTRACE_CONSUME_THIS);
    if (action != SESSION_RECORD_END) {
        const struct dif_image *img = session_image(h->session);
        const struct dif_action *act = &img->actions[action];
        bool format = act->format != DIF_NO_STRING && act->kind != ACT_PRINT;
        h->data = (struct api_data){{.action = dif_action_info(act->kind)->name,
                                     .format = format ? dif_str(img, act->format) : NULL,
                                     .nvalues = act->nparts,
                                     .naggregations = act->nrefs},
                                    h,
                                    rec,
                                    action,
                                    v,
                                    {0}};
        d = &h->data.public;
    }
    struct erltrace_record r = record_of(h, rec);
    h->acting = true;
    int answer = h->data_fn(&r, d, h->work_arg);
    h->acting = false;
    return api_verdict(h, answer);
}

const struct erltrace_value *erltrace_data_value(const struct erltrace_data *d, size_t i)
{
    struct api_data *a = (struct api_data *)(void *)d;
    if (d == NULL || i >= d->nvalues)
        return NULL;
    a->value = api_value(a->v + i);
    return &a->value;
}

const char *erltrace_data_aggregation(const struct erltrace_data *d, size_t i)
{
    const struct api_data *a = (const struct api_data *)(const void *)d;
    if (d == NULL || i >= d->naggregations)
        return NULL;
    const struct dif_image *img = session_image(a->h->session);
    return dif_str(img, img->aggs[img->refs[img->actions[a->action].ref + i]].name);
}

const char *erltrace_data_text(const struct erltrace_data *d, size_t *length)
{
    const struct api_data *a = (const struct api_data *)(const void *)d;
    if (length != NULL)
        *length = 0;
    if (d == NULL)
        return "";
    buf_reset(&a->h->text);
    session_action_text(a->h->session, a->rec, a->action, a->v, &a->h->text);
    if (length != NULL)
        *length = a->h->text.len;
    return buf_str(&a->h->text);
}

/* -- faults, drops, options -------------------------------------------------------------------- */

static enum session_verdict on_fault(void *arg, const struct report_fault *f)
{
    erltrace_t *h = arg;
    struct buf text = BUF_INIT;
    int answer = ERLTRACE_HANDLE_OK;
    h->reported++;
    if (h->fault_fn != NULL) {
        report_fault_message(f, &text);
        struct erltrace_fault fault = {.message = buf_str(&text),
                                       .epid = f->probe->epid,
                                       .cpu = f->cpu,
                                       .probe = probe_of(h, f->probe),
                                       .action = f->action,
                                       .offset = f->offset != UINT32_MAX ? (int64_t)f->offset : -1,
                                       .code = f->fault,
                                       .name = report_fault_name(f->fault),
                                       .value = f->value};
        answer = h->fault_fn(&fault, h->fault_arg);
        buf_free(&text);
    }
    return api_verdict(h, answer);
}

static enum session_verdict on_drop(void *arg, const struct report_drop *d)
{
    erltrace_t *h = arg;
    struct buf text = BUF_INIT;
    int answer = ERLTRACE_HANDLE_OK;
    h->reported++;
    if (h->drop_fn != NULL) {
        report_drop_message(&h->opt, d, &text);
        struct erltrace_drop drop = {.message = buf_str(&text),
                                     .kind = report_drop_name(d->kind),
                                     .count = d->count,
                                     .total = d->total,
                                     .node = d->target,
                                     .cpu = d->cpu};
        answer = h->drop_fn(&drop, h->drop_arg);
        buf_free(&text);
    }
    return api_verdict(h, answer);
}

static enum session_verdict on_setopt(void *arg, const struct report_record *rec, const char *name,
                                      const char *value, int64_t before, int64_t after)
{
    erltrace_t *h = arg;
    if (h->setopt_fn == NULL)
        return api_verdict(h, ERLTRACE_HANDLE_OK);
    struct erltrace_record r = record_of(h, rec);
    struct erltrace_setopt_data s = {
        .option = name, .value = value, .old_number = before, .new_number = after, .record = &r};
    return api_verdict(h, h->setopt_fn(&s, h->setopt_arg));
}

const struct session_watch api_watch = {.record = on_record,
                                        .action = on_action,
                                        .fault = on_fault,
                                        .drop = on_drop,
                                        .stats = api_stats,
                                        .setopt = on_setopt};

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

int erltrace_handle_setopt(erltrace_t *h, erltrace_setopt_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->setopt_fn = fn;
    h->setopt_arg = arg;
    return 0;
}
