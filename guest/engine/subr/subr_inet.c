/* subr_inet.c - network addresses as text: inet_ntoa, inet_ntoa6, inet_ntop, link_ntop (language.md
 * 6.3). An address is read from the program's memory, most significant byte first. */
#include "engine/subr/subr.h"

#include <stdio.h>
#include <string.h>

enum { WORK_NUMBER = 32 }; /* units for writing a number of a byte or two */
enum { FAMILY_INET6 = 10, LINK_ETHERNET = 1, LINK_INFINIBAND = 32 };
enum {
    INET_BYTES = 4,
    INET6_BYTES = 16,
    INET6_GROUPS = 8,
    ETHERNET_BYTES = 6,
    INFINIBAND_BYTES = 20
};

static int put_inet(char *to, size_t n, const unsigned char *a)
{
    return snprintf(to, n, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
}

/* Copies an address of n bytes, which other threads may write; returns false after a fault. */
static bool address(struct exec *x, uint64_t addr, unsigned char *to, size_t n)
{
    const void *p = exec_work(x, n * WORK_NUMBER) ? exec_bytes(x, addr, n) : NULL;
    if (p != NULL)
        memcpy(to, p, n);
    return p != NULL;
}

static uint64_t inet(struct exec *x, uint64_t addr)
{
    unsigned char a[INET_BYTES];
    char text[sizeof "255.255.255.255"];
    return address(x, addr, a, sizeof a)
               ? subr_copy(x, text, (size_t)put_inet(text, sizeof text, a))
               : 0;
}

/* Returns the length of the longest run of zero groups, the first if there are several; 0: there is
 * none. */
static unsigned zero_run(const unsigned *group, unsigned ngroups, unsigned *start)
{
    unsigned best = 0;
    for (unsigned i = 0, n = 0; i < ngroups; i++) {
        n = group[i] == 0 ? n + 1 : 0;
        if (n > best) {
            best = n;
            *start = i + 1 - n;
        }
    }
    return best;
}

/* Returns whether the last four bytes of an IPv6 address are an IPv4 address: mapped
 * (::ffff:a.b.c.d) or compatible (::a.b.c.d, which excludes :: and ::1). */
static bool holds_inet(const unsigned *group)
{
    for (unsigned i = 0; i < 5; i++)
        if (group[i] != 0)
            return false;
    return group[5] == 0xffff || (group[5] == 0 && (group[6] != 0 || group[7] > 1));
}

static uint64_t inet6(struct exec *x, uint64_t addr, bool strict)
{
    unsigned char a[INET6_BYTES];
    char text[64], *p = text;
    const char *end = text + sizeof text;
    unsigned group[INET6_GROUPS], start = INET6_GROUPS;
    if (!address(x, addr, a, sizeof a))
        return 0;
    for (unsigned i = 0; i < INET6_GROUPS; i++)
        group[i] = a[2 * i] * 256u + a[2 * i + 1];
    strict = strict && holds_inet(group);
    unsigned n = strict ? INET6_GROUPS - 2 : INET6_GROUPS, run = zero_run(group, n, &start);
    for (unsigned i = 0; i < n;) {
        if (run > 0 && i == start) {
            p += snprintf(p, (size_t)(end - p), "::");
            i += run;
        } else {
            bool first = i == 0 || (run > 0 && i == start + run);
            p += snprintf(p, (size_t)(end - p), first ? "%x" : ":%x", group[i++]);
        }
    }
    if (strict) {
        if (start + run < n) /* the text before it does not end in "::" */
            *p++ = ':';
        p += put_inet(p, (size_t)(end - p), a + INET6_BYTES - INET_BYTES);
    }
    return subr_copy(x, text, (size_t)(p - text));
}

uint64_t subr_inet_ntoa(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return inet(x, arg[0]);
}

uint64_t subr_inet_ntoa6(struct exec *x, const uint64_t *arg, unsigned n)
{
    return inet6(x, arg[0], n > 1 && arg[1] != 0);
}

uint64_t subr_inet_ntop(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    return (int32_t)arg[0] == FAMILY_INET6 ? inet6(x, arg[1], true) : inet(x, arg[1]);
}

uint64_t subr_link_ntop(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    size_t bytes = (int32_t)arg[0] == LINK_ETHERNET     ? ETHERNET_BYTES
                   : (int32_t)arg[0] == LINK_INFINIBAND ? INFINIBAND_BYTES
                                                        : 0;
    if (bytes == 0)
        return exec_fault(x, RECORD_FAULT_ILLOP, 0);
    unsigned char a[INFINIBAND_BYTES];
    char text[INFINIBAND_BYTES * 3 + 1];
    if (!address(x, arg[1], a, bytes))
        return 0;
    for (size_t i = 0; i < bytes; i++)
        snprintf(text + i * 3, 4, "%02x:", a[i]);
    return subr_copy(x, text, bytes * 3 - 1);
}
