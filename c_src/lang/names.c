/* names.c - what names mean: the built-in variables and functions of the lists in words/, and the
 * program's own.
 *
 * Functions, global variables, built-ins and inlines share one namespace; thread-local variables,
 * clause-local variables and aggregations have one each (language.md 1.1). The table includes names
 * that exist only on other systems, so that they are rejected by name and never taken for new
 * variables: all names of the lists are part of the language, wherever they exist. */
#include "lang/prog.h"
#include "util/render.h"
#include "util/table.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    const char *type; /* a typedef name, "string", or a pointer to a structure */
    bool array;       /* takes an index in [ ], which must be a constant for some arrays */
    uint32_t since;
    uint8_t number;
} builtins[] = {
#define U64                                                      false
#define S64                                                      false
#define U32                                                      false
#define S32                                                      false
#define STR                                                      false
#define U64S                                                     true
#define WORD_BUILTIN(num, name, shape, type, tiers, since, text) {#name, type, shape, since, num},
#include "words/builtins.list"
#undef WORD_BUILTIN
};

/* Functions. A row that is not part of D has no `args`. */
static const struct lang_fn fns[] = {
#define AFRESH   true
#define FN_NOT_D .args = NULL
#define FN_D(letters, least, most, flag, type, since_, usage, text)                                \
    .args = letters, .min = least, .max = most, .afresh = flag, .result = T_##type, .since = since_
#define FN(text, kind_, num, d)                                {.name = text, .kind = kind_, .number = num, FN_##d},
#define WORD_SUBR(num, name, args, result, min, max, tiers, d) FN(#name, FN_SUBR, num, d)
#include "words/subrs.list"
#define WORD_ACTION(num, name, text, tiers, destr, pleast, pmost, rleast, rmost, d)                \
    FN(text, FN_ACTION, num, d)
#include "words/actions.list"
#define WORD_KIND(num, name, text, tiers, d) FN(text, FN_ACTION, ACT_STACK, d)
#include "words/kinds.list"
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d)                     \
    FN(text, FN_AGG, num, d)
#include "words/aggs.list"
};

/* Subroutines that D knows by name but that do not exist (language.md 6.3). */
static const char *const subrs_undefined[] = {
    "ddi_pathname",
    "msgdsize",
    "msgsize",
};

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

struct ident *names_find(const struct names *t, const char *name)
{
    struct ident *id = hash_gets(&t->table, name);
    return id && version_has(t->opt, id->version) ? id : NULL;
}

struct ident *names_add(struct lang *l, struct names *t, const char *name, enum ident_kind kind)
{
    struct ident *id = lang_alloc(l, sizeof *id);
    id->kind = kind;
    id->name = name;
    id->attr = attr_stable;
    id->library = l->library;
    struct lang_pragma *p = t == &l->globals ? hash_gets(&l->pragma_table, name) : NULL;
    for (; p && !p->used; p = p->same) {
        bool attributes = strcmp(p->what, "attributes") == 0;
        id->attr_given = id->attr_given || attributes;
        id->attr = attributes ? p->attr : id->attr;
        id->version = attributes ? id->version : p->version;
        p->used = true;
    }
    id->next = t->list;
    t->list = id;
    if (hash_puts(&t->table, name, id) != 0)
        lang_nomem(l);
    return id;
}

struct names *names_of_scope(struct lang *l, enum lang_scope scope)
{
    return scope == SCOPE_GLOBAL ? &l->globals : scope == SCOPE_THREAD ? &l->threads : &l->locals;
}

const char *scope_prefix(enum lang_scope scope)
{
    return scope == SCOPE_GLOBAL ? "" : scope == SCOPE_THREAD ? "self->" : "this->";
}

static void add_undefined(struct lang *l, const char *name)
{
    struct lang_fn *fn = lang_alloc(l, sizeof *fn);
    fn->name = name;
    fn->kind = FN_UNDEFINED;
    names_add(l, &l->globals, name, ID_FN)->fn = fn;
}

/* Returns "struct task_struct *". Only the kernel's own types could tell its members. */
static const struct type *task_struct(struct lang *l)
{
    struct type *t = lang_alloc(l, sizeof *t);
    t->kind = TYPE_STRUCT;
    t->name = "struct task_struct";
    t->sou = lang_alloc(l, sizeof *t->sou);
    t->sou->tag = t->name;
    if (hash_puts(&l->types, t->name, t) != 0)
        lang_nomem(l);
    return type_pointer(l, t);
}

