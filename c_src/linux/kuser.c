/* kuser.c - the probes in processes. See kuser.h.
 *
 * A file keeps its functions in the order of their names, and reserves two ids for each: of its
 * entry and of its return. These probes are made when a description asks for them. Other probes
 * (offsets, and those that the file defines) get the next free id. Functions of one name, and
 * places of one defined probe, are one probe with several places. */
#include "linux/kuser.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/glob.h"
#include "linux/kelf.h"
#include "linux/kinsn.h"
#include "linux/knamespace.h"
#include "linux/kplace.h"
#include "linux/kregs.h"
#include "linux/kusdt.h"
#include "util/render.h"
#include "util/table.h"

enum {
    CODE_MOST = 16 << 20,     /* bytes of a function in which instructions are counted */
    NEAR_MOST = 100000,       /* names among which one that is meant is looked for */
    WAYS_AT_ONCE = 32,        /* in one program */
    NOTES_MOST = 16384,       /* of a file */
    FUNCTIONS_MOST = 1 << 20, /* likewise; what is beyond is not known */
    NAMES_MOST = 256 << 20,   /* bytes of their names */
    FILES_MOST = 4096         /* of a process; what it maps beyond is not known */
};

static const char entry_name[] = "entry", return_name[] = "return", program[] = "a.out";

/* A place that may be a probe of its own, or one more of another. */
struct place {
    struct kprobe probe;
    const struct kprobe_arg *arg; /* nargs of them */
    size_t nargs;
    struct place *next; /* of the same function, at an offset */
};

struct named {
    const char *name;
    uint64_t at, size;
    bool chosen;             /* what is there chooses the function */
    struct place *probe[2];  /* of entry and return; NULL: not asked for yet */
    struct place *at_offset; /* those at offsets */
};

/* A probe that the file defines, in one function. */
struct defined {
    const char *prov, *func, *name; /* `prov` as the file has it, without a number */
    struct place *place, *last;
};

struct file {
    struct file *next;
    struct ksyms_file of;
    struct target *process;
    const char *module, *stem; /* its name; the same up to ".so" */
    bool is_program;
    bool fresh;               /* mapped since descriptions were matched */
    bool opened, read, noted; /* the file; its functions; the probes that it defines */
    bool foreign;             /* for another kind of machine */
    bool missed;              /* it was gone when it was to be read */
    struct kelf elf;          /* its segments, and functions by address */
    struct named *f;
    size_t n, cap;
    size_t names;   /* bytes */
    uint32_t first; /* id, of 2 * n */
    struct defined *defined;
    size_t ndefined, capdefined, notes;
};

struct target {
    struct target *next;
    uint64_t pid;
    const char *prov; /* "pid1234" */
    struct file *files, **tail;
    size_t nfiles;
    const char *entry, *back; /* points */
    struct hash ways;         /* descriptions of arguments that its files have */
};

struct kuser {
    struct arena mem;
    struct ksyms *syms;
    struct target *processes;
    struct place **other; /* in the order of ids */
    size_t nother, capother;
    uint32_t next_id;
    int64_t nplaces;      /* so far: the next one's number */
    bool first_namespace; /* the numbers of processes are the kernel's own */
    struct kprobe_arg at_entry[KMEM_ARGS], at_return[2];
    const char *why; /* the last description has no probes; NULL: it is not known */
    bool oom;
};

/* -- values ------------------------------------------------------------------------------------ */

static struct kvalue value_of(struct kuser *u, const struct kstep *step, uint32_t n)
{
    struct kstep *copy = arena_array(&u->mem, n, sizeof *copy);
    if (copy == NULL) {
        u->oom = true;
        return (struct kvalue){NULL, 0, 0};
    }
    memcpy(copy, step, n * sizeof *copy);
    return (struct kvalue){copy, n, 0};
}

static void make_arguments(struct kuser *u)
{
    static const char *const name[KMEM_ARGS] = {"arg0", "arg1", "arg2", "arg3", "arg4",
                                                "arg5", "arg6", "arg7", "arg8", "arg9"};
    for (unsigned i = 0; i < KMEM_ARGS; i++) {
        struct kstep step[2] = {
            {.op = KSTEP_ARG, .n = i < KREGS_PASSED ? kregs_argument(i) : KREGS_SP},
            {.op = KSTEP_LOAD_USER, .size = 8, .n = 8 * ((int64_t)i - KREGS_PASSED + KREGS_PUSHED)},
        };
        u->at_entry[i] = (struct kprobe_arg){name[i], "", "int64_t", NULL,
                                             value_of(u, step, i < KREGS_PASSED ? 1 : 2)};
    }
    const struct kstep unknown = {.op = KSTEP_CONST, .n = -1},
                       result = {.op = KSTEP_ARG, .n = KREGS_RESULT};
    u->at_return[0] =
        (struct kprobe_arg){"offset", "unknown: -1", "int64_t", NULL, value_of(u, &unknown, 1)};
    u->at_return[1] = (struct kprobe_arg){"result", "", "int64_t", NULL, value_of(u, &result, 1)};
}

