/* session.c - the life of a session, except reading (record.c).
 *
 * EPIDs are given out in the order of clauses, and within a clause in the order in which the tiers
 * name their probes; probe[epid - 1] says what an EPID is. A tier gets its bindings sorted by
 * probe, then clause. */
#include "consumer/session_impl.h"

#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "consumer/json.h"

/* -- options ----------------------------------------------------------------------------------- */

static void sync_options(struct session *s)
{
    const struct options *o = s->config.opt;
    s->compile_options.strsize = (uint32_t)o->value[OPTION_strsize];
    s->compile_options.argref = option_on(o, OPTION_argref);
    s->compile_options.defaultargs = option_on(o, OPTION_defaultargs);
    s->compile_options.amin = o->value[OPTION_amin];
    s->compile_options.pspec = option_on(o, OPTION_pspec);
    s->compile_options.empty = option_on(o, OPTION_empty);
}

static int set_option(void *arg, const char *name, const char *value, const char **why)
{
    struct session *s = arg;
    int rc = options_set(s->config.opt, name, value, OPTION_FROM_PROGRAM, why);
    if (rc == 0)
        sync_options(s);
    return rc;
}

/* -- compiling --------------------------------------------------------------------------------- */

static int no_memory(struct session *s)
{
    return diag_error(s->config.diags, ET_ENOMEM, NULL, "", NULL, "out of memory");
}

struct session *session_new(const struct session_config *config)
{
    struct session *s = et_calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->config = *config;
    arena_init(&s->arena);
    dif_image_init(&s->img);
    sync_options(s);
    s->compile_options.target = config->target;
    s->compile_options.setopt = set_option;
    s->compile_options.setopt_arg = s;
    s->compile = compile_new(&s->compile_options, config->diags);
    if (s->compile == NULL) {
        session_close(s);
        return NULL;
    }
    return s;
}

int session_add(struct session *s, const struct compile_source *src)
{
    struct session_program *p = et_realloc(s->program, (s->nprograms + 1) * sizeof *p);
    if (p == NULL)
        return no_memory(s);
    s->program = p;
    p += s->nprograms++;
    *p = (struct session_program){.name = src->name,
                                  .text = src->shown != NULL ? src->shown : src->text,
                                  .len = src->shown != NULL ? src->shown_len : src->len};
    int rc = compile_add(s->compile, src);
    if (rc == 0)
        compile_stability(s->compile, &p->probes, &p->statements);
    return rc;
}

static bool has_format(uint8_t kind)
{
    return kind == DIF_ACT_PRINTF || kind == DIF_ACT_PRINTA || kind == DIF_ACT_SYSTEM ||
           kind == DIF_ACT_FREOPEN;
}

static int parse_formats(struct session *s)
{
    s->format = arena_alloc(&s->arena, (s->img.nactions + 1) * sizeof *s->format);
    if (s->format == NULL)
        return no_memory(s);
    for (uint32_t i = 0; i < s->img.nactions; i++) {
        const struct dif_action *a = &s->img.actions[i];
        if (a->format == DIF_NO_STRING || !has_format(a->kind))
            continue;
        int rc = pf_parse(&s->arena, dif_str(&s->img, a->format), &s->format[i]);
        if (rc == ET_ENOMEM)
            return no_memory(s);
        if (rc != 0)
            return diag_error(s->config.diags, ET_EUNSUP, NULL, "D_SYNTAX", NULL,
                              "format \"%s\" holds a conversion that is not built yet",
                              dif_str(&s->img, a->format));
    }
    return 0;
}

int session_compile(struct session *s)
{
    int rc = compile_image(s->compile, &s->img);
    if (rc == 0)
        rc = dif_verify(&s->img, s->config.diags);
    if (rc == 0 && (rc = dif_encode(&s->img, &s->encoded)) != 0)
        rc = no_memory(s);
    if (rc == 0)
        rc = parse_formats(s);
    if (rc == 0 && (rc = aggr_table_init(&s->aggr, &s->img)) != 0)
        rc = no_memory(s);
    for (uint32_t i = 0; rc == 0 && i < s->img.nclauses; i++)
        if (s->img.clauses[i].nparts > s->nvalues)
            s->nvalues = s->img.clauses[i].nparts;
    if (rc == 0) {
        s->value = arena_alloc(&s->arena, (s->nvalues + 1) * sizeof *s->value);
        if (s->value == NULL)
            rc = no_memory(s);
    }
    s->report = (struct report){.ops = s->config.json ? &report_json : &report_text,
                                .out = s->config.out,
                                .opt = s->config.opt,
                                .img = &s->img,
                                .aggr = &s->aggr,
                                .format = s->format};
    return rc;
}

