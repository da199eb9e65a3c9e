/* functions.c - names and ids of a node's probes. See functions.h.
 *
 * Always: `mod` is sorted by name up to nsorted, and that part never changes once have_modules is
 * set, because a module's index is part of its functions' ids. What comes with code loaded later is
 * appended: modules to the end of `mod`, functions to the end of their module's, and both to
 * `late`. All strings are in the arena. */
#include "tier/functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/elixir.h"
#include "base/err.h"
#include "base/glob.h"
#include "probe/probe.h"
#include "util/buftext.h"
#include "util/render.h"

enum {
    ID_NUMBER = TIER_ID_INTERVAL_END,
    ID_USER = 4000,
    ID_FN = 10000,
    ID_STRIDE = 10000,
    FN_KINDS = PROBE_FN_EACH,
    FN_STRIDE = ID_STRIDE / FN_KINDS, /* functions of a module in its regular range */
    FETCH_MODULES = 200,              /* modules requested in one message */
    NEAR_MAX = 4096                   /* names examined for "did you mean" */
};
#define ID_OVER 3000000000u

static const struct {
    uint32_t id;
    enum probe_kind kind;
    const char *name;
} dtrace_probes[] = {{1, PROBE_BEGIN, "BEGIN"}, {2, PROBE_END, "END"}, {3, PROBE_ERROR, "ERROR"}};

int catalog_init(struct catalog *c, const char *prov, int otp, const struct catalog_source *src)
{
    memset(c, 0, sizeof *c);
    arena_init(&c->arena);
    c->src = *src;
    c->otp = otp;
    c->any = probe_erlang_kind(PROBE_USER);
    c->prov = arena_strdup(&c->arena, prov);
    return c->prov ? 0 : ET_ENOMEM;
}

void catalog_free(struct catalog *c)
{
    arena_free(&c->arena);
    et_free(c->mod);
    et_free(c->tick);
    et_free(c->user);
    et_free(c->late);
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
    c->nmod = c->nsorted = n;
    c->have_modules = true;
}

struct catalog_mod *catalog_module(struct catalog *c, const char *name)
{
    struct catalog_mod key = {.name = name};
    struct catalog_mod *m =
        c->nsorted > 0 ? bsearch(&key, c->mod, c->nsorted, sizeof key, mod_cmp) : NULL;
    for (size_t i = c->nsorted; !m && i < c->nmod; i++)
        if (strcmp(c->mod[i].name, name) == 0)
            m = &c->mod[i];
    return m;
}

bool catalog_loaded(struct catalog *c, const char *name)
{
    struct catalog_mod *m = c->have_modules ? catalog_module(c, name) : NULL;
    if (!c->have_modules)
        return true;
    if (!m && !catalog_add_module(c, name))
        return false;
    if (m && m->fetched)
        m->stale = true;
    c->grown = true;
    return true;
}

static int fn_cmp(const void *a, const void *b)
{
    const struct catalog_fn *x = a, *y = b;
    int k = strcmp(x->name, y->name);
    return k ? k : (x->arity > y->arity) - (x->arity < y->arity);
}

static bool has_function(const struct catalog_mod *m, const struct catalog_fn *fn)
{
    if (m->nfirst > 0 && bsearch(fn, m->fn, m->nfirst, sizeof *fn, fn_cmp))
        return true;
    for (uint32_t i = m->nfirst; i < m->nfn; i++)
        if (fn_cmp(&m->fn[i], fn) == 0)
            return true;
    return false;
}

/* Gives a function an id of the last range. */
static bool add_late(struct catalog *c, const struct catalog_mod *m, uint32_t f)
{
    if (c->nlate == c->caplate) {
        size_t cap = c->caplate ? 2 * c->caplate : 64;
        struct catalog_late *l = et_realloc(c->late, cap * sizeof *l);
        if (!l)
            return false;
        c->late = l;
        c->caplate = cap;
    }
    c->late[c->nlate++] = (struct catalog_late){.mod = (uint32_t)(m - c->mod), .fn = f};
    return true;
}

