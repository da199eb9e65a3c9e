/* oncpu.c - threads, their clocks, and the signal handler of profile-N. See oncpu.h.
 *
 * What always holds:
 *  * The server alone changes threads and clocks; a thread enters by a NIF that it runs itself.
 *  * While a clock exists, `how` does not change, and no thread's record moves.
 *  * A thread's ring has one writer, its signal handler, and one reader, the server. */
#include "beam/probe/oncpu.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/err.h"
#include "beam/agent.h"
#include "beam/probe/code.h"
#include "beam/probe/collecting.h"
#include "beam/probe/inside.h"
#include "beam/probe/oncpu_clock.h"
#include "beam/probe/oncpu_dirty.h"
#include "beam/probe/oncpu_sampler.h"
#include "beam/probe/onwall.h"
#include "beam/probe/scheduler.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum {
    CODE_MOST = 4 * CODE_RANGES, /* mappings of code in a profile, also those that are gone */
    THREADS = ONCPU_THREADS,
    NORMAL = THREADS / 3, /* of them at most */
    RING = 1 << 13,       /* words */
    HEAD = 9,             /* words of a sample before its frames */
    CHUNK = 512,          /* words that are read at once */
    LOOKED = 4 << 10,     /* words of a stack that are examined */
    RESUMED = 64,         /* bytes of code after a call in which it loads the stack pointer */
    SAVED = 8,            /* words below the first of the C stack that may have arch_regs.top */
    OUTER = 128,          /* words there that may have the process for which a match program runs */
    AGREED = 2,           /* samples that agree on where arch_regs.place points */
    STACK_ABOVE = 64 << 10, /* bytes above a NIF's frame in which the C stack begins */
    OLD_FRAME = 2048,       /* bytes of the frame where the system does not tell (MINSIGSTKSZ) */
    HANDLER_STACK = 4096,   /* bytes that the handler may need, beside the system's frame */
    LEAVES_LEAST = 32,  /* instructions by which code leaves Erlang's stack, to prove the place */
    SEARCHED = 1 << 20, /* bytes of code that are searched for them */
    PIECE = 4096,       /* ... which are read at once */
    COMING = 1,         /* sample that is due, and may be on its way to the ring */
    EVEN = 1024,        /* the frequency that is asked for */
    OWED = 1000,        /* samples of the kernel that a thread is behind at most */
    VARY_NS = 20000000, /* at least between two periods of a clock */
    VARY_SAMPLES = 64,  /* ... and samples */
    ROUNDS = 2,         /* in which threads are seen outside of the handler */
    OUTSIDE_NS = 200000 /* of CPU time for each; the handler takes a few microseconds */
};

#define LONGEST UINT64_C(1000000000000) /* ns of a period that is varied */

/* -- what is known of the VM --------------------------------------------------------------------
 */

/* Set while no clock exists, but for mappings of code that come later. */
static struct {
    struct inside_facts f;
    struct code_extent code[CODE_MOST]; /* only added to while a clock exists */
    _Atomic uint32_t ncode;
    _Atomic uint64_t lowest, beyond; /* all of it lies from here to before there */
    int8_t begins;   /* the C stack begins so many bytes from where arch_regs.place points */
    bool has_begins; /* ... which is known */
    uint16_t next;   /* word of a process: where it goes on when it runs again; INSIDE_NONE: not
                        known */
    _Atomic uint64_t bottom; /* the first word of every process's stack, where that ends */
    int memory;              /* /proc/self/mem; -1: closed */
    int signal;              /* 0: none is taken */
} how = {.memory = -1};

static bool is_code(uint64_t at)
{
    const uint32_t n = atomic_load_explicit(&how.ncode, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (at >= how.code[i].from && at < how.code[i].to)
            return true;
    return false;
}

static const unsigned char *code_at(uint64_t at)
{
    return (const unsigned char *)(uintptr_t)at;
}

/* Adds mappings of code that are not known. */
static void add_code(const struct code_extent *code, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0, most = atomic_load_explicit(&how.ncode, memory_order_relaxed);
        while (k < most && (how.code[k].from != code[i].from || how.code[k].to != code[i].to))
            k++;
        if (k < most || most == CODE_MOST)
            continue;
        how.code[most] = code[i];
        if (most == 0 || code[i].from < atomic_load(&how.lowest))
            atomic_store(&how.lowest, code[i].from);
        if (most == 0 || code[i].to > atomic_load(&how.beyond))
            atomic_store(&how.beyond, code[i].to);
        atomic_store_explicit(&how.ncode, most + 1, memory_order_release);
    }
}

/* Finds where the C stack begins. All instructions that are found must agree. The code is in
 * memory: it is searched up to where the table says that it has functions. */
static void find_begin(void)
{
    uint32_t found = 0;
    how.has_begins = false;
    static uint64_t words[PIECE / 8]; /* the server's */
    const unsigned char *bytes = (const unsigned char *)words;
    for (uint32_t i = 0; i < atomic_load(&how.ncode); i++)
        for (uint64_t at = how.code[i].from;
             at + PIECE <= how.code[i].to && at < how.code[i].from + SEARCHED; at += PIECE) {
            if (!inside_read(how.memory, at, words, PIECE / 8))
                break;
            for (unsigned k = 0; k + 4 <= PIECE; k++) {
                int8_t begins;
                if (!arch_leaves(&bytes[k], &begins))
                    continue;
                if (found++ > 0 && how.begins != begins)
                    return;
                how.begins = begins;
            }
        }
    how.has_begins = found >= LEAVES_LEAST && how.begins < 0;
}

/* -- threads ------------------------------------------------------------------------------------
 */

/* Counted by a handler, and told of by the server. */
struct counted {
    _Atomic uint64_t n;
    uint64_t told; /* the server's */
};

static struct thread {
    int tid;
    uint32_t slot;           /* in `threads` */
    uint32_t number;         /* of its scheduler */
    uint8_t type;            /* enum scheduler_type */
    _Atomic uint64_t record; /* of its scheduler; 0: not known */
    uint64_t frame; /* an address of its C stack, deeper than where that begins for Erlang code */
    struct code_extent stack; /* the whole C stack */
    struct oncpu_clock clock[ONCPU_RATES];
    _Atomic bool stopped[ONCPU_RATES]; /* the handler stopped it, since nobody took samples */
    uint64_t entered;                  /* its processor time when it was added, ns */
    /* The handler's own: */
    uint64_t regs;      /* where arch_regs.place points while Erlang code runs, 0: not known */
    uint32_t agreed;    /* samples that agree on that */
    uint64_t schedules; /* where its code returns to from looking for what to run; 0: not known */
    uint32_t same;      /* samples that agree on that */
    uint64_t words[CHUNK]; /* room to read */
    uint64_t sample[HEAD + ONCPU_FRAMES];
    uint64_t ring[RING];
    _Atomic uint32_t head, tail; /* words written and taken, in all */
    struct counted dropped[ONCPU_RATES], waited[ONCPU_RATES];
    struct counted captured[ONCPU_RATES]; /* with those that they stand for, and dropped ones; told:
                                             those of the kernel */
    /* The server's: */
    uint64_t every[ONCPU_RATES];  /* ns of processor time after which there is a sample just now */
    uint64_t from[ONCPU_RATES];   /* its processor time from which these count */
    uint64_t before[ONCPU_RATES]; /* samples that were due until then */
    uint64_t seen[ONCPU_RATES];   /* captured when the period was last changed */
    uint32_t owed[ONCPU_RATES];   /* of the kernel: to be handed over */
    _Atomic bool stranger;        /* it has the name of a dirty scheduler, and is none */
} * _Atomic threads[THREADS];     /* by the number of the scheduler, from 1 on; then dirty ones */

