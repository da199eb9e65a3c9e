/* record.c - from what a tier delivers to what is reported.
 *
 * Records and faults are copied to a queue while a tier works, and looked at when it is done; by
 * then all that was aggregated before them has been merged. A queue holds struct event, each
 * followed by its parts, padded to 8 bytes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "consumer/session_impl.h"

struct event {
    uint32_t size; /* of the whole, parts and padding included */
    uint32_t epid;
    uint64_t timestamp;
    uint32_t cpu;
    uint32_t len; /* bytes of parts */
    bool is_fault;
    uint32_t action, offset, fault; /* faults only */
    uint64_t value;
};

/* -- from the tier ----------------------------------------------------------------------------- */

static void malformed(struct session_reader *r, const char *what)
{
    if (r->error == 0)
        r->error = diag_error(r->s->config.diags, ET_EIMAGE, NULL, "DATA_MALFORMED",
                              "stop other versions of erltrace that use this node, then try again",
                              "%s that the program cannot have made came from %s", what,
                              r->tier->t->ops->target(r->tier->t));
}

/* NULL when this tier has no such EPID. */
static const struct session_probe *probe_of(const struct session_reader *r, uint32_t epid)
{
    const struct session *s = r->s;
    if (epid == 0 || epid > s->nprobes)
        return NULL;
    const struct session_probe *p = &s->probe[epid - 1];
    return &s->tier[p->tier] == r->tier ? p : NULL;
}

