/* check_decl.c - declared variables and inlines (language.md 2.3, 2.5). */
#include "lang/check.h"
#include "util/table.h"

#include <string.h>

/* For an inline, which stores nothing. */
static bool named_type(struct lang *l, const struct diag_pos *pos, const char *name,
                       const struct type *type)
{
    if (type->kind == TYPE_VOID)
        lang_err(l, pos, "D_DECL_VOIDOBJ", NULL, "'%s' cannot be of type void", name);
    else if (lang_incomplete(l, type))
        lang_err(l, pos, "D_DECL_INCOMPLETE", NULL, "'%s' is of the incomplete type %s", name,
                 type->name);
    else
        return true;
    return false;
}

/* For a name that has storage. */
static bool usable_type(struct lang *l, const struct diag_pos *pos, const char *name,
                        const struct type *type)
{
    if (!named_type(l, pos, name, type))
        return false;
    if (type_size(type) <= WORD_BYTES_MAX)
        return true;
    lang_err(l, pos, "D_UNKNOWN", NULL, "'%s' is too large: %u bytes, the maximum is %u", name,
             type_size(type), (unsigned)WORD_BYTES_MAX);
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
    struct hash *own = l->include > 0 ? &l->ctypes : &l->types;
    const struct type *old = l->include > 0 ? NULL : type_typedef(name, strlen(name));
    bool taken = l->include == 0 && names_find(&l->globals, name) != NULL;
    if (!old)
        old = hash_gets(own, name);
    if (strchr(name, '`')) {
        lang_err(l, pos, "D_DECL_SCOPE", NULL, "a declared name cannot be scoped: %s", name);
    } else if (old ? !type_same(old, type) : taken) {
        lang_err(l, pos, "D_DECL_IDRED", "choose another name",
                 "identifier redeclared: %s (current: typedef %s, previous: %s)", name, type->name,
                 old ? old->name : "a variable or function");
    } else if (type->is_enum && lang_incomplete(l, type)) {
        lang_err(l, pos, "D_DECL_INCOMPLETE", NULL, "'%s' is of the incomplete type %s", name,
                 type->name);
    } else if (!old) {
        struct type *t = lang_alloc(l, sizeof *t);
        *t = *type;
        t->name = name;
        if (hash_puts(own, name, t) != 0)
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

struct node *check_sample(struct lang *l, const struct diag_pos *pos, const struct type *t)
{
    struct node *n = node_new(l, N_IDENT, pos);
    n->name = type_is_string(t) ? "probename" : "arg0";
    if (!type_refers(t) && !type_is_bytes(t))
        return n;
    struct node *cast = node_new(l, N_CAST, pos);
    cast->cast = type_pointer(l, type_refers(t) ? t->of : t);
    cast->kid[0] = n;
    if (type_refers(t))
        return node_done(l, cast);
    n = node_new(l, N_UNARY, pos);
    n->op = OP_DEREF;
    n->kid[0] = node_done(l, cast);
    return node_done(l, n);
}

static struct node *sample_arguments(struct lang *l, const struct diag_pos *pos,
                                     const struct lang_inline *in)
{
    struct node *list = NULL, **tail = &list;
    for (unsigned i = 0; i < in->nparams; i++, tail = &(*tail)->next)
        *tail = check_sample(l, pos, in->param[i].type);
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
    if (!usable_name(l, pos, name) || !named_type(l, pos, name, in->type) ||
        !usable_params(l, pos, in))
        return;
    if (names_find(&l->globals, name)) {
        lang_err(l, pos, "D_DECL_IDRED", "choose another name", "identifier redeclared: %s", name);
        return;
    }
    /* This checks the definition itself, once; each use checks its own copy. */
    struct node *probe =
        check_instance(l, in->expr, NULL, in->param, in->nparams, sample_arguments(l, pos, in));
    probe->by_member = true;
    check_expr(l, probe);
    bool ok = check_assignable(l, in->type, probe, pos, "=") && !type_is_error(probe->type);
    if (!ok)
        node_set_error(in->expr);
    in->library = l->library;
    names_add(l, &l->globals, name, ID_INLINE)->inlined = in;
}
