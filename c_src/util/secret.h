/* secret.h - secrets that a program was started with.
 *
 * Every user of a host can read a command line for as long as the process lives; its own user, and
 * everything that it starts, can read its environment. So the program erases the secrets from both
 * when it starts. What the kernel shows of a process before that moment cannot be helped: only a
 * file never shows a secret. */
#ifndef ET_UTIL_SECRET_H
#define ET_UTIL_SECRET_H

#include "base/arena.h"

/* The variable from which `erltrace` and `erltrace-serve` take the cookie. */
#define SECRET_COOKIE "ERLTRACE_COOKIE"

/* Returns a copy of an argument, and overwrites it where `ps` finds it. NULL: out of memory. */
char *secret_argument(struct arena *a, char *value);
/* Returns a copy of an environment variable, which it overwrites and removes; NULL when the
 * variable is not set (or empty), or memory is out. */
char *secret_variable(struct arena *a, const char *name);

#endif
