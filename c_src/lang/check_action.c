/* check_action.c - statements: actions, aggregations (language.md 6, 7.1), expressions.
 *
 * A statement is parsed as an expression, and its shape tells what it is: "@a[...] = f(...)" is an
 * aggregation, a call of an action's name is that action, and everything else is evaluated for its
 * effects. */
#include "lang/check.h"

#include <string.h>

/* -- aggregations ------------------------------------------------------------------------------ */

/* A parameter of lquantize or llquantize: an integer constant within [min, max]. */
struct param {
    const char *name;      /* name in messages */
    const char *type_tag;  /* tag: not an integer constant */
    const char *value_tag; /* tag: out of range */
    const char *match_tag; /* tag: differs from the aggregation's first use */
    int64_t min, max;
    int64_t missing; /* value if omitted */
    bool typed;      /* the prototype gives it a type */
};

/* clang-format off */
static const struct param lquantize_params[] = {
    {"base", "D_LQUANT_BASETYPE", "D_LQUANT_BASEVAL", "D_LQUANT_MATCHBASE", INT32_MIN, INT32_MAX, 0, true},
    {"limit", "D_LQUANT_LIMTYPE", "D_LQUANT_LIMVAL", "D_LQUANT_MATCHLIM", INT32_MIN, INT32_MAX, 0, true},
    {"step", "D_LQUANT_STEPTYPE", "D_LQUANT_STEPVAL", "D_LQUANT_MATCHSTEP", 1, UINT16_MAX, 1, false},
};
static const struct param llquantize_params[] = {
    {"factor", "D_LLQUANT_FACTORTYPE", "D_LLQUANT_FACTORVAL", "D_LLQUANT_MATCHFACTOR", 2, UINT16_MAX, 0, true},
    {"low magnitude", "D_LLQUANT_LMAGTYPE", "D_LLQUANT_LMAGVAL", "D_LLQUANT_MATCHLMAG", 0, UINT16_MAX, 0, true},
    {"high magnitude", "D_LLQUANT_HMAGTYPE", "D_LLQUANT_HMAGVAL", "D_LLQUANT_MATCHHMAG", 0, UINT16_MAX, 0, true},
    {"steps", "D_LLQUANT_STEPTYPE", "D_LLQUANT_STEPVAL", "D_LLQUANT_MATCHSTEPS", 1, UINT16_MAX, 0, true},
};
/* clang-format on */

static bool constant_param(struct lang *l, const char *fn, const struct param *p, struct node *n,
                           int64_t *v)
{
    if (type_is_error(check_expr(l, n)))
        return false;
    if (p->typed && !type_is_int(n->type)) {
        lang_err(l, &n->pos, "D_PROTO_ARG", NULL,
                 "%s( ) argument '%s' is incompatible with prototype: integer expected, %s passed",
                 fn, p->name, n->type->name);
        return false;
    }
    if (n->kind != N_INT) {
        lang_err(l, &n->pos, p->type_tag, NULL, "%s( ) argument '%s' must be an integer constant",
                 fn, p->name);
        return false;
    }
    *v = (int64_t)n->num;
    if (!n->type->is_signed && *v < 0)
        *v = INT64_MAX; /* far too large for any limit */
    if (*v >= p->min && *v <= p->max)
        return true;
    bool positive = p->min == 1 && *v < 1;
    lang_err(l, &n->pos, positive ? p->type_tag : p->value_tag, NULL,
             "%s( ) argument '%s' must be from %lld to %lld", fn, p->name, (long long)p->min,
             (long long)p->max);
    return false;
}

/* at: the position of each parameter. */
static bool lquantize_fits(struct lang *l, const int64_t v[4], const struct diag_pos at[4])
{
    if (v[1] <= v[0]) {
        lang_err(l, &at[1], "D_LQUANT_MISMATCH", NULL,
                 "lquantize( ) base (%lld) must be less than limit (%lld)", (long long)v[0],
                 (long long)v[1]);
        return false;
    }
    int64_t levels = (v[1] - v[0]) / v[2];
    if (levels >= 1 && levels <= UINT16_MAX)
        return true;
    if (levels < 1)
        lang_err(l, &at[2], "D_LQUANT_STEPLARGE", NULL,
                 "lquantize( ) step (%lld) is too large: it leaves no level", (long long)v[2]);
    else
        lang_err(l, &at[2], "D_LQUANT_STEPSMALL", "use a larger step",
                 "lquantize( ) step (%lld) is too small: %lld levels, the maximum is %d",
                 (long long)v[2], (long long)levels, UINT16_MAX);
    return false;
}

