/* test_policy.c - buffer policies: with `fill` and `ring` nothing is lost that is not counted, what
 * a ring holds at the end is what came last, and what END records has its room. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "dif_build.h"
#include "engine/engine.h"
#include "lang/encode.h"
#include "util/buftext.h"

#define OP3(op, a, b, c) dif_abc(DIF_OP_##op, a, b, c)
#define OPI(op, a, imm)  dif_ai(DIF_OP_##op, a, imm)

enum { RECORD = 32 /* a head of 24 bytes and an int64 */, END_EPID = 99 };

static const struct dif_type int64 = {DIF_INT, 8}, str = {DIF_STRING, 256}, none = {0, 0};
static const struct engine_probe a_probe = {7, "prov", "mod", "func", "name"};

/* Clauses: 0 traces arg0; 1 traces arg1 as a string: a record of up to 24 + 4 + 256 bytes;
 * 2 speculate(1) and trace arg0; 3 commit(1); 4 speculation(), not traced; 5 divides by zero. */
static void program(struct build *b)
{
    build_init(b);
    for (int i = 0; i < 2; i++) {
        build_clause(b);
        build_op(b, OPI(LDARG, 0, i));
        build_op(b, OP3(RECB, 0, 0, 0));
        build_op(b, OPI(REC, 0, 0));
        build_action(b, ACT_TRACE, 0, i == 0 ? int64 : str);
        build_end(b);
    }
    build_clause(b);
    build_op(b, OPI(SETI, 0, 1));
    build_op(b, OP3(SPEC, 0, 0, 0));
    build_op(b, OPI(LDARG, 0, 0));
    build_op(b, OP3(RECB, 0, 0, 0));
    build_op(b, OPI(REC, 0, 0));
    build_action(b, ACT_TRACE, 0, int64);
    build_end(b);
    build_clause(b);
    build_op(b, OPI(SETI, 0, 1));
    build_op(b, OP3(COMMIT, 0, 0, 0));
    build_action(b, ACT_COMMIT, 0, none);
    build_end(b);
    build_clause(b);
    build_op(b, OPI(CALL, 0, DIF_SUBR_speculation));
    build_end(b);
    build_clause(b);
    build_op(b, OPI(SETI, 0, 0));
    build_op(b, OP3(SDIV, 0, 0, 0));
    build_action(b, ACT_EXPR, 0, none);
    build_end(b);
}

static char problem[256], problem_hint[256]; /* what the last error said */

static int create(struct engine_options *opt, struct engine **e)
{
    struct build b;
    struct buf bytes = BUF_INIT;
    struct dif_image img;
    struct diags d;
    program(&b);
    diags_init(&d);
    dif_image_init(&img);
    assert_int_equal(dif_encode(&b.img, &bytes), 0);
    assert_int_equal(dif_decode(&img, bytes.data, bytes.len, &d), 0);
    if (dif_verify(&img, &d) != 0)
        fail_msg("%s", d.list[0].text);
    int err = engine_create(&img, opt, e, &d);
    if (err != 0) {
        snprintf(problem, sizeof problem, "%s", d.list[0].text);
        snprintf(problem_hint, sizeof problem_hint, "%s", d.list[0].hint);
    }
    buf_free(&bytes);
    diags_free(&d);
    return err;
}

static struct engine *engine_of(enum record_policy policy, uint64_t size)
{
    struct engine_options opt = {.threads = 64,
                                 .policy = policy,
                                 .bufsize = size,
                                 .aggsize = 1 << 16,
                                 .dynvarsize = 1 << 16,
                                 .specsize = 1 << 16,
                                 .nspec = 1};
    struct engine *e = NULL;
    assert_int_equal(create(&opt, &e), 0);
    engine_set_phase(e, ENGINE_RUNNING);
    return e;
}

static __thread uint64_t value;   /* arg0 */
static __thread const char *text; /* arg1 */

static uint64_t argument(struct engine_ctx *ctx, unsigned n)
{
    if (n == 0)
        return value;
    engine_ctx_range(ctx, text, strlen(text) + 1);
    return (uint64_t)(uintptr_t)text;
}

