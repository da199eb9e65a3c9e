/* check_name.c - names and what is done to them: variables, elements of associative arrays,
 * built-ins, inlines; assignment, which is what creates variables (reference 2.4, 5). */
#include "lang/check.h"

#include <string.h>

static bool is_value_name(const struct ident *id)
{
    return id->kind != ID_FN && id->kind != ID_NOTYET;
}

/* A name that nothing was ever assigned to. */
static const struct type *undefined(struct lang *l, struct node *n)
{
    const struct names *t = names_of_scope(l, n->scope);
    const char *hint = names_suggest(l, t, n->name, is_value_name);
    if (n->scope != SCOPE_GLOBAL) {
        lang_err(l, &n->pos, "D_VAR_UNDEF", hint, "%s%s has not yet been declared or assigned",
                 scope_prefix(n->scope), n->name);
    } else {
        if (!hint && names_find(&l->threads, n->name))
            hint = lang_printf(l, "did you mean 'self->%s'?", n->name);
        else if (!hint && names_find(&l->locals, n->name))
            hint = lang_printf(l, "did you mean 'this->%s'?", n->name);
        if (strchr(n->name, '`'))
            lang_err(l, &n->pos, "D_UNKNOWN", NULL, "kernel symbols (%s) are not built yet",
                     n->name);
        else
            lang_err(l, &n->pos, "D_IDENT_UNDEF", hint,
                     "failed to resolve %s: Unknown variable name", n->name);
    }
    return check_bad(n);
}

static const struct type *not_yet(struct lang *l, struct node *n, const char *name)
{
    lang_err(l, &n->pos, "D_UNKNOWN",
             strcmp(name, "args") == 0 ? "arg0 to arg9 are the untyped arguments" : NULL,
             "'%s' is not built yet", name);
    return check_bad(n);
}

static const struct type *badref(struct lang *l, struct node *n, const char *name)
{
    lang_err(l, &n->pos, "D_IDENT_BADREF", lang_printf(l, "it is called: %s(...)", name),
             "'%s' is a function and cannot be used as a variable", name);
    return check_bad(n);
}

/* The argument at this place, cast to the parameter's type. */
static struct node *argument(struct lang *l, const struct lang_param *p, const struct node *arg)
{
    struct node *a = node_clone(l, arg);
    if (!type_is_int(p->type))
        return a;
    struct node *cast = node_new(l, N_CAST, &arg->pos);
    cast->cast = p->type;
    cast->kid[0] = a;
    cast->height = (uint16_t)(a->height + 1);
    return cast;
}

static void substitute(struct lang *l, struct node *n, const struct lang_inline *in,
                       const struct node *args)
{
    if (n->kind == N_IDENT && n->scope == SCOPE_GLOBAL) {
        const struct node *a = args;
        for (unsigned i = 0; i < in->nparams; i++, a = a->next) {
            if (strcmp(n->name, in->param[i].name) == 0) {
                check_replace(n, argument(l, &in->param[i], a));
                return;
            }
        }
    }
    for (size_t i = 0; i < 3; i++) {
        if (n->kid[i])
            substitute(l, n->kid[i], in, args);
    }
    for (struct node *a = n->args; a; a = a->next)
        substitute(l, a, in, args);
}

struct node *check_instance(struct lang *l, const struct lang_inline *in, const struct node *args)
{
    struct node *c = node_clone(l, in->expr);
    if (in->nparams > 0)
        substitute(l, c, in, args);
    return c;
}

/* Whether NAME[args] fits the parameters. */
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
        const struct type *t = check_expr(l, probe), *want = in->param[i].type;
        if (type_is_error(t)) {
            ok = false;
        } else if (t->kind != want->kind && !(type_is_string(want) && check_is_null(probe))) {
            lang_err(l, &a->pos, "D_PROTO_ARG",
                     type_is_string(want) ? check_string_hint(l, probe) : NULL,
                     "%s[ ] argument #%u is incompatible with prototype: %s expected, %s passed",
                     name, i + 1, want->name, t->name);
            ok = false;
        }
    }
    return ok;
}

