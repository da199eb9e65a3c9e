/* test_linux_probes.c - the catalogue of the kernel's probes: of kernels by hand, and of the
 * running one, without root and without tracing anything. */
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
#include "emulated.h"
#include "linux/kprobes.h"

struct kernel {
    bool old;        /* as before 5.18 */
    bool sched_exit; /* has the tracepoint sched_exit_tp */
    bool no_calls;   /* has no tracepoints of system calls */
};

static struct buf kernel(struct kernel is)
{
    struct btf_build b = {.last = 0};
    struct buf blob = BUF_INIT;
    uint32_t num = btf_int(&b, "int", 4, INT_SIGNED), uns = btf_int(&b, "unsigned int", 4, 0);
    uint32_t lng = btf_int(&b, "long int", 8, INT_SIGNED), truth = btf_int(&b, "bool", 1, INT_BOOL);
    uint32_t any = btf_to(&b, KBTF_PTR, "", 0);
    uint32_t status =
        btf_parts(&b, KBTF_STRUCT, "thread_info", 16, PARTS({"flags", lng, 0}, {"status", uns, 8}));
    uint32_t task =
        btf_parts(&b, KBTF_STRUCT, "task_struct", 64,
                  PARTS({"thread_info", status, 0}, {is.old ? "state" : "__state", lng, 24},
                        {"exit_signal", num, 32}, {"in_iowait", uns, 320, 1}));
    uint32_t ptask = btf_to(&b, KBTF_PTR, "", task);
#if defined(__x86_64__)
    uint32_t regs =
        btf_parts(&b, KBTF_STRUCT, "pt_regs", 168,
                  PARTS({"r10", lng, 56}, {"r9", lng, 64}, {"r8", lng, 72}, {"dx", lng, 96},
                        {"si", lng, 104}, {"di", lng, 112}, {"orig_ax", lng, 120}));
#else
    uint32_t regs = btf_parts(&b, KBTF_STRUCT, "pt_regs", 336,
                              PARTS({"regs", btf_array(&b, lng, 31), 0}, {"syscallno", num, 280}));
#endif
    uint32_t pregs = btf_to(&b, KBTF_PTR, "", regs);
    if (is.old)
        btf_tracepoint(&b, "sched_switch", PARTS({"", any}, {"", truth}, {"", ptask}, {"", ptask}));
    else
        btf_tracepoint(&b, "sched_switch",
                       PARTS({"", any}, {"", truth}, {"", ptask}, {"", ptask}, {"", uns}));
    if (is.sched_exit)
        btf_tracepoint(&b, "sched_exit_tp", PARTS({"", any}, {"", truth}));
    if (!is.no_calls) {
        btf_tracepoint(&b, "sys_enter", PARTS({"", any}, {"", pregs}, {"", lng}));
        btf_tracepoint(&b, "sys_exit", PARTS({"", any}, {"", pregs}, {"", lng}));
    }
    btf_tracepoint(&b, "sched_process_fork", PARTS({"", any}, {"", ptask}, {"", ptask}));
    btf_tracepoint(&b, "sched_process_fork", PARTS({"", any}, {"", ptask}, {"", ptask}));
    btf_tracepoint(&b, "odd", PARTS({"", any}, {"", task}, {"", uns})); /* a struct's value */
    btf_finish(&b, &blob);
    return blob;
}

static struct kprobes *catalogue(struct kernel is)
{
    struct buf blob = kernel(is);
    struct kprobes *k;
    struct kbtf *types;
    struct diags d;
    diags_init(&d);
    assert_int_equal(kbtf_read(&types, blob.data, blob.len, &d), 0);
    assert_int_equal(kprobes_make(&k, types, &d), 0);
    diags_free(&d);
    buf_free(&blob);
    return k;
}

struct found {
    const struct kprobe *first, *last;
    size_t n;
};

static int count(void *arg, const struct kprobe *p)
{
    struct found *f = arg;
    if (f->first == NULL)
        f->first = p;
    if (f->last != NULL)
        assert_true(f->last->id < p->id);
    f->last = p;
    f->n++;
    return 0;
}

static struct found find(struct kprobes *k, const char *prov, const char *func, const char *name)
{
    struct found f = {.n = 0};
    struct probe_spec spec = {prov, "", func, name, 0};
    assert_int_equal(kprobes_match(k, &spec, count, &f, NULL), 0);
    return f;
}

