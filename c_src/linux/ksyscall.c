/* ksyscall.c - the table of system calls. */
#include <string.h>

#include "linux/ksyscall.h"

enum { NO = -1 }; /* such machines do not have the call */

static const struct ksyscall table[] = {
#if defined(__x86_64__)
#define SYSCALL(x86_64, generic, name) {#name, x86_64},
#else
#define SYSCALL(x86_64, generic, name) {#name, generic},
#endif
#include "linux/k_syscalls.list"
#undef SYSCALL
};

const struct ksyscall *ksyscalls(size_t *n)
{
    *n = sizeof table / sizeof *table;
    return table;
}

bool ksyscall_number(const char *name, size_t len, int64_t *number)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0) {
            *number = table[i].number;
            return table[i].number != NO;
        }
    return false;
}
