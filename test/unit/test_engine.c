/* test_engine.c - clauses run as the instructions say, faults are caught, counts are exact, and
 * threads do not lose anything. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/hash.h"
#include "dif_build.h"
#include "engine/dyn.h"
#include "engine/engine.h"
#include "engine/impl.h"
#include "util/buftext.h"
#include "engine_build.h"

#define OP3(op, a, b, c) dif_abc(DIF_OP_##op, a, b, c)
#define OPI(op, a, imm)  dif_ai(DIF_OP_##op, a, imm)
#define OPT(op, to)      dif_t(DIF_OP_##op, to)

static const struct dif_type int64 = {DIF_INT, 8}, int32 = {DIF_INT, 4}, str = {DIF_STRING, 256},
                             none = {0, 0};
static const struct engine_probe a_probe = {7, "prov", "mod", "func", "name"};

/* Returns how many keys a store has: the tags of its slots whose state is LIVE. */
static uint64_t dyn_count(const struct dyn *d)
{
    uint64_t n = 0;
    for (size_t i = 0; i < (size_t)d->nbuckets * 8; i++)
        n += (atomic_load(&d->tag[i]) & 3) == 2;
    return n;
}

static struct engine *engine_of(struct build *b, uint64_t size)
{
    struct engine_options opt = {.threads = 64,
                                 .bufsize = size,
                                 .aggsize = size,
                                 .dynvarsize = 1 << 20,
                                 .specsize = size,
                                 .nspec = 1,
                                 .pid = 42};
    return engine_build(&b->img, opt);
}

static uint64_t arg_is_its_number(struct engine_ctx *ctx, unsigned n)
{
    static const char text[] = "lists:map/2";
    if (n == 9) {
        engine_ctx_range(ctx, text, sizeof text);
        return (uint64_t)(uintptr_t)text;
    }
    return n;
}

static void fire(struct engine *e, uint32_t clause)
{
    struct engine_thread *t = engine_thread_self();
    struct engine_ctx ctx = {.probe = &a_probe, .arg = arg_is_its_number, .self = 1};
    struct engine_binding b = {5, clause};
    engine_enter(t);
    engine_fire(e, t, &ctx, &b, 1);
    engine_leave(t);
}

static void drain_all(struct engine *e, unsigned what, struct buf *out)
{
    static struct engine_mark m;
    engine_flip(e, what);
    engine_mark(&m);
    while (!engine_quiet(&m))
        ;
    while (!engine_drain(e, what, out->len + 5000, out))
        ;
}

