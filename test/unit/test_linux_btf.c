/* test_linux_btf.c - the reader of BTF: of types by hand, of hostile ones, of the running kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/io_uring.h>
#include <linux/ip.h>
#include <linux/perf_event.h>
#include <linux/tcp.h>
#if defined(__x86_64__)
#include <asm/ptrace.h>
#endif

#include <cmocka.h>

#include "base/err.h"
#include "btf_build.h"

static struct kbtf *read_built(struct btf_build *b)
{
    struct buf blob = BUF_INIT;
    struct diags d;
    struct kbtf *k;
    btf_finish(b, &blob);
    diags_init(&d);
    if (kbtf_read(&k, blob.data, blob.len, &d) != 0)
        fail_msg("%s", d.list[0].text);
    diags_free(&d);
    buf_free(&blob);
    return k;
}

/* What a compiler makes of this is what the description of it must say. */
struct inner {
    char tag[3];
    uint32_t count[5];
};
struct outer {
    uint8_t first;
    union {
        struct {
            int32_t x;
            struct inner deep;
        };
        uint64_t all;
    };
    struct inner each[4];
    unsigned low : 3, high : 7;
    struct outer *next;
};

enum { BYTE = 1, INT32, UINT32, UINT64, CHARS, COUNTS, INNER, ANON, UNION, INNERS, OUTER };

static void build_outer(struct btf_build *b)
{
    btf_int(b, "unsigned char", 1, 0);
    btf_int(b, "int", 4, INT_SIGNED);
    btf_int(b, "unsigned int", 4, 0);
    btf_int(b, "long unsigned int", 8, 0);
    btf_array(b, BYTE, 3);
    btf_array(b, UINT32, 5);
    btf_parts(b, KBTF_STRUCT, "inner", sizeof(struct inner),
              PARTS({"tag", CHARS, offsetof(struct inner, tag)},
                    {"count", COUNTS, offsetof(struct inner, count)}));
    btf_parts(b, KBTF_STRUCT, "", 28, PARTS({"x", INT32, 0}, {"deep", INNER, 4}));
    btf_parts(b, KBTF_UNION, "", 32, PARTS({"", ANON, 0}, {"all", UINT64, 0}));
    btf_array(b, INNER, 4);
    uint32_t bits = (uint32_t)(offsetof(struct outer, next) - 8) * 8;
    btf_parts(b, KBTF_STRUCT, "outer", sizeof(struct outer),
              PARTS({"first", BYTE, 0}, {"", UNION, offsetof(struct outer, all)},
                    {"each", INNERS, offsetof(struct outer, each)}, {"low", UINT32, bits, 3},
                    {"high", UINT32, bits + 3, 7},
                    {"next", OUTER + 1, offsetof(struct outer, next)}));
    btf_to(b, KBTF_PTR, "", OUTER);
}

static void members(void **state)
{
    struct btf_build b = {.last = 0};
    struct kbtf_member m;
    (void)state;
    build_outer(&b);
    struct kbtf *k = read_built(&b);
    static const struct {
        const char *path;
        size_t byte;
        uint64_t size;
    } row[] = {
        {"first", 0, 1},
        {"x", offsetof(struct outer, x), 4},
        {"all", offsetof(struct outer, all), 8},
        {"deep", offsetof(struct outer, deep), sizeof(struct inner)},
        {"deep.tag", offsetof(struct outer, deep.tag), 3},
        {"deep.tag[2]", offsetof(struct outer, deep.tag[2]), 1},
        {"deep.count[4]", offsetof(struct outer, deep.count[4]), 4},
        {"each[3].count", offsetof(struct outer, each[3].count), 20},
        {"each[3].count[2]", offsetof(struct outer, each[3].count[2]), 4},
        {"next", offsetof(struct outer, next), 8},
    };
    assert_int_equal(kbtf_find(k, KBTF_STRUCT, "outer"), OUTER);
    assert_int_equal(kbtf_size(k, OUTER), sizeof(struct outer));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (!kbtf_path(k, OUTER, row[i].path, &m))
            fail_msg("no %s", row[i].path);
        assert_int_equal(m.bit, row[i].byte * 8);
        assert_int_equal(m.bits, 0);
        assert_int_equal(kbtf_size(k, m.type), row[i].size);
    }
    assert_true(kbtf_path(k, OUTER, "high", &m));
    assert_int_equal(m.bits, 7);
    assert_int_equal(m.bit, (offsetof(struct outer, next) - 8) * 8 + 3);
    static const char *const wrong[] = {
        "",           "none",
        "deep.none",  "first.x",
        "first[0]",   "deep[0]",
        "each[4]",    "each[-1]",
        "each[1",     "each[1]count",
        "each.count", "deep.",
        ".deep",      "next.first",
        "low.x",      "each[]",
        "[0]",        "each[99999999999999999999]",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (kbtf_path(k, OUTER, wrong[i], &m))
            fail_msg("there is a '%s'", wrong[i]);
    kbtf_close(k);
}

