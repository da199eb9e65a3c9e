/* check_expr.c - operators, types and constants (language.md 3, 4). See check.h. */
#include "lang/check.h"

#include <string.h>

static const struct type *const INT = &type_c[T_INT];

static bool is_const(const struct node *n)
{
    return n->kind == N_INT;
}

const char *check_string_hint(struct lang *l, const struct node *n)
{
    if (type_is_term(n->type))
        return "a term is not a string: term_string(x) gives the string it holds, term_text(x) "
               "writes it as text";
    if (!type_is_int(n->type))
        return NULL;
    if (n->is_char)
        return "strings are written with double quotes";
    if (n->kind == N_BUILTIN && strcmp(n->name, "pid") == 0)
        return "pid is the number of the VM's process; one of Erlang is the text copyinstr(arg0)";
    if (n->kind == N_ARG)
        return lang_printf(l, "copyinstr(arg%u) gives the string that it points to",
                           (unsigned)n->num);
    return n->kind == N_INT ? NULL : "copyinstr(x) gives the string at the address x";
}

const struct type *check_incompatible(struct lang *l, struct node *n, const char *hint)
{
    const struct node *a = n->kid[0], *b = n->kid[1];
    const char *text = op_text[n->op];
    if (n->kind == N_ASSIGN && n->op != OP_NONE)
        text = lang_printf(l, "%s=", text);
    if (!hint && ((type_is_term(a->type) && type_is_int(b->type)) ||
                  (type_is_term(b->type) && type_is_int(a->type))))
        hint = "a term is not a number: term_int(x) gives its integer";
    if (!hint)
        hint = type_is_string(a->type)   ? check_string_hint(l, b)
               : type_is_string(b->type) ? check_string_hint(l, a)
                                         : NULL;
    lang_err(l, &n->pos, "D_OP_INCOMPAT", hint,
             "operands have incompatible types: \"%s\" %s \"%s\"", a->type->name, text,
             b->type->name);
    return check_bad(n);
}

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
    case OP_SHR: return a >> (b & 63); /* logical, also for negative constants: language.md 3.2 */
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

bool check_is_dynamic(const struct node *n)
{
    return n->kind == N_AGG || (n->kind == N_INDEX && n->kid[0]->kind == N_AGG);
}

bool check_refuse_dynamic(struct lang *l, struct node *n, const char *tag, const char *what)
{
    if (!check_is_dynamic(n))
        return false;
    lang_err(l, &n->pos, tag, "printa() prints aggregations; they cannot be read",
             "%s cannot be of a dynamic type: @%s", what,
             n->kind == N_AGG ? n->name : n->kid[0]->name);
    check_bad(n);
    return true;
}

/* Reports an action or an aggregation as an operand of ?: or the comma operator. */
static bool refuse_action(struct lang *l, struct node *n, const char *op)
{
    if (check_is_dynamic(n))
        return check_refuse_dynamic(l, n, "D_OP_DYN",
                                    lang_printf(l, "operand of the operator %s", op));
    if (!is_action(l, n))
        return false;
    for (struct node *a = n->args; a; a = a->next) { /* errors in its arguments come first */
        if (!check_is_aggregation(a) && type_is_error(check_expr(l, a))) {
            check_bad(n);
            return true;
        }
    }
    lang_err(l, &n->pos, "D_OP_ACT", "use a predicate",
             "action %s( ) cannot be an operand of the operator %s", n->kid[0]->name, op);
    check_bad(n);
    return true;
}

/* Resolves a name that is compared with an enum as a tag of that enum, even if no global has that
 * name. */
