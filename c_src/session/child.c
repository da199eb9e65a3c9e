/* child.c - commands beside the local tier. The command that -c starts there is a process, not a
 * node; programs call it $target. It stands still right after its exec until tracing is on, and the
 * trace ends when it ends.
 *
 * The child asks to be traced, so that it stops once exec is done. It is then detached while still
 * stopped, and a SIGCONT is enough to run it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/handle.h"
#include "util/buftext.h"

enum { WORDS_MOST = 256 };

/* Splits a string at blanks into argv, in place. Returns false when there are no words or too many.
 */
static bool split(char *s, char *argv[WORDS_MOST])
{
    size_t n = 0;
    char *save = NULL;
    for (char *w = strtok_r(s, " \t\n", &save); w != NULL; w = strtok_r(NULL, " \t\n", &save)) {
        if (n == WORDS_MOST - 1)
            return false;
        argv[n++] = w;
    }
    argv[n] = NULL;
    return n > 0;
}

/* Runs in the child. `err` is a pipe that tells the parent the errno of a failure. */
static void child(char **argv, int err)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
        execvp(argv[0], argv);
    int e = errno;
    ssize_t ignored = write(err, &e, sizeof e);
    (void)ignored;
    raise(SIGKILL); /* no handler of the program's may run here */
}

/* Waits until the child stands after its exec, then detaches it there. Passes on signals that
 * arrive before. Returns 0, ECHILD when the child has ended, or another errno value. */
static int stop_it(pid_t pid)
{
    int status;
    for (;;) {
        while (waitpid(pid, &status, 0) < 0)
            if (errno != EINTR)
                return errno;
        if (!WIFSTOPPED(status))
            return ECHILD;
        if (WSTOPSIG(status) == SIGTRAP)
            break;
        ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)WSTOPSIG(status));
    }
    if (ptrace(PTRACE_DETACH, pid, NULL, (void *)(uintptr_t)SIGSTOP) == 0)
        return 0;
    int e = errno;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return e;
}

static int start(char **argv, pid_t *pid)
{
    int err[2], e = 0, why;
    if (pipe2(err, O_CLOEXEC) != 0)
        return errno;
    *pid = fork();
    if (*pid == 0)
        child(argv, err[1]);
    e = *pid < 0 ? errno : 0;
    close(err[1]);
    if (e == 0)
        e = stop_it(*pid);
    if (e == ECHILD &&
        read(err[0], &why, sizeof why) == sizeof why) /* it writes the reason, then ends */
        e = why;
    close(err[0]);
    return e;
}

int api_start_process(const char *command, pid_t *pid)
{
    char *argv[WORDS_MOST], *words = et_strdup(command);
    if (words == NULL)
        return ENOMEM;
    int e = split(words, argv) ? start(argv, pid) : ENOENT;
    et_free(words);
    return e;
}
