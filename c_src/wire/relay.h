/* relay.h - a way to a node through a process of another node, as doc/port-protocol.md says under
 * "The relay": for nodes that are not distributed, and for those that the other one is connected
 * to. Nothing here knows of names, addresses or cookies. */
#ifndef ET_WIRE_RELAY_H
#define ET_WIRE_RELAY_H

#include "wire/conn.h"

/* Takes over the stream socket `fd`, on which the relay's frames come and go, each a length of four
 * bytes, big-endian, and a term. 0 or ET_ENOMEM; then fd is closed, too. */
int relay_open(struct conn **out, int fd);

#endif
