/* erltrace_serve.c - the program behind `erltrace serve`: reads its options and runs the server of
 * c_src/web until a signal.
 *
 * It is a separate program because only it needs libwebsockets and TLS: the command goes to
 * machines, and into Erlang releases, that have neither. */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "util/secret.h"
#include "util/tls_words.h"
#include "erltrace.h"
#include "web/access.h"
#include "web/peer.h"
#include "web/running.h"
#include "web/web.h"

static const char usage[] =
    "usage: erltrace serve [--listen ADDRESS[:PORT]] [--host NAME[,NAME]] [--node NAME[,NAME]]\n"
    "                [--user NAME[,NAME]] [-p pid] [--kernel] [-w]\n"
    "                [--cert FILE --key FILE | --insecure] [-x opt[=val]] [--keep SECONDS]\n"
    "                [--new-token]\n"
    "                [--cookie COOKIE | --cookie-file FILE] [--agent-dir DIR]\n"
    "                [--record SCRIPT ARG ...]\n"
    "                " TLS_USAGE "\n";

static const char help[] =
    "\nServes a page on which D scripts are run and their results seen live, and prints its\n"
    "address, with the token that opens it. A trace ends when its last page leaves.\n"
    "  --listen ADDRESS:PORT    where; 127.0.0.1:8042 by default, port 0 is any\n"
    "  --host NAME              another name under which the server is reached, besides\n"
    "                           localhost, addresses, and the name of this host; behind a\n"
    "                           proxy that ends TLS, the browsers' address: https://NAME[:PORT]\n"
    "  --user NAME              another user of this host whose browser may connect\n"
    "  --node NAME              the nodes that may be traced; without it those of this host\n"
    "  -p pid                   the same, by the process id of a BEAM of this host\n"
    "  --kernel                 scripts may also trace the kernel of this host, and thereby all\n"
    "                           that runs here; needs privileges\n"
    "  -w                       scripts may have destructive actions\n"
    "  --cert FILE, --key FILE  TLS, with these files in PEM; needed for addresses that\n"
    "                           others reach\n"
    "  --insecure               no TLS even if others reach it\n"
    "  -x opt[=val]             an option of every script\n"
    "  --record SCRIPT ARG ...  runs this script on the first of these nodes from the beginning,\n"
    "                           whether a page is open or not, and keeps its last ten minutes\n"
    "  --keep SECONDS           how long a trace waits for a page that has lost its connection;\n"
    "                           10 by default, at most 600\n"
    "  --new-token              a new token; without this option, a server on a port of your "
    "choice\n"
    "                           has the token of the one that was there before\n"
    "  --cookie COOKIE, --cookie-file FILE, --agent-dir DIR, --tls-from-node and the other\n"
    "  --tls options            as for tracing\n"
    "SIGINT and SIGTERM end the server, and all traces.\n"
    "From another machine: `ssh -L 8042:127.0.0.1:8042 HOST`, and open the address there.\n";

enum { EXIT_OK = 0, EXIT_ERROR = 1, EXIT_USAGE = 2 };
enum { OPTIONS = 64, NAMES = 64 };
enum {
    LISTEN = 256,
    HOST,
    USER,
    NODE,
    CERT,
    KEY,
    INSECURE,
    COOKIE,
    COOKIE_FILE,
    AGENT_DIR,
    KEEP,
    RECORD,
    NEW_TOKEN,
    KERNEL,
    TLS,
    HELP
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, LISTEN},
    {"host", required_argument, NULL, HOST},
    {"user", required_argument, NULL, USER},
    {"node", required_argument, NULL, NODE},
    {"cert", required_argument, NULL, CERT},
    {"key", required_argument, NULL, KEY},
    {"insecure", no_argument, NULL, INSECURE},
    {"cookie", required_argument, NULL, COOKIE},
    {"cookie-file", required_argument, NULL, COOKIE_FILE},
    {"agent-dir", required_argument, NULL, AGENT_DIR},
    {"keep", required_argument, NULL, KEEP},
    {"record", required_argument, NULL, RECORD},
    {"new-token", no_argument, NULL, NEW_TOKEN},
    {"kernel", no_argument, NULL, KERNEL},
    TLS_WORDS(TLS),
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

