/* kgen.c - compiles clauses for BPF. See kgen.h.
 *
 * A function keeps what the machine of DIF has on its stack, and three pointers and operands in
 * registers that calls preserve:
 *
 *     r6  the slot            r7  its struct kslot      r8, r9  operands of the last comparison
 *     fp - 8  place of the slot, a number               fp - 16  bytes of the key so far
 *     below   the registers that the clause uses, then its tuple
 *
 * An instruction that may fault first leaves its number in kslot.at. */
#include "linux/kgen.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "dif/record.h"

enum { R0, R1, R2, R3, R4, R5, SLOT, KSLOT, CA, CB, FP };
enum { SLOT_PLACE = -8, SLOT_KEY = -16, SLOT_REGS = -24 };
enum { FN_TIME = 5, FN_CPU = 8, FN_PID = 14, FN_UID = 15 };
enum { STACK_MOST = 320 };

#define MEMBER(m) ((int)offsetof(struct kslot, m))

struct kgen {
    struct kcode *c;
    const struct kgen_layout *l;
    const struct dif_image *img;
    const struct dif_clause *clause;
    uint32_t nregs, depth;  /* depth: of the tuple, now */
    uint32_t failed, ended; /* labels: returns 1, 0 */
    bool fails, ends;
    uint32_t key; /* bytes of the key so far, if `key_known` */
    bool key_known;
};

static uint64_t constant(const struct kgen *g, enum kconst k)
{
    return g->l->consts[k];
}

/* -- what the kernel tier can run -------------------------------------------------------------- */

/* The functions of the runtime that are subroutines; NULL: there is none. */
static const char *const subrs[DIF_NSUBRS] = {
    [DIF_SUBR_copyinstr] = "rt_copyinstr",
    [DIF_SUBR_strlen] = "rt_strlen",
    [DIF_SUBR_strjoin] = "rt_strjoin",
    [DIF_SUBR_strdup] = "rt_strdup",
    [DIF_SUBR_rand] = "rt_rand",
    [DIF_SUBR_speculation] = "rt_speculation",
    [DIF_SUBR_getmajor] = "rt_getmajor",
    [DIF_SUBR_getminor] = "rt_getminor",
    [DIF_SUBR_toupper] = "rt_toupper",
    [DIF_SUBR_tolower] = "rt_tolower",
    [DIF_SUBR_alloca] = "rt_alloca",
    [DIF_SUBR_bcopy] = "rt_bcopy",
    [DIF_SUBR_copyin] = "rt_copyin",
    [DIF_SUBR_copyinto] = "rt_copyinto",
    [DIF_SUBR_strncpy] = "rt_strncpy",
    [DIF_SUBR_strndup] = "rt_strndup",
    [DIF_SUBR_strchr] = "rt_strchr",
    [DIF_SUBR_strrchr] = "rt_strrchr",
    [DIF_SUBR_strstr] = "rt_strstr",
    [DIF_SUBR_index] = "rt_index",
    [DIF_SUBR_rindex] = "rt_rindex",
    [DIF_SUBR_substr] = "rt_substr",
    [DIF_SUBR_strtok] = "rt_strtok",
    [DIF_SUBR_basename] = "rt_basename",
    [DIF_SUBR_dirname] = "rt_dirname",
    [DIF_SUBR_cleanpath] = "rt_cleanpath",
    [DIF_SUBR_lltostr] = "rt_lltostr",
    [DIF_SUBR_strtoll] = "rt_strtoll",
    [DIF_SUBR_json] = "rt_json",
    [DIF_SUBR_inet_ntoa] = "rt_inet_ntoa",
    [DIF_SUBR_inet_ntoa6] = "rt_inet_ntoa6",
    [DIF_SUBR_inet_ntop] = "rt_inet_ntop",
    [DIF_SUBR_link_ntop] = "rt_link_ntop",
    [DIF_SUBR_htons] = "rt_swap16",
    [DIF_SUBR_ntohs] = "rt_swap16",
    [DIF_SUBR_htonl] = "rt_swap32",
    [DIF_SUBR_ntohl] = "rt_swap32",
    [DIF_SUBR_htonll] = "rt_swap64",
    [DIF_SUBR_ntohll] = "rt_swap64",
    [DIF_SUBR_stack] = "rt_stack",
    [DIF_SUBR_ustack] = "rt_ustack",
    [DIF_SUBR_jstack] = "rt_ustack",
    [DIF_SUBR_uaddr] = "rt_uaddr",
    [DIF_SUBR_d_path] = "rt_d_path",
    [DIF_SUBR_stop] = "rt_stop",
    [DIF_SUBR_chill] = "rt_chill",
    [DIF_SUBR_progenyof] = "rt_progenyof",
    [DIF_SUBR_mutex_owned] = "rt_mutex_owned",
    [DIF_SUBR_mutex_owner] = "rt_mutex_owner",
    [DIF_SUBR_mutex_type_adaptive] = "rt_mutex_type_adaptive",
    [DIF_SUBR_mutex_type_spin] = "rt_mutex_type_spin",
    [DIF_SUBR_rw_read_held] = "rt_rw_read_held",
    [DIF_SUBR_rw_write_held] = "rt_rw_write_held",
    [DIF_SUBR_rw_iswriter] = "rt_rw_iswriter",
};

static bool has_builtin(unsigned b)
{
    switch (b) {
    case DIF_BUILTIN_timestamp:
    case DIF_BUILTIN_walltimestamp:
    case DIF_BUILTIN_vtimestamp:
    case DIF_BUILTIN__chip:
    case DIF_BUILTIN_zonename:
    case DIF_BUILTIN_cpu:
    case DIF_BUILTIN_pid:
    case DIF_BUILTIN_tid:
    case DIF_BUILTIN_uid:
    case DIF_BUILTIN_gid:
    case DIF_BUILTIN_execname:
    case DIF_BUILTIN_erlpid:
    case DIF_BUILTIN_erlname:
    case DIF_BUILTIN_erlfunc:
    case DIF_BUILTIN__passed:
    case DIF_BUILTIN_probeprov:
    case DIF_BUILTIN_probemod:
    case DIF_BUILTIN_probefunc:
    case DIF_BUILTIN_probename:
    case DIF_BUILTIN_id:
    case DIF_BUILTIN_epid:
    case DIF_BUILTIN_caller:
    case DIF_BUILTIN_ucaller:
    case DIF_BUILTIN_stackdepth:
    case DIF_BUILTIN_ustackdepth:
    case DIF_BUILTIN_curthread:
    case DIF_BUILTIN__lwpname:
    case DIF_BUILTIN_ppid:
    case DIF_BUILTIN__pgid:
    case DIF_BUILTIN__sid:
    case DIF_BUILTIN__euid:
    case DIF_BUILTIN__egid:
    case DIF_BUILTIN__pri:
    case DIF_BUILTIN_cwd:
    case DIF_BUILTIN_root:
    case DIF_BUILTIN__fd_path:
    case DIF_BUILTIN__fd_offset:
    case DIF_BUILTIN__fd_fs:
    case DIF_BUILTIN__fd_mount:
    case DIF_BUILTIN__fd_flags:
    case DIF_BUILTIN__number:
    case DIF_BUILTIN_uregs:
    case DIF_BUILTIN_errno: return true;
    default: return false;
    }
}

