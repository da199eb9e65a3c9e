/* sweep.c - memory that runs out anywhere: sweep LIMIT FILE...
 *
 * Each D script is compiled once as it is, and then again and again with its n-th allocation
 * failing, and with its n-th and all later ones failing, for every n; where a script needs more
 * than LIMIT allocations, for about LIMIT of them, spread out (LIMIT 0: all). Then the same for a
 * whole session in the local tier, from making it to closing it. What must hold:
 *
 *  - the result is the one there was with memory, to the last byte, or an error with a diagnostic;
 *  - nothing is left allocated.
 *
 * Prints a line for each file before it is looked at, so that a crash can be told, and the counts
 * at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "lang/compile.h"
#include "lang/encode.h"
#include "session/session.h"
#include "util/buftext.h"

enum { WORK_MOST = 10000 };

struct outcome {
    int err;
    struct buf image; /* binary form, if there is one */
    bool told;        /* there is a diagnostic */
};

static struct buf text; /* of the script */
static const char *file;
static const char *wrong; /* what was found in this file */

static char arg0[] = "prog", arg1[] = "12", arg2[] = "name", arg3[] = "a text";
static char *const args[] = {arg0, arg1, arg2, arg3};

static struct compile_source source(void)
{
    return (struct compile_source){
        .name = file, .text = buf_str(&text), .len = text.len, .argc = 4, .argv = args};
}

/* -- what is done with less and less memory ------------------------------------------ */

static int setopt(void *arg, const char *name, const char *value, const char **why)
{
    return options_set(arg, name, value, OPTION_BY_PROGRAM, why);
}

static void run_compiler(struct outcome *o)
{
    struct options options;
    struct diags d;
    struct dif_image img;
    struct compile_options opt = {
        .strsize = 256, .argref = true, .defaultargs = true, .amin = -1, .setopt = setopt};
    struct compile_source src = source();
    opt.setopt_arg = &options;
    options_init(&options);
    diags_init(&d);
    dif_image_init(&img);
    struct compile *c = compile_new(&opt, &d);
    o->err = c != NULL ? compile_add(c, &src) : ET_ENOMEM;
    if (o->err == 0)
        o->err = compile_image(c, &img);
    if (o->err == 0)
        o->err = dif_encode(&img, &o->image);
    o->told = c == NULL || o->err == 0 || d.count > 0 || o->image.oom;
    dif_image_free(&img);
    compile_free(c);
    diags_free(&d);
}

static void ignore(void *arg, const char *s, size_t n)
{
    (void)arg;
    (void)s;
    (void)n;
}

/* Compiles, enables, runs BEGIN and END, reports, ends. Scripts that would start commands are not
 * run. */
static int run_session_steps(struct session *s)
{
    struct compile_source src = source();
    struct tier *t;
    int err = session_add(s, &src, NULL);
    if (err == 0)
        err = session_compile(s);
    if (err != 0 || session_is_destructive(s) || !session_is_local(s))
        return err;
    err = tier_local_open(&t, &s->diags);
    if (err == 0)
        err = session_attach(s, t);
    if (err == 0)
        err = session_match(s);
    if (err == 0)
        err = session_start(s);
    if (err == 0)
        err = session_stop(s);
    int state = err;
    for (int i = 0; state >= 0 && state != ERLTRACE_STATE_DONE && i < WORK_MOST; i++)
        state = session_work(s, 0);
    if (state == ERLTRACE_STATE_DONE)
        session_finish(s);
    return state < 0 ? state : state == ERLTRACE_STATE_DONE ? 0 : ET_EIO;
}

static void run_session(struct outcome *o)
{
    struct session s;
    session_init(&s);
    s.libraries = getenv("OOM_LIBRARIES");
    s.out = (struct out){.data = ignore};
    s.opt.value[OPTION_bufsize] = s.opt.value[OPTION_aggsize] = 64 << 10;
    s.opt.value[OPTION_argref] = s.opt.value[OPTION_defaultargs] = 1;
    o->err = run_session_steps(&s);
    o->told = o->err == 0 || s.diags.count > 0;
    session_free(&s);
}

/* -- the sweep ----------------------------------------------------------------------- */

static void check(bool ok, const char *what)
{
    if (!ok && wrong == NULL)
        wrong = what;
}

static void one(void (*run)(struct outcome *), void (*fail)(unsigned long), unsigned long n,
                const struct outcome *expected)
{
    struct outcome o = {.image = BUF_INIT};
    unsigned long live = et_alloc_live();
    fail(n);
    run(&o);
    fail(0);
    check(o.err == expected->err || o.err == ET_ENOMEM || (expected->err != 0 && o.err != 0),
          "the error is another one");
    check(o.err != 0 || (o.image.len == expected->image.len &&
                         memcmp(buf_str(&o.image), buf_str(&expected->image), o.image.len) == 0),
          "the image is another one");
    check(o.told, "an error without a diagnostic");
    buf_free(&o.image);
    check(et_alloc_live() == live, "memory that is not freed");
    if (wrong != NULL)
        printf("    allocation %lu of it: %s\n", n, wrong);
}

static void sweep(void (*run)(struct outcome *), unsigned long limit, unsigned long from)
{
    struct outcome expected = {.image = BUF_INIT};
    unsigned long before = et_alloc_count();
    run(&expected);
    unsigned long count = et_alloc_count() - before;
    unsigned long step = limit > 0 && count > limit ? (count + limit - 1) / limit : 1;
    for (unsigned long n = 1 + from % step; n <= count && wrong == NULL; n += step) {
        one(run, et_alloc_fail_after, n, &expected);
        if (wrong == NULL)
            one(run, et_alloc_fail_at, n, &expected);
    }
    buf_free(&expected.image);
}

static bool read_file(void)
{
    char part[4096];
    size_t n;
    FILE *f = fopen(file, "rb");
    buf_reset(&text);
    while (f != NULL && (n = fread(part, 1, sizeof part, f)) > 0)
        buf_add(&text, part, n);
    return f != NULL && fclose(f) == 0 && !text.oom;
}

int main(int argc, char **argv)
{
    unsigned long limit = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    int failed = 0;
    for (int i = 2; i < argc; i++) {
        file = argv[i];
        wrong = NULL;
        printf("%s\n", file);
        fflush(stdout);
        if (!read_file()) {
            check(false, "it cannot be read");
        } else {
            sweep(run_compiler, limit, (unsigned long)i);
            if (wrong == NULL)
                sweep(run_session, limit / 2, (unsigned long)i);
        }
        failed += wrong != NULL;
    }
    buf_free(&text);
    printf("%d passed, %d failed\n", argc - 2 - failed, failed);
    return failed > 0;
}