static _Atomic uint64_t self_of[THREADS]; /* ... their pthread_self; 0: none, or not known */
static _Atomic uint32_t highest;          /* no thread at or beyond this has ever been added */

static uint64_t period[ONCPU_RATES];             /* ns; 0: not in use */
static uint64_t began[ONCPU_RATES];              /* when it came into use */
static enum oncpu_clock_kind worst[ONCPU_RATES]; /* of the clocks that it has had since */
static _Atomic uint32_t busy;                    /* handlers that run */
static _Atomic uint64_t
    schedules; /* what the samples of a thread have agreed on: all run that code */
static ErlNifResourceType *keeper_type;
static void *keeper; /* keeps the library in the VM */

static uint32_t entered(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < atomic_load(&highest); i++)
        n += atomic_load_explicit(&threads[i], memory_order_relaxed) != NULL;
    return n;
}

/* -- in the signal handler ----------------------------------------------------------------------
 */

typedef const volatile uint64_t words_read; /* each load is one instruction */

/* Returns whether this could be Erlang's stack pointer. The stack is below its block's end, and
 * above what the heap has in it. */
static bool is_on_stack(const struct thread *t, uint64_t at)
{
    return at % 8 == 0 && at >= t->words[how.f.top] && at <= t->words[how.f.heap_end];
}

/* Returns where the C stack of a thread begins; 0: not known. */
static uint64_t begin_of(const struct thread *t)
{
    uint64_t at = t->regs + (uint64_t)(int64_t)how.begins;
    return how.has_begins && t->agreed >= AGREED && at % 8 == 0 && at > t->frame &&
                   at < t->frame + STACK_ABOVE
               ? at
               : 0;
}

/* Returns where the C code that runs returns to compiled code; 0: not known. */
static uint64_t call_of(const struct thread *t, uint64_t sp)
{
    const uint64_t begin = begin_of(t);
    if (begin == 0 || sp % 8 != 0 || sp < t->stack.from || sp >= begin)
        return 0;
    const uint64_t at = *(words_read *)(uintptr_t)(begin - 8);
    return is_code(at) ? at : 0;
}

/* A scheduler that has no process looks for one. From where it was called for that, it is called,
 * too, when a process has used up its slice, and until the next one runs. */
static void learn_schedules(struct thread *t, uint64_t call)
{
    if (call == 0)
        return;
    if (t->schedules != call) {
        t->schedules = call;
        t->same = 0;
    } else if (t->same < AGREED && ++t->same == AGREED) {
        atomic_store_explicit(&schedules, call, memory_order_relaxed);
    }
}

static bool is_scheduling(uint64_t call)
{
    return call != 0 && call == atomic_load_explicit(&schedules, memory_order_relaxed);
}

/* Returns whether the code from `at` on takes Erlang's stack pointer from a register, rather than
 * from the process. */
static bool resumes_from_register(uint64_t at)
{
    for (uint64_t p = at; p < at + RESUMED && is_code(p + 4); p++) {
        const enum arch_resumes from = arch_resumes(code_at(p));
        if (from != ARCH_RESUMES_NOT)
            return from == ARCH_RESUMES_REGISTER;
    }
    return false;
}

/* Finds the top of Erlang's stack while C code runs. */
static uint64_t top_in_c(struct thread *t, const struct arch_regs *reg, uint64_t *call)
{
    uint64_t begin = begin_of(t), at = reg->pc;
    *call = 0;
    if (!is_code(at) && (at = *call = call_of(t, reg->sp)) == 0)
        return t->words[how.f.stop];
    if (is_scheduling(at) || !resumes_from_register(at))
        return t->words[how.f.stop];
    /* C code may have another use for the register, and then the function that was called first has
     * saved it. Other words there may point into the heap, which is below the stack. */
    uint64_t best = is_on_stack(t, reg->top) ? reg->top : 0;
    for (uint64_t p = begin - 16; begin != 0 && p >= reg->sp && p >= begin - 8 - SAVED * 8;
         p -= 8) {
        uint64_t word = *(words_read *)(uintptr_t)p;
        if (word > best && is_on_stack(t, word))
            best = word;
    }
    return best != 0 ? best : t->words[how.f.stop];
}

static void learn_regs(struct thread *t, uint64_t place)
{
    if (t->regs != place) {
        t->regs = place;
        t->agreed = 0;
    } else if (t->agreed < AGREED) {
        t->agreed++;
    }
}

/* Copies words into t->words. direct: they cannot be going away. Else the system copies them, which
 * takes ten times as long. */
static bool copy_words(struct thread *t, uint64_t at, size_t n, bool direct)
{
    if (!direct)
        return inside_read(how.memory, at, t->words, n);
    for (size_t i = 0; i < n; i++)
        t->words[i] = ((words_read *)(uintptr_t)at)[i];
    return true;
}

/* Appends those of some words that lie in code to the sample, which has n. Returns their number. */
static uint32_t pick(struct thread *t, words_read *word, uint32_t some, uint32_t n)
{
    const uint64_t lowest = atomic_load_explicit(&how.lowest, memory_order_relaxed),
                   all = atomic_load_explicit(&how.beyond, memory_order_relaxed) - lowest;
    for (uint32_t i = 0; i < some; i++) {
        const uint64_t w = word[i];
        if (w - lowest >= all || (w & 3) != 0 || !is_code(w))
            continue;
        if (n == ONCPU_FRAMES)
            break;
        t->sample[HEAD + n++] = w;
    }
    return n;
}

/* Appends the return addresses of a stack to the sample. to 0: its end is not known, and must be
 * found. Returns their number. (They are picked here, not by the server: a ring has room for many
 * more samples without what else is on a stack.) */
