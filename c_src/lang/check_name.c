/* check_name.c - names and what is done with them: variables, elements of associative and built-in
 * arrays, and assignment, which creates variables (language.md 2.4, 5). */
#include "lang/check.h"

#include <string.h>

static bool is_value_name(const struct ident *id)
{
    return id->kind != ID_FN;
}

/* Returns (T *)address, or, of a variable that each CPU has, (T *)(address + what this CPU adds).
 */
static struct node *address_of(struct lang *l, const struct diag_pos *pos,
                               const struct foreign_variable *v, const struct type *pointer)
{
    struct node *at = node_new(l, N_INT, pos), *cast = node_new(l, N_CAST, pos);
    node_set_int(at, v->address, &type_c[T_ULONG]);
    if (v->each_cpu != 0) {
        struct node *each = node_new(l, N_INT, pos), *array = node_new(l, N_CAST, pos);
        struct node *element = node_new(l, N_INDEX, pos), *sum = node_new(l, N_BINARY, pos);
        struct node *cpu = node_new(l, N_IDENT, pos);
        node_set_int(each, v->each_cpu, &type_c[T_ULONG]);
        array->cast = type_pointer(l, &type_c[T_ULONG]);
        array->kid[0] = each;
        cpu->name = "cpu";
        cpu->scope = SCOPE_GLOBAL;
        element->kid[0] = node_done(l, array);
        element->args = cpu;
        sum->op = OP_ADD;
        sum->kid[0] = at;
        sum->kid[1] = node_done(l, element);
        at = node_done(l, sum);
    }
    cast->cast = pointer;
    cast->kid[0] = at;
    return node_done(l, cast);
}

/* module`name, `name and ``name: variables of the kernel, and symbols of a process. What has no
 * known type can only have its address taken, and is a char. */
static const struct type *symbol(struct lang *l, struct node *n, bool addressed)
{
    const struct diag_pos pos = n->pos;
    const char *tick = strchr(n->name, '`'), *why = NULL;
    const struct foreign *f = foreign_of(l);
    struct foreign_variable v = {0};
    if (tick[1] == '`') {
        lang_err(l, &pos, "D_SYM_BADREF", NULL,
                 "symbol %s may not be referenced: no probe here refers to a place in a process",
                 n->name);
        return check_bad(n);
    }
    if (f)
        why = f->variable(f->arg, lang_printf(l, "%.*s", (int)(tick - n->name), n->name), tick + 1,
                          &v);
    if (!f || why) {
        lang_err(l, &pos, "D_SYM_NOTYPES",
                 why               ? why
                 : l->foreign_lack ? l->foreign_lack
                                   : "variables of the kernel are for clauses of its probes",
                 "no symbolic type information is available for %s", n->name);
        return check_bad(n);
    }
    const struct type *t = v.type != 0 ? foreign_type(l, v.type) : &type_c[T_VOID];
    if (type_is_void(t) && !addressed) {
        lang_err(l, &pos, "D_SYM_NOTYPES",
                 lang_printf(l, "a cast says what it is: *(int *)&%s", n->name),
                 "no symbolic type information is available for %s", n->name);
        return check_bad(n);
    }
    struct node *place = node_new(l, N_UNARY, &pos);
    place->op = OP_DEREF;
    place->kid[0] = address_of(l, &pos, &v, type_pointer(l, type_is_void(t) ? &type_c[T_CHAR] : t));
    place->by_member = n->by_member;
    check_replace(n, node_done(l, place));
    return check_expr(l, n);
}

bool check_is_symbol(const struct node *n)
{
    return n->kind == N_IDENT && n->scope == SCOPE_GLOBAL && strchr(n->name, '`') != NULL;
}

const struct type *check_symbol_address(struct lang *l, struct node *n)
{
    return symbol(l, n, true);
}

