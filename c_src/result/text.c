/* text.c - the reporter that writes what dtrace writes (language.md 8.1, 8.7, 7.2, 10.4, 10.6). */
#include <inttypes.h>
#include <string.h>

#include "result/print.h"
#include "result/field.h"
#include "result/report.h"

#define PREFIX "erltrace: "

static void flush(struct report *r)
{
    r->oom |= r->line.oom;
    if (r->line.len > 0)
        r->out.data(r->out.arg, r->line.data, r->line.len);
    buf_reset(&r->line);
}

static void message(struct report *r, struct buf *line)
{
    buf_addc(line, '\n');
    r->oom |= line->oom;
    if (line->data != NULL)
        r->out.message(r->out.arg, line->data, line->len);
    buf_free(line);
}

/* -- flow indentation -------------------------------------------------------------------------- */

static bool ends_with(const char *s, const char *tail)
{
    size_t n = strlen(s), m = strlen(tail);
    return n >= m && strcmp(s + n - m, tail) == 0;
}

static void flow_prefix(struct report *r, const struct report_record *rec)
{
    enum { STEP = 2, WIDTH = 41 };
    const struct report_probe *p = rec->probe;
    struct buf name = BUF_INIT, func = BUF_INIT;
    bool syscall = strcmp(p->prov, "syscall") == 0;
    bool entry = strcmp(p->name, "entry") == 0 || ends_with(p->name, "-entry");
    bool ret = strcmp(p->name, "return") == 0 || ends_with(p->name, "-return");
    /* A later clause of the entry that has just been shown; an earlier one is a new call. */
    bool again = entry && r->last_epid != 0 && p->epid > r->last_epid && r->last_probe == p->id;
    if (ret)
        r->indent = r->indent > STEP ? r->indent - STEP : 0;
    buf_fill(&name, ' ', (size_t)r->indent);
    if (entry && !again) {
        buf_printf(&name, "%s%s", syscall ? " => " : " -> ", buf_shown(&func, p->func));
        r->indent += STEP;
    } else if (ret) {
        buf_printf(&name, "%s%s", syscall ? " <= " : " <- ", buf_shown(&func, p->func));
    } else {
        buf_printf(&name, "| %s:%s", buf_shown(&func, p->func), p->name);
    }
    buf_printf(&r->line, "%3" PRIu32 " %-*s ", rec->cpu, WIDTH, buf_str(&name));
    r->line.oom |= name.oom || func.oom;
    buf_free(&name);
    buf_free(&func);
    r->last_epid = p->epid;
    r->last_probe = p->id;
}

/* -- records ----------------------------------------------------------------------------------- */

/* CPU, probe id and name; the latter two are kept from the last record. */
static void plain_prefix(struct report *r, const struct report_record *rec)
{
    const struct report_probe *p = rec->probe;
    if (r->head_epid != p->epid) {
        struct buf func = BUF_INIT;
        buf_shown(&func, p->func);
        int pad = 32 - (int)(func.len + 1 + strlen(p->name));
        buf_reset(&r->head);
        buf_printf(&r->head, " %6" PRIu32 " %*s%s:%s ", p->id, pad > 0 ? pad : 0, "",
                   buf_str(&func), p->name);
        buf_free(&func);
        r->head_epid = p->epid;
    }
    buf_fill(&r->line, ' ', rec->cpu < 10 ? 2 : rec->cpu < 100 ? 1 : 0);
    value_decimal(rec->cpu, false, &r->line);
    buf_add(&r->line, r->head.data, r->head.len);
    r->line.oom |= r->head.oom;
}

static void begin(struct report *r, const struct report_record *rec)
{
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

static void action(struct report *r, const struct report_record *rec, uint32_t index,
                   const struct value *v)
{
    const struct dif_action *act = &r->img->actions[index];
    (void)rec;
    switch ((enum word_action)act->kind) {
    case ACT_TRACE:
        field_trace(v, option_on(r->opt, OPTION_quiet), option_on(r->opt, OPTION_rawbytes),
                    report_shown(r), &r->line);
        break;
    case ACT_TRACEMEM: field_tracemem(v, act->nparts, &r->line); break;
    case ACT_PRINT:
        print_object((uint64_t)v->i, v + 1, dif_str(r->img, act->format), report_print_most(r->opt),
                     &r->line);
        break;
    case ACT_STACK:
        field_place(v, option_on(r->opt, OPTION_rawbytes), &r->symbols, &r->line);
        break;
    case ACT_PRINTF: {
        const struct pf_env env = {
            .symbols = &r->symbols, .target = r->target, .show = report_shown(r)};
        pf_format(&r->format[index], v, act->nparts, &env, &r->line);
        break;
    }
    case ACT_PRINTA: report_printa(r, act, &r->format[index], &r->line); break;
    case ACT_SYSTEM:
    case ACT_FREOPEN:
    case ACT_RAISE:
    case ACT_FTRUNCATE: flush(r); break; /* what stands before goes out before */
    default: break;                      /* the others show nothing */
    }
}

static void end(struct report *r, const struct report_record *rec)
{
    (void)rec;
    if (!option_on(r->opt, OPTION_quiet))
        buf_addc(&r->line, '\n');
    flush(r);
}

static void leave(struct report *r, const struct report_record *rec)
{
    (void)rec;
    flush(r);
}

/* -- messages ---------------------------------------------------------------------------------- */

static void fault(struct report *r, const struct report_fault *f)
{
    struct buf line = BUF_INIT;
    buf_adds(&line, PREFIX);
    report_fault_message(f, &line);
    message(r, &line);
}

static void drop(struct report *r, const struct report_drop *d)
{
    struct buf line = BUF_INIT;
    buf_adds(&line, PREFIX);
    report_drop_message(r->opt, d, &line);
    message(r, &line);
}

static void stats(struct report *r, const struct report_stats *st)
{
    struct buf text = BUF_INIT, line = BUF_INIT;
    report_stats_text(st, &text);
    for (const char *p = buf_str(&text), *end; (end = strchr(p, '\n')) != NULL; p = end + 1) {
        buf_adds(&line, PREFIX);
        buf_add(&line, p, (size_t)(end - p));
        message(r, &line);
    }
    buf_free(&text);
}

static void aggregations(struct report *r)
{
    static const struct pf none = {NULL, 0};
    bool reverse = option_on(r->opt, OPTION_aggsortrev);
    buf_addc(&r->line, '\n');
    for (uint32_t i = 0; i < r->aggr->n; i++) {
        uint32_t at = reverse ? r->aggr->n - 1 - i : i;
        if (!r->aggr->aggr[at].printed)
            report_rows(r, &at, 1, &none, &r->line);
    }
    flush(r);
}

const struct report_ops report_text = {begin, action, end,          leave, fault,
                                       drop,  stats,  aggregations, NULL};
