/* passing.c - where events are passed on to a tracer of the kernel, which runs its clauses there,
 * on the thread and at the time of the event. Without one nothing happens. */
#include "beam/agent.h"

#include "arch/arch.h"

/* The kernel finds the function by its name. It begins with an instruction that does nothing, so
 * that a breakpoint there has none to run in its stead. */
void erltrace_event(uint64_t number, const uint64_t *arg, const uint64_t *kept)
{
    __asm__ volatile(ARCH_NOTHING : : "r"(number), "r"(arg), "r"(kept) : "memory");
}