static void enqueue(struct session_reader *r, struct event *e, const uint8_t *parts, size_t len)
{
    struct buf *q = &r->s->queue;
    e->size = (uint32_t)((sizeof *e + len + 7) & ~(size_t)7);
    e->len = (uint32_t)len;
    buf_add(q, e, sizeof *e);
    buf_add(q, parts, len);
    buf_fill(q, 0, e->size - sizeof *e - len);
    if (q->oom && r->error == 0)
        r->error = diag_error(r->s->config.diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
}

void session_record(void *arg, struct tier *t, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                    const uint8_t *parts, size_t len)
{
    struct session_reader *r = arg;
    (void)t;
    if (probe_of(r, epid) == NULL || len > UINT32_MAX / 2) {
        malformed(r, "a record");
        return;
    }
    struct event e = {.epid = epid, .timestamp = timestamp, .cpu = cpu};
    enqueue(r, &e, parts, len);
}

void session_fault(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                   uint32_t fault, uint64_t value, uint32_t cpu)
{
    struct session_reader *r = arg;
    (void)t;
    if (probe_of(r, epid) == NULL) {
        malformed(r, "a fault");
        return;
    }
    struct event e = {.epid = epid,
                      .cpu = cpu,
                      .is_fault = true,
                      .action = action,
                      .offset = offset,
                      .fault = fault,
                      .value = value};
    enqueue(r, &e, NULL, 0);
}

void session_aggregation(void *arg, struct tier *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                         size_t keylen, const uint64_t *words, size_t nwords)
{
    struct session_reader *r = arg;
    (void)t;
    (void)cpu;
    int rc = aggr_merge(&r->s->aggr, agg, key, keylen, words, nwords);
    if (rc == ET_ENOMEM && r->error == 0)
        r->error = diag_error(r->s->config.diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
    else if (rc != 0)
        malformed(r, "an aggregation");
}

void session_counts(void *arg, struct tier *t, const struct engine_counts *c)
{
    struct session_reader *r = arg;
    (void)t;
    r->tier->counts = *c;
}

void session_report_drops(struct session *s)
{
    for (size_t i = 0; i < s->ntiers; i++) {
        struct session_tier *t = &s->tier[i];
        for (int k = 0; k < ENGINE_NDROPS; k++) {
            if (t->counts.drop[k] <= t->shown[k])
                continue;
            struct report_drop d = {(enum engine_drop)k, t->counts.drop[k] - t->shown[k],
                                    t->t->ops->target(t->t)};
            t->shown[k] = t->counts.drop[k];
            s->report.ops->drop(&s->report, &d);
        }
    }
}

/* -- to the reporter --------------------------------------------------------------------------- */

/* A fault of an action of the consumer, reported when the record is: a record is one piece. */
struct late_fault {
    struct report_fault f;
    char why[512]; /* "": f says it */
};

__attribute__((format(printf, 4, 5))) static void late_fault(struct session *s,
                                                             const struct report_record *rec,
                                                             struct report_fault f, const char *fmt,
                                                             ...)
{
    struct late_fault l = {.f = f};
    va_list ap;
    l.f.probe = rec->probe;
    l.f.cpu = rec->cpu;
    va_start(ap, fmt);
    vsnprintf(l.why, sizeof l.why, fmt, ap);
    va_end(ap);
    buf_add(&s->late, &l, sizeof l);
}

static void report_late(struct session *s)
{
    for (size_t i = 0; i + sizeof(struct late_fault) <= s->late.len;
         i += sizeof(struct late_fault)) {
        struct late_fault l;
        memcpy(&l, s->late.data + i, sizeof l);
        l.f.why = l.why[0] != '\0' ? l.why : NULL;
        s->report.ops->fault(&s->report, &l.f);
    }
    s->report.oom |= s->late.oom;
    buf_reset(&s->late);
}

/* A string of a record, cut to n - 1 bytes. */
static const char *string_of(const struct value *v, char *out, size_t n)
{
    size_t len = v->len < n - 1 ? v->len : n - 1;
    memcpy(out, v->s, len);
    out[len] = '\0';
    return out;
}

static void set_rates(struct session *s)
{
    const int64_t *v = s->config.opt->value;
    for (size_t i = 0; i < s->ntiers; i++)
        if (s->tier[i].t->ops->rates != NULL)
            s->tier[i].t->ops->rates(s->tier[i].t, (uint64_t)v[OPTION_switchrate],
                                     (uint64_t)v[OPTION_aggrate]);
}

static void set_option(struct session *s, const struct report_record *rec, uint32_t number,
                       const struct value *v, uint32_t nparts)
{
    char name[64], value[128] = "1";
    const char *why;
    string_of(v, name, sizeof name);
    if (nparts > 1)
        string_of(v + 1, value, sizeof value);
    if (options_set(s->config.opt, name, value, OPTION_FROM_RUNNING, &why) != 0)
        late_fault(
            s, rec,
            (struct report_fault){.action = number, .offset = UINT32_MAX, .fault = REPORT_LIBRARY},
            "couldn't set option \"%s\" to \"%s\": %s", name, value, why);
    else
        set_rates(s);
}

/* The text of a printf-like action, at most strsize - 1 bytes. */
static const char *action_text(struct session *s, const struct dif_action *act,
                               const struct value *v)
{
    buf_reset(&s->text);
    pf_format(&s->format[act - s->img.actions], v, act->nparts, NULL, NULL, &s->text);
    if (s->text.len > s->img.strsize - 1) {
        s->text.len = s->img.strsize - 1;
        s->text.data[s->text.len] = '\0';
    }
    s->report.oom |= s->text.oom;
    return buf_str(&s->text);
}

static void run_command(struct session *s, const char *command)
{
    const struct out *o = &s->config.out;
    if (o->flush == NULL)
        return;
    o->flush(o->arg);
    if (system(command) == -1) /* its exit status is nobody's business */
        return;
}

static void reopen(struct session *s, const struct report_record *rec, uint32_t number,
                   const char *path)
{
    const struct out *o = &s->config.out;
    int err = o->redirect != NULL ? o->redirect(o->arg, path[0] != '\0' ? path : NULL) : 0;
    if (err != 0)
        late_fault(
            s, rec,
            (struct report_fault){.action = number, .offset = UINT32_MAX, .fault = REPORT_LIBRARY},
            "couldn't freopen() \"%s\": %s", path, strerror(err));
}

/* What an action does to the session. number: 1.., its place in the clause. */
static int perform(struct session *s, const struct report_record *rec, const struct dif_action *act,
                   uint32_t number, const struct value *v)
{
    struct aggr *a = act->nrefs > 0 ? &s->aggr.aggr[s->img.refs[act->ref]] : NULL;
    switch ((enum dif_action_kind)act->kind) {
    case DIF_ACT_PRINTA:
        for (uint32_t i = 0; i < act->nrefs; i++)
            s->aggr.aggr[s->img.refs[act->ref + i]].printed = true;
        break;
    case DIF_ACT_CLEAR: aggr_clear(a); break;
    case DIF_ACT_TRUNC:
        if (act->nparts > 0)
            return aggr_trunc(a, v->i);
        aggr_empty(a);
        break;
    case DIF_ACT_NORMALIZE:
        if (v->i == 0)
            late_fault(s, rec,
                       (struct report_fault){
                           .action = number, .offset = UINT32_MAX, .fault = ENGINE_FAULT_DIVZERO},
                       "%s", "");
        else
            a->normal = (uint64_t)v->i;
        break;
    case DIF_ACT_DENORMALIZE: a->normal = 1; break;
    case DIF_ACT_EXIT:
        s->status = (int)v->i;
        s->exited = true;
        break;
    case DIF_ACT_SETOPT: set_option(s, rec, number, v, act->nparts); break;
    case DIF_ACT_SYSTEM: run_command(s, action_text(s, act, v)); break;
    case DIF_ACT_FREOPEN: reopen(s, rec, number, action_text(s, act, v)); break;
    case DIF_ACT_FTRUNCATE:
        if (s->config.out.truncate != NULL)
            s->config.out.truncate(s->config.out.arg);
        break;
    default: break;
    }
    return 0;
}

static int consume_record(struct session *s, const struct event *e, const uint8_t *parts)
{
    struct report_record rec = {&s->probe[e->epid - 1].p, e->timestamp, e->cpu};
    const struct dif_clause *c = &s->img.clauses[rec.probe->clause];
    struct dif_sub sub = {c->action, c->nactions, c->part, c->nparts};
    uint32_t len = e->len;
    if (c->nsubs > 0) { /* the sub-clause's number comes first */
        uint32_t which = UINT32_MAX;
        if (len >= sizeof which)
            memcpy(&which, parts, sizeof which);
        if (which < c->nsubs) {
            sub = s->img.subs[c->sub + which];
            parts += sizeof which;
            len -= (uint32_t)sizeof which;
        } else {
            parts = NULL;
        }
    }
    if (parts == NULL ||
        values_parse(s->img.parts + sub.part, sub.nparts, parts, len, s->value) != 0) {
        struct session_reader r = {s, &s->tier[s->probe[e->epid - 1].tier], 0};
        malformed(&r, "a record");
        return r.error;
    }
    s->report.ops->begin(&s->report, &rec);
    for (uint32_t i = sub.action; i < sub.action + sub.nactions; i++) {
        const struct dif_action *act = &s->img.actions[i];
        const struct value *v = s->value + (act->part - sub.part);
        s->report.ops->action(&s->report, &rec, i, v);
        if (perform(s, &rec, act, i - c->action + 1, v) != 0)
            return diag_error(s->config.diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
    }
    s->report.ops->end(&s->report, &rec);
    report_late(s);
    return 0;
}

static int consume_event(struct session *s, const struct event *e, const uint8_t *parts)
{
    if (!e->is_fault)
        return consume_record(s, e, parts);
    struct report_fault f = {
        &s->probe[e->epid - 1].p, e->action, e->offset, e->fault, e->value, e->cpu};
    s->report.ops->fault(&s->report, &f);
    return 0;
}

enum pick { PICK_ALL, PICK_BEGIN, PICK_BUT_BEGIN };

static int consume_some(struct session *s, const struct buf *queue, enum session_order order,
                        enum pick pick)
{
    for (size_t at = 0; at < queue->len;) {
        struct event e;
        memcpy(&e, queue->data + at, sizeof e);
        const uint8_t *parts = (const uint8_t *)queue->data + at + sizeof e;
        enum probe_kind kind = s->probe[e.epid - 1].p.kind;
        bool chosen = pick == PICK_ALL || (kind == PROBE_BEGIN) == (pick == PICK_BEGIN);
        if (chosen && order != SESSION_AS_IS && kind == PROBE_END) {
            buf_add(&s->end_queue, queue->data + at, e.size);
            if (s->end_queue.oom)
                return diag_error(s->config.diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
        } else if (chosen) {
            int rc = consume_event(s, &e, parts);
            if (rc != 0)
                return rc;
        }
        at += e.size;
    }
    return 0;
}

int session_consume(struct session *s, struct buf *queue, enum session_order order)
{
    int rc;
    if (order == SESSION_FIRST) {
        rc = consume_some(s, queue, order, PICK_BEGIN);
        if (rc == 0)
            rc = consume_some(s, queue, order, PICK_BUT_BEGIN);
    } else {
        rc = consume_some(s, queue, order, PICK_ALL);
    }
    buf_reset(queue);
    return rc;
}
