/* port.h - what the files of the port program share: one handle, its owner, and what waits for it.
 *
 *     port.c           the life of the program, and what the session says unasked
 *     port_request.c   requests
 *     port_io.c        frames, in a thread of its own
 *     port_terms.c     results as terms
 *     port_queue.c     records and events until they are asked for */
#ifndef ET_PORT_PORT_H
#define ET_PORT_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "port/port_io.h"
#include "port/port_queue.h"
#include "erltrace.h"
#include "etf/etf.h"

enum { PORT_PROTOCOL = 1, PORT_DIAGS_MOST = 1000 };

struct port {
    erltrace_t *h;
    struct port_io *io;
    struct port_queue queue;
    bool greeted; /* hello has come */
    bool over;    /* the program ends, */
    int code;     /* with this exit code */
    bool settled; /* the trace is done or has failed: there is nothing to be worked for */
    int failure;  /* enum erltrace_err, when it has failed, and the text */
    struct buf failure_text;
    bool no_memory;

    bool asked;       /* a request is being answered: what there is to say goes with the answer */
    struct buf value; /* Term of {ok, Term}; empty: ok */
    struct buf diags; /* the diagnostics of the answer, without the list around them */
    uint32_t ndiags;
    struct buf item; /* being made */

    bool progress;  /* `go` is to tell how far it is, */
    int64_t go_ref; /* with its number */

    struct { /* a consume that waits */
        bool on;
        int64_t ref, most;
        int64_t until; /* ms of CLOCK_MONOTONIC */
    } waiting;

    erltrace_prog_t **program; /* in order; nprograms of them */
    size_t nprograms;
};

/* -- port.c -- */
int64_t port_now_ms(void);
/* Whether something has begun to run. */
bool port_has_begun(const struct port *p);
/* Lets the session work: reads what there is, waiting up to timeout_ms. */
void port_work(struct port *p, int timeout_ms);
/* The trace has ended, with the handle's last error if it has failed. */
void port_settle(struct port *p);
/* Whether the owner is gone. */
bool port_is_alone(struct port *p);

/* -- port_request.c -- */
/* Answers one request, or ends the program because it is none. */
void port_request(struct port *p, const void *term, size_t n);
/* Whether a request ends the trace. */
bool port_request_ends(const void *term, size_t n);
/* Answers the consume that waits, if it is due. */
void port_answer_waiting(struct port *p);
/* The owner does not keep to the protocol: tells it so; the program ends. */
void port_fatal(struct port *p, const char *code, const char *why);

#endif