bool catalog_set_functions(struct catalog *c, struct catalog_mod *m, const struct catalog_fn *fn,
                           uint32_t n)
{
    bool sorted = (size_t)(m - c->mod) < c->nsorted && !m->fetched;
    uint32_t have = m->nfn, more = n;
    if (m->fetched && !m->stale)
        return true;
    for (uint32_t i = 0; i < n && have > 0; i++)
        more -= has_function(m, &fn[i]);
    m->stale = false;
    if (m->fetched && more == 0)
        return true;
    struct catalog_fn *v = arena_alloc(&c->arena, (have + more + (size_t)1) * sizeof *v);
    if (!v)
        return false;
    if (have > 0)
        memcpy(v, m->fn, have * sizeof *v);
    uint32_t all = have;
    for (uint32_t i = 0; i < n; i++) {
        if (have > 0 && has_function(m, &fn[i]))
            continue;
        v[all].arity = fn[i].arity;
        v[all].class = fn[i].class;
        v[all].full = arena_printf(&c->arena, "%s/%u", fn[i].name, fn[i].arity);
        v[all].name = arena_strdup(&c->arena, fn[i].name);
        if (!v[all].full || !v[all].name)
            return false;
        all++;
    }
    if (all - have > 1)
        qsort(v + have, all - have, sizeof *v, fn_cmp);
    uint32_t own = !sorted ? have : all < FN_STRIDE ? all : FN_STRIDE;
    for (uint32_t i = own; i < all; i++) {
        if (!add_late(c, m, i))
            return false;
        v[i].late = (uint32_t)c->nlate; /* that index, plus one */
    }
    m->fn = v;
    m->nfn = all;
    if (!m->fetched)
        m->nfirst = all;
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

/* Returns whether the pattern matches a module: by its name, or without Elixir's prefix, unless a
 * module has exactly this name. */
static bool means_module(struct catalog *c, const char *pattern, const char *name)
{
    const char *alias;
    if (glob_match(pattern, name))
        return true;
    alias = elixir_alias(name);
    return alias && glob_match(pattern, alias) &&
           !(glob_exact(pattern) && catalog_module(c, pattern));
}

int catalog_modules(struct catalog *c, const char *pattern, const char **name, size_t most,
                    size_t *n, struct diags *d)
{
    int e = need_modules(c, d);
    *n = 0;
    for (size_t i = 0; e == 0 && i < c->nmod; i++) {
        if (!means_module(c, pattern, c->mod[i].name))
            continue;
        if (*n < most)
            name[*n] = c->mod[i].name;
        ++*n;
    }
    return e;
}

/* Fetches the functions of all modules that match. */
static int need_functions(struct catalog *c, const char *pattern, struct diags *d)
{
    uint32_t want[FETCH_MODULES];
    size_t n = 0;
    for (size_t i = 0; i <= c->nmod; i++) {
        if (i < c->nmod && (!c->mod[i].fetched || c->mod[i].stale) &&
            means_module(c, pattern, c->mod[i].name))
            want[n++] = (uint32_t)i;
        if (n == FETCH_MODULES || (n > 0 && i == c->nmod)) {
            int e = c->src.functions(c->src.arg, c, want, n, d);
            if (e)
                return e;
            for (size_t k = 0; k < n; k++) { /* one that the node did not report is not loaded */
                c->mod[want[k]].fetched = true;
                c->mod[want[k]].stale = false;
            }
            n = 0;
        }
    }
    return 0;
}

/* -- ids --------------------------------------------------------------------------------------- */

static uint32_t fn_id(const struct catalog *c, const struct catalog_mod *m, uint32_t f, uint32_t k)
{
    if (m->fn[f].late)
        return ID_OVER + (m->fn[f].late - 1) * FN_KINDS + k;
    return ID_FN + ID_STRIDE * (uint32_t)(m - c->mod) + FN_KINDS * f + k;
}

/* Fills in the K-th probe of a function; returns false when functions of its class have none. */
static bool fn_probe(const struct catalog *c, const struct catalog_mod *m, uint32_t f, uint32_t k,
                     struct tier_probe *p)
{
    enum probe_kind kind = probe_fn_kind(m->fn[f].class, k);
    *p = (struct tier_probe){.id = fn_id(c, m, f, k),
                             .prov = c->prov,
                             .mod = m->name,
                             .func = m->fn[f].full,
                             .name = probe_fn_name(kind),
                             .kind = kind,
                             .arity = m->fn[f].arity,
                             .instruction = m->fn[f].class == PROBE_FN_INLINED};
    return kind != 0;
}

static void named_probe(const char *prov, const char *name, uint32_t id, enum probe_kind kind,
                        struct tier_probe *p)
{
    *p = (struct tier_probe){
        .id = id, .prov = prov, .mod = "", .func = "", .name = name, .kind = kind};
}

static void tick_probe(const struct catalog *c, size_t i, struct tier_probe *p)
{
    named_probe("profile", c->tick[i].name, TIER_ID_INTERVAL + (uint32_t)i, c->tick[i].kind, p);
    p->period = c->tick[i].period;
}

/* Fills in the i-th default interval; returns false when there is none. */
static bool default_tick(size_t i, struct tier_probe *p)
{
    size_t n;
    const struct probe_interval_def *def = probe_intervals(true, &n);
    if (i >= n)
        return false;
    named_probe("profile", def[i].name, TIER_ID_DEFAULT + (uint32_t)i, def[i].kind, p);
    p->period = def[i].period;
    return true;
}

/* Returns whether this node's VM can deliver a probe that some VM can. */
static bool delivers(const struct catalog *c, const struct probe_def *def)
{
    return probe_on(def, c->otp) == PROBE_BY_VM;
}

/* Fills in the n-th probe of a numbered row. */
static void number_probe(const struct catalog *c, const struct probe_def *def, uint32_t n,
                         struct tier_probe *p)
{
    named_probe(c->prov, c->number[n], ID_NUMBER + n, def->kind, p);
    p->number = n;
}

static void user_probe(const struct catalog *c, size_t i, struct tier_probe *p)
{
    named_probe(c->prov, c->user[i], ID_USER + (uint32_t)i, PROBE_USER, p);
    p->mod = c->any->mod;
    p->func = c->any->func;
}

/* Creates the names of numbered probes; a node can have one numbered row. */
static int need_numbers(struct catalog *c)
{
    const struct probe_def *def = probe_erlang_kind(PROBE_USER_TRACE_N);
    if (c->number)
        return 0;
    const char **v = arena_alloc(&c->arena, def->numbered * sizeof *v);
    for (uint32_t i = 0; v && i < def->numbered; i++)
        if (!(v[i] = arena_printf(&c->arena, "%s%u", def->name, i)))
            return ET_ENOMEM;
    c->number = v;
    return v ? 0 : ET_ENOMEM;
}

bool catalog_probe(struct catalog *c, uint32_t id, struct tier_probe *out,
                   const struct catalog_mod **m, const struct catalog_fn **f)
{
    const struct probe_def *def;
    uint32_t fn, k;
    *m = NULL;
    *f = NULL;
    if (id >= 1 && id <= 3) {
        named_probe("dtrace", dtrace_probes[id - 1].name, id, dtrace_probes[id - 1].kind, out);
        return true;
    }
    if (id < PROBE_FN_ENTRY) {
        def = probe_erlang_kind((enum probe_kind)id);
        if (!def || !delivers(c, def) || def->numbered || def->mod)
            return false;
        named_probe(c->prov, def->name, id, def->kind, out);
        return true;
    }
    if (id >= TIER_ID_DEFAULT && id < TIER_ID_INTERVAL)
        return default_tick(id - TIER_ID_DEFAULT, out);
    if (id >= TIER_ID_INTERVAL && id < TIER_ID_INTERVAL + c->ntick) {
        tick_probe(c, id - TIER_ID_INTERVAL, out);
        return true;
    }
    if (id >= ID_NUMBER && id < ID_NUMBER + PROBE_LABELS && need_numbers(c) == 0) {
        number_probe(c, probe_erlang_kind(PROBE_USER_TRACE_N), id - ID_NUMBER, out);
        return true;
    }
    if (id >= ID_USER && id < ID_USER + c->nuser) {
        user_probe(c, id - ID_USER, out);
        return true;
    }
    if (id >= ID_OVER) {
        size_t i = (id - ID_OVER) / FN_KINDS;
        if (i >= c->nlate || c->late[i].fn >= c->mod[c->late[i].mod].nfn)
            return false;
        *m = &c->mod[c->late[i].mod];
        fn = c->late[i].fn;
        k = (id - ID_OVER) % FN_KINDS;
    } else {
        if (id < ID_FN || (id - ID_FN) / ID_STRIDE >= c->nsorted)
            return false;
        *m = &c->mod[(id - ID_FN) / ID_STRIDE];
        fn = (id - ID_FN) % ID_STRIDE / FN_KINDS;
        k = (id - ID_FN) % ID_STRIDE % FN_KINDS;
        if (fn >= (*m)->nfn || (*m)->fn[fn].late)
            return false;
    }
    *f = &(*m)->fn[fn];
    return fn_probe(c, *m, fn, k, out);
}

/* -- matching ---------------------------------------------------------------------------------- */

static bool match_named(const struct probe_spec *s, const char *prov, bool ours, const char *name)
{
    return (ours ? probe_glob_provider(s->prov, prov) : glob_match(s->prov, prov)) &&
           glob_match(s->mod, "") && glob_match(s->func, "") && glob_match(s->name, name);
}

/* Creates an interval when its exact name is requested. */
static int need_tick(struct catalog *c, const struct probe_spec *s)
{
    uint64_t ns;
    size_t ndef;
    enum probe_kind kind;
    const struct probe_interval_def *def = probe_intervals(true, &ndef);
    if (!glob_exact(s->name) || !match_named(s, "profile", false, s->name) ||
        !probe_interval(s->name, &ns, &kind) || c->ntick >= TIER_ID_INTERVAL_END - TIER_ID_INTERVAL)
        return 0;
    for (size_t i = 0; i < ndef; i++)
        if (strcmp(def[i].name, s->name) == 0)
            return 0;
    for (size_t i = 0; i < c->ntick; i++)
        if (strcmp(c->tick[i].name, s->name) == 0)
            return 0;
    struct catalog_tick *t = et_realloc(c->tick, (c->ntick + 1) * sizeof *t);
    if (!t)
        return ET_ENOMEM;
    c->tick = t;
    t[c->ntick] =
        (struct catalog_tick){.name = arena_strdup(&c->arena, s->name), .period = ns, .kind = kind};
    if (!t[c->ntick].name)
        return ET_ENOMEM;
    c->ntick++;
    return 0;
}

/* Creates a probe of programs when it is requested, by name or by a pattern. Returns 0; 1 when it
 * is meant, with its index in *i; or ET_ENOMEM. */
static int need_user(struct catalog *c, const struct probe_spec *s, size_t *i)
{
    const char *name = s->name[0] ? s->name : "*";
    if (!probe_glob_provider(s->prov, c->prov) || !probe_any_name(c->any, s->mod, s->func, s->name))
        return 0;
    for (*i = 0; *i < c->nuser; ++*i)
        if (strcmp(c->user[*i], name) == 0)
            return 1;
    if (c->nuser >= ID_FN - ID_USER)
        return 0;
    const char **v = et_realloc(c->user, (c->nuser + 1) * sizeof *v);
    if (!v)
        return ET_ENOMEM;
    c->user = v;
    if (!(v[c->nuser] = arena_strdup(&c->arena, name)))
        return ET_ENOMEM;
    c->nuser++;
    return 1;
}

static int match_numbers(struct catalog *c, const struct probe_spec *s, tier_match_fn fn, void *arg)
{
    const struct probe_def *def = probe_erlang_kind(PROBE_USER_TRACE_N);
    struct tier_probe p;
    unsigned n;
    if (glob_exact(s->name) && !probe_has_name(def, s->name, &n))
        return 0;
    int e = need_numbers(c);
    for (uint32_t i = 0; e == 0 && i < def->numbered; i++)
        if (match_named(s, c->prov, true, c->number[i])) {
            number_probe(c, def, i, &p);
            e = fn(arg, &p);
        }
    return e;
}

/* Returns the set of function probes that a description could mean; 0: it cannot mean any, and
 * nothing need be fetched. */
static unsigned fn_kinds(const struct catalog *c, const struct probe_spec *s)
{
    return probe_glob_provider(s->prov, c->prov) ? probe_fn_match(s->name) : 0;
}

/* Calls fn for the probes of one function. */
static int match_function(const struct catalog *c, const struct catalog_mod *m, uint32_t f,
                          const struct probe_spec *s, unsigned kinds, tier_match_fn fn, void *arg)
{
    struct tier_probe p;
    if (strcmp(m->fn[f].name, c->any->func) == 0 && strcmp(m->name, c->any->mod) == 0)
        return 0; /* its calls are probes of programs */
    if (s->func[0] != '\0' && !probe_glob_function(s->func, m->fn[f].name, m->fn[f].arity))
        return 0;
    for (uint32_t k = 0; k < FN_KINDS; k++) {
        if (!fn_probe(c, m, f, k, &p) || !(kinds & 1u << (p.kind - PROBE_FN_ENTRY)))
            continue;
        int e = fn(arg, &p);
        if (e)
            return e;
    }
    return 0;
}

/* Matches the functions that have ids in their module's range. */
static int match_modules(struct catalog *c, const struct probe_spec *s, unsigned kinds,
                         tier_match_fn fn, void *arg)
{
    int e = 0;
    for (size_t i = 0; i < c->nsorted; i++) {
        const struct catalog_mod *m = &c->mod[i];
        if (!means_module(c, s->mod, m->name))
            continue;
        for (uint32_t f = 0; e == 0 && f < m->nfn && !m->fn[f].late; f++)
            e = match_function(c, m, f, s, kinds, fn, arg);
        if (e)
            return e;
    }
    return 0;
}

/* Matches those of the last range, starting with the first-th. */
static int match_late(struct catalog *c, size_t first, const struct probe_spec *s, unsigned kinds,
                      tier_match_fn fn, void *arg)
{
    int e = 0;
    for (size_t i = first; e == 0 && i < c->nlate; i++) {
        const struct catalog_mod *m = &c->mod[c->late[i].mod];
        if (means_module(c, s->mod, m->name))
            e = match_function(c, m, c->late[i].fn, s, kinds, fn, arg);
    }
    return e;
}

int catalog_match_new(struct catalog *c, const struct probe_spec *s, tier_match_fn fn, void *arg,
                      struct diags *d)
{
    unsigned kinds = s->id ? 0 : fn_kinds(c, s);
    if (kinds == 0 || !c->grown)
        return 0;
    int e = need_functions(c, s->mod, d);
    return e ? e : match_late(c, c->settled, s, kinds, fn, arg);
}

void catalog_settle(struct catalog *c)
{
    c->settled = c->nlate;
    c->grown = false;
}

static int match_id(struct catalog *c, uint32_t id, tier_match_fn fn, void *arg, struct diags *d)
{
    struct tier_probe p;
    const struct catalog_mod *m;
    const struct catalog_fn *f;
    int e = id >= ID_FN ? need_modules(c, d) : 0;
    if (e == 0 && id >= ID_OVER)
        e = need_functions(c, "", d);
    else if (e == 0 && id >= ID_FN && (id - ID_FN) / ID_STRIDE < c->nsorted)
        e = need_functions(c, c->mod[(id - ID_FN) / ID_STRIDE].name, d);
    if (e)
        return e;
    return catalog_probe(c, id, &p, &m, &f) ? fn(arg, &p) : 0;
}

int catalog_match(struct catalog *c, struct tier *t, const struct probe_spec *s, tier_match_fn fn,
                  void *arg, struct diags *d)
{
    struct tier_probe p;
    const struct probe_def *def = NULL;
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
    while (e == 0 && (def = probe_erlang_next(def)) != NULL)
        if (delivers(c, def) && !def->numbered && !def->mod &&
            match_named(s, c->prov, true, def->name)) {
            named_probe(c->prov, def->name, (uint32_t)def->kind, def->kind, &p);
            e = fn(arg, &p);
        }
    for (size_t i = 0; e == 0 && i < TIER_ID_INTERVAL - TIER_ID_DEFAULT; i++)
        if (default_tick(i, &p) && match_named(s, "profile", false, p.name))
            e = fn(arg, &p);
    for (size_t i = 0; e == 0 && i < c->ntick; i++)
        if (match_named(s, "profile", false, c->tick[i].name)) {
            tick_probe(c, i, &p);
            e = fn(arg, &p);
        }
    e = e ? e : match_numbers(c, s, fn, arg);
    size_t user = 0;
    int meant = e ? 0 : need_user(c, s, &user);
    if (meant == ET_ENOMEM)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    if (meant) {
        user_probe(c, user, &p);
        e = fn(arg, &p);
    }
    unsigned kinds = e ? 0 : fn_kinds(c, s);
    if (kinds == 0)
        return e;
    if ((e = need_modules(c, d)) != 0 || (e = need_functions(c, s->mod, d)) != 0)
        return e;
    (void)t;
    e = match_modules(c, s, kinds, fn, arg);
    return e ? e : match_late(c, 0, s, kinds, fn, arg);
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

/* Returns whether the word is one of the parts of a probe's name: send in message-send, gc in
 * gc_minor-start. */
static bool has_part(const char *name, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = name; n > 0 && (p = strstr(p, word)) != NULL; p++)
        if ((p == name || strchr("-_", p[-1])) && strchr("-_", p[n])) /* also at its end */
            return true;
    return false;
}

/* Suggests the names that have the requested word as a part; if this node can deliver none of them,
 * says what prevents one. NULL: there are none. */
static const char *suggest_part(struct catalog *c, const char *word)
{
    enum { SHOWN = 8 };
    const struct probe_def *def = NULL, *lacks = NULL;
    char last[128]; /* the last part of a name */
    struct buf names = BUF_INIT;
    const char *hint = NULL;
    size_t n = 0;
    while ((def = probe_erlang_next(def)) != NULL) {
        if (def->mod || def->numbered || !has_part(def->name, word))
            continue;
        if (!delivers(c, def))
            lacks = def;
        else if (n++ < SHOWN)
            buf_printf(&names, "%s%s", n > 1 ? ", " : "", def->name);
    }
    if (!lacks && snprintf(last, sizeof last, "*-%s", word) < (int)sizeof last)
        lacks = probe_erlang_lacking(last);
    if (n > 0)
        hint = say(c, "no probe '%s'; did you mean one of these? %s%s", word, buf_str(&names),
                   n > SHOWN ? ", ..." : "");
    else if (lacks)
        hint = say(c, "no probe '%s'; of %s: %s", word, lacks->name, lacks->lacking);
    buf_free(&names);
    return hint;
}

/* Returns the candidate that differs only in dashes and underscores: "process-exit" for
 * "process_exit". */
static const char *other_dashes(const char *name, const char *const *cand, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *p = name, *q = cand[i];
        while (*p != '\0' && (*p == *q || (strchr("-_", *p) && *q != '\0' && strchr("-_", *q))))
            p++, q++;
        if (*p == '\0' && *q == '\0')
            return cand[i];
    }
    return NULL;
}

