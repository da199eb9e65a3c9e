/* names.c - what names mean: the tables of built-in variables and functions, and the program's own.
 *
 * Functions, global variables, built-ins and inlines share one namespace; thread-local variables,
 * clause-local variables and aggregations have one each (reference 1.1). What D has but is not
 * built yet is in the tables too, so that it is refused by name and never taken for a new variable.
 */
#include "lang/prog.h"

#include <string.h>

/* clang-format off */
static const struct {
    const char *name;
    const char *type; /* a typedef name, or "string" */
} builtins[] = {
    {"timestamp", "uint64_t"},   {"vtimestamp", "uint64_t"}, {"walltimestamp", "int64_t"},
    {"cpu", "processorid_t"},    {"pid", "pid_t"},           {"tid", "id_t"},
    {"probeprov", "string"},     {"probemod", "string"},     {"probefunc", "string"},
    {"probename", "string"},     {"id", "uint_t"},           {"epid", "uint_t"},
};

/* Built-in variables of D that are refused for now. */
static const char *const builtins_later[] = {
    "args",     "caller",     "chip",    "curcpu",      "curlwpsinfo", "curpsinfo", "curthread",
    "cwd",      "errno",      "execname", "fds",        "gid",         "ipl",       "lgrp",
    "ppid",     "pset",       "regs",    "root",        "stackdepth",  "ucaller",   "uid",
    "uregs",    "ustackdepth", "zonename",
};