/* -- life -------------------------------------------------------------------------------------- */

struct kuser *kuser_open(struct ksyms *syms)
{
    struct kuser *u = et_calloc(1, sizeof *u);
    if (u == NULL)
        return NULL;
    arena_init(&u->mem);
    u->syms = syms;
    u->next_id = KUSER_ID;
    u->first_namespace = knamespace() == 0;
    make_arguments(u);
    if (!u->oom)
        return u;
    kuser_close(u);
    return NULL;
}

void kuser_close(struct kuser *u)
{
    if (u == NULL)
        return;
    for (struct target *p = u->processes; p != NULL; p = p->next) {
        hash_free(&p->ways);
        for (struct file *f = p->files; f != NULL; f = f->next) {
            kelf_free(&f->elf);
            et_free(f->f);
            et_free(f->defined);
        }
    }
    et_free(u->other);
    arena_free(&u->mem);
    et_free(u);
}

/* -- files ------------------------------------------------------------------------------------- */

struct adding {
    struct kuser *u;
    struct target *p;
    dev_t dev;
    ino_t ino; /* of the program */
    bool fresh;
    size_t n; /* files that are new */
};

static void add_file(void *arg, const struct ksyms_file *of)
{
    struct adding *a = arg;
    struct kuser *u = a->u;
    static const char gone[] = " (deleted)";
    for (struct file *f = a->p->files; f != NULL; f = f->next)
        if (f->of.ino == of->ino && f->of.dev == of->dev) {
            f->of.start = of->start; /* it may lie elsewhere now */
            f->of.end = of->end;
            a->n += f->fresh; /* it could not be read so far */
            return;
        }
    if (a->p->nfiles >= FILES_MOST)
        return;
    const char *slash = strrchr(of->path, '/');
    struct file *f = arena_alloc(&u->mem, sizeof *f);
    char *name = arena_strdup(&u->mem, slash != NULL ? slash + 1 : of->path);
    char *stem = name != NULL ? arena_strdup(&u->mem, name) : NULL;
    if (f == NULL || stem == NULL) {
        u->oom = true;
        return;
    }
    const size_t len = strlen(name);
    if (len > strlen(gone) && strcmp(name + len - strlen(gone), gone) == 0)
        name[len - strlen(gone)] = stem[len - strlen(gone)] = '\0';
    char *so = strstr(stem, ".so");
    if (so != NULL && (so[3] == '\0' || so[3] == '.'))
        *so = '\0';
    *f = (struct file){.of = *of,
                       .process = a->p,
                       .module = name,
                       .stem = stem,
                       /* the device differs where file systems are stacked */
                       .is_program = of->ino == a->ino,
                       .fresh = a->fresh};
    *a->p->tail = f;
    a->p->tail = &f->next;
    a->p->nfiles++;
    a->n++;
}

/* Adds the files that a process has mapped and that are not known yet. Returns how many. */
static size_t add_files(struct kuser *u, struct target *p, bool fresh)
{
    char exe[64];
    struct stat st = {0};
    snprintf(exe, sizeof exe, "/proc/%llu/exe", (unsigned long long)p->pid);
    if (stat(exe, &st) != 0)
        st.st_ino = 0;
    struct adding a = {.u = u, .p = p, .dev = st.st_dev, .ino = st.st_ino, .fresh = fresh};
    ksyms_files(u->syms, p->pid, add_file, &a);
    return a.n;
}

/* Returns a process with the files that it has mapped; NULL: there is none, or it may not be looked
 * at. */
static struct target *process_of(struct kuser *u, uint64_t pid)
{
    for (struct target *p = u->processes; p != NULL; p = p->next)
        if (p->pid == pid)
            return p->files != NULL ? p : NULL;
    struct target *p = arena_alloc(&u->mem, sizeof *p);
    if (p == NULL) {
        u->oom = true;
        return NULL;
    }
    *p = (struct target){
        .next = u->processes,
        .pid = pid,
        .prov = arena_printf(&u->mem, "pid%llu", (unsigned long long)pid),
        .entry = arena_printf(&u->mem, "functions of process %llu", (unsigned long long)pid),
        .back = arena_printf(&u->mem, "returns of process %llu", (unsigned long long)pid)};
    p->tail = &p->files;
    u->processes = p;
    u->oom |= p->prov == NULL || p->entry == NULL || p->back == NULL;
    add_files(u, p, false);
    return p->files != NULL ? p : NULL;
}

