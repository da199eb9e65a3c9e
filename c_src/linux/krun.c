/* krun.c - a D program in the kernel. See krun.h, and kmem.h for its memory. */
#include "linux/krun.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/err.h"
#include "base/size.h"
#include "engine/impl.h"
#include "linux/kbeam.h"
#include "linux/kfield.h"
#include "linux/kgen.h"
#include "linux/kinsn.h"
#include "linux/kload.h"
#include "linux/kmain.h"
#include "linux/knamespace.h"
#include "linux/kplace.h"
#include "linux/kunwind.h"
#include "util/render.h"
#include "util/table.h"

enum {
    PAGE = 4096,
    TAIL = 128 << 10,       /* unused bytes at the end: no access of less reaches beyond the map */
    MEMORY_MOST = 480 << 20 /* the verifier follows no larger offset than 2^29 */
};
enum {
    LOOKS = 10, /* at Erlang VMs, before events fire */
    LOOK_NS = 2000000,
    LOOK_AGAIN_NS = 100000000,   /* between two looks while a VM is not known, at first, ... */
    LOOKS_SOON = 30,             /* for so many looks, ... */
    LOOK_FOR_NEW_NS = 1000000000 /* and while all are */
};
enum {
    PLACES_AT_ONCE = 1024, /* between two reports of progress */
    INSTRUCTION_BYTES = 15,
    PROGRAMS_MOST = 100,          /* of places */
    PLACES_MOST = 20000,          /* in processes */
    PLACES_ONE_BY_ONE_MOST = 100, /* where the kernel takes only one at a time, in 100 ms */
    /* Room for probes that come while the program runs: of their texts, and of their entries. */
    MORE_TEXT = 256 << 10,
    MORE_ENTRIES = 512 << 10
};
enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9 };
enum { ARG_INDEX, ARG_LATE }; /* of krun_fire */

_Static_assert(KMEM_LOWER == RECORD_ENTRY_LOWER, "one mark");

static const char no_tracing[] = "could not enable tracing: ";
static const char unknown[] = "<unknown>", only_zone[] = "global";
static const char switches[] = "sched_switch"; /* a tracepoint */

/* Probes of places that came while the program ran, and their programs. */
struct more {
    struct more *next;
    struct kevents events;
    int *event;
};

struct krun {
    struct engine *engine;
    struct arena arena;
    const struct krun_plan *plan;
    uint64_t consts[KCONSTS];
    unsigned char *memory;
    size_t size, prefix;
    int map;
    struct buf strings;    /* behind the image's */
    struct hash string_at; /* a text of an event's probe: its place there, and 1 */
    uint32_t own_entry;    /* place of the entries of what this process fires, then of clocks */
    int own;               /* the program of what this process fires */
    int *clock;            /* the programs of clocks, nclocks of them */
    uint32_t clock_fd;     /* the first of their descriptors: each clock's on each CPU */
    uint64_t *vary_ns;     /* when each gets another period */
    uint64_t random;
    struct kevents events;
    int *event; /* the programs of tracepoints */
    struct more *more;
    uint32_t nplaces, nways;    /* places, and programs for them, with those of `more` */
    uint64_t more_at, more_end; /* where entries of `more` go next, and the end of their room */
    size_t strings_most, strings_there; /* bytes of `strings` that fit, and that are in the map */
    int switches;                       /* the one that notes which thread runs, or -1 */
    int *fd;                            /* attachments */
    uint32_t nfds, capfds;
    unsigned ncpus;
    struct kunwind_state *unwind; /* NULL: no stacks of programs are wanted */
    struct kbeams *beams;         /* NULL: nothing asks for them */
    uint64_t look_ns, pause_ns;   /* when to look at them again, and the time between looks */
    unsigned looks;               /* since not all of them were known */
    struct kgen_frames frames;    /* that clauses of ERROR ask for, which any event may fire */
    bool ending;
};

static struct kctl *control(const struct krun *r)
{
    return (struct kctl *)(void *)r->memory;
}

struct engine *krun_engine(const struct krun *r)
{
    return r->engine;
}

/* -- memory ------------------------------------------------------------------------------------ */

/* Appends a text to the strings; returns its place. */
static uint64_t string(struct krun *r, const char *s)
{
    const uint64_t at = r->consts[KCONST_STRINGS] + r->consts[KCONST_STRINGS_SIZE] + r->strings.len;
    buf_add(&r->strings, s, strlen(s) + 1);
    return at;
}

static uint64_t entry_size(uint32_t n)
{
    return size_up(sizeof(struct kentry) + n * sizeof(uint32_t), 8);
}

/* Returns the address of a text that is among the strings: of kevents_fill. */
static uint64_t text(void *arg, const char *s)
{
    const struct krun *r = arg;
    const uint64_t at = (uintptr_t)hash_gets(&r->string_at, s);
    return KMEM_TAG + r->consts[KCONST_STRINGS] + r->engine->img.strtab_len + at - 1;
}

/* Appends a text to the strings unless it is there. Returns false when memory is exhausted. An
 * extension that failed has taken its texts back, but not their places in the hash. */
static bool once(struct krun *r, const char *s)
{
    const uintptr_t at = r->strings.len, known = (uintptr_t)hash_gets(&r->string_at, s);
    if (known != 0 && known <= at && strcmp((const char *)r->strings.data + known - 1, s) == 0)
        return true;
    string(r, s);
    /* No address, but a number that is not 0. */
    return !r->strings.oom && hash_puts(&r->string_at, s, (void *)(at + 1)) == 0;
}

/* Plans what comes before the engine's memory. Returns false when memory is exhausted. */
static bool plan_prefix(struct krun *r, const struct dif_image *img, struct kentry *entry)
{
    const struct krun_plan *p = r->plan;
    uint64_t *k = r->consts;
    k[KCONST_STRINGS] = size_up(sizeof(struct kctl), 64);
    k[KCONST_STRINGS_SIZE] = img->strtab_len;
    k[KCONST_UNKNOWN] = string(r, unknown);
    k[KCONST_GLOBAL] = string(r, only_zone);
    for (uint32_t i = 0; i < p->nown + p->nclocks; i++) {
        const struct engine_probe *q =
            i < p->nown ? &p->own[i].identity : &p->clock[i - p->nown].identity;
        entry[i] = (struct kentry){.prov = KMEM_TAG + string(r, q->prov),
                                   .mod = KMEM_TAG + string(r, q->mod),
                                   .func = KMEM_TAG + string(r, q->func),
                                   .name = KMEM_TAG + string(r, q->name),
                                   .id = q->id,
                                   .bound = 1};
    }
    for (uint32_t i = 0; i < p->nevents; i++) {
        const struct engine_probe *q = &p->event[i].identity;
        if (!once(r, q->prov) || !once(r, q->mod) || !once(r, q->func) || !once(r, q->name))
            return false;
    }
    r->strings_most = r->strings.len + (p->grows ? MORE_TEXT : 0);
    k[KCONST_STRINGS_SIZE] += r->strings_most;
    k[KCONST_AGGS] = size_up(k[KCONST_STRINGS] + k[KCONST_STRINGS_SIZE], 64);
    k[KCONST_NAGGS] = img->naggs;
    r->own_entry = (uint32_t)size_up(k[KCONST_AGGS] + img->naggs * sizeof(struct kagg), 64);
    r->more_at = size_up(
        kevents_place(&r->events, r->own_entry + (p->nown + p->nclocks) * entry_size(0)), 64);
    r->more_end = r->more_at + (p->grows ? MORE_ENTRIES : 0);
    r->prefix = size_up(r->more_end, PAGE);
#ifdef __x86_64__
    struct kgen_frames frames = {0};
    for (uint32_t i = 0; i < img->nclauses; i++)
        kgen_frames(img, i, &frames);
    if (frames.user > 0) {
        k[KCONST_UNWIND] = r->prefix;
        r->prefix += size_up(sizeof(struct kunwind), PAGE);
    }
#endif
    return true;
}

