/* catalog.c - names and ids of a node's probes. See catalog.h.
 *
 * Always: `mod` is sorted by name and never changes once have_modules is set, so a module's index
 * is part of its functions' ids; `fn` of a fetched module never changes. All strings are in the
 * arena. */
#include "node/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "probe/probe.h"

enum {
    ID_NAMED = 10,
    ID_TICK = 1000,
    ID_FN = 10000,
    ID_STRIDE = 10000,
    FN_KINDS = 3,
    FN_STRIDE = ID_STRIDE / FN_KINDS, /* functions of a module in its own range */
    FETCH_MODULES = 200,              /* modules asked for in one message */
    NEAR_MAX = 4096                   /* names looked at for "did you mean" */
};
#define ID_OVER 3000000000u

static const struct {
    uint32_t id;
    enum probe_kind kind;
    const char *name;
} dtrace_probes[] = {{1, PROBE_BEGIN, "BEGIN"}, {2, PROBE_END, "END"}, {3, PROBE_ERROR, "ERROR"}};

int catalog_init(struct catalog *c, const char *prov, const struct catalog_source *src)
{
    memset(c, 0, sizeof *c);
    arena_init(&c->arena);
    c->src = *src;
    c->next_over = ID_OVER;
    c->prov = arena_strdup(&c->arena, prov);
    return c->prov ? 0 : ET_ENOMEM;
}

void catalog_free(struct catalog *c)
{
    arena_free(&c->arena);
    et_free(c->mod);
    et_free(c->tick);
    buf_free(&c->hint);
    memset(c, 0, sizeof *c);
}

/* -- filling ----------------------------------------------------------------------------------- */

bool catalog_add_module(struct catalog *c, const char *name)
{
    if (c->nmod == c->capmod) {
        size_t cap = c->capmod ? 2 * c->capmod : 256;
        struct catalog_mod *m = et_realloc(c->mod, cap * sizeof *m);
        if (!m)
            return false;
        c->mod = m;
        c->capmod = cap;
    }
    struct catalog_mod *m = &c->mod[c->nmod];
    *m = (struct catalog_mod){.name = arena_strdup(&c->arena, name)};
    if (!m->name)
        return false;
    c->nmod++;
    return true;
}

static int mod_cmp(const void *a, const void *b)
{
    return strcmp(((const struct catalog_mod *)a)->name, ((const struct catalog_mod *)b)->name);
}

void catalog_sorted(struct catalog *c)
{
    size_t n = 0;
    if (c->nmod > 0)
        qsort(c->mod, c->nmod, sizeof *c->mod, mod_cmp);
    for (size_t i = 0; i < c->nmod; i++)
        if (n == 0 || strcmp(c->mod[n - 1].name, c->mod[i].name) != 0)
            c->mod[n++] = c->mod[i];
    c->nmod = n;
    c->have_modules = true;
}

struct catalog_mod *catalog_module(struct catalog *c, const char *name)
{
    struct catalog_mod key = {.name = name};
    return c->nmod > 0 ? bsearch(&key, c->mod, c->nmod, sizeof key, mod_cmp) : NULL;
}

static int fn_cmp(const void *a, const void *b)
{
    const struct catalog_fn *x = a, *y = b;
    int k = strcmp(x->name, y->name);
    return k ? k : (x->arity > y->arity) - (x->arity < y->arity);
}

bool catalog_set_functions(struct catalog *c, struct catalog_mod *m, const struct catalog_fn *fn,
                           uint32_t n)
{
    if (m->fetched)
        return true;
    m->fn = arena_alloc(&c->arena, (n ? n : 1) * sizeof *m->fn);
    if (!m->fn)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        m->fn[i].arity = fn[i].arity;
        m->fn[i].full = arena_printf(&c->arena, "%s/%u", fn[i].name, fn[i].arity);
        m->fn[i].name = arena_strdup(&c->arena, fn[i].name);
        if (!m->fn[i].full || !m->fn[i].name)
            return false;
    }
    if (n > 1)
        qsort(m->fn, n, sizeof *m->fn, fn_cmp);
    m->nfn = n;
    if (n > FN_STRIDE) {
        m->over = c->next_over;
        c->next_over += (n - FN_STRIDE) * FN_KINDS;
    }
    m->fetched = true;
    return true;
}

