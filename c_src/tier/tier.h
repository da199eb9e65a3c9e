/* tier.h - the one contract between a tracing session and a place where programs run.
 *
 * Life of a tier:  open (by its own room) -> match... -> enable -> prepare -> go -> work... -> stop
 * -> work... -> close. A session may have several (one per node); each is used by one thread only.
 *
 * match finds the probes that exist; the session assigns EPIDs to the matches and passes them to
 * enable with the encoded image. Everything that the tier then reports goes to a sink, from inside
 * work. */
#ifndef ET_TIER_TIER_H
#define ET_TIER_TIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/diag.h"
#include "cluster/clocks.h"
#include "dif/dif.h"
#include "dif/record.h"
#include "probe/foreign.h"
#include "probe/probe.h"
#include "tier/tier_load.h"
#include "util/option.h"

struct tier;

/* Probe ids that are the same on every tier, so that a script prints the same ids on each. */
enum {
    TIER_ID_DEFAULT = 900,   /* the first of probe_intervals(); a tier need not have them all */
    TIER_ID_INTERVAL = 1000, /* the first other interval requested; others follow */
    TIER_ID_INTERVAL_END = 3000
};

/* A probe that a tier has. Strings are borrowed from the tier and live until it closes. */
struct tier_probe {
    uint32_t id; /* 1 BEGIN, 2 END, 3 ERROR, intervals from TIER_ID_DEFAULT on; others are the
                    tier's own, stable while it is open */
    const char *prov, *mod, *func, *name;
    enum probe_kind kind;
    uint64_t period;  /* ns, PROBE_TICK, PROBE_PROFILE and PROBE_WALL */
    uint32_t number;  /* the number of a numbered probe */
    uint32_t arity;   /* function probes: func is "name/arity" */
    bool instruction; /* likewise: code that names the function has an instruction in its place, so
                         that only other calls are seen */
};

/* One clause of the image on one probe. */
struct tier_binding {
    uint32_t epid;   /* 1.. */
    uint32_t clause; /* of the image */
    uint32_t probe;  /* tier_probe.id */
    /* The clause does nothing unless argument 0 is the text of one of these processes; NULL: it may
     * run for any. Borrowed, until the tier closes. */
    const struct probe_pids *pids;
    bool counts; /* all that it does there follows from the probe: see decide_counts */
};

/* What a tier reports; see dif/record.h for what is recorded. Any function may be NULL. */
struct tier_sink {
    void *arg;
    /* One record: its clause execution's parts. Records of one thread come in order. */
    void (*record)(void *arg, struct tier *t, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                   const uint8_t *parts, size_t len);
    /* What one thread added to one key of one aggregation since it was last reported.
     * lower: a value was a lower bound. */
    void (*aggregation)(void *arg, struct tier *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                        size_t keylen, const uint64_t *words, size_t nwords, bool lower);
    /* A fault in a clause: see engine_drain. */
    void (*fault)(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                  uint32_t fault, uint64_t value, uint32_t cpu);
    /* The tier's counters, cumulative. */
    void (*counts)(void *arg, struct tier *t, const struct record_counts *c);
    /* The cost of the program's probes. */
    void (*load)(void *arg, struct tier *t, const struct tier_load *l);
    /* A node that the target's node says is in its cluster: see ask_members. */
    void (*member)(void *arg, struct tier *t, const char *name);
};

typedef void (*tier_member_fn)(void *arg, const char *name);

enum tier_state {
    TIER_RUNNING,  /* nothing special */
    TIER_EXITING,  /* exit() ran: call stop */
    TIER_OVERLOAD, /* the program took too much of the target and fires no more: call stop.
                      sink->load has said what it took */
    TIER_DRAINED,  /* after stop: END has run and everything has been reported */
    TIER_LOST      /* the node is gone or ended the trace; a diagnostic gives the reason */
};

/* A clause for functions of code loaded later: it can get probes of this kind. */
struct tier_later {
    enum probe_kind kind;
    const struct probe_pids *pids; /* as in a binding */
};

