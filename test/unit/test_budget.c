/* test_budget.c - the budget of an event: what takes time is counted, and when there is more of it
 * than the budget the clause faults, once, and the event ends.
 *
 * Work is told from outside by what a firing has left of its budget. Whatever looks at a text or at
 * bytes is run on some and on twice as many: the difference has to be there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dif_build.h"
#include "engine/engine.h"
#include "engine/impl.h"
#include "engine_build.h"

#define OP3(op, a, b, c) dif_abc(DIF_OP_##op, a, b, c)
#define OPI(op, a, imm)  dif_ai(DIF_OP_##op, a, imm)

enum { LONG = 20000, STRSIZE = 65000 };
static const struct dif_type int64 = {DIF_INT, 8}, str = {DIF_STRING, STRSIZE};

/* Argument 0 is a text, `at` bytes of it; argument 1 how many they are. */
static char *text;
static size_t length;

static uint64_t argument(struct engine_ctx *ctx, unsigned n)
{
    if (n != 0)
        return n == 1 ? length : 0;
    engine_ctx_range(ctx, text, length + 1);
    return (uint64_t)(uintptr_t)text;
}

static void set_text(size_t n, const char *of)
{
    free(text);
    length = n;
    text = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = of[i % strlen(of)];
    text[n] = '\0';
}

static struct engine *engine_of(struct build *b, uint64_t budget)
{
    struct engine_options opt = {.threads = 64,
                                 .bufsize = 4 << 20,
                                 .aggsize = 32 << 20,
                                 .dynvarsize = 1 << 20,
                                 .specsize = 4 << 20,
                                 .nspec = 1,
                                 .eventbudget = budget};
    return engine_build(&b->img, opt);
}

/* Fires n clauses from this one on at once; the work that took. */
static uint64_t fire_from(struct engine *e, uint32_t clause, uint32_t n)
{
    static const struct engine_probe probe = {7, "prov", "mod", "func", "name"};
    struct engine_thread *t = engine_thread_self();
    struct engine_ctx ctx = {.probe = &probe, .arg = argument, .self = 1};
    struct engine_binding b[8];
    for (uint32_t i = 0; i < n; i++)
        b[i] = (struct engine_binding){clause + i + 1, clause + i};
    engine_enter(t);
    engine_fire(e, t, &ctx, b, n);
    engine_leave(t);
    return e->opt.eventbudget - engine_tstate(e, t->index)->left;
}

/* The first n clauses. */
static uint64_t fire(struct engine *e, uint32_t n)
{
    return fire_from(e, 0, n);
}

static struct record_counts counts_of(struct engine *e)
{
    struct record_counts c;
    engine_counts(e, &c);
    return c;
}

static void begin(struct build *b)
{
    build_init(b);
    b->img.strsize = STRSIZE;
    b->img.scratchsize = STRSIZE;
    build_clause(b);
    build_op(b, OP3(LDARG, 1, 0, 0));
    build_op(b, OP3(LDARG, 2, 0, 1));
}

/* How much more work the clause is for a text of twice LONG bytes than for one of LONG. What takes
 * longer the first time, as memory is made for it, was run before. */
static uint64_t more(struct build *b, const char *of)
{
    struct engine *e = engine_of(b, DIF_BUDGET_MOST);
    set_text((size_t)2 * LONG, of);
    fire(e, b->img.nclauses);
    uint64_t twice = fire(e, b->img.nclauses);
    set_text(LONG, of);
    fire(e, b->img.nclauses);
    uint64_t once = fire(e, b->img.nclauses);
    uint64_t errors = counts_of(e).errors;
    engine_destroy(e);
    if (errors > 0 || twice < once)
        return 0;
    return twice - once;
}

/* -- what is counted ------------------------------------------------------------------- */

