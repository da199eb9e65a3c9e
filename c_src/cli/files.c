/* files.c - files that the command needs: scripts, and the agent's folder. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/cli.h"

char *cli_read_file(struct arena *arena, const char *path, size_t *len)
{
    struct stat st;
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return NULL;
    /* Opening a folder succeeds; reading it does not say what is wrong. */
    if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
        fclose(f);
        errno = EISDIR;
        return NULL;
    }
    struct buf b = BUF_INIT;
    char piece[4096];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(&b, piece, n);
    int error = ferror(f) ? errno : b.oom ? ENOMEM : 0;
    fclose(f);
    char *text = error == 0 ? arena_strndup(arena, buf_str(&b), b.len) : NULL;
    *len = b.len;
    buf_free(&b);
    errno = error != 0 ? error : ENOMEM;
    return text;
}

const char *cli_root(struct arena *arena)
{
    /* From the folder of the executable: a checkout, an installation, a sanitizer build. */
    static const char *const near[] = {"..", "../lib/erltrace", "../.."};
    const char *set = getenv("ERLTRACE_ROOT");
    char exe[4096];
    if (set != NULL && *set != '\0')
        return arena_strdup(arena, set);
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0)
        return NULL;
    exe[n] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        const char *root = arena_printf(arena, "%s/%s", exe, near[i]);
        const char *beam = root ? arena_printf(arena, "%s/ebin/erltrace_agent.beam", root) : NULL;
        if (beam != NULL && access(beam, R_OK) == 0)
            return root;
    }
    return NULL;
}