static uint32_t u32(const char *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static uint64_t u64(const char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* Runs code whose last action traces register 0 as an int64; returns that, or the fault code plus
 * 1000. */
static uint64_t run(struct build *b, const uint32_t *code)
{
    struct buf out = BUF_INIT;
    build_clause(b);
    for (int k = 0; code[k] != 0; k++)
        build_op(b, code[k]);
    build_op(b, OP3(RECB, 0, 0, 0));
    build_op(b, OPI(REC, 0, 0));
    build_action(b, ACT_TRACE, 0, int64);
    build_end(b);
    struct engine *e = engine_of(b, 1 << 16);
    fire(e, b->img.nclauses - 1);
    drain_all(e, RECORD_PRINCIPAL, &out);
    assert_true(out.len >= 8 + 24 + 8);
    assert_int_equal(out.data[0], RECORD_PRINCIPAL);
    const char *rec = out.data + 8;
    bool fault = u32(rec + 4) == RECORD_EPID_FAULT;
    assert_int_equal(fault ? u32(rec + 24) : u32(rec + 4), 5);
    uint64_t v = fault ? 1000 + u32(rec + 24 + 12) : u64(rec + 24);
    buf_free(&out);
    engine_destroy(e);
    return v;
}

static void instructions(void **state)
{
    (void)state;
    const struct {
        uint32_t code[10];
        uint64_t value;
    } row[] = {
        {{OPI(SETI, 0, 0xffff)}, UINT64_MAX},
        {{OPI(SETX, 0, 0)}, 0x123456789abcdef0},
        {{OPI(SETI, 1, 6), OPI(SETI, 2, 7), OP3(MUL, 0, 1, 2)}, 42},
        {{OPI(SETI, 1, 0xfff9), OPI(SETI, 2, 2), OP3(SDIV, 0, 1, 2)}, (uint64_t)-3},
        {{OPI(SETI, 1, 0xfff9), OPI(SETI, 2, 2), OP3(SREM, 0, 1, 2)}, (uint64_t)-1},
        {{OPI(SETI, 1, 0xfff9), OPI(SETI, 2, 2), OP3(UDIV, 0, 1, 2)}, UINT64_MAX / 2 - 3},
        {{OPI(SETI, 1, 0xfff9), OPI(SETI, 2, 2), OP3(UREM, 0, 1, 2)}, 1},
        {{OPI(SETX, 1, 1), OPI(SETI, 2, 0xffff), OP3(SDIV, 0, 1, 2)}, (uint64_t)INT64_MIN},
        {{OPI(SETX, 1, 1), OPI(SETI, 2, 0xffff), OP3(SREM, 0, 1, 2)}, 0},
        {{OPI(SETI, 1, 1), OPI(SETI, 2, 0), OP3(SDIV, 0, 1, 2)}, 1000 + RECORD_FAULT_DIVZERO},
        {{OPI(SETI, 1, 1), OPI(SETI, 2, 0), OP3(UREM, 0, 1, 2)}, 1000 + RECORD_FAULT_DIVZERO},
        {{OPI(SETI, 1, 0xffff), OPI(SETI, 2, 65), OP3(SLL, 0, 1, 2)}, (uint64_t)-2},
        {{OPI(SETI, 1, 0xfffe), OPI(SETI, 2, 1), OP3(SRA, 0, 1, 2)}, UINT64_MAX},
        {{OPI(SETI, 1, 0xfffe), OPI(SETI, 2, 1), OP3(SRL, 0, 1, 2)}, INT64_MAX},
        {{OPI(SETI, 1, 0x1ff), OP3(EXTS, 0, 1, 1)}, UINT64_MAX},
        {{OPI(SETI, 1, 0x1ff), OP3(EXTU, 0, 1, 1)}, 0xff},
        {{OPI(SETI, 0, 0), OP3(NOT, 0, 0, 0)}, UINT64_MAX},
        {{OPI(SETI, 0, 1), OPI(SETI, 1, 0xffff), OP3(CMP, 1, 0, 0), OPT(BL, 5), OPI(SETI, 0, 9)},
         1},
        {{OPI(SETI, 0, 1), OPI(SETI, 1, 0xffff), OP3(CMP, 1, 0, 0), OPT(BLU, 5), OPI(SETI, 0, 9)},
         9},
        {{OPI(SETI, 0, 1), OPI(SETI, 1, 0xffff), OP3(CMP, 1, 0, 0), OPT(BGU, 5), OPI(SETI, 0, 9)},
         1},
        {{OPI(SETI, 0, 1), OPI(SETI, 2, 0), OP3(TST, 2, 0, 0), OPT(BE, 5), OPI(SETI, 0, 9)}, 1},
        {{OPI(SETI, 0, 1), OPI(SETI, 2, 0), OP3(TST, 2, 0, 0), OPT(BE, 5), OP3(NOT, 0, 0, 0),
          OP3(NOT, 0, 0, 0)},
         (uint64_t)-2},
        {{OPI(SETS, 1, 1), OPI(SETS, 2, 2), OP3(SCMP, 1, 2, 0), OPI(SETI, 0, 1), OPT(BL, 6),
          OPI(SETI, 0, 9)},
         1},
        {{OPI(SETS, 1, 1), OPI(SETI, 2, 0), OP3(SCMP, 1, 2, 0), OPI(SETI, 0, 1), OPT(BG, 6),
          OPI(SETI, 0, 9)},
         1}, /* against NULL */
        {{OP3(LDARG, 0, 0, 3)}, 3},
        {{OPI(LDB, 0, DIF_BUILTIN_pid)}, 42},
        {{OPI(LDB, 0, DIF_BUILTIN_id)}, 7},
        {{OPI(LDB, 0, DIF_BUILTIN_epid)}, 5},
        {{OPI(LDB, 1, DIF_BUILTIN_probefunc), OP3(LDUB, 0, 1, 0)}, 'f'},
        {{OP3(LDARG, 1, 0, 9), OP3(LDSB, 0, 1, 0)}, 'l'},
        {{OP3(LDARG, 1, 0, 9), OP3(PUSHTV, 1, 0, 0), OPI(CALL, 1, DIF_SUBR_strlen),
          OP3(MOV, 0, 1, 0)},
         11},
        {{OP3(LDARG, 1, 0, 9), OPI(SETI, 2, 6), OP3(PUSHTV, 1, 0, 0), OP3(PUSHTV, 2, 0, 0),
          OPI(CALL, 1, DIF_SUBR_copyinstr), OP3(PUSHTR, 1, 0, 0), OPI(CALL, 0, DIF_SUBR_strlen)},
         5},
        {{OPI(SETS, 1, 1), OPI(SETS, 2, 2), OP3(PUSHTR, 1, 0, 0), OP3(PUSHTR, 2, 0, 0),
          OPI(CALL, 1, DIF_SUBR_strjoin), OP3(PUSHTR, 1, 0, 0), OPI(CALL, 0, DIF_SUBR_strlen)},
         7},
        {{OPI(SETI, 1, 0), OP3(LDUB, 0, 1, 0)}, 1000 + RECORD_FAULT_BADADDR},
        {{OPI(SETX, 1, 0), OP3(LDUB, 0, 1, 0)}, 1000 + RECORD_FAULT_BADADDR},
        {{OPI(SETI, 1, 1), OPI(SETS, 0, 1), OP3(ADD, 0, 0, 1), OP3(LDX, 0, 0, 0)},
         1000 + RECORD_FAULT_BADALIGN},
        {{OPI(SETX, 1, 0), OP3(PUSHTV, 1, 0, 0), OPI(CALL, 0, DIF_SUBR_copyinstr)},
         1000 + RECORD_FAULT_BADADDR},
        {{OPI(SETI, 0, 5), OPI(STGS, 0, 0), OPI(ADDGS, 0, 0), OPI(LDGS, 0, 0)}, 10},
        {{OPI(LDTS, 0, 2)}, 0},
        {{OPI(SETI, 0, 8), OPI(STTS, 0, 2), OPI(ADDTS, 0, 2), OPI(LDTS, 0, 2)}, 16},
        {{OPI(SETI, 0, 8), OPI(STTS, 0, 2), OP3(NOT, 0, 0, 0), OPI(SETI, 0, 0), OPI(STTS, 0, 2),
          OPI(LDTS, 0, 2)},
         0},
        {{OPI(SETS, 1, 1), OP3(PUSHTR, 1, 0, 0), OPI(LDTS, 2, 2), OPI(STTS, 1, 2), OPI(ADDTS, 1, 2),
          OPI(CALL, 0, DIF_SUBR_strlen)},
         3}, /* a thread-local scalar leaves the tuple alone */
        {{OPI(SETI, 0, 8), OPI(STLS, 0, 3), OPI(SETI, 0, 0), OPI(LDLS, 0, 3)}, 8},
        {{OPI(SETS, 1, 1), OPI(STGS, 1, 1), OPI(LDGS, 1, 1), OP3(PUSHTR, 1, 0, 0),
          OPI(CALL, 0, DIF_SUBR_strlen)},
         3},
        {{OPI(LDGS, 1, 1), OP3(PUSHTR, 1, 0, 0), OPI(CALL, 0, DIF_SUBR_strlen)},
         0}, /* never set: "" */
        {{OPI(SETI, 1, 0), OPI(STGS, 1, 1), OPI(LDGS, 1, 1), OP3(PUSHTR, 1, 0, 0),
          OPI(CALL, 0, DIF_SUBR_strlen)},
         1000 + RECORD_FAULT_BADADDR}, /* set to NULL */
        {{OPI(SETI, 0, 300), OPI(STGS, 0, 4), OPI(LDGS, 0, 4)},
         44}, /* a one-byte unsigned variable */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        build_init(&b);
        build_int(&b, 0x123456789abcdef0);
        build_int(&b, (uint64_t)INT64_MIN);
        build_str(&b, "abc");
        build_str(&b, "abcd");
        build_var(&b, DIF_GLOBAL, int64, 0, NULL);
        build_var(&b, DIF_GLOBAL, str, 0, NULL);
        build_var(&b, DIF_THREAD, int64, 0, NULL);
        build_var(&b, DIF_CLAUSE, int64, 0, NULL);
        build_var(&b, DIF_GLOBAL, (struct dif_type){DIF_UINT, 1}, 0, NULL);
        uint64_t v = run(&b, row[i].code);
        if (v != row[i].value)
            fail_msg("row %zu: %llx, not %llx", i, (unsigned long long)v,
                     (unsigned long long)row[i].value);
    }
}

/* Structs and arrays, and what a program may touch: row[i].value, or 1000 and a fault. Variable 0
 * is 16 bytes of a global, 1 of a thread-local, 2 of the clause. */
static void memory(void **state)
{
    (void)state;
#define TAKE(r, n) OPI(SETI, r, n), OP3(PUSHTV, r, 0, 0), OPI(CALL, r, DIF_SUBR_alloca)
    const struct {
        uint32_t code[16];
        uint64_t value;
    } row[] = {
        {{OPI(LDGS, 1, 0), OP3(LDX, 0, 1, 0)}, 0},
        {{OPI(LDGS, 1, 0), OPI(SETI, 2, 0x1234), OP3(STH, 1, 2, 0), OP3(LDUB, 0, 1, 0)}, 0x34},
        {{OPI(LDGS, 1, 0), OPI(SETI, 2, 0xffff), OP3(STW, 1, 2, 0), OP3(LDX, 0, 1, 0)}, UINT32_MAX},
        {{OPI(LDGS, 1, 0), OPI(SETI, 2, 0xffff), OP3(STX, 1, 2, 0), OP3(LDSB, 0, 1, 0)},
         UINT64_MAX},
        {{OPI(LDGS, 1, 0), OPI(SETI, 2, 1), OP3(ADD, 1, 1, 2), OP3(STB, 1, 2, 0), OPI(LDGS, 1, 0),
          OP3(LDX, 0, 1, 0)},
         0x100},
        {{OPI(LDGS, 1, 0), OPI(SETI, 2, 1), OP3(ADD, 1, 1, 2), OP3(STH, 1, 2, 0),
          OP3(MOV, 0, 1, 0)},
         1000 + RECORD_FAULT_BADALIGN},
        /* before and behind the variables, the string table, a probe argument, NULL */
        {{OPI(LDGS, 1, 0), OPI(SETI, 2, 8), OP3(SUB, 1, 1, 2), OP3(LDX, 0, 1, 0)},
         1000 + RECORD_FAULT_BADADDR},
        {{OPI(LDGS, 1, 0), OPI(SETI, 2, 16), OP3(ADD, 1, 1, 2), OP3(LDX, 0, 1, 0)},
         1000 + RECORD_FAULT_BADADDR},
        {{OPI(LDLS, 1, 2), OPI(SETI, 2, 16), OP3(ADD, 1, 1, 2), OP3(STX, 1, 2, 0),
          OP3(MOV, 0, 1, 0)},
         1000 + RECORD_FAULT_BADADDR},
        {{OPI(SETS, 1, 1), OP3(LDUB, 2, 1, 0), OP3(STB, 1, 2, 0), OP3(MOV, 0, 1, 0)},
         1000 + RECORD_FAULT_BADADDR},
        {{OP3(LDARG, 1, 0, 9), OP3(LDUB, 2, 1, 0), OP3(STB, 1, 2, 0), OP3(MOV, 0, 1, 0)},
         1000 + RECORD_FAULT_BADADDR},
        {{OPI(SETI, 1, 0), OP3(STX, 1, 1, 0), OP3(MOV, 0, 1, 0)}, 1000 + RECORD_FAULT_BADADDR},
        /* thread-locals: a copy, zeros where there is none; stored as a whole; 0 frees */
        {{OPI(LDTS, 1, 1), OP3(LDX, 0, 1, 0)}, 0},
        {{OPI(LDTS, 1, 1), OPI(SETI, 2, 7), OP3(STX, 1, 2, 0), OPI(LDTS, 3, 1), OP3(LDX, 0, 3, 0)},
         0},
        {{OPI(LDTS, 1, 1), OPI(SETI, 2, 7), OP3(STX, 1, 2, 0), OPI(STTS, 1, 1), OPI(LDTS, 3, 1),
          OP3(LDX, 0, 3, 0)},
         7},
        {{OPI(LDTS, 1, 1), OPI(SETI, 2, 7), OP3(STX, 1, 2, 0), OPI(STTS, 1, 1), OPI(SETI, 3, 0),
          OPI(STTS, 3, 1), OPI(LDTS, 3, 1), OP3(LDX, 0, 3, 0)},
         0},
        {{OPI(SETI, 1, 8), OPI(STTS, 1, 1), OP3(MOV, 0, 1, 0)}, 1000 + RECORD_FAULT_BADADDR},
        /* whole structs */
        {{OPI(LDLS, 1, 2), OPI(SETI, 2, 9), OP3(STX, 1, 2, 0), OPI(STGS, 1, 0), OPI(LDGS, 3, 0),
          OP3(LDX, 0, 3, 0)},
         9},
        {{OPI(SETI, 1, 0), OPI(STGS, 1, 0), OP3(MOV, 0, 1, 0)}, 1000 + RECORD_FAULT_BADADDR},
        {{OPI(LDLS, 1, 2), OPI(SETI, 2, 9), OP3(STX, 1, 2, 0), OPI(LDGS, 3, 0), OPI(SETI, 4, 8),
          OP3(COPY, 3, 1, 4), OP3(LDX, 0, 3, 0)},
         9},
        {{OPI(LDLS, 1, 2), OPI(LDGS, 3, 0), OPI(SETI, 4, 17), OP3(COPY, 3, 1, 4),
          OP3(MOV, 0, 1, 0)},
         1000 + RECORD_FAULT_BADADDR},
        /* indices */
        {{OPI(SETI, 0, 3), OPI(BOUND, 0, 0)}, 3},
        {{OPI(SETI, 0, 4), OPI(BOUND, 0, 0)}, 1000 + RECORD_FAULT_BADINDEX},
        {{OPI(SETI, 0, 0xffff), OPI(BOUND, 0, 0)}, 1000 + RECORD_FAULT_BADINDEX},
        /* alloca: all of it, more of it, twice */
        {{TAKE(1, 256), OPI(SETI, 2, 5), OP3(STX, 1, 2, 0), OP3(LDX, 0, 1, 0)}, 5},
        {{TAKE(1, 257), OP3(MOV, 0, 1, 0)}, 1000 + RECORD_FAULT_NOSCRATCH},
        {{TAKE(1, 0xffff), OP3(MOV, 0, 1, 0)}, 1000 + RECORD_FAULT_NOSCRATCH},
        {{TAKE(1, 249), TAKE(2, 1), OP3(MOV, 0, 1, 0)}, 1000 + RECORD_FAULT_NOSCRATCH},
        {{TAKE(1, 8), OPI(SETI, 2, 8), OP3(ADD, 1, 1, 2), OP3(LDX, 0, 1, 0)},
         1000 + RECORD_FAULT_BADADDR},
        /* what was known of a string ends with a store: "abc", then "a" */
        {{TAKE(1, 8), OPI(SETX, 2, 1), OP3(STW, 1, 2, 0), OP3(PUSHTV, 1, 0, 0),
          OPI(CALL, 3, DIF_SUBR_strlen), OP3(EXTS, 2, 2, 1), OP3(STW, 1, 2, 0),
          OP3(PUSHTV, 1, 0, 0), OPI(CALL, 0, DIF_SUBR_strlen)},
         1},
        /* a string that lacks its NUL ends with its array */
        {{OPI(LDLS, 1, 2), OPI(SETX, 2, 1), OP3(STW, 1, 2, 0), OPI(SETI, 3, 2),
          OP3(PUSHTV, 1, 0, 0), OP3(PUSHTV, 3, 0, 0), OPI(CALL, 1, DIF_SUBR_strndup),
          OP3(PUSHTR, 1, 0, 0), OPI(CALL, 0, DIF_SUBR_strlen)},
         2},
        /* bcopy and copyin */
        {{TAKE(1, 8), OPI(SETS, 2, 1), OPI(SETI, 3, 4), OP3(PUSHTR, 2, 0, 0), OP3(PUSHTV, 1, 0, 0),
          OP3(PUSHTV, 3, 0, 0), OPI(CALL, 4, DIF_SUBR_bcopy), OP3(LDUW, 0, 1, 0)},
         0x636261},
        {{TAKE(1, 8), OPI(SETS, 2, 1), OPI(SETI, 3, 0xffff), OP3(PUSHTR, 2, 0, 0),
          OP3(PUSHTV, 1, 0, 0), OP3(PUSHTV, 3, 0, 0), OPI(CALL, 0, DIF_SUBR_bcopy)},
         1000 + RECORD_FAULT_BADSIZE},
        {{TAKE(1, 8), OPI(SETS, 2, 1), OPI(SETI, 3, 4), OP3(PUSHTV, 1, 0, 0), OP3(PUSHTR, 2, 0, 0),
          OP3(PUSHTV, 3, 0, 0), OPI(CALL, 0, DIF_SUBR_bcopy)},
         1000 + RECORD_FAULT_BADADDR},
        {{OP3(LDARG, 1, 0, 9), OPI(SETI, 2, 4), OP3(PUSHTV, 1, 0, 0), OP3(PUSHTV, 2, 0, 0),
          OPI(CALL, 1, DIF_SUBR_copyin), OP3(LDUW, 0, 1, 0)},
         0x7473696c},
        {{OP3(LDARG, 1, 0, 9), OPI(SETI, 2, 13), OP3(PUSHTV, 1, 0, 0), OP3(PUSHTV, 2, 0, 0),
          OPI(CALL, 0, DIF_SUBR_copyin)},
         1000 + RECORD_FAULT_BADADDR},
        {{OP3(LDARG, 1, 0, 9), OPI(SETI, 2, 257), OP3(PUSHTV, 1, 0, 0), OP3(PUSHTV, 2, 0, 0),
          OPI(CALL, 0, DIF_SUBR_copyin)},
         1000 + RECORD_FAULT_NOSCRATCH},
    };
    const struct dif_type bytes16 = {DIF_BYTES, 16};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct build b;
        build_init(&b);
        build_int(&b, 4);
        build_int(&b, 0x636261);
        build_str(&b, "abc");
        build_var(&b, DIF_GLOBAL, bytes16, 0, NULL);
        build_var(&b, DIF_THREAD, bytes16, 0, NULL);
        build_var(&b, DIF_CLAUSE, bytes16, 0, NULL);
        uint64_t v = run(&b, row[i].code);
        if (v != row[i].value)
            fail_msg("row %zu: %llx, not %llx", i, (unsigned long long)v,
                     (unsigned long long)row[i].value);
    }
#undef TAKE
}

/* m["k", 7] = 5; m["k", 7] += 5; the value; then 0 frees it. */
static void associative_arrays(void **state)
{
    (void)state;
    static struct build b;
    const struct dif_type keys[] = {str, int32};
    build_init(&b);
    uint32_t k = build_str(&b, "k"), m = build_var(&b, DIF_GLOBAL, int64, 2, keys);
#define KEY OPI(SETS, 1, k), OPI(SETI, 2, 7), OP3(PUSHTR, 1, 0, 0), OP3(PUSHTV, 2, 0, 0)
    const uint32_t code[] = {OPI(SETI, 0, 5),   KEY, OPI(STGAA, 0, m), KEY,
                             OPI(ADDGAA, 0, m), KEY, OPI(LDGAA, 0, m), 0};
    assert_int_equal(run(&b, code), 10);
    build_init(&b);
    build_str(&b, "k");
    build_var(&b, DIF_GLOBAL, int64, 2, keys);
    const uint32_t freed[] = {OPI(SETI, 0, 5),
                              OPI(SETI, 3, 0),
                              KEY,
                              OPI(STGAA, 0, m),
                              KEY,
                              OPI(STGAA, 3, m),
                              KEY,
                              OPI(LDGAA, 0, m),
                              0};
    assert_int_equal(run(&b, freed), 0);
#undef KEY
}

/* Each store or addition beyond the room for dynamic variables is one drop. It takes the rest of
 * the clause and the record with it, and is no error. */
static void room_ends(uint32_t op)
{
    enum { FIRED = 1000 };
    static struct build b;
    struct record_counts c;
    build_init(&b);
    uint32_t sum = build_agg(&b, AGG_SUM, 0, NULL);
    uint32_t last = build_var(&b, DIF_GLOBAL, int64, 0, NULL),
             slot = build_var(&b, DIF_GLOBAL, int64, 1, &int64);
    build_clause(&b);
    build_op(&b, OP3(RECB, 0, 0, 0));
    build_op(&b, OPI(SETI, 1, 1));
    build_op(&b, OPI(ADDGS, 1, last));
    build_op(&b, OPI(REC, 1, 0));
    build_action(&b, ACT_TRACE, 1, int64);
    build_op(&b, OP3(PUSHTV, 1, 0, 0)); /* a key of its own each time */
    build_op(&b, OPI(SETI, 2, 1));
    build_op(&b, dif_ai(op, 2, slot));
    build_action(&b, ACT_EXPR, 4, none);
    build_op(&b, OPI(SETI, 2, 1));
    build_op(&b, OP3(PUSHTV, 2, 0, 0));
    build_op(&b, OPI(AGG, 0, sum));
    build_action(&b, ACT_AGG, 7, none);
    build_end(&b);
    struct engine_options opt = {
        .threads = 64, .bufsize = 1 << 20, .aggsize = 1 << 16, .dynvarsize = 8 << 10, .pid = 42};
    struct engine *e = engine_build(&b.img, opt);
    fire(e, 0);
    engine_counts(e, &c);
    assert_int_equal(c.recorded, 1); /* there is room at first */
    for (int i = 1; i < FIRED; i++)
        fire(e, 0);
    engine_counts(e, &c);
    assert_int_equal(c.fired, FIRED);
    assert_in_range(c.recorded, 2, FIRED - 1);
    assert_int_equal(c.updates, c.recorded);
    assert_int_equal(c.drop[RECORD_DROP_DYNAMIC], FIRED - c.recorded);
    assert_int_equal(c.errors, 0);
    engine_destroy(e);
}

static void room_for_dynamic_variables_ends(void **state)
{
    (void)state;
    room_ends(DIF_OP_STGAA);
    room_ends(DIF_OP_ADDGAA);
}

static void fault_says_where(void **state)
{
    (void)state;
    static struct build b;
    struct buf out = BUF_INIT;
    build_init(&b);
    build_var(&b, DIF_GLOBAL, int64, 0, NULL);
    build_clause(&b);
    build_op(&b, OPI(SETI, 0, 1));
    build_op(&b, OPI(STGS, 0, 0));
    build_action(&b, ACT_EXPR, 0, none);
    build_op(&b, OP3(RECB, 0, 0, 0));
    build_op(&b, OPI(SETX, 1, build_int(&b, 0xbad)));
    build_op(&b, OP3(LDUB, 0, 1, 0));
    build_op(&b, OPI(REC, 0, 0));
    build_action(&b, ACT_TRACE, 3, int64);
    build_end(&b);
    struct engine *e = engine_of(&b, 1 << 16);
    struct record_counts c;
    fire(e, 0);
    drain_all(e, RECORD_PRINCIPAL, &out);
    const char *rec = out.data + 8;
    assert_int_equal(u32(rec), 48);
    assert_int_equal(u32(rec + 4), RECORD_EPID_FAULT);
    assert_int_equal(u32(rec + 24), 5); /* epid */
    assert_int_equal(u32(rec + 28), 2); /* second action */
    assert_int_equal(u32(rec + 32), 4); /* its second instruction */
    assert_int_equal(u32(rec + 36), RECORD_FAULT_BADADDR);
    assert_int_equal(u64(rec + 40), 0xbad);
    engine_counts(e, &c);
    assert_int_equal(c.errors, 1);
    assert_int_equal(c.recorded, 0);
    buf_free(&out);
    engine_destroy(e);
}

/* A clause that counts by key, sums and records; fired from several threads while another flips and
 * drains. */
enum { THREADS = 4, ROUNDS = 40000 };

static void counting_program(struct build *b)
{
    build_init(b);
    uint32_t count = build_agg(b, AGG_COUNT, 1, &str), sum = build_agg(b, AGG_SUM, 0, NULL);
    uint32_t total = build_var(b, DIF_GLOBAL, int64, 0, NULL),
             slot = build_var(b, DIF_GLOBAL, int64, 1, &str);
    build_clause(b);
    build_op(b, OP3(RECB, 0, 0, 0));
    build_op(b, OP3(LDARG, 1, 0, 9));
    build_op(b, OPI(SETI, 2, 3));
    build_op(b, OPI(REC, 2, 0));
    build_action(b, ACT_TRACE, 1, int64);
    build_op(b, OP3(PUSHTR, 1, 0, 0));
    build_op(b, OPI(AGG, 0, count));
    build_action(b, ACT_AGG, 4, none);
    build_op(b, OP3(PUSHTV, 2, 0, 0));
    build_op(b, OPI(AGG, 0, sum));
    build_action(b, ACT_AGG, 6, none);
    build_op(b, OPI(SETI, 3, 1));
    build_op(b, OPI(ADDGS, 3, total));
    build_op(b, OPI(SETI, 3, 1));
    build_op(b, OP3(PUSHTR, 1, 0, 0));
    build_op(b, OPI(ADDGAA, 3, slot));
    build_action(b, ACT_EXPR, 8, none);
    build_end(b);
    build_clause(b); /* shows the totals */
    build_op(b, OP3(RECB, 0, 0, 0));
    build_op(b, OPI(LDGS, 0, total));
    build_op(b, OPI(REC, 0, 0));
    build_action(b, ACT_TRACE, 1, int64);
    build_op(b, OP3(LDARG, 1, 0, 9));
    build_op(b, OP3(PUSHTR, 1, 0, 0));
    build_op(b, OPI(LDGAA, 0, slot));
    build_op(b, OPI(REC, 0, 1));
    build_action(b, ACT_TRACE, 3, int64);
    build_end(b);
}

static void *fire_many(void *e)
{
    for (int i = 0; i < ROUNDS; i++)
        fire(e, 0);
    return NULL;
}

static void read_totals(const struct buf *out, uint64_t *records, uint64_t *value)
{
    const char *p = out->data, *end = out->data + out->len;
    while (p < end) {
        unsigned kind = (unsigned char)p[0];
        const char *r = p + 8, *stop = r + u32(p + 4);
        for (; r < stop; r += u32(r)) {
            if (kind == RECORD_PRINCIPAL)
                ++*records;
            else
                value[u32(r + 4)] += u64(r + 16);
        }
        p = stop;
    }
}

static void threads_lose_nothing(void **state)
{
    (void)state;
    static struct build b;
    counting_program(&b);
    struct engine *e = engine_of(&b, 64 << 10); /* small, so that records drop */
    pthread_t thread[THREADS];
    uint64_t records = 0, value[2] = {0, 0};
    struct buf out = BUF_INIT;
    struct record_counts c;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, fire_many, e), 0);
    do {
        buf_reset(&out);
        drain_all(e, RECORD_PRINCIPAL | RECORD_AGGS, &out);
        read_totals(&out, &records, value);
        engine_counts(e, &c);
    } while (c.fired < THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++) { /* both halves */
        buf_reset(&out);
        drain_all(e, RECORD_PRINCIPAL | RECORD_AGGS, &out);
        read_totals(&out, &records, value);
    }
    engine_counts(e, &c);
    assert_int_equal(c.fired, THREADS * ROUNDS);
    assert_int_equal(records, c.recorded);
    /* A record without room ends its clause at once; a dynamic variable that others are busy with
     * ends it at the last statement, behind the aggregations and the global. */
    uint64_t ran = c.recorded + c.drop[RECORD_DROP_DYNAMIC];
    assert_int_equal(ran + c.drop[RECORD_DROP_PRINCIPAL], c.fired);
    assert_int_equal(c.updates, ran * 2);
    assert_int_equal(value[0], ran);
    assert_int_equal(value[1], ran * 3);
    assert_false(engine_pending(e, RECORD_PRINCIPAL | RECORD_AGGS));
    fire(e, 1); /* global and associative sums, each added to by all threads */
    buf_reset(&out);
    drain_all(e, RECORD_PRINCIPAL, &out);
    assert_int_equal(u64(out.data + 8 + 24), ran);
    assert_int_equal(u64(out.data + 8 + 32), c.recorded);
    buf_free(&out);
    engine_destroy(e);
}

