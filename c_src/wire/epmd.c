/* epmd.c - asks epmd, and opens TCP connections in bounded time.
 *
 * A request is a u16 length, then its bytes; we send only NAMES ('n'). The answer is epmd's own
 * port (u32), and text until the connection closes. One NAMES answers both questions: the port of a
 * name, and which other names there are when it is not among them. */
#include "wire/epmd.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "wire/deadline.h"
#include "wire/enter.h"

enum {
    EPMD_ANSWER_MAX = 1 << 20,
    UNHEARD_MS = 10000 /* data unacknowledged for this long ends a connection */
};

uint16_t epmd_port(void)
{
    const char *s = getenv("ERL_EPMD_PORT");
    int p = s ? atoi(s) : 0;
    return (uint16_t)(p > 0 && p < 65536 ? p : EPMD_PORT);
}

int node_resolve(const char *host, struct node_addr *out)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *res = NULL,
                    *best;
    int e = getaddrinfo(host, NULL, &hints, &res);
    if (e)
        return e;
    best = res; /* nodes listen on IPv4 unless told otherwise */
    for (struct addrinfo *a = res; a; a = a->ai_next)
        if (a->ai_family == AF_INET) {
            best = a;
            break;
        }
    memset(out, 0, sizeof *out);
    memcpy(&out->sa, best->ai_addr, best->ai_addrlen);
    out->len = best->ai_addrlen;
    freeaddrinfo(res);
    return 0;
}

/* Waits for the descriptor; returns 0, -ETIMEDOUT or -errno. A signal does not shorten the wait: it
 * is short, and the caller has nothing to return yet. */
static int wait_fd(int fd, short events, int64_t deadline)
{
    for (;;) {
        struct pollfd p = {.fd = fd, .events = events};
        int n = poll(&p, 1, clock_left(deadline));
        if (n > 0)
            return 0;
        if (n == 0)
            return -ETIMEDOUT;
        if (errno != EINTR)
            return -errno;
    }
}

int node_tcp(const struct node_addr *a, uint16_t port, int timeout_ms)
{
    struct node_addr to = *a;
    int64_t deadline = clock_ms() + timeout_ms;
    int e = 0, on = 1, unheard = UNHEARD_MS;
    socklen_t n = sizeof e;
    int fd = to.of ? enter_socket(to.of, to.start, to.sa.ss_family)
                   : socket(to.sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return to.of ? fd : -errno;
    if (to.sa.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&to.sa)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&to.sa)->sin_port = htons(port);
    if (connect(fd, (struct sockaddr *)&to.sa, to.len) < 0) {
        if (errno != EINPROGRESS) {
            e = -errno;
            goto fail;
        }
        if ((e = wait_fd(fd, POLLOUT, deadline)) < 0)
            goto fail;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &n) < 0)
            e = errno;
        if (e) {
            e = -e;
            goto fail;
        }
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard, sizeof unheard);
    return fd;
fail:
    close(fd);
    return e;
}

int epmd_names(const struct node_addr *a, uint16_t port, int timeout_ms, struct epmd_list *out)
{
    static const char request[] = {0, 1, 'n'};
    int64_t deadline = clock_ms() + timeout_ms;
    struct buf b = BUF_INIT;
    char chunk[4096];
    int fd = node_tcp(a, port, timeout_ms), e = 0;
    *out = (struct epmd_list){0};
    if (fd < 0)
        return fd;
    if (send(fd, request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request) {
        e = -errno;
        goto done;
    }
    while (b.len < EPMD_ANSWER_MAX) {
        if ((e = wait_fd(fd, POLLIN, deadline)) < 0)
            goto done;
        ssize_t n = recv(fd, chunk, sizeof chunk, 0);
        if (n == 0)
            break;
        if (n > 0)
            buf_add(&b, chunk, (size_t)n);
        else if (errno != EAGAIN && errno != EINTR) {
            e = -errno;
            goto done;
        }
    }
    if (b.oom)
        e = -ENOMEM;
    else if (b.len < 4)
        e = -EPROTO;
    else
        e = epmd_parse(b.data + 4, b.len - 4, out);
done:
    close(fd);
    buf_free(&b);
    return e;
}

int epmd_parse(const char *text, size_t len, struct epmd_list *out)
{
    const char *p = text, *end = text + len;
    *out = (struct epmd_list){0};
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        char line[512], alive[256];
        unsigned port;
        size_t n = (size_t)((nl ? nl : end) - p);
        if (n < sizeof line) {
            memcpy(line, p, n);
            line[n] = '\0';
            if (sscanf(line, "name %255s at port %u", alive, &port) == 2 && port > 0 &&
                port < 65536) {
                struct epmd_name *l = et_realloc(out->name, (out->n + 1) * sizeof *l);
                if (!l) {
                    epmd_list_free(out);
                    return -ENOMEM;
                }
                out->name = l;
                memcpy(l[out->n].alive, alive, sizeof alive);
                l[out->n++].port = (uint16_t)port;
            }
        }
        p += n + 1;
    }
    return 0;
}

void epmd_list_free(struct epmd_list *l)
{
    et_free(l->name);
    *l = (struct epmd_list){0};
}

const struct epmd_name *epmd_find(const struct epmd_list *l, const char *alive)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->name[i].alive, alive) == 0)
            return &l->name[i];
    return NULL;
}
