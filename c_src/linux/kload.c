/* kload.c - maps and programs, by libbpf. See kload.h. */
#include "linux/kload.h"

#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "linux/kfield.h"
#include "linux/knamespace.h"
#include "linux/runtime.h"
#include "util/buftext.h"
#include "util/capabilities.h"
#include "util/embedded.h"

enum { KLOAD_LOG_BYTES = 1 << 24 };

static const char no_tracing[] = "could not enable tracing: ";

/* The functions of libbpf that are used. */
#define FUNCTIONS(X)                                                                               \
    X(bpf_map_create)                                                                              \
    X(bpf_prog_load)                                                                               \
    X(bpf_btf_load)                                                                                \
    X(bpf_prog_test_run_opts)                                                                      \
    X(bpf_raw_tracepoint_open)                                                                     \
    X(bpf_link_create)                                                                             \
    X(bpf_iter_create)

static struct {
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
#undef X
    bool tried, there;
} lib;

static bool lib_open(void)
{
    if (lib.tried)
        return lib.there;
    lib.tried = true;
    void *h = dlopen("libbpf.so.1", RTLD_NOW | RTLD_LOCAL);
    bool ok = h != NULL;
#define X(name)                                                                                    \
    if (ok) {                                                                                      \
        void *f = dlsym(h, #name);                                                                 \
        memcpy(&lib.name, &f, sizeof f);                                                           \
        ok = f != NULL;                                                                            \
    }
    FUNCTIONS(X)
#undef X
    lib.there = ok;
    return ok;
}

int kload_possible(struct diags *d)
{
    return embedded_static()
               ? diag_error(d, ET_EUNSUP, NULL, "KERNEL_STATIC",
                            "use an installed one (make install)",
                            "%sthe static erltrace traces nodes only: it cannot load libbpf and "
                            "libelf, which the kernel tier needs",
                            no_tracing)
               : 0;
}

/* Returns which of the capabilities that programs need this process lacks. CAP_SYS_ADMIN stands
 * for both. */
static uint64_t missing_capabilities(void)
{
    const uint64_t needed = UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_PERFMON,
                   have = capabilities_effective();
    return (have >> CAP_SYS_ADMIN & 1) != 0 ? 0 : needed & ~have;
}

static int no_privilege(uint64_t lacking, struct diags *d)
{
    struct buf names = BUF_INIT;
    capabilities_names(lacking, &names);
    const int err =
        diag_error(d, ET_EUNSUP, NULL, "KERNEL_PRIVILEGE",
                   "run it as root, or with the capabilities CAP_BPF and CAP_PERFMON "
                   "(setcap cap_bpf,cap_perfmon+ep, or systemd's AmbientCapabilities)",
                   "%sprograms in the kernel need a privilege that this process lacks: %s",
                   no_tracing, buf_str(&names));
    buf_free(&names);
    errno = EPERM;
    return err;
}

int kload_ready(struct diags *d)
{
    int err = kload_possible(d);
    if (err)
        return err;
    if (runtime_object_end - runtime_object == 0)
        return diag_error(d, ET_EUNSUP, NULL, "KERNEL_BUILD", "build with clang installed",
                          "%sthis build has no programs for the kernel", no_tracing);
    if (!lib_open())
        return diag_error(d, ET_EUNSUP, NULL, "KERNEL_LIBBPF",
                          "install libbpf1 (apt install libbpf1)",
                          "%sthe kernel tier needs libbpf.so.1", no_tracing);
    const uint64_t lacking = missing_capabilities();
    if (lacking != 0)
        return no_privilege(lacking, d);
    union bpf_attr a = {
        .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};
    long fd = syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof a);
    if (fd >= 0) {
        close((int)fd);
        return 0;
    }
    if (errno == EPERM || errno == EACCES)
        return diag_error(
            d, ET_EUNSUP, NULL, "KERNEL_PRIVILEGE",
            "a container's filter of system calls refuses bpf(), it is root of a user "
            "namespace only, or the kernel is locked down: run it on the host",
            "%sthe kernel takes no programs, though this process has the "
            "capabilities for them: %s",
            no_tracing, strerror(errno));
    return diag_error(d, ET_EUNSUP, NULL, "KERNEL_BPF",
                      errno == ENOSYS ? "the kernel was built without CONFIG_BPF_SYSCALL" : NULL,
                      "%sthe kernel takes no programs: %s", no_tracing, strerror(errno));
}

