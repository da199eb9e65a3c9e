/* kprobes.c - the catalogue of the kernel's probes.
 *
 * It is one array, in order of id: the rows of the tables that this kernel allows, the system
 * calls, the tracepoints twice. Conditions are compiled when it is made, and so are the arguments
 * of rows, since a row without one of its values is not a probe. Those of tracepoints are made when
 * somebody asks: there are thousands. Intervals have an array of their own, which grows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/glob.h"
#include "linux/kprobes.h"
#include "linux/ksyscall.h"
#include "util/buftext.h"
#include "util/render.h"

enum entry_args {
    ARGS_MADE,    /* what `arg` has */
    ARGS_TYPED,   /* those of the tracepoint, not made yet */
    ARGS_NUMBERS, /* the same, as numbers */
};

struct entry {
    struct kprobe probe;
    enum entry_args args;
    const struct kprobe_arg *arg; /* nargs of them */
    size_t nargs;
};

struct kprobes {
    struct kbtf *types;
    struct arena mem;
    struct entry *entry; /* in order of id, from KPROBES_ID on */
    size_t n;
    struct kprobe **interval;
    size_t nintervals, capintervals;
    struct kprobe_lack *lacking;
    size_t nlacking;
};

#define MODULE "vmlinux"

static const struct krow syscall_rows[] = {
    {.name = "entry",
     .point = "sys_enter",
     .key = "$2",
     .when = {KSYSCALL_NATIVE},
     .text = "a thread calls it",
     .arg = {{"arg0", KSYSCALL_ARG0, "int64_t"},
             {"arg1", KSYSCALL_ARG1, "int64_t"},
             {"arg2", KSYSCALL_ARG2, "int64_t"},
             {"arg3", KSYSCALL_ARG3, "int64_t"},
             {"arg4", KSYSCALL_ARG4, "int64_t"},
             {"arg5", KSYSCALL_ARG5, "int64_t"}}},
    {.name = "return",
     .point = "sys_exit",
     .key = KSYSCALL_NUMBER,
     .when = {KSYSCALL_NATIVE},
     .error = "$2 errno",
     .text = "it returns to a thread",
     .arg = {{"result", "$2", "int64_t", .text = "negative: the number of an error"},
             {"result", "$2", "int64_t", .text = "the same"}}},
};
enum { SYSCALL_ROWS = sizeof syscall_rows / sizeof *syscall_rows };
enum { FUNCTION_ROWS = 4 };

/* -- compiling rows ------------------------------------------------------------------- */

/* Returns the type of a value in D: what is in memory is handled by its address. NULL: no memory is
 * left. */
static const char *type_text(struct kprobes *k, uint32_t type)
{
    struct kbtf_scalar is;
    struct buf text = BUF_INIT;
    if (kbtf_kind(k->types, type) == KBTF_CONST) /* as a parameter may be */
        type = kbtf_target(k->types, type);
    uint32_t of = kbtf_resolve(k->types, type), element = kbtf_target(k->types, of);
    bool array = kbtf_kind(k->types, of) == KBTF_ARRAY;
    const char *name = kbtf_name(k->types, kbtf_resolve(k->types, element));
    if (type == 0)
        return "int64_t";
    if (array && strcmp(name, "char") == 0)
        return "string";
    if (kbtf_scalar(k->types, type, &is))
        kbtf_print(k->types, type, "", &text);
    else
        kbtf_print(k->types, array ? element : type, "*", &text);
    const char *copy = text.oom        ? NULL
                       : text.len == 0 ? "int64_t" /* a number without a name */
                                       : arena_strdup(&k->mem, buf_str(&text));
    buf_free(&text);
    return copy;
}

/* Compiles a value of a row, if it has it. */
static const char *compile(struct kprobes *k, struct kvalue *out, const char *text, uint32_t proto)
{
    return text != NULL ? kvalue_compile(out, text, k->types, proto, &k->mem) : NULL;
}

/* Makes a value of its own. */
static const char *compile_new(struct kprobes *k, const struct kvalue **out, const char *text,
                               uint32_t proto)
{
    struct kvalue *v = text != NULL ? arena_alloc(&k->mem, sizeof *v) : NULL;
    *out = v;
    if (v == NULL)
        return text != NULL ? kvalue_no_memory : NULL;
    return compile(k, v, text, proto);
}

