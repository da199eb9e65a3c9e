/* command.h - runs a command of system() for a trace with viewers: they see its output, and it ends
 * with the trace.
 *
 * system(3) would print where the server prints, and would occupy the trace's thread as long as the
 * command likes, even after the last viewer has left. */
#ifndef ET_WEB_COMMAND_H
#define ET_WEB_COMMAND_H

#include <stddef.h>

enum command_verdict {
    COMMAND_WANTED,  /* it may take any time */
    COMMAND_HURRY,   /* the trace is to end: it has one more second */
    COMMAND_UNWANTED /* end it now */
};

struct command_owner {
    /* Receives its standard output and error, as they arrive. */
    void (*output)(void *arg, const char *text, size_t n);
    /* Called many times a second while the command runs. */
    enum command_verdict (*look)(void *arg);
    void *arg;
};

/* Runs the command with /bin/sh and waits for the shell. Processes that the shell leaves in the
 * background continue, but their output is no longer read. To end a command, its whole process
 * group gets SIGTERM, then SIGKILL. Standard input is empty. Returns 0, or an errno value if there
 * is no shell. */
int command_run(const char *command, const struct command_owner *owner);

#endif
