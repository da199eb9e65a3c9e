/* test_shared.c - programs read memory that other threads write while they read it: every
 * subroutine that reads text, comparisons, keys, records and variables work on a copy.
 *
 * A thread writes a global array, without pause, while programs take it for text. What goes wrong
 * in a read of what has changed meanwhile is seen by its results, which no text can have, and by a
 * sanitizer. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dif_build.h"
#include "engine/engine.h"
#include "engine/impl.h"
#include "engine_build.h"

#define OP3(op, a, b, c) dif_abc(DIF_OP_##op, a, b, c)
#define OPI(op, a, imm)  dif_ai(DIF_OP_##op, a, imm)

/* For each text as many firings, and more until so much was written meanwhile. */
enum { TEXT = 64, FIRINGS = 2000, FIRINGS_MOST = 200000, WRITES = 20000 };

static const struct dif_type int64 = {DIF_INT, 8}, str = {DIF_STRING, 256},
                             text = {DIF_BYTES, TEXT};

/* -- who writes ------------------------------------------------------------------------ */

/* Texts in which one character decides how much of the others counts. */
static const struct pattern {
    char text[TEXT];
    uint8_t at;
    char a, b;
} patterns[] = {
    {"[1]", 1, '1', '"'},
    {"{\"k\":\"abc\\\"def\"}", 6, '"', '1'},
    {"{\"k\":[1,2,3]}", 5, '[', '\0'},
    {"/aa/../b/cc//dd/", 3, '/', '\0'},
    {"a,b;c,ddddddddddddddddddddd", 1, ',', 'a'},
    {"0x1234567890abcdef", 4, '2', '\0'},
    {"abcabcabcabcabcabcabcabcabcabc", 9, 'a', '\0'},
    {"", 0, 'x', '\0'},
};
enum { NPATTERNS = sizeof patterns / sizeof *patterns };

struct writer {
    _Atomic uint32_t pattern, written;
    _Atomic bool stop;
    volatile char *to;
};

static void *writes(void *arg)
{
    struct writer *w = arg;
    for (uint32_t i = 0; !atomic_load_explicit(&w->stop, memory_order_relaxed); i++) {
        const struct pattern *p =
            &patterns[atomic_load_explicit(&w->pattern, memory_order_relaxed)];
        if (i % 1024 == 0)
            for (unsigned k = 0; k < TEXT; k++)
                w->to[k] = p->text[k];
        w->to[p->at] = p->b;
        w->to[p->at] = p->a;
        atomic_store_explicit(&w->written, i, memory_order_relaxed);
    }
    return NULL;
}

/* -- what reads ------------------------------------------------------------------------- */

static uint64_t term(struct engine_ctx *ctx, unsigned n)
{
    (void)ctx;
    (void)n;
    return 1;
}
static bool known(struct engine_ctx *ctx, uint64_t t)
{
    (void)ctx;
    return t == 1;
}
static uint64_t get(struct engine_ctx *ctx, uint64_t t, const char *name, size_t len)
{
    (void)ctx;
    assert_null(memchr(name, '\0', len));
    return t;
}
static const char *kind(struct engine_ctx *ctx, uint64_t t)
{
    (void)ctx;
    (void)t;
    return "map";
}
static size_t string(struct engine_ctx *ctx, uint64_t t, char *out, size_t cap)
{
    (void)ctx;
    (void)t;
    memset(out, 'a', cap);
    return cap - 1;
}
static const struct engine_terms terms = {
    .known = known, .kind = kind, .string = string, .get = get};

static void fire(struct engine *e)
{
    static const struct engine_probe probe = {7, "prov", "mod", "func", "name"};
    struct engine_thread *t = engine_thread_self();
    struct engine_ctx ctx = {.probe = &probe, .arg = term, .terms = &terms, .self = 1};
    struct engine_binding b = {1, 0};
    engine_enter(t);
    engine_fire(e, t, &ctx, &b, 1);
    engine_leave(t);
}

