/* check_memory.c - pointers, arrays, structs and their members; type compatibility (language.md
 * 3.5, 4). */
#include "lang/check.h"
#include "util/render.h"

#include <string.h>

/* -- compatible types -------------------------------------------------------------------------- */

static bool is_string_like(const struct type *t)
{
    return type_is_string(t) || type_is_chars(t);
}

bool check_same_pointers(const struct type *a, const struct type *b)
{
    return type_refers(a) && type_refers(b) &&
           (a->of->kind == TYPE_VOID || b->of->kind == TYPE_VOID || type_same(a->of, b->of));
}

bool check_compatible(const struct type *left, const struct node *right)
{
    const struct type *t = right->type;
    if (type_is_place(left) || type_is_place(t))
        return left->kind == t->kind;
    if (type_is_int(left))
        return type_is_int(t);
    if (is_string_like(left))
        return is_string_like(t) || check_is_null(right) || check_same_pointers(left, t);
    if (type_is_sou(left) || left->kind == TYPE_FLOAT)
        return type_same(left, t);
    return type_refers(left) && (check_is_null(right) || check_same_pointers(left, t));
}

void check_as_string(struct lang *l, struct node *n)
{
    if (!type_is_chars(n->type))
        return;
    struct node *k = node_new(l, N_ERROR, &n->pos);
    check_replace(k, n);
    struct node cast = {.kind = N_CAST,
                        .pos = n->pos,
                        .height = n->height,
                        .cast = &type_c[T_STRING],
                        .type = &type_c[T_STRING]};
    cast.kid[0] = k;
    check_replace(n, &cast);
}

const struct type *check_decayed(struct lang *l, const struct type *t)
{
    return t->kind == TYPE_ARRAY    ? type_pointer(l, t->of)
           : t->kind == TYPE_STRING ? type_pointer(l, &type_c[T_CHAR])
                                    : t;
}

/* -- places ------------------------------------------------------------------------------------ */

/* Returns the origin of the memory that a place names. */
static enum lang_alloca place_origin(const struct node *n)
{
    const struct node *k = n->kid[0];
    switch ((enum node_kind)n->kind) {
    case N_MEMBER: return n->post ? check_origin(k) : place_origin(k);
    case N_INDEX: return check_origin(k);
    case N_UNARY: return n->op == OP_DEREF ? check_origin(k) : ALLOCA_NO;
    default: return ALLOCA_NO;
    }
}

enum lang_alloca check_origin(const struct node *n)
{
    if (n->type && n->type->kind == TYPE_ARRAY)
        return place_origin(n);
    if (check_is_null(n))
        return ALLOCA_UNKNOWN;
    switch ((enum node_kind)n->kind) {
    case N_CALL: return n->fn && n->fn->result == T_COUNT ? ALLOCA_YES : ALLOCA_NO;
    case N_VAR: return n->var->alloca;
    case N_CAST:
    case N_INCDEC: return check_origin(n->kid[0]);
    case N_ASSIGN: return check_origin(n->kid[n->op == OP_NONE]);
    case N_COND: {
        enum lang_alloca a = check_origin(n->kid[1]);
        return a != ALLOCA_UNKNOWN ? a : check_origin(n->kid[2]);
    }
    case N_MEMBER:
    case N_INDEX: return ALLOCA_UNKNOWN; /* a pointer stored in memory */
    case N_UNARY:
        return n->op == OP_DEREF  ? ALLOCA_UNKNOWN
               : n->op == OP_ADDR ? place_origin(n->kid[0])
                                  : ALLOCA_NO;
    case N_BINARY:
        if (n->op == OP_COMMA)
            return check_origin(n->kid[1]);
        return n->op == OP_ADD || n->op == OP_SUB
                   ? check_origin(n->kid[type_refers(n->kid[0]->type) ? 0 : 1])
                   : ALLOCA_NO;
    default: return ALLOCA_NO;
    }
}

bool check_is_place(const struct node *n)
{
    return n->kind == N_MEMBER || n->kind == N_INDEX || (n->kind == N_UNARY && n->op == OP_DEREF);
}

