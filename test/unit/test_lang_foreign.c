/* test_lang_foreign.c - types, constants, variables and arguments of a kernel in D: of one by hand,
 * and of hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "btf_build.h"
#include "d_text.h"
#include "linux/ktypes.h"

static struct ktypes *world; /* of the test */

static const struct foreign *ask(void *arg, const char **why)
{
    (void)arg;
    *why = world == NULL ? "nobody knows" : NULL;
    return world != NULL ? ktypes_foreign(world) : NULL;
}

/* A module, which knows a struct that the kernel only declares, and has others of names that the
 * kernel has as well. */
static void add_module(struct kbtf *types, const struct buf *kernel, struct diags *d)
{
    struct btf_build b = btf_module(kernel);
    struct buf blob = BUF_INIT;
    const uint32_t num = 1, any = btf_to(&b, KBTF_PTR, "", 0);
    const uint32_t thing =
        btf_parts(&b, KBTF_STRUCT, "thing", 24, PARTS({"x", num, 0}, {"y", num, 20}));
    btf_parts(&b, KBTF_STRUCT, "small", 40, PARTS({"z", num, 36}));
    btf_to(&b, KBTF_TYPEDEF, "thing_t", thing);
    btf_to(&b, KBTF_TYPEDEF, "sector_t", num);
    btf_tracepoint(&b, "thing_event", PARTS({"", any}, {"thing", btf_to(&b, KBTF_PTR, "", thing)}));
    btf_finish(&b, &blob);
    if (kbtf_add(types, "ext", blob.data, blob.len, d) != 0 || kbtf_index(types, d) != 0)
        fail_msg("%s", d->list[0].text);
    buf_free(&blob);
}

static void make(struct btf_build *b)
{
    struct buf blob = BUF_INIT;
    struct kbtf *types;
    struct diags d;
    btf_finish(b, &blob);
    diags_init(&d);
    if (kbtf_read(&types, blob.data, blob.len, &d) != 0)
        fail_msg("%s", d.list[0].text);
    add_module(types, &blob, &d);
    if (ktypes_make(&world, types, &d) != 0)
        fail_msg("%s", d.list[0].text);
    diags_free(&d);
    buf_free(&blob);
}

static void gone(void)
{
    ktypes_close(world);
    world = NULL;
}

/* What a compiler makes of this is what D must make of the description of it. */
struct small {
    int16_t x, y;
};
struct big {
    char name[12];
    union {
        uint64_t whole;
        struct {
            uint32_t low, high;
        };
    };
    struct small pair[3];
    struct big *next;
    unsigned flag : 3, rest : 9;
    void (*call)(int);
    _Bool is;
    int hue;
    struct big *fixed;
};