static uint32_t frames_of(struct thread *t, uint64_t from, uint64_t to, bool direct)
{
    uint32_t n = 0;
    const uint64_t bottom = atomic_load_explicit(&how.bottom, memory_order_relaxed);
    const bool here = direct && to != 0;
    const uint64_t words = to != 0 ? (to - from) / 8 : LOOKED;
    const uint32_t most = words < LOOKED ? (uint32_t)words : LOOKED;
    for (uint32_t done = 0; done < most && n < ONCPU_FRAMES;) {
        const uint32_t some = here ? most : most - done < CHUNK ? most - done : CHUNK;
        words_read *word = here ? (words_read *)(uintptr_t)from : t->words;
        if (!here && !copy_words(t, from + done * 8ull, some, false))
            break;
        for (uint32_t i = 0; done + i < ONCPU_TOPS && i < some; i++)
            t->sample[6 + done + i] = word[i];
        uint32_t end = to != 0 ? some : 0;
        while (end < some && word[end] != bottom)
            end++;
        n = pick(t, word, end, n);
        if (end < some)
            return n;
        done += some;
    }
    return to != 0 || n == ONCPU_FRAMES ? n : 0;
}

enum {
    HIDDEN = 1,
    CURRENT = 2, /* the words 4, 6 and 7 of the sample are those of the current function */
    LOST = 4,
    DOING = 3, /* bits before those of enum onwall_doing */
    TYPE = 5,  /* ... of enum scheduler_type */
    COLLECTING = 256
};

/* The pid of no process (ERTS_INVALID_PID). While a match program runs, as in ets:select/2, the
 * scheduler's process is one that the VM keeps for that, which has it. */
#define NOBODY UINT64_C(0xfffffff3)

/* Copies a process into t->words, if this thread's scheduler runs it. */
static bool is_running(struct thread *t, uint64_t at, bool direct)
{
    return inside_is_address(at) && copy_words(t, at, how.f.there + 1u, direct) &&
           t->words[how.f.there] == t->record;
}

/* Returns whether Erlang code runs, on the stack of the scheduler's process, which it has in a
 * register. Nobody but this code can give up the process, its stack or its heap. */
static bool is_in_erlang(const struct thread *t, const struct arch_regs *reg, uint64_t process)
{
    return is_code(reg->pc) && (reg->sp < t->stack.from || reg->sp >= t->stack.to) &&
           reg->process == process;
}

/* Finds the process for which a match program runs, as is_running: the function that was called
 * from Erlang code has saved the register in which that code has its process, and is among the
 * first on the C stack. No other process has the scheduler's record. */
static bool find_behind(struct thread *t, uint64_t sp)
{
    uint64_t begin = begin_of(t), looked = 0;
    if (begin == 0 || sp % 8 != 0 || sp >= begin)
        return false;
    for (uint64_t p = begin - 8; p >= sp && p >= begin - OUTER * 8; p -= 8) {
        uint64_t at = *(words_read *)(uintptr_t)p, back;
        if (at == looked || !inside_is_address(at))
            continue;
        looked = at;
        if (inside_read(how.memory, at + how.f.there * 8ull, &back, 1) && back == t->record &&
            is_running(t, at, false) && t->words[0] != NOBODY)
            return true;
    }
    return false;
}

/* Returns the frames of the stack of the process in t->words, from `top` on. */
static uint32_t stack_from(struct thread *t, uint64_t top, bool direct)
{
    const uint64_t heap = t->words[how.f.heap], stop = t->words[how.f.stop],
                   end = t->words[how.f.heap_end];
    /* While a BIF has put off collections, new terms go to another block, and the stack stays. */
    const bool elsewhere = stop < heap || stop > end;
    if (!inside_is_address(top) || (!elsewhere && (top < heap || top > end)) || end % 8 != 0)
        return 0;
    return frames_of(t, top, elsewhere ? 0 : end, direct);
}

/* Returns whether the process in t->words may be shown. */
static bool may_show(const struct thread *t, uint64_t *flags)
{
    const uint16_t bit = how.f.sensitive;
    if ((t->words[bit / 64] >> bit % 64 & 1) == 0)
        return true;
    *flags |= HIDDEN;
    return false;
}

/* Notes whether the process in t->words is being collected. */
static void note_collecting(const struct thread *t, uint64_t *flags)
{
    const struct collecting_bits c = collecting_bits();
    if (c.mask != 0 && c.word < how.f.there && (t->words[c.word] & c.mask) == c.mask)
        *flags |= COLLECTING;
}

/* Notes a function that is not on the stack, by the address of its three words. */
static void note_current(struct thread *t, uint64_t at, uint64_t *flags)
{
    uint64_t mfa[3], *s = t->sample;
    if (!inside_is_address(at) || !inside_read(how.memory, at, mfa, 3))
        return;
    s[4] = mfa[0];
    s[6] = mfa[1];
    s[7] = mfa[2];
    *flags |= CURRENT;
}

/* As process_of on a dirty scheduler. Only C code runs there. The process has put its stack away,
 * and says where it goes on when it is collected, or else, in a NIF, in which function it is. */
static uint32_t process_of_dirty(struct thread *t, uint64_t *flags)
{
    const struct inside_facts *f = &how.f;
    uint64_t *s = t->sample;
    const uint64_t record = t->record;
    if (record == 0)
        return 0;
    const uint64_t at = ((words_read *)(uintptr_t)record)[f->back];
    if (!inside_is_address(at) || !inside_read(how.memory, at, t->words, f->there + 1u) ||
        t->words[f->there] != 0 || t->words[0] == NOBODY)
        return 0;
    if (!may_show(t, flags))
        return 0;
    note_collecting(t, flags);
    s[2] = t->words[0];
    if (how.next != INSIDE_NONE && is_code(t->words[how.next]))
        s[3] = t->words[how.next];
    const uint16_t current = oncpu_dirty_current();
    const uint64_t mfa = current < f->there ? t->words[current] : 0;
    const uint32_t n = stack_from(t, t->words[f->stop], false);
    note_current(t, mfa, flags);
    return n;
}

/* Fills in t->sample from [2] on for the process that runs. Returns the number of frames. */
static uint32_t process_of(struct thread *t, const struct arch_regs *reg, uint64_t *flags)
{
    const struct inside_facts *f = &how.f;
    uint64_t *s = t->sample;
    const uint64_t at = ((words_read *)(uintptr_t)t->record)[f->back];
    if (at == 0 && !is_code(reg->pc))
        learn_schedules(t, call_of(t, reg->sp));
    const bool direct = is_in_erlang(t, reg, at);
    if (!is_running(t, at, direct) || (t->words[0] == NOBODY && !find_behind(t, reg->sp)))
        return 0;
    if (!may_show(t, flags))
        return 0;
    note_collecting(t, flags);
    s[2] = t->words[0];
    s[3] = is_code(reg->pc) ? reg->pc : 0;
    uint64_t top = reg->sp;
    if (reg->sp < t->stack.from || reg->sp >= t->stack.to) {
        if (s[3] == 0)
            return 0;
        learn_regs(t, reg->place);
    } else {
        top = top_in_c(t, reg, &s[4]);
        if (is_scheduling(s[4]) && how.next != INSIDE_NONE && is_code(t->words[how.next])) {
            s[3] = t->words[how.next];
            s[4] = 0;
        }
    }
    return stack_from(t, top, direct);
}

