/* test_linux_values.c - values of the kernel's probes: each is compiled against types that describe
 * structs of this program, and then computed over one of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "btf_build.h"
#include "kvalue_run.h"
#include "linux/ksyscall.h"
#include "linux/kvalue.h"

/* -- a kernel ------------------------------------------------------------------------------ */

struct task_struct {
    int32_t pid;
    uint8_t flag;
    char comm[16];
    unsigned low : 3, high : 9;
    int minus : 5;
    struct {
        uint16_t head, tail;
    } queue[3];
    struct task_struct *parent;
};
struct packet {
    uint64_t head;
    uint16_t offset;
};

static const struct task_struct init = {.pid = 1, .comm = "init"};
static const struct task_struct worker = {.pid = -7,
                                          .flag = 200,
                                          .comm = "worker",
                                          .low = 5,
                                          .high = 300,
                                          .minus = -3,
                                          .queue = {{1, 2}, {3, 4}, {5, 65535}},
                                          .parent = (struct task_struct *)(uintptr_t)&init};
static const struct packet packet = {0x1000, 40};
static const struct registers {
    uint64_t ax, orig_ax;
} registers = {12, UINT64_MAX - 38};

enum { INT32 = 1, BYTE, CHAR, UINT16, UINT32, UINT64, COMM, QUEUE, QUEUES, TASK, PTASK };

static struct kbtf *kernel(void)
{
    struct btf_build b = {.last = 0};
    struct buf blob = BUF_INIT;
    struct diags d;
    struct kbtf *k;
    btf_int(&b, "int", 4, INT_SIGNED);
    btf_int(&b, "unsigned char", 1, 0);
    btf_int(&b, "char", 1, 0);
    btf_int(&b, "short unsigned int", 2, 0);
    btf_int(&b, "unsigned int", 4, 0);
    btf_int(&b, "long unsigned int", 8, 0);
    btf_array(&b, CHAR, 16);
    btf_parts(&b, KBTF_STRUCT, "", 4, PARTS({"head", UINT16, 0}, {"tail", UINT16, 2}));
    btf_array(&b, QUEUE, 3);
    uint32_t bits = (uint32_t)(offsetof(struct task_struct, comm) + sizeof worker.comm) * 8;
    btf_parts(&b, KBTF_STRUCT, "task_struct", sizeof(struct task_struct),
              PARTS({"pid", INT32, offsetof(struct task_struct, pid)},
                    {"flag", BYTE, offsetof(struct task_struct, flag)},
                    {"comm", COMM, offsetof(struct task_struct, comm)}, {"low", UINT32, bits, 3},
                    {"high", UINT32, bits + 3, 9}, {"minus", INT32, bits + 12, 5},
                    {"queue", QUEUES, offsetof(struct task_struct, queue)},
                    {"parent", PTASK, offsetof(struct task_struct, parent)}));
    btf_to(&b, KBTF_PTR, "", TASK);
    uint32_t set = btf_parts(&b, KBTF_STRUCT, "packet", sizeof(struct packet),
                             PARTS({"head", UINT64, offsetof(struct packet, head)},
                                   {"offset", UINT16, offsetof(struct packet, offset)}));
    btf_parts(&b, KBTF_STRUCT, "pt_regs", sizeof registers,
              PARTS({"ax", UINT64, offsetof(struct registers, ax)},
                    {"orig_ax", UINT64, offsetof(struct registers, orig_ax)}));
    uint32_t ppacket = btf_to(&b, KBTF_PTR, "", btf_to(&b, KBTF_CONST, "", set));
    btf_type(&b, KBTF_ENUM, "colour", false, 1, 4);
    buf_u32(&b.types, btf_name(&b, "GREEN"));
    buf_u32(&b.types, 42);
    btf_tracepoint(
        &b, "event",
        PARTS({"", UINT64}, {"", PTASK}, {"", INT32}, {"", ppacket}, {"", UINT64}, {"", BYTE}));
    btf_finish(&b, &blob);
    diags_init(&d);
    assert_int_equal(kbtf_read(&k, blob.data, blob.len, &d), 0);
    diags_free(&d);
    buf_free(&blob);
    return k;
}