/* Returns the module that a name means, as users write it; NULL: there is none. */
static const char *module_named(struct catalog *c, const char *name)
{
    struct diags d;
    const char *found = NULL, *alias;
    diags_init(&d);
    if (name[0] != '\0' && glob_exact(name) && need_modules(c, &d) == 0)
        for (size_t i = 0; !found && i < c->nmod; i++)
            if (means_module(c, name, c->mod[i].name)) {
                alias = elixir_alias(c->mod[i].name);
                found = alias ? alias : c->mod[i].name;
            }
    diags_free(&d);
    return found;
}

static const char *suggest_name(struct catalog *c, const struct probe_spec *s)
{
    const char *cand[NEAR_MAX], *mod;
    size_t n = 0;
    const struct probe_def *def = NULL;
    if (probe_is_interval(s->name))
        return say(c, "intervals are tick-N, profile-N and wall-N[ns|us|ms|s|m|h|d|hz], at least "
                      "200us");
    if (s->name[0] >= '0' && s->name[0] <= '9' && strcmp(s->prov, "profile") == 0)
        return say(c, "an interval is one word: profile-%s, tick-%s", s->name, s->name);
    while ((def = probe_erlang_next(def)) != NULL)
        if (delivers(c, def) && !def->mod)
            cand[n++] = def->numbered && need_numbers(c) == 0 ? c->number[0] : def->name;
    for (size_t i = 0; i < sizeof dtrace_probes / sizeof *dtrace_probes; i++)
        cand[n++] = dtrace_probes[i].name;
    for (size_t i = 0; probe_fn_names[i] && n < NEAR_MAX; i++)
        cand[n++] = probe_fn_names[i];
    const char *near = other_dashes(s->name, cand, n);
    if (near)
        return say(c, "no probe '%s'; did you mean '%s'?", s->name, near);
    near = suggest_part(c, s->name);
    if (near)
        return near;
    if ((mod = module_named(c, s->name)) != NULL)
        return say(c, "%s is a module; %s::entry matches the calls of its functions", mod, mod);
    near = diag_nearest(s->name, cand, n);
    if (near)
        return say(c, "no probe '%s'; did you mean '%s'?", s->name, near);
    return say(c, "there is no such probe; -l -P erlang lists those that exist");
}