/* Reports a name that was never assigned. */
static const struct type *undefined(struct lang *l, struct node *n)
{
    int64_t value;
    const struct type *type;
    if (n->scope == SCOPE_GLOBAL && foreign_constant(l, n->name, &value, &type)) {
        node_set_int(n, (uint64_t)value, type);
        return n->type;
    }
    if (check_is_symbol(n))
        return symbol(l, n, false);
    const struct names *t = names_of_scope(l, n->scope);
    const char *hint = names_suggest(l, t, n->name, is_value_name);
    if (lang_was_dropped(l, n->name)) {
        /* it may be defined there */
    } else if (n->scope != SCOPE_GLOBAL) {
        lang_err(l, &n->pos, "D_VAR_UNDEF", hint, "%s%s has not yet been declared or assigned",
                 scope_prefix(n->scope), n->name);
    } else {
        if (!hint && names_find(&l->threads, n->name))
            hint = lang_printf(l, "did you mean 'self->%s'?", n->name);
        else if (!hint && names_find(&l->locals, n->name))
            hint = lang_printf(l, "did you mean 'this->%s'?", n->name);
        lang_err(l, &n->pos, "D_IDENT_UNDEF", hint, "failed to resolve %s: Unknown variable name",
                 n->name);
    }
    /* Marks the name as wrong, so that it is reported once. */
    var_new(l, n->name, n->scope, &type_c[T_ERROR]);
    return check_bad(n);
}

static const struct type *badref(struct lang *l, struct node *n, const char *name)
{
    lang_err(l, &n->pos, "D_IDENT_BADREF", lang_printf(l, "call it: %s(...)", name),
             "'%s' is a function and cannot be used as a variable", name);
    return check_bad(n);
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
    case ID_BUILTIN:
        n->kind = N_BUILTIN;
        l->knows_foreign |= type_refers(id->type) && !l->library && !l->opt->nodes; /* curthread */
        n->num = id->num;
        return n->type = id->type;
    case ID_ARRAY:
        if (type_same(id->type, &type_c[T_TERM])) { /* argv: all of them, as a list */
            n->kind = N_BUILTIN;
            n->num = id->num;
            n->args = node_new(l, N_INT, &n->pos);
            node_set_int(n->args, DIF_WHOLE, &type_c[T_LONG]);
            return n->type = id->type;
        }
        lang_err(l, &n->pos, "D_IDENT_BADREF", lang_printf(l, "%s[N] is an element", n->name),
                 "%s is an array and cannot be used as a scalar", n->name);
        return check_bad(n);
    case ID_ARG:
        n->kind = N_ARG;
        n->num = id->num;
        check_arg_is_passed(l, n);
        return n->type = id->type;
    case ID_INT: node_set_int(n, id->num, id->type); return n->type;
    case ID_ARGS:
        lang_err(l, &n->pos, "D_IDENT_BADREF", "it needs an index: args[0]",
                 "args is an array and cannot be used as a scalar");
        return check_bad(n);
    case ID_EXTERN:
        lang_err(l, &n->pos, "D_ASRELO", NULL,
                 "relocation against undefined symbol %s: it is only declared", n->name);
        return check_bad(n);
    case ID_FN: return badref(l, n, n->name);
    case ID_INLINE: return check_inlined(l, n, id);
    }
    return check_bad(n);
}

static bool is_key_type(const struct type *t)
{
    return t->kind == TYPE_INT || t->kind == TYPE_STRING || t->kind == TYPE_PTR || type_is_sou(t) ||
           type_is_place(t);
}

bool check_first_keys(struct lang *l, const struct type **key, uint8_t *nkeys, struct node *args,
                      const struct diag_pos *pos)
{
    unsigned n = check_count(args);
    bool ok = true;
    if (n > l->opt->keys) {
        lang_err(
            l, pos, "D_UNKNOWN",
            lang_printf(l, "there may be %u keys with tregs=%u", l->opt->keys, l->opt->keys - 1),
            "Insufficient tuple registers to generate code");
        ok = false;
        n = l->opt->keys;
    }
    *nkeys = (uint8_t)n;
    n = 0;
    for (struct node *a = args; a; a = a->next, n++) {
        if (!check_refuse_dynamic(l, a, "D_KEY_TYPE", "a key"))
            check_expr(l, a);
        check_as_text(l, a, false);
        if (a->type->kind == TYPE_ARRAY)
            check_as_string(l, a);
        const struct type *t = a->type;
        if (!is_key_type(t) && !type_is_error(t)) {
            lang_err(l, &a->pos, "D_KEY_TYPE", NULL, "a key cannot be of type %s", t->name);
            t = &type_c[T_ERROR];
        }
        ok = ok && !type_is_error(t);
        if (n < WORD_KEYS_MAX)
            key[n] = t;
    }
    return ok;
}

