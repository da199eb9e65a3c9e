/* vm.h - the vm tier's own state, shared by its files.
 *
 *     vm.c     matching, enabling, the rest of the contract (tier.h)
 *     vm_read.c   reading what was recorded, from go to the last answer after stop
 *     vm_clock.c  questions for the node's clocks */
#ifndef ET_TIER_VM_H
#define ET_TIER_VM_H

#include "base/buf.h"
#include "cluster/clocks.h"
#include "jit/lines.h"
#include "tier/vm_agent.h"
#include "tier/functions.h"
#include "tier/vm_open.h"

struct vm {
    struct tier tier;
    struct talk *talk; /* the log of the conversation; NULL: none */
    struct conn *conn;
    struct vm_agent agent;
    struct catalog catalog;
    char node[256];            /* its name as we were told it */
    char called[ETF_ATOM_MAX]; /* ... and as the agent knows it, which D's `node` is */
    pid_t os_pid;
    uint64_t passes; /* an address: of erltrace_event (beam/agent.h) */
    uint32_t ncpus;
    int epoll, timer;   /* behind fd(): the socket, and a timer for the next read */
    struct buf text;    /* the result of enabled() */
    struct buf filters; /* what the program asks of calls, for `placed` */
    struct tier_placed placed;
    const struct dif_image *img;
    struct tier_options opt;
    int otp;       /* the node's release */
    bool running;  /* between go and stop */
    bool exiting;  /* exit() ran */
    bool overload; /* the program was ended because of its cost */
    bool lost;
    int64_t stop_id; /* id of the stop request, 0: not sent */
    bool stopped;    /* the stop request was answered: END has run */
    bool resting;    /* a cycle has begun since then */

    int64_t members_id;           /* id of the pending question who is in the cluster, 0: none */
    int64_t asked;                /* id of the pending read, 0: none */
    int64_t asked_at;             /* ms */
    unsigned asking;              /* its kinds: PRINCIPAL, AGGS */
    unsigned todo;                /* kinds still to be read in this cycle */
    unsigned kinds;               /* kinds that this cycle began with */
    unsigned cycle;               /* cycles completed */
    size_t nrecords, naggs;       /* bytes received in this cycle */
    bool reported;                /* something was reported in this call of work */
    bool drained;                 /* the node said that nothing is left */
    int64_t next_read, next_aggs; /* ms */
    int64_t next_status;          /* ms */
    int64_t cycle_at;             /* ms, when this cycle began */
    int64_t records_at, aggs_at;  /* ms: what fired before was fetched; 0: nothing could fire */
    int64_t lost_at;              /* ms */
    int pace, idle;               /* ms, of adaptive reading; the slowest pace */
    int64_t armed;                /* ms, what the timer is set to; -1: nothing */
    struct buf held;              /* principal blocks held back until the aggregations have come */

    struct cluster_clock clock; /* the node's, as its answers have it */
    int64_t clock_id;           /* id of the pending question for them, 0: none */
    int64_t clock_asked;        /* when it left: monotonic, ns */
    int64_t next_clock;         /* ms, when the next one is due */

    struct buf symbols; /* struct vm_symbol, in order of addresses: functions of stacks */
    struct arena names; /* their names and lines */

    struct buf loaded; /* names of modules that the node has loaded since grown() last reported,
                          each with a NUL */
    struct buf again;  /* likewise, of those that the catalog knows: modules that told records */
    int64_t load;      /* the serial of the last of them */
    int64_t answering; /* ... of the last that the catalog knows */
};

/* A function's code, its name, and its lines as the node sends them. */
struct vm_symbol {
    uint64_t from, to;
    const char *name;
    const char **file;             /* nfiles */
    const struct lines_site *site; /* nsites, by offset */
    uint32_t nfiles, nsites;
};

/* Returns the vm tier that this is; NULL: it is another one. */
struct vm *tier_vm_of(struct tier *t);
static inline struct vm *vm_of(struct tier *t)
{
    return (struct vm *)(void *)t;
}

/* Sends a question for the node's clocks. Returns 0, or an error with a diagnostic. */
int vm_clock_ask(struct vm *v, struct diags *d);
/* Takes in the answer, `reply` after its ok; to be called as soon as it has come. Returns 0, or an
 * error with a diagnostic. */
int vm_clock_heard(struct vm *v, struct etf *reply, uint32_t arity, struct diags *d);
/* Asks a few times, and waits for the answers; no reading may be pending. Returns 0, or an error
 * with a diagnostic. */
int vm_clock_begin(struct vm *v, struct diags *d);
/* Implements tier_ops: clock. */
int vm_clock(struct tier *t, struct cluster_ahead *out, struct diags *d);

/* Notes that the program has begun to run: reads are due from now on. */
void vm_read_begin(struct vm *v);
/* Implement tier_ops: symbol, work, stop, rates. */
bool vm_symbol(struct tier *t, uint64_t pid, uint64_t address, struct tier_symbol *out);
int vm_work(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
            struct diags *d);
int vm_stop(struct tier *t, struct diags *d);
uint64_t vm_unfetched(struct tier *t);
int64_t vm_silent(struct tier *t);
int vm_ask_members(struct tier *t, struct diags *d);
/* Calls fn for each name of an answer to `members`, r after its `ok`. */
void vm_read_members(struct etf *r, tier_member_fn fn, void *arg);
void vm_rates(struct tier *t, int64_t switchrate, int64_t aggrate);

#endif
