/* verify.c - decides whether an engine may run an image.
 *
 * Checked once, here: every index, opcode and branch target; that registers exist and are set
 * before they are read; the depth and kinds of the tuple at each instruction; the order of record
 * parts; the types and sizes of variables, keys and parts; the parameters of aggregations. Checked
 * at run time, by the engine: every address, every divisor.
 *
 * Branches go forward, so one pass in instruction order sees each instruction after all those that
 * can lead to it. The state before an instruction (`struct flow`) must be the same on every path
 * that leads there. Only at RET may paths meet of which some have recorded all parts and some have
 * not begun. */
#include "dif/dif.h"

#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "dif/opformat.h"

enum {
    TABLE_MOST = 65536, /* elements that an instruction's imm can address */
    PART_NOT_BEGUN = -1,
    NO_SUB = -1
};

/* The state before an instruction. */
struct flow {
    bool known;       /* some path leads here */
    uint8_t depth;    /* depth of the tuple */
    uint16_t strings; /* bit set: the tuple values that are strings (PUSHTR) */
    uint16_t made;    /* bit set: the registers that are set on every path */
    int32_t part;     /* the clause's parts written so far, or PART_NOT_BEGUN */
    int32_t sub;      /* the sub-clause whose record is open, or NO_SUB */
};

struct verifier {
    const struct dif_image *img;
    const struct dif_clause *clause; /* being checked, NULL outside */
    uint32_t pc;                     /* instruction being checked */
    struct flow *flow;               /* before each instruction of the clause */
    const char *why;                 /* the first error, NULL: none */
    uint32_t code, action, part,
        sub; /* elements of each table that the clauses so far have taken */
};

static bool fail(struct verifier *v, const char *why)
{
    if (v->why == NULL)
        v->why = why;
    return false;
}

static bool type_ok(const struct dif_image *img, const struct dif_type *t)
{
    if (t->kind == DIF_STRING)
        return t->size >= 1 && t->size <= img->strsize;
    switch (t->kind) {
    case DIF_INT:
    case DIF_UINT: return t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8;
    case DIF_FLOAT: return t->size == 4 || t->size == 8 || t->size == 16;
    case DIF_BYTES: return t->size <= WORD_BYTES_MAX;
    case DIF_STACK: return t->size > 0 && t->size <= WORD_BYTES_MAX && t->size % 8 == 0;
    case DIF_USTACK:
    case DIF_JSTACK: return t->size > 8 && t->size <= WORD_BYTES_MAX && t->size % 8 == 0;
    case DIF_SYM:
    case DIF_FUNC:
    case DIF_MOD: return t->size == 8;
    case DIF_USYM:
    case DIF_UFUNC:
    case DIF_UMOD:
    case DIF_UADDR: return t->size == 16;
    default: return false;
    }
}

static bool keys_ok(const struct dif_image *img, const struct dif_keys *k)
{
    if (k->n > WORD_KEYS_MAX)
        return false;
    for (unsigned i = 0; i < k->n; i++)
        if (!type_ok(img, &k->key[i]) || k->key[i].kind == DIF_FLOAT)
            return false;
    return true;
}

static bool str_ok(const struct dif_image *img, uint32_t s, bool may_lack)
{
    return s < img->nstr || (may_lack && s == DIF_NO_STRING);
}

/* -- tables ---------------------------------------------------------------------- */

static bool check_tables(struct verifier *v)
{
    const struct dif_image *img = v->img;
    if (img->strsize < DIF_STRSIZE_LEAST || img->strsize > DIF_STRSIZE_MOST)
        return fail(v, "strsize is out of range");
    if (img->scratchsize > DIF_SCRATCH_MOST)
        return fail(v, "scratchsize is out of range");
    if (img->nstr > TABLE_MOST || img->nints > TABLE_MOST || img->nvars > TABLE_MOST ||
        img->naggs > TABLE_MOST)
        return fail(v, "a table has more elements than an instruction can name");
    if (img->builtins >> 1 >> (DIF_NBUILTINS - 1) != 0)
        return fail(v, "an unknown built-in variable");
    for (const struct dif_var *x = img->vars; x < img->vars + img->nvars; x++) {
        if (!str_ok(img, x->name, false) || !type_ok(img, &x->type) || x->type.kind > DIF_BYTES ||
            !keys_ok(img, &x->keys))
            return fail(v, "a variable's type, keys or name");
        if (x->scope < DIF_GLOBAL || x->scope > DIF_CLAUSE ||
            (x->scope == DIF_CLAUSE && x->assoc) || x->assoc != (x->keys.n > 0))
            return fail(v, "a variable's scope");
    }
    for (const struct dif_agg *a = img->aggs; a < img->aggs + img->naggs; a++)
        if (!str_ok(img, a->name, false) || !keys_ok(img, &a->keys) || dif_agg_words(a) == 0 ||
            a->keys.n + dif_agg_nargs(a->func) > DIF_TUPLE_MAX)
            return fail(v, "an aggregation's function, parameters or keys");
    for (uint32_t i = 0; i < img->nparts; i++)
        if (!type_ok(img, &img->parts[i]))
            return fail(v, "the type of a record part");
    for (uint32_t i = 0; i < img->nrefs; i++)
        if (img->refs[i] >= img->naggs)
            return fail(v, "a reference to an aggregation");
    return true;
}