/* Expands an inline in place: n is its name, or the name with arguments in [ ]. */
static void expand(struct lang *l, struct node *n, const struct lang_inline *in, bool as_lvalue)
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
    struct node *c = check_instance(l, in, n->args);
    if (as_lvalue) {
        check_replace(n, c);
        return;
    }
    const struct diag_pos pos = n->pos;
    struct node cast = {.kind = N_CAST, .pos = pos, .cast = in->type, .height = n->height};
    cast.kid[0] = c;
    check_replace(n, &cast);
}

const struct type *check_ident(struct lang *l, struct node *n)
{
    const struct ident *id = names_find(names_of_scope(l, n->scope), n->name);
    if (!id)
        return undefined(l, n);
    lang_uses(l, &n->pos, id->name, id->attr);
    switch (id->kind) {
    case ID_VAR:
        if (type_is_error(id->var->type))
            return check_bad(n);
        if (id->var->assoc) {
            lang_err(l, &n->pos, "D_IDENT_BADREF", "it needs its keys in [ ]",
                     "%s%s is an associative array and cannot be used as a scalar",
                     scope_prefix(n->scope), n->name);
            return check_bad(n);
        }
        n->kind = N_VAR;
        n->var = id->var;
        return n->type = id->var->type;
    case ID_BUILTIN: n->kind = N_BUILTIN; return n->type = id->type;
    case ID_ARG:
        n->kind = N_ARG;
        n->num = id->num;
        return n->type = id->type;
    case ID_INT: node_set_int(n, id->num, id->type); return n->type;
    case ID_NOTYET: return not_yet(l, n, n->name);
    case ID_EXTERN:
        lang_err(l, &n->pos, "D_ASRELO", NULL,
                 "relocation against undefined symbol %s: it is only declared", n->name);
        return check_bad(n);
    case ID_FN: return badref(l, n, n->name);
    case ID_INLINE: expand(l, n, id->inlined, false); return check_expr(l, n);
    }
    return check_bad(n);
}

static bool is_key_type(const struct type *t)
{
    return t->kind == TYPE_INT || t->kind == TYPE_STRING || t->kind == TYPE_PTR || type_is_sou(t);
}

bool check_first_keys(struct lang *l, const struct type **key, uint8_t *nkeys, struct node *args,
                      const struct diag_pos *pos)
{
    unsigned n = check_count(args);
    bool ok = true;
    if (n > LANG_KEYS_MAX) {
        lang_err(l, pos, "D_UNKNOWN", lang_printf(l, "there may be %d keys", LANG_KEYS_MAX),
                 "Insufficient tuple registers to generate code");
        ok = false;
        n = LANG_KEYS_MAX;
    }
    *nkeys = (uint8_t)n;
    n = 0;
    for (struct node *a = args; a; a = a->next, n++) {
        check_expr(l, a);
        if (a->type->kind == TYPE_ARRAY)
            check_as_string(l, a);
        const struct type *t = a->type;
        if (!is_key_type(t) && !type_is_error(t)) {
            lang_err(l, &a->pos, "D_KEY_TYPE", NULL, "a key cannot be of type %s", t->name);
            t = &type_c[T_ERROR];
        }
        ok = ok && !type_is_error(t);
        if (n < LANG_KEYS_MAX)
            key[n] = t;
    }
    return ok;
}

bool check_keys(struct lang *l, const char *what, const struct type *const *key, unsigned nkeys,
                struct node *args, const struct diag_pos *pos)
{
    unsigned n = check_count(args), i = 0;
    bool ok = true;
    for (struct node *a = args; a; a = a->next)
        check_expr(l, a);
    if (n != nkeys) {
        lang_err(l, pos, "D_PROTO_LEN", NULL, "%s prototype mismatch: %u key%s passed, %u expected",
                 what, n, n == 1 ? "" : "s", nkeys);
        return false;
    }
    for (struct node *a = args; a; a = a->next, i++) {
        if (type_is_error(a->type) || type_is_error(key[i])) {
            ok = false;
        } else if (!is_key_type(a->type) && a->type->kind != TYPE_ARRAY) {
            lang_err(l, &a->pos, "D_KEY_TYPE", NULL, "a key cannot be of type %s", a->type->name);
            ok = false;
        } else if (!check_compatible(key[i], a) || (type_is_string(key[i]) && check_is_null(a))) {
            lang_err(l, &a->pos, "D_PROTO_ARG",
                     type_is_string(key[i]) ? check_string_hint(l, a) : NULL,
                     "%s key #%u is incompatible with prototype: %s expected, %s passed", what,
                     i + 1, key[i]->name, a->type->name);
            ok = false;
        } else if (type_is_string(key[i])) {
            check_as_string(l, a);
        }
    }
    return ok;
}

