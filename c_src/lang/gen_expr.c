/* gen_expr.c - code for expressions.
 *
 * gen_read puts a value into a register that may only be read, gen_value into one that the caller
 * owns. The two sides of an operator are evaluated left to right, and one side's register takes the
 * result unless it is kept for later (gen_reuse.c). Conditions become branches (gen_jump), and 0 or
 * 1 only where their value is needed. Registers hold 64 bits: a value is narrowed to its type when
 * it is stored, recorded or used as a key (the engine does that), by a cast, and where the value of
 * an assignment is used.
 *
 * Keys, aggregations and calls share the tuple. Values are pushed as they are computed, except
 * those that precede a value whose computation needs the tuple: they wait in registers. */
#include "lang/gen.h"
#include "lang/prog.h"

#include <string.h>

uint32_t gen_pc(const struct gen *g)
{
    return (uint32_t)(g->code.len / 4) - g->clause_code;
}

void gen_emit(struct gen *g, uint32_t insn)
{
    if (gen_pc(g) >= DIF_CLAUSE_MAX)
        gen_fail(g, "D_UNKNOWN", "the clause is too large", "split it into several clauses");
    buf_add(&g->code, &insn, sizeof insn);
}

static uint32_t *insn_at(struct gen *g, uint32_t pc)
{
    if (g->code.oom)
        gen_nomem(g);
    return (uint32_t *)(void *)g->code.data + g->clause_code + pc;
}

void gen_branch(struct gen *g, enum dif_op op, struct label *l)
{
    uint32_t at = gen_pc(g);
    gen_emit(g, dif_t(op, l->last));
    l->last = at + 1;
}

void gen_place(struct gen *g, struct label *l)
{
    uint32_t target = gen_pc(g);
    while (l->last > 0) {
        uint32_t *in = insn_at(g, l->last - 1);
        l->last = *in & 0xffffffu;
        *in = dif_t((enum dif_op)(*in >> 24), target);
    }
}

unsigned gen_reg(struct gen *g)
{
    for (unsigned r = 0; r < g->nregs; r++) {
        if (!(g->regs >> r & 1)) {
            g->regs |= 1u << r;
            return r;
        }
    }
    if (reuse_evict(g))
        return gen_reg(g);
    gen_fail(g, "D_UNKNOWN", "Insufficient registers to generate code",
             "use clause-local variables (this->x) for parts of the expression");
}

void gen_unreg(struct gen *g, unsigned reg)
{
    g->regs &= ~(1u << reg);
}

static void load_int(struct gen *g, unsigned reg, uint64_t v)
{
    if ((int64_t)v >= INT16_MIN && (int64_t)v <= INT16_MAX)
        gen_emit(g, dif_ai(DIF_OP_SETI, reg, (unsigned)v & 0xffffu));
    else
        gen_emit(g, dif_ai(DIF_OP_SETX, reg, gen_int(g, v)));
}

unsigned gen_int_value(struct gen *g, uint64_t v)
{
    unsigned r = gen_reg(g);
    load_int(g, r, v);
    return r;
}

/* Narrows the register to the type. */
static void narrow(struct gen *g, unsigned reg, const struct type *t)
{
    if (type_is_int(t) && t->size < 8)
        gen_emit(g, dif_abc(t->is_signed ? DIF_OP_EXTS : DIF_OP_EXTU, reg, reg, t->size));
}

/* Returns whether the value of n, as it is in its register, certainly fits the type. */
static bool fits(const struct node *n, const struct type *to)
{
    const struct type *t = n->type;
    if (!type_is_int(to) || to->size == 8)
        return true;
    switch (n->kind) {
    case N_INT: return type_truncate(to, n->num) == n->num;
    case N_VAR:
    case N_BUILTIN:
    case N_ARG:
    case N_CAST:
        if (t->is_signed == to->is_signed)
            return t->size <= to->size;
        return !t->is_signed && t->size < to->size;
    case N_UNARY: return n->op == OP_NOT;
    case N_BINARY: return n->op >= OP_EQ && n->op <= OP_LXOR; /* 0 or 1 */
    default: return false;
    }
}

