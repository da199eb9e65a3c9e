/* nodetool.c - what the tests of c_src/wire and the vm tier drive: the room's functions from a
 * command line, one result a line.
 *
 *     nodetool scan [COOKIE]
 *     nodetool spawn WAIT-MS COMMAND
 *     nodetool [-n NAME] [-p PID] [-c COOKIE] [-f COOKIE-FILE] [-l LEASE-MS] [-d DIR] [-a] open
 *     nodetool ... match P:M:F:N...      each probe as "id prov mod func name", then "n N"
 *     nodetool ... id ID
 *     nodetool ... suggest P:M:F:N
 *     nodetool ... trace P:M:F:N...      enables all of them, then does what standard input says, a
 * word a line: go | work MS | flush | rest | stop | close | stall   and answers each with one line
 *
 *     nodetool ... memory P:M:F:N        opens, matches, closes, with one more allocation than
 * before until all succeed; "tries N" -a: as for a program that acts on aggregations from its
 * records; then no record may come before its count. The program that trace enables has two clauses
 * on every probe: one that makes an empty record, one that counts. Diagnostics are printed as
 * "error|warning TAG text -- hint". */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "dif/dif.h"
#include "lang/encode.h"
#include "tier/vm_open.h"
#include "util/render.h"

static struct diags diags;
static bool aggs_with_records;

static void say_diags(void)
{
    static const char *const names[] = {"error", "warning", "note"};
    for (size_t i = 0; i < diags.count; i++)
        printf("%s %s %s -- %s\n", names[diags.list[i].severity], diags.list[i].tag,
               diags.list[i].text, diags.list[i].hint ? diags.list[i].hint : "");
    diags_clear(&diags);
}

static struct probe_spec spec_of(char *s)
{
    char *part[4];
    for (int i = 0; i < 4; i++) {
        part[i] = s;
        s += strcspn(s, ":");
        if (*s)
            *s++ = '\0';
    }
    return (struct probe_spec){.prov = part[0], .mod = part[1], .func = part[2], .name = part[3]};
}

/* -- scan, spawn ------------------------------------------------------------------------------- */

static int scan(const char *cookie)
{
    struct node_list l;
    int e = node_scan(&l, cookie, NULL, &diags);
    for (size_t i = 0; e == 0 && i < l.n; i++) {
        const struct node_info *n = &l.node[i];
        printf("%d|%s|%s|%s|%s|%s|%s\n", (int)n->pid, n->name, n->otp, n->owner,
               n->attachable ? "yes" : "no", n->why, n->help);
    }
    node_list_free(&l);
    return e;
}

static int spawn(int wait_ms, const char *command)
{
    pid_t pid;
    char name[256], cookie[512];
    int e =
        node_spawn(command, wait_ms, NULL, &pid, name, sizeof name, cookie, sizeof cookie, &diags);
    if (e)
        return e;
    printf("spawned %d %s %s\n", (int)pid, name, cookie[0] ? "with-cookie" : "without-cookie");
    fflush(stdout);
    while (getchar() != EOF) /* the test says when it has seen enough */
        ;
    /* A node that is still booting forgets the SIGTERM. */
    do
        kill(-pid, SIGTERM);
    while (waitpid(pid, NULL, WNOHANG) == 0 && poll(NULL, 0, 50) == 0);
    return 0;
}

/* -- match ------------------------------------------------------------------------------------- */

struct found {
    struct tier_binding *b;
    size_t n;
    bool quiet;
};

static int on_probe(void *arg, const struct tier_probe *p)
{
    struct found *f = arg;
    if (!f->quiet)
        printf("%u %s %s %s %s\n", p->id, p->prov, p->mod[0] ? p->mod : "-",
               p->func[0] ? p->func : "-", p->name);
    struct tier_binding *b = et_realloc(f->b, (f->n + 2) * sizeof *b);
    if (!b)
        return ET_ENOMEM;
    f->b = b;
    for (uint32_t clause = 0; clause < 2; clause++, f->n++)
        f->b[f->n] =
            (struct tier_binding){.epid = (uint32_t)f->n + 1, .clause = clause, .probe = p->id};
    return 0;
}

/* -- trace ------------------------------------------------------------------------------------- */

struct seen {
    uint64_t records, counted, faults;
    uint64_t early; /* records that came before what was counted with them */
    struct record_counts c;
};

static void on_record(void *arg, struct tier *t, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                      const uint8_t *parts, size_t len)
{
    (void)t, (void)epid, (void)timestamp, (void)cpu, (void)parts, (void)len;
    struct seen *s = arg;
    s->records++;
    s->early += s->counted < s->records;
}

