/* test_decide.c - predicates are decided before anything fires: a table of predicates and verdicts,
 * and, for predicates that a grammar makes, that the engine does what the verdict says. */
#include <inttypes.h>

#include "d_text.h"
#include "tier/decide.h"
#include "util/buftext.h"
#include "engine_build.h"

/* The probe of all tests: an entry of lists:map/2. */
static const struct decide_probe map2 = {
    .prov = "erlang42",
    .mod = "lists",
    .func = "map/2",
    .name = "entry",
    .id = 12345,
    .epid = 9,
    .process = 4711,
    .pid = true,
    .function = true,
    .mfa = "lists:map/2",
    .node = "shop@host",
};

static const struct {
    const char *predicate;
    enum decide_verdict verdict;
    const char *pids; /* that it is restricted to, with blanks between them */
} table[] = {
    /* what a probe is called */
    {"pid == 4711", DECIDE_ALWAYS, ""},
    {"pid == 87", DECIDE_NEVER, ""},
    {"node == \"shop@host\"", DECIDE_ALWAYS, ""},
    {"node == \"store@host\"", DECIDE_NEVER, ""},
    {"strstr(node, \"shop@\") != NULL && pid == 87", DECIDE_NEVER, ""},
    {"probefunc == \"map/2\"", DECIDE_ALWAYS, ""},
    {"probefunc == \"map/3\"", DECIDE_NEVER, ""},
    {"probefunc != \"map/3\"", DECIDE_ALWAYS, ""},
    {"probemod == \"lists\" && probename == \"return\"", DECIDE_NEVER, ""},
    {"probemod == \"lists\" || probename == \"return\"", DECIDE_ALWAYS, ""},
    {"probemod == \"lists\" ^^ probename == \"entry\"", DECIDE_NEVER, ""},
    {"!(probeprov == \"erlang42\")", DECIDE_NEVER, ""},
    {"id == 12345", DECIDE_ALWAYS, ""},
    {"id > 12345", DECIDE_NEVER, ""},
    {"epid == 9", DECIDE_ALWAYS, ""},
    {"epid & 1 ? probefunc == \"x\" : 1", DECIDE_NEVER, ""},
    {"probefunc < \"map\"", DECIDE_NEVER, ""},
    {"probefunc >= \"map\"", DECIDE_ALWAYS, ""},
    {"0", DECIDE_NEVER, ""},
    {"id - 12345", DECIDE_NEVER, ""},
    {"(id * 2 + 1) % 11 / 3 << 4 >> 2", DECIDE_ALWAYS, ""},
    {"(int64_t)id + 1 == 12346", DECIDE_ALWAYS, ""},
    {"(3 - (int64_t)id) >> 1 == -6171", DECIDE_ALWAYS, ""},
    {"(3 - (int64_t)id) >> 1 > 0", DECIDE_NEVER, ""},
    /* what follows from it */
    {"copyinstr(arg1) == \"lists:map/2\"", DECIDE_ALWAYS, ""},
    {"copyinstr(arg1) == \"lists:map/3\"", DECIDE_NEVER, ""},
    {"args[1] == \"lists:map/2\"", DECIDE_ALWAYS, ""},
    {"args[1] != \"lists:map/2\"", DECIDE_NEVER, ""},
    {"copyinstr(arg1, 6) == \"lists\"", DECIDE_ALWAYS, ""},
    {"arg1 == 0", DECIDE_NEVER, ""},
    {"arg1 != 17", DECIDE_MAYBE, ""}, /* an address: only that it is not 0 is known */
    /* subroutines over it */
    {"strstr(probefunc, \"/2\") != NULL", DECIDE_ALWAYS, ""},
    {"strstr(probefunc, \"/3\") != NULL", DECIDE_NEVER, ""},
    {"substr(args[1], 0, 5) == \"lists\"", DECIDE_ALWAYS, ""},
    {"substr(probefunc, 1) == \"ap/3\"", DECIDE_NEVER, ""},
    {"index(args[1], \"map\") == 6", DECIDE_ALWAYS, ""},
    {"index(args[1], \"fold\") >= 0", DECIDE_NEVER, ""},
    {"rindex(args[1], \"/\") < 0", DECIDE_NEVER, ""},
    {"strlen(probefunc) == 5", DECIDE_ALWAYS, ""},
    {"strstr(probefunc, \"q\") == \"x\"", DECIDE_NEVER, ""}, /* NULL is no text */
    {"strjoin(probemod, probefunc) == \"listsmap/2\"", DECIDE_ALWAYS, ""},
    {"strchr(probefunc, '/') == \"/2\"", DECIDE_ALWAYS, ""},
    {"basename(probefunc) == \"3\"", DECIDE_NEVER, ""},
    {"strtoll(basename(probefunc)) < 2", DECIDE_NEVER, ""},
    {"toupper(probemod) == \"LISTS\"", DECIDE_ALWAYS, ""},
    {"lltostr(id) == \"12345\"", DECIDE_ALWAYS, ""},
    {"json(\"{\\\"lists\\\":1}\", probemod) == \"1\"", DECIDE_ALWAYS, ""},
    /* what is not known */
    {"arg2 > 5", DECIDE_MAYBE, ""},
    {"timestamp > 5 && probefunc == \"map/3\"", DECIDE_NEVER, ""},
    {"probefunc == \"map/3\" && timestamp > 5", DECIDE_NEVER, ""},
    {"timestamp > 5 || probefunc == \"map/2\"", DECIDE_ALWAYS, ""},
    {"timestamp > 5 || probefunc == \"map/3\"", DECIDE_MAYBE, ""},
    {"(timestamp > 5 ? probefunc : probemod) == \"x\"", DECIDE_MAYBE, ""},
    {"(cpu > 1 ? 3 : 3) == 4", DECIDE_NEVER, ""},
    {"(cpu > 1 ? 3 : 4) == 5", DECIDE_MAYBE, ""},
    {"execname == \"beam.smp\" && probefunc == \"x\"", DECIDE_NEVER, ""},
    {"g == 3 && probefunc == \"x\"", DECIDE_NEVER, ""},
    {"self->t && probefunc == \"x\"", DECIDE_NEVER, ""},
    {"a[probefunc] && probefunc == \"x\"", DECIDE_NEVER, ""},
    {"s == \"a\" && probefunc == \"x\"", DECIDE_NEVER, ""},
    {"this->c == \"a\" || probefunc == \"map/2\"", DECIDE_ALWAYS, ""},
    /* what could fault */
    {"1 / (id - 12345) == 0 && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"arg2 % arg2 && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"arg2 % 5 && probefunc == \"x\"", DECIDE_NEVER, ""},
    {"copyinstr(arg3) == \"a\" && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"probefunc == \"x\" && copyinstr(arg3) == \"a\"", DECIDE_NEVER, ""},
    {"copyinstr(0) == \"a\" && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"strlen(strstr(probefunc, \"q\")) && 0", DECIDE_MAYBE, ""},
    {"strlen(s) && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"a[s] && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"lltostr(id, 99) == \"\" && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"lltostr(id, arg2) == \"\" && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"1 + *(int *)arg1 && probefunc == \"x\"", DECIDE_MAYBE, ""},
    /* what leaves something changed */
    {"g++ && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"probefunc == \"x\" && g++", DECIDE_NEVER, ""},
    {"(self->t = 1) && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"rand() && probefunc == \"x\"", DECIDE_MAYBE, ""},
    {"strtok(probefunc, \"/\") == \"x\"", DECIDE_MAYBE, ""},
    {"speculation() && 0", DECIDE_MAYBE, ""},
    /* processes */
    {"copyinstr(arg0) == \"<0.91.0>\"", DECIDE_MAYBE, "<0.91.0>"},
    {"args[0] == \"<0.91.0>\"", DECIDE_MAYBE, "<0.91.0>"},
    {"\"<0.91.0>\" == args[0]", DECIDE_MAYBE, "<0.91.0>"},
    {"args[0] == \"<0.91.0>\" || args[0] == \"<0.92.0>\"", DECIDE_MAYBE, "<0.91.0> <0.92.0>"},
    {"args[0] == \"<0.91.0>\" || args[0] == \"<0.91.0>\"", DECIDE_MAYBE, "<0.91.0>"},
    {"args[0] == \"<0.91.0>\" && timestamp > 5", DECIDE_MAYBE, "<0.91.0>"},
    {"timestamp > 5 && args[0] == \"<0.91.0>\"", DECIDE_MAYBE, "<0.91.0>"},
    {"args[0] == \"<0.91.0>\" && probefunc == \"map/2\"", DECIDE_MAYBE, "<0.91.0>"},
    {"args[0] == \"<0.91.0>\" && probefunc == \"x\"", DECIDE_NEVER, ""},
    {"args[0] == \"<0.91.0>\" && g++", DECIDE_MAYBE, "<0.91.0>"},
    {"args[0] == \"<0.91.0>\" && copyinstr(arg3) == \"\"", DECIDE_MAYBE, "<0.91.0>"},
    {"args[0] == \"<0.91.0>\" || timestamp > 5", DECIDE_MAYBE, ""},
    {"args[0] != \"<0.91.0>\"", DECIDE_MAYBE, ""},
    {"!(args[0] != \"<0.91.0>\")", DECIDE_MAYBE, "<0.91.0>"},
    {"g++ && args[0] == \"<0.91.0>\"", DECIDE_MAYBE, ""},
    {"args[0] >= \"<0.91.0>\"", DECIDE_MAYBE, ""},
    {"args[0] == \"<7.91.0>\"", DECIDE_MAYBE, ""}, /* of another node */
    {"args[0] == \"me\"", DECIDE_MAYBE, ""},
    {"args[0] == \"<0.91>\"", DECIDE_MAYBE, ""},
    {"args[0] == s", DECIDE_MAYBE, ""},
    {"strstr(args[0], \"<0.91.0>\") != NULL", DECIDE_MAYBE, ""},
    {"copyinstr(arg0, 4) == \"<0.91.0>\"", DECIDE_MAYBE, ""},
    {"(cpu ? args[0] : args[1]) == \"<0.91.0>\"", DECIDE_MAYBE, ""},
    {"args[0]==\"<0.1.0>\"||args[0]==\"<0.2.0>\"||args[0]==\"<0.3.0>\"||args[0]==\"<0.4.0>\"||"
     "args[0]==\"<0.5.0>\"||args[0]==\"<0.6.0>\"||args[0]==\"<0.7.0>\"||args[0]==\"<0.8.0>\"",
     DECIDE_MAYBE, "<0.1.0> <0.2.0> <0.3.0> <0.4.0> <0.5.0> <0.6.0> <0.7.0> <0.8.0>"},
    {"args[0]==\"<0.1.0>\"||args[0]==\"<0.2.0>\"||args[0]==\"<0.3.0>\"||args[0]==\"<0.4.0>\"||"
     "args[0]==\"<0.5.0>\"||args[0]==\"<0.6.0>\"||args[0]==\"<0.7.0>\"||args[0]==\"<0.8.0>\"||"
     "args[0]==\"<0.9.0>\"",
     DECIDE_MAYBE, ""}, /* too many to be worth it */
};

static const char *verdict_text(enum decide_verdict v)
{
    return v == DECIDE_NEVER ? "never" : v == DECIDE_ALWAYS ? "always" : "maybe";
}

/* A program with this predicate in its second clause. */
static void compile_predicate(struct d_text *d, const char *predicate)
{
    static const char form[] = "string s; int g; int a[string]; self int t; this string c;\n"
                               "erlang*:lists:map/2:entry\n/%s/\n{ trace(1); }";
    char text[2048];
    snprintf(text, sizeof text, form, predicate);
    d_must(d, text);
}

static void test_table(void **state)
{
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct d_text d;
        struct probe_pids pids;
        struct buf b = BUF_INIT;
        compile_predicate(&d, table[i].predicate);
        struct decider *dec = decider_new(&d.img);
        assert_non_null(dec);
        enum decide_verdict v = decide(dec, 0, &map2, &pids);
        for (uint32_t k = 0; k < pids.n; k++)
            buf_printf(&b, "%s%s", k > 0 ? " " : "", pids.text[k]);
        if (v != table[i].verdict || strcmp(buf_str(&b), table[i].pids) != 0) {
            print_error("/%s/: %s [%s], wanted %s [%s]\n", table[i].predicate, verdict_text(v),
                        buf_str(&b), verdict_text(table[i].verdict), table[i].pids);
            failed++;
        }
        buf_free(&b);
        decider_free(dec);
        d_close(&d);
    }
    assert_int_equal(failed, 0);
}

/* What is not told about a probe is not known; and a changed probe is a new question. */
static void test_probes(void **state)
{
    (void)state;
    struct d_text d;
    struct probe_pids pids;
    struct decide_probe p = map2;
    compile_predicate(&d, "args[1] == \"lists:map/2\" && args[0] == \"<0.1.0>\"");
    struct decider *dec = decider_new(&d.img);
    assert_int_equal(decide(dec, 0, &p, &pids), DECIDE_MAYBE);
    assert_int_equal(pids.n, 1);
    char mfa[] = "lists:map/2";
    p.mfa = mfa;
    assert_int_equal(decide(dec, 0, &p, &pids), DECIDE_MAYBE);
    mfa[sizeof mfa - 2] = '1'; /* the same place, another text */
    assert_int_equal(decide(dec, 0, &p, &pids), DECIDE_NEVER);
    assert_int_equal(pids.n, 0);
    p.mfa = NULL;
    assert_int_equal(decide(dec, 0, &p, &pids), DECIDE_MAYBE);
    assert_int_equal(pids.n, 1);
    p.pid = false; /* then args[0] may be no string at all */
    assert_int_equal(decide(dec, 0, &p, &pids), DECIDE_MAYBE);
    assert_int_equal(pids.n, 0);
    p = map2;
    assert_int_equal(decide(dec, 0, &p, NULL), DECIDE_MAYBE);
    assert_int_equal(decide(dec, 0, &p, &pids), DECIDE_MAYBE); /* the same, and more is asked */
    assert_int_equal(pids.n, 1);
    p.function = false;
    assert_int_equal(decide(dec, 0, &p, NULL), DECIDE_MAYBE);
    decider_free(dec);
    d_close(&d);
    compile_predicate(&d, "probefunc == \"x\" || epid == 3");
    dec = decider_new(&d.img);
    p = map2;
    assert_int_equal(decide(dec, 0, &p, NULL), DECIDE_NEVER);
    p.epid = 3;
    assert_int_equal(decide(dec, 0, &p, NULL), DECIDE_ALWAYS);
    p.epid = 4;
    p.func = "x";
    assert_int_equal(decide(dec, 0, &p, NULL), DECIDE_ALWAYS);
    p.func = NULL;
    assert_int_equal(decide(dec, 0, &p, NULL), DECIDE_MAYBE);
    p.func = "y";
    p.unnumbered = true;
    assert_int_equal(decide(dec, 0, &p, NULL), DECIDE_MAYBE);
    decider_free(dec);
    d_close(&d);
    compile_predicate(&d, "node == \"shop@host\"");
    dec = decider_new(&d.img);
    p = map2;
    assert_int_equal(decide(dec, 0, &p, NULL), DECIDE_ALWAYS);
    p.node = "store@host"; /* the same probe of another node */
    assert_int_equal(decide(dec, 0, &p, NULL), DECIDE_NEVER);
    p.node = NULL;
    assert_int_equal(decide(dec, 0, &p, NULL), DECIDE_MAYBE);
    decider_free(dec);
    d_close(&d);
}

/* Process ids that a small strsize cuts are not told from each other. */
static void test_strsize(void **state)
{
    (void)state;
    struct d_text d;
    struct probe_pids pids;
    d_must(&d, "#pragma D option strsize=8\nentry /args[0] == \"<0.91.0>\"/ { }");
    struct decider *dec = decider_new(&d.img);
    assert_int_equal(decide(dec, 0, &map2, &pids), DECIDE_MAYBE);
    assert_int_equal(pids.n, 0);
    decider_free(dec);
    d_close(&d);
    d_must(&d, "#pragma D option strsize=8\nentry /args[1] == \"lists:map/3\"/ { }");
    dec = decider_new(&d.img);
    assert_int_equal(decide(dec, 0, &map2, &pids), DECIDE_ALWAYS); /* as the engine says */
    decider_free(dec);
    d_close(&d);
}

/* A clause without a predicate, and one with nothing behind it. */
static void test_clauses(void **state)
{
    (void)state;
    struct d_text d;
    d_must(&d, "entry { g = 1; } entry /probefunc == \"x\"/ { this->b = 1; }\n"
               "entry /probefunc == \"x\"/ { if (id) { trace(1); } else { trace(2); } }");
    struct decider *dec = decider_new(&d.img);
    assert_int_equal(decide(dec, 0, &map2, NULL), DECIDE_ALWAYS);
    assert_int_equal(decide(dec, 1, &map2, NULL), DECIDE_NEVER);
    assert_int_equal(decide(dec, 2, &map2, NULL), DECIDE_NEVER);
    decider_free(dec);
    d_close(&d);
}

/* -- the engine does what was decided
 * ---------------------------------------------------------------- */

static uint64_t seed = 88172645463325252u;

static unsigned any_of(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % n;
}

static void make_string(struct buf *b, int depth);

static void make_number(struct buf *b, int depth)
{
    static const char *const leaf[] = {"0", "1",       "id",        "epid",  "arg2", "arg0",
                                       "g", "self->t", "timestamp", "12345", "-1",   "g++"};
    static const char *const op[] = {"+",  "-", "*", "&",  "|",  "/",  "%",  "<<", ">>", "^",
                                     "==", "<", ">", "<=", ">=", "!=", "&&", "||", "^^"};
    unsigned pick = any_of(depth > 0 ? 8 : 2);
    switch (pick) {
    case 0:
    case 1: buf_adds(b, leaf[any_of(sizeof leaf / sizeof *leaf)]); return;
    case 2:
        buf_adds(b, "strlen(");
        make_string(b, depth - 1);
        buf_adds(b, ")");
        return;
    case 3:
        buf_adds(b, "index(");
        make_string(b, depth - 1);
        buf_adds(b, ", ");
        make_string(b, depth - 1);
        buf_adds(b, ")");
        return;
    case 4:
        buf_printf(b, "(args[0] == \"<0.9%u.0>\" %s ", any_of(2) + 1, any_of(3) ? "&&" : "||");
        make_number(b, depth - 1);
        buf_adds(b, ")");
        return;
    case 5:
        buf_adds(b, "(");
        make_string(b, depth - 1);
        buf_printf(b, " %s ", any_of(3) > 0 ? "==" : any_of(2) ? "<" : "!=");
        make_string(b, depth - 1);
        buf_adds(b, ")");
        return;
    case 6:
        buf_adds(b, "(");
        make_number(b, depth - 1);
        buf_adds(b, " ? ");
        make_number(b, depth - 1);
        buf_adds(b, " : ");
        make_number(b, depth - 1);
        buf_adds(b, ")");
        return;
    default:
        buf_adds(b, any_of(4) ? "(" : "!(");
        make_number(b, depth - 1);
        buf_printf(b, " %s ", op[any_of(sizeof op / sizeof *op)]);
        make_number(b, depth - 1);
        buf_adds(b, ")");
    }
}

static void make_string(struct buf *b, int depth)
{
    static const char *const leaf[] = {
        "probefunc",       "probemod",        "probename", "args[0]",         "args[1]",
        "copyinstr(arg1)", "copyinstr(arg0)", "\"map/2\"", "\"lists:map/2\"", "\"<0.91.0>\"",
        "\"<0.92.0>\"",    "\"lists\"",       "s",         "this->c",         "args[0]"};
    static const char *const of1[] = {"strdup", "basename", "toupper", "copyinstr"};
    switch (any_of(depth > 0 ? 5 : 2)) {
    case 2:
        buf_printf(b, "%s(", of1[any_of(3)]);
        make_string(b, depth - 1);
        buf_adds(b, ")");
        return;
    case 3:
        buf_adds(b, any_of(2) ? "strjoin(" : "strstr(");
        make_string(b, depth - 1);
        buf_adds(b, ", ");
        make_string(b, depth - 1);
        buf_adds(b, ")");
        return;
    case 4:
        buf_adds(b, "substr(");
        make_string(b, depth - 1);
        buf_printf(b, ", %d)", (int)any_of(9) - 2);
        return;
    default: buf_adds(b, leaf[any_of(sizeof leaf / sizeof *leaf)]); return;
    }
}

static const char *process; /* argument 0 */

static uint64_t text_of(struct engine_ctx *ctx, const char *s)
{
    engine_ctx_range(ctx, s, strlen(s) + 1);
    return (uint64_t)(uintptr_t)s;
}

static uint64_t argument(struct engine_ctx *ctx, unsigned n)
{
    return n == 0 ? text_of(ctx, process) : n == 1 ? text_of(ctx, map2.mfa) : (uint64_t)-1;
}

/* Runs the clause once: records, and faults. */
static void run(struct engine *e, uint64_t *recorded, uint64_t *errors)
{
    struct engine_thread *t = engine_thread_self();
    const struct engine_probe probe = {map2.id, map2.prov, map2.mod, map2.func, map2.name};
    struct engine_ctx ctx = {.probe = &probe, .arg = argument, .self = 1};
    struct engine_binding b = {map2.epid, 0};
    struct record_counts was, is;
    engine_counts(e, &was);
    engine_enter(t);
    engine_fire(e, t, &ctx, &b, 1);
    engine_leave(t);
    engine_counts(e, &is);
    *recorded = is.recorded - was.recorded;
    *errors = is.errors - was.errors;
}

static struct engine *engine_of(const struct dif_image *from)
{
    struct engine_options opt = {.threads = 4,
                                 .bufsize = 65536,
                                 .aggsize = 65536,
                                 .dynvarsize = 65536,
                                 .specsize = 4096,
                                 .nspec = 1};
    return engine_build(from, opt);
}

static bool among(const struct probe_pids *p, const char *s)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (strcmp(p->text[i], s) == 0)
            return true;
    return false;
}

