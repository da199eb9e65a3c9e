/* decide.c - see decide.h.
 *
 * A value is one of struct known's kinds. Known strings are real ones, in the image, in the probe's
 * identity or in scratch. Subroutines over values that are all known are run by the engine itself,
 * with nothing but an image and scratch, so that the decision here cannot differ from the result
 * there. Addresses themselves are never known, only that a string's is not 0.
 *
 * Scratch cannot run out while the predicate makes no more strings than the engine has room for at
 * the largest size; a predicate with more is not examined. */
#include "tier/decide.h"

#include <string.h>

#include "base/arena.h"
#include "base/size.h"
#include "engine/impl.h"

enum {
    MOST_CODE = 4096, /* instructions of the longest predicate that is examined */
    PID_STRSIZE = 64, /* a strsize that cuts no process id */
    COUNTS_CODE = 256 /* instructions of the longest clause that decide_counts examines */
};

enum kind {
    ANY,     /* unknown; 0, so that an empty flow knows nothing */
    INT,     /* this number */
    STR,     /* the address of this string, which can be read */
    TEXT,    /* ... of some string */
    PERHAPS, /* of some string, or 0 */
    PID      /* of the text of a process that differs from all it is compared with */
};
struct known {
    enum kind kind;
    uint64_t v; /* INT: the number; STR: its address here */
};

/* The possible results of comparing two operands, as a set. */
enum {
    EQUAL = 1,
    LL = 2, /* less, signed and unsigned */
    LG = 4, /* less signed, greater unsigned */
    GL = 8,
    GG = 16,
    DIFFER = LL | LG | GL | GG,
    OPEN = EQUAL | DIFFER
};

/* What is known before an instruction. */
struct flow {
    bool live; /* some path leads here */
    uint8_t depth, compared;
    struct known r[DIF_NREGS], tuple[DIF_TUPLE_MAX];
};

struct decider {
    struct engine e;
    struct tstate ts;
    struct engine_ctx ctx;
    struct exec x;
    struct arena arena;
    struct flow *ahead; /* by instruction: what jumps bring there */
    uint16_t *looks;    /* by clause: what its predicate reads, as far as it was asked about */
    bool *opaque;       /* by clause: its predicate cannot be decided */
    uint32_t waiting;   /* of `ahead`, those that are live */
    uint32_t most_code; /* elements of `ahead` */
    /* Of the walk in progress. */
    const struct decide_probe *probe;
    struct probe_pids *pids; /* not NULL: argument 0 is PID */
    bool is_true, is_false;  /* some path leads there */
    bool in_doubt;
    /* The last question and its answer. */
    bool asked;
    uint32_t clause;
    struct decide_probe last; /* its `mfa` is the text in: */
    struct buf mfa;
    enum decide_verdict verdict;
    bool searched; /* for `found` */
    struct probe_pids found;
};

/* -- what can be said of a clause at all ---------------------------------------------------------
 */

static unsigned look_of(uint32_t in)
{
    unsigned imm = in & 65535;
    if (in >> 24 == DIF_OP_LDARG)
        return (in & 255) == 0 ? DECIDE_LOOKS_ARG0 : (in & 255) == 1 ? DECIDE_LOOKS_ARG1 : 0;
    if (in >> 24 != DIF_OP_LDB)
        return 0;
    switch (imm) {
    case DIF_BUILTIN_probeprov: return DECIDE_LOOKS_PROV;
    case DIF_BUILTIN_probemod: return DECIDE_LOOKS_MOD;
    case DIF_BUILTIN_probefunc: return DECIDE_LOOKS_FUNC;
    case DIF_BUILTIN_probename: return DECIDE_LOOKS_NAME;
    case DIF_BUILTIN_id:
    case DIF_BUILTIN_epid: return DECIDE_LOOKS_NUMBER;
    case DIF_BUILTIN_pid: return DECIDE_LOOKS_PROCESS;
    case DIF_BUILTIN_node: return DECIDE_LOOKS_NODE;
    default: return 0;
    }
}

static bool makes_string(uint32_t in)
{
    unsigned op = in >> 24;
    return op == DIF_OP_CALL || op == DIF_OP_LDGS || op == DIF_OP_LDLS;
}