static void builtin_names(struct lang *l)
{
    static const char *const args[] = {"arg0", "arg1", "arg2", "arg3", "arg4",
                                       "arg5", "arg6", "arg7", "arg8", "arg9"};
    for (size_t i = 0; i < NELEM(builtins); i++) {
        const char *type = builtins[i].type;
        struct ident *id =
            names_add(l, &l->globals, builtins[i].name, builtins[i].array ? ID_ARRAY : ID_BUILTIN);
        id->version = builtins[i].since;
        id->num = builtins[i].number;
        id->type = strchr(type, '*') ? task_struct(l) : type_typedef(type, strlen(type));
        if (!id->type)
            id->type = &type_c[T_STRING];
    }
    for (size_t i = 0; i < NELEM(args); i++) {
        struct ident *id = names_add(l, &l->globals, args[i], ID_ARG);
        id->type = type_typedef("int64_t", 7);
        id->num = i;
    }
    names_add(l, &l->globals, "args", ID_ARGS)->type = &type_c[T_DYN];
    names_add(l, &l->globals, "NULL", ID_INT)->type = &type_c[T_LONG];
    for (size_t i = 0; i < NELEM(fns); i++) {
        if (!fns[i].args)
            continue;
        struct ident *id = hash_gets(&l->globals.table, fns[i].name);
        if (!id) { /* not also a variable */
            id = names_add(l, &l->globals, fns[i].name, ID_FN);
            id->version = fns[i].since;
        }
        id->fn = &fns[i];
    }
    for (size_t i = 0; i < NELEM(subrs_undefined); i++)
        add_undefined(l, subrs_undefined[i]);
}

void names_init(struct lang *l)
{
    l->globals.opt = l->threads.opt = l->locals.opt = l->opt;
    l->library = true; /* built-in names count as library names */
    builtin_names(l);
    l->library = false;
}

struct lang_var *var_new(struct lang *l, const char *name, enum lang_scope scope,
                         const struct type *type)
{
    struct lang_var *v = lang_alloc(l, sizeof *v);
    v->name = name;
    v->scope = scope;
    v->type = type;
    v->id = l->nvars++;
    names_add(l, names_of_scope(l, scope), name, ID_VAR)->var = v;
    *l->var_tail = v;
    l->var_tail = &v->next;
    return v;
}

const struct type *typedef_find(const struct lang *l, const char *name, size_t len)
{
    const struct type *t = type_typedef(name, len);
    if (!t)
        t = hash_get(&l->types, name, len);
    return t ? t : hash_get(&l->ctypes, name, len);
}

static struct type *derived(struct lang *l, enum type_kind kind, const struct type *of)
{
    struct type *t = lang_alloc(l, sizeof *t);
    t->kind = kind;
    t->of = of;
    return t;
}

const struct type *type_in_memory(struct lang *l, const struct type *t)
{
    if (!type_is_string(t) || t->size > 0)
        return t;
    struct type *s = lang_alloc(l, sizeof *s);
    *s = *t;
    s->size = l->opt->strsize;
    return s;
}

const struct type *type_pointer(struct lang *l, const struct type *of)
{
    of = type_in_memory(l, of);
    struct type *t = derived(l, TYPE_PTR, of);
    size_t n = strlen(of->name);
    t->size = 8;
    if (of->kind == TYPE_ARRAY || of->kind == TYPE_FUNC) {
        size_t at = strcspn(of->name, of->kind == TYPE_ARRAY ? "[" : "(");
        t->name = lang_printf(l, "%.*s(*)%s", (int)at, of->name, of->name + at);
    } else {
        t->name = lang_printf(l, "%s%s*", of->name, of->name[n - 1] == '*' ? "" : " ");
    }
    return t;
}