static void test_engine_agrees(void **state)
{
    (void)state;
    static const char *const processes[] = {"<0.91.0>", "<0.92.0>", "<0.17.3>"};
    unsigned seen[3] = {0}, restricted = 0, failed = 0;
    for (int i = 0; i < 1500; i++) {
        struct buf b = BUF_INIT;
        struct d_text d;
        struct probe_pids pids;
        char text[4096];
        do {
            buf_reset(&b);
            make_number(&b, 4);
        } while (b.len > 400);
        snprintf(text, sizeof text,
                 "string s; int g; self int t; this string c;\n"
                 "erlang*:lists:map/2:entry\n/%s/\n{ trace(1); }",
                 buf_str(&b));
        d_open(&d);
        d_add(&d, COMPILE_SCRIPT, text, NULL);
        if (d_image(&d) != 0) { /* too many registers, or a constant division by 0 */
            d_close(&d);
            buf_free(&b);
            continue;
        }
        struct decider *dec = decider_new(&d.img);
        enum decide_verdict v = decide(dec, 0, &map2, &pids);
        struct engine *e = engine_of(&d.img);
        seen[v]++;
        restricted += pids.n > 0;
        for (size_t k = 0; k < sizeof processes / sizeof *processes; k++) {
            uint64_t recorded, errors;
            process = processes[k];
            run(e, &recorded, &errors);
            bool never = v == DECIDE_NEVER || (pids.n > 0 && !among(&pids, process));
            if ((never && recorded + errors > 0) ||
                (v == DECIDE_ALWAYS && (recorded != 1 || errors != 0))) {
                print_error("/%s/ for %s: %s, and %" PRIu64 " records, %" PRIu64 " errors\n",
                            buf_str(&b), process, verdict_text(v), recorded, errors);
                failed++;
            }
        }
        engine_destroy(e);
        decider_free(dec);
        d_close(&d);
        buf_free(&b);
    }
    assert_int_equal(failed, 0);
    /* or nothing was tested */
    assert_true(seen[DECIDE_NEVER] > 50 && seen[DECIDE_ALWAYS] > 50 && seen[DECIDE_MAYBE] > 50);
    assert_true(restricted > 10);
}