static void fire_as(struct engine *e, uint32_t epid, uint32_t clause)
{
    struct engine_thread *t = engine_thread_self();
    struct engine_ctx ctx = {.probe = &a_probe, .arg = argument, .self = 1};
    struct engine_binding b = {epid, clause};
    engine_enter(t);
    engine_fire(e, t, &ctx, &b, 1);
    engine_leave(t);
}

static void fire(struct engine *e, uint32_t clause)
{
    fire_as(e, clause + 1, clause);
}

static void drain(struct engine *e, struct buf *out)
{
    static struct engine_mark m;
    buf_reset(out);
    engine_flip(e, RECORD_PRINCIPAL);
    engine_mark(&m);
    while (!engine_quiet(&m))
        ;
    while (!engine_drain(e, RECORD_PRINCIPAL, out->len + 3000, out))
        ;
}

/* Calls fn for each record in drained blocks; returns how many. */
static uint64_t each(const struct buf *out, void (*fn)(void *, uint16_t, const char *), void *arg)
{
    uint64_t n = 0;
    for (size_t at = 0; at < out->len;) {
        uint16_t thread;
        uint32_t len, size;
        assert_int_equal(out->data[at], RECORD_PRINCIPAL);
        memcpy(&thread, out->data + at + 2, 2);
        memcpy(&len, out->data + at + 4, 4);
        at += 8;
        for (size_t end = at + len; at < end; at += size, n++) {
            memcpy(&size, out->data + at, 4);
            if (fn != NULL)
                fn(arg, thread, out->data + at);
        }
    }
    return n;
}

struct values {
    uint64_t n, v[64];
};

static void add_value(void *arg, uint16_t thread, const char *rec)
{
    struct values *v = arg;
    (void)thread;
    memcpy(&v->v[v->n++ % 64], rec + 24, 8);
}

static struct values values_of(struct engine *e)
{
    struct values v = {0, {0}};
    struct buf out = BUF_INIT;
    drain(e, &out);
    each(&out, add_value, &v);
    buf_free(&out);
    return v;
}

static void ring_keeps_the_newest(void **state)
{
    (void)state;
    /* Room for ten records, however many come. A largest record of the program must fit: 288. */
    for (uint64_t n = 0; n < 35; n++) {
        struct engine *e = engine_of(RECORD_POLICY_RING, 10 * RECORD);
        struct record_counts c;
        for (value = 0; value < n; value++)
            fire(e, 0);
        assert_false(engine_pending(e, RECORD_PRINCIPAL)); /* not to be read yet */
        assert_int_equal(values_of(e).n, 0);
        engine_set_phase(e, ENGINE_STOPPED);
        assert_int_equal(engine_pending(e, RECORD_PRINCIPAL), n > 0);
        struct values v = values_of(e);
        assert_int_equal(v.n, n < 10 ? n : 10);
        for (uint64_t i = 0; i < v.n; i++)
            assert_int_equal(v.v[i], n - v.n + i); /* oldest first */
        assert_false(engine_pending(e, RECORD_PRINCIPAL));
        assert_int_equal(values_of(e).n, 0);
        engine_counts(e, &c);
        assert_int_equal(c.recorded, n);
        assert_int_equal(c.overwritten, n - v.n);
        assert_int_equal(c.drop[RECORD_DROP_PRINCIPAL], 0);
        assert_false(engine_exiting(e));
        engine_destroy(e);
    }
}

static void count_faults(void *arg, uint16_t thread, const char *rec)
{
    uint32_t epid;
    (void)thread;
    memcpy(&epid, rec + 4, 4);
    *(uint64_t *)arg += epid == RECORD_EPID_FAULT;
}

/* Records are recorded, and overwritten or there at the end; faults among them change nothing. */
static void ring_with_faults(void **state)
{
    (void)state;
    struct engine *e = engine_of(RECORD_POLICY_RING, 10 * RECORD);
    struct record_counts c;
    struct buf out = BUF_INIT;
    uint64_t faults = 0;
    for (value = 0; value < 100; value++)
        fire(e, value % 3 == 0 ? 5 : 0);
    engine_set_phase(e, ENGINE_STOPPED);
    drain(e, &out);
    uint64_t n = each(&out, count_faults, &faults);
    engine_counts(e, &c);
    assert_int_equal(c.recorded, 66);
    assert_int_equal(c.errors, 34);
    assert_true(faults > 0);
    assert_int_equal(c.recorded - c.overwritten, n - faults);
    buf_free(&out);
    engine_destroy(e);
}

