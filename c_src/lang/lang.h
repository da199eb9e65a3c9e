/* lang.h - D text to a typed program.
 *
 * One `struct lang` holds all programs of a session: they share variables, aggregations and
 * inlines, and are added in command-line order. lang_add lexes, parses and checks one text clause
 * by clause and reports every error with its position; after an error it continues with the next
 * statement or, if there is none, the next clause. The result is the list of clauses of ast.h,
 * meaningful only if no lang_add failed.
 *
 * Memory: one arena, freed by lang_free. Source texts and options are borrowed and must outlive
 * it. */
#ifndef ET_LANG_LANG_H
#define ET_LANG_LANG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "lang/ast.h"
#include "lang/compile.h"
#include "lang/stability.h"
#include "probe/foreign.h"

struct lang_options {
    uint32_t strsize;     /* result of sizeof (string) */
    uint32_t scratchsize; /* bytes that alloca() can provide */
    uint32_t keys;        /* maximum keys of an associative array or aggregation */
    bool argref, defaultargs, pspec, empty;
    int64_t amin;     /* attr_pack of the minimum attributes; negative: none */
    int64_t target;   /* $target */
    uint32_t version; /* of the language: newer names are hidden; 0: hide nothing */
    /* default depths of stacks, and their maximum */
    uint32_t stackframes, ustackframes, jstackframes, maxframes;
    /* Handles "#pragma D option name[=value]"; value is NULL if there is none. Returns 0, or -1 and
     * sets
     * *why. It may change this structure. */
    int (*setopt)(void *arg, const char *name, const char *value, const char **why);
    const char *(*opthint)(void *arg,
                           const char *name); /* returns a hint for that error; may be NULL */
    bool kernel; /* the program is for the kernel, whatever its probes are */
    bool nodes;  /* it is for nodes, unless a probe of the kernel is named */
    /* Returns what the kernel says of itself, which lives as long as the programs; NULL: nothing,
     * for the reason *why. Asked once, when a program for the kernel names what it does not know.
     * May be NULL. */
    const struct foreign *(*foreign)(void *arg, const char **why);
    void *setopt_arg;
};

struct lang;

/* Returns NULL if out of memory. */
struct lang *lang_new(const struct lang_options *opt, struct diags *d);
void lang_free(struct lang *l);
/* Adds a program, of which `shown` is set. Returns 0, ET_ECOMPILE with diagnostics, or ET_ENOMEM.
 */
int lang_add(struct lang *l, const struct compile_source *src);

/* Adds the library's constants: errors, signals, states. Returns 0 or ET_ENOMEM. */
int lang_constants(struct lang *l);

/* lang_version_parse reads "1.6.1" as 8 bits major, 12 bits minor, 12 bits micro; it returns false
 * if the text is not a version or a number is too large. lang_version_exists returns whether the
 * language has that version. */
bool lang_version_parse(const char *text, uint32_t *out);
bool lang_version_exists(uint32_t version);

/* One dependency of a text, found without compiling it: a "#pragma D depends_on KIND NAME". The
 * words are not NUL-terminated. */
struct lang_depend {
    const char *kind, *name;
    size_t kind_len, name_len;
    int line;
};
/* Finds the first one after *at, which starts at 0, and line *line, which starts at 1. Returns
 * false when there are no more. */
bool lang_depends(const char *text, size_t len, size_t *at, int *line, struct lang_depend *out);
/* Returns whether a provider or module of that name exists; kind is "provider" or "module". */
bool lang_has(const char *kind, size_t kind_len, const char *name, size_t name_len);

/* The program so far. */
const struct lang_clause *lang_clauses(const struct lang *l);
const struct lang_var *lang_vars(const struct lang *l, uint32_t *n);
const struct lang_agg *lang_aggs(const struct lang *l, uint32_t *n);

/* Finds the fields that clauses read of records. lang_asks returns whether some record is not
 * defined in D, and its clause names a module. lang_settle asks for each of these: `ask` fills in
 * *told, whose texts it keeps until it is called again, or reports an error and returns false;
 * NULL: there is no node to ask. Returns 0, ET_ECOMPILE with diagnostics, or ET_ENOMEM. */
struct lang_field;
struct lang_told {
    const char *const *field;
    uint32_t nfields;
};
typedef bool lang_ask_fn(void *arg, const struct lang_field *f, struct lang_told *told);
bool lang_asks(const struct lang *l);
int lang_settle(struct lang *l, lang_ask_fn *ask, void *arg);
/* Returns one of the program's records, from 1 on; NULL: there are no more. */
struct lang_record;
const struct lang_record *lang_record(const struct lang *l, uint32_t number);

/* Writes the clauses as a tree, one line for each node, for people to read. Call only if no
 * lang_add failed. */
void lang_tree(const struct lang *l, struct buf *out);

/* Returns the stability of lang_add's last program: the minimum attributes of its probe
 * descriptions and of its statements. */
void lang_stability(const struct lang *l, struct attr *probes, struct attr *statements);

#endif
