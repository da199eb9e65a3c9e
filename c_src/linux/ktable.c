/* ktable.c - the tables of the kernel's probes. */
#include "linux/ksyscall.h"
#include "linux/ktable.h"

/* clang-format off */
static const struct krow proc[] = {
#include "linux/k_proc.list"
};
static const struct krow sched[] = {
#include "linux/k_sched.list"
};
static const struct krow io[] = {
#include "linux/k_io.list"
};
static const struct krow vminfo[] = {
#include "linux/k_vminfo.list"
};
static const struct krow sysinfo[] = {
#include "linux/k_sysinfo.list"
};
static const struct krow fsinfo[] = {
#include "linux/k_fsinfo.list"
};
static const struct krow lockstat[] = {
#include "linux/k_lockstat.list"
};
static const struct krow ip[] = {
#include "linux/k_ip.list"
};
static const struct krow tcp[] = {
#include "linux/k_tcp.list"
};
static const struct krow udp[] = {
#include "linux/k_udp.list"
};

#define TABLE(rows) {#rows, rows, sizeof rows / sizeof *rows}
static const struct ktable tables[] = {
    TABLE(proc), TABLE(sched), TABLE(io), TABLE(vminfo), TABLE(sysinfo),
    TABLE(fsinfo), TABLE(lockstat), TABLE(ip), TABLE(tcp), TABLE(udp),
};
/* clang-format on */

const struct ktable *ktable(size_t i)
{
    return i < sizeof tables / sizeof *tables ? &tables[i] : NULL;
}