/* -- the tuple --------------------------------------------------------------------------------- */

static bool uses_tuple(const struct node *n)
{
    if (n->kind == N_CALL || (n->kind == N_VAR && n->var->assoc))
        return true;
    if ((n->kind == N_UNARY && n->op == OP_STRINGOF) ||
        (type_is_string(n->type) && (n->kind == N_CAST || gen_is_place(n))))
        return true; /* a call in disguise, as is a string in memory */
    for (size_t i = 0; i < 3; i++) {
        if (n->kid[i] && uses_tuple(n->kid[i]))
            return true;
    }
    return false;
}

static bool pushed_as_string(const struct node *n, const struct type *const *kinds, unsigned nkinds,
                             unsigned i)
{
    return type_is_string(i < nkinds ? kinds[i] : n->type);
}

static void push(struct gen *g, unsigned reg, bool string)
{
    gen_emit(g, dif_abc(string ? DIF_OP_PUSHTR : DIF_OP_PUSHTV, reg, 0, 0));
}

void gen_tuple(struct gen *g, const struct node *list, const struct type *const *kinds,
               unsigned nkinds)
{
    struct held h = {0};
    unsigned waiting = 0, i = 0; /* number of leading values that wait in registers */
    for (const struct node *a = list; a; a = a->next, i++) {
        if (i > 0 && uses_tuple(a))
            waiting = i;
    }
    if (i > DIF_TUPLE_MAX)
        gen_fail(g, "D_UNKNOWN", "Insufficient tuple registers to generate code", NULL);
    i = 0;
    for (const struct node *a = list; a; a = a->next, i++) {
        h.value[i] = gen_read(g, a);
        h.string[i] = pushed_as_string(a, kinds, nkinds, i);
        if (i < waiting)
            continue;
        for (; h.n <= i; h.n++) {
            push(g, h.value[h.n].reg, h.string[h.n]);
            gen_done(g, h.value[h.n]);
        }
    }
}

void gen_hold(struct gen *g, struct held *h, const struct node *list,
              const struct type *const *kinds, unsigned nkinds)
{
    h->n = 0;
    for (const struct node *a = list; a; a = a->next, h->n++) {
        h->value[h->n] = gen_read(g, a);
        h->string[h->n] = pushed_as_string(a, kinds, nkinds, h->n);
    }
}

void gen_push_held(struct gen *g, const struct held *h, bool last)
{
    for (unsigned i = 0; i < h->n; i++) {
        push(g, h->value[i].reg, h->string[i]);
        if (last)
            gen_done(g, h->value[i]);
    }
}

/* -- variables --------------------------------------------------------------------------------- */

/* The instructions that access a variable. */
struct access {
    enum dif_op load, store, add; /* add: DIF_OP_NOP if there is none */
};

static const struct access *access_of(const struct lang_var *v)
{
    static const struct access table[][2] = {
        [SCOPE_GLOBAL] = {{DIF_OP_LDGS, DIF_OP_STGS, DIF_OP_ADDGS},
                          {DIF_OP_LDGAA, DIF_OP_STGAA, DIF_OP_ADDGAA}},
        [SCOPE_THREAD] = {{DIF_OP_LDTS, DIF_OP_STTS, DIF_OP_ADDTS},
                          {DIF_OP_LDTAA, DIF_OP_STTAA, DIF_OP_ADDTAA}},
        [SCOPE_CLAUSE] = {{DIF_OP_LDLS, DIF_OP_STLS, DIF_OP_NOP},
                          {DIF_OP_LDLS, DIF_OP_STLS, DIF_OP_NOP}},
    };
    return &table[v->scope][v->assoc];
}

enum dif_op gen_load_op(const struct lang_var *v)
{
    return access_of(v)->load;
}

enum dif_op gen_store_op(const struct lang_var *v)
{
    return access_of(v)->store;
}