static void push(struct thread *t, uint32_t rate, uint32_t n)
{
    uint32_t head = atomic_load_explicit(&t->head, memory_order_relaxed);
    uint32_t tail = atomic_load_explicit(&t->tail, memory_order_acquire);
    if (RING - (head - tail) < n) {
        atomic_fetch_add_explicit(&t->dropped[rate].n, 1, memory_order_relaxed);
        return;
    }
    const uint32_t at = head % RING, first = n < RING - at ? n : RING - at;
    memcpy(t->ring + at, t->sample, first * sizeof *t->ring);
    memcpy(t->ring, t->sample + first, (n - first) * sizeof *t->ring);
    atomic_store_explicit(&t->head, head + n, memory_order_release);
}

/* cost: ns that it took to signal the thread. */
static void capture(struct thread *t, uint32_t rate, uint32_t late, uint32_t cost,
                    enum onwall_doing doing, const ucontext_t *uc)
{
    uint64_t *s = t->sample, now = monotonic_ns();
    uint64_t flags = (uint64_t)doing << DOING | (uint64_t)t->type << TYPE;
    if (oncpu_clock_alone(now)) {
        oncpu_clock_set(&t->clock[rate], 0); /* first: whoever sees `stopped` starts it again */
        atomic_store_explicit(&t->stopped[rate], true, memory_order_release);
        return;
    }
    atomic_fetch_add_explicit(&t->captured[rate].n, 1 + late, memory_order_relaxed);
    memset(s, 0, HEAD * sizeof *s);
    const struct arch_regs reg = arch_regs_of(uc);
    uint32_t n =
        t->type == SCHEDULER_NORMAL ? process_of(t, &reg, &flags) : process_of_dirty(t, &flags);
    s[8] = is_code(reg.pc) ? 0 : reg.pc;
    s[0] = now;
    s[1] = n | rate << 8 | flags << 16 | (uint64_t)late << 32;
    s[5] = (uint64_t)t->number << 32 | (uint32_t)(monotonic_ns() - now + cost);
    push(t, rate, HEAD + n);
}

/* Answers the sampler. */
static void answer(struct thread *t, const ucontext_t *uc)
{
    const uint64_t now = monotonic_ns();
    for (uint32_t r = 0; r < ONCPU_RATES; r++) {
        uint32_t late, cost;
        switch (oncpu_sampler_asked(t->slot * ONCPU_RATES + r, now, &late, &cost)) {
        case ONCPU_ASKED_NOT: break;
        case ONCPU_ASKED_SAMPLE: capture(t, r, late, cost, ONWALL_RUNNING, uc); break;
        case ONCPU_ASKED_RUNNABLE: capture(t, r, late, cost, ONWALL_RUNNABLE, uc); break;
        case ONCPU_ASKED_WAITED:
            atomic_fetch_add_explicit(&t->waited[r].n, 1, memory_order_relaxed);
            break;
        }
    }
}

/* Returns the record of the thread that runs here, NULL: it has none. A dirty scheduler's is known
 * by its number in the system until it first comes here. */
static struct thread *thread_here(void)
{
    const uint64_t self = (uint64_t)pthread_self();
    const uint32_t n = atomic_load_explicit(&highest, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (atomic_load_explicit(&self_of[i], memory_order_relaxed) == self)
            return atomic_load_explicit(&threads[i], memory_order_acquire);
    const int tid = (int)syscall(SYS_gettid);
    for (uint32_t i = 0; i < n; i++) {
        struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
        if (t != NULL && t->tid == tid) {
            atomic_store_explicit(&self_of[i], self, memory_order_relaxed);
            return t;
        }
    }
    return NULL;
}

/* Returns whether the thread is that of the scheduler for which it is taken. Until that can be
 * known, its name is believed, and its samples have no process. */
static bool is_scheduler(struct thread *t)
{
    uint64_t record;
    if (t->record != 0)
        return true;
    switch (oncpu_dirty_record(how.memory, how.f.back, &record)) {
    case ONCPU_DIRTY_UNPROVEN: break;
    case ONCPU_DIRTY_FOUND: t->record = record; break;
    case ONCPU_DIRTY_NOT:
        for (uint32_t r = 0; r < ONCPU_RATES; r++)
            if (t->clock[r].kind != ONCPU_CLOCK_NONE)
                oncpu_clock_set(&t->clock[r], 0);
        atomic_store_explicit(&t->stranger, true, memory_order_relaxed);
        return false;
    }
    return true;
}

/* The first and last thing that it does is to say that it runs: see oncpu_close. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    atomic_fetch_add(&busy, 1);
    int was = errno;
    uint32_t late;
    const int64_t i = oncpu_clock_of(info, &late);
    struct thread *t = thread_here();
    (void)number;
    if (t != NULL && is_scheduler(t)) {
        if (i >= 0 && i / ONCPU_RATES == t->slot)
            capture(t, (uint32_t)(i % ONCPU_RATES), late, 0, ONWALL_RUNNING, context);
        answer(t, context); /* one signal may stand for both */
    }
    errno = was;
    atomic_fetch_sub(&busy, 1);
}

/* Returns how many dirty schedulers have no record as yet. */
static uint32_t unlearned(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        const struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
        n += t != NULL && t->type != SCHEDULER_NORMAL && t->record == 0 &&
             !atomic_load(&t->stranger);
    }
    return n;
}

ERL_NIF_TERM oncpu_unlearned_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return agent_is_server(env) ? enif_make_uint(env, unlearned()) : enif_make_badarg(env);
}

/* -- of threads that sleep ----------------------------------------------------------------------
 */

/* The sampler's thread looks at another one with this copy of its record, and has the samples of
 * all of them in its ring. */
static struct thread other;
static uint64_t other_flags;
static uint32_t other_frames;

uint64_t oncpu_process(uint32_t i)
{
    const struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
    const uint64_t record = t != NULL ? t->record : 0;
    return record != 0 ? ((words_read *)(uintptr_t)record)[how.f.back] : 0;
}

void oncpu_look_at_nothing(bool lost)
{
    memset(other.sample, 0, HEAD * sizeof *other.sample);
    other_flags = lost ? LOST : 0;
    other_frames = 0;
}

bool oncpu_look(uint32_t i, uint64_t pc, uint64_t sp)
{
    const struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
    const struct arch_regs reg = {.pc = pc, .sp = sp};
    oncpu_look_at_nothing(false);
    if (t == NULL)
        return false;
    other.type = t->type;
    other.record = t->record;
    other.frame = t->frame;
    other.stack = t->stack;
    other.regs = t->regs; /* its handler's: that does not run */
    other.agreed = t->agreed;
    other.schedules = t->schedules;
    other.same = t->same;
    other_frames = t->type == SCHEDULER_NORMAL ? process_of(&other, &reg, &other_flags)
                                               : process_of_dirty(&other, &other_flags);
    other.sample[8] = is_code(pc) ? 0 : pc;
    return other.sample[2] != 0 || (other_flags & HIDDEN) != 0;
}

