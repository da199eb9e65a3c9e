/* d_text.h - for tests of the compiler: one D text in, an image or diagnostics out. */
#ifndef TEST_D_TEXT_H
#define TEST_D_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "lang/compile.h"
#include "util/render.h"

struct d_text {
    struct compile_options opt;
    struct diags diags;
    struct compile *compile;
    struct dif_image img;
    int err;
};

/* What "#pragma D option" may set in these tests: anything but "nonsense"; strsize is obeyed. */
static int d_setopt(void *arg, const char *name, const char *value, const char **why)
{
    struct d_text *d = arg;
    if (strcmp(name, "nonsense") == 0) {
        *why = "Invalid option name";
        return -1;
    }
    if (strcmp(name, "strsize") == 0) {
        unsigned long n = value ? strtoul(value, NULL, 10) : 0;
        *why = "Invalid value for specified option";
        if (n < 2 || n > 65536)
            return -1;
        d->opt.strsize = (uint32_t)n;
    }
    return 0;
}

static inline void d_open(struct d_text *d)
{
    memset(d, 0, sizeof *d);
    d->opt = (struct compile_options){COMPILE_SIZES, .target = 4711};
    d->opt.setopt = d_setopt;
    d->opt.setopt_arg = d;
    diags_init(&d->diags);
    dif_image_init(&d->img);
}

/* Adds a text; args is $0, $1 ... and NULL at the end, or NULL. */
static inline int d_add(struct d_text *d, enum compile_kind kind, const char *text,
                        const char *const *args)
{
    struct compile_source src = {.kind = kind, .name = "t.d", .text = text, .len = strlen(text)};
    if (!d->compile)
        d->compile = compile_new(&d->opt, &d->diags);
    if (!d->compile)
        return d->err = ET_ENOMEM;
    while (args && args[src.argc])
        src.argc++;
    src.argv = (char *const *)(uintptr_t)args;
    d->err = compile_add(d->compile, &src);
    return d->err;
}

static inline int d_image(struct d_text *d)
{
    if (d->err == 0)
        d->err = compile_image(d->compile, &d->img);
    return d->err;
}

static inline void d_close(struct d_text *d)
{
    dif_image_free(&d->img);
    compile_free(d->compile);
    diags_free(&d->diags);
}

/* All diagnostics as text, for messages of failed tests. The caller frees it. */
static inline char *d_complaints(const struct d_text *d)
{
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < d->diags.count; i++)
        diag_render(&d->diags, &d->diags.list[i], &b);
    char *s = strdup(buf_str(&b));
    buf_free(&b);
    return s;
}

/* Compiles one text as the script "t.d"; it must compile and pass the verifier. */
static inline void d_must(struct d_text *d, const char *text)
{
    d_open(d);
    d_add(d, COMPILE_SCRIPT, text, NULL);
    d_image(d);
    if (d->err == 0)
        d->err = dif_verify(&d->img, &d->diags);
    if (d->err != 0) {
        char *s = d_complaints(d);
        print_error("%s\n%s(%s)\n", text, s, et_strerror(d->err));
        free(s);
        fail();
    }
}

#endif