static int need_modules(struct catalog *c, struct diags *d)
{
    if (c->have_modules)
        return 0;
    int e = c->src.modules(c->src.arg, c, d);
    if (e == 0)
        catalog_sorted(c);
    return e;
}

/* Fetches the functions of all modules that match. */
static int need_functions(struct catalog *c, const char *pattern, struct diags *d)
{
    uint32_t want[FETCH_MODULES];
    size_t n = 0;
    for (size_t i = 0; i <= c->nmod; i++) {
        if (i < c->nmod && !c->mod[i].fetched && probe_glob(pattern, c->mod[i].name))
            want[n++] = (uint32_t)i;
        if (n == FETCH_MODULES || (n > 0 && i == c->nmod)) {
            int e = c->src.functions(c->src.arg, c, want, n, d);
            if (e)
                return e;
            for (size_t k = 0; k < n;
                 k++) /* one that the node did not tell of: it has been unloaded */
                c->mod[want[k]].fetched = true;
            n = 0;
        }
    }
    return 0;
}

/* -- ids --------------------------------------------------------------------------------------- */

static uint32_t fn_id(const struct catalog *c, const struct catalog_mod *m, uint32_t f, uint32_t k)
{
    if (f >= FN_STRIDE)
        return m->over + (f - FN_STRIDE) * FN_KINDS + k;
    return ID_FN + ID_STRIDE * (uint32_t)(m - c->mod) + FN_KINDS * f + k;
}

static void fn_probe(const struct catalog *c, const struct catalog_mod *m, uint32_t f, uint32_t k,
                     struct tier_probe *p)
{
    *p = (struct tier_probe){.id = fn_id(c, m, f, k),
                             .prov = c->prov,
                             .mod = m->name,
                             .func = m->fn[f].full,
                             .name = probe_fn_name((enum probe_kind)(PROBE_FN_ENTRY + k)),
                             .kind = (enum probe_kind)(PROBE_FN_ENTRY + k),
                             .arity = m->fn[f].arity};
}

static void named_probe(const char *prov, const char *name, uint32_t id, enum probe_kind kind,
                        struct tier_probe *p)
{
    *p = (struct tier_probe){
        .id = id, .prov = prov, .mod = "", .func = "", .name = name, .kind = kind};
}

static void tick_probe(const struct catalog *c, size_t i, struct tier_probe *p)
{
    named_probe("profile", c->tick[i].name, ID_TICK + (uint32_t)i, PROBE_TICK, p);
    p->period = c->tick[i].period;
}

bool catalog_probe(struct catalog *c, uint32_t id, struct tier_probe *out,
                   const struct catalog_mod **m, const struct catalog_fn **f)
{
    size_t n;
    const struct probe_def *def = probe_erlang(&n);
    uint32_t fn, k;
    *m = NULL;
    *f = NULL;
    if (id >= 1 && id <= 3) {
        named_probe("dtrace", dtrace_probes[id - 1].name, id, dtrace_probes[id - 1].kind, out);
        return true;
    }
    if (id >= ID_NAMED && id < ID_NAMED + n) {
        named_probe(c->prov, def[id - ID_NAMED].name, id, def[id - ID_NAMED].kind, out);
        return true;
    }
    if (id >= ID_TICK && id < ID_TICK + c->ntick) {
        tick_probe(c, id - ID_TICK, out);
        return true;
    }
    if (id >= ID_OVER) {
        for (size_t i = 0; i < c->nmod && !*m; i++)
            if (c->mod[i].over && id >= c->mod[i].over &&
                id < c->mod[i].over + (c->mod[i].nfn - FN_STRIDE) * FN_KINDS)
                *m = &c->mod[i];
        if (!*m)
            return false;
        fn = FN_STRIDE + (id - (*m)->over) / FN_KINDS;
        k = (id - (*m)->over) % FN_KINDS;
    } else {
        if (id < ID_FN || (id - ID_FN) / ID_STRIDE >= c->nmod)
            return false;
        *m = &c->mod[(id - ID_FN) / ID_STRIDE];
        fn = (id - ID_FN) % ID_STRIDE / FN_KINDS;
        k = (id - ID_FN) % ID_STRIDE % FN_KINDS;
        if (fn >= (*m)->nfn || fn >= FN_STRIDE)
            return false;
    }
    *f = &(*m)->fn[fn];
    fn_probe(c, *m, fn, k, out);
    return true;
}

