/* kcode.c - makes programs for BPF. See kcode.h.
 *
 * The runtime is an object file of clang's (bpf/), embedded in this program. What is read of it is
 * what our own build has made: its one section of code, its symbols and its relocations. */
#include "linux/kcode.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "linux/runtime.h"

enum { FUNCS_MOST = 512 };

/* Kinds of relocations, of the ABI of BPF: not every C library has their names. */
enum { RELOCATE_ADDRESS = 1 /* R_BPF_64_64 */, RELOCATE_CALL = 10 /* R_BPF_64_32 */ };

void kcode_init(struct kcode *c, int map, const uint64_t *consts)
{
    *c = (struct kcode){.map = map, .consts = consts};
}

void kcode_free(struct kcode *c)
{
    et_free(c->insn);
    et_free(c->func);
    et_free(c->call);
    et_free(c->label);
    et_free(c->jump);
    *c = (struct kcode){.map = -1};
}

/* Makes room for one more element; returns false when memory is out. */
static bool room(struct kcode *c, void **p, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return true;
    const uint32_t more = *cap > 0 ? *cap * 2 : 64;
    void *q = c->oom ? NULL : et_realloc(*p, more * size);
    if (q == NULL) {
        c->oom = true;
        return false;
    }
    *p = q;
    *cap = more;
    return true;
}

void kcode_raw(struct kcode *c, uint8_t code, unsigned dst, unsigned src, int off, int32_t imm)
{
    if (room(c, (void **)&c->insn, c->ninsns, &c->cap, sizeof *c->insn))
        c->insn[c->ninsns++] = (struct bpf_insn){.code = code,
                                                 .dst_reg = (uint8_t)dst & 15u,
                                                 .src_reg = (uint8_t)src & 15u,
                                                 .off = (int16_t)off,
                                                 .imm = imm};
    c->far |= off < INT16_MIN || off > INT16_MAX;
}

/* -- functions, labels ------------------------------------------------------------------------- */

/* Ends the function that is being made: its jumps get their distances. */
static void resolve(struct kcode *c)
{
    for (uint32_t i = 0; i < c->njumps && !c->oom; i++) {
        const int64_t off = (int64_t)c->label[c->jump[i].label] - c->jump[i].at - 1;
        c->far |= off < 0 || off > INT16_MAX;
        c->insn[c->jump[i].at].off = (int16_t)off;
    }
    c->njumps = c->nlabels = 0;
}

void kcode_function(struct kcode *c, const char *name, unsigned nargs, bool main)
{
    resolve(c);
    if (!room(c, (void **)&c->func, c->nfuncs, &c->capfuncs, sizeof *c->func))
        return;
    struct kfunc *f = &c->func[c->nfuncs++];
    *f = (struct kfunc){.start = c->ninsns, .nargs = (uint8_t)nargs, .main = main};
    snprintf(f->name, sizeof f->name, "%s", name);
}

uint32_t kcode_label(struct kcode *c)
{
    if (!room(c, (void **)&c->label, c->nlabels, &c->caplabels, sizeof *c->label))
        return 0;
    c->label[c->nlabels] = 0;
    return c->nlabels++;
}

void kcode_place(struct kcode *c, uint32_t label)
{
    if (label < c->nlabels)
        c->label[label] = (int32_t)c->ninsns;
}

static void jump_to(struct kcode *c, uint32_t label)
{
    if (room(c, (void **)&c->jump, c->njumps, &c->capjumps, sizeof *c->jump))
        c->jump[c->njumps++] = (struct kjump){c->ninsns, label};
}

/* -- instructions ------------------------------------------------------------------------------ */

void kcode_alu(struct kcode *c, unsigned op, unsigned dst, unsigned src)
{
    kcode_raw(c, (uint8_t)(BPF_ALU64 | BPF_X | op), dst, src, 0, 0);
}

void kcode_alu_imm(struct kcode *c, unsigned op, unsigned dst, int32_t imm)
{
    kcode_raw(c, (uint8_t)(BPF_ALU64 | BPF_K | op), dst, 0, 0, imm);
}

void kcode_set(struct kcode *c, unsigned dst, uint64_t v)
{
    if (v == (uint64_t)(int64_t)(int32_t)v) {
        kcode_alu_imm(c, BPF_MOV, dst, (int32_t)v);
        return;
    }
    kcode_raw(c, BPF_LD | BPF_DW | BPF_IMM, dst, 0, 0, (int32_t)(uint32_t)v);
    kcode_raw(c, 0, 0, 0, 0, (int32_t)(uint32_t)(v >> 32));
}

void kcode_mem(struct kcode *c, unsigned dst, uint64_t place)
{
    kcode_raw(c, BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_VALUE, 0, c->map);
    kcode_raw(c, 0, 0, 0, 0, (int32_t)(uint32_t)place);
}

