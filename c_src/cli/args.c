/* args.c - reading the command line. */
#include "cli/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

const char args_usage[] =
    "usage: erltrace [-qlSvwCHZe] [-o output] [-x opt[=val]] [-b bufsz] [-c cmd] [-p pid]\n"
    "                [-D name[=def]] [-U name] [-I dir] [-X a|c|s|t]\n"
    "                [--node NAME[,NAME]] [--cookie COOKIE | --cookie-file FILE] [--agent-dir "
    "DIR]\n"
    "                [--for TIME] [--json] [--local]\n"
    "                [-P provider [[ predicate ] action ]] [-m [ provider: ] module [...]]\n"
    "                [-f [[ provider: ] module: ] func [...]]\n"
    "                [-n [[[ provider: ] module: ] func: ] name [[ predicate ] action ]]\n"
    "                [-i probe-id [[ predicate ] action ]] [-s script] [args ...]\n"
    "       erltrace nodes [--json] [--cookie COOKIE | --cookie-file FILE]\n"
    "       erltrace --help | --version\n";

const char args_help[] =
    "\nWhat to trace:\n"
    "  -n, -f, -m, -P  probe description, with a predicate and a clause if you like; the rightmost "
    "part is\n"
    "                  the name, function, module or provider of the probe\n"
    "  -i id           probe id, as -l shows it\n"
    "  -s file         D script; words that are no options are its arguments $1, $2 ...\n"
    "  -Z              descriptions may match no probe\n"
    "Where:\n"
    "  --node NAME     a running node, or several with commas between them\n"
    "  -p pid          the BEAM with this process id\n"
    "  -c command      start a node and trace it until it ends\n"
    "  --local         this process only: dtrace and profile probes\n"
    "                  without any of these: the only BEAM of this host, or --local if that is "
    "enough\n"
    "  --cookie C, --cookie-file F   the node's cookie, when it is not its owner's "
    "~/.erlang.cookie\n"
    "  --agent-dir DIR               where the node may keep the agent's library while it is "
    "loaded\n"
    "How:\n"
    "  -l              list matching probes, do not trace\n"
    "  -e              check the program, do not trace\n"
    "  -v              show how stable the program is\n"
    "  -S              show the DIF that was made\n"
    "  -q              only what the program prints\n"
    "  -F              indent by function entry and return\n"
    "  -w              allow destructive actions: system(), freopen()\n"
    "  -o file         append output to a file\n"
    "  -C              run the C preprocessor over scripts; -D, -U, -I and -H are its own\n"
    "  -X a|c|s|t      its mode: s is what it was before ISO C\n"
    "  -b size         bytes of buffer, a thread: -x bufsize\n"
    "  -x opt[=val]    set an option\n"
    "  --for TIME      end after a time: 10s, 500ms, 2m\n"
    "  --json          every record, aggregation, drop and error as a JSON object on one line\n"
    "  -V, --version   print the version\n"
    "\nerltrace nodes lists the BEAMs of this host and says which of them can be traced.\n";

enum {
    LONG_NODE = 256,
    LONG_COOKIE,
    LONG_COOKIE_FILE,
    LONG_FOR,
    LONG_JSON,
    LONG_HELP,
    LONG_VERSION,
    LONG_AGENT_DIR,
    LONG_LOCAL
};

static const struct option long_options[] = {
    {"node", required_argument, NULL, LONG_NODE},
    {"cookie", required_argument, NULL, LONG_COOKIE},
    {"cookie-file", required_argument, NULL, LONG_COOKIE_FILE},
    {"for", required_argument, NULL, LONG_FOR},
    {"json", no_argument, NULL, LONG_JSON},
    {"help", no_argument, NULL, LONG_HELP},
    {"version", no_argument, NULL, LONG_VERSION},
    {"agent-dir", required_argument, NULL, LONG_AGENT_DIR},
    {"local", no_argument, NULL, LONG_LOCAL},
    {NULL, 0, NULL, 0},
};

/* Letters that take a program. */
static const struct {
    char letter;
    enum compile_kind kind;
} program_letters[] = {{'n', COMPILE_NAME},     {'f', COMPILE_FUNCTION}, {'m', COMPILE_MODULE},
                       {'P', COMPILE_PROVIDER}, {'i', COMPILE_ID},       {'s', COMPILE_SCRIPT}};

/* Letters of dtrace(1) that are refused. */
static const struct {
    char letter;
    const char *what;
} refused[] = {
    {'L', "library directories"}, {'h', "header generation; --help shows help"},
    {'G', "object generation"},   {'B', "buffered-output debugging"},
    {'3', "data models"},         {'6', "data models"},
    {'a', "anonymous tracing"},   {'A', "anonymous tracing"},

};

