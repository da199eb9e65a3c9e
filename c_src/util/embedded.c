/* embedded.c - see embedded.h.
 *
 * ET_EMBEDDED names a list with a row EMBEDDED(number, path) for each file, sorted by path, which
 * the build writes (mk/static.mk). The assembler includes the files themselves. */
#include "util/embedded.h"

#include <stddef.h>
#include <string.h>

#ifdef ET_EMBEDDED
#define EMBEDDED(n, path)                                                                          \
    extern const char embedded_##n[], embedded_##n##_end[];                                        \
    __asm__(".section .rodata\n.hidden embedded_" #n "\n.globl embedded_" #n "\nembedded_" #n      \
            ":\n.incbin \"" path "\"\n.hidden embedded_" #n "_end\n.globl embedded_" #n            \
            "_end\nembedded_" #n "_end:\n.byte 0\n.previous\n");
#include ET_EMBEDDED
#undef EMBEDDED
#endif

static const struct embedded files[] = {
#ifdef ET_EMBEDDED
#define EMBEDDED(n, path) {path, embedded_##n, embedded_##n##_end},
#include ET_EMBEDDED
#undef EMBEDDED
#endif
    {NULL, NULL, NULL}};

const char embedded_root[] = "built-in";

bool embedded_static(void)
{
    return files[0].path != NULL;
}

const struct embedded *embedded_find(const char *path)
{
    for (const struct embedded *f = files; f->path != NULL; f++)
        if (strcmp(f->path, path) == 0)
            return f;
    return NULL;
}

const struct embedded *embedded_next(const char *folder, const struct embedded *after)
{
    const size_t n = strlen(folder);
    for (const struct embedded *f = after != NULL ? after + 1 : files; f->path != NULL; f++)
        if (strncmp(f->path, folder, n) == 0 && f->path[n] == '/' &&
            strchr(f->path + n + 1, '/') == NULL)
            return f;
    return NULL;
}