static unsigned load_var(struct gen *g, const struct node *n)
{
    gen_tuple(g, n->args, n->var->key, n->var->nkeys);
    unsigned r = gen_reg(g);
    gen_emit(g, dif_ai(access_of(n->var)->load, r, n->var->id));
    return r;
}

/* -- operators --------------------------------------------------------------------------------- */

/* Emits d = a op b. */
static void arith(struct gen *g, enum op op, unsigned d, unsigned a, unsigned b, bool is_signed)
{
    static const enum dif_op ops[][2] = {
        [OP_ADD] = {DIF_OP_ADD, DIF_OP_ADD},   [OP_SUB] = {DIF_OP_SUB, DIF_OP_SUB},
        [OP_MUL] = {DIF_OP_MUL, DIF_OP_MUL},   [OP_DIV] = {DIF_OP_UDIV, DIF_OP_SDIV},
        [OP_MOD] = {DIF_OP_UREM, DIF_OP_SREM}, [OP_SHL] = {DIF_OP_SLL, DIF_OP_SLL},
        [OP_SHR] = {DIF_OP_SRL, DIF_OP_SRA},   [OP_AND] = {DIF_OP_AND, DIF_OP_AND},
        [OP_OR] = {DIF_OP_OR, DIF_OP_OR},      [OP_XOR] = {DIF_OP_XOR, DIF_OP_XOR},
    };
    gen_emit(g, dif_abc(ops[op][is_signed], d, a, b));
}

/* Returns whether an operator on these types is signed: shifts follow their left side, all others
 * the rank rule. */
static bool works_signed(enum op op, const struct type *a, const struct type *b)
{
    return op == OP_SHL || op == OP_SHR ? a->is_signed : type_arith(a, b)->is_signed;
}

static bool is_compare(const struct node *n)
{
    return n->kind == N_BINARY && n->op >= OP_EQ && n->op <= OP_GE;
}

static void compare_jump(struct gen *g, const struct node *n, bool sense, struct label *l)
{
    static const enum dif_op yes[][2] = {
        [OP_EQ] = {DIF_OP_BE, DIF_OP_BE},  [OP_NE] = {DIF_OP_BNE, DIF_OP_BNE},
        [OP_LT] = {DIF_OP_BLU, DIF_OP_BL}, [OP_LE] = {DIF_OP_BLEU, DIF_OP_BLE},
        [OP_GT] = {DIF_OP_BGU, DIF_OP_BG}, [OP_GE] = {DIF_OP_BGEU, DIF_OP_BGE},
    };
    static const enum op inverse[] = {[OP_EQ] = OP_NE, [OP_NE] = OP_EQ, [OP_LT] = OP_GE,
                                      [OP_GE] = OP_LT, [OP_GT] = OP_LE, [OP_LE] = OP_GT};
    const struct node *a = n->kid[0], *b = n->kid[1];
    bool strings = type_is_string(a->type) || type_is_string(b->type);
    bool is_signed = !strings && works_signed(n->op, a->type, b->type);
    struct gen_value va = gen_read(g, a);
    if (b->kind == N_INT && b->num == 0) {
        gen_emit(g, dif_abc(DIF_OP_TST, va.reg, 0, 0));
    } else {
        struct gen_value vb = gen_read(g, b);
        gen_emit(g, dif_abc(strings ? DIF_OP_SCMP : DIF_OP_CMP, va.reg, vb.reg, 0));
        gen_done(g, vb);
    }
    gen_done(g, va);
    gen_branch(g, yes[sense ? n->op : inverse[n->op]][is_signed], l);
}

