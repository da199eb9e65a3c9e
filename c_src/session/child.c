/* child.c - commands beside the local tier. The command that -c starts there is a process, not a
 * node; programs call it $target. It stands still right after its exec until tracing is on, and the
 * trace ends when it ends.
 *
 * The child asks to be traced, so that it stops once exec is done. It is then detached while still
 * stopped, and a SIGCONT is enough to run it. For probes in its libraries it goes on to the first
 * instruction of its program, with a breakpoint there: then they have been loaded. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
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

/* -- to the first instruction ------------------------------------------------------------------ */

#ifdef __x86_64__
enum { BREAK = 0xcc, BREAK_MASK = 0xff };
#else
enum { BREAK = 0xd4200000u, BREAK_MASK = 0xffffffffu };
#endif

/* Returns where the program begins, 0 if that is not known. */
static unsigned long entry_of(pid_t pid)
{
    char path[64];
    unsigned long pair[2], at = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    FILE *f = fopen(path, "re");
    while (f != NULL && fread(pair, sizeof pair, 1, f) == 1)
        if (pair[0] == AT_ENTRY)
            at = pair[1];
    if (f != NULL)
        fclose(f);
    return at;
}

/* Waits until a traced process stops. Returns the signal, 0 when it has ended. */
static int wait_stop(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 0;
    return WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
}

/* Puts the program's counter back to a breakpoint that it has just run. */
static void step_back(pid_t pid, unsigned long at)
{
#ifdef __x86_64__
    ptrace(PTRACE_POKEUSER, pid, (void *)offsetof(struct user, regs.rip), (void *)at);
#else
    (void)pid; /* it stands there */
    (void)at;
#endif
}

int api_reach_program(pid_t pid)
{
    const unsigned long at = entry_of(pid);
    if (at == 0)
        return ESRCH;
    if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) != 0)
        return errno;
    if (wait_stop(pid) == 0)
        return ECHILD;
    errno = 0;
    const unsigned long word = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, (void *)at, NULL);
    int e = errno, signal = 0;
    if (e == 0 && ptrace(PTRACE_POKETEXT, pid, (void *)at,
                         (void *)((word & ~(unsigned long)BREAK_MASK) | BREAK)) != 0)
        e = errno;
    while (e == 0) {
        if (ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)signal) != 0)
            return ECHILD;
        signal = wait_stop(pid);
        if (signal == 0)
            return ECHILD;
        if (signal == SIGTRAP)
            break;
        signal = signal == SIGSTOP ? 0 : signal; /* that of PTRACE_ATTACH */
    }
    if (e == 0) {
        ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)word);
        step_back(pid, at);
    }
    return ptrace(PTRACE_DETACH, pid, NULL, (void *)(uintptr_t)SIGSTOP) == 0 ? e : ECHILD;
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
