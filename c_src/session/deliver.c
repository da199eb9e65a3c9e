/* deliver.c - turns what a tier delivers into what is reported.
 *
 * Records and faults are copied to a queue while a tier works, and processed when it is done: by
 * then everything that was aggregated before them has been merged. A queue holds struct
 * session_event, each followed by its parts, padded to 8 bytes. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "session/session.h"
#include "tier/record_read.h"
#include "util/buftext.h"

struct session_event {
    uint32_t size; /* of the whole event, including parts and padding */
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
        r->error = diag_error(&r->s->diags, ET_EIMAGE, NULL, "DATA_MALFORMED",
                              "stop other versions of erltrace that use this node, then try again",
                              "%s that the program cannot have made came from %s", what,
                              r->tier->t->ops->target(r->tier->t));
}

/* Returns NULL when this tier has no such EPID. */
static const struct session_probe *probe_of(const struct session_reader *r, uint32_t epid)
{
    const struct session *s = r->s;
    if (epid == 0 || epid > s->nprobes)
        return NULL;
    const struct session_probe *p = &s->probe[epid - 1];
    return &s->tier[p->runs] == r->tier ? p : NULL;
}

static void enqueue(struct session_reader *r, struct session_event *e, const uint8_t *parts,
                    size_t len)
{
    struct buf *q = &r->tier->queue;
    e->size = (uint32_t)((sizeof *e + len + 7) & ~(size_t)7);
    e->len = (uint32_t)len;
    buf_add(q, e, sizeof *e);
    buf_add(q, parts, len);
    buf_fill(q, 0, e->size - sizeof *e - len);
    if (q->oom && r->error == 0)
        r->error = diag_error(&r->s->diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
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
    struct session_event e = {.epid = epid, .timestamp = timestamp, .cpu = cpu};
    enqueue(r, &e, parts, len);
}

void session_fault(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                   uint32_t fault, uint64_t value, uint32_t cpu)
{
    struct session_reader *r = arg;
    (void)t;
    const bool passes = session_passes(r->s, r->tier);
    if (passes) /* what the clauses of that probe read could not be made */
        epid = session_passed_epid(r->tier, epid);
    if (passes ? epid == 0 : probe_of(r, epid) == NULL) {
        malformed(r, "a fault");
        return;
    }
    struct session_event e = {.epid = epid,
                              .cpu = cpu,
                              .is_fault = true,
                              .action = action,
                              .offset = offset,
                              .fault = fault,
                              .value = value};
    enqueue(r, &e, NULL, 0);
}

void session_aggregation(void *arg, struct tier *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                         size_t keylen, const uint64_t *words, size_t nwords, bool lower)
{
    struct session_reader *r = arg;
    if (agg < r->s->aggr.n && r->s->aggr.aggr[agg].stacks)
        key = session_stack_key(r->s, t, agg, key, keylen);
    int rc = aggr_merge(&r->s->aggr, agg, key, keylen, words, nwords);
    if (rc == 0 && option_on(&r->s->opt, OPTION_aggpercpu))
        rc = aggr_merge_cpu(&r->s->aggr, agg, cpu, key, keylen, words, nwords);
    if (rc == ET_ENOMEM && r->error == 0)
        r->error = diag_error(&r->s->diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
    else if (rc != 0)
        malformed(r, "an aggregation");
    else if (lower)
        aggr_mark_lower(&r->s->aggr, agg, key, keylen);
}

void session_counts(void *arg, struct tier *t, const struct record_counts *c)
{
    struct session_reader *r = arg;
    (void)t;
    r->tier->counts = *c;
}

/* Reports how much a count has grown since it was last reported. */
static void report_drop(struct session *s, const struct session_tier *t, enum record_drop kind,
                        int cpu, uint64_t now, uint64_t *shown)
{
    if (now <= *shown)
        return;
    struct erltrace_drop d = {.kind = report_drop_name(kind),
                              .count = now - *shown,
                              .total = now,
                              .node = t->t->ops->target(t->t),
                              .cpu = cpu,
                              .lost = kind == RECORD_DROP_ENDED ? t->unfetched : 0};
    *shown = now;
    buf_reset(&s->said);
    if (option_on(&s->opt, OPTION_droptags))
        buf_printf(&s->said, "[DTRACEDROP_%s] ", d.kind);
    size_t tag = s->said.len;
    if (kind == RECORD_DROP_ENDED)
        report_ended_text(d.node, d.lost, &s->said);
    else
        report_drop_text(kind, d.count, cpu, d.node, &s->said);
    d.message = buf_str(&s->said);
    d.text = s->said.oom ? d.message : d.message + tag;
    session_tell(s, drop, &d);
}

void session_report_drops(struct session *s)
{
    for (size_t i = 0; i < s->ntiers; i++) {
        struct session_tier *t = &s->tier[i];
        const struct record_counts *now = &t->counts;
        for (int c = 0; c < RECORD_CPUS; c++) {
            report_drop(s, t, RECORD_DROP_PRINCIPAL, c, now->cpu[c].principal,
                        &t->shown.cpu[c].principal);
            report_drop(s, t, RECORD_DROP_AGGREGATION, c, now->cpu[c].agg, &t->shown.cpu[c].agg);
        }
        for (int k = RECORD_DROP_AGGREGATION + 1; k < RECORD_NDROPS; k++)
            report_drop(s, t, (enum record_drop)k, -1, now->drop[k], &t->shown.drop[k]);
    }
}

/* -- to the reporter --------------------------------------------------------------------------- */

/* Returns the probe of an event. It is kept from the previous event, since the same probe mostly
 * fires again at once. */
static const struct erltrace_probe *probe_shown(struct session *s, uint32_t epid)
{
    const struct session_probe *p = &s->probe[epid - 1];
    struct tier *t = s->tier[p->tier].t;
    if (s->shown_epid != epid)
        api_probe_fill(&s->shown, p->kind, p->id, p->prov, p->mod, p->func, p->name,
                       t->ops->target(t));
    s->shown_epid = epid;
    return &s->shown.public;
}

/* A fault of a consumer's action. It is reported after the record, which must stay in one piece. */
struct late_fault {
    uint32_t action, code;
    char why[512]; /* "": the code says it all */
};

__attribute__((format(printf, 4, 5))) static void late_fault(struct session *s, uint32_t action,
                                                             uint32_t code, const char *fmt, ...)
{
    struct late_fault l = {.action = action, .code = code};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(l.why, sizeof l.why, fmt, ap);
    va_end(ap);
    buf_add(&s->late, &l, sizeof l);
}

static void report_fault(struct session *s, struct erltrace_fault f)
{
    f.probe = probe_shown(s, f.epid);
    f.name = report_fault_name(f.code);
    if (f.reason == NULL || f.reason[0] == '\0')
        f.reason = report_fault_text(f.code);
    buf_reset(&s->said);
    report_fault_message(&f, &s->said);
    f.message = buf_str(&s->said);
    session_tell(s, fault, &f);
}

static void report_late(struct session *s, const struct erltrace_record *rec)
{
    for (size_t i = 0; i + sizeof(struct late_fault) <= s->late.len;
         i += sizeof(struct late_fault)) {
        struct late_fault l;
        memcpy(&l, s->late.data + i, sizeof l);
        report_fault(s, (struct erltrace_fault){.epid = rec->epid,
                                                .cpu = rec->cpu,
                                                .action = l.action,
                                                .offset = -1,
                                                .code = l.code,
                                                .reason = l.why});
    }
    s->report.oom |= s->late.oom;
    buf_reset(&s->late);
}

/* Copies a string of a record to `out`, cut to n - 1 bytes. */
static const char *string_of(const struct value *v, char *out, size_t n)
{
    size_t len = v->len < n - 1 ? v->len : n - 1;
    memcpy(out, v->s, len);
    out[len] = '\0';
    return out;
}

void session_set_rate(struct session *s, struct session_tier *t)
{
    const int64_t *v = s->opt.value;
    if (t->t->ops->rates != NULL && !t->pending && !t->lost)
        t->t->ops->rates(t->t, v[OPTION_switchrate], v[OPTION_aggrate]);
}

void session_set_rates(struct session *s)
{
    for (size_t i = 0; i < s->ntiers; i++)
        session_set_rate(s, &s->tier[i]);
}

static void set_option(struct session *s, const struct erltrace_record *rec, uint32_t number,
                       const struct value *v, uint32_t nparts)
{
    char name[64], value[128] = "1";
    const char *why;
    int64_t before, after;
    string_of(v, name, sizeof name);
    if (nparts > 1)
        string_of(v + 1, value, sizeof value);
    options_get(&s->opt, name, &before);
    if (options_set(&s->opt, name, value, OPTION_BY_RUNNING, &why) != 0) {
        late_fault(s, number, RECORD_FAULT_LIBRARY, "couldn't set option \"%s\" to \"%s\": %s",
                   name, value, why);
        return;
    }
    session_set_rates(s);
    options_get(&s->opt, name, &after);
    struct erltrace_setopt_data set = {
        .option = name, .value = value, .old_number = before, .new_number = after, .record = rec};
    session_tell(s, setopt, &set);
}

/* Returns the text of a printf-like action, at most strsize - 1 bytes. */
static const char *action_text(struct session *s, const struct dif_action *act,
                               const struct value *v)
{
    buf_reset(&s->text);
    const struct pf_env env = {.symbols = &s->report.symbols, .target = s->report.target};
    pf_format(&s->format[act - s->img.actions], v, act->nparts, &env, &s->text);
    if (s->text.len > s->img.strsize - 1) {
        s->text.len = s->img.strsize - 1;
        s->text.data[s->text.len] = '\0';
    }
    s->report.oom |= s->text.oom;
    return buf_str(&s->text);
}

static void run_command(struct session *s, const char *command)
{
    const struct out *o = &s->out;
    if (o->flush != NULL)
        o->flush(o->arg);
    if (o->run != NULL)
        o->run(o->arg, command);
}

/* Sends a signal to this process, which is the process at the probe. An invalid signal number does
 * nothing. */
static void raise_signal(struct session *s, int sig)
{
    const struct out *o = &s->out;
    if (o->flush != NULL)
        o->flush(o->arg);
    raise(sig);
}

static void reopen(struct session *s, uint32_t number, const char *path)
{
    const struct out *o = &s->out;
    int err = o->redirect != NULL ? o->redirect(o->arg, path[0] != '\0' ? path : NULL) : 0;
    if (err == 0)
        s->report.terminal = (s->flags & ERLTRACE_O_TERMINAL) != 0 && path[0] == '\0';
    else
        late_fault(s, number, RECORD_FAULT_LIBRARY, "couldn't freopen() \"%s\": %s", path,
                   strerror(err));
}

static bool is_of_kernel(const struct session *s, const struct erltrace_record *rec)
{
    const enum probe_kind kind = s->probe[rec->epid - 1].kind;
    return kind == PROBE_KERNEL || (kind == PROBE_PROFILE && s->showing != NULL &&
                                    s->showing->t->ops->place == WORD_KERNEL);
}

/* Applies an action to the session. number: its place in the clause, from 1. */
static int perform(struct session *s, const struct erltrace_record *rec,
                   const struct dif_action *act, uint32_t number, const struct value *v)
{
    struct aggr *a = act->nrefs > 0 ? &s->aggr.aggr[s->img.refs[act->ref]] : NULL;
    switch ((enum word_action)act->kind) {
    case ACT_PRINTA:
        for (uint32_t i = 0; i < act->nrefs; i++)
            s->aggr.aggr[s->img.refs[act->ref + i]].printed = true;
        break;
    case ACT_CLEAR: aggr_clear(a); break;
    case ACT_TRUNC:
        if (act->nparts > 0)
            return aggr_trunc(a, v->i);
        aggr_empty(a);
        break;
    case ACT_NORMALIZE:
        if (v->i == 0)
            late_fault(s, number, RECORD_FAULT_DIVZERO, "%s", "");
        else
            a->normal = (uint64_t)v->i;
        break;
    case ACT_DENORMALIZE: a->normal = 1; break;
    case ACT_EXIT:
        s->status = (int)v->i;
        s->exited = true;
        break;
    case ACT_SETOPT: set_option(s, rec, number, v, act->nparts); break;
    case ACT_SYSTEM: run_command(s, action_text(s, act, v)); break;
    case ACT_FREOPEN: reopen(s, number, action_text(s, act, v)); break;
    case ACT_RAISE:
        if (!is_of_kernel(s, rec)) /* which has sent it to the process of the event */
            raise_signal(s, (int)v->i);
        break;
    case ACT_FTRUNCATE:
        if (s->out.truncate != NULL)
            s->out.truncate(s->out.arg);
        break;
    default: break;
    }
    return 0;
}

/* -- telling the observers about a record ------------------------------------------------------ */

struct showing {
    struct session *s;
    const struct erltrace_record *rec;
    bool hidden; /* all of it */
};

static void showing_begin(struct showing *w)
{
    struct session *s = w->s;
    for (size_t i = 0; i < s->nobservers && !w->hidden; i++)
        if (s->observer[i].begin != NULL)
            w->hidden = !session_goes_on(s, s->observer[i].begin(s->observer[i].arg, w->rec));
}

static void showing_action(struct showing *w, uint32_t action, const struct value *v)
{
    struct session *s = w->s;
    const struct dif_action *act = &s->img.actions[action];
    if (w->hidden || s->aborted || act->kind == ACT_EXPR || act->kind == ACT_AGG)
        return;
    bool format = act->format != DIF_NO_STRING && act->kind != ACT_PRINT;
    struct event_data d = {.public = {.action = dif_action_info(act->kind)->name,
                                      .format = format ? dif_str(&s->img, act->format) : NULL,
                                      .nvalues = act->nparts,
                                      .naggregations = act->nrefs},
                           .session = s,
                           .record = w->rec,
                           .action = action,
                           .v = v};
    session_tell(s, action, w->rec, &d);
}

static void showing_end(struct showing *w)
{
    struct session *s = w->s;
    bool whole = !s->aborted;
    for (size_t i = 0; i < s->nobservers && !w->hidden; i++)
        if (s->observer[i].end != NULL)
            whole &= session_goes_on(s, s->observer[i].end(s->observer[i].arg, w->rec, whole));
}

bool session_frame(const struct session *s, const struct value *v, size_t nth, struct buf *out)
{
    if (symbol_is_stack(v))
        return symbol_frame(&s->report.symbols, v, nth, out);
    if (nth == 0)
        symbol_text(&s->report.symbols, v, out);
    return nth == 0;
}

static int consume_record(struct session *s, const struct session_event *e, const uint8_t *parts)
{
    uint32_t clause = s->probe[e->epid - 1].clause;
    const struct dif_clause *c = &s->img.clauses[clause];
    struct erltrace_record rec = {.epid = e->epid,
                                  .cpu = e->cpu,
                                  .timestamp = e->timestamp,
                                  .probe = probe_shown(s, e->epid),
                                  .program = s->program_of[clause]};
    struct dif_sub sub = {c->action, c->nactions, c->part, c->nparts};
    struct rdr in = {parts, parts + e->len, false};
    if (c->nsubs > 0) {
        const uint32_t which = record_read_sub(&in);
        if (!in.bad && which < c->nsubs)
            sub = s->img.subs[c->sub + which];
        else
            in.bad = true;
    }
    if (in.bad ||
        values_parse(s->img.parts + sub.part, sub.nparts, in.p, rdr_left(&in), s->value) != 0) {
        struct session_reader r = {s, &s->tier[s->probe[e->epid - 1].runs], 0};
        malformed(&r, "a record");
        return r.error;
    }
    struct showing show = {s, &rec, false};
    showing_begin(&show);
    for (uint32_t i = sub.action; i < sub.action + sub.nactions; i++) {
        const struct dif_action *act = &s->img.actions[i];
        const struct value *v = s->value + (act->part - sub.part);
        showing_action(&show, i, v);
        if (perform(s, &rec, act, i - c->action + 1, v) != 0)
            return diag_error(&s->diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
    }
    showing_end(&show);
    report_late(s, &rec);
    return s->aborted ? ET_EABORT : 0;
}

static int consume_event(struct session *s, const struct session_event *e, const uint8_t *parts)
{
    if (!e->is_fault) {
        s->showing = &s->tier[s->probe[e->epid - 1].runs];
        int rc = consume_record(s, e, parts);
        s->showing = NULL;
        return rc;
    }
    report_fault(
        s, (struct erltrace_fault){.epid = e->epid,
                                   .cpu = e->cpu,
                                   .action = e->action,
                                   .offset = e->offset != UINT32_MAX ? (int64_t)e->offset : -1,
                                   .code = e->fault,
                                   .value = e->value});
    return s->aborted ? ET_EABORT : 0;
}

enum pick { PICK_ALL, PICK_BEGIN, PICK_BUT_BEGIN };

static int consume_some(struct session *s, const struct buf *queue, enum session_order order,
                        enum pick pick)
{
    for (size_t at = 0; at < queue->len;) {
        struct session_event e;
        memcpy(&e, queue->data + at, sizeof e);
        const uint8_t *parts = (const uint8_t *)queue->data + at + sizeof e;
        enum probe_kind kind = s->probe[e.epid - 1].kind;
        bool chosen = pick == PICK_ALL || (kind == PROBE_BEGIN) == (pick == PICK_BEGIN);
        if (chosen && order != SESSION_AS_IS && kind == PROBE_END) {
            buf_add(&s->end_queue, queue->data + at, e.size);
            if (s->end_queue.oom)
                return diag_error(&s->diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
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

int session_hold(struct session *s, struct session_tier *t)
{
    uint64_t most = (uint64_t)s->opt.value[OPTION_bufsize];
    struct buf *held = &t->held;
    buf_add(held, t->queue.data, t->queue.len);
    buf_reset(&t->queue);
    if (held->oom)
        return diag_error(&s->diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
    if (s->stopped || held->len <= most)
        return 0;
    if (s->opt.value[OPTION_bufpolicy] == RECORD_POLICY_FILL) {
        s->exiting = true;
        return 0;
    }
    size_t from = 0;
    while (held->len - from > most) {
        uint32_t size;
        memcpy(&size, held->data + from, sizeof size);
        from += size;
    }
    memmove(held->data, held->data + from, held->len - from);
    held->len -= from;
    return 0;
}