/* Opens the file, and reads where its bytes are executed. Returns a descriptor or -1. */
static int open_once(struct file *f)
{
    unsigned char ident[EI_NIDENT] = {0};
    const int fd = ksyms_open_file(&f->of);
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    const bool known = fd >= 0 && pread(fd, ident, sizeof ident, 0) == sizeof ident &&
                       memcmp(ident, ELFMAG, SELFMAG) == 0;
    if (fd >= 0 && (!known || ident[EI_CLASS] != class)) {
        f->foreign = known; /* its registers are not known here */
        close(fd);
        return -1;
    }
    if (fd >= 0 && !f->opened)
        f->opened = kelf_read(&f->elf, fd);
    return fd;
}

/* Finds where an address lies in the file. */
static bool in_file(const struct ksegment *g, unsigned n, uint64_t at, uint64_t *offset)
{
    for (unsigned i = 0; i < n; i++)
        if (at - g[i].address < g[i].size) {
            *offset = at - g[i].address + g[i].offset;
            return true;
        }
    return false;
}

struct reading {
    struct kuser *u;
    struct file *f;
};

static void add_function(void *arg, const char *name, size_t len, uint64_t at, uint64_t size,
                         bool chosen)
{
    const struct reading *r = arg;
    struct file *f = r->f;
    uint64_t offset;
    if (!in_file(f->elf.segment, f->elf.nsegments, at, &offset) || f->n == FUNCTIONS_MOST ||
        f->names + len > NAMES_MOST)
        return;
    f->names += len;
    if (f->n == f->cap) {
        const size_t cap = f->cap ? f->cap * 2 : 256;
        void *p = et_rearray(f->f, cap, sizeof *f->f);
        r->u->oom |= p == NULL;
        if (p == NULL)
            return;
        f->f = p;
        f->cap = cap;
    }
    const char *copy = arena_strndup(&r->u->mem, name, len);
    r->u->oom |= copy == NULL;
    if (copy != NULL)
        f->f[f->n++] = (struct named){copy, at, size, chosen, {NULL, NULL}, NULL};
}

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names != 0 ? names : x->at < y->at ? -1 : x->at > y->at;
}

static void read_functions(struct kuser *u, struct file *f)
{
    if (f->read)
        return;
    f->read = true;
    const int fd = open_once(f);
    struct reading r = {u, f};
    size_t n = 0;
    f->missed = fd < 0;
    f->read = fd >= 0 || f->foreign;
    if (fd < 0)
        return;
    kelf_symbols(fd, add_function, &r);
    close(fd);
    const int debug = f->elf.stripped ? ksyms_open_debug(&f->elf) : -1;
    if (debug >= 0) {
        kelf_symbols(debug, add_function, &r);
        close(debug);
    }
    if (f->n > 0)
        qsort(f->f, f->n, sizeof *f->f, by_name);
    for (size_t i = 0; i < f->n; i++) {
        if (n == 0 || by_name(&f->f[n - 1], &f->f[i]) != 0)
            f->f[n++] = f->f[i];
    }
    f->n = n;
    /* One version of a name that is chosen makes all of them useless: it is the one that is called.
     */
    for (size_t i = 1; i < n; i++)
        f->f[i].chosen |= f->f[i - 1].chosen && strcmp(f->f[i - 1].name, f->f[i].name) == 0;
    for (size_t i = n; i > 1; i--)
        f->f[i - 2].chosen |= f->f[i - 1].chosen && strcmp(f->f[i - 1].name, f->f[i - 2].name) == 0;
    f->first = u->next_id;
    u->next_id += 2 * (uint32_t)n;
}

static bool is_module(const char *pattern, const struct file *f)
{
    return glob_match(pattern, f->module) || glob_match(pattern, f->stem) ||
           (f->is_program && glob_match(pattern, program));
}

/* -- places ------------------------------------------------------------------------------------ */

/* Makes a place, whose number the kernel gives to programs. */
static struct place *add_place(struct kuser *u, struct file *f, uint64_t at, const char *point,
                               const struct kprobe_arg *arg, size_t nargs)
{
    const struct kstep cookie = {.op = KSTEP_COOKIE},
                       own[] = {{.op = KSTEP_PID}, {.op = KSTEP_EQ, .n = (int64_t)f->of.pid}};
    struct place *p = arena_alloc(&u->mem, sizeof *p);
    struct kvalue *key = arena_alloc(&u->mem, sizeof *key);
    if (p == NULL || key == NULL) {
        u->oom = true;
        return NULL;
    }
    *key = value_of(u, &cookie, 1);
    *p = (struct place){.probe = {.prov = f->process->prov,
                                  .mod = f->module,
                                  .func = "",
                                  .name = "",
                                  .text = "",
                                  .attach = KATTACH_PLACE,
                                  .point = point,
                                  .key = key,
                                  .is = u->nplaces++,
                                  .file = &f->of},
                        .arg = arg,
                        .nargs = nargs};
    if (!in_file(f->elf.segment, f->elf.nsegments, at, &p->probe.offset))
        return NULL;
    /* The kernel tells apart memories, which a new process may share until it runs a program. */
    p->probe.when[p->probe.nwhen++] = value_of(u, own, 2);
    return p;
}

