/* test_linux_insn.c - the lengths of instructions, as an assembler makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "linux/kinsn.h"

#ifdef __x86_64__

/* Each between marks, which begin[] collects. */
#define I(text) "1: " text "\n.pushsection .rodata\n.quad 1b - insns\n.popsection\n"

__asm__(
    ".text\ninsns:\n.pushsection .rodata\n.balign 8\nbegins:\n.popsection\n" I("endbr64") I(
        "push %rbp") I("push %r12") I("mov %rsp,%rbp") I("sub $16,%rsp") I("sub $4096,%rsp")
        I("mov $1,%eax") I("movabs $0x1122334455667788,%rax") I("mov $1,%ax") I(
            "movabs 0x1122334455667788,%al") I("lea 8(%rip),%rax") I("mov (%rsp),%rax")
            I("mov 8(%rsp),%rax") I("mov 4096(%rax,%rcx,8),%edx") I("mov 16(,%rcx,4),%edx") I(
                "mov (%rbp),%eax") I("mov (%r13,%rcx),%eax") I("movw $1,8(%rax)")
                I("movl $1,8(%rax)") I("test $1,%al") I("testb $1,(%rax)") I("testl $1,(%rax)") I(
                    "testw $1,(%rax)") I("notl (%rax)") I("neg %rax") I("imul $3,%rax,%rbx")
                    I("imul $300,%rax,%rbx") I("imul %rax,%rbx") I("call *%rax") I("call insns") I(
                        "jmp *8(%rax)") I("jne insns") I("jmp insns + 0x10000")
                        I("jne insns + 0x10000") I("enter $16,$0") I("leave") I("ret") I(
                            "ret $8") I("int3") I("int $128") I("syscall") I("cpuid") I("ud2")
                            I("hlt") I("rep movsb") I("lock incl (%rax)") I("xchg %ax,%ax") I(
                                "nopw 0(%rax,%rax,1)") I("nopl 0x12345(%rax)") I("movzbl %al,%eax")
                                I("cmovne %rax,%rbx") I("sete %al") I("bt $3,%rax") I(
                                    "shld $3,%rax,%rbx") I("shld %cl,%rax,%rbx") I("bswap %rax")
                                    I("cmpxchg %rcx,(%rdx)") I("pshufd $1,%xmm0,%xmm1") I(
                                        "psrlq $3,%xmm0") I("cmpps $1,%xmm0,%xmm1") I("pshufb "
                                                                                      "%xmm0,%xmm1")
                                        I("palignr $1,%xmm0,%xmm1") I("pextrq $1,%xmm0,%rax") I(
                                            "movaps %xmm0,16(%rsp)") I("emms") I("fldl 8(%rax)")
                                            I("vzeroupper") I("vpaddd %ymm0,%ymm1,%ymm2") I(
                                                "vpshufd $1,%ymm0,%ymm1") I("vpsrlq $3,%ymm0,%ymm1")
                                                I("vpshufb (%r8),%ymm1,%ymm9") I(
                                                    "vpalignr $1,%ymm0,%ymm1,%ymm2")
                                                    I("vpternlogd $1,%zmm0,%zmm1,%zmm2") I(
                                                        "vmovdqu64 64(%rax),%zmm1{%k1}")
                                                        I("vpcmpeqb (%rdi),%ymm16,%k0") I(
                                                            "andn %rax,%rbx,%rcx")
                                                            I("rorx $3,%rax,%rbx") I(
                                                                "fs mov 0,%rax")
                                                                I("addr32 mov (%eax),%ecx") I(
                                                                    "pop (%rax)") I("pop %r9")
                                                                    I("xlat") I("cmp $1,%al") I(
                                                                        "cmp $100000,%eax") I("loop"
                                                                                              " .")
                                                                        I("in $1,%al") I("pushq $1")
                                                                            I("pushq $1000") I(
                                                                                "xbegin insns")
                                                                                I("crc32b %al,%ecx")
                                                                                    I("movbe "
                                                                                      "(%rax),%"
                                                                                      "ecx") "1: "
                                                                                             "nop"
                                                                                             "\n"
                                                                                             ".pu"
                                                                                             "shs"
                                                                                             "ect"
                                                                                             "ion"
                                                                                             " ."
                                                                                             "rod"
                                                                                             "ata"
                                                                                             "\n."
                                                                                             "qua"
                                                                                             "d "
                                                                                             "1b "
                                                                                             "- "
                                                                                             "ins"
                                                                                             "ns"
                                                                                             "\n."
                                                                                             "qua"
                                                                                             "d "
                                                                                             "-1"
                                                                                             "\n."
                                                                                             "pop"
                                                                                             "sec"
                                                                                             "tio"
                                                                                             "n"
                                                                                             "\n");