static const struct lang_fn fns[] = {
    /* subroutines */
    {"copyinstr", FN_SUBR, "pi", 1, 2, 0, T_STRING},
    {"strlen",    FN_SUBR, "s",  1, 1, 0, T_ULONG},
    {"strjoin",   FN_SUBR, "ss", 2, 2, 0, T_STRING},
    {"strchr",    FN_SUBR, "si", 2, 2, 0, T_STRING},
    {"strrchr",   FN_SUBR, "si", 2, 2, 0, T_STRING},
    {"strstr",    FN_SUBR, "ss", 2, 2, 0, T_STRING},
    {"index",     FN_SUBR, "ssi", 2, 3, 0, T_INT},
    {"rindex",    FN_SUBR, "ssi", 2, 3, 0, T_INT},
    {"substr",    FN_SUBR, "sii", 2, 3, 0, T_STRING},
    {"strtok",    FN_SUBR, "ss", 2, 2, FN_AFRESH, T_STRING},
    {"basename",  FN_SUBR, "s",  1, 1, 0, T_STRING},
    {"dirname",   FN_SUBR, "s",  1, 1, 0, T_STRING},
    {"cleanpath", FN_SUBR, "s",  1, 1, 0, T_STRING},
    {"lltostr",   FN_SUBR, "ii", 1, 2, 0, T_STRING},
    {"strtoll",   FN_SUBR, "si", 1, 2, 0, T_LONG},
    {"toupper",   FN_SUBR, "s",  1, 1, 0, T_STRING},
    {"tolower",   FN_SUBR, "s",  1, 1, 0, T_STRING},
    {"alloca",    FN_SUBR, "i",  1, 1, FN_AFRESH, T_COUNT},
    {"bcopy",     FN_SUBR, "qai", 3, 3, FN_AFRESH, T_VOID},
    {"copyin",    FN_SUBR, "pi", 2, 2, FN_AFRESH, T_COUNT},
    {"copyinto",  FN_SUBR, "pia", 3, 3, FN_AFRESH, T_VOID},
    {"speculation", FN_SUBR, "", 0, 0, FN_AFRESH, T_INT},
    {"rand",      FN_SUBR, "",   0, 0, FN_AFRESH, T_INT},
    {"json",      FN_SUBR, "ss", 2, 2, 0, T_STRING},
    {"getmajor",  FN_SUBR, "i",  1, 1, 0, T_UINT},
    {"getminor",  FN_SUBR, "i",  1, 1, 0, T_UINT},
    {"htons",     FN_SUBR, "i",  1, 1, 0, T_USHORT},
    {"htonl",     FN_SUBR, "i",  1, 1, 0, T_UINT},
    {"htonll",    FN_SUBR, "i",  1, 1, 0, T_ULONG},
    {"ntohs",     FN_SUBR, "i",  1, 1, 0, T_USHORT},
    {"ntohl",     FN_SUBR, "i",  1, 1, 0, T_UINT},
    {"ntohll",    FN_SUBR, "i",  1, 1, 0, T_ULONG},
    /* actions; format and aggregation arguments are looked at by the action itself */
    {"trace",       FN_ACTION, "v",  1, 1,   ACT_TRACE, T_VOID},
    {"printf",      FN_ACTION, "v",  1, 255, ACT_PRINTF, T_VOID},
    {"printa",      FN_ACTION, "v",  1, 255, ACT_PRINTA, T_VOID},
    {"clear",       FN_ACTION, "@",  1, 1,   ACT_CLEAR, T_VOID},
    {"trunc",       FN_ACTION, "@i", 1, 2,   ACT_TRUNC, T_VOID},
    {"normalize",   FN_ACTION, "@i", 2, 2,   ACT_NORMALIZE, T_VOID},
    {"denormalize", FN_ACTION, "@",  1, 1,   ACT_DENORMALIZE, T_VOID},
    {"exit",        FN_ACTION, "i",  1, 1,   ACT_EXIT, T_VOID},
    {"setopt",      FN_ACTION, "s",  1, 2,   ACT_SETOPT, T_VOID},
    {"system",      FN_ACTION, "v",  1, 255, ACT_SYSTEM, T_VOID},
    {"freopen",     FN_ACTION, "v",  1, 255, ACT_FREOPEN, T_VOID},
    {"ftruncate",   FN_ACTION, "",   0, 0,   ACT_FTRUNCATE, T_VOID},
    {"speculate",   FN_ACTION, "i",  1, 1,   ACT_SPECULATE, T_VOID},
    {"commit",      FN_ACTION, "i",  1, 1,   ACT_COMMIT, T_VOID},
    {"discard",     FN_ACTION, "i",  1, 1,   ACT_DISCARD, T_VOID},
    {"tracemem",    FN_ACTION, "v",  2, 3,   ACT_TRACEMEM, T_VOID},
    {"print",       FN_ACTION, "q",  1, 1,   ACT_PRINT, T_VOID},
    /* aggregating functions; what their arguments must be is in check_action.c */
    {"count",      FN_AGG, "",       0, 0, AGGF_COUNT, T_VOID},
    {"sum",        FN_AGG, "v",      1, 1, AGGF_SUM, T_VOID},
    {"avg",        FN_AGG, "v",      1, 1, AGGF_AVG, T_VOID},
    {"min",        FN_AGG, "v",      1, 1, AGGF_MIN, T_VOID},
    {"max",        FN_AGG, "v",      1, 1, AGGF_MAX, T_VOID},
    {"stddev",     FN_AGG, "v",      1, 1, AGGF_STDDEV, T_VOID},
    {"quantize",   FN_AGG, "vv",     1, 2, AGGF_QUANTIZE, T_VOID},
    {"lquantize",  FN_AGG, "vvvvv",  3, 5, AGGF_LQUANTIZE, T_VOID},
    {"llquantize", FN_AGG, "vvvvvv", 5, 6, AGGF_LLQUANTIZE, T_VOID},
};

/* Actions and subroutines of D that are refused for now. */
static const char *const actions_later[] = {
    "breakpoint", "chill", "copyout", "copyoutstr", "func",
    "jstack", "mod", "panic", "pcap", "raise", "stack", "stop", "sym",
    "uaddr", "ufunc", "umod", "ustack", "usym",
};
static const char *const subrs_later[] = {
    "d_path", "ddi_pathname", "inet_ntoa", "inet_ntoa6",
    "inet_ntop", "link_ntop", "msgdsize", "msgsize", "mutex_owned", "mutex_owner",
    "mutex_type_adaptive", "mutex_type_spin", "progenyof", "rw_iswriter", "rw_read_held",
    "rw_write_held",
};
/* clang-format on */

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

