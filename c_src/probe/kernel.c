/* kernel.c - providers whose probes are in the kernel or in any process. Only the kernel tier may
 * have them; a program that names one compiles, and is refused elsewhere with that reason when it
 * is to run. */
#include <ctype.h>
#include <string.h>

#include "probe/probe.h"

bool probe_kernel_provider(const char *prov)
{
    static const char *const names[] = {
        "syscall", "fbt",      "rawfbt",    "sdt",   "rawtp", "proc", "sched", "io",   "vminfo",
        "sysinfo", "lockstat", "plockstat", "cpc",   "ip",    "tcp",  "udp",   "sctp", "mib",
        "fpuinfo", "iscsi",    "nfsv3",     "nfsv4", "smb",   "fc",   "srp",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], prov) == 0)
            return true;
    if (strncmp(prov, "pid", 3) != 0 || prov[3] == '\0') /* pid1234: of one process */
        return false;
    for (prov += 3; isdigit((unsigned char)*prov); prov++)
        ;
    return *prov == '\0';
}
