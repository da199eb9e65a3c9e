/* local.c - the local tier: programs with only dtrace and profile:::tick probes, run in this
 * process on this thread.
 *
 * Probes: 1 BEGIN, 2 END, 3 ERROR, then one for each tick name that was asked for. `work` sleeps
 * until the next tick is due or data is to be read, fires, drains, reports. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "tier/tier.h"

enum { LOCAL_THREADS = 4, DRAIN_LIMIT = 1 << 20, FIXED = 3 };

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
    struct local_probe *probe; /* index id - 1 */
    uint32_t nprobes, capprobes;
    struct engine *engine;
    struct buf drained;
    uint64_t switchrate, aggrate; /* ns, 0: at once */
    uint64_t next_read, next_aggs;
    bool stopped;
};

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

static struct local *self(struct tier *t)
{
    return (struct local *)(void *)t;
}

/* Adds a probe; NULL when memory is out. */
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
    struct local_probe *p = &l->probe[l->nprobes++];
    *p = (struct local_probe){.probe = {.id = l->nprobes,
                                        .prov = prov,
                                        .mod = "",
                                        .func = "",
                                        .name = copy,
                                        .kind = kind,
                                        .period = period}};
    p->identity = (struct engine_probe){l->nprobes, prov, "", "", copy};
    return p;
}

static int local_match(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                       struct diags *d)
{
    struct local *l = self(t);
    uint64_t period;
    if (spec->id == 0 && probe_glob_provider(spec->prov, "profile") && spec->mod[0] == '\0' &&
        spec->func[0] == '\0' && probe_tick_period(spec->name, &period)) {
        bool known = false;
        for (uint32_t i = FIXED; i < l->nprobes; i++)
            known |= strcmp(l->probe[i].probe.name, spec->name) == 0;
        if (!known && probe_add(l, PROBE_TICK, "profile", spec->name, period) == NULL)
            return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    }
    for (uint32_t i = 0; i < l->nprobes; i++) {
        const struct tier_probe *p = &l->probe[i].probe;
        bool hit = spec->id != 0
                       ? spec->id == p->id
                       : probe_glob(spec->prov, p->prov) && probe_glob(spec->mod, p->mod) &&
                             probe_glob(spec->func, p->func) && probe_glob(spec->name, p->name);
        int err = hit ? fn(arg, p) : 0;
        if (err)
            return err;
    }
    return 0;
}

static const char *local_suggest(struct tier *t, const struct probe_spec *spec)
{
    static const char *const names[] = {"BEGIN", "END", "ERROR", "tick-1sec"};
    const char *near = diag_nearest(spec->name, names, sizeof names / sizeof *names);
    return near != NULL
               ? arena_printf(&self(t)->arena, "did you mean '%s'?", near)
               : "this program runs in the local tier, which has BEGIN, END, ERROR and tick-N";
}

/* Shares the bindings out to their probes, keeping their order. */
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
        err = dif_verify(&copy, d);
    if (err) {
        dif_image_free(&copy);
        return err;
    }
    struct engine_options eo = {.threads = LOCAL_THREADS,
                                .bufsize = opt->bufsize,
                                .aggsize = opt->aggsize,
                                .dynvarsize = opt->dynvarsize,
                                .specsize = opt->specsize,
                                .nspec = opt->nspec,
                                .pid = (int32_t)getpid()};
    err = engine_create(&copy, &eo, &l->engine, d);
    if (err)
        return err;
    opt->bufsize = eo.bufsize;
    opt->aggsize = eo.aggsize;
    opt->dynvarsize = eo.dynvarsize;
    opt->specsize = eo.specsize;
    l->switchrate = opt->switchrate;
    l->aggrate = opt->aggrate;
    if (bind(l, b, n) != 0)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    engine_set_error_bindings(l->engine, l->probe[2].bindings, l->probe[2].nbindings,
                              &l->probe[2].identity);
    return 0;
}

static void fire(struct local *l, struct local_probe *p)
{
    struct engine_thread *t = engine_thread_self();
    if (p->nbindings == 0 || t == NULL)
        return;
    struct engine_ctx ctx = {.probe = &p->identity, .self = 1};
    engine_enter(t);
    engine_fire(l->engine, t, &ctx, p->bindings, p->nbindings);
    engine_leave(t);
}

