/* parse_provider.c - parses, checks and keeps provider definitions (see provider.h).
 *
 * A definition is kept only if all of it is correct. The same definition may appear twice, because
 * programs used together may each include what they need; one that differs is an error. */
#include "lang/check.h"
#include "lang/declare.h"
#include "lang/provider.h"
#include "probe/probe.h"

#include <string.h>

const char *lang_c_type(const struct type *t)
{
    return type_is_string(t) ? "char *" : t->name;
}

const char *const lang_parts[PART_COUNT] = {"provider", "module", "function", "name", "args"};

struct attr lang_provider_attr(const struct lang *l, const char *provider, enum lang_part part)
{
    const struct lang_pragma *p = l->provider_attrs;
    while (p && (strcmp(p->name, provider) != 0 || strcmp(p->what, lang_parts[part]) != 0))
        p = p->next;
    return p ? p->attr : attr_provider(provider);
}

const struct lang_provider *lang_providers(const struct lang *l)
{
    return l->providers;
}

/* Returns "order__start" as scripts write it. */
static const char *dashed(struct lang *l, const char *ident)
{
    char *s = lang_strndup(l, ident, strlen(ident)), *to = s;
    for (const char *from = s; *from != '\0'; from++, to++) {
        *to = *from;
        if (from[0] == '_' && from[1] == '_') {
            *to = '-';
            from++;
        }
    }
    *to = '\0';
    return s;
}

/* Consumes the name of a provider or probe, the current token. */
static const char *take_name(struct lex *lx, bool provider)
{
    const char *what = provider ? "provider" : "probe";
    const char *name = lx->tok.str, *hint = NULL, *why = NULL;
    if (lx->tok.kind != TOK_IDENT && lx->tok.kind != TOK_TYPE)
        lex_syntax(lx, NULL);
    size_t n = strlen(name);
    if (n > PROBE_NAME_MAX)
        why = lang_printf(lx->l, "may not exceed %d characters", PROBE_NAME_MAX);
    else if (strchr(name, '`'))
        why = "may not contain scoping operator: `";
    else if (provider && name[n - 1] >= '0' && name[n - 1] <= '9')
        why = "may not end with a digit", hint = "digits after it are those of a process id";
    if (why)
        lang_fail(lx->l, &lx->tok.pos, "D_PROV_BADNAME", hint, "%s name %s: %s", what, why, name);
    lex_next(lx);
    return name;
}

/* -- one probe --------------------------------------------------------------------------------- */

static uint32_t count_params(struct lex *lx, const struct declared_param *p, const char *name)
{
    uint32_t n = 0;
    for (; p; p = p->next, n++) {
        if (!p->type)
            lang_fail(lx->l, &p->pos, "D_DECL_PROTO_VARARGS", NULL,
                      "probe %s may not use a variable-length argument list", name);
        if (lang_incomplete(lx->l, p->type))
            lang_fail(lx->l, &p->pos, "D_DECL_INCOMPLETE", "a pointer to it can be passed",
                      "probe %s: an argument cannot be of the incomplete type %s", name,
                      p->type->name);
    }
    return n;
}

static uint32_t native_of(struct lex *lx, const struct lang_probe *probe,
                          const struct declared_param *p)
{
    if (!p->name)
        lang_fail(lx->l, &p->pos, "D_DECL_PROTO_NAME",
                  "the name says which parameter of the first list it is",
                  "probe %s: an output parameter requires a name", probe->name);
    for (uint32_t i = 0; i < probe->nnative; i++) {
        if (probe->native[i].name && strcmp(probe->native[i].name, p->name) == 0)
            return i;
    }
    lang_fail(lx->l, &p->pos, "D_DECL_PROTO_FORM", NULL,
              "probe %s: output parameter %s is not in the input list", probe->name, p->name);
}

static _Noreturn void no_translator(struct lang *l, const struct lang_probe *probe, uint32_t from,
                                    const struct declared_param *out)
{
    const struct type *t = out->type->kind == TYPE_PTR ? out->type->of : out->type;
    const char *in = probe->native[from].type->name, *hint = NULL;
    if (type_is_sou(t))
        hint = lang_printf(l, "define it before: translator %s < %s %s > { ... };", t->name, in,
                           out->name);
    lang_fail(l, &out->pos, "D_PROV_PRXLATOR", hint,
              "probe %s: no translator for %s from \"%s\" to \"%s\"", probe->name, out->name, in,
              out->type->name);
}