bool check_is_writable(const struct node *n)
{
    if (n->kind == N_VAR)
        return true;
    if (!check_is_place(n))
        return false;
    if (n->kind == N_MEMBER ? !n->post : n->kid[0]->type->kind == TYPE_ARRAY)
        return check_is_writable(n->kid[0]);
    return check_may_write(n->kid[0]);
}

/* Decides what the text alone shows: memory reached through a probe's arguments, built-in
 * variables, strings and numbers in the text is never the program's. Everything else is decided by
 * its address. */
bool check_may_write(const struct node *n)
{
    if (type_is_string(n->type))
        return false;
    if (n->type->kind == TYPE_ARRAY)
        return check_is_writable(n);
    switch ((enum node_kind)n->kind) {
    case N_CALL: return n->fn && n->fn->result == T_COUNT;
    case N_VAR: return true;
    case N_CAST:
    case N_INCDEC: return check_may_write(n->kid[0]);
    case N_ASSIGN: return check_may_write(n->kid[n->op == OP_NONE]);
    case N_COND: return check_may_write(n->kid[1]) || check_may_write(n->kid[2]);
    case N_MEMBER:
    case N_INDEX:
        return check_is_writable(n); /* foreign memory also points only to foreign memory */
    case N_UNARY:
        return n->op == OP_DEREF || n->op == OP_ADDR
                   ? check_is_writable(n->op == OP_ADDR ? n->kid[0] : n)
                   : false;
    case N_BINARY:
        if (n->op == OP_COMMA)
            return check_may_write(n->kid[1]);
        return (n->op == OP_ADD || n->op == OP_SUB) &&
               (check_may_write(n->kid[0]) || check_may_write(n->kid[1]));
    default: return false;
    }
}

const struct type *check_deref(struct lang *l, struct node *n)
{
    struct node *k = n->kid[0];
    if (k->kind == N_CAST && type_is_string(k->type) && k->kid[0]->kind == N_BINARY &&
        type_refers(k->kid[0]->type)) /* *(s + i): only the character, without copying the rest */
        check_replace(k, k->kid[0]);
    const struct type *t = k->type;
    const char *tag = NULL;
    if (!type_refers(t))
        tag = "D_DEREF_NONPTR";
    else if (t->of->kind == TYPE_VOID)
        tag = "D_DEREF_VOID";
    else if (t->of->kind == TYPE_FUNC)
        tag = "D_DEREF_FUNC";
    if (tag) {
        const char *hint = type_is_int(t) ? "a cast says what it points to: *(int *)x" : NULL;
        lang_err(l, &n->pos, tag, hint, "cannot dereference %s %s",
                 type_refers(t) ? "pointer of type" : "non-pointer type", t->name);
        return check_bad(n);
    }
    if (lang_incomplete(l, t->of)) {
        lang_err(l, &n->pos, "D_OP_INCOMPLETE", NULL, "%s is an incomplete type", t->of->name);
        return check_bad(n);
    }
    return n->type = t->of;
}

const struct type *check_addrof(struct lang *l, struct node *n)
{
    const struct node *k = n->kid[0];
    if (k->kind == N_VAR || k->kind == N_BUILTIN || k->kind == N_ARG)
        lang_err(l, &n->pos, "D_ADDROF_VAR", NULL, "operator & cannot be applied to a variable");
    else if (!check_is_place(k))
        lang_err(l, &n->pos, "D_ADDROF_LVAL", NULL, "operator & requires an lvalue");
    else if (k->kind == N_MEMBER && k->member->bits > 0)
        lang_err(l, &n->pos, "D_ADDROF_BITFIELD", NULL,
                 "operator & cannot be applied to a bit-field");
    else
        return n->type = type_pointer(l, k->type);
    return check_bad(n);
}

static const struct type_member *member_find(struct lang *l, const struct type *t, const char *name)
{
    const struct type_member *m = lang_members(l, t);
    while (m && strcmp(m->name, name) != 0)
        m = m->next;
    return m;
}

