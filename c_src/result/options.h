/* options.h - the values of a session's options, and what sets them (language.md 9).
 *
 * An option is set from the environment (DTRACE_OPT_NAME), by -x, or by `#pragma D option`; the
 * later wins. util/options.list has a row for each. */
#ifndef ET_RESULT_OPTIONS_H
#define ET_RESULT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/option.h"

enum { OPTION_LIBDIRS = 32 };

struct options {
    int64_t value[OPTION_COUNT];        /* OPTION_UNSET: not set, and no default; or it has none */
    const char *cpppath;                /* the preprocessor; NULL: cpp. Borrowed */
    const char *syslibdir;              /* instead of the folder of our D libraries. Borrowed */
    const char *libdir[OPTION_LIBDIRS]; /* more folders, in order. Borrowed */
    size_t nlibdirs;
    bool restricted;    /* what concerns this host is not to be set any more, by anybody */
    const char *permit; /* what somebody restricted can do about destructive, or NULL. Borrowed */
};

void options_init(struct options *o);
/* Sets one; value NULL: the name stood alone. 0, or -1 with *why set to one of dtrace's reasons.
 * Those of the preprocessor are not kept here: no such name. */
int options_set(struct options *o, const char *name, const char *value, enum option_by by,
                const char **why);
/* What may help whoever could not set that option: the nearest name, the form of its values, or
 * `permit`. NULL: nothing. `room` holds it if need be. */
enum { OPTION_HINT = 96 };
const char *options_hint(const struct options *o, const char *name, char room[OPTION_HINT]);
/* Calls `setter` for every option, those of the preprocessor included, that DTRACE_OPT_NAME in the
 * environment gives a value; -1 with *name when that is not 0. */
int options_environment(int (*setter)(void *arg, const char *name, const char *value), void *arg,
                        const char **name);

/* The value an option has now; false, and OPTION_UNSET, for a name that has none (a path, say). */
bool options_get(const struct options *o, const char *name, int64_t *value);

/* Whether a flag is set; "quiet=0" is. */
static inline bool option_on(const struct options *o, enum option_id which)
{
    return o->value[which] != OPTION_UNSET;
}

/* A rate or time ("10s", "97hz", "100" = nanoseconds) in ns; false when it is none. */
bool option_rate(const char *text, int64_t *ns);

#endif
