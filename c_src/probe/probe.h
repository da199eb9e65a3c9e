/* probe.h - what a probe is called: descriptions, globs, and the provider tables.
 *
 * A description has four parts, provider:module:function:name; an empty part matches anything;
 * otherwise the part is a shell glob (* ? [set] [!set] \).
 *
 * The provider's tables say which probes exist, what their arguments are and what the VM must
 * deliver for them. Adding a probe touches one table. Function probes exist for each function of
 * the target, with the names of `probe_fn_names`.
 */
#ifndef ET_PROBE_PROBE_H
#define ET_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROBE_NAME_MAX = 63 }; /* characters of a provider's and of a probe's name */

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
#define WORD_NEED(bit, name, of, flags, text) PROBE_NEED_##name = 1 << bit,
#include "words/needs.list"
#undef WORD_NEED
};

/* Every probe kind that a tier can be asked for: words/probes.list. Named probes are below
 * PROBE_FN_ENTRY. */
enum probe_kind {
#define WORD_PROBE(num, name, by) PROBE_##name = num,
#include "words/probes.list"
#undef WORD_PROBE
    PROBE_FN_END, /* the first that is no function's */
    PROBE_NKINDS = 224
};

/* -- the provider's tables --
 *
 * One table a subject, process.list, port.list and so on (erlang.c names them all), one row a
 * probe, with fields by name. A row says all that people and programs are told of the probe: from
 * it come the types of args[], what -l -v shows, why a probe cannot be enabled, and doc/probes.md
 * (`make doc`; a unit test fails when that is old). So a probe that no tier has yet, or that OTP
 * had once, is a row as well: one without a kind. Fields whose zero is right are left out:
 *
 *   {.kind = PROBE_PROCESS_SPAWN, .name = "process-spawn", .needs = PROBE_NEED_PROCS,
 *    .text = "a process is spawned, in the spawner",
 *    .arg = {PID_TEXT("p", "the new process"), {"char *", "mfa", "its start function, m:f/a"}}},
 *
 * To deliver a probe give its row a kind and its needs, and take .on and .lacking away. What stands
 * in an argument that the VM does not tell is part of the argument's text. Parts that rows share
 * are in parts.h.
 */
enum { PROBE_LABELS = 951 }; /* user_trace-n0 to user_trace-n950 */

/* What values an argument can have, where that is less than its type says: programs that compare it
 * with others, or aggregate what is no value, are warned. */
enum probe_form {
    PROBE_FORM_ANY,
    PROBE_FORM_PROCESS,  /* "<0.87.0>", or a text that begins with one of < # { */
    PROBE_FORM_FUNCTION, /* "lists:map/2", or a text that begins with < */
    PROBE_FORM_UNKNOWN,  /* not known here: always the number `stands` */
    PROBE_FORM_NUMBER    /* a number; `stands` where it is not known */
};

struct probe_arg {
    const char *type; /* as a D programmer writes it: "char *", "uint32_t" */
    const char *name;
    const char *text; /* meaning and unit, and what stands there when it cannot be known */
    enum probe_form form;
    int64_t stands;
};

enum probe_origin {
    PROBE_OTP,  /* a probe of OTP's own provider, in every release from 25 on */
    PROBE_OURS, /* our addition */
    PROBE_PAST  /* OTP had it once */
};

/* Who can deliver a probe. */
enum probe_by {
    PROBE_BY_VM,     /* this erltrace, inside the node */
    PROBE_BY_KERNEL, /* a kernel tier, on an OTP built with dynamic tracing */
    PROBE_BY_NONE
};
/* The releases that rows speak of: 25 stands for 26, too, 27 for 28, 29 for what is later. */
enum { PROBE_OTP_25, PROBE_OTP_27, PROBE_OTP_29, PROBE_OTPS };

struct probe_def {
    enum probe_kind kind;     /* 0: none of the tiers that there are has it, on any OTP */
    const char *name;         /* "process-spawn" */
    enum probe_origin origin; /* whose it is */
    uint32_t needs;           /* enum probe_need bits */
    const char *text;         /* when it fires, one line */
    struct probe_arg arg[10]; /* ends at the first type NULL */
    unsigned untyped;         /* arguments behind those, which args[] does not have: probes that one
                                 description means must not differ in args[] */
    const char *how; /* how good it is: what is derived, from what, what is missed; NULL: exact */
    enum probe_by on[PROBE_OTPS];
    const char
        *lacking;      /* why the vm tier lacks it where `on` says so, for people; NULL: nowhere */
    unsigned numbered; /* not 0: so many probes, this name with 0, 1, ... after it */
    const char *mod, *func; /* not NULL: these parts of a description, with any name, for which
                               `name` stands. This function has no function probes */
};

