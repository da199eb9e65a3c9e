/* options.h - the options of a session: one table of names, kinds and defaults (language.md 9).
 *
 * An option is set from the environment (DTRACE_OPT_NAME), by -x, or by `#pragma D option`; the
 * later wins. Options that only other systems have a use for are accepted and mean nothing. */
#ifndef ET_RESULT_OPTIONS_H
#define ET_RESULT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* OPTION(id, "kind", default): the options that are built, each with the value it has when nobody
 * sets it. */
/* clang-format off */
#define OPTIONS(X)                                                                                \
    X(bufsize,       SIZE, 4 << 20)      /* bytes of principal buffer, a thread */                \
    X(aggsize,       SIZE, 4 << 20)      /* bytes of aggregation table, a thread */               \
    X(dynvarsize,    SIZE, 1 << 20)      /* bytes for dynamic variables */                        \
    X(strsize,       STRSIZE, 256)       /* bytes of a string, NUL not counted */                 \
    X(specsize,      SIZE, 4 << 20)      /* bytes of a speculation, a thread */                   \
    X(nspec,         NSPEC, 1)           /* speculations at a time */                             \
    X(bufpolicy,     POLICY, 0)          /* enum engine_policy */                                 \
    X(bufresize,     RESIZE, 0)          /* 1: manual, sizes are as asked for or not at all */    \
    X(cpu,           FLAG, OPTION_UNSET) /* the only CPU that is traced */                        \
    X(eventbudget,   BUDGET, ENGINE_BUDGET) /* units of work for one event */                     \
    X(scratchsize,   SCRATCH, 256)       /* bytes for alloca() and copyin(), a clause */          \
    X(stackframes,   FLAG, 20)           /* frames of stack(), unless it says */               \
    X(ustackframes,  FLAG, 100)                                                                   \
    X(jstackframes,  FLAG, 50)                                                                    \
    X(jstackstrsize, SIZE, 512)                                                                   \
    X(maxframes,     FLAG, 127)                                                                   \
    X(stackindent,   FLAG, 14)                                                                    \
    X(noresolve,     FLAG, OPTION_UNSET)                                                          \
    X(pcapsize,      PCAP, 1520)         /* rounded up to a multiple of 8 */                      \
    X(lockmem,       LOCKMEM, -1)        /* -1: unlimited */                                      \
    X(cleanrate,     RATE, 9900990)      /* most between readings when there are speculations */  \
    X(printsize,     PRINT, OPTION_UNSET) /* bytes that print() shows at most */                  \
    X(switchrate,    RATE, 0)            /* ns between readings of records; 0: as they come */    \
    X(aggrate,       RATE, 0)            /* ns between readings of aggregations */                \
    X(statusrate,    RATE, 1000000000)   /* ns between reports of drops */                        \
    X(maxload,       PERCENT, 40)        /* of a scheduler's time, for the probes; 0: any */       \
    X(stats,         STATS, OPTION_UNSET) /* ns between reports of what probes cost; 0: the last */ \
    X(longgc,        RATE, 100000000)    /* ns: gc-long fires for collections that take so long */ \
    X(longschedule,  RATE, 100000000)    /* ns: schedule-long, for what runs so long */           \
    X(largeheap,     SIZE, 10 << 20)     /* words: heap-large, for heaps that are so large */     \
    X(longqueue,     SIZE, 1000)         /* messages: queue-long, for queues that are so long */  \
    X(pollrate,      RATE, 1000000000)   /* ns between two firings of probes that tell how it is */ \
    X(lease,         LEASE, 1500000000)  /* ns that a node waits for a sign of life of ours */        \
    X(quiet,         FLAG, OPTION_UNSET)                                                          \
    X(flowindent,    FLAG, OPTION_UNSET)                                                          \
    X(destructive,   FLAG, OPTION_UNSET) /* -w */                                                 \
    X(quietresize,   FLAG, OPTION_UNSET)                                                          \
    X(rawbytes,      FLAG, OPTION_UNSET)                                                          \
    X(rawoutput,     FLAG, OPTION_UNSET) /* a terminal gets what a program prints as it is */      \
    X(elixir,        FLAG, 0)            /* texts show MyApp.Foo for Elixir.MyApp.Foo */           \
    X(aggsortkey,    FLAG, OPTION_UNSET)                                                          \
    X(aggsortkeypos, FLAG, OPTION_UNSET)                                                          \
    X(aggsortpos,    FLAG, OPTION_UNSET)                                                          \
    X(aggsortrev,    FLAG, OPTION_UNSET)                                                          \
    X(agghist,       FLAG, OPTION_UNSET)                                                          \
    X(aggpack,       FLAG, OPTION_UNSET)                                                          \
    X(aggzoom,       FLAG, OPTION_UNSET)                                                          \
    X(encoding,      ENCODING, OPTION_UNSET) /* 0: ascii, 1: utf8; unset: as the locale has it */  \
    X(aggpercpu,     COMPILE, OPTION_UNSET)                                                       \
    X(evaltime,      EVALTIME, 2)        /* exec, preinit, postinit, main */                      \
    X(iregs,         IREGS, OPTION_UNSET) /* registers of the code generator */                   \
    X(tregs,         TREGS, 8)           /* registers for keys and arguments */                   \
    X(tree,          NUMBER, OPTION_UNSET) /* shows the program as a tree */                      \
    X(disasm,        NUMBER, OPTION_UNSET) /* shows the DIF, as -S */                             \
    X(debug,         FLAG, OPTION_UNSET) /* tells what is made and granted */                     \
    X(argref,        COMPILE, OPTION_UNSET)                                                       \
    X(defaultargs,   COMPILE, OPTION_UNSET)                                                       \
    X(empty,         COMPILE, OPTION_UNSET)                                                       \
    X(errtags,       COMPILE, OPTION_UNSET)                                                       \
    X(droptags,      COMPILE, OPTION_UNSET)                                                       \
    X(pspec,         COMPILE, OPTION_UNSET)                                                       \
    X(cpp,           COMPILE, OPTION_UNSET) /* -C */                                              \
    X(amin,          AMIN, OPTION_UNSET) /* least stability */                                    \
    X(version,       VERSION, 0)         /* of the language, as compile_version has it; 0: ours */   \
    X(nolibs,        COMPILE, OPTION_UNSET)                                                       \
    X(zdefs,         COMPILE, OPTION_UNSET)                                                       \
    X(verbose,       COMPILE, OPTION_UNSET) /* -S */                                              \
    X(errform,       ERRFORM, OPTION_UNSET) /* ours: 1 = dtrace's one-line compile errors */
