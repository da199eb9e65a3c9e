/* local.c - the local tier: programs with only dtrace and profile probes, run in this process.
 *
 * Probes: BEGIN, END, ERROR, the default intervals, then one for each requested interval. `work`
 * sleeps until the next tick is due or data is to be read, fires, drains and reports, all on one
 * thread. Only profile-N fires on separate threads, one per CPU (sampler.h), which run from go to
 * stop. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/glob.h"
#include "engine/engine.h"
#include "tier/sampler.h"
#include "tier/tier.h"
#include "util/buftext.h"
#include "util/render.h"

enum { SPARE_THREADS = 4, DRAIN_LIMIT = 1 << 20, FIXED = 3, PACE_NS = 10000000 };

struct local_probe {
    struct tier_probe probe;
    struct engine_probe identity;
    struct engine_binding *bindings; /* in program order */
    uint32_t nbindings;
    uint64_t due; /* next firing, CLOCK_MONOTONIC ns */
};

struct local {
    struct tier tier;
    struct arena arena;
    struct local_probe *probe; /* the first FIXED are BEGIN, END and ERROR */
    uint32_t nprobes, capprobes;
    struct engine *engine;
    struct sampler *sampler; /* NULL: no profile probe is enabled, or it is not running */
    struct engine_mark mark;
    struct buf drained;
    uint64_t switchrate, aggrate; /* ns, 0: immediately */
    uint64_t next_read, next_aggs;
    bool stopped;
    bool pinned; /* to the CPU of the option; `before` has the CPUs that this thread may otherwise
                    use */
    cpu_set_t before;
};

static struct local *self(struct tier *t)
{
    return (struct local *)(void *)t;
}

/* Adds a probe; returns NULL when memory is exhausted. */
static struct local_probe *probe_add(struct local *l, enum probe_kind kind, const char *prov,
                                     const char *name, uint64_t period)
{
    if (l->nprobes == l->capprobes) {
        uint32_t cap = l->capprobes ? l->capprobes * 2 : 8;
        void *p = et_realloc(l->probe, cap * sizeof *l->probe);
        if (p == NULL)
            return NULL;
        l->probe = p;
        l->capprobes = cap;
    }
    const char *copy = arena_strdup(&l->arena, name);
    if (copy == NULL)
        return NULL;
    size_t ndef;
    probe_intervals(&ndef);
    uint32_t i = l->nprobes++, def = i - FIXED, asked = def - (uint32_t)ndef;
    uint32_t id = i < FIXED ? i + 1 : def < ndef ? TIER_ID_DEFAULT + def : TIER_ID_INTERVAL + asked;
    struct local_probe *p = &l->probe[i];
    *p = (struct local_probe){.probe = {.id = id,
                                        .prov = prov,
                                        .mod = "",
                                        .func = "",
                                        .name = copy,
                                        .kind = kind,
                                        .period = period}};
    p->identity = (struct engine_probe){id, prov, "", "", copy};
    return p;
}

static int local_match(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                       struct diags *d)
{
    struct local *l = self(t);
    uint64_t period;
    enum probe_kind kind;
    if (spec->id == 0 && probe_glob_provider(spec->prov, "profile") && spec->mod[0] == '\0' &&
        spec->func[0] == '\0' && probe_interval(spec->name, &period, &kind)) {
        bool known = false;
        for (uint32_t i = FIXED; i < l->nprobes; i++)
            known |= strcmp(l->probe[i].probe.name, spec->name) == 0;
        if (!known && probe_add(l, kind, "profile", spec->name, period) == NULL)
            return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    }
    for (uint32_t i = 0; i < l->nprobes; i++) {
        const struct tier_probe *p = &l->probe[i].probe;
        bool hit = spec->id != 0
                       ? spec->id == p->id
                       : glob_match(spec->prov, p->prov) && glob_match(spec->mod, p->mod) &&
                             glob_match(spec->func, p->func) && glob_match(spec->name, p->name);
        int err = hit ? fn(arg, p) : 0;
        if (err)
            return err;
    }
    return 0;
}

