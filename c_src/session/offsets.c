/* offsets.c - how far the clocks of nodes are ahead of this host's, for programs. */
#include "session/handle.h"
#include "cluster/clocks.h"
#include "util/buftext.h"

bool session_clocks(const struct session *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->ntiers; i++)
        n += s->tier[i].t->ops->clock != NULL;
    return n > 1;
}

int erltrace_clock_iter(erltrace_t *h, erltrace_clock_fn *fn, void *arg)
{
    int rc = 0;
    if (!api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_DONE))
        return -1;
    if (fn == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    struct session *s = &h->session;
    struct buf text = BUF_INIT;
    for (size_t i = 0; rc == 0 && session_clocks(s) && i < s->ntiers; i++) {
        const struct session_tier *one = &s->tier[i];
        struct tier *t = one->t;
        struct cluster_ahead a;
        if (t->ops->clock == NULL || one->pending || one->lost)
            continue;
        const int failed = t->ops->clock(t, &a, &s->diags);
        if (failed != 0) {
            buf_free(&text);
            return api_leave(h, failed);
        }
        buf_reset(&text);
        cluster_ahead_text(&a, &text);
        rc = fn(&(struct erltrace_clock){.node = t->ops->target(t),
                                         .known = a.timestamp.known,
                                         .offset = cluster_offset(&a.timestamp),
                                         .error = (uint64_t)cluster_error(&a.timestamp),
                                         .wall_known = a.walltimestamp.known,
                                         .wall_offset = cluster_offset(&a.walltimestamp),
                                         .wall_error = (uint64_t)cluster_error(&a.walltimestamp),
                                         .text = buf_str(&text)},
                arg);
    }
    buf_free(&text);
    return rc;
}