/* Appends all arities that a module has of a function, as "map/2 and map/3". */
static void arities(struct buf *b, const struct catalog_mod *m, const char *name)
{
    size_t n = 0, i = 0;
    for (uint32_t f = 0; f < m->nfn; f++)
        n += strcmp(m->fn[f].name, name) == 0;
    for (uint32_t f = 0; f < m->nfn; f++)
        if (strcmp(m->fn[f].name, name) == 0)
            buf_printf(b, "%s%s", i++ == 0 ? "" : i == n ? " and " : ", ", m->fn[f].full);
}

/* Returns a matched module's name, with Elixir's prefix if the description has it. */
static const char *as_written(const struct probe_spec *s, const struct catalog_mod *m)
{
    const char *alias = elixir_alias(m->name);
    return alias && !glob_match(s->mod, m->name) ? alias : m->name;
}

static const char *suggest_function(struct catalog *c, const struct probe_spec *s,
                                    const struct catalog_mod *m)
{
    const char *cand[NEAR_MAX], *slash = strrchr(s->func, '/');
    size_t n = 0;
    char name[512], macro[sizeof name + 8];
    struct buf have = BUF_INIT;
    const char *hint, *mod = as_written(s, m);
    size_t len = 0;
    for (const char *p = s->func; *p != '\0' && p != slash && len + 1 < sizeof name; p++)
        if (*p != '\\' || p[1] == '\\')
            name[len++] = *p;
    name[len] = '\0';
    if (slash && slash != s->func) {
        arities(&have, m, name);
        if (have.len > 0) {
            hint = say(c, "%s has no %s; it has %s", mod, s->func, buf_str(&have));
            buf_free(&have);
            return hint;
        }
    }
    if (snprintf(macro, sizeof macro, "MACRO-%s", name) < (int)sizeof macro)
        arities(&have, m, macro);
    if (have.len > 0) {
        hint = say(c, "%s.%s is a macro, which runs when modules are compiled, as %s", mod, name,
                   buf_str(&have));
        buf_free(&have);
        return hint;
    }
    for (uint32_t f = 0; f < m->nfn && n < NEAR_MAX; f++)
        if (n == 0 || strcmp(cand[n - 1], m->fn[f].name) != 0)
            cand[n++] = m->fn[f].name;
    const char *near = diag_nearest(name, cand, n);
    if (near)
        return say(c, "%s has no function '%s'; did you mean '%s'?", mod, s->func, near);
    return say(c, "%s has no function '%s'", mod, s->func);
}

