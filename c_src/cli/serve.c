/* serve.c - `erltrace serve`: becomes erltrace-serve, which does the work. That program is
 * installed in the same folder. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/embedded.h"
#include "util/secret.h"
#include "cli/cli.h"

static const char name[] = "erltrace-serve";

/* Becomes FOLDER/erltrace-serve; returns if it does not exist or cannot be run. */
static void become(struct arena *arena, const char *folder, char **argv)
{
    char *path = arena_printf(arena, "%s/%s", folder, name);
    if (path != NULL)
        execv(path, argv);
}

/* Moves the cookie from the words to the environment, so that the program that this one becomes
 * does not show it either. Returns false if out of memory. */
static bool hide_cookie(char **argv)
{
    static const char option[] = "--cookie";
    static const size_t n = sizeof option - 1;
    size_t to = 2;
    bool ok = true;
    for (char **from = argv + 2; argv[1] != NULL && *from != NULL; from++) {
        char *value = strcmp(*from, option) == 0 && from[1] != NULL         ? *++from
                      : strncmp(*from, option, n) == 0 && (*from)[n] == '=' ? *from + n + 1
                                                                            : NULL;
        if (value == NULL) {
            argv[to++] = *from;
            continue;
        }
        ok = setenv(SECRET_COOKIE, value, 1) == 0 && ok;
        explicit_bzero(value, strlen(value));
    }
    if (argv[1] != NULL)
        argv[to] = NULL;
    return ok;
}

int cli_serve(char **argv, struct arena *arena)
{
    char self[PATH_MAX];
    if (!hide_cookie(argv)) {
        fprintf(stderr, "erltrace: error: out of memory\n");
        return EXIT_ERROR;
    }
    if (embedded_static()) {
        fprintf(stderr, "erltrace: error: the static erltrace has no page; use an installed one "
                        "(make install)\n");
        return EXIT_ERROR;
    }
    const char *root = getenv("ERLTRACE_ROOT");
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    argv[1] = argv[0];
    if (n > 0) {
        self[n] = '\0';
        char *slash = strrchr(self, '/');
        *(slash != NULL ? slash : self) = '\0';
        become(arena, self, argv + 1);
    }
    if (errno == ENOENT && root != NULL)
        become(arena, arena_printf(arena, "%s/bin", root), argv + 1);
    if (errno == ENOENT)
        fprintf(stderr,
                "erltrace: error: %s is not here: the web server is a separate program, which a "
                "full installation of erltrace puts beside this one\n",
                name);
    else
        fprintf(stderr, "erltrace: error: cannot run %s: %s\n", name, strerror(errno));
    return EXIT_ERROR;
}
