/* check_known.c - compares what a program does with arguments to what the provider's tables say of
 * them. All of it is valid D but meaningless, so the program gets warnings and runs. */
#include "lang/check.h"

#include <stdarg.h>
#include <string.h>

#include "util/buftext.h"
#include "util/elixir.h"
#include "util/render.h"

static bool is_text(const struct type *t)
{
    return t && t->kind == TYPE_PTR && type_same(t->of, &type_c[T_CHAR]);
}

/* Warns once for each place: a clause with several descriptions may be checked for each. */
__attribute__((format(printf, 4, 5))) static void warn(struct lang *l, const struct diag_pos *pos,
                                                       const char *hint, const char *fmt, ...)
{
    va_list ap;
    for (size_t i = 0; i < l->diags->count; i++) {
        const struct diag *g = &l->diags->list[i];
        if (g->severity == DIAG_WARNING && g->pos.line == pos->line && g->pos.col == pos->col &&
            g->pos.file && pos->file && strcmp(g->pos.file, pos->file) == 0)
            return;
    }
    va_start(ap, fmt);
    buf_reset(&l->tmp);
    buf_vprintf(&l->tmp, fmt, ap);
    va_end(ap);
    diag_add(l->diags, DIAG_WARNING, pos, "", hint, "%s", buf_str(&l->tmp));
}

void check_key_of_text(struct lang *l, const struct node *key)
{
    const struct type *t;
    unsigned i = (unsigned)key->num;
    if (key->kind == N_ARG && check_argument(l, key, &t) && is_text(t))
        warn(l, &key->pos, lang_printf(l, "copyinstr(arg%u) is the text", i),
             "the key arg%u is the address of a text, not the text", i);
}

/* -- comparisons ------------------------------------------------------------------------------- */

/* Returns the argument whose text the expression is, copyinstr(argN) or args[N]; the expression
 * itself if there is none. */
static const struct node *text_of(const struct node *n)
{
    while (n->kind == N_CAST)
        n = n->kid[0];
    if (n->kind == N_CALL && n->fn && strcmp(n->fn->name, "copyinstr") == 0 && n->args)
        return n->args;
    return n;
}

/* Returns whether an argument of that form can be this text. */
static bool can_be(enum probe_form form, const char *s)
{
    switch (form) {
    case PROBE_FORM_PROCESS: return s[0] == '\0' || strchr("<#{", s[0]) != NULL;
    case PROBE_FORM_FUNCTION:
        return s[0] == '\0' || s[0] == '<' || (strchr(s, ':') && strchr(s, '/'));
    default: return true;
    }
}

/* Returns what comparing a process with s was probably meant to be. */
static const char *process_meant(struct lang *l, const char *s)
{
    size_t dots = 0, n = strspn(s, "0123456789.");
    for (const char *p = s; *p; p++)
        dots += *p == '.';
    if (s[n] != '\0')
        return "a process has no name there: whereis(NAME) in the node gives its pid";
    return dots == 0 ? lang_printf(l, "\"<0.%s.0>\"", s) : lang_printf(l, "\"<%s>\"", s);
}

/* The same for a function compared with s, which lacks its module or its arity. */
static const char *function_meant(struct lang *l, const char *s)
{
    return strchr(s, ':')   ? lang_printf(l, "with the arity: \"%s/1\"", s)
           : strchr(s, '/') ? lang_printf(l, "with the module: \"lists:%s\"", s)
                            : lang_printf(l,
                                          "as in \"lists:map/2\"; of a module alone: "
                                          "strtok(copyinstr(arg1), \":\") == \"%s\"",
                                          s);
}

static const char *ends(enum op op)
{
    return op == OP_NE ? "always true" : "never true";
}

