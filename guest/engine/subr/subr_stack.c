/* subr_stack.c - stacks of the process that the probe is about: the process id of the traced
 * program, then 8-byte addresses, the rest 0 (words/kinds.list). */
#include "engine/subr/subr.h"

#include <string.h>

#include "base/size.h"

uint64_t subr_ustack(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    struct engine_ctx *ctx = x->ctx;
    const size_t most = size_min(arg[0], WORD_BYTES_MAX / 8 - 1);
    uint64_t *p = (uint64_t *)(void *)exec_scratch(x, (most + 1) * sizeof *p);
    if (p == NULL)
        return 0;
    memset(p, 0, (most + 1) * sizeof *p);
    p[0] = (uint64_t)(int64_t)x->e->self.pid;
    if (ctx->stack != NULL)
        ctx->stack(ctx, p + 1, (uint32_t)most);
    const uint64_t looked = ctx->looked;
    ctx->looked = 0;
    return exec_work(x, looked) ? subr_address(p) : 0;
}

uint64_t subr_jstack(struct exec *x, const uint64_t *arg, unsigned n)
{
    return subr_ustack(x, arg, n);
}
