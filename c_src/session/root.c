/* root.c - finds the agent's files: inside the program, or beside the library or program that holds
 * this code. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/handle.h"
#include "util/embedded.h"

/* Returns the file that this code was loaded from. */
static const char *own_file(erltrace_t *h)
{
    Dl_info info;
    char path[4096];
    /* A program has the name it was called by, which may have to be looked up in PATH. */
    if (dladdr((const void *)erltrace_version, &info) != 0 && info.dli_fname != NULL &&
        strstr(info.dli_fname, ".so") != NULL)
        return realpath(info.dli_fname, path) != NULL ? arena_strdup(&h->session.arena, path)
                                                      : NULL;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return n > 0 ? arena_strndup(&h->session.arena, path, (size_t)n) : NULL;
}

static bool is_root(erltrace_t *h, const char *root)
{
    const char *beam =
        root != NULL ? arena_printf(&h->session.arena, "%s/priv/agent/erltrace_agent.beam", root)
                     : NULL;
    return beam != NULL && access(beam, R_OK) == 0;
}

const char *api_root(erltrace_t *h)
{
    /* Relative to the folder of the file: a checkout, an installed program, a sanitizer build or
     * the Erlang application's priv/bin, an installed library. */
    static const char *const near[] = {"..", "../lib/erltrace", "../..", "erltrace"};
    const char *set = h->root != NULL ? h->root : getenv("ERLTRACE_ROOT"), *file;
    if (set != NULL && *set != '\0')
        return set;
    if (embedded_static())
        return embedded_root;
    if ((file = own_file(h)) != NULL) {
        int folder = (int)(strrchr(file, '/') - file);
        for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
            const char *root = arena_printf(&h->session.arena, "%.*s/%s", folder, file, near[i]);
            if (is_root(h, root))
                return root;
        }
    }
    /* A program that holds the static library may lie anywhere. */
    const char *installed = arena_printf(&h->session.arena, "%s/erltrace", api_libdir());
    return is_root(h, installed) ? installed : NULL;
}
