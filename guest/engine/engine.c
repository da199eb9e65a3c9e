/* engine.c - the life of an engine: its memory and its threads. See engine.h and impl.h. */
#include "engine/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/size.h"
#include "engine/guard.h"
#include "engine/impl.h"

enum {
    VARIABLES_MOST = 1 << 30, /* bytes of globals, and of clause-locals */
    FAR_BYTES = 1 << 20,      /* bytes */
    PAGE_UNITS = 400,         /* units of work to create a page */
    SIZE_LEAST = 64 << 10,
    AGGS_LEAST = 4 << 10,
    SCRATCH_LEAST = 8 << 10,
    COPIES_MOST = 16 << 20, /* bytes of scratch for structs that are read as copies */
    CELLS_MOST = 1 << 28    /* cells in the index of an aggregation half */
};
/* An index cell has 32 bits for the position of an entry, in units of 8 bytes. */
#define AGG_DATA_MOST ((UINT64_C(1) << 35) - 16)

static const char no_tracing[] = "could not enable tracing: ";

/* -- threads ---------------------------------------------------------------------
 *
 * A thread finds its record through a POSIX key rather than a thread-local variable of C. The agent
 * is repeatedly loaded into and unloaded from processes that are not ours. A library with
 * thread-local variables takes some of a process's small static space for them, which is reclaimed
 * only when libraries are unloaded in reverse order; and with the model that has no such limit,
 * reading a variable may allocate. Keys are returned in any order.
 *
 * A table of our own, indexed by the thread's address, would be wrong where a key is right: a
 * thread that ended without notice leaves nothing to the next one at the same address, since libc
 * clears a new thread's values; and values that threads hold under a deleted key are not visible
 * through a later key of the same number.
 *
 * Reading takes two loads and two comparisons; no lock, no memory and no system call. The first 32
 * keys of a process have their place in each thread from the start. For a later one libc allocates
 * once, when a thread is registered; a thread for which that fails has no record.
 *
 * No destructor is set: it could be called after the library has been unloaded. */

static _Alignas(64) struct engine_thread thread_table[ENGINE_THREADS_MAX];
static _Atomic uint32_t thread_count;
static pthread_key_t thread_key;
static _Atomic bool thread_keyed; /* the key exists */
/* Bit set of the records that were released. */
static _Atomic uint64_t thread_left[ENGINE_THREADS_MAX / 64];

/* Returns false also while the process ends: other threads may still fire after libraries have shut
 * down. */
static inline bool keyed(void)
{
    return atomic_load_explicit(&thread_keyed, memory_order_relaxed);
}

/* Runs when the library is loaded, or at program start when it is linked. */
__attribute__((constructor)) static void thread_key_make(void)
{
    atomic_store(&thread_keyed, pthread_key_create(&thread_key, NULL) == 0);
}

__attribute__((destructor)) void engine_threads_end(void)
{
    if (atomic_exchange(&thread_keyed, false))
        pthread_key_delete(thread_key);
}

/* Takes a released record; returns false when there is none. */
static bool thread_again(uint32_t *index)
{
    for (uint32_t w = 0; w < ENGINE_THREADS_MAX / 64; w++) {
        uint64_t bits = atomic_load_explicit(&thread_left[w], memory_order_relaxed);
        while (bits != 0) {
            if (atomic_compare_exchange_weak_explicit(&thread_left[w], &bits, bits & (bits - 1),
                                                      memory_order_acquire, memory_order_relaxed)) {
                *index = w * 64 + (uint32_t)__builtin_ctzll(bits);
                return true;
            }
        }
    }
    return false;
}

static void thread_give(uint32_t index)
{
    atomic_fetch_or_explicit(&thread_left[index / 64], UINT64_C(1) << (index % 64),
                             memory_order_release);
}