/* A table of rows. */
struct probe_section {
    const char *title; /* "Processes" */
    const struct probe_def *def;
    size_t n;
};
/* The i-th table, NULL behind the last. */
const struct probe_section *probe_section(size_t i);

/* The named probes that a node can have, in order of kind: the one after `def` (NULL: the first),
 * NULL behind the last. */
const struct probe_def *probe_erlang_next(const struct probe_def *def);
/* A probe of OTP's own provider, also of older releases, that the pattern matches and that no tier
 * has: a program may name it, and is refused when it is to run. NULL if there is none. */
const struct probe_def *probe_erlang_lacking(const char *pattern);
/* The named probe of this name or of this kind, NULL if there is none. By name also those that no
 * tier has. */
const struct probe_def *probe_erlang_name(const char *name);
const struct probe_def *probe_erlang_kind(enum probe_kind kind);
/* Whether a row has a name that the pattern matches; false for one with any name. */
bool probe_matches(const struct probe_def *def, const char *pattern);
/* The probe of a row's with this name: false if it has none. *number: which of a numbered one. */
bool probe_has_name(const struct probe_def *def, const char *name, unsigned *number);
/* Whether a description means probes with any name (def->mod): it says so by its module part, or it
 * means everything. */
bool probe_any_name(const struct probe_def *def, const char *mod, const char *func,
                    const char *name);
/* Who delivers the probe in a node of this OTP release. */
enum probe_by probe_on(const struct probe_def *def, int otp);
/* One bit of needs in words: "process flag send". */
const char *probe_need_text(enum probe_need need);

/* What argument 0 of a probe is. */
enum probe_process {
    PROBE_PROCESS_NONE,  /* no process, or nobody has looked */
    PROBE_PROCESS_TEXT,  /* the text of a process's id, never NULL */
    PROBE_PROCESS_TRACED /* ... and it is that process whose trace flags make the VM tell of it */
};
enum probe_process probe_process(enum probe_kind kind);

/* Whether this is the name of a provider whose probes lie in the kernel, or in processes at large
 * ("syscall", "fbt", "pid1234"): they need a kernel tier. */
bool probe_kernel_provider(const char *prov);

/* Function probes (function.c). The kinds that a function has follow from its class. */
enum probe_fn_class {
    PROBE_FN_ERLANG,
    PROBE_FN_BIF,
    PROBE_FN_NIF,
    PROBE_FN_INLINED, /* a BIF whose calls the compiler replaces by an instruction: no bif-* */
    PROBE_FN_PRIVATE, /* one written in Erlang that is not exported: no call of it is global */
    PROBE_FN_CLASSES
};
enum {
    PROBE_FN_KINDS = PROBE_FN_END - PROBE_FN_ENTRY,
    PROBE_FN_OWN = 2,  /* kinds that depend on the class */
    PROBE_FN_EACH = 5, /* kinds of one function at most: entry, return, exception, and those */
};
/* The k-th kind of a function of that class, k < PROBE_FN_EACH; 0: it has fewer. */
enum probe_kind probe_fn_kind(enum probe_fn_class c, unsigned k);
/* The kind whose events a kind consists of: PROBE_FN_ENTRY of bif-entry; itself of entry, and of
 * local- and global-function-entry, which only some of the entries are. */
enum probe_kind probe_fn_event(enum probe_kind kind);
/* The kinds whose name or other name (function-entry, function-return) the pattern matches, as bits
 * 1 << (kind - PROBE_FN_ENTRY); see function.c for those that a wildcard leaves out. */
unsigned probe_fn_match(const char *name_pattern);
const char *probe_fn_name(enum probe_kind kind);            /* "entry", "return", "exception" */
const struct probe_def *probe_fn_def(enum probe_kind kind); /* arguments, needs */
/* The type that args[n] has in scripts, as text: that of the argument, but "string" for "char *".
 * NULL: there is no such argument, or no def. */
const char *probe_args_type(const struct probe_def *def, size_t n);
/* Their rows, in order of kind. */
extern const struct probe_def probe_fn_rows[];
/* The i-th name that a function probe can be called by, and what it means; NULL behind the last. */
const char *probe_fn_alias(size_t i, enum probe_kind *kind);
/* All of those names, for "did you mean". Ends with NULL. */
extern const char *const probe_fn_names[];

/* dtrace's interval names: "tick-100ms", "profile-97": period in ns and kind, PROBE_TICK or
 * PROBE_PROFILE. False: not such a name, or out of range (under 200 us, 0, unknown unit). Units as
 * in language.md 10.2; no unit means hz. */
bool probe_interval(const char *name, uint64_t *ns, enum probe_kind *kind);
/* The intervals that are listed without being asked for, *n of them. Others come into being when
 * their exact name is asked for. */
struct probe_interval_def {
    enum probe_kind kind;
    const char *name;
    uint64_t period; /* ns */
};
const struct probe_interval_def *probe_intervals(size_t *n);

#endif
