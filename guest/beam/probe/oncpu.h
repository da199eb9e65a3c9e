/* oncpu.h - profile-N: which process a scheduler runs, and where in its code, as often as the
 * scheduler has used so much processor time.
 *
 * CLOCKS. Each scheduler thread, normal or dirty, has a clock for each rate (oncpu_clock.h), which
 * goes only while the thread runs, so a scheduler that rests is not woken. Its signal goes to that
 * thread, where it interrupts whatever runs: Erlang code, a BIF, a NIF, a collection.
 *
 * PROCESSORS. What is true of one alone is in its header (arch/arch.h); where ARCH_SAMPLED is 0
 * there, every profile is refused.
 *
 * THE SIGNAL HANDLER only captures: the process that the scheduler's record names, and the words of
 * its stack that could be return addresses. It runs on the thread's alternate stack, because the
 * JIT uses the native stack for Erlang's. It takes no lock and allocates nothing. While Erlang code
 * runs, its process and stack are read where they are: only that code could give them up. While C
 * code runs, which may be in the midst of moving them, they are read through the system
 * (inside_read). What it captures is a SAMPLE, which it appends to the thread's ring; a full ring
 * counts a drop. A sample says whether the process is being collected, where it is known which bit
 * of a process says that (collecting.h).
 *
 * THE SERVER takes the samples from the rings and fires profile-N for each, as of the time of the
 * sample (oncpu_fire.c). So clauses never run in a signal handler.
 *
 * WHERE A STACK BEGINS. While Erlang code runs, the stack pointer lies in the process's heap block,
 * and the program counter is the innermost frame. While C code runs, Erlang's stack pointer is in
 * the process's structure, or in a register, which the C code may have saved. Which of these
 * it is, the JIT's code tells: after the call it loads the stack pointer from there. That code is
 * found by the return address, the first word on the C stack, which always begins at the same
 * distance from where the register arch_regs.place points while Erlang code runs. That distance is
 * read from the code itself: it is the operand of each instruction by which it leaves Erlang's
 * stack. Without this proof the structure's word is used.
 *
 * DIRTY SCHEDULERS. A normal scheduler is added by a process that runs on it. A process cannot
 * choose the dirty scheduler that runs it, and all of these may be busy for hours: so a dirty
 * scheduler's thread is found in the system's list, by the name that the VM gives to it. When its
 * first signal comes, the thread itself proves that it is that of a scheduler (oncpu_dirty.h): one
 * that is not, as a thread that a NIF has made there and that has inherited the name, loses its
 * clocks. The process, which has put its stack away, is always read through the system.
 *
 * BETWEEN SLICES. A process that has used up its slice is still that of the scheduler while this
 * looks for what to run next. The place from which the code calls for that is where samples without
 * a process return to. There the process's own word says where it goes on (inside_rested).
 *
 * ENDING. A signal that finds no handler must do no harm, and no thread may be inside the handler
 * when the library goes. So first the clocks are ended, and the sampler's thread; then the signal
 * is ignored, by which the system discards those that are pending; then we wait until every thread
 * has, since then, used some of its CPU time outside of the handler, or sleeps; only then the
 * signal's disposition is what it was, and the library may go. A resource of the VM keeps the
 * library until that has been proven. Should nobody take samples for ONCPU_ALONE, the handler
 * itself stops its clock, and the sampler ends. */
#ifndef ET_BEAM_PROBE_ONCPU_H
#define ET_BEAM_PROBE_ONCPU_H

#include <stdbool.h>
#include <stdint.h>

#include <erl_nif.h>

#include "beam/probe/oncpu_clock.h"
#include "beam/probe/onwall.h"

enum {
    ONCPU_FRAMES = 127, /* most words of a stack that could be return addresses */
    ONCPU_TOPS = 2,     /* first words of the stack, whatever they are */
    ONCPU_NAME = 32     /* bytes of a thread's name, more than the system has */
};

/* What a program has had. */
struct oncpu_counts {
    uint64_t began; /* CLOCK_MONOTONIC ns: older samples are of no concern; 0: it has not */
    uint64_t used;  /* oncpu_used then */
    uint64_t until; /* ... and when its samples were last taken */
    enum oncpu_clock_kind worst; /* of the clocks of its samples */
    uint64_t samples;
    uint64_t idle;    /* no process ran */
    uint64_t kernel;  /* they are owed for time in the kernel */
    uint64_t hidden;  /* the process was sensitive: it is not shown */
    uint64_t unknown; /* of a process, and its innermost function is not known */
    uint64_t late;    /* expirations of the clock that came while the last one was not handled */
    uint64_t dropped; /* samples for which a ring had no room */
    uint64_t waited;  /* for which a thread had no processor, and that are no samples therefore */
    uint64_t collecting;       /* the process was being collected */
    struct onwall_counts wall; /* of wall-N; those above are of profile-N */
};

struct oncpu_sample {
    uint64_t at;     /* CLOCK_MONOTONIC */
    uint64_t pid;    /* word of the process; 0: none */
    uint64_t pc;     /* in compiled code; 0: it was elsewhere */
    uint64_t native; /* the program counter when it was elsewhere; 0: it was not */
    uint64_t call;   /* C code runs: where it returns to compiled code; 0: not known */
    uint64_t top[ONCPU_TOPS];
    uint64_t frame[ONCPU_FRAMES]; /* words that lie in the code's mapping, the innermost first */
    uint32_t nframes;
    uint32_t rate;        /* index */
    uint32_t overrun;     /* expirations that it stands for, beyond its own */
    uint32_t took;        /* ns of the handler */
    uint64_t m, f, arity; /* the current function, which is not on the stack; m 0: not known */
    uint32_t number;      /* of the scheduler */
    uint8_t type;         /* enum scheduler_type */
    bool kernel;          /* it is none, but one is due: see oncpu_kernel */
    enum onwall_doing doing;
    bool hidden;
    bool collecting; /* the VM collects the process */
    bool lost;       /* its thread went on while it was read: nothing is known */
};

