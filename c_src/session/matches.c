/* matches.c - the names of a node's probes without the node, and what a program's descriptions have
 * matched. */
#include "session/handle.h"
#include "base/err.h"
#include "tier/nameskept.h"

struct erltrace_names {
    struct names_kept *kept;
};

erltrace_names_t *erltrace_names_take(erltrace_t *h)
{
    if (!api_enter(h, API_OPEN, API_COMPILED))
        return NULL;
    struct erltrace_names *n = et_calloc(1, sizeof *n);
    int rc = n != NULL ? api_open_targets(h) : ET_ENOMEM;
    if (rc == 0)
        rc = h->session.ntiers == 1 ? names_take(h->session.tier[0].t, &n->kept, &h->session.diags)
                                    : ET_EUNSUP;
    if (api_leave(h, rc) == 0)
        return n;
    et_free(n);
    return NULL;
}

void erltrace_names_free(erltrace_names_t *n)
{
    if (n != NULL)
        names_free(n->kept);
    et_free(n);
}

int erltrace_target_names(erltrace_t *h, erltrace_names_t *n)
{
    if (!api_enter(h, API_OPEN, API_COMPILED))
        return -1;
    if (n == NULL || (h->session.flags & ERLTRACE_O_CHECK) == 0)
        return api_fail(h, ERLTRACE_E_INVAL);
    if (h->opened || h->local || h->ntargets > 0 || h->names != NULL)
        return api_fail_text(h, ERLTRACE_E_STATE, "the handle has another target");
    h->names = n;
    return 0;
}

struct tier *api_names_open(const struct erltrace_names *n)
{
    return names_open(n->kept);
}

int erltrace_match_iter(erltrace_t *h, erltrace_match_fn *fn, void *arg)
{
    if (!api_enter(h, API_COMPILED, ERLTRACE_STATE_FAILED))
        return -1;
    if (fn == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    const struct session *s = &h->session;
    size_t i = 0;
    if (s->program_of == NULL) /* enabling has not come as far as to match */
        return 0;
    for (uint32_t c = 0; c < s->img.nclauses; c++) {
        struct diag_pos pos = session_position(s, c);
        struct erltrace_match m = {
            .file = pos.file, .line = pos.line, .column = pos.col, .length = pos.len};
        const struct session_probe *last = NULL;
        for (; i < s->nprobes && s->probe[i].clause == c; i++) {
            const struct session_probe *p = &s->probe[i];
            bool other = last == NULL || last->mod != p->mod;
            m.name = m.probes++ == 0 ? p->name : m.name;
            if (p->func[0] != '\0') {
                m.modules += other;
                m.functions += other || last->func != p->func;
            }
            last = p;
        }
        int rc = fn(&m, arg);
        if (rc != 0)
            return rc;
    }
    return 0;
}
