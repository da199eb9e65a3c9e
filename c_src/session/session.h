/* session.h - a tracing session: compile, match, enable, run, read, report.
 *
 *     session_init -> session_add... -> session_compile -> session_attach... -> session_match
 *                  -> session_start -> session_work... -> session_free
 *
 * The handle of erltrace.h contains a session (handle.h). Tests use sessions without a handle.
 *
 * All programs of a session become one image, which runs in every attached tier (one per
 * node). Records are reported in the order in which a tier hands them over, BEGIN's first and END's
 * last; aggregations are merged over threads and nodes. Everything goes to the struct out given;
 * errors are diagnostics.
 *
 * Within one reading, aggregations are merged before the records are processed, so that a printa()
 * sees all that had been aggregated when it ran. */
#ifndef ET_SESSION_SESSION_H
#define ET_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "lang/compile.h"
#include "result/observer.h"
#include "result/options.h"
#include "result/report.h"
#include "dif/dif.h"
#include "tier/decide.h"
#include "tier/tier.h"

struct node_options;
struct session_cluster;

struct api_probe { /* a public probe, with what it points at */
    struct erltrace_probe public;
    struct erltrace_attributes attributes, arguments;
    const struct probe_def *def; /* describes its arguments, or NULL */
};

/* A program of a session, and what a user of the library gets of it. */
struct erltrace_prog {
    struct erltrace_prog *next; /* in the order of adding */
    enum erltrace_spec spec;
    const char *name;   /* as diagnostics call it */
    const char *text;   /* the text, or the file's name */
    const char *source; /* text that diagnostics show: source_len bytes. Borrowed */
    size_t source_len;
    struct erltrace_attributes descriptions, statements;
    struct erltrace_proginfo info; /* points at these */
};

/* One enabled probe: a clause on a probe of a tier. */
struct session_probe {
    uint32_t clause;
    uint32_t id;
    const char *prov, *mod, *func, *name; /* borrowed from the tier */
    enum probe_kind kind;
    size_t tier; /* the index of the one that has it */
    size_t runs; /* ... and of the one that runs the clause */
};

struct session_tier {
    struct tier *t;
    struct tier_binding *binding; /* by probe, then clause */
    size_t nbindings, capbindings;
    size_t left_out;                  /* bindings not placed: their clauses could never run there */
    struct record_counts counts;      /* latest */
    struct record_counts shown;       /* the drops already reported */
    uint64_t reported[RECORD_NDROPS]; /* drops when the costs were last reported */
    bool begun;                       /* its first records have been reported */
    bool pending;                     /* cluster.c: a thread attaches it, which alone may use it */
    bool silent;                      /* ... it owes an answer for long, and that was told */
    size_t member;                    /* ... of the cluster */
    uint32_t attempt;                 /* ... to attach it */
    struct buf queue;                 /* struct session_event: read, not reported so far */
    struct buf held; /* struct session_event: bufpolicy fill and ring, until the end */
    bool lost, drained;
    bool watched;       /* its descriptor is among those that session_wait waits for */
    bool ready;         /* it may have something to do */
    uint64_t unfetched; /* ns before it was lost of which nothing is known */
    bool overload;      /* the program was ended there because of its cost */
    bool overload_told; /* ... and this was reported: the only trace of it if the program ended
                           otherwise */
    struct session_passing *passing; /* mixed.c: what it passes on; NULL: nothing */
};

/* The processes that one clause is restricted to on functions, by kind of probe. */
struct session_functions {
    uint32_t clause, known; /* known: the set of kinds, from PROBE_FN_ENTRY on, already examined */
    const struct probe_pids *pids[PROBE_NKINDS - PROBE_FN_ENTRY];
};

/* Frames of stacks among keys: stacks.c. */
struct session_stacks {
    struct buf place;  /* struct place, by number */
    struct hash index; /* their identities -> number + 1 */
    struct buf key;    /* the key that session_stack_key has returned */
    bool unknown;      /* there are places without a name */
    bool oom;
};

struct session {
    /* Set by the creator of the session between session_init and session_add. */
    int flags;          /* of erltrace_open */
    struct options opt; /* changed by programs */
    struct out out;
    int64_t target;        /* $target */
    pid_t child;           /* the process of a command beside the local tier; 0: none */
    const char *libraries; /* folder of our D libraries; NULL: none. Borrowed */
    struct observer watch; /* called before the reporter */

