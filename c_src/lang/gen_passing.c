/* gen_passing.c - programs of both worlds: clauses on a node's probes run in the kernel, and what
 * only the node can compute for them is computed there, before the event is passed on.
 *
 * Such an expression is the largest one that the node can evaluate by itself: of arguments,
 * constants, and what only the node has. In the kernel's image it is an element of the built-in
 * array _passed; in the node's, code that keeps its value there (words/subrs.list, keep). */
#include "lang/gen.h"

#include <string.h>

#include "lang/prog.h"

_Static_assert(PASSING_STACK == 1 << (PASSING_ARGUMENTS + DIF_KEPT_USTACK), "in the same order");

/* What fits into the scratch of a clause, which has room for 16 texts: a stack is at most as long
 * as two of them. */
enum { FRAMES = 127, TEXTS_OF_PREDICATES = 4, TEXTS_OF_VALUES = 8 };

static const struct {
    unsigned at;
    uint32_t is;
    enum dif_builtin builtin;
} about[] = {{DIF_KEPT_ERLPID, PASSING_ERLPID, DIF_BUILTIN_erlpid},
             {DIF_KEPT_ERLNAME, PASSING_ERLNAME, DIF_BUILTIN_erlname},
             {DIF_KEPT_ERLFUNC, PASSING_ERLFUNC, DIF_BUILTIN_erlfunc}};
enum { ABOUT = sizeof about / sizeof *about };

/* -- what a node can evaluate ------------------------------------------------------------------ */

static bool is_of_node(unsigned tiers)
{
    return (tiers & WORD_VM) != 0 && (tiers & WORD_KERNEL) == 0;
}

/* Built-in variables that mean the same there. */
static bool is_same(uint64_t builtin)
{
    switch (builtin) {
    case DIF_BUILTIN_probeprov:
    case DIF_BUILTIN_probemod:
    case DIF_BUILTIN_probefunc:
    case DIF_BUILTIN_probename:
    case DIF_BUILTIN_erlpid:
    case DIF_BUILTIN_erlname:
    case DIF_BUILTIN_erlfunc: return true;
    default: return is_of_node(dif_builtin_info((unsigned)builtin)->tiers);
    }
}

static bool is_value(const struct type *t)
{
    return type_is_int(t) || type_is_string(t);
}

static bool can_evaluate(const struct node *n);

/* Calls that only a node can make, and that cannot fault: a record's field can, where the term is
 * another one, and so can what reads a text at an address. */
static bool can_call(const struct node *n)
{
    const struct dif_subr_info *is = dif_subr_info((unsigned)n->num);
    bool can = is != NULL && is_of_node(is->tiers) && n->num != DIF_SUBR_term_field &&
               n->num != DIF_SUBR_erlname && !type_is_place(n->type) && !n->post &&
               (is_value(n->type) || type_is_term(n->type));
    for (const struct node *a = n->args; can && a != NULL; a = a->next)
        can = can_evaluate(a);
    return can;
}

/* Returns whether an expression is an argument that is a text: args[N]. */
static bool is_text_argument(const struct node *n)
{
    const struct node *k = n->kid[0];
    return type_is_string(n->type) && k->kind == N_CAST && k->type->kind == TYPE_PTR &&
           k->kid[0]->kind == N_ARG;
}

/* Returns whether a node computes the same as the kernel would, if that could, and cannot fail: it
 * does so for all clauses of a probe, whatever their predicates and conditions are. */
static bool can_evaluate(const struct node *n)
{
    switch ((enum node_kind)n->kind) {
    case N_INT:
    case N_STR:
    case N_ARG: return true;
    case N_BUILTIN: return is_same(n->num) && (n->args == NULL || can_evaluate(n->args));
    case N_CALL: return can_call(n);
    case N_UNARY:
        return (n->op == OP_NEG || n->op == OP_PLUS || n->op == OP_NOT || n->op == OP_COMPL) &&
               can_evaluate(n->kid[0]);
    case N_BINARY:
        return n->op != OP_DIV && n->op != OP_MOD && n->op != OP_COMMA && is_value(n->type) &&
               can_evaluate(n->kid[0]) && can_evaluate(n->kid[1]);
    case N_COND:
        return can_evaluate(n->kid[0]) && can_evaluate(n->kid[1]) && can_evaluate(n->kid[2]);
    case N_CAST: return is_text_argument(n) || (type_is_int(n->type) && can_evaluate(n->kid[0]));
    default: return false;
    }
}

