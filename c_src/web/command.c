/* command.c - see command.h. The shell leads its own process group, so that a whole pipeline can be
 * ended. */
#include "web/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    LOOK_MS = 20,    /* between two checks of the command */
    HURRY_MS = 1000, /* time for the command once the trace is to end */
    TERM_MS = 500    /* between SIGTERM and SIGKILL */
};

struct running {
    const struct command_owner *owner;
    pid_t pid;
    int fd;              /* its output; -1: closed */
    uint64_t hurry_ns;   /* when it was asked to end; 0: not yet */
    uint64_t telling_ns; /* when it got SIGTERM; 0: not yet */
};

extern char **environ;

/* Sets signals as a program expects them, whatever the server does with them. */
static int set_signals(posix_spawnattr_t *attr)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGCHLD};
    sigset_t defaults, none;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaddset(&defaults, signals[i]);
    int rc = posix_spawnattr_setsigmask(attr, &none);
    rc = rc != 0 ? rc : posix_spawnattr_setsigdefault(attr, &defaults);
    rc = rc != 0 ? rc : posix_spawnattr_setpgroup(attr, 0);
    return rc != 0 ? rc
                   : posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                        POSIX_SPAWN_SETPGROUP);
}

static int spawn(const char *command, int out, pid_t *pid)
{
    char *const argv[] = {(char *)"sh", (char *)"-c", (char *)"--", (char *)(uintptr_t)command,
                          NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int rc = posix_spawn_file_actions_init(&files);
    if (rc != 0)
        return rc;
    if ((rc = posix_spawnattr_init(&attr)) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return rc;
    }
    rc = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    rc = rc != 0 ? rc : posix_spawn_file_actions_adddup2(&files, out, 1);
    rc = rc != 0 ? rc : posix_spawn_file_actions_adddup2(&files, out, 2);
    rc = rc != 0 ? rc : set_signals(&attr);
    rc = rc != 0 ? rc : posix_spawn(pid, "/bin/sh", &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* Passes on the available output. Returns false if there is none for the moment, or never again. */
static bool hear(struct running *r)
{
    char text[4096];
    ssize_t n = r->fd >= 0 ? read(r->fd, text, sizeof text) : -1;
    if (n > 0) {
        r->owner->output(r->owner->arg, text, (size_t)n);
        return true;
    }
    if (r->fd >= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) {
        close(r->fd);
        r->fd = -1;
    }
    return false;
}

/* Ends the command when its time has come. */
static void look_after(struct running *r)
{
    enum command_verdict verdict = r->owner->look(r->owner->arg);
    uint64_t now = monotonic_ns();
    if (verdict == COMMAND_WANTED)
        return;
    r->hurry_ns = r->hurry_ns != 0 ? r->hurry_ns : now;
    if (r->telling_ns != 0 && now - r->telling_ns > TERM_MS * UINT64_C(1000000)) {
        kill(-r->pid, SIGKILL);
    } else if (r->telling_ns == 0 &&
               (verdict == COMMAND_UNWANTED || now - r->hurry_ns > HURRY_MS * UINT64_C(1000000))) {
        kill(-r->pid, SIGTERM);
        r->telling_ns = now;
    }
}

static bool has_ended(struct running *r)
{
    pid_t pid = waitpid(r->pid, NULL, WNOHANG);
    return pid == r->pid || (pid < 0 && errno != EINTR);
}

int command_run(const char *command, const struct command_owner *owner)
{
    int ends[2];
    struct running r = {.owner = owner};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    int rc = fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ? errno : spawn(command, ends[1], &r.pid);
    close(ends[1]);
    r.fd = ends[0];
    while (rc == 0 && !has_ended(&r)) {
        struct pollfd p = {.fd = r.fd, .events = POLLIN}; /* poll ignores a descriptor of -1 */
        poll(&p, 1, LOOK_MS);
        hear(&r);
        look_after(&r);
    }
    /* Its last output; at most a pipe's worth, so that a child that continues does not detain
     * us. */
    for (int i = 0; rc == 0 && i < 16 && hear(&r); i++)
        ;
    if (r.fd >= 0)
        close(r.fd);
    return rc;
}