void gen_jump(struct gen *g, const struct node *n, bool sense, struct label *l)
{
    if (is_compare(n)) {
        compare_jump(g, n, sense, l);
    } else if (n->kind == N_UNARY && n->op == OP_NOT) {
        gen_jump(g, n->kid[0], !sense, l);
    } else if (n->kind == N_BINARY && (n->op == OP_LAND || n->op == OP_LOR)) {
        if ((n->op == OP_LAND) == sense) { /* both sides must agree: the first may decide */
            struct label out = {0};
            gen_jump(g, n->kid[0], !sense, &out);
            g->maybe++;
            gen_jump(g, n->kid[1], sense, l);
            gen_place(g, &out);
        } else {
            gen_jump(g, n->kid[0], sense, l);
            g->maybe++;
            gen_jump(g, n->kid[1], sense, l);
        }
        g->maybe--;
    } else {
        struct gen_value v = gen_read(g, n);
        gen_emit(g, dif_abc(DIF_OP_TST, v.reg, 0, 0));
        gen_done(g, v);
        gen_branch(g, sense ? DIF_OP_BNE : DIF_OP_BE, l);
    }
}

void gen_predicate(struct gen *g, const struct node *n, struct label *l)
{
    /* If && fails, the clause ends, so all code after it is reached through both sides. */
    if (n->kind == N_BINARY && n->op == OP_LAND) {
        gen_predicate(g, n->kid[0], l);
        gen_predicate(g, n->kid[1], l);
    } else {
        gen_jump(g, n, false, l);
    }
}

/* Generates 0 or 1. */
static unsigned truth(struct gen *g, const struct node *n, bool inverted)
{
    struct label yes = {0}, end = {0};
    gen_jump(g, n, !inverted, &yes);
    unsigned r = gen_reg(g);
    load_int(g, r, 0);
    gen_branch(g, DIF_OP_BA, &end);
    gen_place(g, &yes);
    load_int(g, r, 1);
    gen_place(g, &end);
    return r;
}

/* Generates ^^; each of its two values is 0 or 1. */
static unsigned logical_xor(struct gen *g, const struct node *n)
{
    unsigned a = truth(g, n->kid[0], false), b = truth(g, n->kid[1], false);
    gen_emit(g, dif_abc(DIF_OP_XOR, a, a, b));
    gen_unreg(g, b);
    return a;
}

static unsigned conditional(struct gen *g, const struct node *n)
{
    struct label no = {0}, end = {0};
    gen_jump(g, n->kid[0], false, &no);
    g->maybe++;
    unsigned a = gen_value(g, n->kid[1]);
    gen_branch(g, DIF_OP_BA, &end);
    gen_place(g, &no);
    gen_unreg(g, a);
    unsigned b = gen_value(g, n->kid[2]);
    if (b != a) { /* a is free again: nothing else was kept */
        gen_emit(g, dif_abc(DIF_OP_MOV, a, b, 0));
        gen_unreg(g, b);
        g->regs |= 1u << a;
    }
    gen_place(g, &end);
    g->maybe--;
    return a;
}

/* Returns a register for a result: one of the operands' own, or a new one. */
static unsigned result_reg(struct gen *g, struct gen_value a, struct gen_value b)
{
    return !a.of ? a.reg : !b.of ? b.reg : gen_reg(g);
}

/* Ends the reading of an operand, unless its register took the result. */
static void operand_done(struct gen *g, struct gen_value v, unsigned result)
{
    if (v.of || v.reg != result)
        gen_done(g, v);
}

static unsigned negated(struct gen *g, const struct node *n)
{
    struct gen_value v = gen_read(g, n), zero = {gen_int_value(g, 0), NULL};
    unsigned r = result_reg(g, v, zero);
    gen_emit(g, dif_abc(DIF_OP_SUB, r, zero.reg, v.reg));
    operand_done(g, zero, r);
    operand_done(g, v, r);
    return r;
}

unsigned gen_call(struct gen *g, unsigned subr, const struct node *args)
{
    gen_tuple(g, args, NULL, 0);
    unsigned r = gen_reg(g);
    gen_emit(g, dif_ai(DIF_OP_CALL, r, subr));
    return r;
}