/* Reads the code of a function. Returns its bytes, *n of them, to be freed; NULL: says why not. */
static unsigned char *code_of(struct kuser *u, struct file *f, const struct named *fn, size_t *n)
{
    uint64_t offset;
    *n = fn->size < CODE_MOST ? (size_t)fn->size : CODE_MOST;
    if (fn->size == 0) {
        u->why = arena_printf(&u->mem, "%s does not tell the size of %s", f->module, fn->name);
        return NULL;
    }
    unsigned char *code = et_malloc(*n);
    const int fd = code != NULL ? open_once(f) : -1;
    const bool found = fd >= 0 && in_file(f->elf.segment, f->elf.nsegments, fn->at, &offset);
    const ssize_t got = found ? pread(fd, code, *n, (off_t)offset) : -1;
    if (fd >= 0)
        close(fd);
    if (got > 0) {
        *n = (size_t)got;
        return code;
    }
    et_free(code);
    return NULL;
}

/* Puts a place at the end of those of a probe. */
static void chain(struct place **first, struct place **last, struct place *p)
{
    if (*first == NULL)
        *first = p;
    else
        (*last)->probe.more = &p->probe;
    *last = p;
}

/* Adds a place for each instruction by which a function returns. A function whose code is not
 * understood to its end has none: what looks like an instruction could be data. */
static void add_returns(struct kuser *u, struct file *f, const struct named *fn,
                        struct place **first, struct place **last)
{
    size_t n, at = 0, found, count = 0;
    unsigned char *code = code_of(u, f, fn, &n);
    size_t *places = code != NULL ? et_rearray(NULL, n, sizeof *places) : NULL;
    while (places != NULL && (found = kinsn_return(code, n, &at)) != KINSN_NONE)
        places[count++] = found;
    if (code != NULL && (at != n || n != fn->size)) {
        u->why = arena_printf(&u->mem, "the code of %s is not understood to its end", fn->name);
        count = 0;
    } else if (code != NULL && count == 0) {
        u->why = arena_printf(
            &u->mem,
            "%s has no instruction that returns: it ends in a call of another function, or never",
            fn->name);
    }
    for (size_t i = 0; i < count; i++) {
        struct place *p = add_place(u, f, fn->at + places[i], f->process->back, u->at_return, 2);
        if (p != NULL)
            chain(first, last, p);
    }
    et_free(places);
    et_free(code);
}

/* Returns the probe of the functions of one name, of which f->f[i] is the first; NULL: there is
 * none. */
static struct place *function_probe(struct kuser *u, struct file *f, size_t i, bool back)
{
    struct place *first = NULL, *last = NULL;
    if (f->f[i].probe[back] != NULL)
        return f->f[i].probe[back];
    for (size_t k = i; k < f->n && strcmp(f->f[k].name, f->f[i].name) == 0; k++) {
        if (f->f[k].chosen)
            continue;
        if (back) {
            add_returns(u, f, &f->f[k], &first, &last);
            continue;
        }
        struct place *p = add_place(u, f, f->f[k].at, f->process->entry, u->at_entry, KMEM_ARGS);
        if (p == NULL)
            continue;
        p->probe.is_entry = strchr(f->f[k].name, '.') == NULL; /* "f.cold" is the inside of f */
        chain(&first, &last, p);
    }
    for (struct kprobe *p = first != NULL ? &first->probe : NULL; p != NULL;
         p = (struct kprobe *)(uintptr_t)p->more) {
        p->id = f->first + 2 * (uint32_t)i + back;
        p->func = f->f[i].name;
        p->name = back ? return_name : entry_name;
        p->text = back ? "it returns to its caller" : "a thread calls it";
    }
    f->f[i].probe[back] = first;
    return first;
}

/* Gives a probe an id of its own. */
static bool add_other(struct kuser *u, struct place *p)
{
    if (u->nother == u->capother) {
        const size_t cap = u->capother ? u->capother * 2 : 64;
        void *more = et_rearray(u->other, cap, sizeof(struct place *));
        u->oom |= more == NULL;
        if (more == NULL)
            return false;
        u->other = more;
        u->capother = cap;
    }
    p->probe.id = u->next_id++;
    u->other[u->nother++] = p;
    return true;
}

/* Returns whether an instruction begins at an offset of a function; says why if none does. */
static bool is_instruction(struct kuser *u, struct file *f, const struct named *fn, uint64_t at)
{
    uint64_t before = 0;
    bool begins = false;
    if (at >= fn->size) {
        u->why = fn->size == 0
                     ? arena_printf(&u->mem, "%s does not tell the size of %s: give no offset",
                                    f->module, fn->name)
                     : arena_printf(&u->mem, "%s has only %llx bytes (hexadecimal)", fn->name,
                                    (unsigned long long)fn->size);
        return false;
    }
    size_t n;
    unsigned char *code = code_of(u, f, fn, &n);
    begins = code != NULL && kinsn_begins(code, n, at, &before);
    if (code != NULL && !begins)
        u->why = arena_printf(
            &u->mem, "no instruction begins there; the last one before it does at %s:%s:%llx",
            f->module, fn->name, (unsigned long long)before);
    et_free(code);
    return begins;
}