unsigned kload_linux(void)
{
    struct utsname u;
    unsigned major, minor;
    if (uname(&u) != 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
        return 0;
    return 1000 * major + minor;
}

int kload_map(size_t n, void **at, struct diags *d)
{
    LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);
    struct rlimit old, all = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_MEMLOCK, &old);
    int fd = n <= UINT32_MAX
                 ? lib.bpf_map_create(BPF_MAP_TYPE_ARRAY, "erltrace", 4, (uint32_t)n, 1, &o)
                 : -E2BIG;
    if (fd == -EPERM && setrlimit(RLIMIT_MEMLOCK, &all) == 0) { /* kernels before 5.11 */
        fd = lib.bpf_map_create(BPF_MAP_TYPE_ARRAY, "erltrace", 4, (uint32_t)n, 1, &o);
        setrlimit(RLIMIT_MEMLOCK, &old);
    }
    if (fd < 0)
        return diag_error(d, fd == -ENOMEM || fd == -E2BIG ? ET_ENOMEM : ET_EUNSUP, NULL, "",
                          "give smaller bufsize and aggsize",
                          "%sthe kernel gives no map of %zu MiB: %s", no_tracing, (n >> 20) + 1,
                          strerror(-fd));
    *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*at != MAP_FAILED)
        return fd;
    close(fd);
    return diag_error(d, ET_ENOMEM, NULL, "", NULL, "%sout of memory for buffers", no_tracing);
}

/* -- types: they tell the verifier that functions take and give numbers -------------------------
 */

enum { T_U64 = 1, T_VOID_POINTER, T_CONTEXT, T_PROTO /* with 0 to 5 numbers */ };

static void put_type(struct buf *b, uint32_t name, unsigned kind, unsigned vlen, uint32_t size)
{
    const struct btf_type t = {name, kind << 24 | vlen, {size}};
    buf_add(b, &t, sizeof t);
}

static uint32_t put_name(struct buf *names, const char *s)
{
    const uint32_t at = (uint32_t)names->len;
    buf_add(names, s, strlen(s) + 1);
    return at;
}

/* Returns the descriptor of the program's types; the functions' numbers are T_PROTO + 6 and so on.
 */
static int types(const struct kcode *c)
{
    struct buf t = {0}, names = {0}, all = {0};
    put_name(&names, "");
    put_type(&t, put_name(&names, "u64"), BTF_KIND_INT, 0, 8);
    const uint32_t bits = 64;
    buf_add(&t, &bits, 4);
    put_type(&t, 0, BTF_KIND_PTR, 0, 0);
    put_type(&t, 0, BTF_KIND_FUNC_PROTO, 1, T_U64);
    const struct btf_param context = {put_name(&names, "ctx"), T_VOID_POINTER};
    buf_add(&t, &context, sizeof context);
    const struct btf_param number = {put_name(&names, "n"), T_U64};
    for (unsigned n = 0; n <= 5; n++) {
        put_type(&t, 0, BTF_KIND_FUNC_PROTO, n, T_U64);
        for (unsigned i = 0; i < n; i++)
            buf_add(&t, &number, sizeof number);
    }
    for (uint32_t i = 0; i < c->nfuncs; i++)
        put_type(&t, put_name(&names, c->func[i].name), BTF_KIND_FUNC,
                 c->func[i].main || c->func[i].inner ? BTF_FUNC_STATIC : BTF_FUNC_GLOBAL,
                 c->func[i].main ? T_CONTEXT : (uint32_t)T_PROTO + c->func[i].nargs);
    const struct btf_header h = {.magic = BTF_MAGIC,
                                 .version = BTF_VERSION,
                                 .hdr_len = sizeof h,
                                 .type_len = (uint32_t)t.len,
                                 .str_off = (uint32_t)t.len,
                                 .str_len = (uint32_t)names.len};
    buf_add(&all, &h, sizeof h);
    buf_add(&all, t.data, t.len);
    buf_add(&all, names.data, names.len);
    const int fd =
        all.oom || t.oom || names.oom ? -ENOMEM : lib.bpf_btf_load(all.data, all.len, NULL);
    buf_free(&t);
    buf_free(&names);
    buf_free(&all);
    return fd;
}