/* Without the struct's flag, an integer says itself which bits it has. */
static void old_bit_fields(void **state)
{
    struct btf_build b = {.last = 0};
    struct kbtf_member m;
    (void)state;
    btf_type(&b, KBTF_INT, "unsigned int", false, 0, 4);
    buf_u32(&b.types, 2u << 16 | 5); /* 5 bits, from bit 2 on */
    btf_type(&b, KBTF_STRUCT, "old", false, 1, 8);
    buf_u32(&b.types, btf_name(&b, "field"));
    buf_u32(&b.types, 1);
    buf_u32(&b.types, 32);
    struct kbtf *k = read_built(&b);
    assert_true(kbtf_path(k, 2, "field", &m));
    assert_int_equal(m.bit, 34);
    assert_int_equal(m.bits, 5);
    kbtf_close(k);
}

static void scalars(void **state)
{
    struct btf_build b = {.last = 0};
    struct kbtf_scalar s;
    (void)state;
    uint32_t number = btf_int(&b, "int", 4, INT_SIGNED), truth = btf_int(&b, "bool", 1, INT_BOOL);
    uint32_t wide = btf_int(&b, "__int128", 16, INT_SIGNED);
    uint32_t named = btf_to(&b, KBTF_TYPEDEF, "pid_t", btf_to(&b, KBTF_CONST, "", number));
    uint32_t ptr = btf_to(&b, KBTF_PTR, "", 0);
    uint32_t negative = btf_type(&b, KBTF_ENUM, "sign", true, 1, 4);
    buf_u32(&b.types, btf_name(&b, "BELOW"));
    buf_u32(&b.types, (uint32_t)-7);
    uint32_t large = btf_type(&b, KBTF_ENUM64, "large", false, 1, 8);
    buf_u32(&b.types, btf_name(&b, "ABOVE"));
    buf_u32(&b.types, 5);
    buf_u32(&b.types, 1);
    struct kbtf *k = read_built(&b);
    assert_true(kbtf_scalar(k, named, &s));
    assert_true(s.size == 4 && s.is_signed && !s.is_bool && !s.is_pointer);
    assert_int_equal(kbtf_resolve(k, named), number);
    assert_true(kbtf_scalar(k, truth, &s) && s.size == 1 && !s.is_signed && s.is_bool);
    assert_true(kbtf_scalar(k, ptr, &s) && s.size == 8 && s.is_pointer);
    assert_false(kbtf_scalar(k, wide, &s));
    assert_false(kbtf_scalar(k, 0, &s));
    int64_t value;
    uint32_t of;
    assert_true(kbtf_constant(k, "BELOW", &value, &of));
    assert_true(value == -7 && of == negative);
    assert_true(kbtf_constant(k, "ABOVE", &value, &of));
    assert_true(value == 0x100000005 && of == large);
    assert_false(kbtf_constant(k, "pid_t", &value, &of));
    kbtf_close(k);
}

static void names(void **state)
{
    struct btf_build b = {.last = 0};
    char name[16];
    (void)state;
    btf_int(&b, "x", 4, 0);
    btf_to(&b, KBTF_TYPEDEF, "x", 1);
    btf_type(&b, KBTF_FWD, "x", false, 0, 0);
    btf_to(&b, KBTF_FUNC, "x", 0);
    btf_to(&b, KBTF_FUNC, "x", 0); /* static ones of two files */
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "t%u", i);
        btf_to(&b, KBTF_TYPEDEF, name, 1);
    }
    struct kbtf *k = read_built(&b);
    assert_int_equal(kbtf_find(k, KBTF_INT, "x"), 1);
    assert_int_equal(kbtf_find(k, KBTF_TYPEDEF, "x"), 2);
    assert_int_equal(kbtf_find(k, KBTF_FWD, "x"), 3);
    assert_int_equal(kbtf_find(k, KBTF_FUNC, "x"), 4);
    assert_int_equal(kbtf_find(k, KBTF_STRUCT, "x"), 0);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "t%u", i);
        assert_int_equal(kbtf_find(k, KBTF_TYPEDEF, name), i + 6);
    }
    kbtf_close(k);
}