/* A growing list in the arena: room for one more element, doubled by copying. */
static void *more(struct arena *a, void *list, size_t n, size_t size)
{
    if (n != 0 && (n & (n - 1)) != 0)
        return list;
    void *p = arena_alloc(a, (n ? n * 2 : 1) * size);
    if (p != NULL && n > 0)
        memcpy(p, list, n * size);
    return p;
}

static bool add_program(struct args *a, struct arena *arena, enum compile_kind kind, char *text)
{
    a->program = more(arena, a->program, a->nprograms, sizeof *a->program);
    if (a->program == NULL)
        return false;
    a->program[a->nprograms++] = (struct args_program){kind, text};
    return true;
}

static bool add_process(struct args *a, struct arena *arena, pid_t pid, const char *command)
{
    a->process = more(arena, a->process, a->nprocesses, sizeof *a->process);
    if (a->process == NULL)
        return false;
    a->process[a->nprocesses++] = (struct args_process){pid, command};
    return true;
}

/* An argument of the preprocessor: a letter and its value, or (letter 0) a word as it is. */
static bool add_cpp(struct args *a, struct arena *arena, int letter, const char *value)
{
    a->cpp = more(arena, a->cpp, a->ncpp, sizeof *a->cpp);
    const char *text = value != NULL ? value : "";
    char *word =
        letter != 0 ? arena_printf(arena, "-%c%s", letter, text) : arena_strdup(arena, text);
    if (a->cpp == NULL || word == NULL)
        return false;
    a->cpp[a->ncpp++] = word;
    return true;
}

static bool add_nodes(struct args *a, struct arena *arena, const char *names)
{
    while (*names != '\0') {
        size_t n = strcspn(names, ",");
        if (n > 0) {
            a->node = more(arena, a->node, a->nnodes, sizeof *a->node);
            char *copy = arena_strndup(arena, names, n);
            if (a->node == NULL || copy == NULL)
                return false;
            a->node[a->nnodes++] = copy;
        }
        names += n + (names[n] == ',');
    }
    return true;
}

static bool parse_pid(const char *text, pid_t *pid)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || v <= 0 || v > INT32_MAX)
        return false;
    *pid = (pid_t)v;
    return true;
}

static bool set_mode(struct args *a, const char *mode)
{
    if (strlen(mode) != 1 || strchr("acst", mode[0]) == NULL)
        return false;
    a->traditional = mode[0] == 's';
    return true;
}

/* The options of the preprocessor, which are the letters -D, -U, -I, -H and -X under another name.
 * False when it is none of them; *ok whether the value was good. */
static bool set_cpp_option(struct args *a, struct arena *arena, const char *name, const char *value,
                           bool *ok)
{
    static const struct {
        const char *name;
        int letter;
        bool value;
    } options[] = {{"define", 'D', true},
                   {"undef", 'U', true},
                   {"incdir", 'I', true},
                   {"cpphdrs", 'H', false},
                   {"cppargs", 0, true}};
    *ok = false;
    if (strcmp(name, "stdc") == 0) {
        *ok = value != NULL && set_mode(a, value);
        return true;
    }
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcmp(name, options[i].name) != 0)
            continue;
        *ok = (value != NULL) == options[i].value && add_cpp(a, arena, options[i].letter, value);
        return true;
    }
    return false;
}

static enum args_what set_option(struct args *a, struct arena *arena, const char *text,
                                 const char **why)
{
    const char *reason, *eq = strchr(text, '=');
    char *name = arena_strndup(arena, text, eq ? (size_t)(eq - text) : strlen(text));
    bool ok = false;
    if (name != NULL && set_cpp_option(a, arena, name, eq ? eq + 1 : NULL, &ok)) {
        if (ok)
            return ARGS_TRACE;
        *why = arena_printf(arena, "failed to set -x %s: Invalid value for specified option", name);
        return ARGS_FAILED;
    }
    if (name != NULL &&
        options_set(&a->opt, name, eq ? eq + 1 : NULL, OPTION_FROM_COMMAND, &reason) == 0)
        return ARGS_TRACE;
    *why = name ? arena_printf(arena, "failed to set -x %s: %s", name, reason) : "out of memory";
    return ARGS_FAILED;
}

