/* names.c - what names mean: the tables of built-in variables and functions, and the program's own.
 *
 * Functions, global variables, built-ins and inlines share one namespace; thread-local variables,
 * clause-local variables and aggregations have one each (reference 1.1). What
 * only other systems have is in the tables too, so that it is refused by name and never taken for a
 * new variable. Where a name exists, dif/'s lists say: all are part of the language. */
#include "lang/prog.h"

#include <string.h>
#include <strings.h>

/* clang-format off */
static const struct {
    const char *name;
    const char *type; /* a typedef name, or "string"; NULL: struct task_struct * */
} builtins[] = {
    {"timestamp", "uint64_t"},   {"vtimestamp", "uint64_t"}, {"walltimestamp", "int64_t"},
    {"cpu", "processorid_t"},    {"pid", "pid_t"},           {"tid", "id_t"},
    {"probeprov", "string"},     {"probemod", "string"},     {"probefunc", "string"},
    {"probename", "string"},     {"id", "uint_t"},           {"epid", "uint_t"},
    {"errno", "int32_t"},        {"ppid", "pid_t"},          {"uid", "uid_t"},
    {"gid", "gid_t"},            {"execname", "string"},     {"cwd", "string"},
    {"root", "string"},          {"zonename", "string"},     {"caller", "uintptr_t"},
    {"ucaller", "uint64_t"},     {"stackdepth", "uint32_t"}, {"ustackdepth", "uint32_t"},
    {"ipl", "uint_t"},           {"curthread", NULL},
    /* of lib/ */
    {"_pgid", "pid_t"},          {"_sid", "pid_t"},          {"_euid", "uid_t"},
    {"_egid", "gid_t"},          {"_chip", "id_t"},          {"_pri", "int32_t"},
    {"_lwpname", "string"},
};

/* Built-in arrays: an index in [ ], which must be a constant where that matters. */
static const struct {
    const char *name;
    const char *type;
} arrays[] = {{"uregs", "uint64_t"},    {"regs", "uint64_t"},
              {"_fd_path", "uint64_t"}, {"_fd_offset", "int64_t"}, {"_fd_fs", "uint64_t"},
              {"_fd_mount", "uint64_t"}, {"_fd_flags", "int64_t"}};

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
    {"progenyof", FN_SUBR, "i",  1, 1, 0, T_INT},
    {"d_path",    FN_SUBR, "r",  1, 1, 0, T_STRING},
    {"inet_ntoa", FN_SUBR, "4",  1, 1, 0, T_STRING},
    {"inet_ntoa6", FN_SUBR, "6i", 1, 2, 0, T_STRING},
    {"inet_ntop", FN_SUBR, "ir", 2, 2, 0, T_STRING},
    {"link_ntop", FN_SUBR, "ir", 2, 2, 0, T_STRING},
    {"mutex_owned",         FN_SUBR, "r", 1, 1, FN_AFRESH, T_INT},
    {"mutex_owner",         FN_SUBR, "r", 1, 1, FN_AFRESH, T_DYN},
    {"mutex_type_adaptive", FN_SUBR, "r", 1, 1, FN_AFRESH, T_INT},
    {"mutex_type_spin",     FN_SUBR, "r", 1, 1, FN_AFRESH, T_INT},
    {"rw_read_held",        FN_SUBR, "r", 1, 1, FN_AFRESH, T_INT},
    {"rw_write_held",       FN_SUBR, "r", 1, 1, FN_AFRESH, T_INT},
    {"rw_iswriter",         FN_SUBR, "r", 1, 1, FN_AFRESH, T_INT},
    {"getmajor",  FN_SUBR, "i",  1, 1, 0, T_UINT},
    {"getminor",  FN_SUBR, "i",  1, 1, 0, T_UINT},
    {"term_kind",    FN_SUBR, "t",  1, 1, 0, T_STRING},
    {"term_int",     FN_SUBR, "t",  1, 1, 0, T_LONG},
    {"term_size",    FN_SUBR, "t",  1, 1, 0, T_LONG},
    {"term_text",    FN_SUBR, "t",  1, 1, 0, T_STRING},
    {"term_string",  FN_SUBR, "t",  1, 1, 0, T_STRING},
    {"term_element", FN_SUBR, "ti", 2, 2, 0, T_TERM},
    {"term_get",     FN_SUBR, "ts", 2, 2, 0, T_TERM},
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
    {"stack",       FN_ACTION, "i",  0, 1,   ACT_STACK, T_STACK},
    {"ustack",      FN_ACTION, "ii", 0, 2,   ACT_STACK, T_USTACK},
    {"jstack",      FN_ACTION, "ii", 0, 2,   ACT_STACK, T_JSTACK},
    {"sym",         FN_ACTION, "p",  1, 1,   ACT_STACK, T_SYM},
    {"func",        FN_ACTION, "p",  1, 1,   ACT_STACK, T_FUNC},
    {"mod",         FN_ACTION, "p",  1, 1,   ACT_STACK, T_MOD},
    {"usym",        FN_ACTION, "p",  1, 1,   ACT_STACK, T_USYM},
    {"ufunc",       FN_ACTION, "p",  1, 1,   ACT_STACK, T_UFUNC},
    {"umod",        FN_ACTION, "p",  1, 1,   ACT_STACK, T_UMOD},
    {"uaddr",       FN_ACTION, "p",  1, 1,   ACT_STACK, T_UADDR},
    {"stop",        FN_ACTION, "",   0, 0,   ACT_STOP, T_VOID},
    {"raise",       FN_ACTION, "i",  1, 1,   ACT_RAISE, T_VOID},
    {"copyout",     FN_ACTION, "rpi", 3, 3,  ACT_COPYOUT, T_VOID},
    {"copyoutstr",  FN_ACTION, "spi", 3, 3,  ACT_COPYOUTSTR, T_VOID},
    {"breakpoint",  FN_ACTION, "",   0, 0,   ACT_BREAKPOINT, T_VOID},
    {"panic",       FN_ACTION, "",   0, 0,   ACT_PANIC, T_VOID},
    {"chill",       FN_ACTION, "i",  1, 1,   ACT_CHILL, T_VOID},
    {"pcap",        FN_ACTION, "ri", 2, 2,   ACT_PCAP, T_VOID},
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

