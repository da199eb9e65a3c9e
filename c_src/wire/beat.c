/* beat.c - one thread sends the signs of life of all connections of this process.
 *
 * A thread for each would wake a hundred times a second for fifty nodes. This one wakes when the
 * first connection is due, and serves those that soon will be, so that they come to be due
 * together. It never waits for a node: what a socket does not take is left for the next time
 * (conn_offer). So no node can keep it from the others.
 *
 * The lock is held while it sends: a connection that beat_end has taken out is in no one's hands.
 */
#include "wire/beat.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/arena.h"
#include "base/err.h"
#include "wire/deadline.h"

enum {
    SOON = 4,    /* what is due in this part of its period is served at once */
    REST = 60000 /* ms; longer than any period */
};

/* The thread. It ends when `over` is set; another one may have begun by then. */
struct beater {
    pthread_t thread;
    bool over;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct conn *first;    /* that have a heartbeat, linked by beat_next */
    struct beater *beater; /* NULL: none has */
} beats = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void init(void)
{
    pthread_condattr_t ca;
    pthread_condattr_init(&ca);
    pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
    pthread_cond_init(&beats.wake, &ca);
    pthread_condattr_destroy(&ca);
}

static int64_t due(const struct conn *c)
{
    const int64_t at = atomic_load(&c->sent_ms) + c->beat_ms;
    return at > c->beat_at ? at : c->beat_at;
}

static void beat(struct conn *c, int64_t now)
{
    if (conn_offer(c, &c->beat_frame)) {
        if (c->talk)
            conn_log_sent(c, "", &c->beat_to, c->beat_msg.data, c->beat_msg.len);
        return;
    }
    /* A message is being sent, which serves as well; or the node takes nothing. */
    c->beat_at = now + c->beat_ms;
}

/* Sends what is due. Returns the ms until something will be. */
static int64_t beat_all(void)
{
    const int64_t now = clock_ms();
    int64_t next = now + REST;
    for (struct conn *c = beats.first; c; c = c->beat_next) {
        if (due(c) <= now + c->beat_ms / SOON)
            beat(c, now);
        next = due(c) < next ? due(c) : next;
    }
    const int64_t left = next - clock_ms();
    return left > 0 ? left : 1;
}

static void *beat_run(void *arg)
{
    struct beater *b = arg;
    struct timespec at;
    pthread_mutex_lock(&beats.lock);
    while (!b->over) {
        const int64_t left = beat_all();
        clock_gettime(CLOCK_MONOTONIC, &at);
        const int64_t ns = at.tv_nsec + left % 1000 * 1000000;
        at.tv_sec += left / 1000 + ns / 1000000000;
        at.tv_nsec = ns % 1000000000;
        pthread_cond_timedwait(&beats.wake, &beats.lock, &at);
    }
    pthread_mutex_unlock(&beats.lock);
    return NULL;
}

/* Starts the thread; the caller holds the lock. */
static struct beater *begin(void)
{
    sigset_t all, old;
    struct beater *b = et_calloc(1, sizeof *b);
    if (!b)
        return NULL;
    sigfillset(&all); /* signals go to the thread that waits in conn_recv */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const bool begun = pthread_create(&b->thread, NULL, beat_run, b) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (begun)
        return b;
    et_free(b);
    return NULL;
}

int conn_heartbeat(struct conn *c, const erlang_pid *to, const struct buf *msg, int period_ms)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init);
    c->ops->send(c, &c->beat_frame, to, msg);
    if (c->talk)
        buf_add(&c->beat_msg, msg->data, msg->len);
    if (c->beat_frame.oom || c->beat_msg.oom)
        return ET_ENOMEM;
    c->beat_to = *to;
    atomic_store(&c->silence_ms, 0);
    atomic_store(&c->sent_ms, clock_ms());
    pthread_mutex_lock(&beats.lock);
    if (!beats.beater)
        beats.beater = begin();
    const bool begun = beats.beater != NULL;
    if (begun) {
        c->beat_ms = period_ms;
        c->beat_next = beats.first;
        beats.first = c;
        pthread_cond_broadcast(&beats.wake);
    }
    pthread_mutex_unlock(&beats.lock);
    return begun ? 0 : ET_ENOMEM;
}

void beat_end(struct conn *c)
{
    struct beater *last = NULL;
    if (c->beat_ms == 0)
        return;
    pthread_mutex_lock(&beats.lock);
    struct conn **p = &beats.first;
    while (*p != c)
        p = &(*p)->beat_next;
    *p = c->beat_next;
    c->beat_ms = 0;
    if (!beats.first) {
        last = beats.beater;
        beats.beater = NULL;
        last->over = true;
        pthread_cond_broadcast(&beats.wake);
    }
    pthread_mutex_unlock(&beats.lock);
    if (last) {
        pthread_join(last->thread, NULL);
        et_free(last);
    }
}
