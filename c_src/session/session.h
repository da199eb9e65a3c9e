/* session.h - a tracing session: compile, match, enable, run, read, report.
 *
 *     session_new -> session_add... -> session_compile -> session_attach... -> session_match
 *                 -> session_start -> session_work... -> session_close
 *
 * All programs of a session become one image, which runs in every tier that is attached (one a
 * node). Records are reported in the order in which a tier hands them over, BEGIN's first and END's
 * last; aggregations are merged over threads and nodes. Everything goes to the struct out given;
 * errors are diagnostics.
 *
 * Within one reading, aggregations are merged before the records are looked at, so that a printa()
 * sees all that had been aggregated when it ran. */
#ifndef ET_SESSION_SESSION_H
#define ET_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "lang/compile.h"
#include "result/observer.h"
#include "result/options.h"
#include "result/report.h"
#include "dif/dif.h"
#include "tier/tier.h"

struct session;

struct session_config {
    struct options *opt; /* changed by programs */
    struct diags *diags; /* both outlive the session */
    struct out out;
    bool terminal;                /* the output goes to a terminal */
    int format;                   /* flags of erltrace_open: report_format */
    int64_t target;               /* $target */
    const char *libraries;        /* folder of our D libraries; NULL: none. Borrowed */
    const struct observer *watch; /* is told before the reporter; NULL: nobody. Copied */
    /* It is not going to be started: probes that are known and not to be had are no error. */
    bool check_only;
};

/* NULL: out of memory. */
struct session *session_new(const struct session_config *config);
/* Adds a program; see compile.h. Texts and arguments are borrowed until session_close. */
int session_add(struct session *s, const struct compile_source *src);
/* To be called when the options were changed from outside. */
void session_options_changed(struct session *s);
/* Makes the image. An error of session_add or this one: nothing but session_close may follow. */
int session_compile(struct session *s);
const struct dif_image *session_image(const struct session *s);
/* The programs as a tree, in lines. */
void session_tree(const struct session *s, struct buf *out);
/* Whether the local tier has every probe that the programs describe: those of dtrace and profile.
 */
bool session_is_local(const struct session *s);

/* Takes over an open tier, also on error. One whose target the session has already is closed, with
 * a warning. */
int session_attach(struct session *s, struct tier *t);
/* Matches every description against every tier. A description that no tier has is an error at its
 * place, ET_ENOPROBE, unless the option zdefs is set. */
int session_match(struct session *s);
/* What the nth program of session_add matched: clauses times probes. */
uint64_t session_matched(const struct session *s, size_t nth);
/* How stable the nth program of session_add is: its probe descriptions, its statements. */
void session_stability(const struct session *s, size_t nth, struct compile_attr *probes,
                       struct compile_attr *statements);
/* The probes of the providers that the programs define, as compile_probes has them. */
int session_definitions(const struct session *s,
                        int (*fn)(void *arg, const struct compile_probe *p), void *arg);
size_t session_programs(const struct session *s);
size_t session_probes(const struct session *s); /* the sum */

/* What records of the nth program of session_add show as their program; nothing when there is none.
 */
void session_own(struct session *s, size_t nth, const struct erltrace_prog *program);

/* Calls fn for each probe that the nth program's descriptions match (SESSION_ALL: those of every
 * program, or every probe when there is no program); missed (may be NULL) for each description
 * without any, with the reason if it names a known probe, else NULL. Not 0 ends the walk and is
 * returned. 0, that value, or an error with a diagnostic.
 */
#define SESSION_ALL ((size_t)-1)
typedef int (*session_list_fn)(void *arg, const struct tier *t, const struct tier_probe *p);
typedef int (*session_missed_fn)(void *arg, const char *description, const char *why);
int session_list(struct session *s, size_t nth, session_list_fn fn, session_missed_fn missed,
                 void *arg);

/* Whether some action prints. */
bool session_prints(const struct session *s);
/* Whether some action needs the option destructive, without which session_start refuses. */
bool session_is_destructive(const struct session *s);
/* Enables and starts everywhere. On an error nothing runs. */
int session_start(struct session *s);

/* Waits up to timeout_ms for something to happen and reports it. Returns RUNNING, STOPPING or DONE
 * of enum erltrace_state, or an error with a diagnostic after which the session is over. A node
 * that is lost is a diagnostic too; the session goes on with the others and ends with the last. */
int session_work(struct session *s, int timeout_ms);
/* Reads every tier now, waiting at most about a second for each: its aggregations are merged, its
 * records wait for the next session_work. 0 or an error with a diagnostic. */
int session_snapshot(struct session *s);
/* The descriptor of the ith tier that says when session_work has something to do; -1: it has none,
 * or nothing more will come from there. */
int session_fd(const struct session *s, size_t i);
size_t session_tiers(const struct session *s);
/* ms after which session_work has to be called, whatever the descriptors say. */
int session_timeout(const struct session *s);
/* Ends tracing: END runs, session_work reports the rest. Twice is as once. */
int session_stop(struct session *s);
/* The final printout, once session_work returned ERLTRACE_STATE_DONE. */
void session_finish(struct session *s);
/* Nodes that were lost, of those attached. */
size_t session_lost(const struct session *s);
/* Nodes in which the program was ended because of what its probes took. Everything that it had
 * collected there is reported as at any end. */
size_t session_overloaded(const struct session *s);
/* Whether a node was lost that had END clauses: they did not run. */
bool session_end_missed(const struct session *s);
/* The merged aggregations. */
struct aggr_table *session_aggregations(struct session *s);
/* The text of a symbol (nth 0), or of the nth frame of a stack; false when there is none. */
bool session_frame(const struct session *s, const struct value *v, size_t nth, struct buf *out);
/* What the reporter of text writes for one action of a record. */
void session_action_text(struct session *s, const struct event_data *d, struct buf *out);
/* Fills in how it goes: all of *out but the state. */
void session_status(const struct session *s, struct erltrace_status *out);
/* The targets in words, separated by commas; "" for the local tier. Borrowed. */
const char *session_targets(const struct session *s);
/* Examines each target: fn is told the target in words and a finding. Targets that say nothing are
 * passed over. *otp is the release of the one that the finding is about, while fn runs. 0 or an
 * error. */
typedef void (*session_finding_fn)(void *arg, const char *target, int otp,
                                   const struct tier_finding *f);
int session_examine(struct session *s, session_finding_fn fn, void *arg, struct diags *d);
/* What was enabled, as the only tier says it; NULL with several, or when it does not say. Borrowed.
 */
const char *session_enabled(const struct session *s);

/* What was placed in the ith target, once the session has started. */
struct session_placed {
    const char *target;
    size_t clauses;                   /* clauses on probes that were enabled */
    size_t left_out;                  /* that were not: their predicates can never be true there */
    const struct tier_placed *placed; /* NULL: the tier does not say. Borrowed */
};
struct session_placed session_placed(const struct session *s, size_t i);

/* Closes every tier: whatever was set in the nodes is undone. */
void session_close(struct session *s);

#endif