/* Every text in a record, and in a key, has the length that is told and no NUL in it. */
static void check_texts(struct engine *e, bool is_text)
{
    static struct engine_mark m;
    struct buf out = BUF_INIT;
    engine_flip(e, RECORD_PRINCIPAL | RECORD_AGGS);
    engine_mark(&m);
    while (!engine_quiet(&m))
        ;
    while (!engine_drain(e, RECORD_PRINCIPAL | RECORD_AGGS, SIZE_MAX, &out))
        ;
    const char *p = out.data, *end = p + out.len;
    while (p < end) {
        uint32_t size, bytes, epid, len;
        bool records = *p == RECORD_PRINCIPAL;
        memcpy(&bytes, p + 4, 4);
        const char *stop = p + 8 + bytes;
        for (p += 8; p < stop; p += size) {
            const char *value = p + (records ? RECORD_HEAD : sizeof(struct record_entry) + 8);
            memcpy(&size, p, 4);
            memcpy(&epid, p + 4, 4);
            if ((records && epid == RECORD_EPID_FAULT) || !is_text)
                continue;
            memcpy(&len, value, 4);
            assert_true(len <= 256);
            assert_null(memchr(value + 4, '\0', len));
        }
    }
    buf_free(&out);
}

/* Runs the only clause of a program while its global variable 0 is written. */
static void run(struct build *b, bool is_text)
{
    struct engine_options opt = {.threads = 64,
                                 .bufsize = 1 << 20,
                                 .aggsize = 1 << 16,
                                 .dynvarsize = 1 << 16,
                                 .specsize = 1 << 12,
                                 .nspec = 1};
    struct engine *e = engine_build(&b->img, opt);
    struct writer w = {.to = (volatile char *)e->globals};
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, writes, &w), 0);
    for (uint32_t p = 0; p < NPATTERNS; p++) {
        atomic_store(&w.pattern, p);
        uint32_t before = atomic_load(&w.written);
        for (int i = 0; i < FIRINGS_MOST; i++) {
            if (i >= FIRINGS &&
                atomic_load_explicit(&w.written, memory_order_relaxed) - before >= WRITES)
                break;
            fire(e);
        }
        check_texts(e, is_text);
    }
    atomic_store(&w.stop, true);
    pthread_join(t, NULL);
    engine_destroy(e);
}

static void begin(struct build *b)
{
    build_init(b);
    build_var(b, DIF_GLOBAL, text, 0, NULL);
    build_clause(b);
    build_op(b, OPI(LDGS, 1, 0));
}

/* Records register 2. */
static void end(struct build *b, bool is_text)
{
    build_op(b, OP3(RECB, 0, 0, 0));
    build_op(b, OPI(REC, 2, 0));
    build_action(b, ACT_TRACE, 0, is_text ? str : int64);
    build_end(b);
}

/* One call, with the array wherever it takes a text, or as the i-th text only and a constant as the
 * others. */
static void call(unsigned subr, const struct dif_subr_info *s, unsigned nargs, int only)
{
    static struct build b;
    int nth = 0;
    bool is_term = s->tiers == WORD_VM;
    begin(&b);
    build_op(&b, OPI(SETI, 3, is_term ? 1 : 16));
    build_op(&b, OPI(SETS, 4, build_str(&b, subr == DIF_SUBR_json ? "[0]" : "ab")));
    for (unsigned i = 0; i < nargs; i++) {
        bool is_text = s->args[nargs == 1 && subr == DIF_SUBR_strtok ? 1 : i] == 's';
        if (is_text)
            build_op(&b, OP3(PUSHTR, only < 0 || nth++ == only ? 1 : 4, 0, 0));
        else
            build_op(&b, OP3(PUSHTV, 3, 0, 0));
    }
    build_op(&b, OPI(CALL, 2, subr));
    end(&b, s->result == 's');
    run(&b, s->result == 's');
}

static void subroutines(void **state)
{
    unsigned n = 0;
    (void)state;
    for (unsigned i = 0; i < DIF_NSUBRS; i++) {
        const struct dif_subr_info *s = dif_subr_info(i);
        if (s == NULL || (s->tiers & (WORD_LOCAL | WORD_VM)) == 0 || !strchr(s->args, 's'))
            continue;
        bool two = strrchr(s->args, 's') != strchr(s->args, 's') && s->max > 1;
        for (int only = two ? 0 : -1; only < (two ? 2 : 0); only++, n++)
            call(i, s, s->max, only);
    }
    assert_true(n >= 28);
}

