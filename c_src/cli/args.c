/* args.c - reading the command line. */
#include "cli/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "util/secret.h"
#include "util/tls_words.h"
#include "util/units.h"
#include "cli/scripts.h"
#include "util/render.h"

enum {
    LONG_NODE = 256,
    LONG_CLUSTER,
    LONG_COOKIE,
    LONG_COOKIE_FILE,
    LONG_AS,
    LONG_FOR,
    LONG_JSON,
    LONG_HELP,
    LONG_VERSION,
    LONG_AGENT_DIR,
    LONG_LOCAL,
    LONG_KERNEL,
    LONG_REDACT,
    LONG_TLS
};

static const struct option long_options[] = {
    {"node", required_argument, NULL, LONG_NODE},
    {"cluster", required_argument, NULL, LONG_CLUSTER},
    {"cookie", required_argument, NULL, LONG_COOKIE},
    {"cookie-file", required_argument, NULL, LONG_COOKIE_FILE},
    {"as", required_argument, NULL, LONG_AS},
    {"for", required_argument, NULL, LONG_FOR},
    {"json", no_argument, NULL, LONG_JSON},
    {"help", no_argument, NULL, LONG_HELP},
    {"version", no_argument, NULL, LONG_VERSION},
    {"agent-dir", required_argument, NULL, LONG_AGENT_DIR},
    {"local", no_argument, NULL, LONG_LOCAL},
    {"kernel", no_argument, NULL, LONG_KERNEL},
    {"redact", required_argument, NULL, LONG_REDACT},
    TLS_WORDS(LONG_TLS),
    {NULL, 0, NULL, 0},
};

/* Letters that take a program. */
static const struct {
    char letter;
    enum erltrace_spec spec;
} program_letters[] = {{'n', ERLTRACE_SPEC_NAME},   {'f', ERLTRACE_SPEC_FUNCTION},
                       {'m', ERLTRACE_SPEC_MODULE}, {'P', ERLTRACE_SPEC_PROVIDER},
                       {'i', ERLTRACE_SPEC_ID},     {'s', ERLTRACE_SPEC_SCRIPT}};

/* Letters that set an option of another name. */
static const struct {
    char letter;
    const char *name;
} option_letters[] = {{'q', "quiet"},  {'F', "flowindent"}, {'w', "destructive"}, {'Z', "zdefs"},
                      {'C', "cpp"},    {'b', "bufsize"},    {'D', "define"},      {'U', "undef"},
                      {'I', "incdir"}, {'H', "cpphdrs"},    {'X', "stdc"},        {'L', "libdir"}};

/* Letters of dtrace(1) that are not supported, and what to do instead. */
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

/* Makes room for one more element in a list that grows in the arena; its size doubles by
 * copying. */
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
    a->program[a->nprograms++] = (struct args_program){.spec = spec, .text = text};
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