static struct lang_probe *probe_definition(struct lex *lx)
{
    struct lang *l = lx->l;
    struct lang_probe *probe = lang_alloc(l, sizeof *probe);
    if (lx->tok.kind != TOK_KW_PROBE)
        lex_syntax(lx, "probe NAME(TYPE, ...);");
    lex_next(lx);
    probe->pos = lx->tok.pos;
    probe->ident = take_name(lx, false);
    probe->name = dashed(l, probe->ident);
    if (lx->tok.kind != TOK_LPAR)
        lex_syntax(lx, "probe NAME(TYPE, ...);");
    const struct declared_param *in = parse_params(lx), *out = NULL;
    bool translated = lx->tok.kind == TOK_COLON;
    if (translated) {
        lex_next(lx);
        if (lx->tok.kind != TOK_LPAR)
            lex_syntax(lx, "probe NAME(TYPE x, ...) : (TYPE x, ...);");
        out = parse_params(lx);
    }
    if (lx->tok.kind != TOK_SEMI)
        lex_syntax(lx, NULL);
    lex_next(lx);
    probe->nnative = count_params(lx, in, probe->name);
    probe->nargs = translated ? count_params(lx, out, probe->name) : probe->nnative;
    if (probe->nnative > LANG_PROBE_ARGS_MAX || probe->nargs > LANG_PROBE_ARGS_MAX)
        lang_fail(l, &probe->pos, "D_PROV_PRARGLEN", NULL,
                  "probe %s may not have more than %d parameters", probe->name,
                  LANG_PROBE_ARGS_MAX);
    probe->native = lang_alloc(l, (probe->nnative + 1) * sizeof *probe->native);
    probe->arg = lang_alloc(l, (probe->nargs + 1) * sizeof *probe->arg);
    for (uint32_t i = 0; i < probe->nnative; i++, in = in->next) {
        probe->native[i] = (struct lang_native){in->name, in->type};
        if (!translated)
            probe->arg[i] = (struct lang_probe_arg){i, in->type};
    }
    for (uint32_t i = 0; translated && i < probe->nargs; i++, out = out->next) {
        uint32_t from = native_of(lx, probe, out);
        probe->arg[i] = (struct lang_probe_arg){from, out->type};
        if (!check_translates(l, probe->native[from].type, out->type))
            no_translator(l, probe, from, out);
    }
    return probe;
}

/* -- one provider ------------------------------------------------------------------------------ */

static const struct lang_probe *find_probe(const struct lang_provider *v, const char *name)
{
    const struct lang_probe *p = v->probes;
    while (p && strcmp(p->name, name) != 0)
        p = p->next;
    return p;
}

static bool same_probe(const struct lang_probe *a, const struct lang_probe *b)
{
    if (a->nnative != b->nnative || a->nargs != b->nargs)
        return false;
    for (uint32_t i = 0; i < a->nnative; i++) {
        if (!type_same(a->native[i].type, b->native[i].type))
            return false;
    }
    for (uint32_t i = 0; i < a->nargs; i++) {
        if (a->arg[i].native != b->arg[i].native || !type_same(a->arg[i].type, b->arg[i].type))
            return false;
    }
    return true;
}

/* Returns a probe of a that b lacks or defines differently; NULL if there is none. */
static const struct lang_probe *difference(const struct lang_provider *a,
                                           const struct lang_provider *b)
{
    for (const struct lang_probe *p = a->probes; p; p = p->next) {
        const struct lang_probe *q = find_probe(b, p->name);
        if (!q || !same_probe(p, q))
            return p;
    }
    return NULL;
}

static void keep(struct lang *l, const struct diag_pos *pos, struct lang_provider *v)
{
    struct lang_provider **tail = &l->providers;
    for (; *tail; tail = &(*tail)->next) {
        if (strcmp((*tail)->name, v->name) != 0)
            continue;
        const struct lang_probe *p = difference(v, *tail), *q = difference(*tail, v);
        (*tail)->library = (*tail)->library && l->library;
        if (p || q)
            lang_err(l, p ? &p->pos : pos, "D_PROV_INCOMPAT", NULL,
                     "provider %s differs from its earlier definition in probe %s", v->name,
                     p ? p->name : q->name);
        return;
    }
    v->library = l->library;
    *tail = v;
}

void parse_provider(struct lex *lx)
{
    struct lang *l = lx->l;
    struct lang_provider *v = lang_alloc(l, sizeof *v);
    struct lang_probe **tail = &v->probes;
    lex_next(lx);
    struct diag_pos pos = lx->tok.pos;
    v->name = take_name(lx, true);
    parse_expect(lx, TOK_LBRACE);
    while (lx->tok.kind != TOK_RBRACE) {
        struct lang_probe *p = probe_definition(lx);
        p->provider = v->name;
        if (find_probe(v, p->name))
            lang_fail(l, &p->pos, "D_PROV_PRDUP", NULL, "probe %s:::%s is declared twice", v->name,
                      p->name);
        *tail = p;
        tail = &p->next;
    }
    lex_next(lx);
    if (lx->tok.kind != TOK_SEMI)
        lex_syntax(lx, "a definition ends with };");
    if (strcmp(v->name, "dtrace") == 0 || strcmp(v->name, "profile") == 0)
        lang_fail(l, &pos, "D_PROV_INCOMPAT", "choose another name",
                  "provider %s differs from D's own provider of that name", v->name);
    keep(l, &pos, v);
}