const char *lang_builtin_name(size_t i)
{
    return i < NELEM(builtins) ? builtins[i].name : NULL;
}

const char *lang_subr_name(size_t i)
{
    for (size_t k = 0; k < NELEM(fns); k++) {
        if (fns[k].kind == FN_SUBR && i-- == 0)
            return fns[k].name;
    }
    return NULL;
}

struct ident *names_find(const struct names *t, const char *name)
{
    return hash_gets(&t->table, name);
}

struct ident *names_add(struct lang *l, struct names *t, const char *name, enum ident_kind kind)
{
    struct ident *id = lang_alloc(l, sizeof *id);
    id->kind = kind;
    id->name = name;
    id->attr = attr_stable;
    for (struct lang_pragma *p = t == &l->globals ? l->pragmas : NULL; p; p = p->next) {
        if (strcmp(p->name, name) == 0) {
            id->attr = strcmp(p->what, "attributes") == 0 ? p->attr : id->attr;
            p->used = true;
        }
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

static void add_later(struct lang *l, const char *name, enum fn_kind kind)
{
    struct lang_fn *fn = lang_alloc(l, sizeof *fn);
    fn->name = name;
    fn->kind = kind;
    names_add(l, &l->globals, name, ID_FN)->fn = fn;
}

void names_init(struct lang *l)
{
    static const char *const args[] = {"arg0", "arg1", "arg2", "arg3", "arg4",
                                       "arg5", "arg6", "arg7", "arg8", "arg9"};
    for (size_t i = 0; i < NELEM(builtins); i++) {
        struct ident *id = names_add(l, &l->globals, builtins[i].name, ID_BUILTIN);
        id->type = type_typedef(builtins[i].type, strlen(builtins[i].type));
        if (!id->type)
            id->type = &type_c[T_STRING];
    }
    for (size_t i = 0; i < NELEM(args); i++) {
        struct ident *id = names_add(l, &l->globals, args[i], ID_ARG);
        id->type = type_typedef("int64_t", 7);
        id->num = i;
    }
    names_add(l, &l->globals, "NULL", ID_INT)->type = &type_c[T_LONG];
    for (size_t i = 0; i < NELEM(builtins_later); i++)
        names_add(l, &l->globals, builtins_later[i], ID_NOTYET);
    for (size_t i = 0; i < NELEM(fns); i++)
        names_add(l, &l->globals, fns[i].name, ID_FN)->fn = &fns[i];
    for (size_t i = 0; i < NELEM(actions_later); i++)
        add_later(l, actions_later[i], FN_ACTION_LATER);
    for (size_t i = 0; i < NELEM(subrs_later); i++)
        add_later(l, subrs_later[i], FN_SUBR_LATER);
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
    return t ? t : hash_get(&l->types, name, len);
}

static struct type *derived(struct lang *l, enum type_kind kind, const struct type *of)
{
    struct type *t = lang_alloc(l, sizeof *t);
    t->kind = kind;
    t->of = of;
    return t;
}

const struct type *type_pointer(struct lang *l, const struct type *of)
{
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

struct lang_agg *agg_new(struct lang *l, const char *name, enum lang_aggfunc func)
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

const char *names_suggest(struct lang *l, const struct names *t, const char *name,
                          bool (*want)(const struct ident *id))
{
    size_t n = 0, i = 0;
    for (const struct ident *id = t->list; id; id = id->next)
        n++;
    const char **c = lang_alloc(l, (n + 1) * sizeof *c);
    for (const struct ident *id = t->list; id; id = id->next) {
        bool broken = id->kind == ID_VAR && type_is_error(id->var->type);
        if (!broken && (!want || want(id)))
            c[i++] = id->name;
    }
    const char *best = diag_nearest(name, c, i);
    if (!best || strcmp(best, name) == 0)
        return NULL;
    const char *prefix = t == &l->threads ? "self->" : t == &l->locals ? "this->" : "";
    return lang_printf(l, "did you mean '%s%s'?", prefix, best);
}
