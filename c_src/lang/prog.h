/* prog.h - what the files of this room share: the program being built, its names, and error
 * handling.
 *
 * Errors. Parsing stops at the first error of a statement, predicate or declaration: lang_fail
 * reports it and jumps to the trap that its parser, or lang_add, has set. The checker reports with
 * lang_err, gives the expression TYPE_ERROR and continues, so that it reports every error of a
 * clause, each once. Running out of memory jumps as well: nothing in this room returns NULL for
 * lack of memory, and all memory belongs to the arena, the hash tables and one buffer, so a jump
 * leaks nothing. */
#ifndef ET_LANG_PROG_H
#define ET_LANG_PROG_H

#include <setjmp.h>

#include "base/err.h"
#include "lang/lang.h"
#include "lang/provider.h"
#include "lang/stability.h"
#include "probe/foreign.h"
#include "util/table.h"

/* What a global name means. Functions, variables, built-ins and inlines share one namespace. */
enum ident_kind {
    ID_VAR,
    ID_BUILTIN, /* value read with LDB */
    ID_ARRAY,   /* a built-in array: value read with LDBA */
    ID_ARG,     /* arg0 .. arg9 */
    ID_ARGS,    /* args */
    ID_INT,     /* a named constant: NULL */
    ID_FN,      /* subroutine, action or aggregating function */
    ID_INLINE,
    ID_EXTERN /* declared, but outside the program: there is nothing to bind it to */
};

struct lang_param {
    const char *name;
    const struct type *type;
};

/* An inline. One with parameters is used as NAME[a, b]: each use clones the expression with the
 * arguments in place of the parameters. */
struct lang_inline {
    const struct type *type;
    struct node *expr; /* unchecked: each use clones it */
    bool library;      /* from a D library: errors are reported at the place of use */
    unsigned nparams;
    struct lang_param param[WORD_KEYS_MAX];
};

/* The value that a translator gives a member of its output. */
struct lang_xmember {
    const struct type_member *member;
    struct diag_pos pos;
    struct node *expr; /* unchecked: each use clones it */
    struct lang_xmember *next;
};

/* A translator: it turns values of type in.type, named in.name, into structs of type out. */
struct lang_xlator {
    const struct type *out;
    struct lang_param in;
    struct lang_xmember *members;
    bool library;             /* as in lang_inline */
    uint32_t version;         /* as in ident */
    struct lang_xlator *next; /* in order of declaration */
};

/* A record of Erlang: a tuple that begins with its name. */
struct lang_record {
    const char *name;
    struct diag_pos pos; /* of its definition in D */
    bool in_d;       /* defined in D, for the whole program; else what a node says, for a clause */
    bool library;    /* as in lang_inline */
    uint32_t number; /* of the program's records, from 1 on; 0: it is none of them */
    const char *const *field; /* the element after the name is the first */
    uint32_t nfields;
    struct lang_record *next; /* in order of declaration */
};

/* A field that a clause reads: `of` is NULL until the record is known. */
struct lang_field {
    const char *record, *name;
    struct diag_pos pos;
    const struct lang_desc *descs; /* of the clause */
    const struct lang_record *of;
    uint32_t at;             /* its place in the tuple, from 1 on */
    struct lang_field *next; /* in order of use */
};

struct ident {
    enum ident_kind kind;
    const char *name;
    const struct type *type; /* ID_BUILTIN, ID_ARG, ID_INT, ID_EXTERN */
    uint64_t num;         /* ID_ARG: which; ID_INT: value; ID_BUILTIN, ID_ARRAY: of builtins.list */
    struct lang_var *var; /* ID_VAR */
    const struct lang_fn *fn;    /* ID_FN; ID_BUILTIN that is also a function: erlname */
    struct lang_inline *inlined; /* ID_INLINE */
    struct attr attr;            /* from #pragma D attributes */
    bool attr_given;             /* such a pragma exists: the parts of an inline do not count */
    bool library;                /* from a D library, or built in */
    uint32_t version;   /* first version of the language that has it; hidden from older ones */
    struct ident *next; /* all identifiers of one table, newest first */
};

