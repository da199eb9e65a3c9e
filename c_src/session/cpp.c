/* cpp.c - option cpp: runs a script through the C preprocessor before it is compiled (language.md
 * 1.9).
 *
 * Input and output are files without a name, so that neither side waits for the other. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/handle.h"
#include "util/buftext.h"

extern char **environ;

/* The definitions that every script gets, before and after those that options add. */
static const char *const before[] = {
    "-D__linux", "-D__unix", "-D__SVR4", "-D__SUNW_D=1", "-U__GNUC__", "-D__SUNW_D_64", "-D__Linux",
#ifdef __x86_64__
    "-D__amd64",
#endif
};
static const char version[] = "-D__SUNW_D_VERSION=0x02000001";

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
    const char *name;
    const char *letter; /* of cpp; "": the value is arguments, separated by blanks */
    bool value;         /* takes a value */
} options[] = {{"define", "-D", true},
               {"undef", "-U", true},
               {"incdir", "-I", true},
               {"cpphdrs", "-H", false},
               {"cppargs", "", true}};

static void add_argument(erltrace_t *h, const char *letter, const char *value, size_t n)
{
    buf_adds(&h->cpp, letter);
    buf_add(&h->cpp, value, n);
    buf_addc(&h->cpp, '\0');
    h->ncpp++;
}

static void add_arguments(erltrace_t *h, const char *value)
{
    static const char blanks[] = " \t\n";
    for (size_t n; *(value += strspn(value, blanks)) != '\0'; value += n) {
        n = strcspn(value, blanks);
        add_argument(h, "", value, n);
    }
}

bool api_cpp_option(erltrace_t *h, const char *name, const char *value, bool *ok)
{
    *ok = false;
    if (h->session.opt.restricted) /* options_set refuses these options by name */
        return false;
    if (strcmp(name, "stdc") == 0) {
        *ok = value != NULL && strlen(value) == 1 && strchr("acst", value[0]) != NULL;
        if (*ok)
            h->traditional = value[0] == 's';
        return true;
    }
    for (size_t i = 0; i < NELEM(options); i++) {
        if (strcmp(name, options[i].name) != 0)
            continue;
        *ok = (value != NULL) == options[i].value;
        const char *given = value != NULL ? value : "";
        if (*ok && options[i].letter[0] == '\0')
            add_arguments(h, given);
        else if (*ok)
            add_argument(h, options[i].letter, given, strlen(given));
        return true;
    }
    return false;
}

static char **arguments(erltrace_t *h)
{
    size_t n = 0;
    const char **v = arena_alloc(&h->session.arena, (NELEM(before) + h->ncpp + 5) * sizeof *v);
    const char *word = buf_str(&h->cpp);
    if (v == NULL || h->cpp.oom)
        return NULL;
    v[n++] = h->session.opt.cpppath != NULL ? h->session.opt.cpppath : "cpp";
    for (size_t i = 0; i < NELEM(before); i++)
        v[n++] = before[i];
    for (size_t i = 0; i < h->ncpp; i++, word += strlen(word) + 1)
        v[n++] = word;
    v[n++] = version;
    v[n++] = h->traditional ? "-traditional-cpp" : "-std=c99";
    v[n++] = "/dev/stdin";
    v[n] = NULL;
    return (char **)(void *)v;
}

/* Runs the command with these files as input and output. Returns true if it exited with status 0.
 */
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

char *api_preprocess(erltrace_t *h, const char *text, size_t *len, const char **why)
{
    char **argv = arguments(h), *result = NULL;
    FILE *in = tmpfile(), *out = tmpfile();
    size_t skip = 0;
    int error = 0;
    if (*len > 2 && text[0] == '#' &&
        text[1] == '!') /* keeping its newline keeps the line numbers */
        while (skip < *len && text[skip] != '\n')
            skip++;
    *why = "Preprocessor failed to process input program";
    if (argv != NULL && in != NULL && out != NULL &&
        fwrite(text + skip, 1, *len - skip, in) == *len - skip && fflush(in) == 0) {
        rewind(in);
        if (run(argv, fileno(in), fileno(out), &error)) {
            rewind(out);
            result = api_read(h, out, len);
        }
    }
    if (error == ENOENT || error == EACCES || error == ENOTDIR)
        *why = "Preprocessor not found";
    if (in != NULL)
        fclose(in);
    if (out != NULL)
        fclose(out);
    return result;
}