/* Computes factor^n; returns false if it needs more than 64 bits. */
static bool power(uint64_t factor, uint64_t n, uint64_t *v)
{
    *v = 1;
    for (; n > 0; n--) {
        if (__builtin_mul_overflow(*v, factor, v))
            return false;
    }
    return true;
}

/* Checks the rules of language.md 7.1. */
static bool llquantize_fits(struct lang *l, const int64_t v[4], const struct diag_pos at[4])
{
    uint64_t factor = (uint64_t)v[0], low = (uint64_t)v[1], high = (uint64_t)v[2];
    uint64_t steps = (uint64_t)v[3], p;
    const char *why = NULL;
    if (high < low) {
        lang_err(l, &at[2], "D_LLQUANT_HMAGVAL", NULL,
                 "llquantize( ) high magnitude (%llu) is below the low one (%llu)",
                 (unsigned long long)high, (unsigned long long)low);
        return false;
    }
    if (!power(factor, high + 1, &p)) {
        lang_err(l, &at[2], "D_LLQUANT_HMAGVAL", NULL,
                 "llquantize( ) factor (%llu) to the power of the high magnitude (%llu) + 1 "
                 "overflows 64 bits",
                 (unsigned long long)factor, (unsigned long long)high);
        return false;
    }
    if (steps < factor) {
        if (factor % steps != 0)
            why = "must divide the factor";
    } else if (steps > factor) {
        power(factor, low == 0 ? 2 : low + 1, &p); /* a possible overflow is harmless: see below */
        if (steps % factor != 0)
            why = "must be a multiple of the factor";
        else if (p % steps != 0)
            why = low == 0 ? "must divide the factor squared"
                           : "must divide the factor to the power of the low magnitude + 1";
    }
    if (!why) {
        uint64_t bins = 2 * (high - low + 1) * (steps - steps / factor) + 3;
        if (bins <= WORD_HIST_MAX)
            return true;
        why = "make a histogram that is too large";
    }
    lang_err(l, &at[3], "D_LLQUANT_STEPVAL", NULL, "llquantize( ) steps (%llu) %s",
             (unsigned long long)steps, why);
    return false;
}

/* Checks a value that is aggregated. */
static bool scalar_value(struct lang *l, const char *fn, struct node *n)
{
    const struct type *t = check_expr(l, n);
    if (type_is_error(t))
        return false;
    if (type_is_scalar(t) && !type_is_term(t))
        return true;
    lang_err(l, &n->pos, "D_AGG_SCALAR",
             type_is_string(t) ? "a string can be a key: @[s] = count()"
             : type_is_term(t) ? "term_int(x) gives its integer, term_float(x, 1000) thousandths"
                               : NULL,
             "%s( ) argument must be of scalar type, not %s", fn, t->name);
    return false;
}

/* Checks the arguments of an aggregating function. Stores the parameters in `param` and their
 * positions in `at`; returns the list of values that the update takes (value, increment). */
static struct node *agg_values(struct lang *l, const struct lang_fn *fn, struct node *call,
                               int64_t param[4], struct diag_pos at[4], bool *ok)
{
    struct node *args = call->args, *value = args, *incr = NULL, *a;
    const struct param *params = NULL;
    size_t nparams = 0;
    *ok = check_arg_count(l, fn, args, &call->pos);
    if (!*ok || !value)
        return NULL;
    *ok = scalar_value(l, fn->name, value);
    a = value->next;
    if (fn->number == AGG_LQUANTIZE) {
        params = lquantize_params;
        nparams = 3;
    } else if (fn->number == AGG_LLQUANTIZE) {
        params = llquantize_params;
        nparams = 4;
    }
    for (size_t i = 0; i < nparams; i++) {
        param[i] = params[i].missing;
        at[i] = a ? a->pos : call->pos;
        if (a && !constant_param(l, fn->name, &params[i], a, &param[i]))
            *ok = false;
        a = a ? a->next : NULL;
    }
    if (*ok && fn->number == AGG_LQUANTIZE)
        *ok = lquantize_fits(l, param, at);
    if (*ok && fn->number == AGG_LLQUANTIZE)
        *ok = llquantize_fits(l, param, at);
    if (fn->number == AGG_QUANTIZE || nparams > 0) {
        incr = a;
        if (!incr) {
            incr = node_new(l, N_INT, &call->pos);
            node_set_int(incr, 1, &type_c[T_INT]);
        } else if (!scalar_value(l, fn->name, incr)) {
            *ok = false;
        }
        incr->next = NULL;
    }
    value->next = incr;
    return value;
}

