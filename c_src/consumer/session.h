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
#ifndef ET_CONSUMER_SESSION_H
#define ET_CONSUMER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "compile/compile.h"
#include "consumer/options.h"
#include "consumer/report.h"
#include "dif/dif.h"
#include "tier/tier.h"

struct session;

struct session_config {
    struct options *opt; /* changed by programs */
    struct diags *diags; /* both outlive the session */
    struct out out;
    bool json;
    int64_t target; /* $target */
};

/* NULL: out of memory. */
struct session *session_new(const struct session_config *config);
/* Adds a program; see compile.h. Texts and arguments are borrowed until session_close. */
int session_add(struct session *s, const struct compile_source *src);
/* Makes the image. An error of session_add or this one: nothing but session_close may follow. */
int session_compile(struct session *s);
const struct dif_image *session_image(const struct session *s);
/* Whether the local tier has every probe that the programs describe: those of dtrace and profile.
 */
bool session_is_local(const struct session *s);

/* Takes over an open tier, also on error. */
int session_attach(struct session *s, struct tier *t);
/* Matches every description against every tier. A description that no tier has is an error at its
 * place, ET_ENOPROBE, unless the option zdefs is set. */
int session_match(struct session *s);
/* What the nth program of session_add matched: clauses times probes. */
uint64_t session_matched(const struct session *s, size_t nth);
/* How stable the nth program of session_add is: its probe descriptions, its statements. */
void session_stability(const struct session *s, size_t nth, struct compile_attr *probes,
                       struct compile_attr *statements);
size_t session_probes(const struct session *s); /* the sum */

/* Calls fn for each probe that the programs' descriptions match, or for every probe when there is
 * no program; missed (may be NULL) for each description without any. 0 or an error with a
 * diagnostic. */
typedef void (*session_list_fn)(void *arg, const struct tier *t, const struct tier_probe *p);
typedef void (*session_missed_fn)(void *arg, const char *description);
int session_list(struct session *s, session_list_fn fn, session_missed_fn missed, void *arg);

/* Whether some action needs the option destructive, without which session_start refuses. */
bool session_is_destructive(const struct session *s);
/* Enables and starts everywhere. On an error nothing runs. */
int session_start(struct session *s);

enum session_state {
    SESSION_RUNNING,
    SESSION_ENDING, /* stop was asked for, END's data is still to come */
    SESSION_ENDED   /* all has been reported */
};
/* Waits up to timeout_ms for something to happen and reports it. Returns a state, or an error with
 * a diagnostic after which the session is over. A node that is lost is a diagnostic too; the
 * session goes on with the others and ends with the last. */
int session_work(struct session *s, int timeout_ms);
/* Ends tracing: END runs, session_work reports the rest. Twice is as once. */
int session_stop(struct session *s);
/* The final printout, once session_work returned SESSION_ENDED. */
void session_finish(struct session *s);
/* Nodes that were lost, of those attached. */
size_t session_lost(const struct session *s);
/* Whether a node was lost that had END clauses: they did not run. */
bool session_end_missed(const struct session *s);
/* The argument of the last exit(), 0 if there was none; whether there was one. */
int session_status(const struct session *s, bool *exited);

struct session_stats {
    uint64_t fired, recorded, updates, errors, drops; /* since the start, of all nodes */
};
void session_stats(const struct session *s, struct session_stats *out);
/* The targets in words, separated by commas; "" for the local tier. Borrowed. */
const char *session_targets(const struct session *s);
/* What was enabled, as the only tier says it; NULL with several, or when it does not say. Borrowed.
 */
const char *session_enabled(const struct session *s);

/* Closes every tier: whatever was set in the nodes is undone. */
void session_close(struct session *s);

#endif