/* Returns the probe at an offset of a function; NULL: there is none. */
static struct place *offset_probe(struct kuser *u, struct file *f, struct named *fn, uint64_t at)
{
    char name[24];
    snprintf(name, sizeof name, "%llx", (unsigned long long)at);
    for (struct place *p = fn->at_offset; p != NULL; p = p->next)
        if (strcmp(p->probe.name, name) == 0)
            return p;
    struct place *p = is_instruction(u, f, fn, at)
                          ? add_place(u, f, fn->at + at, f->process->entry, NULL, 0)
                          : NULL;
    const char *copy = p != NULL ? arena_strdup(&u->mem, name) : NULL;
    if (copy == NULL)
        return NULL;
    p->probe.func = fn->name;
    p->probe.name = copy;
    p->probe.text = "a thread comes to this instruction";
    if (!add_other(u, p))
        return NULL;
    p->next = fn->at_offset;
    fn->at_offset = p;
    return p;
}

/* -- probes that files define ------------------------------------------------------------------ */

/* Makes the name of a defined probe: "__" is "-". */
static const char *probe_name(struct kuser *u, const char *s)
{
    char *name = arena_strdup(&u->mem, s), *to = name;
    u->oom |= name == NULL;
    for (const char *from = name; from != NULL && *from != '\0'; from++) {
        const bool dash = from[0] == '_' && from[1] == '_';
        *to++ = dash ? '-' : *from;
        from += dash;
    }
    if (to != NULL)
        *to = '\0';
    return name;
}

static const struct kprobe_arg *note_args(struct kuser *u, const char *text, size_t *n)
{
    static const char *const names[KMEM_ARGS] = {"arg0", "arg1", "arg2", "arg3", "arg4",
                                                 "arg5", "arg6", "arg7", "arg8", "arg9"};
    struct kusdt_arg of[KMEM_ARGS];
    *n = kusdt_args(text, of, KMEM_ARGS, &u->mem, &u->oom);
    struct kprobe_arg *arg = arena_array(&u->mem, *n, sizeof *arg);
    if (arg == NULL)
        *n = 0;
    for (size_t i = 0; i < *n; i++)
        arg[i] = (struct kprobe_arg){names[i], "", of[i].type, NULL, of[i].value};
    return arg;
}

/* Returns the point of places that have their arguments in these places: some ways of having them
 * share a program. */
static const char *point_of(struct kuser *u, struct target *t, const char *args)
{
    uintptr_t way = (uintptr_t)hash_gets(&t->ways, args); /* no address, but its number, from 1 */
    if (way == 0) {
        const char *copy = arena_strdup(&u->mem, args);
        way = t->ways.count + 1;
        if (copy == NULL || hash_puts(&t->ways, copy, (void *)way) != 0) {
            u->oom = true;
            return NULL;
        }
    }
    const char *point =
        arena_printf(&u->mem, "places of process %llu (%llu)", (unsigned long long)t->pid,
                     (unsigned long long)(way / WAYS_AT_ONCE));
    u->oom |= point == NULL;
    return point;
}

static void add_note(void *arg, const struct kusdt_note *note)
{
    const struct reading *r = arg;
    struct kuser *u = r->u;
    struct file *f = r->f;
    const struct kfunction *fn = kfuncs_find(&f->elf.funcs, note->at);
    const char *func = fn != NULL ? f->elf.funcs.names.data + fn->name : "";
    size_t nargs;
    if (f->notes++ >= NOTES_MOST)
        return;
    const char *name = probe_name(u, note->name);
    if (name == NULL)
        return;
    struct defined *def = NULL;
    for (size_t i = f->ndefined; i > 0 && def == NULL; i--) {
        struct defined *q = &f->defined[i - 1];
        if (strcmp(q->name, name) == 0 && strcmp(q->prov, note->prov) == 0 &&
            strcmp(q->func, func) == 0)
            def = q;
    }
    const struct kprobe_arg *args = note_args(u, note->args, &nargs);
    const char *point = point_of(u, f->process, note->args);
    struct place *p = point != NULL ? add_place(u, f, note->at, point, args, nargs) : NULL;
    if (p == NULL || (note->semaphore != 0 &&
                      !in_file(f->elf.data, f->elf.ndata, note->semaphore, &p->probe.counter)))
        return;
    p->probe.func = func;
    p->probe.name = name;
    p->probe.text = "the program says so";
    if (def != NULL) {
        p->probe.id = def->place->probe.id;
        p->probe.prov = def->place->probe.prov;
        def->last->probe.more = &p->probe;
        def->last = p;
        return;
    }
    p->probe.prov = arena_printf(&u->mem, "%s%llu", note->prov, (unsigned long long)f->of.pid);
    const char *prov = arena_strdup(&u->mem, note->prov);
    if (f->ndefined == f->capdefined) {
        const size_t cap = f->capdefined ? f->capdefined * 2 : 16;
        void *more = et_rearray(f->defined, cap, sizeof *f->defined);
        u->oom |= more == NULL;
        if (more == NULL)
            return;
        f->defined = more;
        f->capdefined = cap;
    }
    u->oom |= prov == NULL || p->probe.prov == NULL;
    if (prov != NULL && p->probe.prov != NULL && add_other(u, p))
        f->defined[f->ndefined++] = (struct defined){prov, func, name, p, p};
}

