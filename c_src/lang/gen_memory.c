/* gen_memory.c - code for memory: members, elements, *p, and pointers.
 *
 * The value of a struct, union or array is the address of its bytes, so a place is an address and
 * an offset. A dynamic variable has no address: its bytes are loaded to scratch, changed there, and
 * stored back as a whole. A string in memory is copied out and in, as subroutines do it. */
#include "lang/gen.h"

static bool is_dynamic(const struct node *n)
{
    return n->kind == N_VAR && (n->var->assoc || n->var->scope == SCOPE_THREAD);
}

bool gen_is_place(const struct node *n)
{
    return n->kind == N_MEMBER || n->kind == N_INDEX || (n->kind == N_UNARY && n->op == OP_DEREF);
}

/* Returns whether the place is part of its first kid, rather than of what that kid points to. */
static bool is_part(const struct node *n)
{
    return (n->kind == N_MEMBER && !n->post) ||
           ((n->kind == N_INDEX || n->kind == N_UNARY) && n->kid[0]->type->kind == TYPE_ARRAY);
}

/* Returns the dynamic variable that the place is part of, or NULL. */
static const struct node *root_of(const struct node *n)
{
    while (gen_is_place(n) &&
           (is_part(n) || (n->kind == N_MEMBER && n->post && n->kid[0]->type->kind == TYPE_ARRAY)))
        n = n->kid[0];
    return is_dynamic(n) ? n : NULL;
}

static void add(struct gen *g, unsigned reg, uint64_t v)
{
    if (v == 0)
        return;
    unsigned r = gen_int_value(g, v);
    gen_emit(g, dif_abc(DIF_OP_ADD, reg, reg, r));
    gen_unreg(g, r);
}

void gen_scale(struct gen *g, unsigned reg, uint64_t by)
{
    if (by == 1)
        return;
    unsigned r = gen_int_value(g, by);
    gen_emit(g, dif_abc(DIF_OP_MUL, reg, reg, r));
    gen_unreg(g, r);
}

/* Adds the index, checked against the array's dimension, times the size of an element. */
static void step(struct gen *g, unsigned reg, const struct node *n)
{
    const struct node *at = n->args;
    const struct type *t = n->kid[0]->type;
    bool bounded =
        t->kind == TYPE_ARRAY && (t->count > 1 || n->kid[0]->kind == N_VAR) && t->count > 0;
    if (at->kind == N_INT && (!bounded || at->num < t->count)) {
        add(g, reg, at->num * type_size(n->type));
        return;
    }
    unsigned r = gen_value(g, at);
    if (bounded)
        gen_emit(g, dif_ai(DIF_OP_BOUND, r, gen_int(g, t->count)));
    gen_scale(g, r, type_size(n->type));
    gen_emit(g, dif_abc(DIF_OP_ADD, reg, reg, r));
    gen_unreg(g, r);
}

/* Computes the address of a place in a register of its own. If there is a `root`, register `at`
 * holds the address of its bytes. */
static unsigned address(struct gen *g, const struct node *n, const struct node *root, unsigned at)
{
    unsigned r;
    if (n == root) {
        r = gen_reg(g);
        gen_emit(g, dif_abc(DIF_OP_MOV, r, at, 0));
        return r;
    }
    if (!gen_is_place(n))
        return gen_value(g, n);
    r = root ? address(g, n->kid[0], root, at) : gen_value(g, n->kid[0]);
    if (n->kind == N_MEMBER)
        add(g, r, n->member->offset);
    else if (n->kind == N_INDEX)
        step(g, r, n);
    return r;
}

static bool is_bit_field(const struct node *n)
{
    return n->kind == N_MEMBER && n->member->bits > 0;
}

static void shift(struct gen *g, enum dif_op op, unsigned reg, unsigned by)
{
    if (by == 0)
        return;
    unsigned r = gen_int_value(g, by);
    gen_emit(g, dif_abc(op, reg, reg, r));
    gen_unreg(g, r);
}