static void subroutines(void **state)
{
    static const struct {
        uint16_t subr;
        const char *of; /* a text that keeps it busy */
        uint64_t least; /* units */
    } row[] = {
        {DIF_SUBR_json, "[1,2,\"x\",{\"a\":1}],", LONG},
        {DIF_SUBR_strtoll, "1", LONG},
        {DIF_SUBR_cleanpath, "a/../", LONG},
        {DIF_SUBR_basename, "a/", LONG},
        {DIF_SUBR_dirname, "a", LONG},
        {DIF_SUBR_toupper, "ab", LONG},
        {DIF_SUBR_tolower, "ab", LONG},
        {DIF_SUBR_strtok, "ab", LONG},
        {DIF_SUBR_strstr, "ab", 2 * LONG},
        {DIF_SUBR_index, "ab", 2 * LONG},
        {DIF_SUBR_rindex, "ab", 2 * LONG},
        /* These only look for the end of the text. */
        {DIF_SUBR_strlen, "ab", LONG / WORK_SCAN},
        {DIF_SUBR_copyinstr, "ab", LONG / WORK_SCAN},
        {DIF_SUBR_strchr, "ab", LONG / WORK_SCAN},
        {DIF_SUBR_strrchr, "ab", LONG / WORK_SCAN},
    };
    unsigned n = 0;
    (void)state;
    for (unsigned i = 0; i < DIF_NSUBRS; i++) {
        const struct dif_subr_info *s = dif_subr_info(i);
        static struct build b;
        const char *of = "ab";
        uint64_t least = LONG / WORK_COPY; /* it is copied */
        if (s == NULL || (s->tiers & WORD_LOCAL) == 0 || strchr(s->args, 's') == NULL)
            continue;
        for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
            of = row[k].subr == i ? row[k].of : of;
            least = row[k].subr == i ? row[k].least : least;
        }
        begin(&b);
        bool first = true,
             memory = i == DIF_SUBR_bcopy || i == DIF_SUBR_copyinto || i == DIF_SUBR_strncpy;
        if (memory) { /* to copy to */
            build_op(&b, OP3(PUSHTV, 2, 0, 0));
            build_op(&b, OPI(CALL, 5, DIF_SUBR_alloca));
        }
        build_op(&b, OPI(SETS, 4, build_str(&b, i == DIF_SUBR_json ? "[7]" : "zz")));
        for (unsigned a = 0; a < s->max; a++) {
            unsigned to = i == DIF_SUBR_bcopy ? 1 : i == DIF_SUBR_copyinto ? 2 : 0;
            if (memory && a == to)
                build_op(&b, OP3(PUSHTV, 5, 0, 0));
            else if (s->args[a] == 's') {
                build_op(&b, OP3(PUSHTR, first ? 1 : 4, 0, 0));
                first = false;
            } else if (i == DIF_SUBR_strtoll || i == DIF_SUBR_index || i == DIF_SUBR_substr) {
                build_op(&b, OPI(SETI, 3, i == DIF_SUBR_strtoll ? 10 : 0));
                build_op(&b, OP3(PUSHTV, i == DIF_SUBR_substr && a == 2 ? 2 : 3, 0, 0));
            } else
                build_op(&b, OP3(PUSHTV, 2, 0, 0));
        }
        build_op(&b, OPI(CALL, 0, i));
        build_end(&b);
        uint64_t units = more(&b, of);
        if (units < least || units > (uint64_t)LONG * 16)
            fail_msg("%s: %llu units", s->name, (unsigned long long)units);
        n++;
    }
    assert_true(n >= 20);
}

