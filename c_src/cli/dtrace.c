/* dtrace.c - one run: programs in, targets opened, output shown until the trace ends.
 *
 * The order of steps is dtrace's (language.md 11.2): options, processes, compile, match, enable,
 * go, work, final printout. All that traces is the library behind erltrace.h. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/run.h"
#include "util/capabilities.h"

enum {
    WAIT_MS = 100,   /* the longest that a signal may go unnoticed */
    STATUS_MS = 500, /* between two status lines */
    HANDFUL = 5      /* nodes in which a person need not be shown first what will be done */
};

/* -- signals ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t signals; /* number of requests to end */
static volatile sig_atomic_t newline; /* SIGINT has left ^C on the terminal */

/* A write in progress continues, so that nothing is lost; the third signal ends a tool whose reader
 * does not read. */
static void on_signal(int signo)
{
    newline = newline || (signo == SIGINT && signals == 0);
    signals = signals + 1;
    if (signals > 1)
        signal(signo, SIG_DFL);
}

static void catch_signals(void)
{
    static const int which[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        struct sigaction old;
        /* A signal that was ignored at the start (nohup) stays ignored. */
        if (sigaction(which[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(which[i], &sa, NULL);
    }
}

/* -- errors and options ------------------------------------------------------------------------ */

int run_failed(struct run *r)
{
    if (r->screen.errors == 0)
        screen_error(&r->screen, "%s", erltrace_errmsg(r->h, erltrace_errno(r->h)));
    return EXIT_ERROR;
}

bool run_option(struct run *r, const char *name)
{
    int64_t v;
    return erltrace_getopt(r->h, name, &v) == 0 && v != ERLTRACE_OPT_UNSET;
}

static int not_set(struct run *r, char letter, const char *name, const char *value)
{
    const char *why = erltrace_errmsg(r->h, erltrace_errno(r->h));
    const char *hint = erltrace_setopt_hint(r->h, name);
    if (letter == 'x')
        screen_error_hint(&r->screen, hint, "failed to set -x %s: %s", name, why);
    else
        screen_error_hint(&r->screen, hint, "failed to set -%c %s: %s", letter, value, why);
    return EXIT_ERROR;
}

static int set_options(struct run *r)
{
    struct args *a = r->a;
    const char *name;
    if (erltrace_setopt_environment(r->h, &name) != 0) {
        screen_error_hint(&r->screen, erltrace_setopt_hint(r->h, name),
                          "failed to set option %s from the environment: %s", name,
                          erltrace_errmsg(r->h, erltrace_errno(r->h)));
        return EXIT_ERROR;
    }
    for (size_t i = 0; i < a->noptions; i++) {
        const struct args_option *o = &a->option[i];
        if (erltrace_setopt(r->h, o->name, o->value) != 0)
            return not_set(r, o->letter, o->name, o->value != NULL ? o->value : "");
    }
    if (a->list || a->header)
        erltrace_setopt(r->h, "zdefs", NULL);
    if (a->header)
        erltrace_setopt(r->h, "empty", NULL);
    return EXIT_OK;
}

/* -- targets and programs ---------------------------------------------------------------------- */

static int set_targets(struct run *r)
{
    struct args *a = r->a;
    int rc = a->kernel ? erltrace_target_kernel(r->h) : a->local ? erltrace_target_local(r->h) : 0;
    if (rc == 0)
        rc = cli_set_access(r->h, a);
    if (rc == 0 && a->cluster != NULL)
        rc = erltrace_target_cluster(r->h, a->cluster, NULL);
    for (size_t i = 0; rc == 0 && i < a->nnodes; i++)
        rc = erltrace_target_node(r->h, a->node[i], NULL);
    for (size_t i = 0; rc == 0 && i < a->nprocesses; i++) {
        const struct args_process *p = &a->process[i];
        if (p->command != NULL)
            rc = erltrace_target_command(r->h, p->command) < 0 ? -1 : 0;
        else
            rc = erltrace_target_pid(r->h, p->pid);
    }
    return rc == 0 ? EXIT_OK : run_failed(r);
}

/* A script that is inside the program is compiled as its file would be. */
static erltrace_prog_t *compile_script(struct run *r, const struct args_program *p)
{
    struct args *a = r->a;
    if (p->inside == NULL)
        return erltrace_program_fcompile(r->h, p->text, a->nwords, a->word);
    return erltrace_program_strcompile(r->h, p->text, p->spec, p->inside, a->nwords, a->word);
}

static int compile_programs(struct run *r)
{
    static const char *const letters[] = {
        [ERLTRACE_SPEC_NAME] = "-n",   [ERLTRACE_SPEC_FUNCTION] = "-f",
        [ERLTRACE_SPEC_MODULE] = "-m", [ERLTRACE_SPEC_PROVIDER] = "-P",
        [ERLTRACE_SPEC_ID] = "-i",
    };
    struct args *a = r->a;
    char *zero = a->word[0];
    r->program = arena_alloc(r->arena, (a->nprograms + 1) * sizeof(erltrace_prog_t *));
    if (r->program == NULL) {
        screen_error(&r->screen, "out of memory");
        return EXIT_ERROR;
    }
    for (size_t i = 0; i < a->nprograms; i++) {
        const struct args_program *p = &a->program[i];
        bool script = p->spec == ERLTRACE_SPEC_SCRIPT;
        a->word[0] = script ? (char *)p->text : zero;
        if (p->inside != NULL && run_option(r, "cpp")) {
            screen_error(&r->screen, "-C takes no ready script of the static erltrace");
            return EXIT_ERROR;
        }
        r->program[i] = script ? compile_script(r, p)
                               : erltrace_program_strcompile(r->h, letters[p->spec], p->spec,
                                                             p->text, a->nwords, a->word);
        if (r->program[i] == NULL)
            return run_failed(r);
    }
    if (!a->disasm && !run_option(r, "verbose") && !run_option(r, "disasm") &&
        !run_option(r, "tree"))
        return EXIT_OK;
    screen_flush(&r->screen);
    return erltrace_program_dump(r->h, stderr) == 0 ? EXIT_OK : run_failed(r);
}

/* -- tracing ----------------------------------------------------------------------------------- */

struct progress {
    uint64_t start, drawn; /* ns */
    uint64_t fired;        /* events when the line was last drawn */
};

static void draw_status(struct run *r, struct progress *p)
{
    uint64_t now = monotonic_ns(), elapsed = (now - p->start) / 1000000000u;
    char line[512], count[48];
    if (!r->screen.status || (p->drawn != 0 && now - p->drawn < STATUS_MS * 1000000ull))
        return;
    const struct erltrace_status *st = erltrace_status(r->h);
    uint64_t since = now - (p->drawn != 0 ? p->drawn : p->start);
    uint64_t rate =
        since > 0 ? (uint64_t)((double)(st->fired - p->fired) * 1e9 / (double)since) : 0;
    const char *where = erltrace_targets(r->h), *what = erltrace_enabled(r->h);
    snprintf(count, sizeof count, "%u probe%s", st->probes, st->probes == 1 ? "" : "s");
    snprintf(line, sizeof line,
             "%s  %s  %" PRIu64 " events/s  %" PRIu64 " drop%s  %02" PRIu64 ":%02" PRIu64,
             where[0] != '\0' ? where : "local", what != NULL ? what : count, rate, st->drops,
             st->drops == 1 ? "" : "s", elapsed / 60, elapsed % 60);
    screen_status(&r->screen, line);
    p->drawn = now;
    p->fired = st->fired;
}

/* Whether the format is one object at the end. */
static bool is_whole(struct run *r)
{
    static const enum {
        LINES,
        WHOLE
    } how[] = {
#define FORMAT(name, flag, how, reporter) how,
#include "util/formats.list"
#undef FORMAT
    };
    int64_t format;
    return erltrace_getopt(r->h, "format", &format) == 0 && format >= 0 &&
           (size_t)format < sizeof how / sizeof how[0] && how[format] == WHOLE;
}

/* Whether a program reads the output, so that nothing else may be in it. */
static bool for_programs(struct run *r)
{
    int64_t form;
    return r->a->json || is_whole(r) ||
           (erltrace_getopt(r->h, "stackform", &form) == 0 && form != 0);
}

/* The first SIGINT ends the line that contains ^C. */
static void end_line(struct run *r)
{
    if (!newline)
        return;
    newline = 0;
    if (for_programs(r))
        screen_text(&r->screen, "\n");
    else
        screen_data(&r->screen, "\n", 1);
}

/* Returns whether the trace is to end: by a signal, an error, or --for. */
static bool asked_to_end(struct run *r, const struct progress *p)
{
    end_line(r);
    if (signals > 0 || r->screen.broken || r->screen.error != 0)
        return true;
    return r->a->for_ns > 0 && monotonic_ns() - p->start >= (uint64_t)r->a->for_ns;
}

static int wait_ms(const struct run *r, const struct progress *p)
{
    if (r->a->for_ns == 0)
        return WAIT_MS;
    uint64_t past = monotonic_ns() - p->start;
    uint64_t left =
        past < (uint64_t)r->a->for_ns ? ((uint64_t)r->a->for_ns - past) / 1000000u + 1 : 0;
    return left < WAIT_MS ? (int)left : WAIT_MS;
}

/* Writes "3 100": digits in groups of three. */
static const char *grouped(uint64_t n, char out[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), k = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[k++] = ' ';
        out[k++] = digits[i];
    }
    out[k] = '\0';
    return out;
}

static int count_node(const char *from, const char *to)
{
    int n = from < to;
    for (; from < to; from++)
        n += *from == ',';
    return n;
}

/* Shows a person what will be done to many nodes. Returns whether to go on with it. */
static bool may_place(struct run *r)
{
    const char *names = erltrace_targets(r->h);
    const int n = count_node(names, names + strlen(names));
    char nodes[32], probes[32];
    if (n <= HANDFUL || r->a->yes || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return true;
    screen_note(&r->screen, "-y goes on: erltrace -y ...", "%s nodes, %s probes together: %s",
                grouped((uint64_t)n, nodes), grouped(erltrace_status(r->h)->watched, probes),
                names);
    return false;
}

/* Shows the placing of probes, which can take long. */
static int show_progress(const struct erltrace_progress *p, void *arg)
{
    struct run *r = arg;
    char line[512], done[32], total[32], how_far[96] = "";
    if (p->total > 0)
        snprintf(how_far, sizeof how_far, ": %s of %s %s", grouped(p->done, done),
                 grouped(p->total, total), p->unit);
    snprintf(line, sizeof line, "%s  %s%s", p->node,
             p->waiting ? "waiting for another trace" : "placing probes", how_far);
    screen_status(&r->screen, line);
    return signals > 0 || r->screen.broken ? ERLTRACE_HANDLE_ABORT : ERLTRACE_HANDLE_OK;
}

/* A script of the kernel needs most of its privileges to be set up alone. */
static void give_up_privileges(struct run *r)
{
    const uint64_t had = capabilities_effective(), kept = erltrace_capabilities(r->h);
    struct buf names = BUF_INIT;
    if ((had & ~kept) == 0)
        return;
    const bool done = capabilities_keep(kept);
    capabilities_names(had & kept, &names);
    if (r->a->verbose && !r->a->json && (!done || (had & kept) != 0))
        screen_message(&r->screen,
                       done ? "privileges kept while tracing: %s"
                            : "no privilege could be given up; needed are: %s",
                       buf_str(&names));
    buf_free(&names);
}

static int start(struct run *r)
{
    bool destructive = run_option(r, "destructive");
    catch_signals();
    erltrace_handle_progress(r->h, show_progress, r);
    if (erltrace_go(r->h) != 0) {
        if (erltrace_errno(r->h) != ERLTRACE_E_DESTRUCTIVE)
            return run_failed(r);
        screen_error_hint(&r->screen, "allow them with -w", "could not enable tracing: %s",
                          erltrace_errmsg(r->h, ERLTRACE_E_DESTRUCTIVE));
        return EXIT_ERROR;
    }
    screen_status(&r->screen, NULL);
    r->warned = r->screen.warnings;
    if (erltrace_status(r->h)->state == ERLTRACE_STATE_DONE) /* the trace was ended meanwhile */
        return EXIT_OK;
    if (destructive && !r->a->json && !run_option(r, "quiet"))
        screen_message(&r->screen, "allowing destructive actions");
    give_up_privileges(r);
    if (r->a->verbose) {
        tell_placed(r);
        tell_clocks(r);
    }
    return EXIT_OK;
}

/* Tells of the probes that have come since. */
static void tell_more(struct run *r, unsigned *known)
{
    const unsigned n = erltrace_status(r->h)->probes;
    if (n > *known && r->a->verbose && !r->a->json)
        screen_message(&r->screen, "code was loaded: %u more probe%s named", n - *known,
                       n - *known == 1 ? "" : "s");
    *known = n;
}

static int trace(struct run *r)
{
    struct progress p = {0};
    unsigned probes;
    int state = ERLTRACE_WORK_OKAY;
    if (start(r) != EXIT_OK)
        return EXIT_ERROR;
    p.start = erltrace_status(r->h)->began;
    probes = erltrace_status(r->h)->probes;
    r->screen.raw = run_option(r, "rawoutput");
    r->screen.elixir = run_option(r, "elixir");
    r->screen.whole = is_whole(r);
    r->screen.total = r->a->verbose || run_option(r, "stats");
    while (state == ERLTRACE_WORK_OKAY && signals <= 1) {
        if (asked_to_end(r, &p) && erltrace_stop(r->h) != 0)
            return run_failed(r);
        if (erltrace_status(r->h)->state == ERLTRACE_STATE_RUNNING)
            r->watched_ns = monotonic_ns() - p.start;
        state = erltrace_work(r->h, NULL, wait_ms(r, &p), NULL, NULL, NULL);
        screen_faults(&r->screen, state != ERLTRACE_WORK_OKAY);
        screen_flush(&r->screen);
        tell_more(r, &probes);
        draw_status(r, &p);
    }
    screen_faults(&r->screen, true);
    screen_status(&r->screen, NULL);
    if (state == ERLTRACE_WORK_ERROR)
        return run_failed(r);
    end_line(r);
    /* In haste: the empty line at the end, and no aggregations. */
    if (signals > 1 && !for_programs(r))
        screen_data(&r->screen, "\n", 1);
    else if (signals <= 1 && state == ERLTRACE_WORK_DONE && !r->screen.broken)
        erltrace_aggregate_print(r->h, NULL);
    screen_flush(&r->screen);
    if (r->screen.error != 0) {
        screen_message(&r->screen, "failed to write the output: %s", strerror(r->screen.error));
        return EXIT_ERROR;
    }
    tell_filled(r);
    if (r->a->verbose && signals <= 1)
        tell_clocks(r);
    if (signals <= 1)
        tell_silence(r);
    const struct erltrace_status *st = erltrace_status(r->h);
    if (st->overloaded > 0)
        return EXIT_OVERLOAD;
    if (st->exited)
        return st->status;
    return st->lost > 0 ? EXIT_ERROR : EXIT_OK;
}

/* -- the run ----------------------------------------------------------------------------------- */

static void set_handlers(struct run *r)
{
    erltrace_handle_diag(r->h, screen_diag, &r->screen);
    erltrace_handle_output(r->h, screen_output, &r->screen);
    erltrace_handle_fault(r->h, screen_fault, &r->screen);
    erltrace_handle_drop(r->h, screen_drop, &r->screen);
    erltrace_handle_stats(r->h, screen_stats, &r->screen);
    erltrace_handle_member(r->h, screen_member, &r->screen);
}

static int run(struct run *r)
{
    struct args *a = r->a;
    int err, code;
    int flags = ERLTRACE_O_KERNEL | (a->json ? ERLTRACE_O_JSON : 0) |
                (a->no_run ? ERLTRACE_O_CHECK : 0) | (r->screen.out_tty ? ERLTRACE_O_TERMINAL : 0);
    r->h = erltrace_open(ERLTRACE_VERSION, flags, &err);
    if (r->h == NULL) {
        screen_error(&r->screen, "%s", erltrace_errmsg(NULL, err));
        return EXIT_ERROR;
    }
    set_handlers(r);
    if ((code = set_options(r)) != EXIT_OK)
        return code;
    if (a->nprograms == 0 && !a->list && a->no_run) /* with nothing to check, nothing is wrong */
        return EXIT_OK;
    if (a->nprograms == 0 && !a->list) {
        screen_error_hint(&r->screen,
                          a->nwords > 1 ? "a program is given with -n 'TEXT' or -s FILE; other "
                                          "words are its arguments"
                                        : "-n 'TEXT' or -s FILE gives a program, -l lists probes",
                          "no probes specified");
        return EXIT_ERROR;
    }
    if ((code = set_targets(r)) != EXIT_OK || (code = compile_programs(r)) != EXIT_OK)
        return code;
    if (a->header)
        return write_header(r);
    if (a->list)
        return list_probes(r);
    if (erltrace_enable(r->h) != 0)
        return run_failed(r);
    if (a->verbose && a->no_run && !a->json) { /* each probe also shows its own */
        tell_stability(r);
        return list_each(r);
    }
    if (a->no_run)
        return EXIT_OK;
    if (erltrace_status(r->h)->probes == 0 && !run_option(r, "zdefs")) {
        screen_error(&r->screen, "no probes matched");
        return EXIT_ERROR;
    }
    if (erltrace_status(r->h)->probes == 0 && run_option(r, "quiet"))
        screen_note(&r->screen, "with -Z, or the option zdefs, a program waits for what it names",
                    "no description matches a probe as yet");
    if (!run_option(r, "quiet") && !a->json)
        tell_matched(r);
    if (a->verbose && !for_programs(r))
        tell_stability(r);
    return may_place(r) ? trace(r) : EXIT_ERROR;
}

int cli_trace(struct args *a, struct arena *arena)
{
    struct run r = {.a = a, .arena = arena};
    if (!screen_open(&r.screen, a->header ? NULL : a->output, a->json)) {
        fprintf(stderr, "erltrace: failed to open %s: %s\n", a->output, strerror(errno));
        return EXIT_ERROR;
    }
    r.screen.pieces = a->show_pieces;
    int code = run(&r);
    erltrace_close(r.h);
    screen_flush(&r.screen);
    screen_close(&r.screen);
    return code;
}