static void tracepoints(void **state)
{
    struct btf_build b = {.last = 0};
    struct kbtf_param p;
    (void)state;
    uint32_t number = btf_int(&b, "int", 4, INT_SIGNED), any = btf_to(&b, KBTF_PTR, "", 0);
    btf_tracepoint(&b, "plain", PARTS({"", any}, {"", number}));
    btf_tracepoint(&b, "named", PARTS({"", any}, {"", number}));
    btf_to(&b, KBTF_FUNC, "__traceiter_named",
           btf_parts(&b, KBTF_PROTO, "", number, PARTS({"data", any}, {"count", number})));
    btf_to(&b, KBTF_FUNC, "__traceiter_plain", /* which has a type that is none of a function */
           btf_parts(&b, KBTF_STRUCT, "s", 8, PARTS({"a", number, 0}, {"b", number, 4})));
    btf_to(&b, KBTF_TYPEDEF, "btf_trace_wrong", number);
    btf_to(&b, KBTF_TYPEDEF, "btf_trace_", number);
    struct kbtf *k = read_built(&b);
    assert_true(kbtf_param(k, kbtf_tracepoint(k, "plain"), 1, &p));
    assert_true(p.type == number && p.name[0] == '\0');
    assert_false(kbtf_param(k, kbtf_tracepoint(k, "plain"), 2, &p));
    assert_true(kbtf_param(k, kbtf_tracepoint(k, "named"), 1, &p));
    assert_string_equal(p.name, "count");
    assert_int_equal(kbtf_tracepoint(k, "wrong"), 0);
    assert_int_equal(kbtf_tracepoint(k, ""), 0);
    assert_int_equal(kbtf_tracepoint(k, "none"), 0);
    assert_string_equal(kbtf_tracepoint_name(k, kbtf_find(k, KBTF_TYPEDEF, "btf_trace_plain")),
                        "plain");
    assert_null(kbtf_tracepoint_name(k, kbtf_find(k, KBTF_TYPEDEF, "btf_trace_wrong")));
    assert_null(kbtf_tracepoint_name(k, kbtf_find(k, KBTF_TYPEDEF, "btf_trace_")));
    kbtf_close(k);
}

static void text(void **state)
{
    struct btf_build b = {.last = 0};
    struct buf out = BUF_INIT;
    (void)state;
    uint32_t num = btf_int(&b, "int", 4, INT_SIGNED), chr = btf_int(&b, "char", 1, INT_CHAR);
    uint32_t cchr = btf_to(&b, KBTF_CONST, "", chr), str = btf_to(&b, KBTF_PTR, "", cchr);
    uint32_t row = btf_array(&b, num, 4), rows = btf_array(&b, row, 3);
    uint32_t prow = btf_to(&b, KBTF_PTR, "", row);
    uint32_t fn = btf_parts(&b, KBTF_PROTO, "", num, PARTS({"s", str}, {"", 0}));
    uint32_t pfn = btf_to(&b, KBTF_PTR, "", fn), cpfn = btf_to(&b, KBTF_CONST, "", pfn);
    uint32_t fns = btf_array(&b, pfn, 2);
    uint32_t none = btf_type(&b, KBTF_PROTO, "", false, 0, 0);
    uint32_t fwd = btf_type(&b, KBTF_FWD, "far", false, 0, 0);
    uint32_t anon = btf_parts(&b, KBTF_UNION, "", 4, PARTS({"n", num, 0}, {"c", chr, 0}));
    uint32_t set = btf_parts(&b, KBTF_STRUCT, "set", 8, PARTS({"", anon, 0}, {"low", num, 32, 3}));
    uint32_t td = btf_to(&b, KBTF_TYPEDEF, "callback", pfn);
    uint32_t fun = btf_to(&b, KBTF_FUNC, "go", fn);
    uint32_t en = btf_type(&b, KBTF_ENUM, "e", false, 1, 4);
    buf_u32(&b.types, btf_name(&b, "E"));
    buf_u32(&b.types, 3);
    struct kbtf *k = read_built(&b);
    const struct {
        uint32_t type;
        const char *name, *text, *definition; /* NULL: the same without a name */
    } cases[] = {
        {0, "", "void", NULL},
        {num, "x", "int x", NULL},
        {str, "", "const char *", NULL},
        {str, "s", "const char *s", NULL},
        {rows, "m", "int m[3][4]", NULL},
        {prow, "p", "int (*p)[4]", NULL},
        {pfn, "f", "int (*f)(const char *s, ...)", NULL},
        {cpfn, "f", "int (*const f)(const char *s, ...)", NULL},
        {fns, "f", "int (*f[2])(const char *s, ...)", NULL},
        {fun, "go", "int go(const char *s, ...)", NULL},
        {none, "f", "void f(void)", NULL},
        {fwd, "x", "struct far x", NULL},
        {en, "x", "enum e x", "enum e {\n    E = 3,\n}"},
        {set, "x", "struct set x",
         "struct set {\n    union {\n        int n;\n        char c;\n    };\n    int low : 3;\n}"},
        {anon, "u", "union {\n    int n;\n    char c;\n} u", "union {\n    int n;\n    char c;\n}"},
        {td, "", "callback", "typedef int (*callback)(const char *s, ...)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&out);
        kbtf_print(k, cases[i].type, cases[i].name, &out);
        assert_string_equal(buf_str(&out), cases[i].text);
        buf_reset(&out);
        kbtf_define(k, cases[i].type, &out);
        if (cases[i].definition != NULL)
            assert_string_equal(buf_str(&out), cases[i].definition);
    }
    buf_free(&out);
    kbtf_close(k);
}

/* -- hostile ---------------------------------------------------------------------------- */

/* Types that lead to each other without an end. */
static void circles(void **state)
{
    struct btf_build b = {.last = 0};
    struct kbtf_member m;
    struct buf out = BUF_INIT;
    (void)state;
    uint32_t a = btf_to(&b, KBTF_TYPEDEF, "a", 2), c = btf_to(&b, KBTF_CONST, "", a);
    uint32_t arr = btf_array(&b, 3, 7);
    uint32_t self = btf_parts(&b, KBTF_STRUCT, "", 8, PARTS({"", 4, 0}, {"", 4, 0}, {"x", 4, 4}));
    uint32_t ptr = btf_to(&b, KBTF_PTR, "", 5);
    uint32_t fn = btf_parts(&b, KBTF_PROTO, "", 6, PARTS({"", 6}, {"", 6}, {"", 6}));
    uint32_t far = btf_to(&b, KBTF_PTR, "", UINT32_MAX), last = btf_to(&b, KBTF_TYPEDEF, "z", 9);
    struct kbtf *k = read_built(&b);
    assert_int_equal(kbtf_resolve(k, a), 0);
    assert_int_equal(kbtf_resolve(k, c), 0);
    assert_int_equal(kbtf_size(k, arr), 0);
    assert_false(kbtf_path(k, self, "y", &m));
    assert_true(kbtf_path(k, self, "x.x.x", &m));
    assert_int_equal(kbtf_target(k, far), 0);
    assert_int_equal(kbtf_target(k, last), 0);
    const uint32_t all[] = {a, c, arr, self, ptr, fn, far, last, UINT32_MAX};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        buf_reset(&out);
        kbtf_print(k, all[i], "x", &out);
        assert_in_range(out.len, 1, 1 << 20);
    }
    btf_ask_all(k);
    buf_free(&out);
    kbtf_close(k);
}

