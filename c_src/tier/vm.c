/* vm.c - the vm tier: a program that runs inside a node.
 *
 * The node does the work; this side sends requests. vm_read.c reads what the program recorded, and
 * vm_code.c which code the node has. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "etf/write.h"
#include "base/err.h"
#include "tier/counts.h"
#include "tier/vm_code.h"
#include "tier/watchers.h"
#include "tier/vm_debug.h"
#include "tier/filter.h"
#include "tier/only.h"
#include "wire/reach.h"
#include "wire/relay.h"
#include "wire/talk.h"
#include "tier/vm.h"
#include "util/buftext.h"

enum {
    CONNECT_MS = 5000,
    ENABLE_MS = 60000, /* after the node's last report of progress */
    CLOSE_MS = 2000,
    GIVE_UP_MS = 700, /* for a consumer that gave up waiting until probes were placed */
    LEASE_MS = 1500,
    BINDINGS = 1000, /* in one message: about a millisecond of decoding */
    FILTERS = 1000,  /* clauses whose calls are filtered: the agent's limit */
    BEATS = 5        /* heartbeats per lease */
};

static int vm_match(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                    struct diags *d)
{
    return catalog_match(&vm_of(t)->catalog, t, spec, fn, arg, d);
}

static const char *vm_suggest(struct tier *t, const struct probe_spec *spec)
{
    return catalog_suggest(&vm_of(t)->catalog, spec);
}

static const char *vm_lacking(struct tier *t, const struct probe_spec *spec)
{
    return catalog_lacking(&vm_of(t)->catalog, spec);
}

/* -- enable ------------------------------------------------------------------------------------ */

static int by_probe(const void *a, const void *b)
{
    const struct tier_binding *x = a, *y = b;
    if (x->probe != y->probe)
        return x->probe < y->probe ? -1 : 1;
    if (x->clause != y->clause)
        return x->clause < y->clause ? -1 : 1;
    return (x->epid > y->epid) - (x->epid < y->epid);
}

/* Returns whether a clause reads a built-in variable. */
static bool reads_builtin(const struct dif_image *img, uint32_t clause, enum dif_builtin b)
{
    const struct dif_clause *c = &img->clauses[clause];
    const uint32_t read = dif_ai(dif_builtin_info(b)->array ? DIF_OP_LDBA : DIF_OP_LDB, 0, b);
    for (uint32_t i = 0; i < c->ncode; i++)
        if ((img->code[c->code + i] & 0xff00ffff) == read)
            return true;
    return false;
}

/* Returns a clause's action follow(), NULL: it has none. */
static const struct dif_action *follows(const struct dif_image *img, uint32_t clause)
{
    const struct dif_clause *c = &img->clauses[clause];
    for (uint32_t i = c->action; i < c->action + c->nactions; i++)
        if (img->actions[i].kind == ACT_FOLLOW)
            return &img->actions[i];
    return NULL;
}

/* Returns what a clause wants of a probe of a function: enum probe_use. */
static unsigned uses(const struct dif_image *img, const struct tier_binding *b,
                     enum probe_kind kind)
{
    const unsigned args = reads_builtin(img, b->clause, DIF_BUILTIN_argv) ? PROBE_USE_ARGS : 0;
    const unsigned time = reads_builtin(img, b->clause, DIF_BUILTIN_elapsed) ? PROBE_USE_TIME : 0;
    switch (probe_fn_event(kind)) {
    case PROBE_FN_RETURN:
        return (args | time) != 0 || reads_builtin(img, b->clause, DIF_BUILTIN_retval)
                   ? args | time | PROBE_USE_VALUE
                   : 0;
    case PROBE_FN_EXCEPTION: return args | time;
    default: return args | (follows(img, b->clause) ? PROBE_USE_FOLLOW : 0u);
    }
}

/* Refuses follow() at probes that the VM does not set tokens for. */
static int check_follows(struct vm *v, const struct tier_binding *b, size_t n, struct diags *d)
{
    struct tier_probe p;
    const struct catalog_mod *m;
    const struct catalog_fn *f;
    for (size_t i = 0; i < n; i++) {
        const struct dif_action *a = follows(v->img, b[i].clause);
        if (!a || !catalog_probe(&v->catalog, b[i].probe, &p, &m, &f))
            continue;
        if (f && probe_fn_event(p.kind) == PROBE_FN_ENTRY)
            continue;
        struct diag_pos pos = {dif_str(v->img, v->img->clauses[b[i].clause].file), (int)a->line,
                               (int)a->col, 0};
        return diag_error(d, ET_ECOMPILE, &pos, "FOLLOW_PROBE",
                          "use it at entry of a function: erlang*:shop:sell/4:entry",
                          "follow() cannot be used at %s: it sets the token with the trace "
                          "pattern of a function that is called",
                          p.name);
    }
    return 0;
}