void oncpu_note(uint32_t i, uint32_t rate, enum onwall_doing doing, uint64_t at, uint32_t took)
{
    const struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
    uint64_t *s = other.sample;
    if (t == NULL)
        return;
    s[0] = at;
    s[1] = other_frames | rate << 8 |
           (other_flags | (uint64_t)doing << DOING | (uint64_t)t->type << TYPE) << 16;
    s[5] = (uint64_t)t->number << 32 | took;
    push(&other, rate, HEAD + other_frames);
}

/* -- taking samples -----------------------------------------------------------------------------
 */

static void sample_of(const struct thread *t, uint32_t tail, struct oncpu_sample *out)
{
    const uint64_t *r = t->ring;
#define WORD(i) r[(tail + (i)) % RING]
    *out = (struct oncpu_sample){.at = WORD(0),
                                 .pid = WORD(2),
                                 .pc = WORD(3),
                                 .call = WORD(4),
                                 .took = (uint32_t)WORD(5),
                                 .native = WORD(8),
                                 .number = (uint32_t)(WORD(5) >> 32),
                                 .type = WORD(1) >> (16 + TYPE) & 7,
                                 .nframes = (uint32_t)(WORD(1) & 255),
                                 .rate = (uint32_t)(WORD(1) >> 8 & 255),
                                 .overrun = (uint32_t)(WORD(1) >> 32),
                                 .doing = WORD(1) >> (16 + DOING) & 3,
                                 .lost = (WORD(1) >> 16 & LOST) != 0,
                                 .collecting = (WORD(1) >> 16 & COLLECTING) != 0,
                                 .hidden = (WORD(1) >> 16 & HIDDEN) != 0};
    for (uint32_t i = 0; i < ONCPU_TOPS; i++)
        out->top[i] = WORD(6 + i);
    if ((WORD(1) >> 16 & CURRENT) != 0) {
        out->m = out->call;
        out->f = out->top[0];
        out->arity = out->top[1];
        out->call = out->top[0] = out->top[1] = 0;
    }
    for (uint32_t i = 0; i < out->nframes; i++)
        out->frame[i] = WORD(HEAD + i);
#undef WORD
}

/* Rings that have samples: most have none just now, and to look costs a miss of the cache each. */
static struct {
    struct thread *of;
    uint64_t at; /* when its oldest sample was taken; UINT64_MAX: there is none left */
} gathered[THREADS + 1];
static uint32_t ngathered;

/* Returns when the oldest sample of a ring was taken; UINT64_MAX: there is none. */
static uint64_t oldest_of(const struct thread *t)
{
    const uint32_t tail = atomic_load_explicit(&t->tail, memory_order_relaxed);
    return atomic_load_explicit(&t->head, memory_order_acquire) != tail ? t->ring[tail % RING]
                                                                        : UINT64_MAX;
}

void oncpu_gather(void)
{
    const uint32_t n = atomic_load(&highest);
    ngathered = 0;
    for (uint32_t i = 0; i <= n; i++) {
        struct thread *t = i < n ? atomic_load_explicit(&threads[i], memory_order_acquire) : &other;
        const uint64_t at = t != NULL ? oldest_of(t) : UINT64_MAX;
        if (at == UINT64_MAX)
            continue;
        gathered[ngathered].of = t;
        gathered[ngathered++].at = at;
    }
}

bool oncpu_next(struct oncpu_sample *out)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < ngathered; i++)
        if (gathered[i].at < gathered[oldest].at)
            oldest = i;
    if (ngathered == 0 || gathered[oldest].at == UINT64_MAX)
        return false;
    struct thread *t = gathered[oldest].of;
    uint32_t tail = atomic_load_explicit(&t->tail, memory_order_relaxed);
    sample_of(t, tail, out);
    atomic_store_explicit(&t->tail, tail + HEAD + out->nframes, memory_order_release);
    gathered[oldest].at = oldest_of(t);
    return true;
}

/* Counts from now on what a clock outside of the kernel does not sample. */
static void count_from_now(struct thread *t, uint32_t rate)
{
    t->from[rate] = oncpu_clock_time(t->tid);
    t->every[rate] = period[rate] & ~ONWALL_RATE;
    t->before[rate] = t->seen[rate] = 0;
    t->captured[rate].told = 0;
    atomic_store(&t->captured[rate].n, 0);
    t->owed[rate] = 0;
}

/* Returns how many samples a clock should have taken. now: its thread's processor time. */
static uint64_t due(const struct thread *t, uint32_t rate, uint64_t now)
{
    return t->before[rate] + (now > t->from[rate] ? now - t->from[rate] : 0) / t->every[rate];
}

/* Gives a clock another period, which begins now: the system forgets what the last one had left. */
static void set_period(struct thread *t, uint32_t rate, uint64_t ns)
{
    const uint64_t now = oncpu_clock_time(t->tid);
    t->before[rate] = due(t, rate, now);
    t->from[rate] = now;
    t->every[rate] = ns;
    oncpu_clock_every(&t->clock[rate], ns);
}

/* A program that does the same again and again can be in step with a clock, which then finds some
 * of it too often. So each clock that has taken enough samples since, compared with the one that a
 * change may lose, has another frequency: by up to an eighth more or less, on average none. */
static void vary(void)
{
    static uint64_t seed = 1, last = EVEN;
    static bool back;
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    last = (back = !back) ? 2ull * EVEN - last : EVEN - EVEN / 8 + (seed >> 33) % (EVEN / 4 + 1);
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        struct thread *t = atomic_load_explicit(&threads[i], memory_order_relaxed);
        for (uint32_t r = 0; t != NULL && r < ONCPU_RATES; r++) {
            const uint64_t n = atomic_load_explicit(&t->captured[r].n, memory_order_relaxed);
            if ((t->clock[r].kind != ONCPU_CLOCK_TASK && t->clock[r].kind != ONCPU_CLOCK_USER) ||
                n < t->seen[r] + VARY_SAMPLES || period[r] > LONGEST)
                continue;
            t->seen[r] = n;
            set_period(t, r, period[r] * EVEN / last);
        }
    }
}

void oncpu_kernel_count(void)
{
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        struct thread *t = atomic_load_explicit(&threads[i], memory_order_relaxed);
        for (uint32_t r = 0; t != NULL && r < ONCPU_RATES; r++) {
            if (t->clock[r].kind != ONCPU_CLOCK_USER || period[r] == 0 ||
                (period[r] & ONWALL_RATE) != 0 || t->owed[r] > 0)
                continue;
            struct counted *c = &t->captured[r];
            const uint64_t wanted = due(t, r, oncpu_clock_time(t->tid));
            const uint64_t had = atomic_load(&c->n) + c->told + COMING;
            t->owed[r] = wanted > had ? (uint32_t)(wanted - had < OWED ? wanted - had : OWED) : 0;
        }
    }
}

