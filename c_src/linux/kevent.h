/* kevent.h - the programs that tracepoints, and places in processes, run: for each tracepoint one,
 * which finds out which probes an event is, and runs their clauses.
 *
 * Probes of one tracepoint that are told apart by one number, and have the same arguments and
 * clauses, form a block: all system calls are one look-up and one sequence of calls. */
#ifndef ET_LINUX_KEVENT_H
#define ET_LINUX_KEVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "engine/engine.h"
#include "linux/kcode.h"
#include "linux/kgen.h"
#include "linux/kprobes.h"
#include "linux/ksym.h"

/* A probe that the program is on. */
struct kevent_probe {
    struct engine_probe identity;
    const struct kprobe *probe;
    const struct kprobe_arg *arg;
    size_t nargs;
    const struct engine_binding *b; /* n of them, in program order */
    uint32_t n;
};

struct kblock {
    const struct kevent_probe **probe; /* n of them */
    uint32_t n, cap;
    int64_t least, most; /* of `is`, if it has a key */
    uint32_t reads;      /* bit set of the arguments that its clauses read */
    uint64_t entries;    /* place of struct kentry of `least`, and so on */
    uint64_t stride;
};

struct kevents {
    struct arena *arena;
    struct kblock *block; /* by tracepoint */
    uint32_t n, cap;
    struct kpoint {
        const char *name;
        enum kattach attach;
    } * point; /* the tracepoints, each once; places that have a program in common are one */
    uint32_t npoints;
};

/* Forms blocks. Returns 0 or ET_ENOMEM. */
int kevents_plan(struct kevents *k, struct arena *arena, const struct dif_image *img,
                 const struct kevent_probe *probe, uint32_t n);
/* Places the entries from `place` on; returns the place after them. */
uint64_t kevents_place(struct kevents *k, uint64_t place);
/* Writes the entries to the map. text(arg, s) returns the address of a text for D. */
void kevents_fill(const struct kevents *k, unsigned char *memory,
                  uint64_t (*text)(void *arg, const char *s), void *arg);
/* Emits the main function of a tracepoint's program. `least`: frames that each event keeps. */
void kevents_main(const struct kevents *k, struct kcode *c, uint32_t point,
                  const struct dif_image *img, const struct kgen_frames *least, struct ksyms *syms);

#endif