/* Instructions that look at what their operands say. */
static void instructions(void **state)
{
    (void)state;
    const struct {
        const char *what;
        uint32_t code[10];
        uint64_t least;
    } row[] = {
        {"scmp", {OP3(SCMP, 1, 1, 0)}, LONG / WORK_COPY},
        {"stgs", {OPI(STGS, 1, 0)}, LONG / WORK_COPY},
        {"ldgs", {OPI(STGS, 1, 0), OPI(LDGS, 3, 0)}, 2 * LONG / WORK_COPY},
        {"stts", {OPI(STTS, 1, 1)}, LONG / WORK_COPY},
        {"ldts", {OPI(STTS, 1, 1), OPI(LDTS, 3, 1)}, 2 * LONG / WORK_COPY},
        {"stgaa", {OP3(PUSHTR, 1, 0, 0), OPI(STGAA, 2, 2)}, LONG / WORK_KEY},
        {"ldgaa", {OP3(PUSHTR, 1, 0, 0), OPI(LDGAA, 3, 2)}, LONG / WORK_KEY},
        {"addgaa", {OPI(SETI, 3, 1), OP3(PUSHTR, 1, 0, 0), OPI(ADDGAA, 3, 2)}, LONG / WORK_KEY},
        {"agg", {OP3(PUSHTR, 1, 0, 0), dif_ai(DIF_OP_AGG, 0, 0)}, LONG / WORK_KEY},
        {"copy",
         {OP3(PUSHTV, 2, 0, 0), OPI(CALL, 5, DIF_SUBR_alloca), OP3(COPY, 5, 1, 2)},
         LONG / WORK_COPY},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        begin(&b);
        build_var(&b, DIF_GLOBAL, str, 0, NULL);
        build_var(&b, DIF_THREAD, str, 0, NULL);
        build_var(&b, DIF_GLOBAL, int64, 1, &str);
        build_agg(&b, AGG_COUNT, 1, &str);
        for (int k = 0; row[i].code[k] != 0; k++)
            build_op(&b, row[i].code[k]);
        build_end(&b);
        uint64_t units = more(&b, "ab");
        if (units < row[i].least || units > row[i].least * 8)
            fail_msg("%s: %llu units", row[i].what, (unsigned long long)units);
    }
}

static void records(void **state)
{
    static struct build b;
    (void)state;
    begin(&b);
    build_op(&b, OP3(RECB, 0, 0, 0));
    build_op(&b, OPI(REC, 1, 0));
    build_action(&b, ACT_TRACE, 0, str);
    build_end(&b);
    assert_true(more(&b, "ab") >= LONG / WORK_KEY);
}

/* Straight code, and clauses that do nothing. */
static void code(void **state)
{
    static struct build b;
    (void)state;
    build_init(&b);
    for (int c = 0; c < 8; c++) {
        build_clause(&b);
        for (int i = 0; i < 100; i++)
            build_op(&b, OPI(SETI, 0, 1));
        build_end(&b);
    }
    struct engine *e = engine_of(&b, 0);
    uint64_t one = fire(e, 1), all = fire(e, 8);
    assert_true(one >= 100 && one < 200);
    assert_int_equal(all, 8 * one);
    engine_destroy(e);
}

/* The first entry of a key is made, with all its buckets; later updates are short. */
static void histograms(void **state)
{
    static struct build b;
    (void)state;
    begin(&b);
    build_agg(&b, AGG_LQUANTIZE, 0, NULL);
    b.aggs[0].param[1] = 60000;
    b.aggs[0].param[2] = 1;
    build_op(&b, OP3(PUSHTV, 2, 0, 0));
    build_op(&b, OP3(PUSHTV, 2, 0, 0));
    build_op(&b, dif_ai(DIF_OP_AGG, 0, 0));
    build_end(&b);
    struct engine *e = engine_of(&b, 0);
    set_text(1, "a");
    assert_true(fire(e, 1) >= 8 * 60000 / WORK_COPY);
    assert_true(fire(e, 1) < 1000);
    engine_destroy(e);
}

/* Pages of scratch that are made, once. */
static void fresh_memory(void **state)
{
    static struct build b;
    (void)state;
    begin(&b);
    build_op(&b, OP3(PUSHTV, 2, 0, 0));
    build_op(&b, OPI(CALL, 5, DIF_SUBR_alloca));
    build_end(&b);
    struct engine *e = engine_of(&b, 0);
    set_text(STRSIZE - 8, "a");
    assert_true(fire(e, 1) >= (STRSIZE - 8) / WORK_COPY);
    assert_true(fire(e, 1) < 1000);
    engine_destroy(e);
}

/* -- beyond it --------------------------------------------------------------------------- */

/* Records, each {epid, value of its part}, and faults, each {epid, code, value}. */
struct seen {
    unsigned records, faults;
    uint32_t epid[64], fault_epid[64], fault[64];
    uint64_t value[64], fault_value[64];
};

