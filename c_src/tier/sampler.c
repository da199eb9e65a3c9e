/* sampler.c - see sampler.h. `lock` guards `stop`, and `wake` signals it; the threads share nothing
 * else but the engine. */
#include "tier/sampler.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"

struct sampler_thread {
    struct sampler *s;
    pthread_t id;
    int cpu;
    uint64_t *due; /* next firing of each probe, CLOCK_MONOTONIC ns */
};

struct sampler {
    struct engine *engine;
    struct sampler_probe *probe;
    uint32_t nprobes;
    struct sampler_thread *thread;
    uint32_t nthreads;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop;
};

static uint32_t allowed(cpu_set_t *set)
{
    CPU_ZERO(set);
    if (sched_getaffinity(0, sizeof *set, set) != 0)
        CPU_SET(0, set);
    return (uint32_t)CPU_COUNT(set);
}

uint32_t sampler_cpus(void)
{
    cpu_set_t set;
    return allowed(&set);
}

void sampler_fire(struct engine *e, const struct sampler_probe *p, uint64_t self, uint64_t late)
{
    enum { LATE = 2 };
    struct engine_thread *t = engine_thread_self();
    if (p->n == 0 || t == NULL)
        return;
    struct engine_ctx ctx = {
        .probe = p->identity, .self = self, .have = (1u << ENGINE_ARGS) - 1, .argv[LATE] = late};
    engine_enter(t);
    engine_fire(e, t, &ctx, p->b, p->n);
    engine_leave(t);
}

/* Sleeps until `when`; returns false when the thread must end. */
static bool sleep_until(struct sampler *s, uint64_t when)
{
    const struct timespec ts = {(time_t)(when / 1000000000), (long)(when % 1000000000)};
    pthread_mutex_lock(&s->lock);
    while (!s->stop && monotonic_ns() < when)
        pthread_cond_timedwait(&s->wake, &s->lock, &ts);
    bool on = !s->stop;
    pthread_mutex_unlock(&s->lock);
    return on;
}

/* Lets this thread run on that processor alone. (Not every C library can make it begin there.) */
static void move_to(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void *run(void *arg)
{
    struct sampler_thread *t = arg;
    struct sampler *s = t->s;
    move_to(t->cpu);
    struct engine_thread *self = engine_thread_self();
    for (;;) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < s->nprobes; i++)
            if (t->due[i] < t->due[first])
                first = i;
        if (!sleep_until(s, t->due[first]))
            break;
        const struct sampler_probe *p = &s->probe[first];
        uint64_t late = monotonic_ns() - t->due[first];
        sampler_fire(s->engine, p, self != NULL ? (uint64_t)self->tid : 0, late);
        t->due[first] += p->period * (1 + late / p->period);
    }
    engine_thread_leave();
    return NULL;
}

static int start_thread(struct sampler *s, int cpu, uint64_t now)
{
    struct sampler_thread *t = &s->thread[s->nthreads];
    *t = (struct sampler_thread){.s = s, .cpu = cpu};
    t->due = et_malloc(s->nprobes * sizeof *t->due);
    if (t->due == NULL)
        return ET_ENOMEM;
    for (uint32_t i = 0; i < s->nprobes; i++)
        t->due[i] = now + s->probe[i].period;
    if (pthread_create(&t->id, NULL, run, t) != 0) {
        et_free(t->due);
        return ET_ENOMEM;
    }
    s->nthreads++;
    return 0;
}

int sampler_start(struct sampler **out, struct engine *e, const struct sampler_probe *p, uint32_t n,
                  struct diags *d)
{
    cpu_set_t cpus;
    sigset_t all, before;
    pthread_condattr_t clock;
    uint32_t ncpus = allowed(&cpus);
    struct sampler *s = et_calloc(1, sizeof *s);
    int err = s != NULL ? 0 : ET_ENOMEM;
    if (err == 0) {
        s->engine = e;
        pthread_mutex_init(&s->lock, NULL);
        pthread_condattr_init(&clock);
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        pthread_cond_init(&s->wake, &clock);
        pthread_condattr_destroy(&clock);
        s->probe = et_malloc(n * sizeof *p);
        s->thread = et_calloc(ncpus, sizeof *s->thread);
        err = s->probe != NULL && s->thread != NULL ? 0 : ET_ENOMEM;
    }
    if (err == 0) {
        memcpy(s->probe, p, n * sizeof *p);
        s->nprobes = n;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before);
        uint64_t now = monotonic_ns();
        for (int cpu = 0; cpu < CPU_SETSIZE && err == 0; cpu++)
            if (CPU_ISSET(cpu, &cpus))
                err = start_thread(s, cpu, now);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (err == 0) {
        *out = s;
        return 0;
    }
    sampler_stop(s);
    return diag_error(d, err, NULL, "", NULL, "cannot start a thread for each CPU");
}

void sampler_stop(struct sampler *s)
{
    if (s == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->lock);
    for (uint32_t i = 0; i < s->nthreads; i++) {
        pthread_join(s->thread[i].id, NULL);
        et_free(s->thread[i].due);
    }
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->wake);
    et_free(s->thread);
    et_free(s->probe);
    et_free(s);
}