struct serve {
    struct arena *arena;
    struct web_config config;
    struct web_option option[OPTIONS], tls[OPTIONS];
    const char *host[NAMES], *node[NAMES], *user[NAMES];
    uid_t uid[NAMES];
    size_t nusers;
    pid_t pid[NAMES];
    size_t npids;
    const char *record; /* the script that is recorded from the beginning; NULL: none */
    char **args;        /* its arguments */
    size_t nargs;
    const char *why; /* a usage error, in words */
};

/* Accepts "127.0.0.1:8042", "[::1]:8042", "8042", "localhost". */
static bool set_listen(struct serve *s, const char *text)
{
    const char *colon = strrchr(text, ':'), *port = "8042";
    size_t n = strlen(text);
    if (text[0] == '[') {
        const char *end = strchr(text, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return false;
        port = end[1] == ':' ? end + 2 : port;
        n = (size_t)(end - text) - 1;
        text++;
    } else if (strspn(text, "0123456789") == n) {
        port = text;
        n = 0;
    } else if (colon != NULL && strchr(text, ':') == colon) {
        port = colon + 1;
        n = (size_t)(colon - text);
    }
    char *rest;
    long number = strtol(port, &rest, 10);
    if (*port == '\0' || *rest != '\0' || number < 0 || number > 65535)
        return false;
    s->config.address = n > 0 ? arena_strndup(s->arena, text, n) : "127.0.0.1";
    if (s->config.address != NULL && strcmp(s->config.address, "localhost") == 0)
        s->config.address = "127.0.0.1";
    s->config.port = (int)number;
    return s->config.address != NULL;
}

static bool add_names(struct serve *s, const char **list, size_t *n, const char *names)
{
    while (*names != '\0') {
        size_t len = strcspn(names, ",");
        if (len > 0) {
            if (*n == NAMES || (list[*n] = arena_strndup(s->arena, names, len)) == NULL)
                return false;
            (*n)++;
        }
        names += len + (names[len] == ',');
    }
    return true;
}

static bool add_option(struct serve *s, const char *text)
{
    const char *eq = strchr(text, '=');
    size_t n = eq != NULL ? (size_t)(eq - text) : strlen(text);
    if (s->config.noptions == OPTIONS)
        return false;
    struct web_option *o = &s->option[s->config.noptions++];
    o->name = arena_strndup(s->arena, text, n);
    o->value = eq != NULL ? eq + 1 : NULL;
    return o->name != NULL;
}

static bool add_tls(struct serve *s, const char *name, const char *value)
{
    if (s->config.ntls == OPTIONS)
        return false;
    s->tls[s->config.ntls++] = (struct web_option){name, value};
    return true;
}

static bool add_pid(struct serve *s, const char *text)
{
    char *end;
    errno = 0;
    long pid = strtol(text, &end, 10);
    s->why = "-p takes the process id of a BEAM of this host, and not";
    if (errno != 0 || end == text || *end != '\0' || pid <= 0 || pid > INT32_MAX ||
        s->npids == NAMES)
        return false;
    s->pid[s->npids++] = (pid_t)pid;
    return true;
}

static bool set_keep(struct serve *s, const char *text)
{
    char *end;
    long seconds = strtol(text, &end, 10);
    s->why = "--keep takes a number of seconds from 0 to 600, and not";
    if (end == text || *end != '\0' || seconds < 0 || seconds > 600)
        return false;
    s->config.keep_ms = (unsigned)seconds * 1000;
    return true;
}

static bool set_option(struct serve *s, int letter, char *value)
{
    struct web_config *c = &s->config;
    switch (letter) {
    case LISTEN:
        s->why = "--listen takes an address, a port, or both, as 127.0.0.1:8042 or [::1]:8042, "
                 "and not";
        return set_listen(s, value);
    case HOST:
        s->why = "--host takes names as shop.example, or https://shop.example when a proxy stands "
                 "between, and not";
        if (!add_names(s, s->host, &c->nhosts, value))
            return false;
        for (size_t i = 0; i < c->nhosts; i++)
            if (!access_is_name(s->host[i]))
                return false;
        return true;
    case USER:
        s->why = "--user takes names or numbers of users of this host, and not";
        if (!add_names(s, s->user, &s->nusers, value))
            return false;
        for (c->nusers = 0; c->nusers < s->nusers; c->nusers++)
            if (!peer_user(s->user[c->nusers], &s->uid[c->nusers]))
                return false;
        return true;
    case NODE: return add_names(s, s->node, &c->nnodes, value);
    case CERT: c->cert = value; break;
    case KEY: c->key = value; break;
    case INSECURE: c->insecure = true; break;
    case KEEP: return set_keep(s, value);
    case RECORD: s->record = value; break;
    case NEW_TOKEN: c->new_token = true; break;
    case KERNEL: c->kernel = true; break;
    case COOKIE: return (c->cookie = secret_argument(s->arena, value)) != NULL;
    case COOKIE_FILE: c->cookie_file = value; break;
    case AGENT_DIR: c->agent_dir = value; break;
    case 'w': c->destructive = true; break;
    case 'x': return add_option(s, value);
    case 'p': return add_pid(s, value);
    default: s->why = letter == ':' ? "an option needs a value" : "unknown option"; return false;
    }
    return true;
}

static bool is_set(erltrace_t *h, int rc, const char *what, const char *name)
{
    if (rc == 0)
        return true;
    const char *hint = erltrace_setopt_hint(h, name);
    fprintf(stderr, "erltrace: error: failed to set %s%s: %s\n", what, name,
            erltrace_errmsg(h, erltrace_errno(h)));
    if (hint != NULL)
        fprintf(stderr, "  %s\n", hint);
    return false;
}

/* The same for TLS options; the library's text names the option. */
static bool good_tls(erltrace_t *h, const struct web_config *c)
{
    for (size_t i = 0; h != NULL && i < c->ntls; i++)
        if (erltrace_set_tls(h, c->tls[i].name, c->tls[i].value) != 0) {
            fprintf(stderr, "erltrace: error: %s\n", erltrace_errmsg(h, erltrace_errno(h)));
            return false;
        }
    return true;
}

/* Tries the options on a handle, so that a bad one is reported now and not to everyone who opens a
 * page. */
static bool good_options(const struct serve *s)
{
    int err;
    erltrace_t *h = erltrace_open(ERLTRACE_VERSION, 0, &err);
    const char *name = "";
    int rc = erltrace_setopt_environment(h, &name);
    bool ok = is_set(h, rc, "what the environment has as option ", name);
    for (size_t i = 0; h != NULL && i < s->config.noptions; i++) {
        const struct web_option *o = &s->option[i];
        ok &= is_set(h, erltrace_setopt(h, o->name, o->value), "-x ", o->name);
    }
    ok &= good_tls(h, &s->config);
    erltrace_close(h);
    return ok;
}

/* -- nodes by process id ----------------------------------------------------------------------- */

static int name_of(const struct erltrace_node *n, void *arg)
{
    struct serve *s = arg;
    for (size_t i = 0; i < s->npids; i++) {
        if (s->pid[i] != n->pid)
            continue;
        if (n->attachable == 0 || n->name[0] == '\0') {
            fprintf(stderr, "erltrace: error: -p %ld: %s\n", (long)n->pid,
                    n->why[0] != '\0' ? n->why : "that node has no name");
            if (n->help[0] != '\0')
                fprintf(stderr, "  %s\n", n->help);
            return 1;
        }
        s->pid[i] = 0;
        if (!add_names(s, s->node, &s->config.nnodes, n->name))
            return 1;
    }
    return 0;
}

/* Turns each -p into the name of its node, by which pages choose. */
static bool name_pids(struct serve *s)
{
    int err;
    if (s->npids == 0)
        return true;
    erltrace_t *h = erltrace_open(ERLTRACE_VERSION, 0, &err);
    bool ok = h != NULL && run_set_access(&s->config, h) && erltrace_node_iter(h, name_of, s) == 0;
    for (size_t i = 0; ok && i < s->npids; i++) {
        if (s->pid[i] == 0)
            continue;
        fprintf(stderr,
                "erltrace: error: process %ld is not an Erlang VM of this host\n"
                "  `erltrace nodes` lists them\n",
                (long)s->pid[i]);
        ok = false;
    }
    erltrace_close(h);
    return ok;
}

static struct web *server;

/* A handler that does nothing: a lost socket is noticed when it is written to. */
static void pipe_broken(int signo)
{
    (void)signo;
}

/* The second signal ends a server whose nodes do not answer. */
static void on_signal(int signo)
{
    signal(signo, SIG_DFL);
    web_end(server);
}

/* Leaves a signal ignored that was ignored at the start, as nohup wants. */
static void end_on(int signo)
{
    if (signal(signo, on_signal) == SIG_IGN)
        signal(signo, SIG_IGN);
}

/* Returns large blocks, such as messages with thousands of keys, to the system when they are freed,
 * and lets memory freed by one thread serve others. */
static void bound_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_ARENA_MAX, 4);
#endif
}

