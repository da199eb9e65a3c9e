/* kcode.h - a program for BPF while it is made: instructions, jumps to labels, calls by name, and
 * the functions of the runtime, which are linked in behind it.
 *
 *     struct kcode c;
 *     kcode_init(&c, map_fd, constants);
 *     kcode_function(&c, "event", 1, true);
 *     ... kcode_alu(), kcode_jump(), kcode_call() ...
 *     kcode_function(&c, "clause_0", 1, false);
 *     ...
 *     if (!kcode_link(&c, d)) ...
 *     ... c.insn, c.ninsns, c.func, c.nfuncs for kload.h ...
 *     kcode_free(&c);
 *
 * Errors (no memory, a jump too far) are kept and come out of kcode_link. */
#ifndef ET_LINUX_KCODE_H
#define ET_LINUX_KCODE_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "linux/kmem.h"

/* The numbers of the linker's constants. */
enum kconst {
#define X(name) KCONST_##name,
    KMEM_CONSTS(X)
#undef X
        KCONSTS
};

struct kfunc {
    char name[32];
    uint32_t start;   /* instruction */
    uint8_t nargs;    /* numbers; with `main`, the context */
    bool main, inner; /* inner: verified where it is called; callbacks are */
};
struct kcall {
    uint32_t at;
    char name[32];
};

struct kcode {
    struct bpf_insn *insn;
    uint32_t ninsns, cap;
    struct kfunc *func;
    uint32_t nfuncs, capfuncs;
    struct kcall *call;
    uint32_t ncalls, capcalls;
    /* Labels of the function that is being made: where they are, and jumps to them. */
    int32_t *label;
    uint32_t nlabels, caplabels;
    struct kjump {
        uint32_t at, label;
    } * jump;
    uint32_t njumps, capjumps;
    int map;                /* descriptor */
    const uint64_t *consts; /* KCONSTS of them */
    bool oom, far;
};

void kcode_init(struct kcode *c, int map, const uint64_t *consts);
void kcode_free(struct kcode *c);
/* Begins a function, which ends where the next one begins. */
void kcode_function(struct kcode *c, const char *name, unsigned nargs, bool main);
/* Appends the functions of the runtime that are called, and resolves calls. Returns false with a
 * diagnostic. */
bool kcode_link(struct kcode *c, struct diags *d);

uint32_t kcode_label(struct kcode *c);
void kcode_place(struct kcode *c, uint32_t label);

/* One instruction as it is. */
void kcode_raw(struct kcode *c, uint8_t code, unsigned dst, unsigned src, int off, int32_t imm);
/* dst = dst op src, dst = dst op imm: BPF_ADD and so on, 64 bits wide; BPF_MOV: dst = src. */
void kcode_alu(struct kcode *c, unsigned op, unsigned dst, unsigned src);
void kcode_alu_imm(struct kcode *c, unsigned op, unsigned dst, int32_t imm);
/* dst = a number of 64 bits. */
void kcode_set(struct kcode *c, unsigned dst, uint64_t v);
/* dst = the address of a place of the map. */
void kcode_mem(struct kcode *c, unsigned dst, uint64_t place);
/* dst = *(src + off), *(dst + off) = src or imm; size BPF_B, BPF_H, BPF_W or BPF_DW. */
void kcode_load(struct kcode *c, unsigned size, unsigned dst, unsigned src, int off);
void kcode_store(struct kcode *c, unsigned size, unsigned dst, int off, unsigned src);
void kcode_store_imm(struct kcode *c, unsigned size, unsigned dst, int off, int32_t imm);
/* Jumps if dst op src, or imm: BPF_JEQ and so on; BPF_JA: always. */
void kcode_jump(struct kcode *c, unsigned op, unsigned dst, unsigned src, uint32_t label);
void kcode_jump_imm(struct kcode *c, unsigned op, unsigned dst, int32_t imm, uint32_t label);
/* Calls a function of this program or of the runtime; a function of the kernel. */
void kcode_call(struct kcode *c, const char *name);
void kcode_helper(struct kcode *c, int number);
void kcode_exit(struct kcode *c);

#endif