    struct diags diags;
    struct arena arena; /* lives as long as the session */
    struct compile *compile;
    struct compile_options compile_options;
    const struct foreign *kernel; /* what it says of itself; NULL: the compiler has not asked */
    struct erltrace_prog *program, **program_tail;
    struct dif_image img;
    struct buf encoded;  /* img for the tiers */
    struct pf *format;   /* of each action; in the arena */
    struct value *value; /* room for the parts of one record; in the arena */
    uint32_t nvalues;
    struct session_modules *modules; /* what nodes have said of modules; in the arena */
    struct tier_record *record;      /* nrecords that the image names; in the arena */
    size_t nrecords;
    struct erltrace_prog **program_of; /* of each clause; in the arena */
    struct session_tier *tier;
    size_t ntiers;
    int waits; /* an epoll descriptor: the tiers' descriptors, by their numbers; -1: none so far */
    struct session_cluster *cluster; /* whose nodes the tiers are; NULL: of none */
    bool may_mix;                    /* its programs may be of both worlds */
    bool mixed; /* the first is the kernel tier, which runs all clauses; the others pass it events
                 */
    struct tier *starting;       /* the tier about to be enabled */
    struct session_probe *probe; /* by EPID - 1 */
    size_t nprobes, capprobes;
    size_t nwatched; /* of these, the probes of nodes: neither BEGIN and its kind nor intervals */
    struct decider *decider;       /* NULL: before matching */
    const struct probe_pids *pids; /* the last set kept; in the arena */
    struct session_functions functions;
    struct tier_later *later;
    size_t nlater;
    struct session_stacks stacks;
    const struct session_tier *showing; /* whose record is being reported; NULL: none */
    struct aggr_table aggr;
    struct report report;
    struct observer observer[2]; /* in the order in which they are called */
    size_t nobservers;
    struct api_probe shown; /* the probe of the last event, as observers see it */
    uint32_t shown_epid;    /* 0: none yet */
    struct buf said;        /* text of the event being reported */
    struct buf end_queue;   /* records of END, until everything else is reported */
    struct buf late;        /* struct late_fault, of the record being reported */
    struct buf text; /* formatted for system() and freopen(); before that, a function's name */
    struct buf targets;
    struct buf key_name;   /* the last result of session_key_name */
    bool zdefs_in_program; /* zdefs is set by a program, and not by the command */
    char option_hint[OPTION_HINT];
    bool exiting, stopped, exited;
    bool aborted;         /* a handler asked for the end */
    bool has_libraries;   /* they have been read */
    int status;           /* of exit() */
    uint64_t reported_ns; /* when drops were last reported */
    uint64_t began_ns;    /* when BEGIN ran */
};

void session_init(struct session *s);
/* Makes the compiler with the current settings, if there is none yet; session_add calls it. Returns
 * 0 or an error with a diagnostic. */
int session_begin(struct session *s);
/* Adds a program; see compile.h. Texts and arguments are borrowed until session_free. p, zeroed,
 * must live as long; NULL: one is made in the arena. It becomes the last of s->program, also after
 * an error. */
int session_add(struct session *s, const struct compile_source *src, struct erltrace_prog *p);
/* Must be called after the options were changed from outside. */
void session_options_changed(struct session *s);
/* Makes the image. After an error of session_add or of this function only session_free may follow.
 */
int session_compile(struct session *s);
/* Returns whether the local tier is enough: it has every probe that the programs describe, which
 * are those of dtrace and profile, and what they use, unless a node does not have that either. */
bool session_is_local(const struct session *s);
/* Returns whether such programs name a provider of the kernel. */
bool session_is_kernel(const struct session *s);

/* Returns whether the programs name probes of the kernel as well as of nodes, and may. */
bool session_is_mixed(const struct session *s);
/* Returns whether a description is of probes of nodes; arg is the session. */
bool session_of_node(void *arg, const struct probe_spec *spec);

/* Takes ownership of an open tier, also on error. Closes a tier whose target the session already
 * has, with a warning. */
int session_attach(struct session *s, struct tier *t);
/* Matches every description against every tier. A description that no tier has is an error at its
 * place, ET_ENOPROBE, unless the option zdefs is set. */