/* Fires a clause `times` times: one by one, or at once; then what it has left, in bytes. */
static void left_by(const struct dif_image *img, uint64_t times, bool at_once, struct buf *out)
{
    static struct engine_mark m;
    struct record_counts c;
    struct engine *e = engine_of(img);
    struct engine_thread *t = engine_thread_self();
    struct engine_probe probe = {map2.id, map2.prov, map2.mod, map2.func, map2.name, 0};
    const struct engine_binding b[] = {{map2.epid, 0}, {map2.epid + 1, 1}};
    process = "<0.91.0>";
    for (uint64_t i = 0; i < (at_once ? 1 : times); i++) {
        struct engine_ctx ctx = {
            .probe = &probe, .arg = argument, .self = 1, .more = at_once ? times - 1 : 0};
        engine_enter(t);
        engine_fire(e, t, &ctx, b, 1);
        engine_leave(t);
    }
    engine_counts(e, &c);
    buf_printf(out, "fired %" PRIu64 " updates %" PRIu64 " errors %" PRIu64, c.fired, c.updates,
               c.errors);
    struct engine_ctx ctx = {.probe = &probe, .arg = argument, .self = 1};
    engine_enter(t);
    engine_fire(e, t, &ctx, b + 1, 1); /* the variables */
    engine_leave(t);
    engine_flip(e, RECORD_AGGS);
    engine_mark(&m);
    while (!engine_quiet(&m))
        ;
    const size_t from = out->len;
    while (!engine_drain(e, RECORD_AGGS, out->len + 4096, out))
        ;
    for (size_t i = from + 8; i + sizeof(struct record_entry) <= out->len;) {
        struct record_entry entry;
        memcpy(&entry, out->data + i, sizeof entry);
        const uint32_t size = entry.size;
        entry.cpu = 0; /* the thread may move */
        memcpy(out->data + i, &entry, sizeof entry);
        i += size;
    }
    engine_destroy(e);
}