/* Gives the engine its memory: the map. */
static void *place(void *arg, uint64_t n)
{
    struct krun *r = arg;
    struct diags none;
    diags_init(&none);
    r->size = size_add(size_add(r->prefix, n), TAIL);
    r->map = r->size <= MEMORY_MOST ? kload_map(r->size, (void **)&r->memory, &none) : -1;
    diags_free(&none);
    if (r->map < 0)
        return NULL;
    return r->memory + r->prefix;
}

static uint64_t within(const void *of, const void *p)
{
    return p != NULL ? (uint64_t)((const unsigned char *)p - (const unsigned char *)of) : 0;
}

/* Fills in the constants that the placed engine determines. */
static void constants(struct krun *r)
{
    const struct engine *e = r->engine;
    struct tstate *ts = engine_tstate(e, 0);
    uint64_t *k = r->consts;
    k[KCONST_SIZE] = r->size;
    k[KCONST_CONTENT] = r->size - TAIL;
    k[KCONST_FIRST] = within(r->memory, e->threads);
    k[KCONST_STRIDE] = e->stride;
    k[KCONST_LAST] = k[KCONST_FIRST] + (e->opt.threads - 1) * e->stride;
    k[KCONST_NCPU] = r->ncpus;
    k[KCONST_ONLY] = e->opt.one_cpu ? e->opt.cpu : UINT64_MAX;
    k[KCONST_STRSIZE] = e->img.strsize;
    k[KCONST_BUDGET] = e->opt.eventbudget;
    k[KCONST_GLOBALS] = within(r->memory, e->globals);
    k[KCONST_GLOBALS_SIZE] = e->globals_size;
    k[KCONST_KSLOT] = e->stride - size_up(sizeof(struct kslot), 64);
    k[KCONST_LOCALS] = within(ts, ts->locals);
    k[KCONST_LOCALS_SIZE] = e->locals_size;
    k[KCONST_KEY] = within(ts, ts->key);
    k[KCONST_KEY_SIZE] = e->key_size;
    k[KCONST_SCRATCH] = within(ts, ts->scratch);
    k[KCONST_SCRATCH_SIZE] = e->scratch_size;
    k[KCONST_ALLOCA_SIZE] = e->alloca_size;
    k[KCONST_BORDERS] = within(ts, ts->borders);
    k[KCONST_STRTOK] = within(ts, ts->strtok[0]);
    k[KCONST_STRTOK_STRIDE] = within(ts->strtok[0], ts->strtok[1]);
    const bool two = e->opt.policy == RECORD_POLICY_SWITCH;
    k[KCONST_HALF] = within(ts, &ts->principal[0]);
    k[KCONST_HALF2] = within(ts, &ts->principal[two]);
    k[KCONST_DATA] = within(ts, ts->principal[0].data);
    k[KCONST_DATA2] = within(ts, ts->principal[two].data);
    k[KCONST_AGG] = within(ts, &ts->aggs[0]);
    k[KCONST_AGG2] = within(ts, &ts->aggs[1]);
    k[KCONST_INDEX] = within(ts, ts->aggs[0].index);
    k[KCONST_INDEX2] = within(ts, ts->aggs[1].index);
    k[KCONST_CELLS] = e->index_cells;
    k[KCONST_AGG_DATA] = e->agg_data;
    k[KCONST_SPEC] = within(ts, ts->spec);
    k[KCONST_SPEC_DATA] = e->nspec > 0 ? within(ts, ts->spec[0].data) : 0;
    k[KCONST_SPEC_STRIDE] = e->nspec > 1 ? within(ts->spec[0].data, ts->spec[1].data) : 0;
    k[KCONST_NSPEC] = e->nspec;
    k[KCONST_SPEC_MOST] = e->opt.nspec;
    k[KCONST_BUCKETS] = e->dyn.nbuckets;
    k[KCONST_TAGS] = within(r->memory, (const void *)e->dyn.tag);
    k[KCONST_GUARDS] = within(r->memory, (const void *)e->dyn.guard);
    k[KCONST_DYNS] = within(r->memory, e->dyn.slot);
    k[KCONST_DYN_SIZE] = e->dyn.slot_size;
    k[KCONST_DYN_VALUE] = size_up(e->dyn.val_size, 8);
    k[KCONST_DYN_KEY] = e->dyn.key_size;
    k[KCONST_T_FIRED] = offsetof(struct tstate, fired);
    k[KCONST_T_OWN] = offsetof(struct tstate, own);
    k[KCONST_T_RECORDED] = offsetof(struct tstate, recorded);
    k[KCONST_T_UPDATES] = offsetof(struct tstate, updates);
    k[KCONST_T_ERRORS] = offsetof(struct tstate, errors);
    k[KCONST_T_FILLED] = offsetof(struct tstate, filled);
    k[KCONST_T_OVERWRITTEN] = offsetof(struct tstate, overwritten);
    k[KCONST_T_DROP] = offsetof(struct tstate, drop);
    k[KCONST_T_RAND] = offsetof(struct tstate, rand);
    k[KCONST_P_USED] = offsetof(struct phalf, used);
    k[KCONST_P_LIMIT] = offsetof(struct phalf, limit);
    k[KCONST_P_SIZE] = offsetof(struct phalf, size);
    k[KCONST_P_OLDEST] = offsetof(struct phalf, oldest);
    k[KCONST_P_END] = offsetof(struct phalf, end);
    k[KCONST_P_FULL] = offsetof(struct phalf, full);
    k[KCONST_P_DROP] = offsetof(struct phalf, drop);
    k[KCONST_P_BYTES] = sizeof(struct phalf);
    k[KCONST_A_USED] = offsetof(struct ahalf, used);
    k[KCONST_A_COUNT] = offsetof(struct ahalf, count);
}

