/* own.c - the probes that this process fires itself. See own.h. */
#include "tier/own.h"

#include <poll.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/glob.h"
#include "util/buftext.h"
#include "util/render.h"

enum { DRAIN_LIMIT = 1 << 20, PACE_NS = 10000000 };

/* Adds a probe; returns NULL when memory is exhausted. */
static struct own_probe *probe_add(struct own *o, enum probe_kind kind, const char *prov,
                                   const char *name, uint64_t period)
{
    if (o->n == o->cap) {
        uint32_t cap = o->cap ? o->cap * 2 : 8;
        void *p = et_realloc(o->probe, cap * sizeof *o->probe);
        if (p == NULL)
            return NULL;
        o->probe = p;
        o->cap = cap;
    }
    const char *copy = arena_strdup(&o->arena, name);
    if (copy == NULL)
        return NULL;
    size_t ndef;
    probe_intervals(false, &ndef);
    uint32_t i = o->n++, def = i - OWN_FIXED, asked = def - (uint32_t)ndef;
    uint32_t id = i < OWN_FIXED ? i + 1
                  : def < ndef  ? TIER_ID_DEFAULT + def
                                : TIER_ID_INTERVAL + asked;
    struct own_probe *p = &o->probe[i];
    *p = (struct own_probe){.probe = {.id = id,
                                      .prov = prov,
                                      .mod = "",
                                      .func = "",
                                      .name = copy,
                                      .kind = kind,
                                      .period = period}};
    p->identity = (struct engine_probe){id, prov, "", "", copy};
    return p;
}

bool own_names(const struct probe_spec *spec)
{
    if (probe_is_wall(spec->name))
        return false;
    return spec->id != 0
               ? spec->id < TIER_ID_INTERVAL_END
               : strcmp(spec->prov, "dtrace") == 0 || strcmp(spec->prov, "profile") == 0 ||
                     (spec->mod[0] == '\0' && spec->func[0] == '\0' &&
                      (strcmp(spec->name, "BEGIN") == 0 || strcmp(spec->name, "END") == 0 ||
                       strcmp(spec->name, "ERROR") == 0 || strncmp(spec->name, "tick-", 5) == 0 ||
                       strncmp(spec->name, "profile-", 8) == 0));
}

