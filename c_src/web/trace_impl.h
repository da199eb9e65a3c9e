/* trace_impl.h - what the files of a trace share: trace.c (who looks on at it), trace_thread.c (its
 * life), trace_news.c (what the library tells), trace_out.c (what viewers are told).
 *
 * What is guarded by the hub's lock: the list of viewers, the state, what the trace is asked for,
 * and the handle's place as long as others may interrupt it. Everything else belongs to the thread
 * of the trace. Nothing of the library is called with the lock held, but erltrace_interrupt. */
#ifndef ET_WEB_TRACE_IMPL_H
#define ET_WEB_TRACE_IMPL_H

#include <pthread.h>

#include "web/marks.h"
#include "web/history.h"
#include "web/hub.h"
#include "web/model.h"
#include "web/rows.h"
#include "web/sink.h"

enum {
    TRACE_FAULTS = 32,  /* different ones in an interval */
    TRACE_ROWS_MS = 200 /* between two batches of records */
};

struct trace_fault {
    char *text, *name;
    uint32_t epid, action;
    uint64_t count;
};

struct trace {
    struct hub *hub;
    struct trace *next;
    uint64_t id;
    pthread_t thread;
    struct message m; /* what runs; not changed any more */
    /* Guarded by the lock. */
    struct viewer *viewers;
    size_t nviewers;
    enum trace_state state;
    enum ending asked;
    erltrace_t *interruptible;
    /* Of the thread. */
    erltrace_t *h;
    struct model *model;
    struct rows rows;
    struct sink sink;
    struct history history;
    struct diag_list diags;
    struct buf described;        /* `started`, from "node" on */
    struct buf out;              /* the message that is being made */
    struct packet *state_packet; /* the state after reading state_n, or NULL */
    uint64_t state_n;
    size_t told_viewers;     /* as last announced */
    uint64_t told_joins;     /* who has joined until then has been told how far the placing is */
    bool given_up;           /* it was ended before anything could fire */
    struct buf drops, costs; /* objects of drops with commas; whole messages, one a line */
    struct buf final;        /* what is printed at the end */
    bool finishing;          /* output goes to final */
    char *truncating;        /* the aggregation that trunc() is acting on, or NULL */
    unsigned thrown;         /* in this interval */
    bool too_much;           /* it was said that columns are not exact */
    struct trace_fault fault[TRACE_FAULTS];
    size_t nfaults;
    uint64_t faults_skipped;
    uint64_t n;    /* number of the last reading */
    int64_t t;     /* when that was */
    int64_t began; /* ms since 1970: when BEGIN ran; before that, when it was asked for. The thread
                      changes it, with the lock held */
    uint64_t began_ns, read_ns, rows_ns; /* of the last reading, and batch of records */
    uint64_t due_ns;                     /* when the next reading is due */
    int64_t interval;                    /* ms */
};

/* -- trace.c -- */
/* Milliseconds since 1970. */
int64_t trace_now(void);
/* What a script is, for `started` and for the list of traces: "node" and so on. */
void trace_script(struct buf *b, const struct message *m);

/* -- trace_thread.c -- */
/* What the thread of a trace runs; arg is the trace. */
void *trace_main(void *arg);
/* What it is asked for. */
enum ending trace_asked(struct trace *t);

/* -- trace_news.c -- */
/* Sets the handlers of the handle. */
void trace_listen(struct trace *t);
/* For erltrace_work. */
int trace_on_record(const struct erltrace_record *r, void *arg);
int trace_on_data(const struct erltrace_record *r, const struct erltrace_data *d, void *arg);
/* One reading of what the library has. False: it failed, and the trace is over. */
bool trace_read(struct trace *t);
/* The rows that are closed; faults, drops, costs and diagnostics. */
void trace_send_rows(struct trace *t);
void trace_send_news(struct trace *t);

/* -- trace_out.c -- */
/* To all viewers that have been told of the trace. Resets `out`. */
void trace_publish(struct trace *t, enum packet_kind kind, uint64_t n);
/* With the lock held: to one viewer, and it has to arrive. Resets `out`. */
void trace_give(struct trace *t, struct viewer *v);
/* Those who have come, or are to begin anew. */
void trace_serve_viewers(struct trace *t);
/* How far the placing of probes is: to all who wait for the trace to run, when that is news; else
 * to those who have come since. */
void trace_tell_progress(struct trace *t, const struct erltrace_progress *p);
/* The state of an earlier reading is not needed any more. */
void trace_drop_state(struct trace *t);
/* Diagnostics so far to one viewer, with the lock held. */
void trace_warn(struct trace *t, struct viewer *v);
/* ... to all, as an answer to each start (before it runs), or as news. */
void trace_tell_diagnostics(struct trace *t);

#endif