static void values(void **state)
{
    struct arena mem;
    struct kvalue v;
    (void)state;
    struct kbtf *k = kernel();
    /* The upper bits of an argument are anything. */
    const struct event e = {{(uint64_t)(uintptr_t)&worker, 0xabcd00000000u | (uint32_t)-5,
                             (uint64_t)(uintptr_t)&packet, (uint64_t)-22, 0xff01},
                            &init,
                            3,
                            .regs = &registers};
    const struct {
        const char *text;
        int64_t is;
    } row[] = {
        {"$1", (int64_t)(uintptr_t)&worker},
        {"$2", -5},
        {"$4", -22},
        {"$5", 1},
        {"7", 7},
        {"-7", -7},
        {"0x10", 16},
        {"cpu", 3},
        {"task", (int64_t)(uintptr_t)&init},
        {"task->pid", 1},
        {"regs->ax", 12},
        {"regs->orig_ax in 5 -39", 1},
        {"cpu + regs->ax", 15},
        {"$1->pid", -7},
        {"$task_struct->pid", -7},
        {"$packet->offset", 40},
        {"$1->flag", 200},
        {"$1->comm", (int64_t)(uintptr_t)worker.comm},
        {"$1->comm[2]", 'r'},
        {"$1->low", 5},
        {"$1->high", 300},
        {"$1->minus", -3},
        {"$1->queue[2].tail", 65535},
        {"$1->queue[1]", (int64_t)(uintptr_t)&worker.queue[1]},
        {"$1->parent->pid", 1},
        {"$1->parent->parent", 0},
        {"$4(task_struct)", -22},
        {"$3->head + $3->offset", 0x1000 + 40},
        {"$3->head - $3->offset", 0x1000 - 40},
        {"$1->high & 255 << 1 >> 2 | 1", (300 & 255) << 1 >> 2 | 1},
        {"$1->pid == -7", 1},
        {"$1->pid != -7", 0},
        {"$1->pid < 0", 1},
        {"$1->pid >= 0", 0},
        {"$4 errno", 22},
        {"$2 + 5 errno", 0},
        {"$5 errno", 0},
        {"-4096 errno", 0},
        {"-4095 errno", 4095},
        {"$2 in 1 -5 3", 1},
        {"$2 in 1 5", 0},
        {"42 == GREEN", 1},
        {"GREEN", 42},
        {"sys_read", SYS_read},
        {"$1->flag == 0 | $5", 1},
        {"cpu != $5", 1},
        {"cpu - 2 == $5", 1},
        {"$1->none; $1->pid", -7},
        {"$9; $1->none->x; $2", -5},
        {"$1->pid; $1->none", -7},
        {"  $1->pid  ==  -7 ", 1},
    };
    arena_init(&mem);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *why = kvalue_compile(&v, row[i].text, k, kbtf_tracepoint(k, "event"), &mem);
        if (why != NULL)
            fail_msg("%s: this kernel %s", row[i].text, why);
        if (compute(&v, &e) != row[i].is)
            fail_msg("%s is %lld", row[i].text, (long long)compute(&v, &e));
        assert_in_range(v.n, 1, KVALUE_STEPS);
    }
    arena_free(&mem);
    kbtf_close(k);
}

static void types(void **state)
{
    struct arena mem;
    struct kvalue v;
    (void)state;
    struct kbtf *k = kernel();
    static const struct {
        const char *text;
        uint32_t type;
    } row[] = {
        {"$1", PTASK},
        {"task", PTASK},
        {"$1->pid", INT32},
        {"$1->comm", COMM},
        {"$1->queue[0]", QUEUE},
        {"$1->pid & 1", INT32},
        {"$1->pid == 1", 0},
        {"$2 errno", 0},
        {"$2 in 1", 0},
        {"cpu", 0},
        {"12", 0},
        {"$4(task_struct)", PTASK},
    };
    arena_init(&mem);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_null(kvalue_compile(&v, row[i].text, k, kbtf_tracepoint(k, "event"), &mem));
        if (v.type != row[i].type)
            fail_msg("%s has type %u", row[i].text, v.type);
    }
    arena_free(&mem);
    kbtf_close(k);
}

