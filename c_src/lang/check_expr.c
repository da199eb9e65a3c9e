/* check_expr.c - what expressions mean: names, types, constants (reference 3, 4, 5).
 *
 * check_expr completes a node in place. An expression that was complained about becomes N_ERROR of
 * type TYPE_ERROR, which every operator takes without a further word, so that each mistake is
 * reported once. */
#include "lang/prog.h"

#include <string.h>

static const struct type *const INT = &type_c[T_INT];

static const struct type *bad(struct node *n)
{
    node_set_error(n);
    return n->type;
}

/* Puts m in the place of n: n keeps its neighbour in a list. */
static void replace(struct node *n, const struct node *m)
{
    struct node *next = n->next;
    *n = *m;
    n->next = next;
}

static bool is_const(const struct node *n)
{
    return n->kind == N_INT;
}

static bool is_null(const struct node *n)
{
    return n->kind == N_INT && n->num == 0 && !n->is_char;
}

static bool any_error(const struct node *a, const struct node *b)
{
    return type_is_error(a->type) || type_is_error(b->type);
}

const char *check_string_hint(struct lang *l, const struct node *n)
{
    if (!type_is_int(n->type))
        return NULL;
    if (n->is_char)
        return "strings are written with double quotes";
    if (n->kind == N_ARG)
        return lang_printf(l, "copyinstr(arg%u) gives the string that it points to",
                           (unsigned)n->num);
    return is_const(n) ? NULL : "copyinstr(x) gives the string at the address x";
}

static const struct type *incompatible(struct lang *l, struct node *n, const char *hint)
{
    const struct node *a = n->kid[0], *b = n->kid[1];
    const char *text = op_text[n->op];
    if (n->kind == N_ASSIGN && n->op != OP_NONE)
        text = lang_printf(l, "%s=", text);
    if (!hint)
        hint = type_is_string(a->type)   ? check_string_hint(l, b)
               : type_is_string(b->type) ? check_string_hint(l, a)
                                         : NULL;
    lang_err(l, &n->pos, "D_OP_INCOMPAT", hint,
             "operands have incompatible types: \"%s\" %s \"%s\"", a->type->name, text,
             b->type->name);
    return bad(n);
}

/* -- names
 * ------------------------------------------------------------------------------------------ */

static bool is_value_name(const struct ident *id)
{
    return id->kind != ID_FN && id->kind != ID_NOTYET;
}

static bool is_function_name(const struct ident *id)
{
    return id->kind == ID_FN && id->fn->kind != FN_ACTION_LATER && id->fn->kind != FN_SUBR_LATER;
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
    return bad(n);
}

static const struct type *not_yet(struct lang *l, struct node *n, const char *name)
{
    lang_err(l, &n->pos, "D_UNKNOWN",
             strcmp(name, "args") == 0 ? "arg0 to arg9 are the untyped arguments" : NULL,
             "'%s' is not built yet", name);
    return bad(n);
}

static const struct type *badref(struct lang *l, struct node *n, const char *name)
{
    lang_err(l, &n->pos, "D_IDENT_BADREF", lang_printf(l, "it is called: %s(...)", name),
             "'%s' is a function and cannot be used as a variable", name);
    return bad(n);
}

/* Expands an inline in place. */
static void expand(struct lang *l, struct node *n, const struct lang_inline *in, bool as_lvalue)
{
    struct node *c = node_clone(l, in->expr);
    if (as_lvalue) {
        replace(n, c);
        return;
    }
    const struct diag_pos pos = n->pos;
    struct node cast = {.kind = N_CAST, .pos = pos, .cast = in->type, .height = n->height};
    cast.kid[0] = c;
    replace(n, &cast);
}

