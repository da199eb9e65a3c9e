/* text.c - the reporter that writes what dtrace writes (language.md 8.1, 8.7, 7.2, 10.4, 10.6). */
#include <inttypes.h>
#include <string.h>

#include "result/print.h"
#include "result/field.h"
#include "result/profile.h"
#include "result/report.h"
#include "util/buftext.h"

static void flush(struct report *r)
{
    r->oom |= r->line.oom;
    if (r->line.len > 0)
        r->out.data(r->out.arg, r->line.data, r->line.len);
    buf_reset(&r->line);
}

/* -- flow indentation -------------------------------------------------------------------------- */

static bool ends_with(const char *s, const char *tail)
{
    size_t n = strlen(s), m = strlen(tail);
    return n >= m && strcmp(s + n - m, tail) == 0;
}

static void flow_prefix(struct report *r, const struct erltrace_record *rec)
{
    enum { STEP = 2, WIDTH = 41 };
    const struct erltrace_probe *p = rec->probe;
    struct buf name = BUF_INIT, func = BUF_INIT;
    bool syscall = strcmp(p->provider, "syscall") == 0;
    bool entry = strcmp(p->name, "entry") == 0 || ends_with(p->name, "-entry");
    bool ret = strcmp(p->name, "return") == 0 || ends_with(p->name, "-return");
    /* A later clause of the entry just shown; an earlier clause means a new call. */
    bool again = entry && r->last_epid != 0 && rec->epid > r->last_epid && r->last_probe == p->id;
    if (ret)
        r->indent = r->indent > STEP ? r->indent - STEP : 0;
    buf_fill(&name, ' ', (size_t)r->indent);
    if (entry && !again) {
        buf_printf(&name, "%s%s", syscall ? " => " : " -> ", buf_shown(&func, p->function));
        r->indent += STEP;
    } else if (ret) {
        buf_printf(&name, "%s%s", syscall ? " <= " : " <- ", buf_shown(&func, p->function));
    } else {
        buf_printf(&name, "| %s:%s", buf_shown(&func, p->function), p->name);
    }
    buf_printf(&r->line, "%3" PRIu32 " %-*s ", rec->cpu, WIDTH, buf_str(&name));
    r->line.oom |= name.oom || func.oom;
    buf_free(&name);
    buf_free(&func);
    r->last_epid = rec->epid;
    r->last_probe = p->id;
}

/* -- records ----------------------------------------------------------------------------------- */

/* Appends CPU, probe id and name; the latter two are kept from the previous record. */
static void plain_prefix(struct report *r, const struct erltrace_record *rec)
{
    const struct erltrace_probe *p = rec->probe;
    if (r->head_epid != rec->epid) {
        struct buf func = BUF_INIT;
        buf_shown(&func, p->function);
        int pad = 32 - (int)(func.len + 1 + strlen(p->name));
        buf_reset(&r->head);
        buf_printf(&r->head, " %6" PRIu32 " %*s%s:%s ", p->id, pad > 0 ? pad : 0, "",
                   buf_str(&func), p->name);
        buf_free(&func);
        r->head_epid = rec->epid;
    }
    buf_fill(&r->line, ' ', rec->cpu < 10 ? 2 : rec->cpu < 100 ? 1 : 0);
    value_decimal(rec->cpu, false, &r->line);
    buf_add(&r->line, r->head.data, r->head.len);
    r->line.oom |= r->head.oom;
}

/* Appends the start of a record, once. */
static void put_prefix(struct report *r, const struct erltrace_record *rec)
{
    if (r->begun)
        return;
    r->begun = true;
    bool quiet = option_on(r->opt, OPTION_quiet);
    bool flow = option_on(r->opt, OPTION_flowindent);
    if (!r->header && (flow || !quiet)) {
        if (flow)
            buf_printf(&r->line, "%3s %-41s\n", "CPU", "FUNCTION");
        else
            buf_printf(&r->line, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
        r->header = true;
    }
    if (flow) {
        flow_prefix(r, rec);
    } else if (!quiet) {
        plain_prefix(r, rec);
    }
}

static enum verdict begin(void *arg, const struct erltrace_record *rec)
{
    struct report *r = arg;
    (void)rec;
    r->begun = false;
    return VERDICT_SHOW;
}

void report_action_text(struct report *r, const struct event_data *d, struct buf *out)
{
    const struct dif_action *act = &r->img->actions[d->action];
    const struct value *v = d->v;
    switch ((enum word_action)act->kind) {
    case ACT_TRACE:
        field_trace(v, option_on(r->opt, OPTION_quiet), option_on(r->opt, OPTION_rawbytes),
                    report_shown(r), out);
        break;
    case ACT_TRACEMEM: field_tracemem(v, act->nparts, out); break;
    case ACT_PRINT:
        print_object((uint64_t)v->i, v + 1, dif_str(r->img, act->format), report_print_most(r->opt),
                     out);
        break;
    case ACT_STACK:
        field_place(v, option_on(r->opt, OPTION_rawbytes), report_shown(r), &r->symbols, out);
        break;
    case ACT_PRINTF: {
        const struct pf_env env = {
            .symbols = &r->symbols, .target = r->target, .show = report_shown(r)};
        pf_format(&r->format[d->action], v, act->nparts, &env, out);
        break;
    }
    case ACT_PRINTA: report_printa(r, act, &r->format[d->action], out); break;
    default: break; /* the others show nothing */
    }
}

static enum verdict action(void *arg, const struct erltrace_record *rec, struct event_data *d)
{
    struct report *r = arg;
    put_prefix(r, rec);
    report_action_text(r, d, &r->line);
    switch ((enum word_action)r->img->actions[d->action].kind) {
    case ACT_SYSTEM:
    case ACT_FREOPEN:
    case ACT_RAISE:
    case ACT_FTRUNCATE: flush(r); break; /* writes out earlier output first */
    default: break;
    }
    return VERDICT_SHOW;
}

static enum verdict end(void *arg, const struct erltrace_record *rec, bool whole)
{
    struct report *r = arg;
    if (whole) {
        put_prefix(r, rec);
        if (!option_on(r->opt, OPTION_quiet))
            buf_addc(&r->line, '\n');
    }
    flush(r);
    return VERDICT_SHOW;
}

/* -- aggregations ------------------------------------------------------------------------------ */

static enum verdict aggregations(void *arg)
{
    struct report *r = arg;
    static const struct pf none = {NULL, 0};
    bool reverse = option_on(r->opt, OPTION_aggsortrev);
    /* Readers of folded stacks take every line for one. */
    if (!symbol_folded(&r->symbols) || !profile_of(r->img))
        buf_addc(&r->line, '\n');
    for (uint32_t i = 0; i < r->aggr->n; i++) {
        uint32_t at = reverse ? r->aggr->n - 1 - i : i;
        if (!r->aggr->aggr[at].printed)
            report_rows(r, &at, 1, &none, &r->line);
    }
    flush(r);
    return VERDICT_SHOW;
}

/* Faults, drops and costs are left to the program, which knows where messages go. */
const struct observer report_text = {
    .begin = begin, .action = action, .end = end, .aggregations = aggregations};
