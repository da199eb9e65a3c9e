/* trace.c - one run: programs in, targets opened, output shown until the trace ends.
 *
 * The order of steps is dtrace's (reference 11.2): processes, compile, match, enable, go, work,
 * final printout. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "cli/target.h"
#include "consumer/session.h"

enum {
    WAIT_MS = 100,      /* how long a signal may go unnoticed */
    STATUS_MS = 500,    /* between two status lines */
    CHILD_END_MS = 2000 /* between a node that closes its connections and the end of its process */
};

struct run {
    struct args *a;
    struct arena *arena;
    struct screen screen;
    struct diags d;
    struct session *s;
    struct target target;
};

/* -- signals ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t signals; /* how often we were asked to end */
static volatile sig_atomic_t newline; /* SIGINT has left ^C on the terminal */

static void on_signal(int signo)
{
    newline = newline || (signo == SIGINT && signals == 0);
    signals = signals + 1;
}

static void catch_signals(void)
{
    static const int which[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction sa = {.sa_handler = on_signal};
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        struct sigaction old;
        /* What was ignored when we were started (nohup) stays ignored. */
        if (sigaction(which[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(which[i], &sa, NULL);
    }
}

/* An error in dtrace's own words, without tag or place. Returns the exit code. */
__attribute__((format(printf, 2, 3))) static int fatal(struct run *r, const char *fmt, ...)
{
    struct buf b = BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    if (r->a->json)
        diag_error(&r->d, ET_EINVAL, NULL, "", NULL, "%s", buf_str(&b));
    else
        screen_message(&r->screen, "%s", buf_str(&b));
    buf_free(&b);
    return EXIT_ERROR;
}

/* -- programs ---------------------------------------------------------------------------------- */

/* How a program is called in diagnostics: the script's file, or its letter, numbered from the
 * second on. */
static const char *program_name(struct run *r, size_t i)
{
    static const char letters[] = {[COMPILE_NAME] = 'n',
                                   [COMPILE_FUNCTION] = 'f',
                                   [COMPILE_MODULE] = 'm',
                                   [COMPILE_PROVIDER] = 'P',
                                   [COMPILE_ID] = 'i'};
    const struct args_program *p = &r->a->program[i];
    size_t same = 1;
    for (size_t k = 0; k < i; k++)
        same += r->a->program[k].kind == p->kind &&
                (p->kind != COMPILE_SCRIPT || strcmp(r->a->program[k].text, p->text) == 0);
    if (p->kind == COMPILE_SCRIPT)
        return same == 1 ? p->text : arena_printf(r->arena, "%s (%zu)", p->text, same);
    return same == 1 ? arena_printf(r->arena, "-%c", letters[p->kind])
                     : arena_printf(r->arena, "-%c (%zu)", letters[p->kind], same);
}

/* A compile error in the form that dtrace gave it. */
static void classic_error(struct run *r, size_t program)
{
    const struct args_program *p = &r->a->program[program];
    for (size_t i = 0; i < r->d.count; i++) {
        const struct diag *g = &r->d.list[i];
        if (g->severity != DIAG_ERROR)
            continue;
        const char *tag = option_on(&r->a->opt, OPTION_errtags) && g->tag[0] != '\0'
                              ? arena_printf(r->arena, "[%s] ", g->tag)
                              : "";
        if (p->kind == COMPILE_SCRIPT)
            screen_message(&r->screen, "failed to compile script %s: %sline %d: %s", p->text, tag,
                           g->pos.line, g->text);
        else
            screen_message(&r->screen, "invalid probe specifier %s: %s%s", p->text, tag, g->text);
        break;
    }
    diags_clear(&r->d);
}

static int compile_error(struct run *r, size_t program)
{
    if (option_on(&r->a->opt, OPTION_errform) && !r->a->json && program < r->a->nprograms)
        classic_error(r, program);
    return EXIT_ERROR;
}

static int compile_programs(struct run *r)
{
    struct args *a = r->a;
    for (size_t i = 0; i < a->nprograms; i++) {
        const struct args_program *p = &a->program[i];
        struct compile_source src = {
            .kind = p->kind, .name = program_name(r, i), .text = p->text, .argc = a->nwords};
        char **argv = arena_alloc(r->arena, ((size_t)a->nwords + 1) * sizeof *argv);
        if (argv == NULL || src.name == NULL)
            return EXIT_ERROR;
        memcpy(argv, a->word, (size_t)a->nwords * sizeof *argv);
        if (p->kind == COMPILE_SCRIPT) {
            const char *path = strcmp(p->text, "-") == 0 ? "/dev/stdin" : p->text;
            argv[0] = arena_strdup(r->arena, p->text);
            src.text = cli_read_file(r->arena, path, &src.len);
            if (src.text == NULL) {
                return fatal(r, "failed to open %s: %s", p->text, strerror(errno));
            }
            if (option_on(&a->opt, OPTION_cpp)) {
                const char *why;
                src.shown = src.text;
                src.shown_len = src.len;
                src.text = cli_preprocess(r->arena, a, src.text, &src.len, &why);
                if (src.text == NULL)
                    return fatal(r, "failed to compile script %s: %s", p->text, why);
            }
        } else {
            src.len = strlen(p->text);
        }
        src.argv = argv;
        if (session_add(r->s, &src) != 0)
            return compile_error(r, i);
    }
    if (session_compile(r->s) != 0)
        return compile_error(r, a->nprograms - 1);
    if (a->disasm) {
        struct buf b = BUF_INIT;
        dif_disasm(session_image(r->s), &b);
        r->screen.sink.message(r->screen.sink.arg, buf_str(&b), b.len);
        buf_free(&b);
    }
    return EXIT_OK;
}

/* -- the stability report (reference 11.3) ------------------------------------------------------
 */

static void put_attr(struct buf *b, const char *title, struct compile_attr a)
{
    buf_printf(b,
               "\n\t%s\n\t\tIdentifier Names: %s\n\t\tData Semantics:   %s\n"
               "\t\tDependency Class: %s\n",
               title, a.name, a.data, a.class);
}

static void put_buf(struct run *r, struct buf *b)
{
    r->screen.sink.data(r->screen.sink.arg, buf_str(b), b->len);
    buf_free(b);
}

static void tell_stability(struct run *r)
{
    for (size_t i = 0; i < r->a->nprograms; i++) {
        const struct args_program *p = &r->a->program[i];
        struct compile_attr probes, statements;
        struct buf b = BUF_INIT;
        session_stability(r->s, i, &probes, &statements);
        if (p->kind == COMPILE_SCRIPT)
            buf_printf(&b, "\nStability attributes for script %s:\n", p->text);
        else
            buf_printf(&b, "\nStability attributes for description %.*s:\n",
                       (int)strcspn(p->text, "{/;"), p->text);
        put_attr(&b, "Minimum Probe Description Attributes", probes);
        put_attr(&b, "Minimum Statement Attributes", statements);
        buf_addc(&b, '\n');
        put_buf(r, &b);
    }
}

/* -- listing ----------------------------------------------------------------------------------- */

static void list_probe(void *arg, const struct tier *t, const struct tier_probe *p)
{
    struct run *r = arg;
    struct buf b = BUF_INIT;
    if (r->a->json) {
        const char *part[] = {
            "provider", p->prov, "module", p->mod, "function",
            p->func,    "name",  p->name,  "node", t->ops->target((struct tier *)t)};
        buf_printf(&b, "{\"type\":\"probe\",\"id\":%" PRIu32, p->id);
        for (size_t i = 0; i < sizeof part / sizeof part[0]; i += 2) {
            buf_printf(&b, ",\"%s\":", part[i]);
            buf_json(&b, part[i + 1], strlen(part[i + 1]));
        }
        buf_adds(&b, "}\n");
    } else {
        buf_printf(&b, "%5" PRIu32 " %10s %17s %33s %s\n", p->id, p->prov, p->mod, p->func,
                   p->name);
        if (r->a->verbose) {
            put_attr(&b, "Probe Description Attributes", compile_provider(p->prov));
            put_attr(&b, "Argument Attributes", compile_provider(p->prov));
            buf_adds(&b, "\n\tArgument Types\n\t\tNone\n\n");
        }
    }
    put_buf(r, &b);
}

static void list_missed(void *arg, const char *description)
{
    struct run *r = arg;
    screen_message(&r->screen, "failed to match %s: No probe matches description", description);
}

static int list_probes(struct run *r)
{
    if (!r->a->json) {
        char header[96];
        int n = snprintf(header, sizeof header, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER",
                         "MODULE", "FUNCTION", "NAME");
        r->screen.sink.data(r->screen.sink.arg, header, (size_t)n);
    }
    return session_list(r->s, list_probe, list_missed, r) == 0 ? EXIT_OK : EXIT_ERROR;
}

/* -- tracing ----------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void tell_matched(struct run *r)
{
    for (size_t i = 0; i < r->a->nprograms; i++) {
        const struct args_program *p = &r->a->program[i];
        uint64_t n = session_matched(r->s, i);
        const char *s = n == 1 ? "" : "s";
        if (p->kind == COMPILE_SCRIPT)
            screen_message(&r->screen, "script '%s' matched %" PRIu64 " probe%s", p->text, n, s);
        else
            screen_message(&r->screen, "description '%.*s' matched %" PRIu64 " probe%s",
                           (int)strcspn(p->text, "{/;"), p->text, n, s);
    }
}

struct progress {
    uint64_t start, drawn; /* ns */
    uint64_t fired;        /* events when the line was last drawn */
};

static void draw_status(struct run *r, struct progress *p)
{
    uint64_t now = now_ns(), elapsed = (now - p->start) / 1000000000u;
    struct session_stats st;
    char line[512];
    if (!r->screen.status || (p->drawn != 0 && now - p->drawn < STATUS_MS * 1000000ull))
        return;
    session_stats(r->s, &st);
    uint64_t since = now - (p->drawn != 0 ? p->drawn : p->start);
    uint64_t rate = since > 0 ? (uint64_t)((double)(st.fired - p->fired) * 1e9 / (double)since) : 0;
    const char *where = session_targets(r->s), *what = session_enabled(r->s);
    char count[48];
    size_t n = session_probes(r->s);
    snprintf(count, sizeof count, "%zu probe%s", n, n == 1 ? "" : "s");
    snprintf(line, sizeof line,
             "%s  %s  %" PRIu64 " events/s  %" PRIu64 " drop%s  %02" PRIu64 ":%02" PRIu64,
             where[0] != '\0' ? where : "local", what != NULL ? what : count, rate, st.drops,
             st.drops == 1 ? "" : "s", elapsed / 60, elapsed % 60);
    screen_status(&r->screen, line);
    p->drawn = now;
    p->fired = st.fired;
}

/* Whether somebody or something wants the trace to end. */
static bool asked_to_end(struct run *r, const struct progress *p)
{
    if (newline) {
        newline = 0;
        if (r->a->json)
            r->screen.sink.message(r->screen.sink.arg, "\n", 1);
        else
            r->screen.sink.data(r->screen.sink.arg, "\n", 1);
    }
    if (signals > 0 || r->screen.broken || r->screen.error != 0)
        return true;
    if (r->a->for_ns > 0 && now_ns() - p->start >= (uint64_t)r->a->for_ns)
        return true;
    return r->target.nchildren > 0 && target_gone(&r->target, 0);
}

static int wait_ms(const struct run *r, const struct progress *p)
{
    if (r->a->for_ns == 0)
        return WAIT_MS;
    uint64_t past = now_ns() - p->start;
    uint64_t left =
        past < (uint64_t)r->a->for_ns ? ((uint64_t)r->a->for_ns - past) / 1000000u + 1 : 0;
    return left < WAIT_MS ? (int)left : WAIT_MS;
}

/* Diagnostics of a running trace. A node that is lost because its command has ended is none. */
static void show_diags(struct run *r, size_t *lost)
{
    if (session_lost(r->s) > *lost) {
        *lost = session_lost(r->s);
        if (r->target.nchildren == session_lost(r->s) && target_gone(&r->target, CHILD_END_MS)) {
            diags_clear(&r->d);
            if (session_end_missed(r->s))
                diag_add(&r->d, DIAG_NOTE, NULL, "", NULL,
                         "the command ended before END could run in its node");
        }
    }
    screen_diags(&r->screen, &r->d);
}

static int trace(struct run *r)
{
    struct progress p = {0};
    int state = SESSION_RUNNING;
    size_t lost = 0;
    bool exited;
    bool destructive = option_on(&r->a->opt, OPTION_destructive);
    catch_signals();
    if (!destructive && session_is_destructive(r->s))
        return fatal(r, "could not enable tracing: Destructive actions not allowed");
    if (session_start(r->s) != 0)
        return EXIT_ERROR;
    if (destructive && !r->a->json && !option_on(&r->a->opt, OPTION_quiet))
        screen_message(&r->screen, "allowing destructive actions");
    screen_diags(&r->screen, &r->d); /* warnings and notices */
    p.start = now_ns();
    while (state == SESSION_RUNNING || state == SESSION_ENDING) {
        if (signals > 1)
            break;
        if (state == SESSION_RUNNING && asked_to_end(r, &p) && session_stop(r->s) != 0)
            return EXIT_ERROR;
        state = session_work(r->s, wait_ms(r, &p));
        show_diags(r, &lost);
        screen_flush(&r->screen);
        draw_status(r, &p);
    }
    screen_status(&r->screen, NULL);
    if (state < 0)
        return EXIT_ERROR;
    if (state == SESSION_ENDED && !r->screen.broken)
        session_finish(r->s);
    screen_flush(&r->screen);
    if (r->screen.error != 0) {
        screen_message(&r->screen, "failed to write the output: %s", strerror(r->screen.error));
        return EXIT_ERROR;
    }
    int status = session_status(r->s, &exited);
    if (exited)
        return status;
    return lost > 0 && !target_gone(&r->target, 0) ? EXIT_ERROR : EXIT_OK;
}

/* -- the run ----------------------------------------------------------------------------------- */

static int run(struct run *r)
{
    struct args *a = r->a;
    const char *reason;
    if (a->nprograms == 0 && !a->list)
        return fatal(r, "no probes specified");
    if (a->list)
        options_set(&a->opt, "zdefs", NULL, OPTION_FROM_COMMAND, &reason);
    if (target_spawn(&r->target, a, r->arena, &r->d) != 0)
        return EXIT_ERROR;
    struct session_config config = {&a->opt, &r->d, r->screen.sink, a->json, r->target.first};
    r->s = session_new(&config);
    if (r->s == NULL)
        return fatal(r, "out of memory");
    int code = a->nprograms > 0 ? compile_programs(r) : EXIT_OK;
    if (code != EXIT_OK)
        return code;
    bool local = a->nprograms > 0 && session_is_local(r->s);
    if (target_open(&r->target, a, r->arena, local, r->s, &r->d) != 0)
        return EXIT_ERROR;
    screen_diags(&r->screen, &r->d); /* warnings of the nodes */
    if (a->list)
        return list_probes(r);
    if (session_match(r->s) != 0)
        return EXIT_ERROR;
    if (a->verbose && a->no_run && !a->json) { /* and each probe with its own */
        tell_stability(r);
        return session_list(r->s, list_probe, NULL, r) == 0 ? EXIT_OK : EXIT_ERROR;
    }
    if (a->no_run)
        return EXIT_OK;
    if (session_probes(r->s) == 0 && !option_on(&a->opt, OPTION_zdefs))
        return fatal(r, "no probes matched");
    if (!option_on(&a->opt, OPTION_quiet) && !a->json)
        tell_matched(r);
    if (a->verbose && !a->json)
        tell_stability(r);
    return trace(r);
}

int cli_trace(struct args *a, struct arena *arena)
{
    struct run r = {.a = a, .arena = arena};
    if (!screen_open(&r.screen, a->output, a->json)) {
        fprintf(stderr, "erltrace: failed to open %s: %s\n", a->output, strerror(errno));
        return EXIT_ERROR;
    }
    diags_init(&r.d);
    int code = run(&r);
    screen_diags(&r.screen, &r.d);
    session_close(r.s);
    screen_flush(&r.screen);
    screen_close(&r.screen);
    target_close(&r.target);
    diags_free(&r.d);
    return code;
}
