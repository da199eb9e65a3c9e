/* kevent.c - the programs that tracepoints run. See kevent.h.
 *
 * Registers of a main function: r6 the context, r7 the place of the slot and r8 its struct kslot
 * once it is taken, r9 the register of a value's steps. On the stack: fp - 8 what a helper reads
 * to, fp - 16 what a value keeps, fp - 24 the place of the entry. */
#include "linux/kevent.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "linux/kmain.h"

enum { R0, R1, R2, R3, R4, R5, CONTEXT, PLACE, KSLOT, VALUE, FP };
enum { SLOT_READ = -8, SLOT_KEPT = -16, SLOT_ENTRY = -24 };
enum {
    FN_CPU = 8,
    FN_TASK = 35,
    FN_READ_USER = 112,
    FN_READ = 113,
    FN_KNOWN_TASK = 158,
    FN_COOKIE = 174,
    FN_REGS = 175
};
enum { SPREAD_MOST = 4096 }; /* entries of a block */

/* -- blocks ------------------------------------------------------------------------------------ */

static bool same_step(const struct kstep *a, const struct kstep *b)
{
    if (a->op != b->op || a->size != b->size || a->is_signed != b->is_signed || a->kept != b->kept)
        return false;
    return a->op == KSTEP_IN ? memcmp(a->set, b->set, sizeof a->set) == 0 : a->n == b->n;
}

static bool same_value(const struct kvalue *a, const struct kvalue *b)
{
    if (a == NULL || b == NULL || a == b)
        return a == b;
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++)
        same = same_step(&a->step[i], &b->step[i]);
    return same;
}

static const struct kvalue *argument(const struct kevent_probe *p, unsigned n)
{
    return n < p->nargs ? &p->arg[n].value : NULL;
}

/* Returns whether two probes can be told apart by their keys alone. */
static bool alike(const struct kevent_probe *a, const struct kevent_probe *b, uint32_t reads)
{
    const struct kprobe *x = a->probe, *y = b->probe;
    bool same = x->key != NULL && y->key != NULL && same_value(x->key, y->key) &&
                x->nwhen == y->nwhen && same_value(x->error, y->error) &&
                same_value(x->thread, y->thread) && same_value(x->about, y->about) && a->n == b->n;
    for (uint32_t i = 0; same && i < x->nwhen; i++)
        same = same_value(&x->when[i], &y->when[i]);
    for (uint32_t i = 0; same && i < a->n; i++)
        same = a->b[i].clause == b->b[i].clause;
    for (unsigned i = 0; same && i < KMEM_ARGS; i++)
        same = (reads >> i & 1) == 0 || same_value(argument(a, i), argument(b, i));
    return same;
}

static uint32_t arguments_read(const struct dif_image *img, const struct kevent_probe *p)
{
    uint32_t reads = 0;
    for (uint32_t i = 0; i < p->n; i++)
        for (unsigned n = 0; n < KMEM_ARGS; n++)
            if (dif_reads_argument(img, p->b[i].clause, n))
                reads |= 1u << n;
    return reads;
}

/* Adds a probe to a block of its tracepoint, or makes one. */
static bool add(struct kevents *k, const struct dif_image *img, const struct kevent_probe *p)
{
    const uint32_t reads = arguments_read(img, p);
    struct kblock *b = NULL;
    for (uint32_t i = 0; i < k->n && b == NULL; i++) {
        struct kblock *q = &k->block[i];
        const int64_t least = p->probe->is < q->least ? p->probe->is : q->least,
                      most = p->probe->is > q->most ? p->probe->is : q->most;
        if (strcmp(q->probe[0]->probe->point, p->probe->point) == 0 && q->reads == reads &&
            alike(q->probe[0], p, reads) && most - least < SPREAD_MOST)
            b = q;
    }
    if (b == NULL) {
        if (k->n == k->cap) {
            const uint32_t cap = k->cap ? k->cap * 2 : 16;
            struct kblock *more = arena_array(k->arena, cap, sizeof *more);
            if (more == NULL)
                return false;
            if (k->n > 0)
                memcpy(more, k->block, k->n * sizeof *more);
            k->block = more;
            k->cap = cap;
        }
        b = &k->block[k->n++];
        *b = (struct kblock){.least = p->probe->is,
                             .most = p->probe->is,
                             .reads = reads,
                             .stride = size_up(sizeof(struct kentry) + p->n * sizeof(uint32_t), 8)};
    }
    if (b->n == b->cap) {
        const uint32_t cap = b->cap ? b->cap * 2 : 4;
        const struct kevent_probe **more = arena_array(k->arena, cap, sizeof *more);
        if (more == NULL)
            return false;
        if (b->n > 0)
            memcpy(more, b->probe, b->n * sizeof *more);
        b->probe = more;
        b->cap = cap;
    }
    b->least = p->probe->is < b->least ? p->probe->is : b->least;
    b->most = p->probe->is > b->most ? p->probe->is : b->most;
    b->probe[b->n++] = p;
    return true;
}