static void drain(struct engine *e, struct seen *s)
{
    static struct engine_mark m;
    memset(s, 0, sizeof *s);
    for (int half = 0; half < 2; half++) {
        struct buf out = BUF_INIT;
        engine_flip(e, RECORD_PRINCIPAL);
        engine_mark(&m);
        assert_true(engine_quiet(&m));
        assert_true(engine_drain(e, RECORD_PRINCIPAL, SIZE_MAX, &out));
        const char *p = out.data, *end = p + out.len;
        while (p < end) {
            uint32_t size, bytes;
            memcpy(&bytes, p + 4, 4);
            const char *stop = p + 8 + bytes;
            for (p += 8; p < stop; p += size) {
                uint32_t epid;
                memcpy(&size, p, 4);
                memcpy(&epid, p + 4, 4);
                if (epid == RECORD_EPID_FAULT) {
                    memcpy(&s->fault_epid[s->faults % 64], p + 24, 4);
                    memcpy(&s->fault[s->faults % 64], p + 36, 4);
                    memcpy(&s->fault_value[s->faults++ % 64], p + 40, 8);
                } else {
                    s->epid[s->records % 64] = epid;
                    memcpy(&s->value[s->records++ % 64], p + 24, 8);
                }
            }
        }
        buf_free(&out);
    }
}

/* A clause that looks for something in a long text n times, then records 1. */
static void searching(struct build *b, int n)
{
    build_clause(b);
    build_op(b, OP3(LDARG, 1, 0, 0));
    build_op(b, OPI(SETS, 4, 1));
    for (int i = 0; i < n; i++) {
        build_op(b, OP3(PUSHTR, 1, 0, 0));
        build_op(b, OP3(PUSHTR, 4, 0, 0));
        build_op(b, OPI(CALL, 0, DIF_SUBR_rindex));
    }
    build_op(b, OPI(SETI, 0, 1));
    build_op(b, OP3(RECB, 0, 0, 0));
    build_op(b, OPI(REC, 0, 0));
    build_action(b, ACT_TRACE, 0, int64);
    build_end(b);
}

static void beyond(void **state)
{
    static struct build b;
    static const struct engine_probe error = {3, "dtrace", "", "", "ERROR"};
    struct seen s;
    (void)state;
    build_init(&b);
    b.img.strsize = STRSIZE;
    build_str(&b, "zz");
    searching(&b, 0);
    searching(&b, 100); /* 100 * 20000 * 3 units */
    searching(&b, 0);
    searching(&b, 0);
    build_clause(&b); /* ERROR: the code of the fault */
    build_op(&b, OP3(LDARG, 0, 0, 4));
    build_op(&b, OP3(RECB, 0, 0, 0));
    build_op(&b, OPI(REC, 0, 0));
    build_action(&b, ACT_TRACE, 0, int64);
    build_end(&b);
    searching(&b,
              100); /* ERROR, once more: as long as the other; the text is not an argument here */
    struct engine *e = engine_of(&b, 0);
    const struct engine_binding on_error[] = {{50, 4}, {51, 5}};
    engine_set_error_bindings(e, on_error, 2, &error);
    set_text(LONG, "ab");
    assert_int_equal(fire(e, 4), DIF_BUDGET); /* nothing is left */
    drain(e, &s);
    assert_int_equal(s.faults, 1);
    assert_int_equal(s.fault_epid[0], 2);
    assert_int_equal(s.fault[0], RECORD_FAULT_EVENTBUDGET);
    assert_int_equal(s.fault_value[0], DIF_BUDGET);
    assert_int_equal(s.records, 2);
    assert_int_equal(s.epid[0], 1); /* the clause before it did what it had to */
    assert_int_equal(s.epid[1], 50);
    assert_int_equal(s.value[1], RECORD_FAULT_EVENTBUDGET);
    /* the clause itself, those that were given up, and the one of ERROR that had no text */
    assert_int_equal(counts_of(e).errors, 1 + 2 + 1);
    assert_int_equal(counts_of(e).drop[RECORD_DROP_DBLERROR], 1);
    fire(e, 1); /* the next event has a budget of its own */
    drain(e, &s);
    assert_int_equal(s.records, 1);
    assert_int_equal(s.faults, 0);
    engine_destroy(e);
    e = engine_of(&b, DIF_BUDGET_MOST); /* where that is enough */
    assert_in_range(fire(e, 4), 100 * LONG * 3, DIF_BUDGET_MOST);
    assert_int_equal(counts_of(e).recorded, 4);
    assert_int_equal(counts_of(e).errors, 0);
    engine_destroy(e);
}

