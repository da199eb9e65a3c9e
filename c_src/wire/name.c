/* name.c - holds a name by a socket of the abstract namespace: one process of this host at a time
 * can bind it, it appears in no file system, and the kernel releases it when its holder ends. */
#include "wire/name.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int name_take(unsigned from, unsigned *slot)
{
    for (unsigned i = from; i < NAME_SLOTS; i++) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "erltrace-name-%u", i);
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            return -1;
        socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
        if (bind(fd, (const struct sockaddr *)&a, len) == 0) {
            *slot = i;
            return fd;
        }
        close(fd);
    }
    return -1;
}
