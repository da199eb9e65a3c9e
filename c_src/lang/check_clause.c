/* check_clause.c - a clause as a whole, and the order in which its parts are checked.
 *
 * The first use that is checked creates a name, so the order decides types. The actions come before
 * the predicate, unless they read a name that only the predicate creates; then the predicate comes
 * first (language.md 2.1). */
#include "lang/check.h"

#include <string.h>

enum use { USE_NONE, USE_READ, USE_WRITE };

static bool is_name(const struct node *n, const struct node *name)
{
    return n->kind == N_IDENT && n->scope == name->scope && strcmp(n->name, name->name) == 0;
}

static const struct node *base_of(const struct node *n)
{
    return n->kind == N_INDEX ? n->kid[0] : n;
}

/* Returns whether the operator creates its target if it does not exist. */
static bool creates(const struct node *n)
{
    return (n->kind == N_ASSIGN && n->op == OP_NONE) || n->kind == N_INCDEC;
}

static enum use first_use(const struct node *n, const struct node *name);

static enum use first_use_in(const struct node *list, const struct node *name)
{
    enum use u = USE_NONE;
    for (; list && u == USE_NONE; list = list->next)
        u = first_use(list, name);
    return u;
}

/* Returns how the name is used where checking the expression first meets it. */
static enum use first_use(const struct node *n, const struct node *name)
{
    enum use u = USE_NONE;
    if (is_name(n, name))
        return USE_READ;
    if (n->kind == N_ASSIGN)
        u = first_use(n->kid[1], name);
    if (u == USE_NONE && creates(n) && is_name(base_of(n->kid[0]), name)) {
        u = first_use_in(n->kid[0]->args, name);
        return u == USE_NONE ? USE_WRITE : u;
    }
    for (size_t i = 0; i < 3 && u == USE_NONE; i++) {
        if (n->kid[i])
            u = first_use(n->kid[i], name);
    }
    return u == USE_NONE ? first_use_in(n->args, name) : u;
}

static enum use first_use_of(const struct lang_stmt *s, const struct node *name)
{
    enum use u = USE_NONE;
    for (; s && u == USE_NONE; s = s->next) {
        u = first_use(s->expr, name);
        if (u == USE_NONE)
            u = first_use_of(s->yes, name);
        if (u == USE_NONE)
            u = first_use_of(s->no, name);
    }
    return u;
}

/* Returns whether the statements first read something that does not exist yet and that the
 * predicate creates. */