/* Returns how many texts an expression makes in scratch. */
static unsigned texts(const struct node *n)
{
    unsigned count = (n->kind == N_CALL || n->kind == N_CAST) && type_is_string(n->type);
    for (size_t i = 0; i < sizeof n->kid / sizeof *n->kid; i++)
        if (n->kind != N_CALL && n->kid[i] != NULL)
            count += texts(n->kid[i]);
    for (const struct node *a = n->args; a != NULL; a = a->next)
        count += texts(a);
    return count;
}

/* Returns whether a part of an expression can be evaluated in a node only. */
static bool must_evaluate(const struct node *n)
{
    if (n->kind == N_BUILTIN && is_of_node(dif_builtin_info((unsigned)n->num)->tiers))
        return true;
    if (n->kind == N_CALL && is_of_node(dif_subr_info((unsigned)n->num)->tiers))
        return true;
    for (size_t i = 0; i < sizeof n->kid / sizeof *n->kid; i++)
        if (n->kind != N_CALL && n->kid[i] != NULL && must_evaluate(n->kid[i]))
            return true;
    for (const struct node *a = n->args; a != NULL; a = a->next)
        if (must_evaluate(a))
            return true;
    return false;
}

/* -- the kernel's image ------------------------------------------------------------------------ */

bool gen_is_passed(const struct gen *g, const struct node *n)
{
    return g->passing != NULL && g->of_node && is_value(n->type) && !type_is_term(n->type) &&
           can_evaluate(n) && must_evaluate(n);
}

static _Noreturn void too_much(struct gen *g)
{
    gen_fail(g, "D_MIXED_MANY", "the clauses on probes of nodes compute too much there",
             "make it two scripts, or read less of the node");
}

unsigned gen_passed(struct gen *g, const struct node *n)
{
    struct passed p = {.node = n,
                       .clause = (uint32_t)(g->clauses.len / sizeof(struct dif_clause)),
                       .at = DIF_KEPT_OWN};
    const struct passed *before = (const void *)g->passing->data;
    for (size_t i = 0; i < g->passing->len / sizeof p; i++) {
        if (before[i].node == n) { /* for another description */
            p.at = before[i].at;
            break;
        }
        p.at = before[i].at >= p.at ? before[i].at + 1 : p.at;
    }
    if (p.at == DIF_KEPT_MOST)
        too_much(g);
    buf_add(g->passing, &p, sizeof p);
    /* That of a text is read with care: it comes from the process. */
    unsigned r = gen_int_value(g, p.at + (type_is_string(n->type) ? DIF_KEPT_MOST : 0));
    g->builtins |= dif_builtin_bit(DIF_BUILTIN__passed);
    gen_emit(g, dif_ai(DIF_OP_LDBA, r, DIF_BUILTIN__passed));
    return r;
}

uint32_t compile_reads(const struct dif_image *img, uint32_t clause)
{
    const struct dif_clause *c = &img->clauses[clause];
    uint32_t reads = 0;
    for (unsigned i = 0; i < PASSING_ARGUMENTS; i++)
        if (dif_reads_argument(img, clause, i))
            reads |= 1u << i;
    for (uint32_t i = 0; i < c->ncode; i++) {
        const uint32_t in = img->code[c->code + i] & 0xff00ffff;
        for (unsigned k = 0; k < ABOUT; k++)
            if (in == dif_ai(DIF_OP_LDB, 0, about[k].builtin))
                reads |= about[k].is;
        if (in == dif_ai(DIF_OP_CALL, 0, DIF_SUBR_ustack) ||
            in == dif_ai(DIF_OP_CALL, 0, DIF_SUBR_jstack) ||
            in == dif_ai(DIF_OP_LDB, 0, DIF_BUILTIN_ustackdepth) ||
            in == dif_ai(DIF_OP_LDB, 0, DIF_BUILTIN_ucaller))
            reads |= PASSING_STACK;
    }
    return reads;
}

/* -- the nodes' image -------------------------------------------------------------------------- */