/* What a clause does, and whether all of that follows from the probe: then to run it once for many
 * calls leaves what as many runs leave. */
static void test_counts(void **state)
{
    (void)state;
    static const struct {
        const char *clause;
        bool counts;
    } rows[] = {
        {"{ @ = count(); }", true},
        {"{ @[probefunc] = count(); }", true},
        {"{ @[copyinstr(arg1), args[1], probeprov, id, epid, pid, 3, \"x\"] = count(); }", true},
        {"{ @[strjoin(probemod, probefunc), strlen(probefunc) * 2] = count(); }", true},
        {"{ @ = sum(3); }", true},
        {"{ @[probefunc] = sum(id); }", true},
        {"{ g++; }", true},
        {"{ g += 3; ++g; g -= 4; g--; }", true},
        {"{ g += strlen(probefunc); @a = count(); @b[1] = count(); }", true},
        {"/probefunc == \"map/2\"/ { g++; }", true},
        {"/arg2 > 0 || probefunc == \"map/2\"/ { g++; }", true},
        /* nothing is counted */
        {"{ }", false},
        {"{ trace(1); }", false},
        {"{ this->c = \"\"; }", false},
        /* not every call counts, or not known whether */
        {"/probefunc == \"map/3\"/ { g++; }", false},
        {"/arg2 > 0/ { g++; }", false},
        {"/g++ == 0/ { g++; }", false},
        /* what is added depends on the call */
        {"{ @[arg0] = count(); }", false},
        {"{ @[arg1] = count(); }", false},
        {"{ @[arg2] = count(); }", false},
        {"{ @[copyinstr(arg0)] = count(); }", false},
        {"{ @[copyinstr(arg3)] = count(); }", false},
        {"{ @[timestamp] = count(); }", false},
        {"{ @[cpu] = count(); }", false},
        {"{ @[execname] = count(); }", false},
        {"{ @[rand()] = count(); }", false},
        {"{ @[g] = count(); }", false},
        {"{ @[s] = count(); }", false},
        {"{ @[g++] = count(); }", false},
        {"{ @ = sum(arg2); }", false},
        {"{ @ = sum(g += 1); }", false},
        {"{ @ = max(3); }", false},
        {"{ @ = avg(3); }", false},
        {"{ @ = quantize(3); }", false},
        {"{ g += arg2; }", false},
        {"{ g += g; }", false},
        {"{ g = g++; }", false},
        /* what does not only add */
        {"{ g = 3; }", false},
        {"{ h++; }", false}, /* 32 bits: not added to in one step */
        {"{ a[\"x\"]++; }", false},
        {"{ self->t++; }", false},
        {"{ s = probefunc; @ = count(); }", false},
        {"{ @ = count(); clear(@); }", false},
        {"{ @ = count(); trace(1); }", false},
        {"{ @ = count(); exit(0); }", false},
        {"{ if (id) { g++; } else { @ = count(); } }", false},
        /* what may fault */
        {"{ @[1 / (id - 12345)] = count(); }", false},
        {"{ @[*(int *)arg1] = count(); }", false},
        {"{ @[strlen(strstr(probefunc, \"q\"))] = count(); }", false},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct d_text d;
        char text[512];
        snprintf(text, sizeof text,
                 "string s; int64_t g; int h; int a[string]; self int t; this string c;\n"
                 "erlang*:lists:map/2:entry\n%s\n"
                 "dtrace:::END { @left[g] = count(); }",
                 rows[i].clause);
        d_must(&d, text);
        struct decider *dec = decider_new(&d.img);
        assert_non_null(dec);
        for (int again = 0; again < 2; again++)
            if (decide_counts(dec, 0, &map2) != rows[i].counts) {
                print_error("%s: wanted %d\n", rows[i].clause, rows[i].counts);
                failed++;
            }
        struct buf each = BUF_INIT, once = BUF_INIT;
        if (rows[i].counts) {
            left_by(&d.img, 1009, false, &each);
            left_by(&d.img, 1009, true, &once);
            if (each.len != once.len || memcmp(each.data, once.data, each.len) != 0) {
                print_error("%s: %s, at once %s\n", rows[i].clause, buf_str(&each), buf_str(&once));
                failed++;
            }
        }
        buf_free(&each);
        buf_free(&once);
        decider_free(dec);
        d_close(&d);
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),         cmocka_unit_test(test_probes),
        cmocka_unit_test(test_strsize),       cmocka_unit_test(test_clauses),
        cmocka_unit_test(test_engine_agrees), cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
