/* beat.h - signs of life. conn_heartbeat of conn.h begins them. */
#ifndef ET_WIRE_BEAT_H
#define ET_WIRE_BEAT_H

#include "wire/conn.h"

/* Ends the heartbeat of a connection; nothing is sent afterwards. It need not have one. */
void beat_end(struct conn *c);

#endif