/* clang-format on */

enum { OPTION_UNSET = -2, OPTION_LIBDIRS = 32 };
enum option_id {
#define X(name, kind, value) OPTION_##name,
    OPTIONS(X)
#undef X
        OPTION_COUNT
};

struct options {
    int64_t value[OPTION_COUNT];        /* OPTION_UNSET: not set, and no default */
    const char *cpppath;                /* the preprocessor; NULL: cpp. Borrowed */
    const char *syslibdir;              /* instead of the folder of our D libraries. Borrowed */
    const char *libdir[OPTION_LIBDIRS]; /* more folders, in order. Borrowed */
    size_t nlibdirs;
    bool restricted;    /* what concerns this host is not to be set any more, by anybody */
    const char *permit; /* what somebody restricted can do about destructive, or NULL. Borrowed */
};

/* Who sets an option. */
enum option_from { OPTION_FROM_COMMAND, OPTION_FROM_PROGRAM, OPTION_FROM_RUNNING /* setopt() */ };

void options_init(struct options *o);
/* Sets one; value NULL: the name stood alone. 0, or -1 with *why set to one of dtrace's reasons.
 * Those of the preprocessor are not kept here: no such name. */
int options_set(struct options *o, const char *name, const char *value, enum option_from from,
                const char **why);
/* What may help whoever could not set that option: the nearest name, the form of its values, or
 * `permit`. NULL: nothing. `room` holds it if need be. */
enum { OPTION_HINT = 96 };
const char *options_hint(const struct options *o, const char *name, char room[OPTION_HINT]);
/* Calls `setter` for every option, those of the preprocessor included, that DTRACE_OPT_NAME in the
 * environment gives a value; -1 with *name when that is not 0. */
int options_environment(int (*setter)(void *arg, const char *name, const char *value), void *arg,
                        const char **name);

/* The value an option has now; false, and OPTION_UNSET, for a name that has none. */
bool options_get(const struct options *o, const char *name, int64_t *value);

/* Whether a flag is set; "quiet=0" is. */
static inline bool option_on(const struct options *o, enum option_id which)
{
    return o->value[which] != OPTION_UNSET;
}

/* A rate or time ("10s", "97hz", "100" = nanoseconds) in ns; false when it is none. */
bool option_rate(const char *text, int64_t *ns);

#endif