/* Fires a clause with this budget. Returns whether it was enough; *value is what was recorded. */
static bool fired(struct engine *e, uint32_t clause, uint64_t budget, uint64_t *value)
{
    struct seen s;
    e->opt.eventbudget = budget;
    fire_from(e, clause, 1);
    drain(e, &s);
    *value = s.value[0];
    if (s.faults == 0)
        return true;
    assert_int_equal(s.faults, 1);
    assert_int_equal(s.fault[0], RECORD_FAULT_EVENTBUDGET);
    assert_int_equal(s.fault_value[0], budget);
    assert_int_equal(s.records, 0);
    return false;
}

/* An operation of the store of dynamic variables is done as a whole or, when the budget ends in it,
 * not at all. The clause then faults; that the store is full is not why, and no drop is counted. */
static void dynamic_variables(void **state)
{
    enum { SET, OPERATION, GET, CLAUSES, LENGTH = 400, OLD = 4, NEW = 5 };
    static const struct dif_type text_of = {DIF_STRING, 512}, bytes = {DIF_BYTES, 8};
    const struct {
        const char *what;
        const struct dif_type *type;
        uint32_t op;
        int operand; /* of an integer */
    } row[] = {{"load", &int64, OPI(LDGAA, 6, 0), 0},
               {"load of a string", &text_of, OPI(LDGAA, 6, 0), 0},
               {"load of bytes", &bytes, OPI(LDGAA, 6, 0), 0},
               {"store", &int64, OPI(STGAA, NEW, 0), 9},
               {"store of a string", &text_of, OPI(STGAA, NEW, 0), 0},
               {"store of bytes", &bytes, OPI(STGAA, NEW, 0), 0},
               {"store of 0", &int64, OPI(STGAA, NEW, 0), 0},
               {"addition", &int64, OPI(ADDGAA, NEW, 0), 9}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        const bool is_int = row[i].type == &int64;
        build_init(&b);
        b.img.strsize = STRSIZE;
        b.img.scratchsize = STRSIZE;
        build_var(&b, DIF_GLOBAL, *row[i].type, 1, &text_of);
        for (int c = SET; c < CLAUSES; c++) {
            build_clause(&b);
            build_op(&b, OP3(LDARG, 1, 0, 0)); /* the key */
            build_op(&b, OPI(SETI, 2, 1));
            build_op(&b, is_int ? OPI(SETI, OLD, 7) : OP3(ADD, OLD, 1, 2));
            build_op(&b, is_int ? OPI(SETI, NEW, (uint16_t)row[i].operand) : OP3(MOV, NEW, 1, 0));
            build_op(&b, OP3(PUSHTR, 1, 0, 0));
            build_op(&b, c == SET ? OPI(STGAA, OLD, 0) : c == GET ? OPI(LDGAA, 6, 0) : row[i].op);
            if (c == GET) {
                build_op(&b, OP3(RECB, 0, 0, 0));
                build_op(&b, OPI(REC, 6, 0));
                build_action(&b, ACT_TRACE, 6, *row[i].type);
            }
            build_end(&b);
        }
        struct engine *e = engine_of(&b, DIF_BUDGET_MOST);
        set_text(LENGTH, "ab");
        uint64_t old, new, value;
        fire_from(e, SET, 1);
        assert_true(fired(e, GET, DIF_BUDGET_MOST, &old));
        const uint64_t took = fire_from(e, OPERATION, 1);
        assert_true(fired(e, GET, DIF_BUDGET_MOST, &new));
        assert_int_equal(old == new, row[i].op == OPI(LDGAA, 6, 0));
        uint64_t least = 0; /* budget that is enough */
        for (uint64_t budget = 1; budget <= took; budget++) {
            e->opt.eventbudget = DIF_BUDGET_MOST;
            fire_from(e, SET, 1);
            const bool done = fired(e, OPERATION, budget, &value);
            least = done && least == 0 ? budget : least;
            assert_int_equal(done, least > 0); /* more is enough as well */
            assert_true(fired(e, GET, DIF_BUDGET_MOST, &value));
            assert_int_equal(value, done ? new : old);
        }
        /* The instructions are counted after the clause. The operation must leave a unit. */
        if (least != took - WORK_CLAUSE - (b.clauses[OPERATION].ncode - 1) + 1)
            fail_msg("%s: %llu units of %llu", row[i].what, (unsigned long long)least,
                     (unsigned long long)took);
        assert_int_equal(counts_of(e).errors, least - 1);
        assert_int_equal(counts_of(e).drop[RECORD_DROP_DYNAMIC], 0);
        engine_destroy(e);
    }
}

