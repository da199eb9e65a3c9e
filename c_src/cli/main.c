/* main.c - the command: reads its arguments and calls the part that handles them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"

/* A handler that does nothing: an ignored signal would stay ignored in the process that -c
 * starts. */
static void pipe_broken(int signo)
{
    (void)signo;
}

int main(int argc, char **argv)
{
    struct args args;
    struct arena arena;
    const char *why;
    int code = EXIT_OK;
    arena_init(&arena);
    signal(SIGPIPE, pipe_broken); /* a missing reader is noticed when we write */
    static char serve[] = "serve", help[] = "--help";
    if (argc == 3 && strcmp(argv[1], "help") == 0 && strcmp(argv[2], serve) == 0) {
        argv[1] = serve;
        argv[2] = help;
    }
    if (argc > 1 && strcmp(argv[1], serve) == 0) {
        code = cli_serve(argv, &arena);
        arena_free(&arena);
        return code;
    }
    switch (args_parse(&args, &arena, argc, argv, &why)) {
    case ARGS_TRACE: code = cli_trace(&args, &arena); break;
    case ARGS_NODES: code = cli_nodes(&args, &arena); break;
    case ARGS_DOCTOR: code = cli_doctor(&args, &arena); break;
    case ARGS_PORT: code = cli_port(); break;
    case ARGS_LIST: code = cli_list(&args, &arena); break;
    case ARGS_HELP: code = cli_help(&args); break;
    case ARGS_NOTHING: code = cli_nothing(&arena); break;
    case ARGS_VERSION: code = cli_version(&args); break;
    case ARGS_USAGE:
        fprintf(stderr, "erltrace: %s\ntry 'erltrace --help'\n", why != NULL ? why : "usage");
        code = EXIT_USAGE;
        break;
    case ARGS_FAILED:
        fprintf(stderr, "erltrace: %s\n", why != NULL ? why : "out of memory");
        code = EXIT_ERROR;
        break;
    }
    arena_free(&arena);
    return code;
}