/* Decides for which functions the program's calls are only counted. Returns false when out of
 * memory. b is sorted by probe. */
static bool settle_counts(struct vm *v, const struct dif_image *img, const struct tier_options *opt,
                          struct tier_binding *b, size_t n)
{
    struct counts_probe *p = et_calloc(n + 1, sizeof *p);
    struct tier_probe of;
    const struct catalog_mod *m;
    const struct catalog_fn *f;
    if (!p)
        return false;
    for (size_t i = 0; i < n; i++)
        if (catalog_probe(&v->catalog, b[i].probe, &of, &m, &f))
            p[i] = (struct counts_probe){of.kind, of.period, f};
    counts_settle(img, opt, b, p, n);
    et_free(p);
    return true;
}

/* Appends {Epid, Clause, ProbeId, Kind, Where}. */
static bool put_binding(struct vm *v, struct buf *x, const struct dif_image *img,
                        const struct tier_binding *b)
{
    struct tier_probe p;
    const struct catalog_mod *m;
    const struct catalog_fn *f;
    if (!catalog_probe(&v->catalog, b->probe, &p, &m, &f))
        return false;
    etf_put_tuple(x, 5);
    etf_put_uint(x, b->epid);
    etf_put_uint(x, b->clause);
    etf_put_uint(x, b->probe);
    etf_put_uint(x, p.kind + (f ? uses(img, b, p.kind) : 0) +
                        (b->counts && !v->running ? PROBE_USE_COUNT : 0));
    if (f) {
        etf_put_tuple(x, 3);
        etf_put_atom(x, m->name);
        etf_put_atom(x, f->name);
        etf_put_uint(x, f->arity);
    } else if (p.kind == PROBE_TICK || p.kind == PROBE_PROFILE || p.kind == PROBE_WALL) {
        etf_put_tuple(x, 2);
        etf_put_uint(x, p.period);
        etf_put_binary(x, p.name, strlen(p.name));
    } else if (p.kind == PROBE_USER_TRACE_N) {
        etf_put_uint(x, p.number);
    } else if (p.kind == PROBE_USER) {
        etf_put_binary(x, p.name, strlen(p.name));
    } else {
        etf_put_nil(x);
    }
    return true;
}

static void put_option(struct buf *x, const char *name, uint64_t value)
{
    etf_put_tuple(x, 2);
    etf_put_atom(x, name);
    etf_put_uint(x, value);
}

/* Appends the first of the options, the needs that can be restricted to a few processes: {only,
 * [{Need, [Pid]}]}. */
static void put_only(struct vm *v, struct buf *x, const struct dif_image *img,
                     const struct tier_binding *b, size_t n, const struct tier_options *opt)
{
    struct only o;
    struct tier_probe p;
    const struct catalog_mod *m;
    const struct catalog_fn *f;
    only_init(&o, img);
    for (size_t i = 0; i < n; i++)
        if (catalog_probe(&v->catalog, b[i].probe, &p, &m, &f))
            only_add(&o, p.kind, b[i].pids);
    for (size_t i = 0; i < opt->nlater; i++)
        only_add(&o, opt->later[i].kind, opt->later[i].pids);
    etf_put_list(x, 1);
    etf_put_tuple(x, 2);
    etf_put_atom(x, "only");
    for (unsigned need = 0; need < ONLY_NEEDS; need++) {
        if ((only_needs(&o) >> need & 1) == 0)
            continue;
        etf_put_list(x, 1);
        etf_put_tuple(x, 2);
        etf_put_uint(x, 1ul << need);
        etf_put_list(x, o.need[need].n);
        for (uint32_t i = 0; i < o.need[need].n; i++)
            etf_put_binary(x, o.need[need].pid[i], strlen(o.need[need].pid[i]));
        etf_put_nil(x);
    }
    etf_put_nil(x);
}