static void full_table_counts_drops(void **state)
{
    (void)state;
    static struct build b;
    build_init(&b);
    build_agg(&b, AGG_QUANTIZE, 1, &int64);
    build_var(&b, DIF_GLOBAL, int64, 0, NULL);
    build_clause(&b);
    build_op(&b, OPI(SETI, 0, 1));
    build_op(&b, OPI(ADDGS, 0, 0)); /* a new key each time */
    build_op(&b, OP3(PUSHTV, 0, 0, 0));
    build_op(&b, OP3(PUSHTV, 0, 0, 0));
    build_op(&b, OPI(SETI, 1, 1));
    build_op(&b, OP3(PUSHTV, 1, 0, 0));
    build_op(&b, OPI(AGG, 0, 0));
    build_action(&b, ACT_AGG, 0, none);
    build_end(&b);
    struct engine *e = engine_of(&b, 64 << 10);
    struct record_counts c;
    struct buf out = BUF_INIT;
    for (int i = 0; i < 1000; i++)
        fire(e, 0);
    engine_counts(e, &c);
    assert_int_equal(c.updates + c.drop[RECORD_DROP_AGGREGATION], 1000);
    assert_in_range(c.updates, 40, 64); /* of 1,040 bytes each */
    drain_all(e, RECORD_AGGS, &out);
    fire(e, 0); /* room again */
    uint64_t before = c.updates;
    engine_counts(e, &c);
    assert_int_equal(c.updates, before + 1);
    buf_free(&out);
    engine_destroy(e);
}

