/* subr_pass.c - passes an event on, with what the program has computed, and tells other tools. */
#include "engine/subr/subr.h"

/* keep(n, value) */
uint64_t subr_keep(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    if (arg[0] < DIF_KEPT_MOST)
        x->ctx->kept[arg[0]] = arg[1];
    return 0;
}

/* pass(number, those of the first values that are kept) */
uint64_t subr_pass(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    for (unsigned i = 0; i < DIF_KEPT_ASKED; i++)
        if ((arg[1] >> i & 1) == 0)
            x->ctx->kept[i] = 0;
    x->ctx->kept[DIF_KEPT_LOWER] = x->ctx->read_lower;
    x->ctx->kept[DIF_KEPT_NAME] = subr_address(x->ctx->probe->name);
    if (x->ctx->terms != NULL && x->ctx->terms->pass != NULL)
        x->ctx->terms->pass(arg[0], x->ctx->argv, x->ctx->kept);
    return 0;
}

/* usdt(values); without any it returns whether another tool watches. */
uint64_t subr_usdt(struct exec *x, const uint64_t *arg, unsigned n)
{
    const struct engine_terms *t = x->ctx->terms;
    const uint32_t kind = x->ctx->probe->kind;
    uint64_t value[ENGINE_ARGS] = {0};
    if (t == NULL || t->watched == NULL || !t->watched(kind))
        return 0;
    for (unsigned i = 0; i < n; i++)
        value[i] = arg[i];
    if (n > 0)
        t->tell(kind, value);
    return 1;
}