static void counts_of_4_billion(void **state)
{
    struct btf_build b = {.last = 0};
    struct kbtf_member m;
    (void)state;
    uint32_t num = btf_int(&b, "int", UINT32_MAX, 0), row = btf_array(&b, num, UINT32_MAX);
    uint32_t rows = btf_array(&b, row, UINT32_MAX);
    uint32_t set = btf_parts(&b, KBTF_STRUCT, "s", UINT32_MAX, PARTS({"a", rows, 8}));
    struct kbtf *k = read_built(&b);
    assert_int_equal(kbtf_size(k, row), (uint64_t)UINT32_MAX * UINT32_MAX);
    assert_int_equal(kbtf_size(k, rows), 0);
    assert_false(kbtf_path(k, set, "a[4294967294][4294967294]", &m));
    assert_false(kbtf_path(k, set, "a[4294967295]", &m));
    btf_ask_all(k);
    kbtf_close(k);
}

/* Every beginning of a description, and every description that differs in a byte, is refused or
 * read; the copies have no byte to spare. */
static void without_trust(void **state)
{
    struct btf_build b = {.last = 0};
    struct buf whole = BUF_INIT;
    struct diags d;
    struct kbtf *k;
    (void)state;
    build_outer(&b);
    btf_tracepoint(&b, "t", PARTS({"", UINT64}, {"arg", OUTER + 1}));
    btf_type(&b, KBTF_ENUM, "e", false, 1, 4);
    buf_u32(&b.types, btf_name(&b, "E"));
    buf_u32(&b.types, 3);
    btf_finish(&b, &whole);
    for (size_t n = 0; n < whole.len; n++) {
        char *copy = test_malloc(n ? n : 1);
        memcpy(copy, whole.data, n);
        diags_init(&d);
        assert_int_equal(kbtf_read(&k, copy, n, &d), ET_EINVAL);
        assert_null(k);
        assert_int_equal(d.errors, 1);
        diags_free(&d);
        test_free(copy);
    }
    uint32_t types_len, cut;
    memcpy(&types_len, whole.data + 12, 4);
    cut = types_len - 4; /* in the middle of the last type */
    memcpy(whole.data + 12, &cut, 4);
    diags_init(&d);
    assert_int_equal(kbtf_read(&k, whole.data, whole.len, &d), ET_EINVAL);
    diags_free(&d);
    memcpy(whole.data + 12, &types_len, 4);
    static const uint8_t value[] = {0, 1, 2, 4, 5, 8, 10, 13, 0x7f, 0x80, 0x84, 0xff};
    for (size_t i = 0; i < whole.len; i++)
        for (size_t v = 0; v < sizeof value; v++) {
            char was = whole.data[i];
            whole.data[i] = (char)value[v];
            diags_init(&d);
            if (kbtf_read(&k, whole.data, whole.len, &d) == 0)
                btf_ask_all(k);
            else
                assert_int_equal(d.errors, 1);
            kbtf_close(k);
            diags_free(&d);
            whole.data[i] = was;
        }
    buf_free(&whole);
}