static const char *missing(struct kprobes *k, const char *prov, const char *func, const char *name)
{
    struct probe_spec spec = {prov, "", func, name, 0};
    return kprobes_missing(k, &spec);
}

static const char *suggest(struct kprobes *k, const char *prov, const char *func, const char *name)
{
    struct probe_spec spec = {prov, "", func, name, 0};
    return kprobes_suggest(k, &spec);
}

static void rows_for_each_kernel(void **state)
{
    struct found f;
    (void)state;
    struct kprobes *k = catalogue((struct kernel){.sched_exit = true});
    f = find(k, "sched", "", "on-cpu");
    assert_int_equal(f.n, 1);
    assert_string_equal(f.first->point, "sched_exit_tp");
    assert_null(f.first->thread);
    f = find(k, "sched", "", "sleep");
    assert_int_equal(f.first->nwhen, 2);
    assert_int_equal(f.first->when[1].step[0].n, 3); /* the state is an argument */
    kprobes_close(k);

    k = catalogue((struct kernel){.old = true});
    f = find(k, "sched", "", "on-cpu");
    assert_int_equal(f.n, 1);
    assert_string_equal(f.first->point, "sched_switch");
    assert_int_equal(f.first->thread->step[0].n, 2);
    f = find(k, "sched", "", "sleep");
    assert_int_equal(f.first->when[1].step[0].n, 1); /* the state is one of the thread */
    assert_int_equal(f.first->when[1].step[1].n, 24);
    assert_int_equal(find(k, "sched", "", "remain-cpu").n, 0);
    assert_string_equal(missing(k, "sched", "", "remain-cpu"),
                        "this kernel has no tracepoint sched_exit_tp");
    assert_string_equal(missing(k, "sched", "", "remain-*"),
                        "this kernel has no tracepoint sched_exit_tp");
    kprobes_close(k);
}

static void missing_and_suggested(void **state)
{
    (void)state;
    struct kprobes *k = catalogue((struct kernel){.no_calls = true});
    assert_non_null(missing(k, "fbt", "vfs_read", "entry"));
    assert_string_equal(missing(k, "syscall", "read", "entry"),
                        "this kernel has no tracepoint sys_enter");
    assert_string_equal(
        missing(k, "sched", "", "tick"),
        "Linux has no tracepoint at the clock of the scheduler; profile:::profile-N "
        "fires at a rate of its own");
    assert_null(missing(k, "sched", "", "tock"));
    assert_null(missing(k, "vminfo", "", "off-cpu"));
    kprobes_close(k);

    k = catalogue((struct kernel){.old = false});
    assert_null(missing(k, "syscall", "raed", "entry"));
    assert_string_equal(suggest(k, "syscall", "raed", "entry"),
                        "no function 'raed'; did you mean 'read'?");
    assert_string_equal(suggest(k, "syscal", "", "entry"),
                        "no provider 'syscal'; did you mean 'syscall'?");
    assert_string_equal(suggest(k, "sched", "", "prempt"),
                        "no probe 'prempt'; did you mean 'preempt'?");
    assert_string_equal(suggest(k, "rawtp", "", "sched_swich"),
                        "no probe 'sched_swich'; did you mean 'sched_switch'?");
    assert_null(suggest(k, "sched", "", "prempt*"));
    assert_null(suggest(k, "profile", "", "tick-0"));
    struct probe_spec spec = {"", "", "", "", 777777};
    assert_string_equal(kprobes_suggest(k, &spec), "no probe has the id 777777; -l lists them");
    kprobes_close(k);
}

static void system_calls(void **state)
{
    size_t n;
    (void)state;
    struct kprobes *k = catalogue((struct kernel){.old = false});
    assert_int_equal(find(k, "syscall", "read", "").n, 2);
    assert_int_equal(find(k, "syscall", "pread*", "entry").n, 3);
    assert_int_equal(find(k, "syscall", "", "entry").n, find(k, "syscall", "", "return").n);
    const struct kprobe *p = find(k, "syscall", "futex", "return").first;
    assert_string_equal(p->mod, "vmlinux");
    assert_string_equal(p->point, "sys_exit");
    assert_int_equal(p->is, SYS_futex);
    assert_int_equal(p->error->step[p->error->n - 1].op, KSTEP_ERRNO);
    assert_non_null(kprobes_args(k, p, &n));
    assert_int_equal(n, 2);
    p = find(k, "syscall", "futex", "entry").first;
    assert_string_equal(p->point, "sys_enter");
    assert_int_equal(p->is, SYS_futex);
    assert_null(p->error);
    assert_int_equal(p->key->step[0].n, 1);
    const struct kprobe_arg *arg = kprobes_args(k, p, &n);
    assert_int_equal(n, 6);
    assert_string_equal(arg[3].type, "int64_t");
    kprobes_close(k);
}

