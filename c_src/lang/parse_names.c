/* parse_names.c - functions as Erlang and Elixir write them, in place of a description's parts.
 *
 *   lists:map/2             :lists:map/2:entry      alone, a function means its entry
 *   lists:map               :lists:map:entry        unless map could be the name of a probe
 *   MyApp.Foo.bar/1         :MyApp.Foo:bar/1:entry  the module ends at the last dot outside
 * operators :lists.map/2:return     :lists:map/2:return     Elixir's way to write an Erlang
 * function
 *
 * Only descriptions for which no target could have a probe are read this way: no probe's name has
 * an arity, and all names of function probes are known here. */
#include "lang/lex.h"

#include <string.h>

#include "base/glob.h"
#include "util/elixir.h"
#include "probe/probe.h"
#include "util/render.h"

enum { PROV, MOD, FUNC, NAME };

static bool is_literal(const struct desc_part *p)
{
    return p->quoted || p->text[0] == '\0';
}

/* Returns whether s ends in an arity: "map/2", "*" "/2". */
static bool has_arity(const char *s)
{
    const char *slash = strrchr(s, '/');
    return slash && slash > s && slash[1] != '\0' &&
           strspn(slash + 1, "0123456789") == strlen(slash + 1);
}

/* Returns whether s is an atom that needs no quotes, or a name of Elixir. */
static bool is_word(const char *s)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    if (s[0] == '\0' || !strchr(first, s[0]))
        return false;
    while (*s != '\0' && (strchr(first, *s) || strchr("0123456789@.!?", *s)))
        s++;
    return *s == '\0';
}

/* Returns whether some target could have a probe with this name, or with a name it was mistaken
 * for. */
static bool may_be_probe(const struct lang *l, const char *name)
{
    static const char *const others[] = {"BEGIN", "END", "ERROR"};
    const struct probe_def *def = NULL;
    size_t n = 0;
    while (probe_fn_names[n])
        n++;
    if (probe_fn_match(name) != 0 || diag_nearest(name, probe_fn_names, n) ||
        diag_nearest(name, others, sizeof others / sizeof *others) || probe_is_interval(name) ||
        probe_erlang_lacking(name))
        return true;
    while ((def = probe_erlang_next(def)) != NULL)
        if (!def->mod && diag_nearest(name, &def->name, 1))
            return true;
    for (const struct lang_provider *v = l->providers; v; v = v->next)
        for (const struct lang_probe *p = v->probes; p; p = p->next)
            if (glob_match(name, p->name))
                return true;
    return false;
}

static bool is_provider(const struct desc_part *p)
{
    return !is_literal(p) && (probe_glob_provider(p->text, "erlang1") ||
                              (strncmp(p->text, "erlang", 6) == 0 && p->text[6] != '\0' &&
                               strspn(p->text + 6, "0123456789") == strlen(p->text + 6)));
}

/* Returns whether the last part, where a probe's name belongs, is a function. */
static bool ends_in_function(const struct lang *l, const struct desc_part *p)
{
    const struct desc_part *mod = &p[FUNC], *name = &p[NAME];
    size_t n;
    if (p[PROV].text[0] != '\0')
        return false;
    if (!name->closed && has_arity(name->text))
        return true;
    if (is_literal(name))
        return false;
    if (mod->text[0] == '\0')
        return p[MOD].text[0] == '\0' && (n = elixir_module_len(name->text)) > 0 &&
               (is_word(name->text) || strcmp(name->text + n, ".*") == 0);
    if (p[MOD].text[0] != '\0'
            ? !is_provider(&p[MOD])
            : probe_kernel_provider(mod->text) || strcmp(mod->text, "dtrace") == 0 ||
                  strcmp(mod->text, "profile") == 0)
        return false;
    return !mod->quoted && is_word(mod->text) && is_word(name->text) &&
           !may_be_probe(l, name->text);
}

/* Returns the bytes of the module in a part that holds module and function, with a dot between
 * them; 0 if it does not. */
static size_t module_len(const struct desc_part *p, bool colon)
{
    size_t n = is_literal(p) ? 0 : elixir_module_len(p->text);
    if (n > 0 || !colon || is_literal(p) || !(p->text[0] >= 'a' && p->text[0] <= 'z'))
        return n;
    n = strcspn(p->text, ".");
    return n > 0 && p->text[n] == '.' && p->text[n + 1] != '\0' ? n : 0;
}

/* Moves the module of p[at] to p[MOD] and the rest to p[FUNC]. */
static void split(struct lang *l, struct desc_part *p, size_t at, size_t n)
{
    const char *text = p[at].text;
    p[MOD] = (struct desc_part){.text = lang_strndup(l, text, n)};
    p[FUNC] = (struct desc_part){.text = text + n + 1};
}

/* In Elixir, a '?' at the end of a function's name is part of it, not a wildcard. */
static void keep_question(struct lang *l, struct desc_part *p)
{
    const char *s = p[FUNC].text;
    size_t n = has_arity(s) ? (size_t)(strrchr(s, '/') - s) : strlen(s);
    bool elixir = elixir_alias(p[MOD].text) || elixir_is_alias(p[MOD].text, strlen(p[MOD].text));
    if (elixir && !is_literal(&p[FUNC]) && n > 1 && s[n - 1] == '?' &&
        strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == n - 1)
        p[FUNC].text = lang_printf(l, "%.*s\\%s", (int)n - 1, s, s + n - 1);
}

void parse_names(struct lang *l, struct desc_part p[4], bool named, bool colon)
{
    size_t n;
    if (named && ends_in_function(l, p)) {
        memmove(p, p + 1, 3 * sizeof *p);
        p[NAME] = (struct desc_part){.text = "entry"};
    }
    bool spare = p[MOD].text[0] == '\0' || (p[PROV].text[0] == '\0' && is_provider(&p[MOD]));
    if (spare && (n = module_len(&p[FUNC], colon)) > 0) {
        if (p[MOD].text[0] != '\0')
            p[PROV] = p[MOD];
        split(l, p, FUNC, n);
    } else if (p[FUNC].text[0] == '\0' && (n = module_len(&p[MOD], false)) > 0 &&
               p[MOD].text[n + 1] != '*') { /* "MyApp.*" means modules */
        split(l, p, MOD, n);
    }
    keep_question(l, p);
}
