/* compile.h - D text to a program image: the only entry to the compiler.
 *
 * All programs of one session share globals, aggregations and options, so they are given to one
 * `struct compile` in command-line order and become one image. */
#ifndef ET_LANG_COMPILE_H
#define ET_LANG_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "dif/dif.h"
#include "probe/probe.h"

/* The kind of a program text; it decides what a bare word in a probe description means. All but the
 * last are enum erltrace_spec. */
enum compile_kind {
    COMPILE_SCRIPT,   /* -s file */
    COMPILE_NAME,     /* -n: the rightmost part of a description is the name */
    COMPILE_FUNCTION, /* -f */
    COMPILE_MODULE,   /* -m */
    COMPILE_PROVIDER, /* -P */
    COMPILE_ID,       /* -i: the description is a probe id */
    COMPILE_LIBRARY   /* a D library: declarations only */
};

struct compile_source {
    enum compile_kind kind;
    const char *
        name; /* shown in diagnostics: the file's name, or "-n" and the like; unique in a session */
    const char *text; /* borrowed until compile_free */
    size_t len;
    int argc; /* program arguments: argv[0] is $0, argv[1] is $1 ... */
    char *const *argv;
    const char *shown; /* text whose lines diagnostics show; NULL: `text` */
    size_t shown_len;
};

struct foreign; /* probe/foreign.h */

struct compile_options {
    uint32_t strsize;     /* bytes of a string value, excluding the NUL */
    uint32_t scratchsize; /* bytes that a clause can get from alloca() and copyin() */
    uint32_t iregs;       /* registers that code may use, at most DIF_NREGS */
    uint32_t tregs;       /* the most keys of an associative array or aggregation, minus one */
    bool argref;          /* do not report an unused last argument */
    bool defaultargs;     /* a missing $N is 0, a missing $$N is "" */
    bool pspec;           /* ambiguous words are probe descriptions */
    bool empty;           /* allow empty programs */
    int64_t amin;         /* minimum stability, from compile_amin; negative: no minimum */
    int64_t target;       /* $target */
    uint32_t version;     /* from compile_version: newer names are hidden; 0: hide nothing */
    /* default depths of stack(), ustack() and jstack(), and the maximum for all of them; 0: 20,
     * 100, 50, 127 */
    uint32_t stackframes, ustackframes, jstackframes, maxframes;
    /* Called for each "#pragma D option name[=value]" during parsing; value is NULL if there is
     * none. Returns 0, or -1 with *why set to the reason ("Invalid option name"). It may change
     * this structure (strsize and the like). */
    int (*setopt)(void *arg, const char *name, const char *value, const char **why);
    const char *(*opthint)(void *arg,
                           const char *name); /* returns a hint for that error; may be NULL */
    bool kernel; /* the programs are for the kernel, whatever their probes are */
    bool nodes;  /* they are for nodes, unless a probe of the kernel is named */
    /* Returns what the kernel says of itself, which must outlive the compile; NULL: nothing, for
     * the reason *why. Called once, when a program for the kernel names what it does not know. May
     * be NULL. */
    const struct foreign *(*foreign)(void *arg, const char **why);
    void *setopt_arg;
};

/* The default sizes, for an initializer. */
#define COMPILE_SIZES .strsize = 256, .scratchsize = 256, .iregs = DIF_NREGS, .tregs = 8

struct compile;

/* Returns a new compile; NULL: out of memory. Neither options nor diags are copied; both must
 * outlive the compile. */
struct compile *compile_new(struct compile_options *opt, struct diags *d);
/* Parses and checks one program and adds its clauses. Reports up to DIAG_MAX_ERRORS errors. Returns
 * 0, ET_ECOMPILE or ET_ENOMEM. */
int compile_add(struct compile *c, const struct compile_source *src);
/* Adds the library's named constants (errors, signals, states ...). Returns 0 or ET_ENOMEM. */
int compile_constants(struct compile *c);
/* Reads a version of the language, "1.6" or "1.6.1". Returns NULL, or the reason for failure in
 * dtrace's words. */
const char *compile_version(const char *text, uint32_t *version);
/* Finds what a text depends on without compiling it: the next "#pragma D depends_on KIND NAME"
 * after
 * *at, which starts at 0, and line *line, which starts at 1. Words are not NUL-terminated. Returns
 * false when there are no more. */
struct compile_depend {
    enum compile_needs { COMPILE_NEEDS_LIBRARY, COMPILE_NEEDS_MET, COMPILE_NEEDS_UNMET } needs;
    const char *name;
    size_t name_len;
    int line;
};
bool compile_depends(const char *text, size_t len, size_t *at, int *line,
                     struct compile_depend *out);