/* The progress of a target's long operation. */
struct tier_progress {
    bool waiting;         /* it is working for another trace, which comes first */
    const char *unit;     /* what is counted: "functions", "processes" */
    uint64_t done, total; /* total 0: it has only begun */
    bool fresh;           /* the target reported this since the last call */
};
typedef bool (*tier_progress_fn)(void *arg, const struct tier_progress *p); /* false: give it up */

/* A record of Erlang: its name, and the fields after it in the tuple. */
struct tier_record {
    const char *name;
    const char *const *field;
    size_t nfields;
    bool in_d; /* a program defines it */
};

enum { TIER_MD5 = 16 };
/* The records of a module, or why they are not known: the rest of "the module shop ...". */
struct tier_module {
    const char *module, *why; /* why NULL: they are known */
    uint8_t md5[TIER_MD5];    /* of the code whose records they are */
    const struct tier_record *record;
    size_t nrecords;
    bool cut; /* there may be more of them */
};
struct tier_modules {
    struct tier_module *module; /* n of them */
    size_t n;
    size_t matched; /* modules that the pattern names; if they are too many, n is 0 */
};

/* Returns the record of this name that the module is known to have, or NULL. */
const struct tier_record *tier_record_in(const struct tier_module *m, const char *name);
bool tier_record_same(const struct tier_record *a, const struct tier_record *b);

/* A record that is known from a module. */
struct tier_told {
    const struct tier_module *module;
    uint32_t record; /* its number in the image, from 0 on */
};

struct tier_options {
/* The options that tiers take, each with its value from struct options. Sizes are updated to what
 * was granted. OPTION_UNSET: not set. Rates are in ns, 0: as data arrives. cleanrate is 0 if
 * readings free nothing. */
#define TIER_FIELD_TOOL(name)
#define TIER_FIELD_TIER(name)  int64_t name;
#define TIER_FIELD_AGENT(name) int64_t name;
#define OPTION(name, type, standard, least, most, words, by, phase, to, key, when, text, more)     \
    TIER_FIELD_##to(name)
#include "util/options.list"
#undef OPTION
    uint32_t ncpus;                 /* of the target; set by enable */
    const struct tier_later *later; /* nlater of them; borrowed until enable returns */
    size_t nlater;
    /* Called several times a second while enable or prepare takes long; NULL: not wanted. */
    tier_progress_fn progress;
    void *progress_arg;
    const char *const *redact; /* nredact values of that option; borrowed until enable returns */
    size_t nredact;
    const struct tier_record *records; /* nrecords that the image names; kept until close */
    size_t nrecords;
    const struct tier_told *told; /* ntold of them, of this tier's modules; kept until close */
    size_t ntold;
    pid_t child; /* a process that this one has started to be traced, and may let stand still for a
                    moment; 0: none */
    bool clocks; /* the target's clocks are wanted, from enable to the end */
    bool aggs_with_records; /* the program acts on aggregations from records (printa, clear, ...) */
};

/* The symbol at an address. Strings are borrowed from the tier until the next call. */
struct tier_symbol {
    const char *object;     /* a module of the kernel, or an object's path; NULL: unknown */
    const char *function;   /* NULL: unknown */
    uint64_t offset;        /* of the address, from the function's start */
    uint64_t object_offset; /* and from the object's */
    bool whole;             /* the function's name tells all: m:f/a */
    const char *file;       /* with `whole`: its source file, or NULL */
    uint32_t line;          /* ... and the line there; 0: unknown, as is the file */
    uint64_t address; /* of a frame without an object, if it was asked for by another number */
};

/* What the target has set for the program. */
struct tier_placed {
    uint64_t meta, local, global; /* functions, by the kind of their trace pattern */
    uint64_t counted;             /* functions whose calls the VM counts, in place of a pattern */
    uint64_t filtered;            /* of `meta`: those of which the VM reports only some calls */
    const char *filters;     /* the conditions of these calls, a line for each clause; or NULL */
    char flags[160];         /* on all processes; names separated by blanks */
    uint64_t processes;      /* processes with these flags; new ones get them as well */
    char only_flags[160];    /* flags that a few processes suffice for */
    uint64_t only_processes; /* processes with those flags */
    uint64_t ports;          /* traced ports */
    char monitors[160];      /* other sources of events; names separated by blanks */
    char clocks[160];        /* by which samples are taken; names separated by blanks */
    uint64_t ns;             /* time that setting all this took */
    uint64_t calls;          /* calls that set or cleared patterns of functions meanwhile */
};