/* Copies the string of that type from memory. */
static void load_string(struct gen *g, const struct type *t, unsigned r, unsigned at)
{
    unsigned most = gen_int_value(g, t->size);
    gen_emit(g, dif_abc(DIF_OP_PUSHTV, at, 0, 0));
    gen_emit(g, dif_abc(DIF_OP_PUSHTV, most, 0, 0));
    gen_unreg(g, most);
    gen_emit(g, dif_ai(DIF_OP_CALL, r, DIF_SUBR_strndup));
}

static void store_string(struct gen *g, const struct type *t, unsigned at, unsigned v)
{
    unsigned most = gen_int_value(g, t->size);
    gen_emit(g, dif_abc(DIF_OP_PUSHTV, at, 0, 0));
    gen_emit(g, dif_abc(DIF_OP_PUSHTR, v, 0, 0));
    gen_emit(g, dif_abc(DIF_OP_PUSHTV, most, 0, 0));
    gen_emit(g, dif_ai(DIF_OP_CALL, most, DIF_SUBR_strncpy));
    gen_unreg(g, most);
}

/* Loads the value at the address in `at` into r. */
static void load(struct gen *g, const struct node *n, unsigned r, unsigned at)
{
    static const enum dif_op ops[9][2] = {[1] = {DIF_OP_LDUB, DIF_OP_LDSB},
                                          [2] = {DIF_OP_LDUH, DIF_OP_LDSH},
                                          [4] = {DIF_OP_LDUW, DIF_OP_LDSW},
                                          [8] = {DIF_OP_LDX, DIF_OP_LDX}};
    const struct type *t = n->type;
    if (type_is_string(t)) {
        load_string(g, t, r, at);
        return;
    }
    if (!type_is_scalar(t)) {
        if (r != at)
            gen_emit(g, dif_abc(DIF_OP_MOV, r, at, 0));
        return;
    }
    gen_emit(g, dif_abc(ops[t->size][t->is_signed], r, at, 0));
    if (is_bit_field(n)) {
        const struct type_member *m = n->member;
        shift(g, DIF_OP_SLL, r, 64u - m->bit - m->bits);
        shift(g, t->is_signed ? DIF_OP_SRA : DIF_OP_SRL, r, 64u - m->bits);
    }
}

/* Stores v at the address in `at`. */
static void store(struct gen *g, const struct node *n, unsigned at, unsigned v)
{
    static const enum dif_op ops[9] = {
        [1] = DIF_OP_STB, [2] = DIF_OP_STH, [4] = DIF_OP_STW, [8] = DIF_OP_STX};
    const struct type *t = n->type;
    if (type_is_string(t)) {
        store_string(g, t, at, v);
    } else if (!type_is_scalar(t)) {
        unsigned size = gen_int_value(g, type_size(t));
        gen_emit(g, dif_abc(DIF_OP_COPY, at, v, size));
        gen_unreg(g, size);
    } else if (is_bit_field(n)) {
        const struct type_member *m = n->member;
        uint64_t mask = UINT64_MAX >> (64 - m->bits);
        unsigned r = gen_reg(g), bits = gen_int_value(g, mask);
        gen_emit(g, dif_abc(DIF_OP_AND, bits, bits, v));
        shift(g, DIF_OP_SLL, bits, m->bit);
        gen_emit(g, dif_abc(ops[t->size] == DIF_OP_STB   ? DIF_OP_LDUB
                            : ops[t->size] == DIF_OP_STH ? DIF_OP_LDUH
                            : ops[t->size] == DIF_OP_STW ? DIF_OP_LDUW
                                                         : DIF_OP_LDX,
                            r, at, 0));
        unsigned others = gen_int_value(g, ~(mask << m->bit));
        gen_emit(g, dif_abc(DIF_OP_AND, r, r, others));
        gen_unreg(g, others);
        gen_emit(g, dif_abc(DIF_OP_OR, r, r, bits));
        gen_emit(g, dif_abc(ops[t->size], at, r, 0));
        gen_unreg(g, r);
        gen_unreg(g, bits);
    } else {
        gen_emit(g, dif_abc(ops[t->size], at, v, 0));
    }
}