const struct type *type_array(struct lang *l, const struct type *of, uint32_t count)
{
    of = type_in_memory(l, of);
    struct type *t = derived(l, TYPE_ARRAY, of);
    size_t at = of->kind == TYPE_ARRAY ? strcspn(of->name, "[") : strlen(of->name);
    const char *space = of->kind == TYPE_ARRAY ? "" : " ";
    t->count = count;
    t->size = count * type_size(of);
    t->name = lang_printf(l, "%.*s%s[%u]%s", (int)at, of->name, space, count, of->name + at);
    return t;
}

struct lang_agg *agg_find(const struct lang *l, const char *name)
{
    return hash_gets(&l->agg_table, name);
}

struct lang_agg *agg_new(struct lang *l, const char *name, enum word_agg func)
{
    struct lang_agg *a = lang_alloc(l, sizeof *a);
    a->name = name;
    a->func = func;
    a->id = l->naggs++;
    if (hash_puts(&l->agg_table, name, a) != 0)
        lang_nomem(l);
    *l->agg_tail = a;
    l->agg_tail = &a->next;
    return a;
}

/* Names that people know from other languages. */
static const struct {
    const char *name, *hint;
} elsewhere[] = {
    {"args0", "arguments are args[0], typed, or arg0"},
    {"atoi", "strtoll() converts a string to an integer"},
    {"comm", "execname is the name of the process"},
    {"cast", "a cast is written (int)x"},
    {"delete", "a[key] = 0 removes an element, trunc(@a) all of an aggregation"},
    {"error", "an atom is text: \"error\""},
    {"false", "conditions are numbers: 0 is false"},
    {"format", "printf(\"%s\\n\", x) prints"},
    {"hist", "quantize() counts in powers of two: @a = quantize(x)"},
    {"kstack", "stack() records the stack"},
    {"lhist", "lquantize() counts in equal steps: @a = lquantize(x, base, limit, step)"},
    {"inspect", "printf(\"%#T\\n\", x) prints a term as Elixir does, %T as Erlang does"},
    {"nil", "an atom is text: \"nil\"; a missing string is NULL"},
    {"normal", "an atom is text: \"normal\""},
    {"nsecs", "timestamp is the time in ns"},
    {"ok", "an atom is text: \"ok\""},
    {"println", "printf(\"%s\\n\", x) prints"},
    {"puts", "printf(\"%s\\n\", x) prints"},
    {"result", "retval is what a function returns, in its return probe"},
    {"str", "copyinstr(address) gives a string"},
    {"strcat", "strjoin() joins strings"},
    {"strcmp", "strings are compared with == < >"},
    {"strftime", "printf(\"%Y\", walltimestamp) prints the time"},
    {"time", "printf(\"%Y\", walltimestamp) prints the time"},
    {"true", "conditions are numbers: 1 is true"},
    {"undefined", "an atom is text: \"undefined\""},
    {"zero", "clear(@a) sets the values of an aggregation to zero"},
};

/* Returns whether a constant such as ENODEV may be suggested for `name`: not for a lower-case word,
 * unless it is that very name. */
static bool may_be_meant(const struct ident *id, const char *name)
{
    bool constant = id->kind == ID_INT, capital = false;
    for (const char *p = name; *p; p++)
        capital |= *p >= 'A' && *p <= 'Z';
    return !constant || capital || strcasecmp(id->name, name) == 0;
}

const char *names_suggest(struct lang *l, const struct names *t, const char *name,
                          bool (*want)(const struct ident *id))
{
    size_t n = 0, i = 0;
    for (size_t k = 0; t == &l->globals && k < sizeof elsewhere / sizeof elsewhere[0]; k++)
        if (strcmp(name, elsewhere[k].name) == 0)
            return elsewhere[k].hint;
    for (const struct ident *id = t->list; id; id = id->next)
        n++;
    const char **c = lang_alloc(l, (n + 1) * sizeof *c);
    for (const struct ident *id = t->list; id; id = id->next) {
        bool broken = id->kind == ID_VAR && type_is_error(id->var->type);
        if (!broken && version_has(l->opt, id->version) && may_be_meant(id, name) &&
            (!want || want(id)))
            c[i++] = id->name;
    }
    const char *best = diag_nearest(name, c, i);
    if (!best || strcmp(best, name) == 0)
        return NULL;
    const char *prefix = t == &l->threads ? "self->" : t == &l->locals ? "this->" : "";
    return lang_printf(l, "did you mean '%s%s'?", prefix, best);
}