/* Returns whether there are modules below a missing one: MyApp.Foo, for MyApp. */
static bool has_below(const char *mod, const char *const *cand, size_t n)
{
    size_t len = strlen(mod);
    for (size_t i = 0; i < n; i++)
        if (strncmp(cand[i], mod, len) == 0 && cand[i][len] == '.')
            return true;
    return false;
}

/* Returns the module whose last parts are this name, as an Elixir alias is written: MyApp.Foo, for
 * Foo. NULL: there is not exactly one. */
static const char *longer_name(const char *mod, const char *const *cand, size_t n)
{
    const char *found = NULL;
    size_t len = strlen(mod), all;
    for (size_t i = 0; i < n; i++) {
        all = strlen(cand[i]);
        if (all <= len + 1 || cand[i][all - len - 1] != '.' ||
            strcmp(cand[i] + all - len, mod) != 0)
            continue;
        if (found)
            return NULL;
        found = cand[i];
    }
    return found;
}

static const char *suggest_module(struct catalog *c, const struct probe_spec *s)
{
    const char *near = NULL, *alias;
    const char **cand;
    if (strcmp(s->mod, "erltrace_agent") == 0)
        return say(c, "erltrace's own module in the node is never traced");
    if (!glob_exact(s->mod))
        return say(c, "no loaded module matches '%s'; erltrace sees loaded modules only", s->mod);
    cand = et_malloc((c->nmod + 1) * sizeof *cand);
    if (cand) {
        for (size_t i = 0; i < c->nmod; i++) {
            alias = elixir_alias(s->mod) ? NULL : elixir_alias(c->mod[i].name);
            cand[i] = alias ? alias : c->mod[i].name;
        }
        if (has_below(s->mod, cand, c->nmod)) {
            et_free(cand);
            return say(c,
                       "module '%s' is not loaded; %s.*::entry matches the calls of those below it",
                       s->mod, s->mod);
        }
        near = longer_name(s->mod, cand, c->nmod);
        near = near ? near : diag_nearest(s->mod, cand, c->nmod);
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

/* Returns a known probe that the description names but this node cannot have; NULL: there is none.
 */
static const struct probe_def *lacking(const struct catalog *c, const struct probe_spec *s)
{
    const struct probe_def *def = NULL;
    if (s->id != 0 || s->name[0] == '\0' || !match_named(s, c->prov, true, s->name))
        return NULL;
    while ((def = probe_erlang_next(def)) != NULL)
        if (!delivers(c, def) && glob_match(s->name, def->name))
            return def;
    return probe_erlang_lacking(s->name);
}

const char *catalog_lacking(struct catalog *c, const struct probe_spec *s)
{
    const struct probe_def *def = lacking(c, s);
    if (!def)
        return NULL;
    return say(c, "%s%s", def->lacking,
               probe_on(def, c->otp) == PROBE_BY_KERNEL
                   ? "; a kernel tier could, on an OTP built with dynamic tracing"
                   : "");
}

const char *catalog_suggest(struct catalog *c, const struct probe_spec *s)
{
    struct diags d;
    const char *hint = NULL;
    const struct catalog_mod *m = NULL;
    if (s->id)
        return say(c, "no probe has the id %u; -l lists them", s->id);
    if ((hint = catalog_lacking(c, s)) != NULL)
        return hint;
    if (!probe_glob_provider(s->prov, c->prov) && !glob_match(s->prov, "dtrace") &&
        !glob_match(s->prov, "profile"))
        return suggest_provider(c, s);
    if (!s->prov[0] && s->mod[0] && s->mod[0] != '*' && probe_glob_provider(s->mod, c->prov))
        return say(
            c, "'%s' stands where the module belongs; the parts are provider:module:function:name",
            s->mod);
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
    const char *mod = s->mod[0] ? NULL : module_named(c, s->func);
    if (mod)
        return say(c, "%s is a module: %s::%s", mod, mod, s->name[0] ? s->name : "entry");
    diags_init(&d);
    if (need_modules(c, &d) == 0 && need_functions(c, s->mod[0] ? s->mod : "", &d) == 0) {
        size_t n = 0;
        for (size_t i = 0; i < c->nmod; i++)
            if (means_module(c, s->mod, c->mod[i].name)) {
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
