/* ksym.c - the symbols at addresses. See ksym.h.
 *
 * What /proc tells of another process is that process's to choose: paths are opened without
 * waiting, only if they are the file that is mapped, and tables have a most. */
#include "linux/ksym.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "linux/kelf.h"
#include "linux/kfinger.h"
#include "linux/kjit.h"

enum {
    MAPPINGS_MOST = 1 << 16, /* of a process */
    PERFMAP_MOST = 64 << 20,
    AGAIN_NS = 100000000, /* so often a process is looked at for mappings that are new */
    REST = 10             /* reading a VM's functions takes a tenth of the time at most */
};

/* A file that processes have mapped. */
struct object {
    struct object *next;
    dev_t dev;
    ino_t ino;
    const char *path;
    struct kelf elf;
    struct kcfi rows;
    bool rows_read;
};

struct mapping {
    uint64_t start, end, offset;
    dev_t dev;
    ino_t ino;
    const char *path;      /* "" if it has none */
    struct object *object; /* NULL: not looked for yet, or none */
    bool looked;
    bool first; /* of its file: set and used by ksyms_files */
};

struct space {
    struct space *next;
    uint64_t pid, started; /* clock ticks, as /proc/PID/stat has it */
    uint64_t read_at;
    struct mapping *mapping;
    size_t n, cap;
    struct kfuncs perf;
    long perf_size; /* bytes that were read of its perf map */
    struct kjit erlang;
    struct kbeam code;     /* of an Erlang VM's functions: where it lies, nothing else */
    uint64_t erlang_at;    /* when they were read; 0: never */
    uint64_t erlang_again; /* when they may be read again */
};

struct path {
    struct path *next;
    const char *text;
};

struct ksyms {
    struct arena arena;
    struct path *paths;
    struct kfuncs kernel;
    bool kernel_read;
    FILE *kallsyms; /* NULL: not open */
    struct object *objects;
    struct space *processes;
    const struct kbeam *beams; /* KMEM_BEAMS; NULL: nothing is known */
};

struct ksyms *ksyms_open(void)
{
    struct ksyms *s = et_calloc(1, sizeof *s);
    if (s != NULL)
        arena_init(&s->arena);
    return s;
}

static void object_free(struct object *o)
{
    kelf_free(&o->elf);
    kcfi_free(&o->rows);
}

void ksyms_close(struct ksyms *s)
{
    if (s == NULL)
        return;
    for (struct object *o = s->objects; o != NULL; o = o->next)
        object_free(o);
    for (struct space *p = s->processes; p != NULL; p = p->next) {
        et_free(p->mapping);
        kfuncs_free(&p->perf);
        kjit_free(&p->erlang);
    }
    if (s->kallsyms != NULL)
        fclose(s->kallsyms);
    kfuncs_free(&s->kernel);
    arena_free(&s->arena);
    et_free(s);
}

/* -- the kernel -------------------------------------------------------------------------------- */

static const char vmlinux[] = "vmlinux";

/* Whether it shows addresses is decided when it is opened. */
void ksyms_ready(struct ksyms *s)
{
    if (!s->kernel_read && s->kallsyms == NULL)
        s->kallsyms = fopen("/proc/kallsyms", "re");
}

/* "ffffffff81000000 T name" and perhaps "\t[module]". */
static void read_kernel(struct ksyms *s)
{
    char *line = NULL;
    size_t cap = 0;
    char module[64] = "";
    uint32_t owner = 0;
    ksyms_ready(s);
    FILE *f = s->kallsyms;
    s->kallsyms = NULL;
    kfuncs_free(&s->kernel);
    buf_add(&s->kernel.names, vmlinux, sizeof vmlinux);
    while (f != NULL && getline(&line, &cap, f) > 0) {
        char *p;
        const uint64_t at = strtoull(line, &p, 16);
        if (at == 0 || p[0] != ' ' || strchr("tTwW", p[1]) == NULL || p[1] == '\0' || p[2] != ' ')
            continue;
        const char *name = p + 3;
        const size_t len = strcspn(name, "\t\n");
        const char *in = name[len] == '\t' && name[len + 1] == '[' ? name + len + 2 : NULL;
        const size_t n_in = in != NULL ? strcspn(in, "]\n") : 0;
        if (in == NULL) {
            owner = 0;
        } else if (owner == 0 || n_in != strlen(module) || strncmp(in, module, n_in) != 0) {
            snprintf(module, sizeof module, "%.*s", (int)n_in, in);
            owner = (uint32_t)s->kernel.names.len;
            buf_add(&s->kernel.names, module, strlen(module) + 1);
        }
        if (!kfuncs_add(&s->kernel, at, 0, name, len, owner))
            break;
    }
    free(line);
    if (f != NULL)
        fclose(f);
    kfuncs_sort(&s->kernel);
}

