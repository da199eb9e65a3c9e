/* kmain.h - pieces of the main functions that events run: they have the context in r6, and once a
 * slot is taken its place in r7 and its struct kslot in r8. */
#ifndef ET_LINUX_KMAIN_H
#define ET_LINUX_KMAIN_H

#include "linux/kcode.h"
#include "linux/kgen.h"

enum { KMAIN_CONTEXT = 6, KMAIN_PLACE, KMAIN_KSLOT, KMAIN_VALUE };

/* Functions of the kernel that stand above the probe on the stack, where they were not left by a
 * jump: the one that runs a tracepoint's program, and the one that runs all of a tracepoint. */
struct kmain_above {
    uint64_t skip; /* frames that always are there */
    bool passed;   /* the process passes its own stack (kslot.about) */
    struct kmain_range {
        uint64_t start, size; /* size 0: there is none */
    } range[KMEM_ABOVE];
};

/* Emits: r0 = the number of the process that runs, in our namespace (knamespace.h). */
void kmain_process(struct kcode *c);

/* Emits: stacks of these frames are read to the slot. */
void kmain_stacks(struct kcode *c, const struct kgen_frames *f, const struct kmain_above *above);

/* Emits: a clause is called, whose EPID is in the slot; `faulted` is called after a fault. */
void kmain_clause(struct kcode *c, uint32_t clause, const char *faulted);

#endif
