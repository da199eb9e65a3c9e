/* tier.h - the one contract between a tracing session and a place where programs run.
 *
 * Life of a tier:  open (by its own room) -> match... -> enable -> prepare -> go -> work... -> stop
 * -> work... -> close. A session may hold several (one a node); each is used by one thread only.
 *
 * match asks what probes there are; the session makes EPIDs of the matches and hands them to enable
 * with the encoded image. Everything that a tier then reports goes to a sink, from inside work.
 */
#ifndef ET_TIER_TIER_H
#define ET_TIER_TIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "dif/dif.h"
#include "dif/record.h"
#include "probe/probe.h"
#include "tier/tier_load.h"
#include "util/option.h"

struct tier;

/* Probe ids that are the same on every tier, so that a script prints the same on each. */
enum {
    TIER_ID_DEFAULT = 900,   /* the first of probe_intervals(); a tier need not have them all */
    TIER_ID_INTERVAL = 1000, /* the other interval that was asked for first; others follow */
    TIER_ID_INTERVAL_END = 3000
};

/* A probe that a tier has. Strings are borrowed from the tier and live until it closes. */
struct tier_probe {
    uint32_t id; /* 1 BEGIN, 2 END, 3 ERROR, intervals from TIER_ID_DEFAULT on; others are the
                    tier's own, stable while it is open */
    const char *prov, *mod, *func, *name;
    enum probe_kind kind;
    uint64_t period;  /* ns, PROBE_TICK and PROBE_PROFILE */
    uint32_t number;  /* of a numbered probe: which */
    uint32_t arity;   /* function probes: func is "name/arity" */
    bool instruction; /* likewise: code that names the function has an instruction in its place, so
                         that only other calls are seen */
};

/* One clause of the image on one probe. */
struct tier_binding {
    uint32_t epid;   /* 1.. */
    uint32_t clause; /* of the image */
    uint32_t probe;  /* tier_probe.id */
    /* The clause does nothing while argument 0 is the text of another process than one of these;
     * NULL: it may run for any. Borrowed, until the tier closes. */
    const struct probe_pids *pids;
};

/* What a tier reports; see dif/record.h for what is recorded. Any function may be NULL. */
struct tier_sink {
    void *arg;
    /* One record: its clause execution's parts. Records of one thread come in order. */
    void (*record)(void *arg, struct tier *t, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                   const uint8_t *parts, size_t len);
    /* What one thread added to one key of one aggregation since it was last reported. */
    void (*aggregation)(void *arg, struct tier *t, uint32_t agg, uint32_t cpu, const uint8_t *key,
                        size_t keylen, const uint64_t *words, size_t nwords);
    /* A fault in a clause: see engine_drain. */
    void (*fault)(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                  uint32_t fault, uint64_t value, uint32_t cpu);
    /* The tier's counters, cumulative. */
    void (*counts)(void *arg, struct tier *t, const struct record_counts *c);
    /* What the program's probes have cost. */
    void (*load)(void *arg, struct tier *t, const struct tier_load *l);
};

enum tier_state {
    TIER_RUNNING,  /* nothing special */
    TIER_EXITING,  /* exit() ran: call stop */
    TIER_OVERLOAD, /* the program took too much of the target and fires no more: call stop.
                      sink->load has said what it took */
    TIER_DRAINED,  /* after stop: END has run and everything has been reported */
    TIER_LOST      /* the node is gone or ended the trace; a diagnostic says why */
};

/* A clause that functions of code to come can get: probes of this kind. */
struct tier_later {
    enum probe_kind kind;
    const struct probe_pids *pids; /* as in a binding */
};

/* How far a target is with what takes long. */
struct tier_progress {
    bool waiting;         /* it does something for another trace, which comes first */
    const char *unit;     /* what is counted: "functions", "processes" */
    uint64_t done, total; /* total 0: it has only begun */
    bool fresh;           /* the target has said so since the last call */
};
typedef bool (*tier_progress_fn)(void *arg, const struct tier_progress *p); /* false: give it up */

struct tier_options {
/* The options that tiers take, each as struct options has it; those with a size are updated to what
 * was granted. OPTION_UNSET: not set. Rates are in ns, 0: as data arrives. cleanrate is 0 if
 * nothing becomes free by readings. */
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
    /* Called several times a second while enable or prepare takes long; NULL: nobody wants to know.
     */
    tier_progress_fn progress;
    void *progress_arg;
    bool aggs_with_records; /* the program acts on aggregations from records (printa, clear, ...) */
};

/* What lies at an address. Strings are borrowed from the tier until the next call. */
struct tier_symbol {
    const char *object;     /* a module of the kernel, or an object's path; NULL: not known */
    const char *function;   /* NULL: not known */
    uint64_t offset;        /* of the address, from the function's start */
    uint64_t object_offset; /* and from the object's */
};

