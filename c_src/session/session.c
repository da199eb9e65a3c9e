/* session.c - the life of a session, except matching (match.c) and reading (deliver.c). */
#include "session/session.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "lang/encode.h"
#include "result/profile.h"
#include "util/buftext.h"
#include "util/render.h"

/* -- options ----------------------------------------------------------------------------------- */

/* Returns a number of frames; 0 means "not set" to the compiler. */
static uint32_t frames(const struct options *o, enum option_id which)
{
    int64_t v = o->value[which];
    return v <= 0 ? 0 : v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

/* Chooses the reporter. The events that it writes become part of the output, and go to no handler.
 */
static void choose_reporter(struct session *s)
{
    struct observer *watch = &s->observer[0], *reporter = &s->observer[1];
    *watch = s->watch;
    *reporter = *report_format(s->flags, s->opt.value[OPTION_format]);
    reporter->arg = &s->report;
    if (reporter->fault != NULL)
        watch->fault = NULL;
    if (reporter->drop != NULL)
        watch->drop = NULL;
    if (reporter->cost != NULL)
        watch->cost = NULL;
    if (reporter->member != NULL)
        watch->member = NULL;
    s->nobservers = 2;
}

static void sync_options(struct session *s)
{
    const struct options *o = &s->opt;
    int64_t iregs = o->value[OPTION_iregs];
    s->compile_options.strsize = (uint32_t)o->value[OPTION_strsize];
    s->compile_options.scratchsize = (uint32_t)o->value[OPTION_scratchsize];
    s->compile_options.iregs = iregs > 0 ? (uint32_t)iregs : DIF_NREGS;
    s->compile_options.tregs = (uint32_t)o->value[OPTION_tregs];
    s->compile_options.stackframes = frames(o, OPTION_stackframes);
    s->compile_options.ustackframes = frames(o, OPTION_ustackframes);
    s->compile_options.jstackframes = frames(o, OPTION_jstackframes);
    s->compile_options.maxframes = frames(o, OPTION_maxframes);
    s->compile_options.argref = option_on(o, OPTION_argref);
    s->compile_options.defaultargs = option_on(o, OPTION_defaultargs);
    s->compile_options.amin = o->value[OPTION_amin];
    s->compile_options.version = (uint32_t)o->value[OPTION_version];
    s->compile_options.pspec = option_on(o, OPTION_pspec);
    s->compile_options.empty = option_on(o, OPTION_empty);
}

void session_options_changed(struct session *s)
{
    sync_options(s);
    choose_reporter(s);
    session_set_rates(s);
}

static int set_option(void *arg, const char *name, const char *value, const char **why)
{
    struct session *s = arg;
    const bool zdefs = option_on(&s->opt, OPTION_zdefs);
    int rc = options_set(&s->opt, name, value, OPTION_BY_PROGRAM, why);
    if (rc == 0)
        sync_options(s);
    s->zdefs_in_program = s->zdefs_in_program || (!zdefs && option_on(&s->opt, OPTION_zdefs));
    return rc;
}

/* The result is valid until the next call: the compiler copies it into its message. */
static const char *option_help(void *arg, const char *name)
{
    struct session *s = arg;
    return options_hint(&s->opt, name, s->option_hint);
}

/* Tells the compiler what the kernel says of itself. */
const struct foreign *session_ask_kernel(void *arg, const char **why)
{
    struct session *s = arg;
    struct diags d;
    diags_init(&d);
    if (tier_kernel_says(&s->kernel, &d) != 0 && d.count > 0)
        *why = arena_strdup(&s->arena, d.list[0].text);
    diags_free(&d);
    return s->kernel;
}

/* -- compiling --------------------------------------------------------------------------------- */

int session_no_memory(struct session *s)
{
    return diag_error(&s->diags, ET_ENOMEM, NULL, "", NULL, "%s", et_strerror(ET_ENOMEM));
}

void session_init(struct session *s)
{
    *s = (struct session){.program_tail = &s->program, .waits = -1};
    arena_init(&s->arena);
    diags_init(&s->diags);
    options_init(&s->opt);
    dif_image_init(&s->img);
}

int session_begin(struct session *s)
{
    if (s->compile != NULL)
        return 0;
    sync_options(s);
    choose_reporter(s);
    s->compile_options.target = s->target;
    s->compile_options.setopt = set_option;
    s->compile_options.opthint = option_help;
    s->compile_options.setopt_arg = s;
    s->compile = compile_new(&s->compile_options, &s->diags);
    return s->compile != NULL ? 0 : session_no_memory(s);
}

struct erltrace_attributes session_attributes(struct compile_attr a)
{
    return (struct erltrace_attributes){a.name, a.data, a.class};
}

int session_add(struct session *s, const struct compile_source *src, struct erltrace_prog *p)
{
    struct compile_attr probes, statements;
    if (p == NULL && (p = arena_alloc(&s->arena, sizeof *p)) == NULL)
        return session_no_memory(s);
    p->name = src->name;
    p->source = src->shown != NULL ? src->shown : src->text;
    p->source_len = src->shown != NULL ? src->shown_len : src->len;
    p->info = (struct erltrace_proginfo){0, &p->descriptions, &p->statements};
    *s->program_tail = p;
    s->program_tail = &p->next;
    int rc = session_begin(s);
    if (rc == 0)
        rc = session_libraries(s);
    if (rc == 0)
        rc = compile_add(s->compile, src);
    if (rc == 0) {
        compile_stability(s->compile, &probes, &statements);
        p->descriptions = session_attributes(probes);
        p->statements = session_attributes(statements);
    }
    return rc;
}

static bool has_format(uint8_t kind)
{
    return kind == ACT_PRINTF || kind == ACT_PRINTA || kind == ACT_SYSTEM || kind == ACT_FREOPEN;
}

static int parse_formats(struct session *s)
{
    s->format = arena_alloc(&s->arena, (s->img.nactions + 1) * sizeof *s->format);
    if (s->format == NULL)
        return session_no_memory(s);
    for (uint32_t i = 0; i < s->img.nactions; i++) {
        const struct dif_action *a = &s->img.actions[i];
        if (a->format == DIF_NO_STRING || !has_format(a->kind))
            continue;
        int rc = pf_parse(&s->arena, dif_str(&s->img, a->format), &s->format[i]);
        if (rc == ET_ENOMEM)
            return session_no_memory(s);
        if (rc != 0)
            return diag_error(&s->diags, ET_EIMAGE, NULL, "D_SYNTAX", NULL,
                              "format \"%s\" holds a conversion that does not exist",
                              dif_str(&s->img, a->format));
    }
    return 0;
}

/* Asks the tiers for the symbol at an address; a tier whose programs have addresses knows it. */
static bool find_symbol(void *arg, uint64_t pid, uint64_t address, struct tier_symbol *out)
{
    struct session *s = arg;
    if (session_stack_symbol(s, pid, address, out))
        return true;
    for (size_t i = 0; i < s->ntiers; i++) {
        const struct tier_ops *ops = s->tier[i].t->ops;
        if (s->showing != NULL && s->showing != &s->tier[i])
            continue; /* other hosts have processes of this number too */
        if (ops->symbol != NULL && ops->symbol(s->tier[i].t, pid, address, out))
            return true;
    }
    return false;
}

/* Finds the program of each clause: the one with its file's name. Where #line gives another name,
 * it is the program of the clause before. */
static int number_clauses(struct session *s)
{
    struct erltrace_prog *program = s->program;
    s->program_of = arena_alloc(&s->arena, (s->img.nclauses + 1) * sizeof *s->program_of);
    if (s->program_of == NULL)
        return session_no_memory(s);
    for (uint32_t c = 0; c < s->img.nclauses; c++) {
        const char *file = dif_str(&s->img, s->img.clauses[c].file);
        for (struct erltrace_prog *p = s->program; p != NULL; p = p->next)
            if (strcmp(p->name, file) == 0)
                program = p;
        s->program_of[c] = program;
    }
    return 0;
}

/* Refuses actions of a restricted program that would affect this process or its host. */
static int check_restricted(struct session *s)
{
    const struct options *opt = &s->opt;
    const char *why = "it would act on the host that the program is started from";
    char hint[256];
    int rc = 0;
    if (!opt->restricted || option_on(opt, OPTION_destructive))
        return 0;
    snprintf(hint, sizeof hint, "%s%s%s", why, opt->permit != NULL ? "; " : "",
             opt->permit != NULL ? opt->permit : "");
    for (uint32_t i = 0; i < s->img.nclauses; i++) {
        const struct dif_clause *c = &s->img.clauses[i];
        for (uint32_t k = c->action; k < c->action + c->nactions; k++) {
            const struct dif_action *a = &s->img.actions[k];
            if (a->kind != ACT_SYSTEM && a->kind != ACT_FREOPEN && a->kind != ACT_FTRUNCATE &&
                a->kind != ACT_RAISE)
                continue;
            struct diag_pos pos = {dif_str(&s->img, c->file), (int)a->line, (int)a->col, 0};
            rc = diag_error(&s->diags, ET_ECOMPILE, &pos, "ACTION_RESTRICTED", hint,
                            "%s() is not allowed for this program", dif_action_info(a->kind)->name);
        }
    }
    return rc;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Returns where a comment or a text that begins here ends; `at` if none does. */
static const char *past_words(const char *at, const char *end)
{
    const char *p = at + 1;
    if (*at == '"') {
        while (p < end && *p != '"')
            p += *p == '\\' ? 2 : 1;
    } else if (*at == '/' && p < end && *p == '/') {
        while (p + 1 < end && p[1] != '\n')
            p++;
    } else if (*at == '/' && p < end && *p == '*') {
        for (p += 2; p < end && (*p != '/' || p[-1] != '*'); p++)
            ;
    } else {
        return at;
    }
    return p < end ? p + 1 : end;
}

/* Finds a name in what begins at `at`, a statement or a clause. Returns NULL if it is not there. */
static const char *name_in(const char *at, const char *end, const char *name, size_t n)
{
    int depth = 0;
    for (const char *past; at < end; at = past) {
        past = past_words(at, end);
        if (past > at)
            continue;
        depth += (*at == '{') - (*at == '}');
        if (depth <= 0 && (*at == ';' || *at == '}'))
            return NULL;
        past = at + 1;
        while (is_word(*at) && past < end && is_word(*past))
            past++;
        if ((size_t)(past - at) == n && memcmp(at, name, n) == 0)
            return at;
    }
    return NULL;
}

/* Moves the position of a statement, or of a clause, to the name that it calls or reads. */
static void point_at(const struct session *s, const char *name, struct diag_pos *pos)
{
    size_t n = strcspn(name, "([");
    for (const struct erltrace_prog *p = s->program; p != NULL; p = p->next) {
        const char *at = p->source, *end = at + p->source_len, *nl, *found;
        if (strcmp(p->name, pos->file) != 0)
            continue;
        for (int line = 1; line < pos->line && (nl = memchr(at, '\n', (size_t)(end - at))); line++)
            at = nl + 1;
        found = end - at < pos->col ? NULL : name_in(at + pos->col - 1, end, name, n);
        if (found == NULL)
            continue;
        for (; (nl = memchr(at, '\n', (size_t)(found - at))) != NULL; at = nl + 1)
            pos->line++;
        pos->col = (int)(found - at) + 1;
        pos->len = (int)n;
        return;
    }
}

/* Refuses a program that looks into terms when these are hidden. */
static int check_terms(struct session *s)
{
    struct dif_need need;
    if (s->opt.value[OPTION_terms] != 0 || !dif_uses_terms(&s->img, &need))
        return 0;
    struct diag_pos pos = {dif_str(&s->img, need.file), (int)need.line, (int)need.col, 0};
    point_at(s, need.name, &pos);
    return diag_error(&s->diags, ET_ECOMPILE, &pos, "D_TERMS_OFF",
                      "leave it out: pids, names, sizes and times are still shown",
                      "%s looks into terms, which the option terms=off hides", need.name);
}

/* Refuses what a profile could not be made of, or could not be written to. */
static int check_format(struct session *s)
{
    const struct observer *wanted = report_format(0, s->opt.value[OPTION_format]);
    if (!report_is_profile(wanted))
        return 0;
    const char *name = report_format_name(wanted);
    if (report_format(s->flags, s->opt.value[OPTION_format]) != wanted)
        return diag_error(&s->diags, ET_EINVAL, NULL, "", "leave one of them out",
                          "the output cannot be both JSON lines and format=%s", name);
    if (wanted == &report_pprof && (s->flags & ERLTRACE_O_TERMINAL) != 0)
        return diag_error(&s->diags, ET_EINVAL, NULL, "", "write it to a file: -o FILE",
                          "format=pprof is not for terminals");
    if (profile_of(&s->img))
        return 0;
    return diag_error(
        &s->diags, ET_ECOMPILE, NULL, "D_FORMAT_STACK",
        "count stacks, as in: @[ustack()] = count();",
        "no aggregation has a stack as a key, of which format=%s could make a profile", name);
}

/* Collects the records that the image names. */
static int list_records(struct session *s)
{
    struct compile_record r;
    while (compile_record(s->compile, (uint32_t)s->nrecords, &r))
        s->nrecords++;
    s->record = arena_alloc(&s->arena, (s->nrecords + 1) * sizeof *s->record);
    if (s->record == NULL)
        return session_no_memory(s);
    for (uint32_t i = 0; compile_record(s->compile, i, &r); i++)
        s->record[i] = (struct tier_record){r.name, r.field, r.nfields, r.in_d};
    return 0;
}

/* Of programs of both worlds the image is that for the kernel. */
static int mix(struct session *s)
{
    s->mixed = session_is_mixed(s);
    if (!s->mixed)
        return 0;
    dif_image_free(&s->img);
    dif_image_init(&s->img);
    const int rc = compile_image_mixed(s->compile, session_of_node, s, &s->img);
    return rc != 0 ? rc : dif_verify(&s->img, &s->diags);
}

int session_compile(struct session *s)
{
    int rc = session_begin(s);
    if (rc == 0)
        rc = compile_image(s->compile, &s->img);
    if (rc == 0)
        rc = list_records(s);
    if (rc == 0)
        rc = dif_verify(&s->img, &s->diags);
    if (rc == 0)
        rc = check_restricted(s);
    if (rc == 0)
        rc = check_terms(s);
    if (rc == 0)
        rc = mix(s);
    if (rc == 0)
        rc = check_format(s);
    if (rc == 0 && (rc = dif_encode(&s->img, &s->encoded)) != 0)
        rc = session_no_memory(s);
    if (rc == 0)
        rc = parse_formats(s);
    if (rc == 0 && (rc = aggr_table_init(&s->aggr, &s->img)) != 0)
        rc = session_no_memory(s);
    for (uint32_t i = 0; rc == 0 && i < s->img.nclauses; i++)
        if (s->img.clauses[i].nparts > s->nvalues)
            s->nvalues = s->img.clauses[i].nparts;
    if (rc == 0) {
        s->value = arena_alloc(&s->arena, (s->nvalues + 1) * sizeof *s->value);
        if (s->value == NULL)
            rc = session_no_memory(s);
    }
    if (rc == 0)
        rc = number_clauses(s);
    s->report = (struct report){.out = s->out,
                                .opt = &s->opt,
                                .img = &s->img,
                                .aggr = &s->aggr,
                                .terminal = (s->flags & ERLTRACE_O_TERMINAL) != 0,
                                .format = s->format,
                                .symbols = {.find = find_symbol, .arg = s, .opt = &s->opt},
                                .target = s->target > 0 ? (uint64_t)s->target : 0,
                                .began = &s->began_ns,
                                .key_name = session_key_name,
                                .key_name_arg = s};
    return rc;
}

/* -- running ----------------------------------------------------------------------------------- */

static bool speculates(const struct dif_image *img)
{
    for (uint32_t i = 0; i < img->ncode; i++)
        if (img->code[i] >> 24 == DIF_OP_SPEC)
            return true;
    return false;
}

static bool acts_on_aggregations(const struct dif_image *img)
{
    for (uint32_t i = 0; i < img->nactions; i++)
        if (img->actions[i].nrefs > 0 && img->actions[i].kind != ACT_AGG)
            return true;
    return false;
}

/* Writes a size as people do ("4m") if it is a whole number of some unit. */
static void size_text(int64_t v, char *out, size_t n)
{
    static const char units[] = "kmgt";
    size_t u = 0;
    while (u < sizeof units - 1 && v >= 1024 && v % 1024 == 0) {
        v /= 1024;
        u++;
    }
    if (u > 0)
        snprintf(out, n, "%lld%c", (long long)v, units[u - 1]);
    else
        snprintf(out, n, "%lld", (long long)v);
}

static void notice_lowered(struct session *s, const char *what, int64_t asked, int64_t granted)
{
    char size[32];
    if (granted == 0 || granted >= asked || option_on(&s->opt, OPTION_quietresize))
        return;
    size_text(granted, size, sizeof size);
    diag_add(&s->diags, DIAG_NOTE, NULL, "", NULL, "%s lowered to %s", what, size);
}

/* Option debug: reports what was made, and what the tier granted. */
static void tell_enabled(struct session *s, const struct session_tier *t,
                         const struct tier_options *o)
{
    const char *target = t->t->ops->target(t->t);
    if (!option_on(&s->opt, OPTION_debug))
        return;
    diag_add(&s->diags, DIAG_NOTE, NULL, "", NULL,
             "debug: image of %zu bytes: %u clauses, %u actions, %u instructions", s->encoded.len,
             s->img.nclauses, s->img.nactions, s->img.ncode);
    diag_add(&s->diags, DIAG_NOTE, NULL, "", NULL,
             "debug: %s tier%s%s: %zu enablings, bufsize %llu, aggsize %llu, dynvarsize %llu, "
             "specsize %llu, %u CPUs",
             t->t->ops->name, target[0] != '\0' ? " of " : "", target, t->nbindings,
             (unsigned long long)o->bufsize, (unsigned long long)o->aggsize,
             (unsigned long long)o->dynvarsize, (unsigned long long)o->specsize, o->ncpus);
}

/* Reports progress. Returns false to give up. */
static bool progress(void *arg, const struct tier_progress *p)
{
    const struct session *s = arg;
    const struct erltrace_progress how = {.node = s->starting->ops->target(s->starting),
                                          .waiting = p->waiting,
                                          .unit = p->unit,
                                          .done = p->done,
                                          .total = p->total,
                                          .fresh = p->fresh};
    enum verdict v = VERDICT_SHOW;
    for (size_t i = 0; i < s->nobservers && v == VERDICT_SHOW; i++)
        if (s->observer[i].progress != NULL)
            v = s->observer[i].progress(s->observer[i].arg, &how);
    return v != VERDICT_ABORT;
}

int session_ask(struct session *s, struct session_tier *t, struct tier_options *asked)
{
    const int64_t *v = s->opt.value;
    *asked = (struct tier_options){
#define ASK_TOOL(name)
#define ASK_TIER(name)  .name = v[OPTION_##name],
#define ASK_AGENT(name) .name = v[OPTION_##name],
#define OPTION(name, type, standard, least, most, words, by, phase, to, key, when, text, more)     \
    ASK_##to(name)
#include "util/options.list"
#undef OPTION
        .later = s->later,
        .nlater = s->nlater,
        .progress = progress,
        .progress_arg = s,
        .redact = s->opt.redact,
        .nredact = s->opt.nredact,
        .records = s->record,
        .nrecords = s->nrecords,
        .aggs_with_records = acts_on_aggregations(&s->img),
        .clocks = session_clocks(s),
        .child = s->child};
    if (!speculates(&s->img))
        asked->cleanrate = 0;
    if (option_on(&s->opt, OPTION_aggpercpu)) /* counters say nothing of processors */
        asked->lower = 0;
    return session_told(s, t->t, &asked->told, &asked->ntold);
}

void session_granted(struct session *s, struct session_tier *t, const struct tier_options *asked,
                     const struct tier_options *granted)
{
    if (granted->ncpus > s->aggr.ncpus && granted->ncpus <= 4096)
        s->aggr.ncpus = granted->ncpus;
    tell_enabled(s, t, granted);
    notice_lowered(s, "buffer size", asked->bufsize, granted->bufsize);
    notice_lowered(s, "aggregation size", asked->aggsize, granted->aggsize);
    notice_lowered(s, "speculation size", asked->specsize, granted->specsize);
    notice_lowered(s, "dynamic variable size", asked->dynvarsize, granted->dynvarsize);
}

static int enable(struct session *s, struct session_tier *t)
{
    struct tier_options asked, granted;
    int rc = session_ask(s, t, &asked);
    if (rc != 0)
        return rc;
    granted = asked;
    s->starting = t->t;
    if (session_passes(s, t))
        return session_enable_passing(s, t, &granted);
    rc = t->t->ops->enable(t->t, &s->img, s->encoded.data, s->encoded.len, t->binding, t->nbindings,
                           &granted, &s->diags);
    if (rc == 0)
        session_granted(s, t, &asked, &granted);
    return rc;
}

bool session_prints(const struct session *s)
{
    static const bool prints[WORD_ACTIONS] = {
        [ACT_TRACE] = true,    [ACT_PRINTF] = true, [ACT_PRINTA] = true,
        [ACT_TRACEMEM] = true, [ACT_PRINT] = true,  [ACT_STACK] = true,
    };
    for (uint32_t i = 0; i < s->img.nactions; i++)
        if (prints[s->img.actions[i].kind])
            return true;
    for (uint32_t i = 0; i < s->img.nclauses; i++) /* a clause without a body records that it ran */
        if (s->img.clauses[i].records && s->img.clauses[i].nactions == 0)
            return true;
    return false;
}

bool session_is_destructive(const struct session *s)
{
    for (uint32_t i = 0; i < s->img.nactions; i++)
        if (dif_action_info(s->img.actions[i].kind)->destructive)
            return true;
    return false;
}

/* Returns what to use in a node instead of a feature that only a kernel tier has. */
static const char *instead(const char *name)
{
    static const char stacks[] =
        "ustack() is the stack of the Erlang process; `erltrace run stacks` shows where processes "
        "spend their time";
    static const char callers[] = "erlcaller is the Erlang function that called, as text";
    static const struct {
        const char *name, *hint;
    } rows[] = {
        {"stack()", stacks},     {"stackdepth", stacks},
        {"ustackdepth", stacks}, {"caller", callers},
        {"ucaller", callers},    {"curthread", "a process is the text copyinstr(arg0)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].hint;
    return NULL;
}

/* Reports an error if a tier of this session lacks something that the program uses. */
static int check_needs(struct session *s)
{
    struct dif_need need;
    for (size_t i = 0; i < s->ntiers; i++) {
        const struct tier_ops *ops = s->tier[i].t->ops;
        if (session_passes(s, &s->tier[i]) || !dif_lacks(&s->img, ops->place, &need))
            continue;
        struct diag_pos pos = {dif_str(&s->img, need.file), (int)need.line, (int)need.col, 0};
        if (need.line > 0)
            point_at(s, need.name, &pos);
        return diag_error(&s->diags, ET_EUNSUP, need.line > 0 ? &pos : NULL, "", instead(need.name),
                          need.tiers == WORD_KERNEL
                              ? "could not enable tracing: %s needs %s (--kernel)"
                              : "could not enable tracing: %s needs %s, and this program runs in "
                                "another",
                          need.name, dif_tier_text(need.tiers));
    }
    return 0;
}

/* Refuses variables that would have another value at a sample than they had when it was taken. */
static int check_samples(struct session *s)
{
    struct session_late late;
    bool in_node = false;
    for (size_t i = 0; i < s->ntiers; i++)
        in_node =
            in_node || (s->tier[i].t->ops->place == WORD_VM && !session_passes(s, &s->tier[i]));
    if (!in_node || !session_reads_late(&s->img, &late))
        return 0;
    const char *name = dif_str(&s->img, late.var->name);
    const struct dif_action *a = late.action;
    struct diag_pos pos = {dif_str(&s->img, late.reader->file),
                           (int)(a != NULL ? a->line : late.reader->line),
                           (int)(a != NULL ? a->col : late.reader->col), 0};
    point_at(s, name, &pos);
    const bool own = late.var->scope == DIF_THREAD;
    return diag_error(&s->diags, ET_EUNSUP, &pos, "D_SAMPLE_LATE",
                      own ? "@[ustack()] has all callers at the sample; what a call costs is "
                            "vtimestamp at its return minus that at its entry"
                          : "timestamp at a sample is when it was taken; what BEGIN and tick-N set "
                            "can be read",
                      "%s-N cannot read %s%s, which line %" PRIu32 " sets at another probe: "
                      "in a node the clause runs some time after the sample",
                      probe_is_wall(dif_str(&s->img, late.reader->name)) ? "wall" : "profile",
                      own ? "self->" : "", name, late.writer->line);
}

/* Sets up every tier, then runs BEGIN in all of them. */
static int start(struct session *s)
{
    for (size_t i = 0; i < s->ntiers; i++) {
        int rc = enable(s, &s->tier[i]);
        if (rc != 0)
            return rc;
    }
    for (size_t i = 0; i < s->ntiers; i++) {
        struct tier *t = s->tier[i].t;
        s->starting = t;
        int rc = t->ops->prepare != NULL ? t->ops->prepare(t, &s->diags) : 0;
        if (rc != 0)
            return rc;
    }
    s->began_ns = s->reported_ns = monotonic_ns(); /* all measured time begins here, with BEGIN */
    for (size_t i = 0; i < s->ntiers; i++) {
        int rc = s->tier[i].t->ops->go(s->tier[i].t, &s->diags);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int session_start(struct session *s)
{
    if (session_is_destructive(s) && !option_on(&s->opt, OPTION_destructive))
        return diag_error(&s->diags, ET_EINVAL, NULL, "", "allow them with -w",
                          "could not enable tracing: Destructive actions not allowed");
    int lacking = check_needs(s);
    if (lacking == 0)
        lacking = check_samples(s);
    if (lacking != 0)
        return lacking;
    int rc = s->cluster != NULL ? session_cluster_start(s) : start(s);
    for (size_t i = 0; rc == ET_EABORT && i < s->ntiers; i++)
        if (s->tier[i].t->ops->give_up != NULL)
            s->tier[i].t->ops->give_up(s->tier[i].t);
    return rc;
}

void session_lose(struct session *s, struct session_tier *t, int rc)
{
    t->lost = true;
    t->unfetched = t->t->ops->unfetched != NULL ? t->t->ops->unfetched(t->t) : 0;
    t->counts.drop[RECORD_DROP_ENDED] = t->unfetched > 0;
    session_cluster_lost(s, t, rc);
}

int session_stop(struct session *s)
{
    int first = 0;
    if (s->stopped)
        return 0;
    s->stopped = true;
    for (size_t i = 0; i < s->ntiers; i++) {
        struct session_tier *t = &s->tier[i];
        if (t->lost || t->pending)
            continue;
        int rc = t->t->ops->stop(t->t, session_cluster_diags(s));
        if (rc == ET_ELOST)
            session_lose(s, t, rc);
        else
            session_cluster_worked(s);
        if (rc != 0 && rc != ET_ELOST && first == 0)
            first = rc;
    }
    return first;
}

/* Returns whether more may come from a tier, by its work. */
static bool is_live(const struct session_tier *t)
{
    return !t->lost && !t->drained && !t->pending;
}

/* Returns whether a node still passes events on. */
static bool has_nodes(const struct session *s)
{
    for (size_t i = 1; i < s->ntiers; i++)
        if (!s->tier[i].lost && !s->tier[i].overload && !s->tier[i].drained)
            return true;
    return false;
}

static int work_tier(struct session *s, struct session_tier *t, int timeout_ms, bool flush)
{
    struct session_reader reader = {s, t, 0};
    struct tier_sink sink = {&reader,        session_record, session_aggregation, session_fault,
                             session_counts, session_load,   session_member};
    int rc = t->t->ops->work(t->t, timeout_ms, flush || s->stopped || t->overload, &sink,
                             session_cluster_diags(s));
    if (rc == TIER_RUNNING && !s->stopped && t->t->ops->grown != NULL && t->t->ops->grown(t->t)) {
        int e = session_passes(s, t) ? t->t->ops->extend(t->t, NULL, 0, &s->diags)
                                     : session_extend(s, t);
        rc = e != 0 ? e : rc;
    }
    const int why = rc < 0 ? rc : ET_ELOST;
    if (rc == ET_ELOST || (rc < 0 && rc != ET_ENOMEM && s->cluster != NULL))
        rc = TIER_LOST; /* of a cluster no node ends the trace of the others */
    if (reader.error == 0)
        reader.error = session_stacks_settle(s);
    if (reader.error != 0)
        return reader.error;
    if (rc != TIER_LOST)
        session_cluster_worked(s);
    if (rc < 0)
        return rc;
    switch ((enum tier_state)rc) {
    case TIER_RUNNING: break;
    case TIER_EXITING: s->exiting = true; break;
    case TIER_OVERLOAD: /* the trace continues with the other nodes */
        t->overload = true;
        if (!s->stopped && (rc = t->t->ops->stop(t->t, &s->diags)) != 0 && rc != ET_ELOST)
            return rc;
        break;
    case TIER_DRAINED: t->drained = true; break;
    case TIER_LOST: session_lose(s, t, why); break;
    }
    s->exiting |= s->mixed && !has_nodes(s);
    return 0;
}

/* Reports what a tier has delivered, or keeps it for the end if the policy says so. */
static int consume(struct session *s, struct session_tier *t)
{
    struct buf *queue = &t->queue;
    if (s->opt.value[OPTION_bufpolicy] != RECORD_POLICY_SWITCH) {
        int rc = session_hold(s, t);
        if (rc != 0 || !(t->drained || t->lost))
            return rc;
        queue = &t->held;
    }
    if (queue->len == 0)
        return 0;
    int rc = session_consume(s, queue, t->begun ? SESSION_ORDERED : SESSION_FIRST);
    t->begun = true;
    return rc;
}

int session_work(struct session *s, int timeout_ms)
{
    size_t live = 0;
    for (size_t i = 0; i < s->ntiers; i++) {
        live += is_live(&s->tier[i]);
        if (s->tier[i].queue.len > 0) /* what session_snapshot left there */
            timeout_ms = 0;
    }
    session_cluster_work(s, live == 0);
    if (live > 1)
        session_wait(s, timeout_ms);
    for (size_t i = 0; i < s->ntiers; i++) {
        struct session_tier *t = &s->tier[i];
        if (!is_live(t))
            continue;
        int rc = live == 1  ? work_tier(s, t, timeout_ms, false)
                 : t->ready ? work_tier(s, t, 0, false)
                            : 0;
        if (rc == 0)
            rc = consume(s, t);
        if (rc != 0)
            return rc;
    }
    if (s->exiting) {
        int rc = session_stop(s);
        if (rc != 0)
            return rc;
    }
    bool ended = session_cluster_ended(s);
    for (size_t i = 0; i < s->ntiers; i++)
        ended &= !is_live(&s->tier[i]);
    if (ended) {
        int rc = session_consume(s, &s->end_queue, SESSION_AS_IS);
        if (rc != 0)
            return rc;
    }
    uint64_t now = monotonic_ns();
    if (ended || now - s->reported_ns >= (uint64_t)s->opt.value[OPTION_statusrate]) {
        session_report_drops(s);
        session_tell(s, due, ended);
        s->reported_ns = now;
        if (s->aborted)
            return ET_EABORT;
    }
    if (s->report.oom)
        return session_no_memory(s);
    return ended        ? ERLTRACE_STATE_DONE
           : s->stopped ? ERLTRACE_STATE_STOPPING
                        : ERLTRACE_STATE_RUNNING;
}

int session_snapshot(struct session *s)
{
    enum { REST_MS = 1000 }; /* of a node that has been stopped, everything is wanted */
    for (size_t i = 0; i < s->ntiers; i++) {
        struct session_tier *t = &s->tier[i];
        const int timeout_ms = s->stopped || t->overload ? REST_MS : 0;
        int rc = is_live(t) ? work_tier(s, t, timeout_ms, true) : 0;
        if (rc != 0)
            return rc;
    }
    return 0;
}

int session_fd(const struct session *s, size_t i)
{
    const struct session_tier *t = &s->tier[i];
    return is_live(t) ? t->t->ops->fd(t->t) : -1;
}

int session_timeout(const struct session *s)
{
    enum { MOST_MS = 100 }; /* drops are reported, and lost nodes noticed */
    for (size_t i = 0; i < s->ntiers; i++)
        if (is_live(&s->tier[i]) && (s->tier[i].queue.len > 0 || session_fd(s, i) < 0))
            return s->tier[i].queue.len > 0 ? 0 : SESSION_SLICE_MS;
    return MOST_MS;
}

void session_finish(struct session *s)
{
    for (size_t i = 0; i < s->nobservers; i++)
        if (s->observer[i].aggregations != NULL &&
            !session_goes_on(s, s->observer[i].aggregations(s->observer[i].arg)))
            break;
}

size_t session_lost(const struct session *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->ntiers; i++)
        n += s->tier[i].lost;
    return s->cluster != NULL && n < s->ntiers ? 0 : n;
}

size_t session_overloaded(const struct session *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->ntiers; i++)
        n += s->tier[i].overload || s->tier[i].overload_told;
    return n;
}

bool session_end_missed(const struct session *s)
{
    for (size_t i = 0; i < s->nprobes; i++)
        if (s->probe[i].kind == PROBE_END && s->tier[s->probe[i].runs].lost)
            return true;
    return false;
}

void session_status(const struct session *s, struct erltrace_status *out)
{
    *out = (struct erltrace_status){
        .state = out->state, .exited = s->exited, .status = s->status, .began = s->began_ns};
    out->lost = (unsigned)session_lost(s);
    out->overloaded = (unsigned)session_overloaded(s);
    out->probes = (unsigned)s->nprobes;
    out->watched = (unsigned)s->nwatched;
    for (size_t i = 0; i < s->ntiers; i++) {
        const struct record_counts *c = &s->tier[i].counts;
        for (int k = 0; k < RECORD_NDROPS; k++)
            out->drops += c->drop[k];
        out->errors += c->errors;
        out->filled += c->filled;
        if (session_passes(s, &s->tier[i])) /* it is the first tier that counts them */
            continue;
        out->fired += c->fired;
        out->events += c->fired - c->own;
        out->recorded += c->recorded;
        out->updates += c->updates;
    }
}

const char *session_targets(const struct session *s)
{
    struct buf *b = (struct buf *)&s->targets;
    buf_reset(b);
    for (size_t i = s->mixed; i < s->ntiers; i++) { /* the kernel has no name */
        if (b->len > 0)
            buf_addc(b, ',');
        buf_adds(b, s->tier[i].t->ops->target(s->tier[i].t));
    }
    return buf_str(b);
}

void session_detach(struct session *s)
{
    session_cluster_close(s);
    session_wait_end(s);
    for (size_t i = 0; i < s->ntiers; i++) {
        s->tier[i].t->ops->close(s->tier[i].t);
        et_free(s->tier[i].binding);
        session_passing_free(s->tier[i].passing);
        buf_free(&s->tier[i].queue);
        buf_free(&s->tier[i].held);
    }
    s->ntiers = 0;
}

void session_free(struct session *s)
{
    session_detach(s);
    et_free(s->tier);
    et_free(s->probe);
    decider_free(s->decider);
    et_free(s->later);
    aggr_table_free(&s->aggr);
    session_stacks_free(s);
    buf_free(&s->said);
    buf_free(&s->report.line);
    fold_free(&s->report.faults);
    buf_free(&s->report.head);
    buf_free(&s->end_queue);
    buf_free(&s->late);
    buf_free(&s->text);
    buf_free(&s->encoded);
    buf_free(&s->targets);
    buf_free(&s->key_name);
    dif_image_free(&s->img);
    compile_free(s->compile);
    tier_kernel_said(s->kernel);
    diags_free(&s->diags);
    arena_free(&s->arena);
}