__attribute__((noinline, cold)) static struct engine_thread *thread_register(void)
{
    uint32_t i;
    if (!keyed())
        return NULL;
    if (!thread_again(&i)) {
        i = atomic_load_explicit(&thread_count, memory_order_relaxed);
        do {
            if (i >= ENGINE_THREADS_MAX)
                return NULL;
        } while (!atomic_compare_exchange_weak(&thread_count, &i, i + 1));
    }
    struct engine_thread *t = &thread_table[i];
    t->index = i;
    t->tid = (int32_t)syscall(SYS_gettid);
    memset(t->room, 0, sizeof t->room);
    if (pthread_setspecific(thread_key, t) != 0) {
        thread_give(i);
        return NULL;
    }
    return t;
}

struct engine_thread *engine_thread_self(void)
{
    struct engine_thread *t = keyed() ? pthread_getspecific(thread_key) : NULL;
    return __builtin_expect(t != NULL, 1) ? t : thread_register();
}

/* not in the guest: engine_thread_leave - threads of the local tier end while programs go on; those
 * of a node keep their records until the agent is unloaded. */
void engine_thread_leave(void)
{
    struct engine_thread *t = keyed() ? pthread_getspecific(thread_key) : NULL;
    if (t == NULL)
        return;
    pthread_setspecific(thread_key, NULL);
    thread_give(t->index);
}

uint32_t engine_thread_count(void)
{
    return atomic_load(&thread_count);
}

const struct engine_thread *engine_thread_at(uint32_t index)
{
    return &thread_table[index];
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

static uint64_t part_max(const struct dif_type *t)
{
    return t->kind == DIF_STRING ? size_add(RECORD_TEXT_HEAD, t->size) : t->size;
}

static uint64_t keys_max(const struct dif_keys *k)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < k->n; i++)
        n = size_add(n, part_max(&k->key[i]));
    return n;
}

/* Returns the bytes of a scalar in memory. */
static uint64_t scalar_size(const struct dif_type *t)
{
    if (t->kind == DIF_BYTES)
        return size_up(t->size, 8);
    return t->kind == DIF_STRING ? size_up(size_add(t->size, 8 + 1), 8) : 8;
}

static bool calls(const struct dif_image *img, enum dif_subr subr)
{
    for (uint32_t i = 0; i < img->ncode; i++)
        if (img->code[i] >> 24 == DIF_OP_CALL && (img->code[i] & 65535) == subr)
            return true;
    return false;
}

/* Returns the maximum bytes of a record with these parts, without padding. */
static uint64_t record_max(const struct dif_image *img, uint32_t part, uint32_t nparts)
{
    uint64_t n = RECORD_HEAD;
    for (uint32_t p = 0; p < nparts; p++)
        n = size_add(n, part_max(&img->parts[part + p]));
    return n;
}

/* Returns the largest number of structs and arrays that one clause copies to scratch to read them.
 * Branches go forward, so each instruction runs at most once. */
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

/* Bytes of each kind that a program needs, summed in 64 bits; they are copied to the engine's
 * 32-bit members only if they fit. */
