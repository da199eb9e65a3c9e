/* mixed.c - scripts of both worlds: their clauses run in the kernel tier, which comes first, and
 * nodes pass it the events of their probes.
 *
 * In a node each of those probes has one clause, which computes what the script's clauses on it
 * read. Probes with the same clauses share it. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "lang/encode.h"
#include "session/session.h"
#include "tier/vm_open.h"
#include "util/buftext.h"

enum { SIZES = 64 << 10 /* bytes of a node's buffers */ };

/* A probe of a node, as the kernel tier has it. */
struct mixed_probe {
    uint32_t id; /* of the node */
    uint32_t kernel, number;
    uint32_t epid; /* its first one */
};

/* One of its clauses. */
struct mixed_clause {
    uint32_t probe; /* its index */
    uint32_t clause;
    const struct probe_pids *pids; /* as in a binding */
};

struct session_passing {
    struct buf probe;  /* struct mixed_probe */
    struct buf bound;  /* struct mixed_clause */
    struct hash index; /* by mixed_probe.id -> index + 1 */
    struct hash sets;  /* lists of clauses -> number + 1 */
    struct arena keys;
    struct dif_image img;
    struct buf encoded;
    struct tier_binding *binding;
};

bool session_passes(const struct session *s, const struct session_tier *t)
{
    return s->mixed && t->t->ops->place == WORD_VM;
}

static struct mixed_probe *probe_at(const struct session_passing *p, size_t i)
{
    return (struct mixed_probe *)(void *)p->probe.data + i;
}

static size_t count(const struct session_passing *p)
{
    return p->probe.len / sizeof(struct mixed_probe);
}

/* Returns the index of a probe, which is given to the kernel tier when it comes first. */
static int take(struct session *s, struct session_tier *t, const struct tier_probe *p,
                uint32_t epid, uint32_t *index)
{
    struct session_passing *all = t->passing;
    struct tier *kernel = s->tier[0].t;
    const uintptr_t at = (uintptr_t)hash_get(&all->index, &p->id, sizeof p->id);
    if (at != 0) {
        *index = (uint32_t)at - 1;
        return 0;
    }
    struct mixed_probe made = {.id = p->id, .epid = epid};
    uint32_t *key = arena_alloc(&all->keys, sizeof *key);
    *index = (uint32_t)count(all);
    const int err = kernel->ops->take(kernel, tier_vm_pid(t->t), tier_vm_passes(t->t), p,
                                      &made.kernel, &made.number, &s->diags);
    if (err != 0)
        return err;
    buf_add(&all->probe, &made, sizeof made);
    if (key == NULL || all->probe.oom)
        return session_no_memory(s);
    *key = p->id;
    return hash_put(&all->index, key, sizeof *key, (void *)(uintptr_t)(*index + 1)) != 0
               ? session_no_memory(s)
               : 0;
}

/* Makes t->passing, if there is none yet. Returns 0 or an error with a diagnostic. */
static int begin(struct session *s, struct session_tier *t)
{
    if (t->passing != NULL)
        return 0;
    t->passing = arena_alloc(&s->arena, sizeof *t->passing);
    if (t->passing == NULL)
        return session_no_memory(s);
    arena_init(&t->passing->keys);
    dif_image_init(&t->passing->img);
    return 0;
}

int session_pass(struct session *s, struct session_tier *t, const struct tier_probe *p,
                 struct tier_binding *b)
{
    struct mixed_clause bound = {.clause = b->clause, .pids = b->pids};
    int err = begin(s, t);
    if (err == 0)
        err = take(s, t, p, b->epid, &bound.probe);
    if (err != 0)
        return err;
    buf_add(&t->passing->bound, &bound, sizeof bound);
    b->probe = probe_at(t->passing, bound.probe)->kernel;
    b->pids = NULL;
    return t->passing->bound.oom ? session_no_memory(s) : 0;
}

/* -- the program of a node --------------------------------------------------------------------- */

static int by_probe(const void *a, const void *b)
{
    const struct tier_binding *x = a, *y = b;
    return (x->probe > y->probe) - (x->probe < y->probe);
}

static int by_clause(const void *a, const void *b)
{
    const struct mixed_clause *x = a, *y = b;
    if (x->probe != y->probe)
        return x->probe < y->probe ? -1 : 1;
    return (x->clause > y->clause) - (x->clause < y->clause);
}

/* Returns the number of a set of clauses, which becomes *set if it is new; UINT32_MAX: memory is
 * exhausted. */
