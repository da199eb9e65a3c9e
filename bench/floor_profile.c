/* floor_profile.c - the least that it can cost to sample the schedulers by their task clocks: the
 * system's events alone, or with a signal whose handler does nothing. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <erl_nif.h>

enum { THREADS = 1024 };

static int fds[THREADS];
static unsigned opened;
static _Atomic unsigned long handled;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
}

static int signal_number(void)
{
    return SIGRTMIN + 9;
}

static bool is_scheduler(const char *tid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = read(fd, name, sizeof name - 1);
    close(fd);
    return n > 0 && (strncmp(name, "erts_sched", 10) == 0 ||
                     (name[0] >= '1' && name[0] <= '9' && strstr(name, "_scheduler") != NULL &&
                      strstr(name, "dirty") == NULL));
}

static bool open_event(int tid, unsigned hz, bool signalled)
{
    struct perf_event_attr a;
    memset(&a, 0, sizeof a);
    a.type = PERF_TYPE_SOFTWARE;
    a.size = sizeof a;
    a.config = PERF_COUNT_SW_TASK_CLOCK;
    a.sample_period = 1000000000 / hz;
    a.disabled = 1;
    const int fd = (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    const struct f_owner_ex owner = {F_OWNER_TID, tid};
    if (fd < 0)
        return false;
    fds[opened++] = fd;
    return (!signalled ||
            (fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, signal_number()) == 0 &&
             fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0)) &&
           ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

/* stop() -> Handled: how many signals came. */
static ERL_NIF_TERM stop(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    while (opened > 0) {
        ioctl(fds[--opened], PERF_EVENT_IOC_DISABLE, 0);
        close(fds[opened]);
    }
    return enif_make_ulong(env, atomic_exchange(&handled, 0));
}

/* start(Hz, Signal :: 0 | 1) -> Threads: how many are sampled; 0: the system refuses. The handler
 * stays. */
static ERL_NIF_TERM start(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned hz, signalled;
    struct sigaction act;
    (void)argc;
    if (!enif_get_uint(env, argv[0], &hz) || hz == 0 || !enif_get_uint(env, argv[1], &signalled))
        return enif_make_badarg(env);
    memset(&act, 0, sizeof act);
    act.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    act.sa_sigaction = on_signal;
    sigaction(signal_number(), &act, NULL);
    DIR *tasks = opendir("/proc/self/task");
    bool good = tasks != NULL;
    for (const struct dirent *d; good && opened < THREADS && (d = readdir(tasks)) != NULL;)
        if (is_scheduler(d->d_name))
            good = open_event(atoi(d->d_name), hz, signalled != 0);
    if (tasks != NULL)
        closedir(tasks);
    if (!good)
        stop(env, 0, NULL);
    return enif_make_uint(env, opened);
}

/* clock() -> Ns: processor time of the calling thread. */
static ERL_NIF_TERM clock_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct timespec t;
    (void)argc;
    (void)argv;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return enif_make_uint64(env, (ErlNifUInt64)t.tv_sec * 1000000000 + (ErlNifUInt64)t.tv_nsec);
}

static ErlNifFunc funcs[] = {
    {"start", 2, start, 0}, {"stop", 0, stop, 0}, {"clock", 0, clock_nif, 0}};

ERL_NIF_INIT(floor_profile, funcs, NULL, NULL, NULL, NULL)
