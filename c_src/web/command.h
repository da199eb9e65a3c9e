/* command.h - runs a command of system() for a trace that people look on at: what it prints is
 * theirs, and it ends with the trace.
 *
 * system(3) would print where the server does, and would keep the thread of the trace for as long
 * as the command likes, also when nobody looks on any more. */
#ifndef ET_WEB_COMMAND_H
#define ET_WEB_COMMAND_H

#include <stddef.h>

enum command_verdict {
    COMMAND_WANTED,  /* it may take as long as it takes */
    COMMAND_HURRY,   /* the trace is to end: it may take a second more */
    COMMAND_UNWANTED /* it is ended now */
};

struct command_owner {
    /* What it prints, on standard output or error, as it comes. */
    void (*output)(void *arg, const char *text, size_t n);
    /* Asked many times a second while the command runs. */
    enum command_verdict (*look)(void *arg);
    void *arg;
};

/* Runs it with /bin/sh and waits for the shell; what that has left running in the background goes
 * on, and is not heard any more. A command to be ended gets SIGTERM, and then SIGKILL, with all of
 * its process group. Its standard input is empty. 0, or an errno value when there is no shell. */
int command_run(const char *command, const struct command_owner *owner);

#endif
