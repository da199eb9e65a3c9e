/* engine.c - the life of an engine: its memory, its threads, and reading what it gathered. See
 * engine.h and impl.h. */
#include "engine/engine.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "engine/impl.h"

enum {
    VARIABLES_MOST = 1 << 30, /* bytes of globals, and of clause-locals */
    PAGE = 4096,
    SIZE_LEAST = 64 << 10,
    SCRATCH_LEAST = 8 << 10,
    SCRATCH_STRINGS = 16,
    COPIES_MOST = 16 << 20, /* bytes of scratch for structs that are read by copy */
    REC_HEAD = 24
};

/* -- threads --------------------------------------------------------------------- */

static _Alignas(64) struct engine_thread thread_table[ENGINE_THREADS_MAX];
static _Atomic uint32_t thread_count;
static __thread struct engine_thread *thread_self;

static struct engine_thread *thread_register(void)
{
    uint32_t i = atomic_load_explicit(&thread_count, memory_order_relaxed);
    do {
        if (i >= ENGINE_THREADS_MAX)
            return NULL;
    } while (!atomic_compare_exchange_weak(&thread_count, &i, i + 1));
    thread_table[i].index = i;
    thread_table[i].tid = (int32_t)gettid();
    thread_self = &thread_table[i];
    return thread_self;
}

struct engine_thread *engine_thread_self(void)
{
    struct engine_thread *t = thread_self;
    return __builtin_expect(t != NULL, 1) ? t : thread_register();
}

void engine_mark(struct engine_mark *m)
{
    atomic_thread_fence(memory_order_seq_cst);
    m->n = atomic_load(&thread_count);
    for (uint32_t i = 0; i < m->n; i++)
        m->seq[i] = atomic_load(&thread_table[i].seq);
}

bool engine_quiet(const struct engine_mark *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        if ((m->seq[i] & 1) != 0 && atomic_load(&thread_table[i].seq) == m->seq[i])
            return false;
    return true;
}

/* -- making an engine ------------------------------------------------------------ */

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

static uint32_t part_max(const struct dif_type *t)
{
    return t->kind == DIF_STRING ? 4 + t->size : t->size;
}

static uint32_t keys_max(const struct dif_keys *k)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < k->n; i++)
        n += part_max(&k->key[i]);
    return n;
}

/* Bytes of a scalar in memory. */
static uint32_t scalar_size(const struct dif_type *t)
{
    if (t->kind == DIF_BYTES)
        return (t->size + 7) & ~7u;
    return t->kind == DIF_STRING ? (8 + t->size + 1 + 7) & ~7u : 8;
}

static bool calls(const struct dif_image *img, enum dif_subr subr)
{
    for (uint32_t i = 0; i < img->ncode; i++)
        if (img->code[i] >> 24 == DIF_OP_CALL && (img->code[i] & 65535) == subr)
            return true;
    return false;
}

/* Most bytes of a record with these parts, without padding. */
static uint64_t record_max(const struct dif_image *img, uint32_t part, uint32_t nparts)
{
    uint64_t n = REC_HEAD;
    for (uint32_t p = 0; p < nparts; p++)
        n += part_max(&img->parts[part + p]);
    return n;
}

/* The most structs and arrays that one clause copies to scratch to read them. Branches go forward,
 * so that each instruction runs once. */
static uint64_t loads_by_copy(const struct dif_image *img)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < img->nclauses; i++) {
        const uint32_t *code = img->code + img->clauses[i].code;
        uint64_t n = 0;
        for (uint32_t k = 0; k < img->clauses[i].ncode; k++) {
            uint32_t op = code[k] >> 24, imm = code[k] & 65535;
            bool copies = op == DIF_OP_LDTS || op == DIF_OP_LDGAA || op == DIF_OP_LDTAA;
            n += copies && img->vars[imm].type.kind == DIF_BYTES;
        }
        most = n > most ? n : most;
    }
    return most;
}