static void compare_text(struct lang *l, const struct node *n, const struct node *arg,
                         const char *s)
{
    const struct type *t;
    const struct probe_arg *row = check_argument(l, arg, &t);
    if (!row || can_be(row->form, s))
        return;
    if (row->form == PROBE_FORM_FUNCTION && elixir_module_len(s) > 0)
        return; /* check_elixir.c has warned about it */
    bool process = row->form == PROBE_FORM_PROCESS;
    warn(l, &n->pos, process ? process_meant(l, s) : function_meant(l, s),
         "this is %s: arg%u, %s, is text like %s", ends(n->op), (unsigned)arg->num, row->name,
         process ? "\"<0.87.0>\"" : "\"lists:map/2\"");
}

static void compare_number(struct lang *l, const struct node *n, const struct node *arg,
                           const struct node *number)
{
    const struct type *t;
    unsigned i = (unsigned)arg->num;
    const struct probe_arg *row = check_argument(l, arg, &t);
    bool equality = n->op == OP_EQ || n->op == OP_NE;
    if (!row)
        return;
    if (row->form == PROBE_FORM_UNKNOWN && equality && number->num == (uint64_t)row->stands)
        return; /* the comparison asks whether it is known */
    if (row->form == PROBE_FORM_UNKNOWN)
        warn(l, &n->pos, NULL, "arg%u, %s, is not known here: it is always %lld", i, row->name,
             (long long)row->stands);
    else if (is_text(t) && equality && number->num != 0)
        warn(l, &n->pos,
             row->form == PROBE_FORM_PROCESS
                 ? lang_printf(l, "copyinstr(arg%u) == \"<0.%lld.0>\"", i, (long long)number->num)
                 : lang_printf(l, "copyinstr(arg%u) is the text", i),
             "this is %s: arg%u is the address of a text", ends(n->op), i);
}

void check_kept_whole(struct lang *l, const struct node *n)
{
    const struct node *value = n->kid[1];
    const struct lang_var *v = n->kid[0]->var;
    const char *scope = v->scope == SCOPE_THREAD   ? "self "
                        : v->scope == SCOPE_CLAUSE ? "this "
                                                   : "";
    if (v->made_by == 0 || value->kind == N_INT || value->kind == N_CALL || !type_is_int(v->type) ||
        !type_is_int(value->type) || v->type->size >= value->type->size)
        return;
    warn(l, &n->pos,
         lang_printf(l, "declare it before the first clause: %s%s %s%s;", scope, value->type->name,
                     v->name, v->assoc ? "[...]" : ""),
         "this keeps %u bits of %u: '%s' is an %s since line %d", v->type->size * 8,
         value->type->size * 8, v->name, v->type->name, v->made_by);
}

/* Returns whether an expression's value does not depend on the arguments in it. */
static bool only_tells(const struct node *n)
{
    return n->kind == N_CALL && n->num == DIF_SUBR_usdt;
}

/* Returns whether a size is part of a checked expression. */
static bool has_size(struct lang *l, const struct node *n)
{
    const struct type *t;
    const struct probe_arg *row = n->kind == N_ARG ? check_argument(l, n, &t) : NULL;
    if ((row && row->form == PROBE_FORM_SIZE) || (n->kind == N_VAR && n->var->sized) ||
        (n->kind == N_CALL && n->num == DIF_SUBR_term_words))
        return true;
    if (only_tells(n))
        return false;
    for (size_t i = 0; i < 3; i++)
        if (n->kid[i] && has_size(l, n->kid[i]))
            return true;
    for (const struct node *a = n->args; a; a = a->next)
        if (has_size(l, a))
            return true;
    return false;
}

void check_sized(struct lang *l, const struct node *assignment)
{
    struct lang_var *v = assignment->kid[0]->var;
    v->sized = v->sized || has_size(l, assignment->kid[1]);
}

void check_kept_term(struct lang *l, const struct node *n)
{
    const struct lang_var *v = n->kid[0]->var;
    if (v->scope == SCOPE_CLAUSE || !type_is_term(n->kid[1]->type) || check_is_atom(n->kid[1]))
        return;
    warn(l, &n->pos,
         "keep what is needed of it: term_text(x), term_string(x), term_int(x); at return, argv[] "
         "is that of the call",
         "'%s' is of no use in other events: a term that is no atom is gone when the probe has "
         "fired",
         v->name);
}