static bool must_come_first(struct lang *l, const struct node *pred, const struct lang_stmt *stmts)
{
    if (creates(pred)) {
        const struct node *name = base_of(pred->kid[0]);
        if (name->kind == N_IDENT &&
            !names_find(names_of_scope(l, (enum lang_scope)name->scope), name->name)) {
            if (first_use_of(stmts, name) == USE_READ)
                return true;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        if (pred->kid[i] && must_come_first(l, pred->kid[i], stmts))
            return true;
    }
    for (const struct node *a = pred->args; a; a = a->next) {
        if (must_come_first(l, a, stmts))
            return true;
    }
    return false;
}

static void check_predicate(struct lang *l, struct node *n)
{
    bool assigns = n->kind == N_ASSIGN && n->op == OP_NONE;
    l->diags->during = "in predicate";
    if (check_refuse_dynamic(l, n, "D_PRED_SCALAR", "predicate result"))
        return;
    l->in_predicate = true;
    const struct type *t = check_expr(l, n);
    l->in_predicate = false;
    if (!type_is_scalar(t) && !type_is_error(t))
        lang_err(l, &n->pos, "D_PRED_SCALAR",
                 assigns             ? "did you mean '=='?"
                 : type_is_string(t) ? "compare the string: /s != NULL/"
                                     : NULL,
                 "predicate result must be of scalar type, not %s", t->name);
}

static void check_condition(struct lang *l, struct node *n)
{
    bool assigns = n->kind == N_ASSIGN && n->op == OP_NONE;
    const struct type *t = check_expr(l, n);
    if (!type_is_scalar(t) && !type_is_error(t))
        lang_err(l, &n->pos, "D_OP_SCALAR",
                 assigns             ? "did you mean '=='?"
                 : type_is_string(t) ? "compare the string: if (s != NULL)"
                                     : NULL,
                 "condition of if must be of scalar type, not %s", t->name);
}

/* What a sub-clause has done so far, for the rules of language.md 6.1. */
enum { DID_RECORD = 1, DID_AGGREGATE = 2, DID_SPECULATE = 4, DID_COMMIT = 8, DID_DESTROY = 16 };

static bool is_destructive(unsigned act)
{
    static const bool destructive[WORD_ACTIONS + 1] = {
#define WORD_ACTION(num, name, text, tiers, destr, pleast, pmost, rleast, rmost, d) [num] = destr,
#include "words/actions.list"
#undef WORD_ACTION
        [ACT_IF] = false};
    return destructive[act];
}

static unsigned does(const struct lang_stmt *s)
{
    return s->act == ACT_SPECULATE ? DID_SPECULATE
           : s->act == ACT_COMMIT  ? DID_COMMIT
           : s->act == ACT_AGG     ? DID_AGGREGATE
           : s->records            ? DID_RECORD | (is_destructive(s->act) ? DID_DESTROY : 0)
                                   : 0;
}

/* Each row forbids one thing after another. The first row that applies is reported. */
static void check_order(struct lang *l, const struct lang_stmt *s, unsigned before)
{
    static const struct {
        unsigned before; /* bit set: any of these was done */
        unsigned does;   /* bit set: what s does; 0: compare act */
        unsigned act;
        const char *tag, *text;
    } rules[] = {
        {DID_SPECULATE, DID_SPECULATE, 0, "D_SPEC_SPEC",
         "speculate( ) may not follow speculate( )"},
        {DID_COMMIT, DID_SPECULATE, 0, "D_SPEC_COMM", "speculate( ) may not follow commit( )"},
        {DID_RECORD | DID_AGGREGATE, DID_SPECULATE, 0, "D_SPEC_DREC",
         "speculate( ) may not follow data-recording or aggregating actions"},
        {DID_RECORD | DID_AGGREGATE | DID_SPECULATE, DID_COMMIT, 0, "D_COMM_DREC",
         "commit( ) may not follow data-recording or aggregating actions"},
        {DID_COMMIT, DID_RECORD, 0, "D_DREC_COMM",
         "data-recording actions may not follow commit( )"},
        {DID_COMMIT, DID_AGGREGATE, 0, "D_AGG_COMM",
         "aggregating actions may not follow commit( )"},
        {DID_SPECULATE, DID_AGGREGATE, 0, "D_AGG_SPEC",
         "aggregating actions may not follow speculate( )"},
        {DID_SPECULATE, 0, ACT_EXIT, "D_EXIT_SPEC", "exit( ) may not follow speculate( )"},
        {DID_SPECULATE, DID_DESTROY, 0, "D_ACT_SPEC",
         "destructive actions may not follow speculate( )"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        bool now = rules[i].does ? (does(s) & rules[i].does) != 0 : s->act == rules[i].act;
        if (now && (before & rules[i].before) != 0) {
            lang_err(l, &s->pos, rules[i].tag, "make it a clause of its own", "%s", rules[i].text);
            return;
        }
    }
}

static void check_stmts(struct lang *l, struct lang_clause *c, struct lang_stmt *s)
{
    unsigned did = 0;
    for (; s; s = s->next) {
        if (s->act == ACT_IF) {
            did = 0; /* the sub-clause ends here */
            c->branches = true;
            check_condition(l, s->expr);
            check_stmts(l, c, s->yes);
            check_stmts(l, c, s->no);
        } else {
            check_stmt(l, s);
            check_order(l, s, did);
            did |= does(s);
            c->records = c->records || s->records;
        }
    }
}

/* The VM sets the token when the function is called, before it could be known whether a condition
 * holds. */
static void check_unconditional(struct lang *l, const struct lang_stmt *s, bool conditional)
{
    for (; s; s = s->next) {
        if (s->act == ACT_FOLLOW && conditional)
            lang_err(l, &s->pos, "D_FOLLOW_COND",
                     "make it a clause of its own, without a predicate",
                     "follow( ) may not depend on a condition");
        if (s->act == ACT_IF) {
            check_unconditional(l, s->yes, true);
            check_unconditional(l, s->no, true);
        }
    }
}

void check_clause(struct lang *l, struct lang_clause *c)
{
    bool pred_first = c->pred && must_come_first(l, c->pred, c->stmts);
    l->in_predicate = false;
    if (pred_first)
        check_predicate(l, c->pred);
    c->records = c->stmts == NULL;
    l->diags->during = "in action list";
    check_stmts(l, c, c->stmts);
    check_unconditional(l, c->stmts, c->pred != NULL);
    if (c->pred && !pred_first)
        check_predicate(l, c->pred);
    l->diags->during = NULL;
}