/* Appends another option, what clauses ask of a call's arguments: {filters, [{Clause, Terms,
 * Cond}]}. Returns false when out of memory. */
static bool put_filters(struct buf *x, const struct dif_image *img, const struct tier_options *opt,
                        struct buf *text)
{
    struct filter *f = opt->filters ? et_malloc(sizeof *f) : NULL;
    const uint64_t budget = opt->eventbudget > 0 ? (uint64_t)opt->eventbudget : DIF_BUDGET;
    uint32_t n = 0;
    if (!opt->filters)
        return true;
    if (!f)
        return false;
    etf_put_list(x, 1);
    etf_put_tuple(x, 2);
    etf_put_atom(x, "filters");
    for (uint32_t c = 0; c < img->nclauses && n < FILTERS; c++) {
        if (!filter_find(f, img, c, budget))
            continue;
        n++;
        etf_put_list(x, 1);
        etf_put_tuple(x, 3);
        etf_put_uint(x, c);
        etf_put_uint(x, f->terms);
        filter_put(f, x);
        buf_printf(text, "%s%s:%u: ", n > 1 ? "\n" : "", dif_str(img, img->clauses[c].file),
                   img->clauses[c].line);
        filter_text(f, text);
    }
    etf_put_nil(x);
    et_free(f);
    return true;
}

/* The options that are sent to the agent: the key, when and in which unit, and the value's offset
 * in struct tier_options. See util/options.list. */
static const struct told {
    const char *key;
    enum { ALWAYS, WHEN_SET, NOT_0, MS } when;
    size_t at;
} told[] = {
#define TELL_TOOL(name, key, when)
#define TELL_TIER(name, key, when)
#define TELL_AGENT(name, key, when) {#key, when, offsetof(struct tier_options, name)},
#define OPTION(name, type, standard, least, most, words, by, phase, to, key, when, text, more)     \
    TELL_##to(name, key, when)
#include "util/options.list"
#undef OPTION
};

static int64_t *told_value(const struct tier_options *opt, const struct told *o)
{
    return (int64_t *)((char *)opt + o->at);
}

/* Appends [[Name | Fields]]. */
static void put_records(struct buf *x, const struct tier_record *r, size_t n)
{
    etf_put_list(x, n);
    for (size_t i = 0; i < n; i++) {
        etf_put_list(x, 1 + r[i].nfields);
        etf_put_binary(x, r[i].name, strlen(r[i].name));
        for (size_t k = 0; k < r[i].nfields; k++)
            etf_put_binary(x, r[i].field[k], strlen(r[i].field[k]));
        etf_put_nil(x);
    }
    etf_put_nil(x);
}

/* Appends [{Key, N}]. loads: the program may have probes in code to come. */
static void put_options(struct buf *x, const struct tier_options *opt, bool loads)
{
    if (loads) {
        etf_put_list(x, 1);
        put_option(x, "loads", 1);
    }
    if (opt->nredact > 0) {
        etf_put_list(x, 1);
        etf_put_tuple(x, 2);
        etf_put_atom(x, "redact");
        for (size_t i = 0; i < opt->nredact; i++) {
            etf_put_list(x, 1);
            etf_put_binary(x, opt->redact[i], strlen(opt->redact[i]));
        }
        etf_put_nil(x);
    }
    if (opt->nrecords > 0) {
        etf_put_list(x, 1);
        etf_put_tuple(x, 2);
        etf_put_atom(x, "records");
        put_records(x, opt->records, opt->nrecords);
    }
    if (opt->ntold > 0) {
        etf_put_list(x, 1);
        etf_put_tuple(x, 2);
        etf_put_atom(x, "told");
        for (size_t i = 0; i < opt->ntold; i++)
            debug_put_told(x, &opt->told[i], opt->told[i].module);
        etf_put_nil(x);
    }
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const struct told *o = &told[i];
        int64_t v = *told_value(opt, o);
        if (o->when == ALWAYS || v > 0 || (o->when == WHEN_SET && v == 0)) {
            etf_put_list(x, 1);
            put_option(x, o->key, (uint64_t)(o->when == MS ? (v + 999999) / 1000000 : v));
        }
    }
    etf_put_nil(x);
}

