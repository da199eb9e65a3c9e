/* cpp.c - option -C: a script goes through the C preprocessor before it is compiled
 * (reference 1.9).
 *
 * Input and output are files that have no name, so that neither side waits for the other. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

extern char **environ;

/* What every script finds defined, before and after what the command line adds. */
static const char *const before[] = {
    "-D__linux", "-D__unix", "-D__SVR4", "-D__SUNW_D=1", "-U__GNUC__", "-D__SUNW_D_64", "-D__Linux",
#ifdef __x86_64__
    "-D__amd64",
#endif
};
static const char version[] = "-D__SUNW_D_VERSION=0x02000001";

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static char **arguments(struct arena *arena, const struct args *a)
{
    size_t n = 0;
    const char **v = arena_alloc(arena, (NELEM(before) + a->ncpp + 5) * sizeof *v);
    if (v == NULL)
        return NULL;
    v[n++] = a->opt.cpppath != NULL ? a->opt.cpppath : "cpp";
    for (size_t i = 0; i < NELEM(before); i++)
        v[n++] = before[i];
    for (size_t i = 0; i < a->ncpp; i++)
        v[n++] = a->cpp[i];
    v[n++] = version;
    v[n++] = a->traditional ? "-traditional-cpp" : "-std=c99";
    v[n++] = "/dev/stdin";
    v[n] = NULL;
    return (char **)(void *)v;
}

/* Runs the command with these files as input and output; true if it ended with 0. */
static bool run(char **argv, int in, int out, int *error)
{
    posix_spawn_file_actions_t fa;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&fa, out, STDOUT_FILENO);
    *error = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    if (*error != 0)
        return false;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static char *read_all(struct arena *arena, FILE *f, size_t *len)
{
    struct buf b = BUF_INIT;
    char chunk[8192];
    size_t n;
    rewind(f);
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_add(&b, chunk, n);
    char *text = ferror(f) || b.oom ? NULL : arena_strndup(arena, buf_str(&b), b.len);
    *len = b.len;
    buf_free(&b);
    return text;
}

char *cli_preprocess(struct arena *arena, const struct args *a, const char *text, size_t *len,
                     const char **why)
{
    char **argv = arguments(arena, a), *result = NULL;
    FILE *in = tmpfile(), *out = tmpfile();
    size_t skip = 0;
    int error = 0;
    if (*len > 2 && text[0] == '#' && text[1] == '!') /* its newline keeps the numbering */
        while (skip < *len && text[skip] != '\n')
            skip++;
    *why = "Preprocessor failed to process input program";
    if (argv != NULL && in != NULL && out != NULL &&
        fwrite(text + skip, 1, *len - skip, in) == *len - skip && fflush(in) == 0) {
        rewind(in);
        if (run(argv, fileno(in), fileno(out), &error))
            result = read_all(arena, out, len);
    }
    if (error == ENOENT || error == EACCES || error == ENOTDIR)
        *why = "Preprocessor not found";
    if (in != NULL)
        fclose(in);
    if (out != NULL)
        fclose(out);
    return result;
}
