/* hub.h - what the threads of the server share: traces, who looks on at them, and messages on their
 * way out.
 *
 * One lock guards all of it. A thread of a trace puts messages into the queues of its viewers and
 * wakes the thread of the sockets, which takes them out. Messages are made once and counted,
 * however many viewers they go to.
 *
 * A queue is bounded. What can be left out of it (results, records, costs) is thrown away when
 * there is too much: the viewer is `behind` then, is given nothing more until it has read what is
 * left, and asks for a fresh state (`wants_state`). What cannot (diagnostics, answers) is little,
 * and a viewer that lets even that pile up is let go. What a viewer is told first of a trace may be
 * large; there is one of it in a queue at most, since it goes when the viewer leaves the trace, and
 * when slow viewers of large traces hold HUB_HELD altogether, the next such is let go. */
#ifndef ET_WEB_HUB_H
#define ET_WEB_HUB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "web/message.h"
#include "web/web.h"

enum {
    HUB_TRACES = 48,
    HUB_VIEWERS = 256,
    HUB_CONNECTIONS = 512,
    HUB_ROWS = 2000,           /* records a second, for one trace */
    HUB_QUEUE_RESULTS = 4,     /* results that wait for a viewer */
    HUB_QUEUE_BYTES = 2 << 20, /* ... or so many bytes, when there are several */
    HUB_QUEUE_MESSAGES = 64,   /* any kind; beyond that the viewer is let go */
    HUB_LARGE = 1 << 20,       /* bytes; a longer message is given out only while ... */
    HUB_HELD = 256 << 20       /* ... all messages that wait somewhere are not more than this */
};

enum packet_kind {
    PACKET_KEPT,   /* has to arrive */
    PACKET_FIRST,  /* has to arrive, unless the viewer leaves the trace: started, history, state */
    PACKET_RESULT, /* a reading: `n` is its number */
    PACKET_ROWS,   /* records: `n` is how many */
    PACKET_INFO    /* the next one says it again, or it does not matter much */
};
struct packet {
    struct hub *hub;
    atomic_uint refs;
    enum packet_kind kind;
    uint64_t n;
    size_t len;
    char text[]; /* len bytes */
};

struct trace;
struct queued {
    struct queued *next;
    struct packet *packet;
};

/* One page on a WebSocket. */
struct viewer {
    /* Guarded by the lock. */
    struct trace *trace; /* that it looks on at, or NULL */
    struct viewer *next; /* of those of the trace */
    struct queued *head, **tail;
    size_t queued, queued_bytes, queued_results;
    bool wants_start; /* it has been told nothing of its trace yet */
    bool warned;      /* ... but for the compiler's messages */
    bool wants_state; /* the next thing it is sent is a state */
    bool behind;      /* something was thrown away; it gets no more until the rest is read */
    bool hopeless;    /* it is to be let go */
    int64_t id;       /* of its start or join */
    uint64_t joined;  /* number of that: no other start or join has it */
    bool shared;      /* somebody had started the trace before */
    uint64_t skipped; /* results that it was not sent since the last state */
    uint64_t skipped_rows;
    uint64_t last; /* number of the last reading that was queued, or is in a state */
    /* Of the thread of the sockets. */
    void *socket;
    struct viewer *other; /* of all viewers */
    struct packet *sending;
    size_t sent;    /* bytes of it */
    struct buf in;  /* of the message that is coming */
    int close_code; /* not 0: it is to be closed, for this reason */
    const char *close_why;
    double tokens; /* messages that it may send now */
    uint64_t tokens_ns;
    uint64_t heard_ns;   /* the last sign of life */
    uint64_t silent_ns;  /* the first ping that was written since then; 0: none */
    uint64_t waiting_ns; /* the first ping that was not answered; 0: none */
    uint64_t pinged_ns;  /* when the last one was due */
    uint64_t acked;      /* bytes that its side has acknowledged */
    bool ping_due;
    unsigned checks; /* that it waits for */
    uint64_t number; /* no other viewer has it */
};

/* Why a trace ends. */
enum ending {
    ENDING_NOT,
    ENDING_LEFT, /* nobody looks on: nothing is told any more */
    ENDING_LAST, /* its only viewer has had enough, and waits for the end */
    ENDING_USER, /* a viewer, for everybody */
    ENDING_SERVER
};

enum trace_state { TRACE_STARTING, TRACE_RUNNING, TRACE_OVER };

struct hub {
    const struct web_config *config;
    void (*wake)(void *arg); /* the thread of the sockets has something to do */
    void *wake_arg;
    pthread_mutex_t lock;
    struct trace *traces; /* that have not been joined yet */
    size_t ntraces;
    uint64_t next_trace;
    uint64_t joins;     /* starts and joins so far */
    atomic_size_t held; /* bytes of all packets that there are */
    atomic_size_t keys; /* bytes of the keys of all traces (keys.h) */
};

int hub_init(struct hub *h, const struct web_config *config, void (*wake)(void *), void *arg);
void hub_free(struct hub *h);

/* A packet of the text, with one reference. NULL: out of memory. */
struct packet *packet_make(struct hub *h, enum packet_kind kind, const struct buf *text);
void packet_drop(struct packet *p);

void viewer_init(struct viewer *v);
void viewer_clear(struct viewer *v);
/* With the lock held: a packet for a viewer; its reference stays the caller's. NULL, what there was
 * no memory for: the viewer is let go. */
void viewer_push(struct viewer *v, struct packet *p);
/* With the lock held: the viewer looks on at its trace no longer. What waits of that goes. */
void viewer_forget(struct viewer *v);
/* The same for a text, which is for this viewer only, and is kept. Takes the lock. */
void hub_send(struct hub *h, struct viewer *v, const struct buf *text);
/* Takes the lock: the next packet to be sent, which is the caller's now. NULL: there is none. */
struct packet *hub_next(struct hub *h, struct viewer *v);

#endif