/* Looks which rings have samples. Only the server. */
void oncpu_gather(void);
/* Takes the oldest sample of the rings that had one then, and of what has been added to these
 * since. Returns false when there is none. Only the server. */
bool oncpu_next(struct oncpu_sample *out);
/* Where the system lets the node's user have the task clock outside of the kernel alone, what a
 * thread's CPU clock has beyond its samples is its time in the kernel. Counts how many samples are
 * owed for that, and takes one. Only the server. */
void oncpu_kernel_count(void);
bool oncpu_kernel(struct oncpu_sample *out);
/* Returns the period of a rate, with ONWALL_RATE if it is one of wall-N; 0: it is not in use, or
 * was not at that time. */
uint64_t oncpu_period(uint32_t rate, uint64_t at);
/* Returns how many samples of this rate have been dropped since the last call. Only the server. */
uint64_t oncpu_dropped(uint32_t rate);
/* ... and how many there would have been of threads that waited for a processor. */
uint64_t oncpu_waited(uint32_t rate);
/* For the sampler's thread, of a thread whose scheduler's record is known (onwall.h). i: its place.
 * oncpu_process: the word of the scheduler's record that has its process; 0: it runs none.
 * oncpu_look: looks where that process is while the thread sleeps; pc, sp: its registers, 0: not
 *     known. Returns false when there is no process.
 * oncpu_look_at_nothing: instead, there is nothing to see.
 * oncpu_note: makes what was looked at last a sample. took: ns. */
uint64_t oncpu_process(uint32_t i);
bool oncpu_look(uint32_t i, uint64_t pc, uint64_t sp);
void oncpu_look_at_nothing(bool lost);
void oncpu_note(uint32_t i, uint32_t rate, enum onwall_doing doing, uint64_t at, uint32_t took);

/* Returns how many normal schedulers are sampled. */
uint32_t oncpu_threads(void);
/* Returns the ns of processor time that all sampled threads have used since each was added. */
uint64_t oncpu_used(void);
/* Returns the worst kind of clock that a rate has had on a thread since it came into use. */
enum oncpu_clock_kind oncpu_worst(uint32_t rate);
/* Notes that somebody takes samples. Clocks that stopped because nobody did go on. */
void oncpu_served(uint64_t now);

/* Begins to end, or goes on: returns true when nothing is left. Only the server or the guard, and
 * unload. */
bool oncpu_close(void);

/* nif_profile_able() -> ok | Why :: processor | code | facts: whether this VM can be sampled. Only
 * the server. nif_profile_offered(Schedulers) -> task | user | sampler | processor: the kind of
 * clock that so many threads would have, as oncpu_clock.h has them. Only the server.
 * nif_profile_enter() -> Number :: pos_integer() | Why :: scheduler | chain | signal_stack |
 * memory: adds the scheduler that runs the caller. Any process of the agent.
 * nif_profile_rates([PeriodNs]) -> ok | Why :: signal | timer | memory: these have clocks from now
 *     on; with ONWALL_RATE, they are of wall-N. Only the server.
 * nif_profile_add(Schedulers, Tid) -> boolean() | memory: adds a thread, by its number in the
 *     system, if it has the name of a dirty scheduler that has not been added. Schedulers: the
 *     normal ones of the VM. Only the server.
 * nif_profile_unlearned() -> N: dirty schedulers whose records are not known. Only the server.
 * nif_profile_close() -> boolean(): as oncpu_close. Only the server.
 * nif_profile_entered() -> [Number] of normal schedulers. Only the server. */
ERL_NIF_TERM oncpu_able_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_offered_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_enter_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_add_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_rates_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_unlearned_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_close_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_entered_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* Returns whether a thread, by its number in the system, is sampled. Only the server. */
bool oncpu_has(int tid);
/* Reads the name of a thread. Returns its bytes, which have no NUL. */
size_t oncpu_name(int tid, char out[static ONCPU_NAME]);
/* nif_profile_others(First :: boolean()) -> {More :: boolean(), [{Tid, Name, Ns}]}: threads of the
 *     VM's process that are not sampled, a part of them: the first, or those after the last answer;
 *     with the processor time that each has used. At most some thousands in all. Only the server.
 * nif_profile_process() -> Ns: that of the whole process, with threads that have ended. */
ERL_NIF_TERM oncpu_others_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_process_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
void oncpu_others_unload(void);

/* nif_profile_take([Program], Most) -> boolean(): fires profile-N of these programs for at most so
 * many samples; true: there may be more. Only the server.
 *
 * nif_profile_counts(Program) -> {Samples, Idle, Hidden, Unknown, Late, Dropped, Ns, Clock,
 *     Waited, Kernel, Collecting}:
 *     Ns is the processor time of the schedulers from when it began to run until its samples were
 *     last taken, Clock the worst kind of its clocks: task | user | sampler | cpu, as oncpu_clock.h
 *     has them, or undefined
 *
 * nif_wall_counts(Program) -> {Called, [Running, Runnable, Asleep], Idle, Hidden, Unknown, Lost,
 *     Dropped, Unlooked, Late}: of wall-N */
ERL_NIF_TERM oncpu_take_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_counts_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_wall_counts_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* The type of the resource that keeps the library. Returns false when out of memory. */
bool oncpu_load(ErlNifEnv *env);

#endif