/* Places variables, clauses and aggregations; key and value sizes of the dynamic store come out. */
static int plan(struct engine *e, uint32_t *globals, uint32_t *dyn_key, uint32_t *dyn_val)
{
    const struct dif_image *img = &e->img;
    e->vars = arena_alloc(&e->arena, img->nvars * sizeof *e->vars);
    e->clauses = arena_alloc(&e->arena, img->nclauses * sizeof *e->clauses);
    e->agg_words = arena_alloc(&e->arena, img->naggs * sizeof *e->agg_words);
    if (e->vars == NULL || e->clauses == NULL || e->agg_words == NULL)
        return ET_ENOMEM;
    for (uint32_t i = 0; i < img->nvars; i++) {
        const struct dif_var *v = &img->vars[i];
        if (!v->assoc && v->scope != DIF_THREAD) {
            uint32_t *end = v->scope == DIF_GLOBAL ? globals : &e->locals_size;
            e->vars[i].offset = *end;
            *end += scalar_size(&v->type);
            if (*end > VARIABLES_MOST)
                return ET_ELIMIT;
            continue;
        }
        uint32_t key = 4 + (v->scope == DIF_THREAD ? 8 : 0) + keys_max(&v->keys);
        uint32_t val = v->type.kind == DIF_STRING || v->type.size > 8 ? v->type.size : 8;
        *dyn_key = key > *dyn_key ? key : *dyn_key;
        *dyn_val = val > *dyn_val ? val : *dyn_val;
    }
    e->key_size = *dyn_key;
    for (uint32_t i = 0; i < img->naggs; i++) {
        uint32_t key = keys_max(&img->aggs[i].keys);
        e->agg_words[i] = dif_agg_words(&img->aggs[i]);
        e->key_size = key > e->key_size ? key : e->key_size;
    }
    for (uint32_t i = 0; i < img->nclauses; i++) {
        const struct dif_clause *c = &img->clauses[i];
        uint64_t n = c->nsubs == 0 ? record_max(img, c->part, c->nparts) : 0;
        for (uint32_t s = c->sub; s < c->sub + c->nsubs; s++) {
            uint64_t m = 4 + record_max(img, img->subs[s].part, img->subs[s].nparts);
            n = m > n ? m : n;
        }
        n = round_up(n, 8);
        if (n > UINT32_MAX)
            return ET_ELIMIT;
        e->clauses[i] = (struct clause_rt){.code = img->code + c->code, .record_max = (uint32_t)n};
    }
    if (calls(img, DIF_SUBR_strtok))
        e->strtok_size = (uint32_t)round_up(sizeof(struct strtok) + img->strsize, 8);
    if (calls(img, DIF_SUBR_speculation))
        e->nspec = e->opt.nspec;
    e->scratch_size = SCRATCH_STRINGS * (uint32_t)round_up(img->strsize + 9, 8);
    if (e->scratch_size < SCRATCH_LEAST)
        e->scratch_size = SCRATCH_LEAST;
    uint64_t copies = loads_by_copy(img) * round_up((size_t)*dyn_val + 1, 8);
    e->scratch_size += copies < COPIES_MOST ? (uint32_t)copies : COPIES_MOST;
    e->globals_size = *globals;
    return 0;
}

/* Sizes of an aggregation half: a sixteenth to an eighth of it is the index. */
static void plan_aggs(struct engine *e)
{
    uint32_t cells = 64;
    while ((uint64_t)cells * 2 * sizeof(uint64_t) <= e->opt.aggsize / 8)
        cells *= 2;
    e->index_cells = cells;
    e->agg_data = (e->opt.aggsize - cells * sizeof(uint64_t)) & ~UINT64_C(7);
}

/* Whether the largest record, aggregation entry and dynamic variable fit at all. */
static int check_limits(const struct engine *e, struct diags *d)
{
    for (uint32_t i = 0; i < e->img.nclauses; i++)
        if (e->img.clauses[i].records && e->clauses[i].record_max > e->opt.bufsize)
            return diag_error(d, ET_ELIMIT, NULL, "",
                              "give a larger bufsize (option -b or -x bufsize=)",
                              "Enabling exceeds size of buffer: one record takes up to %u bytes",
                              e->clauses[i].record_max);
    for (uint32_t i = 0; i < e->img.naggs; i++)
        if (sizeof(struct aentry) + e->agg_words[i] * 8 + keys_max(&e->img.aggs[i].keys) + 8 >
            e->agg_data)
            return diag_error(d, ET_ELIMIT, NULL, "", "give a larger aggsize (option -x aggsize=)",
                              "Enabling exceeds size of buffer: aggregation @%s",
                              dif_str(&e->img, e->img.aggs[i].name));
    return 0;
}