bool oncpu_kernel(struct oncpu_sample *out)
{
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        struct thread *t = atomic_load_explicit(&threads[i], memory_order_relaxed);
        for (uint32_t r = 0; t != NULL && r < ONCPU_RATES; r++) {
            if (t->owed[r] == 0)
                continue;
            t->owed[r]--;
            t->captured[r].told++;
            *out = (struct oncpu_sample){.at = monotonic_ns(),
                                         .number = t->number,
                                         .type = t->type,
                                         .rate = r,
                                         .kernel = true};
            return true;
        }
    }
    return false;
}

uint64_t oncpu_period(uint32_t rate, uint64_t at)
{
    return at >= began[rate] ? period[rate] : 0;
}

/* Returns what is new of a count, and notes that it has been told. */
static uint64_t news(struct counted *c)
{
    const uint64_t n = atomic_load_explicit(&c->n, memory_order_relaxed), more = n - c->told;
    c->told = n;
    return more;
}

/* Returns what is new of one count of all threads; `at`: where a thread's record has it. */
static uint64_t all_news(size_t at)
{
    uint64_t sum = 0;
    const uint32_t n = atomic_load(&highest);
    for (uint32_t i = 0; i <= n; i++) {
        struct thread *t = i < n ? atomic_load_explicit(&threads[i], memory_order_relaxed) : &other;
        sum += t != NULL ? news((struct counted *)(void *)((char *)t + at)) : 0;
    }
    return sum;
}

uint64_t oncpu_dropped(uint32_t rate)
{
    return all_news(offsetof(struct thread, dropped) + rate * sizeof(struct counted));
}

uint64_t oncpu_waited(uint32_t rate)
{
    return all_news(offsetof(struct thread, waited) + rate * sizeof(struct counted));
}

bool oncpu_has(int tid)
{
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        const struct thread *t = atomic_load_explicit(&threads[i], memory_order_relaxed);
        if (t != NULL && t->tid == tid && !atomic_load(&t->stranger))
            return true;
    }
    return false;
}

uint32_t oncpu_threads(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        const struct thread *t = atomic_load_explicit(&threads[i], memory_order_relaxed);
        n += t != NULL && t->type == SCHEDULER_NORMAL;
    }
    return n;
}

uint64_t oncpu_used(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        const struct thread *t = atomic_load_explicit(&threads[i], memory_order_relaxed);
        if (t == NULL || atomic_load(&t->stranger))
            continue;
        const uint64_t now = oncpu_clock_time(t->tid);
        sum += now > t->entered ? now - t->entered : 0;
    }
    return sum;
}

enum oncpu_clock_kind oncpu_worst(uint32_t rate)
{
    return worst[rate];
}

void oncpu_served(uint64_t now)
{
    static uint64_t varied;
    oncpu_clock_served(now);
    if (now - varied >= VARY_NS) {
        varied = now;
        vary();
    }
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        struct thread *t = atomic_load_explicit(&threads[i], memory_order_relaxed);
        for (uint32_t r = 0; t != NULL && !atomic_load(&t->stranger) && r < ONCPU_RATES; r++)
            if (t->clock[r].kind != ONCPU_CLOCK_NONE && atomic_exchange(&t->stopped[r], false)) {
                count_from_now(t, r);
                oncpu_clock_every(&t->clock[r], t->every[r]);
                oncpu_clock_set(&t->clock[r], period[r]);
            }
    }
}

/* -- beginning ----------------------------------------------------------------------------------
 */

/* The VM keeps a library for a resource only if its type has a destructor. */
static void keeper_ends(ErlNifEnv *env, void *what)
{
    (void)env;
    (void)what;
}

bool oncpu_load(ErlNifEnv *env)
{
    ErlNifResourceTypeInit keep = {.dtor = keeper_ends, .members = 1};
    keeper_type =
        enif_open_resource_type_x(env, "erltrace_profile", &keep, ERL_NIF_RT_CREATE, NULL);
    return keeper_type != NULL;
}

static bool open_memory(void)
{
    if (how.memory < 0)
        how.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    return how.memory >= 0;
}

static void close_memory(void)
{
    if (how.memory >= 0)
        close(how.memory);
    how.memory = -1;
}

static bool has_clocks(void)
{
    for (uint32_t r = 0; r < ONCPU_RATES; r++)
        if (period[r] != 0)
            return true;
    return false;
}

/* Returns how many descriptors have to be left when one is taken. A rate takes one of each thread;
 * as many have to be left. */
static uint32_t room_for(uint32_t nthreads)
{
    return 2 * nthreads;
}

/* Returns the word of a process that says where it goes on: of one that waited, the only one that
 * leads into the code of a function. */
static uint16_t find_next(const struct inside_facts *f)
{
    struct engine_thread *self = engine_thread_self();
    struct code_function fn;
    uint64_t looked = 0;
    uint16_t answer = INSIDE_NONE;
    unsigned found = 0;
    if (self == NULL)
        return INSIDE_NONE;
    engine_enter(self);
    for (uint16_t w = 1; w < f->there; w++)
        if (is_code(inside_rested(w)) &&
            code_place(inside_rested(w), &fn, &looked) == CODE_FUNCTION)
            answer = ++found == 1 ? w : INSIDE_NONE;
    engine_leave(self);
    return answer;
}

ERL_NIF_TERM oncpu_able_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    if (!ARCH_SAMPLED)
        return agent.atom.processor;
    const struct inside_facts *f = inside_found();
    struct code_extent code[CODE_RANGES];
    uint32_t n = code_ranges(code);
    if (n == 0 || !open_memory())
        return agent.atom.code;
    if (f == NULL || f->stop == INSIDE_NONE || f->top == INSIDE_NONE || f->sensitive == INSIDE_NONE)
        return agent.atom.facts;
    if (how.signal == 0) {
        how.f = *f;
        atomic_store(&how.ncode, 0);
        add_code(code, n);
        find_begin();
        how.next = find_next(f);
    }
    return agent.atom.ok;
}

ERL_NIF_TERM oncpu_offered_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned schedulers;
    if (!agent_is_server(env) || !enif_get_uint(env, argv[0], &schedulers) || schedulers > THREADS)
        return enif_make_badarg(env);
    if (!ARCH_SAMPLED)
        return agent.atom.processor;
    switch (oncpu_clock_offered(room_for(schedulers))) {
    case ONCPU_CLOCK_TASK: return agent.atom.task;
    case ONCPU_CLOCK_USER: return agent.atom.user;
    default: return agent.atom.sampler;
    }
}

/* Returns whether the thread has an alternate stack for signals that is large enough. */
static bool has_signal_stack(void)
{
    stack_t stack;
    unsigned long frame = getauxval(AT_MINSIGSTKSZ);
    frame = frame > 0 ? frame : OLD_FRAME;
    return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE) == 0 &&
           stack.ss_size >= frame + HANDLER_STACK;
}

