/* epmd.h - asks the port mapper of a host which nodes it has. */
#ifndef ET_WIRE_EPMD_H
#define ET_WIRE_EPMD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* An address of a host, port not set. */
struct node_addr {
    struct sockaddr_storage sa;
    socklen_t len;
};

struct epmd_name {
    char alive[256]; /* the part of a node's name before the @ */
    uint16_t port;   /* its distribution port */
};
struct epmd_list {
    struct epmd_name *name; /* as epmd lists them; et_free */
    size_t n;
};

/* The port that epmd listens on: ERL_EPMD_PORT of the environment, 4369. */
uint16_t epmd_port(void);

/* Looks the host up; 0 or an error of getaddrinfo (EAI_...). */
int node_resolve(const char *host, struct node_addr *out);
/* Opens a TCP connection. A descriptor (close-on-exec, not blocking), or -errno. */
int node_tcp(const struct node_addr *a, uint16_t port, int timeout_ms);

/* All names registered there. 0 or -errno: -ECONNREFUSED when no epmd runs, -EPROTO when something
 * else answers. */
int epmd_names(const struct node_addr *a, uint16_t port, int timeout_ms, struct epmd_list *out);
void epmd_list_free(struct epmd_list *l);
/* Reads the text of a NAMES answer: lines "name NAME at port PORT", anything else is passed over. 0
 * or -ENOMEM. */
int epmd_parse(const char *text, size_t len, struct epmd_list *out);
/* The entry of this name, or NULL. */
const struct epmd_name *epmd_find(const struct epmd_list *l, const char *alive);

#endif