static const struct kfuncs *kernel(struct ksyms *s)
{
    if (!s->kernel_read)
        read_kernel(s);
    s->kernel_read = true;
    return &s->kernel;
}

void ksyms_function(struct ksyms *s, const char *name, uint64_t *start, uint64_t *size)
{
    const struct kfuncs *k = kernel(s);
    for (size_t i = 0; i + 1 < k->n; i++)
        if (strcmp(k->names.data + k->f[i].name, name) == 0) {
            *start = k->f[i].at;
            *size = k->f[i + 1].at - k->f[i].at;
            return;
        }
}

static bool find_kernel(struct ksyms *s, uint64_t address, struct ksym *out)
{
    const struct kfunction *f = kfuncs_find(kernel(s), address);
    if (f == NULL)
        return false;
    *out = (struct ksym){.object = s->kernel.names.data + f->owner,
                         .function = s->kernel.names.data + f->name,
                         .offset = address - f->at,
                         .object_offset = address};
    return true;
}

/* -- files ------------------------------------------------------------------------------------- */

/* Opens a regular file without waiting for anybody. Returns a descriptor or -1. */
static int open_file(const char *path, struct stat *st)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Opens the very file that is mapped: by the mapping itself where that is allowed, else by its
 * path, as the process sees it. */
static int open_mapped(const struct space *p, const struct mapping *m)
{
    char path[PATH_MAX + 64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/map_files/%" PRIx64 "-%" PRIx64, p->pid,
             m->start, m->end);
    int fd = open_file(path, &st);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/root%s", p->pid, m->path);
    fd = m->path[0] == '/' ? open_file(path, &st) : -1;
    if (fd < 0 || st.st_ino == m->ino) /* the device differs where file systems are stacked */
        return fd;
    close(fd);
    return -1;
}

int ksyms_open_debug(const struct kelf *e)
{
    char path[128] = "/usr/lib/debug/.build-id/";
    size_t at = strlen(path);
    struct stat st;
    if (e->nbuild_id < 2)
        return -1;
    for (unsigned i = 0; i < e->nbuild_id; i++)
        at += (size_t)snprintf(path + at, sizeof path - at, i == 1 ? "/%02x" : "%02x",
                               e->build_id[i]);
    snprintf(path + at, sizeof path - at, ".debug");
    return open_file(path, &st);
}

/* Reads the functions of a stripped file from its debug file. Returns whether there is one. */
static bool read_debug(struct kelf *e)
{
    const int fd = ksyms_open_debug(e);
    struct kelf debug;
    if (fd < 0)
        return false;
    const bool good = kelf_read(&debug, fd) && !debug.stripped && debug.funcs.n > 0;
    if (good) {
        kfuncs_free(&e->funcs);
        e->funcs = debug.funcs;
    } else {
        kelf_free(&debug);
    }
    close(fd);
    return good;
}

static void read_rows(void *arg, const unsigned char *bytes, size_t n, uint64_t address)
{
    kcfi_read(arg, bytes, n, address);
}

static void rows_of(struct object *o, int fd)
{
    if (o->rows_read)
        return;
    o->rows_read = true;
    kelf_section(fd, ".eh_frame", read_rows, &o->rows);
}

/* The functions of a file that it does not name, by ascending addresses. */
struct nameless {
    const struct kfuncs *names;
    struct kfinger_function *func;
    size_t n;
};

static bool is_named(const struct kfuncs *names, uint64_t at)
{
    const struct kfunction *f = kfuncs_find(names, at);
    return f != NULL && (f->size > 0 || f->at == at); /* one without a size ends where another is */
}

static void recognize(void *arg, const unsigned char *bytes, size_t n, uint64_t address)
{
    const struct nameless *t = arg;
    const struct kfinger_code code = {bytes, n, address, t->names};
    kfinger_find(&code, t->func, t->n);
}

