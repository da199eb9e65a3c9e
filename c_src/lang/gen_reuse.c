/* gen_reuse.c - computes values that a clause needs more than once only once.
 *
 * "/self->t/ { @ = quantize(timestamp - self->t); }" would look self->t up twice. Before a clause
 * is generated, reuse_plan walks it in the order of generation and counts how often each expensive
 * value occurs: elements of dynamic variables, strings that are copied, calls. During generation,
 * the first occurrence leaves its value in a register of the table, and the others read it there;
 * the last one takes the register over.
 *
 * Why this is correct:
 *  - only expressions without effects are in the table, so computing one once instead of twice
 * makes no visible difference, except that a read may see another thread's store later;
 *  - a store to a variable ends every value that reads the variable;
 *  - a value stays in a register only where all later code is reached through it: code that may be
 *    skipped is generated with g->maybe above 0;
 *  - the table gives registers up when expressions need them; a register that is being read is
 *    pinned. Counts only decide how long registers are kept. */
#include "lang/gen.h"

#include <string.h>

/* Returns whether computing the value costs more than occupying a register. */
static bool is_candidate(const struct node *n)
{
    switch (n->kind) {
    case N_VAR:
        if (n->var->scope != SCOPE_THREAD && !n->var->assoc && !type_is_string(n->type))
            return false;
        break;
    case N_CALL: break;
    case N_UNARY:
        if (n->op != OP_STRINGOF)
            return false;
        break;
    case N_CAST:
        if (!type_is_string(n->type))
            return false;
        break;
    default: return false;
    }
    return !node_has_effect(n);
}

/* Returns whether two expressions without effects have the same value. */
static bool same(const struct node *a, const struct node *b)
{
    if (a->kind != b->kind || a->op != b->op || a->num != b->num || a->cast != b->cast ||
        a->member != b->member || !type_same(a->type, b->type))
        return false;
    if (a->kind == N_VAR && a->var != b->var)
        return false;
    if ((a->kind == N_CALL || a->kind == N_BUILTIN) && strcmp(a->name, b->name) != 0)
        return false;
    if (a->kind == N_STR && strcmp(a->str, b->str) != 0)
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (!a->kid[i] != !b->kid[i] || (a->kid[i] && !same(a->kid[i], b->kid[i])))
            return false;
    }
    const struct node *x = a->args, *y = b->args;
    for (; x && y; x = x->next, y = y->next) {
        if (!same(x, y))
            return false;
    }
    return !x && !y;
}

static bool reads(const struct node *n, const struct lang_var *v)
{
    if (n->kind == N_VAR && n->var == v)
        return true;
    for (size_t i = 0; i < 3; i++) {
        if (n->kid[i] && reads(n->kid[i], v))
            return true;
    }
    for (const struct node *a = n->args; a; a = a->next) {
        if (reads(a, v))
            return true;
    }
    return false;
}

static struct reuse *find(struct gen *g, const struct node *n)
{
    for (unsigned i = 0; i < g->nreuse; i++) {
        struct reuse *e = &g->reuse[i];
        if (e->left > 0 && !e->closed && same(e->node, n))
            return e;
    }
    return NULL;
}

/* -- planning ---------------------------------------------------------------------------------- */

static void plan(struct gen *g, const struct node *n);

static void plan_list(struct gen *g, const struct node *list)
{
    for (; list; list = list->next)
        plan(g, list);
}

/* After a store to memory, any value that is read may have changed. */
static void plan_store_memory(struct gen *g)
{
    for (unsigned i = 0; i < g->nreuse; i++)
        g->reuse[i].closed = true;
}

/* After a store, the same expression has another value. */
static void plan_store(struct gen *g, const struct node *target)
{
    if (target->kind != N_VAR) {
        plan(g, target);
        plan_store_memory(g);
        return;
    }
    plan_list(g, target->args);
    if (type_is_bytes(target->type))
        plan_store_memory(g);
    for (unsigned i = 0; i < g->nreuse; i++) {
        struct reuse *e = &g->reuse[i];
        if (!e->closed && reads(e->node, target->var))
            e->closed = true;
    }
}