/* What D has for the kernel and this tier does not, and why. */
static const struct {
    const char *name, *why, *hint;
} lacking[] = {
    {"regs",
     "they are those of the kernel at a probe of one of its functions (fbt), and there are "
     "no such probes",
     "uregs[] has the registers of the process"},
    {"ipl", "Linux has no interrupt priority levels", NULL},
    {"breakpoint", "a program for the kernel cannot enter its debugger", NULL},
    {"panic", "a program for the kernel may not stop it", NULL},
    {"copyout",
     "it would overwrite the memory of a process that relies on it, such as an Erlang "
     "VM's",
     "copyin() reads it"},
    {"copyoutstr",
     "it would overwrite the memory of a process that relies on it, such as an "
     "Erlang VM's",
     "copyinstr() reads it"},
    {"pcap", "no probe has a packet with its bytes", "ip, tcp and udp have what its headers say"},
};

static int cannot(struct diags *d, const struct dif_image *img, const struct dif_clause *c,
                  const char *what, const char *more)
{
    const char *why = "", *hint = NULL;
    const struct diag_pos pos = {dif_str(img, c->file), (int)c->line, (int)c->col, 0};
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
        if (strcmp(lacking[i].name, what) == 0) {
            why = lacking[i].why;
            hint = lacking[i].hint;
        }
    return diag_error(d, ET_EUNSUP, c->line > 0 ? &pos : NULL, "KERNEL_LACKS", hint,
                      "could not enable tracing: the kernel tier does not have %s%s%s%s", what,
                      more, why[0] != '\0' ? ": " : "", why);
}

/* Subroutines that read a member of a structure of the kernel. */
static const struct {
    uint8_t subr;
    enum kmem_field field;
} readers[] = {
    {DIF_SUBR_progenyof, KFIELD_PARENT},          {DIF_SUBR_mutex_owned, KFIELD_MUTEX_OWNER},
    {DIF_SUBR_mutex_owner, KFIELD_MUTEX_OWNER},   {DIF_SUBR_rw_read_held, KFIELD_RWSEM_COUNT},
    {DIF_SUBR_rw_write_held, KFIELD_RWSEM_COUNT}, {DIF_SUBR_rw_iswriter, KFIELD_RWSEM_OWNER},
};

static bool calls(const struct dif_image *img, unsigned subr)
{
    for (uint32_t i = 0; i < img->ncode; i++)
        if (img->code[i] >> 24 == DIF_OP_CALL && (img->code[i] & 65535) == subr)
            return true;
    return false;
}

int kgen_check_fields(const struct dif_image *img, const struct kfield field[KFIELDS],
                      struct diags *d)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (calls(img, readers[i].subr) && field[readers[i].field].n == 0)
            return diag_error(d, ET_EUNSUP, NULL, "KERNEL_LACKS", NULL,
                              "could not enable tracing: %s() is not known on this kernel, whose "
                              "structure is another one",
                              dif_subr_info(readers[i].subr)->name);
    return 0;
}

bool kgen_clause_uses(const struct dif_image *img, uint32_t clause, unsigned builtin)
{
    const struct dif_clause *c = &img->clauses[clause];
    for (uint32_t i = c->code; i < c->code + c->ncode; i++)
        if (img->code[i] >> 24 == DIF_OP_LDB && (img->code[i] & 65535) == builtin)
            return true;
    return false;
}

bool kgen_uses(const struct dif_image *img, unsigned builtin)
{
    for (uint32_t i = 0; i < img->nclauses; i++)
        if (kgen_clause_uses(img, i, builtin))
            return true;
    return false;
}

bool kgen_looks_into_processes(const struct dif_image *img)
{
    static const unsigned builtins[] = {DIF_BUILTIN_erlpid, DIF_BUILTIN_erlname,
                                        DIF_BUILTIN_erlfunc, DIF_BUILTIN_ucaller,
                                        DIF_BUILTIN_ustackdepth},
                          subr[] = {DIF_SUBR_ustack, DIF_SUBR_jstack, DIF_SUBR_uaddr};
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (kgen_uses(img, builtins[i]))
            return true;
    for (size_t i = 0; i < sizeof subr / sizeof *subr; i++)
        if (calls(img, subr[i]))
            return true;
    return false;
}

bool kgen_reads_kernel(const struct dif_image *img)
{
    static const unsigned builtins[] = {DIF_BUILTIN_ppid,      DIF_BUILTIN__pgid, DIF_BUILTIN__sid,
                                        DIF_BUILTIN__euid,     DIF_BUILTIN__egid, DIF_BUILTIN__pri,
                                        DIF_BUILTIN_vtimestamp};
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (kgen_uses(img, builtins[i]))
            return true;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (calls(img, readers[i].subr))
            return true;
    for (uint32_t i = 0; i < img->ncode; i++)
        if ((img->code[i] >> 24 == DIF_OP_LDBA && (img->code[i] & 65535) != DIF_BUILTIN__passed) ||
            (img->code[i] >> 24 == DIF_OP_CALL && (img->code[i] & 65535) == DIF_SUBR_d_path))
            return true;
    return false;
}

static int check_clause(const struct dif_image *img, const struct dif_clause *c, struct diags *d)
{
    for (uint32_t i = c->action; i < c->action + c->nactions; i++)
        if (img->actions[i].kind == ACT_BREAKPOINT || img->actions[i].kind == ACT_PANIC)
            return cannot(d, img, c, dif_action_info(img->actions[i].kind)->name, "()");
    for (uint32_t i = c->code; i < c->code + c->ncode; i++) {
        const unsigned op = img->code[i] >> 24, imm = img->code[i] & 65535;
        if (op == DIF_OP_CALL && subrs[imm] == NULL && imm != DIF_SUBR_lower &&
            imm != DIF_SUBR_uncounted)
            return cannot(d, img, c, dif_subr_info(imm)->name, "()");
        if ((op == DIF_OP_LDBA || op == DIF_OP_LDB) && !has_builtin(imm))
            return cannot(d, img, c, dif_builtin_info(imm)->name,
                          dif_builtin_info(imm)->array ? "[]" : "");
    }
    return 0;
}