static bool same_params(struct lang *l, const struct lang_agg *a, const struct lang_fn *fn,
                        const int64_t param[4], const struct diag_pos at[4])
{
    const struct param *params = fn->number == AGG_LQUANTIZE ? lquantize_params : llquantize_params;
    size_t n = fn->number == AGG_LQUANTIZE ? 3 : fn->number == AGG_LLQUANTIZE ? 4 : 0;
    for (size_t i = 0; i < n; i++) {
        if (a->param[i] != param[i]) {
            lang_err(l, &at[i], params[i].match_tag, NULL,
                     "%s( ) %s (%lld) does not match the earlier use of @%s (%lld)", fn->name,
                     params[i].name, (long long)param[i], a->name, (long long)a->param[i]);
            return false;
        }
    }
    return true;
}

static bool is_agg_function(const struct ident *id)
{
    return id->kind == ID_FN && id->fn->kind == FN_AGG;
}

/* Returns the aggregating function on the right side; NULL after reporting an error. */
static const struct lang_fn *agg_function(struct lang *l, const char *name, struct node *right)
{
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d) " " text
    const char *hint = "aggregating functions:"
#include "words/aggs.list"
        ;
#undef WORD_AGG
    if (right->kind == N_CALL && right->kid[0]->kind == N_IDENT) {
        const struct node *f = right->kid[0];
        const struct ident *id = names_find(&l->globals, f->name);
        if (!id) {
            const char *near = names_suggest(l, &l->globals, f->name, is_agg_function);
            lang_err(l, &f->pos, "D_FUNC_UNDEF", near ? near : hint, "undefined function name: %s",
                     f->name);
            return NULL;
        }
        if (is_agg_function(id))
            return id->fn;
    }
    if (right->kind == N_IDENT) {
        const struct ident *id = names_find(&l->globals, right->name);
        if (id && is_agg_function(id))
            hint = lang_printf(l, "call it: %s()", right->name);
    }
    lang_err(l, &right->pos, "D_AGG_FUNC", hint,
             "@%s must be assigned the result of an aggregating function", name);
    return NULL;
}

static void aggregation(struct lang *l, struct lang_stmt *s)
{
    struct node *left = s->expr->kid[0], *right = s->expr->kid[1];
    struct node *keys = NULL, *name = left;
    int64_t param[4] = {0};
    struct diag_pos at[4] = {0};
    bool ok;
    if (left->kind == N_INDEX) {
        keys = left->args;
        name = left->kid[0];
    }
    if (name->kind == N_INDEX) {
        lang_err(l, &left->pos, "D_AGG_MDIM", "several keys are written @a[x, y]",
                 "an aggregation has one list of keys");
        return;
    }
    const struct lang_fn *fn = NULL;
    if (s->expr->op != OP_NONE)
        lang_err(l, &s->expr->pos, "D_AGG_FUNC",
                 lang_printf(l, "@%s = sum(x) adds, @%s = count() counts", name->name, name->name),
                 "@%s must be assigned with =", name->name);
    else
        fn = agg_function(l, name->name, right);
    struct lang_agg *a = agg_find(l, name->name);
    for (struct node *k = keys; k; k = k->next) {
        if (check_is_place_call(l, k))
            check_place_call(l, k, names_find(&l->globals, k->kid[0]->name)->fn);
    }
    if (!a) {
        a = agg_new(l, name->name, fn ? (enum word_agg)fn->number : AGG_NONE);
        ok = check_first_keys(l, a->key, &a->nkeys, keys, &left->pos);
        if (fn) {
            s->args = agg_values(l, fn, right, param, at, &ok);
            memcpy(a->param, param, sizeof param);
        }
    } else {
        ok = check_keys(l, lang_printf(l, "@%s[ ]", a->name), a->key, a->nkeys, keys, &left->pos);
        if (fn)
            s->args = agg_values(l, fn, right, param, at, &ok);
        if (fn && a->func == AGG_NONE) /* its first use was wrong and has been reported */
            ok = false;
        else if (fn && (int)a->func != fn->number)
            lang_err(l, &right->pos, "D_AGG_REDEF", "use another name",
                     "aggregation @%s was assigned another function before", a->name);
        else if (fn && ok)
            same_params(l, a, fn, param, at);
    }
    unsigned i = 0;
    for (const struct node *k = keys; k; k = k->next, i++) {
        check_key_of_text(l, k);
        if (i < a->nkeys)
            a->means[i] = means_both(a->means[i], check_means(l, k));
    }
    if (s->args)
        s->known = check_aggregated(l, s->args, &s->sized);
    s->act = ACT_AGG;
    s->agg = a;
    /* keys, then values, in one list */
    if (keys) {
        struct node *last = keys;
        while (last->next)
            last = last->next;
        last->next = s->args;
        s->args = keys;
    }
}

