/* counts.c - see counts.h. */
#include "tier/counts.h"

#include "tier/decide.h"

enum {
    MOST_CLAUSES = 8,  /* on one function */
    MOST_OFTEN = 1000, /* functions whose counters may be read whenever there are records */
    AGGRATE_MS = 100,  /* the shortest time between readings of aggregations */
    MS = 1000000       /* ns */
};

/* Returns whether the program's options leave its results the same. */
static bool allowed(const struct tier_options *opt)
{
    const int64_t budget = (int64_t)MOST_CLAUSES * 2 * DECIDE_COUNTS_UNITS;
    return opt->lower != 0 && opt->cpu < 0 && opt->bufpolicy == RECORD_POLICY_SWITCH &&
           (opt->aggrate <= 0 || opt->aggrate >= (int64_t)AGGRATE_MS * MS) &&
           (opt->eventbudget <= 0 || opt->eventbudget >= budget);
}

/* Returns whether the agent reads the counters before the probe fires, or nothing was counted so
 * far. */
static bool after_reading(const struct counts_probe *p)
{
    return p->kind == PROBE_BEGIN || p->kind == PROBE_END ||
           (p->kind == PROBE_TICK && p->period >= (uint64_t)COUNTS_TICK_MS * MS);
}

static bool uses_global(uint32_t in)
{
    const uint32_t op = in >> 24;
    return op == DIF_OP_LDGS || op == DIF_OP_STGS || op == DIF_OP_ADDGS;
}

/* What is known of a clause, from where it is bound. */
struct where_bound {
    bool own;    /* only where counters have been read */
    bool counts; /* where it is not, it only counts */
};

/* Notes which variables a clause may use at any time: also where it may come to be bound, in code
 * that is still to be loaded. Returns false if it may end the program. */
static bool note(const struct dif_image *img, uint32_t clause, const struct where_bound *of,
                 bool *used)
{
    const struct dif_clause *c = &img->clauses[clause];
    for (uint32_t i = 0; i < c->ncode; i++) {
        const uint32_t in = img->code[c->code + i];
        const bool only_adds = in >> 24 == DIF_OP_ADDGS && of->counts && i >= c->npred;
        if (in >> 24 == DIF_OP_EXIT)
            return false;
        if (uses_global(in) && !only_adds)
            used[in & 65535] = true;
    }
    return true;
}

static bool has_records(const struct dif_image *img, uint32_t clause)
{
    return img->clauses[clause].records || img->clauses[clause].nsubs > 0;
}

static bool adds_to(const struct dif_image *img, uint32_t clause, const bool *used)
{
    const struct dif_clause *c = &img->clauses[clause];
    for (uint32_t i = 0; i < c->ncode; i++) {
        const uint32_t in = img->code[c->code + i];
        if (uses_global(in) && used[in & 65535])
            return true;
    }
    return false;
}

/* Takes all functions that have a clause that does not count, or too many. */
static size_t settle_functions(struct tier_binding *b, const struct counts_probe *p, size_t n)
{
    size_t functions = 0, end;
    for (size_t i = 0; i < n; i = end) {
        bool all = b[i].counts;
        for (end = i + 1; end < n && p[i].function && p[end].function == p[i].function; end++)
            all = all && b[end].counts;
        all = all && end - i <= MOST_CLAUSES && p[i].function;
        for (size_t k = i; k < end; k++)
            b[k].counts = all;
        functions += all;
    }
    return functions;
}

size_t counts_settle(const struct dif_image *img, const struct tier_options *opt,
                     struct tier_binding *b, const struct counts_probe *p, size_t n)
{
    bool *used = et_calloc(img->nvars + (size_t)1, sizeof *used);
    struct where_bound *of = et_calloc(img->nclauses + (size_t)1, sizeof *of);
    bool *seen = et_calloc(img->nclauses + (size_t)1, sizeof *seen), often = false;
    bool some = used != NULL && of != NULL && seen != NULL && allowed(opt);
    for (size_t i = 0; i < n && some; i++) {
        struct where_bound *c = &of[b[i].clause];
        const bool own = after_reading(&p[i]);
        c->own = own && (c->own || !seen[b[i].clause]);
        c->counts = (own || b[i].counts) && (c->counts || !seen[b[i].clause]);
        seen[b[i].clause] = true;
        often = often ||
                (!own && !b[i].counts && opt->aggs_with_records && has_records(img, b[i].clause));
    }
    for (uint32_t c = 0; c < img->nclauses && some; c++)
        if (!of[c].own)
            some = note(img, c, &of[c], used);
    for (size_t i = 0; i < n; i++)
        b[i].counts = some && b[i].counts && !adds_to(img, b[i].clause, used);
    et_free(used);
    et_free(of);
    et_free(seen);
    const size_t functions = settle_functions(b, p, n);
    if (!often || functions <= MOST_OFTEN)
        return functions;
    for (size_t i = 0; i < n; i++)
        b[i].counts = false;
    return 0;
}
