/* test_linux_fields.c - the members of the kernel's structures that the runtime reads, placed by
 * types of this program's own making. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "btf_build.h"
#include "linux/kfield.h"

/* A kernel with three of the structures, one of which lacks a member. */
static struct kbtf *kernel(void)
{
    struct btf_build b = {0};
    struct buf out = BUF_INIT;
    struct kbtf *types = NULL;
    struct diags d;
    diags_init(&d);
    const uint32_t s32 = btf_int(&b, "int", 4, INT_SIGNED), u64 = btf_int(&b, "u64", 8, 0);
    const uint32_t s64 = btf_int(&b, "s64", 8, INT_SIGNED);
    const uint32_t numbers = btf_array(&b, u64, 0);
    const uint32_t group = btf_parts(&b, KBTF_STRUCT, "pid", 96,
                                     PARTS({.name = "numbers", .type = numbers, .at = 96}));
    const uint32_t groups = btf_array(&b, btf_to(&b, KBTF_PTR, "", group), 4);
    const uint32_t signal = btf_parts(&b, KBTF_STRUCT, "signal_struct", 500,
                                      PARTS({.name = "pids", .type = groups, .at = 400}));
    const uint32_t path =
        btf_parts(&b, KBTF_STRUCT, "path", 16,
                  PARTS({.name = "mnt", .type = btf_to(&b, KBTF_PTR, "", u64), .at = 0}));
    btf_parts(&b, KBTF_STRUCT, "file", 80,
              PARTS({.name = "f_path", .type = path, .at = 64},
                    {.name = "f_pos", .type = s64, .at = 40}));
    const uint32_t to_signal = btf_to(&b, KBTF_PTR, "", signal);
    const uint32_t parent = btf_to(&b, KBTF_PTR, "", b.last + 2); /* to the next one */
    btf_parts(&b, KBTF_STRUCT, "task_struct", 3000,
              PARTS({.name = "prio", .type = s32, .at = 108},
                    {.name = "tgid", .type = s32, .at = 2460},
                    {.name = "real_parent", .type = parent, .at = 2472},
                    {.name = "signal", .type = to_signal, .at = 2800}));
    btf_finish(&b, &out);
    assert_int_equal(kbtf_read(&types, out.data, out.len, &d), ET_OK);
    buf_free(&out);
    diags_free(&d);
    return types;
}

static void placed(void **state)
{
    (void)state;
    struct kfield f[KFIELDS];
    struct kbtf *types = kernel();
    memset(f, 0xff, sizeof f);
    kfields_fill(f, types);
    const struct kfield prio = {.off = {108}, .n = 1, .size = 4, .is_signed = 1};
    assert_memory_equal(&f[KFIELD_PRI], &prio, sizeof prio);
    const struct kfield ppid = {.off = {2472, 2460}, .n = 2, .size = 4, .is_signed = 1};
    assert_memory_equal(&f[KFIELD_PPID], &ppid, sizeof ppid);
    /* an array without a size: its first word */
    const struct kfield sid = {.off = {2800, 400 + 3 * 8, 96}, .n = 3, .size = 4, .is_signed = 1};
    assert_memory_equal(&f[KFIELD_SID], &sid, sizeof sid);
    assert_int_equal(f[KFIELD_FILE_OFFSET].off[0], 40);
    assert_int_equal(f[KFIELD_FILE_OFFSET].size, 8);
    assert_int_equal(f[KFIELD_FILE_PATH].off[0], 64);
    assert_true(f[KFIELD_FILE_PATH].is_address);
    assert_int_equal(f[KFIELD_FILE_MOUNT].off[0], 64);
    assert_int_equal(f[KFIELD_FILE_MOUNT].size, 8);
    assert_false(f[KFIELD_FILE_MOUNT].is_address);
    kbtf_close(types);
}

/* Of a kernel that lacks a member, or its structure, it is not read. */
static void lacking(void **state)
{
    (void)state;
    struct kfield f[KFIELDS];
    struct kbtf *types = kernel();
    memset(f, 0xff, sizeof f);
    kfields_fill(f, types);
    assert_int_equal(f[KFIELD_FILE_FLAGS].n, 0);
    assert_int_equal(f[KFIELD_PATH_NAME].n, 0);
    assert_int_equal(f[KFIELD_FILE_FS].n, 0); /* found lacking at its first hop */
    assert_int_equal(f[KFIELD_NAME_TEXT].n, 0);
    assert_int_equal(f[KFIELD_FILES].n, 0);
    kbtf_close(types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placed),
        cmocka_unit_test(lacking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