static void survey(struct decider *d)
{
    const struct dif_image *img = &d->e.img;
    for (uint32_t c = 0; c < img->nclauses; c++) {
        const uint32_t *code = img->code + img->clauses[c].code;
        uint32_t n = img->clauses[c].npred, strings = 0;
        for (uint32_t i = 0; i < n; i++) {
            d->looks[c] |= (uint16_t)look_of(code[i]);
            strings += makes_string(code[i]);
        }
        d->opaque[c] = n > MOST_CODE || strings > ENGINE_SCRATCH_STRINGS;
        if (!d->opaque[c] && n > d->most_code)
            d->most_code = n;
    }
}

struct decider *decider_new(const struct dif_image *img)
{
    struct decider *d = et_calloc(1, sizeof *d);
    if (d == NULL)
        return NULL;
    arena_init(&d->arena);
    d->e.img = *img;
    const uint64_t scratch =
        size_mul(ENGINE_SCRATCH_STRINGS, size_up(size_add(img->strsize, 9), 8));
    if (size_fits(scratch, &d->e.scratch_size))
        d->ts.scratch = arena_alloc(&d->arena, scratch);
    d->looks = arena_array(&d->arena, size_add(img->nclauses, 1), sizeof *d->looks);
    d->opaque = arena_array(&d->arena, size_add(img->nclauses, 1), sizeof *d->opaque);
    if (d->ts.scratch != NULL && d->looks != NULL && d->opaque != NULL) {
        survey(d);
        d->ahead = arena_array(&d->arena, size_add(d->most_code, 1), sizeof *d->ahead);
    }
    if (d->ahead == NULL) {
        decider_free(d);
        return NULL;
    }
    return d;
}

void decider_free(struct decider *d)
{
    if (d == NULL)
        return;
    buf_free(&d->mfa);
    arena_free(&d->arena);
    et_free(d);
}

/* -- values
 * ---------------------------------------------------------------------------------------- */

static const struct known any = {ANY, 0};

static struct known number(uint64_t v)
{
    return (struct known){INT, v};
}

static bool is_null(struct known a)
{
    return a.kind == INT && a.v == 0;
}

/* Returns whether a value is the address of a readable string. */
static bool is_string(struct known a)
{
    return a.kind == STR || a.kind == TEXT || a.kind == PID;
}

/* Returns a text of the probe, if it is known. */
static struct known text(const char *s)
{
    return s != NULL ? (struct known){STR, (uint64_t)(uintptr_t)s} : (struct known){TEXT, 0};
}

static struct known join(struct known a, struct known b)
{
    if (a.kind == b.kind && a.v == b.v)
        return a;
    if (is_string(a) && is_string(b))
        return (struct known){TEXT, 0};
    if ((is_string(a) || is_null(a) || a.kind == PERHAPS) &&
        (is_string(b) || is_null(b) || b.kind == PERHAPS))
        return (struct known){PERHAPS, 0};
    return any;
}

/* Merges one more path into an instruction of the predicate. */
static void arrive(struct decider *d, struct flow *to, const struct flow *from)
{
    if (!to->live) {
        *to = *from;
        d->waiting++;
        return;
    }
    to->compared |= from->compared;
    for (unsigned i = 0; i < DIF_NREGS; i++)
        to->r[i] = join(to->r[i], from->r[i]);
    for (unsigned i = 0; i < to->depth; i++) /* the verifier has ensured that depths agree */
        to->tuple[i] = join(to->tuple[i], from->tuple[i]);
}

static uint8_t order(uint64_t a, uint64_t b)
{
    if (a == b)
        return EQUAL;
    if ((int64_t)a < (int64_t)b)
        return a < b ? LL : LG;
    return a < b ? GL : GG;
}

static uint8_t compare(struct known a, struct known b)
{
    if (a.kind == INT && b.kind == INT)
        return order(a.v, b.v);
    if ((is_string(a) && is_null(b)) || (is_null(a) && is_string(b)))
        return DIFFER;
    return OPEN;
}

