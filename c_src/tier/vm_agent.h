/* vm_agent.h - placing the agent in a node and talking to it, as doc/agent-protocol.md says. */
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
    bool open;  /* it knows us as a consumer */
    bool ended; /* the trace is over: said so once */
    /* Told of each module that the node loads, by name (UTF-8), while a program runs that may have
     * probes in it; may be NULL. `serial` grows, and is what `extend` answers. */
    void (*loaded)(void *arg, const char *module, int64_t serial);
    void *loaded_arg;
    /* Asked several times a second while an answer is waited for, also when nothing is known; false
     * ends the wait. NULL: nobody wants to know. */
    tier_progress_fn progress;
    void *progress_arg;
    struct tier_progress at; /* what the agent has told of that */
    int64_t told_ms;         /* when; it lives, and will answer */
};

struct agent_options {
    const char *node; /* its name, for messages */
    const char *root; /* folder with priv/agent/erltrace_agent.beam and priv/erltrace_agent.so */
    const char
        *dir; /* where the library may lie on the target for a moment, NULL: the usual places */
    int lease_ms;
};

/* Checks release and architecture, loads the agent, starts it, makes us known to it; the
 * connection stays the caller's. *info is at what the answer to `open` has behind its `ok` (*arity
 * elements), and lives until the next call. 0 or an error with a diagnostic (OTP_OLD, OTP_ARCH,
 * AGENT_...). */
int agent_open(struct vm_agent *a, struct conn *conn, const struct agent_options *opt,
               struct etf *info, uint32_t *arity, struct diags *d);

/* A request: agent_begin, then its term, then agent_send. */
void agent_begin(struct vm_agent *a, struct buf *x, int64_t *id);
/* Sends and frees x. 0 or ET_ELOST with a diagnostic. */
int agent_send(struct vm_agent *a, struct buf *x, struct diags *d);

/* Waits for one thing. CONN_MESSAGE: an answer; *id and *reply (at Reply, alive until the next
 * call) are set. CONN_NOTHING, CONN_SIGNAL. ET_ELOST: the trace is over, and a diagnostic says why
 * (the first time). */
int agent_event(struct vm_agent *a, int timeout_ms, int64_t *id, struct etf *reply,
                struct diags *d);
/* Waits for the answer to one request, through signals, for timeout_ms after the agent has last
 * told how far it is. *reply is behind `ok` of an {ok, ...} or at
 * the end of an ok; *arity is the number of elements behind it. An {error, ...} becomes a
 * diagnostic and a code. */
int agent_answer(struct vm_agent *a, int64_t id, int timeout_ms, struct etf *reply, uint32_t *arity,
                 struct diags *d);
/* Reads what agent_event gave as agent_answer does. */
int agent_reply(struct vm_agent *a, struct etf *reply, uint32_t *arity, struct diags *d);
/* A request that is one atom. */
int agent_call(struct vm_agent *a, const char *request, int timeout_ms, struct etf *reply,
               uint32_t *arity, struct diags *d);
/* Asks what can be traced and what is in the way: a finding each. */
int agent_examine(struct vm_agent *a, tier_finding_fn fn, void *arg, struct diags *d);
/* For how long nothing has been heard of a request made at this time, ms. */
int64_t agent_waited(const struct vm_agent *a, int64_t since_ms);
/* No answer came in this time: ET_ENODE, or ET_ELOST when the reason is that we were silent for too
 * long. */
int agent_silent(struct vm_agent *a, int timeout_ms, struct diags *d);
/* An answer that is not as the protocol says. */
int agent_malformed(struct vm_agent *a, const char *what, struct diags *d);
/* A list of texts becomes warnings. */
void agent_warnings(struct etf *r, struct diags *d);

#endif
