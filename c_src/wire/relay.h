/* relay.h - a way to a node through a process of another node, as doc/port-protocol.md describes
 * under "The relay": for nodes that are not distributed, and for those that the other node is
 * connected to. This code uses no names, addresses or cookies. */
#ifndef ET_WIRE_RELAY_H
#define ET_WIRE_RELAY_H

#include "wire/conn.h"

/* Takes over the stream socket `fd`, which carries the relay's frames: each is a length of four
 * bytes, big-endian, and a term. Returns 0, or ET_ENOMEM after closing fd. */
int relay_open(struct conn **out, int fd);

#endif