/* The actions of a clause are consecutive in its code and divide its parts without gaps. */
static bool check_actions(struct verifier *v)
{
    const struct dif_image *img = v->img;
    const struct dif_clause *c = v->clause;
    uint32_t pc = c->npred, part = c->part;
    for (const struct dif_action *a = img->actions + c->action;
         a < img->actions + c->action + c->nactions; a++) {
        const struct dif_action_info *shape = dif_action_info(a->kind);
        if (shape == NULL)
            return fail(v, "an unknown action");
        if (a->nparts < shape->parts_least || a->nparts > shape->parts_most ||
            a->nrefs < shape->refs_least || a->nrefs > shape->refs_most ||
            !size_within(a->ref, a->nrefs, img->nrefs) || !str_ok(img, a->format, true))
            return fail(v, "an action's parts, aggregations or format");
        if (a->pc < pc || !size_within(a->pc, a->npc, c->ncode))
            return fail(v, "an action's place in the code");
        if (a->part != part || !size_within(part - c->part, a->nparts, c->nparts))
            return fail(v, "an action's place in the record");
        pc = a->pc + a->npc;
        part += a->nparts;
    }
    if (part != c->part + c->nparts)
        return fail(v, "parts that belong to no action");
    return true;
}

/* A clause's share of a table comes after the shares of the clauses before it: no element is
 * checked twice, and the image's size bounds the work here. */
static bool takes(uint32_t *taken, uint32_t start, uint32_t n)
{
    if (n == 0)
        return true;
    bool behind = start >= *taken;
    *taken = start + n;
    return behind;
}

/* Sub-clauses are consecutive and together have all the parts. */
static bool check_subs(struct verifier *v)
{
    const struct dif_image *img = v->img;
    const struct dif_clause *c = v->clause;
    uint32_t action = c->action, part = c->part;
    if (c->nsubs > UINT16_MAX || !size_within(c->sub, c->nsubs, img->nsubs) ||
        !takes(&v->sub, c->sub, c->nsubs))
        return fail(v, "a clause's sub-clauses");
    if (c->nsubs == 0)
        return true;
    for (const struct dif_sub *s = img->subs + c->sub; s < img->subs + c->sub + c->nsubs; s++) {
        if (s->action < action || s->nactions == 0 ||
            !size_within(s->action - c->action, s->nactions, c->nactions))
            return fail(v, "a sub-clause's actions");
        if (s->part != part || !size_within(s->part - c->part, s->nparts, c->nparts) ||
            img->actions[s->action].part != part)
            return fail(v, "a sub-clause's parts");
        const struct dif_action *last = &img->actions[s->action + s->nactions - 1];
        if (last->part + last->nparts != part + s->nparts)
            return fail(v, "a sub-clause's parts");
        action = s->action + s->nactions;
        part += s->nparts;
    }
    return part == c->part + c->nparts || fail(v, "parts that belong to no sub-clause");
}

static bool check_clause_head(struct verifier *v)
{
    const struct dif_image *img = v->img;
    const struct dif_clause *c = v->clause;
    if (!str_ok(img, c->prov, false) || !str_ok(img, c->mod, false) ||
        !str_ok(img, c->func, false) || !str_ok(img, c->name, false) ||
        !str_ok(img, c->file, false))
        return fail(v, "a clause's names");
    if (!size_within(c->code, c->ncode, img->ncode) || c->ncode == 0 || c->ncode > DIF_CLAUSE_MAX ||
        c->npred >= c->ncode)
        return fail(v, "a clause's code");
    if (!size_within(c->action, c->nactions, img->nactions) ||
        !size_within(c->part, c->nparts, img->nparts))
        return fail(v, "a clause's actions or parts");
    if (!takes(&v->code, c->code, c->ncode) || !takes(&v->action, c->action, c->nactions) ||
        !takes(&v->part, c->part, c->nparts))
        return fail(v, "elements of another clause");
    if (img->code[c->code + c->ncode - 1] != dif_abc(DIF_OP_RET, 0, 0, 0))
        return fail(v, "a clause that does not end in ret");
    return check_actions(v) && check_subs(v);
}

