/* test_consumer_symbol.c - stacks and symbols as text, of frames made by hand
 * (language.md 7.3, 8.4, 8.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "result/field.h"
#include "result/pf.h"
#include "result/symbol.h"
#include "util/buftext.h"
#include "values.h"

/* What lies where: a kernel's module `ext4` from 0x1000 on, with a function of 0x100 bytes; a
 * process 7's /usr/lib/libm.so from 0x5000 on, with a function at 0x5100. */
static bool find(void *arg, uint64_t pid, uint64_t address, struct tier_symbol *out)
{
    const uint64_t base = pid == 0 ? 0x1000 : 0x5000;
    (void)arg;
    if ((pid != 0 && pid != 7) || address < base || address >= base + 0x1000)
        return false;
    *out = (struct tier_symbol){.object = pid == 0 ? "ext4" : "/usr/lib/libm.so",
                                .object_offset = address - base};
    if (address >= base + 0x100 && address < base + 0x200) {
        out->function = pid == 0 ? "ext4_read" : "sin";
        out->offset = address - base - 0x100;
    }
    return true;
}

static const struct symbols known = {.find = find};

/* The same with options. */
static struct symbols with(struct options *o, int64_t indent, bool noresolve)
{
    options_init(o);
    o->value[OPTION_stackindent] = indent;
    o->value[OPTION_noresolve] = noresolve ? 1 : OPTION_UNSET;
    return (struct symbols){.find = find, .opt = o};
}

static struct value words(enum dif_kind kind, const uint64_t *w, size_t n)
{
    return (struct value){
        .kind = (uint8_t)kind, .size = (uint32_t)(n * 8), .s = (const char *)w, .len = n * 8};
}

static const char *text(struct buf *b)
{
    return buf_str(b);
}

/* Each kind of frame; 0 ends a stack. */
static void kernel_stack(void **state)
{
    (void)state;
    static const uint64_t pcs[] = {0x1100, 0x1142, 0x1300, 0xdead, 0, 0x1100};
    struct value v = words(DIF_STACK, pcs, 6);
    struct buf b = BUF_INIT;
    field_place(&v, false, 0, &known, &b);
    assert_string_equal(text(&b), "\n"
                                  "              ext4`ext4_read\n"
                                  "              ext4`ext4_read+0x42\n"
                                  "              ext4`0x1300\n"
                                  "              0xdead\n");
    buf_reset(&b);
    struct options o;
    struct symbols near = with(&o, 2, false);
    field_key(&v, 256, false, false, &near, &b);
    assert_string_equal(text(&b),
                        "\n  ext4`ext4_read\n  ext4`ext4_read+0x42\n  ext4`0x1300\n  0xdead\n");
    buf_reset(&b);
    field_place(&v, false, 0, NULL, &b); /* nobody who knows */
    assert_non_null(strstr(text(&b), "\n              0x1142\n"));
    buf_free(&b);
}

static void user_stack(void **state)
{
    (void)state;
    static const uint64_t pcs[] = {7, 0x5100, 0x5142, 0x5300, 0x9};
    struct value v = words(DIF_USTACK, pcs, 5);
    struct options o;
    struct symbols s = with(&o, 0, false);
    struct buf b = BUF_INIT;
    field_place(&v, false, 0, &s, &b);
    assert_string_equal(text(&b), "\nlibm.so`sin\nlibm.so`sin+0x42\nlibm.so`0x5300\n0x9\n");
    buf_reset(&b);
    s = with(&o, 0, true);
    v.kind = DIF_JSTACK;
    field_place(&v, false, 0, &s, &b);
    assert_string_equal(text(&b), "\nlibm.so:0x100\nlibm.so:0x142\nlibm.so:0x300\n0x9\n");
    buf_free(&b);
}

static bool find_elixir(void *arg, uint64_t pid, uint64_t address, struct tier_symbol *out)
{
    (void)arg;
    *out = (struct tier_symbol){.object = "Elixir.Shop.Pricing",
                                .whole = true,
                                .function = "'Elixir.Shop.Pricing':'-price/1-fun-0-'/2",
                                .file = "shop.ex",
                                .line = (uint32_t)address};
    return pid == 7;
}

/* Modules are named as the reader wants them, as in texts. */
static void elixir_stack(void **state)
{
    (void)state;
    static const uint64_t pcs[] = {7, 4};
    struct value v = words(DIF_USTACK, pcs, 2);
    struct symbols s = {.find = find_elixir};
    struct symbol_place place = {.name = BUF_INIT};
    struct buf b = BUF_INIT;
    symbol_stack(&s, &v, 0, 0, SHOW_ELIXIR, &b);
    assert_string_equal(text(&b), "Shop.Pricing:'-price/1-fun-0-'/2 (shop.ex:4)\n");
    buf_reset(&b);
    symbol_stack(&s, &v, 0, 0, SHOW_VISIBLE, &b);
    assert_string_equal(text(&b), "'Elixir.Shop.Pricing':'-price/1-fun-0-'/2 (shop.ex:4)\n");
    buf_reset(&b);
    symbol_fold(&s, &v, SHOW_ELIXIR, &b);
    assert_string_equal(text(&b), "Shop.Pricing:'-price/1-fun-0-'/2");
    assert_true(symbol_place(&s, &v, 0, SHOW_ELIXIR, &place));
    assert_string_equal(text(&place.name), text(&b));
    assert_int_equal(place.line, 4);
    buf_free(&place.name);
    buf_free(&b);
}

