/* et_sleep.c - a NIF library that sleeps in the system on the scheduler that calls it.
 *
 *   nap(How, Times, Us), nap_cpu, nap_io (on a dirty scheduler) -> {Interrupted, WaitedNs}: sleeps
 * so many times by nanosleep, poll or epoll (0, 1, 2), without going on after a signal; how often
 * one ended it, and what all took */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <erl_nif.h>

static uint64_t now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int wait_once(unsigned how, int events, unsigned us)
{
    struct timespec ts = {us / 1000000, us % 1000000 * 1000};
    struct epoll_event e;
    switch (how) {
    case 0: return nanosleep(&ts, NULL);
    case 1: return ppoll(NULL, 0, &ts, NULL);
    default: return epoll_wait(events, &e, 1, (int)(us / 1000));
    }
}

static ERL_NIF_TERM nap(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned how, times, us, interrupted = 0;
    (void)argc;
    if (!enif_get_uint(env, argv[0], &how) || !enif_get_uint(env, argv[1], &times) ||
        !enif_get_uint(env, argv[2], &us))
        return enif_make_badarg(env);
    const int events = epoll_create1(EPOLL_CLOEXEC);
    const uint64_t from = now();
    while (times-- > 0)
        interrupted += wait_once(how, events, us) != 0 && errno == EINTR;
    const uint64_t took = now() - from;
    close(events);
    return enif_make_tuple2(env, enif_make_uint(env, interrupted), enif_make_uint64(env, took));
}

static ErlNifFunc functions[] = {{"nap", 3, nap, 0},
                                 {"nap_cpu", 3, nap, ERL_NIF_DIRTY_JOB_CPU_BOUND},
                                 {"nap_io", 3, nap, ERL_NIF_DIRTY_JOB_IO_BOUND}};
ERL_NIF_INIT(et_sleep, functions, NULL, NULL, NULL, NULL)