/* Loads a program once more for what the verifier says. The environment's ERLTRACE_VERIFIER_LOG
 * names a file that this is appended to. Returns the text, or NULL. */
static char *verifier_log(const struct kcode *c, enum bpf_prog_type type,
                          struct bpf_prog_load_opts *o, const char *name, uint32_t level)
{
    char *log = et_malloc(KLOAD_LOG_BYTES);
    if (log == NULL)
        return NULL;
    log[0] = '\0';
    o->log_buf = log;
    o->log_size = KLOAD_LOG_BYTES;
    o->log_level = level;
    const int fd = lib.bpf_prog_load(type, "erltrace", "GPL", c->insn, c->ninsns, o);
    if (fd >= 0)
        close(fd);
    const char *to = getenv("ERLTRACE_VERIFIER_LOG");
    FILE *f = to != NULL ? fopen(to, "a") : NULL;
    if (f != NULL) {
        fprintf(f, "%s: %u instructions, %u functions\n%s", name, c->ninsns, c->nfuncs, log);
        fclose(f);
    }
    return log;
}

static void accepted(const struct kcode *c, enum bpf_prog_type type, struct bpf_prog_load_opts *o,
                     const char *name)
{
    enum { STATISTICS = 4 };
    if (getenv("ERLTRACE_VERIFIER_LOG") != NULL)
        et_free(verifier_log(c, type, o, name, STATISTICS));
}

/* Reports that the verifier refused a program, which is a fault of ours. */
static int refused(const struct kcode *c, enum bpf_prog_type type, struct bpf_prog_load_opts *o,
                   const char *name, int why, struct diags *d)
{
    char *log = verifier_log(c, type, o, name, 1);
    const char *last = "";
    if (log != NULL) /* the line before the summary says why */
        for (char *p = strtok(log, "\n"); p != NULL; p = strtok(NULL, "\n"))
            if (strncmp(p, "processed ", 10) != 0)
                last = p;
    const char *helper = strstr(last, "cannot use helper ");
    if (helper != NULL)
        diag_error(d, ET_EUNSUP, NULL, "KERNEL_LACKS",
                   "an older kernel, or one that is locked down, does not",
                   "%sthis kernel does not let programs use %s", no_tracing,
                   helper + strlen("cannot use helper "));
    else
        diag_error(d, ET_EUNSUP, NULL, "KERNEL_VERIFIER", "please report it, with the script",
                   "%sthe kernel refused the program of %s: %s (%s)", no_tracing, name, last,
                   strerror(-why));
    et_free(log);
    errno = -why;
    return ET_EUNSUP;
}

static const struct kfunc *function_at(const struct kcode *c, int64_t at)
{
    for (uint32_t i = 0; i < c->nfuncs; i++)
        if (c->func[i].start == at)
            return &c->func[i];
    return NULL;
}

/* Keeps a program for the corpus of tests: appends it to the file that the environment's
 * ERLTRACE_PROGRAMS names. Each instruction is its 16 digits; a call, and the address of a
 * function, have the function's name behind them instead of its distance, and the map's descriptor
 * is 0. */
