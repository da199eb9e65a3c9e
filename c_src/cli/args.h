/* args.h - the command line: dtrace(1)'s letters with dtrace(1)'s meanings (language.md 11.1), and
 * our long options. */
#ifndef ET_CLI_ARGS_H
#define ET_CLI_ARGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "erltrace.h"

struct args_program {
    enum erltrace_spec spec;
    const char *text;   /* the argument: a program, or the name of a file */
    const char *inside; /* the text of a script that is inside this program, else NULL */
};

/* A process to trace: from -p, or from -c. */
struct args_process {
    pid_t pid;           /* -p */
    const char *command; /* -c, else NULL */
};

/* An option to set. */
struct args_option {
    char letter; /* the letter that set it: x, or one of its own */
    const char *name;
    const char *value; /* NULL: the name alone */
};

struct args {
    struct args_program *program; /* in command-line order */
    size_t nprograms;
    struct args_process *process;
    size_t nprocesses;
    const char **node; /* --node, split at commas */
    size_t nnodes;
    const char *cluster; /* --cluster: a node of it */
    bool yes;            /* -y */
    char **word;         /* word[0] is for $0, then the words that are not options */
    int nwords;
    struct args_option *option; /* in command-line order */
    size_t noptions;
    struct args_option *tls; /* --tls-NAME, in command-line order */
    size_t ntls;
    const char *output; /* -o */
    const char *cookie, *cookie_file, *agent_dir, *as;
    int64_t for_ns;      /* --for; 0: until the trace ends by itself */
    const char *command; /* the first word, if it is one of ours; for `help`, the second */
    bool list, no_run, disasm, local, kernel, json, verbose, header, show_pieces;
};

enum args_what {
    ARGS_TRACE,
    ARGS_NODES,
    ARGS_DOCTOR,
    ARGS_LIST,
    ARGS_PORT,
    ARGS_HELP,
    ARGS_NOTHING, /* no words were given */
    ARGS_VERSION,
    ARGS_USAGE,
    ARGS_FAILED
};

/* Reads the command line. Lists are in the arena. For ARGS_USAGE (exit code 2) and ARGS_FAILED (1),
 * *why is the text to show; NULL: show only the usage. */
enum args_what args_parse(struct args *a, struct arena *arena, int argc, char **argv,
                          const char **why);

#endif
