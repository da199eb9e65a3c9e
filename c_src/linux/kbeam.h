/* kbeam.h - finds out where the Erlang VMs of this machine keep what their threads run, so that a
 * program in the kernel knows which Erlang process it looks at. Nothing runs in the VMs: their
 * memory is read from outside.
 *
 * A thread that runs Erlang code has a record of its scheduler, which it keeps in its thread-local
 * memory; the record points to the VM's structure of the process that runs, whose first word is the
 * process's id, and which points back to the record:
 *
 *     thread --own--> record --back--> process --there--> record
 *
 * (On a dirty scheduler the process has 0 there.) The three offsets differ between releases and
 * builds, and none is assumed. They are known when exactly one set of them has led from threads of
 * schedulers to a process that comes and goes: to two processes, to one on two schedulers, or to
 * one that was there, was not (0 in its place), and was there again, some times. What belongs to
 * the scheduler itself looks the same to whoever sees a single process that stays. And threads of
 * schedulers must not have contradicted the set at several looks: a thread may be interrupted while
 * it changes from one process to another, and contradict once what is right. The program in the
 * kernel follows the chain again at each event; it uses the chain only if it is closed.
 *
 * NAMES. A registered process points to its entry in the registry, which points back to it, and has
 * its name, an atom, the number of which is the entry's hash. Three words of every process are the
 * function with which the VM began it: two atoms and a small number. What that goes on to, a
 * process of proc_lib has in its dictionary, under '$initial_call'. A process that has a dictionary
 * points to it:
 *
 *     u32 mask, used, ... | ... | from byte 24 on: entries
 *
 * A key that is an atom belongs to entry number & mask, or if that is not in use, & mask / 2: a
 * pair, or a list of pairs. The table of atoms is found in the VM's data by what it consists of:
 * blocks of addresses of atoms, each of which has its own number, and the first of which are
 * `false` and `true` on every release.
 *
 * STACKS. Two words of a process are the begin and the end of its heap, and a third one is the
 * words between them. Its stack grows from that end down, and the last word of it is a return
 * address. The top of the stack is what lies highest of all words of the process that point into
 * that block. That is known when it has been so for two processes or more, and only one word of
 * each kind is left. A VM with frame pointers (+JPperf) has one more word behind the top: that of
 * the process, which is higher; it leads to where the caller's is, and a return address behind
 * that.
 *
 * CODE. What the JIT of OTP compiles on x86-64 lies in memory with a name of its own. A VM that
 * maps its code once (+JPperf, +JMsingle) has it in some pieces of memory without a name, which
 * alone can be both written and run. More pieces come as modules are loaded.
 *
 * The layout of an id is known by the VM's version: that of the folder erts-VERSION in which the
 * program lies. */
#ifndef ET_LINUX_KBEAM_H
#define ET_LINUX_KBEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "linux/kbtf.h"
#include "linux/kmem.h"

struct kbeams;

/* Opens; `table` is where the program in the kernel looks, KMEM_BEAMS long and empty. stacks: where
 * the stacks of processes are is wanted as well. *tls receives
 * where a struct task_struct has the address of its thread-local memory. Fails with a diagnostic
 * where this kernel does not tell it. */
int kbeams_open(struct kbeams **out, struct kbeam *table, const struct kbtf *types, bool stacks,
                uint64_t *tls, struct diags *d);
/* Looks at the VMs that run now, at most for some milliseconds each. To be called now and then.
 * Returns whether all is known of all of them. */
bool kbeams_look(struct kbeams *b);
/* Warns of each VM whose processes are not known, and why, once. That they were not seen to run is
 * said at the `end`, if it is true of all VMs. */
void kbeams_warn(struct kbeams *b, bool end, struct diags *d);
void kbeams_close(struct kbeams *b);

/* What a look has to go by, for tests: the words of a VM's memory. Returns whether n words at an
 * address could be read. */
typedef bool kbeam_read_fn(void *arg, uint64_t at, uint64_t *to, unsigned n);
/* Reads the memory of a process: arg is an int *, a descriptor of /proc/PID/mem. */
bool kbeam_read(void *arg, uint64_t at, uint64_t *to, unsigned n);
/* The same by whole pages, of which the last ones are kept: for a look that reads much in a moment.
 * arg is what kbeam_pages returns, NULL when memory is exhausted; to be freed by et_free. */