/* -- matching ---------------------------------------------------------------------------------- */

static bool match_named(const struct probe_spec *s, const char *prov, bool ours, const char *name)
{
    return (ours ? probe_glob_provider(s->prov, prov) : probe_glob(s->prov, prov)) &&
           probe_glob(s->mod, "") && probe_glob(s->func, "") && probe_glob(s->name, name);
}

/* A tick comes into being when its exact name is asked for. */
static int need_tick(struct catalog *c, const struct probe_spec *s)
{
    uint64_t ns;
    if (!probe_glob_exact(s->name) || !match_named(s, "profile", false, s->name) ||
        !probe_tick_period(s->name, &ns) || c->ntick >= ID_FN - ID_TICK)
        return 0;
    for (size_t i = 0; i < c->ntick; i++)
        if (strcmp(c->tick[i].name, s->name) == 0)
            return 0;
    struct catalog_tick *t = et_realloc(c->tick, (c->ntick + 1) * sizeof *t);
    if (!t)
        return ET_ENOMEM;
    c->tick = t;
    t[c->ntick] = (struct catalog_tick){.name = arena_strdup(&c->arena, s->name), .period = ns};
    if (!t[c->ntick].name)
        return ET_ENOMEM;
    c->ntick++;
    return 0;
}

/* Which function probes a description could mean; 0: it cannot mean any, and nothing need be
 * fetched. */
static unsigned fn_kinds(const struct catalog *c, const struct probe_spec *s)
{
    return probe_glob_provider(s->prov, c->prov) ? probe_fn_match(s->name) : 0;
}

/* One pass over the matching functions; `beyond`: those with ids of the last range. */
static int match_functions(struct catalog *c, struct tier *t, const struct probe_spec *s,
                           unsigned kinds, bool beyond, tier_match_fn fn, void *arg)
{
    struct tier_probe p;
    bool all = s->func[0] == '\0';
    for (size_t i = 0; i < c->nmod; i++) {
        const struct catalog_mod *m = &c->mod[i];
        if ((beyond && m->nfn <= FN_STRIDE) || !probe_glob(s->mod, m->name))
            continue;
        for (uint32_t f = beyond ? FN_STRIDE : 0; f < m->nfn && (beyond || f < FN_STRIDE); f++) {
            if (!all && !probe_glob_function(s->func, m->fn[f].name, m->fn[f].arity))
                continue;
            for (uint32_t k = 0; k < FN_KINDS; k++) {
                if (!(kinds & 1u << k))
                    continue;
                fn_probe(c, m, f, k, &p);
                int e = fn(arg, &p);
                if (e)
                    return e;
            }
        }
    }
    (void)t;
    return 0;
}

static int match_id(struct catalog *c, uint32_t id, tier_match_fn fn, void *arg, struct diags *d)
{
    struct tier_probe p;
    const struct catalog_mod *m;
    const struct catalog_fn *f;
    int e = id >= ID_FN ? need_modules(c, d) : 0;
    if (e == 0 && id >= ID_OVER)
        e = need_functions(c, "", d);
    else if (e == 0 && id >= ID_FN && (id - ID_FN) / ID_STRIDE < c->nmod)
        e = need_functions(c, c->mod[(id - ID_FN) / ID_STRIDE].name, d);
    if (e)
        return e;
    return catalog_probe(c, id, &p, &m, &f) ? fn(arg, &p) : 0;
}

