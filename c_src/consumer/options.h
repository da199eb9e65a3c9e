/* options.h - the options of a session: one table of names, kinds and defaults (reference 9).
 *
 * An option is set from the environment (DTRACE_OPT_NAME), by -x, or by `#pragma D option`; the
 * later wins. Those that the reference knows and this program does not have yet are refused by
 * name. */
#ifndef ET_CONSUMER_OPTIONS_H
#define ET_CONSUMER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    X(switchrate,    RATE, 0)            /* ns between readings of records; 0: as they come */    \
    X(aggrate,       RATE, 0)            /* ns between readings of aggregations */                \
    X(statusrate,    RATE, 1000000000)   /* ns between reports of drops */                        \
    X(quiet,         FLAG, OPTION_UNSET)                                                          \
    X(flowindent,    FLAG, OPTION_UNSET)                                                          \
    X(destructive,   FLAG, OPTION_UNSET) /* -w */                                                 \
    X(quietresize,   FLAG, OPTION_UNSET)                                                          \
    X(rawbytes,      FLAG, OPTION_UNSET)                                                          \
    X(aggsortkey,    FLAG, OPTION_UNSET)                                                          \
    X(aggsortkeypos, FLAG, OPTION_UNSET)                                                          \
    X(aggsortpos,    FLAG, OPTION_UNSET)                                                          \
    X(aggsortrev,    FLAG, OPTION_UNSET)                                                          \
    X(argref,        COMPILE, OPTION_UNSET)                                                       \
    X(defaultargs,   COMPILE, OPTION_UNSET)                                                       \
    X(empty,         COMPILE, OPTION_UNSET)                                                       \
    X(errtags,       COMPILE, OPTION_UNSET)                                                       \
    X(droptags,      COMPILE, OPTION_UNSET)                                                       \
    X(pspec,         COMPILE, OPTION_UNSET)                                                       \
    X(cpp,           COMPILE, OPTION_UNSET) /* -C */                                              \
    X(amin,          AMIN, OPTION_UNSET) /* least stability */                                    \
    X(zdefs,         COMPILE, OPTION_UNSET)                                                       \
    X(verbose,       COMPILE, OPTION_UNSET) /* -S */                                              \
    X(errform,       ERRFORM, OPTION_UNSET) /* ours: 1 = dtrace's one-line compile errors */
/* clang-format on */

enum { OPTION_UNSET = -2 };
enum option_id {
#define X(name, kind, value) OPTION_##name,
    OPTIONS(X)
#undef X
        OPTION_COUNT
};

struct options {
    int64_t value[OPTION_COUNT]; /* OPTION_UNSET: not set, and no default */
    const char *cpppath;         /* the preprocessor; NULL: cpp. Borrowed */
};

/* Who sets an option. */
enum option_from { OPTION_FROM_COMMAND, OPTION_FROM_PROGRAM, OPTION_FROM_RUNNING /* setopt() */ };

void options_init(struct options *o);
/* Sets one; value NULL: the name stood alone. 0, or -1 with *why set to one of dtrace's reasons, or
 * to "not built yet". */
int options_set(struct options *o, const char *name, const char *value, enum option_from from,
                const char **why);
/* Reads DTRACE_OPT_NAME for every option there is. -1 with *name and *why at the first one that is
 * refused. */
int options_environment(struct options *o, const char **name, const char **why);

/* Whether a flag is set; "quiet=0" is. */
static inline bool option_on(const struct options *o, enum option_id which)
{
    return o->value[which] != OPTION_UNSET;
}

/* A rate or time ("10s", "97hz", "100" = nanoseconds) in ns; false when it is none. */
bool option_rate(const char *text, int64_t *ns);

#endif