/* Looks at a slot that another thread keeps are counted, and end before the budget of most events
 * does: then there is a drop. */
static void a_slot_that_stays_busy(void **state)
{
    enum { LOOKS = 2000, SMALL = LOOKS * WORK_WAIT / 2, STATE = 3, BUSY = 1, LIVE = 2 };
    static struct build b;
    uint64_t value;
    (void)state;
    build_init(&b);
    build_var(&b, DIF_GLOBAL, int64, 1, &int64);
    build_clause(&b);
    build_op(&b, OPI(SETI, 1, 1));
    build_op(&b, OP3(PUSHTV, 1, 0, 0));
    build_op(&b, OPI(STGAA, 1, 0));
    build_end(&b);
    struct engine *e = engine_of(&b, DIF_BUDGET_MOST);
    assert_true(fire(e, 1) < SMALL);
    unsigned kept = 0;
    for (size_t i = 0; i < e->dyn.nbuckets * (size_t)8; i++) {
        if ((e->dyn.tag[i] & STATE) == LIVE) {
            e->dyn.tag[i] ^= LIVE ^ BUSY;
            kept++;
        }
    }
    assert_int_equal(kept, 1);
    assert_in_range(fire(e, 1), LOOKS * WORK_WAIT, LOOKS * WORK_WAIT + SMALL);
    assert_int_equal(counts_of(e).drop[RECORD_DROP_DYNAMIC], 1);
    assert_int_equal(counts_of(e).errors, 0);
    assert_false(fired(e, 0, SMALL, &value));
    assert_int_equal(counts_of(e).drop[RECORD_DROP_DYNAMIC], 1);
    assert_int_equal(counts_of(e).errors, 1);
    engine_destroy(e);
}

/* Each clause with an area of its own takes away the borders of the areas before it. */
static void borders(void **state)
{
    static struct build b;
    enum { LARGE = 16 << 20, AREAS = 8 };
    (void)state;
    build_init(&b);
    b.img.strsize = STRSIZE;
    b.img.scratchsize = LARGE;
    build_int(&b, LARGE - 64);
    for (int i = 0; i < AREAS; i++) {
        build_clause(&b);
        build_op(&b, OPI(SETX, 1, 0));
        build_op(&b, OP3(PUSHTV, 1, 0, 0));
        build_op(&b, OPI(CALL, 0, DIF_SUBR_alloca));
        build_end(&b);
    }
    struct engine *e = engine_of(&b, DIF_BUDGET_MOST);
    fire(e, 1); /* memory is touched */
    const uint64_t one = LARGE / 8 / 8 / WORK_COPY;
    assert_in_range(fire(e, AREAS), AREAS * one, AREAS * (one + 200));
    assert_int_equal(counts_of(e).errors, 0);
    engine_destroy(e);
}

/* A clause of ERROR cannot go on for ever on what other clauses left; nor on what is kept for it.
 */