/* Adds the functions that a stripped file does not name: by the name that they are known by, else
 * by their place, as an address of the file. */
static void add_nameless(struct object *o, int fd)
{
    struct kfuncs *names = &o->elf.funcs;
    struct nameless t = {.names = names};
    rows_of(o, fd);
    t.func = et_calloc(o->rows.nfuncs + 1, sizeof *t.func);
    for (size_t i = 0; t.func != NULL && i < o->rows.nfuncs; i++) {
        const struct kextent *f = &o->rows.func[i];
        if (!is_named(names, f->at))
            t.func[t.n++] = (struct kfinger_function){f->at, f->size, KFINGER_NONE};
    }
    if (t.n > 0 && kfuncs_named(names, "enif_alloc")) /* an Erlang VM */
        kelf_section(fd, ".text", recognize, &t);
    for (size_t i = 0; i < t.n; i++) {
        const struct kfinger_function *f = &t.func[i];
        char place[24];
        snprintf(place, sizeof place, "0x%" PRIx32, f->at);
        const char *name = f->row != KFINGER_NONE ? kfinger_name(f->row) : place;
        if (!kfuncs_add(names, f->at, f->size, name, strlen(name), 0))
            break;
    }
    kfuncs_sort(names);
    et_free(t.func);
}

static struct object *object_of(struct ksyms *s, const struct space *p, const struct mapping *m)
{
    for (struct object *o = s->objects; o != NULL; o = o->next)
        if (o->ino == m->ino && o->dev == m->dev && strcmp(o->path, m->path) == 0)
            return o;
    const int fd = m->ino != 0 ? open_mapped(p, m) : -1;
    struct object *o = fd >= 0 ? arena_alloc(&s->arena, sizeof *o) : NULL;
    if (o != NULL) {
        *o = (struct object){.next = s->objects, .dev = m->dev, .ino = m->ino, .path = m->path};
        s->objects = o;
        if (kelf_read(&o->elf, fd) && o->elf.stripped && !read_debug(&o->elf))
            add_nameless(o, fd);
    }
    if (fd >= 0)
        close(fd);
    return o;
}

/* The same of a mapping, which keeps it. */
static struct object *object_in(struct ksyms *s, const struct space *p, struct mapping *m)
{
    if (!m->looked)
        m->object = object_of(s, p, m);
    m->looked = true;
    return m->object;
}

/* -- processes --------------------------------------------------------------------------------- */

/* Returns when a process was started, 0 if there is none. */
static uint64_t start_of(uint64_t pid)
{
    char path[64], text[1024];
    uint64_t at = 0;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *p = strrchr(text, ')'); /* the name before it may hold anything */
    for (int i = 0; p != NULL && i < 20; i++)
        p = strchr(p + 1, ' ');
    if (p != NULL)
        at = strtoull(p + 1, NULL, 10);
    return at + 1;
}

/* Returns the one copy of a path, NULL when memory is exhausted. */
static const char *path_of(struct ksyms *s, const char *text)
{
    for (struct path *p = s->paths; p != NULL; p = p->next)
        if (strcmp(p->text, text) == 0)
            return p->text;
    struct path *p = arena_alloc(&s->arena, sizeof *p);
    if (p == NULL || (p->text = arena_strdup(&s->arena, text)) == NULL)
        return NULL;
    p->next = s->paths;
    s->paths = p;
    return p->text;
}

/* "7f00-7f10 r-xp 00001000 08:01 1234    /path". Only what may run is kept. */
static void read_mappings(struct ksyms *s, struct space *p)
{
    char path[64];
    char *line = NULL;
    size_t cap = 0;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/maps", p->pid);
    FILE *f = fopen(path, "re");
    if (f == NULL) /* it has ended: what is known of it stays */
        return;
    p->n = 0;
    while (getline(&line, &cap, f) > 0 && p->n < MAPPINGS_MOST) {
        struct mapping m = {.path = ""};
        char may[5];
        unsigned major, minor;
        unsigned long ino;
        int at = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %lu %n", &m.start, &m.end,
                   may, &m.offset, &major, &minor, &ino, &at) < 7 ||
            may[2] != 'x' || m.start >= m.end)
            continue;
        m.dev = makedev(major, minor);
        m.ino = ino;
        line[strcspn(line, "\n")] = '\0';
        if (at > 0 && line[at] != '\0')
            m.path = path_of(s, line + at);
        if (p->n == p->cap) {
            const size_t more = p->cap ? p->cap * 2 : 32;
            void *to = et_rearray(p->mapping, more, sizeof *p->mapping);
            if (to == NULL)
                break;
            p->mapping = to;
            p->cap = more;
        }
        if (m.path != NULL)
            p->mapping[p->n++] = m;
    }
    free(line);
    fclose(f);
}

