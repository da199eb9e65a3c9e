/* check_inline.c - uses of inlines (language.md 2.5): each is a copy of the expression with the
 * arguments in place of the parameters. */
#include "lang/check.h"

#include <string.h>

/* Returns the argument for a parameter, cast to the parameter's type. */
static struct node *argument(struct lang *l, const struct lang_param *p, const struct node *arg)
{
    struct node *a = node_clone(l, arg);
    bool other = p->type->kind == TYPE_PTR && a->type && !type_same(p->type, a->type);
    if (!type_is_int(p->type) && !other)
        return a;
    struct node *cast = node_new(l, N_CAST, &arg->pos);
    cast->cast = p->type;
    cast->kid[0] = a;
    cast->height = (uint16_t)(a->height + 1);
    return cast;
}

static void substitute(struct lang *l, struct node *n, const struct lang_param *param,
                       unsigned nparams, const struct node *args)
{
    if (n->kind == N_IDENT && n->scope == SCOPE_GLOBAL) {
        const struct node *a = args;
        for (unsigned i = 0; i < nparams; i++, a = a->next) {
            if (strcmp(n->name, param[i].name) == 0) {
                check_replace(n, argument(l, &param[i], a));
                return;
            }
        }
    }
    for (size_t i = 0; i < 3; i++) {
        if (n->kid[i])
            substitute(l, n->kid[i], param, nparams, args);
    }
    for (struct node *a = n->args; a; a = a->next)
        substitute(l, a, param, nparams, args);
}

/* Moves all positions of the copy to the place of use. */
static void put_at(struct node *n, const struct diag_pos *at)
{
    n->pos = *at;
    for (size_t i = 0; i < 3; i++) {
        if (n->kid[i])
            put_at(n->kid[i], at);
    }
    for (struct node *a = n->args; a; a = a->next)
        put_at(a, at);
}

struct node *check_instance(struct lang *l, const struct node *expr, const struct diag_pos *at,
                            const struct lang_param *param, unsigned nparams,
                            const struct node *args)
{
    struct node *c = node_clone(l, expr);
    if (at)
        put_at(c, at);
    if (nparams > 0)
        substitute(l, c, param, nparams, args);
    return c;
}

/* Returns whether NAME[args] fits the parameters. */
static bool check_inline_args(struct lang *l, const struct node *n, const char *name,
                              const struct lang_inline *in)
{
    unsigned count = check_count(n->args), i = 0;
    bool ok = true;
    if (count != in->nparams) {
        lang_err(l, &n->pos, "D_PROTO_LEN", NULL,
                 "%s[ ] prototype mismatch: %u arg%s passed, %u expected", name, count,
                 count == 1 ? "" : "s", in->nparams);
        return false;
    }
    for (const struct node *a = n->args; a; a = a->next, i++) {
        struct node *probe = node_clone(l, a);
        probe->by_member = true; /* the inline's expression is checked again with the argument */
        const struct type *t = check_expr(l, probe), *want = in->param[i].type;
        if (type_is_error(t)) {
            ok = false;
        } else if (!check_compatible(want, probe) ||
                   (t->kind != want->kind && type_is_string(want) && !check_is_null(probe))) {
            lang_err(l, &a->pos, "D_PROTO_ARG",
                     type_is_string(want) ? check_string_hint(l, probe) : NULL,
                     "%s[ ] argument #%u is incompatible with prototype: %s expected, %s passed",
                     name, i + 1, want->name, t->name);
            ok = false;
        }
    }
    return ok;
}

void check_expand(struct lang *l, struct node *n, const struct lang_inline *in, bool as_lvalue)
{
    const char *name = in->nparams > 0 && n->kind == N_INDEX ? n->kid[0]->name : n->name;
    if (in->nparams > 0 && n->kind != N_INDEX) {
        lang_err(l, &n->pos, "D_IDENT_BADREF", "it needs its parameters in [ ]",
                 "%s is an inline with parameters and cannot be used as a scalar", name);
        node_set_error(n);
        return;
    }
    if (in->nparams > 0 && !check_inline_args(l, n, name, in)) {
        node_set_error(n);
        return;
    }
    struct node *c =
        check_instance(l, in->expr, in->library ? &n->pos : NULL, in->param, in->nparams, n->args);
    if (as_lvalue) {
        check_replace(n, c);
        return;
    }
    const struct diag_pos pos = n->pos;
    struct node cast = {.kind = N_CAST, .pos = pos, .cast = in->type, .height = n->height};
    cast.kid[0] = c;
    check_replace(n, &cast);
}

const struct type *check_inlined(struct lang *l, struct node *n, const struct ident *id)
{
    check_expand(l, n, id->inlined, false);
    l->sealed += id->attr_given;
    check_expr(l, n);
    l->sealed -= id->attr_given;
    return n->type;
}