bool check_keys(struct lang *l, const char *what, const struct type *const *key, unsigned nkeys,
                struct node *args, const struct diag_pos *pos)
{
    unsigned n = check_count(args), i = 0;
    bool ok = true;
    for (struct node *a = args; a; a = a->next) {
        if (!check_refuse_dynamic(l, a, "D_KEY_TYPE", "a key"))
            check_expr(l, a);
        check_as_text(l, a, false);
    }
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
        } else if (type_is_place(key[i])) {
            check_place_as(a, key[i]);
        }
    }
    return ok;
}

/* Checks an element of an existing associative array. */
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

/* Checks uregs[N] or regs[N]: a register by its number, a constant. */
static const struct type *check_register(struct lang *l, struct node *n, const struct ident *id)
{
    struct node *at = n->args;
    lang_uses(l, &n->kid[0]->pos, id->name, id->attr);
    check_expr(l, at);
    if (at->next) {
        lang_err(l, &n->pos, "D_PROTO_LEN", NULL,
                 "%s[ ] prototype mismatch: %u indexes passed, 1 expected", id->name,
                 check_count(at));
    } else if (type_is_error(at->type)) {
        return check_bad(n);
    } else if (id->name[0] == '_' ? !type_is_int(at->type) : at->kind != N_INT) {
        lang_err(l, &at->pos, "D_PROTO_ARG", NULL,
                 "%s[ ] argument #1 is incompatible with prototype: integer constant expected, %s "
                 "passed",
                 id->name, at->type->name);
    } else if (at->kind == N_INT && at->type->is_signed && (int64_t)at->num < 0) {
        lang_err(l, &at->pos, "D_REGS_IDX", NULL, "index %lld is out of range for array %s",
                 (long long)at->num, id->name);
    } else {
        n->kind = N_BUILTIN;
        n->num = id->num;
        n->name = id->name;
        n->kid[0] = NULL;
        return n->type = id->type;
    }
    return check_bad(n);
}

