/* text.c - fuzz target: D text to an image. Lexer, parser, checker, compiler; no preprocessor, no
 * file, no command.
 *
 * The input is a D text; bytes behind a NUL are a second one, whose first byte says what kind of
 * program it is. Half of the inputs, by their length, have the library's constants. What the
 * compiler accepts the verifier must accept, the disassembler print, and the decoder give back as
 * it was; what it refuses has a diagnostic. */
#include "fuzz.h"

#include "base/err.h"
#include "lang/compile.h"
#include "lang/encode.h"
#include "result/options.h"
#include "result/pf.h"

static int setopt(void *arg, const char *name, const char *value, const char **why)
{
    return options_set(arg, name, value, OPTION_BY_PROGRAM, why);
}

/* What the consumer does with formats before it starts. */
static void formats(const struct dif_image *img, const struct diags *d)
{
    struct arena a;
    struct pf pf;
    arena_init(&a);
    for (uint32_t i = 0; i < img->nactions; i++) {
        bool has = img->actions[i].kind == ACT_PRINTF || img->actions[i].kind == ACT_PRINTA;
        if (has && img->actions[i].format != DIF_NO_STRING)
            must(pf_parse(&a, dif_str(img, img->actions[i].format), &pf) == 0,
                 "a format that was accepted can be parsed", d);
    }
    arena_free(&a);
}

static void image(const struct dif_image *img, struct diags *d)
{
    struct dif_image back;
    struct buf bytes = BUF_INIT, again = BUF_INIT, text = BUF_INIT;
    must(dif_verify(img, d) == 0, "the verifier accepts what was compiled", d);
    must(dif_encode(img, &bytes) == 0, "it can be encoded", d);
    dif_image_init(&back);
    must(dif_decode(&back, bytes.data, bytes.len, d) == 0, "it can be decoded", d);
    must(dif_encode(&back, &again) == 0 && again.len == bytes.len &&
             memcmp(again.data, bytes.data, bytes.len) == 0,
         "it is the same after decoding", d);
    dif_disasm(img, &text);
    formats(img, d);
    dif_image_free(&back);
    buf_free(&bytes);
    buf_free(&again);
    buf_free(&text);
}

static int add(struct compile *c, struct compile_source *src, const uint8_t *text, size_t len)
{
    static char prog[] = "prog", number[] = "12", name[] = "name", words[] = "a text";
    static char *const args[] = {prog, number, name, words};
    src->text = (const char *)text;
    src->len = len;
    src->argc = 4;
    src->argv = args;
    return compile_add(c, src);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct options o;
    struct diags d;
    struct dif_image img;
    struct compile_options opt = {COMPILE_SIZES, .argref = true, .amin = -1, .target = 4711,
                                  .setopt = setopt};
    const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
    size_t first = end != NULL ? (size_t)(end - data) : size;

    options_init(&o);
    opt.setopt_arg = &o;
    diags_init(&d);
    dif_image_init(&img);
    struct compile *c = compile_new(&opt, &d);
    must(c != NULL, "there is memory", &d);
    struct compile_source src = {.kind = COMPILE_SCRIPT, .name = "f.d"};
    int err = size % 2 == 1 ? compile_constants(c) : 0;
    if (err == 0)
        err = add(c, &src, data, first);
    if (err == 0 && end != NULL && first + 2 <= size) {
        src.kind = (enum compile_kind)(end[1] % (COMPILE_LIBRARY + 1));
        src.name = "-n";
        err = add(c, &src, end + 2, size - first - 2);
    }
    if (err == 0)
        err = compile_image(c, &img);
    must(err == 0 || err == ET_ECOMPILE || err == ET_ENOMEM, "an error is one of those promised",
         &d);
    must(err != ET_ECOMPILE || d.errors > 0, "an error has a diagnostic", &d);
    show(&d);
    if (err == 0)
        image(&img, &d);
    dif_image_free(&img);
    compile_free(c);
    diags_free(&d);
    return 0;
}
