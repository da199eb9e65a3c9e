/* truth.c - what profiles are compared with: the processor time of the thread that asks, that of
 * processes between the events of scheduling, and a dirty NIF that uses a given amount of it. */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <erl_nif.h>

static uint64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* clock() -> Ns: processor time of the calling thread. */
static ERL_NIF_TERM clock_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return enif_make_uint64(env, thread_ns());
}

/* burn(Us) -> N: works on a dirty CPU scheduler until it has used so much processor time. */
static ERL_NIF_TERM burn(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned us, x = 0;
    (void)argc;
    if (!enif_get_uint(env, argv[0], &us))
        return enif_make_badarg(env);
    for (const uint64_t end = thread_ns() + (uint64_t)us * 1000; thread_ns() < end;)
        for (unsigned i = 0; i < 5000; i++)
            x = x * 31 + i;
    return enif_make_uint(env, x);
}

/* A tracer of running and exiting (erl_tracer): sums up what threads use between in and out. What
 * the tracer itself uses at both is part of it, since the process is that of the scheduler then,
 * also for a profile. */
enum { TYPES = 4 }; /* as enif_thread_type has them; 0: other threads */
static _Atomic uint64_t in_processes[TYPES];
static _Thread_local uint64_t began; /* when its process was scheduled in; 0: none is */

static bool begins(ErlNifEnv *env, ERL_NIF_TERM tag, const char *with)
{
    char text[16] = "";
    enif_get_atom(env, tag, text, sizeof text, ERL_NIF_LATIN1);
    return strncmp(text, with, strlen(with)) == 0;
}

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (begins(env, argv[0], "in"))
        began = thread_ns();
    return enif_make_atom(env, "trace");
}

static ERL_NIF_TERM trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    const ERL_NIF_TERM ok = enif_make_atom(env, "ok");
    if (began != 0 && begins(env, argv[0], "out")) {
        const int type = enif_thread_type();
        atomic_fetch_add(&in_processes[type > 0 && type < TYPES ? type : 0], thread_ns() - began);
        began = 0;
    }
    return ok;
}

/* Returns the type of a scheduler's thread by its name, 0: it is another thread. */
static int type_of(const char *tid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, name, sizeof name - 1) <= 0)
        name[0] = 0;
    if (fd >= 0)
        close(fd);
    if (strstr(name, "dirty_cpu") != NULL || strncmp(name, "erts_dcpus", 10) == 0)
        return ERL_NIF_THR_DIRTY_CPU_SCHEDULER;
    if (strstr(name, "dirty_io") != NULL || strncmp(name, "erts_dios", 9) == 0)
        return ERL_NIF_THR_DIRTY_IO_SCHEDULER;
    return strstr(name, "_scheduler") != NULL || strncmp(name, "erts_sched", 10) == 0
               ? ERL_NIF_THR_NORMAL_SCHEDULER
               : 0;
}

/* scheduled() -> [[InProcesses, OfThreads]]: ns since the library was loaded, and of the threads in
 * all; for other threads, normal, dirty CPU and dirty I/O schedulers. */
static ERL_NIF_TERM scheduled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM rows[TYPES];
    uint64_t used[TYPES] = {0};
    DIR *tasks = opendir("/proc/self/task");
    (void)argc;
    (void)argv;
    for (const struct dirent *d; tasks != NULL && (d = readdir(tasks)) != NULL;) {
        struct timespec t;
        const int tid = atoi(d->d_name), type = type_of(d->d_name);
        if (tid > 0 && clock_gettime((clockid_t)(~(unsigned)tid << 3 | 6), &t) == 0)
            used[type] += (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    }
    if (tasks != NULL)
        closedir(tasks);
    for (unsigned i = 0; i < TYPES; i++)
        rows[i] = enif_make_list2(env, enif_make_uint64(env, atomic_load(&in_processes[i])),
                                  enif_make_uint64(env, used[i]));
    return enif_make_list_from_array(env, rows, TYPES);
}

static ErlNifFunc funcs[] = {{"clock", 0, clock_nif, 0},
                             {"burn", 1, burn, ERL_NIF_DIRTY_JOB_CPU_BOUND},
                             {"enabled", 3, enabled, 0},
                             {"trace", 5, trace, 0},
                             {"scheduled", 0, scheduled, 0}};

ERL_NIF_INIT(truth, funcs, NULL, NULL, NULL, NULL)