static void tag_of_enum(struct lang *l, const struct type *t, struct node *n)
{
    const struct type_enum *e = t->enums;
    if (n->kind != N_IDENT || n->scope != SCOPE_GLOBAL)
        return;
    while (e && strcmp(e->name, n->name) != 0)
        e = e->next;
    if (!e)
        return;
    const struct ident *id = names_find(&l->globals, n->name);
    if (!id) {
        node_set_int(n, (uint64_t)(int64_t)e->value, t);
    } else if (id->kind != ID_INT || !id->type->is_enum || id->type->enums != t->enums) {
        lang_err(l, &n->pos, "D_IDENT_AMBIG", "for the tag, cast its value to the enum",
                 "ambiguous use of %s: it is a tag of %s and a global name", n->name, t->name);
        check_bad(n);
    }
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
    const struct type *ta = check_expr(l, a);
    if (op >= OP_EQ && op <= OP_GE && ta->is_enum)
        tag_of_enum(l, ta, b);
    const struct type *tb = check_expr(l, b);
    if (check_any_error(a, b))
        return check_bad(n);
    bool ints = type_is_int(ta) && type_is_int(tb);
    bool scalars = type_is_scalar(ta) && type_is_scalar(tb);
    const struct type *common = ints ? type_arith(ta, tb) : NULL, *result = common;
    switch (op) {
    case OP_COMMA: return n->type = tb;
    case OP_ADD:
    case OP_SUB:
        if (!ints)
            return check_pointer_sum(l, n);
        break;
    case OP_MUL:
    case OP_DIV:
        if (!ints) {
            lang_err(l, &n->pos, "D_OP_ARITH", NULL,
                     "operator %s requires operands of arithmetic type", text);
            return check_bad(n);
        }
        break;
    case OP_LAND:
    case OP_LOR:
    case OP_LXOR:
        if (!scalars) {
            lang_err(l, &n->pos, "D_OP_SCALAR",
                     type_is_string(ta) || type_is_string(tb) ? "compare the string: s != NULL"
                                                              : NULL,
                     "operator %s requires operands of scalar type", text);
            return check_bad(n);
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
        if (ints)
            break;
        if (check_terms_compared(l, n))
            return n->type = INT;
        if (op != OP_EQ && op != OP_NE && (type_is_term(ta) || type_is_term(tb)))
            return check_incompatible(
                l, n,
                type_is_term(ta) && type_is_term(tb) ? "terms can be compared by == and !=" : NULL);
        if (type_is_sou(ta) || ta->kind == TYPE_FLOAT ||
            !(check_compatible(ta, b) || check_compatible(tb, a)))
            return check_incompatible(l, n, NULL);
        if (type_is_string(ta) || type_is_string(tb)) {
            check_as_string(l, a);
            check_as_string(l, b);
            check_elixir_name(l, a, b);
            check_elixir_name(l, b, a);
        }
        break;
    default:
        if (!ints) {
            lang_err(l, &n->pos, "D_OP_INT", NULL, "operator %s requires operands of integral type",
                     text);
            return check_bad(n);
        }
        if (op == OP_SHL || op == OP_SHR)
            result = ta;
    }
    if ((op == OP_DIV || op == OP_MOD) && is_const(b) && b->num == 0) {
        lang_err(l, &n->pos, "D_DIV_ZERO", NULL, "expression contains division by zero");
        return check_bad(n);
    }
    if (ints && is_const(a) && is_const(b)) {
        node_set_int(n, fold(op, a->num, b->num, common->is_signed), result);
        return n->type;
    }
    if (op >= OP_EQ && op <= OP_GE)
        check_comparison(l, n);
    return n->type = result;
}

static const struct type *check_unary(struct lang *l, struct node *n)
{
    struct node *k = n->kid[0];
    enum op op = n->op;
    if (op == OP_ADDR && check_is_aggregation(k)) {
        lang_err(l, &n->pos, "D_ADDROF_VAR", NULL,
                 "operator & cannot be applied to an aggregation");
        return check_bad(n);
    }
    k->by_member = op == OP_DEREF || op == OP_ADDR;
    const struct type *t = op == OP_ADDR && check_is_symbol(k) && !names_find(&l->globals, k->name)
                               ? check_symbol_address(l, k)
                               : check_expr(l, k);
    if (op == OP_ADDR && k->kind == N_XLATE) { /* a translation has no address */
        k->by_member = false;
        t = check_expr(l, k);
    }
    const char *tag = NULL, *kind = NULL, *hint = NULL;
    if (type_is_error(t))
        return check_bad(n);
    if (k->kind == N_XLATE && t->kind == TYPE_PTR) { /* (*curpsinfo).pr_pid */
        check_replace(n, k);
        return n->type = t->of;
    }
    switch (op) {
    case OP_ADDR: return check_addrof(l, n);
    case OP_DEREF: return check_deref(l, n);
    case OP_STRINGOF:
        check_as_string(l, k);
        t = k->type;
        if (!type_is_scalar(t) && !type_is_string(t)) {
            lang_err(l, &n->pos, "D_STRINGOF_TYPE", NULL, "cannot apply stringof to type %s",
                     t->name);
            return check_bad(n);
        }
        if (type_is_string(t))
            check_replace(n, k);
        return n->type = &type_c[T_STRING];
    case OP_NOT:
        tag = "D_OP_SCALAR", kind = "scalar";
        hint = type_is_string(t) ? "compare the string: s == NULL" : NULL;
        break;
    case OP_COMPL: tag = "D_OP_INT", kind = "integral"; break;
    default: tag = "D_OP_ARITH", kind = "arithmetic";
    }
    if (!(op == OP_NOT ? type_is_scalar(t) : type_is_int(t))) {
        lang_err(l, &n->pos, tag, hint, "operator %s requires an operand of %s type", op_text[op],
                 kind);
        return check_bad(n);
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
        check_replace(n, k);
        return n->type;
    }
    return n->type = op == OP_NOT ? INT : t;
}

static const struct type *check_cond(struct lang *l, struct node *n)
{
    struct node *c = n->kid[0], *a = n->kid[1], *b = n->kid[2];
    const struct type *t = check_expr(l, c);
    if (!type_is_scalar(t) && !type_is_error(t)) {
        lang_err(l, &c->pos, "D_OP_SCALAR",
                 type_is_string(t) ? "compare the string: s != NULL" : NULL,
                 "operator ?: requires a first operand of scalar type");
        t = check_bad(c);
    }
    if (is_const(c)) { /* the other branch is never checked */
        struct node *taken = c->num ? a : b;
        refuse_action(l, taken, "?:");
        check_expr(l, taken);
        check_replace(n, taken);
        return n->type;
    }
    refuse_action(l, a, "?:");
    refuse_action(l, b, "?:");
    const struct type *ta = check_expr(l, a), *tb = check_expr(l, b);
    if (check_any_error(a, b) || type_is_error(t))
        return check_bad(n);
    if (type_is_int(ta) && type_is_int(tb))
        return n->type = type_arith(ta, tb);
    bool fit = check_compatible(ta, b) || check_compatible(tb, a);
    if (fit && (type_is_string(ta) || type_is_string(tb))) {
        check_as_string(l, a);
        check_as_string(l, b);
        return n->type = &type_c[T_STRING];
    }
    if (fit) {
        enum lang_alloca oa = check_origin(a), ob = check_origin(b);
        if (oa != ALLOCA_UNKNOWN && ob != ALLOCA_UNKNOWN && oa != ob) {
            lang_err(l, &n->pos, "D_ALLOCA_INCOMPAT", "use a variable for each",
                     "operator ?: alloca( ) and other pointers cannot be mixed");
            return check_bad(n);
        }
        return n->type = check_decayed(l, type_refers(ta) ? ta : tb);
    }
    lang_err(l, &n->pos, "D_OP_INCOMPAT",
             type_is_string(ta) ? check_string_hint(l, b) : check_string_hint(l, a),
             "operator ?: operands must have compatible types: \"%s\" and \"%s\"", ta->name,
             tb->name);
    return check_bad(n);
}

static const struct type *check_cast(struct lang *l, struct node *n)
{
    struct node *k = n->kid[0];
    k->by_member = n->by_member;
    const struct type *t = check_expr(l, k), *to = n->cast;
    if (type_is_error(t))
        return check_bad(n);
    if (k->kind == N_XLATE && type_same(to, t)) {
        check_replace(n, k);
        return n->type;
    }
    k->by_member = false;
    if (type_is_error(check_expr(l, k)))
        return check_bad(n);
    bool same = type_same(to, t) && to->kind != TYPE_ARRAY && to->kind != TYPE_FUNC;
    bool ok = same || to->kind == TYPE_VOID || (type_is_scalar(to) && type_is_scalar(t)) ||
              (to->kind == TYPE_PTR && type_refers(t)) ||
              (type_is_string(to) && (type_is_scalar(t) || type_is_chars(t)));
    if (!ok || lang_incomplete(l, to)) {
        lang_err(l, &n->pos, "D_CAST_INVAL", NULL,
                 "invalid cast expression: (%s) of a value of type %s", to->name, t->name);
        return check_bad(n);
    }
    if (is_const(k) && type_is_int(to)) {
        node_set_int(n, type_truncate(to, k->num), to);
        return n->type;
    }
    if (type_is_string(to) && type_is_string(t)) {
        check_replace(n, k);
        return n->type;
    }
    return n->type = to;
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
        return check_bad(n);
    case N_CALL: return check_call(l, n);
    case N_UNARY: return check_unary(l, n);
    case N_BINARY: return check_binary(l, n);
    case N_COND: return check_cond(l, n);
    case N_ASSIGN: return check_assign(l, n);
    case N_INCDEC: return check_incdec(l, n);
    case N_CAST: return check_cast(l, n);
    case N_SIZEOF: return check_sizeof(l, n);
    case N_OFFSETOF: return check_offsetof(l, n);
    case N_MEMBER: return check_member(l, n);
    case N_XLATE: return check_xlate(l, n);
    default: return n->type;
    }
}

const struct type *check_expr(struct lang *l, struct node *n)
{
    if (!n->type) {
        if (++l->depth > LANG_HEIGHT_MAX)
            lang_fail(l, &n->pos, "D_SYNTAX", "use variables for parts of it",
                      "expression is nested too deeply");
        check_node(l, n);
        l->depth--;
    }
    if (n->kind == N_XLATE && !n->by_member)
        check_xlated_whole(l, n);
    if (type_is_sou(n->type) && type_size(n->type) > WORD_BYTES_MAX && !n->by_member) {
        lang_err(l, &n->pos, "D_UNKNOWN", "use its members",
                 "a value of %s is too large to be used as a whole: %u bytes, the maximum is %u",
                 n->type->name, type_size(n->type), (unsigned)WORD_BYTES_MAX);
        return check_bad(n);
    }
    return n->type;
}
