/* declare.h - what the files that parse declarations share. */
#ifndef ET_LANG_DECLARE_H
#define ET_LANG_DECLARE_H

#include "lang/lex.h"

enum declare_what {
    DECLARE_NAME,   /* of a variable or typedef: required */
    DECLARE_MEMBER, /* of a struct or union: may be missing only before ":" */
    DECLARE_PARAM,  /* optional */
    DECLARE_TYPE    /* not allowed: in a cast, sizeof */
};

/* The contents of a declarator. */
struct declared {
    struct diag_pos pos;
    const char *name;                      /* NULL: none */
    const struct type *type;               /* for an associative array: of its elements */
    const struct type *key[WORD_KEYS_MAX]; /* for an associative array */
    unsigned nkeys;                        /* 0: not an associative array */
};

/* A parameter of a function or a probe. */
struct declared_param {
    struct diag_pos pos;     /* of the name, or of the type if there is no name */
    const char *name;        /* NULL: none */
    const struct type *type; /* NULL: this is the "..." after the others */
    struct declared_param *next;
};

/* Parses specifiers without a storage class. */
const struct type *parse_spec(struct lex *lx);
/* Parses the rest of a declaration whose specifiers say `base`. */
void declarator(struct lex *lx, struct declared *d, const struct type *base,
                enum declare_what what);
/* Parses "(" type name, ... ")"; "(" is the current token. Returns an empty list for (void). */
const struct declared_param *parse_params(struct lex *lx);
/* Parses a struct, union or enum with its tag and body; the keyword is the current token. */
const struct type *parse_tag(struct lex *lx);

/* -- parse_provider.c, parse_xlator.c -- */
/* The keyword is the current token; afterwards, the token after the definition and its ";" is. */
void parse_provider(struct lex *lx);
void parse_translator(struct lex *lx);

/* -- parse_record.c -- */
/* The word "record" is the current token; afterwards, the ";" is. */
void parse_record(struct lex *lx);

#endif