/* Returns whether a text is "<0.", digits, ".", digits, ">": a process of the node itself. */
static bool is_pid_text(const char *s)
{
    static const char digits[] = "0123456789";
    if (strncmp(s, "<0.", 3) != 0)
        return false;
    size_t n = strspn(s += 3, digits);
    if (n == 0 || s[n] != '.')
        return false;
    size_t m = strspn(s += n + 1, digits);
    return m > 0 && strcmp(s + m, ">") == 0;
}

/* Compares the process with a text, from which it always differs, and keeps the text. If there is
 * no room for it, the result is in doubt. */
static uint8_t compare_pid(struct decider *d, const char *s)
{
    struct probe_pids *p = d->pids;
    if (!is_pid_text(s))
        return LL | GG;
    for (uint32_t i = 0; i < p->n; i++)
        if (strcmp(p->text[i], s) == 0)
            return LL | GG;
    if (p->n == PROBE_PIDS)
        d->in_doubt = true;
    else
        p->text[p->n++] = s;
    return LL | GG;
}

/* Returns whether a string is in the image's string table, and so outlives the decision. */
static bool is_constant(const struct decider *d, struct known a)
{
    return a.kind == STR && a.v - (uint64_t)(uintptr_t)d->e.img.strtab < d->e.img.strtab_len;
}

static uint8_t compare_strings(struct decider *d, struct known a, struct known b)
{
    if (is_null(a) || is_null(b)) /* as addresses */
        return compare(a, b);
    if (a.kind == PID && is_constant(d, b))
        return compare_pid(d, (const char *)(uintptr_t)b.v);
    if (b.kind == PID && is_constant(d, a))
        return compare_pid(d, (const char *)(uintptr_t)a.v);
    if (a.kind == STR && b.kind == STR) {
        uint64_t r = exec_compare(&d->x, a.v, b.v);
        d->in_doubt |= d->x.faulted;
        return order(r, 1);
    }
    if ((!is_string(a) && a.kind != PERHAPS) || (!is_string(b) && b.kind != PERHAPS))
        d->in_doubt = true;
    return OPEN;
}

/* -- instructions
 * ---------------------------------------------------------------------------------- */

static struct known divide(struct decider *d, enum dif_op op, struct known b, struct known c)
{
    if (c.kind != INT || c.v == 0) {
        d->in_doubt = true;
        return any;
    }
    if (b.kind != INT)
        return any;
    if (op == DIF_OP_UDIV)
        return number(b.v / c.v);
    if (op == DIF_OP_UREM)
        return number(b.v % c.v);
    if (c.v == UINT64_MAX)
        return number(op == DIF_OP_SDIV ? 0 - b.v : 0);
    return number(op == DIF_OP_SDIV ? (uint64_t)((int64_t)b.v / (int64_t)c.v)
                                    : (uint64_t)((int64_t)b.v % (int64_t)c.v));
}

static struct known arithmetic(enum dif_op op, struct known b, struct known c)
{
    if (b.kind != INT || c.kind != INT)
        return any;
    unsigned by = c.v & 63;
    switch (op) {
    case DIF_OP_OR: return number(b.v | c.v);
    case DIF_OP_XOR: return number(b.v ^ c.v);
    case DIF_OP_AND: return number(b.v & c.v);
    case DIF_OP_SLL: return number(b.v << by);
    case DIF_OP_SRL: return number(b.v >> by);
    case DIF_OP_SRA: return number((uint64_t)((int64_t)b.v >> by));
    case DIF_OP_SUB: return number(b.v - c.v);
    case DIF_OP_ADD: return number(b.v + c.v);
    case DIF_OP_MUL: return number(b.v * c.v);
    default: return any;
    }
}

/* Extends the low bytes of a number. */
static struct known extend(struct known b, unsigned bytes, bool sign)
{
    unsigned shift = 64 - 8 * bytes;
    if (b.kind != INT)
        return any;
    return number(sign ? (uint64_t)((int64_t)(b.v << shift) >> shift) : b.v << shift >> shift);
}