/* Returns the process's number in its own namespace. */
static uint64_t inner_pid(uint64_t pid)
{
    char path[64], line[256];
    uint64_t inner = pid;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/status", pid);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "NSpid:", 6) == 0) {
            const char *last = strrchr(line, '\t');
            inner = last != NULL ? strtoull(last, NULL, 10) : pid;
        }
    if (f != NULL)
        fclose(f);
    return inner;
}

/* Reads the perf map if it has grown: lines of "start size name". */
static void read_perf_map(struct space *p)
{
    char path[96], proc[64];
    struct stat st, of;
    char *line = NULL;
    size_t cap = 0;
    snprintf(proc, sizeof proc, "/proc/%" PRIu64, p->pid);
    snprintf(path, sizeof path, "%s/%s/tmp/perf-%" PRIu64 ".map", proc, "root",
             inner_pid(p->pid)); /* as the process sees it */
    const int fd = open_file(path, &st);
    FILE *f = fd >= 0 && stat(proc, &of) == 0 && (st.st_uid == of.st_uid || st.st_uid == 0) &&
                      st.st_size <= PERFMAP_MOST && st.st_size != p->perf_size
                  ? fdopen(fd, "r")
                  : NULL;
    if (f == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    kfuncs_free(&p->perf);
    p->perf_size = st.st_size;
    while (getline(&line, &cap, f) > 0) {
        char *at, *name;
        const uint64_t start = strtoull(line, &at, 16), size = strtoull(at, &name, 16);
        if (at == line || name == at || *name != ' ' || size == 0)
            continue;
        name++;
        if (!kfuncs_add(&p->perf, start, size, name, strcspn(name, "\n"), 0))
            break;
    }
    free(line);
    fclose(f);
    kfuncs_sort(&p->perf);
}

static struct space *process_of(struct ksyms *s, uint64_t pid)
{
    struct space *p = s->processes;
    while (p != NULL && p->pid != pid)
        p = p->next;
    if (p == NULL && (p = arena_alloc(&s->arena, sizeof *p)) != NULL) {
        *p = (struct space){.next = s->processes, .pid = pid};
        s->processes = p;
    }
    return p;
}

/* Looks at a process again, unless that was just done. Returns whether it has. */
static bool look_again(struct ksyms *s, struct space *p)
{
    const uint64_t now = monotonic_ns();
    if (p->read_at != 0 && now - p->read_at < AGAIN_NS)
        return false;
    p->read_at = now;
    const uint64_t started = start_of(p->pid);
    if (started == 0)
        return false;
    if (p->started != started) { /* another process of this number */
        p->n = 0;
        p->perf_size = 0;
        kfuncs_free(&p->perf);
        kjit_free(&p->erlang);
        p->erlang_at = 0;
    }
    p->started = started;
    read_mappings(s, p);
    read_perf_map(p);
    return true;
}

/* -- Erlang ------------------------------------------------------------------------------------ */

static const struct kbeam *beam_of(const struct ksyms *s, uint64_t pid)
{
    for (uint32_t i = 0; s->beams != NULL && i < KMEM_BEAMS; i++)
        if (s->beams[i].tgid == pid && s->beams[i].code_end != 0 && s->beams[i].atoms != 0)
            return &s->beams[i];
    return NULL;
}

/* Reads the functions of a VM again, unless it has just done so: many addresses may have none. */
static bool read_erlang(struct space *p, const struct kbeam *v)
{
    const uint64_t now = monotonic_ns();
    if (p->erlang_at != 0 && now < p->erlang_again)
        return false;
    p->erlang_at = now;
    p->code = *v;
    const bool got = kjit_read(p->pid, v, &p->erlang);
    const uint64_t took = monotonic_ns() - now;
    p->erlang_again = now + took + (took > AGAIN_NS / REST ? took * REST : AGAIN_NS);
    return got;
}

/* The VM's own pieces among the code that it has compiled, as OTP names them. */
static const char own_code[] = "erts_beamasm";

/* Returns whether an address lies in front of all functions of modules in its piece of memory, if
 * there are any. `f`: the nearest one before it, or NULL. */
static bool is_in_front(const struct space *p, const struct kfunction *f, uint64_t address)
{
    const struct kfuncs *all = &p->erlang.funcs;
    const size_t next = f != NULL ? (size_t)(f - all->f) + 1 : 0;
    uint64_t from = p->code.code, to = p->code.code_end;
    for (uint32_t i = 0; i < p->code.npieces; i++)
        if (address >= p->code.piece[i].from && address < p->code.piece[i].to) {
            from = p->code.piece[i].from;
            to = p->code.piece[i].to;
        }
    return (f == NULL || f->at < from) && next < all->n && all->f[next].at < to;
}

/* Returns the name of a piece of the VM's own code: it tells perf more than its own functions. */
static const char *own_name(const struct space *p, uint64_t address)
{
    const struct kfunction *f = kfuncs_find(&p->perf, address);
    const char *name = f != NULL ? p->perf.names.data + f->name : "";
    return name[0] == '$' ? name + 1 : own_code;
}

static bool find_erlang(struct ksyms *s, struct space *p, uint64_t address, struct ksym *out)
{
    const struct kbeam *v = beam_of(s, p->pid);
    if (v != NULL &&
        (p->erlang_at == 0 || kbeam_in_code(v, address) != kbeam_in_code(&p->code, address)))
        read_erlang(p, v);
    if (p->erlang_at == 0 || !kbeam_in_code(&p->code, address))
        return false;
    const struct kfunction *f = kfuncs_find(&p->erlang.funcs, address);
    if (v != NULL &&
        (f == NULL || !kjit_holds(p->pid, v, f, address) || kjit_changed(p->pid, &p->erlang, f)) &&
        read_erlang(p, v))
        f = kfuncs_find(&p->erlang.funcs, address);
    if (is_in_front(p, f, address)) {
        *out = (struct ksym){.object = "", .function = own_name(p, address), .erlang = true};
        return true;
    }
    if (f == NULL || (v != NULL && !kjit_holds(p->pid, v, f, address)))
        return false; /* the code is gone */
    *out = (struct ksym){.object = "",
                         .function = p->erlang.funcs.names.data + f->name,
                         .offset = address - f->at,
                         .object_offset = address - p->code.code,
                         .erlang = true};
    if (v != NULL)
        out->line = kjit_line(p->pid, &p->erlang, f, address, &out->file);
    return true;
}

void ksyms_beams(struct ksyms *s, const struct kbeam *table)
{
    if (s != NULL)
        s->beams = table;
}

void ksyms_look(struct ksyms *s)
{
    for (uint32_t i = 0; s != NULL && s->beams != NULL && i < KMEM_BEAMS; i++) {
        const struct kbeam *v = s->beams[i].tgid != 0 ? beam_of(s, s->beams[i].tgid) : NULL;
        struct space *p = v != NULL ? process_of(s, v->tgid) : NULL;
        if (p == NULL || p->erlang_at != 0)
            continue;
        look_again(s, p);
        read_erlang(p, v);
    }
}

static bool find_in(struct ksyms *s, struct space *p, uint64_t address, struct ksym *out)
{
    struct mapping *m = NULL;
    for (size_t i = 0; i < p->n && m == NULL; i++)
        if (address - p->mapping[i].start < p->mapping[i].end - p->mapping[i].start)
            m = &p->mapping[i];
    const struct kfunction *f = kfuncs_find(&p->perf, address);
    if (f != NULL) {
        *out = (struct ksym){.object = m != NULL && m->path[0] != '\0' ? m->path : "[jit]",
                             .function = p->perf.names.data + f->name,
                             .offset = address - f->at,
                             .object_offset = m != NULL ? address - m->start : 0};
        return true;
    }
    if (m == NULL)
        return false;
    const struct object *o = object_in(s, p, m);
    const uint64_t in_file = address - m->start + m->offset;
    *out =
        (struct ksym){.object = m->path[0] != '\0' ? m->path : "[anon]", .object_offset = in_file};
    for (unsigned i = 0; o != NULL && i < o->elf.nsegments; i++) {
        const struct kelf *e = &o->elf;
        const struct ksegment *g = &e->segment[i];
        if (in_file - g->offset >= g->size)
            continue;
        out->object_offset = in_file - g->offset + g->address;
        f = kfuncs_find(&e->funcs, out->object_offset);
        if (f != NULL) {
            out->function = e->funcs.names.data + f->name;
            out->offset = out->object_offset - f->at;
        }
    }
    return true;
}

/* -- frames ------------------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b)
{
    const struct mapping *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

bool ksyms_mapped(struct ksyms *s, uint64_t pid, ksyms_mapped_fn *use, void *arg)
{
    struct space *p = process_of(s, pid);
    if (p == NULL)
        return false;
    look_again(s, p);
    if (p->n > 0) /* as the kernel lists them, but that is not ours to say */
        qsort(p->mapping, p->n, sizeof *p->mapping, by_start);
    for (size_t i = 0; i < p->n; i++) {
        struct mapping *m = &p->mapping[i];
        struct object *o = object_in(s, p, m);
        const uint64_t in_file = m->offset;
        if (o != NULL && !o->rows_read) {
            const int fd = open_mapped(p, m);
            if (fd >= 0) {
                rows_of(o, fd);
                close(fd);
            }
            o->rows_read = true;
        }
        for (unsigned k = 0; o != NULL && k < o->elf.nsegments; k++) {
            const struct ksegment *g = &o->elf.segment[k];
            if (in_file - g->offset >= g->size && g->offset - in_file >= m->end - m->start)
                continue;
            use(arg,
                &(struct ksyms_mapped){m->start, m->end,
                                       m->start - (in_file - g->offset + g->address), &o->rows});
            break;
        }
    }
    return p->started != 0;
}