void check_term_as_number(struct lang *l, const struct node *at, const struct node *number)
{
    char text[sizeof number->num + 1];
    size_t n = 0;
    if (number->kind != N_INT || !number->is_char)
        return;
    for (unsigned i = sizeof number->num; i-- > 0;) {
        const char c = (char)(number->num >> (8 * i));
        if (c != '\0' || n > 0)
            text[n++] = c;
    }
    text[n] = '\0';
    if (n > 1) /* 'a' may well be the character of a list */
        warn(l, &at->pos, lang_printf(l, "an atom is written as text: \"%s\"", text),
             "'%s' is the number %lld", text, (long long)number->num);
}

void check_first_element(struct lang *l, const struct node *n)
{
    if (n->kind == N_INT && (int64_t)n->num < 1)
        warn(l, &n->pos, "elements are counted from 1 (argv[] from 0)", "there is no element %lld",
             (long long)n->num);
}

void check_comparison(struct lang *l, const struct node *n)
{
    const struct node *a = text_of(n->kid[0]), *b = text_of(n->kid[1]);
    if (b->kind == N_ARG) {
        const struct node *c = a;
        a = b;
        b = c;
    }
    if (a->kind != N_ARG)
        return;
    if (b->kind == N_STR && (n->op == OP_EQ || n->op == OP_NE))
        compare_text(l, n, a, b->str);
    else if (b->kind == N_INT)
        compare_number(l, n, a, b);
}

/* -- aggregations ------------------------------------------------------------------------------ */

/* Returns the condition that `value` is not the number that stands for "not known". */
static struct node *other_than(struct lang *l, struct node *value, int64_t stands,
                               const struct type *t)
{
    struct node *number = node_new(l, N_INT, &value->pos), *is = node_new(l, N_BINARY, &value->pos);
    node_set_int(number, type_truncate(t, (uint64_t)stands), t);
    is->op = OP_NE;
    is->kid[0] = value;
    is->kid[1] = number;
    return node_done(l, is);
}

static struct node *both(struct lang *l, struct node *all, struct node *is)
{
    if (!all)
        return is;
    struct node *n = node_new(l, N_BINARY, &is->pos);
    n->op = OP_LAND;
    n->kid[0] = all;
    n->kid[1] = is;
    return node_done(l, n);
}

/* Adds to `all` the conditions that exclude "not known" values below n: of arguments, and of the
 * sizes of terms. */
static struct node *known(struct lang *l, const struct node *n, struct node *all)
{
    const struct type *t;
    const struct probe_arg *row = n->kind == N_ARG ? check_argument(l, n, &t) : NULL;
    if (row && row->form == PROBE_FORM_UNKNOWN)
        warn(l, &n->pos, "count() counts the events",
             "arg%u, %s, is not known here: nothing is aggregated", (unsigned)n->num, row->name);
    if (row && (row->form == PROBE_FORM_UNKNOWN || row->form == PROBE_FORM_NUMBER ||
                row->form == PROBE_FORM_SIZE)) {
        struct node *arg = node_new(l, N_CAST, &n->pos);
        arg->cast = t;
        arg->kid[0] = node_clone(l, n);
        all = both(l, all, other_than(l, node_done(l, arg), row->stands, t));
    }
    if (n->kind == N_CALL && n->num == DIF_SUBR_term_words)
        return both(l, all, other_than(l, node_clone(l, n), -1, n->type));
    if (only_tells(n))
        return all;
    for (size_t i = 0; i < 3; i++)
        if (n->kid[i])
            all = known(l, n->kid[i], all);
    for (const struct node *a = n->args; a; a = a->next)
        all = known(l, a, all);
    return all;
}

struct node *check_aggregated(struct lang *l, const struct node *values, bool *size)
{
    struct node *all = NULL;
    *size = false;
    for (const struct node *n = values; n; n = n->next) {
        all = known(l, n, all);
        *size = *size || has_size(l, n);
    }
    if (all)
        check_expr(l, all);
    return all;
}
