/* cli.h - the parts of the command; each returns the exit code. */
#ifndef ET_CLI_CLI_H
#define ET_CLI_CLI_H

#include "base/arena.h"
#include "cli/args.h"

enum { EXIT_OK = 0, EXIT_ERROR = 1, EXIT_USAGE = 2 };

/* Runs or lists what the command line asks for. */
int cli_trace(struct args *a, struct arena *arena);
/* Lists the BEAMs of this host. */
int cli_nodes(const struct args *a, struct arena *arena);

/* The folder that holds ebin/ and priv/ of the agent: ERLTRACE_ROOT, or found from where this
 * program lies; NULL when there is none. In the arena. */
const char *cli_root(struct arena *arena);
/* The text after the C preprocessor, *len bytes of it in the arena; NULL and *why in dtrace's words
 * when that failed. */
char *cli_preprocess(struct arena *arena, const struct args *a, const char *text, size_t *len,
                     const char **why);
/* Reads a whole file into the arena, NUL after it; NULL with errno set. */
char *cli_read_file(struct arena *arena, const char *path, size_t *len);

#endif