static void keep_program(const struct kcode *c, enum kload_kind kind, const char *name)
{
    const char *to = getenv("ERLTRACE_PROGRAMS");
    const int fd =
        to != NULL ? open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    struct buf b = {0};
    if (fd < 0)
        return;
    buf_printf(&b, "program %d %llu %s\n", kind, (unsigned long long)c->consts[KCONST_SIZE], name);
    for (uint32_t i = 0, f = 0; i < c->ninsns; i++) {
        struct bpf_insn in = c->insn[i];
        const bool calls = in.src_reg == BPF_PSEUDO_CALL && in.code == (BPF_JMP | BPF_CALL),
                   names = in.src_reg == BPF_PSEUDO_FUNC && in.code == (BPF_LD | BPF_DW | BPF_IMM);
        const struct kfunc *of = calls || names ? function_at(c, (int64_t)i + in.imm + 1) : NULL;
        if (f < c->nfuncs && c->func[f].start == i) {
            buf_printf(&b, "function %u %d %d %s\n", c->func[f].nargs, c->func[f].main,
                       c->func[f].inner, c->func[f].name);
            f++;
        }
        if (of != NULL ||
            (in.src_reg == BPF_PSEUDO_MAP_VALUE && in.code == (BPF_LD | BPF_DW | BPF_IMM)))
            in.imm = 0;
        uint64_t word;
        memcpy(&word, &in, sizeof word);
        buf_printf(&b, of != NULL ? "%016llx %s\n" : "%016llx\n", (unsigned long long)word,
                   of != NULL ? of->name : "");
    }
    if (!b.oom && write(fd, b.data, b.len) < 0)
        b.len = 0;
    buf_free(&b);
    close(fd);
}

int kload_program(const struct kcode *c, enum kload_kind kind, const char *name, struct diags *d)
{
    const enum bpf_prog_type type = kind == KLOAD_PERF  ? BPF_PROG_TYPE_PERF_EVENT
                                    : kind == KLOAD_RAW ? BPF_PROG_TYPE_RAW_TRACEPOINT
                                                        : BPF_PROG_TYPE_KPROBE;
    struct bpf_func_info *info = et_calloc(c->nfuncs, sizeof *info);
    int btf = info != NULL ? types(c) : -ENOMEM;
    if (btf < 0) {
        et_free(info);
        return diag_error(d, ET_EUNSUP, NULL, "", NULL, "%sthe kernel takes no types: %s",
                          no_tracing, strerror(-btf));
    }
    for (uint32_t i = 0; i < c->nfuncs; i++)
        info[i] = (struct bpf_func_info){c->func[i].start, T_PROTO + 6 + i};
    LIBBPF_OPTS(bpf_prog_load_opts, o, .prog_btf_fd = (uint32_t)btf, .func_info = info,
                .func_info_cnt = c->nfuncs, .func_info_rec_size = sizeof *info,
                .expected_attach_type =
                    (enum bpf_attach_type)(kind == KLOAD_PLACES ? KLOAD_TYPE_PLACES : 0));
    int fd = lib.bpf_prog_load(type, "erltrace", "GPL", c->insn, c->ninsns, &o);
    if (fd == -EAGAIN) /* as the kernel asks for */
        fd = lib.bpf_prog_load(type, "erltrace", "GPL", c->insn, c->ninsns, &o);
    if (fd >= 0)
        accepted(c, type, &o, name);
    if (fd >= 0)
        keep_program(c, kind, name);
    if (fd < 0)
        fd = refused(c, type, &o, name, fd, d);
    close(btf);
    et_free(info);
    return fd;
}

int kload_run(int program, const uint64_t *args, size_t n)
{
    LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = (uint32_t)(n * sizeof *args));
    return lib.bpf_prog_test_run_opts(program, &o) == 0 ? 0 : -1;
}

int kload_raw(int program, const char *tracepoint, struct diags *d)
{
    int fd = lib.bpf_raw_tracepoint_open(tracepoint, program);
    return fd >= 0 ? fd
                   : diag_error(d, ET_EUNSUP, NULL, "", NULL, "%sthe tracepoint %s: %s", no_tracing,
                                tracepoint, strerror(-fd));
}