/* -- instructions ---------------------------------------------------------------- */

static const uint8_t op_format[256] = {
#define DIF_OP(num, name, fmt, text) [num] = FORMAT_##fmt,
#include "dif/opcodes.list"
#undef DIF_OP
};

/* What each format means for the fields: registers read, register set, fields that must be 0. */
enum { READS_A = 1, READS_B = 2, READS_C = 4, MAKES_A = 8, ZERO_A = 16, ZERO_B = 32, ZERO_C = 64 };
static const uint8_t format_use[] = {
    [FORMAT_NONE] = ZERO_A | ZERO_B | ZERO_C,
    [FORMAT_A] = READS_A | ZERO_B | ZERO_C,
    [FORMAT_AB] = MAKES_A | READS_B | ZERO_C,
    [FORMAT_RAB] = READS_A | READS_B | ZERO_C,
    [FORMAT_RABC] = READS_A | READS_B | READS_C,
    [FORMAT_ABC] = MAKES_A | READS_B | READS_C,
    [FORMAT_AI] = MAKES_A,
    [FORMAT_RAI] = READS_A,
    [FORMAT_UAI] = READS_A | MAKES_A,
    [FORMAT_I] = ZERO_A,
    [FORMAT_ABN] = MAKES_A | READS_B,
    [FORMAT_AN] = MAKES_A | ZERO_B,
    [FORMAT_T] = 0,
};

/* Checks that registers exist and are set before they are read. */
static bool check_fields(struct verifier *v, uint32_t in, struct flow *f)
{
    const unsigned field[3] = {in >> 16 & 255, in >> 8 & 255, in & 255};
    unsigned use;
    if (op_format[in >> 24] == FORMAT_BAD)
        return fail(v, "an unknown instruction");
    use = format_use[op_format[in >> 24]];
    for (unsigned i = 0; i < 3; i++) {
        bool reads = (use & (READS_A << i)) != 0, makes = i == 0 && (use & MAKES_A) != 0;
        if ((use & (ZERO_A << i)) != 0 && field[i] != 0)
            return fail(v, "a field that should be 0");
        if ((reads || makes) && field[i] >= DIF_NREGS)
            return fail(v, "a register that does not exist");
        if (reads && (f->made >> field[i] & 1) == 0)
            return fail(v, "a register that is read before it is set");
    }
    if ((use & MAKES_A) != 0)
        f->made |= (uint16_t)(1u << field[0]);
    return true;
}

/* Returns whether a clause may end here: with whole records, or none. */
static bool check_end(struct verifier *v, const struct flow *f)
{
    if (f->part == PART_NOT_BEGUN ||
        (v->clause->nsubs == 0 && (uint32_t)f->part == v->clause->nparts))
        return true;
    return fail(v, "a record that is left unfinished");
}

/* Merges the state f into that of instruction `to`. */
static bool flow_to(struct verifier *v, uint32_t to, const struct flow *f)
{
    const struct dif_clause *c = v->clause;
    struct flow *at = &v->flow[to];
    if (to == c->ncode - 1) { /* the final RET */
        if (!check_end(v, f))
            return false;
        *at = *f;
        at->known = true;
        return true;
    }
    if (!at->known) {
        *at = *f;
        at->known = true;
        return true;
    }
    if (at->depth != f->depth || at->strings != f->strings || at->part != f->part ||
        at->sub != f->sub)
        return fail(v, "paths that meet with different tuples or records");
    at->made &= f->made;
    return true;
}

/* Checks that the tuple holds exactly these keys and then `more` integers. */
static bool check_tuple(struct verifier *v, const struct flow *f, const struct dif_keys *k,
                        unsigned more)
{
    uint16_t strings = 0;
    for (unsigned i = 0; i < k->n; i++)
        if (k->key[i].kind == DIF_STRING)
            strings |= (uint16_t)(1u << i);
    return (f->depth == k->n + more && f->strings == strings) ||
           fail(v, "a tuple that does not fit its use");
}