/* Copies the string at an address: stringof, and casts to string. */
static unsigned string_at(struct gen *g, const struct node *n)
{
    bool array = n->type->kind == TYPE_ARRAY;
    gen_tuple(g, n, NULL, 0);
    if (array) {
        unsigned most = gen_int_value(g, n->type->count);
        push(g, most, false);
        gen_unreg(g, most);
    }
    unsigned r = gen_reg(g);
    gen_emit(g, dif_ai(DIF_OP_CALL, r, array ? DIF_SUBR_strndup : DIF_SUBR_strdup));
    return r;
}

static unsigned unary(struct gen *g, const struct node *n)
{
    switch (n->op) {
    case OP_NOT: return truth(g, n->kid[0], true);
    case OP_STRINGOF: return string_at(g, n->kid[0]);
    case OP_DEREF: return gen_load(g, n);
    case OP_ADDR: return gen_address(g, n->kid[0]);
    case OP_COMPL: {
        unsigned r = gen_value(g, n->kid[0]);
        gen_emit(g, dif_abc(DIF_OP_NOT, r, r, 0));
        return r;
    }
    default: return negated(g, n->kid[0]);
    }
}

static unsigned binary(struct gen *g, const struct node *n)
{
    if (is_compare(n) || n->op == OP_LAND || n->op == OP_LOR)
        return truth(g, n, false);
    if (n->op == OP_LXOR)
        return logical_xor(g, n);
    if (n->op == OP_COMMA) {
        gen_effect(g, n->kid[0]);
        return gen_value(g, n->kid[1]);
    }
    const struct node *a = n->kid[0], *b = n->kid[1];
    if (!type_is_int(a->type) || !type_is_int(b->type))
        return gen_pointer_sum(g, n);
    struct gen_value va = gen_read(g, a), vb = gen_read(g, b);
    unsigned r = result_reg(g, va, vb);
    arith(g, n->op, r, va.reg, vb.reg, works_signed(n->op, a->type, b->type));
    operand_done(g, va, r);
    operand_done(g, vb, r);
    return r;
}

/* -- assignments ------------------------------------------------------------------------------- */

unsigned gen_operand_value(struct gen *g, const struct gen_operand *o)
{
    if (!o->expr)
        return gen_int_value(g, o->scale);
    unsigned r = gen_value(g, o->expr);
    gen_scale(g, r, o->scale);
    return r;
}

void gen_arith(struct gen *g, const struct type *t, const struct gen_operand *o, unsigned r,
               unsigned e)
{
    arith(g, o->op, r, r, e, works_signed(o->op, t, o->expr ? o->expr->type : t));
}

/* x += e, x -= e, ++ and -- on 64-bit variables in one instruction. */
static unsigned add_in_place(struct gen *g, const struct node *x, const struct gen_operand *o,
                             bool old_value)
{
    unsigned r;
    if (!o->expr)
        r = gen_int_value(g, o->op == OP_ADD ? o->scale : 0 - o->scale);
    else if (o->op == OP_SUB && o->expr->kind == N_INT)
        r = gen_int_value(g, 0 - o->expr->num * o->scale);
    else if (o->op == OP_SUB)
        r = negated(g, o->expr);
    else
        r = gen_value(g, o->expr);
    if (o->expr && !(o->op == OP_SUB && o->expr->kind == N_INT))
        gen_scale(g, r, o->scale);
    gen_tuple(g, x->args, x->var->key, x->var->nkeys);
    gen_emit(g, dif_ai(access_of(x->var)->add, r, x->var->id));
    reuse_store(g, x->var);
    if (old_value) {
        unsigned one = gen_int_value(g, o->op == OP_ADD ? 0 - o->scale : o->scale);
        gen_emit(g, dif_abc(DIF_OP_ADD, r, r, one));
        gen_unreg(g, one);
    }
    return r;
}

/* x op= e: load, compute, store. used: the expression's value is needed; old_value: it is the value
 * before the change. */