int catalog_match(struct catalog *c, struct tier *t, const struct probe_spec *s, tier_match_fn fn,
                  void *arg, struct diags *d)
{
    struct tier_probe p;
    size_t n;
    const struct probe_def *def = probe_erlang(&n);
    int e = 0;
    if (s->id)
        return match_id(c, s->id, fn, arg, d);
    if (need_tick(c, s))
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    for (size_t i = 0; e == 0 && i < sizeof dtrace_probes / sizeof *dtrace_probes; i++)
        if (match_named(s, "dtrace", false, dtrace_probes[i].name)) {
            named_probe("dtrace", dtrace_probes[i].name, dtrace_probes[i].id, dtrace_probes[i].kind,
                        &p);
            e = fn(arg, &p);
        }
    for (size_t i = 0; e == 0 && i < n; i++)
        if (match_named(s, c->prov, true, def[i].name)) {
            named_probe(c->prov, def[i].name, ID_NAMED + (uint32_t)i, def[i].kind, &p);
            e = fn(arg, &p);
        }
    for (size_t i = 0; e == 0 && i < c->ntick; i++)
        if (match_named(s, "profile", false, c->tick[i].name)) {
            tick_probe(c, i, &p);
            e = fn(arg, &p);
        }
    unsigned kinds = e ? 0 : fn_kinds(c, s);
    if (kinds == 0)
        return e;
    if ((e = need_modules(c, d)) != 0 || (e = need_functions(c, s->mod, d)) != 0)
        return e;
    e = match_functions(c, t, s, kinds, false, fn, arg);
    return e ? e : match_functions(c, t, s, kinds, true, fn, arg);
}

/* -- did you mean ------------------------------------------------------------------------------ */

