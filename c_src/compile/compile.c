/* compile.c - the door: programs in, an image out. The program is lang's, the image is made in one
 * go at the end, so that what a later program adds to a shared table costs nothing. */
#include "compile/gen.h"

#include <string.h>

struct compile {
    struct compile_options *opt; /* the caller's */
    struct lang_options lopt;    /* the same for lang/; refreshed after each setopt */
    struct diags *diags;
    struct lang *lang;
    bool failed; /* some program did not compile */
};

static void refresh(struct compile *c)
{
    c->lopt.strsize = c->opt->strsize;
    c->lopt.argref = c->opt->argref;
    c->lopt.defaultargs = c->opt->defaultargs;
    c->lopt.pspec = c->opt->pspec;
    c->lopt.empty = c->opt->empty;
    c->lopt.amin = c->opt->amin;
    c->lopt.target = c->opt->target;
}

static int setopt(void *arg, const char *name, const char *value, const char **why)
{
    struct compile *c = arg;
    if (!c->opt->setopt)
        return -1;
    int r = c->opt->setopt(c->opt->setopt_arg, name, value, why);
    refresh(c);
    return r;
}

struct compile *compile_new(struct compile_options *opt, struct diags *d)
{
    struct compile *c = et_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->opt = opt;
    c->diags = d;
    c->lopt.setopt = setopt;
    c->lopt.setopt_arg = c;
    refresh(c);
    c->lang = lang_new(&c->lopt, d);
    if (!c->lang) {
        et_free(c);
        return NULL;
    }
    return c;
}

void compile_free(struct compile *c)
{
    if (!c)
        return;
    lang_free(c->lang);
    et_free(c);
}

int compile_add(struct compile *c, const struct compile_source *src)
{
    static const enum lang_kind kinds[] = {
        [COMPILE_SCRIPT] = LANG_SCRIPT,     [COMPILE_NAME] = LANG_NAME,
        [COMPILE_FUNCTION] = LANG_FUNCTION, [COMPILE_MODULE] = LANG_MODULE,
        [COMPILE_PROVIDER] = LANG_PROVIDER, [COMPILE_ID] = LANG_ID,
    };
    const struct lang_source s = {.kind = kinds[src->kind],
                                  .name = src->name,
                                  .text = src->text,
                                  .len = src->len,
                                  .shown = src->shown ? src->shown : src->text,
                                  .shown_len = src->shown ? src->shown_len : src->len,
                                  .argc = src->argc,
                                  .argv = src->argv};
    refresh(c);
    int err = lang_add(c->lang, &s);
    if (err != 0)
        c->failed = true;
    return err;
}

static struct compile_attr in_words(struct attr a)
{
    return (struct compile_attr){attr_stability(a.name), attr_stability(a.data),
                                 attr_class(a.class)};
}

void compile_stability(const struct compile *c, struct compile_attr *probes,
                       struct compile_attr *statements)
{
    struct attr p, s;
    lang_stability(c->lang, &p, &s);
    *probes = in_words(p);
    *statements = in_words(s);
}

int64_t compile_amin(const char *text)
{
    struct attr a;
    return attr_parse(text, &a) ? attr_pack(a) : -1;
}

struct compile_attr compile_provider(const char *name)
{
    return in_words(attr_provider(name));
}

/* Fills g with everything but what gen_finish does. The trap's value is what went wrong. */
static int generate(struct gen *g, const struct lang *l)
{
    int caught = setjmp(g->trap);
    if (caught != 0)
        return -caught;
    gen_str(g, "");
    gen_vars(g, l);
    gen_aggs(g, l);
    for (const struct lang_clause *c = lang_clauses(l); c; c = c->next) {
        for (const struct lang_desc *d = c->descs; d; d = d->next)
            gen_clause(g, c, d);
    }
    return 0;
}

int compile_image(struct compile *c, struct dif_image *img)
{
    struct gen g;
    if (c->failed)
        return ET_ECOMPILE;
    gen_init(&g, c->diags, c->opt->strsize);
    int err = generate(&g, c->lang);
    if (err == 0)
        err = gen_finish(&g, img);
    gen_free(&g);
    return err;
}
