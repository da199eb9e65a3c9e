/* ast.h - a D program as a tree: the parser builds it, the checker completes it, the generator
 * reads it.
 *
 * Everything lives in the arena of its `struct lang`. The parser creates a node with its kind,
 * position and kids. The checker sets `type` (never NULL afterwards), resolves names in place
 * (N_IDENT becomes N_VAR, N_BUILTIN, N_ARG or N_INT) and folds constants in place. Code is
 * generated only from a program without errors, so the generator sees no TYPE_ERROR, N_IDENT,
 * N_SIZEOF, N_OFFSETOF or N_XLATE. The value of a struct, union or array is the address of its
 * bytes. */
#ifndef ET_LANG_AST_H
#define ET_LANG_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "lang/type.h"
#include "words/words.h"

enum {
    LANG_NEST_MAX =
        400, /* nesting of expressions in the text; a pair of parentheses counts twice */
    LANG_HEIGHT_MAX = 2000 /* height of an expression's tree, whatever the cause */
};

enum lang_scope { SCOPE_GLOBAL, SCOPE_THREAD, SCOPE_CLAUSE };

/* What a value names: check_means.c. */
enum lang_means {
    MEANS_NOTHING, /* a constant, or not assigned yet */
    MEANS_PROCESS, /* its name, or its pid as text */
    MEANS_PID,
    MEANS_MFA,      /* m:f/a */
    MEANS_FUNCTION, /* f/a */
    MEANS_MODULE,
    MEANS_TABLE,
    MEANS_OTHER /* anything else */
};
/* In words; NULL: there is no word for it. */
extern const char *const lang_means_text[];

enum lang_alloca { ALLOCA_UNKNOWN, ALLOCA_NO, ALLOCA_YES };

/* A variable of the program. */
struct lang_var {
    const char *name;
    enum lang_scope scope;
    const struct type *type; /* of the scalar, or of each element */
    bool assoc;
    uint8_t nkeys;
    uint8_t alloca; /* enum lang_alloca: origin of the pointer last assigned */
    uint8_t means;  /* enum lang_means: of what was assigned so far */
    bool sized;     /* a size is part of what was assigned so far */
    int made_by;    /* the line of the assignment that created it; 0: it is declared */
    const struct type *key[WORD_KEYS_MAX];
    uint32_t id;           /* index into the program's variables, in order of creation */
    struct lang_var *next; /* in order of creation */
};

/* An aggregation. Its first use fixes its function, key signature and parameters. */
struct lang_agg {
    const char *name; /* without the '@'; "_" for the anonymous one */
    enum word_agg func;
    uint8_t nkeys;
    const struct type *key[WORD_KEYS_MAX];
    uint8_t means[WORD_KEYS_MAX]; /* enum lang_means of each key */
    int64_t param[4]; /* lquantize: base, limit, step; llquantize: factor, low, high, steps */
    uint32_t id;      /* index into the program's aggregations, in order of first appearance */
    struct lang_agg *next;
};

/* Operators of N_UNARY, N_BINARY, N_ASSIGN and N_INCDEC. */
enum op {
    OP_NONE, /* of N_ASSIGN: plain = */
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_SHL,
    OP_SHR,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_LAND,
    OP_LOR,
    OP_LXOR,
    OP_COMMA,
    OP_NEG, /* unary from here on */
    OP_PLUS,
    OP_NOT,   /* ! */
    OP_COMPL, /* ~ */
    OP_DEREF,
    OP_ADDR,
    OP_STRINGOF,
    OP_COUNT
};
/* Source text of an operator: "+", "<<", "stringof". */
extern const char *const op_text[OP_COUNT];