/* Writes strings, aggregations, probes and slots. */
static void fill(struct krun *r, const struct kentry *entry)
{
    const struct engine *e = r->engine;
    const struct dif_image *img = &e->img;
    memcpy(r->memory + r->consts[KCONST_STRINGS], img->strtab, img->strtab_len);
    memcpy(r->memory + r->consts[KCONST_STRINGS] + img->strtab_len, r->strings.data,
           r->strings.len);
    r->strings_there = r->strings.len;
    struct kagg *a = (struct kagg *)(void *)(r->memory + r->consts[KCONST_AGGS]);
    for (uint32_t i = 0; i < img->naggs; i++) {
        memcpy(a[i].param, img->aggs[i].param, sizeof a[i].param);
        a[i].func = img->aggs[i].func;
        a[i].nwords = e->agg_words[i];
        word_agg_start(word_agg(a[i].func), &a[i].start, 1);
    }
    for (uint32_t i = 0; i < r->plan->nown + r->plan->nclocks; i++)
        memcpy(r->memory + r->own_entry + i * entry_size(0), &entry[i], sizeof entry[i]);
    kevents_fill(&r->events, r->memory, text, r);
    for (uint32_t i = 0; i < e->opt.threads; i++)
        engine_thread_init(r->engine, engine_tstate(e, i));
}

/* -- programs ---------------------------------------------------------------------------------- */

/* r7 = place of the slot, r8 = its struct kslot; `out` when there is none. */
static void enter(struct kcode *c, const struct krun *r, const char *how, uint64_t entry,
                  uint32_t out)
{
    kcode_set(c, R1, entry);
    kcode_call(c, how);
    kcode_alu(c, BPF_MOV, R7, R0);
    kcode_jump_imm(c, BPF_JGT, R7, (int32_t)r->consts[KCONST_LAST], out);
    kcode_mem(c, R8, r->consts[KCONST_KSLOT]);
    kcode_alu(c, BPF_ADD, R8, R7);
}

/* Reads the stacks that clauses, and those of ERROR after a fault, ask for. */
static void stacks(struct kcode *c, const struct krun *r, const struct krun_probe *p, uint64_t skip)
{
    const struct kmain_above above = {.skip = skip};
    struct kgen_frames f = r->frames;
    for (uint32_t i = 0; i < p->n; i++)
        kgen_frames(&r->engine->img, p->b[i].clause, &f);
    kmain_stacks(c, &f, &above);
}

/* Runs clauses one after the other. */
static void clauses(struct kcode *c, const struct engine_binding *b, uint32_t n, uint32_t out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0) { /* exit() ends the firing, but not that of END */
            const uint32_t on = kcode_label(c);
            kcode_mem(c, R1, 0);
            kcode_load(c, BPF_W, R2, R1, offsetof(struct kctl, exiting));
            kcode_jump_imm(c, BPF_JEQ, R2, 0, on);
            kcode_load(c, BPF_W, R2, R1, offsetof(struct kctl, ending));
            kcode_jump_imm(c, BPF_JEQ, R2, 0, out);
            kcode_place(c, on);
        }
        kcode_store_imm(c, BPF_W, R8, offsetof(struct kslot, epid), (int32_t)b[i].epid);
        kmain_clause(c, b[i].clause, "faulted");
    }
}

static void leave(struct kcode *c)
{
    kcode_alu(c, BPF_MOV, R1, R7);
    kcode_call(c, "rt_leave");
}

/* The function that is called after a fault: reports it, and fires ERROR. */
static void faulted(struct kcode *c, const struct krun *r)
{
    const struct krun_probe *error = &r->plan->own[r->plan->error];
    kcode_function(c, "faulted", 1, false);
    const uint32_t out = kcode_label(c);
    kcode_alu(c, BPF_MOV, R7, R1);
    kcode_call(c, "rt_fault");
    if (error->n > 0) {
        kcode_jump_imm(c, BPF_JEQ, R0, 0, out);
        kcode_jump_imm(c, BPF_JGT, R7, (int32_t)r->consts[KCONST_LAST], out);
        kcode_mem(c, R8, r->consts[KCONST_KSLOT]);
        kcode_alu(c, BPF_ADD, R8, R7);
        kcode_alu(c, BPF_MOV, R1, R7);
        kcode_set(c, R2, r->own_entry + r->plan->error * entry_size(0));
        kcode_call(c, "rt_error");
        kcode_load(c, BPF_W, R9, R8, offsetof(struct kslot, epid));
        for (uint32_t i = 0; i < error->n; i++) {
            kcode_store_imm(c, BPF_W, R8, offsetof(struct kslot, epid), (int32_t)error->b[i].epid);
            kmain_clause(c, error->b[i].clause, "rt_fault");
        }
        kcode_store(c, BPF_W, R8, offsetof(struct kslot, epid), R9);
        kcode_alu(c, BPF_MOV, R1, R7);
        kcode_set(c, R2, 0);
        kcode_call(c, "rt_error");
    }
    kcode_place(c, out);
    kcode_set(c, R0, 0);
    kcode_exit(c);
}

static bool is_called(const struct kcode *c, const char *name)
{
    for (uint32_t i = 0; i < c->ncalls; i++)
        if (strcmp(c->call[i].name, name) == 0)
            return true;
    return false;
}

/* Appends the functions that are called, and links. */
static int finish(struct krun *r, struct kcode *c, enum kload_kind kind, const char *name,
                  struct diags *d)
{
    const struct engine *e = r->engine;
    uint32_t *record_max = arena_array(&r->arena, e->img.nclauses, sizeof *record_max);
    uint32_t *variable = arena_array(&r->arena, e->img.nvars, sizeof *variable);
    const struct kgen_layout l = {&e->img, variable, record_max, r->consts};
    if ((record_max == NULL && e->img.nclauses > 0) || (variable == NULL && e->img.nvars > 0))
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for programs");
    for (uint32_t i = 0; i < e->img.nclauses; i++)
        record_max[i] = e->clauses[i].record_max;
    for (uint32_t i = 0; i < e->img.nvars; i++)
        variable[i] = e->offsets[i];
    if (is_called(c, "faulted"))
        faulted(c, r);
    for (uint32_t i = 0; i < e->img.nclauses; i++) {
        char clause[32];
        snprintf(clause, sizeof clause, "clause_%u", i);
        if (is_called(c, clause))
            kgen_clause(c, &l, i);
    }
    if (!kcode_link(c, d))
        return ET_EUNSUP;
    return kload_program(c, kind, name, d);
}

