/* test_linux_cfi.c - how functions leave their frames, read from sections of this program's own
 * making: what each row says follows from DWARF's rules, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "linux/kcfi.h"

enum { AT = 0x9000, FUNCTION = 0x1000 };
enum { RBX = 3, RBP = 6, RSP = 7, RETURN = 16 };

/* A section with one CIE: the CFA is rsp + 8 at first, the return address below it, addresses are
 * relative to where they are written. */
static void begin(struct buf *s)
{
    static const unsigned char cie[] = {0x14,          0, 0, 0,    0,      0, 0,    0,    1,   'z',
                                        'R',           0, 1, 0x78, RETURN, 1, 0x1b, 0x0c, RSP, 8,
                                        0x80 | RETURN, 1, 0, 0};
    *s = (struct buf)BUF_INIT;
    buf_add(s, cie, sizeof cie);
}

/* Adds a function with the instructions of its frames. */
static void function(struct buf *s, uint32_t at, uint32_t size, const unsigned char *what, size_t n)
{
    buf_u32(s, (uint32_t)(13 + n));
    buf_u32(s, (uint32_t)s->len); /* back to the CIE, at 0 */
    buf_u32(s, at - (uint32_t)(AT + s->len));
    buf_u32(s, size);
    buf_u8(s, 0);
    buf_add(s, what, n);
}

#define FUNCTION_AT(s, at, size, ...)                                                              \
    do {                                                                                           \
        static const unsigned char what_[] = {__VA_ARGS__};                                        \
        function(s, at, size, what_, sizeof what_);                                                \
    } while (0)

static void check(struct buf *s, const struct kframe *row, size_t n)
{
    struct kcfi t;
    assert_true(kcfi_read(&t, (const unsigned char *)s->data, s->len, AT));
    assert_int_equal(t.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(t.row[i].pc, row[i].pc);
        assert_int_equal(t.row[i].kind, row[i].kind);
        if (row[i].kind != KFRAME_RSP && row[i].kind != KFRAME_RBP)
            continue;
        assert_int_equal(t.row[i].cfa, row[i].cfa);
        assert_int_equal(t.row[i].rbp, row[i].rbp);
    }
    kcfi_free(&t);
    buf_free(s);
}

#define ROWS(s, ...)                                                                               \
    do {                                                                                           \
        const struct kframe row_[] = {__VA_ARGS__};                                                \
        check(s, row_, sizeof row_ / sizeof *row_);                                                \
    } while (0)

static void test_frame_pointer(void **state)
{
    (void)state;
    struct buf s;
    begin(&s);
    /* push rbp; mov rsp, rbp; ... leave; ret */
    FUNCTION_AT(&s, FUNCTION, 0x20, 0x41, 0x0e, 16, 0x80 | RBP, 2, 0x43, 0x0d, RBP, 0x5b, 0x0c, RSP,
                8);
    ROWS(&s, {0x1000, 8, 0, KFRAME_RSP, 0}, {0x1001, 16, -16, KFRAME_RSP, 0},
         {0x1004, 16, -16, KFRAME_RBP, 0}, {0x101f, 8, -16, KFRAME_RSP, 0},
         {0x1020, 0, 0, KFRAME_NONE, 0});
}

static void test_no_frame_pointer(void **state)
{
    (void)state;
    struct buf s;
    begin(&s);
    /* push rbx; sub 0x1234, rsp (with the long forms); remember; add; ret | and as it was */
    FUNCTION_AT(&s, FUNCTION, 0x400, 0x02, 1, 0x0e, 16, 0x80 | RBX, 2, 0x03, 7, 0, 0x0e, 0xc4, 0x24,
                0x0a, 0x04, 0x10, 1, 0, 0, 0x0e, 8, 0x41, 0x0b);
    ROWS(&s, {0x1000, 8, 0, KFRAME_RSP, 0}, {0x1001, 16, 0, KFRAME_RSP, 0},
         {0x1008, 0x1244, 0, KFRAME_RSP, 0}, {0x1118, 8, 0, KFRAME_RSP, 0},
         {0x1119, 0x1244, 0, KFRAME_RSP, 0}, {0x1400, 0, 0, KFRAME_NONE, 0});
}