static bool add_tls(struct args *a, struct arena *arena, const char *name, const char *value)
{
    a->tls = more(arena, a->tls, a->ntls, sizeof *a->tls);
    if (a->tls == NULL)
        return false;
    a->tls[a->ntls++] = (struct args_option){'-', name, value};
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

/* Parses "10s", a time with its unit; seconds without one. */
static bool parse_time(const char *text, int64_t *ns)
{
    char *unit;
    uint64_t t;
    errno = 0;
    unsigned long long n = strtoull(text, &unit, 10);
    if (unit == text || *text == '-' || errno != 0 ||
        !units_time(n, *unit != '\0' ? unit : "s", &t))
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
            *why = arena_printf(arena, "invalid mode -X %s: it must be a, c, s or t", value);
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
            *why = arena_printf(arena, "invalid pid: %s; a node is named with --node %s", value,
                                value);
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
    case LONG_CLUSTER: a->cluster = value; break;
    case 'y': a->yes = true; break;
    case LONG_COOKIE: ok = (a->cookie = secret_argument(arena, value)) != NULL; break;
    case LONG_COOKIE_FILE: a->cookie_file = value; break;
    case LONG_AS: a->as = value; break;
    case LONG_AGENT_DIR: a->agent_dir = value; break;
    case LONG_JSON: a->json = true; break;
    case LONG_LOCAL: a->local = true; break;
    case LONG_KERNEL: a->local = a->kernel = true; break;
    case LONG_REDACT: ok = add_option(a, arena, 'x', "redact", value); break;
    case LONG_HELP: return ARGS_HELP;
    case LONG_FOR:
        if (!parse_time(value, &a->for_ns)) {
            *why = arena_printf(
                arena, "--for %s: not a time; write it like 10 (seconds), 500ms or 2m", value);
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

/* Words that are commands, not programs. */
static const struct {
    const char *word;
    enum args_what what;
} commands[] = {{"nodes", ARGS_NODES}, {"doctor", ARGS_DOCTOR}, {"list", ARGS_LIST},
                {"run", ARGS_TRACE},   {"help", ARGS_HELP},     {"port", ARGS_PORT}};

/* Names that options have elsewhere, and their names here. */
static const struct {
    const char *name, *ours;
} known_as[] = {
    {"--pid", "-p PID"},         {"--script", "-s FILE"},        {"--file", "-s FILE"},
    {"--output", "-o FILE"},     {"--out", "-o FILE"},           {"--probe", "-n 'PROBE { }'"},
    {"--module", "-m MODULE"},   {"--function", "-f FUNCTION"},  {"--quiet", "-q"},
    {"--verbose", "-v"},         {"--list-probes", "-l"},        {"--sname", "--node NAME"},
    {"--name", "--node NAME"},   {"--host", "--node NAME@HOST"}, {"--setcookie", "--cookie COOKIE"},
    {"--time", "--for TIME"},    {"--timeout", "--for TIME"},    {"--duration", "--for TIME"},
    {"--seconds", "--for TIME"}, {"--serve", "erltrace serve"},
};

/* Returns what an unknown option was probably meant to be; NULL: no suggestion. */
static const char *meant(struct arena *arena, const char *word)
{
    const char *name[sizeof long_options / sizeof long_options[0]];
    size_t n = 0;
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(word + 2, commands[i].word) == 0)
            return arena_printf(arena, "erltrace %s", word + 2);
    for (size_t i = 0; i < sizeof known_as / sizeof known_as[0]; i++)
        if (strcmp(word, known_as[i].name) == 0)
            return known_as[i].ours;
    while (long_options[n].name != NULL) {
        name[n] = long_options[n].name;
        n++;
    }
    const char *near = diag_nearest(word + 2, name, n);
    return near != NULL ? arena_printf(arena, "--%s", near) : NULL;
}

/* Returns a description of what getopt did not understand. */
static const char *misuse(struct arena *arena, int code, char **argv)
{
    const char *word = argv[optind - 1];
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < 256;
    const char *what = is_letter ? letter : word;
    const char *ours = is_letter ? NULL : meant(arena, word);
    return code == ':'    ? arena_printf(arena, "option %s needs a value", what)
           : ours != NULL ? arena_printf(arena, "unknown option %s; did you mean '%s'?", what, ours)
                          : arena_printf(arena, "unknown option %s", what);
}

/* Returns whether anything was requested that only a trace or a list of probes has. */
static bool asks_for_trace(const struct args *a)
{
    return a->nprograms > 0 || a->noptions > 0 || a->nwords > 2 || a->for_ns > 0 || a->list ||
           a->no_run || a->disasm || (a->local && !a->kernel) || a->verbose || a->header ||
           a->show_pieces || a->cluster != NULL || a->yes;
}

/* Returns the command that the first word names, or NULL. */
static const char *command_of(int argc, char **argv, enum args_what *what)
{
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].word) == 0) {
            *what = commands[i].what;
            return commands[i].word;
        }
    }
    *what = ARGS_TRACE;
    return NULL;
}

/* run NAME: the script of that name is the program, and the words after it are its arguments. */
static enum args_what run_script(struct args *a, struct arena *arena, const char **why)
{
    if (a->nwords < 3) {
        *why = "run needs the name of a script; 'erltrace list' shows them";
        return ARGS_USAGE;
    }
    if (a->nprograms > 0) {
        *why = "run takes one script by name, and no other program";
        return ARGS_USAGE;
    }
    const char *name = a->word[2], *near;
    const struct script *s = scripts_find(arena, name, &near);
    if (s == NULL && strchr(name, '/') == NULL) {
        *why = near != NULL
                   ? arena_printf(
                         arena,
                         "there is no ready script %s: did you mean %s? 'erltrace list' shows all",
                         name, near)
                   : arena_printf(arena,
                                  "there is no ready script %s; 'erltrace list' shows all, and -s "
                                  "FILE takes any file",
                                  name);
        return ARGS_USAGE;
    }
    size_t needed = 0, most = s != NULL ? scripts_arguments(s, &needed) : 0;
    if (s != NULL && (size_t)a->nwords - 3 < needed) {
        *why = arena_printf(arena, "%s needs %s: erltrace run %s %s", s->name, s->arguments,
                            s->name, s->arguments);
        return ARGS_USAGE;
    }
    /* A script whose header does not say takes any arguments. */
    if (s != NULL && s->what[0] != '\0' && (size_t)a->nwords - 3 > most) {
        *why =
            arena_printf(arena, "%s takes %s, not %s: erltrace run %s%s%s", s->name,
                         s->arguments[0] != '\0' ? s->arguments : "no arguments", a->word[3 + most],
                         s->name, s->arguments[0] != '\0' ? " " : "", s->arguments);
        return ARGS_USAGE;
    }
    a->nwords -= 2;
    memmove(a->word + 1, a->word + 3, (size_t)(a->nwords - 1) * sizeof *a->word);
    if (!add_program(a, arena, ERLTRACE_SPEC_SCRIPT, s != NULL ? (char *)s->path : (char *)name))
        return ARGS_FAILED;
    a->program[a->nprograms - 1].inside = s != NULL ? s->text : NULL;
    return ARGS_TRACE;
}