static void arguments(void **state)
{
    size_t n;
    (void)state;
    struct kprobes *k = catalogue((struct kernel){.old = false});
    const struct kprobe_arg *arg = kprobes_args(k, find(k, "sdt", "", "sched_switch").first, &n);
    assert_int_equal(n, 4);
    assert_string_equal(arg[0].type, "bool");
    assert_string_equal(arg[1].type, "struct task_struct *");
    assert_string_equal(arg[3].type, "unsigned int");
    assert_string_equal(arg[3].name, "arg3");
    arg = kprobes_args(k, find(k, "rawtp", "", "sched_switch").first, &n);
    assert_int_equal(n, 4);
    assert_string_equal(arg[1].type, "uint64_t");
    assert_int_equal(arg[1].value.n, 1);
    arg = kprobes_args(k, find(k, "sdt", "", "odd").first, &n);
    assert_int_equal(n, 2);
    assert_string_equal(arg[0].type, "uint64_t"); /* a struct is no number */
    assert_string_equal(arg[1].type, "unsigned int");
    arg = kprobes_args(k, find(k, "proc", "", "create").first, &n);
    assert_int_equal(n, 1);
    assert_string_equal(arg[0].type, "struct task_struct *");
    assert_string_equal(arg[0].as, "psinfo_t *");
    assert_null(kprobes_args(k, find(k, "sched", "", "sleep").first, &n));
    assert_int_equal(n, 0);
    kprobes_close(k);
}

static void ids(void **state)
{
    struct found f = {.n = 0};
    (void)state;
    struct kprobes *k = catalogue((struct kernel){.old = false});
    assert_int_equal(find(k, "rawtp", "", "sched_process_fork").n, 1); /* though described twice */
    size_t n = kprobes_count(k);
    for (size_t i = 0; i < n; i++) {
        const struct kprobe *p = kprobes_at(k, i);
        assert_int_equal(p->id, KPROBES_ID + i);
        assert_ptr_equal(kprobes_by_id(k, p->id), p);
    }
    assert_null(kprobes_at(k, n));
    assert_null(kprobes_by_id(k, KPROBES_ID + (uint32_t)n));
    assert_null(kprobes_by_id(k, 0));
    assert_null(kprobes_by_id(k, 1));
    struct probe_spec spec = {"", "", "", "", KPROBES_ID + 1};
    assert_int_equal(kprobes_match(k, &spec, count, &f, NULL), 0);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.first->id, KPROBES_ID + 1);
    kprobes_close(k);
}

static void intervals(void **state)
{
    size_t n;
    (void)state;
    struct kprobes *k = catalogue((struct kernel){.old = false});
    const struct probe_interval_def *def = probe_intervals(false, &n);
    assert_int_equal(find(k, "profile", "", "").n, n);
    const struct kprobe *p = find(k, "profile", "", def[n - 1].name).first;
    assert_int_equal(p->id, KPROBES_ID_DEFAULT + n - 1);
    assert_int_equal(p->period, def[n - 1].period);
    for (int again = 0; again < 2; again++) {
        struct found f = find(k, "profile", "", "tick-7sec");
        assert_int_equal(f.n, 1);
        assert_int_equal(f.first->id, KPROBES_ID_INTERVAL);
        assert_int_equal(f.first->attach, KATTACH_TICK);
        assert_int_equal(f.first->period, UINT64_C(7000000000));
    }
    assert_int_equal(find(k, "profile", "", "wall-97").n, 0); /* of nodes only */
    p = find(k, "", "", "profile-13ms").first;
    assert_int_equal(p->id, KPROBES_ID_INTERVAL + 1);
    assert_int_equal(p->attach, KATTACH_PROFILE);
    assert_ptr_equal(kprobes_by_id(k, p->id), p);
    assert_int_equal(find(k, "profile", "", "tick-*").n + find(k, "profile", "", "profile-*").n,
                     n + 2);
    assert_int_equal(find(k, "profile", "", "tick-0").n, 0);
    assert_int_equal(find(k, "sched", "", "tick-3s").n, 0);
    kprobes_close(k);
}

