/* act.c - what changes a process: signals, and the time that it takes; ancestors, and locks of the
 * kernel. Where no traced process runs, nothing is changed. */
#include "rt.h"

static long (*const bpf_send_signal)(u32 sig) = (void *)109;

enum {
    STOP = 19,       /* SIGSTOP */
    OWNER_FLAGS = 7, /* the lowest bits of a lock's owner */
    WRITER = 1,      /* of a rw_semaphore's count: it is held by a writer ... */
    READERS = 8,     /* ... and from this bit on, by how many readers; not the highest */
    GENERATIONS = 256,
    TURNS = 1 << 23 /* the most that the kernel allows */
};

/* Events that this process fires, and those that are about a thread which does not run. */
INLINE u64 is_nobody(const struct kslot *k, u64 p)
{
    return p >= K(LAST) || k->thread != 0;
}

/* To itself, this process sends it when it reads the record. */
RT rt_raise(u64 p, u64 sig)
{
    struct kslot *k = SLOT(p, 0);
    if (p >= K(LAST))
        return 0;
    if (is_nobody(k, p))
        return fault(k, FAULT_ILLOP, 0);
    bpf_send_signal(sig);
    return 0;
}

RT rt_stop(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    if (is_nobody(k, p))
        return fault(k, FAULT_ILLOP, 0);
    bpf_send_signal(STOP);
    return 0;
}

struct wait {
    u64 until;
};

static long is_over(u32 i, struct wait *w)
{
    (void)i;
    return bpf_ktime_get_ns() >= w->until;
}

/* Keeps the processor for a time: half a second of each second at most. */
RT rt_chill(u64 p, u64 ns)
{
    const u64 second = 1000000000, most = second / 2;
    struct kslot *k = SLOT(p, 0);
    u64 now = bpf_ktime_get_ns();
    if (now - k->chillat >= second) {
        k->chillat = now;
        k->chilled = 0;
    }
    if (ns > most || k->chilled + ns > most)
        return fault(k, FAULT_ILLOP, 0);
    k->chilled += ns;
    struct wait w = {now + ns};
    bpf_loop(TURNS, is_over, &w, 0);
    return 0;
}

struct line {
    u64 task, pid, found;
};

static long is_ancestor(u32 i, struct line *w)
{
    (void)i;
    u64 parent = rt_field(w->task, KFIELD_PARENT);
    w->found = rt_number_of(w->task, KFIELD_PID) == w->pid;
    if (w->found || parent == w->task || parent == 0)
        return 1;
    w->task = parent;
    return 0;
}

RT rt_progenyof(u64 p, u64 pid)
{
    struct line w = {rt_curthread(p), (u64)(s64)(int32_t)pid, ZERO};
    if (w.pid == 0) /* no process descends from the idle thread */
        return rt_field(w.task, KFIELD_PID) == 0;
    bpf_loop(GENERATIONS, is_ancestor, &w, 0);
    return w.found != 0;
}

RT rt_mutex_owner(u64 p, u64 lock)
{
    (void)p;
    return rt_field(lock, KFIELD_MUTEX_OWNER) & ~(u64)OWNER_FLAGS;
}

RT rt_mutex_owned(u64 p, u64 lock)
{
    return rt_mutex_owner(p, lock) == rt_curthread(p);
}

/* Who waits for a mutex spins while its owner runs, and sleeps then. */
RT rt_mutex_type_adaptive(u64 p, u64 lock)
{
    (void)p;
    return lock != 0;
}

RT rt_mutex_type_spin(u64 p, u64 lock)
{
    (void)p;
    (void)lock;
    return 0;
}

RT rt_rw_read_held(u64 p, u64 lock)
{
    (void)p;
    return rt_field(lock, KFIELD_RWSEM_COUNT) << 1 >> (READERS + 1) != 0;
}

RT rt_rw_write_held(u64 p, u64 lock)
{
    (void)p;
    return rt_field(lock, KFIELD_RWSEM_COUNT) & WRITER;
}

RT rt_rw_iswriter(u64 p, u64 lock)
{
    return rt_rw_write_held(p, lock) &&
           (rt_field(lock, KFIELD_RWSEM_OWNER) & ~(u64)OWNER_FLAGS) == rt_curthread(p);
}