static void plan(struct gen *g, const struct node *n)
{
    if (n->kind == N_ASSIGN) {
        plan(g, n->kid[1]);
        plan_store(g, n->kid[0]);
        return;
    }
    if (n->kind == N_INCDEC) {
        plan_store(g, n->kid[0]);
        return;
    }
    if (is_candidate(n)) {
        struct reuse *e = find(g, n);
        if (e) {
            e->left++;
        } else if (g->nreuse < REUSE_MAX) {
            e = &g->reuse[g->nreuse++];
            memset(e, 0, sizeof *e);
            e->node = n;
            e->left = 1;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        if (n->kid[i])
            plan(g, n->kid[i]);
    }
    plan_list(g, n->args);
    if (n->kind == N_CALL && type_is_void(n->type))
        plan_store_memory(g);
}

static void plan_stmts(struct gen *g, const struct lang_stmt *s)
{
    for (; s; s = s->next) {
        if (s->act == ACT_EXPR || s->act == ACT_IF)
            plan(g, s->expr);
        else
            plan_list(g, s->args);
        plan_stmts(g, s->yes);
        plan_stmts(g, s->no);
    }
}

void reuse_plan(struct gen *g, const struct lang_clause *c)
{
    g->nreuse = 0;
    g->maybe = 0;
    if (c->pred)
        plan(g, c->pred);
    plan_stmts(g, c->stmts);
    unsigned n = 0;
    for (unsigned i = 0; i < g->nreuse; i++) {
        if (g->reuse[i].left > 1) {
            g->reuse[n] = g->reuse[i];
            g->reuse[n++].closed = false;
        }
    }
    g->nreuse = n;
}

/* -- generating -------------------------------------------------------------------------------- */

static void give_up(struct gen *g, struct reuse *e)
{
    if (e->have && e->pins == 0) {
        e->have = false;
        gen_unreg(g, e->reg);
    }
}

/* Discounts the occurrences below n: n's value exists, so they will not be generated. */
static void skip_below(struct gen *g, const struct node *n)
{
    for (size_t i = 0; i < 4; i++) {
        const struct node *k = i < 3 ? n->kid[i] : n->args;
        for (; k; k = i < 3 ? NULL : k->next) {
            struct reuse *e = is_candidate(k) ? find(g, k) : NULL;
            if (e && --e->left == 0)
                give_up(g, e);
            skip_below(g, k);
        }
    }
}

static struct gen_value reading(struct reuse *e)
{
    e->pins++;
    return (struct gen_value){e->reg, e};
}

struct gen_value gen_read(struct gen *g, const struct node *n)
{
    struct reuse *e = is_candidate(n) ? find(g, n) : NULL;
    if (!e)
        return (struct gen_value){gen_make(g, n), NULL};
    e->left--;
    if (e->have) {
        skip_below(g, n);
        if (e->left > 0 || e->pins > 0)
            return reading(e);
        e->have = false;
        return (struct gen_value){e->reg, NULL};
    }
    unsigned r = gen_make(g, n);
    if (g->maybe > 0 || e->left == 0 || e->have)
        return (struct gen_value){r, NULL};
    e->have = true;
    e->reg = r;
    return reading(e);
}

void gen_done(struct gen *g, struct gen_value v)
{
    if (!v.of) {
        gen_unreg(g, v.reg);
        return;
    }
    v.of->pins--;
    if (v.of->left == 0)
        give_up(g, v.of);
}

unsigned gen_value(struct gen *g, const struct node *n)
{
    struct gen_value v = gen_read(g, n);
    if (!v.of)
        return v.reg;
    unsigned r = gen_reg(g);
    gen_emit(g, dif_abc(DIF_OP_MOV, r, v.reg, 0));
    gen_done(g, v);
    return r;
}

void reuse_store(struct gen *g, const struct lang_var *v)
{
    for (unsigned i = 0; i < g->nreuse; i++) {
        struct reuse *e = &g->reuse[i];
        if (e->have && reads(e->node, v)) {
            e->left = 0;
            give_up(g, e);
        }
    }
}

void reuse_store_memory(struct gen *g)
{
    for (unsigned i = 0; i < g->nreuse; i++) {
        struct reuse *e = &g->reuse[i];
        if (e->have) {
            e->left = 0;
            give_up(g, e);
        }
    }
}

bool reuse_evict(struct gen *g)
{
    for (unsigned i = 0; i < g->nreuse; i++) {
        if (g->reuse[i].have && g->reuse[i].pins == 0) {
            give_up(g, &g->reuse[i]);
            return true;
        }
    }
    return false;
}