struct sequence {
    uint64_t last[64], n;
};

static uint64_t number_of(const char *rec)
{
    uint32_t epid;
    uint64_t v;
    memcpy(&epid, rec + 4, 4);
    memcpy(&v, rec + 24, 8);
    return epid == 2 ? strtoull(rec + 28, NULL, 10) : v;
}

static void check_order(void *arg, uint16_t thread, const char *rec)
{
    struct sequence *s = arg;
    uint64_t v = number_of(rec);
    assert_true(s->last[thread] == 0 || s->last[thread] + 1 == v);
    s->last[thread] = v;
}

enum { FIRINGS = 20000 };

/* Records of many sizes, numbered from 1. */
static void *fire_sizes(void *arg)
{
    struct engine *e = arg;
    char s[300];
    for (value = 1; value <= FIRINGS; value++) {
        int n = snprintf(s, sizeof s, "%u ", (unsigned)value);
        memset(s + n, 'x', value % 200);
        s[n + value % 200] = '\0';
        text = s;
        fire(e, value % 3 == 0);
    }
    return NULL;
}

static void ring_of_each_thread(void **state)
{
    (void)state;
    pthread_t t[4];
    struct engine *e = engine_of(RECORD_POLICY_RING, 5000);
    struct record_counts c;
    struct buf out = BUF_INIT;
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, fire_sizes, e);
    for (int i = 0; i < 100; i++) { /* a reader that comes too early takes nothing */
        drain(e, &out);
        assert_int_equal(out.len, 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    engine_set_phase(e, ENGINE_STOPPED);
    drain(e, &out);
    struct sequence s = {{0}, 0};
    uint64_t n = each(&out, check_order, &s);
    engine_counts(e, &c);
    assert_int_equal(c.recorded, 4 * FIRINGS);
    assert_int_equal(c.recorded, n + c.overwritten);
    unsigned full = 0;
    for (int i = 0; i < 64; i++) {
        full += s.last[i] == FIRINGS; /* the newest is there */
        assert_true(s.last[i] == 0 || s.last[i] == FIRINGS);
    }
    assert_int_equal(full, 4);
    /* Each ring is full but for one largest record, and the records before the wrap. */
    assert_true(out.len > 4 * (5000 - 2 * 288));
    buf_free(&out);
    engine_destroy(e);
}

static void fill_ends_at_a_full_buffer(void **state)
{
    (void)state;
    struct engine *e = engine_of(RECORD_POLICY_FILL, 10 * RECORD);
    struct record_counts c;
    for (value = 0; value < 10; value++) {
        fire(e, 0);
        assert_false(engine_exiting(e));
    }
    assert_int_equal(values_of(e).n, 0);
    fire(e, 0);
    assert_true(engine_exiting(e));
    fire(e, 0); /* does not run */
    engine_set_phase(e, ENGINE_STOPPED);
    struct values v = values_of(e);
    assert_int_equal(v.n, 10);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(v.v[i], i); /* the oldest */
    engine_counts(e, &c);
    assert_int_equal(c.fired, 11);
    assert_int_equal(c.recorded, 10);
    assert_int_equal(c.filled, 1);
    assert_int_equal(c.drop[RECORD_DROP_PRINCIPAL], 0);
    engine_destroy(e);
}

static void *fire_until_full(void *arg)
{
    struct engine *e = arg;
    for (value = 1; !engine_exiting(e); value++)
        fire(e, 0);
    return NULL;
}

static void fill_of_all_threads(void **state)
{
    (void)state;
    pthread_t t[4];
    struct engine *e = engine_of(RECORD_POLICY_FILL, 1 << 14);
    struct record_counts c;
    struct buf out = BUF_INIT;
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, fire_until_full, e);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    engine_set_phase(e, ENGINE_STOPPED);
    drain(e, &out);
    struct sequence s = {{0}, 0};
    uint64_t n = each(&out, check_order, &s);
    engine_counts(e, &c);
    assert_int_equal(c.recorded, n);
    assert_int_equal(c.fired, c.recorded + c.filled);
    assert_true(c.filled >= 1 && c.filled <= 4);
    assert_true(n >= (1 << 14) / RECORD); /* one of them is full */
    buf_free(&out);
    engine_destroy(e);
}

