/* test_linux_user.c - the probes in processes, of this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"
#include "emulated.h"
#include "linux/kuser.h"

__attribute__((noinline, used)) static long probed_first(long a)
{
    __asm__ volatile("");
    return a + 1;
}

__attribute__((noinline, used)) static long probed_second(long a)
{
    __asm__ volatile("");
    return probed_first(a) * 2;
}

/* Named as the compiler of C++ does. */
__attribute__((noinline, used)) static void _Zprobed(void)
{
    __asm__ volatile("");
}

struct user {
    struct ksyms *syms;
    struct kuser *u;
    char prov[32];
};

static struct user opened(void)
{
    needs_to_be_run_by_the_system();
    struct user t = {.syms = ksyms_open()};
    assert_non_null(t.syms);
    t.u = kuser_open(t.syms);
    assert_non_null(t.u);
    snprintf(t.prov, sizeof t.prov, "pid%d", (int)getpid());
    return t;
}

static void closed(struct user *t)
{
    kuser_close(t->u);
    ksyms_close(t->syms);
}

struct found {
    size_t n;
    const struct kprobe *first, *last;
};

static int count(void *arg, const struct kprobe *p)
{
    struct found *f = arg;
    f->first = f->n++ == 0 ? p : f->first;
    f->last = p;
    return 0;
}

static struct found find(struct user *t, const char *prov, const char *mod, const char *func,
                         const char *name)
{
    struct found f = {0};
    struct diags d;
    diags_init(&d);
    assert_int_equal(
        kuser_match(t->u, &(struct probe_spec){prov, mod, func, name, 0}, count, &f, &d), 0);
    diags_free(&d);
    return f;
}

static void hint(struct user *t, const char *prov, const char *mod, const char *func,
                 const char *name, const char *is)
{
    assert_int_equal(find(t, prov, mod, func, name).n, 0);
    const char *said = kuser_suggest(t->u, &(struct probe_spec){prov, mod, func, name, 0});
    assert_non_null(said);
    if (strstr(said, is) == NULL)
        fail_msg("'%s' is not in '%s'", is, said);
}

static void test_functions(void **state)
{
    (void)state;
    struct user t = opened();
    size_t n;
    assert_int_equal(probed_second(1), 4);
    struct found f = find(&t, t.prov, "a.out", "probed_first", "entry");
    assert_int_equal(f.n, 1);
    assert_string_equal(f.first->prov, t.prov);
    assert_string_equal(f.first->mod, "test_linux_user");
    assert_string_equal(f.first->func, "probed_first");
    assert_string_equal(f.first->name, "entry");
    assert_int_equal(f.first->attach, KATTACH_PLACE);
    assert_null(f.first->more);
    assert_non_null(kuser_args(f.first, &n));
    assert_int_equal(n, KMEM_ARGS);
    /* The same probe, however it is named. */
    assert_ptr_equal(find(&t, t.prov, "test_linux_user", "probed_first", "entry").first, f.first);
    assert_ptr_equal(find(&t, t.prov, "test_linux_*", "probed_f*", "en*").first, f.first);
    assert_ptr_equal(kuser_by_id(t.u, f.first->id), f.first);
    struct found both = find(&t, t.prov, "a.out", "probed_*", "");
    assert_int_equal(both.n, 4);
    assert_string_equal(both.last->func, "probed_second");
    assert_string_equal(both.last->name, "return");
    assert_int_equal(both.last->attach, KATTACH_PLACE);
    assert_non_null(kuser_args(both.last, &n));
    assert_int_equal(n, 2);
    assert_true(both.last->id > both.first->id);
    /* The bytes at the place in the file are those of the function. */
    unsigned char code[4];
    const int fd = ksyms_open_file(f.first->file);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, code, sizeof code, (off_t)f.first->offset), sizeof code);
    close(fd);
    assert_memory_equal(code, (const void *)(uintptr_t)probed_first, sizeof code);
    closed(&t);
}

static void test_libraries(void **state)
{
    (void)state;
    struct user t = opened();
    struct found f = find(&t, t.prov, "libc", "getppid", "entry");
    assert_int_equal(f.n, 1);
    assert_string_equal(f.first->mod, "libc.so.6");
    assert_ptr_equal(find(&t, t.prov, "libc.so.6", "getppid", "entry").first, f.first);
    assert_ptr_equal(find(&t, t.prov, "", "getppid", "entry").first, f.first);
    /* Which function it is, is chosen when the library is loaded. */
    hint(&t, t.prov, "libc", "strlen", "entry", "stands for one of several functions");
    closed(&t);
}

static void test_offsets(void **state)
{
    (void)state;
    struct user t = opened();
    struct found entry = find(&t, t.prov, "a.out", "probed_first", "entry"),
                 zero = find(&t, t.prov, "a.out", "probed_first", "0");
    assert_int_equal(zero.n, 1);
    assert_int_equal(zero.first->offset, entry.first->offset);
    assert_true(zero.first->id != entry.first->id);
    assert_ptr_equal(find(&t, t.prov, "a.out", "probed_first", "00").first, zero.first);
    assert_ptr_equal(kuser_by_id(t.u, zero.first->id), zero.first);
    hint(&t, t.prov, "a.out", "probed_first", "fff0", "probed_first has only ");
    size_t n = 0;
    for (unsigned at = 0; at < 4; at++) {
        char name[8];
        snprintf(name, sizeof name, "%x", at);
        n += find(&t, t.prov, "a.out", "probed_first", name).n;
    }
    assert_in_range(n, 1, 3); /* no code has four instructions in its first four bytes */
    closed(&t);
}

static void test_hints(void **state)
{
    (void)state;
    struct user t = opened();
    hint(&t, t.prov, "test_linux_usr", "probed_first", "entry", "did you mean 'test_linux_user'?");
    hint(&t, t.prov, "a.out", "probed_frist", "entry", "no function 'probed_frist'; did you mean");
    hint(&t, t.prov, "a.out", "probed_first", "entri", "entry, return or an offset");
    hint(&t, "pid4194305", "a.out", "probed_first", "entry", "there is no process 4194305");
    char none[40];
    snprintf(none, sizeof none, "shop%d", (int)getpid());
    hint(&t, none, "a.out", "", "", "defines probes");
    closed(&t);
}

static void test_names(void **state)
{
    (void)state;
    assert_true(kuser_names("pid1"));
    assert_true(kuser_names("python31234"));
    assert_false(kuser_names("pid"));
    assert_false(kuser_names("nfsv4")); /* a provider of its own */
    assert_false(kuser_names("syscall"));
    assert_false(kuser_names("1234"));
    assert_false(kuser_names(""));
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    needs_to_be_run_by_the_system();
    for (unsigned long n = 1;; n++) {
        struct diags d;
        struct found f = {0};
        diags_init(&d);
        et_alloc_fail_after(n);
        const unsigned long before = et_alloc_count();
        struct ksyms *syms = ksyms_open();
        struct kuser *u = syms != NULL ? kuser_open(syms) : NULL;
        char prov[32];
        snprintf(prov, sizeof prov, "pid%d", (int)getpid());
        const struct probe_spec spec = {prov, "a.out", "probed_*", "", 0};
        const int err = u != NULL ? kuser_match(u, &spec, count, &f, &d) : ET_ENOMEM;
        const bool enough = et_alloc_count() - before < n;
        et_alloc_fail_after(0);
        kuser_close(u);
        ksyms_close(syms);
        diags_free(&d);
        if (enough) {
            assert_int_equal(err, 0);
            assert_int_equal(f.n, 4);
            break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_offsets),   cmocka_unit_test(test_hints),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
