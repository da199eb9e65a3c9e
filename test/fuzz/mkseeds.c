/* mkseeds.c - makes seeds of D scripts: mkseeds DIRECTORY FILE.d...
 *
 * What compiles becomes DIRECTORY/image/NAME, DIRECTORY/engine/NAME, DIRECTORY/agent/NAME, and each
 * of its formats DIRECTORY/format/NAME-N. NAME is the number of the file; the directories must be
 * there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "lang/compile.h"
#include "lang/encode.h"
#include "result/options.h"
#include "util/buftext.h"

static int setopt(void *arg, const char *name, const char *value, const char **why)
{
    struct compile_options *opt = arg;
    struct options o;
    options_init(&o);
    int err = options_set(&o, name, value, OPTION_BY_PROGRAM, why);
    if (err == 0 && strcmp(name, "strsize") == 0)
        opt->strsize = (uint32_t)o.value[OPTION_strsize];
    return err;
}

static int write_file(const char *path, const struct buf *b)
{
    FILE *f = fopen(path, "wb");
    bool ok = f != NULL && fwrite(b->data, 1, b->len, f) == b->len;
    if (f != NULL && fclose(f) != 0)
        ok = false;
    if (!ok)
        perror(path);
    return ok ? 0 : -1;
}

static int read_file(const char *path, struct buf *b)
{
    char part[4096];
    size_t n;
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        return -1;
    }
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        buf_add(b, part, n);
    fclose(f);
    return b->oom ? -1 : 0;
}

/* A format with a value of each type that the action has; see format.c. */
static int write_format(const char *dir, unsigned num, const struct dif_image *img,
                        const struct dif_action *a, unsigned nth)
{
    struct buf b = BUF_INIT;
    char path[4096];
    buf_u8(&b, (uint8_t)(a->kind == ACT_PRINTA ? 2 : a->kind == ACT_PRINT ? 3 : nth % 2));
    buf_u8(&b, (uint8_t)(a->nparts % 9));
    for (uint32_t i = 0; i < a->nparts % 9; i++) {
        const struct dif_type *t = &img->parts[a->part + i];
        unsigned size = t->kind <= DIF_UINT ? (unsigned)__builtin_ctz(t->size) : 0;
        buf_u8(&b, (uint8_t)((t->kind - DIF_INT) | size << 2));
        if (t->kind <= DIF_UINT) {
            buf_fill(&b, 42, t->size);
        } else {
            buf_u8(&b, 5);
            buf_adds(&b, "hello");
        }
    }
    buf_adds(&b, dif_str(img, a->format));
    snprintf(path, sizeof path, "%s/format/%u-%u", dir, num, nth);
    int err = write_file(path, &b);
    buf_free(&b);
    return err;
}

/* Options as they are, each clause at erltrace:probe, calls of that with three terms of all kinds;
 * see agent.c. */
static void write_events(struct buf *b, uint32_t nclauses)
{
    enum { OPTIONS = 10, CALLS = 16, TERMS = 40 };
    uint32_t random = 1;
    buf_fill(b, 0, OPTIONS);
    buf_fill(b, 0, nclauses);
    for (unsigned i = 0; i < CALLS; i++) {
        static const unsigned char call[] = {4 + TERMS, 0, 14, 0, 8 * 3 + 1};
        buf_add(b, call, sizeof call);
        buf_u8(b, (uint8_t)(128 + i)); /* each kind once for the last of them */
        for (unsigned k = 1; k < TERMS; k++, random = random * 1103515245 + 12345)
            buf_u8(b, (uint8_t)(random >> 16));
    }
}

static int write_image(const char *dir, unsigned num, const struct dif_image *img)
{
    struct buf b = BUF_INIT;
    struct dif_need need;
    char path[4096];
    int err = dif_encode(img, &b);
    snprintf(path, sizeof path, "%s/image/%u", dir, num);
    if (err == 0)
        err = write_file(path, &b);
    /* Sizes in the middle of what there is; three firings of each clause, with all kinds of
     * arguments. */
    static const char sizes[] = {8, 0, 4, 0, 10, 0, 8, 0, 3, 0, 0, 0, 0};
    const size_t len = b.len;
    buf_add(&b, sizes, sizeof sizes);
    for (uint32_t i = 0; i < 3 * img->nclauses && i < 40; i++) {
        buf_u8(&b, (uint8_t)(i % img->nclauses));
        buf_add(&b, "\x05\xa0\x0bhello world\x70\1\2\3\4\0\0\0\0\xf0\x03xyz", 28);
    }
    snprintf(path, sizeof path, "%s/engine/%u", dir, num);
    if (err == 0)
        err = write_file(path, &b);
    if (!dif_lacks(img, WORD_VM, &need)) {
        b.len = len;
        write_events(&b, img->nclauses);
        snprintf(path, sizeof path, "%s/agent/%u", dir, num);
        if (err == 0)
            err = write_file(path, &b);
    }
    for (uint32_t i = 0; err == 0 && i < img->nactions; i++)
        if (img->actions[i].format != DIF_NO_STRING)
            err = write_format(dir, num, img, &img->actions[i], i);
    buf_free(&b);
    return err;
}

static int make(const char *dir, unsigned num, const char *file)
{
    static char prog[] = "prog", number[] = "12", name[] = "name";
    static char *const args[] = {prog, number, name};
    struct buf text = BUF_INIT;
    struct diags d;
    struct dif_image img;
    struct compile_options opt = {COMPILE_SIZES, .argref = true,   .defaultargs = true,
                                  .amin = -1,    .setopt = setopt, .setopt_arg = &opt};
    diags_init(&d);
    dif_image_init(&img);
    int err = read_file(file, &text);
    struct compile *c = compile_new(&opt, &d);
    struct compile_source src = {.name = file, .text = buf_str(&text), .argc = 3, .argv = args};
    src.len = text.len;
    if (err == 0 && compile_add(c, &src) == 0 && compile_image(c, &img) == 0 && img.nclauses > 0)
        err = write_image(dir, num, &img);
    dif_image_free(&img);
    compile_free(c);
    diags_free(&d);
    buf_free(&text);
    return err;
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (make(argv[1], (unsigned)i, argv[i]) != 0)
            return 1;
    return argc > 2 ? 0 : 2;
}
