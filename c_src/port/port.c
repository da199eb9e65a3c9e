/* port.c - `erltrace port`: the program behind a handle of the Erlang application.
 *
 * One thread owns the session and answers requests; another, in port_io.c, reads and writes frames.
 * Between requests the session works: what it reads goes to the queue, which hands it out on
 * request. doc/port-protocol.md is the manual. */
#include "port/port.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "port/port_terms.h"
#include "etf/write.h"
#include "util/buftext.h"

enum { QUEUE_BYTES = 4 << 20, NO_END_MS = 60000 };

int64_t port_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool port_is_alone(struct port *p)
{
    const char *why;
    return port_io_end(p->io, &why) != PORT_OPEN;
}

bool port_has_begun(const struct port *p)
{
    return erltrace_status(p->h)->state != ERLTRACE_STATE_NONE;
}

/* -- messages from the session ----------------------------------------------------------------- */

static void add_item(struct port *p, bool event)
{
    if (!port_queue_add(&p->queue, &p->item, event))
        p->no_memory = true;
}

static void on_diag(const struct erltrace_diag *d, void *arg)
{
    struct port *p = arg;
    if (!p->asked) {
        buf_reset(&p->item);
        port_put_event(&p->item, EVENT_DIAGNOSTIC, d);
        add_item(p, true);
    } else if (p->ndiags < PORT_DIAGS_MOST) {
        port_put_diag(&p->diags, d);
        p->ndiags++;
    }
}

static int on_data(const struct erltrace_record *r, const struct erltrace_data *d, void *arg)
{
    struct port *p = arg;
    buf_reset(&p->item);
    if (d != NULL && port_put_data(&p->item, r, d))
        add_item(p, false);
    return ERLTRACE_CONSUME_NEXT;
}

/* Puts an event among the items. */
static int tell(struct port *p, enum event_kind kind, const void *event)
{
    buf_reset(&p->item);
    port_put_event(&p->item, kind, event);
    add_item(p, true);
    return ERLTRACE_HANDLE_OK;
}

static int on_drop(const struct erltrace_drop *d, void *arg)
{
    return tell(arg, EVENT_DROP, d);
}

static int on_fault(const struct erltrace_fault *f, void *arg)
{
    return tell(arg, EVENT_FAULT, f);
}

static int on_member(const struct erltrace_member *m, void *arg)
{
    return tell(arg, EVENT_MEMBER, m);
}

static int on_stats(const struct erltrace_stats *s, void *arg)
{
    struct port *p = arg;
    int64_t asked = ERLTRACE_OPT_UNSET;
    if (s->kind == ERLTRACE_STATS_TOTAL &&
        (erltrace_getopt(p->h, "stats", &asked) != 0 || asked == ERLTRACE_OPT_UNSET))
        return ERLTRACE_HANDLE_OK;
    return tell(p, EVENT_COST, s);
}

/* A frame that the owner is not ready to read is left out: the next one repeats its content. */
static void tell_progress(struct port *p, const struct erltrace_progress *g)
{
    struct buf b = BUF_INIT;
    port_put_progress(&b, p->go_ref, g);
    if (!b.oom && port_io_ready(p->io))
        port_io_put(p->io, &b, NULL);
    buf_free(&b);
}

/* Requests wait while probes are placed; a request that ends the trace, or the end of the owner,
 * ends the placing. */
static int on_progress(const struct erltrace_progress *g, void *arg)
{
    struct port *p = arg;
    if (p->progress && g->fresh)
        tell_progress(p, g);
    return port_is_alone(p) || port_io_waits(p->io, port_request_ends) ? ERLTRACE_HANDLE_ABORT
                                                                       : ERLTRACE_HANDLE_OK;
}

void port_settle(struct port *p)
{
    p->settled = true;
    if (erltrace_status(p->h)->state != ERLTRACE_STATE_FAILED)
        return;
    p->failure = erltrace_errno(p->h);
    buf_reset(&p->failure_text);
    buf_adds(&p->failure_text, erltrace_errmsg(p->h, p->failure));
}

