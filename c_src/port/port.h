/* port.h - what the files of the port program share: one handle, its owner, and what waits for it.
 *
 *     port.c           the life of the program, and the session's unsolicited messages
 *     port_request.c   requests
 *     port_io.c        frames, in a thread of its own
 *     port_terms.c     results as terms
 *     port_queue.c     records and events until they are requested */
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
    bool greeted; /* hello has been received */
    bool over;    /* the program ends, */
    int code;     /* with this exit code */
    bool settled; /* the trace is done or has failed: there is no more work for the session */
    int failure;  /* enum erltrace_err if it has failed, and the text */
    struct buf failure_text;
    bool no_memory;

    bool asked;       /* a request is being answered: diagnostics go with the answer */
    struct buf value; /* Term of {ok, Term}; empty: the answer is ok */
    struct buf diags; /* the diagnostics of the answer, without the enclosing list */
    uint32_t ndiags;
    struct buf item; /* the item under construction */

    bool progress;  /* `go` is to report progress, */
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
/* Returns whether the trace has begun to run. */
bool port_has_begun(const struct port *p);
/* Lets the session work: reads what is available, waiting up to timeout_ms. */
void port_work(struct port *p, int timeout_ms);
/* Marks the trace as ended, with the handle's last error if it has failed. */
void port_settle(struct port *p);
/* Returns whether the owner is gone. */
bool port_is_alone(struct port *p);

/* -- port_request.c -- */
/* Answers one request, or ends the program if it is malformed. */
void port_request(struct port *p, const void *term, size_t n);
/* Returns whether a request ends the trace. */
bool port_request_ends(const void *term, size_t n);
/* Answers the waiting consume if it is due. */
void port_answer_waiting(struct port *p);
/* Reports to the owner that it violates the protocol, and ends the program. */
void port_fatal(struct port *p, const char *code, const char *why);

#endif
