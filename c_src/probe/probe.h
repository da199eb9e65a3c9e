/* probe.h - names of probes: descriptions, and the provider tables.
 *
 * A description has four parts, provider:module:function:name. An empty part matches anything;
 * otherwise the part is a shell glob (base/glob.h).
 *
 * The provider's tables say which probes exist, what their arguments are and what the VM must
 * deliver for them. Adding a probe touches one table. Function probes exist for each function of
 * the target, with the names of `probe_fn_names`. */
#ifndef ET_PROBE_PROBE_H
#define ET_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "words/otp.h"
#include "words/probekind.h"

/* A parsed probe description. Strings are borrowed. */
struct probe_spec {
    const char *prov, *mod, *func, *name; /* "" matches anything */
    uint32_t id; /* nonzero: a description by probe id; the strings are "" */
};

/* Matches the provider part against a node's provider name ("erlang1234"). The bare word "erlang"
 * matches any node as well: our addition, since users rarely know the pid. */
bool probe_glob_provider(const char *pattern, const char *provider);
/* Returns whether the pattern could mean the provider, or a per-process provider: its name followed
 * by a process id. */
bool probe_means_provider(const char *pattern, const char *provider);
/* Matches the function part against a function. A pattern with '/' is compared with "name/arity",
 * one without with "name": "map" matches lists:map/2, "map/2" only that arity. */
bool probe_glob_function(const char *pattern, const char *name, unsigned arity);

/* -- the provider's tables --
 *
 * One table per subject: process.list, port.list and so on (erlang.c names them all). One row per
 * probe, with fields by name. A row is the one source of what users and programs learn about the
 * probe: the types of args[], the output of -l -v, the reason why a probe cannot be enabled, and
 * doc/probes.md all come from it (`make doc`; a unit test fails when that file is out of date). So
 * a probe that no tier has yet, or that OTP once had, is a row as well: one without a kind. Fields
 * whose value is zero are left out:
 *
 *   {KIND(PROCESS_SPAWN),
 *    .text = "a process is spawned, in the spawner",
 *    .arg = {PID_TEXT("p", "the new process"), {"char *", "mfa", "its start function, m:f/a"}}},
 *
 * KIND (parts.h) takes kind, name and needs from words/probes.list, where a node finds them too. To
 * deliver a probe, give it a row there, write KIND in place of .name here, and remove .by and
 * .lacking. If the VM does not tell an argument, the argument's text says what replaces it. Parts
 * that rows share are in parts.h. */

/* The values that an argument can have, if they are fewer than its type allows. Programs that
 * compare the argument with other values, or aggregate what is not a value, get a warning. */
enum probe_form {
    PROBE_FORM_ANY,
    PROBE_FORM_PROCESS,  /* "<0.87.0>", or a text that starts with one of < # { */
    PROBE_FORM_FUNCTION, /* "lists:map/2", or a text that starts with < */
    PROBE_FORM_TABLE,    /* the name or reference of an ETS table */
    PROBE_FORM_UNKNOWN,  /* not known here: always the number `stands` */
    PROBE_FORM_NUMBER,   /* a number; `stands` if it is not known */
    PROBE_FORM_SIZE      /* a size, maybe a lower bound; `stands` if nothing is known */
};

struct probe_arg {
    const char *type; /* as a D programmer writes it: "char *", "uint32_t" */
    const char *name;
    const char *text; /* meaning and unit, and what replaces it if it cannot be known */
    enum probe_form form;
    int64_t stands;
    const char
        *as; /* the type of args[N] by a translator; NULL: `type`; "": args[N] is not known */
};

enum probe_origin {
    PROBE_OTP,  /* a probe of OTP's own provider, in every release from 25 on */
    PROBE_OURS, /* our addition */
    PROBE_PAST  /* OTP once had it */
};

/* Who can deliver a probe. */
enum probe_by {
    PROBE_BY_VM,     /* this erltrace, inside the node */
    PROBE_BY_KERNEL, /* a kernel tier, on an OTP built with dynamic tracing */
    PROBE_BY_NONE
};
/* The releases that people are shown, for each what it and those before the next deliver. */
enum { PROBE_OTPS = 3 };
extern const int probe_otps[PROBE_OTPS];

struct probe_def {
    enum probe_kind kind;     /* 0: no existing tier has it, on any OTP */
    const char *name;         /* "process-spawn" */
    enum probe_origin origin; /* who defined it */
    uint32_t needs;           /* enum probe_need bits */
    const char *text;         /* when it fires, in one line */
    struct probe_arg arg[10]; /* ends at the first type NULL */
    unsigned untyped; /* number of arguments after those, which args[] does not have: the probes
                         that one description means must not differ in args[] */
    const char *how;  /* accuracy: what is derived, from what, and what is missed; NULL: exact */
    enum probe_by by;
    enum otp_feature otp; /* what the vm tier needs of the release to deliver it */
    const char *lacking;  /* why the vm tier lacks it where `by` or `otp` says so, for people; NULL:
                             it  lacks it nowhere */
    unsigned numbered;    /* above 0: this many probes, named `name` followed by 0, 1, ... */
    const char *mod, *func; /* if not NULL: `name` is a placeholder for any name in descriptions
                               with these parts. This function has no function probes */
};