static unsigned update(struct gen *g, const struct node *x, const struct gen_operand *o, bool used,
                       bool old_value)
{
    if (x->kind != N_VAR)
        return gen_change(g, x, o, used, old_value);
    const struct access *acc = access_of(x->var);
    const struct type *t = x->type;
    bool adds = o->op == OP_ADD || o->op == OP_SUB;
    bool pure = !o->expr || !node_has_effect(o->expr);
    for (const struct node *k = x->args; k; k = k->next)
        pure = pure && !node_has_effect(k);
    if (adds && pure && t->size == 8 && acc->add != DIF_OP_NOP)
        return add_in_place(g, x, o, old_value && used);
    struct held keys;
    gen_hold(g, &keys, x->args, x->var->key, x->var->nkeys);
    gen_push_held(g, &keys, false);
    unsigned r = gen_reg(g), old = 0;
    gen_emit(g, dif_ai(acc->load, r, x->var->id));
    if (old_value && used) {
        old = gen_reg(g);
        gen_emit(g, dif_abc(DIF_OP_MOV, old, r, 0));
    }
    unsigned e = gen_operand_value(g, o);
    gen_arith(g, t, o, r, e);
    gen_unreg(g, e);
    gen_push_held(g, &keys, true);
    gen_emit(g, dif_ai(acc->store, r, x->var->id));
    reuse_store(g, x->var);
    if (old_value && used) {
        gen_unreg(g, r);
        return old;
    }
    if (used)
        narrow(g, r, t);
    return r;
}

static void store(struct gen *g, const struct node *x, unsigned reg)
{
    gen_tuple(g, x->args, x->var->key, x->var->nkeys);
    gen_emit(g, dif_ai(access_of(x->var)->store, reg, x->var->id));
    reuse_store(g, x->var);
    if (type_is_bytes(x->type))
        reuse_store_memory(g);
}

static unsigned assign(struct gen *g, const struct node *n, bool used)
{
    const struct node *x = n->kid[0], *e = n->kid[1];
    if (n->op != OP_NONE) {
        const struct gen_operand o = {e, n->op, gen_step_size(x->type)};
        return update(g, x, &o, used, false);
    }
    if (x->kind != N_VAR) {
        const struct gen_operand o = {e, OP_NONE, 1};
        return gen_change(g, x, &o, used, false);
    }
    unsigned r = gen_value(g, e);
    gen_check_address(g, x, e, r);
    store(g, x, r);
    if (used && !fits(e, x->type))
        narrow(g, r, x->type);
    return r;
}

static unsigned incdec(struct gen *g, const struct node *n, bool used)
{
    const struct gen_operand o = {NULL, n->op, gen_step_size(n->kid[0]->type)};
    return update(g, n->kid[0], &o, used, n->post);
}

/* -- all nodes --------------------------------------------------------------------------------- */

static unsigned builtin(struct gen *g, const struct node *n)
{
    unsigned number = (unsigned)n->num;
    bool array = dif_builtin_info(number)->array;
    unsigned r = array ? gen_value(g, n->args) : gen_reg(g);
    g->builtins |= dif_builtin_bit((enum dif_builtin)number);
    gen_emit(g, dif_ai(array ? DIF_OP_LDBA : DIF_OP_LDB, r, number));
    return r;
}

/* Generates a stack or a symbol: the value that represents it in a record. */
static unsigned place(struct gen *g, const struct node *n)
{
    switch (n->type->place) {
    case T_STACK: return gen_call(g, DIF_SUBR_stack, n->args);
    case T_USTACK: return gen_call(g, DIF_SUBR_ustack, n->args);
    case T_JSTACK: return gen_call(g, DIF_SUBR_jstack, n->args);
    case T_SYM:
    case T_FUNC:
    case T_MOD: return gen_value(g, n->args);
    default: return gen_call(g, DIF_SUBR_uaddr, n->args);
    }
}

/* Generates atom(): three instructions, by which a node finds the names before anything fires. */
static unsigned named_atom(struct gen *g, const struct node *n)
{
    unsigned r = gen_int_value(g, gen_str(g, n->args->str));
    push(g, r, false);
    gen_emit(g, dif_ai(DIF_OP_CALL, r, DIF_SUBR_atom));
    return r;
}