static uint32_t number_of(struct session *s, struct session_passing *p,
                          const struct mixed_clause *b, uint32_t n, struct compile_set *set)
{
    buf_reset(&s->text);
    for (uint32_t i = 0; i < n; i++)
        buf_add(&s->text, &b[i].clause, sizeof b[i].clause);
    const uintptr_t at = s->text.oom ? 0 : (uintptr_t)hash_get(&p->sets, s->text.data, s->text.len);
    if (at != 0)
        return (uint32_t)at - 1;
    uint32_t *clause = arena_array(&p->keys, n, sizeof *clause), reads = 0;
    if (s->text.oom || clause == NULL)
        return UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        clause[i] = b[i].clause;
        reads |= compile_reads(&s->img, clause[i]);
    }
    const uintptr_t number = p->sets.count + 1;
    *set = (struct compile_set){clause, n, reads};
    return hash_put(&p->sets, clause, n * sizeof *clause, (void *)number) == 0
               ? (uint32_t)number - 1
               : UINT32_MAX;
}

/* Makes the bindings, and the sets of their clauses: *nsets of them. Returns 0 or ET_ENOMEM. */
static int place_all(struct session *s, struct session_passing *p, struct compile_set *set,
                     uint32_t *nsets)
{
    struct mixed_clause *b = (struct mixed_clause *)(void *)p->bound.data;
    const size_t n = p->bound.len / sizeof *b;
    if (n > 0)
        qsort(b, n, sizeof *b, by_clause);
    for (size_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && b[i + same].probe == b[i].probe; same++)
            ;
        const struct mixed_probe *of = probe_at(p, b[i].probe);
        const uint32_t clause = number_of(s, p, b + i, (uint32_t)same, &set[*nsets]);
        if (clause == UINT32_MAX)
            return ET_ENOMEM;
        *nsets += clause == *nsets;
        const struct probe_pids *pids = b[i].pids;
        for (size_t k = 1; k < same; k++)
            pids = b[i + k].pids == pids ? pids : NULL;
        p->binding[b[i].probe] = (struct tier_binding){
            .epid = of->number, .clause = clause, .probe = of->id, .pids = pids};
    }
    if (count(p) > 0)
        qsort(p->binding, count(p), sizeof *p->binding, by_probe);
    return 0;
}

int session_enable_passing(struct session *s, struct session_tier *t, struct tier_options *opt)
{
    uint32_t nsets = 0;
    int err = begin(s, t);
    if (err != 0)
        return err;
    struct session_passing *p = t->passing;
    struct compile_set *set = arena_array(&s->arena, count(p) + 1, sizeof *set);
    p->binding = arena_array(&s->arena, count(p) + 1, sizeof *p->binding);
    if (set == NULL || p->binding == NULL || place_all(s, p, set, &nsets) != 0)
        return session_no_memory(s);
    err = compile_passing(s->compile, set, nsets, &p->img);
    if (err == 0 && dif_encode(&p->img, &p->encoded) != 0)
        err = session_no_memory(s);
    opt->later = NULL;
    opt->nlater = 0;
    /* It records nothing but faults. */
    opt->bufsize = opt->aggsize = opt->dynvarsize = opt->specsize = SIZES;
    opt->bufpolicy = RECORD_POLICY_SWITCH;
    opt->bufresize = 0;
    if (err == 0)
        err = t->t->ops->enable(t->t, &p->img, p->encoded.data, p->encoded.len, p->binding,
                                count(p), opt, &s->diags);
    return err;
}

uint32_t session_passed_epid(const struct session_tier *t, uint32_t number)
{
    const struct session_passing *p = t->passing;
    size_t low = 0, high = p != NULL ? count(p) : 0;
    while (low < high) { /* numbers ascend */
        const size_t mid = low + (high - low) / 2;
        if (probe_at(p, mid)->number < number)
            low = mid + 1;
        else
            high = mid;
    }
    return p != NULL && low < count(p) && probe_at(p, low)->number == number
               ? probe_at(p, low)->epid
               : 0;
}

size_t session_passed(const struct session_tier *t)
{
    return t->passing != NULL ? count(t->passing) : 0;
}

void session_passing_free(struct session_passing *p)
{
    if (p == NULL)
        return;
    buf_free(&p->probe);
    buf_free(&p->bound);
    hash_free(&p->index);
    hash_free(&p->sets);
    arena_free(&p->keys);
    dif_image_free(&p->img);
    buf_free(&p->encoded);
}