static void memory_runs_out(void **state)
{
    struct btf_build b = {.last = 0};
    struct buf whole = BUF_INIT;
    struct diags d;
    struct kbtf *k;
    int err = ET_ENOMEM;
    (void)state;
    build_outer(&b);
    btf_finish(&b, &whole);
    unsigned long before = et_alloc_live();
    for (unsigned long n = 1; err == ET_ENOMEM; n++) {
        diags_init(&d);
        et_alloc_fail_after(n);
        err = kbtf_read(&k, whole.data, whole.len, &d);
        et_alloc_fail_after(0);
        assert_true(err == 0 || (err == ET_ENOMEM && k == NULL && d.errors == 1));
        kbtf_close(k);
        diags_free(&d);
        assert_int_equal(et_alloc_live(), before);
    }
    buf_free(&whole);
}

/* -- modules ----------------------------------------------------------------------------------- */

/* A kernel: int is 1, a pointer to a struct that it only declares 3, struct node 4. */
static void small_kernel(struct buf *blob)
{
    struct btf_build b = {.last = 0};
    const uint32_t num = btf_int(&b, "int", 4, INT_SIGNED);
    btf_type(&b, KBTF_FWD, "inode_info", false, 0, 0);
    const uint32_t info = btf_to(&b, KBTF_PTR, "", 2);
    btf_parts(&b, KBTF_STRUCT, "node", 16, PARTS({"info", info, 0}, {"n", num, 8}));
    btf_finish(&b, blob);
}

/* A module of it: a struct of its own, one whose name two modules have, and a tracepoint. */
static void small_module(const struct buf *kernel, const char *own, uint32_t more, struct buf *blob)
{
    struct btf_build b = btf_module(kernel);
    const uint32_t node = 4, num = 1, any = btf_to(&b, KBTF_PTR, "", 0);
    const uint32_t self = b.last + 2; /* refers to itself before it is there */
    const uint32_t next = btf_to(&b, KBTF_PTR, "", self);
    const uint32_t info = btf_parts(
        &b, KBTF_STRUCT, own, 32,
        PARTS({"node", node, 0}, {"next", next, 16}, {"row", b.last + 2, 24}, {"far", 77777, 28}));
    assert_int_equal(info, self);
    btf_array(&b, num, more);
    btf_parts(&b, KBTF_STRUCT, "both", more, PARTS({"own", num, 4}));
    char event[32];
    snprintf(event, sizeof event, "%s_event", own);
    btf_tracepoint(&b, event, PARTS({"", any}, {"info", next}, {"n", num}));
    btf_finish(&b, blob);
}

static struct kbtf *with_modules(const struct buf *kernel, const struct buf *one,
                                 const struct buf *two)
{
    struct diags d;
    struct kbtf *k;
    diags_init(&d);
    if (kbtf_read(&k, kernel->data, kernel->len, &d) != 0 ||
        (one != NULL && kbtf_add(k, "one", one->data, one->len, &d) != 0) ||
        (two != NULL && kbtf_add(k, "two", two->data, two->len, &d) != 0) || kbtf_index(k, &d) != 0)
        fail_msg("%s", d.list[0].text);
    diags_free(&d);
    return k;
}