static int local_go(struct tier *t, struct diags *d)
{
    (void)d;
    struct local *l = self(t);
    engine_set_phase(l->engine, ENGINE_BEGIN);
    fire(l, &l->probe[0]);
    engine_set_phase(l->engine, ENGINE_RUNNING);
    uint64_t now = now_ns();
    for (uint32_t i = FIXED; i < l->nprobes; i++)
        l->probe[i].due = now + l->probe[i].probe.period;
    l->next_read = now + l->switchrate;
    l->next_aggs = now + l->aggrate;
    return 0;
}

/* The earliest time at which a tick is due, UINT64_MAX when there is none. */
static uint64_t next_due(const struct local *l)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = FIXED; i < l->nprobes; i++)
        if (l->probe[i].nbindings > 0 && l->probe[i].due < first)
            first = l->probe[i].due;
    return first;
}

static void sleep_until(uint64_t when, uint64_t limit)
{
    uint64_t now = now_ns();
    when = when < limit ? when : limit;
    if (when <= now)
        return;
    struct timespec ts = {(time_t)((when - now) / 1000000000), (long)((when - now) % 1000000000)};
    ppoll(NULL, 0, &ts, NULL); /* a signal ends it, as it should */
}

/* Fires the ticks that are due, in order of time; of several missed periods one firing is made up
 * for. */
static void fire_due(struct local *l)
{
    for (uint64_t now = now_ns(); !engine_exiting(l->engine);) {
        struct local_probe *first = NULL;
        for (uint32_t i = FIXED; i < l->nprobes; i++) {
            struct local_probe *p = &l->probe[i];
            if (p->nbindings > 0 && p->due <= now && (first == NULL || p->due < first->due))
                first = p;
        }
        if (first == NULL)
            return;
        fire(l, first);
        first->due += first->probe.period * (1 + (now - first->due) / first->probe.period);
    }
}

static int drain(struct local *l, unsigned what, const struct tier_sink *sink, struct diags *d)
{
    engine_flip(l->engine,
                what); /* quiet by nature: this thread is the only one, and outside any event */
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
    uint64_t now = now_ns(), limit = now + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000;
    if (!l->stopped) {
        if (!flush && !engine_exiting(l->engine) && !engine_pending(l->engine, ENGINE_PRINCIPAL))
            sleep_until(next_due(l), limit);
        fire_due(l);
        now = now_ns();
    }
    bool over = l->stopped || engine_exiting(l->engine) || flush;
    unsigned what = 0;
    if (over || now >= l->next_read) {
        what |= ENGINE_PRINCIPAL;
        l->next_read = now + l->switchrate;
    }
    if (over || now >= l->next_aggs) {
        what |= ENGINE_AGGS;
        l->next_aggs = now + l->aggrate;
    }
    /* Aggregations first: an action on one that a record asks for then finds all that came before
     * the record. */
    int err = what & ENGINE_AGGS ? drain(l, ENGINE_AGGS, sink, d) : 0;
    if (err == 0 && (what & ENGINE_PRINCIPAL) != 0)
        err = drain(l, ENGINE_PRINCIPAL, sink, d);
    if (err)
        return err;
    struct engine_counts c;
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
    engine_set_phase(l->engine, ENGINE_END);
    fire(l, &l->probe[1]);
    engine_set_phase(l->engine, ENGINE_STOPPED);
    l->stopped = true;
    return 0;
}

static void local_close(struct tier *t)
{
    struct local *l = self(t);
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

static void local_rates(struct tier *t, uint64_t switchrate, uint64_t aggrate)
{
    struct local *l = self(t);
    uint64_t now = now_ns();
    l->switchrate = switchrate;
    l->aggrate = aggrate;
    l->next_read = now + switchrate;
    l->next_aggs = now + aggrate;
}

static const struct tier_ops local_ops = {
    .name = "local",
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
    for (int i = 0; ok && i < FIXED; i++)
        ok = probe_add(l, fixed[i].kind, "dtrace", fixed[i].name, 0) != NULL;
    if (ok) {
        *out = &l->tier;
        return 0;
    }
    if (l != NULL)
        local_close(&l->tier);
    return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory");
}
