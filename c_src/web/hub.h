/* hub.h - what the threads of the server share: traces, their viewers, and outgoing messages.
 *
 * One lock guards all of it. A trace's thread puts messages into the queues of its viewers and
 * wakes the sockets' thread, which takes them out. A message is made once and reference-counted,
 * however many viewers it goes to.
 *
 * A queue is bounded. Messages that can be omitted (results, records, costs) are dropped when there
 * is too much: the viewer is then `behind`, gets nothing more until it has read the rest, and
 * requests a fresh state (`wants_state`). Messages that cannot be omitted (diagnostics, answers)
 * are few, and a viewer that lets even those pile up is disconnected. The first messages of a trace
 * may be large. A queue holds them at most once, because they are removed when the viewer leaves
 * the trace; and while slow viewers of large traces hold HUB_HELD in total, the next such viewer is
 * disconnected. */
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
    HUB_RECORDED = 8, /* traces that go on without a page */
    HUB_CONNECTIONS = 512,
    HUB_ROWS = 2000,           /* records per second, for one trace */
    HUB_QUEUE_RESULTS = 4,     /* results waiting for a viewer */
    HUB_QUEUE_BYTES = 2 << 20, /* ... or this many bytes, if there are several */
    HUB_QUEUE_MESSAGES = 64,   /* of any kind; beyond that the viewer is disconnected */
    HUB_LARGE = 1 << 20,       /* bytes; a longer message is sent only while ... */
    HUB_HELD = 256 << 20,      /* ... all waiting messages together do not exceed this */
    HUB_KEYED = 64 << 20       /* bytes of readings with keys, of all traces (history.h) */
};

enum packet_kind {
    PACKET_KEPT,   /* must arrive */
    PACKET_FIRST,  /* must arrive, unless the viewer leaves the trace: started, history, state */
    PACKET_RESULT, /* a reading: `n` is its number */
    PACKET_ROWS,   /* records: `n` is how many */
    PACKET_INFO    /* repeated by the next one, or of little importance */
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
    struct trace *trace; /* that it views, or NULL */
    struct viewer *next; /* next viewer of the same trace */
    struct queued *head, **tail;
    size_t queued, queued_bytes, queued_results;
    bool wants_start; /* it has not been told anything about its trace yet */
    bool warned;      /* ... except the compiler's messages */
    bool wants_state; /* the next message to it must be a state */
    bool behind;      /* something was dropped; it gets nothing more until it has read the rest */
    bool hopeless;    /* it is to be disconnected */
    int64_t id;       /* of its start or join */
    uint64_t joined;  /* number of that; unique over all starts and joins */
    bool shared;      /* another viewer had started the trace before */
    uint64_t skipped; /* results not sent to it since the last state */
    uint64_t skipped_rows;
    uint64_t last; /* number of the last reading that was queued or is in a state; of one that
                      rejoins, what it has */
    uint64_t news; /* of one that rejoins: the last news that it has */
    char page[MESSAGE_PAGE]; /* which page it is; "": not known, and not waited for */
    bool rejoins;
    /* Of the thread of the sockets. */
    void *socket;
    struct viewer *other; /* in the list of all viewers */
    struct packet *sending;
    size_t sent;    /* bytes of it already sent */
    struct buf in;  /* of the incoming message */
    bool farewell;  /* its end has closed the socket properly */
    int close_code; /* nonzero: it is to be closed with this code */
    const char *close_why;
    double tokens; /* messages that it may send now */
    uint64_t tokens_ns;
    uint64_t heard_ns;   /* the last sign of life */
    uint64_t silent_ns;  /* the first ping written since then; 0: none */
    uint64_t waiting_ns; /* the first unanswered ping; 0: none */
    uint64_t pinged_ns;  /* when the last ping was due */
    uint64_t acked;      /* bytes that its end has acknowledged */
    bool ping_due;
    unsigned checks; /* pending checks */
    uint64_t number; /* unique over all viewers */
};

/* Why a trace ends. */
enum ending {
    ENDING_NOT,
    ENDING_LEFT, /* no viewer is left: nothing more is reported */
    ENDING_LAST, /* its only viewer has stopped it and waits for the end */
    ENDING_USER, /* a viewer ended it for all */
    ENDING_SERVER
};

enum trace_state { TRACE_STARTING, TRACE_RUNNING, TRACE_OVER };

struct hub {
    const struct web_config *config;
    void (*wake)(void *arg); /* wakes the sockets' thread, which has something to do */
    void *wake_arg;
    pthread_mutex_t lock;
    struct trace *traces; /* not yet joined */
    size_t ntraces;
    uint64_t next_trace;
    uint64_t joins;      /* starts and joins so far */
    atomic_size_t held;  /* bytes of all existing packets */
    atomic_size_t keys;  /* bytes of the keys of all traces (keys.h) */
    atomic_size_t keyed; /* bytes of the readings with keys of all traces (history.h) */
};

int hub_init(struct hub *h, const struct web_config *config, void (*wake)(void *), void *arg);
void hub_free(struct hub *h);

/* Makes a packet from the text, with one reference. Returns NULL if out of memory. */
struct packet *packet_make(struct hub *h, enum packet_kind kind, const struct buf *text);
void packet_drop(struct packet *p);

void viewer_init(struct viewer *v);
void viewer_clear(struct viewer *v);
/* Queues a packet for a viewer; the caller holds the lock and keeps its own reference. p NULL means
 * that there was no memory for it: the viewer is disconnected. */
void viewer_push(struct viewer *v, struct packet *p);
/* Detaches the viewer from its trace; the caller holds the lock. Removes what waits from that
 * trace. */
void viewer_forget(struct viewer *v);
/* Queues a text for this viewer only; it must arrive. Takes the lock. */
void hub_send(struct hub *h, struct viewer *v, const struct buf *text);
/* Takes the lock. Returns the next packet to send, which then belongs to the caller; NULL: none. */
struct packet *hub_next(struct hub *h, struct viewer *v);

#endif
