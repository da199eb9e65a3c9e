/* engine.c - fuzz target: any image that the verifier accepts, run by the engine.
 *
 * The input is an image in its binary form, then how it is run: options, then
 * firings, each the number of a clause and the arguments that it asks for. When the input is at its
 * end, each clause fires once more with arguments of 0. What the engine gathered is drained and
 * walked as a tier does it: every record must be as its parts say. */
#include "fuzz.h"
#include "mutate.h"

#include "base/err.h"
#include "result/value.h"
#include "engine/engine.h"
#include "tier/tier.h"

enum { FIRINGS_MOST = 48, TEXT_MOST = 300, PARTS_MOST = 4096 };
#define MEMORY_MOST (UINT64_C(3) << 30) /* of address space, mostly */

struct run {
    struct input in;
    const struct dif_image *img;
    struct engine *e;
    struct engine_thread *t;
    struct diags *d;
    char *text[ENGINE_ARGS * FIRINGS_MOST]; /* arguments, each in memory of its own */
    unsigned ntexts;
    uint64_t records;
    struct value value[PARTS_MOST];
};

/* The firing that `argument` speaks of: contexts carry no argument of ours. */
static struct run *running;

static uint64_t argument(struct engine_ctx *ctx, unsigned n)
{
    struct run *r = running;
    uint8_t what = input_byte(&r->in);
    (void)n;
    if (what < 96)
        return what < 64 ? what : UINT64_C(0) - what;
    if (what < 160)
        return input_bytes(&r->in, 8);
    size_t len = input_byte(&r->in) % TEXT_MOST;
    len = len < r->in.n ? len : r->in.n;
    if (r->ntexts == sizeof r->text / sizeof *r->text)
        return 0;
    /* With its NUL, or without: then it cannot be read as a string. */
    bool nul = what < 240;
    char *s = malloc(len + nul + (len + nul == 0));
    must(s != NULL, "there is memory", NULL);
    r->text[r->ntexts++] = s;
    memcpy(s, r->in.p, len);
    if (nul)
        s[len] = '\0';
    r->in.p += len;
    r->in.n -= len;
    engine_ctx_range(ctx, s, len + nul);
    return (uint64_t)(uintptr_t)s;
}

/* -- what comes out ------------------------------------------------------------------ */

static void on_record(void *arg, struct tier *t, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                      const uint8_t *parts, size_t len)
{
    struct run *r = arg;
    (void)t;
    (void)timestamp;
    (void)cpu;
    must(epid >= 1 && epid <= r->img->nclauses, "a record is of a clause", r->d);
    const struct dif_clause *c = &r->img->clauses[epid - 1];
    uint32_t part = c->part, nparts = c->nparts;
    r->records++;
    if (c->nsubs > 0) {
        uint32_t sub = UINT32_MAX;
        if (len >= sizeof sub)
            memcpy(&sub, parts, sizeof sub);
        must(sub < c->nsubs, "a record is of a sub-clause", r->d);
        part = r->img->subs[c->sub + sub].part;
        nparts = r->img->subs[c->sub + sub].nparts;
        parts += sizeof sub;
        len -= sizeof sub;
    }
    if (nparts <= PARTS_MOST)
        must(values_parse(r->img->parts + part, nparts, parts, len, r->value) == 0,
             "a record has its parts", r->d);
}

static void on_aggregation(void *arg, struct tier *t, uint32_t agg, uint32_t cpu,
                           const uint8_t *key, size_t keylen, const uint64_t *words, size_t nwords,
                           bool lower)
{
    struct run *r = arg;
    (void)t;
    (void)cpu;
    (void)words;
    (void)lower;
    must(agg < r->img->naggs && nwords == dif_agg_words(&r->img->aggs[agg]),
         "an entry is of an aggregation", r->d);
    const struct dif_keys *k = &r->img->aggs[agg].keys;
    must(values_parse(k->key, k->n, key, keylen, r->value) == 0, "an entry has its keys", r->d);
}

static void on_fault(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                     uint32_t fault, uint64_t value, uint32_t cpu)
{
    struct run *r = arg;
    (void)t;
    (void)fault;
    (void)value;
    (void)cpu;
    must(epid >= 1 && epid <= r->img->nclauses, "a fault is of a clause", r->d);
    const struct dif_clause *c = &r->img->clauses[epid - 1];
    must((action <= c->nactions || action == 1) && offset / 4 < c->ncode, "a fault has a place",
         r->d);
}

static void drain(struct run *r)
{
    static const unsigned all = RECORD_PRINCIPAL | RECORD_AGGS;
    struct engine_mark mark;
    struct tier_sink sink = {
        .arg = r, .record = on_record, .aggregation = on_aggregation, .fault = on_fault};
    for (int half = 0; half < 3; half++) {
        struct buf out = BUF_INIT;
        engine_flip(r->e, all);
        engine_mark(&mark);
        must(engine_quiet(&mark), "nobody is inside", r->d);
        while (!engine_drain(r->e, all, out.len + 4096, &out))
            must(!out.oom, "there is memory", r->d);
        must(tier_report(NULL, r->img, out.data, out.len, &sink, r->d) == 0,
             "what is drained can be read", r->d);
        buf_free(&out);
    }
    must(!engine_pending(r->e, all), "all is drained", r->d);
}

