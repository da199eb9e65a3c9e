/* vm_agent.h - places the agent in a node and talks to it, as doc/agent-protocol.md describes. */
#ifndef ET_TIER_VM_AGENT_H
#define ET_TIER_VM_AGENT_H

#include "base/diag.h"
#include "wire/conn.h"
#include "tier/tier.h"

struct vm_agent {
    struct conn *conn; /* the way there */
    erlang_pid pid;    /* of the agent's server process */
    char node[256];    /* for messages */
    int64_t next_id;   /* of the next request */
    int lease_ms;
    bool open;  /* it has registered us as a consumer */
    bool ended; /* the trace is over, and that was reported once */
    /* Called for each module that the node loads, with its name (UTF-8), while a program runs that
     * may have probes in it; may be NULL. `serial` grows, and is what `extend` answers. */
    void (*loaded)(void *arg, const char *module, int64_t serial);
    void *loaded_arg;
    /* Called several times a second during the wait for an answer, even without news; false ends
     * the wait. NULL: none. */
    tier_progress_fn progress;
    void *progress_arg;
    struct tier_progress at; /* the agent's last report of it */
    int64_t told_ms;         /* when that came; the agent is alive and will answer */
};

struct agent_options {
    const char *node; /* its name, for messages */
    const char *root; /* folder with priv/, which has the agent's files */
    const char *dir;  /* folder on the target for loading the library, NULL: the usual ones */
    int lease_ms;
};

/* Checks release and architecture, loads the agent, starts it, and registers us with it; the
 * connection stays the caller's. *info is at what follows `ok` in the answer to `open` (*arity
 * elements), and lives until the next call. Returns 0 or an error with a diagnostic (OTP_OLD,
 * OTP_ARCH, AGENT_...). */
int agent_open(struct vm_agent *a, struct conn *conn, const struct agent_options *opt,
               struct etf *info, uint32_t *arity, struct diags *d);

/* Begins a request: then its term, then agent_send. */
void agent_begin(struct vm_agent *a, struct buf *x, int64_t *id);
/* Sends and frees x. Returns 0 or ET_ELOST with a diagnostic. */
int agent_send(struct vm_agent *a, struct buf *x, struct diags *d);

/* Waits for one event. CONN_MESSAGE: an answer; *id and *reply (at Reply, alive until the next
 * call) are set. CONN_NOTHING, CONN_SIGNAL. ET_ELOST: the trace is over, and a diagnostic says why
 * (the first time). */
int agent_event(struct vm_agent *a, int timeout_ms, int64_t *id, struct etf *reply,
                struct diags *d);
/* Waits for the answer to one request, through signals, until timeout_ms after the agent's last
 * report of progress. *reply is after the `ok` of an {ok, ...}, or at the end of an ok; *arity is
 * the number of elements that follow. An {error, ...} becomes a diagnostic and a code. */
int agent_answer(struct vm_agent *a, int64_t id, int timeout_ms, struct etf *reply, uint32_t *arity,
                 struct diags *d);
/* Reads an answer from agent_event as agent_answer does. */
int agent_reply(struct vm_agent *a, struct etf *reply, uint32_t *arity, struct diags *d);
/* Makes a request that is one atom, and waits for the answer. */
int agent_call(struct vm_agent *a, const char *request, int timeout_ms, struct etf *reply,
               uint32_t *arity, struct diags *d);
/* Asks what can be traced and what prevents more; calls fn for each finding. */
int agent_examine(struct vm_agent *a, tier_finding_fn fn, void *arg, struct diags *d);
/* Returns when (ms) something was last heard about a request made at this time, and for how long
 * nothing was. */
int64_t agent_heard(const struct vm_agent *a, int64_t since_ms);
int64_t agent_waited(const struct vm_agent *a, int64_t since_ms);
/* Reports that no answer came in this time: returns ET_ENODE, or ET_ELOST when the cause is that we
 * were silent too long. */
int agent_silent(struct vm_agent *a, int timeout_ms, struct diags *d);
/* Reports an answer that violates the protocol. */
int agent_malformed(struct vm_agent *a, const char *what, struct diags *d);
/* Turns a list of texts into warnings; {note, Text} into a note. */
void agent_warnings(struct etf *r, struct diags *d);

#endif