/* rbp is saved and restored, has the caller's value again, or is out of reach. */
static void test_registers(void **state)
{
    (void)state;
    struct buf s;
    begin(&s);
    FUNCTION_AT(&s, FUNCTION, 0x20, 0x80 | RBP, 3, 0x41, 0xc0 | RBP, 0x41, 0x05, RBP, 4, 0x41, 0x08,
                RBP, 0x41, 0x09, RBP, RBX);
    ROWS(&s, {0x1000, 8, -24, KFRAME_RSP, 0}, {0x1001, 8, 0, KFRAME_RSP, 0},
         {0x1002, 8, -32, KFRAME_RSP, 0}, {0x1003, 8, 0, KFRAME_RSP, 0},
         {0x1004, 8, KFRAME_LOST, KFRAME_RSP, 0}, {0x1020, 0, 0, KFRAME_NONE, 0});
}

static void test_what_is_not_followed(void **state)
{
    (void)state;
    struct buf s;
    begin(&s);
    /* The CFA relative to rbx; by an expression; the return address in a register, and back; no
     * caller. */
    FUNCTION_AT(&s, FUNCTION, 0x20, 0x0c, RBX, 8, 0x41, 0x0f, 2, 0x77, 8, 0x41, 0x0c, RSP, 8, 0x41,
                0x09, RETURN, RBX, 0x41, 0xc0 | RETURN, 0x41, 0x07, RETURN);
    ROWS(&s, {0x1000, 0, 0, KFRAME_OTHER, 0}, {0x1002, 8, 0, KFRAME_RSP, 0},
         {0x1003, 0, 0, KFRAME_OTHER, 0}, {0x1004, 8, 0, KFRAME_RSP, 0},
         {0x1005, 0, 0, KFRAME_END, 0}, {0x1020, 0, 0, KFRAME_NONE, 0});
}