int kload_clock(int program, unsigned cpu, uint64_t period, struct diags *d)
{
    struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
                                .size = sizeof a,
                                .config = PERF_COUNT_SW_CPU_CLOCK,
                                .sample_period = period};
    int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0 &&
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
        return fd;
    const int why = errno;
    if (fd >= 0)
        close(fd);
    return diag_error(d, ET_EUNSUP, NULL, "", NULL, "%sa clock of CPU %u: %s", no_tracing, cpu,
                      strerror(why));
}

void kload_period(int clock, uint64_t period)
{
    ioctl(clock, PERF_EVENT_IOC_PERIOD, &period); /* what fails keeps the one that it has */
}

/* -- threads ----------------------------------------------------------------------------------- */

/* Returns where a member of struct task_struct lies, in bytes. */
static bool task_member(const struct kbtf *types, const char *path, uint64_t *at)
{
    struct kbtf_member m;
    const bool has = kbtf_path(types, kbtf_find(types, KBTF_STRUCT, "task_struct"), path, &m);
    *at = has ? m.bit / 8 : 0;
    return has;
}

/* Where the program that tells of threads finds what it tells, in bytes. */
struct telling {
    uint64_t tid, tgid, tls;       /* of struct task_struct */
    struct kfield thread, process; /* struct pid: its own one, and that of its process */
    uint64_t consts[KCONSTS];      /* knamespace.h */
};

enum { TELL_TASK = 6, TELL_FP = 10, TELL_SIZE = sizeof(struct kload_task) };

/* Emits: r0 = the word at an offset of the address in a register; 0 where there is none. */
static void tell_word(struct kcode *c, unsigned of, uint64_t off)
{
    enum { R0, R1, R2, R3, READ_KERNEL = 113, AT = -TELL_SIZE - 8 };
    kcode_alu(c, BPF_MOV, R3, of);
    kcode_alu_imm(c, BPF_ADD, R3, (int32_t)off);
    kcode_alu(c, BPF_MOV, R1, TELL_FP);
    kcode_alu_imm(c, BPF_ADD, R1, AT);
    kcode_store_imm(c, BPF_DW, R1, 0, 0);
    kcode_set(c, R2, 8);
    kcode_helper(c, READ_KERNEL);
    kcode_load(c, BPF_DW, R0, TELL_FP, AT);
}

/* Emits: r1 = a number of the thread, which it has at an offset itself, or by its struct pid. */
static void tell_number(struct kcode *c, const struct telling *t, uint64_t at,
                        const struct kfield *pid)
{
    enum { R0, R1 };
    if (t->consts[KCONST_NAMESPACE] == 0) {
        kcode_load(c, BPF_W, R1, TELL_TASK, (int)at);
        return;
    }
    for (unsigned i = 0; i < pid->n; i++)
        tell_word(c, i == 0 ? TELL_TASK : R0, pid->off[i]);
    kcode_alu(c, BPF_MOV, R1, R0);
    kcode_call(c, "rt_number");
    kcode_alu(c, BPF_MOV, R1, R0);
}

/* Makes the program that the kernel calls for each thread: it writes a struct kload_task. */
static void tell_task(struct kcode *c, const struct telling *t)
{
    enum { R0, R1, R2, R3, SEQ = 7, SEQ_WRITE = 127 };
    enum { META = 0, TASK = 8 };
    kcode_function(c, "task", 1, true);
    const uint32_t none = kcode_label(c);
    kcode_load(c, BPF_DW, TELL_TASK, R1, TASK);
    kcode_jump_imm(c, BPF_JEQ, TELL_TASK, 0, none); /* after the last one */
    kcode_load(c, BPF_DW, SEQ, R1, META);
    kcode_load(c, BPF_DW, SEQ, SEQ, 0); /* meta->seq */
    tell_number(c, t, t->tid, &t->thread);
    kcode_store(c, BPF_W, TELL_FP, -TELL_SIZE + (int)offsetof(struct kload_task, tid), R1);
    tell_number(c, t, t->tgid, &t->process);
    kcode_store(c, BPF_W, TELL_FP, -TELL_SIZE + (int)offsetof(struct kload_task, tgid), R1);
    kcode_load(c, BPF_DW, R1, TELL_TASK, (int)t->tls);
    kcode_store(c, BPF_DW, TELL_FP, -TELL_SIZE + (int)offsetof(struct kload_task, tls), R1);
    kcode_alu(c, BPF_MOV, R1, SEQ);
    kcode_alu(c, BPF_MOV, R2, TELL_FP);
    kcode_alu_imm(c, BPF_ADD, R2, -TELL_SIZE);
    kcode_set(c, R3, TELL_SIZE);
    kcode_helper(c, SEQ_WRITE);
    kcode_place(c, none);
    kcode_set(c, R0, 0);
    kcode_exit(c);
}