/* Starts to record, if that is wanted. */
static bool record(const struct serve *s)
{
    const char *why = s->record == NULL ? NULL
                      : s->config.nnodes == 0 && !s->config.kernel
                          ? "--node or -p must say which node is traced"
                          : web_record(server, s->config.nnodes > 0 ? s->config.node[0] : "",
                                       s->record, s->args, s->nargs);
    if (why != NULL)
        fprintf(stderr, "erltrace: error: %s cannot be recorded: %s\n", s->record, why);
    return why == NULL;
}

static int serve(const struct serve *s)
{
    const struct web_config *config = &s->config;
    char why[512];
    const char *hint;
    server = web_open(config, why, sizeof why, &hint);
    if (server == NULL) {
        fprintf(stderr, "erltrace: error: %s\n", why);
        if (hint != NULL)
            fprintf(stderr, "  %s\n", hint);
        return EXIT_ERROR;
    }
    bound_memory();
    signal(SIGPIPE, pipe_broken);
    end_on(SIGINT);
    end_on(SIGTERM);
    end_on(SIGHUP);
    if (!web_has_page())
        fprintf(stderr, "erltrace: the page was not built into this program; in the checkout "
                        "`make demo-web` installs npm and builds it\n");
    if (web_warning(server) != NULL)
        fprintf(stderr, "erltrace: warning: %s\n", web_warning(server));
    printf("%s\n", web_url(server));
    fflush(stdout);
    bool recorded = record(s);
    if (recorded)
        web_run(server);
    web_close(server);
    return recorded ? EXIT_OK : EXIT_ERROR;
}