extern const unsigned char insns[] __asm__("insns");
extern const int64_t begins[] __asm__("begins");

static void test_lengths(void **state)
{
    (void)state;
    size_t n = 0;
    for (; begins[n + 1] >= 0; n++) {
        const size_t is = (size_t)(begins[n + 1] - begins[n]);
        if (kinsn_length(insns + begins[n], 15) != is)
            fail_msg("instruction %zu has %zu bytes, not %zu", n, is,
                     kinsn_length(insns + begins[n], 15));
        for (size_t cut = 0; cut < is; cut++) /* it does not end there */
            if (kinsn_length(insns + begins[n], cut) != 0)
                fail_msg("instruction %zu, of which %zu bytes can be read", n, cut);
    }
    assert_true(n > 80);
}

static void test_begin(void **state)
{
    (void)state;
    size_t n = 0;
    const size_t all = (size_t)begins[20];
    for (uint64_t at = 0; at <= all; at++) {
        uint64_t before = 99;
        const bool is = (int64_t)at == begins[n] && at < all;
        assert_int_equal(kinsn_begins(insns, all, at, &before), is);
        if (!is && at < all)
            assert_int_equal(before, begins[n - 1]);
        n += is;
    }
}

static void test_doubtful(void **state)
{
    (void)state;
    static const unsigned char certain[][4] = {{0x55},
                                               {0xf3, 0x0f, 0x1e, 0xfa},
                                               {0x48, 0x89, 0xe5}},
                               odd[][4] = {{0xf0, 0xff, 0x0f}, {0x3e, 0xff, 0xe0}};
    for (size_t i = 0; i < sizeof certain / sizeof *certain; i++)
        assert_false(kinsn_doubtful(certain[i], 4));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_true(kinsn_doubtful(odd[i], 4));
    assert_true(kinsn_doubtful(odd[0], 0));
}

/* Instructions that the kernel takes for others: by the operation behind a prefix (70 to 7f are
 * jumps, e8 a call, 90 nothing). */
static void test_unsafe(void **state)
{
    (void)state;
    static const unsigned char safe[][8] = {
        {0x55},       {0x90}, {0x66, 0x90},       {0xf3, 0x0f, 0x1e, 0xfa}, {0x8f, 0xc0},
        {0x48, 0x90}, {0xc3}, {0x0f, 0x1f, 0x00}, {0x0f, 0x1f, 0x40, 0x00}};
    static const unsigned char unsafe[][8] = {
        {0xc5, 0xfe, 0x7f, 0x07},             /* vmovdqu %ymm0,(%rdi) */
        {0xc4, 0xe2, 0x7d, 0x78, 0xc0},       /* vpbroadcastb %xmm0,%ymm0 */
        {0x62, 0xe2, 0x7d, 0x28, 0x7a, 0xc6}, /* vpbroadcastb %esi,%ymm16 */
        {0x8f, 0xe9, 0x78, 0x90},             /* of XOP */
        {0x49, 0x90},                         /* xchg %rax,%r8 */
        {0xf3, 0xc5, 0xfe, 0x7f},
    };
    static const unsigned char five[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0x90, 0x90, 0x90};
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        assert_false(kinsn_unsafe(safe[i], 8, false));
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        assert_true(kinsn_unsafe(unsafe[i], 8, true));
    assert_true(kinsn_unsafe(five, sizeof five, false));
    assert_false(kinsn_unsafe(five, sizeof five, true));
    assert_true(kinsn_unsafe(safe[0], 0, true));
}

