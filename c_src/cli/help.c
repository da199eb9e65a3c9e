/* help.c - usage, help, and what the command shows without arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/option.h"
#include "util/tls_words.h"
#include "cli/cli.h"
#include "util/buftext.h"

static const char usage[] =
    "usage: erltrace [-64] [-qlSvwBCFHhVZe] [-o output] [-x opt[=val]] [-b bufsz] [-c cmd]\n"
    "                [-p pid] [-D name[=def]] [-U name] [-I dir] [-L dir] [-X a|c|s|t]\n"
    "                [--node NAME[,NAME] | --cluster NAME [-y]] [--as NAME] [--agent-dir DIR]\n"
    "                [--cookie COOKIE | --cookie-file FILE]\n"
    "                " TLS_USAGE "\n"
    "                [--for TIME] [--json] [--kernel | --local] [--redact GLOBS]\n"
    "                [-P provider [[ predicate ] action ]] [-m [ provider: ] module [...]]\n"
    "                [-f [[ provider: ] module: ] func [...]]\n"
    "                [-n [[[ provider: ] module: ] func: ] name [[ predicate ] action ]]\n"
    "                [-i probe-id [[ predicate ] action ]] [-s script] [args ...]\n"
    "       erltrace run SCRIPT [options] [args ...]\n"
    "       erltrace list [--json]\n"
    "       erltrace nodes [--json] [--cookie COOKIE | --cookie-file FILE]\n"
    "       erltrace doctor [--node NAME[,NAME] | -p pid | --kernel] [--agent-dir DIR] [--json]\n"
    "                [--cookie COOKIE | --cookie-file FILE]\n"
    "       erltrace serve [--listen ADDRESS[:PORT]] [--node NAME[,NAME]] ...\n"
    "       erltrace help [COMMAND | commands | options] | --help | --version\n";

static const char help[] =
    "\nWhat to trace:\n"
    "  -n, -f, -m, -P  probe description, with a predicate and a clause if you like; the rightmost "
    "part is\n"
    "                  the name, function, module or provider of the probe\n"
    "  -i id           probe id, as -l shows it\n"
    "  -s file         D script; words that are not options are its arguments $1, $2 ...\n"
    "  -Z              descriptions may match no probe\n"
    "Where:\n"
    "  (nothing)       the only BEAM of this host, or --local or --kernel if the probes are there\n"
    "  --node NAME     a running node, or several, separated by commas\n"
    "  --cluster NAME  a running node, all nodes of its cluster, and those that come\n"
    "  -y              go on without showing first what is done to many nodes\n"
    "  -p pid          the BEAM with this process id\n"
    "  -c command      start a node and trace it until it ends\n"
    "  --local         this process only: dtrace and profile probes; -c and -p name any process\n"
    "  --kernel        the kernel of this host: syscall, sched, io and others; needs privileges\n"
    "  --cookie C, --cookie-file F   the node's cookie, if it is not its owner's "
    "~/.erlang.cookie;\n"
    "                  no other user sees ERLTRACE_COOKIE in the environment, or a pipe as F\n"
    "  --as NAME@HOST                the name to come under, for a node that admits certain ones "
    "only\n"
    "  --tls-from-node               the node speaks TLS: the certificates of its own "
    "configuration;\n"
    "  --tls-cacert F, --tls-cert F, --tls-key F   or these: who signed the node's, ours, its key\n"
    "  --tls-verify host|ca|none     how the node's certificate is verified: fully, without its "
    "host, not at all\n"
    "  --agent-dir DIR               where the node may keep the agent's library while it is "
    "loaded\n"
    "How:\n"
    "  -l              list matching probes, do not trace\n"
    "  -e              check the program, do not trace\n"
    "  -v              show the program's stability; with -l and -e also each probe\n"
    "  -S              show the generated DIF\n"
    "  -q              show only what the program prints\n"
    "  -F              indent by function entry and return\n"
    "  -w              allow destructive actions: system(), freopen(), raise(), stop(), follow()\n"
    "  -o file         append output to a file\n"
    "  -h              make a C header from the provider definitions of a script\n"
    "  -B              show each piece of output with its kind\n"
    "  -L dir          more D libraries\n"
    "  -C              run the C preprocessor over scripts; -D, -U, -I and -H are its own\n"
    "  -X a|c|s|t      its mode: s is the language before ISO C\n"
    "  -b size         bytes of buffer per thread: -x bufsize\n"
    "  -x opt[=val]    set an option; erltrace help options lists them\n"
    "  --for TIME      end after a time: 10 (seconds), 500ms, 2m\n"
    "  --redact GLOBS  hide values of keys and fields that match, as in '*password*,token': -x "
    "redact\n"
    "  --json          every record, aggregation, drop and error as a JSON object on one line\n"
    "  -V              print the version\n"
    "  --version       print also the build, the agents at hand, and the OTP releases that were "
    "tried\n"
    "\nerltrace list shows the ready scripts, erltrace run NAME runs one.\n"
    "erltrace nodes lists the BEAMs of this host and says which of them can be traced.\n"
    "erltrace serve serves a page on which scripts are run; erltrace serve --help has its "
    "options.\n"
    "erltrace doctor shows what can be traced in a node, what cannot, why, and what would help.\n"
    "erltrace port is for programs: the Erlang application traces through it.\n"
    "Exit codes: 0, N of exit(N), 1 error, 2 usage, 3 stopped by maxload (doctor: there are "
    "limits).\n";

/* -- commands ---------------------------------------------------------------------------------- */

