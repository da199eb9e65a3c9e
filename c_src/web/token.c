/* token.c - see token.h. Everything is done through the folder, which is opened once and inspected,
 * so that nothing can be exchanged between the look and the use. */
#include "web/token.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folders of a path, as far as they are missing. */
static void make_folders(char *path)
{
    for (char *p = path + 1; *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    mkdir(path, 0700);
}

/* Opens the folder of the files; returns -1 with the reason. */
static int open_folder(char path[PATH_MAX], char *why, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    struct stat st;
    int n = -1;
    if (state != NULL && state[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/erltrace", state);
    else if (home != NULL && home[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/.local/state/erltrace", home);
    if (n < 0 || n >= PATH_MAX) {
        snprintf(why, size, "the token is not kept for the next server: there is no HOME");
        return -1;
    }
    make_folders(path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        snprintf(why, size, "the token is not kept for the next server: %.120s: %s", path,
                 strerror(errno));
    } else if (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 022) != 0) {
        snprintf(why, size,
                 "the token is not kept for the next server: another user owns %.120s, or can "
                 "write in it",
                 path);
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Returns whether fd is a file that only we can have written and can read. */
static bool is_ours(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 077) == 0 && st.st_nlink == 1;
}

static bool is_token(const char *text)
{
    return strlen(text) == ACCESS_SECRET - 1 &&
           strspn(text, "0123456789abcdef") == ACCESS_SECRET - 1;
}

/* Returns whether the file has a token that may be used. */
static bool read_token(int folder, const char *name, char token[ACCESS_SECRET])
{
    char text[ACCESS_SECRET] = "";
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ok = fd >= 0 && is_ours(fd) && read(fd, text, ACCESS_SECRET - 1) == ACCESS_SECRET - 1 &&
              is_token(text);
    if (fd >= 0)
        close(fd);
    if (ok)
        memcpy(token, text, ACCESS_SECRET);
    return ok;
}

/* Writes a file that must not exist. */
static bool write_token(int folder, const char *name, const char *token)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = write(fd, token, ACCESS_SECRET - 1) == ACCESS_SECRET - 1;
    close(fd);
    return ok;
}

void token_keep(const char *address, int port, bool anew, char token[ACCESS_SECRET], char *why,
                size_t size)
{
    char path[PATH_MAX], name[128];
    int folder = open_folder(path, why, size);
    snprintf(name, sizeof name, "token-%.60s-%d", address, port);
    if (folder < 0)
        return;
    if (anew) {
        unlinkat(folder, name, 0);
    } else if (!read_token(folder, name, token)) {
        unlinkat(folder, name, 0);
        if (!write_token(folder, name, token))
            snprintf(why, size, "the token is not kept for the next server: %.120s/%s: %s", path,
                     name, strerror(errno));
    }
    close(folder);
}
