/* only.c - see only.h. */
#include "tier/only.h"

#include <string.h>

void only_init(struct only *o, const struct dif_image *img)
{
    memset(o, 0, sizeof *o);
    if ((img->builtins & dif_builtin_bit(DIF_BUILTIN_vtimestamp)) != 0)
        o->any |= PROBE_NEED_RUNNING;
    if ((img->builtins & dif_builtin_bit(DIF_BUILTIN_erlname)) != 0)
        o->any |= PROBE_NEED_PROCS;
}

static void add_pid(struct only *o, unsigned need, const char *pid)
{
    uint32_t n = o->need[need].n;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(o->need[need].pid[i], pid) == 0)
            return;
    if (n == ONLY_PIDS)
        o->any |= 1u << need;
    else
        o->need[need].pid[o->need[need].n++] = pid;
}

void only_add(struct only *o, enum probe_kind kind, const struct probe_pids *pids)
{
    const struct probe_def *def =
        kind >= PROBE_FN_ENTRY ? probe_fn_def(kind) : probe_erlang_kind(kind);
    if (def == NULL)
        return;
    o->some |= def->needs;
    if (pids == NULL) {
        o->any |= def->needs;
        return;
    }
    for (unsigned need = 0; need < ONLY_NEEDS; need++)
        for (uint32_t i = 0; (def->needs >> need & 1) != 0 && i < pids->n; i++)
            add_pid(o, need, pids->text[i]);
}

uint32_t only_needs(const struct only *o)
{
    return o->some & ~o->any;
}