unsigned gen_load(struct gen *g, const struct node *n)
{
    unsigned r = address(g, n, NULL, 0);
    load(g, n, r, r);
    return r;
}

unsigned gen_address(struct gen *g, const struct node *n)
{
    return address(g, n, NULL, 0);
}

/* Narrows r to the width that was stored: that is the value of the expression. */
static void narrow(struct gen *g, const struct node *n, unsigned r)
{
    const struct type *t = n->type;
    if (is_bit_field(n)) {
        shift(g, DIF_OP_SLL, r, 64u - n->member->bits);
        shift(g, t->is_signed ? DIF_OP_SRA : DIF_OP_SRL, r, 64u - n->member->bits);
    } else if (type_is_int(t) && t->size < 8) {
        gen_emit(g, dif_abc(t->is_signed ? DIF_OP_EXTS : DIF_OP_EXTU, r, r, t->size));
    }
}

unsigned gen_change(struct gen *g, const struct node *x, const struct gen_operand *o, bool used,
                    bool old_value)
{
    const struct node *root = root_of(x);
    struct held keys = {0};
    unsigned bytes = 0, at, r, old = 0;
    unsigned first = o->op == OP_NONE ? gen_value(g, o->expr) : 0;
    if (root) {
        gen_hold(g, &keys, root->args, root->var->key, root->var->nkeys);
        gen_push_held(g, &keys, false);
        bytes = gen_reg(g);
        gen_emit(g, dif_ai(gen_load_op(root->var), bytes, root->var->id));
    }
    at = address(g, x, root, bytes);
    if (o->op == OP_NONE) {
        r = first;
    } else {
        r = gen_reg(g);
        load(g, x, r, at);
        if (old_value && used) {
            old = gen_reg(g);
            gen_emit(g, dif_abc(DIF_OP_MOV, old, r, 0));
        }
        unsigned e = gen_operand_value(g, o);
        gen_arith(g, x->type, o, r, e);
        gen_unreg(g, e);
    }
    store(g, x, at, r);
    gen_unreg(g, at);
    reuse_store_memory(g);
    if (root) {
        gen_push_held(g, &keys, true);
        gen_emit(g, dif_ai(gen_store_op(root->var), bytes, root->var->id));
        gen_unreg(g, bytes);
    }
    if (old_value && used) {
        gen_unreg(g, r);
        return old;
    }
    if (used)
        narrow(g, x, r);
    return r;
}

void gen_check_address(struct gen *g, const struct node *x, const struct node *e, unsigned reg)
{
    if (!is_dynamic(x) || !type_is_bytes(x->type) || e->kind == N_INT || type_size(x->type) == 0)
        return;
    unsigned r = gen_reg(g);
    gen_emit(g, dif_abc(DIF_OP_LDUB, r, reg, 0));
    gen_unreg(g, r);
}

/* Returns the bytes of one step of a pointer; 1 for integers and void. */
uint64_t gen_step_size(const struct type *t)
{
    uint64_t n = type_refers(t) ? type_size(t->of) : 1;
    return n > 0 ? n : 1;
}

unsigned gen_pointer_sum(struct gen *g, const struct node *n)
{
    const struct node *a = n->kid[0], *b = n->kid[1];
    unsigned ra = gen_value(g, a), rb = gen_value(g, b);
    if (n->type->kind == TYPE_PTR) {
        if (type_is_int(a->type))
            gen_scale(g, ra, gen_step_size(n->type));
        else
            gen_scale(g, rb, gen_step_size(n->type));
        gen_emit(g, dif_abc(n->op == OP_ADD ? DIF_OP_ADD : DIF_OP_SUB, ra, ra, rb));
        gen_unreg(g, rb);
        return ra;
    }
    gen_emit(g, dif_abc(DIF_OP_SUB, ra, ra, rb));
    gen_unreg(g, rb);
    uint64_t size = gen_step_size(a->type);
    if (size > 1) {
        unsigned r = gen_int_value(g, size);
        gen_emit(g, dif_abc(DIF_OP_SDIV, ra, ra, r));
        gen_unreg(g, r);
    }
    return ra;
}