static struct known builtin(const struct decider *d, unsigned which)
{
    const struct decide_probe *p = d->probe;
    switch (which) {
    case DIF_BUILTIN_probeprov: return text(p->prov);
    case DIF_BUILTIN_probemod: return text(p->mod);
    case DIF_BUILTIN_probefunc: return text(p->func);
    case DIF_BUILTIN_probename: return text(p->name);
    case DIF_BUILTIN_id: return p->unnumbered ? any : number(p->id);
    case DIF_BUILTIN_epid: return p->unnumbered ? any : number(p->epid);
    case DIF_BUILTIN_pid: return p->process != 0 ? number((uint64_t)p->process) : any;
    case DIF_BUILTIN_execname: return text(NULL);
    case DIF_BUILTIN_node: return text(p->node);
    default: return any;
    }
}

static struct known argument(const struct decider *d, unsigned n)
{
    const struct decide_probe *p = d->probe;
    if (n == 0 && p->pid)
        return (struct known){d->pids != NULL ? PID : TEXT, 0};
    return n == 1 && p->function ? text(p->mfa) : any;
}

/* Reads a variable, whose value is never known. `keyed`: the tuple is its key. */
static struct known variable(struct decider *d, struct flow *f, enum dif_op op, unsigned which)
{
    const struct dif_var *v = &d->e.img.vars[which];
    bool dynamic = op != DIF_OP_LDGS && op != DIF_OP_LDLS;
    if (op == DIF_OP_LDGAA || op == DIF_OP_LDTAA) {
        for (unsigned i = 0; i < v->keys.n; i++)
            if (v->keys.key[i].kind > DIF_UINT &&
                (v->keys.key[i].kind != DIF_STRING || !is_string(f->tuple[i])))
                d->in_doubt = true; /* a key that may not be a string */
        f->depth = 0;
    }
    if (v->type.kind <= DIF_UINT)
        return any;
    d->in_doubt |= dynamic || v->type.kind != DIF_STRING; /* how much scratch it takes is unknown */
    return (struct known){PERHAPS, 0};
}

/* Subroutines that leave nothing changed, and their result when it is unknown. String arguments
 * must be strings; numbers may be anything. */
static const struct {
    bool pure;
    enum kind gives;
} subr[DIF_NSUBRS] = {
    [DIF_SUBR_copyinstr] = {true, TEXT}, [DIF_SUBR_strlen] = {true, ANY},
    [DIF_SUBR_strjoin] = {true, TEXT},   [DIF_SUBR_strdup] = {true, TEXT},
    [DIF_SUBR_strchr] = {true, PERHAPS}, [DIF_SUBR_strrchr] = {true, PERHAPS},
    [DIF_SUBR_strstr] = {true, PERHAPS}, [DIF_SUBR_index] = {true, ANY},
    [DIF_SUBR_rindex] = {true, ANY},     [DIF_SUBR_substr] = {true, TEXT},
    [DIF_SUBR_basename] = {true, TEXT},  [DIF_SUBR_dirname] = {true, TEXT},
    [DIF_SUBR_cleanpath] = {true, TEXT}, [DIF_SUBR_lltostr] = {true, TEXT},
    [DIF_SUBR_strtoll] = {true, ANY},    [DIF_SUBR_toupper] = {true, TEXT},
    [DIF_SUBR_tolower] = {true, TEXT},   [DIF_SUBR_getmajor] = {true, ANY},
    [DIF_SUBR_getminor] = {true, ANY},   [DIF_SUBR_htons] = {true, ANY},
    [DIF_SUBR_htonl] = {true, ANY},      [DIF_SUBR_htonll] = {true, ANY},
    [DIF_SUBR_ntohs] = {true, ANY},      [DIF_SUBR_ntohl] = {true, ANY},
    [DIF_SUBR_ntohll] = {true, ANY},     [DIF_SUBR_json] = {true, PERHAPS},
};