void kcode_load(struct kcode *c, unsigned size, unsigned dst, unsigned src, int off)
{
    kcode_raw(c, (uint8_t)(BPF_LDX | BPF_MEM | size), dst, src, off, 0);
}

void kcode_store(struct kcode *c, unsigned size, unsigned dst, int off, unsigned src)
{
    kcode_raw(c, (uint8_t)(BPF_STX | BPF_MEM | size), dst, src, off, 0);
}

void kcode_store_imm(struct kcode *c, unsigned size, unsigned dst, int off, int32_t imm)
{
    kcode_raw(c, (uint8_t)(BPF_ST | BPF_MEM | size), dst, 0, off, imm);
}

void kcode_jump(struct kcode *c, unsigned op, unsigned dst, unsigned src, uint32_t label)
{
    jump_to(c, label);
    if (op == BPF_JA)
        kcode_raw(c, BPF_JMP | BPF_JA, 0, 0, 0, 0);
    else
        kcode_raw(c, (uint8_t)(BPF_JMP | BPF_X | op), dst, src, 0, 0);
}

void kcode_jump_imm(struct kcode *c, unsigned op, unsigned dst, int32_t imm, uint32_t label)
{
    jump_to(c, label);
    kcode_raw(c, (uint8_t)(BPF_JMP | BPF_K | op), dst, 0, 0, imm);
}

