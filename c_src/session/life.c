/* life.c - enabling, going, working, stopping. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "session/handle.h"
#include "base/clock.h"
#include "base/err.h"
#include "util/render.h"

enum {
    SLICE_MS = 100, /* the longest time an interrupt, or the end of a command, may go unnoticed */
    CHILD_END_MS = 2000 /* from a node closing its connections to the end of its process */
};

int erltrace_enable(erltrace_t *h)
{
    if (!api_enter(h, API_OPEN, API_COMPILED) || api_compile(h) != 0)
        return -1;
    int rc = api_open_targets(h);
    if (rc == 0 && h->session.program != NULL)
        rc = session_match(&h->session);
    h->phase = rc == 0 ? API_ENABLED : ERLTRACE_STATE_FAILED;
    return api_leave(h, rc);
}

int erltrace_handle_progress(erltrace_t *h, erltrace_progress_fn *fn, void *arg)
{
    if (h == NULL)
        return -1;
    h->progress_fn = fn;
    h->progress_arg = arg;
    return 0;
}

/* Ends the handle before anything could fire, as if it had run without any events. */
static int given_up(erltrace_t *h)
{
    diag_add(&h->session.diags, DIAG_NOTE, NULL, "", NULL,
             "ended while probes were being placed: nothing was traced");
    h->phase = ERLTRACE_STATE_DONE;
    api_release(h);
    return api_leave(h, 0);
}

int erltrace_go(erltrace_t *h)
{
    if (!api_enter(h, API_OPEN, API_ENABLED))
        return -1;
    if (h->phase < API_ENABLED && erltrace_enable(h) != 0)
        return -1;
    if (h->session.program == NULL)
        return api_fail_text(h, ERLTRACE_E_STATE, "no probes specified");
    if ((h->session.flags & ERLTRACE_O_CHECK) != 0)
        return api_fail_text(h, ERLTRACE_E_STATE, "programs are only checked");
    if (!option_on(&h->session.opt, OPTION_destructive) && session_is_destructive(&h->session))
        return api_fail(h, ERLTRACE_E_DESTRUCTIVE);
    h->busy = true;
    int rc = session_start(&h->session);
    h->busy = false;
    if (rc == ET_EABORT)
        return given_up(h);
    h->phase = rc == 0 ? ERLTRACE_STATE_RUNNING : ERLTRACE_STATE_FAILED;
    if (rc == 0)
        api_release(h);
    return api_leave(h, rc);
}

/* -- working ----------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    return (int64_t)(monotonic_ns() / 1000000);
}

/* Examines lost nodes. A node lost because its command ended is not an error. */
static void look_at_lost(erltrace_t *h)
{
    size_t lost = session_lost(&h->session);
    if (lost == h->lost_seen)
        return;
    h->lost_seen = lost;
    if (h->nwatched != lost || !api_commands_ended(h, CHILD_END_MS))
        return;
    h->lost_commands = (unsigned)lost;
    diags_clear(&h->session.diags);
    if (session_end_missed(&h->session))
        diag_add(&h->session.diags, DIAG_NOTE, NULL, "", NULL,
                 "the command ended before END could run in its node");
}

static int work_failed(erltrace_t *h, int rc)
{
    h->phase = ERLTRACE_STATE_FAILED;
    api_leave(h, rc);
    return ERLTRACE_WORK_ERROR;
}

/* Makes h->fd show what the nodes send. Returns 0 or -1. */
static int watch_nodes(erltrace_t *h)
{
    const size_t n = h->session.ntiers;
    for (size_t i = 0; i < n; i++) {
        int fd = session_fd(&h->session, i);
        struct epoll_event ev = {.events = EPOLLIN, .data = {.u64 = i}};
        if (fd >= 0 && epoll_ctl(h->fd, EPOLL_CTL_ADD, fd, &ev) != 0 && errno != EEXIST)
            return api_fail_text(h, ERLTRACE_E_IO, "cannot wait: %s", strerror(errno));
    }
    return 0;
}