static const char *compile_args(struct kprobes *k, const struct krow *row, struct entry *e)
{
    size_t n = 0;
    const char *why = NULL;
    while (n < KTABLE_ARGS && row->arg[n].name != NULL)
        n++;
    struct kprobe_arg *arg = arena_array(&k->mem, n, sizeof *arg);
    if (arg == NULL && n != 0)
        return kvalue_no_memory;
    for (size_t i = 0; i < n && why == NULL; i++) {
        const struct krow_arg *from = &row->arg[i];
        why = compile(k, &arg[i].value, from->value, e->probe.proto);
        arg[i].name = from->name;
        arg[i].text = from->text != NULL ? from->text : "";
        arg[i].as = from->as;
        arg[i].type = from->type;
        arg[i].given = from->type != NULL;
        if (arg[i].type == NULL && why == NULL &&
            (arg[i].type = type_text(k, arg[i].value.type)) == NULL)
            why = kvalue_no_memory;
    }
    e->arg = arg;
    e->nargs = n;
    return why;
}

/* Makes a row a probe. Returns NULL, or why this kernel does not allow it, as the rest of "this
 * kernel ...". */
static const char *compile_row(struct kprobes *k, const char *prov, const struct krow *row,
                               struct entry *e)
{
    struct kvalue is = {.n = 0};
    const char *why = NULL;
    struct kprobe *p = &e->probe;
    *e = (struct entry){.probe = {.prov = prov,
                                  .mod = kbtf_tracepoint_module(k->types, row->point),
                                  .func = row->func != NULL ? row->func : "",
                                  .name = row->name,
                                  .text = row->text,
                                  .attach = KATTACH_RAWTP,
                                  .point = row->point,
                                  .proto = kbtf_tracepoint(k->types, row->point)}};
    if (p->proto == 0) {
        why = arena_printf(&k->mem, "has no tracepoint %s", row->point);
        return why != NULL ? why : kvalue_no_memory;
    }
    for (size_t i = 0; i < KTABLE_WHEN && row->when[i] != NULL && why == NULL; i++)
        why = compile(k, &p->when[p->nwhen++], row->when[i], p->proto);
    if (why == NULL)
        why = compile_new(k, &p->key, row->key, p->proto);
    if (why == NULL)
        why = compile(k, &is, row->is, p->proto);
    if (is.n != 0)
        p->is = is.step[0].n;
    if (why == NULL)
        why = compile_new(k, &p->thread, row->thread, p->proto);
    if (why == NULL)
        why = compile_new(k, &p->error, row->error, p->proto);
    if (why == NULL)
        why = compile_args(k, row, e);
    return why;
}

/* -- making the catalogue ---------------------------------------------------------------- */

static struct entry *add(struct kprobes *k, const struct entry *e)
{
    struct entry *to = &k->entry[k->n];
    *to = *e;
    to->probe.id = KPROBES_ID + (uint32_t)k->n++;
    return to;
}

static void add_lacking(struct kprobes *k, const char *prov, const char *func, const char *name,
                        const char *who, const char *why)
{
    k->lacking[k->nlacking++] =
        (struct kprobe_lack){prov, func, name, arena_printf(&k->mem, "%s %s", who, why)};
}

/* Returns whether an earlier row of that name is a probe; it can only be among the last ones. */
static bool have(const struct kprobes *k, const struct kprobe *like)
{
    const struct kprobe *last = k->n > 0 ? &k->entry[k->n - 1].probe : NULL;
    return last != NULL && strcmp(last->prov, like->prov) == 0 &&
           strcmp(last->name, like->name) == 0 && strcmp(last->func, like->func) == 0;
}

static int add_tables(struct kprobes *k)
{
    const struct ktable *t;
    struct entry e;
    for (size_t i = 0; (t = ktable(i)) != NULL; i++)
        for (const struct krow *row = t->row; row < t->row + t->n; row++) {
            const char *func = row->func != NULL ? row->func : "";
            if (row->point == NULL) {
                add_lacking(k, t->prov, func, row->name, "Linux", row->text);
                continue;
            }
            const char *why = compile_row(k, t->prov, row, &e);
            if (why == kvalue_no_memory)
                return ET_ENOMEM;
            if (why != NULL)
                add_lacking(k, t->prov, func, row->name, "this kernel", why);
            else if (!have(k, &e.probe))
                add(k, &e);
        }
    return 0;
}