static bool check_var(struct verifier *v, const struct flow *f, unsigned imm, enum dif_scope scope,
                      bool assoc, bool integer)
{
    if (imm >= v->img->nvars)
        return fail(v, "a variable that does not exist");
    const struct dif_var *x = &v->img->vars[imm];
    if (x->scope != scope || x->assoc != assoc)
        return fail(v, "a variable of the wrong scope");
    if (integer && x->type.kind != DIF_INT && x->type.kind != DIF_UINT)
        return fail(v, "arithmetic on a variable that is not an integer");
    return !assoc || check_tuple(v, f, &x->keys, 0);
}

static bool check_call(struct verifier *v, const struct flow *f, unsigned imm)
{
    const struct dif_subr_info *s = dif_subr_info(imm);
    if (s == NULL)
        return fail(v, "an unknown subroutine");
    if (f->depth < s->min || f->depth > s->max)
        return fail(v, "a wrong number of arguments");
    for (unsigned i = 0; i < f->depth; i++)
        if (s->args[i] == 'i' && (f->strings >> i & 1) != 0)
            return fail(v, "a string as a number");
    return true;
}

/* Returns the number of the part after the last one of the open record. */
static uint32_t sub_end(const struct verifier *v, const struct flow *f)
{
    if (f->sub == NO_SUB)
        return v->clause->nparts;
    const struct dif_sub *s = &v->img->subs[v->clause->sub + (uint32_t)f->sub];
    return s->part + s->nparts - v->clause->part;
}

/* Checks one instruction against the state before it and makes f the state after it. */
static bool check_insn(struct verifier *v, uint32_t in, struct flow *f)
{
    const struct dif_image *img = v->img;
    unsigned imm = in & 65535, c = in & 255;
    bool uses_tuple = false;
    switch (in >> 24) {
    case DIF_OP_EXTS:
    case DIF_OP_EXTU:
        if (c != 1 && c != 2 && c != 4)
            return fail(v, "an extension of an invalid size");
        break;
    case DIF_OP_SETX:
    case DIF_OP_BOUND:
        if (imm >= img->nints)
            return fail(v, "an integer that does not exist");
        break;
    case DIF_OP_SETS:
        if (imm >= img->nstr)
            return fail(v, "a string that does not exist");
        break;
    case DIF_OP_LDARG:
        if (c > 9)
            return fail(v, "an argument that does not exist");
        break;
    case DIF_OP_LDB:
    case DIF_OP_LDBA:
        if (dif_builtin_info(imm) == NULL || (img->builtins >> imm & 1) == 0 ||
            dif_builtin_info(imm)->array != (in >> 24 == DIF_OP_LDBA))
            return fail(v, "a built-in variable that does not exist or is not declared");
        break;
    case DIF_OP_LDGS:
    case DIF_OP_STGS:
        if (!check_var(v, f, imm, DIF_GLOBAL, false, false))
            return false;
        break;
    case DIF_OP_ADDGS:
        if (!check_var(v, f, imm, DIF_GLOBAL, false, true))
            return false;
        break;
    case DIF_OP_LDTS:
    case DIF_OP_STTS:
        if (!check_var(v, f, imm, DIF_THREAD, false, false))
            return false;
        break;
    case DIF_OP_ADDTS:
        if (!check_var(v, f, imm, DIF_THREAD, false, true))
            return false;
        break;
    case DIF_OP_LDLS:
    case DIF_OP_STLS:
        if (!check_var(v, f, imm, DIF_CLAUSE, false, false))
            return false;
        break;
    case DIF_OP_LDGAA:
    case DIF_OP_STGAA:
    case DIF_OP_ADDGAA:
        if (!check_var(v, f, imm, DIF_GLOBAL, true, in >> 24 == DIF_OP_ADDGAA))
            return false;
        uses_tuple = true;
        break;
    case DIF_OP_LDTAA:
    case DIF_OP_STTAA:
    case DIF_OP_ADDTAA:
        if (!check_var(v, f, imm, DIF_THREAD, true, in >> 24 == DIF_OP_ADDTAA))
            return false;
        uses_tuple = true;
        break;
    case DIF_OP_PUSHTR:
    case DIF_OP_PUSHTV:
        if (f->depth == DIF_TUPLE_MAX)
            return fail(v, "a tuple that is too long");
        if (in >> 24 == DIF_OP_PUSHTR)
            f->strings |= (uint16_t)(1u << f->depth);
        f->depth++;
        break;
    case DIF_OP_FLUSHTS: uses_tuple = true; break;
    case DIF_OP_CALL:
        if (!check_call(v, f, imm))
            return false;
        uses_tuple = true;
        break;
    case DIF_OP_AGG:
        if (imm >= img->naggs)
            return fail(v, "an aggregation that does not exist");
        if (!check_tuple(v, f, &img->aggs[imm].keys, dif_agg_nargs(img->aggs[imm].func)))
            return false;
        uses_tuple = true;
        break;
    case DIF_OP_RECB:
        if (!v->clause->records || v->clause->nsubs > 0 || f->part != PART_NOT_BEGUN)
            return fail(v, "a record that is not announced, or begun twice");
        f->part = 0;
        break;
    case DIF_OP_RECN:
        if (!v->clause->records || imm >= v->clause->nsubs || f->part != PART_NOT_BEGUN)
            return fail(v, "a record that is not announced, or begun in another");
        f->part = (int32_t)(img->subs[v->clause->sub + imm].part - v->clause->part);
        f->sub = (int32_t)imm;
        break;
    case DIF_OP_SPEC:
    case DIF_OP_COMMIT:
        if (f->part != PART_NOT_BEGUN)
            return fail(v, "a speculation that is chosen or committed in the middle of a record");
        break;
    case DIF_OP_RECE:
        if (f->sub == NO_SUB || (uint32_t)f->part != sub_end(v, f))
            return fail(v, "a record that is ended too early");
        f->part = PART_NOT_BEGUN;
        f->sub = NO_SUB;
        break;
    case DIF_OP_REC:
        if (f->part == PART_NOT_BEGUN || (uint32_t)f->part != imm || imm >= sub_end(v, f))
            return fail(v, "a record part out of order");
        f->part++;
        break;
    default: break;
    }
    if (uses_tuple) {
        f->depth = 0;
        f->strings = 0;
    }
    return true;
}