static void on_agg(void *arg, struct tier *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                   size_t keylen, const uint64_t *words, size_t nwords, bool lower)
{
    (void)t, (void)agg, (void)cpu, (void)key, (void)keylen, (void)lower;
    if (nwords > 0)
        ((struct seen *)arg)->counted += words[0];
}

static void on_fault(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                     uint32_t fault, uint64_t value, uint32_t cpu)
{
    (void)t, (void)epid, (void)action, (void)offset, (void)fault, (void)value, (void)cpu;
    ((struct seen *)arg)->faults++;
}

static void on_counts(void *arg, struct tier *t, const struct record_counts *c)
{
    (void)t;
    ((struct seen *)arg)->c = *c;
}

/* Two clauses: RECB RET, and AGG 0 RET. */
static void image_make(struct dif_image *img)
{
    static const char strings[] = "\0_\0nodetool";
    struct arena *a;
    dif_image_init(img);
    a = &img->arena;
    img->strsize = 256;
    img->strtab = arena_strndup(a, strings, sizeof strings - 1);
    img->strtab_len = sizeof strings;
    img->str = arena_alloc(a, 3 * sizeof *img->str);
    img->nstr = 3;
    img->str[1] = 1;
    img->str[2] = 3;
    img->aggs = arena_alloc(a, sizeof *img->aggs);
    img->naggs = 1;
    img->aggs[0].name = 1;
    img->aggs[0].func = AGG_COUNT;
    img->code = arena_alloc(a, 4 * sizeof *img->code);
    img->ncode = 4;
    img->code[0] = dif_abc(DIF_OP_RECB, 0, 0, 0);
    img->code[1] = dif_abc(DIF_OP_RET, 0, 0, 0);
    img->code[2] = dif_ai(DIF_OP_AGG, 0, 0);
    img->code[3] = dif_abc(DIF_OP_RET, 0, 0, 0);
    img->refs = arena_alloc(a, sizeof *img->refs);
    img->nrefs = 1;
    img->actions = arena_alloc(a, sizeof *img->actions);
    img->nactions = 1;
    img->actions[0] = (struct dif_action){
        .kind = ACT_AGG, .npc = 1, .nrefs = 1, .format = DIF_NO_STRING, .line = 1, .col = 1};
    img->clauses = arena_alloc(a, 2 * sizeof *img->clauses);
    img->nclauses = 2;
    img->clauses[0] =
        (struct dif_clause){.file = 2, .line = 1, .col = 1, .code = 0, .ncode = 2, .records = true};
    img->clauses[1] =
        (struct dif_clause){.file = 2, .line = 2, .col = 1, .code = 2, .ncode = 2, .nactions = 1};
}

static const char *state_name(int s)
{
    static const char *const names[] = {"running", "exiting", "overload", "drained", "lost"};
    return s < 0 ? et_strerror(s) : names[s];
}

static void command(struct tier *t, const char *word, const struct tier_sink *sink)
{
    struct seen *s = sink->arg;
    int e = 0, ms = 0;
    if (strcmp(word, "go") == 0) {
        e = t->ops->go(t, &diags);
    } else if (strcmp(word, "stop") == 0) {
        e = t->ops->stop(t, &diags);
    } else if (strcmp(word, "flush") == 0) {
        e = t->ops->work(t, 0, true, sink, &diags);
    } else if (sscanf(word, "work %d", &ms) == 1) {
        e = t->ops->work(t, ms, false, sink, &diags);
    } else if (strcmp(word, "rest") == 0) {
        do
            e = t->ops->work(t, 100, false, sink, &diags);
        while (e == TIER_RUNNING || e == TIER_EXITING);
    } else if (strcmp(word, "fd") == 0) { /* waits for the descriptor only */
        struct pollfd p = {.fd = t->ops->fd(t), .events = POLLIN};
        e = poll(&p, 1, 10000) == 1 ? t->ops->work(t, 0, false, sink, &diags) : ET_EIO;
    }
    say_diags();
    printf("%s %s records %llu counted %llu faults %llu early %llu fired %llu recorded %llu "
           "updates %llu "
           "drops %llu\n",
           word, state_name(e), (unsigned long long)s->records, (unsigned long long)s->counted,
           (unsigned long long)s->faults, (unsigned long long)s->early,
           (unsigned long long)s->c.fired, (unsigned long long)s->c.recorded,
           (unsigned long long)s->c.updates,
           (unsigned long long)(s->c.drop[RECORD_DROP_PRINCIPAL] +
                                s->c.drop[RECORD_DROP_AGGREGATION]));
    fflush(stdout);
}