/* Keeps the value in a register, which it releases. */
static void keep(struct gen *g, unsigned at, unsigned reg)
{
    const unsigned r = gen_int_value(g, at);
    gen_emit(g, dif_abc(DIF_OP_PUSHTV, r, 0, 0));
    gen_emit(g, dif_abc(DIF_OP_PUSHTV, reg, 0, 0));
    gen_emit(g, dif_ai(DIF_OP_CALL, r, DIF_SUBR_keep));
    gen_unreg(g, r);
    gen_unreg(g, reg);
}

/* Ends the clause unless one of the predicates holds, if the node can evaluate all of them. */
static void predicates(struct gen *g, const struct compile_set *set,
                       const struct lang_clause *const *clause, struct label *end)
{
    struct label go = {0};
    unsigned made = 0;
    for (uint32_t i = 0; i < set->n; i++) {
        const struct node *p = clause[set->clause[i]]->pred;
        if (p == NULL || !can_evaluate(p) || (made += texts(p)) > TEXTS_OF_PREDICATES)
            return;
    }
    for (uint32_t i = 0; i < set->n; i++) {
        struct label no = {0};
        gen_predicate(g, clause[set->clause[i]]->pred, i + 1 == set->n ? end : &no);
        if (i + 1 < set->n)
            gen_branch(g, DIF_OP_BA, &go);
        gen_place(g, &no);
    }
    gen_place(g, &go);
}

void gen_passing_clause(struct gen *g, const struct compile_set *set,
                        const struct lang_clause *const *clause, const struct buf *passing)
{
    struct dif_clause out = {.code = (uint32_t)(g->code.len / 4)};
    struct label end = {0};
    g->regs = 0;
    g->nreuse = 0;
    g->clause_code = out.code;
    predicates(g, set, clause, &end);
    out.npred = gen_pc(g);
    for (unsigned i = 0; i < PASSING_ARGUMENTS; i++) {
        if ((set->reads >> i & 1) == 0)
            continue;
        const unsigned r = gen_reg(g);
        gen_emit(g, dif_abc(DIF_OP_LDARG, r, 0, i));
        gen_unreg(g, r);
    }
    for (unsigned k = 0; k < ABOUT; k++) {
        if ((set->reads & about[k].is) == 0)
            continue;
        const unsigned r = gen_reg(g);
        g->builtins |= dif_builtin_bit(about[k].builtin);
        gen_emit(g, dif_ai(DIF_OP_LDB, r, about[k].builtin));
        keep(g, about[k].at, r);
    }
    if ((set->reads & PASSING_STACK) != 0) {
        const unsigned r = gen_int_value(g, FRAMES);
        gen_emit(g, dif_abc(DIF_OP_PUSHTV, r, 0, 0));
        gen_emit(g, dif_ai(DIF_OP_CALL, r, DIF_SUBR_ustack));
        keep(g, DIF_KEPT_USTACK, r);
    }
    const struct passed *p = (const void *)passing->data;
    unsigned made = 0;
    uint64_t kept = 0; /* bit set of elements */
    for (size_t i = 0; i < passing->len / sizeof *p; i++)
        for (uint32_t k = 0; k < set->n; k++)
            if (set->clause[k] == p[i].clause && (kept >> p[i].at & 1) == 0) {
                kept |= UINT64_C(1) << p[i].at;
                made += texts(p[i].node);
                if (made > TEXTS_OF_VALUES)
                    too_much(g);
                keep(g, p[i].at, gen_value(g, p[i].node));
            }
    const unsigned r = gen_reg(g);
    g->builtins |= dif_builtin_bit(DIF_BUILTIN_epid);
    gen_emit(g, dif_ai(DIF_OP_LDB, r, DIF_BUILTIN_epid));
    const unsigned fixed = gen_int_value(g, set->reads >> PASSING_ARGUMENTS);
    gen_emit(g, dif_abc(DIF_OP_PUSHTV, r, 0, 0));
    gen_emit(g, dif_abc(DIF_OP_PUSHTV, fixed, 0, 0));
    gen_emit(g, dif_ai(DIF_OP_CALL, r, DIF_SUBR_pass));
    gen_unreg(g, fixed);
    gen_unreg(g, r);
    gen_place(g, &end);
    gen_emit(g, dif_abc(DIF_OP_RET, 0, 0, 0));
    out.ncode = gen_pc(g);
    buf_add(&g->clauses, &out, sizeof out);
}