int own_match(struct own *o, const struct probe_spec *spec, tier_match_fn fn, void *arg,
              struct diags *d)
{
    uint64_t period;
    enum probe_kind kind;
    if (spec->id == 0 && probe_glob_provider(spec->prov, "profile") && spec->mod[0] == '\0' &&
        spec->func[0] == '\0' && probe_interval(spec->name, &period, &kind) && kind != PROBE_WALL) {
        bool known = false;
        for (uint32_t i = OWN_FIXED; i < o->n; i++)
            known |= strcmp(o->probe[i].probe.name, spec->name) == 0;
        if (!known && probe_add(o, kind, "profile", spec->name, period) == NULL)
            return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    }
    for (uint32_t i = 0; i < o->n; i++) {
        const struct tier_probe *p = &o->probe[i].probe;
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

const char *own_suggest(struct own *o, const struct probe_spec *spec, const char *where)
{
    static const char *const names[] = {"BEGIN", "END", "ERROR", "tick-1sec", "profile-97"};
    static const char *const providers[] = {"dtrace", "profile"};
    struct arena *a = &o->arena;
    bool known =
        probe_glob_provider(spec->prov, "dtrace") || probe_glob_provider(spec->prov, "profile");
    const char *what = known ? "probe" : "provider", *name = known ? spec->name : spec->prov;
    const char *near = known ? diag_nearest(name, names, sizeof names / sizeof *names)
                             : diag_nearest(name, providers, sizeof providers / sizeof *providers);
    if (spec->id != 0)
        return arena_printf(a, "no probe has the id %u; -l lists them", spec->id);
    if (known && (spec->mod[0] != '\0' || spec->func[0] != '\0'))
        return "these probes have neither module nor function";
    if (known && probe_is_wall(name))
        return "wall-N looks at the schedulers of a node: name one by --node or -p";
    if (known && probe_is_interval(name))
        return "intervals are tick-N and profile-N[ns|us|ms|s|m|h|d|hz], at least 200us";
    if (known && name[0] >= '0' && name[0] <= '9')
        return arena_printf(a, "an interval is one word: profile-%s, tick-%s", name, name);
    return near != NULL
               ? arena_printf(a, "no %s '%s'; did you mean '%s'?", what, name, near)
               : arena_printf(a,
                              "this program runs in the %s tier, which has BEGIN, END, ERROR, "
                              "tick-N and profile-N",
                              where);
}

int own_bind(struct own *o, const struct tier_binding *b, size_t n, struct diags *d)
{
    for (uint32_t i = 0; i < o->n; i++) {
        struct own_probe *p = &o->probe[i];
        p->nbindings = 0;
        p->bindings = arena_alloc(&o->arena, (n + 1) * sizeof *p->bindings);
        if (p->bindings == NULL)
            return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
        for (size_t k = 0; k < n; k++)
            if (b[k].probe == p->probe.id)
                p->bindings[p->nbindings++] = (struct engine_binding){b[k].epid, b[k].clause};
    }
    return 0;
}

int own_init(struct own *o, struct diags *d)
{
    static const struct {
        enum probe_kind kind;
        const char *name;
    } fixed[OWN_FIXED] = {{PROBE_BEGIN, "BEGIN"}, {PROBE_END, "END"}, {PROBE_ERROR, "ERROR"}};
    size_t n;
    const struct probe_interval_def *def = probe_intervals(false, &n);
    bool ok = true;
    *o = (struct own){.wake = -1};
    arena_init(&o->arena);
    for (int i = 0; ok && i < OWN_FIXED; i++)
        ok = probe_add(o, fixed[i].kind, "dtrace", fixed[i].name, 0) != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = probe_add(o, def[i].kind, "profile", def[i].name, def[i].period) != NULL;
    return ok ? 0 : diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory");
}

void own_free(struct own *o)
{
    if (o->pinned)
        sched_setaffinity(0, sizeof o->before, &o->before);
    buf_free(&o->drained);
    arena_free(&o->arena);
    et_free(o->probe);
}

int own_pin(struct own *o, int64_t number, struct diags *d)
{
    uint32_t cpu = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu < CPU_SETSIZE)
        CPU_SET(cpu, &set);
    if (sched_getaffinity(0, sizeof o->before, &o->before) != 0 || cpu >= CPU_SETSIZE ||
        sched_setaffinity(0, sizeof set, &set) != 0)
        return diag_error(d, ET_EINVAL, NULL, "", "option cpu is the number of a processor",
                          "could not enable tracing: there is no CPU %u", cpu);
    o->pinned = true;
    return 0;
}

/* -- ticks ------------------------------------------------------------------------------------- */

static bool ticks(const struct own_probe *p)
{
    return p->nbindings > 0 && p->probe.kind == PROBE_TICK;
}

void own_start(struct own *o)
{
    const uint64_t now = monotonic_ns();
    for (uint32_t i = OWN_FIXED; i < o->n; i++)
        o->probe[i].due = now + o->probe[i].probe.period;
    own_pace(o, (int64_t)o->pace.switchrate, (int64_t)o->pace.aggrate);
}

/* Returns the tick that is due first, NULL if there is none. */
static struct own_probe *next(const struct own *o)
{
    struct own_probe *first = NULL;
    for (uint32_t i = OWN_FIXED; i < o->n; i++) {
        struct own_probe *p = &o->probe[i];
        if (ticks(p) && (first == NULL || p->due < first->due))
            first = p;
    }
    return first;
}

/* Sleeps until the next tick is due, at most until `limit`, or a signal. */
static void wait_for_tick(const struct own *o, uint64_t limit)
{
    const struct own_probe *p = next(o);
    const uint64_t now = monotonic_ns(), when = p != NULL && p->due < limit ? p->due : limit;
    if (when <= now)
        return;
    struct timespec ts = {(time_t)((when - now) / 1000000000), (long)((when - now) % 1000000000)};
    struct pollfd wake = {.fd = o->wake, .events = POLLIN};
    ppoll(&wake, o->wake >= 0, &ts, NULL); /* a signal ends it, as intended */
}

/* Fires the ticks that are due, in order of time. */
static void fire_due(struct own *o, struct tier *t, const struct own_runner *runner)
{
    const uint64_t now = monotonic_ns();
    struct own_probe *p;
    while (!runner->exiting(t) && (p = next(o)) != NULL && p->due <= now) {
        runner->fire(t, p, now - p->due);
        p->due += p->probe.period * (1 + (now - p->due) / p->probe.period);
    }
}

/* -- reading ----------------------------------------------------------------------------------- */

void own_pace(struct own *o, int64_t switchrate, int64_t aggrate)
{
    const uint64_t now = monotonic_ns();
    o->pace = (struct own_pace){.switchrate = (uint64_t)switchrate,
                                .aggrate = (uint64_t)aggrate,
                                .next_read = now + (uint64_t)switchrate,
                                .next_aggs = now + (uint64_t)aggrate};
}

/* Returns what is to be read now, a set of RECORD_PRINCIPAL and RECORD_AGGS. */
static unsigned due_reads(struct own_pace *p, bool all, uint64_t now)
{
    unsigned what = 0;
    if (all || now >= p->next_read) {
        what |= RECORD_PRINCIPAL;
        p->next_read = now + p->switchrate;
    }
    if (all || now >= p->next_aggs) {
        what |= RECORD_AGGS;
        p->next_aggs = now + p->aggrate;
    }
    return what;
}

static int drain(struct own *o, struct tier *t, struct engine *e, const struct own_runner *runner,
                 unsigned what, const struct tier_sink *sink, struct diags *d)
{
    runner->flip(t, what);
    for (bool all = false; !all;) {
        buf_reset(&o->drained);
        all = engine_drain(e, what, DRAIN_LIMIT, &o->drained);
        if (o->drained.oom)
            return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for trace data");
        int err = tier_report(t, engine_image(e), o->drained.data, o->drained.len, sink, d);
        if (err)
            return err;
    }
    if (runner->drained != NULL)
        runner->drained(t);
    return 0;
}

int own_work(struct own *o, struct tier *t, struct engine *e, const struct own_runner *runner,
             bool others, int timeout_ms, bool flush, const struct tier_sink *sink, struct diags *d)
{
    uint64_t now = monotonic_ns(),
             limit = now + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000;
    if (!o->stopped) {
        const bool waiting = engine_pending(e, RECORD_PRINCIPAL);
        if (waiting) /* if others fire, not for each single record */
            limit = now + PACE_NS < limit ? now + PACE_NS : limit;
        if (!flush && !runner->exiting(t) && (!waiting || others))
            wait_for_tick(o, limit);
        fire_due(o, t, runner);
        now = monotonic_ns();
    }
    const bool exiting = runner->exiting(t);
    const unsigned what = due_reads(&o->pace, o->stopped || exiting || flush, now);
    /* Aggregations first: an action that a record requests on one then includes all updates before
     * the record. */
    int err = what & RECORD_AGGS ? drain(o, t, e, runner, RECORD_AGGS, sink, d) : 0;
    if (err == 0 && (what & RECORD_PRINCIPAL) != 0)
        err = drain(o, t, e, runner, RECORD_PRINCIPAL, sink, d);
    if (err)
        return err;
    struct record_counts c;
    runner->counts(t, &c);
    if (sink->counts != NULL)
        sink->counts(sink->arg, t, &c);
    return o->stopped ? TIER_DRAINED : exiting ? TIER_EXITING : TIER_RUNNING;
}