void kcode_call(struct kcode *c, const char *name)
{
    if (room(c, (void **)&c->call, c->ncalls, &c->capcalls, sizeof *c->call)) {
        c->call[c->ncalls].at = c->ninsns;
        snprintf(c->call[c->ncalls++].name, sizeof c->call->name, "%s", name);
    }
    kcode_raw(c, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
}

void kcode_helper(struct kcode *c, int number)
{
    kcode_raw(c, BPF_JMP | BPF_CALL, 0, 0, 0, number);
}

void kcode_exit(struct kcode *c)
{
    kcode_raw(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* -- the runtime ------------------------------------------------------------------------------- */

struct object {
    const unsigned char *text;
    const Elf64_Sym *sym;
    const char *names;
    const Elf64_Rel *rel;
    uint32_t nsyms, nrels;
    uint16_t section; /* index of the code */
};

static bool object_open(struct object *o)
{
    const unsigned char *base = runtime_object;
    const Elf64_Ehdr *eh = (const Elf64_Ehdr *)(const void *)base;
    if (runtime_object_end - base < (ptrdiff_t)sizeof *eh || memcmp(base, ELFMAG, SELFMAG) != 0)
        return false;
    const Elf64_Shdr *sh = (const Elf64_Shdr *)(const void *)(base + eh->e_shoff);
    *o = (struct object){.section = 0};
    for (uint16_t i = 0; i < eh->e_shnum; i++) {
        if (sh[i].sh_type == SHT_PROGBITS && (sh[i].sh_flags & SHF_EXECINSTR) &&
            sh[i].sh_size > 0) {
            o->text = base + sh[i].sh_offset;
            o->section = i;
        } else if (sh[i].sh_type == SHT_SYMTAB) {
            o->sym = (const Elf64_Sym *)(const void *)(base + sh[i].sh_offset);
            o->nsyms = (uint32_t)(sh[i].sh_size / sizeof *o->sym);
            o->names = (const char *)base + sh[sh[i].sh_link].sh_offset;
        }
    }
    for (uint16_t i = 0; i < eh->e_shnum; i++)
        if (sh[i].sh_type == SHT_REL && sh[i].sh_info == o->section) {
            o->rel = (const Elf64_Rel *)(const void *)(base + sh[i].sh_offset);
            o->nrels = (uint32_t)(sh[i].sh_size / sizeof *o->rel);
        }
    return o->text != NULL && o->sym != NULL && o->rel != NULL;
}

static const Elf64_Sym *function_named(const struct object *o, const char *name)
{
    for (uint32_t i = 0; i < o->nsyms; i++)
        if (ELF64_ST_TYPE(o->sym[i].st_info) == STT_FUNC && o->sym[i].st_shndx == o->section &&
            strcmp(o->names + o->sym[i].st_name, name) == 0)
            return &o->sym[i];
    return NULL;
}

static const Elf64_Sym *function_at(const struct object *o, uint64_t at)
{
    for (uint32_t i = 0; i < o->nsyms; i++)
        if (ELF64_ST_TYPE(o->sym[i].st_info) == STT_FUNC && o->sym[i].st_shndx == o->section &&
            o->sym[i].st_value == at)
            return &o->sym[i];
    return NULL;
}

/* Returns the number of a constant by its symbol, "K_NAME"; KCONSTS: there is none. */
static unsigned constant_named(const char *name)
{
    static const char *const names[] = {
#define X(n) "K_" #n,
        KMEM_CONSTS(X)
#undef X
    };
    unsigned i = 0;
    while (i < KCONSTS && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* Fills in what the instruction at `at` refers to. Returns false for what our build never makes. */
static bool relocate(struct kcode *c, const struct object *o, const Elf64_Rel *r, uint32_t at)
{
    const Elf64_Sym *s = &o->sym[ELF64_R_SYM(r->r_info)];
    const char *name = o->names + s->st_name;
    struct bpf_insn *in = &c->insn[at];
    if (ELF64_R_TYPE(r->r_info) == RELOCATE_CALL) {
        if (!room(c, (void **)&c->call, c->ncalls, &c->capcalls, sizeof *c->call))
            return true;
        in->src_reg = BPF_PSEUDO_CALL;
        c->call[c->ncalls].at = at;
        snprintf(c->call[c->ncalls++].name, sizeof c->call->name, "%s", name);
        return *name != '\0';
    }
    if (ELF64_R_TYPE(r->r_info) != RELOCATE_ADDRESS)
        return false;
    if (s->st_shndx == o->section) { /* the address of a function */
        const Elf64_Sym *f =
            function_at(o, (ELF64_ST_TYPE(s->st_info) == STT_SECTION ? 0 : s->st_value) +
                               (uint64_t)(int64_t)in[0].imm);
        if (f == NULL || !room(c, (void **)&c->call, c->ncalls, &c->capcalls, sizeof *c->call))
            return f != NULL;
        in[0].src_reg = BPF_PSEUDO_FUNC;
        c->call[c->ncalls].at = at;
        snprintf(c->call[c->ncalls++].name, sizeof c->call->name, "%s", o->names + f->st_name);
        return true;
    }
    if (strcmp(name, "MEM") == 0) {
        in[1].imm = in[0].imm;
        in[0].imm = c->map;
        in->src_reg = BPF_PSEUDO_MAP_VALUE;
        return true;
    }
    const unsigned k = constant_named(name);
    if (k == KCONSTS)
        return false;
    const uint64_t v = c->consts[k] + (uint64_t)(int64_t)in[0].imm;
    in[0].imm = (int32_t)(uint32_t)v;
    in[1].imm = (int32_t)(uint32_t)(v >> 32);
    return true;
}

/* Appends one function of the runtime. */
static bool append(struct kcode *c, const struct object *o, const char *name)
{
    const Elf64_Sym *s = function_named(o, name);
    if (s == NULL)
        return false;
    const uint32_t first = (uint32_t)(s->st_value / 8), n = (uint32_t)(s->st_size / 8);
    const int nargs = runtime_arguments(name);
    kcode_function(c, name, nargs < 0 ? 0 : (unsigned)nargs, false);
    if (!c->oom)
        c->func[c->nfuncs - 1].inner = nargs < 0;
    const uint32_t base = c->ninsns;
    for (uint32_t i = 0; i < n; i++) {
        struct bpf_insn in;
        memcpy(&in, o->text + (size_t)(first + i) * 8, sizeof in);
        kcode_raw(c, in.code, in.dst_reg, in.src_reg, in.off, in.imm);
    }
    for (uint32_t i = 0; i < o->nrels && !c->oom; i++) {
        const uint64_t at = o->rel[i].r_offset / 8;
        if (at >= first && at < first + n &&
            !relocate(c, o, &o->rel[i], base + (uint32_t)(at - first)))
            return false;
    }
    return true;
}

static const struct kfunc *function_of(const struct kcode *c, const char *name)
{
    for (uint32_t i = 0; i < c->nfuncs; i++)
        if (strcmp(c->func[i].name, name) == 0)
            return &c->func[i];
    return NULL;
}

bool kcode_link(struct kcode *c, struct diags *d)
{
    struct object o;
    const char *bad = object_open(&o) ? NULL : "the runtime";
    resolve(c);
    for (uint32_t i = 0; bad == NULL && i < c->ncalls && !c->oom; i++)
        if (function_of(c, c->call[i].name) == NULL &&
            (c->nfuncs >= FUNCS_MOST || !append(c, &o, c->call[i].name)))
            bad = c->call[i].name;
    if (bad == NULL && !c->oom && !c->far) {
        for (uint32_t i = 0; i < c->ncalls; i++)
            c->insn[c->call[i].at].imm =
                (int32_t)function_of(c, c->call[i].name)->start - (int32_t)c->call[i].at - 1;
        return true;
    }
    if (c->oom)
        diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for programs");
    else if (c->far)
        diag_error(d, ET_ELIMIT, NULL, "", "split it into several clauses",
                   "a clause is too long for a program in the kernel");
    else
        diag_error(d, ET_EUNSUP, NULL, "", NULL, "programs for the kernel lack %s", bad);
    return false;
}
