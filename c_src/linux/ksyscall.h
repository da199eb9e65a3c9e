/* ksyscall.h - the system calls of this kind of machine: their names, their numbers, and where
 * their arguments are.
 *
 * k_syscalls.list has the numbers of x86-64 and of those machines that use the kernel's generic
 * ones, such as arm64. Programs of 32 bits have others, which are not known here. */
#ifndef ET_LINUX_KSYSCALL_H
#define ET_LINUX_KSYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ksyscall {
    const char *name;
    int32_t number;
};

/* Returns all system calls, *n of them, in the order of the list. */
const struct ksyscall *ksyscalls(size_t *n);
/* Finds a call's number by its name. Returns false if there is none on this kind of machine. */
bool ksyscall_number(const char *name, size_t len, int64_t *number);

/* Values (kvalue.h) at the tracepoints sys_enter and sys_exit: the arguments, the number, and
 * whether the program is one of 64 bits. */
#if defined(__x86_64__)
#define KSYSCALL_ARG0   "regs->di"
#define KSYSCALL_ARG1   "regs->si"
#define KSYSCALL_ARG2   "regs->dx"
#define KSYSCALL_ARG3   "regs->r10"
#define KSYSCALL_ARG4   "regs->r8"
#define KSYSCALL_ARG5   "regs->r9"
#define KSYSCALL_NUMBER "regs->orig_ax"
#define KSYSCALL_NATIVE "task->thread_info.status & 2 == 0; 1" /* TS_COMPAT */
#else
#define KSYSCALL_ARG0   "regs->regs[0]"
#define KSYSCALL_ARG1   "regs->regs[1]"
#define KSYSCALL_ARG2   "regs->regs[2]"
#define KSYSCALL_ARG3   "regs->regs[3]"
#define KSYSCALL_ARG4   "regs->regs[4]"
#define KSYSCALL_ARG5   "regs->regs[5]"
#define KSYSCALL_NUMBER "regs->syscallno"
#define KSYSCALL_NATIVE "task->thread_info.flags >> 22 & 1 == 0; 1" /* TIF_32BIT */
#endif

#endif