/* The program of everything that this process fires; its first argument says what. */
static int own_program(struct krun *r, struct diags *d)
{
    const struct krun_plan *p = r->plan;
    struct kcode c;
    kcode_init(&c, r->map, r->consts);
    kcode_function(&c, "own", 1, true);
    const uint32_t out = kcode_label(&c), done = kcode_label(&c);
    kcode_alu(&c, BPF_MOV, R6, R1);
    kcode_load(&c, BPF_DW, R9, R6, 8 * ARG_INDEX);
    for (uint32_t i = 0; i < p->nown; i++) {
        if (p->own[i].n == 0 || i == p->error)
            continue;
        const uint32_t next = kcode_label(&c);
        kcode_jump_imm(&c, BPF_JNE, R9, (int32_t)i, next);
        enter(&c, r, "rt_enter_own", r->own_entry + i * entry_size(0), out);
        for (int a = 0; a < KMEM_ARGS; a++)
            kcode_store_imm(&c, BPF_DW, R8, (int)offsetof(struct kslot, arg) + 8 * a, 0);
        kcode_store_imm(&c, BPF_DW, R8, offsetof(struct kslot, error), 0);
        kcode_load(&c, BPF_DW, R1, R6, 8 * ARG_LATE);
        kcode_store(&c, BPF_DW, R8, (int)offsetof(struct kslot, arg) + 16, R1);
        stacks(&c, r, &p->own[i], 1); /* the program itself */
        clauses(&c, p->own[i].b, p->own[i].n, done);
        kcode_jump(&c, BPF_JA, 0, 0, done);
        kcode_place(&c, next);
    }
    kcode_jump(&c, BPF_JA, 0, 0, out);
    kcode_place(&c, done);
    leave(&c);
    kcode_place(&c, out);
    kcode_set(&c, R0, 0);
    kcode_exit(&c);
    int fd = finish(r, &c, KLOAD_RAW, "BEGIN, END and intervals", d);
    kcode_free(&c);
    return fd;
}

/* The program of an interval that fires on each CPU. */
static int clock_program(struct krun *r, uint32_t i, struct diags *d)
{
    const struct krun_probe *p = &r->plan->clock[i];
    enum { REGS_IP = 16 * 8 }; /* of struct pt_regs, with which the context begins */
    struct kcode c;
    kcode_init(&c, r->map, r->consts);
    kcode_function(&c, "clock", 1, true);
    const uint32_t out = kcode_label(&c), done = kcode_label(&c), kernel = kcode_label(&c);
    kcode_alu(&c, BPF_MOV, R6, R1);
    kcode_mem(&c, R1, 0);
    kcode_load(&c, BPF_W, R2, R1, offsetof(struct kctl, open));
    kcode_jump_imm(&c, BPF_JEQ, R2, 0, out);
    kcode_load(&c, BPF_W, R2, R1, offsetof(struct kctl, exiting));
    kcode_jump_imm(&c, BPF_JNE, R2, 0, out);
    enter(&c, r, "rt_enter", r->own_entry + (r->plan->nown + i) * entry_size(0), out);
    for (int a = 0; a < KMEM_ARGS; a++)
        kcode_store_imm(&c, BPF_DW, R8, (int)offsetof(struct kslot, arg) + 8 * a, 0);
    kcode_store_imm(&c, BPF_DW, R8, offsetof(struct kslot, error), 0);
    kcode_load(&c, BPF_DW, R1, R6, REGS_IP);
    kcode_store(&c, BPF_DW, R8, (int)offsetof(struct kslot, arg), R1);
    kcode_jump_imm(&c, BPF_JSLT, R1, 0, kernel);
    kcode_store_imm(&c, BPF_DW, R8, (int)offsetof(struct kslot, arg), 0);
    kcode_store(&c, BPF_DW, R8, (int)offsetof(struct kslot, arg) + 8, R1);
    kcode_place(&c, kernel);
    stacks(&c, r, p, 0);
    clauses(&c, p->b, p->n, done);
    kcode_place(&c, done);
    leave(&c);
    kcode_place(&c, out);
    kcode_set(&c, R0, 0);
    kcode_exit(&c);
    int fd = finish(r, &c, KLOAD_PERF, p->identity.name, d);
    kcode_free(&c);
    return fd;
}

/* The program that notes which thread each CPU runs, for vtimestamp. */
static int switches_program(struct krun *r, struct diags *d)
{
    enum { NEXT = 2 }; /* an argument of the tracepoint */
    struct kcode c;
    kcode_init(&c, r->map, r->consts);
    kcode_function(&c, "switches", 1, true);
    kcode_load(&c, BPF_DW, R1, R1, 8 * NEXT);
    kcode_call(&c, "rt_switched");
    kcode_set(&c, R0, 0);
    kcode_exit(&c);
    const int fd = finish(r, &c, KLOAD_RAW, switches, d);
    kcode_free(&c);
    return fd;
}

/* -- life -------------------------------------------------------------------------------------- */

/* Makes the programs of points. */
static int event_programs(struct krun *r, const struct kevents *events, int *event, struct diags *d)
{
    for (uint32_t i = 0; i < events->npoints; i++) {
        struct kcode c;
        kcode_init(&c, r->map, r->consts);
        kevents_main(events, &c, i, &r->engine->img, &r->frames, r->plan->syms);
        const struct kpoint *at = &events->point[i];
        event[i] = finish(r, &c,
                          at->attach == KATTACH_RAWTP ? KLOAD_RAW
                          : kplaces_many()            ? KLOAD_PLACES
                                                      : KLOAD_PLACE,
                          at->name, d);
        kcode_free(&c);
        if (event[i] < 0)
            return event[i];
    }
    return 0;
}

static int programs(struct krun *r, struct diags *d)
{
    const struct krun_probe *error = &r->plan->own[r->plan->error];
    bool any = false;
    for (uint32_t i = 0; i < error->n; i++)
        kgen_frames(&r->engine->img, error->b[i].clause, &r->frames);
    for (uint32_t i = 0; i < r->plan->nown; i++)
        any |= i != r->plan->error && r->plan->own[i].n > 0;
    if (any) {
        r->own = own_program(r, d);
        if (r->own < 0)
            return r->own;
    }
    if (kgen_uses(&r->engine->img, DIF_BUILTIN_vtimestamp)) {
        r->switches = switches_program(r, d);
        if (r->switches < 0)
            return r->switches;
    }
    for (uint32_t i = 0; i < r->plan->nclocks; i++) {
        r->clock[i] = clock_program(r, i, d);
        if (r->clock[i] < 0)
            return r->clock[i];
    }
    return event_programs(r, &r->events, r->event, d);
}

/* Reads the chip of each CPU, as far as the system tells it. */
static void find_chips(struct kctl *k, unsigned ncpus)
{
    char path[96];
    for (unsigned cpu = 0; cpu < ncpus && cpu < KMEM_CPUS; cpu++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
                 cpu);
        FILE *f = fopen(path, "re");
        if (f != NULL && fscanf(f, "%d", &k->chip[cpu]) != 1)
            k->chip[cpu] = 0;
        if (f != NULL)
            fclose(f);
    }
}