struct needs {
    uint64_t globals, locals, key, dyn_key, dyn_val, strtok, alloca, scratch, borders;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Places the variables. */
static int plan_variables(struct engine *e, struct needs *n)
{
    const struct dif_image *img = &e->img;
    for (uint32_t i = 0; i < img->nvars; i++) {
        const struct dif_var *v = &img->vars[i];
        if (!v->assoc && v->scope != DIF_THREAD) {
            uint64_t *end = v->scope == DIF_GLOBAL ? &n->globals : &n->locals;
            if (!size_fits(*end, &e->offsets[i]))
                return ET_ELIMIT;
            *end = size_add(*end, scalar_size(&v->type));
            if (*end > VARIABLES_MOST)
                return ET_ELIMIT;
            continue;
        }
        uint64_t key = size_add(4 + (v->scope == DIF_THREAD ? 8 : 0), keys_max(&v->keys));
        n->dyn_key = larger(n->dyn_key, key);
        n->dyn_val = larger(n->dyn_val, larger(v->type.size, 8));
    }
    return 0;
}

/* Computes the largest record of each clause. */
static int plan_clauses(struct engine *e)
{
    const struct dif_image *img = &e->img;
    for (uint32_t i = 0; i < img->nclauses; i++) {
        const struct dif_clause *c = &img->clauses[i];
        uint64_t n = c->nsubs == 0 ? record_max(img, c->part, c->nparts) : 0;
        for (uint32_t s = 0; s < c->nsubs; s++) {
            const struct dif_sub *sub = &img->subs[c->sub + s];
            n = larger(n, size_add(RECORD_SUB, record_max(img, sub->part, sub->nparts)));
        }
        e->clauses[i].code = img->code + c->code;
        if (!size_fits(size_up(n, RECORD_ALIGN), &e->clauses[i].record_max))
            return ET_ELIMIT;
    }
    return 0;
}

/* Places variables, clauses and aggregations, and computes what a thread needs. */
static int plan(struct engine *e)
{
    const struct dif_image *img = &e->img;
    struct needs n = {0};
    e->offsets = arena_array(&e->arena, img->nvars, sizeof *e->offsets);
    e->clauses = arena_array(&e->arena, img->nclauses, sizeof *e->clauses);
    e->agg_words = arena_array(&e->arena, img->naggs, sizeof *e->agg_words);
    if (e->offsets == NULL || e->clauses == NULL || e->agg_words == NULL)
        return ET_ENOMEM;
    if (plan_variables(e, &n) != 0 || plan_clauses(e) != 0)
        return ET_ELIMIT;
    n.key = n.dyn_key;
    for (uint32_t i = 0; i < img->naggs; i++) {
        e->agg_words[i] = dif_agg_words(&img->aggs[i]);
        n.key = larger(n.key, keys_max(&img->aggs[i].keys));
    }
    if (calls(img, DIF_SUBR_strtok))
        n.strtok = size_up(size_add(sizeof(struct strtok), img->strsize), 8);
    if (calls(img, DIF_SUBR_speculation))
        e->nspec = e->opt.nspec;
    n.alloca = size_up(img->scratchsize, 8);
    const uint64_t strings =
        size_mul(ENGINE_SCRATCH_STRINGS, size_up(size_add(img->strsize, 9), 8));
    const uint64_t copies = size_mul(loads_by_copy(img), size_up(size_add(n.dyn_val, 1), 8));
    n.scratch = size_add(larger(strings, SCRATCH_LEAST), n.alloca);
    n.scratch = size_add(n.scratch, size_min(copies, COPIES_MOST));
    if (calls(img, DIF_SUBR_rindex)) /* which searches one reversed text in another */
        n.scratch = size_add(n.scratch, strings / ENGINE_SCRATCH_STRINGS * 2);
    if (calls(img, DIF_SUBR_alloca) ||
        calls(img, DIF_SUBR_copyin)) /* and one bit for the end of the last area */
        n.borders = size_up(size_add(n.scratch, 8) / 64 + 1, 8);
    return size_fits(n.borders, &e->borders_size) && size_fits(n.globals, &e->globals_size) &&
                   size_fits(n.locals, &e->locals_size) && size_fits(n.key, &e->key_size) &&
                   size_fits(n.dyn_key, &e->dyn.key_size) &&
                   size_fits(n.dyn_val, &e->dyn.val_size) && size_fits(n.strtok, &e->strtok_size) &&
                   size_fits(n.alloca, &e->alloca_size) && size_fits(n.scratch, &e->scratch_size)
               ? 0
               : ET_ELIMIT;
}

/* Sizes an aggregation half: its index takes a sixteenth to an eighth of it. */
static void plan_aggs(struct engine *e)
{
    uint32_t cells = 64;
    while (cells < CELLS_MOST && size_mul(cells, 2 * sizeof(uint64_t)) <= e->opt.aggsize / 8)
        cells *= 2;
    e->index_cells = cells;
    e->agg_data = size_left(e->opt.aggsize, size_mul(cells, sizeof(uint64_t))) & ~UINT64_C(7);
    e->agg_data = size_min(e->agg_data, AGG_DATA_MOST);
}

/* Returns the number of principal buffers per thread: the policies read only at the end need no
 * second half. */
static unsigned principals(const struct engine *e)
{
    return e->opt.policy == RECORD_POLICY_SWITCH ? 2 : 1;
}

/* Checks that the largest record, aggregation entry and dynamic variable fit an empty buffer. */
static int check_limits(const struct engine *e, struct diags *d)
{
    char hint[128];
    for (uint32_t i = 0; i < e->img.nclauses; i++)
        if (e->img.clauses[i].records && e->clauses[i].record_max > e->opt.bufsize) {
            snprintf(hint, sizeof hint,
                     "one record takes up to %u bytes: give a larger bufsize (-b or -x bufsize=)",
                     e->clauses[i].record_max);
            return diag_error(d, ET_ELIMIT, NULL, "", hint, "%sEnabling exceeds size of buffer",
                              no_tracing);
        }
    for (uint32_t i = 0; i < e->img.naggs; i++) {
        uint64_t least =
            size_add(RECORD_ENTRY_HEAD + RECORD_ALIGN,
                     size_add(size_mul(e->agg_words[i], 8), keys_max(&e->img.aggs[i].keys)));
        if (least > e->agg_data || least > e->agg_asked) {
            snprintf(hint, sizeof hint,
                     "one entry takes up to %llu bytes, and each table its index: give a larger "
                     "aggsize (-x aggsize=)",
                     (unsigned long long)least);
            return diag_error(d, ET_ELIMIT, NULL, "", hint,
                              "%sEnabling exceeds size of buffer: aggregation @%s", no_tracing,
                              dif_str(&e->img, e->img.aggs[i].name));
        }
    }
    return 0;
}

/* Halves the size that takes the most memory over all threads; returns false when none can. */
static bool lower(struct engine *e)
{
    const uint64_t threads = e->opt.threads;
    const struct {
        uint64_t *size, times;
    } sizes[] = {{&e->opt.bufsize, size_mul(principals(e), threads)},
                 {&e->opt.aggsize, size_mul(2, threads)},
                 {&e->opt.specsize, size_mul(e->nspec, threads)},
                 {&e->opt.dynvarsize, 1}};
    uint64_t *most = NULL, total = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint64_t n = size_mul(*sizes[i].size, sizes[i].times);
        if (*sizes[i].size > SIZE_LEAST && n > total) {
            total = n;
            most = sizes[i].size;
        }
    }
    if (most == NULL)
        return false;
    *most = larger(size_up(*most / 2, 8), SIZE_LEAST);
    return true;
}