int kevents_plan(struct kevents *k, struct arena *arena, const struct dif_image *img,
                 const struct kevent_probe *probe, uint32_t n)
{
    *k = (struct kevents){.arena = arena};
    for (uint32_t i = 0; i < n; i++)
        if (!add(k, img, &probe[i]))
            return ET_ENOMEM;
    k->point = arena_array(arena, k->n + 1u, sizeof *k->point);
    if (k->point == NULL)
        return ET_ENOMEM;
    for (uint32_t i = 0; i < k->n; i++) {
        const struct kprobe *p = k->block[i].probe[0]->probe;
        bool known = false;
        for (uint32_t j = 0; j < k->npoints; j++)
            known |= strcmp(k->point[j].name, p->point) == 0;
        if (!known)
            k->point[k->npoints++] = (struct kpoint){p->point, p->attach};
    }
    return 0;
}

uint64_t kevents_place(struct kevents *k, uint64_t place)
{
    for (uint32_t i = 0; i < k->n; i++) {
        k->block[i].entries = place;
        place += (uint64_t)(k->block[i].most - k->block[i].least + 1) * k->block[i].stride;
    }
    return place;
}

void kevents_fill(const struct kevents *k, unsigned char *memory,
                  uint64_t (*text)(void *arg, const char *s), void *arg)
{
    for (uint32_t i = 0; i < k->n; i++) {
        const struct kblock *b = &k->block[i];
        for (uint32_t j = 0; j < b->n; j++) {
            const struct kevent_probe *p = b->probe[j];
            const struct engine_probe *q = &p->identity;
            unsigned char *at =
                memory + b->entries + (uint64_t)(p->probe->is - b->least) * b->stride;
            const struct kentry e = {.prov = text(arg, q->prov),
                                     .mod = text(arg, q->mod),
                                     .func = text(arg, q->func),
                                     .name = text(arg, q->name),
                                     .id = q->id,
                                     .bound = 1};
            memcpy(at, &e, sizeof e);
            for (uint32_t c = 0; c < p->n; c++)
                memcpy(at + sizeof e + c * sizeof(uint32_t), &p->b[c].epid, sizeof(uint32_t));
        }
    }
}

/* -- values ------------------------------------------------------------------------------------ */

/* Leaves the operand of a step in r1. */
static void operand(struct kcode *c, const struct kstep *s)
{
    if (s->kept)
        kcode_load(c, BPF_DW, R1, FP, SLOT_KEPT);
    else
        kcode_set(c, R1, (uint64_t)s->n);
}

/* Extends r9's lowest bytes. */
static void extend(struct kcode *c, unsigned bytes, bool is_signed)
{
    const int shift = 64 - 8 * (int)bytes;
    if (shift == 0)
        return;
    kcode_alu_imm(c, BPF_LSH, VALUE, shift);
    kcode_alu_imm(c, is_signed ? BPF_ARSH : BPF_RSH, VALUE, shift);
}

/* r9 = 1 or 0: whether r9 `jump` r1. */
static void compare(struct kcode *c, unsigned jump)
{
    const uint32_t yes = kcode_label(c);
    kcode_set(c, R2, 1);
    kcode_jump(c, jump, VALUE, R1, yes);
    kcode_set(c, R2, 0);
    kcode_place(c, yes);
    kcode_alu(c, BPF_MOV, VALUE, R2);
}