struct kbeam_pages;
struct kbeam_pages *kbeam_pages(int memory);
bool kbeam_read_paged(void *arg, uint64_t at, uint64_t *to, unsigned n);

enum { KBEAM_CHAINS = 64, KBEAM_THREADS = 16 };

/* Words of a thread's own memory that are searched, and in bytes from its address where they begin:
 * the C library keeps what it knows of a thread from there on, or before it. */
enum { KBEAM_TLS_WORDS = 288 };
#ifdef __x86_64__
enum { KBEAM_TLS_FIRST = 0 };
#else
enum { KBEAM_TLS_FIRST = -KBEAM_TLS_WORDS * 8 };
#endif

/* The threads of schedulers, by the addresses of their thread-local memory: n, then those of dirty
 * ones. */
struct kbeam_threads {
    const uint64_t *tls;
    uint32_t n, ndirty;
};

/* What is known of one VM so far. Zeros to begin with. */
struct kbeam_proof {
    struct kbeam_chain {
        int32_t own;
        uint16_t back, there;
        uint32_t open, opened; /* looks that have contradicted it, and the last of them */
        uint64_t id[2];        /* of two processes; 0: not seen */
        uint32_t on;           /* the threads that have closed it to the first one, a bit each */
        uint32_t busy;         /* the threads that have closed it, when they were last seen */
        uint32_t gone;         /* how often such a thread was idle then */
    } chain[KBEAM_CHAINS];
    uint32_t nchains;
    uint32_t looks;
};

/* Looks at the schedulers' threads. `layout` has the layout of ids, and receives the chain. Returns
 * whether it is proven. */
typedef bool kbeam_prove_fn(struct kbeam_proof *p, const struct kbeam_threads *t,
                            kbeam_read_fn *read, void *arg, struct kbeam *layout);
kbeam_prove_fn kbeam_prove;
/* The same without looking for more chains, which takes long. */
kbeam_prove_fn kbeam_check;

/* What is known of where names are. Zeros to begin with. */
struct kbeam_names {
    bool entry, initial, dictionary;
    uint64_t id[2];  /* of processes that were seen; 0: none */
    bool other[128]; /* words that cannot be where the first function is */
};

/* Looks at the processes that run, once the chain is known: where one has its entry in the
 * registry, the function with which it began, and its dictionary. Returns whether `v` has all. */
bool kbeam_name(struct kbeam_names *n, const struct kbeam_threads *t, kbeam_read_fn *read,
                void *arg, struct kbeam *v);

/* What is known of where stacks are. Zeros to begin with. */
struct kbeam_stacks {
    uint32_t looks;
    uint64_t id[2];                   /* of processes that were seen; 0: none */
    bool not_end[128], not_stop[128]; /* words that cannot be */
};

/* Looks at the processes that run, once the chain and the code are known. Returns whether `v` has
 * where the top and the end of their stacks are. */
bool kbeam_stack(struct kbeam_stacks *s, const struct kbeam_threads *t, kbeam_read_fn *read,
                 void *arg, struct kbeam *v);

/* Writes the text of an atom, KBEAM_ATOM bytes with a NUL. Returns its length, 0: it is none. */
enum { KBEAM_ATOM = 256 };
size_t kbeam_text(const struct kbeam *v, uint64_t atom, kbeam_read_fn *read, void *arg,
                  char to[KBEAM_ATOM]);

/* Finds the table of atoms in a VM's own data, and in it '$initial_call'. Returns whether `v` has
 * it. */
bool kbeam_atoms(uint64_t from, uint64_t to, kbeam_read_fn *read, void *arg, struct kbeam *v);

/* Finds the pieces of memory that have the code which a VM's JIT has compiled. Returns how many; 0:
 * there are none, or more than code has. */
uint32_t kbeam_code(uint64_t pid, struct kpiece out[KMEM_PIECES]);
/* The same of the text of /proc/PID/maps, for tests. */
uint32_t kbeam_code_in(FILE *maps, struct kpiece out[KMEM_PIECES]);
/* Notes these pieces in `v`, or that there are none. */
void kbeam_set_code(struct kbeam *v, const struct kpiece *piece, uint32_t n);
/* Returns whether an address lies in a VM's compiled code. */
bool kbeam_in_code(const struct kbeam *v, uint64_t at);

/* Fills in the layout of ids, by the path of the VM's program. Returns false if the path does not
 * tell the version. */
bool kbeam_layout(const char *path, struct kbeam *out);

#endif