const struct dif_image *session_image(const struct session *s)
{
    return &s->img;
}

static struct probe_spec spec_of(const struct session *s, const struct dif_clause *c)
{
    return (struct probe_spec){dif_str(&s->img, c->prov), dif_str(&s->img, c->mod),
                               dif_str(&s->img, c->func), dif_str(&s->img, c->name), c->id};
}

static bool spec_is_local(const struct probe_spec *p)
{
    enum { LAST_DTRACE_ID = 3 };
    static const char *const names[] = {"BEGIN", "END", "ERROR"};
    if (p->id != 0)
        return p->id <= LAST_DTRACE_ID;
    if (p->mod[0] != '\0' || p->func[0] != '\0')
        return false;
    if (strcmp(p->prov, "dtrace") == 0 || strcmp(p->prov, "profile") == 0)
        return true;
    if (p->prov[0] != '\0')
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(p->name, names[i]) == 0)
            return true;
    return strncmp(p->name, "tick-", 5) == 0 || strncmp(p->name, "profile-", 8) == 0;
}

bool session_is_local(const struct session *s)
{
    for (uint32_t i = 0; i < s->img.nclauses; i++) {
        struct probe_spec spec = spec_of(s, &s->img.clauses[i]);
        if (!spec_is_local(&spec))
            return false;
    }
    return true;
}

/* -- matching ---------------------------------------------------------------------------------- */

int session_attach(struct session *s, struct tier *t)
{
    struct session_tier *p = et_realloc(s->tier, (s->ntiers + 1) * sizeof *p);
    if (p == NULL) {
        t->ops->close(t);
        return no_memory(s);
    }
    s->tier = p;
    p[s->ntiers++] = (struct session_tier){.t = t};
    return 0;
}

/* The text of a description, for messages: p:m:f:n, or the id. */
static const char *spec_text(struct session *s, const struct probe_spec *p)
{
    const char *text =
        p->id != 0 ? arena_printf(&s->arena, "%u", p->id)
                   : arena_printf(&s->arena, "%s:%s:%s:%s", p->prov, p->mod, p->func, p->name);
    return text != NULL ? text : "";
}

/* The program that a clause stands in: the one of its file's name. A #line can give a clause any
 * name; then it is the program of the clause before it. */
static size_t program_of(const struct session *s, const struct dif_clause *c, size_t before)
{
    const char *file = dif_str(&s->img, c->file);
    for (size_t i = 0; i < s->nprograms; i++)
        if (strcmp(s->program[i].name, file) == 0)
            return i;
    return before;
}

/* Bytes of the description that starts at this place of a program's text. */
static int description_length(const struct session_program *p, uint32_t line, uint32_t col)
{
    const char *at = p->text, *end = p->text + p->len;
    for (uint32_t i = 1; i < line && at < end; i++) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        at = nl != NULL ? nl + 1 : end;
    }
    at += (size_t)(end - at) >= col - 1 ? col - 1 : (size_t)(end - at);
    int n = 0;
    while (at + n < end && !isspace((unsigned char)at[n]) && strchr(",/{", at[n]) == NULL)
        n++;
    return n;
}

static int report_unmatched(struct session *s, const struct dif_clause *c,
                            const struct probe_spec *spec, size_t program)
{
    const char *hint = NULL;
    struct diag_pos pos = {dif_str(&s->img, c->file), (int)c->line, (int)c->col, 0};
    if (program < s->nprograms && c->line > 0 && c->col > 0)
        pos.len = description_length(&s->program[program], c->line, c->col);
    for (size_t i = 0; hint == NULL && i < s->ntiers; i++)
        if (s->tier[i].t->ops->suggest != NULL)
            hint = s->tier[i].t->ops->suggest(s->tier[i].t, spec);
    if (spec->id != 0)
        return diag_error(s->config.diags, ET_ENOPROBE, &pos, "D_PDESC_INVAL", hint,
                          "invalid probe identifier %u: Unknown probe identifier", spec->id);
    return diag_error(s->config.diags, ET_ENOPROBE, &pos, "D_PDESC_ZERO", hint,
                      "probe description %s does not match any probes", spec_text(s, spec));
}

struct matching {
    struct session *s;
    struct session_tier *tier;
    uint32_t clause;
    size_t count;
};