/* Finds what it reads. */
static int find_telling(struct telling *t, const struct kbtf *types, struct diags *d)
{
    if (!task_member(types, "pid", &t->tid) || !task_member(types, "tgid", &t->tgid) ||
        !(task_member(types, "thread.fsbase", &t->tls) ||
          task_member(types, "thread.uw.tp_value", &t->tls)))
        return diag_error(d, ET_EUNSUP, NULL, "KERNEL_ERLANG", NULL,
                          "%serlpid: this kernel does not tell where threads have their own memory",
                          no_tracing);
    int err = knamespace_fill(t->consts, types, d);
    if (err != 0 || t->consts[KCONST_NAMESPACE] == 0)
        return err;
    struct kfield field[KFIELDS];
    kfields_fill(field, types);
    t->thread = field[KFIELD_THREAD_ID];
    t->process = field[KFIELD_PROCESS_ID];
    return t->thread.n > 0 && t->process.n > 0
               ? 0
               : diag_error(d, ET_EUNSUP, NULL, "KERNEL_ERLANG", NULL,
                            "%serlpid: this kernel does not tell which numbers threads have",
                            no_tracing);
}

int kload_tasks(const struct kbtf *types, uint64_t *tls, struct diags *d)
{
    struct telling t = {.tid = 0};
    const uint32_t iter = kbtf_find(types, KBTF_FUNC, "bpf_iter_task");
    int err = kload_ready(d);
    if (err == 0 && iter == 0)
        err = diag_error(d, ET_EUNSUP, NULL, "KERNEL_ERLANG", NULL,
                         "%serlpid: this kernel does not list its threads", no_tracing);
    if (err == 0)
        err = find_telling(&t, types, d);
    if (err != 0)
        return err;
    *tls = t.tls;
    struct kcode c;
    kcode_init(&c, -1, t.consts);
    tell_task(&c, &t);
    LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_TRACE_ITER,
                .attach_btf_id = iter);
    int fd = -ENOMEM;
    if (kcode_link(&c, d))
        fd = lib.bpf_prog_load(BPF_PROG_TYPE_TRACING, "erltrace", "GPL", c.insn, c.ninsns, &o);
    kcode_free(&c);
    const int link = fd >= 0 ? lib.bpf_link_create(fd, 0, BPF_TRACE_ITER, NULL) : fd;
    if (fd >= 0)
        close(fd);
    return link >= 0 ? link
                     : diag_error(d, ET_EUNSUP, NULL, "KERNEL_ERLANG", NULL,
                                  "%serlpid: the kernel does not list its threads: %s", no_tracing,
                                  strerror(-link));
}

size_t kload_read_tasks(int tasks, struct kload_task **task, size_t *cap)
{
    const int fd = lib.bpf_iter_create(tasks);
    size_t used = 0;
    ssize_t n = fd < 0 ? 0 : 1;
    while (n > 0) {
        const size_t size = *cap * sizeof **task;
        if (size - used < sizeof **task) {
            const size_t more = *cap ? *cap * 2 : 1024;
            struct kload_task *p = et_realloc(*task, more * sizeof *p);
            if (p == NULL)
                break;
            *task = p;
            *cap = more;
            continue;
        }
        n = read(fd, (unsigned char *)*task + used, size - used);
        used += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return used / sizeof **task;
}
