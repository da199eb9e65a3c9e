/* secret.h - secrets that a program was started with.
 *
 * A command line can be read by every user of a host, for as long as the process lives; its
 * environment by its own user, and by whatever it starts. So both are emptied at the start. What
 * the kernel shows of a process between its start and that moment is not to be helped: a file is
 * the way that never shows a secret. */
#ifndef ET_UTIL_SECRET_H
#define ET_UTIL_SECRET_H

#include "base/arena.h"

/* The variable that `erltrace` and `erltrace-serve` take the cookie from. */
#define SECRET_COOKIE "ERLTRACE_COOKIE"

/* A copy of an argument, which is overwritten where `ps` finds it. NULL: out of memory. */
char *secret_argument(struct arena *a, char *value);
/* A copy of a variable of the environment, which is overwritten and removed; NULL when it is not
 * set (or empty), or memory is out. */
char *secret_variable(struct arena *a, const char *name);

#endif