static uint64_t key_arg; /* what arg0 is */

static uint64_t arg_is_key(struct engine_ctx *ctx, unsigned n)
{
    (void)ctx;
    (void)n;
    return key_arg;
}

/* Keys that all belong into one cell of the table's index: the one that finds 1024 and more there
 * is dropped, instead of looking at ever more. */
static void keys_that_meet(void **state)
{
    (void)state;
    enum { SIZE = 128 << 10, CELLS = 2048, LOOKS = 1024 };
    static struct build b;
    struct record_counts c;
    build_init(&b);
    build_agg(&b, AGG_COUNT, 1, &int64);
    build_clause(&b);
    build_op(&b, OP3(LDARG, 1, 0, 0));
    build_op(&b, OP3(PUSHTV, 1, 0, 0));
    build_op(&b, OPI(AGG, 0, 0));
    build_action(&b, ACT_AGG, 0, none);
    build_end(&b);
    struct engine *e = engine_of(&b, SIZE);
    struct engine_thread *t = engine_thread_self();
    const struct engine_binding bind = {5, 0};
    uint32_t found = 0;
    for (key_arg = 0; found < LOOKS + 10; key_arg++) {
        uint64_t hash = hash_mix(hash_bytes(&key_arg, sizeof key_arg), 0x9e3779b97f4a7c15u);
        if (hash % CELLS != 5)
            continue;
        struct engine_ctx ctx = {.probe = &a_probe, .arg = arg_is_key};
        engine_enter(t);
        engine_fire(e, t, &ctx, &bind, 1);
        engine_leave(t);
        found++;
    }
    engine_counts(e, &c);
    assert_int_equal(c.updates, LOOKS + 1);
    assert_int_equal(c.drop[RECORD_DROP_AGGREGATION], 9);
    engine_destroy(e);
}