/* What is set in the target for the program. */
struct tier_placed {
    uint64_t meta, local, global; /* functions, by the kind of their trace pattern */
    char flags[160];              /* on all processes; names with blanks between them */
    uint64_t processes;           /* that have these, and new ones will */
    char only_flags[160];         /* where a few processes are enough */
    uint64_t only_processes;      /* that have those */
    uint64_t ports;               /* that are traced */
    char monitors[160];           /* what else tells of events; names with blanks between them */
    uint64_t ns;                  /* that it took to set all this */
    uint64_t calls;               /* that set or cleared patterns of functions, meanwhile */
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
    enum word_tier place; /* which of the names of D it has */
    /* Calls fn for each probe that the description matches, in order of id. Function probes come by
     * module, then function. 0, or an error with a diagnostic (a description that matches nothing
     * is not an error). */
    int (*match)(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                 struct diags *d);
    /* Nearest existing names for a description that matched nothing, as a hint; NULL if there is
     * none. Borrowed. */
    const char *(*suggest)(struct tier *t, const struct probe_spec *spec);
    /* For a description that matched nothing: why, when it names a probe that is known and that
     * this tier lacks, else NULL. Such a program compiles, but does not run. May be NULL. Borrowed.
     */
    const char *(*lacking)(struct tier *t, const struct probe_spec *spec);
    /* Loads the program. Nothing is set, nothing fires yet. The image is encoded by the caller. */
    int (*enable)(struct tier *t, const struct dif_image *img, const void *image, size_t len,
                  const struct tier_binding *b, size_t n, struct tier_options *opt,
                  struct diags *d);
    /* Sets all that the probes need in the target; nothing fires yet. This and enable give
     * ET_EABORT, without a diagnostic, when opt->progress says so: then give_up has to follow. May
     * be NULL: nothing has to be set. */
    int (*prepare)(struct tier *t, struct diags *d);
    /* Undoes what enable and prepare have set, and ends what they still do in the target; nothing
     * but close, target and enabled may follow. Waits for less than a second, unless the target
     * says that it is at it. May be NULL: close is soon enough. */
    void (*give_up)(struct tier *t);
    /* Runs BEGIN, then lets the probes fire, at once. */
    int (*go)(struct tier *t, struct diags *d);
    /* Waits up to timeout_ms for something to happen and reports it. Returns enum tier_state, or a
     * negative error with a diagnostic. With `flush`, records and aggregations are read now
     * whatever the rates say. */
    int (*work)(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
                struct diags *d);
    /* Ends the firing of probes and runs END. work then reports the rest, until TIER_DRAINED. */
    int (*stop)(struct tier *t, struct diags *d);
    /* Removes everything from the target; frees t. Never fails, waits at most about 2 s. */
    void (*close)(struct tier *t);
    /* The target in words for people and JSON: "rabbit@host"; "" for the local tier. Borrowed. */
    const char *(*target)(struct tier *t);
    /* Whether another tier of the same ops has the same target. May be NULL. */
    bool (*same)(struct tier *t, struct tier *other);
    /* Probes can come while a program runs, by code being loaded. Whether some may have since this
     * was last asked; match_new, which is like match but tells only of those, is then to be called
     * for each description, and extend with what is bound to them, sorted by probe, then clause (n
     * may be 0). All may be NULL: none ever come. */
    bool (*grown)(struct tier *t);
    int (*match_new)(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                     struct diags *d);
    int (*extend)(struct tier *t, const struct tier_binding *b, size_t n, struct diags *d);
    /* A descriptor that becomes readable when work has something to do, or -1. */
    int (*fd)(struct tier *t);
    /* What was enabled, for the status line and -v: text for people, borrowed; may be NULL. */
    const char *(*enabled)(struct tier *t);
    /* What is set in the target, once the program runs; NULL: nothing is known. May be NULL. */
    const struct tier_placed *(*placed)(struct tier *t);
    /* Finds out what lies at an address of a process (pid 0: of the kernel) of the target. False:
     * nothing known does. May be NULL. */
    bool (*symbol)(struct tier *t, uint64_t pid, uint64_t address, struct tier_symbol *out);
    /* Tells what of the target can be traced, and what is in the way; changes nothing. *otp: its
     * release. May be NULL. */
    int (*examine)(struct tier *t, int *otp, tier_finding_fn fn, void *arg, struct diags *d);
    /* Changes switchrate and aggrate, ns, while the program runs. May be NULL. */
    void (*rates)(struct tier *t, int64_t switchrate, int64_t aggrate);
};

struct tier {
    const struct tier_ops *ops;
};

/* The local tier: dtrace:::BEGIN, END, ERROR, profile:::tick-* and profile-*, in this process. */
int tier_local_open(struct tier **out, struct diags *d);

/* Walks the blocks that engine_drain makes and calls the sink. 0, or ET_EIMAGE on malformed bytes
 * (with a diagnostic): they may come from another machine. */
int tier_report(struct tier *t, const struct dif_image *img, const void *blocks, size_t len,
                const struct tier_sink *sink, struct diags *d);

#endif