static void take_address(void *arg, const unsigned char *bytes, size_t n, uint64_t address)
{
    (void)bytes;
    (void)n;
    *(uint64_t *)arg = address;
}

struct notes {
    struct reading r;
    uint64_t base;
};

static void take_notes(void *arg, const unsigned char *bytes, size_t n, uint64_t address)
{
    struct notes *of = arg;
    (void)address;
    kusdt_read(bytes, n, of->base, add_note, &of->r);
}

static void read_notes(struct kuser *u, struct file *f)
{
    if (f->noted)
        return;
    f->noted = true;
    const int fd = open_once(f);
    struct notes of = {{u, f}, 0};
    f->missed = fd < 0;
    f->noted = fd >= 0 || f->foreign;
    if (fd < 0)
        return;
    kelf_section(fd, ".stapsdt.base", take_address, &of.base);
    kelf_section(fd, ".note.stapsdt", take_notes, &of);
    close(fd);
}

/* -- matching ---------------------------------------------------------------------------------- */

/* A provider's name is a prefix and the number of a process. */
struct split {
    size_t prefix;
    uint64_t pid;
};

/* Returns the i-th way to split a name, those with the largest number first. */
static bool split(const char *prov, unsigned i, struct split *out)
{
    const size_t len = strlen(prov);
    size_t at = len;
    while (at > 0 && isdigit((unsigned char)prov[at - 1]) && len - at < 10)
        at--;
    for (; at > 0 && at < len; at++)
        if (prov[at] != '0' && i-- == 0) {
            *out = (struct split){at, strtoull(prov + at, NULL, 10)};
            return true;
        }
    return false;
}

static bool is_pid(const char *prov, const struct split *s)
{
    return s->prefix == 3 && memcmp(prov, "pid", 3) == 0;
}

bool kuser_names(const char *prov)
{
    struct split s;
    return split(prov, 0, &s) && (is_pid(prov, &s) || !probe_kernel_provider(prov));
}

static bool is_offset(const char *name, uint64_t *at)
{
    char *end;
    if (!isxdigit((unsigned char)name[0]) || strlen(name) > 16)
        return false;
    *at = strtoull(name, &end, 16);
    return *end == '\0';
}

static int match_functions(struct kuser *u, struct file *f, const struct probe_spec *spec,
                           kprobes_fn fn, void *arg)
{
    const bool ways[] = {glob_match(spec->name, entry_name), glob_match(spec->name, return_name)};
    uint64_t at = 0;
    const bool offset = is_offset(spec->name, &at);
    int err = 0;
    for (size_t i = 0; i < f->n && err == 0; i++) {
        struct named *of = &f->f[i];
        if ((i > 0 && strcmp(f->f[i - 1].name, of->name) == 0) || !glob_match(spec->func, of->name))
            continue;
        if (of->chosen)
            u->why = arena_printf(&u->mem,
                                  "%s stands for one of several functions, which is chosen when %s "
                                  "is loaded: name that one, if the file names it ('*%s*')",
                                  of->name, f->module, of->name);
        for (unsigned back = 0; back < 2 && err == 0; back++) {
            if (!ways[back])
                continue;
            const struct place *p = function_probe(u, f, i, back);
            if (p != NULL)
                err = fn(arg, &p->probe);
        }
        const struct place *p = offset && !of->chosen ? offset_probe(u, f, of, at) : NULL;
        if (p != NULL && err == 0)
            err = fn(arg, &p->probe);
    }
    return err;
}

static int match_defined(struct file *f, const char *prov, const struct probe_spec *spec,
                         size_t *found, kprobes_fn fn, void *arg)
{
    int err = 0;
    for (size_t i = 0; i < f->ndefined && err == 0; i++) {
        const struct defined *d = &f->defined[i];
        if (!glob_match(prov, d->prov) || !glob_match(spec->func, d->func) ||
            !glob_match(spec->name, d->name))
            continue;
        (*found)++;
        err = fn(arg, &d->place->probe);
    }
    return err;
}