static void check_module(const struct kbtf *k, const char *module, const char *own, uint32_t more)
{
    struct kbtf_member m;
    struct kbtf_param p;
    char event[32], declared[64];
    const uint32_t info = kbtf_find(k, KBTF_STRUCT, own);
    assert_string_equal(kbtf_module(k, info), module);
    assert_int_equal(kbtf_find_in(k, module, KBTF_STRUCT, own), info);
    assert_true(kbtf_path(k, info, "node.n", &m));
    assert_int_equal(m.bit, 64);
    assert_string_equal(kbtf_name(k, m.type), "int");
    assert_true(kbtf_path(k, info, "next", &m));
    assert_int_equal(kbtf_target(k, m.type), info);
    assert_true(kbtf_path(k, info, "row", &m));
    assert_int_equal(kbtf_elements(k, m.type), more);
    assert_int_equal(kbtf_size(k, m.type), 4 * (uint64_t)more);
    assert_true(kbtf_path(k, info, "far", &m));
    assert_int_equal(m.type, 0); /* leads out of it */
    const uint32_t both = kbtf_find_in(k, module, KBTF_STRUCT, "both");
    assert_int_equal(kbtf_size(k, both), more);
    assert_string_equal(kbtf_module(k, both), module);
    snprintf(event, sizeof event, "%s_event", own);
    assert_string_equal(kbtf_tracepoint_module(k, event), module);
    assert_true(kbtf_param(k, kbtf_tracepoint(k, event), 1, &p));
    struct buf text = BUF_INIT;
    kbtf_print(k, p.type, p.name, &text);
    snprintf(declared, sizeof declared, "struct %s *info", own);
    assert_string_equal(buf_str(&text), declared);
    buf_free(&text);
}

static void modules(void **state)
{
    struct buf kernel = BUF_INIT, one = BUF_INIT, two = BUF_INIT;
    (void)state;
    small_kernel(&kernel);
    small_module(&kernel, "inode_info", 7, &one);
    small_module(&kernel, "other_info", 11, &two);
    struct kbtf *k = with_modules(&kernel, &one, &two);
    check_module(k, "one", "inode_info", 7);
    check_module(k, "two", "other_info", 11);
    assert_string_equal(kbtf_module(k, 4), "vmlinux");
    assert_string_equal(kbtf_module(k, UINT32_MAX), "two");
    assert_int_equal(kbtf_find_in(k, "vmlinux", KBTF_STRUCT, "node"), 4);
    assert_int_equal(kbtf_find_in(k, "one", KBTF_STRUCT, "node"), 0);
    assert_int_equal(kbtf_find_in(k, "vmlinux", KBTF_STRUCT, "both"), 0);
    assert_int_equal(kbtf_find_in(k, "", KBTF_STRUCT, "both"),
                     kbtf_find_in(k, "one", KBTF_STRUCT, "both"));
    assert_int_equal(kbtf_find_in(k, "three", KBTF_STRUCT, "both"), 0);
    btf_ask_all(k);
    kbtf_close(k);
    buf_free(&kernel);
    buf_free(&one);
    buf_free(&two);
}

/* A module's description that is cut off or differs in a byte is refused, and leaves the others
 * whole, or is read; so is one while memory runs out. */
static void modules_without_trust(void **state)
{
    static const uint8_t value[] = {0, 1, 2, 5, 13, 0x7f, 0x80, 0xff};
    struct buf kernel = BUF_INIT, one = BUF_INIT, two = BUF_INIT;
    struct diags d;
    (void)state;
    small_kernel(&kernel);
    small_module(&kernel, "inode_info", 7, &one);
    small_module(&kernel, "other_info", 11, &two);
    for (size_t n = 0; n < two.len; n++) {
        struct kbtf *k = with_modules(&kernel, &one, NULL);
        char *copy = test_malloc(n ? n : 1);
        memcpy(copy, two.data, n);
        diags_init(&d);
        assert_int_equal(kbtf_add(k, "two", copy, n, &d), ET_EINVAL);
        assert_int_equal(kbtf_index(k, &d), 0);
        check_module(k, "one", "inode_info", 7);
        diags_free(&d);
        test_free(copy);
        kbtf_close(k);
    }
    for (size_t i = 0; i < two.len; i++)
        for (size_t v = 0; v < sizeof value; v++) {
            struct kbtf *k = with_modules(&kernel, &one, NULL);
            const char was = two.data[i];
            two.data[i] = (char)value[v];
            diags_init(&d);
            const int err = kbtf_add(k, "two", two.data, two.len, &d);
            assert_true(err == 0 || err == ET_EINVAL);
            assert_int_equal(kbtf_index(k, &d), 0);
            btf_ask_all(k);
            if (kbtf_find(k, KBTF_STRUCT, "inode_info") ==
                kbtf_find_in(k, "one", KBTF_STRUCT, "inode_info"))
                check_module(k, "one", "inode_info", 7);
            diags_free(&d);
            kbtf_close(k);
            two.data[i] = was;
        }
    const unsigned long before = et_alloc_live();
    int err = ET_ENOMEM;
    for (unsigned long n = 1; err == ET_ENOMEM; n++) {
        struct kbtf *k = with_modules(&kernel, &one, NULL);
        diags_init(&d);
        et_alloc_fail_after(n);
        err = kbtf_add(k, "two", two.data, two.len, &d);
        if (err == 0)
            err = kbtf_index(k, &d);
        et_alloc_fail_after(0);
        kbtf_close(k);
        diags_free(&d);
        assert_int_equal(et_alloc_live(), before);
    }
    buf_free(&kernel);
    buf_free(&one);
    buf_free(&two);
}

