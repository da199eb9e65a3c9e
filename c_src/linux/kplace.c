/* kplace.c - uprobes. See kplace.h.
 *
 * Linux 6.6 has a link that holds many of them. Before 6.10 it told processes apart by their first
 * threads, so it is used from then on. Each call asks for all places of a range; if one of them is
 * refused, none is set, and the range is halved. Elsewhere each place is a performance event. */
#include "linux/kplace.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "linux/kload.h"

enum {
    EVENT_COUNTER_SHIFT = 32 /* where a performance event's config has the place of its counter */
};
enum {
    MANY_FIRST = 6010
}; /* the version of Linux from which on such a link tells processes apart */
enum { KERNEL_ENOTSUPP = 524 }; /* which the kernel lets out here */

static const char no_tracing[] = "could not enable tracing: ";

/* BPF_LINK_CREATE for many places, which the headers may lack. */
struct many {
    uint32_t program, target, type, flags;
    uint64_t path, offsets, counters, cookies;
    uint32_t n, how, pid, rest;
};

static int link_many(int program, const char *path, const struct kplaces *p, size_t from, size_t n)
{
    struct many m = {.program = (uint32_t)program,
                     .type = KLOAD_TYPE_PLACES,
                     .path = (uint64_t)(uintptr_t)path,
                     .offsets = (uint64_t)(uintptr_t)(p->offset + from),
                     .cookies = (uint64_t)(uintptr_t)(p->cookie + from),
                     .n = (uint32_t)n,
                     .pid = (uint32_t)p->pid};
    for (size_t i = 0; i < n; i++)
        if (p->counter[from + i] != 0)
            m.counters = (uint64_t)(uintptr_t)(p->counter + from);
    const long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &m, sizeof m);
    return fd >= 0 ? (int)fd : -errno;
}

bool kplaces_many(void)
{
    static int known = -1;
    if (known >= 0)
        return known;
    known = 0;
    if (kload_linux() < MANY_FIRST)
        return false;
    const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
                                       {.code = BPF_JMP | BPF_EXIT}};
    union bpf_attr load = {.prog_type = BPF_PROG_TYPE_KPROBE,
                           .expected_attach_type = (enum bpf_attach_type)KLOAD_TYPE_PLACES,
                           .insns = (uint64_t)(uintptr_t)nothing,
                           .insn_cnt = sizeof nothing / sizeof *nothing,
                           .license = (uint64_t)(uintptr_t) "GPL"};
    const int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof load);
    if (fd < 0)
        return false;
    /* A kernel that knows such links looks at the file, and this is none. */
    const uint64_t zero = 0;
    const struct kplaces p = {.n = 1, .offset = &zero, .counter = &zero, .cookie = &zero};
    known = link_many(fd, "/", &p, 0, 1) == -EBADF;
    close(fd);
    return known;
}

/* Returns the type of performance events that are uprobes, -1 if there is none. */
static int event_type(void)
{
    int type = -1;
    FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
    if (f != NULL && fscanf(f, "%d", &type) != 1)
        type = -1;
    if (f != NULL)
        fclose(f);
    return type;
}

bool kplaces_any(void)
{
    return event_type() >= 0;
}

static int link_one(int program, const char *path, const struct kplaces *p, size_t i)
{
    const int type = event_type();
    if (type < 0)
        return -ENOENT;
    struct perf_event_attr a = {.type = (uint32_t)type,
                                .size = sizeof a,
                                .config = p->counter[i] << EVENT_COUNTER_SHIFT,
                                .uprobe_path = (uint64_t)(uintptr_t)path,
                                .probe_offset = p->offset[i]};
    const int event =
        (int)syscall(SYS_perf_event_open, &a, (pid_t)p->pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (event < 0)
        return -errno;
    union bpf_attr link = {.link_create = {.prog_fd = (uint32_t)program,
                                           .target_fd = (uint32_t)event,
                                           .attach_type = BPF_PERF_EVENT,
                                           .perf_event = {.bpf_cookie = p->cookie[i]}}};
    long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link);
    fd = fd < 0 ? -errno : fd;
    close(event); /* the link holds it */
    return (int)fd;
}

/* Whether an error is about the place, and not about what may be done at all. */
static bool is_refusal(int err)
{
    static const int others[] = {EPERM,  EACCES, ENOMEM, EMFILE, ENFILE, ESRCH,
                                 ENOENT, EBADF,  EINTR,  EAGAIN, ENODEV};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (err == -others[i])
            return false;
    return true;
}

static int failed(int err, struct diags *d)
{
    if (err == -ENOENT)
        return diag_error(d, ET_EUNSUP, NULL, "KERNEL_UPROBES",
                          "the kernel was built without CONFIG_UPROBE_EVENTS",
                          "%sthis kernel has no probes in processes", no_tracing);
    return diag_error(d, ET_EUNSUP, NULL, "KERNEL_UPROBES",
                      err == -EMFILE ? "raise the limit of open files (ulimit -n), or name fewer "
                                       "functions"
                      : err == -EPERM || err == -EACCES
                          ? "run it as root, or with the capabilities CAP_BPF, CAP_PERFMON and "
                            "CAP_SYS_PTRACE"
                          : NULL,
                      "%sthe kernel takes no probes in the process: %s", no_tracing,
                      err == -ESRCH ? "it has ended" : strerror(-err));
}

/* Attaches to places from `from` on, and halves them while one of them is refused. */
static int attach_many(int program, const char *path, const struct kplaces *p, size_t from,
                       size_t n, kplaces_keep_fn *keep, void *arg, size_t *refused, int *why,
                       struct diags *d)
{
    const int fd = link_many(program, path, p, from, n);
    if (fd >= 0)
        return keep(arg, fd);
    if (!is_refusal(fd))
        return failed(fd, d);
    if (n == 1) {
        ++*refused;
        *why = fd == -KERNEL_ENOTSUPP ? EOPNOTSUPP : -fd;
        return 0;
    }
    const int err = attach_many(program, path, p, from, n / 2, keep, arg, refused, why, d);
    return err != 0
               ? err
               : attach_many(program, path, p, from + n / 2, n - n / 2, keep, arg, refused, why, d);
}

int kplaces_attach(int program, const struct kplaces *p, kplaces_keep_fn *keep, void *arg,
                   size_t *refused, int *why, struct diags *d)
{
    char path[32];
    int err = 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", p->fd);
    if (kplaces_many())
        return p->n > 0 ? attach_many(program, path, p, 0, p->n, keep, arg, refused, why, d) : 0;
    for (size_t i = 0; i < p->n && err == 0; i++) {
        const int fd = link_one(program, path, p, i);
        if (fd >= 0) {
            err = keep(arg, fd);
        } else if (is_refusal(fd)) {
            ++*refused;
            *why = fd == -KERNEL_ENOTSUPP ? EOPNOTSUPP : -fd;
        } else {
            err = failed(fd, d);
        }
    }
    return err;
}