/* Returns whether a probe fires for another thread than the running one. */
static bool is_for_others(const struct krun_plan *plan)
{
    for (uint32_t i = 0; i < plan->nevents; i++)
        if (plan->event[i].probe->thread != NULL)
            return true;
    return false;
}

static bool any_uses(const struct krun *r, const struct engine_binding *b, uint32_t n,
                     unsigned builtin)
{
    for (uint32_t i = 0; i < n; i++)
        if (kgen_clause_uses(&r->engine->img, b[i].clause, builtin))
            return true;
    return false;
}

/* Returns whether a built-in variable is read where no node passes it on. */
static bool finds_itself(const struct krun *r, unsigned builtin)
{
    const struct krun_plan *p = r->plan;
    bool uses = false;
    for (uint32_t i = 0; i < p->nown && !uses; i++)
        uses = any_uses(r, p->own[i].b, p->own[i].n, builtin);
    for (uint32_t i = 0; i < p->nclocks && !uses; i++)
        uses = any_uses(r, p->clock[i].b, p->clock[i].n, builtin);
    for (uint32_t i = 0; i < p->nevents && !uses; i++)
        uses =
            p->event[i].probe->about == NULL && any_uses(r, p->event[i].b, p->event[i].n, builtin);
    return uses;
}

/* Finds what the programs are to know of the running kernel. */
static int look_into_kernel(struct krun *r, struct diags *d)
{
    const struct dif_image *img = &r->engine->img;
    struct kgen_frames frames = {0};
    for (uint32_t i = 0; i < img->nclauses; i++)
        kgen_frames(img, i, &frames);
    const bool func = finds_itself(r, DIF_BUILTIN_erlfunc), stacks = func || frames.user > 0,
               asked = func || finds_itself(r, DIF_BUILTIN_erlpid) ||
                       finds_itself(r, DIF_BUILTIN_erlname);
    if (kgen_uses(img, DIF_BUILTIN__chip))
        find_chips(control(r), r->ncpus);
    /* It is no error of a stack that it has no Erlang frames. */
    const bool needed =
        asked || kgen_reads_kernel(img) || is_for_others(r->plan) || knamespace() != 0;
    if (!needed && !stacks)
        return 0;
    struct diags unsaid;
    struct kbtf *types;
    diags_init(&unsaid);
    int err = kbtf_open(&types, needed ? d : &unsaid);
    if (err == 0) {
        kfields_fill(control(r)->field, types);
        err = kgen_check_fields(img, control(r)->field, d);
        if (err == 0)
            err = knamespace_fill(r->consts, types, needed ? d : &unsaid);
        if (err == 0 && (asked || stacks)) {
            err = kbeams_open(&r->beams, control(r)->beam, types, stacks,
                              &r->consts[KCONST_TASK_TLS], asked ? d : &unsaid);
            err = asked ? err : 0;
        }
        kbtf_close(types);
    }
    if (stacks && r->beams != NULL)
        ksyms_beams(r->plan->syms, control(r)->beam);
    diags_free(&unsaid);
    return needed ? err : 0;
}

static uint32_t count_places(const struct kevent_probe *event, uint32_t nevents)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < nevents; i++)
        n += event[i].probe->file != NULL && !event[i].probe->shares;
    return n;
}

static uint32_t places_most(uint32_t n)
{
    return n > 0 && kplaces_many() ? PLACES_MOST : PLACES_ONE_BY_ONE_MOST;
}

/* Refuses more places in processes than are set in reasonable time. */
static int check_places(const struct krun_plan *plan, struct diags *d)
{
    const uint32_t n = count_places(plan->event, plan->nevents), most = places_most(n);
    return n <= most ? 0
                     : diag_error(d, ET_ELIMIT, NULL, "KERNEL_PLACES",
                                  "name functions or a module, or use a pattern that fewer match",
                                  "%sthese are %u places in processes: at most %u are possible",
                                  no_tracing, n, most);
}

int krun_create(struct dif_image *img, struct engine_options *opt, const struct krun_plan *plan,
                struct krun **out, struct diags *d)
{
    int err = kload_ready(d);
    if (err == 0)
        err = kgen_check(img, d);
    if (err == 0)
        err = check_places(plan, d);
    struct krun *r = err == 0 ? et_calloc(1, sizeof *r) : NULL;
    if (r == NULL) {
        dif_image_free(img);
        return err ? err
                   : diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for the program");
    }
    arena_init(&r->arena);
    r->plan = plan;
    r->map = r->own = r->switches = -1;
    const long n = sysconf(_SC_NPROCESSORS_CONF);
    r->ncpus = n > 0 ? (unsigned)n : 1;
    r->clock = arena_array(&r->arena, plan->nclocks + 1u, sizeof *r->clock);
    r->vary_ns = arena_array(&r->arena, plan->nclocks + 1u, sizeof *r->vary_ns);
    struct kentry *entry = arena_array(&r->arena, plan->nown + plan->nclocks + 1u, sizeof *entry);
    if (r->clock != NULL && r->vary_ns != NULL && entry != NULL &&
        kevents_plan(&r->events, &r->arena, img, plan->event, plan->nevents) == 0)
        r->event = arena_array(&r->arena, r->events.npoints + 1u, sizeof *r->event);
    uint32_t ways = 0;
    for (uint32_t i = 0; r->event != NULL && i < r->events.npoints; i++) {
        r->event[i] = -1;
        ways += r->events.point[i].attach == KATTACH_PLACE;
    }
    for (uint32_t i = 0; r->clock != NULL && i < plan->nclocks; i++)
        r->clock[i] = -1;
    if (r->event == NULL || !plan_prefix(r, img, entry)) {
        dif_image_free(img);
        krun_destroy(r);
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for the program");
    }
    r->nways = ways;
    r->nplaces = count_places(plan->event, plan->nevents);
    if (ways > PROGRAMS_MOST) {
        dif_image_free(img);
        krun_destroy(r);
        return diag_error(
            d, ET_ELIMIT, NULL, "KERNEL_PLACES", "name fewer probes",
            "%sthe arguments of these places are found in too many ways: they need %u "
            "programs, and at most %d are possible",
            no_tracing, ways, PROGRAMS_MOST);
    }
    opt->threads = r->ncpus * KMEM_NESTED + 1;
    opt->place = place;
    opt->place_arg = r;
    opt->room = (uint32_t)size_up(sizeof(struct kslot), 64);
    err = engine_create(img, opt, &r->engine, d);
    if (err == 0 && r->engine->opt.threads != r->ncpus * KMEM_NESTED + 1)
        err = diag_error(d, ET_ELIMIT, NULL, "", NULL, "%sthis machine has too many CPUs",
                         no_tracing);
    if (err == 0)
        err = engine_set_end_bindings(r->engine, plan->own[plan->end].b, plan->own[plan->end].n, d);
    if (err == 0) {
        fill(r, entry);
        constants(r);
        err = look_into_kernel(r, d);
    }
    if (err == 0 && r->consts[KCONST_UNWIND] != 0)
        r->unwind = kunwind_open((void *)(r->memory + r->consts[KCONST_UNWIND]), plan->syms);
    if (err == 0)
        err = programs(r, d);
    if (err) {
        krun_destroy(r);
        return err;
    }
    *out = r;
    return 0;
}