/* Returns a hint with the member whose name is closest. */
static const char *member_hint(struct lang *l, const struct type *t, const char *name)
{
    size_t n = 0, i = 0;
    for (const struct type_member *m = lang_members(l, t); m; m = m->next)
        n++;
    const char **names = lang_alloc(l, (n + 1) * sizeof *names);
    for (const struct type_member *m = lang_members(l, t); m; m = m->next)
        names[i++] = m->name;
    const char *near = diag_nearest(name, names, n);
    return near ? lang_printf(l, "did you mean '%s'?", near) : NULL;
}

const struct type *check_member(struct lang *l, struct node *n)
{
    n->kid[0]->by_member = true;
    const struct type *t = check_expr(l, n->kid[0]);
    const char *op = n->post ? "->" : ".";
    if (type_is_error(t))
        return check_bad(n);
    if (n->str || (type_is_term(t) && !n->post))
        return check_term_member(l, n);
    if (n->post && (!type_refers(t) || type_is_term(t))) {
        lang_err(l, &n->pos, "D_OP_PTR",
                 type_is_sou(t) || type_is_term(t) ? "use the operator ." : NULL,
                 "operator -> must be applied to a pointer to a struct or union, not %s", t->name);
        return check_bad(n);
    }
    const struct type *s = n->post ? t->of : t;
    if (!type_is_sou(s)) {
        lang_err(l, &n->pos, "D_OP_SOU",
                 !n->post && type_refers(t) && type_is_sou(t->of) ? "use the operator ->" : NULL,
                 "operator %s must be applied to a %sstruct or union, not %s", op,
                 n->post ? "pointer to a " : "", t->name);
        return check_bad(n);
    }
    if (lang_incomplete(l, s)) {
        lang_err(l, &n->pos, "D_OP_INCOMPLETE", l->foreign_lack,
                 "operator %s cannot be applied to a forward declaration: no %s definition is "
                 "available",
                 op, s->name);
        return check_bad(n);
    }
    n->member = member_find(l, s, n->name);
    if (!n->member) {
        lang_err(l, &n->pos, "D_TYPE_MEMBER", member_hint(l, s, n->name),
                 "'%s' is not a member of %s", n->name, s->name);
        return check_bad(n);
    }
    if (n->kid[0]->kind == N_XLATE)
        return check_xlated_member(l, n);
    return n->type = n->member->type;
}

const struct type *check_element_of(struct lang *l, struct node *n)
{
    struct node *base = n->kid[0], *at = n->args;
    const struct type *t = base->type, *of = check_decayed(l, t)->of;
    if (of->kind == TYPE_VOID || of->kind == TYPE_FUNC) {
        lang_err(l, &n->pos, "D_OP_VFPTR", NULL, "cannot index a pointer of type %s", t->name);
        return check_bad(n);
    }
    if (!type_is_int(at->type)) {
        lang_err(l, &at->pos, "D_OP_INCOMPAT", NULL, "an index must be an integer, not %s",
                 at->type->name);
        return check_bad(n);
    }
    if (lang_incomplete(l, of)) {
        lang_err(l, &n->pos, "D_OP_INCOMPLETE", NULL, "%s is an incomplete type", of->name);
        return check_bad(n);
    }
    uint64_t most = t->kind == TYPE_ARRAY && t->count > 1 ? t->count
                    : type_is_string(t)                   ? l->opt->strsize + (uint64_t)1
                                                          : 0;
    if (at->kind == N_INT && most > 0 && at->num >= most) {
        lang_err(l, &at->pos, "D_ARR_BOUNDS", NULL,
                 "index outside array bounds: %lld, the array has %llu elements",
                 (long long)at->num, (unsigned long long)most);
        return check_bad(n);
    }
    return n->type = of;
}

/* -- arithmetic -------------------------------------------------------------------------------- */