/* Reads [{Name, N}]: sizes as granted, and what the probes were placed on. */
static void read_granted(struct etf *r, struct tier_options *opt, uint64_t *processes)
{
    char name[ETF_ATOM_MAX];
    uint32_t n = etf_list(r);
    *processes = UINT64_MAX;
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        if (etf_tuple(r) != 2)
            r->bad = true;
        etf_atom(r, name);
        uint64_t value = etf_uint(r);
        if (strcmp(name, "processes") == 0)
            *processes = value;
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            if (strcmp(told[k].key, name) == 0)
                *told_value(opt, &told[k]) = (int64_t)value;
    }
    if (n)
        etf_list_end(r);
}

static void count_text(struct buf *b, uint64_t n, const char *one, const char *many)
{
    if (n > 0)
        buf_printf(b, "%s%llu %s", b->len ? ", " : "", (unsigned long long)n, n == 1 ? one : many);
}

/* Describes in words what was enabled. `b` is sorted by probe; an id is a kind of one function,
 * three ids apart. */
static void describe(struct vm *v, const struct tier_binding *b, size_t n, uint64_t processes)
{
    uint64_t named = 0, ticks = 0, profiles = 0, fns = 0;
    struct tier_probe p;
    const struct catalog_mod *m;
    const struct catalog_fn *f, *last = NULL;
    uint32_t id = 0;
    for (size_t i = 0; i < n; i++) {
        if (b[i].probe == id || !catalog_probe(&v->catalog, id = b[i].probe, &p, &m, &f))
            continue;
        if (f) {
            fns += f != last;
            last = f;
        } else if (p.kind == PROBE_TICK) {
            ticks++;
        } else if (p.kind == PROBE_PROFILE || p.kind == PROBE_WALL) {
            profiles++;
        } else if (p.kind > PROBE_TICK) {
            named++;
        }
    }
    buf_reset(&v->text);
    count_text(&v->text, named, "process probe", "process probes");
    if (named > 0 && processes != UINT64_MAX) {
        buf_adds(&v->text, " on ");
        buf_printf(&v->text, "%llu %s", (unsigned long long)processes,
                   processes == 1 ? "process" : "processes");
    }
    count_text(&v->text, fns, "function", "functions");
    count_text(&v->text, ticks, "tick", "ticks");
    count_text(&v->text, profiles, "profile", "profiles");
}

/* Appends a list of bindings, sorted as the agent wants them. */
static int put_bindings(struct vm *v, struct buf *x, const struct tier_binding *b, size_t n,
                        struct diags *d)
{
    if (n > 0)
        etf_put_list(x, n);
    for (size_t i = 0; i < n; i++)
        if (!put_binding(v, x, v->img, &b[i]))
            return diag_error(d, ET_EINVAL, NULL, NULL, NULL, "probe id %u is not one of this node",
                              b[i].probe);
    etf_put_nil(x);
    return 0;
}

/* Ends a request with bindings and sends it. Frees x. */
static int send_bindings(struct vm *v, struct buf *x, const struct tier_binding *b, size_t n,
                         struct diags *d)
{
    int e = put_bindings(v, x, b, n, d);
    if (e)
        buf_free(x);
    return e ? e : agent_send(&v->agent, x, d);
}

/* Begins a request that ends with *n bindings. Those that exceed one message are sent ahead, and
 * *b, *n become the rest: the node decodes a message in one step, during which nothing else runs on
 * that scheduler. (Nothing waits for their answers, which are empty.) */
static int begin_bindings(struct vm *v, struct buf *x, int64_t *id, const struct tier_binding **b,
                          size_t *n, struct diags *d)
{
    int e = 0;
    for (; *n > BINDINGS && e == 0; *b += BINDINGS, *n -= BINDINGS) {
        agent_begin(&v->agent, x, id);
        etf_put_tuple(x, 2);
        etf_put_atom(x, "bindings");
        e = send_bindings(v, x, *b, BINDINGS, d);
    }
    if (e == 0)
        agent_begin(&v->agent, x, id);
    return e;
}

/* Sets the callback for progress while an answer is awaited; opt NULL: none. */
static void tell_progress(struct vm *v, const struct tier_options *opt)
{
    v->agent.at = (struct tier_progress){.unit = "functions"};
    v->agent.progress = opt ? opt->progress : NULL;
    v->agent.progress_arg = opt ? opt->progress_arg : NULL;
}

