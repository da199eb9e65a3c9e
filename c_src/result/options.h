/* options.h - sets options, and holds their values for a session (language.md 9).
 *
 * An option is set from the environment (DTRACE_OPT_NAME), by -x, or by `#pragma D option`; the
 * later setting wins. util/options.list has a row for each. */
#ifndef ET_RESULT_OPTIONS_H
#define ET_RESULT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/option.h"

enum { OPTION_LIBDIRS = 32, OPTION_REDACT = 16 };

struct options {
    int64_t value[OPTION_COUNT]; /* OPTION_UNSET: not set and without a default, or its type has no
                                    value */
    const char *cpppath;         /* the preprocessor; NULL: cpp. Borrowed */
    const char *syslibdir;       /* replaces the folder of erltrace's own D libraries. Borrowed */
    const char *libdir[OPTION_LIBDIRS]; /* further folders, in order. Borrowed */
    size_t nlibdirs;
    const char *redact[OPTION_REDACT]; /* patterns of keys, separated by commas. Borrowed */
    size_t nredact;
    bool restricted;    /* options that affect this host can no longer be set, whoever sets them */
    const char *permit; /* what a restricted user can do about destructive, or NULL. Borrowed */
};

void options_init(struct options *o);
/* Sets an option; value NULL: the name stood alone. Returns 0, or -1 with *why set to one of
 * dtrace's reasons. Options of the preprocessor are not kept here: they are unknown names. */
int options_set(struct options *o, const char *name, const char *value, enum option_by by,
                const char **why);
/* Returns a hint for a user who could not set that option: the nearest name, the form of its
 * values, or `permit`. NULL: no hint. The hint may be in `room`. */
enum { OPTION_HINT = 96 };
const char *options_hint(const struct options *o, const char *name, char room[OPTION_HINT]);
/* Calls `setter` for every option, those of the preprocessor included, that DTRACE_OPT_NAME in the
 * environment gives a value. Stops when it returns other than 0, and returns -1 with *name set. */
int options_environment(int (*setter)(void *arg, const char *name, const char *value), void *arg,
                        const char **name);

/* Gets the current value of an option. Returns false, with OPTION_UNSET, for a name that has none
 * (a path, say). */
bool options_get(const struct options *o, const char *name, int64_t *value);

/* Returns whether a flag is set. Any value sets it, even "quiet=0". */
static inline bool option_on(const struct options *o, enum option_id which)
{
    return o->value[which] != OPTION_UNSET;
}

/* Parses a rate or time ("10s", "97hz", "100" = nanoseconds) to ns. Returns false when it is
 * neither. */
bool option_rate(const char *text, int64_t *ns);

#endif
