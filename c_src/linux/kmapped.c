/* kmapped.c - see kmapped.h.
 *
 * The programs have a ring buffer in common, of which only the position matters. A process is
 * signalled before the ring is written: whoever sees the ring's position has the signal before it.
 */
#include "linux/kmapped.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "linux/kinsn.h"
#include "linux/kload.h"
#include "linux/kplace.h"
#include "util/capabilities.h"

enum { PROCESSES = 16, RING = 4096 /* bytes, of a page at least */ };

struct kmapped {
    int ring;
    size_t page;
    uint64_t *taken;      /* a page: the reader's position */
    const uint64_t *told; /* a page, then the ring: the writers' position */
    struct one {
        uint64_t pid;
        int link, process; /* a descriptor of the process; -1: it does not stand still */
    } of[PROCESSES];
    unsigned n;
    bool stopped; /* one may stand still */
};

static int bpf(int what, union bpf_attr *a)
{
    const long fd = syscall(SYS_bpf, what, a, sizeof *a);
    return fd >= 0 ? (int)fd : -errno;
}

static int failed(int why, struct diags *d)
{
    return diag_error(d, ET_EUNSUP, NULL, "KERNEL_UPROBES", NULL,
                      "the kernel does not tell of them: %s", strerror(why));
}

int kmapped_open(struct kmapped **out, struct diags *d)
{
    struct kmapped *m = et_calloc(1, sizeof *m);
    const long page = sysconf(_SC_PAGESIZE);
    *out = NULL;
    if (m == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    m->page = page > 0 ? (size_t)page : RING;
    union bpf_attr a = {.map_type = BPF_MAP_TYPE_RINGBUF,
                        .map_name = "erltrace",
                        .max_entries = (uint32_t)(m->page > RING ? m->page : RING)};
    m->ring = bpf(BPF_MAP_CREATE, &a);
    if (m->ring < 0) {
        const int why = -m->ring;
        et_free(m);
        return failed(why, d);
    }
    void *taken = mmap(NULL, m->page, PROT_READ | PROT_WRITE, MAP_SHARED, m->ring, 0);
    void *told = mmap(NULL, m->page, PROT_READ, MAP_SHARED, m->ring, (off_t)m->page);
    const int why = errno;
    m->taken = taken != MAP_FAILED ? taken : NULL;
    m->told = told != MAP_FAILED ? told : NULL;
    if (m->taken == NULL || m->told == NULL) {
        kmapped_close(m);
        return failed(why, d);
    }
    *out = m;
    return 0;
}

void kmapped_close(struct kmapped *m)
{
    if (m == NULL)
        return;
    for (unsigned i = 0; i < m->n; i++)
        close(m->of[i].link);
    if (m->taken != NULL && m->told != NULL && kmapped_take(m))
        m->stopped = true;
    kmapped_go_on(m);
    for (unsigned i = 0; i < m->n; i++)
        if (m->of[i].process >= 0)
            close(m->of[i].process);
    if (m->taken != NULL)
        munmap(m->taken, m->page);
    if (m->told != NULL)
        munmap((void *)(uintptr_t)m->told, m->page);
    close(m->ring);
    et_free(m);
}

static int keep(void *arg, int fd)
{
    struct kmapped *m = arg;
    m->of[m->n].link = fd;
    return 0;
}

/* Loads the program: a negative errno is an error. */
static int load(const struct kmapped *m, uint64_t pid, bool checks, bool stops)
{
    enum { R0, R1, R2, R3, R4, FP = 10 };
    enum { FN_PID = 14, FN_SIGNAL = 109, FN_OUTPUT = 130, TOLD = -8 };
#define ALU(op, to, n)                                                                             \
    {                                                                                              \
        .code = BPF_ALU64 | (op) | BPF_K, .dst_reg = (to), .imm = (n)                              \
    }
#define CALL(number)                                                                               \
    {                                                                                              \
        .code = BPF_JMP | BPF_CALL, .imm = (number)                                                \
    }
#define JUMP(op, n, by)                                                                            \
    {                                                                                              \
        .code = BPF_JMP | (op) | BPF_K, .dst_reg = R0, .off = (by), .imm = (n)                     \
    }
    const struct bpf_insn code[] = {
        CALL(FN_PID),
        ALU(BPF_RSH, R0, 32),
        JUMP(checks ? BPF_JNE : BPF_JSET, checks ? (int32_t)pid : 0, 12),
        ALU(BPF_MOV, R0, stops && checks),
        JUMP(BPF_JEQ, 0, 2),
        ALU(BPF_MOV, R1, SIGSTOP),
        CALL(FN_SIGNAL),
        {.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = FP, .off = TOLD},
        {.code = BPF_LD | BPF_DW | BPF_IMM,
         .dst_reg = R1,
         .src_reg = BPF_PSEUDO_MAP_FD,
         .imm = m->ring},
        {.code = 0},
        {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = R2, .src_reg = FP},
        ALU(BPF_ADD, R2, TOLD),
        ALU(BPF_MOV, R3, -TOLD),
        ALU(BPF_MOV, R4, BPF_RB_FORCE_WAKEUP),
        CALL(FN_OUTPUT),
        ALU(BPF_MOV, R0, 0),
        {.code = BPF_JMP | BPF_EXIT},
    };
#undef ALU
#undef CALL
#undef JUMP
    union bpf_attr a = {.prog_type = BPF_PROG_TYPE_KPROBE,
                        .prog_name = "erltrace",
                        .expected_attach_type =
                            (enum bpf_attach_type)(kplaces_many() ? KLOAD_TYPE_PLACES : 0),
                        .insns = (uint64_t)(uintptr_t)code,
                        .insn_cnt = sizeof code / sizeof *code,
                        .license = (uint64_t)(uintptr_t) "GPL"};
    return bpf(BPF_PROG_LOAD, &a);
}

int kmapped_add(struct kmapped *m, uint64_t pid, int fd, uint64_t offset, bool checks, bool stops,
                struct diags *d)
{
    const uint64_t zero = 0;
    const struct kplaces at = {
        .fd = fd, .pid = pid, .n = 1, .offset = &offset, .counter = &zero, .cookie = &zero};
    size_t refused = 0;
    int why = 0;
    unsigned char code[15]; /* the longest instruction */
    const ssize_t got = pread(fd, code, sizeof code, (off_t)offset);
    if (m->n == PROCESSES)
        return failed(E2BIG, d);
    if (kinsn_unsafe(code, got > 0 ? (size_t)got : 0, true))
        return failed(EOPNOTSUPP, d);
    /* Whoever is stopped must surely go on: it may have run a program of another user meanwhile,
     * and its number may be another's. */
    const bool can = stops && checks && (capabilities_effective() >> CAP_KILL & 1) != 0;
    const int process = can ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
    const int program = load(m, pid, checks, process >= 0);
    if (program < 0) {
        if (process >= 0)
            close(process);
        return failed(-program, d);
    }
    const int err = kplaces_attach(program, &at, keep, m, &refused, &why, d);
    close(program); /* the link holds it */
    if (err == 0 && refused == 0) {
        m->of[m->n].pid = pid;
        m->of[m->n++].process = process;
        return 0;
    }
    if (process >= 0)
        close(process);
    return err != 0 ? err : failed(why, d);
}

int kmapped_fd(const struct kmapped *m)
{
    return m->ring;
}

bool kmapped_take(struct kmapped *m)
{
    const uint64_t told = __atomic_load_n(m->told, __ATOMIC_ACQUIRE);
    if (told == *m->taken)
        return false;
    __atomic_store_n(m->taken, told, __ATOMIC_RELEASE);
    m->stopped = true;
    return true;
}

void kmapped_go_on(struct kmapped *m)
{
    bool left = false; /* what still stands is tried again */
    for (unsigned i = 0; i < m->n && m->stopped; i++)
        left |= m->of[i].process >= 0 &&
                syscall(SYS_pidfd_send_signal, m->of[i].process, SIGCONT, NULL, 0) != 0 &&
                errno != ESRCH;
    m->stopped = left;
}

bool kmapped_stops(const struct kmapped *m)
{
    for (unsigned i = 0; i < m->n; i++)
        if (m->of[i].process >= 0)
            return true;
    return false;
}
