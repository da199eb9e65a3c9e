/* aarch64.h - see arch.h, which includes it. */

/* A store that is sequentially consistent is ordered with such loads alone: a load without an order
 * may be made before it. */
static inline void arch_store_before_loads(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

static inline void arch_relax(void)
{
    __asm__ volatile("yield" ::: "memory");
}

enum { ARCH_ADDRESS_BITS = 48 };

#define ARCH_NOTHING "nop"
#define ARCH_USDT_ARGUMENTS                                                                        \
    "-8@[x0] -8@[x0, 8] -8@[x0, 16] -8@[x0, 24] -8@[x0, 32] -8@[x0, 40] "                          \
    "-8@[x0, 48] -8@[x0, 56] -8@[x0, 64] -8@[x0, 72]"

static inline bool arch_waits(long call)
{
    (void)call; /* the system has the younger calls alone */
    return false;
}

/* The JIT has the C stack in sp, always, so that no instruction leaves Erlang's stack. That is in
 * x20, the process in x21, the scheduler's registers at x19; and a function without a frame returns
 * to where x30 says. profile-N, which would have to read all this, has run on no such processor
 * yet. */
enum { ARCH_SAMPLED = 0 };

static inline struct arch_regs arch_regs_of(const ucontext_t *c)
{
    return (struct arch_regs){.pc = c->uc_mcontext.pc,
                              .sp = c->uc_mcontext.sp,
                              .top = c->uc_mcontext.regs[20],
                              .process = c->uc_mcontext.regs[21],
                              .place = c->uc_mcontext.regs[19]};
}

static inline bool arch_leaves(const unsigned char *code, int8_t *begins)
{
    (void)code;
    (void)begins;
    return false;
}

static inline enum arch_resumes arch_resumes(const unsigned char *code)
{
    (void)code;
    return ARCH_RESUMES_NOT;
}

static inline void arch_save_place(void)
{
}
