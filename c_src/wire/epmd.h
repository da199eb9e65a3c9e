/* epmd.h - asks a host's port mapper which nodes it has. */
#ifndef ET_WIRE_EPMD_H
#define ET_WIRE_EPMD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { EPMD_PORT = 4369 };

/* An address of a host, port not set. */
struct node_addr {
    struct sockaddr_storage sa;
    socklen_t len;
    pid_t of;       /* the address is one of this process's network namespace; 0: of ours */
    uint64_t start; /* when that process began */
};

struct epmd_name {
    char alive[256]; /* the part of a node's name before the @ */
    uint16_t port;   /* its distribution port */
};
struct epmd_list {
    struct epmd_name *name; /* as epmd lists them; et_free */
    size_t n;
};

/* Returns the port that epmd listens on: ERL_EPMD_PORT of the environment, else 4369. */
uint16_t epmd_port(void);

/* Looks the host up. Returns 0 or an error of getaddrinfo (EAI_...). */
int node_resolve(const char *host, struct node_addr *out);
/* Opens a TCP connection. Returns a descriptor (close-on-exec, nonblocking), or -errno. */
int node_tcp(const struct node_addr *a, uint16_t port, int timeout_ms);

/* Lists all names registered there. Returns 0 or -errno: -ECONNREFUSED when no epmd runs, -EPROTO
 * when something else answers. */
int epmd_names(const struct node_addr *a, uint16_t port, int timeout_ms, struct epmd_list *out);
void epmd_list_free(struct epmd_list *l);
/* Reads the text of a NAMES answer: lines "name NAME at port PORT"; other lines are ignored.
 * Returns 0 or -ENOMEM. */
int epmd_parse(const char *text, size_t len, struct epmd_list *out);
/* Returns the entry of this name, or NULL. */
const struct epmd_name *epmd_find(const struct epmd_list *l, const char *alive);

#endif
