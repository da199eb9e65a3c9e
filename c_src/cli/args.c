/* args.c - reading the command line. */
#include "cli/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "base/units.h"

const char args_usage[] =
    "usage: erltrace [-64] [-qlSvwBCFHhVZe] [-o output] [-x opt[=val]] [-b bufsz] [-c cmd]\n"
    "                [-p pid] [-D name[=def]] [-U name] [-I dir] [-L dir] [-X a|c|s|t]\n"
    "                [--node NAME[,NAME]] [--cookie COOKIE | --cookie-file FILE] [--agent-dir "
    "DIR]\n"
    "                [--for TIME] [--json] [--local]\n"
    "                [-P provider [[ predicate ] action ]] [-m [ provider: ] module [...]]\n"
    "                [-f [[ provider: ] module: ] func [...]]\n"
    "                [-n [[[ provider: ] module: ] func: ] name [[ predicate ] action ]]\n"
    "                [-i probe-id [[ predicate ] action ]] [-s script] [args ...]\n"
    "       erltrace nodes [--json] [--cookie COOKIE | --cookie-file FILE]\n"
    "       erltrace doctor [--node NAME[,NAME] | -p pid] [--agent-dir DIR] [--json]\n"
    "                [--cookie COOKIE | --cookie-file FILE]\n"
    "       erltrace serve [--listen ADDRESS[:PORT]] [--node NAME[,NAME]] ...\n"
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
    "  --local         this process only: dtrace and profile probes; -c and -p name any process\n"
    "                  without any of these: the only BEAM of this host, or --local if that is "
    "enough\n"
    "  --cookie C, --cookie-file F   the node's cookie, when it is not its owner's "
    "~/.erlang.cookie;\n"
    "                  ERLTRACE_COOKIE in the environment, and a pipe as F, are seen by nobody\n"
    "  --agent-dir DIR               where the node may keep the agent's library while it is "
    "loaded\n"
    "How:\n"
    "  -l              list matching probes, do not trace\n"
    "  -e              check the program, do not trace\n"
    "  -v              show how stable the program is; with -l and -e also each probe, with -V "
    "more versions\n"
    "  -S              show the DIF that was made\n"
    "  -q              only what the program prints\n"
    "  -F              indent by function entry and return\n"
    "  -w              allow destructive actions: system(), freopen(), raise()\n"
    "  -o file         append output to a file\n"
    "  -h              make a C header from the provider definitions of a script\n"
    "  -B              show the output in the pieces in which it comes\n"
    "  -L dir          more D libraries\n"
    "  -C              run the C preprocessor over scripts; -D, -U, -I and -H are its own\n"
    "  -X a|c|s|t      its mode: s is what it was before ISO C\n"
    "  -b size         bytes of buffer, a thread: -x bufsize\n"
    "  -x opt[=val]    set an option\n"
    "  --for TIME      end after a time: 10s, 500ms, 2m\n"
    "  --json          every record, aggregation, drop and error as a JSON object on one line\n"
    "  -V, --version   print the version\n"
    "\nerltrace nodes lists the BEAMs of this host and says which of them can be traced.\n"
    "erltrace serve serves a page on which scripts are run; erltrace serve --help has its "
    "options.\n"
    "erltrace doctor says what of a node can be traced, what cannot, why, and what would help.\n"
    "erltrace port is for programs: the Erlang application traces by it.\n"
    "Exit codes: 0, N of exit(N), 1 error, 2 usage, 3 stopped by maxload (doctor: something is in "
    "the way).\n";

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
    enum erltrace_spec spec;
} program_letters[] = {{'n', ERLTRACE_SPEC_NAME},   {'f', ERLTRACE_SPEC_FUNCTION},
                       {'m', ERLTRACE_SPEC_MODULE}, {'P', ERLTRACE_SPEC_PROVIDER},
                       {'i', ERLTRACE_SPEC_ID},     {'s', ERLTRACE_SPEC_SCRIPT}};