void port_work(struct port *p, int timeout_ms)
{
    if (p->settled || !port_has_begun(p))
        return;
    bool asked = p->asked;
    p->asked = false; /* what the session reports now is not part of an answer */
    int rc = erltrace_work(p->h, NULL, timeout_ms, NULL, on_data, p);
    p->asked = asked;
    if (rc != ERLTRACE_WORK_OKAY)
        port_settle(p);
}

/* -- the loop ---------------------------------------------------------------------------------- */

/* Waits for a request, for the session, for the end, or until a waiting consume is due. */
static void wait_for_something(struct port *p)
{
    struct pollfd pf[2] = {{.fd = port_io_fd(p->io), .events = POLLIN}, {.fd = -1}};
    int64_t timeout = NO_END_MS, left;
    if (!p->settled && port_has_begun(p)) {
        pf[1] = (struct pollfd){.fd = erltrace_fd(p->h), .events = POLLIN};
        left = erltrace_timeout(p->h);
        timeout = left >= 0 && left < timeout ? left : timeout;
    }
    if (p->waiting.on) {
        left = p->waiting.until - port_now_ms();
        timeout = left < 0 ? 0 : left < timeout ? left : timeout;
    }
    poll(pf, 2, (int)timeout);
}

static void serve(struct port *p)
{
    while (!p->over) {
        struct port_frame *f;
        while (!p->over && (f = port_io_take(p->io)) != NULL) {
            port_request(p, f->byte, f->n);
            et_free(f);
            if (p->over)
                break;
            port_work(p, 0); /* also when requests come in quick succession */
            port_answer_waiting(p);
        }
        if (p->over || port_is_alone(p))
            break;
        wait_for_something(p);
        port_work(p, 0);
        port_answer_waiting(p);
        if (p->no_memory || p->queue.items.oom)
            port_fatal(p, "nomem", "out of memory");
    }
}

static bool setup(struct port *p)
{
    int err;
    *p = (struct port){.code = EXIT_OK};
    port_queue_init(&p->queue, QUEUE_BYTES);
    p->h = erltrace_open(ERLTRACE_VERSION, ERLTRACE_O_KERNEL, &err);
    if (p->h == NULL)
        fprintf(stderr, "erltrace: %s\n", erltrace_errmsg(NULL, err));
    p->io = p->h != NULL ? port_io_open() : NULL;
    if (p->h != NULL && p->io == NULL)
        fprintf(stderr, "erltrace: port: %s\n", strerror(errno));
    if (p->io == NULL)
        return false;
    const char *name;
    if (erltrace_setopt_environment(p->h, &name) != 0) {
        fprintf(stderr, "erltrace: port: failed to set option %s from the environment: %s\n", name,
                erltrace_errmsg(p->h, erltrace_errno(p->h)));
        return false;
    }
    erltrace_handle_diag(p->h, on_diag, p);
    erltrace_handle_drop(p->h, on_drop, p);
    erltrace_handle_fault(p->h, on_fault, p);
    erltrace_handle_stats(p->h, on_stats, p);
    erltrace_handle_member(p->h, on_member, p);
    erltrace_handle_progress(p->h, on_progress, p);
    return true;
}

int cli_port(void)
{
    static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP};
    struct port p;
    const char *why = "";
    if (isatty(STDIN_FILENO)) {
        fputs("erltrace: port is for programs: it speaks the protocol of doc/port-protocol.md on "
              "standard input and output\n",
              stderr);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN); /* signals of a terminal are not meant for this program */
    if (setup(&p)) {
        serve(&p);
        switch (p.over ? PORT_OPEN : port_io_end(p.io, &why)) {
        case PORT_OPEN:
        case PORT_ENDED: break;
        case PORT_BROKEN: port_fatal(&p, "request", why); break;
        case PORT_FAILED:
            fprintf(stderr, "erltrace: port: %s\n", why);
            p.code = EXIT_ERROR;
            break;
        }
    } else {
        p.code = EXIT_ERROR;
    }
    erltrace_close(p.h);
    port_io_close(p.io);
    port_queue_free(&p.queue);
    buf_free(&p.value);
    buf_free(&p.diags);
    buf_free(&p.item);
    buf_free(&p.failure_text);
    et_free(p.program);
    return p.code;
}
