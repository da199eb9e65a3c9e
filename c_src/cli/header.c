/* header.c - -h: a C header from the provider definitions of scripts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run.h"

/* Returns shop.h, in the current folder, for shop.d; NULL if no name can be derived. */
static const char *name_for(struct run *r)
{
    const char *script = r->a->program[0].text;
    const char *slash = strrchr(script, '/'), *base = slash != NULL ? slash + 1 : script;
    size_t n = strlen(base);
    if (n <= 2 || strcmp(base + n - 2, ".d") != 0)
        return NULL;
    return arena_printf(r->arena, "%.*s.h", (int)n - 2, base);
}

static int write_file(struct run *r, const char *name, const char *text, size_t len)
{
    FILE *fp = fopen(name, "we");
    bool written = fp != NULL && fwrite(text, 1, len, fp) == len;
    if (fp != NULL && (fclose(fp) != 0 || !written)) {
        screen_error(&r->screen, "failed to write %s: %s", name, strerror(errno));
        return EXIT_ERROR;
    }
    if (fp == NULL)
        screen_error(&r->screen, "failed to open %s: %s", name, strerror(errno));
    return fp != NULL ? EXIT_OK : EXIT_ERROR;
}

int write_header(struct run *r)
{
    const char *name = r->a->output, *slash;
    if (name == NULL) {
        name = r->a->nprograms == 1 ? name_for(r) : NULL;
        if (name == NULL) {
            screen_error(&r->screen, "-h needs an output file, -o, unless there is one script and "
                                     "its name ends in .d");
            return EXIT_ERROR;
        }
    }
    /* Made in memory first, so that a failure touches no file. */
    char *text = NULL;
    size_t len = 0;
    FILE *fp = open_memstream(&text, &len);
    slash = strrchr(name, '/');
    int rc = fp != NULL ? erltrace_program_header(r->h, fp, slash != NULL ? slash + 1 : name) : -1;
    if (fp != NULL && fclose(fp) != 0)
        rc = -1;
    int code = rc == 0 ? write_file(r, name, text, len) : run_failed(r);
    free(text);
    return code;
}
