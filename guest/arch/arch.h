/* arch.h - what differs between processors, all of it: each has one header, with the same names in
 * it. Nothing else asks which processor it is compiled for.
 *
 * Each header has:
 *
 * ORDER. arch_store_before_loads(word, value) stores a value that other threads must see before
 *     this one reads anything that comes later in the program (engine_enter). No other order needs
 *     words of its own: acquire and release are written as C has them, and cost nothing where the
 *     processor keeps that order anyway.
 * arch_relax() is run between two looks at a word that another thread is about to change.
 *
 * ARCH_ADDRESS_BITS of an address of a process.
 *
 * ARCH_NOTHING is an instruction that does nothing, as text: a breakpoint takes its place.
 * ARCH_USDT_ARGUMENTS says where the words of an array lie whose address is a function's first
 *     argument, as a note of a USDT probe says it.
 *
 * arch_waits(call): whether a system call that not every processor's Linux has waits for
 *     something.
 *
 * THE JIT'S CODE, for profile-N (beam/probe/oncpu.h). ARCH_SAMPLED is 0 where that has not been
 *     shown to be true; profile-N and wall-N are then refused, and the rest is not used.
 * arch_regs_of(context): the registers of the code that a signal has interrupted.
 * arch_leaves(code, &begins): whether these bytes are an instruction by which compiled code leaves
 *     Erlang's stack for the C stack, which begins so many bytes from where arch_regs.place points.
 * arch_resumes(code): from where an instruction takes Erlang's stack pointer after a call of C.
 * arch_save_place(): the function in which it stands saves the register of arch_regs.place. */
#ifndef ET_ARCH_ARCH_H
#define ET_ARCH_ARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "arch/page.h"

/* Registers; 0: not known, which is no address. */
struct arch_regs {
    uint64_t pc, sp;
    uint64_t top;     /* while C code runs: of Erlang's stack, unless the C code has another use for
                         the register */
    uint64_t process; /* while Erlang code runs: the process */
    uint64_t place;   /* while Erlang code runs: where the scheduler keeps its X registers */
};

enum arch_resumes {
    ARCH_RESUMES_NOT,      /* the instruction does not do that */
    ARCH_RESUMES_REGISTER, /* from the register of arch_regs.top */
    ARCH_RESUMES_PROCESS   /* from the process's structure */
};

#if defined(__x86_64__)
#include "arch/x86_64.h"
#elif defined(__aarch64__)
#include "arch/aarch64.h"
#else
#error "no header of guest/arch/ is for this processor"
#endif

#endif