static int vm_enable(struct tier *t, const struct dif_image *img, const void *image, size_t len,
                     const struct tier_binding *b, size_t n, struct tier_options *opt,
                     struct diags *d)
{
    struct vm *v = vm_of(t);
    struct buf x = BUF_INIT;
    struct etf r;
    int64_t id;
    uint32_t arity;
    uint64_t processes = UINT64_MAX;
    v->img = img;
    int e = check_follows(v, b, n, d);
    if (e != 0)
        return e;
    struct tier_binding *sorted = et_malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    if (n > 0)
        memcpy(sorted, b, n * sizeof *b);
    qsort(sorted, n, sizeof *sorted, by_probe);
    if (!settle_counts(v, img, opt, sorted, n)) {
        et_free(sorted);
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    }
    const struct tier_binding *last = sorted;
    size_t nlast = n;
    e = begin_bindings(v, &x, &id, &last, &nlast, d);
    if (e == 0) {
        etf_put_tuple(&x, 4);
        etf_put_atom(&x, "enable");
        etf_put_binary(&x, image, len);
        put_only(v, &x, img, sorted, n, opt);
        x.oom = !put_filters(&x, img, opt, &v->filters) || x.oom;
        put_options(&x, opt, v->catalog.have_modules);
        e = send_bindings(v, &x, last, nlast, d);
    }
    tell_progress(v, opt);
    if (e == 0)
        e = agent_answer(&v->agent, id, ENABLE_MS, &r, &arity, d);
    tell_progress(v, NULL);
    if (e == 0) {
        if (arity != 2)
            r.bad = true;
        read_granted(&r, opt, &processes);
        opt->ncpus = v->ncpus;
        agent_warnings(&r, d);
        if (r.bad)
            e = agent_malformed(&v->agent, "enable", d);
    }
    if (e == 0) {
        v->opt = *opt;
        catalog_settle(&v->catalog);
        v->opt.later = NULL; /* it was borrowed */
        describe(v, sorted, n, processes);
        watchers_tell(img, v->os_pid, v->passes, d);
    }
    et_free(sorted);
    if (e == 0 && opt->clocks)
        e = vm_clock_begin(v, d);
    return e;
}

/* Handles a module that the node has loaded. The message can arrive while matching, so it is
 * queued. */
static void on_loaded(void *arg, const char *module, int64_t serial)
{
    struct vm *v = arg;
    buf_add(&v->loaded, module, strlen(module) + 1);
    v->load = serial;
}

static bool vm_grown(struct tier *t)
{
    struct vm *v = vm_of(t);
    if (v->loaded.len == 0 || !v->running || v->lost || v->asked != 0)
        return false;
    v->answering = v->load;
    for (size_t i = 0; i < v->loaded.len && !v->loaded.oom; i += strlen(v->loaded.data + i) + 1) {
        const char *module = v->loaded.data + i;
        v->loaded.oom |= !catalog_loaded(&v->catalog, module);
        for (size_t k = 0; k < v->opt.ntold; k++)
            if (strcmp(v->opt.told[k].module->module, module) == 0) {
                buf_add(&v->again, module, strlen(module) + 1);
                break;
            }
        v->loaded.oom |= v->again.oom;
    }
    if (!v->loaded.oom)
        buf_reset(&v->loaded);
    return true;
}

static int vm_match_new(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                        struct diags *d)
{
    return catalog_match_new(&vm_of(t)->catalog, spec, fn, arg, d);
}

static int vm_extend(struct tier *t, const struct tier_binding *b, size_t n, struct diags *d)
{
    struct vm *v = vm_of(t);
    struct buf x = BUF_INIT;
    struct etf r;
    int64_t id;
    uint32_t arity;
    if (v->loaded.oom)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    catalog_settle(&v->catalog);
    int e = debug_again(&v->agent, &v->opt, &v->again, d);
    buf_reset(&v->again);
    if (e == 0)
        e = check_follows(v, b, n, d);
    if (e == 0)
        e = begin_bindings(v, &x, &id, &b, &n, d);
    if (e == 0) {
        etf_put_tuple(&x, 3);
        etf_put_atom(&x, "extend");
        etf_put_int(&x, v->answering);
        e = send_bindings(v, &x, b, n, d);
    }
    if (e == 0)
        e = agent_answer(&v->agent, id, ENABLE_MS, &r, &arity, d);
    if (e == 0 && arity > 0)
        agent_warnings(&r, d);
    return e;
}