/* Runs a subroutine over the tuple. */
static struct known call(struct decider *d, struct flow *f, unsigned which)
{
    const struct dif_subr_info *info = dif_subr_info(which);
    unsigned n = f->depth;
    uint64_t arg[DIF_TUPLE_MAX];
    bool known = true, base = which == DIF_SUBR_lltostr || which == DIF_SUBR_strtoll;
    f->depth = 0;
    if (info == NULL || !subr[which].pure) {
        d->in_doubt = true;
        return any;
    }
    for (unsigned i = 0; i < n; i++) {
        struct known a = f->tuple[i];
        bool right = info->args[i] == 's' ? is_string(a) : !(base && i == 1) || a.kind == INT;
        known = known && a.kind == (info->args[i] == 's' ? STR : INT);
        d->in_doubt |= !right;
        arg[i] = a.v;
    }
    if (d->in_doubt)
        return any;
    if (!known) {
        bool same = which == DIF_SUBR_strdup || (which == DIF_SUBR_copyinstr && n == 1);
        return same && f->tuple[0].kind == PID ? f->tuple[0] : (struct known){subr[which].gives, 0};
    }
    uint64_t r = subr_call(&d->x, which, arg, n);
    d->in_doubt |= d->x.faulted;
    if (info->result != 's' || r == 0)
        return number(r);
    return (struct known){STR, r};
}

/* Returns the comparison results after which a branch is taken. */
static uint8_t taken_after(enum dif_op op)
{
    switch (op) {
    case DIF_OP_BA: return OPEN;
    case DIF_OP_BE: return EQUAL;
    case DIF_OP_BNE: return DIFFER;
    case DIF_OP_BG: return GL | GG;
    case DIF_OP_BGU: return LG | GG;
    case DIF_OP_BGE: return GL | GG | EQUAL;
    case DIF_OP_BGEU: return LG | GG | EQUAL;
    case DIF_OP_BL: return LL | LG;
    case DIF_OP_BLU: return LL | GL;
    case DIF_OP_BLE: return LL | LG | EQUAL;
    case DIF_OP_BLEU: return LL | GL | EQUAL;
    default: return 0;
    }
}

/* Follows a path out of the predicate. */
static void leave(struct decider *d, const struct dif_clause *c, uint32_t to)
{
    if (to == c->npred)
        d->is_true = true;
    else if (d->e.img.code[c->code + to] >> 24 == DIF_OP_RET)
        d->is_false = true;
    else
        d->in_doubt = true;
}

/* Follows a branch. Returns false when no path continues after it. */
static bool branch(struct decider *d, const struct dif_clause *c, const struct flow *f, uint32_t in)
{
    uint8_t when = taken_after((enum dif_op)(in >> 24));
    uint32_t to = in & 0xffffff;
    bool unconditional = in >> 24 == DIF_OP_BA;
    if (unconditional || (f->compared & when) != 0) {
        if (to >= c->npred)
            leave(d, c, to);
        else
            arrive(d, &d->ahead[to], f);
    }
    return !unconditional && (f->compared & ~when) != 0;
}

/* Runs one instruction that is not a branch. */
static void step(struct decider *d, struct flow *f, uint32_t in)
{
    enum dif_op op = (enum dif_op)(in >> 24);
    unsigned imm = in & 65535;
    struct known *a = &f->r[in >> 16 & 15], b = f->r[in >> 8 & 15], c = f->r[in & 15];
    switch (op) {
    case DIF_OP_NOP: break;
    case DIF_OP_OR:
    case DIF_OP_XOR:
    case DIF_OP_AND:
    case DIF_OP_SLL:
    case DIF_OP_SRL:
    case DIF_OP_SRA:
    case DIF_OP_SUB:
    case DIF_OP_ADD:
    case DIF_OP_MUL: *a = arithmetic(op, b, c); break;
    case DIF_OP_SDIV:
    case DIF_OP_UDIV:
    case DIF_OP_SREM:
    case DIF_OP_UREM: *a = divide(d, op, b, c); break;
    case DIF_OP_NOT: *a = b.kind == INT ? number(~b.v) : any; break;
    case DIF_OP_MOV: *a = b; break;
    case DIF_OP_EXTS: *a = extend(b, in & 255, true); break;
    case DIF_OP_EXTU: *a = extend(b, in & 255, false); break;
    case DIF_OP_SETI: *a = number((uint64_t)(int64_t)(int16_t)imm); break;
    case DIF_OP_SETX: *a = number(d->e.img.ints[imm]); break;
    case DIF_OP_SETS: *a = text(d->e.img.strtab + d->e.img.str[imm]); break;
    case DIF_OP_CMP: f->compared = compare(*a, b); break;
    case DIF_OP_SCMP: f->compared = compare_strings(d, *a, b); break;
    case DIF_OP_TST: f->compared = compare(*a, number(0)); break;
    case DIF_OP_LDARG: *a = argument(d, in & 255); break;
    case DIF_OP_LDB: *a = builtin(d, imm); break;
    case DIF_OP_LDGS:
    case DIF_OP_LDLS:
    case DIF_OP_LDTS:
    case DIF_OP_LDGAA:
    case DIF_OP_LDTAA: *a = variable(d, f, op, imm); break;
    case DIF_OP_PUSHTR:
    case DIF_OP_PUSHTV: f->tuple[f->depth++] = *a; break;
    case DIF_OP_FLUSHTS: f->depth = 0; break;
    case DIF_OP_CALL: *a = call(d, f, imm); break;
    default: d->in_doubt = true; break; /* changes something, or reads at an address */
    }
}

