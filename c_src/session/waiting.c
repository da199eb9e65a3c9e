/* waiting.c - waits for several tiers at once.
 *
 * Nodes have something to do a few times a second each. So one descriptor stands for those of all
 * tiers, and a wait costs what the tiers cost that it finds, however many others there are. A tier
 * without a descriptor may always have something to do. */
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "session/session.h"

enum { FOUND_MOST = 64 /* tiers that one wait finds; the next one finds the others */ };

/* Begins to watch a tier. Returns false when that is not possible. */
static bool watch(struct session *s, size_t i)
{
    struct session_tier *t = &s->tier[i];
    struct epoll_event ev = {.events = EPOLLIN, .data = {.u64 = i}};
    const int fd = t->t->ops->fd(t->t);
    if (fd >= 0 && s->waits < 0)
        s->waits = epoll_create1(EPOLL_CLOEXEC);
    t->watched = fd >= 0 && epoll_ctl(s->waits, EPOLL_CTL_ADD, fd, &ev) == 0;
    return t->watched;
}

/* What is gone may stay readable for ever. */
static void unwatch(struct session *s, struct session_tier *t)
{
    if (t->watched)
        epoll_ctl(s->waits, EPOLL_CTL_DEL, t->t->ops->fd(t->t), NULL);
    t->watched = false;
}

void session_wait(struct session *s, int timeout_ms)
{
    struct epoll_event found[FOUND_MOST];
    for (size_t i = 0; i < s->ntiers; i++) {
        struct session_tier *t = &s->tier[i];
        const bool gone = t->lost || t->drained || t->pending;
        if (gone)
            unwatch(s, t);
        t->ready = !gone && !t->watched && !watch(s, i);
        if (t->ready && timeout_ms > SESSION_SLICE_MS)
            timeout_ms = SESSION_SLICE_MS;
    }
    if (s->waits < 0) {
        poll(NULL, 0, timeout_ms);
        return;
    }
    int n = epoll_wait(s->waits, found, FOUND_MOST, timeout_ms);
    for (int k = 0; k < n; k++)
        s->tier[found[k].data.u64].ready = true;
}

void session_wait_end(struct session *s)
{
    for (size_t i = 0; i < s->ntiers; i++)
        s->tier[i].watched = false;
    if (s->waits >= 0)
        close(s->waits);
    s->waits = -1;
}
