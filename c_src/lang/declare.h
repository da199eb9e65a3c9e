/* declare.h - what the files that parse declarations share. */
#ifndef ET_LANG_DECLARE_H
#define ET_LANG_DECLARE_H

#include "lang/lex.h"

enum declare_what {
    DECLARE_NAME,   /* of a variable or typedef: must be there */
    DECLARE_MEMBER, /* of a struct or union: may only lack in front of ":" */
    DECLARE_PARAM,  /* may be there */
    DECLARE_TYPE    /* none: in a cast, sizeof */
};

/* What a declarator says. */
struct declared {
    struct diag_pos pos;
    const char *name;                      /* NULL: none */
    const struct type *type;               /* of an associative array: of its elements */
    const struct type *key[WORD_KEYS_MAX]; /* of an associative array */
    unsigned nkeys;                        /* 0: it is none */
};

/* A parameter of a function or a probe. */
struct declared_param {
    struct diag_pos pos;     /* of the name, or of the type of one without */
    const char *name;        /* NULL: none */
    const struct type *type; /* NULL: this is the "..." behind the others */
    struct declared_param *next;
};

/* Specifiers without a storage class. */
const struct type *parse_spec(struct lex *lx);
/* The rest of a declaration of something whose specifiers say `base`. */
void declarator(struct lex *lx, struct declared *d, const struct type *base,
                enum declare_what what);
/* "(" type name, ... ")", "(" is current; (void) has none. */
const struct declared_param *parse_params(struct lex *lx);
/* struct, union or enum, its tag and its body; the keyword is current. */
const struct type *parse_tag(struct lex *lx);

/* -- parse_provider.c, parse_xlator.c -- */
/* The keyword is current; what follows the definition, its ";", is current afterwards. */
void parse_provider(struct lex *lx);
void parse_translator(struct lex *lx);

#endif
