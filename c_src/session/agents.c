/* agents.c - the agent's libraries that erltrace can bring into a node, one for each processor. */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "session/handle.h"
#include "util/embedded.h"
#include "wire/processor.h"

/* Returns the processor that a library is for, as `uname -m` has it; NULL: it is no library. */
static const char *processor_of_library(const struct buf *library)
{
    struct elf_head e;
    return elf_head(&e, library->data, library->len) && e.type == ET_DYN ? processor_name(e.machine)
                                                                         : NULL;
}

static int report(const char *path, const struct buf *library, erltrace_agent_fn *fn, void *arg)
{
    struct erltrace_agent a = {.processor = processor_of_library(library),
                               .path = path,
                               .hash = hash_bytes(library->data, library->len)};
    return a.processor != NULL ? fn(&a, arg) : 0;
}

static int report_file(const char *path, erltrace_agent_fn *fn, void *arg, bool *oom)
{
    char chunk[65536];
    struct buf library = BUF_INIT;
    FILE *f = fopen(path, "re");
    int rc = 0;
    if (f == NULL)
        return 0;
    for (size_t n; !library.oom && (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_add(&library, chunk, n);
    fclose(f);
    *oom = library.oom;
    if (!library.oom)
        rc = report(path, &library, fn, arg);
    buf_free(&library);
    return rc;
}

/* Those inside this program. */
static int walk_inside(erltrace_agent_fn *fn, void *arg)
{
    static const char ending[] = ".so";
    int rc = 0;
    for (const struct embedded *f = NULL; rc == 0 && (f = embedded_next("priv", f)) != NULL;) {
        size_t n = strlen(f->path), size = (size_t)(f->end - f->text);
        if (n < sizeof ending || strcmp(f->path + n - (sizeof ending - 1), ending) != 0)
            continue;
        rc = report(f->path, &(struct buf){.data = (char *)(uintptr_t)f->text, .len = size}, fn,
                    arg);
    }
    return rc;
}

int erltrace_agent_iter(erltrace_t *h, erltrace_agent_fn *fn, void *arg)
{
    bool oom = false;
    int result = 0;
    if (!api_enter(h, API_OPEN, ERLTRACE_STATE_FAILED))
        return -1;
    if (fn == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    const char *root = api_root(h);
    h->busy = true;
    if (root == embedded_root) {
        result = walk_inside(fn, arg);
    } else if (root != NULL) {
        glob_t found = {0};
        const char *pattern = arena_printf(&h->session.arena, "%s/priv/erltrace_agent*.so", root);
        oom = pattern == NULL || glob(pattern, 0, NULL, &found) == GLOB_NOSPACE;
        for (size_t i = 0; !oom && result == 0 && i < found.gl_pathc; i++)
            result = report_file(found.gl_pathv[i], fn, arg, &oom);
        globfree(&found);
    }
    h->busy = false;
    return oom ? api_fail(h, ERLTRACE_E_NOMEM) : result;
}