static const char *say(struct catalog *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static const char *say(struct catalog *c, const char *fmt, ...)
{
    va_list ap;
    buf_reset(&c->hint);
    va_start(ap, fmt);
    buf_vprintf(&c->hint, fmt, ap);
    va_end(ap);
    return buf_str(&c->hint);
}

/* Named probes that OTP's provider has and the events of a stock VM do not give. */
static const struct {
    const char *name, *instead;
} unavailable[] = {
    {"message-receive",
     "a stock VM has no event for taking a message out of the queue; message-queued fires when it "
     "is put in"},
    {"copy-struct", "a stock VM has no event for copying terms"},
    {"copy-object", "a stock VM has no event for copying terms"},
    {"bif-entry", "name the BIF as a function: erlang*:erlang:FUNCTION:entry"},
    {"bif-return", "name the BIF as a function: erlang*:erlang:FUNCTION:return"},
    {"nif-entry", "name the NIF as a function: erlang*:MODULE:FUNCTION:entry"},
    {"nif-return", "name the NIF as a function: erlang*:MODULE:FUNCTION:return"},
};

static const char *suggest_name(struct catalog *c, const struct probe_spec *s)
{
    const char *cand[NEAR_MAX];
    size_t n = 0, ndef;
    const struct probe_def *def = probe_erlang(&ndef);
    for (size_t i = 0; i < sizeof unavailable / sizeof *unavailable; i++)
        if (strcmp(unavailable[i].name, s->name) == 0)
            return say(c, "%s", unavailable[i].instead);
    if (strncmp(s->name, "profile-", 8) == 0)
        return say(c, "the profile-N probes are not available in a node; tick-N is");
    if (strncmp(s->name, "tick-", 5) == 0)
        return say(c, "intervals are tick-N[ns|us|ms|s|m|h|d|hz], at least 200us");
    for (size_t i = 0; i < ndef; i++)
        cand[n++] = def[i].name;
    for (size_t i = 0; i < sizeof dtrace_probes / sizeof *dtrace_probes; i++)
        cand[n++] = dtrace_probes[i].name;
    for (size_t i = 0; probe_fn_names[i] && n < NEAR_MAX; i++)
        cand[n++] = probe_fn_names[i];
    const char *near = diag_nearest(s->name, cand, n);
    return near ? say(c, "no probe '%s'; did you mean '%s'?", s->name, near) : NULL;
}

/* All arities that a module has of a function, as "map/2 and map/3". */
static void arities(struct buf *b, const struct catalog_mod *m, const char *name)
{
    size_t n = 0, i = 0;
    for (uint32_t f = 0; f < m->nfn; f++)
        n += strcmp(m->fn[f].name, name) == 0;
    for (uint32_t f = 0; f < m->nfn; f++)
        if (strcmp(m->fn[f].name, name) == 0)
            buf_printf(b, "%s%s", i++ == 0 ? "" : i == n ? " and " : ", ", m->fn[f].full);
}

static const char *suggest_function(struct catalog *c, const struct probe_spec *s,
                                    const struct catalog_mod *m)
{
    const char *cand[NEAR_MAX], *slash = strrchr(s->func, '/');
    size_t n = 0;
    char name[512];
    struct buf have = BUF_INIT;
    const char *hint;
    snprintf(name, sizeof name, "%.*s", (int)(slash ? (size_t)(slash - s->func) : strlen(s->func)),
             s->func);
    if (slash && slash != s->func) {
        arities(&have, m, name);
        if (have.len > 0) {
            hint = say(c, "%s has no %s; it has %s", m->name, s->func, buf_str(&have));
            buf_free(&have);
            return hint;
        }
    }
    for (uint32_t f = 0; f < m->nfn && n < NEAR_MAX; f++)
        if (n == 0 || strcmp(cand[n - 1], m->fn[f].name) != 0)
            cand[n++] = m->fn[f].name;
    const char *near = diag_nearest(name, cand, n);
    if (near)
        return say(c, "%s has no function '%s'; did you mean '%s'?", m->name, s->func, near);
    return say(c, "%s has no function '%s'", m->name, s->func);
}

static const char *suggest_module(struct catalog *c, const struct probe_spec *s)
{
    const char *near = NULL;
    const char **cand;
    if (!probe_glob_exact(s->mod))
        return say(c, "no loaded module matches '%s'; erltrace sees loaded modules only", s->mod);
    cand = et_malloc((c->nmod + 1) * sizeof *cand);
    if (cand) {
        for (size_t i = 0; i < c->nmod; i++)
            cand[i] = c->mod[i].name;
        near = diag_nearest(s->mod, cand, c->nmod);
        et_free(cand);
    }
    if (near)
        return say(c, "module '%s' is not loaded; did you mean '%s'?", s->mod, near);
    return say(c, "module '%s' is not loaded; erltrace sees loaded modules only", s->mod);
}

static const char *suggest_provider(struct catalog *c, const struct probe_spec *s)
{
    const char *cand[] = {"erlang", "dtrace", "profile"};
    const char *near = diag_nearest(s->prov, cand, 3);
    if (strncmp(s->prov, "erlang", 6) == 0)
        return say(c, "the provider of this node is %s; erlang* means any node's", c->prov);
    if (near)
        return say(c, "no provider '%s'; did you mean '%s'?", s->prov, near);
    return say(c, "no provider '%s'; a node has erlang*, dtrace and profile", s->prov);
}

const char *catalog_suggest(struct catalog *c, const struct probe_spec *s)
{
    struct diags d;
    const char *hint = NULL;
    const struct catalog_mod *m = NULL;
    if (s->id)
        return say(c, "no probe has the id %u; -l lists them", s->id);
    if (!probe_glob_provider(s->prov, c->prov) && !probe_glob(s->prov, "dtrace") &&
        !probe_glob(s->prov, "profile"))
        return suggest_provider(c, s);
    if ((!s->mod[0] && !s->func[0]) || !probe_glob_provider(s->prov, c->prov))
        return suggest_name(c, s);
    if (probe_fn_match(s->name) == 0) {
        size_t n = 0;
        while (probe_fn_names[n])
            n++;
        const char *near = diag_nearest(s->name, probe_fn_names, n);
        if (near)
            return say(c, "functions have no probe '%s'; did you mean '%s'?", s->name, near);
        if (probe_erlang_name(s->name))
            return say(c, "%s has neither module nor function: erlang*:::%s", s->name, s->name);
        return say(c, "functions have the probes entry, return and exception");
    }
    diags_init(&d);
    if (need_modules(c, &d) == 0 && need_functions(c, s->mod[0] ? s->mod : "", &d) == 0) {
        size_t n = 0;
        for (size_t i = 0; i < c->nmod; i++)
            if (probe_glob(s->mod, c->mod[i].name)) {
                m = &c->mod[i];
                n++;
            }
        if (n == 0)
            hint = suggest_module(c, s);
        else if (n == 1)
            hint = suggest_function(c, s, m);
        else
            hint = say(c, "none of the %zu modules that match has a function '%s'", n, s->func);
    }
    diags_free(&d);
    return hint;
}
