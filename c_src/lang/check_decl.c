/* check_decl.c - declared variables and inlines (reference 2.3, 2.5). */
#include "lang/check.h"

#include <string.h>

static bool usable_type(struct lang *l, const struct diag_pos *pos, const char *name,
                        const struct type *type)
{
    if (type->kind == TYPE_VOID)
        lang_err(l, pos, "D_DECL_VOIDOBJ", NULL, "'%s' cannot be of type void", name);
    else if (type->kind == TYPE_FLOAT)
        lang_err(l, pos, "D_UNKNOWN", NULL, "variables of type %s are not built yet", type->name);
    else if (type_is_incomplete(type))
        lang_err(l, pos, "D_DECL_INCOMPLETE", NULL, "'%s' is of the incomplete type %s", name,
                 type->name);
    else if (type_size(type) > TYPE_SIZE_MAX)
        lang_err(l, pos, "D_UNKNOWN", NULL, "'%s' is too large: %u bytes, %u are possible", name,
                 type_size(type), (unsigned)TYPE_SIZE_MAX);
    else
        return true;
    return false;
}

static bool usable_name(struct lang *l, const struct diag_pos *pos, const char *name)
{
    if (strchr(name, '`')) {
        lang_err(l, pos, "D_DECL_SCOPE", NULL, "a declared name cannot be scoped: %s", name);
        return false;
    }
    if (typedef_find(l, name, strlen(name))) {
        lang_err(l, pos, "D_DECL_IDRED", "choose another name",
                 "identifier redeclared: %s is the name of a type", name);
        return false;
    }
    return true;
}

static bool same_variable(const struct lang_var *v, const struct type *type, bool assoc,
                          const struct type *const *key, unsigned nkeys)
{
    if (!type_same(v->type, type) || v->assoc != assoc || v->nkeys != nkeys)
        return false;
    for (unsigned i = 0; i < nkeys; i++) {
        if (!type_same(v->key[i], key[i]))
            return false;
    }
    return true;
}

void decl_variable(struct lang *l, const struct diag_pos *pos, const char *name,
                   enum lang_scope scope, const struct type *type, bool assoc,
                   const struct type *const *key, unsigned nkeys)
{
    if (!usable_name(l, pos, name) || !usable_type(l, pos, name, type))
        return;
    const struct ident *id = names_find(names_of_scope(l, scope), name);
    if (!id) {
        struct lang_var *v = var_new(l, name, scope, type);
        v->assoc = assoc;
        v->nkeys = (uint8_t)nkeys;
        for (unsigned i = 0; i < nkeys; i++)
            v->key[i] = key[i];
    } else if (id->kind != ID_VAR) {
        lang_err(l, pos, "D_DECL_IDRED", "choose another name", "identifier redeclared: %s is %s",
                 name,
                 id->kind == ID_FN       ? "a function"
                 : id->kind == ID_INLINE ? "an inline"
                 : id->kind == ID_EXTERN ? "external"
                 : id->kind == ID_INT    ? "a constant"
                                         : "built in");
    } else if (!type_is_error(id->var->type) && !same_variable(id->var, type, assoc, key, nkeys)) {
        lang_err(l, pos, "D_DECL_IDRED", NULL,
                 "identifier redeclared: %s%s (current: %s%s, previous: %s%s)", scope_prefix(scope),
                 name, type->name, assoc ? "[...]" : "", id->var->type->name,
                 id->var->assoc ? "[...]" : "");
    }
}

void decl_typedef(struct lang *l, const struct diag_pos *pos, const char *name,
                  const struct type *type)
{
    const struct type *old = typedef_find(l, name, strlen(name));
    if (strchr(name, '`')) {
        lang_err(l, pos, "D_DECL_SCOPE", NULL, "a declared name cannot be scoped: %s", name);
    } else if (old ? !type_same(old, type) : names_find(&l->globals, name) != NULL) {
        lang_err(l, pos, "D_DECL_IDRED", "choose another name",
                 "identifier redeclared: %s (current: typedef %s, previous: %s)", name, type->name,
                 old ? old->name : "a variable or function");
    } else if (type->is_enum && type_is_incomplete(type)) {
        lang_err(l, pos, "D_DECL_INCOMPLETE", NULL, "'%s' is of the incomplete type %s", name,
                 type->name);
    } else if (!old) {
        struct type *t = lang_alloc(l, sizeof *t);
        *t = *type;
        t->name = name;
        if (hash_puts(&l->types, name, t) != 0)
            lang_nomem(l);
    }
}

void decl_extern(struct lang *l, const struct diag_pos *pos, const char *name,
                 const struct type *type)
{
    if (!usable_name(l, pos, name))
        return;
    const struct ident *id = names_find(&l->globals, name);
    if (!id)
        names_add(l, &l->globals, name, ID_EXTERN)->type = type;
    else if (id->kind != ID_EXTERN || !type_same(id->type, type))
        lang_err(l, pos, "D_DECL_IDRED", "choose another name", "identifier redeclared: %s", name);
}

/* Some value of each parameter's type, not a constant, so that the expression can be checked. */
static struct node *sample_arguments(struct lang *l, const struct diag_pos *pos,
                                     const struct lang_inline *in)
{
    struct node *list = NULL, **tail = &list;
    for (unsigned i = 0; i < in->nparams; i++, tail = &(*tail)->next) {
        *tail = node_new(l, N_IDENT, pos);
        (*tail)->name = type_is_string(in->param[i].type) ? "probename" : "arg0";
    }
    return list;
}

static bool usable_params(struct lang *l, const struct diag_pos *pos, const struct lang_inline *in)
{
    for (unsigned i = 0; i < in->nparams; i++) {
        const struct lang_param *p = &in->param[i];
        if (!usable_type(l, pos, p->name, p->type))
            return false;
        for (unsigned k = 0; k < i; k++) {
            if (strcmp(in->param[k].name, p->name) == 0) {
                lang_err(l, pos, "D_DECL_PROTO_FORM", NULL, "parameter %s is declared twice",
                         p->name);
                return false;
            }
        }
    }
    return true;
}

void decl_inline(struct lang *l, const struct diag_pos *pos, const char *name,
                 struct lang_inline *in)
{
    if (!usable_name(l, pos, name) || !usable_type(l, pos, name, in->type) ||
        !usable_params(l, pos, in))
        return;
    if (names_find(&l->globals, name)) {
        lang_err(l, pos, "D_DECL_IDRED", "choose another name", "identifier redeclared: %s", name);
        return;
    }
    /* Checked once here, for its own sake; each use checks a copy of its own. */
    struct node *probe = check_instance(l, in, sample_arguments(l, pos, in));
    check_expr(l, probe);
    bool ok = check_assignable(l, in->type, probe, pos, "=") && !type_is_error(probe->type);
    if (!ok)
        node_set_error(in->expr);
    names_add(l, &l->globals, name, ID_INLINE)->inlined = in;
}