/* Reads atoms as words. */
static void read_words(struct etf *r, char *out, size_t size)
{
    char name[ETF_ATOM_MAX];
    size_t len = 0;
    uint32_t n = etf_list(r);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        size_t more = etf_atom(r, name);
        if (r->bad || len + more + 2 > size)
            continue;
        len += (size_t)sprintf(out + len, "%s%s", len > 0 ? " " : "", name);
    }
    if (n)
        etf_list_end(r);
}

/* Reads [{Name, Number | [atom()]}]. */
static void read_placed(struct etf *r, struct tier_placed *p)
{
    const struct {
        const char *name;
        uint64_t *n;
        char *words;
    } field[] = {
        {"meta", &p->meta, NULL},
        {"counted", &p->counted, NULL},
        {"filtered", &p->filtered, NULL},
        {"local", &p->local, NULL},
        {"global", &p->global, NULL},
        {"processes", &p->processes, NULL},
        {"flags", NULL, p->flags},
        {"only_processes", &p->only_processes, NULL},
        {"only_flags", NULL, p->only_flags},
        {"ports", &p->ports, NULL},
        {"monitors", NULL, p->monitors},
        {"clocks", NULL, p->clocks},
        {"ns", &p->ns, NULL},
        {"calls", &p->calls, NULL},
    };
    enum { FIELDS = sizeof field / sizeof *field };
    char name[ETF_ATOM_MAX];
    memset(p, 0, sizeof *p);
    uint32_t n = etf_list(r);
    for (uint32_t i = 0, k; i < n && !r->bad; i++) {
        if (etf_tuple(r) != 2)
            r->bad = true;
        etf_atom(r, name);
        for (k = 0; k < FIELDS && strcmp(field[k].name, name) != 0; k++)
            ;
        if (k == FIELDS)
            etf_skip(r);
        else if (field[k].n)
            *field[k].n = etf_uint(r);
        else
            read_words(r, field[k].words, sizeof p->flags);
    }
    if (n)
        etf_list_end(r);
}

static int vm_prepare(struct tier *t, struct diags *d)
{
    struct vm *v = vm_of(t);
    struct etf r;
    uint32_t arity;
    tell_progress(v, &v->opt);
    int e = agent_call(&v->agent, "place", ENABLE_MS, &r, &arity, d);
    tell_progress(v, NULL);
    if (e)
        return e;
    if (arity != 2)
        r.bad = true;
    agent_warnings(&r, d);
    read_placed(&r, &v->placed);
    v->placed.filters = v->filters.oom ? NULL : buf_str(&v->filters);
    return r.bad ? agent_malformed(&v->agent, "place", d) : 0;
}

static int vm_go(struct tier *t, struct diags *d)
{
    struct vm *v = vm_of(t);
    struct etf r;
    uint32_t arity;
    int e = agent_call(&v->agent, "go", ENABLE_MS, &r, &arity, d);
    if (e)
        return e;
    v->running = true;
    vm_read_begin(v);
    return r.bad ? agent_malformed(&v->agent, "go", d) : 0;
}

/* -- the rest ---------------------------------------------------------------------------------- */

/* Makes the agent undo everything. */
static void leave(struct vm *v, int timeout_ms)
{
    struct diags d;
    struct etf r;
    uint32_t arity;
    if (!v->agent.open || v->agent.ended)
        return;
    diags_init(&d);
    agent_call(&v->agent, "close", timeout_ms, &r, &arity, &d);
    diags_free(&d);
    v->agent.open = false;
}

static void vm_give_up(struct tier *t)
{
    leave(vm_of(t), GIVE_UP_MS);
}

static void close_fds(struct vm *v)
{
    if (v->epoll >= 0)
        close(v->epoll);
    if (v->timer >= 0)
        close(v->timer);
    v->epoll = v->timer = -1;
}

static void vm_abandon(struct tier *t)
{
    struct vm *v = vm_of(t);
    v->agent.ended = true; /* there is no one to send a goodbye to */
    conn_close(v->conn);
    v->conn = NULL;
    close_fds(v);
}