static void tell(const char *line)
{
    fprintf(stderr, "erltrace: %s\n", line);
}

static int run(int argc, char **argv, struct arena *arena)
{
    struct serve s = {.arena = arena};
    int c, row = 0;
    s.config = (struct web_config){.address = "127.0.0.1",
                                   .port = 8042,
                                   .keep_ms = 10000,
                                   .host = s.host,
                                   .user = s.uid,
                                   .node = s.node,
                                   .option = s.option,
                                   .tls = s.tls,
                                   .tell = tell};
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":wx:p:", long_options, &row)) != -1) {
        if (c == HELP) {
            printf("%s%s", usage, help);
            return EXIT_OK;
        }
        s.why = "too many names or options";
        if (c == TLS ? !add_tls(&s, tls_word(&long_options[row]), optarg)
                     : !set_option(&s, c, optarg)) {
            fprintf(stderr, "erltrace: serve: %s: %s\n%s", s.why, argv[optind - 1], usage);
            return EXIT_USAGE;
        }
    }
    s.args = argv + optind;
    s.nargs = (size_t)(argc - optind);
    if (s.record == NULL && optind < argc) {
        fprintf(stderr, "erltrace: serve takes no other words: %s\n%s", argv[optind], usage);
        return EXIT_USAGE;
    }
    const char *cookie = secret_variable(arena, SECRET_COOKIE);
    if (s.config.cookie == NULL && s.config.cookie_file == NULL)
        s.config.cookie = cookie;
    if (!good_options(&s))
        return EXIT_USAGE;
    return name_pids(&s) ? serve(&s) : EXIT_ERROR;
}

int main(int argc, char **argv)
{
    struct arena arena;
    arena_init(&arena);
    int code = run(argc, argv, &arena);
    arena_free(&arena);
    return code;
}
