/* peer.c - see peer.h. Asks the kernel for the one socket whose own address is our peer's and whose
 * peer is ours (sock_diag(7)). */
#include "web/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 of;
};

/* Treats IPv4 addresses in IPv6 form as IPv4. */
static int address_of(const struct sockaddr_storage *a, uint32_t out[4], uint16_t *port)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)a;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;
    memset(out, 0, 16);
    if (a->ss_family == AF_INET) {
        memcpy(out, &four->sin_addr, 4);
        *port = four->sin_port;
        return AF_INET;
    }
    *port = six->sin6_port;
    if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
        memcpy(out, (const char *)&six->sin6_addr + 12, 4);
        return AF_INET;
    }
    memcpy(out, &six->sin6_addr, 16);
    return a->ss_family;
}

static bool is_loopback(int family, const uint32_t a[4])
{
    return family == AF_INET ? ntohl(a[0]) >> 24 == 127
                             : (a[0] | a[1] | a[2]) == 0 && ntohl(a[3]) == 1;
}

/* Gets the kernel's answer; returns false if there is none. *error: the kernel's, 0 with a
 * socket. */
static bool answer_to(struct question *q, struct inet_diag_msg *out, int *error)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    struct timeval patience = {.tv_sec = 1};
    _Alignas(struct nlmsghdr) char buf[8192];
    const struct nlmsghdr *head = (const struct nlmsghdr *)buf;
    bool heard = false;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t n = sendto(fd, q, sizeof *q, 0, (const struct sockaddr *)&kernel, sizeof kernel);
    if (n == (ssize_t)sizeof *q)
        n = recv(fd, buf, sizeof buf, 0);
    close(fd);
    if (n < 0 || !NLMSG_OK(head, (size_t)n))
        return false;
    if (head->nlmsg_type == NLMSG_ERROR &&
        head->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        *error = -((const struct nlmsgerr *)NLMSG_DATA(head))->error;
        heard = true;
    } else if (head->nlmsg_type == SOCK_DIAG_BY_FAMILY &&
               head->nlmsg_len >= NLMSG_LENGTH(sizeof *out)) {
        memcpy(out, NLMSG_DATA(head), sizeof *out);
        *error = 0;
        heard = true;
    }
    return heard;
}

enum peer peer_find(int fd, uid_t *uid)
{
    struct sockaddr_storage theirs = {0}, ours = {0};
    socklen_t n = sizeof theirs, m = sizeof ours;
    struct inet_diag_msg found;
    int error;
    if (getpeername(fd, (struct sockaddr *)&theirs, &n) != 0 ||
        getsockname(fd, (struct sockaddr *)&ours, &m) != 0)
        return PEER_GONE;
    if (theirs.ss_family != AF_INET && theirs.ss_family != AF_INET6)
        return PEER_ELSEWHERE;
    struct question q = {
        .head = {.nlmsg_len = sizeof q,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .of = {.sdiag_protocol = IPPROTO_TCP,
               .idiag_states = UINT32_MAX,
               .id = {.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    q.of.sdiag_family = (uint8_t)address_of(&theirs, q.of.id.idiag_src, &q.of.id.idiag_sport);
    address_of(&ours, q.of.id.idiag_dst, &q.of.id.idiag_dport);
    bool here = is_loopback(q.of.sdiag_family, q.of.id.idiag_src);
    if (!answer_to(&q, &found, &error))
        return PEER_ELSEWHERE;
    if (error != 0) /* no such socket, or the kernel cannot search */
        return error == ENOENT && here ? PEER_GONE : PEER_ELSEWHERE;
    /* Without an inode, no process holds the socket any more, and its owner is reported as root. */
    if (found.idiag_inode == 0)
        return PEER_GONE;
    *uid = found.idiag_uid;
    return PEER_HERE;
}

bool peer_admits(int fd, const uid_t *user, size_t n)
{
    const char *sudo = getenv("SUDO_UID");
    uid_t uid;
    enum peer peer = peer_find(fd, &uid);
    if (peer != PEER_HERE)
        return peer == PEER_ELSEWHERE;
    if (uid == geteuid() || uid == 0 ||
        (geteuid() == 0 && sudo != NULL && *sudo != '\0' && uid == (uid_t)strtoul(sudo, NULL, 10)))
        return true;
    for (size_t i = 0; i < n; i++)
        if (user[i] == uid)
            return true;
    return false;
}

bool peer_user(const char *name, uid_t *uid)
{
    struct passwd pw, *found = NULL;
    char mem[4096], *end;
    unsigned long number = strtoul(name, &end, 10);
    if (*name >= '0' && *name <= '9' && *end == '\0' && number < UINT32_MAX) {
        *uid = (uid_t)number;
        return true;
    }
    if (getpwnam_r(name, &pw, mem, sizeof mem, &found) != 0 || found == NULL)
        return false;
    *uid = found->pw_uid;
    return true;
}
