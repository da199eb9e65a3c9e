/* check_xlate.c - translators and their use (language.md 2.6).
 *
 * xlate < T > (e) becomes N_XLATE, which lives only as the kid of a member access. The access is
 * replaced by the translator's expression for that member, with e in place of the input, so only
 * that expression is evaluated and the generator knows nothing of translators. Code that uses a kid
 * by its members sets by_member before checking it. A translation anywhere else is used as a whole:
 * check_expr replaces it with clause memory and a store to each of its members. */
#include "lang/check.h"

#include <string.h>

static const struct type *output_of(const struct type *t)
{
    return t->kind == TYPE_PTR ? t->of : t;
}

bool check_fits(const struct type *in, const struct type *from)
{
    const struct node value = {.kind = N_VAR, .type = from};
    return check_compatible(in, &value);
}

/* Returns the translator for exactly that pair, else the first whose input the value fits. */
static const struct lang_xlator *find(const struct lang *l, const struct type *from,
                                      const struct type *out)
{
    const struct lang_xlator *near = NULL;
    for (const struct lang_xlator *x = l->xlators; x; x = x->next) {
        if (!type_same(x->out, out) || !version_has(l->opt, x->version))
            continue;
        if (type_same(x->in.type, from))
            return x;
        if (!near && check_fits(x->in.type, from))
            near = x;
    }
    return near;
}

/* Returns the library's translator for the thread that a probe fires for, which every tier can
 * have: that of curthread. */
static const struct lang_xlator *of_this_thread(struct lang *l, const struct type *out)
{
    const struct type *thread = hash_gets(&l->types, "struct _thread");
    return thread ? find(l, type_pointer(l, thread), out) : NULL;
}

bool check_translates(const struct lang *l, const struct type *from, const struct type *to)
{
    return check_fits(to, from) || (type_is_sou(output_of(to)) && find(l, from, output_of(to)));
}

const struct type *check_xlate(struct lang *l, struct node *n)
{
    struct node *k = n->kid[0];
    const struct type *to = n->cast, *out = output_of(to);
    k->by_member = true;
    const struct type *from = check_expr(l, k);
    if (type_is_error(from))
        return check_bad(n);
    if (!type_is_sou(out) || lang_incomplete(l, out)) {
        lang_err(l, &n->pos, "D_XLATE_SOU", NULL,
                 "xlate must be applied to a complete struct or union, or a pointer to one: %s",
                 to->name);
        return check_bad(n);
    }
    n->xlator = k->kind == N_BUILTIN && type_refers(from) ? of_this_thread(l, out) : NULL;
    if (!n->xlator)
        n->xlator = find(l, from, out);
    if (!n->xlator) {
        const char *hint = NULL;
        for (const struct lang_xlator *x = l->xlators; x && !hint; x = x->next) {
            if (type_same(x->out, out))
                hint = lang_printf(l, "there is a translator from %s", x->in.type->name);
        }
        lang_err(l, &n->pos, "D_XLATE_NONE", hint, "cannot translate from \"%s\" to \"%s\"",
                 from->name, out->name);
        return check_bad(n);
    }
    return n->type = to;
}

/* Makes (tmp = e) for an input that must be evaluated once, however often the member's expression
 * uses it; *value reads it. */
static struct node *assigned(struct lang *l, const struct node *e, struct node **value)
{
    struct lang_var *v =
        var_new(l, lang_printf(l, "xlate %u", l->nvars), SCOPE_CLAUSE, check_decayed(l, e->type));
    v->alloca = (uint8_t)check_origin(e);
    struct node *set = node_new(l, N_ASSIGN, &e->pos), *var = node_new(l, N_VAR, &e->pos);
    var->var = v;
    var->type = v->type;
    *value = node_clone(l, var);
    set->kid[0] = var;
    set->kid[1] = node_clone(l, e);
    set->type = v->type;
    return node_done(l, set);
}

/* Gives the expression the member's type. */
static void give_type(struct lang *l, struct node *n, const struct type *t)
{
    if (type_is_error(n->type) || type_same(n->type, t))
        return;
    if (type_is_scalar(t) || type_is_string(t)) {
        struct node *k = node_new(l, N_ERROR, &n->pos);
        struct node cast = {.kind = N_CAST, .pos = n->pos, .cast = t, .height = n->height};
        check_replace(k, n);
        cast.kid[0] = k;
        check_replace(n, &cast);
        check_expr(l, n);
    } else if (t->kind == TYPE_ARRAY) {
        check_as_string(l, n);
    }
}