typedef int (*tier_match_fn)(void *arg,
                             const struct tier_probe *p); /* not 0 ends the walk and is returned */

/* What an examination of the target found. Strings are borrowed until the function returns. */
struct tier_finding {
    const char *subject; /* one word */
    const char *level;   /* "ok", "note", "limit": something cannot be traced */
    const char *text, *help;
};
typedef void (*tier_finding_fn)(void *arg, const struct tier_finding *f);

struct tier_ops {
    const char *name;     /* "local", "vm" */
    enum word_tier place; /* determines which names of D it has */
    /* Calls fn for each probe that the description matches, in order of id. Function probes come by
     * module, then function. Returns 0, or an error with a diagnostic (a description that matches
     * nothing is not an error). */
    int (*match)(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                 struct diags *d);
    /* Returns the nearest existing names for a description that matched nothing, as a hint; NULL if
     * there are none. Borrowed. */
    const char *(*suggest)(struct tier *t, const struct probe_spec *spec);
    /* Returns why a description matched nothing if it names a known probe that this tier lacks,
     * else NULL. Such a program compiles, but does not run. May be NULL. Borrowed. */
    const char *(*lacking)(struct tier *t, const struct probe_spec *spec);
    /* Returns what is known of a probe, valid until the tier closes; NULL: nothing, or memory is
     * out. May be NULL: the provider's tables tell it. */
    const struct probe_def *(*describe)(struct tier *t, uint32_t id);
    /* Takes over a probe of another tier, whose process passes its events on by calls of the
     * function at an address; pid is the process's own number for itself. p->id is that tier's;
     * *id becomes this one's, and *number what the process has to pass (lang/passing.h). Strings
     * are borrowed until close. Returns 0 or an error with a diagnostic. May be NULL: this tier
     * takes none. */
    int (*take)(struct tier *t, pid_t pid, uint64_t at, const struct tier_probe *p, uint32_t *id,
                uint32_t *number, struct diags *d);
    /* Loads the program. It sets nothing in the target, and nothing fires. The caller encodes the
     * image. */
    int (*enable)(struct tier *t, const struct dif_image *img, const void *image, size_t len,
                  const struct tier_binding *b, size_t n, struct tier_options *opt,
                  struct diags *d);
    /* Sets everything that the probes need in the target; nothing fires so far. This and enable
     * return ET_EABORT, without a diagnostic, when opt->progress asks for that: then give_up must
     * follow. May be NULL: nothing has to be set. */
    int (*prepare)(struct tier *t, struct diags *d);
    /* Undoes what enable and prepare have set, and ends what they still do in the target; only
     * close, target and enabled may follow. Waits for less than a second, unless the target reports
     * that it is working on it. May be NULL: then close does this. */
    void (*give_up)(struct tier *t);
    /* Runs BEGIN, then immediately lets the probes fire. */
    int (*go)(struct tier *t, struct diags *d);
    /* Waits up to timeout_ms for something to happen and reports it. Returns enum tier_state, or a
     * negative error with a diagnostic. With `flush`, it reads records and aggregations now,
     * whatever the rates say. */
    int (*work)(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
                struct diags *d);
    /* Stops the probes and runs END. work then reports the rest, until TIER_DRAINED. */
    int (*stop)(struct tier *t, struct diags *d);
    /* Frees what a tier that was lost still holds of the system; only close, target, node, same and
     * symbol may follow. May be NULL: then close does it. */
    void (*abandon)(struct tier *t);
    /* Removes everything from the target and frees t. Never fails, waits at most about 2 s. */
    void (*close)(struct tier *t);
    /* Returns the time before the tier was lost in which what fired was not fetched, in ns; 0:
     * nothing could fire, or nothing can be lost. May be NULL. */
    uint64_t (*unfetched)(struct tier *t);
    /* Returns the target in words for people and JSON: "rabbit@host"; "" for the local tier.
     * Borrowed. */
    const char *(*target)(struct tier *t);
    /* Returns what D's `node` is at every event of this tier; NULL: unknown. Valid until the tier
     * closes. May be NULL. */
    const char *(*node)(struct tier *t);
    /* Calls fn for each node that the target's node has in its cluster, and for itself; waits for
     * that. Returns 0 or an error with a diagnostic. May be NULL: the target is in no cluster. */
    int (*members)(struct tier *t, tier_member_fn fn, void *arg, struct diags *d);
    /* Asks for the same while a program runs; work takes the answer, and calls sink->member. Does
     * nothing while an answer is awaited. NULL if `members` is. */
    int (*ask_members)(struct tier *t, struct diags *d);
    /* Returns for how long (ms) the target has owed the answer to a reading; 0: it owes none. May
     * be NULL. */
    int64_t (*silent)(struct tier *t);
    /* Returns whether another tier of the same ops has the same target. May be NULL. */
    bool (*same)(struct tier *t, struct tier *other);
    /* Code loaded while a program runs can bring new probes. Returns whether there may be some
     * since the last call. Then match_new, which is like match but reports only new probes, must be
     * called for each description, and extend with the new bindings, sorted by probe, then clause
     * (n may be 0). All three may be NULL: no new probes. */
    bool (*grown)(struct tier *t);
    int (*match_new)(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                     struct diags *d);
    int (*extend)(struct tier *t, const struct tier_binding *b, size_t n, struct diags *d);
    /* Returns a descriptor that becomes readable when work has something to do, or -1. */
    int (*fd)(struct tier *t);
    /* Describes what was enabled, for the status line and -v: text for people, borrowed; may be
     * NULL. */
    const char *(*enabled)(struct tier *t);
    /* Returns what is set in the target, once the program runs; NULL: unknown. May be NULL. */
    const struct tier_placed *(*placed)(struct tier *t);
    /* Finds the symbol at an address of a process (pid 0: of the kernel) of the target. Returns
     * false when it is unknown. May be NULL. */
    bool (*symbol)(struct tier *t, uint64_t pid, uint64_t address, struct tier_symbol *out);
    /* Reports what can be traced in the target, and what prevents tracing; changes nothing. *otp:
     * its release. May be NULL. */
    int (*examine)(struct tier *t, int *otp, tier_finding_fn fn, void *arg, struct diags *d);
    /* Reads the records of the loaded modules that a pattern names, at most `most`, into mem. Runs
     * and loads nothing. Returns 0 or an error with a diagnostic. May be NULL: the tier
     * has no records. */
    int (*records)(struct tier *t, const char *pattern, size_t most, struct tier_modules *out,
                   struct arena *mem, struct diags *d);
    /* Fills in how far the target's clocks are ahead of this process's now. Without the option
     * `clocks` the target is asked, if go was not called yet. Returns 0, or an error with a
     * diagnostic. May be NULL: they are the same. */
    int (*clock)(struct tier *t, struct cluster_ahead *out, struct diags *d);
    /* Returns the capabilities (util/capabilities.h) that this process needs from go on, while the
     * program runs and what it reports is printed. May be NULL: that is not known. */
    uint64_t (*keeps)(struct tier *t);
    /* Changes switchrate and aggrate, ns, while the program runs. May be NULL. */
    void (*rates)(struct tier *t, int64_t switchrate, int64_t aggrate);
};

struct tier {
    const struct tier_ops *ops;
};

/* The local tier: dtrace:::BEGIN, END, ERROR, profile:::tick-* and profile-*, in this process. */
int tier_local_open(struct tier **out, struct diags *d);
/* Opens the kernel tier. Returns 0 or an error with a diagnostic. */
int tier_kernel_open(struct tier **out, struct diags *d);
/* What the running kernel says of itself, for the compiler, until it is closed. Fails with a
 * diagnostic where it says nothing. */
int tier_kernel_says(const struct foreign **out, struct diags *d);
void tier_kernel_said(const struct foreign *f);

/* Walks the blocks that engine_drain makes and calls the sink. Returns 0, or ET_EIMAGE with a
 * diagnostic on malformed bytes: they may come from another machine. */
int tier_report(struct tier *t, const struct dif_image *img, const void *blocks, size_t len,
                const struct tier_sink *sink, struct diags *d);

#endif