/* -- actions ----------------------------------------------------------------------------------- */

/* Returns the aggregation that an argument names; it must have been assigned earlier in the
 * text. */
static struct lang_agg *agg_argument(struct lang *l, struct node *n, const char *fn,
                                     const char *arg_tag, const char *bad_tag)
{
    if (n->kind == N_INDEX && n->kid[0]->kind == N_AGG) {
        lang_err(l, &n->pos, arg_tag, "it acts on all keys: leave the [ ] out",
                 "%s( ) takes an aggregation without keys", fn);
        return NULL;
    }
    if (n->kind != N_AGG) {
        check_expr(l, n);
        if (!type_is_error(n->type))
            lang_err(l, &n->pos, arg_tag, "aggregations are written @name",
                     "%s( ) argument must be an aggregation", fn);
        return NULL;
    }
    n->agg = agg_find(l, n->name);
    if (!n->agg && !lang_was_dropped(l, n->name))
        lang_err(l, &n->pos, bad_tag, "assign it earlier in the text", "undefined aggregation: @%s",
                 n->name);
    return n->agg;
}

static void add_ref(struct lang *l, struct lang_stmt *s, struct lang_agg *a)
{
    struct lang_aggref **tail = &s->refs;
    while (*tail)
        tail = &(*tail)->next;
    *tail = lang_alloc(l, sizeof **tail);
    (*tail)->agg = a;
}

static void act_trace(struct lang *l, struct lang_stmt *s, struct node *args)
{
    if (args->kind == N_AGG || (args->kind == N_INDEX && args->kid[0]->kind == N_AGG)) {
        lang_err(l, &args->pos, "D_TRACE_DYN", "printa() prints aggregations",
                 "trace( ) may not be applied to a dynamic expression");
        return;
    }
    const struct type *t = check_expr(l, args);
    check_as_text(l, args, false);
    if (t->kind == TYPE_VOID)
        lang_err(l, &args->pos, "D_TRACE_VOID", NULL,
                 "trace( ) may not be applied to a void expression");
    s->args = args;
}

/* printf and the actions that take the same arguments. */
static void act_printf(struct lang *l, struct lang_stmt *s, struct node *args, const char *name)
{
    struct node *fmt = args;
    bool ok = true;
    for (struct node *a = args->next; a; a = a->next) {
        ok = !type_is_error(check_expr(l, a)) && ok;
        if (a->type->kind == TYPE_ARRAY)
            check_as_string(l, a);
    }
    check_expr(l, fmt);
    if (fmt->kind != N_STR) {
        if (!type_is_error(fmt->type))
            lang_err(l, &fmt->pos, "D_PRINTF_ARG_FMT",
                     fmt->is_char                ? "strings are written with double quotes"
                     : type_is_string(fmt->type) ? lang_printf(l, "%s(\"%%s\", x)", name)
                                                 : "trace(x), or printf(\"%d\", x)",
                     "%s( ) format must be a string constant", name);
        return;
    }
    s->format = fmt->str;
    s->args = args->next;
    if (s->act == ACT_FREOPEN && strcmp(fmt->str, ".") == 0)
        lang_err(l, &fmt->pos, "D_FREOPEN_INVALID", "freopen(\"\") returns to the original output",
                 "freopen( ) argument #1 cannot be \".\"");
    else if (s->act == ACT_FREOPEN && fmt->len == 0 && !s->args)
        return; /* output returns to where it went first */
    else if (ok)
        format_check_printf(l, fmt, s->args, name);
    s->format = fmt->str;
}

