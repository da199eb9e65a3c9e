/* nameskept.c - see nameskept.h. Everything was fetched when the catalog was taken, so that its
 * sources, which ask the node, are never needed again. */
#include "tier/nameskept.h"

#include "base/err.h"
#include "tier/vm.h"

struct names_kept {
    struct catalog catalog;
    struct arena arena;
    const char *target;
};

struct names_tier {
    struct tier tier;
    struct names_kept *of;
    size_t matched;
};

static struct names_tier *names_of(struct tier *t)
{
    return (struct names_tier *)(void *)t;
}

static int no_modules(void *arg, struct catalog *c, struct diags *d)
{
    (void)arg, (void)c, (void)d;
    return 0;
}

static int no_functions(void *arg, struct catalog *c, const uint32_t *mods, size_t n,
                        struct diags *d)
{
    (void)arg, (void)c, (void)mods, (void)n, (void)d;
    return 0;
}

static int ignore(void *arg, const struct tier_probe *p)
{
    (void)arg, (void)p;
    return 0;
}

int names_take(struct tier *t, struct names_kept **out, struct diags *d)
{
    static const struct catalog_source nothing = {NULL, no_modules, no_functions};
    const struct probe_spec every = {"", "", "", "", 0};
    struct vm *v = tier_vm_of(t);
    if (v == NULL)
        return ET_EUNSUP;
    int rc = t->ops->match(t, &every, ignore, NULL, d);
    if (rc != 0)
        return rc;
    struct names_kept *n = et_calloc(1, sizeof *n);
    if (n == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "%s", et_strerror(ET_ENOMEM));
    arena_init(&n->arena);
    n->target = arena_strdup(&n->arena, t->ops->target(t));
    if (n->target == NULL) {
        names_free(n);
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "%s", et_strerror(ET_ENOMEM));
    }
    n->catalog = v->catalog;
    n->catalog.src = nothing;
    v->catalog = (struct catalog){.src = nothing};
    *out = n;
    return 0;
}

void names_free(struct names_kept *n)
{
    if (n == NULL)
        return;
    catalog_free(&n->catalog);
    arena_free(&n->arena);
    et_free(n);
}

/* -- the tier ---------------------------------------------------------------------------------- */

struct counting {
    struct names_tier *tier;
    tier_match_fn fn;
    void *arg;
    struct diags *d;
};

static int count(void *arg, const struct tier_probe *p)
{
    struct counting *c = arg;
    if (c->tier->matched++ == NAMES_MOST)
        return diag_error(c->d, ET_ELIMIT, NULL, "MATCH_MANY",
                          "describe fewer: name modules, or functions",
                          "the descriptions match more than %d probes, each counted once for each "
                          "clause",
                          NAMES_MOST);
    return c->fn(c->arg, p);
}

static int match(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                 struct diags *d)
{
    struct counting c = {names_of(t), fn, arg, d};
    return catalog_match(&names_of(t)->of->catalog, t, spec, count, &c, d);
}

static const char *suggest(struct tier *t, const struct probe_spec *spec)
{
    return catalog_suggest(&names_of(t)->of->catalog, spec);
}

static const char *lacking(struct tier *t, const struct probe_spec *spec)
{
    return catalog_lacking(&names_of(t)->of->catalog, spec);
}

static const char *target(struct tier *t)
{
    return names_of(t)->of->target;
}

static void shut(struct tier *t)
{
    et_free(names_of(t));
}

struct tier *names_open(struct names_kept *n)
{
    static const struct tier_ops ops = {.name = "names",
                                        .place = WORD_VM,
                                        .match = match,
                                        .suggest = suggest,
                                        .lacking = lacking,
                                        .close = shut,
                                        .target = target};
    struct names_tier *t = et_calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    t->tier.ops = &ops;
    t->of = n;
    return &t->tier;
}
