/* catalog.h - what probes a node has: fetched piece by piece, kept, matched against descriptions.
 *
 * The module list is fetched when a description could name a function, and the functions of a
 * module when its name matches. What was fetched stays as it is while the tier is open.
 *
 * A probe's id follows from its place in the node, whatever was asked before, so that an id seen in
 * one listing means the same probe in the next run (as long as the same modules are loaded):
 *
 *      1..3       BEGIN, END, ERROR
 *      10..       named probes, in the order of the provider table
 *      1000..     ticks, in the order in which they were first asked for
 *      10000 + 10000 * M + 3 * F + K    function F of module M, both sorted by name; K: entry,
 * return, exception 3000000000..    functions of a module beyond its 3333rd, in the order in which
 * they were fetched
 */
#ifndef ET_NODE_CATALOG_H
#define ET_NODE_CATALOG_H

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
};
struct catalog_mod {
    const char *name;
    struct catalog_fn *fn; /* by name, then arity */
    uint32_t nfn;
    uint32_t over; /* id of its 3334th function's entry, 0: it has fewer */
    bool fetched;
};
struct catalog_tick {
    const char *name;
    uint64_t period;
};

struct catalog;
/* Where the names come from; a node, or a test. Each fills by catalog_add_*; 0 or an error with a
 * diagnostic. */
struct catalog_source {
    void *arg;
    int (*modules)(void *arg, struct catalog *c, struct diags *d);
    int (*functions)(void *arg, struct catalog *c, const uint32_t *mods, size_t n, struct diags *d);
};

struct catalog {
    struct arena arena;
    const char *prov; /* "erlang1234" */
    struct catalog_source src;
    struct catalog_mod *mod; /* by name */
    size_t nmod, capmod;
    bool have_modules;
    struct catalog_tick *tick;
    size_t ntick;
    uint32_t next_over; /* next free id of the last range */
    struct buf hint;
};

/* `prov` is copied. 0 or ET_ENOMEM. */
int catalog_init(struct catalog *c, const char *prov, const struct catalog_source *src);
void catalog_free(struct catalog *c);

/* For sources. Names are copied; false when memory is out. catalog_sorted follows the last module.
 */
bool catalog_add_module(struct catalog *c, const char *name);
void catalog_sorted(struct catalog *c);
struct catalog_mod *catalog_module(struct catalog *c, const char *name); /* NULL: not loaded */
/* Sets a module's functions: n names and arities. */
bool catalog_set_functions(struct catalog *c, struct catalog_mod *m, const struct catalog_fn *fn,
                           uint32_t n);

/* As tier_ops.match. */
int catalog_match(struct catalog *c, struct tier *t, const struct probe_spec *spec,
                  tier_match_fn fn, void *arg, struct diags *d);
/* The probe with this id, as far as it has been fetched; false if there is none. *m and *f are set
 * for functions. */
bool catalog_probe(struct catalog *c, uint32_t id, struct tier_probe *out,
                   const struct catalog_mod **m, const struct catalog_fn **f);
/* As tier_ops.suggest. */
const char *catalog_suggest(struct catalog *c, const struct probe_spec *spec);

#endif