static void refused(void **state)
{
    struct arena mem;
    struct kvalue v;
    (void)state;
    struct kbtf *k = kernel();
    static const struct {
        const char *text, *why;
    } row[] = {
        {"$1->none", "has no member 'none' in struct task_struct"},
        {"$1->queue[0].none", "has no member 'none' in struct {}"},
        {"$6", "has no number as argument 6 there"},
        {"$0", "has no number as argument 0 there"},
        {"$inode->i", "has no struct inode as an argument there"},
        {"$1(inode)->i", "has no struct inode"},
        {"$1->queue[3].head", "has no such element before '.head'"},
        {"$1->pid[0]", "has no such element before ''"},
        {"$1.pid", "has no struct before '.pid'"},
        {"$2->pid", "has no member 'pid' in struct {}"},
        {"BLUE", "has no constant 'BLUE'"},
        {"$2 == BLUE", "has no constant 'BLUE'"},
        {"$2 in BLUE", "has no constant 'BLUE'"},
        {"$2 in 1 2 3 4 5", "has too much in a set"},
        {"$2 in 0x100000000", "has too much in a set"},
        {"$2 == sys_none", "has no such system call on this kind of machine"},
        {"$2 ** 3", "has no operator '** 3'"},
        {"$2 +", "has no constant ''"},
        {"$2 + $2 + $2", "has a value with two places as operands"},
        {"$2 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1",
         "has a value that takes too many steps"},
        {"", "has no constant ''"},
        {";", "has no constant ''"},
        {"$1->none; $1->nine", "has no member 'nine' in struct task_struct"},
    };
    arena_init(&mem);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *why = kvalue_compile(&v, row[i].text, k, kbtf_tracepoint(k, "event"), &mem);
        if (why == NULL)
            fail_msg("'%s' was not refused", row[i].text);
        assert_string_equal(why, row[i].why);
    }
    assert_null(
        kvalue_compile(&v, "$2 in sys_none sys_read", k, kbtf_tracepoint(k, "event"), &mem));
    assert_int_equal(v.step[v.n - 1].size, 1);
    arena_free(&mem);
    kbtf_close(k);
}

static void memory_runs_out(void **state)
{
    struct kvalue v;
    const char *why = kvalue_no_memory;
    (void)state;
    struct kbtf *k = kernel();
    for (unsigned long n = 1; why == kvalue_no_memory; n++) {
        struct arena mem;
        arena_init(&mem);
        et_alloc_fail_after(n);
        why = kvalue_compile(&v, "$packet(task_struct)->pid == GREEN; $1->pid", k,
                             kbtf_tracepoint(k, "event"), &mem);
        et_alloc_fail_after(0);
        arena_free(&mem);
    }
    assert_null(why);
    kbtf_close(k);
}

/* The list has the numbers that the C library's headers have. */
static void system_calls(void **state)
{
    (void)state;
#define IS(name)                                                                                   \
    {                                                                                              \
#name, SYS_##name                                                                          \
    }
    static const struct {
        const char *name;
        long number;
    } row[] = {
        IS(read),       IS(write),          IS(close),      IS(mmap),  IS(execve),
        IS(exit_group), IS(openat),         IS(futex),      IS(clone), IS(rt_sigtimedwait),
        IS(execveat),   IS(io_uring_enter), IS(pidfd_open),
#ifdef SYS_open
        IS(open),       IS(fork),
#endif
    };
#undef IS
    int64_t number;
    size_t n;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (!ksyscall_number(row[i].name, strlen(row[i].name), &number) || number != row[i].number)
            fail_msg("%s", row[i].name);
    }
    assert_false(ksyscall_number("reads", 5, &number));
    assert_true(ksyscall_number("reads", 4, &number));
    const struct ksyscall *call = ksyscalls(&n);
    assert_true(n > 300);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (strcmp(call[i].name, call[j].name) == 0 ||
                (call[i].number >= 0 && call[i].number == call[j].number))
                fail_msg("%s and %s", call[i].name, call[j].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),       cmocka_unit_test(types),
        cmocka_unit_test(refused),      cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(system_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