/* -- memory ----------------------------------------------------------------------
 *
 * The memory that all engines of this process have mapped, and the part of it that is certainly not
 * in use yet: the parts of threads that have not fired. The machine counts the rest as used, so it
 * must not be counted twice. */
static _Atomic uint64_t memory_held, memory_unused;

/* Returns how many bytes an engine may take now. */
static uint64_t memory_left(const struct engine_options *opt)
{
    const uint64_t ours =
        opt->memory > 0 ? size_left(opt->memory, atomic_load(&memory_held)) : PTRDIFF_MAX;
    const uint64_t others =
        opt->left > 0 ? size_left(opt->left, atomic_load(&memory_unused)) : PTRDIFF_MAX;
    return size_min(ours, others);
}

/* Reserves n bytes of the memory that all engines together may have; returns false when too little
 * is left. */
static bool memory_take(const struct engine_options *opt, uint64_t n)
{
    uint64_t held = atomic_load(&memory_held);
    do {
        if (n > PTRDIFF_MAX || n > memory_left(opt) ||
            (opt->memory > 0 && n > size_left(opt->memory, held)))
            return false;
    } while (!atomic_compare_exchange_weak(&memory_held, &held, held + n));
    atomic_fetch_add(&memory_unused, n);
    return true;
}

/* Notes that an engine begins to use n bytes. */
static void memory_used(struct engine *e, uint64_t n)
{
    atomic_fetch_sub(&e->unused, n);
    atomic_fetch_sub(&memory_unused, n);
}

static void memory_give(uint64_t n, uint64_t unused)
{
    atomic_fetch_sub(&memory_unused, unused);
    atomic_fetch_sub(&memory_held, n);
}