static void test_returns(void **state)
{
    (void)state;
    /* test %edi,%edi; je 1f; mov $0xc3,%eax; ret; 1: ret $8; rep ret; jmp *%rax */
    static const unsigned char code[] = {0x85, 0xff, 0x74, 0x06, 0xb8, 0xc3, 0,    0,   0,
                                         0xc3, 0xc2, 0x08, 0x00, 0xf3, 0xc3, 0xff, 0xe0};
    static const unsigned char data[] = {0x90, 0xc3, 0x06, 0xc3};
    size_t at = 0;
    assert_int_equal(kinsn_return(code, sizeof code, &at), 9);
    assert_int_equal(kinsn_return(code, sizeof code, &at), 10);
    assert_int_equal(kinsn_return(code, sizeof code, &at), 13);
    assert_int_equal(kinsn_return(code, sizeof code, &at), KINSN_NONE);
    assert_int_equal(at, sizeof code);
    at = 0;
    assert_int_equal(kinsn_return(data, sizeof data, &at), 1);
    assert_int_equal(kinsn_return(data, sizeof data, &at), KINSN_NONE);
    assert_int_not_equal(at, sizeof data); /* it is not understood */
}

static void test_nothing_known(void **state)
{
    (void)state;
    static const unsigned char odd[][15] = {
        {0x06},
        {0x82},
        {0x9a},
        {0xd6},
        {0xea},
        {0x0f, 0x04},
        {0x62, 0x00},
        {0xc4, 0x00, 0, 0x10},
        {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66}};
    uint64_t before;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_int_equal(kinsn_length(odd[i], sizeof odd[i]), 0);
    assert_false(kinsn_begins(odd[0], sizeof odd[0], 1, &before));
}

#else

static void test_lengths(void **state)
{
    (void)state;
    static const unsigned char code[8];
    assert_int_equal(kinsn_length(code, 8), 4);
    assert_int_equal(kinsn_length(code, 3), 0);
}

static void test_begin(void **state)
{
    (void)state;
    static const unsigned char code[8];
    uint64_t before;
    assert_true(kinsn_begins(code, 8, 4, &before));
    assert_false(kinsn_begins(code, 8, 6, &before));
    assert_int_equal(before, 4);
}

static void test_doubtful(void **state)
{
    (void)state;
    assert_true(kinsn_doubtful(NULL, 0));
}

static void test_unsafe(void **state)
{
    (void)state;
    static const unsigned char code[4] = {0xc0, 0x03, 0x5f, 0xd6};
    assert_true(kinsn_unsafe(code, 3, false));
    assert_false(kinsn_unsafe(code, 4, true));
}

static void test_returns(void **state)
{
    (void)state;
    /* nop; ret; ret */
    static const unsigned char code[] = {0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f,
                                         0xd6, 0xc0, 0x03, 0x5f, 0xd6, 0xc0};
    size_t at = 0;
    assert_int_equal(kinsn_return(code, sizeof code, &at), 4);
    assert_int_equal(kinsn_return(code, sizeof code, &at), 8);
    assert_int_equal(kinsn_return(code, sizeof code, &at), KINSN_NONE);
    assert_int_not_equal(at, sizeof code); /* a part of an instruction is not understood */
}

static void test_nothing_known(void **state)
{
    (void)state;
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),  cmocka_unit_test(test_begin),
        cmocka_unit_test(test_doubtful), cmocka_unit_test(test_unsafe),
        cmocka_unit_test(test_returns),  cmocka_unit_test(test_nothing_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