/* Finds the calling thread's C stack. */
static bool find_stack(struct code_extent *out)
{
    pthread_attr_t a;
    void *from = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &a) != 0)
        return false;
    bool found = pthread_attr_getstack(&a, &from, &size) == 0;
    pthread_attr_destroy(&a);
    out->from = (uint64_t)(uintptr_t)from;
    out->to = out->from + size;
    uint64_t here = (uint64_t)(uintptr_t)&a;
    return found && here >= out->from && here < out->to;
}

/* Publishes a thread. */
static void add_thread(struct thread *t)
{
    atomic_store_explicit(&threads[t->slot], t, memory_order_release);
    for (uint32_t had = atomic_load(&highest); had <= t->slot;)
        if (atomic_compare_exchange_weak(&highest, &had, t->slot + 1))
            break;
}

/* Finds where arch_regs.place points while Erlang code runs, for the NIF's caller: the C stack
 * begins so far from there with the address to which the first C function returns, and those that
 * have another use for the register, the NIF among them, have saved it above here. Returns 0 if it
 * is not known. */
__attribute__((noinline)) static uint64_t find_regs(const struct thread *t)
{
    const uint64_t from = (uint64_t)(uintptr_t)__builtin_frame_address(0) + 16;
    const uint64_t most = t->frame + STACK_ABOVE, to = most < t->stack.to ? most : t->stack.to;
    uint64_t found = 0;
    for (uint64_t p = t->frame; how.has_begins && p < to; p += 8) {
        const uint64_t regs = p + 8 - (uint64_t)(int64_t)how.begins;
        if (!is_code(*(words_read *)(uintptr_t)p))
            continue;
        uint64_t q = from;
        while (q < p && *(words_read *)(uintptr_t)q != regs)
            q += 8;
        if (q == p)
            continue;
        if (found != 0)
            return 0;
        found = regs;
    }
    return found;
}

ERL_NIF_TERM oncpu_enter_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    arch_save_place(); /* see find_regs */
    struct scheduler kept = {0};
    struct inside_thread mine = {0};
    struct code_extent stack;
    const uint64_t *from, *to;
    uint64_t record;
    ErlNifPid self;
    struct scheduler here = scheduler_self(&kept);
    if (here.type != SCHEDULER_NORMAL || here.number == 0 || here.number > NORMAL)
        return agent.atom.scheduler;
    struct thread *t = atomic_load(&threads[here.number - 1]);
    if (t == NULL) {
        if (!inside_record(env, &mine, &record) || !enif_self(env, &self) ||
            !inside_stack(env, &mine, self.pid, &from, &to) || from == to || (to[-1] & 3) != 0 ||
            !is_code(to[-1]))
            return agent.atom.chain;
        if (!has_signal_stack() || !find_stack(&stack))
            return agent.atom.signal_stack;
        if ((t = et_calloc(1, sizeof *t)) == NULL)
            return agent.atom.agent_memory;
        t->tid = (int)syscall(SYS_gettid);
        t->entered = oncpu_clock_time(t->tid);
        t->slot = here.number - 1;
        t->number = here.number;
        t->type = here.type;
        t->record = record;
        t->frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
        t->stack = stack;
        atomic_store(&how.bottom, to[-1]);
        t->regs = find_regs(t);
        t->agreed = t->regs != 0 ? AGREED : 0;
        oncpu_dirty_normal(record);
        atomic_store(&self_of[t->slot], (uint64_t)pthread_self());
        add_thread(t);
    }
    return enif_make_uint(env, here.number);
}

/* Returns a place for a dirty scheduler's thread, from `first` on; THREADS: there is none, or it
 * has one. */
static uint32_t place_for(uint32_t first, const struct scheduler *who, int tid)
{
    uint32_t place = THREADS;
    for (uint32_t i = THREADS; i-- > first;) {
        const struct thread *t = atomic_load_explicit(&threads[i], memory_order_relaxed);
        if (t == NULL)
            place = i;
        else if (t->tid == tid ||
                 (t->type == who->type && t->number == who->number && !atomic_load(&t->stranger)))
            return THREADS;
    }
    return place;
}

ERL_NIF_TERM oncpu_add_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    int tid;
    unsigned normal;
    char name[ONCPU_NAME];
    if (!agent_is_server(env) || !enif_get_uint(env, argv[0], &normal) || normal > NORMAL ||
        !enif_get_int(env, argv[1], &tid))
        return enif_make_badarg(env);
    name[oncpu_name(tid, name)] = '\0';
    const struct scheduler who = scheduler_of_name(name);
    if (who.type != SCHEDULER_DIRTY_CPU && who.type != SCHEDULER_DIRTY_IO)
        return agent.atom.false_;
    const uint32_t place = place_for(normal, &who, tid);
    if (place == THREADS)
        return agent.atom.false_;
    struct thread *t = et_calloc(1, sizeof *t);
    if (t == NULL)
        return agent.atom.agent_memory;
    t->tid = tid;
    t->entered = oncpu_clock_time(tid);
    t->slot = place;
    t->number = who.number;
    t->type = who.type;
    add_thread(t);
    return agent.atom.true_;
}

ERL_NIF_TERM oncpu_entered_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    ERL_NIF_TERM list = enif_make_list(env, 0);
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    for (uint32_t i = atomic_load(&highest); i-- > 0;) {
        const struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
        if (t != NULL && t->type == SCHEDULER_NORMAL)
            list = enif_make_list_cell(env, enif_make_uint(env, t->number), list);
    }
    return list;
}

static bool start_clock(struct thread *t, uint32_t rate)
{
    if (t->clock[rate].kind != ONCPU_CLOCK_NONE)
        return true;
    const uint32_t number = t->slot * ONCPU_RATES + rate;
    const uint64_t ns = period[rate] & ~ONWALL_RATE;
    if (ns != period[rate] && t->record == 0)
        return true; /* whether it is idle is not known */
    if (ns != period[rate] ? !oncpu_clock_wall(&t->clock[rate], t->tid, how.signal, number, ns)
                           : !oncpu_clock_start(&t->clock[rate], t->tid, how.signal, number, ns,
                                                room_for(entered())))
        return false;
    atomic_store(&t->stopped[rate], false);
    count_from_now(t, rate);
    worst[rate] = t->clock[rate].kind > worst[rate] ? t->clock[rate].kind : worst[rate];
    return true;
}

/* Finds the records of dirty schedulers that have not had a signal, so that wall-N can tell whether
 * they are idle: where the data of normal schedulers' threads has theirs. */
static void learn_records(void)
{
    struct oncpu_dirty_place place = {0};
    if (oncpu_clock_is_filtered())
        return;
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        const struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
        if (t != NULL && t->type == SCHEDULER_NORMAL)
            oncpu_dirty_agree(&place, how.memory, t->tid, atomic_load(&self_of[i]), t->record);
    }
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
        uint64_t unknown = 0, record;
        if (t == NULL || t->type == SCHEDULER_NORMAL || t->record != 0 || atomic_load(&t->stranger))
            continue;
        switch (oncpu_dirty_record_of(&place, how.memory, how.f.back, t->tid, &record)) {
        case ONCPU_DIRTY_UNPROVEN: break;
        case ONCPU_DIRTY_NOT: atomic_store(&t->stranger, true); break;
        case ONCPU_DIRTY_FOUND: /* its handler may have found it meanwhile */
            atomic_compare_exchange_strong(&t->record, &unknown, record);
        }
    }
}

