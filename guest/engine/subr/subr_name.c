/* subr_name.c - names of the traced program's processes. */
#include "engine/subr/subr.h"

enum { LOOKS = 32 /* elements of a term: what finding a name takes, besides copying it */ };

/* erlname(pid): the text itself where it is no process, or none whose name is known. */
uint64_t subr_erlname(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text pid;
    (void)n;
    if (!subr_text(x, arg[0], &pid))
        return 0;
    if (x->ctx->terms == NULL || x->ctx->terms->name == NULL)
        return subr_copy(x, pid.s, pid.n);
    char name[ENGINE_NAME];
    size_t len =
        exec_work(x, LOOKS * WORK_TERM) ? x->ctx->terms->name(x->ctx, pid.s, pid.n, name) : 0;
    return x->faulted ? 0 : len > 0 ? subr_copy(x, name, len) : subr_copy(x, pid.s, pid.n);
}