static const char *local_suggest(struct tier *t, const struct probe_spec *spec)
{
    static const char *const names[] = {"BEGIN", "END", "ERROR", "tick-1sec", "profile-97"};
    static const char *const providers[] = {"dtrace", "profile"};
    struct arena *a = &self(t)->arena;
    bool known =
        probe_glob_provider(spec->prov, "dtrace") || probe_glob_provider(spec->prov, "profile");
    const char *what = known ? "probe" : "provider", *name = known ? spec->name : spec->prov;
    const char *near = known ? diag_nearest(name, names, sizeof names / sizeof *names)
                             : diag_nearest(name, providers, sizeof providers / sizeof *providers);
    if (spec->id != 0)
        return arena_printf(a, "no probe has the id %u; -l lists them", spec->id);
    if (known && (spec->mod[0] != '\0' || spec->func[0] != '\0'))
        return "the probes of the local tier have neither module nor function";
    if (known && (strncmp(name, "tick-", 5) == 0 || strncmp(name, "profile-", 8) == 0))
        return "intervals are tick-N and profile-N[ns|us|ms|s|m|h|d|hz], at least 200us";
    return near != NULL ? arena_printf(a, "no %s '%s'; did you mean '%s'?", what, name, near)
                        : "this program runs in the local tier, which has BEGIN, END, ERROR, "
                          "tick-N and profile-N";
}

/* Distributes the bindings to their probes, keeping their order. */
static int bind(struct local *l, const struct tier_binding *b, size_t n)
{
    for (uint32_t i = 0; i < l->nprobes; i++) {
        struct local_probe *p = &l->probe[i];
        p->nbindings = 0;
        p->bindings = arena_alloc(&l->arena, (n + 1) * sizeof *p->bindings);
        if (p->bindings == NULL)
            return ET_ENOMEM;
        for (size_t k = 0; k < n; k++)
            if (b[k].probe == p->probe.id)
                p->bindings[p->nbindings++] = (struct engine_binding){b[k].epid, b[k].clause};
    }
    return 0;
}

/* Moves this thread, which fires everything, to the CPU of the option cpu. */
static int pin(struct local *l, int64_t number, struct diags *d)
{
    uint32_t cpu = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    cpu_set_t set;
    CPU_ZERO(&set);
    errno = EINVAL;
    if (cpu < CPU_SETSIZE)
        CPU_SET(cpu, &set);
    if (sched_getaffinity(0, sizeof l->before, &l->before) != 0 || cpu >= CPU_SETSIZE ||
        sched_setaffinity(0, sizeof set, &set) != 0)
        return diag_error(d, ET_EINVAL, NULL, "", "option cpu is the number of a processor",
                          "could not enable tracing: there is no CPU %u", cpu);
    l->pinned = true;
    return 0;
}

/* Returns the number of threads that profile probes need, if any is enabled. */
static uint32_t samplers(const struct local *l, const struct tier_binding *b, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (uint32_t i = FIXED; i < l->nprobes; i++)
            if (l->probe[i].probe.id == b[k].probe && l->probe[i].probe.kind == PROBE_PROFILE)
                return sampler_cpus();
    return 0;
}

static int local_enable(struct tier *t, const struct dif_image *img, const void *image, size_t len,
                        const struct tier_binding *b, size_t n, struct tier_options *opt,
                        struct diags *d)
{
    (void)img;
    struct local *l = self(t);
    struct dif_image copy;
    dif_image_init(&copy);
    int err = dif_decode(&copy, image, len, d);
    if (err == 0)
        err = dif_verify_for(&copy, WORD_LOCAL, d);
    if (err) {
        dif_image_free(&copy);
        return err;
    }
    if (opt->cpu >= 0 && (err = pin(l, opt->cpu, d)) != 0) {
        dif_image_free(&copy);
        return err;
    }
    engine_thread_self(); /* registers this thread before threads are counted */
    struct engine_options eo = {.threads =
                                    engine_thread_count() + SPARE_THREADS + samplers(l, b, n),
                                .policy = (enum record_policy)opt->bufpolicy,
                                .fixed = opt->bufresize != 0,
                                .bufsize = opt->bufsize,
                                .aggsize = opt->aggsize,
                                .dynvarsize = opt->dynvarsize,
                                .specsize = opt->specsize,
                                .nspec = (uint32_t)opt->nspec,
                                .eventbudget = opt->eventbudget,
                                .pid = (int32_t)getpid()};
    err = engine_create(&copy, &eo, &l->engine, d);
    if (err)
        return err;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    opt->ncpus = cpus > 0 ? (uint32_t)cpus : 1;
    opt->bufsize = (int64_t)eo.bufsize;
    opt->aggsize = (int64_t)eo.aggsize;
    opt->dynvarsize = (int64_t)eo.dynvarsize;
    opt->specsize = (int64_t)eo.specsize;
    l->switchrate = opt->switchrate;
    l->aggrate = opt->aggrate;
    if (bind(l, b, n) != 0)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    engine_set_error_bindings(l->engine, l->probe[2].bindings, l->probe[2].nbindings,
                              &l->probe[2].identity);
    return engine_set_end_bindings(l->engine, l->probe[1].bindings, l->probe[1].nbindings, d);
}

