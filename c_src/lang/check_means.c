/* check_means.c - what a key of an aggregation names: a process, a function, a table. A program
 * that shows the key, such as the page, knows by it what can be asked next.
 *
 * A variable means what its assignments before this place agree on. Constants mean nothing, so they
 * agree with all: erlpid == "" ? "none" : erlname is a process. */
#include "lang/check.h"

#include <string.h>

const char *const lang_means_text[] = {
    [MEANS_PROCESS] = "process",   [MEANS_PID] = "pid",       [MEANS_MFA] = "mfa",
    [MEANS_FUNCTION] = "function", [MEANS_MODULE] = "module", [MEANS_TABLE] = "table",
    [MEANS_OTHER] = NULL,
};

uint8_t means_both(uint8_t a, uint8_t b)
{
    return a == MEANS_NOTHING || a == b ? b : b == MEANS_NOTHING ? a : MEANS_OTHER;
}

static uint8_t of_argument(struct lang *l, const struct node *n)
{
    const struct type *t;
    const struct probe_arg *row = check_argument(l, n, &t);
    switch (row ? row->form : PROBE_FORM_ANY) {
    case PROBE_FORM_PROCESS: return MEANS_PID;
    case PROBE_FORM_FUNCTION: return MEANS_MFA;
    case PROBE_FORM_TABLE: return MEANS_TABLE;
    default: return MEANS_OTHER;
    }
}

static uint8_t of_builtin(uint64_t number)
{
    switch (number) {
    case DIF_BUILTIN_erlname: return MEANS_PROCESS;
    case DIF_BUILTIN_erlpid: return MEANS_PID;
    case DIF_BUILTIN_erlfunc:
    case DIF_BUILTIN_erlcaller: return MEANS_MFA;
    case DIF_BUILTIN_probemod: return MEANS_MODULE;
    case DIF_BUILTIN_probefunc: return MEANS_FUNCTION;
    default: return MEANS_OTHER;
    }
}

static bool is_call(const struct node *n, unsigned subr)
{
    return n->kind == N_CALL && n->fn && n->fn->kind == FN_SUBR && n->fn->number == subr;
}

static uint8_t of_call(struct lang *l, const struct node *n)
{
    if (is_call(n, DIF_SUBR_erlname))
        return MEANS_PROCESS;
    if (is_call(n, DIF_SUBR_copyinstr))
        return check_means(l, n->args);
    /* strjoin(probemod, strjoin(":", probefunc)) */
    if (is_call(n, DIF_SUBR_strjoin) && is_call(n->args->next, DIF_SUBR_strjoin)) {
        const struct node *colon = n->args->next->args;
        if (colon->kind == N_STR && strcmp(colon->str, ":") == 0 &&
            check_means(l, n->args) == MEANS_MODULE &&
            check_means(l, colon->next) == MEANS_FUNCTION)
            return MEANS_MFA;
    }
    return MEANS_OTHER;
}

uint8_t check_means(struct lang *l, const struct node *n)
{
    switch (n->kind) {
    case N_INT:
    case N_STR: return MEANS_NOTHING;
    case N_CAST: return check_means(l, n->kid[0]);
    case N_ARG: return of_argument(l, n);
    case N_BUILTIN: return of_builtin(n->num);
    case N_VAR: return n->var->means;
    case N_COND: return means_both(check_means(l, n->kid[1]), check_means(l, n->kid[2]));
    case N_ASSIGN: return n->op == OP_NONE ? check_means(l, n->kid[1]) : MEANS_OTHER;
    case N_CALL: return of_call(l, n);
    default: return MEANS_OTHER;
    }
}