static void read_memory(struct kcode *c, const struct kstep *s)
{
    const uint32_t failed = kcode_label(c);
    kcode_alu(c, BPF_MOV, R3, VALUE);
    kcode_set(c, R1, (uint64_t)s->n);
    kcode_alu(c, BPF_ADD, R3, R1);
    kcode_set(c, VALUE, 0);
    kcode_store(c, BPF_DW, FP, SLOT_READ, VALUE);
    kcode_alu(c, BPF_MOV, R1, FP);
    kcode_alu_imm(c, BPF_ADD, R1, SLOT_READ);
    kcode_set(c, R2, s->size);
    kcode_helper(c, s->op == KSTEP_LOAD_USER ? FN_READ_USER : FN_READ);
    kcode_jump_imm(c, BPF_JNE, R0, 0, failed);
    kcode_load(c, BPF_DW, VALUE, FP, SLOT_READ);
    extend(c, s->size, s->is_signed);
    kcode_place(c, failed);
}

/* r0 = the address of a structure whose type the verifier knows. */
static void known(struct kcode *c, enum kstep_op op)
{
    kcode_helper(c, FN_KNOWN_TASK);
    if (op == KSTEP_REGS) {
        kcode_alu(c, BPF_MOV, R1, R0);
        kcode_helper(c, FN_REGS);
    }
}

/* Reads a member of such a structure, which a program may do without a function of the kernel.
 * Returns whether the two steps are that. (A pointer that is read so cannot be computed with: what
 * has 8 bytes is read so only of registers.) */
static bool read_known(struct kcode *c, const struct kstep *s, uint32_t n)
{
    static const unsigned sizes[] = {[1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW};
    if (n < 2 || s[1].op != KSTEP_LOAD || s[1].n < 0 || s[1].n > INT16_MAX ||
        !(s->op == KSTEP_REGS || (s->op == KSTEP_TASK && s[1].size < 8)))
        return false;
    known(c, s->op);
    kcode_load(c, sizes[s[1].size], VALUE, R0, (int)s[1].n);
    if (s[1].is_signed)
        extend(c, s[1].size, true);
    return true;
}

static void step(struct kcode *c, const struct kstep *s)
{
    uint32_t yes, no;
    switch (s->op) {
    case KSTEP_ARG: kcode_load(c, BPF_DW, VALUE, CONTEXT, 8 * (int)s->n); break;
    case KSTEP_CONST: kcode_set(c, VALUE, (uint64_t)s->n); break;
    case KSTEP_TASK:
        kcode_helper(c, FN_TASK);
        kcode_alu(c, BPF_MOV, VALUE, R0);
        break;
    case KSTEP_REGS:
        known(c, s->op);
        kcode_alu(c, BPF_MOV, VALUE, R0);
        break;
    case KSTEP_CPU:
        kcode_helper(c, FN_CPU);
        kcode_alu(c, BPF_MOV, VALUE, R0);
        break;
    case KSTEP_COOKIE:
        kcode_alu(c, BPF_MOV, R1, CONTEXT);
        kcode_helper(c, FN_COOKIE);
        kcode_alu(c, BPF_MOV, VALUE, R0);
        break;
    case KSTEP_PID:
        kmain_process(c);
        kcode_alu(c, BPF_MOV, VALUE, R0);
        break;
    case KSTEP_LOAD:
    case KSTEP_LOAD_USER: read_memory(c, s); break;
    case KSTEP_EXTEND: extend(c, s->size, s->is_signed); break;
    case KSTEP_KEEP: kcode_store(c, BPF_DW, FP, SLOT_KEPT, VALUE); break;
    case KSTEP_ADD:
    case KSTEP_SUB:
    case KSTEP_AND:
    case KSTEP_OR:
        operand(c, s);
        kcode_alu(c,
                  s->op == KSTEP_ADD   ? BPF_ADD
                  : s->op == KSTEP_SUB ? BPF_SUB
                  : s->op == KSTEP_AND ? BPF_AND
                                       : BPF_OR,
                  VALUE, R1);
        break;
    case KSTEP_SHL:
    case KSTEP_SHR:
        operand(c, s);
        kcode_alu_imm(c, BPF_AND, R1, 63);
        kcode_alu(c, s->op == KSTEP_SHL ? BPF_LSH : s->is_signed ? BPF_ARSH : BPF_RSH, VALUE, R1);
        break;
    case KSTEP_EQ:
        operand(c, s);
        compare(c, BPF_JEQ);
        break;
    case KSTEP_NE:
        operand(c, s);
        compare(c, BPF_JNE);
        break;
    case KSTEP_LT:
        operand(c, s);
        compare(c, BPF_JSLT);
        break;
    case KSTEP_GE:
        operand(c, s);
        compare(c, BPF_JSGE);
        break;
    case KSTEP_IN:
        yes = kcode_label(c);
        no = kcode_label(c);
        for (unsigned i = 0; i < s->size && i < KSTEP_SET; i++)
            kcode_jump_imm(c, BPF_JEQ, VALUE, s->set[i], yes);
        kcode_set(c, VALUE, 0);
        kcode_jump(c, BPF_JA, 0, 0, no);
        kcode_place(c, yes);
        kcode_set(c, VALUE, 1);
        kcode_place(c, no);
        break;
    case KSTEP_ERRNO:
        yes = kcode_label(c);
        no = kcode_label(c);
        kcode_jump_imm(c, BPF_JSGE, VALUE, 0, no);
        kcode_jump_imm(c, BPF_JSGT, VALUE, -4096, yes);
        kcode_place(c, no);
        kcode_set(c, VALUE, 0);
        kcode_place(c, yes);
        kcode_raw(c, BPF_ALU64 | BPF_NEG, VALUE, 0, 0, 0);
        break;
    }
}

/* r9 = a value. */
static void value(struct kcode *c, const struct kvalue *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        if (read_known(c, &v->step[i], v->n - i))
            i++;
        else
            step(c, &v->step[i]);
    }
}