/* A quarter of the index stays free, so that keys which are not there are found out soon. */
static void index_keeps_room(void **state)
{
    (void)state;
    enum { SIZE = 64 << 10, CELLS = SIZE / 8 / sizeof(uint64_t) };
    static struct build b;
    struct record_counts c;
    build_init(&b);
    build_agg(&b, AGG_COUNT, 1, &int64);
    build_var(&b, DIF_GLOBAL, int64, 0, NULL);
    build_clause(&b);
    build_op(&b, OPI(SETI, 0, 1));
    build_op(&b, OPI(ADDGS, 0, 0)); /* a new key each time */
    build_op(&b, OP3(PUSHTV, 0, 0, 0));
    build_op(&b, OPI(AGG, 0, 0));
    build_action(&b, ACT_AGG, 0, none);
    build_end(&b);
    struct engine *e = engine_of(&b, SIZE);
    for (int i = 0; i < 2 * CELLS; i++)
        fire(e, 0);
    engine_counts(e, &c);
    assert_int_equal(c.updates, CELLS / 4 * 3);
    assert_int_equal(c.drop[RECORD_DROP_AGGREGATION], 2 * CELLS - CELLS / 4 * 3);
    engine_destroy(e);
}

/* A table whose index is so large that its pages are given back instead of written: after it was
 * read, nothing of it is left, neither in whole pages nor before or behind them, so that a key
 * that comes again is a new entry. In both halves, since they begin at different places of a page.
 */
static void large_table_is_emptied(void **state)
{
    (void)state;
    enum { SIZE = 32 << 20, CELLS = SIZE / 8 / sizeof(uint64_t), KEYS = 3 };
    static const uint32_t cell[KEYS] = {0, CELLS / 2, CELLS - 1};
    static struct build b;
    uint64_t key[KEYS];
    build_init(&b);
    build_agg(&b, AGG_COUNT, 1, &int64);
    build_clause(&b);
    build_op(&b, OP3(LDARG, 1, 0, 0));
    build_op(&b, OP3(PUSHTV, 1, 0, 0));
    build_op(&b, OPI(AGG, 0, 0));
    build_action(&b, ACT_AGG, 0, none);
    build_end(&b);
    for (unsigned i = 0; i < KEYS; i++)
        for (key[i] = 0;
             hash_mix(hash_bytes(&key[i], sizeof key[i]), 0x9e3779b97f4a7c15u) % CELLS != cell[i];)
            key[i]++;
    struct engine_options opt = {
        .threads = 64, .bufsize = 1 << 16, .aggsize = SIZE, .dynvarsize = 1 << 16, .pid = 42};
    struct engine *e = engine_build(&b.img, opt);
    struct engine_thread *t = engine_thread_self();
    const struct engine_binding bind = {5, 0};
    struct buf out = BUF_INIT;
    for (int round = 0; round < 4; round++) {
        uint64_t records = 0, sum = 0;
        for (unsigned i = 0; i < KEYS; i++) {
            struct engine_ctx ctx = {.probe = &a_probe, .arg = arg_is_key};
            key_arg = key[i];
            engine_enter(t);
            engine_fire(e, t, &ctx, &bind, 1);
            engine_leave(t);
        }
        buf_reset(&out);
        drain_all(e, RECORD_AGGS, &out);
        read_totals(&out, &records, &sum);
        assert_int_equal(sum, KEYS);
    }
    buf_free(&out);
    engine_destroy(e);
}

/* The text that arg_is_text gives, where it is. */
static char moving_text[8];
static uint64_t arg_is_text(struct engine_ctx *ctx, unsigned n)
{
    (void)n;
    engine_ctx_range(ctx, moving_text, sizeof moving_text);
    return (uint64_t)(uintptr_t)moving_text;
}

/* Returns how many times the key of this text was counted; a key may come several times. */
static uint64_t counted(const struct buf *out, const char *text)
{
    uint64_t n = 0;
    for (const char *r = out->data + 8, *end = out->data + out->len; r < end; r += u32(r))
        if (u32(r + 8) == 4 + strlen(text) && memcmp(r + 28, text, strlen(text)) == 0)
            n += u64(r + 16);
    return n;
}

/* A key whose text stays is found by where the text is. Where something else may be there later, it
 * is told apart: under another number, under none, in a ring of halves, and for another table. */
static void keys_that_stay(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t stays;
        bool fixed;
    } events[] = {{"one", 2, true},  {"one", 2, true},   {"two", 3, true},  {"one", 4, true},
                  {"two", 0, false}, {"one", 0, false},  {"two", 1, false}, {"one", 1, false},
                  {"one", 5, true},  {"three", 6, true}, {"one", 7, true},  {"one", 7, true}};
    static struct build b;
    build_init(&b);
    for (int i = 0; i < 2; i++)
        build_agg(&b, AGG_COUNT, 1, &str);
    build_clause(&b);
    build_op(&b, OP3(LDARG, 0, 0, 1));
    for (int i = 0; i < 2; i++) {
        build_op(&b, OP3(PUSHTR, 0, 0, 0));
        build_op(&b, OPI(AGG, 0, i));
        build_action(&b, ACT_AGG, 3 * (unsigned)i, none);
    }
    build_end(&b);
    struct engine *e = engine_of(&b, 1 << 16);
    struct engine_thread *t = engine_thread_self();
    const struct engine_binding bind = {5, 0};
    struct buf out = BUF_INIT;
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
            struct engine_ctx ctx = {
                .probe = &a_probe, .arg = arg_is_text, .stays = events[i].stays};
            strcpy(moving_text, events[i].text);
            if (events[i].fixed)
                ctx.fixed =
                    (struct engine_range){(uint64_t)(uintptr_t)moving_text, strlen(moving_text)};
            engine_enter(t);
            engine_fire(e, t, &ctx, &bind, 1);
            engine_leave(t);
        }
        buf_reset(&out);
        drain_all(e, RECORD_AGGS, &out);
        assert_int_equal(counted(&out, "one"), 2 * 8);
        assert_int_equal(counted(&out, "two"), 2 * 3);
        assert_int_equal(counted(&out, "three"), 2 * 1);
    }
    buf_free(&out);
    engine_destroy(e);
}

/* All clauses of a firing have one time, and so do their records. */
static void one_time_for_a_firing(void **state)
{
    (void)state;
    static struct build b;
    build_init(&b);
    for (int i = 0; i < 2; i++) {
        build_clause(&b);
        build_op(&b, OP3(RECB, 0, 0, 0));
        build_op(&b, OPI(LDB, 0, DIF_BUILTIN_timestamp));
        build_op(&b, OPI(REC, 0, 0));
        build_action(&b, ACT_TRACE, 0, int64);
        build_end(&b);
    }
    struct engine *e = engine_of(&b, 1 << 16);
    struct engine_thread *t = engine_thread_self();
    struct engine_ctx ctx = {.probe = &a_probe, .arg = arg_is_its_number};
    const struct engine_binding bind[] = {{5, 0}, {6, 1}};
    struct buf out = BUF_INIT;
    engine_enter(t);
    engine_fire(e, t, &ctx, bind, 2);
    engine_leave(t);
    drain_all(e, RECORD_PRINCIPAL, &out);
    const char *first = out.data + 8, *second = first + u32(first);
    assert_int_equal(u32(second + 4), 6);
    assert_true(u64(first + 24) != 0);
    assert_int_equal(u64(second + 24), u64(first + 24));
    assert_int_equal(u64(first + 8), u64(first + 24));
    assert_int_equal(u64(second + 8), u64(first + 24));
    buf_free(&out);
    engine_destroy(e);
}