int session_match(struct session *s);
/* Calls fn for each probe that a program's descriptions match (NULL: those of every program, or
 * every probe when there is no program). Calls missed (may be NULL) for each description that
 * matches none, with the reason if it names a known probe, else NULL. A result other than 0 ends
 * the walk and is returned. Returns 0, that value, or an error with a diagnostic. */
typedef int (*session_list_fn)(void *arg, const struct tier *t, const struct tier_probe *p);
typedef int (*session_missed_fn)(void *arg, const char *description, const char *why);
int session_list(struct session *s, const struct erltrace_prog *p, session_list_fn fn,
                 session_missed_fn missed, void *arg);

/* Returns whether any action prints. */
bool session_prints(const struct session *s);
/* Returns whether any action needs the option destructive, without which session_start refuses. */
bool session_is_destructive(const struct session *s);
/* Enables and starts the programs in every tier. After an error nothing runs. */
int session_start(struct session *s);

/* Waits up to timeout_ms for something to happen and reports it. Returns RUNNING, STOPPING or DONE
 * of enum erltrace_state, or an error with a diagnostic after which the session is over. A lost
 * node also gives a diagnostic, but the session continues with the others and ends with the last.
 */
int session_work(struct session *s, int timeout_ms);
/* Reads every tier now, waiting at most about a second for each: its aggregations are merged, its
 * records wait for the next session_work. Returns 0 or an error with a diagnostic. */
int session_snapshot(struct session *s);
/* Returns the descriptor of the i-th tier that becomes readable when session_work has something to
 * do; -1: it has none, or nothing more will come from there. */
int session_fd(const struct session *s, size_t i);
/* Returns the time in ms after which session_work must be called, whatever the descriptors say. */
int session_timeout(const struct session *s);
/* Ends tracing: END runs, session_work reports the rest. A second call does nothing. */
int session_stop(struct session *s);
/* Makes the final printout, once session_work returned ERLTRACE_STATE_DONE. */
void session_finish(struct session *s);
/* Returns how many of the attached nodes were lost; of those of a cluster, none while others are
 * left. */
size_t session_lost(const struct session *s);
/* Returns the number of nodes in which the program was ended because of what its probes cost.
 * Everything that it had collected there is reported as at any end. */
size_t session_overloaded(const struct session *s);
/* Returns whether a node was lost that had END clauses: they did not run. */
bool session_end_missed(const struct session *s);
/* Appends the text of a symbol (nth 0), or of the nth frame of a stack. Returns false when there is
 * none. */
bool session_frame(const struct session *s, const struct value *v, size_t nth, struct buf *out);
/* Returns what the program writes as a key of an aggregation (struct report.key_name, with the
 * session as arg): that of the first clause that updates it. NULL: the text does not tell. Valid
 * until the next call. */
const char *session_key_name(void *arg, uint32_t agg, unsigned key);
/* Fills in the status: all of *out but the state. */
void session_status(const struct session *s, struct erltrace_status *out);
/* Returns the targets in words, separated by commas; "" for the local tier. Borrowed. */
const char *session_targets(const struct session *s);
/* Closes every tier, which undoes everything set in the nodes. */
void session_detach(struct session *s);
/* ... and frees all that the session owns. */
void session_free(struct session *s);

/* Applies an observer's answer. Returns whether the next observers are called. */
static inline bool session_goes_on(struct session *s, enum verdict v)
{
    s->aborted |= v == VERDICT_ABORT;
    return v == VERDICT_SHOW;
}
/* Passes an event to the observers, in order, until one hides it from the rest. */
#define session_tell(s, event, ...)                                                                \
    for (size_t i_ = 0; i_ < (s)->nobservers; i_++)                                                \
        if ((s)->observer[i_].event != NULL &&                                                     \
            !session_goes_on((s), (s)->observer[i_].event((s)->observer[i_].arg, __VA_ARGS__)))    \
    break

/* Tells the compiler what the kernel says of itself: arg is the session. */
const struct foreign *session_ask_kernel(void *arg, const char **why);

/* Reports that memory is out; returns the error. */
int session_no_memory(struct session *s);

/* Returns the public form of the compiler's stability attributes. */
struct erltrace_attributes session_attributes(struct compile_attr a);

/* -- waiting.c --------------------------------------------------------------------------------- */

