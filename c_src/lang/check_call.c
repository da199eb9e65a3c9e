/* check_call.c - calls of subroutines, and the arguments of everything that is called. */
#include "lang/check.h"

#include <string.h>

static bool is_function_name(const struct ident *id)
{
    return id->kind == ID_FN && id->fn->kind != FN_UNDEFINED;
}

unsigned check_count(const struct node *args)
{
    unsigned n = 0;
    for (; args; args = args->next)
        n++;
    return n;
}

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
    if (id->kind == ID_EXTERN) {
        lang_err(l, &f->pos, "D_FUNC_UNDEF", NULL,
                 "undefined function name: %s is only declared, and not part of D", f->name);
        return NULL;
    }
    if (id->kind != ID_FN) {
        lang_err(l, &f->pos, "D_FUNC_IDKIND", NULL, "'%s' is not a function", f->name);
        return NULL;
    }
    if (id->fn->kind == FN_UNDEFINED) {
        lang_err(l, &f->pos, "D_FUNC_UNDEF", NULL,
                 "undefined function name: %s is known, and not implemented", f->name);
        return NULL;
    }
    return id->fn;
}

/* print() is another thing in most languages. */
static const char *meant_instead(const struct lang_fn *fn)
{
    return strcmp(fn->name, "print") == 0
               ? "print() shows what a pointer points to; trace(x) records x, printf() formats"
               : NULL;
}

bool check_arg_count(struct lang *l, const struct lang_fn *fn, const struct node *args,
                     const struct diag_pos *pos)
{
    unsigned n = check_count(args);
    if (n >= fn->min && n <= fn->max)
        return true;
    const char *how = fn->min == fn->max ? "" : n < fn->min ? "at least " : "at most ";
    lang_err(l, pos, "D_PROTO_LEN", meant_instead(fn),
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
        if (*want == 's')
            check_as_string(l, a);
        t = a->type;
        bool fits = *want == '\0'  ? true /* one too many: that is said elsewhere */
                    : *want == 's' ? type_is_string(t) || check_is_null(a)
                    : *want == 'p' ? type_is_int(t) || type_refers(t)
                    : *want == 'q' ? type_refers(t) || type_is_string(t)
                    : *want == 't' ? type_same(t, &type_c[T_TERM]) || check_is_null(a)
                    : *want == 'a' ? type_refers(t) && check_is_alloca(a)
                                   : type_is_int(t);
        const char *expected = *want == 's'   ? "string"
                               : *want == 'p' ? "address"
                               : *want == 'q' ? "pointer"
                               : *want == 't' ? "term_t"
                               : *want == 'a' ? "pointer from alloca( )"
                                              : "integer";
        if (type_is_error(t)) {
            ok = false;
        } else if (!fits) {
            lang_err(l, &a->pos, "D_PROTO_ARG",
                     *want == 's'                        ? check_string_hint(l, a)
                     : *want == 'p' && type_is_string(t) ? "it is a string already"
                                                         : meant_instead(fn),
                     "%s( ) argument #%u is incompatible with prototype: %s expected, %s passed",
                     fn->name, i, expected, t->name);
            ok = false;
        }
        want += want[0] != '\0' && want[1] != '\0';
    }
    return ok;
}

const struct type *check_call(struct lang *l, struct node *n)
{
    const struct lang_fn *fn = check_callee(l, n);
    bool ok = fn != NULL;
    if (fn && fn->kind != FN_SUBR) {
        lang_err(l, &n->pos, "D_CG_EXPR",
                 fn->kind == FN_AGG ? lang_printf(l, "@name = %s(...) aggregates", fn->name)
                                    : "it must be a statement of its own",
                 "%s( ) may not be called from a D expression", fn->name);
        return check_bad(n);
    }
    if (fn) {
        ok = check_arg_count(l, fn, n->args, &n->pos);
        if (!check_args(l, fn, n->args))
            ok = false;
    } else {
        for (struct node *a = n->args; a; a = a->next)
            check_expr(l, a);
    }
    if (ok && fn->result == T_COUNT && n->args->kind == N_INT && !n->args->next &&
        n->args->num > l->opt->scratchsize) {
        lang_err(l, &n->pos, "D_ALLOCA_SIZE", NULL,
                 "alloca( ) size (%llu) is larger than scratchsize (%u)",
                 (unsigned long long)n->args->num, l->opt->scratchsize);
        return check_bad(n);
    }
    if (!ok)
        return check_bad(n);
    n->fn = fn;
    n->post = fn->what == FN_AFRESH;
    n->name = fn->name;
    n->kid[0] = NULL;
    if (fn->result == T_COUNT)
        return n->type = type_pointer(l, &type_c[T_VOID]);
    if (fn->result == T_DYN)
        return n->type = names_find(&l->globals, "curthread")->type;
    return n->type = fn->result == T_ULONG ? type_typedef("size_t", 6) : &type_c[fn->result];
}