static void kernel(void)
{
    struct btf_build b = {.last = 0};
    uint32_t num = btf_int(&b, "int", 4, INT_SIGNED), uns = btf_int(&b, "unsigned int", 4, 0);
    uint32_t chr = btf_int(&b, "char", 1, INT_SIGNED),
             shrt = btf_int(&b, "short int", 2, INT_SIGNED);
    uint32_t ulng = btf_int(&b, "long unsigned int", 8, 0),
             truth = btf_int(&b, "_Bool", 1, INT_BOOL);
    uint32_t text = btf_array(&b, chr, 12), any = btf_to(&b, KBTF_PTR, "", 0);
    uint32_t small = btf_parts(&b, KBTF_STRUCT, "small", sizeof(struct small),
                               PARTS({"x", shrt, 0}, {"y", shrt, 2}));
    uint32_t pair = btf_array(&b, small, 3);
    uint32_t halves = btf_parts(&b, KBTF_STRUCT, "", 8, PARTS({"low", uns, 0}, {"high", uns, 4}));
    uint32_t both = btf_parts(&b, KBTF_UNION, "", 8, PARTS({"whole", ulng, 0}, {"", halves, 0}));
    uint32_t proto = btf_parts(&b, KBTF_PROTO, "", 0, PARTS({"", num}));
    uint32_t call = btf_to(&b, KBTF_PTR, "", proto);
    uint32_t only = btf_type(&b, KBTF_FWD, "big", false, 0, 0); /* before it is defined */
    uint32_t next = btf_to(&b, KBTF_PTR, "", only);
    uint32_t hue = btf_type(&b, KBTF_ENUM, "hue", false, 2, 4);
    buf_u32(&b.types, btf_name(&b, "RED"));
    buf_u32(&b.types, 7);
    buf_u32(&b.types, btf_name(&b, "GREEN"));
    buf_u32(&b.types, 9);
    uint32_t constant = btf_to(&b, KBTF_CONST, "", hue + 4);
    uint32_t fixed = btf_to(&b, KBTF_CONST, "", btf_to(&b, KBTF_PTR, "", constant));
    uint32_t bits = (uint32_t)(offsetof(struct big, next) + sizeof(void *)) * 8;
    uint32_t big = btf_parts(
        &b, KBTF_STRUCT, "big", sizeof(struct big),
        PARTS({"name", text, offsetof(struct big, name)}, {"", both, offsetof(struct big, whole)},
              {"pair", pair, offsetof(struct big, pair)},
              {"next", next, offsetof(struct big, next)}, {"flag", uns, bits, 3},
              {"rest", uns, bits + 3, 9}, {"call", call, offsetof(struct big, call)},
              {"is", truth, offsetof(struct big, is)}, {"hue", hue, offsetof(struct big, hue)},
              {"fixed", fixed, offsetof(struct big, fixed)}));
    assert_int_equal(big, fixed + 1);
    uint32_t pbig = btf_to(&b, KBTF_PTR, "", btf_to(&b, KBTF_CONST, "", big));
    btf_to(&b, KBTF_TYPEDEF, "sector_t", ulng);
    btf_tracepoint(&b, "big_event", PARTS({"", any}, {"big", pbig}, {"is", truth}, {"n", num}));
    btf_tracepoint(&b, "other_event", PARTS({"", any}, {"n", num}));
    make(&b);
}

static void begin(struct d_text *d)
{
    d_open(d);
    d->opt.foreign = ask;
}

/* A program that must compile. */
static void good(const char *text)
{
    struct d_text d;
    begin(&d);
    d_add(&d, COMPILE_SCRIPT, text, NULL);
    if (d_image(&d) != 0 || dif_verify(&d.img, &d.diags) != 0)
        fail_msg("%s\n%s", text, d_complaints(&d));
    d_close(&d);
}

/* One that must not, with this error: its tag, and then words of its text or hint. */
static void bad(const char *text, const char *tag, const char *words)
{
    struct d_text d;
    begin(&d);
    assert_int_equal(d_add(&d, COMPILE_SCRIPT, text, NULL), ET_ECOMPILE);
    char *said = d_complaints(&d);
    if (strstr(said, tag) == NULL || strstr(said, words) == NULL)
        fail_msg("%s\n%s is not %s, %s", text, said, tag, words);
    free(said);
    d_close(&d);
}

/* A constant expression of this value, in a clause of the kernel's. */
static void is(const char *expression, size_t value)
{
    char text[512];
    snprintf(text, sizeof text, "sdt:::big_event { trace(1 / (%s == %zu)); }", expression, value);
    good(text); /* dividing by 0 would be an error */
}

static void layouts(void **state)
{
    (void)state;
    kernel();
    is("sizeof (struct big)", sizeof(struct big));
    bad("sdt:::big_event { trace(1 / (sizeof (struct big) == 1)); }", "D_DIV_ZERO", "");
    is("sizeof (struct vmlinux`big)", sizeof(struct big));
    is("sizeof (struct `small)", sizeof(struct small));
    is("offsetof(struct big, high)", offsetof(struct big, high));
    is("offsetof(struct big, pair)", offsetof(struct big, pair));
    is("offsetof(struct big, is)", offsetof(struct big, is));
    is("sizeof (((struct big *)0)->pair)", sizeof(struct small) * 3);
    is("sizeof (((struct big *)0)->next->name)", 12);
    is("sizeof (sector_t)", 8);
    is("sizeof (`sector_t)", 8);
    gone();
}

