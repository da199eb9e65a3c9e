/* knamespace.c - see knamespace.h. */
#include "linux/knamespace.h"

#include <sys/stat.h>

#include "base/err.h"

#define FIRST 0xEFFFFFFCu /* the number of the first one: linux/proc_ns.h */

uint32_t knamespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != FIRST ? (uint32_t)st.st_ino : 0;
}

/* Returns where a member of a structure lies, in bytes; -1: there is none. */
static int64_t member(const struct kbtf *types, const char *of, const char *path)
{
    struct kbtf_member m;
    return kbtf_path(types, kbtf_find(types, KBTF_STRUCT, of), path, &m) ? (int64_t)(m.bit / 8)
                                                                         : -1;
}

int knamespace_fill(uint64_t consts[KCONSTS], const struct kbtf *types, struct diags *d)
{
    enum { NAMESPACE_AT = 8 }; /* struct level of bpf/process.c */
    const int64_t level = member(types, "pid", "level"), numbers = member(types, "pid", "numbers"),
                  number = member(types, "pid_namespace", "ns.inum");
    consts[KCONST_NAMESPACE] = knamespace();
    if (consts[KCONST_NAMESPACE] == 0)
        return 0;
    if (level < 0 || numbers < 0 || number < 0 || member(types, "upid", "nr") != 0 ||
        member(types, "upid", "ns") != NAMESPACE_AT)
        return diag_error(d, ET_EUNSUP, NULL, "KERNEL_NAMESPACE",
                          "run erltrace in the host's namespace of processes",
                          "could not enable tracing: this kernel does not tell which numbers "
                          "processes have in the namespace that erltrace is in");
    consts[KCONST_PID_LEVEL] = (uint64_t)level;
    consts[KCONST_PID_NUMBERS] = (uint64_t)numbers;
    consts[KCONST_PID_NAMESPACE] = (uint64_t)number;
    return 0;
}