/* Maps n bytes; returns NULL when the system refuses or the options do not allow it. */
static unsigned char *map_memory(const struct engine *e, uint64_t n)
{
    if (e->opt.place != NULL)
        return e->opt.place(e->opt.place_arg, n);
    if (!memory_take(&e->opt, n))
        return NULL;
    void *p =
        mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED)
        return p;
    memory_give(n, n);
    return NULL;
}

/* Walks over a thread's memory piece by piece: counts it (base NULL), places it, or clears the
 * guards. */
struct cursor {
    unsigned char *base;
    size_t at;
    bool clear;
};

static void *piece(struct cursor *c, size_t n)
{
    unsigned char *p = c->base != NULL ? c->base + c->at : NULL;
    size_t end = size_add(size_up(size_add(c->at, n), 8), ENGINE_GUARD);
    if (p != NULL && c->clear)
        guard_clear(p + n, end - c->at - n);
    else if (p != NULL)
        guard_set(p + n, end - c->at - n);
    c->at = end;
    return p;
}

static struct phalf buffer(struct cursor *c, size_t size, enum full full, enum record_drop drop)
{
    return (struct phalf){
        .data = piece(c, size), .limit = size, .size = size, .full = full, .drop = drop};
}

/* Lays out the parts of a thread's memory in order. Sets the pointers of `to`, which lies at the
 * cursor's base or nowhere; returns its key buffer instead of setting it. */
static unsigned char *layout(const struct engine *e, struct cursor *c, struct tstate *to)
{
    static const enum full full[RECORD_NPOLICIES] = {[RECORD_POLICY_SWITCH] = FULL_DROP,
                                                     [RECORD_POLICY_FILL] = FULL_END,
                                                     [RECORD_POLICY_RING] = FULL_WRAP};
    c->at = size_up(sizeof *to, 64);
    to->locals = piece(c, e->locals_size);
    /* the value follows the key */
    unsigned char *key = piece(c, size_add(e->key_size, size_up(e->dyn.val_size, 8) + 8));
    to->scratch = piece(c, e->scratch_size);
    to->seen = e->img.naggs > 0 ? piece(c, SEEN * sizeof *to->seen) : NULL;
    to->borders = e->borders_size > 0 ? (uint64_t *)(void *)piece(c, e->borders_size) : NULL;
    for (int i = 0; i < 2; i++)
        to->strtok[i] = e->strtok_size > 0 ? piece(c, e->strtok_size) : NULL;
    to->spec = piece(c, size_mul(e->nspec, sizeof(struct phalf)));
    c->at = size_up(c->at, 64);
    for (unsigned i = 0; i < principals(e); i++) {
        to->principal[i] = buffer(c, e->opt.bufsize, full[e->opt.policy], RECORD_DROP_PRINCIPAL);
        to->principal[i].limit -= e->end_size;
    }
    for (int i = 0; i < 2; i++) {
        to->aggs[i].round = (uint64_t)i + 1;
        to->aggs[i].index = piece(c, e->opt.aggsize);
        if (to->aggs[i].index != NULL)
            to->aggs[i].data = (unsigned char *)(to->aggs[i].index + e->index_cells);
    }
    for (uint32_t i = 0; i < e->nspec; i++) {
        struct phalf h = buffer(c, e->opt.specsize, FULL_DROP, RECORD_DROP_SPEC);
        if (c->base == (unsigned char *)to)
            to->spec[i] = h;
    }
    return key;
}

/* Reports that there is no room for a mapping of n bytes. */
static int no_memory(const struct engine *e, uint64_t n, struct diags *d)
{
    const uint64_t left = memory_left(&e->opt), mib = 1 << 20;
    const char *hint = e->opt.fixed ? "with bufresize=auto they would be lowered"
                       : atomic_load(&memory_held) > 0
                           ? "end other traces, or give smaller bufsize and aggsize"
                           : "give smaller bufsize and aggsize";
    if (n <= left) /* the system refused it */
        return diag_error(d, ET_ENOMEM, NULL, "", hint, "%sout of memory for buffers", no_tracing);
    return diag_error(d, ET_ENOMEM, NULL, "", hint,
                      "%sout of memory for buffers: they need %llu MiB, and %llu MiB are left",
                      no_tracing, (unsigned long long)(size_up(n, mib) / mib),
                      (unsigned long long)(left / mib));
}