static void uses(void **state)
{
    (void)state;
    kernel();
    good("sdt:::big_event { trace(args[0]->next->next->pair[2].y + args[0]->flag + args[0]->rest); "
         "}");
    good("sdt:::big_event { printf(\"%s %d %d\\n\", args[0]->name, args[1], args[2]); }");
    good("sdt:::big_event { print(args[0]); @[args[0]->next] = count(); }");
    good("sdt:::big_event { self->b = args[0]; } sdt:::other_event /self->b != NULL/ { "
         "trace(self->b->low); self->b = 0; }");
    good("struct big *kept; sdt:::big_event { kept = (struct big *)arg0; trace(kept->whole); }");
    good("sdt:::big_event { trace((sector_t)arg0 + *(sector_t *)arg0); }");
    /* qualifiers do not matter, nor by which way a type is reached */
    good("sdt:::big_event { this->b = (struct big *)arg0; this->b = args[0]; this->b = "
         "args[0]->next; this->b = args[0]->fixed; }");
    good("struct big *early; typedef struct big big_t; sdt:::big_event { early = args[0]; "
         "trace(((big_t *)arg0)->low + early->low); }");
    good("struct mine { char c; struct vmlinux`small s; struct vmlinux`big b; }; sdt:::big_event { "
         "trace(1 / (offsetof(struct mine, s) == 2 && offsetof(struct mine, b) == 8)); }");
    /* the program's own names come first */
    good("sdt:::big_event { sector_t = 1; sector_t += 2; ++sector_t; trace(sector_t); "
         "trace(sector_t * 2); }");
    good("inline int twice[int sector_t] = 2 * sector_t; sdt:::big_event { trace(twice[2]); }");
    good("sdt:::big_event { trace(1); } enum e { sector_t, other_t };");
    good("sdt:::other_event { trace(1); } struct big; struct mine { struct big *b; }; struct big { "
         "int own; }; sdt:::other_event { trace(((struct mine *)arg0)->b->own); }");
    good("sdt:::other_event { trace(1); } struct big { int own; }; sdt:::other_event { "
         "trace(((struct D`big *)arg0)->own); }");
    good("sdt:::big_event { trace(RED + `GREEN); trace(args[0]->hue == GREEN); }");
    good("struct big { int mine; }; sdt:::big_event { trace(((struct big *)arg0)->mine); "
         "trace(args[0]->low); }");
    good("typedef int sector_t; sdt:::big_event { trace((sector_t)1); }");
    good("sdt:::big_event { this->sector_t = 1; trace(this->sector_t); } sdt:::big_event { low = "
         "args[0]->low; trace(low); }");
    bad("sdt:::big_event { trace(args[0]->nxt); }", "D_TYPE_MEMBER", "did you mean 'next'?");
    bad("sdt:::big_event { trace(args[3]); }", "D_ARGS_IDX", "args[0] to args[2]");
    bad("sdt:::*_event { trace(args[0]); }", "D_ARGS_MULTI", "name the probe");
    bad("sdt:::no_such_event { trace(args[0]); }", "D_ARGS_TYPE", "untyped");
    bad("sdt:::big_event { trace(sizeof (struct absent)); }", "D_SIZEOF_TYPE", "struct absent");
    bad("sdt:::big_event { trace(sizeof (struct ext4`big)); }", "D_UNKNOWN", "Unknown type name");
    bad("sdt:::big_event { trace(&args[0]->flag); }", "D_ADDROF_BITFIELD", "bit-field");
    bad("sdt:::big_event { args[0]->low = 1; }", "D_OP_", "");
    bad("sdt:::big_event { `big_thing = 1; }", "D_SYM_NOTYPES", "");
    bad("sdt:::big_event { `big_thing += 1; }", "D_SYM_NOTYPES", "");
    /* not what a script of a node or of this process says */
    bad("BEGIN { trace(sizeof (struct big)); }", "D_SIZEOF_TYPE", "struct big");
    bad("BEGIN { trace((sector_t)1); }", "D_SYNTAX", "sector_t");
    bad("BEGIN { trace(`big_thing); }", "D_SYM_NOTYPES", "for clauses of its probes");
    gone();
}