static void fill_keeps_room_for_end(void **state)
{
    (void)state;
    const struct engine_binding end[] = {{END_EPID, 0}, {END_EPID, 1}};
    struct engine *e = engine_of(RECORD_POLICY_FILL, 20 * RECORD);
    struct record_counts c;
    struct diags d;
    diags_init(&d);
    /* 48 for the first, which may also be a fault, 288 for the second; 304 are left for others. */
    assert_int_equal(engine_set_end_bindings(e, end, 2, &d), 0);
    for (value = 0; value < 20; value++)
        fire(e, 0);
    assert_true(engine_exiting(e));
    engine_set_phase(e, ENGINE_END);
    text = "what comes last";
    fire_as(e, END_EPID, 0);
    fire_as(e, END_EPID, 1);
    engine_set_phase(e, ENGINE_STOPPED);
    assert_int_equal(values_of(e).n, 9 + 2);
    engine_counts(e, &c);
    assert_int_equal(c.recorded, 11);
    assert_int_equal(c.filled, 1);
    engine_destroy(e);

    const struct engine_binding many[] = {{1, 1}, {2, 1}, {3, 1}};
    e = engine_of(RECORD_POLICY_FILL, 20 * RECORD);
    assert_int_equal(engine_set_end_bindings(e, many, 3, &d), ET_ELIMIT);
    assert_non_null(strstr(d.list[0].text, "END enablings exceed size of principal buffer"));
    engine_destroy(e);
    e = engine_of(RECORD_POLICY_RING, 20 * RECORD); /* whose END overwrites what is older */
    assert_int_equal(engine_set_end_bindings(e, many, 3, &d), 0);
    engine_destroy(e);
    diags_free(&d);
}

static void committing_to_a_ring(void **state)
{
    (void)state;
    struct engine *e = engine_of(RECORD_POLICY_RING, 10 * RECORD);
    struct record_counts c;
    fire(e, 4);
    for (value = 0; value < 8; value++)
        fire(e, 0);
    for (value = 8; value < 24; value++)
        fire(e, 2);
    fire(e, 3); /* the last ten of sixteen */
    engine_set_phase(e, ENGINE_STOPPED);
    struct values v = values_of(e);
    assert_int_equal(v.n, 10);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(v.v[i], 14 + i);
    engine_counts(e, &c);
    assert_int_equal(c.recorded, 24);
    assert_int_equal(c.overwritten, 14);
    engine_destroy(e);
}

static void committing_to_a_full_buffer(void **state)
{
    (void)state;
    struct engine *e = engine_of(RECORD_POLICY_FILL, 10 * RECORD);
    struct record_counts c;
    fire(e, 4);
    for (value = 0; value < 8; value++)
        fire(e, 0);
    for (value = 8; value < 11; value++)
        fire(e, 2);
    fire(e, 3); /* three more than there is room for two: none */
    assert_true(engine_exiting(e));
    engine_set_phase(e, ENGINE_STOPPED);
    assert_int_equal(values_of(e).n, 8);
    engine_counts(e, &c);
    assert_int_equal(c.recorded, 8 + 3); /* speculatively */
    assert_int_equal(c.filled, 3);
    engine_destroy(e);
}

/* Committed by another thread: what this one holds of it is drained at once, and the id is free. */
static void *commit(void *e)
{
    fire(e, 3);
    return NULL;
}

static void speculations_of_others(void **state)
{
    (void)state;
    for (int p = RECORD_POLICY_FILL; p <= RECORD_POLICY_RING; p++) {
        struct engine *e = engine_of((enum record_policy)p, 10 * RECORD);
        struct record_counts c;
        pthread_t t;
        fire(e, 4);
        value = 5;
        fire(e, 2);
        pthread_create(&t, NULL, commit, e);
        pthread_join(t, NULL);
        assert_true(engine_pending(e, RECORD_PRINCIPAL));
        struct values v = values_of(e);
        assert_int_equal(v.n, 1);
        assert_int_equal(v.v[0], 5);
        assert_false(engine_pending(e, RECORD_PRINCIPAL));
        fire(e, 4);
        engine_counts(e, &c);
        assert_int_equal(c.drop[RECORD_DROP_SPECBUSY] + c.drop[RECORD_DROP_SPECUNAVAIL], 0);
        engine_destroy(e);
    }
}