/* An element of an associative array that exists. */
static const struct type *check_element(struct lang *l, struct node *n, struct lang_var *v)
{
    const char *what = lang_printf(l, "%s%s[ ]", scope_prefix(v->scope), v->name);
    bool ok = check_keys(l, what, v->key, v->nkeys, n->args, &n->pos);
    if (!ok || type_is_error(v->type))
        return check_bad(n);
    n->kind = N_VAR;
    n->kid[0] = NULL;
    n->var = v;
    return n->type = v->type;
}

const struct type *check_index(struct lang *l, struct node *n)
{
    struct node *base = n->kid[0];
    if (base->kind == N_IDENT) {
        const struct ident *id = names_find(names_of_scope(l, base->scope), base->name);
        bool whole = id && (id->kind == ID_VAR ? id->var->assoc
                                               : id->kind == ID_INLINE && id->inlined->nparams > 0);
        if (whole) /* the name is not looked at again */
            lang_uses(l, &base->pos, id->name, id->attr);
        if (id && id->kind == ID_VAR && id->var->assoc)
            return check_element(l, n, id->var);
        if (id && id->kind == ID_INLINE && id->inlined->nparams > 0) {
            expand(l, n, id->inlined, false);
            return check_expr(l, n);
        }
        if (!id && base->scope == SCOPE_CLAUSE) {
            lang_err(l, &n->pos, "D_ARR_LOCAL", "clause-local variables are scalars",
                     "this->%s cannot be used as an associative array", base->name);
            return check_bad(n);
        }
    }
    const struct type *t = check_expr(l, base);
    for (struct node *a = n->args; a; a = a->next)
        check_expr(l, a);
    if (type_is_error(t))
        return check_bad(n);
    const char *name = base->name ? base->name : "the expression";
    if (n->args->next)
        lang_err(l, &n->pos, "D_ARR_BADREF", NULL, "cannot access %s as an associative array",
                 name);
    else if (type_is_error(n->args->type))
        return check_bad(n);
    else if (type_is_string(t) || type_refers(t))
        return check_element_of(l, n);
    else
        lang_err(l, &n->pos, "D_DEREF_NONPTR", NULL, "cannot index %s: it is of type %s", name,
                 t->name);
    return check_bad(n);
}

/* -- assignments ------------------------------------------------------------------------------- */

static const char *eq_hint(const struct lang *l, enum op op)
{
    return l->in_predicate && op == OP_NONE ? "did you mean '=='?" : NULL;
}

static const struct type *not_lvalue(struct lang *l, struct node *n, const struct diag_pos *pos,
                                     const char *optext, enum op op)
{
    lang_err(l, pos, "D_OP_LVAL", eq_hint(l, op),
             "operator %s requires modifiable lvalue as an operand", optext);
    return check_bad(n);
}

/* The target is an expression: memory that can be stored to. */
static const struct type *check_place(struct lang *l, struct node *n, const struct diag_pos *pos,
                                      const char *optext, enum op op)
{
    const struct type *t = check_expr(l, n);
    if (type_is_error(t) || n->kind == N_VAR)
        return t;
    if (!check_is_place(n))
        return not_lvalue(l, n, pos, optext, op);
    if (check_is_writable(n))
        return t;
    lang_err(l, pos, "D_OP_WRITE", "variables, their members, and memory from alloca() can be",
             "operator %s can only be applied to a writable lvalue: this memory is read only",
             optext);
    return check_bad(n);
}

/* Makes n, the target of an operator, an N_VAR or memory that can be written. `create` is the type
 * for a name that is new, NULL when the operator creates nothing (then it is undefined). */