static enum args_what option(struct args *a, struct arena *arena, int letter, char *value,
                             const char **why)
{
    pid_t pid;
    bool ok = true;
    const char *reason;
    for (size_t i = 0; i < sizeof program_letters / sizeof program_letters[0]; i++)
        if (program_letters[i].letter == letter)
            return add_program(a, arena, program_letters[i].kind, value) ? ARGS_TRACE : ARGS_FAILED;
    switch (letter) {
    case 'q': options_set(&a->opt, "quiet", NULL, OPTION_FROM_COMMAND, &reason); break;
    case 'F': options_set(&a->opt, "flowindent", NULL, OPTION_FROM_COMMAND, &reason); break;
    case 'w': options_set(&a->opt, "destructive", NULL, OPTION_FROM_COMMAND, &reason); break;
    case 'Z': options_set(&a->opt, "zdefs", NULL, OPTION_FROM_COMMAND, &reason); break;
    case 'C': options_set(&a->opt, "cpp", NULL, OPTION_FROM_COMMAND, &reason); break;
    case 'D':
    case 'U':
    case 'I':
    case 'H': ok = add_cpp(a, arena, letter, value); break;
    case 'X':
        if (!set_mode(a, value)) {
            *why = arena_printf(arena, "invalid mode -X %s: it is a, c, s or t", value);
            return ARGS_USAGE;
        }
        break;
    case 'l': a->list = true; break;
    case 'e': a->no_run = true; break;
    case 'S': a->disasm = true; break;
    case 'o': a->output = value; break;
    case 'x': return set_option(a, arena, value, why);
    case 'b':
        if (options_set(&a->opt, "bufsize", value, OPTION_FROM_COMMAND, &reason) != 0) {
            *why = arena_printf(arena, "failed to set -b %s: %s", value, reason);
            return ARGS_FAILED;
        }
        break;
    case 'c': ok = add_process(a, arena, 0, value); break;
    case 'p':
        if (!parse_pid(value, &pid)) {
            *why = arena_printf(arena, "invalid pid: %s", value);
            return ARGS_USAGE;
        }
        ok = add_process(a, arena, pid, NULL);
        break;
    case LONG_NODE: ok = add_nodes(a, arena, value); break;
    case LONG_COOKIE: a->cookie = value; break;
    case LONG_COOKIE_FILE: a->cookie_file = value; break;
    case LONG_AGENT_DIR: a->agent_dir = value; break;
    case LONG_JSON: a->json = true; break;
    case LONG_LOCAL: a->local = true; break;
    case LONG_HELP: return ARGS_HELP;
    case LONG_FOR:
        if (!option_rate(value, &a->for_ns) || a->for_ns <= 0) {
            *why =
                arena_printf(arena, "--for %s: not a time; write it like 10s, 500ms or 2m", value);
            return ARGS_USAGE;
        }
        break;
    default:
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
            if (refused[i].letter == letter) {
                *why = arena_printf(arena, "option -%c (%s) is not built yet", letter,
                                    refused[i].what);
                return ARGS_USAGE;
            }
        }
        return ARGS_USAGE;
    }
    return ok ? ARGS_TRACE : ARGS_FAILED;
}

/* What getopt did not understand, in words. */
static const char *misuse(struct arena *arena, int code, char **argv)
{
    const char *word = argv[optind - 1];
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < 256;
    const char *what = is_letter ? letter : word;
    return code == ':' ? arena_printf(arena, "option %s needs a value", what)
                       : arena_printf(arena, "unknown option %s", what);
}

enum args_what args_parse(struct args *a, struct arena *arena, int argc, char **argv,
                          const char **why)
{
    static const char letters[] = ":n:s:P:m:f:i:qleSvVo:x:p:c:Zb:FwCD:U:I:HX:L:hGB36aA";
    const char *name;
    bool nodes = argc > 1 && strcmp(argv[1], "nodes") == 0, version = false, verbose = false;
    int c;
    *a = (struct args){0};
    *why = NULL;
    options_init(&a->opt);
    if (argc < 2)
        return ARGS_USAGE;
    if (options_environment(&a->opt, &name, why) != 0) {
        *why = arena_printf(arena, "failed to set option %s from the environment: %s", name, *why);
        return ARGS_FAILED;
    }
    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
        if (c == '?' || c == ':') {
            *why = misuse(arena, c, argv);
            return ARGS_USAGE;
        }
        if (c == 'v') {
            verbose = true;
            continue;
        }
        if (c == 'V' || c == LONG_VERSION) {
            version = true;
            continue;
        }
        enum args_what what = option(a, arena, c, optarg, why);
        if (what != ARGS_TRACE)
            return what;
    }
    if (version)
        return ARGS_VERSION;
    a->verbose = verbose;
    /* getopt has moved the words that are no options to the end; $0 goes before them. */
    a->nwords = argc - optind + 1;
    a->word = arena_alloc(arena, ((size_t)a->nwords + 1) * sizeof *a->word);
    if (a->word == NULL)
        return ARGS_FAILED;
    const char *slash = strrchr(argv[0], '/');
    a->word[0] = slash != NULL ? (char *)slash + 1 : argv[0];
    for (int i = 1; i < a->nwords; i++)
        a->word[i] = argv[optind + i - 1];
    a->disasm |= option_on(&a->opt, OPTION_verbose);
    if (nodes) {
        if (a->nprograms > 0 || a->nwords > 2) {
            *why = "nodes takes no programs and no other words";
            return ARGS_USAGE;
        }
        return ARGS_NODES;
    }
    if (a->local && (a->nnodes > 0 || a->nprocesses > 0)) {
        *why = "--local cannot be used with --node, -p or -c";
        return ARGS_USAGE;
    }
    return ARGS_TRACE;
}