/* Reserves the mapping, reducing sizes while it is refused. */
static int reserve(struct engine *e, struct diags *d)
{
    const uint32_t key = e->dyn.key_size, val = e->dyn.val_size;
    for (;;) {
        plan_aggs(e);
        int err = check_limits(e, d);
        if (err)
            return err;
        size_t dyn = key > 0 ? dyn_size(&e->dyn, e->opt.dynvarsize, key, val) : 0;
        if (key > 0 && dyn == 0)
            return diag_error(d, ET_ELIMIT, NULL, "",
                              "give a larger dynvarsize (option -x dynvarsize=)",
                              "dynvarsize is too small for the variables of this program");
        const size_t behind_globals = size_up(size_add(e->globals_size, ENGINE_GUARD), 64);
        size_t shared = size_up(size_add(behind_globals, size_add(dyn, ENGINE_GUARD)), page_size());
        struct tstate none;
        struct cursor c = {.base = NULL};
        layout(e, &c, &none);
        size_t stride = size_up(size_add(size_up(c.at, 64), e->opt.room), page_size());
        size_t size = size_add(shared, size_mul(stride, e->opt.threads));
        e->map = map_memory(e, size);
        if (e->map != NULL) {
            e->stride = stride;
            e->map_size = size;
            e->globals = e->map;
            if (key > 0)
                dyn_place(&e->dyn, e->map + behind_globals);
            e->threads = e->map + shared;
            if (e->opt.place == NULL) {
                e->unused = size;
                memory_used(e, shared);
            }
            guard_set(e->map + e->globals_size, ENGINE_GUARD);
            guard_set(e->threads - ENGINE_GUARD, ENGINE_GUARD);
            return 0;
        }
        if (e->opt.fixed || !lower(e))
            return no_memory(e, size, d);
    }
}

/* Returns the budget of an event, clamped to its limits. */
static uint64_t budget(uint64_t asked)
{
    return asked == 0                 ? DIF_BUDGET
           : asked < DIF_BUDGET_LEAST ? DIF_BUDGET_LEAST
                                      : size_min(asked, DIF_BUDGET_MOST);
}

/* Returns the extra cost of an access to memory larger than what processor and system keep at hand:
 * it may be the first on its page. */
static uint32_t far_from(uint64_t size)
{
    return size > FAR_BYTES ? PAGE_UNITS : 0;
}

/* Computes the costs that depend on sizes, once these are known. */
static void plan_work(struct engine *e)
{
    e->far = far_from(size_add(e->globals_size, e->locals_size));
    e->dyn_far = far_from(e->opt.dynvarsize) * 6;
    e->agg_far = far_from(e->index_cells * sizeof(uint64_t));
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
    e->open_threads = opt->one_cpu ? 0 : e->opt.threads;
    e->opt.bufsize = size_up(opt->bufsize, 8);
    e->agg_asked = opt->aggsize;
    e->opt.aggsize = size_up(larger(opt->aggsize, AGGS_LEAST), 8);
    e->opt.specsize = size_up(opt->specsize, 8);
    e->opt.nspec = opt->nspec < DIF_SPECS_MAX ? opt->nspec : DIF_SPECS_MAX;
    e->opt.eventbudget = budget(opt->eventbudget);
    identity_find(&e->self, opt->pid);
    const bool key = keyed();
    int err = key ? plan(e) : ET_ELIMIT;
    if (!key)
        diag_error(d, err, NULL, "", "libraries in this process hold all keys there are",
                   "%sno key left for data of threads (pthread_key_create)", no_tracing);
    else if (err == ET_ENOMEM)
        diag_error(d, err, NULL, "", NULL, "out of memory for the program");
    else if (err)
        diag_error(d, err, NULL, "", NULL, "a record of this program is too large");
    else
        err = reserve(e, d);
    plan_work(e);
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
    if (e->map != NULL) {
        guard_clear(e->globals + e->globals_size, ENGINE_GUARD);
        guard_clear(e->threads - ENGINE_GUARD, ENGINE_GUARD);
        for (uint32_t i = 0; i < engine_nthreads(e); i++) {
            struct tstate none, *ts = engine_tstate(e, i);
            struct cursor c = {.base = (unsigned char *)ts, .clear = true};
            if (tstate_live(ts))
                layout(e, &c, &none);
        }
        if (e->opt.place == NULL) {
            munmap(e->map, e->map_size);
            memory_give(e->map_size, atomic_load(&e->unused));
        }
    }
    dif_image_free(&e->img);
    arena_free(&e->arena);
    et_free(e);
}