/* Fires on this thread, `late` ns after the due time. */
static void fire(struct local *l, const struct local_probe *p, uint64_t late)
{
    const struct sampler_probe f = {&p->identity, p->bindings, p->nbindings, p->probe.period};
    sampler_fire(l->engine, &f, 1, late);
}

/* Returns whether this thread fires it. */
static bool is_ours(const struct local_probe *p)
{
    return p->nbindings > 0 && p->probe.kind == PROBE_TICK;
}

/* Starts the threads that fire profile probes, if any is enabled. */
static int start_sampler(struct local *l, struct diags *d)
{
    uint32_t n = 0;
    struct sampler_probe *p = arena_alloc(&l->arena, l->nprobes * sizeof *p);
    if (p == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    for (uint32_t i = FIXED; i < l->nprobes; i++) {
        const struct local_probe *q = &l->probe[i];
        if (q->nbindings > 0 && q->probe.kind == PROBE_PROFILE)
            p[n++] =
                (struct sampler_probe){&q->identity, q->bindings, q->nbindings, q->probe.period};
    }
    return n > 0 ? sampler_start(&l->sampler, l->engine, p, n, d) : 0;
}

static int local_go(struct tier *t, struct diags *d)
{
    struct local *l = self(t);
    engine_set_phase(l->engine, ENGINE_BEGIN);
    fire(l, &l->probe[0], 0);
    engine_set_phase(l->engine, ENGINE_RUNNING);
    uint64_t now = monotonic_ns();
    for (uint32_t i = FIXED; i < l->nprobes; i++)
        l->probe[i].due = now + l->probe[i].probe.period;
    l->next_read = now + l->switchrate;
    l->next_aggs = now + l->aggrate;
    return engine_exiting(l->engine) ? 0 : start_sampler(l, d);
}

/* Returns the earliest time at which a tick is due, UINT64_MAX when there is none. */
static uint64_t next_due(const struct local *l)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = FIXED; i < l->nprobes; i++)
        if (is_ours(&l->probe[i]) && l->probe[i].due < first)
            first = l->probe[i].due;
    return first;
}

static void sleep_until(uint64_t when, uint64_t limit)
{
    uint64_t now = monotonic_ns();
    when = when < limit ? when : limit;
    if (when <= now)
        return;
    struct timespec ts = {(time_t)((when - now) / 1000000000), (long)((when - now) % 1000000000)};
    ppoll(NULL, 0, &ts, NULL); /* a signal ends it, as intended */
}

/* Fires the ticks that are due, in order of time; for several missed periods, one firing is made.
 */
static void fire_due(struct local *l)
{
    for (uint64_t now = monotonic_ns(); !engine_exiting(l->engine);) {
        struct local_probe *first = NULL;
        for (uint32_t i = FIXED; i < l->nprobes; i++) {
            struct local_probe *p = &l->probe[i];
            if (is_ours(p) && p->due <= now && (first == NULL || p->due < first->due))
                first = p;
        }
        if (first == NULL)
            return;
        fire(l, first, now - first->due);
        first->due += first->probe.period * (1 + (now - first->due) / first->probe.period);
    }
}

static int drain(struct local *l, unsigned what, const struct tier_sink *sink, struct diags *d)
{
    engine_flip(l->engine, what);
    engine_mark(&l->mark);
    while (!engine_quiet(&l->mark)) /* a sampler is inside an event, which is short */
        sched_yield();
    for (bool all = false; !all;) {
        buf_reset(&l->drained);
        all = engine_drain(l->engine, what, DRAIN_LIMIT, &l->drained);
        if (l->drained.oom)
            return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for trace data");
        int err = tier_report(&l->tier, engine_image(l->engine), l->drained.data, l->drained.len,
                              sink, d);
        if (err)
            return err;
    }
    return 0;
}

