/* cli.h - the parts of the command; each returns the exit code. */
#ifndef ET_CLI_CLI_H
#define ET_CLI_CLI_H

#include "base/arena.h"
#include "cli/args.h"
#include "cli/screen.h"

enum { EXIT_OK = 0, EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_OVERLOAD = 3 };

/* Runs or lists what the command line requests. */
int cli_trace(struct args *a, struct arena *arena);
/* Lists the BEAMs of this host. */
int cli_nodes(const struct args *a, struct arena *arena);
/* `erltrace list`. */
int cli_list(const struct args *a, struct arena *arena);
/* `--help`, and `help COMMAND`. */
int cli_help(const struct args *a);
/* `--version`, with all that there is to say, and `-V`, with the version alone. */
int cli_version(const struct args *a);
/* No words at all: shows what can be done here and now. */
int cli_nothing(struct arena *arena);
/* `erltrace port`. */
int cli_port(void);
/* `erltrace doctor`. */
int cli_doctor(const struct args *a, struct arena *arena);
/* `erltrace serve`, which has options of its own; returns only if it cannot be run. Changes
 * argv. */
int cli_serve(char **argv, struct arena *arena);

/* Gives a handle the means to reach nodes: cookie, certificates, folder. Returns 0 or -1, as the
 * library's functions do. */
int cli_set_access(erltrace_t *h, const struct args *a);

/* Prints what a handle answers; returns the exit code. */
typedef int cli_ask_fn(erltrace_t *h, const struct args *a, struct screen *s, void *arg);
/* Calls fn with a new handle, whose diagnostics go to the screen, and a screen for `-o`; closes
 * both. */
int cli_ask(const struct args *a, cli_ask_fn *fn, void *arg);

#endif