static void errors_in_error(void **state)
{
    static struct build b;
    static const struct engine_probe error = {3, "dtrace", "", "", "ERROR"};
    struct seen s;
    (void)state;
    build_init(&b);
    b.img.strsize = STRSIZE;
    build_str(&b, "zz");
    for (int i = 0; i < 4; i++) { /* faults of another kind */
        build_clause(&b);
        build_op(&b, OPI(SETI, 0, 0));
        build_op(&b, OP3(LDX, 0, 0, 0));
        build_end(&b);
    }
    build_clause(&b); /* ERROR: a comparison of 20000 bytes of the program's, 200 times */
    static char much[2000];
    memset(much, 'a', sizeof much - 1);
    uint32_t at = build_str(&b, much);
    build_op(&b, OPI(SETS, 1, at));
    for (int i = 0; i < 250; i++)
        build_op(&b, OP3(SCMP, 1, 1, 0));
    build_end(&b);
    struct engine *e = engine_of(&b, 3 * 250 * (2000 / WORK_COPY));
    const struct engine_binding on_error = {50, 4};
    engine_set_error_bindings(e, &on_error, 1, &error);
    assert_int_equal(fire(e, 4), e->opt.eventbudget);
    drain(e, &s);
    /* Some clauses of ERROR were whole, one was not; then the event had nothing left. */
    assert_in_range(s.faults, 2, 4);
    assert_int_equal(s.fault[0], RECORD_FAULT_BADADDR);
    assert_int_equal(s.fault[s.faults - 1], RECORD_FAULT_EVENTBUDGET);
    assert_true(counts_of(e).drop[RECORD_DROP_DBLERROR] >= 1);
    engine_destroy(e);
}

/* A speculation that is too much to be copied at the probe is read from where it is. */
static void large_speculation(void **state)
{
    static struct build b;
    struct seen s;
    (void)state;
    build_init(&b);
    b.img.strsize = STRSIZE;
    const uint32_t id = build_var(&b, DIF_GLOBAL, int64, 0, NULL);
    build_clause(&b);
    build_op(&b, OPI(CALL, 0, DIF_SUBR_speculation));
    build_op(&b, OPI(STGS, 0, id));
    build_end(&b);
    build_clause(&b);
    build_op(&b, OPI(LDGS, 0, id));
    build_op(&b, OP3(SPEC, 0, 0, 0));
    build_op(&b, OP3(LDARG, 1, 0, 0));
    build_op(&b, OP3(RECB, 0, 0, 0));
    build_op(&b, OPI(REC, 1, 0));
    build_action(&b, ACT_TRACE, 0, str);
    build_end(&b);
    build_clause(&b);
    build_op(&b, OPI(LDGS, 0, id));
    build_op(&b, OP3(COMMIT, 0, 0, 0));
    build_end(&b);
    struct engine *e = engine_of(&b, 0);
    set_text(LONG, "ab");
    for (unsigned n = 2; n <= 50; n += 48) {
        fire_from(e, 0, 1);
        for (unsigned i = 0; i < n; i++)
            fire_from(e, 1, 1);
        uint64_t took = fire_from(e, 2, 1);
        assert_true(n == 2 ? took >= 2 * LONG / WORK_COPY : took < 200);
        drain(e, &s);
        assert_int_equal(s.records, n);
    }
    assert_int_equal(counts_of(e).errors, 0);
    engine_destroy(e);
}

/* What is asked for is brought between the bounds, whoever asks. */
static void bounds(void **state)
{
    static const uint64_t row[][2] = {
        {0, DIF_BUDGET}, {1, DIF_BUDGET_LEAST}, {5000, 5000}, {UINT64_MAX, DIF_BUDGET_MOST}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        build_init(&b);
        build_clause(&b);
        build_end(&b);
        struct engine *e = engine_of(&b, row[i][0]);
        assert_int_equal(e->opt.eventbudget, row[i][1]);
        engine_destroy(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(subroutines),
                                       cmocka_unit_test(instructions),
                                       cmocka_unit_test(records),
                                       cmocka_unit_test(code),
                                       cmocka_unit_test(histograms),
                                       cmocka_unit_test(fresh_memory),
                                       cmocka_unit_test(beyond),
                                       cmocka_unit_test(borders),
                                       cmocka_unit_test(errors_in_error),
                                       cmocka_unit_test(large_speculation),
                                       cmocka_unit_test(dynamic_variables),
                                       cmocka_unit_test(a_slot_that_stays_busy),
                                       cmocka_unit_test(bounds)};
    int failed = cmocka_run_group_tests_name("budget", tests, NULL, NULL);
    free(text);
    return failed;
}