/* -- files that are run ------------------------------------------------------------------------ */

static int by_file(const void *a, const void *b)
{
    const struct mapping *x = a, *y = b;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return x->ino != y->ino ? (x->ino < y->ino ? -1 : 1) : by_start(a, b);
}

/* A process may have very many of them: none is compared with all others. */
bool ksyms_files(struct ksyms *s, uint64_t pid, ksyms_file_fn *use, void *arg)
{
    struct space *p = process_of(s, pid);
    if (p == NULL)
        return false;
    look_again(s, p);
    if (p->n > 0)
        qsort(p->mapping, p->n, sizeof *p->mapping, by_file);
    for (size_t i = 0; i < p->n; i++) {
        struct mapping *m = &p->mapping[i];
        m->first = m->ino != 0 && (i == 0 || m[-1].ino != m->ino || m[-1].dev != m->dev);
    }
    if (p->n > 0)
        qsort(p->mapping, p->n, sizeof *p->mapping, by_start);
    for (size_t i = 0; i < p->n; i++) {
        const struct mapping *m = &p->mapping[i];
        if (m->first)
            use(arg, &(struct ksyms_file){pid, m->start, m->end, m->dev, m->ino, m->path});
    }
    return p->n > 0;
}

void ksyms_changed(struct ksyms *s, uint64_t pid)
{
    for (struct space *p = s->processes; p != NULL; p = p->next)
        if (p->pid == pid)
            p->read_at = 0;
}

int ksyms_open_file(const struct ksyms_file *f)
{
    return open_mapped(
        &(struct space){.pid = f->pid},
        &(struct mapping){.start = f->start, .end = f->end, .ino = f->ino, .path = f->path});
}

/* -- addresses --------------------------------------------------------------------------------- */

bool ksyms_find(struct ksyms *s, uint64_t pid, uint64_t address, struct ksym *out)
{
    if (pid == 0)
        return find_kernel(s, address, out);
    struct space *p = process_of(s, pid);
    if (p == NULL)
        return false;
    if (p->read_at == 0)
        look_again(s, p);
    if (find_erlang(s, p, address, out))
        return true;
    const bool found = find_in(s, p, address, out);
    return (found && out->function != NULL) || !look_again(s, p) ? found
                                                                 : find_in(s, p, address, out);
}
