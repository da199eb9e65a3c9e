/* inside.h - what the VM knows of the process that runs, and offers to no NIF: the length of its
 * message queue, its reductions, the sizes of its heaps.
 *
 * In a callback for a process that runs, the second word of the environment is the address of the
 * VM's structure of that process. Where its members lie depends on the release and on how the VM
 * was built. So nothing is assumed: the server finds the offsets when the first program needs them
 * (erltrace_agent_inside), and keeps them.
 *
 * LOOKS. A process of the agent brings itself into a known state, asks the VM about it
 * (process_info/2), and calls nif_inside_look, which copies the first words of its structure. The
 * copy is made by the system (/proc/self/mem), which fails where a load would fault.
 *
 * PROOF. A fact is an offset at which every look has the known value, over several processes and
 * many values. Exactly one offset must be left, and lie before that of the chain: what is behind it
 * may not be of the structure. Otherwise the fact is not known, and the variable is -1. The facts:
 *     id        word 0 is the process's id
 *     chain     a word points to the record of the scheduler that runs the process, in which a word
 *               points back; the server, which this scheduler ran just before, has the same word
 *     mqlen     messages in the inner queue, which the process has seen; in the outer one
 *     heap      words of the young heap's block
 *     old       first word of the old heap's block, and its end; both 0 without one
 *     reds      reductions until the process was scheduled in
 *               what it got then, and what is left of that
 *               how many of those that are used do not count: in the scheduler's record
 *     stack     first word and end of the young heap's block
 *               in it the tops of the heap, which the environment has as well, and of the stack
 *     sensitive a bit of a word is set while the process is sensitive (process_flag/2)
 *     dictionary a word leads to a dictionary (dictionary.h) of as many elements as there are; it
 *               is 0 without one. Only before OTP_LABELS, where it is of use
 *
 * AT REST. A VM with frame pointers (+JPperf) keeps that of a process behind the top of its stack.
 * While the process is in a NIF, both are the same, since a NIF's frame is empty. So the last
 * process is looked at once more, while it waits with values in its frame: there the frame pointer
 * is above the top.
 *
 * Without id and chain nothing is known.
 *
 * READING. An event reads a member only after it has shown, of this very event, that the process
 * of the environment is the one that the probe is about (enif_self), and that the thread's own
 * scheduler runs it: by the chain, whose record each thread has first read through the system. So
 * a process whose signals another thread handles is not read. On a dirty scheduler the process has
 * no record: its word is 0, which only there is accepted. No load goes to an address that comes
 * from an unproven word. All members are words that the VM writes whole; a value that cannot be is
 * -1. */
#ifndef ET_BEAM_PROBE_INSIDE_H
#define ET_BEAM_PROBE_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include <erl_nif.h>

#include "arch/arch.h"

enum {
    INSIDE_WORDS = 112,   /* of a process that are searched; its structure has about as many */
    INSIDE_RECORD = 64,   /* words of what one of them points to */
    INSIDE_CHAINS = 8,    /* kept of one look */
    INSIDE_LOOKS = 32,    /* most looks */
    INSIDE_ENOUGH = 16,   /* fewest */
    INSIDE_VALUES = 3,    /* fewest values of a member */
    INSIDE_PROCESSES = 2, /* fewest processes */
    INSIDE_LOWEST = 4096, /* no address is lower */
    INSIDE_NONE = 0xffff  /* not known */
};

/* What one look has seen. Values in words. */
struct inside_look {
    uint64_t at; /* the address of the structure */
    uint64_t pid;
    uint64_t word[INSIDE_WORDS];
    struct inside_chain {
        uint16_t there, back;
        uint64_t record[INSIDE_RECORD]; /* what it leads to */
    } chain[INSIDE_CHAINS];
    uint32_t nchains;
    /* As the process knows itself, or the VM told: */
    uint64_t inner, outer; /* messages */
    uint64_t block, old;   /* words of the heaps' blocks; old 0: there is none */
    uint64_t stack;        /* words of the stack */
    uint64_t top;          /* the third word of the environment */
    uint64_t reds[2];      /* reductions, before and after */
    uint64_t sensitive;    /* 1: the process is */
    uint64_t elements;     /* of its dictionary; 0: it has none */
    /* Of the dictionary that a word leads to: DICTIONARY_NONE, where it leads to none. */
    uint64_t leads[INSIDE_WORDS];
};