static void vm_close(struct tier *t)
{
    struct vm *v = vm_of(t);
    leave(v, CLOSE_MS);
    conn_close(v->conn);
    talk_close(v->talk);
    catalog_free(&v->catalog);
    buf_free(&v->text);
    buf_free(&v->filters);
    buf_free(&v->held);
    buf_free(&v->symbols);
    arena_free(&v->names);
    buf_free(&v->loaded);
    buf_free(&v->again);
    close_fds(v);
    et_free(v);
}

static const char *vm_target(struct tier *t)
{
    return vm_of(t)->node;
}

static const char *vm_node(struct tier *t)
{
    return vm_of(t)->called[0] != '\0' ? vm_of(t)->called : NULL;
}

static int vm_members(struct tier *t, tier_member_fn fn, void *arg, struct diags *d)
{
    struct vm *v = vm_of(t);
    struct etf r;
    uint32_t arity;
    int e = agent_call(&v->agent, "members", CONNECT_MS, &r, &arity, d);
    if (e)
        return e;
    vm_read_members(&r, fn, arg);
    return r.bad || arity != 1 ? agent_malformed(&v->agent, "members", d) : 0;
}

static int vm_fd(struct tier *t)
{
    return vm_of(t)->epoll;
}

static const char *vm_enabled(struct tier *t)
{
    return vm_of(t)->text.len ? buf_str(&vm_of(t)->text) : NULL;
}

static const struct tier_placed *vm_placed(struct tier *t)
{
    return &vm_of(t)->placed;
}

/* A name alone does not identify a node, since two hosts or containers may use it. The pid of the
 * agent does. */
static bool vm_same(struct tier *t, struct tier *other)
{
    const erlang_pid *x = &vm_of(t)->agent.pid, *y = &vm_of(other)->agent.pid;
    return strcmp(x->node, y->node) == 0 && x->creation == y->creation && x->num == y->num &&
           x->serial == y->serial && vm_of(t)->os_pid == vm_of(other)->os_pid;
}

static int vm_examine(struct tier *t, int *otp, tier_finding_fn fn, void *arg, struct diags *d)
{
    *otp = vm_of(t)->otp;
    return agent_examine(&vm_of(t)->agent, fn, arg, d);
}

static int vm_records(struct tier *t, const char *pattern, size_t most, struct tier_modules *out,
                      struct arena *mem, struct diags *d)
{
    struct vm *v = vm_of(t);
    return debug_records(&v->agent, &v->catalog, pattern, most, out, mem, d);
}

static const struct tier_ops vm_ops = {
    .name = "vm",
    .place = WORD_VM,
    .match = vm_match,
    .suggest = vm_suggest,
    .lacking = vm_lacking,
    .enable = vm_enable,
    .prepare = vm_prepare,
    .give_up = vm_give_up,
    .go = vm_go,
    .work = vm_work,
    .stop = vm_stop,
    .abandon = vm_abandon,
    .close = vm_close,
    .unfetched = vm_unfetched,
    .target = vm_target,
    .node = vm_node,
    .members = vm_members,
    .ask_members = vm_ask_members,
    .silent = vm_silent,
    .same = vm_same,
    .fd = vm_fd,
    .grown = vm_grown,
    .match_new = vm_match_new,
    .extend = vm_extend,
    .enabled = vm_enabled,
    .examine = vm_examine,
    .placed = vm_placed,
    .rates = vm_rates,
    .records = vm_records,
    .symbol = vm_symbol,
    .clock = vm_clock,
};

struct vm *tier_vm_of(struct tier *t)
{
    return t->ops == &vm_ops ? vm_of(t) : NULL;
}

pid_t tier_vm_pid(struct tier *t)
{
    return t->ops == &vm_ops ? vm_of(t)->os_pid : 0;
}

uint64_t tier_vm_passes(struct tier *t)
{
    return t->ops == &vm_ops ? vm_of(t)->passes : 0;
}