static void single_symbols(void **state)
{
    (void)state;
    static const uint64_t k[] = {0x1142}, u[] = {7, 0x5142}, lost[] = {0x99}, gone[] = {8, 0x5142};
    static const struct {
        enum dif_kind kind;
        const uint64_t *w;
        size_t n;
        const char *text, *unresolved;
    } row[] = {
        {DIF_SYM, k, 1, "ext4`ext4_read", "ext4`ext4_read"},
        {DIF_FUNC, k, 1, "ext4`ext4_read", "ext4`ext4_read"},
        {DIF_MOD, k, 1, "ext4", "ext4"},
        {DIF_USYM, u, 2, "libm.so`sin", "libm.so:0x142"},
        {DIF_UFUNC, u, 2, "libm.so`sin", "libm.so:0x142"},
        {DIF_UMOD, u, 2, "libm.so", "libm.so"},
        {DIF_UADDR, u, 2, "libm.so`sin+0x42", "libm.so:0x142"},
        {DIF_SYM, lost, 1, "0x99", "0x99"},
        {DIF_UADDR, gone, 2, "0x5142", "0x5142"},
    };
    struct options o;
    struct symbols raw = with(&o, 0, true);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct value v = words(row[i].kind, row[i].w, row[i].n);
        struct buf b = BUF_INIT, want = BUF_INIT;
        symbol_text(&known, &v, &b);
        assert_string_equal(text(&b), row[i].text);
        buf_reset(&b);
        symbol_text(&raw, &v, &b);
        assert_string_equal(text(&b), row[i].unresolved);
        buf_reset(&b);
        field_key(&v, 256, false, false, &known, &b); /* two blanks and 50 columns */
        buf_printf(&want, "  %-50s", row[i].text);
        assert_string_equal(text(&b), text(&want));
        buf_free(&want);
        buf_free(&b);
    }
}

/* %k, %a, %A. */
static void formats(void **state)
{
    (void)state;
    static const uint64_t pcs[] = {0x1100, 0x1142}, k[] = {0x1142}, u[] = {7, 0x5142};
    const struct value v[] = {words(DIF_STACK, pcs, 2),
                              words(DIF_SYM, k, 1),
                              words(DIF_UADDR, u, 2),
                              {.kind = DIF_UINT, .size = 8, .i = 0x1142},
                              {.kind = DIF_UINT, .size = 8, .i = 0x5142}};
    static const struct {
        const char *format;
        size_t from;
        const char *text;
    } row[] = {
        {"<%k>", 0, "<\next4`ext4_read\next4`ext4_read+0x42\n>"},
        {"<%-4k>", 0, "<\n    ext4`ext4_read\n    ext4`ext4_read+0x42\n>"},
        {"<%20k>", 0, "<\n      ext4`ext4_read\n ext4`ext4_read+0x42\n>"},
        {"<%a>", 1, "<ext4`ext4_read>"},
        {"<%16a>", 1, "<  ext4`ext4_read>"},
        {"<%A>", 2, "<libm.so`sin+0x42>"},
        {"<%a>", 3, "<ext4`ext4_read+0x42>"},
        {"<%A>", 4, "<libm.so`sin+0x42>"},
    };
    const struct pf_env env = {.symbols = &known, .target = 7};
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf b = BUF_INIT;
        struct pf f;
        assert_int_equal(pf_parse(&a, row[i].format, &f), 0);
        pf_format(&f, &v[row[i].from], 1, &env, &b);
        assert_string_equal(text(&b), row[i].text);
        buf_free(&b);
    }
    arena_free(&a);
}

/* Bytes that are too few for a frame or a symbol are no frame, and address 0. */
static void short_values(void **state)
{
    (void)state;
    static const uint64_t w[] = {7};
    struct buf b = BUF_INIT;
    for (unsigned kind = DIF_STACK; kind <= DIF_UADDR; kind++) {
        struct value v = words((enum dif_kind)kind, w, kind == DIF_USTACK || kind == DIF_JSTACK);
        if (symbol_is_stack(&v))
            assert_false(symbol_frame(&known, &v, 0, &b));
        else
            symbol_text(&known, &v, &b);
    }
    assert_string_equal(text(&b), "0x00x00x00x00x00x00x0");
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_stack), cmocka_unit_test(user_stack),
        cmocka_unit_test(elixir_stack), cmocka_unit_test(single_symbols),
        cmocka_unit_test(formats),      cmocka_unit_test(short_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
