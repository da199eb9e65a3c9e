/* subr_term.c - subroutines on terms: values of the traced program, by their handles.
 *
 * Only the tier knows the value of a handle (engine_terms); here it is just a number. 0, which
 * means no term, has no kind, text or parts, and is 0 as an integer, so that term_int(term_get(t,
 * "size")) is correct even where nothing has that name. A number that is not a handle of this
 * firing faults. */
#include "engine/subr/subr.h"

#include <string.h>

#include "base/size.h"

/* Returns whether there is a term to examine; false also after a fault. */
static bool there(struct exec *x, uint64_t term)
{
    if (term == 0)
        return false;
    if (x->ctx->terms != NULL && x->ctx->terms->known(x->ctx, term))
        return true;
    exec_fault(x, RECORD_FAULT_BADADDR, term);
    return false;
}

/* Counts what was examined in terms. All these functions are bounded, even where they exceed the
 * budget. */
static bool looked(struct exec *x)
{
    const uint64_t units = size_mul(x->ctx->looked, WORK_TERM);
    x->ctx->looked = 0;
    return exec_work(x, units);
}

static uint64_t empty(struct exec *x)
{
    return x->faulted ? 0 : subr_copy(x, "", 0);
}

uint64_t subr_term_kind(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    if (!there(x, arg[0]))
        return empty(x);
    const char *kind = x->ctx->terms->kind(x->ctx, arg[0]);
    return subr_copy(x, kind, strlen(kind));
}

uint64_t subr_term_int(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return there(x, arg[0]) ? (uint64_t)x->ctx->terms->integer(x->ctx, arg[0]) : 0;
}

uint64_t subr_term_size(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    if (!there(x, arg[0]))
        return 0;
    int64_t size = x->ctx->terms->size(x->ctx, arg[0]);
    return looked(x) ? (uint64_t)size : 0;
}

/* Returns what `write` writes for the term, in scratch. */
static uint64_t written(struct exec *x, uint64_t term,
                        size_t (*write)(struct engine_ctx *, uint64_t, char *, size_t))
{
    const size_t all = (size_t)x->e->img.strsize + 1;
    const size_t cap = size_min(all, x->left / WORK_TERM + 1);
    char *p = exec_scratch(x, cap);
    if (p == NULL)
        return 0;
    size_t n = write(x->ctx, term, p, cap);
    if (!looked(x))
        return 0;
    if (n + 1 == cap && cap < all)
        return exec_overdrawn(x); /* it would have been longer */
    return subr_address(p);
}

uint64_t subr_term_text(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return there(x, arg[0]) ? written(x, arg[0], x->ctx->terms->text) : empty(x);
}

uint64_t subr_term_string(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return there(x, arg[0]) ? written(x, arg[0], x->ctx->terms->string) : empty(x);
}

static uint64_t part(struct exec *x, uint64_t term)
{
    if (!looked(x))
        return 0;
    return term == ENGINE_TERMS_FULL ? exec_fault(x, RECORD_FAULT_NOSCRATCH, 0) : term;
}

uint64_t subr_term_element(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return there(x, arg[0]) ? part(x, x->ctx->terms->element(x->ctx, arg[0], (int64_t)arg[1])) : 0;
}

uint64_t subr_term_get(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text name;
    (void)n;
    return there(x, arg[0]) && subr_text(x, arg[1], &name)
               ? part(x, x->ctx->terms->get(x->ctx, arg[0], name.s, name.n))
               : 0;
}