/* Generates the reading of a record's field: the term, then the number of the record, from 0 on,
 * and of the element, in 32 bits each. */
static unsigned field(struct gen *g, const struct node *n)
{
    const struct lang_field *f = n->field;
    gen_tuple(g, n->args, NULL, 0);
    unsigned at = gen_int_value(g, (uint64_t)(f->of->number - 1) << 32 | f->at);
    push(g, at, false);
    gen_unreg(g, at);
    unsigned r = gen_reg(g);
    gen_emit(g, dif_ai(DIF_OP_CALL, r, DIF_SUBR_term_field));
    return r;
}

static unsigned subroutine(struct gen *g, const struct node *n)
{
    if (type_is_place(n->type))
        return place(g, n);
    unsigned number = (unsigned)n->num;
    if (number == DIF_SUBR_term_field)
        return field(g, n);
    if (number == DIF_SUBR_atom)
        return named_atom(g, n);
    bool goes_on = number == DIF_SUBR_strtok && n->args->kind == N_INT; /* strtok(NULL, ...) */
    unsigned r = gen_call(g, number, goes_on ? n->args->next : n->args);
    if (number == DIF_SUBR_erlname) /* so that the image says that it needs names */
        g->builtins |= dif_builtin_bit(DIF_BUILTIN_erlname);
    if (number == DIF_SUBR_bcopy || number == DIF_SUBR_copyinto)
        reuse_store_memory(g);
    return r;
}

static unsigned cast(struct gen *g, const struct node *n)
{
    if (type_is_string(n->type))
        return string_at(g, n->kid[0]);
    unsigned r = gen_value(g, n->kid[0]);
    if (!fits(n->kid[0], n->type))
        narrow(g, r, n->type);
    return r;
}

unsigned gen_make(struct gen *g, const struct node *n)
{
    unsigned r;
    g->pos = &n->pos;
    if (gen_is_passed(g, n))
        return gen_passed(g, n);
    switch ((enum node_kind)n->kind) {
    case N_INT: return gen_int_value(g, n->num);
    case N_STR:
        r = gen_reg(g);
        gen_emit(g, dif_ai(DIF_OP_SETS, r, gen_str(g, n->str)));
        return r;
    case N_ARG:
        r = gen_reg(g);
        gen_emit(g, dif_abc(DIF_OP_LDARG, r, 0, (unsigned)n->num));
        return r;
    case N_VAR: return load_var(g, n);
    case N_BUILTIN: return builtin(g, n);
    case N_CALL: return subroutine(g, n);
    case N_UNARY: return unary(g, n);
    case N_BINARY: return binary(g, n);
    case N_COND: return conditional(g, n);
    case N_ASSIGN: return assign(g, n, true);
    case N_INCDEC: return incdec(g, n, true);
    case N_CAST: return cast(g, n);
    case N_MEMBER:
    case N_INDEX: return gen_load(g, n);
    default: gen_fail(g, "D_UNKNOWN", "no code can be generated for this expression", NULL);
    }
}

void gen_effect(struct gen *g, const struct node *n)
{
    g->pos = &n->pos;
    if (n->kind == N_ASSIGN && n->op == OP_NONE && n->kid[0]->kind == N_VAR) {
        struct gen_value v = gen_read(g, n->kid[1]);
        gen_check_address(g, n->kid[0], n->kid[1], v.reg);
        store(g, n->kid[0], v.reg);
        gen_done(g, v);
    } else if (n->kind == N_ASSIGN) {
        gen_unreg(g, assign(g, n, false));
    } else if (n->kind == N_INCDEC) {
        gen_unreg(g, incdec(g, n, false));
    } else if (n->kind == N_BINARY && n->op == OP_COMMA) {
        gen_effect(g, n->kid[0]);
        gen_effect(g, n->kid[1]);
    } else {
        gen_done(g, gen_read(g, n));
    }
}