/* Where keys were found is remembered only for a program that has aggregations. */
static void remembers_keys_if_there_are_any(void **state)
{
    (void)state;
    static struct build b;
    for (int counts = 0; counts < 2; counts++) {
        build_init(&b);
        if (counts)
            build_agg(&b, AGG_COUNT, 1, &int64);
        build_clause(&b);
        build_op(&b, OP3(RECB, 0, 0, 0));
        build_op(&b, OPI(LDB, 0, DIF_BUILTIN_timestamp));
        build_op(&b, OPI(REC, 0, 0));
        build_action(&b, ACT_TRACE, 0, int64);
        build_end(&b);
        struct engine *e = engine_of(&b, 1 << 16);
        fire(e, 0);
        assert_int_equal(engine_tstate(e, engine_thread_self()->index)->seen != NULL, counts);
        engine_destroy(e);
    }
}

/* A thread with a record of its own, in which it writes; `leave`: it says when it ends. */
struct guest {
    bool leave;
    bool clean; /* the record had nothing of an earlier thread, and was the same when asked again */
    struct engine_thread *t;
    uint32_t index;
    int32_t tid;
};

static void *be_guest(void *arg)
{
    struct guest *g = arg;
    struct engine_thread *t = engine_thread_self();
    g->t = t;
    g->clean = t->tid == (int32_t)gettid();
    for (size_t i = 0; i < sizeof t->room; i++)
        g->clean &= t->room[i] == 0;
    memset(t->room, 0xa5, sizeof t->room);
    g->clean &= engine_thread_self() == t;
    g->index = t->index;
    g->tid = t->tid;
    if (g->leave)
        engine_thread_leave();
    return NULL;
}

static struct guest guest(bool leave)
{
    struct guest g = {.leave = leave};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, be_guest, &g), 0);
    pthread_join(thread, NULL);
    return g;
}

/* A record that was left is the next thread's, as new; one whose thread ended without a word is
 * nobody's, also when a thread comes that has the same address (threads that follow one another
 * do). */
static void threads_come_and_go(void **state)
{
    (void)state;
    struct engine_thread *mine = engine_thread_self();
    struct guest first = guest(true), second = guest(false), third = guest(true);
    assert_true(first.clean && second.clean && third.clean);
    assert_ptr_equal(second.t, first.t);
    assert_ptr_not_equal(third.t, second.t);
    assert_int_equal(second.t->tid, second.tid);
    assert_ptr_equal(engine_thread_self(), mine);
}

static void exit_ends_firing(void **state)
{
    (void)state;
    static struct build b;
    struct record_counts c;
    build_init(&b);
    for (int i = 0; i < 2; i++) {
        build_clause(&b);
        build_op(&b, OPI(SETI, 0, 0));
        build_op(&b, OP3(RECB, 0, 0, 0));
        build_op(&b, OPI(REC, 0, 0));
        build_op(&b, OP3(EXIT, 0, 0, 0));
        build_action(&b, ACT_EXIT, 2, int32);
        build_end(&b);
    }
    struct engine *e = engine_of(&b, 1 << 16);
    struct engine_thread *t = engine_thread_self();
    struct engine_ctx ctx = {.probe = &a_probe};
    const struct engine_binding both[] = {{1, 0}, {2, 1}};
    engine_enter(t);
    engine_fire(e, t, &ctx, both, 2); /* the second clause does not run */
    engine_fire(e, t, &ctx, both, 2); /* nor does anything later */
    engine_set_phase(e, ENGINE_END);
    engine_fire(e, t, &ctx, both, 2); /* END runs whole */
    engine_set_phase(e, ENGINE_STOPPED);
    engine_fire(e, t, &ctx, both, 2);
    engine_leave(t);
    engine_counts(e, &c);
    assert_int_equal(c.recorded, 3);
    assert_true(engine_exiting(e));
    engine_destroy(e);
}

/* Somebody else may end it: nothing fires any more but END. */
static void ended_from_outside(void **state)
{
    (void)state;
    static struct build b;
    struct record_counts c;
    build_init(&b);
    build_clause(&b);
    build_op(&b, OP3(RECB, 0, 0, 0));
    build_op(&b, OPI(SETI, 0, 7));
    build_op(&b, OPI(REC, 0, 0));
    build_action(&b, ACT_TRACE, 1, int64);
    build_end(&b);
    struct engine *e = engine_of(&b, 1 << 16);
    struct engine_thread *t = engine_thread_self();
    struct engine_ctx ctx = {.probe = &a_probe};
    const struct engine_binding one[] = {{1, 0}};
    assert_ptr_equal(engine_thread_at(t->index), t);
    engine_enter(t);
    engine_fire(e, t, &ctx, one, 1);
    assert_false(engine_exiting(e));
    engine_end(e);
    assert_true(engine_exiting(e));
    engine_fire(e, t, &ctx, one, 1);
    engine_set_phase(e, ENGINE_END);
    engine_fire(e, t, &ctx, one, 1);
    engine_leave(t);
    engine_counts(e, &c);
    assert_int_equal(c.recorded, 2);
    engine_destroy(e);
}

/* Clauses: 0 speculation(), traced; 1 speculate(1) and trace 1; 2 commit(1); 3 discard(1). */
static void speculating_program(struct build *b)
{
    build_init(b);
    build_clause(b);
    build_op(b, OP3(RECB, 0, 0, 0));
    build_op(b, OPI(CALL, 0, DIF_SUBR_speculation));
    build_op(b, OPI(REC, 0, 0));
    build_action(b, ACT_TRACE, 1, int64);
    build_end(b);
    build_clause(b);
    build_op(b, OPI(SETI, 0, 1));
    build_op(b, OP3(SPEC, 0, 0, 0));
    build_op(b, OP3(RECB, 0, 0, 0));
    build_op(b, OPI(REC, 0, 0));
    build_action(b, ACT_TRACE, 0, int64);
    build_end(b);
    for (int i = 0; i < 2; i++) {
        build_clause(b);
        build_op(b, OPI(SETI, 0, 1));
        build_op(b, i == 0 ? OP3(COMMIT, 0, 0, 0) : OP3(DISCARD, 0, 0, 0));
        build_action(b, ACT_COMMIT, 0, none);
        build_end(b);
    }
}

enum { SPEC_THREADS = 4, SPEC_EACH = 1000 };

static void *speculate_many(void *e)
{
    for (int i = 0; i < SPEC_EACH; i++)
        fire(e, 1);
    return NULL;
}

static uint64_t records_in(const struct buf *out)
{
    uint64_t n = 0;
    for (size_t at = 0; at < out->len; at += 8 + u32(out->data + at + 4))
        for (size_t r = at + 8; r < at + 8 + u32(out->data + at + 4); r += u32(out->data + r))
            n++;
    return n;
}

/* What all threads have recorded comes with the commit of one; with a discard nothing does. An id
 * is used again only when its speculation has been drained. */
static void speculations_of_all_threads(void **state)
{
    (void)state;
    static struct build b;
    for (uint32_t end = 2; end < 4; end++) {
        struct record_counts c;
        struct buf out = BUF_INIT;
        speculating_program(&b);
        struct engine *e = engine_of(&b, 1 << 20);
        fire(e, 1); /* there is none yet: nothing is recorded */
        fire(e, 0); /* 1 */
        fire(e, 0); /* 0: nspec is 1 */
        pthread_t thread[SPEC_THREADS];
        for (int i = 0; i < SPEC_THREADS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, speculate_many, e), 0);
        for (int i = 0; i < SPEC_THREADS; i++)
            pthread_join(thread[i], NULL);
        fire(e, 1);
        drain_all(e, RECORD_PRINCIPAL, &out);
        assert_int_equal(records_in(&out), 2); /* of clause 0 */
        assert_false(engine_pending(e, RECORD_PRINCIPAL));
        fire(e, end);
        fire(e, 1); /* too late */
        fire(e, 0); /* 0: busy */
        assert_true(engine_pending(e, RECORD_PRINCIPAL));
        buf_reset(&out);
        drain_all(e, RECORD_PRINCIPAL, &out);
        assert_int_equal(records_in(&out), end == 2 ? SPEC_THREADS * SPEC_EACH + 2 : 1);
        assert_false(engine_pending(e, RECORD_PRINCIPAL));
        fire(e, 0); /* 1 again */
        fire(e, 2);
        buf_reset(&out);
        drain_all(e, RECORD_PRINCIPAL, &out);
        assert_int_equal(records_in(&out), 1);
        assert_int_equal(u64(out.data + 8 + 24), 1);
        engine_counts(e, &c);
        assert_int_equal(c.drop[RECORD_DROP_SPECUNAVAIL], 1);
        assert_int_equal(c.drop[RECORD_DROP_SPECBUSY], 1);
        assert_int_equal(c.drop[RECORD_DROP_SPEC], 0);
        buf_free(&out);
        engine_destroy(e);
    }
}

/* However many speculations are asked for, there are at most as many as an engine has places for.
 */
