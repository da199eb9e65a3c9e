/* peer.h - which user of this host is at the other end of a connection.
 *
 * Everybody on a host can reach its loopback. The token is what opens the server; that strangers on
 * the same host are told apart as well makes a token that was overheard there useless to them. */
#ifndef ET_WEB_PEER_H
#define ET_WEB_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum peer {
    PEER_ELSEWHERE, /* on another host, or the system does not tell */
    PEER_HERE,      /* on this host: *uid */
    PEER_GONE       /* on this host, and nobody holds that end any more */
};

/* Whose the other end of the TCP connection is. */
enum peer peer_find(int fd, uid_t *uid);
/* Whether it may be served: a user of this host only when it is ours, root, who called us by sudo,
 * or one of the users given. */
bool peer_admits(int fd, const uid_t *user, size_t n);
/* The number of a user that was given by name or number; false when there is none. */
bool peer_user(const char *name, uid_t *uid);

#endif