bool check_steps(struct lang *l, struct node *n, const struct type *t)
{
    if (t->of->kind == TYPE_VOID || t->of->kind == TYPE_FUNC)
        lang_err(l, &n->pos, "D_OP_VFPTR", NULL,
                 "operator %s: a pointer of type %s cannot be stepped",
                 n->kind == N_INCDEC   ? (n->op == OP_ADD ? "++" : "--")
                 : n->kind == N_ASSIGN ? (n->op == OP_ADD ? "+=" : "-=")
                                       : op_text[n->op],
                 t->name);
    else if (lang_incomplete(l, t->of))
        lang_err(l, &n->pos, "D_OP_INCOMPLETE", NULL, "%s is an incomplete type", t->of->name);
    else
        return true;
    return false;
}

const struct type *check_pointer_sum(struct lang *l, struct node *n)
{
    const struct type *ta = check_decayed(l, n->kid[0]->type),
                      *tb = check_decayed(l, n->kid[1]->type);
    bool pa = ta->kind == TYPE_PTR, pb = tb->kind == TYPE_PTR;
    bool strings = type_is_string(n->kid[0]->type) && type_is_string(n->kid[1]->type);
    if (pa && pb && n->op == OP_SUB && !strings && type_same(ta->of, tb->of))
        return check_steps(l, n, ta) ? n->type = type_typedef("ptrdiff_t", 9) : check_bad(n);
    bool first = pa && type_is_int(tb), second = pb && type_is_int(ta) && n->op == OP_ADD;
    if (first || second) {
        if (!check_steps(l, n, first ? ta : tb))
            return check_bad(n);
        n->type = first ? ta : tb;
        if (type_is_string(n->kid[first ? 0 : 1]->type)) /* the rest of the string, from there */
            check_as_string(l, n);
        return n->type;
    }
    bool s = type_is_string(n->kid[0]->type) || type_is_string(n->kid[1]->type);
    return check_incompatible(l, n, n->op == OP_ADD && s ? "strjoin() joins strings" : NULL);
}

/* -- sizes ------------------------------------------------------------------------------------- */

const struct type *check_sizeof(struct lang *l, struct node *n)
{
    if (!n->cast)
        n->kid[0]->by_member = true;
    const struct type *t = n->cast ? n->cast : check_expr(l, n->kid[0]);
    if (type_is_error(t))
        return check_bad(n);
    const bool incomplete = lang_incomplete(l, t);
    uint64_t size = type_size(t);
    if (!n->cast && n->kid[0]->kind == N_MEMBER && n->kid[0]->member->bits > 0) {
        lang_err(l, &n->pos, "D_SIZEOF_BITFIELD", NULL, "cannot apply sizeof to a bit-field");
        return check_bad(n);
    }
    if (type_is_string(t))
        size = n->cast || n->kid[0]->kind != N_STR ? l->opt->strsize : n->kid[0]->len + 1;
    bool empty = type_is_sou(t) && t->sou->complete;
    if ((size == 0 && !empty) || incomplete) {
        lang_err(l, &n->pos, "D_SIZEOF_TYPE", NULL, "cannot apply sizeof to type %s", t->name);
        return check_bad(n);
    }
    node_set_int(n, size, type_typedef("size_t", 6));
    return n->type;
}

const struct type *check_offsetof(struct lang *l, struct node *n)
{
    const struct type *t = n->cast;
    if (!type_is_sou(t) || lang_incomplete(l, t)) {
        lang_err(l, &n->pos, "D_OFFSETOF_TYPE", NULL, "cannot apply offsetof to type %s", t->name);
        return check_bad(n);
    }
    const struct type_member *m = member_find(l, t, n->name);
    if (!m)
        lang_err(l, &n->pos, "D_UNKNOWN", member_hint(l, t, n->name),
                 "failed to determine offset of %s: %s has none", n->name, t->name);
    else if (m->bits > 0)
        lang_err(l, &n->pos, "D_OFFSETOF_BITFIELD", NULL,
                 "cannot take the offset of a bit-field: %s", n->name);
    if (!m || m->bits > 0)
        return check_bad(n);
    node_set_int(n, m->offset, type_typedef("size_t", 6));
    return n->type;
}
