/* port_io.h - standard input and output of the port program: frames.
 *
 * A separate thread reads them. Requests wait in a queue until the session's thread takes them.
 * Frames of relays pass to and from sockets whose other ends the library holds, even while the
 * session's thread waits inside the library. The reading thread also notices at once when the owner
 * is gone. doc/port-protocol.md describes the frames. */
#ifndef ET_PORT_PORT_IO_H
#define ET_PORT_PORT_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct port_io;

enum { PORT_RELAYS = 256, PORT_FRAME_MAX = 512 << 20 };

/* The state of the connection with the owner. */
enum port_end {
    PORT_OPEN,
    PORT_ENDED,  /* the owner is gone: end of input, or SIGTERM */
    PORT_BROKEN, /* the owner violates the protocol */
    PORT_FAILED  /* writing failed, or memory is out */
};

/* A request: the bytes of its term. */
struct port_frame {
    struct port_frame *next;
    size_t n;
    unsigned char byte[];
};

/* Takes over standard input and output: from now on descriptor 0 is empty, and output to descriptor
 * 1 goes to standard error. Returns NULL with errno set. */
struct port_io *port_io_open(void);
/* Ends the thread and closes everything. NULL is fine. */
void port_io_close(struct port_io *io);
/* Returns whether `wanted` accepts one of the waiting requests, which stay in the queue. */
bool port_io_waits(struct port_io *io, bool (*wanted)(const void *term, size_t n));
/* Returns a descriptor that is readable while a request waits, or once the end has come. */
int port_io_fd(const struct port_io *io);
/* Returns the next request, to be freed with et_free; NULL: there is none, or the end has come. */
struct port_frame *port_io_take(struct port_io *io);
/* Returns the state. *why: one line, if it is PORT_BROKEN or PORT_FAILED. Once the end has come,
 * the process has three seconds left. */
enum port_end port_io_end(struct port_io *io, const char **why);
/* Creates relay n and returns the library's end of it: a socket. Returns -1 if n has been used
 * (EEXIST), or with another errno. */
int port_io_relay(struct port_io *io, unsigned n);
/* Returns whether a short frame can be written without waiting for the owner to read. */
bool port_io_ready(const struct port_io *io);
/* Writes a frame: the bytes of `head` and `body` (which may be NULL) together. Waits for the owner
 * to read. */
void port_io_put(struct port_io *io, const struct buf *head, const struct buf *body);

#endif