static const struct type *check_ident(struct lang *l, struct node *n)
{
    const struct ident *id = names_find(names_of_scope(l, n->scope), n->name);
    if (!id)
        return undefined(l, n);
    switch (id->kind) {
    case ID_VAR:
        if (type_is_error(id->var->type))
            return bad(n);
        if (id->var->assoc) {
            lang_err(l, &n->pos, "D_IDENT_BADREF", "it needs its keys in [ ]",
                     "%s%s is an associative array and cannot be used as a scalar",
                     scope_prefix(n->scope), n->name);
            return bad(n);
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
    case ID_FN: return badref(l, n, n->name);
    case ID_INLINE: expand(l, n, id->inlined, false); return check_expr(l, n);
    }
    return bad(n);
}

static unsigned count_args(const struct node *args)
{
    unsigned n = 0;
    for (; args; args = args->next)
        n++;
    return n;
}

static bool is_key_type(const struct type *t)
{
    return t->kind == TYPE_INT || t->kind == TYPE_STRING;
}

bool check_first_keys(struct lang *l, const struct type **key, uint8_t *nkeys, struct node *args,
                      const struct diag_pos *pos)
{
    unsigned n = count_args(args);
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
        const struct type *t = check_expr(l, a);
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
    unsigned n = count_args(args), i = 0;
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
        } else if (!is_key_type(a->type)) {
            lang_err(l, &a->pos, "D_KEY_TYPE", NULL, "a key cannot be of type %s", a->type->name);
            ok = false;
        } else if (a->type->kind != key[i]->kind) {
            lang_err(l, &a->pos, "D_PROTO_ARG",
                     type_is_string(key[i]) ? check_string_hint(l, a) : NULL,
                     "%s key #%u is incompatible with prototype: %s expected, %s passed", what,
                     i + 1, key[i]->name, a->type->name);
            ok = false;
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
        return bad(n);
    n->kind = N_VAR;
    n->var = v;
    return n->type = v->type;
}

static const struct type *check_index(struct lang *l, struct node *n)
{
    struct node *base = n->kid[0];
    if (base->kind == N_IDENT) {
        const struct ident *id = names_find(names_of_scope(l, base->scope), base->name);
        if (id && id->kind == ID_VAR && id->var->assoc)
            return check_element(l, n, id->var);
        if (!id && base->scope == SCOPE_CLAUSE) {
            lang_err(l, &n->pos, "D_ARR_LOCAL", "clause-local variables are scalars",
                     "this->%s cannot be used as an associative array", base->name);
            return bad(n);
        }
    }
    const struct type *t = check_expr(l, base);
    for (struct node *a = n->args; a; a = a->next)
        check_expr(l, a);
    if (type_is_error(t))
        return bad(n);
    const char *name = base->name ? base->name : "the expression";
    if (n->args->next)
        lang_err(l, &n->pos, "D_ARR_BADREF", NULL, "cannot access %s as an associative array",
                 name);
    else if (type_is_string(t))
        lang_err(l, &n->pos, "D_UNKNOWN", NULL, "indexing a string is not built yet");
    else
        lang_err(l, &n->pos, "D_DEREF_NONPTR", NULL, "cannot index %s: it is of type %s", name,
                 t->name);
    return bad(n);
}

/* -- assignments
 * ------------------------------------------------------------------------------------ */

static const char *eq_hint(const struct lang *l, enum op op)
{
    return l->in_predicate && op == OP_NONE ? "did you mean '=='?" : NULL;
}

static const struct type *not_lvalue(struct lang *l, struct node *n, const struct diag_pos *pos,
                                     const char *optext, enum op op)
{
    lang_err(l, pos, "D_OP_LVAL", eq_hint(l, op),
             "operator %s requires modifiable lvalue as an operand", optext);
    return bad(n);
}

/* Makes n, the target of an operator, an N_VAR. `create` is the type for a name that is new, NULL
 * when the operator creates nothing (then it is undefined). */
static const struct type *check_lvalue(struct lang *l, struct node *n, const struct type *create,
                                       const struct diag_pos *pos, const char *optext, enum op op)
{
    struct node *base = n->kind == N_INDEX ? n->kid[0] : n;
    if (base->kind == N_AGG) {
        lang_err(l, pos, "D_AGG_FUNC", lang_printf(l, "@%s = count() counts", base->name),
                 "@%s must be assigned the result of an aggregating function", base->name);
        return bad(n);
    }
    if (base->kind != N_IDENT) {
        check_expr(l, n);
        return type_is_error(n->type) ? n->type : not_lvalue(l, n, pos, optext, op);
    }
    struct names *t = names_of_scope(l, base->scope);
    const struct ident *id = names_find(t, base->name);
    if (id && id->kind == ID_INLINE) {
        expand(l, base, id->inlined, true);
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
        return bad(n);
    }
    if (id && id->kind == ID_INT)
        return not_lvalue(l, n, pos, optext, op);
    if (id) {
        if (n->kind == N_INDEX && id->var->assoc)
            return check_element(l, n, id->var);
        if (n->kind != N_INDEX && id->var->assoc && type_is_error(id->var->type))
            return bad(n);
        if (n->kind != N_INDEX && id->var->assoc) {
            lang_err(l, &base->pos, "D_OP_ARRFUN", "it needs its keys in [ ]",
                     "%s%s is an associative array and cannot be assigned as a whole",
                     scope_prefix(base->scope), base->name);
            return bad(n);
        }
        return check_expr(l, n);
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
        return bad(n);
    }
    if (strchr(base->name, '`')) {
        lang_err(l, &base->pos, "D_UNKNOWN", NULL, "kernel symbols (%s) are not built yet",
                 base->name);
        return bad(n);
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
        return bad(n);
    n->kind = N_VAR;
    n->var = v;
    return n->type = v->type;
}

bool check_assignable(struct lang *l, const struct type *left, const struct node *right,
                      const struct diag_pos *pos, const char *optext)
{
    if (type_is_error(left) || type_is_error(right->type))
        return true;
    if (left->kind == right->type->kind && left->kind != TYPE_DYN)
        return true;
    if (type_is_string(left) && is_null(right))
        return true;
    lang_err(l, pos, "D_OP_INCOMPAT", type_is_string(left) ? check_string_hint(l, right) : NULL,
             "operands have incompatible types: \"%s\" %s \"%s\"", left->name, optext,
             right->type->name);
    return false;
}

static const struct type *check_assign(struct lang *l, struct node *n)
{
    struct node *left = n->kid[0], *right = n->kid[1];
    enum op op = n->op;
    const char *text = op == OP_NONE ? "=" : lang_printf(l, "%s=", op_text[op]);
    const struct type *rt = check_expr(l, right);
    if (rt->kind == TYPE_VOID) {
        lang_err(l, &n->pos, "D_DECL_VOIDOBJ", NULL, "a value of type void cannot be assigned");
        rt = &type_c[T_ERROR];
    }
    const struct type *lt = check_lvalue(l, left, op == OP_NONE ? rt : NULL, &n->pos, text, op);
    if (any_error(left, right) || type_is_error(rt))
        return bad(n);
    if (op == OP_NONE) {
        if (!check_assignable(l, lt, right, &n->pos, text))
            return bad(n);
        return n->type = lt;
    }
    if (!type_is_int(lt) || !type_is_int(rt))
        return incompatible(l, n,
                            type_is_string(lt) && op == OP_ADD ? "strjoin() joins strings" : NULL);
    if ((op == OP_DIV || op == OP_MOD) && is_const(right) && right->num == 0) {
        lang_err(l, &n->pos, "D_DIV_ZERO", NULL, "expression contains division by zero");
        return bad(n);
    }
    return n->type = lt;
}

static const struct type *check_incdec(struct lang *l, struct node *n)
{
    const char *text = n->op == OP_ADD ? "++" : "--";
    const struct type *t =
        check_lvalue(l, n->kid[0], type_typedef("int64_t", 7), &n->pos, text, n->op);
    if (type_is_error(t))
        return bad(n);
    if (!type_is_int(t)) {
        lang_err(l, &n->pos, "D_OP_SCALAR", NULL, "operator %s requires an operand of scalar type",
                 text);
        return bad(n);
    }
    return n->type = t;
}

/* -- operators
 * -------------------------------------------------------------------------------------- */

static uint64_t fold(enum op op, uint64_t a, uint64_t b, bool is_signed)
{
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV:
        if (!is_signed)
            return a / b;
        return sb == -1 ? 0 - a : (uint64_t)(sa / sb);
    case OP_MOD:
        if (!is_signed)
            return a % b;
        return sb == -1 ? 0 : (uint64_t)(sa % sb);
    case OP_SHL: return a << (b & 63);
    case OP_SHR: return a >> (b & 63); /* logical, also for negative constants: reference 3.2 */
    case OP_AND: return a & b;
    case OP_OR: return a | b;
    case OP_XOR: return a ^ b;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_LT: return is_signed ? sa < sb : a < b;
    case OP_LE: return is_signed ? sa <= sb : a <= b;
    case OP_GT: return is_signed ? sa > sb : a > b;
    case OP_GE: return is_signed ? sa >= sb : a >= b;
    case OP_LAND: return a && b;
    case OP_LOR: return a || b;
    case OP_LXOR: return !a != !b;
    default: return 0;
    }
}

static bool is_action(struct lang *l, const struct node *n)
{
    if (n->kind != N_CALL || n->kid[0]->kind != N_IDENT || n->kid[0]->scope != SCOPE_GLOBAL)
        return false;
    const struct ident *id = names_find(&l->globals, n->kid[0]->name);
    return id && id->kind == ID_FN && (id->fn->kind == FN_ACTION || id->fn->kind == FN_AGG);
}

/* Complains about an action where ?: and , want a value. */
static bool refuse_action(struct lang *l, struct node *n, const char *op)
{
    if (!is_action(l, n))
        return false;
    lang_err(l, &n->pos, "D_OP_ACT", "use a predicate",
             "action %s( ) cannot be an operand of the operator %s", n->kid[0]->name, op);
    bad(n);
    return true;
}

static const struct type *check_binary(struct lang *l, struct node *n)
{
    struct node *a = n->kid[0], *b = n->kid[1];
    enum op op = n->op;
    const char *text = op_text[op];
    if (op == OP_COMMA) {
        refuse_action(l, a, text);
        refuse_action(l, b, text);
    }
    const struct type *ta = check_expr(l, a), *tb = check_expr(l, b);
    if (any_error(a, b))
        return bad(n);
    bool ints = type_is_int(ta) && type_is_int(tb);
    const struct type *common = ints ? type_arith(ta, tb) : NULL, *result = common;
    switch (op) {
    case OP_COMMA: return n->type = tb;
    case OP_ADD:
    case OP_SUB:
        if (!ints)
            return incompatible(l, n,
                                op == OP_ADD && (type_is_string(ta) || type_is_string(tb))
                                    ? "strjoin() joins strings"
                                    : NULL);
        break;
    case OP_MUL:
    case OP_DIV:
        if (!ints) {
            lang_err(l, &n->pos, "D_OP_ARITH", NULL,
                     "operator %s requires operands of arithmetic type", text);
            return bad(n);
        }
        break;
    case OP_LAND:
    case OP_LOR:
    case OP_LXOR:
        if (!ints) {
            lang_err(l, &n->pos, "D_OP_SCALAR",
                     type_is_string(ta) || type_is_string(tb) ? "compare the string: s != NULL"
                                                              : NULL,
                     "operator %s requires operands of scalar type", text);
            return bad(n);
        }
        result = INT;
        break;
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        result = INT;
        if (!ints && !(type_is_string(ta) && (type_is_string(tb) || is_null(b))) &&
            !(type_is_string(tb) && is_null(a)))
            return incompatible(l, n, NULL);
        break;
    default:
        if (!ints) {
            lang_err(l, &n->pos, "D_OP_INT", NULL, "operator %s requires operands of integral type",
                     text);
            return bad(n);
        }
        if (op == OP_SHL || op == OP_SHR)
            result = ta;
    }
    if ((op == OP_DIV || op == OP_MOD) && is_const(b) && b->num == 0) {
        lang_err(l, &n->pos, "D_DIV_ZERO", NULL, "expression contains division by zero");
        return bad(n);
    }
    if (ints && is_const(a) && is_const(b)) {
        node_set_int(n, fold(op, a->num, b->num, common->is_signed), result);
        return n->type;
    }
    return n->type = result;
}

static const struct type *check_unary(struct lang *l, struct node *n)
{
    struct node *k = n->kid[0];
    enum op op = n->op;
    const struct type *t = check_expr(l, k);
    const char *tag = NULL, *kind = NULL;
    if (type_is_error(t))
        return bad(n);
    switch (op) {
    case OP_ADDR:
        if (k->kind == N_VAR || k->kind == N_BUILTIN || k->kind == N_ARG)
            lang_err(l, &n->pos, "D_ADDROF_VAR", NULL,
                     "operator & cannot be applied to a variable");
        else
            lang_err(l, &n->pos, "D_ADDROF_LVAL", NULL, "operator & requires an lvalue");
        return bad(n);
    case OP_DEREF:
        lang_err(l, &n->pos, "D_DEREF_NONPTR", check_string_hint(l, k),
                 "cannot dereference non-pointer type %s", t->name);
        return bad(n);
    case OP_STRINGOF:
        if (!type_is_int(t) && !type_is_string(t)) {
            lang_err(l, &n->pos, "D_STRINGOF_TYPE", NULL, "cannot apply stringof to type %s",
                     t->name);
            return bad(n);
        }
        if (type_is_string(t))
            replace(n, k);
        return n->type = &type_c[T_STRING];
    case OP_NOT: tag = "D_OP_SCALAR", kind = "scalar"; break;
    case OP_COMPL: tag = "D_OP_INT", kind = "integral"; break;
    default: tag = "D_OP_ARITH", kind = "arithmetic";
    }
    if (!type_is_int(t)) {
        lang_err(l, &n->pos, tag, NULL, "operator %s requires an operand of %s type", op_text[op],
                 kind);
        return bad(n);
    }
    if (is_const(k)) {
        uint64_t v = op == OP_NEG     ? 0 - k->num
                     : op == OP_NOT   ? !k->num
                     : op == OP_COMPL ? ~k->num
                                      : k->num;
        node_set_int(n, v, op == OP_NOT ? INT : t);
        return n->type;
    }
    if (op == OP_PLUS) {
        replace(n, k);
        return n->type;
    }
    return n->type = op == OP_NOT ? INT : t;
}

static const struct type *check_cond(struct lang *l, struct node *n)
{
    struct node *c = n->kid[0], *a = n->kid[1], *b = n->kid[2];
    const struct type *t = check_expr(l, c);
    if (!type_is_int(t) && !type_is_error(t)) {
        lang_err(l, &c->pos, "D_OP_SCALAR",
                 type_is_string(t) ? "compare the string: s != NULL" : NULL,
                 "operator ?: requires a first operand of scalar type");
        t = bad(c);
    }
    if (is_const(c)) { /* the other branch is never looked at */
        struct node *taken = c->num ? a : b;
        refuse_action(l, taken, "?:");
        check_expr(l, taken);
        replace(n, taken);
        return n->type;
    }
    refuse_action(l, a, "?:");
    refuse_action(l, b, "?:");
    const struct type *ta = check_expr(l, a), *tb = check_expr(l, b);
    if (any_error(a, b) || type_is_error(t))
        return bad(n);
    if (type_is_int(ta) && type_is_int(tb))
        return n->type = type_arith(ta, tb);
    if ((type_is_string(ta) && (type_is_string(tb) || is_null(b))) ||
        (type_is_string(tb) && is_null(a)))
        return n->type = &type_c[T_STRING];
    lang_err(l, &n->pos, "D_OP_INCOMPAT",
             type_is_string(ta) ? check_string_hint(l, b) : check_string_hint(l, a),
             "operator ?: operands must have compatible types: \"%s\" and \"%s\"", ta->name,
             tb->name);
    return bad(n);
}

static const struct type *check_cast(struct lang *l, struct node *n)
{
    struct node *k = n->kid[0];
    const struct type *t = check_expr(l, k), *to = n->cast;
    if (type_is_error(t))
        return bad(n);
    if (to->kind == TYPE_FLOAT) {
        lang_err(l, &n->pos, "D_UNKNOWN", NULL, "type %s is not built yet", to->name);
        return bad(n);
    }
    if (to->kind != TYPE_VOID && to->kind != t->kind && !(type_is_string(to) && type_is_int(t))) {
        lang_err(l, &n->pos, "D_CAST_INVAL", NULL,
                 "invalid cast expression: (%s) of a value of type %s", to->name, t->name);
        return bad(n);
    }
    if (is_const(k) && type_is_int(to)) {
        node_set_int(n, type_truncate(to, k->num), to);
        return n->type;
    }
    if (type_is_string(to) && type_is_string(t)) {
        replace(n, k);
        return n->type;
    }
    return n->type = to;
}

static const struct type *check_sizeof(struct lang *l, struct node *n)
{
    const struct type *t = n->cast ? n->cast : check_expr(l, n->kid[0]);
    uint64_t size = t->size;
    if (type_is_error(t))
        return bad(n);
    if (type_is_string(t))
        size = n->cast || n->kid[0]->kind != N_STR ? l->opt->strsize : n->kid[0]->len + 1;
    if (size == 0) {
        lang_err(l, &n->pos, "D_SIZEOF_TYPE", NULL, "cannot apply sizeof to type %s", t->name);
        return bad(n);
    }
    node_set_int(n, size, type_typedef("size_t", 6));
    return n->type;
}

/* -- calls
 * ------------------------------------------------------------------------------------------ */

/* The function that a call names, with its complaints; NULL after one. */
const struct lang_fn *check_callee(struct lang *l, struct node *n)
{
    const struct node *f = n->kid[0];
    if (f->kind != N_IDENT || f->scope != SCOPE_GLOBAL) {
        lang_err(l, &n->pos, "D_FUNC_IDENT", NULL, "only a function's name can be called");
        return NULL;
    }
    const struct ident *id = names_find(&l->globals, f->name);
    if (!id) {
        lang_err(l, &f->pos, "D_FUNC_UNDEF",
                 names_suggest(l, &l->globals, f->name, is_function_name),
                 "undefined function name: %s", f->name);
        return NULL;
    }
    if (id->kind != ID_FN) {
        lang_err(l, &f->pos, "D_FUNC_IDKIND", NULL, "'%s' is not a function", f->name);
        return NULL;
    }
    if (id->fn->kind == FN_ACTION_LATER || id->fn->kind == FN_SUBR_LATER) {
        lang_err(l, &f->pos, id->fn->kind == FN_SUBR_LATER ? "D_FUNC_UNDEF" : "D_UNKNOWN", NULL,
                 "'%s' is not built yet", f->name);
        return NULL;
    }
    return id->fn;
}

bool check_arg_count(struct lang *l, const struct lang_fn *fn, const struct node *args,
                     const struct diag_pos *pos)
{
    unsigned n = count_args(args);
    if (n >= fn->min && n <= fn->max)
        return true;
    const char *how = fn->min == fn->max ? "" : n < fn->min ? "at least " : "at most ";
    lang_err(l, pos, "D_PROTO_LEN", NULL,
             "%s( ) prototype mismatch: %u arg%s passed, %s%u expected", fn->name, n,
             n == 1 ? "" : "s", how, n < fn->min ? fn->min : fn->max);
    return false;
}

bool check_args(struct lang *l, const struct lang_fn *fn, struct node *args)
{
    const char *want = fn->args;
    unsigned i = 1;
    bool ok = true;
    for (struct node *a = args; a; a = a->next, i++) {
        const struct type *t = check_expr(l, a);
        bool fits = *want == 's' ? type_is_string(t) || is_null(a) : type_is_int(t);
        const char *expected = *want == 's' ? "string" : *want == 'p' ? "address" : "integer";
        if (type_is_error(t)) {
            ok = false;
        } else if (!fits) {
            lang_err(l, &a->pos, "D_PROTO_ARG",
                     *want == 's'                        ? check_string_hint(l, a)
                     : *want == 'p' && type_is_string(t) ? "it is a string already"
                                                         : NULL,
                     "%s( ) argument #%u is incompatible with prototype: %s expected, %s passed",
                     fn->name, i, expected, t->name);
            ok = false;
        }
        want += want[1] != '\0';
    }
    return ok;
}

static const struct type *check_call(struct lang *l, struct node *n)
{
    const struct lang_fn *fn = check_callee(l, n);
    bool ok = fn != NULL;
    if (fn && fn->kind != FN_SUBR) {
        lang_err(l, &n->pos, "D_CG_EXPR",
                 fn->kind == FN_AGG ? lang_printf(l, "@name = %s(...) aggregates", fn->name)
                                    : "it must be a statement of its own",
                 "%s( ) may not be called from a D expression", fn->name);
        return bad(n);
    }
    if (fn) {
        ok = check_arg_count(l, fn, n->args, &n->pos);
        if (!check_args(l, fn, n->args))
            ok = false;
    } else {
        for (struct node *a = n->args; a; a = a->next)
            check_expr(l, a);
    }
    if (!ok)
        return bad(n);
    n->fn = fn;
    n->name = fn->name;
    return n->type = fn->result == T_ULONG ? type_typedef("size_t", 6) : &type_c[fn->result];
}

static const struct type *check_node(struct lang *l, struct node *n)
{
    switch ((enum node_kind)n->kind) {
    case N_STR: return n->type = &type_c[T_STRING];
    case N_IDENT: return check_ident(l, n);
    case N_INDEX:
        if (n->kid[0]->kind != N_AGG)
            return check_index(l, n);
        n->name = n->kid[0]->name;
        /* fall through */
    case N_AGG:
        lang_err(l, &n->pos, "D_IDENT_BADREF", "printa() prints aggregations; they cannot be read",
                 "aggregation @%s may not be used in an expression", n->name);
        return bad(n);
    case N_CALL: return check_call(l, n);
    case N_UNARY: return check_unary(l, n);
    case N_BINARY: return check_binary(l, n);
    case N_COND: return check_cond(l, n);
    case N_ASSIGN: return check_assign(l, n);
    case N_INCDEC: return check_incdec(l, n);
    case N_CAST: return check_cast(l, n);
    case N_SIZEOF: return check_sizeof(l, n);
    case N_MEMBER:
        if (!type_is_error(check_expr(l, n->kid[0])))
            lang_err(l, &n->pos, n->post ? "D_OP_PTR" : "D_OP_SOU", NULL,
                     n->post ? "operator -> must be applied to a pointer to a struct or union"
                             : "operator . must be applied to a struct or union");
        return bad(n);
    default: return n->type;
    }
}

const struct type *check_expr(struct lang *l, struct node *n)
{
    if (n->type)
        return n->type;
    if (++l->depth > LANG_HEIGHT_MAX)
        lang_fail(l, &n->pos, "D_SYNTAX", "use variables for parts of it",
                  "expression is nested too deeply");
    check_node(l, n);
    l->depth--;
    return n->type;
}