enum {
    SESSION_SLICE_MS = 20 /* the longest time between checks of a tier without a descriptor */
};
/* Waits up to timeout_ms until one of several tiers has something to do, and notes which have. */
void session_wait(struct session *s, int timeout_ms);
/* Ends that: the tiers are about to be closed. */
void session_wait_end(struct session *s);

/* -- probes.c ---------------------------------------------------------------------------------- */

void api_probe_fill(struct api_probe *out, enum probe_kind kind, uint32_t id, const char *prov,
                    const char *mod, const char *func, const char *name, const char *node);

/* -- offsets.c --------------------------------------------------------------------------------- */

/* Returns whether there are several nodes, whose clocks are compared. */
bool session_clocks(const struct session *s);

/* -- costs.c ----------------------------------------------------------------------------------- */

/* Returns ns, spent over all threads, in permille of the time that one thread could run: the
 * busiest, or the one on which the program exceeded its limit. */
uint32_t session_cost_part(const struct event_cost *c, uint64_t ns);

/* -- enabling.c -------------------------------------------------------------------------------- */

/* Returns whether a clause must be placed on a probe of a tier. b names the clause; its `pids` is
 * filled in. */
bool session_wants(struct session *s, struct tier *t, const struct tier_probe *p,
                   struct tier_binding *b);
/* The probes that a clause's description has matched. */
struct session_matched {
    size_t count, left_out, instructions; /* probes; see tier_binding and tier_probe */
    size_t replaced;                      /* ... of functions that Elixir's compiler replaces */
    bool several;                         /* functions */
    struct tier_probe first;              /* as an example */
};
/* Returns that Elixir's compiler replaces the function of a description, and which probe sees its
 * calls, in the arena; NULL: it does not. */
const char *session_replaced(struct session *s, const struct probe_spec *spec);
/* Warns when the clause can do nothing, or next to nothing, on all the probes that it has matched.
 */
void session_doubt(struct session *s, uint32_t clause, const struct diag_pos *pos,
                   const struct session_matched *m);
/* Notes what functions of code loaded later can get of a clause whose description has this name.
 * Returns false when out of memory. */
bool session_later(struct session *s, uint32_t clause, const char *name);

/* -- match.c ----------------------------------------------------------------------------------- */

/* Returns the position of a clause's description. */
struct diag_pos session_position(const struct session *s, uint32_t clause);

/* Places clauses on the probes that a tier gained since it was enabled, with EPIDs after the
 * existing ones. Returns 0 or an error with a diagnostic. */
int session_extend(struct session *s, struct session_tier *t);

/* Matches every description against a tier that joins. Returns 0 or an error with a diagnostic. */
int session_match_tier(struct session *s, struct session_tier *t);
/* Has a tier ask its target all that matching needs to know. Changes nothing of the session. */
int session_warm(struct session *s, struct tier *t, struct diags *d);

/* -- session.c, for cluster.c ------------------------------------------------------------------ */

/* Fills in the options with which a tier is enabled, and takes note of what was granted. */
int session_ask(struct session *s, struct session_tier *t, struct tier_options *asked);
void session_granted(struct session *s, struct session_tier *t, const struct tier_options *asked,
                     const struct tier_options *granted);
/* A target is gone, with what fired there since it was last read. rc: why. */
void session_lose(struct session *s, struct session_tier *t, int rc);
void session_set_rate(struct session *s, struct session_tier *t);

/* -- cluster.c --------------------------------------------------------------------------------- */

/* Attaches all nodes of the cluster of the first tier's node, reached as `how` says: part after
 * part of them, so that most of the cluster works undisturbed. Those that cannot be attached are
 * warned of. Returns 0 or an error with a diagnostic. Must be followed by session_detach. */
int session_cluster_open(struct session *s, const struct node_options *how);
/* Places the programs in all nodes, in the same way, then starts them together. As session_start.
 */
int session_cluster_start(struct session *s);
/* Attaches nodes that have come, and tells of them; never waits, unless no tier is left (alone). */
void session_cluster_work(struct session *s, bool alone);
/* Returns whether no node is being attached any more that could go on. */
bool session_cluster_ended(const struct session *s);
/* Where a tier's work puts its diagnostics: a lost node of a cluster is no error. Then _worked, or,
 * if it is lost, _lost is called. */
struct diags *session_cluster_diags(struct session *s);
void session_cluster_worked(struct session *s);
void session_cluster_lost(struct session *s, struct session_tier *t, int rc);
/* Waits until no thread works for the session any more. */
void session_cluster_close(struct session *s);