/* Addresses of networks, which are read as bytes by their address as a number. */
static void addresses(void **state)
{
    static const struct {
        unsigned subr, family;
    } row[] = {{DIF_SUBR_inet_ntoa, 0},
               {DIF_SUBR_inet_ntoa6, 0},
               {DIF_SUBR_inet_ntop, 10},
               {DIF_SUBR_link_ntop, 32}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        begin(&b);
        build_op(&b, OPI(SETI, 3, row[i].family));
        if (row[i].family != 0)
            build_op(&b, OP3(PUSHTV, 3, 0, 0));
        build_op(&b, OP3(PUSHTV, 1, 0, 0));
        build_op(&b, OPI(CALL, 2, row[i].subr));
        end(&b, true);
        run(&b, true);
    }
}

/* The engine's own looks: a record, a comparison, variables, keys. */
static void instructions(void **state)
{
    (void)state;
    const struct {
        uint32_t code[8];
        bool is_text;
    } row[] = {
        {{OP3(MOV, 2, 1, 0)}, true},
        {{OP3(SCMP, 1, 1, 0), OPI(SETI, 2, 0)}, false},
        {{OPI(STGS, 1, 1), OPI(LDGS, 2, 1)}, true},
        {{OPI(STLS, 1, 2), OPI(LDLS, 2, 2)}, true},
        {{OPI(STTS, 1, 3), OPI(LDTS, 2, 3)}, true},
        {{OPI(SETI, 2, 7), OP3(PUSHTR, 1, 0, 0), OPI(STGAA, 2, 4), OP3(PUSHTR, 1, 0, 0),
          OPI(LDGAA, 2, 4)},
         false},
        {{OP3(PUSHTR, 1, 0, 0), dif_ai(DIF_OP_AGG, 0, 0), OP3(MOV, 2, 1, 0)}, true},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        begin(&b);
        build_var(&b, DIF_GLOBAL, str, 0, NULL);
        build_var(&b, DIF_CLAUSE, str, 0, NULL);
        build_var(&b, DIF_THREAD, str, 0, NULL);
        build_var(&b, DIF_GLOBAL, int64, 1, &str);
        build_agg(&b, AGG_COUNT, 1, &str);
        for (int k = 0; row[i].code[k] != 0; k++)
            build_op(&b, row[i].code[k]);
        end(&b, row[i].is_text);
        run(&b, row[i].is_text);
    }
}

/* A text that others write is never handed on where it stands, however it is come by. */
static void handed_on(void **state)
{
    static struct build b;
    (void)state;
    begin(&b);
    build_op(&b, OP3(PUSHTR, 1, 0, 0));
    build_op(&b, OPI(CALL, 2, DIF_SUBR_copyinstr));
    build_op(&b, OP3(SUB, 2, 2, 1));
    end(&b, false);
    struct engine_options opt = {.threads = 64, .bufsize = 4096, .aggsize = 4096};
    struct engine *e = engine_build(&b.img, opt);
    const struct engine_probe probe = {7, "prov", "mod", "func", "name"};
    struct engine_thread *t = engine_thread_self();
    struct engine_ctx ctx = {.probe = &probe};
    engine_thread_init(e, engine_tstate(e, t->index));
    struct exec x = {
        .e = e, .t = t, .ts = engine_tstate(e, t->index), .ctx = &ctx, .left = UINT64_MAX};
    memcpy(e->globals, "text", 5);
    for (uint64_t off = 0; off < TEXT; off++) {
        size_t len;
        uint64_t at = (uint64_t)(uintptr_t)e->globals + off;
        x.scratch_used = 0;
        const char *s = exec_string(&x, at, &len);
        assert_non_null(s);
        assert_true((const unsigned char *)s < e->globals ||
                    (const unsigned char *)s >= e->globals + e->globals_size);
        assert_string_equal(s, (const char *)e->globals + off);
        assert_int_equal(len, strlen(s));
    }
    engine_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(handed_on), cmocka_unit_test(instructions),
                                       cmocka_unit_test(subroutines), cmocka_unit_test(addresses)};
    return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}
