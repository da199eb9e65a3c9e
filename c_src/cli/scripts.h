/* scripts.h - ready scripts, by name: `erltrace list` shows them and `erltrace run` runs them.
 *
 * They are files NAME.d in several folders; if two have the same name, the earlier folder's is
 * used. The folders: those of ERLTRACE_SCRIPTS, separated by colons; erltrace/scripts in
 * XDG_CONFIG_HOME (~/.config); and the one that came with this program, which the static command
 * has inside.
 *
 * The header of a script is its first comment, whose first line describes it:
 *
 *     NAME.d ARGUMENTS - what it shows */
#ifndef ET_CLI_SCRIPTS_H
#define ET_CLI_SCRIPTS_H

#include <stddef.h>

#include "base/arena.h"

struct script {
    const char *name;      /* without .d */
    const char *path;      /* of the file */
    const char *text;      /* of a script that is inside the program; NULL: it is in the file */
    const char *arguments; /* words in capitals, those in brackets may be left out; "" if it takes
                              none, or does not say */
    const char *what;      /* what it shows; "" if it does not say */
};

/* Returns all scripts, sorted by name; NULL if out of memory. Everything is in the arena. */
struct script *scripts_all(struct arena *arena, size_t *n);
/* Returns the script of this name, with or without .d. NULL: there is none, and *near is the
 * closest name, or NULL. */
const struct script *scripts_find(struct arena *arena, const char *name, const char **near);
/* Returns the number of arguments that the script's header names; *needed: without those that may
 * be left out. */
size_t scripts_arguments(const struct script *s, size_t *needed);

#endif
