/* embedded.h - erltrace's own files, inside the program.
 *
 * `make static` makes the command as one file, which runs where nothing else is: no libraries, and
 * none of the files that belong to erltrace (the agent, the D libraries, the ready scripts). They
 * are in this table instead. In every other build the table is empty, and they are looked for in
 * folders. */
#ifndef ET_UTIL_EMBEDDED_H
#define ET_UTIL_EMBEDDED_H

#include <stdbool.h>

struct embedded {
    const char *path;       /* in the root folder: "priv/lib/procfs.d" */
    const char *text, *end; /* its bytes; the one at `end` is NUL */
};

/* What messages call the root folder of these files. The same pointer stands for that folder. */
extern const char embedded_root[];

/* Returns whether this is the static command. It can load no library. */
bool embedded_static(void);
/* Returns the file of this path in the root folder; NULL: there is none. */
const struct embedded *embedded_find(const char *path);
/* Returns the next file of a folder ("priv/lib"), in the order of names, not of those in its own
 * folders; `after` NULL: the first one. NULL: there is no more. */
const struct embedded *embedded_next(const char *folder, const struct embedded *after);

#endif
