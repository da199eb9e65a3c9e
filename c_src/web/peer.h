/* peer.h - finds the user of this host at the other end of a connection.
 *
 * Everyone on a host can reach its loopback address. The token opens the server; distinguishing
 * other users of the same host as well makes a token that was overheard there useless to them. */
#ifndef ET_WEB_PEER_H
#define ET_WEB_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum peer {
    PEER_ELSEWHERE, /* on another host, or unknown */
    PEER_HERE,      /* on this host: *uid */
    PEER_GONE       /* on this host, but no process holds that end any more */
};

/* Finds the owner of the other end of a TCP connection. */
enum peer peer_find(int fd, uid_t *uid);
/* Returns whether the connection may be served: a user of this host must be ours, root, the one who
 * started us by sudo, or one of the given users. */
bool peer_admits(int fd, const uid_t *user, size_t n);
/* Finds the number of a user given by name or number; returns false if there is none. */
bool peer_user(const char *name, uid_t *uid);

#endif