/* -- mixed.c --------------------------------------------------------------------------------- */

/* Returns whether the tier passes its events to the first one. */
bool session_passes(const struct session *s, const struct session_tier *t);
/* Gives the first tier a probe of such a tier, and changes a binding of it into one of the first
 * tier. Returns 0 or an error with a diagnostic. */
int session_pass(struct session *s, struct session_tier *t, const struct tier_probe *p,
                 struct tier_binding *b);
/* Enables such a tier, with these options. Returns 0 or an error with a diagnostic. */
int session_enable_passing(struct session *s, struct session_tier *t, struct tier_options *opt);
/* Returns the first EPID of the probe that such a tier passes by this number; 0: there is none. */
uint32_t session_passed_epid(const struct session_tier *t, uint32_t number);
/* Returns how many probes a tier passes. */
size_t session_passed(const struct session_tier *t);
void session_passing_free(struct session_passing *p);

/* -- modules.c ----------------------------------------------------------------------------------
 */

/* Returns whether a clause reads a record that no program defines, and names a module. */
bool session_asks(const struct session *s);
/* Asks the attached tiers for these records. Returns 0 or an error with diagnostics. */
int session_records(struct session *s);
/* Returns which records of the image are known from modules of this tier, in the arena. Returns 0
 * or ET_ENOMEM with a diagnostic. */
int session_told(struct session *s, const struct tier *t, const struct tier_told **told, size_t *n);

/* -- library.c --------------------------------------------------------------------------------- */

/* Compiles the D libraries, once. Returns 0 or an error with a diagnostic. */
int session_libraries(struct session *s);

/* -- sampled.c --------------------------------------------------------------------------------- */

/* What a clause of profile-N or wall-N reads too late: a variable that a clause of another probe
 * writes. */
struct session_late {
    const struct dif_var *var;
    const struct dif_clause *reader, *writer;
    const struct dif_action *action; /* of the reader; NULL: its predicate reads it */
};
/* Returns whether there is one, and fills in *out: the first of the program. */
bool session_reads_late(const struct dif_image *img, struct session_late *out);

/* -- deliver.c --------------------------------------------------------------------------------- */

/* The argument of a tier's sink while it works. */
struct session_reader {
    struct session *s;
    struct session_tier *tier;
    int error; /* the first one */
};
void session_record(void *arg, struct tier *t, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                    const uint8_t *parts, size_t len);
void session_aggregation(void *arg, struct tier *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                         size_t keylen, const uint64_t *words, size_t nwords, bool lower);
void session_fault(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                   uint32_t fault, uint64_t value, uint32_t cpu);
void session_counts(void *arg, struct tier *t, const struct record_counts *c);
void session_load(void *arg, struct tier *t, const struct tier_load *l); /* costs.c */
void session_member(void *arg, struct tier *t, const char *name);        /* cluster.c */

/* -- stacks.c ---------------------------------------------------------------------------------- */

/* Returns a key of an aggregation that has stacks, as it is kept: the key itself, or a copy that
 * is valid until the next call. */
const uint8_t *session_stack_key(struct session *s, struct tier *t, uint32_t agg,
                                 const uint8_t *key, size_t len);
/* Names frames that can be named meanwhile. Returns 0 or an error with a diagnostic. */
int session_stacks_settle(struct session *s);
/* Finds a frame of such a stack, as tier_ops.symbol. */
bool session_stack_symbol(const struct session *s, uint64_t pid, uint64_t word,
                          struct tier_symbol *out);
void session_stacks_free(struct session *s);

enum session_order {
    SESSION_FIRST,   /* a tier's first records: BEGIN's come first, END's are postponed */
    SESSION_ORDERED, /* END's are postponed */
    SESSION_AS_IS
};
/* Reports and empties a queue. Returns 0 or an error with a diagnostic. */
int session_consume(struct session *s, struct buf *queue, enum session_order order);
/* Implements the policies fill and ring: keeps what is in the queue until the end, at most as much
 * as a buffer holds. Beyond that ring discards the oldest, and fill ends the session. Returns 0 or
 * an error with a diagnostic. */
int session_hold(struct session *s, struct session_tier *t);
void session_report_drops(struct session *s);
void session_set_rates(struct session *s);

#endif