/* Indexes of words; INSIDE_NONE: not known. */
struct inside_facts {
    uint16_t there, back;       /* id and chain */
    uint16_t inner, outer;      /* mqlen */
    uint16_t block;             /* heap */
    uint16_t old, old_end;      /* old */
    uint16_t reds, given, left; /* reds; `given` and `left` are the low halves of their words */
    uint16_t unreal;            /* of the record, in halves of words */
    uint16_t heap, heap_end, top, stop; /* stack */
    uint16_t sensitive;                 /* of bits, from that of the first word on */
    uint16_t dictionary;
};

/* Finds the facts that n looks prove. rest: the words of a process while it waits; NULL: there is
 * none. */
void inside_prove(const struct inside_look *look, uint32_t n, const uint64_t rest[INSIDE_WORDS],
                  struct inside_facts *out);

/* The thread's own; zeros to begin with. */
struct inside_thread {
    uint64_t record; /* of its scheduler; 0: not known so far */
    uint32_t tries;  /* to know it */
};

enum inside_what { INSIDE_MQLEN, INSIDE_REDUCTIONS, INSIDE_HEAP, INSIDE_OLD_HEAP };

/* Returns a value of process `pid`, -1: not known. `between`: the process is being scheduled in or
 * out, when the VM has already counted its reductions. For callbacks: it takes no lock and
 * allocates nothing. Until it has succeeded on a thread it makes a system call at every attempt
 * whose number is a power of two. */
int64_t inside_value(ErlNifEnv *env, struct inside_thread *mine, ERL_NIF_TERM pid,
                     enum inside_what what, bool between);

/* Finds the stack of process `pid`, from its top to its end, while this event lasts. Returns false
 * when it is not known. For callbacks, as inside_value. */
bool inside_stack(ErlNifEnv *env, struct inside_thread *mine, ERL_NIF_TERM pid,
                  const uint64_t **from, const uint64_t **to);

/* Returns a word of the structure of a process of the agent that waited, as of the last look at
 * rest; 0: there was none. Only the server. */
uint64_t inside_rested(uint16_t word);

/* Counts the words that a copy of the dictionary of process `pid` takes; DICTIONARY_LARGE: too
 * many, or it cannot be counted. Returns false when that is not known at this event. For callbacks,
 * as inside_value. */
bool inside_dictionary(ErlNifEnv *env, struct inside_thread *mine, ERL_NIF_TERM pid,
                       uint32_t *words);

/* Returns what has been proven so far; NULL: nothing. It stays in place and does not change. */
const struct inside_facts *inside_found(void);
/* Finds the record of the scheduler on which the caller of a NIF runs. Returns false when it is not
 * known, as on a dirty scheduler. */
bool inside_record(ErlNifEnv *env, struct inside_thread *mine, uint64_t *record);
/* Copies n words from an address of this process, without ever faulting. Returns whether all of
 * them could be read. fd: of /proc/self/mem. Async-signal-safe; changes errno. */
bool inside_read(int fd, uint64_t at, uint64_t *out, size_t n);
/* Copies the first words of the structure of the process that has called a NIF on a normal
 * scheduler. at: its address. Returns false when they could not be read. */
bool inside_self(ErlNifEnv *env, uint64_t *at, uint64_t out[INSIDE_WORDS]);
static inline bool inside_is_address(uint64_t word)
{
    return word >= INSIDE_LOWEST && word % 8 == 0 && word >> ARCH_ADDRESS_BITS == 0;
}

/* nif_inside_known() -> [Fact]: what has been proven; only the server. */
ERL_NIF_TERM inside_known_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_inside_begin(Pid, First :: boolean()) -> ok: this process may look now. First: forget all
 * looks; the scheduler that runs the server runs all who look from now on. Only the server. */
ERL_NIF_TERM inside_begin_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_inside_look() -> boolean(): looks at the caller. */
ERL_NIF_TERM inside_look_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_inside_keep({Inner, Outer, Block, Old, Stack, Reductions before, after, Sensitive, Elements})
 * -> boolean(): keeps the last look. */
ERL_NIF_TERM inside_keep_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_inside_rest() -> boolean(): looks at the process that looked last while it waits, instead of
 * all such looks before. True: this leaves no doubt about the top of the stack. Only the server. */
ERL_NIF_TERM inside_rest_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* nif_inside_prove() -> [Fact]: proves, and keeps what is proven if that is more than was known.
 * Only the server. */
ERL_NIF_TERM inside_prove_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#endif