/* A pragma for a name that does not exist yet, or for a provider. */
struct lang_pragma {
    struct diag_pos pos;
    const char *name;
    const char *what; /* "attributes" or "binding" */
    struct attr attr; /* of attributes */
    uint32_t version; /* of binding */
    bool used;
    struct lang_pragma *next;
    struct lang_pragma *same; /* an older one for the same name */
};

/* The tables of names. */
struct names {
    struct hash table; /* name -> struct ident */
    struct ident *list;
    const struct lang_options *opt; /* its version hides newer names */
};

enum fn_kind { FN_SUBR, FN_ACTION, FN_AGG, FN_UNDEFINED /* known by name only */ };

/* A function-like name. Letters of `args`: s string, n string, term (passed as its text) or argN, i
 * integer, p address, q pointer or string, r pointer, 4 and 6 pointer to an IPv4 or IPv6 address, a
 * pointer from alloca(), t term, k term, string or integer, u the same (a term passed as its text),
 * @ aggregation, v any value; the last letter applies to all further arguments. */
struct lang_fn {
    const char *name;
    enum fn_kind kind;
    const char *args;
    uint8_t min, max; /* 255: no limit */
    uint8_t number; /* FN_ACTION: enum word_action; FN_AGG: enum word_agg; FN_SUBR: of subrs.list */
    bool afresh;    /* each call has its own effect or value */
    enum type_id result; /* FN_SUBR; T_COUNT: memory of this clause, void *; T_DYN: a kernel thread,
                            as curthread. ACT_STACK: T_STACK and above */
    uint32_t since;      /* first version of the language that has it */
};

struct lang {
    struct arena arena;
    const struct lang_options *opt; /* the program's; setopt may change it */
    struct diags *diags;
    struct names globals, threads, locals;
    struct hash agg_table; /* name -> struct lang_agg */
    struct hash members;   /* struct or union, and name: the existing members */
    struct hash types;     /* "struct tag", "union tag", "enum tag", typedef name -> struct type */
    struct hash ctypes;    /* the same for included headers, where the program's own come first */
    int include;           /* depth of file inclusion, from cpp's control lines */
    struct lang_clause *clauses, **clause_tail;
    struct lang_var *vars, **var_tail;
    uint32_t nvars;
    struct lang_agg *agglist, **agg_tail;
    uint32_t naggs;
    struct lang_pragma *pragmas;        /* for names not yet created, newest first */
    struct hash pragma_table;           /* name -> its newest struct lang_pragma */
    struct lang_pragma *provider_attrs; /* attributes of providers, newest first */
    struct lang_provider *providers;
    struct lang_xlator *xlators;
    struct lang_record *records, **record_tail;
    uint32_t nrecords;      /* that have a number */
    uint32_t record_fields; /* of these, all together */
    struct lang_field *fields, **field_tail;
    struct attr probe_attr, stmt_attr;  /* the minimum over the program being added */
    unsigned errors;                    /* reported since lang_add began */
    unsigned natoms;                    /* calls of atom(), bounded */
    unsigned nclones;                   /* nodes made by expanding inlines, bounded */
    unsigned depth;                     /* of the expression that the checker is in */
    jmp_buf trap;                       /* target of lang_fail */
    bool in_predicate;                  /* the checker is in a predicate */
    bool library;                       /* the text being added is a D library */
    uint32_t xlator_version;            /* of the next translator: #pragma D binding, 0: none */
    const struct lang_desc *desc;       /* of the clause that the checker is in; NULL: none */
    const struct lang_dropped *dropped; /* what errors of syntax have cost, newest first */
    bool knows_foreign; /* from here on names can be those of the system where the program runs */
    bool foreign_asked;
    const struct foreign *foreign; /* once it was asked for; NULL: nothing is known ... */
    const char *foreign_lack;      /* the reason; NULL: there is nobody to ask */
    struct hash foreign_types;     /* number -> struct type */
    unsigned sealed; /* above 0: what the checker is in has its own attributes, see lang_uses */
    struct buf tmp, part; /* scratch for building texts; freed with the rest */
};