/* -- programs ---------------------------------------------------------------------------------- */

/* Finds the entry of the event's probe in a block, and leaves its place on the stack. */
static void find(struct kcode *c, const struct kblock *b, uint32_t next)
{
    const struct kprobe *p = b->probe[0]->probe;
    const int64_t count = b->most - b->least + 1;
    for (uint32_t i = 0; i < p->nwhen; i++) {
        value(c, &p->when[i]);
        kcode_jump_imm(c, BPF_JEQ, VALUE, 0, next);
    }
    if (p->key == NULL) {
        kcode_set(c, VALUE, b->entries);
        kcode_store(c, BPF_DW, FP, SLOT_ENTRY, VALUE);
        return;
    }
    value(c, p->key);
    kcode_alu_imm(c, BPF_SUB, VALUE, (int32_t)b->least);
    kcode_jump_imm(c, BPF_JGE, VALUE, (int32_t)count, next);
    kcode_alu_imm(c, BPF_MUL, VALUE, (int32_t)b->stride);
    if (b->n < count) { /* some numbers are not probes */
        kcode_mem(c, R1, b->entries + offsetof(struct kentry, bound));
        kcode_alu(c, BPF_ADD, R1, VALUE);
        kcode_load(c, BPF_W, R2, R1, 0);
        kcode_jump_imm(c, BPF_JEQ, R2, 0, next);
    }
    kcode_alu_imm(c, BPF_ADD, VALUE, (int32_t)b->entries);
    kcode_store(c, BPF_DW, FP, SLOT_ENTRY, VALUE);
}

/* Runs the clauses of a block. */
static void clauses(struct kcode *c, const struct kblock *b, uint32_t out)
{
    const struct kevent_probe *p = b->probe[0];
    for (uint32_t i = 0; i < p->n; i++) {
        if (i > 0) { /* exit() ends the firing */
            kcode_mem(c, R1, offsetof(struct kctl, exiting));
            kcode_load(c, BPF_W, R2, R1, 0);
            kcode_jump_imm(c, BPF_JNE, R2, 0, out);
        }
        if (b->n > 1) {
            kcode_load(c, BPF_DW, R1, FP, SLOT_ENTRY);
            kcode_jump_imm(c, BPF_JGT, R1, (int32_t)c->consts[KCONST_CONTENT], out);
            kcode_mem(c, R2, sizeof(struct kentry) + i * sizeof(uint32_t));
            kcode_alu(c, BPF_ADD, R2, R1);
            kcode_load(c, BPF_W, R1, R2, 0);
            kcode_store(c, BPF_W, KSLOT, offsetof(struct kslot, epid), R1);
        } else {
            kcode_store_imm(c, BPF_W, KSLOT, offsetof(struct kslot, epid), (int32_t)p->b[i].epid);
        }
        kmain_clause(c, p->b[i].clause, "faulted");
    }
}