int kgen_check(const struct dif_image *img, struct diags *d)
{
    if (img->strsize > KMEM_STRING_MOST)
        return diag_error(d, ET_ELIMIT, NULL, "KERNEL_LACKS", "give a smaller strsize",
                          "in the kernel tier strings have at most %d bytes", KMEM_STRING_MOST);
    for (uint32_t i = 0; i < img->nclauses; i++) {
        const int err = check_clause(img, &img->clauses[i], d);
        if (err != 0)
            return err;
    }
    return 0;
}

/* -- stacks ------------------------------------------------------------------------------------ */

/* Returns the most frames of this kind that the image has room for, and of one that is like it. */
static uint32_t frames(const struct dif_image *img, enum dif_kind kind, enum dif_kind like)
{
    const uint32_t pid = kind == DIF_STACK ? 0 : 8;
    uint32_t most = 0;
    for (uint32_t i = 0; i < img->nparts; i++)
        if ((img->parts[i].kind == kind || img->parts[i].kind == like) && img->parts[i].size > most)
            most = img->parts[i].size;
    for (uint32_t i = 0; i < img->nvars + img->naggs; i++) {
        const struct dif_keys *k =
            i < img->nvars ? &img->vars[i].keys : &img->aggs[i - img->nvars].keys;
        for (unsigned n = 0; n < k->n; n++)
            if ((k->key[n].kind == kind || k->key[n].kind == like) && k->key[n].size > most)
                most = k->key[n].size;
    }
    most = (most > pid ? most - pid : 0) / 8;
    return most < KMEM_FRAMES ? most : KMEM_FRAMES;
}

static void at_least(uint32_t *n, uint32_t wanted)
{
    *n = *n < wanted ? wanted : *n;
}

void kgen_frames(const struct dif_image *img, uint32_t clause, struct kgen_frames *most)
{
    const struct dif_clause *c = &img->clauses[clause];
    for (uint32_t i = c->code; i < c->code + c->ncode; i++) {
        const unsigned op = img->code[i] >> 24, imm = img->code[i] & 65535;
        if (op == DIF_OP_CALL && imm == DIF_SUBR_stack)
            at_least(&most->kernel, frames(img, DIF_STACK, DIF_STACK));
        else if (op == DIF_OP_CALL && (imm == DIF_SUBR_ustack || imm == DIF_SUBR_jstack))
            at_least(&most->user, frames(img, DIF_USTACK, DIF_JSTACK));
        else if (op == DIF_OP_LDB && imm == DIF_BUILTIN_caller)
            at_least(&most->kernel, 2);
        else if (op == DIF_OP_LDB && imm == DIF_BUILTIN_ucaller)
            at_least(&most->user, 2);
        else if (op == DIF_OP_LDB && imm == DIF_BUILTIN_stackdepth)
            most->kernel = KMEM_FRAMES;
        else if (op == DIF_OP_LDB && imm == DIF_BUILTIN_ustackdepth)
            most->user = KMEM_FRAMES;
    }
}

/* -- pieces ------------------------------------------------------------------------------------ */

static int at_reg(unsigned r)
{
    return SLOT_REGS - 8 * (int)r;
}

static int at_tuple(const struct kgen *g, unsigned i)
{
    return SLOT_REGS - 8 * (int)(g->nregs + i);
}

static void get(struct kgen *g, unsigned dst, unsigned reg)
{
    kcode_load(g->c, BPF_DW, dst, FP, at_reg(reg));
}

static void set(struct kgen *g, unsigned reg, unsigned src)
{
    kcode_store(g->c, BPF_DW, FP, at_reg(reg), src);
}

static void tuple(struct kgen *g, unsigned dst, unsigned i)
{
    kcode_load(g->c, BPF_DW, dst, FP, at_tuple(g, i));
}

static void place_of_slot(struct kgen *g, unsigned dst)
{
    kcode_load(g->c, BPF_DW, dst, FP, SLOT_PLACE);
}

static void fail_if_faulted(struct kgen *g)
{
    kcode_load(g->c, BPF_W, R1, KSLOT, MEMBER(faulted));
    kcode_jump_imm(g->c, BPF_JNE, R1, 0, g->failed);
    g->fails = true;
}

/* Calls a function of the runtime whose first argument is the slot; the others are set. */
static void call(struct kgen *g, const char *name)
{
    place_of_slot(g, R1);
    kcode_call(g->c, name);
}

/* The same where it may fault at this instruction; the result stays in r0. */
static void call_checked(struct kgen *g, const char *name, uint32_t pc)
{
    kcode_store_imm(g->c, BPF_W, KSLOT, MEMBER(at), (int32_t)pc);
    call(g, name);
    fail_if_faulted(g);
}

static unsigned width(uint32_t bytes)
{
    return bytes == 1 ? BPF_B : bytes == 2 ? BPF_H : bytes == 4 ? BPF_W : BPF_DW;
}

/* Truncates r0 to an integer type. */
static void truncate_to(struct kgen *g, const struct dif_type *t)
{
    const int shift = 64 - 8 * (int)t->size;
    if (shift == 0)
        return;
    kcode_alu_imm(g->c, BPF_LSH, R0, shift);
    kcode_alu_imm(g->c, t->kind == DIF_INT ? BPF_ARSH : BPF_RSH, R0, shift);
}

/* Whether values of a kind are numbers; others are handled by the address of their bytes. */
static bool is_number(unsigned kind)
{
    return kind <= DIF_UINT || kind == DIF_SYM || kind == DIF_FUNC || kind == DIF_MOD;
}

/* -- keys -------------------------------------------------------------------------------------- */

static void key_begin(struct kgen *g)
{
    g->key = 0;
    g->key_known = true;
}

/* Leaves the bytes of the key so far in a register. */
static void key_length(struct kgen *g, unsigned dst)
{
    if (g->key_known)
        kcode_set(g->c, dst, g->key);
    else
        kcode_load(g->c, BPF_DW, dst, FP, SLOT_KEY);
}

/* Appends `bytes` bytes of r3. */
static void key_int(struct kgen *g, uint32_t bytes)
{
    struct kcode *c = g->c;
    kcode_alu(c, BPF_MOV, R1, SLOT);
    kcode_alu_imm(c, BPF_ADD, R1, (int32_t)(constant(g, KCONST_KEY) + (g->key_known ? g->key : 0)));
    if (!g->key_known) {
        kcode_load(c, BPF_DW, R2, FP, SLOT_KEY);
        kcode_jump_imm(c, BPF_JGT, R2, (int32_t)constant(g, KCONST_KEY_SIZE), g->ended);
        g->ends = true;
        kcode_alu(c, BPF_ADD, R1, R2);
        kcode_alu_imm(c, BPF_ADD, R2, (int32_t)bytes);
        kcode_store(c, BPF_DW, FP, SLOT_KEY, R2);
    }
    kcode_store(c, width(bytes), R1, 0, R3);
    g->key += bytes;
}

