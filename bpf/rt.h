/* rt.h - what the functions of the runtime share. They are compiled for BPF and run in the kernel,
 * called by programs that c_src/linux/kgen.c generates.
 *
 * A function gets and gives numbers only, and trusts none: each access compares its place with the
 * size of the map, which is also what the kernel's verifier demands. `p` is the place of the slot
 * that the event has taken. A fault is left in struct kslot; the caller looks there. */
#ifndef ET_BPF_RT_H
#define ET_BPF_RT_H

#include "../c_src/linux/kmem.h"

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;

/* Constants: the linker puts a number in place of the address. */
#define X(name) extern const char K_##name[];
KMEM_CONSTS(X)
#undef X
/* (The compiler must not conclude that an address is not 0.) */
#define K(name)                                                                                    \
    ({                                                                                             \
        u64 k_ = (u64)(unsigned long)K_##name;                                                     \
        asm("" : "+r"(k_));                                                                        \
        k_;                                                                                        \
    })
/* The map. */
extern _Alignas(8) char MEM[];

/* Functions of the kernel, by their numbers. */
static long (*const bpf_probe_read_kernel)(void *to, u32 n, const void *from) = (void *)113;
static long (*const bpf_probe_read_user)(void *to, u32 n, const void *from) = (void *)112;
static long (*const bpf_probe_read_kernel_str)(void *to, u32 n, const void *from) = (void *)115;
static long (*const bpf_probe_read_user_str)(void *to, u32 n, const void *from) = (void *)114;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_smp_processor_id)(void) = (void *)8;
static u64 (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static u64 (*const bpf_get_current_task)(void) = (void *)35;
static void *(*const bpf_get_current_task_btf)(void) = (void *)158;
static void *(*const bpf_task_pt_regs)(void *task) = (void *)175;
static long (*const bpf_get_current_comm)(void *to, u32 n) = (void *)16;

/* Calls a function up to n times, until it returns 1. */
static long (*const bpf_loop)(u32 n, void *function, void *arg, u64 flags) = (void *)181;

#define INLINE static inline __attribute__((always_inline))
/* A function that programs call. */
#define RT __attribute__((noinline, used)) u64

/* Keeps the compiler from knowing where a number came from, so that what was compared is what is
 * used. */
#define HIDE(v) asm volatile("" : "+r"(v))

/* Places in struct pt_regs of x86-64: elsewhere neither files nor Erlang VMs are known. */
enum { USER_BP = 4, USER_IP = 16, USER_CS = 17, USER_SP = 19 };
enum { USER_CS_32 = 0x23 /* of code of 32 bits */ };

/* A register of the user context, by its place in struct pt_regs. */
INLINE u64 user_register(u64 i)
{
    u64 v = 0;
    bpf_probe_read_kernel(&v, sizeof v, bpf_task_pt_regs(bpf_get_current_task_btf()) + i * 8);
    return v;
}

/* n bytes of the map, or, where they do not lie in it, the end of the function. */
#define AT(place, n, otherwise)                                                                    \
    ({                                                                                             \
        u64 at_ = (place);                                                                         \
        HIDE(at_);                                                                                 \
        if (at_ > K(SIZE) - (n))                                                                   \
            return otherwise;                                                                      \
        HIDE(at_);                                                                                 \
        (void *)(MEM + at_);                                                                       \
    })
#define GET(type, place, otherwise) (*(volatile type *)AT(place, sizeof(type), otherwise))
#define PUT(type, place, value, otherwise)                                                         \
    (*(volatile type *)AT(place, sizeof(type), otherwise) = (value))

/* The slot, for a function that begins with it. */
#define SLOT(p, otherwise)                                                                         \
    ({                                                                                             \
        u64 p_ = (p);                                                                              \
        if (p_ > K(LAST))                                                                          \
            return otherwise;                                                                      \
        HIDE(p_);                                                                                  \
        (struct kslot *)(MEM + p_ + K(KSLOT));                                                     \
    })
#define CTL ((struct kctl *)MEM)

INLINE u64 fault(struct kslot *k, u32 which, u64 value)
{
    if (k->faulted == 0) {
        k->faulted = 1;
        k->fault = which;
        k->value = value;
    }
    return 0;
}

/* 0, but the verifier does not know: with numbers that it knows it would follow each turn of a
 * loop. */
#define ZERO (*(volatile u64 *)(MEM + K(CONTENT)))
/* The same for a number that the verifier knows in part, such as one that was compared. */
#define ANY(v) ((v) + ZERO)

/* Adds to a counter of the slot, which nobody else writes. */
#define COUNT(p, member, n, otherwise)                                                             \
    do {                                                                                           \
        volatile u64 *c_ = AT((p) + K(member), 8, otherwise);                                      \
        *c_ += (n);                                                                                \
    } while (0)

enum { INT_FAULT_UNKNOWN = 0 };
enum {
#define WORD_FAULT(num, name, value, text) FAULT_##name = num,
#include "../guest/words/faults.list"
#undef WORD_FAULT
};
enum {
#define WORD_DROP(num, name, noun, rest) DROP_##name = num,
#include "../guest/words/drops.list"
#undef WORD_DROP
};

u64 rt_move(u64 to, u64 from, u64 n);
u64 rt_cut(u64 p, u64 to, u64 from, u64 n);
u64 rt_copy(u64 p, u64 to, u64 from, u64 n);
u64 rt_writable(u64 p, u64 place);
u64 rt_crosses(u64 p, u64 place, u64 n);
u64 rt_find(u64 s, u64 n, u64 how);
u64 rt_same(u64 a, u64 b, u64 n);
u64 rt_room(u64 p, u64 place);
u64 rt_string(u64 p, u64 to, u64 most, u64 addr);
u64 rt_bytes(u64 p, u64 to, u64 addr, u64 n);
u64 rt_dropped(u64 p, u64 kind, u64 n);
u64 rt_take(u64 p, u64 n);
u64 rt_field(u64 at, u64 which);
u64 rt_curthread(u64 p);
u64 rt_number_of(u64 task, u64 which);
u64 rt_own_number(void);

/* The number of the process that runs; 0: it is not in our namespace of processes. */
INLINE u64 own_process(void)
{
    return K(NAMESPACE) == 0 ? bpf_get_current_pid_tgid() >> 32 : rt_own_number();
}
u64 rt_task(u64 p, u64 which);
u64 rt_curthread(u64 p);
u64 rt_passed_text(u64 p, u64 i);

/* The length of what text() has copied last. */
#define LENGTH kept[KMEM_ARGS + 1]

/* Copies the text at an address to scratch, at most `most` bytes. Returns the place of the copy, 0
 * after a fault; its length is in kslot.LENGTH. */
INLINE u64 text(u64 p, struct kslot *k, u64 addr, u64 most)
{
    if (most > K(STRSIZE))
        most = K(STRSIZE);
    u64 to = p + K(SCRATCH) + k->scratch;
    if (k->scratch > K(SCRATCH_SIZE) || most + 1 > K(SCRATCH_SIZE) - k->scratch)
        return fault(k, FAULT_NOSCRATCH, 0);
    u64 n = rt_string(p, to, most, addr);
    if (k->faulted)
        return 0;
    k->scratch += (n + 8) & ~7ul;
    k->LENGTH = n;
    return to;
}

/* What rt_find searches besides a byte. */
enum { FIND_LAST = 256 /* from the end */, FIND_OTHER = 512 /* a byte that is another one */ };

#endif