/* Reads the stacks that the clauses of a block ask for. */
static void stacks(struct kcode *c, const struct kevent_probe *p, const struct dif_image *img,
                   const struct kgen_frames *least, struct ksyms *syms)
{
    static const char *const functions[KMEM_ABOVE] = {"__bpf_trace_", "__traceiter_"};
    struct kmain_above above = {.skip = 2, /* the program, and what every program is run by */
                                .passed = p->probe->about != NULL};
    struct kgen_frames frames = *least;
    for (uint32_t i = 0; i < p->n; i++)
        kgen_frames(img, p->b[i].clause, &frames);
    for (unsigned i = 0; frames.kernel > 0 && p->probe->attach == KATTACH_RAWTP && i < KMEM_ABOVE;
         i++) {
        char name[128];
        struct kmain_range *r = &above.range[i];
        snprintf(name, sizeof name, "%s%s", functions[i], p->probe->point);
        ksyms_function(syms, name, &r->start, &r->size);
    }
    kmain_stacks(c, &frames, &above);
}

static void block(struct kcode *c, const struct kblock *b, const struct dif_image *img,
                  const struct kgen_frames *least, struct ksyms *syms, uint32_t out)
{
    const struct kevent_probe *p = b->probe[0];
    const uint32_t next = kcode_label(c), leave = kcode_label(c);
    find(c, b, next);
    kcode_load(c, BPF_DW, R1, FP, SLOT_ENTRY);
    kcode_call(c, "rt_enter");
    kcode_alu(c, BPF_MOV, PLACE, R0);
    kcode_jump_imm(c, BPF_JGT, PLACE, (int32_t)c->consts[KCONST_LAST], out);
    kcode_mem(c, KSLOT, c->consts[KCONST_KSLOT]);
    kcode_alu(c, BPF_ADD, KSLOT, PLACE);
    if (p->probe->thread != NULL) {
        value(c, p->probe->thread);
        kcode_store(c, BPF_DW, KSLOT, offsetof(struct kslot, thread), VALUE);
    }
    if (p->probe->about != NULL) {
        value(c, p->probe->about);
        kcode_store(c, BPF_DW, KSLOT, offsetof(struct kslot, about), VALUE);
    }
    for (unsigned n = 0; n < KMEM_ARGS; n++) {
        if ((b->reads >> n & 1) == 0)
            continue;
        kcode_set(c, VALUE, 0);
        if (argument(p, n) != NULL)
            value(c, argument(p, n));
        kcode_store(c, BPF_DW, KSLOT, (int)offsetof(struct kslot, arg) + 8 * (int)n, VALUE);
    }
    kcode_set(c, VALUE, 0);
    if (p->probe->error != NULL)
        value(c, p->probe->error);
    kcode_store(c, BPF_DW, KSLOT, offsetof(struct kslot, error), VALUE);
    stacks(c, p, img, least, syms);
    clauses(c, b, leave);
    kcode_place(c, leave);
    kcode_alu(c, BPF_MOV, R1, PLACE);
    kcode_call(c, "rt_leave");
    kcode_place(c, next);
}

void kevents_main(const struct kevents *k, struct kcode *c, uint32_t point,
                  const struct dif_image *img, const struct kgen_frames *least, struct ksyms *syms)
{
    kcode_function(c, "event", 1, true);
    const uint32_t out = kcode_label(c);
    kcode_alu(c, BPF_MOV, CONTEXT, R1);
    kcode_mem(c, R1, 0);
    kcode_load(c, BPF_W, R2, R1, offsetof(struct kctl, open));
    kcode_jump_imm(c, BPF_JEQ, R2, 0, out);
    kcode_load(c, BPF_W, R2, R1, offsetof(struct kctl, exiting));
    kcode_jump_imm(c, BPF_JNE, R2, 0, out);
    for (uint32_t i = 0; i < k->n; i++)
        if (strcmp(k->block[i].probe[0]->probe->point, k->point[point].name) == 0)
            block(c, &k->block[i], img, least, syms, out);
    kcode_place(c, out);
    kcode_set(c, R0, 0);
    kcode_exit(c);
}