static void test_stubs(void **state)
{
    (void)state;
    struct buf s;
    begin(&s);
    FUNCTION_AT(&s, FUNCTION, 0x40, 0x0e, 16, 0x46, 0x0e, 24, 0x4a, 0x0f, 11, 0x77, 0x08, 0x80,
                0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
    ROWS(&s, {0x1000, 16, 0, KFRAME_RSP, 0}, {0x1006, 24, 0, KFRAME_RSP, 0},
         {0x1010, 0, 0, KFRAME_PLT, 0}, {0x1040, 0, 0, KFRAME_NONE, 0});
}

/* Functions in no order, of which one follows another at once. */
static void test_order(void **state)
{
    (void)state;
    struct buf s;
    begin(&s);
    FUNCTION_AT(&s, 0x3000, 0x10, 0x0e, 32);
    FUNCTION_AT(&s, 0x1010, 0x10, 0x0e, 16);
    FUNCTION_AT(&s, 0x1000, 0x10, 0x00);
    ROWS(&s, {0x1000, 8, 0, KFRAME_RSP, 0}, {0x1010, 16, 0, KFRAME_RSP, 0},
         {0x1020, 0, 0, KFRAME_NONE, 0}, {0x3000, 32, 0, KFRAME_RSP, 0},
         {0x3010, 0, 0, KFRAME_NONE, 0});
}

/* What cannot be right says nothing of its function, and does not hide the next one. */
static void test_hostile(void **state)
{
    (void)state;
    struct buf s;
    begin(&s);
    FUNCTION_AT(&s, FUNCTION, 0x10, 0x0b); /* recalls what it has not remembered */
    FUNCTION_AT(&s, FUNCTION + 0x10, 0x10, 0x0f, 100, 0x77); /* an expression beyond the end */
    FUNCTION_AT(&s, FUNCTION + 0x20, 0x10, 0x3e);            /* no such instruction */
    FUNCTION_AT(&s, FUNCTION + 0x30, 0, 0x0e, 16);           /* empty */
    FUNCTION_AT(&s, FUNCTION + 0x40, UINT32_MAX, 0x0e, 16);  /* beyond all addresses */
    FUNCTION_AT(&s, FUNCTION + 0x50, 0x10, 0x0e, 16);
    ROWS(&s, {0x1000, 0, 0, KFRAME_OTHER, 0}, {0x1030, 0, 0, KFRAME_NONE, 0},
         {0x1050, 16, 0, KFRAME_RSP, 0}, {0x1060, 0, 0, KFRAME_NONE, 0});
}

/* A section that ends anywhere has the functions that are whole. */
static void test_cut(void **state)
{
    (void)state;
    struct buf s;
    begin(&s);
    const size_t cie = s.len;
    FUNCTION_AT(&s, FUNCTION, 0x10, 0x0e, 16);
    const size_t first = s.len;
    FUNCTION_AT(&s, FUNCTION + 0x10, 0x10, 0x0e, 24);
    for (size_t n = 0; n <= s.len; n++) {
        struct kcfi t;
        unsigned char *exact = test_malloc(n + 1);
        memcpy(exact, s.data, n);
        assert_true(kcfi_read(&t, exact, n, AT));
        assert_int_equal(t.n, n < first ? 0 : n < s.len ? 2 : 3);
        kcfi_free(&t);
        test_free(exact);
    }
    assert_true(cie < first);
    buf_free(&s);
}

/* Functions with nothing to tell of their frames, and what cannot be understood, have their place.
 */
static void test_functions(void **state)
{
    (void)state;
    static const struct kextent is[] = {
        {FUNCTION, 0x10}, {FUNCTION + 0x10, 0x20}, {FUNCTION + 0x40, 1}};
    struct buf s;
    struct kcfi t;
    begin(&s);
    FUNCTION_AT(&s, FUNCTION + 0x40, 1, 0);
    FUNCTION_AT(&s, FUNCTION, 0x10, 0x0e, 16);
    FUNCTION_AT(&s, FUNCTION + 0x30, 0, 0); /* no bytes */
    FUNCTION_AT(&s, FUNCTION + 0x10, 0x20, 0x3f);
    assert_true(kcfi_read(&t, (const unsigned char *)s.data, s.len, AT));
    assert_int_equal(t.nfuncs, sizeof is / sizeof *is);
    for (size_t i = 0; i < t.nfuncs; i++) {
        assert_int_equal(t.func[i].at, is[i].at);
        assert_int_equal(t.func[i].size, is[i].size);
    }
    kcfi_free(&t);
    assert_int_equal(t.nfuncs, 0);
    buf_free(&s);
}

/* What functions have in common is followed for each of them, but not for ever. */
static void test_work(void **state)
{
    (void)state;
    enum { IDLE = 480, FUNCTIONS = 2000 };
    struct buf s;
    struct kcfi t;
    begin(&s);
    s.data[0] += (char)IDLE;
    s.data[1] += (char)(IDLE >> 8);
    for (int i = 0; i < IDLE; i++)
        buf_u8(&s, 0);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        FUNCTION_AT(&s, FUNCTION + i, 1, 0);
    assert_true(kcfi_read(&t, (const unsigned char *)s.data, s.len, AT));
    assert_true(t.nfuncs > 0 && t.nfuncs < FUNCTIONS);
    assert_true(t.followed > IDLE && t.followed <= KCFI_FOLLOWED * s.len);
    kcfi_free(&t);
    buf_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frame_pointer), cmocka_unit_test(test_no_frame_pointer),
        cmocka_unit_test(test_registers),     cmocka_unit_test(test_what_is_not_followed),
        cmocka_unit_test(test_stubs),         cmocka_unit_test(test_order),
        cmocka_unit_test(test_hostile),       cmocka_unit_test(test_cut),
        cmocka_unit_test(test_functions),     cmocka_unit_test(test_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