void engine_thread_init(struct engine *e, struct tstate *ts)
{
    if (e->opt.place == NULL)
        memory_used(e, e->stride);
    struct cursor c = {.base = (unsigned char *)ts};
    unsigned char *key = layout(e, &c, ts);
    __atomic_store_n(&ts->key, key, __ATOMIC_RELEASE);
}

const struct dif_image *engine_image(const struct engine *e)
{
    return &e->img;
}

void engine_set_constants(struct engine *e, const uint64_t *word)
{
    e->constants = word;
}

void engine_set_error_bindings(struct engine *e, const struct engine_binding *b, uint32_t n,
                               const struct engine_probe *error_probe)
{
    e->error_bindings = b;
    e->nerror = n;
    e->error_probe = error_probe;
}

int engine_set_end_bindings(struct engine *e, const struct engine_binding *b, uint32_t n,
                            struct diags *d)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < n && e->opt.policy == RECORD_POLICY_FILL; i++) {
        const struct dif_clause *c = &e->img.clauses[b[i].clause];
        uint64_t records = c->nsubs > 0 ? c->nsubs : c->records;
        uint64_t needed = size_mul(records, e->clauses[b[i].clause].record_max);
        size = size_add(size, larger(needed, RECORD_SIZE_OF_FAULT));
    }
    if (size > e->opt.bufsize) {
        char hint[128];
        snprintf(hint, sizeof hint,
                 "they take up to %llu bytes: give a larger bufsize (-b or -x bufsize=)",
                 (unsigned long long)size);
        return diag_error(d, ET_ELIMIT, NULL, "", hint,
                          "%sEND enablings exceed size of principal buffer", no_tracing);
    }
    e->end_size = size;
    return 0;
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

void engine_count_missed(struct engine *e, enum record_drop kind, uint64_t n)
{
    atomic_fetch_add(&e->tier_drops[kind], n);
}

void engine_drop(struct engine *e, const struct engine_thread *t, enum record_drop kind)
{
    if (atomic_load_explicit(&e->phase, memory_order_relaxed) != ENGINE_RUNNING)
        return;
    if (t->index < e->opt.threads)
        tcount_add(&engine_tstate(e, t->index)->drop[kind], 1);
    else
        atomic_fetch_add_explicit(&e->tier_drops[RECORD_DROP_THREAD], 1, memory_order_relaxed);
}

void engine_end(struct engine *e)
{
    atomic_store(&e->exiting, 1);
}

void engine_counts(const struct engine *e, struct record_counts *c)
{
    memset(c, 0, sizeof *c);
    for (int k = 0; k < RECORD_NDROPS; k++)
        c->drop[k] = atomic_load(&e->tier_drops[k]);
    c->fired = c->drop[RECORD_DROP_THREAD];
    for (uint32_t i = 0; i < RECORD_CPUS; i++) {
        c->cpu[i].principal =
            atomic_load_explicit(&e->cpu_drops[i].principal, memory_order_relaxed);
        c->cpu[i].agg = atomic_load_explicit(&e->cpu_drops[i].agg, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < engine_nthreads(e); i++) {
        const struct tstate *ts = engine_tstate(e, i);
#define X(name) c->name += atomic_load_explicit(&ts->name, memory_order_relaxed);
        RECORD_COUNTERS(X)
        X(own)
#undef X
        for (int k = 0; k < RECORD_NDROPS; k++)
            c->drop[k] += atomic_load_explicit(&ts->drop[k], memory_order_relaxed);
    }
}
