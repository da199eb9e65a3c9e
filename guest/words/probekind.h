/* probekind.h - the kinds of probes, as probes.list and needs.list describe them. */
#ifndef ET_WORDS_PROBEKIND_H
#define ET_WORDS_PROBEKIND_H

#include <stdint.h>

enum { PROBE_NAME_MAX = 63 }; /* the most characters of a provider's or a probe's name */

enum { PROBE_LABELS = 951 }; /* user_trace-n0 to user_trace-n950 */

/* What a probe of the vm tier needs from the VM; the agent sets the union. */
enum probe_need {
#define WORD_NEED(bit, name, of, flags, text) PROBE_NEED_##name = 1 << bit,
#include "words/needs.list"
#undef WORD_NEED
};

/* Every kind of probe that a tier can be asked for: probes.list. Named probes are below
 * PROBE_FN_ENTRY. */
enum probe_kind {
#define WORD_PROBE(num, name, by, text, needs) PROBE_##name = num,
#include "words/probes.list"
#undef WORD_PROBE
    PROBE_FN_END, /* the first kind after those of functions */
    PROBE_NKINDS = 224
};

/* What clauses read at a probe of a function, added to its kind in a binding. */
enum probe_use {
    PROBE_USE_ARGS = 256,  /* arguments of the call: argv */
    PROBE_USE_VALUE = 512, /* the end of each call by itself: retval; at return with the others */
    /* its callers get a token of seq_trace: follow() */
    PROBE_USE_FOLLOW = 1024,
    PROBE_USE_TIME = 2048, /* when the call began: elapsed */
    /* nothing but that there was a call: it may be counted instead of reported */
    PROBE_USE_COUNT = 4096,
    PROBE_USES =
        PROBE_USE_ARGS | PROBE_USE_VALUE | PROBE_USE_FOLLOW | PROBE_USE_TIME | PROBE_USE_COUNT
};

/* What a probe of each kind needs: PROBE_NEEDS_DRIVER_READY_INPUT, a set of enum probe_need. */
enum probe_needs {
#define NEED(need)                             PROBE_NEED_##need
#define WORD_PROBE(num, name, by, text, needs) PROBE_NEEDS_##name = needs,
#include "words/probes.list"
#undef WORD_PROBE
#undef NEED
    PROBE_NEEDS_NONE = 0
};

/* A row of probes.list, which explains the columns. */
struct word_probe {
    const char *name; /* "process-spawn" */
    uint32_t needs;   /* enum probe_need bits */
};
/* Returns the row of a kind; NULL: none. Constant time. */
const struct word_probe *word_probe(unsigned kind);

/* The classes of functions, which determine the kinds of probes that a function has; the numbers
 * are part of the agent's protocol. */
enum probe_fn_class {
    PROBE_FN_ERLANG,
    PROBE_FN_BIF,
    PROBE_FN_NIF,
    PROBE_FN_INLINED, /* a BIF whose calls the compiler replaces with an instruction: no bif-* */
    PROBE_FN_PRIVATE, /* written in Erlang and not exported: no call of it is global */
    PROBE_FN_CLASSES
};

/* Returns the kind whose events a kind consists of: PROBE_FN_ENTRY for bif-entry; the kind itself
 * for entry, and for local- and global-function-entry, which are only some of the entries. */
enum probe_kind probe_fn_event(enum probe_kind kind);

#endif
