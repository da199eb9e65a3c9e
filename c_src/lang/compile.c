/* compile.c - compiles programs to one image. lang holds the checked programs; the image is
 * generated once at the end, so entries that a later program adds to a shared table cost
 * nothing. */
#include "lang/gen.h"

#include <string.h>

#include "lang/prog.h"
#include "lang/provider.h"
#include "util/buftext.h"

enum { STACKFRAMES = 20, USTACKFRAMES = 100, JSTACKFRAMES = 50, MAXFRAMES = 127 };

struct compile {
    struct compile_options *opt; /* the caller's */
    struct lang_options lopt;    /* the same for the checker; refreshed after each setopt */
    struct diags *diags;
    struct lang *lang;
    bool failed;        /* at least one program did not compile */
    struct buf passing; /* struct passed, of compile_image_mixed */
};

static void refresh(struct compile *c)
{
    c->lopt.strsize = c->opt->strsize;
    c->lopt.scratchsize = c->opt->scratchsize;
    c->lopt.keys = c->opt->tregs < WORD_KEYS_MAX ? c->opt->tregs + 1 : WORD_KEYS_MAX;
    c->lopt.argref = c->opt->argref;
    c->lopt.defaultargs = c->opt->defaultargs;
    c->lopt.pspec = c->opt->pspec;
    c->lopt.empty = c->opt->empty;
    c->lopt.amin = c->opt->amin;
    c->lopt.target = c->opt->target;
    c->lopt.version = c->opt->version;
    c->lopt.stackframes = c->opt->stackframes ? c->opt->stackframes : STACKFRAMES;
    c->lopt.ustackframes = c->opt->ustackframes ? c->opt->ustackframes : USTACKFRAMES;
    c->lopt.jstackframes = c->opt->jstackframes ? c->opt->jstackframes : JSTACKFRAMES;
    c->lopt.maxframes = c->opt->maxframes ? c->opt->maxframes : MAXFRAMES;
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

static const struct foreign *foreign(void *arg, const char **why)
{
    const struct compile *c = arg;
    return c->opt->foreign ? c->opt->foreign(c->opt->setopt_arg, why) : NULL;
}

static const char *opthint(void *arg, const char *name)
{
    const struct compile *c = arg;
    return c->opt->opthint ? c->opt->opthint(c->opt->setopt_arg, name) : NULL;
}

struct compile *compile_new(struct compile_options *opt, struct diags *d)
{
    struct compile *c = et_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->opt = opt;
    c->diags = d;
    c->lopt.setopt = setopt;
    c->lopt.opthint = opthint;
    c->lopt.foreign = foreign;
    c->lopt.kernel = c->opt->kernel;
    c->lopt.nodes = c->opt->nodes;
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
    buf_free(&c->passing);
    et_free(c);
}

/* Reports a lack of memory, which nothing has reported yet. */
static int complain(struct compile *c, int err)
{
    if (err == ET_ENOMEM)
        diag_error(c->diags, err, NULL, "", NULL, "%s", et_strerror(err));
    return err;
}

void compile_tree(const struct compile *c, struct buf *out)
{
    if (!c->failed)
        lang_tree(c->lang, out);
}

int compile_add(struct compile *c, const struct compile_source *src)
{
    struct compile_source s = *src;
    if (s.shown == NULL) {
        s.shown = s.text;
        s.shown_len = s.len;
    }
    refresh(c);
    int err = lang_add(c->lang, &s);
    if (err != 0)
        c->failed = true;
    return complain(c, err);
}

int compile_constants(struct compile *c)
{
    return lang_constants(c->lang);
}

const char *compile_version(const char *text, uint32_t *version)
{
    if (!lang_version_parse(text, version))
        return "Version is not properly formatted or is too large";
    return lang_version_exists(*version) ? NULL : "Requested version is not supported by compiler";
}

bool compile_depends(const char *text, size_t len, size_t *at, int *line,
                     struct compile_depend *out)
{
    struct lang_depend d;
    if (!lang_depends(text, len, at, line, &d))
        return false;
    *out = (struct compile_depend){.name = d.name, .name_len = d.name_len, .line = d.line};
    if (d.kind_len == strlen("library") && memcmp(d.kind, "library", d.kind_len) == 0)
        out->needs = COMPILE_NEEDS_LIBRARY;
    else
        out->needs = lang_has(d.kind, d.kind_len, d.name, d.name_len) ? COMPILE_NEEDS_MET
                                                                      : COMPILE_NEEDS_UNMET;
    return true;
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

static signed char width_of(const struct type *t)
{
    if (t->kind == TYPE_INT)
        return (signed char)(t->is_signed ? -(int)t->size : (int)t->size);
    return type_is_string(t) || t->kind == TYPE_PTR ? sizeof(void *) : 0;
}

int compile_probes(const struct compile *c, int (*fn)(void *arg, const struct compile_probe *p),
                   void *arg)
{
    const char *types[LANG_PROBE_ARGS_MAX];
    signed char widths[LANG_PROBE_ARGS_MAX];
    for (const struct lang_provider *v = lang_providers(c->lang); v; v = v->next) {
        if (v->library)
            continue;
        struct compile_probe p = {.provider = v->name, .arg = types, .width = widths};
        struct compile_attr *const attr[] = {&p.provider_attr, &p.module_attr, &p.function_attr,
                                             &p.name_attr, &p.args_attr};
        for (size_t i = 0; i < sizeof attr / sizeof attr[0]; i++)
            *attr[i] = in_words(lang_provider_attr(c->lang, v->name, (enum lang_part)i));
        const struct lang_probe *b = v->probes;
        do {
            p.nargs = 0;
            for (; b && p.nargs < b->nnative; p.nargs++) {
                types[p.nargs] = lang_c_type(b->native[p.nargs].type);
                widths[p.nargs] = width_of(b->native[p.nargs].type);
            }
            p.name = b ? b->name : NULL;
            p.ident = b ? b->ident : NULL;
            int rc = fn(arg, &p);
            if (rc != 0)
                return rc;
            b = b ? b->next : NULL;
        } while (b);
    }
    return 0;
}

/* Fills g with everything except what gen_finish does. The value that reaches the trap is the
 * error. */
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

/* -- records ----------------------------------------------------------------------------------- */

struct asking {
    compile_ask_fn *fn;
    void *arg;
};

/* Passes the question on, with the modules of the clause. */
static bool ask(void *arg, const struct lang_field *f, struct lang_told *told)
{
    enum { MODULES = 100 };
    const struct asking *a = arg;
    const char *module[MODULES];
    struct compile_record answer = {.name = f->record};
    struct compile_field out = {
        .pos = f->pos, .record = f->record, .field = f->name, .module = module};
    for (const struct lang_desc *d = f->descs; d && out.nmodules < MODULES; d = d->next)
        module[out.nmodules++] = d->mod;
    if (!a->fn(a->arg, &out, &answer))
        return false;
    *told = (struct lang_told){answer.field, (uint32_t)answer.nfields};
    return true;
}

bool compile_asks(const struct compile *c)
{
    return !c->failed && lang_asks(c->lang);
}

int compile_fields(struct compile *c, compile_ask_fn *fn, void *arg)
{
    struct asking a = {fn, arg};
    int err = lang_settle(c->lang, fn ? ask : NULL, &a);
    c->failed |= err != 0;
    return complain(c, err);
}

bool compile_record(const struct compile *c, uint32_t i, struct compile_record *out)
{
    const struct lang_record *r = lang_record(c->lang, i + 1);
    if (r)
        *out = (struct compile_record){r->name, r->field, r->nfields, r->in_d};
    return r != NULL;
}

const char *compile_key_means(const struct compile *c, uint32_t agg, unsigned key)
{
    uint32_t n;
    const struct lang_agg *a = lang_aggs(c->lang, &n);
    while (a && a->id != agg)
        a = a->next;
    return a && key < a->nkeys ? lang_means_text[a->means[key]] : NULL;
}

static int make_image(struct compile *c, const struct gen *how, struct dif_image *img)
{
    struct gen g;
    if (c->failed)
        return ET_ECOMPILE;
    int unknown = compile_fields(c, NULL, NULL); /* what is settled already stays */
    if (unknown != 0)
        return unknown;
    gen_init(&g, c->diags, c->opt);
    if (how) {
        g.passing = how->passing;
        g.is_of_node = how->is_of_node;
        g.is_of_node_arg = how->is_of_node_arg;
    }
    int err = generate(&g, c->lang);
    if (err == 0)
        err = gen_finish(&g, img);
    gen_free(&g);
    return complain(c, err);
}

void compile_descriptions(const struct compile *c,
                          void (*fn)(void *arg, const struct probe_spec *spec), void *arg)
{
    for (const struct lang_clause *k = c->failed ? NULL : lang_clauses(c->lang); k; k = k->next)
        for (const struct lang_desc *d = k->descs; d; d = d->next) {
            const struct probe_spec spec = {d->prov, d->mod, d->func, d->name, d->id};
            fn(arg, &spec);
        }
}

int compile_image(struct compile *c, struct dif_image *img)
{
    return make_image(c, NULL, img);
}

int compile_image_mixed(struct compile *c,
                        bool (*of_node)(void *arg, const struct probe_spec *spec), void *arg,
                        struct dif_image *img)
{
    const struct gen how = {.passing = &c->passing, .is_of_node = of_node, .is_of_node_arg = arg};
    buf_reset(&c->passing);
    int err = make_image(c, &how, img);
    return err == 0 && c->passing.oom ? complain(c, ET_ENOMEM) : err;
}

/* As `generate`, for the nodes. `clause` has room for all clauses of the image. */
static int generate_passing(struct gen *g, const struct compile *c,
                            const struct lang_clause **clause, const struct compile_set *set,
                            uint32_t n)
{
    uint32_t number = 0;
    int caught = setjmp(g->trap);
    if (caught != 0)
        return -caught;
    gen_str(g, "");
    for (const struct lang_clause *k = lang_clauses(c->lang); k; k = k->next)
        for (const struct lang_desc *d = k->descs; d; d = d->next)
            clause[number++] = k;
    for (uint32_t i = 0; i < n; i++)
        gen_passing_clause(g, &set[i], clause, &c->passing);
    return 0;
}

int compile_passing(struct compile *c, const struct compile_set *set, uint32_t n,
                    struct dif_image *img)
{
    struct gen g;
    size_t clauses = 1;
    for (const struct lang_clause *k = lang_clauses(c->lang); k; k = k->next)
        for (const struct lang_desc *d = k->descs; d; d = d->next)
            clauses++;
    gen_init(&g, c->diags, c->opt);
    const struct lang_clause **clause = arena_array(&g.arena, clauses, sizeof *clause);
    int err = clause ? generate_passing(&g, c, clause, set, n) : ET_ENOMEM;
    if (err == 0)
        err = gen_finish(&g, img);
    gen_free(&g);
    return complain(c, err);
}