/* -- running it ---------------------------------------------------------------------- */

static void fire(struct run *r, uint32_t clause)
{
    static const struct engine_probe probe = {7, "profile", "a module", "", "tick-1s"};
    struct engine_ctx ctx = {.probe = &probe, .arg = argument, .self = clause % 3};
    struct engine_binding b[2] = {{clause + 1, clause}, {1, 0}};
    engine_enter(r->t);
    engine_fire(r->e, r->t, &ctx, b, 1 + (clause & 1));
    engine_leave(r->t);
}

/* Whether records may go where they can be discarded. */
static bool speculates(const struct dif_image *img)
{
    for (uint32_t i = 0; i < img->ncode; i++)
        if (img->code[i] >> 24 == DIF_OP_SPEC)
            return true;
    return false;
}

static uint64_t size_or(struct input *in, uint64_t otherwise)
{
    const uint64_t n = a_size(in);
    return n != SIZE_AS_IT_IS ? n : otherwise;
}

static void run(struct run *r, struct dif_image *img)
{
    static const struct engine_probe error = {3, "dtrace", "", "", "ERROR"};
    const uint32_t nclauses = img->nclauses;
    /* Sizes from a few hundred bytes, so that all kinds of drops happen; or the least and the most.
     */
    struct engine_options opt = {.threads = 1, .pid = 4711, .memory = MEMORY_MOST};
    opt.bufsize = size_or(&r->in, UINT64_C(256) << (input_byte(&r->in) % 11));
    opt.aggsize = size_or(&r->in, UINT64_C(4096) << (input_byte(&r->in) % 7));
    opt.dynvarsize = size_or(&r->in, UINT64_C(256) << (input_byte(&r->in) % 13));
    opt.specsize = size_or(&r->in, UINT64_C(64) << (input_byte(&r->in) % 11));
    opt.nspec = (uint32_t)size_or(&r->in, input_byte(&r->in) % (DIF_SPECS_MAX + 2));
    opt.threads = (uint32_t)size_or(&r->in, 1);
    opt.eventbudget = size_or(&r->in, 0);
    uint8_t policy = input_byte(&r->in);
    opt.policy = (enum record_policy)(policy % RECORD_NPOLICIES);
    opt.fixed = policy >= 128;
    int err = engine_create(img, &opt, &r->e, r->d);
    must(err == 0 || err == ET_ELIMIT || err == ET_ENOMEM, "an error is one of those promised",
         r->d);
    must((err == 0) == (r->d->errors == 0), "an error has a diagnostic", r->d);
    if (err != 0)
        return;
    r->img = engine_image(r->e);
    r->t = engine_thread_self();
    const struct engine_binding on_error = {nclauses, nclauses - 1}, at_end = {1, 0};
    engine_set_error_bindings(r->e, &on_error, 1, &error);
    err = engine_set_end_bindings(r->e, &at_end, 1, r->d);
    must(err == 0 || err == ET_ELIMIT, "an error is one of those promised", r->d);
    engine_set_phase(r->e, ENGINE_RUNNING);
    for (unsigned i = 0; i < FIRINGS_MOST && r->in.n > 0; i++) {
        uint8_t clause = input_byte(&r->in);
        fire(r, clause % nclauses);
        if (clause >= 250)
            drain(r);
    }
    r->in.n = 0;
    engine_set_phase(r->e, ENGINE_END);
    for (uint32_t i = 0; i < nclauses && i < FIRINGS_MOST; i++)
        fire(r, i);
    engine_set_phase(r->e, ENGINE_STOPPED);
    drain(r);
    struct record_counts counts;
    engine_counts(r->e, &counts);
    /* What a ring has overwritten may have been records of faults. */
    uint64_t seen = r->records + (opt.policy == RECORD_POLICY_RING ? counts.overwritten : 0);
    bool few = seen<counts.recorded, many = r->records> counts.recorded;
    must(!many && (!few || speculates(r->img)), "what was recorded is drained", r->d);
    must(counts.errors >= counts.drop[RECORD_DROP_DBLERROR], "an error in ERROR is one too", r->d);
    engine_destroy(r->e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run r;
    struct diags d;
    struct dif_image img;
    size_t len = image_length(data, size);
    diags_init(&d);
    dif_image_init(&img);
    if (dif_decode(&img, data, len, &d) == 0 && dif_verify_for(&img, WORD_LOCAL, &d) == 0 &&
        img.nclauses > 0) {
        memset(&r, 0, offsetof(struct run, value));
        r.in = (struct input){data + len, size - len};
        r.d = &d;
        running = &r;
        run(&r, &img);
        for (unsigned i = 0; i < r.ntexts; i++)
            free(r.text[i]);
    }
    dif_image_free(&img);
    diags_free(&d);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    return mutate(data, size, max, seed, true);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t max, unsigned seed)
{
    return cross_over(a, na, b, nb, out, max, seed);
}