/* Appends a value of the tuple. */
static void key_add(struct kgen *g, const struct dif_type *t, unsigned i, uint32_t pc)
{
    if (is_number(t->kind)) {
        tuple(g, R3, i);
        key_int(g, t->size);
        return;
    }
    key_length(g, R2);
    kcode_set(g->c, R3, t->size);
    tuple(g, R4, i);
    call_checked(g, t->kind == DIF_STRING ? "rt_key_text" : "rt_key_bytes", pc);
    kcode_store(g->c, BPF_DW, FP, SLOT_KEY, R0);
    g->key_known = false;
}

static void key_tuple(struct kgen *g, const struct dif_keys *keys, uint32_t pc)
{
    for (unsigned i = 0; i < keys->n; i++)
        key_add(g, &keys->key[i], i, pc);
}

/* r0 = what a function of the kernel tells of the running thread, and one of the runtime of another
 * one that the event is about. */
static void of_thread(struct kgen *g, int32_t helper, const char *other)
{
    struct kcode *c = g->c;
    const uint32_t elsewhere = kcode_label(c), done = kcode_label(c);
    kcode_load(c, BPF_DW, R0, KSLOT, MEMBER(thread));
    kcode_jump_imm(c, BPF_JNE, R0, 0, elsewhere);
    kcode_helper(c, helper);
    kcode_jump(c, BPF_JA, 0, 0, done);
    kcode_place(c, elsewhere);
    call(g, other);
    kcode_place(c, done);
}

/* Builds the key of a dynamic variable. */
static void key_dynamic(struct kgen *g, uint32_t var, bool keyed, uint32_t pc)
{
    const struct dif_var *v = &g->img->vars[var];
    key_begin(g);
    kcode_set(g->c, R3, var);
    key_int(g, 4);
    if (v->scope == DIF_THREAD) {
        of_thread(g, FN_PID, "rt_ids");
        kcode_alu(g->c, BPF_MOV, R3, R0);
        key_int(g, 8);
    }
    if (keyed)
        key_tuple(g, &v->keys, pc);
}

/* -- variables --------------------------------------------------------------------------------- */

/* Returns where a scalar is: in the map, or, for clause-locals, in the slot. */
static uint64_t offset_of(const struct kgen *g, uint32_t var)
{
    const bool local = g->img->vars[var].scope == DIF_CLAUSE;
    return constant(g, local ? KCONST_LOCALS : KCONST_GLOBALS) + g->l->variable[var];
}

/* Leaves its place, a number, in a register. */
static void scalar_place(struct kgen *g, unsigned dst, uint32_t var)
{
    if (g->img->vars[var].scope == DIF_CLAUSE) {
        place_of_slot(g, dst);
        kcode_alu_imm(g->c, BPF_ADD, dst, (int32_t)offset_of(g, var));
    } else {
        kcode_set(g->c, dst, offset_of(g, var));
    }
}

/* Leaves a pointer to it in r1. */
static void scalar_pointer(struct kgen *g, uint32_t var)
{
    if (g->img->vars[var].scope == DIF_CLAUSE) {
        kcode_alu(g->c, BPF_MOV, R1, SLOT);
        kcode_alu_imm(g->c, BPF_ADD, R1, (int32_t)offset_of(g, var));
    } else {
        kcode_mem(g->c, R1, offset_of(g, var));
    }
}

static void scalar_load(struct kgen *g, unsigned a, uint32_t var, uint32_t pc)
{
    const struct dif_type *t = &g->img->vars[var].type;
    if (t->kind <= DIF_UINT) {
        scalar_pointer(g, var);
        kcode_load(g->c, BPF_DW, R0, R1, 0);
        truncate_to(g, t);
    } else if (t->kind == DIF_BYTES) {
        scalar_place(g, R0, var);
        kcode_set(g->c, R1, KMEM_TAG);
        kcode_alu(g->c, BPF_ADD, R0, R1);
    } else {
        scalar_place(g, R2, var);
        call_checked(g, "rt_scalar_text", pc);
    }
    set(g, a, R0);
}

static void scalar_store(struct kgen *g, unsigned a, uint32_t var, uint32_t pc)
{
    const struct dif_type *t = &g->img->vars[var].type;
    if (t->kind <= DIF_UINT) {
        scalar_pointer(g, var);
        get(g, R2, a);
        kcode_store(g->c, BPF_DW, R1, 0, R2);
    } else {
        scalar_place(g, R2, var);
        if (t->kind == DIF_BYTES) {
            get(g, R3, a);
            kcode_set(g->c, R4, t->size);
            call_checked(g, "rt_bytes", pc);
        } else {
            kcode_set(g->c, R3, t->size);
            get(g, R4, a);
            call_checked(g, "rt_scalar_text_store", pc);
        }
    }
}

static void scalar_add(struct kgen *g, unsigned a, uint32_t var)
{
    scalar_pointer(g, var);
    get(g, R0, a);
    kcode_alu(g->c, BPF_MOV, R2, R0);
    kcode_raw(g->c, BPF_STX | BPF_ATOMIC | BPF_DW, R1, R2, 0, BPF_ADD | BPF_FETCH);
    kcode_alu(g->c, BPF_ADD, R0, R2);
    truncate_to(g, &g->img->vars[var].type);
    set(g, a, R0);
}

static void dynamic_load(struct kgen *g, unsigned a, uint32_t var, bool keyed, uint32_t pc)
{
    const struct dif_type *t = &g->img->vars[var].type;
    key_dynamic(g, var, keyed, pc);
    key_length(g, R2);
    if (t->kind <= DIF_UINT) {
        call_checked(g, "rt_dyn_get", pc);
        truncate_to(g, t);
    } else {
        kcode_set(g->c, R3, t->kind == DIF_BYTES ? t->size : 0);
        kcode_set(g->c, R4, t->kind == DIF_STRING);
        call_checked(g, "rt_dyn_get_bytes", pc);
    }
    set(g, a, R0);
}

static void dynamic_store(struct kgen *g, unsigned a, uint32_t var, bool keyed, uint32_t pc)
{
    const struct dif_type *t = &g->img->vars[var].type;
    key_dynamic(g, var, keyed, pc);
    key_length(g, R2);
    get(g, R3, a);
    if (t->kind > DIF_UINT)
        kcode_set(g->c, R4, t->kind == DIF_BYTES ? t->size : 0);
    call_checked(g, t->kind <= DIF_UINT ? "rt_dyn_set" : "rt_dyn_set_bytes", pc);
}

