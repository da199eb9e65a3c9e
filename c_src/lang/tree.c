/* tree.c - a checked program as an indented tree, for people who want to see how it was understood:
 * one line for each node, with its type. */
#include "lang/lang.h"

#include <inttypes.h>
#include <limits.h>

#include "lang/check.h"
#include "util/buftext.h"

enum { STEP = 2 };

static void line(struct buf *out, unsigned depth, const char *what, const char *name)
{
    buf_fill(out, ' ', (size_t)depth * STEP);
    buf_adds(out, what);
    if (name != NULL)
        buf_printf(out, " %s", name);
}

static void put_node(struct buf *out, unsigned depth, const struct node *n);

static void put_list(struct buf *out, unsigned depth, const struct node *list, unsigned most)
{
    for (unsigned i = 0; list != NULL && i < most; list = list->next, i++)
        put_node(out, depth, list);
}

static void put_string(struct buf *out, const struct node *n)
{
    buf_addc(out, ' ');
    buf_json(out, n->str, n->len);
}

static void put_node(struct buf *out, unsigned depth, const struct node *n)
{
    static const char *const kinds[] = {
        [N_ERROR] = "error",       [N_INT] = "integer",     [N_STR] = "string",
        [N_IDENT] = "name",        [N_AGG] = "aggregation", [N_VAR] = "variable",
        [N_BUILTIN] = "built-in",  [N_ARG] = "argument",    [N_CALL] = "call",
        [N_UNARY] = "unary",       [N_BINARY] = "binary",   [N_COND] = "?:",
        [N_ASSIGN] = "assign",     [N_INCDEC] = "step",     [N_INDEX] = "index",
        [N_MEMBER] = "member",     [N_CAST] = "cast",       [N_SIZEOF] = "sizeof",
        [N_OFFSETOF] = "offsetof", [N_XLATE] = "xlate",
    };
    static const char *const scopes[] = {
        [SCOPE_GLOBAL] = "", [SCOPE_THREAD] = "self->", [SCOPE_CLAUSE] = "this->"};
    const char *kind = n->kind < sizeof kinds / sizeof *kinds ? kinds[n->kind] : "node";
    line(out, depth, kind, NULL);
    switch ((enum node_kind)n->kind) {
    case N_INT:
    case N_ARG: buf_printf(out, " %" PRId64, (int64_t)n->num); break;
    case N_STR: put_string(out, n); break;
    case N_VAR: buf_printf(out, " %s%s", scopes[n->var->scope], n->var->name); break;
    case N_UNARY:
    case N_BINARY: buf_printf(out, " %s", op_text[n->op]); break;
    case N_ASSIGN: buf_printf(out, " %s=", n->op != OP_NONE ? op_text[n->op] : ""); break;
    case N_INCDEC:
        buf_printf(out, " %s%s%s", op_text[n->op], op_text[n->op], n->post ? " after" : " before");
        break;
    case N_MEMBER:
        buf_printf(out, " %s%s%s%s",
                   n->post  ? "->"
                   : n->str ? ".#"
                            : ".",
                   n->str ? n->str : "", n->str ? "." : "", n->name);
        break;
    default:
        if (n->name != NULL)
            buf_printf(out, " %s", n->name);
    }
    if (n->type != NULL)
        buf_printf(out, " (%s)", n->type->name);
    buf_addc(out, '\n');
    for (int i = 0; i < 3; i++)
        if (n->kid[i] != NULL)
            put_node(out, depth + 1, n->kid[i]);
    put_list(out, depth + 1, n->args, UINT_MAX);
}

static void put_statements(struct buf *out, unsigned depth, const struct lang_stmt *s)
{
    for (; s != NULL; s = s->next) {
        if (s->act == ACT_IF) {
            line(out, depth, "if\n", NULL);
            put_node(out, depth + 1, s->expr);
            put_statements(out, depth + 1, s->yes);
            if (s->no != NULL) {
                line(out, depth, "else\n", NULL);
                put_statements(out, depth + 1, s->no);
            }
            continue;
        }
        line(out, depth, "statement\n", NULL);
        if (s->act == ACT_AGG) { /* the list holds the keys, then the function's arguments */
            line(out, depth + 1, "aggregation", s->agg->name);
            buf_addc(out, '\n');
            put_list(out, depth + 2, s->args, s->agg->nkeys);
            put_node(out, depth + 2, s->expr->kid[1]);
        } else if (s->expr != NULL) {
            put_node(out, depth + 1, s->expr);
        }
    }
}

void lang_tree(const struct lang *l, struct buf *out)
{
    for (const struct lang_clause *c = lang_clauses(l); c != NULL; c = c->next) {
        for (const struct lang_desc *d = c->descs; d != NULL; d = d->next) {
            if (d->id != 0)
                buf_printf(out, "clause %" PRIu32 "\n", d->id);
            else
                buf_printf(out, "clause %s:%s:%s:%s\n", d->prov, d->mod, d->func, d->name);
        }
        if (c->pred != NULL) {
            line(out, 1, "predicate\n", NULL);
            put_node(out, 2, c->pred);
        }
        put_statements(out, 1, c->stmts);
    }
}
