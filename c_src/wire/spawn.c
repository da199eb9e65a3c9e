/* spawn.c - node_spawn: starts a command that runs a node, and waits until the node can be attached
 * to.
 *
 * The child gets its own process group, so that Ctrl-C ends the trace and not the node under it.
 * Its input is a pipe that never has any data: a shell that reads end-of-file would end the node.
 * The write end of that pipe stays open as long as this process lives. If this process is killed,
 * the kernel sends the child SIGTERM, on which a node stops in an orderly way. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "util/buftext.h"
#include "wire/deadline.h"
#include "wire/dist.h"
#include "wire/find.h"
#include "wire/node.h"
#include "wire/reach.h"

enum { SPAWN_ARGS = 256, PAUSE_MS = 50, TRY_MS = 1000, TRY_TLS_MS = 5000 };

/* Splits on blanks into argv, in place. Returns the number of words, or -1 when there are too many.
 */
static int split(char *s, char *argv[SPAWN_ARGS])
{
    int n = 0;
    for (char *save = NULL, *w = strtok_r(s, " \t\n", &save); w;
         w = strtok_r(NULL, " \t\n", &save)) {
        if (n == SPAWN_ARGS - 1)
            return -1;
        argv[n++] = w;
    }
    argv[n] = NULL;
    return n;
}

/* The child's environment: ours, and in ERL_ZFLAGS a name for a node that has none. The child
 * appends its pid to `flags`, since it knows it first. */
struct spawn_env {
    char **vars;      /* ends with NULL; strings borrowed */
    char flags[4096]; /* "ERL_ZFLAGS=..." */
    bool named;       /* the command names its node */
};

extern char **environ;

static int env_make(struct spawn_env *e, char **argv)
{
    size_t n = 0, k = 0;
    const char *old = getenv("ERL_ZFLAGS");
    for (char **a = argv; *a; a++)
        e->named |= strcmp(*a, "-name") == 0 || strcmp(*a, "-sname") == 0;
    while (environ[n])
        n++;
    e->vars = et_malloc((n + 2) * sizeof *e->vars);
    if (!e->vars)
        return ET_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (e->named || strncmp(environ[i], "ERL_ZFLAGS=", 11) != 0)
            e->vars[k++] = environ[i];
    if (!e->named)
        e->vars[k++] = e->flags;
    e->vars[k] = NULL;
    snprintf(e->flags, sizeof e->flags, "ERL_ZFLAGS=%.4000s%s-sname erltrace_target_",
             old ? old : "", old ? " " : "");
    return 0;
}

/* Runs in the child: only what is safe when other threads were stopped anywhere. `err` is a pipe
 * that tells the parent the errno of a failed exec. */
static void child(char **argv, struct spawn_env *env, int in, int err)
{
    size_t n = strlen(env->flags);
    sigset_t none;
    snprintf(env->flags + n, sizeof env->flags - n, "%d", (int)getpid());
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(in, STDIN_FILENO);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvpe(argv[0], argv, env->vars);
    int e = errno;
    ssize_t ignored = write(err, &e, sizeof e);
    (void)ignored;
    raise(SIGKILL); /* none of our handlers may run here */
}

