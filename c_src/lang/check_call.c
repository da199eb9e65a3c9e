/* check_call.c - calls of subroutines, and the arguments of everything that is called. */
#include "lang/check.h"

#include <string.h>

static bool is_function_name(const struct ident *id)
{
    return id->fn && id->fn->kind != FN_UNDEFINED;
}

unsigned check_count(const struct node *args)
{
    unsigned n = 0;
    for (; args; args = args->next)
        n++;
    return n;
}

/* Returns the function that a call names; NULL after reporting an error. */
const struct lang_fn *check_callee(struct lang *l, struct node *n)
{
    const struct node *f = n->kid[0];
    if (f->kind != N_IDENT || f->scope != SCOPE_GLOBAL) {
        lang_err(l, &n->pos, "D_FUNC_IDENT", n->kid[0]->kind == N_MEMBER ? lang_no_call() : NULL,
                 "only a function's name can be called");
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
                 "undefined function name: %s is only declared and not part of D", f->name);
        return NULL;
    }
    if (!id->fn) {
        lang_err(l, &f->pos, "D_FUNC_IDKIND", NULL, "'%s' is not a function", f->name);
        return NULL;
    }
    if (id->fn->kind == FN_UNDEFINED) {
        lang_err(l, &f->pos, "D_FUNC_UNDEF", NULL,
                 "undefined function name: %s is known but not implemented", f->name);
        return NULL;
    }
    return id->fn;
}

/* Returns a hint for print(), which means something else in most languages. */
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

/* Returns whether a pointer or array leads to `size` bytes, as an integer or structure of that
 * size, as single bytes, or as void. */
static bool points_to_bytes(const struct type *t, uint32_t size)
{
    if (!type_refers(t))
        return false;
    const struct type *of = t->of;
    while (of->kind == TYPE_ARRAY)
        of = of->of;
    return of->kind == TYPE_VOID || (of->kind == TYPE_INT && of->size == 1 && !of->is_signed) ||
           ((of->kind == TYPE_INT || type_is_sou(of)) &&
            type_size(t->kind == TYPE_PTR ? t->of : t) == size);
}

static bool fits_prototype(struct node *a, char want)
{
    const struct type *t = a->type;
    switch (want) {
    case '\0': return true; /* one argument too many: reported elsewhere */
    case 's': return type_is_string(t) || check_is_null(a);
    case 'n': return type_is_string(t) || check_is_null(a) || a->kind == N_ARG; /* its address */
    case 'p': return type_is_int(t) || type_refers(t);
    case 'q': return type_refers(t) || type_is_string(t) || check_is_null(a);
    case 'r': return type_refers(t) || check_is_null(a);
    case '4': return points_to_bytes(t, 4) || check_is_null(a);
    case '6': return points_to_bytes(t, 16) || check_is_null(a);
    case 't': return type_is_term(t) || check_is_null(a);
    case 'k':
    case 'u': return type_is_term(t) || type_is_string(t) || type_is_int(t);
    case 'a':
        return (type_refers(t) && check_may_write(a) && check_origin(a) != ALLOCA_NO) ||
               check_is_null(a);
    default: return type_is_int(t);
    }
}

static const char *wanted(char want)
{
    switch (want) {
    case 's': return "string";
    case 'n': return "string or term_t";
    case 'p': return "address";
    case 'q':
    case 'r': return "pointer";
    case '4': return "ipaddr_t *";
    case '6': return "struct in6_addr *";
    case 't': return "term_t";
    case 'k':
    case 'u': return "term_t, string or integer";
    case 'a': return "pointer from alloca( )";
    default: return "integer";
    }
}

bool check_args(struct lang *l, const struct lang_fn *fn, struct node *args)
{
    const char *want = fn->args;
    unsigned i = 1;
    bool ok = true;
    for (struct node *a = args; a; a = a->next, i++) {
        const struct type *t = check_expr(l, a);
        if (*want == 's' || *want == 'n' || *want == 'k' || *want == 'u')
            check_as_string(l, a);
        if (*want == 'n' || *want == 'u')
            check_as_text(l, a, false);
        t = a->type;
        if (type_is_error(t)) {
            ok = false;
        } else if (!fits_prototype(a, *want)) {
            lang_err(l, &a->pos, "D_PROTO_ARG",
                     *want == 's'                        ? check_string_hint(l, a)
                     : *want == 'p' && type_is_string(t) ? "it is already a string"
                                                         : meant_instead(fn),
                     "%s( ) argument #%u is incompatible with prototype: %s expected, %s passed",
                     fn->name, i, wanted(*want), t->name);
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
        /* Errors in its arguments come first. */
        ok = check_arg_count(l, fn, n->args, &n->pos);
        for (struct node *a = n->args; a; a = a->next)
            ok = (check_is_aggregation(a) || !type_is_error(check_expr(l, a))) && ok;
        if (!ok)
            return check_bad(n);
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
    const struct node *size = ok && fn->result == T_COUNT ? n->args : NULL;
    if (size && size->next) /* copyin(address, size) */
        size = size->next;
    if (size && size->kind == N_INT && size->num > l->opt->scratchsize) {
        lang_err(l, &n->pos, "D_ALLOCA_SIZE",
                 lang_printf(l, "-x scratchsize=%llu", (unsigned long long)size->num),
                 "%s( ) size (%llu) is larger than scratchsize (%u)", fn->name,
                 (unsigned long long)size->num, l->opt->scratchsize);
        return check_bad(n);
    }
    if (!ok)
        return check_bad(n);
    if (fn->number == DIF_SUBR_atom && !check_atom(l, n->args))
        return check_bad(n);
    n->fn = fn;
    n->num = fn->number;
    if (fn->number == DIF_SUBR_element || fn->number == DIF_SUBR_term_element)
        check_first_element(l, fn->number == DIF_SUBR_element ? n->args : n->args->next);
    if (fn->number == DIF_SUBR_map_get)
        check_term_as_number(l, n->args, n->args);
    if (fn->number == DIF_SUBR_map_get && type_is_string(n->args->type))
        n->num = DIF_SUBR_map_get_name;
    else if (fn->number == DIF_SUBR_map_get && type_is_int(n->args->type))
        n->num = DIF_SUBR_map_get_int;
    n->post = fn->afresh;
    n->name = fn->name;
    n->kid[0] = NULL;
    if (fn->number == DIF_SUBR_usdt)
        return check_usdt(l, n);
    if (fn->result == T_COUNT)
        return n->type = type_pointer(l, &type_c[T_VOID]);
    if (fn->result == T_DYN)
        return n->type = names_find(&l->globals, "curthread")->type;
    return n->type = fn->result == T_ULONG ? type_typedef("size_t", 6) : &type_c[fn->result];
}