/* Reserves the mapping, halving the buffers while the system refuses it. */
static int reserve(struct engine *e, uint32_t globals, uint32_t dyn_key, uint32_t dyn_val,
                   struct diags *d)
{
    for (;;) {
        plan_aggs(e);
        int err = check_limits(e, d);
        if (err)
            return err;
        size_t dyn = dyn_key > 0 ? dyn_size(&e->dyn, e->opt.dynvarsize, dyn_key, dyn_val) : 0;
        if (dyn_key > 0 && dyn == 0)
            return diag_error(d, ET_ELIMIT, NULL, "",
                              "give a larger dynvarsize (option -x dynvarsize=)",
                              "dynvarsize is too small for the variables of this program");
        size_t shared = round_up(round_up(globals, 64) + dyn, PAGE);
        e->used_stride = round_up(sizeof(struct tstate), 64) + round_up(e->locals_size, 8) +
                         round_up(e->key_size, 8) + round_up(dyn_val, 8) + 8 + e->scratch_size +
                         2 * e->strtok_size + e->nspec * sizeof(struct phalf);
        e->used_stride = round_up(e->used_stride, 64);
        e->stride = round_up(e->used_stride + 2 * (e->opt.bufsize + e->opt.aggsize) +
                                 e->nspec * e->opt.specsize,
                             PAGE);
        e->map_size = shared + e->stride * e->opt.threads;
        e->map = mmap(NULL, e->map_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (e->map != MAP_FAILED) {
            e->globals = e->map;
            if (dyn_key > 0)
                dyn_place(&e->dyn, e->map + round_up(globals, 64));
            e->threads = e->map + shared;
            return 0;
        }
        e->map = NULL;
        if (e->opt.bufsize <= SIZE_LEAST && e->opt.aggsize <= SIZE_LEAST &&
            (e->nspec == 0 || e->opt.specsize <= SIZE_LEAST))
            return diag_error(d, ET_ENOMEM, NULL, "", "give smaller bufsize and aggsize",
                              "out of memory for buffers");
        e->opt.bufsize =
            e->opt.bufsize / 2 > SIZE_LEAST ? round_up(e->opt.bufsize / 2, 8) : SIZE_LEAST;
        e->opt.specsize = e->opt.specsize / 2 > SIZE_LEAST ? round_up(e->opt.specsize / 2, 8)
                          : e->opt.specsize < SIZE_LEAST   ? e->opt.specsize
                                                           : SIZE_LEAST;
        e->opt.aggsize =
            e->opt.aggsize / 2 > SIZE_LEAST ? round_up(e->opt.aggsize / 2, 8) : SIZE_LEAST;
    }
}

int engine_create(struct dif_image *img, struct engine_options *opt, struct engine **out,
                  struct diags *d)
{
    struct engine *e = et_calloc(1, sizeof *e);
    if (e == NULL) {
        dif_image_free(img);
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for the program");
    }
    e->img = *img;
    dif_image_init(img);
    arena_init(&e->arena);
    e->opt = *opt;
    e->opt.threads = opt->threads < 1                    ? 1
                     : opt->threads > ENGINE_THREADS_MAX ? ENGINE_THREADS_MAX
                                                         : opt->threads;
    e->opt.bufsize = round_up(opt->bufsize, 8);
    e->opt.aggsize = round_up(opt->aggsize < PAGE ? PAGE : opt->aggsize, 8);
    e->opt.specsize = round_up(opt->specsize, 8);
    e->opt.nspec = opt->nspec < DIF_SPECS_MAX ? opt->nspec : DIF_SPECS_MAX;
    uint32_t globals = 0, dyn_key = 0, dyn_val = 0;
    int err = plan(e, &globals, &dyn_key, &dyn_val);
    if (err == ET_ENOMEM)
        diag_error(d, err, NULL, "", NULL, "out of memory for the program");
    else if (err)
        diag_error(d, err, NULL, "", NULL, "a record of this program is too large");
    else
        err = reserve(e, globals, dyn_key, dyn_val, d);
    if (err) {
        engine_destroy(e);
        return err;
    }
    *opt = e->opt;
    *out = e;
    return 0;
}

void engine_destroy(struct engine *e)
{
    if (e == NULL)
        return;
    if (e->map != NULL)
        munmap(e->map, e->map_size);
    dif_image_free(&e->img);
    arena_free(&e->arena);
    et_free(e);
}

void engine_thread_init(const struct engine *e, struct tstate *ts)
{
    unsigned char *p = (unsigned char *)ts + round_up(sizeof *ts, 64);
    ts->locals = p;
    p += round_up(e->locals_size, 8);
    unsigned char *key = p;
    p += round_up(e->key_size, 8) + round_up(e->dyn.val_size, 8) +
         8; /* room for a value behind the key */
    ts->scratch = p;
    p += e->scratch_size;
    for (int i = 0; i < 2 && e->strtok_size > 0; i++, p += e->strtok_size)
        ts->strtok[i] = (struct strtok *)(void *)p;
    ts->spec = (struct phalf *)(void *)p;
    p = (unsigned char *)ts + e->used_stride;
    for (int i = 0; i < 2; i++, p += e->opt.bufsize) {
        ts->principal[i].data = p;
        ts->principal[i].size = e->opt.bufsize;
        ts->principal[i].drop = ENGINE_DROP_PRINCIPAL;
    }
    for (int i = 0; i < 2; i++, p += e->opt.aggsize) {
        ts->aggs[i].index = (uint64_t *)(void *)p;
        ts->aggs[i].data = p + e->index_cells * sizeof(uint64_t);
    }
    for (uint32_t i = 0; i < e->nspec; i++, p += e->opt.specsize) {
        ts->spec[i].data = p;
        ts->spec[i].size = e->opt.specsize;
        ts->spec[i].drop = ENGINE_DROP_SPEC;
    }
    __atomic_store_n(&ts->key, key, __ATOMIC_RELEASE);
}

const struct dif_image *engine_image(const struct engine *e)
{
    return &e->img;
}

void engine_set_error_bindings(struct engine *e, const struct engine_binding *b, uint32_t n,
                               const struct engine_probe *error_probe)
{
    e->error_bindings = b;
    e->nerror = n;
    e->error_probe = error_probe;
}

void engine_set_phase(struct engine *e, enum engine_phase p)
{
    atomic_store(&e->phase, p);
}

enum engine_phase engine_phase(const struct engine *e)
{
    return (enum engine_phase)atomic_load(&e->phase);
}

bool engine_exiting(const struct engine *e)
{
    return atomic_load(&e->exiting) != 0;
}

void engine_counts(const struct engine *e, struct engine_counts *c)
{
    memset(c, 0, sizeof *c);
    c->drop[ENGINE_DROP_THREAD] = atomic_load(&e->thread_drops);
    c->fired = c->drop[ENGINE_DROP_THREAD];
    uint32_t n = atomic_load(&thread_count);
    for (uint32_t i = 0; i < n && i < e->opt.threads; i++) {
        const struct tstate *ts = engine_tstate(e, i);
        c->fired += atomic_load_explicit(&ts->fired, memory_order_relaxed);
        c->recorded += atomic_load_explicit(&ts->recorded, memory_order_relaxed);
        c->updates += atomic_load_explicit(&ts->updates, memory_order_relaxed);
        c->errors += atomic_load_explicit(&ts->errors, memory_order_relaxed);
        for (int k = 0; k < ENGINE_NDROPS; k++)
            c->drop[k] += atomic_load_explicit(&ts->drop[k], memory_order_relaxed);
    }
}

/* -- reading --------------------------------------------------------------------- */

/* What one thread holds of one kind in one half, as the reader sees it. */
struct half {
    unsigned char *data;
    uint64_t used, size;
    uint64_t *drained;
};

static struct half half_of(const struct engine *e, struct tstate *ts, unsigned kind, unsigned which)
{
    if (!tstate_live(ts))
        return (struct half){NULL, 0, 0, NULL};
    if (kind == ENGINE_PRINCIPAL) {
        struct phalf *h = &ts->principal[which];
        return (struct half){h->data, atomic_load_explicit(&h->used, memory_order_relaxed),
                             e->opt.bufsize, &h->drained};
    }
    struct ahalf *h = &ts->aggs[which];
    return (struct half){h->data, atomic_load_explicit(&h->used, memory_order_relaxed), e->agg_data,
                         &h->drained};
}

static void half_reset(const struct engine *e, struct tstate *ts, unsigned kind, unsigned which)
{
    if (kind == ENGINE_PRINCIPAL) {
        ts->principal[which].drained = 0;
        atomic_store_explicit(&ts->principal[which].used, 0, memory_order_relaxed);
        return;
    }
    struct ahalf *h = &ts->aggs[which];
    memset(h->index, 0, e->index_cells * sizeof *h->index);
    h->count = 0;
    h->drained = 0;
    atomic_store_explicit(&h->used, 0, memory_order_relaxed);
}

static uint32_t engine_nthreads(const struct engine *e)
{
    uint32_t n = atomic_load(&thread_count);
    return n < e->opt.threads ? n : e->opt.threads;
}

/* Whether some thread has something in its active half (pressed: more than half of it), or in its
 * inactive one. */
static bool any_half(const struct engine *e, unsigned what, bool inactive_too, bool pressed)
{
    uint32_t active = atomic_load(&e->active);
    for (uint32_t i = 0; i < engine_nthreads(e); i++) {
        struct tstate *ts = engine_tstate(e, i);
        for (unsigned kind = ENGINE_PRINCIPAL; kind <= ENGINE_AGGS; kind++) {
            unsigned now = (active & kind) != 0;
            if ((what & kind) == 0)
                continue;
            struct half h = half_of(e, ts, kind, now);
            if (h.used > (pressed ? h.size / 2 : 0))
                return true;
            if (inactive_too && half_of(e, ts, kind, !now).used > 0)
                return true;
        }
    }
    return false;
}

/* Bit set of the speculations that were committed or discarded and are not free yet. */
static uint32_t specs_ended(const struct engine *e)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < e->nspec; i++)
        bits |= (uint32_t)(atomic_load(&e->spec[i]) >= SPEC_COMMITTED) << i;
    return bits;
}