/* A piece of a program that was not understood. */
struct lang_dropped {
    const char *from, *to;
    const struct lang_dropped *next;
};
/* Keeps such a piece. */
void lang_drop(struct lang *l, const char *from, const char *to);
/* Returns whether such a piece may define this name (it is before = [ ; , or {): then the name is
 * not reported as unknown. */
bool lang_was_dropped(const struct lang *l, const char *name);

/* What lang.trap catches. */
enum {
    LANG_TRAP_ERROR = 1,
    LANG_TRAP_NOMEM,
    LANG_TRAP_UNIT /* the clause is not closed: the current token begins the next one */
};

/* Returns a hint for programs that call a function of the node. */
const char *lang_no_call(void);
/* Returns zeroed memory, never NULL. */
void *lang_alloc(struct lang *l, size_t size);
char *lang_strndup(struct lang *l, const char *s, size_t n);
char *lang_printf(struct lang *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void lang_nomem(struct lang *l);
/* Reports an error and continues. pos and hint may be NULL. */
void lang_err(struct lang *l, const struct diag_pos *pos, const char *tag, const char *hint,
              const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Reports an error and abandons the clause or declaration. */
_Noreturn void lang_fail(struct lang *l, const struct diag_pos *pos, const char *tag,
                         const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Abandons the clause or declaration after lang_err. */
_Noreturn void lang_fail_quietly(struct lang *l);

/* -- names.c -- */
void names_init(struct lang *l);
struct ident *names_find(const struct names *t, const char *name);
/* Adds a name that does not exist yet. */
struct ident *names_add(struct lang *l, struct names *t, const char *name, enum ident_kind kind);
struct names *names_of_scope(struct lang *l, enum lang_scope scope);
/* Creates a variable in its scope's table. */
struct lang_var *var_new(struct lang *l, const char *name, enum lang_scope scope,
                         const struct type *type);
/* Returns a typedef name's type, predefined or the program's; NULL if there is none. */
const struct type *typedef_find(const struct lang *l, const char *name, size_t len);
/* Returns a type as it is laid out in memory: there, a string has a size. */
const struct type *type_in_memory(struct lang *l, const struct type *t);
/* Return types derived from others. */
const struct type *type_pointer(struct lang *l, const struct type *of);
const struct type *type_array(struct lang *l, const struct type *of, uint32_t count);
struct lang_agg *agg_find(const struct lang *l, const char *name);
struct lang_agg *agg_new(struct lang *l, const char *name, enum word_agg func);
/* Returns "did you mean 'x'?" with the closest name that `want` accepts (NULL: any); NULL if none
 * is close. */
const char *names_suggest(struct lang *l, const struct names *t, const char *name,
                          bool (*want)(const struct ident *id));
/* Returns the prefix with which a variable is written: "", "self->", "this->". */
const char *scope_prefix(enum lang_scope scope);

/* Adds the constants of the library. */
void names_constants(struct lang *l);
/* Returns whether the language of the option `version` includes this version's additions. */
static inline bool version_has(const struct lang_options *o, uint32_t version)
{
    return o->version == 0 || version <= o->version;
}

/* -- foreign_types.c: types of the system where the program runs, of which clauses for its probes
 * may speak -- */
/* Returns what is known there; NULL: nothing. */
const struct foreign *foreign_of(struct lang *l);
/* Returns the type of that number. Call only after foreign_of has returned something. */
const struct type *foreign_type(struct lang *l, uint32_t number);
/* Returns the type of that kind and name, which may have the scope of a module (MODULE`NAME); NULL:
 * there is none, or it may not be spoken of. */
const struct type *foreign_named(struct lang *l, enum foreign_kind kind, const char *name);
/* Returns a name without the scope of the kernel proper: `NAME and vmlinux`NAME. */
const char *foreign_name(const char *name);
/* Finds a name of a foreign enum. Returns false if there is none. */
bool foreign_constant(struct lang *l, const char *name, int64_t *value, const struct type **t);
/* Returns type_is_incomplete, after it has looked for a foreign definition. */
bool lang_incomplete(struct lang *l, const struct type *t);
/* Returns type_align, of a foreign struct that of its members. */
uint32_t foreign_align(struct lang *l, const struct type *t);
/* Returns the members of a struct or union, in order. */
const struct type_member *lang_members(struct lang *l, const struct type *t);

/* -- erl_record.c -- */
enum { LANG_RECORDS_MAX = 200, LANG_FIELDS_MAX = 4000, LANG_ATOM_MAX = 255 };
/* Returns the record that D defines; NULL: it defines none of this name. */
struct lang_record *record_find(const struct lang *l, const char *name);
/* Returns a record with these fields, which it borrows: a new one, or one that is known already. */
struct lang_record *record_add(struct lang *l, const struct lang_record *like);
/* Makes it one of the program's records; fails at pos when there are too many. */
void record_number(struct lang *l, struct lang_record *r, const struct diag_pos *pos);
/* Finds the field in a record; reports an error if that has none of this name. */
bool record_settle(struct lang *l, struct lang_field *f, struct lang_record *r);
/* Returns what is wrong with the name of an atom, NULL if nothing is. */
const char *record_name_fault(const char *name);

/* -- ast.c -- */
struct node *node_new(struct lang *l, enum node_kind kind, const struct diag_pos *pos);
/* Sets the height from kids and arguments; fails if the tree is too high. Called once a node has
 * its kids. */
struct node *node_done(struct lang *l, struct node *n);
/* Returns a deep copy of an unchecked tree. */
struct node *node_clone(struct lang *l, const struct node *n);
/* Turn a node into the constant v of a type, or into an expression whose error has been
 * reported. */
void node_set_int(struct node *n, uint64_t v, const struct type *type);
void node_set_error(struct node *n);

/* Records that the program uses something with these attributes; reports an error if they are below
 * the option amin. The parts of a translator's members, and of inlines with their own attributes,
 * do not count: l->sealed. */
void lang_uses(struct lang *l, const struct diag_pos *pos, const char *name, struct attr attr);

/* -- the checker, as the parser sees it -- */
/* Checks the statements and the predicate of a clause. */
void check_clause(struct lang *l, struct lang_clause *c);
/* check_uses_args returns whether an unchecked clause uses args, so that its types depend on the
 * probe description. check_clause_copy returns a copy of it for one of its descriptions. */
bool check_uses_args(const struct lang_clause *c);
struct lang_clause *check_clause_copy(struct lang *l, const struct lang_clause *c,
                                      const struct lang_desc *d);
/* Declares a variable; reports an error if it exists with another type. */
void decl_variable(struct lang *l, const struct diag_pos *pos, const char *name,
                   enum lang_scope scope, const struct type *type, bool assoc,
                   const struct type *const *key, unsigned nkeys);
void decl_typedef(struct lang *l, const struct diag_pos *pos, const char *name,
                  const struct type *type);
void decl_extern(struct lang *l, const struct diag_pos *pos, const char *name,
                 const struct type *type);
/* Takes ownership of the translator; pos is that of its output type. */
void decl_translator(struct lang *l, const struct diag_pos *pos, struct lang_xlator *xl);
/* Takes over what the record borrows. */
void decl_record(struct lang *l, const struct lang_record *like);
/* Takes ownership of the inline. */
void decl_inline(struct lang *l, const struct diag_pos *pos, const char *name,
                 struct lang_inline *in);

#endif