void krun_detach(struct krun *r)
{
    for (uint32_t i = 0; i < r->nfds; i++)
        close(r->fd[i]);
    r->nfds = 0;
}

void krun_destroy(struct krun *r)
{
    if (r == NULL)
        return;
    krun_detach(r);
    et_free(r->fd);
    if (r->own >= 0)
        close(r->own);
    if (r->switches >= 0)
        close(r->switches);
    for (uint32_t i = 0; r->clock != NULL && i < r->plan->nclocks; i++)
        if (r->clock[i] >= 0)
            close(r->clock[i]);
    for (uint32_t i = 0; r->event != NULL && i < r->events.npoints; i++)
        if (r->event[i] >= 0)
            close(r->event[i]);
    for (const struct more *m = r->more; m != NULL; m = m->next)
        for (uint32_t i = 0; i < m->events.npoints; i++)
            if (m->event[i] >= 0)
                close(m->event[i]);
    engine_destroy(r->engine);
    ksyms_beams(r->plan->syms, NULL);
    kbeams_close(r->beams);
    kunwind_close(r->unwind);
    if (r->memory != NULL)
        munmap(r->memory, r->size);
    if (r->map >= 0)
        close(r->map);
    buf_free(&r->strings);
    hash_free(&r->string_at);
    arena_free(&r->arena);
    et_free(r);
}

/* Keeps the descriptor of an attachment, or reports the error that it is. */
static int keep(struct krun *r, int fd, struct diags *d)
{
    if (fd < 0)
        return fd;
    if (r->nfds == r->capfds) {
        const uint32_t cap = r->capfds ? r->capfds * 2 : 16;
        int *p = et_realloc(r->fd, cap * sizeof *p);
        if (p == NULL) {
            close(fd);
            return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
        }
        r->fd = p;
        r->capfds = cap;
    }
    r->fd[r->nfds++] = fd;
    return 0;
}

/* Stacks of Erlang VMs, and of processes with places, are known before the first event asks for
 * them.
 */
static void unwind_known(struct krun *r)
{
    const struct kbeam *v = control(r)->beam;
    const struct kprobe *last = NULL;
    if (r->unwind == NULL)
        return;
    for (uint32_t i = 0; i < KMEM_BEAMS; i++)
        if (v[i].tgid != 0)
            kunwind_add(r->unwind, v[i].tgid);
    for (uint32_t i = 0; i < r->plan->nevents; i++) {
        const struct kprobe *p = r->plan->event[i].probe;
        if (p->file == NULL || (last != NULL && p->file->pid == last->file->pid))
            continue;
        kunwind_add(r->unwind, (uint32_t)p->file->pid);
        last = p;
    }
}

/* A program that does something at the rate of a clock, or at a multiple of it, would be found at
 * the same place each time. So a clock that has fired VARY times has another period, of its own by
 * an eighth at most; all together it has the rate that was asked for. */
static void vary_clocks(struct krun *r, uint64_t now)
{
    enum { VARY = 64, PART = 8 };
    if (r->nfds < r->clock_fd + r->plan->nclocks * r->ncpus)
        return; /* they do not run */
    for (uint32_t i = 0; i < r->plan->nclocks; i++) {
        const uint64_t period = r->plan->period[i], most = period / PART;
        if (now < r->vary_ns[i])
            continue;
        r->random = hash_mix(r->random ^ now, 0xa0761d6478bd642fu);
        for (unsigned cpu = 0; cpu < r->ncpus; cpu++)
            kload_period(r->fd[r->clock_fd + i * r->ncpus + cpu],
                         period - most + r->random % (2 * most + 1));
        r->vary_ns[i] = now + VARY * period;
    }
}

void krun_look(struct krun *r, bool end, struct diags *d)
{
    const uint64_t now = monotonic_ns();
    if (!end)
        vary_clocks(r, now);
    if (r->unwind != NULL && !end)
        kunwind_look(r->unwind);
    if (r->beams == NULL || (now < r->look_ns && !end))
        return;
    if (!end) {
        const bool all = kbeams_look(r->beams);
        ksyms_look(r->plan->syms);
        unwind_known(r);
        r->looks = all ? 0 : r->looks + 1;
        r->pause_ns = all                     ? LOOK_FOR_NEW_NS
                      : r->looks < LOOKS_SOON ? LOOK_AGAIN_NS
                                              : size_min(r->pause_ns * 2, LOOK_FOR_NEW_NS);
        r->pause_ns = r->pause_ns < LOOK_AGAIN_NS ? LOOK_AGAIN_NS : r->pause_ns;
        r->look_ns = now + r->pause_ns;
    }
    kbeams_warn(r->beams, end, d);
}

int krun_attach(struct krun *r, struct diags *d)
{
    int err = 0;
    for (unsigned i = 0; i < LOOKS && r->beams != NULL && !kbeams_look(r->beams); i++)
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    ksyms_look(r->plan->syms);
    unwind_known(r);
    if (r->switches >= 0)
        err = keep(r, kload_raw(r->switches, switches, d), d);
    r->clock_fd = r->nfds;
    for (uint32_t i = 0; err == 0 && i < r->plan->nclocks; i++)
        for (unsigned cpu = 0; err == 0 && cpu < r->ncpus; cpu++)
            err = keep(r, kload_clock(r->clock[i], cpu, r->plan->period[i], d), d);
    for (uint32_t i = 0; err == 0 && i < r->events.npoints; i++)
        if (r->events.point[i].attach == KATTACH_RAWTP)
            err = keep(r, kload_raw(r->event[i], r->events.point[i].name, d), d);
    return err;
}

/* Symbols of the kernel are read from a file that is open already (ksyms_ready). */
uint64_t krun_keeps(const struct krun *r)
{
    enum { FREE_FIRST = 5019 }; /* from this Linux on, whoever has programs may run them */
    bool processes = kgen_looks_into_processes(&r->engine->img);
    uint64_t keeps = 0;
    for (uint32_t i = 0; i < r->plan->nevents; i++)
        processes |= r->plan->event[i].probe->file != NULL;
    if (kload_linux() < FREE_FIRST)
        keeps |= UINT64_C(1) << CAP_BPF;
    if (processes) /* maps, memory and files of those that come meanwhile */
        keeps |= UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH |
                 UINT64_C(1) << CAP_CHECKPOINT_RESTORE;
    return keeps;
}

