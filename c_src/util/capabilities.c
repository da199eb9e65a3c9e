/* capabilities.c - see capabilities.h. The C library has no functions for them. */
#include "util/capabilities.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/buftext.h"

enum { HALVES = _LINUX_CAPABILITY_U32S_3 };

static bool get(struct __user_cap_data_struct half[HALVES])
{
    struct __user_cap_header_struct own = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &own, half) == 0;
}

uint64_t capabilities_effective(void)
{
    struct __user_cap_data_struct half[HALVES];
    return get(half) ? half[0].effective | (uint64_t)half[1].effective << 32 : 0;
}

bool capabilities_keep(uint64_t set)
{
    struct __user_cap_header_struct own = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct half[HALVES];
    if (!get(half))
        return false;
    for (unsigned i = 0; i < HALVES; i++) {
        const uint32_t kept = (uint32_t)(set >> 32 * i);
        half[i].effective &= kept;
        half[i].permitted &= kept;
        half[i].inheritable &= kept;
    }
    return syscall(SYS_capset, &own, half) == 0;
}

void capabilities_names(uint64_t set, struct buf *out)
{
    static const struct {
        unsigned number;
        const char *name;
    } names[] = {
        {CAP_BPF, "CAP_BPF"},
        {CAP_PERFMON, "CAP_PERFMON"},
        {CAP_KILL, "CAP_KILL"},
        {CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
        {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
        {CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE"},
    };
    const size_t from = out->len;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((set >> names[i].number & 1) != 0)
            buf_printf(out, "%s%s", out->len > from ? ", " : "", names[i].name);
    if (out->len == from)
        buf_adds(out, "none");
}