static void speculations_are_bounded(void **state)
{
    (void)state;
    static struct build b;
    struct buf out = BUF_INIT;
    uint64_t last = 0;
    speculating_program(&b);
    struct engine_options opt = {.threads = 64,
                                 .bufsize = 1 << 16,
                                 .aggsize = 1 << 16,
                                 .dynvarsize = 1 << 16,
                                 .specsize = 1 << 12,
                                 .nspec = 4 * DIF_SPECS_MAX,
                                 .pid = 42};
    struct engine *e = engine_build(&b.img, opt);
    for (int i = 0; i < DIF_SPECS_MAX + 1; i++)
        fire(e, 0);
    drain_all(e, RECORD_PRINCIPAL, &out);
    assert_int_equal(records_in(&out), DIF_SPECS_MAX + 1);
    for (size_t r = 8; r < 8 + u32(out.data + 4); r += u32(out.data + r)) {
        assert_true(u64(out.data + r + 24) <= DIF_SPECS_MAX);
        last = u64(out.data + r + 24);
    }
    assert_int_equal(last, 0); /* there is none left */
    buf_free(&out);
    engine_destroy(e);
}

static _Atomic bool spec_stop;

static void *speculate_until(void *e)
{
    while (!atomic_load(&spec_stop))
        fire(e, 1);
    return NULL;
}

/* Threads that record while speculations are begun, ended and drained: what is drained is whole. */
static void speculations_under_churn(void **state)
{
    (void)state;
    static struct build b;
    struct record_counts c;
    struct buf out = BUF_INIT;
    uint64_t drained = 0;
    speculating_program(&b);
    struct engine *e = engine_of(&b, 1 << 16);
    pthread_t thread[2];
    atomic_store(&spec_stop, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, speculate_until, e), 0);
    for (int i = 0; i < 200; i++) {
        fire(e, 0);
        fire(e, 1);
        fire(e, i % 3 == 0 ? 3 : 2);
        buf_reset(&out);
        drain_all(e, RECORD_PRINCIPAL, &out);
        for (size_t at = 0; at < out.len; at += 8 + u32(out.data + at + 4))
            for (size_t r = at + 8; r < at + 8 + u32(out.data + at + 4); r += u32(out.data + r)) {
                assert_int_equal(u32(out.data + r), 32);
                assert_int_equal(u32(out.data + r + 4), 5);
                assert_int_equal(u64(out.data + r + 24), 1);
                drained++;
            }
    }
    atomic_store(&spec_stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    engine_counts(e, &c);
    assert_int_equal(c.drop[RECORD_DROP_SPECUNAVAIL] + c.drop[RECORD_DROP_SPECBUSY], 0);
    assert_true(drained >= 200 + 133 && drained <= c.recorded);
    buf_free(&out);
    engine_destroy(e);
}

static uint32_t rnd(uint32_t n)
{
    static uint32_t x = 1;
    x = x * 1664525u + 1013904223u;
    return (x >> 8) % n;
}

/* Random code that the verifier accepts runs without harm: the sanitizers watch. What is drained is
 * whole records. */
static void accepted_code_is_harmless(void **state)
{
    (void)state;
    static const enum dif_op ops[] = {DIF_OP_RECN,   DIF_OP_REC,     DIF_OP_RECE, DIF_OP_SPEC,
                                      DIF_OP_COMMIT, DIF_OP_DISCARD, DIF_OP_SETI, DIF_OP_SETS,
                                      DIF_OP_PUSHTR, DIF_OP_PUSHTV,  DIF_OP_CALL, DIF_OP_BNE,
                                      DIF_OP_MOV,    DIF_OP_ADD,     DIF_OP_TST,  DIF_OP_FLUSHTS};
    unsigned long rounds = getenv("ROUNDS") ? strtoul(getenv("ROUNDS"), NULL, 10) : 200000;
    unsigned accepted = 0;
    for (unsigned long round = 0; round < rounds; round++) {
        static struct build b;
        struct diags d;
        build_init(&b);
        for (uint32_t i = 0; i < 3; i++)
            build_str(&b, i == 0 ? "a/b,c" : i == 1 ? "," : "{\"k\":[1]}");
        build_clause(&b);
        build_op(&b, OPI(CALL, 0, DIF_SUBR_speculation));
        build_op(&b, OPI(SETS, 1, rnd(4)));
        build_op(&b, OPI(SETI, 2, rnd(3)));
        uint32_t part = 0, sub = 0;
        for (uint32_t n = 2 + rnd(10); n > 0; n--) {
            enum dif_op op = ops[rnd(sizeof ops / sizeof *ops)];
            uint32_t a = rnd(3), in = (uint32_t)op << 24;
            switch (op) {
            case DIF_OP_RECN: in |= sub++ & 1; break;
            case DIF_OP_REC: in |= a << 16 | (part++ & 1); break;
            case DIF_OP_SETI: in |= a << 16 | rnd(40); break;
            case DIF_OP_SETS: in |= a << 16 | rnd(4); break;
            case DIF_OP_CALL: in |= a << 16 | rnd(DIF_NSUBRS); break;
            case DIF_OP_BNE: in |= b.clauses[0].ncode + 1 + rnd(4); break;
            case DIF_OP_MOV: in |= a << 16 | rnd(3) << 8; break;
            case DIF_OP_ADD: in |= a << 16 | rnd(3) << 8 | rnd(3); break;
            case DIF_OP_RECE:
            case DIF_OP_FLUSHTS: break;
            default: in |= a << 16;
            }
            build_op(&b, in);
        }
        build_action(&b, ACT_TRACE, 3, int64);
        b.actions[0].npc = 0;
        build_sub(&b, 1);
        build_action(&b, ACT_TRACE, 3, str);
        build_sub(&b, 1);
        b.clauses[0].records = true;
        build_end(&b);
        diags_init(&d);
        int err = dif_verify(&b.img, &d);
        diags_free(&d);
        if (err != 0)
            continue;
        accepted++;
        struct buf out = BUF_INIT;
        struct engine *e = engine_of(&b, 1 << 12);
        for (int i = 0; i < 3; i++) {
            fire(e, 0);
            fire(e, 0);
            buf_reset(&out);
            drain_all(e, RECORD_PRINCIPAL, &out);
            for (size_t at = 0; at < out.len; at += 8 + u32(out.data + at + 4))
                for (size_t r = at + 8; r < at + 8 + u32(out.data + at + 4); r += u32(out.data + r))
                    assert_true(u32(out.data + r) >= 24 && u32(out.data + r) % 8 == 0);
        }
        buf_free(&out);
        engine_destroy(e);
    }
    assert_true(accepted > rounds / 1000);
}

/* Each sub-clause has its own record; a fault keeps those before it. */
static void sub_clauses_record_apart(void **state)
{
    (void)state;
    static struct build b;
    struct record_counts c;
    struct buf out = BUF_INIT;
    build_init(&b);
    build_clause(&b);
    for (uint32_t i = 0; i < 2; i++) {
        build_op(&b, OPI(RECN, 0, i));
        build_op(&b, OPI(SETI, 0, 70 + i));
        if (i == 1) { /* 71 / 0 */
            build_op(&b, OPI(SETI, 1, 0));
            build_op(&b, OP3(SDIV, 0, 0, 1));
        }
        build_op(&b, OPI(REC, 0, i));
        build_action(&b, ACT_TRACE, 1 + 4 * i, int64);
        build_op(&b, OP3(RECE, 0, 0, 0));
        build_sub(&b, 1);
    }
    build_end(&b);
    struct engine *e = engine_of(&b, 1 << 16);
    fire(e, 0);
    drain_all(e, RECORD_PRINCIPAL, &out);
    const char *rec = out.data + 8;
    assert_int_equal(u32(rec), 24 + 16);    /* number and part, padded */
    assert_int_equal(u32(rec + 20), 4 + 8); /* bytes of both */
    assert_int_equal(u32(rec + 24), 0);     /* the first sub-clause */
    assert_int_equal(u64(rec + 28), 70);
    assert_int_equal(u32(rec + 40 + 4), RECORD_EPID_FAULT);
    assert_int_equal(u32(rec + 40 + 24 + 4), 2); /* in action 2 */
    engine_counts(e, &c);
    assert_int_equal(c.recorded, 1);
    assert_int_equal(c.errors, 1);
    buf_free(&out);
    engine_destroy(e);
}

