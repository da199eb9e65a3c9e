/* proc.c - see proc.h.
 *
 * A file is opened in two steps: first with O_PATH, which touches no device, pipe or lock; then,
 * once it is found to be what it should be, the same file again, through /proc/self/fd. */
#include "wire/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "util/buftext.h"

enum { GROUPS_MAX = 1024 };

int proc_open(pid_t pid, uint64_t start)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && start != 0 && proc_start(fd) != start) {
        close(fd);
        errno = ESRCH;
        return -1;
    }
    return fd;
}

uint64_t proc_start(int proc)
{
    struct buf b = BUF_INIT;
    unsigned long long start = 0;
    /* Field 22; the second, a name in brackets, may hold blanks and brackets. */
    if (proc_read(proc, "stat", 4096, &b) > 0) {
        const char *p = strrchr(b.data, ')');
        for (int field = 3; p != NULL && field <= 22; field++)
            if ((p = strchr(p, ' ')) != NULL)
                p++;
        if (p != NULL)
            start = strtoull(p, NULL, 10);
    }
    buf_free(&b);
    return start;
}

bool proc_owner(int proc, uid_t *uid, gid_t *gid)
{
    struct stat st;
    /* The folder of an ended process keeps its owner; the files in it tell. */
    if (fstatat(proc, "stat", &st, 0) != 0 || fstat(proc, &st) != 0)
        return false;
    *uid = st.st_uid;
    *gid = st.st_gid;
    return true;
}

bool proc_program(int proc, char *path, size_t cap)
{
    static const char deleted[] = " (deleted)";
    ssize_t n = readlinkat(proc, "exe", path, cap);
    if (n <= 0 || (size_t)n == cap)
        return false;
    path[n] = '\0';
    char *end = strstr(path, deleted);
    if (end != NULL && end[sizeof deleted - 1] == '\0')
        *end = '\0';
    return true;
}

/* Reads to the end or `max` bytes; returns 0 or -errno. */
static int read_all(int fd, char *out, size_t max, size_t *got)
{
    *got = 0;
    while (*got < max) {
        ssize_t n = read(fd, out + *got, max - *got);
        if (n == 0)
            break;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        *got += (size_t)n;
    }
    return 0;
}

ssize_t proc_read(int proc, const char *name, size_t max, struct buf *b)
{
    enum { CHUNK = 8192 };
    size_t got = 0;
    int fd = openat(proc, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK), e = 0;
    buf_reset(b);
    if (fd < 0)
        return -errno;
    while (e == 0 && b->len < max) {
        size_t want = max - b->len < CHUNK ? max - b->len : CHUNK;
        if (!buf_reserve(b, want))
            e = -ENOMEM;
        else if ((e = read_all(fd, b->data + b->len, want, &got)) == 0) {
            b->len += got;
            b->data[b->len] = '\0';
            if (got < want)
                break;
        }
    }
    close(fd);
    return e ? e : (ssize_t)b->len;
}

/* -- the rights of another user ----------------------------------------------------------------
 *
 * Only this thread takes them on, and only for files: meanwhile it lacks what root may do by its
 * user id or by a group. (The C library's setgroups would change all threads.) */

struct rights {
    bool changed;
    int ngroups;
    gid_t group[GROUPS_MAX];
};

static long thread_groups(int n, const gid_t *group)
{
#ifdef SYS_setgroups32
    return syscall(SYS_setgroups32, n, group);
#else
    return syscall(SYS_setgroups, n, group);
#endif
}

static void rights_back(struct rights *r)
{
    if (!r->changed)
        return;
    setfsuid(geteuid());
    setfsgid(getegid());
    thread_groups(r->ngroups, r->group);
}

/* Returns 0, or -errno with nothing changed. A user other than root has no rights to drop. */
static int rights_of(struct rights *r, uid_t uid, gid_t gid)
{
    r->changed = false;
    if (geteuid() != 0 || uid == 0)
        return 0;
    if ((r->ngroups = getgroups(GROUPS_MAX, r->group)) < 0)
        return -errno;
    r->changed = true;
    if (thread_groups(0, NULL) == 0) {
        setfsgid(gid);
        setfsuid(uid);
        if (setfsgid((gid_t)-1) == (int)gid && setfsuid((uid_t)-1) == (int)uid)
            return 0;
    }
    rights_back(r);
    return -EPERM;
}

/* -- files ------------------------------------------------------------------------------------- */

/* Returns whether the kernel lacks openat2 or a filter rejects it. */
static bool no_openat2(void)
{
    return errno == ENOSYS || errno == EPERM || errno == EINVAL;
}

/* Without openat2 an absolute link in another root folder would lead to a file of ours. */
static bool is_our_root(int root)
{
    struct stat theirs, ours;
    int e = errno;
    bool same = fstat(root, &theirs) == 0 && stat("/", &ours) == 0 &&
                theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
    errno = e;
    return same;
}

/* Finds the file below the root folder of the process. */
static int find_in_root(int proc, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    int root = openat(proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -1;
    path += strspn(path, "/");
    int fd = -1;
    errno = EAGAIN; /* the kernel returns it when folders are moved meanwhile */
    for (int i = 0; i < 8 && fd < 0 && errno == EAGAIN; i++)
        fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd < 0 && no_openat2() && is_our_root(root))
        fd = openat(root, path, O_PATH | O_CLOEXEC);
    int e = errno;
    close(root);
    errno = e;
    return fd;
}

/* Reads the file of an O_PATH descriptor, if it is a regular file and, when `owner` is given, that
 * user's. Closes the descriptor. */
static ssize_t read_found(int found, const uid_t *owner, bool root_too, char *out, size_t cap)
{
    struct stat st;
    char again[32];
    size_t got = 0;
    int e = 0, fd = -1;
    out[0] = '\0';
    if (found < 0)
        return -errno;
    if (fstat(found, &st) != 0)
        e = -errno;
    else if (!S_ISREG(st.st_mode))
        e = -EINVAL;
    else if (owner && st.st_uid != *owner && !(root_too && st.st_uid == 0))
        e = -ESTALE;
    snprintf(again, sizeof again, "/proc/self/fd/%d", found);
    if (e == 0 && (fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) < 0)
        e = -errno;
    if (e == 0)
        e = read_all(fd, out, cap - 1, &got);
    out[e == 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
    close(found);
    return e ? e : (ssize_t)got;
}

ssize_t proc_file(int proc, uid_t uid, const char *path, enum proc_whose whose, char *out,
                  size_t cap)
{
    uid_t now;
    gid_t gid;
    struct rights rights;
    out[0] = '\0';
    if (path[0] != '/')
        return -EINVAL;
    if (!proc_owner(proc, &now, &gid) || now != uid)
        return -ESRCH;
    int e = rights_of(&rights, uid, gid);
    if (e)
        return e;
    const uid_t *owner = whose == PROC_OWN && uid == 0 ? NULL : &uid;
    ssize_t n = read_found(find_in_root(proc, path), owner, whose == PROC_OWN_OR_ROOT, out, cap);
    rights_back(&rights);
    return n;
}

/* Does not go through /proc, which may be absent. */
ssize_t own_file(const char *path, char *out, size_t cap)
{
    struct stat st;
    size_t got = 0;
    int e = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    out[0] = '\0';
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) != 0)
        e = -errno;
    else if (!S_ISREG(st.st_mode))
        e = -EINVAL;
    else
        e = read_all(fd, out, cap - 1, &got);
    out[e == 0 ? got : 0] = '\0';
    close(fd);
    return e ? e : (ssize_t)got;
}
