/* scripts.h - ready scripts, by name: what `erltrace list` shows and `erltrace run` runs.
 *
 * They are files NAME.d in a few folders; where two have one name, that of the earlier folder is
 * meant. The folders: those of ERLTRACE_SCRIPTS, with colons between them; erltrace/scripts in
 * XDG_CONFIG_HOME (~/.config); and the one that came with this program.
 *
 * The header of a script is its first comment, whose first line says what it is:
 *
 *     NAME.d ARGUMENTS - what it shows
 */
#ifndef ET_CLI_SCRIPTS_H
#define ET_CLI_SCRIPTS_H

#include <stddef.h>

#include "base/arena.h"

struct script {
    const char *name;      /* without .d */
    const char *path;      /* of the file */
    const char *arguments; /* words in capitals; "" when it takes none, or does not say */
    const char *what;      /* what it shows; "" when it does not say */
};

/* All of them, by name; NULL when memory is out. Everything is in the arena. */
struct script *scripts_all(struct arena *arena, size_t *n);
/* The one of this name, with or without .d; NULL: there is none, and *near is the name that is
 * nearest to it, or NULL. */
const struct script *scripts_find(struct arena *arena, const char *name, const char **near);
/* How many arguments it says that it takes. */
size_t scripts_arguments(const struct script *s);

#endif
