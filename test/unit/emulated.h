/* emulated.h - what is not there for a program that an emulator runs (mk/arm64.mk). A test says
 * what it needs; where that is not there it is skipped, and says so. Each question is put to the
 * system itself, so that an emulator which learns more runs more tests. */
#ifndef ET_TEST_EMULATED_H
#define ET_TEST_EMULATED_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Skips the test that runs, unless it has what it needs. lack: what it does not have. */
static inline void emulated_skip(bool has, const char *lack)
{
    if (!has) {
        print_message("%s\n", lack);
        skip();
    }
}

static inline bool emulated_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The test looks at this process from outside, or at the types of the kernel that runs it. An
 * emulator tells a program that asks for its own file by name which one that is; the system knows
 * of the emulator's file alone. */
static inline void needs_to_be_run_by_the_system(void)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    emulated_skip(emulated_same_file("/proc/self/exe", path),
                  "the system knows this process as that of an emulator, for another processor");
}

/* The test finds files below the root folder of a process. */
static inline void needs_root_folder(void)
{
    const bool call = syscall(SYS_openat2, AT_FDCWD, "/", NULL, (size_t)0) >= 0 || errno != ENOSYS;
    emulated_skip(call || emulated_same_file("/", "/proc/self/root"),
                  "openat2(2) is not there, and an emulator looks for files in another folder than "
                  "the root folder that the system shows");
}

static inline void needs_robust_lists(void)
{
    void *head;
    size_t size;
    emulated_skip(syscall(SYS_get_robust_list, 0, &head, &size) == 0 || errno != ENOSYS,
                  "get_robust_list(2) is not there");
}

/* The test starts a process that is traced until it stands where it is to stand. */
static inline void needs_ptrace(void)
{
    emulated_skip(ptrace(PTRACE_CONT, getpid(), NULL, NULL) == 0 || errno != ENOSYS,
                  "ptrace(2) is not there");
}

#endif
