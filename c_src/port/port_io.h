/* port_io.h - what comes and goes on standard input and output of the port program: frames.
 *
 * A thread of its own reads them: requests wait in a queue until the session's thread takes them;
 * frames of relays go on to the sockets that the library has the other ends of, and come from
 * there, also while the session's thread waits inside the library. That thread also notices at once
 * when the owner is gone. doc/port-protocol.md says how frames look. */
#ifndef ET_PORT_PORT_IO_H
#define ET_PORT_PORT_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct port_io;

enum { PORT_RELAYS = 256, PORT_FRAME_MAX = 512 << 20 };

/* How far it is with the owner. */
enum port_end {
    PORT_OPEN,
    PORT_ENDED,  /* the owner is gone: the end of input, or SIGTERM */
    PORT_BROKEN, /* it does not keep to the protocol */
    PORT_FAILED  /* nothing can be written any more, or memory is out */
};

/* A request: the bytes of its term. */
struct port_frame {
    struct port_frame *next;
    size_t n;
    unsigned char byte[];
};

/* Takes over standard input and output: from now on 0 is empty, and what is printed to 1 goes to
 * standard error. NULL with errno set. */
struct port_io *port_io_open(void);
/* Ends the thread and closes. NULL is fine. */
void port_io_close(struct port_io *io);
/* Whether `wanted` says so of one of the requests that wait, which go on waiting. */
bool port_io_waits(struct port_io *io, bool (*wanted)(const void *term, size_t n));
/* A descriptor that is readable while there is a request, or the end has come. */
int port_io_fd(const struct port_io *io);
/* The next request, to be freed with et_free; NULL: there is none, or the end has come. */
struct port_frame *port_io_take(struct port_io *io);
/* *why: one line, when it is PORT_BROKEN or PORT_FAILED. Once the end has come, the process has
 * three seconds left. */
enum port_end port_io_end(struct port_io *io, const char **why);
/* Makes relay n and returns the library's end of it: a socket. -1: n has been used (EEXIST), or
 * another errno. */
int port_io_relay(struct port_io *io, unsigned n);
/* Whether a short frame can be written without waiting for the owner to read. */
bool port_io_ready(const struct port_io *io);
/* Writes a frame: the bytes of `head` and `body` (which may be NULL) together. Waits for the owner
 * to read. */
void port_io_put(struct port_io *io, const struct buf *head, const struct buf *body);

#endif
