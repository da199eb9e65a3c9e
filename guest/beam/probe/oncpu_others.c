/* oncpu_others.c - the processor time of the threads that are not sampled: pools for blocking
 * calls, threads of NIFs. See oncpu.h.
 *
 * The server walks the list of threads that the system has, a part at a time. */
#include "beam/probe/oncpu.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "beam/agent.h"

enum {
    PART = 64,       /* threads of one answer */
    MOST = 4096,     /* of one walk */
    DIRECTORY = 4096 /* bytes of entries that are read at once */
};

static struct {
    int list; /* /proc/self/task; -1: closed */
    uint32_t seen;
    size_t n, at; /* of the entries that have been read */
    _Alignas(8) char entries[DIRECTORY];
} walk = {.list = -1};

static void walk_end(void)
{
    if (walk.list >= 0)
        close(walk.list);
    walk.list = -1;
    walk.n = walk.at = 0;
}

/* Returns the next thread of the list; 0: there is none. */
static int walk_next(void)
{
    struct dirent64 *e;
    uint64_t tid = 0;
    while ((tid == 0 || tid > INT_MAX) && walk.list >= 0) {
        if (walk.at >= walk.n) {
            const long n = syscall(SYS_getdents64, walk.list, walk.entries, sizeof walk.entries);
            walk.n = n > 0 ? (size_t)n : 0;
            walk.at = 0;
            if (n <= 0)
                return 0;
        }
        e = (struct dirent64 *)(void *)&walk.entries[walk.at];
        walk.at += e->d_reclen;
        const char *name = e->d_name; /* "." and ".." are no number */
        if (!number_read(&name, 10, &tid))
            tid = 0;
    }
    return walk.seen++ < MOST ? (int)tid : 0;
}

size_t oncpu_name(int tid, char out[static ONCPU_NAME])
{
    char path[64];
    enif_snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, out, ONCPU_NAME - 1) : -1;
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n - (out[n - 1] == '\n') : 0;
}

ERL_NIF_TERM oncpu_others_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    char name[ONCPU_NAME];
    ERL_NIF_TERM list = enif_make_list(env, 0), text;
    int tid = 0;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    if (argv[0] == agent.atom.true_) {
        walk_end();
        walk.seen = 0;
        walk.list = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    for (unsigned i = 0; i < PART && (tid = walk_next()) > 0; i++) {
        if (oncpu_has(tid))
            continue;
        const size_t n = oncpu_name(tid, name);
        memcpy(enif_make_new_binary(env, n, &text), name, n);
        list = enif_make_list_cell(env,
                                   enif_make_tuple3(env, enif_make_uint(env, (unsigned)tid), text,
                                                    enif_make_uint64(env, oncpu_clock_time(tid))),
                                   list);
    }
    if (tid == 0)
        walk_end();
    return enif_make_tuple2(env, tid != 0 ? agent.atom.true_ : agent.atom.false_, list);
}

ERL_NIF_TERM oncpu_process_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    struct timespec ts = {0, 0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return enif_make_uint64(env, (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec);
}

void oncpu_others_unload(void)
{
    walk_end();
}