/* What `help` knows of. Completion takes the names and what they are for from `help commands`. */
static const struct {
    const char *command, *what;
    const char *text; /* NULL: of another program, or none of its own */
} topics[] = {
    {"run", "run a ready script",
     "usage: erltrace run SCRIPT [options] [args ...]\n"
     "Runs a ready script by its name, as -s does a file; all options of a trace can follow.\n"
     "  erltrace run latency -p 1234 --for 10\n"
     "  erltrace run functions --node shop@host --for 10 lists\n"
     "Scripts are searched for in the folders of ERLTRACE_SCRIPTS (separated by colons), in\n"
     "~/.config/erltrace/scripts, and in the one that came with this program.\n"},
    {"list", "the ready scripts",
     "usage: erltrace list [--json] [-o output]\n"
     "Lists the ready scripts: their names, their arguments, what they show. --json "
     "also says\n"
     "where they are.\n"
     "  erltrace list\n"
     "  ERLTRACE_SCRIPTS=~/scripts erltrace list\n"
     "The probes of a node are listed by -l: erltrace -l -m lists\n"},
    {"nodes", "the Erlang VMs of this host",
     "usage: erltrace nodes [--json] [-o output] [--cookie COOKIE | --cookie-file FILE]\n"
     "Lists the Erlang VMs of this host, whether each can be traced, and what would help "
     "if not.\n"
     "  erltrace nodes\n"
     "  erltrace nodes --cookie-file /var/lib/rabbitmq/.erlang.cookie\n"
     "Nodes that speak TLS are not asked; with --tls-from-node, or other --tls options, "
     "they are\n"
     "listed as those that can be traced if there are certificates for them.\n"},
    {"doctor", "what can be traced, and what is in the way",
     "usage: erltrace doctor [--node NAME[,NAME] | -p pid | --kernel] [--agent-dir DIR] [--json]\n"
     "                [-o output]\n"
     "                [--cookie COOKIE | --cookie-file FILE]\n"
     "                " TLS_USAGE "\n"
     "Shows what can be traced in a node, or with --kernel in the kernel of this host, what\n"
     "cannot, why, and what would help. Exit codes: 0 no limits, 3 there are limits, 1 the node\n"
     "cannot be traced.\n"
     "  erltrace doctor -p 1234\n"
     "  erltrace doctor --node rabbit@host\n"
     "  erltrace doctor --kernel\n"},
    {"serve", "a page on which scripts run live", NULL},
    {"port", "for programs",
     "usage: erltrace port\n"
     "For programs: the protocol of doc/port-protocol.md on standard input and output.\n"},
    {"help", "of a command, of the options of -x, or the list of commands", NULL},
};
enum { TOPICS = sizeof topics / sizeof topics[0] };

static int help_commands(void)
{
    for (size_t i = 0; i < TOPICS; i++)
        printf("  %-8s %s\n", topics[i].command, topics[i].what);
    return EXIT_OK;
}

static int no_command(const char *name)
{
    fprintf(stderr, "erltrace: there is no command %s: they are ", name);
    for (size_t i = 0; i < TOPICS; i++)
        fprintf(stderr, "%s%s", i == 0 ? "" : i + 1 == TOPICS ? " and " : ", ", topics[i].command);
    fputs("\ntry 'erltrace --help'\n", stderr);
    return EXIT_USAGE;
}