/* Letters that are options under another name. */
static const struct {
    char letter;
    const char *name;
} option_letters[] = {{'q', "quiet"},  {'F', "flowindent"}, {'w', "destructive"}, {'Z', "zdefs"},
                      {'C', "cpp"},    {'b', "bufsize"},    {'D', "define"},      {'U', "undef"},
                      {'I', "incdir"}, {'H', "cpphdrs"},    {'X', "stdc"},        {'L', "libdir"}};

/* Letters of dtrace(1) that have no meaning here, and what to do instead. */
static const struct {
    char letter;
    const char *why;
} refused[] = {
    {'G', "option -G (object generation) is not needed here: a header made by -h is complete, so "
          "compile with it and link as usual"},
    {'a', "option -a (anonymous tracing) is not supported: a node can be traced while it runs, and "
          "from its start with -c"},
    {'A', "option -A (anonymous tracing) is not supported: a node can be traced while it runs, and "
          "from its start with -c"},
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

static bool add_program(struct args *a, struct arena *arena, enum erltrace_spec spec, char *text)
{
    a->program = more(arena, a->program, a->nprograms, sizeof *a->program);
    if (a->program == NULL)
        return false;
    a->program[a->nprograms++] = (struct args_program){spec, text};
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

static bool add_option(struct args *a, struct arena *arena, char letter, const char *name,
                       const char *value)
{
    a->option = more(arena, a->option, a->noptions, sizeof *a->option);
    if (a->option == NULL || name == NULL)
        return false;
    a->option[a->noptions++] = (struct args_option){letter, name, value};
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

/* "10s": a time with its unit; without one it is nanoseconds. */
static bool parse_time(const char *text, int64_t *ns)
{
    char *unit;
    uint64_t t;
    errno = 0;
    unsigned long long n = strtoull(text, &unit, 10);
    if (unit == text || *text == '-' || errno != 0 ||
        !units_time(n, *unit != '\0' ? unit : "ns", &t))
        return false;
    *ns = (int64_t)t;
    return t > 0;
}

static enum args_what option(struct args *a, struct arena *arena, int letter, char *value,
                             const char **why)
{
    pid_t pid;
    bool ok = true;
    const char *eq;
    for (size_t i = 0; i < sizeof program_letters / sizeof program_letters[0]; i++)
        if (program_letters[i].letter == letter)
            return add_program(a, arena, program_letters[i].spec, value) ? ARGS_TRACE : ARGS_FAILED;
    for (size_t i = 0; i < sizeof option_letters / sizeof option_letters[0]; i++) {
        if (option_letters[i].letter != letter)
            continue;
        if (letter == 'X' && (strlen(value) != 1 || strchr("acst", value[0]) == NULL)) {
            *why = arena_printf(arena, "invalid mode -X %s: it is a, c, s or t", value);
            return ARGS_USAGE;
        }
        return add_option(a, arena, (char)letter, option_letters[i].name, value) ? ARGS_TRACE
                                                                                 : ARGS_FAILED;
    }
    switch (letter) {
    case 'l': a->list = true; break;
    case 'e': a->no_run = true; break;
    case 'S': a->disasm = true; break;
    case 'o': a->output = value; break;
    case 'x':
        eq = strchr(value, '=');
        ok = add_option(a, arena, 'x',
                        arena_strndup(arena, value, eq ? (size_t)(eq - value) : strlen(value)),
                        eq != NULL ? eq + 1 : NULL);
        break;
    case 'c': ok = add_process(a, arena, 0, value); break;
    case 'p':
        if (!parse_pid(value, &pid)) {
            *why = arena_printf(arena, "invalid pid: %s", value);
            return ARGS_USAGE;
        }
        ok = add_process(a, arena, pid, NULL);
        break;
    case 'B': a->show_pieces = true; break;
    case 'h': a->header = true; break;
    case '3': /* -32 and -64, which getopt takes for a letter and its value */
    case '6':
        if (strcmp(value, letter == '3' ? "2" : "4") != 0) {
            *why = arena_printf(arena, "unknown option -%c%s", letter, value);
            return ARGS_USAGE;
        }
        if (letter == '3') {
            *why = "option -32 is not supported: the data model has 64 bits";
            return ARGS_USAGE;
        }
        break;
    case LONG_NODE: ok = add_nodes(a, arena, value); break;
    case LONG_COOKIE: ok = (a->cookie = secret_argument(arena, value)) != NULL; break;
    case LONG_COOKIE_FILE: a->cookie_file = value; break;
    case LONG_AGENT_DIR: a->agent_dir = value; break;
    case LONG_JSON: a->json = true; break;
    case LONG_LOCAL: a->local = true; break;
    case LONG_HELP: return ARGS_HELP;
    case LONG_FOR:
        if (!parse_time(value, &a->for_ns)) {
            *why =
                arena_printf(arena, "--for %s: not a time; write it like 10s, 500ms or 2m", value);
            return ARGS_USAGE;
        }
        break;
    default:
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
            if (refused[i].letter == letter) {
                *why = refused[i].why;
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

/* Whether something was asked for that only a trace or a list of probes has. */
static bool asks_for_trace(const struct args *a)
{
    return a->nprograms > 0 || a->noptions > 0 || a->nwords > 2 || a->for_ns > 0 || a->list ||
           a->no_run || a->disasm || a->local || a->verbose || a->header || a->show_pieces;
}

enum args_what args_parse(struct args *a, struct arena *arena, int argc, char **argv,
                          const char **why)
{
    static const char letters[] = ":n:s:P:m:f:i:qleSvVo:x:p:c:Zb:FwCD:U:I:HX:L:hGB3:6:aA";
    bool nodes = argc > 1 && strcmp(argv[1], "nodes") == 0, version = false;
    bool doctor = argc > 1 && strcmp(argv[1], "doctor") == 0;
    int c;
    *a = (struct args){0};
    *why = NULL;
    if (argc < 2)
        return ARGS_USAGE;
    if (strcmp(argv[1], "port") == 0) {
        if (argc > 2)
            *why = "port takes no options and no words: all it is told comes on standard input";
        return argc > 2 ? ARGS_USAGE : ARGS_PORT;
    }
    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
        if (c == '?' || c == ':') {
            *why = misuse(arena, c, argv);
            return ARGS_USAGE;
        }
        if (c == 'v') {
            a->verbose = true;
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
    const char *cookie = secret_variable(arena, SECRET_COOKIE);
    if (a->cookie == NULL && a->cookie_file == NULL)
        a->cookie = cookie;
    if (version + a->list + a->header > 1) {
        *why = "only one of -G, -h, -l and -V can be given";
        return ARGS_USAGE;
    }
    if (version)
        return ARGS_VERSION;
    for (size_t i = 0; a->header && i <= a->nprograms; i++) {
        if (a->nprograms == 0 || (i < a->nprograms && a->program[i].spec != ERLTRACE_SPEC_SCRIPT)) {
            *why = "-h makes a header from scripts: it goes with -s, and with no other program";
            return ARGS_USAGE;
        }
    }
    /* getopt has moved the words that are no options to the end; $0 goes before them. */
    a->nwords = argc - optind + 1;
    a->word = arena_alloc(arena, ((size_t)a->nwords + 1) * sizeof *a->word);
    if (a->word == NULL)
        return ARGS_FAILED;
    const char *slash = strrchr(argv[0], '/');
    a->word[0] = slash != NULL ? (char *)slash + 1 : argv[0];
    for (int i = 1; i < a->nwords; i++)
        a->word[i] = argv[optind + i - 1];
    if (nodes) {
        if (asks_for_trace(a) || a->nnodes > 0 || a->nprocesses > 0 || a->agent_dir != NULL) {
            *why = "nodes takes --cookie, --cookie-file, --json and -o, no programs, no other "
                   "options and no other words";
            return ARGS_USAGE;
        }
        return ARGS_NODES;
    }
    if (doctor) {
        bool command = false;
        for (size_t i = 0; i < a->nprocesses; i++)
            command = command || a->process[i].command != NULL;
        if (asks_for_trace(a) || command) {
            *why = "doctor takes --node, -p, --cookie, --cookie-file, --agent-dir, --json and -o, "
                   "no programs, no other options and no other words";
            return ARGS_USAGE;
        }
        return ARGS_DOCTOR;
    }
    if (a->local && a->nnodes > 0) {
        *why = "--local cannot be used with --node";
        return ARGS_USAGE;
    }
    return ARGS_TRACE;
}