/* `fresh`: only with files that are. */
static int match(struct kuser *u, const struct probe_spec *spec, bool fresh, kprobes_fn fn,
                 void *arg, struct diags *d)
{
    struct split s;
    size_t found = 0;
    int err = 0;
    u->why = NULL;
    for (unsigned i = 0; err == 0 && found == 0 && split(spec->prov, i, &s); i++) {
        const bool functions = is_pid(spec->prov, &s);
        const struct target *p = process_of(u, s.pid);
        const char *prov = arena_strndup(&u->mem, spec->prov, s.prefix);
        u->oom |= prov == NULL;
        for (struct file *f = p != NULL ? p->files : NULL; f != NULL && err == 0 && !u->oom;
             f = f->next) {
            if ((fresh && !f->fresh) || !is_module(spec->mod, f))
                continue;
            if (functions) {
                read_functions(u, f);
                err = match_functions(u, f, spec, fn, arg);
            } else {
                read_notes(u, f);
                err = match_defined(f, prov, spec, &found, fn, arg);
            }
        }
        if (functions)
            break;
    }
    return err == 0 && u->oom ? diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes")
                              : err;
}

int kuser_match(struct kuser *u, const struct probe_spec *spec, kprobes_fn fn, void *arg,
                struct diags *d)
{
    if (spec->id == 0)
        return match(u, spec, false, fn, arg, d);
    const struct kprobe *p = kuser_by_id(u, spec->id);
    return p != NULL ? fn(arg, p) : 0;
}

int kuser_match_new(struct kuser *u, const struct probe_spec *spec, kprobes_fn fn, void *arg,
                    struct diags *d)
{
    return spec->id == 0 ? match(u, spec, true, fn, arg, d) : 0;
}

bool kuser_any(const struct kuser *u)
{
    for (const struct target *p = u->processes; p != NULL; p = p->next)
        if (p->files != NULL)
            return true;
    return false;
}

bool kuser_look(struct kuser *u)
{
    size_t n = 0;
    for (struct target *p = u->processes; p != NULL; p = p->next) {
        if (p->files == NULL)
            continue;
        ksyms_changed(u->syms, p->pid);
        n += add_files(u, p, true);
    }
    return n > 0;
}

void kuser_settled(struct kuser *u)
{
    for (struct target *p = u->processes; p != NULL; p = p->next)
        for (struct file *f = p->files; f != NULL; f = f->next)
            f->fresh &= !f->opened && !f->foreign && f->missed;
}

const struct kprobe *kuser_by_id(const struct kuser *u, uint32_t id)
{
    size_t lo = 0, hi = u->nother;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (u->other[mid]->probe.id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < u->nother && u->other[lo]->probe.id == id)
        return &u->other[lo]->probe;
    for (const struct target *p = u->processes; p != NULL; p = p->next)
        for (const struct file *f = p->files; f != NULL; f = f->next)
            if (id - f->first < 2 * f->n) {
                const struct place *of = f->f[(id - f->first) / 2].probe[(id - f->first) % 2];
                return of != NULL ? &of->probe : NULL;
            }
    return NULL;
}

const struct kprobe_arg *kuser_args(const struct kprobe *p, size_t *n)
{
    const struct place *of = (const struct place *)(const void *)p; /* it begins with it */
    *n = of->nargs;
    return of->arg;
}

/* -- dynamic linkers --------------------------------------------------------------------------- */

/* Returns where the kernel has put the dynamic linker of a process; 0: it has none. */
static uint64_t linker_base(uint64_t pid)
{
    char path[64];
    Elf64_auxv_t v;
    uint64_t at = 0;
    snprintf(path, sizeof path, "/proc/%llu/auxv", (unsigned long long)pid);
    FILE *f = fopen(path, "re");
    while (f != NULL && at == 0 && fread(&v, sizeof v, 1, f) == 1 && v.a_type != AT_NULL)
        at = v.a_type == AT_BASE ? v.a_un.a_val : 0;
    if (f != NULL)
        fclose(f);
    return at;
}

static void take_symbol(void *arg, const char *name, size_t len, uint64_t at, uint64_t size,
                        bool chosen)
{
    static const char *const names[] = {"_dl_debug_state", "dl_debug_state"}; /* glibc, musl */
    (void)size;
    for (size_t i = 0; i < sizeof names / sizeof *names && !chosen; i++)
        if (len == strlen(names[i]) && memcmp(name, names[i], len) == 0)
            *(uint64_t *)arg = at;
}

int kuser_linkers(struct kuser *u, kuser_linker_fn *fn, void *arg)
{
    int err = 0;
    for (struct target *p = u->processes; p != NULL && err == 0; p = p->next) {
        const uint64_t base = linker_base(p->pid);
        struct file *linker = NULL; /* the first file from there on */
        for (struct file *f = p->files; f != NULL && base != 0; f = f->next)
            if (f->of.start >= base && (linker == NULL || f->of.start < linker->of.start))
                linker = f;
        const int fd = linker != NULL ? open_once(linker) : -1;
        uint64_t at = 0, offset;
        if (fd < 0)
            continue;
        kelf_symbols(fd, take_symbol, &at);
        if (at != 0 && in_file(linker->elf.segment, linker->elf.nsegments, at, &offset))
            err = fn(arg, &(struct kuser_linker){p->pid, fd, offset, u->first_namespace});
        close(fd);
    }
    return err;
}