bool engine_pending(const struct engine *e, unsigned what)
{
    return ((what & ENGINE_PRINCIPAL) != 0 && specs_ended(e) != 0) ||
           any_half(e, what, true, false);
}

bool engine_pressed(const struct engine *e, unsigned what)
{
    return any_half(e, what, false, true);
}

void engine_flip(struct engine *e, unsigned what)
{
    uint32_t active = atomic_load(&e->active), bits = 0;
    for (unsigned kind = ENGINE_PRINCIPAL; kind <= ENGINE_AGGS; kind++) {
        bool empty = true; /* a half that still holds something must not be written again */
        for (uint32_t i = 0; i < engine_nthreads(e); i++)
            empty &= half_of(e, engine_tstate(e, i), kind, (active & kind) == 0).used == 0;
        if ((what & kind) != 0 && empty)
            bits |= kind;
    }
    atomic_fetch_xor(&e->active, bits);
    if ((what & ENGINE_PRINCIPAL) != 0)
        e->spec_ended |= specs_ended(e);
}

/* Copies whole records or entries from one half, until it is empty or out holds limit bytes. */
static void half_drain(struct half *h, unsigned kind, uint32_t thread, size_t limit,
                       struct buf *out)
{
    uint64_t from = *h->drained, to = from;
    while (to < h->used && (to == from || out->len + (to - from) < limit)) {
        uint32_t size;
        memcpy(&size, h->data + to, 4);
        to += size;
    }
    if (!buf_reserve(out, 8 + (to - from)))
        return;
    buf_u8(out, (uint8_t)kind);
    buf_u8(out, 0);
    buf_u16(out, (uint16_t)thread);
    buf_u32(out, (uint32_t)(to - from));
    buf_add(out, h->data + from, to - from);
    *h->drained = to;
}