static void dynamic_add(struct kgen *g, unsigned a, uint32_t var, bool keyed, uint32_t pc)
{
    key_dynamic(g, var, keyed, pc);
    key_length(g, R2);
    get(g, R3, a);
    call_checked(g, "rt_dyn_add", pc);
    truncate_to(g, &g->img->vars[var].type);
    set(g, a, R0);
}

/* -- built-ins, subroutines -------------------------------------------------------------------- */

/* r0 = a member of the probe's struct kentry. */
static void entry(struct kgen *g, unsigned size, size_t member)
{
    struct kcode *c = g->c;
    kcode_load(c, BPF_DW, R1, KSLOT, MEMBER(entry));
    kcode_jump_imm(c, BPF_JGT, R1, (int32_t)constant(g, KCONST_CONTENT), g->ended);
    g->ends = true;
    kcode_mem(c, R2, 0);
    kcode_alu(c, BPF_ADD, R2, R1);
    kcode_load(c, size, R0, R2, (int)member);
}

/* r0 = a member of the thread's struct task_struct. */
static void task(struct kgen *g, enum kmem_field which)
{
    kcode_set(g->c, R2, which);
    call(g, "rt_task");
}

/* r0 = one of its numbers. */
static void number(struct kgen *g, enum kmem_field which)
{
    kcode_set(g->c, R2, which);
    call(g, "rt_task_number");
}

/* r0 = pid << 32 | tid. */
static void numbers(struct kgen *g)
{
    if (g->l->consts[KCONST_NAMESPACE] != 0)
        call(g, "rt_numbers");
    else
        of_thread(g, FN_PID, "rt_ids");
}

static void builtin(struct kgen *g, unsigned which, uint32_t pc)
{
    struct kcode *c = g->c;
    switch (which) {
    case DIF_BUILTIN_timestamp: call(g, "rt_timestamp"); break;
    case DIF_BUILTIN_walltimestamp: call(g, "rt_wall"); break;
    case DIF_BUILTIN_vtimestamp: call(g, "rt_vtimestamp"); break;
    case DIF_BUILTIN_cpu: kcode_helper(c, FN_CPU); break;
    case DIF_BUILTIN__chip: kcode_call(c, "rt_chip"); break;
    case DIF_BUILTIN_zonename: kcode_set(c, R0, KMEM_TAG + constant(g, KCONST_GLOBAL)); break;
    case DIF_BUILTIN_pid:
        numbers(g);
        kcode_alu_imm(c, BPF_RSH, R0, 32);
        break;
    case DIF_BUILTIN_tid:
        numbers(g);
        kcode_alu_imm(c, BPF_LSH, R0, 32);
        kcode_alu_imm(c, BPF_RSH, R0, 32);
        break;
    case DIF_BUILTIN_uid:
        of_thread(g, FN_UID, "rt_users");
        kcode_alu_imm(c, BPF_LSH, R0, 32);
        kcode_alu_imm(c, BPF_RSH, R0, 32);
        break;
    case DIF_BUILTIN_gid:
        of_thread(g, FN_UID, "rt_users");
        kcode_alu_imm(c, BPF_RSH, R0, 32);
        break;
    case DIF_BUILTIN_execname: call(g, "rt_comm"); break;
    case DIF_BUILTIN_erlpid: call(g, "rt_erlpid"); break;
    case DIF_BUILTIN_erlname: call(g, "rt_erlname"); break;
    case DIF_BUILTIN_erlfunc: call(g, "rt_erlfunc"); break;
    case DIF_BUILTIN_probeprov: entry(g, BPF_DW, offsetof(struct kentry, prov)); break;
    case DIF_BUILTIN_probemod: entry(g, BPF_DW, offsetof(struct kentry, mod)); break;
    case DIF_BUILTIN_probefunc: entry(g, BPF_DW, offsetof(struct kentry, func)); break;
    case DIF_BUILTIN_probename: call(g, "rt_probename"); break;
    case DIF_BUILTIN_id: entry(g, BPF_W, offsetof(struct kentry, id)); break;
    case DIF_BUILTIN_errno: kcode_load(c, BPF_DW, R0, KSLOT, MEMBER(error)); break;
    case DIF_BUILTIN_curthread: call(g, "rt_curthread"); break;
    case DIF_BUILTIN__lwpname: call(g, "rt_comm"); break;
    case DIF_BUILTIN_ppid: number(g, KFIELD_PPID); break;
    case DIF_BUILTIN__pgid: number(g, KFIELD_PGID); break;
    case DIF_BUILTIN__sid: number(g, KFIELD_SID); break;
    case DIF_BUILTIN__euid: task(g, KFIELD_EUID); break;
    case DIF_BUILTIN__egid: task(g, KFIELD_EGID); break;
    case DIF_BUILTIN__pri: task(g, KFIELD_PRI); break;
    case DIF_BUILTIN_cwd:
    case DIF_BUILTIN_root: kcode_set(c, R0, KMEM_TAG + constant(g, KCONST_UNKNOWN)); break;
    case DIF_BUILTIN_caller: call(g, "rt_caller"); break;
    case DIF_BUILTIN_ucaller: kcode_load(c, BPF_DW, R0, KSLOT, MEMBER(ustack) + 8); break;
    case DIF_BUILTIN_stackdepth: kcode_load(c, BPF_DW, R0, KSLOT, MEMBER(nkstack)); break;
    case DIF_BUILTIN_ustackdepth: kcode_load(c, BPF_DW, R0, KSLOT, MEMBER(nustack)); break;
    case DIF_BUILTIN_epid: kcode_load(c, BPF_W, R0, KSLOT, MEMBER(epid)); break;
    default: kcode_set(c, R0, 0); break;
    }
    (void)pc;
}

/* r0 = an element of a built-in array; its index is in a register of the image. */
static void element(struct kgen *g, unsigned which, unsigned index, uint32_t pc)
{
    get(g, R2, index);
    if (which == DIF_BUILTIN__fd_mount) {
        call_checked(g, "rt_fd_mount", pc);
        return;
    }
    if (which == DIF_BUILTIN__fd_fs || which == DIF_BUILTIN_uregs || which == DIF_BUILTIN__passed ||
        which == DIF_BUILTIN__number) {
        call(g, which == DIF_BUILTIN_uregs     ? "rt_ureg"
                : which == DIF_BUILTIN__passed ? "rt_passed"
                : which == DIF_BUILTIN__number ? "rt_other_number"
                                               : "rt_fd_fs");
        return;
    }
    kcode_set(g->c, R3,
              which == DIF_BUILTIN__fd_offset  ? KFIELD_FILE_OFFSET
              : which == DIF_BUILTIN__fd_flags ? KFIELD_FILE_FLAGS
                                               : KFIELD_FILE_PATH);
    call(g, "rt_fd");
}