const struct type *check_xlated_member(struct lang *l, struct node *n)
{
    const struct node *x = n->kid[0];
    const struct lang_xmember *m = x->xlator->members;
    while (m && m->member != n->member)
        m = m->next;
    if (!m) {
        lang_err(l, &n->pos, "D_XLATE_NOCONV", NULL,
                 "translator from \"%s\" to \"%s\" does not define a conversion for member %s",
                 x->xlator->in.type->name, x->xlator->out->name, n->name);
        return check_bad(n);
    }
    struct node *value = x->kid[0], *set = NULL;
    const struct type *type = n->member->type;
    const struct diag_pos pos = n->pos;
    if (value->kind != N_XLATE && node_has_effect(value))
        set = assigned(l, x->kid[0], &value);
    struct node *e =
        check_instance(l, m->expr, x->xlator->library ? &pos : NULL, &x->xlator->in, 1, value);
    e->by_member = n->by_member;
    l->sealed++;
    check_expr(l, e);
    give_type(l, e, type);
    l->sealed--;
    if (set && !type_is_error(e->type)) {
        struct node *both = node_new(l, N_BINARY, &pos);
        both->op = OP_COMMA;
        both->kid[0] = set;
        both->kid[1] = e;
        both->type = e->type;
        e = node_done(l, both);
    }
    check_replace(n, e);
    n->pos = pos;
    return n->type;
}

/* -- as a whole -------------------------------------------------------------------------------- */

static struct node *variable(struct lang *l, struct lang_var *v, const struct diag_pos *pos)
{
    struct node *n = node_new(l, N_VAR, pos);
    n->var = v;
    n->type = v->type;
    return n;
}

static struct node *two(struct lang *l, enum node_kind kind, enum op op, struct node *a,
                        struct node *b)
{
    struct node *n = node_new(l, kind, &a->pos);
    n->op = (uint8_t)op;
    n->kid[0] = a;
    n->kid[1] = b;
    return node_done(l, n);
}

static struct node *member_of(struct lang *l, struct node *of, const char *name)
{
    struct node *n = node_new(l, N_MEMBER, &of->pos);
    n->kid[0] = of;
    n->name = name;
    n->post = of->type->kind == TYPE_PTR;
    return node_done(l, n);
}

static struct node *one(struct lang *l, enum op op, struct node *of)
{
    struct node *n = node_new(l, N_UNARY, &of->pos);
    n->op = (uint8_t)op;
    n->kid[0] = of;
    return node_done(l, n);
}

static struct node *cast_to(struct lang *l, const struct type *t, struct node *of)
{
    struct node *n = node_new(l, N_CAST, &of->pos);
    n->cast = t;
    n->kid[0] = of;
    return node_done(l, n);
}

/* Returns the member of *v as a store target; an array of chars becomes a string in place. */
static struct node *place_of(struct lang *l, struct lang_var *v, const struct type_member *m,
                             const struct diag_pos *pos)
{
    struct node *place = member_of(l, variable(l, v, pos), m->name);
    if (!type_is_chars(m->type) || m->type->kind != TYPE_ARRAY)
        return place;
    struct type *string = lang_alloc(l, sizeof *string);
    *string = type_c[T_STRING];
    string->size = type_size(m->type);
    return one(l, OP_DEREF, cast_to(l, type_pointer(l, string), one(l, OP_ADDR, place)));
}

static bool has_all(struct lang *l, const struct node *n)
{
    const struct lang_xlator *x = n->xlator;
    for (const struct type_member *m = lang_members(l, x->out); m; m = m->next) {
        const struct lang_xmember *given = x->members;
        while (given && given->member != m)
            given = given->next;
        if (given)
            continue;
        lang_err(l, &n->pos, "D_XLATE_NOCONV", "use the members that it has, one by one",
                 "translator from \"%s\" to \"%s\" does not define a conversion for member %s, so "
                 "there is no value as a whole",
                 x->in.type->name, x->out->name, m->name);
        return false;
    }
    return true;
}