static int matched(void *arg, const struct tier_probe *p)
{
    struct matching *m = arg;
    struct session *s = m->s;
    struct session_tier *t = m->tier;
    if (s->nprobes == s->capprobes) {
        size_t cap = s->capprobes ? s->capprobes * 2 : 64;
        struct session_probe *q = et_realloc(s->probe, cap * sizeof *q);
        if (q == NULL)
            return no_memory(s);
        s->probe = q;
        s->capprobes = cap;
    }
    if (t->nbindings == t->capbindings) {
        size_t cap = t->capbindings ? t->capbindings * 2 : 64;
        struct tier_binding *q = et_realloc(t->binding, cap * sizeof *q);
        if (q == NULL)
            return no_memory(s);
        t->binding = q;
        t->capbindings = cap;
    }
    uint32_t epid = (uint32_t)++s->nprobes;
    s->probe[epid - 1] = (struct session_probe){{epid, m->clause, p->id, p->prov, p->mod, p->func,
                                                 p->name, p->kind, t->t->ops->target(t->t)},
                                                (size_t)(t - s->tier)};
    t->binding[t->nbindings++] = (struct tier_binding){epid, m->clause, p->id};
    m->count++;
    return 0;
}

static int binding_order(const void *px, const void *py)
{
    const struct tier_binding *x = px, *y = py;
    if (x->probe != y->probe)
        return x->probe < y->probe ? -1 : 1;
    return (x->clause > y->clause) - (x->clause < y->clause);
}

int session_match(struct session *s)
{
    int unmatched = 0;
    size_t program = 0;
    for (uint32_t c = 0; c < s->img.nclauses; c++) {
        struct probe_spec spec = spec_of(s, &s->img.clauses[c]);
        size_t found = 0;
        program = program_of(s, &s->img.clauses[c], program);
        for (size_t i = 0; i < s->ntiers; i++) {
            struct matching m = {s, &s->tier[i], c, 0};
            int rc = m.tier->t->ops->match(m.tier->t, &spec, matched, &m, s->config.diags);
            if (rc != 0)
                return rc;
            found += m.count;
        }
        if (program < s->nprograms)
            s->program[program].matched += found;
        if (found == 0 && !option_on(s->config.opt, OPTION_zdefs))
            unmatched = report_unmatched(s, &s->img.clauses[c], &spec, program);
    }
    for (size_t i = 0; i < s->ntiers; i++)
        if (s->tier[i].nbindings > 0)
            qsort(s->tier[i].binding, s->tier[i].nbindings, sizeof *s->tier[i].binding,
                  binding_order);
    return unmatched;
}

uint64_t session_matched(const struct session *s, size_t nth)
{
    return nth < s->nprograms ? s->program[nth].matched : 0;
}

void session_stability(const struct session *s, size_t nth, struct compile_attr *probes,
                       struct compile_attr *statements)
{
    *probes = s->program[nth].probes;
    *statements = s->program[nth].statements;
}

size_t session_probes(const struct session *s)
{
    return s->nprobes;
}

struct listing {
    session_list_fn fn;
    void *arg;
    struct tier *tier;
    size_t count;
};

static int listed(void *arg, const struct tier_probe *p)
{
    struct listing *l = arg;
    l->fn(l->arg, l->tier, p);
    l->count++;
    return 0;
}

int session_list(struct session *s, session_list_fn fn, session_missed_fn missed, void *arg)
{
    uint32_t n = s->nprograms > 0 ? s->img.nclauses : 1;
    for (uint32_t c = 0; c < n; c++) {
        struct probe_spec spec = {"", "", "", "", 0};
        struct listing l = {fn, arg, NULL, 0};
        if (s->nprograms > 0)
            spec = spec_of(s, &s->img.clauses[c]);
        for (size_t i = 0; i < s->ntiers; i++) {
            l.tier = s->tier[i].t;
            int rc = l.tier->ops->match(l.tier, &spec, listed, &l, s->config.diags);
            if (rc != 0)
                return rc;
        }
        if (l.count == 0 && missed != NULL)
            missed(arg, spec_text(s, &spec));
    }
    return 0;
}

/* -- running ----------------------------------------------------------------------------------- */

static bool acts_on_aggregations(const struct dif_image *img)
{
    for (uint32_t i = 0; i < img->nactions; i++)
        if (img->actions[i].nrefs > 0 && img->actions[i].kind != DIF_ACT_AGG)
            return true;
    return false;
}