/* The size that takes most is the one that is lowered, until all fits the limit. */
static void sizes_are_lowered(void **state)
{
    (void)state;
    struct engine_options opt = {.threads = 4,
                                 .memory = 16 << 20,
                                 .bufsize = 16 << 20,
                                 .aggsize = 1 << 16,
                                 .specsize = 1 << 10,
                                 .nspec = 1};
    struct engine *e;
    assert_int_equal(create(&opt, &e), 0);
    assert_int_equal(opt.bufsize, 1 << 20); /* two for each of four threads: 8 MB */
    assert_int_equal(opt.aggsize, 1 << 16);
    assert_int_equal(opt.specsize, 1 << 10);
    engine_destroy(e);
    opt.bufsize = 1ull << 60; /* the system has no such addresses */
    opt.memory = 0;
    assert_int_equal(create(&opt, &e), 0);
    assert_true(opt.bufsize < 1ull << 47 && opt.bufsize >= 1 << 16);
    engine_destroy(e);
    opt.bufsize = 16 << 20;
    opt.memory = 16 << 20;
    opt.fixed = true;
    assert_int_equal(create(&opt, &e), ET_ENOMEM);
    assert_int_equal(opt.bufsize, 16 << 20);
}

enum { SMALL = 64 << 10 }; /* sizes that are not lowered */

/* Four threads with small buffers, unless something has to be lowered. */
static struct engine_options small(uint64_t memory, uint64_t left)
{
    return (struct engine_options){.threads = 4,
                                   .memory = memory,
                                   .left = left,
                                   .bufsize = SMALL,
                                   .aggsize = SMALL,
                                   .specsize = SMALL,
                                   .nspec = 1};
}

/* All engines of a process together keep to the memory that they may have. */
static void memory_is_granted_from_what_is_left(void **state)
{
    enum { MANY = 100 };
    struct engine *e[MANY], *more;
    struct engine_options opt = small(0, 0);
    unsigned n = 0;
    (void)state;
    opt.memory = 64 << 20;
    opt.bufsize = 6 << 20; /* 48 MB, and a little */
    assert_int_equal(create(&opt, &more), 0);
    assert_int_equal(opt.bufsize, 6 << 20);
    opt.bufsize = 6 << 20; /* and now 14 MB are left */
    assert_int_equal(create(&opt, &e[n++]), 0);
    assert_int_equal(opt.bufsize, 3 << 19);
    for (; n < MANY; n++) {
        struct engine_options next = small(64 << 20, 0);
        if (create(&next, &e[n]) != 0)
            break;
    }
    assert_in_range(n, 2, 2);
    assert_non_null(strstr(problem, "out of memory for buffers: they need "));
    assert_non_null(strstr(problem_hint, "end other traces"));
    engine_destroy(more);
    opt = small(64 << 20, 0);
    assert_int_equal(create(&opt, &more), 0); /* what was given back can be had again */
    engine_destroy(more);
    while (n-- > 0)
        engine_destroy(e[n]);
}

/* Of what the machine has left, engines that there are may still want what they have not touched.
 */
static void memory_that_is_not_used_yet(void **state)
{
    struct engine *first, *second;
    struct engine_options opt = small(0, 0);
    (void)state;
    opt.bufsize = 4 << 20;
    assert_int_equal(create(&opt, &first), 0); /* 32 MB, and a little for each thread */
    opt = small(0, 48 << 20);
    opt.bufsize = 4 << 20;
    assert_int_equal(create(&opt, &second), 0);
    assert_int_equal(opt.bufsize, 1 << 20);
    engine_destroy(second);
    engine_set_phase(first, ENGINE_RUNNING);
    fire(first, 0); /* one of four threads: 8 MB of those that are left are counted no more */
    opt = small(0, 48 << 20);
    opt.bufsize = 4 << 20;
    assert_int_equal(create(&opt, &second), 0);
    assert_int_equal(opt.bufsize, 2 << 20);
    engine_destroy(second);
    engine_destroy(first);
    opt = small(0, 1);
    assert_int_equal(create(&opt, &second), ET_ENOMEM);
    assert_non_null(strstr(problem, "0 MiB are left"));
}