/* Types of a module: by its name, without one where the kernel has none, and of its tracepoints. */
static void modules(void **state)
{
    (void)state;
    kernel();
    is("sizeof (struct ext`thing)", 24);
    is("sizeof (struct thing)", 24);
    is("sizeof (struct `thing)", 24);
    is("sizeof (ext`thing_t)", 24);
    is("sizeof (struct ext`small)", 40);
    is("sizeof (struct small)", sizeof(struct small));
    is("sizeof (struct vmlinux`small)", sizeof(struct small));
    is("sizeof (ext`sector_t)", 4);
    is("sizeof (sector_t)", 8);
    is("offsetof(struct ext`small, z)", 36);
    good("sdt:::thing_event { trace(args[0]->y); trace(((struct ext`thing *)arg0)->x); }");
    good("sdt:ext::thing_event { trace(args[0]->y); }");
    good("struct mine { struct ext`thing t; char c; }; sdt:::thing_event { "
         "trace(1 / (offsetof(struct mine, c) == 24)); }");
    bad("sdt:vmlinux::thing_event { trace(args[0]->y); }", "D_ARGS_TYPE", "untyped");
    bad("sdt:::thing_event { trace(sizeof (struct vmlinux`thing)); }", "D_UNKNOWN",
        "Unknown type name");
    bad("sdt:::thing_event { trace(sizeof (struct ext`big)); }", "D_UNKNOWN", "Unknown type name");
    bad("sdt:::thing_event { trace(args[0]->z); }", "D_TYPE_MEMBER", "z");
    gone();
}

/* What print() shows of a structure: the description that is in the image. */
static void printed(void **state)
{
    (void)state;
    struct d_text d;
    static const char expected[] =
        "s%zu,struct big;m0,0,0,name;a12,char [12];c1,char;m16,0,0,whole;u8,unsigned "
        "long;m16,0,0,low;u4,unsigned int;m20,0,0,high;u4,unsigned int;"
        "m24,0,0,pair;a3,struct small [3];s4,struct "
        "small;m0,0,0,x;d2,short;m2,0,0,y;d2,short;}m40,0,0,next;p8,struct big *;"
        "m48,0,3,flag;u4,unsigned int;m48,3,9,rest;u4,unsigned "
        "int;m56,0,0,call;p8,void(*)(int);m64,0,0,is;u1,_Bool;"
        "m68,0,0,hue;e4,enum hue;n7,RED;n9,GREEN;}m72,0,0,fixed;p8,struct big *;}";
    char text[1024];
    bool found = false;
    kernel();
    begin(&d);
    d_add(&d, COMPILE_SCRIPT, "sdt:::big_event { print(args[0]); }", NULL);
    assert_int_equal(d_image(&d), 0);
    snprintf(text, sizeof text, expected, sizeof(struct big));
    for (uint32_t i = 0; i < d.img.nactions; i++)
        if (d.img.actions[i].kind == ACT_PRINT) {
            assert_string_equal(dif_str(&d.img, d.img.actions[i].format), text);
            found = true;
        }
    assert_true(found);
    d_close(&d);
    gone();
}

static void nobody_knows(void **state)
{
    (void)state;
    world = NULL;
    bad("sdt:::big_event { trace(((struct big *)arg0)->low); }", "D_OP_INCOMPLETE", "nobody knows");
    bad("sdt:::big_event { trace(args[0]); }", "D_ARGS_TYPE", "nobody knows");
    bad("sdt:::big_event { trace(`x); }", "D_SYM_NOTYPES", "nobody knows");
    good("sdt:::big_event { trace(arg0); }");
}

