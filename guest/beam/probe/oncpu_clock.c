/* oncpu_clock.c - see oncpu_clock.h. */
#include "beam/probe/oncpu_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "beam/probe/oncpu_sampler.h"

enum {
    DESCRIPTORS = 1 << 16, /* an event with a higher one is not used */
    STATUS = 8192,         /* bytes, more than the system writes there */
    SECOND_NS = 1000000000
};

/* The number, and 1, of the clock whose descriptor it is; 0: of none. */
static _Atomic uint32_t number_of[DESCRIPTORS];
static _Atomic uint64_t served; /* when samples were last taken */

static bool is_event(const struct oncpu_clock *c)
{
    return c->kind == ONCPU_CLOCK_TASK || c->kind == ONCPU_CLOCK_USER;
}

static bool is_sampler(const struct oncpu_clock *c)
{
    return c->kind == ONCPU_CLOCK_SAMPLER || c->kind == ONCPU_CLOCK_WALL;
}

bool oncpu_clock_is_filtered(void)
{
    static const char none[] = "\nSeccomp:\t0\n";
    char text[STATUS + 1] = "";
    const int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, STATUS) : -1;
    if (fd >= 0)
        close(fd);
    return n <= 0 || strstr(text, none) == NULL;
}

/* Returns whether the process has more than `room` free descriptors. fd has just been the lowest
 * free one. */
static bool has_room(int fd, uint32_t room)
{
    struct rlimit most;
    return getrlimit(RLIMIT_NOFILE, &most) == 0 && (rlim_t)fd < most.rlim_cur &&
           most.rlim_cur - (rlim_t)fd > room;
}