static void subroutine(struct kgen *g, unsigned which, uint32_t pc)
{
    const struct dif_subr_info *is = dif_subr_info(which);
    if (which == DIF_SUBR_lower) {
        call(g, "rt_lower");
        return;
    }
    if (which == DIF_SUBR_uncounted) {
        kcode_set(g->c, R2, RECORD_DROP_UNCOUNTED);
        kcode_set(g->c, R3, 1);
        call(g, "rt_dropped");
        return;
    }
    for (unsigned i = 0; i < g->depth && i < 4; i++)
        tuple(g, R2 + i, i);
    for (unsigned i = g->depth; i < is->max && i < 4; i++)
        kcode_set(g->c, R2 + i, UINT64_MAX); /* not given */
    if (is->min < is->max)
        kcode_set(g->c, R2 + is->max, g->depth);
    call_checked(g, subrs[which], pc);
}

/* -- records and aggregations ------------------------------------------------------------------ */

static void record_part(struct kgen *g, const struct dif_type *t, unsigned a, uint32_t pc)
{
    struct kcode *c = g->c;
    if (!is_number(t->kind)) {
        kcode_set(c, R2, t->size);
        get(g, R3, a);
        call_checked(g, t->kind == DIF_STRING ? "rt_part_text" : "rt_part_bytes", pc);
        return;
    }
    kcode_load(c, BPF_DW, R2, KSLOT, MEMBER(part));
    kcode_jump_imm(c, BPF_JGT, R2, (int32_t)constant(g, KCONST_CONTENT), g->ended);
    g->ends = true;
    kcode_mem(c, R1, 0);
    kcode_alu(c, BPF_ADD, R1, R2);
    get(g, R3, a);
    kcode_store(c, width(t->size), R1, 0, R3);
    kcode_alu_imm(c, BPF_ADD, R2, (int32_t)t->size);
    kcode_store(c, BPF_DW, KSLOT, MEMBER(part), R2);
}

/* Returns whether a part of the clause is the number of a signal to be sent. */
static bool is_of_raise(const struct kgen *g, uint32_t part)
{
    for (uint32_t i = 0; i < g->clause->nactions; i++) {
        const struct dif_action *a = &g->img->actions[g->clause->action + i];
        if (a->kind == ACT_RAISE && a->part == g->clause->part + part)
            return true;
    }
    return false;
}

static void record_begin(struct kgen *g, uint32_t sub)
{
    kcode_set(g->c, R2, g->l->record_max[g->clause - g->img->clauses]);
    kcode_set(g->c, R3, sub);
    call(g, "rt_record");
    kcode_jump_imm(g->c, BPF_JEQ, R0, 0, g->ended);
    g->ends = true;
}

static void aggregate(struct kgen *g, uint32_t agg, uint32_t pc)
{
    const struct dif_agg *a = &g->img->aggs[agg];
    const unsigned nargs = dif_agg_nargs(a->func);
    key_begin(g);
    key_tuple(g, &a->keys, pc);
    key_length(g, R2);
    kcode_set(g->c, R3, agg);
    if (nargs > 0)
        tuple(g, R4, a->keys.n);
    else
        kcode_set(g->c, R4, 0);
    if (nargs > 1)
        tuple(g, R5, a->keys.n + 1u);
    else
        kcode_set(g->c, R5, 1);
    call(g, "rt_agg");
}

/* -- instructions ------------------------------------------------------------------------------ */

static void arithmetic(struct kgen *g, unsigned op, uint32_t in)
{
    get(g, R0, in >> 8 & 15);
    get(g, R1, in & 15);
    kcode_alu(g->c, op, R0, R1);
    set(g, in >> 16 & 15, R0);
}

static void divide(struct kgen *g, uint32_t in, uint32_t pc)
{
    const unsigned op = in >> 24;
    const bool rem = op == DIF_OP_SREM || op == DIF_OP_UREM;
    get(g, R2, in >> 8 & 15);
    get(g, R3, in & 15);
    kcode_set(g->c, R4, rem);
    call_checked(g, op == DIF_OP_SDIV || op == DIF_OP_SREM ? "rt_sdiv" : "rt_udiv", pc);
    set(g, in >> 16 & 15, R0);
}

static void extend(struct kgen *g, uint32_t in, unsigned by)
{
    const int shift = 64 - 8 * (int)(in & 255);
    get(g, R0, in >> 8 & 15);
    kcode_alu_imm(g->c, BPF_LSH, R0, shift);
    kcode_alu_imm(g->c, by, R0, shift);
    set(g, in >> 16 & 15, R0);
}

static void load(struct kgen *g, uint32_t in, uint32_t size, uint32_t pc)
{
    get(g, R2, in >> 8 & 15);
    kcode_set(g->c, R3, size);
    call_checked(g, "rt_load", pc);
    set(g, in >> 16 & 15, R0);
}

static void store(struct kgen *g, uint32_t in, uint32_t size, uint32_t pc)
{
    get(g, R2, in >> 16 & 15);
    kcode_set(g->c, R3, size);
    get(g, R4, in >> 8 & 15);
    call_checked(g, "rt_store", pc);
}

static unsigned jump_of(unsigned op)
{
    switch (op) {
    case DIF_OP_BE: return BPF_JEQ;
    case DIF_OP_BNE: return BPF_JNE;
    case DIF_OP_BG: return BPF_JSGT;
    case DIF_OP_BGU: return BPF_JGT;
    case DIF_OP_BGE: return BPF_JSGE;
    case DIF_OP_BGEU: return BPF_JGE;
    case DIF_OP_BL: return BPF_JSLT;
    case DIF_OP_BLU: return BPF_JLT;
    case DIF_OP_BLE: return BPF_JSLE;
    case DIF_OP_BLEU: return BPF_JLE;
    default: return BPF_JA;
    }
}

