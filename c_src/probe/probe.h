/* probe.h - what a probe is called: descriptions, globs, and the provider tables.
 *
 * A description has four parts, provider:module:function:name; an empty part matches anything;
 * otherwise the part is a shell glob (* ? [set] [!set] \).
 *
 * A provider table says which named probes exist, what their arguments are and what the VM must
 * deliver for them. Adding a probe touches one table. Function probes are not in a table: they
 * exist for each function of the target, with the names of `probe_fn_names`.
 */
#ifndef ET_PROBE_PROBE_H
#define ET_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parsed probe description. Strings are borrowed. */
struct probe_spec {
    const char *prov, *mod, *func, *name; /* "" matches anything */
    uint32_t id;                          /* not 0: a description by probe id; the strings are "" */
};

/* Whether text matches the pattern as a whole; "" as a pattern matches anything. Bounded: linear in
 * pattern times text. */
bool probe_glob(const char *pattern, const char *text);
/* True when the pattern holds none of * ? [ \ and is not empty: it can only match itself. */
bool probe_glob_exact(const char *pattern);
/* The provider part against a node's provider name ("erlang1234"). The bare word "erlang" also
 * matches, any node: our addition, since nobody knows a pid by heart. */
bool probe_glob_provider(const char *pattern, const char *provider);
/* The function part against a function: a pattern with '/' is compared with "name/arity", one
 * without with "name".
 * ("map" matches lists:map/2; "map/2" only that arity.) */
bool probe_glob_function(const char *pattern, const char *name, unsigned arity);

/* What a VM-tier probe needs from the VM; the agent sets the union. */
enum probe_need {
    PROBE_NEED_SEND = 1 << 0,     /* process flag send */
    PROBE_NEED_RECEIVE = 1 << 1,  /* process flag receive */
    PROBE_NEED_PROCS = 1 << 2,    /* process flag procs */
    PROBE_NEED_RUNNING = 1 << 3,  /* process flags running and exiting */
    PROBE_NEED_GC = 1 << 4,       /* process flag garbage_collection */
    PROBE_NEED_CALL = 1 << 5,     /* entry of named functions */
    PROBE_NEED_RETURN = 1 << 6,   /* return of named functions: call + return_to */
    PROBE_NEED_EXCEPTION = 1 << 7 /* exception_trace on named functions */
};

/* Every probe kind that a tier can be asked for. The numbers are part of the agent's protocol. */
enum probe_kind {
    PROBE_BEGIN = 1,
    PROBE_END = 2,
    PROBE_ERROR = 3,
    PROBE_TICK = 4,
    PROBE_PROCESS_SPAWN = 10,
    PROBE_PROCESS_EXIT,
    PROBE_PROCESS_SCHEDULED,
    PROBE_PROCESS_UNSCHEDULED,
    PROBE_MESSAGE_SEND,
    PROBE_MESSAGE_QUEUED,
    PROBE_GC_MINOR_START,
    PROBE_GC_MINOR_END,
    PROBE_GC_MAJOR_START,
    PROBE_GC_MAJOR_END,
    PROBE_FN_ENTRY = 64,
    PROBE_FN_RETURN,
    PROBE_FN_EXCEPTION,
    PROBE_NKINDS = 72
};

struct probe_arg {
    const char *type; /* as a D programmer writes it: "char *", "uint32_t" */
    const char *name;
    const char *text; /* meaning and unit */
};

struct probe_def {
    enum probe_kind kind;
    const char *name;         /* "process-spawn" */
    uint32_t needs;           /* enum probe_need bits */
    const char *text;         /* when it fires, one line */
    struct probe_arg arg[10]; /* ends at the first type NULL */
};

/* The erlang provider's named probes; *n of them. */
const struct probe_def *probe_erlang(size_t *n);
/* The named probe of this name or of this kind, NULL if there is none. */
const struct probe_def *probe_erlang_name(const char *name);
const struct probe_def *probe_erlang_kind(enum probe_kind kind);

/* Function probes. The canonical names are entry, return and exception; OTP's provider calls them
 * function-entry (with local- and global- before it) and function-return; those names match too.
 * Returns the kinds whose canonical name or alias matches the pattern, as bits 1 << (kind -
 * PROBE_FN_ENTRY). */
unsigned probe_fn_match(const char *name_pattern);
const char *probe_fn_name(enum probe_kind kind);            /* "entry", "return", "exception" */
const struct probe_def *probe_fn_def(enum probe_kind kind); /* arguments, needs */
/* All names a function probe can be called by, for "did you mean". Ends with NULL. */
extern const char *const probe_fn_names[];

/* dtrace's interval names: "tick-100ms" -> period in ns, kind PROBE_TICK. False: not such a name,
 * or out of range (under 200 us, 0, unknown unit). Units as in the reference 10.2; no unit means
 * hz. */
bool probe_tick_period(const char *name, uint64_t *ns);

#endif