/* (T *)alloca(sizeof (T)) */
static struct node *room_for(struct lang *l, const struct type *pointer, const struct diag_pos *pos)
{
    struct node *name = node_new(l, N_IDENT, pos), *size = node_new(l, N_INT, pos);
    struct node *call = node_new(l, N_CALL, pos);
    name->name = "alloca";
    name->scope = SCOPE_GLOBAL;
    node_set_int(size, type_size(pointer->of), type_typedef("size_t", 6));
    call->kid[0] = name;
    call->args = size;
    return cast_to(l, pointer, node_done(l, call));
}

const struct type *check_xlated_whole(struct lang *l, struct node *n)
{
    const struct type *out = output_of(n->type);
    const struct diag_pos pos = n->pos;
    if (!has_all(l, n))
        return check_bad(n);
    struct node *x = node_clone(l, n), *value = x->kid[0], *all;
    struct lang_var *v =
        var_new(l, lang_printf(l, "xlate %u", l->nvars), SCOPE_CLAUSE, type_pointer(l, out));
    all = two(l, N_ASSIGN, OP_NONE, variable(l, v, &pos), room_for(l, v->type, &pos));
    if (value->kind != N_XLATE && node_has_effect(value)) {
        all = two(l, N_BINARY, OP_COMMA, assigned(l, x->kid[0], &value), all);
        x->kid[0] = value;
    }
    for (const struct type_member *m = lang_members(l, out); m; m = m->next) {
        struct node *from = node_clone(l, x);
        from->by_member = true;
        all = two(l, N_BINARY, OP_COMMA, all,
                  two(l, N_ASSIGN, OP_NONE, place_of(l, v, m, &pos), member_of(l, from, m->name)));
    }
    struct node *result = variable(l, v, &pos);
    if (n->type->kind != TYPE_PTR)
        result = one(l, OP_DEREF, result);
    check_replace(n, two(l, N_BINARY, OP_COMMA, all, result));
    n->pos = pos;
    return check_expr(l, n);
}

/* -- declarations ------------------------------------------------------------------------------ */

/* Checks a member's expression with a sample value as the input. */
static void check_member_expr(struct lang *l, const struct lang_xlator *xl, struct lang_xmember *m)
{
    const struct type *t = m->member->type;
    struct node *in = check_sample(l, &m->pos, xl->in.type);
    if (type_is_int(xl->in.type)) { /* covers enums and chars */
        struct node *cast = node_new(l, N_CAST, &m->pos);
        cast->cast = xl->in.type;
        cast->kid[0] = in;
        in = node_done(l, cast);
    }
    struct node *e = check_instance(l, m->expr, NULL, &xl->in, 1, in);
    e->by_member = type_is_sou(t) || (t->kind == TYPE_PTR && type_is_sou(t->of));
    check_expr(l, e);
    if (type_is_error(e->type)) {
        node_set_error(m->expr);
    } else if (!check_compatible(t, e)) {
        lang_err(l, &m->pos, "D_XLATE_INCOMPAT",
                 type_is_string(t) || type_is_chars(t) ? check_string_hint(l, e) : NULL,
                 "translator member %s definition uses incompatible types: \"%s\" = \"%s\"",
                 m->member->name, t->name, e->type->name);
        node_set_error(m->expr);
    }
}

/* Returns whether it reads a structure of the kernel, of which only a clause for a probe there can
 * speak: a library's is then checked where it is used. */
static bool of_kernel(const struct lang_xlator *xl)
{
    const struct type *t = xl->in.type;
    return xl->library && t->kind == TYPE_PTR &&
           (type_is_incomplete(t->of) || (type_is_sou(t->of) && t->of->sou->foreign != 0));
}

void decl_translator(struct lang *l, const struct diag_pos *pos, struct lang_xlator *xl)
{
    struct lang_xlator **tail = &l->xlators;
    xl->library = l->library;
    xl->version = l->xlator_version;
    l->xlator_version = 0;
    for (; *tail; tail = &(*tail)->next) {
        if (type_same((*tail)->out, xl->out) && type_same((*tail)->in.type, xl->in.type)) {
            lang_err(l, pos, "D_XLATE_REDECL", NULL,
                     "translator from %s to %s has already been declared", xl->in.type->name,
                     xl->out->name);
            return;
        }
    }
    for (struct lang_xmember *m = of_kernel(xl) ? NULL : xl->members; m; m = m->next)
        check_member_expr(l, xl, m);
    *tail = xl;
}