static int local_work(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
                      struct diags *d)
{
    struct local *l = self(t);
    uint64_t now = monotonic_ns(),
             limit = now + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000;
    if (!l->stopped) {
        bool waiting = engine_pending(l->engine, RECORD_PRINCIPAL);
        if (waiting && l->sampler != NULL) /* not for each single record of a sampler */
            limit = now + PACE_NS < limit ? now + PACE_NS : limit;
        if (!flush && !engine_exiting(l->engine) && (!waiting || l->sampler != NULL))
            sleep_until(next_due(l), limit);
        fire_due(l);
        now = monotonic_ns();
    }
    bool over = l->stopped || engine_exiting(l->engine) || flush;
    unsigned what = 0;
    if (over || now >= l->next_read) {
        what |= RECORD_PRINCIPAL;
        l->next_read = now + l->switchrate;
    }
    if (over || now >= l->next_aggs) {
        what |= RECORD_AGGS;
        l->next_aggs = now + l->aggrate;
    }
    /* Aggregations first: an action that a record requests on one then includes all updates before
     * the record. */
    int err = what & RECORD_AGGS ? drain(l, RECORD_AGGS, sink, d) : 0;
    if (err == 0 && (what & RECORD_PRINCIPAL) != 0)
        err = drain(l, RECORD_PRINCIPAL, sink, d);
    if (err)
        return err;
    struct record_counts c;
    engine_counts(l->engine, &c);
    if (sink->counts != NULL)
        sink->counts(sink->arg, t, &c);
    return l->stopped ? TIER_DRAINED : engine_exiting(l->engine) ? TIER_EXITING : TIER_RUNNING;
}

static int local_stop(struct tier *t, struct diags *d)
{
    (void)d;
    struct local *l = self(t);
    if (l->stopped)
        return 0;
    sampler_stop(l->sampler);
    l->sampler = NULL;
    engine_set_phase(l->engine, ENGINE_END);
    fire(l, &l->probe[1], 0);
    engine_set_phase(l->engine, ENGINE_STOPPED);
    l->stopped = true;
    return 0;
}

static void local_close(struct tier *t)
{
    struct local *l = self(t);
    sampler_stop(l->sampler);
    if (l->pinned)
        sched_setaffinity(0, sizeof l->before, &l->before);
    engine_destroy(l->engine);
    buf_free(&l->drained);
    arena_free(&l->arena);
    et_free(l->probe);
    et_free(l);
}

static const char *local_target(struct tier *t)
{
    (void)t;
    return "";
}

static int local_fd(struct tier *t)
{
    (void)t;
    return -1;
}

static const char *local_enabled(struct tier *t)
{
    (void)t;
    return NULL;
}

static void local_rates(struct tier *t, int64_t switchrate, int64_t aggrate)
{
    struct local *l = self(t);
    uint64_t now = monotonic_ns();
    l->switchrate = switchrate;
    l->aggrate = aggrate;
    l->next_read = now + switchrate;
    l->next_aggs = now + aggrate;
}

static const struct tier_ops local_ops = {
    .name = "local",
    .place = WORD_LOCAL,
    .match = local_match,
    .suggest = local_suggest,
    .enable = local_enable,
    .go = local_go,
    .work = local_work,
    .stop = local_stop,
    .close = local_close,
    .target = local_target,
    .fd = local_fd,
    .enabled = local_enabled,
    .rates = local_rates,
};

int tier_local_open(struct tier **out, struct diags *d)
{
    static const struct {
        enum probe_kind kind;
        const char *name;
    } fixed[FIXED] = {{PROBE_BEGIN, "BEGIN"}, {PROBE_END, "END"}, {PROBE_ERROR, "ERROR"}};
    struct local *l = et_calloc(1, sizeof *l);
    bool ok = l != NULL;
    if (ok) {
        l->tier.ops = &local_ops;
        arena_init(&l->arena);
    }
    size_t n;
    const struct probe_interval_def *def = probe_intervals(&n);
    for (int i = 0; ok && i < FIXED; i++)
        ok = probe_add(l, fixed[i].kind, "dtrace", fixed[i].name, 0) != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = probe_add(l, def[i].kind, "profile", def[i].name, def[i].period) != NULL;
    if (ok) {
        *out = &l->tier;
        return 0;
    }
    if (l != NULL)
        local_close(&l->tier);
    return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory");
}