/* Subroutines that D knows by name and that do not exist (reference 6.3). */
static const char *const subrs_undefined[] = {
    "ddi_pathname", "msgdsize", "msgsize",
};
/* clang-format on */

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

const char *lang_builtin_name(size_t i)
{
    return i < NELEM(builtins)                   ? builtins[i].name
           : i - NELEM(builtins) < NELEM(arrays) ? arrays[i - NELEM(builtins)].name
                                                 : NULL;
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

/* "struct task_struct *". What is in one, the kernel's own types would say. */
static const struct type *task_struct(struct lang *l)
{
    struct type *t = lang_alloc(l, sizeof *t);
    t->kind = TYPE_STRUCT;
    t->name = "struct task_struct";
    t->sou = lang_alloc(l, sizeof *t->sou);
    if (hash_puts(&l->types, t->name, t) != 0)
        lang_nomem(l);
    return type_pointer(l, t);
}

static void builtin_names(struct lang *l)
{
    static const char *const args[] = {"arg0", "arg1", "arg2", "arg3", "arg4",
                                       "arg5", "arg6", "arg7", "arg8", "arg9"};
    for (size_t i = 0; i < NELEM(builtins); i++) {
        struct ident *id = names_add(l, &l->globals, builtins[i].name, ID_BUILTIN);
        const char *type = builtins[i].type;
        id->type = type ? type_typedef(type, strlen(type)) : task_struct(l);
        if (!id->type)
            id->type = &type_c[T_STRING];
    }
    for (size_t i = 0; i < NELEM(arrays); i++)
        names_add(l, &l->globals, arrays[i].name, ID_ARRAY)->type =
            type_typedef(arrays[i].type, strlen(arrays[i].type));
    for (size_t i = 0; i < NELEM(args); i++) {
        struct ident *id = names_add(l, &l->globals, args[i], ID_ARG);
        id->type = type_typedef("int64_t", 7);
        id->num = i;
    }
    names_add(l, &l->globals, "args", ID_ARGS)->type = &type_c[T_DYN];
    names_add(l, &l->globals, "NULL", ID_INT)->type = &type_c[T_LONG];
    for (size_t i = 0; i < NELEM(fns); i++)
        names_add(l, &l->globals, fns[i].name, ID_FN)->fn = &fns[i];
    for (size_t i = 0; i < NELEM(subrs_undefined); i++)
        add_undefined(l, subrs_undefined[i]);
}

void names_init(struct lang *l)
{
    l->globals.opt = l->threads.opt = l->locals.opt = l->opt;
    l->library = true; /* so is what is built in */
    builtin_names(l);
    names_versions(l);
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

#define FUNCTION_TERMS                                                                             \
    "the arguments and the result of a function are not known; a probe of the application's own "  \
    "passes terms (doc/user-probes.md)"
/* Names that people bring along from other languages. */
static const struct {
    const char *name, *hint;
} elsewhere[] = {
    {"args0", "arguments are args[0], typed, or arg0"},
    {"atoi", "strtoll() makes an integer of a string"},
    {"comm", "execname is the name of the process"},
    {"cast", "a cast is written (int)x"},
    {"delete", "a[key] = 0 removes an element, trunc(@a) all of an aggregation"},
    {"error", "an atom is text: \"error\""},
    {"false", "conditions are numbers: 0 is false"},
    {"format", "printf(\"%s\\n\", x) prints"},
    {"hist", "quantize() counts in powers of two: @a = quantize(x)"},
    {"kstack", "stack() records the stack"},
    {"lhist", "lquantize() counts in equal steps: @a = lquantize(x, base, limit, step)"},
    {"inspect", "printf(\"%s\\n\", x) prints"},
    {"nil", "an atom is text: \"nil\"; a string that is none is NULL"},
    {"normal", "an atom is text: \"normal\""},
    {"nsecs", "timestamp is the time in ns"},
    {"ok", "an atom is text: \"ok\""},
    {"println", "printf(\"%s\\n\", x) prints"},
    {"puts", "printf(\"%s\\n\", x) prints"},
    {"result", FUNCTION_TERMS},
    {"retval", FUNCTION_TERMS},
    {"str", "copyinstr(address) gives a string"},
    {"strcat", "strjoin() joins strings"},
    {"strcmp", "strings are compared with == < >"},
    {"strftime", "printf(\"%Y\", walltimestamp) prints the time"},
    {"time", "printf(\"%Y\", walltimestamp) prints the time"},
    {"true", "conditions are numbers: 1 is true"},
    {"undefined", "an atom is text: \"undefined\""},
    {"zero", "clear(@a) sets the values of an aggregation to zero"},
};

/* No word in lower case is meant to be a constant like ENODEV, unless it is that very name. */
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
