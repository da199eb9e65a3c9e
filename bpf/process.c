/* process.c - the numbers of processes and threads, as this program's own process sees them. In the
 * first namespace of processes they are the kernel's. In another one the kernel keeps a number for
 * each level of namespaces, and a process that is not in ours has none: 0. */
#include "rt.h"

/* One of the numbers of a struct pid, and the namespace that it is valid in: struct upid. */
struct level {
    u32 number, unused;
    u64 namespace;
};
enum { LEVELS = 33 }; /* of namespaces, at most */

/* Returns the number that a struct pid has in our namespace. */
RT rt_number(u64 pid)
{
    u32 level = 0;
    if (pid == 0 || bpf_probe_read_kernel(&level, 4, (void *)(pid + K(PID_LEVEL))) != 0)
        return 0;
    for (u64 i = 0; i < LEVELS && i <= level; i++) {
        struct level n = {0, 0, 0};
        u32 namespace = 0;
        u64 at = pid + K(PID_NUMBERS) + (level - i) * sizeof n;
        if (bpf_probe_read_kernel(&n, sizeof n, (void *)at) != 0 ||
            bpf_probe_read_kernel(&namespace, 4, (void *)(n.namespace + K(PID_NAMESPACE))) != 0)
            return 0;
        if (namespace == K(NAMESPACE))
            return n.number;
    }
    return 0;
}

/* Returns a number of a thread: KFIELD_PID, KFIELD_TID, KFIELD_PPID, KFIELD_PGID or KFIELD_SID. */
RT rt_number_of(u64 task, u64 which)
{
    if (K(NAMESPACE) == 0)
        return rt_field(task, which);
    if (which == KFIELD_PPID)
        task = rt_field(task, KFIELD_PARENT);
    return rt_number(rt_field(task, which == KFIELD_TID    ? KFIELD_THREAD_ID
                                    : which == KFIELD_PGID ? KFIELD_GROUP_ID
                                    : which == KFIELD_SID  ? KFIELD_SESSION_ID
                                                           : KFIELD_PROCESS_ID));
}

/* The same of the thread that the event is about. */
RT rt_task_number(u64 p, u64 which)
{
    return rt_number_of(rt_curthread(p), which);
}

/* _number[]: the low bits of a structure's address say which. */
RT rt_other_number(u64 p, u64 i)
{
    enum { WHICH = 7 };
    (void)p;
    u64 which = i & WHICH;
    return rt_number_of(i & ~(u64)WHICH, which == 0   ? KFIELD_PID
                                         : which == 1 ? KFIELD_PPID
                                         : which == 2 ? KFIELD_PGID
                                         : which == 3 ? KFIELD_SID
                                                      : KFIELD_TID);
}

/* pid and tid of the thread that the event is about, as rt_ids has the kernel's. */
RT rt_numbers(u64 p)
{
    return rt_task_number(p, KFIELD_PID) << 32 | (u32)rt_task_number(p, KFIELD_TID);
}

/* The number of the process that runs. */
RT rt_own_number(void)
{
    return rt_number_of(bpf_get_current_task(), KFIELD_PID);
}
