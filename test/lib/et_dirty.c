/* et_dirty.c - a NIF library that uses processors on dirty schedulers, on normal ones, and in
 * threads of its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <erl_nif.h>

static atomic_uint at_work; /* what the compiler must not leave out */
static atomic_bool stopped;

static void work_for(long ms)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const long until = now.tv_sec * 1000 + now.tv_nsec / 1000000 + ms;
    do {
        for (unsigned i = 0; i < 10000; i++)
            atomic_store_explicit(&at_work, i, memory_order_relaxed);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < until);
}

/* cpu(Ms), io(Ms), normal(Ms) -> ok: uses so much processor time. */
static ERL_NIF_TERM work(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    int ms;
    (void)argc;
    if (!enif_get_int(env, argv[0], &ms))
        return enif_make_badarg(env);
    work_for(ms);
    if (enif_thread_type() == ERL_NIF_THR_NORMAL_SCHEDULER)
        enif_consume_timeslice(env, 100);
    return enif_make_atom(env, "ok");
}

static void *run(void *name)
{
    prctl(PR_SET_NAME, name);
    free(name);
    while (!atomic_load(&stopped))
        work_for(1);
    return NULL;
}

/* thread(Name) -> ok: begins a thread that works until stop(). */
static ERL_NIF_TERM thread(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char name[16];
    pthread_t made;
    (void)argc;
    if (enif_get_string(env, argv[0], name, sizeof name, ERL_NIF_LATIN1) <= 0)
        return enif_make_badarg(env);
    char *kept = strdup(name);
    if (kept == NULL || pthread_create(&made, NULL, run, kept) != 0)
        return enif_make_badarg(env);
    pthread_detach(made);
    return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM stop(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    atomic_store(&stopped, true);
    return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {{"cpu", 1, work, ERL_NIF_DIRTY_JOB_CPU_BOUND},
                                 {"io", 1, work, ERL_NIF_DIRTY_JOB_IO_BOUND},
                                 {"normal", 1, work, 0},
                                 {"thread", 1, thread, 0},
                                 {"stop", 0, stop, 0}};
ERL_NIF_INIT(et_dirty, functions, NULL, NULL, NULL, NULL)