/* Opens an event that does not run yet. Returns its descriptor, negative: errno. */
static int open_event(int tid, uint64_t ns, bool kernel)
{
    struct perf_event_attr a;
    memset(&a, 0, sizeof a);
    a.type = PERF_TYPE_SOFTWARE;
    a.size = sizeof a;
    a.config = PERF_COUNT_SW_TASK_CLOCK;
    a.sample_period = ns;
    a.disabled = 1;
    a.exclude_hv = 1;
    a.exclude_kernel = !kernel;
    int fd = (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Opens an event of the best kind that may be had, and leaves so many descriptors free. Returns its
 * descriptor; negative: none may be had. */
static int open_best(int tid, uint64_t ns, uint32_t room, enum oncpu_clock_kind *kind)
{
    if (oncpu_clock_is_filtered())
        return -1;
    *kind = ONCPU_CLOCK_TASK;
    int fd = open_event(tid, ns, true);
    if (fd == -EACCES || fd == -EPERM) {
        *kind = ONCPU_CLOCK_USER;
        fd = open_event(tid, ns, false);
    }
    if (fd >= 0 && (fd >= DESCRIPTORS || !has_room(fd, room))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

enum oncpu_clock_kind oncpu_clock_offered(uint32_t room)
{
    enum oncpu_clock_kind kind;
    const int fd = open_best(0, SECOND_NS, room, &kind);
    if (fd < 0)
        return ONCPU_CLOCK_SAMPLER;
    close(fd);
    return kind;
}

static bool start_event(struct oncpu_clock *c, int tid, int signal, uint32_t number, uint64_t ns,
                        uint32_t room)
{
    const struct f_owner_ex owner = {F_OWNER_TID, tid};
    const int fd = open_best(tid, ns, room, &c->kind);
    if (fd < 0)
        return false;
    if (fcntl(fd, F_SETOWN_EX, &owner) != 0 || fcntl(fd, F_SETSIG, signal) != 0 ||
        fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) != 0) {
        close(fd);
        return false;
    }
    atomic_store(&number_of[fd], number + 1);
    c->id = fd;
    oncpu_clock_set(c, ns);
    return true;
}

/* The CPU clock of a thread, as the system numbers it. */
static clockid_t clock_of(int tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | 6);
}

static bool start_sampler(struct oncpu_clock *c, int tid, int signal, uint32_t number, uint64_t ns)
{
    c->kind = ONCPU_CLOCK_SAMPLER;
    c->id = (int)number;
    return oncpu_sampler_add(number, tid, signal, ns, false);
}

/* The kernel's struct sigevent, 64 bytes. Each C library has another name for `tid`. */
struct event {
    union sigval value;
    int signal, notify, tid, more[11];
};
_Static_assert(sizeof(struct event) == 64, "what the kernel reads");

static bool start_timer(struct oncpu_clock *c, int tid, int signal, uint32_t number, uint64_t ns)
{
    const struct event ev = {
        .value.sival_int = (int)number, .signal = signal, .notify = SIGEV_THREAD_ID, .tid = tid};
    c->kind = ONCPU_CLOCK_CPU;
    if (syscall(SYS_timer_create, clock_of(tid), &ev, &c->id) != 0)
        return false;
    oncpu_clock_set(c, ns);
    return true;
}

bool oncpu_clock_start(struct oncpu_clock *c, int tid, int signal, uint32_t number, uint64_t ns,
                       uint32_t room)
{
    if (start_event(c, tid, signal, number, ns, room) ||
        start_sampler(c, tid, signal, number, ns) || start_timer(c, tid, signal, number, ns))
        return true;
    c->kind = ONCPU_CLOCK_NONE;
    return false;
}

bool oncpu_clock_wall(struct oncpu_clock *c, int tid, int signal, uint32_t number, uint64_t ns)
{
    const bool made = oncpu_sampler_add(number, tid, signal, ns, true);
    *c = (struct oncpu_clock){made ? ONCPU_CLOCK_WALL : ONCPU_CLOCK_NONE, (int)number};
    return made;
}

void oncpu_clock_set(const struct oncpu_clock *c, uint64_t ns)
{
    const struct timespec every = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    const struct itimerspec when = {every, every};
    if (is_event(c))
        ioctl(c->id, ns != 0 ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    else if (is_sampler(c))
        oncpu_sampler_set((uint32_t)c->id, ns != 0);
    else
        syscall(SYS_timer_settime, c->id, 0, &when, NULL);
}

void oncpu_clock_every(const struct oncpu_clock *c, uint64_t ns)
{
    if (is_event(c))
        ioctl(c->id, PERF_EVENT_IOC_PERIOD, &ns);
}

void oncpu_clock_end(struct oncpu_clock *c)
{
    if (is_event(c)) {
        oncpu_clock_set(c, 0);
        atomic_store(&number_of[c->id], 0);
        close(c->id);
    } else if (is_sampler(c)) {
        oncpu_sampler_remove((uint32_t)c->id);
    } else if (c->kind == ONCPU_CLOCK_CPU) {
        syscall(SYS_timer_delete, c->id);
    }
    c->kind = ONCPU_CLOCK_NONE;
}

int64_t oncpu_clock_of(const siginfo_t *info, uint32_t *late)
{
    *late = 0;
    if (info->si_code == SI_TIMER) {
        *late = info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0;
        return info->si_value.sival_int;
    }
    if (info->si_code != POLL_IN || info->si_fd < 0 || info->si_fd >= DESCRIPTORS)
        return -1;
    return (int64_t)atomic_load_explicit(&number_of[info->si_fd], memory_order_relaxed) - 1;
}

void oncpu_clock_served(uint64_t now)
{
    atomic_store_explicit(&served, now, memory_order_relaxed);
    oncpu_sampler_resume();
}

bool oncpu_clock_alone(uint64_t now)
{
    return atomic_load_explicit(&served, memory_order_relaxed) + ONCPU_ALONE < now;
}

uint64_t oncpu_clock_time(int tid)
{
    struct timespec ts;
    return clock_gettime(clock_of(tid), &ts) == 0
               ? (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec
               : 0;
}
