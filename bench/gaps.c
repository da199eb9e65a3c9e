/* gaps.c - longest times for which a scheduler did not run a process that is always ready to run.
 *
 * A process is bound to each scheduler, calls turn/1 and yields, again and again. The time between
 * two calls is what else the scheduler did, or what it waited for, less the time for which the
 * operating system gave the CPU to other threads: that is noise of the host, and the kernel reports
 * it (schedstat: time on the CPU, time ready to run). Where it does not, the CPU time of the thread
 * is used, which leaves out waiting. */
#include <erl_nif.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { SCHEDULERS = 1024 };

/* One scheduler's data; written only by its own process. */
static struct {
    int fd;           /* its thread's schedstat, plus one; -1: none */
    long long at;     /* ns of the last turn, as net() counts them */
    _Atomic long max; /* ns: the longest gap since the last request */
} of[SCHEDULERS];

static long long clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* ns that have passed, without those that went to other threads of the host. */
static long long net(int *fd)
{
    char text[128];
    long long before, now = clock_ns(CLOCK_MONOTONIC), ready = 0;
    if (*fd == 0) {
        int f = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
        *fd = f < 0 ? -1 : f + 1;
    }
    do { /* again, if the CPU was lost between the two clocks */
        before = now;
        ssize_t n = *fd < 0 ? 0 : pread(*fd - 1, text, sizeof text - 1, 0);
        if (n <= 0)
            return clock_ns(CLOCK_THREAD_CPUTIME_ID);
        text[n] = '\0';
        sscanf(text, "%*d %lld", &ready);
        now = clock_ns(CLOCK_MONOTONIC);
    } while (now - before > 50000);
    return now - ready;
}

static ERL_NIF_TERM turn(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned id;
    (void)argc;
    if (!enif_get_uint(env, argv[0], &id) || id >= SCHEDULERS)
        return enif_make_badarg(env);
    long long now = net(&of[id].fd);
    long gap = (long)(now - of[id].at);
    if (of[id].at && gap > of[id].max)
        of[id].max = gap;
    of[id].at = now;
    return enif_make_int(env, 0);
}

/* Microseconds of the thread of that scheduler, on which the caller runs. */
static ERL_NIF_TERM lap(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned id;
    (void)argc;
    if (!enif_get_uint(env, argv[0], &id) || id >= SCHEDULERS)
        return enif_make_badarg(env);
    return enif_make_int64(env, net(&of[id].fd) / 1000);
}

/* The longest gap of any scheduler since the last request, in microseconds. */
static ERL_NIF_TERM gap(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    long max = 0;
    (void)argc;
    (void)argv;
    for (unsigned i = 0; i < SCHEDULERS; i++) {
        long m = atomic_exchange(&of[i].max, 0);
        max = m > max ? m : max;
    }
    return enif_make_long(env, max / 1000);
}

static ErlNifFunc funcs[] = {{"turn", 1, turn, 0}, {"gap", 0, gap, 0}, {"lap", 1, lap, 0}};

ERL_NIF_INIT(many, funcs, NULL, NULL, NULL, NULL)