/* Programs of several consumers see the same event, each with its own texts of the probe. */
static void every_program_reads_its_probe(void **state)
{
    (void)state;
    enum { PROGRAMS = 10 };
    static struct build b;
    static char text[PROGRAMS][4][8];
    struct buf out = BUF_INIT;
    struct record_counts c;
    build_init(&b);
    build_clause(&b);
    for (uint32_t i = 0; i < 4; i++) {
        build_op(&b, OPI(LDB, 0, DIF_BUILTIN_probeprov + i));
        if (i == 0)
            build_op(&b, OP3(RECB, 0, 0, 0));
        build_op(&b, OPI(REC, 0, i));
        build_action(&b, ACT_TRACE, b.clauses[0].ncode - 1, str);
    }
    build_end(&b);
    struct engine_thread *t = engine_thread_self();
    struct engine_ctx ctx = {.arg = arg_is_its_number, .self = 1};
    struct engine_binding binding = {5, 0};
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        struct engine *e = engine_of(&b, 1 << 16);
        for (int k = 0; k < 4; k++)
            snprintf(text[i][k], sizeof text[i][k], "%c%u", "pmfn"[k], i);
        struct engine_probe probe = {7, text[i][0], text[i][1], text[i][2], text[i][3]};
        ctx.probe = &probe;
        engine_enter(t);
        engine_fire(e, t, &ctx, &binding, 1);
        engine_leave(t);
        engine_counts(e, &c);
        assert_int_equal(c.errors, 0);
        assert_int_equal(c.recorded, 1);
        buf_reset(&out);
        drain_all(e, RECORD_PRINCIPAL, &out);
        for (int k = 0; k < 4; k++)
            assert_memory_equal(out.data + 8 + 24 + k * 6 + 4, text[i][k], 2);
        engine_destroy(e);
    }
    buf_free(&out);
}

static void error_probe_fires(void **state)
{
    (void)state;
    static struct build b;
    static const struct engine_binding on_error[] = {{9, 1}, {10, 2}};
    static const struct engine_probe error = {3, "dtrace", "", "", "ERROR"};
    struct buf out = BUF_INIT;
    struct record_counts c;
    build_init(&b);
    build_clause(&b);
    build_op(&b, OPI(SETI, 0, 0));
    build_op(&b, OP3(SDIV, 0, 0, 0));
    build_action(&b, ACT_EXPR, 0, none);
    build_end(&b);
    build_clause(&b); /* ERROR: trace(arg4) */
    build_op(&b, OP3(RECB, 0, 0, 0));
    build_op(&b, OP3(LDARG, 0, 0, 4));
    build_op(&b, OPI(REC, 0, 0));
    build_action(&b, ACT_TRACE, 1, int64);
    build_end(&b);
    build_clause(&b); /* ERROR: faults itself */
    build_op(&b, OPI(SETI, 0, 0));
    build_op(&b, OP3(SDIV, 0, 0, 0));
    build_action(&b, ACT_EXPR, 0, none);
    build_end(&b);
    struct engine *e = engine_of(&b, 1 << 16);
    engine_set_error_bindings(e, on_error, 2, &error);
    fire(e, 0);
    drain_all(e, RECORD_PRINCIPAL, &out);
    assert_int_equal(u32(out.data + 8 + 4), RECORD_EPID_FAULT);
    const char *second = out.data + 8 + 48;
    assert_int_equal(u32(second + 4), 9);
    assert_int_equal(u64(second + 24), RECORD_FAULT_DIVZERO);
    assert_int_equal(u64(second + 8), u64(out.data + 8 + 8)); /* one time for a firing */
    engine_counts(e, &c);
    assert_int_equal(c.drop[RECORD_DROP_DBLERROR], 1);
    buf_free(&out);
    engine_destroy(e);
}

static void too_large_for_its_buffer(void **state)
{
    (void)state;
    static struct build b;
    struct diags d;
    struct engine *e = NULL;
    struct engine_options opt = {
        .threads = 1, .bufsize = 64, .aggsize = 1 << 16, .dynvarsize = 1 << 16};
    build_init(&b);
    build_clause(&b);
    build_op(&b, OPI(SETI, 0, 0));
    build_op(&b, OP3(RECB, 0, 0, 0));
    build_op(&b, OPI(REC, 0, 0));
    build_action(&b, ACT_TRACE, 2, str);
    build_end(&b);
    diags_init(&d);
    assert_int_equal(engine_create(&b.img, &opt, &e, &d), ET_ELIMIT);
    assert_non_null(strstr(d.list[0].text, "Enabling exceeds size of buffer"));
    diags_free(&d);
}

/* -- the dynamic store on its own
 * ------------------------------------------------------------------------- */

static void store_holds_its_measure(void **state)
{
    (void)state;
    struct dyn d;
    size_t size = dyn_size(&d, 1 << 20, 8, 8);
    void *mem = aligned_alloc(64, (size + 63) & ~(size_t)63);
    memset(mem, 0, size);
    dyn_place(&d, mem);
    uint64_t slots = (uint64_t)d.nbuckets * 8, full = 0, val, n, work = UINT64_MAX;
    uint32_t len;
    for (n = 0; n < slots && full == 0; n++) {
        enum dyn_result r = dyn_set(&d, &work, &n, 8, hash_bytes(&n, 8), &n, 8);
        full += r == DYN_FULL;
    }
    assert_true(n > slots / 4 * 3); /* two choices of eight */
    for (uint64_t k = 0; k < n - full; k++) {
        assert_int_equal(dyn_get(&d, &work, &k, 8, hash_bytes(&k, 8), &val, &len), DYN_OK);
        assert_int_equal(val, k);
    }
    for (uint64_t k = 0; k < n - full; k++)
        assert_int_equal(dyn_del(&d, &work, &k, 8, hash_bytes(&k, 8)), DYN_OK);
    assert_int_equal(dyn_count(&d), 0);
    val = 1;
    assert_int_equal(dyn_get(&d, &work, &val, 8, hash_bytes(&val, 8), &val, &len), DYN_ABSENT);
    free(mem);
}

/* Threads add to, delete and read the same few keys. One slot a key, whatever happens. */
struct churn {
    struct dyn *d;
    unsigned seed;
    uint64_t torn;
};

static void *churn(void *arg)
{
    struct churn *c = arg;
    uint64_t work = UINT64_MAX;
    for (int i = 0; i < 100000; i++) {
        uint64_t key = (uint64_t)(rand_r(&c->seed) % 16), hash = hash_bytes(&key, 8);
        unsigned char val[64], want[64];
        uint32_t len;
        switch (rand_r(&c->seed) % 3) {
        case 0:
            memset(val, rand_r(&c->seed), sizeof val);
            dyn_set(c->d, &work, &key, 8, hash, val, sizeof val);
            break;
        case 1: dyn_del(c->d, &work, &key, 8, hash); break;
        default:
            if (dyn_get(c->d, &work, &key, 8, hash, val, &len) == DYN_OK) {
                memset(want, val[0], sizeof want);
                c->torn += len != sizeof val || memcmp(val, want, sizeof want) != 0;
            }
        }
    }
    return NULL;
}

static void store_under_churn(void **state)
{
    (void)state;
    struct dyn d;
    size_t size = dyn_size(&d, 1 << 16, 8, 64);
    void *mem = aligned_alloc(64, (size + 63) & ~(size_t)63);
    struct churn c[THREADS];
    pthread_t t[THREADS];
    uint64_t work = UINT64_MAX;
    memset(mem, 0, size);
    dyn_place(&d, mem);
    for (unsigned i = 0; i < THREADS; i++) {
        c[i] = (struct churn){&d, i + 1, 0};
        assert_int_equal(pthread_create(&t[i], NULL, churn, &c[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(c[i].torn, 0);
    }
    assert_true(dyn_count(&d) <= 16);
    for (uint64_t key = 0; key < 16; key++) /* a key that was there twice would still be there */
        dyn_del(&d, &work, &key, 8, hash_bytes(&key, 8));
    assert_int_equal(dyn_count(&d), 0);
    free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions),
        cmocka_unit_test(memory),
        cmocka_unit_test(associative_arrays),
        cmocka_unit_test(room_for_dynamic_variables_ends),
        cmocka_unit_test(fault_says_where),
        cmocka_unit_test(threads_lose_nothing),
        cmocka_unit_test(full_table_counts_drops),
        cmocka_unit_test(keys_that_meet),
        cmocka_unit_test(index_keeps_room),
        cmocka_unit_test(large_table_is_emptied),
        cmocka_unit_test(keys_that_stay),
        cmocka_unit_test(one_time_for_a_firing),
        cmocka_unit_test(remembers_keys_if_there_are_any),
        cmocka_unit_test(threads_come_and_go),
        cmocka_unit_test(exit_ends_firing),
        cmocka_unit_test(ended_from_outside),
        cmocka_unit_test(accepted_code_is_harmless),
        cmocka_unit_test(speculations_of_all_threads),
        cmocka_unit_test(speculations_are_bounded),
        cmocka_unit_test(speculations_under_churn),
        cmocka_unit_test(sub_clauses_record_apart),
        cmocka_unit_test(error_probe_fires),
        cmocka_unit_test(every_program_reads_its_probe),
        cmocka_unit_test(too_large_for_its_buffer),
        cmocka_unit_test(store_holds_its_measure),
        cmocka_unit_test(store_under_churn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