/* Walks over the predicate once. */
static enum decide_verdict walk(struct decider *d, const struct dif_clause *c,
                                const struct decide_probe *p, struct probe_pids *pids)
{
    const uint32_t *code = d->e.img.code + c->code;
    struct flow now = {.live = true, .compared = OPEN}; /* no register is known either */
    d->probe = p;
    d->pids = pids;
    d->is_true = d->is_false = d->in_doubt = false;
    d->x = (struct exec){.e = &d->e, .ts = &d->ts, .ctx = &d->ctx, .left = DIF_BUDGET};
    for (uint32_t pc = 0; pc < c->npred && !d->in_doubt; pc++) {
        struct flow *jumps = &d->ahead[pc];
        uint32_t in = code[pc];
        if (jumps->live) {
            if (now.live)
                arrive(d, jumps, &now);
            now = *jumps;
            jumps->live = false;
            d->waiting--;
        }
        if (!now.live)
            continue;
        if (in >> 24 == DIF_OP_RET) {
            d->is_false = true;
            now.live = false;
        } else if (taken_after((enum dif_op)(in >> 24)) != 0) {
            now.live = branch(d, c, &now, in);
        } else {
            step(d, &now, in);
        }
        if (!now.live && d->waiting == 0)
            break;
        if (pc + 1 == c->npred)
            d->is_true = d->is_true || now.live;
    }
    for (uint32_t pc = 0; d->waiting > 0 && pc < c->npred;
         pc++) { /* an abandoned walk leaves some */
        d->waiting -= d->ahead[pc].live;
        d->ahead[pc].live = false;
    }
    if (d->in_doubt || d->is_true == d->is_false)
        return DECIDE_MAYBE;
    return d->is_true ? DECIDE_ALWAYS : DECIDE_NEVER;
}

/* -- questions
 * ------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Returns whether the last answer still holds: everything that the predicate reads is the same. */
static bool as_before(const struct decider *d, uint32_t clause, const struct decide_probe *p)
{
    unsigned looks = d->looks[clause];
    const struct decide_probe *l = &d->last;
    return d->asked && d->clause == clause &&
           ((looks & DECIDE_LOOKS_NUMBER) == 0 || (l->unnumbered && p->unnumbered)) &&
           ((looks & DECIDE_LOOKS_PROV) == 0 || same_text(l->prov, p->prov)) &&
           ((looks & DECIDE_LOOKS_MOD) == 0 || same_text(l->mod, p->mod)) &&
           ((looks & DECIDE_LOOKS_FUNC) == 0 || same_text(l->func, p->func)) &&
           ((looks & DECIDE_LOOKS_NAME) == 0 || same_text(l->name, p->name)) &&
           ((looks & DECIDE_LOOKS_PROCESS) == 0 || l->process == p->process) &&
           ((looks & DECIDE_LOOKS_NODE) == 0 || same_text(l->node, p->node)) &&
           ((looks & DECIDE_LOOKS_ARG0) == 0 || l->pid == p->pid) &&
           ((looks & DECIDE_LOOKS_ARG1) == 0 ||
            (l->function == p->function && same_text(l->mfa, p->mfa)));
}

/* Makes the texts of a probe readable for subroutines. */
static void show(struct decider *d, const struct decide_probe *p)
{
    const char *s[] = {p->prov, p->mod, p->func, p->name, p->mfa, p->node};
    d->ctx.nranges = d->ctx.ntexts = 0;
    for (unsigned i = 0; i < sizeof s / sizeof *s; i++)
        if (s[i] != NULL)
            engine_ctx_range(&d->ctx, s[i], strlen(s[i]) + 1);
}