static bool same_keys(struct lang *l, const struct lang_agg *a, const struct lang_agg *b,
                      const struct diag_pos *pos)
{
    if (a->nkeys != b->nkeys) {
        lang_err(l, pos, "D_PRINTA_AGGKEY", NULL,
                 "printa( ) @%s and @%s do not have the same number of keys", a->name, b->name);
        return false;
    }
    for (unsigned i = 0; i < a->nkeys; i++) {
        if (type_is_error(a->key[i]) || type_is_error(b->key[i]) || type_same(a->key[i], b->key[i]))
            continue;
        lang_err(l, pos, "D_PRINTA_AGGPROTO", NULL,
                 "printa( ) @%s and @%s do not have the same key #%u: %s and %s", a->name, b->name,
                 i + 1, a->key[i]->name, b->key[i]->name);
        return false;
    }
    return true;
}

static void act_printa(struct lang *l, struct lang_stmt *s, struct node *args)
{
    struct node *fmt = NULL;
    if (args->kind == N_STR || (args->kind != N_AGG && args->next)) {
        fmt = args;
        args = args->next;
        check_expr(l, fmt);
        if (fmt->kind != N_STR) {
            if (!type_is_error(fmt->type))
                lang_err(l, &fmt->pos, "D_PRINTF_ARG_FMT",
                         fmt->is_char ? "strings are written with double quotes" : NULL,
                         "printa( ) format must be a string constant");
            return;
        }
        s->format = fmt->str;
        if (!args) {
            lang_err(l, &fmt->pos, "D_PRINTA_PROTO", "printa(\"%s %@d\\n\", @name)",
                     "printa( ) prototype mismatch: a format needs an aggregation");
            return;
        }
    }
    for (struct node *a = args; a; a = a->next) {
        struct lang_agg *agg = agg_argument(l, a, "printa", "D_PRINTA_AGGARG", "D_PRINTA_AGGBAD");
        if (!agg)
            return;
        add_ref(l, s, agg);
        if (!same_keys(l, s->refs->agg, agg, &a->pos))
            return;
    }
    if (fmt) {
        format_check_printa(l, fmt, s->refs->agg);
        s->format = fmt->str;
    }
}

/* clear, trunc, normalize, denormalize: an aggregation and an optional number. */
static void act_on_agg(struct lang *l, struct lang_stmt *s, struct node *args, const char *name)
{
    static const char *const tags[][2] = {
        [ACT_CLEAR] = {"D_CLEAR_AGGARG", "D_CLEAR_AGGBAD"},
        [ACT_TRUNC] = {"D_TRUNC_AGGARG", "D_TRUNC_AGGBAD"},
        [ACT_NORMALIZE] = {"D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD"},
        [ACT_DENORMALIZE] = {"D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD"},
    };
    struct lang_agg *a = agg_argument(l, args, name, tags[s->act][0], tags[s->act][1]);
    if (a)
        add_ref(l, s, a);
    s->args = args->next;
    if (!s->args)
        return;
    const struct type *t = check_expr(l, s->args);
    if (!type_is_int(t) && !type_is_error(t))
        lang_err(l, &s->args->pos, s->act == ACT_NORMALIZE ? "D_NORMALIZE_SCALAR" : "D_PROTO_ARG",
                 NULL, "%s( ) argument #2 must be an integer, not %s", name, t->name);
}

static void act_tracemem(struct lang *l, struct lang_stmt *s, struct node *args)
{
    struct node *size = args->next, *limit = size->next;
    const struct type *t = check_expr(l, args);
    check_expr(l, size);
    if (!type_is_error(t) && !type_is_int(t) && !type_refers(t))
        lang_err(l, &args->pos, "D_TRACEMEM_ADDR", NULL,
                 "tracemem( ) argument #1 must be an address, not %s", t->name);
    if (!type_is_error(size->type) &&
        (size->kind != N_INT || size->num == 0 || (int64_t)size->num < 0))
        lang_err(l, &size->pos, "D_TRACEMEM_SIZE", NULL,
                 "tracemem( ) argument #2 must be a non-zero positive integral constant");
    else if (size->num > WORD_BYTES_MAX)
        lang_err(l, &size->pos, "D_TRACEMEM_SIZE", NULL,
                 "tracemem( ) argument #2 is too large: %llu, the maximum is %u",
                 (unsigned long long)size->num, (unsigned)WORD_BYTES_MAX);
    if (limit && !type_is_int(check_expr(l, limit)) && !type_is_error(limit->type))
        lang_err(l, &limit->pos, "D_PROTO_ARG", NULL,
                 "tracemem( ) argument #3 is incompatible with prototype: integer expected, %s "
                 "passed",
                 limit->type->name);
    s->size = (uint32_t)size->num;
    s->args = args;
    args->next = limit;
}