static int third_ends(void *arg, const struct kprobe *p)
{
    (void)p;
    return ++*(int *)arg == 3 ? 17 : 0;
}

static void a_walk_that_is_ended(void **state)
{
    struct probe_spec spec = {"syscall", "", "", "", 0};
    int calls = 0;
    (void)state;
    struct kprobes *k = catalogue((struct kernel){.old = false});
    assert_int_equal(kprobes_match(k, &spec, third_ends, &calls, NULL), 17);
    assert_int_equal(calls, 3);
    kprobes_close(k);
}

static void memory_runs_out(void **state)
{
    struct buf blob = kernel((struct kernel){.old = true});
    struct diags d;
    struct kprobes *k;
    struct kbtf *types;
    size_t n;
    int err = ET_ENOMEM;
    (void)state;
    unsigned long before = et_alloc_live();
    for (unsigned long i = 1; err == ET_ENOMEM; i++) {
        diags_init(&d);
        assert_int_equal(kbtf_read(&types, blob.data, blob.len, &d), 0);
        et_alloc_fail_after(i);
        err = kprobes_make(&k, types, &d);
        et_alloc_fail_after(0);
        assert_true(err == 0 || (err == ET_ENOMEM && k == NULL && d.errors == 1));
        diags_free(&d);
        kprobes_close(k);
        assert_int_equal(et_alloc_live(), before);
    }
    for (unsigned long i = 1; i < 30; i++) { /* what is made on request */
        k = catalogue((struct kernel){.old = true});
        const struct kprobe *p = find(k, "sdt", "", "sched_switch").first;
        et_alloc_fail_after(i);
        const struct kprobe_arg *arg = kprobes_args(k, p, &n);
        assert_true((arg == NULL) == (n == 0));
        suggest(k, "sched", "", "prempt");
        et_alloc_fail_after(0);
        assert_non_null(kprobes_args(k, p, &n));
        assert_int_equal(n, 3);
        kprobes_close(k);
    }
    buf_free(&blob);
}

/* -- the running kernel -------------------------------------------------------------------- */

static struct kprobes *running(void)
{
    struct diags d;
    struct kprobes *k;
    needs_to_be_run_by_the_system();
    diags_init(&d);
    int err = kprobes_open(&k, &d);
    if (err != 0)
        print_message("%s\n", d.list[0].text);
    diags_free(&d);
    if (err == ET_EUNSUP)
        skip();
    assert_int_equal(err, 0);
    return k;
}

/* Returns whether a reason is one that a kernel can have, not that something is written wrongly. */
static bool lacks(const char *why)
{
    static const char *const reasons[] = {"has no tracepoint ", "has no member ", "has no struct ",
                                          "has no number "};
    bool is = false;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        is |= strstr(why, reasons[i]) != NULL;
    return is;
}

/* Each row of the tables is a probe, or says why it is none here: that a tracepoint or a member is
 * not there, never that the row is written wrongly. */
static void each_row(void **state)
{
    const struct ktable *t;
    (void)state;
    struct kprobes *k = running();
    for (size_t i = 0; (t = ktable(i)) != NULL; i++)
        for (size_t r = 0; r < t->n; r++) {
            const char *func = t->row[r].func != NULL ? t->row[r].func : "";
            size_t n = find(k, t->prov, func, t->row[r].name).n;
            const char *why = missing(k, t->prov, func, t->row[r].name);
            assert_non_null(t->row[r].text);
            if (n == 0 && why == NULL)
                fail_msg("%s:::%s", t->prov, t->row[r].name);
            if (n > 0 && t->row[r].point == NULL)
                fail_msg("%s:::%s is here", t->prov, t->row[r].name);
            if (why != NULL && strncmp(why, "Linux ", 6) != 0 && !lacks(why))
                fail_msg("%s:::%s: %s", t->prov, t->row[r].name, why);
        }
    kprobes_close(k);
}