enum decide_verdict decide(struct decider *d, uint32_t clause, const struct decide_probe *p,
                           struct probe_pids *pids)
{
    const struct dif_clause *c = &d->e.img.clauses[clause];
    if (!as_before(d, clause, p) || (pids != NULL && !d->searched)) {
        d->clause = clause;
        d->last = *p;
        const char *mfa = p->mfa != NULL ? p->mfa : "";
        d->mfa.len = 0;
        d->mfa.oom = false;
        buf_add(&d->mfa, mfa, strlen(mfa));
        d->last.mfa = p->mfa != NULL ? buf_str(&d->mfa) : NULL;
        d->asked = !d->mfa.oom;
        d->found.n = 0;
        d->searched = pids != NULL;
        d->verdict = c->npred == 0 ? DECIDE_ALWAYS : DECIDE_MAYBE;
        if (c->npred > 0 && !d->opaque[clause]) {
            show(d, p);
            d->verdict = walk(d, c, p, NULL);
            bool look = d->searched && d->verdict == DECIDE_MAYBE && p->pid &&
                        (d->looks[clause] & DECIDE_LOOKS_ARG0) != 0 &&
                        d->e.img.strsize >= PID_STRSIZE;
            if (look && walk(d, c, p, &d->found) != DECIDE_NEVER)
                d->found.n = 0;
        }
    }
    if (pids != NULL)
        *pids = d->found;
    return d->verdict;
}

/* -- clauses that only count ------------------------------------------------------------------- */

/* Returns whether an update adds the same at each event, to a key that is known. */
static bool counts_key(const struct decider *d, const struct flow *f, unsigned agg)
{
    const struct dif_agg *a = &d->e.img.aggs[agg];
    const unsigned n = a->keys.n;
    if (f->depth < n || (a->func != AGG_COUNT && a->func != AGG_SUM) ||
        (a->func == AGG_SUM && (f->depth <= n || f->tuple[n].kind != INT)))
        return false;
    for (unsigned i = 0; i < n; i++) {
        const enum dif_kind kind = a->keys.key[i].kind;
        if (kind == DIF_STRING ? f->tuple[i].kind != STR
                               : kind > DIF_UINT || f->tuple[i].kind != INT)
            return false;
    }
    return true;
}

bool decide_counts(struct decider *d, uint32_t clause, const struct decide_probe *p)
{
    const struct dif_clause *c = &d->e.img.clauses[clause];
    const uint32_t *code = d->e.img.code + c->code;
    struct flow now = {.live = true, .compared = OPEN};
    uint32_t strings = 0;
    bool adds = false;
    if (c->ncode > COUNTS_CODE || decide(d, clause, p, NULL) != DECIDE_ALWAYS)
        return false;
    for (uint32_t pc = 0; pc < c->ncode; pc++)
        strings += makes_string(code[pc]);
    if (strings > ENGINE_SCRATCH_STRINGS)
        return false;
    show(d, p);
    d->probe = p;
    d->pids = NULL;
    d->in_doubt = false;
    d->x = (struct exec){.e = &d->e, .ts = &d->ts, .ctx = &d->ctx, .left = DECIDE_COUNTS_UNITS};
    for (uint32_t pc = c->npred; pc < c->ncode && !d->in_doubt; pc++) {
        const uint32_t in = code[pc], op = in >> 24;
        struct known *a = &now.r[in >> 16 & 15];
        if (op == DIF_OP_RET)
            return adds;
        if (op == DIF_OP_AGG) {
            d->in_doubt = !counts_key(d, &now, in & 65535);
            now.depth = 0;
            adds = true;
        } else if (op == DIF_OP_ADDGS) {
            d->in_doubt = a->kind != INT;
            *a = any; /* what the variable now is: unknown, so of no use */
            adds = true;
        } else if (taken_after((enum dif_op)op) != 0) {
            return false;
        } else {
            step(d, &now, in);
        }
    }
    return false;
}

unsigned decide_looks(const struct decider *d, uint32_t clause)
{
    return d->looks[clause];
}