/* -- places in processes ----------------------------------------------------------------------- */

/* Places that are set. */
struct placing {
    struct krun *r;
    const struct kevents *events;
    const int *event; /* their programs */
    struct diags *d;
    const struct kprobe **probe; /* by program, then file; n of them */
    size_t n, refused;
    size_t unsafe; /* left out, as a breakpoint could change what the program does */
    bool lost;     /* one that a node's events come by is left out */
    bool more;     /* they come while the program runs: a file that is gone is left out */
    int why;
};

static int by_program(const void *a, const void *b)
{
    const struct kprobe *x = *(const struct kprobe *const *)a,
                        *y = *(const struct kprobe *const *)b;
    const int points = strcmp(x->point, y->point);
    if (points != 0)
        return points;
    if (x->file != y->file)
        return x->file->start < y->file->start ? -1 : 1;
    return x->is < y->is ? -1 : x->is > y->is;
}

static int keep_place(void *arg, int fd)
{
    struct placing *p = arg;
    return keep(p->r, fd, p->d);
}

static int program_of(const struct placing *p, const char *point)
{
    for (uint32_t i = 0; i < p->events->npoints; i++)
        if (strcmp(p->events->point[i].name, point) == 0)
            return p->event[i];
    return -1;
}

/* Sets places of one file that have a program in common, n of them from `from` on: those at once
 * that the kernel takes for certain, then the others one by one, since a refusal undoes all that
 * are set with it, which takes the kernel its time. */
static int place_some(struct placing *p, size_t from, size_t n)
{
    uint64_t offset[PLACES_AT_ONCE], counter[PLACES_AT_ONCE], cookie[PLACES_AT_ONCE];
    const struct kprobe *first = p->probe[from];
    const int fd = ksyms_open_file(first->file), program = program_of(p, first->point);
    size_t head = 0, tail = n;
    if (fd < 0 && p->more) {
        p->refused += n;
        p->why = ENOENT;
        return 0;
    }
    if (fd < 0)
        return diag_error(p->d, ET_EUNSUP, NULL, "KERNEL_UPROBES", NULL,
                          "%sprocess %llu does not have %s any more", no_tracing,
                          (unsigned long long)first->file->pid, first->file->path);
    for (size_t i = 0; i < n; i++) {
        const struct kprobe *of = p->probe[from + i];
        unsigned char code[INSTRUCTION_BYTES];
        const ssize_t got = pread(fd, code, sizeof code, (off_t)of->offset);
        if (kinsn_unsafe(code, got > 0 ? (size_t)got : 0, of->is_entry)) {
            p->unsafe++;
            p->lost |= of->shares;
            continue;
        }
        const size_t at = kinsn_doubtful(code, got > 0 ? (size_t)got : 0) ? --tail : head++;
        offset[at] = of->offset;
        counter[at] = of->counter;
        cookie[at] = (uint64_t)of->is;
    }
    int err = 0;
    for (size_t i = head > 0 ? 0 : tail, count; i < n && err == 0;
         i = i + count == head ? tail : i + count) {
        count = i < head ? head : 1;
        const struct kplaces of = {.fd = fd,
                                   .pid = first->file->pid,
                                   .n = count,
                                   .offset = offset + i,
                                   .counter = counter + i,
                                   .cookie = cookie + i};
        const size_t refused = p->refused;
        err = kplaces_attach(program, &of, keep_place, p, &p->refused, &p->why, p->d);
        p->lost |= first->shares && p->refused > refused;
    }
    close(fd);
    return err;
}

static int place_all(struct placing *p, krun_progress_fn *progress, void *arg)
{
    int err = 0;
    for (size_t i = 0, n; i < p->n && err == 0; i += n) {
        const struct kprobe *first = p->probe[i];
        for (n = 1; i + n < p->n && n < PLACES_AT_ONCE && p->probe[i + n]->file == first->file &&
                    strcmp(p->probe[i + n]->point, first->point) == 0;
             n++)
            ;
        err = place_some(p, i, n);
        if (err == 0 && !progress(arg, i + n, p->n))
            err = ET_EABORT;
    }
    if (err != 0)
        return err;
    if (p->lost)
        return diag_error(p->d, ET_EUNSUP, NULL, "KERNEL_UPROBES", NULL,
                          "%sthe kernel takes no breakpoint at the place where a node passes its "
                          "events on",
                          no_tracing);
    if (p->n > 0 && p->unsafe == p->n)
        return diag_error(
            p->d, ET_EUNSUP, NULL, "KERNEL_UPROBES", NULL,
            "%sa breakpoint at %s could change what the program does: the kernel does "
            "not run the instruction there as the processor does",
            no_tracing, p->n == 1 ? "the place" : "each of the places");
    if (p->unsafe > 0)
        diag_add(p->d, DIAG_WARNING, NULL, "KERNEL_UPROBES", NULL,
                 "%zu of %zu places are left out: a breakpoint at an instruction such as theirs "
                 "could change what the program does",
                 p->unsafe, p->n);
    if (p->refused == 0)
        return 0;
    if (p->refused + p->unsafe == p->n)
        return diag_error(p->d, ET_EUNSUP, NULL, "KERNEL_UPROBES", NULL,
                          "%sthe kernel refuses a probe at each of the %zu places: %s", no_tracing,
                          p->n, strerror(p->why));
    diag_add(p->d, DIAG_WARNING, NULL, "KERNEL_UPROBES", NULL,
             "the kernel refuses a probe at %zu of %zu places (%s): they are left out", p->refused,
             p->n, strerror(p->why));
    return 0;
}