static void each_choice_of(struct kprobes *k, const struct krow *row, const char *text)
{
    struct arena mem;
    struct kvalue v;
    arena_init(&mem);
    while (text != NULL) {
        const char *end = strchr(text, ';');
        const char *one =
            arena_strndup(&mem, text, end != NULL ? (size_t)(end - text) : strlen(text));
        const char *why = kvalue_compile(&v, one, kprobes_types(k),
                                         kbtf_tracepoint(kprobes_types(k), row->point), &mem);
        if (why != NULL && !lacks(why))
            fail_msg("%s: %s: %s", row->name, one, why);
        text = end != NULL ? end + 1 : NULL;
    }
    arena_free(&mem);
}

/* Each choice of each value of the rows of tracepoints that are here, also those after the first
 * one that can be compiled. */
static void each_choice(void **state)
{
    const struct ktable *t;
    (void)state;
    struct kprobes *k = running();
    for (size_t i = 0; (t = ktable(i)) != NULL; i++)
        for (const struct krow *row = t->row; row < t->row + t->n; row++) {
            if (row->point == NULL || kbtf_tracepoint(kprobes_types(k), row->point) == 0)
                continue;
            for (size_t w = 0; w < KTABLE_WHEN; w++)
                each_choice_of(k, row, row->when[w]);
            for (size_t a = 0; a < KTABLE_ARGS; a++)
                each_choice_of(k, row, row->arg[a].value);
            each_choice_of(k, row, row->key);
            each_choice_of(k, row, row->is);
            each_choice_of(k, row, row->thread);
            each_choice_of(k, row, row->error);
        }
    kprobes_close(k);
}

/* Where a tracepoint is there with the arguments that the rows know, so is its probe. */
static void probes_of_today(void **state)
{
    static const struct {
        const char *prov, *name, *point;
    } row[] = {
        {"proc", "create", "sched_process_fork"},
        {"proc", "exit", "sched_process_exit"},
        {"proc", "exec-success", "sched_process_exec"},
        {"proc", "signal-send", "signal_generate"},
        {"proc", "exec-failure", "sys_exit"},
        {"sched", "off-cpu", "sched_switch"},
        {"sched", "sleep", "sched_switch"},
        {"sched", "preempt", "sched_switch"},
        {"sched", "wakeup", "sched_waking"},
        {"io", "start", "block_rq_issue"},
        {"io", "done", "block_rq_complete"},
        {"io", "wait-start", "sched_switch"},
        {"tcp", "state-change", "inet_sock_set_state"},
        {"ip", "receive", "netif_receive_skb"},
        {"tcp", "connect-established", "inet_sock_set_state"},
        {"ip", "send", "net_dev_queue"},
        {"syscall", "entry", "sys_enter"},
        {"syscall", "return", "sys_exit"},
    };
    (void)state;
    struct kprobes *k = running();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (kbtf_tracepoint(kprobes_types(k), row[i].point) != 0 &&
            find(k, row[i].prov, "", row[i].name).n == 0)
            fail_msg("%s", missing(k, row[i].prov, "", row[i].name));
    kprobes_close(k);
}

/* All arguments of all probes can be made, and have types that the kernel or D knows. */
static void all_arguments(void **state)
{
    size_t n;
    (void)state;
    struct kprobes *k = running();
    for (size_t i = 0; i < kprobes_count(k); i++) {
        const struct kprobe *p = kprobes_at(k, i);
        const struct kprobe_arg *arg = kprobes_args(k, p, &n);
        assert_true(p->proto != 0 && p->nwhen <= KTABLE_WHEN && n <= KPROBE_ARGS);
        for (size_t a = 0; a < n; a++) {
            assert_true(arg[a].value.n > 0 && arg[a].type[0] != '\0' && arg[a].name[0] != '\0');
            if (strstr(arg[a].type, "...") != NULL && strchr(arg[a].type, '(') == NULL)
                fail_msg("%s:::%s: %s", p->prov, p->name, arg[a].type);
        }
    }
    kprobes_close(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_for_each_kernel),
        cmocka_unit_test(missing_and_suggested),
        cmocka_unit_test(system_calls),
        cmocka_unit_test(arguments),
        cmocka_unit_test(ids),
        cmocka_unit_test(intervals),
        cmocka_unit_test(a_walk_that_is_ended),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(each_row),
        cmocka_unit_test(each_choice),
        cmocka_unit_test(probes_of_today),
        cmocka_unit_test(all_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