static void act_print(struct lang *l, struct lang_stmt *s, const struct lang_fn *fn,
                      struct node *args)
{
    if (type_is_term(check_expr(l, args))) {
        s->act = ACT_TRACE;
        act_trace(l, s, args);
        return;
    }
    if (!check_args(l, fn, args))
        return;
    const struct type *t = args->type->of;
    if (!t || lang_incomplete(l, t) || type_size(t) == 0 || t->kind == TYPE_FUNC) {
        lang_err(l, &args->pos, "D_PRINT_SIZE", NULL,
                 "print( ) argument #1 refers to an object without size: %s", args->type->name);
        return;
    }
    s->size = type_size(t);
    if (args->type->kind == TYPE_ARRAY) { /* print the whole array */
        t = args->type;
        s->size = type_size(t);
    }
    if (s->size > WORD_BYTES_MAX) {
        lang_err(
            l, &args->pos, "D_PRINT_SIZE", "print its members",
            "print( ) argument #1 refers to a %s, which is too large: %u bytes, the maximum is %u",
            t->name, s->size, (unsigned)WORD_BYTES_MAX);
        return;
    }
    s->format = check_describe(l, t, args);
    s->args = args;
}

static void action(struct lang *l, struct lang_stmt *s, const struct lang_fn *fn)
{
    struct node *call = s->expr;
    s->act = fn->number;
    s->records = s->act != ACT_COMMIT && s->act != ACT_DISCARD;
    if (s->act != ACT_STACK && !check_arg_count(l, fn, call->args, &call->pos))
        return;
    switch (s->act) {
    case ACT_TRACE: act_trace(l, s, call->args); break;
    case ACT_PRINTF:
    case ACT_SYSTEM:
    case ACT_FREOPEN: act_printf(l, s, call->args, fn->name); break;
    case ACT_PRINTA: act_printa(l, s, call->args); break;
    case ACT_TRACEMEM: act_tracemem(l, s, call->args); break;
    case ACT_PRINT: act_print(l, s, fn, call->args); break;
    case ACT_STACK:
        check_place_call(l, call, fn);
        s->args = call;
        break;
    case ACT_EXIT:
    case ACT_STOP:
    case ACT_RAISE:
    case ACT_COPYOUT:
    case ACT_COPYOUTSTR:
    case ACT_BREAKPOINT:
    case ACT_PANIC:
    case ACT_CHILL:
    case ACT_PCAP:
    case ACT_SETOPT:
    case ACT_FTRUNCATE:
    case ACT_FOLLOW:
    case ACT_SPECULATE:
    case ACT_COMMIT:
    case ACT_DISCARD:
        check_args(l, fn, call->args);
        s->args = call->args;
        break;
    default: act_on_agg(l, s, call->args, fn->name);
    }
}

/* Returns the aggregation at the base of a chain of [ ], or NULL. */
static const struct node *agg_below(const struct node *n)
{
    while (n->kind == N_INDEX)
        n = n->kid[0];
    return n->kind == N_AGG ? n : NULL;
}

void check_stmt(struct lang *l, struct lang_stmt *s)
{
    struct node *e = s->expr;
    if (e->kind == N_ASSIGN && agg_below(e->kid[0])) {
        aggregation(l, s);
        return;
    }
    const struct node *agg = agg_below(e);
    if (agg) {
        lang_err(l, &e->pos, "D_AGG_NULL", lang_printf(l, "@%s = count() counts", agg->name),
                 "expression has null effect: @%s", agg->name);
        return;
    }
    if (e->kind == N_CALL) {
        const struct lang_fn *fn = check_callee(l, e);
        if (!fn) {
            for (struct node *a = e->args; a; a = a->next) {
                if (!agg_below(a))
                    check_expr(l, a);
            }
            node_set_error(e);
            return;
        }
        if (fn->kind == FN_ACTION) {
            action(l, s, fn);
            return;
        }
    }
    s->act = ACT_EXPR;
    check_expr(l, e);
}