/* Emits one instruction that is no branch. */
static void step(struct kgen *g, uint32_t in, uint32_t pc)
{
    struct kcode *c = g->c;
    const unsigned op = in >> 24, a = in >> 16 & 15, b = in >> 8 & 15, imm = in & 65535;
    switch ((enum dif_op)op) {
    case DIF_OP_NOP: break;
    case DIF_OP_OR: arithmetic(g, BPF_OR, in); break;
    case DIF_OP_XOR: arithmetic(g, BPF_XOR, in); break;
    case DIF_OP_AND: arithmetic(g, BPF_AND, in); break;
    case DIF_OP_SUB: arithmetic(g, BPF_SUB, in); break;
    case DIF_OP_ADD: arithmetic(g, BPF_ADD, in); break;
    case DIF_OP_MUL: arithmetic(g, BPF_MUL, in); break;
    case DIF_OP_SLL:
    case DIF_OP_SRL:
    case DIF_OP_SRA:
        get(g, R0, b);
        get(g, R1, in & 15);
        kcode_alu_imm(c, BPF_AND, R1, 63);
        kcode_alu(c, op == DIF_OP_SLL ? BPF_LSH : op == DIF_OP_SRL ? BPF_RSH : BPF_ARSH, R0, R1);
        set(g, a, R0);
        break;
    case DIF_OP_SDIV:
    case DIF_OP_UDIV:
    case DIF_OP_SREM:
    case DIF_OP_UREM: divide(g, in, pc); break;
    case DIF_OP_NOT:
        get(g, R0, b);
        kcode_alu_imm(c, BPF_XOR, R0, -1);
        set(g, a, R0);
        break;
    case DIF_OP_MOV:
        get(g, R0, b);
        set(g, a, R0);
        break;
    case DIF_OP_EXTS: extend(g, in, BPF_ARSH); break;
    case DIF_OP_EXTU: extend(g, in, BPF_RSH); break;
    case DIF_OP_SETI:
        kcode_set(c, R0, (uint64_t)(int64_t)(int16_t)imm);
        set(g, a, R0);
        break;
    case DIF_OP_SETX:
        kcode_set(c, R0, g->img->ints[imm]);
        set(g, a, R0);
        break;
    case DIF_OP_SETS:
        kcode_set(c, R0, KMEM_TAG + constant(g, KCONST_STRINGS) + g->img->str[imm]);
        set(g, a, R0);
        break;
    case DIF_OP_CMP:
        get(g, CA, a);
        get(g, CB, b);
        break;
    case DIF_OP_SCMP:
        get(g, R2, a);
        get(g, R3, b);
        call_checked(g, "rt_scmp", pc);
        kcode_alu(c, BPF_MOV, CA, R0);
        kcode_set(c, CB, 1);
        break;
    case DIF_OP_TST:
        get(g, CA, a);
        kcode_set(c, CB, 0);
        break;
    case DIF_OP_LDSB: load(g, in, 128 + 1, pc); break;
    case DIF_OP_LDSH: load(g, in, 128 + 2, pc); break;
    case DIF_OP_LDSW: load(g, in, 128 + 4, pc); break;
    case DIF_OP_LDUB: load(g, in, 1, pc); break;
    case DIF_OP_LDUH: load(g, in, 2, pc); break;
    case DIF_OP_LDUW: load(g, in, 4, pc); break;
    case DIF_OP_LDX: load(g, in, 8, pc); break;
    case DIF_OP_STB: store(g, in, 1, pc); break;
    case DIF_OP_STH: store(g, in, 2, pc); break;
    case DIF_OP_STW: store(g, in, 4, pc); break;
    case DIF_OP_STX: store(g, in, 8, pc); break;
    case DIF_OP_COPY:
        get(g, R2, a);
        get(g, R3, b);
        get(g, R4, in & 15);
        call_checked(g, "rt_copy", pc);
        break;
    case DIF_OP_BOUND:
        get(g, R2, a);
        kcode_set(c, R3, g->img->ints[imm]);
        call_checked(g, "rt_bound", pc);
        break;
    case DIF_OP_LDARG:
        kcode_load(c, BPF_DW, R0, KSLOT, MEMBER(arg) + 8 * (int)(in & 255));
        set(g, a, R0);
        break;
    case DIF_OP_LDB:
        builtin(g, imm, pc);
        set(g, a, R0);
        break;
    case DIF_OP_LDBA:
        element(g, imm, a, pc);
        set(g, a, R0);
        break;
    case DIF_OP_LDGS:
    case DIF_OP_LDLS: scalar_load(g, a, imm, pc); break;
    case DIF_OP_STGS:
    case DIF_OP_STLS: scalar_store(g, a, imm, pc); break;
    case DIF_OP_ADDGS: scalar_add(g, a, imm); break;
    case DIF_OP_LDTS: dynamic_load(g, a, imm, false, pc); break;
    case DIF_OP_STTS: dynamic_store(g, a, imm, false, pc); break;
    case DIF_OP_ADDTS: dynamic_add(g, a, imm, false, pc); break;
    case DIF_OP_LDGAA:
    case DIF_OP_LDTAA: dynamic_load(g, a, imm, true, pc); break;
    case DIF_OP_STGAA:
    case DIF_OP_STTAA: dynamic_store(g, a, imm, true, pc); break;
    case DIF_OP_ADDGAA:
    case DIF_OP_ADDTAA: dynamic_add(g, a, imm, true, pc); break;
    case DIF_OP_PUSHTR:
    case DIF_OP_PUSHTV:
        get(g, R0, a);
        kcode_store(c, BPF_DW, FP, at_tuple(g, g->depth), R0);
        break;
    case DIF_OP_CALL:
        subroutine(g, imm, pc);
        set(g, a, R0);
        break;
    case DIF_OP_RECB: record_begin(g, 0); break;
    case DIF_OP_RECN: record_begin(g, imm + 1); break;
    case DIF_OP_RECE: call(g, "rt_record_end"); break;
    case DIF_OP_REC:
        record_part(g, &g->img->parts[g->clause->part + imm], a, pc);
        if (is_of_raise(g, imm)) {
            get(g, R2, a);
            call_checked(g, "rt_raise", pc);
        }
        break;
    case DIF_OP_AGG: aggregate(g, imm, pc); break;
    case DIF_OP_SPEC:
        get(g, R2, a);
        call(g, "rt_speculate");
        kcode_jump_imm(c, BPF_JEQ, R0, 0, g->ended);
        g->ends = true;
        break;
    case DIF_OP_COMMIT:
    case DIF_OP_DISCARD:
        get(g, R2, a);
        kcode_set(c, R3, op == DIF_OP_COMMIT ? 2 : 3);
        call_checked(g, "rt_spec_end", pc);
        break;
    case DIF_OP_EXIT:
        kcode_mem(c, R1, offsetof(struct kctl, exiting));
        kcode_store_imm(c, BPF_W, R1, 0, 1);
        break;
    default: break; /* kgen_check has found everything else */
    }
}