/* Copies out what threads have in speculations that were committed before the last flip, and frees
 * all that had ended; true when that is done. */
static bool specs_drain(struct engine *e, size_t limit, struct buf *out)
{
    for (uint32_t s = 0; s < e->nspec; s++) {
        if ((e->spec_ended >> s & 1) == 0)
            continue;
        bool wanted = atomic_load(&e->spec[s]) == SPEC_COMMITTED;
        for (uint32_t i = 0; i < engine_nthreads(e); i++) {
            struct tstate *ts = engine_tstate(e, i);
            if (!tstate_live(ts))
                continue;
            struct phalf *p = &ts->spec[s];
            struct half h = {p->data, atomic_load_explicit(&p->used, memory_order_relaxed), p->size,
                             &p->drained};
            if (wanted && h.used > 0) {
                if (out->len >= limit || out->oom)
                    return false;
                half_drain(&h, ENGINE_PRINCIPAL, i, limit, out);
                if (p->drained < h.used)
                    return false;
            }
            p->drained = 0;
            atomic_store_explicit(&p->used, 0, memory_order_relaxed);
        }
        e->spec_ended &= ~(1u << s);
        atomic_store(&e->spec[s], SPEC_IDLE);
    }
    return true;
}

bool engine_drain(struct engine *e, unsigned what, size_t limit, struct buf *out)
{
    uint32_t active = atomic_load(&e->active);
    for (unsigned kind = ENGINE_AGGS; kind >= ENGINE_PRINCIPAL; kind--) {
        for (uint32_t i = 0; (what & kind) != 0 && i < engine_nthreads(e); i++) {
            struct tstate *ts = engine_tstate(e, i);
            unsigned idle = (active & kind) == 0;
            struct half h = half_of(e, ts, kind, idle);
            if (h.used == 0)
                continue;
            if (out->len >= limit || out->oom)
                return false;
            half_drain(&h, kind, i, limit, out);
            if (*h.drained < h.used)
                return false;
            half_reset(e, ts, kind, idle);
        }
    }
    return (what & ENGINE_PRINCIPAL) == 0 || specs_drain(e, limit, out);
}
