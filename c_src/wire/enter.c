/* enter.c - see enter.h. */
#include "wire/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/proc.h"

/* A message with room for a descriptor, which it has when `error` is 0. */
struct letter {
    int error;
    struct iovec part;
    struct msghdr msg;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } with;
};

static void letter_init(struct letter *l)
{
    memset(l, 0, sizeof *l);
    l->part = (struct iovec){&l->error, sizeof l->error};
    l->msg.msg_iov = &l->part;
    l->msg.msg_iovlen = 1;
    l->msg.msg_control = l->with.room;
    l->msg.msg_controllen = sizeof l->with.room;
}

/* The namespaces of a process, as descriptors. */
struct spaces {
    int net;
    int user; /* -1: it cannot be had */
};

/* The network alone, if that is permitted, else by way of the users. */
static bool enter(const struct spaces *ns)
{
    if (setns(ns->net, CLONE_NEWNET) == 0)
        return true;
    const int why = errno;
    if (why == EPERM && ns->user >= 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
        setns(ns->user, CLONE_NEWUSER) == 0 && setns(ns->net, CLONE_NEWNET) == 0)
        return true;
    errno = why;
    return false;
}

/* Runs in the child, where only what a signal handler may call may be called. */
static void child(const struct spaces *ns, int family, int to)
{
    struct letter l;
    letter_init(&l);
    int fd = enter(ns) ? socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    if (fd < 0) {
        l.error = errno;
        l.msg.msg_control = NULL;
        l.msg.msg_controllen = 0;
    } else {
        l.with.head.cmsg_level = SOL_SOCKET;
        l.with.head.cmsg_type = SCM_RIGHTS;
        l.with.head.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&l.with.head), &fd, sizeof fd);
    }
    sendmsg(to, &l.msg, MSG_NOSIGNAL);
    raise(SIGKILL); /* no handler of the program's may run here */
}

/* Returns the descriptor that the child passes, or -errno. */
static int receive(int from)
{
    struct letter l;
    int fd;
    ssize_t n;
    letter_init(&l);
    while ((n = recvmsg(from, &l.msg, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    if (n < 0)
        return -errno;
    if (n != (ssize_t)sizeof l.error)
        return -ECHILD; /* it was killed */
    if (l.error != 0)
        return -l.error;
    if (l.msg.msg_controllen < CMSG_LEN(sizeof fd) || l.with.head.cmsg_type != SCM_RIGHTS)
        return -EMFILE; /* no descriptor was free here */
    memcpy(&fd, CMSG_DATA(&l.with.head), sizeof fd);
    return fd;
}

static int by_child(const struct spaces *ns, int family)
{
    int pair[2], fd;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0)
        child(ns, family, pair[1]);
    fd = pid > 0 ? 0 : -errno;
    close(pair[1]);
    if (pid > 0) {
        fd = receive(pair[0]);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(pair[0]);
    return fd;
}

int enter_socket(pid_t pid, uint64_t start, int family)
{
    int proc = proc_open(pid, start), fd;
    if (proc < 0)
        return errno == ENOENT ? -ESRCH : -errno;
    struct spaces ns = {.net = openat(proc, "ns/net", O_RDONLY | O_CLOEXEC), .user = -1};
    if (ns.net < 0) {
        fd = errno == ENOENT ? -ESRCH : -errno;
    } else {
        ns.user = openat(proc, "ns/user", O_RDONLY | O_CLOEXEC);
        fd = by_child(&ns, family);
        close(ns.net);
    }
    if (ns.user >= 0)
        close(ns.user);
    close(proc);
    return fd == -EACCES ? -EPERM : fd;
}