enum node_kind {
    N_ERROR,    /* the error has been reported */
    N_INT,      /* num */
    N_STR,      /* str, len */
    N_IDENT,    /* name, scope: not yet resolved */
    N_AGG,      /* name; agg once resolved; only below N_INDEX, N_ASSIGN or as an argument */
    N_VAR,      /* var, args (its keys when it is associative) */
    N_BUILTIN,  /* name; num: of builtins.list */
    N_ARG,      /* num: arg0 .. arg9 */
    N_CALL,     /* kid[0] is the callee, args; once resolved: name, fn, and num of subrs.list */
    N_UNARY,    /* op, kid[0] */
    N_BINARY,   /* op, kid[0], kid[1] */
    N_COND,     /* kid[0] ? kid[1] : kid[2] */
    N_ASSIGN,   /* kid[0] op= kid[1] */
    N_INCDEC,   /* op OP_ADD or OP_SUB on kid[0]; post */
    N_INDEX,    /* kid[0] [ args ] */
    N_MEMBER,   /* kid[0] . or -> name; arrow in post; once checked: member. Of a record: str is its
                   name */
    N_CAST,     /* to cast: kid[0] */
    N_SIZEOF,   /* of cast, or of kid[0] if cast is NULL */
    N_OFFSETOF, /* of name in cast */
    N_XLATE     /* kid[0] translated to cast; once checked: xlator */
};

struct lang_fn;
struct lang_xlator;
struct lang_field;

struct node {
    uint8_t kind;        /* enum node_kind */
    uint8_t op;          /* enum op */
    uint8_t scope;       /* enum lang_scope of N_IDENT */
    bool post;           /* N_INCDEC: postfix; N_MEMBER: "->"; N_CALL: has an effect each time */
    bool is_char;        /* N_INT: written as a character constant */
    bool by_member;      /* only its members are used, so it may be a translation */
    uint16_t height;     /* 1 + the height of the tallest kid */
    struct diag_pos pos; /* of its most telling token: an operator or a name */
    const struct type *type; /* NULL until checked */
    const struct type *cast; /* N_CAST, N_SIZEOF, N_OFFSETOF */
    uint64_t num;
    const char *name; /* NUL-terminated */
    const char *str;  /* NUL-terminated, contains no other NUL */
    size_t len;
    const struct lang_fn *fn;
    struct lang_var *var;
    struct lang_agg *agg;
    const struct type_member *member;
    const struct lang_field *field; /* N_CALL of term_field: which */
    const struct lang_xlator *xlator;
    struct node *kid[3];
    struct node *args; /* list by next */
    struct node *next;
};

/* if/else is not an action: expr is the condition of the statements yes and no. */
enum { ACT_IF = WORD_ACTIONS };

struct lang_aggref {
    struct lang_agg *agg;
    struct lang_aggref *next;
};

/* A statement of a clause. */
struct lang_stmt {
    struct diag_pos pos;
    struct node *expr; /* as parsed; the checker fills the rest from it */
    /* enum word_action, or ACT_IF. For ACT_AGG, args holds the keys of agg (agg->nkeys of them),
     * then the values of its function. For ACT_STACK, it holds the call itself. For the others, it
     * holds the arguments without the format and the aggregations. */
    uint8_t act;
    bool records;               /* writes into the clause's record */
    uint32_t size;              /* ACT_TRACEMEM, ACT_PRINT */
    const char *format;         /* printf, printa; NULL: none */
    struct node *args;          /* what is recorded, in order (by next); see act */
    struct lang_agg *agg;       /* ACT_AGG */
    struct node *known;         /* ACT_AGG: aggregate only if this holds; NULL: always */
    bool sized;                 /* ... of which a size is part: count where it does not hold */
    struct lang_aggref *refs;   /* printa and similar: the aggregations, in order */
    struct lang_stmt *yes, *no; /* ACT_IF; NULL: empty branch */
    struct lang_stmt *next;
};

/* A probe description. Parts are never NULL; "" matches anything. */
struct lang_desc {
    struct diag_pos pos;
    const char *prov, *mod, *func, *name;
    uint32_t id; /* nonzero: a probe id, and the parts are "" */
    /* What the kernel's probes of it are, once that was asked for. */
    const struct lang_probe *kernel; /* NULL: there are none */
    bool kernel_asked, kernel_differ;
    struct lang_desc *next;
};

/* A clause, with all its probe descriptions. */
struct lang_clause {
    struct lang_desc *descs; /* at least one */
    struct node *pred;       /* NULL: none */
    struct lang_stmt *stmts; /* NULL: empty body */
    bool records;            /* has an empty body, or a statement that records */
    bool branches;           /* has an ACT_IF statement */
    struct lang_clause *next;
};

/* Returns whether evaluating n, a checked node, changes a variable or may give a different value
 * each time. */
bool node_has_effect(const struct node *n);

#endif