/* Types that lead back to themselves, and such as no compiler makes. */
static void hostile(void **state)
{
    (void)state;
    struct btf_build b = {.last = 0};
    uint32_t any = btf_to(&b, KBTF_PTR, "", 0), num = btf_int(&b, "int", 4, INT_SIGNED);
    uint32_t loop = btf_to(&b, KBTF_TYPEDEF, "loop_t", b.last + 1);
    btf_to(&b, KBTF_CONST, "", loop);
    uint32_t self = btf_to(&b, KBTF_PTR, "", b.last + 1);
    uint32_t own = btf_parts(&b, KBTF_STRUCT, "", 8, PARTS({"", b.last + 1, 0}, {"n", num, 0}));
    uint32_t whole = btf_parts(&b, KBTF_STRUCT, "whole", 8,
                               PARTS({"", own, 0}, {"", b.last + 1, 0}, {"p", self, 0},
                                     {"far", num, 0x0fffffff}, {"wide", num, 4, 200}));
    uint32_t large = btf_array(&b, num, 0xffffffff), larger = btf_array(&b, large, 0xffffffff);
    uint32_t odd =
        btf_parts(&b, KBTF_STRUCT, "odd", 0xffffffff, PARTS({"a", larger, 0}, {"l", loop, 0}));
    uint32_t unit = btf_int(&b, "three", 3, 0);
    uint32_t twice = b.last + 1; /* 2^32 members, if one follows it to a depth of 32 */
    btf_parts(&b, KBTF_STRUCT, "twice", 8, PARTS({"", twice, 0}, {"", twice, 0}, {"n", num, 0}));
    btf_parts(&b, KBTF_STRUCT, "term", 8, PARTS({"n", num, 0}));
    btf_parts(&b, KBTF_STRUCT, "sizes", 64, PARTS({"three", unit, 0}, {"none", 0, 0}));
    btf_tracepoint(&b, "event",
                   PARTS({"", any}, {"w", btf_to(&b, KBTF_PTR, "", whole)},
                         {"o", btf_to(&b, KBTF_PTR, "", odd)}, {"l", loop}));
    make(&b);
    static const char *const texts[] = {
        "trace(args[0]->n);",
        "trace(args[0]->p);",
        "trace(args[0]->far);",
        "trace(args[0]->wide);",
        "trace(**args[0]->p);",
        "trace(args[1]->a);",
        "trace(args[1]->l);",
        "trace(sizeof (struct odd));",
        "trace(args[2]);",
        "print(args[0]);",
        "print(args[1]);",
        "trace(sizeof (loop_t));",
        "trace((loop_t)1);",
        "trace(((struct sizes *)arg0)->three);",
        "trace(((struct sizes *)arg0)->none);",
        "print((struct sizes *)arg0);",
        "trace(*args[0]);",
        "@[*args[0]] = count();",
        "trace(((struct twice *)arg0)->x);",
        "trace(sizeof (*(term_t)arg0));",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct d_text d;
        char text[256];
        begin(&d);
        snprintf(text, sizeof text, "sdt:::event { %s }", texts[i]);
        d_add(&d, COMPILE_SCRIPT, text, NULL);
        if (d_image(&d) == 0) {
            if (dif_verify(&d.img, &d.diags) != 0)
                fail_msg("%s\n%s", text, d_complaints(&d));
        } else
            assert_int_equal(d.err, ET_ECOMPILE);
        d_close(&d);
    }
    gone();
}

/* -- variables -------------------------------------------------------------------------------- */

static enum ktypes_symbols read_symbols(const char *text, uint64_t at[2])
{
    const char *const names[] = {"max_pfn", "runqueues"};
    FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    at[0] = at[1] = 0;
    enum ktypes_symbols told = ktypes_addresses(f, names, at, 2);
    fclose(f);
    return told;
}

static void symbols(void **state)
{
    (void)state;
    uint64_t at[2];
    assert_int_equal(read_symbols("0000000000000000 T max_pfn\n0000000000000000 D max_pfn\n", at),
                     KTYPES_HIDDEN);
    assert_int_equal(at[0], 0);
    assert_int_equal(read_symbols("ffffffff81000000 T max_pfn\nnonsense\n\n", at), KTYPES_CODE);
    assert_int_equal(at[0], 0);
    assert_int_equal(
        read_symbols("ffffffff81000000 T max_pfn\nffffffff82000000 D __per_cpu_start\n", at),
        KTYPES_CODE);
    assert_int_equal(
        read_symbols("ffffffff81000000 T max_pfn\nffffffffc0000010 d max_pfn\t[ext4]\n"
                     "ffffffff82000000 D max_pfn\nffffffff82000100 D jiffies\nffffffff83000000 b "
                     "max_pfn\n0000000000034900 A runqueues\n",
                     at),
        KTYPES_VARIABLES);
    assert_int_equal(at[0], 0xffffffff82000000);
    assert_int_equal(at[1], 0x34900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),      cmocka_unit_test(uses),    cmocka_unit_test(modules),
        cmocka_unit_test(nobody_knows), cmocka_unit_test(hostile), cmocka_unit_test(symbols),
        cmocka_unit_test(printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
