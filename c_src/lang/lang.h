/* lang.h - D text to a typed program.
 *
 * One `struct lang` holds all programs of a session: they share variables, aggregations and
 * inlines, and are added in command-line order. lang_add lexes, parses and checks one text clause
 * by clause, and reports every error with its place; after an error it goes on with the next
 * clause. The result is the list of clauses of ast.h, meaningful only if no lang_add failed.
 *
 * Memory: one arena, freed by lang_free. Source texts and options are borrowed and must live as
 * long. */
#ifndef ET_LANG_LANG_H
#define ET_LANG_LANG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "lang/ast.h"
#include "lang/stability.h"

/* Where a program text comes from: what the rightmost part of its probe descriptions means. */
enum lang_kind {
    LANG_SCRIPT,
    LANG_NAME,
    LANG_FUNCTION,
    LANG_MODULE,
    LANG_PROVIDER,
    LANG_ID,
    LANG_LIBRARY /* a D library: declarations only */
};

struct lang_source {
    enum lang_kind kind;
    const char *name; /* shown in diagnostics */
    const char *text;
    size_t len;
    int argc; /* argv[0] is $0 */
    char *const *argv;
    const char *shown; /* the text whose lines diagnostics show */
    size_t shown_len;
};

struct lang_options {
    uint32_t strsize;     /* what sizeof (string) gives */
    uint32_t scratchsize; /* bytes that alloca() can give */
    uint32_t keys;        /* most keys of an associative array or aggregation */
    bool argref, defaultargs, pspec, empty;
    int64_t amin;     /* attr_pack of the least attributes; negative: none */
    int64_t target;   /* $target */
    uint32_t version; /* of the language: what is newer is hidden; 0: nothing is */
    /* default depths of stacks, and the most that they may have */
    uint32_t stackframes, ustackframes, jstackframes, maxframes;
    /* "#pragma D option name[=value]", value NULL when there is none. 0, or -1 and *why. It may
     * change this structure. */
    int (*setopt)(void *arg, const char *name, const char *value, const char **why);
    const char *(*opthint)(void *arg, const char *name); /* what may help then; may be NULL */
    void *setopt_arg;
};

struct lang;

/* NULL: out of memory. */
struct lang *lang_new(const struct lang_options *opt, struct diags *d);
void lang_free(struct lang *l);
/* 0, ET_ECOMPILE with diagnostics, ET_ENOMEM. */
int lang_add(struct lang *l, const struct lang_source *src);

/* Adds the constants that are a library of their own: errors, signals, states. 0, ET_ENOMEM. */
int lang_constants(struct lang *l);

/* "1.6.1" as 8 bits major, 12 bits minor, 12 bits micro; false when it is none or too large.
 * Whether there is that version of the language. */
bool lang_version_parse(const char *text, uint32_t *out);
bool lang_version_exists(uint32_t version);

/* What a text depends on, read without compiling it: each "#pragma D depends_on KIND NAME", the
 * words not NUL-terminated. */
struct lang_depend {
    const char *kind, *name;
    size_t kind_len, name_len;
    int line;
};
/* The first one behind *at, which starts at 0, at line *line, which starts at 1; false: no more. */
bool lang_depends(const char *text, size_t len, size_t *at, int *line, struct lang_depend *out);
/* Whether there is such a provider or module (KIND "provider", "module") to depend on. */
bool lang_has(const char *kind, size_t kind_len, const char *name, size_t name_len);

/* The program so far. */
const struct lang_clause *lang_clauses(const struct lang *l);
const struct lang_var *lang_vars(const struct lang *l, uint32_t *n);
const struct lang_agg *lang_aggs(const struct lang *l, uint32_t *n);

/* The clauses as a tree, a line for each node: for people. Only if no lang_add failed. */
void lang_tree(const struct lang *l, struct buf *out);

/* What lang_add's last program rests on: the least attributes of its probe descriptions and of its
 * statements. */
void lang_stability(const struct lang *l, struct attr *probes, struct attr *statements);

#endif