/* A row for each option that has a meaning here. */
static int help_options(void)
{
    puts("Options, their defaults and meanings; * can be changed by setopt() while a trace runs.\n"
         "Set one by -x OPTION[=VALUE], `#pragma D option OPTION[=VALUE]`, or DTRACE_OPT_OPTION.");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *r = &option_rows[i];
        char name[32];
        if (r->type >= OPTION_TYPE_IGNORED)
            continue;
        snprintf(name, sizeof name, "%s%s", r->name, r->by == OPTION_BY_RUNNING ? "*" : "");
        printf("  %-15s %-10s", name, option_default(r->type, r->standard));
        for (const char *p = r->text; *p != '\0'; p++)
            if (*p != '`')
                putchar(*p);
        /* Completion takes the values from here. */
        for (const char *p = r->words != NULL ? r->words : ""; *p != '\0';) {
            size_t n = strcspn(p, " "), gap = strspn(p + n, " ");
            printf("%s%.*s%s", p == r->words ? " [" : "|", (int)n, p,
                   p[n + gap] == '\0' ? "]" : "");
            p += n + gap;
        }
        putchar('\n');
    }
    return EXIT_OK;
}

int cli_help(const struct args *a)
{
    if (a->command == NULL || strcmp(a->command, "help") == 0) {
        printf("%s%s", usage, help);
        return EXIT_OK;
    }
    if (strcmp(a->command, "options") == 0)
        return help_options();
    if (strcmp(a->command, "commands") == 0)
        return help_commands();
    for (size_t i = 0; i < TOPICS; i++) {
        if (topics[i].text != NULL && strcmp(topics[i].command, a->command) == 0) {
            fputs(topics[i].text, stdout);
            return EXIT_OK;
        }
    }
    return no_command(a->command);
}

/* -- without arguments ------------------------------------------------------------------------- */

enum { NODES_SHOWN = 3 };

struct here {
    struct buf text;
    unsigned all, attachable;
    pid_t pid; /* of the first one that can be traced */
};

static int look(const struct erltrace_node *n, void *arg)
{
    struct here *h = arg;
    struct buf name = BUF_INIT, otp = BUF_INIT;
    h->all++;
    if (n->attachable != 0 && h->attachable++ == 0)
        h->pid = n->pid;
    if (n->attachable != 0 && h->attachable <= NODES_SHOWN)
        buf_printf(&h->text, "  -p %ld  %s, OTP %s\n", (long)n->pid,
                   n->name[0] != '\0' ? buf_shown(&name, n->name) : "without a name",
                   buf_shown(&otp, n->otp));
    h->text.oom |= name.oom || otp.oom;
    buf_free(&name);
    buf_free(&otp);
    return 0;
}

/* Counts the nodes here. There may be none, and a failure to look at any is not an error here. */
static void look_around(struct here *here)
{
    int err;
    erltrace_t *h = erltrace_open(ERLTRACE_VERSION, 0, &err);
    if (h != NULL)
        erltrace_node_iter(h, look, here);
    erltrace_close(h);
}

int cli_nothing(struct arena *arena)
{
    struct here here = {.text = BUF_INIT};
    char which[32] = "-p PID";
    (void)arena;
    look_around(&here);
    fputs("erltrace: DTrace for the Erlang VM. Usage: erltrace run SCRIPT | -n 'TEXT' | COMMAND\n",
          stderr);
    if (here.attachable > 0) {
        fprintf(stderr,
                "Nothing seems to prevent a trace of %u of the %u Erlang VMs of this host:\n%s",
                here.attachable, here.all, buf_str(&here.text));
        snprintf(which, sizeof which, "-p %ld", (long)here.pid);
    } else if (here.all > 0) {
        fprintf(stderr,
                "None of the %u Erlang VMs of this host can be traced; `erltrace nodes` says why, "
                "and what would help.\n",
                here.all);
    } else {
        fputs("No visible Erlang VM runs on this host; for one elsewhere: --node NAME@HOST\n",
              stderr);
    }
    fprintf(stderr,
            "  erltrace run births %-12s  process births and deaths, each second; `erltrace list` "
            "shows "
            "more\n"
            "  erltrace -n 'erlang*:lists:map/2:entry { @[copyinstr(arg0)] = count(); }' %s\n"
            "  erltrace serve                    a page on which scripts run live\n"
            "  erltrace doctor %-17s what can be traced in a node\n"
            "  erltrace --help                   everything\n",
            which, which, which);
    buf_free(&here.text);
    return EXIT_USAGE;
}
