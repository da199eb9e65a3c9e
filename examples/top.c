/* top.c - an example for liberltrace: shows what happens most often, updated each second.
 *
 *     cc -o top top.c $(pkg-config --cflags --libs erltrace)
 *     ./top rabbit@host
 *     ./top rabbit@host 'erlang*:lists::entry { @[probefunc] = count(); }'
 *     ./top -1 - 'BEGIN { @["a"] = sum(5); exit(0); }'
 *     ./top - 'syscall:::entry { @[execname] = count(); }'
 *
 * The first argument is a node, or - for no node; the second is a program that aggregates by one
 * key. It may have probes of the kernel of this host, which needs privileges. Each second the
 * aggregation is read, shown with bars, and reset. With -1 this happens once, when the program has
 * ended.
 *
 * It demonstrates a program with its own event loop (here: poll), its own presentation of
 * diagnostics, faults and drops, and a walk over an aggregation. */
#include <erltrace.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROWS = 20, PERIOD_MS = 1000, BAR = 40 };

static const char messages[] = "erlang*:::message-send { @[copyinstr(arg0)] = count(); }";

static erltrace_t *trace;

static void on_signal(int signo)
{
    (void)signo;
    erltrace_interrupt(trace);
}

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* -- handlers ---------------------------------------------------------------------------------- */

static void show_diag(const struct erltrace_diag *d, void *arg)
{
    (void)arg;
    fputs(d->rendered, stderr); /* place, source line and hint */
}

static int show_fault(const struct erltrace_fault *f, void *arg)
{
    (void)arg;
    fprintf(stderr, "top: %s\n", f->message);
    return ERLTRACE_HANDLE_OK;
}

/* Not everything was counted: no figures are better than wrong ones. */
static int give_up(const struct erltrace_drop *d, void *arg)
{
    (void)arg;
    fprintf(stderr, "top: %s\n", d->message);
    return ERLTRACE_HANDLE_ABORT;
}

/* -- the table --------------------------------------------------------------------------------- */

struct table {
    int row;
    int64_t most; /* the value of the first row */
};

static void put_key(const struct erltrace_value *v)
{
    if (v == NULL)
        printf("%-40s", "(all)");
    else if (v->kind == ERLTRACE_VALUE_STRING)
        printf("%-40.*s", (int)v->length, v->text);
    else
        printf("%-40lld", (long long)v->number);
}

/* Called with the largest value first; removes each entry, so that counting starts again. */
static int put_row(const struct erltrace_aggr *a, void *arg)
{
    struct table *t = arg;
    if (t->row == 0)
        t->most = a->value;
    if (t->row++ < ROWS && a->value > 0) {
        int bar = t->most > 0 ? (int)((double)a->value / (double)t->most * (double)BAR) : 0;
        put_key(erltrace_aggr_key(a, 0));
        printf(" %10lld %.*s\n", (long long)a->value, bar,
               "########################################");
    }
    return ERLTRACE_WALK_REMOVE;
}

static int put_table(erltrace_t *h)
{
    struct table t = {0, 0};
    if (erltrace_aggregate_snap(h) != 0 ||
        erltrace_aggregate_walk(h, ERLTRACE_SORT_VALUEVAR | ERLTRACE_SORT_REVERSE, put_row, &t) !=
            0)
        return -1;
    putchar('\n');
    return fflush(stdout);
}

/* -- the loop ---------------------------------------------------------------------------------- */

/* Returns 0, or -1 with the handle's error. */
static int run(erltrace_t *h, int once)
{
    int state = erltrace_go(h) == 0 ? ERLTRACE_WORK_OKAY : ERLTRACE_WORK_ERROR;
    long long next = now_ms() + PERIOD_MS;
    while (state == ERLTRACE_WORK_OKAY) {
        struct pollfd p = {erltrace_fd(h), POLLIN, 0};
        poll(&p, 1, erltrace_timeout(h)); /* a program can poll other descriptors as well */
        state = erltrace_work(h, stdout, 0, NULL, NULL, NULL);
        if (state == ERLTRACE_WORK_OKAY && !once && now_ms() >= next) {
            next += PERIOD_MS;
            if (put_table(h) != 0)
                return -1;
        }
    }
    return state == ERLTRACE_WORK_DONE ? put_table(h) : -1;
}

static int start(erltrace_t *h, const char *node, const char *text)
{
    erltrace_handle_diag(h, show_diag, NULL);
    erltrace_handle_fault(h, show_fault, NULL);
    erltrace_handle_drop(h, give_up, NULL);
    if (erltrace_setopt(h, "quiet", NULL) != 0)
        return -1;
    if (strcmp(node, "-") == 0 ? erltrace_target_host(h) : erltrace_target_node(h, node, NULL))
        return -1;
    return erltrace_program_strcompile(h, "program", ERLTRACE_SPEC_NAME, text, 0, NULL) != NULL
               ? 0
               : -1;
}

int main(int argc, char **argv)
{
    int once = argc > 1 && strcmp(argv[1], "-1") == 0, err;
    if (argc - once < 2 || argc - once > 3) {
        fprintf(stderr, "usage: top [-1] NODE|- ['PROGRAM']\n");
        return 2;
    }
    trace = erltrace_open(ERLTRACE_VERSION, ERLTRACE_O_KERNEL, &err);
    if (trace == NULL) {
        fprintf(stderr, "top: %s\n", erltrace_errmsg(NULL, err));
        return 1;
    }
    signal(SIGINT, on_signal);
    const char *text = argc - once > 2 ? argv[once + 2] : messages;
    int rc = start(trace, argv[once + 1], text);
    if (rc == 0)
        rc = run(trace, once);
    if (rc != 0)
        fprintf(stderr, "top: %s\n", erltrace_errmsg(trace, erltrace_errno(trace)));
    int status = erltrace_status(trace)->status;
    erltrace_close(trace);
    return rc != 0 ? 1 : status;
}
