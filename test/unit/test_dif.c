/* test_dif.c - bucket arithmetic, the binary form, the verifier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "lang/encode.h"
#include "result/label.h"
#include "dif_build.h"

#define OP3(op, a, b, c) dif_abc(DIF_OP_##op, a, b, c)
#define OPI(op, a, imm)  dif_ai(DIF_OP_##op, a, imm)
/* a branch to the to-th instruction after the prelude that makes registers 0 and 1 */
#define OPT(op, to) dif_t(DIF_OP_##op, to + 2)

static const struct dif_type int64 = {DIF_INT, 8}, int32 = {DIF_INT, 4}, str = {DIF_STRING, 256},
                             bytes24 = {DIF_BYTES, 24}, none = {0, 0};

static void quantize_buckets(void **state)
{
    (void)state;
    static const struct {
        int64_t v, label;
    } row[] = {{0, 0},
               {1, 1},
               {2, 2},
               {3, 2},
               {4, 4},
               {1023, 512},
               {1024, 1024},
               {INT64_MAX, INT64_C(1) << 62},
               {-1, -1},
               {-2, -2},
               {-3, -2},
               {-4, -4},
               {-1024, -1024},
               {-1025, -1024},
               {INT64_MIN + 1, -(INT64_C(1) << 62)},
               {INT64_MIN, -(INT64_C(1) << 62)}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_true(label_quantize(dif_quantize_bucket(row[i].v)) == row[i].label);
    assert_int_equal(dif_quantize_bucket(INT64_MIN), 0);
    assert_int_equal(dif_quantize_bucket(INT64_MAX), DIF_QUANTIZE_BUCKETS - 1);
}

static void lquantize_buckets(void **state)
{
    (void)state;
    assert_int_equal(dif_lquantize_levels(0, 10, 1), 10);
    assert_int_equal(dif_lquantize_levels(0, 10, 3), 3);
    assert_int_equal(dif_lquantize_levels(0, 10, 11), 0);
    assert_int_equal(dif_lquantize_levels(10, 10, 1), 0);
    assert_int_equal(dif_lquantize_levels(0, 65536, 1), 0);
    assert_int_equal(dif_lquantize_levels(INT32_MIN, INT32_MAX, 65535), 0); /* 65537 levels */
    static const struct {
        int64_t v;
        unsigned bucket;
    } row[] = {{-6, 0}, {-5, 1}, {-4, 1}, {-3, 1}, {-2, 2},        {0, 2},
               {1, 3},  {4, 4},  {6, 4},  {7, 5},  {INT64_MAX, 5}, {INT64_MIN, 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row;
         i++) /* base -5, limit 8, step 3: levels 4, upper label 7 */
        assert_int_equal(dif_lquantize_bucket(row[i].v, -5, 8, 3), row[i].bucket);
}

static void llquantize_buckets(void **state)
{
    (void)state;
    /* factor 10, magnitudes 0 to 2, 10 steps: 9 bins a magnitude, 27 a side */
    assert_int_equal(dif_llq_nbuckets(10, 0, 2, 10), 27 * 2 + 3);
    static const struct {
        int64_t v;
        unsigned bucket;
        int64_t label;
    } row[] = {
        {0, 28, 0},
        {1, 29, 1},
        {9, 37, 9},
        {10, 38, 10},
        {19, 38, 10},
        {20, 39, 20},
        {99, 46, 90},
        {100, 47, 100},
        {999, 55, 900},
        {1000, 56, 1000},
        {INT64_MAX, 56, 1000},
        {-1, 27, -1},
        {-999, 1, -900},
        {-1000, 0, -1000},
        {INT64_MIN, 0, -1000},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(dif_llq_bucket(row[i].v, 10, 0, 2, 10), row[i].bucket);
        assert_int_equal(label_llquantize(row[i].bucket, 10, 0, 2, 10), row[i].label);
    }
    /* low 3: the middle bin holds |v| < 1000; 20 steps of width 500 in [1000, 10000): 18 bins */
    assert_int_equal(dif_llq_nbuckets(10, 3, 3, 20), 18 * 2 + 3);
    assert_int_equal(dif_llq_bucket(999, 10, 3, 3, 20), 19);
    assert_int_equal(dif_llq_bucket(1499, 10, 3, 3, 20), 20);
    assert_int_equal(dif_llq_bucket(1500, 10, 3, 3, 20), 21);
    assert_int_equal(label_llquantize(21, 10, 3, 3, 20), 1500);
    assert_int_equal(dif_llq_nbuckets(10, 0, 2, 3), 0);  /* 3 does not divide 10 */
    assert_int_equal(dif_llq_nbuckets(10, 0, 2, 15), 0); /* 15 is no multiple of 10 */
    assert_int_equal(dif_llq_nbuckets(1, 0, 2, 1), 0);
    assert_int_equal(dif_llq_nbuckets(10, 0, 19, 10), 0); /* 10^20 does not fit */
    assert_int_equal(dif_llq_nbuckets(10, 3, 2, 10), 0);
    /* the largest bound there is */
    assert_int_equal(dif_llq_nbuckets(2, 0, 62, 2), 2 * 63 + 3);
    assert_int_equal(dif_llq_bucket(INT64_MIN, 2, 0, 62, 2), 0);
    assert_true(label_llquantize(0, 2, 0, 62, 2) == INT64_MIN);
}

/* Every value lies in the bin whose label it is not nearer to zero than, and the next bin starts
 * beyond it. */
static void llquantize_labels_bound_their_bins(void **state)
{
    (void)state;
    for (int64_t v = 0; v < 20000; v++) {
        unsigned b = dif_llq_bucket(v, 10, 1, 3, 20), n = dif_llq_nbuckets(10, 1, 3, 20);
        assert_true(label_llquantize(b, 10, 1, 3, 20) <= v);
        if (b + 1 < n)
            assert_true(v < label_llquantize(b + 1, 10, 1, 3, 20));
        assert_int_equal(dif_llq_bucket(-v, 10, 1, 3, 20), n - 1 - b);
    }
}

/* A program with a bit of everything. */
static void sample(struct build *b)
{
    build_init(b);
    uint32_t g = build_var(b, DIF_GLOBAL, int64, 0, NULL);
    const struct dif_type keys[] = {str, int32};
    uint32_t m = build_var(b, DIF_GLOBAL, int64, 2, keys);
    uint32_t a = build_agg(b, AGG_COUNT, 1, keys);
    uint32_t s = build_str(b, "hello");
    build_clause(b);
    build_op(b, OP3(LDARG, 1, 0, 3));
    build_op(b, OP3(TST, 1, 0, 0));
    build_op(b, dif_t(DIF_OP_BE, 14));
    b->clauses[0].npred = 3;
    build_op(b, OP3(RECB, 0, 0, 0));
    build_op(b, OPI(SETI, 2, 7));
    build_op(b, OPI(REC, 2, 0));
    build_action(b, ACT_TRACE, 4, int64);
    build_op(b, OPI(STGS, 2, g));
    build_op(b, OPI(SETS, 3, s));
    build_op(b, OP3(PUSHTR, 3, 0, 0));
    build_op(b, OP3(PUSHTV, 2, 0, 0));
    build_op(b, OPI(STGAA, 2, m));
    build_action(b, ACT_EXPR, 6, none);
    build_op(b, OP3(PUSHTR, 3, 0, 0));
    build_op(b, OPI(AGG, 0, a));
    build_action(b, ACT_AGG, 11, none);
    build_op(b, OP3(NOP, 0, 0, 0));
    build_end(b);
    /* bytes: a global, an element of an array, an index and a copy */
    uint32_t one = build_var(b, DIF_GLOBAL, bytes24, 0, NULL);
    uint32_t many = build_var(b, DIF_GLOBAL, bytes24, 1, &bytes24);
    build_clause(b);
    build_op(b, OPI(LDGS, 0, one));
    build_op(b, OPI(SETI, 1, 3));
    build_op(b, OPI(BOUND, 1, build_int(b, 4)));
    build_op(b, OP3(STW, 0, 1, 0));
    build_op(b, OP3(PUSHTV, 0, 0, 0));
    build_op(b, OPI(LDGAA, 2, many));
    build_op(b, OP3(COPY, 0, 2, 1));
    build_action(b, ACT_EXPR, 0, none);
    build_op(b, OP3(RECB, 0, 0, 0));
    build_op(b, OPI(REC, 0, 0));
    build_action(b, ACT_TRACEMEM, 7, bytes24);
    build_end(b);
}

static int verify(const struct dif_image *img)
{
    struct diags d;
    diags_init(&d);
    int err = dif_verify(img, &d);
    assert_int_equal(err != 0, d.errors != 0);
    diags_free(&d);
    return err;
}

static void image_survives_its_binary_form(void **state)
{
    (void)state;
    static struct build b;
    struct buf bytes = BUF_INIT, again = BUF_INIT, text = BUF_INIT, text2 = BUF_INIT;
    struct dif_image img;
    struct diags d;
    diags_init(&d);
    sample(&b);
    assert_int_equal(verify(&b.img), 0);
    assert_int_equal(dif_encode(&b.img, &bytes), 0);
    dif_image_init(&img);
    assert_int_equal(dif_decode(&img, bytes.data, bytes.len, &d), 0);
    assert_int_equal(verify(&img), 0);
    assert_int_equal(dif_encode(&img, &again), 0);
    assert_int_equal(again.len, bytes.len);
    assert_memory_equal(again.data, bytes.data, bytes.len);
    dif_disasm(&b.img, &text);
    dif_disasm(&img, &text2);
    assert_string_equal(buf_str(&text), buf_str(&text2));
    assert_non_null(strstr(buf_str(&text), "seti    %r2, 7"));
    dif_image_free(&img);
    buf_free(&bytes);
    buf_free(&again);
    buf_free(&text);
    buf_free(&text2);
    diags_free(&d);
}

/* Every shorter form, and every form with one byte changed, is refused or is still a sound image:
 * never a crash. */
static void damaged_images_are_refused_or_sound(void **state)
{
    (void)state;
    static struct build b;
    struct buf bytes = BUF_INIT;
    unsigned refused = 0, changed = 0;
    sample(&b);
    assert_int_equal(dif_encode(&b.img, &bytes), 0);
    for (size_t i = 0; i < bytes.len * 9; i++) {
        size_t n = i < bytes.len ? i : bytes.len;
        char *copy =
            malloc(n ? n : 1); /* of its own size, so that a sanitizer sees reads past the end */
        struct dif_image img;
        struct diags d;
        memcpy(copy, bytes.data, n);
        if (i >= bytes.len)
            copy[i % bytes.len] = (char)(copy[i % bytes.len] ^ (1 << (i / bytes.len - 1)));
        diags_init(&d);
        dif_image_init(&img);
        int err = dif_decode(&img, copy, n, &d);
        if (err == 0)
            err = dif_verify(&img, &d);
        if (i < bytes.len)
            assert_int_not_equal(err, 0);
        else
            changed++;
        refused += err != 0;
        struct buf text = BUF_INIT;
        if (err == 0)
            dif_disasm(&img, &text);
        buf_free(&text);
        dif_image_free(&img);
        diags_free(&d);
        free(copy);
    }
    assert_true(refused > bytes.len + changed / 3);
    buf_free(&bytes);
}

static void prelude(struct build *b)
{
    build_clause(b);
    build_op(b, OPI(SETI, 0, 1));
    build_op(b, OPI(SETI, 1, 1));
}

static void verifier_refuses(void **state)
{
    (void)state;
    const struct {
        const char *why;
        uint32_t code[6]; /* ends at 0; RET is added */
    } row[] = {
        {"an unknown instruction", {0xff000000}},
        {"a register that does not exist", {OP3(MOV, 16, 0, 0)}},
        {"a register that does not exist", {OP3(MOV, 0, 16, 0)}},
        {"a register that does not exist", {OP3(ADD, 0, 0, 16)}},
        {"a register that is read before it is set", {OP3(MOV, 0, 2, 0)}},
        {"a register that is read before it is set", {OPI(REC, 2, 0)}},
        {"a register that is read before it is set",
         {OPT(BE, 2), OPI(SETI, 2, 1), OP3(MOV, 0, 2, 0)}},
        {"a branch that does not go forward", {OP3(MOV, 0, 1, 0), OPT(BA, 0)}},
        {"a branch that does not go forward", {OPT(BA, 0)}},
        {"a branch that does not go forward", {OPT(BE, 7)}},
        {"an unreachable instruction", {OPT(BA, 2), OP3(MOV, 0, 1, 0)}},
        {"an integer that does not exist", {OPI(SETX, 0, 0)}},
        {"a string that does not exist", {OPI(SETS, 0, 9)}},
        {"an argument that does not exist", {OP3(LDARG, 0, 0, 10)}},
        {"a built-in variable", {OPI(LDB, 0, DIF_NBUILTINS)}},
        {"a variable that does not exist", {OPI(LDGS, 0, 9)}},
        {"a variable of the wrong scope", {OPI(LDTS, 0, 0)}},
        {"a variable of the wrong scope", {OPI(LDGS, 0, 1)}},
        {"a tuple that does not fit its use", {OPI(LDGAA, 0, 1)}},
        {"a tuple that does not fit its use",
         {OP3(PUSHTV, 0, 0, 0), OP3(PUSHTV, 0, 0, 0), OPI(LDGAA, 0, 1)}},
        {"a tuple that does not fit its use",
         {OP3(PUSHTR, 0, 0, 0), OP3(PUSHTV, 0, 0, 0), OP3(PUSHTV, 0, 0, 0), OPI(LDGAA, 0, 1)}},
        {"arithmetic on a variable that is not an integer", {OPI(ADDGS, 0, 2)}},
        {"arithmetic on a variable that is not an integer", {OPI(ADDGS, 0, 3)}},
        {"arithmetic on a variable that is not an integer", {OPI(ADDTS, 0, 4)}},
        {"arithmetic on a variable that is not an integer",
         {OP3(PUSHTV, 0, 0, 0), OPI(ADDTAA, 0, 5)}},
        {"arithmetic on a variable that is not an integer",
         {OP3(PUSHTV, 0, 0, 0), OPI(ADDGAA, 0, 6)}},
        {"an integer that does not exist", {OPI(BOUND, 0, 0)}},
        {"a register that is read before it is set", {OPI(BOUND, 2, 0)}},
        {"a register that is read before it is set", {OP3(COPY, 0, 1, 2)}},
        {"a register that does not exist", {OP3(COPY, 0, 1, 16)}},
        {"a register that is read before it is set", {OP3(STX, 2, 0, 0)}},
        {"a field that should be 0", {OP3(STB, 0, 1, 1)}},
        {"an unknown subroutine", {OPI(CALL, 0, 79)}},
        {"a string as a number", {OP3(PUSHTR, 0, 0, 0), OPI(CALL, 0, DIF_SUBR_alloca)}},
        {"an aggregation that does not exist", {OPI(AGG, 0, 1)}},
        {"a tuple that does not fit its use", {OPI(AGG, 0, 0)}},
        {"an unknown subroutine", {OPI(CALL, 0, DIF_NSUBRS)}},
        {"a wrong number of arguments", {OPI(CALL, 0, DIF_SUBR_copyinstr)}},
        {"a string as a number",
         {OP3(PUSHTR, 0, 0, 0), OP3(PUSHTR, 0, 0, 0), OPI(CALL, 0, DIF_SUBR_copyinstr)}},
        {"a record part out of order", {OPI(REC, 0, 0)}},
        {"a record that is not announced", {OP3(RECB, 0, 0, 0)}},
        {"an extension of an invalid size", {OP3(EXTS, 0, 0, 3)}},
        {"paths that meet with different tuples",
         {OPT(BE, 2), OP3(PUSHTV, 0, 0, 0), OP3(MOV, 0, 1, 0)}},
        {"a field that should be 0", {OP3(RET, 1, 0, 0)}},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        struct diags d;
        const struct dif_type keys[] = {str, int64};
        build_init(&b);
        build_var(&b, DIF_GLOBAL, int64, 0, NULL);
        build_var(&b, DIF_GLOBAL, int64, 2, keys);
        build_var(&b, DIF_GLOBAL, str, 0, NULL);
        build_var(&b, DIF_GLOBAL, bytes24, 0, NULL);
        build_var(&b, DIF_THREAD, str, 0, NULL);
        build_var(&b, DIF_THREAD, str, 1, &int64);
        build_var(&b, DIF_GLOBAL, str, 1, &int64);
        build_agg(&b, AGG_SUM, 1, keys);
        prelude(&b);
        for (int k = 0; row[i].code[k] != 0; k++)
            build_op(&b, row[i].code[k]);
        build_end(&b);
        b.clauses[0].records = false;
        diags_init(&d);
        assert_int_equal(dif_verify(&b.img, &d), ET_EVERIFY);
        if (strstr(d.list[0].text, row[i].why) == NULL)
            fail_msg("row %zu: %s, not %s", i, d.list[0].text, row[i].why);
        diags_free(&d);
    }
}

/* The first clause that is not sound is named, and no other. */
static void verifier_names_the_first(void **state)
{
    (void)state;
    static struct build b;
    struct diags d;
    build_init(&b);
    for (int i = 0; i < 3; i++) {
        build_clause(&b);
        if (i > 0)
            build_op(&b, OP3(MOV, 0, 2, 0));
        build_end(&b);
    }
    diags_init(&d);
    assert_int_equal(dif_verify(&b.img, &d), ET_EVERIFY);
    assert_int_equal(d.count, 1);
    assert_non_null(strstr(d.list[0].text, "clause 1, instruction 0"));
    diags_free(&d);
}

/* As many instructions as a clause may have, and one more. */
static void verifier_bounds_clauses(void **state)
{
    (void)state;
    static struct build b;
    static uint32_t code[DIF_CLAUSE_MAX + 1];
    for (uint32_t n = DIF_CLAUSE_MAX; n <= DIF_CLAUSE_MAX + 1; n++) {
        build_init(&b);
        build_clause(&b);
        for (uint32_t i = 0; i < n; i++)
            code[i] = i + 1 < n ? OPI(SETI, 0, 1) : OP3(RET, 0, 0, 0);
        b.img.code = code;
        b.img.ncode = b.clauses[0].ncode = n;
        assert_int_equal(verify(&b.img), n <= DIF_CLAUSE_MAX ? 0 : ET_EVERIFY);
    }
}

static void verifier_checks_records(void **state)
{
    (void)state;
    /* one part is announced; what the code writes: */
    const struct {
        uint32_t code[6];
        const char *why; /* NULL: sound */
    } row[] = {
        {{OP3(RECB, 0, 0, 0), OPI(REC, 0, 0)}, NULL},
        {{OPT(BE, 3), OP3(RECB, 0, 0, 0), OPI(REC, 0, 0)}, NULL}, /* all or nothing */
        {{OP3(RECB, 0, 0, 0)}, "a record that is left unfinished"},
        {{OP3(RECB, 0, 0, 0), OPI(REC, 0, 0), OPI(REC, 0, 1)}, "a record part out of order"},
        {{OP3(RECB, 0, 0, 0), OPI(REC, 0, 0), OPI(REC, 0, 0)}, "a record part out of order"},
        {{OP3(RECB, 0, 0, 0), OPT(BE, 3), OPI(REC, 0, 0)}, "a record that is left unfinished"},
        {{OP3(RECB, 0, 0, 0), OP3(RECB, 0, 0, 0), OPI(REC, 0, 0)}, "begun twice"},
        {{OP3(SPEC, 0, 0, 0), OP3(RECB, 0, 0, 0), OP3(DISCARD, 0, 0, 0), OPI(REC, 0, 0)}, NULL},
        {{OP3(COMMIT, 0, 0, 0), OP3(RECB, 0, 0, 0), OPI(REC, 0, 0)}, NULL},
        {{OP3(RECB, 0, 0, 0), OP3(SPEC, 0, 0, 0), OPI(REC, 0, 0)}, "in the middle of a record"},
        {{OP3(RECB, 0, 0, 0), OPI(REC, 0, 0), OP3(COMMIT, 0, 0, 0)}, "in the middle of a record"},
        {{OP3(SPEC, 2, 0, 0)}, "a register that is read before it is set"},
        {{OPT(BE, 2), OP3(RECB, 0, 0, 0), OP3(MOV, 0, 1, 0), OPI(REC, 0, 0)},
         "paths that meet with different"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        struct diags d;
        build_init(&b);
        prelude(&b);
        for (int k = 0; row[i].code[k] != 0; k++)
            build_op(&b, row[i].code[k]);
        build_action(&b, ACT_TRACE, 0, int64);
        build_end(&b);
        diags_init(&d);
        assert_int_equal(dif_verify(&b.img, &d), row[i].why == NULL ? 0 : ET_EVERIFY);
        if (row[i].why != NULL && strstr(d.list[0].text, row[i].why) == NULL)
            fail_msg("row %zu: %s, not %s", i, d.list[0].text, row[i].why);
        diags_free(&d);
    }
}

static void verifier_checks_sub_clauses(void **state)
{
    (void)state;
    /* two sub-clauses of one part each are announced; what the code writes: */
    const struct {
        uint32_t code[9];
        const char *why; /* NULL: sound */
    } row[] = {
        {{OPI(RECN, 0, 0), OPI(REC, 0, 0), OP3(RECE, 0, 0, 0), OPI(RECN, 0, 1), OPI(REC, 0, 1),
          OP3(RECE, 0, 0, 0)},
         NULL},
        {{OPT(BE, 4), OPI(RECN, 0, 1), OPI(REC, 0, 1), OP3(RECE, 0, 0, 0)}, NULL},
        {{OPT(BE, 5), OPI(RECN, 0, 0), OPI(REC, 0, 0), OP3(RECE, 0, 0, 0), OPT(BA, 8),
          OPI(RECN, 0, 1), OPI(REC, 0, 1), OP3(RECE, 0, 0, 0)},
         NULL},
        {{OPI(RECN, 0, 2)}, "not announced"},
        {{OP3(RECB, 0, 0, 0), OPI(REC, 0, 0)}, "not announced"},
        {{OPI(RECN, 0, 0), OPI(RECN, 0, 1)}, "begun in another"},
        {{OPI(RECN, 0, 1), OPI(REC, 0, 0)}, "a record part out of order"},
        {{OPI(RECN, 0, 0), OPI(REC, 0, 0), OPI(REC, 0, 1)}, "a record part out of order"},
        {{OPI(RECN, 0, 0), OP3(RECE, 0, 0, 0)}, "ended too early"},
        {{OP3(RECE, 0, 0, 0)}, "ended too early"},
        {{OPI(RECN, 0, 0), OPI(REC, 0, 0)}, "left unfinished"},
        {{OPI(RECN, 0, 0), OPT(BE, 3), OP3(MOV, 0, 1, 0), OPI(REC, 0, 0)}, "left unfinished"},
        {{OPT(BE, 3), OPI(RECN, 0, 0), OPI(REC, 0, 0), OP3(MOV, 0, 1, 0), OP3(RECE, 0, 0, 0)},
         "paths that meet with different"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        struct diags d;
        build_init(&b);
        prelude(&b);
        for (int k = 0; row[i].code[k] != 0; k++)
            build_op(&b, row[i].code[k]);
        build_action(&b, ACT_TRACE, 2, int64);
        b.actions[0].npc = 0;
        build_sub(&b, 1);
        build_action(&b, ACT_TRACE, 2, int64);
        build_sub(&b, 1);
        build_end(&b);
        diags_init(&d);
        int err = dif_verify(&b.img, &d);
        if (err != (row[i].why == NULL ? 0 : ET_EVERIFY))
            fail_msg("row %zu: %s", i, err == 0 ? "accepted" : d.list[0].text);
        if (row[i].why != NULL && strstr(d.list[0].text, row[i].why) == NULL)
            fail_msg("row %zu: %s, not %s", i, d.list[0].text, row[i].why);
        diags_free(&d);
    }
    static struct build b;
    build_init(&b);
    prelude(&b);
    for (uint32_t i = 0; i < 2; i++) {
        build_op(&b, OPI(RECN, 0, i));
        build_op(&b, OPI(REC, 0, i));
        build_action(&b, ACT_TRACE, 3 + 3 * i, int64);
        build_op(&b, OP3(RECE, 0, 0, 0));
        build_sub(&b, 1);
    }
    build_end(&b);
    struct buf bytes = BUF_INIT;
    struct dif_image copy;
    struct diags d;
    diags_init(&d);
    dif_image_init(&copy);
    assert_int_equal(verify(&b.img), 0);
    assert_int_equal(dif_encode(&b.img, &bytes), 0);
    assert_int_equal(dif_decode(&copy, bytes.data, bytes.len, &d), 0);
    assert_int_equal(copy.nsubs, 2);
    assert_memory_equal(copy.subs, b.subs, 2 * sizeof b.subs[0]);
    dif_image_free(&copy);
    buf_free(&bytes);
    diags_free(&d);
    const struct build good = b;
#define REFUSED(change)                                                                            \
    b = good;                                                                                      \
    change;                                                                                        \
    assert_int_equal(verify(&b.img), ET_EVERIFY)
    REFUSED(b.clauses[0].nsubs = 3);
    REFUSED(b.clauses[0].nsubs = 1);
    REFUSED(b.clauses[0].sub = 1);
    REFUSED(b.subs[0].nactions = 0);
    REFUSED(b.subs[0].nactions = 2);
    REFUSED(b.subs[0].nparts = 2);
    REFUSED(b.subs[1].action = 0);
    REFUSED(b.subs[1].nactions = UINT32_MAX);
    REFUSED(b.subs[1].part = 0);
    REFUSED(b.subs[1].part = 7);
#undef REFUSED
}

/* The last part of a clause that has sub-clauses is of none. */
static void verifier_checks_parts_behind_sub_clauses(void **state)
{
    (void)state;
    static struct build b;
    struct diags d;
    build_init(&b);
    prelude(&b);
    build_op(&b, OPI(RECN, 0, 0));
    build_op(&b, OPI(REC, 0, 0));
    build_action(&b, ACT_TRACE, 2, int64);
    build_op(&b, OP3(RECE, 0, 0, 0));
    build_sub(&b, 1);
    build_action(&b, ACT_TRACE, 5, int64);
    build_end(&b);
    diags_init(&d);
    assert_int_equal(dif_verify(&b.img, &d), ET_EVERIFY);
    assert_non_null(strstr(d.list[0].text, "parts that belong to no sub-clause"));
    diags_free(&d);
}

static void verifier_checks_tables(void **state)
{
    (void)state;
    static struct build b;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        sample(&b);                                                                                \
        change;                                                                                    \
        if (verify(&b.img) != ET_EVERIFY)                                                          \
            fail_msg("accepted: %s", #change);                                                     \
    } while (0)
    REFUSED(b.img.strsize = 1);
    REFUSED(b.img.strsize = 1 << 21);
    REFUSED(b.img.scratchsize = 1 << 25);
    REFUSED(b.img.builtins = UINT64_C(1) << 63);
    REFUSED(b.vars[0].type.size = 3);
    REFUSED(b.vars[0].type.kind = DIF_NKINDS);
    REFUSED(b.vars[0].scope = 4);
    REFUSED(b.vars[0].name = 99);
    REFUSED(b.vars[1].scope = DIF_CLAUSE);
    REFUSED(b.vars[1].keys.key[0].size = 257);
    REFUSED(b.aggs[0].func = 77);
    REFUSED(b.aggs[0].func = AGG_LQUANTIZE);
    REFUSED(b.parts[0].size = 0);
    REFUSED(b.actions[0].kind = 0);
    REFUSED(b.actions[0].kind = ACT_PRINTA);
    REFUSED(b.actions[0].nparts = 0);
    REFUSED(b.actions[0].part = 1);
    REFUSED(b.actions[1].pc = 0);
    REFUSED(b.actions[1].npc = 100);
    REFUSED(b.actions[1].format = 1000);
    REFUSED(b.clauses[0].ncode = 1000);
    REFUSED(b.clauses[0].ncode -= 1);
    REFUSED(b.clauses[0].npred = 15);
    REFUSED(b.clauses[0].records = false);
    REFUSED(b.clauses[0].name = 1000);
    REFUSED(b.clauses[0].nactions = 9);
    /* what the clauses have is theirs alone: the verifier's work is bounded by the image */
    REFUSED(b.clauses[1] = b.clauses[0]);
    REFUSED((b.clauses[1].code = b.clauses[0].code, b.clauses[1].ncode = b.img.ncode));
#undef REFUSED
}

/* Parts of actions that add up to those of the clause only modulo 2^32: each action's have to be
 * the clause's. */
static void verifier_adds_without_wrapping(void **state)
{
    (void)state;
    static struct build b;
    enum { MANY = 65538, MOST = 65535 };
    struct dif_action *actions = calloc(MANY, sizeof *actions);
    assert_non_null(actions);
    uint32_t part = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        actions[i] = (struct dif_action){.kind = ACT_PRINTF, .part = part};
        actions[i].nparts = i < MANY - 1 ? MOST : 1;
        actions[i].format = DIF_NO_STRING;
        part += actions[i].nparts;
    }
    assert_int_equal(part, 0);
    build_init(&b);
    build_clause(&b);
    build_end(&b);
    assert_int_equal(verify(&b.img), 0);
    b.img.actions = actions;
    b.img.nactions = b.clauses[0].nactions = MANY;
    assert_int_equal(verify(&b.img), ET_EVERIFY);
    free(actions);
}

/* What an image uses and a tier lacks: the name as D writes it, and the statement. */
static void kernel_names(void **state)
{
    (void)state;
    const struct {
        const char *name;
        uint32_t in;
        enum word_action kind;
        struct dif_type part, key;
    } row[] = {
        {"caller", OPI(LDB, 0, DIF_BUILTIN_caller), ACT_EXPR, {0, 0}, {0, 0}},
        {"uregs[]", OPI(LDBA, 0, DIF_BUILTIN_uregs), ACT_EXPR, {0, 0}, {0, 0}},
        {"chill()", OPI(CALL, 1, DIF_SUBR_chill), ACT_EXPR, {0, 0}, {0, 0}},
        {"stop()", dif_abc(DIF_OP_NOP, 0, 0, 0), ACT_STOP, {0, 0}, {0, 0}},
        {"sym()", OPI(REC, 0, 0), ACT_STACK, {DIF_SYM, 8}, {0, 0}},
        {"uaddr()", OPI(AGG, 0, 0), ACT_AGG, {0, 0}, {DIF_UADDR, 16}},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        struct dif_need need;
        struct diags d;
        diags_init(&d);
        build_init(&b);
        build_clause(&b);
        build_op(&b, OPI(SETI, 0, 1));
        if (row[i].part.kind != 0)
            build_op(&b, dif_abc(DIF_OP_RECB, 0, 0, 0));
        if (row[i].key.kind != 0)
            build_agg(&b, AGG_COUNT, 1, &row[i].key);
        uint32_t at = b.clauses[0].ncode;
        if (row[i].in >> 24 == DIF_OP_AGG || row[i].in >> 24 == DIF_OP_CALL)
            build_op(&b, dif_abc(DIF_OP_PUSHTV, 0, 0, 0));
        build_op(&b, row[i].in);
        build_action(&b, row[i].kind, at, row[i].part);
        b.actions[0].line = 7;
        b.actions[0].col = 3;
        build_end(&b);
        assert_int_equal(dif_verify(&b.img, &d), 0);
        assert_int_equal(dif_verify_for(&b.img, WORD_KERNEL, &d), 0);
        assert_int_equal(dif_verify_for(&b.img, WORD_VM, &d), ET_EUNSUP);
        assert_int_equal(dif_verify_for(&b.img, WORD_LOCAL, &d), ET_EUNSUP);
        assert_true(dif_lacks(&b.img, WORD_VM, &need));
        assert_string_equal(need.name, row[i].name);
        assert_int_equal(need.line, 7);
        assert_int_equal(need.col, 3);
        assert_int_equal(need.tiers, WORD_KERNEL);
        arena_free(&b.img.arena);
        diags_free(&d);
    }
}

/* raise() is the local tier's and the kernel's. Types that no clause uses count as well. */
static void names_of_some_tiers(void **state)
{
    (void)state;
    static struct build b;
    struct dif_need need;
    build_init(&b);
    build_clause(&b);
    build_op(&b, OPI(SETI, 0, 2));
    build_op(&b, dif_abc(DIF_OP_RECB, 0, 0, 0));
    build_op(&b, OPI(REC, 0, 0));
    build_action(&b, ACT_RAISE, 2, int32);
    build_end(&b);
    assert_false(dif_lacks(&b.img, WORD_LOCAL, &need));
    assert_true(dif_lacks(&b.img, WORD_VM, &need));
    assert_string_equal(need.name, "raise()");
    assert_string_equal(dif_tier_text(need.tiers), "the local tier");
    build_var(&b, DIF_GLOBAL, (struct dif_type){DIF_STACK, 80}, 0, NULL);
    assert_true(dif_lacks(&b.img, WORD_LOCAL, &need));
    assert_string_equal(need.name, "stack()");
    assert_int_equal(need.line, 0);
}

/* Names of every kind that lead to terms, in a predicate and elsewhere; and names that do not. */
static void what_leads_to_terms(void **state)
{
    (void)state;
    const struct {
        uint32_t in;
        const char *name; /* NULL: none */
    } row[] = {
        {OPI(LDB, 1, DIF_BUILTIN_retval), "retval"},
        {OPI(LDB, 1, DIF_BUILTIN_message), "message"},
        {OPI(LDB, 1, DIF_BUILTIN_reason), "reason"},
        {OPI(LDBA, 1, DIF_BUILTIN_argv), "argv[]"},
        {OPI(CALL, 1, DIF_SUBR_term_kind), "term_kind()"},
        {OPI(CALL, 1, DIF_SUBR_term_get), "term_get()"},
        {OPI(LDB, 1, DIF_BUILTIN_class), NULL},
        {OPI(LDB, 1, DIF_BUILTIN_timestamp), NULL},
        {OPI(LDBA, 1, DIF_BUILTIN_uregs), NULL},
        {OPI(CALL, 1, DIF_SUBR_copyinstr), NULL},
        {OPI(CALL, 1, DIF_SUBR_ustack), NULL},
        {OP3(LDARG, 1, 0, 2), NULL}, /* perhaps a handle, which shows nothing */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int predicate = 0; predicate < 2; predicate++) {
            static struct build b;
            struct dif_need need;
            build_init(&b);
            build_clause(&b);
            build_op(&b, row[i].in);
            if (predicate)
                b.clauses[0].npred = b.clauses[0].ncode;
            else
                build_action(&b, ACT_EXPR, 0, (struct dif_type){0});
            build_end(&b);
            assert_int_equal(dif_uses_terms(&b.img, &need), row[i].name != NULL);
            if (row[i].name)
                assert_string_equal(need.name, row[i].name);
            arena_free(&b.img.arena);
        }
}

/* Each clause by itself; the registers of an instruction are not its argument. */
static void arguments_that_a_clause_reads(void **state)
{
    (void)state;
    static struct build b;
    build_init(&b);
    build_clause(&b);
    build_op(&b, OPI(SETI, 0, 4));
    build_op(&b, OP3(LDARG, 1, 0, 3));
    build_end(&b);
    build_clause(&b);
    build_op(&b, OP3(LDARG, 3, 0, 0));
    build_end(&b);
    for (unsigned n = 0; n < 10; n++) {
        assert_int_equal(dif_reads_argument(&b.img, 0, n), n == 3);
        assert_int_equal(dif_reads_argument(&b.img, 1, n), n == 0);
    }
    arena_free(&b.img.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_names),
        cmocka_unit_test(arguments_that_a_clause_reads),
        cmocka_unit_test(names_of_some_tiers),
        cmocka_unit_test(what_leads_to_terms),
        cmocka_unit_test(quantize_buckets),
        cmocka_unit_test(lquantize_buckets),
        cmocka_unit_test(llquantize_buckets),
        cmocka_unit_test(llquantize_labels_bound_their_bins),
        cmocka_unit_test(image_survives_its_binary_form),
        cmocka_unit_test(damaged_images_are_refused_or_sound),
        cmocka_unit_test(verifier_refuses),
        cmocka_unit_test(verifier_adds_without_wrapping),
        cmocka_unit_test(verifier_names_the_first),
        cmocka_unit_test(verifier_bounds_clauses),
        cmocka_unit_test(verifier_checks_records),
        cmocka_unit_test(verifier_checks_sub_clauses),
        cmocka_unit_test(verifier_checks_parts_behind_sub_clauses),
        cmocka_unit_test(verifier_checks_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
