/* x86_64.h - see arch.h, which includes it. */

/* The exchange, which gcc and clang make of this store, is a barrier for everything. */
static inline void arch_store_before_loads(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_seq_cst);
}

static inline void arch_relax(void)
{
    __builtin_ia32_pause();
}

enum { ARCH_ADDRESS_BITS = 47 };

#define ARCH_NOTHING ".byte 0x0f, 0x1f, 0x44, 0, 0"
#define ARCH_USDT_ARGUMENTS                                                                        \
    "-8@(%rdi) -8@8(%rdi) -8@16(%rdi) -8@24(%rdi) -8@32(%rdi) -8@40(%rdi) "                        \
    "-8@48(%rdi) -8@56(%rdi) -8@64(%rdi) -8@72(%rdi)"

static inline bool arch_waits(long call)
{
    return call == SYS_epoll_wait || call == SYS_poll || call == SYS_select;
}

/* The JIT has Erlang's stack in %rsp, the process in %r13, and the scheduler's registers at %rbx.
 * Before it calls C it keeps %rsp in %rbp or in the process. */
enum { ARCH_SAMPLED = 1 };

static inline struct arch_regs arch_regs_of(const ucontext_t *c)
{
    const greg_t *reg = c->uc_mcontext.gregs;
    return (struct arch_regs){.pc = (uint64_t)reg[REG_RIP],
                              .sp = (uint64_t)reg[REG_RSP],
                              .top = (uint64_t)reg[REG_RBP],
                              .process = (uint64_t)reg[REG_R13],
                              .place = (uint64_t)reg[REG_RBX]};
}

/* lea disp8(%rbx), %rsp */
static inline bool arch_leaves(const unsigned char *code, int8_t *begins)
{
    if (code[0] != 0x48 || code[1] != 0x8d || code[2] != 0x63)
        return false;
    *begins = (int8_t)code[3];
    return true;
}

/* mov %rbp, %rsp, which has two encodings; mov disp(%r13), %rsp */
static inline enum arch_resumes arch_resumes(const unsigned char *code)
{
    if (code[0] == 0x48 &&
        ((code[1] == 0x89 && code[2] == 0xec) || (code[1] == 0x8b && code[2] == 0xe5)))
        return ARCH_RESUMES_REGISTER;
    if (code[0] == 0x49 && code[1] == 0x8b && (code[2] == 0x65 || code[2] == 0xa5))
        return ARCH_RESUMES_PROCESS;
    return ARCH_RESUMES_NOT;
}

static inline void arch_save_place(void)
{
    __asm__ volatile("" ::: "rbx");
}
