/* kept.h - the calls of a process that have not returned, and what is kept of them until they do:
 * when they began, and copies of their arguments.
 *
 * Only functions of which a clause reads `argv` or `elapsed` at return or exception are kept. Each
 * of their calls leaves a frame on the process's stack (exception_trace), so that the VM reports
 * the end of each, and calls end in the reverse order of their beginnings, recursive and tail calls
 * included.
 *
 * DATA. A process has a record of fixed size in a table that is made when a program first needs it:
 * a ring of calls, and a ring of words for their copies (frozen.h). A call that finds no room takes
 * that of the oldest ones, whose arguments are then not known when they return. So the leftovers of
 * calls that never returned (a process that hibernates drops its stack without an event) go by
 * themselves.
 *
 * A call is found by a number that the function has while it is kept without interruption
 * (struct function). A number found further down shows that the calls above it are gone. When the
 * keeping of a function ends and begins again, it has another number: its calls in between were not
 * seen.
 *
 * One thread uses a record at a time: the one that has set `busy`. No thread waits for another. The
 * VM reports the events of a process one after the other, so it is always free, unless somebody
 * calls the tracer on behalf of another process; then that call is not kept. The record of a
 * process that has no calls may be taken by another process. */
#ifndef ET_BEAM_PROBE_KEPT_H
#define ET_BEAM_PROBE_KEPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <erl_nif.h>

#include "beam/probe/proctab.h"

enum {
    KEPT_PROCESSES = 1 << 13,
    KEPT_BYTES = 8192,        /* of a record */
    KEPT_CALLS = 64,          /* of a process */
    KEPT_ARGS_DEFAULT = 2048, /* bytes of a call's arguments: option argsize */
    KEPT_ARGS_LEAST = 64,
    KEPT_ARGS_MOST = 4096
};

struct kept_call {
    uint64_t number;   /* of the function */
    uint64_t began;    /* CLOCK_MONOTONIC ns, 0: not kept */
    ERL_NIF_TERM args; /* a list, or a copy of one; 0: not kept */
    uint32_t start,
        end; /* words of the copy; never empty, so that they are in the order of calls */
};

enum { KEPT_WORDS = KEPT_BYTES / 8 - 3 - KEPT_CALLS * 4 };
struct kept_calls {
    _Atomic uint32_t busy;
    _Atomic uint32_t n; /* calls */
    uint64_t pid;       /* whose they are */
    uint32_t base;      /* index of the oldest call in the ring */
    uint32_t unused;
    struct kept_call call[KEPT_CALLS];
    uint64_t word[KEPT_WORDS];
};
_Static_assert(sizeof(struct kept_calls) == KEPT_BYTES, "the table's size is documented");

/* Returns the record of a process, of which the caller has the only use until kept_close; NULL:
 * there is none, or no room for one. `make`: makes one where there is none. t NULL: no room. */
struct kept_calls *kept_open(struct proctab *t, uint64_t pid, bool make);
void kept_close(struct kept_calls *k); /* NULL is allowed */

/* Records that a call began; `words`: the most that the copy of its arguments may take. args 0: not
 * kept. Reads the clock, last, if `timed`. */
void kept_push(struct kept_calls *k, ErlNifEnv *env, uint64_t number, ERL_NIF_TERM args,
               uint32_t words, bool timed);
/* Takes the innermost call of a function, and those above it, off the record. Returns NULL when
 * there is none. It stays as it is until the record is closed. */
const struct kept_call *kept_pop(struct kept_calls *k, uint64_t number);

#endif