static int trace(struct tier *t, int argc, char **argv)
{
    struct found f = {.quiet = true};
    struct dif_image img;
    struct buf image = BUF_INIT;
    struct seen seen = {0};
    struct tier_sink sink = {&seen, on_record, on_agg, on_fault, on_counts};
    struct tier_options opt = {.cpu = OPTION_UNSET,
                               .bufsize = 1 << 20,
                               .aggsize = 1 << 20,
                               .dynvarsize = 1 << 20,
                               .aggs_with_records = aggs_with_records};
    char line[256];
    int e = 0;
    for (int i = 0; i < argc && e == 0; i++) {
        struct probe_spec s = spec_of(argv[i]);
        e = t->ops->match(t, &s, on_probe, &f, &diags);
    }
    image_make(&img);
    if (e == 0)
        e = dif_encode(&img, &image);
    if (e == 0)
        e = t->ops->enable(t, &img, image.data, image.len, f.b, f.n, &opt, &diags);
    if (e == 0) {
        printf("enabled %zu %s\n", f.n, t->ops->enabled(t) ? t->ops->enabled(t) : "");
        say_diags();
        fflush(stdout);
        while (fgets(line, sizeof line, stdin)) {
            line[strcspn(line, "\n")] = '\0';
            if (strcmp(line, "close") == 0)
                break;
            command(t, line, &sink);
        }
    }
    et_free(f.b);
    buf_free(&image);
    dif_image_free(&img);
    return e;
}

/* Each failure must be an error with a diagnostic or without, never a crash or half a result. */
static int memory(const struct node_options *opt, char *spec)
{
    struct probe_spec s = spec_of(spec);
    for (unsigned long n = 1;; n++) {
        struct found f = {.quiet = true};
        struct tier *t = NULL;
        et_alloc_fail_after(n);
        int e = tier_vm_open(opt, &t, &diags);
        if (e == 0)
            e = t->ops->match(t, &s, on_probe, &f, &diags);
        if (e == 0 && f.n == 0)
            t->ops->suggest(t, &s);
        et_alloc_fail_after(0);
        if (t)
            t->ops->close(t);
        et_free(f.b);
        if (e == 0) {
            printf("tries %lu\n", n);
            return 0;
        }
        diags_clear(&diags);
    }
}

static void on_signal(int n)
{
    (void)n;
}

int main(int argc, char **argv)
{
    struct node_options opt = {.root = getenv("ERLTRACE_ROOT") ? getenv("ERLTRACE_ROOT") : "."};
    struct sigaction sa = {.sa_handler = on_signal};
    struct tier *t = NULL;
    int e = ET_EINVAL;
    sigaction(SIGUSR1, &sa, NULL);
    diags_init(&diags);
    for (int c; (c = getopt(argc, argv, "+n:p:c:f:l:d:a")) != -1;)
        switch (c) {
        case 'n': opt.name = optarg; break;
        case 'p': opt.pid = atoi(optarg); break;
        case 'c': opt.cookie = optarg; break;
        case 'f': opt.cookie_file = optarg; break;
        case 'l': opt.lease_ms = atoi(optarg); break;
        case 'd': opt.agent_dir = optarg; break;
        case 'a': aggs_with_records = true; break;
        default: return 2;
        }
    argc -= optind;
    argv += optind;
    if (argc > 0 && strcmp(argv[0], "scan") == 0)
        e = scan(argv[1]);
    else if (argc == 3 && strcmp(argv[0], "spawn") == 0)
        e = spawn(atoi(argv[1]), argv[2]);
    else if (argc == 2 && strcmp(argv[0], "memory") == 0)
        e = memory(&opt, argv[1]);
    else if (argc > 0)
        e = tier_vm_open(&opt, &t, &diags);
    if (t) {
        struct found f = {0};
        printf("open %s %d\n", t->ops->target(t), (int)tier_vm_pid(t));
        fflush(stdout);
        if (strcmp(argv[0], "match") == 0) {
            for (int i = 1; i < argc && e == 0; i++) {
                struct probe_spec s = spec_of(argv[i]);
                e = t->ops->match(t, &s, on_probe, &f, &diags);
            }
            printf("n %zu\n", f.n / 2);
        } else if (strcmp(argv[0], "id") == 0 && argc == 2) {
            struct probe_spec s = {.id = (uint32_t)strtoul(argv[1], NULL, 10),
                                   .prov = "",
                                   .mod = "",
                                   .func = "",
                                   .name = ""};
            e = t->ops->match(t, &s, on_probe, &f, &diags);
        } else if (strcmp(argv[0], "suggest") == 0 && argc == 2) {
            struct probe_spec s = spec_of(argv[1]);
            const char *hint = t->ops->suggest(t, &s);
            printf("%s\n", hint ? hint : "(nothing)");
        } else if (strcmp(argv[0], "trace") == 0) {
            e = trace(t, argc - 1, argv + 1);
        }
        et_free(f.b);
        t->ops->close(t);
    }
    say_diags();
    diags_free(&diags);
    if (e)
        printf("failed: %s\n", et_strerror(e));
    return e ? 1 : 0;
}