/* Sets the places of probes. */
static int place_events(struct placing *p, const struct kevent_probe *event, uint32_t n,
                        krun_progress_fn *progress, void *arg)
{
    p->probe = et_rearray(NULL, n + 1u, sizeof *p->probe);
    if (p->probe == NULL)
        return diag_error(p->d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    for (uint32_t i = 0; i < n; i++) {
        const struct kprobe *of = event[i].probe;
        bool placed = of->file == NULL;
        for (size_t k = p->n; of->shares && k > 0 && !placed; k--)
            placed = p->probe[k - 1]->shares && strcmp(p->probe[k - 1]->point, of->point) == 0;
        if (!placed)
            p->probe[p->n++] = of;
    }
    qsort(p->probe, p->n, sizeof *p->probe, by_program);
    const int err = place_all(p, progress, arg);
    et_free(p->probe);
    return err;
}

int krun_place(struct krun *r, krun_progress_fn *progress, void *arg, struct diags *d)
{
    struct placing p = {.r = r, .events = &r->events, .event = r->event, .d = d};
    const int err = place_events(&p, r->plan->event, r->plan->nevents, progress, arg);
    if (err == 0 && p.n > 0)
        unwind_known(r); /* before the first of them fires */
    return err;
}

/* Writes the entries of further probes. Returns 0 or ET_ENOMEM, also when their room is used up:
 * then nothing of it is used. */
static int fill_more(struct krun *r, struct more *m, const struct kevent_probe *event, uint32_t n)
{
    const size_t from = r->strings_there;
    r->strings.len = from; /* without the texts of an extension that failed */
    if (kevents_plan(&m->events, &r->arena, &r->engine->img, event, n) != 0)
        return ET_ENOMEM;
    m->event = arena_array(&r->arena, m->events.npoints + 1u, sizeof *m->event);
    if (m->event == NULL)
        return ET_ENOMEM;
    for (uint32_t i = 0; i < m->events.npoints; i++)
        m->event[i] = -1;
    for (uint32_t i = 0; i < n; i++) {
        const struct engine_probe *q = &event[i].identity;
        if (!once(r, q->prov) || !once(r, q->mod) || !once(r, q->func) || !once(r, q->name))
            return ET_ENOMEM;
    }
    const uint64_t end = kevents_place(&m->events, r->more_at);
    if (r->strings.len > r->strings_most || end > r->more_end)
        return ET_ENOMEM;
    memcpy(r->memory + r->consts[KCONST_STRINGS] + r->engine->img.strtab_len + from,
           r->strings.data + from, r->strings.len - from);
    r->strings_there = r->strings.len;
    kevents_fill(&m->events, r->memory, text, r);
    r->more_at = size_up(end, 64);
    return 0;
}

static bool go_on(void *arg, size_t done, size_t all)
{
    (void)arg;
    (void)done;
    (void)all;
    return true;
}

int krun_extend(struct krun *r, const struct kevent_probe *event, uint32_t n, struct diags *d)
{
    struct more *m = arena_alloc(&r->arena, sizeof *m);
    const uint32_t places = count_places(event, n), most = places_most(places);
    if (m == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    *m = (struct more){.next = r->more};
    if (r->nplaces + places > most)
        return diag_error(d, ET_ELIMIT, NULL, "KERNEL_PLACES", NULL,
                          "these are %u places in processes: at most %u are possible",
                          r->nplaces + places, most);
    if (fill_more(r, m, event, n) != 0 || r->nways + m->events.npoints > PROGRAMS_MOST)
        return diag_error(d, ET_ELIMIT, NULL, "KERNEL_PLACES", NULL,
                          "there is no more room for probes that come while the program runs");
    r->more = m;
    r->nplaces += places;
    r->nways += m->events.npoints;
    int err = event_programs(r, &m->events, m->event, d);
    struct placing p = {.r = r, .events = &m->events, .event = m->event, .d = d, .more = true};
    if (err == 0)
        err = place_events(&p, event, n, go_on, NULL);
    const struct kprobe *last = NULL;
    for (size_t i = 0; i < n && r->unwind != NULL; i++) {
        if (last == NULL || last->file->pid != event[i].probe->file->pid)
            kunwind_changed(r->unwind, (uint32_t)event[i].probe->file->pid);
        last = event[i].probe;
    }
    return err;
}

int krun_fire(struct krun *r, uint32_t own, uint64_t late)
{
    struct kctl *k = control(r);
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    __atomic_store_n(&k->wall,
                     (uint64_t)wall.tv_sec * 1000000000 + (uint64_t)wall.tv_nsec - monotonic_ns(),
                     __ATOMIC_RELAXED);
    if (r->plan->own[own].n == 0 || (!r->ending && krun_exiting(r)))
        return 0;
    const uint64_t args[] = {own, late};
    return kload_run(r->own, args, sizeof args / sizeof *args);
}

/* Waits until each slot that is taken now has been left. Events are short. */
static void quiet(struct krun *r)
{
    const struct engine *e = r->engine;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < e->opt.threads; i++) {
        const struct kslot *s =
            (const struct kslot *)(const void *)((unsigned char *)engine_tstate(e, i) +
                                                 r->consts[KCONST_KSLOT]);
        const uint64_t seq = __atomic_load_n(&s->seq, __ATOMIC_SEQ_CST);
        while ((seq & 1) != 0 && __atomic_load_n(&s->seq, __ATOMIC_SEQ_CST) == seq)
            sched_yield();
    }
}

void krun_phase(struct krun *r, enum engine_phase phase)
{
    struct kctl *k = control(r);
    engine_set_phase(r->engine, phase);
    r->ending = phase == ENGINE_END;
    __atomic_store_n(&k->ending, r->ending, __ATOMIC_SEQ_CST);
    __atomic_store_n(&k->open, phase == ENGINE_RUNNING, __ATOMIC_SEQ_CST);
    if (r->ending)
        quiet(r);
    for (uint32_t i = 0; r->ending && i < r->engine->opt.threads; i++) {
        struct phalf *h = &engine_tstate(r->engine, i)->principal[0];
        if (h->full == FULL_END) /* this part was reserved for END */
            h->limit = h->size;
    }
}

bool krun_exiting(const struct krun *r)
{
    return __atomic_load_n(&control(r)->exiting, __ATOMIC_SEQ_CST) != 0 ||
           engine_exiting(r->engine);
}

void krun_flip(struct krun *r, unsigned what)
{
    struct kctl *k = control(r);
    for (uint32_t i = 0; i < r->engine->nspec; i++)
        atomic_store(&r->engine->spec[i], __atomic_load_n(&k->spec[i], __ATOMIC_SEQ_CST));
    engine_flip(r->engine, what);
    __atomic_store_n(&k->active, atomic_load(&r->engine->active), __ATOMIC_SEQ_CST);
    quiet(r);
}

void krun_drained(struct krun *r)
{
    struct kctl *k = control(r);
    for (uint32_t i = 0; i < r->engine->nspec; i++) {
        const uint32_t s = __atomic_load_n(&k->spec[i], __ATOMIC_SEQ_CST);
        if (s >= SPEC_COMMITTED && atomic_load(&r->engine->spec[i]) == SPEC_IDLE)
            __atomic_store_n(&k->spec[i], SPEC_IDLE, __ATOMIC_SEQ_CST);
    }
}

void krun_counts(const struct krun *r, struct record_counts *c)
{
    const struct kctl *k = control(r);
    engine_counts(r->engine, c);
    const uint64_t missed = __atomic_load_n(&k->missed, __ATOMIC_RELAXED);
    c->drop[RECORD_DROP_THREAD] += missed;
    c->fired += missed;
    for (unsigned i = 0; i < KMEM_CPUS && i < RECORD_CPUS; i++) {
        c->cpu[i].principal += __atomic_load_n(&k->principal[i], __ATOMIC_RELAXED);
        c->cpu[i].agg += __atomic_load_n(&k->aggs[i], __ATOMIC_RELAXED);
    }
}
