/* compile.h - D text to a program image: the one door into lang/ and compile/.
 *
 * All programs of one session share globals, aggregations and options, so they are given to one
 * `struct compile` in command-line order and become one image. */
#ifndef ET_COMPILE_COMPILE_H
#define ET_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "dif/dif.h"

/* Where a program text comes from; it decides what a bare word in a probe description means. */
enum compile_kind {
    COMPILE_SCRIPT,   /* -s file */
    COMPILE_NAME,     /* -n: rightmost part of a description is the name */
    COMPILE_FUNCTION, /* -f */
    COMPILE_MODULE,   /* -m */
    COMPILE_PROVIDER, /* -P */
    COMPILE_ID        /* -i: the description is a probe id */
};

struct compile_source {
    enum compile_kind kind;
    const char *
        name; /* shown in diagnostics: the file's name, or "-n" and the like; unique in a session */
    const char *text; /* borrowed until compile_free */
    size_t len;
    int argc; /* program arguments: argv[0] is $0, argv[1] is $1 ... */
    char *const *argv;
    const char *shown; /* what diagnostics show lines of, if it is not the text; NULL: the text */
    size_t shown_len;
};

struct compile_options {
    uint32_t strsize; /* bytes of a string value, NUL not counted */
    bool argref;      /* do not complain about an unused last argument */
    bool defaultargs; /* a missing $N is 0, a missing $$N is "" */
    bool pspec;       /* ambiguous words are probe descriptions */
    bool empty;       /* allow empty programs */
    int64_t amin;     /* from compile_amin, the least stability; negative: none is asked for */
    int64_t target;   /* $target */
    /* Called for each "#pragma D option name[=value]", while parsing; value is NULL when there is
     * none. Returns 0, or -1 with *why set to the reason ("Invalid option name"). It may change
     * this structure (strsize and the like). */
    int (*setopt)(void *arg, const char *name, const char *value, const char **why);
    void *setopt_arg;
};

struct compile;

/* Neither options nor diags are copied; both must outlive the compile. NULL: out of memory. */
struct compile *compile_new(struct compile_options *opt, struct diags *d);
/* Parses and checks one program and adds its clauses. Reports up to DIAG_MAX_ERRORS errors. 0,
 * ET_ECOMPILE, ET_ENOMEM. */
int compile_add(struct compile *c, const struct compile_source *src);
/* How stable the last program added is, in words: "Stable", "Stable", "Common". */
struct compile_attr {
    const char *name, *data, *class;
};
void compile_stability(const struct compile *c, struct compile_attr *probes,
                       struct compile_attr *statements);
/* Reads attributes, "Evolving/Evolving/Common"; negative when they are none. */
int64_t compile_amin(const char *text);
/* How stable the probes of a provider are. */
struct compile_attr compile_provider(const char *name);

/* Generates the image of everything added so far. img must be initialised; it owns what it holds.
 */
int compile_image(struct compile *c, struct dif_image *img);
void compile_free(struct compile *c);

#endif
