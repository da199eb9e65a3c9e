/* kmain.c - pieces of main functions. See kmain.h. */
#include "linux/kmain.h"

#include <stdio.h>

enum { R0, R1, R2, R3, R4 };
enum { FN_PID = 14, FN_STACK = 67 };

#define MEMBER(m) ((int)offsetof(struct kslot, m))

/* Reads a stack of n frames at most to a member of struct kslot. */
static void read_stack(struct kcode *c, uint32_t n, int to, int count, uint64_t flags)
{
    const uint32_t counted = kcode_label(c);
    kcode_alu(c, BPF_MOV, R1, KMAIN_CONTEXT);
    kcode_alu(c, BPF_MOV, R2, KMAIN_KSLOT);
    kcode_alu_imm(c, BPF_ADD, R2, to);
    kcode_set(c, R3, 8 * n);
    kcode_set(c, R4, flags);
    kcode_helper(c, FN_STACK);
    kcode_jump_imm(c, BPF_JSGE, R0, 0, counted);
    kcode_store_imm(c, BPF_DW, KMAIN_KSLOT, to, 0);
    kcode_set(c, R0, 0);
    kcode_place(c, counted);
    kcode_alu_imm(c, BPF_RSH, R0, 3);
    kcode_store(c, BPF_DW, KMAIN_KSLOT, count, R0);
    kcode_store_imm(c, BPF_DW, KMAIN_KSLOT, to + 8 * (int)n, 0);
}

/* Jumps to `no` unless frame n of the kernel's stack lies in a range. */
static void within(struct kcode *c, unsigned n, const struct kmain_range *r, uint32_t no)
{
    kcode_load(c, BPF_DW, R1, KMAIN_KSLOT, MEMBER(kstack) + 8 * (int)n);
    kcode_set(c, R2, r->start);
    kcode_alu(c, BPF_SUB, R1, R2);
    kcode_jump_imm(c, BPF_JGE, R1, (int32_t)r->size, no);
}

/* Counts the frames that are not part of the kernel's stack. */
static void look_above(struct kcode *c, const struct kmain_above *above)
{
    const uint32_t other = kcode_label(c), done = kcode_label(c);
    kcode_set(c, R3, 0);
    within(c, 0, &above->range[0], other);
    kcode_set(c, R3, 1);
    within(c, 1, &above->range[1], done);
    kcode_set(c, R3, 2);
    kcode_jump(c, BPF_JA, 0, 0, done);
    kcode_place(c, other);
    within(c, 0, &above->range[1], done);
    kcode_set(c, R3, 1);
    kcode_place(c, done);
    kcode_store(c, BPF_DW, KMAIN_KSLOT, MEMBER(above), R3);
    kcode_load(c, BPF_DW, R1, KMAIN_KSLOT, MEMBER(nkstack));
    kcode_alu(c, BPF_SUB, R1, R3);
    kcode_store(c, BPF_DW, KMAIN_KSLOT, MEMBER(nkstack), R1);
}

void kmain_process(struct kcode *c)
{
    if (c->consts[KCONST_NAMESPACE] != 0) {
        kcode_call(c, "rt_own_number");
        return;
    }
    kcode_helper(c, FN_PID);
    kcode_alu_imm(c, BPF_RSH, R0, 32);
}

void kmain_stacks(struct kcode *c, const struct kgen_frames *f, const struct kmain_above *above)
{
    enum { USER = 256 };
    if (f->kernel > 0) {
        read_stack(c, KMEM_ABOVE + f->kernel, MEMBER(kstack), MEMBER(nkstack), above->skip);
        look_above(c, above);
    }
    if (f->user == 0)
        return;
    kmain_process(c);
    kcode_store(c, BPF_DW, KMAIN_KSLOT, MEMBER(upid), R0);
    static const char *const more[] = {"rt_unwind", "rt_erlang_frames", "rt_passed_stack"};
    if (!above->passed)
        read_stack(c, f->user, MEMBER(ustack), MEMBER(nustack), USER);
    for (unsigned i = above->passed ? 2 : 0; i < (above->passed ? 3 : 2); i++) {
        kcode_alu(c, BPF_MOV, R1, KMAIN_PLACE);
        kcode_set(c, R2, f->user);
        kcode_call(c, more[i]);
    }
}

void kmain_clause(struct kcode *c, uint32_t clause, const char *faulted)
{
    char name[32];
    const uint32_t done = kcode_label(c);
    snprintf(name, sizeof name, "clause_%u", clause);
    kcode_alu(c, BPF_MOV, R1, KMAIN_PLACE);
    kcode_call(c, name);
    kcode_jump_imm(c, BPF_JEQ, R0, 0, done);
    kcode_alu(c, BPF_MOV, R1, KMAIN_PLACE);
    kcode_call(c, faulted);
    kcode_place(c, done);
}