/* A table of rows. */
struct probe_section {
    const char *title; /* "Processes" */
    const struct probe_def *def;
    size_t n;
};
/* Returns the i-th table, NULL after the last. */
const struct probe_section *probe_section(size_t i);

/* Iterates over the named probes that a node can have, in order of kind: returns the one after
 * `def` (NULL: the first), NULL after the last. */
const struct probe_def *probe_erlang_next(const struct probe_def *def);
/* Returns a probe of OTP's own provider, including those of older releases, that the pattern
 * matches and that no tier has: a program may name it, but is rejected when it is to run. NULL if
 * there is none. */
const struct probe_def *probe_erlang_lacking(const char *pattern);
/* Return the named probe of this name or kind, NULL if there is none. The search by name includes
 * probes that no tier has. */
const struct probe_def *probe_erlang_name(const char *name);
const struct probe_def *probe_erlang_kind(enum probe_kind kind);
/* Returns whether the pattern matches a name of the row; false for a row with any name. */
bool probe_matches(const struct probe_def *def, const char *pattern);
/* Returns whether the row has a probe with this name. *number receives the number of a numbered
 * one. */
bool probe_has_name(const struct probe_def *def, const char *name, unsigned *number);
/* Returns whether a description means probes with any name (def->mod): its module part says so, or
 * it means everything. */
bool probe_any_name(const struct probe_def *def, const char *mod, const char *func,
                    const char *name);
/* Returns who delivers the probe in a node of this OTP release. */
enum probe_by probe_on(const struct probe_def *def, int otp);
/* Returns one bit of needs in words: "process flag send". */
const char *probe_need_text(enum probe_need need);

/* The meaning of a probe's argument 0. */
enum probe_process {
    PROBE_PROCESS_NONE,  /* not a process, or not classified */
    PROBE_PROCESS_TEXT,  /* the text of a process's id, never NULL */
    PROBE_PROCESS_TRACED /* the same, and that process's trace flags make the VM report the event */
};
enum probe_process probe_process(enum probe_kind kind);

enum { PROBE_PIDS = 8 }; /* most processes that a predicate is restricted to */
/* The processes that a clause is restricted to: while argument 0 is the text of another one, it
 * does nothing. */
struct probe_pids {
    uint32_t n;                   /* 0: there is no such restriction */
    const char *text[PROBE_PIDS]; /* "<0.91.0>", in the image's string table, each once */
};

/* Returns whether this names a provider whose probes are in the kernel or in arbitrary processes
 * ("syscall", "fbt", "pid1234"): they need a kernel tier. */
bool probe_kernel_provider(const char *prov);

/* Function probes (function.c). A function's class determines its kinds of probes. */
enum {
    PROBE_FN_KINDS = PROBE_FN_END - PROBE_FN_ENTRY,
    PROBE_FN_OWN = 2,  /* kinds that depend on the class */
    PROBE_FN_EACH = 5, /* most kinds of one function: entry, return, exception, and those */
};
/* Returns the k-th kind of a function of that class, k < PROBE_FN_EACH; 0: it has fewer. */
enum probe_kind probe_fn_kind(enum probe_fn_class c, unsigned k);
/* Returns the kinds whose name or other name (function-entry, function-return) the pattern matches,
 * as bits 1 << (kind - PROBE_FN_ENTRY); function.c says which ones a wildcard leaves out. */
unsigned probe_fn_match(const char *name_pattern);
const char *probe_fn_name(enum probe_kind kind);            /* "entry", "return", "exception" */
const struct probe_def *probe_fn_def(enum probe_kind kind); /* arguments, needs */
/* Returns the type that args[n] has in scripts, as text: the argument's type, but "string" for
 * "char *". NULL: there is no such argument, or def is NULL. */
const char *probe_args_type(const struct probe_def *def, size_t n);
/* The rows of function probes, in order of kind. */
extern const struct probe_def probe_fn_rows[];
/* Returns the i-th name by which a function probe can be called, and its kind; NULL after the
 * last. */
const char *probe_fn_alias(size_t i, enum probe_kind *kind);
/* All of those names, for "did you mean"; ends with NULL. */
extern const char *const probe_fn_names[];

/* Parses dtrace's interval names, "tick-100ms" or "profile-97", and our own, "wall-97", into the
 * period in ns and the kind, PROBE_TICK, PROBE_PROFILE or PROBE_WALL. Returns false if it is not
 * such a name, or out of range (under 200 us, 0, unknown unit). Units as in language.md 10.2; no
 * unit means hz. */
bool probe_interval(const char *name, uint64_t *ns, enum probe_kind *kind);
/* Return whether a name begins as one of an interval, or of wall-N, which only nodes have. */
bool probe_is_interval(const char *name);
bool probe_is_wall(const char *name);
/* Returns a row with the arguments of wall-N. */
const struct probe_def *probe_wall_def(void);
/* Returns the intervals that are always listed, *n of them; node: in a node. Others are created
 * when their exact name is requested. */
struct probe_interval_def {
    enum probe_kind kind;
    const char *name;
    uint64_t period; /* ns */
};
const struct probe_interval_def *probe_intervals(bool node, size_t *n);

#endif