static bool check_code(struct verifier *v)
{
    const struct dif_clause *c = v->clause;
    const uint32_t *code = v->img->code + c->code;
    v->flow[0] = (struct flow){.known = true, .part = PART_NOT_BEGUN, .sub = NO_SUB};
    for (v->pc = 0; v->pc < c->ncode; v->pc++) {
        uint32_t in = code[v->pc];
        unsigned op = in >> 24;
        struct flow f = v->flow[v->pc];
        if (!f.known)
            return fail(v, "an unreachable instruction");
        if (!check_fields(v, in, &f))
            return false;
        if (op == DIF_OP_RET) {
            if (!check_end(v, &f))
                return false;
            continue;
        }
        if (!check_insn(v, in, &f))
            return false;
        if (op_format[op] == FORMAT_T) {
            uint32_t target = in & 0xffffff;
            if (target <= v->pc || target >= c->ncode)
                return fail(v, "a branch that does not go forward");
            if (!flow_to(v, target, &f))
                return false;
        }
        if (op != DIF_OP_BA && !flow_to(v, v->pc + 1, &f))
            return false;
    }
    return true;
}

int dif_verify(const struct dif_image *img, struct diags *d)
{
    struct verifier v = {.img = img};
    uint32_t longest = 0;
    if (!check_tables(&v))
        return diag_error(d, ET_EVERIFY, NULL, "DIF_VERIFY", NULL,
                          "the program image is not sound: %s", v.why);
    for (uint32_t i = 0; i < img->nclauses; i++) {
        v.clause = &img->clauses[i];
        if (!check_clause_head(&v))
            return diag_error(d, ET_EVERIFY, NULL, "DIF_VERIFY", NULL,
                              "the program image is not sound: clause %u: %s", i, v.why);
        if (v.clause->ncode > longest)
            longest = v.clause->ncode;
    }
    v.flow = et_rearray(NULL, size_add(longest, 1), sizeof *v.flow);
    if (v.flow == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for the verifier");
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < img->nclauses; i++) {
        v.clause = &img->clauses[i];
        memset(v.flow, 0, size_mul(v.clause->ncode, sizeof *v.flow)); /* at most `longest` */
        if (!check_code(&v))
            err = diag_error(d, ET_EVERIFY, NULL, "DIF_VERIFY", NULL,
                             "the program image is not sound: clause %u, instruction %u: %s", i,
                             v.pc, v.why);
    }
    et_free(v.flow);
    return err;
}