/* "4m": a size as people write it, if it is a whole number of some unit. */
static void size_text(uint64_t v, char *out, size_t n)
{
    static const char units[] = "kmgt";
    size_t u = 0;
    while (u < sizeof units - 1 && v >= 1024 && v % 1024 == 0) {
        v /= 1024;
        u++;
    }
    if (u > 0)
        snprintf(out, n, "%llu%c", (unsigned long long)v, units[u - 1]);
    else
        snprintf(out, n, "%llu", (unsigned long long)v);
}

static void notice_lowered(struct session *s, const char *what, uint64_t asked, uint64_t granted)
{
    char size[32];
    if (granted == 0 || granted >= asked || option_on(s->config.opt, OPTION_quietresize))
        return;
    size_text(granted, size, sizeof size);
    diag_add(s->config.diags, DIAG_NOTE, NULL, "", NULL, "%s lowered to %s", what, size);
}

static int enable(struct session *s, struct session_tier *t)
{
    const int64_t *v = s->config.opt->value;
    struct tier_options asked = {.bufsize = (uint64_t)v[OPTION_bufsize],
                                 .aggsize = (uint64_t)v[OPTION_aggsize],
                                 .dynvarsize = (uint64_t)v[OPTION_dynvarsize],
                                 .specsize = (uint64_t)v[OPTION_specsize],
                                 .nspec = (uint32_t)v[OPTION_nspec],
                                 .switchrate = (uint64_t)v[OPTION_switchrate],
                                 .aggrate = (uint64_t)v[OPTION_aggrate],
                                 .aggs_with_records = acts_on_aggregations(&s->img)};
    struct tier_options granted = asked;
    int rc = t->t->ops->enable(t->t, &s->img, s->encoded.data, s->encoded.len, t->binding,
                               t->nbindings, &granted, s->config.diags);
    if (rc != 0)
        return rc;
    notice_lowered(s, "buffer size", asked.bufsize, granted.bufsize);
    notice_lowered(s, "aggregation size", asked.aggsize, granted.aggsize);
    notice_lowered(s, "speculation size", asked.specsize, granted.specsize);
    notice_lowered(s, "dynamic variable size", asked.dynvarsize, granted.dynvarsize);
    return 0;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool session_is_destructive(const struct session *s)
{
    for (uint32_t i = 0; i < s->img.nactions; i++)
        if (s->img.actions[i].kind == DIF_ACT_SYSTEM || s->img.actions[i].kind == DIF_ACT_FREOPEN)
            return true;
    return false;
}

int session_start(struct session *s)
{
    if (session_is_destructive(s) && !option_on(s->config.opt, OPTION_destructive))
        return diag_error(s->config.diags, ET_EINVAL, NULL, "", "allow them with -w",
                          "could not enable tracing: Destructive actions not allowed");
    for (size_t i = 0; i < s->ntiers; i++) {
        int rc = enable(s, &s->tier[i]);
        if (rc != 0)
            return rc;
    }
    s->reported_ns = now_ns();
    for (size_t i = 0; i < s->ntiers; i++) {
        int rc = s->tier[i].t->ops->go(s->tier[i].t, s->config.diags);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int session_stop(struct session *s)
{
    int first = 0;
    if (s->stopped)
        return 0;
    s->stopped = true;
    for (size_t i = 0; i < s->ntiers; i++) {
        struct session_tier *t = &s->tier[i];
        if (t->lost)
            continue;
        int rc = t->t->ops->stop(t->t, s->config.diags);
        if (rc == ET_ELOST)
            t->lost = true;
        else if (rc != 0 && first == 0)
            first = rc;
    }
    return first;
}

/* With several tiers: waits until one of them has something to do. */
static void wait_any(struct session *s, int timeout_ms)
{
    enum { SLICE_MS = 20 };
    struct pollfd fds[64];
    nfds_t n = 0;
    for (size_t i = 0; i < s->ntiers; i++) {
        const struct session_tier *t = &s->tier[i];
        int fd = t->lost || t->drained ? -1 : t->t->ops->fd(t->t);
        if (t->lost || t->drained)
            continue;
        if (fd >= 0 && n < sizeof fds / sizeof fds[0])
            fds[n++] = (struct pollfd){fd, POLLIN, 0};
        else if (timeout_ms > SLICE_MS)
            timeout_ms = SLICE_MS; /* one that cannot be waited for */
    }
    poll(fds, n, timeout_ms);
}

static int work_tier(struct session *s, struct session_tier *t, int timeout_ms)
{
    struct session_reader reader = {s, t, 0};
    struct tier_sink sink = {&reader, session_record, session_aggregation, session_fault,
                             session_counts};
    int rc = t->t->ops->work(t->t, timeout_ms, s->stopped, &sink, s->config.diags);
    if (rc == ET_ELOST)
        rc = TIER_LOST;
    if (reader.error != 0)
        return reader.error;
    if (rc < 0)
        return rc;
    switch ((enum tier_state)rc) {
    case TIER_RUNNING: break;
    case TIER_EXITING: s->exiting = true; break;
    case TIER_DRAINED: t->drained = true; break;
    case TIER_LOST: t->lost = true; break;
    }
    return 0;
}

int session_work(struct session *s, int timeout_ms)
{
    size_t live = 0;
    for (size_t i = 0; i < s->ntiers; i++)
        live += !(s->tier[i].lost || s->tier[i].drained);
    if (live > 1)
        wait_any(s, timeout_ms);
    for (size_t i = 0; i < s->ntiers; i++) {
        struct session_tier *t = &s->tier[i];
        if (t->lost || t->drained)
            continue;
        int rc = work_tier(s, t, live > 1 ? 0 : timeout_ms);
        if (rc == 0 && s->queue.len > 0) {
            rc = session_consume(s, &s->queue, t->begun ? SESSION_ORDERED : SESSION_FIRST);
            t->begun = true;
        }
        if (rc != 0)
            return rc;
    }
    if (s->exiting) {
        int rc = session_stop(s);
        if (rc != 0)
            return rc;
    }
    bool ended = true;
    for (size_t i = 0; i < s->ntiers; i++)
        ended &= s->tier[i].lost || s->tier[i].drained;
    if (ended) {
        int rc = session_consume(s, &s->end_queue, SESSION_AS_IS);
        if (rc != 0)
            return rc;
    }
    uint64_t now = now_ns();
    if (ended || now - s->reported_ns >= (uint64_t)s->config.opt->value[OPTION_statusrate]) {
        session_report_drops(s);
        s->reported_ns = now;
    }
    if (s->report.oom)
        return no_memory(s);
    return ended ? SESSION_ENDED : s->stopped ? SESSION_ENDING : SESSION_RUNNING;
}

void session_finish(struct session *s)
{
    s->report.ops->aggregations(&s->report);
}

size_t session_lost(const struct session *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->ntiers; i++)
        n += s->tier[i].lost;
    return n;
}

bool session_end_missed(const struct session *s)
{
    for (size_t i = 0; i < s->nprobes; i++)
        if (s->probe[i].p.kind == PROBE_END && s->tier[s->probe[i].tier].lost)
            return true;
    return false;
}

int session_status(const struct session *s, bool *exited)
{
    *exited = s->exited;
    return s->status;
}

void session_stats(const struct session *s, struct session_stats *out)
{
    *out = (struct session_stats){0};
    for (size_t i = 0; i < s->ntiers; i++) {
        const struct engine_counts *c = &s->tier[i].counts;
        out->fired += c->fired;
        out->recorded += c->recorded;
        out->updates += c->updates;
        out->errors += c->errors;
        for (int k = 0; k < ENGINE_NDROPS; k++)
            out->drops += c->drop[k];
    }
}

const char *session_targets(const struct session *s)
{
    struct buf *b = (struct buf *)&s->targets;
    buf_reset(b);
    for (size_t i = 0; i < s->ntiers; i++) {
        if (i > 0)
            buf_addc(b, ',');
        buf_adds(b, s->tier[i].t->ops->target(s->tier[i].t));
    }
    return buf_str(b);
}

const char *session_enabled(const struct session *s)
{
    struct tier *t = s->ntiers == 1 ? s->tier[0].t : NULL;
    return t != NULL && t->ops->enabled != NULL ? t->ops->enabled(t) : NULL;
}

void session_close(struct session *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->ntiers; i++) {
        s->tier[i].t->ops->close(s->tier[i].t);
        et_free(s->tier[i].binding);
    }
    et_free(s->tier);
    et_free(s->probe);
    et_free(s->program);
    aggr_table_free(&s->aggr);
    buf_free(&s->report.line);
    buf_free(&s->report.head);
    buf_free(&s->queue);
    buf_free(&s->end_queue);
    buf_free(&s->late);
    buf_free(&s->text);
    buf_free(&s->encoded);
    buf_free(&s->targets);
    dif_image_free(&s->img);
    compile_free(s->compile);
    arena_free(&s->arena);
    et_free(s);
}