/* How an instruction changes the depth of the tuple. */
static void stacked(struct kgen *g, uint32_t in)
{
    switch ((enum dif_op)(in >> 24)) {
    case DIF_OP_PUSHTR:
    case DIF_OP_PUSHTV: g->depth++; break;
    case DIF_OP_FLUSHTS:
    case DIF_OP_LDGAA:
    case DIF_OP_STGAA:
    case DIF_OP_ADDGAA:
    case DIF_OP_LDTAA:
    case DIF_OP_STTAA:
    case DIF_OP_ADDTAA:
    case DIF_OP_CALL:
    case DIF_OP_AGG: g->depth = 0; break;
    default: break;
    }
}

static bool is_branch(uint32_t in)
{
    const unsigned op = in >> 24;
    return op >= DIF_OP_BA && op <= DIF_OP_BLEU;
}

/* Finds which registers the clause uses. Any byte of an instruction below 16 may be one. */
static uint32_t registers(const struct dif_image *img, const struct dif_clause *c)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->ncode; i++) {
        const uint32_t in = img->code[c->code + i], op = in >> 24;
        const uint32_t a = in >> 16 & 15, b = in >> 8 & 15, low = in & 15;
        const bool abc = (op >= DIF_OP_OR && op <= DIF_OP_UREM) || op == DIF_OP_COPY;
        const bool ab = abc || (op >= DIF_OP_NOT && op <= DIF_OP_EXTU) || op == DIF_OP_CMP ||
                        op == DIF_OP_SCMP || (op >= DIF_OP_LDSB && op <= DIF_OP_LDX) ||
                        (op >= DIF_OP_STB && op <= DIF_OP_STX);
        if (is_branch(in) || op == DIF_OP_AGG || op == DIF_OP_RECN)
            continue;
        most = a + 1 > most ? a + 1 : most;
        most = ab && b + 1 > most ? b + 1 : most;
        most = abc && low + 1 > most ? low + 1 : most;
    }
    return most;
}

/* After a fault: finds the action of the instruction, and its offset there. */
static void failed(struct kgen *g)
{
    struct kcode *c = g->c;
    const struct dif_clause *cl = g->clause;
    const uint32_t found = kcode_label(c);
    kcode_place(c, g->failed);
    kcode_load(c, BPF_W, R1, KSLOT, MEMBER(at));
    for (uint32_t i = cl->nactions; i > 0; i--) {
        const struct dif_action *a = &g->img->actions[cl->action + i - 1];
        const uint32_t before = kcode_label(c);
        kcode_jump_imm(c, BPF_JLT, R1, (int32_t)(a->pc > cl->npred ? a->pc : cl->npred), before);
        kcode_alu_imm(c, BPF_SUB, R1, (int32_t)a->pc);
        kcode_set(c, R2, i);
        kcode_jump(c, BPF_JA, 0, 0, found);
        kcode_place(c, before);
    }
    kcode_set(c, R2, 0);
    const uint32_t predicate = kcode_label(c);
    kcode_jump_imm(c, BPF_JLT, R1, (int32_t)cl->npred, predicate);
    kcode_set(c, R2, 1);
    kcode_place(c, predicate);
    kcode_place(c, found);
    kcode_alu_imm(c, BPF_LSH, R1, 2);
    kcode_store(c, BPF_W, KSLOT, MEMBER(action), R2);
    kcode_store(c, BPF_W, KSLOT, MEMBER(offset), R1);
    kcode_set(c, R0, 1);
    kcode_exit(c);
}

/* The depth of the tuple at each instruction does not depend on the path: the verifier ensures it.
 */
void kgen_clause(struct kcode *c, const struct kgen_layout *l, uint32_t clause)
{
    const struct dif_image *img = l->img;
    const struct dif_clause *cl = &img->clauses[clause];
    struct kgen g = {.c = c, .l = l, .img = img, .clause = cl, .nregs = registers(img, cl)};
    char name[32];
    snprintf(name, sizeof name, "clause_%u", clause);
    kcode_function(c, name, 1, false);
    g.failed = kcode_label(c);
    g.ended = kcode_label(c);
    const uint32_t first = c->nlabels; /* a label for each instruction */
    for (uint32_t pc = 0; pc < cl->ncode; pc++)
        kcode_label(c);
    if (c->oom)
        return;
    kcode_jump_imm(c, BPF_JGT, R1, (int32_t)constant(&g, KCONST_LAST), g.ended);
    g.ends = true;
    kcode_store(c, BPF_DW, FP, SLOT_PLACE, R1);
    kcode_mem(c, SLOT, 0);
    kcode_alu(c, BPF_ADD, SLOT, R1);
    kcode_alu(c, BPF_MOV, KSLOT, SLOT);
    kcode_alu_imm(c, BPF_ADD, KSLOT, (int32_t)constant(&g, KCONST_KSLOT));
    kcode_store_imm(c, BPF_W, KSLOT, MEMBER(faulted), 0);
    kcode_store_imm(c, BPF_DW, KSLOT, MEMBER(scratch), 0);
    kcode_store_imm(c, BPF_DW, KSLOT, MEMBER(alloca), 0);
    kcode_store_imm(c, BPF_DW, KSLOT, MEMBER(have), 0);
    if (cl->records) {
        kcode_store_imm(c, BPF_DW, KSLOT, MEMBER(record), 0);
        kcode_load(c, BPF_DW, R1, KSLOT, MEMBER(half0)); /* a speculation may have been abandoned */
        kcode_store(c, BPF_DW, KSLOT, MEMBER(half), R1);
        kcode_load(c, BPF_DW, R1, KSLOT, MEMBER(data0));
        kcode_store(c, BPF_DW, KSLOT, MEMBER(data), R1);
    }
    bool live = true;
    bool *target = et_calloc(cl->ncode + 1u, sizeof *target);
    c->oom |= target == NULL;
    for (uint32_t pc = 0; pc < cl->ncode && !c->oom; pc++) {
        const uint32_t in = img->code[cl->code + pc];
        if (target[pc]) {
            kcode_place(c, first + pc);
            live = true;
        }
        if (!live)
            continue;
        if (is_branch(in)) {
            const unsigned op = jump_of(in >> 24);
            kcode_jump(c, op, CA, CB, first + (in & 0xffffff));
            target[in & 0xffffff] = true;
            live = op != BPF_JA;
        } else if (in >> 24 == DIF_OP_RET) {
            if (cl->records)
                call(&g, "rt_record_end");
            kcode_jump(c, BPF_JA, 0, 0, g.ended);
            live = false;
        } else {
            step(&g, in, pc);
            stacked(&g, in);
        }
    }
    et_free(target);
    kcode_place(c, g.ended);
    kcode_set(c, R0, 0);
    kcode_exit(c);
    if (g.fails)
        failed(&g);
}
