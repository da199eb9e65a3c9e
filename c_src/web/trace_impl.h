/* trace_impl.h - what the files of a trace share: trace.c (its viewers), trace_thread.c (its life),
 * trace_news.c (messages from the library), trace_out.c (messages to viewers).
 *
 * The hub's lock protects the list of viewers, the state, the requested end, and the pointer to the
 * handle while others may interrupt it. Everything else belongs to the thread of the trace. No
 * function of the library is called with the lock held, except erltrace_interrupt. */
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
    struct buf json; /* of the message, without its count and end */
    char *name;
    uint32_t epid, action;
    uint64_t count;
};

struct trace {
    struct hub *hub;
    struct trace *next;
    uint64_t id;
    pthread_t thread;
    struct message m; /* what runs; constant from here on */
    /* Guarded by the lock. */
    struct viewer *viewers;
    size_t nviewers;
    enum trace_state state;
    enum ending asked;
    erltrace_t *interruptible;
    char lost_page[MESSAGE_PAGE]; /* the page that it waits for ... */
    uint64_t lost_until_ns;       /* ... until then */
    bool recorded;                /* it goes on when no page views it */
    unsigned share;               /* the last cost, permille of a scheduler */
    /* Of the trace's thread. */
    erltrace_t *h;
    struct model *model;
    struct rows rows;
    struct sink sink;
    struct history history; /* readings, all keys together */
    struct history keyed;   /* the messages of the last readings */
    struct history news;    /* messages with records, faults and drops, by their numbers */
    uint64_t nnews;
    struct diag_list diags;
    struct buf described;        /* `started`, from "node" on */
    struct buf out;              /* the message under construction */
    struct packet *state_packet; /* the state after reading state_n, or NULL */
    uint64_t state_n;
    size_t told_viewers; /* as last announced, */
    bool told_recorded;  /* ... and this */
    uint64_t told_joins; /* viewers that joined up to here have been told the progress of placing */
    bool given_up;       /* it was ended before anything could fire */
    struct buf drops, costs; /* comma-separated objects; whole messages, one per line */
    struct buf final;        /* output printed at the end */
    bool finishing;          /* output goes to final */
    char *truncating;        /* the aggregation that a trunc() is acting on, or NULL */
    unsigned thrown;         /* clear() and trunc() calls in this interval */
    bool too_much;           /* viewers have been told that columns are not exact */
    struct trace_fault fault[TRACE_FAULTS];
    size_t nfaults;
    uint64_t faults_skipped;
    uint64_t n;    /* number of the last reading */
    int64_t t;     /* time of that reading */
    int64_t began; /* ms since 1970: when BEGIN ran; until then, when the trace was requested. The
                      thread changes it, with the lock held */
    uint64_t began_ns, read_ns, rows_ns; /* start, last reading, last batch of records */
    uint64_t due_ns;                     /* when the next reading is due */
    int64_t interval;                    /* ms */
};

/* -- trace.c -- */
/* Milliseconds since 1970. */
int64_t trace_now(void);
/* Writes the description of a script for `started` and for the list of traces: "node" and so on. */
void trace_script(struct buf *b, const struct message *m);

/* -- trace_thread.c -- */
/* Main function of a trace's thread; arg is the trace. */
void *trace_main(void *arg);
/* Returns the requested end; a trace that has waited for its page in vain is to end. */
enum ending trace_asked(struct trace *t);

/* -- trace_news.c -- */
/* Sets the handlers of the handle. */
void trace_listen(struct trace *t);
/* Handlers for erltrace_work. */
int trace_on_record(const struct erltrace_record *r, void *arg);
int trace_on_data(const struct erltrace_record *r, const struct erltrace_data *d, void *arg);
/* Makes one reading of the library's data. Returns false if it failed, and the trace is over. */
bool trace_read(struct trace *t);
/* trace_send_rows sends the closed rows; trace_send_news sends faults, drops, costs and
 * diagnostics. */
void trace_send_rows(struct trace *t);
void trace_send_news(struct trace *t);

/* -- trace_out.c -- */
/* Sends `out` to all viewers that have been told of the trace, and empties it. */
void trace_publish(struct trace *t, enum packet_kind kind, uint64_t n);
/* The same for records, faults and drops: numbers the message, and keeps it for pages that
 * rejoin. */
void trace_publish_news(struct trace *t, enum packet_kind kind, uint64_t n);
/* Sends `out` to one viewer as a packet that must arrive, and empties it. The caller holds the
 * lock. */
void trace_give(struct trace *t, struct viewer *v);
/* Serves viewers that have joined, or that need a fresh state. */
void trace_serve_viewers(struct trace *t);
/* Reports the progress of placing probes: to all viewers that wait for the trace to run if it is
 * new, else to those that have joined since. */
void trace_tell_progress(struct trace *t, const struct erltrace_progress *p);
/* Frees the state of an earlier reading, which is not needed any more. */
void trace_drop_state(struct trace *t);
/* Sends the diagnostics so far to one viewer; the caller holds the lock. */
void trace_warn(struct trace *t, struct viewer *v);
/* Sends them to all, as an answer to each start (before the trace runs), or as news. */
void trace_tell_diagnostics(struct trace *t);

#endif
