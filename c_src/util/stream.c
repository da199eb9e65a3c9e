/* stream.c - see stream.h. */
#include "util/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int stream_redirect(FILE *f, const char *path, int *first)
{
    int fd = fileno(f), to = *first;
    if (path != NULL) {
        to = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (to < 0)
            return errno;
        if (*first < 0)
            *first = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    } else if (to < 0) {
        return 0; /* it already goes there */
    }
    int err = dup2(to, fd) < 0 ? errno : 0;
    if (path != NULL)
        close(to);
    return err;
}

void stream_truncate(FILE *f)
{
    if (ftruncate(fileno(f), 0) == 0)
        lseek(fileno(f), 0, SEEK_SET);
}