static const struct type *check_lvalue(struct lang *l, struct node *n, const struct type *create,
                                       const struct diag_pos *pos, const char *optext, enum op op)
{
    struct node *base = n->kind == N_INDEX ? n->kid[0] : n;
    if (base->kind == N_AGG) {
        lang_err(l, pos, "D_AGG_FUNC", lang_printf(l, "@%s = count() counts", base->name),
                 "@%s must be assigned the result of an aggregating function", base->name);
        return check_bad(n);
    }
    if (base->kind != N_IDENT) {
        return check_place(l, n, pos, optext, op);
    }
    struct names *t = names_of_scope(l, base->scope);
    const struct ident *id = names_find(t, base->name);
    if (id && (id->kind == ID_INLINE || n->kind == N_INDEX)) /* others: below, in check_expr */
        lang_uses(l, &base->pos, id->name, id->attr);
    if (id && id->kind == ID_INLINE) {
        struct node *whole = id->inlined->nparams > 0 && n->kind == N_INDEX ? n : base;
        expand(l, whole, id->inlined, true);
        if (whole->kind == N_ERROR)
            return check_bad(n);
        return check_lvalue(l, n, create, pos, optext, op);
    }
    if (id && id->kind == ID_NOTYET)
        return not_yet(l, n, base->name);
    if (id && id->kind == ID_FN)
        return badref(l, n, base->name);
    if (id && (id->kind == ID_BUILTIN || id->kind == ID_ARG)) {
        lang_err(l, pos, "D_OP_WRITE", eq_hint(l, op),
                 "operator %s can only be applied to a writable variable: %s is built in", optext,
                 base->name);
        return check_bad(n);
    }
    if (id && id->kind == ID_INT)
        return not_lvalue(l, n, pos, optext, op);
    if (id) {
        if (n->kind == N_INDEX && id->var->assoc)
            return check_element(l, n, id->var);
        if (n->kind != N_INDEX && id->var->assoc && type_is_error(id->var->type))
            return check_bad(n);
        if (n->kind != N_INDEX && id->var->assoc) {
            lang_err(l, &base->pos, "D_OP_ARRFUN", "it needs its keys in [ ]",
                     "%s%s is an associative array and cannot be assigned as a whole",
                     scope_prefix(base->scope), base->name);
            return check_bad(n);
        }
        return check_place(l, n, pos, optext, op);
    }
    if (n->kind == N_INDEX && base->scope == SCOPE_CLAUSE)
        return check_index(l, n);
    if (!create) {
        lang_err(
            l, &base->pos, "D_VAR_UNDEF",
            op == OP_NONE ? NULL
                          : lang_printf(l, "declare it, or assign to it first: %s = 0", base->name),
            "%s%s has not yet been declared or assigned", scope_prefix(base->scope), base->name);
        var_new(l, base->name, base->scope, &type_c[T_ERROR])->assoc = n->kind == N_INDEX;
        return check_bad(n);
    }
    if (strchr(base->name, '`')) {
        lang_err(l, &base->pos, "D_UNKNOWN", NULL, "kernel symbols (%s) are not built yet",
                 base->name);
        return check_bad(n);
    }
    /* Keys are looked at before the name exists: a[a[1]] = 1 is an error. */
    const struct type *key[LANG_KEYS_MAX];
    uint8_t nkeys = 0;
    bool ok = n->kind != N_INDEX || check_first_keys(l, key, &nkeys, n->args, &n->pos);
    if ((id = names_find(t, base->name)) != NULL) /* a key's expression created it */
        return check_lvalue(l, n, create, pos, optext, op);
    struct lang_var *v = var_new(l, base->name, base->scope, create);
    v->assoc = n->kind == N_INDEX;
    v->nkeys = nkeys;
    memcpy(v->key, key, nkeys * sizeof key[0]);
    if (!ok || type_is_error(create))
        return check_bad(n);
    n->kind = N_VAR;
    n->kid[0] = NULL;
    n->var = v;
    return n->type = v->type;
}

bool check_assignable(struct lang *l, const struct type *left, const struct node *right,
                      const struct diag_pos *pos, const char *optext)
{
    if (type_is_error(left) || type_is_error(right->type))
        return true;
    if (check_compatible(left, right))
        return true;
    lang_err(l, pos, "D_OP_INCOMPAT", type_is_string(left) ? check_string_hint(l, right) : NULL,
             "operands have incompatible types: \"%s\" %s \"%s\"", left->name, optext,
             right->type->name);
    return false;
}