const struct type *check_index(struct lang *l, struct node *n)
{
    struct node *base = n->kid[0];
    if (base->kind == N_IDENT) {
        const struct ident *id = names_find(names_of_scope(l, base->scope), base->name);
        bool whole = id && (id->kind == ID_VAR ? id->var->assoc
                                               : id->kind == ID_INLINE && id->inlined->nparams > 0);
        if (whole) /* the name is not checked again */
            lang_uses(l, &base->pos, id->name, id->attr);
        if (id && id->kind == ID_VAR && id->var->assoc)
            return check_element(l, n, id->var);
        if (id && id->kind == ID_ARGS)
            return check_args_element(l, n);
        if (id && id->kind == ID_ARRAY)
            return check_register(l, n, id);
        if (id && id->kind == ID_INLINE && id->inlined->nparams > 0)
            return check_inlined(l, n, id);
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
    if (type_is_term(t)) {
        const bool text = !n->args->next && type_is_string(n->args->type);
        lang_err(l, &n->pos, "D_OP_TERM",
                 text ? "the value of a key of a map: map_get(\"name\", x), or x.name where the "
                        "key is an atom"
                      : "of a tuple element(1, x), counted from 1; of a list hd(x) and tl(x); of a "
                        "map map_get(key, x) or x.key",
                 "a term is not indexed");
    } else if (n->args->next)
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

/* Checks a target that is an expression: memory that can be stored to. */
static const struct type *check_place(struct lang *l, struct node *n, const struct diag_pos *pos,
                                      const char *optext, enum op op)
{
    n->by_member = true; /* so that a translation is reported as not writable */
    const struct type *t = check_expr(l, n);
    if (type_is_error(t) || n->kind == N_VAR)
        return t;
    if (!check_is_place(n))
        return not_lvalue(l, n, pos, optext, op);
    if (check_is_writable(n))
        return t;
    lang_err(
        l, pos, "D_OP_WRITE", "variables, their members, and memory from alloca() are writable",
        "operator %s can only be applied to a writable lvalue: this memory is read only", optext);
    return check_bad(n);
}

/* Turns n, the target of an operator, into an N_VAR or writable memory. `create` is the type for a
 * new name; NULL if the operator creates nothing (then a new name is undefined). */
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
        check_expand(l, whole, id->inlined, true);
        if (whole->kind == N_ERROR)
            return check_bad(n);
        return check_lvalue(l, n, create, pos, optext, op);
    }
    if (id && id->kind == ID_FN)
        return badref(l, n, base->name);
    if (id && (id->kind == ID_BUILTIN || id->kind == ID_ARG || id->kind == ID_ARGS ||
               id->kind == ID_ARRAY)) {
        lang_err(l, pos, "D_OP_WRITE", eq_hint(l, op),
                 "operator %s can only be applied to a writable variable: %s is built in", optext,
                 base->name);
        return check_bad(n);
    }
    if (id && id->kind == ID_EXTERN) {
        bool fn = id->type->kind == TYPE_FUNC;
        lang_err(l, pos, fn ? "D_OP_ARRFUN" : "D_OP_WRITE", eq_hint(l, op),
                 fn ? "operator %s may not be applied to a function: %s"
                    : "operator %s can only be applied to a writable variable: %s is external",
                 optext, base->name);
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
    if (check_is_symbol(base)) {
        const char *name = base->name;
        if (!type_is_error(symbol(l, base, true)))
            lang_err(l, pos, "D_OP_WRITE", eq_hint(l, op),
                     "operator %s can only be applied to a writable variable: %s is the kernel's",
                     optext, name);
        return check_bad(n);
    }
    if (n->kind == N_INDEX && base->scope == SCOPE_CLAUSE)
        return check_index(l, n);
    if (!create) {
        if (!lang_was_dropped(l, base->name))
            lang_err(l, &base->pos, "D_VAR_UNDEF",
                     op == OP_NONE ? NULL
                                   : lang_printf(l, "declare it, or assign to it first: %s%s%s = 0",
                                                 scope_prefix(base->scope), base->name,
                                                 n->kind == N_INDEX ? "[...]" : ""),
                     "%s%s has not yet been declared or assigned", scope_prefix(base->scope),
                     base->name);
        var_new(l, base->name, base->scope, &type_c[T_ERROR])->assoc = n->kind == N_INDEX;
        return check_bad(n);
    }
    /* Keys are checked before the name exists: a[a[1]] = 1 is an error. */
    const struct type *key[WORD_KEYS_MAX];
    uint8_t nkeys = 0;
    bool ok = n->kind != N_INDEX || check_first_keys(l, key, &nkeys, n->args, &n->pos);
    if ((id = names_find(t, base->name)) != NULL) /* a key's expression created it */
        return check_lvalue(l, n, create, pos, optext, op);
    struct lang_var *v = var_new(l, base->name, base->scope, create);
    v->assoc = n->kind == N_INDEX;
    v->made_by = n->pos.line;
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

/* Ensures that a pointer variable holds either addresses from alloca() or others, never both, where
 * the origins are known. */
static bool keep_origin(struct lang *l, struct node *n)
{
    struct lang_var *v = n->kid[0]->var;
    uint8_t origin = (uint8_t)check_origin(n->kid[1]);
    if (origin == ALLOCA_UNKNOWN)
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
    if (type_is_error(rt) && check_is_aggregation(left)) /* one error is enough */
        return check_bad(n);
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
        if (left->kind == N_VAR && lt->kind == TYPE_PTR && !keep_origin(l, n))
            return check_bad(n);
        if (left->kind == N_VAR) {
            check_kept_whole(l, n);
            check_sized(l, n);
            check_kept_term(l, n);
            left->var->means = means_both(left->var->means, check_means(l, right));
        }
        return n->type = lt;
    }
    if (lt->kind == TYPE_PTR && type_is_int(rt) && (op == OP_ADD || op == OP_SUB))
        return check_steps(l, n, lt) ? n->type = lt : check_bad(n);
    if (op != OP_ADD && op != OP_SUB && !(type_is_int(lt) && type_is_int(rt))) {
        bool arith = op == OP_MUL || op == OP_DIV;
        lang_err(l, &n->pos, arith ? "D_OP_ARITH" : "D_OP_INT", NULL,
                 "operator %s requires operands of %s type", text,
                 arith ? "arithmetic" : "integral");
        return check_bad(n);
    }
    if (!type_is_int(lt) || !type_is_int(rt))
        return check_incompatible(
            l, n, type_is_string(lt) && op == OP_ADD ? "strjoin() joins strings" : NULL);
    if ((op == OP_DIV || op == OP_MOD) && right->kind == N_INT && right->num == 0) {
        lang_err(l, &n->pos, "D_DIV_ZERO", NULL, "expression contains division by zero");
        return check_bad(n);
    }
    if (op == OP_ADD && left->kind == N_VAR)
        check_kept_whole(l, n);
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
