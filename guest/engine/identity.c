/* identity.c - queries the system about the traced process, once, when an engine is created inside
 * it. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "engine/impl.h"

void file_text(const char *path, char *out, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, out, n - 1) : -1;
    out[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

/* Returns the parent of a process; 0 when it is unknown. The process's name, in parentheses, may
 * contain anything. */
static int32_t parent_of(int32_t pid)
{
    char path[64], stat[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file_text(path, stat, sizeof stat);
    const char *p = strrchr(stat, ')');
    uint64_t parent = 0;
    if (p != NULL) {
        p = number_skip(p, 2);
        number_read(&p, 10, &parent);
    }
    return (int32_t)parent;
}

void identity_find(struct identity *id, int32_t pid)
{
    enum { MOST = sizeof id->ancestor / sizeof *id->ancestor };
    memset(id, 0, sizeof *id);
    id->pid = pid;
    id->ppid = (int32_t)getppid();
    id->pgid = (int32_t)getpgrp();
    id->sid = (int32_t)getsid(0);
    id->euid = (uint32_t)geteuid();
    id->egid = (uint32_t)getegid();
    id->uid = (uint32_t)getuid();
    id->gid = (uint32_t)getgid();
    file_text("/proc/self/comm", id->execname, sizeof id->execname);
    id->execname[strcspn(id->execname, "\n")] = '\0';
    memcpy(id->unknown, "<unknown>", sizeof "<unknown>");
    id->ancestor[id->nancestors++] = pid;
    for (int32_t p = id->ppid; p > 0 && id->nancestors < MOST; p = parent_of(p))
        id->ancestor[id->nancestors++] = p;
}