/* A pointer variable holds addresses from alloca() or others, and never both. */
static bool check_origin(struct lang *l, struct node *n)
{
    struct lang_var *v = n->kid[0]->var;
    uint8_t origin = check_is_alloca(n->kid[1]) ? ALLOCA_YES : ALLOCA_NO;
    const struct node *k = n->kid[1];
    while (k->kind == N_CAST)
        k = k->kid[0];
    if (check_is_null(k))
        return true;
    if (v->alloca != ALLOCA_UNKNOWN && v->alloca != origin) {
        lang_err(l, &n->pos, "D_ALLOCA_INCOMPAT", "use another variable",
                 "%s%s: alloca( ) and other pointers cannot be assigned to one variable",
                 scope_prefix(v->scope), v->name);
        return false;
    }
    v->alloca = origin;
    return true;
}

const struct type *check_assign(struct lang *l, struct node *n)
{
    struct node *left = n->kid[0], *right = n->kid[1];
    enum op op = n->op;
    const char *text = op == OP_NONE ? "=" : lang_printf(l, "%s=", op_text[op]);
    const struct type *rt = check_expr(l, right);
    if (rt->kind == TYPE_VOID) {
        lang_err(l, &n->pos, "D_DECL_VOIDOBJ", NULL, "a value of type void cannot be assigned");
        rt = &type_c[T_ERROR];
    }
    const struct type *create = type_is_chars(rt) && rt->kind == TYPE_ARRAY ? &type_c[T_STRING]
                                : rt->kind == TYPE_ARRAY                    ? &type_c[T_ERROR]
                                                                            : rt;
    const struct type *lt = check_lvalue(l, left, op == OP_NONE ? create : NULL, &n->pos, text, op);
    bool deletes = op == OP_NONE && check_is_null(right) && left->kind == N_VAR &&
                   (left->var->assoc || left->var->scope == SCOPE_THREAD);
    if (lt->kind == TYPE_ARRAY && !deletes) {
        lang_err(l, &n->pos, "D_OP_ARRFUN",
                 type_is_chars(lt) ? "bcopy() copies bytes; a string variable holds a string"
                                   : NULL,
                 "operator %s may not be applied to an array: it is of type %s", text, lt->name);
        return check_bad(n);
    }
    if (op == OP_NONE && rt->kind == TYPE_ARRAY && type_is_error(create) && type_is_error(lt))
        lang_err(l, &n->pos, "D_OP_ARRFUN", NULL,
                 "operator %s may not be applied to an array: it is of type %s", text, rt->name);
    if (check_any_error(left, right) || type_is_error(rt))
        return check_bad(n);
    if (op == OP_NONE) {
        if (!deletes && !check_assignable(l, lt, right, &n->pos, text))
            return check_bad(n);
        if (type_is_string(lt))
            check_as_string(l, right);
        if (left->kind == N_VAR && lt->kind == TYPE_PTR && !check_origin(l, n))
            return check_bad(n);
        return n->type = lt;
    }
    if (lt->kind == TYPE_PTR && type_is_int(rt) && (op == OP_ADD || op == OP_SUB))
        return check_steps(l, n, lt) ? n->type = lt : check_bad(n);
    if (!type_is_int(lt) || !type_is_int(rt))
        return check_incompatible(
            l, n, type_is_string(lt) && op == OP_ADD ? "strjoin() joins strings" : NULL);
    if ((op == OP_DIV || op == OP_MOD) && right->kind == N_INT && right->num == 0) {
        lang_err(l, &n->pos, "D_DIV_ZERO", NULL, "expression contains division by zero");
        return check_bad(n);
    }
    return n->type = lt;
}

const struct type *check_incdec(struct lang *l, struct node *n)
{
    const char *text = n->op == OP_ADD ? "++" : "--";
    const struct type *t =
        check_lvalue(l, n->kid[0], type_typedef("int64_t", 7), &n->pos, text, n->op);
    if (type_is_error(t))
        return check_bad(n);
    if (t->kind == TYPE_PTR)
        return check_steps(l, n, t) ? n->type = t : check_bad(n);
    if (!type_is_int(t)) {
        lang_err(l, &n->pos, "D_OP_SCALAR", NULL, "operator %s requires an operand of scalar type",
                 text);
        return check_bad(n);
    }
    return n->type = t;
}