/* Registers us as a consumer, and starts the heartbeat. */
static int open_consumer(struct vm *v, const struct agent_options *opt, struct diags *d)
{
    struct buf x = BUF_INIT;
    struct etf r;
    uint32_t arity, n;
    char key[ETF_ATOM_MAX], prov[32];
    int otp = 0, lease_ms = opt->lease_ms, e = agent_open(&v->agent, v->conn, opt, &r, &arity, d);
    if (e)
        return e;
    v->agent.loaded = on_loaded;
    v->agent.loaded_arg = v;
    n = etf_list(&r);
    for (uint32_t i = 0; i < n && !r.bad; i++) {
        if (etf_tuple(&r) != 2)
            r.bad = true;
        etf_atom(&r, key);
        if (strcmp(key, "pid") == 0)
            v->os_pid = (pid_t)etf_uint(&r);
        else if (strcmp(key, "passes") == 0)
            v->passes = etf_uint(&r);
        else if (strcmp(key, "otp") == 0)
            otp = (int)etf_uint(&r);
        else if (strcmp(key, "node") == 0)
            etf_atom(&r, v->called);
        else if (strcmp(key, "cpus") == 0)
            v->ncpus = (uint32_t)etf_uint(&r);
        else if (strcmp(key, "warnings") == 0)
            agent_warnings(&r, d);
        else
            etf_skip(&r);
    }
    if (n)
        etf_list_end(&r);
    if (r.bad || arity != 1 || v->os_pid <= 0)
        return agent_malformed(&v->agent, "open", d);
    etf_put_version(&x);
    etf_put_tuple(&x, 3);
    etf_put_atom(&x, "erltrace");
    conn_put_self(v->conn, &x);
    etf_put_atom(&x, "alive");
    e = conn_heartbeat(v->conn, &v->agent.pid, &x, lease_ms / BEATS > 0 ? lease_ms / BEATS : 1);
    buf_free(&x);
    if (e)
        return diag_error(d, e, NULL, NULL, NULL, "%s", et_strerror(e));
    v->otp = otp;
    snprintf(prov, sizeof prov, "erlang%d", (int)v->os_pid);
    struct catalog_source src = {
        .arg = &v->agent, .modules = code_modules, .functions = code_functions};
    e = catalog_init(&v->catalog, prov, otp, &src);
    return e ? diag_error(d, e, NULL, NULL, NULL, "%s", et_strerror(e)) : 0;
}

/* Opens the descriptor that fd() returns. */
static int open_fds(struct vm *v, struct diags *d)
{
    struct epoll_event ev = {.events = EPOLLIN};
    v->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    v->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (v->timer < 0 || v->epoll < 0 || epoll_ctl(v->epoll, EPOLL_CTL_ADD, v->timer, &ev) < 0 ||
        epoll_ctl(v->epoll, EPOLL_CTL_ADD, conn_fd(v->conn), &ev) < 0)
        return diag_error(d, ET_EIO, NULL, NULL, NULL, "cannot wait for %s: %m", v->node);
    return 0;
}

/* Connects in the way that the options request; v->node is then the node's name, as far as it is
 * known. */
static int connect_to(struct vm *v, const struct node_options *opt, struct diags *d)
{
    struct reach reach;
    if (opt->by_relay) {
        snprintf(v->node, sizeof v->node, "%s", opt->name);
        int e = relay_open(&v->conn, opt->relay);
        return e ? diag_error(d, e, NULL, NULL, NULL, "%s", et_strerror(e)) : 0;
    }
    int e = reach_find(&reach, opt, d);
    if (e == 0)
        e = reach_connect(&reach, CONNECT_MS, &v->conn, d);
    snprintf(v->node, sizeof v->node, "%s", reach.node);
    reach_free(&reach);
    return e;
}

int tier_vm_open(const struct node_options *opt, struct tier **out, struct diags *d)
{
    struct vm *v = et_calloc(1, sizeof *v);
    *out = NULL;
    if (!v && opt->by_relay)
        close(opt->relay);
    if (!v)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    v->tier.ops = &vm_ops;
    v->epoll = v->timer = -1;
    int e = talk_open(&v->talk, d);
    if (e && opt->by_relay)
        close(opt->relay);
    if (e == 0)
        e = connect_to(v, opt, d);
    if (e == 0) {
        talk_with(v->talk, v->node);
        conn_log(v->conn, v->talk);
    }
    struct agent_options ao = {.node = v->node,
                               .root = opt->root,
                               .dir = opt->agent_dir,
                               .lease_ms = opt->lease_ms > 0 ? opt->lease_ms : LEASE_MS};
    if (e == 0)
        e = open_consumer(v, &ao, d);
    if (e == 0)
        e = open_fds(v, d);
    if (e) {
        vm_close(&v->tier);
        return e;
    }
    *out = &v->tier;
    return 0;
}