/* Returns what is wrong with a word where nothing takes arguments; NULL: the word gives no clue. */
static const char *stray(const struct args *a, struct arena *arena)
{
    const char *name[sizeof commands / sizeof commands[0] + 1], *word = a->word[1];
    size_t n = sizeof commands / sizeof commands[0];
    for (size_t i = 0; i < n; i++)
        name[i] = commands[i].word;
    name[n] = "serve";
    const char *near = diag_nearest(word, name, n + 1);
    const char *other;
    if (scripts_find(arena, word, &other) != NULL)
        return arena_printf(arena, "no command %s; the script is run by: erltrace run %s", word,
                            word);
    if (near != NULL && strcmp(near, word) == 0)
        return arena_printf(arena, "%s is a command, which comes before all options: erltrace %s",
                            word, word);
    if (near != NULL)
        return arena_printf(arena, "no command %s; did you mean '%s'?", word, near);
    return a->list || a->no_run
               ? arena_printf(arena, "%s is not an argument of any program: %s", word,
                              arena_printf(arena,
                                           a->list ? "a description is given with -n '%s'"
                                                   : "a program is given with -n '%s'",
                                           word))
               : NULL;
}

enum args_what args_parse(struct args *a, struct arena *arena, int argc, char **argv,
                          const char **why)
{
    static const char letters[] = ":n:s:P:m:f:i:qleSvVo:x:p:c:Zb:FwCD:U:I:HX:L:hGB3:6:aAy";
    enum args_what command;
    bool version = false;
    int c, row = 0;
    *a = (struct args){0};
    *why = NULL;
    a->command = command_of(argc, argv, &command);
    if (argc < 2)
        return ARGS_NOTHING;
    if (command == ARGS_HELP) {
        a->command = argc > 2 ? argv[2] : NULL;
        return ARGS_HELP;
    }
    if (command == ARGS_PORT) {
        if (argc > 2)
            *why = "port takes no options and no other words: its requests come on standard input";
        return argc > 2 ? ARGS_USAGE : ARGS_PORT;
    }
    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, long_options, &row)) != -1) {
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
            a->verbose = a->verbose || c == LONG_VERSION;
            continue;
        }
        if (c == LONG_TLS) {
            if (!add_tls(a, arena, tls_word(&long_options[row]), optarg))
                return ARGS_FAILED;
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
            *why = "-h makes a header from scripts: use it only with -s";
            return ARGS_USAGE;
        }
    }
    /* getopt has moved the words that are not options to the end; $0 goes before them. */
    a->nwords = argc - optind + 1;
    a->word = arena_alloc(arena, ((size_t)a->nwords + 1) * sizeof *a->word);
    if (a->word == NULL)
        return ARGS_FAILED;
    const char *slash = strrchr(argv[0], '/');
    a->word[0] = slash != NULL ? (char *)slash + 1 : argv[0];
    for (int i = 1; i < a->nwords; i++)
        a->word[i] = argv[optind + i - 1];
    if (a->command != NULL && command == ARGS_TRACE) {
        enum args_what what = run_script(a, arena, why);
        if (what != ARGS_TRACE)
            return what;
    }
    if (command == ARGS_LIST) {
        if (asks_for_trace(a) || a->kernel || a->nnodes > 0 || a->nprocesses > 0 ||
            a->agent_dir != NULL) {
            *why = "list takes --json and -o; probes are listed by -l";
            return ARGS_USAGE;
        }
        return ARGS_LIST;
    }
    if (command == ARGS_NODES) {
        if (asks_for_trace(a) || a->kernel || a->nnodes > 0 || a->nprocesses > 0 ||
            a->agent_dir != NULL) {
            *why = "nodes takes --cookie, --cookie-file, the --tls options, --json and -o, no "
                   "programs, no other options and no other words";
            return ARGS_USAGE;
        }
        return ARGS_NODES;
    }
    if (command == ARGS_DOCTOR) {
        bool starts = false;
        for (size_t i = 0; i < a->nprocesses; i++)
            starts = starts || a->process[i].command != NULL;
        if (asks_for_trace(a) || starts || (a->local && !a->kernel)) {
            *why = "doctor takes --node, -p, --kernel, --cookie, --cookie-file, --as, the --tls "
                   "options, --agent-dir, --json and -o, no programs, no other options and no "
                   "other words";
            return ARGS_USAGE;
        }
        if (a->kernel && a->nnodes + a->nprocesses > 0) {
            *why = "doctor takes either --kernel or nodes";
            return ARGS_USAGE;
        }
        return ARGS_DOCTOR;
    }
    if (a->local && a->nnodes > 0) {
        *why = a->kernel ? "--kernel cannot be used with --node"
                         : "--local cannot be used with --node";
        return ARGS_USAGE;
    }
    if (a->cluster != NULL && (a->local || a->nnodes + a->nprocesses > 0)) {
        *why = "--cluster cannot be used with --node, -p, -c, --local or --kernel";
        return ARGS_USAGE;
    }
    if (a->command == NULL && a->nprograms == 0 && a->nwords > 1 && !a->header) {
        *why = stray(a, arena);
        if (*why != NULL)
            return ARGS_USAGE;
    }
    return ARGS_TRACE;
}
