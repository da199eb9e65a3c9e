/* target.h - which nodes a trace runs in, and the processes that were started for it. */
#ifndef ET_CLI_TARGET_H
#define ET_CLI_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/diag.h"
#include "cli/args.h"
#include "consumer/session.h"

/* A process started by -c. */
struct child {
    pid_t pid;
    int fd; /* pidfd, readable when it has ended; -1: none */
    bool ended;
    char node[256]; /* its node name */
    char cookie[256];
};
struct target {
    struct child *child;
    size_t nchildren;
    pid_t first; /* $target: the first process of the command line, 0 if none */
};

/* Starts the commands of -c and waits until they can be traced. 0 or an error with a diagnostic. */
int target_spawn(struct target *t, const struct args *a, struct arena *arena, struct diags *d);
/* Opens the tiers that the command line names and gives them to the session; without any, the local
 * tier if `local`, else the only BEAM of this host. */
int target_open(struct target *t, const struct args *a, struct arena *arena, bool local,
                struct session *s, struct diags *d);
/* True when every process of -c has ended. Waits for that at most timeout_ms. */
bool target_gone(struct target *t, int timeout_ms);
/* The processes run on. */
void target_close(struct target *t);

#endif
