/* record.c - from what a tier delivers to what is reported.
 *
 * Records and faults are copied to a queue while a tier works, and looked at when it is done; by
 * then all that was aggregated before them has been merged. A queue holds struct event, each
 * followed by its parts, padded to 8 bytes. */
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

static void report_bad_factor(struct session *s, const struct report_record *rec, uint32_t number)
{
    struct report_fault f = {rec->probe, number, UINT32_MAX, ENGINE_FAULT_DIVZERO, 0, rec->cpu};
    s->report.ops->fault(&s->report, &f);
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
            report_bad_factor(s, rec, number);
        else
            a->normal = (uint64_t)v->i;
        break;
    case DIF_ACT_DENORMALIZE: a->normal = 1; break;
    case DIF_ACT_EXIT:
        s->status = (int)v->i;
        s->exited = true;
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
