/* local.c - the local tier: programs with only dtrace and profile probes, run in this process.
 *
 * Probes: BEGIN, END, ERROR, the default intervals, then one for each requested interval. `work`
 * sleeps until the next tick is due or data is to be read, fires, drains and reports, all on one
 * thread. Only profile-N fires on separate threads, one per CPU (sampler.h), which run from go to
 * stop. */
#include <sched.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/err.h"
#include "engine/engine.h"
#include "tier/own.h"
#include "tier/sampler.h"
#include "tier/tier.h"
#include "util/buftext.h"
#include "util/render.h"

enum { SPARE_THREADS = 4 };

struct local {
    struct tier tier;
    struct own own;
    struct engine *engine;
    struct sampler *sampler; /* NULL: no profile probe is enabled, or it is not running */
    struct engine_mark mark;
};

static struct local *self(struct tier *t)
{
    return (struct local *)(void *)t;
}

static int local_match(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                       struct diags *d)
{
    return own_match(&self(t)->own, spec, fn, arg, d);
}

static const char *local_suggest(struct tier *t, const struct probe_spec *spec)
{
    return own_suggest(&self(t)->own, spec, "local");
}

/* Returns the number of threads that profile probes need, if any is enabled. */
static uint32_t samplers(const struct local *l, const struct tier_binding *b, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (uint32_t i = OWN_FIXED; i < l->own.n; i++)
            if (l->own.probe[i].probe.id == b[k].probe &&
                l->own.probe[i].probe.kind == PROBE_PROFILE)
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
    if (opt->cpu >= 0 && (err = own_pin(&l->own, opt->cpu, d)) != 0) {
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
    own_pace(&l->own, opt->switchrate, opt->aggrate);
    err = own_bind(&l->own, b, n, d);
    if (err)
        return err;
    const struct own_probe *error = &l->own.probe[OWN_ERROR], *end = &l->own.probe[OWN_END];
    engine_set_error_bindings(l->engine, error->bindings, error->nbindings, &error->identity);
    return engine_set_end_bindings(l->engine, end->bindings, end->nbindings, d);
}

/* Fires on this thread, `late` ns after the due time. */
static void fire(struct tier *t, const struct own_probe *p, uint64_t late)
{
    const struct sampler_probe f = {&p->identity, p->bindings, p->nbindings, p->probe.period};
    sampler_fire(self(t)->engine, &f, 1, late);
}

/* Starts the threads that fire profile probes, if any is enabled. */
static int start_sampler(struct local *l, struct diags *d)
{
    uint32_t n = 0;
    struct sampler_probe *p = arena_alloc(&l->own.arena, l->own.n * sizeof *p);
    if (p == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    for (uint32_t i = OWN_FIXED; i < l->own.n; i++) {
        const struct own_probe *q = &l->own.probe[i];
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
    fire(t, &l->own.probe[OWN_BEGIN], 0);
    engine_set_phase(l->engine, ENGINE_RUNNING);
    own_start(&l->own);
    return engine_exiting(l->engine) ? 0 : start_sampler(l, d);
}

static bool exiting(struct tier *t)
{
    return engine_exiting(self(t)->engine);
}

static void flip(struct tier *t, unsigned what)
{
    struct local *l = self(t);
    engine_flip(l->engine, what);
    engine_mark(&l->mark);
    while (!engine_quiet(&l->mark)) /* a sampler is inside an event, which is short */
        sched_yield();
}

static void counts(struct tier *t, struct record_counts *c)
{
    engine_counts(self(t)->engine, c);
}

static const struct own_runner runner = {exiting, fire, flip, NULL, counts};

static int local_work(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
                      struct diags *d)
{
    struct local *l = self(t);
    return own_work(&l->own, t, l->engine, &runner, l->sampler != NULL, timeout_ms, flush, sink, d);
}

static int local_stop(struct tier *t, struct diags *d)
{
    (void)d;
    struct local *l = self(t);
    if (l->own.stopped)
        return 0;
    sampler_stop(l->sampler);
    l->sampler = NULL;
    engine_set_phase(l->engine, ENGINE_END);
    fire(t, &l->own.probe[OWN_END], 0);
    engine_set_phase(l->engine, ENGINE_STOPPED);
    l->own.stopped = true;
    return 0;
}

static void local_close(struct tier *t)
{
    struct local *l = self(t);
    sampler_stop(l->sampler);
    engine_destroy(l->engine);
    own_free(&l->own);
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
    own_pace(&self(t)->own, switchrate, aggrate);
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
    struct local *l = et_calloc(1, sizeof *l);
    if (l == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory");
    l->tier.ops = &local_ops;
    int err = own_init(&l->own, d);
    if (err)
        local_close(&l->tier);
    else
        *out = &l->tier;
    return err;
}