static void put_file(const char *folder, const char *name, const void *bytes, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* All modules of a folder, in the order of their names; what is none is left out. */
static void folder_of_modules(void **state)
{
    static const char *const names[] = {"vmlinux", "two", "one", "broken", "pipe"};
    char folder[] = "/tmp/btf-XXXXXX", path[128];
    struct buf kernel = BUF_INIT, one = BUF_INIT, two = BUF_INIT;
    struct diags d;
    struct kbtf *k;
    (void)state;
    small_kernel(&kernel);
    small_module(&kernel, "inode_info", 7, &one);
    small_module(&kernel, "other_info", 11, &two);
    assert_non_null(mkdtemp(folder));
    put_file(folder, names[0], kernel.data, kernel.len);
    put_file(folder, names[1], two.data, two.len);
    put_file(folder, names[2], one.data, one.len);
    put_file(folder, names[3], one.data, one.len / 2);
    snprintf(path, sizeof path, "%s/%s", folder, names[4]);
    assert_int_equal(mkfifo(path, 0600), 0);
    diags_init(&d);
    assert_int_equal(kbtf_read(&k, kernel.data, kernel.len, &d), 0);
    assert_int_equal(kbtf_add_folder(k, folder, &d), 0);
    assert_int_equal(d.count, 0);
    check_module(k, "one", "inode_info", 7);
    check_module(k, "two", "other_info", 11);
    assert_true(kbtf_find(k, KBTF_STRUCT, "inode_info") < kbtf_find(k, KBTF_STRUCT, "other_info"));
    kbtf_close(k);
    assert_int_equal(kbtf_read(&k, kernel.data, kernel.len, &d), 0);
    assert_int_equal(kbtf_add_folder(k, "/nonexistent", &d), 0);
    assert_int_equal(kbtf_find(k, KBTF_STRUCT, "node"), 4);
    kbtf_close(k);
    diags_free(&d);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    buf_free(&kernel);
    buf_free(&one);
    buf_free(&two);
}

/* What libbpf writes for a module is read as it was meant. */
struct btf;

static void modules_by_libbpf(void **state)
{
    (void)state;
    void *lib = dlopen("libbpf.so.1", RTLD_NOW);
    if (lib == NULL)
        skip();
        /* As <bpf/btf.h> has them, whose names are those of btf_build.h. */
#define FUNCTION(result, name, ...)                                                                \
    result (*const name)(__VA_ARGS__) =                                                            \
        (result(*)(__VA_ARGS__))(uintptr_t)dlsym(lib, "btf__" #name);                              \
    assert_non_null((void *)(uintptr_t)name)
    FUNCTION(struct btf *, new_empty, void);
    FUNCTION(struct btf *, new_empty_split, struct btf *);
    FUNCTION(int, add_int, struct btf *, const char *, size_t, int);
    FUNCTION(int, add_ptr, struct btf *, int);
    FUNCTION(int, add_struct, struct btf *, const char *, uint32_t);
    FUNCTION(int, add_field, struct btf *, const char *, int, uint32_t, uint32_t);
    FUNCTION(const void *, raw_data, const struct btf *, uint32_t *);
    FUNCTION(void, free, struct btf *);
#undef FUNCTION
    enum { SIGNED = 1 };
    struct btf *base = new_empty();
    const int num = add_int(base, "int", 4, SIGNED);
    assert_int_equal(add_struct(base, "node", 8), num + 1);
    assert_int_equal(add_field(base, "n", num, 32, 0), 0);
    struct btf *module = new_empty_split(base);
    const int node = num + 1, pointer = add_ptr(module, node + 2);
    assert_int_equal(add_struct(module, "thing", 24), node + 2);
    assert_int_equal(add_field(module, "n", num, 0, 0), 0); /* a name of the kernel's */
    assert_int_equal(add_field(module, "node", node, 64, 0), 0);
    assert_int_equal(add_field(module, "next_thing", pointer, 128, 0), 0);
    uint32_t base_len, len;
    const void *base_data = raw_data(base, &base_len), *data = raw_data(module, &len);
    struct diags d;
    struct kbtf *k;
    struct kbtf_member m;
    diags_init(&d);
    assert_int_equal(kbtf_read(&k, base_data, base_len, &d), 0);
    assert_int_equal(kbtf_add(k, "first", data, len, &d), 0);
    assert_int_equal(kbtf_add(k, "second", data, len, &d), 0); /* with other numbers */
    assert_int_equal(kbtf_index(k, &d), 0);
    static const char *const names[] = {"first", "second"};
    for (size_t i = 0; i < 2; i++) {
        const uint32_t thing = kbtf_find_in(k, names[i], KBTF_STRUCT, "thing");
        assert_string_equal(kbtf_module(k, thing), names[i]);
        assert_true(kbtf_path(k, thing, "node.n", &m) && m.bit == 96);
        assert_true(kbtf_path(k, thing, "n", &m) && m.bit == 0);
        assert_true(kbtf_path(k, thing, "next_thing", &m) && kbtf_target(k, m.type) == thing);
        assert_string_equal(m.name, "next_thing");
    }
    kbtf_close(k);
    diags_free(&d);
    free(module);
    free(base);
    dlclose(lib);
}

/* -- the running kernel -------------------------------------------------------------------- */

/* Types that programs share with the kernel, as the compiler lays them out. */
static void known_structs(void **state)
{
    struct diags d;
    struct kbtf *k;
    struct kbtf_member m;
    (void)state;
#define FIELD(of, name)                                                                            \
    {                                                                                              \
#of, #name, #name, offsetof(struct of, name)                                               \
    }
    static const struct {
        const char *of, *path, *text;
        size_t byte;
    } row[] = {
        FIELD(iphdr, tos),
        FIELD(iphdr, saddr),
        FIELD(iphdr, daddr),
        FIELD(tcphdr, seq),
        FIELD(tcphdr, window),
        FIELD(perf_event_attr, sample_period),
        FIELD(perf_event_attr, bp_type),
        FIELD(perf_event_attr, config2),
        FIELD(io_uring_sqe, addr2),
        FIELD(io_uring_sqe, fsync_flags),
        FIELD(io_uring_sqe, user_data),
#if defined(__x86_64__)
        {"pt_regs", "r15", "r15", offsetof(struct pt_regs, r15)},
        {"pt_regs", "bp", "rbp", offsetof(struct pt_regs, rbp)},
        {"pt_regs", "ax", "rax", offsetof(struct pt_regs, rax)},
        {"pt_regs", "di", "rdi", offsetof(struct pt_regs, rdi)},
        {"pt_regs", "orig_ax", "orig_rax", offsetof(struct pt_regs, orig_rax)},
        {"pt_regs", "ip", "rip", offsetof(struct pt_regs, rip)},
        {"pt_regs", "sp", "rsp", offsetof(struct pt_regs, rsp)},
#endif
    };
#undef FIELD
    diags_init(&d);
    int err = kbtf_open(&k, &d);
    if (err != 0)
        print_message("%s\n", d.list[0].text);
    diags_free(&d);
    if (err == ET_EUNSUP)
        skip();
    assert_int_equal(err, 0);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint32_t id = kbtf_find(k, KBTF_STRUCT, row[i].of);
        if (id == 0)
            continue; /* the kernel lacks what has it */
        if (!kbtf_path(k, id, row[i].path, &m) || m.bit != row[i].byte * 8)
            fail_msg("struct %s has no %s at %zu", row[i].of, row[i].path, row[i].byte);
    }
    assert_true(kbtf_path(k, kbtf_find(k, KBTF_STRUCT, "tcphdr"), "doff", &m));
    assert_int_equal(m.bits, 4);
    assert_int_equal(m.bit, offsetof(struct tcphdr, window) * 8 - 16 + 4);
    assert_true(kbtf_path(k, kbtf_find(k, KBTF_STRUCT, "task_struct"), "comm[15]", &m));
    assert_int_equal(kbtf_size(k, m.type), 1);
    assert_true(kbtf_path(k, kbtf_find(k, KBTF_STRUCT, "task_struct"), "se.avg.load_sum", &m));
    struct buf out = BUF_INIT;
    kbtf_print(k, kbtf_find(k, KBTF_FUNC, "wake_up_process"), "wake_up_process", &out);
    assert_string_equal(buf_str(&out), "int wake_up_process(struct task_struct *p)");
    buf_free(&out);
    kbtf_close(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members),           cmocka_unit_test(old_bit_fields),
        cmocka_unit_test(scalars),           cmocka_unit_test(names),
        cmocka_unit_test(tracepoints),       cmocka_unit_test(text),
        cmocka_unit_test(circles),           cmocka_unit_test(counts_of_4_billion),
        cmocka_unit_test(without_trust),     cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(modules),           cmocka_unit_test(modules_without_trust),
        cmocka_unit_test(known_structs),     cmocka_unit_test(folder_of_modules),
        cmocka_unit_test(modules_by_libbpf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