static void stop_clocks(uint32_t rate)
{
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
        if (t != NULL)
            oncpu_clock_end(&t->clock[rate]);
    }
    period[rate] = 0;
}

static bool is_default(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
           now.sa_handler == SIG_DFL;
}

static bool is_ours(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
           now.sa_sigaction == on_signal;
}

static bool is_ignored(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
           now.sa_handler == SIG_IGN;
}

static bool handle(int number)
{
    struct sigaction act = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&act.sa_mask);
    act.sa_sigaction = on_signal;
    return sigaction(number, &act, NULL) == 0;
}

static bool ignore(int number, void (*disposition)(int))
{
    struct sigaction act = {.sa_handler = disposition};
    return sigaction(number, &act, NULL) == 0;
}

static uint32_t round_of_close; /* 0: it has not begun */

/* Takes a signal that nobody handles. SIGURG first: should one come that finds no handler, the
 * system ignores it. */
static bool take_signal(void)
{
    if (how.signal != 0 && round_of_close == 0)
        return is_ours(how.signal);
    if (how.signal != 0) { /* it was about to end */
        round_of_close = 0;
        if (is_ignored(how.signal))
            return handle(how.signal);
        how.signal = 0; /* another library has taken it */
    }
    for (int number = SIGURG; number >= SIGRTMIN || number == SIGURG;
         number = number == SIGURG ? SIGRTMAX - 1 : number - 1)
        if (is_default(number) && handle(number)) {
            how.signal = number;
            return true;
        }
    return false;
}

/* Reads the wanted periods. Returns their number, or more than ONCPU_RATES if there are too many.
 */
static uint32_t wanted(ErlNifEnv *env, ERL_NIF_TERM list, uint64_t want[ONCPU_RATES])
{
    ERL_NIF_TERM head;
    ErlNifUInt64 ns;
    uint32_t n = 0;
    while (enif_get_list_cell(env, list, &head, &list))
        if (n == ONCPU_RATES || !enif_get_uint64(env, head, &ns) || ns == 0)
            return ONCPU_RATES + 1;
        else
            want[n++] = ns;
    return n;
}

static bool contains(const uint64_t *v, uint32_t n, uint64_t ns)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i] == ns)
            return true;
    return false;
}

ERL_NIF_TERM oncpu_rates_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    uint64_t want[ONCPU_RATES];
    uint32_t n = agent_is_server(env) ? wanted(env, argv[0], want) : ONCPU_RATES + 1;
    if (n > ONCPU_RATES || (n > 0 && how.memory < 0))
        return enif_make_badarg(env);
    for (uint32_t r = 0; r < ONCPU_RATES; r++)
        if (period[r] != 0 && !contains(want, n, period[r]))
            stop_clocks(r);
    if (n == 0)
        return agent.atom.ok;
    struct code_extent code[CODE_RANGES];
    add_code(code, code_ranges(code));
    if (keeper == NULL && (keeper = enif_alloc_resource(keeper_type, 1)) == NULL)
        return agent.atom.agent_memory;
    oncpu_clock_served(monotonic_ns());
    if (!take_signal())
        return agent.atom.signal;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t r = 0; r < ONCPU_RATES && !contains(period, ONCPU_RATES, want[k]); r++)
            if (period[r] == 0) {
                period[r] = want[k];
                began[r] = monotonic_ns();
                worst[r] = ONCPU_CLOCK_NONE;
                oncpu_dropped(r); /* what others have left is nobody's */
                oncpu_waited(r);
                onwall_news(r);
            }
    bool good = true, wall = false;
    for (uint32_t k = 0; k < n; k++)
        wall = wall || (want[k] & ONWALL_RATE) != 0;
    if (wall && oncpu_dirty_is_proven() && unlearned() > 0)
        learn_records();
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
        for (uint32_t r = 0; t != NULL && r < ONCPU_RATES; r++)
            if (atomic_load(&t->stranger))
                oncpu_clock_end(&t->clock[r]);
            else
                good = (period[r] == 0 || start_clock(t, r)) && good;
    }
    return good ? agent.atom.ok : agent.atom.timer;
}

/* -- ending -------------------------------------------------------------------------------------
 */

/* Returns whether a thread sleeps in a system call, where it waits for something that comes from
 * outside: so it is not about to run a handler, nor in one (that waits for nothing). */
static bool is_asleep(const struct thread *t)
{
    char state;
    int processor;
    return oncpu_sampler_state(t->tid, &state, &processor) && state == 'S';
}

static uint64_t since[THREADS]; /* CPU time of each thread when the round began */
static bool in_round;

static void free_threads(void)
{
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        atomic_store(&self_of[i], 0);
        et_free(atomic_exchange(&threads[i], NULL));
    }
}

/* Returns true once every thread has been outside of the handler since the signal is ignored. In
 * the first round a thread could still be before the handler's first instruction, where the second
 * one finds it in the handler or past it. */
static bool all_outside(void)
{
    if (atomic_load(&busy) != 0) {
        in_round = false;
        round_of_close = 1;
        return false;
    }
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        const struct thread *t = atomic_load_explicit(&threads[i], memory_order_acquire);
        const uint64_t now = t != NULL ? oncpu_clock_time(t->tid) : 0;
        if (!in_round)
            since[i] = now;
        else if (now != 0 && now - since[i] < OUTSIDE_NS && !is_asleep(t)) /* 0: it has ended */
            return false;
    }
    round_of_close += in_round;
    in_round = !in_round;
    return round_of_close > ROUNDS;
}

bool oncpu_close(void)
{
    for (uint32_t r = 0; r < ONCPU_RATES; r++)
        if (period[r] != 0)
            stop_clocks(r);
    if (!oncpu_sampler_close())
        return false;
    if (how.signal == 0) {
        free_threads();
        close_memory();
        return true;
    }
    if (round_of_close == 0) {
        if (!is_ours(how.signal)) /* somebody may have kept our handler's address */
            return false;
        ignore(how.signal, SIG_IGN);
        round_of_close = 1;
        in_round = false;
    }
    if (!all_outside())
        return false;
    if (is_ignored(how.signal))
        ignore(how.signal, SIG_DFL);
    how.signal = 0;
    round_of_close = 0;
    free_threads();
    close_memory();
    if (keeper != NULL)
        enif_release_resource(keeper);
    keeper = NULL;
    return true;
}

ERL_NIF_TERM oncpu_close_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    return has_clocks() || oncpu_close() ? agent.atom.true_ : agent.atom.false_;
}
