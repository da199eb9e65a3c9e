/* vm_load.c - reads the agent's reports of a program's cost. */
#include "tier/vm_load.h"

#include <stdlib.h>
#include <string.h>

#include "dif/record.h"

enum { MOST = 1024 /* rows of a report's list */ };

static const struct {
    const char *atom, *text;
} kinds[] = {
    {"scheduler", "scheduler"},
    {"dirty_cpu", "dirty CPU scheduler"},
    {"dirty_io", "dirty I/O scheduler"},
};

static const char *read_kind(struct etf *r)
{
    char name[ETF_ATOM_MAX];
    etf_atom(r, name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].atom) == 0)
            return kinds[i].text;
    return "thread";
}

static int by_thread_ns(const void *a, const void *b)
{
    const struct tier_load_thread *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

static int by_probe_ns(const void *a, const void *b)
{
    const struct tier_load_probe *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

/* Reads a list's length; a longer one than `most` makes the reader bad. */
static uint32_t list(struct etf *r, uint32_t most)
{
    uint32_t n = etf_list(r);
    if (n > most)
        r->bad = true;
    return r->bad ? 0 : n;
}

/* Reads [{ThreadKind, Number, Events, Ns, Time}]. */
static bool read_threads(struct etf *r, struct arena *a, struct tier_load *out)
{
    uint32_t n = list(r, RECORD_THREADS);
    out->thread = arena_alloc(a, (n + 1ul) * sizeof *out->thread);
    if (!out->thread)
        return false;
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        struct tier_load_thread *t = &out->thread[out->nthreads++];
        if (etf_tuple(r) != 5)
            r->bad = true;
        t->kind = read_kind(r);
        t->number = (uint32_t)etf_uint(r);
        t->events = etf_uint(r);
        t->ns = etf_uint(r);
        t->time = etf_uint(r);
    }
    if (n)
        etf_list_end(r);
    qsort(out->thread, out->nthreads, sizeof *out->thread, by_thread_ns);
    return true;
}

static const char *kind_name(uint64_t kind)
{
    const struct probe_def *def =
        kind < PROBE_FN_ENTRY ? probe_erlang_kind((enum probe_kind)kind) : NULL;
    const char *fn =
        kind >= PROBE_FN_ENTRY && kind < PROBE_FN_END ? probe_fn_name((enum probe_kind)kind) : NULL;
    return def ? def->name : fn ? fn : "?";
}

/* Reads [{Kind, Events, Ns}] if c is NULL, else [{ProbeId, Events, Ns}]. */
static bool read_probes(struct etf *r, struct catalog *c, struct arena *a,
                        struct tier_load_probe **out, uint32_t *count)
{
    uint32_t n = list(r, MOST);
    *out = arena_alloc(a, (n + 1ul) * sizeof **out);
    if (!*out)
        return false;
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        struct tier_load_probe *p = &(*out)[(*count)++];
        struct tier_probe known;
        const struct catalog_mod *m;
        const struct catalog_fn *f;
        if (etf_tuple(r) != 3)
            r->bad = true;
        uint64_t what = etf_uint(r);
        *p = (struct tier_load_probe){.prov = "", .mod = "", .func = "", .name = ""};
        if (!c) {
            p->kind = what < PROBE_NKINDS ? (enum probe_kind)what : PROBE_NKINDS;
            p->name = kind_name(what);
        } else if (what <= UINT32_MAX && catalog_probe(c, (uint32_t)what, &known, &m, &f)) {
            /* the catalog composes a function's name on each call */
            p->prov = known.prov;
            p->mod = known.mod;
            p->func = arena_strdup(a, known.func);
            p->name = known.name;
            p->kind = known.kind;
            if (!p->func)
                return false;
        }
        p->events = etf_uint(r);
        p->ns = etf_uint(r);
    }
    if (n)
        etf_list_end(r);
    qsort(*out, *count, sizeof **out, by_probe_ns);
    return true;
}

/* Reads {Functions, [{ProbeId, Calls}]}. */
static bool read_counted(struct etf *r, struct catalog *c, struct arena *a, struct tier_load *out)
{
    if (etf_tuple(r) != 2)
        r->bad = true;
    out->functions = etf_uint(r);
    uint32_t n = list(r, MOST);
    out->counted = arena_alloc(a, (n + 1ul) * sizeof *out->counted);
    if (!out->counted)
        return false;
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        struct tier_load_counted *f = &out->counted[out->ncounted++];
        struct tier_probe known;
        const struct catalog_mod *m;
        const struct catalog_fn *fn;
        *f = (struct tier_load_counted){.prov = "", .mod = "", .func = ""};
        if (etf_tuple(r) != 2)
            r->bad = true;
        const uint64_t id = etf_uint(r);
        f->calls = etf_uint(r);
        if (id > UINT32_MAX || !catalog_probe(c, (uint32_t)id, &known, &m, &fn))
            continue;
        f->prov = known.prov;
        f->mod = known.mod;
        f->func = arena_strdup(a, known.func);
        if (!f->func)
            return false;
    }
    if (n)
        etf_list_end(r);
    return true;
}

bool load_read(struct etf *r, struct catalog *c, struct arena *a, struct tier_load *out)
{
    char why[ETF_ATOM_MAX];
    *out = (struct tier_load){.why = TIER_LOAD_STATS, .over.kind = "thread"};
    if (etf_tuple(r) != 2)
        r->bad = true;
    etf_atom(r, why);
    if (strcmp(why, "overload") == 0)
        out->why = TIER_LOAD_OVERLOAD;
    else if (strcmp(why, "total") == 0)
        out->why = TIER_LOAD_TOTAL;
    if (etf_tuple(r) != 8)
        r->bad = true;
    out->ns = etf_uint(r);
    out->fired = etf_uint(r);
    if (!read_threads(r, a, out) || !read_probes(r, NULL, a, &out->kind, &out->nkinds) ||
        !read_probes(r, c, a, &out->probe, &out->nprobes))
        return false;
    out->vm = etf_uint(r);
    if (!read_counted(r, c, a, out))
        return false;
    if (etf_peek(r) != ETF_TUPLE) { /* [] */
        etf_skip(r);
        return true;
    }
    if (etf_tuple(r) != 5)
        r->bad = true;
    out->over.kind = read_kind(r);
    out->over.number = (uint32_t)etf_uint(r);
    out->over.time = etf_uint(r);
    out->permille = (uint32_t)etf_uint(r);
    out->limit = (uint32_t)etf_uint(r);
    return true;
}
