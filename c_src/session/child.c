/* child.c - commands beside the local tier. The command that -c starts there is a process, not a
 * node; programs call it $target. It stands still until tracing is on, and the trace ends when it
 * ends.
 *
 * The child asks to be traced, so that it stops once exec is done. From there it runs to a
 * breakpoint at the program's first instruction, where the libraries that it is linked with are
 * there, so that their functions can have probes (the option evaltime). It is then detached while
 * still stopped, and a SIGCONT is enough to run it. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
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
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* it does not stand still for ever when we are killed */
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
        execvp(argv[0], argv);
    int e = errno;
    ssize_t ignored = write(err, &e, sizeof e);
    (void)ignored;
    raise(SIGKILL); /* no handler of the program's may run here */
}

/* Waits until the child stands at a trap: after its exec, or at a breakpoint. Passes on signals
 * that arrive before. Returns 0, ECHILD when the child has ended, or another errno value. */
static int wait_for_trap(pid_t pid)
{
    int status;
    for (;;) {
        while (waitpid(pid, &status, 0) < 0)
            if (errno != EINTR)
                return errno;
        if (!WIFSTOPPED(status))
            return ECHILD;
        if (WSTOPSIG(status) == SIGTRAP)
            return 0;
        ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)WSTOPSIG(status));
    }
}

/* Returns the address of the program's first instruction, as the kernel has told it; 0: not known.
 */
static uint64_t first_instruction(pid_t pid)
{
    char path[64];
    Elf64_auxv_t v;
    uint64_t at = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    FILE *f = fopen(path, "re");
    while (f != NULL && at == 0 && fread(&v, sizeof v, 1, f) == 1 && v.a_type != AT_NULL)
        at = v.a_type == AT_ENTRY ? v.a_un.a_val : 0;
    if (f != NULL)
        fclose(f);
    return at;
}

#if defined(__x86_64__)
enum { BREAKPOINT = 0xcc, BREAKPOINT_MASK = 0xff };

/* Goes back to a breakpoint that the child has just run. Returns false if it stands elsewhere: it
 * has run another program meanwhile, or has met a trap of its own. */
static bool step_back(pid_t pid, uint64_t at)
{
    struct user_regs_struct regs;
    struct iovec v = {&regs, sizeof regs};
    if (ptrace(PTRACE_GETREGSET, pid, (void *)(uintptr_t)NT_PRSTATUS, &v) != 0 ||
        regs.rip != at + 1)
        return false;
    regs.rip = at;
    return ptrace(PTRACE_SETREGSET, pid, (void *)(uintptr_t)NT_PRSTATUS, &v) == 0;
}
#else
enum { BREAKPOINT = 0, BREAKPOINT_MASK = 0 };

static bool step_back(pid_t pid, uint64_t at)
{
    (void)pid;
    (void)at;
    return false;
}
#endif

/* Runs the child from its exec to its first instruction, if that can be done; otherwise it stays
 * where it is. It also stands where another program has begun, which a library's constructor can
 * run. Returns 0 or an errno value. */
static int run_to_first(pid_t pid)
{
    const uint64_t at = first_instruction(pid);
    void *place = (void *)(uintptr_t)at;
    errno = 0;
    const long was =
        at != 0 && BREAKPOINT_MASK != 0 ? ptrace(PTRACE_PEEKTEXT, pid, place, NULL) : 0;
    const long trap = (was & ~(long)BREAKPOINT_MASK) | BREAKPOINT;
    if (at == 0 || BREAKPOINT_MASK == 0 || errno != 0 ||
        ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(uintptr_t)PTRACE_O_EXITKILL) != 0 ||
        ptrace(PTRACE_POKETEXT, pid, place, (void *)trap) != 0)
        return 0;
    int e = ptrace(PTRACE_CONT, pid, NULL, NULL) == 0 ? wait_for_trap(pid) : errno;
    if (e != 0)
        return e;
    const bool there = step_back(pid, at);
    errno = 0;
    /* Where it stands elsewhere, the breakpoint may be gone with the program that had it. */
    const bool placed = ptrace(PTRACE_PEEKTEXT, pid, place, NULL) == trap && errno == 0;
    if ((there || placed) && ptrace(PTRACE_POKETEXT, pid, place, (void *)was) != 0)
        return errno;
    return 0;
}

/* Lets the child go on to where it is to stand, then detaches it there. Returns 0, ECHILD when the
 * child has ended, or another errno value. */
static int stop_it(pid_t pid, bool at_exec)
{
    int e = wait_for_trap(pid);
    if (e == 0 && !at_exec)
        e = run_to_first(pid);
    if (e == 0 && ptrace(PTRACE_DETACH, pid, NULL, (void *)(uintptr_t)SIGSTOP) != 0)
        e = errno;
    if (e == 0 || e == ECHILD)
        return e;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return e;
}

static int start(char **argv, bool at_exec, pid_t *pid)
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
        e = stop_it(*pid, at_exec);
    if (e == ECHILD &&
        read(err[0], &why, sizeof why) == sizeof why) /* it writes the reason, then ends */
        e = why;
    close(err[0]);
    return e;
}

int api_start_process(const char *command, bool at_exec, pid_t *pid)
{
    char *argv[WORDS_MOST], *words = et_strdup(command);
    if (words == NULL)
        return ENOMEM;
    int e = split(words, argv) ? start(argv, at_exec, pid) : ENOENT;
    et_free(words);
    return e;
}