static int add_syscalls(struct kprobes *k)
{
    struct entry form[SYSCALL_ROWS];
    bool known[SYSCALL_ROWS];
    size_t n;
    int64_t number;
    const struct ksyscall *call = ksyscalls(&n);
    for (size_t r = 0; r < SYSCALL_ROWS; r++) {
        const char *why = compile_row(k, "syscall", &syscall_rows[r], &form[r]);
        if (why == kvalue_no_memory)
            return ET_ENOMEM;
        known[r] = why == NULL;
        if (why != NULL)
            add_lacking(k, "syscall", NULL, syscall_rows[r].name, "this kernel", why);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < SYSCALL_ROWS; r++)
            if (known[r] && ksyscall_number(call[i].name, strlen(call[i].name), &number)) {
                struct entry *e = add(k, &form[r]);
                e->probe.func = call[i].name;
                e->probe.is = number;
            }
    return 0;
}

/* Functions of the kernel: what a probe at one of them would need. */
static void add_functions(struct kprobes *k)
{
    static const char *const prov[] = {"fbt", "rawfbt"}, *const name[] = {"entry", "return"};
    const bool possible = access("/sys/bus/event_source/devices/kprobe", F_OK) == 0;
    for (size_t i = 0; i < FUNCTION_ROWS; i++)
        add_lacking(k, prov[i / 2], NULL, name[i % 2], possible ? "erltrace" : "this kernel",
                    possible ? "places no probes at functions of the kernel; sdt and rawtp have "
                               "its tracepoints"
                             : "takes no probes at its functions, as it is built without "
                               "CONFIG_KPROBE_EVENTS, and erltrace places none; sdt and rawtp "
                               "have its tracepoints");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_tracepoints(struct kprobes *k, const char **name, size_t n)
{
    static const struct {
        const char *prov;
        enum entry_args args;
    } kinds[] = {{"rawtp", ARGS_NUMBERS}, {"sdt", ARGS_TYPED}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (size_t i = 0; i < n; i++) {
            struct entry e = {.args = kinds[kind].args,
                              .probe = {.prov = kinds[kind].prov,
                                        .mod = kbtf_tracepoint_module(k->types, name[i]),
                                        .func = "",
                                        .name = name[i],
                                        .text = "",
                                        .attach = KATTACH_RAWTP,
                                        .point = name[i],
                                        .proto = kbtf_tracepoint(k->types, name[i])}};
            if (!have(k, &e.probe)) /* a kernel may describe it twice */
                add(k, &e);
        }
}

static struct kprobe *add_interval(struct kprobes *k, enum probe_kind kind, const char *name,
                                   uint64_t period)
{
    size_t ndefault, i = k->nintervals;
    probe_intervals(false, &ndefault);
    if (i == k->capintervals) {
        size_t cap = i == 0 ? 32 : i * 2;
        void *p = et_rearray(k->interval, cap, sizeof *k->interval);
        if (p == NULL)
            return NULL;
        k->interval = p;
        k->capintervals = cap;
    }
    struct kprobe *p = arena_alloc(&k->mem, sizeof *p);
    const char *copy = arena_strdup(&k->mem, name);
    if (p == NULL || copy == NULL)
        return NULL;
    bool is_default = i < ndefault;
    *p = (struct kprobe){.id = (uint32_t)(is_default ? KPROBES_ID_DEFAULT + i
                                                     : KPROBES_ID_INTERVAL + (i - ndefault)),
                         .prov = "profile",
                         .mod = "",
                         .func = "",
                         .name = copy,
                         .text = "",
                         .attach = kind == PROBE_PROFILE ? KATTACH_PROFILE : KATTACH_TICK,
                         .point = "",
                         .period = period};
    k->interval[k->nintervals++] = p;
    return p;
}

/* Makes room for everything, and fills it. */
static int fill(struct kprobes *k)
{
    size_t rows = SYSCALL_ROWS, calls, points = 0, nintervals;
    const struct probe_interval_def *interval = probe_intervals(false, &nintervals);
    ksyscalls(&calls);
    for (size_t i = 0; ktable(i) != NULL; i++)
        rows += ktable(i)->n;
    for (uint32_t id = 1; id < kbtf_count(k->types); id++)
        points += kbtf_tracepoint_name(k->types, id) != NULL;
    k->entry = arena_array(&k->mem, rows + calls * SYSCALL_ROWS + points * 2, sizeof *k->entry);
    k->lacking = arena_array(&k->mem, rows + FUNCTION_ROWS, sizeof *k->lacking);
    const char **name = et_rearray(NULL, points + 1, sizeof *name);
    if (k->entry == NULL || k->lacking == NULL || name == NULL) {
        et_free(name);
        return ET_ENOMEM;
    }
    points = 0;
    for (uint32_t id = 1; id < kbtf_count(k->types); id++) {
        name[points] = kbtf_tracepoint_name(k->types, id);
        points += name[points] != NULL;
    }
    qsort(name, points, sizeof *name, by_name);
    int err = add_tables(k);
    if (err == 0)
        err = add_syscalls(k);
    if (err == 0)
        add_functions(k);
    if (err == 0)
        add_tracepoints(k, name, points);
    et_free(name);
    if (err != 0)
        return err;
    for (size_t i = 0; i < nintervals; i++)
        if (add_interval(k, interval[i].kind, interval[i].name, interval[i].period) == NULL)
            return ET_ENOMEM;
    for (size_t i = 0; i < k->nlacking; i++)
        if (k->lacking[i].why == NULL)
            return ET_ENOMEM;
    return 0;
}

int kprobes_make(struct kprobes **out, struct kbtf *types, struct diags *d)
{
    struct kprobes *k = et_calloc(1, sizeof *k);
    *out = NULL;
    if (k == NULL) {
        kbtf_close(types);
    } else {
        k->types = types;
        arena_init(&k->mem);
        if (fill(k) == 0) {
            *out = k;
            return 0;
        }
        kprobes_close(k);
    }
    return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for the probes of the kernel");
}

int kprobes_open(struct kprobes **out, struct diags *d)
{
    struct kbtf *types;
    *out = NULL;
    int err = kbtf_open_all(&types, d);
    return err != 0 ? err : kprobes_make(out, types, d);
}

void kprobes_close(struct kprobes *k)
{
    if (k == NULL)
        return;
    kbtf_close(k->types);
    et_free(k->interval);
    arena_free(&k->mem);
    et_free(k);
}

struct kbtf *kprobes_types(struct kprobes *k)
{
    return k->types;
}

/* -- finding probes ----------------------------------------------------------------------- */

size_t kprobes_count(const struct kprobes *k)
{
    return k->n;
}

const struct kprobe *kprobes_at(const struct kprobes *k, size_t i)
{
    return i < k->n ? &k->entry[i].probe : NULL;
}

const struct kprobe *kprobes_by_id(const struct kprobes *k, uint32_t id)
{
    if (id >= KPROBES_ID)
        return kprobes_at(k, id - KPROBES_ID);
    for (size_t i = 0; i < k->nintervals; i++)
        if (k->interval[i]->id == id)
            return k->interval[i];
    return NULL;
}

/* Makes an argument of a tracepoint, its i-th from 1 on. */
static bool make_arg(struct kprobes *k, const struct entry *e, uint32_t i, struct kprobe_arg *out)
{
    char value[16];
    struct kbtf_param param = {.name = ""};
    struct kstep *step = arena_alloc(&k->mem, sizeof *step);
    snprintf(value, sizeof value, "$%u", i);
    kbtf_param(k->types, e->probe.proto, i, &param);
    *out = (struct kprobe_arg){.name = param.name, .text = ""};
    if (param.name[0] == '\0')
        out->name = arena_printf(&k->mem, "arg%u", i - 1);
    if (step == NULL || out->name == NULL)
        return false;
    if (e->args == ARGS_TYPED &&
        kvalue_compile(&out->value, value, k->types, e->probe.proto, &k->mem) == NULL) {
        out->type = type_text(k, out->value.type);
        return out->type != NULL;
    }
    *step = (struct kstep){.op = KSTEP_ARG, .n = i - 1};
    out->value = (struct kvalue){.step = step, .n = 1};
    out->type = "uint64_t";
    return true;
}

const struct kprobe_arg *kprobes_args(struct kprobes *k, const struct kprobe *p, size_t *n)
{
    struct kbtf_param param;
    struct entry *e =
        p->id >= KPROBES_ID && p->id - KPROBES_ID < k->n ? &k->entry[p->id - KPROBES_ID] : NULL;
    *n = 0;
    if (e == NULL)
        return NULL;
    if (e->args != ARGS_MADE) {
        uint32_t count = 0;
        while (count < KPROBE_ARGS && kbtf_param(k->types, p->proto, count + 1, &param))
            count++;
        struct kprobe_arg *arg = arena_array(&k->mem, count, sizeof *arg);
        for (uint32_t i = 0; i < count; i++)
            if (arg == NULL || !make_arg(k, e, i + 1, &arg[i]))
                return NULL;
        e->arg = arg;
        e->nargs = count;
        e->args = ARGS_MADE;
    }
    *n = e->nargs;
    return e->nargs > 0 ? e->arg : NULL;
}

static bool matches(const struct probe_spec *spec, const struct kprobe *p)
{
    if (spec->id != 0)
        return spec->id == p->id;
    return glob_match(spec->prov, p->prov) && glob_match(spec->mod, p->mod) &&
           glob_match(spec->func, p->func) && glob_match(spec->name, p->name);
}

int kprobes_match(struct kprobes *k, const struct probe_spec *spec, kprobes_fn fn, void *arg,
                  struct diags *d)
{
    enum probe_kind kind;
    uint64_t period;
    int err = 0;
    if (spec->id == 0 && glob_match(spec->prov, "profile") && spec->mod[0] == '\0' &&
        spec->func[0] == '\0' && probe_interval(spec->name, &period, &kind) && kind != PROBE_WALL) {
        bool known = false;
        for (size_t i = 0; i < k->nintervals; i++)
            known |= strcmp(k->interval[i]->name, spec->name) == 0;
        if (!known && add_interval(k, kind, spec->name, period) == NULL)
            return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    }
    for (size_t i = 0; i < k->nintervals && err == 0; i++)
        if (matches(spec, k->interval[i]))
            err = fn(arg, k->interval[i]);
    for (size_t i = 0; i < k->n && err == 0; i++)
        if (matches(spec, &k->entry[i].probe))
            err = fn(arg, &k->entry[i].probe);
    return err;
}

/* -- why nothing matched --------------------------------------------------------------------- */

/* The first part of a probe's names that a description has wrong. */
enum wrong { WRONG_PROVIDER, WRONG_FUNCTION, WRONG_NAME };

static const char *part_of(const struct kprobe *p, enum wrong part)
{
    return part == WRONG_PROVIDER ? p->prov : part == WRONG_FUNCTION ? p->func : p->name;
}

const char *kprobes_suggest(struct kprobes *k, const struct probe_spec *spec)
{
    static const char *const what[] = {"provider", "function", "probe"};
    const char *const pattern[] = {spec->prov, spec->func, spec->name};
    enum wrong wrong = WRONG_PROVIDER;
    size_t n = 0;
    if (spec->id != 0)
        return arena_printf(&k->mem, "no probe has the id %u; -l lists them", spec->id);
    if (strcmp(spec->prov, "profile") == 0)
        return NULL; /* an interval: what is wrong with it is the same on every tier */
    for (size_t i = 0; i < k->n; i++) {
        const struct kprobe *p = &k->entry[i].probe;
        if (!glob_match(spec->prov, p->prov))
            continue;
        if (glob_match(spec->func, p->func))
            wrong = WRONG_NAME;
        else if (wrong == WRONG_PROVIDER)
            wrong = WRONG_FUNCTION;
    }
    for (size_t i = 0; i < k->nlacking && wrong == WRONG_PROVIDER; i++)
        if (glob_match(spec->prov, k->lacking[i].prov))
            wrong = WRONG_NAME;
    const char **names = et_rearray(NULL, k->n + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < k->n; i++) {
        const struct kprobe *p = &k->entry[i].probe;
        if (wrong == WRONG_PROVIDER || (glob_match(spec->prov, p->prov) &&
                                        (wrong != WRONG_NAME || glob_match(spec->func, p->func))))
            names[n++] = part_of(p, wrong);
    }
    bool exact = glob_exact(pattern[wrong]);
    const char *near = names != NULL && exact ? diag_nearest(pattern[wrong], names, n) : NULL;
    et_free(names);
    if (near == NULL || strcmp(near, pattern[wrong]) == 0)
        return NULL;
    return arena_printf(&k->mem, "no %s '%s'; did you mean '%s'?", what[wrong], pattern[wrong],
                        near);
}

const struct kprobe_lack *kprobes_lack(const struct kprobes *k, size_t i)
{
    return i < k->nlacking ? &k->lacking[i] : NULL;
}

const char *kprobes_missing(struct kprobes *k, const struct probe_spec *spec)
{
    for (size_t i = 0; spec->id == 0 && i < k->nlacking; i++) {
        const struct kprobe_lack *l = &k->lacking[i];
        if (glob_match(spec->prov, l->prov) &&
            (l->func == NULL ||
             (glob_match(spec->mod, MODULE) && glob_match(spec->func, l->func))) &&
            glob_match(spec->name, l->name))
            return l->why;
    }
    return NULL;
}
