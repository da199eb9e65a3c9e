/* test_linux_sym.c - the symbols at addresses of this process: of a copy of its own program that is
 * stripped, which it maps as if it ran it. */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "emulated.h"
#include "linux/kelf.h"
#include "linux/ksym.h"

/* Two functions that nothing exports, one behind the other. */
__attribute__((noinline, used)) static long stripped_first(long a)
{
    __asm__ volatile("nop\nnop\nnop\n");
    return a + 1;
}

__attribute__((noinline, used)) static long stripped_second(long a)
{
    __asm__ volatile("nop\nnop\nnop\n");
    return stripped_first(a) * 2;
}

/* Returns the address of a function in this program's file. */
static uint64_t in_file(const char *name)
{
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct kelf e;
    uint64_t at = 0;
    assert_true(fd >= 0 && kelf_read(&e, fd));
    assert_false(e.stripped);
    for (size_t i = 0; i < e.funcs.n; i++)
        if (strcmp(e.funcs.names.data + e.funcs.f[i].name, name) == 0)
            at = e.funcs.f[i].at;
    kelf_free(&e);
    close(fd);
    assert_int_not_equal(at, 0);
    return at;
}

/* Maps what may be executed of a file, read only as far as this process is concerned. Returns what
 * an address of the file has more here. */
static uint64_t mapped(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct kelf e;
    assert_true(fd >= 0 && kelf_read(&e, fd));
    assert_true(e.stripped && e.nsegments > 0);
    const struct ksegment g = e.segment[0];
    const uint64_t skip = g.offset % 4096;
    void *at =
        mmap(NULL, g.size + skip, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)(g.offset - skip));
    assert_true(at != MAP_FAILED);
    kelf_free(&e);
    close(fd);
    return (uint64_t)(uintptr_t)at + skip - g.address;
}

static void test_functions_without_symbols(void **state)
{
    (void)state;
    char folder[] = "/tmp/et_symXXXXXX", path[64], command[128], place[32];
    needs_to_be_run_by_the_system();
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/program", folder);
    snprintf(command, sizeof command, "strip -o %s /proc/%d/exe", path, (int)getpid());
    if (system(command) != 0) {
        rmdir(folder);
        skip();
    }
    struct ksyms *s = ksyms_open();
    const uint64_t base = mapped(path);
    const uint64_t pid = (uint64_t)getpid(), first = in_file("stripped_first"),
                   second = in_file("stripped_second");
    struct ksym a, b;
    assert_non_null(s);
    /* One function, however far its addresses are from its begin. */
    assert_true(ksyms_find(s, pid, base + first, &a));
    snprintf(place, sizeof place, "0x%" PRIx64, first);
    assert_non_null(a.function);
    assert_string_equal(a.function, place);
    assert_string_equal(a.object, path);
    assert_int_equal(a.offset, 0);
    assert_int_equal(a.object_offset, first);
    assert_true(ksyms_find(s, pid, base + first + 3, &b));
    assert_string_equal(b.function, place);
    assert_int_equal(b.offset, 3);
    assert_true(ksyms_find(s, pid, base + second + 3, &b));
    snprintf(place, sizeof place, "0x%" PRIx64, second);
    assert_string_equal(b.function, place);
    /* This program itself has its symbols. */
    assert_true(ksyms_find(s, pid, (uint64_t)(uintptr_t)stripped_second + 3, &b));
    assert_string_equal(b.function, "stripped_second");
    ksyms_close(s);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_without_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