/* -- why nothing matched ----------------------------------------------------------------------- */

/* Names among which the nearest one is looked for. */
struct near {
    const char **name;
    size_t n;
};

static void add_name(struct near *to, const char *name)
{
    if (to->n < NEAR_MOST && (to->n == 0 || strcmp(to->name[to->n - 1], name) != 0))
        to->name[to->n++] = name;
}

static void names_of(const struct target *p, const char *mod, bool functions, const char *prov,
                     const char *func, int part, struct near *to)
{
    for (const struct file *f = p->files; f != NULL; f = f->next) {
        if (part == 'm') {
            add_name(to, f->module);
            continue;
        }
        if (!is_module(mod, f))
            continue;
        for (size_t i = 0; functions && i < f->n; i++)
            add_name(to, f->f[i].name);
        for (size_t i = 0; !functions && i < f->ndefined; i++) {
            const struct defined *d = &f->defined[i];
            if (part == 'p')
                add_name(to, d->prov);
            else if (glob_match(prov, d->prov) && part == 'f')
                add_name(to, d->func);
            else if (glob_match(prov, d->prov) && glob_match(func, d->func))
                add_name(to, d->name);
        }
    }
}

static const char *nearest(struct kuser *u, const char *what, const char *name,
                           const struct near *among, const struct target *p, bool may_come)
{
    const char *near = glob_exact(name) ? diag_nearest(name, among->name, among->n) : NULL;
    const char *is = near != NULL ? arena_printf(&u->mem, "; did you mean '%s'?", near) : "";
    return arena_printf(&u->mem, "process %llu has no %s '%s'%s%s", (unsigned long long)p->pid,
                        what, name, is != NULL ? is : "",
                        may_come && near == NULL ? "; with -Z it may map that later" : "");
}

static bool is_there(uint64_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%llu", (unsigned long long)pid);
    return access(path, F_OK) == 0;
}

/* Returns a file that a module's name means and that is for another kind of machine, or NULL. */
static const struct file *foreign_file(const struct target *p, const char *mod)
{
    for (const struct file *f = p->files; f != NULL; f = f->next)
        if (f->foreign && is_module(mod, f))
            return f;
    return NULL;
}

const char *kuser_suggest(struct kuser *u, const struct probe_spec *spec)
{
    static const struct {
        int part;
        const char *what;
    } parts[] = {{'m', "module"}, {'p', "provider"}, {'f', "function"}, {'n', "probe"}};
    struct split s;
    if (spec->id != 0 || u->why != NULL || !split(spec->prov, 0, &s))
        return u->why;
    const bool functions = is_pid(spec->prov, &s);
    const struct target *p = process_of(u, s.pid);
    if (p == NULL)
        return arena_printf(&u->mem,
                            is_there(s.pid) ? "this user may not look into process %llu: run it as "
                                              "root, or with CAP_SYS_PTRACE"
                                            : "there is no process %llu",
                            (unsigned long long)s.pid);
    const char *prov = arena_strndup(&u->mem, spec->prov, s.prefix), *hint = NULL;
    const char *const text[] = {spec->mod, prov, spec->func, spec->name};
    struct near near = {et_rearray(NULL, NEAR_MOST, sizeof *near.name), 0};
    for (size_t i = 0;
         prov != NULL && near.name != NULL && hint == NULL && i < sizeof parts / sizeof *parts;
         i++) {
        bool matches = text[i][0] == '\0';
        if (functions && (parts[i].part == 'p' || parts[i].part == 'n'))
            continue;
        near.n = 0;
        names_of(p, spec->mod, functions, prov, spec->func, parts[i].part, &near);
        for (size_t k = 0; k < near.n && !matches; k++)
            matches = glob_match(text[i], near.name[k]);
        for (const struct file *f = p->files; parts[i].part == 'm' && f != NULL; f = f->next)
            matches |= is_module(spec->mod, f);
        const struct file *foreign = foreign_file(p, spec->mod);
        if (near.n == 0 && foreign != NULL && parts[i].part != 'm')
            hint = arena_printf(&u->mem,
                                "%s is for another kind of machine (32 bits): its functions and "
                                "probes cannot be traced",
                                foreign->module);
        else if (near.n == 0 && functions)
            hint = "the file tells of no functions: it was stripped";
        else if (near.n == 0 && parts[i].part == 'p')
            hint = arena_printf(&u->mem, "no file of process %llu that it names defines probes",
                                (unsigned long long)p->pid);
        else if (!matches)
            hint = nearest(u, parts[i].what, text[i], &near, p, parts[i].part == 'm');
    }
    et_free(near.name);
    return hint != NULL || !functions
               ? hint
               : "the name of a probe of functions is entry, return or an offset in hexadecimal";
}
