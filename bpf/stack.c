/* stack.c - stacks and addresses. A main function has read the stacks when the event began, as only
 * it has the context that the kernel unwinds from. */
#include "rt.h"

#define MEMBER(m) (K(KSLOT) + __builtin_offsetof(struct kslot, m))

/* The stack that a node passes on. */
RT rt_passed_stack(u64 p, u64 most)
{
    struct kslot *k = SLOT(p, 0);
    u64 at = rt_passed_text(p, KABOUT_STACK), n = most;
    k->ustack[0] = 0;
    k->nustack = 0;
    if (at == 0)
        return 0;
    HIDE(n);
    if (n == 0 || n > KMEM_FRAMES)
        return 0;
    HIDE(n);
    if (bpf_probe_read_user(k->ustack, n * 8, (void *)(at + 8)) != 0) /* behind the process */
        return 0;
    k->ustack[KMEM_FRAMES] = 0;
    u64 count = 0;
    for (u64 i = 0; i < KMEM_FRAMES && k->ustack[i] != 0 && i < most; i++)
        count = i + 1;
    PUT(u64, p + MEMBER(ustack) + most * 8, 0, 0);
    k->nustack = count;
    return count;
}

/* The addresses of the bytes of stack(), and of ustack(). */
RT rt_stack(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    return KMEM_TAG + p + MEMBER(kstack) + 8 * k->above;
}

RT rt_ustack(u64 p)
{
    return KMEM_TAG + p + MEMBER(upid);
}

/* The same of uaddr() and its like: the process and the address. */
RT rt_uaddr(u64 p, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    u64 to = rt_take(p, 16);
    if (k->faulted)
        return 0;
    PUT(u64, to, own_process(), 0);
    PUT(u64, to + 8, addr, 0);
    return KMEM_TAG + to;
}

RT rt_caller(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    return k->above < KMEM_ABOVE + 1 ? k->kstack[k->above + 1] : 0;
}