/* Checks everything once. */
static int step(erltrace_t *h, int timeout_ms)
{
    int rc = 0;
    if (h->phase == ERLTRACE_STATE_RUNNING &&
        (atomic_load(&h->interrupted) || (h->nwatched > 0 && api_commands_ended(h, 0)))) {
        rc = session_stop(&h->session);
        h->phase = ERLTRACE_STATE_STOPPING;
    }
    int state = rc != 0 ? rc : session_work(&h->session, timeout_ms);
    if (h->io_failed || h->session.aborted) {
        api_leave(h, h->session.aborted ? ET_EABORT : ET_EIO);
        h->phase = ERLTRACE_STATE_FAILED;
        return ERLTRACE_WORK_ERROR;
    }
    if (state < 0)
        return work_failed(h, state);
    look_at_lost(h);
    api_leave(h, 0);
    if (h->fd >= 0 && h->session.cluster != NULL && watch_nodes(h) != 0) /* some may have come */
        return work_failed(h, ET_EIO);
    if (state != ERLTRACE_STATE_RUNNING)
        h->phase = state;
    return state == ERLTRACE_STATE_DONE ? ERLTRACE_WORK_DONE : ERLTRACE_WORK_OKAY;
}

int erltrace_work(erltrace_t *h, FILE *fp, int timeout_ms, erltrace_record_fn *record,
                  erltrace_data_fn *data, void *arg)
{
    if (h != NULL && h->phase == ERLTRACE_STATE_DONE && !h->busy)
        return ERLTRACE_WORK_DONE;
    if (!api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_STOPPING))
        return ERLTRACE_WORK_ERROR;
    int64_t end = now_ms() + (timeout_ms > 0 ? timeout_ms : 0), left = timeout_ms;
    int rc;
    h->fp = fp;
    h->record_fn = record;
    h->data_fn = data;
    h->work_arg = arg;
    h->reported = 0;
    h->busy = true;
    for (;;) {
        int64_t began = now_ms();
        int slice = left > SLICE_MS ? SLICE_MS : left > 0 ? (int)left : 0;
        rc = step(h, slice);
        left = end - now_ms();
        /* A wait shorter than asked for had a reason: data, or a signal. */
        if (rc != ERLTRACE_WORK_OKAY || h->reported > 0 || left <= 0 || now_ms() - began < slice)
            break;
    }
    h->busy = false;
    if (fp != NULL && h->output_fn == NULL && h->reported > 0 && fflush(fp) != 0 &&
        rc != ERLTRACE_WORK_ERROR) {
        h->phase = ERLTRACE_STATE_FAILED;
        rc = api_fail_text(h, ERLTRACE_E_IO, "failed to write the output: %s", strerror(errno));
    }
    h->fp = NULL;
    return rc;
}

int erltrace_timeout(erltrace_t *h)
{
    return api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_STOPPING)
               ? session_timeout(&h->session)
               : -1;
}

/* The descriptor is an epoll one and never changes; the set that it watches changes when a node is
 * lost. */
int erltrace_fd(erltrace_t *h)
{
    if (!api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_STOPPING))
        return -1;
    if (h->fd < 0 && (h->fd = epoll_create1(EPOLL_CLOEXEC)) < 0)
        return api_fail_text(h, ERLTRACE_E_IO, "cannot wait: %s", strerror(errno));
    return watch_nodes(h) == 0 ? h->fd : -1;
}

/* -- ending ------------------------------------------------------------------------------------ */

int erltrace_stop(erltrace_t *h)
{
    if (!api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_DONE))
        return -1;
    if (h->phase != ERLTRACE_STATE_RUNNING)
        return 0;
    int rc = session_stop(&h->session);
    h->phase = rc == 0 ? ERLTRACE_STATE_STOPPING : ERLTRACE_STATE_FAILED;
    return api_leave(h, rc);
}

void erltrace_interrupt(erltrace_t *h)
{
    if (h != NULL)
        atomic_store(&h->interrupted, 1);
}

const struct erltrace_status *erltrace_status(erltrace_t *h)
{
    if (h == NULL)
        return NULL;
    h->status = (struct erltrace_status){.state = h->phase > 0 ? (enum erltrace_state)h->phase
                                                               : ERLTRACE_STATE_NONE};
    session_status(&h->session, &h->status);
    h->status.lost -= h->lost_commands;
    return &h->status;
}