/* The stability of the last program added, in words: "Stable", "Stable", "Common". */
struct compile_attr {
    const char *name, *data, *class;
};
void compile_stability(const struct compile *c, struct compile_attr *probes,
                       struct compile_attr *statements);
/* Reads attributes, "Evolving/Evolving/Common"; returns a negative number if they are invalid. */
int64_t compile_amin(const char *text);
/* Returns the stability of a provider's probes. */
struct compile_attr compile_provider(const char *name);

/* A probe of a provider that the programs define (provider NAME { probe NAME(TYPE, ...); };), for
 * header generation. All pointers are borrowed; the strings live as long as the compile. */
struct compile_probe {
    const char *provider; /* "shop" */
    const char *name;     /* as scripts write it: "order-start" */
    const char *ident;    /* as the definition writes it: "order__start" */
    size_t nargs;
    const char *const *arg; /* types that the traced program passes, as C writes them: "char *" */
    const signed char
        *width; /* bytes of each, negative for signed ones; 0: neither an integer nor a pointer */
    struct compile_attr provider_attr, module_attr, function_attr, name_attr, args_attr;
};
/* Calls fn for each such probe, by provider in order of definition. A nonzero value from fn ends
 * the walk and is returned. A provider without probes is passed once, with name and ident NULL. */
int compile_probes(const struct compile *c, int (*fn)(void *arg, const struct compile_probe *p),
                   void *arg);

/* A record whose definition a node is asked for. */
struct compile_field {
    struct diag_pos pos; /* in the program: ".#record.field" */
    const char *record, *field;
    const char *const *module; /* globs, of the clause's descriptions; "": any */
    size_t nmodules;
};
/* The fields of a record, after its name, in UTF-8. */
struct compile_record {
    const char *name;
    const char *const *field;
    size_t nfields;
    bool in_d; /* a program defines it */
};
/* Returns whether a clause reads a field of a record that no program defines, and names
 * a module in its descriptions. */
bool compile_asks(const struct compile *c);
/* Asks for each of these records: fn sets the fields, which it keeps until its next call, or
 * reports an error and returns false. Returns 0 or an error with diagnostics. Without this call,
 * compile_image reports such records as undefined. */
typedef bool compile_ask_fn(void *arg, const struct compile_field *f, struct compile_record *told);
int compile_fields(struct compile *c, compile_ask_fn *fn, void *arg);
/* Returns the i-th record, from 0 on, that the programs define or read, in the order of the image's
 * numbers. Returns false when there are no more. */
bool compile_record(const struct compile *c, uint32_t i, struct compile_record *out);

/* Returns what a key of an aggregation names, both counted from 0 as in the image: "process" (its
 * name, or its pid), "pid", "mfa", "function" (f/a), "module", "table"; NULL: the programs do not
 * tell. */
const char *compile_key_means(const struct compile *c, uint32_t agg, unsigned key);

/* Generates the image of everything added so far. img must be initialised; it owns its contents. */
int compile_image(struct compile *c, struct dif_image *img);
/* Calls fn for each probe description, in the order of the image's clauses. */
void compile_descriptions(const struct compile *c,
                          void (*fn)(void *arg, const struct probe_spec *spec), void *arg);
/* The same as compile_image for the kernel tier, when nodes pass it the events of their probes,
 * which of_node tells from others: what only a node has is left to it, as far as it can evaluate
 * the expression without the kernel, and without a fault. */
int compile_image_mixed(struct compile *c,
                        bool (*of_node)(void *arg, const struct probe_spec *spec), void *arg,
                        struct dif_image *img);
/* What clauses read of an event besides, as a set: 1 << N each of the arguments, and of others. */
enum {
    PASSING_ARGUMENTS = 10,
    PASSING_ERLPID = 1 << PASSING_ARGUMENTS,
    PASSING_ERLNAME = PASSING_ERLPID << 1,
    PASSING_ERLFUNC = PASSING_ERLPID << 2,
    PASSING_STACK = PASSING_ERLPID << 3 /* ustack() */
};
uint32_t compile_reads(const struct dif_image *img, uint32_t clause);
/* Generates the image for nodes, after compile_image_mixed: clause i computes for a set of that
 * image's clauses what they read, and passes the event with the EPID as its number
 * (beam/passing.c), unless none of their predicates can be true. Returns 0 or an error
 * with a diagnostic. */
struct compile_set {
    const uint32_t *clause; /* n of them, ascending */
    uint32_t n, reads;      /* reads: compile_reads of all of them */
};
int compile_passing(struct compile *c, const struct compile_set *set, uint32_t n,
                    struct dif_image *img);
/* Writes the programs as a tree, in lines for people to read. Writes nothing after an error. */
void compile_tree(const struct compile *c, struct buf *out);
void compile_free(struct compile *c);

#endif