/* Starts the command; returns its pid, or -1 with the errno in *e. */
static pid_t start(char **argv, int *e)
{
    struct spawn_env env = {0};
    int in[2] = {-1, -1}, err[2] = {-1, -1};
    pid_t pid = -1;
    *e = 0;
    errno = ENOMEM;
    if (env_make(&env, argv) == 0 && pipe2(in, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0)
        pid = fork();
    if (pid == 0)
        child(argv, &env, in[0], err[1]);
    if (pid < 0)
        *e = errno;
    et_free(env.vars);
    if (in[0] >= 0)
        close(in[0]);
    if (err[1] >= 0)
        close(err[1]);
    while (pid > 0 && read(err[0], e, sizeof *e) < 0 && errno == EINTR)
        ; /* nothing arrives when exec succeeded */
    if (err[0] >= 0)
        close(err[0]);
    if (pid > 0 && *e)
        waitpid(pid, NULL, 0);
    if ((pid < 0 || *e) && in[1] >= 0)
        close(in[1]);
    return *e ? -1 : pid;
}

struct wait {
    char *name, *cookie;
    size_t n, nc;
    const struct cred_options *tls;
    struct reach_problem last; /* why it could not be reached so far */
    bool hopeless;             /* that will not change */
    bool vm;                   /* an Erlang VM has been seen under it */
};

/* Connects only far enough to learn who it is. */
static bool answers(const struct beam *b, struct dist_to *to, const char *from, struct wait *w)
{
    struct dist_fail why;
    struct conn *dist = NULL;
    bool ok = false;
    to->node = b->name;
    int e = dist_open(&dist, to, &why);
    if (e == ET_ENODE && why.step != DIST_LOOKED)
        reach_explain(&why, b->name, b->port, from, &w->last);
    /* It has rejected our certificate or we its, and has logged that. */
    w->hopeless = e == ET_ENODE && why.step == DIST_TLS && why.err != ETIMEDOUT;
    if (e == ET_ENODE && why.step == DIST_LOOKED && strlen(why.peer) < w->n &&
        strlen(to->cookie) < w->nc) {
        strcpy(w->name, why.peer);
        strcpy(w->cookie, to->cookie);
        ok = true;
    }
    conn_close(dist);
    return ok;
}

/* Tries once to reach it. Only the real connection later tries the cookie: a node logs one that it
 * rejects. */
static bool reached(pid_t pid, struct wait *w)
{
    struct beam_list l;
    char secret[COOKIE_MAX], host[256];
    struct cookie_source s;
    struct tls_cred cred = {0};
    struct tls_why no_cred;
    bool over_tls = w->tls && w->tls->on, ok = false;
    struct dist_to to = {.cookie = secret,
                         .tls = over_tls ? &cred : NULL,
                         .timeout_ms = over_tls ? TRY_TLS_MS : TRY_MS,
                         .look = true};
    if (beam_scan(&l) != 0)
        return false;
    const struct beam *b = beam_under(&l, pid);
    w->vm = w->vm || b;
    if (!b) {
        snprintf(w->last.text, sizeof w->last.text, "it runs no Erlang VM");
    } else if (reach_check(b, w->tls, &w->last) == 0) {
        int e = over_tls ? cred_read(&cred, w->tls, b, &no_cred) : 0;
        if (e)
            reach_no_cred(e, &no_cred, &w->last);
        else if (!cookie_find(b, NULL, NULL, secret, &s))
            reach_no_cookie(b, b->name, &s, &w->last);
        else if (reach_local(b, &to, host, sizeof host) == 0)
            ok = answers(b, &to, s.from, w);
    }
    cred_free(&cred);
    explicit_bzero(secret, sizeof secret);
    beam_list_free(&l);
    return ok;
}

static int died(const char *command, int status, bool vm, struct diags *d)
{
    if (WIFSIGNALED(status))
        return diag_error(d, ET_ENODE, NULL, "NODE_SPAWN", "run it by hand to see what is wrong",
                          "failed to execute %s: it was ended by signal %d (%s) before its node "
                          "could be reached",
                          command, WTERMSIG(status), strsignal(WTERMSIG(status)));
    return diag_error(d, ET_ENODE, NULL, "NODE_SPAWN",
                      vm ? "run it by hand to see what is wrong"
                         : "-c starts an Erlang node; with --local or --kernel it is any "
                           "program, and $target in the script: --local -c 'COMMAND'",
                      "failed to execute %s: it ended with status %d before its node could be "
                      "reached%s",
                      command, WEXITSTATUS(status), vm ? "" : "; no Erlang VM was seen in it");
}

/* Ends the child's process group. */
static void end_child(pid_t pid)
{
    kill(-pid, SIGTERM);
    for (int i = 0; i < 40; i++) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return;
        poll(NULL, 0, PAUSE_MS);
    }
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

int node_spawn(const char *command, int wait_ms, const struct cred_options *tls, pid_t *pid,
               char *name, size_t n, char *cookie, size_t nc, struct diags *d)
{
    char *argv[SPAWN_ARGS], *words = et_strdup(command);
    struct wait w = {.name = name, .cookie = cookie, .n = n, .nc = nc, .tls = tls};
    int64_t deadline = clock_ms() + wait_ms;
    int status, e = 0, words_n = words ? split(words, argv) : -1;
    *pid = -1;
    if (words_n <= 0) {
        et_free(words);
        return diag_error(d, ET_EINVAL, NULL, "NODE_SPAWN", NULL,
                          words_n == 0 ? "failed to execute the command: it is empty"
                                       : "failed to execute the command: it has too many words");
    }
    pid_t p = start(argv, &e);
    if (p < 0)
        e = diag_error(d, ET_ENODE, NULL, "NODE_SPAWN", NULL, "failed to execute %s: %s", command,
                       strerror(e));
    et_free(words);
    if (p < 0)
        return e;
    for (;;) {
        if (reached(p, &w)) {
            *pid = p;
            return 0;
        }
        if (waitpid(p, &status, WNOHANG) == p)
            return died(command, status, w.vm, d);
        if (w.hopeless || clock_ms() >= deadline)
            break;
        poll(NULL, 0, PAUSE_MS);
    }
    end_child(p);
    if (w.hopeless)
        return diag_error(d, ET_ENODE, NULL, "NODE_SPAWN", w.last.help[0] ? w.last.help : NULL,
                          "failed to execute %s: it cannot be attached to: %s", command,
                          w.last.text);
    return diag_error(d, ET_ENODE, NULL, "NODE_SPAWN", w.last.help[0] ? w.last.help : NULL,
                      "failed to execute %s: it could not be attached to within %.0f s: %s",
                      command, wait_ms / 1000.0, w.last.text[0] ? w.last.text : "no answer");
}