/* Writes a file below root, with its folders. */
static void put_file(const char *root, const char *folder, const char *name, const char *content)
{
    char path[512];
    snprintf(path, sizeof path, "mkdir -p %s%s", root, folder);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs(content, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* The least of the bounds on the way from a process's control group to the root. */
static void memory_of_a_container(void **state)
{
    (void)state;
    char root[] = "/tmp/erltrace-memory-XXXXXX", command[64];
    assert_non_null(mkdtemp(root));
    uint64_t machine = engine_machine_memory(root); /* no groups there */
    assert_true(machine > 64 << 20);

    put_file(root, "/proc/self", "cgroup",
             "5:cpu,memory:/a/b\nno group\n3:memory\n4:memoryless:/c\n0::/x/y\n");
    assert_int_equal(engine_machine_memory(root), machine); /* nor bounds */
    put_file(root, "/sys/fs/cgroup/x/y", "memory.max", "max\n");
    put_file(root, "/sys/fs/cgroup/memory/c", "memory.limit_in_bytes", "4096\n"); /* another's */
    assert_int_equal(engine_machine_memory(root), machine);
    put_file(root, "/sys/fs/cgroup/x", "memory.max", "50331648\n");
    assert_int_equal(engine_machine_memory(root), 48 << 20);
    put_file(root, "/sys/fs/cgroup/x/y", "memory.max", "67108864\n");
    assert_int_equal(engine_machine_memory(root), 48 << 20);
    put_file(root, "/sys/fs/cgroup/memory/a/b", "memory.limit_in_bytes", "33554432\n");
    assert_int_equal(engine_machine_memory(root), 32 << 20);
    put_file(root, "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "16777216\n");
    assert_int_equal(engine_machine_memory(root), 16 << 20);
    put_file(root, "/sys/fs/cgroup", "memory.max", "8388608\n");
    assert_int_equal(engine_machine_memory(root), 8 << 20);
    assert_int_equal(engine_machine_left(root), 8 << 20);

    put_file(root, "/proc", "meminfo", "MemTotal: 1000 kB\nMemAvailable:    5120 kB\n");
    assert_int_equal(engine_machine_left(root), 5 << 20);
    put_file(root, "/sys/fs/cgroup/x", "memory.current", "48234496\n"); /* of 48 MiB: 2 are left */
    assert_int_equal(engine_machine_left(root), 2 << 20);
    put_file(root, "/sys/fs/cgroup/x", "memory.stat", "anon 1\ninactive_file 1048576\nx 3\n");
    assert_int_equal(engine_machine_left(root), 3 << 20);
    put_file(root, "/sys/fs/cgroup/memory/a/b", "memory.usage_in_bytes", "33554432\n");
    assert_int_equal(engine_machine_left(root), 1); /* nothing */
    put_file(root, "/sys/fs/cgroup/memory/a/b", "memory.stat",
             "inactive_file 7\ntotal_inactive_file 2097152\n");
    assert_int_equal(engine_machine_left(root), 2 << 20);
    assert_int_equal(engine_machine_memory(root), 8 << 20);

    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_keeps_the_newest),
        cmocka_unit_test(ring_with_faults),
        cmocka_unit_test(ring_of_each_thread),
        cmocka_unit_test(fill_ends_at_a_full_buffer),
        cmocka_unit_test(fill_of_all_threads),
        cmocka_unit_test(fill_keeps_room_for_end),
        cmocka_unit_test(committing_to_a_ring),
        cmocka_unit_test(committing_to_a_full_buffer),
        cmocka_unit_test(speculations_of_others),
        cmocka_unit_test(sizes_are_lowered),
        cmocka_unit_test(memory_is_granted_from_what_is_left),
        cmocka_unit_test(memory_that_is_not_used_yet),
        cmocka_unit_test(memory_of_a_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
