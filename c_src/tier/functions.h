/* functions.h - the probes that a node has: fetched on demand, cached, matched against
 * descriptions.
 *
 * The module list is fetched when a description could name a function, and the functions of a
 * module when its name matches. What was fetched stays unchanged while the tier is open, and only
 * grows when code is loaded (catalog_loaded).
 *
 * A probe's id follows from its position in the node, independent of earlier queries, so that an id
 * seen in one listing means the same probe in the next run (as long as the same modules are
 * loaded):
 *
 *      1..3       BEGIN, END, ERROR
 *      10..       named probes: their kind
 *      900..      ticks that always exist, by their index among probe_intervals()
 *      1000..     other ticks, in the order in which they were first requested
 *      3000..     user_trace-n0 and so on
 *      4000..     probes of programs, in the order requested: a name, or a pattern for names, which
 *                 are known only when a program fires them
 *      10000 + 10000 * M + 5 * F + K    function F of module M, both sorted by name; K: entry,
 *                 return, exception, and two that depend on its class (probe_fn_kind)
 *      3000000000..    functions of a module beyond its 2000th, and those that came with code
 *                 loaded since, in the order in which they were fetched */
#ifndef ET_TIER_FUNCTIONS_H
#define ET_TIER_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "tier/tier.h"

struct catalog_fn {
    const char *name; /* "map" */
    const char *full; /* "map/2" */
    uint32_t arity;
    enum probe_fn_class class;
    uint32_t late; /* not 0: its index in `late`, plus one */
};
struct catalog_mod {
    const char *name;
    struct catalog_fn *fn; /* the first nfirst are sorted by name, then arity; later ones follow */
    uint32_t nfn, nfirst;
    bool fetched;
    bool stale; /* reloaded since */
};
/* A function with an id of the last range. */
struct catalog_late {
    uint32_t mod, fn; /* indices */
};
struct catalog_tick {
    const char *name;
    uint64_t period;      /* ns */
    enum probe_kind kind; /* PROBE_TICK, PROBE_PROFILE or PROBE_WALL */
};

struct catalog;
/* Where the names come from: a node, or a test. Each function fills the catalog by catalog_add_*,
 * and returns 0 or an error with a diagnostic. */
struct catalog_source {
    void *arg;
    int (*modules)(void *arg, struct catalog *c, struct diags *d);
    int (*functions)(void *arg, struct catalog *c, const uint32_t *mods, size_t n, struct diags *d);
};

struct catalog {
    struct arena arena;
    const char *prov; /* "erlang1234" */
    int otp;          /* the node's release, which decides what probes it can have */
    struct catalog_source src;
    struct catalog_mod *mod; /* by name up to nsorted, then in order of arrival */
    size_t nmod, nsorted, capmod;
    bool have_modules;
    struct catalog_late *late;
    size_t nlate, caplate;
    size_t settled; /* of `late`: those that catalog_match_new has reported */
    bool grown;     /* code was loaded since */
    struct catalog_tick *tick;
    size_t ntick;
    const char **number; /* the names of numbered probes; NULL: not created yet */
    const char **user;   /* the names of probes of programs */
    size_t nuser;
    const struct probe_def *any; /* the row that they belong to */
    struct buf hint;
};

/* Creates a catalog. `prov` is copied; otp is the node's release. Returns 0 or ET_ENOMEM. */
int catalog_init(struct catalog *c, const char *prov, int otp, const struct catalog_source *src);
void catalog_free(struct catalog *c);

/* For sources. Names are copied; false when memory is exhausted. Call catalog_sorted after the last
 * module. */
bool catalog_add_module(struct catalog *c, const char *name);
void catalog_sorted(struct catalog *c);
struct catalog_mod *catalog_module(struct catalog *c, const char *name); /* NULL: not loaded */
/* Finds the modules that a pattern names: *n of them, of which at most `most` are in `name`.
 * Returns 0 or an error with a diagnostic. */
int catalog_modules(struct catalog *c, const char *pattern, const char **name, size_t most,
                    size_t *n, struct diags *d);
/* Sets a module's functions: n names, arities and classes; for a reloaded module, adds those that
 * it did not have. */
bool catalog_set_functions(struct catalog *c, struct catalog_mod *m, const struct catalog_fn *fn,
                           uint32_t n);

/* Matches as tier_ops.match does. */
int catalog_match(struct catalog *c, struct tier *t, const struct probe_spec *spec,
                  tier_match_fn fn, void *arg, struct diags *d);
/* Notes that the node has loaded this module. Returns false when memory is exhausted. */
bool catalog_loaded(struct catalog *c, const char *name);
/* Matches as catalog_match does, but only function probes that came with loaded code after the last
 * catalog_settle (or the beginning). */
int catalog_match_new(struct catalog *c, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                      struct diags *d);
void catalog_settle(struct catalog *c);
/* Finds the probe with this id among those fetched so far; returns false if there is none. *m and
 * *f are set for functions. */
bool catalog_probe(struct catalog *c, uint32_t id, struct tier_probe *out,
                   const struct catalog_mod **m, const struct catalog_fn **f);
/* See tier_ops.lacking. */
const char *catalog_lacking(struct catalog *c, const struct probe_spec *spec);
/* See tier_ops.suggest. */
const char *catalog_suggest(struct catalog *c, const struct probe_spec *spec);

#endif
